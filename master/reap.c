/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/reap.h"

#include <glib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/contract.h"

static const char *meaning(int code)
{
    switch (code) {
    case CHILD_EXIT_OK:
        return "left by itself";
    case CHILD_EXIT_USAGE:
        return "called wrongly";
    case CHILD_EXIT_SOFTWARE:
        return "a bug of its own";
    case CHILD_EXIT_LATER:
        return "the system's fault, may pass";
    case CHILD_EXIT_CONFIG:
        return "a person must mend something first";
    default:
        return NULL;
    }
}

char *reap_text(int status, const char *fault)
{
    GString *text = g_string_new(NULL);
    if (WIFSIGNALED(status)) {
        g_string_printf(text, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        const char *known = meaning(WEXITSTATUS(status));
        g_string_printf(text, "exit %d", WEXITSTATUS(status));
        if (known)
            g_string_append_printf(text, " (%s)", known);
    }
    if (fault)
        g_string_append_printf(text, ": %s", fault);
    return g_string_free(text, FALSE);
}

bool reap_is_config(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == CHILD_EXIT_CONFIG;
}

void reap_all(void (*died)(pid_t pid, int status, void *data), void *data)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        died(pid, status, data);
}
