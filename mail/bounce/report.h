/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Hold a mail that may be a bounce, taken apart, while the dialects add the recipients they find. A dialect reads the
 * reports of one mail system or standard. Internal to mail/bounce/bounce.c and mail/bounce/.
 *
 * The notification is what the reporting system itself wrote: the text parts outside the returned mail, up to the line
 * where a returned mail begins. It is there as lines and as one "flat" text (lower case, runs of blanks and line ends
 * as one space), in which phrases are found however they were folded. Strings live in chunk until report_clear().
 */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "mail/bounce/bounce.h"
#include "mail/bounce/words.h"
#include "mail/mime/mime.h"

#define REPORT_USUAL 11
#define FAILING_MAX 32

typedef struct Report {
    const char *octets;
    size_t length;
    GPtrArray *parts; /* of MimePart; the first is the mail */
    bool prepared;
    GStringChunk *chunk;
    const char *usual[REPORT_USUAL]; /* for report_field() */
    const char *from, *to, *subject; /* lower case, decoded; "" when absent */
    const char *mailer;         /* lower case X-Mailer, "" when absent */
    bool automatic;             /* from a mail system, by its header */
    bool vague;                 /* maybe from another system, which tells of a failure that is none of mail */
    /* These four are there once it is prepared. */
    GPtrArray *lines;           /* of const char *: the notification, blanks at the end away */
    GPtrArray *texts;           /* of GString: where they are */
    GString *flat;              /* the notification */
    GArray *starts;             /* of guint: where each line begins in flat */
    GString *status_text;       /* all delivery-status parts, or NULL */
    GString *feedback_text;     /* all feedback-report parts, or NULL */
    const char *back;           /* the returned mail in octets, or NULL */
    size_t back_length;
    const char *returned;       /* for report_returned() */
    const char *lower;          /* for report_lower() */
    const Phrase *failing[FAILING_MAX]; /* for report_fails(): those that the notification holds */
    bool sought;                /* they were looked for */
    BounceKind kind;            /* set by a dialect that knows it */
    bool harmless;              /* feedback that is no complaint */
    bool succeeded;             /* something was reported delivered, relayed or expanded */
    GHashTable *contacts;       /* addresses of From and To in lower case; NULL before the first question */
    GHashTable *known;          /* address in lower case -> BounceRecipient */
    GPtrArray *recipients;      /* the result */
} Report;

/* The facts that a dialect found about one recipient. */
typedef struct Finding {
    const char *address;
    size_t address_length;
    const char *action, *status, *text; /* any may be NULL */
    const char *known_as; /* the address that mail was sent to, from which this one was made; or NULL */
    size_t known_as_length;
    bool passing;         /* without a status: the next mail may get through */
} Finding;

/* Read the notification for people, once, into what is there when the report is prepared. */
void report_prepare(Report *report);

/* Add a recipient. Return false when the address is not plausible. An action of success is noted and adds nobody. A
 * second finding for an address adds only the facts that the first did not have. */
bool report_add(Report *report, const Finding *finding);

/* Add a recipient to whom delivery failed; text says why. */
void report_add_failed(Report *report, const char *address, size_t length, const char *text);

/* Note what a recipient that was added before was known as; of the finding no more than the two addresses is read. */
void report_origin(Report *report, const Finding *finding);

/* Does the address (in lower case) stand in the mail's From or To? */
bool report_is_contact(Report *report, const char *lower);

/* Return the value of a field of the mail's own header, "" when it is absent. */
const char *report_field(Report *report, const char *name);

/* Return the header of the mail that came back, "" when there is none. */
const char *report_returned(Report *report);

/* Does a paragraph (as words_lower() makes it; NULL: all of the notification) say, in one of the languages we know,
 * that delivery failed? */
bool report_fails(Report *report, const char *lower);

/* Return the first 64 KiB of the notification, as words_lower() makes them. */
const char *report_lower(Report *report);

/* Return the index in lines of the line that an offset in flat belongs to. */
guint report_line_at(const Report *report, size_t offset);

/* Is a recipient known? */
static inline bool report_found(const Report *report)
{
    return report->recipients->len > 0;
}

/* Does the notification hold the phrase (lower case, single spaces)? */
static inline bool report_says(const Report *report, const char *phrase)
{
    return strstr(report->flat->str, phrase);
}

static inline const char *report_line(const Report *report, guint index)
{
    return report->lines->pdata[index];
}

/* Judge a refusal, its phase first, then the words; status is not NULL. class is that of the verdict. */
BounceVerdict verdict_of(const BounceReply *reply, BounceClass class);

/* Set what a recipient's failure is about from its phase, class, status and a text. */
void recipient_judge(BounceRecipient *recipient, const char *status, const char *text);

/* ---- the common reader ---- */

typedef enum SectionShape {
    SECTION_END, /* ends a table */
    SECTION_LIST, /* addresses at the beginning of the lines below; what follows each explains it */
    SECTION_NEXT, /* the address follows the phrase at once */
} SectionShape;

typedef struct Section {
    SectionShape shape;
    const char *begins; /* phrase in flat */
    const char *action; /* "failed" or "delayed" */
} Section;

/* Read all sections of the table (ended by SECTION_END); true when recipients are known then. */
bool section_read(Report *report, const Section *sections);

/* Lines "<address>: text", "<address> (expanded from <other>): text" in the first column, with
 * the lines up to the next one. */
bool section_brackets(Report *report, const char *action);

/* The phase of a session that a text about one recipient tells of. */
BouncePhase phase_of(const char *text);

/* Find in the notification in which phase recipients were refused whose own text did not tell, and judge them anew. */
void phase_attach(Report *report);

/* Find in the notification the addresses from which mail was forwarded to recipients, and note them as known_as. */
void origin_attach(Report *report);

/* Does the line begin with these words, which are in lower case? */
static inline bool text_begins(const char *line, const char *lower)
{
    bool perhaps = ((*line ^ *lower) & 0xdf) == 0; /* the first letter tells most lines apart */
    return perhaps && g_ascii_strncasecmp(line, lower, strlen(lower)) == 0;
}

/* Does the text hold one of these, which end with NULL? */
bool text_holds_any(const char *text, const char *const *words);

/* Read a notification that is in the dialect. Return true when recipients, or a success, are known. */
typedef bool DialectRead(Report *report);

/* In the order in which they are asked; ended by one without a name. Most dialects need a function. Of one without,
 * the sections are read if any of automatic, mailer and says tells that the mail is in it. */
typedef struct Dialect {
    const char *name;
    DialectRead *read;
    bool unprepared; /* needs no more than report_init() */
    bool automatic;          /* a mail system wrote it, by its header */
    const char *mailer;      /* X-Mailer holds this */
    const char *says[2];     /* the notification holds one of these phrases */
    const Section *sections; /* ended by SECTION_END */
} Dialect;
extern const Dialect dialects[];

/* Read a notification as one in that dialect. Return true when recipients, or a success, are known. */
bool dialect_read(const Dialect *dialect, Report *report);

DialectRead amazon_read, delivery_status_read, delivery_text_read, sentence_read;
