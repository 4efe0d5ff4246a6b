/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/bounce.h"

#include <string.h>

#include "store/people/bounce_internal.h"
#include "store/people/email.h"

#define EXPIRE_ROWS 10000 /* a transaction, so that others are not kept waiting */

/* ---- one bounce ---- */

bool bounce_source_verified(const char *source)
{
    return strcmp(source, "report") != 0;
}

/* The row of a day; weight -1: there is none. */
typedef struct FoundDay {
    int64_t weight, bounces;
    bool verified;
} FoundDay;

static bool find_day(Store *store, int64_t list, const char *folded, int64_t day, FoundDay *found, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT weight, bounces, source FROM bounce WHERE list = $1 AND folded = $2 "
                                        "AND day = $3",
                                        INTEGER(list), TEXT(folded), INTEGER(day));
    Step step = query_step(query, error);
    *found = (FoundDay){.weight = -1};
    if (step == STEP_ROW)
        *found = (FoundDay){query_integer(query, 0), query_integer(query, 1),
                            bounce_source_verified(query_text(query, 2))};
    return step != STEP_FAILED;
}

static bool add_day(Store *store, int64_t list, const char *folded, const BounceEvent *event, int64_t number,
                    GError **error)
{
    return query_run(store, error, NULL,
                     "INSERT INTO bounce (list, folded, day, email, bounces, weight, class, status, reason, source, "
                     "text, last_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) "
                     "ON CONFLICT (list, folded, day) DO UPDATE SET bounces = excluded.bounces, "
                     "weight = excluded.weight, class = excluded.class, status = excluded.status, "
                     "reason = excluded.reason, source = excluded.source, text = excluded.text, "
                     "last_at = excluded.last_at",
                     INTEGER(list), TEXT(folded), INTEGER(event->at / BOUNCE_DAY), TEXT(event->address),
                     INTEGER(number), INTEGER(event->weight), TEXT(event->class), TEXT(event->status),
                     TEXT(event->reason), TEXT(event->source), TEXT(event->text), INTEGER(event->at));
}

bool bounce_note(Store *store, const BounceEvent *event, BounceNoted *noted, GError **error)
{
    int64_t list, day = event->at / BOUNCE_DAY;
    g_auto(Write) write = write_begin(store, WRITE_LIST, error);
    if (!write.begun)
        return false;
    FoundDay found;
    BounceEvent kept = *event;
    g_autofree char *folded = email_folded(event->address);
    if (!list_key(store, event->list_id, &list, error) || !find_day(store, list, folded, day, &found, error))
        return false;
    bool verified = bounce_source_verified(event->source);
    *noted = (BounceNoted){.added = MAX(event->weight - MAX(found.weight, 0), 0), .number = found.bounces + 1,
                           .first = verified && !found.verified};
    if (found.verified && !verified)
        kept.source = "smtp";
    if (event->weight > found.weight)
        return add_day(store, list, folded, &kept, noted->number, error) && write_end(&write, error);
    return query_run(store, error, NULL,
                     "UPDATE bounce SET bounces = $4, last_at = $5, source = CASE WHEN $6 <> '' THEN $6 ELSE source "
                     "END WHERE list = $1 AND folded = $2 AND day = $3",
                     INTEGER(list), TEXT(folded), INTEGER(day), INTEGER(noted->number), INTEGER(event->at),
                     TEXT(noted->first ? event->source : "")) &&
           write_end(&write, error);
}

/* ---- what is known ---- */

/* A filter as parameters: '' is any. */
typedef struct BounceWanted {
    char *list_id, *folded, *domain;
} BounceWanted;

static void wanted_clear(BounceWanted *wanted)
{
    g_free(wanted->list_id);
    g_free(wanted->folded);
    g_free(wanted->domain);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BounceWanted, wanted_clear)

static BounceWanted wanted_from(const BounceFilter *filter)
{
    g_autofree char *probe = filter->domain ? g_strconcat("@", filter->domain, NULL) : NULL;
    return (BounceWanted){.list_id = g_strdup(filter->list_id ? filter->list_id : ""),
                          .folded = filter->address ? email_folded(filter->address) : g_strdup(""),
                          .domain = probe ? email_folded(probe) : g_strdup("")}; /* "example.org " */
}

static void read_day(Query *query, int column, BounceDay *day)
{
    day->day = query_integer(query, column);
    day->bounces = query_integer(query, column + 1);
    day->weight = query_integer(query, column + 2);
    day->last_at = query_integer(query, column + 3);
    day->class = query_text(query, column + 4);
    day->status = query_text(query, column + 5);
    day->reason = query_text(query, column + 6);
    day->source = query_text(query, column + 7);
    day->text = query_text(query, column + 8);
}

static Query *open_wanted(Store *store, const char *sql, const BounceWanted *wanted, const BounceFilter *filter,
                          GError **error)
{
    return query_open(store, error, sql, TEXT(wanted->list_id), TEXT(wanted->folded), TEXT(wanted->domain),
                      TEXT(filter->reason ? filter->reason : ""), INTEGER(filter->since / BOUNCE_DAY));
}

/* "example.com jo" begins with its domain. */
static char *domain_of(const char *folded)
{
    return g_strndup(folded, strcspn(folded, " "));
}

bool bounce_day_each(Store *store, const BounceFilter *filter, BounceDayEach *each, void *data, GError **error)
{
    g_auto(BounceWanted) wanted = wanted_from(filter);
    const char *of_list = filter->address ? BOUNCE_DAYS_OF_BOTH : BOUNCE_DAYS_OF_LIST;
    const char *of_any = filter->address ? BOUNCE_DAYS_OF_ADDRESS : BOUNCE_DAYS_OF_ALL;
    g_autoptr(Query) query = open_wanted(store, filter->list_id ? of_list : of_any, &wanted, filter, error);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        BounceDay day = {.list_id = query_text(query, 0), .address = query_text(query, 1)};
        g_autofree char *domain = domain_of(query_text(query, 2));
        day.domain = domain;
        read_day(query, 3, &day);
        if (!each(&day, data))
            return true;
    }
    return step == STEP_DONE;
}

bool bounce_day_portion(Store *store, const BouncePortion *portion, BounceDayEach *each, void *data, GError **error)
{
    int64_t list;
    /* A folded address is "example.org anne". */
    g_autofree char *probe = portion->domain ? g_strconcat("@", portion->domain, NULL) : NULL;
    g_autofree char *least = probe ? email_folded(probe) : g_strdup("");
    g_autofree char *most = probe ? g_strconcat(least, "\xf4\x8f\xbf\xbd", NULL) : g_strdup("\xf4\x8f\xbf\xbd");
    const char *after = strcmp(portion->after, least) > 0 ? portion->after : least;
    if (!list_key(store, portion->list_id, &list, error))
        return false;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT email, weight, text FROM bounce WHERE list = $1 AND folded > $2 AND "
                                        "folded < $3 AND day = $4 AND weight > 0 ORDER BY folded LIMIT $5",
                                        INTEGER(list), TEXT(after), TEXT(most), INTEGER(portion->day),
                                        INTEGER(portion->limit));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        BounceDay day = {.list_id = portion->list_id, .address = query_text(query, 0), .day = portion->day,
                         .weight = query_integer(query, 1), .text = query_text(query, 2)};
        if (!each(&day, data))
            return true;
    }
    return step == STEP_DONE;
}

/* The columns of bounce_score.c come first; the last day's begin at BOUNCE_SCORE_COLUMN_COUNT. */
bool bounce_standing_each(Store *store, const BounceFilter *filter, BounceStandingEach *each, void *data,
                          GError **error)
{
    g_auto(BounceWanted) wanted = wanted_from(filter);
    const char *sql = filter->address ? BOUNCE_STANDINGS_OF_ADDRESS : BOUNCE_STANDINGS_OF_ALL;
    g_autoptr(Query) query = open_wanted(store, sql, &wanted, filter, error);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        g_auto(BounceScore) score = {0};
        bounce_score_from(query, &score);
        BounceDay day = {.list_id = score.list_id, .address = score.address};
        bool known = !query_is_null(query, BOUNCE_SCORE_COLUMN_COUNT);
        if (known)
            read_day(query, BOUNCE_SCORE_COLUMN_COUNT, &day);
        if (!each(&score, known ? &day : NULL, data))
            return true;
    }
    return step == STEP_DONE;
}

/* ---- bounds, and forgetting ---- */

bool bounce_count(Store *store, const char *list_id, const char *what, int64_t now, int64_t *today, GError **error)
{
    int64_t list;
    g_auto(Write) write = write_begin(store, WRITE_LIST, error);
    if (!write.begun || !list_key(store, list_id, &list, error))
        return false;
    return query_number(store, error, today,
                        "INSERT INTO bounce_count (day, list, what, number) VALUES ($1, $2, $3, 1) "
                        "ON CONFLICT (day, list, what) DO UPDATE SET number = bounce_count.number + 1 RETURNING number",
                        INTEGER(now / BOUNCE_DAY), INTEGER(list), TEXT(what)) &&
           write_end(&write, error);
}

bool bounce_expire(Store *store, int64_t time, GError **error)
{
    return STORE_EXPIRE(store, "bounce", "day", time / BOUNCE_DAY, error) &&
           STORE_EXPIRE(store, "bounce_count", "day", time / BOUNCE_DAY, error);
}
