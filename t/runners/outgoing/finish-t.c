/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what becomes of an entry at the end of an attempt, and what is kept of it in memory. */
#include "runners/outgoing/finish.h"

#include <errno.h>
#include <event2/event.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/fs.h"
#include "lists/keys.h"
#include "mail/message.h"
#include "runners/outgoing/reader.h"
#include "runners/outgoing/transport.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

typedef struct World {
    Fixture fixture;
    Config *config;
    struct event_base *base;
    TransportShared shared;
    Transport *relay, *shut;
    Destination *suspended; /* of shut */
    Routes *routes;
    Finish finish;
} World;

static Transport *open_transport(World *world, const char *name)
{
    g_autoptr(GError) error = NULL;
    Transport *transport = transport_new(&world->shared, name, &error);
    g_assert_no_error(error);
    return transport;
}

/* Mail for shut.example takes the transport shut, whose relay is suspended. */
static void set_up(World *world, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    fixture_set_up(&world->fixture, data);
    g_autofree char *path = g_strconcat(world->fixture.path, ".conf", NULL);
    g_autofree char *text = g_strdup_printf("[spool]\ndirectory = %s\n[out]\ntransport_table = shut.example:shut\n"
                                            "[transport.shut]\nhost = 127.0.0.1\n", world->fixture.path);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    world->config = config_load(path, true, &error);
    g_assert_no_error(error);
    g_unlink(path);
    world->base = event_base_new();
    Finish *finish = &world->finish;
    finish_init(finish);
    finish->backoff = (Backoff){.min_us = 300 * CLOCK_SECOND, .max_us = 4000 * CLOCK_SECOND,
                                .lifetime_us = 5 * 86400 * CLOCK_SECOND};
    finish->longest_us = 86400 * CLOCK_SECOND;
    world->shared = (TransportShared){
        .base = world->base, .config = world->config, .instances = 1, .backoff = &finish->backoff};
    world->relay = open_transport(world, "relay");
    world->shut = open_transport(world, "shut");
    world->suspended = transport_find(world->shut, "shut", true);
    g_autoptr(GPtrArray) transports = g_ptr_array_new();
    g_ptr_array_add(transports, world->relay);
    g_ptr_array_add(transports, world->shut);
    world->routes = routes_new(world->config, transports);
    finish->laws = (RetryLaws){world->routes, &finish->backoff, false};
    finish->spool = world->fixture.spool;
    finish->slice = (Slice){0, 1};
    finish->hop = hop_new(world->fixture.spool);
    static const char *const queues[SOURCES] = {[SOURCE_OUT] = "out", [SOURCE_RETRY] = "retry",
                                                [SOURCE_NOTICE] = "notice"};
    for (int source = 0; source < SOURCES; source++)
        finish->inboxes[source] = fixture_inbox(&world->fixture, queues[source]);
}

static void tear_down(World *world, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(hop_settle_all(world->finish.hop, &error));
    hop_free(world->finish.hop);
    for (int source = 0; source < SOURCES; source++)
        inbox_free(world->finish.inboxes[source]);
    finish_clear(&world->finish);
    routes_free(world->routes);
    transport_free(world->relay);
    transport_free(world->shut);
    event_base_free(world->base);
    config_free(world->config);
    fixture_tear_down(&world->fixture, data);
}

static Entry *claim(World *world, unsigned source)
{
    return fixture_claim_one(world->finish.inboxes[source]);
}

/* An entry of out with this metadata and these recipients, all of which have been tried. */
static Delivery *exhausted_delivery(World *world, json_t *meta, const char *const *recipients)
{
    g_autoptr(GError) error = NULL;
    Draft *draft = draft_new("out", meta);
    g_autoptr(GBytes) octets = g_bytes_new_static("Subject: x\r\n\r\ny\r\n", 17);
    draft_add_message(draft, octets);
    if (*recipients)
        fixture_add_recipients(draft, recipients);
    fixture_put(&world->fixture, draft);
    Delivery *delivery = delivery_new(claim(world, SOURCE_OUT), SOURCE_OUT, NULL, &error);
    g_assert_no_error(error);
    delivery->chosen = world->relay;
    delivery->exhausted = true;
    return delivery;
}

/* An entry of out for one member behind the suspended relay and one elsewhere, who was deferred: all of it is tried. */
static Delivery *tried_of(World *world, const char *list_id)
{
    static const char *const recipients[] = {"anne@shut.example", "bob@example.net", NULL};
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list_id);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, "test-bounces@example.com");
    Delivery *delivery = exhausted_delivery(world, meta, recipients);
    delivery->deferred = 1;
    delivery->parked = 1;
    delivery_wait_for(delivery, world->suspended, clock_now() + 500 * CLOCK_SECOND, false);
    return delivery;
}

static Delivery *tried(World *world)
{
    return tried_of(world, "test.example.com");
}

static void end(World *world, Delivery *delivery)
{
    g_autoptr(GError) error = NULL;
    GQueue over = G_QUEUE_INIT;
    g_queue_push_tail(&over, delivery);
    g_assert_true(finish_over(&world->finish, &over, &error));
    g_assert_no_error(error);
}

/* Each part of a post waits for something else; the destination knows the one that waits for it alone. */
static void parts_are_called_back(World *world, gconstpointer data)
{
    end(world, tried(world));
    g_assert_cmpuint(fixture_count(&world->fixture, "retry", ".msg"), ==, 2);
    g_assert_nonnull(world->suspended->load.parked.all);
    g_assert_cmpuint(world->suspended->load.parked.all->len, ==, 1);
    const Parked *parked = &g_array_index(world->suspended->load.parked.all, Parked, 0);
    g_assert_cmpuint(parked->source, ==, SOURCE_RETRY);
    g_autoptr(GError) error = NULL;
    g_autoptr(Entry) entry = inbox_claim_hash(world->finish.inboxes[SOURCE_RETRY], parked->hash, parked->due, &error);
    g_assert_no_error(error);
    Recipient recipient;
    g_assert_true(entry_next_recipient(entry, 0, &recipient));
    g_assert_cmpint(strncmp(recipient.address, "anne@shut.example", recipient.length), ==, 0);
    g_assert_false(entry_next_recipient(entry, recipient.next, &recipient));
}

/* A command that asked for an entry looks for it where it was. */
static void asked_for_it_keeps_its_name(World *world, gconstpointer data)
{
    Delivery *delivery = tried(world);
    g_autofree char *file = g_strconcat(entry_text(delivery->entry), ".msg", NULL);
    delivery->withdrawn = delivery->asked = true;
    end(world, delivery);
    g_autofree char *there = fixture_files(&world->fixture, "out", "");
    g_assert_cmpstr(there, ==, file);
    g_assert_cmpuint(fixture_count(&world->fixture, "retry", ""), ==, 0);
}

static int refuse(const FsEvent *event, void *data)
{
    (void)data;
    return event->call == FS_CREATE ? ENOSPC : 0;
}

/* The disk is full when it is to be deferred: it waits where it is, for its next try, and no person has to come. */
static void no_room_to_defer(World *world, gconstpointer data)
{
    (void)data;
    Delivery *delivery = tried(world);
    fs_set_hook(refuse, NULL);
    end(world, delivery);
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(fixture_count(&world->fixture, "retry", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&world->fixture, "out", ""), ==, 1);
    g_autofree char *file = fixture_files(&world->fixture, "out", ".msg");
    EntryName name;
    g_assert_true(name_parse(file, &name, NULL));
    g_assert_cmpint(name.due, >, clock_now());
}

/* An entry that can never be moved on is set aside: its metadata would be too large. */
static void set_aside(World *world, gconstpointer data)
{
    (void)data;
    Delivery *delivery = tried(world);
    g_free(delivery->last_reply);
    delivery->last_reply = g_strnfill(META_MAX, 'x');
    end(world, delivery);
    g_assert_cmpuint(fixture_count(&world->fixture, "retry", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&world->fixture, "out", ".msg"), ==, 0);
    g_assert_cmpuint(fixture_count(&world->fixture, "out", ".psv"), ==, 1);
}

static unsigned in_all(World *world)
{
    unsigned count = 0;
    for (const char *const *queue = (const char *const[]){"out", "retry", "bounces", "virgin", NULL}; *queue; queue++)
        count += fixture_count(&world->fixture, *queue, "");
    return count;
}

/* Mail that a host sends to itself, on either leg, waits for its time and no longer, and nobody is told of its end. */
static void a_canary_is_dropped(World *world, gconstpointer data)
{
    (void)data;
    static const char *const lists[] = {"listrunner-canary.example.com", "listrunner-canary-return.example.com"};
    world->finish.canary_us = 0;
    for (size_t at = 0; at < G_N_ELEMENTS(lists); at++)
        end(world, tried_of(world, lists[at]));
    g_assert_cmpuint(in_all(world), ==, 0);
    end(world, tried_of(world, "listrunner-canary-2.example.com"));
    g_assert_cmpuint(fixture_count(&world->fixture, "retry", ".msg"), ==, 2);
}

static void a_canary_waits_for_its_time(World *world, gconstpointer data)
{
    (void)data;
    world->finish.canary_us = 20 * CLOCK_SECOND;
    int64_t before = clock_now();
    end(world, tried_of(world, "listrunner-canary.example.com"));
    g_autofree char *files = fixture_files(&world->fixture, "retry", ".msg");
    g_auto(GStrv) names = g_strsplit(files, ",", -1);
    g_assert_cmpuint(g_strv_length(names), ==, 2);
    for (char **file = names; *file; file++) {
        EntryName name;
        g_assert_true(name_parse(*file, &name, NULL));
        g_assert_cmpint(name.due, <=, clock_now() + world->finish.canary_us);
        g_assert_cmpint(name.due, >, before);
    }
}

/* Its time is over: bob, whom the relay deferred, bounces. anne waits until the operator resumes her destination, or
 * gives all up, and then nobody charges her. */
static void a_suspended_destination_holds_its_mail(World *world, gconstpointer data)
{
    (void)data;
    world->finish.backoff.lifetime_us = 0;
    destination_suspend(world->suspended, clock_steady());
    end(world, tried(world));
    g_assert_cmpuint(fixture_count(&world->fixture, "bounces", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(&world->fixture, "out", ".msg"), ==, 1);
    g_autoptr(GError) error = NULL;
    const Parked *parked = &g_array_index(world->suspended->load.parked.all, Parked, 0);
    Entry *entry = inbox_claim_hash(world->finish.inboxes[SOURCE_OUT], parked->hash, parked->due, &error);
    g_assert_no_error(error);
    meta_set_bool(entry_meta(entry), KEY_EXPIRE, true);
    Delivery *delivery = delivery_new(entry, SOURCE_OUT, NULL, &error);
    g_assert_no_error(error);
    delivery->chosen = world->relay;
    delivery->exhausted = true;
    delivery->parked = 1;
    delivery_wait_for(delivery, world->suspended, clock_now(), false);
    end(world, delivery);
    g_assert_cmpuint(fixture_count(&world->fixture, "out", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&world->fixture, "bounces", ".msg"), ==, 1);
}

/* bob's connection was lost each time, so he is given up and not charged; he does not wait on with anne. */
static void who_is_given_up_does_not_wait(World *world, gconstpointer data)
{
    (void)data;
    world->finish.backoff.lifetime_us = 0;
    destination_suspend(world->suspended, clock_steady());
    Delivery *delivery = tried(world);
    Recipient anne, bob;
    g_assert_true(entry_next_recipient(delivery->entry, 0, &anne));
    g_assert_true(entry_next_recipient(delivery->entry, anne.next, &bob));
    marks_lost(delivery, bob.offset, false);
    end(world, delivery);
    g_assert_cmpuint(fixture_count(&world->fixture, "bounces", ".msg"), ==, 0);
    g_assert_cmpuint(fixture_count(&world->fixture, "retry", ".msg"), ==, 0);
    g_autofree char *file = fixture_files(&world->fixture, "out", ".msg");
    EntryName name;
    g_assert_true(name_parse(file, &name, NULL));
    g_autoptr(GError) error = NULL;
    g_autoptr(Entry) entry = inbox_claim_hash(world->finish.inboxes[SOURCE_OUT], name.hash, name.due, &error);
    g_assert_no_error(error);
    g_assert_true(entry_next_recipient(entry, 0, &anne));
    g_assert_true(entry_next_recipient(entry, anne.next, &bob));
    g_assert_cmpint(anne.state, ==, RECIPIENT_TODO);
    g_assert_cmpint(bob.state, ==, RECIPIENT_BOUNCED);
}

static Delivery *given_up(World *world)
{
    static const char *const recipients[] = {"bob@example.net", NULL};
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, "test.example.com");
    meta_set_string(meta, KEY_ENVELOPE_SENDER, "test-bounces@example.com");
    meta_set_bool(meta, KEY_EXPIRE, true);
    Delivery *delivery = exhausted_delivery(world, meta, recipients);
    delivery->deferred = 1;
    return delivery;
}

/* The disk is full when a member is given up: the entry waits until that can be told. */
static void no_room_to_bounce(World *world, gconstpointer data)
{
    (void)data;
    Delivery *delivery = given_up(world);
    fs_set_hook(refuse, NULL);
    end(world, delivery);
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(fixture_count(&world->fixture, "bounces", ".msg"), ==, 0);
    g_assert_cmpuint(fixture_count(&world->fixture, "out", ".msg"), ==, 1);
    end(world, given_up(world)); /* there is room again */
    g_assert_cmpuint(fixture_count(&world->fixture, "bounces", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(&world->fixture, "out", ".msg"), ==, 1);
}

/* How often a file was synced. */
typedef struct SyncedFile {
    int fd;
    unsigned times;
} SyncedFile;

static int note_sync(const FsEvent *event, void *data)
{
    SyncedFile *file = data;
    file->times += event->call == FS_SYNC_FILE && event->fd == file->fd;
    return 0;
}

/* Return a delivery whose member was refused; the refusal is not stored yet. */
static Delivery *refused(World *world)
{
    Recipient bob;
    Delivery *delivery = given_up(world);
    g_assert_true(entry_next_recipient(delivery->entry, 0, &bob));
    Nexthop nexthop = {.destination = world->suspended};
    Batch *batch = batch_new(delivery, &nexthop, 1);
    batch_add(batch, &bob);
    batch_begin(batch);
    batch_set_rest(batch, &(SmtpResult){.verdict = SMTP_NEVER, .phase = SMTP_RCPT, .code = 550, .status = "5.1.1",
                                        .text = "550 no", .reply = "550 no"});
    g_assert_true(marks_batch(&world->finish.marks, batch, NULL));
    batch_free(batch);
    return delivery;
}

/* The marks of an entry that waits again are made durable first. */
static void marks_are_synced_before_it_waits(World *world, gconstpointer data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    Delivery *delivery = refused(world);
    SyncedFile file = {.fd = entry_fd(delivery->entry)};
    g_assert_true(marks_store_bounces(&world->finish.marks, world->fixture.spool, &error));
    fs_set_hook(note_sync, &file);
    g_assert_true(finish_put_back(&world->finish, delivery, &error));
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(file.times, ==, 1);
}

/* The mark of a member whose refusal is stored is made durable once. */
static void marks_are_synced(World *world, gconstpointer data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    Delivery *delivery = refused(world);
    SyncedFile file = {.fd = entry_fd(delivery->entry)};
    fs_set_hook(note_sync, &file);
    g_assert_true(marks_store_bounces(&world->finish.marks, world->fixture.spool, &error));
    g_assert_cmpuint(file.times, ==, 0);
    g_assert_true(marks_sync(&world->finish.marks, &error) && marks_sync(&world->finish.marks, &error));
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(file.times, ==, 1);
    delivery_free(delivery);
}

/* Members behind it wait too when a post waits for more destinations than are remembered of one. */
static void a_scattered_post_is_held_too(World *world, gconstpointer data)
{
    (void)data;
    world->finish.backoff.lifetime_us = 0;
    destination_suspend(world->suspended, clock_steady());
    Delivery *delivery = tried(world);
    for (unsigned at = 0; !delivery->scattered; at++) {
        g_autofree char *name = g_strdup_printf("dead%u.example", at);
        delivery_wait_for(delivery, transport_find(world->relay, name, true), clock_now(), false);
    }
    end(world, delivery);
    g_assert_cmpuint(fixture_count(&world->fixture, "bounces", ".msg"), ==, 1);
    g_autoptr(GError) error = NULL;
    g_autofree char *file = fixture_files(&world->fixture, "retry", ".msg");
    EntryName name;
    g_assert_true(name_parse(file, &name, NULL));
    g_autoptr(Entry) entry = inbox_claim_hash(world->finish.inboxes[SOURCE_RETRY], name.hash, name.due, &error);
    g_assert_no_error(error);
    Recipient recipient;
    unsigned held = 0;
    for (size_t offset = 0; entry_next_recipient(entry, offset, &recipient); offset = recipient.next)
        held += recipient.state == RECIPIENT_TODO && strncmp(recipient.address, "anne@", 5) == 0;
    g_assert_cmpuint(held, ==, 1);
}

/* An entry of out that nobody was left for, the second block of a mail. */
static Delivery *empty_block(World *world, int64_t post_id)
{
    static const char *const nobody[] = {NULL};
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, "test.example.com");
    meta_set_string(meta, KEY_ENVELOPE_SENDER, "test-bounces@example.com");
    meta_set_integer(meta, KEY_BLOCK, 1);
    if (post_id > 0)
        meta_set_integer(meta, KEY_POST_ID, post_id);
    return exhausted_delivery(world, meta, nobody);
}

/* Of a post it says that the blocks before it are all. A digest tells nobody that it reached nobody, and an entry that
 * says nothing would be taken for a mail to the list's bounce address. */
static void an_empty_block_is_told_of_a_post(World *world, gconstpointer data)
{
    (void)data;
    end(world, empty_block(world, 0));
    g_assert_cmpuint(in_all(world), ==, 0);
    end(world, empty_block(world, 7));
    g_assert_cmpuint(fixture_count(&world->fixture, "bounces", ".msg"), ==, 1);
    g_assert_cmpuint(in_all(world), ==, 1);
}

/* --- when the owners of a list are told that its mail is late, and what the letter says --- */

#define ARRIVAL (INT64_C(1800000000) * CLOCK_SECOND)
#define HOUR (3600 * CLOCK_SECOND)

static const Warning four_hours = {.host = "lists.example.com", .after_us = 4 * HOUR, .lifetime_us = 5 * 24 * HOUR};

typedef struct PostTest {
    Fixture fixture;
    Inbox *out, *in;
    Delivery *delivery;
} PostTest;

static void set_up_post(PostTest *test, gconstpointer data)
{
    fixture_set_up(&test->fixture, data);
    test->out = fixture_inbox(&test->fixture, "out");
    test->in = fixture_inbox(&test->fixture, "in");
}

static void tear_down_post(PostTest *test, gconstpointer data)
{
    g_clear_pointer(&test->delivery, delivery_free);
    inbox_free(test->out);
    inbox_free(test->in);
    fixture_tear_down(&test->fixture, data);
}

/* One claimed entry of the list test@example.com for two recipients, which came at ARRIVAL. */
static void hold_post(PostTest *test, const char *poster, const char *sender, bool warned)
{
    static const char *const recipients[] = {"anne@example.org", "bob@example.net", NULL};
    g_autoptr(GError) error = NULL;
    json_t *meta = json_object();
    meta_set_integer(meta, META_ARRIVAL, ARRIVAL);
    meta_set_string(meta, META_LIST, "test.example.com");
    meta_set_string(meta, KEY_SENDER, poster);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, sender);
    meta_set_bool(meta, KEY_WARNED, warned);
    Draft *draft = draft_new("out", meta);
    g_autoptr(GBytes) octets = g_bytes_new_static("Subject: late\r\n\r\nsecret\r\n", 25);
    draft_add_message(draft, octets);
    fixture_add_recipients(draft, recipients);
    draft_set_due(draft, 1);
    fixture_put(&test->fixture, draft);
    g_clear_pointer(&test->delivery, delivery_free);
    test->delivery = delivery_new(fixture_claim_one(test->out), 0, NULL, &error);
    g_assert_no_error(error);
}

/* The letter (consumed) as it lies in the queue in. */
static char *stored(PostTest *test, Draft *draft, GPtrArray *entries)
{
    draft_set_due(draft, 1);
    fixture_put(&test->fixture, draft);
    Entry *entry = fixture_claim_one(test->in);
    g_ptr_array_add(entries, entry);
    return fixture_text(entry);
}

/* The letter after that time. */
static char *letter(PostTest *test, const Warning *warning, int64_t waited, GPtrArray *entries)
{
    return stored(test, warning_draft(warning, test->delivery, false, NULL, ARRIVAL + waited), entries);
}

static void test_due(PostTest *test, gconstpointer data)
{
    Warning none = four_hours;
    none.after_us = 0;
    hold_post(test, "eve@example.net", "test-bounces@example.com", false);
    g_assert_false(warning_due(&four_hours, test->delivery, ARRIVAL + 4 * HOUR - 1));
    g_assert_true(warning_due(&four_hours, test->delivery, ARRIVAL + 4 * HOUR));
    g_assert_false(warning_due(&none, test->delivery, ARRIVAL + 400 * HOUR));
    hold_post(test, "eve@example.net", "test-bounces@example.com", true);
    g_assert_false(warning_due(&four_hours, test->delivery, ARRIVAL + 5 * HOUR));
    hold_post(test, "", "test-bounces@example.com", false);
    g_assert_false(warning_due(&four_hours, test->delivery, ARRIVAL + 5 * HOUR));
    hold_post(test, "eve@example.net", "", false);
    g_assert_false(warning_due(&four_hours, test->delivery, ARRIVAL + 5 * HOUR));
}

/* The largest unit of which there are two: never "0 hours". */
static void test_units(PostTest *test, gconstpointer data)
{
    static const struct {
        int64_t waited;
        const char *said;
    } cases[] = {
        {0, "\nfor 0 seconds. "},
        {CLOCK_SECOND, "\nfor 1 second. "},
        {119 * CLOCK_SECOND, "\nfor 119 seconds. "},
        {120 * CLOCK_SECOND, "\nfor 2 minutes. "},
        {HOUR, "\nfor 60 minutes. "},
        {2 * HOUR - 1, "\nfor 119 minutes. "},
        {4 * HOUR, "\nfor 4 hours. "},
        {48 * HOUR - 1, "\nfor 47 hours. "},
        {48 * HOUR, "\nfor 2 days. "},
        {-HOUR, "\nfor 0 seconds. "}, /* the clock was set back */
    };
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    hold_post(test, "eve@example.net", "test-bounces@example.com", false);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *octets = letter(test, &four_hours, cases[i].waited, entries);
        g_auto(GStrv) lines = g_strsplit(octets, "\r\n", -1);
        g_autofree char *text = g_strjoinv("\n", lines);
        g_assert_nonnull(strstr(text, cases[i].said));
        g_assert_nonnull(strstr(text, "It is tried until it is 5 days old"));
    }
}

static void test_letter(PostTest *test, gconstpointer data)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    hold_post(test, "eve@example.net", "test-bounces@example.com", false);
    test->delivery->last_reply = g_strdup("451 4.3.2 not now");
    g_autofree char *octets = letter(test, &four_hours, 4 * HOUR, entries);
    static const char *const said[] = {
        "Subject: Delayed: mail of list test.example.com\r\n", "could not be delivered to 2 of its recipients\r\n",
        "  451 4.3.2 not now\r\n", "  anne@example.org\r\n", "  bob@example.net\r\n", "Action: delayed\r\n",
        "Final-Recipient: rfc822; anne@example.org\r\n", "Status: 4.4.7\r\n", "Auto-Submitted: auto-generated\r\n",
        "Subject: late\r\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(said); i++)
        if (!strstr(octets, said[i]))
            g_error("it does not say \"%s\":\n%s", said[i], octets);
    g_assert_null(strstr(octets, "secret"));
    json_t *meta = entry_meta(entries->pdata[0]);
    g_assert_cmpstr(meta_string(meta, KEY_RECIPIENT, ""), ==, "test-owner@example.com");
    g_assert_cmpstr(meta_string(meta, KEY_TO, ""), ==, TO_OWNER);
    g_assert_cmpstr(meta_string(meta, KEY_SENDER, "?"), ==, "");
}

/* It names those whose transactions broke off, and those alone. */
static void test_given_up(PostTest *test, gconstpointer data)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    hold_post(test, "eve@example.net", "test-bounces@example.com", true);
    g_assert_null(warning_draft(&four_hours, test->delivery, true, NULL, ARRIVAL + 120 * HOUR));
    Recipient anne;
    g_assert_true(entry_next_recipient(test->delivery->entry, 0, &anne));
    marks_lost(test->delivery, anne.offset, false);
    Draft *draft = warning_draft(&four_hours, test->delivery, true, NULL, ARRIVAL + 120 * HOUR);
    g_autofree char *octets = stored(test, draft, entries);
    g_assert_nonnull(strstr(octets, "Subject: Not delivered: mail of list test.example.com\r\n"));
    g_assert_nonnull(strstr(octets, "to 1 of its recipients\r\nfor 5 days. It is not tried again."));
    g_assert_nonnull(strstr(octets, "Final-Recipient: rfc822; anne@example.org\r\nAction: failed\r\n"));
    g_assert_null(strstr(octets, "bob@example.net"));
    g_assert_null(strstr(octets, "Will-Retry-Until"));
    g_autoptr(GHashTable) held = g_hash_table_new(NULL, NULL);
    g_hash_table_add(held, GSIZE_TO_POINTER(anne.offset)); /* her destination is suspended: she waits on */
    g_assert_null(warning_draft(&four_hours, test->delivery, true, held, ARRIVAL + 120 * HOUR));
    hold_post(test, "", "test-bounces@example.com", false); /* a report of our own */
    marks_lost(test->delivery, anne.offset, true);
    g_assert_null(warning_draft(&four_hours, test->delivery, true, NULL, ARRIVAL + 120 * HOUR));
}

#define WARNING_TEST(name) g_test_add("/warning/" #name, PostTest, NULL, set_up_post, test_##name, tear_down_post)

SUITE("outgoing/finish")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/finish/a canary is dropped", World, NULL, set_up, a_canary_is_dropped, tear_down);
    g_test_add("/finish/a canary waits for its time", World, NULL, set_up, a_canary_waits_for_its_time, tear_down);
    g_test_add("/finish/a suspended destination holds its mail", World, NULL, set_up,
               a_suspended_destination_holds_its_mail, tear_down);
    g_test_add("/finish/a scattered post is held too", World, NULL, set_up, a_scattered_post_is_held_too, tear_down);
    g_test_add("/finish/an empty block is told of a post", World, NULL, set_up, an_empty_block_is_told_of_a_post,
               tear_down);
    g_test_add("/finish/set aside", World, NULL, set_up, set_aside, tear_down);
    g_test_add("/finish/no room to defer", World, NULL, set_up, no_room_to_defer, tear_down);
    g_test_add("/finish/no room to bounce", World, NULL, set_up, no_room_to_bounce, tear_down);
    g_test_add("/finish/marks are synced", World, NULL, set_up, marks_are_synced, tear_down);
    g_test_add("/finish/marks are synced before it waits", World, NULL, set_up, marks_are_synced_before_it_waits,
               tear_down);
    g_test_add("/finish/parts are called back", World, NULL, set_up, parts_are_called_back, tear_down);
    g_test_add("/finish/what was asked for keeps its name", World, NULL, set_up, asked_for_it_keeps_its_name,
               tear_down);
    g_test_add("/finish/who is given up does not wait", World, NULL, set_up, who_is_given_up_does_not_wait, tear_down);
    WARNING_TEST(due);
    WARNING_TEST(units);
    WARNING_TEST(letter);
    WARNING_TEST(given_up);
    return g_test_run();
}
