/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/held_post.h"

#include <string.h>

#include "lists/letter.h"
#include "mail/answer.h"
#include "mail/message.h"
#include "runners/keys.h"
#include "switchboard/meta.h"

#define ATTACH_MAX (48 * 1024) /* octets of the post's header */

static bool accept(Work *work, const Held *held, GError **error)
{
    json_t *meta = meta_parse(held->meta, strlen(held->meta), error);
    if (!meta)
        return false;
    meta_set_string(meta, META_LIST, held->list_id);
    json_object_del(meta, META_ORDINAL); /* that of its row in the outbox takes the place */
    json_object_del(meta, META_SHARD);
    meta_set_bool(meta, KEY_MODERATED, true);
    json_object_del(meta, META_ARRIVAL); /* its time begins anew: it may have been held for longer than mail lives */
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_ref(held->message));
    work_entry(work, "pipeline", meta, pieces, NULL);
    return true;
}

static bool may_be_told(const Held *held)
{
    if (!held->message || !held->sender)
        return false;
    g_autoptr(Message) message = message_new(held->message);
    return answer_allowed(held->sender, message);
}

static bool reject(Work *work, const Held *held, const char *reason, bool *told, GError **error)
{
    *told = may_be_told(held);
    if (!*told)
        return true;
    g_autoptr(List) list = list_by_id(work_store(work), held->list_id, error);
    if (!list)
        return false;
    g_autofree char *subject = template_brief(held->subject ? held->subject : "");
    g_autofree char *none = letter_sentence(work, list, "no_reason", NULL);
    const TemplateValue values[] = {
        {"subject", subject}, {"sender", held->sender}, {"reasons", reason ? reason : none}, {0}};
    g_autofree char *id = g_strdup_printf("rejected.%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT, held->held_at,
                                          held->number);
    g_autoptr(json_t) post = meta_parse(held->meta, strlen(held->meta), NULL);
    ListLetter letter = {.template = "rejected", .values = values, .to = held->sender, .id = id,
                         .in_reply_to = held->message_id ? held->message_id : "", .attach = NOTICE_HEADER,
                         .about = held->message, .most = ATTACH_MAX, .trace = meta_string(post, META_TRACE, NULL)};
    return work_letter(work, list, &letter, error);
}

bool held_post_decide(Work *work, int64_t number, HeldVerdict verdict, const char *reason, bool *told, GError **error)
{
    *told = false;
    g_autoptr(Held) held = held_find(work_store(work), number, error);
    if (!held)
        return false;
    if (verdict == HELD_ACCEPT && !accept(work, held, error))
        return false;
    if (verdict == HELD_REJECT && !reject(work, held, reason, told, error))
        return false;
    work_log(work, held->list_id, "held=%" G_GINT64_FORMAT " by=<%s> result=%s", number,
             work_actor(work)->address ? work_actor(work)->address : "operator",
             verdict == HELD_ACCEPT   ? "accepted"
             : verdict == HELD_REJECT ? "rejected"
                                      : "discarded");
    return held_remove(work_store(work), number, error);
}
