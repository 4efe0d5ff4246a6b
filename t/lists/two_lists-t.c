/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that a change to one list, one role or one person leaves the others as they are, and that a copy of a list has
 * all of it. */
#include "lists/letters/template_set.h"
#include "lists/making/domain_make.h"
#include "lists/making/list_make.h"
#include "store/lists/header_match.h"
#include "store/lists/news.h"
#include "store/lists/template_text.h"
#include "store/people/ban.h"
#include "store/people/user.h"
#include "t/lists/fixture.h"
#include "t/suite.h"

#define OTHER "other.example.com"
#define COPY "copy.example.com"
#define ANNE "anne@example.org"
#define BOB "bob@example.org"
#define MANY 1001 /* more than one page of members */

/* With a second list, which has the same members. */
static void open_both(World *world, const void *data)
{
    GError *error = NULL;
    world_open(world, data);
    list_free(list_create(world->store, "other@example.com", &error));
    g_assert_no_error(error);
    static const char *const ids[] = {LIST, OTHER};
    for (size_t at = 0; at < G_N_ELEMENTS(ids); at++) {
        assert_ok(member_add(world->store, ids[at], ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
        assert_ok(member_add(world->store, ids[at], ROLE_MEMBER, mailbox_of(BOB), NULL, NULL, &error), error);
        assert_ok(member_add(world->store, ids[at], ROLE_MODERATOR, mailbox_of(ANNE), NULL, NULL, &error), error);
    }
}

/* The action for posts of that member; -2: there is none. */
static int moderation(World *world, const char *list_id, Role role, const char *address)
{
    g_autoptr(Member) member = member_find(world->store, list_id, role, mailbox_of(address), NULL);
    return member ? (int)member->moderation_action : -2;
}

static void test_members(World *world, const void *data)
{
    GError *error = NULL;
    const int none = moderation(world, OTHER, ROLE_MEMBER, ANNE);
    assert_ok(member_set_moderation(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), ACTION_HOLD, &error), error);
    g_assert_cmpint(moderation(world, LIST, ROLE_MEMBER, ANNE), ==, ACTION_HOLD);
    g_assert_cmpint(moderation(world, LIST, ROLE_MEMBER, BOB), ==, none);
    g_assert_cmpint(moderation(world, LIST, ROLE_MODERATOR, ANNE), ==, none);
    g_assert_cmpint(moderation(world, OTHER, ROLE_MEMBER, ANNE), ==, none);
    assert_ok(member_remove(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &error), error);
    g_assert_cmpint(moderation(world, LIST, ROLE_MEMBER, ANNE), ==, -2);
    g_assert_cmpint(moderation(world, LIST, ROLE_MEMBER, BOB), ==, none);
    g_assert_cmpint(moderation(world, LIST, ROLE_MODERATOR, ANNE), ==, none);
    g_assert_cmpint(moderation(world, OTHER, ROLE_MEMBER, ANNE), ==, none);
    g_assert_cmpint(moderation(world, OTHER, ROLE_MODERATOR, ANNE), ==, none);
}

static int64_t pend(World *world, const char *list_id, PendingWaitsFor waits_for)
{
    GError *error = NULL;
    Pending pending = {.kind = PENDING_LEAVE,
                       .list_id = (char *)list_id,
                       .address = mailbox_of(ANNE),
                       .waits_for = waits_for,
                       .expires_at = 100};
    assert_ok(pending_put(world->store, &pending, NULL, &error), error);
    return pending.number;
}

static void test_requests(World *world, const void *data)
{
    GError *error = NULL;
    int64_t own = pend(world, LIST, PENDING_PERSON), theirs = pend(world, OTHER, PENDING_MODERATOR);
    g_assert_cmpint(own, !=, theirs);
    g_autoptr(Pending) mine = pending_find(world->store, own, 50, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(mine->list_id, ==, LIST);
    g_auto(GStrv) lists = pending_lists(world->store, 50, &error); /* where a moderator is waited for */
    g_assert_cmpstr(lists[0], ==, OTHER);
    g_assert_null(lists[1]);
}

static void add_row(World *world, const char *list_id, const char *header)
{
    GError *error = NULL;
    g_autoptr(HeaderMatch) row = g_new0(HeaderMatch, 1);
    *row = (HeaderMatch){.list_id = g_strdup(list_id),
                         .position = -1,
                         .header = g_strdup(header),
                         .pattern = g_strdup("x"),
                         .tag = g_strdup("t")};
    assert_ok(header_match_add(world->store, row, &error), error);
}

static unsigned rows(World *world, const char *list_id)
{
    g_autoptr(GPtrArray) all = header_match_all(world->store, list_id, NULL);
    return all->len;
}

static void test_header_rows(World *world, const void *data)
{
    GError *error = NULL;
    int64_t removed;
    add_row(world, LIST, "x-own");
    add_row(world, OTHER, "x-other");
    add_row(world, NULL, "x-site");
    assert_ok(header_match_clear(world->store, LIST, "t", &removed, &error), error);
    g_assert_cmpint(removed, ==, 1);
    g_assert_true(rows(world, LIST) == 0 && rows(world, OTHER) == 1 && rows(world, NULL) == 1);
    assert_ok(header_match_clear(world->store, NULL, NULL, &removed, &error), error);
    g_assert_true(rows(world, OTHER) == 1 && rows(world, NULL) == 0);
}

static void test_news(World *world, const void *data)
{
    GError *error = NULL;
    int64_t own, theirs;
    assert_ok(news_set_watermark(world->store, LIST, "misc.test", 5, &error), error);
    assert_ok(news_set_watermark(world->store, OTHER, "misc.test", 7, &error), error);
    assert_ok(news_watermark(world->store, LIST, "misc.test", &own, &error), error);
    assert_ok(news_watermark(world->store, OTHER, "misc.test", &theirs, &error), error);
    g_assert_true(own == 5 && theirs == 7);
}

/* The text of a list, a domain or the site counts for that one; "domain:" is not a list's to write. */
static void test_templates(World *world, const void *data)
{
    GError *error = NULL;
    TemplateText text = {.name = (char *)"list:user:notice:welcome",
                         .place = (char *)OTHER,
                         .text = (char *)"Hello",
                         .language = (char *)"",
                         .uri = (char *)"",
                         .username = (char *)"",
                         .password = (char *)"",
                         .fault = (char *)""};
    TemplateText *found;
    g_autoptr(List) other = list_by_id(world->store, OTHER, &error);
    assert_ok(template_text_put(world->store, &text, &error), error);
    text.place = (char *)"@elsewhere.example";
    assert_ok(template_text_put(world->store, &text, &error), error);
    assert_ok(template_text_find(world->store, text.name, world->list, NULL, &found, &error), error);
    g_assert_null(found);
    assert_ok(template_text_find(world->store, text.name, other, NULL, &found, &error), error);
    g_assert_nonnull(found);
    g_assert_cmpstr(found->place, ==, OTHER);
    template_text_free(found);
    const TemplateText of_domain = {
        .name = (char *)"domain:admin:notice:new-list", .place = (char *)LIST, .text = (char *)"Hello"};
    g_autoptr(Work) work = world_work(world);
    g_assert_false(template_set(work, &of_domain, &error));
    assert_failed(FAIL_NEVER, error);
}

/* Files are read below the site's folder, and not below one whose name begins like it. */
static void test_files_of_templates(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *folder = g_build_filename(world->fixture.directory, "own", NULL);
    g_autofree char *beside = g_build_filename(world->fixture.directory, "own-not", NULL);
    g_autofree char *inside_file = g_build_filename(folder, "a.txt", NULL);
    g_autofree char *beside_file = g_build_filename(beside, "a.txt", NULL);
    g_assert_true(g_mkdir(folder, 0700) == 0 && g_mkdir(beside, 0700) == 0);
    g_assert_true(g_file_set_contents(inside_file, "x", 1, NULL) && g_file_set_contents(beside_file, "x", 1, NULL));
    g_autofree char *inside = g_filename_to_uri(inside_file, NULL, NULL);
    g_autofree char *outside = g_filename_to_uri(beside_file, NULL, NULL);
    g_autofree char *up = g_strdup_printf("file://%s/../own-not/a.txt", folder);
    world->site.templates = folder;
    assert_ok(template_file_allowed(&world->site, inside, &error), error);
    g_assert_false(template_file_allowed(&world->site, outside, &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_false(template_file_allowed(&world->site, up, &error));
    assert_failed(FAIL_NEVER, error);
    world->site.templates = NULL;
    g_remove(inside_file);
    g_remove(beside_file);
    g_rmdir(folder);
    g_rmdir(beside);
}

static bool owns_server(World *world, const char *who)
{
    g_autoptr(User) user = user_find(world->store, who, NULL);
    return user && user->server_owner;
}

/* Check that a person who becomes one with another may do what one of the two could, and no more. */
static void test_merged_people(World *world, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    static const char *const people[] = {"one@example.net", "two@example.net", "three@example.net"};
    for (size_t at = 0; at < G_N_ELEMENTS(people); at++)
        assert_ok(user_create(world->store, mailbox_of(people[at]), NULL, id, &error), error);
    assert_ok(user_merge(world->store, people[0], people[1], &error), error);
    g_assert_false(owns_server(world, people[0]));
    assert_ok(user_set_server_owner(world->store, people[2], true, &error), error);
    assert_ok(user_merge(world->store, people[0], people[2], &error), error);
    g_assert_true(owns_server(world, people[0]));
}

/* A copy keeps out whom the list kept out, however many its members are. */
static void test_copy(World *world, const void *data)
{
    GError *error = NULL;
    int64_t count;
    g_autofree char *banned = NULL, *elsewhere = NULL;
    g_autofree char *path = g_build_filename(world->fixture.directory, "conf", NULL);
    g_assert_true(g_file_set_contents(path, "[site]\nuser = nobody\n", -1, NULL));
    g_autoptr(Config) config = config_load(path, true, &error);
    g_assert_no_error(error);
    world->site.config = config;
    world->actor.role = ACTOR_OPERATOR;
    g_autoptr(Work) work = world_work(world);
    assert_ok(work_begin(work, &error), error);
    for (int at = 0; at < MANY; at++) {
        g_autofree char *address = g_strdup_printf("m%04d@example.org", at);
        assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, &error), error);
    }
    assert_ok(member_set_moderation(world->store, LIST, ROLE_MEMBER, mailbox_of(BOB), ACTION_DISCARD, &error), error);
    assert_ok(ban_add(world->store, LIST, "mallory@example.net", &error), error);
    assert_ok(ban_add(world->store, OTHER, "eve@example.net", &error), error);
    g_autoptr(List) copy = list_copy(work, world->list, "copy@example.com", true, &error);
    g_assert_no_error(error);
    assert_ok(member_count(world->store, COPY, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, MANY + 2);
    g_assert_cmpint(moderation(world, COPY, ROLE_MEMBER, BOB), ==, ACTION_DISCARD);
    assert_ok(ban_check(world->store, COPY, mailbox_of("mallory@example.net"), NULL, &banned, &error), error);
    assert_ok(ban_check(world->store, COPY, mailbox_of("eve@example.net"), NULL, &elsewhere, &error), error);
    g_assert_true(banned && !elsewhere);
    g_autoptr(List) people_only = list_copy(work, world->list, "bare@example.com", false, &error);
    g_assert_no_error(error);
    assert_ok(member_count(world->store, "bare.example.com", ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 0);
    work_cancel(work);
}

#define BOTH_TEST(path, function) g_test_add(path, World, NULL, open_both, function, world_close)

/* Which lists there are: "test other". */
static void assert_lists(World *world, const char *expected)
{
    static const char *const names[] = {"test@example.com", "other@example.net"};
    g_autoptr(GString) found = g_string_new(NULL);
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        g_autoptr(List) list = list_find(world->store, names[at], NULL);
        if (list)
            g_string_append_printf(found, "%s%s", found->len > 0 ? " " : "", list->list_name);
    }
    g_assert_cmpstr(found->str, ==, expected);
}

/* Each change of a domain has the MTA's files written anew, where they are written at all. */
static void test_domains(World *world, const void *data)
{
    GError *error = NULL;
    g_autoptr(User) anne = user_find(world->store, ANNE, &error);
    assert_ok(anne != NULL, error);
    const char *const owners[] = {anne->id, "new@example.org", NULL}, *const bad[] = {ANNE, "test-owner@example.com",
                                                                                      NULL};
    world->site.keeps_maps = true;
    g_autoptr(Work) work = world_work(world);
    const DomainData about = {.description = "x", .alias = "alias.example", .owners = owners};
    assert_ok(domain_make(work, "example.net", &about, &error), error);
    g_assert_cmpuint(work_entries(work), ==, 1);
    g_autoptr(User) made = user_find(world->store, "new@example.org", &error);
    assert_ok(made != NULL, error);
    g_auto(GStrv) both = domain_owners(world->store, "example.net", &error);
    g_assert_cmpuint(g_strv_length(both), ==, 2);
    g_assert_true(g_strv_contains((const char *const *)both, anne->id) &&
                  g_strv_contains((const char *const *)both, made->id));
    g_assert_false(domain_make(work, "alias.example", &(DomainData){0}, &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_false(domain_change(work, "example.net", &(DomainData){.owners = bad}, &error));
    assert_failed(FAIL_NEVER, error);
    assert_ok(domain_change(work, "example.net", &(DomainData){.alias = ""}, &error), error);
    g_assert_cmpuint(work_entries(work), ==, 2);
    g_autoptr(Domain) domain = domain_find(world->store, "example.net", &error);
    g_assert_true(!domain->alias_domain && strcmp(domain->description, "x") == 0);
    g_autoptr(List) other = list_create(world->store, "other@example.net", &error);
    g_assert_no_error(error);
    g_assert_false(domain_drop(work, "example.net", false, &error));
    assert_failed(FAIL_NEVER, error);
    assert_lists(world, "test other");
    assert_ok(domain_drop(work, "example.net", true, &error), error);
    assert_lists(world, "test");
    g_assert_false(domain_change(work, "example.net", &(DomainData){.alias = ""}, &error));
    assert_failed(FAIL_MISSING, error);
    world->site.keeps_maps = false;
    g_autoptr(Work) without = world_work(world);
    assert_ok(domain_make(without, "example.net", &(DomainData){0}, &error), error);
    g_assert_cmpuint(work_entries(without), ==, 0);
}

SUITE("two_lists")
{
    g_test_init(&argc, &argv, NULL);
    BOTH_TEST("/two_lists/members", test_members);
    BOTH_TEST("/two_lists/requests", test_requests);
    BOTH_TEST("/two_lists/header rows", test_header_rows);
    BOTH_TEST("/two_lists/news groups", test_news);
    BOTH_TEST("/two_lists/templates", test_templates);
    BOTH_TEST("/two_lists/files of templates", test_files_of_templates);
    BOTH_TEST("/two_lists/people who become one", test_merged_people);
    BOTH_TEST("/two_lists/a copy", test_copy);
    BOTH_TEST("/two_lists/domains", test_domains);
    return g_test_run();
}
