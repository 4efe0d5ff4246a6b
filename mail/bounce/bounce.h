/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out which recipients a mail to a -bounces address reports as failed, how and why. A table of dialects
 * (mail/bounce/) reads machine-readable reports (RFC 3464, 6533, 5965) and what mail systems write for people.
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
    BOUNCE_REPLY,        /* written by a program on behalf of a person: vacation, challenge, read receipt */
    BOUNCE_SUCCESS,      /* a report that all went well */
    BOUNCE_UNRECOGNISED, /* looks like a failure, and names nobody */
} BounceKind;

typedef enum BounceClass {
    BOUNCE_PERMANENT, /* given up, and trying again is of no use */
    BOUNCE_TEMPORARY, /* given up, and the next mail may get through */
    BOUNCE_DELAYED,   /* not given up */
    BOUNCE_COMPLAINT,
} BounceClass;

/* The subject of a failure. Only a failure that is about the recipient costs a member points. */
typedef enum BounceAbout {
    BOUNCE_ABOUT_RECIPIENT, /* its mailbox, domain or mail system */
    BOUNCE_ABOUT_SENDER,    /* who sends: its address, host, reputation, authentication or rate, whoever is to get it */
    BOUNCE_ABOUT_MESSAGE,   /* the one mail: its size, form or contents */
} BounceAbout;

/* Where in a session a server refused (RFC 5321). */
typedef enum BouncePhase {
    BOUNCE_PHASE_UNKNOWN,
    BOUNCE_PHASE_CONNECT,
    BOUNCE_PHASE_HELLO, /* EHLO, HELO, STARTTLS */
    BOUNCE_PHASE_AUTH,
    BOUNCE_PHASE_MAIL,
    BOUNCE_PHASE_RCPT,
    BOUNCE_PHASE_DATA,  /* DATA or the first BDAT */
    BOUNCE_PHASE_END,   /* after the message */
} BouncePhase;

typedef struct BounceRecipient {
    char *address;
    char *known_as;     /* the address the mail was sent to, from which the system made this one (an alias, a forward);
                         * NULL when the mail tells of none */
    BounceClass class;
    char *status;       /* "5.1.1" (RFC 3463), "" when the mail has none */
    BouncePhase phase;  /* as far as the mail tells */
    BounceAbout about;
    bool soft;          /* it says little about the address: it may pass */
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

/* Return the name: "recipient", "sender" or "message". */
const char *bounce_about_name(BounceAbout about);

/* Return what became of the mail, in words for people: "given up" (permanent, temporary), "will be tried again",
 * "complaint". */
const char *bounce_outcome(BounceClass class);

/* Every word that reason can be, ended by NULL. */
extern const char *const bounce_reasons[];

/* Return the phase's name, "connect", "hello", "auth", "mail", "rcpt", "data", "end", and "" for BOUNCE_PHASE_UNKNOWN;
 * and the phase of a name, BOUNCE_PHASE_UNKNOWN for any other, also NULL. */
const char *bounce_phase_name(BouncePhase phase);
BouncePhase bounce_phase_named(const char *name);

/* A refusal that a server spoke in its SMTP reply, all borrowed. */
typedef struct BounceReply {
    BouncePhase phase;
    const char *status; /* "5.1.1"; "": there is none, or it stands in the text */
    const char *text;   /* "550 5.1.1 <joe@example.com>: User unknown" */
    bool own_relay;     /* the site's own relay spoke: relaying and authentication are matters of the site */
} BounceReply;

/* Return what a reply about an address has in common with others of its kind: lower case, without the address, numbers
 * and identifiers, not longer than BOUNCE_REPLY_KEY; g_free(). */
#define BOUNCE_REPLY_KEY 160
char *bounce_reply_key(const char *text, const char *address);

typedef struct BounceVerdict {
    BounceClass class;
    BounceAbout about;
    bool soft;          /* it is about the recipient and says little about the address: it may pass */
    const char *reason; /* a word of bounce_reasons */
} BounceVerdict;

/* Judge a refusal, first by its phase, then by its words. Before RCPT no recipient was named, so nothing is about one;
 * a recipient that the server had taken is refused softly at most. */
BounceVerdict bounce_judge(const BounceReply *reply);
