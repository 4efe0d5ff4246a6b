/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/pending.h"

#include <string.h>
#include <sys/random.h>

#include "base/fail.h"
#include "store/row.h"
#include "store/store_internal.h"

#define COLUMNS                                                                                          \
    "pending.number, pending.kind, list.list_id, pending.address, pending.display_name, pending.facts, " \
    "pending.waits_for, pending.made_at, pending.asked_at, pending.expires_at, pending.delivery_mode, "  \
    "pending.delivery_status, pending.by_person, pending.welcome, pending.detail, pending.way"
#define FROM " FROM pending JOIN list ON list.key = pending.list "

#define MAILMAN_TOKEN_CHARS 40

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

const char *pending_kind_text(PendingKind kind)
{
    static const char *const texts[] = {"join", "leave", "change-address", "set"};
    return texts[kind];
}

const char *pending_waits_for_text(PendingWaitsFor waits_for)
{
    return waits_for == PENDING_PERSON ? "person" : "moderator";
}

static const RowField pending_row[] = {
    ROW(Pending, number),       ROW(Pending, kind),       ROW(Pending, list_id),       ROW(Pending, address),
    ROW(Pending, display_name), ROW(Pending, facts),      ROW(Pending, waits_for),     ROW(Pending, made_at),
    ROW(Pending, asked_at),     ROW(Pending, expires_at), ROW(Pending, delivery_mode), ROW(Pending, delivery_status),
    ROW(Pending, as_user),      ROW(Pending, welcome),    ROW(Pending, detail),        ROW(Pending, way)};

void pending_free(Pending *pending)
{
    row_free(pending_row, pending);
}

/* 128 bits, five a character; the last one holds three. */
bool pending_token_new(char token[PENDING_TOKEN_CHARS + 1], GError **error)
{
    unsigned char octets[17] = {0};
    if (getrandom(octets, 16, 0) != 16) /* of this size it is never cut short */
        return fail_errno(error, FAIL_LATER, "no random octets for a token");
    for (unsigned at = 0; at < PENDING_TOKEN_CHARS; at++) {
        unsigned bit = at * 5, pair = (unsigned)octets[bit / 8] << 8 | octets[bit / 8 + 1];
        token[at] = alphabet[pair >> (11 - bit % 8) & 31];
    }
    token[PENDING_TOKEN_CHARS] = '\0';
    return true;
}

bool pending_token_is_one(const char *text)
{
    g_autofree char *lower = g_ascii_strdown(text, -1);
    size_t length = strlen(lower);
    return (length == PENDING_TOKEN_CHARS && strspn(lower, alphabet) == length) ||
           (length == MAILMAN_TOKEN_CHARS && strspn(lower, "0123456789abcdef") == length);
}

char *pending_token_hash(const char *token)
{
    g_autofree char *lower = g_ascii_strdown(token, -1);
    return g_compute_checksum_for_string(G_CHECKSUM_SHA256, lower, -1);
}

/* Notes what became of the token of a request, whose time was over at `at` or not; 0: it was not. */
static bool spend_token(Store *store, int64_t number, TokenFate fate, int64_t at, GError **error)
{
    return query_run(store, error, NULL,
                     "INSERT INTO spent_token (token, fate, spent_at) "
                     "SELECT token, CASE WHEN expires_at <= $3 THEN 2 ELSE $2 END, $4 FROM pending " /* TOKEN_EXPIRED */
                     "WHERE number = $1 AND token IS NOT NULL ON CONFLICT (token) DO NOTHING",
                     INTEGER(number), INTEGER(fate), INTEGER(at), INTEGER(clock_now()));
}

bool pending_put(Store *store, Pending *pending, const char *token, GError **error)
{
    int64_t list, number = 0;
    const Mailbox *address = pending->address;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    g_autofree char *hash = token ? pending_token_hash(token) : NULL;
    if (!write.begun || !mailbox_check(address, error) || !list_key(store, pending->list_id, &list, error) ||
        !query_number(store, error, &number, "SELECT number FROM pending WHERE list = $1 AND kind = $2 AND folded = $3",
                      INTEGER(list), INTEGER(pending->kind), TEXT(address->folded)) ||
        (number == 0 && !store_next_number(store, "pending", &number, error)) ||
        !spend_token(store, number, token ? TOKEN_REPLACED : TOKEN_USED, pending->asked_at, error) ||
        !query_run(store, error, NULL,
                   "INSERT INTO pending (number, kind, list, folded, address, display_name, facts, waits_for, token, "
                   "made_at, asked_at, expires_at, delivery_mode, delivery_status, by_person, welcome, detail, way) "
                   "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) "
                   "ON CONFLICT (number) DO UPDATE SET address = excluded.address, "
                   "display_name = excluded.display_name, facts = excluded.facts, waits_for = excluded.waits_for, "
                   "token = excluded.token, made_at = excluded.made_at, asked_at = excluded.asked_at, "
                   "expires_at = excluded.expires_at, delivery_mode = excluded.delivery_mode, "
                   "delivery_status = excluded.delivery_status, by_person = excluded.by_person, "
                   "welcome = excluded.welcome, detail = excluded.detail, way = excluded.way",
                   INTEGER(number), INTEGER(pending->kind), INTEGER(list), TEXT(address->folded), TEXT(address->text),
                   TEXT(pending->display_name), INTEGER(pending->facts), INTEGER(pending->waits_for), TEXT(hash),
                   INTEGER(pending->made_at), INTEGER(pending->asked_at), INTEGER(pending->expires_at),
                   INTEGER_OR_NULL(pending->delivery_mode), INTEGER_OR_NULL(pending->delivery_status),
                   INTEGER(pending->as_user), INTEGER(pending->welcome), TEXT(pending->detail), INTEGER(pending->way)))
        return false;
    pending->number = number;
    return write_end(&write, error);
}

Pending *pending_find(Store *store, int64_t number, int64_t now, GError **error)
{
    g_autoptr(Query) query =
        query_open(store, error, "SELECT " COLUMNS FROM "WHERE pending.number = $1 AND pending.expires_at > $2",
                   INTEGER(number), INTEGER(now));
    return row_find(query, Pending, pending_row,
                    fail(error, FAIL_MISSING, "there is no request %" G_GINT64_FORMAT, number), error);
}

Pending *pending_find_token(Store *store, const char *token, int64_t now, GError **error)
{
    g_autofree char *hash = pending_token_hash(token);
    g_autoptr(Query) query =
        query_open(store, error, "SELECT " COLUMNS FROM "WHERE pending.token = $1 AND pending.expires_at > $2",
                   TEXT(hash), INTEGER(now));
    return row_find(query, Pending, pending_row,
                    fail(error, FAIL_MISSING, "the token is not known, has expired, or was used already"), error);
}

bool pending_find_like(Store *store, const Pending *like, int64_t now, Pending **pending, GError **error)
{
    int64_t list;
    *pending = NULL;
    if (!list_key(store, like->list_id, &list, error))
        return false;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT " COLUMNS FROM "WHERE pending.list = $1 AND pending.kind = $2 AND "
                                        "pending.folded = $3 AND pending.expires_at > $4",
                                        INTEGER(list), INTEGER(like->kind), TEXT(like->address->folded), INTEGER(now));
    Step step;
    *pending = row_next(query, Pending, pending_row, &step, error);
    return step != STEP_FAILED;
}

bool pending_add_facts(Store *store, int64_t number, unsigned facts, GError **error)
{
    return query_run(store, error, NULL, "UPDATE pending SET facts = facts | $2 WHERE number = $1", INTEGER(number),
                     INTEGER(facts));
}

bool pending_remove(Store *store, int64_t number, TokenFate fate, GError **error)
{
    return STORE_WRITE(store, error,
                       spend_token(store, number, fate, 0, error) &&
                           query_run(store, error, NULL, "DELETE FROM pending WHERE number = $1", INTEGER(number)));
}

bool pending_token_fate(Store *store, const char *token, int64_t now, TokenFate *fate, GError **error)
{
    g_autofree char *hash = pending_token_hash(token);
    g_autoptr(Query) query = query_open(store, error, /* 2: TOKEN_EXPIRED */
                                        "SELECT fate FROM spent_token WHERE token = $1 UNION ALL "
                                        "SELECT 2 FROM pending WHERE token = $1 AND expires_at <= $2 UNION ALL "
                                        "SELECT 2 FROM departure WHERE token = $1 AND expires_at <= $2",
                                        TEXT(hash), INTEGER(now));
    Step step = query_step(query, error);
    *fate = step == STEP_ROW ? (TokenFate)query_integer(query, 0) : TOKEN_UNKNOWN;
    return step != STEP_FAILED;
}

bool pending_each(Store *store, const char *list_id, int64_t now, PendingEach *each, void *data, GError **error)
{
    int64_t key = 0;
    if (list_id && !list_key(store, list_id, &key, error))
        return false;
    g_autoptr(Query) query =
        list_id ? query_stream(store, error,
                               "SELECT " COLUMNS FROM "WHERE pending.list = $1 AND pending.expires_at > $2 "
                               "ORDER BY pending.number",
                               INTEGER(key), INTEGER(now))
                : query_stream(store, error,
                               "SELECT " COLUMNS FROM "WHERE pending.expires_at > $1 ORDER BY pending.number",
                               INTEGER(now));
    return row_each(query, Pending, pending_row, each, pending_free, data, error);
}

char **pending_lists(Store *store, int64_t now, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, /* 1: PENDING_MODERATOR */
                                        "SELECT list_id FROM list WHERE key IN (SELECT list FROM pending "
                                        "WHERE waits_for = 1 AND expires_at > $1) ORDER BY list_id",
                                        INTEGER(now));
    return query_texts(query, error);
}

bool pending_count(Store *store, int64_t now, int64_t *count, int64_t *oldest, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT count(*), COALESCE(min(made_at), 0) FROM pending "
                                        "WHERE waits_for = 1 AND expires_at > $1",
                                        INTEGER(now));
    if (query_step(query, error) != STEP_ROW)
        return false;
    *count = query_integer(query, 0);
    *oldest = query_integer(query, 1);
    return true;
}

bool pending_expire(Store *store, int64_t now, int64_t *removed, GError **error)
{
    return STORE_WRITE_PEOPLE(
        store, error,
        query_run(store, error, NULL,
                  "INSERT INTO spent_token (token, fate, spent_at) SELECT token, $2, $1 FROM pending "
                  "WHERE expires_at <= $1 AND token IS NOT NULL ON CONFLICT (token) DO NOTHING",
                  INTEGER(now), INTEGER(TOKEN_EXPIRED)) &&
            query_run(store, error, NULL, "DELETE FROM spent_token WHERE spent_at < $1",
                      INTEGER(now - TOKEN_FATE_KEPT)) &&
            query_run(store, error, removed, "DELETE FROM pending WHERE expires_at <= $1", INTEGER(now)));
}
