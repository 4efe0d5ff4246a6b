/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The door: takes mail for the lists from an MTA by LMTP and puts it into
 * the queues. 250 is said when the entry is on the disk; a fault of our own is
 * a 4xx, never a 5xx.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "lists/hosts/this_host.h"
#include "lists/keys.h"
#include "net/lmtp_server.h"
#include "runners/lmtp/brake.h"
#include "runners/lmtp/entries.h"
#include "runners/lmtp/fragments.h"
#include "runners/server/listener.h"
#include "switchboard/intake.h"
#include "switchboard/spool.h"

/* ---- messages on their way to the disk ---- */

/*
 * The messages of all sessions are stored in groups, by threads that share the syncs among a group (group commit). When
 * a thread's group is on the disk, it takes all jobs that are ready by then as its next group, and never waits for
 * more. Meanwhile the loop receives further messages. The loop hands over the jobs of a turn at the turn's end, so that
 * they can be one group.
 *
 * A job belongs to the Commit until commit_take() returns it. Only run() is called by the threads;
 * all other functions are the loop's.
 */
typedef struct CommitJob {
    Intake *entries; /* the client's; error is set for those that failed */
    size_t count;
    void *data;
} CommitJob;

typedef struct Commit Commit;

/* While some groups are on their way to the disk, the next is made ready; the
 * journal takes them into one commit where it can (doc/performance.md). */
#define COMMITTERS 4

typedef struct Committer {
    Commit *commit;
    Spool *spool; /* the thread's alone */
    GThread *thread;
} Committer;

struct Commit {
    Committer committers[COMMITTERS];
    size_t limit;
    size_t pending;   /* jobs that were submitted and not taken back; the loop's alone, as this: */
    GQueue submitted; /* not yet given to the threads */
    int fd;           /* readable when there are jobs to take back */
    GMutex lock;      /* of what follows */
    GCond more;
    GQueue ready, done; /* of CommitJob */
    bool ending;
};

/* A thread takes what is ready, up to the limit, and stores it as one intake, until the end. */
static gpointer run(gpointer data)
{
    Committer *committer = data;
    Commit *commit = committer->commit;
    GQueue group = G_QUEUE_INIT;
    for (;;) {
        size_t count = 0, at = 0;
        CommitJob *job;
        g_mutex_lock(&commit->lock);
        while (g_queue_is_empty(&commit->ready) && !commit->ending)
            g_cond_wait(&commit->more, &commit->lock);
        while ((job = g_queue_peek_head(&commit->ready)) && (count == 0 || count + job->count <= commit->limit)) {
            count += job->count;
            g_queue_push_tail_link(&group, g_queue_pop_head_link(&commit->ready));
        }
        if (job)
            g_cond_signal(&commit->more); /* another may take the rest */
        g_mutex_unlock(&commit->lock);
        if (count == 0)
            return NULL;

        g_autofree Intake *entries = g_new(Intake, count);
        for (GList *link = group.head; link; link = link->next) {
            job = link->data;
            memcpy(entries + at, job->entries, job->count * sizeof *entries);
            at += job->count;
        }
        intake_store(committer->spool, entries, count, false);
        at = 0;
        for (GList *link = group.head; link; link = link->next) {
            job = link->data;
            memcpy(job->entries, entries + at, job->count * sizeof *entries);
            at += job->count;
        }

        g_mutex_lock(&commit->lock);
        for (GList *link; (link = g_queue_pop_head_link(&group)) != NULL;)
            g_queue_push_tail_link(&commit->done, link);
        g_mutex_unlock(&commit->lock);
        if (write(commit->fd, &(uint64_t){1}, sizeof(uint64_t)) < 0)
            log_panic("eventfd: %s", g_strerror(errno));
    }
}

/* Call it after the last job was taken back. */
static void commit_free(Commit *commit)
{
    if (!commit)
        return;
    g_assert(commit->pending == 0);
    g_mutex_lock(&commit->lock);
    commit->ending = true;
    g_cond_broadcast(&commit->more);
    g_mutex_unlock(&commit->lock);
    for (int i = 0; i < COMMITTERS; i++) {
        if (commit->committers[i].thread)
            g_thread_join(commit->committers[i].thread);
        spool_free(commit->committers[i].spool);
    }
    close(commit->fd);
    g_mutex_clear(&commit->lock);
    g_cond_clear(&commit->more);
    g_free(commit);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Commit, commit_free)

/* Make a Commit. directory is that of the spool, limit the most entries in a group (one job may exceed it). */
static Commit *commit_new(const char *directory, size_t limit, GError **error)
{
    g_autoptr(Commit) commit = g_new0(Commit, 1);
    commit->limit = limit;
    commit->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (commit->fd < 0)
        log_panic("eventfd: %s", g_strerror(errno));
    g_mutex_init(&commit->lock);
    g_cond_init(&commit->more);
    g_queue_init(&commit->submitted);
    g_queue_init(&commit->ready);
    g_queue_init(&commit->done);
    for (int i = 0; i < COMMITTERS; i++) {
        Committer *committer = &commit->committers[i];
        committer->commit = commit;
        committer->spool = spool_open(directory, error);
        if (!committer->spool)
            return NULL;
        committer->thread = g_thread_new("commit", run, committer);
    }
    return g_steal_pointer(&commit);
}

/* Take back one job that is stored or has failed. NULL: there are no more, and the descriptor is no longer readable. */
static CommitJob *commit_take(Commit *commit)
{
    g_mutex_lock(&commit->lock);
    CommitJob *job = g_queue_pop_head(&commit->done);
    uint64_t drained;
    if (!job && read(commit->fd, &drained, sizeof drained) < 0 && errno != EAGAIN)
        log_panic("eventfd: %s", g_strerror(errno));
    g_mutex_unlock(&commit->lock);
    if (job)
        commit->pending--;
    return job;
}

/* ---- room on the disk ---- */

/*
 * The free space of the spool is watched: is there room for a message? The log and the master are told while mail is
 * refused because min_free is not left. Arriving mail asks for a look. A timer makes looks as well, so that `listrunner
 * status` knows before mail comes and after it has stopped coming.
 */
typedef struct Space Space;

#define TRUST (CLOCK_SECOND / 100)
#define LOOK_INTERVAL (10 * CLOCK_SECOND)
#define LOW_INTERVAL CLOCK_SECOND /* while mail is refused */

struct Space {
    char *directory;
    int fd;               /* of the directory */
    uint64_t least, free; /* bytes */
    int64_t looked_at;    /* monotonic; 0: never */
    int64_t low_since;    /* wall clock; 0: it is not low */
    struct event *timer;
};

/* Find out how much is free, and tell when there begins or ends to be too little. False: it cannot be found out. */
static bool look(Space *space)
{
    int64_t now = clock_monotonic();
    if (space->looked_at != 0 && now - space->looked_at <= TRUST)
        return true;
    g_autoptr(GError) error = NULL;
    if (!fs_free_space(space->fd, &space->free, &error)) {
        log_error("spool: %s", error->message);
        return false;
    }
    space->looked_at = now;
    bool low = space->free <= space->least;
    if (low == (space->low_since != 0))
        return true;
    if (!low) {
        space->low_since = 0;
        log_info("the spool has room again, and mail is taken");
        child_notice(CHILD_NOTICE_SPACE, NULL);
        return true;
    }
    space->low_since = clock_now();
    g_autofree char *since = clock_text(space->low_since);
    g_autofree char *text = g_strdup_printf("mail is refused for now (452) since %s: the file system of %s has %" PRIu64
                                            " KiB left, and [spool] min_free is %" PRIu64 " KiB",
                                            since, space->directory, space->free / 1024, space->least / 1024);
    log_warn("%s", text);
    child_notice(CHILD_NOTICE_SPACE, text);
    return true;
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Space *space = data;
    look(space);
    int64_t interval = space->low_since != 0 ? LOW_INTERVAL : LOOK_INTERVAL;
    event_add(space->timer, &(struct timeval){interval / CLOCK_SECOND, 0});
}

/* Begin to watch. directory is that of the spool, least the bytes that are to stay free, [spool] min_free. FAIL_LATER:
 * the directory cannot be opened. */
static Space *space_new(struct event_base *base, const char *directory, uint64_t least, GError **error)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        fail_errno(error, FAIL_LATER, "open %s", directory);
        return NULL;
    }
    Space *space = g_new0(Space, 1);
    *space = (Space){.directory = g_strdup(directory), .fd = fd, .least = least};
    space->timer = evtimer_new(base, on_timer, space);
    event_add(space->timer, &(struct timeval){0, 0});
    return space;
}

static void space_free(Space *space)
{
    event_free(space->timer);
    close(space->fd);
    g_free(space->directory);
    g_free(space);
}

/* Return true when so many bytes may be written, and least stays free. A look is trusted for 10 ms. */
static bool space_has(Space *space, uint64_t wanted)
{
    return look(space) && space->free >= space->least + wanted;
}

/* ---- the door ---- */

#define ERRORS_LIMIT 20
#define ENTRY_MEMORY 2304 /* bytes of an entry that is being stored, besides its texts and the message (measured) */
#define DRAINED "451 4.3.2 This host takes no mail now; try another one"
#define UNKNOWN "550 5.1.1 There is no such list here"
#define NOT_HERE "550 5.1.1 This list takes no mail at this address"
#define NO_SPACE "452 4.3.1 There is too little space on the disk; try again later"

typedef struct Lmtp {
    Listener *listener;
    LmtpServer *server;
    Lists *lists;
    Fragments *fragments;
    EntriesSite site;
    Commit *commit;
    Brake *brake;
    struct timeval brake_delay;
    struct event *committed;
    struct event *turn_end; /* comes after all that this turn of the loop has to do */
    Space *space;
    bool many, draining; /* there are other hosts; this one is being drained */
    int64_t asked_at;    /* when draining was read */
} Lmtp;

/* One client. Counted: a message that is being stored outlives the
 * connection. */
typedef struct LmtpClient {
    Connection *connection; /* NULL once it is closed */
    LmtpSession *session;
    char *peer;
    struct LmtpJob *held;       /* stored, and its reply is held back; NULL: none is */
    struct event *release;  /* of held */
    bool leaving;           /* the session ends as soon as it is answered */
} LmtpClient;

typedef struct LmtpJob {
    CommitJob commit;
    LmtpClient *client;
    LmtpTransaction *transaction;
    Entries *entries;
} LmtpJob;

static void client_clear(gpointer data)
{
    LmtpClient *client = data;
    lmtp_session_free(client->session);
    event_free(client->release);
    g_free(client->peer);
}

static void client_unref(LmtpClient *client)
{
    g_rc_box_release_full(client, client_clear);
}

/* Tell whether there is space for more. Mail in memory counts, since it will be on the disk soon. */
static bool has_space(Lmtp *lmtp, uint64_t wanted)
{
    return space_has(lmtp->space, lmtp_server_memory(lmtp->server) + wanted);
}

static const char *on_mail(LmtpSession *session, const char *sender, uint64_t size, void *data)
{
    Lmtp *lmtp = data;
    int64_t now = clock_monotonic();
    (void)session;
    (void)sender;
    /* Does somebody want this host, one of several, to take no more mail? */
    if (lmtp->many && now - lmtp->asked_at > CLOCK_SECOND) {
        g_auto(ThisHost) host = {0};
        lmtp->draining = this_host_read(lmtp->space->fd, &host, NULL) && host.draining;
        lmtp->asked_at = now;
    }
    return lmtp->draining ? DRAINED : has_space(lmtp, size) ? NULL : NO_SPACE;
}

static size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

/* Bytes of memory that a recipient holds until it is answered: what its address was read into, its entry, whose
 * metadata names list, sender, recipient, detail and peer, and the address by which a second RCPT of it is found. */
static size_t memory_for(const LmtpSession *session, const LmtpRecipient *recipient)
{
    const LmtpClient *client = lmtp_session_data(session);
    const ListAddress *address = recipient->data;
    size_t parts = length_of(address->local) + length_of(address->domain) + 2 * length_of(address->list_id) +
                   2 * length_of(address->detail);
    size_t metadata = strlen(lmtp_session_transaction(session)->sender) + 2 * strlen(recipient->address) +
                      strlen(client->peer) + strlen(lmtp_session_client(session));
    return ENTRY_MEMORY + parts + metadata;
}

/* Why an address that was found takes no mail, or not such a large one as was announced; NULL: it does. */
static const char *refuse_found(Lmtp *lmtp, const LmtpSession *session, const ListAddress *address)
{
    uint64_t most, announced = lmtp_session_announced(session);
    g_autoptr(GError) error = NULL;
    if (!lists_takes(lmtp->lists, address))
        return NOT_HERE;
    if (announced == 0)
        return NULL;
    if (!lists_size_limit(lmtp->lists, address, &most, &error))
        return ENTRIES_NO_DATABASE;
    return most > 0 && announced > most ? ENTRIES_TOO_LARGE : NULL;
}

static const char *on_recipient(LmtpSession *session, LmtpRecipient *recipient, void *data)
{
    Lmtp *lmtp = data;
    const LmtpClient *client = lmtp_session_data(session);
    g_autoptr(GError) error = NULL;
    lists_keep(lmtp->lists);
    ListAddress *found = recipient->data = lists_find(lmtp->lists, recipient->address, &error);
    if (found && found->takes_reports && !*lmtp_session_transaction(session)->sender)
        found->to = LIST_ADDRESS_BOUNCES;
    const char *refusal = recipient->data ? refuse_found(lmtp, session, recipient->data) : NULL;
    if (recipient->data && !refusal)
        recipient->size = memory_for(session, recipient);
    else if (recipient->data)
        g_clear_pointer(&recipient->data, list_address_free);
    if (recipient->data || refusal)
        return refusal;
    bool unknown = g_error_matches(error, FAIL, FAIL_MISSING);
    log_info("- to=<%s> from=<%s> peer=%s result=%s", recipient->address, lmtp_session_transaction(session)->sender,
             client->peer, unknown ? "unknown" : "deferred");
    return unknown ? UNKNOWN : ENTRIES_NO_DATABASE;
}

static const char *on_content(LmtpSession *session, void *data)
{
    (void)session;
    return has_space(data, 0) ? NULL : NO_SPACE;
}

/* Logs what became of an entry, and returns the reply. */
static char *report(Lmtp *lmtp, const Intake *entry)
{
    json_t *meta = draft_meta(entry->draft);
    const char *trace = meta_string(meta, META_TRACE, "-");
    if (entry->error) {
        log_error("%s list=%s queue=lmtp to=%s result=deferred: %s", trace, meta_string(meta, META_LIST, ""),
                  draft_queue(entry->draft), entry->error->message);
        return g_strdup(has_space(lmtp, 0) ? "451 4.3.0 The message could not be stored; try again later" : NO_SPACE);
    }
    log_info("%s list=%s queue=lmtp to=%s result=stored size=%zu from=<%s> message-id=<%s> peer=%s", trace,
             meta_string(meta, META_LIST, ""), draft_queue(entry->draft), draft_message_length(entry->draft),
             meta_string(meta, KEY_SENDER, ""), meta_string(meta, KEY_MESSAGE_ID, ""), meta_string(meta, KEY_PEER, ""));
    return g_strdup_printf("250 2.0.0 Stored as %s", trace);
}

static void refuse(const LmtpClient *client, LmtpTransaction *transaction, guint place, const char *reply)
{
    LmtpRecipient *recipient = lmtp_recipient(transaction, place);
    log_info("- to=<%s> from=<%s> peer=%s result=refused (%s)", recipient->address, transaction->sender, client->peer,
             reply);
    recipient->reply = g_strdup(reply);
}

/* Replies for each recipient. The job is gone then. */
static void answer(Lmtp *lmtp, LmtpJob *job)
{
    LmtpClient *client = job->client;
    const Entries *entries = job->entries;
    g_autoptr(GPtrArray) replies = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < entries->count; i++)
        g_ptr_array_add(replies, report(lmtp, &entries->group[i]));
    for (guint i = 0; i < job->transaction->recipients->len; i++) {
        if (entries->refusals[i])
            refuse(client, job->transaction, i, entries->refusals[i]);
        else
            lmtp_recipient(job->transaction, i)->reply = g_strdup(replies->pdata[entries->of[i]]);
    }
    entries_free(job->entries);
    lmtp_session_answer(client->session, job->transaction);
    listener_progress(lmtp->listener);
    client_unref(client);
    g_free(job);
}

static void on_message(LmtpSession *session, LmtpTransaction *transaction, void *data)
{
    Lmtp *lmtp = data;
    LmtpClient *client = lmtp_session_data(session);
    /* Each recipient's entry has the message; one of them is in the server's memory, and counted there. */
    if (!has_space(lmtp, (transaction->recipients->len - 1) * (uint64_t)g_bytes_get_size(transaction->message))) {
        for (guint i = 0; i < transaction->recipients->len; i++)
            refuse(client, transaction, i, NO_SPACE);
        lmtp_session_answer(client->session, transaction);
        return;
    }
    const char *name = lmtp_session_client(session);
    g_autofree char *peer = g_strdup_printf("%s %s", client->peer, name);
    LmtpJob *job = g_new0(LmtpJob, 1);
    job->client = g_rc_box_acquire(client);
    job->transaction = transaction;
    lists_keep(lmtp->lists);
    job->entries = entries_new(transaction, peer, &lmtp->site);
    job->commit = (CommitJob){.entries = job->entries->group, .count = job->entries->count, .data = job};
    if (job->entries->count == 0) {
        answer(lmtp, job); /* nobody takes it */
        return;
    }
    lmtp->commit->pending++;
    g_queue_push_tail(&lmtp->commit->submitted, &job->commit);
    event_active(lmtp->turn_end, 0, 0);
}

/* Hand to the threads what came in this turn. */
static void on_turn_end(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Commit *commit = ((Lmtp *)data)->commit;
    GList *link;
    g_mutex_lock(&commit->lock);
    while ((link = g_queue_pop_head_link(&commit->submitted)))
        g_queue_push_tail_link(&commit->ready, link);
    g_cond_signal(&commit->more);
    g_mutex_unlock(&commit->lock);
}

static void free_recipient(gpointer data)
{
    list_address_free(data);
}

static const LmtpHandler handler = {on_mail, on_recipient, on_content, on_message, free_recipient};

static void finish(Lmtp *lmtp, LmtpJob *job)
{
    LmtpClient *client = g_rc_box_acquire(job->client);
    answer(lmtp, job);
    if (client->connection) {
        if (lmtp_session_finished(client->session))
            connection_finish(client->connection);
        connection_resume(client->connection); /* may close it */
    }
    client_unref(client);
}

/* Whether its replies are to wait because intake is slowed. A session that leaves, or is gone, waits for nothing. */
static bool is_held(Lmtp *lmtp, const LmtpJob *job)
{
    bool held = false;
    for (size_t i = 0; i < job->entries->count; i++)
        held |= !job->entries->group[i].error && brake_holds(lmtp->brake, draft_queue(job->entries->group[i].draft));
    return held && job->client->connection && !job->client->leaving;
}

static void on_release(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    LmtpClient *client = data;
    finish(listener_data(connection_listener(client->connection)), g_steal_pointer(&client->held));
}

/* Write the replies that are held back, if any, before their time. Whoever calls sees to it that they are sent. */
static void answer_held(LmtpClient *client, Listener *listener)
{
    if (!client->held)
        return;
    event_del(client->release);
    answer(listener_data(listener), g_steal_pointer(&client->held));
}

static void on_committed(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Lmtp *lmtp = data;
    CommitJob *taken;
    while ((taken = commit_take(lmtp->commit))) {
        LmtpJob *job = taken->data;
        if (is_held(lmtp, job)) {
            job->client->held = job;
            event_add(job->client->release, &lmtp->brake_delay);
        } else {
            finish(lmtp, job);
        }
    }
    listener_settled(lmtp->listener);
}

/* The skeleton calls these functions. */

static GString *lmtp_open(Connection *connection)
{
    Lmtp *lmtp = listener_data(connection_listener(connection));
    LmtpClient *client = g_rc_box_new0(LmtpClient);
    client->connection = connection;
    client->peer = g_strdup(connection_peer(connection));
    client->session = lmtp_session_new(lmtp->server, client);
    client->release = evtimer_new(listener_base(lmtp->listener), on_release, client);
    connection_set_data(connection, client);
    return lmtp_session_output(client->session);
}

static size_t lmtp_receive(Connection *connection, const char *octets, size_t length)
{
    LmtpClient *client = connection_data(connection);
    size_t used = lmtp_session_receive(client->session, octets, length);
    if (lmtp_session_finished(client->session))
        connection_finish(connection);
    return used;
}

static bool lmtp_waiting(Connection *connection)
{
    const LmtpClient *client = connection_data(connection);
    return lmtp_session_waiting(client->session);
}

static void lmtp_expire(Connection *connection, const char *why)
{
    LmtpClient *client = connection_data(connection);
    client->leaving = true;
    answer_held(client, connection_listener(connection));
    lmtp_session_expire(client->session, why);
    if (lmtp_session_finished(client->session))
        connection_finish(connection);
}

static void lmtp_leave(Connection *connection)
{
    LmtpClient *client = connection_data(connection);
    client->leaving = true;
    answer_held(client, connection_listener(connection));
    lmtp_session_stop(client->session);
    if (lmtp_session_finished(client->session))
        connection_finish(connection);
}

static void lmtp_close(Connection *connection)
{
    LmtpClient *client = connection_data(connection);
    lmtp_session_close(client->session);
    answer_held(client, connection_listener(connection));
    client->connection = NULL;
    client_unref(client);
}

static size_t lmtp_pending(Listener *listener)
{
    return ((Lmtp *)listener_data(listener))->commit->pending;
}

static bool lmtp_start(Listener *listener, GError **error)
{
    const Config *config = listener_config(listener);
    LmtpLimits limits = {
        .recipients = (size_t)config_integer(config, "lmtp", "max_recipients"),
        .message_size = config_size(config, "lmtp", "max_message_size"),
        .line_length = (size_t)config_integer(config, "lmtp", "line_length"),
        .memory = config_size(config, "lmtp", "memory_limit"),
        .errors = ERRORS_LIMIT,
    };
    if (limits.memory < 2 * limits.message_size)
        return fail(error, FAIL_CONFIG, "[lmtp] memory_limit is less than twice max_message_size");
    const char *directory = config_string(config, "spool", "directory");
    g_autoptr(Commit) commit = commit_new(directory, (size_t)config_integer(config, "spool", "batch_limit"), error);
    if (!commit)
        return false;
    Space *space = space_new(listener_base(listener), directory, config_size(config, "spool", "min_free"), error);
    if (!space)
        return false;
    Lmtp *lmtp = g_new0(Lmtp, 1);
    lmtp->listener = listener;
    lmtp->space = space;
    lmtp->many = this_host_is_one_of_many(config);
    lmtp->server = lmtp_server_new(config_string(config, "site", "hostname"), &limits, &handler, lmtp);
    lmtp->lists = lists_new(config);
    lmtp->fragments = fragments_new(config, lmtp->lists);
    lmtp->site = (EntriesSite){.hostname = config_string(config, "site", "hostname"),
                               .site_owner = config_string(config, "site", "site_owner"),
                               .lists = lmtp->lists, .fragments = lmtp->fragments};
    lmtp->commit = g_steal_pointer(&commit);
    int64_t delay = config_duration(config, "lmtp", "in_flow_delay");
    lmtp->brake_delay = (struct timeval){delay / CLOCK_SECOND, delay % CLOCK_SECOND};
    lmtp->brake = brake_new(listener_base(listener), directory,
                            (uint64_t)config_integer(config, "lmtp", "in_flow_limit"), delay);
    lmtp->committed = event_new(listener_base(listener), lmtp->commit->fd, EV_READ | EV_PERSIST, on_committed, lmtp);
    event_add(lmtp->committed, NULL);
    lmtp->turn_end = event_new(listener_base(listener), -1, 0, on_turn_end, lmtp);
    listener_set_data(listener, lmtp);
    return true;
}

static void lmtp_stop(Listener *listener)
{
    Lmtp *lmtp = listener_data(listener);
    event_free(lmtp->committed);
    event_free(lmtp->turn_end);
    commit_free(lmtp->commit);
    brake_free(lmtp->brake);
    fragments_free(lmtp->fragments);
    lists_free(lmtp->lists);
    lmtp_server_free(lmtp->server);
    space_free(lmtp->space);
    g_free(lmtp);
}

static const ListenerSpec spec = {
    .name = "lmtp",
    .section = "lmtp",
    .busy = "421 4.3.2 All sessions of this server are in use; try again later",
    .start = lmtp_start,
    .open = lmtp_open,
    .receive = lmtp_receive,
    .waiting = lmtp_waiting,
    .expire = lmtp_expire,
    .leave = lmtp_leave,
    .close = lmtp_close,
    .pending = lmtp_pending,
    .stop = lmtp_stop,
};

int main(int argc, char **argv)
{
    return listener_main(&spec, argc, argv);
}
