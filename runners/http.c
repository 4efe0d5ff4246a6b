/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/http.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "runners/server.h"

#define VERBS (EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE | \
               EVHTTP_REQ_OPTIONS | EVHTTP_REQ_PATCH)
#define LOOK_US CLOCK_SECOND /* how often connections are looked at on which no request came yet */

struct Http {
    const HttpSpec *spec;
    Server *server;
    struct evhttp *evhttp;
    GPtrArray *listeners;    /* of struct evconnlistener, evhttp's */
    GHashTable *connections; /* struct bufferevent -> Client */
    struct event *look;
    void *data;
    size_t max_connections;
    int64_t request_timeout, requests_per_connection;
    bool accepting;
};

/* A connection. We hold a reference to its bufferevent until evhttp has dropped its own. */
typedef struct HttpClient {
    Http *http;
    struct bufferevent *stream;
    char peer[SERVER_PEER_SIZE];
    int64_t since;    /* monotonic: when it came */
    int64_t requests; /* so far */
    struct HttpStream *flow; /* its answer without an end; NULL: none */
} HttpClient;

struct HttpStream {
    HttpClient *client;
    struct evhttp_request *request;
    const HttpStreamSpec *spec;
    void *data;
    bool busy;
};

struct HttpCall {
    HttpClient *client;
    struct evhttp_request *request;
    const char *verb, *query;
    char *path;
    bool last; /* of its connection */
};

const Config *http_config(const Http *http)
{
    return server_config(http->server);
}

void http_set_data(Http *http, void *data)
{
    http->data = data;
}

void *http_data(const Http *http)
{
    return http->data;
}

const char *http_verb(const HttpCall *call)
{
    return call->verb;
}

const char *http_path(const HttpCall *call)
{
    return call->path;
}

const char *http_query(const HttpCall *call)
{
    return call->query;
}

const char *http_header(const HttpCall *call, const char *name)
{
    return evhttp_find_header(evhttp_request_get_input_headers(call->request), name);
}

const char *http_body(const HttpCall *call, size_t *length)
{
    struct evbuffer *body = evhttp_request_get_input_buffer(call->request);
    *length = evbuffer_get_length(body);
    return *length > 0 ? (const char *)evbuffer_pullup(body, -1) : "";
}

const char *http_peer(const HttpCall *call)
{
    return call->client->peer;
}

void http_set_header(HttpCall *call, const char *name, const char *value)
{
    for (const char *at = value; *at; at++)
        if (g_ascii_iscntrl(*at))
            return;
    evhttp_add_header(evhttp_request_get_output_headers(call->request), name, value);
}

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {413, "Payload Too Large"},
        {415, "Unsupported Media Type"},
        {429, "Too Many Requests"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}

void http_answer(HttpCall *call, int status, const char *type, const char *body, size_t length)
{
    const Http *http = call->client->http;
    struct evkeyvalq *headers = evhttp_request_get_output_headers(call->request);
    bool head = strcmp(call->verb, "HEAD") == 0;
    g_autofree char *counted = g_strdup_printf("%zu", type ? length : 0);
    if (type || (status != 204 && status != 304)) /* evhttp would call an empty body HTML */
        evhttp_add_header(headers, "Content-Type", type ? type : "text/plain");
    if (status != 204 && status != 304)
        evhttp_add_header(headers, "Content-Length", counted);
    if (call->last || call->client->requests >= http->requests_per_connection || server_leaving(http->server))
        evhttp_add_header(headers, "Connection", "close");
    struct evbuffer *buffer = evbuffer_new();
    if (type && !head)
        evbuffer_add(buffer, body, length);
    evhttp_send_reply(call->request, status, http_reason(status), buffer);
    evbuffer_free(buffer);
}

/* ---- streams ---- */

/* Drop what the client of a stream sends: evhttp reads on, to learn when the client goes, and would keep all of it. */
static void drop_input(struct evbuffer *input, const struct evbuffer_cb_info *change, void *data)
{
    (void)data;
    if (change->n_added > 0)
        evbuffer_drain(input, evbuffer_get_length(input));
}

HttpStream *http_stream(HttpCall *call, const char *type, const HttpStreamSpec *spec, void *data)
{
    /* Of a client that only reads nothing is expected, and silence is no fault. */
    const int64_t timeout = call->client->http->request_timeout;
    const struct timeval most = {timeout / CLOCK_SECOND, timeout % CLOCK_SECOND};
    bufferevent_set_timeouts(call->client->stream, NULL, &most);
    evbuffer_add_cb(bufferevent_get_input(call->client->stream), drop_input, NULL);
    HttpStream *stream = g_new0(HttpStream, 1);
    *stream = (HttpStream){.client = call->client, .request = call->request, .spec = spec, .data = data};
    call->client->flow = stream;
    evhttp_add_header(evhttp_request_get_output_headers(call->request), "Content-Type", type);
    if (spec->finite)
        evhttp_add_header(evhttp_request_get_output_headers(call->request), "Connection", "close");
    evhttp_send_reply_start(call->request, 200, http_reason(200));
    return stream;
}

static void on_written(struct evhttp_connection *connection, void *data)
{
    HttpStream *stream = data;
    stream->busy = false;
    stream->spec->room(stream);
}

void http_stream_send(HttpStream *stream, const char *octets, size_t length)
{
    struct evbuffer *buffer = evbuffer_new();
    evbuffer_add(buffer, octets, length);
    stream->busy = true;
    evhttp_send_reply_chunk_with_cb(stream->request, buffer, on_written, stream);
    evbuffer_free(buffer);
}

void http_stream_end(HttpStream *stream)
{
    shutdown(bufferevent_getfd(stream->client->stream), SHUT_RDWR);
}

void http_stream_finish(HttpStream *stream)
{
    struct evhttp_request *request = stream->request;
    stream->client->flow = NULL;
    stream->spec->closed(stream);
    g_free(stream);
    evhttp_send_reply_end(request);
}

bool http_stream_busy(const HttpStream *stream)
{
    return stream->busy;
}

void *http_stream_data(const HttpStream *stream)
{
    return stream->data;
}

struct event_base *http_loop(const Http *http)
{
    return server_base(http->server);
}

static void end_stream(HttpClient *client)
{
    HttpStream *stream = client->flow;
    client->flow = NULL;
    if (!stream)
        return;
    stream->spec->closed(stream);
    if (!evhttp_request_get_connection(stream->request)) /* evhttp has let go of it, and leaves it to us */
        evhttp_send_reply_end(stream->request);
    g_free(stream);
}

/* ---- connections ---- */

static void adjust_accepting(Http *http)
{
    bool wanted = !server_leaving(http->server) && g_hash_table_size(http->connections) < http->max_connections;
    if (wanted == http->accepting)
        return;
    http->accepting = wanted;
    for (guint i = 0; i < http->listeners->len; i++)
        if (wanted)
            evconnlistener_enable(http->listeners->pdata[i]);
        else
            evconnlistener_disable(http->listeners->pdata[i]);
}

static void forget(HttpClient *client)
{
    Http *http = client->http;
    end_stream(client);
    g_hash_table_remove(http->connections, client->stream);
    g_free(client);
    server_done(http->server);
    adjust_accepting(http);
    if (g_hash_table_size(http->connections) == 0)
        server_end(http->server);
}

/* evhttp has no call for a new connection but this one, where it asks for the stream. */
static struct bufferevent *on_connection(struct event_base *base, void *data)
{
    Http *http = data;
    struct bufferevent *stream = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (!stream)
        return NULL;
    HttpClient *client = g_new0(HttpClient, 1);
    client->http = http;
    client->stream = stream;
    client->since = clock_monotonic();
    bufferevent_incref(stream);
    g_hash_table_insert(http->connections, stream, client);
    adjust_accepting(http);
    return stream;
}

static void on_closed(struct evhttp_connection *connection, void *data)
{
    HttpClient *client = data;
    bufferevent_decref(client->stream);
    forget(client);
}

/* Close a connection that waits for another request, or whose answer has no end; one that is still being answered is
 * closed at a later look. */
static void close_if_idle(HttpClient *client)
{
    bool answered = evbuffer_get_length(bufferevent_get_output(client->stream)) == 0;
    if (client->flow ? !client->flow->spec->finite : answered)
        shutdown(bufferevent_getfd(client->stream), SHUT_RDWR);
}

/* evhttp says nothing of connections that end, or dawdle, before their first request is whole. */
static void look(Http *http, HttpClient *client, int64_t now)
{
    if (client->requests > 0) { /* on_closed() will be called */
        if (server_leaving(http->server))
            close_if_idle(client);
        return;
    }
    if (bufferevent_decref(client->stream)) { /* ours was the last */
        forget(client);
        return;
    }
    bufferevent_incref(client->stream);
    if (server_leaving(http->server) || now - client->since > http->request_timeout)
        shutdown(bufferevent_getfd(client->stream), SHUT_RDWR);
}

static void on_look(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Http *http = data;
    g_autoptr(GList) all = g_hash_table_get_values(http->connections);
    int64_t now = clock_monotonic();
    for (GList *at = all; at; at = at->next)
        look(http, at->data, now);
}

/* ---- requests ---- */

/* evhttp answers what it refuses itself with a page of HTML. A function of a program takes the place of a library's of
 * the same name, so it calls this one, and all errors are JSON. */
void evhttp_send_error(struct evhttp_request *request, int status, const char *reason)
{
    const char *title = *http_reason(status) ? http_reason(status) : reason ? reason : "Error";
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    struct evbuffer *body = evbuffer_new();
    if (request->major == 0) { /* its first line was none */
        request->major = 1;
        request->minor = 1;
    }
    evbuffer_add_printf(body, "{\"title\": \"%d %s\"}", status, title);
    evhttp_clear_headers(headers);
    evhttp_add_header(headers, "Content-Type", "application/json");
    evhttp_add_header(headers, "Connection", "close");
    evhttp_send_reply(request, status, title, body);
    evbuffer_free(body);
}

static const char *verb_of(struct evhttp_request *request)
{
    switch (evhttp_request_get_command(request)) {
    case EVHTTP_REQ_GET:
        return "GET";
    case EVHTTP_REQ_HEAD:
        return "HEAD";
    case EVHTTP_REQ_POST:
        return "POST";
    case EVHTTP_REQ_PUT:
        return "PUT";
    case EVHTTP_REQ_PATCH:
        return "PATCH";
    case EVHTTP_REQ_DELETE:
        return "DELETE";
    default:
        return "OPTIONS";
    }
}

/* The target in its usual form, or with scheme and authority as a proxy writes it (RFC 9112, 3.2). */
static const char *path_of(const char *target)
{
    if (*target == '/')
        return target;
    const char *authority = strstr(target, "://");
    const char *path = authority ? strchr(authority + 3, '/') : NULL;
    return path ? path : "/";
}

/* Of HEAD evhttp reads no body, and would take it for the next request. One that has come whole is moved to where
 * bodies are; else it is dropped with the connection. False: it was answered. */
static bool take_body(HttpCall *call)
{
    static const char refusal[] = "{\"title\": \"400 Bad Request\", \"description\": \"The body of such a request "
                                  "must come with its head, and have a Content-Length\"}";
    struct evbuffer *rest = bufferevent_get_input(call->client->stream);
    struct evbuffer *body = evhttp_request_get_input_buffer(call->request);
    const char *text = http_header(call, "Content-Length");
    int64_t length = 0;
    bool coded = http_header(call, "Transfer-Encoding") != NULL;
    bool counted = !coded && (!text || g_ascii_string_to_signed(text, 10, 0, G_MAXINT, &length, NULL));
    size_t missing = counted ? (size_t)MAX(length - (int64_t)evbuffer_get_length(body), 0) : 0;
    if ((coded && evbuffer_get_length(body) > 0) || (counted && missing == 0))
        return true;
    if (counted && missing <= evbuffer_get_length(rest)) {
        evbuffer_remove_buffer(rest, body, missing);
        return true;
    }
    call->last = true;
    http_answer(call, 400, "application/json", refusal, strlen(refusal));
    return false;
}

static void on_request(struct evhttp_request *request, void *data)
{
    Http *http = data;
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    HttpClient *client = g_hash_table_lookup(http->connections, evhttp_connection_get_bufferevent(connection));
    if (client->requests++ == 0) {
        server_greet_peer(evhttp_connection_get_addr(connection), bufferevent_getfd(client->stream), client->peer);
        evhttp_connection_set_closecb(connection, on_closed, client);
    }
    server_progress(http->server);
    const char *path = path_of(evhttp_request_get_uri(request));
    size_t length = strcspn(path, "?#");
    g_autofree char *own = g_strndup(path, length);
    HttpCall call = {.client = client, .request = request, .verb = verb_of(request), .path = own,
                     .query = path[length] == '?' ? path + length + 1 : ""};
    if (take_body(&call))
        http->spec->handle(http, &call);
}

/* ---- start and end ---- */

static bool is_local(int fd)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof address;
    getsockname(fd, (struct sockaddr *)&address, &length);
    if (address.ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)&address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return address.ss_family == AF_UNIX ||
           (address.ss_family == AF_INET6 &&
            IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&address)->sin6_addr));
}

static bool listen_on(Http *http, int fd, GError **error)
{
    struct evhttp_bound_socket *bound = evhttp_accept_socket_with_handle(http->evhttp, fd);
    if (!bound)
        return fail(error, FAIL_LATER, "the event library cannot listen on descriptor %d", fd);
    struct evconnlistener *listener = evhttp_bound_socket_get_listener(bound);
    evconnlistener_disable(listener);
    g_ptr_array_add(http->listeners, listener);
    if (!is_local(fd))
        log_warn("[runner.%s] listen has an address that other hosts can reach, and what is spoken there is not "
                 "encrypted; put a proxy with TLS before it", server_name(http->server));
    return true;
}

static bool start(Server *server, GError **error)
{
    Http *http = server_data(server);
    const char *section = http->spec->section;
    const Config *config = server_config(server);
    http->server = server;
    http->max_connections = (size_t)config_integer(config, section, "max_connections");
    http->request_timeout = config_duration(config, section, "request_timeout");
    http->requests_per_connection = config_integer(config, section, "requests_per_connection");
    if (!http->spec->start(http, error))
        return false;
    http->connections = g_hash_table_new(NULL, NULL);
    http->listeners = g_ptr_array_new();
    http->evhttp = evhttp_new(server_base(server));
    evhttp_set_gencb(http->evhttp, on_request, http);
    evhttp_set_bevcb(http->evhttp, on_connection, http);
    evhttp_set_allowed_methods(http->evhttp, VERBS);
    evhttp_set_timeout(http->evhttp, (int)(http->request_timeout / CLOCK_SECOND));
    evhttp_set_max_headers_size(http->evhttp, (ev_ssize_t)config_size(config, section, "max_header_size"));
    evhttp_set_max_body_size(http->evhttp, (ev_ssize_t)config_size(config, section, "max_body_size"));
    http->look = event_new(server_base(server), -1, EV_PERSIST, on_look, http);
    event_add(http->look, &(struct timeval){LOOK_US / CLOCK_SECOND, LOOK_US % CLOCK_SECOND});
    for (unsigned i = 0; i < server_sockets(server); i++)
        if (!listen_on(http, server_socket(server, i), error))
            return false;
    return true;
}

static void begin(Server *server)
{
    adjust_accepting(server_data(server));
}

/* Requests are answered in one go, so that none is in progress here; those connections that wait for another one are
 * closed by looking at them. */
static void leave(Server *server)
{
    Http *http = server_data(server);
    adjust_accepting(http);
    g_autoptr(GList) all = g_hash_table_get_values(http->connections);
    for (GList *at = all; at; at = at->next)
        close_if_idle(at->data);
    if (!all)
        server_end(server);
}

static void stop(Server *server)
{
    Http *http = server_data(server);
    event_free(http->look);
    evhttp_free(http->evhttp);
    g_hash_table_unref(http->connections);
    g_ptr_array_unref(http->listeners);
    http->spec->stop(http);
}

int http_main(const HttpSpec *spec, int argc, char **argv)
{
    Http http = {.spec = spec};
    const ServerSpec server = {.name = spec->name, .start = start, .begin = begin, .leave = leave, .stop = stop};
    return server_main(&server, &http, argc, argv);
}
