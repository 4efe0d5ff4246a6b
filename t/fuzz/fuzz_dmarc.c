/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* DMARC with a DNS that anybody may have filled. The first line is the author's domain, the second that of a signature;
 * each further line is what the next name that is asked for has: "!" no answer, "?" none yet, else a TXT record, or two
 * with a tab between them. */
#include <string.h>

#include "mail/auth/dmarc.h"
#include "mail/domain_name.h"
#include "t/fuzz/fuzz.h"

typedef struct Script {
    char **lines;
    GHashTable *places; /* name -> its line, counted from 1 */
    char **texts;       /* of the last answer */
} Script;

static NamesAnswer text(void *data, const char *name, const char *const **texts)
{
    Script *script = data;
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(script->places, name));
    if (place == 0) {
        place = g_hash_table_size(script->places) + 1;
        g_hash_table_insert(script->places, g_strdup(name), GUINT_TO_POINTER(place));
    }
    if (place > g_strv_length(script->lines) || !*script->lines[place - 1])
        return NAMES_NONE;
    const char *line = script->lines[place - 1];
    g_strfreev(script->texts);
    script->texts = g_strsplit(line, "\t", 2);
    *texts = (const char *const *)script->texts;
    return *line == '!' ? NAMES_TROUBLE : *line == '?' ? NAMES_PENDING : NAMES_FOUND;
}

static NamesAnswer exists(void *data, const char *name)
{
    return strlen(name) % 2 ? NAMES_FOUND : NAMES_NONE;
}

static void read_records(char **lines)
{
    for (; *lines; lines++) {
        DmarcRecord record;
        if (dmarc_record_read(*lines, &record) == DMARC_VALID)
            require(dmarc_applied(&record) <= record.policy);
    }
}

/* Eight questions find the organization, and it is the domain or one above it. */
static void find_organization(Script *script, const Names *names, const char *domain)
{
    g_autofree char *organization = NULL, *ascii = domain_name_ascii(domain);
    if (dmarc_organization(names, domain, &organization) == NAMES_FOUND)
        require(domain_name_within(ascii, organization));
    require(g_hash_table_size(script->places) <= 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *input = g_strndup((const char *)data, size), *where = NULL;
    g_auto(GStrv) parts = g_strsplit(input, "\n", 3);
    if (g_strv_length(parts) < 3)
        return 0;
    Script script = {.lines = g_strsplit(parts[2], "\n", 40),
                     .places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    Names names = {text, exists, &script};
    DmarcRecord record;
    read_records(script.lines);
    find_organization(&script, &names, parts[0]);
    NamesAnswer found = dmarc_find(&names, parts[0], &record, &where);
    require((found == NAMES_FOUND) == (where != NULL));
    NamesAnswer one = dmarc_aligned(&names, parts[1], parts[0], false);
    NamesAnswer other = dmarc_aligned(&names, parts[0], parts[1], false);
    if (one <= NAMES_NONE && other <= NAMES_NONE)
        require(one == other);
    if (dmarc_aligned(&names, parts[1], parts[0], true) == NAMES_FOUND)
        require(one == NAMES_FOUND);
    require(g_hash_table_size(script.places) <= 16);
    g_strfreev(script.lines);
    g_strfreev(script.texts);
    g_hash_table_unref(script.places);
    return 0;
}
