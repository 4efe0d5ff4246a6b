/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/seal.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

#include "base/fail.h"
#include "base/log.h"

#define NONCE_BYTES 12
#define PROOF_BYTES 16 /* the tag of GCM, behind the text */
G_STATIC_ASSERT(SEAL_EXTRA_BYTES == NONCE_BYTES + PROOF_BYTES);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(EVP_CIPHER_CTX, EVP_CIPHER_CTX_free)

void seal_derive(GBytes *secret, const char *purpose, unsigned char key[SEAL_KEY_BYTES])
{
    size_t length, made = 0;
    const void *octets = g_bytes_get_data(secret, &length);
    if (!EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, octets, length, (const unsigned char *)purpose, strlen(purpose),
                   key, SEAL_KEY_BYTES, &made) ||
        made != SEAL_KEY_BYTES)
        log_panic("OpenSSL has no HMAC-SHA256");
}

GBytes *seal_make(const unsigned char key[SEAL_KEY_BYTES], const char *about, const GByteArray *plain, GError **error)
{
    g_autoptr(EVP_CIPHER_CTX) cipher = EVP_CIPHER_CTX_new();
    size_t length = plain->len + SEAL_EXTRA_BYTES;
    g_autofree unsigned char *sealed = g_malloc(length);
    unsigned char *text = sealed + NONCE_BYTES;
    int put;
    if (RAND_bytes(sealed, NONCE_BYTES) != 1 ||
        EVP_EncryptInit_ex2(cipher, EVP_aes_256_gcm(), key, sealed, NULL) != 1 ||
        EVP_EncryptUpdate(cipher, NULL, &put, (const unsigned char *)about, (int)strlen(about)) != 1 ||
        EVP_EncryptUpdate(cipher, text, &put, plain->data, (int)plain->len) != 1 ||
        EVP_EncryptFinal_ex(cipher, text + plain->len, &put) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, PROOF_BYTES, text + plain->len) != 1) {
        fail(error, FAIL_LATER, "OpenSSL cannot seal anything");
        return NULL;
    }
    return g_bytes_new_take(g_steal_pointer(&sealed), length);
}

GByteArray *seal_open(const unsigned char key[SEAL_KEY_BYTES], const char *about, GBytes *sealed)
{
    g_autoptr(EVP_CIPHER_CTX) cipher = EVP_CIPHER_CTX_new();
    size_t length;
    const unsigned char *octets = g_bytes_get_data(sealed, &length);
    int text = (int)length - SEAL_EXTRA_BYTES, put;
    g_autoptr(GByteArray) plain = g_byte_array_new();
    g_byte_array_set_size(plain, (guint)MAX(text, 0) + 1);
    plain->data[plain->len - 1] = '\0';
    if (text < 0 || EVP_DecryptInit_ex2(cipher, EVP_aes_256_gcm(), key, octets, NULL) != 1 ||
        EVP_DecryptUpdate(cipher, NULL, &put, (const unsigned char *)about, (int)strlen(about)) != 1 ||
        EVP_DecryptUpdate(cipher, plain->data, &put, octets + NONCE_BYTES, text) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, PROOF_BYTES, (void *)(octets + length - PROOF_BYTES)) != 1 ||
        EVP_DecryptFinal_ex(cipher, plain->data + text, &put) != 1)
        return NULL;
    plain->len--;
    return g_steal_pointer(&plain);
}
