/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Sources at a web server: the same lines as in a file. */
#include "lists/sources/source_read.h"

#include "base/clock.h"
#include "base/fail.h"
#include "net/http_client.h"

#define PATIENCE (5 * 60 * CLOCK_SECOND)
#define BODY_MAX (64 * 1024 * 1024) /* bytes: some million addresses */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FILE, fclose)

static bool read_body(SourceReading *reading, GString *body, GError **error)
{
    if (body->len == 0)
        return true;
    if (body->str[body->len - 1] != '\n')
        return fail(error, FAIL_LATER, "the last line of the answer has no end, so it is not whole");
    g_autoptr(FILE) file = fmemopen(body->str, body->len, "r");
    return file ? source_reading_lines(reading, file, error) : fail_errno(error, FAIL_LATER, "cannot read the answer");
}

bool source_read_url(SourceReading *reading, GError **error)
{
    const SourceRun *run = reading->run;
    const HttpRequest request = {.url = reading->source->place,
                                 .user = reading->source->bind_dn,
                                 .password = reading->password,
                                 .timeout = PATIENCE,
                                 .answer_max = BODY_MAX,
                                 .alive = run->alive,
                                 .data = run->data};
    g_auto(HttpAnswer) answer = {0};
    g_autoptr(GError) fault = NULL;
    if (!http_get(&request, &answer, &fault)) {
        g_autofree char *shown = source_shown(reading->source);
        g_autoptr(GString) message = g_string_new(fault->message);
        g_string_replace(message, reading->source->place, shown, 0);
        return fail(error, fault->code, "%s", message->str);
    }
    if (answer.status != 200)
        return fail(error, answer.status >= 500 ? FAIL_LATER : FAIL_CONFIG, "the server answered %ld", answer.status);
    if (answer.cut)
        return fail(error, FAIL_CONFIG, "it is longer than %d bytes", BODY_MAX);
    return read_body(reading, answer.body, error);
}
