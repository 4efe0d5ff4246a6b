/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/control_server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/control.h"
#include "base/fail.h"
#include "base/log.h"

#define CLIENTS_MAX 16
#define CLIENT_TIMEOUT 30 /* seconds */

struct ControlServer {
    struct event_base *base;
    struct evconnlistener *listener;
    GPtrArray *clients; /* of struct bufferevent, owned */
    const ControlOwner *owner;
    void *data;
    char *path;
};

static void serve(ControlServer *server, struct bufferevent *client, const char *line)
{
    g_autoptr(GError) error = NULL;
    json_error_t where;
    json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, &where);
    json_t *reply = NULL;
    bool looks = g_strcmp0(json_string_value(json_object_get(request, "verb")), "destinations") == 0;
    bool allowed = looks || control_may_command(bufferevent_getfd(client), &error);
    if (!json_is_object(request)) {
        g_clear_error(&error);
        fail(&error, FAIL_CONFIG, "no JSON object: %s", request ? "another value" : where.text);
    } else if (allowed)
        reply = server->owner->answer(server->data, request, &error);
    if (!reply)
        reply = json_pack("{s:b,s:b,s:s}", "ok", 0, "forbidden", !allowed, "error",
                          error ? error->message : "no answer");
    json_decref(request);
    char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
    json_decref(reply);
    if (!text)
        text = strdup("{\"ok\":false,\"error\":\"the reply cannot be put into words\"}");
    bufferevent_write(client, text, strlen(text));
    bufferevent_write(client, "\n", 1);
    free(text);
}

static void on_event(struct bufferevent *client, short what, void *data)
{
    (void)what;
    g_ptr_array_remove_fast(((ControlServer *)data)->clients, client);
}

static void on_read(struct bufferevent *client, void *data)
{
    ControlServer *server = data;
    struct evbuffer *input = bufferevent_get_input(client);
    char *line;
    while ((line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF)) != NULL) {
        serve(server, client, line);
        free(line);
    }
    if (evbuffer_get_length(input) > CONTROL_REQUEST_MAX)
        g_ptr_array_remove_fast(server->clients, client);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int length,
                      void *data)
{
    (void)listener;
    (void)address;
    (void)length;
    ControlServer *server = data;
    struct bufferevent *client = server->clients->len < CLIENTS_MAX
                                     ? bufferevent_socket_new(server->base, fd, BEV_OPT_CLOSE_ON_FREE)
                                     : NULL;
    if (!client) {
        evutil_closesocket(fd);
        return;
    }
    struct timeval timeout = {CLIENT_TIMEOUT, 0};
    bufferevent_setcb(client, on_read, NULL, on_event, server);
    bufferevent_set_timeouts(client, &timeout, &timeout);
    g_ptr_array_add(server->clients, client);
    bufferevent_enable(client, EV_READ | EV_WRITE);
}

ControlServer *control_server_new(struct event_base *base, const char *path, const ControlOwner *owner, void *data,
                                  GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path) {
        fail(error, FAIL_CONFIG, "%s is too long for a socket", path);
        return NULL;
    }
    auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(path); /* the slice is ours alone: a socket that is there is one of a dead instance */
    /* Nobody can connect before the mode is set, since nobody listens yet. */
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0660) != 0) {
        fail_errno(error, FAIL_LATER, "make the socket %s", path);
        return NULL;
    }
    ControlServer *server = g_new0(ControlServer, 1);
    *server = (ControlServer){.base = base, .owner = owner, .data = data, .path = g_strdup(path)};
    server->clients = g_ptr_array_new_with_free_func((GDestroyNotify)bufferevent_free);
    server->listener = evconnlistener_new(base, on_accept, server, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC,
                                           16, auto_fd_steal(&fd));
    return server;
}

bool control_server_present(const ControlServer *server)
{
    return access(server->path, F_OK) == 0;
}

void control_server_free(ControlServer *server)
{
    if (!server)
        return;
    evconnlistener_free(server->listener);
    g_ptr_array_unref(server->clients);
    unlink(server->path);
    g_free(server->path);
    g_free(server);
}
