/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Find out whether a program may answer a mail, and whether a mail is such an answer (RFC 3834). */
#include <stdbool.h>

#include "mail/message.h"

/* May a program answer this mail (section 2)? It may not when the mail's fields, or a Subject such as "Automatic reply:
 * ..." in one of two dozen languages, show that a program wrote it; nor when the mail came from a list, is a report, or
 * has no valid sender. sender is that of the envelope, "" for the null sender. */
bool answer_allowed(const char *sender, const Message *message);

/* May a program answer the author of a post that a list has sent out, and to which it has added fields of its own? It
 * may as answer_allowed() has it, but for the fields that lists have. */
bool answer_allowed_for_post(const char *sender, const Message *message);

/* Did a program write this because it got a mail: is its Auto-Submitted "auto-replied" (section 5)? Mail that a program
 * writes for another reason, such as "auto-generated" mail about commits, is none. */
bool answer_is_automatic(const Message *message);

/* Is it a report or an answer that a program wrote without saying "auto-replied"? So is mail with the null sender of an
 * envelope ("", or "#@[]" as qmail writes it), a multipart/report, mail with Precedence: junk, and auto-generated mail
 * with a Subject of such answers. Other auto-generated mail is none, also where it refers to an earlier one: so bug
 * trackers and mail about commits make their threads. */
bool answer_is_report(const char *sender, const Message *message);
