/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* How held posts and requests are shown where somebody decides about them: from a letter (decide.c) and at the desk. */
#include "lists/moderate.h"
#include "runners/web/web.h"
#include "store/held.h"
#include "store/pending.h"

/* "2026-11-28 01:20 UTC"; g_free(). */
char *waiting_time(int64_t time);

/* number, subject, sender, reasons (in the language of the page), size, since. */
json_t *waiting_post(const WebCall *call, Work *work, const List *list, const Held *held);
/* number, address, name, since, joins. */
json_t *waiting_request(const Pending *request);

/* Set what the template "post" shows of a held post: subject, text, from, to, cc. Files are linked below the path
 * files, "/decide/TOKEN/post/12/file/". */
void waiting_set_mail(const WebCall *call, json_t *view, GBytes *message, const char *files);
/* Answer with the file of this number (text of a path) of a held post. */
void waiting_file(WebCall *call, GBytes *message, const char *number);

/* The numbers behind which a page begins, from its query; 0: at the first. */
ModerateAfter waiting_after(const WebCall *call);
