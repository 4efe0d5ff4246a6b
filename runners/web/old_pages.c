/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Addresses of the archives that other programs made of lists which have moved here since, and of the pages that they
 * had of the lists: each is answered 301, to the page of the same message, thread, month or list. Whose archive it is,
 * and who may read it, decides before anything is told of a message, so a stranger gets one answer for all addresses of
 * a private archive. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "runners/web/archive.h"
#include "store/lists/list.h"
#include "store/lists/list_archive.h"

#define ADDRESS_MAX 2000 /* bytes; none that a program made is longer */
#define SEGMENTS 10
#define HASH_LENGTH 32

/* Find the place of the setting, PATH or KIND:PATH, below whose path the address stands; *rest is what follows that:
 * "/talk" of "/pipermail/talk". Return its kind or ""; g_free(). NULL: there is none. */
static char *find_place(const Web *web, const char *setting, const char *path, const char **rest)
{
    char *kind = NULL;
    *rest = NULL;
    for (const char *const *word = config_list(web->config, "web", setting); word && *word; word++) {
        const char *directory = strchr(*word, '/');
        size_t length = strlen(directory);
        while (length > 0 && directory[length - 1] == '/')
            length--;
        bool below = strncmp(path, directory, length) == 0 && (path[length] == '\0' || path[length] == '/');
        if (below && (!*rest || path + length > *rest)) {
            g_free(kind);
            kind = g_strndup(*word, strcspn(*word, ":/"));
            *rest = path + length;
        }
    }
    return kind;
}

/* The segments of a path, decoded; NULL: it is none that a program makes. */
static char **read_segments(const char *path)
{
    if (strlen(path) > ADDRESS_MAX)
        return NULL;
    g_auto(GStrv) raw = g_strsplit(path, "/", -1);
    g_autoptr(GStrvBuilder) parts = g_strv_builder_new();
    for (char **at = raw; *at; at++) {
        g_autofree char *part = g_uri_unescape_string(*at, "/");
        if (!part || !g_utf8_validate(part, -1, NULL) || strcmp(part, ".") == 0 || strcmp(part, "..") == 0)
            return NULL;
        if (*part)
            g_strv_builder_add(parts, part);
    }
    return g_strv_builder_end(parts);
}

/* ---- archives ---- */

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

/* Find where the address leads to. *place is NULL where it is not known, and an address above it is, which tells whose
 * archive it would be of. false: the call was answered. */
static bool find_place_here(WebCall *call, const char *path, char **archive, char **place)
{
    GError *error = NULL;
    g_auto(GStrv) parts = read_segments(path);
    g_autofree char *query = g_uri_unescape_string(http_query(call->http), NULL);
    ArchiveOld *old = NULL;
    if (parts && g_strv_length(parts) <= SEGMENTS && query && strlen(query) <= ADDRESS_MAX &&
        g_utf8_validate(query, -1, NULL))
        old = open_table(call->web->archive, &error);
    else
        g_set_error_literal(&error, FAIL, FAIL_MISSING, "no program made such an address");
    g_autofree char *joined = parts ? g_strjoinv("/", parts) : NULL;
    g_autofree char *address = g_strconcat("/", joined, query && *query ? "?" : NULL, query, NULL);
    bool known = true;
    for (unsigned cuts = 0; old && cuts < 2 * SEGMENTS; cuts++) {
        if (archive_old_find(old, address, archive, place, &error)) {
            if (!known)
                g_clear_pointer(place, g_free);
            return true;
        }
        if (!g_error_matches(error, FAIL, FAIL_MISSING))
            break;
        /* ezmlm-cgi's queries say more than which message it is, behind that: "talk:mss:123:201903:abcdef". Those of
         * others say nothing. */
        char *query_of = strchr(address, '?'), *end = query_of ? strrchr(query_of, ':') : strrchr(address, '/');
        end = end ? end : query_of;
        known = known && query_of;
        if (end == address)
            break;
        *end = '\0';
        g_clear_error(&error);
    }
    if (error)
        fail_table(call, error);
    else
        web_missing(call, NULL);
    return false;
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

/* Send on to a page of the archive of this name, if the reader may read it: of the message with this hash, or else the
 * page. */
static void send_on(WebCall *call, const char *archive, const char *hash, bool thread, const char *page)
{
    g_auto(ArchiveReading) reading = {0};
    if (!archive_read_named(call, archive, &reading))
        return;
    if (!hash && !page) {
        web_missing(call, NULL);
        return;
    }
    g_autofree char *below = hash ? message_path(call, &reading, hash, thread) : g_strdup(page);
    if (below) {
        g_autofree char *place = g_strconcat(reading.path + strlen(call->web->base), below, NULL);
        call->shared = !reading.member;
        web_moved_host(call, place);
    }
}

static bool is_hash(const char *text)
{
    return strlen(text) == HASH_LENGTH && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == HASH_LENGTH;
}

static bool answer_archive(WebCall *call, const char *path)
{
    const char *rest;
    char *archive = NULL, *place = NULL;
    g_autofree char *below = call->web->archive ? find_place(call->web, "old_archives", path, &rest) : NULL;
    if (!below)
        return false;
    if (answer_first_page(call, true))
        return true;
    if (web_take_seat(call) && archive_is_here(call) && find_place_here(call, path, &archive, &place)) {
        bool message = place && is_hash(place);
        g_autofree char *page = place ? g_strconcat(*place ? "/" : "", place, NULL) : NULL;
        send_on(call, archive, message ? place : NULL, false, page);
    }
    g_free(archive);
    g_free(place);
    return true;
}

/* HyperKitty's address of a message has the hash of its Message-ID, as ours has: list/LIST@DOMAIN/message/HASH/,
 * .../thread/HASH/, .../2019/3/, .../latest. */
static bool answer_hyperkitty(WebCall *call, const char *path)
{
    static const char *const pages[] = {"latest", "threads", "export", "overview", NULL};
    const char *rest;
    g_autofree char *below = call->web->archive ? find_place(call->web, "old_hyperkitty", path, &rest) : NULL;
    g_auto(GStrv) parts = below ? read_segments(rest) : NULL;
    const guint count = parts ? g_strv_length(parts) : 0;
    if (!parts || (count > 0 && strcmp(parts[0], "list") != 0))
        return false;
    g_autofree char *hash = NULL, *page = g_strdup("");
    bool thread = false;
    if (count > 2 && !g_strv_contains(pages, parts[2])) {
        const char *more = count > 3 ? parts[3] : "";
        const bool year = strlen(parts[2]) == 4 && strspn(parts[2], "0123456789") == 4;
        const bool digits = *more && strlen(more) <= 2 && strspn(more, "0123456789") == strlen(more);
        thread = strcmp(parts[2], "thread") == 0;
        hash = thread || strcmp(parts[2], "message") == 0 ? g_ascii_strup(more, -1) : NULL;
        if (year && digits && atoi(parts[2]) >= 1970 && atoi(more) >= 1 && atoi(more) <= 12) {
            g_free(page);
            page = g_strdup_printf("/%s-%02d", parts[2], atoi(more));
        } else if (!hash || !is_hash(hash)) {
            return false;
        }
    }
    GError *error = NULL;
    if (answer_first_page(call, count > 1) || !web_take_seat(call) || !archive_is_here(call))
        return true;
    g_autoptr(List) list = list_of_address(call->store, parts[1], &error);
    if (!list) {
        web_missing(call, error);
        return true;
    }
    g_autofree char *archive = list_archive_name(list->list_id, list->archive);
    send_on(call, archive, hash, thread, page);
    return true;
}

/* ---- pages of lists ---- */

/* The words that stand before the name of a list: of pages for everybody, and of those for owners. */
static const struct {
    const char *kind, *const *all, *const *owners;
} page_words[] = {
    {"mailman", (const char *const[]){"listinfo", "options", "subscribe", "confirm", "roster", NULL}, /* 2.1 */
     (const char *const[]){"admin", "admindb", "edithtml", NULL}},
    {"sympa",
     (const char *const[]){"info", "home", "subscribe", "subrequest", "signoff", "sigrequest", "suboptions", "review",
                           "compose_mail", "contact", "auto_signoff", NULL},
     (const char *const[]){"admin", "modindex", "edit_list_request", "reviewbouncing", NULL}},
    {"postorius", (const char *const[]){"lists", NULL}, (const char *const[]){NULL}},
};

/* Read the path of a page that such a program had of a list: "/listinfo/talk", "/options/talk/anne--at--example.org";
 * "/info/talk"; "/lists/talk.example.com/". *list (g_free()) is the list's name, of Postorius its List-Id or address;
 * NULL: the page is that of all lists. *owners: the page was for its owners. False: there was no such page. */
static bool read_page(const char *kind, const char *path, char **list, bool *owners)
{
    size_t row = 0;
    g_auto(GStrv) parts = read_segments(path);
    const guint count = parts ? g_strv_length(parts) : 0;
    *list = NULL;
    *owners = false;
    if (!parts || count == 0)
        return parts != NULL;
    while (row + 1 < G_N_ELEMENTS(page_words) && strcmp(page_words[row].kind, kind) != 0)
        row++;
    bool all = g_strv_contains(page_words[row].all, parts[0]);
    *owners = g_strv_contains(page_words[row].owners, parts[0]);
    if (count > 1 && (all || *owners))
        *list = g_strdup(parts[1]);
    return all || *owners || (strcmp(kind, "sympa") == 0 && count == 1 && strcmp(parts[0], "lists") == 0);
}

static bool answer_list(WebCall *call, const char *path)
{
    bool owners;
    const char *rest, *host = http_header(call->http, "Host");
    GError *error = NULL;
    g_autofree char *named = find_place(call->web, "old_pages", path, &rest), *name = NULL;
    if (!named || !read_page(named, rest, &name, &owners))
        return false;
    if (answer_first_page(call, name != NULL) || !web_take_seat(call))
        return true;
    /* By a name without a domain it is the list of the host that was asked, where there are several. */
    g_autofree char *domain = g_strndup(host ? host : "", host ? strcspn(host, ":") : 0);
    g_autoptr(List) list = strcmp(named, "postorius") == 0 ? list_of_address(call->store, name, &error)
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
    /* The last answers all that is below its paths; the others only what has their form. */
    return answer_hyperkitty(call, path) || answer_list(call, path) || answer_archive(call, path);
}
