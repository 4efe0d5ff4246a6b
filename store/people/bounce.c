/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/bounce.h"

#include <string.h>

#include "base/fail.h"
#include "store/people/bounce_internal.h"
#include "store/store_internal.h"

/* ---- one bounce ---- */

bool bounce_source_verified(const char *source)
{
    return strcmp(source, "report") != 0;
}

bool bounce_note(Store *store, const BounceEvent *event, BounceNoted *noted, GError **error)
{
    int64_t list, day = event->at / BOUNCE_DAY, weight = -1, bounces = 0; /* weight -1: the day has no row */
    bool was_verified = false, verified = bounce_source_verified(event->source);
    const char *folded = event->address->folded;
    g_auto(Write) write = write_begin(store, WRITE_LIST, error);
    if (!write.begun || !list_key(store, event->list_id, &list, error))
        return false;
    {
        g_autoptr(Query) query = query_open(store, error,
                                            "SELECT weight, bounces, source FROM bounce WHERE list = $1 AND "
                                            "folded = $2 AND day = $3",
                                            INTEGER(list), TEXT(folded), INTEGER(day));
        Step step = query_step(query, error);
        if (step == STEP_FAILED)
            return false;
        if (step == STEP_ROW) {
            weight = query_integer(query, 0);
            bounces = query_integer(query, 1);
            was_verified = bounce_source_verified(query_text(query, 2));
        }
    }
    *noted = (BounceNoted){
        .added = MAX(event->weight - MAX(weight, 0), 0), .number = bounces + 1, .first = verified && !was_verified};

    /* The day tells of its heaviest bounce, and is verified once one of them was. */
    if (event->weight <= weight)
        return query_run(store, error, NULL,
                         "UPDATE bounce SET bounces = $4, last_at = $5, source = CASE WHEN $6 <> '' THEN $6 ELSE "
                         "source END WHERE list = $1 AND folded = $2 AND day = $3",
                         INTEGER(list), TEXT(folded), INTEGER(day), INTEGER(noted->number), INTEGER(event->at),
                         TEXT(noted->first ? event->source : "")) &&
               write_end(&write, error);
    return query_run(store, error, NULL,
                     "INSERT INTO bounce (list, folded, day, email, bounces, weight, class, status, reason, source, "
                     "text, last_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) "
                     "ON CONFLICT (list, folded, day) DO UPDATE SET bounces = excluded.bounces, "
                     "weight = excluded.weight, class = excluded.class, status = excluded.status, "
                     "reason = excluded.reason, source = excluded.source, text = excluded.text, "
                     "last_at = excluded.last_at",
                     INTEGER(list), TEXT(folded), INTEGER(day), TEXT(event->address->text), INTEGER(noted->number),
                     INTEGER(event->weight), TEXT(event->class), TEXT(event->status), TEXT(event->reason),
                     TEXT(was_verified && !verified ? "smtp" : event->source), TEXT(event->text), INTEGER(event->at)) &&
           write_end(&write, error);
}

/* ---- a member's score ---- */

void bounce_score_clear(BounceScore *score)
{
    g_clear_pointer(&score->list_id, g_free);
    g_clear_pointer(&score->address, g_free);
}

static void read_score(Query *query, BounceScore *score)
{
    store_key_id(query_integer(query, 0), score->member_id);
    score->list_id = g_strdup(query_text(query, 1));
    score->address = g_strdup(query_text(query, 2));
    score->status = (DeliveryStatus)query_integer(query, 3);
    int64_t *const numbers[] = {&score->score,    &score->last_bounce_at, &score->probe_at, &score->disabled_at,
                                &score->warnings, &score->next_at,        &score->warned_at};
    for (int i = 0; i < (int)G_N_ELEMENTS(numbers); i++)
        *numbers[i] = query_is_null(query, 4 + i) ? 0 : query_integer(query, 4 + i);
}

bool bounce_score_read(Store *store, const char *member_id, BounceScore *score, GError **error)
{
    int64_t key = 0;
    if (!store_id_key(member_id, &key))
        return fail(error, FAIL_MISSING, "there is no member %s", member_id);
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT " BOUNCE_SCORE_COLUMNS MEMBER_JOINS "JOIN list l ON l.key = m.list "
                                        "LEFT JOIN bounce_score s ON s.member = m.key WHERE m.key = $1",
                                        INTEGER(key));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        read_score(query, score);
    return step == STEP_ROW || (step == STEP_DONE && fail(error, FAIL_MISSING, "there is no member %s", member_id));
}

bool bounce_score_write(Store *store, const BounceScore *score, GError **error)
{
    int64_t key = 0;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    if (!store_id_key(score->member_id, &key))
        return fail(error, FAIL_MISSING, "there is no member %s", score->member_id);
    if (score->score == 0 && score->probe_at == 0 && score->disabled_at == 0)
        return query_run(store, error, NULL, "DELETE FROM bounce_score WHERE member = $1", INTEGER(key)) &&
               write_end(&write, error);
    return query_change_one(
               store, error, fail(error, FAIL_MISSING, "there is no member %s", score->member_id),
               "INSERT INTO bounce_score (member, score, last_bounce_at, probe_at, disabled_at, warnings, next_at, "
               "warned_at) SELECT key, $2, $3, $4, $5, $6, $7, $8 FROM member WHERE key = $1 "
               "ON CONFLICT (member) DO UPDATE SET "
               "score = excluded.score, last_bounce_at = excluded.last_bounce_at, probe_at = excluded.probe_at, "
               "disabled_at = excluded.disabled_at, warnings = excluded.warnings, next_at = excluded.next_at, "
               "warned_at = excluded.warned_at",
               INTEGER(key), INTEGER(score->score), INTEGER(score->last_bounce_at), INTEGER(score->probe_at),
               INTEGER(score->disabled_at), INTEGER(score->warnings), INTEGER(score->next_at),
               INTEGER(score->warned_at)) &&
           write_end(&write, error);
}

static void free_score(void *data)
{
    bounce_score_clear(data);
    g_free(data);
}

static bool read_scores(Query *query, BounceScoreEach *each, void *data, GError **error)
{
    g_autoptr(GPtrArray) due = g_ptr_array_new_with_free_func(free_score);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        g_ptr_array_add(due, g_new0(BounceScore, 1));
        read_score(query, due->pdata[due->len - 1]);
    }
    query_free(query);
    for (unsigned i = 0; step == STEP_DONE && i < due->len; i++)
        if (!each(due->pdata[i], data))
            break;
    return step == STEP_DONE;
}

bool bounce_score_due(Store *store, int64_t now, int limit, BounceScoreEach *each, void *data, GError **error)
{
    return read_scores(query_open(store, error,
                                  "SELECT " BOUNCE_SCORE_COLUMNS BOUNCE_SCORE_JOINS "WHERE " BOUNCE_SCORE_JOINED
                                  "AND s.next_at <= $1 ORDER BY s.next_at LIMIT $2",
                                  INTEGER(now), INTEGER(limit)),
                       each, data, error);
}

bool bounce_score_ahead(Store *store, int64_t after, int limit, BounceScoreEach *each, void *data, GError **error)
{
    return read_scores(query_open(store, error,
                                  "SELECT " BOUNCE_SCORE_COLUMNS BOUNCE_SCORE_JOINS "WHERE " BOUNCE_SCORE_JOINED
                                  "AND (s.last_bounce_at > $1 OR s.probe_at > $1 OR "
                                  "s.disabled_at > $1 OR s.warned_at > $1) ORDER BY s.member LIMIT $2",
                                  INTEGER(after), INTEGER(limit)),
                       each, data, error);
}

bool bounce_reset(Store *store, const BounceFilter *filter, int64_t *changed, GError **error)
{
    g_autofree char *folded = filter->address ? mailbox_folded(filter->address) : g_strdup("");
    g_autofree char *probe = filter->domain ? g_strconcat("@", filter->domain, NULL) : NULL;
    g_autofree char *domain = probe ? mailbox_folded(probe) : g_strdup("");
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    const Value values[] = {TEXT(filter->list_id ? filter->list_id : ""), TEXT(folded), TEXT(domain),
                            TEXT(filter->reason ? filter->reason : "")};
    bool one = filter->address != NULL;
    const char *enable = one ? BOUNCE_ENABLE(BOUNCE_OF_ADDRESS) : BOUNCE_ENABLE(BOUNCE_OF_ALL);
    const char *forget = one ? BOUNCE_FORGET(BOUNCE_OF_ADDRESS) : BOUNCE_FORGET(BOUNCE_OF_ALL);
    return query_all(store, error, NULL, enable, values, G_N_ELEMENTS(values)) &&
           query_all(store, error, changed, forget, values, G_N_ELEMENTS(values)) && write_end(&write, error);
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
                          .folded = filter->address ? mailbox_folded(filter->address) : g_strdup(""),
                          .domain = probe ? mailbox_folded(probe) : g_strdup("")}; /* "example.org " */
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

bool bounce_day_each(Store *store, const BounceFilter *filter, BounceDayEach *each, void *data, GError **error)
{
    g_auto(BounceWanted) wanted = wanted_from(filter);
    const char *of_list = filter->address ? BOUNCE_DAYS_OF_BOTH : BOUNCE_DAYS_OF_LIST;
    const char *of_any = filter->address ? BOUNCE_DAYS_OF_ADDRESS : BOUNCE_DAYS_OF_ALL;
    g_autoptr(Query) query = open_wanted(store, filter->list_id ? of_list : of_any, &wanted, filter, error);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        BounceDay day = {.list_id = query_text(query, 0), .address = query_text(query, 1)};
        const char *folded = query_text(query, 2); /* "example.com jo" */
        g_autofree char *domain = g_strndup(folded, strcspn(folded, " "));
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
    g_autofree char *least = probe ? mailbox_folded(probe) : g_strdup("");
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

/* The columns of the score come first; the last day's begin at BOUNCE_SCORE_COLUMN_COUNT. */
bool bounce_standing_each(Store *store, const BounceFilter *filter, BounceStandingEach *each, void *data,
                          GError **error)
{
    g_auto(BounceWanted) wanted = wanted_from(filter);
    const char *sql = filter->address ? BOUNCE_STANDINGS_OF_ADDRESS : BOUNCE_STANDINGS_OF_ALL;
    g_autoptr(Query) query = open_wanted(store, sql, &wanted, filter, error);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        g_auto(BounceScore) score = {0};
        read_score(query, &score);
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
    return STORE_WRITE_LIST(
        store, error,
        list_key(store, list_id, &list, error) &&
            query_number(store, error, today,
                         "INSERT INTO bounce_count (day, list, what, number) VALUES ($1, $2, $3, 1) ON CONFLICT "
                         "(day, list, what) DO UPDATE SET number = bounce_count.number + 1 RETURNING number",
                         INTEGER(now / BOUNCE_DAY), INTEGER(list), TEXT(what)));
}

bool bounce_expire(Store *store, int64_t time, GError **error)
{
    return STORE_EXPIRE(store, "bounce", "day", time / BOUNCE_DAY, error) &&
           STORE_EXPIRE(store, "bounce_count", "day", time / BOUNCE_DAY, error);
}

/* ---- brakes: too many members with one reply ---- */

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
        if (*domain ? !member_count_at(store, event->list_id, domain, 4 * count.number, &members, error)
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
