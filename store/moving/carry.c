/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/moving/carry.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "store/people/member_internal.h"
#include "store/people/user_internal.h"
#include "store/people/span.h"
#include "store/store_internal.h"

void carry_id(int64_t key, char id[CARRY_ID_SIZE])
{
    store_key_id(key, id);
}

bool carry_id_parse(const char *id, int64_t *key)
{
    return store_id_key(id, key);
}

/* ---- out ---- */

static Value value_of(Query *query, int column, const CarryField *field)
{
    bool text = field->type == CARRY_TEXT || field->type == CARRY_EMAIL || field->type == CARRY_NAME;
    Value value = {.type = text                         ? VALUE_TEXT
                           : field->type == CARRY_BYTES ? VALUE_BLOB
                                                        : VALUE_INTEGER,
                   .null = query_is_null(query, column)};
    if (!value.null && value.type == VALUE_INTEGER)
        value.integer = query_integer(query, column);
    else if (!value.null)
        value.data = query_bytes(query, column, &value.length);
    return value;
}

bool carry_read(Store *store, const CarryKind *kind, const char *list_id, CarryRow *row, void *data, GError **error)
{
    if (list_id ? !kind->of_list && !kind->select_of_list : kind->of_list)
        return true;
    int64_t list = 0;
    if (list_id && !list_key(store, list_id, &list, error))
        return false;
    const Value key = INTEGER(list);
    const char *sql = list_id && !kind->of_list ? kind->select_of_list : kind->select;
    g_autoptr(Query) query = query_stream_start(store, error, sql, &key, list_id ? 1 : 0);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        Value values[CARRY_FIELDS_MAX];
        for (int i = 0; kind->fields[i].name; i++)
            values[i] = value_of(query, i, &kind->fields[i]);
        if (!row(kind, values, data, error))
            return false;
    }
    return step == STEP_DONE;
}

char **carry_lists(Store *store, const char *mail_host, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, "SELECT list_id FROM list WHERE mail_host = COALESCE($1, mail_host) ORDER BY list_id",
        TEXT(mail_host));
    return query_texts(query, error);
}

bool carry_read_list(Store *store, const char *list_id, int64_t *held_last, char **password_hash, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error,
        "SELECT held_last, (SELECT value FROM list_setting s WHERE s.list = l.key AND s.name = 'moderator_password') "
        "FROM list l WHERE list_id = $1",
        TEXT(list_id));
    Step step = query_step(query, error);
    if (step != STEP_ROW)
        return step == STEP_DONE && fail(error, FAIL_MISSING, "there is no list %s", list_id);
    *held_last = query_integer(query, 0);
    *password_hash = g_strdup(query_text(query, 1));
    return true;
}

/* ---- in ---- */

static bool is_key_allowed(Store *store, int64_t key, GError **error)
{
    int64_t now = clock_now();
    if (key <= 0 || key >> 11 > now + INT64_C(86400) * CLOCK_SECOND)
        return fail(error, FAIL_NEVER, "an id that is from no time before now");
    return key >> 11 <= now || store_driver(store)->keys_above(store_connection(store), key, error);
}

/* A number that another has is replaced by a new one. */
static bool take_number(Store *store, const char *counter, const char *find, int64_t *number, GError **error)
{
    if (*number <= 0 || *number >= g_ascii_strtoll(CARRY_NUMBER_MOST, NULL, 10))
        return fail(error, FAIL_NEVER, "the number %" G_GINT64_FORMAT " is not allowed", *number);
    bool taken;
    if (!query_exists(store, error, &taken, find, INTEGER(*number)))
        return false;
    if (taken)
        return store_next_number(store, counter, number, error);
    return query_run(store, error, NULL, "UPDATE counter SET value = $2 WHERE name = $1 AND value < $2", TEXT(counter),
                     INTEGER(*number));
}

typedef struct Parameters {
    Value values[CARRY_FIELDS_MAX + 4];
    size_t count;
    const char *folded; /* of the last address */
    char *owned[CARRY_FIELDS_MAX];
    size_t owned_count;
} Parameters;

static void parameters_clear(Parameters *parameters)
{
    for (size_t i = 0; i < parameters->owned_count; i++)
        g_free(parameters->owned[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Parameters, parameters_clear)

/* Set the parameters: the values, and behind each address its folded form. */
static bool set_parameters(const CarryKind *kind, const Value *values, Parameters *to, GError **error)
{
    for (int i = 0; kind->fields[i].name; i++) {
        const CarryField *field = &kind->fields[i];
        to->values[to->count++] = values[i];
        if (field->type != CARRY_EMAIL)
            continue;
        g_autofree char *email = g_strndup(values[i].data, values[i].length);
        g_autoptr(Mailbox) address = mailbox_new(email);
        if (!mailbox_check(address, error))
            return false;
        char *folded = g_strdup(address->folded);
        to->owned[to->owned_count++] = folded;
        to->folded = folded;
        to->values[to->count++] = TEXT(folded);
    }
    return true;
}

/* Find a free number for a row that has one. */
static bool before(Store *store, const CarryKind *kind, Parameters *to, GError **error)
{
    int64_t *number = &to->values[1].integer;
    switch (kind->hook) {
    case CARRY_HELD:
        return take_number(store, "held", "SELECT 1 FROM held WHERE number = $1", number, error);
    case CARRY_SCHEDULED:
        return take_number(store, "scheduled", "SELECT 1 FROM scheduled WHERE number = $1", number, error);
    case CARRY_REQUEST:
        return take_number(store, "pending", "SELECT 1 FROM pending WHERE number = $1", number, error);
    default:
        return true;
    }
}

/* Count a row that was written. */
static bool after(Store *store, const CarryKind *kind, const Parameters *from, const Value *values, GError **error)
{
    switch (kind->hook) {
    case CARRY_USER: return values[5].integer == 1 || span_count_user(store, values[0].integer, 1, error);
    case CARRY_ADDRESS: return span_count(store, SPAN_ADDRESSES, from->folded, 1, error);
    case CARRY_MEMBER:
        return span_count(store, SPAN_MEMBERS(from->values[0].integer, (int)values[1].integer), from->folded, 1, error);
    case CARRY_HELD:
        return query_run(store, error, NULL,
                         "INSERT INTO held_sum (list, room, strangers) VALUES ($1, $2, $3) ON CONFLICT (list) DO "
                         "UPDATE SET room = held_sum.room + excluded.room, "
                         "strangers = held_sum.strangers + excluded.strangers",
                         from->values[0], INTEGER(values[12].integer),
                         INTEGER(values[13].integer ? values[12].integer : 0));
    default: return true;
    }
}

/* Of an address or a member that was not written: is it there? */
static bool is_there(Store *store, const CarryKind *kind, const Value *values, GError **error)
{
    if (kind->hook != CARRY_MEMBER && kind->hook != CARRY_ADDRESS)
        return true;
    g_auto(Email) known = {0};
    const Value *from = &values[kind->hook == CARRY_MEMBER ? 2 : 1];
    g_autofree char *email = g_strndup(from->data, from->length);
    g_autoptr(Mailbox) address = mailbox_new(email);
    return email_find(store, address, &known, error) &&
           (kind->hook == CARRY_MEMBER || known.key == values[0].integer ||
            fail(error, FAIL_EXISTS, "the address is here already, and stays its user's"));
}

bool carry_write_own(Store *store, const CarryKind *kind, const char *list_id, const Value *values, bool *known,
                     GError **error)
{
    int64_t list = 0, added = 0;
    g_auto(Parameters) to = {.count = 0};
    if (kind->of_list && !list_key(store, list_id, &list, error))
        return false;
    if (kind->of_list)
        to.values[to.count++] = INTEGER(list);
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !set_parameters(kind, values, &to, error) || !before(store, kind, &to, error) ||
        !query_all(store, error, &added, kind->insert, to.values, to.count))
        return false;
    *known = added == 0;
    /* Other processes are to read anew. Rows of people and posts are in nobody's memory, and they are many. */
    if (!*known && kind->hook == CARRY_NOTHING && kind->reach != CARRY_OF_MANY)
        store_changed(store);
    return (*known ? is_there(store, kind, values, error) : after(store, kind, &to, values, error)) &&
           write_end(&write, error);
}

bool carry_write(Store *store, const CarryKind *kind, const char *list_id, const Value *values, bool *known,
                 GError **error)
{
    for (int i = 0; kind->fields[i].name; i++)
        if (kind->fields[i].type == CARRY_ID && !values[i].null && !is_key_allowed(store, values[i].integer, error))
            return false;
    return carry_write_own(store, kind, list_id, values, known, error);
}

bool carry_drop_user(Store *store, int64_t user, GError **error)
{
    int64_t users = 0;
    return STORE_WRITE(
        store, error,
        query_run(store, error, &users,
                  "DELETE FROM person WHERE key = $1 AND stands_in = 0 AND NOT EXISTS (SELECT 1 FROM address WHERE "
                  "person = $1)",
                  INTEGER(user)) &&
            (users == 0 || span_count_user(store, user, -1, error)) &&
            query_run(store, error, NULL,
                      "DELETE FROM person WHERE key = $1 AND NOT EXISTS (SELECT 1 FROM address WHERE person = $1)",
                      INTEGER(user)));
}

/* ---- people of another list system ---- */

/* Write the address, its user, and the preferences of both; address has the folded form and the address as written. */
static bool add_address(Store *store, const CarryAddress *from, Email *address, GError **error)
{
    bool known;
    const CarryUser *user = from->user;
    if (user && from->with) {
        g_auto(Email) other = {0};
        g_autoptr(GError) unknown = NULL;
        g_autoptr(Mailbox) with = mailbox_new(from->with);
        if (email_find(store, with, &other, &unknown))
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

    /* An address that belongs to no user has a person who only stands in. */
    g_autofree char *user_name = user ? email_clean_name(user->display_name) : NULL;
    g_autofree char *name = email_clean_name(from->display_name);
    if (!there && !carry_row(store, "user", NULL, &known, error, INTEGER(address->person), TEXT(user_name),
                             INTEGER(user ? user->created_at : from->registered_at),
                             TEXT(user ? user->password : NULL), INTEGER(user && user->server_owner), INTEGER(!user)))
        return false;
    if (!there && user && !preferences_are_unset(&user->preferences) &&
        !carry_row(store, "user_preferences", NULL, &known, error, INTEGER(address->person),
                   PREFERENCE_VALUES(&user->preferences)))
        return false;
    return carry_row(store, "address", NULL, &known, error, INTEGER(address->key), TEXT(address->email),
                     INTEGER(address->person), INTEGER(from->preferred && user), TEXT(name),
                     INTEGER(from->registered_at), INTEGER(from->verified_at)) &&
           (preferences_are_unset(&from->preferences) ||
            carry_row(store, "address_preferences", NULL, &known, error, INTEGER(address->key),
                      PREFERENCE_VALUES(&from->preferences)));
}

/* The address is known, and belonged to nobody: the person that stood in becomes the user. */
static bool give_user(Store *store, const CarryAddress *from, int64_t person, int64_t *given, GError **error)
{
    const CarryUser *user = from->user;
    g_autofree char *name = email_clean_name(user->display_name);
    bool known;
    return query_run(store, error, given,
                     "UPDATE person SET stands_in = 0, display_name = COALESCE(display_name, $2), "
                     "password = COALESCE(password, $3), server_owner = $4 WHERE key = $1 AND stands_in = 1",
                     INTEGER(person), TEXT(name), TEXT(user->password), INTEGER(user->server_owner)) &&
           (*given == 0 || (span_count_user(store, person, 1, error) &&
                            carry_row(store, "user_preferences", NULL, &known, error, INTEGER(person),
                                      PREFERENCE_VALUES(&user->preferences))));
}

bool carry_address(Store *store, const CarryAddress *from, bool *known, GError **error)
{
    g_auto(Email) address = {0};
    g_autoptr(GError) unknown = NULL;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    g_autoptr(Mailbox) email = mailbox_new(from->email);
    if (!write.begun || !email_check_added(store, email, error))
        return false;
    *known = email_find(store, email, &address, &unknown);
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
    address = (Email){.folded = g_strdup(email->folded), .email = g_strdup(email->bare)};
    return add_address(store, from, &address, error) && write_end(&write, error);
}

bool carry_member(Store *store, const CarryMember *from, bool *known, GError **error)
{
    int64_t key;
    g_auto(Email) address = {0};
    g_autoptr(Mailbox) email = mailbox_new(from->address);
    g_autofree char *name = email_clean_name(from->display_name);
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun ||
        !(from->as_user ? email_find(store, email, &address, error) && user_preferred(store, &address, error)
                        : email_ensure(store, email, from->display_name, &address, error)) ||
        !(key = store_key_new(store, error)) ||
        !carry_row(store, "member", from->list_id, known, error, INTEGER(key), INTEGER(from->role), TEXT(address.email),
                   INTEGER(from->as_user),
                   INTEGER_OR_NULL(from->moderation_action == ACTION_UNSET ? -1 : (int)from->moderation_action),
                   INTEGER(clock_now()), TEXT(name), TEXT(from->topics),
                   INTEGER_OR_NULL(from->topics ? from->topics_unmatched : -1), PREFERENCE_VALUES(&from->preferences)))
        return false;
    bool unused, scored = from->score != 0 || from->disabled_at != 0 || from->bounced_at != 0;
    return (*known || !scored ||
            carry_row(store, "bounce_score", from->list_id, &unused, error, INTEGER(key), INTEGER(from->score),
                      INTEGER(from->bounced_at), INTEGER(0), INTEGER(from->disabled_at), INTEGER(from->warnings),
                      INTEGER(from->next_at), INTEGER(from->warned_at))) &&
           write_end(&write, error);
}

/* ---- lists ---- */

List *carry_list(Store *store, const CarryList *from, GError **error)
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
                   "UPDATE list SET list_id = $2, created_at = $3, last_post_at = $4, post_id = $5, held_last = $6, "
                   "archive = COALESCE($7, (SELECT archive FROM removed_list WHERE removed_list.list_id = $2), 0) "
                   "WHERE list_id = $1",
                   TEXT(made->list_id), TEXT(from->list_id), INTEGER(from->created_at), INTEGER(from->last_post_at),
                   INTEGER(MAX(from->post_id, 1)), INTEGER(from->held_last), INTEGER_OR_NULL(from->archive)) ||
        (from->password_hash &&
         !query_run(store, error, NULL,
                    "INSERT INTO list_setting (list, name, value) SELECT key, 'moderator_password', $2 FROM list "
                    "WHERE list_id = $1",
                    TEXT(from->list_id), TEXT(from->password_hash))))
        return NULL;
    g_autoptr(List) list = list_by_id(store, from->list_id, error);
    return list && write_end(&write, error) ? g_steal_pointer(&list) : NULL;
}

/* ---- what came from where ---- */

bool carry_find_part(Store *store, const char *name, bool *whole, GError **error)
{
    return query_exists(store, error, whole, "SELECT 1 FROM moved WHERE name = $1", TEXT(name));
}

bool carry_note_part(Store *store, const char *name, const char *list_id, GError **error)
{
    int64_t list = -1;
    return STORE_WRITE(
        store, error,
        (!list_id || list_key(store, list_id, &list, error)) &&
            query_run(store, error, NULL,
                      "INSERT INTO moved (name, list, moved_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING",
                      TEXT(name), INTEGER_OR_NULL(list), INTEGER(clock_now())));
}

bool carry_system(Store *store, const char *list_id, char **system, GError **error)
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

char **carry_lists_of(Store *store, const char *system, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT DISTINCT l.list_id FROM moved m JOIN list l ON l.key = m.list "
                                        "WHERE substr(m.name, 1, length($1) + 1) IN ($1 || ':', $1 || ' ') "
                                        "ORDER BY l.list_id",
                                        TEXT(system));
    return query_texts(query, error);
}
