/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/arc.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "mail/dkim_syntax.h"

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
    g_autoptr(GHashTable) tags = is_results ? NULL : dkim_tags_read(value);
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

static bool is_tag(GHashTable *tags, const char *name, const char *value)
{
    return g_strcmp0(g_hash_table_lookup(tags, name), value) == 0;
}

/* Set fault to the first thing that is wrong with the form of the sets. A seal with cv=fail is a fault, too: with it a
 * server ended the chain. */
static void check_form(ArcSets *sets)
{
    for (unsigned at = 0; at < sets->highest && !sets->fault; at++) {
        const ArcSet *set = &sets->sets[at];
        if (!set->results || !set->signature || !set->seal)
            sets->fault = "a set is not complete";
        else if (is_tag(set->seal_tags, "cv", "fail"))
            sets->fault = "a server on the way found it broken";
        else if (!is_tag(set->seal_tags, "cv", at == 0 ? "none" : "pass"))
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

typedef enum Finding { FITS, BROKEN, UNKNOWN, WAITS } Finding;

static NamesAnswer ask(GHashTable *tags, const Names *names, const char *const **texts)
{
    const char *selector = g_hash_table_lookup(tags, "s"), *domain = g_hash_table_lookup(tags, "d");
    if (!selector || !*selector || !domain || !*domain)
        return NAMES_NONE;
    g_autofree char *name = g_strdup_printf("%s._domainkey.%s", selector, domain);
    return names->text(names->data, name, texts);
}

/* Check the signature that stands in these tags, by the key that they name, over the text. */
static Finding check_signature(GHashTable *tags, const GString *text, const Names *names)
{
    const char *const *records = NULL, *algorithm = g_hash_table_lookup(tags, "a");
    char *signature = g_hash_table_lookup(tags, "b");
    NamesAnswer answer = ask(tags, names, &records);
    if (answer == NAMES_PENDING || answer == NAMES_TROUBLE)
        return answer == NAMES_PENDING ? WAITS : UNKNOWN;
    if (answer != NAMES_FOUND || !algorithm || !signature)
        return BROKEN;
    dkim_squeeze(signature);
    bool fits = false;
    for (; *records && !fits; records++) {
        EVP_PKEY *key = dkim_public_key(*records, algorithm);
        fits = key && dkim_signature_fits(key, text, signature);
        EVP_PKEY_free(key);
    }
    return fits ? FITS : BROKEN;
}

static bool has_word(char **words, const char *word)
{
    for (; *words; words++)
        if (g_ascii_strcasecmp(*words, word) == 0)
            return true;
    return false;
}

/* Read a tag of decimal digits. Returns false when it is there and is something else; *number is -1 when it is not
 * there. */
static bool read_number(GHashTable *tags, const char *name, int64_t *number)
{
    const char *text = g_hash_table_lookup(tags, name);
    *number = text ? (int64_t)MIN(g_ascii_strtoull(text, NULL, 10), G_MAXINT64) : -1;
    return !text || (*text && strspn(text, "0123456789") == strlen(text));
}

static bool has_expired(GHashTable *tags, int64_t arrival)
{
    int64_t expiry;
    return !read_number(tags, "x", &expiry) || (expiry >= 0 && arrival / CLOCK_SECOND > expiry);
}

static bool body_fits(const Message *message, GHashTable *tags, bool relaxed)
{
    char *sum = g_hash_table_lookup(tags, "bh");
    int64_t most, length;
    if (!read_number(tags, "l", &most))
        return false;
    g_autoptr(GBytes) body = message_body(message);
    g_autofree char *found = dkim_body_hash(body, relaxed, most, &length);
    return sum && (most < 0 || length == most) && strcmp(dkim_squeeze(sum), found) == 0;
}

static Finding check_message(const Message *message, const ArcSet *set, const Names *names, int64_t arrival)
{
    GHashTable *tags = set->signature_tags;
    const char *form = g_hash_table_lookup(tags, "c");
    bool relaxed = form && g_str_has_prefix(form, "relaxed"), relaxed_body = form && g_str_has_suffix(form, "/relaxed");
    g_autofree char *list = g_strdup(g_hash_table_lookup(tags, "h"));
    g_auto(GStrv) words = list ? g_strsplit(dkim_squeeze(list), ":", -1) : NULL;
    if (has_expired(tags, arrival))
        return BROKEN;
    if (!words || !has_word(words, "from") || has_word(words, SEAL) || !body_fits(message, tags, relaxed_body))
        return BROKEN;
    g_autoptr(GString) text = g_string_new(NULL);
    dkim_append_named(text, message, words, relaxed);
    dkim_append_field(text, set->signature, relaxed, true);
    dkim_cut_line_end(text);
    return check_signature(tags, text, names);
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
    bool known = ask(sets->sets[sets->highest - 1].signature_tags, names, &texts) != NAMES_PENDING;
    for (unsigned at = 0; at < sets->highest; at++)
        known = ask(sets->sets[at].seal_tags, names, &texts) != NAMES_PENDING && known;
    return known;
}

/* Check all seals, after the signature of the last set. Returns FITS when all fit, and UNKNOWN only when none is known
 * to be broken. */
static Finding check_all(const ArcSets *sets, const Names *names, Finding signature, const char **reason)
{
    Finding worst = signature;
    if (worst == BROKEN)
        *reason = "the last signature does not fit the message";
    for (unsigned at = sets->highest; at > 0 && worst != BROKEN && worst != WAITS; at--) {
        g_autoptr(GString) text = g_string_new(NULL);
        append_sets(text, sets, 1, at);
        Finding found = check_signature(sets->sets[at - 1].seal_tags, text, names);
        if (found != FITS)
            worst = found;
        if (found == BROKEN)
            *reason = "a seal does not fit";
    }
    return worst;
}

bool arc_check(const Message *message, const Names *names, int64_t arrival, ArcChain *chain)
{
    static const ArcStatus statuses[] = {[FITS] = ARC_PASS, [BROKEN] = ARC_FAIL, [UNKNOWN] = ARC_TROUBLE};
    g_auto(ArcSets) sets = {0};
    read_sets(message, &sets);
    *chain = (ArcChain){.instance = sets.highest, .reason = sets.fault, .status = sets.fault ? ARC_FAIL : ARC_NONE};
    if (sets.highest > 0) {
        GHashTable *last = sets.sets[sets.highest - 1].seal_tags;
        chain->ended = last && is_tag(last, "cv", "fail");
    }
    if (sets.fault || sets.highest == 0)
        return true;
    if (!keys_known(&sets, names))
        return false;
    Finding signature = check_message(message, &sets.sets[sets.highest - 1], names, arrival);
    Finding found = check_all(&sets, names, signature, &chain->reason);
    if (found != WAITS)
        chain->status = statuses[found];
    return found != WAITS;
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
