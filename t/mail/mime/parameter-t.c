/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/parameter.h"
#include "t/suite.h"

/* name, value: of the parameter "id"; NULL: none. twice: it cannot be told. */
typedef struct Case {
    const char *name, *text, *type, *value;
    bool broken, twice;
} Case;

static const Case cases[] = {
    {"plain", "message/partial; id=a", "message/partial", "a", false, false},
    {"none", "message/partial; number=1", "message/partial", NULL, false, false},
    {"quoted", "message/partial; id=\"a b;c\\\"d\\\\\"", "message/partial", "a b;c\"d\\", false, false},
    {"case", "Message/PARTIAL; ID=Ab", "Message/PARTIAL", "Ab", false, false},
    {"comments", "(x (y)\\)) message (z) / (\") partial (;) ; (id=no) id (k) = (l) \"a\" (m)", "message/partial", "a",
     false, false},
    {"comment-after", "message/partial; id=a(b)", "message/partial", "a", false, false},
    {"unquoted", "message/partial; id=a@b/c=d; number=1", "message/partial", "a@b/c=d", false, false},
    {"empty-quoted", "message/partial; id=\"\"", "message/partial", "", false, false},
    {"semicolons", "message/partial;; ;id=a;", "message/partial", "a", false, false},
    {"continued", "message/partial; id*1=b; id*0=a; id*2=\"c d\"", "message/partial", "abc d", false, false},
    {"percent", "message/partial; id*=utf-8'en'a%20b%3B", "message/partial", "a b;", false, false},
    {"mixed", "message/partial; id*0*=us-ascii''a%41; id*1=%41; id*2*=%42", "message/partial", "aA%41B", false, false},
    {"zero-octet", "message/partial; id*=x''a%00b", "message/partial", NULL, false, true},
    {"twice", "message/partial; id=a; id=a", "message/partial", NULL, false, true},
    {"both-ways", "message/partial; id=a; id*=x''b", "message/partial", NULL, false, true},
    {"gap", "message/partial; id*0=a; id*2=b", "message/partial", NULL, false, true},
    {"no-end", "message/partial; id=\"a", "message/partial", "a", true, false},
    {"open-comment", "message/partial (; id=a", "message/partial", NULL, true, false},
    {"no-equal", "message/partial; id; id=a", "message/partial", "a", true, false},
    {"rubbish", "message/partial, x; id=a", "message/partial", "a", true, false},
    {"more-words", "message/partial x; id=a", "message/partial", "a", true, false},
    {"no-slash", "text", "", NULL, false, false},
    {"empty", "", "", NULL, false, false},
    {"leading-zero", "message/partial; id*01=a", "message/partial", NULL, true, false},
};

static void test_case(gconstpointer data)
{
    const Case *one = data;
    g_autoptr(ContentType) type = content_type_parse(one->text);
    g_autofree char *value = NULL;
    g_assert_cmpstr(type->type, ==, one->type);
    g_assert_cmpint(type->broken, ==, one->broken);
    g_assert_cmpint(content_type_parameter(type, "id", &value), ==, !one->twice);
    g_assert_cmpstr(value, ==, one->value);
}

static void test_token(void)
{
    static const char *const pairs[][2] = {
        {"7bit", "7bit"}, {" (x) 7BIT (y) ", "7BIT"}, {"7bit x", "7bit x"}, {"", ""}, {"7bit; x", "7bit; x"}};
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
        g_autofree char *token = content_token(pairs[i][0]);
        g_assert_cmpstr(token, ==, pairs[i][1]);
    }
}

SUITE("parameter")
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/parameter/", cases[i].name, NULL);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    g_test_add_func("/parameter/token", test_token);
    return g_test_run();
}
