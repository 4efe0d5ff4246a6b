/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/resolve.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"

/* Shared by the loop and the thread; whoever lets go last frees it. */
struct Resolve {
    gatomicrefcount references;
    int wake_fd;
    char *host;
    char *port;
    int result; /* of getaddrinfo */
    struct addrinfo *addresses;
    struct event *event;
    ResolveDone *done;
    void *data;
};

static void resolve_unref(Resolve *resolve)
{
    if (!g_atomic_ref_count_dec(&resolve->references))
        return;
    if (resolve->addresses)
        freeaddrinfo(resolve->addresses);
    close(resolve->wake_fd);
    g_free(resolve->host);
    g_free(resolve->port);
    g_free(resolve);
}

static void look_up(Resolve *resolve, int flags)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    resolve->result = getaddrinfo(resolve->host, resolve->port, &hints, &resolve->addresses);
}

static gpointer resolve_thread(gpointer data)
{
    Resolve *resolve = data;
    look_up(resolve, AI_ADDRCONFIG);
    uint64_t one = 1;
    if (write(resolve->wake_fd, &one, sizeof(one)) != sizeof(one))
        g_error("eventfd refuses a write");
    resolve_unref(resolve);
    return NULL;
}

static void resolve_ready(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Resolve *resolve = data;
    g_autoptr(GError) error = NULL;
    struct addrinfo *addresses = g_steal_pointer(&resolve->addresses);
    if (resolve->result != 0)
        fail(&error, FAIL_LATER, "host %s: %s", resolve->host, gai_strerror(resolve->result));
    ResolveDone *done = resolve->done;
    void *receiver = resolve->data;
    resolve_cancel(resolve);
    done(addresses, error, receiver);
}

Resolve *resolve_start(struct event_base *base, const char *host, const char *port, ResolveDone *done, void *data)
{
    Resolve *resolve = g_new0(Resolve, 1);
    g_atomic_ref_count_init(&resolve->references);
    resolve->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (resolve->wake_fd < 0)
        g_error("no eventfd to be had");
    resolve->host = g_strdup(host);
    resolve->port = g_strdup(port);
    resolve->done = done;
    resolve->data = data;
    resolve->event = event_new(base, resolve->wake_fd, EV_READ, resolve_ready, resolve);
    event_add(resolve->event, NULL);
    look_up(resolve, AI_NUMERICHOST | AI_NUMERICSERV);
    if (resolve->result == 0) {
        event_active(resolve->event, EV_READ, 0);
        return resolve;
    }
    g_atomic_ref_count_inc(&resolve->references);
    g_thread_unref(g_thread_new("resolve", resolve_thread, resolve));
    return resolve;
}

void resolve_cancel(Resolve *resolve)
{
    event_free(resolve->event);
    resolve->event = NULL;
    resolve_unref(resolve);
}
