/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/probe.h"

#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/queues/queue_files.h"
#include "cli/work_site.h"
#include "lists/keys.h"
#include "lists/making/mta_maps.h"
#include "lists/site/round_trip.h"
#include "mail/text/notice.h"
#include "store/hosts/task_job.h"
#include "store/lists/domain.h"
#include "switchboard/draft.h"
#include "switchboard/intake.h"

#define LOOK_PAUSE (G_USEC_PER_SEC / 5)
#define MAPS_PATIENCE (60 * G_USEC_PER_SEC)
#define LOOKED_AT 10000 /* entries, in a queue where very many wait */
#define LOOKS 5         /* for a mail that is found nowhere */
/* Lists of a probe that was killed are older. */
#define FORSAKEN (10 * 60 * CLOCK_SECOND)

typedef struct Probe {
    WorkPlace place;
    Site *site;
    RoundTrip trip;
    char *id;  /* its Message-ID */
    char *key; /* by which the lists know the mail */
} Probe;

static void probe_clear(Probe *probe)
{
    round_trip_clear(&probe->trip);
    g_free(probe->id);
    g_free(probe->key);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Probe, probe_clear)

/* ---- the two lists ---- */

/* Make the two lists, or remove them. Lists of another probe stay, unless it was killed long ago. */
static bool put_lists(Probe *probe, bool make, GError **error)
{
    g_autoptr(Work) work = work_place_unit(&probe->place, error);
    if (work && !round_trip_drop(work, &probe->trip, make ? FORSAKEN : INT64_MIN, error)) {
        if (make)
            g_prefix_error(error, "another probe is under way: ");
        return false;
    }
    return work && (!make || round_trip_make(work, &probe->trip, error)) &&
           work_commit(work, probe->place.spool, error);
}

/* Where the MTA reads files, it must know the lists before their mail comes. The timer was asked to write them when the
 * lists were made; they are known when it has ended a run, with the command that makes them known, after that. */
static bool wait_for_maps(const Probe *probe, GError **error)
{
    const Config *config = site_config(probe->site, NULL);
    const char *directory = config_string(config, "mta", "maps_directory");
    g_autofree char *path = directory ? g_build_filename(directory, "recipients", NULL) : NULL;
    g_autofree char *of_host = g_strconcat(MTA_MAPS_JOB "@", config_string(config, "site", "hostname"), NULL);
    int64_t until = g_get_monotonic_time() + MAPS_PATIENCE;
    for (bool known = !directory; !known; g_usleep(LOOK_PAUSE)) {
        struct stat status;
        g_autofree char *text = NULL;
        bool there = g_file_get_contents(path, &text, NULL, NULL) && strstr(text, probe->trip.back) &&
                     stat(path, &status) == 0;
        int64_t written = there ? status.st_mtim.tv_sec * CLOCK_SECOND + status.st_mtim.tv_nsec / 1000 : 0;
        g_autoptr(GPtrArray) jobs = there ? task_job_all(probe->place.store, error) : NULL;
        if (there && !jobs)
            return false;
        for (guint at = 0; jobs && at < jobs->len; at++) {
            const TaskJob *job = jobs->pdata[at];
            bool ours = strcmp(job->name, MTA_MAPS_JOB) == 0 || strcmp(job->name, of_host) == 0;
            known |= ours && job->ended_at >= written && !*job->fault;
        }
        if (!known && g_get_monotonic_time() > until)
            return fail(error, FAIL_LATER,
                        "the files in %s do not have the new lists: \"listrunner task ls\" shows why", directory);
    }
    return true;
}

/* ---- the mail ---- */

static bool send(Probe *probe, ProbeResult *result, GError **error)
{
    const char *host = config_string(site_config(probe->site, error), "site", "hostname");
    probe->id = notice_id("probe", host);
    g_autoptr(Draft) draft = round_trip_mail(probe->place.store, &probe->trip, probe->id, &probe->key, error);
    Intake intake = {.draft = draft};
    if (!draft)
        return false;
    if (!intake_store(probe->place.spool, &intake, 1, false)) {
        g_propagate_error(error, intake.error);
        return false;
    }
    g_strlcpy(result->trace, meta_string(draft_meta(draft), META_TRACE, ""), sizeof result->trace);
    return true;
}

/* ---- where it is ---- */

typedef struct ProbeSearch {
    Queue *queue;
    const char *trace, *id; /* the entry has this trace; trace NULL: this Message-ID */
    unsigned looked;
    bool found;
} ProbeSearch;

static bool compare(const QueueFile *file, const char *name, void *data)
{
    ProbeSearch *search = data;
    QueueState state;
    g_autoptr(Entry) entry = queue_files_open(search->queue, file, &state, NULL);
    search->found = entry &&
                    (search->trace ? strcmp(entry_trace(entry), search->trace) == 0
                                   : strcmp(meta_string(entry_meta(entry), KEY_MESSAGE_ID, ""), search->id) == 0);
    return !search->found && ++search->looked < LOOKED_AT;
}

static bool is_in(const Probe *probe, const char *queue, ProbeSearch search)
{
    search.queue = spool_queue(probe->place.spool, queue, NULL);
    if (search.queue)
        queue_files_each(search.queue, compare, &search, NULL);
    return search.found;
}

static bool find_end(Probe *probe, ProbeResult *result, GError **error)
{
    bool copied, handed;
    if (!round_trip_arrived(probe->place.store, probe->trip.back, probe->key, &copied, error) ||
        !round_trip_arrived(probe->place.store, probe->trip.list, probe->key, &handed, error))
        return false;
    result->end = copied ? PROBE_BACK : handed ? PROBE_NOT_COPIED : PROBE_NOT_HANDED;
    return true;
}

static bool wait_for_end(Probe *probe, int seconds, ProbeResult *result, GError **error)
{
    int64_t begun = g_get_monotonic_time();
    int64_t until = begun + (int64_t)seconds * G_USEC_PER_SEC;
    do {
        g_usleep(LOOK_PAUSE);
        if (!find_end(probe, result, error))
            return false;
        result->took = g_get_monotonic_time() - begun;
    } while (result->end != PROBE_BACK && g_get_monotonic_time() < until);
    /* The lists know nothing of the mail. While it goes from one queue to the next, or is put off, which changes its
     * name, a look at the queues can miss it; so it is in none of them only when no look finds it. */
    const ProbeSearch sent = {.trace = result->trace}, handed = {.id = probe->id};
    for (unsigned look = 0; result->end == PROBE_NOT_HANDED && look < LOOKS; look++) {
        if (look > 0)
            g_usleep(LOOK_PAUSE);
        if (is_in(probe, "out", sent) || is_in(probe, "retry", sent))
            result->end = PROBE_NOT_SENT;
        else if (is_in(probe, "in", handed)) /* it was handed in, and its list does not know it yet */
            result->end = PROBE_NOT_COPIED;
        else if (!find_end(probe, result, error))
            return false;
    }
    return true;
}

bool probe_run(Site *site, const char *domain, int seconds, ProbeResult *result, GError **error)
{
    g_auto(Probe) probe = {.site = site};
    if (!work_place_open(&probe.place, site, error))
        return false;
    g_autoptr(Domain) known = domain_find(probe.place.store, domain, error);
    if (!known)
        return false;
    probe.trip = round_trip_at(ROUND_TRIP_PROBE, known->mail_host);
    if (!put_lists(&probe, true, error))
        return false;
    bool ended = wait_for_maps(&probe, error) && send(&probe, result, error) &&
                 wait_for_end(&probe, seconds, result, error);
    /* The first error is the one that matters. */
    bool removed = put_lists(&probe, false, ended ? error : NULL);
    return ended && removed;
}

char *probe_text(const ProbeResult *result, const Config *config, const char *domain)
{
    const char *host = config_string(config, "transport.relay", "host");
    int64_t port = config_integer(config, "transport.relay", "port");
    g_autofree char *relay = g_strdup_printf("%s port %" G_GINT64_FORMAT, host, port);
    switch (result->end) {
    case PROBE_BACK:
        return g_strdup_printf("A mail to a list of %s went through the mail server at %s and its copy came back, in "
                               "%.1f s.",
                               domain, relay, (double)result->took / G_USEC_PER_SEC);
    case PROBE_NOT_SENT:
        return g_strdup_printf("The mail server at %s does not take Listrunner's mail: it cannot be reached, or it "
                               "answers with 4xx; \"listrunner dest show relay\" shows what it says.",
                               relay);
    case PROBE_NOT_HANDED:
        return g_strdup_printf("The mail server at %s refused a mail for a list of %s, or took it and did not hand it "
                               "to Listrunner. \"listrunner trace %s\" says which; the mail server must hand the "
                               "domain's mail to where [runner.lmtp] listens: see listrunner-mta(8).",
                               relay, domain, result->trace);
    case PROBE_NOT_COPIED:
        break;
    }
    return g_strdup_printf("A mail to a list of %s arrived, but its copy did not come back: \"listrunner status\" "
                           "shows what waits, and the log of the mail server at %s what became of it.",
                           domain, relay);
}
