/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Reads commands from the Subject and the first of a person's own lines (mail/reply.h).
 *
 * A line is a command only when the whole of it is one ("join", "join address=anne@example.org", "confirm TOKEN"):
 * prose that begins with such a word is not. Lines that are no commands are kept for the answer, and harm nothing.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/message.h"
#include "store/member.h"

typedef enum CommandWord {
    COMMAND_JOIN,
    COMMAND_LEAVE,
    COMMAND_CONFIRM,
    COMMAND_HELP,
    COMMAND_ECHO,
    COMMAND_SET,
    COMMAND_CHANGE,
    COMMAND_WHO,
    COMMAND_INFO,
    COMMAND_LISTS,
    COMMAND_GET,
    COMMAND_WORDS, /* how many there are */
} CommandWord;

/* Whom "who" is to show: -1 all; delivery: 1 those who get mail, 0 the others; digest: 1 those who get digests, 0 the
 * others. */
typedef struct WhoFilter {
    int delivery, digest;
} WhoFilter;

typedef struct MailCommand {
    CommandWord word;
    char *line;     /* as it was written, in valid UTF-8 */
    char *argument; /* address=, the token, the options, the new address, what to echo or to get; NULL: none */
    char *digest;   /* digest=, a word of delivery_mode_of_word(); NULL: not said */
    WhoFilter filter; /* of who */
    bool answers;     /* confirm: the mail answers the letter of this token, and need not say that it confirms */
} MailCommand;

typedef struct MailCommands {
    GPtrArray *commands; /* of MailCommand, each only once */
    GPtrArray *ignored;  /* of char *: lines that are no commands */
    bool stopped;        /* by end or stop */
} MailCommands;

#define COMMAND_LINES_MAX 10 /* lines of the text that are read; empty and quoted ones do not count */

/* How mail is to come, by the word behind "digest=" or "list-join+": no, plain, mime, digest, summary. False: there is
 * no such word. */
bool delivery_mode_of_word(const char *word, DeliveryMode *mode);

/* Numbers of posts: "N", "N..", "N..M"; *last is 0 for "N..". False: it is none of these. */
bool post_range_read(const char *text, int64_t *first, int64_t *last);

/* message is the whole mail. It answers the letter of a token that its address (token; NULL: none) or its Subject
 * brings: this is a command confirm, with `answers` unless the first of the person's own lines is "confirm" or "confirm
 * TOKEN". Programs that answer do not begin so, but some repeat the letter below. */
void mail_commands_read(MailCommands *read, GBytes *message, const char *token);
void mail_commands_clear(MailCommands *read);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MailCommands, mail_commands_clear)
