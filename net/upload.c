/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/upload.h"

#include <curl/curl.h>

#include "base/fail.h"

/* What is beyond the limit is read and forgotten. */
static size_t keep(char *octets, size_t size, size_t count, void *data)
{
    GString *answer = data;
    size_t room = UPLOAD_ANSWER_MAX - MIN(answer->len, (size_t)UPLOAD_ANSWER_MAX);
    g_string_append_len(answer, octets, (gssize)MIN(size * count, room));
    return size * count;
}

static int progress(void *data, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent)
{
    const Upload *upload = data;
    (void)to_get, (void)got, (void)to_send, (void)sent;
    return upload->alive && !upload->alive(upload->data);
}

static void fill_form(curl_mime *form, const Upload *upload)
{
    curl_mimepart *field = curl_mime_addpart(form), *file = curl_mime_addpart(form);
    curl_mime_name(field, upload->name);
    curl_mime_data(field, upload->value, CURL_ZERO_TERMINATED);
    curl_mime_name(file, upload->file);
    curl_mime_data(file, upload->octets, upload->length);
    curl_mime_filename(file, upload->file_name);
}

static void set_options(CURL *curl, const Upload *upload, curl_mime *form, struct curl_slist *headers, GString *answer)
{
    curl_easy_setopt(curl, CURLOPT_URL, upload->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_MIMEPOST, form);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(upload->timeout / 1000));
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, upload);
}

bool upload_post(const Upload *upload, long *status, char **answer, GError **error)
{
    CURL *curl = curl_easy_init();
    if (!curl)
        return fail(error, FAIL_LATER, "libcurl cannot be used");
    g_autoptr(GString) body = g_string_new(NULL);
    curl_mime *form = curl_mime_init(curl);
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:"); /* nobody waits a second for 100 Continue */
    if (upload->header)
        headers = curl_slist_append(headers, upload->header);
    fill_form(form, upload);
    set_options(curl, upload, form, headers, body);
    CURLcode code = curl_easy_perform(curl);
    if (code == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    curl_slist_free_all(headers);
    curl_mime_free(form);
    curl_easy_cleanup(curl);
    if (code != CURLE_OK)
        return fail(error, code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ? FAIL_CONFIG : FAIL_LATER,
                    "%s: %s", upload->url, curl_easy_strerror(code));
    *answer = g_strdup(body->str);
    return true;
}
