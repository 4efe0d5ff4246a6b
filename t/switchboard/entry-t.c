/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/entry.h"

#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

static const char *const three[] = {"anne@example.com", "bart@example.com", "cris@example.org", NULL};

static char *states(Entry *entry)
{
    GString *text = g_string_new(NULL);
    Recipient recipient = {0};
    while (entry_next_recipient(entry, recipient.next, &recipient))
        g_string_append_c(text, recipient.state);
    return g_string_free(text, FALSE);
}

static void test_round_trip(Fixture *fixture, gconstpointer data)
{
    Draft *draft = fixture_draft("out", "test.example.com", "Subject: x\r\n\r\nbody\r\n");
    meta_set_string(draft_meta(draft), "note", "gr\u00fc\u00dfe \"quoted\"");
    fixture_add_recipients(draft, three);
    fixture_put(fixture, draft);
    g_autoptr(Entry) entry = fixture_open(fixture, "out");
    g_autoptr(GBytes) message = entry_message(entry);
    g_assert_cmpmem(g_bytes_get_data(message, NULL), g_bytes_get_size(message), "Subject: x\r\n\r\nbody\r\n", 20);
    g_assert_cmpstr(entry_list(entry), ==, "test.example.com");
    g_assert_cmpstr(meta_string(entry_meta(entry), "note", ""), ==, "gr\u00fc\u00dfe \"quoted\"");
    g_assert_cmpuint(strlen(entry_trace(entry)), ==, 12);
    g_assert_cmpint(entry_arrival(entry), ==, entry_name(entry)->due);
    Recipient recipient = {0};
    for (int i = 0; three[i]; i++) {
        g_assert_true(entry_next_recipient(entry, recipient.next, &recipient));
        g_assert_cmpmem(recipient.address, recipient.length, three[i], strlen(three[i]));
        g_assert_cmpint(recipient.state, ==, RECIPIENT_TODO);
    }
    g_assert_false(entry_next_recipient(entry, recipient.next, &recipient));
}

/* Larger than what is read of a file at a time, and shared by two drafts. */
static void test_from_file(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(fixture->path, "message", NULL), *text = g_strnfill(600001, 'x');
    g_assert_true(g_file_set_contents(path, text, -1, &error));
    Draft *draft = draft_new("out", json_pack("{s:s}", META_LIST, "t")), *other = draft_new("in", json_object());
    g_assert_true(draft_set_file(draft, open(path, O_RDONLY | O_CLOEXEC), &error));
    draft_share_message(other, draft);
    fixture_add_recipients(draft, three);
    g_assert_cmpuint(draft_message_length(draft), ==, 600001);
    fixture_put(fixture, draft);
    fixture_put(fixture, other);
    for (int at = 0; at < 2; at++) {
        g_autoptr(Entry) entry = fixture_open(fixture, at == 0 ? "out" : "in");
        g_autoptr(GBytes) message = entry_message(entry);
        g_assert_cmpmem(g_bytes_get_data(message, NULL), g_bytes_get_size(message), text, 600001);
        Recipient recipient = {0};
        g_assert_cmpint(entry_next_recipient(entry, 0, &recipient), ==, at == 0);
    }
}

static void test_marks(Fixture *fixture, gconstpointer data)
{
    Draft *draft = fixture_draft("out", "t", "m");
    fixture_add_recipients(draft, three);
    fixture_put(fixture, draft);
    g_autoptr(GError) error = NULL;
    g_autoptr(Entry) entry = fixture_open(fixture, "out");
    size_t offsets[] = {0, strlen(three[0]) + 2 + strlen(three[1]) + 2};
    g_assert_true(entry_mark(entry, offsets, 2, RECIPIENT_DONE, &error));
    g_assert_true(entry_sync_marks(entry, &error));
    g_autofree char *seen = states(entry);
    g_assert_cmpstr(seen, ==, "D D");
    g_autoptr(Entry) again = fixture_open(fixture, "out"); /* still verifies */
    g_autofree char *reread = states(again);
    g_assert_cmpstr(reread, ==, "D D");
    g_assert_true(entry_mark(again, offsets + 1, 1, RECIPIENT_BOUNCED, &error));
    g_autofree char *changed = states(again);
    g_assert_cmpstr(changed, ==, "D B");
}

/* The same over the border where entries are mapped and recipients streamed. */
static void test_large(Fixture *fixture, gconstpointer data)
{
    const size_t count = 60000;
    g_autofree char **addresses = g_new0(char *, count + 1);
    for (size_t i = 0; i < count; i++)
        addresses[i] = g_strdup_printf("member%zu@example.com", i);
    Draft *draft = fixture_draft("out", "t", "large");
    fixture_add_recipients(draft, (const char *const *)addresses);
    fixture_put(fixture, draft);
    g_autoptr(Entry) entry = fixture_open(fixture, "out");
    g_autoptr(GArray) offsets = g_array_new(FALSE, FALSE, sizeof(size_t));
    Recipient recipient = {0};
    size_t seen = 0;
    while (entry_next_recipient(entry, recipient.next, &recipient)) {
        g_assert_cmpmem(recipient.address, recipient.length, addresses[seen], strlen(addresses[seen]));
        if (seen++ % 2 == 0)
            g_array_append_val(offsets, recipient.offset);
    }
    g_assert_cmpuint(seen, ==, count);
    g_assert_true(entry_mark(entry, (size_t *)offsets->data, offsets->len, RECIPIENT_DONE, NULL));
    g_autofree char *marked = states(entry);
    for (size_t i = 0; i < count; i++)
        g_assert_cmpint(marked[i], ==, i % 2 == 0 ? RECIPIENT_DONE : RECIPIENT_TODO);
    g_autoptr(Entry) again = fixture_open(fixture, "out");
    g_autofree char *reread = states(again);
    g_assert_cmpstr(reread, ==, marked);
    for (size_t i = 0; i < count; i++)
        g_free(addresses[i]);
}

static char *stored_octets(Fixture *fixture, char **file, size_t *length)
{
    *file = fixture_files(fixture, "out", ".msg");
    g_autofree char *path = fixture_file_path(fixture, "out", *file);
    char *octets = NULL;
    g_assert_true(g_file_get_contents(path, &octets, length, NULL));
    return octets;
}

/* Open the entry when its file in out has these octets, or its head alone; NULL where it is damaged. */
static Entry *open_octets(Fixture *fixture, bool head, const char *file, const char *octets, size_t length)
{
    g_autofree char *path = fixture_file_path(fixture, "out", file);
    g_assert_true(g_file_set_contents(path, octets, (gssize)length, NULL));
    g_autoptr(GError) error = NULL;
    Entry *entry = (head ? entry_open_head : entry_open)(spool_queue(fixture->spool, "out", NULL), file, &error);
    if (!entry)
        g_assert_error(error, FAIL, FAIL_NEVER);
    return entry;
}

static bool opens(Fixture *fixture, const char *file, const char *octets, size_t length)
{
    g_autoptr(Entry) entry = open_octets(fixture, false, file, octets, length);
    return entry != NULL;
}

/* Cut anywhere, or with any bit flipped, an entry is refused: save the crash
 * digit and state bytes that stay valid ones, which may change by design. */
static void test_damage(Fixture *fixture, gconstpointer data)
{
    Draft *draft = fixture_draft("out", "t", "a message");
    fixture_add_recipients(draft, three);
    fixture_put(fixture, draft);
    g_autofree char *file = NULL;
    size_t length;
    g_autofree char *octets = stored_octets(fixture, &file, &length);
    g_assert_true(opens(fixture, file, octets, length));
    for (size_t cut = 0; cut < length; cut++)
        g_assert_false(opens(fixture, file, octets, cut));
    unsigned accepted = 0;
    for (size_t at = 0; at < length; at++)
        for (int bit = 0; bit < 8; bit++) {
            octets[at] ^= (char)(1 << bit);
            accepted += opens(fixture, file, octets, length);
            octets[at] ^= (char)(1 << bit);
        }
    /* '0' with one bit flipped is a digit in 4 cases: 1, 2, 4 and 8. */
    g_assert_cmpuint(accepted, ==, 4);
    g_autofree char *longer = g_malloc0(length + 1);
    memcpy(longer, octets, length);
    g_assert_false(opens(fixture, file, longer, length + 1));
}

static void test_crash_count(Fixture *fixture, gconstpointer data)
{
    fixture_put(fixture, fixture_draft("out", "t", "m"));
    g_autoptr(Entry) entry = fixture_open(fixture, "out");
    g_assert_cmpuint(entry_crashes(entry), ==, 0);
    g_assert_true(entry_begin_work(entry, NULL));
    g_autoptr(Entry) during = fixture_open(fixture, "out");
    g_assert_cmpuint(entry_crashes(during), ==, 1);
    g_assert_true(entry_end_work(entry, NULL));
    g_autoptr(Entry) after = fixture_open(fixture, "out");
    g_assert_cmpuint(entry_crashes(after), ==, 0);
}

static void test_refused_recipients(Fixture *fixture, gconstpointer data)
{
    static const char *const bad[] = {"anne@example.com", "x@example.com\nDy@example.com", NULL};
    Intake intake = {.draft = fixture_draft("out", "t", "m")};
    fixture_add_recipients(intake.draft, bad);
    g_assert_false(intake_store(fixture->spool, &intake, 1, false));
    g_assert_error(intake.error, FAIL, FAIL_NEVER);
    g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 0);
    g_clear_error(&intake.error);
    draft_free(intake.draft);
}

/* The largest metadata that is written can be read again. */
static void test_meta_limit(Fixture *fixture, gconstpointer data)
{
    for (int over = 0; over < 2; over++) {
        Draft *draft = fixture_draft("in", "t", "m");
        draft_name(draft);
        meta_set_string(draft_meta(draft), "fill", "");
        g_autofree char *text = meta_print(draft_meta(draft));
        g_autofree char *fill = g_strnfill(META_MAX - 1 - strlen(text) + (size_t)over, 'x');
        meta_set_string(draft_meta(draft), "fill", fill);
        Intake intake = {.draft = draft};
        g_assert_cmpint(intake_store(fixture->spool, &intake, 1, false), ==, over == 0);
        if (over)
            g_assert_error(intake.error, FAIL, FAIL_NEVER);
        g_clear_error(&intake.error);
        draft_free(draft);
        g_autoptr(Entry) entry = fixture_open(fixture, "in");
        g_assert_nonnull(entry);
    }
}

/* After the clock was set back a day, nothing new waits for a day. */
static void test_clock_back(Fixture *fixture, gconstpointer data)
{
    if (g_test_subprocess()) {
        clock_unique();
        g_assert_true(g_file_set_contents(g_getenv("LISTRUNNER_CLOCK_FILE"), "-86400", -1, NULL));
        g_assert_cmpint(clock_unique(), >, clock_now());
        g_free(fixture_store(fixture, "in", "m"));
        g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
        entry_free(fixture_claim_one(inbox));
        return;
    }
    g_autofree char *file = g_build_filename(fixture->path, "offset", NULL);
    g_assert_true(g_file_set_contents(file, "0", -1, NULL));
    g_setenv("LISTRUNNER_CLOCK_FILE", file, TRUE);
    g_test_trap_subprocess(NULL, 0, 0);
    g_unsetenv("LISTRUNNER_CLOCK_FILE");
    g_test_trap_assert_passed();
}

static Draft *seventh_draft(void)
{
    Draft *draft = fixture_draft("in", "l", "m");
    meta_set_integer(draft_meta(draft), META_ARRIVAL, 1700000000000001);
    meta_set_integer(draft_meta(draft), META_ORDINAL, 7);
    return draft;
}

/* The name is the one the header describes, with and without a shard key. */
static void test_name(Fixture *fixture, gconstpointer data)
{
    Draft *draft = seventh_draft();
    static const char hashed[] = "m\0l\0" "1700000000000001\0" "7";
    g_autofree char *plain = g_compute_checksum_for_data(G_CHECKSUM_SHA1, (const guchar *)hashed, sizeof hashed - 1);
    g_autofree char *shard = g_compute_checksum_for_string(G_CHECKSUM_SHA1, "example.com", -1);
    char text[NAME_SIZE];
    name_format(draft_name(draft), text);
    g_assert_true(g_str_has_suffix(text, plain));
    g_assert_true(g_str_has_prefix(text, "1700000000.000001+"));
    draft_free(draft);
    draft = seventh_draft();
    meta_set_string(draft_meta(draft), META_SHARD, "example.com");
    name_format(draft_name(draft), text);
    g_assert_cmpmem(text + 18, 8, shard, 8);
    g_assert_cmpstr(text + 26, ==, plain + 8);
    fixture_put(fixture, draft);
    g_autoptr(Entry) entry = fixture_open(fixture, "in");
    g_assert_nonnull(entry);
}

/* Of the head alone, damage of the head is found, and that of the message is not. */
static void test_head(Fixture *fixture, gconstpointer data)
{
    Draft *draft = fixture_draft("out", "cats", "a message");
    fixture_add_recipients(draft, three);
    fixture_put(fixture, draft);
    g_autofree char *file = NULL;
    size_t length;
    g_autofree char *octets = stored_octets(fixture, &file, &length);
    g_autoptr(Entry) entry = open_octets(fixture, true, file, octets, length);
    g_autofree char *seen = states(entry);
    g_assert_cmpstr(seen, ==, "   ");
    g_assert_cmpstr(entry_list(entry), ==, "cats");
    g_assert_cmpint(entry_arrival(entry), ==, entry_name(entry)->due);
    for (size_t cut = 0; cut < length; cut++)
        g_assert_null(open_octets(fixture, true, file, octets, cut));
    size_t message = (size_t)(g_strstr_len(octets, (gssize)length, "a message") - octets);
    for (size_t at = 0; at < length; at++) {
        octets[at] ^= 0x40;
        g_autoptr(Entry) damaged = open_octets(fixture, true, file, octets, length);
        octets[at] ^= 0x40;
        g_assert_cmpint(damaged != NULL, ==, at >= message);
    }
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

SUITE("entry")
{
    g_test_init(&argc, &argv, NULL);
    ADD("/entry/round trip", test_round_trip);
    ADD("/entry/from a file", test_from_file);
    ADD("/entry/marks", test_marks);
    ADD("/entry/large", test_large);
    ADD("/entry/damage", test_damage);
    ADD("/entry/crash count", test_crash_count);
    ADD("/entry/refused recipients", test_refused_recipients);
    ADD("/entry/meta limit", test_meta_limit);
    ADD("/entry/clock back", test_clock_back);
    ADD("/entry/name", test_name);
    ADD("/entry/head", test_head);
    return g_test_run();
}
