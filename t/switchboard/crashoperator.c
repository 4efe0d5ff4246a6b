/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The operator's commands in the small world of crash_states-t. */
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "switchboard/operate.h"
#include "switchboard/recover.h"
#include "switchboard/stray.h"
#include "t/switchboard/crashworld.h"
#include "t/switchboard/unreadable.h"

#define PAST INT64_C(1763644700000000) /* due, and before everything else */

static void done(void *data, void *token, const GError *error)
{
    (void)token;
    unsigned *count = data;
    if (!error)
        ++*count;
}

static void note_name(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    if (strcmp(rest, ".msg") == 0 || strcmp(rest, ".psv") == 0)
        g_array_append_vals(data, name, 1);
}

static int compare(gconstpointer a, gconstpointer b)
{
    return name_compare(a, b);
}

/* Return what a command finds there, in order. */
static GArray *names_in(CrashWorld *world, const char *queue)
{
    GArray *names = g_array_new(FALSE, FALSE, sizeof(EntryName));
    g_assert_true(queue_visit(spool_queue(world->spool, queue, NULL), note_name, names, NULL));
    g_array_sort(names, compare);
    return names;
}

static Draft *draft_hold(Entry *entry)
{
    return operate_draft_hold(entry);
}

static Draft *draft_release(Entry *entry)
{
    return operate_draft_release(entry, NULL);
}

static Draft *draft_again(Entry *entry)
{
    return operate_draft_again(entry, queue_name(entry_queue(entry)));
}

/* One command on all that is in the queue; without draft it deletes. False when the process must end. */
static bool move_all(CrashWorld *world, const char *name, Draft *(*draft)(Entry *), unsigned *count)
{
    Queue *queue = spool_queue(world->spool, name, NULL);
    g_autoptr(GArray) names = names_in(world, name);
    g_autoptr(Operate) operate = operate_open(world->spool, false, done, count, NULL);
    for (guint i = 0; operate && i < names->len; i++) {
        Entry *entry = operate_claim(operate, queue, &g_array_index(names, EntryName, i), false, NULL);
        if (!entry || !operate_move(operate, entry, draft ? draft(entry) : NULL, NULL, NULL))
            return false;
    }
    return operate && operate_end(operate, NULL);
}

bool crashoperator_release(CrashWorld *world, unsigned *worked)
{
    g_autoptr(GArray) names = names_in(world, "hold");
    return names->len == 0 || move_all(world, "hold", draft_release, worked);
}

/* Entries in out, each with one recipient. */
static void fill_out(CrashWorld *world, const int *messages, size_t count)
{
    crashworld_store(world, messages, count);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", (Slice){0, 1});
    g_autoptr(Hop) hop = hop_new(world->spool);
    unsigned worked = 0;
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
    g_assert_cmpuint(worked, ==, count);
    crashlog_begin(world->log);
}

/* O1, O2: two entries, there and back. */
void crashoperator_hold(CrashWorld *world)
{
    unsigned held = 0, released = 0;
    fill_out(world, (const int[]){1, 9}, 2);
    g_assert_true(move_all(world, "out", draft_hold, &held) && crashoperator_release(world, &released));
    g_assert_cmpuint(held, ==, 3);
    g_assert_cmpuint(released, ==, 3);
}

/* O2 within one queue, under the same hash; an entry that is put back as it was; O4. */
void crashoperator_again(CrashWorld *world)
{
    unsigned moved = 0;
    fill_out(world, (const int[]){1, 7}, 2);
    g_assert_true(move_all(world, "out", draft_again, &moved));
    g_assert_cmpuint(moved, ==, 2);
    Queue *out = spool_queue(world->spool, "out", NULL);
    g_autoptr(GArray) names = names_in(world, "out");
    g_autoptr(Operate) operate = operate_open(world->spool, false, done, &moved, NULL);
    Entry *entry = operate_claim(operate, out, &g_array_index(names, EntryName, 1), false, NULL);
    g_assert_true(operate_put_back(operate, entry, NULL) && operate_end(operate, NULL));
    g_assert_true(operate_set_due(operate, out, &g_array_index(names, EntryName, 0), PAST, NULL));
    g_assert_true(operate_end(operate, NULL));
}

/* O3 by a hop with no child. */
void crashoperator_delete(CrashWorld *world)
{
    unsigned gone = 0;
    fill_out(world, (const int[]){1}, 1);
    crashlog_note(world->log, (CrashNotes){.doomed = 1 << 1});
    g_assert_true(move_all(world, "out", NULL, &gone));
    g_assert_cmpuint(gone, ==, 1);
    crashlog_note(world->log, (CrashNotes){.deleted = 1 << 1});
}

static void unlink_first(CrashWorld *world, int message)
{
    unsigned gone = 0;
    Queue *in = spool_queue(world->spool, "in", NULL);
    g_autoptr(GArray) names = names_in(world, "in");
    g_autoptr(Operate) operate = operate_open(world->spool, false, done, &gone, NULL);
    crashlog_note(world->log, (CrashNotes){.doomed = UINT64_C(1) << message});
    g_assert_true(operate_delete(operate, in, &g_array_index(names, EntryName, 0), NULL));
    g_assert_true(operate_sync(operate, NULL));
    crashlog_note(world->log, (CrashNotes){.deleted = UINT64_C(1) << message});
    g_assert_true(operate_end(operate, NULL));
}

/* O3, unlinked at once. */
void crashoperator_unlink(CrashWorld *world)
{
    crashworld_store(world, (const int[]){7}, 1);
    crashlog_begin(world->log);
    unlink_first(world, 7);
}

/* O6 of one of two. */
void crashoperator_preserved(CrashWorld *world)
{
    crashworld_store(world, (const int[]){4}, 1);
    crashworld_store(world, (const int[]){0}, 1);
    for (unsigned i = 0; i < 2; i++) {
        g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", (Slice){0, 1});
        g_autoptr(GPtrArray) entries = g_ptr_array_new();
        g_assert_true(inbox_claim(inbox, 1, false, entries, NULL));
        g_assert_true(inbox_preserve(inbox, entries->pdata[0], NULL));
    }
    crashlog_note(world->log, (CrashNotes){.doomed = 1 << 0});
    crashlog_begin(world->log);
    unsigned count = 0;
    Queue *in = spool_queue(world->spool, "in", NULL);
    g_autoptr(GArray) names = names_in(world, "in");
    g_autoptr(Operate) operate = operate_open(world->spool, false, done, &count, NULL);
    g_assert_cmpuint(names->len, ==, 2);
    g_assert_true(operate_delete_preserved(operate, in, &g_array_index(names, EntryName, 0), NULL));
    g_assert_true(operate_sync(operate, NULL));
    crashlog_note(world->log, (CrashNotes){.deleted = 1 << 0});
    g_assert_true(operate_end(operate, NULL));
}

static void find_held(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)name;
    if (strcmp(rest, ".bak") == 0 || strcmp(rest, ".done") == 0 || strcmp(rest, ".opd") == 0)
        *(char **)data = g_strdup(file);
}

/* A run of what is in that dies before it decides. */
static void run_undecided(CrashWorld *world)
{
    unsigned worked = 0;
    crashlog_die_at(world->log, "rename in .bak .done", 0);
    g_autoptr(Inbox) dead = crashworld_inbox(world, "in", (Slice){0, 1});
    g_autoptr(Hop) hop = hop_new(world->spool);
    g_assert_false(crashworld_work(world, dead, hop, &worked));
    world->log->die_in = -1;
}

/* The same with another outcome. */
static void run_undone(CrashWorld *world)
{
    world->other_outcome = true;
    run_undecided(world);
    world->other_outcome = false;
}

/* An entry of in that is ready, with children of an undone run: a power cut has undone the claim. */
static void leave_children(CrashWorld *world, int message)
{
    Queue *in = spool_queue(world->spool, "in", NULL);
    g_autofree char *claimed = NULL;
    crashworld_store(world, &message, 1);
    run_undone(world);
    g_assert_true(queue_visit(in, find_held, &claimed, NULL));
    g_autofree char *ready = g_strdup(claimed);
    memcpy(ready + strlen(ready) - 4, ".msg", 4);
    g_assert_true(fs_rename_new(queue_fd(in), claimed, ready, NULL));
    crashlog_begin(world->log);
}

static void work_on(CrashWorld *world, Inbox *inbox)
{
    unsigned worked = 0;
    g_autoptr(Hop) hop = hop_new(world->spool);
    g_usleep(2000); /* polled */
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
    g_assert_cmpuint(worked, ==, 1);
}

/* R5 by a command; the entry comes back under its hash, and a runner that is there all the time works on it. */
void crashoperator_leftovers(CrashWorld *world)
{
    unsigned moved = 0;
    g_autoptr(Inbox) living = crashworld_inbox(world, "in", (Slice){0, 1});
    leave_children(world, 7);
    g_assert_true(move_all(world, "in", draft_again, &moved));
    g_assert_cmpuint(moved, ==, 1);
    work_on(world, living);
}

/* R5 by a runner that is idle. */
void crashoperator_no_command(CrashWorld *world)
{
    RecoverReport report = {0};
    g_autoptr(Inbox) living = crashworld_inbox(world, "in", (Slice){0, 1});
    leave_children(world, 7);
    g_assert_true(recover_slice(spool_queue(world->spool, "in", NULL), (Slice){0, 1}, true, &report, NULL));
    work_on(world, living);
}

/* R5 by the start of a runner that dies before it has synced that. */
static void die_undoing(CrashWorld *world, int message)
{
    leave_children(world, message);
    crashlog_die_at(world->log, message == 7 ? "unlink retry child.tmp" : "unlink out child.tmp", 1);
    g_assert_null(crashworld_inbox(world, "in", (Slice){0, 1}));
    world->log->die_in = -1;
    crashlog_begin_changes(world->log);
}

/* A command takes the entry away, so that the next start finds nothing, and brings it back. */
void crashoperator_undone(CrashWorld *world)
{
    unsigned moved = 0;
    die_undoing(world, 7);
    g_assert_true(move_all(world, "in", draft_hold, &moved));
    g_autoptr(Inbox) next = crashworld_inbox(world, "in", (Slice){0, 1});
    g_assert_true(crashoperator_release(world, &moved));
    g_assert_cmpuint(moved, ==, 2);
    work_on(world, next);
}

/* It takes it away for good: what came back of its children would be of nobody. */
static void delete_undone(CrashWorld *world, int message)
{
    unsigned gone = 0;
    die_undoing(world, message);
    crashlog_note(world->log, (CrashNotes){.doomed = UINT64_C(1) << message});
    g_assert_true(move_all(world, "in", NULL, &gone));
    g_assert_cmpuint(gone, ==, 1);
    crashlog_note(world->log, (CrashNotes){.deleted = UINT64_C(1) << message});
}

void crashoperator_undone_deleted(CrashWorld *world)
{
    delete_undone(world, 7);
}

/* Its child was in a queue where there is something else to sync in other scripts. */
void crashoperator_undone_deleted_out(CrashWorld *world)
{
    delete_undone(world, 5);
}

/* The same, unlinked at once. */
void crashoperator_undone_unlinked(CrashWorld *world)
{
    die_undoing(world, 5);
    unlink_first(world, 5);
}

/* O5: that it is worked on again. One place of syncs for all scripts. */
static G_GNUC_NO_INLINE void retry_preserved(CrashWorld *world, int message)
{
    unsigned count = 0;
    g_autoptr(GArray) names = names_in(world, "in");
    g_autoptr(Operate) operate = operate_open(world->spool, false, done, &count, NULL);
    g_assert_cmpuint(names->len, ==, 1);
    g_assert_true(operate_retry_preserved(operate, spool_queue(world->spool, "in", NULL),
                                          &g_array_index(names, EntryName, 0), NULL));
    g_assert_true(operate_end(operate, NULL));
    crashlog_note(world->log, (CrashNotes){.acknowledged = UINT64_C(1) << message});
}

/* O5 of a message that killed its runners (R4), and does not any more. */
void crashoperator_retry(CrashWorld *world)
{
    unsigned worked = 0;
    g_assert_true(crashworld_try_store(world, 5, false));
    for (int i = 0; i <= RECOVER_CRASHES_LIMIT; i++) {
        if (i > 0) /* it is put back, and waits */
            inbox_free(crashworld_inbox(world, "in", (Slice){0, 1}));
        crash_clock = i * CRASH_ROUND_S;
        g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", (Slice){0, 1});
        g_autoptr(Hop) hop = hop_new(world->spool);
        crashlog_die_at(world->log, "count in .bak", 1);
        g_assert_true(crashworld_work(world, inbox, hop, &worked) == (i == RECOVER_CRASHES_LIMIT));
        world->log->die_in = -1;
    }
    crash_clock = 0;
    crashlog_die_at(world->log, NULL, 0);
    crashlog_begin(world->log);
    retry_preserved(world, 5);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", (Slice){0, 1});
    g_autoptr(Hop) hop = hop_new(world->spool);
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
}

/* An undone run; a start that dies before it has synced what it took back of it; one that cannot read the parent, and
 * sets it aside (R9); O5 when it can be read again; and the runner that is there works on it, with another outcome. */
void crashoperator_retry_unread(CrashWorld *world)
{
    g_assert_true(crashworld_try_store(world, 7, false));
    run_undone(world);
    crashlog_begin(world->log);
    crashlog_die_at(world->log, "unlink retry child.tmp", 1);
    g_assert_null(crashworld_inbox(world, "in", (Slice){0, 1}));
    world->log->die_in = -1;
    crashlog_begin_changes(world->log);
    unreadable_files = true;
    g_autoptr(Inbox) living = crashworld_inbox(world, "in", (Slice){0, 1});
    unreadable_files = false;
    retry_preserved(world, 7);
    work_on(world, living);
}

static void note_preserved(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    if (strcmp(rest, ".psv") == 0)
        g_array_append_vals(data, name, 1);
}

bool crashoperator_retry_all(CrashWorld *world, unsigned *worked)
{
    Queue *in = spool_queue(world->spool, "in", NULL);
    g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(EntryName));
    g_assert_true(queue_visit(in, note_preserved, names, NULL));
    g_autoptr(Operate) operate = names->len > 0 ? operate_open(world->spool, false, done, worked, NULL) : NULL;
    *worked += names->len;
    for (guint i = 0; operate && i < names->len; i++)
        if (!operate_retry_preserved(operate, in, &g_array_index(names, EntryName, i), NULL))
            return false;
    bool ended = names->len == 0 || (operate && operate_end(operate, NULL));
    g_clear_pointer(&operate, operate_free);
    if (ended && names->len > 0) /* its runner, which finds what was decided */
        inbox_free(crashworld_inbox(world, "in", (Slice){0, 1}));
    return ended;
}

/* An undone run of message 7, and a start that cannot read the parent: it is set aside, its children stay (R9). */
static void leave_unread(CrashWorld *world)
{
    crashworld_store(world, (const int[]){7}, 1);
    run_undone(world);
    world->retries = true;
    unreadable_files = true;
    g_autoptr(Inbox) unread = crashworld_inbox(world, "in", (Slice){0, 1});
    unreadable_files = false;
    crashlog_begin(world->log);
}

/* O5 dies before it has synced what it took back of the children; the next one finds none. */
void crashoperator_retry_undone(CrashWorld *world)
{
    unsigned count = 0;
    leave_unread(world);
    crashlog_die_at(world->log, "unlink retry child.tmp", 1);
    g_assert_false(crashoperator_retry_all(world, &count));
    world->log->die_in = -1;
    crashlog_begin_changes(world->log);
    g_autoptr(Inbox) living = crashworld_inbox(world, "in", (Slice){0, 1});
    retry_preserved(world, 7);
    work_on(world, living);
}

/* O3 with children, unlinked at once. */
void crashoperator_leftovers_unlinked(CrashWorld *world)
{
    leave_children(world, 5);
    unlink_first(world, 5);
}

/* A message one byte of which goes bad. */
static EntryName store_damaged(CrashWorld *world)
{
    crashworld_store(world, (const int[]){5}, 1);
    g_autoptr(GArray) names = names_in(world, "in");
    crashworld_damage(world);
    crashlog_begin(world->log);
    return g_array_index(names, EntryName, 0);
}

/* O7. */
static void set_first_corrupt(CrashWorld *world, int fail_in)
{
    bool stays = fail_in >= 0;
    world->log->fail_call = FS_SYNC_FILE;
    world->log->fail_in = fail_in;
    unsigned count = 0;
    Queue *in = spool_queue(world->spool, "in", NULL);
    g_autoptr(GArray) names = names_in(world, "in");
    g_autoptr(Operate) operate = operate_open(world->spool, false, done, &count, NULL);
    g_assert_true(operate_set_corrupt(operate, in, &g_array_index(names, EntryName, 0), NULL));
    if (stays)
        crashlog_note(world->log, (CrashNotes){.preserved = 1 << 5});
    g_assert_true(operate_end(operate, NULL));
}

void crashoperator_corrupt(CrashWorld *world)
{
    store_damaged(world);
    set_first_corrupt(world, -1);
}

/* Store what cannot be synced in corrupt/. */
void crashoperator_corrupt_stays(CrashWorld *world)
{
    store_damaged(world);
    set_first_corrupt(world, 1); /* the lock can */
}

/* It went bad when a run of it had been undone, and who took its children back was killed. */
void crashoperator_undone_corrupt(CrashWorld *world)
{
    die_undoing(world, 5);
    crashworld_damage(world);
    crashlog_begin_changes(world->log);
    set_first_corrupt(world, -1);
}

/* The same, and nobody has taken them back. */
void crashoperator_leftovers_corrupt(CrashWorld *world)
{
    leave_children(world, 5);
    crashworld_damage(world);
    crashlog_begin(world->log);
    set_first_corrupt(world, -1);
}

/* O1 of what cannot be read: the command gives it back. */
void crashoperator_unread(CrashWorld *world)
{
    unsigned count = 0;
    EntryName name = store_damaged(world);
    g_autoptr(Operate) operate = operate_open(world->spool, false, done, &count, NULL);
    g_assert_null(operate_claim(operate, spool_queue(world->spool, "in", NULL), &name, false, NULL));
    g_assert_true(operate_end(operate, NULL));
}

/* Message 5 is decided, its child not yet published, when somebody unlinks it. */
void crashoperator_lose_parent(CrashWorld *world, const char *name)
{
    bool of_command = strcmp(name, "in") != 0;
    unsigned worked = 0;
    g_autofree char *file = NULL;
    Queue *queue = spool_queue(world->spool, name, NULL);
    crashworld_store(world, (const int[]){5}, 1);
    crashlog_die_at(world->log, of_command ? "rename hold child.tmp .msg" : "rename archive child.tmp .msg", 0);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", (Slice){0, 1});
    g_autoptr(Hop) hop = hop_new(world->spool);
    bool ended = crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL) &&
                 move_all(world, name, draft_hold, &worked);
    g_assert_false(ended);
    g_assert_cmpint(world->log->die_in, ==, 0);
    world->log->die_in = -1;
    g_assert_true(queue_visit(queue, find_held, &file, NULL) && fs_unlink(queue_fd(queue), file, NULL));
    world->strays = true;
    crashlog_begin(world->log);
}

static void find_child(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    bool by_operator;
    (void)queue;
    (void)name;
    if (stray_is_tag(rest, &by_operator))
        *(char **)data = g_strdup(file);
}

/* R6 as a command that repairs does it. */
void crashoperator_stray(CrashWorld *world)
{
    unsigned count = 0;
    g_autofree char *file = NULL;
    crashoperator_lose_parent(world, "in");
    Queue *archive = spool_queue(world->spool, "archive", NULL);
    g_autoptr(Operate) operate = operate_open(world->spool, false, done, &count, NULL);
    g_assert_true(queue_visit(archive, find_child, &file, NULL));
    g_assert_true(operate_set_stray_aside(operate, archive, file, NULL));
    crashlog_note(world->log, (CrashNotes){.preserved = 1 << 5});
    g_assert_true(operate_end(operate, NULL));
}

/* OR4. */
void crashoperator_left_stray(CrashWorld *world)
{
    crashoperator_lose_parent(world, "archive");
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "archive", (Slice){0, 1});
    crashlog_note(world->log, (CrashNotes){.preserved = 1 << 5});
}

/* Dies; the start of a runner of out brings to its end what is left, and it works on. */
static void die_and_work(CrashWorld *world, const char *queue, const char *text, int further)
{
    unsigned count = 0, worked = 0;
    crashlog_die_at(world->log, text, further);
    g_assert_false(move_all(world, queue, strcmp(queue, "hold") == 0 ? draft_release : draft_hold, &count));
    g_assert_cmpint(world->log->die_in, ==, 0);
    world->log->die_in = -1;
    crashlog_begin_changes(world->log);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "out", (Slice){0, 1});
    g_autoptr(Hop) hop = hop_new(world->spool);
    g_assert_true(inbox && crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
}

/* OR2 and OR3. */
void crashoperator_killed_claiming(CrashWorld *world)
{
    fill_out(world, (const int[]){9}, 1);
    die_and_work(world, "out", "rename out .opc .opd", 0);
}

/* OR1, where the decision is not yet on the disk. */
void crashoperator_killed_deciding(CrashWorld *world)
{
    fill_out(world, (const int[]){9}, 1);
    die_and_work(world, "out", "rename out .opc .opd", 2);
}

/* OR1, where one child is published. */
void crashoperator_killed_publishing(CrashWorld *world)
{
    fill_out(world, (const int[]){9}, 1);
    die_and_work(world, "out", "rename hold child.tmp .msg", 1);
}

/* The same of a command that gives back to runners. */
void crashoperator_killed_releasing(CrashWorld *world)
{
    unsigned held = 0;
    fill_out(world, (const int[]){9}, 1);
    g_assert_true(move_all(world, "out", draft_hold, &held));
    crashlog_begin(world->log);
    die_and_work(world, "hold", "rename out child.tmp .msg", 1);
}
