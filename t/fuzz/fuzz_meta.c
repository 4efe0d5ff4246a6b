/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Metadata of any bytes: refused, or an object that prints as one line,
 * which reads back as the same object; and any value can be set and read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "switchboard/meta.h"
#include "t/fuzz/fuzz.h"

static void check_same(const json_t *meta)
{
    char *text = meta_print(meta);
    require(text && !strpbrk(text, "\r\n"));
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) again = meta_parse(text, strlen(text), &error);
    require(again ? json_equal(meta, again) : strlen(text) > META_MAX);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *word = g_strndup((const char *)data, size);
    g_autoptr(json_t) meta = meta_parse((const char *)data, size, &error);
    require(meta || (g_error_matches(error, FAIL, FAIL_NEVER) && g_utf8_validate(error->message, -1, NULL)));
    if (meta)
        check_same(meta);
    g_autoptr(json_t) made = meta ? json_incref(meta) : json_object();
    meta_set_string(made, META_LIST, word);
    meta_set_integer(made, META_ARRIVAL, (int64_t)size);
    g_autofree char *valid = g_utf8_make_valid(word, -1);
    require(strcmp(meta_string(made, META_LIST, "?"), valid) == 0);
    require(meta_integer(made, META_ARRIVAL, -1) == (int64_t)size);
    require(!meta_string(made, META_ARRIVAL, NULL) && meta_integer(made, META_LIST, -1) == -1);
    check_same(made);
    return 0;
}
