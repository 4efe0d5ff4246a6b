/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Marks in forms: of whom, for what, and for how long they are good. */
#include "runners/web/form_mark.h"

#include <string.h>

#define NOW (INT64_C(1700000000) * G_USEC_PER_SEC)

static void test_good(void)
{
    g_autoptr(GBytes) secret = g_bytes_new("one", 3), other = g_bytes_new("two", 3);
    g_autoptr(GBytes) key = form_mark_key(secret), key_of_other = form_mark_key(other);
    g_autofree char *mark = form_mark_make(key, "a.example.com", NOW);
    g_assert_true(form_mark_good(key, "a.example.com", mark, NOW));
    g_assert_true(form_mark_good(key, "a.example.com", mark, NOW + (FORM_MARK_LIFE - 1) * G_USEC_PER_SEC));
    g_assert_true(form_mark_good(key, "a.example.com", mark, NOW - 30 * G_USEC_PER_SEC)); /* of another host */
    g_assert_false(form_mark_good(key, "b.example.com", mark, NOW));
    g_assert_false(form_mark_good(key_of_other, "a.example.com", mark, NOW));
    g_assert_false(form_mark_good(key, "a.example.com", mark, NOW + (FORM_MARK_LIFE + 1) * G_USEC_PER_SEC));
    g_assert_false(form_mark_good(key, "a.example.com", mark, NOW - 120 * G_USEC_PER_SEC));
}

/* Whatever stands there instead is not good, the secret's own bytes among it. */
static void test_forged(void)
{
    g_autoptr(GBytes) secret = g_bytes_new("one", 3);
    g_autoptr(GBytes) key = form_mark_key(secret);
    g_autofree char *mark = form_mark_make(key, "a", NOW), *raw = form_mark_make(secret, "a", NOW);
    static const char *const forged[] = {"", ".", "x", "1700000000", "1700000000.", "-1.00", "99999999999999999999.0"};
    for (size_t i = 0; i < G_N_ELEMENTS(forged); i++)
        g_assert_false(form_mark_good(key, "a", forged[i], NOW));
    g_assert_false(form_mark_good(key, "a", raw, NOW));
    for (size_t i = 0; i < strlen(mark); i++) {
        g_autofree char *other = g_strdup(mark);
        other[i] ^= 1;
        g_assert_false(form_mark_good(key, "a", other, NOW));
    }
    mark[strlen(mark) - 1] = '\0';
    g_assert_false(form_mark_good(key, "a", mark, NOW));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/form_mark/good", test_good);
    g_test_add_func("/form_mark/forged", test_forged);
    return g_test_run();
}
