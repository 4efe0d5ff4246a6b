/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/message.h"

#include <string.h>

#include "t/mail/corpus.h"
#include "t/suite.h"

static Message *make(const char *text)
{
    g_autoptr(GBytes) octets = g_bytes_new_static(text, strlen(text));
    return message_new(octets);
}

static char *whole(const Message *message)
{
    g_autoptr(GBytes) head = message_head(message), body = message_body(message);
    GString *text = g_string_new(NULL);
    g_string_append_len(text, g_bytes_get_data(head, NULL), (gssize)g_bytes_get_size(head));
    g_string_append_len(text, g_bytes_get_data(body, NULL), (gssize)g_bytes_get_size(body));
    return g_string_free(text, false);
}

static void assert_whole(const Message *message, const char *expected)
{
    g_autofree char *text = whole(message);
    g_assert_cmpstr(text, ==, expected);
}

static void test_fields(void)
{
    g_autoptr(Message) message =
        make("From: a@example.com\r\nSubject : one\r\n two\r\n\tthree \r\nTo:\r\n\r\nbody\r\n");
    g_assert_cmpuint(message_field_count(message), ==, 3);
    g_autofree char *subject = message_value(message, "SUBJECT"), *to = message_value(message, "to");
    g_assert_cmpstr(subject, ==, "one two\tthree");
    g_assert_cmpstr(to, ==, "");
    g_assert_null(message_value(message, "Sub"));
    g_autoptr(GBytes) body = message_body(message);
    g_assert_cmpmem(g_bytes_get_data(body, NULL), g_bytes_get_size(body), "body\r\n", 6);
}

static void test_edits(void)
{
    g_autoptr(Message) message = make("A: 1\r\nB: 2\r\n  x\r\nb: 3\r\nC:4\r\n\r\nbody");
    message_prepend(message, "P", "0");
    message_append(message, "Z", "9");
    assert_whole(message, "P: 0\r\nA: 1\r\nB: 2\r\n  x\r\nb: 3\r\nC:4\r\nZ: 9\r\n\r\nbody");
    message_set(message, "B", "new");
    assert_whole(message, "P: 0\r\nA: 1\r\nB: new\r\nC:4\r\nZ: 9\r\n\r\nbody");
    g_assert_cmpuint(message_remove(message, "p"), ==, 1);
    g_assert_cmpuint(message_remove(message, "nothing"), ==, 0);
    assert_whole(message, "A: 1\r\nB: new\r\nC:4\r\nZ: 9\r\n\r\nbody");
    g_assert_cmpuint(message_length(message), ==, strlen("A: 1\r\nB: new\r\nC:4\r\nZ: 9\r\n\r\nbody"));
}

/* However many fields there are, removing some is no work: moved one by one, those behind would keep this test from
 * its end. */
static void test_many_fields(void)
{
    g_autoptr(GString) octets = g_string_new("A: first\r\n");
    for (unsigned at = 0; at < 1000000; at++)
        g_string_append(octets, "X: y\r\nA:\r\n");
    g_string_append(octets, "\r\nbody\r\n");
    g_autoptr(GBytes) bytes = g_bytes_new(octets->str, octets->len);
    g_autoptr(Message) message = message_new(bytes);
    message_set(message, "A", "set");
    g_assert_cmpuint(message_field_count(message), ==, 1000001);
    g_assert_cmpuint(message_remove(message, "X"), ==, 1000000);
    g_autoptr(GBytes) head = message_head(message);
    g_assert_cmpmem(g_bytes_get_data(head, NULL), g_bytes_get_size(head), "A: set\r\n\r\n", 10);
}

static void test_no_value_makes_a_field(void)
{
    g_autoptr(Message) message = make("A: 1\r\n\r\n");
    message_append(message, "X", "one\r\nBcc: evil\n\n two\rthree\r\n folded");
    assert_whole(message, "A: 1\r\nX: one Bcc: evil \r\n two three\r\n folded\r\n\r\n");
}

static void test_bare_line_feeds(void)
{
    g_autoptr(Message) message = make("A: 1\nB: 2\n x\n\nbody\n");
    message_append(message, "Z", "9");
    assert_whole(message, "A: 1\nB: 2\n x\nZ: 9\n\nbody\n");
}

static void test_mbox_line(void)
{
    g_autoptr(Message) message = make("From anne Thu Jan  1 00:00:00 1970\r\nA: 1\r\n\r\nbody");
    message_prepend(message, "P", "0");
    assert_whole(message, "From anne Thu Jan  1 00:00:00 1970\r\nP: 0\r\nA: 1\r\n\r\nbody");
    g_autoptr(Message) field = make("From : anne@example.com\r\n\r\n");
    g_assert_true(message_has(field, "from"));
}

static void test_byte_order_mark(void)
{
    g_autoptr(Message) message = make("\xef\xbb\xbf" "From: a@example.com\r\nB: 2\r\n\r\nbody");
    g_assert_true(message_has(message, "B"));
    message_append(message, "Z", "9");
    assert_whole(message, "\xef\xbb\xbf" "From: a@example.com\r\nB: 2\r\nZ: 9\r\n\r\nbody");
    g_autoptr(Message) text = make("\xef\xbb\xbfonly text\r\n");
    g_assert_cmpuint(message_field_count(text), ==, 0);
}

static void test_line_that_is_no_field(void)
{
    g_autoptr(Message) message = make("A: 1\r\nthis is text\r\nB: 2\r\n\r\nbody");
    g_assert_cmpuint(message_field_count(message), ==, 1);
    g_assert_true(message_ends_header_early(message));
    assert_whole(message, "A: 1\r\nthis is text\r\nB: 2\r\n\r\nbody");
    message_append(message, "Z", "9");
    assert_whole(message, "A: 1\r\nZ: 9\r\nthis is text\r\nB: 2\r\n\r\nbody");
}

static void test_ends_early(void)
{
    static const char *const early[] = {"A: 1\ntext", "A: 1\r\n: x\r\n\r\nbody", "From x\nA: 1\nFrom y\nB: 2\n\nbody"};
    static const char *const whole[] = {"", "A: 1", "A: 1\r\n", "A: 1\r\n\r\n", "A: 1\n\ntext", "text", "\nbody"};
    for (size_t i = 0; i < G_N_ELEMENTS(early); i++) {
        g_autoptr(Message) message = make(early[i]);
        g_assert_true(message_ends_header_early(message));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(whole); i++) {
        g_autoptr(Message) message = make(whole[i]);
        g_assert_false(message_ends_header_early(message));
    }
}

static void test_no_header_at_all(void)
{
    g_autoptr(Message) text = make(" only text\r\n");
    message_append(text, "Z", "9");
    assert_whole(text, "Z: 9\r\n\r\n only text\r\n");
    message_remove(text, "Z");
    assert_whole(text, " only text\r\n");
    g_autoptr(Message) blank = make("\r\nbody");
    message_append(blank, "Z", "9");
    assert_whole(blank, "Z: 9\r\n\r\nbody");
    g_autoptr(Message) empty = make("");
    message_append(empty, "Z", "9");
    assert_whole(empty, "Z: 9\r\n");
}

static void test_cut_off(void)
{
    g_autoptr(Message) message = make("A: 1\r\nB: 2");
    message_append(message, "Z", "9");
    assert_whole(message, "A: 1\r\nB: 2\r\nZ: 9\r\n");
    message_remove(message, "Z");
    assert_whole(message, "A: 1\r\nB: 2");
}

static void test_nul_and_eight_bit(void)
{
    static const char text[] = "A: 1\0\xff\r\nB: 2\r\n\r\n\0\xfe";
    g_autoptr(GBytes) octets = g_bytes_new_static(text, sizeof text - 1);
    g_autoptr(Message) message = message_new(octets);
    g_autofree char *value = message_value(message, "A");
    g_assert_cmpstr(value, ==, "1\xff");
    message_remove(message, "B");
    g_autoptr(GBytes) head = message_head(message), body = message_body(message);
    g_assert_cmpmem(g_bytes_get_data(head, NULL), g_bytes_get_size(head), "A: 1\0\xff\r\n\r\n", 10);
    g_assert_cmpmem(g_bytes_get_data(body, NULL), g_bytes_get_size(body), "\0\xfe", 2);
}

static void test_message_id(void)
{
    g_autoptr(Message) message = make("Message-Id:\r\n <ant@example.com> (x)\r\n\r\n");
    g_autofree char *id = message_id(message);
    g_assert_cmpstr(id, ==, "ant@example.com");
    g_autoptr(Message) none = make("Message-ID: <>\r\n\r\n");
    g_assert_null(message_id(none));
    g_assert_null(message_id_brief(none));
    g_autofree char *much = g_strnfill(MESSAGE_ID_BRIEF + 1, 'x');
    g_autofree char *text = g_strdup_printf("Message-ID: <%s>\r\n\r\n", much);
    g_autoptr(Message) endless = make(text);
    g_autofree char *whole = message_id(endless), *brief = message_id_brief(endless);
    g_assert_cmpstr(whole, ==, much);
    g_assert_cmpmem(brief, strlen(brief), much, MESSAGE_ID_BRIEF);
    g_autofree char *ant = message_id_hash("<ant>"), *bare = message_id_hash("ant"), *first = message_id_hash("first");
    g_assert_cmpstr(ant, ==, "MS6QLWERIJLGCRF44J7USBFDELMNT2BW");
    g_assert_cmpstr(bare, ==, ant);
    g_assert_cmpstr(first, ==, "4CMWUN6BHVCMHMDAOSJZ2Q72G5M32MWB");
}

static void assert_same(GBytes *mail, const Message *message, const char *name)
{
    g_autoptr(GBytes) head = message_head(message), body = message_body(message);
    size_t length, head_length = g_bytes_get_size(head), body_length = g_bytes_get_size(body);
    const char *octets = g_bytes_get_data(mail, &length);
    if (length != head_length + body_length || memcmp(octets, g_bytes_get_data(head, NULL), head_length) != 0 ||
        (body_length > 0 && memcmp(octets + head_length, g_bytes_get_data(body, NULL), body_length) != 0))
        g_error("%s: octets changed", name);
}

static void check_mail(GBytes *mail, const char *name, void *data)
{
    g_autoptr(Message) message = message_new(mail);
    assert_same(mail, message, name);
    message_prepend(message, "X-Test-First", "1");
    message_append(message, "X-Test-Last", "2");
    g_autoptr(GBytes) head = message_head(message);
    g_autoptr(Message) again = message_new(head);
    if (!message_has(again, "X-Test-First") || !message_has(again, "X-Test-Last"))
        g_error("%s: an added field is not in the header", name);
    message_remove(message, "x-test-last");
    message_remove(message, "x-test-first");
    assert_same(mail, message, name);
    for (size_t at = 0; at < message_field_count(message); at++) {
        g_autofree char *value = field_value(message_field(message, at));
        g_assert_null(strpbrk(value, "\r\n"));
    }
    ++*(unsigned *)data;
}

static void check_both(GBytes *mail, const char *name, void *data)
{
    g_autoptr(GBytes) wire = corpus_wire(mail);
    check_mail(mail, name, data);
    check_mail(wire, name, data);
}

/* ---- In-Reply-To ---- */

static void test_replied_ids(void)
{
    static const struct {
        const char *value, *ids, *likely;
    } cases[] = {
        {"<1@x>", "1@x", "1@x"},
        {"<one@x>", "one@x", "one@x"},
        {"one@x", "one@x", "one@x"},
        {"<a@x> <b@x>", "a@x|b@x", "b@x"},
        {"<bob@x> <1.b@y>", "bob@x|1.b@y", "1.b@y"},
        {"<1.b@y> <bob@x>", "1.b@y|bob@x", "1.b@y"},
        {"Message from Tom <tom@x> of \"Mon\" <1.b@y>", "tom@x|1.b@y", "1.b@y"},
        {"Message from Tom <tom@x> of Mon", "tom@x", NULL},
        {"Message from tom4@x of Mon", "tom4@x", NULL},
        {"Your mail (1.b@y), \"2.c@z\".", "1.b@y|2.c@z", NULL},
        {"<CMM.0.90.2.1234.tom>", "CMM.0.90.2.1234.tom", "CMM.0.90.2.1234.tom"},
        {"<a b> <> <1@x", "1@x", NULL},
        {"@ a@ @b <", "", NULL},
        {"", "", NULL},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        const char *likely;
        g_autofree char *text = g_strdup_printf("In-Reply-To: %s\n\nx\n", cases[at].value);
        g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
        g_autoptr(Message) message = message_new(bytes);
        g_autoptr(GPtrArray) ids = message_replied_ids(message, &likely);
        g_assert_cmpstr(likely, ==, cases[at].likely);
        g_ptr_array_add(ids, NULL);
        g_autofree char *all = g_strjoinv("|", (char **)ids->pdata);
        g_assert_cmpstr(all, ==, cases[at].ids);
    }
    g_autoptr(GString) many = g_string_new("In-Reply-To:");
    for (int i = 0; i < 100000; i++)
        g_string_append_printf(many, " <%d@x>", i);
    g_string_append(many, "\n\n");
    g_autoptr(GBytes) bytes = g_bytes_new(many->str, many->len);
    g_autoptr(Message) message = message_new(bytes);
    const char *likely;
    g_autoptr(GPtrArray) ids = message_replied_ids(message, &likely);
    g_assert_cmpuint(ids->len, ==, MESSAGE_REPLIED_MAX);
    g_assert_cmpstr(ids->pdata[0], ==, "0@x");
    g_assert_cmpstr(likely, ==, "99999@x");
}

static void test_corpus(gconstpointer folder)
{
    unsigned count = 0;
    g_assert_cmpuint(corpus_each(folder, check_both, &count), >, 80);
    g_test_message("%u mails", count);
    g_assert_cmpuint(count, >, 160);
}

SUITE("message")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/message/fields", test_fields);
    g_test_add_func("/message/edits", test_edits);
    g_test_add_func("/message/many fields", test_many_fields);
    g_test_add_func("/message/no value makes a field", test_no_value_makes_a_field);
    g_test_add_func("/message/bare line feeds", test_bare_line_feeds);
    g_test_add_func("/message/mbox line", test_mbox_line);
    g_test_add_func("/message/byte order mark", test_byte_order_mark);
    g_test_add_func("/message/line that is no field", test_line_that_is_no_field);
    g_test_add_func("/message/ends early", test_ends_early);
    g_test_add_func("/message/no header at all", test_no_header_at_all);
    g_test_add_func("/message/cut off", test_cut_off);
    g_test_add_func("/message/nul and eight bit", test_nul_and_eight_bit);
    g_test_add_func("/message/id", test_message_id);
    g_test_add_func("/message/replied ids", test_replied_ids);
    g_test_add_data_func("/message/corpus lists", "lists", test_corpus);
    g_test_add_data_func("/message/corpus mime", "mime", test_corpus);
    return g_test_run();
}
