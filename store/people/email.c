/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/email.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "store/people/span.h"
#include "store/row_set.h"
#include "store/store_internal.h"

/* ASCII, by far the most, needs no tables. */
static char *lowered(const char *text)
{
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at >= 0x80)
            return g_utf8_strdown(text, -1);
    return g_ascii_strdown(text, -1);
}

char *email_folded(const char *address)
{
    g_autofree char *bare = *address == '"' ? mailbox_bare(address) : NULL;
    g_autofree char *lower = lowered(bare ? bare : address);
    char *at = strrchr(lower, '@');
    if (!at)
        return g_steal_pointer(&lower);
    *at = 0;
    return g_strconcat(at + 1, " ", lower, NULL);
}

char *email_folded_checked(const char *address, GError **error)
{
    if (mailbox_valid(address))
        return email_folded(address);
    g_autofree char *shown = g_utf8_make_valid(address, -1);
    fail(error, FAIL_NEVER, "\"%s\" is no e-mail address (local@domain)", shown);
    return NULL;
}

/* Only an address that is known may have letters that nobody sees. */
static bool may_know(const char *address, bool known, GError **error)
{
    return known || mailbox_legible(address) ||
           fail(error, FAIL_NEVER,
                "\"%s\" is no e-mail address (local@domain) that can be added: it has letters that nobody sees, or "
                "some that are not composed",
                address);
}

char *email_folded_to_add(Store *store, const char *address, GError **error)
{
    int64_t person = 0;
    g_autofree char *folded = email_folded_checked(address, error);
    if (!folded || (!mailbox_legible(address) && !email_person(store, address, &person, error)) ||
        !may_know(address, person != 0, error))
        return NULL;
    return g_steal_pointer(&folded);
}

void email_clear(Email *address)
{
    g_clear_pointer(&address->folded, g_free);
    g_clear_pointer(&address->email, g_free);
}

/* By address->folded. STEP_DONE: not known. */
static Step look_up(Store *store, Email *address, GError **error)
{
    g_autoptr(Query) query =
        query_open(store, error, "SELECT key, person, email, preferred FROM address WHERE folded = $1",
                   TEXT(address->folded));
    Step step = query_step(query, error);
    if (step == STEP_ROW) {
        address->key = query_integer(query, 0);
        address->person = query_integer(query, 1);
        address->email = g_strdup(query_text(query, 2));
        address->preferred = query_integer(query, 3) != 0;
    }
    return step;
}

bool email_find(Store *store, const char *email, Email *address, GError **error)
{
    *address = (Email){.folded = email_folded(email)};
    Step step = look_up(store, address, error);
    return step == STEP_ROW || (step == STEP_DONE && fail(error, FAIL_MISSING, "the address %s is not known", email));
}

bool email_person(Store *store, const char *email, int64_t *person, GError **error)
{
    g_auto(Email) address = {.folded = email_folded(email)};
    Step step = look_up(store, &address, error);
    *person = address.person; /* 0 where there is no row */
    return step != STEP_FAILED;
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

bool email_ensure(Store *store, const char *email, const char *display_name, Email *address, GError **error)
{
    *address = (Email){.folded = email_folded_checked(email, error)};
    Step step = address->folded ? look_up(store, address, error) : STEP_FAILED;
    if (step != STEP_DONE || !may_know(email, false, error))
        return step == STEP_ROW;
    address->email = mailbox_bare(email);
    address->person = store_key_new(store, error);
    address->key = address->person ? store_key_new(store, error) : 0;
    if (address->key == 0)
        return false;
    int64_t now = clock_now();
    g_autofree char *name = email_clean_name(display_name);
    return query_run(store, error, NULL, PERSON " ($1, $2, $3)", INTEGER(address->person), TEXT(name), INTEGER(now)) &&
           query_run(store, error, NULL, ADDRESS " ($1, $2, $3, $4, 0, $5, $6, 0)", INTEGER(address->key),
                     TEXT(address->folded), TEXT(address->email), INTEGER(address->person), TEXT(name), INTEGER(now)) &&
           span_count_user(store, address->person, 1, error) &&
           span_count(store, SPAN_ADDRESSES, address->folded, 1, error);
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

bool email_set_name(Store *store, const Email *address, const char *display_name, GError **error)
{
    g_autofree char *name = email_clean_name(display_name);
    return query_run(store, error, NULL, "UPDATE address SET display_name = $2 WHERE key = $1", INTEGER(address->key),
                     TEXT(name));
}
