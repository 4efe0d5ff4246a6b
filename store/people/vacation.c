/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/vacation.h"

#include "base/fail.h"
#include "store/people/user_internal.h"
#include "store/people/member_internal.h"
#include "store/store_internal.h"

/* 1 is DELIVERY_BY_USER. Who was disabled for another reason stays so. */
#define AWAY "UPDATE member SET delivery_status = 1 WHERE COALESCE(delivery_status, 0) = 0 AND key "
#define BACK "UPDATE member SET delivery_status = NULL WHERE delivery_status = 1 AND key "

static bool member_of(const char *member_id, int64_t *member, GError **error)
{
    return store_id_key(member_id, member) ||
           fail(error, FAIL_MISSING, "there is no member with the id %s", member_id);
}

bool vacation_turn(Store *store, int64_t now, int64_t *changed, GError **error)
{
    int64_t begun = 0, ended = 0;
    bool done = STORE_WRITE_PEOPLE(
        store, error,
        query_run(store, error, NULL, BACK "IN (SELECT member FROM vacation WHERE ends_at <= $1 AND begun = 1)",
                  INTEGER(now)) &&
            query_run(store, error, &ended, "DELETE FROM vacation WHERE ends_at <= $1", INTEGER(now)) &&
            query_run(store, error, NULL, AWAY "IN (SELECT member FROM vacation WHERE begins_at <= $1 AND begun = 0)",
                      INTEGER(now)) &&
            query_run(store, error, &begun, "UPDATE vacation SET begun = 1 WHERE begins_at <= $1 AND begun = 0",
                      INTEGER(now)));
    if (changed)
        *changed = begun + ended;
    return done;
}

/* These choose the memberships whose vacation is set; $1 is the key of a membership, or of a person. */
#define ONE "(SELECT key FROM member WHERE key = $1)"
#define ALL_OF_PERSON "(SELECT key FROM member WHERE person = $1 AND role = 0)"

/* Take back what a vacation that was there has done, write the new one, and begin it if it is due. As many statements
 * for a thousand memberships as for one. */
#define STATEMENTS(whose)                                                                                           \
    {                                                                                                               \
        BACK "IN (SELECT member FROM vacation WHERE begun = 1 AND member IN " whose ")",                            \
            "INSERT INTO vacation (member, begins_at, ends_at, begun) SELECT key, $2, $3, 0 FROM member WHERE key " \
            "IN " whose " ON CONFLICT (member) DO UPDATE SET begins_at = excluded.begins_at, ends_at = "            \
                        "excluded.ends_at, begun = 0",                                                              \
            AWAY "IN (SELECT member FROM vacation WHERE begins_at <= $2 AND begun = 0 AND member IN " whose ")",    \
            "UPDATE vacation SET begun = 1 WHERE begins_at <= $2 AND begun = 0 AND member IN " whose                \
    }
static const struct {
    const char *back, *insert, *away, *begin;
} for_one = STATEMENTS(ONE), for_person = STATEMENTS(ALL_OF_PERSON);

static bool set(Store *store, bool person, int64_t key, const Vacation *vacation, int64_t now, GError **error)
{
    int64_t written = 0;
    const Value whose = INTEGER(key);
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    return write.begun && query_run(store, error, NULL, person ? for_person.back : for_one.back, whose) &&
           query_run(store, error, &written, person ? for_person.insert : for_one.insert, whose,
                     INTEGER(vacation->begins_at), INTEGER(vacation->ends_at)) &&
           (person || written > 0 || fail(error, FAIL_MISSING, "the member is gone")) &&
           query_run(store, error, NULL, person ? for_person.away : for_one.away, whose, INTEGER(now)) &&
           query_run(store, error, NULL, person ? for_person.begin : for_one.begin, whose, INTEGER(now)) &&
           write_end(&write, error);
}

static bool check(const Vacation *vacation, int64_t now, GError **error)
{
    return (vacation->ends_at > vacation->begins_at && vacation->ends_at > now) ||
           fail(error, FAIL_NEVER, "a vacation ends after it begins, and in the future");
}

bool vacation_set(Store *store, const char *member_id, int64_t begins_at, int64_t ends_at, int64_t now, GError **error)
{
    int64_t member;
    const Vacation vacation = {begins_at, ends_at, false};
    return check(&vacation, now, error) && member_of(member_id, &member, error) &&
           set(store, false, member, &vacation, now, error);
}

bool vacation_end(Store *store, const char *member_id, GError **error)
{
    int64_t member;
    if (!member_of(member_id, &member, error))
        return false;
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 BACK "= $1 AND EXISTS (SELECT 1 FROM vacation WHERE member = $1 AND begun = 1)",
                                 INTEGER(member)) &&
                           query_run(store, error, NULL, "DELETE FROM vacation WHERE member = $1", INTEGER(member)));
}

bool vacation_find(Store *store, const char *member_id, Vacation *vacation, GError **error)
{
    int64_t member;
    *vacation = (Vacation){0};
    if (!member_of(member_id, &member, error))
        return false;
    g_autoptr(Query) query = query_open(
        store, error, "SELECT begins_at, ends_at, begun FROM vacation WHERE member = $1", INTEGER(member));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *vacation = (Vacation){query_integer(query, 0), query_integer(query, 1), query_integer(query, 2) != 0};
    return step != STEP_FAILED;
}

/* ---- all lists of a person ---- */

bool vacation_set_everywhere(Store *store, const Mailbox *address, const Vacation *vacation, int64_t now,
                             GError **error)
{
    int64_t person;
    return check(vacation, now, error) && email_person(store, address, &person, error) &&
           set(store, true, person, vacation, now, error);
}

bool vacation_switch_everywhere(Store *store, const Mailbox *address, bool mail, GError **error)
{
    int64_t person;
    return email_person(store, address, &person, error) &&
           STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 mail ? "UPDATE member SET delivery_status = 0 WHERE key IN (SELECT m.key" MEMBER_JOINS
                                        "WHERE m.person = $1 AND m.role = 0 AND " EFFECTIVE_DELIVERY_STATUS
                                        " IN (1, 2))"
                                      : "UPDATE member SET delivery_status = 1 WHERE key IN (SELECT m.key" MEMBER_JOINS
                                        "WHERE m.person = $1 AND m.role = 0 AND " EFFECTIVE_DELIVERY_STATUS " <> 3)",
                                 INTEGER(person)) &&
                           query_run(store, error, NULL, "DELETE FROM vacation WHERE member IN " ALL_OF_PERSON,
                                     INTEGER(person)));
}
