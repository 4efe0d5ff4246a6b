/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/person.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "mail/address.h"
#include "store/lists/topic.h"
#include "store/people/bounce.h"
#include "store/people/mention.h"
#include "store/people/pending.h"
#include "store/people/user.h"
#include "store/people/vacation.h"
#include "store/posts/held.h"

#define PAGE 1000

/* ---- values ---- */

static json_t *time_json(int64_t time)
{
    if (time == 0)
        return json_null();
    g_autoptr(GDateTime) moment = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    g_autofree char *text = moment ? g_date_time_format(moment, "%Y-%m-%dT%H:%M:%SZ") : NULL;
    return text ? json_string(text) : json_null();
}

static json_t *text_of(const char *text)
{
    g_autofree char *valid = text ? g_utf8_make_valid(text, -1) : NULL;
    return valid ? json_string(valid) : json_null();
}

static void set_flag(json_t *object, const char *name, int value)
{
    if (value >= 0)
        json_object_set_new(object, name, json_boolean(value));
}

json_t *preferences_json(const Preferences *preferences)
{
    json_t *object = json_object();
    set_flag(object, "acknowledge_posts", preferences->acknowledge_posts);
    set_flag(object, "hide_address", preferences->hide_address);
    set_flag(object, "receive_list_copy", preferences->receive_list_copy);
    set_flag(object, "receive_own_postings", preferences->receive_own_postings);
    if (preferences->delivery_mode >= 0)
        json_object_set_new(object, "delivery_mode",
                            json_string(delivery_mode_text((DeliveryMode)preferences->delivery_mode)));
    if (preferences->delivery_status >= 0)
        json_object_set_new(object, "delivery_status",
                            json_string(delivery_status_text((DeliveryStatus)preferences->delivery_status)));
    if (*preferences->preferred_language)
        json_object_set_new(object, "preferred_language", json_string(preferences->preferred_language));
    return object;
}

/* ---- what there is ---- */

typedef struct Export {
    Store *store;
    GPtrArray *addresses; /* of KnownAddress */
    json_t *requests, *held;
} Export;

static bool is_of(const Export *export, const char *address)
{
    for (unsigned at = 0; address && at < export->addresses->len; at++)
        if (address_same(((const KnownAddress *)export->addresses->pdata[at])->original, address))
            return true;
    return false;
}

/* NULL: the store failed. */
static json_t *member_json(Store *store, const Member *member, GError **error)
{
    Vacation vacation;
    g_auto(TopicChoice) choice = {0};
    if (!vacation_find(store, member->id, &vacation, error) || !topic_read(store, member->id, &choice, error))
        return NULL;
    json_t *object = json_pack(
        "{so ss so so sb so sf so}", "list", text_of(member->list_id), "role", role_text(member->role), "address",
        text_of(member->address), "joined_on", time_json(member->joined_at), "as_user", member->as_user,
        "moderation_action",
        member->moderation_action == ACTION_UNSET ? json_null() : text_of(action_text(member->moderation_action)),
        "bounce_score", (double)member->bounce_score / 100, "preferences", preferences_json(&member->own));
    if (*member->given_name)
        json_object_set_new(object, "given_name", text_of(member->given_name));
    if (vacation.ends_at != 0)
        json_object_set_new(
            object, "vacation",
            json_pack("{so so}", "begins", time_json(vacation.begins_at), "ends", time_json(vacation.ends_at)));
    if (*choice.names) {
        json_t *names = json_array();
        for (char **name = choice.names; *name; name++)
            json_array_append_new(names, text_of(*name));
        json_object_set_new(object, "topics", json_pack("{so sb}", "names", names, "nonmatching", choice.unmatched));
    }
    return object;
}

static bool add_bounce(const BounceDay *day, void *data)
{
    json_array_append_new(data,
                          json_pack("{so so sI so so so}", "list", text_of(day->list_id), "last_on",
                                    time_json(day->last_at), "bounces", (json_int_t)day->bounces, "status",
                                    text_of(day->status), "reason", text_of(day->reason), "text", text_of(day->text)));
    return true;
}

static bool add_request(const Pending *request, void *data)
{
    Export *export = data;
    if (is_of(export, request->address->text))
        json_array_append_new(export->requests,
                              json_pack("{so ss so so so so}", "list", text_of(request->list_id), "wants",
                                        pending_kind_text(request->kind), "address", text_of(request->address->text),
                                        "asked_on", time_json(request->made_at), "expires_on",
                                        time_json(request->expires_at), "detail", text_of(request->detail)));
    return true;
}

static bool add_held(const Held *held, void *data)
{
    Export *export = data;
    if (is_of(export, held->sender))
        json_array_append_new(export->held, json_pack("{so so so so}", "list", text_of(held->list_id), "subject",
                                                      text_of(held->subject), "message_id", text_of(held->message_id),
                                                      "held_on", time_json(held->held_at)));
    return true;
}

/* Places without a member of their own above. */
static bool add_trace(const Mention *mention, void *data)
{
    static const char *const shown[] = {"address", "member", "request", "bounce", "held post of the author"};
    for (size_t at = 0; at < G_N_ELEMENTS(shown); at++)
        if (strcmp(shown[at], mention->place) == 0)
            return true;
    json_array_append_new(data, json_pack("{ss so so}", "kind", mention->place, "list", text_of(mention->list_id),
                                          "detail", text_of(mention->detail)));
    return true;
}

/* Add what is known of one of the person's addresses. */
static bool add_address(const Export *export, const KnownAddress *address, json_t *person, GError **error)
{
    g_autoptr(Mailbox) mailbox = mailbox_new(address->original);
    const unsigned kinds = 1u << MENTION_KNOWN | 1u << MENTION_TRACE | 1u << MENTION_KEPT;
    json_array_append_new(json_object_get(person, "addresses"),
                          json_pack("{so so so so sb so}", "address", text_of(address->original), "display_name",
                                    text_of(address->display_name), "registered_on", time_json(address->registered_at),
                                    "verified_on", time_json(address->verified_at), "preferred", address->preferred,
                                    "preferences", preferences_json(&address->preferences)));
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.address = address->original;
    g_autofree char *after = NULL;
    do {
        char *next;
        g_autoptr(GPtrArray) page = member_page(export->store, &criteria, after, PAGE, &next, error);
        if (!page)
            return false;
        g_free(after);
        after = next;
        for (unsigned at = 0; at < page->len; at++) {
            json_t *member = member_json(export->store, page->pdata[at], error);
            if (!member)
                return false;
            json_array_append_new(json_object_get(person, "memberships"), member);
        }
    } while (after);
    BounceFilter filter = {.address = address->original};
    return bounce_day_each(export->store, &filter, add_bounce, json_object_get(person, "bounces"), error) &&
           mention_each(export->store, mailbox, kinds, add_trace, json_object_get(person, "others"), error);
}

json_t *person_export(Store *store, const char *who, GError **error)
{
    g_autoptr(GError) unknown = NULL;
    g_autoptr(User) user = user_find(store, who, &unknown);
    if (!user && (!g_error_matches(unknown, FAIL, FAIL_MISSING) || !strchr(who, '@'))) {
        g_propagate_error(error, g_steal_pointer(&unknown));
        return NULL;
    }
    g_autoptr(GPtrArray) addresses = user ? address_page(store, user->id, NULL, 0, INT_MAX, error)
                                          : g_ptr_array_new_with_free_func((GDestroyNotify)known_address_free);
    if (!addresses)
        return NULL;
    if (!user) { /* an address that belongs to nobody has only itself */
        g_autoptr(Mailbox) address = mailbox_new(who);
        KnownAddress *found = address_find(store, address, error);
        if (!found)
            return NULL;
        g_ptr_array_add(addresses, found);
    }

    json_t *person = user ? json_pack("{ss so so so sb sb so}", "user_id", user->id, "display_name",
                                      text_of(user->display_name), "created_on", time_json(user->created_at),
                                      "preferred_address", text_of(user->preferred), "server_owner", user->server_owner,
                                      "has_password", user->password != NULL, "preferences",
                                      preferences_json(&user->preferences))
                          : json_object();
    static const char *const arrays[] = {"addresses", "memberships", "bounces", "others", "requests", "held_posts"};
    for (size_t at = 0; at < G_N_ELEMENTS(arrays); at++)
        json_object_set_new(person, arrays[at], json_array());
    Export export = {.store = store,
                     .addresses = addresses,
                     .requests = json_object_get(person, "requests"),
                     .held = json_object_get(person, "held_posts")};
    bool done = true;
    for (unsigned at = 0; done && at < addresses->len; at++)
        done = add_address(&export, addresses->pdata[at], person, error);
    if (done && pending_each(store, NULL, clock_now(), add_request, &export, error) &&
        held_each(store, NULL, add_held, &export, error))
        return person;
    json_decref(person);
    return NULL;
}
