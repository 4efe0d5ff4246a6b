/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /addresses, and the user behind one. */
#include <string.h>

#include "base/fail.h"
#include "lists/people.h"
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

/* The address of the first argument; NULL: 404 was answered. */
static KnownAddress *find(Call *call, Store *store)
{
    GError *error = NULL;
    KnownAddress *address = address_find(store, call->args[0], &error);
    if (address)
        return address;
    if (g_error_matches(error, FAIL, FAIL_NEVER))
        error->code = FAIL_MISSING;
    rest_fail(call, error);
    return NULL;
}

static void get_all(Call *call)
{
    Paging paging;
    GError *error = NULL;
    int64_t total;
    Store *store = form_expect(call, "", "count page") && form_paging(call, &paging) ? rest_store(call) : NULL;
    if (!store)
        return;
    g_autoptr(GPtrArray) all = address_count(store, &total, &error)
                                   ? address_page(store, NULL, NULL, paging.start, paging.count, &error)
                                   : NULL;
    if (!all) {
        rest_fail(call, error);
        return;
    }
    json_t *entries = json_array();
    for (guint i = 0; i < all->len; i++)
        json_array_append_new(entries, address_json(call, all->pdata[i]));
    answer_collection(call, entries, total, paging.start);
}

static void get_one(Call *call)
{
    Store *store = rest_store(call);
    g_autoptr(KnownAddress) address = store ? find(call, store) : NULL;
    if (address)
        answer_json(call, 200, address_json(call, address));
}

typedef bool AddressChange(Call *call, Work *work, const KnownAddress *address, GError **error);

/* Runs one change of the address that the path names, and commits. False: it was answered. */
static bool run(Call *call, AddressChange *function)
{
    GError *error = NULL;
    g_autoptr(Work) work = rest_begin(call);
    if (!work)
        return false;
    g_autoptr(KnownAddress) address = find(call, work_store(work));
    if (address && function(call, work, address, &error))
        return rest_commit(call, work);
    if (error)
        rest_fail(call, error);
    return false;
}

static bool rename_address(Call *call, Work *work, const KnownAddress *address, GError **error)
{
    const char *name = form_text(call, "display_name");
    return !name || people_name_address(work, address->email, name, error);
}

static void patch(Call *call)
{
    if (form_expect(call, "", "display_name") && run(call, rename_address))
        answer_empty(call, 204);
}

static bool drop(Call *call, Work *work, const KnownAddress *address, GError **error)
{
    return people_remove_address(work, address->email, error);
}

static void delete(Call *call)
{
    if (run(call, drop))
        answer_empty(call, 204);
}

static bool verify(Call *call, Work *work, const KnownAddress *address, GError **error)
{
    return people_verify(work, address->email, true, error);
}

static void post_verify(Call *call)
{
    if (run(call, verify))
        answer_empty(call, 204);
}

static bool unverify(Call *call, Work *work, const KnownAddress *address, GError **error)
{
    return people_verify(work, address->email, false, error);
}

static void post_unverify(Call *call)
{
    if (run(call, unverify))
        answer_empty(call, 204);
}

static void get_memberships(Call *call)
{
    Store *store = form_expect(call, "", "count page fields") ? rest_store(call) : NULL;
    g_autoptr(KnownAddress) address = store ? find(call, store) : NULL;
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
    Store *store = rest_store(call);
    g_autoptr(KnownAddress) address = store ? find(call, store) : NULL;
    if (!address)
        return;
    if (!*address->user_id) {
        answer_refusal(call, 404, "The address belongs to no user");
        return;
    }
    g_autoptr(User) user = user_find(store, address->user_id, &error);
    if (user)
        answer_json(call, 200, user_json(call, user));
    else
        rest_fail(call, error);
}

/* Gives the address to the user of user_id, or else to a new one. */
static bool assign(Call *call, Work *work, const KnownAddress *address, GError **error)
{
    char id[STORE_ID_SIZE], got[STORE_ID_SIZE];
    bool create = true;
    const char *who = form_text(call, "user_id"), *name = form_text(call, "display_name");
    if (!form_bool(call, "auto_create", &create))
        return false;
    if (who && !id_parse(call, who, id))
        return form_refuse(call, "user_id", "\"%s\" is no id of a user", who);
    if (!who && !create) {
        answer_refusal(call, 403, "The address belongs to no user, and none is to be made");
        return false;
    }
    if (people_assign(work, address->email, who ? id : NULL, name, got, error))
        return true;
    if (who && g_error_matches(*error, FAIL, FAIL_MISSING)) {
        g_clear_error(error);
        answer_refusal(call, 400, "No user with ID %s", who);
    }
    return false;
}

static bool assign_free(Call *call, Work *work, const KnownAddress *address, GError **error)
{
    if (!*address->user_id)
        return assign(call, work, address, error);
    answer_refusal(call, 409, "The address belongs to a user already");
    return false;
}

static void answer_user(Call *call)
{
    GError *error = NULL;
    g_autoptr(KnownAddress) address = address_find(call->rest->store, call->args[0], &error);
    g_autofree char *id = address ? id_text(call, address->user_id) : NULL;
    if (!address)
        rest_fail(call, error);
    else if (form_has(call, "user_id"))
        answer_empty(call, 200);
    else
        answer_created(call, "users/%s", id);
}

static void post_user(Call *call)
{
    if (form_expect(call, "", "user_id display_name auto_create password") && run(call, assign_free))
        answer_user(call);
}

static void put_user(Call *call)
{
    if (form_expect(call, "", "user_id display_name auto_create password") && run(call, assign))
        answer_user(call);
}

static bool unlink_user(Call *call, Work *work, const KnownAddress *address, GError **error)
{
    return people_unlink(work, address->email, error);
}

static void delete_user(Call *call)
{
    if (run(call, unlink_user))
        answer_empty(call, 204);
}

const RestRoute rest_addresses[] = {
    {"GET", "addresses", get_all, NULL},
    {"GET", "addresses/{address}", get_one, NULL},
    {"PATCH", "addresses/{address}", patch, NULL},
    {"DELETE", "addresses/{address}", delete, NULL},
    {"POST", "addresses/{address}/verify", post_verify, NULL},
    {"POST", "addresses/{address}/unverify", post_unverify, NULL},
    {"GET", "addresses/{address}/memberships", get_memberships, NULL},
    {"GET", "addresses/{address}/user", get_user, NULL},
    {"POST", "addresses/{address}/user", post_user, NULL},
    {"PUT", "addresses/{address}/user", put_user, NULL},
    {"DELETE", "addresses/{address}/user", delete_user, NULL},
    {NULL, NULL, NULL, NULL},
};
