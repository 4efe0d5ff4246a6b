/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/http_client.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <sys/socket.h>

#include "base/fail.h"
#include "base/ip.h"

/*
 * libcurl brings thirty libraries with it, and a process that is linked with it has more than a megabyte of its own for
 * them. Most processes that could ask a server never do, so it is loaded at the first request.
 */
#define LIBCURL "libcurl.so.4"
#define FUNCTIONS(_)                                                                                                   \
    _(easy_init) _(easy_cleanup) _(easy_setopt) _(easy_perform) _(easy_getinfo) _(easy_strerror) _(mime_init)          \
    _(mime_addpart) _(mime_name) _(mime_data) _(mime_filename) _(mime_free) _(slist_append) _(slist_free_all)

#define POINTER(name) typeof(curl_##name) *name;
static struct {
    void *loaded; /* NULL before the first request */
    FUNCTIONS(POINTER)
} curl;

static bool load(GError **error)
{
    void *loaded = curl.loaded ? curl.loaded : dlopen(LIBCURL, RTLD_NOW | RTLD_LOCAL);
    if (!loaded)
        return fail(error, FAIL_LATER, "cannot load the library %s: %s", LIBCURL, dlerror());
#define LOAD(name)                                                                                                     \
    if (!(curl.name = dlsym(loaded, "curl_" #name)))                                                                  \
        return fail(error, FAIL_LATER, "%s has no function curl_" #name, LIBCURL);
    FUNCTIONS(LOAD)
    curl.loaded = loaded;
    return true;
}

/* A request and its answer. */
typedef struct Exchange {
    const HttpRequest *request;
    HttpAnswer *answer;
    bool forbidden; /* an address of the host is not public, or is this host's own */
} Exchange;

void http_answer_clear(HttpAnswer *answer)
{
    if (answer->body)
        g_string_free(answer->body, TRUE);
    answer->body = NULL;
}

/* Keep the answer up to its limit. The rest is read and forgotten, but not for long: the time of the request is
 * limited. */
static size_t keep(char *octets, size_t size, size_t count, void *data)
{
    const Exchange *exchange = data;
    GString *body = exchange->answer->body;
    size_t room = exchange->request->answer_max - MIN(body->len, exchange->request->answer_max);
    exchange->answer->cut = exchange->answer->cut || size * count > room;
    g_string_append_len(body, octets, (gssize)MIN(size * count, room));
    return size * count;
}

static int progress(void *data, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent)
{
    const HttpRequest *request = data;
    (void)to_get, (void)got, (void)to_send, (void)sent;
    return request->alive && !request->alive(request->data);
}

/* Look at the very address that libcurl connects to, since a name may have another one at each question. */
static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    Exchange *exchange = data;
    (void)purpose;
    if (!ip_public(&address->addr) || ip_own(&address->addr, (socklen_t)address->addrlen)) {
        exchange->forbidden = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_options(CURL *handle, Exchange *exchange, struct curl_slist *headers)
{
    const HttpRequest *request = exchange->request;
    curl.easy_setopt(handle, CURLOPT_URL, request->url);
    curl.easy_setopt(handle, CURLOPT_PROTOCOLS_STR, request->files ? "http,https,file" : "http,https");
    curl.easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl.easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)(request->timeout / 1000));
    curl.easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, keep);
    curl.easy_setopt(handle, CURLOPT_WRITEDATA, exchange);
    curl.easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl.easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
    curl.easy_setopt(handle, CURLOPT_XFERINFODATA, request);
    if (request->public_only) {
        curl.easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
        curl.easy_setopt(handle, CURLOPT_OPENSOCKETDATA, exchange);
        curl.easy_setopt(handle, CURLOPT_PROXY, "");
    }
    if (!request->user || !*request->user)
        return;
    curl.easy_setopt(handle, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl.easy_setopt(handle, CURLOPT_USERNAME, request->user);
    curl.easy_setopt(handle, CURLOPT_PASSWORD, request->password ? request->password : "");
}

/* The content of a request: a form or a body. Without either the request is a GET. */
typedef struct HttpSent {
    const HttpForm *form;
    const char *body;
    size_t length;
} HttpSent;

static bool perform(const HttpRequest *request, const HttpSent *sent, HttpAnswer *answer, GError **error)
{
    const HttpForm *form = sent->form;
    *answer = (HttpAnswer){.body = g_string_new(NULL)};
    if (!load(error))
        return false;
    CURL *handle = curl.easy_init();
    if (!handle)
        return fail(error, FAIL_LATER, "libcurl cannot be used");
    Exchange exchange = {request, answer, false};
    curl_mime *parts = form ? curl.mime_init(handle) : NULL;
    struct curl_slist *headers = curl.slist_append(NULL, "Expect:"); /* nobody waits a second for 100 Continue */
    if (request->header)
        headers = curl.slist_append(headers, request->header);
    for (const char *const *line = request->headers; line && *line; line++)
        headers = curl.slist_append(headers, *line);
    set_options(handle, &exchange, headers);
    if (sent->body) {
        curl.easy_setopt(handle, CURLOPT_POSTFIELDS, sent->body);
        curl.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)sent->length);
    }
    if (form) {
        curl_mimepart *field = curl.mime_addpart(parts), *file = curl.mime_addpart(parts);
        curl.mime_name(field, form->name);
        curl.mime_data(field, form->value, CURL_ZERO_TERMINATED);
        curl.mime_name(file, form->file);
        curl.mime_data(file, form->octets, form->length);
        curl.mime_filename(file, form->file_name);
        curl.easy_setopt(handle, CURLOPT_MIMEPOST, parts);
    }
    CURLcode code = curl.easy_perform(handle);
    if (code == CURLE_OK)
        curl.easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer->status);
    curl.slist_free_all(headers);
    curl.mime_free(parts);
    curl.easy_cleanup(handle);
    if (code != CURLE_OK && exchange.forbidden)
        return fail(error, FAIL_NEVER, "%s: its host has an address that is not a public one, or is one of this host",
                    request->url);
    bool unusable = code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL;
    return code == CURLE_OK ||
           fail(error, unusable ? FAIL_CONFIG : FAIL_LATER, "%s: %s", request->url, curl.easy_strerror(code));
}

bool http_get(const HttpRequest *request, HttpAnswer *answer, GError **error)
{
    return perform(request, &(HttpSent){NULL}, answer, error);
}

bool http_post(const HttpRequest *request, const char *body, size_t length, HttpAnswer *answer, GError **error)
{
    return perform(request, &(HttpSent){.body = body, .length = length}, answer, error);
}

bool http_post_form(const HttpRequest *request, const HttpForm *form, HttpAnswer *answer, GError **error)
{
    return perform(request, &(HttpSent){.form = form}, answer, error);
}
