/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The transitions of runners/defragment/README.md. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "lists/posts/fragment_wake.h"
#include "t/lists/places.h"
#include "t/runners/defragment/bench.h"

#define ONE "Subject: whole\r\nMessage-ID: <w@example.org>\r\nContent-Type: text/plain\r\n\r\none\r\n"
#define TWO "two\r\n"
#define THREE "three\r\n"
#define DAY (86400 * CLOCK_SECOND)

static void set_up(Bench *bench, gconstpointer data)
{
    bench_set_up(bench, data ? data : "");
}

static void tear_down(Bench *bench, gconstpointer data)
{
    bench_tear_down(bench);
}

/* All of `in` went there alone, for that reason; how many. */
static void assert_left(Bench *bench, unsigned count, const char *left, const char *reason)
{
    g_autofree char *files = fixture_files(&bench->fixture, "in", ".msg");
    g_auto(GStrv) names = g_strsplit(files, ",", -1);
    unsigned seen = 0;
    for (char **name = names; *name && **name; name++, seen++) {
        g_autoptr(Entry) entry = entry_open(spool_queue(bench->fixture.spool, "in", NULL), *name, NULL);
        g_assert_cmpstr(meta_string(entry_meta(entry), KEY_LEFT, NULL), ==, left);
        const char *why = meta_string(entry_meta(entry), KEY_LEFT_REASON, "");
        g_test_message("%s", why);
        g_assert_nonnull(strstr(why, reason));
        g_autofree char *message = fixture_text(entry);
        g_assert_nonnull(strstr(message, "message/partial"));
    }
    g_assert_cmpuint(seen, ==, count);
}

/* ---- joining ---- */

static void test_in_one_batch(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 2, 3, TWO);
    bench_send(bench, "i", 3, 0, THREE);
    bench_send(bench, "i", 1, 0, ONE);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\nthree\r\n");
    bench_assert_state(bench, FRAGMENT_JOINED, true, 3);
}

static void test_one_by_one(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 3, 3, THREE);
    bench_work(bench);
    bench_assert_waiting(bench, 1, 2 * DAY - 60 * CLOCK_SECOND, 2 * DAY);
    bench_assert_state(bench, FRAGMENT_OPEN, false, 1);
    bench_send(bench, "i", 1, 3, ONE);
    bench_work(bench);
    g_assert_cmpuint(bench_count(bench, "in"), ==, 0);
    bench_send(bench, "i", 2, 3, TWO);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\nthree\r\n");
    bench_assert_state(bench, FRAGMENT_JOINED, true, 3);
}

static void test_header(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 1, ONE);
    bench_work(bench);
    g_autoptr(Entry) entry = bench_only(bench, "in");
    g_autofree char *message = fixture_text(entry);
    g_assert_true(g_str_has_prefix(message, "Received: by lists.example.com (Listrunner, joined from 1 parts) id "));
    g_assert_nonnull(strstr(message, "\r\nFrom: anne@example.org\r\nTo: test@example.com\r\nSubject: whole\r\n"
                                     "Message-ID: <w@example.org>\r\nContent-Type: text/plain\r\n\r\none\r\n"));
    g_assert_cmpstr(meta_string(entry_meta(entry), KEY_MESSAGE_ID, NULL), ==, "w@example.org");
    g_assert_cmpstr(meta_string(entry_meta(entry), KEY_SENDER, NULL), ==, BENCH_SENDER);
    g_assert_cmpstr(meta_string(entry_meta(entry), KEY_TO, NULL), ==, TO_POSTING);
}

static void test_no_message_id(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 1, "\r\nbody\r\n");
    bench_work(bench);
    g_autoptr(Entry) entry = bench_only(bench, "in");
    g_autofree char *message = fixture_text(entry);
    const char *id = meta_string(entry_meta(entry), KEY_MESSAGE_ID, "");
    g_autofree char *field = g_strdup_printf("\r\nMessage-ID: <%s>\r\n", id);
    g_autofree char *first = g_strdup_printf("Message-ID: <%s>\r\n", id);
    g_assert_true(strstr(message, field) || g_str_has_prefix(message, first));
    g_assert_true(g_str_has_suffix(message, "\r\n\r\nbody\r\n"));
}

static void test_no_total(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 0, ONE);
    bench_send(bench, "i", 2, 0, TWO);
    bench_work(bench);
    bench_assert_waiting(bench, 2, DAY, 2 * DAY);
    g_assert_cmpuint(bench_count(bench, "in"), ==, 0);
}

/* Two authors with one id; the envelope senders of one vary, and the other uses one of these. */
static void test_two_senders(Bench *bench, gconstpointer data)
{
    g_autofree char *first = bench_part("i", 1, 2, ONE), *second = bench_part("i", 2, 2, TWO);
    g_autofree char *evil = bench_part("i", 2, 2, "evil\r\n");
    memcpy(strstr(evil, "anne@"), "eve1@", strlen("eve1@"));
    g_assert_true(bench_put(bench, bench->fixture.spool, BENCH_SENDER, first));
    g_assert_true(bench_put(bench, bench->fixture.spool, BENCH_SENDER, evil));
    bench_work(bench);
    g_assert_cmpuint(bench_count(bench, "in"), ==, 0);
    g_assert_true(bench_put(bench, bench->fixture.spool, "prvs=0123456789=anne@example.org", second));
    bench_work(bench);
    g_autoptr(Entry) entry = bench_only(bench, "in");
    g_autofree char *body = bench_body(entry);
    g_assert_cmpstr(body, ==, "one\r\ntwo\r\n");
    bench_assert_waiting(bench, 1, DAY, 2 * DAY);
}

static void test_nested(Bench *bench, gconstpointer data)
{
    g_autofree char *inner = bench_part("inner", 1, 2, ONE);
    g_autofree char *first = g_strndup(inner, 100);
    bench_send(bench, "outer", 1, 2, first);
    bench_send(bench, "outer", 2, 2, inner + 100);
    bench_send(bench, "inner", 2, 2, TWO);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\n");
}

static void test_nested_twice(Bench *bench, gconstpointer data)
{
    g_autofree char *innermost = bench_part("c", 1, 1, ONE), *inner = bench_part("b", 1, 1, innermost);
    bench_send(bench, "a", 1, 1, inner);
    bench_work(bench);
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 0);
    assert_left(bench, 1, LEFT_REFUSED, "again only a part");
}

/* ---- repeats and contradictions ---- */

static void test_repeats(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 2, ONE);
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    bench_assert_waiting(bench, 1, DAY, 2 * DAY);
    bench_send(bench, "i", 2, 2, TWO);
    bench_send(bench, "i", 2, 2, TWO);
    bench_work(bench);
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\n");
}

static void test_late_intruder(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 1, ONE);
    bench_work(bench);
    fixture_lose(&bench->fixture, "in", ".msg");
    bench_send(bench, "i", 1, 1, "other\r\n");
    bench_send(bench, "i", 2, 0, TWO);
    bench_work(bench);
    assert_left(bench, 2, LEFT_REFUSED, "complete without it");
}

typedef struct Contradiction {
    const char *name;
    int number, total;
    const char *body, *reason;
} Contradiction;

static const Contradiction contradictions[] = {
    {"total", 3, 4, THREE, "different totals, 3 and 4"},
    {"lower-total", 1, 1, ONE, "different totals, 3 and 1"},
    {"over-total", 4, 0, THREE, "a part 4 of a message of 3 parts"},
    {"content", 2, 3, "other\r\n", "came twice, with different content"},
    {"size", 3, 3, NULL, "more than the 1024 octets"},
};

/* Parts that wait, one in the same batch, and the one that does not fit: all are held. */
static void test_contradiction(gconstpointer data)
{
    const Contradiction *one = data;
    Bench bench;
    bench_set_up(&bench, strcmp(one->name, "size") == 0 ? "[defragment]\nmax_size = 1K\n" : "");
    g_autofree char *long_body = g_strnfill(1020, 'x');
    bool size = strcmp(one->name, "size") == 0;
    bench_send(&bench, "i", 2, 3, TWO);
    bench_work(&bench);
    bench_assert_waiting(&bench, 1, DAY, 2 * DAY);
    if (strcmp(one->name, "lower-total") != 0)
        bench_send(&bench, "i", 1, 3, "short\r\n");
    bench_send(&bench, "i", one->number, one->total, size ? long_body : one->body);
    bench_work(&bench);
    g_assert_cmpuint(bench_count(&bench, "defragment"), ==, 0);
    unsigned all = strcmp(one->name, "lower-total") != 0 ? 3 : 2;
    assert_left(&bench, all, LEFT_REFUSED, one->reason);
    bench_send(&bench, "i", 3, 3, THREE);
    bench_work(&bench);
    assert_left(&bench, all + 1, LEFT_REFUSED, one->reason);
    bench_tear_down(&bench);
}

static void test_total_below_seen(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 5, 0, TWO);
    bench_work(bench);
    bench_send(bench, "i", 1, 3, ONE);
    bench_work(bench);
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 0);
    assert_left(bench, 2, LEFT_REFUSED, "a part 5 of a message of 3 parts");
}

/* Check a part that lmtp would not let in, after the configuration changed. */
static void test_faults(Bench *bench, gconstpointer data)
{
    g_autofree char *octets = bench_part("i", 1, 2, "J\xf6rg\r\n");
    g_assert_true(bench_put(bench, bench->fixture.spool, BENCH_SENDER, octets));
    bench_work(bench);
    assert_left(bench, 1, LEFT_REFUSED, "over 127");
}

static void test_too_many_parts(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 4, 0, TWO);
    bench_send(bench, "j", 1, 4, TWO);
    bench_work(bench);
    assert_left(bench, 2, LEFT_REFUSED, "more than 3 parts");
}

/* ---- time ---- */

static void test_expiry(Bench *bench, gconstpointer data)
{
    bench->arrival = clock_now() - 2 * DAY + 60 * CLOCK_SECOND;
    bench_send(bench, "i", 1, 3, ONE);
    bench_send(bench, "i", 2, 3, TWO);
    bench_work(bench);
    bench_assert_waiting(bench, 2, 0, 61 * CLOCK_SECOND);
    clock_put(61);
    bench_work(bench);
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 0);
    assert_left(bench, 2, LEFT_EXPIRED, "did not come in time");
    bench->arrival = 0;
    bench_send(bench, "i", 3, 3, THREE);
    bench_work(bench);
    assert_left(bench, 3, LEFT_EXPIRED, "did not come in time");
    /* The clock stays there: names of entries never go back in a process. */
}

static void test_old_part(Bench *bench, gconstpointer data)
{
    bench->arrival = clock_now() - 3 * DAY;
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    assert_left(bench, 1, LEFT_EXPIRED, "did not come in time");
}

static void test_notices(Bench *bench, gconstpointer data)
{
    bench_setting(bench, "notices", "10");
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    bench_assert_waiting(bench, 1, 5 * DAY - 60 * CLOCK_SECOND, 5 * DAY);
}

/* ---- limits ---- */

/* The first part of a message, id, by an author of that name ("anne" of all others). */
static void send_first(Bench *bench, const char *author, const char *id)
{
    g_autofree char *octets = bench_part(id, 1, 2, ONE);
    g_assert_cmpuint(strlen(author), ==, strlen("anne"));
    memcpy(strstr(octets, "anne@"), author, strlen(author));
    g_assert_true(bench_put(bench, bench->fixture.spool, BENCH_SENDER, octets));
    bench_work(bench);
}

/* The ids of the sets in a state, in order, as "a,b". */
static bool note_set_id(const FragmentSet *set, void *data)
{
    g_ptr_array_add(data, g_strdup(set->id));
    return true;
}

static gint compare_ids(gconstpointer one, gconstpointer other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static void assert_sets(Bench *bench, FragmentState state, const char *wanted)
{
    g_autoptr(Store) store = bench_store(bench);
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    const FragmentChoice choice = {.state = state};
    g_assert_true(fragment_each(store, &choice, note_set_id, ids, NULL));
    g_ptr_array_sort(ids, compare_ids);
    g_ptr_array_add(ids, NULL);
    g_autofree char *found = g_strjoinv(",", (char **)ids->pdata);
    g_assert_cmpstr(found, ==, wanted);
}

#define ROOM "the room was wanted"

/* Forged first parts must not keep a sender's message out: the oldest set of that sender goes, and nobody else's. */
static void test_limit_of_sender(Bench *bench, gconstpointer data)
{
    send_first(bench, "bert", "other");
    send_first(bench, "anne", "a");
    send_first(bench, "anne", "b");
    send_first(bench, "anne", "c");
    assert_sets(bench, FRAGMENT_OPEN, "b,c,other");
    assert_sets(bench, FRAGMENT_EXPIRED, "a");
    assert_left(bench, 1, LEFT_EXPIRED, ROOM);
    bench_send(bench, "c", 2, 2, TWO);
    bench_send(bench, "a", 2, 2, TWO); /* follows its first part */
    bench_work(bench);
    assert_sets(bench, FRAGMENT_JOINED, "c");
    g_assert_cmpuint(bench_count(bench, "in"), ==, 3);
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 2);
}

/* The author with the most sets pays, with the oldest of them, however old the sets of others are. */
static void test_limit_of_all(Bench *bench, gconstpointer data)
{
    send_first(bench, "bert", "b1");
    send_first(bench, "evil", "e1");
    send_first(bench, "evil", "e2");
    send_first(bench, "anne", "a1");
    assert_sets(bench, FRAGMENT_OPEN, "a1,b1,e2");
    send_first(bench, "evil", "e3");
    assert_sets(bench, FRAGMENT_OPEN, "a1,b1,e3");
    send_first(bench, "carl", "c1"); /* each has one: the oldest of all goes */
    assert_sets(bench, FRAGMENT_OPEN, "a1,c1,e3");
    assert_sets(bench, FRAGMENT_EXPIRED, "b1,e1,e2");
    assert_left(bench, 3, LEFT_EXPIRED, ROOM);
}

/* The set that goes belongs to another slice: its parts go when that one works. */
static void test_limit_across_slices(Bench *bench, gconstpointer data)
{
    for (unsigned i = 0; i < 4; i++) {
        g_autofree char *id = g_strdup_printf("%u", i);
        bench_send(bench, id, 1, 2, ONE);
        for (unsigned slice = 0; slice < 2; slice++)
            g_assert_true(bench_run(bench, &(BenchRun){.slice = slice, .slices = 2}));
    }
    g_assert_true(bench_run(bench, &(BenchRun){.slice = 0, .slices = 2}));
    assert_sets(bench, FRAGMENT_OPEN, "3");
    assert_left(bench, 3, LEFT_EXPIRED, ROOM);
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 1);
}

/* Check that the set waits on when that did not happen for which its end was written. */
static void test_limit_undone(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    g_autoptr(Store) store = bench_store(bench);
    g_autoptr(FragmentSet) set = bench_set(bench);
    g_autoptr(GError) error = NULL;
    g_assert_true(fragment_wake(bench->fixture.spool, set, &error));
    bench_work(bench);
    bench_assert_state(bench, FRAGMENT_OPEN, false, 1);
    bench_assert_waiting(bench, 1, DAY, 2 * DAY);
}

/* Bytes are another matter: nothing is given up for them. */
static void test_limit_of_octets(Bench *bench, gconstpointer data)
{
    g_autofree char *large = g_strnfill(1200000, 'x');
    bench_send(bench, "i", 2, 3, large);
    bench_work(bench);
    bench_send(bench, "j", 1, 2, ONE);
    bench_work(bench);
    assert_sets(bench, FRAGMENT_OPEN, "i");
    assert_sets(bench, FRAGMENT_EXPIRED, "");
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 2);
}

/* ---- index and queue disagree ---- */

static void test_index_lost(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 3, ONE);
    bench_send(bench, "i", 2, 3, TWO);
    bench_work(bench);
    g_autoptr(Store) store = bench_store(bench);
    g_assert_true(fragment_forget(store, G_MAXINT64, NULL));
    bench_work(bench);
    bench_assert_state(bench, FRAGMENT_OPEN, false, 2);
    bench_assert_waiting(bench, 2, DAY, 2 * DAY);
    bench_send(bench, "i", 3, 3, THREE);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\nthree\r\n");
}

static void test_entry_lost(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    fixture_lose(&bench->fixture, "defragment", ".msg");
    bench_send(bench, "i", 2, 2, TWO);
    bench_work(bench);
    bench_assert_state(bench, FRAGMENT_OPEN, false, 1);
    bench_assert_waiting(bench, 1, DAY, 2 * DAY);
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\n");
}

/* While the runner works, the list is removed, and it is told as the command line does. */
static bool remove_list(void *data)
{
    Bench *bench = data;
    g_autoptr(Store) store = bench_store(bench);
    g_autoptr(GError) error = NULL;
    if (!list_remove(store, BENCH_LIST, &error))
        return false; /* it is gone */
    json_t *meta = json_object();
    meta_set_string(meta, KEY_WAKE, "of a set that went with its list");
    g_autoptr(Draft) draft = draft_new("defragment", meta);
    Intake intake = {.draft = draft};
    g_autoptr(Spool) spool = spool_open(bench->fixture.path, NULL);
    g_assert_true(intake_store(spool, &intake, 1, false));
    return true;
}

static void test_list_removed(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 3, ONE);
    bench_send(bench, "i", 2, 3, TWO);
    bench_work(bench);
    bench_assert_waiting(bench, 2, DAY, 2 * DAY);
    BenchRun run = {.feed = remove_list, .data = bench};
    g_assert_true(bench_run(bench, &run));
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 0);
    g_assert_cmpuint(bench_count(bench, "shunt"), ==, 2);
    g_autofree char *files = fixture_files(&bench->fixture, "shunt", ".msg");
    g_auto(GStrv) names = g_strsplit(files, ",", -1);
    g_autoptr(Entry) entry = entry_open(spool_queue(bench->fixture.spool, "shunt", NULL), names[0], NULL);
    const char *reason = meta_string(json_object_get(entry_meta(entry), META_FAULT), "reason", "");
    g_assert_nonnull(strstr(reason, "no list " BENCH_LIST));
}

/* A part that is sent again in place of one that was lost is no repeat. */
static void test_lost_and_sent_again(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    fixture_lose(&bench->fixture, "defragment", ".msg");
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    bench_assert_state(bench, FRAGMENT_OPEN, false, 1);
    bench_assert_waiting(bench, 1, DAY, 2 * DAY);
    bench_send(bench, "i", 2, 2, TWO);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\n");
}

static void test_entry_damaged(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    g_autofree char *name = fixture_files(&bench->fixture, "defragment", ".msg"), *octets = NULL;
    g_autofree char *path = fixture_file_path(&bench->fixture, "defragment", name);
    gsize length;
    g_assert_true(g_file_get_contents(path, &octets, &length, NULL));
    octets[length / 2] ^= 1;
    g_assert_true(g_file_set_contents(path, octets, (gssize)length, NULL));
    bench_send(bench, "i", 2, 2, TWO);
    bench_work(bench);
    g_assert_cmpuint(bench_count(bench, "corrupt"), ==, 1);
    g_assert_cmpuint(bench_count(bench, "in"), ==, 0);
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\n");
}

/* An operator postponed a part: it is found under its new time. */
static void test_entry_moved(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    g_autofree char *name = fixture_files(&bench->fixture, "defragment", ".msg"), *moved = g_strdup(name);
    g_autofree char *from = fixture_file_path(&bench->fixture, "defragment", name);
    moved[9] = moved[9] == '9' ? '8' : moved[9] + 1;
    g_autofree char *to = fixture_file_path(&bench->fixture, "defragment", moved);
    g_assert_cmpint(rename(from, to), ==, 0);
    bench_send(bench, "i", 2, 2, TWO);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\n");
}

/* ---- decisions from elsewhere ---- */

static void decide(Bench *bench, FragmentState state)
{
    g_autoptr(FragmentSet) set = bench_set(bench);
    g_autoptr(Store) store = bench_store(bench);
    g_assert_true(fragment_end(store, set->key, &(FragmentEnd){.state = state, .time = clock_now()}, NULL));
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, BENCH_LIST);
    meta_set_string(meta, META_SHARD, set->key);
    meta_set_string(meta, KEY_WAKE, set->key);
    Intake wake = {.draft = draft_new("defragment", meta)};
    g_assert_true(intake_store(bench->fixture.spool, &wake, 1, false));
    draft_free(wake.draft);
}

static void test_release(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 3, ONE);
    bench_send(bench, "i", 2, 3, TWO);
    bench_work(bench);
    decide(bench, FRAGMENT_RELEASED);
    bench_work(bench);
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 0);
    assert_left(bench, 2, LEFT_RELEASED, "");
}

static void test_drop(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 3, ONE);
    bench_work(bench);
    decide(bench, FRAGMENT_DROPPED);
    bench_work(bench);
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 0);
    g_assert_cmpuint(bench_count(bench, "in"), ==, 0);
}

static void test_switched_off(Bench *bench, gconstpointer data)
{
    bench_setting(bench, "defragment", "off");
    bench_send(bench, "i", 1, 3, ONE);
    g_assert_true(bench_put(bench, bench->fixture.spool, BENCH_SENDER, "Subject: no part\r\n\r\nx\r\n"));
    bench_work(bench);
    g_assert_cmpuint(bench_count(bench, "in"), ==, 2);
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 0);
}

static void test_by_transport(Bench *bench, gconstpointer data)
{
    bench_setting(bench, "defragment", "default");
    bench_send(bench, "i", 1, 2, ONE);
    bench_send(bench, "i", 2, 2, TWO);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\n");
}

/* ---- slices ---- */

static void run_slices(const Bench *bench, unsigned slices)
{
    for (unsigned slice = 0; slice < slices; slice++) {
        BenchRun run = {.slice = slice, .slices = slices};
        g_assert_true(bench_run(bench, &run));
    }
}

static void test_rescale(Bench *bench, gconstpointer data)
{
    for (int set = 0; set < 8; set++) {
        g_autofree char *id = g_strdup_printf("set %d", set);
        bench_send(bench, id, 2, 3, TWO);
    }
    run_slices(bench, 4);
    for (int set = 0; set < 8; set++) {
        g_autofree char *id = g_strdup_printf("set %d", set);
        bench_send(bench, id, 3, 3, THREE);
    }
    run_slices(bench, 1);
    for (int set = 0; set < 8; set++) {
        g_autofree char *id = g_strdup_printf("set %d", set);
        bench_send(bench, id, 1, 3, ONE);
    }
    run_slices(bench, 8);
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 0);
    g_assert_cmpuint(bench_count(bench, "in"), ==, 8);
}

#define ADD(name, more, function) g_test_add("/defragment/" name, Bench, more, set_up, function, tear_down)

static void add_all(void)
{
    ADD("one-batch", NULL, test_in_one_batch);
    ADD("one-by-one", NULL, test_one_by_one);
    ADD("header", NULL, test_header);
    ADD("no-message-id", NULL, test_no_message_id);
    ADD("no-total", NULL, test_no_total);
    ADD("two-senders", NULL, test_two_senders);
    ADD("nested", NULL, test_nested);
    ADD("nested-twice", NULL, test_nested_twice);
    ADD("repeats", NULL, test_repeats);
    ADD("late-intruder", NULL, test_late_intruder);
    ADD("total-below-seen", NULL, test_total_below_seen);
    ADD("faults", NULL, test_faults);
    ADD("too-many-parts", "[defragment]\nmax_parts = 3\n", test_too_many_parts);
    ADD("expiry", NULL, test_expiry);
    ADD("old-part", NULL, test_old_part);
    ADD("notices", NULL, test_notices);
    ADD("limit/sender", "[defragment]\nsets_per_sender = 2\n", test_limit_of_sender);
    ADD("limit/list", "[defragment]\nsets_per_list = 3\n", test_limit_of_all);
    ADD("limit/host", "[defragment]\nsets_per_host = 3\n", test_limit_of_all);
    ADD("limit/slices", "[defragment]\nsets_per_sender = 1\n", test_limit_across_slices);
    ADD("limit/undone", NULL, test_limit_undone);
    ADD("limit/octets", "[defragment]\nmax_waiting = 1M\n", test_limit_of_octets);
    ADD("index-lost", NULL, test_index_lost);
    ADD("list-removed", NULL, test_list_removed);
    ADD("entry-lost", NULL, test_entry_lost);
    ADD("lost-and-sent-again", NULL, test_lost_and_sent_again);
    ADD("entry-damaged", NULL, test_entry_damaged);
    ADD("entry-moved", NULL, test_entry_moved);
    ADD("release", NULL, test_release);
    ADD("drop", NULL, test_drop);
    ADD("switched-off", NULL, test_switched_off);
    ADD("by-transport", "[transport.relay]\ndefragment\n", test_by_transport);
    ADD("rescale", NULL, test_rescale);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (!g_getenv("TMPDIR") && access("/dev/shm", W_OK | X_OK) == 0)
        g_setenv("TMPDIR", "/dev/shm", TRUE);
    add_all();
    for (size_t i = 0; i < G_N_ELEMENTS(contradictions); i++) {
        g_autofree char *path = g_strconcat("/defragment/contradiction/", contradictions[i].name, NULL);
        g_test_add_data_func(path, &contradictions[i], test_contradiction);
    }
    return clock_run_tests();
}
