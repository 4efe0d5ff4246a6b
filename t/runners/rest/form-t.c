/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The parameters of a call: what is read of a query, a form and a JSON object, and what is refused. */
#include <string.h>

#include "switchboard/meta.h"
#include "t/runners/rest/restframe.h"
#include "t/suite.h"

#define FORM "application/x-www-form-urlencoded"
#define JSON "application/json"
#define BODY(text) .body = text, .length = sizeof text - 1
#define MEGABYTE (1024 * 1024)

/* "a=[1][2] b=[]": the names in their order, each with its values. */
static char *shown(const Form *form)
{
    GString *text = g_string_new(NULL);
    for (guint at = 0; at < form->names->len; at++) {
        const char *name = form->names->pdata[at];
        const GPtrArray *values = g_hash_table_lookup(form->values, name);
        g_string_append_printf(text, "%s%s=", at > 0 ? " " : "", name);
        for (guint i = 0; i < values->len; i++)
            g_string_append_printf(text, "[%s]", (const char *)values->pdata[i]);
    }
    return g_string_free(text, FALSE);
}

/* The call was refused once, with this status and an object that names what is wrong. */
static void assert_refused(const HttpCall *message, int status, const char *names)
{
    g_autoptr(json_t) object = NULL;
    g_assert_cmpuint(message->answers, ==, 1);
    g_assert_cmpint(message->status, ==, status);
    g_assert_cmpstr(message->media, ==, JSON);
    const char *description = http_call_word(message, "description", &object);
    g_assert_nonnull(description);
    if (!strstr(description, names))
        g_test_message("\"%s\" does not name %s", description, names);
    g_assert_nonnull(strstr(description, names));
    g_assert_nonnull(json_object_get(object, "title"));
}

/* ---- reading ---- */

typedef struct ReadCase {
    const char *query, *type, *body;
    size_t length;
    const char *read;  /* NULL: it is refused */
    int status;        /* with this status; 0: 400 */
    const char *names; /* and a description in which this stands */
} ReadCase;

static const ReadCase read_cases[] = {
    {.read = ""},
    {.query = "a=1&b=2", .read = "a=[1] b=[2]"},
    {.query = "b=2&a=1&b=3", .read = "b=[2][3] a=[1]"},
    {.query = "a&b=&=", .read = "a=[] b=[] =[]"},
    {.query = "&&a=1&", .read = "a=[1]"},
    {.query = "a=b=c", .read = "a=[b=c]"},
    {.query = "a=two+words&b=1%2B1&c=x%26y%3Dz", .read = "a=[two words] b=[1+1] c=[x&y=z]"},
    {.query = "%61%3D=%C3%A9", .read = "a==[\xc3\xa9]"},
    {.query = "a=%ff", .names = "\"a\""},
    {.query = "a=1&b=%C3", .names = "\"b\""},
    {.query = "a=%ED%A0%80", .names = "\"a\""}, /* half of a surrogate pair */
    {.query = "a=x%00y", .names = "\"a\""},
    {.query = "a=100%", .names = "\"a\""},
    {.query = "a=%zz", .names = "\"a\""},
    {.query = "%ff=1", .names = "UTF-8"},
    /* a form */
    {.type = FORM, BODY("a=1&a=2"), .read = "a=[1][2]"},
    {.type = FORM "; charset=utf-8", BODY("a=1"), .read = "a=[1]"},
    {.type = "Application/X-WWW-Form-URLEncoded", BODY("a=1"), .read = "a=[1]"},
    {BODY("a=1"), .read = "a=[1]"},
    {.type = FORM, BODY("a=\xc3\xa9"), .read = "a=[\xc3\xa9]"},
    {.type = FORM, BODY("a=\xff"), .names = "\"a\""},
    {.type = FORM, BODY("a=1\0&b=2"), .names = "zero byte"},
    {.type = FORM, BODY("a=1&b=%fe%ff"), .names = "\"b\""},
    /* both: the body wins, name by name */
    {.query = "a=1&a=2&b=3", .type = FORM, BODY("a=4&c=5"), .read = "a=[4] b=[3] c=[5]"},
    {.query = "a=1&b=3", .type = JSON, BODY("{\"a\": [4, 5], \"c\": null}"), .read = "a=[4][5] b=[3] c=[]"},
    {.query = "a=%ff", .type = JSON, BODY("{\"a\": 1}"), .names = "\"a\""},
    /* a JSON object */
    {.type = JSON, BODY("{}"), .read = ""},
    {.type = JSON, BODY(" {\"a\": \"x\"}\n"), .read = "a=[x]"},
    {.type = JSON "; charset=utf-8", BODY("{\"a\": \"\\u00e9\"}"), .read = "a=[\xc3\xa9]"},
    {.type = "APPLICATION/JSON", BODY("{\"a\": 1}"), .read = "a=[1]"},
    {.type = JSON, BODY("{\"a\": true, \"b\": false, \"c\": null, \"d\": \"\"}"),
     .read = "a=[True] b=[False] c=[] d=[]"},
    {.type = JSON, BODY("{\"a\": -7, \"b\": 9223372036854775807}"), .read = "a=[-7] b=[9223372036854775807]"},
    {.type = JSON, BODY("{\"a\": 1.5, \"b\": 30.0}"), .read = "a=[1.5] b=[30.0]"},
    {.type = JSON, BODY("{\"a\": []}"), .read = "a=[]"},
    {.type = JSON, BODY("{\"a\": [\"x\", 2, true, null, \"\"]}"), .read = "a=[x][2][True][][]"},
    {.type = JSON, BODY("{\"a\": \"1+1 %41&b=2\"}"), .read = "a=[1+1 %41&b=2]"},
    {.type = JSON, BODY("{\"a\": {}}"), .names = "\"a\""},
    {.type = JSON, BODY("{\"x\": 1, \"a\": {\"b\": 1}}"), .names = "\"a\""},
    {.type = JSON, BODY("{\"a\": [[]]}"), .names = "\"a\""},
    {.type = JSON, BODY("{\"a\": [\"x\", {\"b\": 1}]}"), .names = "\"a\""},
    {.type = JSON, BODY("[1]"), .names = "another type"},
    {.type = JSON, BODY("\"a\""), .names = "no JSON object"},
    {.type = JSON, BODY("{"), .names = "line 1"},
    {.type = JSON, BODY("{\n\"a\": 1,\n}"), .names = "line 3"},
    {.type = JSON, BODY("{\"a\": 1} x"), .names = "line 1"},
    {.type = JSON, BODY("{'a': 1}"), .names = "line 1"},
    {.type = JSON, BODY("{\"a\": 1, \"a\": 2}"), .names = "duplicate"},
    {.type = JSON, BODY("{\"a\": \"\xff\"}"), .names = "line 1"},
    {.type = JSON, BODY("{\"\xff\": 1}"), .names = "line 1"},
    {.type = JSON, BODY("{\"a\": \"x\\u0000y\"}"), .names = "line 1"},
    {.type = JSON, BODY("{\"a\": \"\\ud800\"}"), .names = "line 1"},
    {.type = JSON, BODY("{\"a\": 1}\0"), .names = "line 1"},
    {.type = JSON, BODY("{\"a\": 99999999999999999999}"), .names = "too big"},
    {.type = JSON, BODY("a=1&b=2"), .names = "no JSON object"},
    {.type = FORM, BODY("{\"a\": 1}"), .read = "{\"a\": 1}=[]"}, /* no name that a resource knows */
    /* other types */
    {.type = "text/xml", BODY("<a/>"), .status = 415, .names = "text/xml"},
    {.type = "multipart/form-data; boundary=x", BODY("--x--"), .status = 415, .names = "multipart/form-data"},
    {.type = "application/json-patch+json", BODY("{\"a\": 1}"), .status = 415, .names = "json-patch"},
    {.type = "application/x-www-form-urlencoded2", BODY("a=1"), .status = 415, .names = "urlencoded2"},
    {.type = "", BODY("a=1"), .status = 415, .names = "application/json"},
    {.type = "text/xml", .read = ""}, /* without a body its type is nobody's matter */
};

static void assert_read(const ReadCase *one)
{
    HttpCall message = {.verb = "POST", .path = "/3.1/x", .query = one->query, .type = one->type, .body = one->body,
                        .length = one->length};
    Call call = {.http = &message, .route = &open_route, .by = BY_SITE};
    bool fine = form_read(&call);
    if (one->read) {
        g_autofree char *text = shown(&call.form);
        g_assert_cmpstr(text, ==, one->read);
        g_assert_true(fine);
        g_assert_cmpuint(message.answers, ==, 0);
    } else {
        g_assert_false(fine);
        assert_refused(&message, one->status ? one->status : 400, one->names);
    }
    call_clear(&call);
    http_call_clear(&message);
}

static void test_read(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(read_cases); at++) {
        const ReadCase *one = &read_cases[at];
        g_test_message("?%s, %s: %.60s", one->query ? one->query : "", one->type ? one->type : "no type",
                       one->body ? one->body : "");
        assert_read(one);
    }
}

/* Ten megabytes of brackets, in and out of an object. */
static void test_deep(void)
{
    static const char *const begins[] = {"[", "{\"a\": [", "{\"a\": {\"a\": "};
    for (size_t at = 0; at < G_N_ELEMENTS(begins); at++) {
        g_autofree char *body = g_malloc(10 * MEGABYTE);
        memset(body, '[', 10 * MEGABYTE);
        memcpy(body, begins[at], strlen(begins[at]));
        assert_read(&(ReadCase){.type = JSON, .body = body, .length = 10 * MEGABYTE, .names = "depth"});
    }
}

/* "a=&a=&..." or {"a": [1, 1, ...], "b": [...]}: count values in so many names. */
static char *many(bool json, unsigned names, unsigned count)
{
    GString *text = g_string_new(json ? "{" : "");
    for (unsigned name = 0; name < names; name++) {
        if (json)
            g_string_append_printf(text, "%s\"n%u\": [", name > 0 ? ", " : "", name);
        for (unsigned at = 0; at < count / names; at++)
            g_string_append(text, json ? at > 0 ? ",1" : "1" : "a=&");
        g_string_append(text, json ? "]" : "");
    }
    g_string_append(text, json ? "}" : "");
    return g_string_free(text, FALSE);
}

static void test_many(void)
{
    static const struct {
        bool json;
        unsigned names, count;
        bool fine;
    } cases[] = {{false, 1, 200000, true}, {true, 2, 200002, false}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *body = many(cases[at].json, cases[at].names, cases[at].count);
        HttpCall message = {.verb = "POST", .path = "/3.1/x", .type = cases[at].json ? JSON : FORM, .body = body,
                            .length = strlen(body)};
        Call call = {.http = &message, .route = &open_route, .by = BY_SITE};
        bool fine = form_read(&call);
        g_assert_cmpint(fine, ==, cases[at].fine);
        if (!fine)
            assert_refused(&message, 400, "200000");
        call_clear(&call);
        http_call_clear(&message);
    }
}

/* ---- asking ---- */

/* A call with the parameters of this query. */
static void begin(Call *call, HttpCall *message, const char *verb, const char *query)
{
    *message = (HttpCall){.verb = verb, .path = "/3.1/x", .query = query};
    *call = (Call){.http = message, .route = &open_route, .by = BY_SITE};
    g_test_message("%s %s", verb, query);
    g_assert_true(form_read(call));
}

static void end(Call *call)
{
    HttpCall *message = call->http;
    call_clear(call);
    http_call_clear(message);
}

static void test_expect(void)
{
    static const struct {
        const char *query, *required, *optional, *names; /* NULL: it is as it must be */
    } cases[] = {
        {"", "", "", NULL},
        {"", "", "a b", NULL},
        {"a=1", "a", "b", NULL},
        {"a=1&b=2", "a", "b", NULL},
        {"a=", "a", "", NULL}, /* an empty value is one */
        {"a=1&a=2", "a", "", NULL},
        {"", "a", "", "Missing Parameter: a"},
        {"b=1", "a c", "b", "Missing Parameter: a, c"},
        {"a=1&b=2&c=3", "a", "", "Unexpected parameters: b, c"},
        {"b=2", "a", "", "Unexpected parameters: b"},
        {"A=1", "", "a", "Unexpected parameters: A"},
        {"a+b=1", "", "a b", "Unexpected parameters: (one that is no name)"},
        {"=1", "", "a", "Unexpected parameters"},
        {"=1&a=1", "a", "", "Unexpected parameters"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        HttpCall message;
        Call call;
        begin(&call, &message, "POST", cases[at].query);
        g_assert_cmpint(form_expect(&call, cases[at].required, cases[at].optional), ==, cases[at].names == NULL);
        if (cases[at].names)
            assert_refused(&message, 400, cases[at].names);
        else
            g_assert_cmpuint(message.answers, ==, 0);
        end(&call);
    }
}

static void test_text(void)
{
    static const struct {
        const char *query, *last, *words; /* of "a" */
        bool has, empty;
    } cases[] = {
        {"", NULL, "", false, true},
        {"b=1", NULL, "", false, true},
        {"a=", "", "", true, true},
        {"a=1", "1", "1", true, false},
        {"a=1&b=2&a=3", "3", "1|3", true, false},
        {"a=1&a=", "", "1", true, true},
        {"a=&a=", "", "", true, true},
        {"a=+", " ", " ", true, false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        HttpCall message;
        Call call;
        begin(&call, &message, "POST", cases[at].query);
        g_auto(GStrv) words = form_words(&call, "a");
        g_autofree char *joined = g_strjoinv("|", words);
        g_assert_cmpint(form_has(&call, "a"), ==, cases[at].has);
        g_assert_cmpstr(form_text(&call, "a"), ==, cases[at].last);
        g_assert_cmpstr(joined, ==, cases[at].words);
        g_assert_cmpint(form_is_empty(&call, "a"), ==, cases[at].empty);
        end(&call);
    }
}

#define STAYS 77

static void test_values(void)
{
    static const struct {
        const char *kind, *query;
        int64_t value; /* -1: refused */
    } cases[] = {
        {"bool", "", STAYS},
        {"bool", "a=True", true},
        {"bool", "a=yes", true},
        {"bool", "a=ON", true},
        {"bool", "a=Enabled", true},
        {"bool", "a=disable", false},
        {"bool", "a=1", true},
        {"bool", "a=False", false},
        {"bool", "a=no", false},
        {"bool", "a=off", false},
        {"bool", "a=0", false},
        {"bool", "a=maybe&a=no", false},
        {"bool", "a=2", -1},
        {"bool", "a=truely", -1},
        {"bool", "a=+1", -1},
        {"bool", "a=%C4%B0", -1},
        {"integer", "", STAYS},
        {"integer", "a=0", 0},
        {"integer", "a=42", 42},
        {"integer", "a=9223372036854775807", INT64_MAX},
        {"integer", "a=9223372036854775808", -1},
        {"integer", "a=-1", -1},
        {"integer", "a=", -1},
        {"integer", "a=1.0", -1},
        {"integer", "a=1e3", -1},
        {"integer", "a=0x10", -1},
        {"integer", "a=+1", -1},
        {"integer", "a=1+", -1},
        {"integer", "a=%EF%BC%91", -1}, /* a digit, but not of ASCII */
        {"choice", "", STAYS},
        {"choice", "a=hold", 0},
        {"choice", "a=Defer", 4},
        {"choice", "a=hold&a=accept", 3},
        {"choice", "a=", -1},
        {"choice", "a=hold,", -1},
        {"choice", "a=hol", -1},
        {"choice", "a=hold%2C+reject", -1},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        for (int reading = 0; reading < 2; reading++) {
            HttpCall message;
            Call call;
            bool yes = true;
            int choice = STAYS;
            int64_t number = STAYS;
            begin(&call, &message, reading ? "GET" : "PATCH", cases[at].query);
            bool fine = *cases[at].kind == 'b'   ? form_bool(&call, "a", &yes)
                        : *cases[at].kind == 'i' ? form_integer(&call, "a", &number)
                                                 : form_choice(&call, "a", FORM_ACTIONS, &choice);
            int64_t value = *cases[at].kind == 'b' ? yes : *cases[at].kind == 'i' ? number : choice;
            g_assert_cmpint(fine, ==, cases[at].value != -1);
            if (!fine)
                assert_refused(&message, 400, *cases[at].kind == 'c' ? FORM_ACTIONS : "\"a\"");
            else if (*cases[at].kind == 'b')
                g_assert_cmpint(value, ==, cases[at].value != false); /* it was yes */
            else
                g_assert_cmpint(value, ==, cases[at].value);
            end(&call);
        }
    }
}

static void test_paging(void)
{
    static const struct {
        const char *query, *names; /* NULL: */
        Paging wanted;
    } cases[] = {
        {"", NULL, {0, G_MAXINT}},
        {"count=10&page=1", NULL, {0, 10}},
        {"count=10&page=4", NULL, {30, 10}},
        {"page=2&count=50&count=5", NULL, {5, 5}},
        {"count=0&page=1", NULL, {0, 0}},
        {"count=0&page=9223372036854775807", NULL, {0, 0}},
        {"count=9223372036854775807&page=1", NULL, {0, G_MAXINT}},
        {"count=9223372036854775807&page=3", NULL, {INT64_MAX, G_MAXINT}},
        {"count=3&page=9223372036854775807", NULL, {INT64_MAX, 3}},
        {"count=10", "count and page", {0}},
        {"page=1", "count and page", {0}},
        {"count=10&page=0", "\"page\"", {0}},
        {"count=10&page=-1", "\"page\"", {0}},
        {"count=-1&page=1", "\"count\"", {0}},
        {"count=&page=1", "\"count\"", {0}},
        {"count=ten&page=1", "\"count\"", {0}},
        {"count=10&page=1.5", "\"page\"", {0}},
        {"count=9223372036854775808&page=1", "\"count\"", {0}},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        HttpCall message;
        Call call;
        Paging paging;
        begin(&call, &message, "GET", cases[at].query);
        g_assert_cmpint(form_paging(&call, &paging), ==, cases[at].names == NULL);
        if (cases[at].names) {
            assert_refused(&message, 400, cases[at].names);
        } else {
            g_assert_cmpint(paging.start, ==, cases[at].wanted.start);
            g_assert_cmpuint(paging.count, ==, cases[at].wanted.count);
        }
        end(&call);
    }
}

SUITE("rest/form")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rest/form/what is read", test_read);
    g_test_add_func("/rest/form/deep nesting", test_deep);
    g_test_add_func("/rest/form/many values", test_many);
    g_test_add_func("/rest/form/unknown and missing names", test_expect);
    g_test_add_func("/rest/form/values of a name", test_text);
    g_test_add_func("/rest/form/types", test_values);
    g_test_add_func("/rest/form/paging", test_paging);
    return g_test_run();
}
