/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/batch.h"

#include <string.h>

#define NO_FATE UINT32_MAX

Batch *batch_new(struct Delivery *delivery, struct Nexthop *nexthop, size_t room)
{
    Batch *batch = g_new0(Batch, 1);
    batch->delivery = delivery;
    batch->nexthop = nexthop;
    batch->room = room;
    batch->recipients = g_new(Recipient, room);
    batch->link.data = batch;
    return batch;
}

static void forget_fates(Batch *batch)
{
    for (guint i = 0; batch->fates && i < batch->fates->len; i++) {
        Fate *fate = &g_array_index(batch->fates, Fate, i);
        g_free(fate->status);
        g_free(fate->text);
        g_free(fate->reply);
    }
    if (batch->fates)
        g_array_set_size(batch->fates, 0);
    g_clear_pointer(&batch->relay, g_free);
    g_clear_pointer(&batch->host, g_free);
}

void batch_free(Batch *batch)
{
    if (!batch)
        return;
    forget_fates(batch);
    if (batch->fates)
        g_array_unref(batch->fates);
    g_free(batch->fate_of);
    g_free(batch->recipients);
    g_free(batch->sender);
    g_free(batch->avoid);
    smtp_body_unref(batch->body);
    g_free(batch);
}

void batch_begin(Batch *batch)
{
    forget_fates(batch);
    if (!batch->fates) {
        batch->fates = g_array_new(FALSE, FALSE, sizeof(Fate));
        batch->fate_of = g_new(uint32_t, batch->count);
    }
    memset(batch->fate_of, 0xff, batch->count * sizeof(uint32_t));
    batch->unstarted = false;
    batch->behind = false;
    batch->other_host = false;
    batch->connect_us = 0;
    batch->conn_use = 0;
}

static bool same_fate(const Fate *fate, const SmtpResult *result)
{
    return fate->verdict == result->verdict && strcmp(fate->status, result->status) == 0 &&
           strcmp(fate->text, result->text) == 0;
}

void batch_set_fate(Batch *batch, size_t index, const SmtpResult *result)
{
    guint last = batch->fates->len;
    if (last == 0 || !same_fate(&g_array_index(batch->fates, Fate, last - 1), result)) {
        Fate fate = {.verdict = result->verdict,
                     .status = g_strdup(result->status),
                     .text = g_strdup(result->text),
                     .reply = g_strdup(result->reply),
                     .code = result->code,
                     .phase = result->phase,
                     .accepted = result->accepted,
                     .fallback = result->fallback,
                     .in_doubt = result->in_doubt,
                     .connection = result->connection};
        g_array_append_val(batch->fates, fate);
        last++;
    }
    g_array_index(batch->fates, Fate, last - 1).count++;
    batch->fate_of[index] = last - 1;
    batch->unstarted |= result->unstarted;
    batch->behind |= result->behind;
}

void batch_set_rest(Batch *batch, const SmtpResult *result)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->fate_of[i] == NO_FATE)
            batch_set_fate(batch, i, result);
}

static Batch *another(const Batch *batch, size_t room)
{
    Batch *rest = batch_new(batch->delivery, batch->nexthop, room);
    rest->job = batch->job;
    rest->careful = batch->careful;
    rest->unsettled = batch->unsettled;
    rest->unconnected = batch->unconnected;
    rest->avoid = g_strdup(batch->avoid);
    return rest;
}

Batch *batch_cut(Batch *batch, size_t most)
{
    g_assert(most > 0 && most < batch->count);
    Batch *rest = another(batch, batch->count - most);
    for (size_t i = most; i < batch->count; i++)
        batch_add(rest, &batch->recipients[i]);
    batch->count = batch->room = most;
    return rest;
}

Batch *batch_split(Batch *batch)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < batch->count; i++)
        count += batch_fate(batch, i)->again;
    if (count == 0)
        return NULL;
    Batch *rest = another(batch, count);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch_fate(batch, i)->again) {
            batch_add(rest, &batch->recipients[i]);
            continue;
        }
        batch->recipients[kept] = batch->recipients[i];
        batch->fate_of[kept++] = batch->fate_of[i];
    }
    for (guint i = 0; i < batch->fates->len; i++)
        if (g_array_index(batch->fates, Fate, i).again)
            g_array_index(batch->fates, Fate, i).count = 0;
    batch->count = batch->room = kept;
    return rest;
}

const Fate *batch_fate(const Batch *batch, size_t index)
{
    g_assert(batch->fate_of[index] != NO_FATE);
    return &g_array_index(batch->fates, Fate, batch->fate_of[index]);
}
