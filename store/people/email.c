/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/email.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "store/people/span.h"
#include "store/row_set.h"
#include "store/store_internal.h"

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
