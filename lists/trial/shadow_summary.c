/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/shadow_summary.h"

#include <stdbool.h>

#include "switchboard/meta.h"

static void count_free(void *data)
{
    ShadowCount *count = data;
    g_free(count->list);
    g_free(count);
}

void shadow_summary_init(ShadowSummary *summary)
{
    *summary = (ShadowSummary){.lists = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, count_free),
                               .fields = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
}

void shadow_summary_clear(ShadowSummary *summary)
{
    g_clear_pointer(&summary->lists, g_hash_table_unref);
    g_clear_pointer(&summary->fields, g_hash_table_unref);
}

static bool differs_in(const json_t *line, const char *kind)
{
    const json_t *differs = json_object_get(line, "differs");
    for (size_t at = 0; at < json_array_size(differs); at++)
        if (g_strcmp0(json_string_value(json_array_get(differs, at)), kind) == 0)
            return true;
    return false;
}

static void add_line(ShadowCount *count, const json_t *line, const char *kind)
{
    if (g_str_equal(kind, "post")) {
        count->posts++;
        count->equal += json_array_size(json_object_get(line, "differs")) == 0;
        count->decision += differs_in(line, "decision");
        count->recipients += differs_in(line, "recipients");
        count->header += differs_in(line, "header");
        count->body += differs_in(line, "body");
    }
    count->skipped += g_str_equal(kind, "skipped");
    count->copies += g_str_equal(kind, "copies");
}

void shadow_summary_add(ShadowSummary *summary, const char *line, size_t length)
{
    g_autoptr(json_t) row = json_loadb(line, length, 0, NULL);
    const char *kind = json_is_object(row) ? meta_string(row, "kind", "") : "";
    if (!*kind) {
        summary->unreadable++;
        return;
    }
    const char *list = meta_string(row, "list", "");
    ShadowCount *count = g_hash_table_lookup(summary->lists, list);
    if (!count) {
        count = g_new0(ShadowCount, 1);
        count->list = g_strdup(list);
        g_hash_table_insert(summary->lists, count->list, count);
    }
    add_line(&summary->all, row, kind);
    add_line(count, row, kind);
    const json_t *header = json_object_get(row, "header");
    for (size_t at = 0; at < json_array_size(header); at++) {
        const char *name = meta_string(json_array_get(header, at), "field", "");
        uint64_t *number = g_hash_table_lookup(summary->fields, name);
        if (!number) {
            number = g_new0(uint64_t, 1);
            g_hash_table_insert(summary->fields, g_strdup(name), number);
        }
        ++*number;
    }
}
