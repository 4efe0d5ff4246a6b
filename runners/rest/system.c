/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /system: what this is, and which chains and pipelines there are. */
#include <string.h>

#include "base/bytes.h"
#include "posting/order.h"
#include "runners/rest/resources.h"
#include "runners/rest/rest.h"

/* Clients tell by the first two words that they can talk to us, and show the rest to people. */
static void get_versions(Call *call)
{
    answer_json(call, 200,
                json_pack("{ss ss ss so}", "api_version", call->old ? "3.0" : "3.1", "mailman_version",
                          "GNU Mailman 3.3.8 REST interface of (Listrunner " PACKAGE_VERSION ")", "python_version",
                          "none (Listrunner is written in C)", "self_link", json_link(call, "system/versions")));
}

/* Answer with the names that a list may choose, and with those of Mailman that work here without a name of ours. */
static void answer_names(Call *call, const char *key, char *const *choice, const char *const *besides)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (; *choice; choice++)
        if (strcmp(*choice, "digest") != 0) /* no list can choose it, and Mailman's clients do not know it */
            g_ptr_array_add(names, *choice);
    for (; *besides; besides++)
        if (!g_ptr_array_find_with_equal_func(names, *besides, g_str_equal, NULL))
            g_ptr_array_add(names, (char *)*besides);
    g_ptr_array_sort(names, bytes_compare_texts);
    answer_json(call, 200, json_pack("{so}", key, json_texts(names)));
}

static void get_pipelines(Call *call)
{
    static const char *const besides[] = {"virgin", NULL}; /* of the runner of that name */
    g_auto(GStrv) names = order_pipeline_names(call->rest->config);
    answer_names(call, "pipelines", names, besides);
}

static void get_chains(Call *call)
{
    /* Steps of the default chain, and verdicts. */
    static const char *const besides[] = {"accept", "discard", "dmarc", "header-match", "hold", "moderation",
                                          "reject", NULL};
    g_auto(GStrv) names = order_chain_names(call->rest->config);
    answer_names(call, "chains", names, besides);
}

static const RestField fields[] = {
    {"api_version", MAY_KNOWN, MAY_NOBODY},
    {"mailman_version", MAY_KNOWN, MAY_NOBODY},
    {"python_version", MAY_KNOWN, MAY_NOBODY},
    {"self_link", MAY_KNOWN, MAY_NOBODY},
    {"pipelines", MAY_SITE, MAY_NOBODY},
    {"chains", MAY_SITE, MAY_NOBODY},
    {0},
};

const RestRoute rest_system[] = {
    {"GET", "system", OF_SITE, MAY_KNOWN, fields, get_versions, NULL},
    {"GET", "system/versions", OF_SITE, MAY_KNOWN, fields, get_versions, NULL},
    {"GET", "system/pipelines", OF_SITE, MAY_SITE, fields, get_pipelines, NULL},
    {"GET", "system/chains", OF_SITE, MAY_SITE, fields, get_chains, NULL},
    {0},
};
