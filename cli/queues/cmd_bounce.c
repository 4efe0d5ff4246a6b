/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner bounce: ls, show, reset, stat, rotate: what the runner bounces has written down; parse: what reports of
 * failed delivery say, which needs neither configuration nor instance. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "mail/bounce/bounce.h"
#include "store/lists/list.h"
#include "store/people/bounce.h"
#include "store/secret.h"

/* A link to unsubscribe is read for three years (mail/bounce/verp.h): so long an old secret is kept. */
#define SECRET_KEEP (157 * 7 * BOUNCE_DAY)

static gboolean names;
static char *member, *domain, *reason, *since, *by;

/* ---- the filter ---- */

/* Fill the filter from the options, and open the store. list_text NULL: any list. *list keeps what filter borrows. */
static Store *prepare(Site *site, const char *list_text, List **list, BounceFilter *filter, GError **error)
{
    int64_t span = 0;
    if (reason && !g_strv_contains(bounce_reasons, reason)) {
        g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)bounce_reasons);
        g_autofree char *shown = g_utf8_make_valid(reason, -1);
        command_usage(error, "--reason: there is no reason '%s'; there are %s", shown, all);
        return NULL;
    }
    if (since && !config_duration_parse(since, &span)) {
        g_autofree char *shown = g_utf8_make_valid(since, -1);
        command_usage(error, "--since: '%s' is no time such as 12h, 30d, 4w", shown);
        return NULL;
    }
    filter->reason = reason;
    if (since)
        filter->since = MAX(clock_now() - span, 0);
    filter->domain = domain;
    if (member)
        filter->address = member;
    Store *store = site_store(site, false, error);
    *list = store && list_text ? site_list_find(store, list_text, error) : NULL;
    filter->list_id = *list ? (*list)->list_id : NULL;
    return store && list_text && !*list ? NULL : store;
}

/* ---- ls, show ---- */

static double points(int64_t hundredths)
{
    return (double)hundredths / 100;
}

typedef struct RecordsShown {
    Listing *listing;
    int64_t rows;
} RecordsShown;

static bool show_standing(const BounceScore *score, const BounceDay *last, void *data)
{
    RecordsShown *shown = data;
    shown->rows++;
    if (names)
        puts(score->address);
    else
        listing_row(shown->listing,
                    json_pack("{so so sf ss so so so so so so so sI so}", "list", listing_text(score->list_id),
                              "address", listing_text(score->address), "score", points(score->score), "delivery_status",
                              delivery_status_text(score->status), "class", listing_text(last ? last->class : NULL),
                              "status", listing_text(last && *last->status ? last->status : NULL), "reason",
                              listing_text(last ? last->reason : NULL), "text", listing_text(last ? last->text : NULL),
                              "last_bounce_at", listing_time(score->last_bounce_at), "probe_at",
                              listing_time(score->probe_at), "disabled_at", listing_time(score->disabled_at),
                              "warnings", (json_int_t)score->warnings, "next_at", listing_time(score->next_at)));
    return !ferror(stdout);
}

static const Column standing_columns[] = {
    {"address", "ADDRESS", COLUMN_TEXT},   {"list", "LIST", COLUMN_TEXT},
    {"score", "SCORE", COLUMN_NUMBER},     {"delivery_status", "DELIVERY", COLUMN_TEXT},
    {"status", "STATUS", COLUMN_TEXT},     {"reason", "REASON", COLUMN_TEXT},
    {"warnings", "WARNED", COLUMN_NUMBER}, {"next_at", "NEXT", COLUMN_TEXT},
    {NULL, NULL, COLUMN_TEXT},
};

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(List) list = NULL;
    BounceFilter filter = {0};
    Store *store = prepare(site, argc > 0 ? argv[0] : NULL, &list, &filter, error);
    if (!store)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(standing_columns, json_option);
    RecordsShown shown = {.listing = listing};
    return bounce_standing_each(store, &filter, show_standing, &shown, error) ? TOOL_OK : TOOL_LATER;
}

static char *day_text(int64_t day)
{
    g_autofree char *whole = clock_text(day * BOUNCE_DAY);
    return g_strndup(whole, strlen("2026-11-21"));
}

static bool show_day(const BounceDay *day, void *data)
{
    RecordsShown *shown = data;
    g_autofree char *date = day_text(day->day);
    shown->rows++;
    listing_row(shown->listing,
                json_pack("{so ss so sI sf so so so so so}", "list", listing_text(day->list_id), "day", date, "address",
                          listing_text(day->address), "bounces", (json_int_t)day->bounces, "weight",
                          points(day->weight), "class", listing_text(day->class), "status",
                          listing_text(*day->status ? day->status : NULL), "reason", listing_text(day->reason),
                          "source", listing_text(day->source), "text", listing_text(day->text)));
    return !ferror(stdout);
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"day", "DAY", COLUMN_TEXT},         {"list", "LIST", COLUMN_TEXT},     {"bounces", "BOUNCES", COLUMN_NUMBER},
        {"weight", "POINTS", COLUMN_NUMBER}, {"class", "CLASS", COLUMN_TEXT},   {"status", "STATUS", COLUMN_TEXT},
        {"reason", "REASON", COLUMN_TEXT},   {"source", "SOURCE", COLUMN_TEXT}, {"text", "TEXT", COLUMN_TEXT},
        {NULL, NULL, COLUMN_TEXT},
    };
    g_autoptr(List) list = NULL;
    BounceFilter filter = {.address = argv[0]};
    Store *store = prepare(site, argc > 1 ? argv[1] : NULL, &list, &filter, error);
    if (!store)
        return TOOL_LATER;
    int64_t standing_rows = 0;
    if (!json_option) {
        g_autoptr(Listing) standing = listing_new(standing_columns, false);
        RecordsShown shown = {.listing = standing};
        if (!bounce_standing_each(store, &filter, show_standing, &shown, error))
            return TOOL_LATER;
        g_clear_pointer(&standing, listing_free);
        standing_rows = shown.rows;
        if (standing_rows > 0)
            putchar('\n');
    }
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    RecordsShown days = {.listing = listing};
    if (!bounce_day_each(store, &filter, show_day, &days, error))
        return TOOL_LATER;
    if (standing_rows + days.rows > 0)
        return TOOL_OK;
    g_autofree char *address = g_utf8_make_valid(argv[0], -1);
    fail(error, FAIL_MISSING, "nothing came back of %s%s%s%s", address, list ? " on " : "",
         list ? list->posting_address : "", reason || since ? ", for that reason and in that time" : "");
    return TOOL_MISSING;
}

/* ---- reset ---- */

static bool reset(Store *store, BounceFilter *filter, const char *what, int *worst, GError **error)
{
    int64_t changed;
    if (!bounce_reset(store, filter, &changed, error))
        return false;
    g_autofree char *shown = g_utf8_make_valid(what, -1);
    if (changed > 0) {
        printf("%s: %" G_GINT64_FORMAT " member%s without a score now\n", shown, changed, changed == 1 ? "" : "s");
        return true;
    }
    fprintf(stderr, "listrunner bounce reset: %s: no member has a score there\n", shown);
    *worst = TOOL_MISSING;
    return true;
}

static int run_reset(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(List) list = NULL;
    BounceFilter filter = {0};
    if ((domain || member || reason) && argc > 1)
        return command_usage(error, "addresses and --domain, --member or --reason exclude each other");
    if (argc == 0 && !domain && !member && !reason)
        return command_usage(error, "LIST is missing, or one of --domain, --member and --reason");
    Store *store = prepare(site, argc > 0 ? argv[0] : NULL, &list, &filter, error);
    if (!store)
        return TOOL_LATER;
    int worst = TOOL_OK;
    const char *what = member ? member : domain ? domain : reason ? reason : list->posting_address;
    if (argc <= 1)
        return reset(store, &filter, what, &worst, error) ? worst : TOOL_LATER;
    for (int at = 1; at < argc; at++) {
        filter.address = argv[at];
        if (!reset(store, &filter, argv[at], &worst, error))
            return TOOL_LATER;
    }
    return worst;
}

/* ---- stat ---- */

/* Sum is one line of the summary, keyed by period, domain, status and class. */
typedef struct Sum {
    char *period, *domain, *status, *class;
    int64_t bounces, members; /* members: one a day */
} Sum;

static void sum_free(void *data)
{
    Sum *sum = data;
    g_free(sum->period);
    g_free(sum->domain);
    g_free(sum->status);
    g_free(sum->class);
    g_free(sum);
}

/* "2026-11-21", "2026-W47", "2026-11" or "all". */
static char *period_of(int64_t day)
{
    if (!by || strcmp(by, "day") == 0)
        return day_text(day);
    g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(day * 86400);
    if (strcmp(by, "week") == 0)
        return g_date_time_format(date, "%G-W%V");
    return strcmp(by, "month") == 0 ? g_date_time_format(date, "%Y-%m") : g_strdup("all");
}

static bool add_day(const BounceDay *day, void *data)
{
    GHashTable *sums = data;
    g_autofree char *period = period_of(day->day);
    g_autofree char *key = g_strjoin("\t", period, day->domain, day->status, day->class, NULL);
    Sum *sum = g_hash_table_lookup(sums, key);
    if (!sum) {
        sum = g_new0(Sum, 1);
        *sum = (Sum){.period = g_steal_pointer(&period),
                     .domain = g_strdup(day->domain),
                     .status = g_strdup(day->status),
                     .class = g_strdup(day->class)};
        g_hash_table_insert(sums, g_steal_pointer(&key), sum);
    }
    sum->bounces += day->bounces;
    sum->members++;
    return true;
}

static int run_stat(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"period", "PERIOD", COLUMN_TEXT}, {"domain", "DOMAIN", COLUMN_TEXT},     {"status", "STATUS", COLUMN_TEXT},
        {"class", "CLASS", COLUMN_TEXT},   {"members", "MEMBERS", COLUMN_NUMBER}, {"bounces", "BOUNCES", COLUMN_NUMBER},
        {NULL, NULL, COLUMN_TEXT},
    };
    static const char *const periods[] = {"day", "week", "month", "all", NULL};
    if (by && !g_strv_contains(periods, by))
        return command_usage(error, "--by: '%s' is none of day, week, month, all", by);
    g_autoptr(List) list = NULL;
    BounceFilter filter = {0};
    Store *store = prepare(site, argc > 0 ? argv[0] : NULL, &list, &filter, error);
    g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, sum_free);
    if (!store || !bounce_day_each(store, &filter, add_day, sums, error))
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(sums), (GCompareFunc)strcmp);
    for (const GList *key = keys; key; key = key->next) {
        const Sum *sum = g_hash_table_lookup(sums, key->data);
        listing_row(listing,
                    json_pack("{ss so so ss sI sI}", "period", sum->period, "domain", listing_text(sum->domain),
                              "status", listing_text(*sum->status ? sum->status : NULL), "class", sum->class, "members",
                              (json_int_t)sum->members, "bounces", (json_int_t)sum->bounces));
    }
    return TOOL_OK;
}

/* ---- rotate ---- */

static int run_rotate(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store(site, false, error);
    if (!store || !secret_rotate(store, SECRET_KEEP, error))
        return TOOL_LATER;
    puts("addresses and links are signed with a new secret; what the old one signed is still read");
    return TOOL_OK;
}

/* ---- parse ---- */

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
    RecipientField fields[RECIPIENT_FIELDS];
    g_autoptr(GString) out = g_string_sized_new(1024);
    g_string_append(out, "{\"file\":");
    put_text(out, name);
    g_string_append(out, ",\"kind\":");
    put_text(out, bounce_kind_name(bounce->kind));
    g_string_append(out, ",\"recipients\":[");
    for (guint at = 0; at < bounce->recipients->len; at++) {
        recipient_fields(bounce->recipients->pdata[at], fields);
        g_string_append(out, at > 0 ? ",{" : "{");
        for (size_t i = 0; i < RECIPIENT_FIELDS; i++) {
            g_string_append_printf(out, "%s\"%s\":", i > 0 ? "," : "", fields[i].key);
            put_text(out, fields[i].value);
        }
        g_string_append_c(out, '}');
    }
    g_string_append(out, "],\"permanent\":[");
    put_addresses(out, bounce, true);
    g_string_append(out, "],\"temporary\":[");
    put_addresses(out, bounce, false);
    g_string_append(out, "]}\n");
    fwrite(out->str, 1, out->len, stdout);
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
    if (json_option) {
        show_json(name, bounce);
        return true;
    }
    for (guint at = 0; at < MAX(bounce->recipients->len, 1); at++) {
        RecipientField fields[RECIPIENT_FIELDS];
        json_t *row = json_pack("{so ss}", "file", listing_text(name), "kind", bounce_kind_name(bounce->kind));
        bool any = bounce->recipients->len > 0; /* else the row has the kind alone */
        if (any)
            recipient_fields(bounce->recipients->pdata[at], fields);
        for (size_t i = 0; any && i < RECIPIENT_FIELDS; i++)
            json_object_set_new(row, fields[i].key, listing_text(fields[i].value));
        listing_row(listing, row);
    }
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

/* ---- the verbs ---- */

#define FILTER_OPTIONS \
    {"member", 0, 0, G_OPTION_ARG_STRING, &member, "only that address", "ADDRESS"}, \
    {"domain", 0, 0, G_OPTION_ARG_STRING, &domain, "only members of that mail domain", "DOMAIN"}
#define REASON_OPTION \
    {"reason", 0, 0, G_OPTION_ARG_STRING, &reason, "only what came back for that reason", "REASON"}
#define SINCE_OPTION {"since", 0, 0, G_OPTION_ARG_STRING, &since, "only the last so many days: 12h, 30d, 4w", "TIME"}

static const GOptionEntry ls_options[] = {
    FILTER_OPTIONS, REASON_OPTION, SINCE_OPTION, JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the addresses", NULL},
    G_OPTION_ENTRY_NULL,
};
static const GOptionEntry show_options[] = {REASON_OPTION, SINCE_OPTION, JSON_ROWS_OPTION, G_OPTION_ENTRY_NULL};
static const GOptionEntry reset_options[] = {FILTER_OPTIONS, REASON_OPTION, G_OPTION_ENTRY_NULL};
static const GOptionEntry stat_options[] = {
    {"by", 0, 0, G_OPTION_ARG_STRING, &by, "what is summed up in one row", "day|week|month|all"},
    FILTER_OPTIONS, REASON_OPTION, SINCE_OPTION, JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const Command bounce_ls = {
    .name = "ls", .arguments = "[LIST]", .summary = "Show members whose mail came back, and where they stand",
    .most = 1, .options = ls_options, .run = run_ls,
};

static const Command bounce_show = {
    .name = "show", .arguments = "ADDRESS [LIST]", .summary = "Show what came back of one address, day by day",
    .least = 1, .most = 2, .options = show_options, .run = run_show,
};

static const Command bounce_reset_verb = {
    .name = "reset", .arguments = "[LIST [ADDRESS...]]",
    .summary = "Forget the scores of members, and enable those whom bounces disabled",
    .details = "Without addresses all members of the list are meant, or those that the options name. Without LIST one "
               "of the options must be given; then members of all lists are meant.",
    .most = -1, .options = reset_options, .run = run_reset,
};

static const Command bounce_stat = {
    .name = "stat", .arguments = "[LIST]", .summary = "Sum up what came back, by time, domain and status",
    .details = "MEMBERS counts a member once a day, BOUNCES every mail and refusal.",
    .most = 1, .options = stat_options, .run = run_stat,
};

static const Command bounce_rotate = {
    .name = "rotate", .arguments = "", .summary = "Sign bounce addresses and links with a new secret",
    .details = "What was signed before is still read: copies and probes for 5 weeks, links to unsubscribe for 3 years.",
    .run = run_rotate,
};

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
