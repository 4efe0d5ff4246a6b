/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/partial.h"

#include <string.h>

#include "t/mail/corpus.h"
#include "t/suite.h"

#define HEAD "From: a@b\r\n"

/* Says what is read of a header. fault NULL: sound; kind false: no part at all. */
typedef struct Case {
    const char *name, *header;
    bool kind;
    const char *fault, *id;
    int64_t number, total;
} Case;

#define TYPE "Content-Type: message/partial; "
#define NUMBER(text) TYPE "id=x; number=" text "\r\n"

static const Case cases[] = {
    {"plain", TYPE "id=\"k7@x.test\"; number=2; total=3\r\n", true, NULL, "k7@x.test", 2, 3},
    {"reordered", TYPE "total=3;\r\n\tnumber=3; id=k7@x.test\r\n", true, NULL, "k7@x.test", 3, 3},
    {"no-total", NUMBER("1"), true, NULL, "x", 1, 0},
    {"zeros", NUMBER("0000000000000007; total=\"0009\""), true, NULL, "x", 7, 9},
    {"upper", "CONTENT-TYPE : MESSAGE/PARTIAL; ID=x; NUMBER=1; TOTAL=1\r\n", true, NULL, "x", 1, 1},
    {"2231", TYPE "id*0*=us-ascii'en'a%40; id*1=b; number=1\r\n", true, NULL, "a@b", 1, 0},
    {"comment", "Content-Type: (c) message (d)/partial (e); number=(f)1(g); id=\"x\"\r\n", true, NULL, "x", 1, 0},
    {"7bit", NUMBER("1") "Content-Transfer-Encoding: (x) 7BIT\r\n", true, NULL, "x", 1, 0},
    {"largest", NUMBER("999999999"), true, NULL, "x", 999999999, 0},
    {"other", "Content-Type: message/rfc822\r\n", false, NULL, NULL, 0, 0},
    {"none", "", false, NULL, NULL, 0, 0},
    {"in-subject", "Subject: message/partial; number=1; id=x\r\n", false, NULL, NULL, 0, 0},
    {"number-0", NUMBER("0"), true, "its number is 0", NULL, 0, 0},
    {"negative", NUMBER("-1"), true, "its number is no number", NULL, 0, 0},
    {"plus", NUMBER("+1"), true, "its number is no number", NULL, 0, 0},
    {"empty-number", NUMBER("\"\""), true, "its number is no number", NULL, 0, 0},
    {"hex", NUMBER("0x1"), true, "its number is no number", NULL, 0, 0},
    {"2-to-31", NUMBER("2147483648"), true, "its number is over 999999999", NULL, 0, 0},
    {"2-to-64", NUMBER("18446744073709551617"), true, "its number is over 999999999", NULL, 0, 0},
    {"total-0", NUMBER("1; total=0"), true, "its total is 0", NULL, 0, 0},
    {"over", NUMBER("4; total=3"), true, "its number is over its total", NULL, 0, 0},
    {"no-number", TYPE "id=x\r\n", true, "it has no number", NULL, 0, 0},
    {"no-id", TYPE "number=1\r\n", true, "it has no id", NULL, 0, 0},
    {"empty-id", TYPE "number=1; id=\"\"\r\n", true, "it has no id", NULL, 0, 0},
    {"twice", NUMBER("1; number=2"), true, "a parameter stands there twice", NULL, 0, 0},
    {"two-fields", "Content-Type: text/plain\r\n" NUMBER("1"), true, "it has several Content-Type fields", NULL, 0, 0},
    {"broken", TYPE "id=x; number=1; \"\r\n", true, "its Content-Type cannot be read", NULL, 0, 0},
    {"base64", NUMBER("1") "Content-Transfer-Encoding: base64\r\n", true,
     "its Content-Transfer-Encoding is not 7bit", NULL, 0, 0},
    {"two-encodings", NUMBER("1") "Content-Transfer-Encoding: 7bit\r\nContent-Transfer-Encoding: 8bit\r\n", true,
     "its Content-Transfer-Encoding is not 7bit", NULL, 0, 0},
};

static Message *make(const char *octets)
{
    g_autoptr(GBytes) bytes = g_bytes_new(octets, strlen(octets));
    return message_new(bytes);
}

static void test_case(gconstpointer data)
{
    const Case *one = data;
    g_autofree char *octets = g_strconcat(HEAD, one->header, "\r\nbody\r\n", NULL);
    g_autoptr(Message) message = make(octets);
    g_auto(Partial) partial = {0};
    g_assert_cmpint(partial_read(message, &partial), ==, one->kind);
    g_assert_cmpstr(partial.fault, ==, one->fault);
    if (!one->kind || one->fault)
        return;
    g_assert_cmpstr(partial.id, ==, one->id);
    g_assert_cmpint(partial.number, ==, one->number);
    g_assert_cmpint(partial.total, ==, one->total);
}

static void test_long_id(void)
{
    for (size_t length = PARTIAL_ID_MAX; length <= PARTIAL_ID_MAX + 1; length++) {
        g_autofree char *id = g_strnfill(length, 'i');
        g_autofree char *octets = g_strdup_printf(TYPE "number=1; id=\"%s\"\r\n\r\n", id);
        g_autoptr(Message) message = make(octets);
        g_auto(Partial) partial = {0};
        g_assert_true(partial_read(message, &partial));
        g_assert_cmpstr(partial.fault, ==, length > PARTIAL_ID_MAX ? "its id is longer than 998 octets" : NULL);
    }
}

static void test_8bit(void)
{
    g_autoptr(Message) body = make(NUMBER("1") "\r\nJ\xf6rg\r\n");
    g_autoptr(Message) header = make("Subject: J\xf6rg\r\n" NUMBER("1") "\r\n");
    g_auto(Partial) partial = {0}, sound = {0};
    g_assert_true(partial_read(body, &partial));
    g_assert_cmpstr(partial.fault, ==, "it holds octets over 127");
    g_assert_true(partial_read(header, &sound));
    g_assert_null(sound.fault);
}

static void test_keys(void)
{
    g_autofree char *key = partial_set_key("l.x", "anne@example.org", "i");
    g_autofree char *folded = partial_set_key("l.x", "anne@EXAMPLE.org", "i");
    static const char *const others[][3] = {{"l.y", "anne@example.org", "i"}, {"l.x", "Anne@example.org", "i"},
                                            {"l.x", "anne@example.org", "I"}, {"l.x", "", "i"},
                                            {"l.x", "anne@example.or", "gi"}, {"l.xanne", "@example.org", "i"}};
    g_assert_cmpuint(strlen(key), ==, PARTIAL_KEY_DIGITS);
    g_assert_cmpstr(key, ==, folded);
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        g_autofree char *other = partial_set_key(others[i][0], others[i][1], others[i][2]);
        g_assert_cmpstr(key, !=, other);
    }
}

/* ---- joining ---- */

static char *join_texts(const char *trace, const char *const *texts)
{
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    for (; *texts; texts++)
        g_ptr_array_add(parts, g_bytes_new(*texts, strlen(*texts)));
    g_autoptr(GPtrArray) whole = partial_join((GBytes *const *)parts->pdata, parts->len, trace);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < whole->len; i++) {
        size_t length;
        const char *octets = g_bytes_get_data(whole->pdata[i], &length);
        g_string_append_len(text, octets, (gssize)length);
    }
    return g_string_free(text, FALSE);
}

#define JOIN(trace, ...) join_texts(trace, (const char *const[]){__VA_ARGS__, NULL})

#define OUTER \
    "Received: from a by hub; 10:00\r\nFrom: ann@x.test\r\nTo: list@y.test\r\nDate: D1\r\nSubject: plan (1/2)\r\n" \
    "Message-ID: <p1@x.test>\r\nX-Mark: outer1\r\nMIME-Version: 1.0\r\n" \
    "Content-Type: message/partial;\r\n\tnumber=1; id=\"k7@x.test\"\r\n"
#define OUTER_KEPT \
    "Received: from a by hub; 10:00\r\nFrom: ann@x.test\r\nTo: list@y.test\r\nDate: D1\r\nX-Mark: outer1\r\n"
#define SECOND "Received: x\r\nSubject: plan (2/2)\r\nContent-Type: message/partial; total=2; id=k7; number=2\r\n\r\n"

static void test_example(void)
{
    g_autofree char *whole =
        JOIN("by hub", OUTER "\r\nDate: D0\r\nMessage-ID: <whole@x.test>\r\nSubject: plan\r\nX-Mark: inner\r\n"
                             "MIME-Version: 1.0\r\nContent-Type: text/plain\r\nContent-Description: minutes\r\n\r\n"
                             "line one\r\nline two\r\n",
             SECOND "line three\r\nline four\r\n");
    g_assert_cmpstr(whole, ==,
                    "Received: by hub\r\n" OUTER_KEPT "Message-ID: <whole@x.test>\r\nSubject: plan\r\n"
                    "MIME-Version: 1.0\r\nContent-Type: text/plain\r\nContent-Description: minutes\r\n\r\n"
                    "line one\r\nline two\r\nline three\r\nline four\r\n");
}

static void test_borders(void)
{
    g_autofree char *in_name = JOIN(NULL, OUTER "\r\nSub", SECOND "ject: x\r\n\r\nb\r\n");
    g_autofree char *in_value = JOIN(NULL, OUTER "\r\nSubject: x\r\n", SECOND " folded\r\n\r\nb\r\n");
    g_autofree char *in_separator = JOIN(NULL, OUTER "\r\nSubject: x\r\n\r", SECOND "\nb\r\n");
    g_autofree char *empty = JOIN(NULL, OUTER "\r\n", SECOND, SECOND "Subject: x\r\n\r\nb\r\n", SECOND);
    g_autofree char *no_body = JOIN(NULL, OUTER, SECOND "Subject: x\r\n\r\nb\r\n");
    g_assert_cmpstr(in_name, ==, OUTER_KEPT "Subject: x\r\n\r\nb\r\n");
    g_assert_cmpstr(in_value, ==, OUTER_KEPT "Subject: x\r\n folded\r\n\r\nb\r\n");
    g_assert_cmpstr(in_separator, ==, in_name);
    g_assert_cmpstr(empty, ==, in_name);
    g_assert_cmpstr(no_body, ==, in_name);
}

static void test_poor_headers(void)
{
    g_autofree char *empty = JOIN(NULL, OUTER "\r\n\r\nb\r\n");
    g_autofree char *none = JOIN(NULL, OUTER "\r\nno header here\r\n\r\nb\r\n");
    g_autofree char *no_type = JOIN(NULL, OUTER "\r\nX: y\r\nSubject: s\r\n\r\nb");
    g_autofree char *only_header = JOIN(NULL, OUTER "\r\nSubject: s");
    g_autofree char *bare = JOIN(NULL, OUTER "\r\nSubject: s\r\n\r\na\nb\rc\r\n", SECOND "\n\r\n");
    g_assert_cmpstr(empty, ==, OUTER_KEPT "\r\nb\r\n");
    g_assert_cmpstr(none, ==, OUTER_KEPT "\r\nno header here\r\n\r\nb\r\n");
    g_assert_cmpstr(no_type, ==, OUTER_KEPT "Subject: s\r\n\r\nb");
    g_assert_cmpstr(only_header, ==, OUTER_KEPT "Subject: s\r\n\r\n");
    g_assert_cmpstr(bare, ==, OUTER_KEPT "Subject: s\r\n\r\na\nb\rc\r\n\n\r\n");
}

/* A line without a colon ends a head without an empty line. As in a message that was sent whole, none is put there:
 * mail programs that read on find the fields below it. */
#define EARLY_END "Subject: s\r\nno colon\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n"
static void test_head_ends_early(void)
{
    g_autofree char *whole = JOIN(NULL, OUTER "\r\n" EARLY_END "YWFh\r\n", SECOND "YmJi\r\n");
    g_autofree char *split = JOIN(NULL, OUTER "\r\nSubject: s\r\nno col", SECOND "on\r\n\r\nb\r\n");
    g_assert_cmpstr(whole, ==, OUTER_KEPT EARLY_END "YWFh\r\nYmJi\r\n");
    g_assert_cmpstr(split, ==, OUTER_KEPT "Subject: s\r\nno colon\r\n\r\nb\r\n");
}

static void test_signatures(void)
{
    g_autofree char *whole = JOIN(
        NULL, "Return-Path: <a@b>\r\nDKIM-Signature: v=1;\r\n\tb=x\r\nARC-Seal: i=1\r\narc-message-signature: i=1\r\n"
              "Authentication-Results: mx\r\nReceived-SPF: pass\r\nEncrypted: no\r\nList-Id: <x>\r\n" OUTER
              "\r\nEncrypted: yes\r\nDKIM-Signature: inner\r\nContent-Type: text/plain\r\n\r\nb\r\n");
    g_assert_cmpstr(whole, ==, "List-Id: <x>\r\n" OUTER_KEPT "Encrypted: yes\r\nContent-Type: text/plain\r\n\r\nb\r\n");
}

/* ---- the corpus ---- */

static GBytes *load(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
    gsize length;
    if (!g_file_get_contents(path, &text, &length, NULL))
        return NULL;
    g_autoptr(GBytes) raw = g_bytes_new(text, length);
    return corpus_wire(raw);
}

static gint compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The fields as a sorted bag, unfolded, less those that speak for one part. */
static char *bag_of(const Message *message)
{
    static const char *const dropped[] = {"return-path:", "dkim-signature:", "arc-", "authentication-results:",
                                          "received-spf:", "x-google-dkim-signature:", "domainkey-signature:", NULL};
    g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < message_field_count(message); i++) {
        const Field *field = message_field(message, i);
        g_autofree char *value = field_value(field), *name = g_ascii_strdown(field->text, (gssize)field->name_length);
        char *line = g_strdup_printf("%s: %s", name, value);
        bool drop = false;
        for (const char *const *prefix = dropped; *prefix; prefix++)
            drop |= g_str_has_prefix(line, *prefix);
        if (drop)
            g_free(line);
        else
            g_ptr_array_add(fields, line);
    }
    g_ptr_array_sort(fields, compare);
    g_ptr_array_add(fields, NULL);
    return g_strjoinv("\n", (char **)fields->pdata);
}

static void check_set(const char *folder)
{
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    for (int number = 1;; number++) {
        g_autofree char *name = g_strdup_printf("%02d.eml", number);
        GBytes *part = load(folder, name);
        if (!part)
            break;
        g_ptr_array_add(parts, part);
        g_autoptr(Message) message = message_new(part);
        g_auto(Partial) partial = {0};
        g_assert_true(partial_read(message, &partial));
        bool eight = strstr(folder, "8bit") != NULL && number < 3;
        g_assert_cmpstr(partial.fault, ==, eight ? "it holds octets over 127" : NULL);
        g_assert_true(eight || partial.number == number);
    }
    g_test_message("%s: %u parts", folder, parts->len);
    g_assert_cmpuint(parts->len, >, 1);
    g_autoptr(GBytes) expected = load(folder, "expected.eml");
    g_autoptr(GPtrArray) whole = partial_join((GBytes *const *)parts->pdata, parts->len, NULL);
    g_autoptr(Message) got = message_new(whole->pdata[0]), wanted = message_new(expected);
    g_autoptr(GBytes) body = message_body(wanted);
    g_assert_true(g_bytes_equal(whole->pdata[1], body));
    g_autofree char *got_bag = bag_of(got), *wanted_bag = bag_of(wanted);
    g_assert_cmpstr(got_bag, ==, wanted_bag);
}

static void test_corpus(void)
{
    g_auto(GStrv) paths = corpus_paths("partial");
    for (char **path = paths; *path; path++) {
        g_autoptr(GDir) sets = g_dir_open(*path, 0, NULL);
        unsigned count = 0;
        for (const char *name; (name = g_dir_read_name(sets));) {
            g_autofree char *folder = g_build_filename(*path, name, NULL);
            if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
                continue;
            check_set(folder);
            count++;
        }
        g_assert_cmpuint(count, >=, 5);
    }
}

SUITE("partial")
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/partial/read/", cases[i].name, NULL);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    g_test_add_func("/partial/long-id", test_long_id);
    g_test_add_func("/partial/8bit", test_8bit);
    g_test_add_func("/partial/keys", test_keys);
    g_test_add_func("/partial/join/example", test_example);
    g_test_add_func("/partial/join/borders", test_borders);
    g_test_add_func("/partial/join/poor-headers", test_poor_headers);
    g_test_add_func("/partial/join/head-ends-early", test_head_ends_early);
    g_test_add_func("/partial/join/signatures", test_signatures);
    g_test_add_func("/partial/corpus", test_corpus);
    return g_test_run();
}
