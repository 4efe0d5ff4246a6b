/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/arc.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "mail/auth/dkim_internal.h"

#define RESULTS "ARC-Authentication-Results"
#define SIGNATURE "ARC-Message-Signature"
#define SEAL "ARC-Seal"

/* One set of the chain. A field is NULL while it is missing. */
typedef struct ArcSet {
    const Field *results, *signature, *seal;
    GHashTable *signature_tags, *seal_tags;
} ArcSet;

/* All sets of a message: of number N at N - 1. */
typedef struct ArcSets {
    ArcSet sets[ARC_INSTANCE_MAX];
    unsigned highest;
    size_t octets;     /* of all their fields */
    const char *fault; /* why they are no chain, static; NULL: they are one, as far as their form goes */
} ArcSets;

const char *arc_status_text(ArcStatus status)
{
    static const char *const texts[] = {"none", "pass", "fail", "temperror"};
    return texts[status];
}

/* ---- reading ---- */

static void sets_clear(ArcSets *sets)
{
    for (size_t at = 0; at < ARC_INSTANCE_MAX; at++) {
        g_clear_pointer(&sets->sets[at].signature_tags, g_hash_table_unref);
        g_clear_pointer(&sets->sets[at].seal_tags, g_hash_table_unref);
    }
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ArcSets, sets_clear)

/* Read "17". Returns 0 when the text is anything but the number of a set. */
static unsigned instance_of(const char *text)
{
    size_t digits = text ? strspn(text, "0123456789") : 0;
    if (digits == 0 || digits > 3 || text[digits])
        return 0;
    guint64 number = g_ascii_strtoull(text, NULL, 10);
    return number <= ARC_INSTANCE_MAX ? (unsigned)number : 0;
}

static bool is_cv(GHashTable *tags, const char *value)
{
    return g_strcmp0(g_hash_table_lookup(tags, "cv"), value) == 0;
}

/* Read all sets, and set fault to the first thing that is wrong with their form. */
static void read_sets(const Message *message, ArcSets *sets)
{
    for (size_t at = 0; at < message_field_count(message); at++) {
        const Field *field = message_field(message, at);
        bool is_results = field_is(field, RESULTS), is_signature = field_is(field, SIGNATURE);
        if (!is_results && !is_signature && !field_is(field, SEAL))
            continue;
        sets->octets += field->length;
        g_autoptr(GHashTable) tags = is_results ? NULL : dkim_tags_of(field);
        unsigned instance = tags ? instance_of(g_hash_table_lookup(tags, "i")) : 0;
        if (is_results) { /* "i=2; lists.example.com; ..." */
            g_autofree char *value = g_strndup(field->text + field->value_offset, field->length - field->value_offset);
            char *end = strchr(value, ';'), *equals = end ? memchr(value, '=', (size_t)(end - value)) : NULL;
            if (equals)
                *end = *equals = '\0';
            instance = equals && strcmp(g_strstrip(value), "i") == 0 ? instance_of(g_strstrip(equals + 1)) : 0;
        }
        ArcSet *set = instance > 0 ? &sets->sets[instance - 1] : NULL;
        const Field **place = !set ? NULL : is_results ? &set->results : is_signature ? &set->signature : &set->seal;
        sets->highest = MAX(sets->highest, instance);
        if (!set || *place) {
            sets->fault = set ? "a set has a field twice" : "a field has no number from 1 to 50";
            continue;
        }
        *place = field;
        if (is_signature)
            set->signature_tags = g_steal_pointer(&tags);
        else if (!is_results)
            set->seal_tags = g_steal_pointer(&tags);
    }
    if (!sets->fault && sets->octets > ARC_OCTETS_MAX)
        sets->fault = "its fields are too long";
    for (unsigned at = 0; at < sets->highest && !sets->fault; at++) {
        const ArcSet *set = &sets->sets[at];
        if (!set->results || !set->signature || !set->seal)
            sets->fault = "a set is not complete";
        else if (is_cv(set->seal_tags, "fail")) /* with it a server ended the chain */
            sets->fault = "a server on the way found it broken";
        else if (!is_cv(set->seal_tags, at == 0 ? "none" : "pass"))
            sets->fault = "a seal has a wrong cv";
        else if (g_hash_table_contains(set->seal_tags, "h"))
            sets->fault = "a seal has a tag h";
    }
}

/* ---- checking ---- */

/* Append what a seal is over: all fields of the sets from first to last, the last seal without its b=. */
static void append_sets(GString *text, const ArcSets *sets, unsigned first, unsigned last)
{
    for (unsigned at = first; at <= last; at++) {
        const ArcSet *set = &sets->sets[at - 1];
        dkim_append_field(text, set->results, true, false);
        dkim_append_field(text, set->signature, true, false);
        dkim_append_field(text, set->seal, true, at == last);
    }
    g_string_truncate(text, text->len - 2); /* the last field has no line end */
}

bool arc_check(const Message *message, const Names *names, int64_t arrival, ArcChain *chain)
{
    g_auto(ArcSets) sets = {0};
    read_sets(message, &sets);
    *chain = (ArcChain){.instance = sets.highest, .reason = sets.fault, .status = sets.fault ? ARC_FAIL : ARC_NONE};
    if (sets.highest == 0)
        return true;
    const ArcSet *last = &sets.sets[sets.highest - 1];
    chain->ended = last->seal_tags && is_cv(last->seal_tags, "fail");
    if (sets.fault)
        return true;
    /* All keys are asked for at once. */
    const char *const *texts, *reason;
    bool known = dkim_ask_key(last->signature_tags, names, &texts) != NAMES_PENDING;
    for (unsigned at = 0; at < sets.highest; at++)
        known = dkim_ask_key(sets.sets[at].seal_tags, names, &texts) != NAMES_PENDING && known;
    if (!known)
        return false;
    /* The signature of the last set, and then all seals. A server that signs the seals of others makes them fail at the
     * next one (RFC 8617, 4.1.2). */
    g_autofree char *list = g_strdup(g_hash_table_lookup(last->signature_tags, "h"));
    g_autofree char *lower = list ? g_ascii_strdown(dkim_squeeze(list), -1) : NULL;
    const DkimSigned claim = {message, last->signature, last->signature_tags, arrival, true};
    DkimFinding worst = lower && dkim_list_has(lower, "arc-seal", false) ? DKIM_INVALID
                                                                         : dkim_check_message(&claim, names, &reason);
    chain->reason = "the last signature does not fit the message";
    for (unsigned at = sets.highest; at > 0 && (worst == DKIM_FITS || worst == DKIM_UNKNOWN); at--) {
        g_autoptr(GString) text = g_string_new(NULL);
        append_sets(text, &sets, 1, at);
        DkimFinding found = dkim_check_text(sets.sets[at - 1].seal_tags, text, names, &reason);
        worst = found == DKIM_FITS ? worst : found;
        chain->reason = "a seal does not fit";
    }
    if (worst == DKIM_FITS || worst == DKIM_UNKNOWN) /* unknown only when none is known to be broken */
        chain->reason = NULL;
    chain->status = worst == DKIM_FITS ? ARC_PASS : worst == DKIM_UNKNOWN ? ARC_TROUBLE : ARC_FAIL;
    return worst != DKIM_WAITS;
}

/* ---- sealing ---- */

bool arc_may_seal(const ArcChain *chain)
{
    return chain->status != ARC_TROUBLE && !chain->ended && chain->instance < ARC_INSTANCE_MAX;
}

char *arc_seal(const DkimKey *key, const Message *message, const ArcSeal *seal, GError **error)
{
    g_auto(ArcSets) sets = {0};
    unsigned instance = seal->chain.instance + 1;
    bool failed = seal->chain.status == ARC_FAIL;
    read_sets(message, &sets);
    if (!arc_may_seal(&seal->chain) || (!failed && (sets.fault || sets.highest != seal->chain.instance))) {
        fail(error, FAIL_NEVER, "the fields of its ARC chain are not those that it came with");
        return NULL;
    }
    g_autofree char *common = g_strdup_printf("a=%s; d=%s; s=%s; t=%" G_GINT64_FORMAT ";", dkim_key_algorithm(key),
                                              dkim_key_domain(key), dkim_key_selector(key), seal->now / CLOCK_SECOND);
    g_autoptr(GString) results = g_string_new(NULL), signature = g_string_new(NULL), last = g_string_new(NULL);
    g_string_printf(results, RESULTS ": i=%u; %s\r\n", instance, seal->results);
    g_string_printf(signature, SIGNATURE ": i=%u; %s ", instance, common);
    if (!dkim_key_sign_message(key, message, true, signature, error))
        return NULL;
    g_string_printf(last, SEAL ": i=%u; cv=%s; %s\r\n\tb=", instance, arc_status_text(seal->chain.status), common);
    const Field fields[] = {dkim_field_of(results), dkim_field_of(signature), dkim_field_of(last)};
    ArcSet *set = &sets.sets[instance - 1];
    set->results = &fields[0], set->signature = &fields[1], set->seal = &fields[2];
    g_autoptr(GString) text = g_string_new(NULL);
    append_sets(text, &sets, failed ? instance : 1, instance); /* RFC 8617, 5.1.2 */
    if (!dkim_key_sign_text(key, text, last, error))
        return NULL;
    return g_strconcat(last->str, signature->str, results->str, NULL);
}
