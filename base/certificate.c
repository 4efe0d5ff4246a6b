/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/certificate.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <pwd.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config_table.h"
#include "base/config_check.h"
#include "base/fail.h"

static void file_free(gpointer data)
{
    CertificateFile *file = data;
    g_free(file->setting);
    g_free(file->path);
    g_free(file->readers);
    g_free(file);
}

/* Take setting, and copy the others. */
static void add(GPtrArray *files, char *setting, const char *path, const char *readers, bool authorities)
{
    CertificateFile *file = g_new(CertificateFile, 1);
    *file = (CertificateFile){setting, g_strdup(path), g_strdup(readers), authorities};
    g_ptr_array_add(files, file);
}

GPtrArray *certificate_files(const Config *config)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(file_free);
    g_autofree const char **sections = config_sections(config);
    const ConfigTable *table;
    for (const char **section = sections; *section; section++)
        for (unsigned at = 0; (table = config_table(at)); at++)
            for (const ConfigKey *key = config_table_covers(table, *section) ? table->keys : NULL; key && key->name;
                 key++) {
                const char *path = key->certificates ? config_string(config, *section, key->name) : NULL;
                if (path)
                    add(files, g_strdup_printf("[%s] %s", *section, key->name), path, key->opens,
                        key->certificates == CERTIFICATES_OF_AUTHORITIES);
            }

    /* The certificate that libpq shows to the server, and those of the authorities by which it knows it. */
    static const struct {
        const char *parameter, *fallback;
        bool authorities;
    } kinds[] = {{"sslcert", "postgresql.crt", false}, {"sslrootcert", "root.crt", true}};
    const char *url = config_string(config, "store", "url");
    g_autofree char *mode = url ? conninfo_value(url, "sslmode") : NULL;
    if (!url || strcmp(config_string(config, "store", "driver"), "postgresql") != 0 || g_strcmp0(mode, "disable") == 0)
        return files;
    const struct passwd *account = geteuid() == 0 ? getpwnam(config_string(config, "site", "user")) : NULL;
    g_autofree char *home = g_strdup(account ? account->pw_dir : g_get_home_dir());
    for (size_t at = 0; at < G_N_ELEMENTS(kinds); at++) {
        g_autofree char *named = conninfo_value(url, kinds[at].parameter);
        /* libpq looks for a file of its own where the URL names none. */
        g_autofree char *own = g_build_filename(home, ".postgresql", kinds[at].fallback, NULL);
        const char *path = named && *named ? named : g_file_test(own, G_FILE_TEST_EXISTS) ? own : NULL;
        if (path && *path == '/') /* "system" stands for the authorities of the system */
            add(files, g_strdup_printf("[store] url (%s)", kinds[at].parameter), path, NULL, kinds[at].authorities);
    }
    return files;
}

bool certificate_end(const CertificateFile *file, int64_t *end, GError **error)
{
    BIO *bio = BIO_new_file(file->path, "r");
    X509 *certificate;
    unsigned found = 0;
    while (bio && (certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
        struct tm time;
        if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) == 1) {
            int64_t one = (int64_t)timegm(&time) * CLOCK_SECOND;
            *end = found == 0 ? one : file->authorities ? MAX(*end, one) : MIN(*end, one);
            found++;
        }
        X509_free(certificate);
    }
    BIO_free(bio);
    return found > 0 ||
           fail(error, FAIL_CONFIG, "%s: %s has no certificate that can be read", file->setting, file->path);
}

char *certificate_text(const char *setting, const char *path, int64_t end, int64_t now)
{
    g_autofree char *time = clock_text(end);
    return g_strdup_printf("The certificate %s of %s %s at %s", path, setting, end > now ? "expires" : "expired", time);
}

char *certificate_mend(const char *readers)
{
    if (!readers || !*readers)
        return NULL;
    GString *text = g_string_new(NULL);
    g_auto(GStrv) names = g_strsplit(readers, " ", -1);
    for (char **name = names; *name; name++)
        g_string_append_printf(text, "%slistrunner restart %s", text->len > 0 ? "; " : "", *name);
    g_string_append(text, "    # when the file is a new one");
    return g_string_free(text, FALSE);
}
