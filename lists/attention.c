/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/attention.h"

#include <stdbool.h>
#include <string.h>

#include "base/certificate.h"
#include "base/clock.h"

#define COUNT JSON_INTEGER_FORMAT

void attention_free(Attention *one)
{
    if (!one)
        return;
    g_free(one->key);
    g_free(one->text);
    g_free(one->mend);
    g_free(one);
}

/* Names of queues and destinations, and replies of servers, are others' words. */
static void make_plain(char *text)
{
    for (char *at = text; *at; at++)
        if (((unsigned char)*at < ' ' && *at != '\n') || *at == '\177')
            *at = '?';
}

static void add(GPtrArray *all, AttentionKind kind, char *key, const char *mend, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
/* Takes key, copies mend. */
static void add(GPtrArray *all, AttentionKind kind, char *key, const char *mend, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    Attention *made = g_new(Attention, 1);
    *made = (Attention){kind, key, g_utf8_make_valid(text, -1), g_strdup(mend)};
    make_plain(made->text);
    g_ptr_array_add(all, made);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static bool flag_of(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

const char *attention_span(char text[ATTENTION_SPAN_SIZE], double seconds)
{
    static const struct {
        double length;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}};
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        if (seconds >= 2 * units[i].length) {
            g_snprintf(text, ATTENTION_SPAN_SIZE, "%.0f%c", seconds / units[i].length, units[i].unit);
            return text;
        }
    g_snprintf(text, ATTENTION_SPAN_SIZE, "%.0fs", MAX(seconds, 0));
    return text;
}

/* ", since 2026-..."; g_free() */
static char *since(json_int_t count, const char *time)
{
    return time ? g_strdup_printf(", %ssince %s", count == 1 ? "" : "the oldest ", time) : g_strdup("");
}

/* ---- processes ---- */

char *attention_of_process(const json_t *child)
{
    char span[ATTENTION_SPAN_SIZE];
    GString *text = g_string_new(NULL);
    const char *last = text_of(child, "last_exit"), *holding = text_of(child, "holding");
    const json_t *stalled = json_object_get(child, "stalled_for"), *retry = json_object_get(child, "retry_in");
    const json_t *down = json_object_get(child, "down_for");
    if (number_of(child, "deaths") > 0)
        g_string_append_printf(text, "works, but died %" COUNT " times in a row", number_of(child, "deaths"));
    else if (json_is_number(stalled))
        g_string_append_printf(text, "no progress for %s", attention_span(span, json_number_value(stalled)));
    else
        g_string_append_printf(text, "not ready for %s",
                               json_is_number(down) ? attention_span(span, json_number_value(down)) : "-");
    if (g_strcmp0(text_of(child, "state"), "waiting for orphan") == 0)
        g_string_append(text, ", because a process of an earlier master still works its slice");
    if (holding)
        g_string_append_printf(text, ", holds %s", holding);
    if (json_is_number(retry))
        g_string_append_printf(text, ", next try in %s", attention_span(span, json_number_value(retry)));
    if (last)
        g_string_append_printf(text, "; the last one ended with %s", last);
    make_plain(text->str);
    return g_string_free(text, FALSE);
}

static char *process_key(const char *about, const json_t *group, const json_t *child)
{
    return g_strdup_printf("%s %s %" COUNT, about, text_of(group, "runner"), number_of(child, "instance"));
}

static void add_process(GPtrArray *all, const json_t *group, const json_t *child)
{
    const char *name = text_of(group, "runner"), *notice = text_of(child, "notice");
    json_int_t instance = number_of(child, "instance"), late = number_of(child, "late");
    g_autofree char *unwell = flag_of(child, "healthy") ? NULL : attention_of_process(child);
    if (unwell)
        add(all, ATTENTION_PROCESS, process_key("process", group, child), "listrunner status", "%s[%" COUNT "]: %s",
            name, instance, unwell);
    if (notice)
        add(all, ATTENTION_SITE, process_key("notice", group, child), NULL, "%s[%" COUNT "]: %s", name, instance,
            notice);
    if (late > 0)
        add(all, ATTENTION_SITE, process_key("late", group, child), NULL,
            "%s[%" COUNT "]: %" COUNT " %s tried again for a fault that may pass; the log says why (result=later)",
            name, instance, late, late == 1 ? "entry is" : "entries are");
}

/* ---- queues ---- */

static void add_waiting(GPtrArray *all, const json_t *one)
{
    static const struct {
        const char *kind, *single, *many, *mend;
        bool queue; /* is named */
    } words[] = {
        {"shunt", "entry failed and was set aside", "entries failed and were set aside", "listrunner shunt ls", false},
        {"hold", "entry is on hold", "entries are on hold", "listrunner queue ls hold; listrunner queue release",
         false},
        {"corrupt", "damaged file was set aside", "damaged files were set aside", "listrunner queue ls corrupt", false},
        {"preserved", "entry was preserved, after crashes or because it could not be read or moved on,",
         "entries were preserved, after crashes or because they could not be read or moved on,", "listrunner shunt ls",
         true},
        {"strange", "directory, link or device with the name of an entry was set aside",
         "directories, links or devices with the names of entries were set aside", "listrunner spool check", true},
    };
    const char *kind = text_of(one, "kind"), *queue = text_of(one, "queue");
    json_int_t count = number_of(one, "count");
    g_autofree char *oldest = since(count, text_of(one, "since"));
    char *key = g_strdup_printf("%s %s", kind, queue);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_strcmp0(words[i].kind, kind) == 0) {
            add(all, ATTENTION_SITE, key, words[i].mend, "%" COUNT " %s%s%s%s", count,
                count == 1 ? words[i].single : words[i].many, words[i].queue ? " in " : "", words[i].queue ? queue : "",
                oldest);
            return;
        }
    g_autofree char *mend = g_strdup_printf("listrunner queue ls %s; start its [runner.NAME], or listrunner queue "
                                            "delete",
                                            queue);
    add(all, ATTENTION_SITE, key, mend, "%" COUNT " %s in %s, a queue that no runner works%s", count,
        count == 1 ? "entry is" : "entries are", queue, oldest);
}

static void add_missing(GPtrArray *all, const json_t *one)
{
    add(all, ATTENTION_SITE, g_strdup_printf("missing %s", text_of(one, "queue")), "listrunner spool check --repair",
        "The directory of the queue %s is missing, and mail for it waits (%s): put it back, or, when no mail of it is "
        "missed, make an empty one",
        text_of(one, "queue"), text_of(one, "fault"));
}

static void add_clock(GPtrArray *all, json_int_t seconds)
{
    char span[ATTENTION_SPAN_SIZE];
    if (seconds > 0)
        add(all, ATTENTION_SITE, g_strdup("clock"),
            "listrunner queue ls --state waiting; listrunner queue edit-due now",
            "The clock was set back by %s, and entries that were put off before wait that much longer",
            attention_span(span, (double)seconds));
}

static void add_certificate(GPtrArray *all, const json_t *one)
{
    int64_t now = clock_now(), end = number_of(one, "end") * CLOCK_SECOND;
    const char *setting = text_of(one, "setting");
    if (end - now > CERTIFICATE_TOLD)
        return;
    g_autofree char *text = certificate_text(setting, text_of(one, "file"), end, now);
    g_autofree char *mend = certificate_mend(text_of(one, "readers"));
    add(all, ATTENTION_SITE, g_strdup_printf("certificate %s", setting), mend, "%s", text);
}

/* ---- destinations ---- */

/* Each instance of out has its own idea of a destination; most agree. */
static bool is_told(const GPtrArray *all, const char *key)
{
    for (guint at = 0; at < all->len; at++)
        if (strcmp(((const Attention *)all->pdata[at])->key, key) == 0)
            return true;
    return false;
}

static void add_trouble(GPtrArray *all, const json_t *one)
{
    static const struct {
        const char *state, *words, *verb;
    } states[] = {{"suspended", "suspended", "resume"}, {"dead", "dead", "show"}, {"throttled", "throttled", "resume"}};
    const char *name = text_of(one, "name"), *reason = text_of(one, "reason"), *rate = text_of(one, "rate");
    const char *state = text_of(one, "state"), *away = text_of(one, "away_since");
    const char *words = "being tried again after it was dead", *verb = "show";
    g_autofree char *key = g_strdup_printf("destination %s %s %s", text_of(one, "transport"), text_of(one, "name"),
                                           text_of(one, "state"));
    if (is_told(all, key))
        return;
    for (size_t i = 0; i < G_N_ELEMENTS(states); i++)
        if (g_strcmp0(states[i].state, state) == 0) {
            words = states[i].words;
            verb = states[i].verb;
        }
    g_autofree char *mend = g_strdup_printf("listrunner dest %s %s", verb, name);
    g_autoptr(GString) rest = g_string_new(NULL);
    if (g_strcmp0(state, "throttled") == 0 && rate)
        g_string_append_printf(rest, " to %s", rate);
    if (away)
        g_string_append_printf(rest, " since %s", away);
    if (reason && g_strcmp0(state, "suspended") != 0)
        g_string_append_printf(rest, ", because of: %s", reason);
    add(all, ATTENTION_SITE, g_steal_pointer(&key), mend,
        "Mail for the destination %s (transport %s) waits, it is %s%s", name, text_of(one, "transport"), words,
        rest->str);
}

/* ---- hosts ---- */

/* A host that was stopped has given its lease back, so a time without life is one that died. Somebody drained a host,
 * and has to end it. */
static void add_host(GPtrArray *all, const json_t *host)
{
    const char *name = text_of(host, "name");
    if (!flag_of(host, "living") && text_of(host, "lease_until"))
        add(all, ATTENTION_SITE, g_strdup_printf("host %s", name), "listrunner host ls",
            "The host %s has not been heard of since %s", name, text_of(host, "seen_at"));
    if (flag_of(host, "draining")) {
        g_autofree char *mend = g_strdup_printf("listrunner host drain --undo %s", name);
        add(all, ATTENTION_SITE, g_strdup_printf("drained %s", name), mend, "The host %s is drained and takes no mail",
            name);
    }
}

/* ---- what the timer should have done ---- */

static void add_job(GPtrArray *all, const json_t *job)
{
    const char *name = text_of(job, "name"), *fault = text_of(job, "fault");
    char *key = g_strdup_printf("job %s", name);
    if (fault && *fault)
        add(all, ATTENTION_SITE, key, "listrunner task ls", "The timer's job %s failed: %s", name, fault);
    else if (flag_of(job, "late"))
        add(all, ATTENTION_SITE, key, "listrunner task ls", "The timer's job %s is due since %s, and nobody does it",
            name, text_of(job, "due_at"));
    else
        g_free(key);
}

/* Mails that this host sends itself through the MTA: what stops them. */
static void add_canary(GPtrArray *all, const json_t *canary)
{
    const char *part = text_of(canary, "part"), *since_when = text_of(canary, "missing_since");
    const json_t *slice = json_object_get(canary, "slice");
    if (!flag_of(canary, "missing"))
        return;
    if (flag_of(canary, "queue"))
        add(all, ATTENTION_SITE, g_strdup_printf("canary %s %" COUNT, part, json_integer_value(slice)),
            "listrunner status; listrunner queue ls",
            "An entry that Listrunner put into slice %" COUNT " of the queue %s has not been taken since %s",
            json_integer_value(slice), part, since_when);
    else if (json_is_integer(slice))
        add(all, ATTENTION_SITE, g_strdup_printf("canary %s %" COUNT, part, json_integer_value(slice)),
            "listrunner status; listrunner queue ls",
            "No mail that Listrunner sent itself through slice %" COUNT
            " of the queue %s has come back since %s, but others have",
            json_integer_value(slice), part, since_when);
    else if (g_strcmp0(part, "way") == 0)
        add(all, ATTENTION_SITE, g_strdup("canary"), "listrunner probe; listrunner dest ls",
            "No mail that Listrunner sent itself through the mail server has come back since %s", since_when);
    else if (g_str_has_prefix(part, "lmtp "))
        add(all, ATTENTION_SITE, g_strdup_printf("canary %s", part), "listrunner status",
            "No mail that Listrunner sent itself has come from the mail server by LMTP over %s since %s, but others "
            "have over %s",
            g_str_has_suffix(part, "ipv6") ? "IPv6" : "IPv4", since_when,
            g_str_has_suffix(part, "ipv6") ? "IPv4" : "IPv6");
    else
        add(all, ATTENTION_SITE, g_strdup_printf("canary %s", part), "listrunner dest ls",
            "No mail that Listrunner sent itself through the mail server over %s has come back since %s, but others "
            "have",
            g_strcmp0(part, "ipv6") == 0 ? "IPv6" : "IPv4", since_when);
}

static void add_left(GPtrArray *all, const json_t *state)
{
    const json_t *outbox = json_object_get(state, "outbox");
    json_int_t count = number_of(outbox, "count"), texts = number_of(state, "template_faults");
    json_int_t sources = number_of(state, "source_faults");
    g_autofree char *oldest = since(count, text_of(outbox, "since"));
    if (flag_of(outbox, "late"))
        add(all, ATTENTION_SITE, g_strdup("outbox"), "listrunner task run outbox",
            "Of %" COUNT " %s nobody has made sure that %s mail is in its queue%s", count,
            count == 1 ? "change" : "changes", count == 1 ? "its" : "their", oldest);
    if (texts > 0)
        add(all, ATTENTION_SITE, g_strdup("templates"), "listrunner template check", "%" COUNT " %s", texts,
            texts == 1 ? "text of a letter could not be fetched, or has a fault"
                       : "texts of letters could not be fetched, or have a fault");
    if (sources > 0)
        add(all, ATTENTION_SITE, g_strdup("sources"), "listrunner list source ls", "%" COUNT " %s", sources,
            sources == 1 ? "source of members failed or shrank, and changed nothing"
                         : "sources of members failed or shrank, and changed nothing");
    const json_t *late = json_object_get(state, "scheduled_late");
    json_int_t posts = number_of(late, "count");
    g_autofree char *first = since(posts, text_of(late, "since"));
    if (posts == 1)
        add(all, ATTENTION_SITE, g_strdup("scheduled"), "listrunner scheduled ls",
            "A post that was to be sent at a time has not gone%s", first);
    else if (posts > 1)
        add(all, ATTENTION_SITE, g_strdup("scheduled"), "listrunner scheduled ls",
            "%" COUNT " posts that were to be sent at a time have not gone%s", posts, first);
}

static void add_families(GPtrArray *all, const json_t *gone)
{
    size_t at;
    const json_t *one;
    json_array_foreach(gone, at, one) {
        json_int_t lists = number_of(one, "lists");
        const char *name = text_of(one, "name");
        add(all, ATTENTION_SITE, g_strdup_printf("family %s", name), "listrunner config check",
            "The configuration lacks the family %s, to which %" COUNT " %s (%s%s); %s changes of settings", name, lists,
            lists == 1 ? "list belongs" : "lists belong", text_of(one, "list"), lists == 1 ? "" : " and others",
            lists == 1 ? "it refuses" : "they refuse");
    }
}

/* ---- what people ask for ---- */

static void add_early(GPtrArray *all, json_int_t early)
{
    if (early > 0)
        add(all, ATTENTION_SITE, g_strdup("fragments"), "listrunner fragments ls --all",
            "%" COUNT " %s given up in the last hour before all parts came, to make room for newer ones; see the "
            "limits of section [defragment]",
            early, early == 1 ? "message in parts was" : "messages in parts were");
}

static void add_floods(GPtrArray *all, const json_t *state)
{
    const json_t *brakes = json_object_get(state, "leave_brakes"), *forms = json_object_get(state, "form_letters");
    json_int_t domains = number_of(brakes, "domains"), waiting = number_of(brakes, "waiting");
    if (domains > 0)
        add(all, ATTENTION_SITE, g_strdup("leave brakes"), "listrunner pending ls",
            "Of %" COUNT " mail %s too many left a list at once, so %" COUNT " more %s for a moderator", domains,
            domains == 1 ? "domain" : "domains", waiting, waiting == 1 ? "waits" : "wait");
    if (flag_of(forms, "reached"))
        add(all, ATTENTION_SITE, g_strdup("form letters"), NULL,
            "Forms of web pages have caused %" COUNT " letters today, and cause no more until midnight (UTC); see "
            "[site] max_form_letters_per_day",
            number_of(forms, "most"));
}

static void add_moderators(GPtrArray *all, const json_t *state)
{
    const json_t *held = json_object_get(state, "held"), *requests = json_object_get(state, "requests");
    json_int_t posts = number_of(held, "count"), asked = number_of(requests, "count");
    g_autofree char *oldest_post = since(posts, text_of(held, "since"));
    g_autofree char *oldest_request = since(asked, text_of(requests, "since"));
    if (posts > 0)
        add(all, ATTENTION_MODERATOR, g_strdup("held"), "listrunner held ls", "%" COUNT " %s held for a moderator%s",
            posts, posts == 1 ? "post is" : "posts are", oldest_post);
    if (asked > 0)
        add(all, ATTENTION_MODERATOR, g_strdup("requests"), "listrunner pending ls", "%" COUNT " %s for a moderator%s",
            asked, asked == 1 ? "request to join or leave waits" : "requests to join or leave wait", oldest_request);
}

/* ---- what could not be found out ---- */

static void add_unknown(GPtrArray *all, const json_t *state)
{
    const char *store = text_of(state, "store_fault"), *troubles = text_of(state, "troubles_fault");
    json_int_t pending = number_of(state, "pending");
    if (store)
        add(all, ATTENTION_SITE, g_strdup("database"), NULL, "Held posts and requests could not be counted: %s", store);
    if (troubles)
        add(all, ATTENTION_UNKNOWN, g_strdup("destinations"), NULL, "Not all destinations are known: %s", troubles);
    if (pending > 0)
        add(all, ATTENTION_UNKNOWN, g_strdup("counting"), NULL,
            "The files of %" COUNT " queues are still being counted; ask again.", pending);
}

GPtrArray *attention_of(const json_t *state)
{
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)attention_free);
    size_t i, j;
    const json_t *group, *one;
    if (text_of(state, "fault"))
        add(all, ATTENTION_SITE, g_strdup("reload"), NULL,
            "The last reload was refused, and the old configuration is in force:\n%s", text_of(state, "fault"));
    json_array_foreach(json_object_get(state, "missing"), i, one)
        add_missing(all, one);
    add_clock(all, number_of(state, "clock_set_back"));
    json_array_foreach(json_object_get(state, "certificates"), i, one)
        add_certificate(all, one);
    json_array_foreach(json_object_get(state, "runners"), i, group)
        json_array_foreach(json_object_get(group, "children"), j, one)
            add_process(all, group, one);
    json_array_foreach(json_object_get(state, "waiting"), i, one)
        add_waiting(all, one);
    add_moderators(all, state);
    add_floods(all, state);
    add_early(all, number_of(json_object_get(state, "fragments"), "early"));
    json_array_foreach(json_object_get(state, "hosts"), i, one)
        add_host(all, one);
    json_array_foreach(json_object_get(state, "jobs"), i, one)
        add_job(all, one);
    add_left(all, state);
    add_families(all, json_object_get(state, "families_gone"));
    json_array_foreach(json_object_get(state, "canaries"), i, one)
        add_canary(all, one);
    json_array_foreach(json_object_get(state, "troubles"), i, one)
        add_trouble(all, one);
    add_unknown(all, state);
    return all;
}
