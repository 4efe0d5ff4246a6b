/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/watch/sender.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "mail/notice.h"
#include "store/canary.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"
#include "switchboard/slice.h"

#define LOOK_WAIT (2 * CLOCK_SECOND)   /* while a mail is under way */
#define FIRST_WAIT (60 * CLOCK_SECOND) /* after the lists were made: an MTA that reads files must know them */

void sender_init(Sender *sender, const Config *config, Store *store, Spool *spool)
{
    const char *domain = config_string(config, "watch", "canary");
    *sender = (Sender){.config = config, .store = store, .spool = spool};
    if (domain)
        sender->trip = round_trip_at(ROUND_TRIP_CANARY, domain);
    static const char *const runners[] = {"out", "in"};
    for (size_t at = 0; at < G_N_ELEMENTS(runners); at++) {
        unsigned most;
        config_instances(config, runners[at], &most);
        sender->slices = MAX(sender->slices, most);
    }
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
    if (!g_error_matches(absent, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&absent));
        return false;
    }
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

static bool get_ready(Sender *sender, GError **error)
{
    sender->ready = sender->ready ||
                    (canary_forget(sender->store, own_name(sender), sender->trip.list ? sender->slices : 0, error) &&
                     (!sender->trip.list || make_lists(sender, error)));
    return sender->ready;
}

/* A Message-ID whose hash falls into the slice: it is the shard key of the mail's entries; g_free(). */
static char *make_id(const Sender *sender)
{
    for (;;) {
        g_autofree char *id = notice_id("canary", own_name(sender));
        g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
        uint8_t hash[20];
        gsize size = sizeof hash;
        g_checksum_update(sum, (const guchar *)id, -1);
        g_checksum_get_digest(sum, hash, &size);
        if (slice_of(hash, sender->slices) == sender->next)
            return g_steal_pointer(&id);
    }
}

/* The row comes first: a mail without one would be looked for by nobody. */
static bool send(Sender *sender, GError **error)
{
    g_autofree char *id = make_id(sender), *key = NULL;
    g_autoptr(Draft) draft = round_trip_mail(sender->store, &sender->trip, id, &key, error);
    if (!draft || !canary_sent(sender->store, own_name(sender), sender->next, key, clock_now(), error))
        return false;
    meta_set_string(draft_meta(draft), META_SHARD, id);
    Intake intake = {.draft = draft};
    if (!intake_store(sender->spool, &intake, 1, false)) {
        g_propagate_error(error, intake.error);
        return false;
    }
    log_info("%s queue=out slice=%u of %u: sent through the mail server, to see it come back",
             meta_string(draft_meta(draft), META_TRACE, "-"), sender->next, sender->slices);
    sender->next = (sender->next + 1) % sender->slices;
    return true;
}

/* *under_way: there are some that have not come back. */
static bool look(Sender *sender, bool *under_way, GError **error)
{
    g_autoptr(GPtrArray) all = canary_all(sender->store, own_name(sender), error);
    *under_way = false;
    for (guint at = 0; all && at < all->len; at++) {
        const Canary *one = all->pdata[at];
        bool arrived;
        if (!one->missing_since)
            continue;
        if (!round_trip_arrived(sender->store, sender->trip.back, one->mail, &arrived, error) ||
            (arrived && !canary_back(sender->store, own_name(sender), one->slice, clock_now(), error)))
            return false;
        *under_way |= !arrived;
    }
    return all != NULL;
}

bool sender_turn(Sender *sender, int64_t *wait, GError **error)
{
    bool under_way;
    *wait = LOOK_WAIT;
    if (!get_ready(sender, error))
        return false;
    if (!sender->trip.list) {
        *wait = INT64_MAX;
        return true;
    }
    if (!look(sender, &under_way, error))
        return false;
    if (clock_monotonic() >= sender->due) {
        sender->due = clock_monotonic() + config_duration(sender->config, "watch", "interval");
        if (!send(sender, error))
            return false;
        under_way = true;
    }
    *wait = under_way ? LOOK_WAIT : MAX(sender->due - clock_monotonic(), 0);
    return true;
}
