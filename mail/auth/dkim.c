/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/dkim.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "mail/auth/dkim_internal.h"
#include "mail/auth/dmarc.h"
#include "mail/domain_name.h"

#define RSA_BITS_MIN 1024 /* RFC 8301, 3.2 */
#define ED25519_BYTES 32
#define TAG_NAME G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-" /* "-" is not allowed, but does no harm */

/* ---- tags ---- */

/* Name -> value. NULL: this is no list of tags, or a tag stands in it twice. */
static GHashTable *tags_read(const char *text)
{
    g_autoptr(GHashTable) tags = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_auto(GStrv) parts = g_strsplit(text, ";", -1);
    for (char **part = parts; *part; part++) {
        char *equals = strchr(*part, '=');
        if (!equals && !part[1] && !*g_strstrip(*part)) /* behind the last semicolon */
            break;
        if (!equals)
            return NULL;
        *equals = '\0';
        g_autofree char *name = g_strdup(g_strstrip(*part));
        bool valid = g_ascii_isalpha(*name) && !name[strspn(name, TAG_NAME)];
        if (!valid || g_hash_table_contains(tags, name))
            return NULL;
        g_hash_table_insert(tags, g_steal_pointer(&name), g_strdup(g_strstrip(equals + 1)));
    }
    return g_steal_pointer(&tags);
}

GHashTable *dkim_tags_of(const Field *field)
{
    size_t length = field->length - field->value_offset;
    g_autofree char *value = g_strndup(field->text + field->value_offset, length);
    return strlen(value) == length ? tags_read(value) : NULL;
}

/* Reads a tag of decimal digits. *number is -1 when the tag is not there, which is no error. False: it is there, and is
 * something else. */
static bool tag_number(GHashTable *tags, const char *name, int64_t *number)
{
    const char *text = g_hash_table_lookup(tags, name);
    *number = text ? (int64_t)MIN(g_ascii_strtoull(text, NULL, 10), G_MAXINT64) : -1;
    return !text || (*text && strspn(text, "0123456789") == strlen(text));
}

bool dkim_list_has(const char *list, const char *word, bool any)
{
    g_auto(GStrv) words = g_strsplit(list ? list : word, ":", -1);
    for (char **at = words; *at; at++)
        if (strcmp(g_strstrip(*at), word) == 0 || (any && strcmp(*at, "*") == 0))
            return true;
    return false;
}

char *dkim_squeeze(char *value)
{
    char *to = value;
    for (const char *at = value; *at; at++)
        if (!byte_is_blank(*at))
            *to++ = *at;
    *to = '\0';
    return value;
}

/* ---- canonical forms ---- */

/* Append the value from at to end with the value of b= left out, and the blanks around that. */
static void append_without_signature(GString *out, const char *at, const char *end)
{
    while (at < end) {
        const char *semicolon = memchr(at, ';', (size_t)(end - at)), *next = semicolon ? semicolon : end;
        const char *name = at;
        while (name < next && byte_is_blank(*name))
            name++;
        const char *equals = name < next && *name == 'b' ? name + 1 : next;
        while (equals < next && byte_is_blank(*equals))
            equals++;
        bool signature = equals < next && *equals == '=';
        g_string_append_len(out, at, (signature ? equals + 1 : next) - at);
        if (semicolon)
            g_string_append_c(out, ';');
        at = next + 1;
    }
}

void dkim_append_field(GString *out, const Field *field, bool relaxed, bool without_signature)
{
    const char *value = field->text + field->value_offset, *end = field->text + field->length;
    g_autoptr(GString) kept = g_string_new(NULL);
    while (end > value && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    if (without_signature)
        append_without_signature(kept, value, end);
    else
        g_string_append_len(kept, value, end - value);
    if (relaxed) {
        for (size_t at = 0; at < field->name_length; at++)
            g_string_append_c(out, g_ascii_tolower(field->text[at]));
        g_string_append_c(out, ':');
        /* Blanks become one, and those at the end none; line ends are taken out. */
        bool gap = false, begun = false;
        for (size_t at = 0; at < kept->len; at++) {
            if (byte_is_blank(kept->str[at])) {
                gap = gap || kept->str[at] == ' ' || kept->str[at] == '\t';
                continue;
            }
            if (gap && begun)
                g_string_append_c(out, ' ');
            g_string_append_c(out, kept->str[at]);
            gap = false;
            begun = true;
        }
    } else {
        g_string_append_len(out, field->text, (gssize)field->value_offset);
        for (size_t at = 0; at < kept->len; at++) {
            if (kept->str[at] == '\n' && (at == 0 || kept->str[at - 1] != '\r'))
                g_string_append_c(out, '\r');
            g_string_append_c(out, kept->str[at]);
        }
    }
    g_string_append(out, "\r\n");
}

void dkim_append_named(GString *text, const Message *message, char **names, bool relaxed)
{
    /* Fields by their names in lower case, in queues with the lowest field first. One pass makes it, because whoever
     * sends the mail chooses how many names h= has, and how many fields there are. */
    g_autoptr(GHashTable) fields = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_queue_free);
    for (size_t at = message_field_count(message); at > 0; at--) {
        const Field *field = message_field(message, at - 1);
        g_autofree char *name = g_ascii_strdown(field->text, (gssize)field->name_length);
        GQueue *same = g_hash_table_lookup(fields, name);
        if (!same) {
            same = g_queue_new();
            g_hash_table_insert(fields, g_steal_pointer(&name), same);
        }
        g_queue_push_tail(same, (Field *)field);
    }
    for (; *names; names++) {
        g_autofree char *name = g_ascii_strdown(*names, -1);
        GQueue *same = *name ? g_hash_table_lookup(fields, name) : NULL; /* a field without a name is none */
        if (same && !g_queue_is_empty(same))
            dkim_append_field(text, g_queue_pop_head(same), relaxed, false);
    }
}

Field dkim_field_of(const GString *text)
{
    size_t name = strcspn(text->str, ":");
    return (Field){.text = text->str, .length = text->len, .name_length = name, .value_offset = name + 1};
}

/* A body on its way into the sum: empty lines are held back, since those at the end do not count. */
typedef struct BodySum {
    GChecksum *sum;
    int64_t limit, length;
} BodySum;

static void add(BodySum *body, const char *octets, size_t length)
{
    int64_t room = body->limit < 0 ? INT64_MAX : MAX(body->limit - body->length, 0);
    size_t taken = (size_t)MIN(room, (int64_t)length);
    if (taken > 0)
        g_checksum_update(body->sum, (const guchar *)octets, (gssize)taken);
    body->length += (int64_t)length;
}

char *dkim_body_hash(GBytes *body, bool relaxed, int64_t limit, int64_t *length)
{
    BodySum sum = {g_checksum_new(G_CHECKSUM_SHA256), limit, 0};
    g_autoptr(GString) buffer = g_string_new(NULL);
    size_t size, empty = 0, lines = 0;
    const char *octets = g_bytes_get_data(body, &size), *at = size > 0 ? octets : "", *end = at + size;
    for (const char *next; at < end; at = next) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed ? feed : end, *first = at;
        next = feed ? feed + 1 : end;
        if (feed && stop > at && stop[-1] == '\r')
            stop--;
        while (relaxed && first < stop && (*first == ' ' || *first == '\t'))
            first++;
        if (first == stop) {
            empty++;
            continue;
        }
        for (; empty > 0; empty--)
            add(&sum, "\r\n", 2);
        if (relaxed) {
            g_string_truncate(buffer, 0);
            for (; at < stop; at++) {
                bool blank = *at == ' ' || *at == '\t';
                if (!blank)
                    g_string_append_c(buffer, *at);
                else if (at + 1 == stop || (at[1] != ' ' && at[1] != '\t'))
                    g_string_append_c(buffer, ' ');
            }
            if (buffer->len > 0 && buffer->str[buffer->len - 1] == ' ')
                g_string_truncate(buffer, buffer->len - 1);
        }
        add(&sum, relaxed ? buffer->str : at, relaxed ? buffer->len : (size_t)(stop - at));
        add(&sum, "\r\n", 2);
        lines++;
    }
    if (lines == 0 && !relaxed) /* an empty body is one empty line */
        add(&sum, "\r\n", 2);
    guint8 digest[32];
    gsize digest_length = sizeof digest;
    g_checksum_get_digest(sum.sum, digest, &digest_length);
    g_checksum_free(sum.sum);
    if (length)
        *length = sum.length;
    return g_base64_encode(digest, digest_length);
}

/* ---- keys ---- */

/* Decode strictly: libraries pass over what is no base64, and each of them over something else. NULL: it is none. */
static guint8 *decode(const char *text, gsize *length)
{
    g_autofree char *bare = dkim_squeeze(g_strdup(text ? text : ""));
    size_t letters = strspn(bare, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "+/"), all = strlen(bare);
    bool valid = letters > 0 && all % 4 == 0 && all - letters <= 2 && strspn(bare + letters, "=") == all - letters;
    return valid ? g_base64_decode(bare, length) : NULL;
}

/* Reads a record of the DNS as the key for the signature with these tags; EVP_PKEY_free(). NULL: it is another kind of
 * record, is not for this signature, was revoked, or is too short. *weak is true only when it is too short. */
static EVP_PKEY *public_key(const char *record, GHashTable *tags, bool *weak)
{
    const char *algorithm = g_hash_table_lookup(tags, "a");
    bool edwards = g_strcmp0(algorithm, "ed25519-sha256") == 0;
    g_autoptr(GHashTable) key_tags = tags_read(record);
    *weak = false;
    if (!key_tags || (!edwards && g_strcmp0(algorithm, "rsa-sha256") != 0))
        return NULL;
    const char *version = g_hash_table_lookup(key_tags, "v"), *kind = g_hash_table_lookup(key_tags, "k");
    const char *flags = g_hash_table_lookup(key_tags, "t"), *identity = g_hash_table_lookup(tags, "i");
    const char *at = identity ? strrchr(identity, '@') : NULL;
    if ((version && strcmp(version, "DKIM1") != 0) || strcmp(kind ? kind : "rsa", edwards ? "ed25519" : "rsa") != 0 ||
        !dkim_list_has(g_hash_table_lookup(key_tags, "h"), "sha256", false) ||
        !dkim_list_has(g_hash_table_lookup(key_tags, "s"), "email", true))
        return NULL;
    /* With t=s the identity must be of the domain itself. */
    if (flags && dkim_list_has(flags, "s", false) && at &&
        g_ascii_strcasecmp(at + 1, g_hash_table_lookup(tags, "d")) != 0)
        return NULL;
    gsize length;
    g_autofree guint8 *bytes = decode(g_hash_table_lookup(key_tags, "p"), &length);
    if (!bytes)
        return NULL;
    if (edwards)
        return length == ED25519_BYTES ? EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes, length) : NULL;
    /* p= has an RSA key in the format of most keys, or in that of RFC 6376 itself. */
    const unsigned char *usual = bytes, *bare = bytes;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &usual, (long)length);
    key = key ? key : d2i_PublicKey(EVP_PKEY_RSA, NULL, &bare, (long)length);
    bool rsa = key && EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;
    *weak = rsa && EVP_PKEY_get_bits(key) < RSA_BITS_MIN;
    if (rsa && !*weak)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

/* Set *octets to what libcrypto is given: for RSA the text, which it hashes itself; for Ed25519 the hash, in digest. */
static void message_of(EVP_PKEY *key, const GString *text, guint8 digest[32], const guint8 **octets, gsize *length)
{
    *octets = (const guint8 *)text->str;
    *length = text->len;
    if (EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519)
        return;
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, *octets, (gssize)*length);
    *length = 32;
    g_checksum_get_digest(sum, digest, length);
    *octets = digest;
}

static const EVP_MD *hash_of(EVP_PKEY *key)
{
    return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? NULL : EVP_sha256();
}

/* Signs a text in canonical form, and returns the signature in base64; g_free(). NULL: libcrypto failed. */
static char *signature_make(EVP_PKEY *key, const GString *text)
{
    guint8 digest[32];
    const guint8 *octets;
    gsize length, size = 0;
    g_autofree guchar *made = NULL;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    message_of(key, text, digest, &octets, &length);
    bool done = EVP_DigestSignInit(context, NULL, hash_of(key), NULL, key) == 1 &&
                EVP_DigestSign(context, NULL, &size, octets, length) == 1;
    if (done) {
        made = g_malloc(size);
        done = EVP_DigestSign(context, made, &size, octets, length) == 1;
    }
    EVP_MD_CTX_free(context);
    return done ? g_base64_encode(made, size) : NULL;
}

/* ---- checking ---- */

static bool is_signature(EVP_PKEY *key, const GString *text, const guint8 *signature, gsize signature_length)
{
    guint8 digest[32];
    const guint8 *octets;
    gsize length;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    message_of(key, text, digest, &octets, &length);
    bool fits = EVP_DigestVerifyInit(context, NULL, hash_of(key), NULL, key) == 1 &&
                EVP_DigestVerify(context, signature, signature_length, octets, length) == 1;
    EVP_MD_CTX_free(context);
    return fits;
}

NamesAnswer dkim_ask_key(GHashTable *tags, const Names *names, const char *const **records)
{
    const char *selector = g_hash_table_lookup(tags, "s"), *domain = g_hash_table_lookup(tags, "d");
    if (!domain_name_valid(selector) || !domain_name_valid(domain))
        return NAMES_NONE;
    g_autofree char *ascii_selector = domain_name_ascii(selector), *ascii_domain = domain_name_ascii(domain);
    g_autofree char *name = g_strdup_printf("%s._domainkey.%s", ascii_selector, ascii_domain);
    return names->text(names->data, name, records);
}

/* Why no signature by this algorithm is looked at; NULL: it is. */
static DkimFinding judge_algorithm(GHashTable *tags, const char **reason)
{
    const char *algorithm = g_hash_table_lookup(tags, "a");
    bool usable = g_strcmp0(algorithm, "rsa-sha256") == 0 || g_strcmp0(algorithm, "ed25519-sha256") == 0;
    bool weak = g_strcmp0(algorithm, "rsa-sha1") == 0;
    *reason = usable ? NULL : weak ? "rsa-sha1 is no longer valid" : "the algorithm is not known";
    return usable ? DKIM_FITS : weak ? DKIM_WEAK : DKIM_INVALID;
}

static const char *const key_faults[] = {
    [DKIM_FITS] = NULL,
    [DKIM_BROKEN] = "the signature does not fit",
    [DKIM_WEAK] = "the key has less than 1024 bits",
    [DKIM_INVALID] = "there is no key for it",
};

DkimFinding dkim_check_text(GHashTable *tags, const GString *text, const Names *names, const char **reason)
{
    const char *const *records = NULL;
    gsize length;
    g_autofree guint8 *signature = decode(g_hash_table_lookup(tags, "b"), &length);
    DkimFinding found = judge_algorithm(tags, reason);
    if (found != DKIM_FITS)
        return found;
    *reason = "b= is no signature";
    if (!signature)
        return DKIM_INVALID;
    NamesAnswer answer = dkim_ask_key(tags, names, &records);
    *reason = "the DNS gave no answer";
    if (answer == NAMES_PENDING || answer == NAMES_TROUBLE)
        return answer == NAMES_PENDING ? DKIM_WAITS : DKIM_UNKNOWN;
    found = DKIM_INVALID;
    for (; answer == NAMES_FOUND && *records && found != DKIM_FITS; records++) {
        bool weak;
        EVP_PKEY *key = public_key(*records, tags, &weak);
        DkimFinding one = !key                                         ? (weak ? DKIM_WEAK : DKIM_INVALID)
                          : is_signature(key, text, signature, length) ? DKIM_FITS
                                                                       : DKIM_BROKEN;
        found = MIN(found, one);
        EVP_PKEY_free(key);
    }
    *reason = key_faults[found];
    return found;
}

DkimFinding dkim_check_message(const DkimSigned *claim, const Names *names, const char **reason)
{
    bool relaxed[2] = {false, false}, known = true, from = false; /* of the header, of the body */
    int64_t expiry, most, length;
    GHashTable *tags = claim->tags;
    DkimFinding usable = judge_algorithm(tags, reason);
    if (usable != DKIM_FITS)
        return usable;
    /* c= is "simple" or "relaxed/simple". */
    const char *given = g_hash_table_lookup(tags, "c");
    g_auto(GStrv) forms = g_strsplit(given ? given : "simple", "/", 3);
    for (size_t at = 0; known && forms[at]; at++) {
        known = at < G_N_ELEMENTS(relaxed) && (strcmp(forms[at], "simple") == 0 || strcmp(forms[at], "relaxed") == 0);
        if (known)
            relaxed[at] = strcmp(forms[at], "relaxed") == 0;
    }
    g_autofree char *list = g_strdup(g_hash_table_lookup(tags, "h"));
    g_auto(GStrv) words = g_strsplit(list ? dkim_squeeze(list) : "", ":", -1);
    for (char **word = words; *word; word++)
        from |= g_ascii_strcasecmp(*word, "from") == 0;
    *reason = !known || !forms[0]                                                ? "c= is not valid"
              : !from                                                            ? "h= lacks From"
              : !g_hash_table_contains(tags, "bh")                               ? "bh= is missing"
              : !tag_number(tags, "l", &most) || !tag_number(tags, "x", &expiry) ? "a number is not valid"
              : expiry >= 0 && claim->time / CLOCK_SECOND > expiry               ? "it has expired"
                                                                                 : NULL;
    if (*reason)
        return DKIM_INVALID;
    /* The body has the hash bh=, as far as l= goes. */
    *reason = "the body is not the one that was signed";
    g_autofree char *sum = dkim_squeeze(g_strdup(g_hash_table_lookup(tags, "bh")));
    g_autoptr(GBytes) body = message_body(claim->message);
    g_autofree char *found = dkim_body_hash(body, relaxed[1], most, &length);
    if (strcmp(sum, found) != 0 || (most >= 0 && (claim->whole ? length != most : length < most)))
        return DKIM_BROKEN;
    g_autoptr(GString) text = g_string_new(NULL);
    dkim_append_named(text, claim->message, words, relaxed[0]);
    dkim_append_field(text, claim->field, relaxed[0], true);
    g_string_truncate(text, text->len - 2); /* the last field has no line end */
    return dkim_check_text(tags, text, names, reason);
}

#define FIELD "DKIM-Signature"
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

DkimKey *dkim_key_new(const DkimKeyPlace *place, const char *pem, GError **error)
{
    g_autoptr(DkimKey) key = g_new0(DkimKey, 1);
    key->domain = g_ascii_strdown(place->domain, -1);
    key->selector = g_strdup(place->selector);
    key->use = place->use;
    BIO *bio = BIO_new_mem_buf(pem, -1);
    /* The empty pass phrase: without one, libcrypto would ask for it on the terminal of whoever starts the master. */
    key->private = PEM_read_bio_PrivateKey(bio, NULL, NULL, (char *)"");
    BIO_free(bio);
    int type = key->private ? EVP_PKEY_get_base_id(key->private) : EVP_PKEY_NONE;
    int bits = key->private ? EVP_PKEY_get_bits(key->private) : 0;
    key->algorithm = type == EVP_PKEY_ED25519 ? "ed25519-sha256" : "rsa-sha256";
    if (type == EVP_PKEY_ED25519 || (type == EVP_PKEY_RSA && bits >= RSA_BITS_MIN))
        return g_steal_pointer(&key);
    fail(error, FAIL_CONFIG,
         "this is no private key in PEM, RSA of at least %d bits or Ed25519, "
         "without a pass phrase",
         RSA_BITS_MIN);
    return NULL;
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

DkimRecord dkim_key_judge(const DkimKey *key, const char *record)
{
    bool weak;
    g_autofree char *signature = g_strdup_printf("a=%s; d=%s; s=%s", key->algorithm, key->domain, key->selector);
    g_autoptr(GHashTable) own = tags_read(signature), tags = tags_read(record);
    if (!tags || !g_hash_table_contains(tags, "p"))
        return DKIM_RECORD_NONE;
    EVP_PKEY *found = own ? public_key(record, own, &weak) : NULL;
    bool valid = found != NULL, same = valid && EVP_PKEY_eq(found, key->private) == 1;
    EVP_PKEY_free(found);
    if (valid && !same)
        return DKIM_RECORD_OTHER;
    if (!valid) { /* why no signature of the key can be checked by it */
        g_autofree char *half = public_half(key), *given = dkim_squeeze(g_strdup(g_hash_table_lookup(tags, "p")));
        return !*given ? DKIM_RECORD_REVOKED : g_strcmp0(half, given) == 0 ? DKIM_RECORD_UNFIT : DKIM_RECORD_OTHER;
    }
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

bool dkim_key_sign_text(const DkimKey *key, const GString *text, GString *field, GError **error)
{
    g_autofree char *signature = signature_make(key->private, text);
    if (!signature)
        return fail(error, FAIL_LATER, "sign for %s by %s: libcrypto failed", key->domain, key->selector);
    for (size_t at = 0, length = strlen(signature); at < length; at += LINE_CHARACTERS)
        g_string_append_printf(field, "\r\n\t %.*s", LINE_CHARACTERS, signature + at);
    g_string_append(field, "\r\n");
    return true;
}

bool dkim_key_sign_message(const DkimKey *key, const Message *message, bool signatures, GString *field, GError **error)
{
    /* The names of all fields that are signed, one below the other, and one more From: a second one that is added on
     * the way makes the signature wrong. */
    g_autoptr(GString) signs = g_string_new("from");
    for (size_t at = 0; at < message_field_count(message); at++) {
        const Field *one = message_field(message, at);
        bool wanted = signatures && field_is(one, FIELD);
        for (const char *const *name = signed_fields; *name && !wanted; name++)
            wanted = field_is(one, *name);
        if (!wanted)
            continue;
        g_string_append(signs, ":\r\n\t ");
        g_string_append_len(signs, one->text, (gssize)one->name_length);
    }
    g_autofree char *names = g_ascii_strdown(signs->str, (gssize)signs->len), *list = g_strdup(names);
    g_auto(GStrv) words = g_strsplit(dkim_squeeze(list), ":", -1);
    g_autoptr(GBytes) body = message_body(message);
    g_autofree char *sum = dkim_body_hash(body, true, -1, NULL);
    g_string_append_printf(field, "c=relaxed/relaxed;\r\n\th=%s;\r\n\tbh=%s;\r\n\tb=", names, sum);
    g_autoptr(GString) text = g_string_new(NULL);
    dkim_append_named(text, message, words, true);
    Field own = dkim_field_of(field);
    dkim_append_field(text, &own, true, true);
    g_string_truncate(text, text->len - 2); /* the last field has no line end */
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

/* Return the first DKIM_CHECKED_MAX signatures of the message, in its order: of DkimSignature. With domain only those
 * that are by it or by one below it. */
static GArray *signatures_of(const Message *message, const char *domain)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(DkimSignature));
    g_array_set_clear_func(all, signature_clear);
    size_t index = 0;
    for (; all->len < DKIM_CHECKED_MAX && message_find(message, FIELD, &index); index++) {
        const Field *field = message_field(message, index);
        DkimSignature signature = {field, dkim_tags_of(field)};
        const char *signer = domain ? tag(&signature, "d") : NULL;
        g_autofree char *name = signer ? domain_name_ascii(signer) : NULL;
        if (!domain || (name && domain_name_within(name, domain)))
            g_array_append_val(all, signature);
        else
            signature_clear(&signature);
    }
    return all;
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
    /* The domain of i= is that of d=, or below it. The part before the "@" may be missing. */
    const char *identity = tag(signature, "i"), *behind = identity ? strrchr(identity, '@') : NULL;
    g_autofree char *below = behind ? domain_name_ascii(behind + 1) : NULL;
    g_autofree char *above = behind ? domain_name_ascii(tag(signature, "d")) : NULL;
    if (identity && !(below && domain_name_within(below, above)))
        return "i= is not below d=";
    if (!dkim_list_has(tag(signature, "q"), "dns/txt", false))
        return "q= is not known";
    if (!tag_number(signature->tags, "t", &made) || !tag_number(signature->tags, "x", &expiry) ||
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
    NamesAnswer worst = MAX(wide, NAMES_NONE);
    for (guint at = signatures->len; at-- > 0;) {
        const char *signer = tag(&g_array_index(signatures, DkimSignature, at), "d");
        NamesAnswer aligned = signer ? dmarc_aligned(names, signer, domain, strict) : NAMES_NONE;
        if (aligned == NAMES_FOUND)
            continue;
        g_array_remove_index(signatures, at);
        worst = MAX(worst, aligned);
    }
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
        GString *text = g_string_new("dkim=");
        const char *algorithm = tag(signature, "a"), *value = tag(signature, "b");
        g_autofree char *start = dkim_squeeze(g_strdup(value ? value : ""));
        g_string_append(text, verdicts[one]);
        if (one == DKIM_WEAK || one == DKIM_INVALID || one == DKIM_BROKEN)
            g_string_append_printf(text, " reason=\"%s\"", reason);
        add_name(text, "d", tag(signature, "d"));
        add_name(text, "s", tag(signature, "s"));
        add_property(text, "a", algorithm ? algorithm : "");
        start[MIN(strlen(start), SIGNATURE_START)] = '\0';
        add_property(text, "b", start);
        g_ptr_array_add(found, g_string_free(text, FALSE));
    }
    if (found->len == 0)
        g_ptr_array_add(found, g_strdup("dkim=none"));
    g_ptr_array_extend_and_steal(texts, g_steal_pointer(&found));
    return true;
}
