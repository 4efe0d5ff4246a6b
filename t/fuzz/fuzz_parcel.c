/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any bytes as what another host hands over, in base64 and as they are: they are refused for ever, or become an entry
 * for the queue handover that says under which name and for which queue it came, and whose message is shorter.
 */
#include "runners/handover/parcel.h"

#include <string.h>

#include "base/fail.h"
#include "t/fuzz/fuzz.h"

static void unpack(const void *bytes, size_t size, size_t most)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) content = g_bytes_new_static(bytes, size);
    g_autoptr(Draft) draft = parcel_unpack(content, &error);
    require(draft ? !error : g_error_matches(error, FAIL, FAIL_NEVER) && g_utf8_validate(error->message, -1, NULL));
    if (!draft)
        return;
    const json_t *meta = draft_meta(draft);
    g_auto(GStrv) queues = g_strsplit(DOOR_QUEUES, " ", -1);
    require(strcmp(draft_queue(draft), HANDOVER_QUEUE) == 0);
    require(g_strv_contains((const char *const *)queues, meta_string(meta, KEY_HAND_QUEUE, "")));
    require(meta_string(meta, KEY_HANDED, NULL) && !meta_string(meta, KEY_HAND_TO, NULL));
    require(draft_message_length(draft) < most);
    draft_name(draft);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *coded = g_base64_encode(data, size);
    unpack(coded, strlen(coded), size);
    unpack(data, size, size);
    return 0;
}
