/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that the start of a runner brings to its end what an operator's command that was killed left: OR1 to OR4. */
#include "switchboard/operate.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/fs.h"
#include "switchboard/operate_internal.h"
#include "switchboard/recover.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

#define SOME_HASH "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33"

static void done(void *data, void *token, const GError *error)
{
    (void)data;
    (void)token;
    (void)error;
}

/* Where the command dies: at the first rename to a name with that end. */
typedef struct Death {
    const char *at;
    bool dead;
} Death;

static int die(const FsEvent *event, void *data)
{
    Death *death = data;
    death->dead = death->dead || (event->call == FS_RENAME && g_str_has_suffix(event->to, death->at));
    return death->dead ? EIO : 0;
}

/* A command that holds the one entry of out and dies. */
static void hold_and_die(Fixture *fixture, const char *at)
{
    g_autofree char *text = fixture_store(fixture, "out", "m");
    EntryName name;
    g_assert_true(name_parse(text, &name, NULL));
    g_assert_true(spool_queue(fixture->spool, "hold", NULL) && spool_queue(fixture->spool, "in", NULL));
    Death death = {.at = at};
    g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, NULL, NULL);
    fs_set_hook(die, &death);
    Entry *entry = operate_claim(operate, spool_queue(fixture->spool, "out", NULL), &name, false, NULL);
    g_assert_nonnull(entry);
    g_assert_false(operate_move(operate, entry, operate_draft_hold(entry), NULL, NULL) && operate_end(operate, NULL));
    fs_set_hook(NULL, NULL);
    g_assert_true(death.dead);
    g_assert_cmpuint(fixture_count(fixture, "hold", ".tmp"), ==, 1);
    g_clear_pointer(&operate, operate_free);
    fixture_reopen(fixture);
}

/* Renames the one file of out, as a power cut may that undoes the command's claim, or more. */
static void set_state(Fixture *fixture, const char *suffix)
{
    g_autofree char *file = fixture_files(fixture, "out", "");
    g_autofree char *stem = g_strndup(file, NAME_LENGTH);
    g_autofree char *wanted = g_strconcat(stem, suffix, NULL);
    g_autofree char *from = fixture_file_path(fixture, "out", file);
    g_autofree char *to = fixture_file_path(fixture, "out", wanted);
    g_assert_cmpint(g_rename(from, to), ==, 0);
}

/* Any runner's start will do. */
static RecoverReport start_runner(Fixture *fixture)
{
    return fixture_recover(fixture, "in", false);
}

/* OR2, in whatever state the parent is that is not decided. */
static void test_rolls_back(Fixture *fixture, gconstpointer data)
{
    static const struct {
        const char *before, *after;
    } states[] = {{".opc", ".msg"}, {".msg", ".msg"}, {".bak", ".bak"}, {".psv", ".psv"}, {".tmp", ".tmp"},
                  {".list-" SOME_HASH ".tmp", ".list-" SOME_HASH ".tmp"}};
    for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
        hold_and_die(fixture, ".opd");
        set_state(fixture, states[i].before);
        start_runner(fixture);
        g_assert_cmpuint(fixture_count(fixture, "hold", ""), ==, 0);
        g_assert_cmpuint(fixture_count(fixture, "shunt", ""), ==, 0);
        g_assert_cmpuint(fixture_count(fixture, "out", states[i].after), ==, 1);
        g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 1);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

/* Directories that were changed and not synced since. */
static int note_dirty(const FsEvent *event, void *data)
{
    GHashTable *dirty = data;
    gpointer place = GINT_TO_POINTER(event->fd);
    if (event->call == FS_SYNC_DIR)
        g_hash_table_remove(dirty, place);
    else if (event->call == FS_RENAME || event->call == FS_UNLINK)
        g_hash_table_add(dirty, place);
    else if (event->call == FS_TRUNCATE)
        g_assert_cmpuint(g_hash_table_size(dirty), ==, 0);
    return 0;
}

/* All is on the disk before the lock file says that nothing is left: who would look again? */
static void test_durable(Fixture *fixture, gconstpointer data)
{
    static const char *const deaths[] = {".opd", ".opd", ".msg"}; /* before the decision, and after it */
    static const char *const states[] = {".opc", ".msg", ".opd"};
    for (size_t i = 0; i < G_N_ELEMENTS(deaths); i++) {
        hold_and_die(fixture, deaths[i]);
        set_state(fixture, states[i]);
        g_autoptr(GHashTable) dirty = g_hash_table_new(NULL, NULL);
        fs_set_hook(note_dirty, dirty);
        start_runner(fixture);
        fs_set_hook(NULL, NULL);
        g_assert_cmpuint(g_hash_table_size(dirty), ==, 0);
        g_assert_cmpuint(fixture_count(fixture, "hold", ""), ==, i == 2);
        g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, i != 2);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

/* As note_dirty; and no parent goes before its children are durable. */
static int note_early(const FsEvent *event, void *data)
{
    if (event->call == FS_UNLINK)
        g_assert_cmpuint(g_hash_table_size(data), ==, 0);
    return note_dirty(event, data);
}

/* Somebody took away the lock file, or it was not in a backup: the next command settles what is there all the same. */
static void test_unmarked(Fixture *fixture, gconstpointer data)
{
    hold_and_die(fixture, ".msg");
    g_autofree char *path = g_build_filename(fixture->path, OPERATE_LOCK_FILE, NULL);
    g_assert_cmpint(g_remove(path), ==, 0);
    g_autoptr(GHashTable) dirty = g_hash_table_new(NULL, NULL);
    fs_set_hook(note_early, dirty);
    operate_free(operate_open(fixture->spool, false, done, NULL, NULL));
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(g_hash_table_size(dirty), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "hold", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 0);
}

/* Another runner starts in the midst of it: it goes on without the lock, and touches nothing. */
static int look_meanwhile(const FsEvent *event, void *data)
{
    Fixture *fixture = data;
    if (event->call != FS_RENAME)
        return 0;
    fs_set_hook(NULL, NULL);
    int lock = 0;
    g_autoptr(Spool) spool = spool_open(fixture->path, NULL);
    g_assert_true(operate_look(spool, &lock, NULL));
    g_assert_cmpint(lock, ==, -1);
    g_assert_cmpuint(fixture_count(fixture, "out", ".opc"), ==, 1);
    return 0;
}

static void test_alone(Fixture *fixture, gconstpointer data)
{
    hold_and_die(fixture, ".opd");
    fs_set_hook(look_meanwhile, fixture);
    start_runner(fixture);
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 1);
}

/* The runner of the parent's queue starts while the command is about to decide: what is the command's stays. */
static int start_meanwhile(const FsEvent *event, void *data)
{
    Fixture *fixture = data;
    if (event->call != FS_RENAME || !g_str_has_suffix(event->to, ".opd"))
        return 0;
    fs_set_hook(NULL, NULL);
    fixture_recover(fixture, "out", true);
    g_assert_cmpuint(fixture_count(fixture, "out", ".opc"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "hold", ".tmp"), ==, 1);
    return 0;
}

static void test_living(Fixture *fixture, gconstpointer data)
{
    g_autofree char *text = fixture_store(fixture, "out", "m");
    EntryName name;
    g_assert_true(name_parse(text, &name, NULL));
    g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, NULL, NULL);
    Entry *entry = operate_claim(operate, spool_queue(fixture->spool, "out", NULL), &name, false, NULL);
    fs_set_hook(start_meanwhile, fixture);
    g_assert_true(operate_move(operate, entry, operate_draft_hold(entry), NULL, NULL) && operate_end(operate, NULL));
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "hold", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "hold", ""), ==, 1);
}

/* OR3 of what was preserved in shunt: nothing runs there, so it may be ready. */
static void test_shunt(Fixture *fixture, gconstpointer data)
{
    g_autofree char *text = fixture_store(fixture, "shunt", "m");
    g_autofree char *ready = g_strconcat(text, ".msg", NULL);
    g_autofree char *preserved = g_strconcat(text, ".psv", NULL);
    g_autofree char *from = fixture_file_path(fixture, "shunt", ready);
    g_autofree char *to = fixture_file_path(fixture, "shunt", preserved);
    g_assert_cmpint(g_rename(from, to), ==, 0);
    EntryName name;
    g_assert_true(name_parse(text, &name, NULL));
    g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, NULL, NULL);
    entry_free(operate_claim(operate, spool_queue(fixture->spool, "shunt", NULL), &name, true, NULL));
    g_clear_pointer(&operate, operate_free); /* it was killed */
    g_assert_cmpuint(fixture_count(fixture, "shunt", ".opc"), ==, 1);
    start_runner(fixture);
    g_autofree char *left = fixture_files(fixture, "shunt", "");
    g_assert_cmpstr(left, ==, ready);
}

/* The original goes when its copy has its name for good. */
static int check_unlink(const FsEvent *event, void *data)
{
    GHashTable *dirty = data;
    if (event->call == FS_UNLINK && g_str_has_suffix(event->name, "+" SOME_HASH ".tmp"))
        g_assert_cmpuint(g_hash_table_size(dirty), ==, 0);
    return note_dirty(event, dirty);
}

/* OR4: whole, and also when its own hash is the one it names: a child is not its own parent. */
static void test_stray(Fixture *fixture, gconstpointer data)
{
    static const char *const queues[] = {"hold", "out"};
    const gsize length = 700 * 1000;
    g_autofree char *octets = g_malloc(length);
    for (gsize i = 0; i < length; i++)
        octets[i] = (char)(i % 251);
    for (size_t i = 0; i < G_N_ELEMENTS(queues); i++) {
        g_assert_true(spool_queue(fixture->spool, queues[i], NULL) && spool_queue(fixture->spool, "in", NULL));
        g_autofree char *path = fixture_file_path(fixture, queues[i], "1700000000.000001+" SOME_HASH ".out+" SOME_HASH
                                                                      ".tmp");
        g_assert_true(g_file_set_contents(path, octets, (gssize)length, NULL));
        g_autoptr(GHashTable) dirty = g_hash_table_new(NULL, NULL);
        fs_set_hook(check_unlink, dirty);
        g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, NULL, NULL);
        fs_set_hook(NULL, NULL);
        g_assert_nonnull(operate);
        g_assert_cmpuint(fixture_count(fixture, queues[i], ""), ==, 0);
        g_autofree char *copy = fixture_file_path(fixture, "shunt", "1700000000.000001+" SOME_HASH ".psv");
        g_autofree char *kept = NULL;
        gsize kept_length = 0;
        g_assert_true(g_file_get_contents(copy, &kept, &kept_length, NULL));
        g_assert_cmpmem(kept, kept_length, octets, length);
        g_assert_cmpuint(fixture_count(fixture, "shunt", ""), ==, 1);
        g_clear_pointer(&operate, operate_free);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

/* One call fails. */
static int fail_one(const FsEvent *event, void *data)
{
    (void)event;
    int *countdown = data;
    return (*countdown)-- == 0 ? EIO : 0;
}

/* A command that goes on after a failure that left an entry in its hands does not say that nothing is left. */
static void test_goes_on(Fixture *fixture, gconstpointer data)
{
    unsigned ended = 0;
    for (int damaged = 0; damaged < 2; damaged++) {
        bool failed = true;
        for (int at = 0; failed; at++) {
            g_autofree char *text = fixture_store(fixture, "out", "m");
            EntryName name;
            int countdown = at;
            g_assert_true(name_parse(text, &name, NULL));
            g_assert_true(spool_queue(fixture->spool, "corrupt", NULL) && spool_queue(fixture->spool, "in", NULL));
            g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, NULL, NULL);
            Queue *out = spool_queue(fixture->spool, "out", NULL);
            fs_set_hook(fail_one, &countdown);
            failed = damaged ? !operate_set_corrupt(operate, out, &name, NULL)
                             : !operate_delete(operate, out, &name, NULL);
            ended += operate_end(operate, NULL);
            fs_set_hook(NULL, NULL);
            failed = failed || countdown < 0;
            g_clear_pointer(&operate, operate_free);
            fixture_reopen(fixture);
            start_runner(fixture);
            unsigned files = fixture_count(fixture, "out", "") + fixture_count(fixture, "corrupt", "");
            g_assert_cmpuint(fixture_count(fixture, "out", ".msg") + fixture_count(fixture, "out", ".psv") +
                             fixture_count(fixture, "corrupt", ".msg"), ==, files);
            g_assert_cmpuint(files, <=, 1);
            fixture_tear_down(fixture, NULL);
            fixture_set_up(fixture, NULL);
        }
    }
    g_assert_cmpuint(ended, >, 5);
}

#define ADD(path, test) \
    g_test_add("/settle/" path, Fixture, NULL, fixture_set_up, test, fixture_tear_down)

SUITE("settle")
{
    g_test_init(&argc, &argv, NULL);
    ADD("rolls back", test_rolls_back);
    ADD("durable", test_durable);
    ADD("unmarked", test_unmarked);
    ADD("alone", test_alone);
    ADD("living", test_living);
    ADD("shunt", test_shunt);
    ADD("stray", test_stray);
    ADD("goes on", test_goes_on);
    return g_test_run();
}
