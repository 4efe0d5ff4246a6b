/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner bounce parse: what reports of failed delivery say; it needs neither configuration nor instance. */
#include <stdio.h>

#include "cli/bounce_records.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "mail/bounce.h"

static gboolean json;

static json_t *recipient_json(const BounceRecipient *recipient)
{
    return json_pack("{so so ss ss so ss so}", "address", listing_text(recipient->address), "known_as",
                     listing_text(recipient->known_as), "class", bounce_class_name(recipient->class), "outcome",
                     bounce_outcome(recipient->class), "status",
                     *recipient->status ? listing_text(recipient->status) : json_null(), "reason", recipient->reason,
                     "text", listing_text(recipient->text));
}

static void show_json(const char *name, const Bounce *bounce)
{
    json_t *recipients = json_array(), *permanent = json_array(), *temporary = json_array();
    for (guint at = 0; at < bounce->recipients->len; at++) {
        const BounceRecipient *recipient = bounce->recipients->pdata[at];
        json_array_append_new(recipients, recipient_json(recipient));
        if (recipient->class == BOUNCE_PERMANENT)
            json_array_append_new(permanent, listing_text(recipient->address));
        else if (recipient->class != BOUNCE_COMPLAINT)
            json_array_append_new(temporary, listing_text(recipient->address));
    }
    json_t *row = json_pack("{so ss so so so}", "file", listing_text(name), "kind", bounce_kind_name(bounce->kind),
                            "recipients", recipients, "permanent", permanent, "temporary", temporary);
    listing_json(row);
    json_decref(row);
}

static void show_rows(Listing *listing, const char *name, const Bounce *bounce)
{
    if (bounce->recipients->len == 0)
        listing_row(listing, json_pack("{so ss}", "file", listing_text(name), "kind", bounce_kind_name(bounce->kind)));
    for (guint at = 0; at < bounce->recipients->len; at++) {
        json_t *row = recipient_json(bounce->recipients->pdata[at]);
        json_object_set_new(row, "file", listing_text(name));
        json_object_set_new(row, "kind", json_string(bounce_kind_name(bounce->kind)));
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
    if (json)
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
    {"json", 0, 0, G_OPTION_ARG_NONE, &json, "one JSON object a mail", NULL},
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
