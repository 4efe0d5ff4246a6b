/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/http_client.h"

#include <curl/curl.h>

#include "base/fail.h"

/* A request and its answer. */
typedef struct Exchange {
    const HttpRequest *request;
    HttpAnswer *answer;
} Exchange;

void http_answer_clear(HttpAnswer *answer)
{
    if (answer->body)
        g_string_free(answer->body, TRUE);
    answer->body = NULL;
}

/* What is beyond the limit is read and forgotten, but not for long: the time of the request is limited. */
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

static void set_options(CURL *curl, Exchange *exchange, struct curl_slist *headers)
{
    const HttpRequest *request = exchange->request;
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, request->files ? "http,https,file" : "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(request->timeout / 1000));
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, request);
    if (!request->user || !*request->user)
        return;
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(curl, CURLOPT_USERNAME, request->user);
    curl_easy_setopt(curl, CURLOPT_PASSWORD, request->password ? request->password : "");
}

static void fill_form(curl_mime *parts, const HttpForm *form)
{
    curl_mimepart *field = curl_mime_addpart(parts), *file = curl_mime_addpart(parts);
    curl_mime_name(field, form->name);
    curl_mime_data(field, form->value, CURL_ZERO_TERMINATED);
    curl_mime_name(file, form->file);
    curl_mime_data(file, form->octets, form->length);
    curl_mime_filename(file, form->file_name);
}

/* form NULL: GET. */
static bool perform(const HttpRequest *request, const HttpForm *form, HttpAnswer *answer, GError **error)
{
    CURL *curl = curl_easy_init();
    *answer = (HttpAnswer){.body = g_string_new(NULL)};
    if (!curl)
        return fail(error, FAIL_LATER, "libcurl cannot be used");
    Exchange exchange = {request, answer};
    curl_mime *parts = form ? curl_mime_init(curl) : NULL;
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:"); /* nobody waits a second for 100 Continue */
    if (request->header)
        headers = curl_slist_append(headers, request->header);
    set_options(curl, &exchange, headers);
    if (form) {
        fill_form(parts, form);
        curl_easy_setopt(curl, CURLOPT_MIMEPOST, parts);
    }
    CURLcode code = curl_easy_perform(curl);
    if (code == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_slist_free_all(headers);
    curl_mime_free(parts);
    curl_easy_cleanup(curl);
    bool unusable = code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL;
    return code == CURLE_OK ||
           fail(error, unusable ? FAIL_CONFIG : FAIL_LATER, "%s: %s", request->url, curl_easy_strerror(code));
}

bool http_get(const HttpRequest *request, HttpAnswer *answer, GError **error)
{
    return perform(request, NULL, answer, error);
}

bool http_post_form(const HttpRequest *request, const HttpForm *form, HttpAnswer *answer, GError **error)
{
    return perform(request, form, answer, error);
}
