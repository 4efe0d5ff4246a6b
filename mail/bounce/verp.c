/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce/verp.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "mail/address.h"

#define WEEK (7 * 86400 * CLOCK_SECOND)
#define WEEKS 1024 /* that two characters tell apart */
#define SKEW 1     /* weeks that another host's clock may be ahead */
#define WEEK_CHARS 2
#define PROOF_CHARS 10
#define TAG_CHARS (WEEK_CHARS + PROOF_CHARS)
#define HASH_CHARS 8
#define HASHED_CHARS (1 + HASH_CHARS + TAG_CHARS)
#define DIGEST 32

G_STATIC_ASSERT(sizeof(((VerpRead *)NULL)->tag) == TAG_CHARS + 1);
G_STATIC_ASSERT(VERP_LIST_MAX + 1 + HASHED_CHARS == VERP_LOCAL_MAX);

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

static const struct {
    const char *label; /* what its key is derived with */
    unsigned weeks;    /* how long it is read */
} purposes[VERP_PURPOSES] = {
    [VERP_COPY] = {"listrunner verp copy 1", 5},
    [VERP_PROBE] = {"listrunner verp probe 1", 5},
    [VERP_UNSUBSCRIBE] = {"listrunner verp unsubscribe 1", 157},
};

struct VerpKeys {
    EVP_MAC *mac;
    GPtrArray *contexts; /* of EVP_MAC_CTX: VERP_PURPOSES for each secret, in order */
};

/* ---- keys ---- */

static void feed(EVP_MAC_CTX *context, const void *octets, size_t length)
{
    if (EVP_MAC_update(context, octets, length) != 1)
        log_panic("HMAC-SHA256 failed");
}

static void digest_of(EVP_MAC_CTX *context, unsigned char digest[DIGEST])
{
    size_t length = 0;
    if (EVP_MAC_final(context, digest, &length, DIGEST) != 1 || length != DIGEST)
        log_panic("HMAC-SHA256 failed");
}

static EVP_MAC_CTX *context_new(EVP_MAC *mac, const void *key, size_t length)
{
    char name[] = "SHA256";
    const OSSL_PARAM parameters[] = {OSSL_PARAM_utf8_string("digest", name, sizeof name - 1), OSSL_PARAM_END};
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    if (!context || EVP_MAC_init(context, key, length, parameters) != 1)
        log_panic("OpenSSL has no HMAC-SHA256");
    return context;
}

VerpKeys *verp_keys_new(const GPtrArray *secrets)
{
    if (!secrets || secrets->len == 0)
        return NULL;
    VerpKeys *keys = g_new0(VerpKeys, 1);
    keys->mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    if (!keys->mac)
        log_panic("OpenSSL has no HMAC");
    keys->contexts = g_ptr_array_new_with_free_func((GDestroyNotify)EVP_MAC_CTX_free);
    for (unsigned at = 0; at < secrets->len * VERP_PURPOSES; at++) {
        /* One key a purpose, so that no tag serves two. */
        size_t length;
        const void *secret = g_bytes_get_data(secrets->pdata[at / VERP_PURPOSES], &length);
        const char *label = purposes[at % VERP_PURPOSES].label;
        unsigned char derived[DIGEST];
        EVP_MAC_CTX *context = context_new(keys->mac, secret, length);
        feed(context, label, strlen(label));
        digest_of(context, derived);
        EVP_MAC_CTX_free(context);
        g_ptr_array_add(keys->contexts, context_new(keys->mac, derived, sizeof derived));
        OPENSSL_cleanse(derived, sizeof derived);
    }
    return keys;
}

void verp_keys_free(VerpKeys *keys)
{
    if (!keys)
        return;
    g_ptr_array_unref(keys->contexts);
    EVP_MAC_free(keys->mac);
    g_free(keys);
}

/* ---- tags ---- */

/* The first 5 * count bits. */
static void base32(const unsigned char *octets, size_t count, char *text)
{
    for (size_t i = 0; i < count; i++) {
        size_t bit = i * 5;
        unsigned pair = (unsigned)octets[bit / 8] << 8 | octets[bit / 8 + 1];
        text[i] = alphabet[pair >> (11 - bit % 8) & 31];
    }
    text[count] = '\0';
}

static int digit(char character)
{
    const char *found = strchr(alphabet, g_ascii_tolower(character));
    return character != '\0' && found ? (int)(found - alphabet) : -1;
}

static bool is_base32(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (digit(text[i]) < 0)
            return false;
    return true;
}

static unsigned week_of(int64_t time)
{
    return (unsigned)(MAX(time, 0) / WEEK % WEEKS);
}

/* folded: the recipient in lower case. The lengths are unambiguous: neither List-Id nor address holds a NUL. */
static void tag_make(EVP_MAC_CTX *context, const char *list_id, const char *folded, unsigned week, char *tag)
{
    unsigned char digest[DIGEST];
    const unsigned char number[2] = {(unsigned char)(week >> 8), (unsigned char)week};
    if (EVP_MAC_init(context, NULL, 0, NULL) != 1)
        log_panic("HMAC-SHA256 failed");
    feed(context, list_id, strlen(list_id) + 1);
    feed(context, number, sizeof number);
    feed(context, folded, strlen(folded));
    digest_of(context, digest);
    tag[0] = alphabet[week >> 5 & 31];
    tag[1] = alphabet[week & 31];
    base32(digest, PROOF_CHARS, tag + WEEK_CHARS);
}

uint64_t verp_hash(const char *recipient)
{
    g_autofree char *folded = address_key(recipient);
    unsigned char digest[EVP_MAX_MD_SIZE];
    uint64_t hash = 0;
    if (EVP_Digest(folded, strlen(folded), digest, NULL, EVP_sha256(), NULL) != 1)
        log_panic("OpenSSL has no SHA-256");
    for (size_t i = 0; i < HASH_CHARS * 5 / 8; i++)
        hash = hash << 8 | digest[i];
    return hash;
}

/* ---- addresses ---- */

/* Letters, digits and what no mail system reads a meaning into, dots as a dot-atom has them. */
static bool is_tame(const char *recipient)
{
    const char *at = strrchr(recipient, '@');
    if (!at || at == recipient || !at[1] || *recipient == '=')
        return false;
    for (const char *c = recipient; *c; c++) {
        bool edge = c == recipient || c[-1] == '.' || c[-1] == '@';
        if (*c == '.' ? edge || c[1] == '@' || c[1] == '\0' : c != at && !g_ascii_isalnum(*c) && !strchr("-_+=", *c))
            return false;
    }
    return !strchr(at, '=');
}

bool verp_is_hashed(const VerpList *list, const char *recipient)
{
    size_t length = strlen(list->local) + 1 + strlen(recipient) + 1 + TAG_CHARS;
    return length > VERP_LOCAL_MAX || !is_tame(recipient);
}

bool verp_make(VerpKeys *keys, VerpPurpose purpose, const VerpList *list, const char *recipient, int64_t time,
               GString *address)
{
    bool hashed = verp_is_hashed(list, recipient);
    if (hashed && strlen(list->local) + 1 + HASHED_CHARS > VERP_LOCAL_MAX)
        return false;
    g_autofree char *folded = address_key(recipient);
    char tag[TAG_CHARS + 1], text[HASH_CHARS + 1];
    tag_make(keys->contexts->pdata[purpose], list->list_id, folded, week_of(time), tag);
    g_string_append(address, list->local);
    g_string_append_c(address, list->delimiter);
    if (hashed) {
        uint64_t hash = verp_hash(recipient);
        unsigned char octets[HASH_CHARS * 5 / 8 + 1] = {0}; /* base32() looks one ahead */
        for (size_t i = 0; i < HASH_CHARS * 5 / 8; i++)
            octets[i] = (unsigned char)(hash >> (8 * (HASH_CHARS * 5 / 8 - 1 - i)));
        base32(octets, HASH_CHARS, text);
        g_string_append_printf(address, "=%s%s", text, tag);
    } else {
        const char *at = strrchr(recipient, '@');
        g_string_append_len(address, recipient, at - recipient);
        g_string_append_c(address, '=');
        g_string_append(address, at + 1);
        g_string_append_c(address, list->delimiter);
        g_string_append(address, tag);
    }
    g_string_append_c(address, '@');
    g_string_append(address, list->host);
    return true;
}

char *verp_token(VerpKeys *keys, VerpPurpose purpose, const char *list_id, const char *recipient, int64_t time)
{
    g_autofree char *folded = address_key(recipient);
    char tag[TAG_CHARS + 1];
    tag_make(keys->contexts->pdata[purpose], list_id, folded, week_of(time), tag);
    g_autofree char *both = g_strconcat(recipient, " ", list_id, NULL);
    g_autofree char *encoded = g_base64_encode((const guchar *)both, strlen(both));
    g_strdelimit(g_strdelimit(encoded, "+", '-'), "/", '_');
    encoded[strcspn(encoded, "=")] = '\0';
    return g_strconcat(encoded, ".", tag, NULL);
}

/* ---- reading ---- */

void verp_read_clear(VerpRead *read)
{
    g_clear_pointer(&read->recipient, g_free);
}

static void keep_tag(VerpRead *read, const char *tag)
{
    for (size_t i = 0; i < TAG_CHARS; i++)
        read->tag[i] = g_ascii_tolower(tag[i]);
    read->tag[TAG_CHARS] = '\0';
}

VerpResult verp_confirm(VerpKeys *keys, VerpPurpose purpose, const char *list_id, const char *recipient, int64_t now,
                        VerpRead *read)
{
    g_autofree char *folded = address_key(recipient);
    unsigned week = (unsigned)digit(read->tag[0]) << 5 | (unsigned)digit(read->tag[1]);
    bool proved = false;
    /* All keys are tried, in a time that says nothing about how far one agreed. */
    for (unsigned i = purpose; i < keys->contexts->len; i += VERP_PURPOSES) {
        char expected[TAG_CHARS + 1];
        tag_make(keys->contexts->pdata[i], list_id, folded, week, expected);
        proved |= CRYPTO_memcmp(expected, read->tag, TAG_CHARS) == 0;
    }
    if (!proved)
        return VERP_FORGED;
    if (!read->recipient)
        read->recipient = g_strdup(recipient);
    unsigned age = (week_of(now) + SKEW + WEEKS - week) % WEEKS;
    return age <= purposes[purpose].weeks + SKEW ? VERP_VALID : VERP_STALE;
}

VerpResult verp_parse(VerpKeys *keys, VerpPurpose purpose, const VerpList *list, const char *detail, int64_t now,
                      VerpRead *read)
{
    *read = (VerpRead){0};
    if (!detail || !*detail)
        return VERP_ABSENT;
    if (*detail == '=') {
        if (strlen(detail) != HASHED_CHARS || !is_base32(detail + 1, HASHED_CHARS - 1))
            return VERP_FORGED;
        for (size_t i = 1; i <= HASH_CHARS; i++)
            read->hash = read->hash << 5 | (unsigned)digit(detail[i]);
        keep_tag(read, detail + 1 + HASH_CHARS);
        return VERP_HASHED;
    }
    const char *cut = strrchr(detail, list->delimiter);
    const char *equals = cut ? g_strrstr_len(detail, cut - detail, "=") : NULL;
    if (!equals || equals == detail || strlen(cut + 1) != TAG_CHARS || !is_base32(cut + 1, TAG_CHARS))
        return VERP_ABSENT;
    g_autofree char *local = g_strndup(detail, (size_t)(equals - detail));
    g_autofree char *domain = g_strndup(equals + 1, (size_t)(cut - equals - 1));
    g_autofree char *recipient = g_strconcat(local, "@", domain, NULL);
    keep_tag(read, cut + 1);
    return is_tame(recipient) ? verp_confirm(keys, purpose, list->list_id, recipient, now, read) : VERP_FORGED;
}

/* The recipient of a token and its list, cut in two at the last blank; NULL: it has not the form. g_strfreev() */
static char **token_split(const char *token)
{
    const char *dot = token ? strchr(token, '.') : NULL;
    if (!dot || dot == token || strlen(dot + 1) != TAG_CHARS || !is_base32(dot + 1, TAG_CHARS))
        return NULL;
    g_autoptr(GString) encoded = g_string_new_len(token, dot - token);
    g_strdelimit(g_strdelimit(encoded->str, "-", '+'), "_", '/');
    while (encoded->len % 4 != 0)
        g_string_append_c(encoded, '=');
    gsize length = 0;
    g_autofree char *decoded = (char *)g_base64_decode(encoded->str, &length);
    g_autofree char *both = g_strndup(decoded ? decoded : "", length);
    char *blank = strlen(both) == length ? strrchr(both, ' ') : NULL;
    if (!blank)
        return NULL;
    *blank = '\0';
    const char *const parts[] = {both, blank + 1, NULL};
    return g_strdupv((char **)parts);
}

char *verp_token_list(const char *token)
{
    g_auto(GStrv) parts = token_split(token);
    return parts ? g_strdup(parts[1]) : NULL;
}

VerpResult verp_token_parse(VerpKeys *keys, VerpPurpose purpose, const char *list_id, const char *token, int64_t now,
                            VerpRead *read)
{
    *read = (VerpRead){0};
    g_auto(GStrv) parts = token_split(token);
    if (!parts)
        return VERP_ABSENT;
    keep_tag(read, strchr(token, '.') + 1);
    if (strcmp(parts[1], list_id) != 0 || !mailbox_valid(parts[0]))
        return VERP_FORGED;
    return verp_confirm(keys, purpose, list_id, parts[0], now, read);
}
