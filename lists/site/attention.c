/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/site/attention.h"

#include <stdbool.h>
#include <string.h>

#include "base/certificate.h"
#include "base/clock.h"
#include "mail/text/mustache.h"
#include "switchboard/meta.h"

#define COUNT JSON_INTEGER_FORMAT

/* Mark a part of a sentence that pages say in other languages: t/style/pages.t looks for it in their catalogues. */
#define N_(text) text

void attention_free(Attention *one)
{
    if (!one)
        return;
    g_free(one->key);
    g_free(one->text);
    g_free(one->mend);
    g_clear_pointer(&one->patterns, g_ptr_array_unref);
    json_decref(one->values);
    g_free(one);
}

char *attention_say(const Attention *one, AttentionTranslate *translate, void *data)
{
    GString *text = g_string_new(NULL);
    for (guint at = 0; at < one->patterns->len; at++) {
        const char *pattern = one->patterns->pdata[at];
        if (!translate || !mustache_say(translate(data, pattern), one->values, text, NULL))
            mustache_say(pattern, one->values, text, NULL); /* a catalogue of the site may have a mistake */
    }
    /* Names of queues and destinations, and replies of servers, are others' words. */
    for (char *at = text->str; *at; at++)
        if (((unsigned char)*at < ' ' && *at != '\n') || *at == '\177')
            *at = '?';
    return g_string_free(text, FALSE);
}

/* The sentence goes on with this. */
static void go_on(Attention *one, const char *pattern)
{
    g_ptr_array_add(one->patterns, (void *)(uintptr_t)pattern);
}

static Attention *begin(const char *pattern, json_t *values)
{
    Attention *one = g_new0(Attention, 1);
    one->kind = ATTENTION_SITE;
    one->patterns = g_ptr_array_new();
    one->values = values;
    if (pattern)
        go_on(one, pattern);
    return one;
}

/* Takes key and values, copies mend. */
static Attention *add(GPtrArray *all, char *key, const char *mend, const char *pattern, json_t *values)
{
    Attention *one = begin(pattern, values);
    one->key = key;
    one->mend = g_strdup(mend);
    g_ptr_array_add(all, one);
    return one;
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

/* Say since when there are so many; time NULL: it is not known. */
static void say_since(Attention *one, json_int_t count, const char *time)
{
    if (!time)
        return;
    json_object_set_new(one->values, "since", json_string(time));
    go_on(one, count == 1 ? N_(", since {{since}}") : N_(", the oldest since {{since}}"));
}

/* ---- processes ---- */

static void say_span(Attention *one, const char *name, const json_t *seconds)
{
    char span[ATTENTION_SPAN_SIZE];
    const char *text = json_is_number(seconds) ? attention_span(span, json_number_value(seconds)) : "-";
    json_object_set_new(one->values, name, json_string(text));
}

static void say_text(Attention *one, const char *name, const char *text, const char *pattern)
{
    if (!text)
        return;
    json_object_set_new(one->values, name, json_string(text));
    go_on(one, pattern);
}

static void say_state(Attention *one, const json_t *child)
{
    const json_t *stalled = json_object_get(child, "stalled_for"), *retry = json_object_get(child, "retry_in");
    json_object_set_new(one->values, "deaths", json_integer(number_of(child, "deaths")));
    say_span(one, "span", json_is_number(stalled) ? stalled : json_object_get(child, "down_for"));
    say_span(one, "retry", retry);
    if (number_of(child, "deaths") > 0)
        go_on(one, N_("works, but died {{deaths}} times in a row"));
    else
        go_on(one, json_is_number(stalled) ? N_("no progress for {{span}}") : N_("not ready for {{span}}"));
    if (g_strcmp0(text_of(child, "state"), "waiting for orphan") == 0)
        go_on(one, N_(", because a process of an earlier master still works its slice"));
    say_text(one, "holding", text_of(child, "holding"), N_(", holds {{holding}}"));
    if (json_is_number(retry))
        go_on(one, N_(", next try in {{retry}}"));
    say_text(one, "last", text_of(child, "last_exit"), N_("; the last one ended with {{last}}"));
}

char *attention_of_process(const json_t *child)
{
    g_autoptr(Attention) one = begin(NULL, json_object());
    say_state(one, child);
    return attention_say(one, NULL, NULL);
}

static char *process_key(const char *about, const json_t *group, const json_t *child)
{
    return g_strdup_printf("%s %s %" COUNT, about, text_of(group, "runner"), number_of(child, "instance"));
}

static json_t *name_process(const json_t *group, const json_t *child)
{
    return json_pack("{ss* sI}", "runner", text_of(group, "runner"), "instance", number_of(child, "instance"));
}

static void add_process(GPtrArray *all, const json_t *group, const json_t *child)
{
    const char *notice = text_of(child, "notice");
    json_int_t late = number_of(child, "late");
    if (!flag_of(child, "healthy")) {
        Attention *one = add(all, process_key("process", group, child), "listrunner status",
                             "{{runner}}[{{instance}}]: ", name_process(group, child));
        one->kind = ATTENTION_PROCESS;
        say_state(one, child);
    }
    if (notice)
        say_text(add(all, process_key("notice", group, child), NULL,
                     "{{runner}}[{{instance}}]: ", name_process(group, child)),
                 "notice", notice, "{{notice}}");
    if (late <= 0)
        return;
    Attention *one = add(all, process_key("late", group, child), NULL,
                         "{{runner}}[{{instance}}]: ", name_process(group, child));
    json_object_set_new(one->values, "count", json_integer(late));
    go_on(one, late == 1 ? N_("{{count}} entry is tried again for a fault that may pass; the log says why "
                              "(result=later)")
                         : N_("{{count}} entries are tried again for a fault that may pass; the log says why "
                              "(result=later)"));
}

/* ---- the master ---- */

static void add_master(GPtrArray *all, const json_t *state)
{
    const char *fault = text_of(state, "fault");
    json_int_t back = number_of(state, "clock_set_back");
    int64_t now = clock_now();
    size_t at;
    const json_t *one;
    if (fault)
        say_text(add(all, g_strdup("reload"), NULL,
                     N_("The last reload was refused, and the old configuration is in force:"), json_object()),
                 "fault", fault, "\n{{fault}}");
    json_array_foreach(json_object_get(state, "missing"), at, one) {
        /* Only a directory that is gone can be made anew; that does not mend another file in its place, or a wrong
         * mode. */
        bool gone = flag_of(one, "gone");
        add(all, g_strdup_printf("missing %s", text_of(one, "queue")),
            gone ? "listrunner spool check --repair" : "listrunner spool check",
            gone ? N_("The directory of the queue {{queue}} is missing, and mail for it waits ({{fault}}): put it "
                      "back, or, when no mail of it is missed, make an empty one")
                 : N_("The directory of the queue {{queue}} cannot be used, and mail for it waits ({{fault}})"),
            json_pack("{ss* ss*}", "queue", text_of(one, "queue"), "fault", text_of(one, "fault")));
    }
    if (back > 0) {
        char span[ATTENTION_SPAN_SIZE];
        add(all, g_strdup("clock"), "listrunner queue ls --state waiting; listrunner queue edit-due now",
            N_("The clock was set back by {{span}}, and entries that were put off before wait that much longer"),
            json_pack("{ss}", "span", attention_span(span, (double)back)));
    }
    json_array_foreach(json_object_get(state, "certificates"), at, one) {
        int64_t end = number_of(one, "end") * CLOCK_SECOND;
        const char *setting = text_of(one, "setting");
        if (end - now > CERTIFICATE_TOLD)
            continue;
        g_autofree char *mend = certificate_mend(text_of(one, "readers")), *time = clock_text(end);
        add(all, g_strdup_printf("certificate %s", setting), mend,
            end > now ? N_("The certificate {{file}} of {{setting}} expires at {{time}}")
                      : N_("The certificate {{file}} of {{setting}} expired at {{time}}"),
            json_pack("{ss* ss* ss}", "file", text_of(one, "file"), "setting", setting, "time", time));
    }
}

/* ---- queues ---- */

static void add_waiting(GPtrArray *all, const json_t *one)
{
    static const struct {
        const char *kind, *single, *many, *mend;
    } words[] = {
        {"shunt", N_("{{count}} entry failed and was set aside"), N_("{{count}} entries failed and were set aside"),
         "listrunner shunt ls"},
        {"hold", N_("{{count}} entry is on hold"), N_("{{count}} entries are on hold"),
         "listrunner queue ls hold; listrunner queue release"},
        {"corrupt", N_("{{count}} damaged file was set aside"), N_("{{count}} damaged files were set aside"),
         "listrunner queue ls corrupt"},
        {"preserved",
         N_("{{count}} entry was preserved, after crashes or because it could not be read or moved on, in {{queue}}"),
         N_("{{count}} entries were preserved, after crashes or because they could not be read or moved on, in "
            "{{queue}}"),
         "listrunner shunt ls"},
        {"strange", N_("{{count}} directory, link or device with the name of an entry was set aside in {{queue}}"),
         N_("{{count}} directories, links or devices with the names of entries were set aside in {{queue}}"),
         "listrunner spool check"},
    };
    const char *kind = text_of(one, "kind"), *queue = text_of(one, "queue"), *time = text_of(one, "since");
    json_int_t count = number_of(one, "count");
    char *key = g_strdup_printf("%s %s", kind, queue);
    json_t *values = json_pack("{sI ss*}", "count", count, "queue", queue);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_strcmp0(words[i].kind, kind) == 0) {
            const char *pattern = count == 1 ? words[i].single : words[i].many;
            say_since(add(all, key, words[i].mend, pattern, values), count, time);
            return;
        }
    g_autofree char *mend = g_strdup_printf("listrunner queue ls %s; start its [runner.NAME], or listrunner queue "
                                            "delete",
                                            queue);
    say_since(add(all, key, mend,
                  count == 1 ? N_("{{count}} entry is in {{queue}}, a queue that no runner works")
                             : N_("{{count}} entries are in {{queue}}, a queue that no runner works"),
                  values),
              count, time);
}

/* ---- destinations ---- */

static void say_waiting(Attention *one, json_int_t count)
{
    json_object_set_new(one->values, "count", json_integer(count));
    go_on(one, count == 1 ? N_("; {{count}} message waits") : N_("; {{count}} messages wait"));
}

/* Add the refusals of one destination to sum, which has one object of each transport and sender. Each instance of out
 * may have a part of the same post, so messages are counted by their marks, which `marks` has for each of these; of
 * more than have marks it is known only how many one instance has at the most. */
static void sum_refusals(json_t *sum, json_t *marks, const json_t *destination)
{
    size_t at, i;
    const json_t *one, *mark;
    const char *transport = text_of(destination, "transport");
    json_array_foreach(json_object_get(destination, "refusals"), at, one) {
        g_autofree char *key = g_strdup_printf("refused %s %s", transport, text_of(one, "sender"));
        json_t *known = json_object_get(sum, key);
        if (!known)
            json_object_set_new(marks, key, json_object());
        json_t *own = json_object_get(marks, key);
        json_array_foreach(json_object_get(one, "marks"), i, mark) {
            g_autofree char *name = g_strdup_printf("%" COUNT, json_integer_value(mark));
            json_object_set_new(own, name, json_true());
        }
        json_int_t count = MAX(number_of(known, "count"), number_of(one, "messages"));
        count = MAX(count, (json_int_t)json_object_size(own));
        const char *since = text_of(known, "since"), *sender = text_of(one, "sender");
        if (!since || g_strcmp0(text_of(one, "since"), since) < 0)
            since = text_of(one, "since");
        json_object_set_new(sum, key, json_pack("{ss* ss* ss* ss* sI}", "transport", transport, "sender",
                                                sender && *sender ? sender : "<>", "reply", text_of(one, "reply"),
                                                "since", since, "count", count));
    }
}

/* Add a sentence for each sender whom the site's own relay refuses. */
static void add_refusals(GPtrArray *all, const json_t *troubles)
{
    size_t at;
    const json_t *one;
    const char *key;
    json_t *values;
    g_autoptr(json_t) sum = json_object(), marks = json_object();
    json_array_foreach(troubles, at, one)
        sum_refusals(sum, marks, one);
    json_object_foreach(sum, key, values) {
        g_autofree char *mend = g_strdup_printf("listrunner dest show %s; listrunner queue ls retry",
                                                text_of(values, "transport"));
        Attention *told = add(all, g_strdup(key), mend,
                              N_("The relay (transport {{transport}}) has refused mail from {{sender}} since "
                                 "{{since}}, saying: {{reply}}"),
                              json_incref(values));
        say_waiting(told, number_of(values, "count"));
    }
}

static void add_trouble(GPtrArray *all, const json_t *one)
{
    static const struct {
        const char *state, *pattern, *verb;
    } states[] = {
        {"suspended", N_("Mail for the destination {{name}} (transport {{transport}}) waits, it is suspended"),
         "resume"},
        {"dead", N_("Mail for the destination {{name}} (transport {{transport}}) waits, it is dead"), "show"},
        {"throttled", N_("Mail for the destination {{name}} (transport {{transport}}) waits, it is throttled"),
         "resume"},
    };
    const char *name = text_of(one, "name"), *transport = text_of(one, "transport"), *state = text_of(one, "state");
    const char *verb = "show", *pattern = N_("Mail for the destination {{name}} (transport {{transport}}) waits, it is "
                                             "being tried again after it was dead");
    if (g_strcmp0(state, "alive") == 0 || g_strcmp0(state, "resolving") == 0)
        return;
    /* One that is dead comes to life for each trial, and that is no news. */
    const char *known = g_strcmp0(state, "probing") == 0 ? "dead" : state;
    g_autofree char *key = g_strdup_printf("destination %s %s %s", transport, name, known);
    /* Each instance of out has its own idea of a destination; most agree. */
    for (guint at = 0; at < all->len; at++)
        if (strcmp(((const Attention *)all->pdata[at])->key, key) == 0)
            return;
    for (size_t i = 0; i < G_N_ELEMENTS(states); i++)
        if (g_strcmp0(states[i].state, state) == 0) {
            pattern = states[i].pattern;
            verb = states[i].verb;
        }
    g_autofree char *mend = g_strdup_printf("listrunner dest %s %s", verb, name);
    Attention *told = add(all, g_steal_pointer(&key), mend, pattern,
                          json_pack("{ss* ss*}", "name", name, "transport", transport));
    if (g_strcmp0(state, "throttled") == 0)
        say_text(told, "rate", text_of(one, "rate"), N_(" to {{rate}}"));
    say_text(told, "away", text_of(one, "away_since"), N_(" since {{away}}"));
    if (g_strcmp0(state, "suspended") != 0)
        say_text(told, "reason", text_of(one, "reason"), N_(", because of: {{reason}}"));
    if (number_of(one, "parked") > 0)
        say_waiting(told, number_of(one, "parked"));
}

/* ---- hosts, and what the timer should have done ---- */

static void add_hosts_and_jobs(GPtrArray *all, const json_t *state)
{
    size_t at;
    const json_t *one;
    json_array_foreach(json_object_get(state, "hosts"), at, one) {
        /* A host that was stopped has given its lease back, so a time without life is one that died. Somebody drained a
         * host, and has to end it. */
        const char *name = text_of(one, "name");
        if (!flag_of(one, "living") && text_of(one, "lease_until"))
            add(all, g_strdup_printf("host %s", name), "listrunner host ls",
                N_("The host {{name}} has not been heard of since {{time}}"),
                json_pack("{ss* ss*}", "name", name, "time", text_of(one, "seen_at")));
        g_autofree char *mend = g_strdup_printf("listrunner host drain --undo %s", name);
        if (flag_of(one, "draining"))
            add(all, g_strdup_printf("drained %s", name), mend, N_("The host {{name}} is drained and takes no mail"),
                json_pack("{ss*}", "name", name));
    }
    json_array_foreach(json_object_get(state, "jobs"), at, one) {
        const char *name = text_of(one, "name"), *fault = text_of(one, "fault");
        if (fault && *fault)
            add(all, g_strdup_printf("job %s", name), "listrunner task ls",
                N_("The timer's job {{name}} failed: {{fault}}"), json_pack("{ss* ss}", "name", name, "fault", fault));
        else if (flag_of(one, "late"))
            add(all, g_strdup_printf("job %s", name), "listrunner task ls",
                N_("The timer's job {{name}} is due since {{time}}, and nobody does it"),
                json_pack("{ss* ss*}", "name", name, "time", text_of(one, "due_at")));
    }
}

static json_t *count_value(json_int_t count)
{
    return json_pack("{sI}", "count", count);
}

static void add_left(GPtrArray *all, const json_t *state)
{
    const json_t *outbox = json_object_get(state, "outbox"), *late = json_object_get(state, "scheduled_late"), *one;
    json_int_t count = number_of(outbox, "count"), texts = number_of(state, "template_faults");
    json_int_t sources = number_of(state, "source_faults"), posts = number_of(late, "count");
    size_t at;
    if (flag_of(outbox, "late"))
        say_since(add(all, g_strdup("outbox"), "listrunner task run outbox",
                      count == 1 ? N_("Of {{count}} change nobody has made sure that its mail is in its queue")
                                 : N_("Of {{count}} changes nobody has made sure that their mail is in its queue"),
                      count_value(count)),
                  count, text_of(outbox, "since"));
    if (texts > 0)
        add(all, g_strdup("templates"), "listrunner template check",
            texts == 1 ? N_("{{count}} text of a letter could not be fetched, or has a fault")
                       : N_("{{count}} texts of letters could not be fetched, or have a fault"),
            count_value(texts));
    if (sources > 0)
        add(all, g_strdup("sources"), "listrunner list source ls",
            sources == 1 ? N_("{{count}} source of members failed or shrank, and changed nothing")
                         : N_("{{count}} sources of members failed or shrank, and changed nothing"),
            count_value(sources));
    if (posts > 0)
        say_since(add(all, g_strdup("scheduled"), "listrunner scheduled ls",
                      posts == 1 ? N_("A post that was to be sent at a time has not gone")
                                 : N_("{{count}} posts that were to be sent at a time have not gone"),
                      count_value(posts)),
                  posts, text_of(late, "since"));
    json_array_foreach(json_object_get(state, "families_gone"), at, one) {
        json_int_t lists = number_of(one, "lists");
        const char *name = text_of(one, "name");
        add(all, g_strdup_printf("family %s", name), "listrunner config check",
            lists == 1
                ? N_("The configuration lacks the family {{name}}, to which {{count}} list belongs ({{list}}); it "
                     "refuses changes of settings")
                : N_("The configuration lacks the family {{name}}, to which {{count}} lists belong ({{list}} and "
                     "others); they refuse changes of settings"),
            json_pack("{ss* sI ss*}", "name", name, "count", lists, "list", text_of(one, "list")));
    }
    json_array_foreach(json_object_get(state, "bounce_brakes"), at, one) {
        const char *list = text_of(one, "list"), *domain = text_of(one, "domain");
        g_autofree char *mend = g_strdup_printf("listrunner bounce ls %s", list);
        Attention *told = add(
            all, g_strdup_printf("bounce brake %s %s", list, domain ? domain : "*"), mend,
            domain ? N_("Mail of the list {{list}} to {{count}} members at {{domain}} fails with "
                        "one reply, so nobody is charged with a bounce for it")
                   : N_("Mail of the list {{list}} to {{count}} members fails with one reply, so "
                        "nobody is charged with a bounce for it"),
            json_pack("{ss* ss* sI}", "list", list, "domain", domain, "count", number_of(one, "members")));
        say_text(told, "since", text_of(one, "since"), N_(", since {{since}}"));
        say_text(told, "reply", text_of(one, "reply"), ": {{reply}}");
    }
}

/* ---- what people ask for ---- */

static void add_asked(GPtrArray *all, const char *key, const char *mend, const json_t *asked,
                      const char *const patterns[2])
{
    json_int_t count = number_of(asked, "count");
    if (count <= 0)
        return;
    Attention *one = add(all, g_strdup(key), mend, patterns[count != 1], count_value(count));
    one->kind = ATTENTION_MODERATOR;
    say_since(one, count, text_of(asked, "since"));
}

/* Add the decisions that moderators owe, and what came in too great a number. */
static void add_people(GPtrArray *all, const json_t *state)
{
    static const char *const held[] = {N_("{{count}} post is held for a moderator"),
                                       N_("{{count}} posts are held for a moderator")};
    static const char *const requests[] = {N_("{{count}} request to join or leave waits for a moderator"),
                                           N_("{{count}} requests to join or leave wait for a moderator")};
    const json_t *brakes = json_object_get(state, "leave_brakes"), *forms = json_object_get(state, "form_letters");
    json_int_t domains = number_of(brakes, "domains"), waiting = number_of(brakes, "waiting");
    json_int_t early = number_of(json_object_get(state, "fragments"), "early");
    add_asked(all, "held", "listrunner held ls", json_object_get(state, "held"), held);
    add_asked(all, "requests", "listrunner pending ls", json_object_get(state, "requests"), requests);
    if (domains > 0)
        go_on(add(all, g_strdup("leave brakes"), "listrunner pending ls",
                  domains == 1 ? N_("Of {{count}} mail domain too many left a list at once")
                               : N_("Of {{count}} mail domains too many left a list at once"),
                  json_pack("{sI sI}", "count", domains, "waiting", waiting)),
              waiting == 1 ? N_(", so {{waiting}} more waits for a moderator")
                           : N_(", so {{waiting}} more wait for a moderator"));
    if (flag_of(forms, "reached"))
        add(all, g_strdup("form letters"), NULL,
            N_("Web pages have taken {{count}} forms to join today, and take no more until midnight (UTC); see "
               "[site] max_form_letters_per_day"),
            count_value(number_of(forms, "most")));
    if (flag_of(forms, "links_reached"))
        add(all, g_strdup("links to sign in"), NULL,
            N_("{{count}} links to sign in were sent today, and until midnight (UTC) only those who run lists get one; "
               "see [site] max_form_letters_per_day"),
            count_value(number_of(forms, "most")));
    if (early > 0)
        add(all, g_strdup("fragments"), "listrunner fragments ls --all",
            early == 1
                ? N_("{{count}} message in parts was given up in the last hour before all parts came, to make room "
                     "for newer ones; see the limits of section [defragment]")
                : N_("{{count}} messages in parts were given up in the last hour before all parts came, to make "
                     "room for newer ones; see the limits of section [defragment]"),
            count_value(early));
}

/* ---- what could not be found out ---- */

static void add_unknown(GPtrArray *all, const json_t *state)
{
    const char *store = text_of(state, "store_fault"), *troubles = text_of(state, "troubles_fault");
    json_int_t pending = number_of(state, "pending");
    if (store)
        add(all, g_strdup("database"), NULL, N_("Held posts and requests could not be counted: {{fault}}"),
            json_pack("{ss}", "fault", store));
    if (troubles)
        add(all, g_strdup("destinations"), NULL, N_("Not all destinations are known: {{fault}}"),
            json_pack("{ss}", "fault", troubles))
            ->kind = ATTENTION_UNKNOWN;
    if (pending > 0)
        add(all, g_strdup("counting"), NULL, N_("The files of {{count}} queues are still being counted; ask again."),
            count_value(pending))
            ->kind = ATTENTION_UNKNOWN;
}

GPtrArray *attention_of(const json_t *state)
{
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)attention_free);
    size_t i, j;
    const json_t *group, *one;
    add_master(all, state);
    json_array_foreach(json_object_get(state, "runners"), i, group)
        json_array_foreach(json_object_get(group, "children"), j, one)
            add_process(all, group, one);
    json_array_foreach(json_object_get(state, "waiting"), i, one)
        add_waiting(all, one);
    add_people(all, state);
    add_hosts_and_jobs(all, state);
    add_left(all, state);
    const json_t *canary = json_object_get(state, "canary");
    if (flag_of(canary, "missing"))
        add(all, g_strdup("canary"), "listrunner probe; listrunner dest ls",
            N_("No mail that Listrunner sent itself through the mail server has come back since {{since}}"),
            json_pack("{ss*}", "since", text_of(canary, "missing_since")));
    add_refusals(all, json_object_get(state, "troubles"));
    json_array_foreach(json_object_get(state, "troubles"), i, one)
        add_trouble(all, one);
    add_unknown(all, state);
    for (i = 0; i < all->len; i++) {
        Attention *told = all->pdata[i];
        told->text = attention_say(told, NULL, NULL);
    }
    return all;
}
