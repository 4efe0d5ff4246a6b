/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/command/inform.h"

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

static void say(const InformAsked *asked, const char *key, int64_t count, GString *answer)
{
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, count);
    const TemplateValue values[] = {{"count", number}, {0}};
    g_autofree char *sentence = letter_sentence(asked->work, asked->list, asked->language, key, values);
    fold_append(answer, "    ", sentence);
}

/* ---- who ---- */

/* Has the address that asks one of these roles (1u << ROLE_..., joined by |) on the list? */
static bool has_role(const InformAsked *asked, unsigned roles, bool *has, GError **error)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = asked->list->list_id;
    criteria.address = asked->who;
    criteria.roles = roles;
    g_autoptr(GPtrArray) found = member_page(work_store(asked->work), &criteria, NULL, 1, NULL, error);
    *has = found && found->len > 0;
    return found != NULL;
}

#define LOOKED_MAX 50000 /* members that are looked at, when few are wanted of a large list */

bool inform_who(const InformAsked *asked, GString *answer, GError **error)
{
    const WhoFilter *filter = &asked->filter;
    RosterVisibility visibility = asked->list->settings->member_roster_visibility;
    unsigned roles = 1u << ROLE_OWNER | 1u << ROLE_MODERATOR | (visibility == ROSTER_MEMBERS ? 1u << ROLE_MEMBER : 0);
    bool allowed = visibility == ROSTER_PUBLIC, all = visibility == ROSTER_MODERATORS; /* they see the hidden too */
    if (!allowed && !has_role(asked, roles, &allowed, error))
        return false;
    if (!allowed) {
        say(asked, "who_refused", 0, answer);
        return true;
    }
    say(asked, "who_members", 0, answer);

    unsigned looked = 0, shown = 0;
    int64_t hidden = 0;
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = asked->list->list_id;
    criteria.roles = 1u << ROLE_MEMBER;
    g_autofree char *after = NULL; /* where the rest begins; NULL: there is none */
    do {
        g_autofree char *from = g_steal_pointer(&after);
        g_autoptr(GPtrArray) page =
            member_page(work_store(asked->work), &criteria, from, INFORM_LINES_MAX - shown, &after, error);
        if (!page)
            return false;
        for (unsigned at = 0; at < page->len; at++) {
            const Member *member = page->pdata[at];
            bool enabled = member->effective.delivery_status == DELIVERY_ENABLED;
            bool digest = member->effective.delivery_mode != MODE_REGULAR;
            if ((filter->delivery >= 0 && filter->delivery != enabled) ||
                (filter->digest >= 0 && filter->digest != digest))
                continue;
            if (!all && member->effective.hide_address) {
                hidden++;
                continue;
            }
            shown++;
            g_string_append_printf(answer, "    %s%s%s\n", member->address, *member->given_name ? "  " : "",
                                   member->given_name);
        }
        looked += page->len;
    } while (after && shown + hidden < INFORM_LINES_MAX && looked < LOOKED_MAX);
    if (hidden > 0)
        say(asked, "who_hidden", hidden, answer);
    if (after)
        say(asked, "who_rest", shown + hidden, answer);
    return true;
}

/* ---- the list, and the others ---- */

bool inform_list(const InformAsked *asked, GString *answer, GError **error)
{
    const List *list = asked->list;
    g_autofree char *title = g_strconcat(list->settings->display_name, *list->settings->description ? ": " : "",
                                         list->settings->description, NULL);
    fold_append(answer, "    ", title);
    fold_append(answer, "    ", list->settings->info ? list->settings->info : "");
    say(asked, "info", 0, answer);
    return true;
}

typedef struct Shown {
    GString *answer;
    unsigned count;
} Shown;

static bool show_list(const List *list, void *data)
{
    Shown *shown = data;
    if (!list->settings->advertised)
        return true;
    g_string_append_printf(shown->answer, "    %s%s%s\n", list->posting_address,
                           *list->settings->description ? "  " : "", list->settings->description);
    return ++shown->count < INFORM_LINES_MAX;
}

bool inform_lists(const InformAsked *asked, GString *answer, GError **error)
{
    g_autoptr(GString) lines = g_string_new(NULL);
    Shown shown = {.answer = lines};
    if (!list_each(work_store(asked->work), asked->list->mail_host, show_list, &shown, error))
        return false;
    say(asked, shown.count > 0 ? "lists_here" : "lists_none", 0, answer);
    g_string_append(answer, lines->str);
    return true;
}

/* ---- posts of the archive ---- */

/* Where a post lies in the mbox. */
typedef struct MboxPlace {
    int64_t offset, length;
} MboxPlace;

/* Fetch holds what is asked for, and what is there. */
typedef struct Fetch {
    char *mbox;       /* path of the list's mbox */
    GArray *places;   /* of MboxPlace: all posts, in order */
    GPtrArray *posts; /* of GBytes, those that go into the letter */
    int64_t first, last;
    int64_t large; /* bytes of the first post, where it does not fit */
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

static void say_got(const InformAsked *asked, const char *key, const Fetch *fetch, GString *answer)
{
    g_autofree char *count = g_strdup_printf("%u", fetch->places->len);
    g_autofree char *first = g_strdup_printf("%" G_GINT64_FORMAT, fetch->first);
    g_autofree char *last = g_strdup_printf("%" G_GINT64_FORMAT, fetch->last);
    g_autofree char *next = g_strdup_printf("%" G_GINT64_FORMAT, fetch->last + 1);
    g_autofree char *size = g_strdup_printf("%" G_GINT64_FORMAT, fetch->large);
    const TemplateValue values[] = {{"count", count}, {"first", first}, {"last", last},
                                    {"next", next},   {"size", size},   {0}};
    g_autofree char *sentence = letter_sentence(asked->work, asked->list, asked->language, key, values);
    fold_append(answer, "    ", sentence);
}

bool inform_archive(const InformAsked *asked, const Config *config, const char *range, GString *answer, GError **error)
{
    const unsigned roles = 1u << ROLE_MEMBER | 1u << ROLE_OWNER | 1u << ROLE_MODERATOR;
    int policy = (int)asked->list->settings->archive_policy;
    bool allowed = policy == ARCHIVE_PUBLIC;
    g_auto(Fetch) fetch = {.mbox = find_mbox(asked->list, config),
                           .places = g_array_new(FALSE, FALSE, sizeof(MboxPlace)),
                           .posts = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref)};
    if (!fetch.mbox || policy == ARCHIVE_NEVER) {
        say_got(asked, "get_none", &fetch, answer);
        return true;
    }
    if (!allowed && !has_role(asked, roles, &allowed, error))
        return false;
    if (!allowed) {
        say_got(asked, "get_refused", &fetch, answer);
        return true;
    }
    if (!read_index(&fetch, error))
        return false;
    int64_t wanted = 0;
    post_range_read(range, &fetch.first, &wanted);
    wanted = wanted == 0 ? fetch.places->len : MIN(wanted, fetch.places->len);
    fetch.last = wanted;
    if (fetch.first > fetch.last) {
        say_got(asked, fetch.places->len > 0 ? "get_range" : "get_empty", &fetch, answer);
        return true;
    }
    if (!read_posts(&fetch, error))
        return false;
    if (fetch.posts->len == 0) {
        say_got(asked, "get_large", &fetch, answer);
        return true;
    }
    if (!letter_allowed(asked->work, asked->list, asked->who, &allowed, error))
        return false;
    say_got(asked, fetch.last < wanted ? "get_cut" : "get_sent", &fetch, answer);
    if (!allowed)
        return true;
    g_autofree char *count = g_strdup_printf("%u", fetch.places->len);
    g_autofree char *first = g_strdup_printf("%" G_GINT64_FORMAT, fetch.first);
    g_autofree char *last = g_strdup_printf("%" G_GINT64_FORMAT, fetch.last);
    const TemplateValue values[] = {{"count", count}, {"first", first}, {"last", last}, {0}};
    g_autoptr(GPtrArray) further = g_ptr_array_new();
    for (unsigned at = 1; at < fetch.posts->len; at++)
        g_ptr_array_add(further, fetch.posts->pdata[at]);
    ListLetter letter = {.template = "archived_posts",
                         .values = values,
                         .language = asked->language,
                         .to = asked->who,
                         .in_reply_to = "",
                         .attach = NOTICE_MESSAGE,
                         .about = fetch.posts->pdata[0],
                         .further = further};
    return work_letter(asked->work, asked->list, &letter, error);
}
