/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A post that is to be sent at a time (mail/send_at.h). The chain of the list decides about it when it comes, as about
 * any other, so its author hears of a refusal at once. Whoever owns or moderates the list, by the one address in From
 * that every reader finds there, or has its moderator password, needs nothing else; From does not count where DMARC
 * has failed. A post of anybody else is held, since it must not go out before its time; accepted, it waits for that.
 * A post whose time is over when it comes goes as one without a time, of whoever it is, and its author is told.
 */
#include "posting/post.h"

typedef struct Schedule {
    int64_t due;  /* us since 1970; 0: at once */
    int64_t over; /* the time that the post brought, us since 1970, where that is not ahead; 0: it brought none such */
    char *author; /* the owner or moderator on whose word it waits; NULL: none */
} Schedule;
void schedule_clear(Schedule *schedule);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Schedule, schedule_clear)

/* Decide what the time that a post brought makes of the chain's verdict: one that is accepted may be held, and one that
 * is accepted or held is rejected where the time cannot be read or is too far ahead. If the time is over, a reason of
 * the post says so. False: the store failed. */
bool schedule_judge(Post *post, const char *time, Verdict *verdict, Schedule *schedule, GError **error);
/* Set schedule->over alone, for a post that was accepted at an earlier try. time may be NULL. */
void schedule_recall(const Post *post, const char *time, Schedule *schedule);
