/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/claim.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/index_internal.h"
#include "t/suite.h"
#include "t/switchboard/clock.h"
#include "t/switchboard/fixture.h"

static void free_entries(GPtrArray *entries)
{
    for (guint i = 0; i < entries->len; i++)
        entry_free(entries->pdata[i]);
    g_ptr_array_unref(entries);
}

static void test_in_order(Fixture *fixture, gconstpointer data)
{
    g_autofree char *first = fixture_store(fixture, "in", "1");
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in"); /* lists the first, is told of the others */
    g_autofree char *second = fixture_store(fixture, "in", "2");
    g_autofree char *third = fixture_store(fixture, "in", "3");
    GPtrArray *entries = fixture_claim(inbox);
    g_assert_cmpuint(entries->len, ==, 3);
    g_assert_cmpstr(entry_text(entries->pdata[0]), ==, first);
    g_assert_cmpstr(entry_text(entries->pdata[1]), ==, second);
    g_assert_cmpstr(entry_text(entries->pdata[2]), ==, third);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 3);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 0);
    free_entries(entries);
    free_entries(fixture_claim(inbox)); /* our own renames bring nothing back */
    g_assert_cmpint(inbox_wait(inbox, clock_now()), ==, -1);
}

/* The steps apart: what happens to an entry between them is seen by the next. */
static void test_in_steps(Fixture *fixture, gconstpointer data)
{
    static const char *const texts[] = {"1", "2", "3", "4"};
    char *names[G_N_ELEMENTS(texts)];
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        names[i] = fixture_store(fixture, "in", texts[i]);
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(GArray) claims = g_array_new(FALSE, FALSE, sizeof(Claim));
    g_assert_cmpuint(inbox_pick(inbox, 3, claims), ==, 3);
    g_assert_cmpuint(inbox_pick(inbox, 9, claims), ==, 1);
    g_assert_cmpuint(inbox_pick(inbox, 9, claims), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 4);
    g_autofree char *second = g_strconcat(names[1], ".msg", NULL);
    g_autofree char *gone = fixture_file_path(fixture, "in", second);
    g_assert_cmpint(g_unlink(gone), ==, 0);
    GPtrArray *entries = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < claims->len; i++)
        claim_begin(&g_array_index(claims, Claim, i));
    for (guint i = 0; i < claims->len; i++) {
        claim_make(&g_array_index(claims, Claim, i));
        g_assert_true(inbox_take(inbox, &g_array_index(claims, Claim, i), entries, &error));
        g_assert_no_error(error);
    }
    g_assert_cmpuint(entries->len, ==, 3);
    g_assert_cmpstr(entry_text(entries->pdata[0]), ==, names[0]);
    g_assert_cmpstr(entry_text(entries->pdata[1]), ==, names[2]);
    g_assert_cmpstr(entry_text(entries->pdata[2]), ==, names[3]);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 3);
    free_entries(entries);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        g_free(names[i]);
}

/* Bytes that change, or are cut off, after the file was opened. */
static void test_in_steps_damaged(Fixture *fixture, gconstpointer data)
{
    g_autofree char *cut = fixture_store(fixture, "in", "cut");
    g_autofree char *sound = fixture_store(fixture, "in", "sound");
    g_autofree char *claimed = g_strconcat(cut, ".bak", NULL);
    g_autofree char *path = fixture_file_path(fixture, "in", claimed);
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(GArray) claims = g_array_new(FALSE, FALSE, sizeof(Claim));
    g_assert_cmpuint(inbox_pick(inbox, 9, claims), ==, 2);
    GPtrArray *entries = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < claims->len; i++)
        claim_begin(&g_array_index(claims, Claim, i));
    g_assert_cmpint(truncate(path, 20), ==, 0);
    for (guint i = 0; i < claims->len; i++) {
        claim_make(&g_array_index(claims, Claim, i));
        g_assert_true(inbox_take(inbox, &g_array_index(claims, Claim, i), entries, &error));
        g_assert_no_error(error);
    }
    g_assert_cmpuint(entries->len, ==, 1);
    g_assert_cmpstr(entry_text(entries->pdata[0]), ==, sound);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS)); /* in corrupt/ */
    free_entries(entries);
}

static int count_calls(const FsEvent *event, void *data)
{
    unsigned *calls = data;
    calls[event->call]++;
    return 0;
}

/* One sync for all that were claimed, and only where it was asked for. */
static void test_durable(Fixture *fixture, gconstpointer data)
{
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    for (int durable = 0; durable < 2; durable++) {
        for (int i = 0; i < 3; i++)
            g_free(fixture_store(fixture, "in", "m"));
        GPtrArray *entries = g_ptr_array_new();
        unsigned calls[FS_SYNC_DIR + 1] = {0};
        g_assert_true(inbox_refresh(inbox, NULL));
        fs_set_hook(count_calls, calls);
        g_assert_true(inbox_claim(inbox, 3, durable, entries, NULL));
        fs_set_hook(NULL, NULL);
        g_assert_cmpuint(entries->len, ==, 3);
        g_assert_cmpuint(calls[FS_RENAME], ==, 3);
        g_assert_cmpuint(calls[FS_SYNC_DIR], ==, durable);
        free_entries(entries);
    }
}

/* A claim ends with the entry that brings the messages to the bound; it takes one at least. */
static void test_octets(Fixture *fixture, gconstpointer data)
{
    static const guint expected[] = {2, 1, 2};
    const char *const messages[] = {"four", "six oc", "ten octets, and more", "four", "five"};
    for (size_t i = 0; i < G_N_ELEMENTS(messages); i++)
        g_free(fixture_store(fixture, "in", messages[i]));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    inbox_bound_octets(inbox, 10);
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        GPtrArray *entries = fixture_claim(inbox);
        g_assert_cmpuint(entries->len, ==, expected[i]);
        free_entries(entries);
    }
}

/* Check that a file that the system cannot read now is put back and waits; it does not keep the runner from its
 * work. */
static void test_unreadable(Fixture *fixture, gconstpointer data)
{
    g_autofree char *name = fixture_store(fixture, "in", "m");
    for (int poll = 0; poll < 2; poll++) {
        Wakeup wakeup = {.polls = poll, .poll_us = 1000};
        g_autoptr(Inbox) inbox = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
        g_autoptr(GPtrArray) entries = g_ptr_array_new();
        g_autoptr(GError) error = NULL;
        struct rlimit before;
        g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
        struct rlimit none = {0, before.rlim_max};
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &none), ==, 0);
        bool claimed = inbox_claim(inbox, 10, false, entries, &error);
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
        g_assert_no_error(error);
        g_assert_true(claimed);
        g_assert_cmpuint(entries->len, ==, 0);
        g_assert_true(inbox_refresh(inbox, NULL));
        int64_t wait = inbox_wait(inbox, clock_now());
        g_assert_cmpint(wait, >, poll ? -1 : 50 * CLOCK_SECOND);
        g_assert_cmpint(wait, <=, 60 * CLOCK_SECOND);
        g_autofree char *file = fixture_files(fixture, "in", "");
        g_assert_true(g_str_has_suffix(file, ".msg"));
        g_assert_cmpmem(file + 17, HASH_DIGITS, name + 17, HASH_DIGITS);
        g_autofree char *from = fixture_file_path(fixture, "in", file);
        g_autofree char *plain = g_strconcat(name, ".msg", NULL);
        g_autofree char *to = fixture_file_path(fixture, "in", plain);
        g_assert_cmpint(rename(from, to), ==, 0);
    }
}

static void test_slices(Fixture *fixture, gconstpointer data)
{
    for (int i = 0; i < 64; i++) {
        g_autofree char *text = g_strdup_printf("message %d", i);
        g_free(fixture_store(fixture, "in", text));
    }
    unsigned total = 0;
    for (unsigned i = 0; i < 4; i++) {
        g_autoptr(Inbox) inbox = inbox_open(fixture->spool, "in", (Slice){i, 4}, (Wakeup){0}, NULL);
        GPtrArray *entries = fixture_claim(inbox);
        for (guint k = 0; k < entries->len; k++)
            g_assert_cmpuint(slice_of(entry_name(entries->pdata[k])->hash, 4), ==, i);
        total += entries->len;
        free_entries(entries);
    }
    g_assert_cmpuint(total, ==, 64);
}

static void test_release(Fixture *fixture, gconstpointer data)
{
    g_autofree char *name = fixture_store(fixture, "in", "1");
    for (int poll = 0; poll < 2; poll++) {
        Wakeup wakeup = {.polls = poll, .poll_us = 1000};
        g_autoptr(Inbox) inbox = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
        g_assert_true(inbox_release(inbox, fixture_claim_one(inbox), 0, NULL)); /* as it was */
        int64_t later = clock_now() + 3600 * CLOCK_SECOND;
        g_assert_true(inbox_release(inbox, fixture_claim_one(inbox), later, NULL));
        g_assert_true(inbox_refresh(inbox, NULL));
        g_autoptr(GPtrArray) none = fixture_claim(inbox);
        g_assert_cmpuint(none->len, ==, 0);
        if (!poll)
            g_assert_cmpint(inbox_wait(inbox, later - 5), ==, 5);
        g_assert_cmpint(inbox_wait(inbox, later), ==, 0);
        g_autofree char *file = fixture_files(fixture, "in", "");
        g_assert_true(g_str_has_suffix(file, ".msg"));
        g_autofree char *from = fixture_file_path(fixture, "in", file);
        g_autofree char *plain = g_strconcat(name, ".msg", NULL);
        g_autofree char *to = fixture_file_path(fixture, "in", plain);
        g_assert_cmpint(rename(from, to), ==, 0);
    }
}

static void test_preserve(Fixture *fixture, gconstpointer data)
{
    g_free(fixture_store(fixture, "in", "1"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    unsigned calls[FS_SYNC_DIR + 1] = {0};
    fs_set_hook(count_calls, calls);
    g_assert_true(inbox_preserve(inbox, entries->pdata[0], NULL));
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(calls[FS_SYNC_DIR], ==, 1);
    /* Neither its runner nor a new one touches it. */
    g_autoptr(Inbox) again = fixture_inbox(fixture, "in");
    g_autoptr(GPtrArray) none = fixture_claim(inbox), none_again = fixture_claim(again);
    g_assert_cmpuint(none->len + none_again->len, ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "in", ".psv"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
}

/* T11: whole, byte for byte, and the entries behind it go on. */
static void test_damage(Fixture *fixture, gconstpointer data)
{
    g_autofree char *bad = fixture_store(fixture, "in", "to be damaged");
    g_autofree char *good = fixture_store(fixture, "in", "sound");
    g_autofree char *file = g_strconcat(bad, ".msg", NULL);
    g_autofree char *path = fixture_file_path(fixture, "in", file);
    g_autofree char *octets = NULL;
    size_t length;
    g_assert_true(g_file_get_contents(path, &octets, &length, NULL));
    octets[length / 2] ^= 1;
    g_assert_true(g_file_set_contents(path, octets, (gssize)length, NULL));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Entry) entry = fixture_claim_one(inbox);
    g_assert_cmpstr(entry_text(entry), ==, good);
    g_autofree char *corrupt = fixture_files(fixture, "corrupt", "");
    g_assert_cmpstr(corrupt, ==, file);
    g_autofree char *moved = fixture_file_path(fixture, "corrupt", corrupt);
    g_autofree char *kept = NULL;
    size_t kept_length;
    g_assert_true(g_file_get_contents(moved, &kept, &kept_length, NULL));
    g_assert_cmpmem(kept, kept_length, octets, length);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
}

/* Directories, links and FIFOs with an entry's name are kept out of the way. */
static void test_strange_files(Fixture *fixture, gconstpointer data)
{
    g_assert_nonnull(spool_queue(fixture->spool, "in", NULL));
    static const char hash[] = "+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33.msg";
    g_autofree char *dir = g_strdup_printf("%s/in/1700000000.000001%s", fixture->path, hash);
    g_autofree char *link = g_strdup_printf("%s/in/1700000000.000002%s", fixture->path, hash);
    g_autofree char *fifo = g_strdup_printf("%s/in/1700000000.000003%s", fixture->path, hash);
    g_autofree char *empty = g_strdup_printf("%s/in/1700000000.000004%s", fixture->path, hash);
    g_assert_cmpint(g_mkdir(dir, 0700), ==, 0);
    g_assert_cmpint(symlink("/etc/passwd", link), ==, 0);
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    g_assert_true(g_file_set_contents(empty, "", 0, NULL));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_assert_cmpuint(entries->len, ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "in", ".psv"), ==, 3);
    g_assert_cmpuint(fixture_count(fixture, "corrupt", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 3);
}

/* The index never holds more than its limit for long, loses nothing that is
 * earlier than its horizon, and gives names in order. */
static void test_bounded_index(void)
{
    Index index;
    index_init(&index, 100);
    for (int i = 0; i < 1000; i++) {
        EntryName name = {.due = (i * 7919) % 1000 + 1};
        index_add(&index, &name);
        g_assert_cmpuint(index_length(&index), <=, 201);
    }
    g_assert_cmpint(index.horizon, <=, 1000);
    g_assert_cmpuint(index_due(&index, index.horizon - 1), ==, (size_t)index.horizon - 1);
    for (int64_t due = 1; due < index.horizon; due++) {
        g_assert_cmpint(index_first(&index)->due, ==, due);
        index_remove_first(&index);
    }
    g_assert_null(index_first(&index));
    index_clear(&index);
}

/* Before it is due, by its hash: under the time that is expected, under another, and in a directory that the index
 * does not hold whole. */
static void test_by_hash(Fixture *fixture, gconstpointer data)
{
    g_free(fixture_store(fixture, "in", "m"));
    for (int round = 0; round < 2; round++) {
        Wakeup wakeup = {.polls = round, .poll_us = CLOCK_SECOND};
        g_autoptr(Inbox) inbox = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
        Entry *put_off = fixture_claim_one(inbox);
        EntryName name = *entry_name(put_off);
        int64_t later = clock_now() + 3600 * CLOCK_SECOND;
        g_assert_true(inbox_release(inbox, put_off, later, NULL));
        g_autoptr(GPtrArray) none = fixture_claim(inbox);
        g_assert_cmpuint(none->len, ==, 0);
        int64_t expected[] = {later, 0, later + 1};
        for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
            g_autoptr(GError) error = NULL;
            g_autoptr(Entry) entry = inbox_claim_hash(inbox, name.hash, expected[i], &error);
            g_assert_no_error(error);
            g_assert_nonnull(entry);
            g_assert_cmpint(entry_name(entry)->due, ==, later);
            g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
            g_assert_null(inbox_claim_hash(inbox, name.hash, expected[i], &error));
            g_assert_no_error(error);
            g_assert_true(inbox_release_name(inbox, entry_name(entry), 0, NULL));
        }
        name.hash[0] ^= 1;
        g_assert_null(inbox_claim_hash(inbox, name.hash, later, NULL));
        name.hash[0] ^= 1;
        g_autoptr(Entry) entry = inbox_claim_hash(inbox, name.hash, later, NULL);
        g_assert_true(inbox_release_name(inbox, entry_name(entry), clock_now(), NULL));
    }
}

/* The time of the next listing comes while inbox_wait() looks: that is no "nothing to wait for". */
static void test_listing_due(Fixture *fixture, gconstpointer data)
{
    Wakeup wakeup = {.polls = true, .poll_us = 90 * CLOCK_SECOND};
    g_autoptr(Inbox) inbox = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
    clock_step = 60 * CLOCK_SECOND;
    int64_t wait = inbox_wait(inbox, clock_now());
    clock_step = 0;
    g_assert_cmpint(wait, >=, 0);
}

static unsigned renames; /* that are made before the disk is full */

static int full_disk(const FsEvent *event, void *data)
{
    (void)data;
    if (event->call != FS_RENAME)
        return 0;
    return renames > 0 ? (renames--, 0) : ENOSPC;
}

/* The directory has no room for another name: who runs goes on with what was claimed, and pauses; then all are claimed,
 * the one that was refused among them. */
static void test_refused(Fixture *fixture, gconstpointer in_steps)
{
    for (int i = 0; i < 5; i++)
        g_free(fixture_store(fixture, "in", "text"));
    g_autoptr(GError) error = NULL;
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    g_autoptr(GArray) claims = g_array_new(FALSE, FALSE, sizeof(Claim));
    fs_set_hook(full_disk, NULL);
    renames = 2;
    if (in_steps) {
        g_assert_cmpuint(inbox_pick(inbox, 100, claims), ==, 5);
        for (guint i = 0; i < claims->len; i++) {
            claim_begin(&g_array_index(claims, Claim, i));
            claim_make(&g_array_index(claims, Claim, i));
        }
        for (guint i = 0; i < claims->len; i++)
            g_assert_true(inbox_take(inbox, &g_array_index(claims, Claim, i), entries, &error));
        g_array_set_size(claims, 0);
    } else {
        g_assert_true(inbox_claim(inbox, 100, false, entries, &error));
    }
    g_assert_cmpuint(entries->len, ==, 2);
    fs_set_hook(NULL, NULL);
    g_assert_cmpint(inbox_wait(inbox, clock_now()), >, CLOCK_SECOND);
    g_assert_cmpuint(inbox_backlog(inbox, clock_now(), NULL), ==, 3);
    g_assert_cmpuint(inbox_pick(inbox, 100, claims), ==, 0);
    clock_step = 60 * CLOCK_SECOND;
    g_assert_cmpint(inbox_wait(inbox, clock_now()), ==, 0);
    g_assert_true(inbox_claim(inbox, 100, false, entries, &error));
    clock_step = 0;
    g_assert_cmpuint(entries->len, ==, 5);
}

/* Check that a caller who asks for a certain entry is told that it is there. */
static void test_refused_by_hash(Fixture *fixture, gconstpointer data)
{
    g_autofree char *text = fixture_store(fixture, "in", "text");
    g_autoptr(GError) error = NULL;
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    EntryName name;
    const char *rest;
    g_assert_true(name_parse(text, &name, &rest));
    fs_set_hook(full_disk, NULL);
    renames = 0;
    g_assert_null(inbox_claim_hash(inbox, name.hash, name.due, &error));
    fs_set_hook(NULL, NULL);
    g_assert_error(error, FAIL, FAIL_LATER);
    Entry *entry = inbox_claim_hash(inbox, name.hash, name.due, NULL);
    g_assert_nonnull(entry);
    entry_free(entry);
}

#define EVENTS_TRIED 100000 /* where the kernel keeps more, it takes too long */

/* More happens in the directory than the kernel keeps events of: what came after those is found all the same. */
static void test_dropped_events(Fixture *fixture, gconstpointer data)
{
    g_autofree char *text = NULL;
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_assert_true(g_file_get_contents("/proc/sys/fs/inotify/max_queued_events", &text, NULL, NULL));
    int64_t most = g_ascii_strtoll(text, NULL, 10);
    if (inbox_fd(inbox) < 0 || most > EVENTS_TRIED) {
        g_test_skip("inotify is refused here, or keeps very many events");
        return;
    }
    int dir = queue_fd(inbox_queue(inbox));
    g_assert_cmpint(mkdirat(dir, "one", 0700), ==, 0);
    for (int64_t i = 0; i <= most; i++)
        g_assert_cmpint(renameat(dir, i % 2 ? "other" : "one", dir, i % 2 ? "one" : "other"), ==, 0);
    g_free(fixture_store(fixture, "in", "text"));
    entry_free(fixture_claim_one(inbox));
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

SUITE("claim")
{
    g_test_init(&argc, &argv, NULL);
    ADD("/claim/by hash", test_by_hash);
    ADD("/claim/claims in order", test_in_order);
    ADD("/claim/in steps", test_in_steps);
    ADD("/claim/in steps, damaged", test_in_steps_damaged);
    ADD("/claim/durable", test_durable);
    ADD("/claim/listing due", test_listing_due);
    ADD("/claim/dropped events", test_dropped_events);
    ADD("/claim/octets", test_octets);
    ADD("/claim/unreadable", test_unreadable);
    ADD("/claim/slices", test_slices);
    ADD("/claim/refused", test_refused);
    g_test_add("/claim/refused in steps", Fixture, "", fixture_set_up, test_refused, fixture_tear_down);
    ADD("/claim/refused by hash", test_refused_by_hash);
    ADD("/claim/release", test_release);
    ADD("/claim/preserve", test_preserve);
    ADD("/claim/damage", test_damage);
    ADD("/claim/strange files", test_strange_files);
    g_test_add_func("/claim/bounded index", test_bounded_index);
    return g_test_run();
}
