/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out where in the code a durable call is made. For crash_states-t the switchboard and base/fs.c are compiled so
 * that each of their functions reports when it begins and ends (-finstrument-functions, librecorded.a). So it does not
 * matter which calls a compiler makes inline. Functions of the tests report nothing, and are no part of a place.
 */

/* Return the place of the caller, as a text that is interned, so equal places have equal pointers. It is the chain of
 * calls from the test to the caller, outermost first, in the form that addr2line(1) takes: the first function, then the
 * address in it from which the next was called, and so on. */
const char *crashsite_here(void);
