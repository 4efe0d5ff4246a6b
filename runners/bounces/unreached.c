/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Tells the author, or the owners, of a post that reached nobody. out sends the recipients that it has given up, as
 * long as nobody of their block has got the post (KEY_BLOCK_OF). They are counted here until they are all, over
 * entries, attempts, processes and hosts; the transaction of the runner holds the lock of the list, so two entries
 * are never counted at once. Of a post that reached somebody only what failed before that is counted.
 */
#include <string.h>

#include "base/fail.h"
#include "lists/keys.h"
#include "lists/letters/letter.h"
#include "mail/address.h"
#include "mail/answer.h"
#include "mail/header.h"
#include "runners/bounces/case.h"

#define HEADER_MAX (48 * 1024) /* bytes of the post's header in the letter */

/* Names of effects: "unreached:LIST:TRACE", and below it the blocks, and below these their recipients. */
typedef struct Unreached {
    Case *given;
    const json_t *meta;
    char *post, *block;
    int64_t size; /* recipients of the block */
} Unreached;

/* Set *whole when nobody of the block has got the post. Most blocks that reached nobody are told of by one entry. Of
 * others the block's own effect counts the recipients: out may tell of one twice, so each has an effect. */
static bool count_block(const Unreached *lost, bool *whole, GError **error)
{
    static const char *const keys[] = {KEY_FAILURES, KEY_LOST};
    Store *store = lost->given->bounces->shared->store;
    g_autoptr(GPtrArray) effects = g_ptr_array_new_with_free_func(g_free);
    int64_t added, count;
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        size_t at;
        json_t *one;
        json_array_foreach(json_object_get(lost->meta, keys[i]), at, one) {
            const char *address = json_is_string(one) ? json_string_value(one) : meta_string(one, "address", "");
            g_autofree char *key = address_key(address);
            g_ptr_array_add(effects, g_strconcat(lost->block, ":", key, NULL));
        }
    }
    *whole = effects->len >= lost->size;
    if (*whole)
        return true;
    if (!store_record_effects(store, effects, &added, error) ||
        !store_add_effect(store, lost->block, added, &count, error))
        return false;
    *whole = count >= lost->size;
    return true;
}

/* Note the block, and set *whole when that is so of all blocks. */
static bool count_post(const Unreached *lost, bool *whole, GError **error)
{
    Store *store = lost->given->bounces->shared->store;
    int64_t number = meta_integer(lost->meta, KEY_BLOCK, 0), most = meta_integer(lost->meta, KEY_BLOCK_MOST, 0);
    int64_t total = meta_integer(lost->meta, KEY_BLOCKS, 0), last = 0, count;
    *whole = number == 0 && most == 0 && total <= 1;
    if (*whole)
        return true;
    g_autofree char *own = g_strdup_printf("%s#%" G_GINT64_FORMAT, lost->post, number);
    g_autofree char *all = g_strconcat(lost->post, "#", NULL);
    bool before;
    if (!store_find_effect(store, own, &before, &count, error) ||
        (!before && !store_record_effect(store, own, total <= 0 && (most == 0 || lost->size < most), error)))
        return false;
    if (total > 0) {
        if (!store_add_effect(store, all, before ? 0 : 1, &count, error))
            return false;
        *whole = count >= total;
        return true;
    }
    /* Where their number is not known they were filled in order, so the first with fewer recipients than it might have
     * is the last one. */
    before = true;
    for (number = 0; before && !last; number++) {
        g_autofree char *each = g_strdup_printf("%s#%" G_GINT64_FORMAT, lost->post, number);
        if (!store_find_effect(store, each, &before, &last, error))
            return false;
    }
    *whole = before;
    return true;
}

/* ---- the letter ---- */

/* The author's letter leaves out the addresses that a reply names, and the senders that hold one (VERP): who writes to
 * a list may not know its members. */
static bool send(const Unreached *lost, bool to_author, GError **error)
{
    static const char address[] = "[^\\s<>()\\[\\],;:\"']*@[^\\s<>()\\[\\],;:\"']*";
    const Case *given = lost->given;
    const ListRunner *shared = given->bounces->shared;
    const json_t *failures = json_object_get(lost->meta, KEY_FAILURES);
    const char *sender = meta_string(lost->meta, KEY_SENDER, "");
    const char *last = meta_string(lost->meta, KEY_LOST_REPLY, NULL);
    last = last ? last : meta_string(json_array_get(failures, 0), "reply", "");
    g_autoptr(GRegex) regex = g_regex_new(address, 0, 0, NULL);
    g_autofree char *bare = to_author ? g_regex_replace_literal(regex, last, -1, 0, "...", 0, NULL) : NULL;
    g_autoptr(GBytes) header = entry_message(given->entry);
    g_autoptr(Message) message = message_new(header);
    g_autofree char *raw = message_value(message, "Subject"), *subject = header_decode(raw ? raw : "(no subject)");
    g_autofree char *brief = template_brief(subject), *reply = template_brief(!to_author ? last : bare ? bare : "");
    g_autofree char *owner = list_address(given->list, "owner");
    const TemplateValue values[] = {{"subject", brief}, {"sender", sender}, {"reasons", reply}, {0}};
    ListLetter letter = {.template = "post_undelivered", .values = values, .to = to_author ? sender : owner,
                         .in_reply_to = to_author ? meta_string(lost->meta, KEY_MESSAGE_ID, "") : NULL,
                         .attach = NOTICE_HEADER, .about = header, .most = HEADER_MAX, .date = given->now,
                         .trace = entry_trace(given->entry)};
    if (!to_author) {
        letter.recipients = letter_owners(shared->store, given->list, shared->site.site_owner, error);
        if (!letter.recipients)
            return false;
    }
    g_autoptr(Work) work = list_runner_work(given->bounces->shared, given->entry);
    if (!work_letter(work, given->list, &letter, error))
        return false;
    list_runner_work_into(work, given->outcome);
    list_runner_log(given->entry, "to=<%s> result=told (the post reached nobody)", letter.to);
    return true;
}

/* Tell once for a post; again in the same words when this entry comes again before its letter was on the disk. Within
 * the limits of a day the author is told, where a person has written the post and may be answered; else, also when he
 * has had all letters of today, the owners. */
static bool tell(const Unreached *lost, GError **error)
{
    Case *given = lost->given;
    g_autofree char *effect = g_strconcat(lost->post, "!", NULL);
    bool before;
    unsigned acts;
    if (!case_find(given, effect, &before, &acts, error))
        return false;
    if (!before) {
        const char *sender = meta_string(lost->meta, KEY_SENDER, "");
        g_autoptr(GBytes) header = entry_message(given->entry);
        g_autoptr(Message) message = message_new(header);
        bool author = false, owners = false;
        if (!address_same(sender, given->list->posting_address) && answer_allowed_for_post(sender, message)) {
            g_autoptr(Work) work = list_runner_work(given->bounces->shared, given->entry);
            if (!letter_allowed(work, given->list, sender, &author, error))
                return false;
            list_runner_work_into(work, given->outcome);
        }
        if (!author && !case_owner_room(given, &owners, error))
            return false;
        acts = author ? SCORE_WARN : owners ? SCORE_TELL_OWNER : 0;
        if (!case_record(given, effect, &acts, error))
            return false;
    }
    return acts == 0 || send(lost, acts & SCORE_WARN, error);
}

bool case_unreached(Case *given, GError **error)
{
    const json_t *meta = entry_meta(given->entry);
    const char *of = meta_string(meta, KEY_BLOCK_OF, NULL);
    Unreached lost = {.given = given, .meta = meta, .size = meta_integer(meta, KEY_BLOCK_SIZE, -1)};
    if (!of || lost.size < 0)
        return true;
    lost.post = g_strdup_printf("unreached:%s:%s", given->list->list_id, entry_trace(given->entry));
    lost.block = g_strdup_printf("%s:%s", lost.post, of);
    bool whole;
    bool done = count_block(&lost, &whole, error) &&
                (!whole || (count_post(&lost, &whole, error) && (!whole || tell(&lost, error))));
    g_free(lost.block);
    g_free(lost.post);
    return done;
}
