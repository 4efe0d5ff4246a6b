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

static bool make_lists(Probe *probe, GError **error)
{
    g_autoptr(Work) work = work_place_unit(&probe->place, error);
    if (work && !round_trip_drop(work, &probe->trip, FORSAKEN, error)) {
        g_prefix_error(error, "another probe is under way: ");
        return false;
    }
    return work && round_trip_make(work, &probe->trip, error) && work_commit(work, probe->place.spool, error);
}

static bool remove_lists(Probe *probe, GError **error)
{
    g_autoptr(Work) work = work_place_unit(&probe->place, error);
    return work && round_trip_drop(work, &probe->trip, INT64_MIN, error) &&
           work_commit(work, probe->place.spool, error);
}

/* When the file of recipients that has the new lists was written; 0: there is none yet. */
static int64_t maps_written_at(const Probe *probe, const char *directory)
{
    struct stat status;
    g_autofree char *path = g_build_filename(directory, "recipients", NULL), *text = NULL;
    bool there = g_file_get_contents(path, &text, NULL, NULL) && strstr(text, probe->trip.back) &&
                 stat(path, &status) == 0;
    return there ? status.st_mtim.tv_sec * CLOCK_SECOND + status.st_mtim.tv_nsec / 1000 : 0;
}

/* Has the timer of this host come to the end of a run, with the command that makes the files known, after that? */
static bool is_run_over(const Probe *probe, int64_t since, bool *over, GError **error)
{
    const char *host = config_string(site_config(probe->site, NULL), "site", "hostname");
    g_autofree char *of_host = g_strconcat(MTA_MAPS_JOB "@", host, NULL);
    g_autoptr(GPtrArray) jobs = task_job_all(probe->place.store, error);
    *over = false;
    for (guint at = 0; jobs && at < jobs->len; at++) {
        const TaskJob *job = jobs->pdata[at];
        bool ours = strcmp(job->name, MTA_MAPS_JOB) == 0 || strcmp(job->name, of_host) == 0;
        *over |= ours && job->ended_at >= since && !*job->fault;
    }
    return jobs != NULL;
}

/* Where the MTA reads files, it must know the lists before their mail comes. The timer was asked to write them when the
 * lists were made. */
static bool wait_for_maps(const Probe *probe, GError **error)
{
    const char *directory = config_string(site_config(probe->site, NULL), "mta", "maps_directory");
    int64_t until = g_get_monotonic_time() + MAPS_PATIENCE;
    for (bool known = !directory; !known; g_usleep(LOOK_PAUSE)) {
        int64_t written = maps_written_at(probe, directory);
        if (written > 0 && !is_run_over(probe, written, &known, error))
            return false;
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

/* Find out what became of a mail of which the lists know nothing. While it goes from one queue to the next, or is put
 * off, which changes its name, a look at the queues can miss it. So it is in none of them only when no look finds it.
 * What is in the queue in was handed in, and its list does not know it yet. */
static bool find_queue(Probe *probe, ProbeResult *result, GError **error)
{
    const ProbeSearch sent = {.trace = result->trace}, handed = {.id = probe->id};
    for (unsigned look = 0; result->end == PROBE_NOT_HANDED && look < LOOKS; look++) {
        if (look > 0)
            g_usleep(LOOK_PAUSE);
        if (is_in(probe, "out", sent) || is_in(probe, "retry", sent))
            result->end = PROBE_NOT_SENT;
        else if (is_in(probe, "in", handed))
            result->end = PROBE_NOT_COPIED;
        else if (!find_end(probe, result, error))
            return false;
    }
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
    return find_queue(probe, result, error);
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
    if (!make_lists(&probe, error))
        return false;
    bool ended = wait_for_maps(&probe, error) && send(&probe, result, error) &&
                 wait_for_end(&probe, seconds, result, error);
    /* The first error is the one that matters. */
    bool removed = remove_lists(&probe, ended ? error : NULL);
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
