/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make the views of held posts and of requests for the pages where somebody decides about them: those that a letter
 * links to (decide.c), and the desk. */
#include "lists/posts/moderate.h"
#include "runners/web/web.h"
#include "store/people/pending.h"
#include "store/posts/held.h"

/* Return the view of a held post: number, subject, sender, reasons (in the language of the page), size, since. */
json_t *waiting_post(const WebCall *call, Work *work, const List *list, const Held *held);
/* Return the view of a request to join or leave: number, address, name, since, joins. */
json_t *waiting_request(const Pending *request);

/* Set what the template "post" shows of a held post: subject, text, from, to, cc. Its attachments
 * are linked below the path files, "/decide/TOKEN/post/12/file/". */
void waiting_set_mail(const WebCall *call, json_t *view, GBytes *message, const char *files);
/* Answer with the attachment of this number (text of a path) of a held post, whose mail is message. */
void waiting_file(WebCall *call, GBytes *message, const char *number);

/* Read from the query the numbers behind which a page begins; 0: it begins at the first. */
ModerateAfter waiting_after(const WebCall *call);
