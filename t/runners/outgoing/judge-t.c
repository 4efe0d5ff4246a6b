/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what answers are about. */
#include "runners/outgoing/judge.h"

#include <string.h>

#include "base/clock.h"
#include "t/suite.h"

#define START (1000000 * CLOCK_SECOND)

static const DestinationLimits standard = {
    .window = {.initial = 5, .limit = 20, .positive = {1, 0}, .negative = {1, 0}, .cohorts = 1},
    .burst = 1, .dead_min = 300 * CLOCK_SECOND, .dead_max = 4000 * CLOCK_SECOND, .share = 1};

/* Says what happens to one answer, in words. */
typedef struct Case {
    const char *reply; /* NULL: silence */
    SmtpPhase phase;
    unsigned accepted; /* recipients before it, in this transaction */
    unsigned conn_use;
    const char *mail_host, *relay; /* "GOOD", "THROTTLED waits", "again spent" ... */
} Case;

static const Case cases[] = {
    {"450 4.2.0 greylisted", SMTP_RCPT, 0, 1, "good", "good"},
    {"450 4.7.1 come back later", SMTP_RCPT, 0, 1, "good", "good"},
    {"451 4.3.0 lookup failed", SMTP_RCPT, 0, 1, "good", "good"},
    {"450 4.7.1 too fast, slow down", SMTP_RCPT, 0, 1, "throttled waits", "good"},
    {"421 4.7.28 unusual rate of mail", SMTP_MAIL, 0, 1, "throttled waits spent", "failed waits spent"},
    {"421 4.7.28 unusual rate of mail", SMTP_DOT, 5, 1, "throttled waits spent", "unknown again spent"},
    {"451 4.7.0 try later", SMTP_MAIL, 0, 1, "good", "good"},
    {"451 4.3.2 down", SMTP_MAIL, 0, 1, "failed waits", "failed waits"},
    {"421 4.7.0 Error: too many errors", SMTP_RCPT, 7, 1, "unknown again spent", "unknown again spent"},
    {"421 4.7.0 Error: too many errors", SMTP_MAIL, 0, 1, "failed waits spent", "failed waits spent"},
    {"421 4.3.2 too many messages in this session", SMTP_MAIL, 0, 8, "unknown again spent transactions 7",
     "unknown again spent transactions 7"},
    {"421 closing", SMTP_MAIL, 0, 2, "unknown again spent", "unknown again spent"},
    {"452 4.5.3 too many recipients", SMTP_RCPT, 100, 1, "unknown again recipients 100",
     "unknown again recipients 100"},
    {"452 4.5.3 too many recipients", SMTP_RCPT, 0, 1, "good", "good"},
    {"452 4.5.3 too many recipients", SMTP_DOT, 8, 1, "unknown again recipients 4", "unknown again recipients 4"},
    {"452 try later", SMTP_RCPT, 10, 1, "unknown again recipients 10", "unknown again recipients 10"},
    {"552 too much", SMTP_RCPT, 10, 1, "good", "good"}, /* for good, says the client */
    {"452 try later", SMTP_RCPT, 0, 1, "good", "good"},
    {"452 4.2.2 mailbox full", SMTP_RCPT, 10, 1, "good", "good"},
    {"452 4.3.1 no space", SMTP_RCPT, 10, 1, "good", "good"},
    {"450 4.7.1 too many connections", SMTP_MAIL, 0, 1, "unknown again spent full", "unknown again spent full"},
    {NULL, SMTP_RCPT, 100, 1, "unknown again recipients 100", "unknown again recipients 100"},
    {NULL, SMTP_RCPT, 3, 1, "failed waits", "failed waits"},
    /* Our own words, in which the peer's name stands. */
    {"the address needs what throttle.example.com does not offer", SMTP_MAIL, 0, 1, "good", "good"},
    {NULL, SMTP_CONNECT, 0, 1, "failed waits", "failed waits"},
    {"550 5.1.1 no", SMTP_RCPT, 0, 1, "good", "good"},
};

typedef struct Server {
    bool relay;
    bool alone;           /* there is no other connection to it */
    SmtpPhase refused_at; /* it is for mail of a refused sender, which got as far as that; 0: it is not */
    unsigned unsettled;   /* so often in a row nothing of the batch was settled */
} Server;

static char *judge_case(const Case *given, const Server *server)
{
    enum { COUNT = 8 };
    static const char *const news[] = {"unknown", "good", "throttled", "failed"};
    g_autoptr(ReplyTable) replies = reply_table_new(NULL);
    Destination *destination = destination_new("example.com", &standard, NULL, START);
    destination->load.established = destination->load.sessions = server->alone ? 1 : 3;
    destination->refused_at = server->refused_at;
    Batch *batch = batch_new(NULL, NULL, COUNT);
    for (int i = 0; i < COUNT; i++)
        batch_add(batch, &(Recipient){.address = "a@example.com", .length = 13, .offset = (size_t)i});
    batch_begin(batch);
    batch->conn_use = given->conn_use;
    batch->unsettled = server->unsettled;
    const char *text = given->reply ? given->reply : "lost connection";
    unsigned code = given->reply ? (unsigned)g_ascii_strtoull(given->reply, NULL, 10) : 0;
    batch_set_rest(batch, &(SmtpResult){.verdict = code >= 500 ? SMTP_NEVER : SMTP_LATER, .phase = given->phase,
                                        .code = code, .status = "4.0.0", .text = text, .reply = text,
                                        .connection = !given->reply || code == 421, .accepted = given->accepted});
    ReplyVerdict verdict = judge_batch(replies, destination, server->relay, batch);
    const Fate *fate = batch_fate(batch, 0);
    GString *said = g_string_new(news[verdict.report.news]);
    g_string_append_printf(said, "%s%s%s%s", fate->waits ? " waits" : "", fate->again ? " again" : "",
                           verdict.spent ? " spent" : "", verdict.full ? " full" : "");
    if (verdict.recipients > 0)
        g_string_append_printf(said, " recipients %u", verdict.recipients);
    if (verdict.transactions > 0)
        g_string_append_printf(said, " transactions %u", verdict.transactions);
    g_assert_cmpuint(verdict.again, ==, fate->again ? COUNT : 0);
    g_assert_cmpuint(verdict.report.refused, ==, verdict.report.news == SITE_THROTTLED ? COUNT : 0);
    batch_free(batch);
    destination_free(destination);
    return g_string_free(said, FALSE);
}

static void assert_case(const Case *given, Server server)
{
    g_autofree char *mail_host = judge_case(given, &server);
    server.relay = true;
    g_autofree char *relay = judge_case(given, &server);
    g_test_message("%s: %s; %s", given->reply, mail_host, relay);
    g_assert_cmpstr(mail_host, ==, given->mail_host);
    g_assert_cmpstr(relay, ==, given->relay);
}

static void narrow(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_case(&cases[i], (Server){0});
}

/* Check that a server that has too many connections is left alone when none of them is another one of ours. */
static void the_only_connection(void)
{
    static const Case many = {"450 4.7.1 too many connections", SMTP_MAIL, 0, 1, "throttled waits", "failed waits"};
    assert_case(&many, (Server){.alone = true});
}

/* Check that a batch of which nothing is ever settled waits some time. */
static void nothing_is_settled(void)
{
    static const Case soon = {"421 closing", SMTP_MAIL, 0, 2, "unknown again spent", "unknown again spent"};
    static const Case later = {"421 closing", SMTP_MAIL, 0, 2, "failed waits spent", "failed waits spent"};
    assert_case(&soon, (Server){.unsettled = 1});
    assert_case(&later, (Server){.unsettled = 100});
}

/* Check that the trial of a refused sender's mail is told from a connection that was lost, and from one that got
 * further. */
static void a_refused_sender(void)
{
    static const Case tries[] = {
        {"450 4.2.0 greylisted", SMTP_RCPT, 0, 1, "failed waits", "failed waits"},
        {"450 4.2.0 greylisted", SMTP_DOT, 8, 1, "good", "good"},
        {NULL, SMTP_RCPT, 100, 1, "unknown again recipients 100", "unknown again recipients 100"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(tries); i++)
        assert_case(&tries[i], (Server){.refused_at = SMTP_RCPT});
}

/* Of a transaction of six the fourth is told "452", and others after it are taken: that mailbox is full. */
static void one_mailbox_is_full(void)
{
    g_autoptr(ReplyTable) replies = reply_table_new(NULL);
    Destination *destination = destination_new("example.com", &standard, NULL, START);
    Batch *batch = batch_new(NULL, NULL, 6);
    for (int i = 0; i < 6; i++)
        batch_add(batch, &(Recipient){.address = "a@example.com", .length = 13, .offset = (size_t)i});
    batch_begin(batch);
    for (size_t i = 3; i < 5; i++)
        batch_set_fate(batch, i,
                       &(SmtpResult){.verdict = SMTP_LATER,
                                     .phase = SMTP_RCPT,
                                     .code = 452,
                                     .accepted = 3,
                                     .status = "4.0.0",
                                     .text = "452 full",
                                     .reply = "452 full"});
    batch_set_rest(batch, &(SmtpResult){.verdict = SMTP_SENT,
                                        .phase = SMTP_DOT,
                                        .code = 250,
                                        .accepted = 4,
                                        .status = "2.0.0",
                                        .text = "ok",
                                        .reply = "ok"});
    ReplyVerdict verdict = judge_batch(replies, destination, false, batch);
    g_assert_cmpuint(verdict.again, ==, 0);
    g_assert_cmpuint(verdict.recipients, ==, 0);
    batch_free(batch);
    destination_free(destination);
}

/* Check that recipients who go again leave their batch, in its order; the others keep their fates. */
static void split(void)
{
    Batch *batch = batch_new(NULL, NULL, 6);
    for (int i = 0; i < 6; i++)
        batch_add(batch, &(Recipient){.address = "a@example.com", .length = 13, .offset = (size_t)i});
    batch_begin(batch);
    for (size_t i = 0; i < 6; i++)
        batch_set_fate(batch, i, &(SmtpResult){.verdict = i % 2 ? SMTP_LATER : SMTP_SENT, .status = "2.0.0",
                                               .text = i % 2 ? "later" : "ok", .reply = "ok"});
    for (guint i = 0; i < batch->fates->len; i++) {
        Fate *fate = &g_array_index(batch->fates, Fate, i);
        fate->again = fate->verdict == SMTP_LATER;
    }
    Batch *rest = batch_split(batch);
    g_assert_cmpuint(batch->count, ==, 3);
    g_assert_cmpuint(rest->count, ==, 3);
    for (size_t i = 0; i < 3; i++) {
        g_assert_cmpuint(batch->recipients[i].offset, ==, 2 * i);
        g_assert_cmpint(batch_fate(batch, i)->verdict, ==, SMTP_SENT);
        g_assert_cmpuint(rest->recipients[i].offset, ==, 2 * i + 1);
    }
    g_assert_null(batch_split(batch));
    Batch *cut = batch_cut(rest, 1);
    g_assert_cmpuint(rest->count, ==, 1);
    g_assert_cmpuint(cut->count, ==, 2);
    g_assert_cmpuint(cut->recipients[1].offset, ==, 5);
    batch_free(batch);
    batch_free(rest);
    batch_free(cut);
}

SUITE("outgoing/judge")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/judge/narrow", narrow);
    g_test_add_func("/judge/the only connection", the_only_connection);
    g_test_add_func("/judge/nothing is settled", nothing_is_settled);
    g_test_add_func("/judge/a refused sender", a_refused_sender);
    g_test_add_func("/judge/one mailbox is full", one_mailbox_is_full);
    g_test_add_func("/judge/split", split);
    return g_test_run();
}
