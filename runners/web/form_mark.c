/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/form_mark.h"

#include <openssl/crypto.h>
#include <string.h>

#define FUTURE 60 /* seconds: another host's clock may be so far ahead */

struct FormKeys {
    GBytes *newest, *older; /* older NULL: there is none */
    int64_t replaced;       /* the second at which newest took its place */
};

static GBytes *key_of(GBytes *secret)
{
    static const char purpose[] = "form of the pages";
    size_t length;
    const guchar *octets = g_bytes_get_data(secret, &length);
    guint8 sum[32];
    gsize size = sizeof sum;
    g_autoptr(GHmac) hmac = g_hmac_new(G_CHECKSUM_SHA256, octets, length);
    g_hmac_update(hmac, (const guchar *)purpose, (gssize)strlen(purpose));
    g_hmac_get_digest(hmac, sum, &size);
    return g_bytes_new(sum, size);
}

FormKeys *form_keys_new(const GPtrArray *secrets, int64_t replaced_at)
{
    FormKeys *keys = g_new0(FormKeys, 1);
    keys->newest = key_of(secrets->pdata[0]);
    keys->older = secrets->len > 1 ? key_of(secrets->pdata[1]) : NULL;
    keys->replaced = replaced_at / G_USEC_PER_SEC;
    return keys;
}

void form_keys_free(FormKeys *keys)
{
    if (!keys)
        return;
    g_bytes_unref(keys->newest);
    g_clear_pointer(&keys->older, g_bytes_unref);
    g_free(keys);
}

static char *mark_of(GBytes *key, const char *about, int64_t second)
{
    size_t length;
    const guchar *octets = g_bytes_get_data(key, &length);
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT " %s", second, about);
    g_autofree char *sum = g_compute_hmac_for_string(G_CHECKSUM_SHA256, octets, length, text, -1);
    return g_strdup_printf("%" G_GINT64_FORMAT ".%s", second, sum);
}

char *form_mark_make(const FormKeys *keys, const char *about, int64_t now)
{
    return mark_of(keys->newest, about, now / G_USEC_PER_SEC);
}

static bool is_of(GBytes *key, const char *about, const char *mark, int64_t second)
{
    g_autofree char *right = mark_of(key, about, second);
    return strlen(mark) == strlen(right) && CRYPTO_memcmp(mark, right, strlen(right)) == 0;
}

bool form_mark_good(const FormKeys *keys, const char *about, const char *mark, int64_t now)
{
    const int64_t second = g_ascii_strtoll(mark, NULL, 10), this_second = now / G_USEC_PER_SEC;
    if (second < this_second - FORM_MARK_LIFE || second > this_second + FUTURE)
        return false;
    return is_of(keys->newest, about, mark, second) ||
           (keys->older && second <= keys->replaced + FUTURE && is_of(keys->older, about, mark, second));
}
