/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/lmtp_server.h"

#include <string.h>

#include "t/addresses.h"
#include "t/suite.h"

/* An owner that notes what it gets. Addresses tell it what to do: no@ is
 * unknown, down@ fails; a sender full@ meets a full disk. */
typedef struct World {
    LmtpServer *server;
    LmtpSession *session;
    GString *rest;
    GString *log;     /* one line a message: sender, recipients, bytes */
    bool hold;        /* answer later */
    LmtpTransaction *held;
    bool refuse_content;
    size_t recipient_size; /* what a recipient costs its owner */
    unsigned freed;
} World;

static const char *on_mail(LmtpSession *session, const char *sender, uint64_t size, void *data)
{
    return g_str_has_prefix(sender, "full@") ? "452 4.3.1 No room" : NULL;
}

static const char *on_recipient(LmtpSession *session, LmtpRecipient *recipient, void *data)
{
    if (g_str_has_prefix(recipient->address, "no@"))
        return "550 5.1.1 No such list";
    if (g_str_has_prefix(recipient->address, "down@"))
        return "451 4.3.0 Database down";
    recipient->data = data;
    recipient->size = ((World *)data)->recipient_size;
    return NULL;
}

static const char *on_content(LmtpSession *session, void *data)
{
    return ((World *)data)->refuse_content ? "452 4.3.1 No room" : NULL;
}

static void answer(World *world, LmtpTransaction *transaction)
{
    for (unsigned i = 0; i < transaction->recipients->len; i++) {
        LmtpRecipient *recipient = lmtp_recipient(transaction, i);
        if (!g_str_has_prefix(recipient->address, "mute@"))
            recipient->reply = g_strdup_printf("250 2.0.0 Stored for %s", recipient->address);
    }
    lmtp_session_answer(world->session, transaction);
}

static void on_message(LmtpSession *session, LmtpTransaction *transaction, void *data)
{
    World *world = data;
    g_string_append_printf(world->log, "<%s>", transaction->sender);
    for (unsigned i = 0; i < transaction->recipients->len; i++)
        g_string_append_printf(world->log, " %s", lmtp_recipient(transaction, i)->address);
    g_string_append_printf(world->log, "%s%s: ", transaction->smtputf8 ? " utf8" : "",
                           transaction->eight_bit ? " 8bit" : "");
    size_t length;
    const char *octets = g_bytes_get_data(transaction->message, &length);
    g_string_append_len(world->log, octets ? octets : "", (gssize)length);
    g_string_append_c(world->log, '\n');
    if (world->hold)
        world->held = transaction;
    else
        answer(world, transaction);
}

static void on_free(gpointer data)
{
    ((World *)data)->freed++;
}

static const LmtpHandler handler = {on_mail, on_recipient, on_content, on_message, on_free};

static World *world_new(LmtpLimits limits)
{
    World *world = g_new0(World, 1);
    world->server = lmtp_server_new("lists.example.com", &limits, &handler, world);
    world->session = lmtp_session_new(world->server, world);
    world->rest = g_string_new(NULL);
    world->log = g_string_new(NULL);
    return world;
}

static const LmtpLimits usual = {
    .recipients = 3, .message_size = 100, .line_length = 64, .memory = 1 << 20, .errors = 5};

static void world_free(World *world)
{
    lmtp_session_free(world->session);
    g_assert_cmpuint(lmtp_server_memory(world->server), ==, 0);
    lmtp_server_free(world->server);
    g_string_free(world->rest, TRUE);
    g_string_free(world->log, TRUE);
    g_free(world);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)

static void offer(World *world)
{
    g_autofree char *copy = g_memdup2(world->rest->str, world->rest->len); /* exact bounds for the sanitizer */
    size_t used = lmtp_session_receive(world->session, copy, world->rest->len);
    g_assert_cmpuint(used, <=, world->rest->len);
    g_string_erase(world->rest, 0, (gssize)used);
}

/* Sends octets in pieces of `step` (0: at once). */
static void feed(World *world, const char *octets, size_t length, size_t step)
{
    for (size_t at = 0; at < length;) {
        size_t piece = step ? MIN(step, length - at) : length - at;
        g_string_append_len(world->rest, octets + at, (gssize)piece);
        offer(world);
        at += piece;
    }
}

static void say(World *world, const char *text)
{
    feed(world, text, strlen(text), 0);
}

/* The replies since the last call, first three digits and enhanced code of each,
 * separated by blanks. */
static char *codes(World *world)
{
    GString *output = lmtp_session_output(world->session);
    GString *codes = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(output->str, "\r\n", -1);
    for (char **line = lines; *line; line++) {
        if (!**line)
            continue;
        g_assert_cmpuint(strlen(*line), >=, 4);
        g_assert_null(strpbrk(*line, "\r\n"));
        if ((*line)[3] == '-')
            continue;
        size_t length = 3;
        if (g_ascii_isdigit((*line)[4]) && (*line)[5] == '.')
            length = 9;
        g_string_append_printf(codes, "%s%.*s", codes->len ? "|" : "", (int)length, *line);
    }
    g_string_truncate(output, 0);
    return g_string_free(codes, FALSE);
}

static void expect(World *world, const char *wanted)
{
    g_autofree char *got = codes(world);
    g_assert_cmpstr(got, ==, wanted);
}

/* Says, and compares the codes. */
static void talk(World *world, const char *text, const char *wanted)
{
    say(world, text);
    expect(world, wanted);
}

static World *greeted(LmtpLimits limits)
{
    World *world = world_new(limits);
    expect(world, "220");
    talk(world, "LHLO client.example\r\n", "250");
    return world;
}

static void stored(World *world, const char *wanted)
{
    g_assert_cmpstr(world->log->str, ==, wanted);
    g_string_truncate(world->log, 0);
}

static void test_announced(void)
{
    g_autoptr(World) world = world_new(usual);
    expect(world, "220");
    say(world, "lhlo client.example\r\n");
    g_assert_cmpstr(lmtp_session_output(world->session)->str, ==,
                    "250-lists.example.com\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-CHUNKING\r\n"
                    "250-ENHANCEDSTATUSCODES\r\n250 SIZE 100\r\n");
    g_assert_cmpstr(lmtp_session_client(world->session), ==, "client.example");
}

static void test_commands(void)
{
    LmtpLimits limits = usual;
    limits.errors = 100;
    g_autoptr(World) world = world_new(limits);
    expect(world, "220");
    talk(world, "EHLO x\r\nHELO x\r\n", "500 5.5.1|500 5.5.1");
    talk(world, "MAIL FROM:<a@b>\r\n", "503 5.5.1");
    talk(world, "LHLO\r\nLHLO a b\r\nLHLO x\r\n", "501 5.5.4|501 5.5.4|250");
    talk(world, "RCPT TO:<a@b>\r\nDATA\r\n", "503 5.5.1|503 5.5.1");
    talk(world, "NOOP\r\nnoop text\r\nRSET\r\nHELP\r\nVRFY a\r\nVRFY\r\nEXPN a\r\nSTARTTLS\r\nXYZ\r\n\r\n",
         "250 2.0.0|250 2.0.0|250 2.0.0|214 2.0.0|252 2.5.0|501 5.5.4|502 5.5.1|502 5.5.1|500 5.5.2|500 5.5.2");
    talk(world, "MAIL FROM:<a@b>\r\nMAIL FROM:<a@b>\r\nRSET\r\nMAIL FROM:<a@b>\r\nLHLO y\r\nMAIL FROM:<>\r\n",
         "250 2.1.0|503 5.5.1|250 2.0.0|250 2.1.0|250|250 2.1.0");
    talk(world, "DATA\r\nDATA x\r\nRCPT TO:<no@b>\r\nDATA\r\nRCPT TO:<down@b>\r\n",
         "503 5.5.1|501 5.5.4|550 5.1.1|503 5.5.1|451 4.3.0");
    talk(world, "QUIT\r\nNOOP\r\n", "221 2.0.0");
    g_assert_true(lmtp_session_finished(world->session));
}

static void test_paths(void)
{
    static const struct { const char *text, *code; } cases[] = {
        {"MAIL FROM:<a@b.example>", "250 2.1.0"},
        {"MAIL FROM: <a@b>", "250 2.1.0"},
        {"mail from:<a@b>", "250 2.1.0"},
        {"MAIL FROM:<@x,@y:a@b>", "250 2.1.0"},
        {"MAIL FROM:<\"a b>@\\\"\"@b>", "250 2.1.0"},
        {"MAIL FROM:<a@[IPv6:::1]>", "250 2.1.0"},
        {"MAIL FROM:<local>", "250 2.1.0"},
        {"MAIL FROM:a@b", "501 5.5.4"},
        {"MAIL FROM:<a@b", "501 5.5.4"},
        {"MAIL FROM:<a b@c>", "501 5.5.4"},
        {"MAIL FROM:<a@>", "501 5.5.4"},
        {"MAIL FROM:<@b>", "501 5.5.4"},
        {"MAIL FROM:<a@b@c>", "501 5.5.4"},
        {"MAIL FROM:<<a@b>>", "501 5.5.4"},
        {"MAIL FROM:<a@b>x", "501 5.5.4"},
        {"MAIL", "501 5.5.4"},
        {"MAIL FROM:<a@b> SIZE=100", "250 2.1.0"},
        {"MAIL FROM:<a@b> size=101", "552 5.3.4"},
        {"MAIL FROM:<a@b> SIZE=9999999999999999999", "501 5.5.4"},
        {"MAIL FROM:<a@b> SIZE", "501 5.5.4"},
        {"MAIL FROM:<a@b> SIZE=1x", "501 5.5.4"},
        {"MAIL FROM:<a@b> BODY=8BITMIME SIZE=5", "250 2.1.0"},
        {"MAIL FROM:<a@b> BODY=7bit", "250 2.1.0"},
        {"MAIL FROM:<a@b> BODY=BINARYMIME", "501 5.5.4"},
        {"MAIL FROM:<a@b> BODY", "501 5.5.4"},
        {"MAIL FROM:<a@b> SMTPUTF8", "250 2.1.0"},
        {"MAIL FROM:<a@b> SMTPUTF8=1", "501 5.5.4"},
        {"MAIL FROM:<a@b> RET=HDRS", "555 5.5.4"},
        {"MAIL FROM:<a@b> X=", "501 5.5.4"},
        {"MAIL FROM:<a@b> =x", "501 5.5.4"},
        {"MAIL FROM:<\303\244@b>", "553 5.6.7"},
        {"MAIL FROM:<\303\244@b> SMTPUTF8", "250 2.1.0"},
        {"MAIL FROM:<\344@b> SMTPUTF8", "553 5.6.7"},
        {"MAIL FROM:<full@b>", "452 4.3.1"},
        {"MAIL FROM:<a\tb@c>", "500 5.5.2"},
        {"MAIL FROM:<a@b>\rRSET", "500 5.5.2"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].text);
        g_autoptr(World) world = greeted(usual);
        g_autofree char *line = g_strconcat(cases[i].text, "\r\n", NULL);
        talk(world, line, cases[i].code);
    }
    g_autoptr(World) world = greeted(usual);
    talk(world, "MAIL FROM:<>\r\nRCPT TO:<>\r\nRCPT TO:<a@b> NOTIFY=NEVER\r\nRCPT TO:<a@b>\r\nRCPT TO:<postmaster>\r\n",
         "250 2.1.0|501 5.5.4|555 5.5.4|250 2.1.5|250 2.1.5");
}

/* Check that each address that can be a member can send and be sent to. */
static void test_addresses(void)
{
    for (const char *const *address = addresses_good; *address; address++) {
        g_autoptr(World) world = greeted(usual);
        g_autofree char *lines = g_strdup_printf("MAIL FROM:<%s> SMTPUTF8\r\nRCPT TO:<%s>\r\n", *address, *address);
        talk(world, lines, "250 2.1.0|250 2.1.5");
        g_assert_cmpstr(lmtp_session_transaction(world->session)->sender, ==, *address);
    }
}

static void test_replies_in_order(void)
{
    g_autoptr(World) world = greeted(usual);
    say(world, "MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nRCPT TO:<no@x>\r\nRCPT TO:<mute@x>\r\nRCPT TO:<a@x>\r\nDATA\r\n");
    expect(world, "250 2.1.0|250 2.1.5|550 5.1.1|250 2.1.5|250 2.1.5|354");
    say(world, "Subject: x\r\n\r\nbody\r\n.\r\n");
    g_assert_cmpstr(lmtp_session_output(world->session)->str, ==,
                    "250 2.0.0 Stored for a@x\r\n451 4.3.0 The message could not be stored; try again later\r\n"
                    "250 2.0.0 Stored for a@x\r\n");
    stored(world, "<s@x> a@x mute@x a@x: Subject: x\r\n\r\nbody\r\n\n");
    g_assert_cmpuint(world->freed, ==, 3);
    g_string_truncate(lmtp_session_output(world->session), 0);
    talk(world, "DATA\r\n", "503 5.5.1");
}

/* Check what content is stored, or refused, however it is cut. */
static void test_content(void)
{
    static const struct { const char *wire, *stored; } cases[] = {
        {".\r\n", ""},
        {"a\r\n.\r\n", "a\r\n"},
        {"..\r\n.\r\n", ".\r\n"},
        {"...\r\n..a\r\n.b\r\n.\r\n", "..\r\n.a\r\nb\r\n"},
        {"a.\r\n.\r\n", "a.\r\n"},
        {"a.b\r\n\r\n\r\n.\r\n", "a.b\r\n\r\n\r\n"},
        {"\r\n..\r\n..\r\n.\r\n", "\r\n.\r\n.\r\n"},
        {"a\nb\rc\r\n.\r\n", "a\nb\rc\r\n"},
        {"a\n.b\r.c\r\n.\r\n", "a\n.b\r.c\r\n"},
        {"a\n..\r\n.\r\n", "a\n..\r\n"},
        {"a\r\r\n.\r\n", "a\r\r\n"},
        /* smuggling: none of these ends it, and none is let past */
        {"a\n.\n\r\n.\r\n", NULL},
        {"a\n.\r\nMAIL FROM:<e@v>\r\n.\r\n", NULL},
        {"a\r\n.\nMAIL FROM:<e@v>\r\n.\r\n", NULL},
        {"a\r.\r\nx\r\n.\r\n", NULL},
        {"a\r.\rx\r\n.\r\n", NULL},
        {"a\r\n.\rx\r\n.\r\n", NULL},
        {"a\r\n.\r\r\n.\r\n", NULL},
        {".\n.\r\n", "?"}, /* the second dot follows a bare LF: no end yet */
        {".\nx\r\n.\r\n", NULL},
        {"a\n\r\n.\r\n", "a\n\r\n"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        for (size_t step = 0; step < 5; step++) {
            g_test_message("case %zu, pieces of %zu", i, step);
            g_autoptr(World) world = greeted(usual);
            say(world, "MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nRCPT TO:<b@x>\r\nDATA\r\n");
            expect(world, "250 2.1.0|250 2.1.5|250 2.1.5|354");
            feed(world, cases[i].wire, strlen(cases[i].wire), step);
            if (cases[i].stored && cases[i].stored[0] == '?') {
                expect(world, "");
                talk(world, "\r\n.\r\n", "554 5.6.0|554 5.6.0");
            } else if (cases[i].stored) {
                expect(world, "250 2.0.0|250 2.0.0");
                g_autofree char *wanted = g_strconcat("<s@x> a@x b@x: ", cases[i].stored, "\n", NULL);
                stored(world, wanted);
            } else {
                expect(world, "554 5.6.0|554 5.6.0");
                stored(world, "");
            }
            talk(world, "NOOP\r\n", "250 2.0.0"); /* the stream is in step */
        }
}

static void test_one_octet_segments(void)
{
    static const char script[] =
        "LHLO c\r\nMAIL FROM:<s@x> SIZE=20 BODY=8BITMIME\r\nRCPT TO:<a@x>\r\nDATA\r\nA: b\r\n\r\n..x\r\n.\r\n"
        "MAIL FROM:<t@x>\r\nRCPT TO:<b@x>\r\nBDAT 6\r\n.\r\n\r\n.BDAT 3 LAST\r\n..\nNOOP\r\nQUIT\r\n";
    for (size_t step = 0; step < 8; step++) {
        g_autoptr(World) world = world_new(usual);
        feed(world, script, strlen(script), step);
        expect(world, "220|250|250 2.1.0|250 2.1.5|354|250 2.0.0|"
                      "250 2.1.0|250 2.1.5|250 2.0.0|250 2.0.0|250 2.0.0|221 2.0.0");
        stored(world, "<s@x> a@x 8bit: A: b\r\n\r\n.x\r\n\n<t@x> b@x: .\r\n\r\n...\n\n");
    }
}

static void test_eight_bit(void)
{
    g_autoptr(World) world = greeted(usual);
    say(world, "MAIL FROM:<s@x> SMTPUTF8\r\nRCPT TO:<\303\244@x>\r\nDATA\r\n0123456789\303\244\r\n.\r\n");
    stored(world, "<s@x> \303\244@x utf8 8bit: 0123456789\303\244\r\n\n");
    say(world, "MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nDATA\r\n\344234567\r\n.\r\n");
    stored(world, "<s@x> a@x 8bit: \344234567\r\n\n");
    g_string_truncate(world->log, 0);
    static const char nul[] = "MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nDATA\r\na\0b\r\n.\r\n";
    feed(world, nul, sizeof nul - 1, 1);
    g_assert_cmpuint(world->log->len, ==, strlen("<s@x> a@x: ") + 6);
}

#define PIPELINED "MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nDATA\r\nx\r\n.\r\nMAIL FROM:<t@x>\r\nNOOP\r\n"

static void test_pipelined_while_storing(void)
{
    g_autoptr(World) world = greeted(usual);
    world->hold = true;
    talk(world, PIPELINED, "250 2.1.0|250 2.1.5|354");
    g_assert_true(lmtp_session_waiting(world->session));
    g_assert_cmpuint(world->rest->len, >, 0);
    lmtp_session_expire(world->session, "Too slow");
    expect(world, ""); /* the message in hand is answered first */
    answer(world, world->held);
    expect(world, "250 2.0.0|421 4.3.2");

    g_autoptr(World) other = greeted(usual);
    other->hold = true;
    talk(other, PIPELINED, "250 2.1.0|250 2.1.5|354");
    answer(other, other->held);
    offer(other);
    expect(other, "250 2.0.0|250 2.1.0|250 2.0.0");
}

static void test_closed_while_storing(void)
{
    g_autoptr(World) world = greeted(usual);
    world->hold = true;
    say(world, "MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nDATA\r\nx\r\n.\r\n");
    expect(world, "250 2.1.0|250 2.1.5|354");
    lmtp_session_close(world->session);
    g_assert_cmpuint(lmtp_server_memory(world->server), >, 0);
    answer(world, world->held);
    expect(world, "");
    g_assert_cmpuint(world->freed, ==, 1);
}

static void test_limits(void)
{
    g_autoptr(World) world = greeted(usual);
    talk(world, "MAIL FROM:<s@x>\r\nRCPT TO:<1@x>\r\nRCPT TO:<2@x>\r\nRCPT TO:<3@x>\r\nRCPT TO:<4@x>\r\nDATA\r\n",
         "250 2.1.0|250 2.1.5|250 2.1.5|250 2.1.5|452 4.5.3|354");
    uint64_t envelope = lmtp_server_memory(world->server);
    for (unsigned i = 0; i < 1000; i++)
        say(world, "0123456789\r\n");
    g_assert_cmpuint(lmtp_server_memory(world->server), ==, envelope); /* drained, not stored */
    talk(world, ".\r\n", "552 5.3.4|552 5.3.4|552 5.3.4");
    stored(world, "");

    /* a size of exactly the limit is taken */
    say(world, "MAIL FROM:<s@x>\r\nRCPT TO:<1@x>\r\nDATA\r\n");
    for (unsigned i = 0; i < 10; i++)
        say(world, "12345678\r\n");
    talk(world, ".\r\n", "250 2.1.0|250 2.1.5|354|250 2.0.0");

    g_autofree char *padding = g_strnfill(70, 'x');
    g_autofree char *one = g_strconcat("NOOP ", padding, "\r\nNOOP\r\n", NULL);
    for (size_t step = 0; step < 4; step++) {
        g_autoptr(World) other = greeted(usual);
        feed(other, one, strlen(one), step);
        expect(other, "500 5.5.2|250 2.0.0");
    }
    g_autofree char *exact = g_strconcat("NOOP ", padding + 13, "\r\n", NULL); /* 64 bytes */
    talk(world, exact, "250 2.0.0");
}

static void test_memory(void)
{
    LmtpLimits limits = usual;
    limits.memory = 10000;
    limits.message_size = 100000;
    g_autoptr(World) world = greeted(limits);
    talk(world, "MAIL FROM:<s@x> SIZE=20000\r\n", "452 4.3.1");
    say(world, "MAIL FROM:<s@x>\r\nRCPT TO:<1@x>\r\nDATA\r\n");
    for (unsigned i = 0; i < 1000; i++)
        say(world, "0123456789\r\n");
    talk(world, ".\r\n", "250 2.1.0|250 2.1.5|354|452 4.3.1");
    g_assert_cmpuint(lmtp_server_memory(world->server), ==, 0);
    world->hold = true;
    talk(world, "MAIL FROM:<s@x>\r\nRCPT TO:<1@x>\r\nDATA\r\nx\r\n.\r\n", "250 2.1.0|250 2.1.5|354");
    LmtpSession *second = lmtp_session_new(world->server, NULL);
    static const char more[] = "LHLO x\r\nMAIL FROM:<s@x>\r\nRCPT TO:<1@x>\r\nDATA\r\nx\r\n.\r\n";
    lmtp_session_receive(second, more, strlen(more));
    g_assert_nonnull(strstr(lmtp_session_output(second)->str, "\r\n452 4.3.1"));
    lmtp_session_free(second);
    answer(world, world->held);
    expect(world, "250 2.0.0");
}

/* Check that the memory of RCPT counts as that of content does: its address, and what the owner says it makes of it. */
static void test_memory_of_envelopes(void)
{
    LmtpLimits limits = usual;
    limits.memory = 32000;
    limits.line_length = 2048;
    limits.recipients = 1000;
    g_autoptr(World) world = greeted(limits);
    g_autofree char *padding = g_strnfill(1000, 'a');
    g_autofree char *rcpt = g_strdup_printf("RCPT TO:<%s@x>\r\n", padding);
    talk(world, "MAIL FROM:<s@x>\r\n", "250 2.1.0");
    unsigned taken = 0;
    for (unsigned i = 0; i < 40; i++) {
        say(world, rcpt);
        g_autofree char *code = codes(world);
        g_assert_cmpstr(code, ==, taken == i && g_str_has_prefix(code, "250") ? "250 2.1.5" : "452 4.3.1");
        taken += g_str_has_prefix(code, "250");
    }
    g_assert_cmpuint(taken, >=, 14);
    g_assert_cmpuint(taken, <=, 15);
    g_assert_cmpuint(lmtp_server_memory(world->server), <=, limits.memory);
    talk(world, "RSET\r\n", "250 2.0.0");
    g_assert_cmpuint(lmtp_server_memory(world->server), ==, 0);

    world->recipient_size = 7000;
    talk(world, "MAIL FROM:<s@x>\r\nRCPT TO:<1@x>\r\nRCPT TO:<2@x>\r\nRCPT TO:<3@x>\r\n",
         "250 2.1.0|250 2.1.5|250 2.1.5|452 4.3.1");
    g_assert_cmpuint(world->freed, ==, taken + 1); /* what it had made of the third */
    talk(world, "DATA\r\nx\r\n.\r\n", "354|250 2.0.0|250 2.0.0"); /* its content has room */
    world->recipient_size = 0;
    world->hold = true;
    talk(world, "MAIL FROM:<s@x>\r\nRCPT TO:<1@x>\r\nDATA\r\nx\r\n.\r\n", "250 2.1.0|250 2.1.5|354");
    g_assert_cmpuint(lmtp_server_memory(world->server), >, sizeof(LmtpRecipient));
    answer(world, world->held);
    expect(world, "250 2.0.0");
    g_assert_cmpuint(lmtp_server_memory(world->server), ==, 0);
}

static void test_errors(void)
{
    g_autoptr(World) world = greeted(usual);
    talk(world, "A\r\nB\r\nC\r\nD\r\nE\r\nNOOP\r\n", "500 5.5.2|500 5.5.2|500 5.5.2|500 5.5.2|421 4.7.0");
    g_assert_true(lmtp_session_finished(world->session));
    g_autoptr(World) http = world_new(usual);
    talk(http, "POST / HTTP/1.1\r\nLHLO x\r\n", "220|421 4.7.0");
    /* unknown lists are no errors of the client */
    g_autoptr(World) unknown = greeted(usual);
    say(unknown, "MAIL FROM:<>\r\n");
    for (unsigned i = 0; i < 10; i++)
        say(unknown, "RCPT TO:<no@x>\r\n");
    g_assert_false(lmtp_session_finished(unknown->session));
}

static void test_bare_line_feed(void)
{
    static const char *const scripts[] = {"NOOP\nNOOP\r\n", "\nNOOP\r\n", "MAIL FROM:<a@b>\nRCPT TO:<a@x>\r\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++)
        for (size_t step = 0; step < 3; step++) {
            g_autoptr(World) world = greeted(usual);
            feed(world, scripts[i], strlen(scripts[i]), step);
            expect(world, "500 5.5.2|421 4.5.0");
            g_assert_true(lmtp_session_finished(world->session));
        }
}

static void test_stop_and_expire(void)
{
    g_autoptr(World) idle = greeted(usual);
    lmtp_session_stop(idle->session);
    expect(idle, "421 4.3.2");
    g_autoptr(World) busy = greeted(usual);
    say(busy, "MAIL FROM:<s@x>\r\nRCPT TO:<1@x>\r\n");
    lmtp_session_stop(busy->session);
    talk(busy, "DATA\r\nx\r\n.\r\nMAIL FROM:<s@x>\r\n", "250 2.1.0|250 2.1.5|354|250 2.0.0|421 4.3.2");
    g_autoptr(World) slow = greeted(usual);
    say(slow, "MAIL FROM:<s@x>\r\nRCPT TO:<1@x>\r\nDATA\r\nhalf");
    lmtp_session_expire(slow->session, "Idle for too long");
    expect(slow, "250 2.1.0|250 2.1.5|354|421 4.4.2");
    stored(slow, "");
}

static void test_bdat(void)
{
    LmtpLimits limits = usual;
    limits.errors = 50;
    g_autoptr(World) world = greeted(limits);
    say(world, "MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nRCPT TO:<b@x>\r\nBDAT 4\r\na\r\n.BDAT 2\r\n\r\nBDAT 0 LAST\r\n");
    expect(world, "250 2.1.0|250 2.1.5|250 2.1.5|250 2.0.0|250 2.0.0|250 2.0.0|250 2.0.0");
    stored(world, "<s@x> a@x b@x: a\r\n.\r\n\n");
    /* no recipient: the bytes are read past, and are no commands */
    talk(world, "MAIL FROM:<s@x>\r\nBDAT 6 LAST\r\nQUIT\r\nRSET\r\n", "250 2.1.0|503 5.5.1|250 2.0.0");
    talk(world, "BDAT 6\r\nQUIT\r\nMAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nBDAT 1 last\r\nx",
         "503 5.5.1|250 2.1.0|250 2.1.5|250 2.0.0");
    stored(world, "<s@x> a@x: x\n");
    /* too large in the middle: that chunk is refused, then all until RSET, for the same reason */
    g_autofree char *big = g_strnfill(101, 'b');
    g_autofree char *text = g_strconcat("MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nBDAT 101\r\n", big, "BDAT 1\r\nx", NULL);
    talk(world, text, "250 2.1.0|250 2.1.5|552 5.3.4|552 5.3.4");
    talk(world, "DATA\r\nRCPT TO:<b@x>\r\nRSET\r\nNOOP\r\n", "503 5.5.1|503 5.5.1|250 2.0.0|250 2.0.0");
    g_autofree char *last = g_strconcat("MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nRCPT TO:<b@x>\r\nBDAT 101 LAST\r\n", big,
                                        NULL);
    talk(world, last, "250 2.1.0|250 2.1.5|250 2.1.5|552 5.3.4|552 5.3.4");
    /* a dot between bare line ends would be dangerous behind us */
    talk(world, "MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nBDAT 2\r\n\n.BDAT 2 LAST\r\n\r\n",
         "250 2.1.0|250 2.1.5|250 2.0.0|554 5.6.0");
    /* a fault of ours must not become a refusal for good because the client had sent ahead */
    world->refuse_content = true;
    talk(world, "MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nRCPT TO:<b@x>\r\nBDAT 2\r\nabBDAT 2\r\nabBDAT 1 LAST\r\nx",
         "250 2.1.0|250 2.1.5|250 2.1.5|452 4.3.1|452 4.3.1|452 4.3.1|452 4.3.1");
    talk(world, "MAIL FROM:<s@x>\r\nRCPT TO:<a@x>\r\nDATA\r\nNOOP\r\n", "250 2.1.0|250 2.1.5|452 4.3.1|250 2.0.0");
    talk(world, "BDAT x\r\nNOOP\r\n", "501 5.5.4|421 4.5.0");
    g_assert_true(lmtp_session_finished(world->session));
}

static void test_deaf_client(void)
{
    LmtpLimits limits = usual;
    g_autoptr(World) world = greeted(limits);
    for (unsigned i = 0; i < 20000; i++)
        say(world, "NOOP\r\n");
    g_assert_cmpuint(lmtp_session_output(world->session)->len, <, 70000);
    g_assert_cmpuint(world->rest->len, >, 0);
    g_string_truncate(lmtp_session_output(world->session), 0);
    offer(world);
    g_assert_cmpuint(lmtp_session_output(world->session)->len, >, 0);
}

SUITE("lmtp_server")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lmtp_server/announced", test_announced);
    g_test_add_func("/lmtp_server/commands", test_commands);
    g_test_add_func("/lmtp_server/paths", test_paths);
    g_test_add_func("/lmtp_server/addresses", test_addresses);
    g_test_add_func("/lmtp_server/replies_in_order", test_replies_in_order);
    g_test_add_func("/lmtp_server/content", test_content);
    g_test_add_func("/lmtp_server/one_octet_segments", test_one_octet_segments);
    g_test_add_func("/lmtp_server/eight_bit", test_eight_bit);
    g_test_add_func("/lmtp_server/pipelined_while_storing", test_pipelined_while_storing);
    g_test_add_func("/lmtp_server/closed_while_storing", test_closed_while_storing);
    g_test_add_func("/lmtp_server/limits", test_limits);
    g_test_add_func("/lmtp_server/memory", test_memory);
    g_test_add_func("/lmtp_server/memory of envelopes", test_memory_of_envelopes);
    g_test_add_func("/lmtp_server/errors", test_errors);
    g_test_add_func("/lmtp_server/bare_line_feed", test_bare_line_feed);
    g_test_add_func("/lmtp_server/stop_and_expire", test_stop_and_expire);
    g_test_add_func("/lmtp_server/bdat", test_bdat);
    g_test_add_func("/lmtp_server/deaf_client", test_deaf_client);
    return g_test_run();
}
