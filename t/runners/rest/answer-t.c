/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Answers: ids in both versions, objects with their etag, collections, errors. */
#include <string.h>

#include "base/clock.h"
#include "switchboard/meta.h"
#include "t/runners/rest/restframe.h"
#include "t/suite.h"

#define ROOT "http://localhost/3.1/"

/* ---- values ---- */

/* 128 bits: 32 hex digits in version 3.1, a decimal number in 3.0. */
static void test_ids(void)
{
    static const struct {
        const char *id, *number;
    } cases[] = {
        {"00000000000000000000000000000000", "0"},
        {"0000000000000000000000000000000a", "10"},
        {"019ab5ca1f0c73e28000000000000001", "2132528841835457826070567228318679041"},
        {"4b3b4ca85a86c47a098a223fffffffff", "99999999999999999999999999999999999999"},
        {"4b3b4ca85a86c47a098a224000000000", "100000000000000000000000000000000000000"},
        {"ffffffffffffffffffffffffffffffff", "340282366920938463463374607431768211455"},
    };
    const Call now = {0}, old = {.old = true};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        char id[STORE_ID_SIZE];
        g_autofree char *same = id_text(&now, cases[at].id), *number = id_text(&old, cases[at].id);
        g_autofree char *upper = g_ascii_strup(cases[at].id, -1);
        g_assert_cmpstr(same, ==, cases[at].id);
        g_assert_cmpstr(number, ==, cases[at].number);
        g_assert_true(id_parse(&now, upper, id));
        g_assert_cmpstr(id, ==, cases[at].id);
        g_autoptr(GString) dashed = g_string_new(upper);
        for (gssize place = 8; place <= 23; place += 5)
            g_string_insert_c(dashed, place, '-');
        g_assert_true(id_parse(&now, dashed->str, id));
        g_assert_cmpstr(id, ==, cases[at].id);
        g_assert_true(id_parse(&old, number, id));
        g_assert_cmpstr(id, ==, cases[at].id);
    }
}

static void test_no_ids(void)
{
    static const struct {
        bool old;
        const char *text;
    } cases[] = {
        {false, ""},
        {false, "a"},
        {false, "019ab5ca1f0c73e2800000000000000"},
        {false, "019ab5ca1f0c73e280000000000000011"},
        {false, "019ab5ca1f0c73e2800000000000000g"},
        {false, "019ab5ca-1f0c-73e2-8000-00000000"},
        {false, "anne@example.org"},
        {true, ""},
        {true, "-1"},
        {true, "+1"},
        {true, " 1"},
        {true, "1a"},
        {true, "019ab5ca1f0c73e28000000000000001"},
        {true, "340282366920938463463374607431768211456"}, /* one more than there are */
        {true, "999999999999999999999999999999999999999"},
        {true, "1000000000000000000000000000000000000000"},
        {true, "0000000000000000000000000000000000000000000000000000000000000000000000000000000001x"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        const Call call = {.old = cases[at].old};
        char id[STORE_ID_SIZE];
        g_test_message("%s", cases[at].text);
        g_assert_false(id_parse(&call, cases[at].text, id));
    }
}

static void test_values(void)
{
    static const struct {
        int64_t time;
        const char *text;
    } times[] = {{0, "1970-01-01T00:00:00"},
                 {1763835600 * CLOCK_SECOND, "2025-11-22T18:20:00"},
                 {1763835600 * CLOCK_SECOND + 123, "2025-11-22T18:20:00.000123"}};
    for (size_t at = 0; at < G_N_ELEMENTS(times); at++) {
        g_autoptr(json_t) value = json_time(times[at].time);
        g_assert_cmpstr(json_string_value(value), ==, times[at].text);
    }
    g_autoptr(json_t) good = json_words("\xc3\xa9"), bad = json_words("a\xff");
    g_assert_cmpstr(json_string_value(good), ==, "\xc3\xa9");
    g_assert_cmpstr(json_string_value(bad), ==, "a\xef\xbf\xbd");
    g_autofree char *plain = segment("a+b@x.example"), *odd = segment("a/b?c#d%e \xc3\xa9");
    g_assert_cmpstr(odd, ==, "a%2Fb%3Fc%23d%25e%20\xc3\xa9");
    g_autofree char *back = g_uri_unescape_string(plain, NULL);
    g_assert_cmpstr(back, ==, "a+b@x.example");
}

/* ---- answers ---- */

/* Answer as answer_json() does with {"a": 1} for this verb and If-None-Match. */
static void answer_object(HttpCall *message, int status, const char *verb, const char *tag)
{
    *message = (HttpCall){.verb = verb, .path = "/3.1/x", .tag = tag};
    Call call = {.http = message, .root = (char *)ROOT, .route = &open_route, .by = BY_SITE};
    answer_json(&call, status, json_pack("{si}", "a", 1));
    g_assert_cmpuint(message->answers, ==, 1);
    g_assert_true(call.answered);
}

static void test_etag(void)
{
    HttpCall first, other;
    g_autoptr(json_t) object = NULL;
    answer_object(&first, 200, "GET", NULL);
    g_autofree char *tag = http_call_field(&first, "ETag");
    g_assert_nonnull(tag);
    g_assert_cmpstr(first.media, ==, "application/json");
    g_assert_cmpstr(http_call_word(&first, "http_etag", &object), ==, tag);
    g_autofree char *weak = g_strconcat("W/", tag, NULL), *several = g_strconcat("\"x\", ", tag, ", \"y\"", NULL);
    const struct {
        const char *verb, *tag;
        int made, status;
    } cases[] = {
        {"GET", tag, 200, 304},     {"HEAD", tag, 200, 304},  {"GET", weak, 200, 304}, {"GET", several, 200, 304},
        {"GET", "*", 200, 304},     {"GET", "\"x\"", 200, 200}, {"GET", "", 200, 200},   {"POST", tag, 200, 200},
        {"PATCH", "*", 200, 200},   {"GET", tag, 202, 202},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_test_message("%s %s", cases[at].verb, cases[at].tag);
        answer_object(&other, cases[at].made, cases[at].verb, cases[at].tag);
        g_assert_cmpint(other.status, ==, cases[at].status);
        if (cases[at].status == 304)
            g_assert_null(other.media);
        else
            g_assert_cmpstr(other.text->str, ==, first.text->str);
        http_call_clear(&other);
    }
    http_call_clear(&first);
}

static void test_collections(void)
{
    static const struct {
        const char *entries;
        int64_t total, start;
        const char *text; /* what is there besides etags */
    } cases[] = {
        {"[]", 0, 0, "{\"start\": 0, \"total_size\": 0}"},
        {"[]", 5000000000, 7, "{\"start\": 7, \"total_size\": 5000000000}"},
        {"[{}]", 1, 0, "{\"start\": 0, \"total_size\": 1, \"entries\": [{}]}"},
        {"[{\"a\": 1}, {\"a\": \"\\\"}\"}]", 9, 2,
         "{\"start\": 2, \"total_size\": 9, \"entries\": [{\"a\": 1}, {\"a\": \"\\\"}\"}]}"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        HttpCall message = {.verb = "GET", .path = "/3.1/x"};
        Call call = {.http = &message, .root = (char *)ROOT, .route = &open_route, .by = BY_SITE};
        size_t index;
        json_t *entry;
        answer_collection(&call, json_loads(cases[at].entries, 0, NULL), cases[at].total, cases[at].start);
        g_autoptr(json_t) object = json_loads(message.text->str, 0, NULL);
        g_assert_nonnull(json_object_get(object, "http_etag"));
        json_object_del(object, "http_etag");
        json_array_foreach(json_object_get(object, "entries"), index, entry) {
            g_assert_nonnull(json_object_get(entry, "http_etag"));
            json_object_del(entry, "http_etag");
        }
        g_autoptr(json_t) wanted = json_loads(cases[at].text, 0, NULL);
        g_assert_true(json_equal(object, wanted));
        http_call_clear(&message);
    }
}

/* Ids are numbers in version 3.0, and nothing else that looks like one. */
static void test_old_ids(void)
{
    HttpCall message = {.verb = "GET", .path = "/3.0/x"};
    Call call = {.http = &message, .root = (char *)ROOT, .route = &open_route, .by = BY_SITE, .old = true};
    answer_json(&call, 200, json_pack("{ss ss ss}", "user_id", "340282366920938463463374607431768211455", "list_id",
                                      "12", "display_name", "\"member_id\": \"34\""));
    g_assert_nonnull(strstr(message.text->str, "\"user_id\": 340282366920938463463374607431768211455"));
    g_assert_nonnull(strstr(message.text->str, "\"list_id\": \"12\""));
    g_assert_nonnull(strstr(message.text->str, "\"display_name\": \"\\\"member_id\\\": \\\"34\\\"\""));
    http_call_clear(&message);
}

static void test_created(void)
{
    HttpCall message = {.verb = "POST", .path = "/3.1/lists"};
    Call call = {.http = &message, .root = (char *)ROOT, .route = &open_route, .by = BY_SITE};
    answer_created(&call, "lists/%s", "ant.example.com");
    g_autofree char *location = http_call_field(&message, "Location");
    g_assert_cmpint(message.status, ==, 201);
    g_assert_cmpstr(location, ==, ROOT "lists/ant.example.com");
    g_assert_cmpuint(message.text->len, ==, 0);
    http_call_clear(&message);
}

/* The client's own text is in it, however long it is and whatever its bytes are. */
static void test_refusals(void)
{
    g_autofree char *letters = g_strnfill(20000, 'x');
    g_autoptr(GString) accents = g_string_new("x"); /* so that the end is in the middle of a character */
    for (unsigned at = 0; at < 10000; at++)
        g_string_append(accents, "\xc3\xa9");
    const char *const texts[] = {"why", "\"quotes\" \\ and\nlines", "\xff\xfe", letters, accents->str};
    for (size_t at = 0; at < G_N_ELEMENTS(texts); at++) {
        HttpCall message = {.verb = "POST", .path = "/3.1/x"};
        Call call = {.http = &message, .root = (char *)ROOT, .route = &open_route, .by = BY_SITE};
        g_autoptr(json_t) object = NULL;
        answer_refusal(&call, 409, "%s", texts[at]);
        const char *description = http_call_word(&message, "description", &object);
        g_assert_cmpint(message.status, ==, 409);
        g_assert_nonnull(description);
        g_assert_cmpuint(strlen(description), <, 10000);
        g_assert_true(g_str_has_prefix(json_string_value(json_object_get(object, "title")), "409 "));
        if (at < 2)
            g_assert_cmpstr(description, ==, texts[at]);
        http_call_clear(&message);
    }
}

SUITE("rest/answer")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rest/answer/ids", test_ids);
    g_test_add_func("/rest/answer/no ids", test_no_ids);
    g_test_add_func("/rest/answer/values", test_values);
    g_test_add_func("/rest/answer/etag", test_etag);
    g_test_add_func("/rest/answer/collections", test_collections);
    g_test_add_func("/rest/answer/ids of version 3.0", test_old_ids);
    g_test_add_func("/rest/answer/created", test_created);
    g_test_add_func("/rest/answer/refusals", test_refusals);
    return g_test_run();
}
