/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test functions that read what anybody who can mail writes. However often a part of it is repeated, the work grows
 * with its length only (t/doubling.h). Fields of addresses are in address-t, bounce reports in bounce_address-t. */
#include <string.h>

#include "mail/answer.h"
#include "mail/bounce/verp.h"
#include "mail/header.h"
#include "mail/list_address.h"
#include "mail/message.h"
#include "mail/mime/content_filter.h"
#include "mail/mime/decorate.h"
#include "mail/mime/mime.h"
#include "mail/mime/parameter.h"
#include "mail/mime/partial.h"
#include "t/doubling.h"
#include "t/suite.h"

/* ---- the header ---- */

static bool is_odd(const Field *field, void *data)
{
    return field_is(field, data);
}

static void edit(const char *text, size_t length, void *data)
{
    static const char *const names[] = {"A", "Subject", "Message-ID", "Received"};
    g_autoptr(GBytes) octets = g_bytes_new_static(text, length);
    g_autoptr(Message) message = message_new(octets);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *value = message_value(message, names[i]);
        message_set(message, names[i], value ? value : "x");
        message_prepend(message, names[i], "y");
    }
    g_autofree char *id = message_id_brief(message);
    answer_allowed("anne@example.org", message);
    message_remove_if(message, is_odd, (void *)"A");
    g_assert_cmpuint(message_length(message), >, 0);
}

static void test_header(void)
{
    static const Doubling inputs[] = {
        {.unit = "A: b\r\n"},         {.unit = "Received: b\r\n"},        {.unit = "Message-ID: <a@b>\r\n"},
        {.unit = "A:\n"},             {.before = "A:", .unit = "\r\n x"}, {.before = "A:", .unit = "\r\n "},
        {.unit = "A"},                {.unit = "A "},                     {.unit = ":"},
        {.before = "A: b\n", .unit = "\r"}, {.before = "Message-ID: ", .unit = "<"},
        {.before = "Message-ID:", .unit = " "}, {.before = "Precedence:", .unit = "\t"},
        {.unit = "From x\n"},         {.unit = "\xef\xbb\xbf"},           {.before = "A: b\n\n", .unit = "A: b\n"},
    };
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), edit, NULL);
}

static void decode(const char *text, size_t length, void *data)
{
    g_autofree char *decoded = header_decode(text);
    g_autofree char *encoded = header_encode(decoded, 10), *phrase = header_phrase(text, 10);
    g_assert_true(decoded && encoded && phrase);
}

/* RFC 2047. */
static void test_encoded_words(void)
{
    static const Doubling inputs[] = {
        {.unit = "=?"},
        {.unit = "="},
        {.unit = "?"},
        {.unit = "=?x"},
        {.unit = "=?x?q?"},
        {.unit = "=?x?q? "},
        {.unit = " =?utf-8?q?"},
        {.unit = "=?utf-8?q?a?="},
        {.unit = "=?utf-8?q?a?= "},
        {.unit = "=?utf-8?q?=C3?= =?utf-8?q?=B6?= "},
        {.unit = "=?utf-8?b?w7Y=?=\r\n "},
        {.unit = "=?iso-8859-1?q?=F6?= =?utf-8?q?=B6?="},
        {.unit = "=?no-such-charset?q?=F6?= =?utf-8?q?=B6?="},
        {.unit = "=?iso-2022-jp?b?GyRC?="},
        {.unit = "=?utf-7?q?+?="},
        {.unit = "=?utf-8?q?a?=", .next = " "},
        {.unit = "\xff"},
        {.unit = "\xc3\xb6"},
        {.unit = " "},
        {.unit = "a "},
        {.unit = "\""},
        {.unit = "\r\n"},
    };
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), decode, NULL);
}

/* ---- parameters ---- */

static void parameters(const char *text, size_t length, void *data)
{
    static const char *const names[] = {"boundary", "x"};
    g_autoptr(ContentType) type = content_type_parse(text);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *value = NULL, *lax = content_type_first(type, names[i]);
        content_type_parameter(type, names[i], &value);
    }
    g_autofree char *token = content_token(text);
}

/* RFC 2045 and 2231. */
static void test_parameters(void)
{
    static const Doubling inputs[] = {
        {.unit = ";"},
        {.unit = "; "},
        {.unit = "/"},
        {.unit = "("},
        {.unit = "(a)"},
        {.unit = "\\"},
        {.before = "(", .unit = "\\)"},
        {.before = "a/b; x=", .unit = "("},
        {.before = "a/b; x=\"", .unit = "\\\""},
        {.before = "a/b; x=\"", .unit = "a"},
        {.before = "a/b", .unit = ";x"},
        {.before = "a/b", .unit = ";x="},
        {.before = "a/b", .unit = ";x=y"},
        {.before = "a/b", .unit = "; x*=u'e'%41"},
        {.before = "a/b; x*0=a", .unit = "; x*1=b"},
        {.before = "a/b", .unit = "; x*99=b"},
        {.before = "a/b", .unit = "; x*99999999=b"},
        {.before = "a/b", .unit = "; x*"},
        {.before = "a/b; x=", .unit = "'"},
        {.before = "a/b; x*=''", .unit = "%"},
        {.before = "a/b; x*=", .unit = "''"},
        {.unit = " "},
        {.unit = "x=\""},
    };
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), parameters, NULL);
}

/* ---- structure ---- */

static void decorate_it(const char *text, size_t length, void *data)
{
    g_autoptr(GBytes) octets = g_bytes_new_static(text, length);
    g_autoptr(Message) message = message_new(octets);
    g_auto(Partial) partial = {0};
    if (partial_read(message, &partial)) {
        g_autofree char *digest = partial_digest(message);
        g_autoptr(GPtrArray) whole = partial_join(&octets, 1, "x");
    }
    g_auto(Decorated) decorated = {0};
    decorate(message, &(Decoration){.header = "head\n", .footer = "foot\n"}, &decorated);
}

static void take_apart(const char *text, size_t length, void *data)
{
    g_autoptr(GPtrArray) parts = mime_parts(text, length);
    for (guint i = 0; i < parts->len; i++) {
        GString *plain = mime_text(parts->pdata[i], length);
        GString *stripped = mime_strip_html(plain);
        g_string_free(stripped, TRUE);
        g_string_free(plain, TRUE);
    }
}

static void filter(const char *text, size_t length, void *data)
{
    static const char *const exe[] = {"exe", NULL};
    g_autoptr(GBytes) octets = g_bytes_new_static(text, length);
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GPtrArray) removed = g_ptr_array_new_with_free_func(g_free);
    ContentResult result;
    const ContentRules rules = {
        .filter_extensions = (char *const *)exe, .html_to_text = true, .collapse_alternatives = true};
    g_assert_true(content_filter(message, &rules, &result, removed, NULL));
}

#define MIXED "Content-Type: multipart/mixed; boundary=b\n\n"
#define COLON "Content-Type: multipart/mixed; boundary=\"b:\"\n"

static const Doubling structures[] = {
    {.before = MIXED, .unit = "--b"},
    {.before = MIXED, .unit = "--b\n"},
    {.before = MIXED, .unit = "--b \n"},
    {.before = MIXED, .unit = "--b--\n"},
    {.before = MIXED, .unit = "-"},
    {.before = MIXED, .unit = "--"},
    {.before = MIXED, .unit = "\n"},
    {.before = MIXED, .unit = "\n--"},
    {.before = MIXED, .unit = "--b\t"},
    {.before = MIXED, .unit = "--b\n\n", .next = "x"},
    {.before = MIXED, .unit = "--b\n" MIXED},
    {.before = MIXED, .unit = "--b\n" MIXED, .after = "--b--\n"},
    {.before = MIXED, .unit = "--c\n"},
    {.before = MIXED "--b\n" MIXED "--b\n" MIXED, .unit = "--c\n"},
    {.before = COLON "\n", .unit = "--b:\n"},
    {.before = COLON, .unit = "--b:\n"},
    {.before = COLON "\n--b:\n", .unit = "--c:\n"},
    {.before = MIXED "--b\n", .unit = "text\nContent-Type: text/plain\n"},
    {.unit = "Content-Type: message/rfc822\n\n"},
    {.unit = "--b\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nQTogYgo=\n", .before = MIXED},
    {.before = MIXED, .unit = "--b\nContent-Type: message/rfc822\n\n"},
    {.before = MIXED, .unit = "--b\nContent-Type: text/html\n\n<p>a"},
    {.before = MIXED "--b\n", .unit = "A: b\n"},
    {.unit = "Content-Type: multipart/mixed; boundary=b\n", .next = "\n--b\n"},
    {.unit = "Content-Type: message/partial; id=x; number=1; total=2\n", .after = "\n"},
    {.before = "Content-Type: message/partial; id=", .unit = "x", .after = "; number=1\n\nA: b\n\nbody"},
    {.before = "Content-Type: message/partial; id=x; number=1; total=1\n\n", .unit = "A: b\n"},
    {.before = "Content-Type: message/partial; id=x; number=", .unit = "0", .after = "1\n\n"},
    {.unit = "Content-Transfer-Encoding: 7bit\n", .after = "Content-Type: message/partial; id=x; number=1\n\n"},
    {.before = "A: b\n\n", .unit = "=\n"},
    {.before = "Content-Transfer-Encoding: quoted-printable\n\n", .unit = "="},
    {.before = "Content-Transfer-Encoding: quoted-printable\n\n", .unit = "=\n"},
    {.before = "Content-Transfer-Encoding: quoted-printable\n\n", .unit = "= "},
    {.before = "Content-Transfer-Encoding: quoted-printable\n\n=", .unit = " "},
    {.before = "Content-Transfer-Encoding: base64\n\n", .unit = "A"},
    {.before = "Content-Type: text/plain; charset=iso-2022-jp\n\n", .unit = "\033"},
    {.before = "Content-Type: text/plain; charset=no-such-charset\n\n", .unit = "\xff"},
    {.before = "Content-Type: text/plain; charset=utf-8\n\n", .unit = "\xc3"},
    {.before = "Content-Disposition: ", .unit = "(", .after = "\n\n"},
};

static void test_structure(void)
{
    doubling_check_all(structures, G_N_ELEMENTS(structures), decorate_it, NULL);
    doubling_check_all(structures, G_N_ELEMENTS(structures), take_apart, NULL);
    doubling_check_all(structures, G_N_ELEMENTS(structures), filter, NULL);
}

static void strip(const char *text, size_t length, void *data)
{
    g_autoptr(GString) html = g_string_new_len(text, (gssize)length);
    GString *stripped = mime_strip_html(html);
    g_string_free(stripped, TRUE);
    stripped = mime_html_text(html);
    g_string_free(stripped, TRUE);
}

/* A tag with so many bytes of attributes, no two of one name. */
static void strip_attributes(const char *text, size_t length, void *data)
{
    g_autoptr(GString) html = g_string_new("<p ");
    for (unsigned number = 0; html->len < length; number++)
        g_string_append_printf(html, "a%u ", number);
    strip(html->str, html->len, data);
}

static void test_html(void)
{
    static const Doubling inputs[] = {
        {.unit = "<"},
        {.unit = ">"},
        {.unit = "<p"},
        {.unit = "<p>"},
        {.unit = "<!--"},
        {.unit = "<!-- -->"},
        {.unit = "<style>"},
        {.unit = "<script>"},
        {.unit = "<!"},
        {.unit = "</"},
        {.unit = "&"},
        {.unit = "&#"},
        {.unit = "&#x41;"},
        {.unit = "&amp"},
        {.unit = "&amp;"},
        {.unit = "<a b=\""},
        {.unit = "<a b='\">"},
        {.unit = "<br>"},
        {.unit = "<a href=http:x>"},
        {.unit = "<a href=http:x>", .next = "</a>"},
        {.unit = "<pre>\n"},
        {.unit = " "},
        {.unit = "\n"},
        {.unit = "<div>"},
        {.unit = "<b>", .next = "</i>"},
        {.unit = "<b>", .next = "</b>"},
        {.unit = "<ul><li>x"},
        {.unit = "<table><tr><td>"},
        {.unit = "<?"},
        {.unit = "<a@b"},
        {.before = "<p ", .unit = "a=b "},
    };
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), strip, NULL);
    doubling_check(&(Doubling){.unit = "a "}, strip_attributes, NULL);
}

/* ---- addresses of lists ---- */

static bool absent(const char *local, const char *domain, bool *exists, char **list_id, void *data, GError **error)
{
    *exists = false;
    return true;
}

static void find(const char *text, size_t length, void *data)
{
    static const char delimiters[] = {'+', '-', '='};
    for (size_t i = 0; i < G_N_ELEMENTS(delimiters); i++) {
        g_autoptr(ListAddress) found = list_address_find(text, delimiters[i], absent, NULL, NULL);
        g_assert_null(found);
        VerpList list = {.list_id = "l.example", .local = "l-bounces", .host = "example", .delimiter = delimiters[i]};
        VerpRead read = {0};
        verp_parse(data, VERP_COPY, &list, text, 0, &read);
        verp_read_clear(&read);
        verp_token_parse(data, VERP_COPY, "l.example", text, 0, &read);
        verp_read_clear(&read);
    }
}

static void test_list_address(void)
{
    static const Doubling inputs[] = {
        {.unit = "+", .after = "@example.com"},          {.unit = "-", .after = "@example.com"},
        {.unit = "a+", .after = "@example.com"},         {.unit = "-bounces", .after = "@example.com"},
        {.unit = "-bounces-", .after = "@example.com"},  {.unit = "=", .after = "@example.com"},
        {.unit = "\\\"", .before = "\"", .after = "\"@example.com"}, {.unit = "@"},
        {.unit = ".", .before = "l@"},                   {.unit = "a"},
        {.unit = "a=", .after = "+aaaaaaaaaaaa"},         {.unit = "QQ", .after = ".aaaaaaaaaaaa"},
    };
    static const char secret[] = "0123456789abcdef0123456789abcdef";
    g_autoptr(GPtrArray) secrets = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(secrets, g_bytes_new_static(secret, sizeof secret));
    g_autoptr(VerpKeys) keys = verp_keys_new(secrets);
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), find, keys);
}

SUITE("hostile")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hostile/header", test_header);
    g_test_add_func("/hostile/encoded words", test_encoded_words);
    g_test_add_func("/hostile/parameters", test_parameters);
    g_test_add_func("/hostile/structure", test_structure);
    g_test_add_func("/hostile/html", test_html);
    g_test_add_func("/hostile/list address", test_list_address);
    return g_test_run();
}
