/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* What mail systems write for people has few shapes; this reads them for all dialects. */
#include <string.h>

#include "mail/recognise/report.h"

#define PREFACE_LIMIT 4 /* lines of prose between a phrase and its first address */
#define TEXT_LINES 12
#define LINE_LIMIT 1000 /* octets of a line that are of use */

/* How a line shows an address at its beginning. */
typedef struct Entry {
    const char *address;
    size_t length, indent;
    char opening; /* '<', '"', '*' ..., or 0 for none */
} Entry;

static bool entry_read(const char *line, Entry *entry)
{
    const char *at = line + strspn(line, " \t");
    *entry = (Entry){.indent = (size_t)(at - line)};
    while (*at && strchr("*->\"'<|`", *at)) {
        entry->opening = *at++;
        at += strspn(at, " \t");
    }
    entry->address = address_begins(at, &entry->length);
    return entry->address && entry->address <= at + 8 + (*at == '@' ? 256 : 0);
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t")] == '\0';
}

/* A line of signs only, or one that announces another section. */
static bool is_rule(const char *line)
{
    const char *at = line + strspn(line, " \t");
    size_t signs = strspn(at, "-=_*#|");
    return signs >= 3;
}

/* The lines from first up to (not with) next as one text. */
static char *lines_text(const Report *report, const char *rest, guint first, guint next)
{
    GString *text = g_string_new_len(rest, (gssize)strnlen(rest, LINE_LIMIT));
    for (guint at = first; at < next && at < first + TEXT_LINES; at++) {
        g_string_append_c(text, ' ');
        g_string_append_len(text, report_line(report, at), (gssize)strnlen(report_line(report, at), LINE_LIMIT));
    }
    return g_string_free(text, FALSE);
}

/* "(expanded from: <x>)", "(generated from x)": the address that was written to. */
static void add_origins(Report *report, const char *text, const char *action)
{
    static const char *const words[] = {"expanded from", "generated from", "originally addressed to"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        const char *at = strstr(text, words[i]);
        size_t length;
        at = at ? at + strlen(words[i]) : NULL;
        at = at ? address_begins(at + strspn(at, ": \t"), &length) : NULL;
        if (at)
            report_add(report, &(Finding){.address = at, .address_length = length, .action = action, .text = text});
    }
}

static void add_entry(Report *report, const Entry *entry, guint first, guint next, const char *action)
{
    g_autofree char *text = lines_text(report, entry->address + entry->length, first, next);
    const char *start = text + strspn(text, " \t>:\",;'");
    report_add(report, &(Finding){entry->address, entry->length, action, NULL, start});
    add_origins(report, text, action);
}

/* Reads the list that begins at line; the line's beginning up to column is the phrase. */
static void read_list(Report *report, guint line, const char *action)
{
    Entry like = {0}, entry, current = {0};
    guint since = 0, preface = 0;
    bool gap = false, any = false;
    guint at = line;
    for (; at < report->lines->len; at++) {
        const char *text = report_line(report, at);
        if (is_blank(text)) {
            gap = any;
            continue;
        }
        bool begins = entry_read(text, &entry);
        if (!any && !begins) {
            if (strstr(text, "generated from"))
                add_origins(report, text, action);
            if (is_rule(text) || ++preface > PREFACE_LIMIT)
                return;
            continue;
        }
        if (any && begins && (entry.opening != like.opening || entry.indent > like.indent))
            begins = false;
        if (!begins && any && (is_rule(text) || (gap && like.indent == 0 && like.opening == 0)))
            break;
        if (begins) {
            if (any)
                add_entry(report, &current, since, at, action);
            else
                like = entry;
            current = entry;
            since = at + 1;
            any = true;
        }
        gap = false;
    }
    if (any)
        add_entry(report, &current, since, at, action);
}

static void read_next(Report *report, size_t offset, const char *action)
{
    const char *flat = report->flat->str, *at = flat + offset;
    at += strspn(at, " :<'\"*(-\t");
    size_t length;
    const char *found = address_begins(at, &length);
    if (!found)
        return;
    guint line = report_line_at(report, (size_t)(found - flat));
    g_autofree char *text = lines_text(report, "", line, MIN(line + 4, report->lines->len));
    g_autofree char *lower = g_ascii_strdown(text, -1), *wanted = g_strndup(found, length);
    const char *place = strstr(lower, wanted); /* as it was spelt */
    if (place)
        found = text + (place - lower);
    report_add(report, &(Finding){found, length, action, NULL, text});
    add_origins(report, text, action);
}

bool section_read(Report *report, const Section *sections)
{
    const char *flat = report->flat->str;
    for (; sections->shape != SECTION_END; sections++)
        for (const char *at = strstr(flat, sections->begins); at; at = strstr(at, sections->begins)) {
            at += strlen(sections->begins);
            size_t offset = (size_t)(at - flat);
            if (sections->shape == SECTION_NEXT) {
                read_next(report, offset, sections->action);
                continue;
            }
            guint line = report_line_at(report, offset - 1);
            const char *end =
                line + 1 < report->starts->len ? flat + g_array_index(report->starts, guint, line + 1) : NULL;
            if (!end || at + strspn(at, " :*.-|=") < end) /* the phrase's own line goes on */
                read_next(report, offset, sections->action);
            else
                read_list(report, line + 1, sections->action);
        }
    return report_found(report);
}

bool section_brackets(Report *report, const char *action)
{
    Entry current = {0}, entry;
    guint since = 0, at = 0;
    bool any = false;
    for (; at < report->lines->len; at++) {
        const char *line = report_line(report, at);
        if (line[0] != '<' || !entry_read(line, &entry))
            continue;
        const char *behind = entry.address + entry.length;
        if (*behind != '>')
            continue;
        behind++;
        if (*behind != ':' && !g_str_has_prefix(behind, " (expanded from "))
            continue;
        if (any)
            add_entry(report, &current, since, at, action);
        current = entry;
        since = at + 1;
        any = true;
    }
    if (any)
        add_entry(report, &current, since, at, action);
    return report_found(report);
}
