/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "lists/event.h"
#include "lists/letter.h"
#include "lists/outbox_old.h"
#include "lists/unit.h"
#include "store/store_internal.h"
#include "switchboard/draft.h"
#include "switchboard/spool.h"
#include "t/lists/fixture.h"
#include "t/lists/places.h"

/* With the id of the spool, so that tests need not count the calls that make it. */
static void place_with_id(Place *place)
{
    GError *error = NULL;
    place_open(place);
    spool_id(place->spool, &error);
    g_assert_no_error(error);
}

/* How many entries a queue has; *last (may be NULL) is the name of one. */
static unsigned entries_in(const Place *place, const char *queue, char **last)
{
    unsigned count = 0;
    g_autofree char *path = g_build_filename(place->folder, queue, NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    for (const char *name; directory && (name = g_dir_read_name(directory));)
        if (g_str_has_suffix(name, ".msg")) {
            count++;
            if (last)
                *last = g_strdup(name);
        }
    return count;
}

/* All files of a queue. */
static unsigned files_in(const Place *place, const char *queue)
{
    unsigned count = 0;
    g_autofree char *path = g_build_filename(place->folder, queue, NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    while (directory && g_dir_read_name(directory))
        count++;
    return count;
}

static int refusals; /* of commits, from the next on */

static int refuse_commit(void *data)
{
    return refusals-- > 0;
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
    g_assert_true(member_add(world->store, LIST, ROLE_MEMBER, person, NULL, NULL, NULL));
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
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, "anne@example.org", NULL, NULL, &error), error);
    write_letter(world, work, "anne@example.org");
    work_cancel(work);
    g_assert_cmpint(members(world), ==, 0);
    g_assert_cmpuint(rows(world), ==, 0);
}

/* The spool cannot be written: nothing was done, and what asks for no letter is not held up. */
static void test_queue_refuses(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    g_autofree char *in_the_way = g_build_filename(place.folder, "virgin", NULL);
    g_assert_true(g_file_set_contents(in_the_way, "", 0, NULL));
    g_assert_false(change(world, &place, "anne@example.org", &error));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpint(members(world), ==, 0);
    g_assert_cmpuint(rows(world), ==, 0);
    g_autoptr(Work) work = world_work(world);
    assert_ok(work_begin(work, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, "bob@example.org", NULL, NULL, &error), error);
    assert_ok(work_commit(work, place.spool, &error), error);
    g_assert_cmpint(members(world), ==, 1);
    g_remove(in_the_way);
    assert_ok(change(world, &place, "anne@example.org", &error), error);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 2);
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

/* False: it was killed at the n-th call, or rename. */
static bool change_and_die(World *world, const Place *place, const char *person, int call)
{
    pid_t child = fork();
    if (child == 0) {
        world->store = fixture_connect(&world->fixture, NULL);
        Place own = {place->folder, spool_open(place->folder, NULL)};
        calls_left = call;
        fs_set_hook(die_at_call, NULL);
        _exit(change(world, &own, person, NULL) ? 0 : 2);
    }
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return status == 0;
}

/* Killed at each call on the spool: the change and both of its letters are there, or none of it. */
static void test_killed(World *world, const void *data)
{
    Place place;
    place_with_id(&place);
    unsigned letters = 0, done = 0, undone = 0;
    bool whole = false;
    for (int call = 0; !whole; call++) {
        g_autofree char *person = g_strdup_printf("p%d@example.org", call);
        int64_t before = members(world);
        whole = change_and_die(world, &place, person, call);
        bool made = members(world) > before;
        if (call % 2 == 0) /* the timer or the queue's runner */
            settle(world, &place);
        else
            g_assert_true(unit_settle_queue(world->store, place.spool, "virgin", NULL));
        g_assert_cmpint(members(world), ==, before + made);
        letters += made ? 2 : 0;
        done += made;
        undone += !made;
        g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, letters);
    }
    settle(world, &place);
    g_assert_cmpuint(rows(world), ==, 0);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, letters);
    g_assert_cmpuint(done, >=, 3); /* at the two renames, and whole */
    g_assert_cmpuint(undone, >=, 7);
    place_close(&place);
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
    unsynced = unsynced || is_log(fd);
    return syscall(SYS_pwrite64, fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset)
{
    return pwrite(fd, data, length, offset);
}

int fdatasync(int fd)
{
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
 * a unit costs the sync of its letters, of one directory and of the log, each once. */
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
    g_assert_cmpuint(syncs, ==, 4);
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
    if (event->call == FS_RENAME) {
        g_assert_cmpuint(g_hash_table_size(order->written), ==, 0);
        g_assert_cmpuint(order->creates, ==, 0);
        g_assert_cmpuint(units_of(order->other), ==, 1);
        order->changes++;
        order->renames++;
    }
    return 0;
}

/* All is synced before the commit, nothing is published before it, and the row goes after a sync of what was. */
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

static void judge_cut(World *world, bool committed, Left one, Left two)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    g_assert_nonnull(spool_queue(place.spool, "virgin", NULL));
    leave(&place, 1, one);
    leave(&place, 2, two);
    if (committed) {
        assert_ok(store_begin(world->store, &error), error);
        assert_ok(outbox_unit_add(world->store, "", "0123456789abcdef0123456789abcdef", "virgin", 1, &error), error);
        assert_ok(store_commit(world->store, &error), error);
    }
    unsigned published = (one == PUBLISHED) + (two == PUBLISHED);
    for (int again = 0; again < 2; again++) {
        settle(world, &place);
        g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, committed ? 2 : published);
        g_assert_cmpuint(files_in(&place, "virgin"), ==, committed ? 2 : published);
    }
    settle(world, &place); /* also the row of one that was given up has gone */
    g_assert_cmpuint(rows(world), ==, 0);
    place_close(&place);
}

/* Before the commit anything of the files may be there, and nothing comes of it. After it all are whole, and all come,
 * once. When the row is gone, all were renamed for good. */
static void test_power_cuts(World *world, const void *data)
{
    for (Left one = NOTHING; one <= PREPARED; one++)
        for (Left two = NOTHING; two <= PREPARED; two++)
            judge_cut(world, false, one, two);
    for (Left one = PREPARED; one <= PUBLISHED; one++)
        for (Left two = PREPARED; two <= PUBLISHED; two++)
            judge_cut(world, true, one, two);
    judge_cut(world, false, PUBLISHED, PUBLISHED);
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
    assert_ok(outbox_unit_add(world->store, "", "0123456789abcdef0123456789abcdef", "pipeline", 1, &error), error);
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
    g_assert_cmpuint(files_in(&place, "virgin"), ==, 2);
    settle(world, &place);
    g_assert_cmpint(members(world), ==, 0);
    g_assert_cmpuint(files_in(&place, "virgin"), ==, 0);
    assert_ok(change(world, &place, "anne@example.org", &error), error);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 2);
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
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, "anne@example.org", NULL, NULL, &error), error);
    sqlite3_commit_hook(*(sqlite3 **)store_connection(world->store), refuse_commit, world);
    refusals = 1;
    g_assert_false(work_commit(work, NULL, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpint(members(world), ==, 0);
}

/* A row as a program before schema 26 left it. */
static void old_row(World *world, int number, const char *queue, const char *meta)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    assert_ok(query_run(world->store, &error, NULL,
                        "INSERT INTO outbox (number, entry, queue, meta, recipients, message, made_at) "
                        "VALUES ($1, NULL, $2, $3, 'anne@example.org', $4, 1700000000000000)",
                        INTEGER(number), TEXT(queue), TEXT(meta), BLOB("A: b\n\ntext\n", 11)),
              error);
}

static void take_over(World *world, const Place *place, unsigned left)
{
    g_assert_true(outbox_old_sort(world->store, place->spool, NULL, NULL));
    g_assert_true(outbox_old_store(world->store, place->spool, "virgin", NULL));
    g_assert_true(outbox_old_store(world->store, place->spool, NULL, NULL) == (left == 0));
    g_autoptr(GPtrArray) rows_left = outbox_waiting(world->store, NULL, NULL);
    g_assert_cmpuint(rows_left->len, ==, left);
}

/* Rows of an older program become entries, once, whether it had stored their entries or not. */
static void test_old_rows(World *world, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    old_row(world, 1, "virgin", "{}");
    take_over(world, &place, 0);
    g_autofree char *first = NULL, *second = NULL;
    g_assert_cmpuint(entries_in(&place, "virgin", &first), ==, 1);
    old_row(world, 1, "virgin", "{}"); /* it was stored, and is put off by now */
    g_autofree char *folder = g_build_filename(place.folder, "virgin", NULL);
    g_autofree char *later = g_strconcat("2", first + 1, NULL), *from = g_build_filename(folder, first, NULL);
    g_autofree char *to = g_build_filename(folder, later, NULL);
    g_assert_cmpint(g_rename(from, to), ==, 0);
    old_row(world, 2, "virgin", "{}"); /* intake died while it wrote this one */
    take_over(world, &place, 0);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 2);
    g_assert_cmpint(g_remove(to), ==, 0);
    g_assert_cmpuint(entries_in(&place, "virgin", &second), ==, 1);
    g_autofree char *stem = g_strndup(second, NAME_LENGTH), *part = g_strconcat(stem, ".tmp", NULL);
    g_autofree char *there = g_build_filename(folder, second, NULL);
    g_autofree char *temporary = g_build_filename(folder, part, NULL);
    g_assert_cmpint(g_rename(there, temporary), ==, 0);
    old_row(world, 2, "virgin", "{}");
    take_over(world, &place, 0);
    g_assert_cmpuint(files_in(&place, "virgin"), ==, 1);
    g_assert_cmpint(g_remove(there), ==, 0); /* a runner worked on it, and noted that */
    g_autofree char *hash = g_strndup(strchr(second, '+') + 1, 40), *effect = g_strconcat("virgin:", hash, NULL);
    assert_ok(store_begin(world->store, &error), error);
    assert_ok(store_record_effect(world->store, effect, 0, &error), error);
    assert_ok(store_commit(world->store, &error), error);
    old_row(world, 2, "virgin", "{}");
    old_row(world, 3, "hooks", "no metadata"); /* holds nothing up */
    old_row(world, 4, "hooks", "{}");
    take_over(world, &place, 1);
    g_assert_cmpuint(files_in(&place, "virgin"), ==, 0);
    g_assert_cmpuint(entries_in(&place, "hooks", NULL), ==, 1);
    place_close(&place);
}

/* Check that a letter that a runner kept comes again, byte for byte, and that nobody else stores it. */
static void test_recall(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    g_autoptr(Work) first = world_work(world), second = world_work(world);
    write_letter(world, first, "anne@example.org");
    g_autofree char *wanted = NULL, *got = NULL;
    assert_ok(work_keep(first, "command:1", &error), error);
    settle(world, &place);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 0);
    wanted = world_letters(world, first);
    assert_ok(work_recall(second, "command:1", &error), error);
    got = world_letters(world, second);
    g_assert_cmpstr(got, ==, wanted);
    assert_ok(outbox_remove_of(world->store, "command:1", &error), error);
    g_autoptr(Work) third = world_work(world);
    assert_ok(work_recall(third, "command:1", &error), error);
    g_assert_cmpuint(work_entries(third), ==, 0);
    place_close(&place);
}

static bool has_text(Store *store, const char *entry, const char *text)
{
    g_autoptr(GPtrArray) rows_of = outbox_of(store, entry, NULL);
    bool found = false;
    for (guint at = 0; at < rows_of->len; at++) {
        const OutboxRow *row = rows_of->pdata[at];
        gsize length;
        const char *octets = g_bytes_get_data(row->message, &length);
        found = found || memmem(octets, length, text, strlen(text)) || strstr(row->meta, text) ||
                strstr(row->recipients, text);
    }
    return found;
}

/* Check that a letter kept for an entry cannot be read without the key of the spool, nor moved to another entry. */
static void test_sealed(World *world, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    write_letter(world, work, "anne@example.org");
    write_letter(world, work, "bob@example.org");
    assert_ok(work_keep(work, "command:1", &error), error);
    g_assert_false(has_text(world->store, "command:1", "anne@"));
    g_assert_false(has_text(world->store, "command:1", "Subject"));
    KeptKey other = {.octets = "another key"};
    g_autoptr(GPtrArray) wrong = kept_of(world->store, &other, "command:1", &error);
    g_assert_null(wrong);
    assert_failed(FAIL_NEVER, error);
    g_autoptr(GPtrArray) right = kept_of(world->store, world->site.kept_key, "command:1", &error);
    g_assert_cmpuint(right->len, ==, 2);
    g_assert_cmpstr(((OutboxRow *)right->pdata[1])->recipients, ==, "bob@example.org");
    assert_ok(query_run(world->store, &error, NULL, "UPDATE outbox SET entry = $1", TEXT("command:2")), error);
    g_assert_null(kept_of(world->store, world->site.kept_key, "command:2", &error));
    assert_failed(FAIL_NEVER, error);
    old_row(world, 99, "virgin", "{}"); /* of an older program */
    assert_ok(
        query_run(world->store, &error, NULL, "UPDATE outbox SET entry = $1 WHERE number = 99", TEXT("command:3")),
        error);
    g_autoptr(GPtrArray) old = kept_of(world->store, world->site.kept_key, "command:3", &error);
    g_assert_cmpuint(old->len, ==, 1);
    g_assert_cmpstr(((OutboxRow *)old->pdata[0])->queue, ==, "virgin");
}

/* The key is made once, for its owner alone, and a file that is none is not used. */
static void test_key(World *world, const void *data)
{
    (void)world;
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    KeptKey one, two;
    struct stat status;
    g_autofree char *path = g_build_filename(place.folder, KEPT_KEY_FILE, NULL);
    assert_ok(kept_key_read(place.spool, &one, &error), error);
    assert_ok(kept_key_read(place.spool, &two, &error), error);
    g_assert_cmpmem(&one, sizeof one, &two, sizeof two);
    g_assert_cmpint(stat(path, &status), ==, 0);
    g_assert_cmpuint(status.st_mode & 07777, ==, 0600);
    g_assert_true(g_file_set_contents(path, "short", -1, NULL));
    g_assert_false(kept_key_read(place.spool, &two, &error));
    assert_failed(FAIL_CONFIG, error);
    g_assert_cmpint(g_remove(path), ==, 0);
    assert_ok(kept_key_read(place.spool, &two, &error), error);
    g_assert_cmpint(memcmp(&one, &two, sizeof one), !=, 0);
    place_close(&place);
}

/* Rows go with their entry, whenever they were made, and stay while it is in any queue in any state. */
static void test_rows_go_with_their_entry(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    static const char *const files[] = {"command/%s.msg",
                                        "command/%s.bak",
                                        "command/%s.psv",
                                        "command/%s.tmp",
                                        "hold/%s.msg",
                                        "shunt/%s.psv",
                                        "command/%s.unit=0123456789abcdef0123456789abcdef.tmp"};
    static const char *const queues[] = {"command", "hold", "shunt"};
    for (size_t at = 0; at < G_N_ELEMENTS(queues); at++)
        g_assert_nonnull(spool_queue(place.spool, queues[at], NULL));
    for (unsigned at = 0; at <= G_N_ELEMENTS(files); at++) {
        g_autofree char *name = g_strdup_printf("1700000000.00000%u+%040u", at, at);
        g_autofree char *entry = g_strdup_printf("command:%040u", at);
        g_autoptr(Work) work = world_work(world);
        write_letter(world, work, "anne@example.org");
        assert_ok(work_keep(work, entry, &error), error);
        if (at == G_N_ELEMENTS(files))
            break; /* this one is gone */
        g_auto(GStrv) parts = g_strsplit(files[at], "%s", 2);
        g_autofree char *file = g_strconcat(parts[0], name, parts[1], NULL);
        g_autofree char *path = g_build_filename(place.folder, file, NULL);
        g_assert_true(g_file_set_contents(path, "", 0, NULL));
    }
    old_row(world, 99, "virgin", "{}");
    assert_ok(kept_forget_gone(world->store, place.spool, 1, &error), error);
    g_auto(GStrv) young = outbox_entries(world->store, NULL, INT64_MAX, &error);
    g_assert_cmpuint(g_strv_length(young), ==, G_N_ELEMENTS(files) + 1);
    assert_ok(kept_forget_gone(world->store, place.spool, INT64_MAX, &error), error);
    g_auto(GStrv) left = outbox_entries(world->store, NULL, INT64_MAX, &error);
    g_assert_cmpuint(g_strv_length(left), ==, G_N_ELEMENTS(files));
    g_assert_false(g_strv_contains((const char *const *)left, "command:0000000000000000000000000000000000000007"));
    g_autoptr(GPtrArray) old = outbox_waiting(world->store, NULL, &error);
    g_assert_cmpuint(old->len, ==, fixture_is_sqlite() ? 1 : 0);
    g_autofree char *gone = g_build_filename(place.folder, "hold", NULL);
    const char *const command[] = {"rm", "-rf", gone, NULL};
    g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    g_assert_false(kept_forget_gone(world->store, place.spool, INT64_MAX, &error)); /* it may be there */
    g_clear_error(&error);
    place_close(&place);
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/unit-of-work/commit", test_commit);
    WORLD_TEST("/unit-of-work/cancel", test_cancel);
    WORLD_TEST("/unit-of-work/queue refuses", test_queue_refuses);
    WORLD_TEST("/unit-of-work/killed", test_killed);
    WORLD_TEST("/unit-of-work/durable before published", test_durable_before_published);
    WORLD_TEST("/unit-of-work/name plays no part", test_name_plays_no_part);
    WORLD_TEST("/unit-of-work/order", test_order);
    WORLD_TEST("/unit-of-work/power cuts", test_power_cuts);
    WORLD_TEST("/unit-of-work/beside a writer", test_beside_a_writer);
    WORLD_TEST("/unit-of-work/queue gone", test_queue_gone);
    WORLD_TEST("/unit-of-work/given up", test_given_up);
    WORLD_TEST("/unit-of-work/commit fails", test_commit_fails);
    WORLD_TEST("/unit-of-work/commit without letters fails", test_commit_without_letters_fails);
    WORLD_TEST("/unit-of-work/old rows", test_old_rows);
    WORLD_TEST("/unit-of-work/recall", test_recall);
    WORLD_TEST("/unit-of-work/sealed", test_sealed);
    WORLD_TEST("/unit-of-work/key", test_key);
    WORLD_TEST("/unit-of-work/rows go with their entry", test_rows_go_with_their_entry);
    WORLD_TEST("/unit-of-work/event not UTF-8", test_event_not_utf8);
    return g_test_run();
}
