/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner shadow: compare with the list server that is live, on copies of its mail (lists/trial/shadow.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/admin/wait_names.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "lists/trial/shadow.h"
#include "lists/trial/shadow_summary.h"
#include "net/lmtp_door.h"

#define RECIPIENTS_MAX 10000
#define ERRORS_MAX 20
#define MESSAGE_LEAST (UINT64_C(64) << 20) /* the MTA's limit is what counts; above ours a copy is refused */
#define AT_ONCE 20                         /* posts that are reported before mail is taken again */
#define LATER "451 4.3.0 The copy could not be kept; try again later"

static char *lmtp, *report_file, *state_directory, *patience_text, *bcc, **ignore, *summary_file;

/* ---- the summary ---- */

/* In order; NULL-terminated; g_free(). The texts stay the table's. */
static char **keys_of(GHashTable *table)
{
    guint count;
    char **keys = (char **)g_hash_table_get_keys_as_array(table, &count);
    qsort(keys, count, sizeof *keys, bytes_compare_texts);
    return keys;
}

static void show_summary(const ShadowSummary *summary)
{
    static const Column columns[] = {{"list", "LIST", COLUMN_TEXT},
                                     {"posts", "POSTS", COLUMN_NUMBER},
                                     {"equal", "EQUAL", COLUMN_NUMBER},
                                     {"decision", "DECISION", COLUMN_NUMBER},
                                     {"recipients", "RECIPIENTS", COLUMN_NUMBER},
                                     {"header", "HEADER", COLUMN_NUMBER},
                                     {"body", "BODY", COLUMN_NUMBER},
                                     {"skipped", "SKIPPED", COLUMN_NUMBER},
                                     {"copies", "WITHOUT-POST", COLUMN_NUMBER},
                                     {NULL, NULL, COLUMN_TEXT}};
    const ShadowCount *all = &summary->all;
    g_autofree char **lists = keys_of(summary->lists), **fields = keys_of(summary->fields);
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (char **name = lists; *name; name++) {
        const ShadowCount *count = g_hash_table_lookup(summary->lists, *name);
        listing_row(listing, json_pack("{so sI sI sI sI sI sI sI sI}", "list", listing_text(count->list), "posts",
                                       (json_int_t)count->posts, "equal", (json_int_t)count->equal, "decision",
                                       (json_int_t)count->decision, "recipients", (json_int_t)count->recipients,
                                       "header", (json_int_t)count->header, "body", (json_int_t)count->body, "skipped",
                                       (json_int_t)count->skipped, "copies", (json_int_t)count->copies));
    }
    g_clear_pointer(&listing, listing_free); /* the rows come before the sentences */
    if (json_option)
        return;
    for (char **name = fields; *name; name++) {
        g_autofree char *plain = plain_text(*name);
        printf("field %s differs in %" PRIu64 "\n", plain,
               *(const uint64_t *)g_hash_table_lookup(summary->fields, *name));
    }
    printf("posts compared: %" PRIu64 ", equal: %" PRIu64 ", differing: %" PRIu64 "\n", all->posts, all->equal,
           all->posts - all->equal);
    if (all->skipped > 0)
        printf("posts that could not be judged: %" PRIu64 "\n", all->skipped);
    if (all->copies > 0)
        printf("mails of the live server whose post was not seen: %" PRIu64 "\n", all->copies);
    if (summary->unreadable > 0)
        printf("lines of the report that cannot be read: %" PRIu64 "\n", summary->unreadable);
}

static int run_summary(GError **error)
{
    g_auto(ShadowSummary) summary;
    g_autoptr(GError) why = NULL;
    g_autoptr(InputFile) file = input_open(summary_file, &why);
    g_autofree char *line = NULL;
    size_t size = 0;
    bool empty = true;
    shadow_summary_init(&summary);
    if (g_error_matches(why, FAIL, FAIL_MISSING))
        fail(error, FAIL_MISSING,
             "%s; the report is what \"listrunner shadow --lmtp\" writes into the file of --report, else into "
             ".shadow/report of the spool",
             why->message);
    else if (why)
        g_propagate_error(error, g_steal_pointer(&why));
    if (!file)
        return TOOL_LATER;
    for (ssize_t length; (length = getline(&line, &size, file)) > 0; empty = false)
        shadow_summary_add(&summary, line, (size_t)length);
    if (ferror(file) || empty) {
        if (ferror(file))
            fail_errno(error, FAIL_LATER, "%s", input_name(summary_file));
        else
            fail(error, FAIL_MISSING,
                 "%s is empty: no post was compared. The shadow reports a post when --patience is over (1h); when none "
                 "comes, look at how the mail server makes copies (shadow.md)",
                 input_name(summary_file));
        return TOOL_LATER;
    }
    show_summary(&summary);
    bool clean = summary.all.posts == summary.all.equal && summary.all.skipped == 0 && summary.unreadable == 0;
    return clean ? TOOL_OK : TOOL_NOT_SO;
}

/* ---- the shadow ---- */

static const char *on_message(const LmtpTransaction *transaction, void *data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) recipients = g_ptr_array_new();
    for (guint at = 0; at < transaction->recipients->len; at++)
        g_ptr_array_add(recipients, lmtp_recipient(transaction, at)->address);
    g_ptr_array_add(recipients, NULL);
    ShadowMail mail = {.sender = transaction->sender,
                       .recipients = (char **)recipients->pdata,
                       .octets = transaction->message,
                       .bcc = bcc};
    if (shadow_take(data, &mail, &error))
        return NULL;
    log_error("a copy is put off: %s", error->message);
    return LATER;
}

static bool on_tick(void *data)
{
    static bool told; /* of a fault that lasts */
    bool more = true;
    for (unsigned at = 0; more && at < AT_ONCE; at++) {
        g_autoptr(GError) error = NULL;
        if (!shadow_report_due(data, &more, &error)) {
            if (!told)
                log_error("a post cannot be reported now, and is tried every second: %s", error->message);
            told = true;
            return false;
        }
        told = false;
    }
    return more;
}

static int open_file(const char *path, GError **error)
{
    g_autoptr(GError) why = NULL;
    int fd = fs_open(AT_FDCWD, path, true, &why);
    if (fd >= 0 || g_error_matches(why, FAIL, FAIL_MISSING))
        return fd >= 0 ? fd : fs_create(AT_FDCWD, path, error);
    g_propagate_error(error, g_steal_pointer(&why));
    return -1;
}

/* The report that --report names is opened before the right to do so may be given up; else it is beside the state. */
static int open_report(Site *site, const char *state, GError **error)
{
    if (report_file)
        return open_file(report_file, error);
    auto_fd directory = site_become_user(site, error) ? fs_open_dir(AT_FDCWD, state, true, error) : -1;
    g_autofree char *path = g_build_filename(state, "report", NULL);
    return directory >= 0 ? open_file(path, error) : -1;
}

static int run_shadow(Site *site, int argc, char **argv, GError **error)
{
    (void)argc, (void)argv;
    int64_t patience = 3600 * CLOCK_SECOND;
    if (!lmtp == !summary_file)
        return command_usage(error, "give --lmtp HOST:PORT, or --summary FILE");
    if (summary_file)
        return run_summary(error);
    if (patience_text && (!config_duration_parse(patience_text, &patience) || patience < CLOCK_SECOND))
        return command_usage(error, "--patience: allowed is a time of at least 1s, such as 1h");
    if (bcc && !strchr(bcc, '@'))
        return command_usage(error, "--bcc: '%s' is no address", bcc);
    const Config *config = site_config(site, error);
    if (!config)
        return TOOL_LATER;
    g_autofree char *own = g_build_filename(config_string(config, "spool", "directory"), ".shadow", NULL);
    const char *state = state_directory ? state_directory : own;
    auto_fd report = open_report(site, state, error);
    g_autoptr(WaitNames) names = report >= 0 ? wait_names_new(config, error) : NULL;
    if (!names || !site_store(site, false, error))
        return TOOL_LATER;
    const ShadowSite place = {.config = config,
                              .names = wait_names_of(names),
                              .state = state,
                              .report = report,
                              .patience = patience,
                              .ignore = ignore};
    g_autoptr(Shadow) shadow = shadow_open(&place, error);
    if (!shadow)
        return TOOL_LATER;
    uint64_t size = MAX(config_size(config, "lmtp", "max_message_size"), MESSAGE_LEAST);
    const LmtpLimits limits = {.recipients = RECIPIENTS_MAX,
                               .message_size = size,
                               .line_length = (size_t)config_integer(config, "lmtp", "line_length"),
                               .memory = MAX(config_size(config, "lmtp", "memory_limit"), 4 * size),
                               .errors = ERRORS_MAX};
    const LmtpDoorOwner owner = {.message = on_message, .tick = on_tick, .data = shadow};
    g_autoptr(LmtpDoor) door = lmtp_door_open(lmtp, config_string(config, "site", "hostname"), &limits, &owner, error);
    if (!door)
        return TOOL_LATER;
    log_info("the shadow takes copies on %s", lmtp);
    lmtp_door_run(door);
    return TOOL_OK;
}

static const GOptionEntry options[] = {
    {"lmtp", 0, 0, G_OPTION_ARG_STRING, &lmtp, "take copies of mail on this address, until SIGTERM", "HOST:PORT"},
    {"report", 0, 0, G_OPTION_ARG_FILENAME, &report_file, "append the report to this file; default: STATE/report",
     "FILE"},
    {"state", 0, 0, G_OPTION_ARG_FILENAME, &state_directory,
     "keep what is not reported yet in this directory; default: .shadow in the spool", "DIRECTORY"},
    {"patience", 0, 0, G_OPTION_ARG_STRING, &patience_text,
     "how long the live server may take to send copies of a post; default: 1h", "TIME"},
    {"bcc", 0, 0, G_OPTION_ARG_STRING, &bcc,
     "the address that the mail server copies to, where copies come with it in place of their recipient, or as "
     "NAME+USER=DOMAIN@...",
     "ADDRESS"},
    {"ignore", 0, 0, G_OPTION_ARG_STRING_ARRAY, &ignore, "do not compare this field; may be repeated", "FIELD"},
    {"summary", 0, 0, G_OPTION_ARG_FILENAME, &summary_file,
     "count what a report says; exit with 1 if a post differs or could not be judged", "FILE"},
    JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

const Command cmd_shadow = {
    .name = "shadow",
    .arguments = "",
    .summary = "Compare with another list server on copies of its mail",
    .least = 0,
    .most = 0,
    .options = options,
    .run = run_shadow,
    .details = "Nothing is delivered, and the database is only read. The report has one JSON object a line, for each\n"
               "post. doc/shadow.md tells how the mail server makes the copies, and what is compared.",
};
