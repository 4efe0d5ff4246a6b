/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/bounce_brake.h"

#include <string.h>

#include "store/people/leave_brake.h"
#include "store/store_internal.h"

#define AHEAD INT64_C(60000000) /* us by which the clocks of hosts may differ */

/* A row, of a domain or of the list. */
typedef struct BrakeCount {
    bool known;
    int64_t day, number, needed, closed_at, held_until, last_at;
    bool several;
    char *first_domain;
} BrakeCount;

static void brake_count_clear(BrakeCount *count)
{
    g_free(count->first_domain);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BrakeCount, brake_count_clear)

static bool read_count(Store *store, int64_t list, const char *domain, const BounceBrakeEvent *event,
                       BrakeCount *count, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT day, number, needed, closed_at, held_until, last_at, several, "
                                        "first_domain FROM bounce_brake WHERE list = $1 AND domain = $2 AND reply = $3",
                                        INTEGER(list), TEXT(domain), TEXT(event->reply));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *count = (BrakeCount){true, query_integer(query, 0), query_integer(query, 1), query_integer(query, 2),
                              query_integer(query, 3), query_integer(query, 4), query_integer(query, 5),
                              query_integer(query, 6) != 0, g_strdup(query_text(query, 7))};
    if (count->last_at > event->at + AHEAD)
        count->day = count->closed_at = count->held_until = count->last_at = 0;
    return step != STEP_FAILED;
}

static bool write_count(Store *store, int64_t list, const char *domain, const BounceBrakeEvent *event,
                        const BrakeCount *count, GError **error)
{
    /* A new row needs room among those of the list. Without the row of a brake that has closed it would close again,
     * and dead mailboxes would never get their points; but such rows must leave room for others. */
    return (count->known ||
            query_run(store, error, NULL,
                      "DELETE FROM bounce_brake WHERE list = $1 AND (SELECT count(*) FROM bounce_brake b "
                      "WHERE b.list = $1) >= $2 AND (domain, reply) = (SELECT b.domain, b.reply FROM bounce_brake b "
                      "WHERE b.list = $1 ORDER BY CASE WHEN b.closed_at > 0 AND (SELECT count(*) FROM bounce_brake c "
                      "WHERE c.list = $1 AND c.closed_at > 0) <= $3 THEN 1 ELSE 0 END, b.last_at, b.domain, b.reply "
                      "LIMIT 1)",
                      INTEGER(list), INTEGER(BOUNCE_BRAKE_ROWS), INTEGER(BOUNCE_BRAKE_ROWS / 2))) &&
           query_run(store, error, NULL,
                     "INSERT INTO bounce_brake (list, domain, reply, text, day, number, needed, first_domain, several, "
                     "closed_at, held_until, last_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) "
                     "ON CONFLICT (list, domain, reply) DO UPDATE SET text = excluded.text, day = excluded.day, "
                     "number = excluded.number, needed = excluded.needed, first_domain = excluded.first_domain, "
                     "several = excluded.several, closed_at = excluded.closed_at, held_until = excluded.held_until, "
                     "last_at = excluded.last_at",
                     INTEGER(list), TEXT(domain), TEXT(event->reply), TEXT(event->text), INTEGER(count->day),
                     INTEGER(count->number), INTEGER(count->needed), TEXT(count->first_domain), INTEGER(count->several),
                     INTEGER(count->closed_at), INTEGER(count->held_until), INTEGER(count->last_at));
}

/* Count the failure in one row. */
static bool count_one(Store *store, int64_t list, const char *domain, const BounceBrakeEvent *event, BounceBrake *brake,
                      GError **error)
{
    g_auto(BrakeCount) count = {0};
    int64_t today = event->at / BOUNCE_DAY;
    if (!read_count(store, list, domain, event, &count, error))
        return false;
    bool once = event->mailbox || (*domain && event->host);
    int64_t over = once ? BOUNCE_BRAKE_ONCE : BOUNCE_BRAKE_QUIET;
    if (count.closed_at && count.last_at + over < event->at)
        count.closed_at = count.held_until = 0;
    if (!count.known || count.day != today) {
        count.day = today;
        count.number = count.needed = 0;
        count.several = false;
        g_free(count.first_domain);
        count.first_domain = g_strdup(event->domain);
    }
    count.number += event->first;
    count.several |= strcmp(count.first_domain, event->domain) != 0;
    count.last_at = MAX(count.last_at, event->at);
    bool enough = count.number >= BOUNCE_BRAKE_LEAST && (*domain || count.several);
    if (!count.closed_at && enough && count.number >= count.needed) {
        /* Members of a domain are counted no further than is needed to know that the count is no half of them yet; so
         * this costs as much as there are failures, and is done at each doubling. */
        int64_t members;
        if (*domain ? !leave_brake_members(store, event->list_id, domain, 4 * count.number, &members, error)
                    : !member_count(store, event->list_id, ROLE_MEMBER, &members, error))
            return false;
        count.needed = MAX((*domain ? members / 2 : members / 10) + 1, BOUNCE_BRAKE_LEAST);
        brake->closed = count.number >= count.needed;
        if (brake->closed)
            count.closed_at = event->at;
    }
    if (count.closed_at && !once)
        count.held_until = event->at + BOUNCE_BRAKE_QUIET;
    else if (brake->closed)
        count.held_until = (today + 1) * BOUNCE_DAY;
    brake->held = count.held_until > event->at;
    return write_count(store, list, domain, event, &count, error);
}

bool bounce_brake_count(Store *store, const BounceBrakeEvent *event, BounceBrake *brake, GError **error)
{
    int64_t list;
    BounceBrake domain = {0}, whole = {0};
    g_auto(Write) write = write_begin(store, WRITE_LIST, error);
    if (!write.begun || !list_key(store, event->list_id, &list, error) ||
        !count_one(store, list, event->domain, event, &domain, error) ||
        !count_one(store, list, "", event, &whole, error))
        return false;
    *brake = (BounceBrake){
        .held = domain.held || whole.held, .closed = domain.closed || whole.closed, .of_list = whole.closed};
    return write_end(&write, error);
}

bool bounce_brake_each(Store *store, int64_t now, int limit, BounceBrakeEach *each, void *data, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error,
        "SELECT l.list_id, b.domain, b.text, b.number, b.closed_at FROM bounce_brake b CROSS JOIN list l "
        "WHERE b.held_until > $1 AND b.last_at <= $3 AND l.key = b.list "
        "ORDER BY b.held_until DESC, b.list, b.domain, b.reply LIMIT $2",
        INTEGER(now), INTEGER(limit), INTEGER(now + AHEAD));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW)
        each(&(BounceBrakeRow){query_text(query, 0), query_text(query, 1), query_text(query, 2),
                               query_integer(query, 3), query_integer(query, 4)},
             data);
    return step == STEP_DONE;
}

static bool holds(Store *store, int64_t list, const char *domain, const BounceBrakeEvent *event, bool *held,
                  GError **error)
{
    g_auto(BrakeCount) count = {0};
    if (!read_count(store, list, domain, event, &count, error))
        return false;
    *held = count.held_until > event->at;
    return true;
}

bool bounce_brake_look(Store *store, const BounceBrakeEvent *event, BounceBrake *brake, GError **error)
{
    int64_t list;
    bool domain;
    *brake = (BounceBrake){0};
    if (!list_key(store, event->list_id, &list, error) ||
        !holds(store, list, event->domain, event, &domain, error) ||
        !holds(store, list, "", event, &brake->of_list, error))
        return false;
    brake->held = domain || brake->of_list;
    return true;
}

/* A brake that closes may take back from a great part of a large list: nothing waits for single answers. */
bool bounce_take_back(Store *store, const BounceTakenBack *what, GError **error)
{
    int64_t list;
    g_autofree char *folded = mailbox_folded(what->address);
    g_auto(Write) write = write_begin(store, WRITE_LIST, error);
    if (!write.begun || !list_key(store, what->list_id, &list, error) ||
        !query_later(store, error,
                     "UPDATE bounce SET weight = weight - $4 WHERE list = $1 AND folded = $2 AND day = $3",
                     INTEGER(list), TEXT(folded), INTEGER(what->day), INTEGER(what->weight)))
        return false;
    if (what->scored &&
        (!query_later(store, error,
                      "UPDATE bounce_score SET score = CASE WHEN score > $3 THEN score - $3 ELSE 0 END "
                      "WHERE disabled_at = 0 AND member IN (SELECT m.key FROM member m WHERE m.list = $1 "
                      "AND m.role = 0 AND m.folded = $2)",
                      INTEGER(list), TEXT(folded), INTEGER(what->weight)) ||
         !query_later(store, error,
                      "DELETE FROM bounce_score WHERE score = 0 AND probe_at = 0 AND disabled_at = 0 AND member IN "
                      "(SELECT m.key FROM member m WHERE m.list = $1 AND m.role = 0 AND m.folded = $2)",
                      INTEGER(list), TEXT(folded))))
        return false;
    return write_end(&write, error);
}

bool bounce_brake_expire(Store *store, int64_t now, GError **error)
{
    return STORE_EXPIRE(store, "bounce_brake", "last_at", now - BOUNCE_BRAKE_ONCE, error);
}
