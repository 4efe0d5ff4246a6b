/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/tools/sink.h"

#include <stdlib.h>
#include <string.h>

static const char *const stage_names[] = {
    "connect", "helo", "starttls", "handshake", "auth", "mail", "rcpt", "data", "dot", "rset", "quit", "any",
};

static const struct {
    const char *name;
    SinkAction action;
} actions[] = {
    {"close", ACTION_CLOSE},           {"stall", ACTION_STALL},     {"reset", ACTION_RESET},
    {"half-close", ACTION_HALF_CLOSE}, {"garbage", ACTION_GARBAGE}, {"endless", ACTION_ENDLESS},
};

void sink_fault_free(SinkFault *fault)
{
    if (fault == NULL)
        return;
    g_clear_pointer(&fault->match, g_regex_unref);
    g_free(fault->reply);
    g_free(fault);
}

static bool parse_stage(const char *word, SinkStage *stage)
{
    for (size_t i = 0; i < G_N_ELEMENTS(stage_names); i++) {
        if (strcmp(word, stage_names[i]) == 0) {
            *stage = (SinkStage)i;
            return true;
        }
    }
    return false;
}

static bool parse_condition(SinkFault *fault, const char *word, char **problem)
{
    if (g_str_has_prefix(word, "p=")) {
        fault->probability = g_ascii_strtod(word + 2, NULL);
    } else if (g_str_has_prefix(word, "skip=")) {
        fault->skip = g_ascii_strtoll(word + 5, NULL, 10);
    } else if (g_str_has_prefix(word, "times=")) {
        fault->times = g_ascii_strtoll(word + 6, NULL, 10);
    } else if (g_str_has_prefix(word, "match=")) {
        g_autoptr(GError) error = NULL;
        fault->match = g_regex_new(word + 6, G_REGEX_RAW | G_REGEX_OPTIMIZE, 0, &error);
        if (fault->match == NULL) {
            *problem = g_strdup(error->message);
            return false;
        }
    } else {
        *problem = g_strdup_printf("unknown condition \"%s\"", word);
        return false;
    }
    return true;
}

static bool parse_action(SinkFault *fault, const char *text, char **problem)
{
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
        if (strcmp(text, actions[i].name) == 0)
            fault->action = actions[i].action;
    if (fault->action != ACTION_NONE)
        return true;
    if (strlen(text) < 3 || strspn(text, "0123456789") != 3) {
        *problem = g_strdup_printf("no action: \"%s\"", text);
        return false;
    }
    fault->action = ACTION_REPLY;
    fault->reply = g_strconcat(text, "\r\n", NULL);
    return true;
}

SinkFault *sink_fault_parse(const char *text, char **problem)
{
    const char *action = strstr(text, " do ");
    if (action == NULL) {
        *problem = g_strdup("a fault is: STAGE [p=P] [match=REGEX] [skip=N] [times=N] do ACTION");
        return NULL;
    }
    SinkFault *fault = g_new0(SinkFault, 1);
    fault->probability = 1;
    fault->times = -1;
    g_autofree char *head = g_strndup(text, (gsize)(action - text));
    g_auto(GStrv) words = g_strsplit(head, " ", -1);
    bool good = parse_stage(words[0], &fault->stage);
    if (!good)
        *problem = g_strdup_printf("unknown stage \"%s\"", words[0]);
    for (char **word = words + 1; good && *word != NULL; word++)
        good = **word == '\0' || parse_condition(fault, *word, problem);
    good = good && parse_action(fault, action + 4, problem);
    if (!good) {
        sink_fault_free(fault);
        return NULL;
    }
    return fault;
}

static bool holds(SinkFault *fault, SinkStage stage, const char *subject)
{
    bool command = stage != STAGE_CONNECT && stage != STAGE_HANDSHAKE && stage != STAGE_DOT;
    if (fault->stage != stage && !(fault->stage == STAGE_ANY && command))
        return false;
    if (fault->times == 0)
        return false;
    if (fault->match != NULL && (subject == NULL || !g_regex_match(fault->match, subject, 0, NULL)))
        return false;
    if (fault->skip > 0) {
        fault->skip--;
        return false;
    }
    return fault->probability >= 1 || g_random_double() < fault->probability;
}

const SinkFault *sink_fault_find(Sink *sink, SinkStage stage, const char *subject)
{
    for (guint i = 0; i < sink->faults->len; i++) {
        SinkFault *fault = sink->faults->pdata[i];
        if (holds(fault, stage, subject)) {
            if (fault->times > 0)
                fault->times--;
            return fault;
        }
    }
    return NULL;
}
