/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Looks after this host: sends mail through the MTA to see it come back (sender.h), and tells the operator of all that
 * waits for him by a way that needs no mail of this server (alarm.h). It works while the database is away, which is one
 * of the faults that it tells.
 */
#include <poll.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/site/attention.h"
#include "lists/site/site_state.h"
#include "runners/process.h"
#include "runners/watch/alarm.h"
#include "runners/watch/sender.h"
#include "store/place.h"

#define MASTER_SECONDS 5
#define RETRY (10 * CLOCK_SECOND) /* after a fault of the sender */

typedef struct Watch {
    const Child *child;
    const Config *config;
    Store *store; /* of the sender; NULL: it could not be opened yet */
    Spool *spool;
    Alarm *alarm;
    Sender sender;
    bool untold;              /* something could not be told */
    int64_t send_at, look_at; /* clock_monotonic() */
    uint64_t looks;
} Watch;

/* Called while something else takes its time. */
static bool beat(void *data)
{
    Watch *own = data;
    child_beat(own->looks, own->looks, 0, 0, NULL);
    return !child_stopping();
}

static bool start(void *data, const Process *process, GError **error)
{
    Watch *own = data;
    own->child = process->child;
    own->config = process->config;
    own->spool = spool_open(config_string(own->config, "spool", "directory"), error);
    if (!own->spool)
        return false;
    own->alarm = alarm_new(own->config, own->spool, beat, own);
    return true;
}

/* Return the faults that are worth a notice. Posts that wait for moderators are no fault of the site, and our own
 * notice only says that nothing can be told. *whole: nothing is unknown. */
static GPtrArray *faults_of(const Watch *own, const json_t *state, bool *whole)
{
    GPtrArray *all = attention_of(state);
    g_autofree char *ours = g_strdup_printf("notice %s 0", own->child->runner);
    *whole = !json_is_string(json_object_get(state, "store_fault"));
    for (guint at = 0; at < all->len;) {
        const Attention *one = all->pdata[at];
        *whole &= one->kind != ATTENTION_UNKNOWN;
        if (one->kind == ATTENTION_UNKNOWN || one->kind == ATTENTION_MODERATOR || g_str_equal(one->key, ours))
            g_ptr_array_remove_index(all, at);
        else
            at++;
    }
    return all;
}

static void look(Watch *own)
{
    g_autoptr(GError) silent = NULL, untold = NULL, away = NULL;
    g_autoptr(json_t) state = site_state_ask(own->config, MASTER_SECONDS, &silent);
    g_autoptr(GPtrArray) faults = NULL;
    bool whole = false;
    if (state) {
        /* The database is opened anew: a connection that is open goes on with a file that somebody has taken away. */
        g_autoptr(Store) store = store_open_for_work(own->config, &away);
        if (store)
            site_state_add(store, own->config, state);
        else
            site_state_without_store(state, away);
        faults = faults_of(own, state, &whole);
    } else {
        faults = g_ptr_array_new_with_free_func((GDestroyNotify)attention_free);
        Attention *one = g_new0(Attention, 1);
        one->kind = ATTENTION_SITE;
        one->key = g_strdup("master");
        one->text = g_strdup_printf("The master does not answer: %s", silent->message);
        one->mend = g_strdup("listrunner status");
        g_ptr_array_add(faults, one);
    }
    bool told = alarm_look(own->alarm, faults, whole, &untold);
    own->looks++;
    if (told && own->untold)
        child_notice(CHILD_NOTICE_WORK, NULL);
    own->untold = !told;
    if (told || child_stopping())
        return;
    g_autofree char *notice = g_strdup_printf("the operator could not be told: %s", untold->message);
    log_warn("%s", notice);
    child_notice(CHILD_NOTICE_WORK, notice);
}

static void send(Watch *own)
{
    g_autoptr(GError) error = NULL;
    int64_t wait;
    if (!own->store) {
        own->store = store_open_for_work(own->config, &error);
        if (own->store)
            sender_init(&own->sender, own->config, own->store, own->spool);
    }
    if (own->store && sender_turn(&own->sender, &wait, &error)) {
        own->send_at = wait == INT64_MAX ? INT64_MAX : clock_monotonic() + wait;
        return;
    }
    log_warn("no mail is sent through the mail server to see it come back: %s", error->message);
    own->send_at = clock_monotonic() + RETRY;
}

static void work(void *data)
{
    Watch *own = data;
    int64_t heartbeat = config_duration(own->config, "master", "heartbeat_interval");
    while (!child_stopping()) {
        struct pollfd fds[] = {{own->child->wake_fd, POLLIN, 0}, {own->child->status_fd, 0, 0}};
        int64_t wait = MIN(MIN(own->send_at, own->look_at) - clock_monotonic(), heartbeat);
        if (poll(fds, G_N_ELEMENTS(fds), (int)(MAX(wait, 0) / 1000) + 1) > 0 && (fds[1].revents & POLLERR))
            child_stop();
        child_reopen();
        if (!child_stopping() && clock_monotonic() >= own->send_at)
            send(own);
        if (!child_stopping() && clock_monotonic() >= own->look_at) {
            look(own);
            own->look_at = clock_monotonic() + config_duration(own->config, "watch", "look");
        }
        beat(own);
    }
}

static void stop(void *data)
{
    Watch *own = data;
    alarm_free(own->alarm);
    if (own->store)
        sender_clear(&own->sender);
    store_free(own->store);
    spool_free(own->spool);
}

int main(int argc, char **argv)
{
    Watch own = {0};
    const ProcessSpec spec = {.name = "watch", .start = start, .work = work, .stop = stop};
    return process_main(&spec, &own, argc, argv);
}
