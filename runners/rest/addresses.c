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

/* Where the answer is in all addresses. */
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
    if (form_expect(call, "", "") && run(call, drop))
        answer_empty(call, 204);
}

static bool verify(Call *call, Work *work, const KnownAddress *address, GError **error)
{
    return people_verify(work, address->email, true, error);
}

static void post_verify(Call *call)
{
    if (form_expect(call, "", "") && run(call, verify))
        answer_empty(call, 204);
}

static bool unverify(Call *call, Work *work, const KnownAddress *address, GError **error)
{
    return people_verify(work, address->email, false, error);
}

static void post_unverify(Call *call)
{
    if (form_expect(call, "", "") && run(call, unverify))
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
    if (who && g_error_matches(*error, FAIL, FAIL_MISSING)) {
        g_clear_error(error);
        answer_refusal(call, 400, "No user with ID %s", who);
    }
    return false;
}

/* only_free: not where it belongs to a user already. */
static void give(Call *call, bool only_free)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    g_autoptr(Work) work = form_expect(call, "", "user_id display_name auto_create password") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find(call, work_store(work)) : NULL;
    if (!address)
        return;
    if (only_free && *address->user_id) {
        answer_refusal(call, 409, "The address belongs to a user already");
        return;
    }
    if (!assign(call, work, address, id, &error)) {
        if (error)
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

static void post_user(Call *call)
{
    give(call, true);
}

static void put_user(Call *call)
{
    give(call, false);
}

static bool unlink_user(Call *call, Work *work, const KnownAddress *address, GError **error)
{
    return people_unlink(work, address->email, error);
}

static void delete_user(Call *call)
{
    if (form_expect(call, "", "") && run(call, unlink_user))
        answer_empty(call, 204);
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
    {"POST", "addresses/{address}/verify", OF_SITE, MAY_SITE, rest_address_fields, post_verify, NULL},
    {"POST", "addresses/{address}/unverify", OF_SITE, MAY_SITE, rest_address_fields, post_unverify, NULL},
    {"GET", "addresses/{address}/memberships", OF_SITE, MAY_SITE, rest_member_fields, get_memberships, NULL},
    {"GET", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, get_user, NULL},
    {"POST", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, post_user, NULL},
    {"PUT", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, put_user, NULL},
    {"DELETE", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, delete_user, NULL},
    {0},
};
