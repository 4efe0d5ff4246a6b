/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that the people whom a source gives are compared with those it gave before, whoever joined, left, moved or came
 * by another source. */
#include "store/people/source.h"

#include <string.h>

#include "t/store/fixture.h"
#include "t/store/sound.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define OTHER "other.example.com"
#define ANNE "anne@example.org"
#define BOB "bob@example.org"
#define CLEO "cleo@example.org"
#define DORA "dora@example.org"
#define NOW INT64_C(1700000000000000)

static MemberSource *add_to(Fixture *fixture, const char *list_id, const char *name)
{
    GError *error = NULL;
    MemberSource *source = g_new0(MemberSource, 1);
    *source = (MemberSource){.list_id = g_strdup(list_id), .name = g_strdup(name), .place = g_strdup("/x")};
    assert_ok(source_add(fixture->store, source, &error), error);
    return source;
}

static MemberSource *add(Fixture *fixture, const char *name)
{
    return add_to(fixture, LIST, name);
}

static bool is_member(Fixture *fixture, const char *address)
{
    GError *error = NULL;
    Member *member;
    assert_ok(member_look_up(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), &member, &error), error);
    bool is = member != NULL;
    member_free(member);
    return is;
}

static SourceStage *read_whole(Fixture *fixture, const MemberSource *source, const char *const *addresses)
{
    GError *error = NULL;
    SourceCounts counts;
    SourceStage *stage = source_stage_open(fixture->store, source, &error);
    g_assert_no_error(error);
    for (; *addresses; addresses++)
        assert_ok(source_stage_add(stage, *addresses, NULL, &error), error);
    assert_ok(source_stage_close(stage, &counts, &error), error);
    return stage;
}

/* Follows what a source gives, as lists/sources/source.h does; kept_out: how many it passes over. */
static void follow(Fixture *fixture, const MemberSource *source, const char *const *addresses, unsigned kept_out)
{
    GError *error = NULL;
    Store *store = fixture->store;
    g_autoptr(SourceStage) stage = read_whole(fixture, source, addresses);
    assert_ok(source_notice_left(store, source->list_id, NOW, &error), error);
    assert_ok(store_begin(store, &error), error);
    g_autoptr(GPtrArray) fresh = source_stage_fresh(stage, &error), gone = source_stage_gone(stage, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) take = g_ptr_array_new();
    for (guint at = 0; at < fresh->len; at++) {
        SourceFresh *one = fresh->pdata[at];
        if (one->left)
            kept_out--;
        else
            g_ptr_array_add(take, one);
    }
    assert_ok(source_take(store, source, take, NOW, &error), error);
    assert_ok(source_stage_drop(stage, gone, &error), error);
    assert_ok(store_commit(store, &error), error);
    g_assert_cmpuint(kept_out, ==, 0);
    assert_sound(fixture);
}

#define GIVES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NOBODY ((const char *const[]){NULL})

static void test_two_sources(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(MemberSource) one = add(fixture, "one"), two = add(fixture, "two");
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
    follow(fixture, one, GIVES("ANNE@example.org", BOB, "bob@EXAMPLE.org"), 0);
    follow(fixture, two, GIVES(BOB, CLEO), 0);
    int64_t alone;
    assert_ok(source_count_alone(fixture->store, one, &alone, &error), error);
    g_assert_cmpint(alone, ==, 0);
    follow(fixture, one, NOBODY, 0);
    g_assert_true(is_member(fixture, ANNE) && is_member(fixture, BOB));
    assert_ok(source_count_alone(fixture->store, two, &alone, &error), error);
    g_assert_cmpint(alone, ==, 2);
    follow(fixture, two, GIVES(CLEO), 0);
    g_assert_true(is_member(fixture, ANNE) && !is_member(fixture, BOB) && is_member(fixture, CLEO));
}

static void test_who_left(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t left_at;
    char *way;
    g_autoptr(MemberSource) one = add(fixture, "one"), two = add(fixture, "two");
    follow(fixture, one, GIVES(ANNE, BOB), 0);
    assert_ok(member_remove(fixture->store, LIST, ROLE_MEMBER, mailbox_of(BOB), &error), error);
    follow(fixture, two, GIVES(BOB), 1);
    assert_ok(source_left_find(fixture->store, LIST, mailbox_of("BOB@example.org"), &way, &left_at, &error), error);
    g_assert_cmpstr(way, ==, "");
    g_assert_cmpint(left_at, ==, NOW);
    g_free(way);
    follow(fixture, one, GIVES(ANNE), 0);
    follow(fixture, one, GIVES(ANNE, BOB), 1);
    g_assert_false(is_member(fixture, BOB));
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(BOB), NULL, NULL, &error), error);
    follow(fixture, one, GIVES(ANNE, BOB), 0);
    assert_ok(source_left_find(fixture->store, LIST, mailbox_of(BOB), &way, &left_at, &error), error);
    g_assert_null(way);
    follow(fixture, one, GIVES(ANNE), 0);
    g_assert_true(is_member(fixture, BOB));
}

/* A member who takes another address is the same one: not doubled, and gone with the source. */
static void test_moved(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(MemberSource) one = add(fixture, "one"), two = add(fixture, "two");
    follow(fixture, one, GIVES(ANNE, BOB), 0);
    g_autoptr(Member) bob = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of(BOB), &error);
    assert_ok(member_set_address(fixture->store, bob->id, mailbox_of(CLEO), &error), error);
    follow(fixture, one, GIVES(ANNE, BOB), 0);
    follow(fixture, two, GIVES(BOB), 0);
    g_assert_true(is_member(fixture, CLEO) && !is_member(fixture, BOB));
    follow(fixture, one, GIVES(ANNE), 0);
    g_assert_true(is_member(fixture, CLEO));
    follow(fixture, two, NOBODY, 0);
    g_assert_false(is_member(fixture, CLEO));
}

/* The source has the other address from then on, too, and the member still goes with it; not so who had joined. */
static void test_moved_in_the_source(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t alone;
    g_autoptr(MemberSource) one = add(fixture, "one"), two = add(fixture, "two");
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
    follow(fixture, one, GIVES(ANNE, BOB), 0);
    g_autoptr(Member) anne = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &error),
                      bob = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of(BOB), &error);
    assert_ok(member_set_address(fixture->store, anne->id, mailbox_of(DORA), &error), error);
    assert_ok(member_set_address(fixture->store, bob->id, mailbox_of(CLEO), &error), error);
    follow(fixture, one, GIVES(ANNE, BOB, DORA, CLEO), 0);
    assert_ok(source_count_alone(fixture->store, one, &alone, &error), error);
    g_assert_cmpint(alone, ==, 1);
    follow(fixture, one, GIVES(DORA, CLEO), 0);
    follow(fixture, two, GIVES(DORA, CLEO), 0);
    follow(fixture, one, NOBODY, 0);
    g_assert_true(is_member(fixture, DORA) && is_member(fixture, CLEO));
    follow(fixture, two, NOBODY, 0);
    g_assert_true(is_member(fixture, DORA) && !is_member(fixture, CLEO));
}

static void test_turn(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(MemberSource) early = add(fixture, "one"), other = add(fixture, "two");
    g_autoptr(MemberSource) late = source_find(fixture->store, LIST, "one", &error);
    assert_ok(source_begin(fixture->store, early, NOW, &error), error);
    assert_ok(source_begin(fixture->store, late, NOW, &error), error);
    assert_ok(source_begin(fixture->store, other, NOW, &error), error);
    g_assert_false(source_check_turn(fixture->store, early, &error));
    assert_failed(FAIL_RACE, error);
    g_free(early->fault);
    early->fault = g_strdup("from before");
    g_assert_false(source_end(fixture->store, early, &error));
    assert_failed(FAIL_RACE, error);
    assert_ok(source_check_turn(fixture->store, late, &error), error);
    g_assert_cmpstr(late->fault, ==, "");
    assert_ok(source_end(fixture->store, late, &error), error);
    int64_t faults;
    assert_ok(source_count_faults(fixture->store, &faults, &error), error);
    g_assert_cmpint(faults, ==, 0);
    assert_ok(source_remove(fixture->store, late, &error), error);
    g_assert_false(source_begin(fixture->store, late, NOW, &error));
    assert_failed(FAIL_MISSING, error);
}

/* A refresh reads what is set now, and one that is under way when it is set ends without a word about it. */
static void test_set_meanwhile(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(MemberSource) known = add(fixture, "one"), other = add(fixture, "two");
    g_autoptr(MemberSource) set = source_find(fixture->store, LIST, "one", &error);
    g_free(set->place);
    set->place = g_strdup("/y");
    assert_ok(source_change(fixture->store, set, &error), error);
    assert_ok(source_begin(fixture->store, known, NOW, &error), error);
    g_assert_cmpstr(known->place, ==, "/y");
    g_assert_cmpint(known->tried_at, ==, NOW);
    assert_ok(source_begin(fixture->store, other, NOW, &error), error);
    assert_ok(source_change(fixture->store, set, &error), error);
    g_assert_false(source_check_turn(fixture->store, known, &error));
    assert_failed(FAIL_RACE, error);
    known->due_at = INT64_MAX;
    g_assert_false(source_end(fixture->store, known, &error));
    assert_failed(FAIL_RACE, error);
    g_autoptr(MemberSource) after = source_find(fixture->store, LIST, "one", &error);
    g_assert_cmpint(after->due_at, <, INT64_MAX);
    assert_ok(source_check_turn(fixture->store, other, &error), error);
    /* Both wait for their time; the one that was tried while the clock was ahead does not. */
    assert_ok(source_set_due(fixture->store, known, NOW + 1000, &error), error);
    assert_ok(source_set_due(fixture->store, other, NOW + 1000, &error), error);
    g_autoptr(GPtrArray) none = source_due(fixture->store, NOW, &error);
    g_assert_cmpuint(none->len, ==, 0);
    assert_ok(source_begin(fixture->store, other, NOW + 61 * INT64_C(1000000), &error), error);
    g_autoptr(GPtrArray) one = source_due(fixture->store, NOW, &error);
    g_assert_cmpuint(one->len, ==, 1);
    g_assert_cmpstr(((const MemberSource *)one->pdata[0])->name, ==, "two");
}

#define MANY 2345

static Member *member_of(Fixture *fixture, const char *address)
{
    GError *error = NULL;
    Member *member = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), &error);
    g_assert_no_error(error);
    return member;
}

/* Thousands come at once as each would alone: addresses that were known keep their spelling, person and name, and
 * everything that is counted is counted. */
static void test_many(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t count;
    g_autoptr(MemberSource) one = add(fixture, "one");
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    assert_ok(list_set(fixture->store, LIST, "digest_is_default", "yes", &error), error);
    assert_ok(member_add(fixture->store, LIST, ROLE_OWNER, mailbox_of("P0042@Example.org"), "Known", NULL, &error),
              error);
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
    for (unsigned at = 0; at < MANY; at++) {
        g_autofree char *address = g_strdup_printf("p%04u@example.%s", at, at % 3 == 0 ? "com" : "org");
        g_ptr_array_add(all, g_utf8_strdown(address, -1));
    }
    g_ptr_array_add(all, g_strdup("p0042@example.org"));
    g_ptr_array_add(all, g_strdup(ANNE));
    g_ptr_array_add(all, NULL);
    follow(fixture, one, (const char *const *)all->pdata, 0);
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, MANY + 2);
    g_autoptr(Member) single = member_of(fixture, ANNE), set = member_of(fixture, "p0043@example.org"),
                      known = member_of(fixture, "p0042@example.org");
    g_assert_cmpmem(&single->own, sizeof single->own, &set->own, sizeof set->own);
    g_assert_cmpint(set->own.delivery_mode, ==, MODE_MIME_DIGESTS);
    g_assert_cmpint(set->joined_at, >=, single->joined_at);
    g_assert_cmpstr(known->address, ==, "P0042@Example.org");
    g_assert_cmpstr(known->display_name, ==, "Known");
    g_assert_true(!known->as_user && !set->as_user);
    follow(fixture, one, GIVES(ANNE), 0);
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 1);
}

/* "p0000@example.org" and so on, each so many. g_ptr_array_unref() */
static GPtrArray *people(unsigned each)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    for (unsigned at = 0; at < MANY; at += each)
        g_ptr_array_add(all, g_strdup_printf("p%04u@example.org", at));
    g_ptr_array_add(all, NULL);
    return all;
}

static void assert_members(Fixture *fixture, const char *list_id, int64_t wanted)
{
    GError *error = NULL;
    int64_t count;
    assert_ok(member_count(fixture->store, list_id, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, wanted);
}

/* Thousands go at once as each would alone: who had joined, whom another source gives and the members of another list
 * stay. Members who took another address go by it, also where the source gives both. */
static void test_many_go(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    list_free(list_create(fixture->store, "other@example.com", &error));
    g_autoptr(MemberSource) one = add(fixture, "one"), two = add(fixture, "two"), other = add_to(fixture, OTHER, "one");
    g_autoptr(GPtrArray) all = people(1), some = people(5);
    const int64_t kept = (int64_t)some->len - 1;
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("p0001@example.org"), NULL, NULL, &error),
              error);
    assert_ok(member_add(fixture->store, LIST, ROLE_OWNER, mailbox_of("p0002@example.org"), NULL, NULL, &error), error);
    follow(fixture, one, (const char *const *)all->pdata, 0);
    follow(fixture, two, (const char *const *)some->pdata, 0);
    follow(fixture, other, (const char *const *)all->pdata, 0);
    g_autoptr(Member) moved = member_of(fixture, "p0003@example.org"), both = member_of(fixture, "p0004@example.org");
    assert_ok(member_set_address(fixture->store, moved->id, mailbox_of(ANNE), &error), error);
    assert_ok(member_set_address(fixture->store, both->id, mailbox_of(BOB), &error), error);
    g_ptr_array_insert(all, 0, g_strdup(BOB));
    follow(fixture, one, (const char *const *)all->pdata, 0);
    assert_members(fixture, LIST, MANY);
    follow(fixture, one, NOBODY, 0);
    assert_members(fixture, LIST, kept + 1);
    g_assert_true(is_member(fixture, "p0001@example.org") && is_member(fixture, "p0005@example.org"));
    g_assert_false(is_member(fixture, ANNE) || is_member(fixture, BOB) || is_member(fixture, "p0002@example.org"));
    assert_members(fixture, OTHER, MANY);
    follow(fixture, two, NOBODY, 0);
    assert_members(fixture, LIST, 1);
    assert_members(fixture, OTHER, MANY);
    g_autoptr(Member) owner = member_find(fixture->store, LIST, ROLE_OWNER, mailbox_of("p0002@example.org"), &error);
    g_assert_no_error(error);
}

static void run_script(Fixture *fixture, const char *sql)
{
    GError *error = NULL;
    assert_ok(store_driver(fixture->store)->script(store_connection(fixture->store), sql, &error), error);
}

/* The database refuses one of thousands: none goes, and the next refresh has them all go. */
static void test_one_cannot_go(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(MemberSource) one = add(fixture, "one"), two = add(fixture, "two");
    g_autoptr(GPtrArray) all = people(1), some = people(5);
    follow(fixture, one, (const char *const *)all->pdata, 0);
    follow(fixture, two, (const char *const *)some->pdata, 0);
    run_script(fixture, g_str_equal(fixture_driver(), "sqlite")
                            ? "CREATE TRIGGER refuse BEFORE DELETE ON member WHEN old.email = 'p1234@example.org' "
                              "BEGIN SELECT RAISE(ABORT, 'refused'); END"
                            : "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION "
                              "''refused''; END'; CREATE TRIGGER refuse BEFORE DELETE ON member FOR EACH ROW "
                              "WHEN (old.email = 'p1234@example.org') EXECUTE FUNCTION refuse()");
    {
        g_autoptr(SourceStage) stage = read_whole(fixture, one, NOBODY);
        assert_ok(store_begin(fixture->store, &error), error);
        g_autoptr(GPtrArray) gone = source_stage_gone(stage, &error);
        g_assert_cmpuint(gone->len, ==, MANY);
        g_assert_false(source_stage_drop(stage, gone, &error));
        g_assert_nonnull(strstr(error->message, "refused"));
        g_clear_error(&error);
        store_rollback(fixture->store);
    }
    assert_members(fixture, LIST, MANY);
    assert_sound(fixture);
    run_script(fixture,
               g_str_equal(fixture_driver(), "sqlite") ? "DROP TRIGGER refuse" : "DROP TRIGGER refuse ON member");
    follow(fixture, one, NOBODY, 0);
    assert_members(fixture, LIST, (int64_t)some->len - 1);
}

/* A stage that was left in the middle is no obstacle, and nothing of it reaches the list. */
static void test_left_in_the_middle(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(MemberSource) one = add(fixture, "one"), two = add(fixture, "two");
    SourceStage *stage = source_stage_open(fixture->store, one, &error);
    assert_ok(source_stage_add(stage, ANNE, NULL, &error), error);
    g_assert_false(source_stage_add(stage, "no address", NULL, &error));
    assert_failed(FAIL_NEVER, error);
    source_stage_free(stage);
    follow(fixture, two, GIVES(BOB), 0);
    g_assert_true(is_member(fixture, BOB) && !is_member(fixture, ANNE));
}

SUITE("source")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/source/two give the same", test_two_sources);
    TEST_WITH_LIST("/source/who left stays out", test_who_left);
    TEST_WITH_LIST("/source/a member takes another address", test_moved);
    TEST_WITH_LIST("/source/a member takes another address in the source, too", test_moved_in_the_source);
    TEST_WITH_LIST("/source/the later refresh goes on", test_turn);
    TEST_WITH_LIST("/source/it is set while it is read", test_set_meanwhile);
    TEST_WITH_LIST("/source/thousands come at once", test_many);
    TEST_WITH_LIST("/source/thousands go at once", test_many_go);
    TEST_WITH_LIST("/source/one of thousands cannot go", test_one_cannot_go);
    TEST_WITH_LIST("/source/a stage is left in the middle", test_left_in_the_middle);
    return g_test_run();
}
