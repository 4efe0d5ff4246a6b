/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_auth.h"

#include <openssl/crypto.h>
#include <string.h>

#include "net/scram.h"

struct SmtpAuth {
    SmtpAuthMechanism mechanism;
    const char *user;
    const char *password;
    unsigned step;
    Scram *scram;
};

/* The strongest first. */
static const struct {
    SmtpAuthMechanism mechanism;
    const char *name;
} mechanisms_known[] = {
    {SMTP_AUTH_SCRAM_SHA_256, "SCRAM-SHA-256"},
    {SMTP_AUTH_SCRAM_SHA_1, "SCRAM-SHA-1"},
    {SMTP_AUTH_PLAIN, "PLAIN"},
    {SMTP_AUTH_LOGIN, "LOGIN"},
};

unsigned smtp_auth_mechanism(const char *word)
{
    for (size_t i = 0; i < G_N_ELEMENTS(mechanisms_known); i++)
        if (g_ascii_strcasecmp(word, mechanisms_known[i].name) == 0)
            return mechanisms_known[i].mechanism;
    return 0;
}

static const char *mechanism_name(SmtpAuthMechanism mechanism)
{
    size_t i = 0;
    while (mechanisms_known[i].mechanism != mechanism)
        i++;
    return mechanisms_known[i].name;
}

SmtpAuth *smtp_auth_new(unsigned mechanisms, const char *user, const char *password, const char *nonce)
{
    size_t i = 0;
    while (i < G_N_ELEMENTS(mechanisms_known) && !(mechanisms & mechanisms_known[i].mechanism))
        i++;
    if (i == G_N_ELEMENTS(mechanisms_known))
        return NULL;
    SmtpAuth *auth = g_new0(SmtpAuth, 1);
    *auth = (SmtpAuth){.mechanism = mechanisms_known[i].mechanism, .user = user, .password = password};
    if (auth->mechanism == SMTP_AUTH_SCRAM_SHA_1 || auth->mechanism == SMTP_AUTH_SCRAM_SHA_256)
        auth->scram = scram_new(auth->mechanism == SMTP_AUTH_SCRAM_SHA_256 ? "SHA256" : "SHA1", user, password, nonce);
    return auth;
}

void smtp_auth_free(SmtpAuth *auth)
{
    if (!auth)
        return;
    scram_free(auth->scram);
    g_free(auth);
}

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
    if (auth->scram) {
        g_autofree char *message = scram_first(auth->scram);
        first = encode(message);
    } else if (auth->mechanism == SMTP_AUTH_PLAIN) {
        first = plain_text(auth);
    }
    return g_strdup_printf("AUTH %s%s%s", mechanism_name(auth->mechanism), first ? " " : "", first ? first : "");
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

static char *answer_scram(SmtpAuth *auth, const char *challenge, const char **problem)
{
    g_autofree char *message = decode(challenge);
    if (!message) {
        *problem = "the challenge is no base64 of a text";
        return NULL;
    }
    if (auth->step == 1) {
        g_autofree char *reply = scram_final(auth->scram, message, problem);
        return reply ? encode(reply) : NULL;
    }
    return scram_check(auth->scram, message, problem) ? g_strdup("") : NULL;
}

char *smtp_auth_answer(SmtpAuth *auth, const char *challenge, const char **problem)
{
    auth->step++;
    if (auth->scram && auth->step <= 2)
        return answer_scram(auth, challenge, problem);
    if (auth->mechanism == SMTP_AUTH_LOGIN && auth->step <= 2) /* the challenges' words differ from server to server */
        return encode(auth->step == 1 ? auth->user : auth->password);
    if (auth->mechanism == SMTP_AUTH_PLAIN && auth->step == 1) /* it overlooked the first answer */
        return plain_text(auth);
    *problem = "the server asks for more than the mechanism has";
    return NULL;
}

const char *smtp_auth_doubt(const SmtpAuth *auth)
{
    if (auth->scram && !scram_checked(auth->scram))
        return "the server has not proved that it knows the password";
    return NULL;
}
