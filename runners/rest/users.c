/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /users and /owners: people. */
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "runners/rest/resources.h"
#include "store/password.h"

json_t *user_json(const Call *call, const User *user)
{
    g_autofree char *id = id_text(call, user->id);
    json_t *object = json_pack("{so sb so}", "created_on", json_time(user->created_at), "is_server_owner",
                               user->server_owner, "self_link", json_link(call, "users/%s", id));
    json_object_set_new(object, "user_id",
                        call->old ? json_loads(id, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL) : json_string(id));
    if (user->password)
        json_object_set_new(object, "password", json_words(user->password));
    if (user->display_name && *user->display_name)
        json_object_set_new(object, "display_name", json_words(user->display_name));
    return object;
}

/* The user of the first argument, by id or by address; NULL: 404 was answered. */
static User *find(Call *call, Store *store)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    const char *who = call->args[0];
    bool is_id = !strchr(who, '@') && id_parse(call, who, id);
    User *user = user_find(store, is_id ? id : who, &error);
    if (user)
        return user;
    if (g_error_matches(error, FAIL, FAIL_NEVER))
        error->code = FAIL_MISSING;
    rest_fail(call, error);
    return NULL;
}

/* ---- collections ---- */

void answer_users(Call *call, const UserCriteria *wanted)
{
    Paging paging;
    GError *error = NULL;
    int64_t total;
    UserCriteria criteria = *wanted;
    Store *store = form_paging(call, &paging) ? rest_store(call) : NULL;
    if (!store)
        return;
    criteria.skip = paging.start;
    g_autoptr(GPtrArray) users = user_count(store, &criteria, &total, &error)
                                     ? user_page(store, &criteria, NULL, MIN(paging.count, G_MAXINT), &error)
                                     : NULL;
    if (!users) {
        rest_fail(call, error);
        return;
    }
    json_t *entries = json_array();
    for (guint i = 0; i < users->len; i++)
        json_array_append_new(entries, user_json(call, users->pdata[i]));
    answer_collection(call, entries, total, paging.start);
}

static void get_all(Call *call)
{
    if (form_expect(call, "", "count page"))
        answer_users(call, &(UserCriteria){0});
}

static void find_all(Call *call)
{
    if (form_expect(call, "q", "count page"))
        answer_users(call, &(UserCriteria){.text = form_text(call, "q")});
}

static void get_owners(Call *call)
{
    if (form_expect(call, "", "count page"))
        answer_users(call, &(UserCriteria){.server_owners = true});
}

/* ---- making ---- */

static bool create(Call *call, Store *store, char id[STORE_ID_SIZE], GError **error)
{
    const char *password = form_text(call, "password");
    bool owner = false;
    if (!user_create(store, form_text(call, "email"), form_text(call, "display_name"), id, error))
        return false;
    if (password && *password) {
        g_autofree char *hash = password_hash(password, error);
        if (!hash || !user_set_password(store, id, hash, error))
            return false;
    }
    return form_bool(call, "is_server_owner", &owner) && (!owner || user_set_server_owner(store, id, true, error));
}

static void post(Call *call)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    if (!form_expect(call, "email", "display_name password is_server_owner"))
        return;
    const char *email = form_text(call, "email");
    g_autoptr(Work) work = rest_begin(call);
    if (!work)
        return;
    if (create(call, work_store(work), id, &error)) {
        g_autofree char *shown = id_text(call, id);
        if (rest_commit(call, work))
            answer_created(call, "users/%s", shown);
        return;
    }
    work_cancel(work);
    if (g_error_matches(error, FAIL, FAIL_EXISTS)) {
        answer_refusal(call, 400, "User already exists: %s", email);
        g_error_free(error);
    } else if (g_error_matches(error, FAIL, FAIL_NEVER)) {
        answer_refusal(call, 400, "Invalid email address: %s", email);
        g_error_free(error);
    } else if (error) {
        rest_fail(call, error);
    }
}

/* ---- one ---- */

static void get_one(Call *call)
{
    Store *store = rest_store(call);
    g_autoptr(User) user = store ? find(call, store) : NULL;
    if (user)
        answer_json(call, 200, user_json(call, user));
}

typedef bool UserChange(Call *call, Work *work, const User *user, GError **error);

/* Runs one change of the user that the path names, and commits. False: it was answered. */
static bool run(Call *call, UserChange *function)
{
    GError *error = NULL;
    g_autoptr(Work) work = rest_begin(call);
    if (!work)
        return false;
    g_autoptr(User) user = find(call, work_store(work));
    if (user && function(call, work, user, &error))
        return rest_commit(call, work);
    work_cancel(work);
    if (error)
        rest_fail(call, error);
    return false;
}

static bool set_password(Store *store, const User *user, const char *password, GError **error)
{
    g_autofree char *hash = password_hash(password, error);
    return hash && user_set_password(store, user->id, hash, error);
}

static bool change(Call *call, Work *work, const User *user, GError **error)
{
    Store *store = work_store(work);
    bool owner = user->server_owner;
    const char *password = form_text(call, "cleartext_password");
    return form_bool(call, "is_server_owner", &owner) &&
           (!form_has(call, "display_name") ||
            user_set_name(store, user->id, form_text(call, "display_name"), error)) &&
           (!password || set_password(store, user, password, error)) &&
           (owner == user->server_owner || user_set_server_owner(store, user->id, owner, error));
}

static void patch(Call *call)
{
    if (form_expect(call, "", "display_name cleartext_password is_server_owner") && run(call, change))
        answer_empty(call, 204);
}

static void put(Call *call)
{
    if (form_expect(call, "cleartext_password display_name is_server_owner", "") && run(call, change))
        answer_empty(call, 204);
}

static bool drop(Call *call, Work *work, const User *user, GError **error)
{
    work_log(work, "-", "user=%s result=removed", user->id);
    return user_remove(work_store(work), user->id, error);
}

static void delete(Call *call)
{
    if (run(call, drop))
        answer_empty(call, 204);
}

static void login(Call *call)
{
    Store *store = form_expect(call, "cleartext_password", "") ? rest_store(call) : NULL;
    g_autoptr(User) user = store ? find(call, store) : NULL;
    if (!user)
        return;
    if (user->password && password_matches(user->password, form_text(call, "cleartext_password")))
        answer_empty(call, 204);
    else
        answer_refusal(call, 403, "The password is wrong");
}

/* ---- addresses of one ---- */

static int by_email(gconstpointer one, gconstpointer other)
{
    const KnownAddress *const *left = one, *const *right = other;
    return strcmp((*left)->email, (*right)->email);
}

static void get_addresses(Call *call)
{
    Paging paging;
    GError *error = NULL;
    Store *store = form_expect(call, "", "count page") && form_paging(call, &paging) ? rest_store(call) : NULL;
    g_autoptr(User) user = store ? find(call, store) : NULL;
    if (!user)
        return;
    g_autoptr(GPtrArray) all = address_page(store, user->id, NULL, 0, G_MAXINT, &error);
    if (!all) {
        rest_fail(call, error);
        return;
    }
    g_ptr_array_sort(all, by_email);
    json_t *entries = json_array();
    for (int64_t at = paging.start; at < all->len && at - paging.start < paging.count; at++)
        json_array_append_new(entries, address_json(call, all->pdata[at]));
    answer_collection(call, entries, all->len, paging.start);
}

/* With absorb, who has the address is merged into this user. */
static bool link_address(Call *call, Work *work, const User *user, GError **error)
{
    Store *store = work_store(work);
    const char *email = form_text(call, "email"), *name = form_text(call, "display_name");
    bool absorb = false;
    if (!form_bool(call, "absorb_existing", &absorb))
        return false;
    g_autoptr(KnownAddress) known = address_find(store, email, NULL);
    if (known && strcmp(known->user_id, user->id) == 0) {
        answer_refusal(call, 400, "Address already exists");
        return false;
    }
    if (known && *known->user_id && !absorb) {
        answer_refusal(call, 400, "Address belongs to other user");
        return false;
    }
    bool linked = known && *known->user_id ? user_merge(store, user->id, known->user_id, error)
                                           : user_link_address(store, user->id, email, error);
    return linked && (!name || *name == 0 || address_set_name(store, email, name, error));
}

static void post_address(Call *call)
{
    if (!form_expect(call, "email", "display_name absorb_existing"))
        return;
    g_autofree char *lower = g_utf8_strdown(form_text(call, "email"), -1), *name = segment(lower);
    if (!mailbox_valid(form_text(call, "email"))) {
        answer_refusal(call, 400, "Invalid email address: %s", form_text(call, "email"));
        return;
    }
    if (run(call, link_address))
        answer_created(call, "addresses/%s", name);
}

static void get_preferred(Call *call)
{
    GError *error = NULL;
    Store *store = rest_store(call);
    g_autoptr(User) user = store ? find(call, store) : NULL;
    if (!user)
        return;
    if (!user->preferred) {
        answer_refusal(call, 404, "The user has no preferred address");
        return;
    }
    g_autoptr(KnownAddress) address = address_find(store, user->preferred, &error);
    if (address)
        answer_json(call, 200, address_json(call, address));
    else
        rest_fail(call, error);
}

static bool prefer(Call *call, Work *work, const User *user, GError **error)
{
    Store *store = work_store(work);
    const char *email = form_text(call, "email");
    g_autoptr(KnownAddress) known = address_find(store, email, NULL);
    if (known && *known->user_id && strcmp(known->user_id, user->id) != 0) {
        answer_refusal(call, 400, "Address belongs to other user");
        return false;
    }
    if ((!known || !*known->user_id) && !user_link_address(store, user->id, email, error))
        return false;
    if (!known || known->verified_at == 0) {
        answer_refusal(call, 400, "Unverified address: %s", email);
        return false;
    }
    return user_set_preferred(store, email, error);
}

static void post_preferred(Call *call)
{
    if (!form_expect(call, "email", "") || !run(call, prefer))
        return;
    g_autofree char *who = segment(call->args[0]);
    answer_created(call, "users/%s/preferred_address", who);
}

static bool prefer_none(Call *call, Work *work, const User *user, GError **error)
{
    return user_clear_preferred(work_store(work), user->id, error);
}

static void delete_preferred(Call *call)
{
    if (run(call, prefer_none))
        answer_empty(call, 204);
}

const RestRoute rest_users[] = {
    {"GET", "users", get_all, NULL},
    {"POST", "users", post, NULL},
    {"GET", "users/find", find_all, NULL},
    {"POST", "users/find", find_all, NULL},
    {"GET", "users/{user}", get_one, NULL},
    {"PATCH", "users/{user}", patch, NULL},
    {"PUT", "users/{user}", put, NULL},
    {"DELETE", "users/{user}", delete, NULL},
    {"POST", "users/{user}/login", login, NULL},
    {"GET", "users/{user}/addresses", get_addresses, NULL},
    {"POST", "users/{user}/addresses", post_address, NULL},
    {"GET", "users/{user}/preferred_address", get_preferred, NULL},
    {"POST", "users/{user}/preferred_address", post_preferred, NULL},
    {"DELETE", "users/{user}/preferred_address", delete_preferred, NULL},
    {"GET", "owners", get_owners, NULL},
    {NULL, NULL, NULL, NULL},
};
