/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Name the types of events (lists/event.h), and match them with the words that settings use for them. */
#include <glib.h>
#include <stdbool.h>

#define EVENT_POST_ACCEPTED "post.accepted"
#define EVENT_POST_HELD "post.held"
#define EVENT_POST_REJECTED "post.rejected"
#define EVENT_POST_DISCARDED "post.discarded"
#define EVENT_POST_DECIDED "post.decided"   /* a held post was decided: by a moderator, its sender or time */
#define EVENT_MEMBER_JOINED "member.joined"
#define EVENT_MEMBER_LEFT "member.left"
#define EVENT_MEMBER_DISABLED "member.disabled" /* by bounces */
#define EVENT_REQUEST_OPENED "request.opened"
#define EVENT_REQUEST_DECIDED "request.decided"
#define EVENT_LIST_CREATED "list.created"
#define EVENT_LIST_REMOVED "list.removed"

/* Is the word of a setting a type of event, or a pattern that at least one type fits: "member.*" or "*"? */
bool event_known(const char *word);
/* Does the word of a setting, a type or a pattern, include this type? */
bool event_fits(const char *word, const char *type);
