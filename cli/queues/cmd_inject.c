/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner inject: messages from files into the queue `in`, as LMTP would bring them. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/listing.h"
#include "cli/progress.h"
#include "cli/queues/message_text.h"
#include "lists/keys.h"
#include "lists/posts/injection.h"
#include "mail/date.h"
#include "mail/transfer.h"
#include "switchboard/draft.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"

/* Messages that share their syncs. */
#define GROUP_SIZE 64

static char *sender_given;
static char *to_given, *at_given;
static gboolean mbox_given;

typedef struct Inject {
    Spool *spool;
    const List *list;
    const char *host, *to;
    int64_t due; /* when it is to be sent; 0: at once */
    Listing *listing;
    Intake group[GROUP_SIZE];
    size_t used;
    uint64_t stored;
} Inject;

/* Stores what has gathered. */
static bool flush(Inject *inject, GError **error)
{
    bool all = intake_store(inject->spool, inject->group, inject->used, false);
    for (size_t i = 0; i < inject->used; i++) {
        Intake *member = &inject->group[i];
        if (member->error && error && !*error)
            g_propagate_error(error, g_steal_pointer(&member->error));
        else if (!member->error) {
            char name[NAME_SIZE];
            name_format(draft_name(member->draft), name);
            const json_t *meta = draft_meta(member->draft);
            const char *trace = meta_string(meta, META_TRACE, NULL), *id = meta_string(meta, KEY_MESSAGE_ID, NULL);
            listing_row(inject->listing, json_pack("{so ss so}", "trace", listing_text(trace), "name", name,
                                                   "message_id", listing_text(id)));
            inject->stored++;
        }
        g_clear_error(&member->error);
        g_clear_pointer(&member->draft, draft_free);
    }
    inject->used = 0;
    return all;
}

static bool add(Inject *inject, GBytes *message, const char *envelope, GError **error)
{
    gsize size;
    const char *octets = g_bytes_get_data(message, &size);
    const char *colon = octets ? memchr(octets, ':', size) : NULL;
    const char *feed = octets ? memchr(octets, '\n', size) : NULL;
    if (!colon || (feed && feed < colon))
        return fail(error, FAIL_NEVER, "no message: its first line is no header field");
    /* The sender is as told, as the mbox says, or (NULL) the author that the header names. */
    const char *sender = !sender_given                     ? (envelope && strchr(envelope, '@') ? envelope : NULL)
                         : strcmp(sender_given, "<>") == 0 ? ""
                                                           : sender_given;
    const Injection injection = {.queue = "in",
                                 .list = inject->list,
                                 .to = inject->to,
                                 .sender = sender,
                                 .host = inject->host,
                                 .door = "inject"};
    Draft *draft = injection_draft(&injection, message);
    if (inject->due > 0)
        meta_set_integer(draft_meta(draft), KEY_SEND_AT, inject->due);
    inject->group[inject->used++] = (Intake){.draft = draft};
    return inject->used < GROUP_SIZE || flush(inject, error);
}

static bool inject_mbox(Inject *inject, const char *octets, size_t length, GError **error)
{
    Mbox mbox = {octets, octets + length};
    Progress progress = {.what = "messages", .total = length};
    bool fine = true;
    for (uint64_t number = 1; fine; number++) {
        g_autoptr(GBytes) message = NULL;
        g_autofree char *envelope = NULL;
        if (!mbox_next(&mbox, &message, &envelope))
            break;
        fine = add(inject, message, envelope, error);
        if (!fine)
            g_prefix_error(error, "message %" G_GUINT64_FORMAT " of the mbox: ", number);
        progress_show(&progress, (uint64_t)(mbox.at - octets), number);
    }
    progress_end(&progress);
    return fine;
}

static bool inject_all(Inject *inject, GBytes *file, const char *name, GError **error)
{
    gsize length;
    const char *octets = g_bytes_get_data(file, &length);
    if (length == 0)
        return fail(error, FAIL_NEVER, "%s is empty", name);
    bool fine;
    if (mbox_given) {
        if (!mbox_begins(octets, length, false))
            return fail(error, FAIL_NEVER, "%s is no mbox: its first line is no 'From SENDER DATE'", name);
        fine = inject_mbox(inject, octets, length, error);
    } else {
        if (mbox_begins(octets, length, true))
            return fail(error, FAIL_NEVER, "%s holds many messages; inject them with --mbox", name);
        if (mbox_begins(octets, length, false)) { /* one message with the line that mail(1) puts before it */
            fine = inject_mbox(inject, octets, length, error);
        } else {
            g_autoptr(GBytes) message = wire_text(octets, length);
            fine = add(inject, message, NULL, error);
        }
    }
    /* Mail before the fault is good: it goes in, and the fault is told. */
    GError *late = NULL;
    if (!flush(inject, &late)) {
        if (fine)
            g_propagate_error(error, late);
        else
            g_clear_error(&late);
        fine = false;
    }
    if (!fine)
        g_prefix_error(error, "%s: ", name);
    return fine;
}

static int run_inject(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"trace", "TRACE", COLUMN_TEXT},
                                     {"name", "ENTRY", COLUMN_TEXT},
                                     {"message_id", "MESSAGE-ID", COLUMN_TEXT},
                                     {NULL, NULL, COLUMN_TEXT}};
    const char *path = argc > 1 ? argv[1] : "-";
    Inject inject = {.to = to_given ? to_given : TO_POSTING};
    bool post = strcmp(inject.to, TO_POSTING) == 0;
    g_autoptr(GError) wrong = NULL;
    if (!post && strcmp(inject.to, TO_OWNER) != 0)
        return command_usage(error, "--to: '%s' is none of " TO_POSTING ", " TO_OWNER, inject.to);
    if (at_given && !post)
        return command_usage(error, "--at is for posts; mail to the owners goes at once");
    if (at_given && !send_at_read_ahead(at_given, clock_now(), &inject.due, &wrong))
        return command_usage(error, "--at: %s", wrong->message);
    if (sender_given && strcmp(sender_given, "<>") != 0 && !mailbox_valid(sender_given)) {
        g_autofree char *shown = g_utf8_make_valid(sender_given, -1);
        return command_usage(error, "--sender: '%s' is no address (local@domain) and not <>", shown);
    }
    g_autoptr(InputFile) file = input_open(path, error);
    g_autoptr(GBytes) octets = file ? input_read(file, path, error) : NULL;
    Store *store = octets ? site_store(site, false, error) : NULL;
    g_autoptr(List) list = store ? site_list_find(store, argv[0], error) : NULL;
    inject.spool = list ? site_spool(site, error) : NULL;
    if (!inject.spool)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    inject.list = list;
    inject.listing = listing;
    inject.host = config_string(site_config(site, error), "site", "hostname");
    return inject_all(&inject, octets, input_name(path), error) ? TOOL_OK : TOOL_LATER;
}

static const GOptionEntry options[] = {
    {"sender", 0, 0, G_OPTION_ARG_STRING, &sender_given, "the envelope sender, <> for none (default: from the message)",
     "ADDRESS"},
    {"to", 0, 0, G_OPTION_ARG_STRING, &to_given, "the list's address it is for (default: posting)",
     TO_POSTING "|" TO_OWNER},
    {"at", 0, 0, G_OPTION_ARG_STRING, &at_given,
     "a post waits for this time once the rules let it pass, as \"2026-12-24 08:00 +0100\"", "TIME"},
    {"mbox", 0, 0, G_OPTION_ARG_NONE, &mbox_given, "FILE is an mbox: every message in it", NULL},
    JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

const Command cmd_inject = {
    .name = "inject",
    .arguments = "LIST [FILE]",
    .summary = "Put a message from a file or standard input into the queue `in'",
    .details = "Line feeds become CRLF, as on the wire. The list's rules judge the message like any other.\n"
               "Shown are the trace that the log has on every line about it, and the name of its entry.",
    .least = 1,
    .most = 2,
    .options = options,
    .run = run_inject,
};
