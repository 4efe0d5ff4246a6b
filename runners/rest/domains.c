/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /domains and what is below one of them. */
#include "base/fail.h"
#include "lists/making/domain_make.h"
#include "runners/rest/resources.h"
#include "store/lists/domain.h"

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_words(text) : json_null();
}

static json_t *domain_json(const Call *call, const Domain *domain)
{
    g_autofree char *host = segment(domain->mail_host);
    return json_pack("{so so so so}", "alias_domain", text_or_null(domain->alias_domain), "description",
                     text_or_null(domain->description), "mail_host", json_words(domain->mail_host), "self_link",
                     json_link(call, "domains/%s", host));
}

/* The domain of the first argument; NULL: 404 was answered. */
static Domain *find(Call *call)
{
    GError *error = NULL;
    Domain *domain = domain_find(call->store, call->args[0], &error);
    if (!domain)
        rest_fail(call, error);
    return domain;
}

static void get_all(Call *call)
{
    Paging paging;
    GError *error = NULL;
    if (!form_expect(call, "", "count page") || !form_paging(call, &paging))
        return;
    g_autoptr(GPtrArray) all = domain_all(call->store, &error);
    if (!all) {
        rest_fail(call, error);
        return;
    }
    json_t *entries = json_array();
    for (int64_t at = paging.start; at < all->len && at - paging.start < paging.count; at++)
        json_array_append_new(entries, domain_json(call, all->pdata[at]));
    answer_collection(call, entries, all->len, paging.start);
}

static void get_one(Call *call)
{
    g_autoptr(Domain) domain = find(call);
    if (domain)
        answer_json(call, 200, domain_json(call, domain));
}

/* ---- changing ---- */

/* Read the domain from the form. The caller frees the owners. */
static DomainData read_data(Call *call, char ***owners)
{
    *owners = form_has(call, "owner") ? form_words(call, "owner") : NULL;
    return (DomainData){.description = form_text(call, "description"),
                        .alias = form_text(call, "alias_domain"),
                        .owners = (const char *const *)*owners};
}

static void post(Call *call)
{
    GError *error = NULL;
    if (!form_expect(call, "mail_host", "description owner alias_domain"))
        return;
    const char *host = form_text(call, "mail_host");
    g_auto(GStrv) owners = NULL;
    const DomainData data = read_data(call, &owners);
    g_autoptr(Work) work = rest_begin(call);
    if (!work)
        return;
    if (!domain_make(work, host, &data, &error)) {
        rest_refuse(call, &error, FAIL_EXISTS, 400, "Duplicate email host: %s", host);
        rest_fail(call, error);
        return;
    }
    g_autofree char *lower = g_utf8_strdown(host, -1), *name = segment(lower);
    if (rest_commit(call, work))
        answer_created(call, "domains/%s", name);
}

static void change(Call *call)
{
    GError *error = NULL;
    g_auto(GStrv) owners = NULL;
    g_autoptr(Work) work = form_expect_change(call, "alias_domain description owner") ? rest_begin(call) : NULL;
    g_autoptr(Domain) domain = work ? find(call) : NULL;
    if (!domain)
        return;
    const DomainData data = read_data(call, &owners);
    rest_finish(call, work, domain_change(work, call->args[0], &data, &error), &error);
}

static void delete(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    if (!work)
        return;
    rest_finish(call, work, domain_drop(work, call->args[0], true, &error), &error);
}

/* ---- owners ---- */

static void get_owners(Call *call)
{
    Paging paging;
    GError *error = NULL;
    g_autoptr(Domain) domain = form_paging(call, &paging) ? find(call) : NULL;
    if (!domain)
        return;
    g_auto(GStrv) owners = domain_owners(call->store, domain->mail_host, &error);
    int64_t total = owners ? (int64_t)g_strv_length(owners) : 0;
    json_t *entries = json_array();
    for (int64_t at = paging.start; at < total && at - paging.start < paging.count && !error; at++) {
        g_autoptr(User) user = user_find(call->store, owners[at], &error);
        if (user)
            json_array_append_new(entries, user_json(call, user));
    }
    if (!error) {
        answer_collection(call, entries, total, paging.start);
        return;
    }
    json_decref(entries);
    rest_fail(call, error);
}

static void post_owners(Call *call)
{
    GError *error = NULL;
    g_auto(GStrv) owners = form_words(call, "owner");
    g_autoptr(Work) work = form_expect(call, "owner", "") ? rest_begin(call) : NULL;
    g_autoptr(Domain) domain = work ? find(call) : NULL;
    if (domain)
        rest_finish(call, work, domain_make_owners(work, call->args[0], (const char *const *)owners, &error), &error);
}

static void delete_owners(Call *call)
{
    GError *error = NULL;
    const DomainData none = {.owners = (const char *const[]){NULL}};
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(Domain) domain = work ? find(call) : NULL;
    if (domain)
        rest_finish(call, work, domain_change(work, call->args[0], &none, &error), &error);
}

static void get_lists(Call *call)
{
    g_autoptr(Domain) domain = find(call);
    if (domain)
        answer_lists(call, domain->mail_host);
}

/* A domain's mail goes to its lists, so that an alias takes the mail of another domain. */
static const RestField domain_fields[] = {
    {"mail_host", MAY_DOMAIN, MAY_SITE},
    {"alias_domain", MAY_DOMAIN, MAY_SITE},
    {"description", MAY_DOMAIN, MAY_DOMAIN},
    {"owner", MAY_NOBODY, MAY_SITE},
    {"self_link", MAY_DOMAIN, MAY_NOBODY},
    {0},
};

const RestRoute rest_domains[] = {
    {"GET", "domains", OF_SITE, MAY_SITE, domain_fields, get_all, NULL},
    {"POST", "domains", OF_SITE, MAY_SITE, domain_fields, post, NULL},
    {"GET", "domains/{mail_host}", OF_DOMAIN, MAY_DOMAIN, domain_fields, get_one, NULL},
    {"PATCH", "domains/{mail_host}", OF_DOMAIN, MAY_DOMAIN, domain_fields, change, NULL},
    {"PUT", "domains/{mail_host}", OF_DOMAIN, MAY_SITE, domain_fields, change, NULL},
    {"DELETE", "domains/{mail_host}", OF_DOMAIN, MAY_SITE, domain_fields, delete, NULL},
    {"GET", "domains/{mail_host}/lists", OF_DOMAIN, MAY_DOMAIN, rest_list_fields, get_lists, NULL},
    {"GET", "domains/{mail_host}/owners", OF_DOMAIN, MAY_DOMAIN, rest_user_fields, get_owners, NULL},
    {"POST", "domains/{mail_host}/owners", OF_DOMAIN, MAY_SITE, domain_fields, post_owners, NULL},
    {"DELETE", "domains/{mail_host}/owners", OF_DOMAIN, MAY_SITE, domain_fields, delete_owners, NULL},
    {0},
};
