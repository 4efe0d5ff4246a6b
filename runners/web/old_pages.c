/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Addresses of the archives that other programs made of lists which have moved here since, and of the pages that they
 * had of the lists: each is answered 301, to the page of the same message, thread, month or list. Whose archive it is,
 * and who may read it, is asked before anything of a message is looked up, so a stranger gets one answer for all
 * addresses of a private archive. */
#include <string.h>

#include "base/fail.h"
#include "lists/moving/old_address.h"
#include "runners/web/archive.h"
#include "store/lists/list.h"
#include "store/lists/list_archive.h"

/* Find the place of the setting below whose path the address stands; *rest is what follows that: "/talk" of
 * "/pipermail/talk". Return its kind; g_free(). NULL: there is none. */
static char *find_place(const Web *web, const char *setting, const char *path, const char **rest)
{
    char *kind = NULL;
    *rest = NULL;
    for (const char *const *word = config_list(web->config, "web", setting); word && *word; word++) {
        const char *colon = strchr(*word, ':'), *directory = colon + 1;
        size_t length = strlen(directory);
        while (length > 0 && directory[length - 1] == '/')
            length--;
        bool below = strncmp(path, directory, length) == 0 && (path[length] == '\0' || path[length] == '/');
        if (below && (!*rest || path + length > *rest)) {
            g_free(kind);
            kind = g_strndup(*word, (size_t)(colon - *word));
            *rest = path + length;
        }
    }
    return kind;
}

/* The table; NULL with FAIL_MISSING: there is none (yet). */
static ArchiveOld *open_table(WebArchive *archive, GError **error)
{
    if (archive->old && !archive_old_present(archive->old))
        g_clear_pointer(&archive->old, archive_old_free);
    if (!archive->old)
        archive->old = archive_old_open(archive->directory, false, error);
    return archive->old;
}

/* A table that failed is opened anew for the next call. */
static void fail_table(WebCall *call, GError *error)
{
    if (!g_error_matches(error, FAIL, FAIL_MISSING))
        g_clear_pointer(&call->web->archive->old, archive_old_free);
    web_missing(call, error);
}

/* The list with this address or List-Id: a list that was renamed keeps the latter. */
static List *list_of_address(Store *store, const char *name, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autofree char *folded = g_ascii_strdown(name, -1), *list_id = g_strdelimit(g_strdup(folded), "@", '.');
    g_autoptr(List) list = list_by_id(store, list_id, &fault);
    if (!list && g_error_matches(fault, FAIL, FAIL_MISSING))
        list = list_by_address(store, folded, error);
    else if (!list)
        g_propagate_error(error, g_steal_pointer(&fault));
    return g_steal_pointer(&list);
}

/* The name of the archive here that had the old name; NULL: the call was answered. */
static char *find_name(WebCall *call, OldKind kind, const char *name)
{
    GError *error = NULL;
    char *found = NULL;
    if (kind == OLD_HYPERKITTY) {
        g_autoptr(List) list = list_of_address(call->store, name, &error);
        if (!list)
            web_missing(call, error);
        return list ? list_archive_name(list->list_id, list->archive) : NULL;
    }
    ArchiveOld *old = open_table(call->web->archive, &error);
    found = old ? archive_old_list(old, old_kind_text(kind), name, &error) : NULL;
    if (!found)
        fail_table(call, error);
    return found;
}

/* The hash by the first key that is known; NULL: the call was answered. */
static char *find_hash(WebCall *call, const ArchiveReading *reading, OldKind kind, const OldAddress *address)
{
    GError *error = NULL;
    ArchiveOld *old = open_table(call->web->archive, &error);
    for (size_t i = 0; old && i < G_N_ELEMENTS(address->keys) && address->keys[i]; i++) {
        g_clear_error(&error);
        char *hash = archive_old_hash(old, old_kind_text(kind), reading->name, address->keys[i], &error);
        if (hash)
            return hash;
        if (!g_error_matches(error, FAIL, FAIL_MISSING))
            break;
    }
    fail_table(call, error);
    return NULL;
}

/* "/HASH", "/HASH/thread" of a message that is here; NULL: the call was answered. */
static char *message_path(WebCall *call, const ArchiveReading *reading, const char *hash, bool thread)
{
    GError *error = NULL;
    if (!reading->found) {
        web_missing(call, NULL);
        return NULL;
    }
    g_autoptr(ArchiveMessage) message = archive_index_message(reading->index, reading->found->number, hash, &error);
    if (message)
        return g_strdup_printf("/%s%s", message->hash, thread ? "/thread" : "");
    archive_fail(call, error);
    return NULL;
}

/* Return the part of the path behind the archive's; NULL: the call was answered. */
static char *find_page(WebCall *call, const ArchiveReading *reading, OldKind kind, const OldAddress *address)
{
    g_autofree char *hash = NULL;
    switch (address->place) {
    case OLD_SITE:
    case OLD_LIST:
        return g_strdup("");
    case OLD_MONTH:
        return g_strdup_printf("/%04d-%02d", address->year, address->month);
    case OLD_MONTH_MAILS:
        return g_strdup_printf("/%04d-%02d.mbox.gz", address->year, address->month);
    case OLD_NUMBER:
        hash = find_hash(call, reading, kind, address);
        return hash ? message_path(call, reading, hash, false) : NULL;
    case OLD_HASH:
    case OLD_THREAD:
        return message_path(call, reading, address->hash, address->place == OLD_THREAD);
    }
    return NULL;
}

/* Answer a call that is about no page here that is known by its name: by the first page, or that it can only be read.
 * False: it asks for such a page, and nothing was answered. */
static bool answer_first_page(WebCall *call, bool names_page)
{
    bool reads = strcmp(http_verb(call->http), "GET") == 0 || strcmp(http_verb(call->http), "HEAD") == 0;
    if (reads && names_page)
        return false;
    if (reads) {
        web_moved_host(call, "/");
        return true;
    }
    http_set_header(call->http, "Allow", "GET");
    web_notice(call, 405, "missing", NULL);
    return true;
}

static bool answer_archive(WebCall *call, const char *path)
{
    OldKind kind;
    const char *rest;
    g_auto(OldAddress) address = {0};
    g_autofree char *named = call->web->archive ? find_place(call->web, "old_archives", path, &rest) : NULL;
    if (!named || !old_kind_read(named, &kind) || !old_address_read(kind, rest, http_query(call->http), &address))
        return false;
    if (answer_first_page(call, address.place != OLD_SITE))
        return true;
    g_auto(ArchiveReading) reading = {0};
    g_autofree char *name = web_take_seat(call) && archive_is_here(call) ? find_name(call, kind, address.list) : NULL;
    bool may = name && archive_read_named(call, name, &reading);
    g_autofree char *page = may ? find_page(call, &reading, kind, &address) : NULL;
    if (page) {
        g_autofree char *place = g_strconcat(reading.path + strlen(call->web->base), page, NULL);
        call->shared = !reading.member;
        web_moved_host(call, place);
    }
    return true;
}

/* ---- pages of lists ---- */

static bool answer_list(WebCall *call, const char *path)
{
    OldPages kind;
    bool owners;
    const char *rest, *host = http_header(call->http, "Host");
    GError *error = NULL;
    g_autofree char *named = find_place(call->web, "old_pages", path, &rest), *name = NULL;
    if (!named || !old_pages_read_kind(named, &kind) || !old_pages_read(kind, rest, &name, &owners))
        return false;
    if (answer_first_page(call, name != NULL) || !web_take_seat(call))
        return true;
    /* By a name without a domain it is the list of the host that was asked, where there are several. */
    g_autofree char *domain = g_strndup(host ? host : "", host ? strcspn(host, ":") : 0);
    g_autoptr(List) list = kind == OLD_PAGES_POSTORIUS ? list_of_address(call->store, name, &error)
                                                       : list_by_name(call->store, name, domain, &error);
    if (list) {
        g_autofree char *page = g_strconcat(owners ? "/desk/list/" : "/list/", list->list_id, NULL);
        web_moved_host(call, page);
    } else {
        web_missing(call, error);
    }
    return true;
}

bool old_pages_answer(WebCall *call, const char *path)
{
    return answer_archive(call, path) || answer_list(call, path);
}
