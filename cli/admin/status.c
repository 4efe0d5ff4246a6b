/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/status.h"

#include <glib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/control_client.h"
#include "cli/plain.h"
#include "lists/site/attention.h"
#include "lists/site/site_state.h"

json_t *status_ask(Site *site, GError **error)
{
    g_autoptr(ControlClient) client = control_client_open(site, error);
    json_t *status = client ? control_client_ask(client, json_pack("{s:s}", "verb", "status"), error) : NULL;
    g_autoptr(GError) fault = NULL;
    Store *store = status ? site_store(site, false, &fault) : NULL;
    /* There is a store only where the configuration can be read. */
    if (store)
        site_state_add(store, site_config(site, NULL), status);
    else if (status)
        site_state_without_store(status, fault);
    return status;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *span_or_dash(char *text, const json_t *seconds)
{
    return json_is_number(seconds) ? attention_span(text, json_number_value(seconds)) : "-";
}

/* A state in one short word. */
static const char *state_word(const json_t *child)
{
    static const struct {
        const char *state, *word;
    } words[] = {{"waiting to restart", "waiting"}, {"failed config", "failed"}, {"waiting for orphan", "orphan"}};
    const char *state = text_of(child, "state");
    if (json_is_true(json_object_get(child, "stalled")))
        return "STALLED";
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_strcmp0(words[i].state, state) == 0)
            return words[i].word;
    return state;
}

static void print_unwell(FILE *out, const json_t *child)
{
    g_autofree char *text = attention_of_process(child), *shown = plain_text(text);
    fprintf(out, "%s\n", shown);
}

static void print_child(FILE *out, const char *runner, const json_t *child)
{
    char pid[16] = "-", age[ATTENTION_SPAN_SIZE], beat[ATTENTION_SPAN_SIZE], oldest[ATTENTION_SPAN_SIZE] = "-";
    const char *due = text_of(child, "oldest");
    if (due) /* how long the oldest entry has been due */
        attention_span(oldest, (double)clock_now() / (double)CLOCK_SECOND - g_ascii_strtod(due, NULL));
    if (json_is_integer(json_object_get(child, "pid")))
        g_snprintf(pid, sizeof pid, "%" JSON_INTEGER_FORMAT, number_of(child, "pid"));
    fprintf(out,
            "%-11s %4" JSON_INTEGER_FORMAT " %7s %4s %-9s %8" JSON_INTEGER_FORMAT " %9" JSON_INTEGER_FORMAT
            " %8" JSON_INTEGER_FORMAT " %6s %4s\n",
            runner, number_of(child, "instance"), pid, span_or_dash(age, json_object_get(child, "age")),
            state_word(child), number_of(child, "restarts"), number_of(child, "done"), number_of(child, "backlog"),
            oldest, span_or_dash(beat, json_object_get(child, "beat_age")));
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
            fprintf(out, "%-11s is %s: %" JSON_INTEGER_FORMAT " instance%s now, %" JSON_INTEGER_FORMAT " wanted\n",
                    name, state, number_of(group, "instances"), number_of(group, "instances") == 1 ? "" : "s",
                    number_of(group, "wanted"));
        json_array_foreach(json_object_get(group, "children"), j, child)
            print_child(out, name, child);
        const json_t *scaled = json_object_get(group, "scaled"); /* by load, the last time */
        char age[ATTENTION_SPAN_SIZE];
        if (json_is_object(scaled))
            fprintf(out,
                    "%-11s %" JSON_INTEGER_FORMAT " instances of %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT
                    " since %s: %s\n",
                    name, number_of(group, "instances"), number_of(group, "least"), number_of(group, "most"),
                    attention_span(age, json_number_value(json_object_get(scaled, "age"))), text_of(scaled, "why"));
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

char **status_unconfined(const json_t *status)
{
    size_t at;
    json_t *group;
    g_autoptr(GStrvBuilder) all = g_strv_builder_new();
    const char *unable = text_of(status, "no_confinement");
    if (unable) {
        g_autofree char *sentence = g_strdup_printf("No runner is kept to its files by the kernel: %s.", unable);
        g_strv_builder_add(all, sentence);
        return g_strv_builder_end(all);
    }
    json_array_foreach(json_object_get(status, "runners"), at, group) {
        const char *setting = text_of(group, "unconfined");
        g_autofree char *sentence = setting ? g_strdup_printf("The runner %s is not kept to its files, because of %s.",
                                                              text_of(group, "runner"), setting)
                                            : NULL;
        if (sentence && !g_str_equal(setting, "[master] confine"))
            g_strv_builder_add(all, sentence);
        else if (sentence && at == 0)
            g_strv_builder_add(all, "No runner is kept to its files, because of [master] confine.");
    }
    return g_strv_builder_end(all);
}

/* ---- what waits for a person ---- */

static unsigned count_waiting(const GPtrArray *all)
{
    unsigned count = 0;
    for (guint at = 0; at < all->len; at++)
        count += ((const Attention *)all->pdata[at])->kind != ATTENTION_PROCESS; /* they show by the exit code */
    return count;
}

bool status_waits(const json_t *status)
{
    g_autoptr(GPtrArray) all = attention_of(status);
    return count_waiting(all) > 0;
}

void status_text(FILE *out, const json_t *status)
{
    fprintf(out, "Listrunner %s, master pid %" JSON_INTEGER_FORMAT ", %s since %s\nConfiguration: %s\n\n",
            text_of(status, "version"), number_of(status, "pid"), text_of(status, "state"), text_of(status, "since"),
            text_of(status, "config"));
    print_table(out, status);
    const json_t *fragments = json_object_get(status, "fragments");
    if (number_of(fragments, "open_sets") > 0)
        fprintf(out,
                "\n%" JSON_INTEGER_FORMAT " messages wait for parts: %" JSON_INTEGER_FORMAT " parts, "
                "%" JSON_INTEGER_FORMAT " octets, the oldest since %s.\n",
                number_of(fragments, "open_sets"), number_of(fragments, "parts"), number_of(fragments, "octets"),
                text_of(fragments, "oldest"));
    const json_t *canary = json_object_get(status, "canary"), *age = json_object_get(canary, "age");
    if (json_is_string(json_object_get(canary, "sent_at"))) {
        char span[ATTENTION_SPAN_SIZE];
        bool came = json_is_number(age);
        fprintf(out, "\nMail that Listrunner sends itself through the mail server came back last: %s%s%s\n",
                came ? span_or_dash(span, age) : "never", came ? " ago" : "",
                json_is_true(json_object_get(canary, "missing")) ? ", and is MISSING" : "");
    }
    g_auto(GStrv) unconfined = status_unconfined(status);
    for (char **sentence = unconfined; *sentence; sentence++)
        fprintf(out, "%s%s\n", sentence == unconfined ? "\n" : "", *sentence);
    g_autoptr(GPtrArray) all = attention_of(status);
    bool waits = count_waiting(all) > 0;
    if (waits)
        fputs("\nThis waits for a person:\n", out);
    for (guint at = 0; at < all->len; at++) {
        const Attention *one = all->pdata[at];
        if (one->kind == ATTENTION_PROCESS) /* it stands in the table already */
            continue;
        g_autofree char *text = plain_message(one->text, strlen(one->text));
        g_autofree char *mend = one->mend ? plain_text(one->mend) : NULL;
        fprintf(out, "  %s%s\n", text, mend ? ":" : "");
        if (mend)
            fprintf(out, "      %s\n", mend);
    }
    fprintf(out, "\n%s\n",
            !json_is_true(json_object_get(status, "healthy")) ? "NOT ALL IS WELL: see above."
            : waits ? "All processes are well, but something waits: see above."
                    : "All is well.");
}
