/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "lists/event.h"
#include "lists/letters/letter.h"
#include "lists/unit.h"
#include "store/driver/libpq.h"
#include "store/store_internal.h"
#include "switchboard/draft.h"
#include "switchboard/spool.h"
#include "t/lists/fixture.h"
#include "t/lists/places.h"
#include "t/suite.h"

static int refusals; /* of commits, from the next on */

static int accepted; /* commits before these */

static int refuse_commit(void *data)
{
    return accepted-- <= 0 && refusals-- > 0;
}

static void write_letter(World *world, Work *work, const char *to)
{
    GError *error = NULL;
    const TemplateValue values[] = {{"address", to}, {0}};
    ListLetter letter = {.template = "welcome", .values = values, .to = to};
    assert_ok(work_letter(work, world->list, &letter, &error), error);
}

/* Units in the database. */
static unsigned rows(World *world)
{
    g_autoptr(GPtrArray) all = outbox_units(world->store, NULL, NULL);
    return all->len;
}

static void settle(World *world, const Place *place)
{
    GError *error = NULL;
    assert_ok(unit_settle(world->store, place->spool, true, &error), error);
}

static int64_t members(World *world)
{
    int64_t count = 0;
    g_assert_true(member_count(world->store, LIST, ROLE_MEMBER, &count, NULL));
    return count;
}

/* A change with a letter to a person, and one to another. */
static bool change(World *world, const Place *place, const char *person, GError **error)
{
    g_autoptr(Work) work = world_work(world);
    g_assert_true(work_begin(work, NULL));
    g_assert_true(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(person), NULL, NULL, NULL));
    write_letter(world, work, person);
    write_letter(world, work, "olga@example.net");
    return work_commit(work, place->spool, error);
}

static void test_commit(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    assert_ok(change(world, &place, "anne@example.org", &error), error);
    g_assert_cmpint(members(world), ==, 1);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 2);
    g_assert_cmpuint(rows(world), ==, 1);
    settle(world, &place);
    g_assert_cmpuint(rows(world), ==, 0);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 2);
    place_close(&place);
}

static void test_cancel(World *world, const void *data)
{
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    assert_ok(work_begin(work, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error), error);
    write_letter(world, work, "anne@example.org");
    work_cancel(work);
    g_assert_cmpint(members(world), ==, 0);
    g_assert_cmpuint(rows(world), ==, 0);
}

/* The spool cannot be written: the change is made, its letters wait in the database, are counted there, and come when
 * the spool can be written. What asks for no letter is not held up. */
static void test_queue_refuses(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    g_autofree char *in_the_way = g_build_filename(place.folder, "virgin", NULL);
    int64_t waiting, oldest;
    g_assert_true(g_file_set_contents(in_the_way, "", 0, NULL));
    assert_ok(change(world, &place, "anne@example.org", &error), error);
    g_assert_cmpint(members(world), ==, 1);
    for (int again = 0; again < 2; again++) {
        g_assert_false(unit_settle(world->store, place.spool, true, &error));
        assert_failed(FAIL_LATER, error);
        assert_ok(outbox_count(world->store, NULL, &waiting, &oldest, &error), error);
        g_assert_cmpint(waiting, ==, 1);
    }
    g_autoptr(Work) work = world_work(world);
    assert_ok(work_begin(work, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of("bob@example.org"), NULL, NULL, &error), error);
    assert_ok(work_commit(work, place.spool, &error), error);
    g_assert_cmpint(members(world), ==, 2);
    g_remove(in_the_way);
    settle(world, &place);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 2);
    g_assert_cmpuint(rows(world), ==, 0);
    place_close(&place);
}

/* An entry that no queue could ever take refuses the whole change. */
static void test_never(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    g_autoptr(Work) work = world_work(world);
    assert_ok(work_begin(work, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error), error);
    write_letter(world, work, "anne@example.org");
    char *recipients[] = {g_strdup("anne\n@example.org"), NULL};
    work_entry(work, "virgin", json_object(), g_ptr_array_new(), g_memdup2(recipients, sizeof recipients));
    g_assert_false(work_commit(work, place.spool, &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_cmpint(members(world), ==, 0);
    g_assert_cmpuint(rows(world), ==, 0);
    place_close(&place);
}

/* Two processes make entries of the same rows: the slower one finds them gone, and leaves nothing. */
static void test_somebody_was_faster(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    g_autoptr(GPtrArray) drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    g_ptr_array_add(drafts, draft_new("virgin", json_object()));
    assert_ok(unit_hand_over(world->store, place.spool, drafts, "0123456789abcdef0123456789abcdef", &error), error);
    g_assert_cmpuint(files_in(&place, "virgin"), ==, 0);
    g_assert_cmpuint(rows(world), ==, 0);
    place_close(&place);
}

/* Runs in a process of its own, that dies at the n-th call by which it changes or syncs a file of the spool. */
static int calls_left;
static bool renames_only;

static int die_at_call(const FsEvent *event, void *data)
{
    if ((!renames_only || event->call == FS_RENAME) && calls_left-- == 0)
        _exit(1);
    return 0;
}

static bool mortal;          /* it is the process that is to die */
static bool database_counts; /* calls to the database count, too */
static bool dies_after;      /* it dies when it has the answer of the database's server */

static void die_in_database(bool made)
{
    if (mortal && database_counts && made == dies_after && calls_left-- == 0)
        _exit(1);
}

static Libpq real; /* what libpq.h has, where the database has a server */

/* Before the answer, the server may have done what was asked; with it, it has. */
static PGresult *get_result(PGconn *server)
{
    die_in_database(false);
    PGresult *result = real.PQgetResult(server);
    die_in_database(true);
    return result;
}

/* False: it was killed at the n-th call, or rename. */
static bool change_and_die(World *world, const Place *place, const char *person, int call)
{
    pid_t child = fork();
    if (child == 0) {
        world->store = fixture_connect(&world->fixture, NULL);
        real = libpq;
        libpq.PQgetResult = get_result;
        Place own = {place->folder, spool_open(place->folder, NULL)};
        calls_left = call;
        mortal = true;
        fs_set_hook(die_at_call, NULL);
        _exit(change(world, &own, person, NULL) ? 0 : 2);
    }
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return status == 0;
}

/* The change and both of its letters are there, or none of it, whenever the process is killed. Set the numbers of calls
 * at which the change was made, and was not. */
static void kill_at_each_call(World *world, unsigned *done, unsigned *undone)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    unsigned letters = 0;
    bool whole = false;
    *done = *undone = 0;
    for (int call = 0; !whole; call++) {
        g_autofree char *person = g_strdup_printf("p%d-%d@example.org", call, dies_after);
        int64_t before = members(world);
        whole = change_and_die(world, &place, person, call);
        assert_ok(store_begin(world->store, &error), error); /* the server has ended what the child began */
        store_rollback(world->store);
        bool made = members(world) > before;
        if (call % 2 == 0) /* the timer or the queue's runner */
            settle(world, &place);
        else
            g_assert_true(unit_settle_queue(world->store, place.spool, "virgin", NULL));
        g_assert_cmpint(members(world), ==, before + made);
        letters += made ? 2 : 0;
        *done += made;
        *undone += !made;
        g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, letters);
    }
    settle(world, &place);
    g_assert_cmpuint(rows(world), ==, 0);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, letters);
    g_assert_cmpuint(files_in(&place, "virgin"), ==, letters);
    place_close(&place);
}

static void test_killed(World *world, const void *data)
{
    unsigned done, undone;
    kill_at_each_call(world, &done, &undone);
    g_assert_cmpuint(done, >=, 10); /* at each call on the spool, and whole */
    g_assert_cmpuint(undone, ==, 0); /* the spool is written after the commit */
}

/* Both commits are among the calls, and what comes before, between and behind them. */
static void test_killed_in_database(World *world, const void *data)
{
    unsigned done, undone;
    database_counts = true;
    for (int after = 0; after < (!g_str_equal(fixture_driver(), "sqlite") ? 2 : 1); after++) {
        dies_after = after == 1;
        kill_at_each_call(world, &done, &undone);
        g_assert_cmpuint(done, >=, 12);
        g_assert_cmpuint(undone, >=, 1);
    }
    database_counts = dies_after = false;
}

/* The log of the database whose syncs are watched; 0: none is. */
static ino_t watched;
static bool unsynced; /* it was written since it was synced */
static unsigned syncs;

static bool is_log(int fd)
{
    struct stat status;
    return watched && fstat(fd, &status) == 0 && status.st_ino == watched;
}

/* In place of the library's, for SQLite too. */
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    die_in_database(false);
    unsynced = unsynced || is_log(fd);
    return syscall(SYS_pwrite64, fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset)
{
    return pwrite(fd, data, length, offset);
}

int fdatasync(int fd)
{
    die_in_database(false);
    unsynced = unsynced && !is_log(fd);
    syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    unsynced = unsynced && !is_log(fd);
    syncs++;
    return (int)syscall(SYS_fsync, fd);
}

static unsigned renames;

static int look_at_log(const FsEvent *event, void *data)
{
    if (event->call == FS_RENAME) {
        renames++;
        g_assert_false(unsynced);
    }
    return 0;
}

/* The timer's connection does not wait for the disk, but a letter with a token is seen only when its row is there. And
 * a unit costs the sync of its letters and of one directory, each once, and of the log, twice. */
static void test_durable_before_published(World *world, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    int fd = -1;
    struct stat status;
    Place place;
    place_with_id(&place);
    assert_ok(change(world, &place, "bart@example.org", &error), error); /* makes the queue */
    assert_ok(store_leave_sync(world->store, &fd, &error), error);
    g_assert_cmpint(fstat(fd, &status), ==, 0);
    watched = status.st_ino;
    syncs = renames = 0;
    fs_set_hook(look_at_log, NULL);
    assert_ok(change(world, &place, "anne@example.org", &error), error);
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(renames, ==, 2);
    g_assert_cmpuint(syncs, ==, 5);
    watched = 0;
    place_close(&place);
}

/* A letter that was published is worked on, put off or gone when the unit is settled: it does not come again. */
static void test_name_plays_no_part(World *world, const void *data)
{
    Place place;
    place_with_id(&place);
    renames_only = true; /* it dies when it has published the first of two */
    g_assert_false(change_and_die(world, &place, "anne@example.org", 1));
    renames_only = false;
    g_autofree char *folder = g_build_filename(place.folder, "virgin", NULL), *name = NULL;
    entries_in(&place, "virgin", &name);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 1);
    g_autofree char *later = g_strconcat("2", name + 1, NULL);
    g_autofree char *from = g_build_filename(folder, name, NULL), *to = g_build_filename(folder, later, NULL);
    g_assert_cmpint(g_rename(from, to), ==, 0);
    settle(world, &place);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 2);
    g_assert_cmpint(g_remove(to), ==, 0);
    settle(world, &place);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 1);
    g_assert_cmpuint(rows(world), ==, 0);
    place_close(&place);
}

/* Holds what has reached the disk for sure, as far as the calls on files tell. */
typedef struct Order {
    Store *other;              /* sees what is committed */
    GHashTable *written;       /* descriptors of files that were not synced since */
    unsigned creates, changes; /* of names in the directory, that were not synced since */
    unsigned renames, last_syncs;
} Order;

static unsigned units_of(Store *store)
{
    g_autoptr(GPtrArray) all = outbox_units(store, NULL, NULL);
    return all->len;
}

static int watch_order(const FsEvent *event, void *data)
{
    Order *order = data;
    if (event->call == FS_WRITE || event->call == FS_PWRITE)
        g_hash_table_add(order->written, GINT_TO_POINTER(event->fd));
    if (event->call == FS_SYNC_FILE)
        g_hash_table_remove(order->written, GINT_TO_POINTER(event->fd));
    order->creates += event->call == FS_CREATE;
    if (event->call == FS_SYNC_DIR) {
        order->last_syncs += order->renames > 0 && units_of(order->other) == 1;
        order->creates = order->changes = 0;
    }
    if (event->call == FS_SYNC_FILE || event->call == FS_SYNC_DIR || event->call == FS_CREATE) { /* no lock is held */
        g_assert_true(store_begin(order->other, NULL));
        store_rollback(order->other);
    }
    if (event->call == FS_RENAME) {
        g_assert_cmpuint(g_hash_table_size(order->written), ==, 0);
        g_assert_cmpuint(order->creates, ==, 0);
        g_assert_cmpuint(units_of(order->other), ==, 1);
        order->changes++;
        order->renames++;
    }
    return 0;
}

/* No file is made or synced while the database is locked. All is synced before the commit, nothing is published before
 * it, and the row goes after a sync of what was. */
static void test_order(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    g_assert_nonnull(spool_queue(place.spool, "virgin", NULL));
    Order order = {.other = fixture_connect(&world->fixture, NULL), .written = g_hash_table_new(NULL, NULL)};
    fs_set_hook(watch_order, &order);
    assert_ok(change(world, &place, "anne@example.org", &error), error);
    g_assert_cmpuint(order.renames, ==, 2);
    g_assert_cmpuint(order.changes, ==, 2);
    settle(world, &place);
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(order.changes, ==, 0);
    g_assert_cmpuint(order.last_syncs, >=, 1);
    g_assert_cmpuint(units_of(order.other), ==, 0);
    g_hash_table_unref(order.written);
    store_free(order.other);
    place_close(&place);
}

/* Says what became of the unit in the database. */
typedef enum Decision { NEVER, KEPT, COMMITTED } Decision;

/* Says what a power cut can leave of one of two entries. */
typedef enum Left { NOTHING, TORN, PREPARED, PUBLISHED } Left;

static void leave(const Place *place, unsigned number, Left left)
{
    static const char *const suffixes[] = {"", ".unit=0123456789abcdef0123456789abcdef.tmp",
                                           ".unit=0123456789abcdef0123456789abcdef.tmp", ".msg"};
    if (left == NOTHING)
        return;
    g_autofree char *file = g_strdup_printf("1700000000.00000%u+%040u%s", number, number, suffixes[left]);
    g_autofree char *path = g_build_filename(place->folder, "virgin", file, NULL);
    g_assert_true(g_file_set_contents(path, left == TORN ? "to" : "whole", -1, NULL));
}

/* The unit of two entries as it is before they are handed over. */
static void keep_two(World *world, const Place *place)
{
    GError *error = NULL;
    KeptKey key;
    g_autoptr(GPtrArray) drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    g_autoptr(GBytes) message = g_bytes_new_static("A: b\n\ntext\n", 11);
    for (int number = 0; number < 2; number++) {
        g_ptr_array_add(drafts, draft_new("virgin", json_pack("{si}", META_ORDINAL, number)));
        draft_add_message(drafts->pdata[number], message);
    }
    const char *tag = "ffffffffffffffffffffffffffffffff";
    assert_ok(kept_key_read(place->spool, &key, &error), error);
    assert_ok(kept_add_drafts(world->store, &key, tag, drafts, &error), error);
    assert_ok(outbox_unit_add(world->store, key.spool, tag, OUTBOX_KEPT " virgin", 1, &error), error);
}

static void judge_cut(World *world, Decision decision, Left one, Left two)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    g_assert_nonnull(spool_queue(place.spool, "virgin", NULL));
    leave(&place, 1, one);
    leave(&place, 2, two);
    assert_ok(store_begin(world->store, &error), error);
    if (decision == COMMITTED)
        assert_ok(outbox_unit_add(world->store, spool_id(place.spool, NULL), "0123456789abcdef0123456789abcdef",
                                  "virgin", 1, &error),
                  error);
    if (decision == KEPT)
        keep_two(world, &place);
    assert_ok(store_commit(world->store, &error), error);
    unsigned wanted = decision == NEVER ? (one == PUBLISHED) + (two == PUBLISHED) : 2;
    for (int again = 0; again < 2; again++) {
        settle(world, &place);
        g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, wanted);
        g_assert_cmpuint(files_in(&place, "virgin"), ==, wanted);
    }
    settle(world, &place); /* also the row of one that was given up has gone */
    g_assert_cmpuint(rows(world), ==, 0);
    place_close(&place);
}

/* Before the entries are handed over, anything of the files may be there, and nothing comes of it; where rows keep the
 * entries, all come anew. After it all are whole, and all come, once. When the row is gone, all were renamed for
 * good. */
static void test_power_cuts(World *world, const void *data)
{
    for (Left one = NOTHING; one <= PREPARED; one++)
        for (Left two = NOTHING; two <= PREPARED; two++) {
            judge_cut(world, NEVER, one, two);
            judge_cut(world, KEPT, one, two);
        }
    for (Left one = PREPARED; one <= PUBLISHED; one++)
        for (Left two = PREPARED; two <= PUBLISHED; two++)
            judge_cut(world, COMMITTED, one, two);
    judge_cut(world, NEVER, PUBLISHED, PUBLISHED);
}

static int pause_pipes[2][2]; /* to the parent, to the child */

static int pause_at_rename(const FsEvent *event, void *data)
{
    char byte = 0;
    if (event->call == FS_RENAME && calls_left-- == 0 &&
        (write(pause_pipes[0][1], &byte, 1) != 1 || read(pause_pipes[1][0], &byte, 1) != 1))
        _exit(1);
    return 0;
}

/* A writer that has committed and published a part is left alone, with its row, by whoever settles meanwhile. Then it
 * goes on, or dies. */
static void settle_beside(World *world, bool dies)
{
    Place place;
    place_with_id(&place);
    g_assert_cmpint(pipe(pause_pipes[0]), ==, 0);
    g_assert_cmpint(pipe(pause_pipes[1]), ==, 0);
    char byte = 0;
    pid_t child = fork();
    if (child == 0) {
        close(pause_pipes[1][1]);
        world->store = fixture_connect(&world->fixture, NULL);
        Place own = {place.folder, spool_open(place.folder, NULL)};
        calls_left = 1;
        fs_set_hook(pause_at_rename, NULL);
        _exit(change(world, &own, dies ? "anne@example.org" : "bob@example.org", NULL) ? 0 : 2);
    }
    g_assert_cmpint(read(pause_pipes[0][0], &byte, 1), ==, 1);
    settle(world, &place);
    g_assert_cmpuint(rows(world), ==, 1);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 1);
    g_assert_cmpuint(files_in(&place, "virgin"), ==, 2);
    if (!dies)
        g_assert_cmpint(write(pause_pipes[1][1], &byte, 1), ==, 1);
    close(pause_pipes[1][1]); /* reading fails, and it ends */
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status == 0, ==, !dies);
    settle(world, &place);
    g_assert_cmpuint(rows(world), ==, 0);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 2);
    place_close(&place);
}

static void test_beside_a_writer(World *world, const void *data)
{
    settle_beside(world, false);
    settle_beside(world, true);
}

/* A row stays while its queue cannot be looked through, and holds no other unit up. */
static void test_queue_gone(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    assert_ok(change(world, &place, "anne@example.org", &error), error);
    assert_ok(store_begin(world->store, &error), error);
    const char *id = spool_id(place.spool, NULL), *tag = "0123456789abcdef0123456789abcdef";
    assert_ok(outbox_unit_add(world->store, id, tag, "pipeline", 1, &error), error);
    assert_ok(store_commit(world->store, &error), error);
    g_autofree char *in_the_way = g_build_filename(place.folder, "pipeline", NULL);
    g_assert_true(g_file_set_contents(in_the_way, "", 0, NULL));
    g_assert_false(unit_settle(world->store, place.spool, false, &error));
    g_clear_error(&error);
    g_autoptr(GPtrArray) units = outbox_units(world->store, NULL, NULL);
    g_assert_cmpuint(units->len, ==, 1);
    g_assert_cmpstr(((OutboxUnit *)units->pdata[0])->queues, ==, "pipeline");
    place_close(&place);
}

/* The writer of a unit that was given up cannot commit it. */
static void test_given_up(World *world, const void *data)
{
    GError *error = NULL;
    const char *tag = "0123456789abcdef0123456789abcdef", *other = "ffffffffffffffffffffffffffffffff";
    bool committed = true;
    assert_ok(outbox_unit_decide(world->store, "", tag, 1, &committed, &error) && !committed, error);
    assert_ok(store_begin(world->store, &error), error);
    assert_ok(outbox_unit_add(world->store, "", other, "virgin", 1, &error), error);
    g_assert_false(outbox_unit_add(world->store, "", tag, "virgin", 1, &error));
    assert_failed(FAIL_RACE, error);
    assert_ok(store_commit(world->store, &error), error);
    assert_ok(outbox_unit_decide(world->store, "", tag, 1, &committed, &error), error);
    g_assert_false(committed);
    for (int again = 0; again < 2; again++) {
        assert_ok(outbox_unit_decide(world->store, "", other, 1, &committed, &error), error);
        g_assert_true(committed);
    }
}

/* The commit fails: nothing was done, and nothing is left of the letters. */
static void test_commit_fails(World *world, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    sqlite3 *database = store_connection(world->store) ? *(sqlite3 **)store_connection(world->store) : NULL;
    sqlite3_commit_hook(database, refuse_commit, world);
    refusals = 1;
    g_assert_false(change(world, &place, "anne@example.org", &error));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpint(members(world), ==, 0);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 0);
    g_assert_cmpuint(files_in(&place, "virgin"), ==, 0);
    refusals = 2; /* nor can anybody be asked */
    g_assert_false(change(world, &place, "anne@example.org", &error));
    g_assert_nonnull(strstr(error->message, "nobody knows"));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpuint(files_in(&place, "virgin"), ==, 0);
    settle(world, &place);
    g_assert_cmpint(members(world), ==, 0);
    assert_ok(change(world, &place, "anne@example.org", &error), error);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 2);
    for (int unknown = 0; unknown < 2; unknown++) { /* that of the entries fails, and the question about it, too */
        accepted = 1;
        refusals = 1 + unknown;
        assert_ok(change(world, &place, unknown ? "cora@example.org" : "bart@example.org", &error), error);
        g_assert_cmpint(members(world), ==, 2 + unknown);
        g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 2 + 2 * unknown);
        g_assert_cmpuint(files_in(&place, "virgin"), ==, 2 + 4 * unknown);
        settle(world, &place);
        g_assert_cmpuint(files_in(&place, "virgin"), ==, 4 + 2 * unknown);
        g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 4 + 2 * unknown);
    }
    place_close(&place);
}

/* Without letters a failed commit is told as well. */
static void test_commit_without_letters_fails(World *world, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    assert_ok(work_begin(work, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error), error);
    sqlite3_commit_hook(*(sqlite3 **)store_connection(world->store), refuse_commit, world);
    refusals = 1;
    g_assert_false(work_commit(work, NULL, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpint(members(world), ==, 0);
}

/* Text that is not UTF-8 cannot be told as JSON; the unit of work goes on. */
static void test_event_not_utf8(World *world, const void *data)
{
    world->site.tells = true;
    g_autoptr(Work) work = world_work(world);
    event_tell(work, EVENT_MEMBER_JOINED, LIST, json_pack("{ss}", "email", "\xff@example.org"));
    g_autofree char *told = world_letters(world, work);
    g_assert_null(strstr(told, EVENT_MEMBER_JOINED));
}

SUITE("work")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/unit-of-work/commit", test_commit);
    WORLD_TEST("/unit-of-work/cancel", test_cancel);
    WORLD_TEST("/unit-of-work/queue refuses", test_queue_refuses);
    WORLD_TEST("/unit-of-work/never", test_never);
    WORLD_TEST("/unit-of-work/somebody was faster", test_somebody_was_faster);
    WORLD_TEST("/unit-of-work/killed", test_killed);
    WORLD_TEST("/unit-of-work/killed in the database", test_killed_in_database);
    WORLD_TEST("/unit-of-work/durable before published", test_durable_before_published);
    WORLD_TEST("/unit-of-work/name plays no part", test_name_plays_no_part);
    WORLD_TEST("/unit-of-work/order", test_order);
    WORLD_TEST("/unit-of-work/power cuts", test_power_cuts);
    WORLD_TEST("/unit-of-work/beside a writer", test_beside_a_writer);
    WORLD_TEST("/unit-of-work/queue gone", test_queue_gone);
    WORLD_TEST("/unit-of-work/given up", test_given_up);
    WORLD_TEST("/unit-of-work/commit fails", test_commit_fails);
    WORLD_TEST("/unit-of-work/commit without letters fails", test_commit_without_letters_fails);
    WORLD_TEST("/unit-of-work/event not UTF-8", test_event_not_utf8);
    return g_test_run();
}
