/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Find in which phase of a session a recipient was refused, as systems tell in the text for people: Postfix ("in reply
 * to MAIL FROM command"), Exim ("after end of data"), sendmail and Courier (">>> DATA" above "<<< 550"), qmail,
 * DragonFly. Fields for programs never tell it.
 */
#include <string.h>

#include "mail/bounce/report.h"

#define MARK_LIMIT 4000  /* places in a text that may tell a phase */
#define TEXT_LIMIT 4096  /* bytes of what is said about one recipient: many may share a long text */
#define RAW_LIMIT 65536  /* bytes of a part in which a hint is looked for */

/* Words behind which the phase stands, in lower case; with phase, they tell it themselves. */
static const struct {
    const char *words;
    BouncePhase phase;
} marks[] = {
    {"in reply to ", BOUNCE_PHASE_UNKNOWN},
    {"smtp error from remote mail server after ", BOUNCE_PHASE_UNKNOWN},
    {"smtp error from remote mailer after ", BOUNCE_PHASE_UNKNOWN},
    {"lmtp error from remote mail server after ", BOUNCE_PHASE_UNKNOWN},
    {"lmtp error after ", BOUNCE_PHASE_UNKNOWN},
    {"did not like our ", BOUNCE_PHASE_UNKNOWN},
    {"refused to talk to me", BOUNCE_PHASE_CONNECT},
    {"but greeting failed", BOUNCE_PHASE_CONNECT},
    {"but my name was rejected", BOUNCE_PHASE_HELLO},
    {"but sender was rejected", BOUNCE_PHASE_MAIL},
    {"does not like recipient", BOUNCE_PHASE_RCPT},
    {"failed on data command", BOUNCE_PHASE_DATA},
    {"failed after i sent the message", BOUNCE_PHASE_END},
    {"<<< ", BOUNCE_PHASE_UNKNOWN},
};
#define ANSWER (G_N_ELEMENTS(marks) - 1)

static BouncePhase command_phase(const char *at)
{
    static const struct {
        const char *words;
        BouncePhase phase;
    } commands[] = {
        {"mail from", BOUNCE_PHASE_MAIL},   {"rcpt to", BOUNCE_PHASE_RCPT},  {"end of data", BOUNCE_PHASE_END},
        {"final data", BOUNCE_PHASE_END},   {"data", BOUNCE_PHASE_DATA},     {"bdat", BOUNCE_PHASE_DATA},
        {"sending data block", BOUNCE_PHASE_END}, {".", BOUNCE_PHASE_END},
        {"initial connection", BOUNCE_PHASE_CONNECT},
        {"ehlo", BOUNCE_PHASE_HELLO},       {"helo", BOUNCE_PHASE_HELLO},    {"lhlo", BOUNCE_PHASE_HELLO},
        {"starttls", BOUNCE_PHASE_HELLO},   {"auth", BOUNCE_PHASE_AUTH},
    };
    if (g_str_has_prefix(at, "pipelined "))
        at += strlen("pipelined ");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (g_str_has_prefix(at, commands[i].words))
            return commands[i].phase;
    return BOUNCE_PHASE_UNKNOWN;
}

/* The command above an answer of a transcript, ">>> rcpt to:<joe@example.com> <<< 550 no". */
static const char *command_above(const char *text, const char *answer)
{
    const char *from = answer - text > 1000 ? answer - 1000 : text;
    const char *command = g_strrstr_len(from, answer - from, ">>> ");
    return command ? command + strlen(">>> ") : NULL;
}

/* The phase that a mark at a place tells, and for a transcript's command to a recipient its address. */
static BouncePhase mark_phase(const char *text, const char *at, size_t mark, const char **recipient)
{
    const char *behind = at + strlen(marks[mark].words);
    *recipient = NULL;
    if (marks[mark].phase)
        return marks[mark].phase;
    if (mark != ANSWER)
        return command_phase(behind);
    const char *command = strchr("45", *behind) && *behind ? command_above(text, at) : NULL;
    BouncePhase phase = command ? command_phase(command) : BOUNCE_PHASE_UNKNOWN;
    if (phase == BOUNCE_PHASE_RCPT)
        *recipient = command;
    return phase;
}

BouncePhase phase_of(const char *text)
{
    g_autofree char *lower = g_ascii_strdown(text, (gssize)strnlen(text, TEXT_LIMIT));
    const char *recipient;
    for (size_t mark = 0; mark < G_N_ELEMENTS(marks); mark++) {
        const char *at = strstr(lower, marks[mark].words);
        BouncePhase phase = at ? mark_phase(lower, at, mark, &recipient) : BOUNCE_PHASE_UNKNOWN;
        if (phase)
            return phase;
    }
    return BOUNCE_PHASE_UNKNOWN;
}

/* ---- the notification as a whole ---- */

typedef struct PhaseMark {
    size_t offset;
    BouncePhase phase;
    const char *recipient; /* where its address stands; NULL: of the last recipient above */
    bool answer;           /* of a transcript, which stands below all recipients */
} PhaseMark;

static int by_offset(const void *a, const void *b)
{
    const PhaseMark *one = a, *two = b;
    return one->offset < two->offset ? -1 : one->offset > two->offset;
}

static GArray *find_marks(const char *flat)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(PhaseMark));
    for (size_t mark = 0; mark < G_N_ELEMENTS(marks); mark++)
        for (const char *at = strstr(flat, marks[mark].words); at && found->len < MARK_LIMIT;
             at = strstr(at + 1, marks[mark].words)) {
            PhaseMark one = {.offset = (size_t)(at - flat), .answer = mark == ANSWER};
            one.phase = mark_phase(flat, at, mark, &one.recipient);
            if (one.phase)
                g_array_append_val(found, one);
        }
    g_array_sort(found, by_offset);
    return found;
}

static BounceRecipient *known_at(const Report *report, const char *at)
{
    size_t length;
    const char *address = address_begins(at, &length);
    g_autofree char *key = address ? g_ascii_strdown(address, (gssize)length) : NULL;
    return key ? g_hash_table_lookup(report->known, key) : NULL;
}

static void set_phase(BounceRecipient *recipient, BouncePhase phase)
{
    if (!recipient || recipient->phase || recipient->class == BOUNCE_COMPLAINT)
        return;
    recipient->phase = phase;
    recipient_judge(recipient, recipient->status, recipient->text);
}

/* Walk over the lines and the marks together: a mark is about the recipient with which a line above it began. */
static void give_marks(Report *report, const GArray *found)
{
    const char *flat = report->flat->str;
    BounceRecipient *current = NULL;
    guint line = 0;
    for (guint at = 0; at < found->len; at++) {
        const PhaseMark *mark = &g_array_index(found, PhaseMark, at);
        for (; line < report->starts->len && g_array_index(report->starts, guint, line) <= mark->offset; line++) {
            const char *start = flat + g_array_index(report->starts, guint, line);
            BounceRecipient *begins = known_at(report, start + strspn(start, " "));
            current = begins ? begins : current;
        }
        if (mark->recipient)
            set_phase(known_at(report, mark->recipient + strlen("rcpt to:")), mark->phase);
        else if (!mark->answer)
            set_phase(current, mark->phase);
    }
}

/* Where only one phase is told of, it is that of the recipients whose own place tells none. */
static void give_only(Report *report, const GArray *found)
{
    BouncePhase only = found->len > 0 ? g_array_index(found, PhaseMark, 0).phase : BOUNCE_PHASE_UNKNOWN;
    for (guint at = 1; at < found->len; at++)
        if (g_array_index(found, PhaseMark, at).phase != only)
            return;
    for (guint at = 0; only && at < report->recipients->len; at++) {
        BounceRecipient *recipient = report->recipients->pdata[at];
        if (only != BOUNCE_PHASE_RCPT && reply_find(recipient->text))
            set_phase(recipient, only);
    }
}

/* Is there a mark in the text for people? A report for programs was not prepared for reading more. */
static bool may_tell(const Report *report)
{
    static const char *const hints[] = {"in reply to", "remote mail", "<<< ", "did not like", "refused to talk",
                                        "emote host said"};
    for (guint at = 0; at < report->parts->len; at++) {
        const MimePart *part = report->parts->pdata[at];
        if (part->inside || !g_str_has_prefix(part->type, "text/plain"))
            continue;
        for (size_t i = 0; i < G_N_ELEMENTS(hints); i++)
            if (memmem(part->body, MIN(part->body_length, RAW_LIMIT), hints[i], strlen(hints[i])))
                return true;
    }
    return false;
}

void phase_attach(Report *report)
{
    bool wanted = false;
    for (guint at = 0; at < report->recipients->len; at++)
        wanted |= !((const BounceRecipient *)report->recipients->pdata[at])->phase;
    if (!wanted || (!report->prepared && !may_tell(report)))
        return;
    report_prepare(report);
    g_autoptr(GArray) found = find_marks(report->flat->str);
    if (found->len == 0)
        return;
    give_marks(report, found);
    give_only(report, found);
}
