/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read commands by mail from the Subject and from the first of the lines that the sender wrote (mail/text/reply.h), not
 * those that a mail program quoted.
 *
 * A line is a command only when the whole of it is one ("join", "join address=anne@example.org", "confirm TOKEN"):
 * prose that begins with such a word is not. Marks around a command do not matter: see reply_command() in
 * mail/text/reply.h. Lines that are no commands are kept for the answer, and harm nothing.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/message.h"
#include "store/people/member.h"

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
    char *line;     /* without marks around it, in valid UTF-8 */
    char *argument; /* address=, the token, the options, the new address, what to echo or to get; NULL: none */
    char *digest;   /* digest=, a word of delivery_mode_of_word(); NULL: not said */
    WhoFilter filter; /* of who */
    bool answers;     /* of confirm: the mail is a reply to the letter, and does not say "confirm" itself */
} MailCommand;

typedef struct MailCommands {
    GPtrArray *commands; /* of MailCommand, each only once */
    GPtrArray *ignored;  /* of char *: lines that are no commands */
    bool stopped;        /* by end or stop */
} MailCommands;

#define COMMAND_LINES_MAX 10 /* lines of the text that are read; empty and quoted ones do not count */

/* Read how mail is to come from the word behind "digest=" or "list-join+": no, plain, mime, digest, summary. False: it
 * is no such word. */
bool delivery_mode_of_word(const char *word, DeliveryMode *mode);

/* Read numbers of posts: "N", "N..", "N..M"; *last is 0 for "N..". False: the text is none of these. */
bool post_range_read(const char *text, int64_t *first, int64_t *last);

/* Read the commands of a whole mail into *read, which is to be cleared. A mail is a reply to the letter with a token
 * when the address that it came to (token; NULL: none) or its Subject brings that token. Such a mail is a command
 * confirm. Its `answers` is set unless the sender's first line is "confirm" or "confirm TOKEN": programs that reply by
 * themselves do not begin so, though some repeat the letter below. */
void mail_commands_read(MailCommands *read, GBytes *message, const char *token);
void mail_commands_clear(MailCommands *read);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MailCommands, mail_commands_clear)
