/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test who is let in with which credentials, and how often one may be wrong. The clock is the test's. */
#include "runners/server/http_guard.h"

#include <crypt.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/clock.h"
#include "base/fail.h"

#define MINUTE (60 * CLOCK_SECOND)
#define PEER "192.0.2.1"

static int64_t now = 1000 * MINUTE;

int64_t __wrap_clock_monotonic(void);
int64_t __wrap_clock_monotonic(void)
{
    return now;
}

static char *directory, *path; /* of the file of passwords */

/* Each time it is another file, as an editor leaves it. */
static void write_file(const char *text, int mode)
{
    GError *error = NULL;
    g_assert_true(g_file_set_contents(path, text, -1, &error));
    g_assert_no_error(error);
    g_assert_cmpint(g_chmod(path, mode), ==, 0);
}

static HttpGuard *guard_of(const char *text, int64_t attempts)
{
    GError *error = NULL;
    write_file(text, 0600);
    HttpGuard *guard = http_guard_new(path, attempts, &error);
    g_assert_no_error(error);
    return guard;
}

/* "Basic " and credentials in base64; g_free(). */
static char *basic(const char *credentials)
{
    g_autofree char *text = g_base64_encode((const guchar *)credentials, strlen(credentials));
    return g_strconcat("Basic ", text, NULL);
}

/* The verdict about "user:password". */
static GuardVerdict judge(HttpGuard *guard, const char *credentials, const char *peer)
{
    g_autofree char *field = basic(credentials);
    return http_guard_judge(guard, field, peer, NULL);
}

/* ---- the file ---- */

static void test_files(void)
{
    static const struct {
        const char *text;
        int mode;
        const char *fault; /* NULL: it is fine */
    } cases[] = {
        {"a:b\n", 0600, NULL},
        {"a:b", 0400, NULL},
        {"# users\n\na:b\r\n  \nc:d:e\n", 0600, NULL},
        {"a:b\n", 0640, NULL}, /* the group is ours */
        {"a:b\n", 0660, "chmod 600"},
        {"a:b\n", 0604, "chmod 600"},
        {"a:b\n", 0622, "chmod 600"},
        {"", 0600, "names no user"},
        {"# a:b\n", 0600, "names no user"},
        {"a:b\nc\n", 0600, "line 2"},
        {"\n\n:b\n", 0600, "line 3"},
        {"a:\n", 0600, "line 1"},
        {"a: \n", 0600, "line 1"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        GError *error = NULL;
        write_file(cases[at].text, cases[at].mode);
        g_test_message("%o %s", (unsigned)cases[at].mode, cases[at].text);
        HttpGuard *guard = http_guard_new(path, 3, &error);
        g_assert_cmpint(guard != NULL, ==, cases[at].fault == NULL);
        if (guard) {
            http_guard_free(guard);
            continue;
        }
        g_assert_error(error, FAIL, FAIL_CONFIG);
        g_assert_nonnull(strstr(error->message, cases[at].fault));
        g_assert_nonnull(strstr(error->message, path));
        g_clear_error(&error);
    }
}

/* Check that a path that is no file is refused, and never waited for. */
static void test_no_files(void)
{
    g_autofree char *fifo = g_build_filename(directory, "fifo", NULL);
    g_autofree char *missing = g_build_filename(directory, "missing", NULL);
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    const char *const paths[] = {directory, fifo, missing};
    for (size_t at = 0; at < G_N_ELEMENTS(paths); at++) {
        GError *error = NULL;
        g_test_message("%s", paths[at]);
        g_assert_null(http_guard_new(paths[at], 3, &error));
        g_assert_error(error, FAIL, FAIL_CONFIG);
        g_assert_nonnull(strstr(error->message, paths[at]));
        g_clear_error(&error);
    }
    g_remove(fifo);
}

/* Check that the owner of the file may change who is let in. */
static void test_foreign_file(void)
{
    GError *error = NULL;
    if (geteuid() != 0) {
        g_test_skip("only root can give a file away");
        return;
    }
    write_file("a:b\n", 0600);
    g_assert_cmpint(chown(path, 12345, 0), ==, 0);
    g_assert_null(http_guard_new(path, 5, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_nonnull(strstr(error->message, " belongs to "));
    g_clear_error(&error);
}

/* ---- credentials ---- */

static void test_credentials(void)
{
    struct crypt_data *state = g_new0(struct crypt_data, 1);
    const char *hash = crypt_r("secret", "$5$rounds=1000$salt$", state);
    g_autofree char *text = g_strdup_printf("# a:x\nanne:b\ncol:d:e\nj\xc3\xb6rg:\xc3\xa9\nhash:%s\nbad:$nothing\n"
                                            "twice:one\ntwice:two\n", hash);
    g_free(state);
    static const struct {
        const char *credentials;
        bool in;
    } cases[] = {
        {"anne:b", true},
        {"anne:", false},
        {"anne:B", false},
        {"anne:bb", false},
        {"anne:b ", false},
        {"Anne:b", false},
        {"anne :b", false},
        {":b", false},
        {"nobody:b", false},
        {"nobody:", false},
        {"nobody:\001", false}, /* what an unknown user's password is compared with */
        {"# a:x", false},
        {"#a:x", false},
        {"col:d:e", true}, /* the first colon counts */
        {"col:d", false},
        {"j\xc3\xb6rg:\xc3\xa9", true},
        {"j\xf6rg:\xe9", false},
        {"hash:secret", true},
        {"hash:Secret", false},
        {"hash:", false},
        {"bad:$nothing", false}, /* a hash of no kind that there is fits nothing */
        {"bad:*0", false},
        {"bad:", false},
        {"twice:two", true},
        {"twice:one", false},
    };
    HttpGuard *guard = guard_of(text, 1000000);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++)
        for (int again = 0; again < 2; again++) { /* also when it is known */
            const char *user = NULL;
            g_autofree char *field = basic(cases[at].credentials);
            g_test_message("%s", cases[at].credentials);
            GuardVerdict verdict = http_guard_judge(guard, field, PEER, &user);
            g_assert_cmpint(verdict, ==, cases[at].in ? GUARD_IN : GUARD_UNKNOWN);
            if (cases[at].in) {
                g_autofree char *wanted = g_strndup(cases[at].credentials, strcspn(cases[at].credentials, ":"));
                g_assert_cmpstr(user, ==, wanted);
            }
        }
    g_autofree char *shown = g_strdup_printf("hash:%s", hash);
    g_assert_cmpint(judge(guard, shown, PEER), ==, GUARD_UNKNOWN); /* who reads the file cannot use a hash */
    http_guard_free(guard);
}

static void test_fields(void)
{
    static const struct {
        const char *field;
        GuardVerdict verdict;
    } cases[] = {
        {NULL, GUARD_UNKNOWN},          {"", GUARD_UNKNOWN},
        {"Basic", GUARD_UNKNOWN},       {"Basic ", GUARD_UNKNOWN},
        {"Basic YTpi", GUARD_IN},       {"basic YTpi", GUARD_IN},
        {"BASIC YTpi", GUARD_IN},       {"Basic YTpi\xff", GUARD_IN}, /* what is no base64 is passed over */
        {"Basic YQ==", GUARD_UNKNOWN},  /* "a" */
        {"Basic YTpiAA==", GUARD_UNKNOWN}, /* "a:b" and a zero byte */
        {"Basic YTpiAGM=", GUARD_UNKNOWN}, /* "a:b", a zero byte and "c" */
        {"Bearer YTpi", GUARD_UNKNOWN}, {"Digest YTpi", GUARD_UNKNOWN},
        {"BasicYTpi", GUARD_UNKNOWN},   {"a:b", GUARD_UNKNOWN},
        {"Basic ====", GUARD_UNKNOWN},  {"Basic \xff\xff\xff\xff", GUARD_UNKNOWN},
    };
    HttpGuard *guard = guard_of("a:b\n", 1);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_test_message("%s", cases[at].field ? cases[at].field : "none");
        g_assert_cmpint(http_guard_judge(guard, cases[at].field, PEER, NULL), ==, cases[at].verdict);
    }
    /* None of them was a wrong password, and one of those may be. */
    g_assert_cmpint(judge(guard, "a:c", PEER), ==, GUARD_UNKNOWN);
    g_assert_cmpint(judge(guard, "a:c", PEER), ==, GUARD_TOO_MANY);
    http_guard_free(guard);
}

static void test_tokens(void)
{
    static const struct {
        const char *field, *token;
    } cases[] = {
        {NULL, NULL},
        {"", NULL},
        {"Bearer lrt_1", "lrt_1"},
        {"bearer lrt_1", "lrt_1"},
        {"Bearer other", "other"}, /* that it is none is said by who knows tokens */
        {"Bearer", NULL},
        {"Basic YTpi", NULL},
        {"Basic bHJ0XzE6eA==", NULL},     /* "lrt_1:x": it is the user */
        {"Basic YTpscnRfMQ==", "lrt_1"},  /* "a:lrt_1" */
        {"Basic OmxydF8x", "lrt_1"},      /* ":lrt_1" */
        {"Basic YTpiOmxydF8x", NULL},     /* "a:b:lrt_1" */
        {"Basic YTpMUlRfMQ==", NULL},     /* "a:LRT_1" */
        {"Digest lrt_1", NULL},
        {"lrt_1", NULL},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *token = http_guard_token(cases[at].field, "lrt_");
        g_test_message("%s", cases[at].field ? cases[at].field : "none");
        g_assert_cmpstr(token, ==, cases[at].token);
    }
}

/* ---- attempts ---- */

static void test_attempts(void)
{
    HttpGuard *guard = guard_of("a:b\nc:d\n", 3);
    now = 2000 * MINUTE;
    g_assert_cmpint(judge(guard, "a:b", PEER), ==, GUARD_IN);
    for (int at = 0; at < 3; at++)
        g_assert_cmpint(judge(guard, "a:guess", PEER), ==, GUARD_UNKNOWN);
    for (int at = 0; at < 3; at++)
        g_assert_cmpint(judge(guard, "a:guess", PEER), ==, GUARD_TOO_MANY);
    g_assert_cmpint(judge(guard, "x:y", PEER), ==, GUARD_TOO_MANY);
    g_assert_cmpint(judge(guard, "c:d", PEER), ==, GUARD_TOO_MANY); /* right, but unseen */
    g_assert_cmpint(judge(guard, "a:b", PEER), ==, GUARD_IN);       /* known lately */
    g_assert_cmpint(http_guard_judge(guard, NULL, PEER, NULL), ==, GUARD_UNKNOWN);
    g_assert_cmpint(judge(guard, "a:guess", "192.0.2.2"), ==, GUARD_UNKNOWN); /* from somewhere else */
    g_assert_cmpint(judge(guard, "c:d", "192.0.2.2"), ==, GUARD_IN);
    g_assert_cmpint(judge(guard, "c:d", PEER), ==, GUARD_IN); /* known by now, from anywhere */
    now += MINUTE - 1;
    g_assert_cmpint(judge(guard, "a:guess", PEER), ==, GUARD_TOO_MANY); /* the same minute */
    now += 1;
    g_assert_cmpint(judge(guard, "a:guess", PEER), ==, GUARD_UNKNOWN);
    http_guard_free(guard);
}

/* Addresses that one sender has at hand are one. */
static void test_networks(void)
{
    static const char *const same[][3] = {{"127.0.0.1", "127.9.9.9", "::ffff:127.0.0.2"},
                                          {"2001:db8:1:2::1", "2001:db8:1:2:ffff::", "2001:db8:1:2:3:4:5:6"},
                                          {"192.0.2.7", "::ffff:192.0.2.7", "192.0.2.7"},
                                          {"unix", "unix", "unix"}};
    static const char *const others[] = {"127.0.0.1", "2001:db8:1:3::1", "192.0.2.8", "::1"};
    HttpGuard *guard = guard_of("a:b\n", 2);
    for (size_t at = 0; at < G_N_ELEMENTS(same); at++) {
        now += MINUTE;
        for (size_t i = 0; i < 3; i++)
            g_assert_cmpint(judge(guard, "a:guess", same[at][i]), ==, i < 2 ? GUARD_UNKNOWN : GUARD_TOO_MANY);
        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
            if (at > 0 || i > 0)
                g_assert_cmpint(judge(guard, "a:guess", others[i]), ==, GUARD_UNKNOWN);
    }
    http_guard_free(guard);
}

/* From more networks than are remembered nobody gains a guess, and the next minute is like any other. */
static void test_many_networks(void)
{
    HttpGuard *guard = guard_of("a:b\n", 1);
    now += MINUTE;
    g_assert_cmpint(judge(guard, "a:guess", PEER), ==, GUARD_UNKNOWN);
    for (unsigned i = 0; i < 20000; i++) {
        g_autofree char *peer = g_strdup_printf("2001:db8:%x:%x::1", i >> 8, i & 255);
        g_assert_false(http_guard_full(guard, peer));
    }
    g_assert_cmpint(judge(guard, "a:guess", "198.51.100.1"), ==, GUARD_UNKNOWN);
    g_assert_cmpint(judge(guard, "a:guess", "198.51.100.2"), ==, GUARD_TOO_MANY);
    g_assert_cmpint(judge(guard, "a:guess", PEER), ==, GUARD_TOO_MANY);
    now += MINUTE;
    g_assert_cmpint(judge(guard, "a:guess", "198.51.100.1"), ==, GUARD_UNKNOWN);
    g_assert_cmpint(judge(guard, "a:guess", "198.51.100.2"), ==, GUARD_UNKNOWN);
    http_guard_free(guard);
}

/* Right passwords are no attempts, however many. */
static void test_right_ones(void)
{
    HttpGuard *guard = guard_of("a:b\nc:d\n", 1);
    for (int at = 0; at < 5; at++) {
        g_assert_cmpint(judge(guard, "a:b", PEER), ==, GUARD_IN);
        g_assert_cmpint(judge(guard, "c:d", PEER), ==, GUARD_IN);
    }
    g_assert_cmpint(judge(guard, "a:guess", PEER), ==, GUARD_UNKNOWN);
    http_guard_free(guard);
}

/* Wrong tokens and wrong passwords are counted as one. */
static void test_other_credentials(void)
{
    HttpGuard *guard = guard_of("a:b\n", 3);
    now = 3000 * MINUTE;
    for (int at = 0; at < 2; at++) {
        g_assert_false(http_guard_full(guard, PEER));
        http_guard_failed(guard, PEER, "a token");
    }
    g_assert_cmpint(judge(guard, "a:guess", PEER), ==, GUARD_UNKNOWN);
    g_assert_true(http_guard_full(guard, PEER));
    g_assert_cmpint(judge(guard, "a:guess", PEER), ==, GUARD_TOO_MANY);
    g_assert_false(http_guard_full(guard, "192.0.2.2"));
    now += MINUTE;
    g_assert_false(http_guard_full(guard, PEER));
    http_guard_free(guard);
}

/* ---- the file changes ---- */

static void test_file_changes(void)
{
    HttpGuard *guard = guard_of("a:b\n", 1000);
    g_assert_cmpint(judge(guard, "a:b", PEER), ==, GUARD_IN);
    write_file("a:b\nc:d\n", 0600);
    g_assert_cmpint(judge(guard, "c:d", PEER), ==, GUARD_IN);
    g_assert_cmpint(judge(guard, "a:b", PEER), ==, GUARD_IN);
    write_file("a:new\nc:d\n", 0600);
    g_assert_cmpint(judge(guard, "a:b", PEER), ==, GUARD_UNKNOWN); /* although it was known */
    g_assert_cmpint(judge(guard, "a:new", PEER), ==, GUARD_IN);
    static const struct {
        const char *text; /* NULL: it is gone */
        int mode;
    } faults[] = {{"a:new\n", 0644}, {"nonsense\n", 0600}, {"", 0600}, {NULL, 0}};
    for (size_t at = 0; at < G_N_ELEMENTS(faults); at++) {
        if (faults[at].text)
            write_file(faults[at].text, faults[at].mode);
        else
            g_remove(path);
        for (int again = 0; again < 2; again++)
            g_assert_cmpint(judge(guard, "a:new", PEER), ==, GUARD_TROUBLE);
        write_file("a:new\n", 0600);
        g_assert_cmpint(judge(guard, "a:new", PEER), ==, GUARD_IN);
    }
    http_guard_free(guard);
}

/* A process without a free descriptor cannot read the file. When it can again, people are let in, without a change of
 * the file. */
static void test_no_descriptor(void)
{
    struct rlimit usual, none;
    HttpGuard *guard = guard_of("a:b\n", 1000);
    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &usual), ==, 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = usual.rlim_max};
    write_file("a:new\n", 0600);
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &none), ==, 0);
    GuardVerdict verdict = judge(guard, "a:new", PEER);
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &usual), ==, 0);
    g_assert_cmpint(verdict, ==, GUARD_TROUBLE);
    g_assert_cmpint(judge(guard, "a:b", PEER), ==, GUARD_UNKNOWN);
    g_assert_cmpint(judge(guard, "a:new", PEER), ==, GUARD_IN);
    http_guard_free(guard);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    directory = g_dir_make_tmp("guard-XXXXXX", NULL);
    path = g_build_filename(directory, "passwd", NULL);
    g_test_add_func("/http_guard/files", test_files);
    g_test_add_func("/http_guard/what is no file", test_no_files);
    g_test_add_func("/http_guard/a file of somebody else", test_foreign_file);
    g_test_add_func("/http_guard/credentials", test_credentials);
    g_test_add_func("/http_guard/fields", test_fields);
    g_test_add_func("/http_guard/tokens", test_tokens);
    g_test_add_func("/http_guard/attempts", test_attempts);
    g_test_add_func("/http_guard/networks", test_networks);
    g_test_add_func("/http_guard/many networks", test_many_networks);
    g_test_add_func("/http_guard/right passwords are no attempts", test_right_ones);
    g_test_add_func("/http_guard/other credentials", test_other_credentials);
    g_test_add_func("/http_guard/the file changes", test_file_changes);
    g_test_add_func("/http_guard/no free descriptor", test_no_descriptor);
    int code = g_test_run();
    g_remove(path);
    g_rmdir(directory);
    g_free(path);
    g_free(directory);
    return code;
}
