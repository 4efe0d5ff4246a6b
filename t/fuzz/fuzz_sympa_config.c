/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any bytes as the config of a list of Sympa: names and values are UTF-8 on one line, the numbers of lines ascend, and
 * what was read, written out again, says the same.
 */
#include <string.h>

#include "lists/moving/sympa_config.h"
#include "t/fuzz/fuzz.h"

static void note(unsigned line, const char *text, void *data)
{
    unsigned *last = data;
    require(line > *last && *text);
    *last = line;
}

static void require_line(const char *text)
{
    require(g_utf8_validate(text, -1, NULL) && !strchr(text, '\n'));
}

/* Write the paragraphs, and check them on the way. g_free() */
static char *write_out(const GPtrArray *config)
{
    unsigned last = 0;
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < config->len; i++) {
        const SympaParagraph *paragraph = config->pdata[i];
        require(*paragraph->name && paragraph->line > last);
        require_line(paragraph->value);
        last = paragraph->line;
        g_string_append_printf(text, "%s %s\n", paragraph->name, paragraph->value);
        for (guint j = 0; j < paragraph->entries->len; j++) {
            const SympaEntry *entry = paragraph->entries->pdata[j];
            require(*entry->key && entry->line > last);
            require_line(entry->value);
            last = entry->line;
            g_string_append_printf(text, "%s %s\n", entry->key, entry->value);
        }
        g_string_append_c(text, '\n');
    }
    return g_string_free(text, FALSE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned last = 0, again = 0;
    g_autoptr(GPtrArray) config = sympa_config_read((const char *)data, size, note, &last);
    g_autofree char *text = write_out(config);
    if (size > SYMPA_LINE_MAX / 4) /* a wrong byte becomes three */
        return 0;
    g_autoptr(GPtrArray) second = sympa_config_read(text, strlen(text), note, &again);
    g_autofree char *other = write_out(second);
    require(again == 0 && strcmp(text, other) == 0);
    return 0;
}
