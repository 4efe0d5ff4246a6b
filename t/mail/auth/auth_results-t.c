/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/auth_results.h"
#include "t/suite.h"

#include <string.h>

/* The texts of all results with a bar between them; "-" when the value cannot be read. */
static char *read_all(const char *value, char **server)
{
    g_autoptr(AuthResults) found = auth_results_read(value);
    *server = found ? g_strdup(found->server) : NULL;
    if (!found)
        return g_strdup("-");
    GString *all = g_string_new(NULL);
    for (guint at = 0; at < found->results->len; at++) {
        const AuthResult *result = found->results->pdata[at];
        g_string_append_printf(all, "%s%s", at > 0 ? "|" : "", result->text);
        g_assert_true(*result->method && *result->result);
    }
    return g_string_free(all, FALSE);
}

static void test_read(void)
{
    static const struct {
        const char *value, *server, *results;
    } cases[] = {
        {"example.com; none", "example.com", ""},
        {"example.com 1; none;", "example.com", "-"},
        {"example.com; spf=pass smtp.mailfrom=example.net", "example.com", "spf=pass smtp.mailfrom=example.net"},
        {"example.com 1;\r\n\tauth=pass (cram-md5) smtp.auth=s@example.com;\r\n spf=pass", "example.com",
         "auth=pass smtp.auth=s@example.com|spf=pass"},
        {" (a (nested \\) one)) example.com ; SPF/1 = Pass reason = \"so; (it) is\" x.y=z;", "example.com",
         "spf=pass reason=\"so; (it) is\" x.y=z"},
        {"\"example.com\"; dkim=pass", "example.com", "dkim=pass"},
        {"example.com; dkim=pass reason=\"a \\\" b\"", "example.com", "dkim=pass reason=\"a \\\" b\""},
        {"example.com; dkim=pass (\xc3\xa4)", "example.com", "dkim=pass"},
        {"example.com; DKIM/2=PASS Header.D=X", "example.com", "dkim/2=pass Header.D=X"},
        {"", NULL, "-"},
        {"example.com", NULL, "-"},
        {"example.com;", NULL, "-"},
        {"; spf=pass", NULL, "-"},
        {"example.com x; spf=pass", NULL, "-"},
        {"example.com; spf", NULL, "-"},
        {"example.com; spf=", NULL, "-"},
        {"example.com; =pass", NULL, "-"},
        {"example.com; spf=pass; ; dkim=pass", NULL, "-"},
        {"example.com; spf=p\"a\"", NULL, "-"},
        {"example.com; spf=pass (open", NULL, "-"},
        {"example.com; spf=pass reason=\"open", NULL, "-"},
        {"example.com; spf=pass x=\xc3\xa4", NULL, "-"},
        {"example.com; spf=pass x=\x01", NULL, "-"},
        {"ex ample.com; spf=pass", NULL, "-"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *server = NULL, *results = read_all(cases[at].value, &server);
        g_test_message("%s", cases[at].value);
        g_assert_cmpstr(results, ==, cases[at].results);
        if (*results != '-')
            g_assert_cmpstr(server, ==, cases[at].server);
    }
}

static void test_keywords(void)
{
    g_autoptr(AuthResults) found = auth_results_read("example.com; DKIM/1=Pass header.d=x");
    const AuthResult *result = found->results->pdata[0];
    g_assert_cmpstr(result->method, ==, "dkim");
    g_assert_cmpstr(result->result, ==, "pass");
}

static void test_properties(void)
{
    static const struct {
        const char *text, *name, *value;
    } cases[] = {
        {"dkim=pass header.d=example.org header.s=s", "header.d", "example.org"},
        {"dkim=pass header.d=example.org header.s=s", "HEADER.S", "s"},
        {"dkim=pass header.d=example.org", "header.b", NULL},
        {"dkim=pass xheader.d=example.org", "header.d", NULL},
        {"spf=fail reason=\"it is smtp.mailfrom=a@bank.example\" smtp.mailfrom=b@example.org", "smtp.mailfrom",
         "b@example.org"},
        {"spf=fail reason=\"a \\\" smtp.mailfrom=bank.example\"", "smtp.mailfrom", NULL},
        {"spf=pass smtp.mailfrom=\"a b\"@example.org x=y", "smtp.mailfrom", "a b@example.org"},
        {"spf=pass smtp.mailfrom=\"a\\\\\"@example.org", "smtp.mailfrom", "a\\@example.org"},
        {"spf=pass smtp.mailfrom=", "smtp.mailfrom", ""},
        {"", "x", NULL},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *value = auth_result_property(cases[at].text, cases[at].name);
        g_test_message("%s", cases[at].text);
        g_assert_cmpstr(value, ==, cases[at].value);
    }
}

/* Check that a field that claims the name is found, even where the rest is nonsense; so is a name that cannot be
 * read. */
static void test_claims(void)
{
    static const struct {
        const char *value;
        bool claims;
    } cases[] = {
        {"lists.example.com; spf=pass", true},   {"LISTS.Example.COM", true},
        {"lists.example.com 1; x", true},        {"(x (y)) lists.example.com(z);", true},
        {"\"lists.example.com\"; spf", true},    {"\r\n\t lists.example.com\r\n ; none", true},
        {"lists.example.com.evil; none", false}, {"xlists.example.com; none", false},
        {"other; lists.example.com", false},     {"other 1 (x) ; none", false},
        {"other (lists.example.com); none", false}, {"\"other\"; none", false}, {"other.", false},
        {"\"lists\\.example.com\"; spf=pass", true}, {"\"\r\n lists.example.com\"; spf=pass", true},
        {"\" lists.example.com \"; spf=pass", true}, {"lists.example.com.; none", true},
        {"lists.example.com..(x)", true},
        {"\xef\xbd\x8cists.example.com; none", true}, /* a wide "l" */
        {"b\xc3\xbc" "cher.example; none", false},
        /* Nobody can say. */
        {"", true}, {";", true}, {"(lists.example.com", true}, {"\"lists.example.com", true}, {"(", true},
        {"\vlists.example.com; none", true}, {"\rlists.example.com; none", true}, {"\1other; none", true},
        {"lists.example.com\rspf=pass", true}, {"other\v; none", true}, {"oth(x)er; none", true},
        {"other x; none", true}, {"other/1; none", true}, {"=?us-ascii?q?lists.example.com?=; none", true},
        {"\xc2\xa0lists.example.com; none", true}, {"\xff; none", true}, {"[lists.example.com]; none", true},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_test_message("%s", cases[at].value);
        g_assert_cmpint(auth_results_claims(cases[at].value, "lists.example.com"), ==, cases[at].claims);
    }
}

/* However deep comments stand in one another. */
static void test_deep_comments(void)
{
    for (unsigned depth = 99; depth < 100000; depth *= 10) {
        g_autofree char *open = g_strnfill(depth, '('), *close = g_strnfill(depth, ')');
        g_autofree char *ours = g_strconcat(open, close, "lists.example.com; spf=pass", NULL);
        g_autofree char *other = g_strconcat(open, close, "example.com; spf=pass", NULL), *server = NULL;
        g_autofree char *results = read_all(other, &server);
        g_assert_true(auth_results_claims(ours, "lists.example.com"));
        g_assert_false(auth_results_claims(other, "lists.example.com"));
        g_assert_cmpstr(results, ==, "spf=pass");
    }
}

static void test_forged(void)
{
    static const struct {
        const char *field;
        bool forged;
    } cases[] = {
        {"Authentication-Results: lists.example.com; spf=pass\r\n", true},
        {"AUTHENTICATION-RESULTS \t:\r\n lists.example.com;\r\n spf=pass\r\n", true},
        {"Authentication-Results: other; spf=pass\r\n", false},
        {"ARC-Authentication-Results: i=1; lists.example.com; spf=pass\r\n", false},
        {"Authentication-Results-X: lists.example.com; spf=pass\r\n", false},
        {"X-A: lists.example.com; spf=pass\r\n", false},
        {"X-A: Authentication-Results: lists.example.com; spf=pass\r\n", false},
        {"X-A: b\rAuthentication-Results: lists.example.com; spf=pass\r\n", true},
        {"X-A: b\r\rAuthentication-Results:lists.example.com\r\n", true},
        {"X-A: b\rAuthentication-Results: other; spf=pass\r\n", false},
        {"Authentication-Results: other;\r spf=pass\rauthentication-results: lists.example.com\r\n", true},
        {"\xef\xbb\xbf" "Authentication-Results: lists.example.com; spf=pass\r\n", true},
        {"\xef\xbb\xbf" "Authentication-Results: other; spf=pass\r\n", false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *mail = g_strconcat(cases[at].field, "Subject: x\r\n\r\n", NULL);
        g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
        g_autoptr(Message) message = message_new(octets);
        g_test_message("%s", cases[at].field);
        g_assert_cmpint(auth_results_forged(message_field(message, 0), "lists.example.com"), ==, cases[at].forged);
    }
    static const char nul[] = "Authentication-Results: lists.example.com\0; spf=pass\r\n\r\n";
    g_autoptr(GBytes) octets = g_bytes_new_static(nul, sizeof nul - 1);
    g_autoptr(Message) message = message_new(octets);
    g_assert_true(auth_results_forged(message_field(message, 0), "lists.example.com"));
}

static void test_write(void)
{
    static char *none[] = {NULL}, *two[] = {(char *)"dkim=none", (char *)"arc=fail", NULL};
    g_autofree char *empty = auth_results_write("a.example", none), *full = auth_results_write("a.example", two);
    g_autofree char *server = NULL, *results = read_all(full, &server);
    g_assert_cmpstr(empty, ==, "a.example; none");
    g_assert_cmpstr(results, ==, "dkim=none|arc=fail");
    g_assert_cmpstr(server, ==, "a.example");
}

/* A long result is folded at its blanks, and read back it is the same. */
static void test_write_long(void)
{
    GString *text = g_string_new("spf=pass reason=\"a");
    for (int at = 0; at < 200; at++)
        g_string_append(text, " quoted words");
    g_string_append(text, "\" smtp.mailfrom=example.org");
    char *texts[] = {text->str, (char *)"arc=fail", NULL};
    g_autofree char *value = auth_results_write("a.example", texts), *server = NULL;
    g_autofree char *results = read_all(value, &server), *wanted = g_strconcat(text->str, "|arc=fail", NULL);
    g_auto(GStrv) lines = g_strsplit(value, "\r\n", -1);
    for (char **line = lines; *line; line++)
        g_assert_cmpuint(strlen(*line), <=, 78);
    g_assert_cmpstr(results, ==, wanted);
    g_string_free(text, TRUE);
}

/* A fold makes no line of blanks alone, and parts no backslash from what it quotes. */
static void test_write_odd_blanks(void)
{
    static const char word[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    static const char *const between[] = {" \t\t \t ", "\t", "\\\t", "\\ \t", "\\\\ "};
    for (size_t at = 0; at < G_N_ELEMENTS(between); at++) {
        g_autofree char *text = g_strdup_printf("spf=pass reason=\"%s%s%s\"", word, between[at], word);
        char *texts[] = {text, NULL};
        g_autofree char *value = auth_results_write("a.example", texts), *server = NULL;
        g_autofree char *results = read_all(value, &server);
        g_assert_cmpstr(results, ==, text);
        g_auto(GStrv) lines = g_strsplit(value, "\r\n", -1);
        for (char **line = lines; *line; line++)
            g_assert_cmpuint(strspn(*line, " \t"), <, strlen(*line));
    }
}

SUITE("auth_results")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/auth_results/read", test_read);
    g_test_add_func("/auth_results/keywords in lower case", test_keywords);
    g_test_add_func("/auth_results/properties", test_properties);
    g_test_add_func("/auth_results/claims", test_claims);
    g_test_add_func("/auth_results/deep comments", test_deep_comments);
    g_test_add_func("/auth_results/forged", test_forged);
    g_test_add_func("/auth_results/write", test_write);
    g_test_add_func("/auth_results/write long", test_write_long);
    g_test_add_func("/auth_results/write odd blanks", test_write_odd_blanks);
    return g_test_run();
}
