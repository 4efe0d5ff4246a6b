/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test whom the runner watch tells of which fault, and when: with two faults, a program that fails for a while, and a
 * state that is known in part. */
#include "runners/watch/alarm.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/site/attention.h"
#include "t/config_text.h"
#include "t/lists/places.h"
#include "t/suite.h"

#define WAITING "queue in", "2 entries wait"
#define STOPPED "process out 1", "it is not running"

typedef struct Watched {
    Place place;
    char *said; /* the file to which the program adds "STATE KEY" */
    char *code; /* the file from which it takes its exit code */
    Config *config;
    Alarm *alarm;
} Watched;

static bool alive(void *data)
{
    (void)data;
    return true;
}

static void end_with(const Watched *watched, const char *code)
{
    g_assert_true(g_file_set_contents(watched->code, code, -1, NULL));
}

/* As after a start of the runner. */
static void start(Watched *watched)
{
    alarm_free(watched->alarm);
    watched->alarm = alarm_new(watched->config, watched->place.spool, alive, NULL);
}

static void configure(Watched *watched, const char *after)
{
    g_autofree char *text = g_strdup_printf("[site]\nuser = nobody\n[runner.watch]\nstart = yes\n"
                                            "[watch]\nafter = %s\ncommand = sh %s/tell\n",
                                            after, watched->place.folder);
    config_free(watched->config);
    watched->config = config_from_text(text);
    start(watched);
}

static void set_up(Watched *watched, const void *after)
{
    *watched = (Watched){0};
    place_open(&watched->place);
    const char *folder = watched->place.folder;
    watched->said = g_build_filename(folder, "said", NULL);
    watched->code = g_build_filename(folder, "code", NULL);
    g_autofree char *program = g_build_filename(folder, "tell", NULL);
    g_autofree char *text = g_strdup_printf("cat >/dev/null; echo \"$1 $2\" >>%s; exit $(cat %s)\n", watched->said,
                                            watched->code);
    g_assert_true(g_file_set_contents(program, text, -1, NULL));
    end_with(watched, "0");
    configure(watched, after);
}

static void tear_down(Watched *watched, const void *data)
{
    (void)data;
    alarm_free(watched->alarm);
    config_free(watched->config);
    place_close(&watched->place);
    g_free(watched->said);
    g_free(watched->code);
}

/* Look once: keys and texts of the faults that there are, ended by NULL. Return whether all could be told. */
static bool look(Watched *watched, bool whole, const char *const *faults)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)attention_free);
    for (; *faults; faults += 2) {
        Attention *one = g_new0(Attention, 1);
        one->key = g_strdup(faults[0]);
        one->text = g_strdup(faults[1]);
        g_ptr_array_add(all, one);
    }
    g_autoptr(GError) error = NULL;
    bool told = alarm_look(watched->alarm, all, whole, &error);
    g_assert_true(told == !error);
    return told;
}

#define LOOK(watched, whole, ...) look(watched, whole, (const char *const[]){__VA_ARGS__, NULL})

static int compare(gconstpointer one, gconstpointer other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Compare what the program was told since the last call, in the order of the text. */
static void assert_said(Watched *watched, const char *wanted)
{
    g_autofree char *said = NULL;
    g_autoptr(GPtrArray) lines = g_ptr_array_new();
    if (!g_file_get_contents(watched->said, &said, NULL, NULL))
        said = g_strdup("");
    g_auto(GStrv) all = g_strsplit(said, "\n", -1);
    for (char **line = all; *line; line++)
        if (**line)
            g_ptr_array_add(lines, *line);
    g_ptr_array_sort(lines, compare);
    g_ptr_array_add(lines, NULL);
    g_autofree char *sorted = g_strjoinv(", ", (char **)lines->pdata);
    g_assert_cmpstr(sorted, ==, wanted);
    g_unlink(watched->said);
}

/* Each fault is told once, and once that it is gone, also by a runner that was started meanwhile. */
static void test_once(Watched *watched, const void *data)
{
    (void)data;
    g_assert_true(LOOK(watched, true, WAITING));
    assert_said(watched, "fault queue in");
    g_assert_true(LOOK(watched, true, WAITING, STOPPED));
    assert_said(watched, "fault process out 1");
    start(watched);
    g_assert_true(LOOK(watched, true, WAITING, STOPPED));
    assert_said(watched, "");
    g_assert_true(LOOK(watched, true, STOPPED));
    assert_said(watched, "gone queue in");
    start(watched);
    g_assert_true(LOOK(watched, true, STOPPED));
    g_assert_true(LOOK(watched, true, WAITING, STOPPED));
    assert_said(watched, "fault queue in");
}

/* A program that fails has told nobody. It is run again at each look until it succeeds: for the fault, and for its end,
 * also by a runner that was started meanwhile. */
static void test_program_fails(Watched *watched, const void *data)
{
    (void)data;
    end_with(watched, "1");
    for (int i = 0; i < 2; i++) {
        g_assert_false(LOOK(watched, true, WAITING));
        assert_said(watched, "fault queue in");
    }
    end_with(watched, "0");
    start(watched);
    g_assert_true(LOOK(watched, true, WAITING));
    assert_said(watched, "fault queue in");
    end_with(watched, "1");
    for (int i = 0; i < 2; i++) {
        g_assert_false(LOOK(watched, true, STOPPED));
        assert_said(watched, "fault process out 1, gone queue in");
        start(watched);
    }
    end_with(watched, "0");
    g_assert_true(LOOK(watched, true, STOPPED));
    assert_said(watched, "fault process out 1, gone queue in");
    g_assert_true(LOOK(watched, true, STOPPED));
    assert_said(watched, "");
}

/* The operator does not hear that a fault is gone of which the program could not tell. */
static void test_gone_untold(Watched *watched, const void *data)
{
    (void)data;
    end_with(watched, "1");
    g_assert_false(LOOK(watched, true, WAITING));
    assert_said(watched, "fault queue in");
    g_assert_true(look(watched, true, (const char *const[]){NULL}));
    assert_said(watched, "");
}

/* Where a part of the state could not be found out, a fault that is not seen is not over. */
static void test_unknown(Watched *watched, const void *data)
{
    (void)data;
    g_assert_true(LOOK(watched, true, WAITING, STOPPED));
    assert_said(watched, "fault process out 1, fault queue in");
    g_assert_true(LOOK(watched, false, "database", "it is away"));
    assert_said(watched, "fault database");
    g_assert_true(LOOK(watched, true, STOPPED));
    assert_said(watched, "gone database, gone queue in");
    g_assert_true(look(watched, false, (const char *const[]){NULL}));
    g_assert_true(LOOK(watched, true, STOPPED));
    assert_said(watched, "");
}

/* A fault is told when it has lasted for as long as [watch] after says, and one that was over before is not told. */
static void test_lasts(Watched *watched, const void *data)
{
    (void)data;
    g_assert_true(LOOK(watched, true, WAITING, STOPPED));
    clock_put(3590);
    g_assert_true(LOOK(watched, true, STOPPED));
    g_assert_true(LOOK(watched, true, WAITING, STOPPED));
    assert_said(watched, "");
    clock_put(3605);
    g_assert_true(LOOK(watched, true, WAITING, STOPPED));
    assert_said(watched, "fault process out 1");
    g_assert_true(LOOK(watched, true, WAITING));
    assert_said(watched, "gone process out 1");
    g_assert_true(look(watched, true, (const char *const[]){NULL}));
    assert_said(watched, "");
    clock_put(0);
}

SUITE("watch/alarm")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/alarm/each fault and its end is told once", Watched, "0", set_up, test_once, tear_down);
    g_test_add("/alarm/a program that fails told nobody", Watched, "0", set_up, test_program_fails, tear_down);
    g_test_add("/alarm/gone before anybody heard of it", Watched, "0", set_up, test_gone_untold, tear_down);
    g_test_add("/alarm/not seen is not gone", Watched, "0", set_up, test_unknown, tear_down);
    g_test_add("/alarm/told once it has lasted", Watched, "1h", set_up, test_lasts, tear_down);
    return clock_run_tests();
}
