/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/sources/source.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/people/own_address.h"
#include "store/people/ban.h"
#include "store/people/member.h"

typedef struct Why {
    Work *work;
    const List *list;
    const Mailbox *address;
    bool is_member;
    json_t *because, *sources;
} Why;

static void say(const Why *why, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void say(const Why *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    json_array_append_new(why->because, json_string(valid));
}

static bool say_sources(const Why *why, GError **error)
{
    g_autoptr(GPtrArray) all = source_of_address(work_store(why->work), why->list->list_id, why->address, error);
    for (guint at = 0; all && at < all->len; at++) {
        const SourceGiven *given = all->pdata[at];
        g_autofree char *when = clock_text(given->given_at);
        json_array_append_new(why->sources,
                              json_pack("{ss ss sb}", "name", given->name, "given_at", when, "made", given->made));
        if (!why->is_member)
            say(why,
                "The source %s has given the address since %s, but the person has left meanwhile or was removed: "
                "the next refresh writes that down, and no source brings the address back.",
                given->name, when);
        else if (given->made)
            say(why,
                "The source %s has given the address since %s; the member leaves when no source gives it any more.",
                given->name, when);
        else
            say(why,
                "The source %s has given the address since %s, but the person had joined without it, and stays "
                "when the source no longer gives the address.",
                given->name, when);
    }
    if (all && all->len == 0 && why->is_member)
        say(why, "No source gives the address: the person joined, or was added by somebody.");
    return all != NULL;
}

/* Nothing else keeps it out, so no source gave it when they were read last. */
static bool say_not_given(const Why *why, GError **error)
{
    if (why->is_member || json_array_size(why->because) > 0)
        return true;
    g_autoptr(GPtrArray) all = source_all(work_store(why->work), why->list->list_id, error);
    for (guint at = 0; all && at < all->len; at++) {
        const MemberSource *source = all->pdata[at];
        g_autofree char *when = clock_text(source->read_at);
        if (source->read_at > 0)
            say(why, "The source %s did not give the address when it was read last (%s).", source->name, when);
        else
            say(why, "The source %s has not been read yet.", source->name);
        if (*source->fault)
            say(why, "Since then it failed: %s", source->fault);
    }
    if (all && all->len == 0)
        say(why, "The list has no sources.");
    return all != NULL;
}

json_t *source_why(Work *work, const List *list, const char *address, GError **error)
{
    Store *store = work_store(work);
    g_autoptr(Member) member = NULL;
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    if (!mailbox->valid) {
        fail(error, FAIL_NEVER, "\"%s\" is no e-mail address (local@domain), so no source makes it a member", address);
        return NULL;
    }
    if (!member_look_up(store, list->list_id, ROLE_MEMBER, mailbox, &member, error))
        return NULL;
    bool is_member = member != NULL;
    g_autoptr(json_t) object = json_pack("{ss ss sb s[] s[]}", "list", list->posting_address, "address", address,
                                         "member", is_member, "sources", "because");
    const Why why = {
        work, list, mailbox, is_member, json_object_get(object, "because"), json_object_get(object, "sources")};
    if (!say_sources(&why, error))
        return NULL;

    int64_t left_at;
    g_autofree char *way = NULL, *ban = NULL, *bars = NULL;
    if (!is_member && !source_left_find(store, list->list_id, mailbox, &way, &left_at, error))
        return NULL;
    g_autofree char *when = way ? clock_text(left_at) : NULL;
    if (way && *way)
        say(&why,
            "The person left the list (%s, %s), so no source brings the address back; to do so: listrunner member "
            "add %s %s",
            way, when, list->posting_address, address);
    else if (way)
        say(&why,
            "Somebody removed the member (%s), so no source brings the address back; to do so: listrunner member "
            "add %s %s",
            when, list->posting_address, address);

    if (!ban_check(store, list->list_id, mailbox, NULL, &ban, error) ||
        !own_address_bars(work, list->list_id, ROLE_MEMBER, address, &bars, error))
        return NULL;
    if (ban && is_member)
        say(&why, "The address is banned (%s), but who is a member stays one.", ban);
    else if (ban)
        say(&why, "The address is banned (%s), so no source makes it a member.", ban);
    if (bars && !is_member)
        say(&why, "No source makes it a member: %s.", bars);
    return say_not_given(&why, error) ? g_steal_pointer(&object) : NULL;
}
