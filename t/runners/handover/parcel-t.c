/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* An entry arrives as it left, and what is no entry is refused. */
#include "runners/handover/parcel.h"

#include <string.h>

#include "base/fail.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

#define MESSAGE "Subject: x\r\n\r\nbare\nline\rends .\r\n.\r\n\xff\x80 and no end"

/* Store a block for another host and claim it. */
static Entry *store(Fixture *fixture, Inbox **inbox, const char *const *recipients)
{
    json_t *meta = json_pack("{ss ss ss si}", META_LIST, "talk.example.com", KEY_HAND_TO, "b.example.com",
                             KEY_HAND_QUEUE, "out", KEY_POST_ID, 7);
    Draft *draft = draft_new(HANDOVER_QUEUE, meta);
    g_autoptr(GBytes) octets = g_bytes_new(MESSAGE, strlen(MESSAGE));
    draft_add_message(draft, octets);
    draft_set_addresses(draft, g_strdupv((char **)recipients));
    fixture_put(fixture, draft);
    *inbox = fixture_inbox(fixture, HANDOVER_QUEUE);
    return fixture_claim_one(*inbox);
}

static GBytes *pack(Entry *entry)
{
    g_autofree char *name = parcel_name(entry, "a.example.com");
    g_assert_true(g_str_has_prefix(name, "a.example.com:"));
    return parcel_pack(entry, name, "out");
}

static void test_whole(Fixture *fixture, gconstpointer data)
{
    (void)data;
    Inbox *inbox;
    const char *const recipients[] = {"anne@example.org", "b\303\266b@example.net", "cora@example.org", NULL};
    g_autoptr(Entry) entry = store(fixture, &inbox, recipients);
    Recipient one;
    g_assert_true(entry_next_recipient(entry, 0, &one));
    g_assert_true(entry_mark(entry, &one.offset, 1, RECIPIENT_DONE, NULL));
    g_autoptr(GBytes) content = pack(entry);
    Draft *first = parcel_unpack(content, NULL);
    g_autoptr(Draft) second = parcel_unpack(content, NULL);
    g_assert_nonnull(first);
    g_assert_nonnull(second);
    const json_t *meta = draft_meta(first);
    g_autofree char *name = parcel_name(entry, "a.example.com");
    g_assert_cmpstr(meta_string(meta, KEY_HANDED, ""), ==, name);
    g_assert_cmpstr(meta_string(meta, KEY_HAND_QUEUE, ""), ==, "out");
    g_assert_null(meta_string(meta, KEY_HAND_TO, NULL));
    g_assert_cmpint(meta_integer(meta, KEY_POST_ID, 0), ==, 7);
    g_assert_cmpint(meta_integer(meta, META_ARRIVAL, 0), ==, entry_arrival(entry));
    /* Two copies are told apart by their hashes. */
    g_assert_cmpint(name_hash_compare(draft_name(first)->hash, draft_name(second)->hash), !=, 0);

    fixture_put(fixture, first);
    g_autoptr(Entry) came = fixture_claim_one(inbox);
    g_autoptr(GBytes) message = entry_message(came);
    g_assert_cmpmem(g_bytes_get_data(message, NULL), g_bytes_get_size(message), MESSAGE, strlen(MESSAGE));
    size_t at = 0;
    for (const char *const *wanted = recipients + 1; *wanted; wanted++, at = one.next) { /* the first is done */
        g_assert_true(entry_next_recipient(came, at, &one));
        g_assert_cmpmem(one.address, one.length, *wanted, strlen(*wanted));
    }
    g_assert_false(entry_next_recipient(came, at, &one));
    g_clear_pointer(&came, entry_free);
    g_clear_pointer(&entry, entry_free);
    inbox_free(inbox);
}

/* The size that is told beforehand is enough, and no more than two lines above it. */
static void test_size(Fixture *fixture, gconstpointer data)
{
    (void)data;
    Inbox *inbox;
    g_autoptr(Entry) entry = store(fixture, &inbox, (const char *const[]){"anne@example.org", NULL});
    g_autoptr(GBytes) content = pack(entry);
    gsize plain, length = g_bytes_get_size(content);
    g_autofree char *text = g_strndup(g_bytes_get_data(content, NULL), length);
    g_base64_decode_inplace(text, &plain);
    g_assert_cmpuint(parcel_size(plain), >=, length);
    g_assert_cmpuint(parcel_size(plain), <=, length + 2 * 78);
    g_assert_cmpuint(parcel_size(57 * 100), >=, 78 * 100);
    g_clear_pointer(&entry, entry_free);
    inbox_free(inbox);
}

/* Cut anywhere before the message, it is refused; after that, its bytes are counted by LMTP. */
static void test_cut(Fixture *fixture, gconstpointer data)
{
    (void)data;
    Inbox *inbox;
    const char *const recipients[] = {"anne@example.org", NULL};
    g_autoptr(Entry) entry = store(fixture, &inbox, recipients);
    g_autoptr(GBytes) content = pack(entry);
    gsize length;
    g_autofree char *text = g_strndup(g_bytes_get_data(content, NULL), g_bytes_get_size(content));
    g_base64_decode_inplace(text, &length);
    const char *blank = g_strstr_len(text, (gssize)length, "anne@example.org\n\n");
    g_assert_nonnull(blank);
    gsize head = (gsize)(blank - text) + strlen("anne@example.org\n\n");
    for (gsize cut = 0; cut < head; cut++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *coded = g_base64_encode((const guchar *)text, cut);
        g_autoptr(GBytes) part = g_bytes_new(coded, strlen(coded));
        g_assert_null(parcel_unpack(part, &error));
        g_assert_error(error, FAIL, FAIL_NEVER);
    }
    g_clear_pointer(&entry, entry_free);
    inbox_free(inbox);
}

static void test_refused(void)
{
    const char *const contents[] = {"",
                                    "Subject: mail\r\n\r\ntext\r\n",
                                    "!!!!",
                                    "listrunner-entry 1\n",
                                    "listrunner-entry 1\n[]\n\nx",
                                    "listrunner-entry 1\n{\"entry\":\"a:1\",\"queue\":\"out\"}\n\nx",
                                    "listrunner-entry 1\n{\"entry\":\"a:1\",\"queue\":\"in\",\"meta\":{}}\n\nx",
                                    "listrunner-entry 2\n{\"entry\":\"a:1\",\"queue\":\"out\",\"meta\":{}}\n\nx"};
    for (size_t at = 0; at < G_N_ELEMENTS(contents); at++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *coded = g_base64_encode((const guchar *)contents[at], strlen(contents[at]));
        const char *text = at < 3 ? contents[at] : coded;
        g_autoptr(GBytes) content = g_bytes_new(text, strlen(text));
        g_assert_null(parcel_unpack(content, &error));
        g_assert_error(error, FAIL, FAIL_NEVER);
    }
}

SUITE("handover/parcel")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/parcel/whole", Fixture, NULL, fixture_set_up, test_whole, fixture_tear_down);
    g_test_add("/parcel/size", Fixture, NULL, fixture_set_up, test_size, fixture_tear_down);
    g_test_add("/parcel/cut", Fixture, NULL, fixture_set_up, test_cut, fixture_tear_down);
    g_test_add_func("/parcel/refused", test_refused);
    return g_test_run();
}
