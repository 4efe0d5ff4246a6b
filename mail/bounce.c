/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce.h"

#include <string.h>

#include "mail/recognise/report.h"

static void recipient_free(void *data)
{
    BounceRecipient *recipient = data;
    g_free(recipient->address);
    g_free(recipient->status);
    g_free(recipient->text);
    g_free(recipient);
}

/* Written by a program in a person's name. */
static bool is_reply(Report *report)
{
    static const char *const fields[] = {"X-Autoreply", "X-Autorespond", "X-Auto-Response-Suppress", "X-Vacation"};
    static const char *const subjects[] = {
        "out of office", "out of the office", "automatic re", "auto reply", "autoreply",           "auto-reply",
        "auto:",         "vacation",          "automatyczna", "abwesen",    "thank you for your e"};
    g_autofree char *submitted = g_ascii_strdown(report_field(report, "Auto-Submitted"), -1);
    g_autofree char *precedence = g_ascii_strdown(report_field(report, "Precedence"), -1);
    if (strstr(submitted, "replied") || strstr(precedence, "auto_reply") || strcmp(precedence, "junk") == 0)
        return true;
    for (size_t at = 0; at < G_N_ELEMENTS(fields); at++)
        if (*report_field(report, fields[at]))
            return true;
    for (size_t at = 0; at < G_N_ELEMENTS(subjects); at++)
        if (strstr(report->subject, subjects[at]))
            return true;
    return false;
}

static BounceKind kind_of(Report *report)
{
    if (report->kind != BOUNCE_NONE)
        return report->kind;
    if (report_found(report))
        return BOUNCE_FAILURE;
    if (report->succeeded)
        return BOUNCE_SUCCESS;
    if (is_reply(report))
        return BOUNCE_REPLY;
    return report->automatic ? BOUNCE_UNRECOGNISED : BOUNCE_NONE;
}

/* The report that a report without recipients passes on: as a part of it, or after
 * the "From " line with which an mbox begins. */
static const char *nested(const Report *report, size_t *length)
{
    for (guint at = 1; at < report->parts->len; at++) {
        const MimePart *part = report->parts->pdata[at];
        if (part->inside && strcmp(part->type, "multipart/report") == 0) {
            *length = part->head_length + part->body_length;
            return part->head;
        }
    }
    static const char mark[] = "\nFrom MAILER-DAEMON";
    const char *found = memmem(report->octets, report->length, mark, sizeof mark - 1);
    *length = found ? report->length - (size_t)(found + 1 - report->octets) : 0;
    return found ? found + 1 : NULL;
}

static Bounce *parse(const char *octets, size_t length, bool inner);

/* A complaint or an ordinary mail inside is no business of the outer one. */
static void take_nested(Report *report, Bounce *bounce)
{
    size_t length;
    const char *octets = nested(report, &length);
    if (!octets || !report->automatic)
        return;
    Bounce *inner = parse(octets, length, true);
    if (inner->kind == BOUNCE_FAILURE) {
        bounce->dialect = inner->dialect;
        report->kind = inner->kind;
        g_ptr_array_unref(report->recipients);
        report->recipients = g_ptr_array_ref(inner->recipients);
    }
    bounce_free(inner);
}

Bounce *bounce_parse(const char *octets, size_t length)
{
    return parse(octets ? octets : "", length, false);
}

static Bounce *parse(const char *octets, size_t length, bool inner)
{
    Report report;
    report_init(&report, octets, length);
    Bounce *bounce = g_new0(Bounce, 1);
    for (const Dialect *const *dialect = dialects; *dialect && !bounce->dialect; dialect++)
        if ((*dialect)->read(&report))
            bounce->dialect = (*dialect)->name;
    if (!bounce->dialect && !inner)
        take_nested(&report, bounce);
    bounce->kind = kind_of(&report);
    bounce->recipients = g_steal_pointer(&report.recipients);
    g_ptr_array_set_free_func(bounce->recipients, recipient_free);
    report_clear(&report);
    return bounce;
}

void bounce_free(Bounce *bounce)
{
    g_ptr_array_unref(bounce->recipients);
    g_free(bounce);
}

const char *bounce_kind_name(BounceKind kind)
{
    static const char *const names[] = {"not-bounce", "bounce", "feedback", "auto-reply", "success", "unrecognised"};
    return names[kind];
}

const char *bounce_class_name(BounceClass class)
{
    static const char *const names[] = {"permanent", "temporary", "delayed", "complaint"};
    return names[class];
}
