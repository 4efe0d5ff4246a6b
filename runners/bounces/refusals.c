/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Recipients that out was refused while it delivered. It may report one a
 * second time (after a crash), in another entry or in one of the same name: effects are kept under the entry
 * of out that they belong to, and whose they are under KEY_WRITING.
 */
#include <string.h>

#include "lists/keys.h"
#include "runners/bounces/case.h"

/* The detail of "test-bounces+DETAIL@host", g_free(); NULL: there is none. */
static char *detail_of(const Case *given, const char *sender)
{
    g_autofree char *local = NULL;
    VerpList list = case_verp_list(given, &local);
    size_t length = strlen(local);
    const char *at = sender ? strrchr(sender, '@') : NULL;
    if (!at || g_ascii_strncasecmp(sender, local, length) != 0 || sender[length] != list.delimiter)
        return NULL;
    return g_strndup(sender + length + 1, (size_t)(at - sender) - length - 1);
}

static bool refused(Case *given, const json_t *failure, const char *probed, GError **error)
{
    const char *address = meta_string(failure, "address", "");
    Failed failed = {.address = address, .status = meta_string(failure, "status", ""),
                     .text = meta_string(failure, "reply", ""), .source = "smtp",
                     .probe = probed && g_ascii_strcasecmp(probed, address) == 0};
    /* An entry of an earlier version tells no phase, but whether the protocol or the mail itself was refused. */
    const char *phase = meta_string(failure, "phase", meta_bool((json_t *)failure, "of_message") ? "mail" : "");
    BounceVerdict verdict = bounce_judge(&(BounceReply){.phase = bounce_phase_named(phase), .status = failed.status,
                                                        .text = failed.text});
    failed.class = verdict.class;
    failed.about = verdict.about;
    failed.soft = verdict.soft;
    failed.reason = verdict.reason;
    return !*address || case_failed(given, &failed, error);
}

bool case_refusals(Case *given, GError **error)
{
    json_t *meta = entry_meta(given->entry);
    g_autofree char *detail = detail_of(given, meta_string(meta, KEY_ENVELOPE_SENDER, NULL));
    Signature signature;
    if (!case_read_signature(given, detail, &signature, error))
        return false;
    g_autofree char *recipient = signature.recipient;
    bool probe = signature.result == VERP_VALID && signature.purpose == VERP_PROBE;
    const char *of = meta_string(meta, KEY_OF, NULL);
    if (of) {
        g_free(given->key);
        given->key = g_strconcat("bounces:of:", of, NULL);
    }
    size_t at;
    json_t *failure;
    json_array_foreach(json_object_get(meta, KEY_FAILURES), at, failure)
        if (!refused(given, failure, probe ? recipient : NULL, error))
            return false;
    return true;
}
