/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner spool check: every file of the spool. Nothing is changed without --repair. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/fail.h"
#include "cli/backup/spool_served.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/queues/queue_files.h"
#include "lists/hosts/this_host.h"
#include "lists/kept.h"
#include "lists/keys.h"
#include "switchboard/name.h"
#include "switchboard/operate.h"
#include "switchboard/prepared.h"
#include "switchboard/spool.h"
#include "switchboard/stray.h"

#define UNSETTLED (3600 * CLOCK_SECOND) /* the timer should have done it by then */

static gboolean repair;

typedef struct SpoolCheck {
    Spool *spool;
    Listing *listing; /* gets a row for each finding */
    unsigned notes, faults, repaired;
    uid_t owner;          /* of the spool */
    bool master, command; /* a master runs; a command of an operator changes entries */
    int64_t tmp_lifetime; /* us; a file that is being written for longer was abandoned */
    GHashTable *runners;  /* queues that have a configured runner */
    GArray *damaged;      /* of Damaged: entries that are ready and damaged, but for those of the queue corrupt */
    char **missing;       /* queues that were there and have no directory */
    uint64_t entries;     /* entries that were read and are sound */
} SpoolCheck;

typedef struct Damaged {
    Queue *queue;
    EntryName name;
} Damaged;

/* ---- findings ---- */

/* In the three functions below, kind is one word for programs; queue and file may be NULL; text is taken and freed. */
static void add(SpoolCheck *check, json_t *row, const char *queue, const char *file, char *text)
{
    json_object_set_new(row, "queue", listing_text(queue));
    json_object_set_new(row, "file", listing_text(file));
    json_object_set_new(row, "text", listing_text(text));
    listing_row(check->listing, row);
    g_free(text);
}

/* Add a row about something that is worth knowing; nothing is wrong. */
static void tell_note(SpoolCheck *check, const char *kind, const char *queue, const char *file, char *text)
{
    check->notes++;
    add(check, json_pack("{ss ss}", "level", "note", "kind", kind), queue, file, text);
}

/* Add a row about a fault: a person should do something. */
static void tell_fault(SpoolCheck *check, const char *kind, const char *queue, const char *file, char *text)
{
    check->faults++;
    add(check, json_pack("{ss ss}", "level", "fault", "kind", kind), queue, file, text);
}

/* Add a row about a fault that was mended just now. */
static void tell_repaired(SpoolCheck *check, const char *kind, const char *queue, const char *file, char *text)
{
    check->repaired++;
    add(check, json_pack("{ss ss}", "level", "repaired", "kind", kind), queue, file, text);
}

/* ---- one queue, file by file ---- */

typedef struct QueueWalk {
    SpoolCheck *check;
    Queue *queue;
    Served served;
    bool corrupt;
    int64_t now, ready, unserved, preserved;
    GError **error;
    bool sound;
} QueueWalk;

static const char *name_of(const QueueWalk *walk)
{
    return queue_name(walk->queue);
}

/* False: it is no file that could be opened. */
static bool check_file(QueueWalk *walk, const QueueFile *found, const char *file, const struct stat *status)
{
    SpoolCheck *check = walk->check;
    if (!S_ISREG(status->st_mode)) {
        const char *what = S_ISDIR(status->st_mode)    ? "a directory"
                           : S_ISLNK(status->st_mode)  ? "a symbolic link"
                           : S_ISFIFO(status->st_mode) ? "a FIFO"
                                                       : "no regular file";
        char *text = g_strdup_printf("%s with the name of an entry", what);
        if (found->state == QUEUE_PRESERVED)
            tell_note(check, "strange", name_of(walk), file, text);
        else
            tell_fault(check, "strange", name_of(walk), file, text);
        if (found->state == QUEUE_READY || found->state == QUEUE_WAITING) {
            Damaged damaged = {walk->queue, found->name};
            g_array_append_val(check->damaged, damaged);
        }
        return false;
    }
    if (status->st_uid != check->owner)
        tell_fault(check, "owner", name_of(walk), file,
                   g_strdup_printf("belongs to user %u, the spool to %u: runners may not be able to work on it",
                                   (unsigned)status->st_uid, (unsigned)check->owner));
    if ((status->st_mode & S_IRUSR) == 0 || (status->st_mode & S_IWUSR) == 0)
        tell_fault(
            check, "mode", name_of(walk), file,
            g_strdup_printf("mode %04o: its owner cannot read and write it", (unsigned)(status->st_mode & 07777)));
    else if (status->st_mode & S_IRWXO)
        tell_fault(
            check, "mode", name_of(walk), file,
            g_strdup_printf("mode %04o: every user of this host can get at it", (unsigned)(status->st_mode & 07777)));
    return true;
}

static void check_writing(QueueWalk *walk, const char *file, const struct stat *status)
{
    SpoolCheck *check = walk->check;
    bool by_operator;
    int64_t age = walk->now - (int64_t)status->st_mtime * CLOCK_SECOND;
    if (prepared_is_tag(file + NAME_LENGTH)) {
        if (age > UNSETTLED)
            tell_fault(check, "unsettled", name_of(walk), file,
                       g_strdup("left by a change that was cut short; the runner task settles it"));
    } else if (!stray_is_tag(file + NAME_LENGTH, &by_operator)) {
        if (age > check->tmp_lifetime)
            tell_note(check, "abandoned", name_of(walk), file,
                      g_strdup("was never acknowledged to its sender; a runner removes it when it is idle"));
    } else if (by_operator && !check->command)
        tell_fault(check, "command", name_of(walk), file,
                   g_strdup("left by a command that was killed; the next command settles it"));
}

static void check_entry(QueueWalk *walk, const QueueFile *found, const char *file)
{
    SpoolCheck *check = walk->check;
    QueueState state = found->state;
    bool served = walk->served.byte[found->name.hash[0]], waits = state == QUEUE_READY || state == QUEUE_WAITING;
    bool for_good = state == QUEUE_CLAIMED || state == QUEUE_DECIDED;
    walk->ready += waits;
    walk->unserved += !served && waits;
    walk->preserved += state == QUEUE_PRESERVED;
    if (for_good && !served)
        tell_note(check, "left", name_of(walk), file,
                  g_strdup("its runner ended while it had it; the next start of the runner settles it"));
    if (state == QUEUE_TAKEN && !check->command)
        tell_fault(check, "command", name_of(walk), file,
                   g_strdup("left by a command that was killed; the next command settles it"));
    if (walk->corrupt) /* its bytes are known to be wrong */
        return;
    g_autoptr(GError) refusal = NULL;
    g_autoptr(Entry) entry = queue_files_open(walk->queue, found, &state, &refusal);
    if (entry) {
        check->entries++;
    } else if (g_error_matches(refusal, FAIL, FAIL_NEVER) && state == QUEUE_PRESERVED) {
        tell_note(check, "damaged", name_of(walk), file, g_strdup(refusal->message));
    } else if (g_error_matches(refusal, FAIL, FAIL_NEVER)) {
        const char *held = state == QUEUE_CLAIMED || state == QUEUE_DECIDED ? "; held by a runner, not touched" : "";
        tell_fault(check, "damaged", name_of(walk), file, g_strconcat(refusal->message, held, NULL));
        Damaged damaged = {walk->queue, found->name};
        if (state == QUEUE_READY || state == QUEUE_WAITING)
            g_array_append_val(check->damaged, damaged);
    } else if (!g_error_matches(refusal, FAIL, FAIL_MISSING)) {
        tell_fault(check, "unreadable", name_of(walk), file, g_strdup(refusal->message));
    }
}

static bool visit(const QueueFile *found, const char *file, void *data)
{
    QueueWalk *walk = data;
    SpoolCheck *check = walk->check;
    struct stat status;
    if (fstatat(queue_fd(walk->queue), file, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return true;
        walk->sound = fail_errno(walk->error, FAIL_LATER, "stat %s/%s", name_of(walk), file);
        return false;
    }
    if (found->state == QUEUE_FOREIGN)
        tell_note(check, "foreign", name_of(walk), file, g_strdup("no file of Listrunner; it is never touched"));
    else if (!check_file(walk, found, file, &status))
        return true;
    else if (found->state == QUEUE_WRITING)
        check_writing(walk, file, &status);
    else
        check_entry(walk, found, file);
    return true;
}

/* Check all files of the queue, and add to check->findings, damaged and entries. False: the queue cannot be read. */
static bool check_queue(SpoolCheck *check, Queue *queue, GError **error)
{
    struct stat status;
    QueueWalk walk = {.check = check, .queue = queue, .now = clock_now(), .error = error, .sound = true};
    const char *name = queue_name(queue);
    bool hold = strcmp(name, HOLD_QUEUE) == 0, shunt = strcmp(name, SHUNT_QUEUE) == 0;
    walk.corrupt = strcmp(name, CORRUPT_QUEUE) == 0;
    spool_served(check->spool, name, &walk.served);
    bool known = fstat(queue_fd(queue), &status) == 0;
    if (known && status.st_uid != check->owner)
        tell_fault(check, "owner", name, NULL,
                   g_strdup_printf("the directory belongs to user %u, the spool to %u", (unsigned)status.st_uid,
                                   (unsigned)check->owner));
    if (known && ((status.st_mode & S_IRWXU) != S_IRWXU || (status.st_mode & S_IWOTH)))
        tell_fault(check, "mode", name, NULL,
                   g_strdup_printf("the directory has mode %04o; 0750 is right", (unsigned)(status.st_mode & 07777)));
    if (!queue_files_each(queue, visit, &walk, error) || !walk.sound)
        return false;
    if (walk.preserved > 0)
        tell_note(check, "preserved", name, NULL,
                  g_strdup_printf("%" G_GINT64_FORMAT " preserved; see listrunner shunt ls", walk.preserved));
    if (hold || shunt || walk.corrupt) {
        if (walk.ready > 0)
            tell_note(check, "waiting", name, NULL,
                      g_strdup_printf("%" G_GINT64_FORMAT " %s", walk.ready,
                                      hold    ? "held; see listrunner queue release"
                                      : shunt ? "shunted; see listrunner shunt ls"
                                              : "damaged files; look at them, then delete them"));
        return true;
    }
    if (walk.unserved == 0)
        return true;
    bool configured = g_hash_table_contains(check->runners, name);
    char *text = g_strdup_printf("%" G_GINT64_FORMAT " entries wait and no %s", walk.unserved,
                                 !configured     ? "runner for this queue is configured"
                                 : check->master ? "process serves their slice; see listrunner status"
                                                 : "master runs");
    if (configured && !check->master)
        tell_note(check, "unserved", name, NULL, text);
    else
        tell_fault(check, "unserved", name, NULL, text);
    return true;
}

/* ---- the spool ---- */

static void done(void *data, void *token, const GError *error)
{
    (void)data; /* nothing is moved by a hop here */
    (void)token;
    (void)error;
}

/* Check the files that lie in the spool beside its queues. */
static bool check_top(SpoolCheck *check, GError **error)
{
    int fd = openat(spool_fd(check->spool), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (!directory) {
        fail_errno(error, FAIL_LATER, "list %s", spool_path(check->spool));
        if (fd >= 0)
            close(fd);
        return false;
    }
    /* .out is what the runner out has learnt of destinations, .watch what watch has told, .shadow is of the shadow. */
    static const char *const ours[] = {".",
                                       "..",
                                       ".master",
                                       ".out",
                                       SPOOL_RECORDS,
                                       SPOOL_BACKUP,
                                       SPOOL_RESTORING,
                                       OPERATE_LOCK_FILE,
                                       PREPARED_LOCK_FILE,
                                       KEPT_KEY_FILE,
                                       SPOOL_ID_FILE,
                                       THIS_HOST_FILE,
                                       THIS_HOST_SITE_FILE,
                                       ".watch",
                                       ".shadow",
                                       "lost+found",
                                       NULL};
    const struct dirent *found;
    while ((found = readdir(directory)) != NULL) {
        struct stat status;
        const char *name = found->d_name;
        if (g_strv_contains(ours, name) || fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (!S_ISDIR(status.st_mode) || !queue_name_valid(name))
            tell_note(check, "foreign", NULL, name, g_strdup("no queue of Listrunner; it is never touched"));
    }
    closedir(directory);
    return true;
}

/* Queues that were there. */
static bool check_missing(SpoolCheck *check, GError **error)
{
    check->missing = spool_missing_queues(check->spool, error);
    for (char **name = check->missing; name && *name; name++) {
        g_autoptr(GError) fault = NULL;
        struct stat status;
        bool gone = fstatat(spool_fd(check->spool), *name, &status, AT_SYMLINK_NOFOLLOW) != 0;
        if (repair && spool_queue_again(check->spool, *name, &fault))
            tell_repaired(check, "missing", *name, NULL, g_strdup("the directory was made"));
        else
            tell_fault(check, "missing", *name, NULL,
                       fault   ? g_strdup(fault->message)
                       : !gone ? g_strdup("there is something else in the place of its directory")
                               : g_strdup("the directory was there and is gone, and mail for it waits; put it "
                                          "back, or make an empty one with --repair"));
    }
    return check->missing != NULL;
}

static void need(SpoolCheck *check, const char *queue)
{
    struct stat status;
    g_hash_table_add(check->runners, g_strdup(queue));
    if (fstatat(spool_fd(check->spool), queue, &status, 0) == 0 || errno != ENOENT)
        return;
    g_autoptr(GError) fault = NULL;
    if (repair && spool_queue(check->spool, queue, &fault))
        tell_repaired(check, "missing", queue, NULL, g_strdup("the directory was made"));
    else if (repair)
        tell_fault(check, "missing", queue, NULL, g_strdup(fault->message));
    else if (!g_strv_contains((const char *const *)check->missing, queue))
        tell_note(check, "missing", queue, NULL, g_strdup("there is no directory; its runner makes it when it starts"));
}

static bool mend(SpoolCheck *check, GError **error)
{
    g_autoptr(Operate) operate = operate_open(check->spool, true, done, NULL, error);
    if (!operate)
        return false;
    for (guint i = 0; i < check->damaged->len; i++) {
        const Damaged *damaged = &g_array_index(check->damaged, Damaged, i);
        char name[NAME_SIZE];
        g_autoptr(GError) fault = NULL;
        name_format(&damaged->name, name);
        const char *queue = queue_name(damaged->queue);
        if (operate_set_corrupt(operate, damaged->queue, &damaged->name, &fault))
            tell_repaired(check, "damaged", queue, name, g_strdup("moved to corrupt, whole"));
        else if (g_error_matches(fault, FAIL, FAIL_MISSING))
            tell_note(check, "damaged", queue, name, g_strdup("held by a runner, not touched"));
        else
            tell_fault(check, "damaged", queue, name, g_strdup(fault->message));
    }
    /* Under the lock strays are looked for again: what a killed command left is settled by now. */
    g_autoptr(GPtrArray) strays = stray_find(check->spool, error);
    for (guint i = 0; strays && i < strays->len; i++) {
        const Stray *stray = strays->pdata[i];
        g_autoptr(GError) fault = NULL;
        const char *queue = queue_name(stray->queue);
        if (operate_set_stray_aside(operate, stray->queue, stray->file, &fault))
            tell_repaired(check, "stray", queue, stray->file, g_strdup("moved to shunt, whole"));
        else
            tell_fault(check, "stray", queue, stray->file, g_strdup(fault->message));
    }
    return strays && operate_end(operate, error);
}

static bool check_all(SpoolCheck *check, const Config *config, GError **error)
{
    struct stat status;
    if (fstat(spool_fd(check->spool), &status) != 0)
        return fail_errno(error, FAIL_LATER, "stat %s", spool_path(check->spool));
    check->owner = status.st_uid;
    check->master = spool_has_master(check->spool);
    check->command = spool_has_command(check->spool);
    check->tmp_lifetime = config_duration(config, "spool", "tmp_lifetime");
    if (!check_missing(check, error))
        return false;
    for (const char *const *name = config_family(config, "runner"); *name; name++) {
        g_autofree char *section = g_strdup_printf("runner.%s", *name);
        const char *queue = config_string(config, section, "queue");
        if (!queue) /* a listener has none */
            continue;
        need(check, queue);
        if (strcmp(*name, "out") == 0) {
            need(check, "retry");
            need(check, NOTICE_QUEUE);
        }
    }
    g_auto(GStrv) names = check_top(check, error) ? spool_queue_names(check->spool, error) : NULL;
    for (char **name = names; name && *name; name++) {
        g_autoptr(GError) fault = NULL;
        Queue *queue = spool_queue(check->spool, *name, &fault);
        if (!queue)
            tell_fault(check, "directory", *name, NULL, g_strdup(fault->message));
        else if (!check_queue(check, queue, error))
            return false;
    }
    g_autoptr(GPtrArray) strays = names ? stray_find(check->spool, error) : NULL;
    for (guint i = 0; strays && i < strays->len; i++) {
        const Stray *stray = strays->pdata[i];
        tell_fault(check, "stray", queue_name(stray->queue), stray->file,
                   g_strdup("a part of an interrupted step whose origin is gone"));
    }
    return strays && (!repair || mend(check, error));
}

static int run_check(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"level", "LEVEL", COLUMN_TEXT}, {"kind", "KIND", COLUMN_TEXT},
                                     {"queue", "QUEUE", COLUMN_TEXT}, {"file", "FILE", COLUMN_TEXT},
                                     {"text", "WHAT", COLUMN_TEXT},   {NULL, NULL, COLUMN_TEXT}};
    (void)argc;
    (void)argv;
    const Config *config = site_config(site, error);
    Spool *spool = config ? site_spool(site, error) : NULL;
    if (!spool)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    g_autoptr(GHashTable) runners = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GArray) damaged = g_array_new(FALSE, FALSE, sizeof(Damaged));
    SpoolCheck check = {.spool = spool, .runners = runners, .damaged = damaged, .listing = listing};
    bool sound = check_all(&check, config, error);
    g_strfreev(check.missing);
    g_clear_pointer(&listing, listing_free);
    if (!sound)
        return TOOL_LATER;
    if (!json_option)
        printf("%" G_GUINT64_FORMAT " entries are sound; %u faults, %u repaired, %u notes\n", check.entries,
               check.faults, check.repaired, check.notes);
    return check.faults > 0 ? TOOL_NOT_SO : TOOL_OK;
}

static const GOptionEntry options[] = {
    {"repair", 0, 0, G_OPTION_ARG_NONE, &repair, "mend what can be mended without a person", NULL},
    JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const Command spool_check = {
    .name = "check",
    .arguments = "",
    .summary = "Verify every file of the spool and report what is not as it should be",
    .details = "Without --repair nothing is changed. With it, damaged entries go to corrupt and strays to shunt, both\n"
               "whole, missing directories are made, and what a killed command left is settled. What runners hold is\n"
               "never touched. Exit code 1: there were faults, also when they were repaired just now.",
    .options = options,
    .run = run_check,
};

static const Command *const verbs[] = {&spool_check, NULL};

const Command cmd_spool = {
    .name = "spool",
    .arguments = "",
    .summary = "Check the files of the spool",
    .verbs = verbs,
};
