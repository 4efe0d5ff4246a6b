/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* When the owners of a list are told that its mail is late, and what the letter says. */
#include "runners/outgoing/warning.h"

#include <string.h>

#include "base/clock.h"
#include "lists/keys.h"
#include "mail/message.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

#define ARRIVAL (INT64_C(1800000000) * CLOCK_SECOND)
#define HOUR (3600 * CLOCK_SECOND)

static const Warning four_hours = {.host = "lists.example.com", .after_us = 4 * HOUR, .lifetime_us = 5 * 24 * HOUR};

typedef struct Test {
    Fixture fixture;
    Inbox *out, *in;
    Delivery *delivery;
} Test;

static void set_up(Test *test, gconstpointer data)
{
    fixture_set_up(&test->fixture, data);
    test->out = fixture_inbox(&test->fixture, "out");
    test->in = fixture_inbox(&test->fixture, "in");
}

static void tear_down(Test *test, gconstpointer data)
{
    g_clear_pointer(&test->delivery, delivery_free);
    inbox_free(test->out);
    inbox_free(test->in);
    fixture_tear_down(&test->fixture, data);
}

/* One claimed entry of the list test@example.com for two recipients, which came at ARRIVAL. */
static void hold_post(Test *test, const char *poster, const char *sender, bool warned)
{
    static const char *const recipients[] = {"anne@example.org", "bob@example.net", NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(Draft) draft = NULL;
    json_t *meta = json_object();
    meta_set_integer(meta, META_ARRIVAL, ARRIVAL);
    meta_set_string(meta, META_LIST, "test.example.com");
    meta_set_string(meta, KEY_SENDER, poster);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, sender);
    meta_set_bool(meta, KEY_WARNED, warned);
    draft = draft_new("out", meta);
    g_autoptr(GBytes) octets = g_bytes_new_static("Subject: late\r\n\r\nsecret\r\n", 25);
    draft_add_message(draft, octets);
    fixture_add_recipients(draft, recipients);
    draft_set_due(draft, 1);
    Intake intake = {.draft = draft};
    g_assert_true(intake_store(test->fixture.spool, &intake, 1, false));
    g_autoptr(GPtrArray) claimed = fixture_claim(test->out);
    g_assert_cmpuint(claimed->len, ==, 1);
    g_clear_pointer(&test->delivery, delivery_free);
    test->delivery = delivery_new(claimed->pdata[0], 0, NULL, &error);
    g_assert_no_error(error);
}

/* The letter (consumed) as it lies in the queue in. */
static char *stored(Test *test, Draft *draft, GPtrArray *entries)
{
    Intake intake = {.draft = draft};
    draft_set_due(intake.draft, 1);
    g_assert_true(intake_store(test->fixture.spool, &intake, 1, false));
    draft_free(intake.draft);
    g_autoptr(GPtrArray) claimed = fixture_claim(test->in);
    g_assert_cmpuint(claimed->len, ==, 1);
    Entry *entry = claimed->pdata[0];
    g_autoptr(GBytes) octets = entry_message(entry);
    g_ptr_array_add(entries, entry);
    return g_strndup(g_bytes_get_data(octets, NULL), g_bytes_get_size(octets));
}

/* The letter after that time. */
static char *letter(Test *test, const Warning *warning, int64_t waited, GPtrArray *entries)
{
    return stored(test, warning_draft(warning, test->delivery, ARRIVAL + waited), entries);
}

static void test_due(Test *test, gconstpointer data)
{
    Warning none = four_hours;
    none.after_us = 0;
    hold_post(test, "eve@example.net", "test-bounces@example.com", false);
    g_assert_false(warning_due(&four_hours, test->delivery, ARRIVAL + 4 * HOUR - 1));
    g_assert_true(warning_due(&four_hours, test->delivery, ARRIVAL + 4 * HOUR));
    g_assert_false(warning_due(&none, test->delivery, ARRIVAL + 400 * HOUR));
    hold_post(test, "eve@example.net", "test-bounces@example.com", true);
    g_assert_false(warning_due(&four_hours, test->delivery, ARRIVAL + 5 * HOUR));
    hold_post(test, "", "test-bounces@example.com", false);
    g_assert_false(warning_due(&four_hours, test->delivery, ARRIVAL + 5 * HOUR));
    hold_post(test, "eve@example.net", "", false);
    g_assert_false(warning_due(&four_hours, test->delivery, ARRIVAL + 5 * HOUR));
}

/* The largest unit of which there are two: never "0 hours". */
static void test_units(Test *test, gconstpointer data)
{
    static const struct {
        int64_t waited;
        const char *said;
    } cases[] = {
        {0, "\nfor 0 seconds. "},
        {CLOCK_SECOND, "\nfor 1 second. "},
        {119 * CLOCK_SECOND, "\nfor 119 seconds. "},
        {120 * CLOCK_SECOND, "\nfor 2 minutes. "},
        {HOUR, "\nfor 60 minutes. "},
        {2 * HOUR - 1, "\nfor 119 minutes. "},
        {4 * HOUR, "\nfor 4 hours. "},
        {48 * HOUR - 1, "\nfor 47 hours. "},
        {48 * HOUR, "\nfor 2 days. "},
        {-HOUR, "\nfor 0 seconds. "}, /* the clock was set back */
    };
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    hold_post(test, "eve@example.net", "test-bounces@example.com", false);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *octets = letter(test, &four_hours, cases[i].waited, entries);
        g_auto(GStrv) lines = g_strsplit(octets, "\r\n", -1);
        g_autofree char *text = g_strjoinv("\n", lines);
        g_assert_nonnull(strstr(text, cases[i].said));
        g_assert_nonnull(strstr(text, "It is tried until it is 5 days old"));
    }
}

static void test_letter(Test *test, gconstpointer data)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    hold_post(test, "eve@example.net", "test-bounces@example.com", false);
    test->delivery->last_reply = g_strdup("451 4.3.2 not now");
    g_autofree char *octets = letter(test, &four_hours, 4 * HOUR, entries);
    static const char *const said[] = {
        "Subject: Delayed: mail of list test.example.com\r\n", "could not be delivered to 2 of its recipients\r\n",
        "  451 4.3.2 not now\r\n", "  anne@example.org\r\n", "  bob@example.net\r\n", "Action: delayed\r\n",
        "Final-Recipient: rfc822; anne@example.org\r\n", "Status: 4.4.7\r\n", "Auto-Submitted: auto-generated\r\n",
        "Subject: late\r\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(said); i++)
        if (!strstr(octets, said[i]))
            g_error("it does not say \"%s\":\n%s", said[i], octets);
    g_assert_null(strstr(octets, "secret"));
    json_t *meta = entry_meta(entries->pdata[0]);
    g_assert_cmpstr(meta_string(meta, KEY_RECIPIENT, ""), ==, "test-owner@example.com");
    g_assert_cmpstr(meta_string(meta, KEY_TO, ""), ==, TO_OWNER);
    g_assert_cmpstr(meta_string(meta, KEY_SENDER, "?"), ==, "");
}

/* It names those whose transactions broke off, and those alone. */
static void test_given_up(Test *test, gconstpointer data)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    hold_post(test, "eve@example.net", "test-bounces@example.com", true);
    g_assert_null(warning_given_up(&four_hours, test->delivery, NULL, ARRIVAL + 120 * HOUR));
    Recipient anne;
    g_assert_true(entry_next_recipient(test->delivery->entry, 0, &anne));
    delivery_lost(test->delivery, anne.offset, false);
    Draft *draft = warning_given_up(&four_hours, test->delivery, NULL, ARRIVAL + 120 * HOUR);
    g_autofree char *octets = stored(test, draft, entries);
    g_assert_nonnull(strstr(octets, "Subject: Not delivered: mail of list test.example.com\r\n"));
    g_assert_nonnull(strstr(octets, "to 1 of its recipients\r\nfor 5 days. It is not tried again."));
    g_assert_nonnull(strstr(octets, "Final-Recipient: rfc822; anne@example.org\r\nAction: failed\r\n"));
    g_assert_null(strstr(octets, "bob@example.net"));
    g_assert_null(strstr(octets, "Will-Retry-Until"));
    g_autoptr(GHashTable) held = g_hash_table_new(NULL, NULL);
    g_hash_table_add(held, GSIZE_TO_POINTER(anne.offset)); /* her destination is suspended: she waits on */
    g_assert_null(warning_given_up(&four_hours, test->delivery, held, ARRIVAL + 120 * HOUR));
    hold_post(test, "", "test-bounces@example.com", false); /* a report of our own */
    delivery_lost(test->delivery, anne.offset, true);
    g_assert_null(warning_given_up(&four_hours, test->delivery, NULL, ARRIVAL + 120 * HOUR));
}

#define WARNING_TEST(name) g_test_add("/warning/" #name, Test, NULL, set_up, test_##name, tear_down)

SUITE("outgoing/warning")
{
    g_test_init(&argc, &argv, NULL);
    WARNING_TEST(due);
    WARNING_TEST(units);
    WARNING_TEST(letter);
    WARNING_TEST(given_up);
    return g_test_run();
}
