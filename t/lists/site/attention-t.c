/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Sentences about a state: in English, and by the patterns of another language with the same values. */
#include "lists/site/attention.h"
#include "t/suite.h"

#include <string.h>

/* All sentences of a state, each on a line; the state is JSON with ' in place of ". */
static char *say(const char *state, AttentionTranslate *translate, void *data)
{
    json_error_t fault;
    g_autofree char *quoted = g_strdelimit(g_strdup(state), "'", '"');
    GString *text = g_string_new(NULL);
    json_t *object = json_loads(quoted, 0, &fault);
    g_assert_nonnull(object);
    g_autoptr(GPtrArray) all = attention_of(object);
    for (guint at = 0; at < all->len; at++) {
        const Attention *one = all->pdata[at];
        g_autofree char *said = attention_say(one, translate, data);
        if (!translate)
            g_assert_cmpstr(said, ==, one->text);
        g_string_append_printf(text, "%s\n", said);
    }
    json_decref(object);
    return g_string_free(text, FALSE);
}

static void expect(const char *state, const char *wanted)
{
    g_autofree char *text = say(state, NULL, NULL);
    g_assert_cmpstr(text, ==, wanted);
}

static void test_one_and_many(void)
{
    expect("{}", "");
    expect("{'held': {'count': 1, 'since': 'T1'}, 'requests': {'count': 2, 'since': 'T2'}, 'template_faults': 1}",
           "1 post is held for a moderator, since T1\n"
           "2 requests to join or leave wait for a moderator, the oldest since T2\n"
           "1 text of a letter could not be fetched, or has a fault\n");
    expect("{'held': {'count': 2, 'since': null}, 'requests': {'count': 1, 'since': 'T2'}, 'template_faults': 2}",
           "2 posts are held for a moderator\n"
           "1 request to join or leave waits for a moderator, since T2\n"
           "2 texts of letters could not be fetched, or have a fault\n");
    expect(
        "{'missing': [{'queue': 'in', 'fault': 'F', 'gone': true},"
        " {'queue': 'out', 'fault': 'Permission denied', 'gone': false}]}",
        "The directory of the queue in is missing, and mail for it waits (F): put it back, or, when no mail of it is "
        "missed, make an empty one\n"
        "The directory of the queue out cannot be used, and mail for it waits (Permission denied)\n");
    expect("{'waiting': [{'kind': 'shunt', 'queue': 'shunt', 'count': 1, 'since': 'T1'},"
           " {'kind': 'preserved', 'queue': 'in', 'count': 2, 'since': 'T2'},"
           " {'kind': 'unworked', 'queue': 'mine', 'count': 3}],"
           " 'leave_brakes': {'domains': 1, 'waiting': 2}}",
           "1 entry failed and was set aside, since T1\n"
           "2 entries were preserved, after crashes or because they could not be read or moved on, in in, the oldest "
           "since T2\n"
           "3 entries are in mine, a queue that no runner works\n"
           "Of 1 mail domain too many left a list at once, so 2 more wait for a moderator\n");
}

static void test_processes_and_destinations(void)
{
    expect("{'runners': [{'runner': 'in', 'children': ["
           "{'instance': 0, 'healthy': false, 'deaths': 3, 'retry_in': 5, 'last_exit': 'signal 9'},"
           "{'instance': 1, 'healthy': false, 'stalled_for': 190.5, 'holding': 'E1', 'late': 1},"
           "{'instance': 2, 'healthy': false, 'state': 'waiting for orphan', 'notice': 'it is odd', 'late': 2}]}],"
           " 'troubles': [{'name': 'a', 'transport': 'relay', 'state': 'throttled', 'rate': '5/m', 'reason': 'R'},"
           "{'name': 'a', 'transport': 'relay', 'state': 'throttled'},"
           "{'name': 'b', 'transport': 'mx', 'state': 'suspended', 'reason': 'S', 'away_since': 'T1'},"
           "{'name': 'c', 'transport': 'mx', 'state': 'probing', 'reason': '1\\u00072'}]}",
           "in[0]: works, but died 3 times in a row, next try in 5s; the last one ended with signal 9\n"
           "in[1]: no progress for 3m, holds E1\n"
           "in[1]: 1 entry is tried again for a fault that may pass; the log says why (result=later)\n"
           "in[2]: not ready for -, because a process of an earlier master still works its slice\n"
           "in[2]: it is odd\n"
           "in[2]: 2 entries are tried again for a fault that may pass; the log says why (result=later)\n"
           "Mail for the destination a (transport relay) waits, it is throttled to 5/m, because of: R\n"
           "Mail for the destination b (transport mx) waits, it is suspended since T1\n"
           "Mail for the destination c (transport mx) waits, it is being tried again after it was dead, because of: "
           "1?2\n");
}

/* The instances of out together, each post once; a relay that is well otherwise is no other trouble. */
static void test_refusals(void)
{
    expect("{'troubles': [{'name': 'relay', 'transport': 'relay', 'state': 'alive', 'refusals': ["
           "{'sender': 'a.example', 'reply': '550 5.1.8 no', 'since': 'T2', 'messages': 2, 'marks': [11, 12]},"
           "{'sender': '', 'reply': '550 N', 'since': 'T3', 'messages': 1}]},"
           "{'name': 'relay', 'transport': 'relay', 'state': 'alive', 'refusals': ["
           "{'sender': 'a.example', 'reply': '550 5.1.8 no', 'since': 'T1', 'messages': 3, 'marks': [12, 13, 14]}]},"
           "{'name': 'other', 'transport': 'other', 'state': 'dead', 'reason': 'R', 'parked': 7, 'refusals': []},"
           "{'name': 'other', 'transport': 'other', 'state': 'probing', 'reason': 'R', 'parked': 1, 'refusals': []}]}",
           "The relay (transport relay) has refused mail from a.example since T1, saying: 550 5.1.8 no; "
           "4 messages wait\n"
           "The relay (transport relay) has refused mail from <> since T3, saying: 550 N; 1 message waits\n"
           "Mail for the destination other (transport other) waits, it is dead, because of: R; 7 messages wait\n");
}

static void test_canary(void)
{
    expect("{'canary': {'missing': false, 'missing_since': 'T1'}}", "");
    expect("{'canary': {'missing': true, 'missing_since': 'T1'}}",
           "No mail that Listrunner sent itself through the mail server has come back since T1\n");
}

static const char *translate(void *data, const char *pattern)
{
    static const struct {
        const char *from, *to;
    } words[] = {
        {"{{count}} posts are held for a moderator", "{{nothing}}Es warten {{count}}"},
        {", the oldest since {{since}}", " ({{since}})"},
        {"{{count}} request to join or leave waits for a moderator", "{{count"},
        {"The last reload was refused, and the old configuration is in force:", "Nein:"},
    };
    g_assert_cmpstr(data, ==, "de");
    for (size_t at = 0; at < G_N_ELEMENTS(words); at++)
        if (strcmp(words[at].from, pattern) == 0)
            return words[at].to;
    return pattern;
}

/* The values are put into another order, a name that is none of the sentence gives nothing, and what has no
 * translation, or one with a mistake, stays English. */
static void test_another_language(void)
{
    char language[] = "de";
    g_autofree char *text = say("{'held': {'count': 2, 'since': '{{count}}'}, 'fault': 'line 1\\nline 2',"
                                " 'requests': {'count': 1}}",
                                translate, language);
    g_assert_cmpstr(text, ==,
                    "Nein:\nline 1\nline 2\nEs warten 2 ({{count}})\n"
                    "1 request to join or leave waits for a moderator\n");
}

SUITE("attention")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/attention/one and many", test_one_and_many);
    g_test_add_func("/attention/processes and destinations", test_processes_and_destinations);
    g_test_add_func("/attention/refusals", test_refusals);
    g_test_add_func("/attention/canary", test_canary);
    g_test_add_func("/attention/another language", test_another_language);
    return g_test_run();
}
