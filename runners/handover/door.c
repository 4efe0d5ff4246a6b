/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The door for the other hosts of the site: takes entries that they hand over (parcel.h) and puts them into the queue
 * handover, where the runner of that name accepts each once. 250 is said when the entry is on the disk, and the
 * database knows that it is here, so that it can be told when the disk is lost.
 *
 * TLS is from the first byte on. Who has no certificate of the site's authority is refused in the handshake; who has
 * one, but in a name that is no host's, at MAIL.
 */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "lists/hosts/seat.h"
#include "lists/hosts/this_host.h"
#include "net/lmtp_server.h"
#include "runners/handover/parcel.h"
#include "runners/server/listener.h"
#include "switchboard/intake.h"

#define ERRORS_LIMIT 20
#define KNOWN_FOR (5 * CLOCK_SECOND) /* how long the table of hosts is trusted */
#define PAUSE_MIN CLOCK_SECOND       /* how long the database is not asked again when it could not be used */
#define PAUSE_MAX (8 * CLOCK_SECOND)
#define GROWTH (UINT64_C(1) << 20) /* bytes by which a post may grow on its way, with its metadata */
#define RECIPIENT_OCTETS 512       /* of a recipient, with what its copy has at the holes */
#define DRAINED "451 4.3.2 This host takes no work now"
#define STRANGER "550 5.7.1 Your certificate is in the name of no host of this site"
#define NO_DATABASE "451 4.3.0 The database cannot be used now; try again later"
#define NO_SPACE "452 4.3.1 There is too little space on the disk; try again later"

typedef struct HostDoor {
    Listener *listener;
    LmtpServer *server;
    TlsDoor *tls;
    Spool *spool;
    Seat seat;        /* it comes back */
    GPtrArray *hosts; /* of Host; NULL: not known */
    int64_t asked_at; /* monotonic: for hosts */
    int64_t pause;    /* after asked_at, while the database cannot be used; 0: it can */
    uint64_t min_free;
} HostDoor;

typedef struct DoorClient {
    Connection *connection;
    LmtpSession *session;
    char *name; /* the host's, as of the last MAIL; NULL: it is none */
    bool spoke; /* it came through the handshake */
} DoorClient;

/* ---- who is there ---- */

/* Whether the hosts are known; the database is asked when what it said is too old. Other hosts try again soon, so a
 * fault is told once for some of their tries. */
static bool know_hosts(HostDoor *door)
{
    g_autoptr(GError) error = NULL;
    int64_t age = clock_monotonic() - door->asked_at;
    if (door->pause > 0 ? age < door->pause : door->hosts && age < KNOWN_FOR)
        return door->hosts != NULL;
    g_clear_pointer(&door->hosts, g_ptr_array_unref);
    if (seat_keep(&door->seat, &error))
        door->hosts = host_all(door->seat.store, &error);
    door->asked_at = clock_monotonic();
    door->pause = door->hosts ? 0 : CLAMP(2 * door->pause, PAUSE_MIN, PAUSE_MAX);
    if (error)
        log_warn("nothing is taken from other hosts: %s", error->message);
    return door->hosts != NULL;
}

static bool is_host(const GPtrArray *hosts, const char *name)
{
    for (guint at = 0; at < hosts->len; at++)
        if (g_ascii_strcasecmp(((const Host *)hosts->pdata[at])->name, name) == 0)
            return true;
    return false;
}

/* Why the client may hand over nothing; NULL: it is a host of this site. */
static const char *recognise(HostDoor *door, DoorClient *client)
{
    g_auto(GStrv) names = tls_session_names(connection_tls(client->connection));
    g_clear_pointer(&client->name, g_free); /* it may have been removed since its last entry */
    if (!know_hosts(door))
        return NO_DATABASE;
    for (char **name = names; name && *name && !client->name; name++)
        if (is_host(door->hosts, *name))
            client->name = g_strdup(*name);
    if (client->name)
        return NULL;
    g_autofree char *all = names ? g_strjoinv(", ", names) : g_strdup("");
    log_warn("refused a client at the door for hosts: its certificate is in the name of %s, which is no host of this "
             "site; peer=%s",
             *all ? all : "nobody", connection_peer(client->connection));
    return STRANGER;
}

/* ---- LMTP ---- */

static bool has_space(const HostDoor *door, uint64_t wanted)
{
    uint64_t free_octets;
    g_autoptr(GError) error = NULL;
    if (!fs_free_space(spool_fd(door->spool), &free_octets, &error)) {
        log_error("spool: %s", error->message);
        return false;
    }
    return free_octets >= door->min_free + lmtp_server_memory(door->server) + wanted;
}

static const char *on_mail(LmtpSession *session, const char *sender, uint64_t size, void *data)
{
    (void)sender;
    HostDoor *door = data;
    g_auto(ThisHost) said = {0};
    const char *refusal = recognise(door, lmtp_session_data(session));
    if (refusal)
        return refusal;
    if (this_host_read(spool_fd(door->spool), &said, NULL) && said.draining)
        return DRAINED;
    return has_space(door, size) ? NULL : NO_SPACE;
}

static const char *on_recipient(LmtpSession *session, LmtpRecipient *recipient, void *data)
{
    (void)session, (void)data;
    recipient->size = sizeof *recipient + strlen(recipient->address);
    return NULL;
}

static const char *on_content(LmtpSession *session, void *data)
{
    (void)session;
    return has_space(data, 0) ? NULL : NO_SPACE;
}

static bool note(HostDoor *door, const json_t *meta, GError **error)
{
    const char *spool = spool_id(door->spool, error);
    if (!spool || !seat_keep(&door->seat, error))
        return false;
    g_autofree char *effect = parcel_effect(meta_string(meta, KEY_HANDED, ""));
    const HandedEntry handed = parcel_handed(meta, effect, spool);
    return lost_spool_note_taken(door->seat.store, &handed, error);
}

/* Store the entry, and note it. One that is stored and not noted stays: it is handed over again, or worked by the host
 * that has it, and which copy is worked is known by its effect. Return the reply, g_free(). */
static char *take(HostDoor *door, const DoorClient *client, const LmtpTransaction *transaction)
{
    Intake intake = {0};
    g_autoptr(GError) error = NULL;
    g_autoptr(Draft) draft = parcel_unpack(transaction->message, &error);
    if (!draft) {
        log_warn("refused an entry of the host %s: %s", client->name, error->message);
        return g_strdup_printf("554 5.6.0 %s", error->message);
    }
    intake.draft = draft;
    if (!intake_store(door->spool, &intake, 1, false)) {
        log_error("an entry of the host %s is not stored: %s", client->name, intake.error->message);
        g_clear_error(&intake.error);
        return g_strdup(has_space(door, 0) ? "451 4.3.0 The entry could not be stored; try again later" : NO_SPACE);
    }
    json_t *meta = draft_meta(draft);
    if (!note(door, meta, &error)) {
        log_warn("%s list=%s queue=door: an entry of the host %s is stored, and not noted: %s",
                 meta_string(meta, META_TRACE, "-"), meta_string(meta, META_LIST, ""), client->name, error->message);
        return g_strdup(NO_DATABASE);
    }
    log_info("%s list=%s queue=door to=" HANDOVER_QUEUE " result=stored size=%zu host=%s",
             meta_string(meta, META_TRACE, "-"), meta_string(meta, META_LIST, ""), draft_message_length(draft),
             client->name);
    return g_strdup_printf("250 2.0.0 Stored as %s", meta_string(meta, META_TRACE, "-"));
}

static void on_message(LmtpSession *session, LmtpTransaction *transaction, void *data)
{
    HostDoor *door = data;
    g_autofree char *reply = take(door, lmtp_session_data(session), transaction);
    for (guint at = 0; at < transaction->recipients->len; at++)
        lmtp_recipient(transaction, at)->reply = g_strdup(reply);
    lmtp_session_answer(session, transaction);
}

static const LmtpHandler handler = {on_mail, on_recipient, on_content, on_message, NULL};

/* ---- what the skeleton calls ---- */

static GString *door_open(Connection *connection)
{
    HostDoor *door = listener_data(connection_listener(connection));
    DoorClient *client = g_new0(DoorClient, 1);
    client->connection = connection;
    client->session = lmtp_session_new(door->server, client);
    connection_set_data(connection, client);
    return lmtp_session_output(client->session);
}

static TlsSession *door_secure(Listener *listener, int fd)
{
    return tls_session_new(((HostDoor *)listener_data(listener))->tls, fd);
}

static size_t door_receive(Connection *connection, const char *octets, size_t length)
{
    DoorClient *client = connection_data(connection);
    client->spoke = true;
    size_t used = lmtp_session_receive(client->session, octets, length);
    if (lmtp_session_finished(client->session))
        connection_finish(connection);
    return used;
}

static bool door_waiting(Connection *connection)
{
    (void)connection;
    return false; /* each entry is answered at once */
}

static void door_expire(Connection *connection, const char *why)
{
    lmtp_session_expire(((DoorClient *)connection_data(connection))->session, why);
    connection_finish(connection);
}

static void door_leave(Connection *connection)
{
    DoorClient *client = connection_data(connection);
    lmtp_session_stop(client->session);
    if (lmtp_session_finished(client->session) || !client->spoke)
        connection_finish(connection);
}

static void door_close(Connection *connection)
{
    DoorClient *client = connection_data(connection);
    const char *problem = tls_session_problem(connection_tls(connection));
    if (problem && !client->spoke)
        log_warn("refused a client at the door for hosts: %s; peer=%s", problem, connection_peer(connection));
    lmtp_session_close(client->session);
    lmtp_session_free(client->session);
    g_free(client->name);
    g_free(client);
}

static void door_free(HostDoor *door)
{
    g_clear_pointer(&door->hosts, g_ptr_array_unref);
    lmtp_server_free(door->server);
    tls_door_free(door->tls);
    seat_leave(&door->seat);
    spool_free(door->spool);
    g_free(door);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostDoor, door_free)

static bool door_start(Listener *listener, GError **error)
{
    const Config *config = listener_config(listener);
    const TlsFiles files = {.certificate = config_string(config, "host", "certificate_file"),
                            .key = config_string(config, "host", "key_file"),
                            .authority = config_string(config, "host", "authority_file")};
    if (!files.certificate || !files.key || !files.authority)
        return fail(error, FAIL_CONFIG, "[host] certificate_file, key_file and authority_file are not all set");
    /* A host with this configuration hands over at most a block of the largest post, or a part of a message that was
     * joined. */
    uint64_t post = config_size(config, "lmtp", "max_message_size");
    uint64_t joined = config_size(config, "defragment", "max_size");
    uint64_t recipients = (uint64_t)config_integer(config, "out", "recipients_per_entry") * RECIPIENT_OCTETS;
    uint64_t most = parcel_size(MAX(post, joined) + recipients + GROWTH);
    const LmtpLimits limits = {.recipients = 1,
                               .message_size = most,
                               .memory = MAX(config_size(config, "lmtp", "memory_limit"), 2 * most),
                               .errors = ERRORS_LIMIT,
                               .line_length = (size_t)config_integer(config, "lmtp", "line_length")};
    g_autoptr(HostDoor) door = g_new0(HostDoor, 1);
    door->listener = listener;
    door->min_free = config_size(config, "spool", "min_free");
    door->tls = tls_door_new(&files, error);
    door->spool = door->tls ? spool_open(config_string(config, "spool", "directory"), error) : NULL;
    if (!door->spool)
        return false;
    door->seat = (Seat){.config = config, .spool = door->spool, .deadline = STORE_DEADLINE_PERSON};
    door->server = lmtp_server_new(config_string(config, "site", "hostname"), &limits, &handler, door);
    listener_set_data(listener, g_steal_pointer(&door));
    return true;
}

static void door_stop(Listener *listener)
{
    door_free(listener_data(listener));
}

static const ListenerSpec spec = {
    .name = "door",
    .section = "lmtp",
    .start = door_start,
    .open = door_open,
    .secure = door_secure,
    .receive = door_receive,
    .waiting = door_waiting,
    .expire = door_expire,
    .leave = door_leave,
    .close = door_close,
    .stop = door_stop,
};

int main(int argc, char **argv)
{
    return listener_main(&spec, argc, argv);
}
