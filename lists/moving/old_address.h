/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Take apart the addresses (URLs) of pages in archives that other programs made. The input is the path behind that of
 * the program ("/pipermail"), with its percent signs not decoded, and the query; both come from strangers.
 *
 *   pipermail   LIST/2019-March/001234.html, LIST/2019-March/thread.html, LIST/2019-March.txt.gz; volumes of a year, a
 *               quarter (2019q1), a week (Week-of-Mon-20190304) and a day (20190304), too
 *   hyperkitty  list/LIST@DOMAIN/message/HASH/, .../thread/HASH/, .../2019/3/, .../latest
 *   mhonarc     LIST/msg00123.html, LIST/2019-03/msg00123.html, and other pages beside them
 *   sympa       arc/LIST/2019-03/msg00012.html, arcsearch_id/LIST/2019-03/MESSAGE-ID
 *   ezmlm       ?LIST:mss:123:201903:abcdef (ezmlm-cgi), LIST/123
 *
 * HyperKitty's HASH is computed from the Message-ID, and so is ours. All others number their messages, and the number
 * is a key of store/archive/archive_old.h:
 *
 *   pipermail   "2019-March/1234" read from a page, or "1234" counted: numbers go on from one month to the next
 *   mhonarc     "123", "2019-03/123"
 *   sympa       "2019-03/12"
 *   ezmlm       "123"
 */
#include <glib.h>
#include <stdbool.h>

typedef enum OldKind { OLD_PIPERMAIL, OLD_HYPERKITTY, OLD_MHONARC, OLD_SYMPA, OLD_EZMLM, OLD_KINDS } OldKind;

/* Return the word for a kind of archive, such as "pipermail", and read such a word. False: it is none. */
const char *old_kind_text(OldKind kind);
bool old_kind_read(const char *word, OldKind *kind);
#define OLD_KIND_NAMES                                         \
    {                                                          \
        "pipermail", "hyperkitty", "mhonarc", "sympa", "ezmlm" \
    } /* in the order of OldKind */
#define OLD_KIND_WORDS "pipermail, hyperkitty, mhonarc, sympa or ezmlm"

typedef enum OldPlace {
    OLD_SITE,        /* all lists */
    OLD_LIST,        /* the list's archive */
    OLD_MONTH,       /* a month of it */
    OLD_MONTH_MAILS, /* the same as a mailbox */
    OLD_NUMBER,      /* a message by its keys */
    OLD_HASH,        /* a message by its Message-ID-Hash */
    OLD_THREAD,      /* the thread of it */
} OldPlace;

typedef struct OldAddress {
    OldPlace place;
    char *list; /* the name of the list there; NULL for OLD_SITE */
    int year, month;
    char *keys[2]; /* the second (may be NULL) is looked for when there is nothing with the first */
    char *hash;
} OldAddress;

void old_address_clear(OldAddress *address);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OldAddress, old_address_clear)

/* Read an address into *address, which the caller clears. path begins with a slash or is empty; query may be empty.
 * False: that program has no such address. */
bool old_address_read(OldKind kind, const char *path, const char *query, OldAddress *address);

/* Return the key of the message in a file, by its path below the directory of the list's archive
 * ("2019-March/001234.html"; of ezmlm the mail "1/23"); g_free(). NULL: there is no message in such a file. */
char *old_address_file_key(OldKind kind, const char *file);
/* Return the key of the mail with this number, counted from 0, in the mailbox from which pipermail made its pages;
 * g_free(). */
char *old_address_counted(guint64 number);

/* ---- pages of lists ---- */

typedef enum OldPages { OLD_PAGES_MAILMAN, OLD_PAGES_SYMPA, OLD_PAGES_POSTORIUS, OLD_PAGES_KINDS } OldPages;
#define OLD_PAGES_NAMES \
    { \
        "mailman", "sympa", "postorius" \
    } /* in the order of OldPages; mailman is GNU Mailman 2.1 */
#define OLD_PAGES_WORDS "mailman (2.1), sympa or postorius"

bool old_pages_read_kind(const char *word, OldPages *kind);

/* Read the path of a page that such a program had of a list, as old_address_read() takes it: "/listinfo/talk",
 * "/options/talk/anne--at--example.org"; "/info/talk"; "/lists/talk.example.com/". *list (g_free()) is the list's
 * name, of Postorius its List-Id or address; NULL: the page is that of all lists. *owners: the page was for its owners.
 * False: there was no such page, and *list is NULL. */
bool old_pages_read(OldPages kind, const char *path, char **list, bool *owners);
