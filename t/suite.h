/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors
 *
 * The unit tests of a folder are one program, t/FOLDER/FOLDER-t. Each of its files is a suite:
 *
 *     SUITE("ban")
 *     {
 *         g_test_init(&argc, &argv, NULL);
 *         g_test_add_func("/ban/expires", test_expires);
 *         return g_test_run();
 *     }
 *
 * The body is what main() of a program for this file alone would be, with argc and argv. The name is that of the file
 * below t/FOLDER, without "-t.c". t/suite.c has main(): it runs each suite in a process of its own, as many at a time
 * as there are processors, and prints the results of all as one TAP stream. So a suite may change its environment, its
 * clock, its user and its limits. It shares the files and ports of the machine with the others, as programs do.
 *
 *     t/lists/lists-t                     all suites
 *     t/lists/lists-t -p /ban/expires     the tests of this path in all suites; so any option of GLib's tests
 *     t/lists/lists-t ban [OPTION...]     this suite, in the process itself, as a debugger wants it
 */
#pragma once

typedef struct Suite Suite;
struct Suite {
    const char *name;
    int (*run)(int argc, char **argv);
    Suite *next; /* set by suite_add() */
};

/* Add a suite to those of the program. SUITE() calls it before main(). The suite stays the caller's. */
void suite_add(Suite *suite);

#define SUITE(file)                                                        \
    static int suite_main(int argc, char **argv);                          \
    __attribute__((constructor)) static void suite_known(void)             \
    {                                                                      \
        static Suite suite = {.name = file, .run = suite_main};            \
        suite_add(&suite);                                                 \
    }                                                                      \
    static int suite_main(int argc, char **argv)
