/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/dkim.h"

#include <opendkim/dkim.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "mail/dkim_syntax.h"
#include "mail/dmarc.h"

#define RSA_BITS_MIN 1024
#define LINE_CHARACTERS 72 /* of a signature */

struct DkimKey {
    char *domain, *selector;
    EVP_PKEY *private;
    DkimUse use;
    const char *algorithm;
};

/* What says who wrote it, to whom, about what, and how it is to be read; and the list's own fields (RFC 8058 wants
 * those of unsubscribing signed). */
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

bool dkim_key_fits(const DkimKey *key, const char *domain, DkimUse use)
{
    size_t own = strlen(key->domain), length = strlen(domain);
    return (key->use & use) && length >= own && g_ascii_strcasecmp(domain + length - own, key->domain) == 0 &&
           (length == own || domain[length - own - 1] == '.');
}

/* ---- signing ---- */

static bool is_signed(const Field *field, bool signatures)
{
    for (const char *const *name = signed_fields; *name; name++)
        if (field_is(field, *name))
            return true;
    return signatures && field_is(field, "DKIM-Signature");
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
    g_string_printf(field, "DKIM-Signature: v=1; a=%s; d=%s; s=%s; t=%" G_GINT64_FORMAT "; ", key->algorithm,
                    key->domain, key->selector, clock_now() / CLOCK_SECOND);
    if (!dkim_key_sign_message(key, message, false, field, error))
        return NULL;
    return g_string_free(g_steal_pointer(&field), FALSE);
}

/* ---- verifying ---- */

/* Return the field without its last line end, folded with CRLF. libopendkim copies a field up to a NUL and then reads
 * the whole length from the copy, so each NUL becomes another control character. A signature over the field fails. */
static GString *wire_field(const Field *field)
{
    GString *text = g_string_sized_new(field->length);
    for (size_t at = 0; at < field->length; at++) {
        if (field->text[at] == '\n')
            g_string_append(text, "\r\n");
        else if (field->text[at] != '\r')
            g_string_append_c(text, field->text[at] ? field->text[at] : '\1');
    }
    if (g_str_has_suffix(text->str, "\r\n"))
        g_string_truncate(text, text->len - 2);
    return text;
}

static DKIM_STAT feed(DKIM *dkim, const Message *message)
{
    DKIM_STAT status = message_field_count(message) > DKIM_FIELDS_MAX ? DKIM_STAT_SYNTAX : DKIM_STAT_OK;
    for (size_t at = 0; at < message_field_count(message) && status == DKIM_STAT_OK; at++) {
        const Field *field = message_field(message, at);
        if (field->name_length == 0)
            continue;
        GString *text = wire_field(field);
        status = dkim_header(dkim, (u_char *)text->str, text->len);
        g_string_free(text, TRUE);
    }
    if (status == DKIM_STAT_OK)
        status = dkim_eoh(dkim);
    g_autoptr(GBytes) body = message_body(message);
    size_t length;
    const void *octets = g_bytes_get_data(body, &length);
    if (status == DKIM_STAT_OK && length > 0)
        status = dkim_body(dkim, (u_char *)octets, length);
    return status == DKIM_STAT_OK ? dkim_eom(dkim, NULL) : status;
}

/* One check, for the callbacks of the library. */
typedef struct Check {
    const char *domain; /* NULL: all signatures are looked at */
    const Names *names;
    NamesAnswer worst; /* of what the DNS said */
} Check;

/* Signatures of others, and too many of them, are not looked at. */
static DKIM_CBSTAT leave_out_others(DKIM *dkim, DKIM_SIGINFO **signatures, int count)
{
    const Check *check = dkim_get_user_context(dkim);
    for (int at = 0; at < count; at++) {
        const char *signer = (const char *)dkim_sig_getdomain(signatures[at]);
        if (!signer || (check->domain ? !dmarc_aligned(signer, check->domain, false) : at >= DKIM_CHECKED_MAX))
            dkim_sig_ignore(signatures[at]);
    }
    return DKIM_CBSTAT_CONTINUE;
}

static NamesAnswer ask_key(DKIM_SIGINFO *signature, const Names *names, const char *const **texts)
{
    const char *domain = (const char *)dkim_sig_getdomain(signature);
    const char *selector = (const char *)dkim_sig_getselector(signature);
    g_autofree char *name = domain && selector ? g_strdup_printf("%s._domainkey.%s", selector, domain) : NULL;
    return name ? names->text(names->data, name, texts) : NAMES_NONE;
}

/* Return the first of the records that is a key for the signature. When none is, return the first record, so that the
 * library finds out what is wrong with it. */
static const char *choose_key(DKIM_SIGINFO *signature, const char *const *texts)
{
    const char *algorithm = (const char *)dkim_sig_gettagvalue(signature, FALSE, (u_char *)"a");
    for (const char *const *text = texts; algorithm && texts[1] && *text; text++) {
        EVP_PKEY *key = dkim_public_key(*text, algorithm);
        EVP_PKEY_free(key);
        if (key)
            return *text;
    }
    return texts[0];
}

static DKIM_CBSTAT find_key(DKIM *dkim, DKIM_SIGINFO *signature, unsigned char *text, size_t size)
{
    Check *check = dkim_get_user_context(dkim);
    const char *const *texts = NULL;
    NamesAnswer answer = ask_key(signature, check->names, &texts);
    if (answer == NAMES_FOUND && g_strlcpy((char *)text, choose_key(signature, texts), size) < size)
        return DKIM_CBSTAT_CONTINUE;
    if (answer == NAMES_PENDING || answer == NAMES_TROUBLE) {
        check->worst = MAX(check->worst, answer);
        /* To try again ends the check of all signatures; where each counts, describe() tells this one apart. */
        return check->domain ? DKIM_CBSTAT_TRYAGAIN : DKIM_CBSTAT_NOTFOUND;
    }
    return DKIM_CBSTAT_NOTFOUND;
}

static DKIM_LIB *verifier(void)
{
    static DKIM_LIB *library;
    unsigned flags = DKIM_LIBFLAGS_FIXCRLF;
    if (!library && (library = dkim_init(NULL, NULL))) {
        dkim_options(library, DKIM_OP_SETOPT, DKIM_OPTS_FLAGS, &flags, sizeof flags);
        dkim_set_prescreen(library, leave_out_others);
        dkim_set_key_lookup(library, find_key);
    }
    return library;
}

NamesAnswer dkim_holds(const Message *message, const char *domain, const Names *names)
{
    Check check = {domain, names, NAMES_NONE};
    DKIM_STAT status;
    DKIM *dkim = verifier() ? dkim_verify(verifier(), (const u_char *)"listrunner", NULL, &status) : NULL;
    if (!dkim)
        return NAMES_TROUBLE;
    dkim_set_user_context(dkim, &check);
    DKIM_SIGINFO *signature = feed(dkim, message) == DKIM_STAT_OK ? dkim_getsignature(dkim) : NULL;
    bool holds = signature && DKIM_SIG_CHECK(signature);
    dkim_free(dkim);
    return holds ? NAMES_FOUND : check.worst;
}

/* ---- for Authentication-Results ---- */

/* Begin to ask for the keys; false: an answer is still to come. This costs less than a check that finds so. */
static bool keys_known(const Message *message, const Names *names)
{
    bool known = true;
    size_t index = 0, count = 0;
    for (const Field *field; count < DKIM_CHECKED_MAX && (field = message_find(message, "DKIM-Signature", &index));
         index++, count++) {
        const char *const *texts;
        g_autofree char *value = g_strndup(field->text + field->value_offset, field->length - field->value_offset);
        g_autoptr(GHashTable) tags = dkim_tags_read(value);
        const char *selector = tags ? g_hash_table_lookup(tags, "s") : NULL;
        const char *domain = tags ? g_hash_table_lookup(tags, "d") : NULL;
        g_autofree char *name = selector && domain ? g_strdup_printf("%s._domainkey.%s", selector, domain) : NULL;
        if (name && names->text(names->data, name, &texts) == NAMES_PENDING)
            known = false;
    }
    return known;
}

static const char *verdict_of(DKIM_SIGINFO *signature, const Names *names)
{
    const char *const *texts;
    DKIM_SIGERROR problem = dkim_sig_geterror(signature);
    if (DKIM_SIG_CHECK(signature))
        return "pass";
    if (ask_key(signature, names, &texts) == NAMES_TROUBLE)
        return "temperror";
    bool whole = problem == DKIM_SIGERROR_OK || problem == DKIM_SIGERROR_BADSIG || problem == DKIM_SIGERROR_UNKNOWN;
    return whole || dkim_sig_getbh(signature) == DKIM_SIGBH_MISMATCH ? "fail" : "permerror";
}

/* Append " header.d=VALUE" where the value is a word as domains and base64 are. */
static void add_property(GString *text, const char *name, const void *value, size_t length)
{
    g_autofree char *word = g_strndup(value ? value : "", length);
    if (*word && strspn(word, G_CSET_a_2_z G_CSET_A_2_Z "0123456789.-_+/=") == strlen(word))
        g_string_append_printf(text, " header.%s=%s", name, word);
}

static char *describe(DKIM_SIGINFO *signature, const Names *names)
{
    GString *text = g_string_new("dkim=");
    dkim_alg_t algorithm = 0;
    bool named = dkim_sig_getsignalg(signature, &algorithm) == DKIM_STAT_OK;
    const char *value = (const char *)dkim_sig_gettagvalue(signature, FALSE, (u_char *)"b");
    g_autofree char *start = g_strdup(value ? value : "");
    g_string_append(text, verdict_of(signature, names));
    add_property(text, "d", dkim_sig_getdomain(signature), 255);
    add_property(text, "s", dkim_sig_getselector(signature), 255);
    if (named)
        add_property(text, "a", algorithm == DKIM_SIGN_ED25519SHA256 ? "ed25519-sha256"
                                : algorithm == DKIM_SIGN_RSASHA256   ? "rsa-sha256"
                                                                     : "rsa-sha1", 20);
    add_property(text, "b", dkim_squeeze(start), 8); /* RFC 6008 */
    return g_string_free(text, FALSE);
}

bool dkim_results(const Message *message, const Names *names, GPtrArray *texts)
{
    Check check = {NULL, names, NAMES_NONE};
    DKIM_STAT status;
    if (message_field_count(message) > DKIM_FIELDS_MAX) {
        g_ptr_array_add(texts, g_strdup("dkim=permerror"));
        return true;
    }
    if (!keys_known(message, names))
        return false;
    DKIM *dkim = verifier() ? dkim_verify(verifier(), (const u_char *)"listrunner", NULL, &status) : NULL;
    DKIM_SIGINFO **signatures = NULL;
    int count = 0;
    guint before = texts->len;
    if (dkim) {
        dkim_set_user_context(dkim, &check);
        feed(dkim, message);
        if (dkim_getsiglist(dkim, &signatures, &count) != DKIM_STAT_OK)
            count = 0;
    }
    bool known = check.worst != NAMES_PENDING; /* of signatures that keys_known() could not read, too */
    for (int at = 0; known && at < MIN(count, DKIM_CHECKED_MAX); at++)
        g_ptr_array_add(texts, describe(signatures[at], names));
    if (dkim)
        dkim_free(dkim);
    if (known && texts->len == before)
        g_ptr_array_add(texts, g_strdup(dkim ? "dkim=none" : "dkim=temperror"));
    return known;
}
