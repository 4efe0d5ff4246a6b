/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/change.h"

#include <string.h>

#include "lists/letters/template_set.h"
#include "lists/making/list_make.h"
#include "lists/people/ban.h"
#include "lists/people/join.h"
#include "lists/people/leave.h"
#include "lists/people/options.h"
#include "lists/people/people.h"
#include "lists/people/roster.h"
#include "lists/people/standing.h"
#include "lists/posts/header_rows.h"
#include "lists/posts/held_post.h"
#include "store/lists/list_setting.h"
#include "store/posts/held.h"
#include "store/store_internal.h"
#include "t/lists/fixture.h"
#include "t/suite.h"

#define OLGA "olga@example.net"

/* A row as "page olga@example.net setting info: old > new". */
static char *newest(World *world)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) rows = list_log_page(world->store, LIST, NULL, 0, 1, &error);
    g_assert_no_error(error);
    if (rows->len == 0)
        return g_strdup("");
    const ListLogRow *row = rows->pdata[0];
    return g_strdup_printf("%s %s %s %s: %s > %s", row->door, row->by, row->kind, row->name,
                           row->before ? row->before : "-", row->after ? row->after : "-");
}

static void assert_newest(World *world, const char *expected)
{
    g_autofree char *text = newest(world);
    g_assert_cmpstr(text, ==, expected);
}

static int64_t newest_key(World *world)
{
    g_autoptr(GPtrArray) rows = list_log_page(world->store, LIST, NULL, 0, 1, NULL);
    return ((const ListLogRow *)rows->pdata[0])->key;
}

static Work *begin(World *world)
{
    GError *error = NULL;
    Work *work = world_work(world);
    assert_ok(work_begin(work, &error), error);
    return work;
}

static void commit(Work *work)
{
    GError *error = NULL;
    assert_ok(work_commit(work, NULL, &error), error);
    work_free(work);
}

static void set(World *world, const char *name, const char *value)
{
    GError *error = NULL;
    Work *work = begin(world);
    assert_ok(change_setting(work, world->list, name, value, &error), error);
    commit(work);
}

static void test_settings(World *world, const void *data)
{
    GError *error = NULL;
    world->actor = (Actor){.role = ACTOR_OWNER, .door = DOOR_PAGE, .address = OLGA};
    set(world, "description", "old");
    set(world, "description", "new");
    assert_newest(world, "page " OLGA " setting description: old > new");
    world->actor = (Actor){.role = ACTOR_OPERATOR, .door = DOOR_SHELL, .name = "root"};
    set(world, "max_days_to_hold", "7");
    assert_newest(world, "shell root setting max_days_to_hold: 0 > 7");
    set(world, "description", "new"); /* no change */
    assert_newest(world, "shell root setting max_days_to_hold: 0 > 7");
    set(world, "max_days_to_hold", NULL);
    assert_newest(world, "shell root setting max_days_to_hold: 7 > 0");
    world->actor = (Actor){.role = ACTOR_OWNER, .door = DOOR_REST, .name = "token 1a2b3c4d"};
    set(world, "moderator_password", "secret phrase");
    assert_newest(world, "rest token 1a2b3c4d setting moderator_password: - > -");
    /* A refusal, and what was undone, leave no row. */
    g_autoptr(Work) work = begin(world);
    g_assert_false(change_setting(work, world->list, "max_days_to_hold", "many", &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_false(change_setting(work, world->list, "no_such", "x", &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(change_setting(work, world->list, "accept_these_nonmembers", "a@x.example,@no.example", &error));
    g_assert_nonnull(strstr(error->message, "no list no.example"));
    assert_failed(FAIL_NEVER, error);
    assert_ok(change_setting(work, world->list, "accept_these_nonmembers", "a@x.example\n@" LIST, &error), error);
    assert_ok(change_setting(work, world->list, "description", "undone", &error), error);
    work_cancel(work);
    assert_newest(world, "rest token 1a2b3c4d setting moderator_password: - > -");
}

/* Check that values which another version took, and which this one refuses, may be sent back as they are: clients
 * of REST send all settings with the one that they change. */
static void test_values_that_stay(World *world, const void *data)
{
    static const char unseen[] = "a\342\200\213b@x.example";
    GError *error = NULL;
    g_autofree char *line = g_strnfill(LIST_TEXT_MAX, 'o'), *old = g_strconcat(line, "\n", line, NULL);
    g_autofree char *sent = g_strconcat(line, "\r\n", line, NULL), *other = g_strconcat(old, "x", NULL);
    set(world, "info", "new");
    set(world, "accept_these_nonmembers", "c@y.example,d@y.example");
    const int64_t newest = newest_key(world);
    assert_ok(query_run(world->store, &error, NULL, "UPDATE list_setting SET value = $1 WHERE name = 'info'",
                        TEXT(old)), error);
    assert_ok(query_run(world->store, &error, NULL, "UPDATE list_setting SET value = $1 || ',d@y.example' WHERE name = "
                        "'accept_these_nonmembers'", TEXT(unseen)), error);
    g_autofree char *words = g_strconcat(unseen, "\nd@y.example", NULL);
    g_autofree char *more = g_strconcat(words, "\ne@y.example", NULL);
    set(world, "info", old);
    set(world, "info", sent);
    set(world, "accept_these_nonmembers", words);
    g_assert_cmpint(newest_key(world), ==, newest); /* none of them is a change */
    g_autoptr(Work) work = begin(world);
    g_assert_false(change_setting(work, world->list, "info", other, &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_false(change_setting(work, world->list, "accept_these_nonmembers", more, &error));
    assert_failed(FAIL_NEVER, error);
    work_cancel(work);
    set(world, "accept_these_nonmembers", "d@y.example"); /* the word can be taken out */
}

static void expect_undo(World *world, int64_t key, Undo expected)
{
    GError *error = NULL;
    Undo result;
    Work *work = begin(world);
    assert_ok(change_undo(work, world->list, key, &result, &error), error);
    g_assert_cmpint(result, ==, expected);
    commit(work);
}

static void test_undo(World *world, const void *data)
{
    GError *error = NULL;
    Undo result;
    set(world, "info", "one\ntwo, three");
    set(world, "accept_these_nonmembers", "^a\\,b@x$,c@y.example");
    const int64_t words = newest_key(world);
    set(world, "info", "other");
    const int64_t info = newest_key(world);
    set(world, "accept_these_nonmembers", "d@z.example");
    const int64_t again = newest_key(world);
    expect_undo(world, words, UNDO_CHANGED);
    expect_undo(world, again, UNDO_DONE);
    assert_newest(world, "mail - setting accept_these_nonmembers: d@z.example > ^a\\,b@x$,c@y.example");
    expect_undo(world, info, UNDO_DONE);
    g_autoptr(List) now = list_by_id(world->store, LIST, NULL);
    g_assert_cmpstr(now->settings->info, ==, "one\ntwo, three");
    g_assert_cmpstr(now->settings->accept_these_nonmembers[0], ==, "^a,b@x$");
    expect_undo(world, info, UNDO_CHANGED); /* twice */
    set(world, "moderator_password", "secret phrase");
    expect_undo(world, newest_key(world), UNDO_NOTHING);
    /* A ban, and that it was lifted. */
    Work *bans = begin(world);
    assert_ok(ban_impose(bans, world->list, "Spam@Example.org", &error), error);
    const int64_t imposed = newest_key(world);
    assert_ok(ban_impose(bans, world->list, "^.*@Evil[.]example$", &error), error);
    const int64_t pattern = newest_key(world);
    commit(bans);
    expect_undo(world, imposed, UNDO_DONE);
    assert_newest(world, "mail - ban spam@example.org: banned > -");
    const int64_t lifted = newest_key(world);
    expect_undo(world, imposed, UNDO_CHANGED);
    expect_undo(world, lifted, UNDO_DONE);
    assert_newest(world, "mail - ban spam@example.org: - > banned");
    expect_undo(world, lifted, UNDO_CHANGED);
    expect_undo(world, pattern, UNDO_DONE);
    assert_newest(world, "mail - ban ^.*@Evil[.]example$: banned > -");
    g_autoptr(Work) work = begin(world);
    g_assert_false(change_undo(work, world->list, 12345, &result, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_all_kinds(World *world, const void *data)
{
    GError *error = NULL;
    world->actor = (Actor){.role = ACTOR_OWNER, .door = DOOR_PAGE, .address = OLGA};
    g_autoptr(Work) work = begin(world);
    assert_ok(ban_impose(work, world->list, "Spam@Example.org", &error), error);
    assert_newest(world, "page " OLGA " ban spam@example.org: - > banned");
    assert_ok(ban_lift(work, world->list, "spam@example.org", &error), error);
    assert_newest(world, "page " OLGA " ban spam@example.org: banned > -");
    HeaderMatch *row = g_new0(HeaderMatch, 1);
    *row = (HeaderMatch){g_strdup(LIST), -1, g_strdup("X-Spam"), g_strdup("^yes"), g_strdup("hold"), NULL};
    assert_ok(header_rows_add(work, row, &error), error);
    assert_newest(world, "page " OLGA " header-match x-spam: - > ^yes: hold");
    g_free(row->target);
    row->target = g_strdup("discard");
    row->position = -1;
    assert_ok(header_rows_change(work, 0, row, &error), error);
    header_match_free(row);
    assert_newest(world, "page " OLGA " header-match x-spam: ^yes: hold > ^yes: discard");
    assert_ok(header_rows_clear(work, LIST, NULL, NULL, &error), error);
    assert_newest(world, "page " OLGA " header-match x-spam: ^yes: discard > -");
    assert_ok(
        roster_add(work, LIST, &(RosterEntry){.role = ROLE_MEMBER, .address = mailbox_of("Anne@example.org")}, &error),
        error);
    assert_newest(world, "page " OLGA " member anne@example.org: - > member");
    assert_ok(roster_remove(work, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), &error), error);
    assert_newest(world, "page " OLGA " member anne@example.org: member > -");
    TemplateText text = {
        .name = (char[]){"goodbye"}, .place = (char[]){LIST}, .language = (char[]){"de"}, .text = (char[]){"Adieu."}};
    assert_ok(template_set(work, &text, &error), error);
    assert_newest(world, "page " OLGA " template list:user:notice:goodbye de: - > Adieu.");
    assert_ok(template_unset(work, LIST, "goodbye", NULL, &error), error);
    assert_newest(world, "page " OLGA " template list:user:notice:goodbye de: Adieu. > -");
    Held held = {.list_id = (char[]){LIST},
                 .sender = (char[]){"Bart@example.org"},
                 .subject = (char[]){"Mice"},
                 .message = g_bytes_new_static("Subject: Mice\r\n\r\n", 17)};
    bool told;
    assert_ok(held_add(world->store, &held, &error), error);
    assert_ok(held_post_decide(work, held.number, HELD_DISCARD, NULL, &told, &error), error);
    assert_newest(world, "page " OLGA " post bart@example.org: Mice > discard");
    g_bytes_unref(held.message);
}

static void assert_rows(World *world, const char *kind, guint expected)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) rows = list_log_page(world->store, LIST, kind, 0, 99, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(rows->len, ==, expected);
}

/* Check that those who come and go are there with the way, whoever asks, and whatever is asked for. */
static void test_members(World *world, const void *data)
{
    GError *error = NULL;
    const Joiner anne = {.address = mailbox_of("Anne@example.org"),
                         .facts = FACT_VERIFIED | FACT_CONFIRMED | FACT_APPROVED};
    g_auto(Subscription) joined = {0}, left = {0}, complained = {0};
    world->actor = (Actor){.role = ACTOR_MEMBER, .door = DOOR_PAGE, .address = "Anne@example.org"};
    g_autoptr(Work) work = begin(world);
    assert_ok(join_ask(work, world->list, &anne, &joined, &error), error);
    assert_newest(world, "page Anne@example.org member anne@example.org: - > member");
    assert_ok(leave_ask(work, world->list, mailbox_of("anne@example.org"), FACT_CONFIRMED, &left, &error), error);
    g_assert_cmpint(left.result, ==, SUBSCRIPTION_DONE);
    assert_newest(world, "page Anne@example.org member anne@example.org: member > page");
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of("bart@example.org"), NULL, NULL, &error), error);
    assert_ok(leave_complained(work, world->list, mailbox_of("bart@example.org"), &complained, &error), error);
    assert_newest(world, "page Anne@example.org member bart@example.org: member > complaint");
    assert_ok(roster_log_many(work, LIST, ROLE_MEMBER, 10000, &error), error);
    assert_newest(world, "page Anne@example.org import member: - > 10000");
    assert_ok(roster_log_many(work, LIST, ROLE_MEMBER, 0, &error), error);
    assert_rows(world, LOG_IMPORT, 1);
    assert_rows(world, NULL, 4);
}

static void test_options(World *world, const void *data)
{
    GError *error = NULL;
    world->actor = (Actor){.role = ACTOR_MEMBER, .door = DOOR_MAIL, .address = "anne@example.org"};
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of("Anne@example.org"), NULL, NULL, &error), error);
    g_autoptr(Work) work = begin(world);
    g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE;
    assert_ok(options_read(&options, "digest mime ack on language de vacation 2000-01-01..2999-01-31", &error), error);
    assert_ok(options_set(work, world->list, ROLE_MEMBER, mailbox_of("anne@example.org"), &options, &error), error);
    assert_rows(world, LOG_OPTIONS, 1);
    g_autofree char *text = newest(world);
    g_assert_nonnull(strstr(text, "mail anne@example.org options anne@example.org: "));
    g_assert_nonnull(strstr(text, "digest default\nack default\nlanguage default\nvacation off > "));
    g_assert_nonnull(strstr(text, "digest mime\nack on\nlanguage de\nvacation 2000-01-01..2999-01-31"));
    /* The same again is no change. */
    assert_ok(options_set(work, world->list, ROLE_MEMBER, mailbox_of("anne@example.org"), &options, &error), error);
    assert_rows(world, LOG_OPTIONS, 1);
    g_autoptr(Member) anne = member_find(world->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), &error);
    assert_ok(people_set_moderation(work, anne, ACTION_HOLD, &error), error);
    assert_newest(world, "mail anne@example.org options anne@example.org: moderation default > moderation hold");
    Preferences own = anne->own;
    own.delivery_status = DELIVERY_BY_BOUNCES;
    assert_ok(people_set_preferences(work, PREFERENCES_OF_MEMBER, anne->id, &own, &error), error);
    g_autofree char *after = newest(world);
    g_assert_nonnull(strstr(after, " > delivery off (by_bounces)"));
    /* One who has gone has rows that tell of it; one who is forgotten has none. */
    assert_ok(people_forget(work, anne->user_id, mailbox_of(anne->address), &error), error);
    assert_rows(world, NULL, 0);
}

static void test_list(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *path = g_build_filename(world->fixture.directory, "site.conf", NULL);
    assert_ok(g_file_set_contents(path, "[site]\nuser = nobody\n", -1, &error), error);
    g_autoptr(Config) config = config_load(path, true, &error);
    g_assert_no_error(error);
    world->site.config = config;
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of("bart@example.org"), NULL, NULL, &error), error);
    g_autoptr(Work) work = begin(world);
    g_autoptr(List) copy = list_copy(work, world->list, "other@example.com", true, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) rows = list_log_page(world->store, copy->list_id, NULL, 0, 9, &error);
    g_assert_cmpuint(rows->len, ==, 3); /* the fixture's list has an owner, too */
    const ListLogRow *members = rows->pdata[1], *made = rows->pdata[2];
    g_assert_cmpstr(members->name, ==, "member");
    g_assert_cmpstr(members->after, ==, "2");
    g_assert_cmpstr(made->name, ==, "copied from");
    g_assert_cmpstr(made->after, ==, LIST);
    assert_ok(list_move(work, LIST, "new@example.com", &error), error);
    assert_newest(world, "mail - list address: test@example.com > new@example.com");
}

static Authority standing(World *world, const char *address)
{
    GError *error = NULL;
    g_autoptr(SignedIn) person = sign_in_vouched(world->store, address, &error);
    g_autoptr(Standing) found = standing_new(world->store, person, &error);
    g_assert_no_error(error);
    Authority by = standing_of(found, world->list);
    g_assert_cmpint(by != BY_STRANGER, ==, standing_any(found));
    return by;
}

static void test_standing(World *world, const void *data)
{
    GError *error = NULL;
    static const char *const people[] = {"site@example.org", "domain@example.org", "other@example.org"};
    char id[3][STORE_ID_SIZE];
    for (unsigned i = 0; i < 3; i++)
        assert_ok(user_create(world->store, mailbox_of(people[i]), NULL, id[i], &error), error);
    assert_ok(user_set_server_owner(world->store, id[0], true, &error), error);
    assert_ok(domain_add_owner(world->store, "example.com", id[1], &error), error);
    assert_ok(domain_create(world->store, "other.example", NULL, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MODERATOR, mailbox_of("mo@example.org"), NULL, NULL, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error), error);
    g_assert_cmpint(standing(world, people[0]), ==, BY_SITE);
    g_assert_cmpint(standing(world, people[1]), ==, BY_DOMAIN);
    g_assert_cmpint(standing(world, people[2]), ==, BY_STRANGER);
    g_assert_cmpint(standing(world, OLGA), ==, BY_LIST);
    g_assert_cmpint(standing(world, "mo@example.org"), ==, BY_MODERATOR);
    g_assert_cmpint(standing(world, "anne@example.org"), ==, BY_STRANGER);
    g_assert_cmpint(standing(world, "nobody@example.org"), ==, BY_STRANGER);
    /* A role that is gone, and the role at another address of the same person. */
    assert_ok(user_link_address(world->store, "mo@example.org", mailbox_of("mo@home.example"), &error), error);
    g_assert_cmpint(standing(world, "mo@home.example"), ==, BY_MODERATOR);
    assert_ok(member_remove(world->store, LIST, ROLE_MODERATOR, mailbox_of("mo@example.org"), &error), error);
    g_assert_cmpint(standing(world, "mo@home.example"), ==, BY_STRANGER);
}

#define ADD(path, function) g_test_add(path, World, NULL, world_open, function, world_close)

SUITE("change")
{
    g_test_init(&argc, &argv, NULL);
    ADD("/change/settings, by which door", test_settings);
    ADD("/change/values that stay", test_values_that_stay);
    ADD("/change/undo", test_undo);
    ADD("/change/all kinds", test_all_kinds);
    ADD("/change/members", test_members);
    ADD("/change/options", test_options);
    ADD("/change/the list itself", test_list);
    ADD("/standing", test_standing);
    return g_test_run();
}
