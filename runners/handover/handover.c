/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The queue handover: entries that another host is to work, and those that other hosts handed to this one.
 *
 * The first are sent to the host that KEY_HAND_TO names. The second go into the queue that they are for.
 * Whoever puts an entry into that queue notes before, in the database, that it has the entry of that name, and which of
 * its copies. So each is worked once:
 *
 *   - a copy that comes a second time, because the answer to the first was lost, finds the note of another, and ends;
 *   - an entry of out whose host cannot take it is taken back and worked here, unless the note says that the host has
 *     it; a copy which that host finds later ends there.
 *
 * A part of a message waits, for the other parts are there. After an hour it goes back to defragment, which looks
 * whether its set has ended or was forgotten meanwhile. A post for an archive waits as long as the configuration says
 * that its host keeps that archive; then it goes back to the queue archive.
 */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include <event2/event.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/archive/archive_place.h"
#include "lists/keys.h"
#include "net/resolve.h"
#include "net/smtp_client.h"
#include "net/smtp_tls.h"
#include "runners/handover/parcel.h"
#include "runners/posts/runner_seat.h"
#include "runners/runner.h"
#include "store/hosts/host.h"
#include "store/hosts/lost_spool.h"
#include "switchboard/entry.h"
#include "switchboard/fault.h"

/* ---- to other hosts ---- */

/*
 * Entries are sent to other hosts over LMTP with TLS: each side shows a certificate of the site's authority in the name
 * of its host. One connection for each host carries all that is for it, and the hosts are served at one time.
 */
typedef struct Shipment {
    const char *host, *address; /* its name; "HOST:PORT" */
    char *recipient;            /* "QUEUE@HOST", for the logs of both; owned */
    Entry *entry;               /* borrowed; packed when its turn comes, so that a host has one in memory at a time */
    const char *name, *queue;   /* as of parcel_pack() */
    GBytes *content;            /* owned; NULL but while it is on its way */
    bool sent;                  /* result: the host has the entry on its disk */
    bool unreachable;           /* result: the host could not be reached, or did not answer */
    char *why;                  /* result, when not sent: the reason, for the log; owned */
} Shipment;

#define CONNECT_TIMEOUT (10 * CLOCK_SECOND)
#define TIMEOUT (60 * CLOCK_SECOND)

typedef struct Journey Journey;

/* ParcelTrip holds the entries that go to one host, and the connection to it. */
typedef struct ParcelTrip {
    Journey *journey;
    const char *host, *address;
    SmtpSettings settings;
    SmtpClient *client;
    Resolve *resolve;
    guint next; /* place among the shipments */
    Shipment *current;
    bool over;
} ParcelTrip;

struct Journey {
    GPtrArray *shipments;
    Runner *runner;
    struct event_base *base;
    GPtrArray *trips; /* of ParcelTrip */
    bool given_up;    /* the process is to end */
};

static void shipment_free(Shipment *shipment)
{
    g_free(shipment->recipient);
    g_clear_pointer(&shipment->content, g_bytes_unref);
    g_free(shipment->why);
    g_free(shipment);
}

/* Read the certificates. NULL, with FAIL_CONFIG: they cannot be used. */
static SmtpTls *trip_certificates(const Config *config, GError **error)
{
    g_autoptr(SmtpTls) tls = smtp_tls_new(config_string(config, "host", "authority_file"), error);
    return tls && smtp_tls_present(tls, config_string(config, "host", "certificate_file"),
                                   config_string(config, "host", "key_file"), error)
               ? g_steal_pointer(&tls)
               : NULL;
}

static const char *recipient_of(void *data, size_t index, size_t *length)
{
    (void)index;
    const Shipment *shipment = data;
    *length = strlen(shipment->recipient);
    return shipment->recipient;
}

static void on_ready(SmtpClient *client, void *data)
{
    ParcelTrip *trip = data;
    GPtrArray *all = trip->journey->shipments;
    runner_progress(trip->journey->runner);
    while (trip->next < all->len && strcmp(((Shipment *)all->pdata[trip->next])->host, trip->host) != 0)
        trip->next++;
    if (trip->next >= all->len || runner_stopping(trip->journey->runner)) {
        smtp_client_quit(client);
        return;
    }
    trip->current = all->pdata[trip->next++];
    trip->current->content = parcel_pack(trip->current->entry, trip->current->name, trip->current->queue);
    g_autoptr(SmtpBody) body = smtp_body_new(trip->current->content);
    SmtpTransaction transaction = {
        .sender = "", .count = 1, .recipient = recipient_of, .data = trip->current, .body = body};
    smtp_client_send(client, &transaction);
}

static void on_result(SmtpClient *client, size_t index, const SmtpResult *result, void *data)
{
    (void)client, (void)index;
    ParcelTrip *trip = data;
    trip->current->sent = result->verdict == SMTP_SENT;
    if (!trip->current->sent)
        trip->current->why = g_strdup(result->reply);
}

static void on_done(SmtpClient *client, void *data)
{
    (void)client;
    g_clear_pointer(&((ParcelTrip *)data)->current->content, g_bytes_unref);
}

static void end_trip(ParcelTrip *trip, const char *why)
{
    GPtrArray *all = trip->journey->shipments;
    for (guint at = 0; why && at < all->len; at++) {
        Shipment *shipment = all->pdata[at];
        if (shipment->sent || strcmp(shipment->host, trip->host) != 0)
            continue;
        shipment->unreachable = true;
        if (!shipment->why)
            shipment->why = g_strdup(why);
    }
    trip->over = true;
}

static void on_closed(SmtpClient *client, const SmtpResult *why, void *data)
{
    (void)client;
    ParcelTrip *trip = data;
    trip->client = NULL;
    end_trip(trip, why->verdict == SMTP_SENT ? NULL : why->text);
}

static const SmtpHandler handler = {.ready = on_ready, .result = on_result, .done = on_done, .closed = on_closed};

static void on_resolved(struct addrinfo *addresses, const GError *error, void *data)
{
    ParcelTrip *trip = data;
    trip->resolve = NULL;
    if (!addresses) {
        end_trip(trip, error->message);
        return;
    }
    trip->client = smtp_client_new(trip->journey->base, addresses->ai_addr, addresses->ai_addrlen, &trip->settings,
                                   &handler, trip);
    freeaddrinfo(addresses);
}

static void begin_trip(Journey *journey, const Shipment *shipment, const SmtpTls *tls)
{
    ParcelTrip *trip = g_new0(ParcelTrip, 1);
    *trip = (ParcelTrip){.journey = journey, .host = shipment->host, .address = shipment->address};
    trip->settings = (SmtpSettings){.server = trip->host,
                                    .protocol = SMTP_PROTOCOL_LMTP,
                                    .chunking = true,
                                    .helo_name = config_string(runner_config(journey->runner), "site", "hostname"),
                                    .tls = SMTP_TLS_VERIFY,
                                    .tls_at_once = true,
                                    .tls_context = tls,
                                    .tls_name = trip->host};
    for (SmtpPhase phase = 0; phase < SMTP_PHASES; phase++)
        trip->settings.timeouts[phase] = phase < SMTP_MAIL ? CONNECT_TIMEOUT : TIMEOUT;
    g_ptr_array_add(journey->trips, trip);
    const char *colon = strrchr(trip->address, ':');
    if (!colon) {
        end_trip(trip, "its address has no port");
        return;
    }
    bool bracketed = *trip->address == '[' && colon[-1] == ']';
    g_autofree char *name = g_strndup(trip->address + bracketed, (gsize)(colon - trip->address) - 2 * bracketed);
    trip->resolve = resolve_start(journey->base, name, colon + 1, on_resolved, trip);
}

static bool has_trip(const Journey *journey, const char *host)
{
    for (guint at = 0; at < journey->trips->len; at++)
        if (strcmp(((const ParcelTrip *)journey->trips->pdata[at])->host, host) == 0)
            return true;
    return false;
}

static bool is_under_way(const Journey *journey)
{
    for (guint at = 0; at < journey->trips->len; at++)
        if (!((const ParcelTrip *)journey->trips->pdata[at])->over)
            return !journey->given_up;
    return false;
}

/* Wakes the loop, so that a wait does not look like a stall and a stop is seen. */
static void on_tick(evutil_socket_t fd, short what, void *data)
{
    (void)fd, (void)what;
    Journey *journey = data;
    runner_progress(journey->runner);
    journey->given_up = runner_stopping(journey->runner);
}

static void trip_free(gpointer data)
{
    ParcelTrip *trip = data;
    if (trip->resolve)
        resolve_cancel(trip->resolve);
    smtp_client_free(trip->client);
    g_free(trip);
}

/* Send all shipments (of Shipment), and set their results; this takes as long as the slowest host. Where the runner is
 * to stop, return early. */
static void trip_make(GPtrArray *shipments, Runner *runner, const SmtpTls *tls)
{
    Journey journey = {.shipments = shipments, .runner = runner, .base = event_base_new()};
    journey.trips = g_ptr_array_new_with_free_func(trip_free);
    struct event *tick = event_new(journey.base, -1, EV_PERSIST, on_tick, &journey);
    event_add(tick, &(struct timeval){.tv_sec = 1});
    for (guint at = 0; at < shipments->len; at++)
        if (!has_trip(&journey, ((const Shipment *)shipments->pdata[at])->host))
            begin_trip(&journey, shipments->pdata[at], tls);
    while (is_under_way(&journey))
        event_base_loop(journey.base, EVLOOP_ONCE);
    g_ptr_array_unref(journey.trips);
    event_free(tick);
    event_base_free(journey.base);
}

/* ---- the queue ---- */

#define DEFRAGMENT_QUEUE "defragment"
#define RETRY (10 * CLOCK_SECOND)
#define DOWN (20 * CLOCK_SECOND) /* for so long nothing is tried with a host that could not be reached */
#define RETRY_MAX (60 * CLOCK_SECOND)
#define PART_WAITS (3600 * CLOCK_SECOND)
#define TOLD_FOR (3 * RETRY_MAX) /* a host for which nothing was put off for so long is not told any more */

typedef struct Handover {
    Runner *runner;
    Seat seat;
    SmtpTls *tls;
    const char *host;  /* our own name */
    const char *spool; /* the id of ours */
    int64_t remember;
    GPtrArray *tasks; /* of Task: the batch */
    GHashTable *down; /* names of hosts that could not be reached, and until when nothing is tried (int64_t,
                            monotonic) */
    GHashTable *waiting; /* names of hosts for which entries wait, and HostWait */
    char *told;          /* of them, to `listrunner status`; NULL: nothing */
} Handover;

typedef struct HostWait {
    int64_t since; /* clock_now() */
    int64_t at;    /* monotonic: when an entry was put off last */
    char *why;
} HostWait;

static void host_wait_free(gpointer data)
{
    HostWait *wait = data;
    g_free(wait->why);
    g_free(wait);
}

typedef struct Task {
    Outcome *outcome;
    char *name;         /* under which the entry is known to all hosts */
    const char *queue;  /* that it is for */
    const char *to;     /* NULL: it is to be worked here */
    char *address;      /* NULL: that host is not known, does not live, or has no door */
    Shipment *shipment; /* NULL: it is not sent */
    bool known;         /* the host is in the table */
    bool settle, ours;  /* it is to be noted; that succeeded */
    bool old;           /* it is too old to be noted */
} Task;

static void task_free(gpointer data)
{
    Task *task = data;
    g_free(task->name);
    g_free(task->address);
    g_free(task);
}

/* ---- start and end ---- */

static void stop(Runner *runner)
{
    Handover *own = runner_data(runner);
    if (!own)
        return;
    g_ptr_array_unref(own->tasks);
    g_hash_table_unref(own->down);
    g_hash_table_unref(own->waiting);
    g_free(own->told);
    smtp_tls_free(own->tls);
    seat_leave(&own->seat);
    g_free(own);
    runner_set_data(runner, NULL);
}

static bool start(Runner *runner, GError **error)
{
    const Config *config = runner_config(runner);
    Handover *own = g_new0(Handover, 1);
    own->runner = runner;
    own->host = config_string(config, "site", "hostname");
    own->remember = config_duration(config, "store", "remember");
    own->tasks = g_ptr_array_new_with_free_func(task_free);
    own->waiting = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, host_wait_free);
    own->down = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    runner_set_data(runner, own);
    return runner_seat_open(runner, &own->seat, false, error) &&
           (own->spool = spool_id(runner_spool(runner), error)) && (own->tls = trip_certificates(config, error));
}

/* ---- a batch ---- */

static bool begin(Runner *runner, GError **error)
{
    (void)error;
    Handover *own = runner_data(runner);
    g_ptr_array_set_size(own->tasks, 0);
    return true;
}

/* All is done at the end of the batch. */
static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    Handover *own = runner_data(runner);
    const json_t *meta = entry_meta(entry);
    const char *handed = meta_string(meta, KEY_HANDED, NULL), *to = meta_string(meta, KEY_HAND_TO, NULL);
    const char *queue = meta_string(meta, KEY_HAND_QUEUE, NULL);
    if (!queue || (!handed && !to))
        return fail(error, FAIL_NEVER, "it does not say to which host and queue it is to go");
    Task *task = g_new0(Task, 1);
    task->outcome = outcome;
    task->queue = queue;
    task->name = handed ? g_strdup(handed) : parcel_name(entry, own->host);
    task->to = handed || strcmp(to, own->host) == 0 ? NULL : to;
    task->settle = !task->to;
    g_ptr_array_add(own->tasks, task);
    return true;
}

/* ---- sending ---- */

/* Send what is for other hosts; *shipments holds what the tasks point at. */
static bool send_all(Handover *own, GPtrArray *shipments, GError **error)
{
    g_autoptr(GPtrArray) hosts = NULL;
    for (guint at = 0; at < own->tasks->len; at++) {
        Task *task = own->tasks->pdata[at];
        if (!task->to)
            continue;
        if (!hosts && !(hosts = host_all(own->seat.store, error)))
            return false;
        for (guint i = 0; i < hosts->len; i++) {
            const Host *host = hosts->pdata[i];
            if (g_ascii_strcasecmp(host->name, task->to) != 0)
                continue;
            g_autoptr(json_t) state = json_loads(host->state, 0, NULL);
            task->known = true;
            task->address = host->living ? g_strdup(json_string_value(json_object_get(state, "door"))) : NULL;
        }
        const int64_t *down_until = g_hash_table_lookup(own->down, task->to);
        if (!task->address || (down_until && clock_monotonic() < *down_until))
            continue;
        Shipment *shipment = g_new0(Shipment, 1);
        shipment->host = task->to;
        shipment->address = task->address;
        shipment->recipient = g_strdup_printf("%s@%s", task->queue, task->to);
        shipment->entry = task->outcome->parent;
        shipment->name = task->name;
        shipment->queue = task->queue;
        task->shipment = shipment;
        g_ptr_array_add(shipments, shipment);
    }
    if (shipments->len > 0)
        trip_make(shipments, own->runner, own->tls);

    /* A host that hangs is to hold up the others once, and not with each batch. */
    for (guint at = 0; at < shipments->len; at++) {
        const Shipment *shipment = shipments->pdata[at];
        int64_t until = clock_monotonic() + DOWN;
        if (shipment->unreachable)
            g_hash_table_insert(own->down, g_strdup(shipment->host), g_memdup2(&until, sizeof until));
    }
    return true;
}

/* ---- waiting ---- */

/* Tell `listrunner status` for which hosts entries wait, since when and why. */
static void tell(Handover *own)
{
    g_autoptr(GString) text = g_string_new(NULL);
    GHashTableIter all;
    gpointer host, value;
    g_hash_table_iter_init(&all, own->waiting);
    while (g_hash_table_iter_next(&all, &host, &value)) {
        const HostWait *wait = value;
        g_autofree char *since = clock_text(wait->since);
        g_string_append_printf(text, "%ssince %s entries wait for the host %s: %s", text->len > 0 ? "; " : "", since,
                               (const char *)host, wait->why);
    }
    if (g_strcmp0(own->told ? own->told : "", text->str) == 0)
        return;
    g_free(own->told);
    own->told = g_strdup(text->str);
    child_notice(CHILD_NOTICE_WORK, text->len > 0 ? text->str : NULL);
}

static gboolean is_no_more_waited_for(gpointer host, gpointer value, gpointer data)
{
    (void)host, (void)data;
    return clock_monotonic() - ((const HostWait *)value)->at > TOLD_FOR;
}

/* Entries that waited may have been removed. */
static int64_t idle(Runner *runner)
{
    Handover *own = runner_data(runner);
    g_hash_table_foreach_remove(own->waiting, is_no_more_waited_for, NULL);
    tell(own);
    return g_hash_table_size(own->waiting) > 0 ? TOLD_FOR : -1;
}

/* Whether it waits for its host, and is not taken back: a post for an archive that the host keeps, and for a while a
 * part of a message. */
static bool waits(const Handover *own, const Task *task)
{
    const json_t *meta = entry_meta(task->outcome->parent);
    if (strcmp(task->queue, ARCHIVE_QUEUE) != 0)
        return strcmp(task->queue, DEFRAGMENT_QUEUE) == 0 &&
               clock_now() - meta_integer(meta, KEY_HANDED_AT, 0) <= PART_WAITS;
    size_t at;
    json_t *name;
    json_array_foreach(json_object_get(meta, KEY_ARCHIVERS), at, name) {
        const char *archiver = json_string_value(name);
        const char *keeper = archiver ? archive_place_host(runner_config(own->runner), archiver) : NULL;
        if (keeper && strcmp(keeper, task->to) == 0)
            return true;
    }
    return false;
}

/* Take back the entries that were not sent, or let them wait. */
static void judge(Handover *own, Task *task)
{
    Entry *entry = task->outcome->parent;
    if (!task->to)
        return;
    if (task->shipment && task->shipment->sent) {
        g_hash_table_remove(own->waiting, task->to);
        log_info("%s list=%s queue=" HANDOVER_QUEUE " to=%s result=handed-over host=%s", entry_trace(entry),
                 entry_list(entry), task->queue, task->to);
        return;
    }
    const char *why = task->shipment  ? task->shipment->why
                      : task->address ? "it did not answer lately"
                      : task->known   ? "it does not live, or has no door"
                                      : "it was removed";
    why = why ? why : "it was not sent";
    task->settle = !waits(own, task);
    log_warn("%s list=%s queue=" HANDOVER_QUEUE " to=%s result=%s host=%s (%s)", entry_trace(entry), entry_list(entry),
             task->queue, task->settle ? "refused" : "waits", task->to, why);
    if (task->settle)
        return;

    HostWait *wait = g_hash_table_lookup(own->waiting, task->to);
    if (!wait) {
        wait = g_new0(HostWait, 1);
        wait->since = clock_now();
        g_hash_table_insert(own->waiting, g_strdup(task->to), wait);
    }
    g_free(wait->why);
    wait->why = g_strdup(why);
    wait->at = clock_monotonic();
    int64_t now = clock_now(), age = now - meta_integer(entry_meta(entry), KEY_HANDED_AT, now);
    runner_wait(own->runner, task->outcome, now + CLAMP(age / 8, RETRY, RETRY_MAX));
}

/* ---- noting ---- */

/* A number that no other copy of the entry has. */
static int64_t copy_number(const Entry *entry)
{
    const uint8_t *hash = entry_name(entry)->hash;
    int64_t number = 0;
    for (unsigned at = HASH_SIZE - 7; at < HASH_SIZE; at++) /* the first bytes may be those of a shard key */
        number = number << 8 | hash[at];
    return number;
}

/* Note in the database which copy of the entry is worked, or learn that another was. */
static bool settle(Handover *own, Task *task, GError **error)
{
    Entry *entry = task->outcome->parent;
    const json_t *meta = entry_meta(entry);
    g_autofree char *effect = parcel_effect(task->name);
    int64_t mine = copy_number(entry), noted = 0, handed_at = meta_integer(meta, KEY_HANDED_AT, 0);
    bool before;
    if (!store_find_effect(own->seat.store, effect, &before, &noted, error))
        return false;
    /* Notes are dropped in time: of a copy that has been here for long, nobody knows whether another was worked. */
    task->old = !before && handed_at > 0 && clock_now() - handed_at > own->remember / 2;
    task->ours = !task->old && (!before || noted == mine);
    if (before || task->old)
        return true;
    const HandedEntry handed = parcel_handed(meta, effect, own->spool);
    return store_record_effect(own->seat.store, effect, mine, error) &&
           (meta_string(meta, KEY_HANDED, NULL) ? lost_spool_note(own->seat.store, &handed, error)
                                                : lost_spool_note_back(own->seat.store, effect, error));
}

/* All notes of the batch are one transaction, which locks the lists of its entries. */
static bool settle_all(Handover *own, GError **error)
{
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    for (guint at = 0; at < own->tasks->len; at++) {
        const Task *task = own->tasks->pdata[at];
        const char *list = entry_list(task->outcome->parent);
        if (task->settle && !g_ptr_array_find_with_equal_func(lists, list, g_str_equal, NULL))
            g_ptr_array_add(lists, (gpointer)list);
    }
    if (lists->len == 0)
        return true;
    if (!store_begin_lists(own->seat.store, lists, error))
        return false;
    for (guint at = 0; at < own->tasks->len; at++) {
        Task *task = own->tasks->pdata[at];
        if (task->settle && !settle(own, task, error)) {
            store_rollback(own->seat.store);
            return false;
        }
    }
    return store_commit(own->seat.store, error);
}

static bool end(Runner *runner, GError **error)
{
    static const char *const ours[] = {KEY_HAND_TO, KEY_HAND_QUEUE, KEY_HANDED, KEY_HANDED_AT};
    Handover *own = runner_data(runner);
    g_autoptr(GPtrArray) shipments = g_ptr_array_new_with_free_func((GDestroyNotify)shipment_free);
    if (!send_all(own, shipments, error))
        return false;
    for (guint at = 0; at < own->tasks->len; at++)
        judge(own, own->tasks->pdata[at]);
    tell(own);
    if (!settle_all(own, error))
        return false;
    for (guint at = 0; at < own->tasks->len; at++) {
        const Task *task = own->tasks->pdata[at];
        Entry *entry = task->outcome->parent;
        if (task->old) {
            Draft *draft = outcome_shunt(task->outcome, HANDOVER_QUEUE,
                                         "Another host handed this over so long ago that it may have been worked "
                                         "elsewhere: put it back if its recipients do not have it.");
            json_object_del(draft_meta(draft), KEY_HANDED_AT); /* when a person puts it back, it counts as new */
            continue;
        }
        if (!task->settle)
            continue;
        if (task->ours) {
            Draft *draft = draft_from_entry(task->queue, entry);
            for (size_t key = 0; key < G_N_ELEMENTS(ours); key++)
                json_object_del(draft_meta(draft), ours[key]);
            outcome_add(task->outcome, draft);
        }
        const char *result = task->ours ? (task->to ? "taken-back" : "accepted")
                                        : (task->to ? "handed-over" : "repeated");
        log_info("%s list=%s queue=" HANDOVER_QUEUE " to=%s result=%s entry=%s", entry_trace(entry), entry_list(entry),
                 task->queue, result, task->name);
    }
    return true;
}

static const RunnerSpec spec = {
    .name = HANDOVER_QUEUE,
    .longest_wait = RUNNER_WAIT_MAX,
    .queue = HANDOVER_QUEUE,
    .durable_claim = true,
    .start = start,
    .begin_batch = begin,
    .handle = handle,
    .end_batch = end,
    .idle = idle,
    .stop = stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
