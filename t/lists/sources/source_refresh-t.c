/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Refresh lists from sources whose addresses the test gives, instead of files and servers. */
#include "lists/people/roster.h"
#include "lists/sources/source.h"
#include "store/people/ban.h"
#include "t/lists/fixture.h"
#include "t/lists/places.h"
#include "t/suite.h"

#define OTHER "other.example.com"
#define ANNE "anne@example.org"
#define BOB "bob@example.org"
#define CAROL "carol@example.org"

/* The source of the next refresh. */
typedef struct Given {
    const char *const *addresses; /* NULL: member0@example.org and so on */
    unsigned from, count;
    int64_t bad;
    bool fails;         /* behind the last address */
    unsigned no_commit; /* which commit the store fails, from 1; 0: none */
} Given;

/* The data of the functions that a refresh calls. */
typedef struct Callback {
    Spool *spool;
    const Given *given;
    unsigned commits;
} Callback;

static bool read_given(const SourceRun *run, const MemberSource *source, SourceStage *stage, SourceResult *result,
                       GError **error)
{
    const Given *given = ((Callback *)run->data)->given;
    (void)source;
    for (unsigned at = 0; at < given->count; at++) {
        g_autofree char *address = given->addresses ? g_strdup(given->addresses[at])
                                                    : g_strdup_printf("member%u@example.org", given->from + at);
        if (!source_stage_add(stage, address, NULL, error))
            return false;
    }
    result->bad = given->bad;
    return !given->fails || fail(error, FAIL_LATER, "the source broke off");
}

static bool keep(Work *work, void *data, GError **error)
{
    Callback *callback = data;
    if (++callback->commits == callback->given->no_commit)
        return fail(error, FAIL_LATER, "the disk is full");
    return work_commit(work, callback->spool, error);
}

static MemberSource *add_source(World *world, const char *list_id, const char *name)
{
    GError *error = NULL;
    MemberSource source = {.list_id = (char *)list_id,
                           .name = (char *)name,
                           .kind = SOURCE_FILE,
                           .place = (char *)"/dev/null",
                           .interval = 3600 * CLOCK_SECOND,
                           .fault = (char *)""};
    assert_ok(source_add(world->store, &source, &error), error);
    MemberSource *added = source_find(world->store, list_id, name, &error);
    g_assert_no_error(error);
    return added;
}

/* Refresh; *error as source_refresh() sets it. Returns its fault, g_free(); "": it went well. */
static char *refresh(World *world, MemberSource *source, const Given *given, GError **error)
{
    g_auto(SourceResult) result = {0};
    Place place;
    place_open(&place);
    Callback callback = {place.spool, given, 0};
    SourceRun run = {.read = read_given,
                     .store = world->store,
                     .site = &world->site,
                     .actor = &world->actor,
                     .interval = 3600 * CLOCK_SECOND,
                     .commit = keep,
                     .data = &callback};
    source_refresh(&run, source, &result, error);
    place_close(&place);
    return g_strdup(result.fault ? result.fault->message : "");
}

static void refresh_well(World *world, MemberSource *source, const Given *given)
{
    GError *error = NULL;
    g_autofree char *fault = refresh(world, source, given, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(fault, ==, "");
}

/* Refresh, and see that the source is at fault with these words. */
static void refuse(World *world, MemberSource *source, const Given *given, const char *words)
{
    GError *error = NULL;
    g_autofree char *fault = refresh(world, source, given, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(fault, words));
    g_assert_nonnull(strstr(source->fault, words));
}

static int64_t members(World *world, const char *list_id)
{
    GError *error = NULL;
    int64_t count = 0;
    assert_ok(member_count(world->store, list_id, ROLE_MEMBER, &count, &error), error);
    return count;
}

static bool is_member(World *world, const char *list_id, const char *address)
{
    g_autoptr(Member) member = member_find(world->store, list_id, ROLE_MEMBER, mailbox_of(address), NULL);
    return member != NULL;
}

static void open_two(World *world, const void *data)
{
    GError *error = NULL;
    world_open(world, data);
    list_free(list_create(world->store, "other@example.com", &error));
    g_assert_no_error(error);
}

/* Half of the addresses are missing, and more than a handful; of the other list's source none. */
static void test_shrunk(World *world, const void *data)
{
    (void)data;
    g_autoptr(MemberSource) source = add_source(world, LIST, "staff"), other = add_source(world, OTHER, "staff");
    refresh_well(world, source, &(Given){.count = 20});
    refresh_well(world, other, &(Given){.count = 20});
    refuse(world, source, &(Given){.count = 10}, "10 are missing");
    refuse(world, source, &(Given){.count = 0}, "20 are missing");
    g_assert_cmpint(members(world, LIST), ==, 20);
    refresh_well(world, source, &(Given){.count = 11});
    g_assert_cmpint(members(world, LIST), ==, 11);
    refresh_well(world, source, &(Given){.count = 6});
    refresh_well(world, source, &(Given){.count = 1}); /* five are a handful */
    g_assert_cmpint(members(world, LIST), ==, 1);
    g_assert_cmpint(members(world, OTHER), ==, 20);
}

/* A source that breaks off, or has lines that are no addresses, removes nobody and adds nobody. */
static void test_fault(World *world, const void *data)
{
    (void)data;
    g_autoptr(MemberSource) source = add_source(world, LIST, "staff");
    refresh_well(world, source, &(Given){.count = 20});
    refuse(world, source, &(Given){.from = 1, .count = 20, .fails = true}, "broke off");
    refuse(world, source, &(Given){.from = 1, .count = 20, .bad = 1}, "1 lines are no addresses");
    g_assert_cmpint(members(world, LIST), ==, 20);
    g_assert_true(is_member(world, LIST, "member0@example.org"));
    g_assert_false(is_member(world, LIST, "member20@example.org"));
    refresh_well(world, source, &(Given){.from = 1, .count = 20});
    g_assert_false(is_member(world, LIST, "member0@example.org"));
    g_assert_true(is_member(world, LIST, "member20@example.org"));
}

/* A person who left one list stays out of that list alone, also who left before the source came, and so does one who is
 * banned there. */
static void test_kept_out(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    static const char *const both[] = {ANNE, BOB, CAROL, NULL}, *const anne[] = {ANNE, NULL};
    g_autoptr(MemberSource) source = add_source(world, LIST, "staff"), second = add_source(world, LIST, "more");
    g_autoptr(MemberSource) other = add_source(world, OTHER, "staff");
    assert_ok(ban_add(world->store, OTHER, BOB, &error), error);
    g_autoptr(Work) earlier = world_work(world);
    assert_ok(work_begin(earlier, &error), error);
    assert_ok(roster_left(earlier, LIST, CAROL, "mail", &error), error);
    assert_ok(work_commit(earlier, NULL, &error), error);
    refresh_well(world, source, &(Given){both, .count = 3});
    refresh_well(world, other, &(Given){both, .count = 3});
    g_assert_true(is_member(world, LIST, ANNE) && is_member(world, LIST, BOB));
    g_assert_false(is_member(world, LIST, CAROL));
    g_assert_true(is_member(world, OTHER, ANNE) && is_member(world, OTHER, CAROL));
    g_assert_false(is_member(world, OTHER, BOB));
    assert_ok(member_remove(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &error), error);
    refresh_well(world, source, &(Given){both, .count = 3});
    refresh_well(world, second, &(Given){anne, .count = 1});
    refresh_well(world, other, &(Given){both, .count = 3});
    g_assert_false(is_member(world, LIST, ANNE));
    g_assert_true(is_member(world, LIST, BOB));
    g_assert_true(is_member(world, OTHER, ANNE));
}

/* A person who joined before the source came stays, and so does one whom another source of the list gives. */
static void test_others_stay(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    static const char *const both[] = {ANNE, BOB, NULL}, *const bob[] = {BOB, NULL};
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
    g_autoptr(MemberSource) source = add_source(world, LIST, "staff"), second = add_source(world, LIST, "more");
    refresh_well(world, source, &(Given){both, .count = 2});
    refresh_well(world, second, &(Given){bob, .count = 1});
    refresh_well(world, source, &(Given){.count = 0});
    g_assert_true(is_member(world, LIST, ANNE) && is_member(world, LIST, BOB));
    refresh_well(world, second, &(Given){.count = 0});
    g_assert_true(is_member(world, LIST, ANNE));
    g_assert_false(is_member(world, LIST, BOB));
}

/* The store fails at each commit in turn: nobody is lost, and the next refresh ends what was begun. */
static void test_store_fails(World *world, const void *data)
{
    (void)data;
    unsigned broken = 0;
    g_autoptr(MemberSource) source = add_source(world, LIST, "staff");
    refresh_well(world, source, &(Given){.count = 20});
    for (bool failed = true; failed; broken++) {
        GError *error = NULL;
        Given next = {.from = broken + 1, .count = 20, .no_commit = broken + 1};
        g_autofree char *fault = refresh(world, source, &next, &error);
        failed = error != NULL;
        g_clear_error(&error);
        g_assert_cmpint(members(world, LIST), >=, 20);
        next.no_commit = 0;
        refresh_well(world, source, &next);
        g_assert_cmpint(members(world, LIST), ==, 20);
    }
    g_assert_cmpuint(broken, >=, 4); /* of those who left, of the page that came, of the one that went, of the end */
}

SUITE("source_refresh")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/source refresh/shrunk", World, NULL, open_two, test_shrunk, world_close);
    g_test_add("/source refresh/fault", World, NULL, open_two, test_fault, world_close);
    g_test_add("/source refresh/kept out", World, NULL, open_two, test_kept_out, world_close);
    g_test_add("/source refresh/others stay", World, NULL, open_two, test_others_stay, world_close);
    g_test_add("/source refresh/the store fails", World, NULL, open_two, test_store_fails, world_close);
    return g_test_run();
}
