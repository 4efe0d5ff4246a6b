/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Certificates that the library of PostgreSQL reads for [store] url. */
#include "base/certificate.h"

#include <glib/gstdio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "t/suite.h"

#define NOBODY 65534
#define DAY (86400 * CLOCK_SECOND)

static char *place; /* a directory for all tests of this run, and the home of who runs them */

/* Append a certificate that expires so many days from now. */
static void add_certificate(BIO *file, EVP_PKEY *key, int days)
{
    X509 *one = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(one), -86400L * 400);
    X509_gmtime_adj(X509_getm_notAfter(one), 86400L * days);
    X509_set_pubkey(one, key);
    g_assert_cmpint(X509_sign(one, key, EVP_sha256()), >, 0);
    g_assert_true(PEM_write_bio_X509(file, one));
    X509_free(one);
}

/* Write a file with two certificates. */
static char *write_two(const char *name, int days, int other)
{
    char *path = g_build_filename(place, name, NULL);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    BIO *file = BIO_new_file(path, "w");
    g_assert_true(key && file);
    add_certificate(file, key, days);
    add_certificate(file, key, other);
    BIO_free(file);
    EVP_PKEY_free(key);
    return path;
}

/* The files of certificates of a configuration with these lines in [store]. */
static GPtrArray *files_of(const char *lines)
{
    g_autofree char *path = g_build_filename(place, "listrunner.conf", NULL);
    g_autofree char *text = g_strconcat("[store]\n", lines, NULL);
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_autoptr(Config) config = config_load(path, true, &error);
    g_assert_no_error(error);
    g_unlink(path);
    return certificate_files(config);
}

static void expect(const GPtrArray *files, guint at, const char *setting, const char *path, int days)
{
    const CertificateFile *file = files->pdata[at];
    GError *error = NULL;
    int64_t end;
    g_assert_cmpstr(file->setting, ==, setting);
    g_assert_cmpstr(file->path, ==, path);
    g_assert_true(certificate_end(file, &end, &error));
    g_assert_cmpint(ABS(end - clock_now() - days * DAY), <, DAY / 2);
    g_assert_null(certificate_mend(file->readers));
}

/* Of the own certificates the first one that expires counts, of the authorities' the last. */
static void test_named(void)
{
    static const struct {
        int own, other_own, first, authority, other_authority, last;
    } cases[] = {{365, 365, 365, 365, 10, 365}, {10, 365, 10, 10, -1, 10}, {365, -1, -1, -10, -1, -1}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *own = write_two("own.crt", cases[at].own, cases[at].other_own);
        g_autofree char *all = write_two("all.crt", cases[at].authority, cases[at].other_authority);
        g_autofree char *lines = g_strdup_printf(
            "driver = postgresql\nurl = postgresql://db/x?sslcert=%s&sslrootcert=%s\n", own, all);
        g_autoptr(GPtrArray) files = files_of(lines);
        g_assert_cmpuint(files->len, ==, 2);
        expect(files, 0, "[store] url (sslcert)", own, cases[at].first);
        expect(files, 1, "[store] url (sslrootcert)", all, cases[at].last);
        g_unlink(own);
        g_unlink(all);
    }
}

static void test_unused(void)
{
    static const char *const lines[] = {
        "url = postgresql://db/x?sslcert=/a.crt\n",
        "driver = postgresql\nurl = postgresql://db/x?sslcert=/a.crt&sslmode=disable\n",
        "driver = postgresql\nurl = postgresql://db/x?sslrootcert=system\n",
    };
    for (size_t at = 0; at < G_N_ELEMENTS(lines); at++) {
        g_autoptr(GPtrArray) files = files_of(lines[at]);
        g_assert_cmpuint(files->len, ==, 0);
    }
}

/* Without a name in the URL the library looks into the home directory. */
static void test_default(void)
{
    g_autofree char *directory = g_build_filename(place, ".postgresql", NULL);
    g_assert_cmpint(g_mkdir(directory, 0755), ==, 0);
    g_autofree char *own = write_two(".postgresql/postgresql.crt", 10, 365);
    g_autofree char *all = write_two(".postgresql/root.crt", 10, 365);
    g_autoptr(GPtrArray) files = files_of("driver = postgresql\nurl = host=db dbname=x\n");
    g_assert_cmpuint(files->len, ==, 2);
    expect(files, 0, "[store] url (sslcert)", own, 10);
    expect(files, 1, "[store] url (sslrootcert)", all, 365);
    g_autoptr(GPtrArray) others = files_of("driver = postgresql\nurl = host=db sslcert='' sslrootcert=system\n");
    g_assert_cmpuint(others->len, ==, 1);
    expect(others, 0, "[store] url (sslcert)", own, 10);
    g_unlink(own);
    g_unlink(all);
    g_rmdir(directory);
}

SUITE("certificate")
{
    g_test_init(&argc, &argv, NULL);
    place = g_dir_make_tmp("certificate-XXXXXX", NULL);
    g_setenv("HOME", place, TRUE);
    if (geteuid() == 0) /* root's own home directory does not count */
        g_assert_true(chown(place, NOBODY, NOBODY) == 0 && seteuid(NOBODY) == 0);
    g_test_add_func("/certificate/named", test_named);
    g_test_add_func("/certificate/unused", test_unused);
    g_test_add_func("/certificate/default", test_default);
    int result = g_test_run();
    if (getuid() == 0)
        g_assert_cmpint(seteuid(0), ==, 0); /* who became another user may not look for leaks */
    g_rmdir(place);
    g_free(place);
    return result;
}
