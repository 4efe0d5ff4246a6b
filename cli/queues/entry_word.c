/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queues/entry_word.h"

#include <string.h>

#include "cli/command.h"

bool entry_word_parse(const char *text, EntryWord *word, GError **error)
{
    *word = (EntryWord){.text = text};
    if (name_parse(text, &word->name, NULL))
        return true;
    word->digits = text;
    size_t length = strlen(text);
    if (length >= ENTRY_WORD_DIGITS_MIN && length <= HASH_DIGITS && strspn(text, "0123456789abcdef") == length)
        return true;
    g_autofree char *shown = g_utf8_make_valid(text, -1);
    command_usage(error, "'%s' is neither the name of an entry nor at least %d digits of its hash", shown,
                  ENTRY_WORD_DIGITS_MIN);
    return false;
}

bool entry_word_means(const EntryWord *word, const EntryName *name)
{
    if (!word->digits)
        return name_compare(name, &word->name) == 0;
    char digits[HASH_DIGITS + 1];
    name_hash_format(name->hash, digits);
    return g_str_has_prefix(digits, word->digits);
}
