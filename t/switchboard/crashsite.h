/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Where in the code a durable call is made. For crash_states-t the switchboard and base/fs.c are compiled so that each
 * of their functions tells when it begins and ends (-finstrument-functions, librecorded.a): what else a compiler makes
 * of calls does not matter then. The functions of the tests tell nothing, so they are no part of any place.
 */

/* The chain of calls from where a test called that code to the caller of this, outermost first: the first function,
 * then the place in it from which the next was called, and so on, as addr2line(1) takes them. Interned: equal for
 * equal places. */
const char *crashsite_here(void);
