/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/dkim_syntax.h"

#include <openssl/x509.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "mail/domain_name.h"

#define RSA_BITS_MIN 1024 /* RFC 8301, 3.2 */
#define ED25519_BYTES 32

/* ---- tags ---- */

static bool is_tag_name(const char *name)
{
    if (!g_ascii_isalpha(*name))
        return false;
    for (; *name; name++)
        if (!g_ascii_isalnum(*name) && *name != '_' && *name != '-') /* "-" is not allowed, but does no harm */
            return false;
    return true;
}

GHashTable *dkim_tags_read(const char *text)
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
        if (!is_tag_name(name) || g_hash_table_contains(tags, name))
            return NULL;
        g_hash_table_insert(tags, g_steal_pointer(&name), g_strdup(g_strstrip(equals + 1)));
    }
    return g_steal_pointer(&tags);
}

GHashTable *dkim_tags_of(const Field *field)
{
    size_t length = field->length - field->value_offset;
    g_autofree char *value = g_strndup(field->text + field->value_offset, length);
    return strlen(value) == length ? dkim_tags_read(value) : NULL;
}

bool dkim_tag_number(GHashTable *tags, const char *name, int64_t *number)
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

static void append_simple(GString *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        if (text[at] == '\n' && (at == 0 || text[at - 1] != '\r'))
            g_string_append_c(out, '\r');
        g_string_append_c(out, text[at]);
    }
}

/* Blanks become one, and those at the end none; line ends are taken out. */
static void append_relaxed(GString *out, const char *text, size_t length)
{
    bool gap = false, begun = false;
    for (size_t at = 0; at < length; at++) {
        if (byte_is_blank(text[at])) {
            gap = gap || text[at] == ' ' || text[at] == '\t';
            continue;
        }
        if (gap && begun)
            g_string_append_c(out, ' ');
        g_string_append_c(out, text[at]);
        gap = false;
        begun = true;
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
        append_relaxed(out, kept->str, kept->len);
    } else {
        g_string_append_len(out, field->text, (gssize)field->value_offset);
        append_simple(out, kept->str, kept->len);
    }
    g_string_append(out, "\r\n");
}

/* Return the fields by their names in lower case, in queues with the lowest field first. One pass makes it, because
 * whoever sends the mail chooses how many names h= has, and how many fields there are. */
static GHashTable *fields_by_name(const Message *message)
{
    GHashTable *fields = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_queue_free);
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
    return fields;
}

void dkim_append_named(GString *text, const Message *message, char **names, bool relaxed)
{
    g_autoptr(GHashTable) fields = fields_by_name(message);
    for (; *names; names++) {
        g_autofree char *name = g_ascii_strdown(*names, -1);
        GQueue *same = *name ? g_hash_table_lookup(fields, name) : NULL; /* a field without a name is none */
        if (same && !g_queue_is_empty(same))
            dkim_append_field(text, g_queue_pop_head(same), relaxed, false);
    }
}

void dkim_cut_line_end(GString *text)
{
    g_string_truncate(text, text->len - 2);
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

/* One line without its line end. */
static void add_line(BodySum *body, GString *buffer, const char *line, size_t length, bool relaxed)
{
    if (!relaxed) {
        add(body, line, length);
    } else {
        g_string_truncate(buffer, 0);
        for (size_t at = 0; at < length; at++) {
            bool blank = line[at] == ' ' || line[at] == '\t';
            if (!blank)
                g_string_append_c(buffer, line[at]);
            else if (at + 1 == length || (line[at + 1] != ' ' && line[at + 1] != '\t'))
                g_string_append_c(buffer, ' ');
        }
        if (buffer->len > 0 && buffer->str[buffer->len - 1] == ' ')
            g_string_truncate(buffer, buffer->len - 1);
        add(body, buffer->str, buffer->len);
    }
    add(body, "\r\n", 2);
}

static bool is_empty(const char *line, size_t length, bool relaxed)
{
    size_t at = 0;
    while (relaxed && at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return at == length;
}

char *dkim_body_hash(GBytes *body, bool relaxed, int64_t limit, int64_t *length)
{
    BodySum sum = {g_checksum_new(G_CHECKSUM_SHA256), limit, 0};
    g_autoptr(GString) buffer = g_string_new(NULL);
    size_t size, empty = 0, lines = 0;
    const char *octets = g_bytes_get_data(body, &size), *at = size > 0 ? octets : "", *end = at + size;
    for (const char *next; at < end; at = next) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed ? feed : end;
        next = feed ? feed + 1 : end;
        if (feed && stop > at && stop[-1] == '\r')
            stop--;
        if (is_empty(at, (size_t)(stop - at), relaxed)) {
            empty++;
            continue;
        }
        for (; empty > 0; empty--)
            add(&sum, "\r\n", 2);
        add_line(&sum, buffer, at, (size_t)(stop - at), relaxed);
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

/* The formats that p= has of an RSA key: that of most keys, and that of RFC 6376 itself. */
static EVP_PKEY *read_rsa(const guint8 *bytes, gsize length)
{
    const unsigned char *at = bytes;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &at, (long)length);
    at = bytes;
    return key ? key : d2i_PublicKey(EVP_PKEY_RSA, NULL, &at, (long)length);
}

/* With t=s the identity must be of the domain itself. */
static bool is_for_identity(GHashTable *record, GHashTable *tags)
{
    const char *flags = g_hash_table_lookup(record, "t"), *identity = g_hash_table_lookup(tags, "i");
    const char *at = identity ? strrchr(identity, '@') : NULL;
    return !flags || !dkim_list_has(flags, "s", false) || !at ||
           g_ascii_strcasecmp(at + 1, g_hash_table_lookup(tags, "d")) == 0;
}

EVP_PKEY *dkim_public_key(const char *record, GHashTable *tags, bool *weak)
{
    const char *algorithm = g_hash_table_lookup(tags, "a");
    bool edwards = g_strcmp0(algorithm, "ed25519-sha256") == 0;
    g_autoptr(GHashTable) key_tags = dkim_tags_read(record);
    *weak = false;
    if (!key_tags || (!edwards && g_strcmp0(algorithm, "rsa-sha256") != 0))
        return NULL;
    const char *version = g_hash_table_lookup(key_tags, "v"), *kind = g_hash_table_lookup(key_tags, "k");
    if ((version && strcmp(version, "DKIM1") != 0) || strcmp(kind ? kind : "rsa", edwards ? "ed25519" : "rsa") != 0 ||
        !dkim_list_has(g_hash_table_lookup(key_tags, "h"), "sha256", false) ||
        !dkim_list_has(g_hash_table_lookup(key_tags, "s"), "email", true) || !is_for_identity(key_tags, tags))
        return NULL;
    gsize length;
    g_autofree guint8 *bytes = decode(g_hash_table_lookup(key_tags, "p"), &length);
    if (!bytes)
        return NULL;
    if (edwards)
        return length == ED25519_BYTES ? EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes, length) : NULL;
    EVP_PKEY *key = read_rsa(bytes, length);
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

char *dkim_signature_make(EVP_PKEY *key, const GString *text)
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
        EVP_PKEY *key = dkim_public_key(*records, tags, &weak);
        DkimFinding one = !key                                         ? (weak ? DKIM_WEAK : DKIM_INVALID)
                          : is_signature(key, text, signature, length) ? DKIM_FITS
                                                                       : DKIM_BROKEN;
        found = MIN(found, one);
        EVP_PKEY_free(key);
    }
    *reason = key_faults[found];
    return found;
}

/* Read c=, "simple" or "relaxed/simple". Returns false when it is something else. */
static bool read_forms(GHashTable *tags, bool *header_relaxed, bool *body_relaxed)
{
    const char *forms = g_hash_table_lookup(tags, "c");
    g_auto(GStrv) words = g_strsplit(forms ? forms : "simple", "/", 3);
    bool *relaxed[] = {header_relaxed, body_relaxed};
    *header_relaxed = *body_relaxed = false;
    for (size_t at = 0; words[at]; at++) {
        if (at == G_N_ELEMENTS(relaxed) || (strcmp(words[at], "simple") != 0 && strcmp(words[at], "relaxed") != 0))
            return false;
        *relaxed[at] = strcmp(words[at], "relaxed") == 0;
    }
    return words[0] != NULL;
}

static bool has_word(char **words, const char *word)
{
    for (; *words; words++)
        if (g_ascii_strcasecmp(*words, word) == 0)
            return true;
    return false;
}

/* Does the body have the hash bh=, as far as l= goes? */
static bool body_fits(const DkimSigned *claim, bool relaxed, int64_t most)
{
    int64_t length;
    g_autofree char *sum = dkim_squeeze(g_strdup(g_hash_table_lookup(claim->tags, "bh")));
    g_autoptr(GBytes) body = message_body(claim->message);
    g_autofree char *found = dkim_body_hash(body, relaxed, most, &length);
    return strcmp(sum, found) == 0 && (most < 0 || (claim->whole ? length == most : length >= most));
}

DkimFinding dkim_check_message(const DkimSigned *claim, const Names *names, const char **reason)
{
    bool relaxed, body_relaxed;
    int64_t expiry, most;
    GHashTable *tags = claim->tags;
    g_autofree char *list = g_strdup(g_hash_table_lookup(tags, "h"));
    g_auto(GStrv) words = g_strsplit(list ? dkim_squeeze(list) : "", ":", -1);
    DkimFinding usable = judge_algorithm(tags, reason);
    if (usable != DKIM_FITS)
        return usable;
    *reason = !read_forms(tags, &relaxed, &body_relaxed)                                   ? "c= is not valid"
              : !has_word(words, "from")                                                   ? "h= lacks From"
              : !g_hash_table_contains(tags, "bh")                                         ? "bh= is missing"
              : !dkim_tag_number(tags, "l", &most) || !dkim_tag_number(tags, "x", &expiry) ? "a number is not valid"
              : expiry >= 0 && claim->time / CLOCK_SECOND > expiry                         ? "it has expired"
                                                                                           : NULL;
    if (*reason)
        return DKIM_INVALID;
    *reason = "the body is not the one that was signed";
    if (!body_fits(claim, body_relaxed, most))
        return DKIM_BROKEN;
    g_autoptr(GString) text = g_string_new(NULL);
    dkim_append_named(text, claim->message, words, relaxed);
    dkim_append_field(text, claim->field, relaxed, true);
    dkim_cut_line_end(text);
    return dkim_check_text(tags, text, names, reason);
}
