/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/people.h"

#include <limits.h>
#include <string.h>

#include "base/fail.h"
#include "lists/people/options.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "store/people/mention.h"
#include "store/people/password.h"
#include "store/people/session.h"
#include "store/people/user.h"

static bool note(Work *work, const char *what, const char *who, const char *result)
{
    work_log(work, "-", "%s=<%s> by=<%s> result=%s", what, who, work_by(work), result);
    return true;
}

/* ---- users ---- */

static bool apply(Store *store, const char *who, const PersonChange *change, GError **error)
{
    g_autofree char *hash = NULL;
    if (change->password && *change->password && !(hash = password_hash(change->password, error)))
        return false;
    return (!change->display_name || user_set_name(store, who, change->display_name, error)) &&
           (!change->password || user_set_password(store, who, hash, error)) &&
           (change->server_owner < 0 || user_set_server_owner(store, who, change->server_owner != 0, error));
}

bool people_create(Work *work, const Mailbox *address, const PersonChange *about, char id[STORE_ID_SIZE],
                   GError **error)
{
    Store *store = work_store(work);
    PersonChange more = *about;
    more.display_name = NULL;
    return own_address_check_person(work, address->text, error) &&
           user_create(store, address, about->display_name, id, error) && apply(store, id, &more, error) &&
           note(work, "user", address->text, "created");
}

bool people_change(Work *work, const char *who, const PersonChange *change, GError **error)
{
    return apply(work_store(work), who, change, error) && note(work, "user", who, "changed");
}

bool people_remove(Work *work, const char *who, GError **error)
{
    g_autoptr(GError) unknown = NULL;
    Store *store = work_store(work);
    g_autoptr(User) user = user_find(store, who, &unknown);
    if (!user && g_error_matches(unknown, FAIL, FAIL_MISSING) && strchr(who, '@')) {
        g_autoptr(Mailbox) address = mailbox_new(who);
        return mention_forget(store, address, error) && people_remove_address(work, address, error);
    }
    if (!user)
        return fail_with(error, &unknown);
    g_autoptr(GPtrArray) addresses = address_page(store, user->id, NULL, 0, INT_MAX, error);
    if (!addresses)
        return false;
    for (guint at = 0; at < addresses->len; at++) { /* the counts and notes about each address go, too */
        g_autoptr(Mailbox) address = mailbox_new(((const KnownAddress *)addresses->pdata[at])->original);
        if (!mention_forget(store, address, error))
            return false;
    }
    return user_remove(store, user->id, error) && note(work, "user", who, "removed");
}

bool people_forget(Work *work, const char *user_id, const Mailbox *address, GError **error)
{
    Store *store = work_store(work);
    KnownAddress *found;
    if (!address_look_up(store, address, &found, error))
        return false;
    g_autoptr(KnownAddress) known = found;
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.user_id = *user_id ? user_id : NULL;
    criteria.address = *user_id ? NULL : address->text;
    g_autoptr(GPtrArray) members = member_page(store, &criteria, NULL, INT_MAX, NULL, error);
    if (!members)
        return false;
    for (guint at = 0; at < members->len; at++) {
        const Member *member = members->pdata[at];
        g_autoptr(Mailbox) own = mailbox_new(member->address);
        if (!roster_remove(work, member->list_id, member->role, own, error))
            return false;
    }
    return (!known || (*user_id ? people_remove(work, user_id, error) : people_remove_address(work, address, error))) &&
           mention_forget(store, address, error) && session_end(store, address, 0, 0, error);
}

bool people_merge(Work *work, const char *into, const char *other, GError **error)
{
    return user_merge(work_store(work), into, other, error) && note(work, "user", into, "merged");
}

/* ---- addresses ---- */

bool people_add_address(Work *work, const Mailbox *address, GError **error)
{
    return address_add(work_store(work), address, NULL, error) && note(work, "address", address->text, "added");
}

bool people_link(Work *work, const char *who, const Mailbox *address, const char *name, bool absorb, GError **error)
{
    Store *store = work_store(work);
    g_autoptr(User) user = user_find(store, who, error);
    g_autoptr(KnownAddress) known = NULL;
    if (!user || !own_address_check_person(work, address->text, error) ||
        !address_look_up(store, address, &known, error))
        return false;
    bool owned = known && *known->user_id, own = owned && strcmp(known->user_id, user->id) == 0, others = owned && !own;
    if (own && !absorb)
        return fail(error, FAIL_EXISTS, "Address already exists");
    if (others && !absorb)
        return fail(error, FAIL_EXISTS, "Address belongs to other user");
    return (own || (others ? user_merge(store, user->id, known->user_id, error)
                           : user_link_address(store, user->id, address, error))) &&
           (!name || !*name || address_set_name(store, address, name, error)) &&
           note(work, "address", address->text, "linked");
}

bool people_assign(Work *work, const Mailbox *address, const char *who, const char *name, char id[STORE_ID_SIZE],
                   GError **error)
{
    Store *store = work_store(work);
    g_autoptr(User) user = who ? user_find(store, who, error) : NULL;
    g_autoptr(KnownAddress) known = address_find(store, address, error);
    if ((who && !user) || !known || !own_address_check_person(work, address->text, error) ||
        (*known->user_id && !address_unlink(store, address, error)))
        return false;
    if (!user)
        return user_create(store, address, name, id, error) && note(work, "address", address->text, "linked");
    memcpy(id, user->id, STORE_ID_SIZE);
    return user_link_address(store, id, address, error) && note(work, "address", address->text, "linked");
}

bool people_register(Work *work, const Mailbox *address, const char *name, bool names, GError **error)
{
    char id[STORE_ID_SIZE];
    g_autoptr(KnownAddress) known = NULL;
    if (!address_look_up(work_store(work), address, &known, error))
        return false;
    if (known && (known->display_name || !names))
        name = known->display_name;
    return (known && *known->user_id) || user_create(work_store(work), address, name, id, error);
}

bool people_unlink(Work *work, const Mailbox *address, GError **error)
{
    g_autoptr(KnownAddress) known = address_find(work_store(work), address, error);
    if (known && !*known->user_id)
        return fail(error, FAIL_MISSING, "%s belongs to no user", address->text);
    return known && address_unlink(work_store(work), address, error) &&
           note(work, "address", address->text, "unlinked");
}

bool people_prefer(Work *work, const char *who, const Mailbox *address, GError **error)
{
    Store *store = work_store(work);
    if (!address)
        return user_clear_preferred(store, who, error) && note(work, "user", who, "prefers-none");
    g_autoptr(User) user = user_find(store, who, error);
    g_autoptr(KnownAddress) known = NULL;
    if (!user || !own_address_check_person(work, address->text, error) ||
        !address_look_up(store, address, &known, error))
        return false;
    if (known && *known->user_id && strcmp(known->user_id, user->id) != 0)
        return fail(error, FAIL_EXISTS, "Address belongs to other user");
    if (!known || known->verified_at == 0)
        return fail(error, known ? FAIL_NEVER : FAIL_MISSING, "Unverified address: %s", address->text);
    return (*known->user_id || user_link_address(store, user->id, address, error)) &&
           user_set_preferred(store, address, error) && note(work, "address", address->text, "preferred");
}

bool people_verify(Work *work, const Mailbox *address, bool verified, GError **error)
{
    g_autoptr(KnownAddress) known = address_find(work_store(work), address, error);
    if (known && verified && known->verified_at > 0)
        return true;
    return known && address_set_verified(work_store(work), address, verified ? work_now(work) : 0, error) &&
           note(work, "address", address->text, verified ? "verified" : "unverified");
}

bool people_name_address(Work *work, const Mailbox *address, const char *name, GError **error)
{
    return address_set_name(work_store(work), address, name, error) && note(work, "address", address->text, "named");
}

bool people_remove_address(Work *work, const Mailbox *address, GError **error)
{
    return address_remove(work_store(work), address, error) && note(work, "address", address->text, "removed");
}

/* ---- members ---- */

static bool note_member(Work *work, const Member *member, const char *result)
{
    work_log(work, member->list_id, "%s=<%s> by=<%s> result=%s", role_text(member->role), member->address,
             work_by(work), result);
    return true;
}

bool people_set_preferences(Work *work, PreferenceLevel level, const char *who, const Preferences *preferences,
                            GError **error)
{
    Store *store = work_store(work);
    if (level == PREFERENCES_OF_SITE)
        return site_set_preferences(store, preferences, error) && note(work, "site", "-", "preferences-changed");
    if (level == PREFERENCES_OF_USER)
        return user_set_preferences(store, who, preferences, error) && note(work, "user", who, "preferences-changed");
    if (level == PREFERENCES_OF_ADDRESS) {
        g_autoptr(Mailbox) address = mailbox_new(who);
        return address_set_preferences(store, address, preferences, error) &&
               note(work, "address", who, "preferences-changed");
    }
    g_autoptr(Member) member = member_by_id(store, who, error);
    g_autofree char *before = member ? options_own(store, member->id, error) : NULL;
    g_autoptr(Mailbox) address = mailbox_new(member ? member->address : NULL);
    if (!before || !member_set_preferences(store, member->list_id, member->role, address, preferences, error) ||
        !options_log(work, member, before, error))
        return false;
    return note_member(work, member, "preferences-changed");
}

bool people_set_moderation(Work *work, const Member *member, Action action, GError **error)
{
    Store *store = work_store(work);
    g_autofree char *before = options_own(store, member->id, error);
    g_autoptr(Mailbox) address = mailbox_new(member->address);
    return before && member_set_moderation(store, member->list_id, member->role, address, action, error) &&
           options_log(work, member, before, error) && note_member(work, member, "moderation-changed");
}
