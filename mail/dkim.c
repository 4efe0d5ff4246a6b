/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/dkim.h"

#include <opendkim/dkim.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/fail.h"
#include "mail/dmarc.h"

#define RSA_BITS_MIN 1024

struct DkimKey {
    char *domain, *selector, *pem;
    dkim_alg_t algorithm;
    DKIM_LIB *library;
};

/* What says who wrote it, to whom, about what, and how it is to be read; and the list's own fields (RFC 8058 wants
 * those of unsubscribing signed). */
static const char *const signed_fields[] = {
    "from", "reply-to", "subject", "date", "to", "cc", "message-id", "in-reply-to", "references", "mime-version",
    "content-type", "content-transfer-encoding", "content-disposition", "list-id", "list-help", "list-owner",
    "list-post", "list-archive", "list-subscribe", "list-unsubscribe", "list-unsubscribe-post", NULL,
};
/* One that is added later makes the signature wrong. */
static const char *const once[] = {"from", NULL};

static bool read_algorithm(DkimKey *key, GError **error)
{
    BIO *bio = BIO_new_mem_buf(key->pem, -1);
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    int type = pkey ? EVP_PKEY_get_base_id(pkey) : EVP_PKEY_NONE, bits = pkey ? EVP_PKEY_get_bits(pkey) : 0;
    EVP_PKEY_free(pkey);
    BIO_free(bio);
    key->algorithm = type == EVP_PKEY_ED25519 ? DKIM_SIGN_ED25519SHA256 : DKIM_SIGN_RSASHA256;
    if (type == EVP_PKEY_ED25519 || (type == EVP_PKEY_RSA && bits >= RSA_BITS_MIN))
        return true;
    return fail(error, FAIL_CONFIG, "this is no private key in PEM, RSA of at least %d bits or Ed25519", RSA_BITS_MIN);
}

static bool open_library(DkimKey *key, GError **error)
{
    unsigned flags = DKIM_LIBFLAGS_FIXCRLF;
    key->library = dkim_init(NULL, NULL);
    if (key->library &&
        dkim_options(key->library, DKIM_OP_SETOPT, DKIM_OPTS_FLAGS, &flags, sizeof flags) == DKIM_STAT_OK &&
        dkim_options(key->library, DKIM_OP_SETOPT, DKIM_OPTS_SIGNHDRS, (void *)signed_fields,
                     sizeof(char **)) == DKIM_STAT_OK &&
        dkim_options(key->library, DKIM_OP_SETOPT, DKIM_OPTS_OVERSIGNHDRS, (void *)once,
                     sizeof(char **)) == DKIM_STAT_OK)
        return true;
    return fail(error, FAIL_LATER, "libopendkim cannot be used");
}

DkimKey *dkim_key_new(const char *domain, const char *selector, const char *pem, GError **error)
{
    g_autoptr(DkimKey) key = g_new0(DkimKey, 1);
    key->domain = g_ascii_strdown(domain, -1);
    key->selector = g_strdup(selector);
    key->pem = g_strdup(pem);
    return read_algorithm(key, error) && open_library(key, error) ? g_steal_pointer(&key) : NULL;
}

void dkim_key_free(DkimKey *key)
{
    if (!key)
        return;
    if (key->library)
        dkim_close(key->library);
    g_free(key->domain);
    g_free(key->selector);
    g_free(key->pem);
    g_free(key);
}

bool dkim_key_fits(const DkimKey *key, const char *domain)
{
    size_t own = strlen(key->domain), length = strlen(domain);
    return length >= own && g_ascii_strcasecmp(domain + length - own, key->domain) == 0 &&
           (length == own || domain[length - own - 1] == '.');
}

/* Without its last line end, and folded with CRLF. */
static GString *wire_field(const Field *field)
{
    GString *text = g_string_sized_new(field->length);
    for (size_t at = 0; at < field->length; at++) {
        if (field->text[at] == '\n')
            g_string_append(text, "\r\n");
        else if (field->text[at] != '\r')
            g_string_append_c(text, field->text[at]);
    }
    if (g_str_has_suffix(text->str, "\r\n"))
        g_string_truncate(text, text->len - 2);
    return text;
}

static DKIM_STAT feed(DKIM *dkim, const Message *message)
{
    DKIM_STAT status = DKIM_STAT_OK;
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

static GBytes *joined(const GPtrArray *pieces)
{
    GByteArray *all = g_byte_array_new();
    for (guint at = 0; at < pieces->len; at++) {
        size_t length;
        const guint8 *octets = g_bytes_get_data(pieces->pdata[at], &length);
        g_byte_array_append(all, octets, (guint)length);
    }
    return g_byte_array_free_to_bytes(all);
}

char *dkim_key_sign(const DkimKey *key, const GPtrArray *pieces, GError **error)
{
    g_autoptr(GBytes) whole = joined(pieces);
    g_autoptr(Message) message = message_new(whole);
    DKIM_STAT status;
    u_char *value = NULL;
    size_t length = 0;
    DKIM *dkim = dkim_sign(key->library, (const u_char *)"listrunner", NULL, (dkim_sigkey_t)key->pem,
                           (const u_char *)key->selector, (const u_char *)key->domain, DKIM_CANON_RELAXED,
                           DKIM_CANON_RELAXED, key->algorithm, -1, &status);
    if (dkim) {
        status = feed(dkim, message);
        if (status == DKIM_STAT_OK)
            status = dkim_getsighdr_d(dkim, strlen("DKIM-Signature: "), &value, &length);
    }
    char *result = status == DKIM_STAT_OK ? g_strndup((const char *)value, length) : NULL;
    if (!result)
        fail(error, FAIL_LATER, "sign for %s by %s: %s", key->domain, key->selector, dkim_getresultstr(status));
    if (dkim)
        dkim_free(dkim);
    return result;
}

/* ---- verifying ---- */

/* What the library's callbacks need to know of one check. */
typedef struct Check {
    const char *domain;
    const Names *names;
    NamesAnswer worst; /* of what the DNS said */
} Check;

/* Signatures of others are not looked at. */
static DKIM_CBSTAT leave_out_others(DKIM *dkim, DKIM_SIGINFO **signatures, int count)
{
    const Check *check = dkim_get_user_context(dkim);
    for (int at = 0; at < count; at++) {
        const char *signer = (const char *)dkim_sig_getdomain(signatures[at]);
        if (!signer || !dmarc_aligned(signer, check->domain, false))
            dkim_sig_ignore(signatures[at]);
    }
    return DKIM_CBSTAT_CONTINUE;
}

static DKIM_CBSTAT find_key(DKIM *dkim, DKIM_SIGINFO *signature, unsigned char *text, size_t size)
{
    Check *check = dkim_get_user_context(dkim);
    const char *const *texts = NULL;
    g_autofree char *name = g_strdup_printf("%s._domainkey.%s", (const char *)dkim_sig_getselector(signature),
                                            (const char *)dkim_sig_getdomain(signature));
    NamesAnswer answer = check->names->text(check->names->data, name, &texts);
    if (answer == NAMES_FOUND && g_strlcpy((char *)text, texts[0], size) < size)
        return DKIM_CBSTAT_CONTINUE;
    if (answer == NAMES_PENDING || answer == NAMES_TROUBLE) {
        check->worst = MAX(check->worst, answer);
        return DKIM_CBSTAT_TRYAGAIN;
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
