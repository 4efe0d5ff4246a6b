/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find the texts that stand above and below each copy of a post. They are the list's settings msg_header and
 * msg_footer. Where one of these is empty, it is a template that somebody set for the list, for its domain or for the
 * site.
 */
#include "posting/post.h"

/* Set *above and *below to the texts, with their placeholders not filled in yet; g_free(). NULL: there is no such text;
 * an issue of a digest has neither. False: the store failed, and *above is NULL. */
bool frame_find(const Post *post, char **above, char **below, GError **error);
