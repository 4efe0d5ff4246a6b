/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Answer the command "get", which asks for posts of a list's archive by mail: "get 12", "get 12..15", "get 12..".
 * Posts have numbers from 1 on in the order in which they were archived, in the mbox of the first archiver of type
 * mbox that the list uses. The list's archive_policy says who may read them. One letter holds at most GET_POSTS_MAX
 * posts of GET_OCTETS_MAX together; the answer says how to go on.
 */
#include "base/config.h"
#include "runners/command/inform.h"

#define GET_POSTS_MAX 50
#define GET_OCTETS_MAX (1024 * 1024)

/* Answer one command; range is a text for post_range_read(). Append what became of it to answer, and leave a letter
 * with the posts in the unit of work (asked->work). FAIL_LATER: the archive cannot be read now. */
bool archive_get(const InformAsked *asked, const Config *config, const char *range, GString *answer, GError **error);
