/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <sys/wait.h>

#include "lists/event.h"
#include "lists/letter.h"
#include "switchboard/draft.h"
#include "switchboard/spool.h"
#include "t/lists/fixture.h"

typedef struct Place {
    char *folder;
    Spool *spool;
} Place;

static void place_open(Place *place)
{
    GError *error = NULL;
    place->folder = g_dir_make_tmp("spool-XXXXXX", &error);
    place->spool = spool_open(place->folder, &error);
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

static void place_close(Place *place)
{
    spool_free(place->spool);
    const char *const command[] = {"rm", "-rf", place->folder, NULL};
    g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    g_free(place->folder);
}

static void write_letter(World *world, Work *work, const char *to)
{
    GError *error = NULL;
    const TemplateValue values[] = {{"address", to}, {0}};
    ListLetter letter = {.template = "welcome", .values = values, .to = to};
    assert_ok(work_letter(work, world->list, &letter, &error), error);
}

static unsigned rows(World *world)
{
    g_autoptr(GPtrArray) all = outbox_waiting(world->store, 1000, NULL);
    return all->len;
}

static void test_commit(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_open(&place);
    g_autoptr(Work) work = world_work(world);
    assert_ok(work_begin(work, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, "anne@example.org", NULL, NULL, &error), error);
    write_letter(world, work, "anne@example.org");
    write_letter(world, work, "bob@example.org");
    assert_ok(work_commit(work, place.spool, &error), error);
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
    int64_t count = 0;
    g_assert_true(member_count(world->store, LIST, ROLE_MEMBER, &count, NULL));
    g_assert_cmpint(count, ==, 0);
    g_assert_cmpuint(rows(world), ==, 0);
}

/* The spool cannot be written: the change is made, and the next caller stores its mail, once. */
static void test_next_caller_stores(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_open(&place);
    g_autofree char *in_the_way = g_build_filename(place.folder, "virgin", NULL);
    g_assert_true(g_file_set_contents(in_the_way, "", 0, NULL));
    g_autoptr(Work) work = world_work(world);
    assert_ok(work_begin(work, &error), error);
    write_letter(world, work, "anne@example.org");
    assert_ok(work_commit(work, place.spool, &error), error);
    g_assert_cmpuint(rows(world), ==, 1);
    g_remove(in_the_way);
    spool_free(place.spool);
    place.spool = spool_open(place.folder, &error);
    assert_ok(work_flush(world->store, place.spool, &error), error);
    g_assert_cmpuint(rows(world), ==, 0);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 1);
    place_close(&place);
}

/* A process stores the entry of the one row, and is killed before it has removed the row. */
static void store_and_die(World *world, Place *place)
{
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    write_letter(world, work, "anne@example.org");
    assert_ok(work_keep(work, NULL, &error), error);
    pid_t child = fork();
    if (child == 0) {
        Store *own = store_open("sqlite", world->fixture.path, false, NULL);
        Spool *spool = spool_open(place->folder, NULL);
        bool done = store_begin(own, NULL) && work_flush(own, spool, NULL); /* the outer one is never committed */
        _exit(done ? 0 : 1);
    }
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
    g_assert_cmpuint(rows(world), ==, 1);
    g_assert_cmpuint(entries_in(place, "virgin", NULL), ==, 1);
    spool_free(place->spool);
    place->spool = spool_open(place->folder, &error);
    g_assert_no_error(error);
}

static void test_killed_between(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_open(&place);
    store_and_die(world, &place);
    assert_ok(work_flush(world->store, place.spool, &error), error);
    g_assert_cmpuint(rows(world), ==, 0);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 1); /* the one that was there */
    place_close(&place);
}

/* The same, but the runner of virgin has sent the letter meanwhile. */
static void test_worked_on_meanwhile(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_open(&place);
    store_and_die(world, &place);
    g_autofree char *name = NULL;
    g_assert_cmpuint(entries_in(&place, "virgin", &name), ==, 1);
    g_autofree char *file = g_build_filename(place.folder, "virgin", name, NULL);
    g_autofree char *hash = g_strndup(strchr(name, '+') + 1, 40), *effect = g_strconcat("virgin:", hash, NULL);
    assert_ok(store_begin(world->store, &error), error);
    assert_ok(store_record_effect(world->store, effect, 0, &error), error);
    assert_ok(store_commit(world->store, &error), error);
    g_assert_cmpint(g_remove(file), ==, 0);
    assert_ok(work_flush(world->store, place.spool, &error), error);
    g_assert_cmpuint(rows(world), ==, 0);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 0);
    place_close(&place);
}

/* What a runner kept comes again, octet for octet, and nobody else stores it. */
static void test_recall(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_open(&place);
    g_autoptr(Work) first = world_work(world), second = world_work(world);
    write_letter(world, first, "anne@example.org");
    g_autofree char *wanted = NULL, *got = NULL;
    assert_ok(work_keep(first, "command:1", &error), error);
    assert_ok(work_flush(world->store, place.spool, &error), error);
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
    WORLD_TEST("/unit-of-work/next caller stores", test_next_caller_stores);
    WORLD_TEST("/unit-of-work/killed between", test_killed_between);
    WORLD_TEST("/unit-of-work/worked on meanwhile", test_worked_on_meanwhile);
    WORLD_TEST("/unit-of-work/recall", test_recall);
    WORLD_TEST("/unit-of-work/event not UTF-8", test_event_not_utf8);
    return g_test_run();
}
