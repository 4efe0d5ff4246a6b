/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/switchboard/crashout.h"

#include <string.h>

#include "base/clock.h"
#include "runners/outgoing/finish.h"
#include "runners/outgoing/reader.h"
#include "runners/outgoing/transport.h"
#include "t/switchboard/crashplan_internal.h"

#define MANY 10
#define ROUNDS_MAX 20
/* An entry that is put off is due at once. */
#define BACKOFF (-3600 * CLOCK_SECOND)

/* One process. */
typedef struct CrashOut {
    CrashWorld *world;
    Inbox *inboxes[SOURCES];
    Hop *hop;
    Finish finish;
    GQueue held, over; /* of Delivery: all; those to be finished in the next turn */
    uint64_t sent;     /* to whom, since the last sync began */
    unsigned worked, turns;
} CrashOut;

/* Nobody has a transport here. */
Transport *routes_look(const Routes *routes, const char *domain, size_t length)
{
    (void)routes;
    (void)domain;
    (void)length;
    return NULL;
}

void transport_given_up(Transport *transport, const Delivery *delivery)
{
    (void)transport;
    (void)delivery;
    g_assert_not_reached();
}

/* Nor does anybody wait for a destination. */
Destination *transport_place(const Transport *transport, const char *domain, size_t length, const char *sender)
{
    (void)transport;
    (void)domain;
    (void)length;
    (void)sender;
    g_assert_not_reached();
}

void parked_add(ParkedEntries *entries, const Parked *parked, int64_t now)
{
    (void)entries;
    (void)parked;
    (void)now;
    g_assert_not_reached();
}

static void out_free(CrashOut *out)
{
    GList *link;
    while ((link = g_queue_pop_head_link(&out->held)) != NULL)
        delivery_free(link->data);
    g_queue_clear(&out->over);
    hop_free(out->hop);
    for (unsigned i = 0; i < SOURCES; i++)
        inbox_free(out->inboxes[i]);
    finish_clear(&out->finish);
    g_free(out);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CrashOut, out_free)

/* NULL: it could not start. */
static CrashOut *out_new(CrashWorld *world, Slice slice)
{
    static const char *const queues[] = {[SOURCE_OUT] = "out", [SOURCE_RETRY] = RETRY_QUEUE};
    g_autoptr(CrashOut) out = g_new0(CrashOut, 1);
    out->world = world;
    finish_init(&out->finish);
    for (unsigned i = 0; i < G_N_ELEMENTS(queues); i++) {
        out->inboxes[i] = out->finish.inboxes[i] = crashworld_inbox(world, queues[i], slice);
        if (!out->inboxes[i])
            return NULL;
    }
    out->hop = out->finish.hop = hop_new(world->spool);
    out->finish.spool = world->spool;
    out->finish.steps = g_new(int64_t, 1);
    *out->finish.steps = BACKOFF;
    out->finish.backoff = (Backoff){.lifetime_us = INT64_MAX, .steps = out->finish.steps, .count = 1};
    out->finish.laws = (RetryLaws){.standard = &out->finish.backoff};
    return g_steal_pointer(&out);
}

/* --- deliveries --- */

/* As when its last batch came back, or the reader found nobody to send to. */
static void look_for_end(CrashOut *out, Delivery *delivery)
{
    size_t cursor = delivery->cursor;
    Recipient next;
    if (delivery_next(delivery, &next))
        delivery->cursor = cursor;
    if (delivery_over(delivery))
        g_queue_push_tail(&out->over, delivery);
}

static bool adopt(CrashOut *out, Entry *entry, unsigned source)
{
    Delivery *delivery = entry_begin_work(entry, NULL) ? delivery_new(entry, source, NULL, NULL) : NULL;
    if (!delivery || !entry_end_work(entry, NULL))
        return false;
    g_queue_push_tail_link(&out->held, &delivery->held);
    look_for_end(out, delivery);
    return true;
}

static bool claim(CrashOut *out, size_t limit)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    bool sound = true;
    for (unsigned source = SOURCE_OUT; source <= SOURCE_RETRY && sound; source++) {
        guint at = entries->len;
        sound = inbox_claim(out->inboxes[source], limit, false, entries, NULL);
        for (; at < entries->len && sound; at++)
            sound = adopt(out, entries->pdata[at], source);
    }
    out->worked += entries->len;
    return sound;
}

/* How often they are put off before somebody takes mail for them. */
static unsigned patience(char letter)
{
    unsigned times = 0;
    for (const char *at = BUSY; *at; at++)
        times += *at == letter;
    return times;
}

/* Answer as the server does. The recipients sent to are in *sent. */
static SmtpResult answer(CrashWorld *world, char letter, uint64_t *sent)
{
    static const SmtpResult later = {.verdict = SMTP_LATER, .code = 450, .status = "4.2.1", .text = "450 not now",
                                     .reply = "450 not now"};
    static const SmtpResult never = {.verdict = SMTP_NEVER, .code = 550, .status = "5.1.1", .text = "550 not here",
                                     .reply = "550 not here"};
    static const SmtpResult taken = {.verdict = SMTP_SENT, .code = 250, .status = "2.0.0", .text = "250 taken",
                                     .reply = "250 taken"};
    int number = letter - 'a';
    if (strchr(UNREACHABLE, letter))
        return later;
    if (strchr(REFUSED, letter))
        return never;
    if (world->put_off[number] < patience(letter)) {
        world->put_off[number]++;
        return later;
    }
    world->delivered[number]++;
    *sent |= UINT64_C(1) << number;
    return taken;
}

static void send_batch(CrashOut *out, Batch *batch)
{
    uint64_t sent = 0;
    batch_begin(batch);
    for (size_t i = 0; i < batch->count; i++) {
        SmtpResult result = answer(out->world, *batch->recipients[i].address, &sent);
        batch_set_fate(batch, i, &result);
    }
    if (sent && out->world->log)
        crashlog_note(out->world->log, (CrashNotes){.tried = sent});
    out->sent |= sent;
}

/* One transaction, of so many recipients; it comes back at once. */
static bool transact(CrashOut *out, Delivery *delivery, size_t recipients)
{
    Destination relay = {.lmtp = false};
    Nexthop nexthop = {.destination = &relay};
    Batch *batch = batch_new(delivery, &nexthop, recipients);
    Recipient recipient;
    while (batch->count < recipients && delivery_next(delivery, &recipient))
        batch_add(batch, &recipient);
    send_batch(out, batch);
    bool sound = marks_batch(&out->finish.marks, batch, NULL);
    batch_free(batch);
    look_for_end(out, delivery);
    return sound;
}

/* One for each entry in hand. */
static bool transact_all(CrashOut *out, size_t recipients)
{
    for (GList *link = out->held.head; link; link = link->next)
        if (!delivery_over(link->data) && !transact(out, link->data, recipients))
            return false;
    return true;
}

/* --- as in out.c --- */

static bool finish_all(CrashOut *out)
{
    for (const GList *link = out->over.head; link; link = link->next)
        g_queue_unlink(&out->held, &((Delivery *)link->data)->held);
    return finish_over(&out->finish, &out->over, NULL);
}

/* The marks of all who were sent to are durable. */
static void settled(CrashOut *out)
{
    if (out->sent && out->world->log)
        crashlog_note(out->world->log, (CrashNotes){.settled = out->sent});
    out->sent = 0;
}

/* turn(), but that nothing is sent in it. The group is synced at some time between its begin and its end, while others
 * are claimed; the log has it at the begin. So in every other turn they are claimed before. */
static bool turn(CrashOut *out, size_t limit)
{
    bool before = out->turns++ % 2 > 0;
    if (!finish_all(out))
        return false;
    for (unsigned i = SOURCE_OUT; i <= SOURCE_RETRY; i++)
        if (!inbox_refresh(out->inboxes[i], NULL))
            return false;
    if (before && !claim(out, limit))
        return false;
    marks_sync_begin(&out->finish.marks);
    bool sound = before || claim(out, limit);
    if (!marks_sync_end(&out->finish.marks, NULL) || !sound)
        return false;
    settled(out);
    return true;
}

/* leave(), when what was under way has come to its end. */
static bool leave(CrashOut *out)
{
    if (!finish_all(out))
        return false;
    GList *link;
    while ((link = g_queue_pop_head_link(&out->held)) != NULL)
        if (!finish_put_back(&out->finish, link->data, NULL))
            return false;
    if (!marks_sync(&out->finish.marks, NULL) || !hop_settle(out->hop, NULL))
        return false;
    settled(out);
    return true;
}

/* Serves out and retry of the slice. */
static bool serve(CrashWorld *world, Slice slice, unsigned *worked)
{
    g_autoptr(CrashOut) out = out_new(world, slice);
    bool sound = out && turn(out, MANY);
    for (unsigned rounds = 0; sound && out->held.length > 0; rounds++)
        sound = rounds < ROUNDS_MAX && transact_all(out, 2) && turn(out, MANY);
    *worked += out ? out->worked : 0;
    return sound && hop_settle(out->hop, NULL);
}

/* --- scripts --- */

static void move_on(CrashWorld *world, Inbox *inbox)
{
    g_autoptr(Hop) hop = hop_new(world->spool);
    unsigned worked = 0;
    g_assert_true(inbox_refresh(inbox, NULL));
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
    g_assert_cmpuint(worked, >, 0);
}

/* The messages have come to out, and a runner is there. */
static CrashOut *begin(CrashWorld *world, const int *messages, size_t count)
{
    world->serve_out = serve;
    crashworld_store(world, messages, count);
    g_autoptr(Inbox) posts = crashworld_inbox(world, "in", (Slice){0, 1});
    move_on(world, posts);
    CrashOut *out = out_new(world, (Slice){0, 1});
    crashlog_begin(world->log);
    g_assert_true(turn(out, MANY));
    g_assert_cmpuint(out->held.length, ==, count);
    return out;
}

static void settle(CrashOut *out)
{
    g_assert_cmpuint(out->held.length, ==, 0);
    g_assert_true(hop_settle(out->hop, NULL));
}

/* Bounces go on as soon as they may, and must not come again. The runner is there before: its start would sync. */
static Inbox *watch_bounces(CrashWorld *world)
{
    return crashworld_inbox(world, "bounces", (Slice){0, 1});
}

/* Three in hand: in one group of syncs are marks of those that stay and the directory of those that end with marks not
 * synced. One is put off, into retry. */
void crashout_group(CrashWorld *world)
{
    g_autoptr(Inbox) bounces = watch_bounces(world);
    g_autoptr(CrashOut) out = begin(world, (const int[]){12, 13, 14}, 3);
    g_assert_true(transact_all(out, 1) && turn(out, MANY));
    g_assert_cmpuint(out->held.length, ==, 2);
    move_on(world, bounces);
    for (unsigned i = 0; i < 3; i++)
        g_assert_true(transact_all(out, 1) && turn(out, MANY));
    settle(out);
}

/* Two are put off together, and one of them in retry once more, where the entry waits again with marks not synced. */
void crashout_retry(CrashWorld *world)
{
    g_autoptr(CrashOut) out = begin(world, (const int[]){16}, 1);
    for (unsigned i = 0; i < 3; i++)
        g_assert_true(transact_all(out, 2) && turn(out, MANY));
    settle(out);
}

/* The last try; what tells so cannot be stored at first. */
void crashout_expire(CrashWorld *world)
{
    g_autoptr(Inbox) bounces = watch_bounces(world);
    g_autoptr(CrashOut) out = begin(world, (const int[]){15}, 1);
    g_assert_true(transact_all(out, 2));
    world->log->fail_call = FS_SYNC_FILE;
    world->log->fail_in = 0;
    g_assert_true(turn(out, MANY));
    g_assert_cmpuint(out->held.length, ==, 1);
    g_assert_true(transact_all(out, 2) && turn(out, MANY));
    move_on(world, bounces);
    settle(out);
}

/* One is put back because its transport takes nothing more; then the process stops. */
void crashout_leave(CrashWorld *world)
{
    g_autoptr(Inbox) bounces = watch_bounces(world);
    g_autoptr(CrashOut) out = begin(world, (const int[]){12, 14}, 2);
    g_assert_true(transact_all(out, 1));
    Delivery *first = out->held.head->data;
    first->withdrawn = true;
    g_queue_push_tail(&out->over, first);
    g_assert_true(turn(out, MANY));
    move_on(world, bounces);
    g_assert_true(transact_all(out, 1));
    g_assert_cmpuint(out->over.length, ==, 1);
    g_assert_true(leave(out));
}

/* Fail to store in retry what is put off: it stays with its marks; at the next try nobody is put off. */
void crashout_stay(CrashWorld *world)
{
    g_autoptr(CrashOut) out = begin(world, (const int[]){12}, 1);
    g_assert_true(transact_all(out, 3));
    world->log->fail_call = FS_SYNC_FILE;
    world->log->fail_in = 0;
    g_assert_true(turn(out, MANY) && transact_all(out, 1) && turn(out, MANY));
    settle(out);
}
