/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/switchboard/crashworld.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "switchboard/intake.h"
#include "switchboard/operate.h"
#include "switchboard/recover.h"
#include "switchboard/stray.h"
#include "t/switchboard/crashplan_internal.h"

#define ROUNDS_MAX 12

int64_t crash_clock_stands, crash_clock;

/* In place of the library's. */
int clock_gettime(clockid_t id, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, id, now);
    if (id != CLOCK_REALTIME)
        return result;
    if (crash_clock_stands)
        *now = (struct timespec){.tv_sec = crash_clock_stands};
    now->tv_sec += crash_clock;
    return result;
}

void crashworld_restart(CrashWorld *world)
{
    g_autoptr(GError) error = NULL;
    spool_free(world->spool);
    world->spool = spool_open(world->path, &error);
    g_assert_no_error(error);
}

void crashworld_init(CrashWorld *world)
{
    const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir();
    *world = (CrashWorld){.path = g_build_filename(memory, CRASH_SPOOL_PREFIX "XXXXXX", NULL),
                           .drain = crashworld_drain, .judge = crashworld_judge};
    g_assert_nonnull(g_mkdtemp(world->path));
    crashworld_restart(world);
    for (int i = 0; crash_queues[i]; i++)
        g_assert_nonnull(spool_queue(world->spool, crash_queues[i], NULL));
}

typedef void Visit(CrashWorld *world, void *data, unsigned queue, const char *name);

static void each_file(CrashWorld *world, Visit *visit, void *data)
{
    for (unsigned i = 0; crash_queues[i]; i++) {
        int fd = dup(queue_fd(spool_queue(world->spool, crash_queues[i], NULL)));
        DIR *dir = fdopendir(fd);
        g_assert_nonnull(dir);
        rewinddir(dir);
        const struct dirent *one;
        while ((one = readdir(dir)) != NULL)
            if (one->d_name[0] != '.')
                visit(world, data, i, one->d_name);
        closedir(dir);
    }
}

static void wipe_file(CrashWorld *world, void *data, unsigned queue, const char *name)
{
    (void)data;
    unlinkat(queue_fd(spool_queue(world->spool, crash_queues[queue], NULL)), name, 0);
}

/* A directory that was made, with all that is in it; what is in it was wiped before. */
static void wipe_made(CrashWorld *world, unsigned place)
{
    const char *path = crash_place_path(place);
    g_autofree char *record = g_build_filename(SPOOL_RECORDS, path, NULL);
    unlinkat(spool_fd(world->spool), record, 0); /* written after the directory was synced */
    int fd = path ? openat(spool_fd(world->spool), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        return;
    for (const struct dirent *one; (one = readdir(dir)) != NULL;)
        unlinkat(fd, one->d_name, 0);
    closedir(dir);
    g_assert_cmpint(unlinkat(spool_fd(world->spool), path, AT_REMOVEDIR), ==, 0);
}

void crashworld_wipe(CrashWorld *world)
{
    each_file(world, wipe_file, NULL);
    unlinkat(spool_fd(world->spool), OPERATE_LOCK_FILE, 0);
    for (unsigned place = CRASH_PLACES; place-- > CRASH_MADE;)
        wipe_made(world, place);
    memset(world->delivered, 0, sizeof world->delivered);
    memset(world->put_off, 0, sizeof world->put_off);
    world->preserved = 0;
}

void crashworld_clear(CrashWorld *world)
{
    crashworld_wipe(world);
    for (int i = 0; crash_queues[i]; i++) {
        g_autofree char *record = g_build_filename(SPOOL_RECORDS, crash_queues[i], NULL);
        unlinkat(spool_fd(world->spool), record, 0);
        unlinkat(spool_fd(world->spool), crash_queues[i], AT_REMOVEDIR);
    }
    unlinkat(spool_fd(world->spool), SPOOL_RECORDS, AT_REMOVEDIR);
    rmdir(world->path);
    spool_free(world->spool);
    g_clear_pointer(&world->damaged, g_bytes_unref);
    g_free(world->path);
}

static void note(CrashWorld *world, CrashNotes notes)
{
    if (world->log)
        crashlog_note(world->log, notes);
}

void crashworld_store(CrashWorld *world, const int *messages, size_t count)
{
    g_autofree Intake *group = g_new0(Intake, count);
    CrashNotes notes = {0};
    for (size_t i = 0; i < count; i++) {
        group[i].draft = crashplan_draft(messages[i]);
        notes.acknowledged |= UINT64_C(1) << messages[i];
    }
    g_assert_true(intake_store(world->spool, group, count, false));
    note(world, notes);
    for (size_t i = 0; i < count; i++)
        draft_free(group[i].draft);
}

void crashworld_damage(CrashWorld *world)
{
    const CrashOp *last = NULL;
    for (guint i = 0; i < world->log->ops->len; i++)
        if (g_array_index(world->log->ops, CrashOp, i).call == FS_RENAME)
            last = &g_array_index(world->log->ops, CrashOp, i);
    auto_fd fd = fs_open(queue_fd(spool_queue(world->spool, "in", NULL)), last->to, true, NULL);
    g_assert_cmpint(fd, >=, 0);
    struct stat status;
    g_assert_cmpint(fstat(fd, &status), ==, 0);
    g_assert_true(fs_pwrite(fd, "#", 1, status.st_size - 200, NULL) && fs_sync_file(fd, NULL));
    g_autofree char *damaged = g_malloc((gsize)status.st_size);
    g_assert_cmpint(pread(fd, damaged, (size_t)status.st_size, 0), ==, status.st_size);
    g_clear_pointer(&world->damaged, g_bytes_unref);
    world->damaged = g_bytes_new(damaged, (gsize)status.st_size);
}

bool crashworld_try_store(CrashWorld *world, int message, bool once)
{
    Intake intake = {.draft = crashplan_draft(message)};
    bool stored = intake_store(world->spool, &intake, 1, once);
    draft_free(intake.draft);
    g_clear_error(&intake.error);
    return stored;
}

Inbox *crashworld_inbox(CrashWorld *world, const char *queue, Slice slice)
{
    return inbox_open(world->spool, queue, slice, (Wakeup){.polls = true, .poll_us = 1}, NULL);
}

static const char *next_address(void *data, GError **error)
{
    (void)error;
    const char **at = data;
    static char address[] = "?@example.com";
    address[0] = **at;
    return address[0] ? ((*at)++, address) : NULL;
}

static void add_kids(CrashWorld *world, Outcome *outcome)
{
    const Plan *plan = &crash_plans[crashplan_number(outcome->parent)];
    const Kid *kids = world->other_outcome ? plan->other : plan->kids;
    for (int i = 0; i < 3 && kids[i].queue; i++) {
        Draft *draft = draft_from_entry(kids[i].queue, outcome->parent);
        if (kids[i].recipients) {
            const char **at = g_new(const char *, 1);
            *at = kids[i].recipients;
            draft_set_recipients(draft, next_address, at, g_free);
        }
        outcome_add(outcome, draft);
    }
}

static void claim_bounce(CrashWorld *world)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    g_usleep(2000); /* polled */
    g_assert_true(inbox_refresh(world->bounces, NULL) && inbox_claim(world->bounces, 1, false, entries, NULL));
    g_assert_cmpuint(entries->len, ==, 1);
}

static bool bounce(CrashWorld *world, char recipient)
{
    g_autofree char *text = g_strdup_printf("Bounce: %c\r\n\r\n%0600d\r\n", recipient, 0);
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    Intake intake = {.draft = crashplan_draft_of("bounces", octets, recipient)};
    draft_set_due(intake.draft, CRASH_ARRIVAL);
    bool stored = intake_store(world->spool, &intake, 1, true);
    draft_free(intake.draft);
    g_clear_error(&intake.error);
    if (stored && world->bounces)
        claim_bounce(world);
    return stored;
}

/* Delivers to those who are to do. False when the process must end. */
static bool deliver(CrashWorld *world, Outcome *outcome)
{
    Entry *entry = outcome->parent;
    bool first_try = strcmp(queue_name(entry_queue(entry)), "out") == 0, later = false, marked = false;
    CrashNotes notes = {0};
    Recipient recipient;
    for (size_t at = 0; entry_next_recipient(entry, at, &recipient); at = recipient.next) {
        char letter = *recipient.address;
        bool refused = strchr(REFUSED, letter) != NULL, wait = first_try && strchr(LATER, letter);
        later = later || wait;
        if (recipient.state != RECIPIENT_TODO || wait)
            continue;
        if (refused && !bounce(world, letter))
            return false;
        if (!refused) {
            world->delivered[letter - 'a']++;
            note(world, (CrashNotes){.tried = UINT64_C(1) << (letter - 'a')});
        }
        if (!entry_mark(entry, &recipient.offset, 1, refused ? RECIPIENT_BOUNCED : RECIPIENT_DONE, NULL))
            return false;
        marked = true;
        if (!refused)
            notes.settled |= UINT64_C(1) << (letter - 'a');
    }
    if (marked && !entry_sync_marks(entry, NULL))
        return false;
    if (notes.settled)
        note(world, notes);
    if (later)
        outcome_add(outcome, draft_from_entry("retry", entry));
    return true;
}

static bool preserve(CrashWorld *world, Inbox *inbox, Outcome *outcome)
{
    int number = crashplan_number(outcome->parent);
    if (!inbox_preserve(inbox, g_steal_pointer(&outcome->parent), NULL))
        return false;
    world->preserved |= 1U << number;
    note(world, (CrashNotes){.preserved = UINT64_C(1) << number});
    return true;
}

/* That message among what is in hand, or NULL. */
static Entry *in_hand(const CrashWorld *world, int number)
{
    for (guint i = 0; i < world->entries->len; i++)
        if (world->entries->pdata[i] && crashplan_number(world->entries->pdata[i]) == number)
            return world->entries->pdata[i];
    return NULL;
}

/* Does anything wait that crashed its runner? It is due in the next round. */
static bool one_waits(const Inbox *inbox)
{
    int64_t oldest, now = clock_now();
    return inbox_backlog(inbox, now + CRASH_ROUND_S * CLOCK_SECOND, &oldest) > inbox_backlog(inbox, now, &oldest);
}

/* One that another takes. When that one is not in the queue, it was taken before; the ledger says so. */
static bool meet_part(CrashWorld *world, Inbox *inbox, Outcome *outcome, bool *ends)
{
    int taker = crash_plans[crashplan_number(outcome->parent)].taken_by;
    bool taken_now = in_hand(world, taker) != NULL;
    *ends = taken_now || one_waits(inbox) || !crashledger_knows(world->ledger_fd, taker);
    bool sound = entry_end_work(outcome->parent, NULL);
    if (*ends && !taken_now)
        sound = sound && inbox_release(inbox, g_steal_pointer(&outcome->parent), 0, NULL);
    return sound;
}

/* Work on one claimed entry; *ends when no hop is to be made of it. */
static bool decide(CrashWorld *world, Inbox *inbox, Outcome *outcome, bool *ends)
{
    *ends = false;
    const char *queue = queue_name(inbox_queue(inbox));
    bool posts = strcmp(queue, "in") == 0;
    if (!entry_begin_work(outcome->parent, NULL))
        return false;
    if (posts && crash_plans[crashplan_number(outcome->parent)].preserve) {
        *ends = true;
        return preserve(world, inbox, outcome);
    }
    const Plan *plan = posts ? &crash_plans[crashplan_number(outcome->parent)] : NULL;
    if (posts && plan->taken_by)
        return meet_part(world, inbox, outcome, ends);
    if (posts && plan->takes) {
        Entry *part = in_hand(world, plan->takes);
        *ends = part == NULL; /* without it, it waits */
        if (*ends)
            return entry_end_work(outcome->parent, NULL) &&
                   inbox_release(inbox, g_steal_pointer(&outcome->parent), 0, NULL);
        outcome_take(outcome, entry_name(part));
    }
    if (posts && world->ledger && !crashledger_note(world->ledger_fd, crashplan_number(outcome->parent)))
        return false;
    if (posts)
        add_kids(world, outcome);
    else if (strcmp(queue, "bounces") == 0 || strcmp(queue, CRASH_NEW) == 0)
        outcome_add(outcome, draft_from_entry("archive", outcome->parent));
    else if (!deliver(world, outcome))
        return false;
    return entry_end_work(outcome->parent, NULL);
}

static void clear_outcome(gpointer outcome)
{
    outcome_free(outcome);
}

bool crashworld_work(CrashWorld *world, Inbox *inbox, Hop *hop, unsigned *worked)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    g_autoptr(GPtrArray) batch = g_ptr_array_new_with_free_func(clear_outcome);
    g_autoptr(GPtrArray) done = g_ptr_array_new_with_free_func(clear_outcome);
    bool sound = inbox_refresh(inbox, NULL) && inbox_claim(inbox, 100, false, entries, NULL);
    *worked += entries->len;
    auto_fd ledger = world->ledger && strcmp(queue_name(inbox_queue(inbox)), "in") == 0 ? crashledger_open(world) : -1;
    world->ledger_fd = ledger;
    hop_sync_along(hop, ledger);
    world->entries = entries;
    for (guint i = 0; i < entries->len; i++) {
        Outcome *outcome = outcome_new(entries->pdata[i]);
        bool ends = false;
        sound = sound && decide(world, inbox, outcome, &ends);
        if (!outcome->parent) /* put back, or preserved */
            entries->pdata[i] = NULL;
        g_ptr_array_add(ends ? done : batch, outcome);
    }
    sound = sound && hop_commit(hop, (Outcome **)batch->pdata, batch->len, NULL);
    for (guint i = 0; sound && i < batch->len; i++) {
        Outcome *outcome = batch->pdata[i];
        if (outcome->error) /* its children could not be stored */
            sound = inbox_release(inbox, g_steal_pointer(&outcome->parent), 0, NULL);
    }
    hop_sync_along(hop, -1);
    return sound;
}

void crashworld_put_on_disk(CrashWorld *world, const CrashState *state)
{
    for (guint i = 0; i < state->files->len; i++) { /* each after the directory that it is in */
        const CrashFile *file = &g_array_index(state->files, CrashFile, i);
        g_autofree char *path = g_build_filename(crash_place_path(file->place), file->name, NULL);
        if (!file->data) {
            g_assert_cmpint(mkdirat(spool_fd(world->spool), path, 0750), ==, 0);
            continue;
        }
        auto_fd fd = openat(spool_fd(world->spool), path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
        g_assert_cmpint(fd, >=, 0);
        gsize length;
        const void *octets = g_bytes_get_data(file->data, &length);
        g_assert_cmpint(write(fd, octets, length), ==, (ssize_t)length);
    }
}

static void set_fault(CrashResult *result, char *fault)
{
    if (result->fault)
        g_free(fault);
    else
        result->fault = fault;
}

/* Note what a command could take now, and whether a command that was killed is forgotten: the lock says that nothing is
 * left, so that no runner would settle it. */
static void look_as_operator(CrashWorld *world, void *data, unsigned queue, const char *name)
{
    CrashResult *result = data;
    struct stat lock = {0};
    const char *rest = strrchr(name, '.');
    if (!rest) /* the ledger */
        return;
    bool of_command = strcmp(rest, ".opc") == 0 || strcmp(rest, ".opd") == 0 || strchr(name, '+') != strrchr(name, '+');
    if (world->strays && stray_is_tag(strchr(name, '+') + 1 + HASH_DIGITS, &(bool){false}))
        result->preserved_again = true;
    if (of_command && (fstatat(spool_fd(world->spool), OPERATE_LOCK_FILE, &lock, 0) != 0 || lock.st_size == 0))
        set_fault(result, g_strdup_printf("%s/%s is left of a command, and the lock does not say so",
                                          crash_queues[queue], name));
    if (strcmp(rest, ".msg") != 0)
        return;
    g_autoptr(Entry) entry = entry_open(spool_queue(world->spool, crash_queues[queue], NULL), name, NULL);
    int number = entry ? crashplan_number(entry) : -1;
    if (number >= 0 && number < CRASH_MESSAGES)
        result->free |= UINT64_C(1) << number;
}

/* Looks at everything that is ready, as who claims it does, and puts it back: what is damaged goes to corrupt/. */
static void look_at_all(CrashWorld *world, const char *queue, Slice slice)
{
    g_autoptr(Inbox) inbox = crashworld_inbox(world, queue, slice);
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    if (inbox && inbox_claim(inbox, G_MAXUINT, false, entries, NULL))
        for (guint i = 0; i < entries->len; i++)
            inbox_release(inbox, entries->pdata[i], 0, NULL);
}

/* A whole entry that is an end, or a fault. */
static void count_entry(CrashWorld *world, CrashResult *result, unsigned queue, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Entry) entry = entry_open(spool_queue(world->spool, crash_queues[queue], NULL), name, &error);
    if (!entry) {
        set_fault(result, g_strdup_printf("%s/%s: %s", crash_queues[queue], name, error->message));
        return;
    }
    g_autoptr(GBytes) message = entry_message(entry);
    const char *text = g_bytes_get_data(message, NULL);
    const json_t *failures = json_object_get(entry_meta(entry), KEY_FAILURES);
    for (size_t i = 0; i < json_array_size(failures); i++)
        result->bounced[*meta_string(json_array_get(failures, i), "address", "") - 'a']++;
    if (failures)
        return;
    if (g_str_has_prefix(text, "Bounce: "))
        result->bounced[text[8] - 'a']++;
    else if (strcmp(crash_queues[queue], "archive") == 0)
        result->archived[crashplan_number(entry)]++;
    else
        result->kept[crashplan_number(entry)]++;
}

/* Intake that was not synced may come back in its full length, with holes: it is kept (R8, T11). A promised message
 * that ended so is missed elsewhere. */
static bool has_holes(CrashWorld *world, const char *queue, const char *name)
{
    g_autoptr(Entry) entry = entry_open(spool_queue(world->spool, queue, NULL), name, NULL);
    return !entry;
}

/* The message that was damaged, as it was then. */
static bool is_damaged(CrashWorld *world, const char *queue, const char *name)
{
    g_autofree char *path = g_build_filename(world->path, queue, name, NULL);
    g_autofree char *octets = NULL;
    gsize length = 0;
    return world->damaged && g_file_get_contents(path, &octets, &length, NULL) &&
           length == g_bytes_get_size(world->damaged) &&
           memcmp(octets, g_bytes_get_data(world->damaged, NULL), length) == 0;
}

static void count_file(CrashWorld *world, void *data, unsigned queue, const char *name)
{
    CrashResult *result = data;
    const char *queue_text = crash_queues[queue];
    bool ready = g_str_has_suffix(name, ".msg");
    if (strcmp(queue_text, CRASH_LEDGER) == 0)
        return;
    bool corrupt = strcmp(queue_text, "corrupt") == 0, preserved = g_str_has_suffix(name, ".psv");
    if (((corrupt && ready) || (strcmp(queue_text, "in") == 0 && preserved)) && is_damaged(world, queue_text, name)) {
        result->corrupt[5]++;
        result->in_corrupt |= corrupt ? 1 << 5 : 0;
        return;
    }
    if (world->strays && strcmp(queue_text, "shunt") == 0 && preserved && !has_holes(world, queue_text, name)) {
        result->corrupt[5]++;
        return;
    }
    if ((ready && (strcmp(queue_text, "archive") == 0 || strcmp(queue_text, "bounces") == 0)) ||
        (strcmp(queue_text, "in") == 0 && preserved)) {
        count_entry(world, result, queue, name);
        return;
    }
    if (!corrupt || !ready || !has_holes(world, queue_text, name))
        set_fault(result, g_strdup_printf("%s/%s is left", queue_text, name));
}

/* A runner: start, work, settle, end. */
static bool run_slice(CrashWorld *world, const char *queue, Slice slice, unsigned *worked)
{
    if (world->serve_out && (strcmp(queue, "out") == 0 || strcmp(queue, "retry") == 0))
        return strcmp(queue, "retry") == 0 || world->serve_out(world, slice, worked);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, queue, slice);
    g_autoptr(Hop) hop = hop_new(world->spool);
    bool sound = inbox && crashworld_work(world, inbox, hop, worked) && hop_settle(hop, NULL);
    *worked += sound && one_waits(inbox);
    return sound;
}

/* Every runner of one queue, one after the other. */
static bool run_queue(CrashWorld *world, const char *queue, unsigned slices, unsigned *worked)
{
    for (unsigned i = 0; i < slices; i++)
        if (!run_slice(world, queue, (Slice){i, slices}, worked))
            return false;
    return true;
}

/* Bring back what is in hold: an operator's command, which also settles what one before left. */
static void release(CrashWorld *world, CrashResult *result, unsigned *worked)
{
    if (!crashoperator_release(world, worked))
        set_fault(result, g_strdup("a command to release ended"));
    if (world->retries && !crashoperator_retry_all(world, worked))
        set_fault(result, g_strdup("a command to retry ended"));
}

/* The runners of queues that are an end here: they start, sooner or later. */
static void start_ends(CrashWorld *world, CrashResult *result, unsigned slices)
{
    static const char *const ends[] = {"archive", "bounces"};
    for (unsigned i = 0; i < 2 * slices; i++) {
        RecoverReport report = {0};
        Queue *queue = spool_queue(world->spool, ends[i % 2], NULL);
        if (!recover_slice(queue, (Slice){i / 2, slices}, false, &report, NULL))
            set_fault(result, g_strdup_printf("a runner of %s could not start", ends[i % 2]));
        if (report.completed > 0)
            look_at_all(world, ends[i % 2], (Slice){i / 2, slices});
    }
}

/* Do as idle runners do: look for strays, sweep. */
static void tidy(CrashWorld *world, CrashResult *result, unsigned slices)
{
    for (int i = 0; crash_queues[i]; i++)
        for (unsigned k = 0; k < slices; k++) {
            Queue *queue = spool_queue(world->spool, crash_queues[i], NULL);
            RecoverReport report = {0};
            unsigned swept;
            if (!recover_slice(queue, (Slice){k, slices}, true, &report, NULL))
                set_fault(result, g_strdup_printf("recovery of %s failed", crash_queues[i]));
            if (report.strays && !world->strays)
                set_fault(result, g_strdup_printf("%u strays of %s", report.strays, crash_queues[i]));
            recover_sweep(queue, (Slice){k, slices}, -INT64_C(3600000000), &swept, NULL);
        }
}

CrashResult *crashworld_drain(CrashWorld *world, const CrashState *state)
{
    static const char *const orders[2][3] = {{"in", "out", "retry"}, {"retry", "out", "in"}};
    CrashResult *result = g_new0(CrashResult, 1);
    unsigned slices = 1U << state->hash % 3, worked = 0;
    crashworld_wipe(world);
    if (world->makes_queue)
        crashworld_restart(world);
    crashworld_put_on_disk(world, state);
    each_file(world, look_as_operator, result);
    if (state->hash >> 9 & 1)
        start_ends(world, result, slices);
    if (state->hash >> 10 & 1)
        release(world, result, &worked);
    /* Recovery of in, in the first round, may bring what counts as no work. */
    for (unsigned round = 0; (worked > 0 || round < 2) && !result->fault; round++) {
        worked = 0;
        crash_clock = CRASH_SCRIPT_S + round * CRASH_ROUND_S;
        for (int i = 0; i < 3; i++) {
            const char *queue = orders[state->hash >> 8 & 1][i];
            if (!run_queue(world, queue, slices, &worked))
                set_fault(result, g_strdup_printf("a runner of %s ended", queue));
        }
        if (world->makes_queue && !run_queue(world, CRASH_NEW, slices, &worked))
            set_fault(result, g_strdup("a runner of " CRASH_NEW " ended"));
        release(world, result, &worked);
        if (round > ROUNDS_MAX)
            set_fault(result, g_strdup("it does not end"));
    }
    crash_clock = 0;
    start_ends(world, result, slices);
    tidy(world, result, slices);
    each_file(world, count_file, result);
    result->ledger = world->ledger;
    if (world->ledger)
        crashledger_count(world, result->recorded);
    memcpy(result->delivered, world->delivered, sizeof result->delivered);
    result->preserved_again |= world->preserved != 0;
    return result;
}

void crashresult_free(CrashResult *result)
{
    g_free(result->fault);
    g_free(result);
}
