/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Turn the bytes of a message into what a person reads of it: on a page of the archive, at the moderators' desk, in an
 * index for searching. This makes no HTML; whoever does escapes each text.
 *
 *   g_autoptr(Readable) mail = readable_new(octets, READABLE_TEXT);
 *   for (guint at = 0; at < mail->blocks->len; at++)
 *       show(mail->blocks->pdata[at]);
 *
 * Every char * here is visible text (mail/visible.h): valid UTF-8, that of fields in one line. Nothing fails: broken
 * mail is read as far as it goes, and a note stands where something was left out. A Readable owns all that it points to
 * and holds a reference to the bytes; it never changes, so threads may share it. Constants and lengths are in bytes.
 *
 * The work grows with the length of the mail. Beyond the bounds below nothing is read, save that the sizes of files are
 * counted. MIME is RFC 2045 to 2049 and 2231, flowed text RFC 3676, signed and encrypted mail RFC 1847, 3156 and 8551.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mail/text/text_link.h"

#define READABLE_TEXT (1024 * 1024) /* a usual limit for readable_new() */
#define READABLE_LINE 1000          /* of a field, and of each id */
#define READABLE_PEOPLE 100         /* addresses of a field */
#define READABLE_REFERENCES 100     /* ids: the first and the last ones */
#define READABLE_PARTS 1000         /* parts of a mail; and again of all messages within it, of all within those, ... */
#define READABLE_DEPTH 5            /* messages in messages; parts nest 12 times in each */
#define READABLE_BLOCKS 10000       /* blocks; what follows is one block for each part */
#define READABLE_LEVEL 20           /* of quotations */
#define READABLE_FILE_NAME 150

/* ---- the head ---- */

typedef struct ReadablePerson {
    char *name;    /* "": none, or the same as the address */
    char *address; /* "": what the field holds is no address, and name has it */
} ReadablePerson;

typedef struct ReadablePeople {
    GPtrArray *list; /* of ReadablePerson; empty when there is no such field */
    bool more;       /* some were left out */
} ReadablePeople;

typedef struct ReadableHead {
    ReadablePeople from, to, cc, reply_to;
    bool dated;    /* date and zone are set: there is a Date that somebody can read */
    int64_t date;  /* seconds since 1970, UTC */
    int zone;      /* minutes by which the sender's zone is ahead of UTC */
    char *subject; /* "": none */
    char *id;      /* Message-ID, In-Reply-To: without brackets; NULL: none */
    char *in_reply_to;
    GPtrArray *references; /* of char *, as id, the oldest first */
    char *list_post;       /* the address to which the list takes posts; NULL: none */
} ReadableHead;

/* ---- the texts ---- */

typedef enum ReadableKind {
    READABLE_PARAGRAPH,   /* its line ends are the writer's; those of flowed text and HTML are joined */
    READABLE_ATTRIBUTION, /* "On 3 Nov 2026, Anne wrote:", or the From, Sent and Subject that Outlook copies */
    READABLE_QUOTATION,   /* a paragraph of one, without its marks */
    READABLE_SIGNATURE,   /* what follows "-- ", without it; the footer of a list below a rule */
    READABLE_FIXED,       /* for a fixed pitch, each line as it is: a patch, a table, a report of a mail server */
    READABLE_NOTE,        /* here something is not shown; the text is empty */
    READABLE_FILE,        /* the place of a file; the text is empty */
    READABLE_MESSAGE,     /* a message within; the text is empty */
} ReadableKind;

typedef enum ReadableNote {
    READABLE_NOTE_CUT,       /* more text than the limit: bytes of it as they were sent, or without a number */
    READABLE_NOTE_PARTS,     /* more parts than READABLE_PARTS */
    READABLE_NOTE_DEEP,      /* parts or messages too deep in others; they are the file that follows */
    READABLE_NOTE_SIGNED,    /* a signature by OpenPGP or S/MIME, which nobody has checked */
    READABLE_NOTE_ENCRYPTED, /* the text is encrypted */
} ReadableNote;

typedef struct Readable Readable;

typedef struct ReadableFile {
    size_t number;        /* from 0, in the whole mail with the messages inside; the same whenever the mail is read */
    char *name;           /* of its last component only, with nothing that a file system or a shell takes amiss; when
                             the mail names none, made of the number and the type */
    char *type;           /* as declared, "image/svg+xml"; a stranger's word, never to be sent as a Content-Type */
    const char *serve_as; /* of a short list that no browser runs, or the type of unknown bytes */
    size_t size;          /* decoded */
    struct ReadableSource *source; /* private */
} ReadableFile;

typedef struct ReadableBlock {
    ReadableKind kind;
    bool begins_part;  /* the first of a part: between two texts people want a rule */
    bool patch;        /* of READABLE_FIXED: lines with + and - are those that a patch adds and removes */
    unsigned level;    /* of READABLE_QUOTATION, from 1 to READABLE_LEVEL; 0: no quotation */
    unsigned fold;     /* the attribution and the blocks of one quotation share a number from 1; 0: none */
    ReadableNote note; /* of READABLE_NOTE */
    size_t left_out;   /* of READABLE_NOTE_CUT; 0: nobody counted */
    char *text;        /* lines with LF between them, none behind the last */
    size_t length;
    GArray *links;      /* of TextLink, in text; NULL: none */
    ReadableFile *file; /* of READABLE_FILE, borrowed from files */
    Readable *message;  /* of READABLE_MESSAGE */
} ReadableBlock;

struct Readable {
    ReadableHead head;
    GPtrArray *blocks; /* of ReadableBlock, in the order in which people read them */
    GPtrArray *files;  /* of ReadableFile: those of this message, not of the ones within it */
};

/* Read a message, with at most limit bytes of text in all of its blocks and a note where that ended. 0: no text, for
 * who wants the head and the files. A new reference to the bytes is taken; there may be none. */
Readable *readable_new(GBytes *octets, size_t limit);
void readable_free(Readable *readable);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Readable, readable_free)

/* Find a file by its number, in the message or one within it. Borrowed; NULL: there is none. */
const ReadableFile *readable_file(const Readable *readable, size_t number);

/* Return the bytes of a file, decoded: exactly file->size. g_bytes_unref(). */
GBytes *readable_file_bytes(const ReadableFile *file);

/* Return the text for an index, at most limit bytes of whole characters: the paragraphs and the fixed text with an
 * empty line between, of the messages within also the subject and the sender's name, and the names of files. With
 * quotations, the attributions, quotations and signatures too, which stand in other mails as well. g_string_free(). */
GString *readable_search_text(const Readable *readable, bool quotations, size_t limit);
