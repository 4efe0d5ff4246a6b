/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what answers are about. */
#include "runners/outgoing/judge.h"

#include <string.h>

#include "base/clock.h"
#include "switchboard/meta.h"
#include "t/config_text.h"
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
        fate->again = fate->result.verdict == SMTP_LATER;
    }
    Batch *rest = batch_split(batch);
    g_assert_cmpuint(batch->count, ==, 3);
    g_assert_cmpuint(rest->count, ==, 3);
    for (size_t i = 0; i < 3; i++) {
        g_assert_cmpuint(batch->recipients[i].offset, ==, 2 * i);
        g_assert_cmpint(batch_fate(batch, i)->result.verdict, ==, SMTP_SENT);
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

/* --- the words of temporary refusals --- */

static const struct {
    const char *reply;
    ReplyScope scope;
} known[] = {
    {"421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to user complaints", REPLY_GROUP},
    {"421 4.7.28 Our system has detected an unusual rate of unsolicited mail", REPLY_GROUP},
    {"450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents more", REPLY_RECIPIENT},
    {"452 4.2.2 The email account that you tried to reach is over quota", REPLY_RECIPIENT},
    {"452 4.5.3 Too many recipients", REPLY_TRANSACTION},
    {"552 5.5.3 too many", REPLY_TRANSACTION},
    {"452 too many recipients", REPLY_TRANSACTION},
    {"421 Too many concurrent SMTP connections", REPLY_CONNECTIONS},
    {"450 4.7.1 too many connections from your host", REPLY_CONNECTIONS},
    {"451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited", REPLY_GROUP},
    {"451 Resources temporarily unavailable. Please try again later", REPLY_SITE},
    {"421 4.3.2 too many messages in one session", REPLY_SESSION},
    {"421 4.7.0 mx.example.com Error: too many errors", REPLY_SESSION},
    {"452 4.5.3 too many recipients in this session", REPLY_SESSION},
    {"421 too many unrecognised commands on this connection", REPLY_SITE},
    {"451 4.7.0 temporary authentication failure", REPLY_MESSAGE},
    {"421 4.3.2 Service shutting down", REPLY_SITE},
    {"421 closing", REPLY_SITE},
    {"451 4.3.0 queue file write error", REPLY_SITE},
    {"451 4.4.3 cannot look it up", REPLY_SITE},
    {"450 4.7.1 <a@example.com>: Recipient address rejected: Greylisted", REPLY_RECIPIENT},
    {"450 4.1.1 mailbox unknown for now", REPLY_MESSAGE},
    {"450 4.7.25 client host rejected", REPLY_MESSAGE},
    {"451 4.7.1 too many messages from your host, slow down", REPLY_GROUP},
};

static void built_in(void)
{
    g_autoptr(ReplyTable) table = reply_table_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        g_test_message("%s", known[i].reply);
        g_assert_cmpint(reply_table_look(table, known[i].reply), ==, known[i].scope);
    }
}

/* The site's rules come first, in their order. */
static void configured(void)
{
    g_autoptr(Config) config = config_from_text("[reply.quota]\nmatch = over quota\nscope = message\n"
                                                "[reply.shy]\nmatch = ^450 4\\.1\\.\nscope = site\n"
                                                "[reply.fast]\nmatch = NOT SO FAST\n");
    g_autoptr(ReplyTable) table = reply_table_new(config);
    g_assert_cmpint(reply_table_look(table, "452 4.2.2 over quota"), ==, REPLY_MESSAGE);
    g_assert_cmpint(reply_table_look(table, "450 4.1.1 unknown for now"), ==, REPLY_SITE);
    g_assert_cmpint(reply_table_look(table, "450 not so fast"), ==, REPLY_GROUP);
}

/* --- what the site's own relay refuses because of us, and what is remembered of it --- */

static SmtpResult result_of(const char *reply, SmtpPhase phase, char status[8])
{
    unsigned code = (unsigned)g_ascii_strtoull(reply, NULL, 10);
    bool has = strlen(reply) > 8 && reply[5] == '.';
    g_strlcpy(status, has ? reply + 4 : code >= 500 ? "5.0.0" : "2.0.0", 6);
    return (SmtpResult){.verdict = code >= 500   ? SMTP_NEVER
                                   : code >= 400 ? SMTP_LATER
                                                 : SMTP_SENT,
                        .phase = phase, .code = code, .status = status, .text = reply, .reply = reply};
}

/* A batch for recipients, of whom each gets a reply; the last one is for all others. */
static Batch *batch_of(const char *const *recipients, const char *const *replies, SmtpPhase phase)
{
    Batch *batch = batch_new(NULL, NULL, g_strv_length((char **)recipients));
    for (size_t i = 0; recipients[i]; i++)
        batch_add(batch, &(Recipient){.address = recipients[i], .length = strlen(recipients[i]), .offset = i});
    batch_begin(batch);
    char status[8];
    for (size_t i = 0; recipients[i]; i++) {
        SmtpResult result = result_of(*replies, phase, status);
        batch_set_fate(batch, i, &result);
        replies += replies[1] != NULL;
    }
    return batch;
}

static FateAbout about(const char *reply, SmtpPhase phase)
{
    char status[8];
    SmtpResult result = result_of(reply, phase, status);
    return refusal_about(&(Fate){.result = result});
}

static bool ours(const char *reply, SmtpPhase phase)
{
    char status[8];
    SmtpResult result = result_of(reply, phase, status);
    return refusal_is_ours(&(Fate){.result = result});
}

/* Postfix refuses so for a time, by default, who may not relay and whose domain it cannot find. */
static void deferrals_of_nobody(void)
{
    g_assert_true(ours("454 4.7.1 <anne@example.org>: Relay access denied", SMTP_RCPT));
    g_assert_true(ours("450 4.1.8 <test-bounces@example.com>: Sender address rejected: Domain not found", SMTP_RCPT));
    g_assert_true(ours("451 4.3.0 Error: queue file write error", SMTP_DOT));
    g_assert_false(ours("450 4.1.1 <anne@example.org>: Recipient address rejected: unverified address", SMTP_RCPT));
    g_assert_false(ours("452 4.2.2 mailbox full", SMTP_RCPT));
    g_assert_false(refusal_is_ours(&(Fate){.result = {.verdict = SMTP_LATER, .phase = SMTP_RCPT}}));
}

/* The phase is judged before the words. */
static void phases_and_words(void)
{
    g_assert_cmpint(about("550 5.1.1 user unknown", SMTP_MAIL), ==, FATE_OF_SENDER);
    g_assert_cmpint(about("550 5.1.8 Domain of sender address x.example does not exist", SMTP_MAIL), ==,
                    FATE_OF_SENDER);
    g_assert_cmpint(about("552 5.3.4 Message size exceeds fixed limit", SMTP_MAIL), ==, FATE_OF_MESSAGE);
    g_assert_cmpint(about("550 5.1.1 user unknown", SMTP_DOT), ==, FATE_OF_MESSAGE);
    g_assert_cmpint(about("554 5.7.1 no", SMTP_DATA), ==, FATE_OF_MESSAGE);
    g_assert_cmpint(about("550 5.1.1 user unknown", SMTP_RCPT), ==, FATE_OF_RECIPIENT);
    g_assert_cmpint(about("554 5.7.1 <a@example.com>: Relay access denied", SMTP_RCPT), ==, FATE_OF_SENDER);
    g_assert_cmpint(about("530 5.7.0 Say who you are", SMTP_RCPT), ==, FATE_OF_SENDER);
    g_assert_cmpint(about("550 go away", SMTP_RCPT), ==, FATE_OF_ANYBODY);
    g_assert_cmpint(about("450 4.7.1 Relay access denied", SMTP_RCPT), ==, FATE_OF_RECIPIENT);
    g_assert_cmpint(about("250 ok", SMTP_DOT), ==, FATE_OF_RECIPIENT);
    /* Our own words: the relay has announced a size. */
    static const char text[] = "the message is too large";
    Fate own = {.result = {.verdict = SMTP_NEVER, .phase = SMTP_MAIL, .status = "5.3.4", .text = text, .reply = text}};
    g_assert_cmpint(refusal_about(&own), ==, FATE_OF_MESSAGE);
    own.result.status = "5.6.3";
    g_assert_cmpint(refusal_about(&own), ==, FATE_OF_RECIPIENT);
}

static RelayRefusal *refuse(RelayRefusals *all, const char *sender, const char *trace, Batch *batch)
{
    RelayRefusal *apart = refusals_judge(all, sender, trace, batch, START);
    if (apart)
        apart->apart = true; /* as the transport does */
    return apart;
}

/* One dead mailbox of two bounces, the other waits; the next sender is another matter. */
static void each_sender_by_itself(void)
{
    static const char *const two[] = {"dead@a.example", "anne@b.example", NULL};
    static const char *const replies[] = {"550 5.1.1 user unknown", "554 5.7.1 Relay access denied", NULL};
    static const char *const no[] = {"550 5.1.8 sender", NULL};
    RelayRefusals all = {0};
    Batch *batch = batch_of(two, replies, SMTP_RCPT);
    g_assert_null(refuse(&all, "one.example", "t1", batch));
    g_assert_cmpint(batch_fate(batch, 0)->result.verdict, ==, SMTP_NEVER);
    g_assert_cmpint(batch_fate(batch, 1)->result.verdict, ==, SMTP_LATER);
    g_assert_cmpstr(batch_fate(batch, 1)->result.status, ==, "4.7.1");
    batch_free(batch);
    batch = batch_of(two, no, SMTP_MAIL);
    RelayRefusal *other = refuse(&all, "two.example", "t2", batch);
    g_assert_nonnull(other);
    g_assert_cmpint(batch_fate(batch, 0)->about, ==, FATE_OF_SENDER);
    batch_free(batch);
    g_autoptr(json_t) shown = refusals_show(&all, START);
    g_assert_cmpuint(json_array_size(shown), ==, 2);
    g_assert_true(refusals_settle(&all, "one.example", "t1"));
    g_assert_false(refusals_settle(&all, "two.example", "t2")); /* it is apart still */
    g_assert_null(refusals_find(&all, "one.example"));
    other->apart = false;
    refusals_wait(&all, other, "t2", START);
    g_assert_true(refusals_settle(&all, "two.example", "t2"));
    refusals_clear(&all);
}

/* Copies for one each: who is refused with the same words in several domains, with nobody taken in between, is not the
 * cause. Other words, or a success, begin anew. */
static void the_same_for_everybody(void)
{
    static const char *const ok[] = {"250 ok", NULL};
    static const char *const bart[] = {"bart@z.example", NULL};
    for (int variant = 0; variant < 3; variant++) {
        RelayRefusals all = {0};
        unsigned waits = 0;
        for (int i = 0; i < 12; i++) {
            g_autofree char *address = g_strdup_printf("m%d@d%d.example", i, variant == 1 ? 0 : i % 3);
            g_autofree char *reply = g_strdup_printf("550 <%s> not here (id %d)", address, 1000 + i);
            const char *const to[] = {address, NULL}, *const replies[] = {reply, NULL};
            Batch *batch = batch_of(to, replies, SMTP_RCPT);
            refuse(&all, "one.example", "t1", batch);
            waits += batch_fate(batch, 0)->result.verdict == SMTP_LATER;
            batch_free(batch);
            if (variant == 2 && i == 5) {
                batch = batch_of(bart, ok, SMTP_DOT);
                refuse(&all, "one.example", "t2", batch);
                batch_free(batch);
            }
        }
        /* The tenth and those after it; nobody of one domain alone; nobody when the row was broken. */
        g_assert_cmpuint(waits, ==, variant == 0 ? 3 : 0);
        const RelayRefusal *refusal = refusals_find(&all, "one.example");
        g_assert_cmpint(refusal && refusal->apart, ==, variant == 0);
        refusals_clear(&all);
    }
}

/* Three different messages in a row are more than a message's matter; one, however often, is not. */
static void a_row_of_messages(void)
{
    static const char *const to[] = {"anne@b.example", NULL};
    static const char *const no[] = {"550 5.7.1 This account is suspended", NULL}, *const ok[] = {"250 ok", NULL};
    static const struct {
        const char *traces[5];
        bool apart;
    } rows[] = {{{"a", "a", "a", "a", "a"}, false}, {{"a", "b", "", "c", "d"}, false}, {{"a", "b", "a", "c"}, true}};
    for (size_t row = 0; row < G_N_ELEMENTS(rows); row++) {
        RelayRefusals all = {0};
        bool apart = false;
        for (int i = 0; i < 5 && rows[row].traces[i]; i++) {
            const char *trace = rows[row].traces[i];
            Batch *batch = batch_of(to, *trace ? no : ok, SMTP_DOT);
            apart |= refuse(&all, "one.example", trace, batch) != NULL;
            batch_free(batch);
        }
        g_assert_cmpint(apart, ==, rows[row].apart);
        refusals_clear(&all);
    }
}

/* A message that nobody tries any more is forgotten, and a restart keeps the others. */
static void time_and_restart(void)
{
    static const char *const to[] = {"anne@b.example", NULL}, *const no[] = {"550 no", NULL};
    RelayRefusals all = {0}, again = {0};
    Batch *batch = batch_of(to, no, SMTP_MAIL);
    refuse(&all, "one.example", "t1", batch);
    batch_free(batch);
    refusals_wait(&all, refusals_find(&all, "one.example"), "t2", START + 50);
    g_autoptr(json_t) saved = refusals_save(&all);
    refusals_load(&again, saved);
    RelayRefusal *refusal = refusals_find(&again, "one.example");
    g_assert_true(refusal->apart);
    g_assert_cmpstr(refusal->reply, ==, "550 no");
    g_assert_cmpint(refusal->since, ==, START);
    g_assert_cmpuint(g_hash_table_size(refusal->waiting), ==, 2);
    refusals_tidy(&again, START + 100, 60);
    g_assert_cmpuint(g_hash_table_size(refusal->waiting), ==, 1);
    refusal->apart = false;
    refusals_tidy(&again, START + 1000, 60);
    g_assert_null(refusals_find(&again, "one.example"));
    g_assert_null(refusals_save(&again));
    refusals_load(&again, NULL);
    refusals_clear(&all);
    refusals_clear(&again);
}

static json_int_t shown(const RelayRefusals *all, int64_t now)
{
    g_autoptr(json_t) rows = refusals_show(all, now);
    json_int_t messages = 0;
    size_t at;
    json_t *row;
    json_array_foreach(rows, at, row)
        messages += json_integer_value(json_object_get(row, "messages"));
    return messages;
}

static bool note_later(RelayRefusals *all, const char *trace, const char *reply, SmtpPhase phase, int64_t now)
{
    static const char *const to[] = {"anne@b.example", NULL};
    Batch *batch = batch_of(to, (const char *[]){reply, NULL}, phase);
    bool noted = refusals_note_later(all, "one.example", trace, batch, now);
    batch_free(batch);
    return noted;
}

/* A message that is refused for a time, because of us, is told when it has met nothing else for an hour. A restart
 * does not begin that hour again. */
static void for_a_time(void)
{
    RelayRefusals all = {0}, again = {0};
    g_assert_false(note_later(&all, "t0", "450 4.2.2 mailbox full", SMTP_RCPT, START));
    g_assert_false(note_later(&all, "t0", "250 ok", SMTP_DOT, START));
    g_assert_true(!all.all && !all.later);
    g_assert_true(note_later(&all, "t1", "454 4.7.1 <anne@b.example>: Relay access denied", SMTP_RCPT, START));
    g_assert_true(note_later(&all, "t2", "450 4.1.8 Sender address rejected: Domain not found", SMTP_RCPT, START + 5));
    g_assert_true(note_later(&all, "t2", "451 4.7.0 come back later", SMTP_MAIL, START + 60));
    g_assert_cmpint(shown(&all, START + REFUSAL_TOLD_AFTER - 1), ==, 0);
    g_assert_cmpint(shown(&all, START + REFUSAL_TOLD_AFTER), ==, 2);
    g_autoptr(json_t) saved = refusals_save(&all);
    refusals_load(&again, saved);
    g_assert_cmpint(shown(&again, START + REFUSAL_TOLD_AFTER - 1), ==, 0);
    g_assert_cmpint(shown(&again, START + REFUSAL_TOLD_AFTER), ==, 2);
    /* Each message by itself: the second one has not waited so long. */
    g_assert_false(refusals_settle(&all, "one.example", "t1"));
    g_assert_cmpint(shown(&all, START + REFUSAL_TOLD_AFTER), ==, 0);
    g_assert_cmpint(shown(&all, START + REFUSAL_TOLD_AFTER + 5), ==, 1);
    refusals_settle(&all, "one.example", "t2");
    g_assert_cmpint(shown(&all, START + 2 * REFUSAL_TOLD_AFTER), ==, 0);
    g_assert_null(refusals_save(&all));
    refusals_clear(&all);
    refusals_clear(&again);
}

/* Ten thousand refused domains with a hundred messages each make no large file, and no endless table. */
static void bounds_over_all_senders(void)
{
    RelayRefusals all = {0}, again = {0};
    static const char *const to[] = {"anne@b.example", NULL};
    g_autofree char *words = g_strnfill(3000, 'x'), *reply = g_strconcat("550 ", words, NULL);
    for (int i = 0; i < 10000; i++) {
        g_autofree char *sender = g_strdup_printf("d%d.example", i);
        Batch *batch = batch_of(to, (const char *[]){reply, NULL}, SMTP_MAIL);
        refuse(&all, sender, "first", batch);
        batch_free(batch);
        for (int j = 0; j < 100; j++) {
            g_autofree char *trace = g_strdup_printf("1700000000.000000.%d.%d", i, j);
            refusals_wait(&all, refusals_find(&all, sender), trace, START);
        }
    }
    g_assert_cmpuint(all.waiting, <=, 300000);
    g_assert_cmpuint(all.waiting, >=, 200000);
    g_autoptr(json_t) saved = refusals_save(&all);
    g_autofree char *text = json_dumps(saved, JSON_INDENT(1));
    g_assert_cmpuint(strlen(text), <, 2000000);
    refusals_load(&again, saved);
    GHashTableIter iterator;
    gpointer value;
    g_hash_table_iter_init(&iterator, again.all);
    while (g_hash_table_iter_next(&iterator, NULL, &value))
        g_assert_cmpuint(g_hash_table_size(((RelayRefusal *)value)->waiting), >, 0);
    g_autoptr(json_t) rows = refusals_show(&all, START);
    g_assert_cmpuint(json_array_size(rows), ==, 10000);
    refusals_clear(&all);
    refusals_clear(&again);
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
    g_test_add_func("/replies/built in", built_in);
    g_test_add_func("/replies/configured", configured);
    g_test_add_func("/refusal/phases_and_words", phases_and_words);
    g_test_add_func("/refusal/deferrals_of_nobody", deferrals_of_nobody);
    g_test_add_func("/refusal/each_sender_by_itself", each_sender_by_itself);
    g_test_add_func("/refusal/the_same_for_everybody", the_same_for_everybody);
    g_test_add_func("/refusal/a_row_of_messages", a_row_of_messages);
    g_test_add_func("/refusal/time_and_restart", time_and_restart);
    g_test_add_func("/refusal/for_a_time", for_a_time);
    g_test_add_func("/refusal/bounds_over_all_senders", bounds_over_all_senders);
    return g_test_run();
}
