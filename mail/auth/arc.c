/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/arc.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "mail/auth/dkim_syntax.h"

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

/* Read the number at the start of an ARC-Authentication-Results: "i=2; lists.example.com; ...". 0: there is none. */
static unsigned results_instance(const char *value)
{
    g_autofree char *first = g_strndup(value, strcspn(value, ";"));
    char *equals = strchr(first, '=');
    if (!equals || !value[strlen(first)])
        return 0;
    *equals = '\0';
    return strcmp(g_strstrip(first), "i") == 0 ? instance_of(g_strstrip(equals + 1)) : 0;
}

static void add_field(ArcSets *sets, const Field *field)
{
    bool is_results = field_is(field, RESULTS), is_signature = field_is(field, SIGNATURE);
    if (!is_results && !is_signature && !field_is(field, SEAL))
        return;
    sets->octets += field->length;
    g_autofree char *value = g_strndup(field->text + field->value_offset, field->length - field->value_offset);
    g_autoptr(GHashTable) tags = is_results ? NULL : dkim_tags_of(field);
    unsigned instance = is_results ? results_instance(value) : tags ? instance_of(g_hash_table_lookup(tags, "i")) : 0;
    if (instance == 0) {
        sets->fault = "a field has no number from 1 to 50";
        return;
    }
    ArcSet *set = &sets->sets[instance - 1];
    const Field **place = is_results ? &set->results : is_signature ? &set->signature : &set->seal;
    sets->highest = MAX(sets->highest, instance);
    if (*place) {
        sets->fault = "a set has a field twice";
        return;
    }
    *place = field;
    if (is_signature)
        set->signature_tags = g_steal_pointer(&tags);
    else if (!is_results)
        set->seal_tags = g_steal_pointer(&tags);
}

static bool is_cv(GHashTable *tags, const char *value)
{
    return g_strcmp0(g_hash_table_lookup(tags, "cv"), value) == 0;
}

/* Set fault to the first thing that is wrong with the form of the sets. A seal with cv=fail is a fault, too: with it a
 * server ended the chain. */
static void check_form(ArcSets *sets)
{
    for (unsigned at = 0; at < sets->highest && !sets->fault; at++) {
        const ArcSet *set = &sets->sets[at];
        if (!set->results || !set->signature || !set->seal)
            sets->fault = "a set is not complete";
        else if (is_cv(set->seal_tags, "fail"))
            sets->fault = "a server on the way found it broken";
        else if (!is_cv(set->seal_tags, at == 0 ? "none" : "pass"))
            sets->fault = "a seal has a wrong cv";
        else if (g_hash_table_contains(set->seal_tags, "h"))
            sets->fault = "a seal has a tag h";
    }
}

static void read_sets(const Message *message, ArcSets *sets)
{
    for (size_t at = 0; at < message_field_count(message); at++)
        add_field(sets, message_field(message, at));
    if (!sets->fault && sets->octets > ARC_OCTETS_MAX)
        sets->fault = "its fields are too long";
    if (!sets->fault)
        check_form(sets);
}

/* ---- checking ---- */

/* A server that signs the seals of others makes them fail at the next one (RFC 8617, 4.1.2). */
static bool signs_seals(GHashTable *tags)
{
    g_autofree char *list = g_strdup(g_hash_table_lookup(tags, "h"));
    g_autofree char *lower = list ? g_ascii_strdown(dkim_squeeze(list), -1) : NULL;
    return lower && dkim_list_has(lower, "arc-seal", false);
}

static DkimFinding check_signature(const Message *message, const ArcSet *set, const Names *names, int64_t arrival)
{
    const char *reason;
    const DkimSigned claim = {message, set->signature, set->signature_tags, arrival, true};
    return signs_seals(set->signature_tags) ? DKIM_INVALID : dkim_check_message(&claim, names, &reason);
}

/* Append what a seal is over: all fields of the sets from first to last, the last seal without its b=. */
static void append_sets(GString *text, const ArcSets *sets, unsigned first, unsigned last)
{
    for (unsigned at = first; at <= last; at++) {
        const ArcSet *set = &sets->sets[at - 1];
        dkim_append_field(text, set->results, true, false);
        dkim_append_field(text, set->signature, true, false);
        dkim_append_field(text, set->seal, true, at == last);
    }
    dkim_cut_line_end(text);
}

/* Begin to ask for all keys; false: an answer is still to come. */
static bool keys_known(const ArcSets *sets, const Names *names)
{
    const char *const *texts;
    bool known = dkim_ask_key(sets->sets[sets->highest - 1].signature_tags, names, &texts) != NAMES_PENDING;
    for (unsigned at = 0; at < sets->highest; at++)
        known = dkim_ask_key(sets->sets[at].seal_tags, names, &texts) != NAMES_PENDING && known;
    return known;
}

/* Check the signature of the last set, and then all seals. Returns DKIM_FITS when all fit, and DKIM_UNKNOWN only when
 * none is known to be broken. */
static DkimFinding check_all(const ArcSets *sets, const Names *names, DkimFinding signature, const char **reason)
{
    DkimFinding worst = signature;
    *reason = "the last signature does not fit the message";
    for (unsigned at = sets->highest; at > 0 && (worst == DKIM_FITS || worst == DKIM_UNKNOWN); at--) {
        const char *fault;
        g_autoptr(GString) text = g_string_new(NULL);
        append_sets(text, sets, 1, at);
        DkimFinding found = dkim_check_text(sets->sets[at - 1].seal_tags, text, names, &fault);
        worst = found == DKIM_FITS ? worst : found;
        *reason = "a seal does not fit";
    }
    if (worst == DKIM_FITS || worst == DKIM_UNKNOWN)
        *reason = NULL;
    return worst;
}

bool arc_check(const Message *message, const Names *names, int64_t arrival, ArcChain *chain)
{
    g_auto(ArcSets) sets = {0};
    read_sets(message, &sets);
    *chain = (ArcChain){.instance = sets.highest, .reason = sets.fault, .status = sets.fault ? ARC_FAIL : ARC_NONE};
    if (sets.highest > 0) {
        GHashTable *last = sets.sets[sets.highest - 1].seal_tags;
        chain->ended = last && is_cv(last, "fail");
    }
    if (sets.fault || sets.highest == 0)
        return true;
    if (!keys_known(&sets, names))
        return false;
    DkimFinding signature = check_signature(message, &sets.sets[sets.highest - 1], names, arrival);
    DkimFinding found = check_all(&sets, names, signature, &chain->reason);
    chain->status = found == DKIM_FITS ? ARC_PASS : found == DKIM_UNKNOWN ? ARC_TROUBLE : ARC_FAIL;
    return found != DKIM_WAITS;
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
