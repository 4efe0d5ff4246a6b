/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The test program around scripts: crashproof_main(). Each script is proved in a process of its own, as many at a time
 * as there are processors, and its test tells what that process printed.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "t/switchboard/crashproof.h"

static const CrashProgram *program;
static size_t proved; /* scripts */

/* The process that proves a script. */
typedef struct Job {
    pid_t pid;  /* 0: not started */
    int output; /* a file in memory: what it printed */
} Job;
static Job *jobs;
static bool run_ahead; /* all scripts are wanted */
static GString *needs; /* lines for crashmutate_read_need() */

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

static void prove_script(const Script *script)
{
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
    crashproof_clear(&proof);
    if (program->tear_down)
        program->tear_down(&world);
    crashworld_clear(&world);
}

static void start(Job *job, const Script *script)
{
    if (job->pid)
        return;
    fflush(stdout);
    job->output = memfd_create("output", MFD_CLOEXEC);
    job->pid = fork();
    g_assert_cmpint(job->pid, >=, 0);
    if (job->pid > 0)
        return;
    dup2(job->output, STDOUT_FILENO);
    prove_script(script);
    crashmutate_print_needs();
    fflush(stdout);
    _exit(g_test_failed() ? 1 : 0);
}

/* Waits for the process, and says what it said. */
static void finish(Job *job)
{
    int status;
    g_assert_cmpint(waitpid(job->pid, &status, 0), ==, job->pid);
    FILE *output = fdopen(job->output, "r");
    g_assert_nonnull(output);
    rewind(output);
    g_autofree char *line = NULL;
    size_t room = 0;
    for (ssize_t length; (length = getline(&line, &room, output)) > 0;) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (g_str_has_prefix(line, CRASHMUTATE_NEED))
            g_string_append_printf(needs, "%s\n", line);
        else
            g_test_message("%s", g_str_has_prefix(line, "# ") ? line + 2 : line);
    }
    fclose(output);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    g_test_message(WIFSIGNALED(status) ? "its process was ended by signal %d" : "its process ended with code %d",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    g_test_fail();
}

static void test_script(gconstpointer data)
{
    size_t number = (size_t)((const Script *)data - program->scripts);
    long processors = run_ahead ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
    for (size_t i = number; i < program->count && i < number + (size_t)MAX(processors, 1); i++)
        start(&jobs[i], &program->scripts[i]);
    finish(&jobs[number]);
    proved++;
}

static void test_every_sync(void)
{
    if (proved < program->count) {
        g_test_skip("for all scripts only");
        return;
    }
    g_auto(GStrv) lines = g_strsplit(needs->str, "\n", -1);
    for (char **line = lines; **line; line++)
        crashmutate_read_need(*line);
    crashmutate_every_sync();
}

int crashproof_main(int argc, char **argv, const CrashProgram *self)
{
    program = self;
    run_ahead = true;
    for (int i = 1; i < argc; i++)
        if (g_str_has_prefix(argv[i], "-p") || g_str_has_prefix(argv[i], "-s"))
            run_ahead = false;
    g_test_init(&argc, &argv, NULL);
    jobs = g_new0(Job, program->count);
    needs = g_string_new(NULL);
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
