/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* LMTP, and what a server offers: BDAT, DSN, 8BITMIME, SMTPUTF8. */
#include <string.h>

#include "t/net/peer.h"
#include "t/suite.h"

static void expect_owner(Owner *owner, const char *const *script, const char *report)
{
    owner_run(owner, script);
    g_assert_cmpstr(owner->report->str, ==, report);
}

static Owner *lmtp(void)
{
    Owner *owner = owner_new("x\r\n.y\r\n");
    owner->settings.protocol = SMTP_PROTOCOL_LMTP;
    return owner;
}

static Owner *chunking(void)
{
    Owner *owner = owner_new("x\r\n.y");
    owner->settings.chunking = true;
    return owner;
}

#define LHLO "> 220 hi", "< LHLO me.example", "> 250-peer", "> 250-SIZE 1000", "> 250 PIPELINING"

static void lmtp_each(void)
{
    g_autoptr(Owner) owner = lmtp();
    expect_owner(owner, SCRIPT(LHLO, GROUP, "> 250 ok", "> 250 ok", "> 250 ok", "> 354 go", BODY, "> 250 2.1.5 a",
                               "> 452 4.2.2 full", BYE),
                 "0 sent 2.1.5 250 2.1.5 a\n1 later 4.2.2 452 4.2.2 full\ndone\nclosed sent \n");
    g_autoptr(Owner) same = lmtp(); /* a reply for each RCPT, also of the same address; none for those refused */
    same->recipients = (const char *const[]){"a@x", "b@x", "a@x", NULL};
    expect_owner(same, SCRIPT(LHLO, "< MAIL FROM:<list@example.com> SIZE=7", "< RCPT TO:<a@x>", "< RCPT TO:<b@x>",
                              "< RCPT TO:<a@x>", "< DATA", "> 250", "> 250", "> 550 5.1.1 who", "> 250", "> 354", BODY,
                              "> 250 one", "> 550 5.7.1 two", BYE),
                 "1 never 5.1.1 550 5.1.1 who\n0 sent 2.0.0 250 one\n2 never 5.7.1 550 5.7.1 two\ndone\n"
                 "closed sent \n");
}

static void lmtp_lost(void)
{
    g_autoptr(Owner) cut = lmtp();
    expect_owner(cut, SCRIPT(LHLO, GROUP, "> 250", "> 250", "> 250", "> 354", BODY, "> 250 2.1.5 a", "close"),
                 "0 sent 2.1.5 250 2.1.5 a\n"
                 "1 later 4.4.2 lost connection with peer while waiting for the reply to the end of data connection in "
                 "doubt\ndone\n"
                 "closed later lost connection with peer while waiting for the reply to the end of data\n");
    g_autoptr(Owner) down = lmtp();
    expect_owner(down, SCRIPT(LHLO, GROUP, "> 250", "> 250", "> 250", "> 354", BODY, "> 250 2.1.5 a",
                              "> 421 4.3.2 down", "wait"),
                 "0 sent 2.1.5 250 2.1.5 a\n1 later 4.3.2 421 4.3.2 down connection\ndone\n"
                 "closed later peer said: 421 4.3.2 down (in reply to end of data)\n");
    g_autoptr(Owner) old = lmtp(); /* HELO is no LMTP */
    expect_owner(old, SCRIPT("> 220 hi", "< LHLO me.example", "> 500 what", "wait"),
                 "closed later peer said: 500 what (in reply to EHLO)\n");
    g_autoptr(Owner) nobody = lmtp();
    expect_owner(nobody, SCRIPT(LHLO, GROUP, "> 250", "> 550", "> 550", "> 503 nobody", "< RSET", "> 250", BYE),
                 "0 never 5.0.0 550\n1 never 5.0.0 550\ndone\nclosed sent \n");
}

#define CHUNKS HELLO, "> 250-peer", "> 250-CHUNKING", "> 250 PIPELINING"
#define ENVELOPE "< MAIL FROM:<list@example.com>", "< RCPT TO:<a@example.com>", "< RCPT TO:<b@example.com>"
#define CHUNK "< BDAT 7 LAST", "= x\r\n.y\r\n"

static void bdat(void)
{
    g_autoptr(Owner) owner = chunking();
    owner->transactions = 2;
    expect_owner(owner, SCRIPT(CHUNKS, ENVELOPE, CHUNK, "> 250", "> 250", "> 250", "> 250 1", ENVELOPE, CHUNK, "> 250",
                               "> 250", "> 250", "> 250 2", BYE),
                 "0 sent 2.0.0 250 1\n1 sent 2.0.0 250 1\ndone\n0 sent 2.0.0 250 2\n1 sent 2.0.0 250 2\ndone\n"
                 "closed sent \n");
    g_autoptr(Owner) slow = chunking(); /* without PIPELINING */
    expect_owner(slow, SCRIPT(HELLO, "> 250-peer", "> 250 CHUNKING", "< MAIL FROM:<list@example.com>", "> 250",
                              "< RCPT TO:<a@example.com>", "> 250", "< RCPT TO:<b@example.com>", "> 550", CHUNK,
                              "> 250", BYE),
                 "1 never 5.0.0 550\n0 sent 2.0.0 250\ndone\nclosed sent \n");
    g_autoptr(Owner) each = chunking();
    each->settings.protocol = SMTP_PROTOCOL_LMTP;
    expect_owner(each, SCRIPT("> 220 hi", "< LHLO me.example", "> 250-peer", "> 250-CHUNKING", "> 250 PIPELINING",
                              ENVELOPE, CHUNK, "> 250", "> 250", "> 250", "> 250 1", "> 250 2", BYE),
                 "0 sent 2.0.0 250 1\n1 sent 2.0.0 250 2\ndone\nclosed sent \n");
    g_autoptr(Owner) unwanted = owner_new("x\r\n.y\r\n");
    expect_owner(unwanted, SCRIPT(CHUNKS, ENVELOPE, "< DATA", "> 250", "> 250", "> 250", "> 354", BODY, "> 250", BYE),
                 "0 sent 2.0.0 250\n1 sent 2.0.0 250\ndone\nclosed sent \n");
}

/* After a chunk that was not taken nobody knows what the server still has: RSET. */
static void bdat_refused(void)
{
    g_autoptr(Owner) all = chunking();
    expect_owner(all, SCRIPT(CHUNKS, ENVELOPE, CHUNK, "> 250", "> 550 a", "> 550 b", "> 503 who", "< RSET", "> 250",
                             BYE),
                 "0 never 5.0.0 550 a\n1 never 5.0.0 550 b\ndone\nclosed sent \n");
    g_autoptr(Owner) sender = chunking();
    expect_owner(sender, SCRIPT(CHUNKS, ENVELOPE, CHUNK, "> 550 5.7.1 no", "> 503", "> 503", "> 503", "< RSET", "> 250",
                                BYE),
                 "0 never 5.7.1 550 5.7.1 no\n1 never 5.7.1 550 5.7.1 no\ndone\nclosed sent \n");
    g_autoptr(Owner) message = chunking();
    expect_owner(message, SCRIPT(CHUNKS, ENVELOPE, CHUNK, "> 250", "> 250", "> 250", "> 451 4.3.0 disk", "< RSET",
                                 "> 250", BYE),
                 "0 later 4.3.0 451 4.3.0 disk\n1 later 4.3.0 451 4.3.0 disk\ndone\nclosed sent \n");
}

/* Everything was sent, nothing was answered. */
static void bdat_lost(void)
{
    g_autoptr(Owner) owner = chunking();
    expect_owner(owner, SCRIPT(CHUNKS, ENVELOPE, CHUNK, "close"),
                 "0 later 4.4.2 lost connection with peer while sending MAIL FROM connection in doubt\n"
                 "1 later 4.4.2 lost connection with peer while sending MAIL FROM connection in doubt\n"
                 "done\nclosed later lost connection with peer while sending MAIL FROM\n");
    g_autoptr(Owner) later = chunking();
    expect_owner(later, SCRIPT(CHUNKS, ENVELOPE, CHUNK, "> 250", "> 550 a", "close"),
                 "0 never 5.0.0 550 a\n"
                 "1 later 4.4.2 lost connection with peer while sending RCPT TO connection in doubt\n"
                 "done\nclosed later lost connection with peer while sending RCPT TO\n");
}

#define ONE "< MAIL FROM:<list@example.com>", "< RCPT TO:<a@example.com>", CHUNK

/* To one recipient, with so many more behind each. */
static Owner *flight(unsigned transactions, unsigned behind)
{
    static const char *const one[] = {"a@example.com", NULL};
    Owner *owner = chunking();
    owner->recipients = one;
    owner->transactions = transactions;
    owner->behind = behind;
    return owner;
}

/* Several transactions before the first reply; the peer says nothing until it has them all. */
static void behind(void)
{
    g_autoptr(Owner) owner = flight(2, 2);
    expect_owner(owner, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "< RSET", ONE, "> 250", "> 250", "> 250 1", "> 250",
                               "> 250", "> 250", "> 250 2", "> 250", "+ 250\r\n250\r\n250 3\r\n", ONE, "< RSET", ONE,
                               "< RSET", ONE, "> 250", "> 250", "> 250 4", "> 250", "> 250", "> 250", "> 250 5",
                               "> 250", "> 250", "> 250", "> 250 6", BYE),
                 "0 sent 2.0.0 250 1\ndone\n0 sent 2.0.0 250 2\ndone\n0 sent 2.0.0 250 3\ndone\n"
                 "0 sent 2.0.0 250 4\ndone\n0 sent 2.0.0 250 5\ndone\n0 sent 2.0.0 250 6\ndone\nclosed sent \n");
    g_autoptr(Owner) each = flight(1, 1);
    each->settings.protocol = SMTP_PROTOCOL_LMTP;
    expect_owner(each, SCRIPT("> 220 hi", "< LHLO me.example", "> 250-peer", "> 250-CHUNKING", "> 250 PIPELINING", ONE,
                              "< RSET", ONE, "> 250", "> 250", "> 250 1", "> 250", "> 250", "> 250", "> 250 2", BYE),
                 "0 sent 2.0.0 250 1\ndone\n0 sent 2.0.0 250 2\ndone\nclosed sent \n");
}

/* One is refused, the others are not. */
static void behind_refused(void)
{
    g_autoptr(Owner) recipient = flight(1, 2);
    expect_owner(recipient, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "< RSET", ONE, "> 250", "> 550 who", "> 503", "> 250",
                                   "> 250", "> 250", "> 250 2", "> 250", "> 250", "> 450 full", "> 503", "< RSET",
                                   "> 250", BYE),
                 "0 never 5.0.0 550 who\ndone\n0 sent 2.0.0 250 2\ndone\n0 later 4.0.0 450 full\ndone\n"
                 "closed sent \n");
    g_autoptr(Owner) sender = flight(1, 1);
    expect_owner(sender, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "> 450 not now", "> 503", "> 503", "> 250", "> 250",
                                "> 250", "> 250 2", BYE),
                 "0 later 4.0.0 450 not now\ndone\n0 sent 2.0.0 250 2\ndone\nclosed sent \n");
    g_autoptr(Owner) message = flight(1, 1);
    expect_owner(message, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "> 250", "> 250", "> 552 5.3.4 large", "> 250", "> 250",
                                 "> 250", "> 451 4.3.0 disk", "< RSET", "> 250", BYE),
                 "0 never 5.3.4 552 5.3.4 large\ndone\n0 later 4.3.0 451 4.3.0 disk\ndone\nclosed sent \n");
}

/* Check that a server that says goodbye has not come to what is behind, and that one that says nothing may have taken
 * it. */
static void behind_lost(void)
{
    g_autoptr(Owner) silent = flight(1, 1);
    expect_owner(silent, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "close"),
                 "0 later 4.4.2 lost connection with peer while sending MAIL FROM connection in doubt\ndone\n"
                 "0 later 4.4.2 lost connection with peer while sending MAIL FROM connection in doubt behind\ndone\n"
                 "closed later lost connection with peer while sending MAIL FROM\n");
    g_autoptr(Owner) between = flight(1, 2);
    expect_owner(between, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "< RSET", ONE, "> 250", "> 250", "> 250 1", "close"),
                 "0 sent 2.0.0 250 1\ndone\n"
                 "0 later 4.4.2 lost connection with peer while sending RSET connection in doubt behind\ndone\n"
                 "0 later 4.4.2 lost connection with peer while sending RSET connection in doubt behind\ndone\n"
                 "closed later lost connection with peer while sending RSET\n");
    g_autoptr(Owner) farewell = flight(1, 1);
    expect_owner(farewell, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "> 250", "> 250", "> 421 4.3.2 down", "wait"),
                 "0 later 4.3.2 421 4.3.2 down connection\ndone\n"
                 "0 later 4.3.2 421 4.3.2 down connection unstarted behind\ndone\n"
                 "closed later peer said: 421 4.3.2 down (in reply to end of data)\n");
    g_autoptr(Owner) reset = flight(1, 1);
    expect_owner(reset, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "> 250", "> 250", "> 250 1", "> 421 4.3.2 down", "wait"),
                 "0 sent 2.0.0 250 1\ndone\n0 later 4.3.2 421 4.3.2 down connection unstarted behind\ndone\n"
                 "closed later peer said: 421 4.3.2 down (in reply to RSET)\n");
}

/* Check that all that follows a message that was taken has been read, though RSET is refused: nothing is left to
 * forget. After a message that was not taken it may have been added to what the server still has. */
static void behind_no_reset(void)
{
    g_autoptr(Owner) clean = flight(1, 1);
    expect_owner(clean, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "> 250", "> 250", "> 250 1", "> 502 what", "> 250", "> 250",
                               "> 250 2", BYE),
                 "0 sent 2.0.0 250 1\ndone\n0 sent 2.0.0 250 2\ndone\nclosed sent \n");
    g_autoptr(Owner) open = flight(1, 1);
    expect_owner(open, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "> 250", "> 250", "> 451 4.3.0 disk", "> 502 what", "drain"),
                 "0 later 4.3.0 451 4.3.0 disk\ndone\n0 later 4.5.0 502 what in doubt behind\ndone\n"
                 "closed never peer said: 502 what (in reply to RSET)\n");
}

/* Check that a server that does not bear one message behind the other says that of the commands: the mail has not been
 * judged. */
static void behind_not_understood(void)
{
    g_autoptr(Owner) sender = flight(1, 1);
    expect_owner(sender, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "> 250", "> 250", "> 250 1", "> 250", "> 503 5.5.1 no",
                                "> 503", "> 503", "< RSET", "> 250", BYE),
                 "0 sent 2.0.0 250 1\ndone\n0 later 4.5.1 503 5.5.1 no unstarted behind\ndone\nclosed sent \n");
    g_autoptr(Owner) message = flight(1, 1);
    expect_owner(message, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "> 250", "> 250", "> 250 1", "> 250", "> 250", "> 250",
                                 "> 500 5.5.2 what", "< RSET", "> 250", BYE),
                 "0 sent 2.0.0 250 1\ndone\n0 later 4.5.2 500 5.5.2 what unstarted behind\ndone\nclosed sent \n");
    g_autoptr(Owner) recipient = flight(1, 1); /* the others may have it: not at once */
    expect_owner(recipient, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "> 250", "> 250", "> 250 1", "> 250", "> 250", "> 503",
                                   "> 503", "< RSET", "> 250", BYE),
                 "0 sent 2.0.0 250 1\ndone\n0 later 4.0.0 503 behind\ndone\nclosed sent \n");
    g_autoptr(Owner) alone = flight(1, 0);
    expect_owner(alone, SCRIPT(CHUNKS, ONE, "> 250", "> 250", "> 500 5.5.2 what", "< RSET", "> 250", BYE),
                 "0 later 4.5.2 500 5.5.2 what without chunking\ndone\nclosed sent \n");
}

/* In LMTP a server may refuse the whole message once or for each recipient: the answer to what is behind would be
 * taken for that of another recipient. */
static void behind_lmtp(void)
{
    g_autoptr(Owner) owner = flight(1, 1);
    owner->settings.protocol = SMTP_PROTOCOL_LMTP;
    owner->settings.timeouts[SMTP_DOT] = CLOCK_SECOND / 10;
    owner->recipients = (const char *const[]){"a@example.com", "b@example.com", NULL};
    expect_owner(owner, SCRIPT("> 220 hi", "< LHLO me.example", "> 250-peer", "> 250-CHUNKING", "> 250 PIPELINING",
                               ENVELOPE, CHUNK, "> 250", "> 250", "> 250", "> 552 5.3.4 large", "wait"),
                 "alone\n0 never 5.3.4 552 5.3.4 large\n"
                 "1 later 4.4.2 peer timed out while waiting for the reply to the end of data connection in doubt\n"
                 "done\nclosed later peer timed out while waiting for the reply to the end of data\n");
}

/* Answers to what has not even been written; in LMTP, too, nobody is left to have one for himself. */
static void answered_early(void)
{
    g_autoptr(Owner) nobody = flight(1, 1);
    nobody->settings.protocol = SMTP_PROTOCOL_LMTP;
    expect_owner(nobody, SCRIPT("+ 220 hi\r\n250-peer\r\n250-CHUNKING\r\n250 PIPELINING\r\n250\r\n550 who\r\n503\r\n",
                                "+ 250\r\n250\r\n250\r\n", "< LHLO me.example", ONE, "< RSET", ONE, "> 250 2", BYE),
                 "0 never 5.0.0 550 who\ndone\n0 sent 2.0.0 250 2\ndone\nclosed sent \n");
}

/* A server that takes a recipient without a sender, or a message without a recipient, answers something else than it
 * seems: nothing more is believed of it. */
static void out_of_pace(void)
{
    g_autoptr(Owner) recipient = flight(1, 1);
    expect_owner(recipient, SCRIPT(CHUNKS, ONE, "< RSET", ONE, "> 250", "> 550 who", "> 250", "drain"),
                 "0 never 5.0.0 550 who\ndone\n"
                 "0 later 4.5.0 peer broke the protocol while waiting for the reply to the end of data connection in "
                 "doubt behind\ndone\n"
                 "closed later peer broke the protocol while waiting for the reply to the end of data\n");
    g_autoptr(Owner) sender = flight(1, 0);
    expect_owner(sender, SCRIPT(CHUNKS, ONE, "> 450 no", "> 250", "drain"),
                 "0 later 4.0.0 450 no\ndone\nclosed later peer broke the protocol while sending RCPT TO\n");
}

/* Where one cannot follow it goes by itself. */
static void behind_alone(void)
{
    g_autoptr(Owner) slow = flight(1, 1);
    expect_owner(slow, SCRIPT(HELLO, "> 250-peer", "> 250 CHUNKING", "< MAIL FROM:<list@example.com>", "> 250",
                              "< RCPT TO:<a@example.com>", "> 250", CHUNK, "> 250", BYE),
                 "alone\n0 sent 2.0.0 250\ndone\nclosed sent \n");
    g_autoptr(Owner) data = flight(1, 1);
    expect_owner(data, SCRIPT(HELLO, "> 250-peer", "> 250 PIPELINING", "< MAIL FROM:<list@example.com>",
                              "< RCPT TO:<a@example.com>", "< DATA", "> 250", "> 250", "> 354", BODY, "> 250", BYE),
                 "alone\n0 sent 2.0.0 250\ndone\nclosed sent \n");
    g_autoptr(Owner) bad = flight(1, 1);
    bad->sender = "a\r\nb@x";
    expect_owner(bad, SCRIPT(CHUNKS, BYE),
                 "alone\n0 never 5.1.7 the sender's address cannot be sent\ndone\nclosed sent \n");
}

/* Check that content that does not fit beside the commands waits for the recipients. */
/* Our kernel takes a message that the peer stops reading: what never arrived is not in doubt. */
static void cut_short(void)
{
    g_autoptr(GString) large = g_string_new(NULL);
    while (large->len < 400000)
        g_string_append(large, "0123456789abcdef0123456789abcde\r\n");
    g_autofree char *half = g_strndup(large->str, 330 * 100);
    g_autofree char *octets = g_strconcat("= ", half, NULL);
    for (int data = 0; data < 2; data++) {
        g_autoptr(Owner) owner = owner_new(large->str);
        g_autofree char *command = g_strdup_printf("< BDAT %zu LAST", large->len);
        owner->settings.chunking = !data;
        owner->recipients = (const char *const[]){"a@example.com", NULL};
        owner->peer.window = 4096;
        owner_run_tcp(owner, SCRIPT("accept", HELLO, "> 250-peer", data ? "> 250-SIZE" : "> 250-CHUNKING",
                                    "> 250 PIPELINING",
                                    data ? "< MAIL FROM:<list@example.com> SIZE=400026" :
                                           "< MAIL FROM:<list@example.com>",
                                    "< RCPT TO:<a@example.com>", data ? "< DATA" : "+ ", "> 250 ok", "> 250 ok",
                                    data ? "> 354 go" : command, octets, "close"));
        g_assert_true(g_str_has_prefix(owner->report->str, "0 later 4.4.2 lost connection with peer["));
        g_assert_nonnull(strstr(owner->report->str, " while sending the message connection\ndone\n"));
    }
}

static void bdat_large(void)
{
    g_autoptr(GString) large = g_string_new(NULL);
    while (large->len < 200000)
        g_string_append(large, large->len < 100 ? ".bare\n" : "0123456789abcdef0123456789abcde\r\n");
    g_autoptr(Owner) owner = owner_new(large->str);
    owner->settings.chunking = true;
    g_autoptr(GString) wire = g_string_new(large->str);
    g_string_replace(wire, "e\n", "e\r\n", 0);
    g_string_replace(wire, "e\r\r\n", "e\r\n", 0);
    g_autofree char *command = g_strdup_printf("< BDAT %zu LAST", wire->len);
    g_autofree char *octets = g_strconcat("= ", wire->str, NULL);
    expect_owner(owner, SCRIPT(CHUNKS, ENVELOPE, "> 250", "> 250", "> 250", command, octets, "> 250 1", BYE),
                 "0 sent 2.0.0 250 1\n1 sent 2.0.0 250 1\ndone\nclosed sent \n");
    g_autoptr(Owner) none = owner_new(large->str);
    none->settings.chunking = true;
    expect_owner(none, SCRIPT(CHUNKS, ENVELOPE, "> 250", "> 550", "> 550", "< RSET", "> 250", BYE),
                 "0 never 5.0.0 550\n1 never 5.0.0 550\ndone\nclosed sent \n");
    g_autoptr(Owner) early = owner_new(large->str); /* the server has enough before it has all */
    early->settings.chunking = true;
    expect_owner(early, SCRIPT(CHUNKS, ENVELOPE, "> 250", "> 250", "> 250", command, "= .bare\r\n", "> 552 5.3.4 much",
                               "close"),
                 "0 never 5.3.4 552 5.3.4 much\n1 never 5.3.4 552 5.3.4 much\ndone\n"
                 "closed never peer said: 552 5.3.4 much (in reply to message)\n");
}

/* LMTP answers for each recipient, also before it has the whole message: one refusal speaks for one. */
static void lmtp_early(void)
{
    g_autoptr(GString) large = g_string_new(NULL);
    while (large->len < 1000000)
        g_string_append(large, "0123456789abcdef0123456789abcde\r\n");
    g_autofree char *command = g_strdup_printf("< BDAT %zu LAST", large->len);
    g_autoptr(Owner) both = owner_new(large->str);
    both->settings.protocol = SMTP_PROTOCOL_LMTP;
    both->settings.chunking = true;
#define LARGE "> 220 hi", "< LHLO me.example", "> 250-peer", "> 250-CHUNKING", "> 250 PIPELINING"
    expect_owner(both, SCRIPT(LARGE, ENVELOPE, "> 250", "> 250", "> 250", command, "= 0123", "> 552 5.2.3 much",
                              "> 452 4.2.2 full", "close"),
                 "0 never 5.2.3 552 5.2.3 much\n1 later 4.2.2 452 4.2.2 full\ndone\n"
                 "closed later peer said: 452 4.2.2 full (in reply to message)\n");
    g_autoptr(Owner) one = owner_new(large->str);
    one->settings = both->settings;
    expect_owner(one, SCRIPT(LARGE, ENVELOPE, "> 250", "> 250", "> 250", command, "= 0123", "> 552 5.2.3 much",
                             "close"),
                 "0 never 5.2.3 552 5.2.3 much\n"
                 "1 later 4.4.2 lost connection with peer while sending the message connection\ndone\n"
                 "closed later lost connection with peer while sending the message\n");
    g_autofree char *octets = g_strconcat("= ", large->str, NULL);
    g_autoptr(Owner) heard = owner_new(large->str); /* who takes the rest, and the other's mail */
    heard->settings = both->settings;
    expect_owner(heard, SCRIPT(LARGE, ENVELOPE, "> 250", "> 250", "> 250", command, "> 552 5.2.3 much", octets,
                               "> 250 2.1.5 b", "< RSET", "> 250", BYE),
                 "0 never 5.2.3 552 5.2.3 much\n1 sent 2.1.5 250 2.1.5 b\ndone\nclosed sent \n");
    g_autoptr(Owner) dots = owner_new(large->str); /* with DATA nobody can tell what is still to come */
    dots->settings.protocol = SMTP_PROTOCOL_LMTP;
    g_autofree char *data = g_strconcat(octets, ".\r\n", NULL);
    expect_owner(dots, SCRIPT("> 220 hi", "< LHLO me.example", "> 250-peer", "> 250 PIPELINING", ENVELOPE, "< DATA",
                              "> 250", "> 250", "> 250", "> 354", "> 552 5.2.3 much", data, "> 250 2.1.5 b", "wait"),
                 "0 never 5.2.3 552 5.2.3 much\n1 sent 2.1.5 250 2.1.5 b\ndone\n"
                 "closed later peer broke the protocol while waiting for the reply to the end of data\n");
}

static const char *original(void *data, size_t index, size_t *length)
{
    static const char *const addresses[] = {"A+b=c d@example.com", "j\xc3\xb6rg@example.com"};
    (void)data;
    *length = strlen(addresses[index]);
    return addresses[index];
}

static void dsn(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n.y\r\n");
    owner->transaction = (SmtpTransaction){.ret = SMTP_RET_HDRS, .envid = "a+b 1", .orcpt = original,
                                           .notify = SMTP_NOTIFY_FAILURE | SMTP_NOTIFY_DELAY};
    owner->transactions = 1;
    expect_owner(owner, SCRIPT(HELLO, "> 250-peer", "> 250 DSN",
                               "< MAIL FROM:<list@example.com> RET=HDRS ENVID=a+2Bb+201", "> 250",
                               "< RCPT TO:<a@example.com> NOTIFY=FAILURE,DELAY ORCPT=rfc822;A+2Bb+3Dc+20d@example.com",
                               "> 250",
                               "< RCPT TO:<b@example.com> NOTIFY=FAILURE,DELAY ORCPT=utf-8;j\\x{F6}rg@example.com",
                               "> 250", "< DATA", "> 354", BODY, "> 250", BYE),
                 "0 sent 2.0.0 250\n1 sent 2.0.0 250\ndone\nclosed sent \n");
    g_autoptr(Owner) unknown = owner_new("x\r\n.y\r\n"); /* a server without DSN is not troubled with it */
    unknown->transaction = owner->transaction;
    expect_owner(unknown, SCRIPT(PIPE, GROUP, "> 250", "> 250", "> 250", "> 354", BODY, "> 250", BYE),
                 "0 sent 2.0.0 250\n1 sent 2.0.0 250\ndone\nclosed sent \n");
    g_autoptr(Owner) never = owner_new("x\r\n.y\r\n");
    g_autofree char *overlong = g_strnfill(200, 'x');
    never->transaction = (SmtpTransaction){.ret = SMTP_RET_FULL, .envid = overlong, .notify = SMTP_NOTIFY_NEVER};
    expect_owner(never, SCRIPT(HELLO, "> 250-peer", "> 250 DSN", "< MAIL FROM:<list@example.com> RET=FULL", "> 550 no",
                               BYE),
                 "0 never 5.0.0 550 no\n1 never 5.0.0 550 no\ndone\nclosed sent \n");
}

static SmtpBody *seven(void *data)
{
    (void)data;
    g_autoptr(GBytes) octets = g_bytes_new_static("seven\r\n", 7);
    return smtp_body_new(octets);
}

static SmtpBody *no_body(void *data)
{
    (void)data;
    return NULL;
}

static void downgrade(void)
{
    g_autoptr(Owner) owner = owner_new("\xc3\xa4\r\n");
    owner->recipients = (const char *const[]){"a@x", NULL};
    owner->transaction.body_7bit = seven;
    expect_owner(owner, SCRIPT(HELLO, "> 250-peer", "> 250 SIZE", "< MAIL FROM:<list@example.com> SIZE=7", "> 250",
                               "< RCPT TO:<a@x>", "> 250", "< DATA", "> 354", "< seven", "< .", "> 250", BYE),
                 "0 sent 2.0.0 250\ndone\nclosed sent \n");
    g_autoptr(Owner) able = owner_new("\xc3\xa4\r\n"); /* not where it is not needed */
    able->recipients = (const char *const[]){"a@x", NULL};
    able->transaction.body_7bit = seven;
    expect_owner(able, SCRIPT(HELLO, "> 250-peer", "> 250 8BITMIME", "< MAIL FROM:<list@example.com> BODY=8BITMIME",
                              "> 250", "< RCPT TO:<a@x>", "> 250", "< DATA", "> 354", "< \xc3\xa4", "< .", "> 250",
                              BYE),
                 "0 sent 2.0.0 250\ndone\nclosed sent \n");
    g_autoptr(Owner) unable = owner_new("\xc3\xa4\r\n");
    unable->recipients = (const char *const[]){"a@x", NULL};
    unable->transaction.body_7bit = no_body;
    expect_owner(unable, SCRIPT(HELLO, "> 250 peer", BYE),
                 "0 never 5.6.3 the message has 8-bit octets and the server takes none\ndone\nclosed sent \n");
}

/* Return a body that is still over 127 after the downgrade: it goes as it is, and nothing is claimed of it. */
static SmtpBody *still_eight(void *data)
{
    (void)data;
    g_autoptr(GBytes) octets = g_bytes_new_static("\xc3\xb6\r\n", 4);
    return smtp_body_new(octets);
}

static void downgrade_in_part(void)
{
    g_autoptr(Owner) owner = owner_new("\xc3\xa4\r\n");
    owner->recipients = (const char *const[]){"a@x", NULL};
    owner->transaction.body_7bit = still_eight;
    expect_owner(owner, SCRIPT(HELLO, "> 250 peer", "< MAIL FROM:<list@example.com>", "> 250", "< RCPT TO:<a@x>",
                               "> 250", "< DATA", "> 354", "< \xc3\xb6", "< .", "> 250", BYE),
                 "0 sent 2.0.0 250\ndone\nclosed sent \n");
}

static void xverp(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n");
    owner->recipients = (const char *const[]){"a@x", NULL};
    owner->transaction.xverp = "+=";
    expect_owner(owner, SCRIPT(HELLO, "> 250-peer", "> 250 XVERP", "< MAIL FROM:<list@example.com> XVERP=+=", "> 250",
                               "< RCPT TO:<a@x>", "> 250", "< DATA", "> 354", "< x", "< .", "> 250", BYE),
                 "0 sent 2.0.0 250\ndone\nclosed sent \n");
    g_autoptr(Owner) unable = owner_new("x\r\n");
    unable->recipients = (const char *const[]){"a@x", NULL};
    unable->transaction.xverp = "+=";
    expect_owner(unable, SCRIPT(HELLO, "> 250 peer", "< MAIL FROM:<list@example.com>", "> 250", "< RCPT TO:<a@x>",
                                "> 250", "< DATA", "> 354", "< x", "< .", "> 250", BYE),
                 "0 sent 2.0.0 250\ndone\nclosed sent \n");
}

/* A local part in ASCII needs no SMTPUTF8, whatever the domain. */
static void domains(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n");
    owner->sender = "list@b\xc3\xbc" "cher.example";
    owner->recipients = (const char *const[]){"a@B\xc3\x9c" "CHER.example", "\xc3\xb6@b\xc3\xbc" "cher.example",
                                              "a@\xc3", NULL};
    expect_owner(owner, SCRIPT(HELLO, "> 250 peer", "< MAIL FROM:<list@xn--bcher-kva.example>", "> 250",
                               "< RCPT TO:<a@xn--bcher-kva.example>", "> 250", "< DATA", "> 354", "< x", "< .", "> 250",
                               BYE),
                 "1 never 5.6.7 the address is internationalised and the server takes none\n"
                 "2 never 5.6.7 the address is internationalised and the server takes none\n"
                 "0 sent 2.0.0 250\ndone\nclosed sent \n");
    g_autoptr(Owner) offered = owner_new("x\r\n");
    offered->recipients = (const char *const[]){"a@b\xc3\xbc" "cher.example", "\xc3\xb6@b\xc3\xbc" "cher.example",
                                                NULL};
    expect_owner(offered, SCRIPT(HELLO, "> 250-peer", "> 250 SMTPUTF8", "< MAIL FROM:<list@example.com> SMTPUTF8",
                                 "> 250", "< RCPT TO:<a@xn--bcher-kva.example>", "> 250",
                                 "< RCPT TO:<\xc3\xb6@b\xc3\xbc" "cher.example>", "> 250", "< DATA", "> 354", "< x",
                                 "< .", "> 250", BYE),
                 "0 sent 2.0.0 250\n1 sent 2.0.0 250\ndone\nclosed sent \n");
}

static void no_pipelining(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n.y\r\n");
    owner->settings.no_pipelining = true;
    owner->settings.chunking = true;
    expect_owner(owner, SCRIPT(CHUNKS, "< MAIL FROM:<list@example.com>", "> 250", "< RCPT TO:<a@example.com>", "> 250",
                               "< RCPT TO:<b@example.com>", "> 250", CHUNK, "> 250", BYE),
                 "0 sent 2.0.0 250\n1 sent 2.0.0 250\ndone\nclosed sent \n");
}

/* A reply that comes byte by byte is no progress before it is whole. */
static gpointer dribble(gpointer data)
{
    Peer *peer = data;
    while (send(peer->fd, "2", 1, MSG_NOSIGNAL) == 1)
        g_usleep(2000);
    close(peer->fd);
    return NULL;
}

static void dribbling(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n");
    owner->settings.timeouts[SMTP_GREETING] = CLOCK_SECOND / 10;
    int pair[2];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    owner->peer.fd = pair[1];
    GThread *thread = g_thread_new("dribble", dribble, &owner->peer);
    owner->client = smtp_client_adopt(owner->base, pair[0], &owner->settings, &owner_handler, owner);
    event_base_dispatch(owner->base);
    g_thread_join(thread);
    g_assert_cmpstr(owner->report->str, ==, "closed later peer timed out while waiting for the greeting\n");
}

SUITE("smtp_extend")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/smtp/lmtp/each", lmtp_each);
    g_test_add_func("/smtp/lmtp/lost", lmtp_lost);
    g_test_add_func("/smtp/lmtp/early", lmtp_early);
    g_test_add_func("/smtp/bdat/taken", bdat);
    g_test_add_func("/smtp/bdat/refused", bdat_refused);
    g_test_add_func("/smtp/bdat/lost", bdat_lost);
    g_test_add_func("/smtp/bdat/large", bdat_large);
    g_test_add_func("/smtp/cut short", cut_short);
    g_test_add_func("/smtp/behind/taken", behind);
    g_test_add_func("/smtp/behind/refused", behind_refused);
    g_test_add_func("/smtp/behind/lost", behind_lost);
    g_test_add_func("/smtp/behind/no reset", behind_no_reset);
    g_test_add_func("/smtp/behind/not understood", behind_not_understood);
    g_test_add_func("/smtp/behind/lmtp", behind_lmtp);
    g_test_add_func("/smtp/behind/answered early", answered_early);
    g_test_add_func("/smtp/behind/out of pace", out_of_pace);
    g_test_add_func("/smtp/behind/alone", behind_alone);
    g_test_add_func("/smtp/dsn", dsn);
    g_test_add_func("/smtp/downgrade", downgrade);
    g_test_add_func("/smtp/downgrade, in part", downgrade_in_part);
    g_test_add_func("/smtp/xverp", xverp);
    g_test_add_func("/smtp/domains", domains);
    g_test_add_func("/smtp/no pipelining", no_pipelining);
    g_test_add_func("/smtp/dribbling", dribbling);
    return g_test_run();
}
