/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list try: what a change of a list would have done to its last posts. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/confine.h"
#include "base/fail.h"
#include "cli/admin/wait_names.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/listing.h"
#include "cli/lists/list_settings.h"
#include "cli/progress.h"
#include "lists/making/setting_check.h"
#include "lists/posts/refused.h"
#include "lists/trial/trial.h"
#include "store/lists/header_match.h"
#include "store/lists/list.h"
#include "store/people/ban.h"

#define DAYS_MAX 36500
#define LIMIT_MAX 1000

static gint days = TRIAL_DAYS;
static gint limit = 0;
static char **files, **bans, **matches, *action, *json_file;

typedef struct Attempt {
    Site *site;
    char **words;          /* "NAME=VALUE" */
    const GPtrArray *read; /* the same from files */
    const json_t *asked;   /* --from-json; NULL: nothing */
    Listing *listing;
    GArray *kept; /* of Kept, the most telling first; NULL: all are shown as they come */
    Progress progress;
} Attempt;

/* ---- the change ---- */

static bool add_match(Store *store, const char *list_id, const char *header, const char *pattern, const char *target,
                      GError **error)
{
    g_autoptr(HeaderMatch) match = g_new0(HeaderMatch, 1);
    *match = (HeaderMatch){.list_id = g_strdup(list_id),
                           .position = -1,
                           .target = g_strdup(target),
                           .header = g_strdup(header),
                           .pattern = g_strdup(pattern)};
    return header_match_add(store, match, error);
}

/* One "NAME=VALUE". The store is a copy, so nothing is logged of it. */
static bool change_setting_of(Store *store, const char *list_id, Site *site, const char *word, GError **error)
{
    g_autofree char *name = NULL;
    const char *value;
    const Config *config = site_config(site, error);
    return config && list_settings_word(word, &name, &value, error) && setting_check(config, name, value, error) &&
           list_set(store, list_id, name, value, error);
}

/* A text of an object; NULL: it has none. */
static const char *member_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* The change that --from-json brought. */
static bool change_asked(Store *store, const char *list_id, const Attempt *attempt, GError **error)
{
    const char *name;
    json_t *value;
    size_t at;
    json_object_foreach(json_object_get(attempt->asked, "settings"), name, value) {
        g_autofree char *word = g_strdup_printf("%s=%s", name, json_is_string(value) ? json_string_value(value) : "");
        if (!json_is_string(value))
            return command_usage(error, "--from-json: the value of %s is no string", name);
        if (!change_setting_of(store, list_id, attempt->site, word, error))
            return false;
    }
    json_array_foreach(json_object_get(attempt->asked, "bans"), at, value) {
        g_autoptr(GError) refusal = NULL;
        if (!json_is_string(value))
            return command_usage(error, "--from-json: a ban is no string");
        if (!ban_add(store, list_id, json_string_value(value), &refusal) &&
            !g_error_matches(refusal, FAIL, FAIL_EXISTS))
            return fail_with(error, &refusal);
    }
    json_array_foreach(json_object_get(attempt->asked, "header_matches"), at, value) {
        const char *header = member_of(value, "header"), *pattern = member_of(value, "pattern");
        if (!header || !pattern)
            return command_usage(error, "--from-json: a row of header_matches lacks header or pattern");
        if (!add_match(store, list_id, header, pattern, member_of(value, "action"), error))
            return false;
    }
    return true;
}

static bool change(Store *store, const char *list_id, void *data, GError **error)
{
    const Attempt *attempt = data;
    idle_become(); /* not earlier: nobody waits for the copy that has been made, but a long read is a burden */
    for (guint at = 0; at < attempt->read->len; at++)
        if (!change_setting_of(store, list_id, attempt->site, attempt->read->pdata[at], error))
            return false;
    if (attempt->asked && !change_asked(store, list_id, attempt, error))
        return false;
    for (char **word = attempt->words; *word; word++)
        if (!change_setting_of(store, list_id, attempt->site, *word, error))
            return false;
    for (char **ban = bans; ban && *ban; ban++)
        if (!ban_add(store, list_id, *ban, error))
            return false;
    for (char **match = matches; match && *match; match++) {
        const char *colon = strchr(*match, ':');
        if (!colon) {
            command_usage(error, "--header-match: '%s' is not 'FIELD: PATTERN'", *match);
            return false;
        }
        g_autofree char *header = g_strstrip(g_strndup(*match, (gsize)(colon - *match)));
        g_autofree char *pattern = g_strstrip(g_strdup(colon + 1));
        if (!add_match(store, list_id, header, pattern, action, error))
            return false;
    }
    return true;
}

/* ---- posts that differ ---- */

static json_t *outcome_row(const TrialOutcome *outcome)
{
    return json_pack("{ss so so so}", "fate", trial_fate_text(outcome->fate), "reasons", listing_text(outcome->reasons),
                     "removed", listing_texts((const char *const *)outcome->removed), "ways",
                     listing_texts((const char *const *)outcome->ways));
}

/* "held: The message has no subject.", "accepted, without image/png, cat.png" */
static char *sentence(const TrialOutcome *outcome, unsigned differences)
{
    g_autofree char *removed = g_strjoinv("; ", outcome->removed), *ways = g_strjoinv(", ", outcome->ways);
    GString *text = g_string_new(trial_fate_text(outcome->fate));
    if (*outcome->reasons)
        g_string_append_printf(text, ": %s", outcome->reasons);
    if (*removed)
        g_string_append_printf(text, ", without %s", removed);
    if (differences & TRIAL_OTHER_TEXT)
        g_string_append(text, ", with other text");
    if (differences & TRIAL_OTHER_WAY)
        g_string_append_printf(text, ", to %s", ways);
    return g_string_free(text, FALSE);
}

static json_t *row_of(const TrialPost *post)
{
    static const struct {
        TrialDifference difference;
        const char *word;
    } words[] = {{TRIAL_OTHER_FATE, "fate"},
                 {TRIAL_OTHER_REASON, "reasons"},
                 {TRIAL_LOSES_ATTACHMENT, "loses_attachment"},
                 {TRIAL_LOSES_PART, "loses_part"},
                 {TRIAL_KEEPS_PART, "keeps_part"},
                 {TRIAL_OTHER_TEXT, "text"},
                 {TRIAL_OTHER_WAY, "ways"}};
    g_autofree char *before = sentence(post->before, post->differences & TRIAL_OTHER_WAY);
    g_autofree char *after = sentence(post->after, post->differences);
    g_autofree char *number = g_strdup_printf("held %" G_GINT64_FORMAT, post->held);
    g_autofree char *refused = post->refused ? g_strdup_printf("refused %s", post->refused->trace) : NULL;
    const char *id = refused ? refused : post->held > 0 ? number : *post->hash ? post->hash : post->file;
    json_t *row = json_pack("{so so so so so}", "id", listing_text(id), "date", listing_time(post->arrival), "sender",
                            listing_text(post->sender), "subject", listing_text(post->subject), "message_id",
                            listing_text(post->message_id));
    if (!json_option) {
        json_object_set_new(row, "before", listing_text(before));
        json_object_set_new(row, "after", listing_text(after));
        return row;
    }
    json_t *differs = json_array();
    for (size_t at = 0; at < G_N_ELEMENTS(words); at++)
        if (post->differences & words[at].difference)
            json_array_append_new(differs, json_string(words[at].word));
    json_object_set_new(row, "file", listing_text(post->file));
    json_object_set_new(row, "held", post->held > 0 ? json_integer(post->held) : json_null());
    json_object_set_new(row, "refused",
                        post->refused ? json_pack("{ss so}", "fate", post->refused->fate, "reasons",
                                                  listing_text(post->refused->reasons))
                                      : json_null());
    json_object_set_new(row, "before", outcome_row(post->before));
    json_object_set_new(row, "after", outcome_row(post->after));
    json_object_set_new(row, "differs", differs);
    return row;
}

/* A row of --limit, which is shown at the end. */
typedef struct Kept {
    unsigned weight;
    json_t *row;
} Kept;

static void kept_clear(void *data)
{
    json_decref(((Kept *)data)->row);
}

/* Show the post, or keep it among those of --limit. Its weight is how much a reader wants to see it: another end of a
 * post before all, other bytes of its text least; of equal ones the last to arrive come first. */
static bool show(const TrialPost *post, void *data)
{
    static const TrialDifference order[] = {TRIAL_OTHER_TEXT, TRIAL_OTHER_WAY,  TRIAL_OTHER_REASON,
                                            TRIAL_KEEPS_PART, TRIAL_LOSES_PART, TRIAL_LOSES_ATTACHMENT,
                                            TRIAL_OTHER_FATE};
    const Attempt *attempt = data;
    GArray *kept = attempt->kept;
    unsigned weight = 0;
    guint at = 0;
    if (!kept) {
        listing_row(attempt->listing, row_of(post));
        return true;
    }
    for (unsigned bit = 0; bit < G_N_ELEMENTS(order); bit++)
        weight |= post->differences & order[bit] ? 1u << bit : 0;
    while (at < kept->len && g_array_index(kept, Kept, at).weight > weight)
        at++;
    if (at == (guint)limit)
        return true;
    const Kept one = {weight, row_of(post)};
    g_array_insert_val(kept, at, one);
    if (kept->len > (guint)limit)
        g_array_set_size(kept, (guint)limit);
    return true;
}

static bool tell(uint64_t done, uint64_t all, void *data)
{
    Attempt *attempt = data;
    attempt->progress.total = all;
    progress_show(&attempt->progress, done, done);
    return true;
}

/* ---- all posts ---- */

/* Posts that come to this fate by the change. */
static uint64_t count_fate(const TrialTally *tally, TrialFate fate)
{
    uint64_t count = 0;
    for (TrialFate before = TRIAL_ACCEPTED; before < TRIAL_FATES; before++)
        count += before == fate ? 0 : tally->fates[before][fate];
    return count;
}

static void show_json(const TrialTally *tally)
{
    g_autoptr(json_t) fates = json_object();
    for (TrialFate fate = TRIAL_ACCEPTED; fate < TRIAL_FATES; fate++)
        json_object_set_new(fates, trial_fate_text(fate), json_integer((json_int_t)count_fate(tally, fate)));
    const struct {
        const char *key;
        uint64_t number;
    } numbers[] = {{"reasons", tally->other_reason},  {"loses_attachment", tally->loses_attachment},
                   {"loses_part", tally->loses_part}, {"keeps_part", tally->keeps_part},
                   {"text", tally->other_text},       {"ways", tally->other_way},
                   {"archived", tally->archived},     {"held", tally->held},
                   {"removed", tally->removed},       {"unreadable", tally->unreadable}};
    g_autoptr(json_t) all = json_pack("{sI sO}", "posts", (json_int_t)tally->posts, "would_be", fates);
    for (size_t at = 0; at < G_N_ELEMENTS(numbers); at++)
        json_object_set_new(all, numbers[at].key, json_integer((json_int_t)numbers[at].number));
    json_object_set_new(all, "refused", json_integer((json_int_t)tally->refused));
    json_object_set_new(all, "refused_accepted", json_integer((json_int_t)tally->refused_accepted));
    json_object_set_new(all, "problem", listing_text(tally->problem));
    json_object_set_new(all, "gap", listing_text(tally->gap));
    listing_json(all);
}

static void add_phrase(GString *text, uint64_t count, uint64_t posts, const char *phrase)
{
    if (count == 0)
        return;
    if (text->len > 0)
        g_string_append_printf(text, ", %" PRIu64 " would have %s", count, phrase);
    else
        g_string_append_printf(text, "%" PRIu64 " of %" PRIu64 " post%s would have %s", count, posts,
                               posts == 1 ? "" : "s", phrase);
}

/* Tell what would be different, and how many posts were not tried, and why. */
static void show_text(const TrialTally *tally)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (TrialFate at = TRIAL_ACCEPTED; at < TRIAL_FATES; at++) {
        TrialFate fate = (at + 1) % TRIAL_FATES; /* what is accepted goes last */
        g_autofree char *phrase = g_strconcat("been ", trial_fate_text(fate), NULL);
        add_phrase(text, count_fate(tally, fate), tally->posts, phrase);
        if (fate == TRIAL_ACCEPTED && tally->refused_accepted > 0)
            g_string_append_printf(text, " (refused then: %" PRIu64 ")", tally->refused_accepted);
    }
    add_phrase(text, tally->loses_attachment, tally->posts, "lost an attachment");
    add_phrase(text, tally->loses_part, tally->posts, "lost another part");
    add_phrase(text, tally->keeps_part, tally->posts, "kept a part");
    add_phrase(text, tally->other_text, tally->posts, "left with another header or text");
    add_phrase(text, tally->other_way, tally->posts, "gone elsewhere");
    add_phrase(text, tally->other_reason, tally->posts, "been stopped for another reason");
    if (text->len > 0)
        printf("%s.\n", text->str);
    else if (tally->posts > 0)
        printf("Nothing would have been different for %" PRIu64 " post%s.\n", tally->posts,
               tally->posts == 1 ? "" : "s");
    else
        printf("There is no post of the last %d days to try it with.\n", days);
    fflush(stdout);
    if (tally->gap)
        fprintf(stderr, "listrunner list try: %s\n", tally->gap);
    if (tally->unreadable > 0)
        fprintf(stderr, "listrunner list try: %" PRIu64 " files of the archive were passed over; the first is %s\n",
                tally->unreadable, tally->problem);
    if (tally->removed > 0)
        fprintf(stderr, "listrunner list try: %" PRIu64 " posts were passed over: they were removed from the archive\n",
                tally->removed);
}

/* Read the file that --from-json names; json_decref(). NULL: it cannot be read, or is no object. */
static json_t *read_asked(GError **error)
{
    json_error_t where;
    g_autoptr(InputFile) file = input_open(json_file, error);
    g_autoptr(GBytes) bytes = file ? input_read(file, json_file, error) : NULL;
    if (!bytes)
        return NULL;
    json_t *asked = json_loadb(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), 0, &where);
    if (json_is_object(asked))
        return asked;
    command_usage(error, "--from-json: %s holds no JSON object", input_name(json_file));
    json_decref(asked);
    return NULL;
}

static int run_try(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"date", "DATE", COLUMN_TEXT},     {"id", "POST", COLUMN_TEXT},     {"sender", "SENDER", COLUMN_TEXT},
        {"before", "BEFORE", COLUMN_TEXT}, {"after", "AFTER", COLUMN_TEXT}, {"subject", "SUBJECT", COLUMN_TEXT},
        {"message_id", NULL, COLUMN_TEXT}, {"file", NULL, COLUMN_TEXT},     {"held", NULL, COLUMN_NUMBER},
        {"differs", NULL, COLUMN_TEXT},    {NULL, NULL, COLUMN_TEXT}};
    if (!argv[1] && !files && !bans && !matches && !json_file)
        return command_usage(error, "give SETTING=VALUE, --file, --ban, --header-match or --from-json");
    if (days < 1 || days > DAYS_MAX)
        return command_usage(error, "--days: allowed are 1 to %d", DAYS_MAX);
    if (limit < 0 || limit > LIMIT_MAX)
        return command_usage(error, "--limit: allowed are 1 to %d", LIMIT_MAX);
    g_autoptr(json_t) asked = json_file ? read_asked(error) : NULL;
    if (json_file && !asked)
        return TOOL_LATER;
    g_autoptr(GPtrArray) read = list_settings_read(files, error);
    const Config *config = read ? site_config(site, error) : NULL;
    Store *store = config ? site_store(site, false, error) : NULL;
    g_autoptr(List) list = store ? site_list_find(store, argv[0], error) : NULL;
    g_autoptr(WaitNames) names = list ? wait_names_new(config, error) : NULL;
    if (!names)
        return TOOL_LATER;
    Attempt attempt = {.site = site, .words = argv + 1, .read = read, .asked = asked, .progress = {.what = "posts"}};
    const Trial trial = {.store = store,
                         .config = config,
                         .list_id = list->list_id,
                         .names = wait_names_of(names),
                         .since = clock_now() - days * TRIAL_DAY,
                         .change = change,
                         .each = show,
                         .progress = tell,
                         .data = &attempt};
    g_auto(TrialTally) tally = {0};
    g_autoptr(Listing) listing = attempt.listing = listing_new(columns, json_option);
    g_autoptr(GArray) kept = attempt.kept = limit > 0 ? g_array_new(FALSE, FALSE, sizeof(Kept)) : NULL;
    if (kept)
        g_array_set_clear_func(kept, kept_clear);
    bool done = trial_run(&trial, &tally, error);
    progress_end(&attempt.progress);
    for (guint at = 0; done && attempt.kept && at < attempt.kept->len; at++)
        listing_row(listing, json_incref(g_array_index(attempt.kept, Kept, at).row));
    g_clear_pointer(&listing, listing_free);
    if (!done)
        return TOOL_LATER;
    (json_option ? show_json : show_text)(&tally);
    return TOOL_OK;
}

static const GOptionEntry try_options[] = {
    {"json", 0, 0, G_OPTION_ARG_NONE, &json_option, "one JSON object a line, the last with the numbers of all", NULL},
    {"limit", 0, 0, G_OPTION_ARG_INT, &limit, "show so many posts: those for which most changes, the last ones first",
     "N"},
    {"from-json", 0, 0, G_OPTION_ARG_FILENAME, &json_file,
     "read the change from a file, - being standard input: an object with settings, bans and header_matches", "FILE"},
    {"days", 0, 0, G_OPTION_ARG_INT, &days, "how far back; default: 30", "DAYS"},
    {"file", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files,
     "read a value from a file, - being standard input; may be "
     "repeated",
     "SETTING=FILE"},
    {"ban", 0, 0, G_OPTION_ARG_STRING_ARRAY, &bans,
     "as if this address, or pattern (^...), were banned; may be "
     "repeated",
     "ADDRESS"},
    {"header-match", 0, 0, G_OPTION_ARG_STRING_ARRAY, &matches,
     "as if this decided about posts, behind what does so "
     "already; may be repeated",
     "'FIELD: PATTERN'"},
    {"action", 0, 0, G_OPTION_ARG_STRING, &action, "what --header-match does with a post; default: it is held",
     ACTION_WORDS("|")},
    G_OPTION_ENTRY_NULL,
};

const Command list_try_verb = {
    .name = "try",
    .arguments = "LIST [SETTING=VALUE...]",
    .summary = "Tell what a change would have done to the last posts",
    .least = 1,
    .most = -1,
    .options = try_options,
    .run = run_try,
    .details = "The archive of the list and the posts that are held run through rules and handlers twice.\n"
               "Nothing is changed or delivered.",
};
