/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/external.h"

#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/program.h"

#define OUTPUT_MAX ((size_t)64 * 1024 * 1024)

static void external_free(void *data)
{
    External *external = data;
    g_free(external->name);
    g_strfreev(external->words);
    g_free(external);
}

GPtrArray *external_read(const Config *config, const char *section)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(external_free);
    const char *const *name = section ? config_list(config, section, "external") : config_family(config, "external");
    for (; name && *name; name++) {
        g_autofree char *own = g_strconcat("external.", *name, NULL);
        const char *command = config_has_section(config, own) ? config_string(config, own, "command") : NULL;
        char **words = NULL;
        if (!command || !g_shell_parse_argv(command, NULL, &words, NULL)) /* config check told of it */
            continue;
        int64_t timeout = config_duration(config, own, "timeout");
        External *external = g_new0(External, 1);
        *external = (External){g_steal_pointer(&own), words, timeout};
        g_ptr_array_add(all, external);
    }
    return all;
}

/* Runs the program. */
static bool ask(const External *external, const Post *post, int *code, GBytes **output, GError **error)
{
    g_auto(GStrv) environment = g_get_environ();
    environment = g_environ_setenv(environment, "LISTRUNNER_LIST", post->list->list_id, TRUE);
    environment = g_environ_setenv(environment, "LISTRUNNER_SENDER", post->sender ? post->sender : "", TRUE);
    environment = g_environ_setenv(environment, "LISTRUNNER_TRACE", post->trace, TRUE);
    const Program program = {.words = external->words, .environment = environment, .timeout = external->timeout,
                             .output_max = OUTPUT_MAX, .alive = post->site ? post->site->alive : NULL,
                             .data = post->site ? post->site->data : NULL};
    g_autoptr(GBytes) input = message_octets(post->message);
    if (program_run(&program, input, code, output, error))
        return true;
    g_prefix_error(error, "[%s] ", external->name);
    return false;
}

static bool run(const External *external, const Post *post, int *code, GBytes **output, GError **error)
{
    PostAsk *own = post->site && post->site->ask ? post->site->ask : ask;
    g_autoptr(GBytes) written = NULL;
    if (!own(external, post, code, &written, error))
        return false;
    if (*code != EXTERNAL_PASS && *code != EXTERNAL_HOLD && *code != EXTERNAL_REJECT && *code != EXTERNAL_DISCARD)
        return fail(error, FAIL_LATER, "[%s] %s: exit code %d", external->name, external->words[0], *code);
    *output = g_steal_pointer(&written);
    return true;
}

/* The reason is the first line that the program wrote. */
static void add_reason(Post *post, GBytes *output)
{
    size_t length;
    const char *text = g_bytes_get_data(output, &length);
    const char *feed = length > 0 ? memchr(text, '\n', length) : NULL;
    g_autofree char *line = g_utf8_make_valid(length > 0 ? text : "", (gssize)(feed ? (size_t)(feed - text)
                                                                                    : MIN(length, 500)));
    g_strstrip(line);
    post_add_reason(post, "%s", *line ? line : "A program of the site objects to the message.");
}

const External *external_find(const GPtrArray *all, const char *name)
{
    for (guint at = 0; at < all->len; at++)
        if (strcmp(((External *)all->pdata[at])->name, name) == 0)
            return all->pdata[at];
    return NULL;
}

bool external_judge(const External *external, Post *post, bool *hit, GError **error)
{
    g_autoptr(GBytes) output = NULL;
    int code;
    if (!run(external, post, &code, &output, error))
        return false;
    *hit = code != EXTERNAL_PASS;
    if (!*hit)
        return true;
    post->action = code == EXTERNAL_HOLD     ? ACTION_HOLD
                   : code == EXTERNAL_REJECT ? ACTION_REJECT
                                             : ACTION_DISCARD;
    add_reason(post, output);
    return true;
}

/* One that writes nothing leaves the post as it is. To hold is for rules; here the post is kept for the people who run
 * the site. */
bool external_change(const External *external, Post *post, GError **error)
{
    g_autoptr(GBytes) output = NULL;
    int code;
    if (!run(external, post, &code, &output, error))
        return false;
    if (code == EXTERNAL_PASS) {
        if (output && g_bytes_get_size(output) > 0)
            message_replace(post->message, output);
        return true;
    }
    post->end = code == EXTERNAL_HOLD     ? POST_PRESERVED
                : code == EXTERNAL_REJECT ? POST_REJECTED
                                          : POST_DISCARDED;
    add_reason(post, output);
    return true;
}
