/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/command/archive_get.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "lists/archive/archive_place.h"
#include "lists/letters/letter.h"
#include "mail/fold.h"
#include "mail/transfer.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"

/* Where a post lies in the mbox. */
typedef struct MboxPlace {
    int64_t offset, length;
} MboxPlace;

/* Fetch holds what is asked for, and what is there. */
typedef struct Fetch {
    char *mbox;         /* path of the list's mbox */
    GArray *places;     /* of MboxPlace: all posts, in order */
    GPtrArray *posts;   /* of GBytes, those that go into the letter */
    int64_t first, last;
    int64_t large;      /* bytes of the first post, where it does not fit */
} Fetch;

static void fetch_clear(Fetch *fetch)
{
    g_free(fetch->mbox);
    g_array_unref(fetch->places);
    g_ptr_array_unref(fetch->posts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fetch, fetch_clear)

/* ---- the archive ---- */

/* The mbox of the list; NULL: no archiver makes one. g_free() */
static char *find_mbox(const List *list, const Config *config)
{
    for (const char *const *name = config_family(config, "archiver"); *name; name++) {
        g_autofree char *section = g_strconcat("archiver.", *name, NULL);
        bool used = !list->settings->archivers || !*list->settings->archivers ||
                    g_strv_contains((const char *const *)list->settings->archivers, *name);
        const char *path = config_string(config, section, "path");
        if (!used || !path || !config_bool(config, section, "enabled") ||
            !g_str_equal(config_string(config, section, "type"), "mbox"))
            continue;
        g_autofree char *kept = list_archive_name(list->list_id, list->archive);
        g_autofree char *base = archive_file_name(kept), *file = g_strconcat(base, ".mbox", NULL);
        return g_build_filename(path, file, NULL);
    }
    return NULL;
}

/* Read the index beside the mbox: "KEY OFFSET LENGTH" a line, and marks that begin with "until"
 * (runners/archive/mbox_file.h). The index goes on when somebody moves the mbox away, and the offsets begin anew with
 * the next one: only lines behind that place are about this file. */
static bool read_index(Fetch *fetch, GError **error)
{
    g_autofree char *path = g_strconcat(fetch->mbox, ".index", NULL), *text = NULL;
    g_autoptr(GError) problem = NULL;
    int64_t before = 0; /* where the post of the line before ends */
    struct stat status;
    if (stat(fetch->mbox, &status) == 0 ? status.st_size == 0 : errno == ENOENT)
        return true; /* nothing was archived yet, or all of it was moved away */
    if (!g_file_get_contents(path, &text, NULL, &problem))
        return g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT) || /* no post was archived yet */
               fail(error, FAIL_LATER, "%s", problem->message);
    for (const char *line = text; strchr(line, '\n'); line = strchr(line, '\n') + 1) {
        char *end;
        if (g_str_has_prefix(line, "until"))
            continue;
        MboxPlace place = {.offset = g_ascii_strtoll(line + strcspn(line, " \n"), &end, 10)};
        place.length = g_ascii_strtoll(end, NULL, 10);
        if (place.offset < 0 || place.length <= 0)
            return fail(error, FAIL_LATER, "%s: line %u is damaged", path, fetch->places->len + 1);
        if (place.offset < before)
            g_array_set_size(fetch->places, 0);
        before = place.offset + place.length;
        g_array_append_val(fetch->places, place);
    }
    return true;
}

/* A post as it was before it became part of an mbox: without its From_ line, the empty line behind it and one '>' of
 * each quoted "From ". */
static GBytes *unquoted(const char *text, size_t length)
{
    GByteArray *post = g_byte_array_new();
    const char *end = text + length - (length > 0 && text[length - 1] == '\n');
    const char *line = memchr(text, '\n', (size_t)(end - text));
    for (line = line ? line + 1 : end; line < end;) {
        const char *feed = memchr(line, '\n', (size_t)(end - line)), *next = feed ? feed + 1 : end;
        size_t quotes = strspn(line, ">");
        bool quoted = quotes > 0 && next - line >= (gssize)quotes + 5 && memcmp(line + quotes, "From ", 5) == 0;
        wire_append(post, line + quoted, (size_t)(next - line) - quoted);
        line = next;
    }
    return wire_end(post);
}

/* As many of the posts as fit into a letter; last becomes that of the last one. */
static bool read_posts(Fetch *fetch, GError **error)
{
    int64_t all = 0, number = fetch->first;
    auto_fd mbox = open(fetch->mbox, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (mbox < 0)
        return fail_errno(error, FAIL_LATER, "open %s", fetch->mbox);
    for (; number <= fetch->last && fetch->posts->len < GET_POSTS_MAX; number++) {
        const MboxPlace *place = &g_array_index(fetch->places, MboxPlace, number - 1);
        all += place->length;
        if (all > GET_OCTETS_MAX)
            break;
        g_autofree char *text = g_malloc0((size_t)place->length + 1);
        if (pread(mbox, text, (size_t)place->length, place->offset) != place->length)
            return fail(error, FAIL_LATER, "%s is shorter than its index says", fetch->mbox);
        g_ptr_array_add(fetch->posts, unquoted(text, (size_t)place->length));
    }
    fetch->last = number - 1;
    fetch->large = fetch->posts->len == 0 ? all : 0;
    return true;
}

/* ---- the answer ---- */

static void say(const InformAsked *asked, const char *key, const Fetch *fetch, GString *answer)
{
    g_autofree char *count = g_strdup_printf("%u", fetch->places->len);
    g_autofree char *first = g_strdup_printf("%" G_GINT64_FORMAT, fetch->first);
    g_autofree char *last = g_strdup_printf("%" G_GINT64_FORMAT, fetch->last);
    g_autofree char *next = g_strdup_printf("%" G_GINT64_FORMAT, fetch->last + 1);
    g_autofree char *size = g_strdup_printf("%" G_GINT64_FORMAT, fetch->large);
    const TemplateValue values[] = {{"count", count}, {"first", first}, {"last", last}, {"next", next},
                                    {"size", size},   {0}};
    g_autofree char *sentence = letter_sentence(asked->work, asked->list, asked->language, key, values);
    fold_append(answer, "    ", sentence);
}

bool archive_get(const InformAsked *asked, const Config *config, const char *range, GString *answer, GError **error)
{
    const unsigned roles = 1u << ROLE_MEMBER | 1u << ROLE_OWNER | 1u << ROLE_MODERATOR;
    int policy = (int)asked->list->settings->archive_policy;
    bool allowed = policy == ARCHIVE_PUBLIC;
    g_auto(Fetch) fetch = {.mbox = find_mbox(asked->list, config),
                           .places = g_array_new(FALSE, FALSE, sizeof(MboxPlace)),
                           .posts = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref)};
    if (!fetch.mbox || policy == ARCHIVE_NEVER) {
        say(asked, "get_none", &fetch, answer);
        return true;
    }
    if (!allowed && !inform_has_role(asked, roles, &allowed, error))
        return false;
    if (!allowed) {
        say(asked, "get_refused", &fetch, answer);
        return true;
    }
    if (!read_index(&fetch, error))
        return false;
    int64_t wanted = 0;
    post_range_read(range, &fetch.first, &wanted);
    wanted = wanted == 0 ? fetch.places->len : MIN(wanted, fetch.places->len);
    fetch.last = wanted;
    if (fetch.first > fetch.last) {
        say(asked, fetch.places->len > 0 ? "get_range" : "get_empty", &fetch, answer);
        return true;
    }
    if (!read_posts(&fetch, error))
        return false;
    if (fetch.posts->len == 0) {
        say(asked, "get_large", &fetch, answer);
        return true;
    }
    if (!letter_allowed(asked->work, asked->list, asked->who, &allowed, error))
        return false;
    say(asked, fetch.last < wanted ? "get_cut" : "get_sent", &fetch, answer);
    if (!allowed)
        return true;
    g_autofree char *count = g_strdup_printf("%u", fetch.places->len);
    g_autofree char *first = g_strdup_printf("%" G_GINT64_FORMAT, fetch.first);
    g_autofree char *last = g_strdup_printf("%" G_GINT64_FORMAT, fetch.last);
    const TemplateValue values[] = {{"count", count}, {"first", first}, {"last", last}, {0}};
    g_autoptr(GPtrArray) further = g_ptr_array_new();
    for (unsigned at = 1; at < fetch.posts->len; at++)
        g_ptr_array_add(further, fetch.posts->pdata[at]);
    ListLetter letter = {.template = "archived_posts", .values = values, .language = asked->language, .to = asked->who,
                         .in_reply_to = "", .attach = NOTICE_MESSAGE, .about = fetch.posts->pdata[0],
                         .further = further};
    return work_letter(asked->work, asked->list, &letter, error);
}
