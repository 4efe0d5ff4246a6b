/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read and write the metadata of an entry, which is a JSON object of at most META_MAX bytes. The keys that the
 * switchboard itself reads and writes are named here. All others belong to the runners (lists/keys.h), and travel
 * unread.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define META_MAX (1024 * 1024)

#define META_LIST "list"       /* string: List-Id of the list, or absent */
#define META_ARRIVAL "arrival" /* integer: when the first ancestor arrived, us */
#define META_ORDINAL "ordinal" /* integer: tells copies of one message apart */
#define META_SHARD "shard"     /* string: the shard key, or absent */
#define META_TRACE "trace"     /* string: message id of the log, 12 hex digits, kept over hops */
#define META_FAULT "fault"     /* object: why it was set aside (fault.h) */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(json_t, json_decref)

/* Return the value of a key; the fallback, or false, when the key is absent or its value has another type. Strings are
 * borrowed from the object. */
const char *meta_string(const json_t *meta, const char *key, const char *fallback);
int64_t meta_integer(const json_t *meta, const char *key, int64_t fallback);
bool meta_bool(const json_t *meta, const char *key);

/* Set the value of a key, in place of any value before. A NULL string removes the key. Bytes of a string that are not
 * UTF-8 become U+FFFD. So never put an address or header here whose exact bytes matter; keep those in the message or
 * the recipient lines. */
void meta_set_string(json_t *meta, const char *key, const char *value);
void meta_set_integer(json_t *meta, const char *key, int64_t value);
void meta_set_bool(json_t *meta, const char *key, bool value);

/* Return the object as text without line ends, its keys sorted; g_free(). */
char *meta_print(const json_t *meta);
/* Read such a text into a new object; json_decref(). FAIL_NEVER: a key stands there twice, it is no object, or it has
 * more than META_MAX bytes. */
json_t *meta_parse(const char *text, size_t length, GError **error);
