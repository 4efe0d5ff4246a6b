/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide about a post that asks to be sent at a later time (mail/send_at.h). The chain of the list decides about it
 * when it comes, as about any other, so its author hears of a refusal at once. A post of an owner or moderator of the
 * list then waits for its time. The author is the one address in From that every program finds there; From does not
 * count where DMARC has failed. The list's moderator password is as good. A post of anybody else is held for a
 * moderator, and waits for its time when it is accepted. A post whose time is over when it comes is treated as one
 * without a time, whoever wrote it. Its author is told.
 */
#include "posting/post.h"

typedef struct Schedule {
    int64_t due;  /* when the post is to be sent, us since 1970, also of one that is held; 0: at once */
    int64_t over; /* the time that the post brought, us since 1970, if it was over when the post came; else 0 */
    char *author; /* the owner or moderator who wrote it. NULL: none of them did, it has the password, or due is 0 */
} Schedule;
void schedule_clear(Schedule *schedule);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Schedule, schedule_clear)

/* Change the chain's verdict about a post that brought this time, and fill *schedule, which the caller has zeroed. An
 * accepted post may become held; an accepted or held one is rejected where the time cannot be read or is too far
 * ahead. With any other verdict nothing is changed. If the time is over, a reason of the post says so. False: the store
 * failed. */
bool schedule_judge(Post *post, const char *time, Verdict *verdict, Schedule *schedule, GError **error);
/* Set schedule->over alone, for a post that was accepted at an earlier try. time may be NULL. */
void schedule_recall(const Post *post, const char *time, Schedule *schedule);
