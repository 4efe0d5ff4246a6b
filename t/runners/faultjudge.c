/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/faultworld_internal.h"

#include <string.h>

#include "base/clock.h"
#include "switchboard/recover.h"
#include "switchboard/suffix_internal.h"

/* Holds what was found at the end. */
typedef struct Found {
    unsigned archived[FAULT_MESSAGES], set_aside[FAULT_MESSAGES]; /* shunt, or .psv of its queue */
    unsigned corrupt, bounced, strays;
    GString *left; /* what must not be there */
} Found;

static Found found;

static bool has_path(const char *path, const char *queue, const char *suffix)
{
    g_autofree char *dir = g_path_get_dirname(path);
    g_autofree char *name = g_path_get_basename(dir);
    return strcmp(name, queue) == 0 && g_str_has_suffix(path, suffix);
}

static GBytes *content(const char *path)
{
    char *octets = NULL;
    gsize length = 0;
    g_assert_true(g_file_get_contents(path, &octets, &length, NULL));
    return g_bytes_new_take(octets, length);
}

/* Message G as it was spoilt, whole. */
static bool is_damaged(const char *path)
{
    g_autoptr(GBytes) octets = content(path);
    bool right = memmem(g_bytes_get_data(octets, NULL), g_bytes_get_size(octets), "Message: G", 10) != NULL;
    return right && faultworld_was_there(octets);
}

/* An entry set aside: its message, which is -1 when it cannot be read. */
static int kept_message(const char *path)
{
    g_autoptr(Spool) spool = faultworld_spool();
    g_autofree char *dir = g_path_get_dirname(path);
    g_autofree char *queue = g_path_get_basename(dir);
    g_autofree char *file = g_path_get_basename(path);
    g_autoptr(Entry) entry = entry_open(spool_queue(spool, queue, NULL), file, NULL);
    return entry ? fault_entry_number(entry) : -1;
}

/* A child of an entry of in that is set aside because it cannot be read: it stays until a person decides. */
static bool is_kept_child(const char *path)
{
    EntryName name;
    const char *rest;
    Tag tag;
    g_autofree char *file = g_path_get_basename(path);
    if (!faultworld.unreadable || !name_parse(file, &name, &rest) || !suffix_parse_tag(&hand_runner, rest, &tag) ||
        strcmp(tag.queue, "in") != 0)
        return false;
    g_autofree char *in = g_build_filename(faultworld.spool_path, "in", NULL);
    g_autoptr(GDir) dir = g_dir_open(in, 0, NULL);
    bool preserved = false;
    for (const char *other; dir && !preserved && (other = g_dir_read_name(dir)) != NULL;)
        preserved = name_parse(other, &name, &rest) && strcmp(rest, SUFFIX_PRESERVED) == 0 &&
                    memcmp(name.hash, tag.hash, HASH_SIZE) == 0;
    return preserved;
}

static void look(const char *path, bool directory)
{
    bool preserved = has_path(path, "in", ".psv"), stray = has_path(path, "shunt", ".psv");
    int number = -1;
    /* A lock (operate.h), and the records of queues (spool.h). */
    if (directory || has_path(path, "spool", "/.operator") || has_path(path, SPOOL_RECORDS, "") || is_kept_child(path))
        return;
    if (has_path(path, "archived", "")) {
        g_autoptr(GBytes) octets = content(path);
        number = fault_number_of(octets);
        if (number >= 0 && !g_str_has_suffix(path, ".part"))
            found.archived[number]++;
    } else if (has_path(path, "bounces", ".msg")) {
        found.bounced++;
        number = 0;
    } else if (preserved || stray || has_path(path, "shunt", ".msg")) {
        number = kept_message(path);
        if (stray && number == 1)
            found.strays++;
        else if (number >= 0)
            found.set_aside[number]++;
    }
    if (number < 0 && (preserved || has_path(path, "corrupt", ".msg")) && is_damaged(path)) {
        found.corrupt++;
        number = 6;
    }
    if (number < 0)
        g_string_append_printf(found.left, "%s is left; ", path + strlen(faultworld.path));
}

static void expect(const char *what, int number, unsigned seen, unsigned least, unsigned most)
{
    if (seen < least || seen > most)
        g_string_append_printf(found.left, "%s %c is there %u times, not %u to %u; ", what, number, seen, least, most);
}

static void judge_message(int number)
{
    const Plan *plan = &fault_plans[number];
    bool left_over = plan->fate == POISON || plan->fate == UNDONE || plan->fate == DECIDED;
    if (faultworld.unreadable && left_over && found.set_aside[number] > 0)
        return;
    bool here = faultworld.outside->acknowledged >> number & 1;
    bool may = here || faultworld.outside->refused >> number & 1; /* told to come again; what came is whole */
    unsigned archives = 0, repeats = 0;
    for (int i = 0; i < 3 && plan->kids[i]; i++) {
        archives += plan->kids[i][0] == '\0';
        for (const char *at = plan->kids[i]; *at; at++) {
            unsigned seen = faultworld.outside->delivered[*at - 'a'];
            repeats += seen > 1;
            if (!strchr(REFUSED, *at))
                expect("recipient", *at, seen, here, may ? 1 + (faultworld.in_flight > 0) : 0);
        }
    }
    expect("recipients repeated of message", 'A' + number, repeats, 0, faultworld.in_flight);
    expect("archived message", 'A' + number, found.archived[number], here ? archives : 0, may ? archives : 0);
    bool aside = plan->fate == NEVER || plan->fate == POISON;
    expect("set aside message", 'A' + number, found.set_aside[number], here && aside, aside);
}

char *faultworld_judge(void)
{
    static const char *const order[] = {"in", "out", "retry", "archive"};
    faultworld_set_clock(TWO_DAYS);
    found = (Found){.left = g_string_new(NULL)};
    g_autoptr(Spool) spool = faultworld_spool();
    for (unsigned round = 0, worked = 1; worked > 0 || round < 2; round++) {
        worked = 0;
        g_assert_cmpuint(round, <, 20);
        for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
            worked += faultworld_work(spool, order[i]);
    }
    static const char *const all[] = {"in", "out", "retry", "archive", "bounces", "shunt", "corrupt"};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        RecoverReport report = {0};
        unsigned swept;
        Queue *queue = spool_queue(spool, all[i], NULL);
        g_assert_true(recover_slice(queue, (Slice){0, 1}, true, &report, NULL));
        g_assert_true(recover_sweep(queue, (Slice){0, 1}, 3600 * CLOCK_SECOND, &swept, NULL));
    }
    g_autofree char *archived = g_build_filename(faultworld.path, "archived", NULL);
    faultworld_walk(faultworld.spool_path, look);
    faultworld_walk(archived, look);
    for (int number = 0; number < FAULT_MESSAGES; number++)
        judge_message(number);
    bool full = faultworld.outside->acknowledged >> 6 & 1, has_d = faultworld.outside->acknowledged >> 2 & 1;
    expect("damaged message", 'G', found.corrupt, full, full);
    expect("bounce of", 'd', found.bounced, has_d, has_d || faultworld.outside->refused >> 2 & 1);
    expect("stray", 'B', found.strays, full, full);
    char *fault = found.left->len > 0 ? g_strdup(found.left->str) : NULL;
    g_string_free(found.left, TRUE);
    return fault;
}

static char *unfinished; /* the first that was found */
static const char *unfinished_queue;

static void look_unfinished(const char *path, bool directory)
{
    bool ours = strstr(path, unfinished_queue) != NULL;
    if (!directory && !unfinished && ours &&
        (g_str_has_suffix(path, ".bak") || g_str_has_suffix(path, ".done") ||
         (g_str_has_suffix(path, ".tmp") && strchr(strrchr(path, '/'), '-'))))
        unfinished = g_strdup(path);
}

char *faultworld_unfinished(const char *queue)
{
    g_autofree char *part = g_strdup_printf("/%s/", queue);
    unfinished = NULL;
    unfinished_queue = part;
    faultworld_walk(faultworld.spool_path, look_unfinished);
    return unfinished;
}
