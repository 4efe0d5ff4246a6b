/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Files, directories and hosts that values of the configuration name. */
#include <glib/gstdio.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/fail.h"
#include "base/secret.h"
#include "t/suite.h"

static char *place; /* a directory for all tests of this run */

/* Loads text, with a user, spool and database behind it that are in order; the faults come back as text, with the
 * file's path as FILE. */
static Config *load(const char *text, bool offline, char **faults)
{
    g_autofree char *path = g_build_filename(place, "listrunner.conf", NULL);
    const char *user = geteuid() == 0 ? "nobody" : g_get_user_name();
    g_autofree char *whole = g_strdup_printf("%s[site]\nuser = %s\n[spool]\ndirectory = %s\n[store]\npath = %s/x.db\n",
                                             text, user, place, place);
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(path, whole, -1, NULL));
    Config *config = config_load(path, offline, &error);
    g_unlink(path);
    g_autoptr(GString) told = g_string_new(error ? error->message : "");
    g_string_replace(told, path, "FILE", 0);
    *faults = error ? g_string_free(g_steal_pointer(&told), FALSE) : NULL;
    return config;
}

/* `%s` in text and faults is the directory of this run. */
static void places(const char *text, const char *faults)
{
    g_auto(GStrv) parts = g_strsplit(text, "%s", -1), wanted = g_strsplit(faults ? faults : "", "%s", -1);
    g_autofree char *given = g_strjoinv(place, parts), *expected = g_strjoinv(place, wanted), *told = NULL;
    g_autoptr(Config) config = load(given, false, &told);
    g_assert_cmpstr(told, ==, faults ? expected : NULL);
}

static void put(const char *name, const char *text, mode_t mode)
{
    g_autofree char *path = g_build_filename(place, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_assert_cmpint(g_chmod(path, mode), ==, 0);
}

static void own(const char *name, uid_t user, gid_t group)
{
    g_autofree char *path = g_build_filename(place, name, NULL);
    g_assert_true(geteuid() != 0 || chown(path, user, group) == 0);
}

/* Settings that name a file with a secret, each with all that it wants besides. */
static const char *const secrets[] = {
    "[transport.relay]\nauth_user = u\nauth_password_file = ", "[nntp]\nuser = u\npassword_file = ",
    "[dkim.a]\ndomain = a.example\nkey_file = ", "[hook.a]\nurl = http://a.example/\nsecret_file = ",
    "[archiver.a]\ntype = hyperkitty\nurl = http://a.example/\napi_key_file = "};

/* The fault of the setting with the file: what `rest` says after its path; NULL: none. */
static void secret(const char *setting, const char *name, const char *rest)
{
    const char *line = strrchr(setting, '\n') + 1, *end = strchr(setting, ']') + 1;
    unsigned number = 1;
    for (const char *at = setting; *at; at++)
        number += *at == '\n';
    g_autofree char *text = g_strdup_printf("%s%%s/%s\n", setting, name);
    g_autofree char *fault = rest ? g_strdup_printf("FILE:%u: %.*s %.*s: %%s/%s %s", number, (int)(end - setting),
                                                    setting, (int)(strlen(line) - 3), line, name, rest) : NULL;
    places(text, fault);
}

static void test_secret_files(void)
{
    const struct passwd *account = getpwnam("nobody");
    uid_t user = geteuid() == 0 ? account->pw_uid : geteuid();
    gid_t group = geteuid() == 0 ? account->pw_gid : getegid();
    places("[transport.relay]\nauth_user = u\nauth_password_file = /no/such\n",
           "FILE:3: [transport.relay] auth_password_file: found /no/such: no such file; allowed is a file that exists");
    put("kept", "secret\n", 0600);
    put("grouped", "secret\n", 0640);
    put("open", "secret\n", 0604);
    put("written", "secret\n", 0620);
    put("roots", "secret\n", 0640);
    put("alien", "secret\n", 0640);
    put("others", "secret\n", 0600);
    for (const char *const *name = (const char *const[]){"kept", "grouped", "open", "written", NULL}; *name; name++)
        own(*name, user, group);
    own("roots", 0, group);
    own("alien", user, 0);
    own("others", 12345, group);
    for (size_t at = 0; at < G_N_ELEMENTS(secrets); at++) {
        const char *setting = secrets[at];
        secret(setting, "kept", NULL);
        secret(setting, "grouped", NULL);
        secret(setting, "roots", NULL);
        for (const char *const *name = (const char *const[]){"open", "written", "alien", NULL}; *name; name++) {
            if (geteuid() != 0 && g_str_equal(*name, "alien"))
                continue;
            g_autofree char *path = g_build_filename(place, *name, NULL);
            struct stat status;
            g_assert_cmpint(stat(path, &status), ==, 0);
            const struct group *found = getgrgid(group);
            g_autofree char *rest = g_strdup_printf(
                "can be read or written by others (mode %03o); mend it with: chmod 600 %s, or for a file of root: "
                "chgrp %s %s && chmod 640 %s", status.st_mode & 0777u, path, found->gr_name, path, path);
            secret(setting, *name, rest);
        }
        if (geteuid() != 0)
            continue;
        secret(setting, "others", "belongs to 12345; it must be nobody's (chown nobody %s/others)");
        own("kept", 0, 0);
        secret(setting, "kept", "cannot be read by the user nobody; mend it with: chown nobody %s/kept");
        own("kept", user, group);
    }
    places("[dkim.a]\ndomain = a.example\nenabled = no\nkey_file = %s/open\n", NULL);
    static const char *const names[] = {"kept", "grouped", "open", "written", "roots", "alien", "others"};
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        g_autofree char *path = g_build_filename(place, names[at], NULL);
        g_unlink(path);
    }
}

/* Check that each reader of a secret asks the same. */
static void test_secret_read(void)
{
    GError *error = NULL;
    g_autofree char *path = g_build_filename(place, "read", NULL), *text = NULL, *line = NULL;
    put("read", "secret\r\nmore\n", 0600);
    text = secret_file_read(path, SECRET_FILE_MAX, &error);
    line = secret_file_line(path, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(text, ==, "secret\r\nmore\n");
    g_assert_cmpstr(line, ==, "secret");
    if (geteuid() == 0) { /* what root gave to a group it may read, too */
        put("read", "secret\n", 0640);
        own("read", 0, 12345);
        g_autofree char *given = secret_file_line(path, &error);
        g_assert_no_error(error);
        own("read", 12345, 12345);
        g_assert_null(secret_file_line(path, &error));
        g_assert_error(error, FAIL, FAIL_CONFIG);
        g_clear_error(&error);
        own("read", 0, 0);
    }
    put("read", "secret\n", 0644);
    g_assert_null(secret_file_line(path, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_clear_error(&error);
    put("read", "\nsecret\n", 0600);
    g_assert_null(secret_file_line(path, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_clear_error(&error);
    put("read", " \t \nsecret\n", 0600);
    g_assert_null(secret_file_line(path, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_clear_error(&error);
    put("read", "  two words \r\n", 0600);
    g_autofree char *stripped = secret_file_line(path, &error);
    g_assert_cmpstr(stripped, ==, "two words");
    g_assert_null(secret_file_read(place, SECRET_FILE_MAX, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_clear_error(&error);
    g_unlink(path);
}

static void test_places(void)
{
    put("empty.pem", "no certificate\n", 0644);
    places("[transport.relay]\ntls_ca_file = /no/such\n",
           "FILE:2: [transport.relay] tls_ca_file: found /no/such: no such file; allowed is a file that exists");
    places("[transport.relay]\ntls_ca_file = %s/empty.pem\n",
           "FILE:2: [transport.relay] tls_ca_file: found %s/empty.pem, which holds no certificate; allowed is a file "
           "of certificates in PEM");
    places("[runner.lmtp]\nlisten = 127.0.0.1:24 localhost:24 [::1]:24 *:24 unix:%s/socket\n", NULL);
    places("[runner.lmtp]\nlisten = unix:/no/such/socket unix:/run/to-be-made/s\n"
           "[master]\nruntime_directory = /run/to-be-made\n",
           "FILE:2: [runner.lmtp] listen: found \"unix:/no/such/socket\", but there is no directory /no/such; allowed "
           "is a path in one that exists");
    places("[master]\nruntime_directory = /bin/sh\n",
           "FILE:2: [master] runtime_directory: found /bin/sh: not a directory; allowed is a directory");
    places("[site]\ntemplate_directory = /no/such\n",
           "FILE:2: [site] template_directory: found /no/such: no such directory; allowed is a directory that exists");
    places("[archiver.a]\npath = /bin/sh\n[archiver.b]\ntype = command\ncommand = /no/such -x\n"
           "[archiver.c]\nenabled = no\ntype = command\ncommand = /no/such\n",
           "FILE:2: [archiver.a] path: found /bin/sh: not a directory; allowed is a directory\n"
           "FILE:5: [archiver.b] command: found /no/such, which is no program; allowed is an executable file");
    g_autofree char *path = g_build_filename(place, "empty.pem", NULL);
    g_unlink(path);
}

/* Names below .invalid have no addresses (RFC 6761), with or without a network. */
static void test_names_without_address(void)
{
    g_autofree char *faults = NULL;
    g_autoptr(Config) refused = load("[runner.lmtp]\nlisten = nosuchhost.invalid:99\n", false, &faults);
    g_assert_null(refused);
    g_assert_true(g_str_has_prefix(faults, "FILE:2: [runner.lmtp] listen: found \"nosuchhost.invalid:99\", but "
                                           "nosuchhost.invalid has no address ("));
    g_assert_true(g_str_has_suffix(faults, "allowed is a name or an address of this host, or * for all of them"));
    g_autofree char *none = NULL;
    g_autoptr(Config) config = load("[transport.a]\nhost = nosuchhost.invalid\n[transport.b]\nhost = unix:/x\n"
                                      "[transport.c]\ntype = mx\nhost = nosuchhost.invalid\n", true, &none);
    g_autofree char *doubts = config_doubts(config);
    g_assert_true(g_str_has_prefix(doubts, "[transport.a] host: nosuchhost.invalid has no address now ("));
    g_assert_null(strchr(doubts, '\n'));
}

static void doubts(const char *text, const char *expected)
{
    g_auto(GStrv) parts = g_strsplit(text, "%s", -1), wanted = g_strsplit(expected ? expected : "", "%s", -1);
    g_autofree char *given = g_strjoinv(place, parts), *all = g_strjoinv(place, wanted), *faults = NULL;
    g_autoptr(Config) config = load(given, true, &faults);
    g_assert_cmpstr(faults, ==, NULL);
    g_autofree char *told = config_doubts(config);
    g_assert_cmpstr(told, ==, expected ? all : NULL);
}

static void test_keys_for_seals(void)
{
    static const char edwards[] = "-----BEGIN PRIVATE KEY-----\n"
                                  "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
                                  "-----END PRIVATE KEY-----\n";
    static const char text[] = "[authentication]\nauthserv_id = a.example\n[dkim.a]\ndomain = a.example\nuse = %s\n"
                               "key_file = %s/ed.pem\n";
    static const char *const uses[] = {"dkim", "arc", "both"};
    g_autofree char *path = g_build_filename(place, "ed.pem", NULL);
    put("ed.pem", edwards, 0600);
    for (size_t at = 0; at < G_N_ELEMENTS(uses); at++) {
        g_autofree char *given = g_strdup_printf(text, uses[at], "%s");
        g_autofree char *wanted = g_strdup_printf("[dkim.a] use: found \"%s\" for an Ed25519 key, which makes no "
                                                  "seals; allowed is \"dkim\", and for ARC an RSA key", uses[at]);
        doubts(given, at == 0 ? NULL : wanted);
    }
    g_unlink(path);
}

#define REST "[runner.rest]\nstart = yes\n[rest]\npassword_file = %s/rest\n"

static void test_rest_passwords(void)
{
    g_autofree char *path = g_build_filename(place, "rest", NULL);
    const struct passwd *account = getpwnam("nobody");
    gid_t group = geteuid() == 0 ? account->pw_gid : getegid();
    g_autofree char *open = g_strdup_printf(
        "[rest] password_file: %s can be read or written by others (mode 644); mend it with: chmod 600 %s, or for a "
        "file of root: chgrp %s %s && chmod 640 %s", path, path, getgrgid(group)->gr_name, path, path);
    doubts(REST, "[rest] password_file: there is no %s/rest; a file with lines USER:PASSWORD is wanted");
    put("rest", "u:p\n", 0644);
    doubts(REST, open);
    doubts("[rest]\npassword_file = %s/rest\n", NULL); /* the runner is not to be started */
    put("rest", "u:p\n", 0640);
    own("rest", 0, group);
    doubts(REST, NULL);
    g_unlink(path);
}

/* Ways in which a password needs no certificate: see AUTH_ALLOWED. */
static void test_auth_without_verify(void)
{
    static const char *const ways[] = {"host = unix:/socket\ntype = lmtp", "host = localhost", "host = 127.0.0.2",
                                       "host = ::1", "host = mail.example.com\ntls_level = verify",
                                       "host = mail.example.com\nauth_mechanisms = scram-sha-256",
                                       "host = mail.example.com\nauth_in_clear = yes"};
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
        g_autofree char *text =
            g_strdup_printf("[transport.a]\nauth_user = u\nauth_password_file = /p\n%s\n", ways[i]);
        g_autofree char *faults = NULL;
        g_autoptr(Config) config = load(text, true, &faults);
        g_assert_cmpstr(faults, ==, NULL);
    }
}

SUITE("config_places")
{
    g_test_init(&argc, &argv, NULL);
    place = g_dir_make_tmp("config-XXXXXX", NULL);
    g_test_add_func("/config/secret files", test_secret_files);
    g_test_add_func("/config/a secret is read", test_secret_read);
    g_test_add_func("/config/places", test_places);
    g_test_add_func("/config/names without address", test_names_without_address);
    g_test_add_func("/config/places/keys for seals", test_keys_for_seals);
    g_test_add_func("/config/passwords of REST", test_rest_passwords);
    g_test_add_func("/config/auth without verify", test_auth_without_verify);
    int failed = g_test_run();
    g_rmdir(place);
    g_free(place);
    return failed;
}
