/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_auth.h"

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

typedef struct MechanismKnown {
    SmtpAuthMechanism mechanism;
    const char *name;
    const char *digest; /* of SCRAM, in the words of OpenSSL; NULL: another mechanism */
} MechanismKnown;

/* The strongest first. */
static const MechanismKnown mechanisms_known[] = {
    {SMTP_AUTH_SCRAM_SHA_256, "SCRAM-SHA-256", "SHA256"},
    {SMTP_AUTH_SCRAM_SHA_1, "SCRAM-SHA-1", "SHA1"},
    {SMTP_AUTH_PLAIN, "PLAIN", NULL},
    {SMTP_AUTH_LOGIN, "LOGIN", NULL},
};

struct SmtpAuth {
    const MechanismKnown *known;
    const char *user;
    const char *password;
    unsigned step;

    /* Of SCRAM. */
    const EVP_MD *digest; /* NULL: another mechanism */
    char *prepared;       /* the password */
    char *nonce;
    char *first_bare; /* the first message without its header */
    ScramKey server;  /* what the server has to show */
    bool proved;      /* it has shown it */
};

unsigned smtp_auth_mechanism(const char *word)
{
    for (size_t i = 0; i < G_N_ELEMENTS(mechanisms_known); i++)
        if (g_ascii_strcasecmp(word, mechanisms_known[i].name) == 0)
            return mechanisms_known[i].mechanism;
    return 0;
}

/* Both sides have to see the same bytes: what looks the same is made the same. */
static char *prepare(const char *text)
{
    char *normal = g_utf8_normalize(text, -1, G_NORMALIZE_NFKC);
    return normal ? normal : g_strdup(text);
}

SmtpAuth *smtp_auth_new(unsigned mechanisms, const char *user, const char *password, const char *nonce)
{
    size_t i = 0;
    while (i < G_N_ELEMENTS(mechanisms_known) && !(mechanisms & mechanisms_known[i].mechanism))
        i++;
    if (i == G_N_ELEMENTS(mechanisms_known))
        return NULL;
    SmtpAuth *auth = g_new0(SmtpAuth, 1);
    *auth = (SmtpAuth){.known = &mechanisms_known[i], .user = user, .password = password};
    if (!auth->known->digest)
        return auth;

    auth->digest = EVP_get_digestbyname(auth->known->digest);
    g_assert(auth->digest);
    auth->prepared = prepare(password);
    unsigned char octets[NONCE_OCTETS];
    if (!nonce && RAND_bytes(octets, sizeof(octets)) != 1)
        g_error("no random octets to be had");
    auth->nonce = nonce ? g_strdup(nonce) : g_base64_encode(octets, sizeof(octets));
    g_autofree char *name = prepare(user);
    g_autoptr(GString) first = g_string_new("n=");
    for (const char *at = name; *at; at++) { /* "," and "=" have a meaning in the messages */
        if (*at == ',' || *at == '=')
            g_string_append(first, *at == ',' ? "=2C" : "=3D");
        else
            g_string_append_c(first, *at);
    }
    g_string_append_printf(first, ",r=%s", auth->nonce);
    auth->first_bare = g_string_free(g_steal_pointer(&first), FALSE);
    return auth;
}

void smtp_auth_free(SmtpAuth *auth)
{
    if (!auth)
        return;
    if (auth->prepared)
        OPENSSL_cleanse(auth->prepared, strlen(auth->prepared));
    g_free(auth->prepared);
    g_free(auth->nonce);
    g_free(auth->first_bare);
    g_free(auth);
}

/* --- SCRAM -------------------------------------------------------------- */

/* "r=NONCE,s=SALT,i=ROUNDS" and perhaps more, which may be ignored unless it is "m=". */
typedef struct ServerFirst {
    const char *nonce;
    guchar *salt;
    gsize salt_size;
    uint64_t rounds;
} ServerFirst;

/* Return what is wrong with the server's first message; NULL: nothing. first->salt: g_free(), in any case. */
static const char *read_server_first(const SmtpAuth *auth, char **fields, ServerFirst *first)
{
    if (g_strv_length(fields) < 3 || !g_str_has_prefix(fields[0], "r=") || !g_str_has_prefix(fields[1], "s=") ||
        !g_str_has_prefix(fields[2], "i="))
        return "the server's first message is not of SCRAM";
    first->nonce = fields[0] + 2;
    size_t own = strlen(auth->nonce);
    if (strncmp(first->nonce, auth->nonce, own) != 0 || first->nonce[own] == '\0')
        return "the server's nonce is not made from ours";
    const char *rounds = fields[2] + 2;
    if (*rounds == '\0' || rounds[strspn(rounds, "0123456789")] != '\0')
        return "the server's first message is not of SCRAM";
    first->rounds = g_ascii_strtoull(rounds, NULL, 10);
    if (first->rounds < SMTP_AUTH_ROUNDS_MIN)
        return "the server asks for fewer rounds of SCRAM than " G_STRINGIFY(SMTP_AUTH_ROUNDS_MIN)
               ", which makes the password easy to guess";
    if (first->rounds > SMTP_AUTH_ROUNDS_MAX)
        return "the server asks for more rounds of SCRAM than " G_STRINGIFY(SMTP_AUTH_ROUNDS_MAX)
               ", for which all other deliveries would wait";
    first->salt = g_base64_decode(fields[1] + 2, &first->salt_size);
    return first->salt_size > 0 ? NULL : "the server gave no salt";
}

static ScramKey keyed(const SmtpAuth *auth, const ScramKey *key, const char *text)
{
    ScramKey result;
    HMAC(auth->digest, key->octets, (int)key->size, (const unsigned char *)text, strlen(text), result.octets,
         &result.size);
    return result;
}

/* Return the answer to the server's first message; g_free(). NULL, with *problem: do not answer it. */
static char *prove(SmtpAuth *auth, const char *server_first, const char **problem)
{
    g_auto(GStrv) fields = g_strsplit(server_first, ",", -1);
    ServerFirst first = {0};
    *problem = read_server_first(auth, fields, &first);
    g_autofree guchar *salt = first.salt;
    if (*problem)
        return NULL;
    ScramKey salted = {.size = (unsigned)EVP_MD_get_size(auth->digest)};
    PKCS5_PBKDF2_HMAC(auth->prepared, (int)strlen(auth->prepared), salt, (int)first.salt_size, (int)first.rounds,
                      auth->digest, (int)salted.size, salted.octets);
    g_autofree char *unproved = g_strdup_printf("c=" GS2_BASE64 ",r=%s", first.nonce);
    g_autofree char *text = g_strdup_printf("%s,%s,%s", auth->first_bare, server_first, unproved);
    ScramKey client = keyed(auth, &salted, "Client Key"), stored;
    EVP_Digest(client.octets, client.size, stored.octets, &stored.size, auth->digest, NULL);
    ScramKey signature = keyed(auth, &stored, text);
    for (unsigned i = 0; i < client.size; i++)
        client.octets[i] ^= signature.octets[i];
    ScramKey server = keyed(auth, &salted, "Server Key");
    auth->server = keyed(auth, &server, text);
    OPENSSL_cleanse(&salted, sizeof(salted));
    g_autofree char *proof = g_base64_encode(client.octets, client.size);
    return g_strdup_printf("%s,p=%s", unproved, proof);
}

/* Note whether the server's last message proves that the server knows the password. */
static bool check_proof(SmtpAuth *auth, const char *server_final)
{
    if (!g_str_has_prefix(server_final, "v=") || server_final[2] == '\0' || auth->server.size == 0)
        return false;
    g_auto(GStrv) fields = g_strsplit(server_final + 2, ",", 2);
    gsize size;
    g_autofree guchar *shown = g_base64_decode(fields[0], &size); /* never NULL */
    auth->proved = size == auth->server.size && CRYPTO_memcmp(shown, auth->server.octets, size) == 0;
    return auth->proved;
}

/* --- the conversation --------------------------------------------------- */

static char *encode(const char *text)
{
    return g_base64_encode((const guchar *)text, strlen(text));
}

/* \0 user \0 password */
static char *plain_text(const SmtpAuth *auth)
{
    size_t user = strlen(auth->user);
    size_t password = strlen(auth->password);
    size_t length = user + password + 2;
    char *octets = g_malloc0(length + 1);
    memcpy(octets + 1, auth->user, user);
    memcpy(octets + 2 + user, auth->password, password);
    char *text = g_base64_encode((const guchar *)octets, length);
    OPENSSL_cleanse(octets, length);
    g_free(octets);
    return text;
}

char *smtp_auth_begin(SmtpAuth *auth)
{
    g_autofree char *first = NULL;
    if (auth->digest) {
        g_autofree char *message = g_strconcat(GS2_HEADER, auth->first_bare, NULL);
        first = encode(message);
    } else if (auth->known->mechanism == SMTP_AUTH_PLAIN) {
        first = plain_text(auth);
    }
    return g_strdup_printf("AUTH %s%s%s", auth->known->name, first ? " " : "", first ? first : "");
}

/* A challenge as text; NULL when it is no base64, or holds a NUL. */
static char *decode(const char *challenge)
{
    static const char alphabet[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "+/=";
    size_t length = strlen(challenge);
    if (length % 4 != 0 || strspn(challenge, alphabet) != length)
        return NULL;
    gsize size;
    char *octets = (char *)g_base64_decode(challenge, &size);
    char *text = memchr(octets, '\0', size) ? NULL : g_strndup(octets, size);
    g_free(octets);
    return text;
}

char *smtp_auth_answer(SmtpAuth *auth, const char *challenge, const char **problem)
{
    SmtpAuthMechanism mechanism = auth->known->mechanism;
    auth->step++;
    if (auth->digest && auth->step <= 2) {
        g_autofree char *message = decode(challenge);
        if (!message) {
            *problem = "the challenge is no base64 of a text";
            return NULL;
        }
        if (auth->step == 1) {
            g_autofree char *reply = prove(auth, message, problem);
            return reply ? encode(reply) : NULL;
        }
        if (check_proof(auth, message))
            return g_strdup("");
        *problem = "the server does not know the password";
        return NULL;
    }
    if (mechanism == SMTP_AUTH_LOGIN && auth->step <= 2) /* the challenges' words differ from server to server */
        return encode(auth->step == 1 ? auth->user : auth->password);
    if (mechanism == SMTP_AUTH_PLAIN && auth->step == 1) /* it overlooked the first answer */
        return plain_text(auth);
    *problem = "the server asks for more than the mechanism has";
    return NULL;
}

const char *smtp_auth_doubt(const SmtpAuth *auth)
{
    return auth->digest && !auth->proved ? "the server has not proved that it knows the password" : NULL;
}
