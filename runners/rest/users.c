/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* People: /users and /owners, and /addresses with the user behind one. The preferences of the site, of users, addresses
 * and members: the same seven at each level. */
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/people/people.h"
#include "lists/people/person.h"
#include "runners/rest/resources.h"
#include "store/language.h"
#include "store/lists/list_setting.h"
#include "store/people/password.h"

json_t *user_json(const Call *call, const User *user)
{
    g_autofree char *id = id_text(call, user->id);
    json_t *object = json_pack("{so sb so ss}", "created_on", json_time(user->created_at), "is_server_owner",
                               user->server_owner, "self_link", json_link(call, "users/%s", id), "user_id", id);
    if (user->password)
        json_object_set_new(object, "password", json_words(user->password));
    if (user->display_name && *user->display_name)
        json_object_set_new(object, "display_name", json_words(user->display_name));
    return object;
}

/* Find the user whose id or address the path names. NULL: 404 or 503 was answered. */
static User *find_user(Call *call)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    const char *who = call->args[0];
    bool is_id = !strchr(who, '@') && id_parse(call, who, id);
    User *user = user_find(call->store, is_id ? id : who, &error);
    if (!user)
        rest_unknown(call, error);
    return user;
}

static json_t *address_json(const Call *call, const KnownAddress *address)
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

static KnownAddress *find_address(Call *call)
{
    GError *error = NULL;
    g_autoptr(Mailbox) named = mailbox_new(call->args[0]);
    KnownAddress *address = address_find(call->store, named, &error);
    if (!address)
        rest_unknown(call, error);
    return address;
}

/* ---- collections of users ---- */

/* The place in the users that fit that the answer has reached. */
typedef struct UserWalk {
    UserCriteria criteria; /* its text is the walk's own */
    char after[STORE_ID_SIZE]; /* "": at the first */
} UserWalk;

static void walk_free(void *data)
{
    UserWalk *walk = data;
    g_free((char *)walk->criteria.text);
    g_free(walk);
}

static bool walk_read(const Call *call, void *data, unsigned most, json_t *entries, GError **error)
{
    UserWalk *walk = data;
    const char *after = *walk->after ? walk->after : NULL;
    g_autoptr(GPtrArray) users = user_page(call->store, &walk->criteria, after, most, error);
    if (!users)
        return false;
    for (guint i = 0; i < users->len; i++)
        json_array_append_new(entries, user_json(call, users->pdata[i]));
    if (users->len > 0)
        g_strlcpy(walk->after, ((const User *)users->pdata[users->len - 1])->id, sizeof walk->after);
    return true;
}

/* Answer with all users; below users/find with those that fit q, at owners with those who own the server. */
static void get_users(Call *call)
{
    static const LongCollection kind = {500, walk_read, walk_free};
    Paging paging;
    GError *error = NULL;
    int64_t total;
    bool finds = g_str_has_suffix(call->route->path, "/find");
    if (!form_expect(call, finds ? "q" : "", "count page") || !form_paging(call, &paging))
        return;
    UserCriteria criteria = {.text = finds ? form_text(call, "q") : NULL,
                             .server_owners = strcmp(call->route->path, "owners") == 0};
    if (!user_count(call->store, &criteria, &total, &error)) {
        rest_fail(call, error);
        return;
    }
    UserWalk *walk = g_new(UserWalk, 1);
    *walk = (UserWalk){criteria, ""};
    walk->criteria.text = g_strdup(criteria.text);
    walk->criteria.skip = paging.start;
    answer_long(call, &kind, walk, total, &paging);
}

/* ---- making a user ---- */

/* Read the parameters that were sent. False: 400 was answered. */
static bool read_change(Call *call, const char *password, PersonChange *change_user)
{
    bool owner = false;
    *change_user = PERSON_STAYS;
    change_user->display_name = form_text(call, "display_name");
    change_user->password = form_text(call, password);
    if (!form_bool(call, "is_server_owner", &owner))
        return false;
    if (form_has(call, "is_server_owner"))
        change_user->server_owner = owner;
    return true;
}

static void post_user(Call *call)
{
    GError *error = NULL;
    PersonChange about;
    char id[STORE_ID_SIZE];
    if (!form_expect(call, "email", "display_name password is_server_owner") ||
        !read_change(call, "password", &about))
        return;
    const char *email = form_text(call, "email");
    g_autoptr(Mailbox) mailbox = mailbox_new(email);
    g_autoptr(Work) work = rest_begin(call);
    if (work && people_create(work, mailbox, &about, id, &error)) {
        g_autofree char *shown = id_text(call, id);
        if (rest_commit(call, work))
            answer_created(call, "users/%s", shown);
        return;
    }
    rest_refuse(call, &error, FAIL_EXISTS, 400, "User already exists: %s", email);
    if (!mailbox->legible)
        rest_refuse(call, &error, FAIL_NEVER, 400, "Invalid email address: %s", email);
    rest_fail(call, error);
}

/* ---- one user ---- */

static void get_user(Call *call)
{
    g_autoptr(User) user = find_user(call);
    if (user)
        answer_json(call, 200, user_json(call, user));
}

/* End a change of the user that the path names: when done is true, commit it. Else an address that is missing, or
 * another user's, is a wrong parameter here (400); *error is taken. False: it was answered. */
static bool finish(Call *call, Work *work, bool done, GError **error)
{
    if (done)
        return rest_commit(call, work);
    if (g_error_matches(*error, FAIL, FAIL_EXISTS) || g_error_matches(*error, FAIL, FAIL_MISSING))
        (*error)->code = FAIL_NEVER;
    rest_fail(call, g_steal_pointer(error));
    return false;
}

static void change_user(Call *call)
{
    GError *error = NULL;
    PersonChange wanted;
    bool fine = form_expect_change(call, "cleartext_password display_name is_server_owner");
    g_autoptr(Work) work = fine ? rest_begin(call) : NULL;
    g_autoptr(User) user = work ? find_user(call) : NULL;
    bool done = user && read_change(call, "cleartext_password", &wanted) &&
                people_change(work, user->id, &wanted, &error);
    if (finish(call, work, done, &error))
        answer_empty(call, 204);
}

static void delete_user(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(User) user = work ? find_user(call) : NULL;
    if (finish(call, work, user && people_remove(work, user->id, &error), &error))
        answer_empty(call, 204);
}

static void login(Call *call)
{
    g_autoptr(User) user = form_expect(call, "cleartext_password", "") ? find_user(call) : NULL;
    if (!user)
        return;
    if (user->password && password_matches(user->password, form_text(call, "cleartext_password")))
        answer_empty(call, 204);
    else
        answer_refusal(call, 403, "The password is wrong");
}

/* ---- addresses of a user ---- */

static int by_email(gconstpointer one, gconstpointer other)
{
    const KnownAddress *const *left = one, *const *right = other;
    return strcmp((*left)->email, (*right)->email);
}

static void get_addresses(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    g_autoptr(User) user = page_begin(call, "", "", &page) ? find_user(call) : NULL;
    g_autoptr(GPtrArray) all = user ? address_page(call->store, user->id, NULL, 0, G_MAXINT, &error) : NULL;
    if (all)
        g_ptr_array_sort(all, by_email);
    for (guint at = 0; all && at < all->len; at++)
        if (page_takes(&page))
            page_add(&page, address_json(call, all->pdata[at]));
    answer_page(call, NULL, &page, &error);
}

static void post_address(Call *call)
{
    GError *error = NULL;
    bool absorb = false;
    if (!form_expect(call, "email", "display_name absorb_existing"))
        return;
    const char *email = form_text(call, "email");
    g_autofree char *lower = g_utf8_strdown(email, -1), *name = segment(lower);
    g_autoptr(Mailbox) mailbox = mailbox_new(email);
    if (!mailbox->legible) {
        answer_refusal(call, 400, "Invalid email address: %s", email);
        return;
    }
    g_autoptr(Work) work = rest_begin(call);
    g_autoptr(User) user = work ? find_user(call) : NULL;
    bool done = user && form_bool(call, "absorb_existing", &absorb) &&
                people_link(work, user->id, mailbox, form_text(call, "display_name"), absorb, &error);
    if (finish(call, work, done, &error))
        answer_created(call, "addresses/%s", name);
}

static void get_preferred(Call *call)
{
    GError *error = NULL;
    g_autoptr(User) user = find_user(call);
    if (!user)
        return;
    if (!user->preferred) {
        answer_refusal(call, 404, "The user has no preferred address");
        return;
    }
    g_autoptr(Mailbox) preferred = mailbox_new(user->preferred);
    g_autoptr(KnownAddress) address = address_find(call->store, preferred, &error);
    answer_found(call, address ? address_json(call, address) : NULL, &error);
}

/* POST names the address that the user prefers from now on; with DELETE there is none. */
static void change_preferred(Call *call)
{
    GError *error = NULL;
    bool names = strcmp(call->route->verb, "POST") == 0;
    g_autoptr(Work) work = form_expect(call, names ? "email" : "", "") ? rest_begin(call) : NULL;
    g_autoptr(User) user = work ? find_user(call) : NULL;
    const char *email = names ? form_text(call, "email") : NULL;
    if (user && !names && !user->preferred) {
        answer_refusal(call, 404, "The user has no preferred address");
        return;
    }
    g_autoptr(Mailbox) address = mailbox_new(email);
    if (!finish(call, work, user && people_prefer(work, user->id, address, &error), &error))
        return;
    if (!names) {
        answer_empty(call, 204);
        return;
    }
    g_autofree char *lower = g_utf8_strdown(email, -1), *name = segment(lower);
    answer_created(call, "addresses/%s", name);
}

/* The holder of a domain sees the names of its owners, and no more. */
const RestField rest_user_fields[] = {
    {"created_on", MAY_SITE, MAY_NOBODY},
    {"is_server_owner", MAY_SITE, MAY_SITE},
    {"password", MAY_SITE, MAY_SITE},
    {"display_name", MAY_DOMAIN, MAY_SITE},
    {"self_link", MAY_DOMAIN, MAY_NOBODY},
    {"user_id", MAY_DOMAIN, MAY_SITE},
    {"cleartext_password", MAY_NOBODY, MAY_SITE},
    {"email", MAY_NOBODY, MAY_SITE},
    {"auto_create", MAY_NOBODY, MAY_SITE},
    {"absorb_existing", MAY_NOBODY, MAY_SITE},
    {"q", MAY_SITE, MAY_NOBODY},
    {0},
};

const RestRoute rest_users[] = {
    {"GET", "users", OF_SITE, MAY_SITE, rest_user_fields, get_users, NULL},
    {"POST", "users", OF_SITE, MAY_SITE, rest_user_fields, post_user, NULL},
    {"GET", "users/find", OF_SITE, MAY_SITE, rest_user_fields, get_users, NULL},
    {"GET", "users/{user}", OF_SITE, MAY_SITE, rest_user_fields, get_user, NULL},
    {"PATCH", "users/{user}", OF_SITE, MAY_SITE, rest_user_fields, change_user, NULL},
    {"PUT", "users/{user}", OF_SITE, MAY_SITE, rest_user_fields, change_user, NULL},
    {"DELETE", "users/{user}", OF_SITE, MAY_SITE, rest_user_fields, delete_user, NULL},
    {"POST", "users/{user}/login", OF_SITE, MAY_SITE, rest_user_fields, login, NULL},
    {"GET", "users/{user}/addresses", OF_SITE, MAY_SITE, rest_address_fields, get_addresses, NULL},
    {"POST", "users/{user}/addresses", OF_SITE, MAY_SITE, rest_address_fields, post_address, NULL},
    {"GET", "users/{user}/preferred_address", OF_SITE, MAY_SITE, rest_address_fields, get_preferred, NULL},
    {"POST", "users/{user}/preferred_address", OF_SITE, MAY_SITE, rest_address_fields, change_preferred, NULL},
    {"DELETE", "users/{user}/preferred_address", OF_SITE, MAY_SITE, rest_address_fields, change_preferred, NULL},
    {"GET", "owners", OF_SITE, MAY_SITE, rest_user_fields, get_users, NULL},
    {0},
};

/* ---- /addresses ---- */

/* The place in all addresses that the answer has reached. */
typedef struct AddressWalk {
    int64_t skip;
    char *after; /* NULL: at the first */
} AddressWalk;

static void address_walk_free(void *data)
{
    AddressWalk *walk = data;
    g_free(walk->after);
    g_free(walk);
}

static bool address_walk_read(const Call *call, void *data, unsigned most, json_t *entries, GError **error)
{
    AddressWalk *walk = data;
    g_autoptr(GPtrArray) addresses = address_page(call->store, NULL, walk->after, walk->skip, most, error);
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

static void get_all_addresses(Call *call)
{
    static const LongCollection kind = {500, address_walk_read, address_walk_free};
    Paging paging;
    GError *error = NULL;
    int64_t total;
    if (!form_expect(call, "", "count page") || !form_paging(call, &paging))
        return;
    if (!address_count(call->store, &total, &error)) {
        rest_fail(call, error);
        return;
    }
    AddressWalk *walk = g_new(AddressWalk, 1);
    *walk = (AddressWalk){paging.start, NULL};
    answer_long(call, &kind, walk, total, &paging);
}

static void get_address(Call *call)
{
    g_autoptr(KnownAddress) address = find_address(call);
    if (address)
        answer_json(call, 200, address_json(call, address));
}

static void patch_address(Call *call)
{
    GError *error = NULL;
    const char *name = form_text(call, "display_name");
    g_autoptr(Work) work = form_expect(call, "", "display_name") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find_address(call) : NULL;
    g_autoptr(Mailbox) mailbox = mailbox_new(address ? address->email : NULL);
    bool done = address && (!name || people_name_address(work, mailbox, name, &error));
    rest_finish(call, work, done, &error);
}

static void delete_address(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find_address(call) : NULL;
    g_autoptr(Mailbox) mailbox = mailbox_new(address ? address->email : NULL);
    rest_finish(call, work, address && people_remove_address(work, mailbox, &error), &error);
}

/* Note that the address is the person's, or that this is open. */
static void post_verified(Call *call)
{
    GError *error = NULL;
    bool verified = g_str_has_suffix(call->route->path, "/verify");
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find_address(call) : NULL;
    g_autoptr(Mailbox) mailbox = mailbox_new(address ? address->email : NULL);
    rest_finish(call, work, address && people_verify(work, mailbox, verified, &error), &error);
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

/* ---- the user behind an address ---- */

static void get_user_of_address(Call *call)
{
    GError *error = NULL;
    g_autoptr(KnownAddress) address = find_address(call);
    if (!address)
        return;
    if (!*address->user_id) {
        answer_refusal(call, 404, "The address belongs to no user");
        return;
    }
    g_autoptr(User) user = user_find(call->store, address->user_id, &error);
    answer_found(call, user ? user_json(call, user) : NULL, &error);
}

/* Give the address to the user of user_id, or else to a new one. With POST, only an address that belongs to no user
 * yet. */
static void give(Call *call)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE], wanted[STORE_ID_SIZE];
    bool create = true;
    const char *who = form_text(call, "user_id"), *name = form_text(call, "display_name");
    g_autoptr(Work) work = form_expect(call, "", "user_id display_name auto_create password") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find_address(call) : NULL;
    if (!address)
        return;
    if (!call_puts(call) && *address->user_id) {
        answer_refusal(call, 409, "The address belongs to a user already");
        return;
    }
    if (!form_bool(call, "auto_create", &create))
        return;
    if (who && !id_parse(call, who, wanted)) {
        form_refuse(call, "user_id", "\"%s\" is no id of a user", who);
        return;
    }
    if (!who && !create) {
        answer_refusal(call, 403, "The address belongs to no user, and none is to be made");
        return;
    }
    g_autoptr(Mailbox) mailbox = mailbox_new(address->email);
    if (!people_assign(work, mailbox, who ? wanted : NULL, name, id, &error)) {
        if (who)
            rest_refuse(call, &error, FAIL_MISSING, 400, "No user with ID %s", who);
        rest_fail(call, error);
        return;
    }
    g_autofree char *shown = id_text(call, id);
    if (!rest_commit(call, work))
        return;
    if (who)
        answer_empty(call, 200);
    else
        answer_created(call, "users/%s", shown);
}

static void unlink_user(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(KnownAddress) address = work ? find_address(call) : NULL;
    g_autoptr(Mailbox) mailbox = mailbox_new(address ? address->email : NULL);
    rest_finish(call, work, address && people_unlink(work, mailbox, &error), &error);
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
    {"GET", "addresses", OF_SITE, MAY_SITE, rest_address_fields, get_all_addresses, NULL},
    {"GET", "addresses/{address}", OF_SITE, MAY_SITE, rest_address_fields, get_address, NULL},
    {"PATCH", "addresses/{address}", OF_SITE, MAY_SITE, rest_address_fields, patch_address, NULL},
    {"DELETE", "addresses/{address}", OF_SITE, MAY_SITE, rest_address_fields, delete_address, NULL},
    {"POST", "addresses/{address}/verify", OF_SITE, MAY_SITE, rest_address_fields, post_verified, NULL},
    {"POST", "addresses/{address}/unverify", OF_SITE, MAY_SITE, rest_address_fields, post_verified, NULL},
    {"GET", "addresses/{address}/memberships", OF_SITE, MAY_SITE, rest_member_fields, get_memberships, NULL},
    {"GET", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, get_user_of_address, NULL},
    {"POST", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, give, NULL},
    {"PUT", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, give, NULL},
    {"DELETE", "addresses/{address}/user", OF_SITE, MAY_SITE, rest_user_fields, unlink_user, NULL},
    {0},
};

#define NAMES                                                                                            \
    "acknowledge_posts delivery_mode delivery_status hide_address preferred_language receive_list_copy " \
    "receive_own_postings"

/* ---- preferences: reading what was sent ---- */

static bool read_flag(Call *call, const char *name, int *value)
{
    bool flag = false;
    if (!form_bool(call, name, &flag))
        return false;
    if (form_has(call, name))
        *value = flag;
    return true;
}

bool form_delivery(Call *call, int *mode, int *status)
{
    return form_choice(call, "delivery_mode", FORM_MODES, mode) &&
           form_choice(call, "delivery_status", FORM_STATUSES, status);
}

/* Changes those that were sent. False: 400 was answered. */
static bool read_preferences(Call *call, Preferences *preferences)
{
    GError *error = NULL;
    const char *language = form_text(call, "preferred_language");
    if (!read_flag(call, "acknowledge_posts", &preferences->acknowledge_posts) ||
        !read_flag(call, "hide_address", &preferences->hide_address) ||
        !read_flag(call, "receive_list_copy", &preferences->receive_list_copy) ||
        !read_flag(call, "receive_own_postings", &preferences->receive_own_postings) ||
        !form_delivery(call, &preferences->delivery_mode, &preferences->delivery_status))
        return false;
    if (language && *language && !language_check("preferred_language", language, &error)) {
        rest_fail(call, error);
        return false;
    }
    if (language)
        g_strlcpy(preferences->preferred_language, language, PREFERENCE_LANGUAGE_SIZE);
    return true;
}

/* ---- their holder ---- */

typedef struct Holder {
    Preferences preferences;
    PreferenceLevel level;
    char *path, *name; /* name: id or address by which the store is told */
} Holder;

static void holder_clear(Holder *holder)
{
    g_free(holder->path);
    g_free(holder->name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Holder, holder_clear)

/* Find the holder of the preferences that the path names. False: 404 or 503 was answered. */
static bool find_holder(Call *call, Holder *holder)
{
    if (g_str_has_prefix(call->path, "users/")) {
        g_autoptr(User) user = find_user(call);
        g_autofree char *shown = user ? id_text(call, user->id) : NULL;
        if (user)
            *holder = (Holder){user->preferences, PREFERENCES_OF_USER, g_strdup_printf("users/%s/preferences", shown),
                               g_strdup(user->id)};
        return user != NULL;
    }
    if (g_str_has_prefix(call->path, "addresses/")) {
        g_autoptr(KnownAddress) address = find_address(call);
        g_autofree char *shown = address ? segment(address->email) : NULL;
        if (address)
            *holder = (Holder){address->preferences, PREFERENCES_OF_ADDRESS,
                               g_strdup_printf("addresses/%s/preferences", shown), g_strdup(address->email)};
        return address != NULL;
    }
    if (g_str_has_prefix(call->path, "members/")) {
        g_autoptr(Member) member = find_member(call);
        if (member)
            *holder = (Holder){member->own, PREFERENCES_OF_MEMBER,
                               g_strdup_printf("members/%s/preferences", call->args[0]), g_strdup(member->id)};
        return member != NULL;
    }
    GError *error = NULL;
    holder->level = PREFERENCES_OF_SITE;
    holder->path = g_strdup(call->path);
    if (site_preferences(call->store, &holder->preferences, &error))
        return true;
    rest_fail(call, error);
    return false;
}

/* ---- showing and changing them ---- */

static void get_preferences(Call *call)
{
    g_auto(Holder) holder = {0};
    if (!find_holder(call, &holder))
        return;
    json_t *object = preferences_json(&holder.preferences);
    if (holder.level == PREFERENCES_OF_SITE) { /* nothing is behind it but the defaults */
        json_t *defaults = preferences_json(&preferences_default);
        json_object_set_new(defaults, "preferred_language", json_string(LANGUAGE_DEFAULT));
        json_object_update_missing_new(object, defaults);
    }
    json_object_set_new(object, "self_link", json_link(call, "%s", holder.path));
    answer_json(call, 200, object);
}

/* Set the preferences that were sent. PATCH leaves the others as they are; PUT and DELETE unset them. */
static void change_preferences(Call *call)
{
    g_auto(Holder) holder = {0};
    GError *error = NULL;
    bool is_delete = strcmp(call->route->verb, "DELETE") == 0;
    g_autoptr(Work) work = (is_delete ? form_expect(call, "", "") : form_expect_change(call, NAMES)) ? rest_begin(call)
                                                                                                     : NULL;
    if (!work || !find_holder(call, &holder))
        return;
    if (is_delete || call_puts(call))
        holder.preferences = preferences_unset;
    bool done = read_preferences(call, &holder.preferences) &&
                people_set_preferences(work, holder.level, holder.name, &holder.preferences, &error);
    rest_finish(call, work, done, &error);
}

/* Show the preferences that count for a member in the end. */
static void get_effective(Call *call)
{
    GError *error = NULL;
    g_autoptr(Member) member = find_member(call);
    g_autoptr(List) list = member ? list_by_id(call->store, member->list_id, &error) : NULL;
    if (!list) {
        rest_unknown(call, error);
        return;
    }
    json_t *object = preferences_json(&member->effective);
    if (!*member->effective.preferred_language)
        json_object_set_new(object, "preferred_language", json_words(list->settings->preferred_language));
    json_object_set_new(object, "self_link", json_link(call, "members/%s/all/preferences", call->args[0]));
    answer_json(call, 200, object);
}

static const RestField preference_fields[] = {
    {"acknowledge_posts", MAY_LIST, MAY_LIST},
    {"delivery_mode", MAY_LIST, MAY_LIST},
    {"delivery_status", MAY_LIST, MAY_LIST},
    {"hide_address", MAY_LIST, MAY_LIST},
    {"preferred_language", MAY_LIST, MAY_LIST},
    {"receive_list_copy", MAY_LIST, MAY_LIST},
    {"receive_own_postings", MAY_LIST, MAY_LIST},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {0},
};

#define LEVEL(path, of, who)                                                   \
    {"GET", path, of, who, preference_fields, get_preferences, NULL},          \
        {"PATCH", path, of, who, preference_fields, change_preferences, NULL}, \
        {"PUT", path, of, who, preference_fields, change_preferences, NULL},   \
    {                                                                          \
        "DELETE", path, of, who, preference_fields, change_preferences, NULL   \
    }

const RestRoute rest_preferences[] = {
    {"GET", "system/preferences", OF_SITE, MAY_SITE, preference_fields, get_preferences,
     NULL}, /* as Mailman, whose site can only read them */
    {"GET", "listrunner/preferences", OF_SITE, MAY_SITE, preference_fields, get_preferences,
     "What the site prefers where nobody said otherwise"},
    {"PATCH", "listrunner/preferences", OF_SITE, MAY_SITE, preference_fields, change_preferences,
     "Change some of the site's preferences"},
    {"PUT", "listrunner/preferences", OF_SITE, MAY_SITE, preference_fields, change_preferences,
     "Change all of the site's preferences"},
    {"DELETE", "listrunner/preferences", OF_SITE, MAY_SITE, preference_fields, change_preferences,
     "Go back to the defaults"},
    LEVEL("users/{user}/preferences", OF_SITE, MAY_SITE),
    LEVEL("addresses/{address}/preferences", OF_SITE, MAY_SITE),
    LEVEL("members/{member}/preferences", OF_MEMBER, MAY_LIST),
    {"GET", "members/{member}/all/preferences", OF_MEMBER, MAY_LIST, preference_fields, get_effective, NULL},
    {0},
};
