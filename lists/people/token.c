/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/token.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "base/clock.h"
#include "base/fail.h"

#define SECRET_OCTETS 32
#define SECRET_DIGITS (2 * SECRET_OCTETS)
#define ID_DIGITS (TOKEN_ID_SIZE - 1)
#define USED_EVERY (60 * CLOCK_SECOND)

static void write_hex(const guchar *octets, size_t count, char *text)
{
    for (size_t at = 0; at < count; at++)
        g_snprintf(text + 2 * at, 3, "%02x", octets[at]);
}

static char *digest_of(const char *secret)
{
    return g_compute_checksum_for_string(G_CHECKSUM_SHA256, secret, -1);
}

char *token_create(Work *work, const Token *like, char id[TOKEN_ID_SIZE], GError **error)
{
    guchar octets[SECRET_OCTETS + ID_DIGITS / 2];
    char secret[SECRET_DIGITS + 1];
    if (like->expires_at != 0 && like->expires_at <= work_now(work)) {
        fail(error, FAIL_NEVER, "the token would have expired already");
        return NULL;
    }
    if (RAND_bytes(octets, sizeof octets) != 1) {
        fail(error, FAIL_LATER, "the system has no random bytes");
        return NULL;
    }
    write_hex(octets, SECRET_OCTETS, secret);
    write_hex(octets + SECRET_OCTETS, ID_DIGITS / 2, id);
    g_autofree char *digest = digest_of(secret);
    Token token = *like;
    memcpy(token.id, id, TOKEN_ID_SIZE);
    token.digest = digest;
    token.made_at = work_now(work);
    token.used_at = 0;
    if (!token_add(work_store(work), &token, error))
        return NULL;
    work_log(work, "-", "token=%s name=\"%s\" result=created", id, token.name);
    return g_strdup_printf(TOKEN_PREFIX "%s_%s", id, secret);
}

bool token_revoke(Work *work, const char *id, GError **error)
{
    if (!token_remove(work_store(work), id, error))
        return false;
    work_log(work, "-", "token=%s result=revoked", id);
    return true;
}

Token *token_check(Store *store, const char *text, int64_t now, GError **error)
{
    const size_t prefix = strlen(TOKEN_PREFIX);
    char id[TOKEN_ID_SIZE] = "";
    bool formed = g_str_has_prefix(text, TOKEN_PREFIX) && strlen(text) == prefix + ID_DIGITS + 1 + SECRET_DIGITS &&
                  text[prefix + ID_DIGITS] == '_';
    if (formed)
        g_strlcpy(id, text + prefix, sizeof id);
    g_autoptr(Token) token = formed && g_utf8_validate(text, -1, NULL) ? token_find(store, id, error) : NULL;
    if (!token) {
        if (!formed || !*error)
            fail(error, FAIL_MISSING, "this is no token");
        return NULL;
    }
    g_autofree char *digest = digest_of(text + prefix + ID_DIGITS + 1);
    bool right = strlen(token->digest) == strlen(digest) && CRYPTO_memcmp(digest, token->digest, strlen(digest)) == 0;
    if (!right || (token->expires_at != 0 && token->expires_at <= now)) {
        fail(error, FAIL_MISSING, right ? "token %s has expired" : "the secret of token %s is another one", id);
        return NULL;
    }
    if (now - token->used_at > USED_EVERY && !token_set_used(store, id, now, error))
        return NULL;
    return g_steal_pointer(&token);
}
