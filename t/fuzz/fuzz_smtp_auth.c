/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Give the replies of a server to AUTH: each line of input is a challenge, to every mechanism, as it comes and as
 * base64. No server that does not know the password may be believed in the end.
 */
#include <string.h>

#include "net/smtp_auth.h"
#include "t/fuzz/fuzz.h"

static void converse(SmtpAuthMechanism mechanism, char **lines, bool encoded)
{
    g_autoptr(SmtpAuth) auth = smtp_auth_new(mechanism, "user", "a password of its own", "fyko+d2lbbFgONRv9qkxdawL");
    g_autofree char *command = smtp_auth_begin(auth);
    require(g_str_has_prefix(command, "AUTH "));
    for (; *lines; lines++) {
        const char *problem = NULL;
        g_autofree char *challenge =
            encoded ? g_base64_encode((const guchar *)*lines, strlen(*lines)) : g_strdup(*lines);
        g_autofree char *answer = smtp_auth_answer(auth, challenge, &problem);
        require((answer != NULL) == (problem == NULL));
        require(!answer || strpbrk(answer, "\r\n") == NULL);
        if (!answer)
            break;
    }
    bool scram = mechanism == SMTP_AUTH_SCRAM_SHA_1 || mechanism == SMTP_AUTH_SCRAM_SHA_256;
    require(!scram || smtp_auth_doubt(auth) != NULL);
}

/* A hundred thousand rounds are allowed, and too slow to be tried thousands of times. */
static bool is_slow(char **lines)
{
    for (; *lines; lines++) {
        const char *rounds = strstr(*lines, "i=");
        if (rounds && strspn(rounds + 2, "0123456789") > 4)
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", 5);
    if (is_slow(lines))
        return 0;
    for (unsigned mechanism = SMTP_AUTH_PLAIN; mechanism <= SMTP_AUTH_SCRAM_SHA_256; mechanism <<= 1) {
        converse(mechanism, lines, true);
        converse(mechanism, lines, false);
    }
    return 0;
}
