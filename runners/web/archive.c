/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The pages of an archive share these: which archive it is, who reads it, and fields of views. */
#include "runners/web/archive.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/archive/archive_maildir.h"
#include "lists/archive/archive_place.h"
#include "mail/text/text_link.h"
#include "store/hosts/host.h"
#include "store/lists/list.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"

#define VIEWS ((size_t)8 << 20) /* bytes of messages that were shown lately */

WebArchive *web_archive_new(const Config *config)
{
    const char *name, *directory = archive_place_indexed(config, NULL, &name);
    if (!directory)
        return NULL;
    WebArchive *archive = g_new0(WebArchive, 1);
    archive->directory = directory;
    archive->host = archive_place_host(config, name);
    archive->views = view_cache_new(VIEWS);
    return archive;
}

/* The numbers of lists are those of one index, and another may have other texts (lists/archive/archive_pseudonym.h). */
static void drop_index(WebArchive *archive)
{
    g_clear_pointer(&archive->index, archive_index_free);
    g_clear_pointer(&archive->public, g_hash_table_unref);
    view_cache_free(archive->views);
    archive->views = view_cache_new(VIEWS);
}

void web_archive_free(WebArchive *archive)
{
    if (!archive)
        return;
    drop_index(archive);
    archive_old_free(archive->old);
    view_cache_free(archive->views);
    g_free(archive);
}

/* ---- which archive, and who reads it ---- */

void archive_reading_clear(ArchiveReading *reading)
{
    list_free(reading->list);
    archive_list_free(reading->found);
    g_free(reading->name);
    g_free(reading->directory);
    g_free(reading->path);
    *reading = (ArchiveReading){0};
}

void archive_fail(WebCall *call, GError *error)
{
    if (!g_error_matches(error, FAIL, FAIL_MISSING))
        drop_index(call->web->archive);
    web_missing(call, error);
}

bool archive_is_here(WebCall *call)
{
    GError *error = NULL;
    const char *keeper = call->web->archive->host;
    if (!keeper)
        return true;
    g_autoptr(GPtrArray) hosts = host_all(call->store, &error);
    if (!hosts) {
        web_fail(call, error);
        return false;
    }
    g_autofree char *url = NULL;
    for (guint at = 0; at < hosts->len; at++) {
        const Host *host = hosts->pdata[at];
        if (!host->living || g_ascii_strcasecmp(host->name, keeper) != 0)
            continue;
        g_autoptr(json_t) state = json_loads(host->state, 0, NULL);
        url = g_strdup(json_string_value(json_object_get(state, "web")));
        break;
    }
    if (url && web_other_host(call, url))
        return false;
    log_warn("%s result=503: the archive is kept by the host %s, %s", http_verb(call->http), keeper,
             url ? "whose web_url is that of this one, too: a proxy has to bring its pages there (doc/hosts.md)"
                 : "which does not live, or has no pages");
    http_set_header(call->http, "Retry-After", "60");
    web_notice(call, 503, "archive_elsewhere", NULL);
    return false;
}

/* An index that was replaced meanwhile is opened anew. */
ArchiveIndex *archive_open(WebCall *call)
{
    WebArchive *archive = call->web->archive;
    GError *error = NULL;
    if (!archive) {
        web_missing(call, NULL);
        return NULL;
    }
    if (!archive_is_here(call))
        return NULL;
    if (archive->index && !archive_index_present(archive->index, NULL))
        drop_index(archive);
    if (!archive->index && !(archive->index = archive_index_open(archive->directory, false, &error))) {
        if (g_error_matches(error, FAIL, FAIL_MISSING)) { /* nothing was posted to any list */
            g_clear_error(&error);
            web_notice(call, 404, "no_archive", NULL);
        } else {
            web_fail(call, error);
        }
        return NULL;
    }
    return archive->index;
}

/* May whoever asks read it, and does he as a member, or one who runs the list? false: the store failed. */
static bool judge(WebCall *call, ArchiveReading *reading, const SignedIn *person, bool *may, GError **error)
{
    reading->member = false;
    if (person) {
        g_autoptr(GPtrArray) roles = sign_in_members(call->store, person, reading->list->list_id, 1, error);
        if (!roles)
            return false;
        reading->member = roles->len > 0;
    }
    *may = reading->member || reading->list->settings->archive_policy == ARCHIVE_PUBLIC;
    return true;
}

/* Fill *reading but for its list, which is there. */
static bool fill(WebCall *call, ArchiveReading *reading, GError **error)
{
    g_autoptr(GError) fault = NULL;
    reading->call = call;
    reading->index = call->web->archive->index;
    reading->name = list_archive_name(reading->list->list_id, reading->list->archive);
    reading->directory = archive_file_name(reading->name);
    g_autofree char *segment = g_uri_escape_string(reading->name, "~", false);
    reading->path = g_strdup_printf("%s/archive/%s", call->web->base, segment);
    reading->found = archive_index_list(reading->index, reading->directory, &fault);
    return reading->found || fail_unless(error, FAIL_MISSING, &fault);
}

bool archive_read(WebCall *call, ArchiveReading *reading)
{
    return archive_read_named(call, call->args[0], reading);
}

bool archive_read_named(WebCall *call, const char *name, ArchiveReading *reading)
{
    GError *error = NULL;
    bool may;
    const SignedIn *person;
    if (!archive_open(call))
        return false;
    g_autofree char *list_id = g_strndup(name, strcspn(name, "~"));
    reading->list = list_by_id(call->store, list_id, &error);
    if (!reading->list) {
        web_missing(call, error);
        return false;
    }
    /* A list has one archive at a time: "talk.example.com", or after that "talk.example.com~2". */
    g_autofree char *own = list_archive_name(reading->list->list_id, reading->list->archive);
    if (!g_str_equal(own, name) || reading->list->settings->archive_policy == ARCHIVE_NEVER) {
        web_missing(call, NULL);
        return false;
    }
    if (!web_person(call, &person))
        return false;
    if (!judge(call, reading, person, &may, &error)) {
        web_fail(call, error);
        return false;
    }
    if (!may) {
        web_notice_of(call, 403, "private_archive", json_object(), reading->list->list_id);
        return false;
    }
    if (fill(call, reading, &error))
        return true;
    archive_fail(call, error);
    return false;
}

bool archive_read_list(WebCall *call, const char *list_id, ArchiveReading *reading, GError **error)
{
    reading->list = list_by_id(call->store, list_id, error);
    if (!reading->list)
        return false;
    bool may;
    if (!judge(call, reading, call->person, &may, error))
        return false;
    if (reading->list->settings->archive_policy == ARCHIVE_NEVER || !may)
        return fail(error, FAIL_MISSING, "the archive of %s is not for everybody", list_id);
    return fill(call, reading, error);
}

/* ---- views ---- */

char *archive_masked(const ArchiveReading *reading, const char *text)
{
    return reading->member ? g_strdup(text) : text_link_mask(text, strlen(text));
}

json_t *archive_view(const ArchiveReading *reading, const char *title)
{
    const List *list = reading->list;
    g_autofree char *list_path = g_uri_escape_string(list->list_id, NULL, false);
    g_autofree char *post_uri = g_uri_escape_string(list->posting_address, "@", false);
    const char *name = *list->settings->display_name ? list->settings->display_name : list->list_name;
    g_autofree char *line = title ? archive_masked(reading, title) : NULL;
    g_autofree char *whole = line ? g_strdup_printf("%s · %s", line, name) : g_strdup(name);
    return json_pack("{ss ss ss ss ss ss ss}", "title", whole, "list", name, "description", list->settings->description,
                     "archive", reading->path, "list_path", list_path, "post_uri", post_uri, "feed", reading->path);
}

json_t *archive_line(const ArchiveReading *reading, const ArchiveMessage *message)
{
    const MailHtml how = {.masked = !reading->member};
    bool shown = message->state == ARCHIVE_SHOWN;
    g_autofree char *from = mail_html_person(&how, message->name, *message->name ? "" : message->address);
    g_autoptr(GString) subject = g_string_new(NULL);
    if (shown)
        mail_html_line(&how, message->subject, subject);
    json_t *line = json_pack("{ss ss ss sb}", "hash", message->hash, "subject_html", subject->str, "from",
                             shown ? from : "", "hidden", !shown);
    if (shown && message->attachments > 0)
        json_object_set_new(line, "files", json_integer(message->attachments));
    if (!shown && message->note)
        json_object_set_new(line, "note", json_string(message->note));
    web_set_time(line, "date", message->date);
    return line;
}

void archive_page(const ArchiveReading *reading, const char *name, json_t *view)
{
    WebCall *call = reading->call;
    call->shared = !reading->member;
    call->script = true;
    web_page(call, 200, name, view);
}
