/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Rows of header matches: what is made of the parameters, and which of them a refusal names. */
#include <string.h>

#include "switchboard/meta.h"
#include "t/runners/rest/restframe.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define ROWS "/3.1/lists/ant.example.com/header-matches"

/* The status; *answer is the object that came, or NULL. */
static int ask(const char *verb, const char *path, const char *parameters, json_t **answer)
{
    HttpCall call = {.verb = verb, .path = path, .credentials = "Basic YTpi", .query = parameters};
    return rest_frame_ask(&call, answer);
}

/* "x-spam:^yes:hold:t x-other:..": the rows in their order; g_free(). */
static char *rows(void)
{
    g_autoptr(json_t) all = NULL;
    size_t index;
    json_t *row;
    GString *text = g_string_new(NULL);
    g_assert_cmpint(ask("GET", ROWS, NULL, &all), ==, 200);
    json_array_foreach(json_object_get(all, "entries"), index, row) {
        g_assert_cmpint(json_integer_value(json_object_get(row, "position")), ==, (int)index);
        const json_t *action = json_object_get(row, "action"), *tag = json_object_get(row, "tag");
        g_string_append_printf(text, "%s%s:%s:%s:%s", index ? " " : "",
                               json_string_value(json_object_get(row, "header")),
                               json_string_value(json_object_get(row, "pattern")),
                               action ? json_string_value(action) : "", tag ? json_string_value(tag) : "");
    }
    return g_string_free(text, FALSE);
}

/* One after the other. */
static const struct {
    const char *verb, *place, *parameters;
    int status;
    const char *text; /* of the rows when it was done; of a refusal, what its description names */
} cases[] = {
    {"POST", "", "header=X-Spam&pattern=%5Eyes", 201, "x-spam:^yes::"},
    {"POST", "", "header=x-spam&pattern=%5Eyes", 400, "already exists"},
    {"POST", "", "header=X-Other&pattern=z&action=Hold&tag=t", 201, "x-spam:^yes:: x-other:z:hold:t"},
    {"POST", "", "header=X-Third&pattern=z&action=&tag=", 201, "x-spam:^yes:: x-other:z:hold:t x-third:z::"},
    {"POST", "", "header=&pattern=z", 400, "\"header\""},
    {"POST", "", "header=X+Y&pattern=z", 400, "\"header\""},
    {"POST", "", "header=X%3A&pattern=z", 400, "\"header\""},
    {"POST", "", "header=%C3%A9&pattern=z", 400, "\"header\""},
    {"POST", "", "header=X-Bad&pattern=%5B", 400, "\"pattern\""},
    {"POST", "", "header=X-Bad&pattern=z&action=burn", 400, "\"action\""},
    {"POST", "", "header=X-Bad", 400, "pattern"},
    {"POST", "", "header=X-Bad&pattern=z&position=0", 400, "position"},
    {"PATCH", "/1", "action=REJECT", 204, "x-spam:^yes:: x-other:z:reject:t x-third:z::"},
    {"PATCH", "/1", "header=Y-Other&action=", 204, "x-spam:^yes:: y-other:z::t x-third:z::"},
    {"PATCH", "/1", "header=", 400, "\"header\""},
    {"PATCH", "/1", "pattern=(", 400, "\"pattern\""},
    {"PATCH", "/1", "header=X-Spam&pattern=%5Eyes", 400, "already exists"},
    {"PATCH", "/1", "position=3", 400, "cannot be 3"},
    {"PATCH", "/1", "position=-1", 400, "\"position\""},
    {"PATCH", "/2", "position=0", 204, "x-third:z:: x-spam:^yes:: y-other:z::t"},
    {"PATCH", "/0", "", 204, "x-third:z:: x-spam:^yes:: y-other:z::t"},
    {"PATCH", "/9", "tag=x", 404, "9"},
    {"PUT", "/0", "header=X-Put&pattern=p&action=discard&tag=u&position=1", 204,
     "x-spam:^yes:: x-put:p:discard:u y-other:z::t"},
    {"PUT", "/0", "header=X-Put", 400, "pattern"},
    {"DELETE", "/1", "tag=u", 400, "tag"},
    {"DELETE", "/1", NULL, 204, "x-spam:^yes:: y-other:z::t"},
    {"DELETE", "/x", NULL, 404, "x"},
    {"DELETE", "/-1", NULL, 404, "-1"},
    {"DELETE", "", NULL, 204, ""},
};

static void test_rows(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *path = g_strconcat(ROWS, cases[at].place, NULL), *before = rows();
        g_autoptr(json_t) answer = NULL;
        g_test_message("%s %s %s", cases[at].verb, path, cases[at].parameters ? cases[at].parameters : "");
        g_assert_cmpint(ask(cases[at].verb, path, cases[at].parameters, &answer), ==, cases[at].status);
        g_autofree char *after = rows();
        g_assert_cmpstr(after, ==, cases[at].status < 400 ? cases[at].text : before);
        if (cases[at].status >= 400)
            g_assert_nonnull(strstr(json_string_value(json_object_get(answer, "description")), cases[at].text));
    }
}

SUITE("rest/header_matches")
{
    GError *error = NULL;
    g_test_init(&argc, &argv, NULL);
    rest_frame_open("");
    Store *store = rest_frame_store();
    assert_ok(domain_create(store, "example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(store, "ant@example.com", &error);
    g_assert_no_error(error);
    store_free(store);
    g_test_add_func("/rest/header_matches/rows", test_rows);
    int code = g_test_run();
    rest_frame_close();
    return code;
}
