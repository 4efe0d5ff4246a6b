/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/fail.h"
#include "lists/moving/mmdf.h"
#include "lists/moving/pickle.h"
#include "lists/moving/python_mail.h"
#include "t/suite.h"

#define BYTES(text) text, sizeof(text) - 1

/* {"a": [1, -2, 2**40, -300, 1.5, True, None, "\u00e9\udcff"], "t": ("x",), "big": 2**200}, as Python writes it. */
static const struct {
    const char *bytes;
    size_t length;
} same[] = {
    {BYTES(
        "(dp0\x0aVa\x0ap1\x0a(lp2\x0aI1\x0a\x61I-2\x0a\x61L1099511627776L\x0a\x61I-300\x0a\x61\x46\x31.5\x0a\x61I0"
        "1\x0a\x61NaV\xe9\x5cudcff\x0ap3\x0a\x61sVt\x0ap4\x0a(Vx\x0ap5\x0atp6\x0asVbig\x0ap7\x0aL16069380442589902"
        "75541962092341162602522202993782792835301376L\x0as.")},
    {BYTES(
        "}q\x00(X\x01\x00\x00\x00\x61q\x01]q\x02(K\x01J\xfe\xff\xff\xffL1099511627776L\x0aJ\xd4\xfe\xff\xffG\x3f"
        "\xf8\x00\x00\x00\x00\x00\x00I01\x0aNX\x05\x00\x00\x00\xc3\xa9\xed\xb3\xbfq\x03\x65X\x01\x00\x00\x00tq\x04"
        "(X\x01\x00\x00\x00xq\x05tq\x06X\x03\x00\x00\x00\x62igq\x07L1606938044258990275541962092341162602522202993"
        "782792835301376L\x0au.")},
    {BYTES(
        "\x80\x02}q\x00(X\x01\x00\x00\x00\x61q\x01]q\x02(K\x01J\xfe\xff\xff\xff\x8a\x06\x00\x00\x00\x00\x00\x01J"
        "\xd4\xfe\xff\xffG\x3f\xf8\x00\x00\x00\x00\x00\x00\x88NX\x05\x00\x00\x00\xc3\xa9\xed\xb3\xbfq\x03\x65X\x01"
        "\x00\x00\x00tq\x04X\x01\x00\x00\x00xq\x05\x85q\x06X\x03\x00\x00\x00\x62igq\x07\x8a\x1a\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01u.")},
    {BYTES(
        "\x80\x03}q\x00(X\x01\x00\x00\x00\x61q\x01]q\x02(K\x01J\xfe\xff\xff\xff\x8a\x06\x00\x00\x00\x00\x00\x01J"
        "\xd4\xfe\xff\xffG\x3f\xf8\x00\x00\x00\x00\x00\x00\x88NX\x05\x00\x00\x00\xc3\xa9\xed\xb3\xbfq\x03\x65X\x01"
        "\x00\x00\x00tq\x04X\x01\x00\x00\x00xq\x05\x85q\x06X\x03\x00\x00\x00\x62igq\x07\x8a\x1a\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01u.")},
    {BYTES(
        "\x80\x04\x95`\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01\x61\x94]\x94(K\x01J\xfe\xff\xff\xff\x8a\x06\x00"
        "\x00\x00\x00\x00\x01J\xd4\xfe\xff\xffG\x3f\xf8\x00\x00\x00\x00\x00\x00\x88N\x8c\x05\xc3\xa9\xed\xb3\xbf"
        "\x94\x65\x8c\x01t\x94\x8c\x01x\x94\x85\x94\x8c\x03\x62ig\x94\x8a\x1a\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01u.")},
    {BYTES(
        "\x80\x05\x95`\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01\x61\x94]\x94(K\x01J\xfe\xff\xff\xff\x8a\x06\x00"
        "\x00\x00\x00\x00\x01J\xd4\xfe\xff\xffG\x3f\xf8\x00\x00\x00\x00\x00\x00\x88N\x8c\x05\xc3\xa9\xed\xb3\xbf"
        "\x94\x65\x8c\x01t\x94\x8c\x01x\x94\x85\x94\x8c\x03\x62ig\x94\x8a\x1a\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01u.")},
};

static const char *const no_classes[] = {NULL};

static void check_item(const PickleValue *list, guint at, PickleType type, int64_t integer)
{
    const PickleValue *item = list->items->pdata[at];
    g_assert_cmpint(item->type, ==, type);
    g_assert_cmpint(item->integer, ==, integer);
}

static void test_protocols(void)
{
    for (size_t protocol = 0; protocol < G_N_ELEMENTS(same); protocol++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Pickle) pickle = pickle_read(same[protocol].bytes, same[protocol].length, no_classes, &error);
        g_assert_no_error(error);
        const PickleValue *root = pickle_root(pickle), *list = pickle_get(root, "a");
        g_assert_cmpuint(list->items->len, ==, 8);
        check_item(list, 0, PICKLE_INTEGER, 1);
        check_item(list, 1, PICKLE_INTEGER, -2);
        check_item(list, 2, PICKLE_INTEGER, INT64_C(1) << 40);
        check_item(list, 3, PICKLE_INTEGER, -300);
        check_item(list, 5, PICKLE_BOOL, 1);
        check_item(list, 6, PICKLE_NONE, 0);
        g_assert_cmpfloat(((const PickleValue *)list->items->pdata[4])->number, ==, 1.5);
        g_autoptr(GString) bytes = g_string_new(NULL);
        pickle_text_bytes(list->items->pdata[7], bytes);
        g_assert_cmpstr(bytes->str, ==, "\xc3\xa9\xff");
        g_assert_cmpstr(pickle_string(pickle_get(root, "t")->items->pdata[0]), ==, "x");
        g_assert_true(pickle_get(root, "big")->integer == INT64_MAX);
        g_assert_null(pickle_get(root, "nothing"));
        g_assert_null(pickle_get(list, "a"));
    }
}

/* As Python 2 wrote it, which Mailman 2 ran on. */
static void test_python_2(void)
{
    static const char old[] = 
        "(dp0\nS'key'\np1\nS'va\\x6c\\n\\'q\\\\'\np2\nsS'n'\nI01\nsS'l'\n(lp3\nL5L\naF2.5\nag2\nas.";
    g_autoptr(GError) error = NULL;
    g_autoptr(Pickle) pickle = pickle_read(BYTES(old), no_classes, &error);
    g_assert_no_error(error);
    const PickleValue *root = pickle_root(pickle), *list = pickle_get(root, "l");
    g_assert_cmpstr(pickle_string(pickle_get(root, "key")), ==, "val\n'q\\");
    g_assert_cmpint(pickle_get(root, "n")->type, ==, PICKLE_BOOL);
    g_assert_cmpint(((const PickleValue *)list->items->pdata[0])->integer, ==, 5);
    g_assert_true(list->items->pdata[2] == pickle_get(root, "key"));
}

static void test_objects(void)
{
    static const char *const classes[] = {"here.", "copy_reg.", NULL};
    static const char old[] = "(ihere\nThing\np0\n(dp1\nS'x'\nI1\nsb.";
    static const char reduced[] = "ccopy_reg\n_reconstructor\n(chere\nThing\nc__builtin__\nobject\nNtR(dS'x'\nI1\nsb.";
    g_autoptr(GError) error = NULL;
    g_autoptr(Pickle) pickle = pickle_read(BYTES(old), classes, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(pickle_root(pickle)->bytes->str, ==, "here.Thing");
    g_assert_cmpint(pickle_get(pickle_root(pickle)->state, "x")->integer, ==, 1);
    static const char *const more[] = {"here.Thing", "copy_reg._reconstructor", "__builtin__.object", NULL};
    g_autoptr(Pickle) made = pickle_read(BYTES(reduced), more, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(pickle_root(made)->bytes->str, ==, "here.Thing");
    g_assert_cmpint(pickle_get(pickle_root(made)->state, "x")->integer, ==, 1);
}

static void refused(const char *bytes, size_t length, const char *why)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Pickle) pickle = pickle_read(bytes, length, no_classes, &error);
    g_assert_null(pickle);
    g_assert_error(error, FAIL, FAIL_NEVER);
    if (!strstr(error->message, why))
        g_error("\"%s\" lacks \"%s\"", error->message, why);
}

static void test_refused(void)
{
    refused(BYTES("cposix\nsystem\n(S'touch x'\ntR."), "posix.system");
    refused(BYTES("\x80\x04\x8c\x05posix\x8c\x06system\x93)R."), "posix.system");
    refused(BYTES("(S'touch x'\niposix\nsystem\n."), "posix.system");
    refused(BYTES("Ppersistent\n."), "instruction");
    refused(BYTES("\x82\x01."), "instruction");
    refused(BYTES("."), "value");
    refused(BYTES("(."), "value");
    refused(BYTES("]N"), "early");
    refused(BYTES("T\xff\xff\xff\x7fx."), "early");
    refused(BYTES("\x8d\xff\xff\xff\xff\xff\xff\xff\xffx."), "early");
    refused(BYTES("h\x05."), "not kept");
    refused(BYTES("g12\n."), "not kept");
    refused(BYTES("(NNNd."), "no value");
    refused(BYTES("NNNs."), "items");
    refused(BYTES("K\x01Na."), "items");
    refused(BYTES("NNR."), "no class");
    refused(BYTES("NNb."), "no object");
    refused(BYTES("S'open\n."), "quotes");
    refused(BYTES("Sopen"), "line");
    refused(BYTES(""), "early");
    refused(BYTES("0."), "value");
    refused(BYTES("t."), "mark");
    g_autofree char *name = g_strnfill(1000, 'x'), *class = g_strdup_printf("cemail.\n%s\n.", name);
    refused(class, strlen(class), "too long");
    for (size_t protocol = 0; protocol < G_N_ELEMENTS(same); protocol++)
        for (size_t length = 0; length < same[protocol].length - 1; length++) {
            g_autoptr(GError) error = NULL;
            g_autoptr(Pickle) cut = pickle_read(same[protocol].bytes, length, no_classes, &error);
            g_assert_true(cut || g_error_matches(error, FAIL, FAIL_NEVER));
            g_assert_null(cut);
        }
}

/* ---- mails ---- */

/* A mail of Python 2 with a part inside itself. */
static void test_mail_inside_itself(void)
{
    static const char endless[] =
        "cemail.message\nMessage\n)\x81q\x00(dS'_headers'\n(l(S'Content-Type'\nS'multipart/x; boundary=b'\ntas"
        "S'_payload'\n(lh\0" "asb.";
    g_autoptr(GError) error = NULL;
    g_autoptr(Pickle) pickle = pickle_read(BYTES(endless), python_mail_classes, &error);
    g_assert_no_error(error);
    g_assert_null(python_mail_bytes(pickle_root(pickle), NULL, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

/* Each part has the one before it twice, so all of them together are 2^40. */
static void test_mail_that_doubles(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) bytes = g_string_new("(lp0\n");
    for (int i = 0; i < 40; i++)
        g_string_append_printf(bytes,
                               "cemail.message\nMessage\n)\x81(dS'_headers'\n(lsS'_payload'\ng%d\nsbp1\n"
                               "(lg1\nag1\nap%d\n",
                               i == 0 ? 0 : i + 1, i + 2);
    g_string_append(bytes, "g1\n.");
    g_autoptr(Pickle) pickle = pickle_read(bytes->str, bytes->len, python_mail_classes, &error);
    g_assert_no_error(error);
    g_assert_null(python_mail_bytes(pickle_root(pickle), NULL, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

static void test_table(void)
{
    static const char bytes[] = "(dS'a'\nI1\nsI7\nI8\nsS'b'\nI2\nsS'a'\nI3\ns.";
    g_autoptr(GError) error = NULL;
    g_autoptr(Pickle) pickle = pickle_read(BYTES(bytes), NULL, &error);
    g_assert_no_error(error);
    g_autoptr(GHashTable) table = pickle_table(pickle_root(pickle)), none = pickle_table(NULL),
                          empty = pickle_table(pickle_get(pickle_root(pickle), "b"));
    g_assert_cmpint(((const PickleValue *)g_hash_table_lookup(table, "a"))->integer, ==, 3);
    g_assert_cmpint(((const PickleValue *)g_hash_table_lookup(table, "b"))->integer, ==, 2);
    g_assert_cmpuint(g_hash_table_size(table), ==, 2);
    g_assert_cmpuint(g_hash_table_size(none) + g_hash_table_size(empty), ==, 0);
}

static void test_mail(void)
{
    static const char one[] =
        "cMailman.Message\nMessage\n)\x81(dS'_headers'\n(l(S'Subject'\nS'a\\r\\nEvil: b'\nta(S'X-MailFrom'\n"
        "S'jo@example.org'\ntasS'_payload'\nS'text\\r\\nmore'\nsb.";
    g_autofree char *sender = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(Pickle) pickle = pickle_read(BYTES(one), python_mail_classes, &error);
    g_assert_no_error(error);
    g_autoptr(GBytes) mail = python_mail_bytes(pickle_root(pickle), &sender, &error);
    g_assert_no_error(error);
    g_autofree char *text = g_strndup(g_bytes_get_data(mail, NULL), g_bytes_get_size(mail));
    g_assert_cmpstr(text, ==, "Subject: a\n Evil: b\n\ntext\nmore\n"); /* ends as mail does */
    g_assert_cmpstr(sender, ==, "jo@example.org");
    g_autoptr(Pickle) none = pickle_read(BYTES("I1\n."), python_mail_classes, &error);
    g_assert_null(python_mail_bytes(pickle_root(none), NULL, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

static bool collect(GBytes *mail, void *data, GError **error)
{
    (void)error;
    g_string_append_len(data, g_bytes_get_data(mail, NULL), (gssize)g_bytes_get_size(mail));
    g_string_append(data, "|");
    return true;
}

static void test_mmdf(void)
{
    static const struct {
        const char *file, *mails;
    } cases[] = {
        {"", ""},
        {"\1\1\1\1\njo@example.org\nA: b\n\n>From x\n\1\1\1\1\n\1\1\1\1\nFrom jo Fri\nC: d\n\ne\n\1\1\1\1\n",
         "A: b\n\nFrom x\n|C: d\n\ne\n|"},
        {"\1\1\1\1\nA: b\n\ncut", "A: b\n\ncut|"},
        {"\1\1\1\1\n\1\1\1\1\n", ""},
        {"\1\1\1\1x\n", "\1\1\1\1x\n|"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) mails = g_string_new(NULL);
        g_autoptr(GBytes) file = g_bytes_new_static(cases[i].file, strlen(cases[i].file));
        g_assert_true(mmdf_each(file, collect, mails, NULL));
        g_assert_cmpstr(mails->str, ==, cases[i].mails);
    }
}

SUITE("moving/pickle")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pickle/each protocol says the same", test_protocols);
    g_test_add_func("/pickle/Python 2", test_python_2);
    g_test_add_func("/pickle/objects are data", test_objects);
    g_test_add_func("/pickle/what is refused, and where", test_refused);
    g_test_add_func("/pickle/a mail inside itself", test_mail_inside_itself);
    g_test_add_func("/pickle/a mail that doubles", test_mail_that_doubles);
    g_test_add_func("/pickle/a table of a dict", test_table);
    g_test_add_func("/pickle/a mail, with what Mailman added left out", test_mail);
    g_test_add_func("/pickle/mmdf", test_mmdf);
    return g_test_run();
}
