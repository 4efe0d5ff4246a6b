/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/sources/source.h"

#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/change.h"
#include "lists/people/own_address.h"
#include "lists/sources/source_internal.h"
#include "store/people/ban.h"
#include "store/people/member.h"
#include "store/place.h"

#define NAME_MAX_LENGTH 64
#define LEAST_INTERVAL (60 * CLOCK_SECOND)

/* ---- the URL of a directory ---- */

/* The extension by its names, also where "!" says that the client has to know it. */
static bool is_start_tls(const char *extension)
{
    const char *name = extension + (*extension == '!');
    return g_ascii_strcasecmp(name, "StartTLS") == 0 || g_ascii_strcasecmp(name, "X-StartTLS") == 0 ||
           strcmp(name, LDAP_EXOP_START_TLS) == 0;
}

bool source_ldap_starts_tls(const LdapUrl *url)
{
    return url->lud_exts && url->lud_exts[0] && is_start_tls(url->lud_exts[0]);
}

LdapUrl *source_ldap_url(const char *text, GError **error)
{
    LDAPURLDesc *parsed = NULL;
    const char *host = strstr(text, "://");
    if (host && memchr(host, '@', strcspn(host + 3, "/?#") + 3)) {
        fail(error, FAIL_NEVER,
             "the URL holds a user: give that by --user, and the password by "
             "--password-file");
        return NULL;
    }
    int code = ldap_url_parse(text, &parsed);
    g_autoptr(LdapUrl) url = parsed;
    if (code != LDAP_URL_SUCCESS || !url->lud_scheme ||
        (!g_str_equal(url->lud_scheme, "ldap") && !g_str_equal(url->lud_scheme, "ldaps")))
        fail(error, FAIL_NEVER,
             "\"%s\" is no URL of a directory; right is "
             "ldaps://HOST/BASE?ATTRIBUTES?SCOPE?FILTER, such as "
             "ldaps://ldap.example.com/ou=people,dc=example,dc=com?mail,cn?sub?(objectClass=person)",
             text);
    else if (!url->lud_host || !*url->lud_host)
        fail(error, FAIL_NEVER, "\"%s\" names no host", text);
    else if (url->lud_exts && url->lud_exts[0] && (!is_start_tls(url->lud_exts[0]) || url->lud_exts[1]))
        fail(error, FAIL_NEVER, "\"%s\" has an extension (%s), and StartTLS alone is known; leave it out", text,
             url->lud_exts[url->lud_exts[1] != NULL]);
    else if (source_ldap_starts_tls(url) && g_str_equal(url->lud_scheme, "ldaps"))
        fail(error, FAIL_NEVER, "\"%s\" begins with ldaps://, which is TLS from the start: leave StartTLS out", text);
    else if (url->lud_attrs && url->lud_attrs[0] && url->lud_attrs[1] && url->lud_attrs[2])
        fail(error, FAIL_NEVER,
             "\"%s\" names more than two attributes; right is the one with the address, and then "
             "the one with the name",
             text);
    else
        return g_steal_pointer(&url);
    return NULL;
}

bool source_interval_read(const char *text, int64_t *interval, GError **error)
{
    int64_t read = 0;
    if (*text && (!config_duration_parse(text, &read) || read < LEAST_INTERVAL))
        return fail(error, FAIL_NEVER, "\"%s\"; right is 1m or more, such as 30m, 6h or 1d", text);
    *interval = read;
    return true;
}

/* ---- what a person wrote ---- */

static bool check_sql(const MemberSource *source, GError **error)
{
    static const char *const begins[] = {"select", "with", "values"};
    const char *url = source->place, *host = strstr(url, "://");
    bool server = g_str_has_prefix(url, "postgresql://") || g_str_has_prefix(url, "postgres://") ||
                  store_place_is_mysql(url);
    if (!server && *url != '/')
        return fail(error, FAIL_NEVER,
                    "the place of a database is the whole path of a file of SQLite, postgresql://USER@HOST/DATABASE "
                    "or mysql://USER@HOST/DATABASE");
    const size_t length = host ? strcspn(host + 3, "/?#") : 0;
    const char *at = host ? memchr(host + 3, '@', length) : NULL, *path = host ? host + 3 + length : url;
    if (server && ((at && memchr(host + 3, ':', (size_t)(at - host - 3))) || memchr(path, '@', strcspn(path, "?")) ||
                   strstr(url, "password=")))
        return fail(error, FAIL_NEVER, "the URL holds a password: give that by --password-file");
    if (!server && source->password_file)
        return fail(error, FAIL_NEVER, "--password-file is for a server; a file of SQLite has no password");
    if (!source->query)
        return fail(error, FAIL_NEVER,
                    "a source of kind sql needs --query, which gives the address, and then the "
                    "name if there is one");
    const char *end = strchr(source->query, ';');
    if (end && end[1 + strspn(end + 1, " \t\r\n;")])
        return fail(error, FAIL_NEVER, "the query is one statement, without \";\" in it");
    const char *query = source->query + strspn(source->query, " \t\r\n(");
    for (size_t i = 0; i < G_N_ELEMENTS(begins); i++)
        if (g_ascii_strncasecmp(query, begins[i], strlen(begins[i])) == 0)
            return true;
    return fail(error, FAIL_NEVER, "the query only reads: it begins with SELECT, WITH or VALUES");
}

/* Follows sources of kind list from the list on; *leads: one of them is `to`. */
static bool leads_to(Store *store, const char *from, const char *to, bool *leads, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) next = g_ptr_array_new_with_free_func(g_free);
    *leads = false;
    g_ptr_array_add(next, g_strdup(from));
    for (guint at = 0; at < next->len && !*leads; at++) {
        const char *one = next->pdata[at];
        if (!g_hash_table_add(seen, g_strdup(one)))
            continue;
        *leads = g_str_equal(one, to);
        g_autoptr(GPtrArray) sources = source_all(store, one, error);
        if (!sources)
            return false;
        for (guint i = 0; i < sources->len; i++) {
            const MemberSource *source = sources->pdata[i];
            if (source->kind == SOURCE_LIST)
                g_ptr_array_add(next, g_strdup(source->place));
        }
    }
    return true;
}

/* A password belongs into a file: an argument is in the list of processes, and a URL in logs. */
static bool check_no_password(const MemberSource *source, GError **error)
{
    const char *url = source->place, *host = strstr(url, "://");
    bool path = source->kind == SOURCE_FILE || source->kind == SOURCE_LIST || *url == '/';
    if (path || !host)
        return true;
    /* Where the port is there may be the begin of a password, in which a "/" was not written as "%2F". */
    const char *end = host + 3 + strcspn(host + 3, "/?#");
    for (const char *at = host + 3; at < end; at++) {
        const char *closed = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
        size_t digits = *at == ':' ? strspn(at + 1, G_CSET_DIGITS) : 0;
        at = closed ? closed : at;
        if (*at == ':' && at + 1 + digits < end && at[1 + digits] != ',')
            return fail(error, FAIL_NEVER,
                        "the URL holds a password, or its port is no number: give the user by --user (in a URL of "
                        "PostgreSQL or MySQL as USER@HOST), and the password by --password-file");
    }
    return true;
}

/* Check what a person wrote: the name, paths and whether they may be read, URLs, circles of lists. The name of a list
 * in source->place is replaced by its List-Id. FAIL_NEVER: the message says what is right; FAIL_MISSING: there is no
 * list of that name. */
static bool check(Work *work, const List *list, MemberSource *source, GError **error)
{
    const WorkSite *site = work_site(work);
    const char *name = source->name, *place = source->place;
    size_t valid = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    bool asks = source->kind == SOURCE_LDAP || source->kind == SOURCE_URL, circle;
    if (!*name || name[valid] || valid > NAME_MAX_LENGTH)
        return fail(error, FAIL_NEVER,
                    "\"%s\" is no name for a source: up to %d letters, digits, \"-\", \"_\" and \".\"", name,
                    NAME_MAX_LENGTH);
    if (source->query && source->kind != SOURCE_SQL)
        return fail(error, FAIL_NEVER, "--query is for the kind sql");
    if (source->bind_dn && !asks)
        return fail(error, FAIL_NEVER, "--user is for the kinds url and ldap");
    if (source->password_file && !asks && source->kind != SOURCE_SQL)
        return fail(error, FAIL_NEVER, "--password-file is for the kinds url, sql and ldap");
    if (source->password_file && *source->password_file != '/')
        return fail(error, FAIL_NEVER, "\"%s\": give the whole path of the password file, from / on",
                    source->password_file);
    if (source->password_file && !source_may_read(site, source->password_file, FAIL_NEVER, error))
        return false;
    if (asks && !source->bind_dn != !source->password_file)
        return fail(error, FAIL_NEVER, "--user and --password-file belong together");
    if (!check_no_password(source, error))
        return false;

    switch ((SourceKind)source->kind) {
    case SOURCE_FILE:
        return *place == '/' ? source_may_read(site, place, FAIL_NEVER, error)
                             : fail(error, FAIL_NEVER, "\"%s\": give the whole path of the file, from / on", place);
    case SOURCE_URL: {
        if (!g_str_has_prefix(place, "https://") && !g_str_has_prefix(place, "http://"))
            return fail(error, FAIL_NEVER, "a URL begins with https:// or http://");
        const char *host = strstr(place, "://") + 3;
        return !memchr(host, '@', strcspn(host, "/?#")) ||
               fail(error, FAIL_NEVER,
                    "the URL holds a user: give that by --user, and the password by --password-file");
    }
    case SOURCE_LIST: {
        g_autoptr(List) other = list_find(work_store(work), place, error);
        if (!other || !leads_to(work_store(work), other->list_id, list->list_id, &circle, error))
            return false;
        if (circle)
            return fail(error, FAIL_NEVER, "%s gets members of %s already, so this would be a circle",
                        other->posting_address, list->posting_address);
        g_free(source->place);
        source->place = g_strdup(other->list_id);
        return true;
    }
    case SOURCE_SQL:
        return check_sql(source, error) && (*place != '/' || source_may_read(site, place, FAIL_NEVER, error));
    case SOURCE_LDAP: {
        g_autoptr(LdapUrl) url = source_ldap_url(place, error);
        return url != NULL;
    }
    }
    g_assert_not_reached();
}

/* ---- use cases ---- */

static bool log_source(Work *work, const List *list, const MemberSource *source, bool there, GError **error)
{
    g_autofree char *shown = source_shown(source);
    g_autofree char *text = g_strdup_printf("%s %s", source_kind_text((SourceKind)source->kind), shown);
    return change_log(
        work, list->list_id,
        &(Change){
            .kind = LOG_SOURCE, .name = source->name, .before = there ? NULL : text, .after = there ? text : NULL},
        error);
}

bool source_make(Work *work, const List *list, MemberSource *source, GError **error)
{
    return check(work, list, source, error) && source_add(work_store(work), source, error) &&
           log_source(work, list, source, true, error);
}

bool source_set(Work *work, const List *list, MemberSource *source, GError **error)
{
    return check(work, list, source, error) && source_change(work_store(work), source, error) &&
           log_source(work, list, source, true, error);
}

bool source_unmake(Work *work, const List *list, const MemberSource *source, GError **error)
{
    return source_remove(work_store(work), source, error) && log_source(work, list, source, false, error);
}

/* ---- why somebody is a member or is not ---- */

typedef struct Why {
    Work *work;
    const List *list;
    const Mailbox *address;
    bool is_member;
    json_t *because, *sources;
} Why;

static void say(const Why *why, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void say(const Why *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    json_array_append_new(why->because, json_string(valid));
}

static bool say_sources(const Why *why, GError **error)
{
    g_autoptr(GPtrArray) all = source_of_address(work_store(why->work), why->list->list_id, why->address, error);
    for (guint at = 0; all && at < all->len; at++) {
        const SourceGiven *given = all->pdata[at];
        g_autofree char *when = clock_text(given->given_at);
        json_array_append_new(why->sources,
                              json_pack("{ss ss sb}", "name", given->name, "given_at", when, "made", given->made));
        if (!why->is_member)
            say(why,
                "The source %s has given the address since %s, but the person has left meanwhile or was removed: "
                "the next refresh writes that down, and no source brings the address back.",
                given->name, when);
        else if (given->made)
            say(why,
                "The source %s has given the address since %s; the member leaves when no source gives it any more.",
                given->name, when);
        else
            say(why,
                "The source %s has given the address since %s, but the person had joined without it, and stays "
                "when the source no longer gives the address.",
                given->name, when);
    }
    if (all && all->len == 0 && why->is_member)
        say(why, "No source gives the address: the person joined, or was added by somebody.");
    return all != NULL;
}

/* Nothing else keeps it out, so no source gave it when they were read last. */
static bool say_not_given(const Why *why, GError **error)
{
    if (why->is_member || json_array_size(why->because) > 0)
        return true;
    g_autoptr(GPtrArray) all = source_all(work_store(why->work), why->list->list_id, error);
    for (guint at = 0; all && at < all->len; at++) {
        const MemberSource *source = all->pdata[at];
        g_autofree char *when = clock_text(source->read_at);
        if (source->read_at > 0)
            say(why, "The source %s did not give the address when it was read last (%s).", source->name, when);
        else
            say(why, "The source %s has not been read yet.", source->name);
        if (*source->fault)
            say(why, "Since then it failed: %s", source->fault);
    }
    if (all && all->len == 0)
        say(why, "The list has no sources.");
    return all != NULL;
}

json_t *source_why(Work *work, const List *list, const char *address, GError **error)
{
    Store *store = work_store(work);
    g_autoptr(Member) member = NULL;
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    if (!mailbox->valid) {
        fail(error, FAIL_NEVER, "\"%s\" is no e-mail address (local@domain), so no source makes it a member", address);
        return NULL;
    }
    if (!member_look_up(store, list->list_id, ROLE_MEMBER, mailbox, &member, error))
        return NULL;
    bool is_member = member != NULL;
    g_autoptr(json_t) object = json_pack("{ss ss sb s[] s[]}", "list", list->posting_address, "address", address,
                                         "member", is_member, "sources", "because");
    const Why why = {
        work, list, mailbox, is_member, json_object_get(object, "because"), json_object_get(object, "sources")};
    if (!say_sources(&why, error))
        return NULL;

    int64_t left_at;
    g_autofree char *way = NULL, *ban = NULL, *bars = NULL;
    if (!is_member && !source_left_find(store, list->list_id, mailbox, &way, &left_at, error))
        return NULL;
    g_autofree char *when = way ? clock_text(left_at) : NULL;
    if (way && *way)
        say(&why,
            "The person left the list (%s, %s), so no source brings the address back; to do so: listrunner member "
            "add %s %s",
            way, when, list->posting_address, address);
    else if (way)
        say(&why,
            "Somebody removed the member (%s), so no source brings the address back; to do so: listrunner member "
            "add %s %s",
            when, list->posting_address, address);

    if (!ban_check(store, list->list_id, mailbox, NULL, &ban, error) ||
        !own_address_bars(work, list->list_id, ROLE_MEMBER, address, &bars, error))
        return NULL;
    if (ban && is_member)
        say(&why, "The address is banned (%s), but who is a member stays one.", ban);
    else if (ban)
        say(&why, "The address is banned (%s), so no source makes it a member.", ban);
    if (bars && !is_member)
        say(&why, "No source makes it a member: %s.", bars);
    return say_not_given(&why, error) ? g_steal_pointer(&object) : NULL;
}
