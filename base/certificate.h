/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out when the certificates in files of the configuration expire. The files are those of settings whose row says
 * that they have certificates (.certificates in base/config_table.h), and those that the library of PostgreSQL reads
 * for [store] url. A program reads a file of its own when it starts, so a file that was renewed since may not be in use
 * yet; the library reads its files for each new connection.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

/* How long before a certificate expires people are told, in microseconds. */
#define CERTIFICATE_TOLD (INT64_C(14) * 86400 * 1000000)

typedef struct CertificateFile {
    char *setting; /* "[host] certificate_file", "[store] url (sslcert)" */
    char *path;
    char *readers;    /* runners that read it when they start, "door handover"; NULL: a new one is read when needed */
    bool authorities; /* one that is still good is enough */
} CertificateFile;

/* Return all files of certificates that the configuration names, an array of CertificateFile that frees them. */
GPtrArray *certificate_files(const Config *config);

/* Set *end to the time (as clock_now() has it) from which the file is of no use: when the first of its certificates
 * expires, or with `authorities` the last. FAIL_CONFIG: the file cannot be read, or has no certificate. */
bool certificate_end(const CertificateFile *file, int64_t *end, GError **error);

/* Return a sentence for people, "The certificate FILE of [host] certificate_file expires at 2026-12-05T10:00:00Z", or
 * "expired" when end is not after now; g_free(). */
char *certificate_text(const char *setting, const char *path, int64_t end, int64_t now);

/* Return the commands that start the readers of a file (CertificateFile.readers; may be NULL) anew, so that they use
 * the new file; g_free(). NULL: none is needed. */
char *certificate_mend(const char *readers);
