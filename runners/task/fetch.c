/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Fetches the texts of letters that come from a URI: those that were set since, those that are too old, and after a
 * pause those that could not be had. What cannot be fetched, or cannot be a text, changes nothing but the fault that
 * `listrunner template ls` shows; a text with a placeholder that is not filled in is used, since who set the URI may
 * find out only there what is wrong with it.
 */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/letters/template_host.h"
#include "lists/letters/template_name.h"
#include "lists/letters/template_set.h"
#include "net/http_client.h"
#include "runners/task/jobs.h"
#include "store/lists/list_setting.h"

#define MINUTE (60 * CLOCK_SECOND)
#define RETRY (5 * MINUTE)
#define PATIENCE (10 * CLOCK_SECOND) /* for one text */
#define TURN (30 * CLOCK_SECOND)     /* for all of a run; the others wait for the next */

/* The text, or NULL with what is wrong. */
static char *fetch_text(const JobPlace *place, const TemplateText *row, GError **error)
{
    bool file = g_str_has_prefix(row->uri, "file:"), public_only = false;
    /* The site may name other hosts since the text was set. */
    if (!file && !template_host_allows(place->site->template_hosts, row->place, row->uri, &public_only, error))
        return NULL;
    const HttpRequest request = {.url = row->uri, .files = file, .public_only = public_only, .user = row->username,
                                 .password = row->password, .timeout = PATIENCE, .answer_max = LIST_TEXT_MAX,
                                 .alive = runner_alive, .data = place->runner};
    g_auto(HttpAnswer) answer = {0};
    if ((file && !template_file_allowed(place->site, row->uri, error)) || !http_get(&request, &answer, error))
        return NULL;
    if (!file && answer.status != 200)
        fail(error, FAIL_NEVER, "%s answered %ld", row->uri, answer.status);
    else if (answer.cut)
        fail(error, FAIL_NEVER, "%s is longer than %d octets", row->uri, LIST_TEXT_MAX);
    else if (!g_utf8_validate_len(answer.body->str, answer.body->len, NULL))
        fail(error, FAIL_NEVER, "%s is no text in UTF-8", row->uri);
    else
        return g_strdup(answer.body->str);
    return NULL;
}

bool fetch_templates(const JobPlace *place, int64_t *done, GError **error)
{
    int64_t refresh = config_duration(place->config, "site", "template_refresh"), end = clock_monotonic() + TURN;
    g_autoptr(GHashTable) silent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) stale =
        template_text_stale(place->store, place->now - refresh, place->now - RETRY, error);
    for (guint at = 0; stale && at < stale->len && clock_monotonic() < end; at++) {
        TemplateText *row = stale->pdata[at];
        g_autoptr(GError) fault = NULL;
        if (job_stops(place))
            break;
        /* A server that does not answer is asked once a run. */
        const char *host = strstr(row->uri, "://");
        size_t length = host ? (size_t)(host - row->uri) + 3 + strcspn(host + 3, "/") : strlen(row->uri);
        g_autofree char *source = g_strndup(row->uri, length);
        if (!g_hash_table_contains(silent, source)) {
            const TemplateName *name = template_name_find(row->name);
            g_autofree char *text = fetch_text(place, row, &fault);
            if (runner_stopping(place->runner))
                return true;
            if (!text && g_error_matches(fault, FAIL, FAIL_LATER))
                g_hash_table_add(silent, g_steal_pointer(&source));
            if (text && name)
                template_check(name, text, &fault);
            g_free(row->text);
            g_free(row->fault);
            row->text = g_steal_pointer(&text);
            row->fault = g_strdup(fault ? fault->message : "");
            row->fetched_at = clock_now();
            *done += row->text != NULL;
            if (fault)
                log_warn("- queue=task job=templates template=%s place=%s: %s", row->name,
                         *row->place ? row->place : "site", fault->message);
            if (!template_text_fetched(place->store, row, error))
                return false;
        }
        runner_progress(place->runner);
    }
    return stale != NULL;
}
