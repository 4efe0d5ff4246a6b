/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/setup_run.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/fail.h"
#include "base/program.h"

#define PATIENCE (120 * G_USEC_PER_SEC)
#define OUTPUT_MAX (1024 * 1024)

extern char **environ;

/* The programs of an MTA are in directories that root alone may have in PATH. g_strfreev() */
static char **own_environment(void)
{
    const char *path = g_getenv("PATH");
    g_autofree char *longer = g_strconcat(path ? path : "", path && *path ? ":" : "", "/usr/local/sbin:/usr/sbin:/sbin",
                                          NULL);
    return g_environ_setenv(g_get_environ(), "PATH", longer, TRUE);
}

char *setup_output(const char *const *words, GError **error)
{
    int code;
    g_autoptr(GBytes) nothing = g_bytes_new_static("", 0), written = NULL;
    g_auto(GStrv) environment = own_environment();
    const Program program = {
        .words = (char *const *)words, .environment = environment, .timeout = PATIENCE, .output_max = OUTPUT_MAX};
    if (!program_run(&program, nothing, &code, &written, error))
        return NULL;
    if (code != 0) {
        fail(error, FAIL_LATER, "%s ended with code %d", *words, code);
        return NULL;
    }
    gsize length;
    const char *text = g_bytes_get_data(written, &length);
    char *output = g_strndup(length > 0 ? text : "", length);
    if (length > 0 && output[length - 1] == '\n')
        output[length - 1] = '\0';
    return output;
}

bool setup_run(const char *const *words, int *code, GError **error)
{
    pid_t pid;
    int status;
    g_auto(GStrv) environment = own_environment();
    fflush(stdout);
    int fault = posix_spawnp(&pid, *words, NULL, NULL, (char *const *)words, environment);
    if (fault != 0) {
        errno = fault;
        return fail_errno(error, FAIL_LATER, "run %s", *words);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

bool setup_verb(const char *config, const char *const *words, int *code, GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    g_autofree char *program = g_file_read_link("/proc/self/exe", error);
    if (!program)
        return false;
    g_ptr_array_add(all, program);
    g_ptr_array_add(all, (char *)"-c");
    g_ptr_array_add(all, (char *)config);
    for (; *words; words++)
        g_ptr_array_add(all, (char *)*words);
    g_ptr_array_add(all, NULL);
    return setup_run((const char *const *)all->pdata, code, error);
}

bool setup_has_program(const char *name)
{
    g_auto(GStrv) environment = own_environment();
    g_auto(GStrv) places = g_strsplit(g_environ_getenv(environment, "PATH"), ":", -1);
    bool there = false;
    for (char **place = places; *place && !there; place++) {
        g_autofree char *path = g_build_filename(*place, name, NULL);
        there = g_file_test(path, G_FILE_TEST_IS_EXECUTABLE) && !g_file_test(path, G_FILE_TEST_IS_DIR);
    }
    return there;
}
