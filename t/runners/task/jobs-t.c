/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that a job of the timer does each list whole or not at all: with two lists, of which the store refuses a part of
 * one. And that a fault of one thing keeps a job from no other. */
#include "base/clock.h"
#include "lists/keys.h"
#include "store/lists/list.h"
#include "store/posts/held.h"
#include "t/runners/listframe.h"

int task_main(int argc, char **argv);

#define DAY (86400 * CLOCK_SECOND)

/* A post that was held so many days ago. */
static int64_t hold(ListFrame *frame, const char *list, int days)
{
    static const char text[] = "From: anne@example.org\r\nSubject: hello\r\n\r\nHi\r\n";
    g_autoptr(GBytes) message = g_bytes_new_static(text, sizeof text - 1);
    Held held = {.list_id = (char *)list,
                 .sender = (char *)"anne@example.org",
                 .subject = (char *)"hello",
                 .reason = (char *)"because",
                 .meta = (char *)"{}",
                 .held_at = clock_now() - days * DAY,
                 .message = message};
    g_assert_true(held_add(frame->store, &held, &frame->error));
    return held.number;
}

static bool is_held(ListFrame *frame, int64_t number)
{
    g_autoptr(Held) held = held_find(frame->store, number, NULL);
    return held != NULL;
}

static void run_job(ListFrame *frame, const char *job)
{
    Draft *draft = fixture_draft("task", LIST, "this job is to be done now\r\n");
    meta_set_string(draft_meta(draft), KEY_JOB, job);
    list_frame_run(frame, list_frame_entry(frame, draft));
}

static void test_whole_or_not(ListFrame *frame, const void *data)
{
    (void)data;
    static const char *const lists[] = {LIST, OTHER};
    int64_t old[2][2], fresh[2];
    for (size_t at = 0; at < G_N_ELEMENTS(lists); at++) {
        g_assert_true(list_set(frame->store, lists[at], "max_days_to_hold", "4", &frame->error));
        old[at][0] = hold(frame, lists[at], 6);
        old[at][1] = hold(frame, lists[at], 5);
        fresh[at] = hold(frame, lists[at], 1);
    }
    g_autofree char *refuse = g_strdup_printf("CREATE TRIGGER refuse BEFORE DELETE ON held WHEN OLD.number = %d "
                                              "BEGIN SELECT RAISE(ABORT, 'refused'); END",
                                              (int)old[0][1]);
    list_frame_sql(frame, refuse);
    run_job(frame, "held-expiry");
    g_assert_true(is_held(frame, old[0][0]) && is_held(frame, old[0][1]));
    g_assert_false(is_held(frame, old[1][0]) || is_held(frame, old[1][1]));
    list_frame_sql(frame, "DROP TRIGGER refuse");
    run_job(frame, "held-expiry");
    g_assert_false(is_held(frame, old[0][0]) || is_held(frame, old[0][1]));
    g_assert_true(is_held(frame, fresh[0]) && is_held(frame, fresh[1]));
}

/* The entry of a unit is in a row that no key of the spool opens. What an interrupted backup left goes all the same. */
static void test_unit_that_fails(ListFrame *frame, const void *data)
{
    (void)data;
    g_autofree char *aside = g_build_filename(frame->fixture.path, ".backup", NULL);
    g_autofree char *moment = g_build_filename(aside, "moment", NULL);
    g_autofree char *unit = g_strdup_printf("INSERT INTO outbox_unit (spool, tag, queues, made_at, given_up, asked) "
                                            "VALUES ('%s', '0123456789abcdef0123456789abcdef', '* virgin', 1, 0, 0)",
                                            spool_id(frame->fixture.spool, NULL));
    g_autofree char *row = g_strdup_printf("INSERT INTO outbox (spool, number, entry, sealed, made_at) "
                                           "VALUES ('%s', 999, '0123456789abcdef0123456789abcdef', x'00', 1)",
                                           spool_id(frame->fixture.spool, NULL));
    list_frame_sql(frame, unit);
    list_frame_sql(frame, row);
    g_assert_cmpint(g_mkdir_with_parents(moment, 0700), ==, 0);
    run_job(frame, "outbox");
    g_assert_cmpuint(list_frame_rows(frame, "outbox"), ==, 1);
    g_assert_cmpuint(list_frame_rows(frame, "outbox_unit"), ==, 1);
    g_assert_false(g_file_test(moment, G_FILE_TEST_EXISTS));
}

static void open_frame(ListFrame *frame, const void *data)
{
    (void)data;
    *frame = (ListFrame){0};
    list_frame_open(frame, task_main, "");
}

static void close_frame(ListFrame *frame, const void *data)
{
    (void)data;
    list_frame_close(frame);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/task/jobs/each list whole or not at all", ListFrame, NULL, open_frame, test_whole_or_not, close_frame);
    g_test_add("/task/jobs/a unit that fails keeps no other step", ListFrame, NULL, open_frame, test_unit_that_fails,
               close_frame);
    return g_test_run();
}
