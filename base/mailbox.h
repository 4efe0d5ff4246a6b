/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Judge, compare and change e-mail addresses. Every part of Listrunner judges an address by mailbox_valid() alone: who
 * becomes a member, whom a bounce report names, who wrote a post, what a setting may hold. So an address that one part
 * takes is never refused by another. A valid mailbox has this form:
 *
 *   mailbox  local "@" domain in valid UTF-8, at most MAILBOX_MAX bytes
 *   local    one or more characters, but no control character, white space or any of ( ) < > [ ] : ; , @ \ "
 *            or a quoted string (RFC 5321, 4.1.2), in which these and plain blanks may stand too
 *   domain   labels of letters, digits, "-", "_" and characters beyond ASCII, separated by single dots; no label
 *            begins or ends with "-"
 *            or an address literal, such as [192.0.2.1] or [IPv6:2001:db8::1]
 *
 * This is wider than RFC 5321 at one place: dots may stand anywhere in the local part. Addresses such as foo..bar@,
 * foo.@ and .foo@ were given out by Japanese carriers, and their servers take mail for them.
 *
 * A text becomes a value once, at the door by which it comes in (REST, a page, the shell, a mail, an import), and is
 * passed down as one. Who gets a value does not fold, check or copy the text again:
 *
 *   g_autoptr(Mailbox) address = mailbox_new("Jo.Doe@Example.COM");
 *   mailbox_check(address, &error)         FAIL_NEVER: it says what is wrong with the text
 *   member_look_up(store, list_id, ROLE_MEMBER, address, &member, &error)
 *
 * Each text has a value, also one that is no address: somebody may ask whether "jo" is a member. Two addresses are the
 * same when their folded forms are; people, letters and logs see the text. A domain is folded as it is written, so
 * "xn--..." and its letters are two.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Mailbox {
    char *text;   /* as it was given */
    char *bare;   /* without quotes that it does not need (mailbox_bare()), as the store keeps it; may be `text` */
    char *folded; /* "example.com jo.doe": equal for equal addresses; in byte order by domain, then local part */
    bool valid;   /* mailbox_valid() */
    bool legible; /* mailbox_legible() */
} Mailbox;

/* Return the value of a text; mailbox_free(). NULL for NULL. */
Mailbox *mailbox_new(const char *text);
void mailbox_free(Mailbox *mailbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Mailbox, mailbox_free)
/* Return the folded form alone, g_free(), for a place in the order of addresses: "@Example.org" gives "example.org ",
 * before all that are in the domain. */
char *mailbox_folded(const char *text);
/* Is it valid? FAIL_NEVER: it is not. */
bool mailbox_check(const Mailbox *mailbox, GError **error);

#define MAILBOX_MAX 254 /* RFC 5321, 4.5.3.1.3: a path has 256 bytes, of which two are its angle brackets */

/* Is this text a mailbox of the form above? */
bool mailbox_valid(const char *mailbox);

/* May this mailbox be added: as that of a member, a user or a list, or in a setting? It is valid, composed (NFC, as RFC
 * 6532, 3.1 wants), and without letters that nobody sees: no format character such as ZERO WIDTH SPACE, no private or
 * unassigned one, and no combining mark where the local part or a label begins. Mail may come from other mailboxes.
 * Which characters are assigned depends on the version of GLib: who is a member already gets mail, is found, and can
 * leave. */
bool mailbox_legible(const char *mailbox);

/* Is this text a domain of the form above? An address literal is none. */
bool mailbox_domain_valid(const char *domain);

/* Return the mailbox without quotes where its local part needs none: "jo"@x becomes jo@x. Some servers and mail
 * programs write foo..bar@x as "foo..bar"@x. Quotes that are needed stay, and inside them only " and \ keep a
 * backslash. g_free(). NULL: the mailbox is not valid. */
char *mailbox_bare(const char *mailbox);

/* Return the form of a mailbox by which two are compared or looked up: in lower case, also of UTF-8, and without
 * needless quotes; g_free(). An invalid mailbox is only put into lower case. */
char *mailbox_key(const char *mailbox);
/* Have both mailboxes the same mailbox_key()? */
bool mailbox_same(const char *a, const char *b);

/* Return one name for all addresses that may lead to one mailbox, for counting what one person does: mailbox_key()
 * without a detail behind "+", without dots in the local part, and with gmail.com for googlemail.com. A local part in
 * quotes stays. Where a server tells j.doe@x from jdoe@x, the two share a count nevertheless. g_free() */
char *mailbox_base(const char *mailbox);

/* Is there a "+" in the local part? */
bool mailbox_has_detail(const char *mailbox);

/* May these bytes be a local part as they stand, without quotes? */
bool mailbox_local_valid(const char *local, size_t length);

/* Return how many bytes of text may stand between the angle brackets of a MAIL or RCPT command: those before the first
 * control character, and before the first blank, "<" or ">" outside of quotes. 0: a quoted string is not closed before
 * that. These bytes cannot end the command or add a parameter to it. They need not be a valid mailbox, because a server
 * judges for itself what it takes. */
size_t mailbox_path_length(const char *text, size_t length);
