/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/member.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "store/people/user_internal.h"
#include "store/people/member_internal.h"
#include "store/people/span.h"
#include "store/row.h"
#include "store/row_set.h"
#include "store/store_internal.h"

static const char *const role_names[] = {"member", "owner", "moderator", "nonmember"};
static const char *const status_names[] = {"enabled", "by_user", "by_bounces", "by_moderator", "unknown"};
static const char *const mode_names[] = {"regular", "plaintext_digests", "mime_digests", "summary_digests"};

const Preferences preferences_unset = {-1, -1, -1, -1, -1, -1, ""};
const Preferences preferences_default = {0, 1, 1, 1, MODE_REGULAR, DELIVERY_ENABLED, ""};

bool preferences_are_unset(const Preferences *preferences)
{
    return preferences->acknowledge_posts < 0 && preferences->hide_address < 0 && preferences->receive_list_copy < 0 &&
           preferences->receive_own_postings < 0 && preferences->delivery_mode < 0 &&
           preferences->delivery_status < 0 && !*preferences->preferred_language;
}

static bool find_name(const char *const *names, size_t count, const char *text, unsigned *found)
{
    for (unsigned i = 0; i < count; i++)
        if (g_ascii_strcasecmp(names[i], text) == 0) {
            *found = i;
            return true;
        }
    return false;
}

const char *role_text(Role role)
{
    return role < G_N_ELEMENTS(role_names) ? role_names[role] : "unknown";
}

bool role_parse(const char *text, Role *role)
{
    unsigned found;
    if (!find_name(role_names, G_N_ELEMENTS(role_names), text, &found))
        return false;
    *role = (Role)found;
    return true;
}

const char *delivery_status_text(DeliveryStatus status)
{
    return status < G_N_ELEMENTS(status_names) ? status_names[status] : "unknown";
}

bool delivery_status_parse(const char *text, DeliveryStatus *status)
{
    unsigned found;
    if (!find_name(status_names, G_N_ELEMENTS(status_names), text, &found))
        return false;
    *status = (DeliveryStatus)found;
    return true;
}

const char *delivery_mode_text(DeliveryMode mode)
{
    return mode < G_N_ELEMENTS(mode_names) ? mode_names[mode] : "unknown";
}

bool delivery_mode_parse(const char *text, DeliveryMode *mode)
{
    unsigned found;
    if (!find_name(mode_names, G_N_ELEMENTS(mode_names), text, &found))
        return false;
    *mode = (DeliveryMode)found;
    return true;
}

void member_free(Member *member)
{
    if (!member)
        return;
    g_free(member->list_id);
    g_free(member->address);
    g_free(member->display_name);
    g_free(member->given_name);
    g_free(member);
}

/* ---- reading ---- */

Preferences query_preferences(Query *query, int column)
{
    Preferences read = {
        .acknowledge_posts = query_choice(query, column),
        .hide_address = query_choice(query, column + 1),
        .receive_list_copy = query_choice(query, column + 2),
        .receive_own_postings = query_choice(query, column + 3),
        .delivery_mode = query_choice(query, column + 4),
        .delivery_status = query_choice(query, column + 5),
    };
    if (!query_is_null(query, column + 6))
        g_strlcpy(read.preferred_language, query_text(query, column + 6), sizeof read.preferred_language);
    return read;
}

Member *member_read_row(Query *query)
{
    Member *member = g_new0(Member, 1);
    store_key_id(query_integer(query, 0), member->id);
    member->list_id = g_strdup(query_text(query, 1));
    member->address = g_strdup(query_text(query, 2));
    member->display_name = g_strdup(query_text(query, 3));
    member->role = (Role)query_integer(query, 4);
    member->moderation_action = query_is_null(query, 5) ? ACTION_UNSET : (Action)query_integer(query, 5);
    member->joined_at = query_integer(query, 6);
    member->as_user = query_integer(query, 7) != 0;
    if (query_integer(query, 9) == 0)
        store_key_id(query_integer(query, 8), member->user_id);
    member->bounce_score = query_integer(query, 10);
    member->own = query_preferences(query, 11);
    member->effective = query_preferences(query, 11 + PREFERENCE_COUNT);
    member->bounced_at = query_integer(query, 11 + 2 * PREFERENCE_COUNT);
    member->warned_at = query_integer(query, 12 + 2 * PREFERENCE_COUNT);
    member->warnings = query_integer(query, 13 + 2 * PREFERENCE_COUNT);
    member->given_name = g_strdup(query_text(query, 14 + 2 * PREFERENCE_COUNT));
    return member;
}

static bool no_such(Role role, const char *list_id, const Mailbox *address, GError **error)
{
    return fail(error, FAIL_MISSING, "%s is no %s of %s", address->text, role_text(role), list_id);
}

static const char look_up_sql[] = MEMBER_COLUMNS
    "WHERE m.list = $1 AND m.role = $2 AND m.folded = $3 ORDER BY m.by_person LIMIT 1";

void member_find_soon(Store *store, const char *list_id, Role role, const Mailbox *address)
{
    int64_t list;
    if (list_key_soon(store, list_id, &list))
        query_soon(store, look_up_sql, INTEGER(list), INTEGER(role), TEXT(address->folded));
}

bool member_look_up(Store *store, const char *list_id, Role role, const Mailbox *address, Member **member,
                    GError **error)
{
    int64_t list;
    *member = NULL;
    if (!list_key(store, list_id, &list, error))
        return false;
    g_autoptr(Query) query = query_open(store, error, look_up_sql, INTEGER(list), INTEGER(role), TEXT(address->folded));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *member = member_read_row(query);
    return step != STEP_FAILED;
}

Member *member_find(Store *store, const char *list_id, Role role, const Mailbox *address, GError **error)
{
    Member *member;
    if (member_look_up(store, list_id, role, address, &member, error) && !member)
        no_such(role, list_id, address, error);
    return member;
}

Member *member_by_id(Store *store, const char *id, GError **error)
{
    int64_t key = 0;
    g_autoptr(Query) query = NULL;
    if (store_id_key(id, &key) && !(query = query_open(store, error, MEMBER_COLUMNS "WHERE m.key = $1", INTEGER(key))))
        return NULL;
    Step step = query ? query_step(query, error) : STEP_DONE;
    if (step == STEP_DONE)
        fail(error, FAIL_MISSING, "there is no member with the id %s", id);
    return step == STEP_ROW ? member_read_row(query) : NULL;
}

bool member_each(Store *store, const char *list_id, Role role, MemberEach *each, void *data, GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error))
        return false;
    g_autoptr(Query) query = query_stream(store, error,
                                          MEMBER_COLUMNS "WHERE m.list = $1 AND m.role = $2 "
                                                         "ORDER BY m.list, m.role, m.folded, m.by_person",
                                          INTEGER(list), INTEGER(role));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        g_autoptr(Member) member = member_read_row(query);
        if (!each(member, data))
            return true;
    }
    return step == STEP_DONE;
}

bool member_count(Store *store, const char *list_id, Role role, int64_t *count, GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error) || !span_total(store, SPAN_MEMBERS(list, role), count, error))
        return false;
    if (*count >= 0)
        return true;
    return query_number(store, error, count, "SELECT count(*) FROM member WHERE list = $1 AND role = $2", INTEGER(list),
                        INTEGER(role));
}

/* By the key of members, in which addresses stand as "example.com jo"; behind the blank comes '!'. */
bool member_count_at(Store *store, const char *list_id, const char *domain, int64_t most, int64_t *count,
                     GError **error)
{
    int64_t list;
    g_autofree char *first = g_strconcat(domain, " ", NULL), *end = g_strconcat(domain, "!", NULL);
    if (!list_key(store, list_id, &list, error))
        return false;
    return query_number(store, error, count,
                        "SELECT count(*) FROM (SELECT 1 FROM member WHERE list = $1 AND role = 0 "
                        "AND folded >= $2 AND folded < $3 LIMIT $4) AS found",
                        INTEGER(list), TEXT(first), TEXT(end), INTEGER(most));
}

char **list_administrators(Store *store, const char *list_id, GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error))
        return NULL;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT DISTINCT m.email, m.folded" MEMBER_JOINS
                                        "WHERE m.list = $1 AND m.role IN (1, 2) AND " EFFECTIVE_DELIVERY_STATUS " = 0 "
                                        "ORDER BY m.folded",
                                        INTEGER(list));
    return query_texts(query, error);
}

/* ---- writing ---- */

/* Counts delta for each of the members with these keys. */
static bool count_keys(Store *store, const GArray *keys, int64_t delta, GError **error)
{
    for (unsigned at = 0; at < keys->len; at++) {
        g_autoptr(Query) query = query_open(store, error, "SELECT list, role, folded FROM member WHERE key = $1",
                                            INTEGER(g_array_index(keys, int64_t, at)));
        Step step = query_step(query, error);
        if (step == STEP_FAILED)
            return false;
        if (step == STEP_DONE)
            continue;
        SpanOf of = SPAN_MEMBERS(query_integer(query, 0), (int)query_integer(query, 1));
        g_autofree char *folded = g_strdup(query_text(query, 2));
        g_clear_pointer(&query, query_free);
        if (!span_count(store, of, folded, delta, error))
            return false;
    }
    return true;
}

/* The keys that the query (taken, may be NULL) gives; NULL: error is set. */
static GArray *read_keys(Query *query, GError **error)
{
    g_autoptr(Query) owned = query;
    return row_integers(owned, error);
}

bool member_remove_each(Store *store, Query *members, int64_t *removed, GError **error)
{
    g_autoptr(GArray) keys = read_keys(members, error);
    if (!keys || !count_keys(store, keys, -1, error))
        return false;
    for (unsigned at = 0; at < keys->len; at++)
        if (!query_run(store, error, NULL, "DELETE FROM member WHERE key = $1",
                       INTEGER(g_array_index(keys, int64_t, at))))
            return false;
    if (removed)
        *removed = keys->len;
    return true;
}

bool member_move_each(Store *store, Query *members, const Email *to, bool by_person, GError **error)
{
    g_autoptr(GArray) keys = read_keys(members, error);
    if (!keys || !count_keys(store, keys, -1, error))
        return false;
    for (unsigned at = 0; at < keys->len; at++)
        if (!query_run(store, error, NULL,
                       "UPDATE member SET folded = $2, email = $3, address = $4, by_person = $5 WHERE key = $1",
                       INTEGER(g_array_index(keys, int64_t, at)), TEXT(to->folded), TEXT(to->email),
                       INTEGER(to->key), INTEGER(by_person)))
            return false;
    return count_keys(store, keys, 1, error);
}

typedef struct NewMember {
    const char *list_id;
    Role role;
    bool by_person;
    const Preferences *own;   /* NULL: none */
    const char *display_name; /* that comes with the membership; NULL or empty: none */
} NewMember;

/* Does a new member of the list who did not choose get digests? */
static bool is_digest_default(Store *store, int64_t list, bool *is, GError **error)
{
    return query_exists(store, error, is,
                        "SELECT 1 FROM list_setting WHERE list = $1 AND name = 'digest_is_default' AND value = 'yes'",
                        INTEGER(list));
}

#define MEMBER                                                                                    \
    "INSERT INTO member (list, role, folded, by_person, email, address, person, key, joined_at, " \
    "given_name, " PREFERENCE_COLUMNS ") VALUES"

/* The new member is the address itself, or with by_person the address that its user prefers. */
static bool add(Store *store, const NewMember *new, const Mailbox *address, GError **error)
{
    int64_t list;
    g_auto(Email) email = {0};
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !list_key(store, new->list_id, &list, error) ||
        !(new->by_person ? email_find(store, address, &email, error) && user_preferred(store, &email, error)
                         : email_ensure(store, address, new->display_name, &email, error)))
        return false;

    Preferences own = new->own ? *new->own : preferences_unset;
    bool digests = false;
    if (new->role == ROLE_MEMBER && own.delivery_mode < 0 && !is_digest_default(store, list, &digests, error))
        return false;
    if (digests)
        own.delivery_mode = MODE_MIME_DIGESTS;

    int64_t added = 0, key = store_key_new(store, error);
    if (key == 0)
        return false;
    g_autofree char *name = email_clean_name(new->display_name);
    if (!query_run(store, error, &added,
                   MEMBER " ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) "
                          "ON CONFLICT (list, role, folded, by_person) DO NOTHING",
                   INTEGER(list), INTEGER(new->role), TEXT(email.folded), INTEGER(new->by_person), TEXT(email.email),
                   INTEGER(email.key), INTEGER(email.person), INTEGER(key), INTEGER(clock_now()), TEXT(name),
                   PREFERENCE_VALUES(&own)))
        return false;
    if (added == 0)
        return fail(error, FAIL_EXISTS, "%s is a %s of %s already", email.email, role_text(new->role), new->list_id);
    return span_count(store, SPAN_MEMBERS(list, new->role), email.folded, 1, error) && write_end(&write, error);
}

bool member_add(Store *store, const char *list_id, Role role, const Mailbox *address, const char *display_name,
                const Preferences *own, GError **error)
{
    return add(store, &(const NewMember){list_id, role, false, own, display_name}, address, error);
}

bool member_add_user(Store *store, const char *list_id, Role role, const Mailbox *address, GError **error)
{
    return add(store, &(const NewMember){.list_id = list_id, .role = role, .by_person = true}, address, error);
}

/* ---- many at once ---- */

bool member_add_all(Store *store, const char *list_id, Role role, GPtrArray *members, GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error))
        return false;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;

    /* The addresses that nobody has come first, since members have their keys. */
    g_autoptr(GPtrArray) unknown = g_ptr_array_new_with_free_func(g_free), of = g_ptr_array_new();
    for (guint at = 0; at < members->len; at++) {
        NewMembership *new = members->pdata[at];
        if (new->address != 0)
            continue;
        NewEmail *email = g_new(NewEmail, 1);
        *email = (NewEmail){{.folded = (char *)(uintptr_t) new->folded, .email = (char *)(uintptr_t) new->email},
                            new->name};
        g_ptr_array_add(unknown, email);
        g_ptr_array_add(of, new);
    }
    if (!email_make_all(store, unknown, error))
        return false;
    for (guint at = 0; at < of->len; at++) {
        const Email *email = &((NewEmail *)unknown->pdata[at])->email;
        NewMembership *new = of->pdata[at];
        new->address = email->key;
        new->person = email->person;
    }

    bool digests = false;
    int64_t now = clock_now();
    g_autofree const char **folded = g_new(const char *, members->len);
    g_autoptr(RowSet) rows = row_set_new(store, &(RowSetKind){MEMBER, NULL, 10 + PREFERENCE_COUNT});
    if (role == ROLE_MEMBER && !is_digest_default(store, list, &digests, error))
        return false;
    for (guint at = 0; at < members->len; at++) {
        NewMembership *new = members->pdata[at];
        Preferences own = new->own ? *new->own : preferences_unset;
        if (digests && own.delivery_mode < 0)
            own.delivery_mode = MODE_MIME_DIGESTS;
        new->key = store_key_new(store, error);
        if (new->key == 0 || !row_set_add(rows, error, INTEGER(list), INTEGER(role), TEXT(new->folded), INTEGER(0),
                                          TEXT(new->email), INTEGER(new->address), INTEGER(new->person),
                                          INTEGER(new->key), INTEGER(now), TEXT(new->name), PREFERENCE_VALUES(&own)))
            return false;
        folded[at] = new->folded;
    }
    return row_set_end(rows, error) &&
           span_count_sorted(store, SPAN_MEMBERS(list, role), folded, members->len, 1, error) &&
           write_end(&write, error);
}

static int compare_folded(const void *one, const void *other)
{
    return strcmp(((const OldMembership *)one)->folded, ((const OldMembership *)other)->folded);
}

bool member_remove_all(Store *store, int64_t list, Role role, GArray *members, GError **error)
{
    g_autofree const char **folded = g_new(const char *, members->len);
    g_autoptr(RowSet) rows = row_set_new(store, &(RowSetKind){"DELETE FROM member WHERE key IN (VALUES", ")", 1});
    g_array_sort(members, compare_folded);
    for (guint at = 0; at < members->len; at++) {
        const OldMembership *old = &g_array_index(members, OldMembership, at);
        if (!row_set_add(rows, error, INTEGER(old->key)))
            return false;
        folded[at] = old->folded;
    }
    return row_set_end(rows, error) &&
           span_count_sorted(store, SPAN_MEMBERS(list, role), folded, members->len, -1, error);
}

/* MemberChange says how to change the member that has address in role: a statement with $1 list, $2 role, $3 folded
 * address, and what follows. */
typedef struct MemberChange {
    const char *list_id;
    Role role;
    const Mailbox *address;
    const char *sql;
    const Value *values; /* $4 on */
    size_t count;
} MemberChange;

static bool change(Store *store, const MemberChange *what, GError **error)
{
    int64_t list, changed = 0;
    if (!list_key(store, what->list_id, &list, error))
        return false;
    Value values[3 + PREFERENCE_COUNT] = {INTEGER(list), INTEGER(what->role), TEXT(what->address->folded)};
    for (size_t i = 0; i < what->count; i++)
        values[3 + i] = what->values[i];
    return query_all(store, error, &changed, what->sql, values, 3 + what->count) &&
           (changed > 0 || no_such(what->role, what->list_id, what->address, error));
}

bool member_remove(Store *store, const char *list_id, Role role, const Mailbox *address, GError **error)
{
    int64_t list, removed = 0;
    return STORE_WRITE(store, error,
                       list_key(store, list_id, &list, error) &&
                           query_run(store, error, &removed,
                                     "DELETE FROM member WHERE list = $1 AND role = $2 AND folded = $3", INTEGER(list),
                                     INTEGER(role), TEXT(address->folded)) &&
                           (removed > 0 || no_such(role, list_id, address, error)) &&
                           span_count(store, SPAN_MEMBERS(list, role), address->folded, -removed, error));
}

bool member_set_preferences(Store *store, const char *list_id, Role role, const Mailbox *address,
                            const Preferences *own, GError **error)
{
    const Value values[] = {PREFERENCE_VALUES(own)};
    const MemberChange what = {list_id, role, address,
                         "UPDATE member SET acknowledge_posts = $4, hide_address = $5, receive_list_copy = $6, "
                         "receive_own_postings = $7, delivery_mode = $8, delivery_status = $9, "
                         "preferred_language = $10 WHERE list = $1 AND role = $2 AND folded = $3",
                         values, G_N_ELEMENTS(values)};
    bool reader = role == ROLE_MEMBER;
    int64_t list, person;
    return STORE_WRITE(store, error,
                       list_key(store, list_id, &list, error) &&
                           (!reader || (email_person(store, address, &person, error) &&
                                        digest_leaving_begin(store, person, list, error))) &&
                           change(store, &what, error) && (!reader || digest_leaving_end(store, person, error)) &&
                           /* Enabled again, a vacation is over. */
                           query_run(store, error, NULL,
                                     "DELETE FROM vacation WHERE begun = 1 AND member IN (SELECT key FROM member "
                                     "WHERE list = $1 AND role = $2 AND folded = $3 AND "
                                     "COALESCE(delivery_status, 0) = 0)",
                                     INTEGER(list), INTEGER(role), TEXT(address->folded)));
}

bool member_set_moderation(Store *store, const char *list_id, Role role, const Mailbox *address, Action action,
                           GError **error)
{
    const Value value = action == ACTION_UNSET ? TEXT(NULL) : INTEGER(action);
    const MemberChange what = {
        list_id, role,
        address, "UPDATE member SET moderation_action = $4 WHERE list = $1 AND role = $2 AND folded = $3",
        &value,  1};
    return STORE_WRITE(store, error, change(store, &what, error));
}

/* ---- another address ---- */

bool member_set_address(Store *store, const char *id, const Mailbox *address, GError **error)
{
    int64_t key, list;
    Role role;
    if (!store_id_key(id, &key))
        return fail(error, FAIL_MISSING, "there is no member with the id %s", id);
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    {
        g_autoptr(Query) query =
            query_open(store, error, "SELECT list, role FROM member WHERE key = $1", INTEGER(key));
        Step step = query_step(query, error);
        if (step != STEP_ROW)
            return step == STEP_DONE && fail(error, FAIL_MISSING, "the member is gone");
        list = query_integer(query, 0);
        role = (Role)query_integer(query, 1);
    }
    g_auto(Email) to = {0};
    bool taken;
    if (!email_ensure(store, address, NULL, &to, error) ||
        !query_exists(store, error, &taken,
                      "SELECT 1 FROM member WHERE list = $1 AND role = $2 AND folded = $3 AND key <> $4", INTEGER(list),
                      INTEGER(role), TEXT(to.folded), INTEGER(key)))
        return false;
    if (taken)
        return fail(error, FAIL_EXISTS, "%s is a %s of the list already", to.email, role_text(role));
    return query_run(store, error, NULL, "UPDATE member SET person = $2 WHERE key = $1", INTEGER(key),
                     INTEGER(to.person)) &&
           member_move_each(store, query_open(store, error, "SELECT key FROM member WHERE key = $1", INTEGER(key)), &to,
                            false, error) &&
           write_end(&write, error);
}

/* ---- the site ---- */

bool site_preferences(Store *store, Preferences *preferences, GError **error)
{
    *preferences = preferences_unset;
    g_autoptr(Query) query = query_start(store, error, "SELECT " PREFERENCE_COLUMNS " FROM site_preference", NULL, 0);
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *preferences = query_preferences(query, 0);
    return step != STEP_FAILED;
}

bool site_set_preferences(Store *store, const Preferences *preferences, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL, "DELETE FROM site_preference WHERE one = $1", INTEGER(1)) &&
                           (preferences_are_unset(preferences) ||
                            query_run(store, error, NULL,
                                      "INSERT INTO site_preference (one, " PREFERENCE_COLUMNS ") "
                                      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                                      INTEGER(1), PREFERENCE_VALUES(preferences))));
}
