/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Tell what the exit of a child means, in words and as an event. */
#include <stdbool.h>
#include <sys/types.h>

/* status is waitpid()'s; fault (may be NULL) is what the child said last. g_free(). */
char *reap_text(int status, const char *fault);

/* A person must mend the configuration first. */
bool reap_is_config(int status);

/* Collect every dead child of this process. */
void reap_all(void (*died)(pid_t pid, int status, void *data), void *data);
