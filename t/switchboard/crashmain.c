/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The test program around scripts: crashproof_main(). */
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "t/switchboard/crashproof.h"

static const CrashProgram *program;
static size_t proved; /* scripts */

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
    if (program->set_up)
        program->set_up(&world);
    g_autoptr(CrashLog) log = crashlog_new();
    crashproof_init(&proof, script, &world, log);
    world.log = log;
    crashlog_record(log);
    script->run(&world);
    crashlog_stop();
    world.log = NULL; /* the drains note nothing */
    g_autofree char *missed = crashlog_misses(log, world.path);
    g_assert_cmpstr(missed, ==, NULL);
    for (int i = 0; i < CRASH_RECIPIENTS; i++)
        g_assert_cmpuint(world.delivered[i], <=, 1);
    if (g_test_verbose())
        crashproof_print_steps(log);
    quietly(&proof, prove);
    proved++;
    crashproof_clear(&proof);
    if (program->tear_down)
        program->tear_down(&world);
    crashworld_clear(&world);
}

static void test_every_sync(void)
{
    if (proved < program->count)
        g_test_skip("for all scripts only");
    else
        crashmutate_every_sync();
}

int crashproof_main(int argc, char **argv, const CrashProgram *self)
{
    program = self;
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < program->count; i++) {
        g_autofree char *path = g_strdup_printf("%s/%s", program->path, program->scripts[i].name);
        g_test_add_data_func(path, &program->scripts[i], test_script);
    }
    if (program->add_tests)
        program->add_tests();
    g_autofree char *path = g_strconcat(program->path, "/every sync", NULL);
    if (!for_memory_only())
        g_test_add_func(path, test_every_sync);
    return g_test_run();
}
