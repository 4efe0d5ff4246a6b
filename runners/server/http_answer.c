/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A request as its handler reads it, and the ways to answer it: at once, with much, or by a stream. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "runners/server/http_internal.h"

#define SMALL (64 * 1024) /* bytes of an answer that is copied */

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
    if (call->last || call->client->requests >= http->requests_per_connection || server_leaving(http->server))
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

/* ---- streams ---- */

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

void http_stream_forget(HttpClient *client)
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
