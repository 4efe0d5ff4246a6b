/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/list.h"

#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "store/lists/list_setting.h"
#include "store/store.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_post.h"
#include "store/store_internal.h"
#include "store/people/token.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"

/* ---- domains ---- */

static void test_domain(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "Example.ORG", "An organisation", &error), error);
    g_assert_false(domain_create(fixture->store, "example.org", NULL, &error));
    assert_failed(FAIL_EXISTS, error);
    static const char *const wrong[] = {"",    "-a.b", "a-.b", "a..b", ".a",      "a.",
                                        "a b", "a@b",  "a/b",  "a\nb", "\377.de", "localhost",
                                        "192.0.2.1", "bad_one.example", NULL};
    for (const char *const *name = wrong; *name; name++) {
        g_assert_false(domain_create(fixture->store, *name, NULL, &error));
        assert_failed(FAIL_NEVER, error);
    }
    assert_ok(domain_create(fixture->store, "XN--mller-kva.de", NULL, &error), error);
    assert_ok(domain_set_alias(fixture->store, "xn--mller-kva.de", "M\303\234ller.de", &error), error);
    g_autoptr(GPtrArray) domains = domain_all(fixture->store, &error);
    g_assert_cmpint(domains->len, ==, 2);
    const Domain *first = domains->pdata[0], *second = domains->pdata[1];
    g_assert_cmpstr(first->mail_host, ==, "example.org");
    g_assert_cmpstr(first->description, ==, "An organisation");
    g_assert_null(first->alias_domain);
    g_assert_cmpstr(second->mail_host, ==, "xn--mller-kva.de");
    g_assert_cmpstr(second->alias_domain, ==, "m\303\274ller.de");
}

static void test_domain_remove(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_assert_false(domain_remove(fixture->store, "example.com", &error)); /* has a list */
    assert_failed(FAIL_NEVER, error);
    assert_ok(list_remove(fixture->store, LIST, &error), error);
    assert_ok(domain_remove(fixture->store, "EXAMPLE.com", &error), error);
    g_assert_false(domain_remove(fixture->store, "example.com", &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_domain_alias(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    bool exists;
    g_autofree char *list_id = NULL;
    assert_ok(domain_set_alias(fixture->store, "example.com", "Lists.Internal", &error), error);
    assert_ok(list_exists(fixture->store, "test", "lists.internal", &exists, &list_id, &error), error);
    g_assert_true(exists);
    g_assert_cmpstr(list_id, ==, LIST);
    g_autoptr(List) list = list_by_address(fixture->store, "TEST@lists.INTERNAL", &error);
    g_assert_cmpstr(list->posting_address, ==, "test@example.com");
    g_assert_false(domain_create(fixture->store, "lists.internal", NULL, &error));
    assert_failed(FAIL_EXISTS, error);
    assert_ok(domain_create(fixture->store, "other.com", NULL, &error), error);
    g_assert_false(domain_set_alias(fixture->store, "other.com", "lists.internal", &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_false(domain_set_alias(fixture->store, "other.com", "example.com", &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_false(domain_set_alias(fixture->store, "none.com", "x.com", &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(domain_set_alias(fixture->store, "other.com", "x x", &error));
    assert_failed(FAIL_NEVER, error);
    assert_ok(domain_set_alias(fixture->store, "example.com", "lists.internal", &error), error); /* the same again */
    assert_ok(domain_set_alias(fixture->store, "example.com", NULL, &error), error);
    assert_ok(list_exists(fixture->store, "test", "lists.internal", &exists, NULL, &error), error);
    g_assert_false(exists);
}

/* ---- lists ---- */

static void test_create(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t before = clock_now();
    g_autoptr(List) list = list_create(fixture->store, "Some-Talk@Example.COM", &error);
    g_assert_no_error(error);
    g_assert_cmpint(strlen(list->id), ==, STORE_ID_SIZE - 1);
    g_assert_cmpstr(list->list_id, ==, "some-talk.example.com");
    g_assert_cmpstr(list->list_name, ==, "some-talk");
    g_assert_cmpstr(list->mail_host, ==, "example.com");
    g_assert_cmpstr(list->posting_address, ==, "some-talk@example.com");
    g_assert_cmpint(list->created_at, >=, before);
    g_assert_cmpint(list->last_post_at, ==, 0);
    g_assert_cmpint(list->post_id, ==, 1);
    g_assert_cmpstr(list->settings->display_name, ==, "Some-talk");
    g_assert_cmpstr(list->settings->subject_prefix, ==, "[Some-talk] ");
}

static void test_create_refused(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_assert_null(list_create(fixture->store, "TEST@example.com", &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_null(list_create(fixture->store, "x@example.org", &error));
    g_assert_nonnull(strstr(error->message, "listrunner domain create example.org"));
    assert_failed(FAIL_MISSING, error);
    static const char *const wrong[] = {"",
                                        "x",
                                        "@example.com",
                                        "x@",
                                        "a/b@example.com",
                                        "../x@example.com",
                                        ".x@example.com",
                                        "a b@example.com",
                                        "-x@example.com",
                                        "x..y@example.com",
                                        "x.@example.com",
                                        "\303\274@example.com",
                                        NULL};
    for (const char *const *address = wrong; *address; address++) {
        g_assert_null(list_create(fixture->store, *address, &error));
        assert_failed(FAIL_NEVER, error);
    }
    /* Two addresses with one List-Id. */
    assert_ok(domain_create(fixture->store, "b.example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(fixture->store, "a@b.example.com", &error);
    g_assert_nonnull(list);
    g_assert_null(list_create(fixture->store, "a.b@example.com", &error));
    assert_failed(FAIL_NEVER, error);
}

/* Every address of a list fits into 64 bytes and leads to it, and to no other. */
static void test_short(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "other.com", NULL, &error), error);
    assert_ok(domain_set_alias(fixture->store, "example.com", "lists.internal", &error), error);
    g_autofree char *previous = g_strdup("");
    for (size_t length = 1; length <= LIST_LOCAL_MAX + 1; length++) {
        g_autofree char *name = g_strnfill(length, 'c'), *address = NULL;
        for (size_t at = 1; at < length; at += 3)
            name[at] = "+=-.~_"[at % 6];
        address = g_strconcat(name, "@example.com", NULL);
        g_autoptr(List) list = list_create(fixture->store, address, &error);
        if (length > LIST_LOCAL_MAX) {
            assert_failed(FAIL_NEVER, error);
            break;
        }
        g_assert_no_error(error);
        for (size_t room = 42; room <= LIST_LOCAL_MAX; room += LIST_LOCAL_MAX - 42) {
            g_autofree char *local = list_local(list, "bounces", room), *usual = g_strconcat(name, "-bounces", NULL);
            g_assert_cmpuint(strlen(local), <=, room);
            g_assert_cmpint(strcmp(local, usual) == 0, ==, strlen(usual) <= room);
        }
        g_autofree char *brief = list_local(list, NULL, 0), *found = NULL, *aliased = NULL, *foreign = NULL;
        bool exists;
        g_assert_cmpuint(strlen(brief), <=, 30);
        g_assert_cmpstr(brief, !=, previous);
        assert_ok(list_exists(fixture->store, brief, "example.com", &exists, &found, &error), error);
        g_assert_cmpstr(found, ==, list->list_id);
        assert_ok(list_exists(fixture->store, brief, "lists.internal", &exists, &aliased, &error), error);
        g_assert_cmpstr(aliased, ==, list->list_id);
        assert_ok(list_exists(fixture->store, brief, "other.com", &exists, &foreign, &error), error);
        g_assert_false(exists);
        for (size_t at = 0; brief[at]; at++) { /* nothing but that very name; it may be that of a list before */
            g_autofree char *wrong = g_strdup(brief), *other = NULL;
            wrong[at] = wrong[at] == 'd' ? 'e' : 'd';
            assert_ok(list_exists(fixture->store, wrong, "example.com", &exists, &other, &error), error);
            g_assert_cmpstr(other, !=, list->list_id);
        }
        g_free(previous);
        previous = g_steal_pointer(&brief);
    }
}

/* Check that the list that bears the name itself comes first. */
static void test_short_taken(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(List) list = list_by_id(fixture->store, LIST, &error);
    g_autofree char *brief = list_local(list, NULL, 0), *address = g_strconcat(brief, "@example.com", NULL);
    g_autofree char *found = NULL;
    g_autoptr(List) named = list_create(fixture->store, address, &error);
    g_assert_no_error(error);
    bool exists;
    assert_ok(list_exists(fixture->store, brief, "example.com", &exists, &found, &error), error);
    g_assert_cmpstr(found, ==, named->list_id);
}

static void test_find(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    static const char *const names[] = {"test@example.com", "Test@EXAMPLE.com", LIST, "TEST.Example.com", NULL};
    for (const char *const *name = names; *name; name++) {
        g_autoptr(List) list = list_find(fixture->store, *name, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(list->list_id, ==, LIST);
    }
    static const char *const unknown[] = {
        "",     "test", "@", "test@", "none@example.com", "test@example.org", "test.example.org", "\377@example.com",
        "\377", NULL};
    for (const char *const *name = unknown; *name; name++) {
        g_assert_null(list_find(fixture->store, *name, &error));
        assert_failed(FAIL_MISSING, error);
        g_assert_null(list_by_address(fixture->store, *name, &error));
        assert_failed(FAIL_MISSING, error);
    }
}

static void test_exists(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    bool exists = false;
    char *list_id = NULL;
    assert_ok(list_exists(fixture->store, "TEST", "Example.com", &exists, &list_id, &error), error);
    g_assert_true(exists);
    g_assert_cmpstr(list_id, ==, LIST);
    g_free(list_id);
    assert_ok(list_exists(fixture->store, "test-owner", "example.com", &exists, &list_id, &error), error);
    g_assert_false(exists);
    g_assert_null(list_id);
    assert_ok(list_exists(fixture->store, "te\377", "example.com", &exists, &list_id, &error), error);
    g_assert_false(exists);
    assert_ok(list_exists(fixture->store, "' OR 1 --", "example.com", &exists, NULL, &error), error);
    g_assert_false(exists);
}

static void test_remove(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    bool known;
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), NULL, NULL, &error), error);
    assert_ok(list_set(fixture->store, LIST, "info", "x", &error), error);
    assert_ok(
        list_record_message_id(fixture->store, LIST, &(SeenMail){"<1>", "in:1", "spool", 1, NULL}, &known, &error),
        error);
    assert_ok(list_remove(fixture->store, LIST, &error), error);
    g_assert_false(list_remove(fixture->store, LIST, &error));
    assert_failed(FAIL_MISSING, error);
    /* One of the same name starts anew. */
    g_autoptr(List) list = list_create(fixture->store, "test@example.com", &error);
    int64_t count;
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 0);
    g_assert_cmpstr(list->settings->info, ==, "");
    assert_ok(
        list_record_message_id(fixture->store, LIST, &(SeenMail){"<1>", "in:2", "spool", 1, NULL}, &known, &error),
        error);
    g_assert_false(known);
}

typedef struct Seen {
    GString *names;
    int left;
} Seen;

static bool see(const List *list, void *data)
{
    Seen *seen = data;
    g_string_append_printf(seen->names, "%s ", list->list_id);
    return --seen->left > 0;
}

static char *each(Store *store, const char *domain, int most)
{
    GError *error = NULL;
    Seen seen = {g_string_new(NULL), most};
    assert_ok(list_each(store, domain, see, &seen, &error), error);
    return g_string_free(seen.names, FALSE);
}

/* A table that refers to lists has them first in a key or an index: else a list that is removed costs a walk
 * through all of it. Sets of parts are left to that: their index is of open ones alone, and each part that comes would
 * pay for another, while lists go seldom. */
static void test_remove_without_scan(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_autoptr(Query) tables =
        query_start(fixture->store, &error,
                    "SELECT t.name, f.\"from\" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f "
                    "WHERE t.type = 'table' AND f.\"table\" = 'list' AND t.name <> 'fragment_set'",
                    NULL, 0);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) statements = g_ptr_array_new_with_free_func(g_free);
    while (query_step(tables, &error) == STEP_ROW)
        g_ptr_array_add(statements, g_strdup_printf("EXPLAIN QUERY PLAN DELETE FROM %s WHERE %s = 1",
                                                    query_text(tables, 0), query_text(tables, 1)));
    g_assert_no_error(error);
    g_assert_cmpuint(statements->len, >, 4);
    for (guint i = 0; i < statements->len; i++) {
        g_autoptr(Query) plan = query_start(fixture->store, &error, statements->pdata[i], NULL, 0);
        g_assert_no_error(error);
        g_assert_cmpint(query_step(plan, &error), ==, STEP_ROW);
        g_test_message("%s: %s", (char *)statements->pdata[i], query_text(plan, 3));
        g_assert_true(g_str_has_prefix(query_text(plan, 3), "SEARCH"));
    }
}

static void test_each(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "a.org", NULL, &error), error);
    list_free(list_create(fixture->store, "zoo@a.org", &error));
    list_free(list_create(fixture->store, "bee@a.org", &error));
    g_assert_no_error(error);
    g_autofree char *all = each(fixture->store, NULL, 9), *two = each(fixture->store, NULL, 2);
    g_autofree char *some = each(fixture->store, "A.org", 9), *none = each(fixture->store, "none.org", 9);
    g_assert_cmpstr(all, ==, "bee.a.org zoo.a.org test.example.com ");
    g_assert_cmpstr(two, ==, "bee.a.org zoo.a.org ");
    g_assert_cmpstr(some, ==, "bee.a.org zoo.a.org ");
    g_assert_cmpstr(none, ==, "");
}

/* ---- posts ---- */

static void test_count_post(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t post_id = 0;
    for (int i = 1; i <= 3; i++) {
        assert_ok(list_count_post(fixture->store, LIST, 1000 + i, &post_id, &error), error);
        g_assert_cmpint(post_id, ==, i);
    }
    g_autoptr(List) list = list_by_id(fixture->store, LIST, &error);
    g_assert_cmpint(list->post_id, ==, 4);
    g_assert_cmpint(list->last_post_at, ==, 1003);
    g_assert_false(list_count_post(fixture->store, "none.example.com", 1, &post_id, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_message_id(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    bool known = true;
    g_autoptr(List) other = list_create(fixture->store, "other@example.com", &error);
    assert_ok(
        list_record_message_id(fixture->store, LIST, &(SeenMail){"<1@x>", "aa", "spool", 5, NULL}, &known, &error),
        error);
    g_assert_false(known);
    assert_ok(
        list_record_message_id(fixture->store, LIST, &(SeenMail){"<1@x>", "aa", "spool", 5, NULL}, &known, &error),
        error);
    g_assert_false(known); /* the same entry, tried again */
    assert_ok(
        list_record_message_id(fixture->store, LIST, &(SeenMail){"<1@x>", "bb", "spool", 5, NULL}, &known, &error),
        error);
    g_assert_true(known);
    assert_ok(
        list_record_message_id(fixture->store, LIST, &(SeenMail){"<1@X>", "bb", "spool", 5, NULL}, &known, &error),
        error);
    g_assert_false(known); /* Message-IDs have case */
    assert_ok(list_record_message_id(fixture->store, other->list_id, &(SeenMail){"<1@x>", "bb", "spool", 5, NULL},
                                     &known, &error),
              error);
    g_assert_false(known);
    g_assert_false(list_record_message_id(fixture->store, "none.example.com",
                                          &(SeenMail){"<1@x>", "bb", "spool", 5, NULL}, &known, &error));
    assert_failed(FAIL_MISSING, error);
}

/* Check that recording a Message-ID tells the number that the post would get, of its own list, in the same transaction.
 * Two posts of a transaction get two numbers; one whose savepoint is undone gives it back. */
static void test_number_with_message_id(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    bool known;
    int64_t next, post_id;
    g_autoptr(List) other = list_create(fixture->store, "other@example.com", &error);
    assert_ok(list_count_post(fixture->store, other->list_id, 1, &post_id, &error), error);
    assert_ok(store_begin(fixture->store, &error), error);
    for (int i = 0; i < 3; i++) {
        g_autofree char *id = g_strdup_printf("<%d@x>", i);
        const SeenMail seen = {id, "aa", "spool", 5, &next};
        assert_ok(store_savepoint(fixture->store, &error), error);
        assert_ok(list_record_message_id(fixture->store, LIST, &seen, &known, &error), error);
        g_assert_cmpint(next, ==, MIN(i, 1) + 1);
        assert_ok(list_take_number(fixture->store, LIST, 77 + i, next, &error), error);
        store_savepoint_end(fixture->store, i != 1);
    }
    const SeenMail again = {"<0@x>", "bb", "spool", 5, &next};
    assert_ok(list_record_message_id(fixture->store, LIST, &again, &known, &error), error);
    g_assert_cmpint(next, ==, 0);
    g_assert_true(known);
    const SeenMail elsewhere = {"<0@x>", "bb", "spool", 5, &next};
    assert_ok(list_record_message_id(fixture->store, other->list_id, &elsewhere, &known, &error), error);
    g_assert_cmpint(next, ==, 2);
    assert_ok(store_commit(fixture->store, &error), error);
    g_autoptr(List) list = list_by_id(fixture->store, LIST, &error);
    g_assert_cmpint(list->post_id, ==, 3);
    g_assert_cmpint(list->last_post_at, ==, 79);
}

static void test_actions(void)
{
    Action action;
    g_auto(GStrv) words = g_strsplit(ACTION_WORDS("|"), "|", -1);
    g_assert_cmpuint(g_strv_length(words), ==, ACTION_UNSET);
    for (Action i = ACTION_HOLD; i < ACTION_UNSET; i++)
        g_assert_cmpstr(words[i], ==, action_text(i));
    for (Action i = ACTION_HOLD; i <= ACTION_UNSET; i++) {
        g_assert_true(action_parse(action_text(i), &action));
        g_assert_cmpint(action, ==, i);
    }
    g_assert_true(action_parse("Hold", &action));
    g_assert_false(action_parse("keep", &action));
    g_assert_false(action_parse("", &action));
}

/* Everybody who writes waits for a transaction, and the log grows with it: a large list goes in several. */
static void test_remove_large(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    for (int i = 0; i < 40000; i++) {
        g_autofree char *address = g_strdup_printf("m%05d@example.org", i);
        assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, &preferences_unset, &error),
                  error);
    }
    assert_ok(store_commit(fixture->store, &error), error);
    store_free(fixture->store); /* the log goes with the last connection */
    fixture->store = fixture_connect(fixture, &error);
    g_assert_no_error(error);
    assert_ok(list_remove(fixture->store, LIST, &error), error);
    g_assert_null(list_by_id(fixture->store, LIST, &error));
    assert_failed(FAIL_MISSING, error);
    g_autofree char *log = g_strconcat(fixture->path, "-wal", NULL);
    struct stat status;
    g_assert_cmpint(stat(log, &status), ==, 0);
    g_test_message("the log has %ld octets", (long)status.st_size);
    g_assert_cmpint(status.st_size, <, 6 << 20);
}

/* ---- List-Ids across domains ---- */

static void assert_refused(bool done, int code, GError **error)
{
    g_assert_false(done);
    g_assert_error(*error, FAIL, code);
    g_clear_error(error);
}

static List *make(Fixture *fixture, const char *address, GError **error)
{
    return list_create(fixture->store, address, error);
}

/* x@lists.example.com and x.lists@example.com would have one List-Id. */
static void test_ids_across_domains(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    g_autoptr(List) before = make(fixture, "y.news@example.com", &error);
    g_assert_no_error(error);
    assert_refused(domain_create(fixture->store, "news.example.com", NULL, &error), FAIL_NEVER, &error);
    assert_ok(domain_create(fixture->store, "ews.example.com", NULL, &error), error);
    assert_ok(domain_create(fixture->store, "lists.example.com", NULL, &error), error);
    assert_refused(make(fixture, "x.lists@example.com", &error) != NULL, FAIL_NEVER, &error);
    assert_refused(make(fixture, "a.x.lists@example.com", &error) != NULL, FAIL_NEVER, &error);
    assert_refused(list_rename(fixture->store, "y.news.example.com", "Y.Lists@example.com", &error), FAIL_NEVER,
                   &error);
    g_autoptr(List) own = make(fixture, "x@lists.example.com", &error);
    g_assert_no_error(error);
    g_autoptr(List) dotted = make(fixture, "x.listserv@example.com", &error); /* no domain of the site */
    g_assert_no_error(error);
    assert_ok(list_rename(fixture->store, "x.lists.example.com", "z@lists.example.com", &error), error);
    assert_refused(list_rename(fixture->store, "y.news.example.com", "x@lists.example.com", &error), FAIL_EXISTS,
                   &error); /* mail to it goes to z */
    assert_refused(make(fixture, "x@lists.example.com", &error) != NULL, FAIL_EXISTS, &error);
    assert_ok(list_rename(fixture->store, "x.lists.example.com", "x@lists.example.com", &error), error);
}

/* A list of the domain below, which is there first, does not keep the domain above from the site. */
static void test_domain_below_first(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "lists.example.org", NULL, &error), error);
    g_autoptr(List) below = make(fixture, "x@lists.example.org", &error);
    g_assert_no_error(error);
    assert_ok(domain_create(fixture->store, "example.org", NULL, &error), error);
    assert_refused(make(fixture, "x.lists@example.org", &error) != NULL, FAIL_NEVER, &error);
    g_autoptr(List) above = make(fixture, "y.news@example.org", &error);
    g_assert_no_error(error);
    assert_refused(domain_create(fixture->store, "news.example.org", NULL, &error), FAIL_NEVER, &error);
}

/* Check that the next list of that name is not served by the old one's tokens. */
static void test_tokens_go_along(Fixture *fixture, gconstpointer data)
{
    static const struct {
        const char *id, *lists, *domains, *lists_then, *domains_then; /* NULL: the token is gone */
    } cases[] = {
        {"00000001", "talk.example.com", "", NULL, NULL},
        {"00000002", "a.example.com talk.example.com b.example.com", "", "a.example.com b.example.com", ""},
        {"00000003", "talk.example.com", "example.com", "", "example.com"},
        {"00000004", "", "", "", ""},
        {"00000005", "", "gone.example", NULL, NULL},
        {"00000006", "atalk.example.com", "gone.example", "atalk.example.com", ""},
    };
    GError *error = NULL;
    g_autoptr(List) talk = make(fixture, "talk@example.com", &error);
    g_assert_no_error(error);
    assert_ok(domain_create(fixture->store, "gone.example", NULL, &error), error);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        Token token = {.digest = (char *)"d", .name = (char *)"", .verbs = (char *)"",
                       .lists = (char *)cases[at].lists, .domains = (char *)cases[at].domains, .made_at = 1};
        g_strlcpy(token.id, cases[at].id, sizeof token.id);
        assert_ok(token_add(fixture->store, &token, &error), error);
    }
    assert_ok(list_remove(fixture->store, "talk.example.com", &error), error);
    assert_ok(domain_remove(fixture->store, "gone.example", &error), error);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autoptr(Token) left = token_find(fixture->store, cases[at].id, &error);
        if (!cases[at].lists_then) {
            assert_refused(left != NULL, FAIL_MISSING, &error);
            continue;
        }
        g_assert_no_error(error);
        g_assert_cmpstr(left->lists, ==, cases[at].lists_then);
        g_assert_cmpstr(left->domains, ==, cases[at].domains_then);
    }
}

/* A list gets neither the archive of one before it with the same List-Id, nor posts of that one which wait for it. */
static void test_archives_are_not_inherited(Fixture *fixture, gconstpointer data)
{
    static const char *const others[] = {"one@example.com", "two@example.com", "three@example.com"};
    static const char *const names[] = {"talk.example.com", "talk.example.com~2", "talk.example.com~3"};
    GError *error = NULL;
    for (int64_t time = 0; time < 3; time++) {
        int64_t count;
        g_autoptr(List) talk = make(fixture, "talk@example.com", &error);
        g_autoptr(List) other = make(fixture, others[time], &error);
        g_assert_no_error(error);
        g_assert_cmpint(talk->archive, ==, time);
        g_assert_cmpint(other->archive, ==, 0);
        g_autofree char *name = list_archive_name(talk->list_id, talk->archive);
        g_assert_cmpstr(name, ==, names[time]);
        assert_ok(store_begin(fixture->store, &error), error);
        assert_ok(list_remove(fixture->store, "talk.example.com", &error), error);
        store_rollback(fixture->store); /* it was not removed, so it was not left */
        assert_ok(list_archive_removed(fixture->store, "talk.example.com", &count, &error), error);
        g_assert_cmpint(count, ==, time);
        assert_ok(list_remove(fixture->store, "talk.example.com", &error), error);
        assert_ok(list_archive_removed(fixture->store, "talk.example.com", &count, &error), error);
        g_assert_cmpint(count, ==, time + 1);
    }
}

SUITE("list")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/list/domain", test_domain);
    TEST_WITH_LIST("/list/domain-remove", test_domain_remove);
    TEST_WITH_LIST("/list/domain-alias", test_domain_alias);
    TEST_WITH_LIST("/list/create", test_create);
    TEST_WITH_LIST("/list/create-refused", test_create_refused);
    TEST_WITH_LIST("/list/short", test_short);
    TEST_WITH_LIST("/list/short-taken", test_short_taken);
    TEST_WITH_LIST("/list/find", test_find);
    TEST_WITH_LIST("/list/exists", test_exists);
    TEST_WITH_LIST("/list/remove", test_remove);
    TEST_WITH_LIST("/list/remove-large", test_remove_large);
    TEST_WITH_LIST("/list/remove-without-scan", test_remove_without_scan);
    TEST_WITH_LIST("/list/each", test_each);
    TEST_WITH_LIST("/list/count-post", test_count_post);
    TEST_WITH_LIST("/list/message-id", test_message_id);
    TEST_WITH_LIST("/list/number with message-id", test_number_with_message_id);
    g_test_add_func("/list/actions", test_actions);
    TEST_WITH_LIST("/list/ids across domains", test_ids_across_domains);
    TEST_WITH_LIST("/list/ids of a domain below", test_domain_below_first);
    TEST_WITH_LIST("/list/tokens go along", test_tokens_go_along);
    TEST_WITH_LIST("/list/archives are not inherited", test_archives_are_not_inherited);
    return g_test_run();
}
