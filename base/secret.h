/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep secrets: read the files that hold them, seal bytes by them, and make words that nobody can guess.
 *
 * One rule holds for all files with a key or a password; `config check`, each start and whoever reads such a file ask
 * here. The file is a regular one that belongs to root or to the user who reads it. Nobody else can write it, and only
 * the main group of that user can read it besides. So mode 600 is right, and for a file that root keeps, 640 with that
 * group. If root reads its own file, any group is right: it may be that of the user of the site, who is judged by
 * `config check` and when he reads.
 *
 * Bytes that are kept or travel where others can read and change them are sealed: AES-256-GCM with a random nonce.
 * Nobody without the key can read the bytes or make a seal, and two seals of the same bytes have nothing in common. A
 * seal is 12 bytes of nonce, the bytes, and 16 bytes of proof.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

/* ---- files ---- */

/* Return what is wrong with the file of this status for a reader with this user and group, and how to mend it;
 * g_free(). NULL: it is as it should be. The path is only for the text. */
char *secret_file_fault(const char *path, const struct stat *status, uid_t user, gid_t group);

#define SECRET_FILE_MAX (64 * 1024) /* bytes; a key or a password is much shorter */

/* Read the whole file as text, for the user and group of this process; g_free(). FAIL_CONFIG: the file is missing, may
 * not be read, is longer than `most` bytes, or breaks the rule. FAIL_LATER: the system failed. */
char *secret_file_read(const char *path, size_t most, GError **error);

/* Read the secret that is the first line of a file of at most SECRET_FILE_MAX bytes, without its end and the blanks
 * around it; g_free(). It fails as secret_file_read() does, and with FAIL_CONFIG when that line is empty. */
char *secret_file_line(const char *path, GError **error);

/* ---- seals ---- */

#define SEAL_KEY_BYTES 32
#define SEAL_EXTRA_BYTES 28 /* by which a seal is longer than what is in it */

/* Derive a key from a secret for one purpose ("listrunner loop mark 1"), so that a seal of one proves nothing for
 * another. */
void seal_derive(GBytes *secret, const char *purpose, unsigned char key[SEAL_KEY_BYTES]);

/* Seal the bytes. `about` names what they belong to: it is not in the seal, and the same text is needed to open it.
 * Return the seal as a new reference. FAIL_LATER: OpenSSL failed. */
GBytes *seal_make(const unsigned char key[SEAL_KEY_BYTES], const char *about, const GByteArray *plain, GError **error);

/* Open a seal, and return its bytes, with a zero byte beyond their length; g_byte_array_unref(). NULL: the seal was
 * made with another key or another `about`, or was changed since. */
GByteArray *seal_open(const unsigned char key[SEAL_KEY_BYTES], const char *about, GBytes *sealed);

/* ---- words ---- */

/* Make a word of 128 random bits of the system, in RANDOM_WORD_LENGTH digits of base 16, for boundaries, Message-IDs,
 * and marks in text that is being composed. g_free(). When the system gives no random bits, the process ends. */
#define RANDOM_WORD_LENGTH 32
char *random_word(void);
