/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* When an issue of a digest is made, by the clock and by hand, and what becomes of issues that a crash left. */
#include <string.h>

#include "base/clock.h"
#include "lists/keys.h"
#include "lists/posts/digest_send.h"
#include "store/people/member.h"
#include "switchboard/fault.h"
#include "t/mailbox.h"
#include "t/runners/listframe.h"

#define ANNE "anne@example.org"
#define HOST "lists.example.com"

int digest_main(int argc, char **argv);

static void set(ListFrame *frame, const char *list_id, const char *name, const char *value)
{
    g_assert_true(list_set(frame->store, list_id, name, value, &frame->error));
}

/* Each list has a reader of digests, and none is made for its size. The hour of sending is half a day away. */
static void set_up(ListFrame *frame, gconstpointer data)
{
    list_frame_open(frame, digest_main, "");
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *hour = g_strdup_printf("%d", (g_date_time_get_hour(now) + 12) % 24);
    Preferences digests = preferences_unset;
    digests.delivery_mode = MODE_MIME_DIGESTS;
    for (int at = 0; at < 2; at++) {
        const char *list_id = at == 0 ? LIST : OTHER;
        g_assert_true(member_add(frame->store, list_id, ROLE_MEMBER, mailbox_of(ANNE), NULL, &digests, NULL));
        set(frame, list_id, "digest_size_threshold", "0");
        set(frame, list_id, "digest_period", "daily");
        set(frame, list_id, "digest_hour", hour);
    }
}

static void tear_down(ListFrame *frame, gconstpointer data)
{
    list_frame_close(frame);
}

/* A post of that list comes at a time. */
static void collect(ListFrame *frame, const char *list_id, int64_t time)
{
    static const char text[] = "From: sue@example.org\r\nSubject: hello\r\n\r\nHi\r\n";
    g_autoptr(GBytes) post = g_bytes_new_static(text, sizeof text - 1);
    g_assert_true(digest_collect(frame->store, list_id, post, time, &frame->error));
}

static void assert_waiting(ListFrame *frame, const char *list_id, int64_t posts, int64_t next_number)
{
    g_auto(Digest) digest = {0};
    g_assert_true(digest_read(frame->store, list_id, &digest, &frame->error));
    g_assert_cmpint(digest.waiting, ==, posts);
    g_assert_cmpint(digest.next_number, ==, next_number);
}

static unsigned issues(ListFrame *frame)
{
    return fixture_count(&frame->fixture, "pipeline", ".msg");
}

/* The clock comes round to a list. How many posts it asks for. */
static int64_t ask_by_clock(ListFrame *frame, const char *list_id)
{
    int64_t posts = 0;
    WorkSite site;
    work_site_init(&site, runner_frame.config);
    const Actor timer = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER, .from = "task"};
    g_autoptr(List) list = list_by_id(frame->store, list_id, &frame->error);
    g_autoptr(Work) work = work_new(frame->store, &site, &timer);
    g_assert_true(work_begin(work, &frame->error) && digest_send_due(work, list, &posts, &frame->error) &&
                  work_commit(work, frame->fixture.spool, &frame->error));
    return posts;
}

static int64_t ask_by_hand(ListFrame *frame, const char *list_id)
{
    int64_t posts = 0;
    WorkSite site;
    work_site_init(&site, runner_frame.config);
    const Actor owner = {.role = ACTOR_OWNER, .door = DOOR_SHELL, .from = "test"};
    g_autoptr(List) list = list_by_id(frame->store, list_id, &frame->error);
    g_autoptr(Work) work = work_new(frame->store, &site, &owner);
    g_assert_true(work_begin(work, &frame->error) && digest_send_ask(work, list, &posts, &frame->error) &&
                  work_commit(work, frame->fixture.spool, &frame->error));
    return posts;
}

static char *due(ListFrame *frame)
{
    g_auto(GStrv) lists = digest_send_lists(frame->store, clock_now(), &frame->error);
    g_assert_no_error(frame->error);
    return g_strjoinv(" ", lists);
}

/* The last hour of sending. */
static int64_t last_time(ListFrame *frame, const char *list_id)
{
    g_autoptr(List) list = list_by_id(frame->store, list_id, &frame->error);
    return digest_send_last_time(list, clock_now());
}

static void assert_due(ListFrame *frame, const char *expected)
{
    g_autofree char *found = due(frame);
    g_assert_cmpstr(found, ==, expected);
}

/* A list whose first post came at the hour or later waits for the next one, at however many runs of the clock. */
static void test_by_clock(ListFrame *frame, gconstpointer data)
{
    const int64_t hour = last_time(frame, LIST);
    assert_due(frame, "");
    collect(frame, LIST, hour - 1);
    collect(frame, LIST, hour + 1);
    collect(frame, OTHER, hour);
    assert_due(frame, LIST);
    g_assert_cmpint(ask_by_clock(frame, OTHER), ==, 0);
    g_assert_cmpuint(fixture_count(&frame->fixture, "digest", ""), ==, 0);
    set(frame, LIST, "digest_send_periodic", "no");
    assert_due(frame, "");
    g_assert_cmpint(ask_by_clock(frame, LIST), ==, 0);
    g_assert_cmpuint(fixture_count(&frame->fixture, "digest", ""), ==, 0);
    set(frame, LIST, "digest_send_periodic", "yes");
    g_assert_cmpint(ask_by_clock(frame, LIST), ==, 2);
    list_frame_run(frame, list_frame_claim(frame, "digest"));
    g_assert_cmpuint(issues(frame), ==, 1);
    assert_waiting(frame, LIST, 0, 2);
    assert_waiting(frame, OTHER, 1, 1);
    assert_due(frame, "");
    g_assert_cmpint(ask_by_clock(frame, LIST), ==, 0);
    g_assert_cmpuint(fixture_count(&frame->fixture, "digest", ""), ==, 0);
}

/* The clock asked twice before the runner came to it, and a post came in between: it is not in an issue of its own. */
static void test_asked_twice(ListFrame *frame, gconstpointer data)
{
    const int64_t hour = last_time(frame, LIST);
    collect(frame, LIST, hour - 1);
    collect(frame, OTHER, hour - 1);
    g_assert_cmpint(ask_by_clock(frame, LIST), ==, 1);
    Entry *first = list_frame_claim(frame, "digest");
    g_assert_cmpint(ask_by_clock(frame, LIST), ==, 1);
    Entry *second = list_frame_claim(frame, "digest");
    list_frame_run(frame, first);
    g_assert_cmpuint(issues(frame), ==, 1);
    collect(frame, LIST, hour);
    list_frame_run(frame, second);
    g_assert_cmpuint(issues(frame), ==, 1);
    assert_waiting(frame, LIST, 1, 2);
    assert_waiting(frame, OTHER, 1, 1);
    g_assert_cmpint(ask_by_hand(frame, LIST), ==, 1);
    list_frame_run(frame, list_frame_claim(frame, "digest"));
    g_assert_cmpuint(issues(frame), ==, 2);
    assert_waiting(frame, LIST, 0, 3);
    g_assert_cmpint(ask_by_hand(frame, LIST), ==, 0);
    g_assert_cmpuint(fixture_count(&frame->fixture, "digest", ""), ==, 0);
}

/* How many issues have this text. */
static unsigned issues_with(ListFrame *frame, const char *text)
{
    unsigned count = 0;
    g_autofree char *names = fixture_files(&frame->fixture, "pipeline", ".msg");
    g_auto(GStrv) files = g_strsplit(names, ",", -1);
    for (char **file = files; *file; file++) {
        g_autofree char *path = fixture_file_path(&frame->fixture, "pipeline", *file), *octets = NULL;
        gsize length;
        if (**file && g_file_get_contents(path, &octets, &length, NULL))
            count += memmem(octets, length, text, strlen(text)) != NULL;
    }
    return count;
}

/* Each issue is in the language of its readers; for those who have chosen none the list keeps its own. */
static void test_languages(ListFrame *frame, gconstpointer data)
{
    Preferences german = preferences_unset, plain = preferences_unset;
    german.delivery_mode = MODE_MIME_DIGESTS;
    plain.delivery_mode = MODE_PLAINTEXT_DIGESTS;
    g_strlcpy(german.preferred_language, "de", sizeof german.preferred_language);
    g_assert_true(member_add(frame->store, LIST, ROLE_MEMBER, mailbox_of("bert@example.org"), NULL, &german, NULL));
    g_assert_true(member_add(frame->store, LIST, ROLE_MEMBER, mailbox_of("cora@example.org"), NULL, &plain, NULL));
    for (unsigned times = 1; times < 3; times++) {
        collect(frame, LIST, clock_now());
        g_assert_cmpint(ask_by_hand(frame, LIST), ==, 1);
        list_frame_run(frame, list_frame_claim(frame, "digest"));
        g_assert_cmpuint(issues(frame), ==, 3 * times);
        g_assert_cmpuint(issues_with(frame, "Themen in dieser Ausgabe"), ==, times);
        g_assert_cmpuint(issues_with(frame, "Today's Topics"), ==, 2 * times);
    }
}

/* The same entry comes again after its rows are written: it makes the same issue, and its posts are there once. */
static void test_killed_before_the_hop(ListFrame *frame, gconstpointer data)
{
    set(frame, LIST, "digest_post_threshold", "2");
    collect(frame, LIST, clock_now());
    Draft *post = fixture_draft("digest", LIST, "From: sue@example.org\r\nSubject: two\r\n\r\nHi\r\n");
    Outcome *outcome = list_frame_handle(frame, list_frame_entry(frame, post));
    g_assert_no_error(outcome->error);
    g_assert_cmpuint(outcome->drafts->len, ==, 1);
    outcome->error = g_error_new(G_FILE_ERROR, G_FILE_ERROR_NOSPC, "no space"); /* its message is not written */
    list_frame_commit(frame, outcome);
    g_assert_cmpuint(issues(frame), ==, 0);
    list_frame_restart(frame);
    assert_waiting(frame, LIST, 0, 2);
    list_frame_run(frame, list_frame_claim(frame, "digest"));
    g_assert_cmpuint(issues(frame), ==, 1);
    assert_waiting(frame, LIST, 0, 2);
    g_autoptr(GPtrArray) left = digest_issue_all(frame->store, HOST, &frame->error);
    g_assert_cmpuint(left->len, ==, 0); /* settled */
}

/* An entry that the store fails has changed nothing, and the next one can be worked on. */
static void test_store_fails(ListFrame *frame, gconstpointer data)
{
    static const char *const tables[] = {"digest", "digest_post", "digest_issue", "digest_last"};
    set(frame, LIST, "digest_post_threshold", "2");
    collect(frame, LIST, clock_now());
    Draft *post = fixture_draft("digest", LIST, "From: sue@example.org\r\nSubject: two\r\n\r\nHi\r\n");
    Entry *entry = list_frame_entry(frame, post);
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++) {
        entry = list_frame_fail_without(frame, entry, tables[at]);
        assert_waiting(frame, LIST, 1, 1);
    }
    list_frame_run(frame, entry);
    assert_waiting(frame, LIST, 0, 2);
    g_assert_cmpuint(issues(frame), ==, 1);
    Draft *other = fixture_draft("digest", OTHER, "From: sue@example.org\r\nSubject: three\r\n\r\nHi\r\n");
    list_frame_run(frame, list_frame_entry(frame, other));
    assert_waiting(frame, OTHER, 1, 1);
}

/* ---- at the start ---- */

/* A post belongs to the issue of the entry with that hash. */
static void open_issue(ListFrame *frame, const char *hash, const char *host, int64_t number)
{
    const DigestIssue issue = {.entry = (char *)hash,
                               .host = (char *)host,
                               .list_id = (char *)LIST,
                               .volume = 1,
                               .number = number,
                               .made_at = clock_now()};
    collect(frame, LIST, clock_now());
    g_assert_true(digest_issue_open(frame->store, &issue, &frame->error));
}

/* Stores an entry and tells the hash in its name. */
static void store_as(ListFrame *frame, Draft *draft, char hash[HASH_DIGITS + 1])
{
    name_hash_format(draft_name(draft)->hash, hash);
    fixture_put(&frame->fixture, draft);
}

static bool is_open(ListFrame *frame, const char *hash)
{
    DigestIssue *found = NULL;
    g_assert_true(digest_issue_find(frame->store, hash, &found, &frame->error));
    g_autoptr(DigestIssue) issue = found;
    return issue != NULL;
}

/* In shunt its name is another one. */
static void shunt(ListFrame *frame, const char *hash)
{
    g_autofree char *name = g_strdup_printf("1763644800.000042+%s", hash);
    Draft *draft = fixture_draft("shunt", LIST, "ask\r\n");
    json_object_set_new(draft_meta(draft), META_FAULT, json_pack("{ss ss}", "queue", "digest", "name", name));
    char other[HASH_DIGITS + 1];
    store_as(frame, draft, other);
    g_assert_cmpstr(other, !=, hash);
}

/* An entry that is kept will make its issue; that of one that is decided is done, and of a damaged one withdrawn. */
static void test_left_issues(ListFrame *frame, gconstpointer data)
{
    static const char shunted[] = "1111111111111111111111111111111111111111";
    static const char decided[] = "2222222222222222222222222222222222222222";
    static const char damaged[] = "3333333333333333333333333333333333333333";
    static const char foreign[] = "4444444444444444444444444444444444444444";
    static const char sliced[] = "f555555555555555555555555555555555555555";
    char ready[HASH_DIGITS + 1], held[HASH_DIGITS + 1];
    store_as(frame, fixture_draft("digest", LIST, "ask\r\n"), ready);
    store_as(frame, fixture_draft("hold", LIST, "ask, held\r\n"), held);
    shunt(frame, shunted);
    g_autofree char *folder = g_build_filename(frame->fixture.path, "corrupt", NULL);
    g_autofree char *file = g_strdup_printf("%s/1763644800.000042+%s.msg", folder, damaged);
    g_assert_nonnull(spool_queue(frame->fixture.spool, "corrupt", &frame->error));
    g_mkdir_with_parents(folder, 0700);
    g_assert_true(g_file_set_contents(file, "damaged", -1, NULL));
    const char *const own[] = {ready, held, shunted, decided, damaged, sliced};
    for (size_t at = 0; at < G_N_ELEMENTS(own); at++)
        open_issue(frame, own[at], HOST, (int64_t)at + 1);
    open_issue(frame, foreign, "elsewhere.example.com", 7);
    runner_frame.slice = (Slice){0, 2};
    list_frame_restart(frame);
    g_assert_true(is_open(frame, ready) && is_open(frame, held) && is_open(frame, shunted));
    g_assert_true(is_open(frame, foreign) && is_open(frame, sliced));
    g_assert_false(is_open(frame, decided) || is_open(frame, damaged));
    assert_waiting(frame, LIST, 1, 8); /* that of the damaged one */
    runner_frame.slice = (Slice){1, 2};
    list_frame_restart(frame);
    g_assert_true(is_open(frame, ready) && is_open(frame, held) && is_open(frame, shunted) && is_open(frame, foreign));
    g_assert_false(is_open(frame, sliced));
    assert_waiting(frame, LIST, 1, 8);
}

#define FRAME_TEST(path, function) g_test_add(path, ListFrame, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    FRAME_TEST("/digest/issues/the clock asks for posts of before its hour", test_by_clock);
    FRAME_TEST("/digest/issues/asked twice by the clock", test_asked_twice);
    FRAME_TEST("/digest/issues/in the languages of their readers", test_languages);
    FRAME_TEST("/digest/issues/killed before the hop is committed", test_killed_before_the_hop);
    FRAME_TEST("/digest/issues/the store fails", test_store_fails);
    FRAME_TEST("/digest/issues/left by a crash", test_left_issues);
    return g_test_run();
}
