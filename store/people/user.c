/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/user.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "store/people/account.h"
#include "store/people/member_internal.h"
#include "store/people/span.h"
#include "store/posts/held.h"
#include "store/posts/scheduled.h"
#include "store/row.h"
#include "store/row_set.h"
#include "store/store_internal.h"

#define CHUNK 256 /* users looked at between two queries */

/* ---- rows of addresses ---- */

void email_clear(Email *email)
{
    g_clear_pointer(&email->folded, g_free);
    g_clear_pointer(&email->email, g_free);
}

/* STEP_DONE: not known. */
static Step look_up(Store *store, const Mailbox *address, Email *email, GError **error)
{
    *email = (Email){.folded = g_strdup(address->folded)};
    g_autoptr(Query) query = query_open(
        store, error, "SELECT key, person, email, preferred FROM address WHERE folded = $1", TEXT(email->folded));
    Step step = query_step(query, error);
    if (step == STEP_ROW) {
        email->key = query_integer(query, 0);
        email->person = query_integer(query, 1);
        email->email = g_strdup(query_text(query, 2));
        email->preferred = query_integer(query, 3) != 0;
    }
    return step;
}

bool email_find(Store *store, const Mailbox *address, Email *email, GError **error)
{
    Step step = look_up(store, address, email, error);
    return step == STEP_ROW ||
           (step == STEP_DONE && fail(error, FAIL_MISSING, "the address %s is not known", address->text));
}

bool email_person(Store *store, const Mailbox *address, int64_t *person, GError **error)
{
    g_auto(Email) email = {0};
    Step step = look_up(store, address, &email, error);
    *person = email.person; /* 0 where there is no row */
    return step != STEP_FAILED;
}

/* Only an address that is known may have letters that nobody sees. */
static bool check_legible(const Mailbox *address, GError **error)
{
    return address->legible ||
           fail(error, FAIL_NEVER,
                "\"%s\" is no e-mail address (local@domain) that can be added: it has letters that nobody sees, or "
                "some that are not composed",
                address->text);
}

bool email_check_added(Store *store, const Mailbox *address, GError **error)
{
    int64_t person = 0;
    return mailbox_check(address, error) && (address->legible || email_person(store, address, &person, error)) &&
           (person != 0 || check_legible(address, error));
}

/* Names end up in header fields, and may be a stranger's words: what is beyond EMAIL_NAME_MAX bytes is cut. */
char *email_clean_name(const char *display_name)
{
    if (!display_name || !*display_name)
        return NULL;
    g_autofree char *valid = g_utf8_make_valid(display_name, -1);
    GString *name = g_string_new(NULL);
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        if (name->len + 6 > EMAIL_NAME_MAX)
            break;
        g_string_append_unichar(name, g_unichar_iscntrl(character) ? ' ' : character);
    }
    return g_string_free(name, FALSE);
}

#define PERSON "INSERT INTO person (key, display_name, created_at) VALUES"
#define ADDRESS \
    "INSERT INTO address (key, folded, email, person, preferred, display_name, registered_at, verified_at) VALUES"

bool email_ensure(Store *store, const Mailbox *address, const char *display_name, Email *email, GError **error)
{
    *email = (Email){0};
    Step step = mailbox_check(address, error) ? look_up(store, address, email, error) : STEP_FAILED;
    if (step != STEP_DONE || !check_legible(address, error))
        return step == STEP_ROW;
    email->made = true;
    email->email = g_strdup(address->bare);
    email->person = store_key_new(store, error);
    email->key = email->person ? store_key_new(store, error) : 0;
    if (email->key == 0)
        return false;
    int64_t now = clock_now();
    g_autofree char *name = email_clean_name(display_name);
    return query_run(store, error, NULL, PERSON " ($1, $2, $3)", INTEGER(email->person), TEXT(name), INTEGER(now)) &&
           query_run(store, error, NULL, ADDRESS " ($1, $2, $3, $4, 0, $5, $6, 0)", INTEGER(email->key),
                     TEXT(email->folded), TEXT(email->email), INTEGER(email->person), TEXT(name), INTEGER(now)) &&
           span_count_user(store, email->person, 1, error) &&
           span_count(store, SPAN_ADDRESSES, email->folded, 1, error);
}

bool email_make_all(Store *store, GPtrArray *emails, GError **error)
{
    g_autofree const char **folded = g_new(const char *, emails->len), **persons = g_new(const char *, emails->len);
    g_autofree char *texts = g_malloc((size_t)emails->len * SPAN_USER_KEY_SIZE);
    for (guint at = 0; at < emails->len; at++) {
        NewEmail *new = emails->pdata[at];
        char *person = texts + (size_t)at * SPAN_USER_KEY_SIZE;
        new->email.person = store_key_new(store, error);
        new->email.key = new->email.person ? store_key_new(store, error) : 0;
        if (new->email.key == 0)
            return false;
        span_user_key(new->email.person, person);
        folded[at] = new->email.folded;
        persons[at] = person;
    }

    /* All persons are written before the addresses, which refer to them. */
    int64_t now = clock_now();
    g_autoptr(RowSet) rows = row_set_new(store, &(RowSetKind){PERSON, NULL, 3}),
                      addresses = row_set_new(store, &(RowSetKind){ADDRESS, NULL, 8});
    for (guint at = 0; at < emails->len; at++) {
        const NewEmail *new = emails->pdata[at];
        if (!row_set_add(rows, error, INTEGER(new->email.person), TEXT(new->name), INTEGER(now)))
            return false;
    }
    if (!row_set_end(rows, error))
        return false;
    for (guint at = 0; at < emails->len; at++) {
        const NewEmail *new = emails->pdata[at];
        if (!row_set_add(addresses, error, INTEGER(new->email.key), TEXT(new->email.folded), TEXT(new->email.email),
                         INTEGER(new->email.person), INTEGER(0), TEXT(new->name), INTEGER(now), INTEGER(0)))
            return false;
    }
    return row_set_end(addresses, error) && span_count_sorted(store, SPAN_USERS, persons, emails->len, 1, error) &&
           span_count_sorted(store, SPAN_ADDRESSES, folded, emails->len, 1, error);
}

/* ---- users ---- */

static const RowField user_row[] = {ROW(User, display_name), ROW(User, password),  ROW(User, server_owner),
                                    ROW(User, created_at),   ROW(User, preferred), ROW(User, address)};

void user_free(User *user)
{
    row_free(user_row, user);
}

static bool no_user(const char *who, GError **error)
{
    g_autofree char *shown = g_utf8_make_valid(who, -1);
    return fail(error, FAIL_MISSING, "there is no user %s", shown);
}

static bool user_key(Store *store, const char *who, int64_t *person, GError **error)
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

static User *read_user(Query *query, int64_t *key)
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
    return step == STEP_ROW ? read_user(query, &key) : NULL;
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
        g_ptr_array_add(chunk, read_user(query, &walk->last));
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
        user_key(store, who, &person, error) && digest_leaving_begin(store, person, 0, error) &&
            query_run(store, error, NULL, "DELETE FROM person_preference WHERE person = $1", INTEGER(person)) &&
            /* A row with nothing set would only slow the recipient query. */
            (preferences_are_unset(preferences) ||
             query_run(store, error, NULL,
                       "INSERT INTO person_preference (person, " PREFERENCE_COLUMNS
                       ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                       INTEGER(person), PREFERENCE_VALUES(preferences))) &&
            digest_leaving_end(store, person, error));
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

static bool user_settle_subscriptions(Store *store, int64_t person, GError **error)
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

/* ---- known addresses ---- */

void known_address_free(KnownAddress *address)
{
    if (!address)
        return;
    g_free(address->email);
    g_free(address->original);
    g_free(address->display_name);
    g_free(address);
}

#define ADDRESS_COLUMNS \
    "SELECT d.folded, d.email, COALESCE(d.display_name, ''), d.registered_at, d.verified_at, d.person, u.stands_in, " \
    "d.preferred, a.acknowledge_posts, a.hide_address, a.receive_list_copy, a.receive_own_postings, " \
    "a.delivery_mode, a.delivery_status, a.preferred_language FROM address d JOIN person u ON u.key = d.person " \
    "LEFT JOIN address_preference a ON a.address = d.key "

/* "example.com jo" gives "jo@example.com". */
static char *unfolded(const char *folded)
{
    const char *blank = strchr(folded, ' ');
    return blank ? g_strdup_printf("%s@%.*s", blank + 1, (int)(blank - folded), folded) : g_strdup(folded);
}

static void *read_address(Query *query)
{
    KnownAddress *address = g_new0(KnownAddress, 1);
    address->email = unfolded(query_text(query, 0));
    address->original = g_strdup(query_text(query, 1));
    address->display_name = g_strdup(query_text(query, 2));
    address->registered_at = query_integer(query, 3);
    address->verified_at = query_integer(query, 4);
    if (query_integer(query, 6) == 0)
        store_key_id(query_integer(query, 5), address->user_id);
    address->preferred = query_integer(query, 7) != 0;
    address->preferences = query_preferences(query, 8);
    return address;
}

bool address_look_up(Store *store, const Mailbox *address, KnownAddress **known, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, ADDRESS_COLUMNS "WHERE d.folded = $1", TEXT(address->folded));
    Step step = query_step(query, error);
    *known = step == STEP_ROW ? read_address(query) : NULL;
    return step != STEP_FAILED;
}

Mailbox *address_stored(Store *store, const Mailbox *address, GError **error)
{
    KnownAddress *found;
    if (!address_look_up(store, address, &found, error))
        return NULL;
    g_autoptr(KnownAddress) known = found;
    return mailbox_new(known ? known->original : address->text);
}

KnownAddress *address_find(Store *store, const Mailbox *address, GError **error)
{
    KnownAddress *known;
    if (address_look_up(store, address, &known, error) && !known) {
        g_autofree char *shown = g_utf8_make_valid(address->text, -1);
        fail(error, FAIL_MISSING, "the address %s is not known", shown);
    }
    return known;
}

GPtrArray *address_page(Store *store, const char *who, const char *after, int64_t skip, unsigned limit,
                        GError **error)
{
    int64_t person = 0;
    if (who && !user_key(store, who, &person, error))
        return NULL;
    g_autoptr(Mailbox) behind = mailbox_new(after ? after : "");
    g_autofree char *begins = NULL;
    int64_t passed = 0;
    if (!after && !who && !span_seek(store, SPAN_ADDRESSES, skip, &begins, &passed, error))
        return NULL;
    g_autoptr(Query) query =
        who ? query_open(store, error, ADDRESS_COLUMNS "WHERE d.person = $1 ORDER BY d.key LIMIT $2 OFFSET $3",
                         INTEGER(person), INTEGER(limit), INTEGER(skip))
            : query_open(store, error,
                         ADDRESS_COLUMNS "WHERE d.folded >= $1 AND d.folded > $4 ORDER BY d.folded LIMIT $2 OFFSET $3",
                         TEXT(after ? behind->folded : begins), INTEGER(limit), INTEGER(passed), TEXT(behind->folded));
    return row_collect(query, read_address, (GDestroyNotify)known_address_free, error);
}

bool address_count(Store *store, int64_t *count, GError **error)
{
    return span_total(store, SPAN_ADDRESSES, count, error);
}

bool address_language(Store *store, const char *list_id, const Mailbox *address, char **language, GError **error)
{
    *language = NULL;
    g_autoptr(Query) query = query_open(
        store, error,
        "SELECT COALESCE((SELECT m.preferred_language FROM member m JOIN list l ON l.key = m.list "
        "WHERE l.list_id = $2 AND m.role = 0 AND m.folded = d.folded AND m.preferred_language IS NOT NULL LIMIT 1), "
        "a.preferred_language, p.preferred_language, (SELECT preferred_language FROM site_preference)) FROM address d "
        "LEFT JOIN address_preference a ON a.address = d.key LEFT JOIN person_preference p ON p.person = d.person "
        "WHERE d.folded = $1",
        TEXT(address->folded), TEXT(list_id ? list_id : ""));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *language = g_strdup(query_text(query, 0));
    return step != STEP_FAILED;
}

bool address_add(Store *store, const Mailbox *address, const char *display_name, GError **error)
{
    g_auto(Email) known = {0};
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !email_ensure(store, address, display_name, &known, error))
        return false;
    if (!known.made)
        return fail(error, FAIL_EXISTS, "the address %s is known already", known.email);
    return query_run(store, error, NULL, "UPDATE person SET stands_in = 1 WHERE key = $1", INTEGER(known.person)) &&
           span_count_user(store, known.person, -1, error) && write_end(&write, error);
}

bool address_set_name(Store *store, const Mailbox *address, const char *display_name, GError **error)
{
    g_auto(Email) known = {0};
    g_autofree char *name = email_clean_name(display_name);
    return email_find(store, address, &known, error) &&
           query_run(store, error, NULL, "UPDATE address SET display_name = $2 WHERE key = $1", INTEGER(known.key),
                     TEXT(name));
}

bool address_set_verified(Store *store, const Mailbox *address, int64_t verified_at, GError **error)
{
    g_auto(Email) known = {0};
    return email_find(store, address, &known, error) &&
           query_run(store, error, NULL, "UPDATE address SET verified_at = $2 WHERE key = $1", INTEGER(known.key),
                     INTEGER(verified_at));
}

bool address_note_verified(Store *store, const Mailbox *address, int64_t at, GError **error)
{
    return query_run(store, error, NULL, "UPDATE address SET verified_at = $2 WHERE folded = $1 AND verified_at = 0",
                     TEXT(address->folded), INTEGER(at));
}

bool address_set_preferences(Store *store, const Mailbox *address, const Preferences *preferences, GError **error)
{
    g_auto(Email) known = {0};
    return STORE_WRITE(
        store, error,
        email_find(store, address, &known, error) && digest_leaving_begin(store, known.person, 0, error) &&
            query_run(store, error, NULL, "DELETE FROM address_preference WHERE address = $1", INTEGER(known.key)) &&
            (preferences_are_unset(preferences) ||
             query_run(store, error, NULL,
                       "INSERT INTO address_preference (address, " PREFERENCE_COLUMNS
                       ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                       INTEGER(known.key), PREFERENCE_VALUES(preferences))) &&
            digest_leaving_end(store, known.person, error));
}

/* ---- whose an address is ---- */

/* Its memberships go with it. What its former person subscribed by it as the preferred one stays with the address. */
static bool move_address(Store *store, const Email *known, int64_t to, GError **error)
{
    return (!known->preferred || user_settle_subscriptions(store, known->person, error)) &&
           query_run(store, error, NULL, "UPDATE address SET person = $2, preferred = 0 WHERE key = $1",
                     INTEGER(known->key), INTEGER(to)) &&
           query_run(store, error, NULL, "UPDATE member SET person = $3 WHERE person = $1 AND address = $2",
                     INTEGER(known->person), INTEGER(known->key), INTEGER(to));
}

bool user_link_address(Store *store, const char *who, const Mailbox *address, GError **error)
{
    int64_t person;
    g_auto(Email) known = {0};
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !user_key(store, who, &person, error) || !email_ensure(store, address, NULL, &known, error))
        return false;
    if (known.person != person &&
        (!move_address(store, &known, person, error) ||
         !user_drop(store,
                    query_open(store, error,
                               "DELETE FROM person WHERE key = $1 AND NOT EXISTS "
                               "(SELECT 1 FROM address WHERE person = $1) RETURNING key, stands_in",
                               INTEGER(known.person)),
                    error)))
        return false;
    return write_end(&write, error);
}

bool address_unlink(Store *store, const Mailbox *address, GError **error)
{
    int64_t person, alone;
    g_auto(Email) known = {0};
    return STORE_WRITE(store, error,
                       user_key(store, address->text, &person, error) && email_find(store, address, &known, error) &&
                           (alone = store_key_new(store, error)) != 0 &&
                           query_run(store, error, NULL,
                                     "INSERT INTO person (key, created_at, stands_in) VALUES ($1, $2, 1)",
                                     INTEGER(alone), INTEGER(clock_now())) &&
                           move_address(store, &known, alone, error));
}

/* ---- forgetting ---- */

/* All that names the address: the statements have its folded form as $1, or itself in lower case. */
static bool forget(Store *store, const char *folded, GError **error)
{
    g_autofree char *lower = unfolded(folded), *base = mailbox_base(lower);
    return query_run(store, error, NULL, "DELETE FROM pending WHERE folded = $1", TEXT(folded)) &&
           query_run(store, error, NULL, "DELETE FROM pending WHERE lower(detail) = $1", TEXT(lower)) &&
           query_run(store, error, NULL, "DELETE FROM departure WHERE folded = $1", TEXT(folded)) &&
           query_run(store, error, NULL, "DELETE FROM session WHERE folded = $1", TEXT(folded)) &&
           query_run(store, error, NULL, "DELETE FROM list_log WHERE name = $1", TEXT(lower)) &&
           query_run(store, error, NULL, "DELETE FROM bounce WHERE folded = $1", TEXT(folded)) &&
           account_forget(store, base, error) && /* counts that name a list, too, go within a day */
           held_remove_sender(store, lower, error) && scheduled_remove_sender(store, lower, error);
}

bool address_remove(Store *store, const Mailbox *address, GError **error)
{
    g_auto(Email) known = {0};
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !email_find(store, address, &known, error))
        return false;
    Query *members = query_open(store, error, "SELECT key FROM member WHERE address = $1 AND person = $2",
                                INTEGER(known.key), INTEGER(known.person));
    return member_remove_each(store, members, NULL, error) && forget(store, known.folded, error) &&
           query_run(store, error, NULL, "DELETE FROM address WHERE key = $1", INTEGER(known.key)) &&
           span_count(store, SPAN_ADDRESSES, known.folded, -1, error) &&
           query_run(store, error, NULL, "DELETE FROM person WHERE key = $1 AND stands_in = 1",
                     INTEGER(known.person)) &&
           write_end(&write, error);
}

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
