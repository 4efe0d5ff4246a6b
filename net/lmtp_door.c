/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/lmtp_door.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "net/line.h"

#define SESSIONS_MAX 100 /* further clients wait in the kernel's queue */
#define IDLE (300 * CLOCK_SECOND)
#define SESSION (1800 * CLOCK_SECOND)

struct LmtpDoor {
    struct event_base *base;
    struct evconnlistener *listener;
    struct event *tick, *terminated, *interrupted;
    LmtpServer *server;
    LmtpDoorOwner owner;
    GHashTable *sessions; /* of Session */
};

typedef struct LmtpDoorSession {
    LmtpDoor *door;
    LmtpSession *session;
    Line *line;
} LmtpDoorSession;

/* ---- LMTP ---- */

static const char *on_recipient(LmtpSession *session, LmtpRecipient *recipient, void *data)
{
    (void)session, (void)data;
    recipient->size = sizeof *recipient + strlen(recipient->address);
    return NULL;
}

static void on_message(LmtpSession *session, LmtpTransaction *transaction, void *data)
{
    LmtpDoor *door = data;
    const char *reply = door->owner.message(transaction, door->owner.data);
    for (guint at = 0; at < transaction->recipients->len; at++)
        lmtp_recipient(transaction, at)->reply = g_strdup(reply ? reply : "250 2.0.0 Taken");
    lmtp_session_answer(session, transaction);
}

static const LmtpHandler handler = {.recipient = on_recipient, .message = on_message};

/* ---- connections ---- */

static size_t on_receive(Line *line, const char *octets, size_t length, void *data)
{
    const LmtpDoorSession *session = data;
    size_t used = lmtp_session_receive(session->session, octets, length);
    if (lmtp_session_finished(session->session))
        line_finish(line);
    return used;
}

static void on_expired(Line *line, LineTime which, void *data)
{
    const LmtpDoorSession *session = data;
    lmtp_session_expire(session->session,
                        which == LINE_IDLE ? "Nothing came for too long" : "The session took too long");
    line_finish(line);
}

static void on_closed(Line *line, void *data)
{
    LmtpDoorSession *session = data;
    LmtpDoor *door = session->door;
    lmtp_session_close(session->session);
    line_free(line);
    lmtp_session_free(session->session);
    g_hash_table_remove(door->sessions, session);
    g_free(session);
    evconnlistener_enable(door->listener);
}

static const LineEvents line_events = {.receive = on_receive, .expired = on_expired, .closed = on_closed};

static void on_client(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int length,
                      void *data)
{
    (void)address, (void)length;
    LmtpDoor *door = data;
    LmtpDoorSession *session = g_new0(LmtpDoorSession, 1);
    session->door = door;
    session->session = lmtp_session_new(door->server, session);
    session->line = line_new(door->base, fd, lmtp_session_output(session->session), &line_events, session);
    g_hash_table_add(door->sessions, session);
    line_set_idle(session->line, IDLE);
    line_set_deadline(session->line, SESSION);
    if (g_hash_table_size(door->sessions) >= SESSIONS_MAX)
        evconnlistener_disable(listener);
    line_resume(session->line); /* the greeting; may close it */
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
    (void)fd, (void)what;
    LmtpDoor *door = data;
    bool more = door->owner.tick(door->owner.data);
    event_add(door->tick, &(struct timeval){more ? 0 : 1, 0});
}

static void on_signal(evutil_socket_t fd, short what, void *data)
{
    (void)fd, (void)what;
    LmtpDoor *door = data;
    event_base_loopbreak(door->base);
}

/* ---- begin and end ---- */

/* The address as sockets have it; evutil_freeaddrinfo(). */
static struct evutil_addrinfo *resolve(const char *address, GError **error)
{
    const struct evutil_addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = EVUTIL_AI_PASSIVE};
    struct evutil_addrinfo *found = NULL;
    const char *colon = strrchr(address, ':');
    size_t length = colon ? (size_t)(colon - address) : 0;
    bool bracketed = length > 2 && address[0] == '[' && address[length - 1] == ']';
    g_autofree char *host = bracketed ? g_strndup(address + 1, length - 2) : g_strndup(address, length);
    if (length == 0 || !colon[1]) {
        fail(error, FAIL_NEVER, "\"%s\" is not HOST:PORT", address);
        return NULL;
    }
    int code = evutil_getaddrinfo(host, colon + 1, &hints, &found);
    if (code != 0)
        fail(error, FAIL_NEVER, "\"%s\": %s", address, evutil_gai_strerror(code));
    return found;
}

LmtpDoor *lmtp_door_open(const char *address, const char *hostname, const LmtpLimits *limits,
                         const LmtpDoorOwner *owner, GError **error)
{
    struct evutil_addrinfo *found = resolve(address, error);
    if (!found)
        return NULL;
    g_autoptr(LmtpDoor) door = g_new0(LmtpDoor, 1);
    door->owner = *owner;
    door->base = event_base_new();
    door->sessions = g_hash_table_new(NULL, NULL);
    door->server = lmtp_server_new(hostname, limits, &handler, door);
    door->listener = evconnlistener_new_bind(door->base, on_client, door,
                                             LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, -1,
                                             found->ai_addr, (int)found->ai_addrlen);
    int number = errno;
    evutil_freeaddrinfo(found);
    if (!door->listener) {
        fail(error, FAIL_LATER, "cannot listen on %s: %s", address, g_strerror(number));
        return NULL;
    }
    door->tick = event_new(door->base, -1, 0, on_tick, door);
    door->terminated = evsignal_new(door->base, SIGTERM, on_signal, door);
    door->interrupted = evsignal_new(door->base, SIGINT, on_signal, door);
    return g_steal_pointer(&door);
}

void lmtp_door_run(LmtpDoor *door)
{
    event_add(door->terminated, NULL);
    event_add(door->interrupted, NULL);
    event_add(door->tick, &(struct timeval){0, 0});
    event_base_dispatch(door->base);
}

void lmtp_door_free(LmtpDoor *door)
{
    if (!door)
        return;
    struct event *const events[] = {door->tick, door->terminated, door->interrupted};
    for (size_t at = 0; at < G_N_ELEMENTS(events); at++)
        if (events[at])
            event_free(events[at]);
    g_autoptr(GList) sessions = g_hash_table_get_keys(door->sessions);
    for (GList *at = sessions; at; at = at->next) {
        LmtpDoorSession *session = at->data;
        line_free(session->line);
        lmtp_session_free(session->session);
        g_free(session);
    }
    g_hash_table_unref(door->sessions);
    if (door->listener)
        evconnlistener_free(door->listener);
    lmtp_server_free(door->server);
    event_base_free(door->base);
    g_free(door);
}
