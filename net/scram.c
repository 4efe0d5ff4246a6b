/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/scram.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <string.h>

/* n: this client knows no channel binding; biws is its base64. */
#define GS2_HEADER "n,,"
#define GS2_BASE64 "biws"
#define NONCE_OCTETS 18

typedef struct ScramKey {
    unsigned char octets[EVP_MAX_MD_SIZE];
    unsigned size;
} ScramKey;

struct Scram {
    const EVP_MD *digest;
    char *password;
    char *nonce;
    char *first_bare; /* the first message without its header */
    ScramKey server;  /* what the server has to show */
    bool checked;
};

/* "," and "=" have a meaning in the messages. */
static char *escape_name(const char *name)
{
    GString *text = g_string_new(NULL);
    for (; *name; name++) {
        if (*name == ',')
            g_string_append(text, "=2C");
        else if (*name == '=')
            g_string_append(text, "=3D");
        else
            g_string_append_c(text, *name);
    }
    return g_string_free(text, FALSE);
}

/* Both sides have to see the same bytes: what looks the same is made the same. */
static char *prepare(const char *text)
{
    char *normal = g_utf8_normalize(text, -1, G_NORMALIZE_NFKC);
    return normal ? normal : g_strdup(text);
}

static char *make_nonce(void)
{
    unsigned char octets[NONCE_OCTETS];
    if (RAND_bytes(octets, sizeof(octets)) != 1)
        g_error("no random octets to be had");
    return g_base64_encode(octets, sizeof(octets));
}

Scram *scram_new(const char *digest, const char *user, const char *password, const char *nonce)
{
    Scram *scram = g_new0(Scram, 1);
    scram->digest = EVP_get_digestbyname(digest);
    g_assert(scram->digest);
    scram->password = prepare(password);
    scram->nonce = nonce ? g_strdup(nonce) : make_nonce();
    g_autofree char *prepared = prepare(user);
    g_autofree char *name = escape_name(prepared);
    scram->first_bare = g_strdup_printf("n=%s,r=%s", name, scram->nonce);
    return scram;
}

void scram_free(Scram *scram)
{
    if (!scram)
        return;
    OPENSSL_cleanse(scram->password, strlen(scram->password));
    g_free(scram->password);
    g_free(scram->nonce);
    g_free(scram->first_bare);
    g_free(scram);
}

char *scram_first(const Scram *scram)
{
    return g_strconcat(GS2_HEADER, scram->first_bare, NULL);
}

static ScramKey keyed(const Scram *scram, const ScramKey *key, const char *text)
{
    ScramKey result;
    HMAC(scram->digest, key->octets, (int)key->size, (const unsigned char *)text, strlen(text), result.octets,
         &result.size);
    return result;
}

static ScramKey digested(const Scram *scram, const ScramKey *key)
{
    ScramKey result;
    EVP_Digest(key->octets, key->size, result.octets, &result.size, scram->digest, NULL);
    return result;
}

/* "r=NONCE,s=SALT,i=ROUNDS" and perhaps more, which may be ignored unless it is "m=". */
typedef struct ServerFirst {
    const char *nonce;
    guchar *salt;
    gsize salt_size;
    uint64_t rounds;
} ServerFirst;

static const char *read_server_first(const Scram *scram, char **fields, ServerFirst *first)
{
    if (g_strv_length(fields) < 3 || !g_str_has_prefix(fields[0], "r=") || !g_str_has_prefix(fields[1], "s=") ||
        !g_str_has_prefix(fields[2], "i="))
        return "the server's first message is not of SCRAM";
    first->nonce = fields[0] + 2;
    size_t own = strlen(scram->nonce);
    if (strncmp(first->nonce, scram->nonce, own) != 0 || first->nonce[own] == '\0')
        return "the server's nonce is not made from ours";
    const char *rounds = fields[2] + 2;
    if (*rounds == '\0' || rounds[strspn(rounds, "0123456789")] != '\0')
        return "the server's first message is not of SCRAM";
    first->rounds = g_ascii_strtoull(rounds, NULL, 10);
    if (first->rounds < SCRAM_ROUNDS_MIN)
        return "the server asks for fewer rounds of SCRAM than " G_STRINGIFY(SCRAM_ROUNDS_MIN)
               ", which makes the password easy to guess";
    if (first->rounds > SCRAM_ROUNDS_MAX)
        return "the server asks for more rounds of SCRAM than " G_STRINGIFY(SCRAM_ROUNDS_MAX)
               ", for which all other deliveries would wait";
    first->salt = g_base64_decode(fields[1] + 2, &first->salt_size);
    return first->salt_size > 0 ? NULL : "the server gave no salt";
}

char *scram_final(Scram *scram, const char *server_first, const char **problem)
{
    g_auto(GStrv) fields = g_strsplit(server_first, ",", -1);
    ServerFirst first = {0};
    *problem = read_server_first(scram, fields, &first);
    g_autofree guchar *salt = first.salt;
    if (*problem)
        return NULL;
    ScramKey salted = {.size = (unsigned)EVP_MD_get_size(scram->digest)};
    PKCS5_PBKDF2_HMAC(scram->password, (int)strlen(scram->password), salt, (int)first.salt_size, (int)first.rounds,
                      scram->digest, (int)salted.size, salted.octets);
    g_autofree char *unproved = g_strdup_printf("c=" GS2_BASE64 ",r=%s", first.nonce);
    g_autofree char *text = g_strdup_printf("%s,%s,%s", scram->first_bare, server_first, unproved);
    ScramKey client = keyed(scram, &salted, "Client Key");
    ScramKey stored = digested(scram, &client);
    ScramKey signature = keyed(scram, &stored, text);
    for (unsigned i = 0; i < client.size; i++)
        client.octets[i] ^= signature.octets[i];
    ScramKey server = keyed(scram, &salted, "Server Key");
    scram->server = keyed(scram, &server, text);
    OPENSSL_cleanse(&salted, sizeof(salted));
    g_autofree char *proof = g_base64_encode(client.octets, client.size);
    return g_strdup_printf("%s,p=%s", unproved, proof);
}

bool scram_check(Scram *scram, const char *server_final, const char **problem)
{
    *problem = "the server does not know the password";
    if (!g_str_has_prefix(server_final, "v=") || server_final[2] == '\0' || scram->server.size == 0)
        return false;
    g_auto(GStrv) fields = g_strsplit(server_final + 2, ",", 2);
    gsize size;
    g_autofree guchar *shown = g_base64_decode(fields[0], &size); /* never NULL */
    scram->checked = size == scram->server.size && CRYPTO_memcmp(shown, scram->server.octets, size) == 0;
    return scram->checked;
}

bool scram_checked(const Scram *scram)
{
    return scram->checked;
}
