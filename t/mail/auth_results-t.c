/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth_results.h"

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

/* Whoever claims the name is found, even where the rest is nonsense. */
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
        {"other; lists.example.com", false},     {"", false},
        {"(lists.example.com", false},            {"\"lists\\.example.com\"; spf=pass", true},
        {"\"\r\nlists.example.com\"; spf=pass", true}, {"\"lists.example.com", true},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_test_message("%s", cases[at].value);
        g_assert_cmpint(auth_results_claims(cases[at].value, "lists.example.com"), ==, cases[at].claims);
    }
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/auth_results/read", test_read);
    g_test_add_func("/auth_results/keywords in lower case", test_keywords);
    g_test_add_func("/auth_results/properties", test_properties);
    g_test_add_func("/auth_results/claims", test_claims);
    g_test_add_func("/auth_results/write", test_write);
    g_test_add_func("/auth_results/write long", test_write_long);
    g_test_add_func("/auth_results/write odd blanks", test_write_odd_blanks);
    return g_test_run();
}
