/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/site/round_trip.h"

#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "lists/making/list_make.h"
#include "mail/loop_mark.h"
#include "mail/message.h"
#include "mail/text/notice.h"
#include "store/lists/list_post.h"
#include "store/people/member.h"
#include "switchboard/meta.h"

RoundTrip round_trip_at(const char *name, const char *mail_host)
{
    return (RoundTrip){g_strconcat(name, "@", mail_host, NULL),
                       g_strconcat(name, ROUND_TRIP_BACK "@", mail_host, NULL)};
}

void round_trip_clear(RoundTrip *trip)
{
    g_clear_pointer(&trip->list, g_free);
    g_clear_pointer(&trip->back, g_free);
}

/* ---- the two lists ---- */

static const struct {
    const char *name, *value;
} settings[] = {
    {"advertised", "no"},
    {"archive_policy", "never"},
    {"respond_to_post_requests", "no"},
    {"send_welcome_message", "no"},
    {"admin_immed_notify", "no"},
    {"require_explicit_destination", "no"},
    {"process_bounces", "no"},
    {"default_nonmember_action", "accept"},
    {"administrivia", "no"},
};

static List *make_list(Work *work, const char *address, GError **error)
{
    const NewList new = {.address = address};
    g_autoptr(List) list = list_make(work, &new, error);
    bool done = list != NULL;
    for (size_t at = 0; done && at < G_N_ELEMENTS(settings); at++)
        done = list_set(work_store(work), list->list_id, settings[at].name, settings[at].value, error);
    return done ? g_steal_pointer(&list) : NULL;
}

bool round_trip_make(Work *work, const RoundTrip *trip, GError **error)
{
    g_autoptr(List) back = make_list(work, trip->back, error);
    g_autoptr(List) list = back ? make_list(work, trip->list, error) : NULL;
    g_autoptr(Mailbox) address = mailbox_new(trip->back);
    return list && member_add(work_store(work), list->list_id, ROLE_MEMBER, address, NULL, &preferences_unset, error);
}

static bool drop_list(Work *work, const char *address, int64_t least_age, GError **error)
{
    g_autoptr(GError) absent = NULL;
    g_autoptr(List) there = list_by_address(work_store(work), address, &absent);
    if (!there && g_error_matches(absent, FAIL, FAIL_MISSING))
        return true;
    if (!there)
        return fail_with(error, &absent);
    if (work_now(work) - there->created_at < least_age)
        return fail(error, FAIL_EXISTS, "there is the list %s", address);
    return list_drop(work, there->list_id, error);
}

bool round_trip_drop(Work *work, const RoundTrip *trip, int64_t least_age, GError **error)
{
    return drop_list(work, trip->list, least_age, error) && drop_list(work, trip->back, least_age, error);
}

/* ---- the mail ---- */

Draft *round_trip_mail(Store *store, const RoundTrip *trip, const char *id, char **key, GError **error)
{
    const Notice notice = {
        .from_name = "Listrunner",
        .from = trip->back,
        .to = trip->list,
        .id = id,
        .date = clock_now(),
        .text = "Subject: A mail through the mail server and back\n\nListrunner sends this mail to itself, to see that "
                "the mail server takes it and hands it in.\nNobody need answer it.\n"};
    g_autoptr(List) back = list_by_address(store, trip->back, error);
    if (!back)
        return NULL;
    g_autoptr(GPtrArray) pieces = notice_compose(&notice);
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, back->list_id);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, trip->back); /* a refusal comes back to where we look */
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    Draft *draft = draft_new("out", meta);
    for (guint at = 0; at < pieces->len; at++)
        draft_add_message(draft, pieces->pdata[at]);
    draft_set_addresses(draft, g_strdupv((char *[]){trip->list, NULL}));
    g_autoptr(Message) message = message_new(pieces->pdata[0]); /* the header is in the first */
    *key = loop_mark_key(message);
    return draft;
}

bool round_trip_arrived(Store *store, const char *address, const char *key, bool *arrived, GError **error)
{
    g_autoptr(List) list = list_by_address(store, address, error);
    return list && list_knows_message_id(store, list->list_id, key, "", arrived, error);
}
