/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/copy_sign.h"

#include <string.h>

#include "lists/keys.h"
#include "switchboard/meta.h"

void copy_sign_write(json_t *meta, const Signing *signing, size_t octets)
{
    json_t *object = json_object();
    meta_set_string(object, "domain", signing->domain);
    meta_set_bool(object, "dkim", signing->dkim);
    if (octets > 0)
        meta_set_integer(object, "octets", (int64_t)octets);
    if (signing->seal) {
        meta_set_string(object, "chain", arc_status_text(signing->seal->chain.status));
        meta_set_integer(object, "instance", signing->seal->chain.instance);
        meta_set_string(object, "results", signing->seal->results);
    }
    json_object_set_new(meta, KEY_SIGN, object);
}

static bool read_status(const char *text, ArcStatus *status)
{
    for (*status = ARC_NONE; text && *status < ARC_TROUBLE; (*status)++)
        if (strcmp(text, arc_status_text(*status)) == 0)
            return true;
    return false;
}

void copy_sign_read(const json_t *meta, CopySign *sign)
{
    const json_t *object = json_object_get(meta, KEY_SIGN);
    *sign = (CopySign){.signing = {.domain = meta_string(object, "domain", NULL)}};
    if (!sign->signing.domain)
        return;
    sign->signing.dkim = meta_bool(object, "dkim");
    sign->octets = (size_t)MAX(meta_integer(object, "octets", 0), 0);
    sign->seal.results = meta_string(object, "results", NULL);
    sign->seal.chain.instance = (unsigned)CLAMP(meta_integer(object, "instance", 0), 0, ARC_INSTANCE_MAX);
    if (sign->seal.results && read_status(meta_string(object, "chain", NULL), &sign->seal.chain.status))
        sign->signing.seal = &sign->seal;
}
