/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Files, directories and hosts that values of the configuration name. */
#include <glib/gstdio.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/fail.h"

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

#define REFUSED "FILE:3: [transport.relay] auth_password_file: found "
#define AUTH "[transport.relay]\nauth_user = u\nauth_password_file = "

static void test_password_file(void)
{
    put("private", "secret\n", 0600);
    put("shared", "secret\n", 0640);
    put("open", "secret\n", 0604);
    places(AUTH "/no/such\n", REFUSED "/no/such: no such file; allowed is a file that exists");
    places(AUTH "%s\n", REFUSED "%s, which is no file; allowed is a file whose first line is the password");
    places(AUTH "%s/shared\n",
           REFUSED "%s/shared, which others than its owner can read or write "
           "(mode 640); allowed is mode 600 (chmod 600 %s/shared)");
    places(AUTH "%s/open\n",
           REFUSED "%s/open, which others than its owner can read or write "
           "(mode 604); allowed is mode 600 (chmod 600 %s/open)");
    g_autofree char *private = g_build_filename(place, "private", NULL);
    if (geteuid() == 0) /* whose own it is now, but the runners are nobody's */
        places(AUTH "%s/private\n", REFUSED "%s/private, which the user nobody cannot read; allowed is a "
                                            "file of that user (chown nobody %s/private)");
    const struct passwd *account = getpwnam("nobody");
    g_assert_true(geteuid() != 0 || chown(private, account->pw_uid, (gid_t)-1) == 0);
    places(AUTH "%s/private\n", NULL);
    for (const char *const *name = (const char *const[]){"private", "shared", "open", NULL}; *name; name++) {
        g_autofree char *path = g_build_filename(place, *name, NULL);
        g_unlink(path);
    }
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

#define REST "[runner.rest]\nstart = yes\n[rest]\npassword_file = %s/rest\n"

static void test_rest_passwords(void)
{
    g_autofree char *path = g_build_filename(place, "rest", NULL);
    doubts(REST, "[rest] password_file: %s/rest: No such file or directory; a file with lines USER:PASSWORD is wanted");
    put("rest", "u:p\n", 0640);
    doubts(REST, "[rest] password_file: %s/rest can be read by others; mend it with: chmod 600 %s/rest");
    doubts("[rest]\npassword_file = %s/rest\n", NULL); /* the runner is not to be started */
    put("rest", "u:p\n", 0600);
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    place = g_dir_make_tmp("config-XXXXXX", NULL);
    g_test_add_func("/config/password file", test_password_file);
    g_test_add_func("/config/places", test_places);
    g_test_add_func("/config/names without address", test_names_without_address);
    g_test_add_func("/config/passwords of REST", test_rest_passwords);
    g_test_add_func("/config/auth without verify", test_auth_without_verify);
    int failed = g_test_run();
    g_rmdir(place);
    g_free(place);
    return failed;
}
