/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/user.h"

#include <string.h>

#include "base/fail.h"
#include "store/people/email.h"
#include "store/people/member_internal.h"
#include "store/people/span.h"
#include "store/row.h"
#include "store/store_internal.h"

#define CHUNK 256 /* users looked at between two queries */

static const RowField user_row[] = {ROW(User, display_name), ROW(User, password),  ROW(User, server_owner),
                                    ROW(User, created_at),   ROW(User, preferred), ROW(User, address)};

void user_free(User *user)
{
    row_free(user_row, user);
}

/* ---- reading ---- */

static bool no_user(const char *who, GError **error)
{
    g_autofree char *shown = g_utf8_make_valid(who, -1);
    return fail(error, FAIL_MISSING, "there is no user %s", shown);
}

bool user_key(Store *store, const char *who, int64_t *person, GError **error)
{
    g_autofree char *folded = strchr(who, '@') ? mailbox_folded(who) : NULL;
    if (!folded && !store_id_key(who, person))
        return no_user(who, error);
    int64_t found = 0;
    if (!(folded ? query_number(store, error, &found,
                                "SELECT key FROM person WHERE stands_in = 0 AND "
                                "key = (SELECT person FROM address WHERE folded = $1)",
                                TEXT(folded))
                 : query_number(store, error, &found, "SELECT key FROM person WHERE stands_in = 0 AND key = $1",
                                INTEGER(*person))))
        return false;
    *person = found;
    return found != 0 || no_user(who, error);
}

#define USER_COLUMNS \
    "SELECT person.key, COALESCE(display_name, ''), password, server_owner, created_at, " \
    "(SELECT email FROM address WHERE person = person.key AND preferred = 1), " \
    "(SELECT email FROM address WHERE person = person.key ORDER BY preferred DESC, key LIMIT 1), " PREFERENCE_COLUMNS \
    " FROM person LEFT JOIN person_preference ON person_preference.person = person.key "

static User *read_row(Query *query, int64_t *key)
{
    User *user = g_new0(User, 1);
    *key = query_integer(query, 0);
    store_key_id(*key, user->id);
    row_read(query, 1, user_row, user);
    user->preferences = query_preferences(query, 7);
    return user;
}

User *user_find(Store *store, const char *who, GError **error)
{
    int64_t key;
    if (!user_key(store, who, &key, error))
        return NULL;
    g_autoptr(Query) query = query_open(store, error, USER_COLUMNS "WHERE person.key = $1", INTEGER(key));
    Step step = query_step(query, error);
    if (step == STEP_DONE)
        no_user(who, error);
    return step == STEP_ROW ? read_row(query, &key) : NULL;
}

/* ---- many ---- */

static bool has_text(const char *in, const char *folded)
{
    g_autofree char *text = g_utf8_casefold(in, -1);
    return strstr(text, folded) != NULL;
}

typedef struct StoreUserWalk {
    const UserCriteria *criteria;
    int64_t last, skip, limit;
    GPtrArray *users; /* NULL: they are only counted */
    int64_t count;
} StoreUserWalk;

/* Users behind the key walk->last, which becomes that of the last one; keys are theirs. */
static GPtrArray *read_chunk(Store *store, StoreUserWalk *walk, GArray *keys, GError **error)
{
    g_autoptr(GPtrArray) chunk = g_ptr_array_new_with_free_func((GDestroyNotify)user_free);
    g_autoptr(Query)
        query = walk->criteria->server_owners
                    ? query_open(store, error,
                                 USER_COLUMNS "WHERE person.key > $1 AND stands_in = 0 AND server_owner = 1 "
                                              "ORDER BY person.key LIMIT $2",
                                 INTEGER(walk->last), INTEGER(CHUNK))
                    : query_open(store, error,
                                 USER_COLUMNS "WHERE person.key > $1 AND stands_in = 0 ORDER BY person.key LIMIT $2",
                                 INTEGER(walk->last), INTEGER(CHUNK));
    Step step;
    g_array_set_size(keys, 0);
    while ((step = query_step(query, error)) == STEP_ROW) {
        g_ptr_array_add(chunk, read_row(query, &walk->last));
        g_array_append_val(keys, walk->last);
    }
    return step == STEP_DONE ? g_steal_pointer(&chunk) : NULL;
}

static bool walk(Store *store, StoreUserWalk *walk, GError **error)
{
    const char *wanted = walk->criteria->text;
    g_autofree char *text = wanted && *wanted ? g_utf8_casefold(wanted, -1) : NULL;
    g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (;;) {
        g_autoptr(GPtrArray) chunk = read_chunk(store, walk, keys, error);
        if (!chunk || chunk->len == 0)
            return chunk != NULL;
        for (unsigned at = 0; at < chunk->len; at++) {
            User *user = chunk->pdata[at];
            if (walk->count == walk->limit)
                return true;
            bool found = !text || has_text(user->display_name, text);
            if (!found) {
                g_autoptr(Query)
                    query = query_open(store, error, "SELECT email FROM address WHERE person = $1 ORDER BY key",
                                       INTEGER(g_array_index(keys, int64_t, at)));
                Step step = STEP_ROW;
                while (!found && (step = query_step(query, error)) == STEP_ROW)
                    found = has_text(query_text(query, 0), text);
                if (step == STEP_FAILED)
                    return false;
            }
            if (!found || walk->skip-- > 0)
                continue;
            walk->count++;
            if (walk->users)
                g_ptr_array_add(walk->users, g_steal_pointer(&chunk->pdata[at]));
        }
    }
}

static bool is_plain(const UserCriteria *criteria)
{
    return !criteria->server_owners && !(criteria->text && *criteria->text);
}

GPtrArray *user_page(Store *store, const UserCriteria *criteria, const char *after, unsigned limit, GError **error)
{
    g_autoptr(GPtrArray) users = g_ptr_array_new_with_free_func((GDestroyNotify)user_free);
    StoreUserWalk page = {.criteria = criteria, .skip = after ? 0 : criteria->skip, .limit = limit, .users = users};
    if (after && !store_id_key(after, &page.last)) {
        no_user(after, error);
        return NULL;
    }
    if (page.skip > 0 && is_plain(criteria)) {
        /* The spans say where the page begins, so that nobody before it is read. */
        g_autofree char *begins = NULL;
        int64_t within, first = 0;
        if (!span_seek(store, SPAN_USERS, page.skip, &begins, &within, error) ||
            !query_number(store, error, &first,
                          "SELECT key FROM person WHERE key >= $1 AND stands_in = 0 ORDER BY key LIMIT 1 OFFSET $2",
                          INTEGER(g_ascii_strtoll(begins, NULL, 10)), INTEGER(within)))
            return NULL;
        page.last = first != 0 ? first - 1 : INT64_MAX;
        page.skip = 0;
    }
    return walk(store, &page, error) ? g_steal_pointer(&users) : NULL;
}

bool user_count(Store *store, const UserCriteria *criteria, int64_t *count, GError **error)
{
    if (is_plain(criteria))
        return span_total(store, SPAN_USERS, count, error);
    StoreUserWalk all = {.criteria = criteria, .limit = INT64_MAX};
    bool done = walk(store, &all, error);
    *count = all.count;
    return done;
}

/* ---- changing ---- */

bool user_create(Store *store, const Mailbox *address, const char *display_name, char id[STORE_ID_SIZE], GError **error)
{
    g_auto(Email) known = {0};
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !email_ensure(store, address, display_name, &known, error))
        return false;
    if (!known.made) { /* the person who stood in becomes the user */
        int64_t stood_in = 0;
        if (!query_run(store, error, &stood_in, "UPDATE person SET stands_in = 0 WHERE key = $1 AND stands_in = 1",
                       INTEGER(known.person)))
            return false;
        if (stood_in == 0)
            return fail(error, FAIL_EXISTS, "%s belongs to a user already", known.email);
        if (!span_count_user(store, known.person, 1, error))
            return false;
    }
    store_key_id(known.person, id);
    return user_set_name(store, id, display_name, error) && write_end(&write, error);
}

/* sql has the person as $1 and value as $2. */
static bool update(Store *store, const char *who, const char *sql, Value value, GError **error)
{
    int64_t person;
    return STORE_WRITE(store, error,
                       user_key(store, who, &person, error) &&
                           query_all(store, error, NULL, sql, (const Value[]){INTEGER(person), value}, 2));
}

bool user_set_name(Store *store, const char *who, const char *display_name, GError **error)
{
    g_autofree char *name = email_clean_name(display_name);
    return update(store, who, "UPDATE person SET display_name = $2 WHERE key = $1", TEXT(name), error);
}

bool user_set_password(Store *store, const char *who, const char *hash, GError **error)
{
    return update(store, who, "UPDATE person SET password = $2 WHERE key = $1", TEXT(hash), error);
}

bool user_set_server_owner(Store *store, const char *who, bool owner, GError **error)
{
    return update(store, who, "UPDATE person SET server_owner = $2 WHERE key = $1", INTEGER(owner), error);
}

bool user_owns_place(Store *store, const char *who, bool *owns, GError **error)
{
    int64_t person;
    return user_key(store, who, &person, error) &&
           query_exists(store, error, owns,
                        "SELECT 1 FROM person WHERE key = $1 AND (server_owner = 1 OR EXISTS (SELECT 1 FROM "
                        "domain_owner WHERE domain_owner.person = person.key))",
                        INTEGER(person));
}

bool user_is_another(Store *store, const Mailbox *address, const char *who, bool *is, GError **error)
{
    int64_t person, own = 0;
    *is = false;
    if (!email_person(store, address, &person, error) || (*who && !user_key(store, who, &own, error)))
        return false;
    if (person == 0 || person == own)
        return true;
    return query_exists(store, error, is,
                        "SELECT 1 FROM person p WHERE p.key = $1 AND (p.server_owner = 1 OR p.password IS NOT NULL OR "
                        "EXISTS (SELECT 1 FROM domain_owner o WHERE o.person = p.key) OR "
                        "EXISTS (SELECT 1 FROM member m WHERE m.person = p.key AND m.role <> $2) OR "
                        "(SELECT count(*) FROM address a WHERE a.person = p.key) > 1)",
                        INTEGER(person), INTEGER(ROLE_NONMEMBER));
}

bool user_set_preferences(Store *store, const char *who, const Preferences *preferences, GError **error)
{
    int64_t person;
    return STORE_WRITE(
        store, error,
        user_key(store, who, &person, error) && digest_person_leaving_begin(store, person, error) &&
            query_run(store, error, NULL, "DELETE FROM person_preference WHERE person = $1", INTEGER(person)) &&
            /* A row with nothing set would only slow the recipient query. */
            (preferences_are_unset(preferences) ||
             query_run(store, error, NULL,
                       "INSERT INTO person_preference (person, " PREFERENCE_COLUMNS
                       ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                       INTEGER(person), PREFERENCE_VALUES(preferences))) &&
            digest_person_leaving_end(store, person, error));
}

/* ---- the preferred address ---- */

/* Subscriptions by person go where the person goes. */
static bool prefer(Store *store, const Email *address, GError **error)
{
    return query_run(store, error, NULL, "UPDATE address SET preferred = 0 WHERE person = $1 AND preferred = 1",
                     INTEGER(address->person)) &&
           query_run(store, error, NULL, "UPDATE address SET preferred = 1 WHERE key = $1", INTEGER(address->key)) &&
           member_move_each(store,
                            query_open(store, error, "SELECT key FROM member WHERE person = $1 AND by_person = 1",
                                       INTEGER(address->person)),
                            address, true, error);
}

bool user_preferred(Store *store, Email *address, GError **error)
{
    Step step;
    {
        g_autoptr(Query) query =
            query_open(store, error, "SELECT key, folded, email FROM address WHERE person = $1 AND preferred = 1",
                       INTEGER(address->person));
        step = query_step(query, error);
        if (step == STEP_ROW) {
            email_clear(address);
            address->key = query_integer(query, 0);
            address->folded = g_strdup(query_text(query, 1));
            address->email = g_strdup(query_text(query, 2));
            address->preferred = true;
        }
    }
    return step == STEP_ROW || (step == STEP_DONE && prefer(store, address, error));
}

bool user_set_preferred(Store *store, const Mailbox *address, GError **error)
{
    g_auto(Email) known = {0};
    return STORE_WRITE(store, error,
                       email_find(store, address, &known, error) && (known.preferred || prefer(store, &known, error)));
}

bool user_settle_subscriptions(Store *store, int64_t person, GError **error)
{
    Query *twice = query_open(store, error,
                              "SELECT key FROM member WHERE person = $1 AND by_person = 1 AND EXISTS (SELECT 1 FROM "
                              "member o WHERE o.list = member.list AND o.role = member.role AND "
                              "o.folded = member.folded AND o.by_person = 0)",
                              INTEGER(person));
    return member_remove_each(store, twice, NULL, error) &&
           query_run(store, error, NULL, "UPDATE member SET by_person = 0 WHERE person = $1 AND by_person = 1",
                     INTEGER(person));
}

bool user_clear_preferred(Store *store, const char *who, GError **error)
{
    int64_t person;
    return STORE_WRITE(store, error,
                       user_key(store, who, &person, error) && user_settle_subscriptions(store, person, error) &&
                           query_run(store, error, NULL,
                                     "UPDATE address SET preferred = 0 WHERE person = $1 AND preferred = 1",
                                     INTEGER(person)));
}

/* ---- two become one ---- */

bool user_drop(Store *store, Query *removal, GError **error)
{
    g_autoptr(Query) query = removal;
    Step step = query_step(query, error);
    if (step != STEP_ROW)
        return step == STEP_DONE;
    int64_t person = query_integer(query, 0);
    bool is_user = query_integer(query, 1) == 0;
    if (query_step(query, error) != STEP_DONE)
        return false;
    g_clear_pointer(&query, query_free);
    return !is_user || span_count_user(store, person, -1, error);
}

static bool drop(Store *store, int64_t person, GError **error)
{
    return user_drop(store, query_open(store, error, "DELETE FROM person WHERE key = $1 RETURNING key, stands_in",
                                       INTEGER(person)), error);
}

bool user_merge(Store *store, const char *into, const char *from, GError **error)
{
    int64_t stays, goes;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !user_key(store, into, &stays, error) || !user_key(store, from, &goes, error))
        return false;
    if (stays == goes)
        return fail(error, FAIL_NEVER, "%s and %s are the same user", into, from);
    return user_settle_subscriptions(store, goes, error) &&
           /* The one that stays takes the preferences that it has not set itself; only persons who set something have a
            * row of preferences. */
           query_run(store, error, NULL,
                     "UPDATE person SET "
                     "display_name = COALESCE(display_name, (SELECT display_name FROM person WHERE key = $2)), "
                     "password = COALESCE(password, (SELECT password FROM person WHERE key = $2)), "
                     "server_owner = (SELECT MAX(server_owner) FROM person WHERE key IN ($1, $2)) WHERE key = $1",
                     INTEGER(stays), INTEGER(goes)) &&
           query_run(store, error, NULL,
                     "UPDATE person_preference SET person = $1 WHERE person = $2 AND NOT EXISTS "
                     "(SELECT 1 FROM person_preference WHERE person = $1)",
                     INTEGER(stays), INTEGER(goes)) &&
           query_run(store, error, NULL, "UPDATE address SET person = $1, preferred = 0 WHERE person = $2",
                     INTEGER(stays), INTEGER(goes)) &&
           query_run(store, error, NULL, "UPDATE member SET person = $1 WHERE person = $2", INTEGER(stays),
                     INTEGER(goes)) &&
           drop(store, goes, error) && write_end(&write, error);
}

/* ---- forgetting ---- */

bool user_remove(Store *store, const char *who, GError **error)
{
    int64_t person;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !user_key(store, who, &person, error))
        return false;
    Query *members = query_open(store, error, "SELECT key FROM member WHERE person = $1", INTEGER(person));
    if (!member_remove_each(store, members, NULL, error))
        return false;
    g_autoptr(GPtrArray) addresses = address_page(store, who, NULL, 0, INT_MAX, error);
    for (unsigned at = 0; addresses && at < addresses->len; at++) {
        g_autoptr(Mailbox) address = mailbox_new(((const KnownAddress *)addresses->pdata[at])->original);
        if (!address_remove(store, address, error))
            return false;
    }
    return addresses && drop(store, person, error) && write_end(&write, error);
}
