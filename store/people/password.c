/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/password.h"

#include <crypt.h>
#include <string.h>

#include "base/fail.h"

char *password_hash(const char *password, GError **error)
{
    if (!*password || strlen(password) >= CRYPT_MAX_PASSPHRASE_SIZE) {
        fail(error, FAIL_NEVER, "a password has from 1 to %d octets", CRYPT_MAX_PASSPHRASE_SIZE - 1);
        return NULL;
    }
    g_autofree struct crypt_data *data = g_new0(struct crypt_data, 1);
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    const char *hash = crypt_gensalt_rn(NULL, 0, NULL, 0, setting, sizeof setting)
                           ? crypt_r(password, setting, data)
                           : NULL;
    if (!hash || *hash == '*') {
        fail_errno(error, FAIL_LATER, "a password cannot be hashed");
        return NULL;
    }
    return g_strdup(hash);
}

bool password_matches(const char *hash, const char *password)
{
    if (!hash || *hash != '$')
        return false;
    g_autofree struct crypt_data *data = g_new0(struct crypt_data, 1);
    const char *made = crypt_r(password, hash, data);
    size_t length = strlen(hash);
    unsigned char differs = !made || strlen(made) != length;
    for (size_t at = 0; !differs && at < length; at++)
        differs |= (unsigned char)(made[at] ^ hash[at]);
    return !differs;
}
