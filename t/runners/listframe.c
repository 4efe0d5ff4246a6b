/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/listframe.h"

#include <sqlite3.h>
#include <string.h>

#include "base/clock.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/people/member.h"
#include "t/mailbox.h"

static void make_lists(ListFrame *frame)
{
    static const char *const names[] = {"test@example.com", "other@example.com"};
    static const char *const owners[] = {"olga@example.net", "paul@example.net"};
    frame->store = store_open("sqlite", frame->database, true, &frame->error);
    g_assert_no_error(frame->error);
    g_assert_true(domain_create(frame->store, "example.com", NULL, NULL));
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        g_autoptr(List) list = list_create(frame->store, names[at], &frame->error);
        g_assert_no_error(frame->error);
        g_assert_true(member_add(frame->store, list->list_id, ROLE_OWNER, mailbox_of(owners[at]), NULL, NULL, NULL));
    }
}

void list_frame_open(ListFrame *frame, int (*main_of)(int, char **), const char *more)
{
    const char *top = g_getenv("top_srcdir");
    fixture_set_up(&frame->fixture, NULL);
    frame->database = g_build_filename(frame->fixture.path, "db", NULL);
    make_lists(frame);
    g_autofree char *path = g_build_filename(frame->fixture.path, "conf", NULL);
    g_autofree char *relative = g_build_filename(top ? top : ".", "etc", "templates", NULL);
    g_autofree char *templates = g_canonicalize_filename(relative, NULL);
    g_autofree char *text = g_strdup_printf("[site]\nhostname = lists.example.com\nsite_owner = root@example.com\n"
                                            "template_directory = %s\n[spool]\ndirectory = %s\n[store]\npath = %s\n%s",
                                            templates, frame->fixture.path, frame->database, more);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    main_of(0, NULL);
    runner_frame = (Runner){
        .spec = runner_frame.spec, .config = config_load(path, true, &frame->error), .spool = frame->fixture.spool};
    g_assert_no_error(frame->error);
    frame->hop = hop_new(frame->fixture.spool);
    frame->inboxes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)inbox_free);
    g_assert_true(runner_frame.spec->start(&runner_frame, &frame->error));
}

void list_frame_restart(ListFrame *frame)
{
    runner_frame.spec->stop(&runner_frame);
    g_assert_true(runner_frame.spec->start(&runner_frame, &frame->error));
}

void list_frame_close(ListFrame *frame)
{
    runner_frame.spec->stop(&runner_frame);
    config_free((Config *)runner_frame.config);
    hop_free(frame->hop);
    g_hash_table_unref(frame->inboxes);
    store_free(frame->store);
    g_free(frame->database);
    fixture_tear_down(&frame->fixture, NULL);
}

static Inbox *inbox_of(ListFrame *frame, const char *queue)
{
    Inbox *inbox = g_hash_table_lookup(frame->inboxes, queue);
    if (!inbox) {
        inbox = fixture_inbox(&frame->fixture, queue);
        g_hash_table_insert(frame->inboxes, g_strdup(queue), inbox);
    }
    return inbox;
}

Entry *list_frame_claim(ListFrame *frame, const char *queue)
{
    return fixture_claim_one(inbox_of(frame, queue));
}

Entry *list_frame_entry(ListFrame *frame, Draft *draft)
{
    g_autofree char *queue = g_strdup(draft_queue(draft));
    fixture_put(&frame->fixture, draft);
    return list_frame_claim(frame, queue);
}

Outcome *list_frame_handle(ListFrame *frame, Entry *entry)
{
    const RunnerSpec *spec = runner_frame.spec;
    Outcome *outcome = outcome_new(entry);
    (void)frame;
    bool sound = (!spec->begin_batch || spec->begin_batch(&runner_frame, &outcome->error)) &&
                 spec->handle(&runner_frame, entry, outcome, &outcome->error);
    if (spec->end_batch && !spec->end_batch(&runner_frame, sound ? &outcome->error : NULL))
        sound = false;
    sound = sound && (!spec->finish || spec->finish(&runner_frame, entry, outcome, &outcome->error));
    g_assert_cmpint(sound, ==, outcome->error == NULL);
    if (!sound)
        g_ptr_array_set_size(outcome->drafts, 0);
    return outcome;
}

void list_frame_commit(ListFrame *frame, Outcome *outcome)
{
    const RunnerSpec *spec = runner_frame.spec;
    if (!outcome->error)
        g_assert_true(hop_commit(frame->hop, &outcome, 1, &frame->error));
    if (spec->committed)
        spec->committed(&runner_frame);
    g_assert_true(hop_settle_all(frame->hop, &frame->error));
    if (outcome->error) {
        Inbox *inbox = inbox_of(frame, queue_name(entry_queue(outcome->parent)));
        g_assert_true(inbox_release(inbox, g_steal_pointer(&outcome->parent), 0, &frame->error));
    }
    outcome_free(outcome);
}

void list_frame_run(ListFrame *frame, Entry *entry)
{
    Outcome *outcome = list_frame_handle(frame, entry);
    g_assert_no_error(outcome->error);
    list_frame_commit(frame, outcome);
}

Entry *list_frame_fail_without(ListFrame *frame, Entry *entry, const char *table)
{
    g_autofree char *away = g_strdup_printf("ALTER TABLE %s RENAME TO away", table);
    g_autofree char *back = g_strdup_printf("ALTER TABLE away RENAME TO %s", table);
    const char *queue = queue_name(entry_queue(entry));
    list_frame_sql(frame, away);
    g_test_message("without the table %s", table);
    Outcome *outcome = list_frame_handle(frame, entry);
    g_assert_nonnull(outcome->error);
    list_frame_sql(frame, back);
    list_frame_commit(frame, outcome);
    return list_frame_claim(frame, queue);
}

void list_frame_set_noon(void)
{
    g_autofree char *offset = g_strdup_printf("%d", (int)(43200 - g_get_real_time() / CLOCK_SECOND % 86400));
    g_setenv("LISTRUNNER_CLOCK_OFFSET", offset, TRUE);
}

void list_frame_sql(const ListFrame *frame, const char *text)
{
    sqlite3 *database;
    g_assert_cmpint(sqlite3_open(frame->database, &database), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(database, text, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
}

static int read_count(void *data, int columns, char **values, char **names)
{
    (void)columns;
    (void)names;
    *(unsigned *)data = (unsigned)g_ascii_strtoull(values[0], NULL, 10);
    return 0;
}

unsigned list_frame_rows(const ListFrame *frame, const char *table)
{
    sqlite3 *database;
    unsigned count = 0;
    g_autofree char *text = g_strdup_printf("SELECT count(*) FROM %s", table);
    g_assert_cmpint(sqlite3_open(frame->database, &database), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(database, text, read_count, &count, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
    return count;
}
