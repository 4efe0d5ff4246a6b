/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Show on a page of the desk what a change would have done with earlier mail (doc/try.md). The page is answered in two
 * parts: the change and its form at once, and what became of the trial when that has ended. The trial is the program
 * `listrunner list try` in a process of its own; it is killed when it takes longer than trial_timeout, when the client
 * goes away, and when this process ends.
 */
#include "runners/web/desk.h"

/* Answer with the template NAME, which ends with {{>desk_trying}}, and behind it what the change (taken) would have
 * done. The change is an object as --from-json of `listrunner list try` takes it. view is taken; status is 200 or
 * 409. */
void desk_try(const Desk *desk, int status, const char *name, json_t *view, json_t *change);

/* End all trials; for web_stop(). */
void desk_try_stop(Web *web);
