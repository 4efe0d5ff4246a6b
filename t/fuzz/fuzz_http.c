/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any bytes as the head of a request, and what follows as its body: the body ends at the same place however it is cut,
 * and what is let in has a verb, a target and one length.
 */
#include "runners/server/http_head.h"

#include <string.h>

#include "t/fuzz/fuzz.h"

static size_t take(HttpBody *body, const HttpHead *head, const char *text, size_t length, size_t piece)
{
    bool sound = true;
    size_t at = 0;
    http_body_begin(body, head);
    while (sound && !body->ended && at < length)
        at += http_body_take(body, text + at, MIN(piece, length - at), &sound);
    return sound ? at : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *why = NULL;
    size_t end = http_head_size(text, size);
    HttpHead head;
    if (end == 0)
        return 0;
    int status = http_head_read(text, end, &head, &why);
    require(status == 0 || (why && status >= 400));
    if (status == 0) {
        HttpBody whole, cut;
        require(*head.verb && *head.target && !strpbrk(head.target, " \r\n"));
        require(!(head.chunked && head.counted));
        require(take(&whole, &head, text + end, size - end, size + 1) == take(&cut, &head, text + end, size - end, 1));
        require(whole.ended == cut.ended);
    }
    http_head_clear(&head);
    return 0;
}
