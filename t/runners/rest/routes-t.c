/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Which function answers which verb and path, and what stands in place of the braces. */
#include <string.h>

#include "t/runners/rest/restframe.h"
#include "t/suite.h"

typedef struct RouteCase {
    const char *verb, *path;
    const char *pattern; /* NULL: nothing answers this */
    const char *args;    /* "ant.example.com|member" */
    const char *allow;   /* NULL: no such path */
} RouteCase;

#define CONFIG_VERBS "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"

static const RouteCase cases[] = {
    {"GET", "lists", "lists", "", "GET, HEAD, OPTIONS, POST"},
    {"POST", "lists", "lists", "", "GET, HEAD, OPTIONS, POST"},
    {"DELETE", "lists", NULL, NULL, "GET, HEAD, OPTIONS, POST"},
    {"OPTIONS", "lists", NULL, NULL, "GET, HEAD, OPTIONS, POST"},
    {"GET", "", NULL, NULL, NULL},
    {"GET", "list", NULL, NULL, NULL},
    {"GET", "listss", NULL, NULL, NULL},
    {"GET", "Lists", NULL, NULL, NULL},
    {"GET", "LISTS/styles", NULL, NULL, NULL},
    {"BREW", "lists", NULL, NULL, "GET, HEAD, OPTIONS, POST"},
    /* a word of ours before any word */
    {"GET", "lists/styles", "lists/styles", "", "GET, HEAD, OPTIONS"},
    {"GET", "lists/find", "lists/find", "", "GET, HEAD, OPTIONS, POST"},
    {"DELETE", "lists/styles", NULL, NULL, "GET, HEAD, OPTIONS"}, /* not the list of that name */
    {"GET", "lists/ant.example.com", "lists/{list}", "ant.example.com", "DELETE, GET, HEAD, OPTIONS"},
    {"GET", "lists/x/held/count", "lists/{list}/held/count", "x", "GET, HEAD, OPTIONS"},
    {"GET", "lists/x/held/7", "lists/{list}/held/{id}", "x|7", "GET, HEAD, OPTIONS, POST"},
    {"PATCH", "lists/x/held/7", NULL, NULL, "GET, HEAD, OPTIONS, POST"}, /* not a member of the role held */
    {"GET", "lists/x/roster/member", "lists/{list}/roster/{role}", "x|member", "DELETE, GET, HEAD, OPTIONS"},
    {"GET", "lists/x/member/a@b", "lists/{list}/{role}/{address}", "x|member|a@b", "DELETE, GET, HEAD, OPTIONS, PATCH"},
    {"PUT", "lists/x/config", "lists/{list}/config", "x", CONFIG_VERBS},
    {"PUT", "lists/x/config/description", "lists/{list}/config/{attribute}", "x|description", CONFIG_VERBS},
    {"GET", "users/find", "users/find", "", "GET, HEAD, OPTIONS"},
    {"GET", "system/versions", "system/versions", "", "GET, HEAD, OPTIONS"},
    {"POST", "system/versions", NULL, NULL, "GET, HEAD, OPTIONS"},
    {"GET", "members/x/all/preferences", "members/{member}/all/preferences", "x", "GET, HEAD, OPTIONS"},
    {"POST", "addresses/a@b/verify", "addresses/{address}/verify", "a@b", "OPTIONS, POST"},
    {"GET", "addresses/a@b/verify", NULL, NULL, "OPTIONS, POST"},
    /* segments that are missing, empty or too many */
    {"GET", "lists/", NULL, NULL, NULL},
    {"GET", "lists//config", NULL, NULL, NULL},
    {"GET", "lists/x//config", NULL, NULL, NULL},
    {"GET", "/lists", NULL, NULL, NULL},
    {"GET", "lists/x/config/", NULL, NULL, NULL},
    {"GET", "lists/x/config/description/y", NULL, NULL, NULL},
    {"GET", "lists/x/member/a@b/c", NULL, NULL, NULL},
    {"GET", "system/versions/x", NULL, NULL, NULL},
    /* percent signs: each segment is split off first, and decoded then */
    {"GET", "lists/ant%40example.com", "lists/{list}", "ant@example.com", "DELETE, GET, HEAD, OPTIONS"},
    {"GET", "bans/%5E.%2A%2Fx", "bans/{email}", "^.*/x", "DELETE, GET, HEAD, OPTIONS"},
    {"GET", "lists%2Fant.example.com", NULL, NULL, NULL},
    {"GET", "lists/x%2Fconfig", "lists/{list}", "x/config", "DELETE, GET, HEAD, OPTIONS"},
    {"GET", "addresses/a%2Bb@c%3Fd", "addresses/{address}", "a+b@c?d", "DELETE, GET, HEAD, OPTIONS, PATCH"},
    {"GET", "addresses/a+b@c", "addresses/{address}", "a+b@c", "DELETE, GET, HEAD, OPTIONS, PATCH"}, /* no blank here */
    {"GET", "addresses/%2540", "addresses/{address}", "%40", "DELETE, GET, HEAD, OPTIONS, PATCH"},  /* once */
    {"GET", "addresses/%c3%a9@x", "addresses/{address}", "\xc3\xa9@x", "DELETE, GET, HEAD, OPTIONS, PATCH"},
    {"GET", "addresses/\xc3\xa9@x", "addresses/{address}", "\xc3\xa9@x", "DELETE, GET, HEAD, OPTIONS, PATCH"},
    /* what needs no percent sign means the same with one, in our own words, too */
    {"GET", "%6Cists", "lists", "", "GET, HEAD, OPTIONS, POST"},
    {"GET", "lists/%66%69nd", "lists/find", "", "GET, HEAD, OPTIONS, POST"},
    {"GET", "lists/x/header%2dmatches/0", "lists/{list}/header-matches/{position}", "x|0",
     "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"},
    {"GET", "%256Cists", NULL, NULL, NULL},
    {"GET", "%6Cists/%256C", "lists/{list}", "%6C", "DELETE, GET, HEAD, OPTIONS"},
    {"GET", "list%73%00", NULL, NULL, NULL},
    {"GET", "lists%", NULL, NULL, NULL},
    {"GET", "addresses/x%00y", NULL, NULL, NULL},
    {"GET", "addresses/%ff", NULL, NULL, NULL},
    {"GET", "addresses/\xff", NULL, NULL, NULL},
    {"GET", "addresses/%zz", NULL, NULL, NULL},
    {"GET", "addresses/100%", NULL, NULL, NULL},
    {"GET", "addresses/%4", NULL, NULL, NULL},
};

static char *joined(const Call *call)
{
    GString *text = g_string_new(NULL);
    for (unsigned at = 0; at < REST_ARGS && call->args[at]; at++)
        g_string_append_printf(text, "%s%s", at > 0 ? "|" : "", call->args[at]);
    return g_string_free(text, FALSE);
}

static void test_cases(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        const RouteCase *one = &cases[at];
        Call call = {0};
        g_autofree char *allow = NULL;
        g_test_message("%s %s", one->verb, one->path);
        const RestRoute *route = rest_route(&call, one->verb, one->path, &allow);
        g_autofree char *args = joined(&call);
        g_assert_cmpstr(route ? route->path : NULL, ==, one->pattern);
        g_assert_cmpstr(allow, ==, one->allow);
        if (route) {
            g_assert_cmpstr(args, ==, one->args);
            g_assert_cmpstr(route->verb, ==, one->verb);
            g_assert_nonnull(route->function);
        }
        call_clear(&call);
    }
}

/* The path with "v-0", "v-1" in place of the braces; g_free(). */
static char *filled(const char *pattern, unsigned *braces)
{
    GString *path = g_string_new(NULL);
    *braces = 0;
    for (const char *at = pattern; *at; at++)
        if (*at == '{') {
            g_string_append_printf(path, "v-%u", (*braces)++);
            at = strchr(at, '}');
        } else {
            g_string_append_c(path, *at);
        }
    return g_string_free(path, FALSE);
}

/* Each route of each table is found by its own verb and path: none hides another, or stands there twice. */
static void test_tables(void)
{
    unsigned count = 0;
    for (size_t table = 0; rest_tables[table]; table++)
        for (const RestRoute *route = rest_tables[table]; route->verb; route++, count++) {
            unsigned braces;
            g_autofree char *path = filled(route->path, &braces), *allow = NULL;
            Call call = {0};
            g_test_message("%s %s", route->verb, route->path);
            g_assert_cmpuint(braces, <=, REST_ARGS);
            g_assert_true(rest_route(&call, route->verb, path, &allow) == route);
            for (unsigned at = 0; at < braces; at++) {
                g_autofree char *wanted = g_strdup_printf("v-%u", at);
                g_assert_cmpstr(call.args[at], ==, wanted);
            }
            g_auto(GStrv) verbs = g_strsplit(allow, ", ", -1);
            g_assert_true(g_strv_contains((const char *const *)verbs, route->verb));
            g_assert_true(g_strv_contains((const char *const *)verbs, "OPTIONS"));
            call_clear(&call);
        }
    g_assert_cmpuint(count, >=, 143); /* Mailman's */
}

SUITE("rest/routes")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rest/routes/paths and verbs", test_cases);
    g_test_add_func("/rest/routes/each of the tables", test_tables);
    return g_test_run();
}
