/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner queue hold, release, requeue, delete, expire: one table of what each does with an entry; and edit-due. */
#include <string.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/queues/queue_act.h"
#include "lists/keys.h"

static const char *const set_aside[] = {HOLD_QUEUE, SHUNT_QUEUE, CORRUPT_QUEUE, NULL};
static const char *const for_people[] = {SHUNT_QUEUE, CORRUPT_QUEUE, NULL};
static const char *const held[] = {"hold", NULL};
static const char *const outgoing[] = {"out", NOTICE_QUEUE, "retry", NULL};

static Draft *hold(Entry *entry, GError **error)
{
    return operate_draft_hold(entry);
}

/* A part that waited for others is due now: its set may have come to an end without it, or wait for it alone. */
static Draft *release(Entry *entry, GError **error)
{
    Draft *draft = operate_draft_release(entry, error);
    if (draft && strcmp(draft_queue(draft), "defragment") == 0)
        draft_set_due(draft, clock_now());
    return draft;
}

/* Forget the attempts and replies that out noted, so that the entry is as if it were tried for the first time. */
static Draft *begin_again(Entry *entry, GError **error)
{
    const char *from = queue_name(entry_queue(entry));
    bool own = meta_string(entry_meta(entry), KEY_PRIORITY, NULL) != NULL; /* it came by that queue */
    Draft *again = operate_draft_again(entry, strcmp(from, "retry") != 0 ? from : own ? NOTICE_QUEUE : "out");
    json_object_del(draft_meta(again), KEY_ATTEMPTS);
    json_object_del(draft_meta(again), KEY_LAST_REPLY);
    json_object_del(draft_meta(again), KEY_EXPIRE);
    return again;
}

/* Due now: the next attempt is the last one. */
static Draft *expire(Entry *entry, GError **error)
{
    Draft *last = operate_draft_again(entry, queue_name(entry_queue(entry)));
    meta_set_bool(draft_meta(last), KEY_EXPIRE, true);
    return last;
}

static const GOptionEntry options[] = {
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

/* The command queue_VERB, its summary and details, and the fields of its QueueVerb. */
#define CHANGE(verb, says, explains, ...)                                              \
    static int run_##verb(Site *site, int argc, char **argv, GError **error)           \
    {                                                                                  \
        static const QueueVerb row = {.name = #verb, __VA_ARGS__};                     \
        return queue_act_run(&row, site, argc, argv, error);                           \
    }                                                                                  \
    const Command queue_##verb = {                                                     \
        .name = #verb, .arguments = "[ENTRY...]", .summary = says, .details = explains, \
        .most = -1, .options = options, .run = run_##verb,                             \
    };

CHANGE(hold, "Freeze entries: move them to the queue hold, where nothing is tried and nothing expires",
       "The whole entry is held, also when only one of its recipients fits. Where it was and when it was due\n"
       "is kept, for queue release.",
       .past = "held", .except = set_aside, .draft = hold)

CHANGE(release, "Put held entries back to where they were, due when they were due",
       "An entry that became due meanwhile is worked at once, and so is a part of a message\n"
       "that waits for others.",
       .past = "released", .nothing = "nothing is held", .queues = held, .only = true, .draft = release)

CHANGE(requeue, "Begin again with entries: due now, crashes and attempts forgotten",
       "An entry of retry goes back to out, or to notice when it is mail of our own. Posts are not expanded\n"
       "again: who has a copy gets no other. How long delivery is tried still counts from the arrival.",
       .past = "requeued", .except = set_aside, .draft = begin_again)

CHANGE(delete, "Delete entries for good; nobody is told",
       "The whole entry goes, also when only one of its recipients fits. When the row is shown it is gone\n"
       "from the disk.",
       .past = "deleted", .except = for_people, .in_place = operate_delete)

CHANGE(expire, "End the lifetime of entries in out, notice and retry: one more attempt, now",
       "Recipients that are refused for now in that attempt are bounced, as at the end of\n"
       "[out] maximal_queue_lifetime. Held entries are released first.",
       .past = "expired", .queues = outgoing, .only = true, .draft = expire)

/* ---- edit-due ---- */

/* Ten digits are in a name. */
#define DUE_MAX INT64_C(9999999999)
#define SPAN_MAX (100 * 366 * INT64_C(86400))

static int64_t due;

static bool set_due(Operate *operate, Queue *queue, EntryName *name, GError **error)
{
    return operate_set_due(operate, queue, name, due, error);
}

static const QueueVerb edit_due = {.name = "edit-due", .past = "changed", .except = set_aside, .in_place = set_due};

/* "+1h30m", "+90": from now on. */
static bool parse_span(const char *text, int64_t *span)
{
    static const struct {
        char letter;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
    int64_t seconds = 0;
    if (!*text)
        return false;
    while (*text) {
        char *end;
        guint64 number = g_ascii_strtoull(text, &end, 10);
        if (!g_ascii_isdigit(*text) || number > SPAN_MAX)
            return false;
        int64_t factor = *end ? 0 : 1;
        for (size_t i = 0; *end && i < G_N_ELEMENTS(units); i++)
            if (units[i].letter == *end)
                factor = units[i].seconds;
        if (factor == 0)
            return false;
        seconds += (int64_t)number * factor;
        text = *end ? end + 1 : end;
    }
    *span = seconds * CLOCK_SECOND;
    return seconds <= SPAN_MAX;
}

static bool parse_time(const char *text, int64_t *time)
{
    int64_t span;
    *time = clock_now();
    if (strcmp(text, "now") == 0)
        return true;
    if (*text == '+' && parse_span(text + 1, &span)) {
        *time += span;
        return true;
    }
    g_autoptr(GTimeZone) here = g_time_zone_new_local();
    g_autofree char *iso = g_strdelimit(g_strdup(text), " ", 'T');
    g_autoptr(GDateTime) date = g_date_time_new_from_iso8601(iso, here);
    if (!date)
        return false;
    *time = g_date_time_to_unix(date) * CLOCK_SECOND;
    return *time > 0 && *time / CLOCK_SECOND <= DUE_MAX;
}

static int run_edit_due(Site *site, int argc, char **argv, GError **error)
{
    g_autofree char *shown = g_utf8_make_valid(argv[0], -1);
    if (!parse_time(argv[0], &due))
        return command_usage(error, "'%s' is no time: say now, +1h30m or 2026-11-21T10:00:00Z", shown);
    return queue_act_run(&edit_due, site, argc - 1, argv + 1, error);
}

const Command queue_edit_due = {
    .name = "edit-due",
    .arguments = "TIME [ENTRY...]",
    .summary = "Set when entries are due",
    .details = "TIME is now, a span from now on such as +90s, +1h30m, +2d, or a date and time such as\n"
               "2026-11-21T10:00:00Z (without Z or offset: local time).",
    .least = 1,
    .most = -1,
    .options = options,
    .run = run_edit_due,
};
