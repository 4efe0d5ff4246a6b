/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/server/listener.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/line.h"
#include "runners/server/server.h"

#define ACCEPTS_AT_ONCE 16 /* then the sessions that are there have their turn */
#define SCARCE_PAUSE_US CLOCK_SECOND        /* how long nothing is accepted when descriptors ran out */
#define FULL_PAUSE_US (CLOCK_SECOND / 10) /* how long a full instance leaves a client to the others */
#define LOG_US (60 * CLOCK_SECOND)        /* between two lines in the log of one kind about clients */
#define LEAVE_IDLE_US (10 * CLOCK_SECOND) /* silence granted to sessions while leaving */

/* Clients of whom the log has not told yet. */
typedef struct Untold {
    unsigned clients;
    int64_t log_at; /* monotonic: it tells no sooner */
} Untold;

struct Listener {
    const ListenerSpec *spec;
    Server *server;
    GPtrArray *sockets; /* of struct event, one a listening socket */
    struct event *resume;
    GHashTable *connections;
    GQueue silent; /* of Connection: nothing was received from it yet; the oldest first */
    void *data;
    size_t max_sessions;
    int64_t command_timeout, session_timeout;
    bool accepting, paused;
    Untold turned_away, never_spoke;
};

struct Connection {
    Listener *listener;
    Line *line;
    GList *silent; /* its place among the silent; NULL: something was received */
    void *data;
    char peer[SERVER_PEER_SIZE];
};

const Config *listener_config(const Listener *listener)
{
    return listener->server->config;
}

struct event_base *listener_base(Listener *listener)
{
    return listener->server->base;
}

void listener_set_data(Listener *listener, void *data)
{
    listener->data = data;
}

void *listener_data(const Listener *listener)
{
    return listener->data;
}

void listener_progress(Listener *listener)
{
    server_progress(listener->server);
}

Listener *connection_listener(const Connection *connection)
{
    return connection->listener;
}

const char *connection_peer(const Connection *connection)
{
    return connection->peer;
}

const TlsSession *connection_tls(const Connection *connection)
{
    return line_tls(connection->line);
}

void connection_set_data(Connection *connection, void *data)
{
    connection->data = data;
}

void *connection_data(const Connection *connection)
{
    return connection->data;
}

void connection_resume(Connection *connection)
{
    line_resume(connection->line);
}

void connection_finish(Connection *connection)
{
    line_finish(connection->line);
}

static size_t pending(Server *server)
{
    Listener *listener = server->data;
    return listener->spec->pending ? listener->spec->pending(listener) : 0;
}

static bool is_full(const Listener *listener)
{
    return g_hash_table_size(listener->connections) >= listener->max_sessions;
}

/* With TLS, whoever said nothing has shown no certificate, and gives its place to the next client. */
static bool can_make_room(const Listener *listener)
{
    return listener->spec->secure && listener->silent.head;
}

/* Accepts while there is room or some can be made, or clients are to be told that there is none, and nobody asked us to
 * leave. */
static void adjust_accepting(Listener *listener)
{
    bool wanted = !listener->server->leaving && !listener->paused &&
                  (listener->spec->busy || !is_full(listener) || can_make_room(listener));
    if (wanted == listener->accepting)
        return;
    listener->accepting = wanted;
    for (guint i = 0; i < listener->sockets->len; i++)
        if (wanted)
            event_add(listener->sockets->pdata[i], NULL);
        else
            event_del(listener->sockets->pdata[i]);
}

void listener_settled(Listener *listener)
{
    if (g_hash_table_size(listener->connections) == 0 && pending(listener->server) == 0)
        server_end(listener->server);
}

/* Count one more client, and return how many the log is to tell of now; 0: it tells later. */
static unsigned count_untold(Untold *untold)
{
    int64_t now = clock_monotonic();
    untold->clients++;
    if (now < untold->log_at)
        return 0;
    unsigned clients = untold->clients;
    *untold = (Untold){.log_at = now + LOG_US};
    return clients;
}

static void leave_silent(Connection *connection)
{
    if (connection->silent)
        g_queue_delete_link(&connection->listener->silent, g_steal_pointer(&connection->silent));
}

static size_t on_receive(Line *line, const char *octets, size_t length, void *data)
{
    (void)line;
    Connection *connection = data;
    server_progress(connection->listener->server);
    if (connection->silent) {
        leave_silent(connection);
        adjust_accepting(connection->listener);
    }
    return connection->listener->spec->receive(connection, octets, length);
}

static bool on_awaited(Line *line, void *data)
{
    (void)line;
    Connection *connection = data;
    return connection->listener->spec->waiting(connection);
}

static void tell_never_spoke(const Connection *connection)
{
    unsigned clients = count_untold(&connection->listener->never_spoke);
    if (clients > 0)
        log_info("closed connections on which nothing was received: %u; the last one is of peer=%s", clients,
                 connection->peer);
}

static void on_expired(Line *line, LineTime which, void *data)
{
    (void)line;
    Connection *connection = data;
    if (connection->silent)
        tell_never_spoke(connection);
    connection->listener->spec->expire(connection, which == LINE_IDLE ? "Nothing came for too long"
                                                                      : "The session took too long");
}

static void on_closed(Line *line, void *data)
{
    Connection *connection = data;
    Listener *listener = connection->listener;
    listener->spec->close(connection);
    leave_silent(connection);
    line_free(line);
    g_hash_table_remove(listener->connections, connection);
    g_free(connection);
    server_done(listener->server);
    adjust_accepting(listener);
    listener_settled(listener);
}

static const LineEvents line_events = {on_receive, on_awaited, on_expired, on_closed};

static void open_connection(Listener *listener, int fd, const struct sockaddr_storage *address)
{
    Connection *connection = g_new0(Connection, 1);
    connection->listener = listener;
    server_greet_peer((const struct sockaddr *)address, fd, connection->peer);
    g_hash_table_add(listener->connections, connection);
    g_queue_push_tail(&listener->silent, connection);
    connection->silent = listener->silent.tail;
    GString *output = listener->spec->open(connection);
    connection->line = line_new(listener->server->base, fd, output, &line_events, connection);
    if (listener->spec->secure)
        line_set_tls(connection->line, listener->spec->secure(listener, fd));
    line_set_idle(connection->line, listener->command_timeout);
    line_set_deadline(connection->line, listener->session_timeout);
    server_progress(listener->server);
    line_resume(connection->line); /* the greeting */
}

/* The socket buffer of a new connection has room for one line. */
static void turn_away(Listener *listener, int fd)
{
    g_autofree char *line = g_strconcat(listener->spec->busy ? listener->spec->busy : "", "\r\n", NULL);
    if (listener->spec->busy && send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        shutdown(fd, SHUT_WR);
    close(fd);
    unsigned clients = count_untold(&listener->turned_away);
    if (clients > 0)
        log_warn("all %zu sessions (max_sessions) are in use; clients turned away: %u", listener->max_sessions,
                 clients);
}

static void pause_accepting(Listener *listener, int64_t time)
{
    listener->paused = true;
    adjust_accepting(listener);
    event_add(listener->resume, &(struct timeval){time / CLOCK_SECOND, time % CLOCK_SECOND});
}

/* Accepts what waits at a socket. When there is no room, clients are told so, or wait. */
static void accept_clients(Listener *listener, int socket)
{
    for (unsigned i = 0; i < ACCEPTS_AT_ONCE && listener->accepting; i++) {
        struct sockaddr_storage address = {.ss_family = AF_UNIX};
        socklen_t length = sizeof address;
        int fd = accept4(socket, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0 && is_full(listener) && can_make_room(listener)) {
            Connection *longest = listener->silent.head->data;
            tell_never_spoke(longest);
            line_close(longest->line);
        }
        if (fd >= 0 && is_full(listener)) {
            turn_away(listener, fd);
        } else if (fd >= 0) {
            open_connection(listener, fd, &address);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            log_warn("no connection can be accepted: %s; trying again in a second", g_strerror(errno));
            pause_accepting(listener, SCARCE_PAUSE_US);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return; /* another instance was faster, or the network's trouble: the next event tells */
        }
        adjust_accepting(listener);
    }
}

/* Another instance may have room where this one has none: it gets time to take the client first. */
static void on_connect(evutil_socket_t socket, short what, void *data)
{
    (void)what;
    Listener *listener = data;
    if (is_full(listener) && listener->server->child->instances > 1)
        pause_accepting(listener, FULL_PAUSE_US);
    else
        accept_clients(listener, socket);
}

static void on_resume(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Listener *listener = data;
    listener->paused = false;
    adjust_accepting(listener);
    for (guint i = 0; i < listener->sockets->len; i++)
        accept_clients(listener, event_get_fd(listener->sockets->pdata[i]));
}

static void leave(Server *server)
{
    Listener *listener = server->data;
    adjust_accepting(listener);
    g_autoptr(GList) all = g_hash_table_get_keys(listener->connections);
    for (GList *at = all; at; at = at->next) {
        Connection *connection = at->data;
        line_set_idle(connection->line, MIN(listener->command_timeout, LEAVE_IDLE_US));
        listener->spec->leave(connection);
        line_resume(connection->line);
    }
    listener_settled(listener);
}

static bool start(Server *server, GError **error)
{
    Listener *listener = server->data;
    const char *section = listener->spec->section;
    const Config *config = server->config;
    listener->server = server;
    listener->max_sessions = (size_t)config_integer(config, section, "max_sessions");
    listener->command_timeout = config_duration(config, section, "command_timeout");
    listener->session_timeout = config_duration(config, section, "session_timeout");
    if (!listener->spec->start(listener, error))
        return false;
    listener->sockets = g_ptr_array_new_with_free_func((GDestroyNotify)event_free);
    listener->connections = g_hash_table_new(NULL, NULL);
    listener->resume = evtimer_new(server->base, on_resume, listener);
    for (unsigned i = 0; i < server->child->listen_fds; i++)
        g_ptr_array_add(listener->sockets, event_new(server->base, SERVER_SOCKET(i),
                                                     EV_READ | EV_PERSIST, on_connect, listener));
    return true;
}

static void begin(Server *server)
{
    adjust_accepting(server->data);
}

static void stop(Server *server)
{
    Listener *listener = server->data;
    listener->spec->stop(listener);
    g_ptr_array_unref(listener->sockets);
    g_hash_table_unref(listener->connections);
    event_free(listener->resume);
}

int listener_main(const ListenerSpec *spec, int argc, char **argv)
{
    Listener listener = {.spec = spec};
    const ServerSpec server = {
        .name = spec->name, .start = start, .begin = begin, .leave = leave, .pending = pending, .stop = stop};
    return server_main(&server, &listener, argc, argv);
}
