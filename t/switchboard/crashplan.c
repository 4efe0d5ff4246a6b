/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "lists/keys.h"
#include "t/switchboard/crashplan_internal.h"

const Plan crash_plans[CRASH_MESSAGES] = {
    [0] = {.slice = 0},
    [1] = {.slice = 0, .kids = {{"out", "a"}}, .other = {{"archive", NULL}, {"in", NULL}}},
    [2] = {.slice = 1, .kids = {{"out", "bc"}, {"archive", NULL}, {"out", "d"}}},
    [3] = {.slice = 1, .kids = {{"archive", NULL}, {"out", "e"}, {"out", "f"}}},
    [4] = {.slice = 0, .preserve = true},
    [5] = {.slice = 1, .kids = {{"archive", NULL}}, .other = {{"out", "j"}}},
    [6] = {.slice = 0, .kids = {{"out", "g"}, {"archive", NULL}, {"out", "h"}}},
    [7] = {.slice = 0, .kids = {{"out", "i"}}, .other = {{"archive", NULL}, {"retry", "j"}}},
    [8] = {.slice = 1, .kids = {{"out", "k"}}, .other = {{"archive", NULL}, {"retry", "l"}}},
    [9] = {.slice = 1, .kids = {{"out", "m"}, {"archive", NULL}, {"out", "n"}}},
    [10] = {.slice = 0, .takes = 11, .kids = {{"out", "o"}, {"archive", NULL}, {"out", "p"}}},
    [11] = {.slice = 0, .taken_by = 10},
    [12] = {.slice = 0, .sent = true, .kids = {{"out", "qrs"}}},
    [13] = {.slice = 0, .sent = true, .kids = {{"out", "t"}}},
    [14] = {.slice = 1, .sent = true, .kids = {{"out", "uv"}}},
    [15] = {.slice = 1, .sent = true, .expires = true, .kids = {{"out", "wx"}}},
    [16] = {.slice = 0, .sent = true, .kids = {{"out", "yz"}}},
    [17] = {.slice = 1, .kids = {{CRASH_NEW, NULL}}},
    [18] = {.slice = 1, .enters = CRASH_NEW, .kids = {{"archive", NULL}}},
};

/* With some lines, long enough to be torn in several places. */
static GBytes *message_octets(int number, unsigned nonce, int lines)
{
    GString *text = g_string_new(NULL);
    g_string_printf(text, "Message: %c.%u\r\n\r\n", '0' + number, nonce);
    for (int i = 0; i < lines; i++)
        g_string_append_printf(text, "%-68d\r\n", i);
    return g_string_free_to_bytes(text);
}

Draft *crashplan_draft_of(const char *queue, GBytes *octets, int64_t ordinal)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, "test.example.com");
    meta_set_integer(meta, META_ARRIVAL, CRASH_ARRIVAL + ordinal);
    meta_set_integer(meta, META_ORDINAL, ordinal);
    Draft *draft = draft_new(queue, meta);
    draft_add_message(draft, octets);
    return draft;
}

/* The message whose hash is in the slice that the plan wants. Who takes and who is taken are in one, however many there
 * are. */
Draft *crashplan_draft(int number)
{
    const Plan *plan = &crash_plans[number];
    unsigned slices = plan->takes || plan->taken_by ? 4 : 2;
    for (unsigned nonce = 0;; nonce++) {
        g_autoptr(GBytes) octets = message_octets(number, nonce, plan->sent ? 0 : 9);
        Draft *draft = crashplan_draft_of(plan->enters ? plan->enters : "in", octets, number + 1);
        if (plan->sent)
            meta_set_string(draft_meta(draft), KEY_ENVELOPE_SENDER, "");
        if (plan->expires)
            meta_set_bool(draft_meta(draft), KEY_EXPIRE, true);
        if (slice_of(draft_name(draft)->hash, slices) == plan->slice)
            return draft;
        draft_free(draft);
    }
}

static int number_of(const char *octets)
{
    const char *at = strstr(octets, "essage: ");
    return at ? at[8] - '0' : -1;
}

int crashplan_number(Entry *entry)
{
    g_autoptr(GBytes) message = entry_message(entry);
    g_autofree char *text = g_strndup(g_bytes_get_data(message, NULL), 16);
    return number_of(text);
}
