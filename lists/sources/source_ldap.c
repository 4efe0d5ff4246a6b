/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Sources in a directory: one search by LDAP, in pages (RFC 2696), so that a server that gives only some hundred
 * entries at a time gives all. Each entry is one person: the first value of the first attribute of the URL is the
 * address, that of the second the name.
 */
#include "lists/sources/source_ldap.h"

#include <string.h>
#include <sys/time.h>

#include "base/fail.h"
#include "lists/sources/source_read.h"

#define PAGE_SIZE 500  /* entries */
#define PATIENCE 60    /* seconds, for the connection and for each page */
#define ADDRESS "mail" /* attributes, where the URL names none */
#define NAME "cn"

typedef LDAPMessage LdapMessage;
static void answer_free(LdapMessage *message)
{
    ldap_msgfree(message);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LdapMessage, answer_free)

typedef LDAPControl LdapControl;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LdapControl, ldap_control_free)

typedef struct Directory {
    LDAP *connection;
    LdapUrl *url;
    struct berval cookie; /* of the server: where the next page begins */
} Directory;

static void directory_clear(Directory *directory)
{
    if (directory->connection)
        ldap_unbind_ext_s(directory->connection, NULL, NULL);
    if (directory->url)
        ldap_free_urldesc(directory->url);
    ber_memfree(directory->cookie.bv_val);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Directory, directory_clear)

static const char *attribute(const LdapUrl *url, int which)
{
    if (!url->lud_attrs || !url->lud_attrs[0])
        return which == 0 ? ADDRESS : NAME;
    return which == 0 || !url->lud_attrs[1] ? (which == 0 ? url->lud_attrs[0] : NULL) : url->lud_attrs[1];
}

/* ---- asking ---- */

/* Set the error: FAIL_CONFIG for a fault that somebody has to mend, FAIL_LATER for one that may pass by itself. */
static bool refuse(const Directory *directory, const char *what, int code, GError **error)
{
    char *detail = NULL;
    if (directory->connection)
        ldap_get_option(directory->connection, LDAP_OPT_DIAGNOSTIC_MESSAGE, &detail);
    bool stays = code == LDAP_INVALID_CREDENTIALS || code == LDAP_NO_SUCH_OBJECT || code == LDAP_FILTER_ERROR ||
                 code == LDAP_INSUFFICIENT_ACCESS || code == LDAP_INAPPROPRIATE_AUTH ||
                 code == LDAP_INVALID_DN_SYNTAX || code == LDAP_STRONG_AUTH_REQUIRED ||
                 code == LDAP_CONFIDENTIALITY_REQUIRED;
    fail(error, stays ? FAIL_CONFIG : FAIL_LATER, "%s: %s%s%s%s", what, ldap_err2string(code),
         detail && *detail ? " (" : "", detail && *detail ? detail : "", detail && *detail ? ")" : "");
    ldap_memfree(detail);
    return false;
}

/* Connect, encrypt where the URL asks for it, before anything is told to the server, and sign in. */
static bool sign_in(Directory *directory, const char *dn, const char *password, GError **error)
{
    const LdapUrl *url = directory->url;
    const struct timeval patience = {.tv_sec = PATIENCE};
    const int version = LDAP_VERSION3, demand = LDAP_OPT_X_TLS_DEMAND;
    bool six = strchr(url->lud_host, ':') != NULL;
    g_autofree char *address = g_strdup_printf("%s://%s%s%s:%d", url->lud_scheme, six ? "[" : "", url->lud_host,
                                               six ? "]" : "", url->lud_port);
    /* Certificates are looked at as all connections of the process say, whatever ldap.conf(5) would let pass. */
    if (ldap_set_option(NULL, LDAP_OPT_X_TLS_REQUIRE_CERT, &demand) != LDAP_OPT_SUCCESS)
        return fail(error, FAIL_LATER, "the library of LDAP refuses to look at certificates");
    int code = ldap_initialize(&directory->connection, address);
    if (code != LDAP_SUCCESS)
        return refuse(directory, "cannot begin", code, error);
    if (ldap_set_option(directory->connection, LDAP_OPT_PROTOCOL_VERSION, &version) != LDAP_OPT_SUCCESS ||
        ldap_set_option(directory->connection, LDAP_OPT_NETWORK_TIMEOUT, &patience) != LDAP_OPT_SUCCESS ||
        ldap_set_option(directory->connection, LDAP_OPT_TIMEOUT, &patience) != LDAP_OPT_SUCCESS ||
        ldap_set_option(directory->connection, LDAP_OPT_REFERRALS, LDAP_OPT_OFF) != LDAP_OPT_SUCCESS)
        return fail(error, FAIL_LATER, "the library of LDAP refuses an option");
    if (source_ldap_starts_tls(url) && (code = ldap_start_tls_s(directory->connection, NULL, NULL)) != LDAP_SUCCESS) {
        bool away = code == LDAP_SERVER_DOWN || code == LDAP_TIMEOUT;
        return refuse(directory, away ? "cannot connect" : "cannot begin TLS", code, error);
    }
    struct berval secret = {.bv_val = (char *)password, .bv_len = password ? strlen(password) : 0};
    code = ldap_sasl_bind_s(directory->connection, dn, LDAP_SASL_SIMPLE, &secret, NULL, NULL, NULL);
    bool away = code == LDAP_SERVER_DOWN || code == LDAP_CONNECT_ERROR || code == LDAP_TIMEOUT;
    return code == LDAP_SUCCESS || refuse(directory, dn && !away ? "cannot sign in" : "cannot connect", code, error);
}

/* Another server is not asked: nobody has said that it may be told the password. Frees the referrals. */
static bool name_referral(char **referrals, GError **error)
{
    g_autofree char *valid = g_utf8_make_valid(referrals && referrals[0] ? referrals[0] : "another server", -1);
    ldap_memvfree((void **)referrals);
    return fail(error, FAIL_CONFIG,
                "the server refers to %s for a part of the answer, and no other server is asked: make that a source of "
                "its own, or narrow the base or the scope of the search",
                valid);
}

/* One page of the answer, whole; NULL with error when a part of it is elsewhere. */
static LdapMessage *ask(Directory *directory, GError **error)
{
    const LdapUrl *url = directory->url;
    LDAP *connection = directory->connection;
    char *wanted[] = {(char *)attribute(url, 0), (char *)attribute(url, 1), NULL}, **referrals = NULL;
    const char *filter = url->lud_filter && *url->lud_filter ? url->lud_filter : "(objectClass=*)";
    struct timeval patience = {.tv_sec = PATIENCE};
    LDAPControl *made = NULL;
    LDAPMessage *answer = NULL;
    int code = ldap_create_page_control(connection, PAGE_SIZE, &directory->cookie, 1, &made), ignored;
    g_autoptr(LdapControl) page = made;
    LDAPControl *controls[] = {page, NULL};
    if (code == LDAP_SUCCESS)
        code = ldap_search_ext_s(connection, url->lud_dn ? url->lud_dn : "", url->lud_scope, filter, wanted, 0,
                                 controls, NULL, &patience, LDAP_NO_LIMIT, &answer);
    g_autoptr(LdapMessage) result = answer;
    if (code == LDAP_SIZELIMIT_EXCEEDED || code == LDAP_TIMELIMIT_EXCEEDED || code == LDAP_ADMINLIMIT_EXCEEDED) {
        fail(error, FAIL_CONFIG,
             "the server gives no more entries to this user (%s), so the answer is not whole: raise "
             "its limit for it, or narrow the filter",
             ldap_err2string(code));
        return NULL;
    }
    if (code == LDAP_REFERRAL && answer) {
        ldap_parse_result(connection, answer, &ignored, NULL, NULL, &referrals, NULL, 0);
        name_referral(referrals, error);
        return NULL;
    }
    if (code != LDAP_SUCCESS) {
        refuse(directory, "cannot search", code, error);
        return NULL;
    }
    LDAPMessage *reference = ldap_first_reference(connection, answer);
    if (reference) {
        ldap_parse_reference(connection, reference, &referrals, NULL, 0);
        name_referral(referrals, error);
        return NULL;
    }
    return g_steal_pointer(&result);
}

/* The first value as text; NULL: there is none. g_free() */
static char *first_value(Directory *directory, LdapMessage *entry, const char *name)
{
    struct berval **values = name ? ldap_get_values_len(directory->connection, entry, name) : NULL;
    char *text = values && values[0] ? g_strndup(values[0]->bv_val, values[0]->bv_len) : NULL;
    if (values)
        ldap_value_free_len(values);
    return text ? g_strstrip(text) : NULL;
}

/* Where the next page begins; *last: there is none. An answer without the control is no end: the server has not said
 * that this was all. */
static bool take_cookie(Directory *directory, LdapMessage *answer, bool *last, GError **error)
{
    int code, ignored;
    LDAPControl **controls = NULL;
    int parsed = ldap_parse_result(directory->connection, answer, &code, NULL, NULL, NULL, &controls, 0);
    const LDAPControl *page = parsed == LDAP_SUCCESS ? ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, controls, NULL)
                                                     : NULL;
    struct berval cookie = {0};
    bool told = page && ldap_parse_pageresponse_control(directory->connection, (LDAPControl *)page, &ignored,
                                                        &cookie) == LDAP_SUCCESS;
    ldap_controls_free(controls);
    if (!told)
        return fail(error, FAIL_CONFIG,
                    "the server does not answer in pages (RFC 2696), so nobody knows whether its "
                    "answer is whole");
    ber_memfree(directory->cookie.bv_val);
    directory->cookie = cookie;
    *last = cookie.bv_len == 0;
    return true;
}

bool source_read_ldap(SourceReading *reading, GError **error)
{
    g_auto(Directory) directory = {.url = source_ldap_url(reading->source->place, error)};
    if (!directory.url || !sign_in(&directory, reading->source->bind_dn, reading->password, error))
        return false;
    const char *of_address = attribute(directory.url, 0), *of_name = attribute(directory.url, 1);
    LDAP *connection = directory.connection;
    for (bool last = false; !last;) {
        g_autoptr(LdapMessage) page = source_reading_goes_on(reading, error) ? ask(&directory, error) : NULL;
        if (!page)
            return false;
        for (LDAPMessage *entry = ldap_first_entry(connection, page); entry;
             entry = ldap_next_entry(connection, entry)) {
            g_autofree char *address = first_value(&directory, entry, of_address);
            g_autofree char *name = first_value(&directory, entry, of_name);
            bool valid = name && g_utf8_validate(name, -1, NULL);
            if (address && !source_reading_add(reading, address, valid ? name : NULL, error))
                return false;
        }
        if (!take_cookie(&directory, page, &last, error))
            return false;
    }
    return true;
}
