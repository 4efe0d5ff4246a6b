/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Paths of Mailman that have nothing behind them here: plugins, and the sweeping of its own tables. */
#include "runners/rest/resources.h"

static void get_plugins(Call *call)
{
    answer_collection(call, json_array(), 0, 0);
}

/* Ids that belong to nothing: here there are none. */
static void get_orphans(Call *call)
{
    answer_refusal(call, 404, "There is nothing to read here");
}

static void delete_orphans(Call *call)
{
    if (form_expect(call, "", ""))
        answer_empty(call, 204);
}

static const RestField fields[] = {
    {"*", MAY_SITE, MAY_SITE},
    {0},
};

const RestRoute rest_others[] = {
    {"GET", "plugins", OF_SITE, MAY_SITE, fields, get_plugins, NULL},
    {"GET", "reserved/uids/orphans", OF_SITE, MAY_SITE, fields, get_orphans, NULL},
    {"DELETE", "reserved/uids/orphans", OF_SITE, MAY_SITE, fields, delete_orphans, NULL},
    {0},
};
