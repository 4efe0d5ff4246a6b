/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/command/parse.h"

#include <string.h>

#include "base/mailbox.h"
#include "lists/letters/token_return.h"
#include "lists/people/options.h"
#include "mail/text/reply.h"
#include "store/people/pending.h"

#define LINE_MAX_CHARS 200 /* of a line that is repeated in the answer */

static void command_free(void *data)
{
    MailCommand *command = data;
    g_free(command->line);
    g_free(command->argument);
    g_free(command->digest);
    g_free(command);
}

void mail_commands_clear(MailCommands *read)
{
    g_clear_pointer(&read->commands, g_ptr_array_unref);
    g_clear_pointer(&read->ignored, g_ptr_array_unref);
}

/* ---- one line ---- */

bool delivery_mode_of_word(const char *word, DeliveryMode *mode)
{
    static const struct {
        const char *word;
        DeliveryMode mode;
    } words[] = {{"no", MODE_REGULAR}, {"regular", MODE_REGULAR}, {"plain", MODE_PLAINTEXT_DIGESTS},
                 {"mime", MODE_MIME_DIGESTS}, {"digest", MODE_MIME_DIGESTS}, {"summary", MODE_SUMMARY_DIGESTS}};
    for (size_t at = 0; at < G_N_ELEMENTS(words); at++)
        if (g_ascii_strcasecmp(words[at].word, word) == 0) {
            *mode = words[at].mode;
            return true;
        }
    return false;
}

/* join and leave: digest=no|mime|plain|summary, address=X, each at most once. */
static bool read_options(MailCommand *command, char **words)
{
    for (; *words; words++) {
        bool address = g_ascii_strncasecmp(*words, "address=", 8) == 0;
        bool digest = g_ascii_strncasecmp(*words, "digest=", 7) == 0;
        char **to = address ? &command->argument : &command->digest;
        if ((!address && !digest) || *to)
            return false;
        *to = address ? g_strdup(*words + 8) : g_ascii_strdown(*words + 7, -1);
    }
    DeliveryMode mode;
    return !command->digest || delivery_mode_of_word(command->digest, &mode);
}

bool post_range_read(const char *text, int64_t *first, int64_t *last)
{
    size_t digits = strspn(text, "0123456789");
    const char *rest = text + digits;
    *first = g_ascii_strtoll(text, NULL, 10);
    *last = *first;
    if (digits == 0 || digits > 15 || *first == 0)
        return false;
    if (!*rest)
        return true;
    if (strncmp(rest, "..", 2) != 0 || strspn(rest + 2, "0123456789") != strlen(rest + 2) || strlen(rest + 2) > 15)
        return false;
    *last = g_ascii_strtoll(rest + 2, NULL, 10);
    return !rest[2] || *last >= *first;
}

/* who: delivery=enabled|disabled, mode=digest|regular, each at most once. */
static bool read_filter(MailCommand *command, char **words)
{
    static const struct {
        const char *word;
        bool digest;
        int value;
    } known[] = {{"delivery=enabled", false, 1}, {"delivery=disabled", false, 0},
                 {"mode=digest", true, 1}, {"mode=regular", true, 0}};
    command->filter = (WhoFilter){-1, -1};
    for (; *words; words++) {
        size_t at = 0;
        while (at < G_N_ELEMENTS(known) && g_ascii_strcasecmp(known[at].word, *words) != 0)
            at++;
        if (at == G_N_ELEMENTS(known))
            return false;
        int *field = known[at].digest ? &command->filter.digest : &command->filter.delivery;
        if (*field >= 0)
            return false;
        *field = known[at].value;
    }
    return true;
}

/* Does the line say a command? NULL: no. */
static MailCommand *read_command(const char *line)
{
    g_auto(GStrv) split = g_strsplit_set(line, " \t", -1);
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    for (char **word = split; *word; word++)
        if (**word)
            g_ptr_array_add(words, *word);
    if (words->len == 0)
        return NULL;
    g_ptr_array_add(words, NULL);
    char **rest = (char **)words->pdata + 1;
    g_autofree char *word = g_ascii_strdown(words->pdata[0], -1);
    MailCommand *command = g_new0(MailCommand, 1);
    command->line = g_strdup(line);
    bool good = !rest[0]; /* commands of one word say no more */
    if (g_str_equal(word, "help")) {
        command->word = COMMAND_HELP;
    } else if (g_str_equal(word, "info")) {
        command->word = COMMAND_INFO;
    } else if (g_str_equal(word, "lists")) {
        command->word = COMMAND_LISTS;
    } else if (g_str_equal(word, "join") || g_str_equal(word, "subscribe")) {
        command->word = COMMAND_JOIN;
        good = read_options(command, rest);
    } else if (g_str_equal(word, "leave") || g_str_equal(word, "unsubscribe")) {
        command->word = COMMAND_LEAVE;
        good = read_options(command, rest) && !command->digest;
    } else if (g_str_equal(word, "confirm")) {
        command->word = COMMAND_CONFIRM;
        good = rest[0] && !rest[1] && pending_token_is_one(rest[0]);
        command->argument = good ? g_strdup(rest[0]) : NULL;
    } else if (g_str_equal(word, "set")) {
        command->word = COMMAND_SET;
        g_autofree char *name = rest[0] ? g_strndup(rest[0], strcspn(rest[0], "=")) : NULL;
        good = !name || option_is_one(name); /* then what follows is meant for it, right or wrong */
        command->argument = name ? g_strjoinv(" ", rest) : NULL;
    } else if (g_str_equal(word, "change")) {
        command->word = COMMAND_CHANGE;
        bool named = rest[0] && g_ascii_strncasecmp(rest[0], "address=", 8) == 0;
        good = rest[0] && !rest[1] && mailbox_valid(rest[0] + (named ? 8 : 0));
        command->argument = good ? g_strdup(rest[0] + (named ? 8 : 0)) : NULL;
    } else if (g_str_equal(word, "who")) {
        command->word = COMMAND_WHO;
        good = read_filter(command, rest);
        command->argument = good && rest[0] ? g_strjoinv(" ", rest) : NULL;
    } else if (g_str_equal(word, "get")) {
        int64_t first, last;
        command->word = COMMAND_GET;
        good = rest[0] && !rest[1] && post_range_read(rest[0], &first, &last);
        command->argument = good ? g_strdup(rest[0]) : NULL;
    } else if (g_str_equal(word, "echo")) {
        command->word = COMMAND_ECHO;
        command->argument = g_strjoinv(" ", rest);
        good = true;
    } else {
        good = false;
    }
    if (!good)
        g_clear_pointer(&command, command_free);
    return command;
}

static MailCommand *find_same(const MailCommands *read, CommandWord word, const char *argument)
{
    for (unsigned at = 0; at < read->commands->len; at++) {
        MailCommand *other = read->commands->pdata[at];
        if (other->word == word && g_strcmp0(other->argument, argument) == 0)
            return other;
    }
    return NULL;
}

/* True when the line is a command, or ends them. */
static bool add_line(MailCommands *read, const char *line)
{
    if (g_ascii_strcasecmp(line, "end") == 0 || g_ascii_strcasecmp(line, "stop") == 0) {
        read->stopped = true;
        return true;
    }
    MailCommand *command = read_command(line);
    if (!command) { /* echo takes all that follows, so marks around it are no sign of a command */
        g_autofree char *bare = reply_command(line);
        command = read_command(bare);
        if (command && command->word == COMMAND_ECHO)
            g_clear_pointer(&command, command_free);
    }
    if (!command)
        return false;
    if (find_same(read, command->word, command->argument))
        command_free(command);
    else
        g_ptr_array_add(read->commands, command);
    return true;
}

/* ---- the letter that is answered ---- */

static void add_answered(MailCommands *read, const char *token)
{
    MailCommand *command = g_new0(MailCommand, 1);
    command->word = COMMAND_CONFIRM;
    command->line = g_strconcat("confirm ", token, NULL);
    command->argument = g_strdup(token);
    command->answers = true;
    g_ptr_array_add(read->commands, command);
}

void mail_commands_read(MailCommands *read, GBytes *message, const char *token)
{
    *read = (MailCommands){.commands = g_ptr_array_new_with_free_func(command_free),
                           .ignored = g_ptr_array_new_with_free_func(g_free)};
    g_autoptr(Message) parsed = message_new(message);
    if (token)
        add_answered(read, token);
    g_autofree char *subject = reply_subject(parsed), *returned = token_return_in(subject);
    if (*subject && !add_line(read, subject) && returned && !find_same(read, COMMAND_CONFIRM, returned))
        add_answered(read, returned);
    GString *text = read->stopped ? NULL : reply_text(message);
    if (!text)
        return;

    /* The first line may confirm what the mail answers, or repeat its command: then the sender says so himself. */
    unsigned count = 0;
    g_autoptr(GPtrArray) lines = reply_own_lines(text->str);
    MailCommand *first = read->commands->len > 0 ? read->commands->pdata[0] : NULL;
    MailCommand *answered = first && first->answers ? first : NULL;
    for (unsigned at = 0; at < lines->len && !read->stopped && count < COMMAND_LINES_MAX; at++) {
        const char *line = lines->pdata[at];
        if (!*line)
            continue;
        g_autofree char *bare = reply_command(line);
        if (count++ == 0 && answered &&
            (g_ascii_strcasecmp(bare, "confirm") == 0 || g_ascii_strcasecmp(bare, answered->line) == 0))
            answered->answers = false;
        else if (!add_line(read, line))
            g_ptr_array_add(read->ignored, g_utf8_substring(line, 0, MIN(g_utf8_strlen(line, -1), LINE_MAX_CHARS)));
    }
    g_string_free(text, TRUE);
}
