/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/dkim.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "mail/auth/dkim_syntax.h"
#include "mail/auth/dmarc.h"
#include "mail/domain_name.h"

#define FIELD "DKIM-Signature"
#define RSA_BITS_MIN 1024
#define LINE_CHARACTERS 72 /* of a signature */
#define CLOCKS_DIFFER 300  /* seconds that the signer's may be ahead */
#define SIGNATURE_START 8  /* RFC 6008 */
#define WORD_MAX 255       /* of a result */

struct DkimKey {
    char *domain, *selector;
    EVP_PKEY *private;
    DkimUse use;
    const char *algorithm;
};

/* The fields that name author, recipients and subject, or tell how to read the message; and the list's own (RFC 8058
 * wants those of unsubscribing signed). */
static const char *const signed_fields[] = {
    "from", "reply-to", "subject", "date", "to", "cc", "message-id", "in-reply-to", "references", "mime-version",
    "content-type", "content-transfer-encoding", "content-disposition", "list-id", "list-help", "list-owner",
    "list-post", "list-archive", "list-subscribe", "list-unsubscribe", "list-unsubscribe-post", NULL,
};

static bool read_private(DkimKey *key, const char *pem, GError **error)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    /* The empty pass phrase: without one, libcrypto would ask for it on the terminal of whoever starts the master. */
    key->private = PEM_read_bio_PrivateKey(bio, NULL, NULL, (char *)"");
    BIO_free(bio);
    int type = key->private ? EVP_PKEY_get_base_id(key->private) : EVP_PKEY_NONE;
    int bits = key->private ? EVP_PKEY_get_bits(key->private) : 0;
    key->algorithm = type == EVP_PKEY_ED25519 ? "ed25519-sha256" : "rsa-sha256";
    if (type == EVP_PKEY_ED25519 || (type == EVP_PKEY_RSA && bits >= RSA_BITS_MIN))
        return true;
    return fail(error, FAIL_CONFIG, "this is no private key in PEM, RSA of at least %d bits or Ed25519, "
                "without a pass phrase", RSA_BITS_MIN);
}

DkimKey *dkim_key_new(const DkimKeyPlace *place, const char *pem, GError **error)
{
    g_autoptr(DkimKey) key = g_new0(DkimKey, 1);
    key->domain = g_ascii_strdown(place->domain, -1);
    key->selector = g_strdup(place->selector);
    key->use = place->use;
    return read_private(key, pem, error) ? g_steal_pointer(&key) : NULL;
}

char *dkim_key_make(GError **error)
{
    char *octets = NULL, *pem = NULL;
    EVP_PKEY *key = EVP_RSA_gen(2048);
    BIO *bio = BIO_new(BIO_s_mem());
    if (key && bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1) {
        long length = BIO_get_mem_data(bio, &octets);
        pem = g_strndup(octets, (gsize)length);
    } else {
        fail(error, FAIL_LATER, "libcrypto makes no RSA key");
    }
    BIO_free(bio);
    EVP_PKEY_free(key);
    return pem;
}

void dkim_key_free(DkimKey *key)
{
    if (!key)
        return;
    g_free(key->domain);
    g_free(key->selector);
    EVP_PKEY_free(key->private);
    g_free(key);
}

const char *dkim_key_domain(const DkimKey *key)
{
    return key->domain;
}

const char *dkim_key_selector(const DkimKey *key)
{
    return key->selector;
}

const char *dkim_key_algorithm(const DkimKey *key)
{
    return key->algorithm;
}

int dkim_key_bits(const DkimKey *key)
{
    return EVP_PKEY_get_bits(key->private);
}

static bool is_edwards(const DkimKey *key)
{
    return EVP_PKEY_get_base_id(key->private) == EVP_PKEY_ED25519;
}

/* p= of the key: of RSA the usual form, of Ed25519 the bare bytes (RFC 8463); g_free(). */
static char *public_half(const DkimKey *key)
{
    guint8 raw[32], *bytes = NULL;
    size_t length = sizeof raw;
    if (is_edwards(key))
        return EVP_PKEY_get_raw_public_key(key->private, raw, &length) == 1 ? g_base64_encode(raw, length) : NULL;
    int size = i2d_PUBKEY(key->private, &bytes);
    char *encoded = size > 0 ? g_base64_encode(bytes, (gsize)size) : NULL;
    OPENSSL_free(bytes);
    return encoded;
}

char *dkim_key_record(const DkimKey *key)
{
    g_autofree char *half = public_half(key);
    return g_strdup_printf("v=DKIM1; k=%s; p=%s", is_edwards(key) ? "ed25519" : "rsa", half ? half : "");
}

/* Why no signature of the key can be checked by a record with these tags. */
static DkimRecord judge_tags(const DkimKey *key, GHashTable *tags)
{
    g_autofree char *own = public_half(key), *half = dkim_squeeze(g_strdup(g_hash_table_lookup(tags, "p")));
    if (!*half)
        return DKIM_RECORD_REVOKED;
    return g_strcmp0(own, half) == 0 ? DKIM_RECORD_UNFIT : DKIM_RECORD_OTHER;
}

DkimRecord dkim_key_judge(const DkimKey *key, const char *record)
{
    bool weak;
    g_autofree char *signature = g_strdup_printf("a=%s; d=%s; s=%s", key->algorithm, key->domain, key->selector);
    g_autoptr(GHashTable) own = dkim_tags_read(signature), tags = dkim_tags_read(record);
    if (!tags || !g_hash_table_contains(tags, "p"))
        return DKIM_RECORD_NONE;
    EVP_PKEY *found = own ? dkim_public_key(record, own, &weak) : NULL;
    bool valid = found != NULL, same = valid && EVP_PKEY_eq(found, key->private) == 1;
    EVP_PKEY_free(found);
    if (!same)
        return valid ? DKIM_RECORD_OTHER : judge_tags(key, tags);
    const char *flags = g_hash_table_lookup(tags, "t");
    return flags && dkim_list_has(flags, "y", false) ? DKIM_RECORD_TESTING : DKIM_RECORD_FITS;
}

bool dkim_key_fits(const DkimKey *key, const char *domain, DkimUse use)
{
    size_t own = strlen(key->domain), length = strlen(domain);
    bool readable = use != DKIM_USE_SEAL || !is_edwards(key);
    return (key->use & use) && readable && length >= own &&
           g_ascii_strcasecmp(domain + length - own, key->domain) == 0 &&
           (length == own || domain[length - own - 1] == '.');
}

/* ---- signing ---- */

static bool is_signed(const Field *field, bool signatures)
{
    for (const char *const *name = signed_fields; *name; name++)
        if (field_is(field, *name))
            return true;
    return signatures && field_is(field, FIELD);
}

/* The names of all fields that are signed, one below the other, and one more From: a second one that is added on the
 * way makes the signature wrong. */
static char *names_of(const Message *message, bool signatures)
{
    g_autoptr(GString) names = g_string_new("from");
    for (size_t at = 0; at < message_field_count(message); at++) {
        const Field *field = message_field(message, at);
        if (!is_signed(field, signatures))
            continue;
        g_string_append(names, ":\r\n\t ");
        g_string_append_len(names, field->text, (gssize)field->name_length);
    }
    return g_ascii_strdown(names->str, (gssize)names->len);
}

bool dkim_key_sign_text(const DkimKey *key, const GString *text, GString *field, GError **error)
{
    g_autofree char *signature = dkim_signature_make(key->private, text);
    if (!signature)
        return fail(error, FAIL_LATER, "sign for %s by %s: libcrypto failed", key->domain, key->selector);
    for (size_t at = 0, length = strlen(signature); at < length; at += LINE_CHARACTERS)
        g_string_append_printf(field, "\r\n\t %.*s", LINE_CHARACTERS, signature + at);
    g_string_append(field, "\r\n");
    return true;
}

bool dkim_key_sign_message(const DkimKey *key, const Message *message, bool signatures, GString *field, GError **error)
{
    g_autofree char *names = names_of(message, signatures), *list = g_strdup(names);
    g_auto(GStrv) words = g_strsplit(dkim_squeeze(list), ":", -1);
    g_autoptr(GBytes) body = message_body(message);
    g_autofree char *sum = dkim_body_hash(body, true, -1, NULL);
    g_string_append_printf(field, "c=relaxed/relaxed;\r\n\th=%s;\r\n\tbh=%s;\r\n\tb=", names, sum);
    g_autoptr(GString) text = g_string_new(NULL);
    dkim_append_named(text, message, words, true);
    Field own = dkim_field_of(field);
    dkim_append_field(text, &own, true, true);
    dkim_cut_line_end(text);
    return dkim_key_sign_text(key, text, field, error);
}

char *dkim_key_sign(const DkimKey *key, const Message *message, GError **error)
{
    g_autoptr(GString) field = g_string_new(NULL);
    g_string_printf(field, FIELD ": v=1; a=%s; d=%s; s=%s; t=%" G_GINT64_FORMAT "; ", key->algorithm, key->domain,
                    key->selector, clock_now() / CLOCK_SECOND);
    if (!dkim_key_sign_message(key, message, false, field, error))
        return NULL;
    return g_string_free(g_steal_pointer(&field), FALSE);
}

/* ---- verifying ---- */

/* A signature on a message. */
typedef struct DkimSignature {
    const Field *field;
    GHashTable *tags; /* NULL: its value is no list of tags */
} DkimSignature;

static void signature_clear(void *data)
{
    g_clear_pointer(&((DkimSignature *)data)->tags, g_hash_table_unref);
}

static const char *tag(const DkimSignature *signature, const char *name)
{
    return signature->tags ? g_hash_table_lookup(signature->tags, name) : NULL;
}

/* Is it by this domain, or one below it? */
static bool is_signed_within(const DkimSignature *signature, const char *domain)
{
    const char *signer = tag(signature, "d");
    g_autofree char *name = signer ? domain_name_ascii(signer) : NULL;
    return name && domain_name_within(name, domain);
}

/* Return the first DKIM_CHECKED_MAX signatures of the message, in its order: of Signature. With domain only those that
 * are by it or by one below it. */
static GArray *signatures_of(const Message *message, const char *domain)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(DkimSignature));
    g_array_set_clear_func(all, signature_clear);
    size_t index = 0;
    for (; all->len < DKIM_CHECKED_MAX && message_find(message, FIELD, &index); index++) {
        const Field *field = message_field(message, index);
        DkimSignature signature = {field, dkim_tags_of(field)};
        if (!domain || is_signed_within(&signature, domain))
            g_array_append_val(all, signature);
        else
            signature_clear(&signature);
    }
    return all;
}

/* Keep those signatures that are by the domain or, unless strict, another domain of its organization. Returns
 * NAMES_TROUBLE or NAMES_PENDING when that is not known (now) of one, which is not kept; else NAMES_NONE. */
static NamesAnswer keep_aligned(GArray *signatures, const char *domain, bool strict, const Names *names)
{
    NamesAnswer worst = NAMES_NONE;
    for (guint at = signatures->len; at-- > 0;) {
        const char *signer = tag(&g_array_index(signatures, DkimSignature, at), "d");
        NamesAnswer answer = signer ? dmarc_aligned(names, signer, domain, strict) : NAMES_NONE;
        if (answer == NAMES_FOUND)
            continue;
        g_array_remove_index(signatures, at);
        worst = MAX(worst, answer);
    }
    return worst;
}

/* Begin to ask for the keys; false: an answer is still to come. */
static bool keys_known(const GArray *signatures, const Names *names)
{
    bool known = true;
    for (guint at = 0; at < signatures->len; at++) {
        const char *const *texts;
        GHashTable *tags = g_array_index(signatures, DkimSignature, at).tags;
        known = !(tags && dkim_ask_key(tags, names, &texts) == NAMES_PENDING) && known;
    }
    return known;
}

/* Is the domain of i= that of d=, or below it? The part before the "@" may be missing. */
static bool identity_fits(const DkimSignature *signature)
{
    const char *identity = tag(signature, "i"), *domain = tag(signature, "d");
    const char *at = identity ? strrchr(identity, '@') : NULL;
    if (!identity || !at)
        return !identity;
    g_autofree char *below = domain_name_ascii(at + 1), *above = domain_name_ascii(domain);
    return domain_name_within(below, above);
}

/* Look at what ARC does not have (RFC 6376, 3.5 and 6.1.1). Returns why the signature is not valid, static. NULL: it
 * is, as far as its form goes. */
static const char *form_fault(const DkimSignature *signature, int64_t now)
{
    static const char *const wanted[] = {"a", "b", "bh", "d", "h", "s"};
    int64_t made, expiry;
    if (!signature->tags)
        return "its tags cannot be read";
    if (g_strcmp0(tag(signature, "v"), "1") != 0)
        return "v=1 is missing";
    for (size_t at = 0; at < G_N_ELEMENTS(wanted); at++)
        if (!tag(signature, wanted[at]) || !*tag(signature, wanted[at]))
            return "a tag is missing";
    if (!domain_name_valid(tag(signature, "d")) || !domain_name_valid(tag(signature, "s")))
        return "d= or s= is no name";
    if (!identity_fits(signature))
        return "i= is not below d=";
    if (!dkim_list_has(tag(signature, "q"), "dns/txt", false))
        return "q= is not known";
    if (!dkim_tag_number(signature->tags, "t", &made) || !dkim_tag_number(signature->tags, "x", &expiry) ||
        (made >= 0 && expiry >= 0 && expiry <= made))
        return "t= or x= is not valid";
    return made > now / CLOCK_SECOND + CLOCKS_DIFFER ? "it is from the future" : NULL;
}

static DkimFinding check(const Message *message, const DkimSignature *signature, const Names *names, int64_t now,
                         const char **reason)
{
    const DkimSigned claim = {message, signature->field, signature->tags, now, false};
    *reason = form_fault(signature, now);
    return *reason ? DKIM_INVALID : dkim_check_message(&claim, names, reason);
}

NamesAnswer dkim_holds(const Message *message, const char *domain, bool strict, const Names *names, int64_t now)
{
    static const NamesAnswer answers[] = {
        [DKIM_FITS] = NAMES_FOUND,  [DKIM_UNKNOWN] = NAMES_TROUBLE, [DKIM_WAITS] = NAMES_PENDING,
        [DKIM_BROKEN] = NAMES_NONE, [DKIM_WEAK] = NAMES_NONE,       [DKIM_INVALID] = NAMES_NONE};
    g_autofree char *own = domain_name_ascii(domain), *organization = NULL;
    NamesAnswer wide = strict ? NAMES_NONE : dmarc_organization(names, domain, &organization);
    if (wide == NAMES_PENDING)
        return wide;
    g_autoptr(GArray) signatures = signatures_of(message, organization ? organization : own);
    NamesAnswer worst = MAX(wide, keep_aligned(signatures, domain, strict, names));
    if (!keys_known(signatures, names))
        return NAMES_PENDING;
    for (guint at = 0; at < signatures->len; at++) {
        const char *reason;
        NamesAnswer one = answers[check(message, &g_array_index(signatures, DkimSignature, at), names, now, &reason)];
        if (one == NAMES_FOUND)
            return one;
        worst = MAX(worst, one);
    }
    return worst;
}

/* ---- for Authentication-Results ---- */

/* Append " header.d=VALUE" where the value is printable ASCII without blanks, quoted unless it is a token. */
static void add_property(GString *text, const char *name, const char *value)
{
    static const char token[] = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS ".-_+";
    size_t plain = strspn(value, token), length = strlen(value);
    if (length == 0 || length > WORD_MAX || strspn(value, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS ".-_+/=") != length)
        return;
    g_string_append_printf(text, plain == length ? " header.%s=%s" : " header.%s=\"%s\"", name, value);
}

static void add_name(GString *text, const char *name, const char *value)
{
    g_autofree char *ascii = value && !g_str_is_ascii(value) ? domain_name_ascii(value) : g_strdup(value ? value : "");
    add_property(text, name, ascii);
}

/* RFC 8601, 2.7.1, where "policy" is for a signature that this site does not accept, however it was made. */
static const char *const verdicts[] = {
    [DKIM_FITS] = "pass",         [DKIM_BROKEN] = "fail",       [DKIM_WEAK] = "policy",
    [DKIM_INVALID] = "permerror", [DKIM_UNKNOWN] = "temperror",
};

static char *describe(const DkimSignature *signature, DkimFinding found, const char *reason)
{
    GString *text = g_string_new("dkim=");
    const char *algorithm = tag(signature, "a"), *value = tag(signature, "b");
    g_autofree char *start = dkim_squeeze(g_strdup(value ? value : ""));
    g_string_append(text, verdicts[found]);
    if (found == DKIM_WEAK || found == DKIM_INVALID || found == DKIM_BROKEN)
        g_string_append_printf(text, " reason=\"%s\"", reason);
    add_name(text, "d", tag(signature, "d"));
    add_name(text, "s", tag(signature, "s"));
    add_property(text, "a", algorithm ? algorithm : "");
    start[MIN(strlen(start), SIGNATURE_START)] = '\0';
    add_property(text, "b", start);
    return g_string_free(text, FALSE);
}

bool dkim_results(const Message *message, const Names *names, int64_t now, GPtrArray *texts)
{
    g_autoptr(GArray) signatures = signatures_of(message, NULL);
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
    if (!keys_known(signatures, names))
        return false;
    for (guint at = 0; at < signatures->len; at++) {
        const DkimSignature *signature = &g_array_index(signatures, DkimSignature, at);
        const char *reason;
        DkimFinding one = check(message, signature, names, now, &reason);
        if (one == DKIM_WAITS)
            return false;
        g_ptr_array_add(found, describe(signature, one, reason));
    }
    if (found->len == 0)
        g_ptr_array_add(found, g_strdup("dkim=none"));
    g_ptr_array_extend_and_steal(texts, g_steal_pointer(&found));
    return true;
}
