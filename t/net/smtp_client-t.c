/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/net/peer.h"
#include "t/suite.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"

static void pipelined(void)
{
    expect(SCRIPT(PIPE, GROUP, "> 250 ok", "> 250 ok", "> 250 ok", "> 354 go", BODY, "> 250 2.6.0 queued", BYE),
           "0 sent 2.6.0 250 2.6.0 queued\n1 sent 2.6.0 250 2.6.0 queued\ndone\nclosed sent \n");
}

static void one_by_one(void)
{
    expect(SCRIPT("> 220-hi", "> 220 there", "< EHLO me.example", "> 250 peer", "< MAIL FROM:<list@example.com>",
                  "> 250 ok", "< RCPT TO:<a@example.com>", "> 550 5.1.1 no", "< RCPT TO:<b@example.com>", "> 250 ok",
                  "< DATA", "> 354 go", BODY, "> 250 queued", BYE),
           "0 never 5.1.1 550 5.1.1 no\n1 sent 2.0.0 250 queued\ndone\nclosed sent \n");
}

static void helo(void)
{
    expect(SCRIPT(HELLO, "> 502 what", "< HELO me.example", "> 250 peer", "< MAIL FROM:<list@example.com>",
                  "> 550 no", BYE),
           "0 never 5.0.0 550 no\n1 never 5.0.0 550 no\ndone\nclosed sent \n");
}

static void greeting(void)
{
    expect(SCRIPT("> 554 no service", "wait"), "closed later peer said: 554 no service\n");
    expect(SCRIPT("> 421 busy", "wait"), "closed later peer said: 421 busy\n");
    expect(SCRIPT("> SSH-2.0-OpenSSH", "wait"),
           "closed later peer broke the protocol while waiting for the greeting\n");
    expect(SCRIPT("close"), "closed later lost connection with peer while waiting for the greeting\n");
    expect(SCRIPT(HELLO, "> 502 what", "< HELO me.example", "> 550 go away", "wait"),
           "closed later peer said: 550 go away (in reply to EHLO)\n");
    expect(SCRIPT(HELLO, "> 451 4.3.2 busy", "wait"), /* it knows EHLO: HELO is not tried */
           "closed later peer said: 451 4.3.2 busy (in reply to EHLO)\n");
}

static void refusals(void)
{
    expect(SCRIPT(PIPE, GROUP, "> 250 ok", "> 452 4.2.2 full", "> 550 5.1.1 who", "> 354 go", "< .",
                  "> 554 5.5.1 nobody", BYE),
           "0 later 4.2.2 452 4.2.2 full\n1 never 5.1.1 550 5.1.1 who\ndone\nclosed sent \n");
    expect(SCRIPT(PIPE, GROUP, "> 250 ok", "> 450 x", "> 552 too many", "> 554 nobody", "< RSET", "> 250 ok", BYE),
           "0 later 4.0.0 450 x\n1 later 4.0.0 552 too many\ndone\nclosed sent \n");
    expect(SCRIPT(PIPE, GROUP, "> 550 5.7.1 not you", "> 503 x", "> 503 x", "> 503 x", BYE),
           "0 never 5.7.1 550 5.7.1 not you\n1 never 5.7.1 550 5.7.1 not you\ndone\nclosed sent \n");
    expect(SCRIPT(PIPE, GROUP, "> 450 4.7.1 wait", "> 503 x", "> 503 x", "> 354 go", "< .", "> 503 x", BYE),
           "0 later 4.7.1 450 4.7.1 wait\n1 later 4.7.1 450 4.7.1 wait\ndone\nclosed sent \n");
    expect(SCRIPT(PIPE, GROUP, "> 250 ok", "> 250 ok", "> 550 x", "> 451 4.3.0 disk", "< RSET", "> 250 ok", BYE),
           "1 never 5.0.0 550 x\n0 later 4.3.0 451 4.3.0 disk\ndone\nclosed sent \n");
    expect(SCRIPT(PIPE, GROUP, "> 250 ok", "> 250 ok", "> 550 x", "> 354 go", BODY, "> 550 5.7.1 spam", BYE),
           "1 never 5.0.0 550 x\n0 never 5.7.1 550 5.7.1 spam\ndone\nclosed sent \n");
}

static void lost(void)
{
    expect(SCRIPT(PIPE, GROUP, "> 250 ok", "> 250 ok", "close"),
           "0 later 4.4.2 lost connection with peer while sending RCPT TO connection\n"
           "1 later 4.4.2 lost connection with peer while sending RCPT TO connection\n"
           "done\nclosed later lost connection with peer while sending RCPT TO\n");
    expect(
        SCRIPT(PIPE, GROUP, "> 250 ok", "> 250 ok", "> 550 x", "> 354 go", BODY, "close"),
        "1 never 5.0.0 550 x\n"
        "0 later 4.4.2 lost connection with peer while waiting for the reply to the end of data connection in doubt\n"
        "done\nclosed later lost connection with peer while waiting for the reply to the end of data\n");
    expect(SCRIPT(PIPE, GROUP, "> 250 ok", "> 250 ok", "> 550 x", "> 354 go", BODY, "> 421 4.3.2 down", "wait"),
           "1 never 5.0.0 550 x\n0 later 4.3.2 421 4.3.2 down connection\n"
           "done\nclosed later peer said: 421 4.3.2 down (in reply to end of data)\n");
    expect(SCRIPT(PIPE, GROUP, "> 250 ok", "> 421 4.3.2 down", "close"),
           "0 later 4.3.2 421 4.3.2 down connection\n1 later 4.3.2 421 4.3.2 down connection\n"
           "done\nclosed later peer said: 421 4.3.2 down (in reply to RCPT TO)\n");
}

/* Check that an answer to RCPT that SMTP does not know concerns that recipient; whose answer is whose is certain when
 * DATA is answered as it must be. */
static void odd_answers(void)
{
    static const char *const odd[] = {"> 354 what", "> 150 wait", "> who are you?", "> 999 x"};
    for (size_t i = 0; i < G_N_ELEMENTS(odd); i++)
        expect(SCRIPT(PIPE, GROUP, "> 250 ok", odd[i], "> 250 ok", "> 354 go", BODY, "> 250 queued", BYE),
               "0 later 4.5.0 peer gave no answer that SMTP knows (in reply to RCPT TO)\n1 sent 2.0.0 250 queued\n"
               "done\nclosed sent \n");
    expect(SCRIPT(PIPE, GROUP, "> 250 ok", "> hello", "> 250 ok", "> 250 ok", "wait"),
           "0 later 4.5.0 peer gave no answer that SMTP knows (in reply to RCPT TO)\n"
           "1 later 4.5.0 peer broke the protocol while sending DATA connection\n"
           "done\nclosed later peer broke the protocol while sending DATA\n");
    expect(SCRIPT(PIPE, GROUP, "> 150 wait", "wait"),
           "0 later 4.5.0 peer broke the protocol while sending MAIL FROM connection\n"
           "1 later 4.5.0 peer broke the protocol while sending MAIL FROM connection\n"
           "done\nclosed later peer broke the protocol while sending MAIL FROM\n");
}

/* Two lines of nonsense for one recipient leave an answer over. It must not be taken for one to the next transaction,
 * whose message would count as delivered by the answer to its recipient. */
static void odd_answers_end(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n.y\r\n");
    owner->settings.chunking = true;
    owner->transaction.careful = true;
    owner->transactions = 2;
    owner_run(owner, SCRIPT(HELLO, "> 250-peer", "> 250-CHUNKING", "> 250 PIPELINING",
                            "< MAIL FROM:<list@example.com>", "< RCPT TO:<a@example.com>", "< RCPT TO:<b@example.com>",
                            "> 250 ok", "> who", "> are you", "> 250 ok", "< RSET", BYE));
    g_assert_cmpstr(owner->report->str, ==,
                    "0 later 4.5.0 peer gave no answer that SMTP knows (in reply to RCPT TO)\n"
                    "1 later 4.5.0 peer gave no answer that SMTP knows (in reply to RCPT TO)\ndone\nclosed sent \n");
}

/* Check that an extension that a server offers but does not bear is named; the mail may be sent without it at once. */
static void fallbacks(void)
{
    expect(SCRIPT(PIPE, GROUP, "> 250 ok", "close"),
           "0 later 4.4.2 lost connection with peer while sending RCPT TO connection without pipelining\n"
           "1 later 4.4.2 lost connection with peer while sending RCPT TO connection without pipelining\n"
           "done\nclosed later lost connection with peer while sending RCPT TO\n");
    expect(SCRIPT(HELLO, "close"), "closed later lost connection with peer while greeting the server without ehlo\n");
    g_autoptr(Owner) plain = owner_new("x\r\n.y\r\n");
    plain->settings.helo = true;
    owner_run(plain, SCRIPT("> 220 hi", "< HELO me.example", "> 250 peer", "< MAIL FROM:<list@example.com>", "> 250 ok",
                            "< RCPT TO:<a@example.com>", "> 250 ok", "< RCPT TO:<b@example.com>", "> 250 ok", "< DATA",
                            "> 354 go", BODY, "> 250 queued", BYE));
    g_assert_cmpstr(plain->report->str, ==, "0 sent 2.0.0 250 queued\n1 sent 2.0.0 250 queued\ndone\nclosed sent \n");
    g_autoptr(Owner) careful = owner_new("x\r\n.y\r\n");
    careful->settings.chunking = true;
    careful->transaction.careful = true;
    careful->recipients = (const char *const[]){"a@example.com", NULL};
    owner_run(careful, SCRIPT(HELLO, "> 250-peer", "> 250-CHUNKING", "> 250 PIPELINING",
                              "< MAIL FROM:<list@example.com>", "< RCPT TO:<a@example.com>", "> 250 ok", "> 250 ok",
                              "= BDAT 7 LAST\r\nx\r\n.y\r\n", "> 250 queued", BYE));
    g_assert_cmpstr(careful->report->str, ==, "0 sent 2.0.0 250 queued\ndone\nclosed sent \n");
}

/* Line ends of a server that knows no CR. */
static void bare_line_feeds(void)
{
    expect(SCRIPT("+ 220 hi\n", "< EHLO me.example", "+ 250-peer\n250 PIPELINING\n",
                  "= MAIL FROM:<list@example.com>\r\n", "< RCPT TO:<a@example.com>", "< RCPT TO:<b@example.com>",
                  "< DATA", "+ 250 ok\n250 ok\n250 ok\n354 go\n", BODY, "+ 250 queued\n", "< QUIT", "close"),
           "0 sent 2.0.0 250 queued\n1 sent 2.0.0 250 queued\ndone\nclosed sent \n");
}

static void reused(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n.y\r\n");
    owner->transactions = 2;
    owner_run(owner, SCRIPT(PIPE, GROUP, "> 250 ok", "> 250 ok", "> 250 ok", "> 354 go", BODY, "> 250 1", GROUP,
                            "> 250 ok", "> 250 ok", "> 250 ok", "> 354 go", BODY, "> 250 2", BYE));
    g_assert_cmpstr(owner->report->str, ==,
                    "0 sent 2.0.0 250 1\n1 sent 2.0.0 250 1\ndone\n0 sent 2.0.0 250 2\n1 sent 2.0.0 250 2\ndone\n"
                    "closed sent \n");
    g_autoptr(Owner) stale = owner_new("x\r\n.y\r\n");
    stale->transactions = 2;
    owner_run(stale,
              SCRIPT(PIPE, GROUP, "> 250 ok", "> 250 ok", "> 250 ok", "> 354 go", BODY, "> 250 1", GROUP, "close"));
    g_assert_nonnull(strstr(stale->report->str, "0 later 4.4.2 lost connection with peer while sending MAIL FROM "
                                                "connection unstarted\n"));
}

/* Check that a mail that is refused here is not sent either when the server answers commands that were never given. */
static void unasked(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n");
    owner->sender = "a\r\nb@x";
    owner_run(owner, SCRIPT(HELLO, "+ 250 peer\r\n250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n", "wait"));
    g_assert_cmpstr(owner->report->str, ==,
                    "0 later 4.5.0 peer broke the protocol while sending MAIL FROM connection\n"
                    "1 later 4.5.0 peer broke the protocol while sending MAIL FROM connection\n"
                    "done\nclosed later peer broke the protocol while sending MAIL FROM\n");
}

static void limits(void)
{
    g_autoptr(GString) large = g_string_new(NULL);
    while (large->len < 1001)
        g_string_append(large, "abcdefghijklmnopq\r\n");
    g_autoptr(Owner) size = owner_new(large->str);
    owner_run(size, SCRIPT(PIPE, BYE));
    g_assert_cmpstr(size->report->str, ==,
                    "0 never 5.3.4 the message is larger than the server takes\n"
                    "1 never 5.3.4 the message is larger than the server takes\ndone\nclosed sent \n");
    g_autoptr(Owner) eight = owner_new("\xc3\xa4\r\n");
    owner_run(eight, SCRIPT(HELLO, "> 250 peer", BYE));
    g_assert_true(g_str_has_prefix(eight->report->str, "0 never 5.6.3 "));
    g_autoptr(Owner) fits = owner_new("\xc3\xa4\r\n");
    fits->recipients = (const char *const[]){"a@x", NULL};
    owner_run(fits, SCRIPT(PIPE, "< MAIL FROM:<list@example.com> SIZE=4 BODY=8BITMIME", "< RCPT TO:<a@x>", "< DATA",
                           "> 250 1", "> 250 2", "> 451 3", "< RSET", "> 250", BYE));
    g_assert_cmpstr(fits->report->str, ==, "0 later 4.0.0 451 3\ndone\nclosed sent \n");
}

static void addresses(void)
{
    static const char *const mixed[] = {"a\r\nRSET@x", "ok@x", "j\xc3\xb6rg@x", "", NULL};
    g_autoptr(Owner) owner = owner_new("x\r\n");
    owner->recipients = mixed;
    owner_run(owner, SCRIPT(PIPE, "< MAIL FROM:<list@example.com> SIZE=3", "< RCPT TO:<ok@x>", "< DATA", "> 250",
                            "> 250", "> 354", "< x", "< .", "> 250", BYE));
    g_assert_cmpstr(owner->report->str, ==,
                    "0 never 5.1.3 the address cannot be sent\n"
                    "2 never 5.6.7 the address is internationalised and the server takes none\n"
                    "3 never 5.1.3 the address cannot be sent\n"
                    "1 sent 2.0.0 250\ndone\nclosed sent \n");
    /* nothing that ends the path early, so that what follows would be read as parameters */
    static const char *const ending[] = {"a> NOTIFY=NEVER", "\"a\"> SIZE=1 \"b\"@x", "a b@x", "<a@x", "\"a@x",
                                         "\"a b>\\\">\"@x", NULL};
    g_autoptr(Owner) early = owner_new("x\r\n");
    early->recipients = ending;
    owner_run(early, SCRIPT(PIPE, "< MAIL FROM:<list@example.com> SIZE=3", "< RCPT TO:<\"a b>\\\">\"@x>", "< DATA",
                            "> 250", "> 250", "> 354", "< x", "< .", "> 250", BYE));
    for (unsigned i = 0; i < 5; i++) {
        g_autofree char *line = g_strdup_printf("%u never 5.1.3 the address cannot be sent\n", i);
        g_assert_nonnull(strstr(early->report->str, line));
    }
    g_assert_nonnull(strstr(early->report->str, "5 sent 2.0.0 250\n"));
    static const char *const one[] = {"j\xc3\xb6rg@x", NULL};
    g_autoptr(Owner) utf8 = owner_new("x\r\n");
    utf8->recipients = one;
    owner_run(utf8, SCRIPT(HELLO, "> 250-peer", "> 250 SMTPUTF8", "< MAIL FROM:<list@example.com> SMTPUTF8", "> 250",
                           "< RCPT TO:<j\xc3\xb6rg@x>", "> 250", "< DATA", "> 354", "< x", "< .", "> 250", BYE));
    g_assert_cmpstr(utf8->report->str, ==, "0 sent 2.0.0 250\ndone\nclosed sent \n");
    g_autoptr(Owner) none = owner_new("x\r\n");
    none->recipients = one;
    owner_run(none, SCRIPT(PIPE, BYE));
    g_assert_true(g_str_has_prefix(none->report->str, "0 never 5.6.7 "));
    g_autoptr(Owner) sender = owner_new("x\r\n");
    sender->sender = "a>\r\nDATA\r\n";
    owner_run(sender, SCRIPT(PIPE, BYE));
    g_assert_true(g_str_has_prefix(sender->report->str, "0 never 5.1.7 "));
}

static void silent(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n.y\r\n");
    owner->settings.timeouts[SMTP_RCPT] = CLOCK_SECOND / 20;
    int64_t before = clock_monotonic();
    owner_run(owner, SCRIPT(PIPE, GROUP, "> 250 ok", "wait"));
    int64_t took = clock_monotonic() - before;
    g_assert_cmpint(took, >=, CLOCK_SECOND / 20);
    g_assert_cmpint(took, <, 10 * CLOCK_SECOND);
    g_assert_true(g_str_has_prefix(
        owner->report->str,
        "0 later 4.4.2 peer timed out while sending RCPT TO connection without pipelining\n"));
}

/* More recipients and a larger message than any socket buffer takes, to a
 * peer that answers while it reads: nobody may wait for the other for ever. */
static gpointer flood_thread(gpointer data)
{
    Peer *peer = data;
    FILE *in = fdopen(peer->fd, "r");
    char line[4096];
    bool body = false;
    size_t lines = 0;
    g_assert_cmpint(write(peer->fd, "220 hi\r\n", 8), ==, 8);
    while (fgets(line, sizeof(line), in)) {
        const char *reply = "250 2.1.5 a rather long reply, so that the replies fill the buffer of the socket too\r\n";
        if (body && strcmp(line, ".\r\n") != 0) {
            lines++;
            continue;
        }
        if (!body && g_str_has_prefix(line, "QUIT")) /* nobody waits for its answer */
            break;
        if (body)
            reply = "250 done\r\n";
        else if (g_str_has_prefix(line, "EHLO"))
            reply = "250-peer\r\n250 PIPELINING\r\n";
        else if (g_str_has_prefix(line, "DATA"))
            reply = "354 go\r\n";
        body = g_str_has_prefix(reply, "354");
        g_assert_cmpint(write(peer->fd, reply, strlen(reply)), ==, (ssize_t)strlen(reply));
    }
    fclose(in);
    return GSIZE_TO_POINTER(lines);
}

static void flood(void)
{
    enum { RECIPIENTS = 50000, LINES = 100000 };
    g_autoptr(GString) message = g_string_new(NULL);
    for (int i = 0; i < LINES; i++)
        g_string_append(message, i % 1000 == 7 ? ".abc\r\n" : "abcdefghijklmnop\r\n");
    g_autoptr(Owner) owner = owner_new(message->str);
    g_autoptr(GPtrArray) recipients = g_ptr_array_new();
    for (int i = 0; i < RECIPIENTS; i++)
        g_ptr_array_add(recipients, (void *)"somebody.or.other@example.com");
    g_ptr_array_add(recipients, NULL);
    owner->recipients = (const char *const *)recipients->pdata;
    int pair[2];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    owner->peer.fd = pair[1];
    owner->peer.thread = g_thread_new("flood", flood_thread, &owner->peer);
    owner->client = smtp_client_adopt(owner->base, pair[0], &owner->settings, &owner_handler, owner);
    event_base_dispatch(owner->base);
    g_assert_cmpuint(GPOINTER_TO_SIZE(g_thread_join(owner->peer.thread)), ==, LINES);
    g_autofree char *last = g_strdup_printf("%d sent 2.0.0 250 done\ndone\nclosed sent \n", RECIPIENTS - 1);
    g_assert_true(g_str_has_suffix(owner->report->str, last));
}

static void refused_connection(void)
{
    auto_fd holder = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    g_assert_cmpint(bind(holder, (struct sockaddr *)&address, length), ==, 0);
    g_assert_cmpint(getsockname(holder, (struct sockaddr *)&address, &length), ==, 0);
    g_autoptr(Owner) owner = owner_new("x\r\n");
    owner->client = smtp_client_new(owner->base, (struct sockaddr *)&address, length, &owner->settings, &owner_handler,
                                    owner);
    event_base_dispatch(owner->base);
    g_autofree char *wanted = g_strdup_printf("closed later connect to peer[127.0.0.1]:%u: Connection refused\n",
                                              ntohs(address.sin_port));
    g_assert_cmpstr(owner->report->str, ==, wanted);
}

static void idle(void)
{
    /* Both sides may end a quiet connection; nothing went wrong then. */
    g_autoptr(Owner) owner = owner_new("x\r\n.y\r\n");
    owner->transactions = 2;
    owner->recipients = (const char *const[]){"a@x", NULL};
    owner_run(owner, SCRIPT(PIPE, "< MAIL FROM:<list@example.com> SIZE=7", "< RCPT TO:<a@x>", "< DATA", "> 250",
                            "> 250", "> 354", BODY, "> 250", "< MAIL FROM:<list@example.com> SIZE=7", "< RCPT TO:<a@x>",
                            "< DATA", "> 421 4.4.2 idle too long", "wait"));
    g_assert_nonnull(strstr(owner->report->str, "0 later 4.4.2 421 4.4.2 idle too long connection unstarted\n"));
}

SUITE("smtp_client")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/smtp_client/pipelined", pipelined);
    g_test_add_func("/smtp_client/one by one", one_by_one);
    g_test_add_func("/smtp_client/helo", helo);
    g_test_add_func("/smtp_client/greeting", greeting);
    g_test_add_func("/smtp_client/refusals", refusals);
    g_test_add_func("/smtp_client/lost", lost);
    g_test_add_func("/smtp_client/odd answers", odd_answers);
    g_test_add_func("/smtp_client/odd answers end", odd_answers_end);
    g_test_add_func("/smtp_client/bare line feeds", bare_line_feeds);
    g_test_add_func("/smtp_client/fallbacks", fallbacks);
    g_test_add_func("/smtp_client/reused", reused);
    g_test_add_func("/smtp_client/unasked", unasked);
    g_test_add_func("/smtp_client/limits", limits);
    g_test_add_func("/smtp_client/addresses", addresses);
    g_test_add_func("/smtp_client/silent", silent);
    g_test_add_func("/smtp_client/flood", flood);
    g_test_add_func("/smtp_client/refused connection", refused_connection);
    g_test_add_func("/smtp_client/idle", idle);
    return g_test_run();
}
