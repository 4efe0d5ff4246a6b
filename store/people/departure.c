/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/departure.h"

#include "base/fail.h"
#include "store/people/member_internal.h"
#include "store/people/pending.h"
#include "store/people/vacation.h"
#include "store/row.h"

/* The member's row and the departure's have these columns in common. */
#define OPTIONS "given_name, moderation_action, " PREFERENCE_COLUMNS ", topics, topics_unmatched"

static const RowField departure_row[] = {ROW(Departure, list_id), ROW(Departure, address), ROW(Departure, way),
                                         ROW(Departure, counts),  ROW(Departure, left_at), ROW(Departure, expires_at)};

void departure_free(Departure *departure)
{
    row_free(departure_row, departure);
}

/* Notes what became of a token, of which hash is what is kept; NULL: there is none. */
static bool spend(Store *store, const char *hash, TokenFate fate, GError **error)
{
    return !hash || query_run(store, error, NULL,
                              "INSERT INTO spent_token (token, fate, spent_at) VALUES ($1, $2, $3) "
                              "ON CONFLICT (token) DO NOTHING",
                              TEXT(hash), INTEGER(fate), INTEGER(clock_now()));
}

/* The hash of the token that the address has for the list; NULL: none. */
static bool find_hash(Store *store, int64_t list, const char *folded, char **hash, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, "SELECT token FROM departure WHERE folded = $1 AND list = $2 AND token IS NOT NULL LIMIT 1",
        TEXT(folded), INTEGER(list));
    Step step = query_step(query, error);
    *hash = step == STEP_ROW ? g_strdup(query_text(query, 0)) : NULL;
    return step != STEP_FAILED;
}

/* ---- leaving ---- */

/* A departure that is recorded. */
typedef struct Copying {
    const Departure *departure;
    int64_t list;
    const char *folded, *hash;
    int64_t copied; /* rows */
} Copying;

/* by_person: 0 or 1, for the address itself or its user. The key is handed out by the caller. */
static bool copy(Store *store, Copying *copying, int64_t key, int by_person, GError **error)
{
    const Departure *departure = copying->departure;
    g_autofree char *domain = g_strndup(copying->folded, strcspn(copying->folded, " "));
    int64_t copied = 0;
    bool done = query_run(
        store, error, &copied,
        "INSERT INTO departure (key, list, folded, domain, address, way, counts, left_at, expires_at, token, "
        "by_person, " OPTIONS ", vacation_begins_at, vacation_ends_at, vacation_begun) "
        "SELECT $1, list, folded, $4, email, $5, $6, $7, $8, $10, by_person, " OPTIONS
        ", begins_at, ends_at, begun FROM member LEFT JOIN vacation ON vacation.member = member.key "
        "WHERE list = $2 AND role = 0 AND folded = $3 AND by_person = $9",
        INTEGER(key), INTEGER(copying->list), TEXT(copying->folded), TEXT(domain), INTEGER(departure->way),
        INTEGER(departure->counts), INTEGER(departure->left_at), INTEGER(departure->left_at + DEPARTURE_KEPT),
        INTEGER(by_person), TEXT(copying->hash));
    copying->copied += copied;
    return done;
}

/* There is one departure for an address and list, so that nobody fills the table by joining and leaving. */
bool departure_record(Store *store, const Departure *departure, const char *token, GError **error)
{
    int64_t list, first, second;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !list_key(store, departure->list_id, &list, error))
        return false;
    const char *folded = departure->address->folded;
    g_autofree char *old = NULL;
    if (!find_hash(store, list, folded, &old, error) || !(first = store_key_new(store, error)) ||
        !(second = store_key_new(store, error)))
        return false;
    g_autofree char *hash = token ? pending_token_hash(token) : g_strdup(old);
    Copying copying = {departure, list, folded, hash, 0};
    if (!copy(store, &copying, first, 0, error) || !copy(store, &copying, second, 1, error))
        return false;
    if (copying.copied == 0)
        return fail(error, FAIL_MISSING, "%s is no member of %s", departure->address->text, departure->list_id);
    return (!token || spend(store, old, TOKEN_REPLACED, error)) &&
           query_run(store, error, NULL,
                     "DELETE FROM departure WHERE folded = $1 AND list = $2 AND key NOT IN ($3, $4)", TEXT(folded),
                     INTEGER(list), INTEGER(first), INTEGER(second)) &&
           write_end(&write, error);
}

bool departure_withdraw(Store *store, const char *list_id, const Mailbox *address, GError **error)
{
    int64_t list;
    g_autofree char *hash = NULL;
    return STORE_WRITE(
        store, error,
        list_key(store, list_id, &list, error) && find_hash(store, list, address->folded, &hash, error) &&
            spend(store, hash, TOKEN_EXPIRED, error) &&
            (!hash || query_run(store, error, NULL, "UPDATE departure SET token = NULL WHERE folded = $1 AND list = $2",
                                TEXT(address->folded), INTEGER(list))));
}

bool departure_count(Store *store, const char *list_id, const char *domain, int64_t since, int64_t *count,
                     GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error))
        return false;
    return query_number(
        store, error, count,
        "SELECT count(*) FROM departure WHERE list = $1 AND domain = $2 AND left_at > $3 AND counts = 1", INTEGER(list),
        TEXT(domain), INTEGER(since));
}

/* ---- coming back ---- */

Departure *departure_find_token(Store *store, const char *token, int64_t now, GError **error)
{
    g_autofree char *hash = pending_token_hash(token);
    g_autoptr(Query) query = query_open(
        store, error,
        "SELECT list.list_id, departure.address, departure.way, departure.counts, departure.left_at, "
        "departure.expires_at FROM departure JOIN list ON list.key = departure.list "
        "WHERE departure.token = $1 AND departure.expires_at > $2 ORDER BY departure.by_person LIMIT 1",
        TEXT(hash), INTEGER(now));
    return row_find(query, Departure, departure_row,
                    fail(error, FAIL_MISSING, "the token is not known, has expired, or was used already"), error);
}

/* A departure that is undone. */
typedef struct DepartureUndo {
    int64_t key;
    char *list_id, *given_name;
    const Mailbox *address;
    bool as_user;
} DepartureUndo;

static const RowField undo_row[] = {ROW(DepartureUndo, key), ROW(DepartureUndo, list_id), ROW(DepartureUndo, address),
                                    ROW(DepartureUndo, given_name), ROW(DepartureUndo, as_user)};

static void undo_free(DepartureUndo *undo)
{
    row_free(undo_row, undo);
}

/* Make the member anew, and give it the options that it had. 2: DELIVERY_BY_BOUNCES. */
static bool undo_one(Store *store, const DepartureUndo *undo, GError **error)
{
    int64_t list;
    g_auto(Email) email = {0}; /* a user's may be another one than then */
    return (undo->as_user
                ? member_add_user(store, undo->list_id, ROLE_MEMBER, undo->address, error)
                : member_add(store, undo->list_id, ROLE_MEMBER, undo->address, undo->given_name, NULL, error)) &&
           list_key(store, undo->list_id, &list, error) && email_find(store, undo->address, &email, error) &&
           (!undo->as_user || user_preferred(store, &email, error)) &&
           query_run(store, error, NULL,
                     "UPDATE member SET moderation_action = d.moderation_action, "
                     "acknowledge_posts = d.acknowledge_posts, hide_address = d.hide_address, "
                     "receive_list_copy = d.receive_list_copy, receive_own_postings = d.receive_own_postings, "
                     "delivery_mode = d.delivery_mode, "
                     "delivery_status = CASE WHEN d.delivery_status = 2 THEN NULL ELSE d.delivery_status END, "
                     "preferred_language = d.preferred_language, topics = d.topics, "
                     "topics_unmatched = d.topics_unmatched FROM departure d WHERE d.key = $1 AND member.list = $2 "
                     "AND member.role = 0 AND member.folded = $3 AND member.by_person = $4",
                     INTEGER(undo->key), INTEGER(list), TEXT(email.folded), INTEGER(undo->as_user)) &&
           query_run(store, error, NULL,
                     "INSERT INTO vacation (member, begins_at, ends_at, begun) SELECT m.key, d.vacation_begins_at, "
                     "d.vacation_ends_at, d.vacation_begun FROM departure d, member m WHERE d.key = $1 "
                     "AND d.vacation_ends_at IS NOT NULL AND m.list = $2 AND m.role = 0 AND m.folded = $3 "
                     "AND m.by_person = $4 ON CONFLICT (member) DO NOTHING",
                     INTEGER(undo->key), INTEGER(list), TEXT(email.folded), INTEGER(undo->as_user));
}

bool departure_undo(Store *store, const char *token, int64_t now, GError **error)
{
    g_autofree char *hash = pending_token_hash(token);
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    g_autoptr(Query) query = query_open(
        store, error,
        "SELECT d.key, list.list_id, d.address, d.given_name, CASE WHEN d.by_person = 1 AND EXISTS (SELECT 1 "
        "FROM address JOIN person ON person.key = address.person WHERE address.folded = d.folded AND stands_in = 0) "
        "THEN 1 ELSE 0 END FROM departure d JOIN list ON list.key = d.list WHERE d.token = $1 AND d.expires_at > $2 "
        "ORDER BY d.by_person",
        TEXT(hash), INTEGER(now));
    g_autoptr(GPtrArray) undos = row_all(query, DepartureUndo, undo_row, undo_free, error);
    if (!undos)
        return false;
    if (undos->len == 0)
        return fail(error, FAIL_MISSING, "the token is not known, has expired, or was used already");
    for (unsigned at = 0; at < undos->len; at++)
        if (!undo_one(store, undos->pdata[at], error))
            return false;
    return spend(store, hash, TOKEN_USED, error) &&
           query_run(store, error, NULL, "DELETE FROM departure WHERE token = $1", TEXT(hash)) &&
           vacation_turn(store, now, NULL, error) && write_end(&write, error);
}

bool departure_expire(Store *store, int64_t now, int64_t *removed, GError **error)
{
    return STORE_WRITE_PEOPLE(
        store, error,
        query_run(store, error, NULL,
                  "INSERT INTO spent_token (token, fate, spent_at) SELECT DISTINCT token, $2, $1 FROM departure "
                  "WHERE expires_at <= $1 AND token IS NOT NULL ON CONFLICT (token) DO NOTHING",
                  INTEGER(now), INTEGER(TOKEN_EXPIRED)) &&
            query_run(store, error, removed, "DELETE FROM departure WHERE expires_at <= $1", INTEGER(now)));
}

/* ---- the brake: too many of one mail domain ---- */

bool leave_brake_find(Store *store, const char *list_id, const char *domain, LeaveBrake *brake, GError **error)
{
    int64_t list;
    *brake = (LeaveBrake){0};
    if (!list_key(store, list_id, &list, error))
        return false;
    g_autoptr(Query) query = query_open(
        store, error, "SELECT closed_until, gone, waiting FROM leave_brake WHERE list = $1 AND domain = $2",
        INTEGER(list), TEXT(domain));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *brake = (LeaveBrake){query_integer(query, 0), query_integer(query, 1), query_integer(query, 2)};
    return step != STEP_FAILED;
}

bool leave_brake_close(Store *store, const char *list_id, const char *domain, const LeaveBrake *brake, int64_t now,
                       GError **error)
{
    int64_t list;
    return STORE_WRITE(
        store, error,
        list_key(store, list_id, &list, error) &&
            query_run(store, error, NULL,
                      "INSERT INTO leave_brake (list, domain, closed_at, closed_until, gone, waiting, told_at) "
                      "VALUES ($1, $2, $5, $3, $4, 1, 0) ON CONFLICT (list, domain) DO UPDATE SET "
                      "closed_at = CASE WHEN leave_brake.closed_until > $5 THEN leave_brake.closed_at ELSE $5 END, "
                      "gone = CASE WHEN leave_brake.closed_until > $5 THEN leave_brake.gone ELSE $4 END, "
                      "waiting = CASE WHEN leave_brake.closed_until > $5 THEN leave_brake.waiting + 1 ELSE 1 END, "
                      "closed_until = $3",
                      INTEGER(list), TEXT(domain), INTEGER(brake->closed_until), INTEGER(brake->gone), INTEGER(now)));
}

bool leave_brake_tell(Store *store, const char *list_id, const char *domain, int64_t now, bool *due, GError **error)
{
    int64_t list, changed = 0;
    if (!list_key(store, list_id, &list, error))
        return false;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !query_run(store, error, &changed,
                                   "UPDATE leave_brake SET told_at = $4 WHERE list = $1 AND domain = $2 AND NOT EXISTS "
                                   "(SELECT 1 FROM leave_brake o WHERE o.list = $1 AND o.told_at > $3)",
                                   INTEGER(list), TEXT(domain), INTEGER(now - LEAVE_BRAKE_TOLD), INTEGER(now)))
        return false;
    *due = changed > 0;
    return write_end(&write, error);
}

bool leave_brake_sum(Store *store, int64_t now, int64_t *closed, int64_t *waiting, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, "SELECT count(*), COALESCE(sum(waiting), 0) FROM leave_brake WHERE closed_until > $1",
        INTEGER(now));
    if (query_step(query, error) != STEP_ROW)
        return false;
    *closed = query_integer(query, 0);
    *waiting = query_integer(query, 1);
    return true;
}

bool leave_brake_expire(Store *store, int64_t before, GError **error)
{
    return STORE_EXPIRE(store, "leave_brake", "closed_until", before, error);
}
