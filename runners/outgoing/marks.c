/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/marks.h"

#include "base/log.h"
#include "runners/outgoing/bounce.h"
#include "runners/outgoing/nexthop.h"
#include "runners/outgoing/refusal.h"
#include "switchboard/intake.h"

void marks_init(Marks *marks)
{
    marks->dirty = g_ptr_array_new();
    marks->bounces = g_ptr_array_new_with_free_func((GDestroyNotify)bounce_draft_free);
    marks->directories = g_ptr_array_new();
    marks->group = g_array_new(FALSE, FALSE, sizeof(FsSync));
}

void marks_clear(Marks *marks)
{
    g_ptr_array_unref(marks->dirty);
    g_ptr_array_unref(marks->bounces);
    g_ptr_array_unref(marks->directories);
    g_array_unref(marks->group);
}

static bool mark(Marks *marks, Delivery *delivery, const GArray *offsets, char state, GError **error)
{
    if (offsets->len == 0)
        return true;
    if (!delivery->dirty)
        g_ptr_array_add(marks->dirty, delivery);
    delivery->dirty = true;
    return entry_mark(delivery->entry, (const size_t *)offsets->data, offsets->len, state, error);
}

static void add_bounce(Marks *marks, BounceDraft *bounce)
{
    if (bounce)
        g_ptr_array_add(marks->bounces, bounce);
}

bool marks_batch(Marks *marks, const Batch *batch, GError **error)
{
    Delivery *delivery = batch->delivery;
    const Destination *destination = batch->nexthop->destination;
    g_autoptr(GArray) sent = g_array_new(FALSE, FALSE, sizeof(size_t));
    BounceMaker *maker = bounce_maker_new(delivery);
    for (size_t i = 0; i < batch->count; i++) {
        const Recipient *recipient = &batch->recipients[i];
        const Fate *fate = batch_fate(batch, i);
        if (fate->verdict == SMTP_SENT) {
            g_array_append_val(sent, recipient->offset);
        } else if (fate->verdict == SMTP_NEVER) {
            /* LMTP answers to the end of data for each recipient. */
            const char *phase = fate->phase == SMTP_DOT && destination->lmtp ? "rcpt" : fate_phase(fate);
            add_bounce(marks, bounce_maker_add(maker, recipient,
                                               &(Failure){fate->status, fate->reply, batch->relay, phase, false}));
        } else {
            bool broke_off = fate->connection && fate->code == 0 && fate->phase >= SMTP_MAIL;
            delivery->deferred++;
            if (destination->own && refusal_is_ours(fate))
                delivery_spare(delivery, recipient->offset);
            if (broke_off)
                delivery_lost(delivery, recipient->offset, fate->in_doubt);
        }
    }
    delivery->sent += sent->len;
    add_bounce(marks, bounce_maker_end(maker));
    return mark(marks, delivery, sent, RECIPIENT_DONE, error);
}

bool marks_store_bounces(Marks *marks, Spool *spool, GError **error)
{
    size_t count = marks->bounces->len;
    if (count == 0)
        return true;
    g_autofree Intake *group = g_new0(Intake, count);
    for (size_t i = 0; i < count; i++)
        group[i].draft = ((BounceDraft *)marks->bounces->pdata[i])->draft;
    intake_store(spool, group, count, true);
    bool sound = true;
    for (size_t i = 0; i < count; i++) {
        const BounceDraft *bounce = marks->bounces->pdata[i];
        g_autoptr(GError) fault = group[i].error;
        if (fault) {
            log_error("%s list=%s queue=" BOUNCES_QUEUE
                      " %u refusals cannot be stored, delivery will be tried again: %s",
                      entry_trace(bounce->delivery->entry), entry_list(bounce->delivery->entry), bounce->offsets->len,
                      fault->message);
            bounce->delivery->deferred += bounce->offsets->len;
            continue;
        }
        bounce->delivery->refused += bounce->offsets->len;
        sound = sound && mark(marks, bounce->delivery, bounce->offsets, RECIPIENT_BOUNCED, error);
    }
    g_ptr_array_set_size(marks->bounces, 0);
    return sound;
}

void marks_touch(Marks *marks, Queue *queue)
{
    if (!g_ptr_array_find(marks->directories, queue, NULL))
        g_ptr_array_add(marks->directories, queue);
}

void marks_forget(Marks *marks, Delivery *delivery)
{
    if (delivery->dirty)
        g_ptr_array_remove_fast(marks->dirty, delivery);
    delivery->dirty = false;
}

bool marks_sync_job(Marks *marks, Delivery *delivery, GError **error)
{
    if (!delivery->dirty)
        return true;
    marks_forget(marks, delivery);
    return entry_sync_marks(delivery->entry, error);
}

static void add_to_group(Marks *marks, int fd, bool directory)
{
    FsSync member = {.fd = fd, .directory = directory};
    g_array_append_val(marks->group, member);
}

void marks_sync_begin(Marks *marks)
{
    g_array_set_size(marks->group, 0);
    for (guint i = 0; i < marks->dirty->len; i++) {
        Delivery *delivery = marks->dirty->pdata[i];
        delivery->dirty = false;
        add_to_group(marks, entry_fd(delivery->entry), false);
    }
    for (guint i = 0; i < marks->directories->len; i++)
        add_to_group(marks, queue_fd(marks->directories->pdata[i]), true);
    g_ptr_array_set_size(marks->dirty, 0);
    g_ptr_array_set_size(marks->directories, 0);
    if (marks->group->len > 0)
        marks->syncing = fs_sync_begin((FsSync *)(void *)marks->group->data, marks->group->len);
}

bool marks_syncing(const Marks *marks)
{
    return marks->syncing != NULL;
}

bool marks_sync_end(Marks *marks, GError **error)
{
    FsSyncing *syncing = g_steal_pointer(&marks->syncing);
    return !syncing || fs_sync_end(syncing, &marks->took, error);
}

bool marks_sync(Marks *marks, GError **error)
{
    marks_sync_begin(marks);
    return marks_sync_end(marks, error);
}
