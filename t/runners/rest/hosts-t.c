/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /listrunner/hosts: what is shown of hosts, and what may be done with one. */
#include <string.h>

#include "base/clock.h"
#include "store/hosts/host.h"
#include "store/lists/list_post.h"
#include "switchboard/meta.h"
#include "t/runners/rest/restframe.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define HOSTS "/3.1/listrunner/hosts"
#define LEASE (60 * CLOCK_SECOND)
#define SAID \
    "{\"runners\": [{\"runner\": \"in\", \"backlog\": 3}, {\"runner\": \"out\", \"backlog\": 4}], \"waiting\": 5}"

static Store *store;

static Host *begin(const char *name, const char *state)
{
    return fixture_host(store, name, state, LEASE);
}

/* The status; *answer, where it is not NULL, is the body. */
static int ask(const char *verb, const char *path, const char *query, json_t **answer)
{
    HttpCall call = {.verb = verb, .path = path, .query = query, .credentials = "Basic YTpi"}; /* a:b */
    return rest_frame_ask(&call, answer);
}

static const Host *find(const GPtrArray *hosts, const char *name)
{
    for (guint at = 0; at < hosts->len; at++)
        if (strcmp(((const Host *)hosts->pdata[at])->name, name) == 0)
            return hosts->pdata[at];
    return NULL;
}

static void test_shown(void)
{
    g_autoptr(Host) a = begin("a.example.com", SAID), b = begin("b.example.com", "{}");
    g_autoptr(json_t) all = NULL, one = NULL, none = NULL;
    g_assert_cmpint(ask("GET", HOSTS, NULL, &all), ==, 200);
    g_assert_cmpint(json_integer_value(json_object_get(all, "total_size")), ==, 2);
    json_t *first = json_array_get(json_object_get(all, "entries"), 0);
    g_assert_cmpstr(json_string_value(json_object_get(first, "name")), ==, "a.example.com");
    g_assert_cmpstr(json_string_value(json_object_get(first, "state")), ==, "living");
    g_assert_cmpint(json_integer_value(json_object_get(first, "backlog")), ==, 7);
    g_assert_cmpint(json_integer_value(json_object_get(first, "waiting")), ==, 5);
    g_assert_cmpint(ask("GET", HOSTS "/B.example.com", NULL, &one), ==, 200);
    g_assert_cmpstr(json_string_value(json_object_get(one, "name")), ==, "b.example.com");
    g_assert_true(json_is_null(json_object_get(one, "backlog")));
    g_assert_cmpint(ask("GET", HOSTS "/c.example.com", NULL, &none), ==, 404);
}

static void test_changed(void)
{
    GError *error = NULL;
    g_assert_cmpint(ask("PATCH", HOSTS "/b.example.com", "draining=yes", NULL), ==, 204);
    g_autoptr(GPtrArray) drained = host_all(store, &error);
    g_assert_true(find(drained, "b.example.com")->draining && !find(drained, "a.example.com")->draining);
    g_assert_cmpint(ask("PATCH", HOSTS "/b.example.com", "draining=perhaps", NULL), ==, 400);
    g_assert_cmpint(ask("PATCH", HOSTS "/b.example.com", NULL, NULL), ==, 400);
    g_assert_cmpint(ask("PATCH", HOSTS "/B.Example.com", "draining=no", NULL), ==, 204);
    g_assert_cmpint(ask("PATCH", HOSTS "/c.example.com", "draining=no", NULL), ==, 404);
    g_autoptr(GPtrArray) back = host_all(store, &error);
    g_assert_false(find(back, "b.example.com")->draining);
}

static void test_removed(void)
{
    GError *error = NULL;
    bool known;
    g_autoptr(json_t) lost = NULL;
    const SeenMail seen = {"post@x", "post@x", "spool-b.example.com", 7, NULL};
    const SeenMail other = {"other@x", "other@x", "spool-a", 7, NULL};
    assert_ok(domain_create(store, "example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(store, "test@example.com", &error);
    assert_ok(list_record_message_id(store, list->list_id, &seen, &known, &error), error);
    assert_ok(list_record_message_id(store, list->list_id, &other, &known, &error), error);
    g_assert_cmpint(ask("DELETE", HOSTS "/b.example.com", NULL, NULL), ==, 409);
    g_assert_cmpint(ask("DELETE", HOSTS "/b.example.com", "lost=yes", NULL), ==, 409);
    g_assert_cmpint(ask("GET", HOSTS "/b.example.com/lost", NULL, NULL), ==, 409);
    g_autoptr(GPtrArray) before = host_all(store, &error);
    g_assert_cmpuint(before->len, ==, 2);
    assert_ok(host_end(store, (Host *)find(before, "b.example.com"), &error), error);
    g_assert_cmpint(ask("GET", HOSTS "/b.example.com/lost", NULL, &lost), ==, 200);
    json_t *things = json_object_get(lost, "things");
    g_assert_cmpuint(json_array_size(things), ==, 1);
    g_assert_cmpstr(json_string_value(json_object_get(json_array_get(things, 0), "name")), ==, "post@x");
    assert_ok(list_knows_message_id(store, list->list_id, "post@x", "", &known, &error), error);
    g_assert_true(known);
    g_assert_cmpint(ask("DELETE", HOSTS "/b.example.com", "lost=yes", NULL), ==, 204);
    g_assert_cmpint(ask("DELETE", HOSTS "/b.example.com", NULL, NULL), ==, 404);
    assert_ok(list_knows_message_id(store, list->list_id, "post@x", "", &known, &error), error);
    g_assert_false(known);
    g_autoptr(GPtrArray) after = host_all(store, &error);
    g_assert_true(after->len == 1 && find(after, "a.example.com"));
}

SUITE("rest/hosts")
{
    g_test_init(&argc, &argv, NULL);
    rest_frame_open("");
    store = rest_frame_store();
    g_test_add_func("/hosts/shown", test_shown);
    g_test_add_func("/hosts/changed", test_changed);
    g_test_add_func("/hosts/removed", test_removed);
    int code = g_test_run();
    store_free(store);
    rest_frame_close();
    return code;
}
