/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/backup/spool_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/backup/spool_served.h"
#include "cli/queues/queue_files.h"
#include "switchboard/prepared.h"
#include "switchboard/stray.h"

#define UNSETTLED (3600 * CLOCK_SECOND) /* the timer should have done it by then */

typedef struct QueueWalk {
    SpoolCheck *check;
    Queue *queue;
    Served served;
    bool for_people, corrupt;
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
    Findings *findings = &walk->check->findings;
    if (!S_ISREG(status->st_mode)) {
        const char *what = S_ISDIR(status->st_mode)    ? "a directory"
                           : S_ISLNK(status->st_mode)  ? "a symbolic link"
                           : S_ISFIFO(status->st_mode) ? "a FIFO"
                                                       : "no regular file";
        char *text = g_strdup_printf("%s with the name of an entry", what);
        if (found->state == QUEUE_PRESERVED)
            findings_note(findings, "strange", name_of(walk), file, text);
        else
            findings_fault(findings, "strange", name_of(walk), file, text);
        if (found->state == QUEUE_READY || found->state == QUEUE_WAITING) {
            Damaged damaged = {walk->queue, found->name};
            g_array_append_val(walk->check->damaged, damaged);
        }
        return false;
    }
    if (status->st_uid != walk->check->owner)
        findings_fault(findings, "owner", name_of(walk), file,
                       g_strdup_printf("belongs to user %u, the spool to %u: runners may not be able to work on it",
                                       (unsigned)status->st_uid, (unsigned)walk->check->owner));
    if ((status->st_mode & S_IRUSR) == 0 || (status->st_mode & S_IWUSR) == 0)
        findings_fault(findings, "mode", name_of(walk), file,
                       g_strdup_printf("mode %04o: its owner cannot read and write it",
                                       (unsigned)(status->st_mode & 07777)));
    else if (status->st_mode & S_IRWXO)
        findings_fault(findings, "mode", name_of(walk), file,
                       g_strdup_printf("mode %04o: every user of this host can get at it",
                                       (unsigned)(status->st_mode & 07777)));
    return true;
}

static void check_writing(QueueWalk *walk, const char *file, const struct stat *status)
{
    SpoolCheck *check = walk->check;
    bool by_operator;
    int64_t age = walk->now - (int64_t)status->st_mtime * CLOCK_SECOND;
    if (prepared_is_tag(file + NAME_LENGTH)) {
        if (age > UNSETTLED)
            findings_fault(&check->findings, "unsettled", name_of(walk), file,
                           g_strdup("left by a change that was cut short; the runner task settles it"));
    } else if (!stray_is_tag(file + NAME_LENGTH, &by_operator)) {
        if (age > check->tmp_lifetime)
            findings_note(&check->findings, "abandoned", name_of(walk), file,
                          g_strdup("was never acknowledged to its sender; a runner removes it when it is idle"));
    } else if (by_operator && !check->command)
        findings_fault(&check->findings, "command", name_of(walk), file,
                       g_strdup("left by a command that was killed; the next command settles it"));
}

/* Verifies the octets; in corrupt they are known to be wrong. */
static void verify(QueueWalk *walk, const QueueFile *found, const char *file)
{
    SpoolCheck *check = walk->check;
    QueueState state = found->state;
    if (walk->corrupt)
        return;
    g_autoptr(GError) refusal = NULL;
    g_autoptr(Entry) entry = queue_files_open(walk->queue, found, &state, &refusal);
    if (entry) {
        check->entries++;
    } else if (g_error_matches(refusal, FAIL, FAIL_NEVER)) {
        if (state == QUEUE_PRESERVED) {
            findings_note(&check->findings, "damaged", name_of(walk), file, g_strdup(refusal->message));
            return;
        }
        const char *held = state == QUEUE_CLAIMED || state == QUEUE_DECIDED ? "; held by a runner, not touched" : "";
        findings_fault(&check->findings, "damaged", name_of(walk), file, g_strconcat(refusal->message, held, NULL));
        Damaged damaged = {walk->queue, found->name};
        if (state == QUEUE_READY || state == QUEUE_WAITING)
            g_array_append_val(check->damaged, damaged);
    } else if (!g_error_matches(refusal, FAIL, FAIL_MISSING)) {
        findings_fault(&check->findings, "unreadable", name_of(walk), file, g_strdup(refusal->message));
    }
}

static void check_entry(QueueWalk *walk, const QueueFile *found, const char *file)
{
    SpoolCheck *check = walk->check;
    bool served = walk->served.byte[found->name.hash[0]];
    bool for_good = found->state == QUEUE_CLAIMED || found->state == QUEUE_DECIDED;
    walk->ready += found->state == QUEUE_READY || found->state == QUEUE_WAITING;
    walk->unserved += !served && (found->state == QUEUE_READY || found->state == QUEUE_WAITING);
    walk->preserved += found->state == QUEUE_PRESERVED;
    if (for_good && !served)
        findings_note(&check->findings, "left", name_of(walk), file,
                      g_strdup("its runner ended while it had it; the next start of the runner settles it"));
    if (found->state == QUEUE_TAKEN && !check->command)
        findings_fault(&check->findings, "command", name_of(walk), file,
                       g_strdup("left by a command that was killed; the next command settles it"));
    verify(walk, found, file);
}

static bool visit(const QueueFile *found, const char *file, void *data)
{
    QueueWalk *walk = data;
    struct stat status;
    if (fstatat(queue_fd(walk->queue), file, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return true;
        walk->sound = fail_errno(walk->error, FAIL_LATER, "stat %s/%s", name_of(walk), file);
        return false;
    }
    if (found->state == QUEUE_FOREIGN)
        findings_note(&walk->check->findings, "foreign", name_of(walk), file,
                      g_strdup("no file of Listrunner; it is never touched"));
    else if (!check_file(walk, found, file, &status))
        return true;
    else if (found->state == QUEUE_WRITING)
        check_writing(walk, file, &status);
    else
        check_entry(walk, found, file);
    return true;
}

static void check_directory(QueueWalk *walk)
{
    struct stat status;
    SpoolCheck *check = walk->check;
    if (fstat(queue_fd(walk->queue), &status) != 0)
        return;
    if (status.st_uid != check->owner)
        findings_fault(&check->findings, "owner", name_of(walk), NULL,
                       g_strdup_printf("the directory belongs to user %u, the spool to %u", (unsigned)status.st_uid,
                                       (unsigned)check->owner));
    if ((status.st_mode & S_IRWXU) != S_IRWXU || (status.st_mode & S_IWOTH))
        findings_fault(&check->findings, "mode", name_of(walk), NULL,
                       g_strdup_printf("the directory has mode %04o; 0750 is right",
                                       (unsigned)(status.st_mode & 07777)));
}

static void sum_up(QueueWalk *walk)
{
    Findings *findings = &walk->check->findings;
    const char *queue = name_of(walk);
    const char *what = strcmp(queue, HOLD_QUEUE) == 0    ? "held; see listrunner queue release"
                       : strcmp(queue, SHUNT_QUEUE) == 0 ? "shunted; see listrunner shunt ls"
                                                         : "damaged files; look at them, then delete them";
    if (walk->preserved > 0)
        findings_note(findings, "preserved", queue, NULL,
                      g_strdup_printf("%" G_GINT64_FORMAT " preserved; see listrunner shunt ls", walk->preserved));
    if (walk->for_people && walk->ready > 0)
        findings_note(findings, "waiting", queue, NULL, g_strdup_printf("%" G_GINT64_FORMAT " %s", walk->ready, what));
    if (walk->for_people || walk->unserved == 0)
        return;
    bool configured = g_hash_table_contains(walk->check->runners, queue);
    char *text = g_strdup_printf("%" G_GINT64_FORMAT " entries wait and no %s", walk->unserved,
                                 !configured            ? "runner for this queue is configured"
                                 : walk->check->master  ? "process serves their slice; see listrunner status"
                                                        : "master runs");
    if (configured && !walk->check->master)
        findings_note(findings, "unserved", queue, NULL, text);
    else
        findings_fault(findings, "unserved", queue, NULL, text);
}

bool spool_queue_check(SpoolCheck *check, Queue *queue, GError **error)
{
    QueueWalk walk = {.check = check, .queue = queue, .now = clock_now(), .error = error, .sound = true};
    const char *name = queue_name(queue);
    walk.corrupt = strcmp(name, CORRUPT_QUEUE) == 0;
    walk.for_people = walk.corrupt || strcmp(name, HOLD_QUEUE) == 0 || strcmp(name, SHUNT_QUEUE) == 0;
    spool_served(check->spool, name, &walk.served);
    check_directory(&walk);
    if (!queue_files_each(queue, visit, &walk, error) || !walk.sound)
        return false;
    sum_up(&walk);
    return true;
}
