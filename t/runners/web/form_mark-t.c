/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Marks in forms: of whom, for what, and for how long they are good. */
#include "runners/web/form_mark.h"
#include "t/suite.h"

#include <string.h>

#define NOW (INT64_C(1700000000) * G_USEC_PER_SEC)

/* Keys of these secrets, the newest first, which took the place of the one before it at NOW. */
static FormKeys *keys_of(const char *newest, const char *older, const char *oldest)
{
    const char *const all[] = {newest, older, oldest};
    g_autoptr(GPtrArray) secrets = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    for (size_t i = 0; i < G_N_ELEMENTS(all) && all[i]; i++)
        g_ptr_array_add(secrets, g_bytes_new(all[i], strlen(all[i])));
    return form_keys_new(secrets, secrets->len > 1 ? NOW : 0);
}

static int64_t at(int64_t seconds)
{
    return NOW + seconds * G_USEC_PER_SEC;
}

static void test_good(void)
{
    g_autoptr(FormKeys) keys = keys_of("one", NULL, NULL), other = keys_of("two", NULL, NULL);
    g_autofree char *mark = form_mark_make(keys, "a.example.com", NOW);
    g_assert_true(form_mark_good(keys, "a.example.com", mark, NOW));
    g_assert_true(form_mark_good(keys, "a.example.com", mark, at(FORM_MARK_LIFE - 1)));
    g_assert_true(form_mark_good(keys, "a.example.com", mark, at(-30))); /* of another host */
    g_assert_false(form_mark_good(keys, "b.example.com", mark, NOW));
    g_assert_false(form_mark_good(other, "a.example.com", mark, NOW));
    g_assert_false(form_mark_good(keys, "a.example.com", mark, at(FORM_MARK_LIFE + 1)));
    g_assert_false(form_mark_good(keys, "a.example.com", mark, at(-120)));
}

/* A form that is open when the secret is replaced can be sent as long as others, once. */
static void test_secret_replaced(void)
{
    g_autoptr(FormKeys) before = keys_of("one", NULL, NULL), after = keys_of("two", "one", NULL);
    g_autoptr(FormKeys) again = keys_of("three", "two", "one");
    g_autofree char *old = form_mark_make(before, "a", at(-3600)), *late = form_mark_make(before, "a", at(30));
    g_assert_true(form_mark_good(after, "a", old, at(60)));
    g_assert_true(form_mark_good(after, "a", old, at(FORM_MARK_LIFE - 3601)));
    g_assert_true(form_mark_good(after, "a", late, at(30))); /* by a host whose clock is ahead */
    g_assert_false(form_mark_good(after, "a", old, at(FORM_MARK_LIFE - 3599)));
    g_assert_false(form_mark_good(after, "b", old, at(60)));
    g_assert_false(form_mark_good(again, "a", old, at(60)));
    g_autofree char *fresh = form_mark_make(after, "a", at(60)), *stolen = form_mark_make(before, "a", at(600));
    g_assert_true(form_mark_good(after, "a", fresh, at(60)));
    g_assert_false(form_mark_good(before, "a", fresh, at(60)));
    g_assert_false(form_mark_good(after, "a", stolen, at(600)));
}

/* Whatever stands there instead is not good. */
static void test_forged(void)
{
    g_autoptr(FormKeys) keys = keys_of("one", "two", NULL);
    g_autofree char *mark = form_mark_make(keys, "a", NOW);
    static const char *const forged[] = {"", ".", "x", "1700000000", "1700000000.", "-1.00", "99999999999999999999.0"};
    for (size_t i = 0; i < G_N_ELEMENTS(forged); i++)
        g_assert_false(form_mark_good(keys, "a", forged[i], NOW));
    g_autofree char *sum = g_compute_hmac_for_string(G_CHECKSUM_SHA256, (const guchar *)"one", 3, "1700000000 a", -1);
    g_autofree char *by_secret = g_strdup_printf("1700000000.%s", sum); /* which other purposes have, too */
    g_assert_false(form_mark_good(keys, "a", by_secret, NOW));
    for (size_t i = 0; i < strlen(mark); i++) {
        g_autofree char *other = g_strdup(mark);
        other[i] ^= 1;
        g_assert_false(form_mark_good(keys, "a", other, NOW));
    }
    mark[strlen(mark) - 1] = '\0';
    g_assert_false(form_mark_good(keys, "a", mark, NOW));
}

SUITE("web/form_mark")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/form_mark/good", test_good);
    g_test_add_func("/form_mark/the secret is replaced", test_secret_replaced);
    g_test_add_func("/form_mark/forged", test_forged);
    return g_test_run();
}
