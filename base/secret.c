/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pwd.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/log.h"

/* ---- files ---- */

static char *user_name(uid_t user)
{
    const struct passwd *account = getpwuid(user);
    return account ? g_strdup(account->pw_name) : g_strdup_printf("%u", user);
}

char *secret_file_fault(const char *path, const struct stat *status, uid_t user, gid_t group)
{
    unsigned mode = status->st_mode & 0777;
    bool own_group = status->st_gid == group;
    const struct group *found = getgrgid(group);
    g_autofree char *own = found ? g_strdup(found->gr_name) : g_strdup_printf("%u", group);
    g_autofree char *name = user_name(user), *owner = user_name(status->st_uid);
    if (!S_ISREG(status->st_mode))
        return g_strdup_printf("%s is no file", path);
    if (status->st_uid != user && status->st_uid != 0)
        return g_strdup_printf("%s belongs to %s; it must be %s's (chown %s %s)", path, owner, name, name, path);
    if (mode & (own_group ? 037 : 077))
        return g_strdup_printf("%s can be read or written by others (mode %03o); mend it with: chmod 600 %s, or for a "
                               "file of root: chgrp %s %s && chmod 640 %s",
                               path, mode, path, own, path, path);
    if (status->st_uid != user && user != 0 && !(own_group && (mode & S_IRGRP)))
        return g_strdup_printf("%s cannot be read by the user %s; mend it with: chown %s %s", path, name, name, path);
    return NULL;
}

char *secret_file_read(const char *path, size_t most, GError **error)
{
    struct stat status;
    auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is refused, not waited for */
    if (fd < 0 || fstat(fd, &status) != 0) {
        /* Is it the file's fault, or the system's, which may do better later? */
        static const int of_the_file[] = {ENOENT, ENOTDIR, EACCES, ELOOP, ENXIO, ENAMETOOLONG};
        FailCode code = FAIL_LATER;
        for (size_t at = 0; at < G_N_ELEMENTS(of_the_file); at++)
            if (of_the_file[at] == errno)
                code = FAIL_CONFIG;
        fail_errno(error, code, "%s", path);
        return NULL;
    }
    gid_t group = geteuid() == 0 && status.st_uid == 0 ? status.st_gid : getegid();
    g_autofree char *fault = secret_file_fault(path, &status, geteuid(), group);
    if (fault || status.st_size > (off_t)most) {
        g_autofree char *long_one = g_strdup_printf("%s is larger than %zu bytes", path, most);
        fail(error, FAIL_CONFIG, "%s", fault ? fault : long_one);
        return NULL;
    }
    g_autofree char *text = g_malloc0((size_t)status.st_size + 1);
    for (ssize_t got, at = 0; at < status.st_size; at += got) {
        got = TEMP_FAILURE_RETRY(read(fd, text + at, (size_t)(status.st_size - at)));
        if (got < 0) {
            fail_errno(error, FAIL_LATER, "read %s", path);
            return NULL;
        }
        if (got == 0)
            break;
    }
    return g_steal_pointer(&text);
}

char *secret_file_line(const char *path, GError **error)
{
    g_autofree char *text = secret_file_read(path, SECRET_FILE_MAX, error);
    if (!text)
        return NULL;
    text[strcspn(text, "\r\n")] = '\0';
    g_strstrip(text);
    if (*text)
        return g_steal_pointer(&text);
    fail(error, FAIL_CONFIG, "%s: its first line, the secret, is empty", path);
    return NULL;
}

/* ---- seals ---- */

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

/* ---- words ---- */

char *random_word(void)
{
    unsigned char bytes[RANDOM_WORD_LENGTH / 2];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) /* so few bytes are never cut short */
        g_error("the system gives no random bytes: %s", g_strerror(errno));
    char *word = g_malloc(RANDOM_WORD_LENGTH + 1);
    for (size_t at = 0; at < sizeof bytes; at++)
        g_snprintf(word + 2 * at, 3, "%02x", bytes[at]);
    return word;
}
