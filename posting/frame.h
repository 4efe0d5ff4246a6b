/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The texts above and below each copy of a post: the list's settings msg_header and msg_footer, or where one of these
 * is empty a template that somebody set for the list, for its domain or for the site.
 */
#include "posting/post.h"

/* Finds both; g_free(). NULL where there is none, and both for an issue of a digest. Their placeholders are not filled
 * in. Fails when the store does. */
bool frame_find(const Post *post, char **above, char **below, GError **error);
