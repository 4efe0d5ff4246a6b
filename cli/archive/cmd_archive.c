/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner archive: the index of the posts that a maildir archiver keeps. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/archive/archive_site.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/progress.h"
#include "lists/archive/archive_catch_up.h"
#include "lists/archive/archive_maildir.h"
#include "lists/archive/archive_mark.h"
#include "mail/mbox.h"
#include "mail/text/readable.h"
#include "store/archive/archive_search.h"

#define SNIPPET 160 /* characters */
#define LIMIT 20

static gboolean ranked;
static gint limit = LIMIT;
static char *note;

/* Opens the index; one that is damaged is set aside, and *damaged set, where that is given. */
static ArchiveIndex *open_index(const ArchiveSite *place, bool create, bool *damaged, GError **error)
{
    g_autoptr(GError) fault = NULL;
    ArchiveIndex *index = archive_index_open(place->directory, create, &fault);
    if (!index && damaged && g_error_matches(fault, FAIL, FAIL_CONFIG)) {
        *damaged = true;
        fprintf(stderr, "listrunner archive: %s: it is set aside and made again\n", fault->message);
        return archive_index_set_aside(place->directory, error) ? archive_index_open(place->directory, true, error)
                                                                : NULL;
    }
    if (!index)
        g_propagate_error(error, g_steal_pointer(&fault));
    return index;
}

/* ---- index ---- */

static bool show_figures(const ArchiveCaught *figures, void *progress)
{
    progress_show(progress, figures->files, figures->files);
    return true;
}

static bool catch_up(const ArchiveSite *place, Progress *progress, GError **error)
{
    bool damaged = false, more = true;
    g_autoptr(ArchiveIndex) index = open_index(place, true, &damaged, error);
    g_autoptr(ArchiveCatchUp) work = index ? archive_catch_up_new(place->directory, damaged ? NULL : place->list, error)
                                           : NULL;
    if (!work)
        return false;
    while (more) {
        if (!archive_catch_up_some(work, index, CLOCK_SECOND, &more, error))
            return false;
        ArchiveCaught figures = archive_catch_up_figures(work);
        progress->total = figures.list_files;
        progress_show(progress, figures.list_done, figures.list_done);
    }
    progress_end(progress);
    ArchiveCaught figures = archive_catch_up_figures(work);
    printf("%" PRIu64 " posts, of which %" PRIu64 " were missing in the index\n", figures.files, figures.added);
    return true;
}

static int run_index(Site *site, int argc, char **argv, GError **error)
{
    g_auto(ArchiveSite) place = {0};
    Progress progress = {.what = "posts"};
    if (!archive_site_find(&place, site, archive_option, argc > 0 ? argv[0] : NULL, error))
        return TOOL_LATER;
    bool done = place.list ? catch_up(&place, &progress, error)
                           : archive_index_make_again(place.directory, show_figures, &progress, error);
    progress_end(&progress);
    if (done && !place.list)
        printf("made again: %s\n", place.directory);
    return done ? TOOL_OK : TOOL_LATER;
}

/* ---- search ---- */

/* Return the text of a found post around the words that were searched for; "" when it cannot be read. g_free() */
static char *snippet_of(const ArchiveSite *place, const ArchiveMessage *message, const ArchiveQuery *query)
{
    g_autoptr(GBytes) bytes = archive_maildir_load(place->directory, place->list, message->file, NULL);
    if (!bytes)
        return g_strdup("");
    g_autoptr(Readable) mail = readable_new(bytes, ARCHIVE_TEXT_MAX);
    g_autoptr(GString) text = readable_search_text(mail, false, ARCHIVE_TEXT_MAX);
    g_autoptr(GPtrArray) pieces = archive_query_snippet(query, text->str, text->len, SNIPPET);
    GString *snippet = g_string_new(NULL);
    for (guint i = 0; i < pieces->len; i++)
        g_string_append(snippet, ((ArchivePiece *)pieces->pdata[i])->text);
    return g_string_free(snippet, FALSE);
}

static int run_search(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"date", "DATE", COLUMN_TEXT},        {"from", "FROM", COLUMN_TEXT},
                                     {"subject", "SUBJECT", COLUMN_TEXT},  {"hash", "HASH", COLUMN_TEXT},
                                     {"file", NULL, COLUMN_TEXT},          {"octets", NULL, COLUMN_NUMBER},
                                     {"attachments", NULL, COLUMN_NUMBER}, {"score", NULL, COLUMN_NUMBER},
                                     {"snippet", NULL, COLUMN_TEXT},       {NULL, NULL, COLUMN_TEXT}};
    g_auto(ArchiveSite) place = {0};
    g_autoptr(GError) problem = NULL;
    if (limit < 1 || limit > ARCHIVE_PAGE_MAX)
        return command_usage(error, "--limit: found %d; allowed is 1 to %d", limit, ARCHIVE_PAGE_MAX);
    g_autofree char *words = g_strjoinv(" ", argv + 1);
    g_autoptr(ArchiveQuery) query = archive_query_new(words);
    if (archive_query_is_empty(query))
        return command_usage(error, "there is no word to look for in \"%s\"", words);
    g_autoptr(ArchiveIndex) index = archive_site_find(&place, site, archive_option, argv[0], error)
                                        ? open_index(&place, false, NULL, error)
                                        : NULL;
    g_autoptr(ArchiveList) list = index ? archive_index_list(index, place.list, &problem) : NULL;
    if (g_error_matches(problem, FAIL, FAIL_MISSING)) /* it has no posts yet */
        return TOOL_NOT_SO;
    if (problem)
        g_propagate_error(error, g_steal_pointer(&problem));
    if (!list)
        return TOOL_LATER;
    const ArchiveSearch search = {
        .lists = &list->number, .list_count = 1, .addresses = true, .ranked = ranked, .limit = (unsigned)limit};
    g_auto(ArchiveFound) found = {0};
    if (!archive_index_search(index, query, &search, &found, error))
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (guint i = 0; i < found.messages->len; i++) {
        const ArchiveMessage *message = found.messages->pdata[i];
        g_autofree char *from = g_strdup_printf("%s%s<%s>", message->name, *message->name ? " " : "", message->address);
        g_autofree char *snippet = json_option ? snippet_of(&place, message, query) : NULL;
        json_t *row = json_pack("{so so so ss ss sI sI si}", "date", listing_time(message->date), "from",
                                listing_text(from), "subject", listing_text(message->subject), "hash", message->hash,
                                "file", message->file, "octets", (json_int_t)message->size, "attachments",
                                (json_int_t)message->attachments, "score", message->score);
        if (snippet)
            json_object_set_new(row, "snippet", listing_text(snippet));
        listing_row(listing, row);
    }
    return found.messages->len > 0 ? TOOL_OK : TOOL_NOT_SO;
}

/* ---- export ---- */

/* One that is gone meanwhile is left out. */
static bool export_one(const ArchiveFiles *files, size_t at, FILE *output, uint64_t *count, GError **error)
{
    int64_t arrival;
    g_autoptr(GError) problem = NULL;
    g_autofree char *name = archive_files_name(files, at, &arrival);
    g_autoptr(GBytes) bytes = archive_files_load(files, at, &problem);
    if (!bytes && !g_error_matches(problem, FAIL, FAIL_LATER))
        return true;
    if (!bytes)
        return fail_with(error, &problem);
    size_t length;
    const char *octets = g_bytes_get_data(bytes, &length);
    g_autoptr(GString) text = g_string_sized_new(length + 128);
    mbox_append(text, "", arrival, octets, length);
    ++*count;
    return fwrite(text->str, 1, text->len, output) == text->len || fail_errno(error, FAIL_LATER, "write");
}

static int run_export(Site *site, int argc, char **argv, GError **error)
{
    g_auto(ArchiveSite) place = {0};
    uint64_t count = 0;
    /* Before the right to write there may be given up. */
    FILE *output = g_str_equal(argv[1], "-") ? stdout : fopen(argv[1], "wxe");
    if (!output) {
        fail_errno(error, errno == EEXIST ? FAIL_EXISTS : errno == ENOENT ? FAIL_MISSING : FAIL_LATER, "%s", argv[1]);
        return TOOL_LATER;
    }
    g_autoptr(ArchiveFiles) files = archive_site_find(&place, site, archive_option, argv[0], error)
                                        ? archive_files_read(place.directory, place.list, error)
                                        : NULL;
    Progress progress = {.what = "posts", .total = files ? archive_files_count(files) : 0};
    bool done = files != NULL;
    for (size_t at = 0; done && at < progress.total; at++) {
        done = export_one(files, at, output, &count, error);
        progress_show(&progress, at, at);
    }
    progress_end(&progress);
    if (done && (fflush(output) != 0 || (output != stdout && fsync(fileno(output)) != 0)))
        done = fail_errno(error, FAIL_LATER, "write %s", argv[1]);
    if (output != stdout) {
        fclose(output);
        if (done)
            printf("%" PRIu64 " posts\n", count);
        else
            unlink(argv[1]);
    }
    return done ? TOOL_OK : TOOL_LATER;
}

/* ---- hide, unhide, remove ---- */

static int set_state(Site *site, const void *kind, char **argv, GError **error)
{
    const ArchiveState state = *(const ArchiveState *)kind;
    g_auto(ArchiveSite) place = {0};
    g_autoptr(ArchiveIndex) index = archive_site_find(&place, site, archive_option, argv[0], error)
                                        ? open_index(&place, false, NULL, error)
                                        : NULL;
    g_autoptr(ArchiveList) list = index ? archive_index_list(index, place.list, error) : NULL;
    g_autoptr(ArchiveMessage) message = list ? archive_index_message(index, list->number, argv[1], error) : NULL;
    return message && archive_mark_set(index, place.directory, message, state, note, error) ? TOOL_OK : TOOL_LATER;
}

static const GOptionEntry index_options[] = {ARCHIVER_OPTION, G_OPTION_ENTRY_NULL};

static const GOptionEntry search_options[] = {
    ARCHIVER_OPTION,
    JSON_ROWS_OPTION,
    {"limit", 0, 0, G_OPTION_ARG_INT, &limit, "at most so many posts (20)", "COUNT"},
    {"ranked", 0, 0, G_OPTION_ARG_NONE, &ranked, "the best of the newest 1000 first", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry note_options[] = {
    ARCHIVER_OPTION,
    {"note", 0, 0, G_OPTION_ARG_STRING, &note, "what readers see in its place", "TEXT"},
    G_OPTION_ENTRY_NULL,
};

static const Command index_verb = {
    .name = "index",
    .arguments = "[LIST]",
    .summary = "Make the index of the archive again",
    .most = 1,
    .options = index_options,
    .run = run_index,
    .details = "With LIST, only what the index lacks of its posts is added. The index that is there is read until the "
               "new one takes its place.",
};

static const Command search_verb = {
    .name = "search",
    .arguments = "LIST WORDS...",
    .summary = "Search the posts of a list",
    .least = 2,
    .most = -1,
    .options = search_options,
    .run = run_search,
    .details =
        "WORDS are words, \"a phrase\", from:WORD, subject:WORD, after:2026-03-01, before:2026, and -WORD for what "
        "a post must not have. Options stand before them, or -- before the first one that begins with a "
        "hyphen. The newest posts come first. The exit code is 1 when nothing is found.",
};

static const Command export_verb = {
    .name = "export",
    .arguments = "LIST FILE",
    .summary = "Write the archived posts of a list into an mbox",
    .least = 2,
    .most = 2,
    .options = index_options,
    .run = run_export,
    .details = "FILE must not be there; - is standard output. Hidden posts are among them.",
};

static const Command hide_verb = {
    .name = "hide",
    .arguments = "LIST HASH",
    .summary = "Hide a post of the archive",
    .least = 2,
    .most = 2,
    .options = note_options,
    .run_kind = set_state,
    .kind = &(const ArchiveState){ARCHIVE_HIDDEN},
    .details = "HASH is the Message-ID-Hash of the post, as search shows it.",
};

static const Command unhide_verb = {
    .name = "unhide",
    .arguments = "LIST HASH",
    .summary = "Show a hidden post again",
    .least = 2,
    .most = 2,
    .options = index_options,
    .run_kind = set_state,
    .kind = &(const ArchiveState){ARCHIVE_SHOWN},
};

static const Command remove_verb = {
    .name = "remove",
    .arguments = "LIST HASH",
    .summary = "Remove a post from the maildir and the index",
    .least = 2,
    .most = 2,
    .options = note_options,
    .run_kind = set_state,
    .kind = &(const ArchiveState){ARCHIVE_REMOVED},
    .details = "It cannot be undone. A note takes its place. What other archivers keep stays.",
};

static const Command *const verbs[] = {&archive_import, &export_verb,    &archive_old, &index_verb, &search_verb,
                                       &hide_verb,      &unhide_verb,    &remove_verb, NULL};

const Command cmd_archive = {
    .name = "archive",
    .arguments = "",
    .summary = "Import, export, search and index archived posts",
    .verbs = verbs,
};
