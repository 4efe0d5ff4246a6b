/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner status: what the master and its children do, and what waits for a person. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "cli/destinations.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/status_text.h"
#include "store/host.h"

#define WATCH_PAUSE 2 /* seconds */
#define LATE (15 * 60 * CLOCK_SECOND) /* nobody does what the timer should */

static gboolean watching;

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
        fragments = json_pack("{sI sI sI sI so}", "open_sets", (json_int_t)parts.sets, "parts",
                              (json_int_t)parts.parts, "octets", (json_int_t)parts.octets, "early", (json_int_t)early,
                              "oldest", listing_time(parts.oldest));
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

/* NULL when no master can be asked. */
static json_t *ask(Site *site, GError **error)
{
    g_autoptr(ControlClient) client = control_client_open(site, error);
    json_t *status = client ? control_client_ask(client, json_pack("{s:s}", "verb", "status"), error) : NULL;
    if (status)
        add_of_store(site, status);
    return status;
}

static void print_json(Site *site, json_t *status)
{
    /* Absent while no instance of out can be asked. */
    json_t *destinations = destinations_ask(site, json_pack("{s:s}", "verb", "destinations"), NULL);
    if (destinations)
        json_object_set_new(status, "destinations", destinations);
    json_dumpf(status, stdout, watching ? JSON_COMPACT : JSON_INDENT(2));
    putchar('\n');
}

/* As much of a line as fits in so many columns. */
static void print_cut(const char *line, int columns)
{
    for (; *line && columns > 0; line = g_utf8_next_char(line)) {
        gunichar letter = g_utf8_get_char(line);
        columns -= g_unichar_iszerowidth(letter) ? 0 : g_unichar_iswide(letter) ? 2 : 1;
        if (columns >= 0)
            fwrite(line, 1, (size_t)(g_utf8_next_char(line) - line), stdout);
    }
}

/* Repeated on a terminal, each picture takes the place of the one before, so it must not be larger than the screen. */
static void print_screen(const char *text)
{
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        size = (struct winsize){.ws_col = 80, .ws_row = 24};
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_auto(GStrv) lines = g_strsplit(g_strchomp(valid), "\n", -1);
    guint count = g_strv_length(lines);
    guint shown = MIN(count, (guint)size.ws_row - 1);
    fputs("\033[H\033[J", stdout);
    for (guint i = 0; i < shown; i++) {
        /* The last line is the sum of it all. */
        print_cut(i + 1 == shown ? lines[count - 1] : lines[i], size.ws_col);
        putchar('\n');
    }
}

static void print_text(const char *text)
{
    if (watching && isatty(STDOUT_FILENO))
        print_screen(text);
    else
        fputs(text, stdout);
}

static int show(Site *site, json_t *status)
{
    if (json_option) {
        print_json(site, status);
    } else {
        char *text = NULL;
        size_t size;
        FILE *page = open_memstream(&text, &size);
        status_text(page, status);
        fclose(page);
        g_autofree char *plain = plain_message(text, size); /* names of queues and destinations are others' */
        print_text(plain);
        free(text);
    }
    int code = !json_is_true(json_object_get(status, "healthy")) ? TOOL_NOT_SO
               : status_waits(status)                            ? TOOL_WAITING
                                                                 : TOOL_OK;
    fflush(stdout);
    json_decref(status);
    return code;
}

/* Until nobody reads it any more. A master that has stopped may come back. */
static int watch(Site *site)
{
    int code = TOOL_OK;
    while (!ferror(stdout)) {
        sleep(WATCH_PAUSE);
        g_autoptr(GError) error = NULL;
        json_t *status = ask(site, &error);
        if (status) {
            code = show(site, status);
            continue;
        }
        code = TOOL_NOT_RUNNING;
        if (json_option) {
            json_t *reply = json_pack("{s:b,s:o}", "ok", 0, "error", listing_text(error->message));
            listing_json(reply);
            json_decref(reply);
        } else {
            g_autofree char *text = g_strdup_printf("The master has stopped, or does not answer: %s.\n"
                                                    "Waiting until it is back.\n", error->message);
            print_text(text);
        }
        fflush(stdout);
    }
    return code;
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(GError) cause = NULL;
    json_t *status = ask(site, &cause);
    if (!status)
        return control_client_refused(&cause, error);
    int code = show(site, status);
    return watching ? watch(site) : code;
}

static const GOptionEntry options[] = {
    {"json", 0, 0, G_OPTION_ARG_NONE, &json_option, "print all as JSON, destinations too", NULL},
    {"watch", 'w', 0, G_OPTION_ARG_NONE, &watching, "print it again every two seconds", NULL},
    G_OPTION_ENTRY_NULL,
};

const Command cmd_status = {
    .name = "status",
    .arguments = "",
    .summary = "Show the master, every process, and what waits for a person",
    .details = "Exit codes: 0 all is well; 1 a process is dead, throttled or stalled; 2 the processes are well, but\n"
               "something waits for a person or could not be found out; 3 not running.",
    .options = options,
    .run = run,
};
