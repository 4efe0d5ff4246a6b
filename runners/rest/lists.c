/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /domains and what is below one of them; /lists and one of them, its archivers and its digests. What else is below a
 * list stands in files of its own. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "lists/change.h"
#include "lists/making/domain_make.h"
#include "lists/making/list_make.h"
#include "lists/making/setting_check.h"
#include "lists/making/style.h"
#include "lists/posts/digest_send.h"
#include "runners/rest/resources.h"
#include "store/lists/domain.h"
#include "store/lists/list_setting.h"
#include "store/posts/digest.h"

/* ---- domains ---- */

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
static Domain *find_domain(Call *call)
{
    GError *error = NULL;
    Domain *domain = domain_find(call->store, call->args[0], &error);
    if (!domain)
        rest_fail(call, error);
    return domain;
}

static void get_domains(Call *call)
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

static void get_domain(Call *call)
{
    g_autoptr(Domain) domain = find_domain(call);
    if (domain)
        answer_json(call, 200, domain_json(call, domain));
}

/* ---- changing a domain ---- */

/* Read the domain from the form. The caller frees the owners. */
static DomainData read_data(Call *call, char ***owners)
{
    *owners = form_has(call, "owner") ? form_words(call, "owner") : NULL;
    return (DomainData){.description = form_text(call, "description"),
                        .alias = form_text(call, "alias_domain"),
                        .owners = (const char *const *)*owners};
}

static void post_domain(Call *call)
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

static void change_domain(Call *call)
{
    GError *error = NULL;
    g_auto(GStrv) owners = NULL;
    g_autoptr(Work) work = form_expect_change(call, "alias_domain description owner") ? rest_begin(call) : NULL;
    g_autoptr(Domain) domain = work ? find_domain(call) : NULL;
    if (!domain)
        return;
    const DomainData data = read_data(call, &owners);
    rest_finish(call, work, domain_change(work, call->args[0], &data, &error), &error);
}

static void delete_domain(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    if (!work)
        return;
    rest_finish(call, work, domain_drop(work, call->args[0], true, &error), &error);
}

/* ---- owners of a domain ---- */

static void get_owners(Call *call)
{
    Paging paging;
    GError *error = NULL;
    g_autoptr(Domain) domain = form_paging(call, &paging) ? find_domain(call) : NULL;
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
    g_autoptr(Domain) domain = work ? find_domain(call) : NULL;
    if (domain)
        rest_finish(call, work, domain_make_owners(work, call->args[0], (const char *const *)owners, &error), &error);
}

static void delete_owners(Call *call)
{
    GError *error = NULL;
    const DomainData none = {.owners = (const char *const[]){NULL}};
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(Domain) domain = work ? find_domain(call) : NULL;
    if (domain)
        rest_finish(call, work, domain_change(work, call->args[0], &none, &error), &error);
}

/* ---- lists ---- */

static json_t *list_json(const Call *call, Store *store, const List *list, GError **error)
{
    int64_t members = 0;
    g_auto(Digest) digest = {0};
    g_autofree char *id = segment(list->list_id);
    if (!member_count(store, list->list_id, ROLE_MEMBER, &members, error) ||
        !digest_read(store, list->list_id, &digest, error))
        return NULL;
    return json_pack("{sb so so so so so so sI sI so}", "advertised", list->settings->advertised, "description",
                     json_words(list->settings->description), "display_name", json_words(list->settings->display_name),
                     "fqdn_listname", json_words(list->posting_address), "list_id", json_words(list->list_id),
                     "list_name", json_words(list->list_name), "mail_host", json_words(list->mail_host), "member_count",
                     (json_int_t)members, "volume", (json_int_t)digest.volume, "self_link",
                     json_link(call, "lists/%s", id));
}

/* The place in the lists that fit that the answer has reached. */
typedef struct RestListWalk {
    ListCriteria criteria; /* its domain is the walk's own */
    int64_t skip;
    char *after; /* NULL: at the first */
} RestListWalk;

static void walk_free(void *data)
{
    RestListWalk *walk = data;
    g_free((char *)walk->criteria.domain);
    g_free(walk->after);
    g_free(walk);
}

static bool walk_read(const Call *call, void *data, unsigned most, json_t *entries, GError **error)
{
    RestListWalk *walk = data;
    g_autoptr(GPtrArray) lists = list_page(call->store, &walk->criteria, walk->after, walk->skip, most, error);
    if (!lists)
        return false;
    for (guint i = 0; i < lists->len; i++) {
        json_t *object = list_json(call, call->store, lists->pdata[i], error);
        if (!object)
            return false;
        json_array_append_new(entries, object);
    }
    if (lists->len > 0) {
        g_free(walk->after);
        walk->after = g_strdup(((const List *)lists->pdata[lists->len - 1])->list_id);
    }
    return true;
}

/* Answer with the lists of all domains, or of the domain of the path: those that the parameters ask for. */
static void get_lists(Call *call)
{
    static const LongCollection kind = {500, walk_read, walk_free};
    Paging paging;
    GError *error = NULL;
    int64_t total;
    const bool of_domain = call->route->of == OF_DOMAIN;
    g_autoptr(Domain) domain = of_domain ? find_domain(call) : NULL;
    if (of_domain && !domain)
        return;
    ListCriteria criteria = {.domain = domain ? domain->mail_host : NULL};
    if (!form_expect(call, "", "advertised count page") || !form_paging(call, &paging) ||
        !form_bool(call, "advertised", &criteria.advertised))
        return;
    if (!list_total(call->store, &criteria, &total, &error)) {
        rest_fail(call, error);
        return;
    }
    RestListWalk *walk = g_new(RestListWalk, 1);
    *walk = (RestListWalk){criteria, paging.start, NULL};
    walk->criteria.domain = g_strdup(criteria.domain);
    answer_long(call, &kind, walk, total, &paging);
}

static void get_list(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list = rest_list(call);
    answer_found(call, list ? list_json(call, call->store, list, &error) : NULL, &error);
}

/* ---- making and removing a list ---- */

static void post_list(Call *call)
{
    GError *error = NULL;
    if (!form_expect(call, "fqdn_listname", "style_name"))
        return;
    NewList new = {.address = form_text(call, "fqdn_listname"), .style = form_text(call, "style_name")};
    const char *at = strrchr(new.address, '@');
    g_autoptr(Work) work = rest_begin(call);
    g_autoptr(List) list = work ? list_make(work, &new, &error) : NULL;
    if (list) {
        g_autofree char *id = segment(list->list_id);
        if (rest_commit(call, work))
            answer_created(call, "lists/%s", id);
        return;
    }
    rest_refuse(call, &error, FAIL_EXISTS, 400, "Mailing list exists");
    rest_refuse(call, &error, FAIL_MISSING, 400, "Domain does not exist: %s", at ? at + 1 : new.address);
    if (error)
        rest_refuse(call, &error, FAIL_NEVER, 400, "Invalid list posting address: %s (%s)", new.address,
                    error->message);
    rest_fail(call, error);
}

static void delete_list(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list = form_expect(call, "", "") ? rest_list(call) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    rest_finish(call, work, work && list_drop(work, list->list_id, &error), &error);
}

/* ---- styles ---- */

static int by_mailman_name(const void *one, const void *other)
{
    return strcmp(((const Style *)one)->mailman_name, ((const Style *)other)->mailman_name);
}

static void get_styles(Call *call)
{
    g_autofree Style *all = style_all(call->rest->config);
    size_t count = 0;
    while (all[count].name)
        count++;
    qsort(all, count, sizeof *all, by_mailman_name);
    json_t *names = json_array(), *styles = json_array();
    for (const Style *style = all; style->name; style++) {
        json_array_append_new(names, json_words(style->mailman_name));
        json_array_append_new(styles, json_pack("{ss so}", "name", style->mailman_name, "description",
                                                json_words(style->mailman_about)));
    }
    answer_json(call, 200, json_pack("{ss so so}", "default", STYLE_DEFAULT, "style_names", names, "styles", styles));
}

/* ---- finding lists ---- */

static void find_lists(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    char id[STORE_ID_SIZE];
    if (!page_begin(call, "subscriber", "role", &page) || !criteria_role(call, &criteria))
        return;
    if (form_is_empty(call, "subscriber")) {
        form_refuse(call, "subscriber", "nobody is named");
        return;
    }
    criteria_subscriber(call, &criteria, id);
    g_auto(GStrv) list_ids = member_lists(call->store, &criteria, &error);
    for (char **list_id = list_ids; list_id && *list_id && !error; list_id++) {
        g_autoptr(List) list = page_takes(&page) ? list_by_id(call->store, *list_id, &error) : NULL;
        if (list)
            page_add(&page, list_json(call, call->store, list, &error));
    }
    if (list_ids && !*list_ids)
        answer_refusal(call, 404, "There is no such list");
    answer_page(call, NULL, &page, &error);
}

const RestField rest_list_fields[] = {
    {"advertised", MAY_LIST, MAY_NOBODY},
    {"description", MAY_LIST, MAY_NOBODY},
    {"display_name", MAY_LIST, MAY_NOBODY},
    {"fqdn_listname", MAY_LIST, MAY_DOMAIN},
    {"style_name", MAY_NOBODY, MAY_DOMAIN},
    {"list_id", MAY_LIST, MAY_NOBODY},
    {"list_name", MAY_LIST, MAY_NOBODY},
    {"mail_host", MAY_LIST, MAY_NOBODY},
    {"member_count", MAY_LIST, MAY_NOBODY},
    {"volume", MAY_LIST, MAY_NOBODY},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {"subscriber", MAY_SITE, MAY_SITE},
    {"role", MAY_SITE, MAY_SITE},
    {0},
};

/* A domain's mail goes to its lists, so that an alias takes the mail of another domain. */
static const RestField domain_fields[] = {
    {"mail_host", MAY_DOMAIN, MAY_SITE},     {"alias_domain", MAY_DOMAIN, MAY_SITE},
    {"description", MAY_DOMAIN, MAY_DOMAIN}, {"owner", MAY_NOBODY, MAY_SITE},
    {"self_link", MAY_DOMAIN, MAY_NOBODY},   {0},
};

const RestRoute rest_domains[] = {
    {"GET", "domains", OF_SITE, MAY_SITE, domain_fields, get_domains, NULL},
    {"POST", "domains", OF_SITE, MAY_SITE, domain_fields, post_domain, NULL},
    {"GET", "domains/{mail_host}", OF_DOMAIN, MAY_DOMAIN, domain_fields, get_domain, NULL},
    {"PATCH", "domains/{mail_host}", OF_DOMAIN, MAY_DOMAIN, domain_fields, change_domain, NULL},
    {"PUT", "domains/{mail_host}", OF_DOMAIN, MAY_SITE, domain_fields, change_domain, NULL},
    {"DELETE", "domains/{mail_host}", OF_DOMAIN, MAY_SITE, domain_fields, delete_domain, NULL},
    {"GET", "domains/{mail_host}/lists", OF_DOMAIN, MAY_DOMAIN, rest_list_fields, get_lists, NULL},
    {"GET", "domains/{mail_host}/owners", OF_DOMAIN, MAY_DOMAIN, rest_user_fields, get_owners, NULL},
    {"POST", "domains/{mail_host}/owners", OF_DOMAIN, MAY_SITE, domain_fields, post_owners, NULL},
    {"DELETE", "domains/{mail_host}/owners", OF_DOMAIN, MAY_SITE, domain_fields, delete_owners, NULL},
    {0},
};

static const RestField style_fields[] = {
    {"default", MAY_SITE, MAY_NOBODY},
    {"style_names", MAY_SITE, MAY_NOBODY},
    {"styles", MAY_SITE, MAY_NOBODY},
    {0},
};

const RestRoute rest_lists[] = {
    {"GET", "lists", OF_SITE, MAY_SITE, rest_list_fields, get_lists, NULL},
    {"POST", "lists", OF_NEW_LIST, MAY_DOMAIN, rest_list_fields, post_list, NULL},
    {"GET", "lists/styles", OF_HOST, MAY_SITE, style_fields, get_styles, NULL},
    {"GET", "lists/find", OF_SITE, MAY_SITE, rest_list_fields, find_lists, NULL},
    {"POST", "lists/find", OF_SITE, MAY_SITE, rest_list_fields, find_lists, NULL},
    {"GET", "lists/{list}", OF_LIST, MAY_LIST, rest_list_fields, get_list, NULL},
    {"DELETE", "lists/{list}", OF_LIST, MAY_LIST, rest_list_fields, delete_list, NULL},
    {0},
};

/* ---- archivers ---- */

/* Return the archivers that are configured and enabled, in order. */
static GPtrArray *archivers_known(const Call *call)
{
    GPtrArray *names = g_ptr_array_new();
    const Config *config = call->rest->config;
    for (const char *const *name = config_family(config, "archiver"); *name; name++) {
        g_autofree char *section = g_strconcat("archiver.", *name, NULL);
        if (config_bool(config, section, "enabled"))
            g_ptr_array_add(names, (char *)*name);
    }
    return names;
}

static bool is_on(const List *list, const char *name)
{
    return !list->settings->archivers || !*list->settings->archivers ||
           g_strv_contains((const char *const *)list->settings->archivers, name);
}

static void get_archivers(Call *call)
{
    g_autoptr(List) list = rest_list(call);
    if (!list)
        return;
    g_autoptr(GPtrArray) names = archivers_known(call);
    json_t *object = json_object();
    for (guint i = 0; i < names->len; i++)
        json_object_set_new(object, names->pdata[i], json_boolean(is_on(list, names->pdata[i])));
    answer_json(call, 200, object);
}

/* Turns on and off those that the form names. Archivers that are disabled or not configured stay as they are, and a
 * form that changes nothing leaves the setting alone, so that an empty one goes on to cover archivers of the future. */
static void change_archivers(Call *call)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) names = archivers_known(call);
    g_autoptr(GString) allowed = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(allowed, "%s%s", i ? " " : "", (const char *)names->pdata[i]);
    g_autoptr(Work) work = form_expect_change(call, allowed->str) ? rest_begin(call) : NULL;
    g_autoptr(List) list = work ? rest_list(call) : NULL;
    if (!list)
        return;
    /* The setting, written out: with the setting empty, all that are configured; without "none". */
    g_autoptr(GPtrArray) on = g_ptr_array_new_with_free_func(g_free);
    bool all = !list->settings->archivers || !*list->settings->archivers, changed = false;
    const char *const *each = all ? config_family(call->rest->config, "archiver")
                                  : (const char *const *)list->settings->archivers;
    for (; *each; each++)
        if (strcmp(*each, ARCHIVERS_NONE) != 0)
            g_ptr_array_add(on, g_strdup(*each));
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        bool before = is_on(list, name), wanted = before;
        guint at;
        if (!form_bool(call, name, &wanted))
            return;
        changed |= wanted != before;
        if (wanted && !before)
            g_ptr_array_add(on, g_strdup(name));
        else if (!wanted && g_ptr_array_find_with_equal_func(on, name, g_str_equal, &at))
            g_ptr_array_remove_index(on, at);
    }
    if (!changed) {
        answer_empty(call, 204);
        return;
    }
    if (on->len == 0)
        g_ptr_array_add(on, g_strdup(ARCHIVERS_NONE));
    g_ptr_array_add(on, NULL);
    g_autofree char *value = g_strjoinv(",", (char **)on->pdata);
    rest_finish(call, work, change_setting(work, list, "archivers", value, &error), &error);
}

/* Names of archivers. */
static const RestField archiver_fields[] = {
    {"*", MAY_LIST, MAY_LIST},
    {0},
};

const RestRoute rest_archivers[] = {
    {"GET", "lists/{list}/archivers", OF_LIST, MAY_LIST, archiver_fields, get_archivers, NULL},
    {"PATCH", "lists/{list}/archivers", OF_LIST, MAY_LIST, archiver_fields, change_archivers, NULL},
    {"PUT", "lists/{list}/archivers", OF_LIST, MAY_LIST, archiver_fields, change_archivers, NULL},
    {0},
};

/* ---- digests ---- */

static void get_digest(Call *call)
{
    g_auto(Digest) digest = {0};
    GError *error = NULL;
    g_autoptr(List) list = rest_list(call);
    bool read = list && digest_read(call->store, list->list_id, &digest, &error);
    answer_found(call, read ? json_pack("{sI sI}", "next_digest_number", (json_int_t)digest.next_number, "volume",
                                        (json_int_t)digest.volume)
                            : NULL, &error);
}

/* Send a digest, begin a volume; periodic sends only when the list sends digests by the clock. */
static void post_digest(Call *call)
{
    GError *error = NULL;
    bool asked = call->form.names->len > 0, send = false, bump = false, periodic = false;
    int64_t waiting;
    g_auto(Digest) digest = {0};
    g_autoptr(List) list = form_expect(call, "", "send bump periodic") ? rest_list(call) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    if (!work || !form_bool(call, "send", &send) || !form_bool(call, "bump", &bump) ||
        !form_bool(call, "periodic", &periodic))
        return;
    if (send && periodic) {
        answer_refusal(call, 400, "send and periodic exclude each other");
        return;
    }
    send = send || (periodic && list->settings->digest_send_periodic);
    if ((bump && !digest_send_bump(work, list, &digest, &error)) ||
        (send && !digest_send_ask(work, list, &waiting, &error)))
        rest_fail(call, error);
    else if (rest_commit(call, work))
        answer_empty(call, asked ? 202 : 200);
}

static const RestField digest_fields[] = {
    {"next_digest_number", MAY_LIST, MAY_NOBODY},
    {"volume", MAY_LIST, MAY_NOBODY},
    {"send", MAY_NOBODY, MAY_LIST},
    {"bump", MAY_NOBODY, MAY_LIST},
    {"periodic", MAY_NOBODY, MAY_LIST},
    {0},
};

const RestRoute rest_digests[] = {
    {"GET", "lists/{list}/digest", OF_LIST, MAY_LIST, digest_fields, get_digest, NULL},
    {"POST", "lists/{list}/digest", OF_LIST, MAY_LIST, digest_fields, post_digest, NULL},
    {0},
};
