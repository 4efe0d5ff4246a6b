/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner import: a site moves in from another list system (lists/moving/). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/archive/archive_import.h"
#include "cli/archive/archive_site.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/moving/keep_read.h"
#include "cli/plain.h"
#include "cli/progress.h"
#include "cli/work_site.h"
#include "lists/moving/ezmlm.h"
#include "lists/moving/hyperkitty.h"
#include "lists/moving/leaving.h"
#include "lists/moving/mailman2.h"
#include "lists/moving/mailman3.h"
#include "lists/moving/mlmmj.h"
#include "lists/moving/moving.h"
#include "lists/moving/sympa.h"

#define MAILMAN3_DATABASE "/var/lib/mailman3/data/mailman.db"
#define MAILMAN3_VAR "/var/lib/mailman3"

static char *database_option, *var_option, *domain_option, *hyperkitty_option, *files_option;
static gboolean dry_run, the_rest, of_site;

typedef struct CliImport {
    WorkPlace place;
    Store *trial; /* of a dry run: what is written goes here */
    char *trial_directory;
    Progress progress;
} CliImport;

/* ---- the report ---- */

static void tell(MovingNote note, const char *place, const char *key, const char *text, void *data)
{
    CliImport *import = data;
    progress_end(&import->progress);
    g_autofree char *line = g_strdup_printf("%s%s%s%s%s", place, *place ? ": " : "", key, *key ? ": " : "", text);
    g_autofree char *plain = plain_text(line);
    printf("%s: %s\n", moving_note_text(note), plain);
}

static void show(uint64_t rows, void *data)
{
    CliImport *import = data;
    progress_show(&import->progress, rows, rows);
}

static void print_counts(const Moving *moving, bool dry)
{
    const MovingCount *counts = moving_counts(moving);
    printf("%-24s %10s %14s\n", "", dry ? "would come" : "brought in", "there already");
    for (int kind = 0; kind < MOVING_KINDS; kind++)
        if (counts[kind].in + counts[kind].there > 0)
            printf("%-24s %10" PRIu64 " %14" PRIu64 "\n", moving_kind_text(kind), counts[kind].in, counts[kind].there);
    printf("%" PRIu64 " left out, %" PRIu64 " without an equal here, %" PRIu64 " changed\n",
           moving_notes(moving, MOVING_LEFT_OUT), moving_notes(moving, MOVING_LOST),
           moving_notes(moving, MOVING_CHANGED));
    if (moving_notes(moving, MOVING_WITHHELD) > 0)
        printf("What needs --site was left out, since a list may not write it.\n");
}

/* The worst that the report has. */
static int code_of(const Moving *moving)
{
    return moving_notes(moving, MOVING_LEFT_OUT) + moving_notes(moving, MOVING_WITHHELD) > 0 ? TOOL_NOT_SO : TOOL_OK;
}

/* ---- where it goes ---- */

static void remove_trial(CliImport *import)
{
    static const char *const files[] = {"trial.db", "trial.db-wal", "trial.db-shm"};
    g_clear_pointer(&import->trial, store_free);
    for (size_t i = 0; import->trial_directory && i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(import->trial_directory, files[i], NULL);
        unlink(path);
    }
    if (import->trial_directory)
        rmdir(import->trial_directory);
    g_clear_pointer(&import->trial_directory, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CliImport, remove_trial)

/* A dry run needs no database of ours to be there. with_trial: it writes to none that is there. */
static bool open_place(CliImport *import, Site *site, bool with_trial, GError **error)
{
    g_autoptr(GError) missing = NULL;
    keep_read_begin();
    bool open = dry_run ? work_place_store(&import->place, site, &missing)
                        : work_place_open(&import->place, site, &missing);
    keep_read_end();
    if (!open && !(dry_run && g_error_matches(missing, FAIL, FAIL_MISSING) && import->place.site.config))
        return fail_with(error, &missing);
    if (!dry_run || (open && !with_trial))
        return true;
    /* A database of its own, which is gone at the end: so a dry run finds all that the real one would. */
    import->trial_directory = g_dir_make_tmp("listrunner-import.XXXXXX", error);
    if (!import->trial_directory)
        return false;
    g_autofree char *path = g_build_filename(import->trial_directory, "trial.db", NULL);
    int fd;
    import->trial = store_open("sqlite", path, true, error);
    return import->trial && store_leave_sync(import->trial, &fd, error);
}

/* ---- systems ---- */

static int finish(Moving *moving, bool done, CliImport *import)
{
    moving_tell_site(moving);
    progress_end(&import->progress);
    print_counts(moving, dry_run);
    if (!done)
        printf("The import is not complete; run it again to go on.\n");
    return !done ? TOOL_LATER : code_of(moving);
}

static Moving *moving_into(CliImport *import, const char *source, bool site, bool at_once)
{
    const MovingSite into = {.store = import->trial ? import->trial : import->place.store,
                             .there = import->place.store,
                             .site = &import->place.site,
                             .of_site = site,
                             .at_once = at_once,
                             .spool = import->trial ? NULL : import->place.spool,
                             .tell = tell,
                             .progress = show,
                             .data = import};
    store_expect_bulk(into.store);
    return moving_new(&into, source);
}

typedef struct Archives {
    Site *site;
    Foreign *hyperkitty;
    Moving *moving;
    int code; /* the worst */
    bool whole;
} Archives;

/* The archive of one list, where the list came by this import; of a dry run, how many mails would. */
static bool import_archive(Archives *archives, const char *list_id, GError **error)
{
    bool there;
    uint64_t mails;
    List *found;
    if (!moving_find_list(archives->moving, list_id, &found, error))
        return false;
    g_autoptr(List) list = found;
    if (!list)
        return true;
    if (!hyperkitty_count(archives->hyperkitty, list_id, list->posting_address, &there, &mails, error))
        return false;
    if (!there)
        printf("%s: HyperKitty has no such list\n", list->posting_address);
    else if (dry_run)
        printf("%s: %" PRIu64 " mails of HyperKitty would come\n", list->posting_address, mails);
    if (!there || dry_run)
        return true;
    int code = archive_import_hyperkitty(archives->site, list, archives->hyperkitty, files_option, error);
    if (code == TOOL_LATER)
        return false;
    archives->code = MAX(archives->code, code);
    return true;
}

/* An archive that fails is told, and the others come. */
static bool take_archive(const char *list_id, void *data, G_GNUC_UNUSED GError **error)
{
    g_autoptr(GError) why = NULL;
    Archives *archives = data;
    if (import_archive(archives, list_id, &why))
        return true;
    plain_complain("the archive of %s is not whole: %s", list_id, why->message);
    archives->code = MAX(archives->code, command_exit_code(why));
    archives->whole = false;
    return true;
}

static int run_mailman3(Site *site, int argc, char **argv, GError **error)
{
    g_auto(CliImport) import = {.progress = {.what = "rows"}};
    const char *var = var_option ? var_option : MAILMAN3_VAR;
    char *const *lists = argc > 0 ? argv : NULL;
    if ((argc > 0) == of_site)
        return command_usage(error, "--site brings the whole site, with its users and their passwords, owners of the "
                                    "site and of domains, bans and texts; or name the lists that are to come without "
                                    "these");
    if (files_option && !hyperkitty_option)
        return command_usage(error, "--files goes with --hyperkitty");
    /* All is opened before the right to read there may be given up. Without var_dir held posts and digests would be
     * missed, and nobody would know. */
    if (access(var, R_OK | X_OK) != 0) {
        fail_errno(error, errno == ENOENT || errno == ENOTDIR ? FAIL_MISSING : FAIL_LATER,
                   "%s, Mailman's var_dir (--var)", var);
        return TOOL_LATER;
    }
    g_autoptr(Foreign) hyperkitty = hyperkitty_option ? foreign_open(hyperkitty_option, error) : NULL;
    if (hyperkitty_option && (!hyperkitty || !hyperkitty_check(hyperkitty, error)))
        return TOOL_LATER;
    g_autoptr(Foreign) database = foreign_open(database_option ? database_option : MAILMAN3_DATABASE, error);
    g_autofree char *source = database ? mailman3_source(database, error) : NULL;
    if (!source || !open_place(&import, site, true, error))
        return TOOL_LATER;
    /* Know before anything is written that there is an archive for the mails. */
    g_auto(ArchiveSite) archive = {0};
    if (hyperkitty && (!dry_run || import.place.store) && !archive_site_find(&archive, site, NULL, NULL, error))
        return TOOL_LATER;
    g_autoptr(Moving) moving = moving_into(&import, source, of_site, false);
    bool done = mailman3_move(database, var, lists, moving, error);
    int code = finish(moving, done, &import);
    if (!done || !hyperkitty)
        return code;
    Archives archives = {site, hyperkitty, moving, code, true};
    bool all = mailman3_each_list(database, lists, take_archive, &archives, error);
    if (!all || !archives.whole)
        printf("The archives are not complete; run it again to go on.\n");
    return all ? archives.code : TOOL_LATER;
}

/* A system that keeps each list in a directory. */
typedef struct ListsSystem {
    const char *source;
    bool (*move)(const char *directory, Moving *moving, GError **error);
} ListsSystem;

/* One list; what is wrong with its directory is told, and the others come. *whole stays unless the list can come later.
 * False: the store failed. */
static bool import_directory(CliImport *import, Moving *moving, const ListsSystem *system, const char *directory,
                             bool *whole, GError **error)
{
    g_autoptr(GError) why = NULL;
    if (!moving_commit(moving, error))
        return false;
    if (system->move(directory, moving, &why))
        return true;
    if (!g_error_matches(why, FAIL, FAIL_LATER)) {
        moving_tell(moving, MOVING_LEFT_OUT, directory, "", "%s", why->message);
        return true;
    }
    moving_undo(moving);
    progress_end(&import->progress);
    plain_complain("%s is not whole: %s", directory, why->message);
    *whole = false;
    return true;
}

static int run_lists(Site *site, const void *kind, char **argv, GError **error)
{
    const ListsSystem *system = kind;
    bool whole = true, done = true;
    g_auto(CliImport) import = {.progress = {.what = "rows"}};
    if (!open_place(&import, site, true, error))
        return TOOL_LATER;
    g_autoptr(Moving) moving = moving_into(&import, system->source, true, false);
    for (char **directory = argv; done && *directory; directory++)
        done = import_directory(&import, moving, system, *directory, &whole, error);
    return finish(moving, done && moving_finish(moving, error) && whole, &import);
}

/* All or nothing: it is one transaction, which is undone where something cannot come. */
static int run_listrunner(Site *site, int argc, char **argv, GError **error)
{
    (void)argc;
    g_auto(CliImport) import = {.progress = {.what = "rows"}};
    g_autoptr(InputFile) file = input_open(argv[0], error); /* before the right to read there may be given up */
    g_autoptr(LeavingFile) from = file ? leaving_open(file, error) : NULL;
    if (!from || !open_place(&import, site, false, error))
        return TOOL_LATER;
    g_autoptr(Moving) moving = moving_into(&import, leaving_source(from), of_site, true);
    bool done = leaving_move(from, moving, error);
    bool refused = moving_notes(moving, MOVING_LEFT_OUT) > 0 && !the_rest;
    done = done && (dry_run || refused || moving_finish(moving, error));
    moving_tell_site(moving);
    progress_end(&import.progress);
    print_counts(moving, dry_run || refused || !done);
    if (done && refused && !dry_run)
        printf("Nothing was written, since not all can come. With --rest, what can comes.\n");
    else if (!done)
        printf("Nothing was written.\n");
    return !done ? TOOL_LATER : code_of(moving);
}

static int run_sympa(Site *site, int argc, char **argv, GError **error)
{
    (void)argc;
    g_auto(CliImport) import = {.progress = {.what = "rows"}};
    /* Before the right to read there may be given up. */
    g_autoptr(Foreign) database = database_option ? foreign_open(database_option, error) : NULL;
    if (database_option && !database)
        return TOOL_LATER;
    g_autoptr(Sympa) sympa = sympa_open(argv[0], database, domain_option, error);
    if (!sympa || !open_place(&import, site, true, error))
        return TOOL_LATER;
    g_autoptr(Moving) moving = moving_into(&import, SYMPA_SOURCE, true, false);
    return finish(moving, sympa_move(sympa, moving, error), &import);
}

#define DRY_RUN_OPTION                                                                                               \
    {                                                                                                                \
        "dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "change nothing, and show what would come and what would not", \
            NULL                                                                                                     \
    }

static const GOptionEntry mailman3_options[] = {
    {"site", 0, 0, G_OPTION_ARG_NONE, &of_site,
     "bring the whole site: users with their passwords, owners of the site and of domains, alias domains, bans, texts",
     NULL},
    {"db", 0, 0, G_OPTION_ARG_STRING, &database_option,
     "Mailman's database: a file of SQLite, or the URL of one in PostgreSQL or MySQL (" MAILMAN3_DATABASE ")",
     "FILE|URL"},
    {"var", 0, 0, G_OPTION_ARG_STRING, &var_option, "Mailman's var_dir (" MAILMAN3_VAR ")", "DIR"},
    {"hyperkitty", 0, 0, G_OPTION_ARG_STRING, &hyperkitty_option,
     "bring the lists' archives, too, from HyperKitty's database: as --db", "FILE|URL"},
    {"files", 0, 0, G_OPTION_ARG_STRING, &files_option, "HyperKitty's HYPERKITTY_ATTACHMENT_FOLDER, where it is set",
     "DIR"},
    DRY_RUN_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry sympa_options[] = {
    {"db", 0, 0, G_OPTION_ARG_STRING, &database_option,
     "Sympa's database: a file of SQLite, or the URL of one in PostgreSQL or MySQL", "FILE|URL"},
    {"domain", 0, 0, G_OPTION_ARG_STRING, &domain_option,
     "the lists of this domain alone, or the domain of lists whose folders do not name one", "DOMAIN"},
    DRY_RUN_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry mailman2_options[] = {DRY_RUN_OPTION, G_OPTION_ENTRY_NULL};

static const GOptionEntry listrunner_options[] = {
    {"site", 0, 0, G_OPTION_ARG_NONE, &of_site,
     "bring also what is the site's: users, owners of the site and of domains, tokens, keys, bans, texts, sources",
     NULL},
    {"rest", 0, 0, G_OPTION_ARG_NONE, &the_rest, "bring in the rest where something cannot come", NULL},
    DRY_RUN_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const Command mailman3_verb = {
    .name = "mailman3",
    .arguments = "[LIST...]",
    .summary = "Move a site of GNU Mailman 3 in, or some of its lists",
    .most = -1,
    .options = mailman3_options,
    .run = run_mailman3,
    .details =
        "Domains, lists with their settings, users, members, bans, texts, held posts, requests and the digest that is "
        "being collected come along with --site, which names in its report whom and what the site comes to trust. "
        "With LIST (List-Ids or addresses) in its place only these lists come, with their members, and nothing "
        "that a list's token could not write. What has no equal here, or cannot be taken, is told with the list and "
        "Mailman's name of it, and the rest goes in. With --hyperkitty the archives follow, as by archive import. Run "
        "again, it "
        "goes on where it was interrupted, and changes nothing of what "
        "is in. Nobody gets a letter. Exit code 1: something was left out.",
};

static const Command mailman2_verb = {
    .name = "mailman2",
    .arguments = "LISTDIR...",
    .summary = "Move lists of GNU Mailman 2.1 in",
    .least = 1,
    .most = -1,
    .options = mailman2_options,
    .run_kind = run_lists,
    .kind = &(const ListsSystem){MAILMAN2_SOURCE, mailman2_move},
    .details =
        "LISTDIR is the directory of a list, /var/lib/mailman/lists/NAME. Its settings, members, owners, bans and "
        "the digest that is being collected come along; held posts, requests and passwords do not. Lines and "
        "exit codes are those of mailman3.",
};

static const Command mlmmj_verb = {
    .name = "mlmmj",
    .arguments = "LISTDIR...",
    .summary = "Move lists of mlmmj in",
    .least = 1,
    .most = -1,
    .options = mailman2_options,
    .run_kind = run_lists,
    .kind = &(const ListsSystem){MLMMJ_SOURCE, mlmmj_move},
    .details = "LISTDIR is the directory of a list, /var/spool/mlmmj/NAME. Its settings, members, owners and "
               "moderators come along, and posts and requests that wait for a moderator. Lines and exit codes are "
               "those of mailman3.",
};

static const Command ezmlm_verb = {
    .name = "ezmlm",
    .arguments = "LISTDIR...",
    .summary = "Move lists of ezmlm in",
    .least = 1,
    .most = -1,
    .options = mailman2_options,
    .run_kind = run_lists,
    .kind = &(const ListsSystem){EZMLM_SOURCE, ezmlm_move},
    .details =
        "LISTDIR is the directory of a list of ezmlm or ezmlm-idx. Its settings, members, owners, moderators and bans "
        "come along, and posts that wait for a moderator. Lines and exit codes are those of mailman3.",
};

static const Command sympa_verb = {
    .name = "sympa",
    .arguments = "DIR",
    .summary = "Move lists of Sympa in",
    .least = 1,
    .most = 1,
    .options = sympa_options,
    .run = run_sympa,
    .details =
        "DIR is the directory of Sympa's lists, list_data or expl. The settings of each list come along, and from the "
        "database (without --db: from member.dump, owner.dump and editor.dump of each list) its members, owners, "
        "editors and the accounts of these. Closed lists stay away. Lines and exit codes are those of mailman3.",
};

static const Command listrunner_verb = {
    .name = "listrunner",
    .arguments = "FILE",
    .summary = "Bring in what listrunner export wrote",
    .least = 1,
    .most = 1,
    .options = listrunner_options,
    .run = run_listrunner,
    .details =
        "FILE is - for standard input. All comes in one transaction, or nothing: where a list is here already, or "
        "a row cannot be taken, its line is told and nothing is written. What came before stays as it is. Without "
        "--site a file can do to this site no more than a token for its lists: its lists come with members, bans, "
        "posts that wait and their own texts, and the rest is left out and counted. With --site each owner, token, "
        "key, alias, ban, text and source of the site is named, also by --dry-run. Lines are those of mailman3. Exit "
        "code 1: something cannot come, or needs --site.",
};

static const Command *const verbs[] = {
    &listrunner_verb, &mailman3_verb, &mailman2_verb, &mlmmj_verb, &ezmlm_verb, &sympa_verb, NULL};

const Command cmd_import = {
    .name = "import",
    .arguments = "",
    .summary = "Move a site in from another list system",
    .verbs = verbs,
};
