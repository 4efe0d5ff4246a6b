/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/moving/bring.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "store/people/email.h"
#include "store/people/member_internal.h"
#include "store/people/span.h"
#include "store/store_internal.h"

/* ---- what is in already ---- */

bool bring_find(Store *store, const char *name, bool *whole, GError **error)
{
    return query_exists(store, error, whole, "SELECT 1 FROM moved WHERE name = $1", TEXT(name));
}

bool bring_note(Store *store, const char *name, const char *list_id, GError **error)
{
    int64_t list = -1;
    return STORE_WRITE(
        store, error,
        (!list_id || list_key(store, list_id, &list, error)) &&
            query_run(store, error, NULL,
                      "INSERT INTO moved (name, list, moved_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING",
                      TEXT(name), INTEGER_OR_NULL(list), INTEGER(clock_now())));
}

bool bring_system(Store *store, const char *list_id, char **system, GError **error)
{
    *system = NULL;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT name FROM moved WHERE list = (SELECT key FROM list WHERE list_id = $1) "
                                        "ORDER BY substr(name, 1, 10) = 'listrunner', name LIMIT 1",
                                        TEXT(list_id));
    Step step = query_step(query, error);
    const char *name = step == STEP_ROW ? query_text(query, 0) : NULL;
    *system = name ? g_strndup(name, strcspn(name, ": ")) : NULL;
    return step != STEP_FAILED;
}

char **bring_lists_of(Store *store, const char *system, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT DISTINCT l.list_id FROM moved m JOIN list l ON l.key = m.list "
                                        "WHERE substr(m.name, 1, length($1) + 1) IN ($1 || ':', $1 || ' ') "
                                        "ORDER BY l.list_id",
                                        TEXT(system));
    return query_texts(query, error);
}

/* ---- people ---- */

/* Insert the address, its user's preferences and its own; address has the folded form and the address as written. */
static bool insert_address(Store *store, const BroughtAddress *from, Email *address, GError **error)
{
    const BroughtUser *user = from->user;
    if (user && from->with) {
        g_auto(Email) other = {0};
        g_autoptr(GError) unknown = NULL;
        if (email_find(store, from->with, &other, &unknown))
            address->person = other.person;
        else if (!g_error_matches(unknown, FAIL, FAIL_MISSING)) {
            return fail_with(error, &unknown);
        }
    }
    bool there = address->person != 0;
    if (!there)
        address->person = store_key_new(store, error);
    address->key = address->person ? store_key_new(store, error) : 0;
    if (address->key == 0)
        return false;

    g_autofree char *user_name = user ? email_clean_name(user->display_name) : NULL;
    g_autofree char *name = email_clean_name(from->display_name);
    if (!there && user &&
        (!query_later(store, error,
                      "INSERT INTO person (key, display_name, created_at, password, server_owner, stands_in) "
                      "VALUES ($1, $2, $3, $4, $5, 0)",
                      INTEGER(address->person), TEXT(user_name), INTEGER(user->created_at), TEXT(user->password),
                      INTEGER(user->server_owner)) ||
         !span_count_user(store, address->person, 1, error) ||
         (!preferences_are_unset(&user->preferences) &&
          !query_later(store, error,
                       "INSERT INTO person_preference (person, " PREFERENCE_COLUMNS
                       ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                       INTEGER(address->person), PREFERENCE_VALUES(&user->preferences)))))
        return false;
    /* An address that belongs to no user has a person who only stands in. */
    if (!there && !user &&
        !query_later(store, error,
                     "INSERT INTO person (key, display_name, created_at, stands_in) VALUES ($1, NULL, $2, 1)",
                     INTEGER(address->person), INTEGER(from->registered_at)))
        return false;
    return query_later(store, error,
                       "INSERT INTO address (key, folded, email, person, preferred, display_name, registered_at, "
                       "verified_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                       INTEGER(address->key), TEXT(address->folded), TEXT(address->email), INTEGER(address->person),
                       INTEGER(from->preferred && user), TEXT(name), INTEGER(from->registered_at),
                       INTEGER(from->verified_at)) &&
           span_count(store, SPAN_ADDRESSES, address->folded, 1, error) &&
           (preferences_are_unset(&from->preferences) ||
            query_later(store, error,
                        "INSERT INTO address_preference (address, " PREFERENCE_COLUMNS
                        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                        INTEGER(address->key), PREFERENCE_VALUES(&from->preferences)));
}

/* The address is known, and belonged to nobody: the person that stood in becomes the user. */
static bool give_user(Store *store, const BroughtAddress *from, int64_t person, int64_t *given, GError **error)
{
    const BroughtUser *user = from->user;
    g_autofree char *name = email_clean_name(user->display_name);
    return query_run(store, error, given,
                     "UPDATE person SET stands_in = 0, display_name = COALESCE(display_name, $2), "
                     "password = COALESCE(password, $3), server_owner = $4 WHERE key = $1 AND stands_in = 1",
                     INTEGER(person), TEXT(name), TEXT(user->password), INTEGER(user->server_owner)) &&
           (*given == 0 || (span_count_user(store, person, 1, error) &&
                            query_run(store, error, NULL,
                                      "INSERT INTO person_preference (person, " PREFERENCE_COLUMNS
                                      ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (person) DO NOTHING",
                                      INTEGER(person), PREFERENCE_VALUES(&user->preferences))));
}

bool bring_address(Store *store, const BroughtAddress *from, bool *known, GError **error)
{
    g_auto(Email) address = {0};
    g_autoptr(GError) unknown = NULL;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    g_autofree char *folded = write.begun ? email_folded_to_add(store, from->email, error) : NULL;
    if (!folded)
        return false;
    *known = email_find(store, from->email, &address, &unknown);
    if (*known) {
        int64_t given = 0;
        if (from->user && !from->with && !give_user(store, from, address.person, &given, error))
            return false;
        *known = given == 0;
        return write_end(&write, error);
    }
    if (!g_error_matches(unknown, FAIL, FAIL_MISSING))
        return fail_with(error, &unknown);
    email_clear(&address);
    address = (Email){.folded = g_steal_pointer(&folded), .email = mailbox_bare(from->email)};
    return insert_address(store, from, &address, error) && write_end(&write, error);
}

/* ---- members ---- */

bool bring_member(Store *store, const BroughtMember *from, bool *known, GError **error)
{
    int64_t list, key, added = 0;
    g_auto(Email) address = {0};
    g_autofree char *name = email_clean_name(from->display_name);
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !list_key(store, from->list_id, &list, error) ||
        !(from->as_user ? email_find(store, from->address, &address, error) && user_preferred(store, &address, error)
                        : email_ensure(store, from->address, from->display_name, &address, error)) ||
        !(key = store_key_new(store, error)) ||
        !query_run(store, error, &added,
                   "INSERT INTO member (list, role, folded, by_person, email, address, person, key, joined_at, "
                   "given_name, moderation_action, " PREFERENCE_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, "
                   "$9, $10, $11, $12, $13, $14, $15, $16, $17, $18) "
                   "ON CONFLICT (list, role, folded, by_person) DO NOTHING",
                   INTEGER(list), INTEGER(from->role), TEXT(address.folded), INTEGER(from->as_user),
                   TEXT(address.email), INTEGER(address.key), INTEGER(address.person), INTEGER(key),
                   INTEGER(clock_now()), TEXT(name),
                   INTEGER_OR_NULL(from->moderation_action == ACTION_UNSET ? -1 : (int)from->moderation_action),
                   PREFERENCE_VALUES(&from->preferences)))
        return false;
    *known = added == 0;
    bool scored = from->score != 0 || from->disabled_at != 0 || from->bounced_at != 0;
    if (!*known && scored &&
        !query_later(store, error,
                     "INSERT INTO bounce_score (member, score, last_bounce_at, probe_at, disabled_at, warnings, "
                     "next_at, warned_at) VALUES ($1, $2, $3, 0, $4, $5, $6, $7)",
                     INTEGER(key), INTEGER(from->score), INTEGER(from->bounced_at), INTEGER(from->disabled_at),
                     INTEGER(from->warnings), INTEGER(from->next_at), INTEGER(from->warned_at)))
        return false;
    return (*known || span_count(store, SPAN_MEMBERS(list, from->role), address.folded, 1, error)) &&
           write_end(&write, error);
}

bool bring_left(Store *store, const char *list_id, const char *address, int64_t left_at, bool *known, GError **error)
{
    int64_t list, added = 0;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    g_autofree char *folded = write.begun ? email_folded_checked(address, error) : NULL, *bare = mailbox_bare(address);
    if (!folded || !list_key(store, list_id, &list, error))
        return false;
    bool done = query_run(store, error, &added,
                          "INSERT INTO source_left (list, folded, address, way, left_at) VALUES ($1, $2, $3, $4, $5) "
                          "ON CONFLICT (list, folded) DO NOTHING",
                          INTEGER(list), TEXT(folded), TEXT(bare), TEXT(BRING_WAY),
                          INTEGER(left_at > 0 ? left_at : clock_now()));
    *known = added == 0;
    return done && write_end(&write, error);
}

/* ---- lists ---- */

List *bring_list(Store *store, const BroughtList *from, GError **error)
{
    bool taken;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    g_autoptr(List) made = write.begun ? list_create(store, from->address, error) : NULL;
    if (!made || !query_exists(store, error, &taken, "SELECT 1 FROM list WHERE list_id = $1 AND list_id <> $2",
                               TEXT(from->list_id), TEXT(made->list_id)))
        return NULL;
    if (taken) {
        fail(error, FAIL_EXISTS, "a list with the List-Id %s exists already", from->list_id);
        return NULL;
    }
    store_changed(store);
    if (!query_run(store, error, NULL,
                   "UPDATE list SET list_id = $2, created_at = $3, last_post_at = $4, post_id = $5, "
                   "archive = COALESCE((SELECT archive FROM removed_list WHERE removed_list.list_id = $2), 0) "
                   "WHERE list_id = $1",
                   TEXT(made->list_id), TEXT(from->list_id), INTEGER(from->created_at), INTEGER(from->last_post_at),
                   INTEGER(MAX(from->post_id, 1))))
        return NULL;
    g_autoptr(List) list = list_by_id(store, from->list_id, error);
    return list && write_end(&write, error) ? g_steal_pointer(&list) : NULL;
}

bool bring_list_password(Store *store, const char *list_id, const char *hash, GError **error)
{
    int64_t list;
    return STORE_CHANGE(
        store, error,
        list_key(store, list_id, &list, error) &&
            query_run(store, error, NULL,
                      "INSERT INTO list_setting (list, name, value) VALUES ($1, 'moderator_password', $2) "
                      "ON CONFLICT (list, name) DO UPDATE SET value = excluded.value",
                      INTEGER(list), TEXT(hash)));
}

/* ---- what waits ---- */

bool bring_digest_sent(Store *store, const char *list_id, int64_t sent_at, GError **error)
{
    int64_t list;
    return STORE_WRITE(store, error,
                       list_key(store, list_id, &list, error) &&
                           query_run(store, error, NULL, "UPDATE digest SET sent_at = $2 WHERE list = $1",
                                     INTEGER(list), INTEGER(sent_at)));
}

bool bring_digest_last(Store *store, const char *list_id, const char *address, DeliveryMode mode, GError **error)
{
    int64_t list;
    g_auto(Email) known = {0};
    return STORE_WRITE(store, error,
                       list_key(store, list_id, &list, error) && email_find(store, address, &known, error) &&
                           query_run(store, error, NULL,
                                     "INSERT INTO digest_last (list, address, mode) VALUES ($1, $2, $3) "
                                     "ON CONFLICT (list, address) DO NOTHING",
                                     INTEGER(list), INTEGER(known.key), INTEGER(mode)));
}
