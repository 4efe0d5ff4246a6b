/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Handlers that say who gets a post, and on which ways it leaves. */
#include <string.h>

#include "mail/address.h"
#include "mail/message.h"
#include "posting/pipeline.h"
#include "store/lists/list_setting.h"
#include "store/people/member.h"
#include "store/posts/digest.h"

/* --- member-recipients ----------------------------------------------------- */

/* All regular members; the store leaves out the sender where that is wished. */
static bool process_member_recipients(Post *post, GError **error)
{
    post->recipients = POST_TO_MEMBERS;
    g_free(post->skip_sender);
    post->skip_sender = g_strdup(post_poster(post));
    recipient_soon(post->store, post->list->list_id, post->skip_sender);
    return true;
}

const Handler handler_member_recipients = {.name = "member-recipients", .process = process_member_recipients};

/* --- owner-recipients ------------------------------------------------------ */

/* An owner's address that leads back here would be a loop. */
static bool leads_back(const Post *post, const char *mailbox)
{
    g_autofree char *owner = post_list_address(post->list, "owner");
    return address_same(mailbox, owner) || address_same(mailbox, post->list->posting_address) ||
           (post->recipient && address_same(mailbox, post->recipient));
}

/* Owners and moderators; the site's owner where there are none. */
static bool process_owner_recipients(Post *post, GError **error)
{
    g_auto(GStrv) all = list_administrators(post->store, post->list->list_id, error);
    if (!all)
        return false;
    GPtrArray *kept = g_ptr_array_new();
    for (char **mailbox = all; *mailbox; mailbox++)
        if (!leads_back(post, *mailbox))
            g_ptr_array_add(kept, g_strdup(*mailbox));
    if (kept->len == 0 && post->site_owner && !leads_back(post, post->site_owner))
        g_ptr_array_add(kept, g_strdup(post->site_owner));
    g_ptr_array_add(kept, NULL);
    g_strfreev(post->given);
    post->given = (char **)g_ptr_array_free(kept, false);
    post->recipients = POST_TO_GIVEN;
    return true;
}

const Handler handler_owner_recipients = {.name = "owner-recipients", .process = process_owner_recipients};

/* --- digest-recipients ----------------------------------------------------- */

/* An issue of the digest goes to the members who want it in this form and language. */
static bool process_digest_recipients(Post *post, GError **error)
{
    post->recipients = POST_TO_DIGEST;
    return true;
}

const Handler handler_digest_recipients = {.name = "digest-recipients", .process = process_digest_recipients};

/* --- avoid-duplicates ------------------------------------------------------ */

/* Enough for any real mail; more would only cost memory. */
#define COPIED_MAX 1000

/* Is the address that of a member who would get a copy, but wants none that comes besides? */
static bool is_left_out(const Post *post, const char *address, bool *left_out, GError **error)
{
    g_autoptr(Member) member = NULL;
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    if (!post_find_member(post, ROLE_MEMBER, mailbox, &member, error))
        return false;
    const Preferences *chosen = member ? &member->effective : NULL;
    *left_out = chosen && chosen->receive_list_copy == 0 && chosen->delivery_mode == MODE_REGULAR &&
                chosen->delivery_status == DELIVERY_ENABLED;
    return true;
}

static size_t blanks(const char *text)
{
    return strspn(text, " \t\r\n");
}

/* Leaves out the address between what was kept so far and the text behind it, with one of the commas around it. Where
 * the address began a line, the next one begins that line. Returns where the text goes on. */
static const char *leave_out(GString *kept, const char *behind)
{
    size_t bare = kept->len;
    while (bare > 0 && g_ascii_isspace(kept->str[bare - 1]))
        bare--;
    bool folded = strchr(kept->str + bare, '\n') != NULL;
    const char *comma = behind + blanks(behind);
    g_string_truncate(kept, bare);
    if (*comma == ',' && folded) {
        g_string_append(kept, "\r\n ");
        return comma + 1 + blanks(comma + 1);
    }
    if (*comma == ',')
        return comma + 1;
    if (bare > 0 && kept->str[bare - 1] == ',')
        g_string_truncate(kept, bare - 1);
    return behind;
}

/* Appends the addresses of a field's text but those left out: names, groups and comments stay as they were written. */
static bool append_others(const Post *post, const char *text, GString *value, guint *others, GError **error)
{
    g_autoptr(GPtrArray) addresses = address_list_new();
    g_autoptr(GString) kept = g_string_new(NULL);
    const char *rest = text;
    address_parse(text, strlen(text), addresses);
    for (guint at = 0; at < addresses->len; at++) {
        const Address *address = addresses->pdata[at];
        bool left_out = false;
        if (!is_left_out(post, address->mailbox, &left_out, error))
            return false;
        *others += !left_out;
        if (!left_out)
            continue;
        const char *start = text + address->start;
        start += blanks(start);
        g_string_append_len(kept, rest, start - rest);
        rest = leave_out(kept, text + address->end);
    }
    g_string_append(kept, rest);
    g_strstrip(kept->str);
    if (*kept->str)
        g_string_append_printf(value, "%s%s", value->len > 0 ? ",\r\n " : "", kept->str);
    return true;
}

/* Take people who read the list and get no copy besides out of Cc, so that answers to all do not name them again and
 * again. All fields become one then, for there may be no more than that (RFC 5322, 3.6). A mail in which nothing
 * changes keeps its fields as they are, which its author's server may have signed. */
static bool rewrite_cc(Post *post, GError **error)
{
    static const char *const cc[] = {"Cc", NULL};
    g_autoptr(GPtrArray) before = post_addresses(post, cc);
    g_autoptr(GString) value = g_string_new(NULL);
    guint others = 0;
    size_t index = 0;
    if (before->len > COPIED_MAX)
        return true;
    for (const Field *field; (field = message_find(post->message, "Cc", &index)); index++) {
        g_autofree char *text = field_value_folded(field);
        if (!append_others(post, text, value, &others, error))
            return false;
    }
    if (others == before->len)
        return true;
    g_autoptr(GPtrArray) again = address_list_new();
    address_parse(value->str, value->len, again);
    if (again->len != others) /* a quote that one field leaves open would take in the next */
        return true;
    if (value->len > 0)
        message_set(post->message, "Cc", value->str);
    else
        message_remove(post->message, "Cc");
    return true;
}

/* Note the addresses in To and Cc, which have the mail already. The store leaves out the members among them who want no
 * second copy. */
static bool process_avoid_duplicates(Post *post, GError **error)
{
    const GPtrArray *all = post_destinations(post);
    GPtrArray *copied = g_ptr_array_new();
    for (unsigned at = 0; at < all->len && at < COPIED_MAX; at++)
        g_ptr_array_add(copied, g_strdup(((Address *)all->pdata[at])->mailbox));
    g_ptr_array_add(copied, NULL);
    g_strfreev(post->copied);
    post->copied = (char **)g_ptr_array_free(copied, false);
    message_remove(post->message, "X-Mailman-Copy"); /* the list's own to say (handler decorate) */
    return rewrite_cc(post, error);
}

const Handler handler_avoid_duplicates = {.name = "avoid-duplicates", .process = process_avoid_duplicates};

/* --- acknowledge ----------------------------------------------------------- */

/* A member who asked for it (acknowledge_posts) is told that the post was taken. */
static bool process_acknowledge(Post *post, GError **error)
{
    const char *poster = post_poster(post); /* known from the rules, or a moderator let it pass */
    if (!poster || !post_may_answer(post))
        return true;
    g_autoptr(Mailbox) address = post->found ? NULL : mailbox_new(poster);
    if (address && !post_find_member(post, ROLE_MEMBER, address, &post->found, error))
        return false;
    const Member *member = post->found;
    if (member && member->effective.acknowledge_posts)
        post_send_letter(post, "post_acknowledged", member->address, false);
    return true;
}

const Handler handler_acknowledge = {.name = "acknowledge", .process = process_acknowledge};

/* --- to-archive ------------------------------------------------------------ */

/* Sends the post to those of the site's archivers that the list uses. Its sender may ask not to be archived:
 * X-No-Archive (any value but "no"), X-Archive: no. */
static bool process_to_archive(Post *post, GError **error)
{
    g_autofree char *refused = message_value(post->message, "X-No-Archive");
    g_autofree char *asked = message_value(post->message, "X-Archive");
    if (post->list->settings->archive_policy == ARCHIVE_NEVER || (refused && g_ascii_strcasecmp(refused, "no") != 0) ||
        (asked && g_ascii_strcasecmp(asked, "no") == 0))
        return true;
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    for (const PostArchiver *archiver = post->archivers; archiver && archiver->name; archiver++)
        if (post_archiver_chosen(post->list, archiver))
            g_strv_builder_add(names, archiver->name);
    g_auto(GStrv) chosen = g_strv_builder_end(names);
    if (*chosen)
        post_send(post, POST_ARCHIVE)->archivers = g_steal_pointer(&chosen);
    return true;
}

const Handler handler_to_archive = {.name = "to-archive", .process = process_to_archive};

/* --- to-digest ------------------------------------------------------------- */

/* Sends the post to the list's digest, if somebody wants one. All of a list meet in one process. */
static bool process_to_digest(Post *post, GError **error)
{
    bool wanted = false;
    if (!post->list->settings->digests_enabled)
        return true;
    digest_wanted_soon(post->store, post->list->list_id); /* together with member-recipients' */
    if (!digest_wanted(post->store, post->list->list_id, &wanted, error))
        return false;
    if (wanted)
        post_send(post, POST_DIGEST)->shard = g_strdup(post->list->list_id);
    return true;
}

const Handler handler_to_digest = {.name = "to-digest", .process = process_to_digest};

/* --- to-usenet ------------------------------------------------------------- */

/* Sends the post to the list's news group, unless it came from there. */
static bool process_to_usenet(Post *post, GError **error)
{
    const List *list = post->list;
    bool linked = list->settings->gateway_to_news && list->settings->linked_newsgroup &&
                  *list->settings->linked_newsgroup;
    if (!linked || post->from_news || !post->site || !post->site->news)
        return true;
    PostSend *send = post_send(post, POST_NEWS);
    if (post->author_subject && !list->settings->nntp_prefix_subject_too)
        message_set(post_send_message(post, send), "Subject", post->author_subject);
    return true;
}

const Handler handler_to_usenet = {.name = "to-usenet", .process = process_to_usenet};

/* --- to-outgoing ----------------------------------------------------------- */

/* Copies go out in the list's name: what cannot be delivered comes back to
 * -bounces. Mail of our own keeps the sender it was given. The return path of the way to us, which
 * some hosts write down when they deliver, does not go on (RFC 5321, 4.4). */
static bool process_to_outgoing(Post *post, GError **error)
{
    PostSend *send = post_send(post, POST_OUT);
    message_remove(post->message, "Return-Path");
    if (!post->ours)
        send->envelope_sender = post_list_address(post->list, "bounces");
    return true;
}

const Handler handler_to_outgoing = {.name = "to-outgoing", .process = process_to_outgoing};
