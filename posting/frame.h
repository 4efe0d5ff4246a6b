/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The texts above and below each copy of a post: the list's settings msg_header and msg_footer, or where one of these
 * is empty a template that somebody set for the list, for its domain or for the site.
 */
#include "posting/post.h"

/* Find both texts, with their placeholders not filled in yet; g_free(). NULL: there is none; an issue of a digest has
 * neither. False: the store failed. */
bool frame_find(const Post *post, char **above, char **below, GError **error);
