/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/domain.h"

#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "store/lists/template_text.h"
#include "store/people/token.h"
#include "store/row.h"
#include "store/store_internal.h"

#define LABEL_MAX 63        /* bytes of a label, and */
#define NAME_MAX_LENGTH 253 /* of a name (RFC 1035) */

static const RowField domain_row[] = {ROW(Domain, mail_host), ROW(Domain, description), ROW(Domain, alias_domain)};

void domain_free(Domain *domain)
{
    row_free(domain_row, domain);
}

static char *checked(const char *mail_host, GError **error)
{
    g_autofree char *probe = g_strconcat("x@", mail_host, NULL); /* a domain that no address could have is none */
    if (mailbox_domain_valid(mail_host) && mailbox_valid(probe))
        return g_utf8_strdown(mail_host, -1);
    g_autofree char *shown = g_utf8_make_valid(mail_host, -1);
    fail(error, FAIL_NEVER, "\"%s\" is no domain name", shown);
    return NULL;
}

bool domain_answers(Store *store, const char *name, bool *answers, GError **error)
{
    *answers = false;
    g_autofree char *folded = g_utf8_validate(name, -1, NULL) ? g_utf8_strdown(name, -1) : g_strdup("");
    return query_exists(store, error, answers, "SELECT 1 FROM domain WHERE mail_host = $1 OR alias_domain = $1 LIMIT 1",
                        TEXT(folded));
}

static bool free_name(Store *store, const char *name, GError **error)
{
    bool taken;
    return domain_answers(store, name, &taken, error) &&
           (!taken || fail(error, FAIL_EXISTS, "the domain %s exists already, as a domain or as the alias of one",
                           name));
}

/* Does no list in a domain above have a List-Id that a list of this one could have? A list of a domain below has an Id
 * that ends in this domain, too, but no list of this one gets it: store/lists/list.c refuses the name. */
static bool ids_are_free(Store *store, const char *name, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT list_id FROM list WHERE length($1) > length(mail_host) "
                                        "AND substr($1, length($1) - length(mail_host)) = '.' || mail_host "
                                        "AND length(list_id) > length($1) + 1 "
                                        "AND substr(list_id, length(list_id) - length($1)) = '.' || $1",
                                        TEXT(name));
    Step step = query_step(query, error);
    if (step != STEP_ROW)
        return step == STEP_DONE;
    return fail(error, FAIL_NEVER, "the list with the List-Id %s is in another domain, and a list of %s could have the "
                "same one; remove that list first", query_text(query, 0), name);
}

/* May a server elsewhere send mail to this domain? The name is in lower case and in ASCII. It needs two labels or more,
 * of letters, digits and "-" (RFC 5321, 4.1.2), and a last one that is not a number, as that of an IP address is. */
static bool is_mail_domain(const char *name)
{
    size_t longest = 0;
    g_auto(GStrv) labels = g_strsplit(name, ".", -1);
    guint count = g_strv_length(labels);
    for (guint at = 0; at < count; at++)
        longest = MAX(longest, strlen(labels[at]));
    return count >= 2 && longest <= LABEL_MAX && strlen(name) <= NAME_MAX_LENGTH &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen(name) &&
           strspn(labels[count - 1], "0123456789") < strlen(labels[count - 1]);
}

bool domain_create(Store *store, const char *mail_host, const char *description, GError **error)
{
    g_autofree char *name = checked(mail_host, error);
    if (!name)
        return false;
    /* It stands in header fields and in senders, which are ASCII to most of the world. */
    if (!g_str_is_ascii(name))
        return fail(error, FAIL_NEVER,
                    "the domain %s must be written in ASCII, as the xn-- name that it has in the DNS", name);
    if (!is_mail_domain(name))
        return fail(error, FAIL_NEVER,
                    "%s can be no domain of mail; allowed is a name with a dot, such as lists.example.com, of letters, "
                    "digits and -",
                    name);
    int64_t key;
    return STORE_CHANGE(
        store, error,
        (key = store_key_new(store, error)) != 0 && free_name(store, name, error) && ids_are_free(store, name, error) &&
            query_run(store, error, NULL, "INSERT INTO domain (mail_host, description, key) VALUES ($1, $2, $3)",
                      TEXT(name), TEXT(description ? description : ""), INTEGER(key)));
}

bool domain_remove(Store *store, const char *mail_host, GError **error)
{
    g_autofree char *name = g_utf8_strdown(mail_host, -1);
    int64_t lists = 0, removed = 0;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    store_changed(store);
    if (!query_number(store, error, &lists, "SELECT count(*) FROM list WHERE mail_host = $1", TEXT(name)))
        return false;
    if (lists > 0)
        return fail(error, FAIL_NEVER, "the domain %s still has lists (%" G_GINT64_FORMAT "); remove them first", name,
                    lists);
    g_autofree char *place = template_text_place(name);
    return query_run(store, error, &removed, "DELETE FROM domain WHERE mail_host = $1", TEXT(name)) &&
           query_run(store, error, NULL, "DELETE FROM template WHERE place = $1", TEXT(place)) &&
           token_forget(store, NULL, name, error) &&
           (removed > 0 || fail(error, FAIL_MISSING, "there is no domain %s", name)) && write_end(&write, error);
}

bool domain_set_alias(Store *store, const char *mail_host, const char *alias_domain, GError **error)
{
    g_autofree char *name = g_utf8_strdown(mail_host, -1);
    g_autofree char *alias = alias_domain ? checked(alias_domain, error) : NULL;
    if (alias_domain && !alias)
        return false;
    return STORE_CHANGE(
        store, error,
        query_change_one(store, error, fail(error, FAIL_MISSING, "there is no domain %s", name),
                         "UPDATE domain SET alias_domain = NULL WHERE mail_host = $1", TEXT(name)) &&
            (!alias || (free_name(store, alias, error) &&
                        query_run(store, error, NULL, "UPDATE domain SET alias_domain = $2 WHERE mail_host = $1",
                                  TEXT(name), TEXT(alias)))));
}

bool domain_set_description(Store *store, const char *mail_host, const char *description, GError **error)
{
    g_autofree char *name = g_utf8_strdown(mail_host, -1);
    return query_change_one(store, error, fail(error, FAIL_MISSING, "there is no domain %s", name),
                            "UPDATE domain SET description = $2 WHERE mail_host = $1", TEXT(name),
                            TEXT(description ? description : ""));
}

Domain *domain_find(Store *store, const char *mail_host, GError **error)
{
    g_autofree char *name = g_utf8_strdown(mail_host, -1);
    g_autoptr(Query) query = query_open(
        store, error, "SELECT mail_host, description, alias_domain FROM domain WHERE mail_host = $1", TEXT(name));
    return row_find(query, Domain, domain_row, fail(error, FAIL_MISSING, "there is no domain %s", name), error);
}

/* ---- owners ---- */

bool domain_add_owner(Store *store, const char *mail_host, const char *user_id, GError **error)
{
    int64_t person;
    g_autoptr(Domain) domain = domain_find(store, mail_host, error);
    if (!domain)
        return false;
    return store_id_key(user_id, &person)
               ? query_run(store, error, NULL,
                           "INSERT INTO domain_owner (mail_host, person) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                           TEXT(domain->mail_host), INTEGER(person))
               : fail(error, FAIL_MISSING, "there is no user %s", user_id);
}

bool domain_clear_owners(Store *store, const char *mail_host, GError **error)
{
    g_autofree char *name = g_utf8_strdown(mail_host, -1);
    return query_run(store, error, NULL, "DELETE FROM domain_owner WHERE mail_host = $1", TEXT(name));
}

char **domain_owners(Store *store, const char *mail_host, GError **error)
{
    g_autofree char *name = g_utf8_strdown(mail_host, -1);
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(Query) query = query_open(
        store, error, "SELECT person FROM domain_owner WHERE mail_host = $1 ORDER BY person", TEXT(name));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        char id[STORE_ID_SIZE];
        store_key_id(query_integer(query, 0), id);
        g_ptr_array_add(ids, g_strdup(id));
    }
    if (step != STEP_DONE)
        return NULL;
    g_ptr_array_add(ids, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&ids), FALSE);
}

char **domain_owned(Store *store, const char *user_id, GError **error)
{
    int64_t person;
    if (!store_id_key(user_id, &person)) {
        fail(error, FAIL_MISSING, "there is no user %s", user_id);
        return NULL;
    }
    g_autoptr(Query) query = query_open(
        store, error, "SELECT mail_host FROM domain_owner WHERE person = $1 ORDER BY mail_host", INTEGER(person));
    return query_texts(query, error);
}

GPtrArray *domain_all(Store *store, GError **error)
{
    g_autoptr(Query) query = query_start(
        store, error, "SELECT mail_host, description, alias_domain FROM domain ORDER BY mail_host", NULL, 0);
    return row_all(query, Domain, domain_row, domain_free, error);
}
