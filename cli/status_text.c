/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/status_text.h"

#include <glib.h>

#include "base/clock.h"
#include "cli/plain.h"

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* "3s", "12m", "5h", "8d": the largest unit of which there are two. */
static const char *span(char *text, size_t size, double seconds)
{
    static const struct {
        double length;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}};
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        if (seconds >= 2 * units[i].length) {
            g_snprintf(text, size, "%.0f%c", seconds / units[i].length, units[i].unit);
            return text;
        }
    g_snprintf(text, size, "%.0fs", MAX(seconds, 0));
    return text;
}

static const char *span_or_dash(char *text, size_t size, const json_t *seconds)
{
    return json_is_number(seconds) ? span(text, size, json_number_value(seconds)) : "-";
}

/* How long the oldest entry has been due. */
static const char *oldest(char *text, size_t size, const json_t *child)
{
    const char *due = text_of(child, "oldest");
    if (!due)
        return "-";
    return span(text, size, (double)clock_now() / (double)CLOCK_SECOND - g_ascii_strtod(due, NULL));
}

/* A state in one short word. */
static const char *state_word(const json_t *child)
{
    static const struct {
        const char *state, *word;
    } words[] = {
        {"waiting to restart", "waiting"}, {"failed config", "failed"}, {"waiting for orphan", "orphan"}};
    const char *state = text_of(child, "state");
    if (json_is_true(json_object_get(child, "stalled")))
        return "STALLED";
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_strcmp0(words[i].state, state) == 0)
            return words[i].word;
    return state;
}

/* What is wrong with a child that is not well, as the end of a sentence that begins with its name. */
static void print_unwell(FILE *out, const json_t *child)
{
    char text[16];
    const char *last = text_of(child, "last_exit"), *holding = text_of(child, "holding");
    const json_t *stalled = json_object_get(child, "stalled_for"), *retry = json_object_get(child, "retry_in");
    if (number_of(child, "deaths") > 0)
        fprintf(out, "works, but died %" JSON_INTEGER_FORMAT " times in a row", number_of(child, "deaths"));
    else if (json_is_number(stalled))
        fprintf(out, "no progress for %s", span(text, sizeof text, json_number_value(stalled)));
    else
        fprintf(out, "not ready for %s", span_or_dash(text, sizeof text, json_object_get(child, "down_for")));
    if (g_strcmp0(text_of(child, "state"), "waiting for orphan") == 0)
        fputs(", because a process of an earlier master still works its slice", out);
    if (holding)
        fprintf(out, ", holds %s", holding);
    if (json_is_number(retry))
        fprintf(out, ", next try in %s", span(text, sizeof text, json_number_value(retry)));
    g_autofree char *shown = last ? plain_text(last) : NULL;
    if (shown)
        fprintf(out, "; the last one ended with %s", shown);
    fputc('\n', out);
}

static void print_child(FILE *out, const char *runner, const json_t *child)
{
    char pid[16] = "-", age[16], beat[16], due[16];
    if (json_is_integer(json_object_get(child, "pid")))
        g_snprintf(pid, sizeof pid, "%" JSON_INTEGER_FORMAT, number_of(child, "pid"));
    fprintf(out, "%-11s %4" JSON_INTEGER_FORMAT " %7s %4s %-9s %8" JSON_INTEGER_FORMAT " %9" JSON_INTEGER_FORMAT
            " %8" JSON_INTEGER_FORMAT " %6s %4s\n",
            runner, number_of(child, "instance"), pid, span_or_dash(age, sizeof age, json_object_get(child, "age")),
            state_word(child), number_of(child, "restarts"), number_of(child, "done"), number_of(child, "backlog"),
            oldest(due, sizeof due, child), span_or_dash(beat, sizeof beat, json_object_get(child, "beat_age")));
    if (!json_is_true(json_object_get(child, "healthy"))) {
        fputs("            ", out);
        print_unwell(out, child);
    }
}

static void print_table(FILE *out, const json_t *status)
{
    size_t i, j;
    json_t *group, *child;
    fprintf(out, "%-11s %4s %7s %4s %-9s %8s %9s %8s %6s %4s\n", "RUNNER", "INST", "PID", "AGE", "STATE", "RESTARTS",
            "DONE", "BACKLOG", "OLDEST", "BEAT");
    json_array_foreach(json_object_get(status, "runners"), i, group) {
        const char *name = text_of(group, "runner"), *state = text_of(group, "state");
        if (g_strcmp0(state, "running") != 0 && g_strcmp0(state, "stopping") != 0)
            fprintf(out, "%-11s is %s: %" JSON_INTEGER_FORMAT " instances now, %" JSON_INTEGER_FORMAT " wanted\n", name,
                    state, number_of(group, "instances"), number_of(group, "wanted"));
        json_array_foreach(json_object_get(group, "children"), j, child)
            print_child(out, name, child);
    }
}

unsigned status_unwell(FILE *out, const json_t *status)
{
    size_t i, j;
    json_t *group, *child;
    unsigned count = 0;
    json_array_foreach(json_object_get(status, "runners"), i, group)
        json_array_foreach(json_object_get(group, "children"), j, child) {
            if (json_is_true(json_object_get(child, "healthy")) && !json_is_number(json_object_get(child, "down_for")))
                continue;
            fprintf(out, "  %s[%" JSON_INTEGER_FORMAT "]: ", text_of(group, "runner"), number_of(child, "instance"));
            print_unwell(out, child);
            count++;
        }
    return count;
}

/* ---- what waits for a person ---- */

static void print_since(FILE *out, json_int_t count, const char *since)
{
    if (since)
        fprintf(out, ", %ssince %s", count == 1 ? "" : "the oldest ", since);
    fputs(":\n", out);
}

static void print_waiting(FILE *out, const json_t *one)
{
    static const struct {
        const char *kind, *single, *many, *help;
    } words[] = {
        {"shunt", "entry failed and was set aside", "entries failed and were set aside", "listrunner shunt ls"},
        {"hold", "entry is on hold", "entries are on hold", "listrunner queue ls hold; listrunner queue release"},
        {"corrupt", "damaged file was set aside", "damaged files were set aside", "listrunner queue ls corrupt"},
        {"preserved", "entry was preserved, after crashes or because it could not be read or moved on,",
         "entries were preserved, after crashes or because they could not be read or moved on,", "listrunner shunt ls"},
        {"strange", "directory, link or device with the name of an entry was set aside",
         "directories, links or devices with the names of entries were set aside", "listrunner spool check"},
    };
    const char *kind = text_of(one, "kind"), *queue = text_of(one, "queue");
    json_int_t count = number_of(one, "count");
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_strcmp0(words[i].kind, kind) == 0) {
            fprintf(out, "  %" JSON_INTEGER_FORMAT " %s", count, count == 1 ? words[i].single : words[i].many);
            if (g_strcmp0(kind, "preserved") == 0 || g_strcmp0(kind, "strange") == 0)
                fprintf(out, " in %s", queue);
            print_since(out, count, text_of(one, "since"));
            fprintf(out, "      %s\n", words[i].help);
            return;
        }
    fprintf(out, "  %" JSON_INTEGER_FORMAT " %s in %s, a queue that no runner works", count,
            count == 1 ? "entry is" : "entries are", queue);
    print_since(out, count, text_of(one, "since"));
    fprintf(out, "      listrunner queue ls %s; start its [runner.NAME], or listrunner queue delete\n", queue);
}

/* Each instance of out has its own idea of a destination; most agree. */
static bool was_told(const json_t *troubles, size_t place)
{
    static const char *const keys[] = {"transport", "name", "state"};
    const json_t *one = json_array_get(troubles, place);
    for (size_t i = 0; i < place; i++) {
        unsigned same = 0;
        for (size_t k = 0; k < G_N_ELEMENTS(keys); k++)
            same += json_equal(json_object_get(json_array_get(troubles, i), keys[k]), json_object_get(one, keys[k]));
        if (same == G_N_ELEMENTS(keys))
            return true;
    }
    return false;
}

static void print_trouble(FILE *out, const json_t *one)
{
    const char *name = text_of(one, "name"), *reason = text_of(one, "reason"), *rate = text_of(one, "rate");
    bool suspended = g_strcmp0(text_of(one, "state"), "suspended") == 0;
    bool dead = g_strcmp0(text_of(one, "state"), "dead") == 0;
    bool throttled = g_strcmp0(text_of(one, "state"), "throttled") == 0;
    g_autofree char *shown = reason && !suspended ? plain_text(reason) : NULL;
    const char *state = suspended   ? "suspended"
                        : dead      ? "dead"
                        : throttled ? "throttled"
                                    : "being tried again after it was dead";
    fprintf(out, "  Mail for the destination %s (transport %s) waits, it is %s", name, text_of(one, "transport"),
            state);
    if (throttled && rate)
        fprintf(out, " to %s", rate);
    if (text_of(one, "away_since"))
        fprintf(out, " since %s", text_of(one, "away_since"));
    fprintf(out, "%s%s:\n      listrunner dest %s %s\n", shown ? ", because of: " : "", shown ? shown : "",
            suspended || throttled ? "resume" : "show", name);
}

static void print_unknown(FILE *out, const json_t *status)
{
    const char *store = text_of(status, "store_fault"), *troubles = text_of(status, "troubles_fault");
    json_int_t pending = number_of(status, "pending");
    if (store)
        fprintf(out, "  Held posts and requests could not be counted: %s\n", store);
    if (troubles)
        fprintf(out, "  Not all destinations are known: %s\n", troubles);
    if (pending > 0)
        fprintf(out, "  The files of %" JSON_INTEGER_FORMAT " queues are still being counted; ask again.\n", pending);
}

/* What processes that are well have to say. Returns how many there are; out NULL: prints nothing. */
static unsigned print_notices(FILE *out, const json_t *status)
{
    size_t i, j;
    json_t *group, *child;
    unsigned count = 0;
    json_array_foreach(json_object_get(status, "runners"), i, group)
        json_array_foreach(json_object_get(group, "children"), j, child) {
            const char *notice = text_of(child, "notice");
            g_autofree char *shown = notice ? plain_text(notice) : NULL;
            if (shown && out)
                fprintf(out, "  %s[%" JSON_INTEGER_FORMAT "]: %s\n", text_of(group, "runner"),
                        number_of(child, "instance"), shown);
            count += shown != NULL;
        }
    return count;
}

/* Entries that are tried again and again, for a fault that may pass. The same as print_notices(). */
static unsigned print_late(FILE *out, const json_t *status)
{
    size_t i, j;
    json_t *group, *child;
    unsigned count = 0;
    json_array_foreach(json_object_get(status, "runners"), i, group)
        json_array_foreach(json_object_get(group, "children"), j, child) {
            json_int_t late = number_of(child, "late");
            if (late > 0 && out)
                fprintf(out, "  %s[%" JSON_INTEGER_FORMAT "]: %" JSON_INTEGER_FORMAT " %s tried again for a fault that "
                        "may pass; the log says why (result=later)\n", text_of(group, "runner"),
                        number_of(child, "instance"), late, late == 1 ? "entry is" : "entries are");
            count += late > 0;
        }
    return count;
}

static void print_clock(FILE *out, json_int_t seconds)
{
    char text[16];
    if (seconds > 0)
        fprintf(out, "  The clock was set back by %s, and entries that were put off before wait that much longer:\n"
                "      listrunner queue ls --state waiting; listrunner queue edit-due now\n",
                span(text, sizeof text, (double)seconds));
}

static void print_missing(FILE *out, const json_t *missing)
{
    size_t i;
    json_t *one;
    json_array_foreach(missing, i, one)
        fprintf(out, "  The directory of the queue %s is missing, and mail for it waits (%s): put it back, or, when no "
                "mail of it is missed, make an empty one:\n      listrunner spool check --repair\n",
                text_of(one, "queue"), text_of(one, "fault"));
}

/* A job of the timer that failed at its last run, or that nobody runs. */
static bool job_waits(const json_t *job)
{
    const char *fault = text_of(job, "fault");
    return (fault && *fault) || json_is_true(json_object_get(job, "late"));
}

static void print_jobs(FILE *out, const json_t *jobs)
{
    size_t i;
    const json_t *job;
    json_array_foreach(jobs, i, job) {
        const char *fault = text_of(job, "fault");
        g_autofree char *shown = fault && *fault ? plain_text(fault) : NULL;
        if (shown)
            fprintf(out, "  The timer's job %s failed: %s\n      listrunner task ls\n", text_of(job, "name"), shown);
        else if (job_waits(job))
            fprintf(out, "  The timer's job %s is due since %s, and nobody does it\n      listrunner task ls\n",
                    text_of(job, "name"), text_of(job, "due_at"));
    }
}

/* A host that was stopped has given its lease back, so a time without life is one that died. Returns how many. */
static unsigned print_dead_hosts(FILE *out, const json_t *hosts)
{
    size_t i;
    const json_t *host;
    unsigned dead = 0;
    json_array_foreach(hosts, i, host) {
        if (json_is_true(json_object_get(host, "living")) || !text_of(host, "lease_until"))
            continue;
        dead++;
        if (out)
            fprintf(out, "  The host %s has not been heard of since %s\n      listrunner host ls\n",
                    text_of(host, "name"), text_of(host, "seen_at"));
    }
    return dead;
}

/* Somebody has drained them, and has to end it. Returns how many. */
static unsigned print_drained_hosts(FILE *out, const json_t *hosts)
{
    size_t i;
    const json_t *host;
    unsigned drained = 0;
    json_array_foreach(hosts, i, host) {
        if (!json_is_true(json_object_get(host, "draining")))
            continue;
        drained++;
        if (out)
            fprintf(out, "  The host %s is drained and takes no mail\n      listrunner host drain --undo %s\n",
                    text_of(host, "name"), text_of(host, "name"));
    }
    return drained;
}

static void print_early(FILE *out, const json_t *fragments)
{
    json_int_t early = number_of(fragments, "early");
    if (early > 0)
        fprintf(out, "  %" JSON_INTEGER_FORMAT " %s given up in the last hour before all parts came, to make room "
                "for newer ones; see the limits of section [defragment]:\n      listrunner fragments ls --all\n", early,
                early == 1 ? "message in parts was" : "messages in parts were");
}

/* What the timer should have done. */
static void print_left(FILE *out, const json_t *status)
{
    const json_t *outbox = json_object_get(status, "outbox");
    json_int_t count = number_of(outbox, "count"), texts = number_of(status, "template_faults");
    if (json_is_true(json_object_get(outbox, "late"))) {
        fprintf(out, "  Of %" JSON_INTEGER_FORMAT " %s nobody has made sure that %s mail is in its queue", count,
                count == 1 ? "change" : "changes", count == 1 ? "its" : "their");
        print_since(out, count, text_of(outbox, "since"));
        fputs("      listrunner task run outbox\n", out);
    }
    if (texts > 0)
        fprintf(out, "  %" JSON_INTEGER_FORMAT " %s:\n      listrunner template check\n", texts,
                texts == 1 ? "text of a letter could not be fetched, or has a fault"
                           : "texts of letters could not be fetched, or have a fault");
}

/* Floods of what people may ask for. */
static void print_floods(FILE *out, const json_t *status)
{
    const json_t *brakes = json_object_get(status, "leave_brakes"), *forms = json_object_get(status, "form_letters");
    json_int_t domains = number_of(brakes, "domains"), waiting = number_of(brakes, "waiting");
    if (domains > 0)
        fprintf(out,
                "  Of %" JSON_INTEGER_FORMAT " mail %s too many left a list at once, so %" JSON_INTEGER_FORMAT
                " more %s for a moderator:\n      listrunner pending ls\n",
                domains, domains == 1 ? "domain" : "domains", waiting, waiting == 1 ? "waits" : "wait");
    if (json_is_true(json_object_get(forms, "reached")))
        fprintf(out,
                "  Forms of web pages have caused %" JSON_INTEGER_FORMAT " letters today, and cause no more until "
                "midnight (UTC); see [site] max_form_letters_per_day\n",
                number_of(forms, "most"));
}

static bool any_job_waits(const json_t *jobs)
{
    size_t i;
    const json_t *job;
    json_array_foreach(jobs, i, job)
        if (job_waits(job))
            return true;
    return false;
}

bool status_waits(const json_t *status)
{
    return print_notices(NULL, status) > 0 || print_late(NULL, status) > 0 ||
           json_array_size(json_object_get(status, "missing")) > 0 || number_of(status, "clock_set_back") > 0 ||
           json_array_size(json_object_get(status, "waiting")) > 0 ||
           json_array_size(json_object_get(status, "troubles")) > 0 || number_of(status, "pending") > 0 ||
           number_of(json_object_get(status, "held"), "count") > 0 ||
           number_of(json_object_get(status, "requests"), "count") > 0 || text_of(status, "store_fault") ||
           number_of(json_object_get(status, "fragments"), "early") > 0 ||
           number_of(json_object_get(status, "leave_brakes"), "domains") > 0 ||
           json_is_true(json_object_get(json_object_get(status, "form_letters"), "reached")) ||
           print_dead_hosts(NULL, json_object_get(status, "hosts")) > 0 ||
           print_drained_hosts(NULL, json_object_get(status, "hosts")) > 0 ||
           any_job_waits(json_object_get(status, "jobs")) || number_of(status, "template_faults") > 0 ||
           json_is_true(json_object_get(json_object_get(status, "outbox"), "late")) ||
           text_of(status, "troubles_fault") || text_of(status, "fault");
}

static void print_attention(FILE *out, const json_t *status)
{
    size_t i;
    json_t *one;
    const json_t *held = json_object_get(status, "held"), *requests = json_object_get(status, "requests");
    json_int_t count = number_of(held, "count"), asked = number_of(requests, "count");
    fputs("\nThis waits for a person:\n", out);
    if (text_of(status, "fault"))
        fprintf(out, "  The last reload was refused, and the old configuration is in force:\n%s\n",
                text_of(status, "fault"));
    print_missing(out, json_object_get(status, "missing"));
    print_clock(out, number_of(status, "clock_set_back"));
    print_notices(out, status);
    print_late(out, status);
    json_array_foreach(json_object_get(status, "waiting"), i, one)
        print_waiting(out, one);
    if (count > 0) {
        fprintf(out, "  %" JSON_INTEGER_FORMAT " %s held for a moderator", count, count == 1 ? "post is" : "posts are");
        print_since(out, count, text_of(held, "since"));
        fputs("      listrunner held ls\n", out);
    }
    if (asked > 0) {
        fprintf(out, "  %" JSON_INTEGER_FORMAT " %s for a moderator", asked,
                asked == 1 ? "request to join or leave waits" : "requests to join or leave wait");
        print_since(out, asked, text_of(requests, "since"));
        fputs("      listrunner pending ls\n", out);
    }
    print_floods(out, status);
    print_early(out, json_object_get(status, "fragments"));
    print_dead_hosts(out, json_object_get(status, "hosts"));
    print_drained_hosts(out, json_object_get(status, "hosts"));
    print_jobs(out, json_object_get(status, "jobs"));
    print_left(out, status);
    const json_t *troubles = json_object_get(status, "troubles");
    json_array_foreach(troubles, i, one)
        if (!was_told(troubles, i))
            print_trouble(out, one);
    print_unknown(out, status);
}

static void print_fragments(FILE *out, const json_t *fragments)
{
    if (number_of(fragments, "open_sets") > 0)
        fprintf(out, "\n%" JSON_INTEGER_FORMAT " messages wait for parts: %" JSON_INTEGER_FORMAT " parts, "
                "%" JSON_INTEGER_FORMAT " octets, the oldest since %s.\n",
                number_of(fragments, "open_sets"), number_of(fragments, "parts"), number_of(fragments, "octets"),
                text_of(fragments, "oldest"));
}

void status_text(FILE *out, const json_t *status)
{
    bool healthy = json_is_true(json_object_get(status, "healthy"));
    fprintf(out, "Listrunner %s, master pid %" JSON_INTEGER_FORMAT ", %s since %s\nConfiguration: %s\n\n",
            text_of(status, "version"), number_of(status, "pid"), text_of(status, "state"), text_of(status, "since"),
            text_of(status, "config"));
    print_table(out, status);
    print_fragments(out, json_object_get(status, "fragments"));
    if (status_waits(status))
        print_attention(out, status);
    fprintf(out, "\n%s\n", !healthy ? "NOT ALL IS WELL: see above."
                           : status_waits(status) ? "All processes are well, but something waits: see above."
                                                  : "All is well.");
}
