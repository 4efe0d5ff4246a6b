/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * listrunner archive import: mails of an mbox, a maildir, files that are numbers or HyperKitty's database become
 * archived posts of a list, as if they had been posted when they arrived. They are written in batches: first the files,
 * synced, then the index. A mail whose Message-ID the index knows is left out, and one without a Message-ID when its
 * file is there; so an import that was interrupted is begun again. Nothing is sent.
 */
#include "cli/archive/archive_import.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "cli/archive/archive_site.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/moving/keep_read.h"
#include "cli/plain.h"
#include "cli/progress.h"
#include "lists/archive/archive_catch_up.h"
#include "lists/archive/archive_maildir.h"
#include "lists/archive/archived_post.h"
#include "lists/moving/file.h"
#include "lists/moving/hyperkitty.h"
#include "mail/date.h"
#include "mail/mbox.h"
#include "mail/message.h"

#define BATCH_MAILS 1000
#define BATCH_OCTETS ((size_t)16 << 20)
#define OTHERS_TOLD 20 /* mails left out for their Message-ID alone that are named */
#define DATE_AHEAD (86400 * CLOCK_SECOND)       /* a Date may be so much after the arrival, */
#define DATE_BEHIND (60 * 86400 * CLOCK_SECOND) /* and so much before it */

static char *hyperkitty_option, *files_option;

typedef struct Import {
    const ArchiveSite *place;
    ArchiveIndex *index;
    ArchiveWriter *writer;
    int64_t number;     /* of the list in the index; 0: it has no posts yet */
    GPtrArray *posts;   /* of ArchivedPost, of the batch */
    GHashTable *hashes; /* theirs, each with the sum of what the mail says */
    size_t octets;
    int64_t last_time; /* of the mail before, for one that has none */
    uint64_t added, known, cut, taken, doubts;
    uint64_t others; /* of the known ones: other mails than those whose Message-ID they have */
    uint64_t lost;     /* what HyperKitty's database names and has not */
    const char *files; /* the folder of its files, or NULL */
    const char *folder; /* that was named, of files whose names are numbers */
    const char *named; /* before each line that is printed: the list's address, or nothing */
    Progress progress;
} Import;

/* The time of a Date, or behind the last semicolon of a Received field; 0: it cannot be read. */
static int64_t time_of(const char *value)
{
    int64_t seconds;
    int zone;
    return value && date_parse(value, &seconds, &zone) ? seconds * CLOCK_SECOND : 0;
}

/* When it arrived: as the last host of its way says, or the mailbox where that does not contradict the Date, or the
 * Date. A mailbox that was made from another archive may name one time for all. */
static int64_t arrival_of(const Message *message, int64_t of_mailbox)
{
    g_autofree char *received = message_value(message, "Received"), *date_text = message_value(message, "Date");
    const char *behind = received ? strrchr(received, ';') : NULL;
    int64_t now = clock_now(), date = time_of(date_text);
    bool agree = of_mailbox >= date - DATE_AHEAD && (date == 0 || of_mailbox <= date + DATE_BEHIND);
    const int64_t choices[] = {time_of(behind ? behind + 1 : NULL), agree ? of_mailbox : 0, date, of_mailbox};
    for (size_t i = 0; i < G_N_ELEMENTS(choices); i++)
        if (choices[i] > 0 && choices[i] <= now)
            return choices[i];
    return 0;
}

static bool is_known(Import *import, const char *hash, bool *known, GError **error)
{
    g_autoptr(GError) problem = NULL;
    *known = g_hash_table_contains(import->hashes, hash);
    if (*known || import->number == 0)
        return true;
    g_autoptr(ArchiveMessage) message = archive_index_message(import->index, import->number, hash, &problem);
    *known = message != NULL;
    return message || fail_unless(error, FAIL_MISSING, &problem);
}

/* A sum of what a mail says: its body without blanks and the ">" that mailboxes put before "From". */
static uint64_t sum_of(const char *octets, size_t length)
{
    uint64_t sum = 14695981039346656037u; /* FNV-1a */
    const char *end = octets + length;
    const char *body = memmem(octets, length, "\n\n", 2), *wire = memmem(octets, length, "\n\r\n", 3);
    const char *at = body && (!wire || body < wire) ? body : wire;
    for (; at && at < end; at++)
        if (!g_ascii_isspace(*at) && *at != '>')
            sum = (sum ^ (unsigned char)*at) * 1099511628211u;
    return sum;
}

/* Tell of a mail that is left out, though it says something else than the one with its Message-ID. */
static bool tell_other(Import *import, const char *hash, const char *id, uint64_t sum, GError **error)
{
    uint64_t *here = g_hash_table_lookup(import->hashes, hash), kept = here ? *here : 0;
    if (!here) {
        g_autoptr(GError) gone = NULL;
        g_autoptr(ArchiveMessage) message = archive_index_message(import->index, import->number, hash, error);
        g_autoptr(GBytes) octets = message ? archive_maildir_load(import->place->directory, import->place->list,
                                                                  message->file, &gone)
                                           : NULL;
        if (!octets)
            return message != NULL;
        size_t length;
        const char *text = g_bytes_get_data(octets, &length);
        kept = sum_of(text, length);
    }
    if (kept != sum && import->others++ < OTHERS_TOLD)
        plain_complain("%s<%s>: the archive has another mail with this Message-ID, and this one was left out",
                       import->named, id);
    return true;
}

static int compare_posts(gconstpointer one, gconstpointer other)
{
    const ArchivePost *a = &(*(ArchivedPost *const *)one)->post, *b = &(*(ArchivedPost *const *)other)->post;
    return (a->arrival > b->arrival) - (a->arrival < b->arrival);
}

/* The number that the list has in the index, once it has posts. */
static bool find_number(Import *import, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(ArchiveList) list = archive_index_list(import->index, import->place->list, &problem);
    import->number = list ? list->number : 0;
    return list || fail_unless(error, FAIL_MISSING, &problem);
}

static bool end_batch(Import *import, GError **error)
{
    bool all = true, added;
    if (!archive_writer_flush(import->writer, error) || !archive_index_begin(import->index, error))
        return false;
    g_ptr_array_sort(import->posts, compare_posts);
    for (guint i = 0; all && i < import->posts->len; i++) {
        all = archive_index_add(import->index, &((ArchivedPost *)import->posts->pdata[i])->post, &added, error);
        import->added += all && added;
        import->known += all && !added;
    }
    if (!all) {
        archive_index_rollback(import->index);
        return false;
    }
    g_hash_table_remove_all(import->hashes);
    g_ptr_array_set_size(import->posts, 0);
    import->octets = 0;
    return archive_index_commit(import->index, error) && (import->number != 0 || find_number(import, error));
}

static bool take_mail(Import *import, const char *octets, size_t length, int64_t otherwise, GError **error)
{
    g_autoptr(GBytes) bytes = g_bytes_new_static(octets, length);
    g_autoptr(Message) message = message_new(bytes);
    import->taken++;
    g_autofree char *id = message_id(message), *hash = id ? message_id_hash(id) : NULL;
    int64_t arrival = arrival_of(message, otherwise);
    import->last_time = arrival = arrival > 0 ? arrival : MAX(import->last_time, CLOCK_SECOND);
    bool known = false;
    if (hash && !is_known(import, hash, &known, error))
        return false;
    if (known) {
        import->known++;
        return tell_other(import, hash, id, sum_of(octets, length), error);
    }
    g_autofree char *file = archive_writer_add(import->writer, arrival, octets, length, error);
    if (!file)
        return false;
    ArchivedPost *post = archived_post_new(import->place->list, file, arrival, octets, length);
    g_ptr_array_add(import->posts, post);
    if (post->post.hash) {
        uint64_t *sum = g_new(uint64_t, 1);
        *sum = sum_of(octets, length);
        g_hash_table_insert(import->hashes, (gpointer)post->post.hash, sum);
    }
    import->octets += length;
    return (import->posts->len < BATCH_MAILS && import->octets < BATCH_OCTETS) || end_batch(import, error);
}

static void show(Import *import, uint64_t done)
{
    progress_show(&import->progress, done, import->added + import->known);
}

static bool take_mbox(Import *import, InputFile *file, const char *path, GError **error)
{
    MboxMail mail;
    const char *lines;
    g_autoptr(MboxReader) reader = mbox_reader_new(file);
    import->progress = (Progress){.what = "posts", .total = input_size(file)};
    bool read;
    while ((read = mbox_reader_next(reader, &mail, error)) && mail.octets) {
        import->cut += mail.cut;
        if (!take_mail(import, mail.octets->str, mail.octets->len, mail.from_time, error))
            return false;
        show(import, mail.offset);
    }
    if (!read) {
        g_prefix_error(error, "%s: ", input_name(path));
        return false;
    }
    /* Tell where a mail may have been taken for text of the one before it. */
    import->doubts = mbox_reader_doubts(reader, &lines);
    if (import->doubts > 0)
        plain_complain("%s: lines that begin with \"From \" and are followed by a header field were taken as text: "
                       "%" PRIu64 " (line %s). If a mail begins there, put an empty line before it and write the line "
                       "as \"From SENDER TIME\"; else write \">From \"",
                       input_name(path), import->doubts, lines);
    return true;
}

/* The mails of a maildir may have CRLF. */
static GString *unix_lines(GBytes *bytes)
{
    size_t length;
    const char *octets = g_bytes_get_data(bytes, &length);
    GString *text = g_string_sized_new(length + 1);
    for (size_t i = 0; i < length; i++)
        if (octets[i] != '\r' || i + 1 == length || octets[i + 1] != '\n')
            g_string_append_c(text, octets[i]);
    return text;
}

static bool take_maildir(Import *import, ArchiveFiles *files, GError **error)
{
    import->progress = (Progress){.what = "posts", .total = archive_files_count(files)};
    for (size_t at = 0; at < archive_files_count(files); at++) {
        int64_t arrival;
        g_autofree char *name = archive_files_name(files, at, &arrival);
        g_autoptr(GBytes) bytes = archive_files_load(files, at, error);
        g_autoptr(GString) text = bytes ? unix_lines(bytes) : NULL;
        if (!text || !take_mail(import, text->str, text->len, arrival, error))
            return false;
        show(import, at);
    }
    return true;
}

/* ---- from files that are numbers, as mlmmj (7), ezmlm (0/07) and Sympa (2019-03/arctxt/7) keep their archives ---- */

typedef bool TakeNumbered(const char *path, void *data, GError **error);

static int compare_numbers(gconstpointer one, gconstpointer other)
{
    const char *a = *(char *const *)one, *b = *(char *const *)other;
    uint64_t x = g_ascii_strtoull(a, NULL, 10), y = g_ascii_strtoull(b, NULL, 10);
    return x != y ? (x > y) - (x < y) : strcmp(a, b);
}

/* Walk through such files of a folder and of the folders in it. Symbolic links are passed over. False: take() returned
 * false, or (with error) a folder cannot be read. */
static bool each_numbered(const char *folder, TakeNumbered *take, void *data, GError **error)
{
    g_autoptr(GPtrArray) names = fs_names(folder, error);
    if (!names)
        return false;
    g_ptr_array_sort(names, compare_numbers);
    for (guint at = 0; at < names->len; at++) {
        struct stat status;
        const char *name = names->pdata[at];
        bool number = strspn(name, "0123456789") == strlen(name);
        bool has_mails = strspn(name, "0123456789-") == strlen(name) || g_str_equal(name, "arctxt");
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (lstat(path, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode) && has_mails && !each_numbered(path, take, data, error))
            return false;
        if (S_ISREG(status.st_mode) && number && !take(path, data, error))
            return false;
    }
    return true;
}

static bool note_first(G_GNUC_UNUSED const char *path, void *data, G_GNUC_UNUSED GError **error)
{
    *(bool *)data = true;
    return false;
}

static bool take_numbered(const char *path, void *data, GError **error)
{
    Import *import = data;
    struct stat status = {0};
    int fd = moving_open(import->folder, path, 0, &status, error);
    g_autoptr(InputFile) file = fd >= 0 ? fdopen(fd, "r") : NULL;
    g_autoptr(GBytes) bytes = file ? input_read(file, path, error) : NULL;
    g_autoptr(GString) text = bytes ? unix_lines(bytes) : NULL;
    if (!text)
        return false;
    show(import, import->taken);
    return take_mail(import, text->str, text->len, status.st_mtime * CLOCK_SECOND, error);
}

/* Read the whole archive first, since a message can only be compared with messages that are known. */
static bool catch_up(Import *import, GError **error)
{
    g_autoptr(ArchiveCatchUp) work = archive_catch_up_new(import->place->directory, import->place->list, error);
    Progress progress = {.what = "posts indexed"};
    bool more = true;
    while (work && more) {
        if (!archive_catch_up_some(work, import->index, CLOCK_SECOND, &more, error))
            return false;
        ArchiveCaught figures = archive_catch_up_figures(work);
        progress_show(&progress, figures.files, figures.files);
    }
    progress_end(&progress);
    return work != NULL;
}

/* ---- from the database of HyperKitty ---- */

static bool knows(const char *message_id, bool *known, void *data, GError **error)
{
    g_autofree char *hash = message_id_hash(message_id);
    return is_known(data, hash, known, error);
}

static bool take_made(GString *octets, int64_t archived, void *data, GError **error)
{
    Import *import = data;
    if (!take_mail(import, octets->str, octets->len, archived, error))
        return false;
    show(import, import->taken);
    return true;
}

static bool take_hyperkitty(Import *import, Foreign *database, GError **error)
{
    HyperKittyCounts counts = {0};
    const HyperKitty from = {.database = database,
                             .list_id = import->place->of->list_id,
                             .address = import->place->of->posting_address,
                             .files = import->files,
                             .known = knows,
                             .take = take_made,
                             .data = import};
    import->progress = (Progress){.what = "posts"};
    bool done = hyperkitty_read(&from, &counts, &import->progress.total, error);
    progress_end(&import->progress);
    import->known += counts.known;
    import->lost = counts.files_lost + counts.unusable;
    static bool told; /* once is enough where many lists come */
    if (counts.mails > 0 && !told)
        puts("HyperKitty kept sender, subject, date, Message-ID, text and files of them; all else of their headers is "
             "lost");
    told = told || counts.mails > 0;
    if (counts.files_lost > 0)
        printf("%s%" PRIu64 " files of mails are left out: their content is nowhere, or too large%s\n", import->named,
               counts.files_lost, import->files ? "" : "; where HYPERKITTY_ATTACHMENT_FOLDER is set, say --files");
    if (counts.unusable > 0)
        printf("%s%" PRIu64 " mails are left out that have no Message-ID\n", import->named, counts.unusable);
    return done;
}

/* ---- all ---- */

/* One of them is set. */
typedef struct Source {
    InputFile *file;
    ArchiveFiles *files;
    Foreign *hyperkitty;
    bool numbered;             /* path is a directory of files that are numbers */
    const char *path, *folder; /* folder: of HyperKitty's files, or NULL */
} Source;

static void source_clear(Source *source)
{
    g_clear_pointer(&source->file, input_close);
    g_clear_pointer(&source->files, archive_files_free);
    g_clear_pointer(&source->hyperkitty, foreign_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Source, source_clear)

static bool take_all(Import *import, const Source *source, GError **error)
{
    int log;
    bool done = archive_index_leave_sync(import->index, &log, error) && catch_up(import, error) &&
                find_number(import, error);
    if (done && source->hyperkitty) {
        done = take_hyperkitty(import, source->hyperkitty, error);
    } else if (done && source->numbered) {
        import->progress = (Progress){.what = "posts"};
        import->folder = source->path;
        done = each_numbered(source->path, take_numbered, import, error);
    } else if (done) {
        done = source->files ? take_maildir(import, source->files, error)
                             : take_mbox(import, source->file, source->path, error);
    }
    done = done && end_batch(import, error);
    progress_end(&import->progress);
    return done;
}

/* named: what each line of the report begins with. */
static int import_into(const ArchiveSite *place, const Source *source, const char *named, GError **error)
{
    g_autoptr(ArchiveIndex) index = archive_index_open(place->directory, true, error);
    g_autoptr(ArchiveWriter) writer = index ? archive_writer_open(place->directory, place->list, error) : NULL;
    if (!writer)
        return TOOL_LATER;
    g_autoptr(GPtrArray) posts = g_ptr_array_new_with_free_func((GDestroyNotify)archived_post_free);
    g_autoptr(GHashTable) hashes = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    Import import = {.place = place,
                     .index = index,
                     .writer = writer,
                     .posts = posts,
                     .hashes = hashes,
                     .files = source->folder,
                     .named = named};
    fs_use_syncfs(true);
    bool done = take_all(&import, source, error);
    printf("%s%" PRIu64 " posts added, %" PRIu64 " left out that were known\n", import.named, import.added,
           import.known);
    if (import.others > OTHERS_TOLD)
        plain_complain("%s%" PRIu64 " of them are other mails than those whose Message-ID they have", named,
                       import.others);
    if (import.cut > 0)
        plain_complain("%" PRIu64 " of them are cut: they have more than %zu bytes", import.cut, MBOX_MAIL_MAX);
    return !done ? TOOL_LATER : import.cut + import.lost + import.doubts + import.others > 0 ? TOOL_NOT_SO : TOOL_OK;
}

static int run_import(Site *site, int argc, char **argv, GError **error)
{
    const char *path = argc > 1 ? argv[1] : NULL;
    g_auto(ArchiveSite) place = {0};
    g_auto(Source) source = {.path = path, .folder = files_option};
    if (!path == !hyperkitty_option)
        return command_usage(error, "say either FILE or --hyperkitty");
    /* The source is opened before the right to read there may be given up. */
    g_autofree char *cur = path ? g_build_filename(path, "cur", NULL) : NULL;
    if (hyperkitty_option) {
        source.hyperkitty = foreign_open(hyperkitty_option, error);
    } else if (g_file_test(cur, G_FILE_TEST_IS_DIR)) { /* a maildir */
        source.files = archive_files_read_foreign(path, error);
    } else if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        if (each_numbered(path, note_first, &source.numbered, error))
            fail(error, FAIL_NEVER,
                 "%s: it is a directory without cur/, so no maildir, and without files that are numbers; allowed is an "
                 "mbox, a maildir, or an archive of mlmmj, ezmlm or Sympa",
                 path);
    } else {
        source.file = input_open(path, error);
    }
    if (!source.hyperkitty && !source.files && !source.numbered && !source.file)
        return TOOL_LATER;
    keep_read_begin(); /* the database and files of HyperKitty may be another user's */
    bool found = archive_site_find(&place, site, archive_option, argv[0], error);
    keep_read_end();
    return found ? import_into(&place, &source, "", error) : TOOL_LATER;
}

int archive_import_hyperkitty(Site *site, const List *list, Foreign *database, const char *files, GError **error)
{
    g_auto(ArchiveSite) place = {0};
    const Source source = {.hyperkitty = database, .folder = files};
    if (!archive_site_find(&place, site, NULL, list->posting_address, error))
        return TOOL_LATER;
    g_autofree char *named = g_strconcat(list->posting_address, ": ", NULL);
    return import_into(&place, &source, named, error);
}

static const GOptionEntry options[] = {
    ARCHIVER_OPTION,
    {"hyperkitty", 0, 0, G_OPTION_ARG_STRING, &hyperkitty_option,
     "the list's mails in HyperKitty's database, in place of FILE: a file of SQLite, or the URL of one in PostgreSQL "
     "or MySQL",
     "FILE|URL"},
    {"files", 0, 0, G_OPTION_ARG_STRING, &files_option, "HyperKitty's HYPERKITTY_ATTACHMENT_FOLDER, where it is set",
     "DIR"},
    G_OPTION_ENTRY_NULL,
};

const Command archive_import = {
    .name = "import",
    .arguments = "LIST [FILE]",
    .summary = "Add mails of another archive to that of a list",
    .least = 1,
    .most = 2,
    .options = options,
    .run = run_import,
    .details =
        "FILE is an mbox, a maildir, the directory of an archive of mlmmj, ezmlm or Sympa, whose mails are files with "
        "numbers for names, or - for an mbox on standard input. Nothing is sent. A mail whose Message-ID is in the "
        "archive is left out, so an import that was interrupted may be given again; where it says something else than "
        "the one that is there, it is named. A mail's time of arrival is that "
        "of its first Received field, or else what the mailbox says, or its Date where the two do not agree. "
        "HyperKitty kept of each mail sender, "
        "subject, date, Message-ID, text and files, of which a mail is made. Lines of an mbox that may begin a mail "
        "and were taken as text are told with their numbers. Exit code 1: something was left out, or such a line was "
        "told.",
};
