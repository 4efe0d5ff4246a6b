/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Amazon SES: notifications in JSON, passed on by SNS. What is needed of them is flat, so no tree is built. */
#include <string.h>

#include "mail/recognise/report.h"

/* Behind the closing bracket of the object or list that begins at at; end when it is never closed. */
static const char *value_end(const char *at, const char *end)
{
    int depth = 0;
    for (bool quoted = false; at < end; at++) {
        if (quoted && *at == '\\' && at + 1 < end)
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && (*at == '{' || *at == '['))
            depth++;
        else if (!quoted && (*at == '}' || *at == ']') && --depth <= 0)
            return at + 1;
    }
    return end;
}

/* What follows "name": in the text; NULL when it is not there. */
static const char *value_of(const char *at, const char *end, const char *name)
{
    g_autofree char *key = g_strconcat("\"", name, "\"", NULL);
    const char *found = g_strstr_len(at, end - at, key);
    if (!found)
        return NULL;
    found += strlen(key);
    found += strspn(found, " \n");
    return found < end && *found == ':' ? found + 1 + strspn(found + 1, " \n") : NULL;
}

static char *string_of(const char *at, const char *end, const char *name)
{
    const char *value = value_of(at, end, name);
    if (!value || *value != '"')
        return NULL;
    GString *text = g_string_new(NULL);
    for (value++; value < end && *value != '"'; value++) {
        if (*value == '\\' && value + 1 < end)
            value++;
        g_string_append_c(text, *value);
    }
    return g_string_free(text, FALSE);
}

static void add_each(Report *report, const char *text, const char *list, const char *action)
{
    const char *all = text + strlen(text), *at = value_of(text, all, list);
    if (!at || *at != '[')
        return;
    const char *end = value_end(at, all);
    for (at = memchr(at, '{', (size_t)(end - at)); at; at = memchr(at, '{', (size_t)(end - at))) {
        const char *stop = value_end(at, end);
        g_autofree char *address = string_of(at, stop, "emailAddress"), *given = string_of(at, stop, "action");
        g_autofree char *status = string_of(at, stop, "status"), *diagnostic = string_of(at, stop, "diagnosticCode");
        if (address)
            report_add(report, &(Finding){address, strlen(address), given ? given : action, status, diagnostic});
        at = stop;
    }
}

static bool read_notification(Report *report, const char *text)
{
    const char *end = text + strlen(text);
    g_autofree char *type = string_of(text, end, "notificationType");
    if (!type)
        type = string_of(text, end, "eventType");
    if (!type)
        return false;
    if (strcmp(type, "Delivery") == 0)
        report->succeeded = true;
    if (strcmp(type, "Complaint") == 0) {
        report->kind = BOUNCE_FEEDBACK;
        add_each(report, text, "complainedRecipients", "complaint");
    }
    if (strcmp(type, "Bounce") == 0)
        add_each(report, text, "bouncedRecipients", "failed");
    return report_found(report) || report->succeeded || report->kind == BOUNCE_FEEDBACK;
}

static bool read_amazon(Report *report)
{
    bool known = report_says(report, "\"notificationtype\"") || report_says(report, "\"eventtype\"");
    if (report->lines->len == 0 || *report_line(report, 0) != '{' || !known)
        return false;
    GString *text = g_string_new(NULL);
    for (guint at = 0; at < report->lines->len && !g_str_has_prefix(report_line(report, at), "--"); at++) {
        const char *line = report_line(report, at);
        g_string_append(text, at > 0 && *line == ' ' ? line + 1 : line);
    }
    bool found = read_notification(report, text->str);
    g_string_free(text, TRUE);
    return found;
}

const Dialect dialect_amazon = {.name = "amazon-ses", .read = read_amazon};
