/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Mail of any bytes with commands: each that is read can be answered, and what an answer repeats is short UTF-8. */
#include <string.h>

#include "lists/people/options.h"
#include "runners/command/parse.h"
#include "store/people/pending.h"
#include "t/fuzz/fuzz.h"

static void check(const MailCommand *command)
{
    DeliveryMode mode;
    g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE;
    g_autoptr(GError) error = NULL;
    require(g_utf8_validate(command->line, -1, NULL) && !strpbrk(command->line, "\r\n"));
    require(!command->argument || g_utf8_validate(command->argument, -1, NULL));
    require(!command->digest || delivery_mode_of_word(command->digest, &mode));
    require(command->word != COMMAND_CONFIRM || pending_token_is_one(command->argument));
    if (command->word == COMMAND_SET && command->argument && options_read(&options, command->argument, &error)) {
        g_auto(MemberOptions) again = MEMBER_OPTIONS_NONE;
        g_autofree char *text = options_text(&options);
        require(options_read(&again, text, NULL));
        g_autofree char *same = options_text(&again);
        require(strcmp(text, same) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GBytes) octets = g_bytes_new(data, size);
    g_auto(MailCommands) read = {0};
    mail_commands_read(&read, octets, NULL);
    require(read.commands->len <= COMMAND_LINES_MAX + 1 && read.ignored->len <= COMMAND_LINES_MAX);
    for (unsigned at = 0; at < read.commands->len; at++)
        check(read.commands->pdata[at]);
    for (unsigned at = 0; at < read.ignored->len; at++) {
        const char *line = read.ignored->pdata[at];
        require(g_utf8_validate(line, -1, NULL) && g_utf8_strlen(line, -1) <= 200);
    }
    return 0;
}
