/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/meta.h"

#include <string.h>

#include "base/fail.h"

/* Without memory jansson would return NULL, and a sound entry would look
 * damaged. By GLib's rule (base/fail.h) the process ends instead, and whatever JSON was
 * made before main() is freed by the same free(). */
__attribute__((constructor)) static void end_without_memory(void)
{
    json_set_alloc_funcs(g_malloc, g_free);
}

const char *meta_string(const json_t *meta, const char *key, const char *fallback)
{
    const char *value = json_string_value(json_object_get(meta, key));
    return value ? value : fallback;
}

int64_t meta_integer(const json_t *meta, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(meta, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

bool meta_bool(const json_t *meta, const char *key)
{
    return json_is_true(json_object_get(meta, key));
}

void meta_set_string(json_t *meta, const char *key, const char *value)
{
    if (!value) {
        json_object_del(meta, key);
        return;
    }
    g_autofree char *valid = g_utf8_make_valid(value, -1);
    json_object_set_new(meta, key, json_string(valid));
}

void meta_set_integer(json_t *meta, const char *key, int64_t value)
{
    json_object_set_new(meta, key, json_integer(value));
}

void meta_set_bool(json_t *meta, const char *key, bool value)
{
    json_object_set_new(meta, key, json_boolean(value));
}

char *meta_print(const json_t *meta)
{
    return json_dumps(meta, JSON_COMPACT | JSON_SORT_KEYS);
}

json_t *meta_parse(const char *text, size_t length, GError **error)
{
    if (length > META_MAX) {
        fail(error, FAIL_NEVER, "metadata of %zu bytes; at most %d are allowed", length, META_MAX);
        return NULL;
    }
    json_error_t fault;
    json_t *meta = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    g_autofree char *words = meta ? NULL : g_utf8_make_valid(fault.text, -1); /* they quote, and may cut a character */
    if (!meta)
        fail(error, FAIL_NEVER, "metadata is no JSON object: %s at byte %d", words, fault.position);
    else if (!json_is_object(meta)) {
        json_decref(g_steal_pointer(&meta));
        fail(error, FAIL_NEVER, "metadata is no JSON object");
    }
    return meta;
}
