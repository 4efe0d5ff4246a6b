/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * When the certificates in files of the configuration expire: those of settings whose row says so (.certificates in
 * base/config_table.h), and those that the library of PostgreSQL reads for [store] url. A program has read a file of
 * its own when it started, so one that was renewed since may not be in use yet; the library reads its files for each
 * new connection.
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

/* "The certificate FILE of [host] certificate_file expires at 2026-12-05T10:00:00Z"; g_free(). */
char *certificate_text(const char *setting, const char *path, int64_t end, int64_t now);

/* The commands after which those who read a file use a new one; g_free(). NULL: none is needed. */
char *certificate_mend(const char *readers);
