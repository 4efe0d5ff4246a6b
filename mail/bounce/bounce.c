/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce/bounce.h"

#include <string.h>

#include "mail/bounce/report.h"

#define NOTIFICATION_LIMIT 3000 /* bytes, in which a reason is looked for */

static void recipient_free(void *data)
{
    BounceRecipient *recipient = data;
    g_free(recipient->address);
    g_free(recipient->known_as);
    g_free(recipient->status);
    g_free(recipient->text);
    g_free(recipient);
}

static BounceKind kind_of(Report *report)
{
    if (report->kind != BOUNCE_NONE)
        return report->kind;
    if (report_found(report))
        return BOUNCE_FAILURE;
    if (report->succeeded)
        return BOUNCE_SUCCESS;
    if (report_is_reply(report))
        return BOUNCE_REPLY;
    return report->automatic ? BOUNCE_UNRECOGNISED : BOUNCE_NONE;
}

/* The report that a report without recipients passes on: as a part of it, or after
 * the "From " line with which an mbox begins. */
static const char *nested(const Report *report, size_t *length)
{
    for (guint at = 1; at < report->parts->len; at++) {
        const MimePart *part = report->parts->pdata[at];
        if (!part->inside)
            continue;
        g_autofree char *type =
            mime_field(part->body, mime_head(part->body, part->body_length), "Content-Type");
        if (type && g_ascii_strncasecmp(type, "multipart/report", 16) == 0) {
            *length = part->body_length;
            return part->body;
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

/* Lines that end with CR alone; NULL: there is another end. */
static char *with_feeds(const char *octets, size_t length)
{
    if (memchr(octets, '\n', length) || !memchr(octets, '\r', length))
        return NULL;
    char *copy = g_memdup2(octets, length);
    for (char *at = copy; (at = memchr(at, '\r', length - (size_t)(at - copy)));)
        *at = '\n';
    return copy;
}

/* The length of the lines without a letter with which a mail begins that was cut out of something. */
static size_t blank_lines(const char *octets, size_t length)
{
    size_t blank = 0;
    for (size_t at = 0; at < length && strchr(" \t\r\n", octets[at]) && octets[at]; at++)
        if (octets[at] == '\n' || octets[at] == '\r')
            blank = at + 1;
    return blank;
}

Bounce *bounce_parse(const char *octets, size_t length)
{
    const char *given = octets ? octets : "";
    size_t blank = blank_lines(given, length);
    given += blank;
    length -= blank;
    g_autofree char *copy = with_feeds(given, length);
    return parse(copy ? copy : given, length, false);
}

/* The one recipient of a report whose reason stands elsewhere in it. */
static void refine(Report *report)
{
    BounceRecipient *one = report->recipients->len == 1 ? report->recipients->pdata[0] : NULL;
    if (!one || *one->status || one->class == BOUNCE_COMPLAINT)
        return;
    report_prepare(report);
    g_autofree char *text = g_strndup(report->flat->str, NOTIFICATION_LIMIT);
    char status[STATUS_SIZE];
    status_scan(text, status);
    if (status[0] == '4' && one->class == BOUNCE_PERMANENT)
        one->class = BOUNCE_TEMPORARY;
    if (strcmp(one->reason, "undefined") == 0)
        recipient_judge(one, status, text);
    g_free(one->status);
    one->status = g_strdup(status);
}

static Bounce *parse(const char *octets, size_t length, bool inner)
{
    Report report;
    report_init(&report, octets, length);
    Bounce *bounce = g_new0(Bounce, 1);
    for (const Dialect *dialect = dialects; dialect->name && !bounce->dialect; dialect++) {
        if (!dialect->unprepared)
            report_prepare(&report);
        if (dialect_read(dialect, &report))
            bounce->dialect = dialect->name;
    }
    if (!bounce->dialect && !inner)
        take_nested(&report, bounce);
    refine(&report);
    phase_attach(&report);
    bounce->kind = kind_of(&report);
    bounce->complaint = bounce->kind == BOUNCE_FEEDBACK && !report.harmless;
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

const char *bounce_about_name(BounceAbout about)
{
    static const char *const names[] = {"recipient", "sender", "message"};
    return names[about];
}

const char *bounce_outcome(BounceClass class)
{
    static const char *const names[] = {"given up", "given up", "will be tried again", "complaint"};
    return names[class];
}

static const char *const phases[] = {"", "connect", "hello", "auth", "mail", "rcpt", "data", "end"};

const char *bounce_phase_name(BouncePhase phase)
{
    return phases[phase];
}

BouncePhase bounce_phase_named(const char *name)
{
    for (size_t at = 0; name && at < G_N_ELEMENTS(phases); at++)
        if (strcmp(phases[at], name) == 0)
            return (BouncePhase)at;
    return BOUNCE_PHASE_UNKNOWN;
}

BounceVerdict bounce_judge(const BounceReply *reply)
{
    char found[STATUS_SIZE];
    status_scan(reply->text, found);
    const char *given = reply->status ? reply->status : "";
    const char *best = *given && strcmp(given + 1, ".0.0") != 0 ? given : *found ? found : given;
    unsigned code = *best ? (unsigned)(*best - '0') : reply_scan(reply->text) / 100;
    BounceReply known = *reply;
    known.status = best;
    return verdict_of(&known, code == 4 ? BOUNCE_TEMPORARY : BOUNCE_PERMANENT);
}
