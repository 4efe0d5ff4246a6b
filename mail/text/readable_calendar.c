/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Reads what an invitation says (iCalendar, RFC 5545), for a mail that has no other text. */
#include <string.h>

#include "mail/text/readable_internal.h"

#define EVENTS_MAX 50 /* of a calendar that are shown */

/* A property of an event: "DTSTART;TZID=Europe/Berlin:20261201T100000". */
typedef struct Property {
    char *name, *zone, *value; /* zone: "": none */
} Property;

static void property_clear(Property *property)
{
    g_free(property->name);
    g_free(property->zone);
    g_free(property->value);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Property, property_clear)

/* Return the colon that ends the name and its parameters, of which some are in quotes; NULL: it is no property. */
static const char *value_of(const char *line)
{
    bool quoted = false;
    for (; *line && (quoted || *line != ':'); line++)
        quoted ^= *line == '"';
    return *line ? line : NULL;
}

static bool read_property(const char *line, Property *property)
{
    const char *colon = value_of(line);
    if (!colon)
        return false;
    g_autofree char *before = g_strndup(line, (gsize)(colon - line));
    g_auto(GStrv) words = g_strsplit(before, ";", -1);
    const char *zone = "";
    for (char **word = words + (*words != NULL); *word; word++)
        if (g_ascii_strncasecmp(*word, "TZID=", 5) == 0)
            zone = *word + 5;
    size_t quote = *zone == '"';
    *property = (Property){.name = g_ascii_strup(*words ? *words : "", -1),
                           .zone = g_strndup(zone + quote, strcspn(zone + quote, "\"")),
                           .value = g_strdup(colon + 1)};
    return true;
}

/* The text of a value: "\n" is a line end, and a backslash before another letter goes. */
static char *plain_value(const char *value)
{
    GString *text = g_string_new(NULL);
    for (const char *at = value; *at; at++) {
        if (*at == '\\' && at[1])
            g_string_append_c(text, g_ascii_tolower(*++at) == 'n' ? '\n' : *at);
        else
            g_string_append_c(text, *at);
    }
    return g_strstrip(g_string_free(text, FALSE));
}

/* "20261201T100000Z" as "2026-12-01 10:00 UTC"; another form stays as it is. */
static char *time_text(const Property *property)
{
    const char *at = property->value;
    size_t digits = strspn(at, "0123456789");
    if (digits != 8)
        return plain_value(at);
    g_autofree char *day = g_strdup_printf("%.4s-%.2s-%.2s", at, at + 4, at + 6);
    if (at[8] != 'T' || strspn(at + 9, "0123456789") < 4)
        return g_steal_pointer(&day);
    const char *zone = at[strlen(at) - 1] == 'Z' ? "UTC" : property->zone;
    return g_strdup_printf("%s %.2s:%.2s%s%s", day, at + 9, at + 11, *zone ? " " : "", zone);
}

/* Texts of one event, in the order in which it is shown. */
typedef struct Event {
    char *summary, *start, *end, *location, *description;
} Event;

static void event_clear(Event *event)
{
    g_free(event->summary);
    g_free(event->start);
    g_free(event->end);
    g_free(event->location);
    g_free(event->description);
    *event = (Event){0};
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Event, event_clear)

/* The first of each name counts. */
static void note(Event *event, const Property *property)
{
    const struct {
        const char *name;
        char **place;
        bool time;
    } known[] = {
        {"SUMMARY", &event->summary, false},   {"DTSTART", &event->start, true},
        {"DTEND", &event->end, true},          {"DUE", &event->end, true},
        {"LOCATION", &event->location, false}, {"DESCRIPTION", &event->description, false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(known); at++)
        if (strcmp(property->name, known[at].name) == 0 && !*known[at].place)
            *known[at].place = known[at].time ? time_text(property) : plain_value(property->value);
}

static void append_event(const Event *event, GString *text)
{
    if (event->summary && *event->summary)
        g_string_append_printf(text, "%s\n", event->summary);
    if (event->start)
        g_string_append_printf(text, "%s%s%s\n", event->start, event->end ? " \342\200\223 " : "",
                               event->end ? event->end : "");
    if (event->location && *event->location)
        g_string_append_printf(text, "%s\n", event->location);
    if (event->description && *event->description)
        g_string_append_printf(text, "\n%s\n", event->description);
    g_string_append_c(text, '\n');
}

/* Join the lines that were folded (RFC 5545, 3.1). One pass, since all of a long text may be folds. */
static GString *unfold(const char *calendar)
{
    GString *text = g_string_new(NULL);
    for (const char *at = calendar; *at; at++) {
        if (*at == '\r' && at[1] == '\n')
            continue;
        if (*at == '\n' && (at[1] == ' ' || at[1] == '\t'))
            at++;
        else
            g_string_append_c(text, *at);
    }
    return text;
}

GString *readable_calendar_text(const char *calendar)
{
    static const char *const whole[] = {"VEVENT", "VTODO", NULL};
    GString *text = g_string_new(NULL);
    g_autoptr(GString) unfolded = unfold(calendar);
    g_auto(Event) event = {0};
    unsigned depth = 0, events = 0; /* depth within an event: reminders have texts of their own */
    for (char *line = unfolded->str, *next; line && events < EVENTS_MAX; line = next) {
        g_auto(Property) property = {0};
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (!read_property(line, &property))
            continue;
        bool begins = strcmp(property.name, "BEGIN") == 0, ends = strcmp(property.name, "END") == 0;
        if (begins && (depth > 0 || g_strv_contains(whole, property.value))) {
            depth++;
        } else if (ends && depth > 0 && --depth == 0) {
            append_event(&event, text);
            event_clear(&event);
            events++;
        } else if (depth == 1) {
            note(&event, &property);
        }
    }
    return text;
}
