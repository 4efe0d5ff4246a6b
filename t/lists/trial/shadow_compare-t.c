/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/shadow_compare.h"

#include <string.h>

#include "switchboard/meta.h"
#include "t/suite.h"

static GBytes *mail(const char *text)
{
    return g_bytes_new_static(text, strlen(text));
}

/* The names of the fields that differ. */
static char *fields(const char *live, const char *ours, char *const *ignore)
{
    g_autoptr(GBytes) there = mail(live), here = mail(ours);
    g_autoptr(json_t) found = shadow_compare_header(there, here, ignore);
    g_autoptr(GString) names = g_string_new(NULL);
    for (size_t at = 0; at < json_array_size(found); at++)
        g_string_append_printf(names, "%s%s", at > 0 ? " " : "",
                               json_string_value(json_object_get(json_array_get(found, at), "field")));
    return g_string_free(g_steal_pointer(&names), FALSE);
}

static void headers(void)
{
    static const char *const ignore[] = {"x-a", NULL};
    static const struct {
        const char *live, *ours, *differ;
    } cases[] = {
        {"A: 1\nB: 2\n\n", "b: 2\na: 1\n\n", ""},
        {"A: one\n two\n\n", "A: one  two \n\n", ""},
        {"A: 1\nA: 2\n\n", "A: 2\nA: 1\n\n", ""},
        {"A: 1\nA: 2\n\n", "A: 1\n\n", "a"},
        {"A: 1\n\n", "A: 1\nB: 2\n\n", "b"},
        {"A: x\n\n", "A: X\n\n", "a"},
        {"Subject: =?utf-8?b?S8Okc2U=?=\n\n", "Subject: =?iso-8859-1?q?K=E4se?=\n\n", ""},
        {"Received: a\nX-Mailman-Rule-Hits: x\nMIME-Version: 1.0\n\n", "DKIM-Signature: b\nReturn-Path: <>\n\n", ""},
        {"X-A: 1\nX-Ab: 1\n\n", "\n\n", "x-ab"},
        {"Content-Type: text/plain; charset=\"us-ascii\"\n\n", "Subject: 1\n\n", "subject"},
        {"Content-Type: TEXT/plain; charset=utf-8; format=flowed\n\n",
         "Content-Type: text/plain; format=\"flowed\"\n\n", ""},
        {"Content-Type: multipart/mixed; boundary=a\n\n", "Content-Type: multipart/mixed; boundary=\"b c\"\n\n", ""},
        {"Content-Type: text/html\n\n", "\n\n", "content-type"},
        {"", "", ""},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *found = fields(cases[at].live, cases[at].ours, (char *const *)ignore);
        g_assert_cmpstr(found, ==, cases[at].differ);
    }
}

static void many_fields_are_cut(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned at = 0; at < 10000; at++)
        g_string_append_printf(text, "X-%u: 1\n", at);
    g_autoptr(GBytes) live = mail(text->str), ours = mail("\n");
    g_autoptr(json_t) found = shadow_compare_header(live, ours, NULL);
    g_assert_cmpuint(json_array_size(found), ==, SHADOW_FIELDS_MAX);
}

#define MIXED "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\none\ntwo\n--b\n"

static void bodies(void)
{
    static const struct {
        const char *live, *ours, *part;
        int line; /* -1: none */
        const char *there, *here;
    } cases[] = {
        {"\none\ntwo\n", "\r\none\r\ntwo  \r\n\r\n", NULL, 0, NULL, NULL},
        {"\none\ntwo\n", "\none\n2\n", "1 text/plain", 2, "two", "2"},
        {"\none\n", "\none\ntwo\n", "1 text/plain", 2, NULL, "two"},
        {"\none\ntwo\n", "\none\n", "1 text/plain", 2, "two", NULL},
        {"Content-Transfer-Encoding: base64\nContent-Type: text/plain; charset=utf-8\n\nS8Okc2U=\n",
         "Content-Type: text/plain; charset=iso-8859-1\n\nK\xe4se\n", NULL, 0, NULL, NULL},
        {MIXED "Content-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAEC\n--b--\n",
         MIXED "Content-Type: image/png\nContent-Transfer-Encoding: base64\n\nAA\nEC\n--b--\n", NULL, 0, NULL, NULL},
        {MIXED "Content-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAEC\n--b--\n",
         MIXED "Content-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAED\n--b--\n", "2 image/png", -1, NULL,
         NULL},
        {MIXED "Content-Type: image/png\n\nx\n--b--\n", "\none\ntwo\n", "2 image/png", -1, "image/png", NULL},
        {MIXED "Content-Type: image/png\n\nx\n--b--\n", MIXED "Content-Type: text/html\n\nx\n--b--\n", "2 image/png",
         -1, "image/png", "text/html"},
        {"", "", NULL, 0, NULL, NULL},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autoptr(GBytes) live = mail(cases[at].live), ours = mail(cases[at].ours);
        g_autoptr(json_t) found = shadow_compare_body(live, ours);
        g_assert_cmpstr(json_string_value(json_object_get(found, "part")), ==, cases[at].part);
        if (!cases[at].part)
            continue;
        const json_t *line = json_object_get(found, "line");
        g_assert_cmpint(json_is_null(line) ? -1 : json_integer_value(line), ==, cases[at].line);
        g_assert_cmpstr(json_string_value(json_object_get(found, "live")), ==, cases[at].there);
        g_assert_cmpstr(json_string_value(json_object_get(found, "ours")), ==, cases[at].here);
    }
}

SUITE("shadow_compare")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/shadow_compare/headers", headers);
    g_test_add_func("/shadow_compare/many_fields_are_cut", many_fields_are_cut);
    g_test_add_func("/shadow_compare/bodies", bodies);
    return g_test_run();
}
