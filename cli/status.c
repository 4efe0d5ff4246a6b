/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/status.h"

#include "base/clock.h"
#include "base/fail.h"
#include "cli/control_client.h"
#include "cli/listing.h"
#include "store/host.h"

#define LATE (15 * 60 * CLOCK_SECOND) /* nobody does what the timer should */

/* What the timer did, and whether a job that somebody has to do is late by more than it should be. */
static json_t *jobs_of(Store *store, GError **error)
{
    g_autoptr(GPtrArray) all = task_job_all(store, error);
    if (!all)
        return NULL;
    json_t *jobs = json_array();
    int64_t now = clock_now();
    for (unsigned at = 0; at < all->len; at++) {
        const TaskJob *job = all->pdata[at];
        if (job->nobodys)
            continue;
        json_array_append_new(jobs, json_pack("{ss so so sI sI sI so sb}", "name", job->name, "last_run",
                                              listing_time(job->ended_at), "due_at", listing_time(job->due_at), "done",
                                              (json_int_t)job->done, "runs", (json_int_t)job->runs, "failures",
                                              (json_int_t)job->failures, "fault", listing_text(job->fault), "late",
                                              now - job->due_at > LATE));
    }
    return jobs;
}

/* Of several hosts: which live. */
static json_t *hosts_of(Store *store, GError **error)
{
    g_autoptr(GPtrArray) all = host_all(store, error);
    if (!all)
        return NULL;
    json_t *hosts = json_array();
    for (guint at = 0; at < all->len; at++) {
        const Host *host = all->pdata[at];
        json_array_append_new(hosts, json_pack("{ss sb sb so so}", "name", host->name, "living", host->living,
                                               "draining", host->draining, "seen_at", listing_time(host->seen_at),
                                               "lease_until", listing_time(host->lease_until)));
    }
    return hosts;
}

/* Of letters that forms of pages asked for today: how many went, and whether no more do. */
static json_t *form_letters_of(Store *store, Site *site, GError **error)
{
    int64_t sent, most = config_integer(site_config(site, NULL), "site", "max_form_letters_per_day");
    if (!account_count(store, ACCOUNT_FORM_SITE, ACCOUNT_OF_SITE, clock_now(), &sent, error))
        return NULL;
    bool reached = most > 0 && sent > most; /* the first that was not sent is counted, too */
    return json_pack("{sI sI sb}", "count", (json_int_t)(reached ? most : sent), "most", (json_int_t)most, "reached",
                     reached);
}

/* Of mail domains of which too many left a list at once: how many there are, and who waits. */
static json_t *leave_brakes_of(Store *store, GError **error)
{
    int64_t closed, waiting;
    return leave_brake_sum(store, clock_now(), &closed, &waiting, error)
               ? json_pack("{sI sI}", "domains", (json_int_t)closed, "waiting", (json_int_t)waiting)
               : NULL;
}

/* What the database knows: the master knows none, so this is looked up here. */
static void add_of_store(Site *site, json_t *status)
{
    g_autoptr(GError) error = NULL;
    Store *store = site_store(site, false, &error);
    FragmentCount parts;
    HeldRoom room;
    int64_t count, oldest, early;
    /* There is a store only where the configuration can be read. */
    const char *host = store ? config_string(site_config(site, NULL), "site", "hostname") : NULL;
    json_t *fragments = NULL, *held_posts = NULL, *requests = NULL;
    if (store && fragment_count(store, host, &parts, &error) &&
        fragment_count_early(store, host, clock_now() - FRAGMENT_EARLY_TOLD, &early, &error))
        fragments = json_pack("{sI sI sI sI so}", "open_sets", (json_int_t)parts.sets, "parts", (json_int_t)parts.parts,
                              "octets", (json_int_t)parts.octets, "early", (json_int_t)early, "oldest",
                              listing_time(parts.oldest));
    if (fragments && held_count(store, &count, &oldest, &error) && held_room(store, NULL, &room, &error))
        held_posts = json_pack("{sI so sI}", "count", (json_int_t)count, "since", listing_time(oldest), "bytes",
                               (json_int_t)room.all);
    if (held_posts && pending_count(store, clock_now(), &count, &oldest, &error))
        requests = json_pack("{sI so}", "count", (json_int_t)count, "since", listing_time(oldest));
    json_t *outbox = NULL, *texts = NULL;
    if (requests && outbox_count(store, host, &count, &oldest, &error))
        outbox = json_pack("{sI so sb}", "count", (json_int_t)count, "since", listing_time(oldest), "late",
                           oldest && clock_now() - oldest > LATE);
    if (outbox && template_text_count_faults(store, &count, &error))
        texts = json_integer(count);
    json_t *brakes = texts ? leave_brakes_of(store, &error) : NULL;
    json_t *forms = brakes ? form_letters_of(store, site, &error) : NULL;
    json_t *jobs = forms ? jobs_of(store, &error) : NULL;
    json_t *hosts = jobs ? hosts_of(store, &error) : NULL;
    json_object_set_new(status, "hosts", hosts ? hosts : json_null());
    json_object_set_new(status, "outbox", outbox ? outbox : json_null());
    json_object_set_new(status, "leave_brakes", brakes ? brakes : json_null());
    json_object_set_new(status, "form_letters", forms ? forms : json_null());
    json_object_set_new(status, "template_faults", texts ? texts : json_null());
    json_object_set_new(status, "jobs", jobs ? jobs : json_null());
    json_object_set_new(status, "fragments", fragments ? fragments : json_null());
    json_object_set_new(status, "held", held_posts ? held_posts : json_null());
    json_object_set_new(status, "requests", requests ? requests : json_null());
    json_object_set_new(status, "store_fault", error ? listing_text(error->message) : json_null());
}

json_t *status_ask(Site *site, GError **error)
{
    g_autoptr(ControlClient) client = control_client_open(site, error);
    json_t *status = client ? control_client_ask(client, json_pack("{s:s}", "verb", "status"), error) : NULL;
    if (status)
        add_of_store(site, status);
    return status;
}
