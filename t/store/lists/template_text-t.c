/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/template_text.h"

#include <string.h>

#include "store/store.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define NAME "list:user:notice:welcome"

static void put(Fixture *fixture, const char *place, const char *language, const char *uri, const char *text)
{
    GError *error = NULL;
    const TemplateText row = {.name = (char *)NAME, .place = (char *)place, .language = (char *)language,
                              .uri = (char *)uri, .username = (char *)"", .password = (char *)"",
                              .text = (char *)text, .fault = (char *)""};
    assert_ok(template_text_put(fixture->store, &row, &error), error);
}

/* The text for the list in a language; expected NULL: there is none. */
static void found(Fixture *fixture, const char *language, const char *expected)
{
    GError *error = NULL;
    TemplateText *row;
    g_autoptr(List) list = list_by_id(fixture->store, LIST, &error);
    assert_ok(template_text_find(fixture->store, NAME, list, language, &row, &error), error);
    g_autoptr(TemplateText) own = row;
    g_assert_cmpstr(own ? own->text : NULL, ==, expected);
}

/* The list, its domain, the site; each first in the language, then in that without its place, then in any. */
static void test_order(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autofree char *domain = template_text_place("example.com"), *other = template_text_place("example.org");
    found(fixture, "de", NULL);
    put(fixture, other, "", "", "another domain");
    put(fixture, "", "", "", "site");
    found(fixture, NULL, "site");
    put(fixture, domain, "de", "", "domain de");
    found(fixture, "de-AT", "domain de");
    found(fixture, "fr", "site");
    put(fixture, LIST, "", "", "list");
    found(fixture, "de", "list");
    put(fixture, LIST, "de", "", "list de");
    put(fixture, LIST, "de_AT", "", "list de_AT");
    found(fixture, "de-AT", "list de_AT");
    found(fixture, "de_CH", "list de");
    found(fixture, "fr", "list");
    put(fixture, LIST, "de", "", "new"); /* in the place of the old one */
    found(fixture, "de", "new");
    assert_ok(template_text_remove(fixture->store, LIST, NAME, "de", &error), error);
    found(fixture, "de", "list");
    assert_ok(template_text_remove(fixture->store, LIST, NAME, NULL, &error), error);
    found(fixture, "de", "domain de");
    g_assert_false(template_text_remove(fixture->store, LIST, NAME, NULL, &error));
    assert_failed(FAIL_MISSING, error);
}

static void assert_stale(Fixture *fixture, int64_t before, int64_t retry, const char *expected)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) rows = template_text_stale(fixture->store, before, retry, &error);
    g_assert_no_error(error);
    g_autoptr(GString) all = g_string_new(NULL);
    for (unsigned at = 0; at < rows->len; at++)
        g_string_append_printf(all, "%s;", ((const TemplateText *)rows->pdata[at])->uri);
    g_assert_cmpstr(all->str, ==, expected);
}

static void fetched(Fixture *fixture, const char *uri, const char *text, int64_t at, const char *fault)
{
    GError *error = NULL;
    const TemplateText row = {.name = (char *)NAME, .place = (char *)LIST, .language = (char *)"", .uri = (char *)uri,
                              .text = (char *)text, .fetched_at = at, .fault = (char *)fault};
    assert_ok(template_text_fetched(fixture->store, &row, &error), error);
}

/* A text from a URI counts once it was fetched, and goes on counting while it cannot be had again. */
static void test_fetched(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t faults;
    put(fixture, "", "", "mailman:///welcome.txt", NULL);
    put(fixture, LIST, "", "https://a.example/x", NULL);
    assert_stale(fixture, 10, 10, "https://a.example/x;"); /* a file of the installation is not fetched */
    fetched(fixture, "https://a.example/x", "first", 100, "");
    found(fixture, NULL, "first");
    int64_t version = store_version(fixture->store);
    fetched(fixture, "https://a.example/x", "first", 100, "$nonsense is not filled in");
    fetched(fixture, "https://a.example/x", "first", 100, "");
    g_assert_cmpint(store_version(fixture->store), ==, version); /* nobody need read anything again */
    assert_stale(fixture, 100, 100, "");
    assert_stale(fixture, 101, 0, "https://a.example/x;");
    fetched(fixture, "https://a.example/x", "first", 100 + 86400 * INT64_C(1000000), ""); /* the clock was ahead */
    assert_stale(fixture, 90, 100, "");
    assert_stale(fixture, 90, 99, "https://a.example/x;");
    fetched(fixture, "https://a.example/x", NULL, 200, "answered 404");
    g_assert_cmpint(store_version(fixture->store), ==, version);
    found(fixture, NULL, "first");
    assert_stale(fixture, 150, 200, "");
    assert_stale(fixture, 150, 201, "https://a.example/x;"); /* sooner, since it failed */
    assert_ok(template_text_count_faults(fixture->store, &faults, &error), error);
    g_assert_cmpint(faults, ==, 1);
    put(fixture, LIST, "", "https://b.example/y", NULL); /* while that one was being fetched */
    fetched(fixture, "https://a.example/x", "late", 300, "");
    assert_stale(fixture, 10, 10, "https://b.example/y;");
}

/* Check that a text that was set for a list or a domain goes with it. */
static void test_goes(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autofree char *domain = template_text_place("example.com");
    put(fixture, LIST, "", "", "list");
    put(fixture, domain, "", "", "domain");
    put(fixture, "", "", "", "site");
    assert_ok(list_remove(fixture->store, LIST, &error), error);
    assert_ok(domain_remove(fixture->store, "example.com", &error), error);
    g_autoptr(GPtrArray) left = template_text_all(fixture->store, NULL, &error);
    g_assert_cmpuint(left->len, ==, 1);
    g_assert_cmpstr(((const TemplateText *)left->pdata[0])->text, ==, "site");
}

SUITE("template_text")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/template_text/which one counts", test_order);
    TEST_WITH_LIST("/template_text/fetched from a URI", test_fetched);
    TEST_WITH_LIST("/template_text/goes with its list and domain", test_goes);
    return g_test_run();
}
