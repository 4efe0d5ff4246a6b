/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/operate.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/recover.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

static const char *const addresses[] = {"anne@example.com", "bart@example.com", "cris@example.com", NULL};

/* Stops the world before the n-th call that changes or syncs something. */
static int stop_at(const FsEvent *event, void *data)
{
    (void)event;
    int *countdown = data;
    return (*countdown)-- <= 0 ? EIO : 0;
}

static void done(void *data, void *token, const GError *error)
{
    (void)token;
    unsigned *count = data;
    if (!error)
        ++*count;
}

/* An entry for three, the first of whom has it already. */
static EntryName store(Fixture *fixture, const char *queue, const char *message)
{
    Intake intake = {.draft = fixture_draft(queue, "test.example.com", message)};
    fixture_add_recipients(intake.draft, addresses);
    g_assert_true(intake_store(fixture->spool, &intake, 1, false));
    EntryName name = *draft_name(intake.draft);
    draft_free(intake.draft);
    g_autofree char *file = fixture_files(fixture, queue, ".msg");
    file[NAME_LENGTH + 4] = '\0'; /* one of them will do */
    g_autoptr(Entry) entry = entry_open(spool_queue(fixture->spool, queue, NULL), file, NULL);
    size_t first = 0;
    g_assert_true(entry_mark(entry, &first, 1, RECIPIENT_DONE, NULL));
    return name;
}

static Entry *open_one(Fixture *fixture, const char *queue)
{
    g_autofree char *file = fixture_files(fixture, queue, ".msg");
    g_autoptr(GError) error = NULL;
    Entry *entry = entry_open(spool_queue(fixture->spool, queue, NULL), file, &error);
    g_assert_no_error(error);
    return entry;
}

static unsigned to_do(const Entry *entry)
{
    Recipient recipient;
    unsigned count = 0;
    for (size_t at = 0; entry_next_recipient(entry, at, &recipient); at = recipient.next)
        count += recipient.state == RECIPIENT_TODO;
    return count;
}

typedef enum Verb { HOLD, AGAIN, DELETE, UNLINK, DUE, PSV_RETRY, PSV_DELETE, CORRUPT, VERBS } Verb;

/* One command on one entry; false when it stopped on the way. */
static bool run(Fixture *fixture, Verb verb, EntryName name, unsigned *count)
{
    Queue *queue = spool_queue(fixture->spool, "out", NULL);
    g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, count, NULL);
    if (!operate)
        return false;
    bool sound = true;
    if (verb == HOLD || verb == AGAIN || verb == DELETE) {
        Entry *entry = operate_claim(operate, queue, &name, false, NULL);
        Draft *draft = !entry || verb == DELETE ? NULL
                       : verb == HOLD           ? operate_draft_hold(entry)
                                                : operate_draft_again(entry, "out");
        sound = entry && operate_move(operate, entry, draft, NULL, NULL);
    } else if (verb == UNLINK)
        sound = operate_delete(operate, queue, &name, NULL);
    else if (verb == DUE)
        sound = operate_set_due(operate, queue, &name, 4000000000 * CLOCK_SECOND, NULL);
    else if (verb == PSV_RETRY)
        sound = operate_retry_preserved(operate, queue, &name, NULL);
    else if (verb == PSV_DELETE)
        sound = operate_delete_preserved(operate, queue, &name, NULL);
    else
        sound = operate_set_corrupt(operate, queue, &name, NULL);
    return sound && operate_end(operate, NULL);
}

static void prepare(Fixture *fixture, Verb verb, const EntryName *name)
{
    char text[NAME_SIZE];
    name_format(name, text);
    g_autofree char *file = g_strconcat(text, ".msg", NULL);
    g_autofree char *from = fixture_file_path(fixture, "out", file);
    if (verb == PSV_RETRY || verb == PSV_DELETE) {
        g_autofree char *preserved = g_strconcat(text, ".psv", NULL);
        g_autofree char *to = fixture_file_path(fixture, "out", preserved);
        g_assert_cmpint(g_rename(from, to), ==, 0);
    }
    if (verb == CORRUPT) {
        g_autofree char *octets = NULL;
        size_t length;
        g_assert_true(g_file_get_contents(from, &octets, &length, NULL));
        octets[length - 70] ^= 1;
        g_assert_true(g_file_set_contents(from, octets, (gssize)length, NULL));
    }
}

/* Judge what there may be after the command, and what there must be when it ended. */
static void judge(Fixture *fixture, Verb verb, bool ended)
{
    unsigned out = fixture_count(fixture, "out", ".msg"), psv = fixture_count(fixture, "out", ".psv");
    unsigned hold = fixture_count(fixture, "hold", ".msg"), corrupt = fixture_count(fixture, "corrupt", ".msg");
    unsigned all = fixture_count(fixture, "out", "") + fixture_count(fixture, "hold", "") +
                   fixture_count(fixture, "corrupt", "") + fixture_count(fixture, "shunt", "");
    g_assert_cmpuint(all, ==, out + psv + hold + corrupt); /* nothing half done */
    bool deletes = verb == DELETE || verb == UNLINK || verb == PSV_DELETE;
    if (deletes)
        g_assert_cmpuint(all, <=, ended ? 0 : 1);
    else
        g_assert_cmpuint(all, ==, 1);
    if (ended && !deletes)
        g_assert_cmpuint(verb == HOLD ? hold : verb == CORRUPT ? corrupt : out, ==, 1);
    if (verb != CORRUPT && (out || hold)) {
        g_autoptr(Entry) entry = open_one(fixture, out ? "out" : "hold");
        g_assert_cmpuint(to_do(entry), ==, 2);
    }
}

/* O1 to O7, OR1 to OR4: each command stopped before each of its calls, and recovery stopped before
 * each of its own. */
static void test_every_step(Fixture *fixture, gconstpointer data)
{
    unsigned stops = 0, count = 0;
    for (Verb verb = 0; verb < VERBS; verb++) {
        bool ended = false;
        for (int at = 0; !ended; at++) {
            g_assert_true(spool_queue(fixture->spool, "hold", NULL) && spool_queue(fixture->spool, "corrupt", NULL) &&
                          spool_queue(fixture->spool, "shunt", NULL));
            EntryName name = store(fixture, "out", "Subject: x\r\n\r\nA message long enough to be damaged\r\n");
            prepare(fixture, verb, &name);
            int countdown = at;
            fs_set_hook(stop_at, &countdown);
            ended = run(fixture, verb, name, &count);
            fs_set_hook(NULL, NULL);
            ended = ended && countdown >= 0; /* an error may be told in the end, not swallowed */
            bool settled = false;
            for (int dies = 0; !settled; dies++, stops++) {
                int left = dies;
                RecoverReport report = {0};
                fixture_reopen(fixture);
                Queue *queue = spool_queue(fixture->spool, "in", NULL); /* any runner's start will do */
                fs_set_hook(stop_at, &left);
                settled = recover_slice(queue, (Slice){0, 1}, false, &report, NULL) && left >= 0;
                fs_set_hook(NULL, NULL);
            }
            judge(fixture, verb, ended);
            fixture_tear_down(fixture, NULL);
            fixture_set_up(fixture, NULL);
        }
    }
    g_test_message("%u stops", stops);
    g_assert_cmpuint(stops, >, 100);
    g_assert_cmpuint(count, >=, 3);
}

/* Files and directories that were changed and not synced since. */
static int note_dirty(const FsEvent *event, void *data)
{
    GHashTable *dirty = data;
    gpointer place = GINT_TO_POINTER(event->fd);
    if (event->call == FS_SYNC_DIR || event->call == FS_SYNC_FILE)
        g_hash_table_remove(dirty, place);
    else if (event->call != FS_TRUNCATE)
        g_hash_table_add(dirty, place);
    else
        g_assert_cmpuint(g_hash_table_size(dirty), ==, 0);
    return 0;
}

/* Check that all that a command did is on the disk when it ends, and before its lock file says that nothing is left. */
static void test_ends_durably(Fixture *fixture, gconstpointer data)
{
    for (Verb verb = 0; verb < VERBS; verb++) {
        unsigned count = 0;
        g_autoptr(GHashTable) dirty = g_hash_table_new(NULL, NULL);
        g_assert_true(spool_queue(fixture->spool, "hold", NULL) && spool_queue(fixture->spool, "corrupt", NULL));
        EntryName name = store(fixture, "out", "Subject: x\r\n\r\nA message long enough to be damaged\r\n");
        prepare(fixture, verb, &name);
        fs_set_hook(note_dirty, dirty);
        g_assert_true(run(fixture, verb, name, &count));
        fs_set_hook(NULL, NULL);
        g_assert_cmpuint(g_hash_table_size(dirty), ==, 0);
        judge(fixture, verb, true);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

/* There and back: the hash, the due time, what was delivered, the rest of the metadata. */
static void test_hold_and_release(Fixture *fixture, gconstpointer data)
{
    unsigned count = 0;
    EntryName name = store(fixture, "out", "m");
    g_autoptr(GError) error = NULL;
    g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, &count, &error);
    g_assert_no_error(error);
    Entry *entry = operate_claim(operate, spool_queue(fixture->spool, "out", NULL), &name, false, &error);
    g_assert_no_error(error);
    g_assert_true(operate_move(operate, entry, operate_draft_hold(entry), NULL, &error));
    g_assert_cmpuint(count, ==, 0); /* not before it is durable */
    g_assert_true(operate_flush(operate, &error));
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 0);
    entry = open_one(fixture, "hold");
    g_assert_cmpmem(entry_name(entry)->hash, HASH_SIZE, name.hash, HASH_SIZE);
    const json_t *origin = json_object_get(entry_meta(entry), META_ORIGIN);
    g_assert_cmpstr(meta_string(origin, "queue", NULL), ==, "out");
    EntryName held = *entry_name(entry);
    entry_free(entry);
    entry = operate_claim(operate, spool_queue(fixture->spool, "hold", NULL), &held, false, &error);
    Draft *draft = operate_draft_release(entry, &error);
    g_assert_no_error(error);
    g_assert_true(operate_move(operate, entry, draft, NULL, &error) && operate_end(operate, &error));
    g_assert_cmpuint(fixture_count(fixture, "hold", ""), ==, 0);
    g_autoptr(Entry) back = open_one(fixture, "out");
    g_assert_cmpint(name_compare(entry_name(back), &name), ==, 0);
    g_assert_null(json_object_get(entry_meta(back), META_ORIGIN));
    g_assert_cmpuint(to_do(back), ==, 2);
    g_assert_cmpstr(entry_list(back), ==, "test.example.com");
}

static void test_release_without_origin(Fixture *fixture, gconstpointer data)
{
    store(fixture, "hold", "m");
    g_autoptr(Entry) entry = open_one(fixture, "hold");
    g_autoptr(GError) error = NULL;
    g_assert_null(operate_draft_release(entry, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

/* Exactly one wins, and neither takes offence. */
static void test_runner_was_faster(Fixture *fixture, gconstpointer data)
{
    EntryName name = store(fixture, "out", "m"), other = store(fixture, "out", "n");
    Queue *queue = spool_queue(fixture->spool, "out", NULL);
    unsigned count = 0;
    g_autoptr(GError) error = NULL;
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "out"); /* knows both */
    g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, &count, NULL);
    Entry *ours = operate_claim(operate, queue, &other, false, NULL);
    Entry *claimed = fixture_claim_one(inbox);
    g_assert_null(operate_claim(operate, queue, &name, false, &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_clear_error(&error);
    EntryName moved = name;
    g_assert_false(operate_set_due(operate, queue, &moved, 1, &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_assert_cmpuint(fixture_count(fixture, "out", ".bak"), ==, 1);
    g_assert_true(operate_put_back(operate, ours, NULL) && operate_end(operate, NULL));
    entry_free(fixture_claim_one(inbox));
    entry_free(claimed);
}

static void test_damaged(Fixture *fixture, gconstpointer data)
{
    unsigned count = 0;
    EntryName name = store(fixture, "out", "Subject: x\r\n\r\nA message long enough to be damaged\r\n");
    prepare(fixture, CORRUPT, &name);
    g_autoptr(GError) error = NULL;
    g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, &count, NULL);
    g_assert_null(operate_claim(operate, spool_queue(fixture->spool, "out", NULL), &name, false, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 1);
}

static int fail_at(const FsEvent *event, void *data)
{
    return event && (*(int *)data)-- == 0 ? EIO : 0;
}

/* A command that goes on to its end after a failure, as a repair does, leaves nothing that nobody settles. */
static void test_ends_after_failure(Fixture *fixture, gconstpointer data)
{
    static const Verb verbs[] = {UNLINK, CORRUPT};
    for (unsigned i = 0, count = 0; i < G_N_ELEMENTS(verbs); i++)
        for (int at = 0, left = -1; left < 0; at++) {
            RecoverReport report = {0};
            EntryName name = store(fixture, "out", "Subject: x\r\n\r\nA message long enough to be damaged\r\n");
            prepare(fixture, verbs[i], &name);
            Operate *operate = operate_open(fixture->spool, false, done, &count, NULL);
            Queue *queue = spool_queue(fixture->spool, "out", NULL);
            left = at;
            fs_set_hook(fail_at, &left);
            bool done_so = verbs[i] == UNLINK ? operate_delete(operate, queue, &name, NULL)
                                              : operate_set_corrupt(operate, queue, &name, NULL);
            fs_set_hook(NULL, NULL);
            bool ended = operate_end(operate, NULL) && done_so;
            operate_free(operate);
            g_assert_true(recover_slice(queue, (Slice){0, 1}, false, &report, NULL));
            judge(fixture, verbs[i], ended && fixture_count(fixture, "out", ".psv") == 0);
            fixture_tear_down(fixture, NULL);
            fixture_set_up(fixture, NULL);
        }
}

/* One command at a time; and while it is at work no recovery touches what is its, nor takes for a stray what may
 * not be one. */
static void test_lock(Fixture *fixture, gconstpointer data)
{
    unsigned count = 0;
    EntryName name = store(fixture, "in", "m");
    Queue *queue = spool_queue(fixture->spool, "in", NULL);
    g_autofree char *stray = g_strdup_printf("%s/in/1700000000.000001+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33.in-"
                                             "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33.tmp", fixture->path);
    g_assert_true(g_file_set_contents(stray, "x", 1, NULL));
    g_autoptr(GError) error = NULL;
    RecoverReport report = {0};
    g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, &count, NULL);
    g_assert_null(operate_open(fixture->spool, false, done, &count, &error));
    g_assert_error(error, FAIL, FAIL_RACE);
    g_assert_true(recover_slice(queue, (Slice){0, 1}, true, &report, NULL)); /* it has not claimed anything yet */
    g_assert_cmpuint(report.strays, ==, 0);
    Entry *entry = operate_claim(operate, queue, &name, false, NULL);
    g_assert_true(recover_slice(queue, (Slice){0, 1}, true, &report, NULL));
    g_assert_cmpuint(fixture_count(fixture, "in", ".opc"), ==, 1);
    g_assert_cmpuint(report.strays, ==, 0);
    entry_free(entry);
    g_clear_pointer(&operate, operate_free); /* it was killed */
    g_assert_true(recover_slice(queue, (Slice){0, 1}, true, &report, NULL));
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
    g_assert_cmpuint(report.strays, ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "shunt", ".psv"), ==, 1);
}

#define LOOKERS 4
#define LOOKS 3
#define HOLDING 20000 /* microseconds */

static bool slow_locks;

/* In place of the library's. A shared lock is kept for a while before anything else happens, and so is the
 * knowledge that it cannot be had alone: all lookers are at the same place at once. */
int fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    int result = (int)syscall(SYS_fcntl, fd, command, argument);
    short wanted = slow_locks && command == F_OFD_SETLK ? ((struct flock *)argument)->l_type : F_UNLCK;
    int saved = errno;
    if (wanted == (result == 0 ? F_RDLCK : F_WRLCK))
        g_usleep(HOLDING);
    errno = saved;
    return result;
}

/* Runners that all start at once after a command was killed: one of them settles what it left, and none waits for
 * the others' locks until the next sweep. */
static void test_lookers(Fixture *fixture, gconstpointer data)
{
    g_assert_nonnull(spool_queue(fixture->spool, "in", NULL));
    for (unsigned round = 0; round < LOOKS; round++) {
        unsigned count = 0;
        EntryName name = store(fixture, "out", "m");
        g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, &count, NULL);
        entry_free(operate_claim(operate, spool_queue(fixture->spool, "out", NULL), &name, false, NULL));
        g_clear_pointer(&operate, operate_free); /* it was killed */
        int gate[2];
        char octet;
        g_assert_cmpint(pipe(gate), ==, 0);
        pid_t pids[LOOKERS];
        for (unsigned i = 0; i < LOOKERS; i++)
            if ((pids[i] = fork()) == 0) {
                g_autoptr(Spool) spool = spool_open(fixture->path, NULL);
                Queue *queue = spool_queue(spool, "in", NULL);
                RecoverReport report = {0};
                Slice slice = {i, LOOKERS};
                close(gate[1]);
                slow_locks = true;
                _exit(read(gate[0], &octet, 1) != 0 || !recover_slice(queue, slice, false, &report, NULL));
            }
        close(gate[0]);
        close(gate[1]); /* all of them read its end */
        for (unsigned i = 0; i < LOOKERS; i++) {
            int status = 1;
            g_assert_cmpint(waitpid(pids[i], &status, 0), ==, pids[i]);
            g_assert_cmpint(status, ==, 0);
        }
        g_assert_cmpuint(fixture_count(fixture, "out", ".opc"), ==, 0);
        g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, round + 1);
    }
}

/* Only where nothing runs: elsewhere a command that was killed would make it ready again. */
static void test_preserved(Fixture *fixture, gconstpointer data)
{
    static const char *const queues[] = {"out", "shunt"};
    for (size_t i = 0; i < G_N_ELEMENTS(queues); i++) {
        unsigned count = 0;
        EntryName name = store(fixture, queues[i], "m");
        g_autofree char *ready = fixture_files(fixture, queues[i], ".msg");
        g_autofree char *from = fixture_file_path(fixture, queues[i], ready);
        g_autofree char *to = g_strdup(from);
        memcpy(to + strlen(to) - strlen(".psv"), ".psv", strlen(".psv"));
        g_assert_cmpint(g_rename(from, to), ==, 0);
        g_autoptr(GError) error = NULL;
        g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, &count, NULL);
        Queue *queue = spool_queue(fixture->spool, queues[i], NULL);
        g_autoptr(Entry) entry = operate_claim(operate, queue, &name, true, &error);
        g_assert_true((entry != NULL) == (i == 1));
        g_assert_cmpuint(fixture_count(fixture, queues[i], i == 1 ? ".opc" : ".psv"), ==, 1);
    }
}

/* Check the lock before an entry is taken back: the entry may not be gone on the disk if we are killed, and the lock
 * says so. */
static int see_marked(const FsEvent *event, void *data)
{
    const Fixture *fixture = data;
    struct stat lock;
    g_autofree char *path = g_build_filename(fixture->path, OPERATE_LOCK_FILE, NULL);
    if (event->call == FS_UNLINK && strstr(event->name, ".out-")) {
        g_assert_cmpint(stat(path, &lock), ==, 0);
        g_assert_cmpint(lock.st_size, >, 0);
    }
    return 0;
}

/* R5 before an operator's work, too: what an undone run left goes with the entry. */
static void test_leftovers(Fixture *fixture, gconstpointer data)
{
    static const Verb verbs[] = {DELETE, UNLINK, PSV_RETRY, PSV_DELETE, CORRUPT};
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++) {
        unsigned count = 0;
        EntryName name = store(fixture, "out", "m");
        char digits[HASH_DIGITS + 1];
        name_hash_format(name.hash, digits);
        g_assert_nonnull(spool_queue(fixture->spool, "retry", NULL));
        g_autofree char *left = g_strdup_printf("%s/retry/1700000000.000001+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33"
                                                ".out-%s.tmp", fixture->path, digits);
        g_assert_true(g_file_set_contents(left, "x", 1, NULL));
        prepare(fixture, verbs[i], &name);
        fs_set_hook(see_marked, fixture);
        g_assert_true(run(fixture, verbs[i], name, &count));
        fs_set_hook(NULL, NULL);
        g_assert_cmpuint(fixture_count(fixture, "retry", ""), ==, 0);
        g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, verbs[i] == PSV_RETRY);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

/* OR5: a child of ours whose parent is nowhere goes to a person. */
static void test_stray(Fixture *fixture, gconstpointer data)
{
    unsigned count = 0;
    g_assert_nonnull(spool_queue(fixture->spool, "hold", NULL));
    g_autofree char *left = g_strdup_printf("%s/hold/1700000000.000001+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33.out+"
                                            "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33.tmp", fixture->path);
    g_assert_true(g_file_set_contents(left, "x", 1, NULL));
    g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, &count, NULL);
    g_assert_nonnull(operate);
    g_assert_cmpuint(fixture_count(fixture, "hold", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "shunt", ".psv"), ==, 1);
}

/* A process that brings entries from in to out until there are `want`. */
static void run_runner(const char *path, unsigned want)
{
    g_autoptr(Spool) spool = spool_open(path, NULL);
    g_autoptr(Inbox) inbox = inbox_open(spool, "in", (Slice){0, 1}, (Wakeup){0}, NULL);
    g_autoptr(Hop) hop = hop_new(spool);
    for (unsigned moved = 0; moved < want;) {
        g_autoptr(GPtrArray) entries = g_ptr_array_new();
        g_autoptr(GPtrArray) batch = g_ptr_array_new_with_free_func((GDestroyNotify)outcome_free);
        if (!inbox_refresh(inbox, NULL) || !inbox_claim(inbox, 3, false, entries, NULL))
            _exit(1);
        for (guint i = 0; i < entries->len; i++) {
            Outcome *outcome = outcome_new(entries->pdata[i]);
            outcome_add(outcome, draft_from_entry("out", outcome->parent));
            g_ptr_array_add(batch, outcome);
        }
        if (batch->len > 0 && !hop_commit(hop, (Outcome **)batch->pdata, batch->len, NULL))
            _exit(2);
        moved += batch->len;
        if (!hop_settle(hop, NULL))
            _exit(3);
        g_usleep(300);
    }
    _exit(0);
}

static void move_all(Fixture *fixture, const char *from, Draft *(*draft)(Entry *), unsigned *count)
{
    g_autoptr(Operate) operate = operate_open(fixture->spool, true, done, count, NULL);
    g_autofree char *all = fixture_files(fixture, from, ".msg");
    g_auto(GStrv) files = g_strsplit(all, ",", -1);
    for (char **file = files; *file && **file; file++) {
        EntryName name;
        g_assert_true(name_parse(*file, &name, NULL));
        Entry *entry = operate_claim(operate, spool_queue(fixture->spool, from, NULL), &name, false, NULL);
        if (entry)
            g_assert_true(operate_move(operate, entry, draft(entry), NULL, NULL));
    }
    g_assert_true(operate_end(operate, NULL));
}

static Draft *release(Entry *entry)
{
    return operate_draft_release(entry, NULL);
}

/* Both at once: everything arrives once. */
static void test_beside_a_runner(Fixture *fixture, gconstpointer data)
{
    const unsigned entries = 300;
    unsigned held = 0, released = 0;
    g_assert_nonnull(spool_queue(fixture->spool, "in", NULL));
    pid_t runner = fork();
    if (runner == 0)
        run_runner(fixture->path, entries);
    for (unsigned i = 0; i < entries; i++) {
        g_autofree char *text = g_strdup_printf("message %u", i);
        g_free(fixture_store(fixture, "in", text));
        if (i % 10 == 9) {
            move_all(fixture, "in", operate_draft_hold, &held);
            move_all(fixture, "hold", release, &released);
        }
    }
    int status = 1;
    g_assert_cmpint(waitpid(runner, &status, 0), ==, runner);
    g_assert_cmpint(status, ==, 0);
    g_test_message("%u were held", held);
    g_assert_cmpuint(held, >, 0);
    g_assert_cmpuint(held, ==, released);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, entries);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "hold", ""), ==, 0);
}

#define ADD(path, test) \
    g_test_add("/operate/" path, Fixture, NULL, fixture_set_up, test, fixture_tear_down)

SUITE("operate")
{
    g_test_init(&argc, &argv, NULL);
    ADD("every step", test_every_step);
    ADD("ends durably", test_ends_durably);
    ADD("hold and release", test_hold_and_release);
    ADD("release without origin", test_release_without_origin);
    ADD("runner was faster", test_runner_was_faster);
    ADD("damaged", test_damaged);
    ADD("ends after failure", test_ends_after_failure);
    ADD("lock", test_lock);
    ADD("lookers", test_lookers);
    ADD("preserved", test_preserved);
    ADD("leftovers", test_leftovers);
    ADD("stray", test_stray);
    ADD("beside a runner", test_beside_a_runner);
    return g_test_run();
}
