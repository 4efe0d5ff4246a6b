/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/post.h"

#include <stdarg.h>
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "base/pattern.h"
#include "mail/address.h"
#include "mail/answer.h"
#include "posting/authenticity.h"
#include "store/lists/list_setting.h"

static void send_free(void *data)
{
    PostSend *send = data;
    message_free(send->message);
    g_free(send->shard);
    g_strfreev(send->archivers);
    g_free(send->envelope_sender);
    g_clear_pointer(&send->pieces, g_ptr_array_unref);
    g_clear_pointer(&send->holes, g_array_unref);
    g_free(send->to);
    g_free(send);
}

const char *post_end_text(PostEnd end)
{
    static const char *const texts[] = {"done", "discarded", "rejected", "forwarded", "preserved"};
    return texts[end];
}

void post_init(Post *post)
{
    *post = (Post){.action = ACTION_UNSET};
    post->hits = g_ptr_array_new();
    post->misses = g_ptr_array_new();
    post->reasons = g_ptr_array_new_with_free_func(g_free);
    post->removed = g_ptr_array_new_with_free_func(g_free);
    post->sends = g_ptr_array_new_with_free_func(send_free);
    post->patterns = pattern_memory_new();
}

void post_clear(Post *post)
{
    g_clear_pointer(&post->hits, g_ptr_array_unref);
    g_clear_pointer(&post->misses, g_ptr_array_unref);
    g_clear_pointer(&post->reasons, g_ptr_array_unref);
    g_clear_pointer(&post->removed, g_ptr_array_unref);
    g_clear_pointer(&post->senders, g_ptr_array_unref);
    g_clear_pointer(&post->destinations, g_ptr_array_unref);
    g_clear_pointer(&post->patterns, g_hash_table_unref);
    g_clear_pointer(&post->target, g_free);
    g_clear_pointer(&post->member, g_free);
    g_clear_pointer(&post->found, member_free);
    g_clear_pointer(&post->message_key, g_free);
    g_clear_pointer(&post->authenticity, authenticity_free);
    g_clear_pointer(&post->given, g_strfreev);
    g_clear_pointer(&post->loop, loop_free);
    g_clear_pointer(&post->author_subject, g_free);
    g_clear_pointer(&post->skip_sender, g_free);
    g_clear_pointer(&post->copied, g_strfreev);
    g_clear_pointer(&post->topics, g_strfreev);
    g_clear_pointer(&post->sends, g_ptr_array_unref);
}

static void add_addresses(const Post *post, const char *name, GPtrArray *list)
{
    size_t index = 0;
    for (const Field *field; (field = message_find(post->message, name, &index)); index++)
        address_parse(field->text + field->value_offset, field->length - field->value_offset, list);
}

GPtrArray *post_addresses(const Post *post, const char *const *names)
{
    GPtrArray *list = address_list_new();
    for (; *names; names++)
        add_addresses(post, *names, list);
    return list;
}

/* Does a reader of the value find as many addresses as in its two halves? */
static bool is_joined(const char *value, const char *present, const char *person)
{
    g_autoptr(GPtrArray) all = address_list_new(), halves = address_list_new();
    address_parse(value, strlen(value), all);
    address_parse(present, strlen(present), halves);
    address_parse(person, strlen(person), halves);
    return all->len == halves->len;
}

void post_add_person(Message *message, const char *name, const char *person)
{
    size_t index = 0;
    g_autoptr(GString) present = g_string_new(NULL);
    for (const Field *field; (field = message_find(message, name, &index)); index++) {
        g_autofree char *text = field_value_folded(field);
        size_t length = strlen(g_strchug(text));
        while (length > 0 && (g_ascii_isspace(text[length - 1]) || text[length - 1] == ','))
            length--;
        if (length > 0)
            g_string_append_printf(present, "%s%.*s", present->len > 0 ? ",\r\n " : "", (int)length, text);
    }
    const char *between = present->len > 0 ? ",\r\n " : "";
    g_autofree char *behind = g_strconcat(present->str, between, person, NULL);
    g_autofree char *before = g_strconcat(person, between, present->str, NULL);
    message_set(message, name, is_joined(behind, present->str, person) ? behind : before);
}

/* The number of senders is small, so each is compared with each. */
static void add_sender(GPtrArray *senders, const char *text)
{
    g_autoptr(Mailbox) mailbox = mailbox_new(text);
    for (unsigned at = 0; at < senders->len; at++)
        if (strcmp(((const Mailbox *)senders->pdata[at])->folded, mailbox->folded) == 0)
            return;
    g_ptr_array_add(senders, g_steal_pointer(&mailbox));
}

bool post_find_member(const Post *post, Role role, const Mailbox *address, Member **member, GError **error)
{
    g_autoptr(GError) fault = NULL;
    *member = member_find(post->store, post->list->list_id, role, address, &fault);
    return *member || g_error_matches(fault, FAIL, FAIL_MISSING) || fail_unless(error, FAIL_NEVER, &fault);
}

/* More would only be somebody's trick to make us search. */
#define SENDERS_MAX 20

static void add_senders(Post *post, const char *name)
{
    g_autoptr(GPtrArray) list = address_list_new();
    add_addresses(post, name, list);
    for (unsigned at = 0; at < list->len && post->senders->len < SENDERS_MAX; at++)
        add_sender(post->senders, ((Address *)list->pdata[at])->mailbox);
}

const GPtrArray *post_senders(Post *post)
{
    if (!post->senders) {
        post->senders = g_ptr_array_new_with_free_func((GDestroyNotify)mailbox_free);
        add_senders(post, "From");
        g_autofree char *sender = post->sender ? mailbox_bare(post->sender) : NULL;
        if (sender)
            add_sender(post->senders, sender);
        add_senders(post, "Reply-To");
        add_senders(post, "Sender");
    }
    return post->senders;
}

const char *post_first_sender(Post *post)
{
    const GPtrArray *senders = post_senders(post);
    return senders->len > 0 ? ((const Mailbox *)senders->pdata[0])->text : NULL;
}

const char *post_poster(Post *post)
{
    return post->member ? post->member : post_first_sender(post);
}

const GPtrArray *post_destinations(Post *post)
{
    static const char *const names[] = {"To", "Cc", "Resent-To", "Resent-Cc", NULL};
    if (!post->destinations)
        post->destinations = post_addresses(post, names);
    return post->destinations;
}

PostSend *post_send(Post *post, const char *queue)
{
    PostSend *send = g_new0(PostSend, 1);
    send->queue = queue;
    g_ptr_array_add(post->sends, send);
    return send;
}

void post_send_letter(Post *post, const char *letter, const char *to, bool with_header)
{
    PostSend *send = post_send(post, "virgin");
    send->letter = letter;
    send->to = g_strdup(to);
    send->with_header = with_header;
}

PostSend *post_send_find(const Post *post, const char *queue)
{
    for (guint at = 0; at < post->sends->len; at++) {
        PostSend *send = post->sends->pdata[at];
        if (strcmp(send->queue, queue) == 0)
            return send;
    }
    return NULL;
}

Message *post_send_message(const Post *post, PostSend *send)
{
    if (send->message)
        return send->message;
    g_autoptr(GBytes) whole = message_octets(post->message);
    return send->message = message_new(whole);
}

/* The message of the send in the pieces in which it leaves. */
static GPtrArray *pieces_of(const Post *post, const PostSend *send)
{
    if (send->pieces)
        return g_ptr_array_ref(send->pieces);
    const Message *message = send->message ? send->message : post->message;
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, message_head(message));
    g_ptr_array_add(pieces, message_body(message));
    return pieces;
}

static GBytes *joined(const GPtrArray *pieces)
{
    GByteArray *all = g_byte_array_new();
    for (guint at = 0; at < pieces->len; at++) {
        size_t length;
        const guint8 *octets = g_bytes_get_data(pieces->pdata[at], &length);
        g_byte_array_append(all, octets, (guint)length);
    }
    return g_byte_array_free_to_bytes(all);
}

void post_send_sign(const Post *post, PostSend *send, const Signing *signing)
{
    const GPtrArray *keys = post->site ? post->site->keys : NULL;
    if (!dkim_keys_fit(keys, signing))
        return;
    send->sign = send->sign || signing->dkim;
    send->seal = send->seal || signing->seal;
    if (send->holes && send->holes->len > 0)
        return;
    g_autoptr(GPtrArray) pieces = pieces_of(post, send);
    g_autoptr(GBytes) octets = joined(pieces);
    g_autofree char *about = g_strdup_printf("%s list=%s", post->trace, post->list->list_id);
    GPtrArray *whole = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    GBytes *with_fields = dkim_keys_sign(keys, signing, octets, about);
    send->signed_octets += g_bytes_get_size(with_fields) - g_bytes_get_size(octets);
    g_ptr_array_add(whole, with_fields);
    g_clear_pointer(&send->pieces, g_ptr_array_unref);
    send->pieces = whole;
}

void post_add_reason(Post *post, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_ptr_array_add(post->reasons, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

char *post_reasons(const Post *post, const char *separator)
{
    GString *text = g_string_new(NULL);
    for (unsigned at = 0; at < post->reasons->len; at++)
        g_string_append_printf(text, "%s%s", at ? separator : "", (const char *)post->reasons->pdata[at]);
    return g_string_free(text, false);
}

/* An empty choice is all of them. */
bool post_archiver_chosen(const List *list, const PostArchiver *archiver)
{
    if (archiver->public_only && list->settings->archive_policy != ARCHIVE_PUBLIC)
        return false;
    return !list->settings->archivers || !*list->settings->archivers ||
           g_strv_contains((const char *const *)list->settings->archivers, archiver->name);
}

bool post_may_answer(Post *post)
{
    if (!post->answer_known)
        post->answer_allowed = post->sender && !address_same(post->sender, post->list->posting_address) &&
                               answer_allowed(post->sender, post->message);
    post->answer_known = true;
    return post->answer_allowed;
}

char *post_list_address(const List *list, const char *suffix)
{
    return list_address(list, suffix);
}

/* --- mail that goes round -------------------------------------------------- */

/* Mail to a list and to its owners may be the same, and goes to different people. No Message-ID begins so. */
#define FOR_OWNERS "owner: "

struct PostLoop {
    const LoopKeys *keys;
    LoopMark mark;
    char *origin;      /* Message-ID of the first mail; NULL: it has none, or loop_begin() was not called yet */
    char *value, *value_id; /* the mark that was made last, and the Message-ID that it is for */
};

void loop_set(Post *post, const LoopKeys *keys, LoopMark *mark)
{
    g_clear_pointer(&post->loop, loop_free);
    post->loop = g_new0(PostLoop, 1);
    post->loop->keys = keys;
    post->loop->mark = *mark;
    *mark = (LoopMark){0};
}

void loop_free(PostLoop *loop)
{
    loop_mark_clear(&loop->mark);
    g_free(loop->origin);
    g_free(loop->value);
    g_free(loop->value_id);
    g_free(loop);
}

static char *origin_of(const Post *post)
{
    return post->loop && post->loop->mark.origin ? g_strdup(post->loop->mark.origin) : loop_mark_key(post->message);
}

char *loop_message_key(const Post *post)
{
    g_autofree char *origin = origin_of(post);
    return origin && post->for_owners ? g_strconcat(FOR_OWNERS, origin, NULL) : g_steal_pointer(&origin);
}

bool loop_stops(Post *post)
{
    if (!post->loop)
        return false;
    /* Has the mail been at the place that it comes to now? A list does not take its own letters as posts; its owners
     * may get them. */
    const LoopMark *mark = &post->loop->mark;
    const char *id = post->list->id;
    bool here = post->for_owners ? loop_mark_has(mark, LOOP_OWNER, id)
                                 : loop_mark_has(mark, LOOP_POSTING, id) || loop_mark_has(mark, LOOP_LETTER, id);
    if (!here && mark->depth < LOOP_DEPTH_MAX)
        return false;
    if (here)
        post_add_reason(post, "The message has passed this list before.");
    else
        post_add_reason(post, "The message has passed %u lists of this site.", mark->depth);
    return true;
}

void loop_begin(Post *post)
{
    if (post->loop && !post->loop->origin)
        post->loop->origin = origin_of(post);
}

/* The value holds for one Message-ID, which handlers may change. */
static void mark_one(const Post *post, Message *message)
{
    PostLoop *loop = post->loop;
    g_autofree char *id = message_id(message);
    if (!loop->value || g_strcmp0(id, loop->value_id) != 0) {
        g_free(loop->value);
        g_free(loop->value_id);
        LoopPlace place = post->for_owners ? LOOP_OWNER : LOOP_POSTING;
        loop->value = loop_mark_make(loop->keys, &loop->mark, place, post->list->id, id, loop->origin);
        loop->value_id = g_steal_pointer(&id);
    }
    loop_mark_put(message, loop->value);
}

void loop_mark_all(Post *post)
{
    if (!post->loop || post->ours || post->digest) /* which were marked when they were written */
        return;
    mark_one(post, post->message);
    for (guint at = 0; at < post->sends->len; at++) {
        const PostSend *send = post->sends->pdata[at];
        if (send->message)
            mark_one(post, send->message);
    }
}
