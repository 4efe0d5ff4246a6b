/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "store/lists/list.h"
#include "store/lists/list_setting.h"
#include "store/store_internal.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"

static char *value_of(Fixture *fixture, const char *name)
{
    GError *error = NULL;
    g_autoptr(List) list = list_by_id(fixture->store, LIST, &error);
    g_assert_no_error(error);
    char *value = list_get(list, name, &error);
    g_assert_no_error(error);
    return value;
}

static void set(Fixture *fixture, const char *name, const char *value, const char *expected)
{
    GError *error = NULL;
    assert_ok(list_set(fixture->store, LIST, name, value, &error), error);
    g_autofree char *found = value_of(fixture, name);
    g_assert_cmpstr(found, ==, expected);
}

/* Refused, naming the setting and what is allowed; nothing changed. */
static void refuse(Fixture *fixture, const char *name, const char *value, const char *allowed)
{
    GError *error = NULL;
    g_autofree char *before = value_of(fixture, name);
    g_assert_false(list_set(fixture->store, LIST, name, value, &error));
    g_assert_nonnull(strstr(error->message, name));
    if (!strstr(error->message, allowed))
        g_error("\"%s\" does not name \"%s\"", error->message, allowed);
    assert_failed(FAIL_NEVER, error);
    g_autofree char *after = value_of(fixture, name);
    g_assert_cmpstr(before, ==, after);
}

static int rows(Fixture *fixture)
{
    g_autoptr(Query) query = query_start(fixture->store, NULL, "SELECT count(*) FROM list_setting", NULL, 0);
    g_assert_cmpint(query_step(query, NULL), ==, STEP_ROW);
    return (int)query_integer(query, 0);
}

static void test_bool(Fixture *fixture, const void *data)
{
    set(fixture, "emergency", "TRUE", "yes");
    set(fixture, "emergency", "0", "no");
    set(fixture, "emergency", "on", "yes");
    refuse(fixture, "emergency", "maybe", "yes, no");
    refuse(fixture, "emergency", "", "yes, no");
}

static void test_integer(Fixture *fixture, const void *data)
{
    set(fixture, "max_message_size", "0", "0");
    set(fixture, "max_message_size", "1000000000", "1000000000");
    refuse(fixture, "max_message_size", "-1", "from 0");
    refuse(fixture, "max_message_size", "1000000001", "to 1000000000");
    refuse(fixture, "max_message_size", "4k", "whole number");
    refuse(fixture, "max_message_size", "", "whole number");
}

static void test_choice(Fixture *fixture, const void *data)
{
    set(fixture, "archive_policy", "Never", "never");
    set(fixture, "reply_goes_to_list", "explicit_header_only", "explicit_header_only");
    refuse(fixture, "archive_policy", "secret", "never, private, public");
    refuse(fixture, "default_member_action", "unset", "hold, reject, discard, accept, defer");
    GError *error = NULL;
    g_autoptr(List) list = list_by_id(fixture->store, LIST, &error);
    g_assert_cmpint(list->settings->archive_policy, ==, ARCHIVE_NEVER);
    g_assert_cmpint(list->settings->reply_goes_to_list, ==, REPLY_EXPLICIT_HEADER_ONLY);
}

static void test_text(Fixture *fixture, const void *data)
{
    set(fixture, "subject_prefix", "", "");
    set(fixture, "subject_prefix", "(x) ", "(x) ");
    set(fixture, "description", "\303\274ber uns", "\303\274ber uns");
    set(fixture, "info", "one\ntwo\n", "one\ntwo\n");
    refuse(fixture, "description", "one\r\nBcc: all", "line ends");
    refuse(fixture, "info", "\033[2J", "control characters");
    refuse(fixture, "info", "\377", "UTF-8");
    set(fixture, "reply_to_address", "a@example.org", "a@example.org");
    refuse(fixture, "reply_to_address", "a, b", "address");
    set(fixture, "reply_to_address", "", "");
    set(fixture, "preferred_language", "pt_BR", "pt_BR");
    set(fixture, "preferred_language", "de-AT", "de-AT");
    set(fixture, "preferred_language", "zh_Hant", "zh_Hant");
    static const char *const unknown[] = {"xx", "d", "den", "", "-", "../de", "de/x", "de_0123456789abcde"};
    for (size_t i = 0; i < G_N_ELEMENTS(unknown); i++)
        refuse(fixture, "preferred_language", unknown[i], "such as en");
}

static void test_words(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    set(fixture, "accept_these_nonmembers", " a@example.org ,b@example.org,\n^.*@example\\.net$\n@other.example.com ",
        "a@example.org,b@example.org,^.*@example\\.net$,@other.example.com");
    g_autoptr(List) list = list_by_id(fixture->store, LIST, &error);
    g_assert_cmpint(g_strv_length(list->settings->accept_these_nonmembers), ==, 4);
    g_assert_cmpint(g_strv_length(list->settings->reject_these_nonmembers), ==, 0);
    set(fixture, "hold_these_nonmembers", "^x{1\\,2}@", "^x{1\\,2}@");
    g_autoptr(List) again = list_by_id(fixture->store, LIST, &error);
    g_assert_cmpint(g_strv_length(again->settings->hold_these_nonmembers), ==, 1);
    g_assert_cmpstr(again->settings->hold_these_nonmembers[0], ==, "^x{1,2}@");
    refuse(fixture, "acceptable_aliases", "nobody", "an address");
    refuse(fixture, "acceptable_aliases", "a@example.org, ^(", "no regular expression");
    set(fixture, "archivers", "mbox, maildir", "mbox,maildir");
    set(fixture, "archivers", "", "");
}

/* Only what differs from the default is kept. */
static void test_reset(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_assert_cmpint(rows(fixture), ==, 0);
    set(fixture, "emergency", "yes", "yes");
    set(fixture, "display_name", "My list", "My list");
    g_assert_cmpint(rows(fixture), ==, 2);
    set(fixture, "emergency", "no", "no");
    g_assert_cmpint(rows(fixture), ==, 1);
    assert_ok(list_reset(fixture->store, LIST, "display_name", &error), error);
    g_assert_cmpint(rows(fixture), ==, 0);
    assert_ok(list_reset(fixture->store, LIST, "display_name", &error), error);
    g_autofree char *name = value_of(fixture, "display_name");
    g_assert_cmpstr(name, ==, "Test");
}

static void test_interval(Fixture *fixture, const void *data)
{
    set(fixture, "bounce_info_stale_after", "2w", "14d");
    set(fixture, "bounce_info_stale_after", "36h", "36h");
    set(fixture, "bounce_info_stale_after", "90", "90s");
    set(fixture, "bounce_info_stale_after", "0", "0");
    static const char *const bad[] = {"", "soon", "-1d", "1 fortnight", "3651d", "99999999999999999d"};
    for (size_t at = 0; at < G_N_ELEMENTS(bad); at++) {
        GError *error = NULL;
        g_assert_false(list_set(fixture->store, LIST, "bounce_info_stale_after", bad[at], &error));
        g_assert_nonnull(strstr(error->message, "bounce_info_stale_after: "));
        g_assert_nonnull(strstr(error->message, "7d"));
        assert_failed(FAIL_NEVER, error);
    }
}

static void test_missing(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_assert_false(list_set(fixture->store, LIST, "colour", "red", &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(list_reset(fixture->store, LIST, "colour", &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(list_set(fixture->store, "none.example.com", "emergency", "yes", &error));
    assert_failed(FAIL_MISSING, error);
    g_autoptr(List) list = list_by_id(fixture->store, LIST, &error);
    g_assert_null(list_get(list, "colour", &error));
    assert_failed(FAIL_MISSING, error);
}

/* Every setting: sorted, explained, its default is accepted as it is given out. */
static void test_table(Fixture *fixture, const void *data)
{
    for (const ListSetting *setting = list_settings; setting->name; setting++) {
        if (setting[1].name)
            g_assert_cmpstr(setting->name, <, setting[1].name);
        g_assert_cmpint(strlen(setting->about), >, 10);
        g_assert_true((setting->type == SETTING_CHOICE) <= (setting->choices != NULL));
        g_autofree char *value = value_of(fixture, setting->name);
        set(fixture, setting->name, value, value);
    }
    g_assert_cmpint(rows(fixture), ==, 0);
}

/* "x0,x1,..." with a format for each; g_free() */
static char *many(const char *begin, const char *end, int count)
{
    GString *text = g_string_new(NULL);
    for (int at = 0; at < count; at++)
        g_string_append_printf(text, "%s%d%s", begin, at, end);
    return g_string_free(text, FALSE);
}

/* As many words, patterns, topics and lines as may be, and one more. */
static void test_bounds(Fixture *fixture, const void *data)
{
    static const struct {
        const char *name, *begin, *end;
        int most;
    } cases[] = {
        {"accept_these_nonmembers", "^x", "\n", LIST_PATTERNS_MAX},
        {"discard_these_nonmembers", "^x", "\n", LIST_PATTERNS_MAX},
        {"reject_these_nonmembers", "@x", ".example.com\n", LIST_PATTERNS_MAX},
        {"acceptable_aliases", "^x", ",", LIST_PATTERNS_MAX},
        {"hold_these_nonmembers", "x", "@example.org\n", LIST_WORDS_MAX},
        {"topics", "t", ": x\n", 100},
        {"bounce_matching_headers", "\nX-Spam: ", "", LIST_PATTERNS_MAX - 1},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        GError *error = NULL;
        g_autofree char *fits = many(cases[at].begin, cases[at].end, cases[at].most);
        g_autofree char *too_many = many(cases[at].begin, cases[at].end, cases[at].most + 1);
        assert_ok(list_set(fixture->store, LIST, cases[at].name, fits, &error), error);
        g_autofree char *before = value_of(fixture, cases[at].name);
        g_assert_false(list_set(fixture->store, LIST, cases[at].name, too_many, &error));
        g_assert_nonnull(strstr(error->message, cases[at].name));
        assert_failed(FAIL_NEVER, error);
        g_autofree char *after = value_of(fixture, cases[at].name);
        g_assert_cmpstr(after, ==, before);
    }
}

/* Each text, line and word has a greatest length, which the refusal names; a longer one that is there still counts. */
static void test_lengths(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    unsigned tried = 0;
    for (const ListSetting *setting = list_settings; setting->name; setting++) {
        size_t longest = list_setting_longest(setting);
        g_autofree char *many = g_strnfill(longest + 1, 'a'), *allowed = g_strdup_printf("up to %zu", longest);
        if (longest == 0)
            continue;
        refuse(fixture, setting->name, many, allowed);
        tried++;
    }
    g_assert_cmpuint(tried, >, 20);
    g_autofree char *most = g_strnfill(LIST_TEXT_MAX, 'a'), *old = g_strnfill(3 * LIST_TEXT_MAX, 'o');
    set(fixture, "info", most, most);
    assert_ok(query_run(fixture->store, &error, NULL, "UPDATE list_setting SET value = $1 WHERE name = 'info'",
                        TEXT(old)), error);
    g_autofree char *loaded = value_of(fixture, "info");
    g_assert_cmpstr(loaded, ==, old);
}

/* A row that this program does not know is no reason to lose the list. */
static void test_unknown_row(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(list_set(fixture->store, LIST, "emergency", "yes", &error), error);
    assert_ok(query_all(fixture->store, &error, NULL,
                        "INSERT INTO list_setting (list, name, value) SELECT key, 'future', 'x' FROM list", NULL, 0),
              error);
    g_autofree char *value = value_of(fixture, "emergency");
    g_assert_cmpstr(value, ==, "yes");
}

SUITE("setting")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/setting/bool", test_bool);
    TEST_WITH_LIST("/setting/integer", test_integer);
    TEST_WITH_LIST("/setting/interval", test_interval);
    TEST_WITH_LIST("/setting/choice", test_choice);
    TEST_WITH_LIST("/setting/text", test_text);
    TEST_WITH_LIST("/setting/words", test_words);
    TEST_WITH_LIST("/setting/bounds", test_bounds);
    TEST_WITH_LIST("/setting/reset", test_reset);
    TEST_WITH_LIST("/setting/missing", test_missing);
    TEST_WITH_LIST("/setting/table", test_table);
    TEST_WITH_LIST("/setting/lengths", test_lengths);
    TEST_WITH_LIST("/setting/unknown-row", test_unknown_row);
    return g_test_run();
}
