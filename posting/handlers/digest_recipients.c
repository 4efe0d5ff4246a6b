/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

/* An issue of the digest goes to the members who want it in this form and language. */
static bool process(Post *post, GError **error)
{
    post->recipients = POST_TO_DIGEST;
    return true;
}

const Handler handler_digest_recipients = {.name = "digest-recipients", .process = process};
