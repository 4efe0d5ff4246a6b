/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/switchboard/crashproof.h"

#include <stdio.h>
#include <string.h>

/* Of distant steps so many changes are tried of each script, or more where it has few states; thirty times as many with
 * -m thorough. */
#define DISTANT 6
#define DISTANT_STATES 8000
/* Of neighbours all are changed about, or so many of a script with many states; all with -m thorough. */
#define NEIGHBOURS 6
#define NEIGHBOURS_STATES 24000

typedef struct Tally {
    unsigned caught, idle, impossible, nothing_new, same, missed;
} Tally;

/* Names what must be needed: a place in the code that syncs, or what is synced there. */
typedef struct Need {
    char *what;
    bool caught;
} Need;

static GHashTable *places; /* CrashOp.site -> Need */
static GHashTable *roles;  /* "SITE TEXT" -> Need: of each place, what it syncs where there is anything to sync */

static void add_need(GHashTable **needs, const char *key, const char *what, bool caught)
{
    if (!*needs)
        *needs = g_hash_table_new(g_str_hash, g_str_equal);
    Need *need = g_hash_table_lookup(*needs, key);
    if (!need) {
        need = g_new0(Need, 1);
        need->what = g_strdup(what);
        g_hash_table_insert(*needs, g_strdup(key), need);
    }
    need->caught |= caught;
}

static void note_need(const Proof *proof, const CrashOp *op, bool is_role, bool caught)
{
    g_autofree char *key = g_strconcat(op->site, " ", is_role ? crashlog_text(op) : NULL, NULL);
    g_autofree char *what = g_strdup_printf("%s: %s at %s", proof->script->name, crashlog_text(op), op->site);
    add_need(is_role ? &roles : &places, key, what, caught);
}

static void print_needs(GHashTable *table, const char *kind)
{
    GHashTableIter iter;
    gpointer key, value;
    if (!table)
        return;
    g_hash_table_iter_init(&iter, table);
    while (g_hash_table_iter_next(&iter, &key, &value))
        printf("%s%s\t%d\t%s\t%s\n", CRASHMUTATE_NEED, kind, ((const Need *)value)->caught, (const char *)key,
               ((const Need *)value)->what);
}

void crashmutate_print_needs(void)
{
    print_needs(places, "place");
    print_needs(roles, "role");
}

void crashmutate_read_need(const char *line)
{
    g_auto(GStrv) words = g_strsplit(line + strlen(CRASHMUTATE_NEED), "\t", 4);
    g_assert_cmpuint(g_strv_length(words), ==, 4);
    add_need(g_str_equal(words[0], "role") ? &roles : &places, words[2], words[3], g_str_equal(words[1], "1"));
}

static unsigned count_needed(GHashTable *table)
{
    GHashTableIter iter;
    gpointer value;
    unsigned needed = 0;
    g_hash_table_iter_init(&iter, table);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Need *need = value;
        needed += need->caught;
        if (!need->caught || g_test_verbose())
            g_test_message("%s: %s", need->caught ? "needed" : "no script needs this sync", need->what);
    }
    return needed;
}

static const CrashOp *op_at(const Proof *proof, guint i)
{
    return &g_array_index(proof->log->ops, CrashOp, i);
}

/* "no sync dir in", "sync dir in, unlink in .done": the steps as they are after the change. */
static char *change_text(const Proof *proof, CrashMutation mutation)
{
    const CrashOp *op = op_at(proof, mutation.at), *to = op_at(proof, mutation.to);
    g_autofree char *first = g_strdup(crashlog_text(op));
    guint between = mutation.to - mutation.at - 1;
    const char *apart = crashlog_apart(op, to) ? " of another file" : "";
    if (mutation.change == CRASH_DROP)
        return g_strconcat("no ", first, NULL);
    if (between == 0)
        return g_strdup_printf("%s, %s%s", crashlog_text(to), first, apart);
    return g_strdup_printf("%s (%s %u) %s%s", crashlog_text(to), mutation.change == CRASH_SWAP    ? "for that before"
                                                                : mutation.change == CRASH_EARLIER ? "before"
                                                                                                    : "and, after",
                           between, first, apart);
}

/* Judge the process as killed between the two. */
static void kill_between(Proof *proof, CrashMutation mutation)
{
    guint every = g_test_thorough() ? 1 : MAX(mutation.to - mutation.at - 1, 1);
    for (guint upto = mutation.at + 1; upto <= mutation.to && !proof->violation; upto += every)
        crashproof_killed(proof, mutation, upto);
}

/* Plays the changed log; a violation must be found. There is none to find where two steps that change places lead to
 * no state of the disk that was not possible before, with as much promised then; or where of each such state comes what
 * may come of one that was. */
static unsigned *judge(Proof *proof, CrashMutation mutation, Tally *tally)
{
    bool drops = mutation.change == CRASH_DROP;
    if (!drops && !crashlog_can(proof->log, mutation))
        return &tally->impossible;
    bool differs = crashproof_changed(proof, mutation);
    if (differs && !proof->violation)
        crashproof_compare(proof, mutation);
    if (differs && !proof->violation && !drops && proof->fresh > 0)
        kill_between(proof, mutation);
    return proof->violation           ? &tally->caught
           : !differs && drops        ? &tally->idle
           : !differs || !proof->fresh ? &tally->nothing_new
           : proof->other == 0        ? &tally->same
                                      : &tally->missed;
}

static void mutate(Proof *proof, CrashMutation mutation, Tally *tally)
{
    const CrashOp *op = op_at(proof, mutation.at);
    unsigned *kind = judge(proof, mutation, tally);
    ++*kind;
    if (kind == &tally->missed || g_test_verbose()) {
        g_autofree char *change = change_text(proof, mutation);
        if (kind == &tally->caught || kind == &tally->same || kind == &tally->missed)
            g_test_message("%u %s: %s%s", mutation.at, change, kind == &tally->caught ? "caught: "
                                                               : kind == &tally->same ? "the same comes of it"
                                                                                      : "NOT CAUGHT",
                           kind == &tally->caught ? proof->violation : "");
    }
    if (mutation.change == CRASH_DROP && op->site) {
        note_need(proof, op, false, kind == &tally->caught);
        if (kind != &tally->idle)
            note_need(proof, op, true, kind == &tally->caught);
    }
    g_clear_pointer(&proof->violation, g_free);
}

static void tell(const char *what, const Tally *tally)
{
    g_test_message("%s: %u caught, %u lead to no new state, of %u the same comes, %u cannot be, %u not caught", what,
                   tally->caught, tally->nothing_new, tally->same, tally->impossible, tally->missed);
}

/* Any two steps that are no neighbours, in all three ways; where these are too many, some: the same each time, or with
 * -m thorough thirty times as many, at random (--seed). */
static void mutate_distant(Proof *proof, Tally tallies[3])
{
    g_autoptr(GRand) chance = g_rand_new_with_seed(g_test_thorough() ? (guint32)g_test_rand_int() : 1);
    unsigned wanted = MAX(DISTANT, DISTANT_STATES / MAX(proof->states, 1)) * (g_test_thorough() ? 30 : 1);
    static const CrashChange changes[] = {CRASH_SWAP, CRASH_LATER, CRASH_EARLIER};
    guint first = proof->log->changes, count = proof->log->ops->len - first;
    guint pairs = count < 3 ? 0 : (count - 1) * (count - 2) / 2;
    for (guint i = first; i < proof->log->ops->len; i++)
        for (guint k = i + 2; k < proof->log->ops->len; k++)
            for (unsigned way = 0; way < 3; way++)
                if (3 * pairs <= wanted || g_rand_int_range(chance, 0, (gint32)(3 * pairs)) < (gint32)wanted)
                    mutate(proof, (CrashMutation){changes[way], i, k, false}, &tallies[way]);
}

void crashmutate_all(Proof *proof)
{
    Tally dropped = {0}, swapped = {0}, distant[3] = {0};
    g_autoptr(GRand) chance = g_rand_new_with_seed(1);
    gint32 pairs = (gint32)(proof->log->ops->len - proof->log->changes);
    gint32 wanted = g_test_thorough() ? pairs : (gint32)MAX(NEIGHBOURS, NEIGHBOURS_STATES / MAX(proof->states, 1));
    for (guint i = proof->log->changes; i < proof->log->ops->len; i++) {
        FsCall call = op_at(proof, i)->call;
        if (call == FS_SYNC_FILE || call == FS_SYNC_DIR)
            mutate(proof, (CrashMutation){CRASH_DROP, i, i, false}, &dropped);
        if (i + 1 < proof->log->ops->len && (pairs <= wanted || g_rand_int_range(chance, 0, pairs) < wanted))
            mutate(proof, (CrashMutation){CRASH_SWAP, i, i + 1, false}, &swapped);
    }
    mutate_distant(proof, distant);
    g_test_message("syncs left out: %u caught, %u had nothing to sync, %u lead to no new state, of %u the same comes, "
                   "%u not caught", dropped.caught, dropped.idle, dropped.nothing_new, dropped.same, dropped.missed);
    tell("neighbours changed about", &swapped);
    tell("distant steps changed about", &distant[0]);
    tell("steps made later", &distant[1]);
    tell("steps made earlier", &distant[2]);
    if (dropped.missed + swapped.missed + distant[0].missed + distant[1].missed + distant[2].missed > 0)
        g_test_fail();
}

/* A sync that no script needs is none that anybody needs, or a script is missing. */
void crashmutate_every_sync(void)
{
    if (!places)
        return;
    unsigned needed = count_needed(places), needed_roles = count_needed(roles);
    g_test_message("%u places that sync, %u of them needed; they sync %u things, %u of them needed",
                   g_hash_table_size(places), needed, g_hash_table_size(roles), needed_roles);
    if (needed < g_hash_table_size(places) || needed_roles < g_hash_table_size(roles))
        g_test_fail();
}
