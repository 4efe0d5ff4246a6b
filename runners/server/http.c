/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/server/http.h"

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
#include "runners/server/http_head.h"
#include "runners/server/server.h"

#define VERBS                                                                                                       \
    (EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | \
     EVHTTP_REQ_PATCH)
#define LOOK_US CLOCK_SECOND /* how often connections are looked at on which no request came yet */
#define FIRST_US (2 * CLOCK_SECOND) /* so old becomes a connection without one in a process that is to leave */
#define SMALL (64 * 1024) /* bytes of an answer that is copied */

struct Http {
    const HttpSpec *spec;
    Server *server;
    struct evhttp *evhttp;
    GPtrArray *listeners;    /* of struct evconnlistener, evhttp's */
    GHashTable *connections; /* struct bufferevent -> Client */
    struct event *look;
    void *data;
    size_t max_connections, max_header_size;
    int64_t request_timeout, requests_per_connection;
    bool accepting;
    GPtrArray *large;   /* of HttpLarge: what http_answer_bytes() sends just now */
    size_t large_total; /* bytes of these */
};

/* A content on its way to one or more clients. */
typedef struct HttpLarge {
    Http *http;
    GBytes *content;
    unsigned clients;
} HttpLarge;

/* The phase of a connection, which is what it waits for. */
typedef enum HttpPhase {
    PHASE_HEAD,   /* a request's head */
    PHASE_BODY,   /* the rest of its body */
    PHASE_ANSWER, /* evhttp, which has all of the request */
    PHASE_SHUT    /* its end: nothing more is read */
} HttpPhase;

/* A connection. We hold a reference to its bufferevent until evhttp has dropped its own. */
typedef struct HttpClient {
    Http *http;
    struct bufferevent *stream;
    char peer[SERVER_PEER_SIZE];
    int64_t since;    /* monotonic: when the connection, or the first byte of a request came; 0: no byte of the next */
    int64_t requests; /* so far */
    int64_t until;    /* monotonic: a large answer is to be read by then; 0: there was none */
    struct HttpStream *flow; /* its answer without an end; NULL: none */
    struct evbuffer *held;   /* what came, and evhttp must not see yet */
    bool passing;            /* on_arrived() is not to look: we fill the input ourselves */
    HttpPhase phase;
    HttpBody body;
    void *sender;    /* who sends the request, as the spec judged */
    int refused;     /* status to refuse the request with; 0: none */
    const char *why; /* it is refused */
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

/* The only one of the process, for evhttp_send_error(), which is given no data. */
static Http *serving;

const Config *http_config(const Http *http)
{
    return http->server->config;
}

void http_set_data(Http *http, void *data)
{
    http->data = data;
}

void *http_data(const Http *http)
{
    return http->data;
}

struct event_base *http_loop(const Http *http)
{
    return http->server->base;
}

/* ---- a request as its handler reads it ---- */

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

const char *http_header_last(const HttpCall *call, const char *name)
{
    const char *found = NULL;
    const struct evkeyvalq *fields = evhttp_request_get_input_headers(call->request);
    for (const struct evkeyval *field = fields->tqh_first; field; field = field->next.tqe_next)
        if (g_ascii_strcasecmp(field->key, name) == 0)
            found = field->value;
    return found;
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

void *http_sender(const HttpCall *call)
{
    return call->client->sender;
}

/* ---- the answer: at once, with much, or by a stream ---- */

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
        {303, "See Other"},
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
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}

/* Send the answer, with what is in body unless only its head was asked for. */
static void answer(HttpCall *call, int status, const char *type, struct evbuffer *body)
{
    const Http *http = call->client->http;
    const size_t length = evbuffer_get_length(body);
    struct evkeyvalq *headers = evhttp_request_get_output_headers(call->request);
    g_autofree char *counted = g_strdup_printf("%zu", type ? length : 0);
    if (type || (status != 204 && status != 304)) /* evhttp would call an empty body HTML */
        evhttp_add_header(headers, "Content-Type", type ? type : "text/plain");
    if (status != 204 && status != 304)
        evhttp_add_header(headers, "Content-Length", counted);
    if (call->last || call->client->requests >= http->requests_per_connection || http->server->leaving)
        evhttp_add_header(headers, "Connection", "close");
    if (!type || strcmp(call->verb, "HEAD") == 0)
        evbuffer_drain(body, length);
    evhttp_send_reply(call->request, status, http_reason(status), body);
    evbuffer_free(body);
}

void http_answer(HttpCall *call, int status, const char *type, const char *body, size_t length)
{
    struct evbuffer *buffer = evbuffer_new();
    evbuffer_add(buffer, body, length);
    answer(call, status, type, buffer);
}

/* Called when a client has read it, or is gone. */
static void large_sent(const void *octets, size_t length, void *data)
{
    HttpLarge *large = data;
    (void)octets;
    if (--large->clients > 0)
        return;
    large->http->large_total -= length;
    g_ptr_array_remove_fast(large->http->large, large);
    g_bytes_unref(large->content);
    g_free(large);
}

/* The same content on its way already; NULL: there is none. */
static HttpLarge *find_large(const Http *http, GBytes *content)
{
    for (unsigned i = 0; i < http->large->len; i++)
        if (g_bytes_equal(((const HttpLarge *)http->large->pdata[i])->content, content))
            return http->large->pdata[i];
    return NULL;
}

bool http_has_room(const HttpCall *call, GBytes *content)
{
    const Http *http = call->client->http;
    const size_t length = g_bytes_get_size(content);
    return length <= SMALL || http->large_total == 0 || http->large_total + length <= HTTP_LARGE_TOTAL ||
           find_large(http, content);
}

void http_answer_bytes(HttpCall *call, int status, const char *type, GBytes *content)
{
    HttpClient *client = call->client;
    Http *http = client->http;
    size_t length;
    const char *octets = g_bytes_get_data(content, &length);
    if (length <= SMALL) {
        http_answer(call, status, type, octets, length);
        return;
    }
    HttpLarge *large = find_large(http, content);
    if (!large) {
        large = g_new0(HttpLarge, 1);
        large->http = http;
        large->content = g_bytes_ref(content);
        http->large_total += length;
        g_ptr_array_add(http->large, large);
    }
    large->clients++;
    client->until = clock_monotonic() + http->request_timeout + (int64_t)(length / HTTP_SLOWEST) * CLOCK_SECOND;
    struct evbuffer *buffer = evbuffer_new();
    evbuffer_add_reference(buffer, g_bytes_get_data(large->content, NULL), length, large_sent, large);
    answer(call, status, type, buffer);
}


HttpStream *http_stream(HttpCall *call, const char *type, const HttpStreamSpec *spec, void *data)
{
    /* Of a client that only reads nothing is expected, and silence is no fault. */
    const int64_t timeout = call->client->http->request_timeout;
    const struct timeval most = {timeout / CLOCK_SECOND, timeout % CLOCK_SECOND};
    bufferevent_set_timeouts(call->client->stream, NULL, &most);
    HttpStream *stream = g_new0(HttpStream, 1);
    *stream = (HttpStream){.client = call->client, .request = call->request, .spec = spec, .data = data};
    call->client->flow = stream;
    evhttp_add_header(evhttp_request_get_output_headers(call->request), "Content-Type", type);
    if (spec->finite)
        evhttp_add_header(evhttp_request_get_output_headers(call->request), "Connection", "close");
    const int status = spec->status ? spec->status : 200;
    evhttp_send_reply_start(call->request, status, http_reason(status));
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

/* ---- connections ---- */

static void adjust_accepting(Http *http)
{
    bool wanted = !http->server->leaving && g_hash_table_size(http->connections) < http->max_connections;
    if (wanted == http->accepting)
        return;
    http->accepting = wanted;
    for (guint i = 0; i < http->listeners->len; i++)
        if (wanted)
            evconnlistener_enable(http->listeners->pdata[i]);
        else
            evconnlistener_disable(http->listeners->pdata[i]);
}

static void drop_sender(HttpClient *client)
{
    if (client->sender)
        client->http->spec->sender_free(client->sender);
    client->sender = NULL;
}

static void forget(HttpClient *client)
{
    Http *http = client->http;
    HttpStream *stream = g_steal_pointer(&client->flow);
    if (stream) {
        stream->spec->closed(stream);
        if (!evhttp_request_get_connection(stream->request)) /* evhttp has let go of it, and leaves it to us */
            evhttp_send_reply_end(stream->request);
        g_free(stream);
    }
    drop_sender(client);
    evbuffer_free(client->held);
    g_hash_table_remove(http->connections, client->stream);
    g_free(client);
    server_done(http->server);
    adjust_accepting(http);
    if (g_hash_table_size(http->connections) == 0)
        server_end(http->server);
}

/* ---- requests on their way in ----
 *
 * evhttp understands more than RFC 9112 allows, and stores a body before anybody has asked who sends it. So each byte
 * passes here first: a head is held back until it is whole, strictly read, and its sender judged; then it goes on, and
 * as much behind it as is its body. */

static void pass(HttpClient *client, const char *text, size_t length)
{
    evbuffer_add(bufferevent_get_input(client->stream), text, length);
}

/* Let evhttp see a request that is sound and has no body, so that it asks for an answer and closes behind it. */
static void pass_without_body(HttpClient *client, const char *verb, const char *target)
{
    g_autofree char *request = g_strdup_printf("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
                                               "Connection: close\r\n\r\n", verb, target);
    pass(client, request, strlen(request));
    client->phase = PHASE_SHUT;
}

static void refuse_request(HttpClient *client, int status, const char *why)
{
    client->refused = status;
    client->why = why;
    pass_without_body(client, "GET", "/");
}

/* Take a whole head off what is held, and pass it on. False: it has not come, or nothing may follow it. */
static bool pass_head(HttpClient *client)
{
    HttpHead head = {NULL};
    const char *why = NULL;
    struct evbuffer *held = client->held;
    for (char start[2]; evbuffer_copyout(held, start, 2) == 2 && memcmp(start, "\r\n", 2) == 0;)
        evbuffer_drain(held, 2); /* empty lines before a request are passed over (RFC 9112, 2.2) */
    const size_t looked = MIN(evbuffer_get_length(held), client->http->max_header_size);
    if (looked == 0)
        return false;
    if (client->since == 0)
        client->since = clock_monotonic();
    if (!*client->peer) { /* with its first byte the connection has an address */
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        int fd = bufferevent_getfd(client->stream);
        bool known = getpeername(fd, (struct sockaddr *)&address, &length) == 0 && length > 0;
        server_greet_peer(known ? (struct sockaddr *)&address : NULL, fd, client->peer);
    }
    const char *text = (const char *)evbuffer_pullup(held, (ev_ssize_t)looked);
    size_t size = http_head_size(text, looked);
    if (size == 0) {
        if (looked == client->http->max_header_size)
            refuse_request(client, 431, "The head of the request is larger than max_header_size");
        return false;
    }
    int status = http_head_read(text, size, &head, &why);
    if (status != 0) {
        refuse_request(client, status, why);
    } else {
        http_body_begin(&client->body, &head);
        const HttpSpec *spec = client->http->spec;
        drop_sender(client);
        client->sender = spec->judge ? spec->judge(client->http, head.authorization, client->peer) : NULL;
        if (!client->body.ended && spec->judge && !spec->may_send(client->sender, head.verb)) {
            pass_without_body(client, head.verb, head.target);
        } else {
            static const char none[] = "Content-Length: 0\r\n\r\n"; /* evhttp would read to the connection's end */
            pass(client, text, size - 2);
            pass(client, head.counted || head.chunked ? "\r\n" : none, head.counted || head.chunked ? 2 : strlen(none));
            client->phase = client->body.ended ? PHASE_ANSWER : PHASE_BODY;
        }
    }
    evbuffer_drain(held, size);
    http_head_clear(&head);
    return client->phase != PHASE_SHUT;
}

static bool pass_body(HttpClient *client)
{
    bool sound;
    size_t length = evbuffer_get_length(client->held);
    const char *text = length > 0 ? (const char *)evbuffer_pullup(client->held, (ev_ssize_t)length) : "";
    size_t taken = http_body_take(&client->body, text, length, &sound);
    pass(client, text, taken);
    evbuffer_drain(client->held, taken);
    if (!sound) {
        pass(client, "x\r\n", 3); /* no chunk, wherever it stands: evhttp refuses the request and closes */
        client->phase = PHASE_SHUT;
    } else if (client->body.ended) {
        client->phase = PHASE_ANSWER;
    }
    return client->phase == PHASE_ANSWER;
}

/* Pass on what evhttp may see of what is held. */
static void pass_held(HttpClient *client)
{
    client->passing = true;
    while (client->phase == PHASE_HEAD ? pass_head(client) : client->phase == PHASE_BODY && pass_body(client))
        ;
    if (client->flow || client->phase == PHASE_SHUT)
        evbuffer_drain(client->held, evbuffer_get_length(client->held));
    client->passing = false;
    if (client->phase == PHASE_ANSWER && evbuffer_get_length(client->held) > client->http->max_header_size)
        shutdown(bufferevent_getfd(client->stream), SHUT_RDWR); /* it sends on, and reads no answer */
}

/* Bytes came from the client: they stand at the end of the input, maybe behind some that were passed already. */
static void on_arrived(struct evbuffer *input, const struct evbuffer_cb_info *change, void *data)
{
    HttpClient *client = data;
    if (client->passing || change->n_added == 0)
        return;
    struct evbuffer *passed = evbuffer_new();
    client->passing = true;
    evbuffer_remove_buffer(input, passed, change->orig_size);
    evbuffer_add_buffer(client->held, input);
    evbuffer_add_buffer(input, passed);
    evbuffer_free(passed);
    pass_held(client);
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
    client->held = evbuffer_new();
    evbuffer_add_cb(bufferevent_get_input(stream), on_arrived, client);
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

/* evhttp says nothing of connections that end before their first request is whole, and bears with those that send a
 * request byte by byte. */
static void look(Http *http, HttpClient *client, int64_t now)
{
    bool reads = client->until != 0 && evbuffer_get_length(bufferevent_get_output(client->stream)) > 0;
    bool late = (client->since != 0 && now - client->since > http->request_timeout) || (reads && now > client->until);
    if (client->requests > 0) { /* on_closed() will be called */
        if (http->server->leaving)
            close_if_idle(client);
        else if (late)
            shutdown(bufferevent_getfd(client->stream), SHUT_RDWR);
        return;
    }
    if (bufferevent_decref(client->stream)) { /* ours was the last */
        forget(client);
        return;
    }
    bufferevent_incref(client->stream);
    if ((http->server->leaving && now - client->since > FIRST_US) || late)
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

/* why NULL: evhttp refuses it, and does not say why. */
static void answer_refused(HttpCall *call, int status, const char *why)
{
    const HttpClient *client = call->client;
    const HttpSpec *spec = client->http->spec;
    call->last = true;
    if (why)
        log_info("peer=%s result=%d: %s", client->peer, status, why);
    if (spec->refuse) {
        spec->refuse(client->http, call, status, why);
        return;
    }
    g_autoptr(GString) body = g_string_new(NULL);
    g_string_printf(body, "{\"title\": \"%d %s\"", status, http_reason(status));
    if (why)
        g_string_append_printf(body, ", \"description\": \"%s\"", why);
    g_string_append_c(body, '}');
    http_answer(call, status, "application/json", body->str, body->len);
}

/* evhttp answers what it refuses itself with a page of its own. A function of a program takes the place of a library's
 * of the same name, so it calls this one. */
void evhttp_send_error(struct evhttp_request *request, int status, const char *reason)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    HttpClient *client = g_hash_table_lookup(serving->connections, evhttp_connection_get_bufferevent(connection));
    char root[] = "/";
    HttpCall call = {.client = client, .request = request, .verb = "GET", .path = root, .query = ""};
    (void)reason;
    if (request->major == 0) { /* its first line was none */
        request->major = 1;
        request->minor = 1;
    }
    evhttp_clear_headers(evhttp_request_get_output_headers(request));
    answer_refused(&call, status, NULL);
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

/* Of HEAD evhttp reads no body, and would take it for the next request. One that has come whole is moved to where
 * bodies are; else it is dropped with the connection. False: it was answered. */
static bool take_body(HttpCall *call)
{
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
    answer_refused(call, 400, "The body of such a request must come with its head, and have a Content-Length");
    return false;
}

static void on_request(struct evhttp_request *request, void *data)
{
    Http *http = data;
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    HttpClient *client = g_hash_table_lookup(http->connections, evhttp_connection_get_bufferevent(connection));
    if (client->requests++ == 0)
        evhttp_connection_set_closecb(connection, on_closed, client);
    client->since = client->until = 0;
    server_progress(http->server);
    const char *path = evhttp_request_get_uri(request);
    if (*path != '/') { /* as a proxy writes it, with scheme and authority (RFC 9112, 3.2) */
        const char *authority = strstr(path, "://");
        path = authority ? strchr(authority + 3, '/') : NULL;
        path = path ? path : "/";
    }
    size_t length = strcspn(path, "?#");
    g_autofree char *own = g_strndup(path, length);
    HttpCall call = {.client = client, .request = request, .verb = verb_of(request), .path = own,
                     .query = path[length] == '?' ? path + length + 1 : ""};
    struct bufferevent *stream = client->stream;
    if (client->refused != 0)
        answer_refused(&call, client->refused, client->why);
    else if (take_body(&call))
        http->spec->handle(http, &call);
    if (!g_hash_table_contains(http->connections, stream)) /* closed with its answer, and the client is gone */
        return;
    drop_sender(client);
    if (client->phase != PHASE_ANSWER || client->flow)
        return;
    client->phase = PHASE_HEAD; /* evhttp looks at its input again when the answer has left */
    evbuffer_unfreeze(bufferevent_get_input(client->stream), 0);
    pass_held(client);
    evbuffer_freeze(bufferevent_get_input(client->stream), 0);
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

static bool start(Server *server, GError **error)
{
    Http *http = server->data;
    const char *section = http->spec->section;
    const Config *config = server->config;
    http->server = server;
    http->max_connections = (size_t)config_integer(config, section, "max_connections");
    http->request_timeout = config_duration(config, section, "request_timeout");
    http->requests_per_connection = config_integer(config, section, "requests_per_connection");
    if (!http->spec->start(http, error))
        return false;
    serving = http;
    http->large = g_ptr_array_new();
    http->connections = g_hash_table_new(NULL, NULL);
    http->listeners = g_ptr_array_new();
    http->evhttp = evhttp_new(server->base);
    evhttp_set_gencb(http->evhttp, on_request, http);
    evhttp_set_bevcb(http->evhttp, on_connection, http);
    evhttp_set_allowed_methods(http->evhttp, VERBS);
    evhttp_set_timeout(http->evhttp, (int)(http->request_timeout / CLOCK_SECOND));
    http->max_header_size = (size_t)config_size(config, section, "max_header_size");
    evhttp_set_max_headers_size(http->evhttp, (ev_ssize_t)http->max_header_size + 64); /* and what we add to them */
    evhttp_set_max_body_size(http->evhttp, (ev_ssize_t)config_size(config, section, "max_body_size"));
    http->look = event_new(server->base, -1, EV_PERSIST, on_look, http);
    event_add(http->look, &(struct timeval){LOOK_US / CLOCK_SECOND, LOOK_US % CLOCK_SECOND});
    for (unsigned i = 0; i < server->child->listen_fds; i++) {
        int fd = SERVER_SOCKET(i);
        struct evhttp_bound_socket *bound = evhttp_accept_socket_with_handle(http->evhttp, fd);
        if (!bound)
            return fail(error, FAIL_LATER, "the event library cannot listen on descriptor %d", fd);
        struct evconnlistener *listener = evhttp_bound_socket_get_listener(bound);
        evconnlistener_disable(listener);
        g_ptr_array_add(http->listeners, listener);
        if (!is_local(fd))
            log_warn("[runner.%s] listen has an address that other hosts can reach, and what is spoken there is not "
                     "encrypted; put a proxy with TLS before it", server->child->runner);
    }
    return true;
}

static void begin(Server *server)
{
    adjust_accepting(server->data);
}

/* Requests are answered in one go, so that none is in progress here; those connections that wait for another one are
 * closed by looking at them. A new connection is left to look(). */
static void leave(Server *server)
{
    Http *http = server->data;
    adjust_accepting(http);
    g_autoptr(GList) all = g_hash_table_get_values(http->connections);
    for (GList *at = all; at; at = at->next)
        if (((HttpClient *)at->data)->requests > 0)
            close_if_idle(at->data);
    if (!all)
        server_end(server);
}

static void stop(Server *server)
{
    Http *http = server->data;
    event_free(http->look);
    evhttp_free(http->evhttp);
    g_hash_table_unref(http->connections);
    g_ptr_array_unref(http->large);
    g_ptr_array_unref(http->listeners);
    http->spec->stop(http);
}

int http_main(const HttpSpec *spec, int argc, char **argv)
{
    Http http = {.spec = spec};
    const ServerSpec server = {.name = spec->name, .start = start, .begin = begin, .leave = leave, .stop = stop};
    return server_main(&server, &http, argc, argv);
}
