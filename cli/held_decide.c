/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner held: accept, reject, discard. */
#include "cli/held_decide.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "cli/plain.h"
#include "cli/work_site.h"
#include "lists/held_post.h"

static char *reason;

bool held_number(const char *text, int64_t *number, GError **error)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && *number > 0)
        return true;
    g_autofree char *shown = g_utf8_make_valid(text, -1);
    command_usage(error, "'%s' is no number of a held post; listrunner held ls shows them", shown);
    return false;
}

/* A verdict, and the word for what was done: "accepted". */
typedef struct Decision {
    HeldVerdict verdict;
    const char *past;
} Decision;

static bool decide_one(WorkPlace *place, HeldVerdict verdict, int64_t number, bool *told, GError **error)
{
    g_autoptr(Work) work = work_new(place->store, &place->site, &place->actor);
    if (!work_begin(work, error))
        return false;
    if (held_post_decide(work, number, verdict, reason, told, error))
        return work_commit(work, place->spool, error);
    work_cancel(work);
    return false;
}

static int decide_all(Site *site, const Decision *decision, char **argv, GError **error)
{
    int64_t number;
    WorkPlace place;
    for (size_t i = 0; argv[i]; i++)
        if (!held_number(argv[i], &number, error))
            return TOOL_USAGE;
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    int worst = TOOL_OK;
    for (size_t i = 0; argv[i]; i++) {
        g_autoptr(GError) refusal = NULL;
        bool told;
        held_number(argv[i], &number, NULL);
        if (decide_one(&place, decision->verdict, number, &told, &refusal)) {
            bool untold = decision->verdict == HELD_REJECT && !told;
            printf("%" G_GINT64_FORMAT " %s%s\n", number, decision->past,
                   untold ? "; its sender is not told: it came from a program, or from no address" : "");
            continue;
        }
        plain_complain("listrunner held: %" G_GINT64_FORMAT " is not %s: %s", number, decision->past, refusal->message);
        worst = MAX(worst, command_exit_code(refusal));
    }
    return worst;
}

static int run_accept(Site *site, int argc, char **argv, GError **error)
{
    return decide_all(site, &(Decision){HELD_ACCEPT, "accepted"}, argv, error);
}

static int run_reject(Site *site, int argc, char **argv, GError **error)
{
    if (reason && !g_utf8_validate(reason, -1, NULL))
        return command_usage(error, "--reason is not UTF-8");
    return decide_all(site, &(Decision){HELD_REJECT, "rejected"}, argv, error);
}

static int run_discard(Site *site, int argc, char **argv, GError **error)
{
    return decide_all(site, &(Decision){HELD_DISCARD, "discarded"}, argv, error);
}

static const GOptionEntry reject_options[] = {
    {"reason", 0, 0, G_OPTION_ARG_FILENAME, &reason, "what the sender is told", "TEXT"},
    G_OPTION_ENTRY_NULL,
};

const Command held_accept = {
    .name = "accept", .arguments = "NUMBER...", .summary = "Let held posts through to the list", .least = 1, .most = -1,
    .run = run_accept,
};

const Command held_reject = {
    .name = "reject", .arguments = "NUMBER...", .summary = "Send held posts away with a notice to the sender",
    .least = 1, .most = -1, .options = reject_options, .run = run_reject,
};

const Command held_discard = {
    .name = "discard", .arguments = "NUMBER...", .summary = "Throw held posts away, telling nobody", .least = 1,
    .most = -1, .run = run_discard,
};
