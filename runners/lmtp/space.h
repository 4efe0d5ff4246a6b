/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Watch the free space of the spool: say whether there is room for a message, and tell the log and the master while
 * mail is refused because min_free is not left.
 *
 * Arriving mail asks for a look. A timer makes looks as well, so that `listrunner status` knows before mail comes and
 * after it has stopped coming. All functions are called by the loop's thread.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Space Space;

/* Begin to watch. directory is that of the spool, least the bytes that are to stay free, [spool] min_free. FAIL_LATER:
 * the directory cannot be opened. */
Space *space_new(struct event_base *base, const char *directory, uint64_t least, GError **error);
void space_free(Space *space);

/* Return true when so many bytes may be written, and least stays free. A look is trusted for 10 ms. */
bool space_has(Space *space, uint64_t wanted);
/* Return the descriptor of the spool's directory, which stays that of space. */
int space_directory(const Space *space);
