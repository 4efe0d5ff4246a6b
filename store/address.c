/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/address.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "store/store_internal.h"

#define ADDRESS_OCTETS_MAX 254

bool address_is_domain(const char *domain)
{
    char before = '.';
    for (const char *at = domain; *at; before = *at++) {
        if (*at == '.' ? before == '.' || before == '-' : *at == '-' && before == '.')
            return false;
        if (!g_ascii_isalnum(*at) && !strchr(".-_", *at) && (unsigned char)*at < 0x80)
            return false;
    }
    return before != '.' && before != '-';
}

bool address_is_valid(const char *address)
{
    size_t length = strlen(address);
    const char *at = strchr(address, '@');
    if (!at || at == address || length > ADDRESS_OCTETS_MAX || !g_utf8_validate(address, (gssize)length, NULL))
        return false;
    for (const char *c = address; *c; c = g_utf8_next_char(c)) {
        gunichar character = g_utf8_get_char(c);
        if (g_unichar_iscntrl(character) || g_unichar_isspace(character) || (character < 0x80 && strchr("<>()[],;:\\\"", (int)character)))
            return false;
    }
    return address_is_domain(at + 1);
}

/* ASCII, by far the most, needs no tables. */
static char *folded(const char *text)
{
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at >= 0x80)
            return g_utf8_strdown(text, -1);
    return g_ascii_strdown(text, -1);
}

char *store_address_key(const char *address)
{
    g_autofree char *lower = folded(address);
    char *at = strrchr(lower, '@');
    if (!at)
        return g_steal_pointer(&lower);
    *at = 0;
    return g_strconcat(at + 1, " ", lower, NULL);
}

char *store_address_key_checked(const char *address, GError **error)
{
    if (address_is_valid(address))
        return store_address_key(address);
    g_autofree char *shown = g_utf8_make_valid(address, -1);
    fail(error, FAIL_NEVER, "\"%s\" is no e-mail address (local@domain)", shown);
    return NULL;
}

static bool address_make(Store *store, const char *key, const char *email, const char *display_name, GError **error)
{
    int64_t now = clock_now(), person = store_key_new();
    return query_run(store, error, NULL, "INSERT INTO person (key, display_name, created_at) VALUES ($1, $2, $3)",
                     INTEGER(person), TEXT(display_name), INTEGER(now)) &&
           query_run(store, error, NULL,
                     "INSERT INTO address (address, email, person, preferred, display_name, registered_at, verified_at) "
                     "VALUES ($1, $2, $3, 0, $4, $5, 0)",
                     TEXT(key), TEXT(email), INTEGER(person), TEXT(display_name), INTEGER(now));
}

bool address_ensure(Store *store, const char *key, const char *email, const char *display_name, bool *named, GError **error)
{
    Step step = STEP_FAILED;
    *named = true;
    {
        g_autoptr(Query) query =
            query_open(store, error, "SELECT display_name FROM address WHERE address = $1", TEXT(key));
        if (query)
            step = query_step(query, error);
        if (step == STEP_ROW)
            *named = !query_is_null(query, 0);
    }
    if (step == STEP_DONE)
        return address_make(store, key, email, display_name && *display_name ? display_name : NULL, error);
    return step == STEP_ROW;
}

bool address_set_name(Store *store, const char *key, const char *display_name, GError **error)
{
    return query_run(store, error, NULL, "UPDATE address SET display_name = $2 WHERE address = $1", TEXT(key),
                     TEXT(display_name));
}

bool address_find(Store *store, const char *email, const char *key, int64_t *person, bool *preferred, GError **error)
{
    g_autoptr(Query) query =
        query_open(store, error, "SELECT person, preferred FROM address WHERE address = $1", TEXT(key));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    if (step == STEP_DONE)
        return fail(error, FAIL_MISSING, "the address %s is not known", email);
    if (step == STEP_ROW && person)
        *person = query_integer(query, 0);
    if (step == STEP_ROW && preferred)
        *preferred = query_integer(query, 1) != 0;
    return step == STEP_ROW;
}
