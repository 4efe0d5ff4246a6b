/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <sys/stat.h>

#include "lists/kept.h"
#include "lists/letters/letter.h"
#include "lists/unit.h"
#include "store/store_internal.h"
#include "switchboard/spool.h"
#include "t/lists/fixture.h"
#include "t/lists/places.h"
#include "t/suite.h"

static void write_letter(World *world, Work *work, const char *to)
{
    GError *error = NULL;
    const TemplateValue values[] = {{"address", to}, {0}};
    ListLetter letter = {.template = "welcome", .values = values, .to = to};
    assert_ok(work_letter(work, world->list, &letter, &error), error);
}

static void settle(World *world, const Place *place)
{
    GError *error = NULL;
    assert_ok(unit_settle(world->store, place->spool, true, &error), error);
}

/* Check that a letter that a runner kept comes again, byte for byte, and that nobody else stores it. */
static void test_recall(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    g_autoptr(Work) first = world_work(world), second = world_work(world);
    write_letter(world, first, "anne@example.org");
    g_autofree char *wanted = NULL, *got = NULL;
    assert_ok(work_keep(first, "command:1", &error), error);
    settle(world, &place);
    g_assert_cmpuint(entries_in(&place, "virgin", NULL), ==, 0);
    wanted = world_letters(world, first);
    assert_ok(work_recall(second, "command:1", &error), error);
    got = world_letters(world, second);
    g_assert_cmpstr(got, ==, wanted);
    assert_ok(outbox_remove_of(world->store, "command:1", &error), error);
    g_autoptr(Work) third = world_work(world);
    assert_ok(work_recall(third, "command:1", &error), error);
    g_assert_cmpuint(work_entries(third), ==, 0);
    place_close(&place);
}

static bool has_text(Store *store, const char *entry, const char *text)
{
    g_autoptr(GPtrArray) rows_of = outbox_of(store, entry, NULL);
    bool found = false;
    for (guint at = 0; at < rows_of->len; at++) {
        const OutboxRow *row = rows_of->pdata[at];
        gsize length;
        const char *octets = g_bytes_get_data(row->sealed, &length);
        found = found || memmem(octets, length, text, strlen(text));
    }
    return found;
}

/* Check that a letter kept for an entry cannot be read without the key of the spool, nor moved to another entry. */
static void test_sealed(World *world, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    write_letter(world, work, "anne@example.org");
    write_letter(world, work, "bob@example.org");
    assert_ok(work_keep(work, "command:1", &error), error);
    g_assert_false(has_text(world->store, "command:1", "anne@"));
    g_assert_false(has_text(world->store, "command:1", "Subject"));
    KeptKey other = {.octets = "another key"};
    g_autoptr(GPtrArray) wrong = kept_of(world->store, &other, "command:1", &error);
    g_assert_null(wrong);
    assert_failed(FAIL_NEVER, error);
    g_autoptr(GPtrArray) right = kept_of(world->store, world->site.kept_key, "command:1", &error);
    g_assert_cmpuint(right->len, ==, 2);
    g_assert_cmpstr(((KeptRow *)right->pdata[1])->recipients, ==, "bob@example.org");
    assert_ok(query_run(world->store, &error, NULL, "UPDATE outbox SET entry = $1", TEXT("command:2")), error);
    g_assert_null(kept_of(world->store, world->site.kept_key, "command:2", &error));
    assert_failed(FAIL_NEVER, error);
}

/* The key is made once, for its owner alone, and a file that is none is not used. */
static void test_key(World *world, const void *data)
{
    (void)world;
    GError *error = NULL;
    Place place;
    place_with_id(&place);
    KeptKey one, two;
    struct stat status;
    g_autofree char *path = g_build_filename(place.folder, KEPT_KEY_FILE, NULL);
    assert_ok(kept_key_read(place.spool, &one, &error), error);
    assert_ok(kept_key_read(place.spool, &two, &error), error);
    g_assert_cmpmem(&one, sizeof one, &two, sizeof two);
    g_assert_cmpint(stat(path, &status), ==, 0);
    g_assert_cmpuint(status.st_mode & 07777, ==, 0600);
    g_assert_true(g_file_set_contents(path, "short", -1, NULL));
    g_assert_false(kept_key_read(place.spool, &two, &error));
    assert_failed(FAIL_CONFIG, error);
    g_assert_cmpint(g_remove(path), ==, 0);
    assert_ok(kept_key_read(place.spool, &two, &error), error);
    g_assert_cmpint(memcmp(&one, &two, sizeof one), !=, 0);
    place_close(&place);
}

/* Rows go with their entry, whenever they were made, and stay while it is in any queue in any state. */
static void test_rows_go_with_their_entry(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    KeptKey key;
    place_with_id(&place);
    assert_ok(kept_key_read(place.spool, &key, &error), error);
    world->site.kept_key = &key;
    static const char *const files[] = {"command/%s.msg",
                                        "command/%s.bak",
                                        "command/%s.psv",
                                        "command/%s.tmp",
                                        "hold/%s.msg",
                                        "shunt/%s.psv",
                                        "command/%s.unit=0123456789abcdef0123456789abcdef.tmp"};
    static const char *const queues[] = {"command", "hold", "shunt"};
    for (size_t at = 0; at < G_N_ELEMENTS(queues); at++)
        g_assert_nonnull(spool_queue(place.spool, queues[at], NULL));
    for (unsigned at = 0; at <= G_N_ELEMENTS(files); at++) {
        g_autofree char *name = g_strdup_printf("1700000000.00000%u+%040u", at, at);
        g_autofree char *entry = g_strdup_printf("command:%040u", at);
        g_autoptr(Work) work = world_work(world);
        write_letter(world, work, "anne@example.org");
        assert_ok(work_keep(work, entry, &error), error);
        if (at == G_N_ELEMENTS(files))
            break; /* this one is gone */
        g_auto(GStrv) parts = g_strsplit(files[at], "%s", 2);
        g_autofree char *file = g_strconcat(parts[0], name, parts[1], NULL);
        g_autofree char *path = g_build_filename(place.folder, file, NULL);
        g_assert_true(g_file_set_contents(path, "", 0, NULL));
    }
    assert_ok(kept_forget_gone(world->store, place.spool, 1, &error), error);
    g_auto(GStrv) young = outbox_entries(world->store, NULL, INT64_MAX, &error);
    g_assert_cmpuint(g_strv_length(young), ==, G_N_ELEMENTS(files) + 1);
    assert_ok(kept_forget_gone(world->store, place.spool, INT64_MAX, &error), error);
    g_auto(GStrv) left = outbox_entries(world->store, NULL, INT64_MAX, &error);
    g_assert_cmpuint(g_strv_length(left), ==, G_N_ELEMENTS(files));
    g_assert_false(g_strv_contains((const char *const *)left, "command:0000000000000000000000000000000000000007"));
    g_autofree char *gone = g_build_filename(place.folder, "hold", NULL);
    const char *const command[] = {"rm", "-rf", gone, NULL};
    g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    g_assert_false(kept_forget_gone(world->store, place.spool, INT64_MAX, &error)); /* it may be there */
    g_clear_error(&error);
    place_close(&place);
}

/* A unit's rows give back the drafts that they were made of, due times and all, and do not go with an entry. */
static void test_drafts(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    KeptKey key;
    place_with_id(&place);
    const char *tag = "0123456789abcdef0123456789abcdef";
    g_autoptr(GPtrArray) drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    g_autoptr(GBytes) head = g_bytes_new_static("A: b\n", 5), body = g_bytes_new_static("\ntext\n", 6);
    Draft *draft = draft_new("virgin", json_pack("{ss}", META_LIST, LIST));
    draft_add_message(draft, head);
    draft_add_message(draft, body);
    draft_set_addresses(draft, g_strsplit("anne@example.org bob@example.org", " ", -1));
    draft_set_due(draft, 1900000000000000);
    g_ptr_array_add(drafts, draft);
    g_ptr_array_add(drafts, draft_new("hooks", json_object()));
    assert_ok(kept_key_read(place.spool, &key, &error), error);
    assert_ok(kept_add_drafts(world->store, &key, tag, drafts, &error), error);
    g_assert_false(has_text(world->store, tag, "anne@"));
    assert_ok(kept_forget_gone(world->store, place.spool, INT64_MAX, &error), error);
    g_autoptr(GPtrArray) again = kept_drafts(world->store, &key, tag, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(again->len, ==, 2);
    for (guint at = 0; at < 2; at++) {
        Draft *one = drafts->pdata[at], *other = again->pdata[at];
        g_autoptr(GBytes) wanted = draft_message(one), got = draft_message(other);
        g_assert_cmpstr(draft_queue(other), ==, draft_queue(one));
        g_assert_true(json_equal(draft_meta(other), draft_meta(one)));
        g_assert_cmpmem(draft_name(other), sizeof(EntryName), draft_name(one), sizeof(EntryName));
        g_assert_true(g_bytes_equal(got, wanted));
    }
    g_assert_cmpstr(draft_addresses(again->pdata[0])[1], ==, "bob@example.org");
    g_assert_null(draft_addresses(again->pdata[1]));
    place_close(&place);
}

SUITE("kept")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/kept/recall", test_recall);
    WORLD_TEST("/kept/sealed", test_sealed);
    WORLD_TEST("/kept/key", test_key);
    WORLD_TEST("/kept/rows go with their entry", test_rows_go_with_their_entry);
    WORLD_TEST("/kept/drafts", test_drafts);
    return g_test_run();
}
