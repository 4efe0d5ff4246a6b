/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Posts of a list's archive by mail: "get 12", "get 12..15", "get 12..". Posts have numbers from 1 on in the order in
 * which they were archived, in the mbox of the first archiver of that type which the list uses. Who may read them, the
 * list's archive_policy says. One letter holds at most GET_POSTS_MAX posts of GET_OCTETS_MAX together; the answer
 * says how to go on.
 */
#include "base/config.h"
#include "runners/command/inform.h"

#define GET_POSTS_MAX 50
#define GET_OCTETS_MAX (1024 * 1024)

/* range is one of post_range_read(). Appends what became of it, and leaves a letter with the posts in the unit of work.
 * FAIL_LATER: the archive cannot be read now. */
bool archive_get(const InformAsked *asked, const Config *config, const char *range, GString *answer, GError **error);
