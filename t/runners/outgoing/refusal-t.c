/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what the site's own relay refuses because of us, and what is remembered of it. */
#include "runners/outgoing/refusal.h"

#include <string.h>

#include "base/clock.h"
#include "switchboard/meta.h"
#include "t/suite.h"

#define START (1000000 * CLOCK_SECOND)

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
    g_autofree char *text = g_strdup(reply);
    char status[8];
    SmtpResult result = result_of(reply, phase, status);
    return refusal_about(&(Fate){.verdict = result.verdict, .phase = phase, .code = result.code, .status = status,
                                 .text = text, .reply = text});
}

static bool ours(const char *reply, SmtpPhase phase)
{
    g_autofree char *text = g_strdup(reply);
    char status[8];
    SmtpResult result = result_of(reply, phase, status);
    return refusal_is_ours(&(Fate){.verdict = result.verdict, .phase = phase, .code = result.code, .status = status,
                                   .text = text, .reply = text});
}

/* Postfix refuses so for a time, by default, who may not relay and whose domain it cannot find. */
static void deferrals_of_nobody(void)
{
    g_assert_true(ours("454 4.7.1 <anne@example.org>: Relay access denied", SMTP_RCPT));
    g_assert_true(ours("450 4.1.8 <test-bounces@example.com>: Sender address rejected: Domain not found", SMTP_RCPT));
    g_assert_true(ours("451 4.3.0 Error: queue file write error", SMTP_DOT));
    g_assert_false(ours("450 4.1.1 <anne@example.org>: Recipient address rejected: unverified address", SMTP_RCPT));
    g_assert_false(ours("452 4.2.2 mailbox full", SMTP_RCPT));
    g_assert_false(refusal_is_ours(&(Fate){.verdict = SMTP_LATER, .phase = SMTP_RCPT}));
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
    char size[] = "5.3.4", bits[] = "5.6.3", text[] = "the message is too large";
    Fate own = {.verdict = SMTP_NEVER, .phase = SMTP_MAIL, .status = size, .text = text, .reply = text};
    g_assert_cmpint(refusal_about(&own), ==, FATE_OF_MESSAGE);
    own.status = bits;
    g_assert_cmpint(refusal_about(&own), ==, FATE_OF_RECIPIENT);
}

static RelayRefusal *judge(RelayRefusals *all, const char *sender, const char *trace, Batch *batch)
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
    g_assert_null(judge(&all, "one.example", "t1", batch));
    g_assert_cmpint(batch_fate(batch, 0)->verdict, ==, SMTP_NEVER);
    g_assert_cmpint(batch_fate(batch, 1)->verdict, ==, SMTP_LATER);
    g_assert_cmpstr(batch_fate(batch, 1)->status, ==, "4.7.1");
    batch_free(batch);
    batch = batch_of(two, no, SMTP_MAIL);
    RelayRefusal *other = judge(&all, "two.example", "t2", batch);
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
            judge(&all, "one.example", "t1", batch);
            waits += batch_fate(batch, 0)->verdict == SMTP_LATER;
            batch_free(batch);
            if (variant == 2 && i == 5) {
                batch = batch_of(bart, ok, SMTP_DOT);
                judge(&all, "one.example", "t2", batch);
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
            apart |= judge(&all, "one.example", trace, batch) != NULL;
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
    judge(&all, "one.example", "t1", batch);
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
    g_assert_true(refusals_none(&all));
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
        judge(&all, sender, "first", batch);
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

SUITE("outgoing/refusal")
{
    g_test_init(&argc, &argv, NULL);
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
