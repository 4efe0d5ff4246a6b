/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/watch/sender.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/site/canary_shard.h"
#include "lists/site/canary_state.h"
#include "mail/text/notice.h"
#include "store/hosts/canary.h"
#include "store/lists/list.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"

#define LOOK_WAIT (2 * CLOCK_SECOND)   /* while a mail is under way */
#define LATE_WAIT (60 * CLOCK_SECOND)  /* while those that should be back are missing */
#define FIRST_WAIT (60 * CLOCK_SECOND) /* after the lists were made: an MTA that reads files must know them */

void sender_init(Sender *sender, const Config *config, Store *store, Spool *spool)
{
    const char *domain = config_string(config, "watch", "canary");
    *sender = (Sender){.config = config, .store = store, .spool = spool};
    if (domain)
        sender->trip = round_trip_at(ROUND_TRIP_CANARY, domain);
    sender->turn = (Turn){queues_slices(config, "out"), queues_slices(config, "in"), 1, 0};
    sender->queues = (Queues){config, store, spool, 0};
    sender->due = clock_monotonic();
}

void sender_clear(Sender *sender)
{
    round_trip_clear(&sender->trip);
}

static const char *own_name(const Sender *sender)
{
    return config_string(sender->config, "site", "hostname");
}

/* Another process, or another host, may make them at the same time; then this one finds them at its next try. */
static bool make_lists(Sender *sender, GError **error)
{
    g_autoptr(GError) absent = NULL;
    g_autoptr(List) there = list_by_address(sender->store, sender->trip.list, &absent);
    if (there)
        return true;
    if (!g_error_matches(absent, FAIL, FAIL_MISSING))
        return fail_with(error, &absent);
    WorkSite site;
    work_site_init(&site, sender->config);
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER, .from = "watch"};
    g_autoptr(Work) work = work_new(sender->store, &site, &actor);
    if (!work_begin(work, error) || !round_trip_make(work, &sender->trip, error) ||
        !work_commit(work, sender->spool, error))
        return false;
    sender->due = clock_monotonic() + MIN(config_duration(sender->config, "watch", "interval"), FIRST_WAIT);
    return true;
}

/* A Message-ID by which the mail goes through these slices; *key becomes that for out. Both g_free(). */
static char *make_id(const Sender *sender, const char *list_id, TurnWay way, char **key)
{
    for (;;) {
        g_autofree char *id = notice_id("canary", own_name(sender));
        g_autofree char *out = canary_shard(list_id, id, "out"), *in = canary_shard(list_id, id, "in");
        if (queues_slice_for(out, sender->turn.outs) != way.out || queues_slice_for(in, sender->turn.ins) != way.in)
            continue;
        *key = g_steal_pointer(&out);
        return g_steal_pointer(&id);
    }
}

/* Which families there are now. Ways by others are forgotten, so that they are missed no longer. */
static bool choose_families(Sender *sender, GError **error)
{
    const char *proven[3] = {NULL};
    unsigned count = 0;
    const Families before = sender->families;
    g_autoptr(GPtrArray) all = canary_all(sender->store, own_name(sender), error);
    for (guint at = 0; all && at < all->len; at++) {
        const Canary *row = all->pdata[at];
        if (row->back_at && *row->family && canary_is_mail(row) && count < 2 && !g_strv_contains(proven, row->family))
            proven[count++] = row->family;
    }
    if (!all)
        return false;
    families_look(sender->config, config_string(sender->config, "watch", "canary"), proven, &sender->families);
    sender->turn.families = sender->families.count;
    const char *const *names = sender->families.names;
    if (before.count == sender->families.count ||
        canary_keep_families(sender->store, own_name(sender), names[0], names[1], error))
        return true;
    sender->families = before; /* so that the next turn forgets them */
    return false;
}

/* The row comes first: a mail without one would be looked for by nobody. */
static bool send(Sender *sender, GError **error)
{
    g_autofree char *mail = NULL, *slice = NULL;
    if (!choose_families(sender, error))
        return false;
    g_autoptr(List) list = list_by_address(sender->store, sender->trip.list, error);
    if (!list)
        return false;
    const TurnWay turn = turn_way(&sender->turn);
    const CanaryWay way = {sender->families.names[turn.family], turn.out, turn.in};
    g_autofree char *id = make_id(sender, list->list_id, turn, &slice);
    g_autoptr(Draft) draft = round_trip_mail(sender->store, &sender->trip, id, &mail, error);
    if (!draft || !canary_sent(sender->store, own_name(sender), &way, mail, clock_now(), error))
        return false;
    meta_set_string(draft_meta(draft), META_SHARD, slice);
    if (*way.family)
        meta_set_string(draft_meta(draft), KEY_FAMILY, way.family);
    Intake intake = {.draft = draft};
    if (!intake_store(sender->spool, &intake, 1, false)) {
        g_propagate_error(error, intake.error);
        return false;
    }
    log_info("%s queue=out way=%s out=%u in=%u: sent through the mail server, to see it come back",
             meta_string(draft_meta(draft), META_TRACE, "-"), *way.family ? way.family : "any", turn.out, turn.in);
    sender->turn.count++;
    return true;
}

/* *under_way: there are some that should come back soon. Those that are missing for long are looked for less often. */
static bool look(Sender *sender, bool *under_way, GError **error)
{
    g_autoptr(GPtrArray) all = canary_all(sender->store, own_name(sender), error);
    int64_t patience = config_duration(sender->config, "watch", "patience"), now = clock_now();
    bool late_too = clock_monotonic() >= sender->late_at, any = false;
    *under_way = false;
    for (guint at = 0; all && at < all->len; at++) {
        const Canary *one = all->pdata[at];
        const CanaryWay way = {one->family, one->out, one->in};
        bool arrived = false, late = now - one->sent_at > patience;
        if (!canary_is_mail(one) || !one->missing_since || (late && !late_too))
            continue;
        if (!round_trip_arrived(sender->store, sender->trip.back, one->mail, &arrived, error) ||
            (arrived && !canary_back(sender->store, own_name(sender), &way, clock_now(), error)))
            return false;
        any |= arrived;
        *under_way |= !arrived && !late;
    }
    if (!all || !queues_look(&sender->queues, all, late_too, under_way, error))
        return false;
    if (late_too)
        sender->late_at = clock_monotonic() + MIN(config_duration(sender->config, "watch", "interval"), LATE_WAIT);
    if (!any)
        return true;
    /* Where nothing came back for long, and now something does, what was sent meanwhile may be late or lost, and says
     * nothing of the part of the way that it took. */
    g_autoptr(GArray) states = canary_state_of(all);
    const CanaryState *whole = &g_array_index(states, CanaryState, 0); /* there are mails */
    return !whole->missing_since || clock_now() - whole->missing_since <= patience ||
           canary_excuse(sender->store, own_name(sender), whole->back_at, error);
}

/* Send both kinds. A fault of one is as a rule one of the other, too, but each is tried. */
static bool send_all(Sender *sender, GError **error)
{
    g_autoptr(GPtrArray) rows = canary_all(sender->store, own_name(sender), error);
    if (!rows)
        return false;
    g_autoptr(GError) fault = NULL;
    bool put = queues_put(&sender->queues, rows, &fault);
    bool sent = send(sender, put ? error : NULL);
    if (!put)
        g_propagate_error(error, g_steal_pointer(&fault));
    return put && sent;
}

bool sender_turn(Sender *sender, int64_t *wait, GError **error)
{
    bool under_way;
    *wait = LOOK_WAIT;
    if (!sender->ready) { /* ways that no longer exist are forgotten first, so that nobody misses them */
        const char *own = own_name(sender);
        bool sends = sender->trip.list;
        if (!canary_forget(sender->store, own, sends ? sender->turn.outs : 0, sends ? sender->turn.ins : 0, error))
            return false;
        g_autoptr(GPtrArray) rows = canary_all(sender->store, own, error);
        if (!rows || !queues_forget(&sender->queues, rows, error) ||
            (!config_bool(sender->config, "watch", "both_families") &&
             !canary_forget_doors(sender->store, own, error)) ||
            (sends && !make_lists(sender, error)))
            return false;
        sender->ready = true;
    }
    if (!sender->trip.list) {
        *wait = INT64_MAX;
        return true;
    }
    if (!look(sender, &under_way, error))
        return false;
    if (clock_monotonic() >= sender->due) {
        sender->due = clock_monotonic() + config_duration(sender->config, "watch", "interval");
        if (!send_all(sender, error))
            return false;
        under_way = true;
    }
    *wait = under_way ? LOOK_WAIT : MAX(MIN(sender->due, sender->late_at) - clock_monotonic(), 0);
    return true;
}
