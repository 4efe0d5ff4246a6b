/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner bounce parse: what reports of failed delivery say; it needs neither configuration nor instance. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "mail/bounce/bounce.h"

/* RecipientField is one thing that a row tells of a recipient; a value may be NULL. */
typedef struct RecipientField {
    const char *key, *value;
} RecipientField;
#define RECIPIENT_FIELDS 9

static void recipient_fields(const BounceRecipient *recipient, RecipientField fields[RECIPIENT_FIELDS])
{
    const RecipientField all[RECIPIENT_FIELDS] = {
        {"address", recipient->address},
        {"known_as", recipient->known_as},
        {"class", bounce_class_name(recipient->class)},
        {"outcome", bounce_outcome(recipient->class)},
        {"status", *recipient->status ? recipient->status : NULL},
        {"phase", recipient->phase ? bounce_phase_name(recipient->phase) : NULL},
        {"about", bounce_about_name(recipient->about)},
        {"reason", recipient->reason},
        {"text", recipient->text},
    };
    memcpy(fields, all, sizeof all);
}

/* Appends a JSON string, or null. Thousands of reports are read at once, and trees of jansson cost as much as reading
 * them. */
static void put_text(GString *out, const char *text)
{
    if (!text) {
        g_string_append(out, "null");
        return;
    }
    g_autofree char *valid = g_utf8_validate(text, -1, NULL) ? NULL : g_utf8_make_valid(text, -1);
    g_string_append_c(out, '"');
    for (const char *at = valid ? valid : text; *at;) {
        size_t plain = 0;
        while ((unsigned char)at[plain] >= ' ' && at[plain] != '"' && at[plain] != '\\')
            plain++;
        g_string_append_len(out, at, (gssize)plain);
        at += plain;
        if (*at == '"' || *at == '\\')
            g_string_append_printf(out, "\\%c", *at++);
        else if (*at)
            g_string_append_printf(out, "\\u%04x", (unsigned)*at++);
    }
    g_string_append_c(out, '"');
}

static void put_recipient(GString *out, const BounceRecipient *recipient)
{
    RecipientField fields[RECIPIENT_FIELDS];
    recipient_fields(recipient, fields);
    for (size_t at = 0; at < RECIPIENT_FIELDS; at++) {
        g_string_append(out, at == 0 ? "{\"" : ",\"");
        g_string_append(out, fields[at].key);
        g_string_append(out, "\":");
        put_text(out, fields[at].value);
    }
    g_string_append_c(out, '}');
}

/* The addresses that did or did not fail for good. */
static void put_addresses(GString *out, const Bounce *bounce, bool permanent)
{
    bool any = false;
    for (guint at = 0; at < bounce->recipients->len; at++) {
        const BounceRecipient *recipient = bounce->recipients->pdata[at];
        if (recipient->class == BOUNCE_COMPLAINT || (recipient->class == BOUNCE_PERMANENT) != permanent)
            continue;
        if (any)
            g_string_append_c(out, ',');
        put_text(out, recipient->address);
        any = true;
    }
}

static void show_json(const char *name, const Bounce *bounce)
{
    g_autoptr(GString) out = g_string_sized_new(1024);
    g_string_append(out, "{\"file\":");
    put_text(out, name);
    g_string_append(out, ",\"kind\":");
    put_text(out, bounce_kind_name(bounce->kind));
    g_string_append(out, ",\"recipients\":[");
    for (guint at = 0; at < bounce->recipients->len; at++) {
        if (at > 0)
            g_string_append_c(out, ',');
        put_recipient(out, bounce->recipients->pdata[at]);
    }
    g_string_append(out, "],\"permanent\":[");
    put_addresses(out, bounce, true);
    g_string_append(out, "],\"temporary\":[");
    put_addresses(out, bounce, false);
    g_string_append(out, "]}\n");
    fwrite(out->str, 1, out->len, stdout);
}

static void show_rows(Listing *listing, const char *name, const Bounce *bounce)
{
    if (bounce->recipients->len == 0)
        listing_row(listing, json_pack("{so ss}", "file", listing_text(name), "kind", bounce_kind_name(bounce->kind)));
    for (guint at = 0; at < bounce->recipients->len; at++) {
        RecipientField fields[RECIPIENT_FIELDS];
        recipient_fields(bounce->recipients->pdata[at], fields);
        json_t *row = json_pack("{so ss}", "file", listing_text(name), "kind", bounce_kind_name(bounce->kind));
        for (size_t i = 0; i < RECIPIENT_FIELDS; i++)
            json_object_set_new(row, fields[i].key, listing_text(fields[i].value));
        listing_row(listing, row);
    }
}

static bool parse_file(Listing *listing, const char *path, GError **error)
{
    g_autoptr(InputFile) file = input_open(path, error);
    g_autoptr(GBytes) octets = file ? input_read(file, path, error) : NULL;
    if (!octets)
        return false;
    gsize length;
    const char *text = g_bytes_get_data(octets, &length);
    g_autoptr(Bounce) bounce = bounce_parse(text, length);
    g_autofree char *name = g_path_get_basename(path);
    if (json_option)
        show_json(name, bounce);
    else
        show_rows(listing, name, bounce);
    return true;
}

static int run_parse(Site *site, int argc, char **argv, GError **error)
{
    (void)site;
    (void)error;
    static const Column columns[] = {
        {"file", "FILE", COLUMN_TEXT},         {"kind", "KIND", COLUMN_TEXT},       {"address", "ADDRESS", COLUMN_TEXT},
        {"known_as", "KNOWN AS", COLUMN_TEXT}, {"class", "CLASS", COLUMN_TEXT},     {"outcome", "OUTCOME", COLUMN_TEXT},
        {"status", "STATUS", COLUMN_TEXT},     {"reason", "REASON", COLUMN_TEXT},   {"text", "TEXT", COLUMN_TEXT},
        {NULL, NULL, COLUMN_TEXT},
    };
    g_autoptr(Listing) listing = listing_new(columns, false);
    int code = TOOL_OK;
    for (int at = 0; at < argc; at++) {
        g_autoptr(GError) fault = NULL;
        if (!parse_file(listing, argv[at], &fault)) { /* the other files are read all the same */
            plain_complain("listrunner bounce parse: %s", fault->message);
            code = MAX(code, command_exit_code(fault));
        }
    }
    return code;
}

static const GOptionEntry parse_options[] = {
    {"json", 0, 0, G_OPTION_ARG_NONE, &json_option, "one JSON object a mail", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command cmd_bounce_parse = {
    .name = "parse",
    .arguments = "FILE...",
    .summary = "Show which recipients a report of failed delivery names, how they failed and why",
    .details = "One mail a file, - for standard input. No configuration and no instance are needed.",
    .least = 1,
    .most = -1,
    .options = parse_options,
    .run = run_parse,
};

static const Command *const verbs[] = {&bounce_ls,   &bounce_show, &bounce_stat, &bounce_reset_verb, &cmd_bounce_parse,
                                       &bounce_rotate, NULL};

const Command cmd_bounce = {
    .name = "bounce",
    .arguments = "",
    .summary = "Show whose mail comes back, begin anew, read reports of failed delivery",
    .verbs = verbs,
};
