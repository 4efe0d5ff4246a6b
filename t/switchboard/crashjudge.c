/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Judge what was promised, and what came of it. */
#include <string.h>

#include "t/switchboard/crashplan_internal.h"
#include "t/switchboard/crashworld.h"

/* One thing that must be there once (or, before it was promised, once or
 * not at all; *seen gathers which). */
static char *judge_once(unsigned found, bool promised, const char *what, int number)
{
    return found > 1 || (promised && found == 0) ? g_strdup_printf("%s %d is there %u times", what, number, found)
                                                 : NULL;
}

static char *judge_recipient(const CrashResult *result, const CrashNotes *notes, bool promised, int number)
{
    unsigned found = result->delivered[number], most = notes->settled >> number & 1 ? 0 : 1;
    bool before = notes->tried >> number & 1;
    if (strchr(REFUSED, 'a' + number))
        return found ? g_strdup("a refused recipient was delivered to")
                     : judge_once(result->bounced[number], promised, "bounce of recipient", number);
    if (found > most || (promised && !before && found == 0))
        return g_strdup_printf("recipient %d: %u deliveries after the crash, before it %s", number, found,
                               most == 0 ? "one, marked" : before ? "one in flight" : "none");
    return NULL;
}

/* Count the traces of the message: if there is any, then all must be there. */
static int traces_of(const CrashResult *result, int number)
{
    const Kid *kids = crash_plans[number].kids;
    int found = result->archived[number] + result->corrupt[number] + result->kept[number];
    for (int i = 0; i < 3 && kids[i].queue; i++)
        for (const char *at = kids[i].recipients; at && *at; at++)
            found += result->delivered[*at - 'a'] + result->bounced[*at - 'a'];
    return found;
}

/* A message of one trace that an operator deletes: it may come, until it is said to be gone. */
static char *judge_doomed(const CrashResult *result, const CrashNotes *notes, int number)
{
    int most = notes->deleted >> number & 1 ? 0 : 1, found = traces_of(result, number);
    return found > most ? g_strdup_printf("message %d, %s: %d came of it", number,
                                          most == 0 ? "which was deleted" : "to be deleted", found) : NULL;
}

/* Whatever was promised, and whoever takes the message away. */
static char *judge_undone(const CrashResult *result, int number)
{
    const Kid *other = crash_plans[number].other;
    for (int i = 0; i < 3 && other[i].queue; i++)
        for (const char *at = other[i].recipients; at && *at; at++)
            if (result->delivered[*at - 'a'])
                return g_strdup_printf("message %d: a child of an undone run was delivered", number);
    return NULL;
}

static char *judge_message(const CrashResult *result, const CrashNotes *notes, int number)
{
    const Plan *plan = &crash_plans[number];
    bool promised = notes->acknowledged >> number & 1 || traces_of(result, number) > 0;
    unsigned archives = 0, ends = 0;
    char *fault = judge_undone(result, number);
    if (fault)
        return fault;
    if (notes->doomed >> number & 1)
        return judge_doomed(result, notes, number);
    if (!plan->preserve && result->kept[number] == 1 && !(notes->acknowledged >> number & 1)) /* for its crashes */
        return traces_of(result, number) > 1 ? g_strdup_printf("message %d is set aside, and more", number) : NULL;
    for (int i = 0; i < 3 && plan->kids[i].queue; i++) {
        archives += strcmp(plan->kids[i].queue, "archive") == 0 || strcmp(plan->kids[i].queue, CRASH_NEW) == 0;
        for (const char *at = plan->kids[i].recipients; at && *at; at++)
            if (!fault)
                fault = judge_recipient(result, notes, promised, *at - 'a');
    }
    ends = result->archived[number] + result->corrupt[number];
    if (!fault && ends != archives && (promised || ends > archives))
        fault = g_strdup_printf("message %d is archived or set aside %u times, not %u", number, ends, archives);
    if (!fault && result->ledger && !plan->taken_by)
        fault = judge_once(result->recorded[number], promised, "record of message", number);
    if (!fault)
        fault = plan->preserve ? judge_once(result->kept[number], promised, "preserved message", number)
                : result->kept[number] ? g_strdup_printf("message %d is preserved", number) : NULL;
    return fault;
}

char *crashworld_judge(const CrashResult *result, const CrashNotes *notes)
{
    char *fault = result->fault ? g_strdup(result->fault) : NULL;
    for (int i = 0; i < CRASH_MESSAGES && !fault; i++)
        fault = judge_message(result, notes, i);
    if (!fault && ((result->preserved_again && notes->preserved) || (result->in_corrupt & notes->preserved) != 0))
        fault = g_strdup("what was set aside came back");
    if (!fault && (result->free & notes->held) != 0)
        fault = g_strdup("what a runner was acting on is there for an operator's command");
    return fault;
}
