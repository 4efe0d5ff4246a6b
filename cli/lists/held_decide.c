/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner held: accept, allow, reject, discard, ban, forward. */
#include "cli/lists/held_decide.h"

#include <stdio.h>

#include "cli/lists/decide.h"
#include "lists/posts/held_post.h"
#include "store/posts/held.h"

static char *reason;

/* A verdict, and the word for what was done: "accepted". */
typedef struct HeldDecision {
    HeldVerdict verdict;
    const char *past;
} HeldDecision;

static char *decide(Work *work, int64_t number, void *data, GError **error)
{
    const HeldDecision *decision = data;
    bool told;
    if (!held_post_decide(work, number, decision->verdict, reason, &told, error))
        return NULL;
    return g_strdup(decision->verdict == HELD_REJECT && !told
                        ? "; its sender is not told: it came from a program, or from no address"
                        : "");
}

static int decide_all(Site *site, const void *kind, char **argv, GError **error)
{
    const HeldDecision *decision = kind;
    WorkPlace place;
    g_autoptr(GArray) numbers = NULL;
    int code = held_filter_numbers(argv, site, &numbers, error);
    if (code != TOOL_OK)
        return code;
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    return decide_each(&place, numbers, "held", decision->past, decide, (void *)decision);
}

static char *forward(Work *work, int64_t number, void *data, GError **error)
{
    g_autoptr(Held) held = held_find(work_store(work), number, error);
    return held && held_post_forward(work, held, data, error) ? g_strdup_printf(" to %s", (const char *)data) : NULL;
}

static int run_forward(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    int64_t number;
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof number);
    if (!decide_number(argv[0], "a held post", "listrunner held ls", &number, error))
        return TOOL_USAGE;
    g_array_append_val(numbers, number);
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    return decide_each(&place, numbers, "held", "forwarded", forward, argv[1]);
}

#define REASON {"reason", 0, 0, G_OPTION_ARG_STRING, &reason, "what the sender is told", "TEXT"}

static const GOptionEntry options[] = {HELD_FILTER_OPTIONS, G_OPTION_ENTRY_NULL};
static const GOptionEntry reject_options[] = {REASON, HELD_FILTER_OPTIONS, G_OPTION_ENTRY_NULL};

#define DETAILS "Without numbers, the options say which posts are meant; those that meet all of them are."

const Command held_accept = {
    .name = "accept", .arguments = "[NUMBER...]", .summary = "Let held posts through to the list", .details = DETAILS,
    .most = -1, .options = options, .run_kind = decide_all, .kind = &(const HeldDecision){HELD_ACCEPT, "accepted"},
};

const Command held_allow = {
    .name = "allow", .arguments = "[NUMBER...]",
    .summary = "The same, and their senders need no moderator any more", .details = DETAILS, .most = -1,
    .options = options,
    .run_kind = decide_all, .kind = &(const HeldDecision){HELD_ALLOW, "accepted, and its sender from now on"},
};

const Command held_reject = {
    .name = "reject", .arguments = "[NUMBER...]", .summary = "Send held posts away with a notice to the sender",
    .details = DETAILS, .most = -1, .options = reject_options,
    .run_kind = decide_all, .kind = &(const HeldDecision){HELD_REJECT, "rejected"},
};

const Command held_discard = {
    .name = "discard", .arguments = "[NUMBER...]", .summary = "Throw held posts away, telling nobody",
    .details = DETAILS, .most = -1, .options = options,
    .run_kind = decide_all, .kind = &(const HeldDecision){HELD_DISCARD, "discarded"},
};

const Command held_ban = {
    .name = "ban", .arguments = "[NUMBER...]",
    .summary = "The same, and their senders can neither post nor join any more", .details = DETAILS, .most = -1,
    .options = options,
    .run_kind = decide_all, .kind = &(const HeldDecision){HELD_BAN, "discarded with a ban of its sender"},
};

const Command held_forward = {
    .name = "forward", .arguments = "NUMBER ADDRESS", .summary = "Send a held post to somebody, and keep it",
    .least = 2, .most = 2, .run = run_forward,
};
