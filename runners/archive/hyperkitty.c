/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Hands each mail to HyperKitty, the web archive of GNU Mailman, through its HTTP interface: POST
 * URL/api/mailman/archive with the list's address and the mail, and the key that both know. HyperKitty answers 200 for
 * a mail that it has by its Message-ID, too: so handing one over again after a crash does nothing.
 */
#include "runners/archive/archiver.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/secret.h"
#include "net/http_client.h"

#define ANSWER_MAX 4096 /* bytes of an answer that are read */

/* A server that gave no answer is left alone for four times as long as that took, but at least for so long: or each of
 * the mails that wait would keep the runner for http_timeout, and the other archivers with it. */
#define REST_MIN (5 * CLOCK_SECOND)
#define REST_FACTOR 4

typedef struct ArchiveHyperKitty {
    Runner *runner;
    char *url, *header;
    int64_t timeout;
    int64_t rests_until; /* monotonic */
} ArchiveHyperKitty;

static void hyperkitty_close(void *data)
{
    ArchiveHyperKitty *self = data;
    g_free(self->url);
    g_free(self->header);
    g_free(self);
}

static void *hyperkitty_open(Runner *runner, const char *section, GError **error)
{
    const char *base = archiver_setting(runner, section, "url", error);
    const char *file = base ? archiver_setting(runner, section, "api_key_file", error) : NULL;
    g_autofree char *key = file ? secret_file_line(file, error) : NULL;
    if (!key) {
        if (file)
            g_prefix_error(error, "[%s] api_key_file: ", section);
        return NULL;
    }
    ArchiveHyperKitty *self = g_new0(ArchiveHyperKitty, 1);
    self->runner = runner;
    self->url = g_strconcat(base, g_str_has_suffix(base, "/") ? "" : "/", "api/mailman/archive", NULL);
    self->header = g_strconcat("Authorization: Token ", key, NULL);
    self->timeout = config_duration(runner_config(runner), "archive", "http_timeout");
    return self;
}

/* The start of an answer, on one line, for the log. */
static char *brief(const char *answer)
{
    g_autofree char *valid = g_utf8_make_valid(answer, -1);
    char *line = g_utf8_substring(valid, 0, MIN(g_utf8_strlen(valid, -1), 200));
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '"')
            *at = ' ';
    return g_strstrip(line);
}

static bool hyperkitty_store(void *data, const ArchiveMail *mail, GError **error)
{
    ArchiveHyperKitty *self = data;
    if (*mail->posting_address == '\0')
        return fail(error, FAIL_NEVER, "the entry does not tell the address of its list");
    const HttpRequest request = {.url = self->url, .header = self->header, .timeout = self->timeout,
                                 .answer_max = ANSWER_MAX, .alive = runner_alive, .data = self->runner};
    const HttpForm form = {.name = "mlist", .value = mail->posting_address, .file = "message",
                           .file_name = "message.txt", .octets = mail->octets, .length = mail->length};
    g_auto(HttpAnswer) answer = {0};
    int64_t begun = clock_monotonic();
    if (begun < self->rests_until)
        return fail(error, FAIL_LATER, "%s gave no answer a moment ago, and is not asked yet", self->url);
    if (!http_post_form(&request, &form, &answer, error)) {
        int64_t now = clock_monotonic();
        self->rests_until = now + MAX(REST_MIN, REST_FACTOR * (now - begun));
        return false;
    }
    if (answer.status == 200)
        return true;
    g_autofree char *said = brief(answer.body->str);
    /* 400 is about this mail; a wrong key (401, 403) and all else are for a person to mend, and the mail waits. */
    bool never = answer.status == 400 || answer.status == 413;
    return fail(error, never ? FAIL_NEVER : FAIL_LATER, "%s answered %ld: %s", self->url, answer.status,
                said);
}

const ArchiverType archiver_hyperkitty = {
    .name = "hyperkitty",
    .immediate = true,
    .open = hyperkitty_open,
    .store = hyperkitty_store,
    .close = hyperkitty_close,
};
