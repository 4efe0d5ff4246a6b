/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/fail.h"
#include "store/people/bounce_internal.h"
#include "store/people/email.h"

void bounce_score_clear(BounceScore *score)
{
    g_clear_pointer(&score->list_id, g_free);
    g_clear_pointer(&score->address, g_free);
}

void bounce_score_from(Query *query, BounceScore *score)
{
    store_key_id(query_integer(query, 0), score->member_id);
    score->list_id = g_strdup(query_text(query, 1));
    score->address = g_strdup(query_text(query, 2));
    score->status = (DeliveryStatus)query_integer(query, 3);
    int64_t *const numbers[] = {&score->score, &score->last_bounce_at, &score->probe_at, &score->disabled_at,
                                &score->warnings, &score->next_at, &score->warned_at};
    for (int i = 0; i < (int)G_N_ELEMENTS(numbers); i++)
        *numbers[i] = query_is_null(query, 4 + i) ? 0 : query_integer(query, 4 + i);
}

bool bounce_score_read(Store *store, const char *member_id, BounceScore *score, GError **error)
{
    int64_t key = 0;
    if (!store_id_key(member_id, &key))
        return fail(error, FAIL_MISSING, "there is no member %s", member_id);
    g_autoptr(Query) query =
        query_open(store, error,
                   "SELECT " BOUNCE_SCORE_COLUMNS MEMBER_JOINS "JOIN list l ON l.key = m.list "
                   "LEFT JOIN bounce_score s ON s.member = m.key WHERE m.key = $1",
                   INTEGER(key));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        bounce_score_from(query, score);
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
    int64_t there = 0;
    if (!query_run(store, error, &there,
                   "INSERT INTO bounce_score (member, score, last_bounce_at, probe_at, disabled_at, warnings, "
                   "next_at, warned_at) "
                   "SELECT key, $2, $3, $4, $5, $6, $7, $8 FROM member WHERE key = $1 "
                   "ON CONFLICT (member) DO UPDATE SET "
                   "score = excluded.score, last_bounce_at = excluded.last_bounce_at, probe_at = excluded.probe_at, "
                   "disabled_at = excluded.disabled_at, warnings = excluded.warnings, next_at = excluded.next_at, "
                   "warned_at = excluded.warned_at",
                   INTEGER(key), INTEGER(score->score), INTEGER(score->last_bounce_at), INTEGER(score->probe_at),
                   INTEGER(score->disabled_at), INTEGER(score->warnings), INTEGER(score->next_at),
                   INTEGER(score->warned_at)))
        return false;
    return (there > 0 || fail(error, FAIL_MISSING, "there is no member %s", score->member_id)) &&
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
        bounce_score_from(query, due->pdata[due->len - 1]);
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
                                  "SELECT " BOUNCE_SCORE_COLUMNS BOUNCE_SCORE_JOINS
                                  "WHERE " BOUNCE_SCORE_JOINED "AND s.next_at <= $1 ORDER BY s.next_at LIMIT $2",
                                  INTEGER(now), INTEGER(limit)),
                       each, data, error);
}

bool bounce_score_ahead(Store *store, int64_t after, int limit, BounceScoreEach *each, void *data, GError **error)
{
    return read_scores(query_open(store, error,
                                  "SELECT " BOUNCE_SCORE_COLUMNS BOUNCE_SCORE_JOINS
                                  "WHERE " BOUNCE_SCORE_JOINED "AND (s.last_bounce_at > $1 OR s.probe_at > $1 OR "
                                  "s.disabled_at > $1 OR s.warned_at > $1) ORDER BY s.member LIMIT $2",
                                  INTEGER(after), INTEGER(limit)),
                       each, data, error);
}

bool bounce_reset(Store *store, const BounceFilter *filter, int64_t *changed, GError **error)
{
    g_autofree char *folded = filter->address ? email_folded(filter->address) : g_strdup("");
    g_autofree char *probe = filter->domain ? g_strconcat("@", filter->domain, NULL) : NULL;
    g_autofree char *domain = probe ? email_folded(probe) : g_strdup("");
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
