/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /addresses, and the user behind one. */
#include <string.h>

#include "base/fail.h"
#include "lists/people/people.h"
#include "runners/rest/resources.h"

json_t *address_json(const Call *call, const KnownAddress *address)
{
    g_autofree char *name = segment(address->email);
    json_t *object = json_pack("{so so so so}", "email", json_words(address->email), "original_email",
                               json_words(address->original), "registered_on", json_time(address->registered_at),
                               "self_link", json_link(call, "addresses/%s", name));
    if (address->display_name && *address->display_name)
        json_object_set_new(object, "display_name", json_words(address->display_name));
    if (address->verified_at > 0)
        json_object_set_new(object, "verified_on", json_time(address->verified_at));
    if (*address->user_id) {
        g_autofree char *id = id_text(call, address->user_id);
        json_object_set_new(object, "user", json_link(call, "users/%s", id));
    }
    return object;
}

KnownAddress *find_address(Call *call)
{
    GError *error = NULL;
    Store *store = rest_store(call);
    KnownAddress *address = store ? address_find(store, call->args[0], &error) : NULL;
    if (!address)
        rest_unknown(call, error);
    return address;
}

/* The place in all addresses that the answer has reached. */
typedef struct AddressWalk {
    int64_t skip;
    char *after; /* NULL: at the first */
} AddressWalk;

static void walk_free(void *data)
{
    AddressWalk *walk = data;
    g_free(walk->after);
    g_free(walk);
}

static bool walk_read(const Call *call, Store *store, void *data, unsigned most, json_t *entries, GError **error)
{
    AddressWalk *walk = data;
    g_autoptr(GPtrArray) addresses = address_page(store, NULL, walk->after, walk->skip, most, error);
    if (!addresses)
        return false;
    for (guint i = 0; i < addresses->len; i++)
        json_array_append_new(entries, address_json(call, addresses->pdata[i]));
    if (addresses->len > 0) {
        g_free(walk->after);
        walk->after = g_strdup(((const KnownAddress *)addresses->pdata[addresses->len - 1])->email);
    }
    return true;
}

static void get_all(Call *call)
{
    static const LongCollection kind = {500, walk_read, walk_free};
    Paging paging;
    GError *error = NULL;
    int64_t total;
    Store *store = form_expect(call, "", "count page") && form_paging(call, &paging) ? rest_store(call) : NULL;
    if (!store)
        return;
    if (!address_count(store, &total, &error)) {
        rest_fail(call, error);
        return;
    }
    AddressWalk *walk = g_new(AddressWalk, 1);
    *walk = (AddressWalk){paging.start, NULL};
    answer_long(call, &kind, walk, total, &paging);
}

static void get_one(Call *call)
{
    g_autoptr(KnownAddress) address = find_address(call);
    if (address)
        answer_json(call, 200, address_json(call, address));
}

static void patch(Call *call)
{
    GError *error = NULL;
    const char *name = form_text(call, "display_name");
    g_autoptr(Work) work = form_expect(call, "", "display_name") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find_address(call) : NULL;
    bool done = address && (!name || people_name_address(work, address->email, name, &error));
    rest_finish(call, work, done, &error);
}

static void delete(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find_address(call) : NULL;
    rest_finish(call, work, address && people_remove_address(work, address->email, &error), &error);
}

/* Note that the address is the person's, or that this is open. */
static void post_verified(Call *call)
{
    GError *error = NULL;
    bool verified = g_str_has_suffix(call->route->path, "/verify");
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find_address(call) : NULL;
    rest_finish(call, work, address && people_verify(work, address->email, verified, &error), &error);
}

static void get_memberships(Call *call)
{
    g_autoptr(KnownAddress) address = form_expect(call, "", "count page fields") ? find_address(call) : NULL;
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    if (!address)
        return;
    criteria.address = address->email;
    criteria.by_address = true;
    answer_members(call, &criteria);
}

/* ---- the user behind it ---- */

static void get_user(Call *call)
{
    GError *error = NULL;
    g_autoptr(KnownAddress) address = find_address(call);
    if (!address)
        return;
    if (!*address->user_id) {
        answer_refusal(call, 404, "The address belongs to no user");
        return;
    }
    g_autoptr(User) user = user_find(call->rest->store, address->user_id, &error);
    answer_found(call, user ? user_json(call, user) : NULL, &error);
}

/* Gives the address to the user of user_id, or else to a new one; id is that user's. */
static bool assign(Call *call, Work *work, const KnownAddress *address, char id[STORE_ID_SIZE], GError **error)
{
    char wanted[STORE_ID_SIZE];
    bool create = true;
    const char *who = form_text(call, "user_id"), *name = form_text(call, "display_name");
    if (!form_bool(call, "auto_create", &create))
        return false;
    if (who && !id_parse(call, who, wanted))
        return form_refuse(call, "user_id", "\"%s\" is no id of a user", who);
    if (!who && !create) {
        answer_refusal(call, 403, "The address belongs to no user, and none is to be made");
        return false;
    }
    if (people_assign(work, address->email, who ? wanted : NULL, name, id, error))
        return true;
    if (who)
        rest_refuse(call, error, FAIL_MISSING, 400, "No user with ID %s", who);
    return false;
}

/* With POST, only an address that belongs to no user yet. */
static void give(Call *call)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    g_autoptr(Work) work = form_expect(call, "", "user_id display_name auto_create password") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find_address(call) : NULL;
    if (!address)
        return;
    if (!call_puts(call) && *address->user_id) {
        answer_refusal(call, 409, "The address belongs to a user already");
        return;
    }
    if (!assign(call, work, address, id, &error)) {
        rest_fail(call, error);
        return;
    }
    g_autofree char *shown = id_text(call, id);
    if (!rest_commit(call, work))
        return;
    if (form_has(call, "user_id"))
        answer_empty(call, 200);
    else
        answer_created(call, "users/%s", shown);
}

static void delete_user(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find_address(call) : NULL;
    rest_finish(call, work, address && people_unlink(work, address->email, &error), &error);
}

const RestField rest_address_fields[] = {
    {"email", MAY_SITE, MAY_SITE},
    {"original_email", MAY_SITE, MAY_NOBODY},
    {"registered_on", MAY_SITE, MAY_NOBODY},
    {"self_link", MAY_SITE, MAY_NOBODY},
    {"user", MAY_SITE, MAY_NOBODY},
    {"display_name", MAY_SITE, MAY_SITE},
    {"verified_on", MAY_SITE, MAY_VERIFY},
    {"absorb_existing", MAY_NOBODY, MAY_SITE},
    {0},
};

const RestRoute rest_addresses[] = {
    {"GET", "addresses", OF_SITE, MAY_SITE, rest_address_fields, get_all, NULL},
    {"GET", "addresses/{address}", OF_SITE, MAY_SITE, rest_address_fields, get_one, NULL},
    {"PATCH", "addresses/{address}", OF_SITE, MAY_SITE, rest_address_fields, patch, NULL},
    {"DELETE", "addresses/{address}", OF_SITE, MAY_SITE, rest_address_fields, delete, NULL},
    {"POST", "addresses/{address}/verify", OF_SITE, MAY_SITE, rest_address_fields, post_verified, NULL},
    {"POST", "addresses/{address}/unverify", OF_SITE, MAY_SITE, rest_address_fields, post_verified, NULL},
    {"GET", "addresses/{address}/memberships", OF_SITE, MAY_SITE, rest_member_fields, get_memberships, NULL},
    {"GET", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, get_user, NULL},
    {"POST", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, give, NULL},
    {"PUT", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, give, NULL},
    {"DELETE", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, delete_user, NULL},
    {0},
};
