/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The proof that nothing is lost and nothing done twice, by every state that a power cut can leave (crashlog.h) of
 * scripted runs that make every transition of switchboard/INTERNALS.md: recover, drain, compare with what was promised.
 * The same after a kill, from which others go on. Then the proof of the proof: leave out any one sync, or let two
 * steps change places, and a violation must be found, unless it is shown that nothing else can come of it.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "t/switchboard/crashproof.h"
#include "t/switchboard/crashscripts.h"

static unsigned proved; /* scripts */

static const Script scripts[] = {
    {"intake", crashscript_intake, 200},
    {"hops", crashscript_hops, 900},
    {"together", crashscript_together, 100},
    {"few open", crashscript_few_open, 300},
    {"chain", crashscript_chain, 100},
    {"deliver", crashscript_deliver, 60},
    {"ledger", crashledger_script, 20},
    {"preserve", crashscript_preserve, 1},
    {"sweep", crashscript_sweep, 1},
    {"damage", crashscript_damage, 1},
    {"damage stays", crashscript_damage_stays, 1},
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

/* Runs with the log of the switchboard put aside: it tells of each damage. */
static void quietly(Proof *proof, void (*run)(Proof *proof))
{
    int loud = dup(STDERR_FILENO);
    auto_fd quiet = memfd_create("log", MFD_CLOEXEC);
    dup2(quiet, STDERR_FILENO);
    run(proof);
    dup2(loud, STDERR_FILENO);
    close(loud);
}

/* Under valgrind and with sanitizers, where all takes many times as long: violations are found without them. */
static bool for_memory_only(void)
{
#ifdef __SANITIZE_ADDRESS__
    return !g_test_thorough();
#else
    return g_getenv("LISTRUNNER_VALGRIND") != NULL;
#endif
}

static void prove(Proof *proof)
{
    bool sampled = for_memory_only();
    if (sampled)
        crashproof_sampled(proof);
    else
        crashproof_all(proof);
    g_test_message("%s: %u steps, %u states, after a second cut %u, after a kill %u; %u distinct on the disk; %s",
                   proof->script->name, proof->log->ops->len - proof->log->first, proof->states, proof->second,
                   proof->after_kill, g_hash_table_size(proof->results),
                   proof->violation ? proof->violation : "no violation");
    if (proof->violation)
        g_test_fail();
    else if (!sampled)
        crashmutate_all(proof);
}

static void test_script(gconstpointer data)
{
    const Script *script = data;
    CrashWorld world;
    Proof proof;
    crashworld_init(&world);
    g_autoptr(CrashLog) log = crashlog_new();
    crashproof_init(&proof, script, &world, log);
    world.log = log;
    crashlog_record(log);
    script->run(&world);
    crashlog_stop();
    world.log = NULL; /* the drains note nothing */
    if (g_test_verbose())
        crashproof_print_steps(log);
    quietly(&proof, prove);
    proved++;
    crashproof_clear(&proof);
    crashworld_clear(&world);
}

static void test_every_sync(void)
{
    if (proved < G_N_ELEMENTS(scripts))
        g_test_skip("for all scripts only");
    else
        crashmutate_every_sync();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
        g_autofree char *path = g_strdup_printf("/crash states/%s", scripts[i].name);
        g_test_add_data_func(path, &scripts[i], test_script);
    }
    if (!for_memory_only())
        g_test_add_func("/crash states/every sync", test_every_sync);
    return g_test_run();
}
