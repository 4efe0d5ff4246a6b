/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queues/queue_act.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/listing.h"
#include "cli/queues/destinations.h"
#include "store/posts/fragment.h"

gboolean queue_act_dry, queue_act_json, queue_act_all;

/* Entries changed in place that share a sync. */
#define PENDING_MAX 100

/* How long to wait for the runner out to give entries back, in steps of PAUSE, and how many it is asked for at once. */
#define PATIENCE (4 * CLOCK_SECOND)
#define PAUSE 20000
#define TOGETHER 500

#define DEFRAGMENT_QUEUE "defragment"

typedef struct QueueAct {
    const QueueVerb *verb;
    Spool *spool;
    Site *site;
    Operate *operate;           /* NULL: a dry run */
    char part[HASH_DIGITS + 1]; /* hash of the entry in hand, as it is in defragment; "": it is no part of a message */
    Listing *listing;
    GPtrArray *pending; /* rows of entries changed in place, not synced yet */
    int64_t done, left;
    bool nothing; /* no entry in any of the queues */
} QueueAct;

static const Column columns[] = {{"queue", "QUEUE", COLUMN_TEXT},   {"name", "NAME", COLUMN_TEXT},
                                 {"result", "RESULT", COLUMN_TEXT}, {"reason", "REASON", COLUMN_TEXT},
                                 {NULL, NULL, COLUMN_TEXT}};

/* A row is complete but for what became of the entry. */
static void tell(QueueAct *act, json_t *row, const char *result, const char *reason)
{
    json_object_set_new(row, "result", listing_text(result));
    json_object_set_new(row, "reason", listing_text(reason ? reason : ""));
    listing_row(act->listing, row);
}

static void tell_left(QueueAct *act, json_t *row, const char *reason)
{
    act->left++;
    tell(act, row, "not touched", reason);
}

static void tell_done(QueueAct *act, json_t *row)
{
    g_autofree char *would = g_strconcat("would be ", act->verb->past, NULL);
    act->done++;
    tell(act, row, act->operate ? act->verb->past : would, NULL);
}

static void on_done(void *data, void *token, const GError *error)
{
    if (error)
        tell_left(data, token, error->message);
    else
        tell_done(data, token);
}

static json_t *row_of(const QueueAct *act, const QueueTarget *target, Entry *entry)
{
    char name[NAME_SIZE];
    name_format(&target->file.name, name);
    json_t *row = json_pack("{ss ss ss ss}", "verb", act->verb->name, "queue", queue_name(target->queue), "name", name,
                            "state", queue_state_text(target->file.state));
    if (entry) {
        json_object_set_new(row, "list", listing_text(*entry_list(entry) ? entry_list(entry) : NULL));
        json_object_set_new(row, "trace", listing_text(entry_trace(entry)));
    }
    return row;
}

/* Why an entry in that state is not for this verb, or NULL. */
static const char *not_for_us(const QueueVerb *verb, QueueState state)
{
    switch (state) {
    case QUEUE_CLAIMED:
    case QUEUE_DECIDED:
        return "held by a runner, not touched";
    case QUEUE_TAKEN:
        return "held by another command, not touched";
    case QUEUE_PRESERVED:
        return verb->aside ? NULL : "preserved; see listrunner shunt";
    default:
        return NULL;
    }
}

/* One that went away, or will not do, is a row; what the system refuses ends the command. */
static bool is_row(QueueAct *act, json_t *row, GError **fault, GError **error)
{
    if (g_error_matches(*fault, FAIL, FAIL_MISSING))
        tell_left(act, row, "held by a runner, not touched");
    else if (g_error_matches(*fault, FAIL, FAIL_NEVER))
        tell_left(act, row, (*fault)->message);
    else {
        json_decref(row);
        g_propagate_error(error, g_steal_pointer(fault));
        return false;
    }
    return true;
}

/* Nothing is said to be done before it is on the disk. */
static bool flush_pending(QueueAct *act, GError **error)
{
    if (act->pending->len > 0 && !operate_sync(act->operate, error))
        return false;
    for (guint i = 0; i < act->pending->len; i++)
        tell_done(act, json_incref(act->pending->pdata[i]));
    g_ptr_array_set_size(act->pending, 0);
    return true;
}

static bool change_in_place(QueueAct *act, const QueueTarget *target, bool preserved, json_t *row, GError **error)
{
    const QueueVerb *verb = act->verb;
    EntryName name = target->file.name;
    char text[NAME_SIZE];
    g_autoptr(GError) fault = NULL;
    bool changed = preserved ? verb->in_place_preserved(act->operate, target->queue, &name, &fault)
                             : verb->in_place(act->operate, target->queue, &name, &fault);
    if (!changed)
        return is_row(act, row, &fault, error);
    name_format(&name, text);
    if (name.due != target->file.name.due)
        json_object_set_new(row, "new_name", json_string(text));
    g_ptr_array_add(act->pending, row);
    return act->pending->len < PENDING_MAX || flush_pending(act, error);
}

/* ---- parts of messages ---- */

static bool says_defragment(Entry *entry, const char *key)
{
    const json_t *object = json_object_get(entry_meta(entry), key);
    return g_strcmp0(meta_string(object, "queue", NULL), DEFRAGMENT_QUEUE) == 0;
}

/* Note whether the target is a part of a message (message/partial): an entry of defragment, or one in hold or shunt
 * that came from there. entry NULL: it cannot be read. */
static void note_part(QueueAct *act, const QueueTarget *target, Entry *entry)
{
    const char *queue = queue_name(target->queue);
    EntryName name = target->file.name;
    bool is_part = strcmp(queue, DEFRAGMENT_QUEUE) == 0;
    if (strcmp(queue, HOLD_QUEUE) == 0) /* under its own hash */
        is_part = !entry || says_defragment(entry, META_ORIGIN);
    else if (strcmp(queue, SHUNT_QUEUE) == 0 && entry && says_defragment(entry, META_FAULT))
        is_part = name_parse(meta_string(json_object_get(entry_meta(entry), META_FAULT), "name", ""), &name, NULL);
    act->part[0] = '\0';
    if (is_part)
        name_hash_format(name.hash, act->part);
}

/* Tell the index of parts (store/posts/fragment.h) that a claimed one goes to another queue, or (NULL) is removed: else
 * its runner would take it for one that was joined to its message. */
static bool part_leaves(QueueAct *act, const char *to, GError **error)
{
    if (!act->part[0] || g_strcmp0(to, DEFRAGMENT_QUEUE) == 0)
        return true;
    g_autoptr(GError) fault = NULL;
    Store *store = site_store(act->site, false, &fault);
    bool reopened;
    if (store && fragment_withdraw(store, act->part, g_strcmp0(to, HOLD_QUEUE) != 0, &reopened, &fault))
        return true;
    if (!store && g_error_matches(fault, FAIL, FAIL_MISSING)) /* no index either */
        return true;
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "the index of parts: ");
    return false;
}

static bool before_delete(void *data, GError **error)
{
    return part_leaves(data, NULL, error);
}

/* ---- an entry ---- */

static bool change_by_hop(QueueAct *act, const QueueTarget *target, bool preserved, json_t *row, GError **error)
{
    g_autoptr(GError) fault = NULL;
    Entry *entry = operate_claim(act->operate, target->queue, &target->file.name, preserved, &fault);
    if (!entry)
        return is_row(act, row, &fault, error);
    Draft *draft = act->verb->draft(entry, &fault);
    if (!fault && !part_leaves(act, draft ? draft_queue(draft) : NULL, &fault))
        g_clear_pointer(&draft, draft_free);
    if (fault) {
        if (!operate_put_back(act->operate, entry, error)) {
            json_decref(row);
            return false;
        }
        return is_row(act, row, &fault, error);
    }
    if (draft)
        json_object_set_new(row, "to", json_string(draft_queue(draft)));
    return operate_move(act->operate, entry, draft, row, error);
}

/* Opens the entry where its contents decide; false when it is not meant. A damaged one is meant only by name. */
static bool is_meant(const QueueTarget *target, bool named, Entry **entry, QueueState *state)
{
    *state = target->file.state;
    *entry = queue_files_open(target->queue, &target->file, state, NULL);
    if (!queue_select_by_content())
        return *entry || named || queue_select_queues || queue_act_all;
    return *entry && queue_select_fits(*entry);
}

static bool in_shunt(const QueueTarget *target)
{
    return strcmp(queue_name(target->queue), SHUNT_QUEUE) == 0;
}

static bool act_on(QueueAct *act, QueueTarget *target, bool named, GError **error)
{
    Entry *entry = NULL;
    QueueState state;
    bool meant = is_meant(target, named, &entry, &state);
    g_autoptr(Entry) owned = entry;
    bool aside = !act->verb->aside || in_shunt(target) || state == QUEUE_PRESERVED;
    if (!meant || (!aside && !named))
        return true;
    target->file.state = state;
    json_t *row = row_of(act, target, entry);
    const char *reason = aside ? not_for_us(act->verb, state) : "not set aside, not touched";
    if (reason) {
        tell_left(act, row, reason);
        return true;
    }
    if (!act->operate) {
        g_autoptr(GError) fault = NULL;
        Draft *draft = entry && act->verb->draft ? act->verb->draft(entry, &fault) : NULL;
        if (draft)
            json_object_set_new(row, "to", json_string(draft_queue(draft)));
        draft_free(draft);
        if (fault)
            tell_left(act, row, fault->message);
        else
            tell_done(act, row);
        return true;
    }
    note_part(act, target, entry);
    bool preserved = state == QUEUE_PRESERVED;
    bool hop = act->verb->draft && (!preserved || (act->verb->leaves_shunt && in_shunt(target)));
    if (!hop)
        return change_in_place(act, target, preserved, row, error);
    return change_by_hop(act, target, preserved, row, error);
}

/* The queues to look in: those named, else the verb's. The verb's own that do not exist yet are left out, since nothing
 * was ever in them. */
static char **choose_queues(const QueueVerb *verb, Spool *spool, GError **error)
{
    g_autoptr(GPtrArray) chosen = g_ptr_array_new_with_free_func(g_free), named = g_ptr_array_new();
    g_auto(GStrv) present = spool_queue_names(spool, error);
    for (char **name = present ? queue_select_queues : NULL; name && *name; name++)
        if (!verb->only || !g_strv_contains(verb->queues, *name) ||
            g_strv_contains((const char *const *)present, *name))
            g_ptr_array_add(named, *name);
    int count = (int)named->len;
    if (present && queue_select_queues && count == 0)
        return g_new0(char *, 1); /* and not all of the verb's */
    g_ptr_array_add(named, NULL);
    g_auto(GStrv) all = present ? queue_files_choose(spool, count, (char **)named->pdata, error) : NULL;
    if (!all)
        return NULL;
    for (char **name = all; *name; name++) {
        bool fits = verb->queues ? g_strv_contains(verb->queues, *name)
                                 : !verb->except || !g_strv_contains(verb->except, *name);
        if (count > 0 && !verb->only)
            fits = true;
        if (count > 0 && !fits) {
            g_autofree char *those = g_strjoinv(" or ", (char **)verb->queues);
            command_usage(error, "%s is for entries of %s, not of %s", verb->name, those, *name);
            return NULL;
        }
        if (fits)
            g_ptr_array_add(chosen, g_strdup(*name));
    }
    g_ptr_array_add(chosen, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&chosen), FALSE);
}

static Operate *begin(QueueAct *act, GError **error)
{
    g_autoptr(GError) busy = NULL;
    Operate *operate = operate_open(act->spool, false, on_done, act, &busy);
    if (operate)
        return operate;
    if (!g_error_matches(busy, FAIL, FAIL_RACE)) {
        g_propagate_error(error, g_steal_pointer(&busy));
        return NULL;
    }
    fprintf(stderr, "listrunner %s %s: %s; waiting\n", act->verb->aside ? "shunt" : "queue",
            act->verb->name, busy->message);
    return operate_open(act->spool, true, on_done, act, error);
}

static bool is_held(const QueueTarget *target)
{
    QueueState state = QUEUE_CLAIMED;
    g_autoptr(Entry) entry = queue_files_open(target->queue, &target->file, &state, NULL);
    return entry && state == QUEUE_CLAIMED;
}

/* Ask the runner out to give back the targets that are meant and that it holds, which it does when no delivery of them
 * is under way, and wait for that. True: there were any, given back or not, so the states of the targets are old. */
static bool give_back(QueueAct *act, const GArray *targets)
{
    static const char *const queues[] = {"out", "retry", "notice", NULL};
    g_autoptr(GPtrArray) held = g_ptr_array_new();
    for (guint i = 0; i < targets->len; i++) {
        QueueTarget *target = &g_array_index(targets, QueueTarget, i);
        bool by_out = target->file.state == QUEUE_CLAIMED && g_strv_contains(queues, queue_name(target->queue));
        QueueState state;
        Entry *entry = NULL;
        if (by_out && is_meant(target, true, &entry, &state))
            g_ptr_array_add(held, target);
        entry_free(entry);
    }
    for (guint first = 0; first < held->len; first += TOGETHER) {
        g_autoptr(GError) refused = NULL; /* none runs: then nobody holds them for long */
        json_t *hashes = json_array();
        for (guint i = first; i < MIN(first + TOGETHER, held->len); i++) {
            char hash[HASH_DIGITS + 1];
            name_hash_format(((const QueueTarget *)held->pdata[i])->file.name.hash, hash);
            json_array_append_new(hashes, json_string(hash));
        }
        json_decref(destinations_ask(act->site, json_pack("{s:s,s:o}", "verb", "leave", "entries", hashes), &refused));
    }
    int64_t until = clock_monotonic() + PATIENCE;
    for (guint i = 0; i < held->len; i++)
        while (is_held(held->pdata[i]) && clock_monotonic() < until)
            g_usleep(PAUSE);
    return held->len > 0;
}

static bool act_on_all(QueueAct *act, int argc, char **argv, GError **error)
{
    g_auto(GStrv) queues = choose_queues(act->verb, act->spool, error);
    g_autoptr(GArray) targets = queues ? queue_select_targets(act->spool, queues, argc, argv, error) : NULL;
    if (!targets)
        return false;
    act->nothing = targets->len == 0;
    if (act->operate && give_back(act, targets)) {
        g_array_unref(targets);
        targets = queue_select_targets(act->spool, queues, argc, argv, error);
        if (!targets)
            return false;
    }
    for (guint i = 0; i < targets->len; i++)
        if (!act_on(act, &g_array_index(targets, QueueTarget, i), argc > 0, error))
            return false;
    return !act->operate || (flush_pending(act, error) && operate_end(act->operate, error));
}

int queue_act_run(const QueueVerb *verb, Site *site, int argc, char **argv, GError **error)
{
    if (!queue_select_given(argc) && !queue_act_all)
        return command_usage(error, "say which: ENTRY..., --queue, --list, --sender, --recipient or --trace%s",
                             verb->aside ? ", or --all" : "");
    queue_select_list_id(&queue_select_list);
    QueueAct act = {.verb = verb, .site = site, .spool = site_spool(site, error)};
    if (!act.spool)
        return TOOL_LATER;
    g_autoptr(Operate) operate = queue_act_dry ? NULL : begin(&act, error);
    if (!queue_act_dry && !operate)
        return TOOL_LATER;
    act.operate = operate;
    if (operate)
        operate_set_guard(operate, before_delete, &act);
    g_autoptr(Listing) listing = listing_new(columns, queue_act_json);
    g_autoptr(GPtrArray) pending = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
    act.pending = pending;
    act.listing = listing;
    bool sound = act_on_all(&act, argc, argv, error) && (act.done + act.left > 0 ||
                                                         queue_select_list_known(site, queue_select_list, error));
    g_clear_pointer(&listing, listing_free); /* the rows come before the sum */
    if (sound && !queue_act_json && act.nothing && verb->nothing)
        puts(verb->nothing);
    else if (sound && !queue_act_json)
        printf("%" G_GINT64_FORMAT " %s %s%s, %" G_GINT64_FORMAT " not touched\n", act.done,
               act.done == 1 ? "entry" : "entries", queue_act_dry ? "would be " : "", verb->past, act.left);
    return !sound ? TOOL_LATER : act.left > 0 ? TOOL_NOT_SO : TOOL_OK;
}
