/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Tell what the exit of a child means, in words and as an event. */
#include <stdbool.h>
#include <sys/types.h>

/* Describe the end of a child for people: "exit 75 (the system's fault, may pass): TEXT"; g_free(). status is that of
 * waitpid(); fault is the last "fault TEXT" of the child, NULL: none. */
char *reap_text(int status, const char *fault);

/* Return whether the child ended with CHILD_EXIT_CONFIG: a person must mend the configuration before it can work. */
bool reap_is_config(int status);

/* Collect every child of this process that has ended, without waiting for others, and call died() for each. */
void reap_all(void (*died)(pid_t pid, int status, void *data), void *data);
