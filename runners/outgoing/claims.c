/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/claims.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"

static void for_each(Claims *claims, void (*step)(Claim *claim))
{
    for (int source = 0; source < SOURCES; source++)
        for (guint i = 0; i < claims->picked[source]->len; i++)
            step(&g_array_index(claims->picked[source], Claim, i));
}

/* By whoever comes first: the thread, or a loop that got none. */
static bool make_all(Claims *claims)
{
    g_mutex_lock(&claims->lock);
    bool mine = claims->state == CLAIMS_WAITING;
    if (mine)
        claims->state = CLAIMS_RUNNING;
    g_mutex_unlock(&claims->lock);
    if (!mine)
        return false;
    for_each(claims, claim_begin);
    for_each(claims, claim_make);
    g_mutex_lock(&claims->lock);
    claims->state = CLAIMS_READY;
    g_cond_signal(&claims->done);
    g_mutex_unlock(&claims->lock);
    return true;
}

static void make_aside(gpointer data, gpointer user_data)
{
    (void)data;
    const Claims *claims = user_data;
    if (make_all(user_data) && eventfd_write(claims->wake, 1) != 0)
        log_error("cannot wake the loop: %s", g_strerror(errno));
}

void claims_init(Claims *claims)
{
    for (int source = 0; source < SOURCES; source++)
        claims->picked[source] = g_array_new(FALSE, FALSE, sizeof(Claim));
    g_mutex_init(&claims->lock);
    g_cond_init(&claims->done);
    claims->pool = g_thread_pool_new(make_aside, claims, 1, FALSE, NULL);
    claims->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static void wait_ready(Claims *claims)
{
    make_all(claims);
    g_mutex_lock(&claims->lock);
    while (claims->state == CLAIMS_RUNNING)
        g_cond_wait(&claims->done, &claims->lock);
    claims->state = CLAIMS_IDLE;
    g_mutex_unlock(&claims->lock);
}

void claims_clear(Claims *claims)
{
    wait_ready(claims);
    g_thread_pool_free(claims->pool, TRUE, TRUE); /* what waits there is done */
    for (int source = 0; source < SOURCES; source++) {
        for (guint i = 0; i < claims->picked[source]->len; i++) {
            Claim *claim = &g_array_index(claims->picked[source], Claim, i);
            g_clear_pointer(&claim->entry, entry_free);
            g_clear_error(&claim->fault);
        }
        g_array_unref(claims->picked[source]);
    }
    if (claims->wake >= 0)
        close(claims->wake);
    g_mutex_clear(&claims->lock);
    g_cond_clear(&claims->done);
}

/* Begin to claim. If the system gives no thread, the work stays with the pool, which finds it done when it gets one. */
void claims_begin(Claims *claims, bool aside)
{
    g_mutex_lock(&claims->lock);
    claims->state = CLAIMS_WAITING;
    g_mutex_unlock(&claims->lock);
    if (!aside || claims->wake < 0 || !g_thread_pool_push(claims->pool, claims, NULL))
        make_all(claims);
}

size_t claims_count(const Claims *claims)
{
    size_t count = 0;
    for (int source = 0; source < SOURCES; source++)
        count += claims->picked[source]->len;
    return count;
}

bool claims_ready(Claims *claims)
{
    g_mutex_lock(&claims->lock);
    bool ready = claims->state == CLAIMS_READY;
    g_mutex_unlock(&claims->lock);
    return ready;
}

bool claims_collect(Claims *claims, Inbox *const inboxes[SOURCES], GPtrArray *const entries[SOURCES], GError **error)
{
    bool sound = true;
    wait_ready(claims);
    for (int source = 0; source < SOURCES; source++) {
        for (guint i = 0; i < claims->picked[source]->len; i++) {
            Claim *claim = &g_array_index(claims->picked[source], Claim, i);
            sound &= inbox_take(inboxes[source], claim, entries[source], sound ? error : NULL);
        }
        g_array_set_size(claims->picked[source], 0);
    }
    return sound;
}
