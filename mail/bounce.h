/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out which recipients a mail to a -bounces address reports as failed, how and why. A table of dialects
 * (mail/recognise/) reads machine-readable reports (RFC 3464, 6533, 5965) and what mail systems write for people.
 *
 * An address is returned only when the mail reports it; a mail that is no report has no recipients. Nothing fails; any
 * bytes may be read.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum BounceKind {
    BOUNCE_NONE,         /* ordinary mail */
    BOUNCE_FAILURE,      /* at least one recipient failed or is delayed */
    BOUNCE_FEEDBACK,     /* a complaint; or another report by a reader's provider: complaint is false, and recipients is
                          * empty */
    BOUNCE_REPLY,        /* written by a program on behalf of a person: vacation, challenge */
    BOUNCE_SUCCESS,      /* a report that all went well */
    BOUNCE_UNRECOGNISED, /* looks like a failure, and names nobody */
} BounceKind;

typedef enum BounceClass {
    BOUNCE_PERMANENT, /* given up, and trying again is of no use */
    BOUNCE_TEMPORARY, /* given up, and the next mail may get through */
    BOUNCE_DELAYED,   /* not given up */
    BOUNCE_COMPLAINT,
} BounceClass;

typedef struct BounceRecipient {
    char *address;
    char *known_as;     /* the address the mail was sent to, from which the system made this one (an alias, a forward);
                         * NULL when the mail tells of none */
    BounceClass class;
    char *status;       /* "5.1.1" (RFC 3463), "" when the mail has none */
    const char *reason; /* a word of bounce_reasons */
    char *text;         /* what the mail says about it: UTF-8, one line */
} BounceRecipient;

typedef struct Bounce {
    BounceKind kind;
    bool complaint;        /* with BOUNCE_FEEDBACK: somebody does not want the mail */
    const char *dialect;   /* the name of the row of that table that read it; NULL: none did */
    GPtrArray *recipients; /* of BounceRecipient, each address once */
} Bounce;

/* Read a whole mail. It never returns NULL; kind says whether the mail is a report at all. The bytes are not needed
 * afterwards. */
Bounce *bounce_parse(const char *octets, size_t length);
void bounce_free(Bounce *bounce);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Bounce, bounce_free)

/* Return the kind's name: "bounce", "feedback", "auto-reply", "success", "unrecognised" or "not-bounce". */
const char *bounce_kind_name(BounceKind kind);

/* Return the class's name: "permanent", "temporary", "delayed" or "complaint". */
const char *bounce_class_name(BounceClass class);

/* Return what became of the mail, in words for people: "given up" (permanent, temporary), "will be tried again",
 * "complaint". */
const char *bounce_outcome(BounceClass class);

/* Every word that reason can be, ended by NULL. */
extern const char *const bounce_reasons[];

/* Find class and reason of a refusal that a server spoke in its SMTP reply: status is "5.1.1" or "", reply the text.
 * *reason is a word of bounce_reasons. */
void bounce_judge(const char *status, const char *reply, BounceClass *class, const char **reason);

/* Return true when a failure of this class and reason says little about the address: it may pass, or only this one mail
 * was not wanted. */
bool bounce_is_soft(BounceClass class, const char *reason);
