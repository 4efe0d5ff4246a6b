/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Searching one list's archive, or all that somebody may read. */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/archive/archive_maildir.h"
#include "lists/archive/archive_place.h"
#include "runners/web/archive.h"
#include "store/lists/list.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"

#define PAGE 20
#define RANKED 30                       /* of which there is one page */
#define SNIPPET 200                     /* characters */
#define PATIENCE (CLOCK_SECOND / 10)    /* of one search */
#define SHARE 4                         /* strangers' searches take a fourth of a processor */
#define BURST (2 * CLOCK_SECOND)        /* and as much before they are held back */
#define PUBLIC_KEPT (30 * CLOCK_SECOND) /* how long it is remembered which lists everybody may find */
#define PUBLIC_PAGE 1000
#define OWN_LISTS 500

/* ---- the time that strangers may take ---- */

/* Processor time, since on a busy host a search takes long without being dear. */
static int64_t time_used(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * CLOCK_SECOND + used.tv_nsec / 1000;
}

static void pay(WebArchive *archive, int64_t used)
{
    archive->search_free = MAX(archive->search_free, clock_monotonic()) + used * SHARE;
}

/* ---- which lists ---- */

static GHashTable *numbers_new(void)
{
    return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

/* Note the number of a list's archive, if there is one: number -> List-Id. */
static bool note_list(WebCall *call, const List *list, GHashTable *numbers, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autofree char *name = list_archive_name(list->list_id, list->archive), *directory = archive_file_name(name);
    g_autoptr(ArchiveList) found = archive_index_list(call->web->archive->index, directory, &fault);
    if (found)
        g_hash_table_insert(numbers, g_memdup2(&found->number, sizeof(int64_t)), g_strdup(list->list_id));
    return found || fail_unless(error, FAIL_MISSING, &fault);
}

/* The lists of a person whose archives may be read. NULL: the store failed. */
static GHashTable *own_numbers(WebCall *call, const SignedIn *person, GError **error)
{
    g_autoptr(GHashTable) numbers = numbers_new();
    g_autoptr(GPtrArray) members = person ? sign_in_members(call->store, person, NULL, OWN_LISTS, error)
                                          : g_ptr_array_new();
    for (guint i = 0; members && i < members->len; i++) {
        const Member *member = members->pdata[i];
        g_autoptr(List) list = list_by_id(call->store, member->list_id, error);
        if (!list || (list->settings->archive_policy != ARCHIVE_NEVER && !note_list(call, list, numbers, error)))
            return NULL;
    }
    return members ? g_steal_pointer(&numbers) : NULL;
}

/* Read which lists everybody may find, unless that was done a moment ago. Each that is found is looked at once more
 * before it is shown. */
static bool read_public(WebCall *call, GError **error)
{
    static const ListCriteria shown = {.advertised = true};
    WebArchive *archive = call->web->archive;
    g_autofree char *after = NULL;
    if (archive->public && clock_monotonic() < archive->public_until)
        return true;
    g_clear_pointer(&archive->public, g_hash_table_unref);
    archive->public = numbers_new();
    for (bool more = true; more;) {
        g_autoptr(GPtrArray) lists = list_page(call->store, &shown, after, 0, PUBLIC_PAGE, error);
        bool good = lists != NULL;
        for (guint i = 0; good && i < lists->len; i++) {
            const List *list = lists->pdata[i];
            good = list->settings->archive_policy != ARCHIVE_PUBLIC || note_list(call, list, archive->public, error);
        }
        if (!good) {
            g_clear_pointer(&archive->public, g_hash_table_unref);
            return false;
        }
        more = lists->len == PUBLIC_PAGE;
        g_free(after);
        after = more ? g_strdup(((List *)lists->pdata[lists->len - 1])->list_id) : NULL;
    }
    archive->public_until = clock_monotonic() + PUBLIC_KEPT;
    return true;
}

/* ---- what is shown ---- */

/* A row for each message that was found; those that cannot be read any more are left out. */
static json_t *row(const ArchiveReading *reading, const ArchiveMessage *message, const ArchiveQuery *query)
{
    g_autoptr(GBytes)
        octets = archive_maildir_load(reading->call->web->archive->directory, reading->directory, message->file, NULL);
    json_t *line = archive_line(reading, message), *pieces = json_array();
    json_object_set_new(line, "archive", json_string(reading->path));
    json_object_set_new(line, "pieces", pieces);
    if (!octets)
        return line;
    const MailHtml how = {.masked = !reading->member};
    g_autoptr(Readable) mail = readable_new(octets, ARCHIVE_TEXT_MAX);
    g_autoptr(GString) whole = readable_search_text(mail, false, ARCHIVE_TEXT_MAX);
    /* Before it is cut: a piece that begins with "@" is no address any more. */
    g_autofree char *text = archive_masked(reading, whole->str);
    g_autoptr(GPtrArray) found = archive_query_snippet(query, text, strlen(text), SNIPPET);
    for (guint i = 0; i < found->len; i++) {
        const ArchivePiece *piece = found->pdata[i];
        g_autoptr(GString) html = g_string_new(NULL);
        mail_html_line(&how, piece->text, html);
        json_array_append_new(pieces, json_pack("{ss sb}", "html", html->str, "hit", piece->hit));
    }
    return line;
}

static json_t *search_view(const char *action, const char *typed, const ArchiveQuery *query)
{
    g_autofree char *text = archive_query_text(query), *uri = g_uri_escape_string(typed, NULL, false);
    return json_pack("{ss ss ss ss sb}", "action", action, "typed", typed, "understood", text, "query_uri", uri,
                     "asked", !archive_query_is_empty(query));
}

static void set_found(json_t *view, const ArchiveFound *found, json_t *rows)
{
    json_object_set_new(view, "none", json_boolean(json_array_size(rows) == 0 && found->next == 0));
    json_object_set_new(view, "found", rows);
    json_object_set_new(view, "impatient", json_boolean(found->impatient));
    if (found->next != 0) {
        g_autofree char *next = g_strdup_printf("%" G_GINT64_FORMAT, found->next);
        json_object_set_new(view, "next", json_string(next));
    }
}

/* Read what the query of the address asks for. ?by=date: the newest first; else the best of the newest first. */
static void read_search(const WebCall *call, ArchiveSearch *search)
{
    g_autofree char *by = web_query(call, "by"), *behind = web_query(call, "behind");
    search->ranked = g_strcmp0(by, "date") != 0;
    search->limit = search->ranked ? RANKED : PAGE;
    search->patience = PATIENCE;
    if (!search->ranked && behind)
        g_ascii_string_to_signed(behind, 10, 0, G_MAXINT64, &search->behind, NULL);
}

/* Search, unless strangers have taken their share of time: all of them share one account, in which each search puts off
 * the moment when all is paid by SHARE times what it used. When that is further away than BURST, they wait. false: the
 * call was answered. */
static bool search(WebCall *call, const ArchiveQuery *query, const ArchiveSearch *asked, bool stranger,
                   ArchiveFound *found)
{
    WebArchive *archive = call->web->archive;
    GError *error = NULL;
    int64_t ahead = archive->search_free - clock_monotonic() - BURST;
    if (stranger && ahead > 0) {
        g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, ahead / CLOCK_SECOND + 1);
        http_set_header(call->http, "Retry-After", text);
        web_notice(call, 429, "searches", NULL);
        return false;
    }
    bool done = archive_index_search(archive->index, query, asked, found, &error);
    if (!done)
        archive_fail(call, error);
    return done;
}

/* The words that are searched for; g_free(). */
static char *typed_words(const WebCall *call)
{
    char *typed = web_query(call, "q");
    return typed ? typed : g_strdup("");
}

static void get_search(WebCall *call)
{
    g_auto(ArchiveReading) reading = {0};
    if (!archive_read(call, &reading))
        return;
    g_autofree char *typed = typed_words(call), *action = g_strconcat(reading.path, "/search", NULL);
    g_autoptr(ArchiveQuery) query = archive_query_new(typed);
    json_t *view = archive_view(&reading, typed), *own = search_view(action, typed, query);
    json_object_update(view, own);
    json_decref(own);
    int64_t began = time_used();
    bool done = true;
    if (reading.found && !archive_query_is_empty(query)) {
        ArchiveSearch asked = {.lists = &reading.found->number, .list_count = 1, .addresses = reading.member};
        g_auto(ArchiveFound) found = {0};
        json_t *rows = json_array();
        read_search(call, &asked);
        done = search(call, query, &asked, !reading.member, &found);
        for (guint i = 0; done && i < found.messages->len; i++)
            json_array_append_new(rows, row(&reading, found.messages->pdata[i], query));
        set_found(view, &found, rows);
        json_object_set_new(view, "ranked", json_boolean(asked.ranked));
    }
    if (done)
        archive_page(&reading, "search", view);
    else
        json_decref(view);
    if (!reading.member)
        pay(call->web->archive, time_used() - began);
}

static void append_numbers(GArray *numbers, GHashTable *lists, const GHashTable *but)
{
    GHashTableIter at;
    void *number;
    g_hash_table_iter_init(&at, lists);
    while (g_hash_table_iter_next(&at, &number, NULL))
        if (!but || !g_hash_table_contains((GHashTable *)but, number))
            g_array_append_vals(numbers, number, 1);
}

static void answer_all(WebCall *call, const ArchiveQuery *query, GHashTable *own, json_t *view)
{
    WebArchive *archive = call->web->archive;
    g_autoptr(json_t) kept = view;
    g_autoptr(GArray) numbers = g_array_new(false, false, sizeof(int64_t));
    append_numbers(numbers, own, NULL);
    append_numbers(numbers, archive->public, own);
    ArchiveSearch asked = {.lists = (const int64_t *)(void *)numbers->data, .list_count = numbers->len};
    g_auto(ArchiveFound) found = {0};
    read_search(call, &asked);
    if (!search(call, query, &asked, !call->person, &found))
        return;
    g_autoptr(json_t) rows = json_array();
    for (guint i = 0; i < found.messages->len; i++) {
        const ArchiveMessage *message = found.messages->pdata[i];
        const char *list_id = g_hash_table_lookup(own, &message->list);
        if (!list_id)
            list_id = g_hash_table_lookup(archive->public, &message->list);
        g_auto(ArchiveReading) reading = {0};
        GError *error = NULL;
        if (archive_read_list(call, list_id, &reading, &error)) {
            g_autoptr(json_t) more = archive_view(&reading, NULL);
            json_t *line = row(&reading, message, query);
            json_object_set(line, "list", json_object_get(more, "list"));
            json_array_append_new(rows, line);
        } else if (g_error_matches(error, FAIL, FAIL_MISSING)) { /* it is not to be read any more */
            g_error_free(error);
        } else {
            archive_fail(call, error);
            return;
        }
    }
    set_found(view, &found, json_incref(rows));
    json_object_set_new(view, "ranked", json_boolean(asked.ranked));
    call->shared = !call->person;
    web_page(call, 200, "search", json_incref(view));
}

/* In all public archives of lists that are advertised, and those of the person's own lists. */
static void get_search_all(WebCall *call)
{
    GError *error = NULL;
    const SignedIn *person;
    if (!archive_open(call) || !web_person(call, &person))
        return;
    g_autoptr(GHashTable) own = read_public(call, &error) ? own_numbers(call, person, &error) : NULL;
    if (!own) {
        archive_fail(call, error);
        return;
    }
    int64_t began = time_used();
    g_autofree char *typed = typed_words(call), *action = g_strconcat(call->web->base, "/search", NULL);
    g_autoptr(ArchiveQuery) query = archive_query_new(typed);
    json_t *view = search_view(action, typed, query);
    json_object_set_new(view, "all", json_true());
    json_object_set_new(view, "title", json_string(typed));
    if (!archive_query_is_empty(query)) {
        answer_all(call, query, own, view);
    } else {
        call->shared = !person;
        web_page(call, 200, "search", view);
    }
    if (!person)
        pay(call->web->archive, time_used() - began);
}

const WebRoute web_archive_search[] = {
    {"GET", "/archive/{}/search", get_search},
    {"GET", "/search", get_search_all},
    {.verb = NULL},
};
