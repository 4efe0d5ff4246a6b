/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Trials: which mail is replayed, what they tell of it, and how they end. */
#include "lists/trial/trial.h"

#include <string.h>

#include "lists/archive/archive_maildir.h"
#include "lists/posts/refused.h"
#include "store/archive/archive_index.h"
#include "store/posts/held.h"
#include "store/store_internal.h"
#include "switchboard/meta.h"
#include "t/lists/fixture.h"
#include "t/suite.h"

#define OTHER "other.example.com"
#define NOW (INT64_C(1700000000) * CLOCK_SECOND)

typedef struct Bench {
    char *archive;
    Config *config;
    const char *setting, *value; /* the change; value NULL: it fails */
    GString *told;               /* of each post that differs: "SENDER BEFORE AFTER SUBJECT", a line */
    unsigned most;               /* posts, then each() ends the trial */
} Bench;

static void bench_open(Bench *bench)
{
    GError *error = NULL;
    bench->archive = g_dir_make_tmp("trial-XXXXXX", NULL);
    bench->told = g_string_new(NULL);
    bench->most = 1000;
    g_autofree char *path = g_build_filename(bench->archive, "listrunner.conf", NULL);
    g_autofree char *text = g_strdup_printf("[archiver.pages]\ntype = maildir\npath = %s\nindex = yes\n"
                                            "[external.scan]\ncommand = /bin/false\n[rules]\nexternal = scan\n"
                                            "[spool]\nmin_free = 0\n"
                                            "[refused]\nkeep = 3660d\ndirectory = %s/refused\n",
                                            bench->archive, bench->archive);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    bench->config = config_load(path, true, &error);
    g_assert_no_error(error);
}

static void bench_clear(Bench *bench)
{
    const char *const words[] = {"rm", "-rf", bench->archive, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
    config_free(bench->config);
    g_string_free(bench->told, TRUE);
    g_free(bench->archive);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Bench, bench_clear)

/* A mail in the archive of a list; fields are further lines of its header. */
static void archive(const Bench *bench, const char *list, int64_t arrival, const char *sender, const char *fields)
{
    GError *error = NULL;
    static int number;
    g_autofree char *text = g_strdup_printf("From: %s\nTo: test@example.com\nMessage-ID: <m%d@x>\n%s\nHello\n", sender,
                                            ++number, fields);
    g_autoptr(ArchiveWriter) writer = archive_writer_open(bench->archive, list, &error);
    g_autofree char *name = writer ? archive_writer_add(writer, arrival, text, strlen(text), &error) : NULL;
    g_assert_no_error(error);
    assert_ok(archive_writer_flush(writer, &error), error);
}

static void hold(World *world, const char *list, int64_t held_at, const char *sender)
{
    GError *error = NULL;
    g_autofree char *text = g_strdup_printf("From: %s\r\nTo: test@example.com\r\nSubject: held\r\n\r\nHi\r\n", sender);
    g_autofree char *meta = g_strdup_printf("{\"sender\":\"%s\",\"to\":\"posting\"}", sender);
    g_autoptr(GBytes) message = g_bytes_new(text, strlen(text));
    Held held = {.list_id = (char *)list,
                 .sender = (char *)sender,
                 .subject = (char *)"held",
                 .reason = (char *)"because",
                 .meta = meta,
                 .held_at = held_at,
                 .message = message};
    assert_ok(held_add(world->store, &held, &error), error);
}

static bool change(Store *scratch, const char *list_id, void *data, GError **error)
{
    const Bench *bench = data;
    return bench->value ? list_set(scratch, list_id, bench->setting, bench->value, error)
                        : fail(error, FAIL_NEVER, "that cannot be");
}

static bool each(const TrialPost *post, void *data)
{
    Bench *bench = data;
    g_string_append_printf(bench->told, "%s %s %s %s%s\n", post->sender, trial_fate_text(post->before->fate),
                           trial_fate_text(post->after->fate), post->subject, post->refused ? ", refused" : "");
    return --bench->most > 0;
}

static bool try(World *world, Bench *bench, const char *list, TrialTally *tally, GError **error)
{
    const Trial trial = {.store = world->store,
                         .config = bench->config,
                         .list_id = list,
                         .since = NOW - TRIAL_DAY,
                         .change = change,
                         .each = each,
                         .data = bench};
    g_string_set_size(bench->told, 0);
    trial_tally_clear(tally);
    return trial_run(&trial, tally, error);
}

static void make_lists(World *world)
{
    GError *error = NULL;
    g_autoptr(List) other = list_create(world->store, "other@example.com", &error);
    g_assert_no_error(error);
    for (size_t at = 0; at < 2; at++) {
        const char *list = at == 0 ? LIST : OTHER;
        assert_ok(member_add(world->store, list, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error),
                  error);
        assert_ok(list_set(world->store, list, "require_explicit_destination", "no", &error), error);
    }
}

/* Its own mail since the day that was asked for, from the archive and of what is held, in the order of arrival. The
 * scanner of the site, which would fail, is not run. */
static void test_which(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Bench) bench = {.setting = "emergency", .value = "yes"};
    g_auto(TrialTally) tally = {0};
    bench_open(&bench);
    make_lists(world);
    archive(&bench, LIST, NOW - 3 * TRIAL_DAY, "anne@example.org", "Subject: old\n");
    archive(&bench, LIST, NOW - 300 * CLOCK_SECOND, "anne@example.org", "Subject: first\n");
    archive(&bench, LIST, NOW - 100 * CLOCK_SECOND, "anne@example.org", "Subject: third\n");
    archive(&bench, OTHER, NOW - 50 * CLOCK_SECOND, "anne@example.org", "Subject: other\n");
    hold(world, LIST, NOW - 200 * CLOCK_SECOND, "anne@example.org");
    hold(world, LIST, NOW - 2 * TRIAL_DAY, "anne@example.org");
    hold(world, OTHER, NOW, "anne@example.org");
    assert_ok(try(world, &bench, LIST, &tally, &error), error);
    g_assert_cmpstr(bench.told->str, ==,
                    "anne@example.org accepted held first\nanne@example.org accepted held held\n"
                    "anne@example.org accepted held third\n");
    g_assert_true(tally.posts == 3 && tally.archived == 2 && tally.held == 1);
    g_assert_cmpuint(tally.fates[TRIAL_ACCEPTED][TRIAL_HELD], ==, 3);
    assert_ok(try(world, &bench, OTHER, &tally, &error), error);
    g_assert_cmpstr(bench.told->str, ==, "anne@example.org accepted held other\nanne@example.org accepted held held\n");
}

/* The archived copy has fields and a prefix of the list, by which it would be stopped or held. */
static void test_as_it_came(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Bench) bench = {.setting = "subject_prefix", .value = "[Test] "};
    g_auto(TrialTally) tally = {0};
    bench_open(&bench);
    make_lists(world);
    archive(&bench, LIST, NOW - 9 * CLOCK_SECOND, "anne@example.org",
            "Subject: [Test] hello\nPrecedence: list\nListrunner-Loop: 1.abc\nList-Id: <" LIST ">\n"
            "List-Post: <mailto:test@example.com>\nX-BeenThere: test@example.com\n");
    archive(&bench, LIST, NOW - 8 * CLOCK_SECOND, "anne@example.org",
            "Subject: [Test] (no subject)\nList-Id: <" LIST ">\n");
    archive(&bench, LIST, NOW - 7 * CLOCK_SECOND, "anne@example.org", /* through another list */
            "Subject: [Test] (no subject)\nList-Id: <" OTHER ">\n");
    assert_ok(try(world, &bench, LIST, &tally, &error), error);
    g_assert_cmpstr(bench.told->str, ==, ""); /* the prefix is the one that the list has */
    g_assert_true(tally.posts == 3 && tally.fates[TRIAL_ACCEPTED][TRIAL_ACCEPTED] == 2 &&
                  tally.fates[TRIAL_HELD][TRIAL_HELD] == 1);
    bench.value = "[New] ";
    assert_ok(try(world, &bench, LIST, &tally, &error), error);
    g_assert_cmpstr(bench.told->str, ==,
                    "anne@example.org accepted accepted hello\n"
                    "anne@example.org accepted accepted [Test] (no subject)\n");
    g_assert_cmpuint(tally.other_text, ==, 2);
}

static void refuse(const Bench *bench, const char *list, int64_t arrival, const char *sender, const char *fields)
{
    g_autofree char *text = g_strdup_printf("From: %s\r\nTo: test@example.com\r\n%s\r\nHi\r\n", sender, fields);
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    g_autoptr(json_t) meta = json_pack("{ss ss}", "sender", sender, "to", "posting");
    const Refused mail = {.list_id = (char *)list,
                          .arrival = arrival,
                          .trace = (char *)sender,
                          .fate = (char *)REFUSED_REJECTED,
                          .reasons = (char *)"because",
                          .meta = meta,
                          .octets = octets};
    refused_keep(bench->config, &mail);
}

/* Check that a refused post is replayed in its place among the others, but not one that another list of the name
 * refused before. */
static void test_refused(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Bench) bench = {.setting = "default_nonmember_action", .value = "accept"};
    g_auto(TrialTally) tally = {0};
    g_autofree char *sql = g_strdup_printf("UPDATE list SET created_at = %" G_GINT64_FORMAT, NOW - 500 * CLOCK_SECOND);
    bench_open(&bench);
    make_lists(world);
    assert_ok(query_all(world->store, &error, NULL, sql, NULL, 0), error);
    assert_ok(list_set(world->store, LIST, "default_nonmember_action", "discard", &error), error);
    archive(&bench, LIST, NOW - 300 * CLOCK_SECOND, "zoe@example.net", "Subject: first\n");
    refuse(&bench, LIST, NOW - 250 * CLOCK_SECOND, "bart@example.net", "Subject: second\r\n");
    hold(world, LIST, NOW - 200 * CLOCK_SECOND, "cleo@example.net");
    refuse(&bench, LIST, NOW - 150 * CLOCK_SECOND, "anne@example.org", "Subject: of a member\r\n");
    refuse(&bench, LIST, NOW - 600 * CLOCK_SECOND, "old@example.net", "Subject: of an earlier list\r\n");
    refuse(&bench, OTHER, NOW - 100 * CLOCK_SECOND, "other@example.net", "Subject: other\r\n");
    assert_ok(try(world, &bench, LIST, &tally, &error), error);
    g_assert_cmpstr(bench.told->str, ==,
                    "zoe@example.net discarded accepted first\n"
                    "bart@example.net discarded accepted second, refused\n"
                    "cleo@example.net discarded accepted held\n");
    g_assert_true(tally.posts == 4 && tally.refused == 2 && tally.refused_accepted == 1);
    g_assert_cmpuint(tally.fates[TRIAL_DISCARDED][TRIAL_ACCEPTED], ==, 3);
    bench.setting = "description"; /* which changes nothing */
    assert_ok(try(world, &bench, LIST, &tally, &error), error);
    g_assert_true(tally.posts == 4 && tally.refused == 2 && tally.refused_accepted == 0);
}

/* Posts that were removed from the archive are no mail any more. */
static void test_removed(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Bench) bench = {.setting = "emergency", .value = "yes"};
    g_auto(TrialTally) tally = {0};
    bench_open(&bench);
    make_lists(world);
    static const char *const states[] = {"removed\nno\n", "hidden\nno\n"};
    for (size_t at = 0; at < G_N_ELEMENTS(states); at++)
        archive(&bench, LIST, NOW - (9 - (int64_t)at) * CLOCK_SECOND, "anne@example.org",
                at == 0 ? "Subject: removed\n" : "Subject: hidden\n");
    g_autofree char *index = archive_index_path(bench.archive), *own = g_path_get_dirname(index);
    g_autofree char *marks = g_build_filename(own, "marks", LIST, NULL);
    g_assert_cmpint(g_mkdir_with_parents(marks, 0755), ==, 0);
    g_autoptr(ArchiveFiles) files = archive_files_read(bench.archive, LIST, &error);
    g_assert_no_error(error);
    for (size_t at = 0; at < G_N_ELEMENTS(states); at++) {
        int64_t arrival;
        g_autofree char *name = archive_files_name(files, at, &arrival), *path = g_build_filename(marks, name, NULL);
        g_assert_true(g_file_set_contents(path, states[at], -1, NULL));
    }
    assert_ok(try(world, &bench, LIST, &tally, &error), error);
    g_assert_cmpstr(bench.told->str, ==, "anne@example.org accepted held hidden\n");
    g_assert_true(tally.removed == 1 && tally.posts == 1 && tally.unreadable == 0);
}

static void test_ends(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Bench) bench = {
        .setting = "emergency",
        .value = "yes",
    };
    g_auto(TrialTally) tally = {0};
    bench_open(&bench);
    make_lists(world);
    for (int at = 0; at < 5; at++)
        archive(&bench, LIST, NOW - (9 - at) * CLOCK_SECOND, "anne@example.org", "Subject: one of five\n");
    bench.most = 2;
    assert_ok(try(world, &bench, LIST, &tally, &error), error);
    g_assert_cmpuint(tally.posts, ==, 2);
    bench.value = "perhaps";
    g_assert_false(try(world, &bench, LIST, &tally, &error));
    assert_failed(FAIL_NEVER, error);
    bench.value = NULL;
    g_assert_false(try(world, &bench, LIST, &tally, &error));
    g_assert_cmpstr(error->message, ==, "that cannot be");
    assert_failed(FAIL_NEVER, error);
    bench.value = "yes";
    g_assert_false(try(world, &bench, "none.example.com", &tally, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_cmpuint(tally.posts, ==, 0);
}

/* Half a copy of the list would foretell something else. */
static void test_store_fails(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Bench) bench = {.setting = "emergency", .value = "yes"};
    g_auto(TrialTally) tally = {0};
    bench_open(&bench);
    make_lists(world);
    archive(&bench, LIST, NOW - CLOCK_SECOND, "anne@example.org", "Subject: one\n");
    assert_ok(query_all(world->store, &error, NULL, "DROP TABLE header_match", NULL, 0), error);
    g_assert_false(try(world, &bench, LIST, &tally, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_true(tally.posts == 0 && *bench.told->str == '\0');
}

SUITE("trial")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/trial/replays the mail of the list since the day", test_which);
    WORLD_TEST("/trial/takes off what the list had put on", test_as_it_came);
    WORLD_TEST("/trial/replays what was refused", test_refused);
    WORLD_TEST("/trial/passes over posts that were removed", test_removed);
    WORLD_TEST("/trial/ends when it is told to, and fails with the change", test_ends);
    WORLD_TEST("/trial/fails with the store", test_store_fails);
    return g_test_run();
}
