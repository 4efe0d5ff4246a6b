/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A mail to -bounces. An address that we signed says whom it is about, whatever the mail says; the mail says whether it
 * was a failure. Without a signature the mail is believed as far as it goes: it costs a member points, never the
 * membership.
 *
 * Recipients that out was refused while it delivered come by the same signatures. It may report one a second time
 * (after a crash), in another entry or in one of the same name: effects are kept under the entry of out that they
 * belong to, and whose they are under KEY_WRITING.
 */
#include <string.h>

#include "base/fail.h"
#include "lists/keys.h"
#include "runners/bounces/case.h"

#define READ_MAX (1024 * 1024) /* bytes of a mail that are looked at; a report stands before what it returns */
#define PROOFS_MAX 50          /* addresses of ours that are tried in a complaint */

/* ---- signatures ---- */

/* The signature in an address of the list: VERP_VALID with the recipient (g_free()), or why it is not valid. purpose
 * tells whether the address is that of a probe or of a copy of a post. */
typedef struct Signature {
    VerpResult result;
    VerpPurpose purpose;
    char *recipient;
} Signature;

/* Read the signature from detail, the part of an address behind the delimiter. */
static bool read_signature(Case *given, const char *detail, Signature *signature, GError **error)
{
    static const VerpPurpose purposes[] = {VERP_COPY, VERP_PROBE};
    g_autofree char *local = NULL;
    VerpList list = case_verp_list(given, &local);
    *signature = (Signature){.result = VERP_ABSENT};
    for (size_t i = 0; i < G_N_ELEMENTS(purposes); i++) {
        g_auto(VerpRead) read = {0};
        const HashedProof proof = {given->bounces->shared->seat.keys, purposes[i], &list, given->now};
        VerpResult result;
        if (!hashed_parse(given->bounces->hashed, &proof, detail, &read, &result, error))
            return false;
        signature->result = result;
        if (result == VERP_VALID) {
            signature->purpose = purposes[i];
            signature->recipient = g_steal_pointer(&read.recipient);
        }
        if (result != VERP_FORGED)
            break;
    }
    return true;
}

/* ---- complaints ---- */

/* A detail we signed, wherever the mail has one behind mark ("test-bounces+"). */
static bool search_proof(Case *given, const GString *text, const char *mark, bool leave, char **recipient,
                         GError **error)
{
    g_autofree char *local = NULL;
    VerpList list = case_verp_list(given, &local);
    unsigned tried = 0;
    const char *at = text->str;
    while (!*recipient && tried++ < PROOFS_MAX && (at = strstr(at, mark))) {
        at += strlen(mark);
        g_autofree char *detail = g_strndup(at, strcspn(at, "@<> \t\r\n\"';,"));
        if (leave) {
            g_auto(VerpRead) read = {0};
            const HashedProof proof = {given->bounces->shared->seat.keys, VERP_UNSUBSCRIBE, &list, given->now};
            VerpResult result;
            if (!hashed_parse(given->bounces->hashed, &proof, detail, &read, &result, error))
                return false;
            *recipient = result == VERP_VALID ? g_steal_pointer(&read.recipient) : NULL;
            continue;
        }
        Signature signature;
        if (!read_signature(given, detail, &signature, error))
            return false;
        *recipient = signature.recipient;
    }
    return true;
}

/* Anybody can write a complaint; one that has a copy of ours in it is believed. */
static bool find_proof(Case *given, const char *octets, size_t length, char **recipient, GError **error)
{
    g_autoptr(GString) text = g_string_new_len(octets, (gssize)length);
    for (size_t i = 0; i < text->len; i++)
        text->str[i] = text->str[i] ? g_ascii_tolower(text->str[i]) : ' ';
    const char delimiter[] = {given->bounces->delimiter, '\0'};
    g_autofree char *own = list_local(given->list, "bounces", VERP_LIST_MAX);
    g_autofree char *other = list_local(given->list, "leave", VERP_LIST_MAX);
    g_autofree char *bounces = g_strconcat(own, delimiter, NULL), *leave = g_strconcat(other, delimiter, NULL);
    return search_proof(given, text, bounces, false, recipient, error) &&
           search_proof(given, text, leave, true, recipient, error);
}

static bool complained(Case *given, const char *address, GError **error)
{
    return case_complained(given,
                           &(Failed){.address = address, .class = BOUNCE_COMPLAINT, .status = "", .reason = "spam",
                                     .text = "", .source = "verp"},
                           error);
}

/* ---- the mail ---- */

/* Of several recipients the one counts that is this address, or that the report calls another address made from it;
 * and else the gravest. */
static bool signed_failure(Case *given, const Signature *signature, const Bounce *bounce, GError **error)
{
    const BounceRecipient *one = NULL;
    for (unsigned i = 0; i < bounce->recipients->len; i++) {
        const BounceRecipient *other = bounce->recipients->pdata[i];
        bool same = g_ascii_strcasecmp(other->address, signature->recipient) == 0 ||
                    (other->known_as && g_ascii_strcasecmp(other->known_as, signature->recipient) == 0);
        if (!one || other->class < one->class || (same && other->class != BOUNCE_DELAYED))
            one = other;
        if (same && other->class != BOUNCE_DELAYED)
            break;
    }
    if (one && one->class == BOUNCE_DELAYED) {
        list_runner_log(given->entry, "address=<%s> result=not-counted (delayed)", signature->recipient);
        return true;
    }
    Failed failed = {.address = signature->recipient, .source = "verp", .probe = signature->purpose == VERP_PROBE,
                     .class = one ? one->class : BOUNCE_TEMPORARY, .soft = !one || one->soft,
                     .about = one ? one->about : BOUNCE_ABOUT_RECIPIENT, .status = one ? one->status : "",
                     .reason = one ? one->reason : "undefined", .text = one ? one->text : ""};
    return case_failed(given, &failed, error);
}

/* One forged report must not cost a whole list points. */
static bool unsigned_failures(Case *given, const Bounce *bounce, GError **error)
{
    int64_t most = given->bounces->unsigned_recipients, failed = 0;
    for (unsigned i = 0; i < bounce->recipients->len; i++) {
        const BounceRecipient *one = bounce->recipients->pdata[i];
        if (one->class == BOUNCE_DELAYED) {
            list_runner_log(given->entry, "address=<%s> result=not-counted (delayed)", one->address);
            continue;
        }
        if (most > 0 && ++failed > most)
            continue;
        Failed failure = {.address = one->address, .known_as = one->known_as, .source = "report",
                          .class = one->class, .about = one->about, .soft = one->soft, .status = one->status,
                          .reason = one->reason, .text = one->text};
        if (!case_failed(given, &failure, error))
            return false;
    }
    if (most > 0 && failed > most)
        list_runner_log(given->entry, "recipients=%" G_GINT64_FORMAT " result=not-counted (more than "
                        "max_unsigned_recipients in one mail)", failed - most);
    return true;
}

/* Do what this kind of mail asks for. by: our signature in the address that it came to; NULL: there is none, and the
 * mail itself must say whom it is about. */
static bool read_mail(Case *given, const Signature *by, GError **error)
{
    g_autoptr(GBytes) whole = entry_message(given->entry);
    size_t length;
    const char *octets = g_bytes_get_data(whole, &length);
    length = MIN(length, READ_MAX);
    g_autoptr(Bounce) bounce = bounce_parse(octets, length);
    g_autofree char *proven = NULL;
    switch (bounce->kind) {
    case BOUNCE_FAILURE:
        return by ? signed_failure(given, by, bounce, error) : unsigned_failures(given, bounce, error);
    case BOUNCE_UNRECOGNISED: /* who failed is known from the address, only not how */
        return by ? signed_failure(given, by, bounce, error) : case_forward(given, "it names no recipient", error);
    case BOUNCE_FEEDBACK:
        if (!bounce->complaint)
            return case_forward(given, "it is feedback that complains of nothing", error);
        if (by)
            return complained(given, by->recipient, error);
        if (!find_proof(given, octets, length, &proven, error))
            return false;
        return proven ? complained(given, proven, error)
                      : case_forward(given, "it is a complaint that names no copy of ours", error);
    case BOUNCE_NONE:
        return case_forward(given, "it is no report of failed delivery", error);
    default:
        if (by)
            list_runner_log(given->entry, "address=<%s> result=not-counted (%s)", by->recipient,
                            bounce_kind_name(bounce->kind));
        else
            list_runner_log(given->entry, "result=not-counted (%s)", bounce_kind_name(bounce->kind));
        return true;
    }
}

bool case_mail(Case *given, GError **error)
{
    const char *detail = meta_string(entry_meta(given->entry), KEY_DETAIL, NULL);
    Signature signature;
    if (!read_signature(given, detail, &signature, error))
        return false;
    g_autofree char *recipient = signature.recipient;
    switch (signature.result) {
    case VERP_VALID:
        return read_mail(given, &signature, error);
    case VERP_STALE:
    case VERP_FORGED:
        list_runner_log(given->entry, "detail=%s result=discarded (%s)", detail,
                        signature.result == VERP_STALE ? "we wrote that address too long ago"
                                                       : "we did not write that address");
        return true;
    default: { /* mail that nobody signed is bounded, for anybody can send it */
        int64_t today = 0, most = given->bounces->unsigned_a_day;
        Store *store = given->bounces->shared->store;
        if (most > 0 && !bounce_count(store, given->list->list_id, "unsigned", given->now, &today, error))
            return false;
        if (today <= most)
            return read_mail(given, NULL, error);
        list_runner_log(given->entry, "result=discarded (the list got max_unsigned_per_day today)");
        return true;
    }
    }
}

/* ---- what out was refused ---- */

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
    const char *phase = meta_string(failure, "phase", "");
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
    if (!read_signature(given, detail, &signature, error))
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
