/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Extract the text that a person wrote in answer to a mail. It leaves out what the mail program put around it: the
 * localized "Re:" of the Subject, the signature, "Sent from my ...", and the HTML alternative. It also leaves out
 * quoted lines with the line that says who wrote them, and the original below an Outlook header block.
 */
#include <glib.h>

#include "mail/message.h"

/* Return the length of "Re:", "AW[2] :", "答复：" and the like at the start of a decoded Subject; 0: there is none. */
size_t reply_mark_length(const char *subject);
/* Return the same of "Fwd:", "WG:", "转发：" and the like. */
size_t reply_forward_length(const char *subject);

/* Return the decoded Subject behind "Re:", "AW[2]:", "回复：", "RV:" and the like, however many, without blanks around;
 * "" when there is no Subject. g_free(). */
char *reply_subject(const Message *message);

/* Return the first text/plain of the mail (lines of format=flowed are joined) or, where it has none, its first HTML
 * without tags: UTF-8, line ends LF, at most REPLY_TEXT_MAX bytes; g_string_free(). NULL: the mail has no text. */
#define REPLY_TEXT_MAX (64 * 1024)
GString *reply_text(GBytes *message);

/* Return the lines of a text of reply_text() that the person wrote in answer: valid UTF-8 without blanks around, and
 * empty lines only between others. Blanks of all kinds are plain ones, and there are no zero-width spaces. The array
 * frees its char *. */
GPtrArray *reply_own_lines(const char *text);

/* Return a line of these, or a subject, without what may stand around a command: a bullet, emphasis (*accept*),
 * brackets and quotation marks around the line or a word, full stops and "please" or "thanks" at the end, hidden
 * characters. It strips prose in the same way, so take the result for a command only if the whole of it is one. A line
 * of more than REPLY_COMMAND_MAX bytes is returned as it is. g_free(). */
#define REPLY_COMMAND_MAX 400
char *reply_command(const char *line);
