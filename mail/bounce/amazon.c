/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Amazon SES tells of bounces in JSON: the notification itself, or one that other services of Amazon have wrapped, as
 * a string in "Message" or "body", or as an object in "detail" or "Records", once or more than once.
 */
#include <jansson.h>
#include <string.h>

#include "mail/bounce/report.h"

#define DEPTH_LIMIT 16 /* objects, arrays and strings within each other */

/* AmazonKind names the members of one kind of notification. */
typedef struct AmazonKind {
    const char *type;       /* of the notification */
    const char *member;     /* that holds the recipients' list */
    const char *recipients; /* the list */
    const char *action;
} AmazonKind;

static const AmazonKind kinds[] = {
    {"Bounce", "bounce", "bouncedRecipients", "failed"},
    {"Complaint", "complaint", "complainedRecipients", "complaint"},
    {"DeliveryDelay", "deliveryDelay", "delayedRecipients", "delayed"},
};

/* A string member's value; NULL when there is none. */
static const char *string_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static void add_recipient(Report *report, const json_t *recipient, const AmazonKind *kind, bool passing)
{
    const char *given = json_is_string(recipient) ? json_string_value(recipient) : string_of(recipient, "emailAddress");
    const char *action = string_of(recipient, "action");
    size_t length;
    const char *address = given ? address_scan(given, &length) : NULL;
    if (address)
        report_add(report, &(Finding){.address = address, .address_length = length, .passing = passing,
                                      .action = action ? action : kind->action,
                                      .status = string_of(recipient, "status"),
                                      .text = string_of(recipient, "diagnosticCode")});
}

/* False when the object is no notification. */
static bool read_notification(Report *report, const json_t *object)
{
    const char *type = string_of(object, "notificationType");
    type = type ? type : string_of(object, "eventType");
    if (!type)
        return false;
    if (strcmp(type, "Delivery") == 0)
        report->succeeded = true;
    if (strcmp(type, "Complaint") == 0)
        report->kind = BOUNCE_FEEDBACK;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(type, kinds[i].type) != 0)
            continue;
        const json_t *inner = json_object_get(object, kinds[i].member);
        const char *lasting = string_of(inner, "bounceType");
        bool passing = lasting && strcmp(lasting, "Transient") == 0;
        const json_t *recipient;
        size_t at;
        json_array_foreach(json_object_get(inner, kinds[i].recipients), at, recipient)
            add_recipient(report, recipient, &kinds[i], passing);
    }
    return true;
}

static void read_text(Report *report, const char *text, unsigned depth);

/* The notifications that a value is or holds. */
static void read_value(Report *report, json_t *value, unsigned depth)
{
    if (depth >= DEPTH_LIMIT)
        return;
    if (json_is_string(value)) {
        read_text(report, json_string_value(value), depth + 1);
    } else if (json_is_array(value)) {
        json_t *item;
        size_t at;
        json_array_foreach(value, at, item)
            read_value(report, item, depth + 1);
    } else if (json_is_object(value) && !read_notification(report, value)) {
        const char *name;
        json_t *member;
        json_object_foreach(value, name, member)
            read_value(report, member, depth + 1);
    }
}

/* Reads a text that begins with an object, an array or, when it is the mail's own, a string. What follows it is
 * Amazon's advice how to unsubscribe. */
static void read_text(Report *report, const char *text, unsigned depth)
{
    text += strspn(text, " \t\r\n");
    if (*text != '{' && *text != '[' && (*text != '"' || depth > 0))
        return;
    json_t *value = json_loads(text, JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, NULL);
    if (value)
        read_value(report, value, depth);
    json_decref(value);
}

/* The notification as one text: lines were broken where JSON has no line ends, and a folded one begins with a blank. */
static char *whole_text(const Report *report)
{
    GString *text = g_string_new(NULL);
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at);
        g_string_append(text, at > 0 && *line == ' ' ? line + 1 : line);
    }
    for (size_t at = 0; at < text->len; at++)
        if ((unsigned char)text->str[at] < ' ')
            text->str[at] = ' ';
    return g_string_free(text, FALSE);
}

bool amazon_read(Report *report)
{
    const char *first = report->flat->str;
    if (!strchr("{[\"", *first) || (!report_says(report, "notificationtype") && !report_says(report, "eventtype")))
        return false;
    g_autofree char *text = whole_text(report);
    read_text(report, text, 0);
    return report_found(report) || report->succeeded || report->kind == BOUNCE_FEEDBACK;
}
