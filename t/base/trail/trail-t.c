/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The trail: each line is found by each of its keys, whatever became of the files, and old ones go. */
#include "base/trail/trail.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "t/suite.h"

#define SIZE TRAIL_LEAST
#define FILES 16 /* of a trail of this size */

typedef struct Test {
    char *directory;
} Test;

static void set_up(Test *test, const void *data)
{
    (void)data;
    g_autofree char *above = g_dir_make_tmp("trail-XXXXXX", NULL);
    test->directory = g_build_filename(above, "trail", NULL);
}

static void tear_down(Test *test, const void *data)
{
    (void)data;
    g_autofree char *above = g_path_get_dirname(test->directory), *command = g_strdup_printf("rm -r %s", above);
    trail_close();
    g_assert_cmpint(system(command), ==, 0);
    g_free(test->directory);
}

static void begin(const Test *test, const char *program)
{
    GError *error = NULL;
    trail_open(test->directory, SIZE, program, &error);
    g_assert_no_error(error);
}

/* The numbers of the files that there are, in order. */
static GArray *files_of(const Test *test)
{
    GArray *numbers = g_array_new(false, false, sizeof(unsigned));
    g_autoptr(GPtrArray) names = fs_names(test->directory, NULL);
    for (guint i = 0; i < names->len; i++) {
        unsigned number = (unsigned)strtoul(names->pdata[i], NULL, 10);
        if (g_str_has_suffix(names->pdata[i], ".trail"))
            g_array_append_val(numbers, number);
    }
    return numbers;
}

static char *path_of(const Test *test, unsigned number, const char *suffix)
{
    return g_strdup_printf("%s/%08u%s", test->directory, number, suffix);
}

static void collect(const TrailLine *line, void *data)
{
    g_ptr_array_add(data, g_strdup(line->text + strlen("2026-11-28T06:49:10.341Z ")));
}

/* The lines that a key finds, joined by "|". */
static char *find(const Test *test, const char *key, uint64_t *damaged)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    g_assert_true(trail_find(test->directory, key, collect, lines, damaged, &error));
    g_assert_no_error(error);
    g_ptr_array_add(lines, NULL);
    return g_strjoinv("|", (char **)lines->pdata);
}

static void expect(const Test *test, const char *key, const char *wanted)
{
    uint64_t damaged = 0;
    g_autofree char *found = find(test, key, &damaged);
    g_assert_cmpstr(found, ==, wanted);
    g_assert_cmpuint(damaged, ==, 0);
}

static void test_keys(Test *test, const void *data)
{
    (void)data;
    expect(test, "0123456789ab", ""); /* no directory yet */
    begin(test, "in[0]");
    trail_note("0123456789ab list=cats.example.com queue=in post=7 message-id=<a@b> result=accept");
    trail_note("0123456789ab list=cats.example.com to=<x@y> message-id=a@b");
    trail_note("ba9876543210 list=dogs.example.com post=7 text\nmore");
    trail_note("master: started");
    trail_note("- queue=task job=x");
    trail_note("");
    trail_close();
    const char *first = "in[0]: 0123456789ab list=cats.example.com queue=in post=7 message-id=<a@b> result=accept",
               *second = "in[0]: 0123456789ab list=cats.example.com to=<x@y> message-id=a@b";
    g_autofree char *both = g_strdup_printf("%s|%s", first, second);
    expect(test, "0123456789ab", both);
    expect(test, "a@b", both);
    expect(test, "cats.example.com#7", first);
    expect(test, "dogs.example.com#7", "in[0]: ba9876543210 list=dogs.example.com post=7 text?more");
    expect(test, "dogs.example.com#8", "");
    expect(test, "cats.example.com", "");
}

/* A line that fills a block. */
static void note_much(const char *begin)
{
    g_autofree char *text = g_strnfill(TRAIL_BLOCK, 'x');
    memcpy(text, begin, strlen(begin));
    trail_note(text);
}

static void test_waits(Test *test, const void *data)
{
    (void)data;
    begin(test, "out[1]");
    trail_note("0123456789ab waits");
    int64_t since;
    uint64_t lost;
    g_assert_null(trail_beat(&since, &lost));
    g_assert_cmpuint(lost, ==, 0);
    expect(test, "0123456789ab", ""); /* not for long enough */
    note_much("0123456789ac ");
    expect(test, "0123456789ab", "out[1]: 0123456789ab waits");
}

/* A process may beat as seldom as once an hour. */
static void test_written_without_a_beat(Test *test, const void *data)
{
    (void)data;
    begin(test, "out[1]");
    trail_note("0123456789ab waits");
    g_autofree char *found = NULL;
    for (int tries = 0; tries < 600 && g_strcmp0(found, "out[1]: 0123456789ab waits") != 0; tries++) {
        g_usleep(100000);
        g_free(found);
        found = find(test, "0123456789ab", NULL);
    }
    g_assert_cmpstr(found, ==, "out[1]: 0123456789ab waits");
}

/* Several processes write to the same files, through many of them; nothing is lost, and what is old goes. */
static void test_processes_and_files(Test *test, const void *data)
{
    (void)data;
    enum { PROCESSES = 4, LINES = 12000 };
    for (int process = 0; process < PROCESSES; process++)
        if (fork() == 0) {
            begin(test, "p");
            g_autoptr(GRand) random = g_rand_new_with_seed((guint32)process);
            for (int i = 0; i < LINES; i++) {
                g_autoptr(GString) text = g_string_new(NULL);
                g_string_printf(text, "%04x%08x list=l post=%d ", process, i, i);
                for (int word = 0; word < 30; word++)
                    g_string_append_printf(text, "%08x", g_rand_int(random));
                trail_note(text->str);
            }
            trail_close();
            _exit(0);
        }
    for (int process = 0; process < PROCESSES; process++) {
        int status;
        wait(&status);
        g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    g_autoptr(GArray) numbers = files_of(test);
    g_assert_cmpuint(numbers->len, >, 3);
    g_assert_cmpuint(numbers->len, <=, FILES);
    for (int with_keys = 0; with_keys < 2; with_keys++) {
        for (int process = 0; process < PROCESSES; process++)
            for (int i = 0; i < LINES; i += 1999) {
                g_autofree char *trace = g_strdup_printf("%04x%08x", process, i), *found = find(test, trace, NULL);
                g_autofree char *wanted = g_strdup_printf("p: %s list=l post=%d ", trace, i);
                g_assert_true(g_str_has_prefix(found, wanted));
                g_assert_null(strchr(found, '|'));
            }
        g_autofree char *posts = find(test, "l#1999", NULL);
        g_auto(GStrv) each = g_strsplit(posts, "|", -1);
        g_assert_cmpuint(g_strv_length(each), ==, PROCESSES);
        /* Keys are made of files to which nobody has written for a while. */
        int64_t removed;
        for (guint i = 0; i < numbers->len; i++) {
            g_autofree char *path = path_of(test, g_array_index(numbers, unsigned, i), ".trail");
            const struct timespec times[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
            g_assert_cmpint(utimensat(AT_FDCWD, path, times, 0), ==, 0);
        }
        g_assert_true(trail_tidy(test->directory, SIZE, 0, &removed, NULL));
        g_assert_cmpint(removed, ==, 0);
        g_autofree char *keys = path_of(test, g_array_index(numbers, unsigned, 0), ".keys");
        g_assert_true(g_file_test(keys, G_FILE_TEST_EXISTS));
    }
    /* All are older than is to be kept. */
    int64_t removed, since;
    g_assert_true(trail_since(test->directory, &since, NULL) && since > 0);
    g_assert_true(trail_tidy(test->directory, SIZE, clock_now(), &removed, NULL));
    g_assert_cmpint(removed, ==, numbers->len);
    g_assert_true(trail_since(test->directory, &since, NULL) && since == 0);
    expect(test, "000000000000", "");
}

static char *contents_of(const char *path, gsize *length)
{
    char *octets = NULL;
    g_assert_true(g_file_get_contents(path, &octets, length, NULL));
    return octets;
}

/* A file to which another process may still write gets no keys: they would lack its later lines, and hide them. */
static void test_tidied_while_it_grows(Test *test, const void *data)
{
    (void)data;
    int64_t removed;
    gsize before, after;
    begin(test, "p");
    trail_note("0123456789ab first");
    trail_close();
    g_autoptr(GArray) numbers = files_of(test);
    g_assert_cmpuint(numbers->len, ==, 1);
    const unsigned number = g_array_index(numbers, unsigned, 0);
    g_autofree char *file = path_of(test, number, ".trail");
    g_autofree char *newer = path_of(test, number + 1, ".trail");
    g_autofree char *first = contents_of(file, &before);
    begin(test, "p");
    trail_note("0123456789ac later");
    trail_close();
    g_autofree char *both = contents_of(file, &after);
    g_assert_cmpuint(after, >, before);
    g_assert_true(g_file_set_contents(file, both, (gssize)before, NULL) && g_file_set_contents(newer, "", 0, NULL));
    g_assert_true(trail_tidy(test->directory, SIZE, 0, &removed, NULL));
    g_assert_true(g_file_set_contents(file, both, (gssize)after, NULL));
    expect(test, "0123456789ab", "p: 0123456789ab first");
    expect(test, "0123456789ac", "p: 0123456789ac later");
}

static void test_surplus_goes(Test *test, const void *data)
{
    (void)data;
    begin(test, "p");
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    for (int i = 0; i < 60000; i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_string_printf(text, "%012x ", i);
        for (int word = 0; word < 100; word++)
            g_string_append_printf(text, "%08x", g_rand_int(random));
        trail_note(text->str);
    }
    trail_close();
    g_autoptr(GArray) numbers = files_of(test);
    g_assert_cmpuint(numbers->len, ==, FILES);
    g_assert_cmpuint(g_array_index(numbers, unsigned, 0), >, 1);
    expect(test, "000000000000", "");
    g_autofree char *last = find(test, "00000000ea5f", NULL);
    g_assert_true(g_str_has_prefix(last, "p: 00000000ea5f "));
}

/* A process that was silent until its file was gone, and those behind it, goes on in the newest one. */
static void test_late(Test *test, const void *data)
{
    (void)data;
    begin(test, "p");
    note_much("000000000001 ");
    for (unsigned number = 1000; number < 1000 + FILES; number++) {
        g_autofree char *path = path_of(test, number, ".trail");
        g_assert_true(g_file_set_contents(path, "", 0, NULL));
    }
    int64_t removed;
    g_assert_true(trail_tidy(test->directory, SIZE, 0, &removed, NULL));
    g_assert_cmpint(removed, ==, 1);
    note_much("000000000002 ");
    g_autofree char *found = find(test, "000000000002", NULL);
    g_assert_true(g_str_has_prefix(found, "p: 000000000002 x"));
    g_autoptr(GArray) numbers = files_of(test);
    g_assert_cmpuint(g_array_index(numbers, unsigned, 0), ==, 1000);
}

/* A file with random bytes changed or cut off at any place: what is whole is found, nothing else is said. */
static void test_damage(Test *test, const void *data)
{
    (void)data;
    for (int i = 0; i < 8; i++) {
        g_autofree char *text = g_strdup_printf("%012x block message-id=same@x", i);
        begin(test, "p");
        trail_note(text);
        trail_close();
    }
    g_autofree char *path = path_of(test, 1, ".trail"), *whole = NULL;
    size_t length;
    g_assert_true(g_file_get_contents(path, &whole, &length, NULL));
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    for (int round = 0; round < 2000; round++) {
        g_autofree char *changed = g_memdup2(whole, length);
        size_t kept = round % 2 ? length : (size_t)g_rand_int_range(random, 0, (gint32)length);
        for (int i = 0; round % 2 && i < 3; i++)
            changed[g_rand_int_range(random, 0, (gint32)length)] = (char)g_rand_int(random);
        g_assert_true(g_file_set_contents_full(path, changed, (gssize)kept, G_FILE_SET_CONTENTS_NONE, 0640, NULL));
        uint64_t damaged = 0;
        g_autofree char *found = find(test, "same@x", &damaged);
        g_auto(GStrv) lines = g_strsplit(found, "|", -1);
        for (char **line = lines; *line && **line; line++)
            g_assert_true(g_str_has_prefix(*line, "p: 00000000000") &&
                          g_str_has_suffix(*line, " block message-id=same@x"));
        /* At most three blocks are hit. */
        g_assert_true(round % 2 == 0 || g_strv_length(lines) >= 5);
    }
    /* The records written behind the damage are found. */
    g_assert_true(g_file_set_contents(path, whole, (gssize)length - 7, NULL));
    begin(test, "p");
    trail_note("abcdefabcdef behind message-id=same@x");
    trail_close();
    g_autofree char *behind = find(test, "abcdefabcdef", NULL);
    g_assert_cmpstr(behind, ==, "p: abcdefabcdef behind message-id=same@x");
}

/* The fault of a beat, or "" */
static char *fault_now(uint64_t *lost)
{
    int64_t since;
    char *fault = trail_beat(&since, lost);
    g_assert_cmpint(since != 0, ==, fault != NULL);
    g_assert_cmpint(since, <=, clock_now());
    return fault ? fault : g_strdup("");
}

/* Wait until the fault is over by itself: nobody notes anything meanwhile. */
static void expect_no_fault(uint64_t *lost)
{
    g_autofree char *fault = fault_now(lost);
    for (int tries = 0; tries < 600 && *fault; tries++) {
        g_usleep(100000);
        g_free(fault);
        fault = fault_now(lost);
    }
    g_assert_cmpstr(fault, ==, "");
}

static void test_cannot_be_written(Test *test, const void *data)
{
    (void)data;
    GError *error = NULL;
    uint64_t lost;
    g_assert_false(trail_open("/proc/nowhere/trail", SIZE, "p", &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_clear_error(&error);
    trail_note("0123456789ab is noted nowhere");
    g_autofree char *nowhere = fault_now(&lost);
    g_assert_nonnull(strstr(nowhere, "/proc/nowhere/trail"));
    /* A disk that takes no more: lines are given up, that is told, and what comes when there is room is kept. */
    begin(test, "p");
    const struct rlimit none = {100, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    g_autofree char *well = fault_now(&lost);
    g_assert_cmpstr(well, ==, "");
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &none), ==, 0);
    note_much("0123456789ab ");
    note_much("0123456789ac ");
    note_much("0123456789ae message-id=new@x ");
    g_autofree char *full = fault_now(&lost);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &all), ==, 0);
    g_assert_nonnull(strstr(full, test->directory));
    g_assert_cmpuint(lost, ==, 2);
    expect_no_fault(&lost);
    g_assert_cmpuint(lost, ==, 2);
    note_much("0123456789ad ");
    g_autofree char *found = find(test, "0123456789ad", NULL), *given_up = find(test, "0123456789ac", NULL);
    g_autofree char *newest = find(test, "new@x", NULL);
    g_assert_true(g_str_has_prefix(found, "p: 0123456789ad x"));
    g_assert_true(g_str_has_prefix(newest, "p: 0123456789ae message-id=new@x x"));
    g_assert_cmpstr(given_up, ==, "");
    /* No link is followed. */
    g_autofree char *path = path_of(test, 1, ".trail");
    trail_close();
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(symlink("/dev/null", path), ==, 0);
    g_assert_false(trail_open(test->directory, SIZE, "p", &error));
    g_clear_error(&error);
    g_assert_cmpint(g_unlink(path), ==, 0);
    expect_no_fault(&lost);
}

/* Lines that waited for room are all there afterwards, each once, when they are fewer than a block. */
static void test_waits_for_room(Test *test, const void *data)
{
    (void)data;
    const struct rlimit none = {0, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    begin(test, "p");
    uint64_t lost;
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &none), ==, 0);
    trail_note("0123456789ab one");
    g_autofree char *fault = fault_now(&lost);
    for (int tries = 0; tries < 600 && !*fault; tries++) {
        g_usleep(100000);
        g_free(fault);
        fault = fault_now(&lost);
    }
    g_assert_cmpstr(fault, !=, "");
    trail_note("0123456789ab two");
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &all), ==, 0);
    expect_no_fault(&lost);
    g_assert_cmpuint(lost, ==, 0);
    expect(test, "0123456789ab", "p: 0123456789ab one|p: 0123456789ab two");
}

SUITE("trail")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/trail/keys", Test, NULL, set_up, test_keys, tear_down);
    g_test_add("/trail/waits", Test, NULL, set_up, test_waits, tear_down);
    g_test_add("/trail/written without a beat", Test, NULL, set_up, test_written_without_a_beat, tear_down);
    g_test_add("/trail/processes-and-files", Test, NULL, set_up, test_processes_and_files, tear_down);
    g_test_add("/trail/tidied-while-it-grows", Test, NULL, set_up, test_tidied_while_it_grows, tear_down);
    g_test_add("/trail/surplus-goes", Test, NULL, set_up, test_surplus_goes, tear_down);
    g_test_add("/trail/late", Test, NULL, set_up, test_late, tear_down);
    g_test_add("/trail/damage", Test, NULL, set_up, test_damage, tear_down);
    g_test_add("/trail/cannot-be-written", Test, NULL, set_up, test_cannot_be_written, tear_down);
    g_test_add("/trail/waits-for-room", Test, NULL, set_up, test_waits_for_room, tear_down);
    return g_test_run();
}
