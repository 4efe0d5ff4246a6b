/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/hosts/lost_spool.h"

#include <string.h>

#include "base/clock.h"
#include "store/hosts/canary.h"
#include "store/hosts/host.h"
#include "store/lists/list.h"
#include "store/lists/list_post.h"
#include "store/outbox.h"
#include "store/posts/digest.h"
#include "store/posts/fragment.h"
#include "store/posts/held.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define LEASE (60 * CLOCK_SECOND)
#define EMPTY_AT 1000

/* Two hosts with the same things in each one's spool: a, which the tests lose, and b. */
typedef struct Pair {
    Store *store;
    Host *a, *b;
} Pair;

static bool renew(Store *store, Host *host, int64_t lease, GError **error)
{
    int64_t now;
    return host_clock(store, &now, error) && host_renew(store, host, now, lease, error);
}

static Host *begin(Store *store, const char *name)
{
    GError *error = NULL;
    Host *host = fixture_host(store, name, "{}", LEASE);
    host->empty_at = EMPTY_AT;
    assert_ok(renew(store, host, LEASE, &error), error);
    return host;
}

static void see(Store *store, const char *id, const Host *host, int64_t time)
{
    GError *error = NULL;
    bool known;
    const SeenMail seen = {id, id, host->spool, time, NULL};
    assert_ok(list_record_message_id(store, LIST, &seen, &known, &error), error);
    g_assert_false(known);
}

/* An entry that host accepted from another one. */
static void accept(Store *store, const Host *host, const char *queue, const char *id, int64_t time)
{
    GError *error = NULL;
    g_autofree char *effect = g_strdup_printf("handover:%s %s", queue, id);
    const HandedEntry handed = {effect, host->spool, queue, LIST, id, time};
    assert_ok(store_begin(store, &error) && store_record_effect(store, effect, 7, &error) &&
                  lost_spool_note(store, &handed, &error) && store_commit(store, &error),
              error);
}

static bool is_noted(Store *store, const char *queue, const char *id)
{
    GError *error = NULL;
    bool noted;
    int64_t number;
    g_autofree char *effect = g_strdup_printf("handover:%s %s", queue, id);
    assert_ok(store_find_effect(store, effect, &noted, &number, &error), error);
    return noted;
}

static bool is_known(Store *store, const char *id)
{
    GError *error = NULL;
    bool known;
    assert_ok(list_knows_message_id(store, LIST, id, "another", &known, &error), error);
    return known;
}

static int64_t hold(Store *store, const char *id, const Host *host)
{
    GError *error = NULL;
    g_autoptr(GBytes) octets = g_bytes_new_static("post", 4);
    Held held = {.list_id = (char *)LIST,
                 .message_id = (char *)id,
                 .subject = (char *)"s",
                 .sender = (char *)"x@y",
                 .reason = (char *)"",
                 .meta = (char *)"{}",
                 .held_at = EMPTY_AT + 1,
                 .message = octets,
                 .spool = host->spool};
    see(store, id, host, EMPTY_AT + 1);
    assert_ok(held_add(store, &held, &error), error);
    assert_ok(held_set_told(store, held.number, HELD_TOLD_ALONE, &error), error);
    return held.number;
}

static HeldTold told_of(Store *store, int64_t number)
{
    GError *error = NULL;
    g_autoptr(Held) held = held_find(store, number, &error);
    g_assert_no_error(error);
    return held->told;
}

/* name stands for 40 digits of the maker and of the part, tag for the unit. */
static void leave(Store *store, const Host *host, char digit)
{
    GError *error = NULL;
    char maker[41] = {0}, part[41] = {0}, tag[33] = {0}, key[FRAGMENT_KEY_DIGITS + 1] = {0};
    memset(maker, digit, 40);
    memset(part, digit, 40);
    memset(tag, digit, 32);
    memset(key, digit, FRAGMENT_KEY_DIGITS);
    g_autoptr(GBytes) post = g_bytes_new_static("post", 4);
    const DigestIssue issue = {maker, host->name, (char *)LIST, 1, digit, 100};
    assert_ok(digest_collect(store, LIST, post, 7, &error) && digest_issue_open(store, &issue, &error), error);
    const FragmentSet set = {.key = key,
                             .list_id = (char *)LIST,
                             .sender = (char *)"x@y",
                             .id = (char *)"id",
                             .host = host->name,
                             .opened_at = 5,
                             .expires_at = INT64_MAX};
    const FragmentPart one = {.number = 1, .octets = 10, .entry = part, .digest = (char *)"d"};
    assert_ok(fragment_open(store, &set, &error) && fragment_add(store, key, &one, 2, &error), error);
    assert_ok(store_begin(store, &error) && outbox_unit_add(store, host->spool, tag, "virgin", 6, &error) &&
                  store_commit(store, &error),
              error);
    OutboxRow row = {.sealed = post, .made_at = 8};
    g_autofree char *entry = g_strdup_printf("command:%c", digit);
    assert_ok(outbox_add(store, host->spool, entry, &row, &error), error);
    tag[0] = 'z'; /* of one whose entries are in a row still */
    assert_ok(outbox_unit_add(store, host->spool, tag, OUTBOX_KEPT " out", 7, &error), error);
    assert_ok(outbox_add(store, host->spool, tag, &row, &error), error);
    assert_ok(canary_sent(store, host->name, "m@x", 1, &error), error);
}

/* How many rows refer to a host and its spool, besides those of posts. */
static unsigned count(Store *store, const Host *host)
{
    GError *error = NULL;
    FragmentCount parts;
    g_autoptr(GPtrArray) units = outbox_units(store, host->spool, &error);
    g_auto(GStrv) entries = outbox_entries(store, host->spool, INT64_MAX, &error);
    g_autoptr(GPtrArray) issues = digest_issue_all(store, host->name, &error);
    g_auto(Canary) canary = {0};
    assert_ok(fragment_count(store, host->name, &parts, &error), error);
    assert_ok(canary_read(store, host->name, &canary, &error), error);
    return units->len + g_strv_length(entries) + issues->len + (canary.mail != NULL) + (unsigned)parts.sets;
}

static void begin_pair(Pair *pair, Fixture *fixture)
{
    pair->store = fixture->store;
    pair->a = begin(fixture->store, "a");
    pair->b = begin(fixture->store, "b");
    leave(pair->store, pair->a, 'a');
    leave(pair->store, pair->b, 'b');
    see(pair->store, "gone out@a", pair->a, EMPTY_AT - 1);
    see(pair->store, "lost@a", pair->a, EMPTY_AT);
    see(pair->store, "there@b", pair->b, EMPTY_AT);
}

static void end_pair(Pair *pair)
{
    host_free(pair->a);
    host_free(pair->b);
}

static char *text_of(const LostSpool *lost)
{
    GString *text = g_string_new(NULL);
    for (guint at = 0; at < lost->things->len; at++) {
        const LostThing *thing = lost->things->pdata[at];
        g_string_append_printf(text, "%s|%s|%s|%d\n", thing->kind, thing->list_id, thing->name, (int)thing->time);
    }
    return g_string_free(text, FALSE);
}

#define THINGS                                                                                          \
    "post|" LIST "|lost@a|1000\nnotice|" LIST "|held@a|1001\ndigest|" LIST "|volume 1, number 97|100\n" \
    "parts|" LIST "|x@y id|5\nletters||virgin|6\nletters||out|7\nrequest||command:a|8\n"

/* All that one spool had is told and mended, and nothing of the other's. */
static void test_lost(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Pair pair;
    begin_pair(&pair, fixture);
    int64_t ours = hold(pair.store, "held@a", pair.a), theirs = hold(pair.store, "held@b", pair.b);
    g_auto(LostSpool) early = {0}, dry = {0}, lost = {0}, none = {0};
    g_assert_false(lost_spool_remove(pair.store, "a", false, &early, &error));
    g_assert_nonnull(strstr(error->message, "lives"));
    assert_failed(FAIL_EXISTS, error);
    assert_ok(host_end(pair.store, pair.a, &error), error);
    for (int time = 0; time < 2; time++) {
        g_clear_pointer(&dry.things, g_ptr_array_unref);
        g_clear_pointer(&dry.state, g_free);
        assert_ok(lost_spool_remove(pair.store, "a", true, &dry, &error), error);
        g_autofree char *told = text_of(&dry);
        g_assert_cmpstr(told, ==, THINGS);
        g_assert_cmpint(dry.since, ==, EMPTY_AT);
        g_assert_cmpuint(count(pair.store, pair.a), ==, 7);
        g_assert_true(is_known(pair.store, "lost@a"));
        g_assert_cmpint(told_of(pair.store, ours), ==, HELD_TOLD_ALONE);
    }
    assert_ok(lost_spool_remove(pair.store, "a", false, &lost, &error), error);
    g_autofree char *told = text_of(&lost);
    g_assert_cmpstr(told, ==, THINGS);
    g_assert_cmpuint(count(pair.store, pair.a), ==, 0);
    g_assert_cmpuint(count(pair.store, pair.b), ==, 7);
    g_assert_false(is_known(pair.store, "lost@a"));
    g_assert_true(is_known(pair.store, "gone out@a") && is_known(pair.store, "held@a") &&
                  is_known(pair.store, "there@b") && is_known(pair.store, "held@b"));
    g_assert_cmpint(told_of(pair.store, ours), ==, HELD_TOLD_NOBODY);
    g_assert_cmpint(told_of(pair.store, theirs), ==, HELD_TOLD_ALONE);
    g_auto(Digest) digest = {0};
    assert_ok(digest_read(pair.store, LIST, &digest, &error), error);
    g_assert_cmpint(digest.waiting, ==, 1);
    g_autoptr(GPtrArray) hosts = host_all(pair.store, &error);
    g_assert_cmpuint(hosts->len, ==, 1);
    g_assert_false(lost_spool_remove(pair.store, "a", false, &none, &error));
    assert_failed(FAIL_MISSING, error);
    end_pair(&pair);
}

/* A post that was held in one spool and accepted from another is in that one. */
static void test_moved(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Pair pair;
    begin_pair(&pair, fixture);
    const SeenMail seen = {"there@b", "there@b", "spool-a", EMPTY_AT + 5, NULL};
    const SeenMail other = {"gone out@a", "another entry", "spool-b", EMPTY_AT + 5, NULL};
    assert_ok(list_move_message_id(pair.store, LIST, &seen, &error), error);
    assert_ok(list_move_message_id(pair.store, LIST, &other, &error), error); /* its own has the same Message-ID */
    assert_ok(host_end(pair.store, pair.a, &error), error);
    g_auto(LostSpool) lost = {0};
    assert_ok(lost_spool_remove(pair.store, "a", false, &lost, &error), error);
    g_autofree char *told = text_of(&lost);
    g_assert_nonnull(strstr(told, "post|" LIST "|there@b|1005"));
    g_assert_false(is_known(pair.store, "there@b"));
    g_assert_true(is_known(pair.store, "gone out@a"));
    end_pair(&pair);
}

/* A host that died may be cut off, and use its part of the limits; and one that begins with a new spool under the old
 * name has none of the digests that were being made in the old one. */
static void test_not_yet(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Pair pair;
    begin_pair(&pair, fixture);
    assert_ok(host_share_lower(pair.store, pair.a, 2, &error), error);
    assert_ok(host_end(pair.store, pair.a, &error), error);
    g_auto(LostSpool) lost = {0};
    g_assert_false(lost_spool_remove(pair.store, "a", false, &lost, &error));
    g_assert_nonnull(strstr(error->message, "part of the limits"));
    assert_failed(FAIL_EXISTS, error);
    g_assert_cmpuint(count(pair.store, pair.a), ==, 7);
    g_free(pair.a->spool);
    pair.a->spool = g_strdup("new");
    assert_ok(host_next_epoch(pair.store, &pair.a->epoch, &error) && host_begin(pair.store, pair.a, LEASE, &error),
              error);
    g_assert_cmpint(pair.a->empty_at, ==, 0);
    g_autoptr(GPtrArray) mine = digest_issue_all(pair.store, "a", &error);
    g_autoptr(GPtrArray) others = digest_issue_all(pair.store, "b", &error);
    g_assert_cmpuint(mine->len, ==, 0);
    g_assert_cmpuint(others->len, ==, 1);
    end_pair(&pair);
}

/* A block that the lost host had accepted lets its post be taken again, and whoever still holds a copy of an accepted
 * entry works it; what was accepted before the spool was empty has gone out, and what the other host accepted stays. */
static void test_handed(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Pair pair;
    begin_pair(&pair, fixture);
    see(pair.store, "shared out@b", pair.b, EMPTY_AT + 1);
    see(pair.store, "archived@b", pair.b, EMPTY_AT + 1);
    see(pair.store, "long ago@b", pair.b, EMPTY_AT - 2);
    accept(pair.store, pair.a, "out", "shared out@b", EMPTY_AT + 2);
    accept(pair.store, pair.a, "archive", "archived@b", EMPTY_AT + 3);
    accept(pair.store, pair.a, "out", "long ago@b", EMPTY_AT - 1);
    accept(pair.store, pair.a, "defragment", "part@b", EMPTY_AT + 4);
    accept(pair.store, pair.b, "out", "there@b", EMPTY_AT + 2);
    assert_ok(host_end(pair.store, pair.a, &error), error);
    g_auto(LostSpool) dry = {0}, lost = {0};
    assert_ok(lost_spool_remove(pair.store, "a", true, &dry, &error), error);
    g_assert_true(is_known(pair.store, "shared out@b") && is_noted(pair.store, "out", "shared out@b"));
    assert_ok(lost_spool_remove(pair.store, "a", false, &lost, &error), error);
    g_autofree char *told = text_of(&lost);
    g_assert_true(g_str_has_prefix(told, "post|" LIST "|lost@a|1000\nblock|" LIST "|shared out@b|1002\narchive|" LIST
                                         "|archived@b|1003\ndigest|"));
    g_assert_false(is_known(pair.store, "shared out@b"));
    g_assert_true(is_known(pair.store, "archived@b") && is_known(pair.store, "long ago@b") &&
                  is_known(pair.store, "there@b"));
    g_assert_false(is_noted(pair.store, "out", "shared out@b") || is_noted(pair.store, "archive", "archived@b") ||
                   is_noted(pair.store, "defragment", "part@b"));
    g_assert_true(is_noted(pair.store, "out", "long ago@b") && is_noted(pair.store, "out", "there@b"));
    assert_ok(host_end(pair.store, pair.b, &error), error);
    g_auto(LostSpool) other = {0};
    assert_ok(lost_spool_remove(pair.store, "b", true, &other, &error), error);
    g_autofree char *theirs = text_of(&other);
    g_assert_nonnull(strstr(theirs, "block|" LIST "|there@b|1002\n"));
    g_assert_null(strstr(theirs, "long ago@b|999"));
    end_pair(&pair);
}

/* An entry that a host has in its spool and has not accepted yet is told, too: unless it is a second copy of one that
 * was accepted before, or the host that had handed it over works it. */
static void test_taken(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Pair pair;
    begin_pair(&pair, fixture);
    static const char *const ids[] = {"taken@b", "worked@b", "again@b"};
    HandedEntry handed[G_N_ELEMENTS(ids)];
    see(pair.store, "taken@b", pair.b, EMPTY_AT + 1);
    accept(pair.store, pair.b, "out", "again@b", EMPTY_AT + 1);
    for (size_t at = 0; at < G_N_ELEMENTS(ids); at++) {
        char *effect = g_strdup_printf("handover:out %s", ids[at]);
        handed[at] = (HandedEntry){effect, pair.a->spool, "out", LIST, ids[at], EMPTY_AT + 1};
        assert_ok(lost_spool_note_taken(pair.store, &handed[at], &error), error);
        assert_ok(lost_spool_note_taken(pair.store, &handed[at], &error), error);
    }
    const char *worked = handed[1].entry;
    assert_ok(store_begin(pair.store, &error) && store_record_effect(pair.store, worked, 7, &error) &&
                  lost_spool_note_back(pair.store, worked, &error) && store_commit(pair.store, &error),
              error);
    assert_ok(host_end(pair.store, pair.a, &error), error);
    g_auto(LostSpool) lost = {0};
    assert_ok(lost_spool_remove(pair.store, "a", false, &lost, &error), error);
    g_autofree char *told = text_of(&lost);
    g_assert_nonnull(strstr(told, "block|" LIST "|taken@b|1001\ndigest|"));
    g_assert_null(strstr(told, "worked@b"));
    g_assert_null(strstr(told, "again@b"));
    g_assert_false(is_known(pair.store, "taken@b"));
    g_assert_true(is_noted(pair.store, "out", "worked@b") && is_noted(pair.store, "out", "again@b"));
    for (size_t at = 0; at < G_N_ELEMENTS(ids); at++)
        g_free((char *)handed[at].entry);
    end_pair(&pair);
}

SUITE("lost_spool")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/lost_spool/lost", test_lost);
    TEST_WITH_LIST("/lost_spool/moved", test_moved);
    TEST_WITH_LIST("/lost_spool/not yet", test_not_yet);
    TEST_WITH_LIST("/lost_spool/handed", test_handed);
    TEST_WITH_LIST("/lost_spool/taken", test_taken);
    return g_test_run();
}
