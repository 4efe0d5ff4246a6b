/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/watch/sender.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "mail/text/notice.h"
#include "store/hosts/canary.h"
#include "store/lists/list.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"

#define LOOK_WAIT (2 * CLOCK_SECOND)   /* while a mail is under way */
#define LATE_WAIT (60 * CLOCK_SECOND)  /* while one is missing for longer than patience */
#define FIRST_WAIT (60 * CLOCK_SECOND) /* after the lists were made: an MTA that reads files must know them */

void sender_init(Sender *sender, const Config *config, Store *store, Spool *spool)
{
    const char *domain = config_string(config, "watch", "canary");
    *sender = (Sender){.config = config, .store = store, .spool = spool};
    if (domain)
        sender->trip = round_trip_at(ROUND_TRIP_CANARY, domain);
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

/* The row comes first: a mail without one would be looked for by nobody. */
static bool send(Sender *sender, GError **error)
{
    g_autofree char *mail = NULL, *id = notice_id("canary", own_name(sender));
    g_autoptr(Draft) draft = round_trip_mail(sender->store, &sender->trip, id, &mail, error);
    if (!draft || !canary_sent(sender->store, own_name(sender), mail, clock_now(), error))
        return false;
    Intake intake = {.draft = draft};
    if (!intake_store(sender->spool, &intake, 1, false)) {
        g_propagate_error(error, intake.error);
        return false;
    }
    log_info("%s queue=out: sent through the mail server, to see it come back",
             meta_string(draft_meta(draft), META_TRACE, "-"));
    return true;
}

bool sender_turn(Sender *sender, int64_t *wait, GError **error)
{
    const char *own = own_name(sender);
    if (!sender->ready) {
        if (sender->trip.list ? !make_lists(sender, error) : !canary_forget(sender->store, own, error))
            return false;
        sender->ready = true;
    }
    *wait = INT64_MAX;
    if (!sender->trip.list)
        return true;

    g_auto(Canary) canary = {0};
    bool arrived = false;
    if (!canary_read(sender->store, own, &canary, error))
        return false;
    if (canary.missing_since &&
        (!round_trip_arrived(sender->store, sender->trip.back, canary.mail, &arrived, error) ||
         (arrived && !canary_back(sender->store, own, clock_now(), error))))
        return false;
    bool missing = canary.missing_since && !arrived;
    bool under_way = missing && clock_now() - canary.sent_at <= config_duration(sender->config, "watch", "patience");
    if (!under_way && clock_monotonic() >= sender->due) {
        sender->due = clock_monotonic() + config_duration(sender->config, "watch", "interval");
        if (!send(sender, error))
            return false;
        under_way = true;
    }
    *wait = under_way ? LOOK_WAIT : MAX(MIN(sender->due - clock_monotonic(), missing ? LATE_WAIT : INT64_MAX), 0);
    return true;
}
