/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A client that repeats one thing costs an LMTP session no more than the length of what it says. */
#include "net/lmtp_server.h"
#include "t/doubling.h"
#include "t/suite.h"

/* An owner that takes all mail and keeps none. */
static const char *on_mail(LmtpSession *session, const char *sender, uint64_t size, void *data)
{
    return NULL;
}

static const char *on_recipient(LmtpSession *session, LmtpRecipient *recipient, void *data)
{
    return NULL;
}

static const char *on_content(LmtpSession *session, void *data)
{
    return NULL;
}

static void on_message(LmtpSession *session, LmtpTransaction *transaction, void *data)
{
    lmtp_session_answer(session, transaction);
}

static const LmtpHandler handler = {on_mail, on_recipient, on_content, on_message, NULL};
static const LmtpLimits wide = {
    .recipients = 1000, .message_size = 1 << 30, .line_length = 2048, .memory = 1 << 30, .errors = G_MAXUINT};

/* Says text in pieces, as fast as the server takes it, and forgets the replies. */
static void converse(const char *text, size_t length, void *data)
{
    LmtpServer *server = lmtp_server_new("lists.example.com", &wide, &handler, NULL);
    LmtpSession *session = lmtp_session_new(server, NULL);
    GString *output = lmtp_session_output(session);
    for (size_t done = 0, said = 0; said < length;) {
        said = MIN(length, said + 16384);
        for (size_t used = 1; used > 0 && done < said; done += used) {
            g_string_truncate(output, 0);
            used = lmtp_session_receive(session, text + done, said - done);
        }
    }
    lmtp_session_close(session);
    lmtp_session_free(session);
    g_assert_cmpuint(lmtp_server_memory(server), ==, 0);
    lmtp_server_free(server);
}

static void test_hostile(void)
{
#define HELLO "LHLO x\r\n"
#define TO "MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\n"
    static const Doubling inputs[] = {
        {.unit = "NOOP\r\n"},
        {.unit = "\r\n"},
        {.unit = " "},
        {.unit = "x"},
        {.unit = "\r"},
        {.unit = "LHLO x\r\n"},
        {.before = HELLO, .unit = "MAIL FROM:<a@b>\r\nRSET\r\n"},
        {.before = HELLO, .unit = "MAIL FROM:<\"\\\"\"@b> SIZE=1 BODY=8BITMIME\r\nRSET\r\n"},
        {.before = HELLO, .unit = "MAIL FROM:<a@b>", .next = " SIZE=1"},
        {.before = HELLO, .unit = "MAIL FROM:<@", .next = "@,"},
        {.before = HELLO "MAIL FROM:<a@b>\r\n", .unit = "RCPT TO:<c@d>\r\n"},
        {.before = HELLO, .unit = TO "DATA\r\nA: b\r\n.\r\n"},
        {.before = HELLO, .unit = TO "BDAT 3 LAST\r\nabc"},
        {.before = HELLO TO "DATA\r\n", .unit = "A: b\r\n"},
        {.before = HELLO TO "DATA\r\n", .unit = "\r"},
        {.before = HELLO TO "DATA\r\n", .unit = "\n"},
        {.before = HELLO TO "DATA\r\n", .unit = "..\r\n"},
        {.before = HELLO TO "DATA\r\n", .unit = "x"},
        {.before = HELLO TO, .unit = "BDAT 1\r\nx"},
        {.before = HELLO TO, .unit = "BDAT 0\r\n"},
    };
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), converse, NULL);
}

SUITE("lmtp_hostile")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lmtp_hostile", test_hostile);
    return g_test_run();
}
