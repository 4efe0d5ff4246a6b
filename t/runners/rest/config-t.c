/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The settings of a list, whatever is sent for them: a value is refused by name, or kept and can be sent back. */
#include <stdlib.h>
#include <string.h>

#include "switchboard/meta.h"
#include "t/runners/rest/restframe.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define CONFIG "/3.1/lists/ant.example.com/config"

/* Send the JSON (NULL: no body; taken); the status. *answer (may be NULL) is the object that came, or NULL. */
static int ask(const char *verb, const char *path, json_t *sent, json_t **answer)
{
    char *body = sent ? json_dumps(sent, 0) : NULL;
    HttpCall call = {.verb = verb, .path = path, .credentials = "Basic YTpi", .type = "application/json", .body = body,
                     .length = body ? strlen(body) : 0};
    int status = rest_frame_ask(&call, answer);
    if (answer)
        json_object_del(*answer, "http_etag");
    free(body);
    json_decref(sent);
    return status;
}

static json_t *config(void)
{
    json_t *all = NULL;
    g_assert_cmpint(ask("GET", CONFIG, NULL, &all), ==, 200);
    return all;
}

/* The value of a setting, a new reference. */
static json_t *value_of(const char *name)
{
    g_autofree char *path = g_strconcat(CONFIG "/", name, NULL);
    g_autoptr(json_t) one = NULL;
    g_assert_cmpint(ask("GET", path, NULL, &one), ==, 200);
    return json_incref(json_object_get(one, name));
}

static int patch(const char *name, json_t *value, json_t **answer)
{
    json_t *object = json_object();
    json_object_set(object, name, value);
    return ask("PATCH", CONFIG, object, answer);
}

/* Check that each setting that GET shows can be put, and that no setting is another for it. */
static void test_put_back(void)
{
    g_autoptr(json_t) before = config(), after = NULL, sent = json_object();
    const char *name;
    json_t *value;
    unsigned writable = 0, fixed = 0;
    json_object_foreach(before, name, value) {
        if (list_setting_find(name, NULL)) {
            json_object_set(sent, name, value);
            writable++;
        } else {
            g_assert_cmpint(patch(name, value, NULL), ==, 400);
            fixed++;
        }
    }
    g_assert_cmpuint(writable, ==, 75); /* Mailman's */
    g_assert_cmpuint(fixed, ==, 17);
    g_assert_cmpint(ask("PUT", CONFIG, json_incref(sent), NULL), ==, 204);
    after = config();
    g_assert_true(json_equal(before, after));
    json_object_del(sent, "info");
    g_assert_cmpint(ask("PUT", CONFIG, json_incref(sent), NULL), ==, 400);
}

/* Each case has the JSON that is sent for a setting, and its value then; NULL: it is refused by name, and nothing has
 * changed. */
static const struct {
    const char *name, *sent, *kept;
} cases[] = {
    {"advertised", "false", "false"},
    {"advertised", "\"Yes\"", "true"},
    {"advertised", "0", "false"},
    {"advertised", "[\"on\"]", "true"}, /* one value in a list is that value */
    {"advertised", "[true, true]", NULL},
    {"advertised", "\"Enabled\"", "true"},
    {"advertised", "\"disable\"", "false"},
    {"advertised", "2", NULL},
    {"advertised", "null", NULL},
    {"advertised", "\"\"", NULL},
    {"advertised", "{}", NULL},
    {"archive_policy", "\"never\"", "\"never\""},
    {"archive_policy", "\"secret\"", NULL},
    {"archive_policy", "null", NULL},
    {"archive_policy", "[\"never\", \"public\"]", NULL},
    {"description", "\"\\\"a, b\\\\,c\\\\\"", "\"\\\"a, b\\\\,c\\\\\""},
    {"description", "7", "\"7\""},
    {"description", "null", "\"\""},
    {"description", "[]", "\"\""},
    {"description", "[\"a\", \"b\"]", NULL},
    {"description", "{\"a\": 1}", NULL},
    {"description", "\"a\\nb\"", NULL},
    {"description", "\"a\\rb\"", NULL},
    {"description", "\"\\u0001\"", NULL},
    {"info", "\"a\\nb\\n\"", "\"a\\nb\\n\""},
    {"info", "\"a\\u001bb\"", NULL},
    {"max_message_size", "7", "7"},
    {"max_message_size", "\"8\"", "8"},
    {"max_message_size", "9.0", "9"},
    {"max_message_size", "9.5", NULL},
    {"max_message_size", "-1", NULL},
    {"max_message_size", "1e300", NULL},
    {"max_message_size", "9223372036854775807", NULL}, /* in kilobytes it is too much */
    {"max_message_size", "\"\"", NULL},
    {"max_message_size", "true", NULL},
    {"digest_size_threshold", "31", "31.0"}, /* a real number in Mailman */
    {"digest_size_threshold", "30.25", "31.0"},
    {"digest_size_threshold", "\"0.5\"", "1.0"}, /* not 0, which is no limit */
    {"digest_size_threshold", "\"12.x\"", NULL},
    {"digest_size_threshold", "\"1.2.3\"", NULL},
    {"autoresponse_grace_period", "\"12h\"", "\"12h\""},
    {"autoresponse_grace_period", "\"1d12h30m5s\"", "\"131405s\""},
    {"autoresponse_grace_period", "\"1w2d\"", "\"9d\""},
    {"autoresponse_grace_period", "\"1.5d\"", "\"36h\""},
    {"autoresponse_grace_period", "\"1d43200.0s\"", "\"36h\""},
    {"autoresponse_grace_period", "\"0d\"", "\"0d\""},
    {"autoresponse_grace_period", "\"2d1w\"", NULL},
    {"autoresponse_grace_period", "\"1d1d\"", NULL},
    {"autoresponse_grace_period", "\"1.5.5d\"", NULL},
    {"autoresponse_grace_period", "\".5d\"", NULL},
    {"autoresponse_grace_period", "\"1d2\"", NULL},
    {"autoresponse_grace_period", "\"d\"", NULL},
    {"autoresponse_grace_period", "\"-1d\"", NULL},
    {"autoresponse_grace_period", "\"99999999999d\"", NULL},
    {"autoresponse_grace_period", "\"soon\"", NULL},
    {"preferred_language", "\"fr\"", "\"fr\""},
    {"preferred_language", "\"../fr\"", NULL},
    {"posting_pipeline", "\"nope\"", NULL},
    {"reply_to_address", "\"a@example.com\"", "\"a@example.com\""},
    {"reply_to_address", "\"a@\"", NULL},
    {"moderator_password", "null", "null"},
    /* lists of words */
    {"acceptable_aliases", "[\"^a{1,2}@b\", \"d@example.com\"]", "[\"^a{1,2}@b\", \"d@example.com\"]"},
    {"acceptable_aliases", "\"e@example.com\"", "[\"e@example.com\"]"},
    {"acceptable_aliases", "[]", "[]"},
    {"acceptable_aliases", "[\"x\"]", NULL},
    {"acceptable_aliases", "[\"^a[\"]", NULL},
    {"acceptable_aliases", "[{}]", NULL},
    {"filter_types", "[\"a,b\", \"c\", \"\", \" d \"]", "[\"a,b\", \"c\", \"d\"]"},
    {"filter_types", "[\"a\\\\,b\", \"\\\\.c\"]", "[\"a\\\\,b\", \"\\\\.c\"]"},
    {"filter_types", "\"a\\nb\"", "[\"a\", \"b\"]"}, /* a field of a page with several lines */
    {"filter_types", "[\"a\\\\\", \"b\"]", NULL}, /* its end would make the comma behind it a part of the word */
    {"filter_types", "[\"b\", \"a\\\\\"]", NULL},
    {"filter_types", "[\"a\\tb\"]", NULL},
    /* what is none */
    {"fqdn_listname", "\"x@example.com\"", NULL},
    {"post_id", "1", NULL},
    {"nope", "1", NULL},
};

/* The setting is `wanted`, and can be sent back as it is shown. */
static void assert_kept(const char *name, const char *wanted)
{
    g_autoptr(json_t) kept = value_of(name), again = NULL, value = json_loads(wanted, JSON_DECODE_ANY, NULL);
    g_assert_true(json_equal(kept, value));
    g_assert_cmpint(patch(name, kept, NULL), ==, 204);
    again = value_of(name);
    g_assert_true(json_equal(kept, again));
}

static void assert_refused(const char *name, const json_t *before, const json_t *answer)
{
    const char *description = json_string_value(json_object_get(answer, "description"));
    g_autoptr(json_t) after = config();
    g_assert_nonnull(description);
    g_assert_nonnull(strstr(description, name));
    g_assert_true(json_equal(before, after));
}

static void test_values(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autoptr(json_t) before = config(), answer = NULL;
        g_autoptr(json_t) value = json_loads(cases[at].sent, JSON_DECODE_ANY, NULL);
        g_assert_nonnull(value);
        g_test_message("%s: %s", cases[at].name, cases[at].sent);
        g_assert_cmpint(patch(cases[at].name, value, &answer), ==, cases[at].kept ? 204 : 400);
        if (cases[at].kept)
            assert_kept(cases[at].name, cases[at].kept);
        else
            assert_refused(cases[at].name, before, answer);
    }
}

/* All or nothing: one wrong value among right ones, and each wrong one is named. */
static void test_several(void)
{
    g_autoptr(json_t) before = config(), after = NULL, answer = NULL;
    json_t *sent = json_pack("{ss si ss}", "description", "new", "max_message_size", -1, "archive_policy", "secret");
    g_assert_cmpint(ask("PATCH", CONFIG, sent, &answer), ==, 400);
    const char *description = json_string_value(json_object_get(answer, "description"));
    g_assert_nonnull(strstr(description, "\"max_message_size\""));
    g_assert_nonnull(strstr(description, "\"archive_policy\""));
    after = config();
    g_assert_true(json_equal(before, after));
    g_assert_cmpint(ask("PATCH", CONFIG, NULL, NULL), ==, 204); /* nothing is to be changed */
}

static void open_all(void)
{
    GError *error = NULL;
    rest_frame_open("");
    Store *store = rest_frame_store();
    assert_ok(domain_create(store, "example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(store, "ant@example.com", &error);
    g_assert_no_error(error);
    store_free(store);
}

SUITE("rest/config")
{
    g_test_init(&argc, &argv, NULL);
    open_all();
    g_test_add_func("/rest/config/put back", test_put_back);
    g_test_add_func("/rest/config/values", test_values);
    g_test_add_func("/rest/config/several", test_several);
    int code = g_test_run();
    rest_frame_close();
    return code;
}
