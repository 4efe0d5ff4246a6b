/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The proof that nothing is lost and nothing done twice, by every state that a power cut can leave (crashlog.h) of
 * scripted runs that make every transition of switchboard/INTERNALS.md: recover, drain, compare with what was promised.
 * The same after a kill, from which others go on. Then the proof of the proof: leave out any one sync, or let two
 * steps change places, and a violation must be found, unless it is shown that nothing else can come of it.
 */
#include <string.h>
#include <unistd.h>

#include "t/switchboard/crashmodel_internal.h"
#include "t/switchboard/crashout.h"
#include "t/switchboard/crashproof.h"
#include "t/switchboard/crashscripts.h"

#define NOW INT64_C(4000000000)

static const Script scripts[] = {
    {"intake", crashscript_intake, 200},
    {"hops", crashscript_hops, 900},
    {"together", crashscript_together, 100},
    {"few open", crashscript_few_open, 300},
    {"chain", crashscript_chain, 100},
    {"deliver", crashscript_deliver, 60},
    {"out marks", crashout_group, 300},
    {"out retries", crashout_retry, 300},
    {"out expires", crashout_expire, 300},
    {"out leaves", crashout_leave, 300},
    {"out cannot move on", crashout_stay, 300},
    {"bounce claimed", crashscript_bounce_claimed, 60},
    {"ledger", crashledger_script, 20},
    {"preserve", crashscript_preserve, 1},
    {"sweep", crashscript_sweep, 1},
    {"damage", crashscript_damage, 1},
    {"damage stays", crashscript_damage_stays, 1},
    {"makes a queue", crashscript_makes_queue, 20},
    {"finds a queue", crashscript_finds_queue, 5},
    {"stray", crashscript_stray, 5},
    {"killed deciding", crashscript_killed_deciding, 60},
    {"killed together", crashscript_killed_together, 200},
    {"killed intake", crashscript_killed_intake, 20},
    {"stored again", crashscript_stored_again, 20},
    {"killed publishing", crashscript_killed_publishing, 60},
    {"killed before", crashscript_killed_before, 20},
    {"killed undoing", crashscript_killed_undoing, 2000},
    {"failed", crashscript_failed, 20},
    {"poison", crashscript_poison, 5},
    {"acts", crashscript_acts, 5},
    {"takes", crashscript_takes, 300},
    {"takes and dies", crashscript_takes_and_dies, 300},
    {"operator holds", crashoperator_hold, 900},
    {"operator requeues", crashoperator_again, 20},
    {"operator deletes", crashoperator_delete, 20},
    {"operator unlinks", crashoperator_unlink, 20},
    {"operator unlinks after undoing", crashoperator_undone_unlinked, 20},
    {"operator and leftovers", crashoperator_leftovers, 20},
    {"found later", crashoperator_no_command, 20},
    {"operator after undoing", crashoperator_undone, 100},
    {"operator deletes after undoing", crashoperator_undone_deleted, 20},
    {"operator deletes after undoing in out", crashoperator_undone_deleted_out, 20},
    {"operator retries", crashoperator_retry, 20},
    {"operator retries unread", crashoperator_retry_unread, 100},
    {"operator retries undone", crashoperator_retry_undone, 20},
    {"operator unlinks with leftovers", crashoperator_leftovers_unlinked, 20},
    {"operator and preserved", crashoperator_preserved, 5},
    {"operator and damage", crashoperator_corrupt, 5},
    {"operator and damage after undoing", crashoperator_undone_corrupt, 20},
    {"operator and damage with leftovers", crashoperator_leftovers_corrupt, 20},
    {"operator and damage stays", crashoperator_corrupt_stays, 5},
    {"operator and stray", crashoperator_stray, 5},
    {"operator killed and stray", crashoperator_left_stray, 5},
    {"operator gives back", crashoperator_unread, 5},
    {"operator killed claiming", crashoperator_killed_claiming, 20},
    {"operator killed deciding", crashoperator_killed_deciding, 20},
    {"operator killed publishing", crashoperator_killed_publishing, 20},
    {"operator killed releasing", crashoperator_killed_releasing, 20},
};

static char *judged(CrashResult result, CrashNotes notes)
{
    return crashworld_judge(&result, &notes);
}

/* Whatever was promised of a message, what an undone run made must not be delivered. */
static void test_judge(void)
{
    const uint64_t eight = 1 << 8;
    enum { OF_UNDONE_RUN = 'l' - 'a' };
    g_autofree char *nothing = judged((CrashResult){0}, (CrashNotes){0});
    g_autofree char *undone = judged((CrashResult){.delivered[OF_UNDONE_RUN] = 1}, (CrashNotes){0});
    g_autofree char *doomed = judged((CrashResult){.delivered[OF_UNDONE_RUN] = 1}, (CrashNotes){.doomed = eight});
    g_autofree char *kept =
        judged((CrashResult){.delivered[OF_UNDONE_RUN] = 1, .kept[8] = 1}, (CrashNotes){0});
    g_assert_null(nothing);
    g_assert_nonnull(undone);
    g_assert_nonnull(doomed);
    g_assert_nonnull(kept);
}

static CrashOp change_of(FsCall call, off_t offset, const char *octets)
{
    return (CrashOp){.call = call, .name = "file", .offset = offset,
                     .data = octets ? g_bytes_new_static(octets, strlen(octets)) : NULL};
}

/* Check that a file may also hold after a power cut what it was between two writes: cut short. */
static void test_disk(void)
{
    CrashOp ops[] = {change_of(FS_CREATE, 0, NULL),   change_of(FS_WRITE, 0, "aaaa"), change_of(FS_SYNC_FILE, 0, NULL),
                     change_of(FS_TRUNCATE, 0, NULL), change_of(FS_PWRITE, 0, "dddd")};
    static const char *const wanted[] = {"aaaa", "", "dddd"};
    g_autoptr(CrashModel) model = crashmodel_new();
    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++) {
        crashmodel_apply(model, &ops[i]);
        g_clear_pointer(&ops[i].data, g_bytes_unref);
    }
    g_autoptr(GPtrArray) contents = crash_contents(&g_array_index(model->files, CrashData, 0));
    for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++) {
        g_autoptr(GBytes) octets = g_bytes_new_static(wanted[i], strlen(wanted[i]));
        g_assert_true(g_ptr_array_find_with_equal_func(contents, octets, g_bytes_equal, NULL));
    }
}

static void add_tests(void)
{
    g_test_add_func("/crash states/judge", test_judge);
    g_test_add_func("/crash states/disk", test_disk);
}

int main(int argc, char **argv)
{
    crash_clock_stands = NOW;
    return crashproof_main(argc, argv, &(CrashProgram){"/crash states", scripts, G_N_ELEMENTS(scripts), NULL, NULL,
                                                       add_tests});
}
