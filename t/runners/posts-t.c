/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runners in, pipeline, virgin and bounces as processes: entries go in, their children are
 * looked at in the queues they were put into. */
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "lists/keys.h"
#include "mail/bounce/verp.h"
#include "mail/copy.h"
#include "mail/message.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/lists/list_log.h"
#include "store/lists/list_post.h"
#include "store/people/account.h"
#include "store/people/bounce.h"
#include "store/posts/held.h"
#include "store/secret.h"
#include "store/store.h"
#include "switchboard/entry.h"
#include "t/mailbox.h"
#include "t/switchboard/fixture.h"

#define PATIENCE_MS 60000
#define POST \
    "From: Anne <anne@example.org>\r\nTo: test@example.com\r\nMessage-ID: <1@example.org>\r\nSubject: hello\r\n"
#define BODY "\r\nbody \r\n\r\n.\r\nFrom here\r\n"

typedef struct Test {
    Fixture fixture;
    char *config, *database;
    Store *store;
} Test;

static void configure(Test *test, const char *more)
{
    const char *top = g_getenv("top_srcdir");
    g_autofree char *relative = g_build_filename(top ? top : ".", "etc", "templates", NULL);
    g_autofree char *templates = g_canonicalize_filename(relative, NULL);
    g_autofree char *text = g_strdup_printf(
        "[site]\nhostname = lists.example.com\nsite_owner = root@example.com\nheld_notice_interval = 0\n"
        "template_directory = %s\n[spool]\ndirectory = %s\n[store]\npath = %s\n%s\n",
        templates, test->fixture.path, test->database, more);
    g_assert_true(g_file_set_contents(test->config, text, -1, NULL));
}

static void set_up(Test *test, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    fixture_set_up(&test->fixture, NULL);
    test->config = g_strdup_printf("%s.conf", test->fixture.path);
    test->database = g_strdup_printf("%s.db", test->fixture.path);
    test->store = store_open("sqlite", test->database, true, &error);
    g_assert_no_error(error);
    g_assert_true(domain_create(test->store, "example.com", NULL, &error));
    g_autoptr(List) list = list_create(test->store, "test@example.com", &error);
    g_assert_no_error(error);
    g_assert_true(
        member_add(test->store, "test.example.com", ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, NULL));
    g_assert_true(
        member_add(test->store, "test.example.com", ROLE_OWNER, mailbox_of("olga@example.org"), NULL, NULL, NULL));
    configure(test, "");
}

static void tear_down(Test *test, gconstpointer data)
{
    store_free(test->store);
    g_free(test->config);
    g_free(test->database);
    fixture_tear_down(&test->fixture, NULL);
}

/* Settings of the list test and their values, up to NULL. */
static void set(Test *test, const char *name, ...)
{
    va_list more;
    va_start(more, name);
    for (; name; name = va_arg(more, const char *))
        g_assert_true(list_set(test->store, "test.example.com", name, va_arg(more, const char *), NULL));
    va_end(more);
}

static void put_draft(Test *test, Draft *draft, const char *sender, const char *to, const char *message)
{
    meta_set_string(draft_meta(draft), KEY_SENDER, sender);
    meta_set_string(draft_meta(draft), KEY_TO, to);
    meta_set_string(draft_meta(draft), KEY_RECIPIENT, "test@example.com");
    g_autoptr(Message) parsed = NULL;
    g_autoptr(GBytes) octets = g_bytes_new_static(message, strlen(message));
    parsed = message_new(octets);
    g_autofree char *id = message_id(parsed);
    meta_set_string(draft_meta(draft), KEY_MESSAGE_ID, id ? id : "made-up@example.com");
    fixture_put(&test->fixture, draft);
}

static void put_into(Test *test, const char *queue, const char *sender, const char *to, const char *message)
{
    put_draft(test, fixture_draft(queue, "test.example.com", message), sender, to, message);
}

static void put_to_list(Test *test, const char *list_id, const char *sender, const char *message)
{
    put_draft(test, fixture_draft("in", list_id, message), sender, TO_POSTING, message);
}

static void put(Test *test, const char *sender, const char *to, const char *message)
{
    put_into(test, "in", sender, to, message);
}

static pid_t start(Test *test, const char *name)
{
    const char *top = g_getenv("top_builddir");
    g_autofree char *program = g_build_filename(top ? top : ".", "runners", name, name, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing goes on after a test that failed */
        g_setenv(CHILD_ENV_CONFIG, test->config, TRUE);
        g_setenv(CHILD_ENV_RUNNER, name, TRUE);
        execl(program, program, NULL);
        _exit(127);
    }
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGTERM);
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
}

static void wait_for_empty(Test *test, const char *name)
{
    for (int waited = 0; fixture_count(&test->fixture, name, "") > 0; waited += 10) {
        g_assert_cmpint(waited, <, PATIENCE_MS);
        g_usleep(10000);
    }
}

/* Runs the runner until its queue is empty. */
static void run(Test *test, const char *name)
{
    pid_t pid = start(test, name);
    wait_for_empty(test, name);
    stop(pid);
}

static char *recipients(const Entry *entry)
{
    GString *all = g_string_new(NULL);
    Recipient recipient;
    for (size_t offset = 0; entry_next_recipient(entry, offset, &recipient); offset = recipient.next)
        g_string_append_printf(all, "%s%.*s", all->len ? "," : "", (int)recipient.length, recipient.address);
    return g_string_free(all, false);
}

static void assert_to(const Entry *entry, const char *wanted)
{
    g_autofree char *found = recipients(entry);
    g_assert_cmpstr(found, ==, wanted);
}

/* The first field of that name; g_free(). */
static char *field_of(Entry *entry, const char *name)
{
    g_autoptr(GBytes) octets = entry_message(entry);
    g_autoptr(Message) message = message_new(octets);
    return message_value(message, name);
}

static void assert_body(Entry *entry, const char *expected)
{
    g_autoptr(GBytes) octets = entry_message(entry);
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GBytes) body = message_body(message);
    g_assert_cmpmem(g_bytes_get_data(body, NULL), g_bytes_get_size(body), expected, strlen(expected));
}

static void test_accepted(Test *test, gconstpointer data)
{
    configure(test, "[archiver.box]\ntype = maildir\npath = /nowhere\npermalink = http://example.com/$list_id/$hash\n"
                    "[pipeline]\ncopy_to = count\n[runner.count]\ncommand = /bin/true");
    put(test, "anne@example.org", TO_POSTING, POST BODY);
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "pipeline", ""), ==, 0);
    g_autoptr(Entry) out = fixture_open(&test->fixture, "out"), archive = fixture_open(&test->fixture, "archive");
    g_autoptr(Entry) copy = fixture_open(&test->fixture, "count");
    assert_to(out, "anne@example.org");
    assert_body(out, BODY + 2);
    assert_body(archive, BODY + 2);
    assert_body(copy, BODY + 2);
    g_assert_cmpstr(meta_string(entry_meta(out), KEY_ENVELOPE_SENDER, ""), ==, "test-bounces@example.com");
    g_assert_cmpint(meta_integer(entry_meta(out), KEY_POST_ID, 0), ==, 1);
    g_assert_cmpuint(json_array_size(json_object_get(entry_meta(archive), KEY_ARCHIVERS)), ==, 1);
    g_autofree char *subject = field_of(out, "Subject"), *id = field_of(out, "List-Id");
    g_autofree char *archived = field_of(out, "Archived-At");
    g_assert_cmpstr(subject, ==, "[Test] hello");
    g_assert_cmpstr(id, ==, "<test.example.com>");
    g_assert_nonnull(archived);
}

static void test_held(Test *test, gconstpointer data)
{
    put(test, "eve@example.net", TO_POSTING, "From: eve@example.net\r\nSubject: =?utf-8?q?=C3=B6l?=\r\n" BODY);
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ""), ==, 0);
    g_autoptr(Held) held = held_find(test->store, 1, NULL);
    g_assert_nonnull(held);
    g_assert_cmpstr(held->sender, ==, "eve@example.net");
    g_assert_cmpstr(held->subject, ==, "\xc3\xb6l");
    g_assert_cmpuint(fixture_count(&test->fixture, "virgin", ".msg"), ==, 2);
    run(test, "virgin");
    g_assert_cmpuint(fixture_count(&test->fixture, NOTICE_QUEUE, ".msg"), ==, 2);
    g_autofree char *files = fixture_files(&test->fixture, NOTICE_QUEUE, ".msg");
    g_auto(GStrv) names = g_strsplit(files, ",", -1);
    Queue *queue = spool_queue(test->fixture.spool, NOTICE_QUEUE, NULL);
    g_autofree char *all = NULL;
    for (unsigned at = 0; at < 2; at++) {
        g_autoptr(Entry) entry = entry_open(queue, names[at], NULL);
        g_autofree char *to = recipients(entry), *before = g_steal_pointer(&all);
        all = g_strconcat(before ? before : "", to, " ", NULL);
        g_assert_cmpstr(meta_string(entry_meta(entry), KEY_PRIORITY, ""), ==, "notice");
    }
    g_assert_nonnull(strstr(all, "eve@example.net"));
    g_assert_nonnull(strstr(all, "olga@example.org"));
}

/* A post of a megabyte, and one with a subject of 100 KB: the moderators' mail stays small and says what is missing. */
static void test_held_long(Test *test, gconstpointer data)
{
    size_t long_subject = GPOINTER_TO_SIZE(data);
    g_autofree char *subject = g_strnfill(long_subject, 's'), *line = g_strnfill(98, 'x');
    g_autoptr(GString) post = g_string_new(NULL);
    g_string_append_printf(post, "From: eve@example.net\r\nSubject: %s\r\n\r\nThe start\r\n", subject);
    while (post->len < 1000000)
        g_string_append_printf(post, "%s\r\n", line);
    set(test, "respond_to_post_requests", "no", NULL);
    put(test, "eve@example.net", TO_POSTING, post->str);
    run(test, "in");
    g_autoptr(Entry) notice = fixture_open(&test->fixture, "virgin");
    g_assert_cmpuint(entry_message_length(notice), <, 65536);
    g_autofree char *text = fixture_text(notice);
    g_autofree char *size = g_strdup_printf("Size:    %zu bytes", post->len);
    g_assert_nonnull(strstr(text, size));
    g_assert_nonnull(strstr(text, "Only the start of the message is attached."));
    g_assert_nonnull(strstr(text, "Number:  1\r\n"));
    g_assert_nonnull(strstr(text, "message/rfc822"));
    g_assert_true((strstr(text, "The start\r\n") != NULL) == (long_subject < 1000));
}

static void test_no_answer_to_robots(Test *test, gconstpointer data)
{
    put(test, "", TO_POSTING, "From: eve@example.net\r\n" BODY);
    put(test, "eve@example.net", TO_POSTING, "From: eve@example.net\r\nAuto-Submitted: auto-generated\r\n" BODY);
    run(test, "in");
    g_autoptr(Held) held = held_find(test->store, 2, NULL);
    g_assert_nonnull(held);
    g_assert_cmpuint(fixture_count(&test->fixture, "virgin", ".msg"), ==, 2); /* the moderators' only */
}

static void test_rejected_and_discarded(Test *test, gconstpointer data)
{
    set(test, "reject_these_nonmembers", "^eve@", NULL);
    put(test, "eve@example.net", TO_POSTING, "From: eve@example.net\r\nSubject: x\r\n" BODY);
    put(test, "anne@example.org", TO_POSTING, POST "List-Post: <mailto:test@example.com>\r\n" BODY);
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ""), ==, 0);
    g_autoptr(Entry) notice = fixture_open(&test->fixture, "virgin");
    assert_to(notice, "eve@example.net");
    g_assert_cmpstr(meta_string(entry_meta(notice), KEY_ENVELOPE_SENDER, "?"), ==, "");
}

/* A member's program answers a post: nobody gets it, and no moderator either. Mail about a commit is a post, and what
 * is for the owners reaches them. */
static void test_autoreply(Test *test, gconstpointer data)
{
    put(test, "anne@example.org", TO_POSTING, "Auto-Submitted: auto-replied\r\n" POST BODY);
    put(test, "eve@example.net", TO_POSTING, "From: eve@example.net\r\nAuto-Submitted: auto-replied\r\n" BODY);
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&test->fixture, "virgin", ""), ==, 0);
    put(test, "anne@example.org", TO_POSTING, "Auto-Submitted: auto-generated\r\n" POST BODY);
    put(test, "eve@example.net", TO_OWNER, "From: eve@example.net\r\nAuto-Submitted: auto-replied\r\n" BODY);
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ".msg"), ==, 2);
}

static void test_duplicate(Test *test, gconstpointer data)
{
    put(test, "anne@example.org", TO_POSTING, POST BODY);
    put(test, "anne@example.org", TO_POSTING, POST BODY);
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ".msg"), ==, 1);
}

/* A whole copy of the queue's entries: what a crash before the hop leaves behind. */
static char *save(Test *test, const char *queue, char **octets, size_t *length)
{
    g_autofree char *name = fixture_files(&test->fixture, queue, ".msg");
    g_assert_null(strchr(name, ','));
    char *path = g_build_filename(test->fixture.path, queue, name, NULL);
    g_assert_true(g_file_get_contents(path, octets, length, NULL));
    return path;
}

static void empty(Test *test, const char *queue)
{
    g_autofree char *files = fixture_files(&test->fixture, queue, ".msg");
    g_auto(GStrv) names = g_strsplit(files, ",", -1);
    for (char **name = names; *name; name++) {
        g_autofree char *path = g_build_filename(test->fixture.path, queue, *name, NULL);
        g_assert_cmpint(unlink(path), ==, 0);
    }
}

/* The database has the effects, the spool has not: the same entry again. */
static void test_number_at_repeat(Test *test, gconstpointer data)
{
    const char *queue = data;
    g_autofree char *octets = NULL;
    size_t length;
    int64_t number;
    set(test, "subject_prefix", "[T %d]", NULL);
    put_into(test, queue, "anne@example.org", TO_POSTING, POST BODY);
    g_autofree char *path = save(test, queue, &octets, &length);
    run(test, queue);
    empty(test, "out");
    for (int others = 0; others < 3; others++)
        g_assert_true(list_count_post(test->store, "test.example.com", 1, &number, NULL));
    /* The list would hold it now, or answer and keep none: what was accepted stays so. */
    set(test, "emergency", "yes", "autorespond_postings", "respond_and_discard", NULL);
    g_assert_true(g_file_set_contents(path, octets, (gssize)length, NULL));
    run(test, queue);
    g_autoptr(Entry) out = fixture_open(&test->fixture, "out");
    g_assert_cmpint(meta_integer(entry_meta(out), KEY_POST_ID, 0), ==, 1);
    g_autofree char *subject = field_of(out, "Subject");
    g_assert_cmpstr(subject, ==, "[T 1] hello");
    g_autoptr(List) list = list_by_id(test->store, "test.example.com", NULL);
    g_assert_cmpint(list->post_id, ==, 5);
}

/* Two instances work on posts whose Message-IDs come twice, often at the same time: each is accepted once, and each
 * number is handed out once. */
static void test_duplicates_at_once(Test *test, gconstpointer data)
{
    enum { POSTS = 40 };
    for (unsigned at = 0; at < 2 * POSTS; at++) {
        g_autofree char *text = g_strdup_printf("From: anne@example.org\r\nTo: test@example.com\r\nSubject: x\r\n"
                                                "Message-ID: <%u@x>\r\nX-Copy: %u\r\n" BODY, at / 2, at % 2);
        put(test, "anne@example.org", TO_POSTING, text);
    }
    g_setenv(CHILD_ENV_INSTANCES, "2", TRUE);
    g_setenv(CHILD_ENV_INSTANCE, "0", TRUE);
    pid_t first = start(test, "in");
    g_setenv(CHILD_ENV_INSTANCE, "1", TRUE);
    pid_t second = start(test, "in");
    g_unsetenv(CHILD_ENV_INSTANCES);
    g_unsetenv(CHILD_ENV_INSTANCE);
    wait_for_empty(test, "in");
    stop(first);
    stop(second);
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ".msg"), ==, POSTS);
    g_autoptr(List) list = list_by_id(test->store, "test.example.com", NULL);
    g_assert_cmpint(list->post_id, ==, POSTS + 1);
}

static void test_held_at_repeat(Test *test, gconstpointer data)
{
    g_autofree char *octets = NULL;
    size_t length;
    put(test, "eve@example.net", TO_POSTING, "From: eve@example.net\r\nSubject: x\r\n" BODY);
    g_autofree char *path = save(test, "in", &octets, &length);
    run(test, "in");
    empty(test, "virgin");
    /* The list would let it pass now: it is held all the same, once, and the notices are made again. */
    set(test, "default_nonmember_action", "accept", NULL);
    g_assert_true(g_file_set_contents(path, octets, (gssize)length, NULL));
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&test->fixture, "virgin", ".msg"), ==, 2);
    g_autoptr(Held) first = held_find(test->store, 1, NULL), second = held_find(test->store, 2, NULL);
    g_assert_nonnull(first);
    g_assert_null(second);
    /* Somebody decided before it came again: nothing is left to tell. */
    empty(test, "virgin");
    g_assert_true(held_remove(test->store, 1, NULL));
    g_assert_true(g_file_set_contents(path, octets, (gssize)length, NULL));
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&test->fixture, "virgin", ""), ==, 0);
}

/* The same mail under another name, as it comes back from shunt: no duplicate of itself. */
static void test_same_trace(Test *test, gconstpointer data)
{
    for (unsigned at = 1; at <= 2; at++) {
        Draft *draft = fixture_draft("in", "test.example.com", POST BODY);
        meta_set_string(draft_meta(draft), KEY_SENDER, "anne@example.org");
        meta_set_string(draft_meta(draft), META_TRACE, "0123456789ab");
        fixture_put(&test->fixture, draft);
        run(test, "in");
        g_assert_cmpuint(fixture_count(&test->fixture, "out", ".msg"), ==, at);
    }
}

/* Check that an address that is forged gets no more than a day's share of notices. */
static void test_answers_limited(Test *test, gconstpointer data)
{
    configure(test, "[site]\nmax_autoresponses_per_day = 2");
    set(test, "admin_immed_notify", "no", "reject_these_nonmembers", "^.*@example.com", NULL);
    for (unsigned at = 0; at < 5; at++)
        put(test, "eve@example.net", TO_POSTING, at % 2 ? "From: eve@example.com\r\n" BODY
                                                        : "From: eve@example.net\r\n" BODY);
    put(test, "bart@example.net", TO_POSTING, "From: bart@example.net\r\n" BODY);
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "virgin", ".msg"), ==, 4); /* eve is told of the limit, too */
}

static void put_from_host(Test *test, const char *host, const char *from, unsigned at)
{
    g_autofree char *text = g_strdup_printf(
        "Received: from x (x [%s]) by mx.example.com; Thu, 1 Jan 2026 00:00:00 +0000\r\nFrom: %s\r\n"
        "To: test@example.com\r\nMessage-ID: <%u.%s>\r\n\r\nhello\r\n", host, from, at, from);
    put(test, from, TO_POSTING, text);
}

/* One host causes so many letters, unless it has a private address: everybody's mail may come through it. */
static void test_hosts_limited(Test *test, gconstpointer data)
{
    configure(test, "[site]\nmax_letters_per_host_per_day = 2");
    set(test, "admin_immed_notify", "no", NULL);
    for (unsigned at = 0; at < 4; at++) {
        g_autofree char *eve = g_strdup_printf("eve%u@example.net", at);
        g_autofree char *bart = g_strdup_printf("bart%u@example.net", at);
        put_from_host(test, "192.0.2.1", eve, at);
        put_from_host(test, at % 2 ? "10.0.0.5" : "IPv6:fd00::5", bart, at);
    }
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "virgin", ".msg"), ==, 2 + 4);
}

static void put_large(Test *test, const char *list_id, const char *from, size_t size)
{
    static int made;
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "From: %s\r\nTo: test@example.com\r\nMessage-ID: <large%d@example.org>\r\n\r\n", from,
                           made++);
    while (text->len < size)
        g_string_append(text, "0123456789012345678901234567890123456789\r\n");
    put_to_list(test, list_id, from, text->str);
}

static int64_t room_of(Test *test, const char *list_id, bool strangers)
{
    HeldRoom room;
    g_assert_true(held_room(test->store, list_id, &room, NULL));
    return (strangers ? room.strangers : room.all) >> 10;
}

/* How many entries of virgin say this. */
static unsigned letters_with(Test *test, const char *text)
{
    g_autofree char *names = fixture_files(&test->fixture, "virgin", ".msg");
    g_auto(GStrv) each = g_strsplit(names, ",", -1);
    Queue *queue = spool_queue(test->fixture.spool, "virgin", NULL);
    unsigned found = 0;
    for (char **name = each; *name; name++) {
        g_autoptr(Entry) entry = entry_open(queue, *name, NULL);
        g_assert_nonnull(entry);
        g_autofree char *copy = fixture_text(entry);
        g_auto(GStrv) words = g_strsplit_set(copy, " \r\n", -1);
        g_autoptr(GString) plain = g_string_new(NULL); /* as if its lines were not broken */
        for (char **word = words; *word; word++)
            g_string_append_printf(plain, **word ? "%s " : "%s", *word);
        found += strstr(plain->str, text) != NULL;
    }
    return found;
}

/* Held posts have so much room: strangers get half of it, each list has its own, and who finds none is told. */
static void test_held_room(Test *test, gconstpointer data)
{
    g_autoptr(List) other = list_create(test->store, "other@example.com", NULL);
    set(test, "max_held_size", "1", "refuse_message_size", "700", "admin_immed_notify", "no",
        "respond_to_post_requests", "no", NULL);
    g_assert_true(list_set(test->store, "other.example.com", "admin_immed_notify", "no", NULL));
    g_assert_true(list_set(test->store, "other.example.com", "respond_to_post_requests", "no", NULL));
    put_large(test, "test.example.com", "eve@example.net", 300 << 10);
    run(test, "in");
    g_assert_cmpint(room_of(test, "test.example.com", true), ==, 301);
    put_large(test, "test.example.com", "fred@example.net", 300 << 10);
    put_large(test, "other.example.com", "fred@example.net", 300 << 10);
    put_large(test, "test.example.com", "anne@example.org", 600 << 10);
    put_large(test, "test.example.com", "anne@example.org", 750 << 10);
    run(test, "in");
    g_assert_cmpint(room_of(test, "test.example.com", true), ==, 301);
    g_assert_cmpint(room_of(test, "test.example.com", false), ==, 902);
    g_assert_cmpint(room_of(test, "other.example.com", true), ==, 301);
    g_assert_cmpint(room_of(test, NULL, false), ==, 1203);
    g_assert_cmpuint(fixture_count(&test->fixture, "virgin", ".msg"), ==, 2); /* fred, and anne of the larger post */
    g_assert_cmpuint(letters_with(test, "the list allows 700 KiB"), ==, 1);
    put_large(test, "test.example.com", "anne@example.org", 200 << 10);
    run(test, "in");
    g_assert_cmpint(room_of(test, "test.example.com", false), ==, 902);
    g_assert_cmpuint(fixture_count(&test->fixture, "virgin", ".msg"), ==, 3);
    g_assert_cmpuint(letters_with(test, "There is no room"), ==, 2);
}

/* The time at which it was to be sent is over: the letter that was lost is written again, and the log has one row. */
static void test_over_at_repeat(Test *test, gconstpointer data)
{
    g_autofree char *octets = NULL;
    size_t length;
    put(test, "anne@example.org", TO_POSTING, "X-Listrunner-Send-At: 1999-01-01 00:00 Z\r\n" POST BODY);
    g_autofree char *path = save(test, "in", &octets, &length);
    for (unsigned at = 0; at < 2; at++) {
        g_assert_true(g_file_set_contents(path, octets, (gssize)length, NULL));
        run(test, "in");
        g_assert_cmpuint(fixture_count(&test->fixture, "out", ".msg"), ==, 1);
        g_assert_cmpuint(letters_with(test, "was over when the message came"), ==, 1);
        empty(test, "out");
        empty(test, "virgin");
    }
    g_autoptr(GPtrArray) rows = list_log_page(test->store, "test.example.com", LOG_SCHEDULED, 0, 10, NULL);
    g_assert_cmpuint(rows->len, ==, 1);
}

/* A post that is held, and finds no room, only when another one of its batch has been counted may come again. */
static void test_room_after_burst(Test *test, gconstpointer data)
{
    g_autoptr(GString) text = g_string_new("From: anne@example.org\r\nTo: test@example.com\r\n"
                                           "Message-ID: <again@example.org>\r\n\r\n");
    while (text->len < 1100 << 10)
        g_string_append(text, "0123456789012345678901234567890123456789\r\n");
    set(test, "max_message_size", "0", "max_held_size", "1", "burst_factor", "1", "burst_least", "1", NULL);
    put(test, "anne@example.org", TO_POSTING, POST BODY);
    put_to_list(test, "test.example.com", "anne@example.org", text->str);
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ".msg"), ==, 1);
    g_assert_cmpuint(letters_with(test, "Post again later"), ==, 1);
    set(test, "max_held_size", "2", NULL);
    put_to_list(test, "test.example.com", "anne@example.org", text->str);
    run(test, "in");
    g_assert_cmpint(room_of(test, "test.example.com", false), >=, 1100);
}

static void put_password(Test *test, const char *host, const char *password)
{
    static int made;
    g_autofree char *text = g_strdup_printf(
        "Received: from x (x [%s]) by mx.example.com; Thu, 1 Jan 2026 00:00:00 +0000\r\nFrom: eve@example.net\r\n"
        "To: test@example.com\r\nMessage-ID: <guess%d@example.net>\r\nApproved: %s\r\n\r\nhello\r\n",
        host, made++, password);
    put(test, "eve@example.net", TO_POSTING, text);
}

/* After ten wrong passwords within an hour from one network, none from there is looked at: those from elsewhere are. */
static void test_passwords_guessed(Test *test, gconstpointer data)
{
    int64_t wrong;
    set(test, "moderator_password", "sesame", "admin_immed_notify", "no", "respond_to_post_requests", "no", NULL);
    for (unsigned at = 0; at < 9; at++) {
        g_autofree char *host = g_strdup_printf("IPv6:2001:db8::%u", at);
        put_password(test, host, "simsalabim");
    }
    put_password(test, "IPv6:2001:db8::99", "sesame");
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ".msg"), ==, 1);
    for (unsigned at = 0; at < 20; at++)
        put_password(test, "2001:db8::1", "simsalabim");
    put_password(test, "2001:db8::1", "sesame");
    put_password(test, "2001:db8:0:1::1", "sesame");
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ".msg"), ==, 2);
    g_assert_true(account_count(test->store, ACCOUNT_PASSWORDS, "test.example.com 20010db800000000/64", clock_now(),
                                &wrong, NULL));
    g_assert_cmpint(wrong, ==, 10);
}

/* Where everybody's mail comes through a private address, some wrong ones do not keep the right one from counting. One
 * that no rule looked at is not wrong. */
static void test_passwords_without_host(Test *test, gconstpointer data)
{
    int64_t wrong;
    set(test, "moderator_password", "sesame", "admin_immed_notify", "no", "respond_to_post_requests", "no", NULL);
    for (unsigned at = 0; at < 11; at++)
        put_password(test, "10.0.0.5", "simsalabim");
    put_password(test, "10.0.0.5", "sesame");
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ".msg"), ==, 1);
    set(test, "posting_chain", "hold", NULL);
    put_password(test, "192.0.2.1", "simsalabim");
    put_password(test, "192.0.2.1", "sesame");
    run(test, "in");
    g_assert_true(account_count(test->store, ACCOUNT_PASSWORDS, "test.example.com 192.0.2.1", clock_now(), &wrong,
                                NULL));
    g_assert_cmpint(wrong, ==, 0);
}

/* The timer forgets records that are not needed any longer. */
static void test_forgotten(Test *test, gconstpointer data)
{
    bool known = true;
    GError *error = NULL;
    g_assert_true(list_record_message_id(test->store, "test.example.com",
                                         &(SeenMail){"old@x", "first", "spool", 1, NULL}, &known, &error));
    pid_t pid = start(test, "task");
    for (int waited = 0; known || waited == 0; waited += 10) {
        g_assert_cmpint(waited, <, PATIENCE_MS);
        g_usleep(10000);
        g_assert_true(list_record_message_id(test->store, "test.example.com",
                                             &(SeenMail){"old@x", "second", "spool", 1, NULL}, &known, &error));
    }
    stop(pid);
}

/* Nothing that an archive writes down tells who wrote to an anonymous list. */
static void test_anonymous(Test *test, gconstpointer data)
{
    configure(test, "[archiver.box]\ntype = mbox\npath = /nowhere");
    set(test, "anonymous_list", "yes", NULL);
    put(test, "anne@example.org", TO_POSTING, POST BODY);
    run(test, "in");
    g_autoptr(Entry) out = fixture_open(&test->fixture, "out"), archive = fixture_open(&test->fixture, "archive");
    g_autoptr(GBytes) octets = entry_message(archive);
    g_autoptr(Message) message = message_new(octets);
    g_autofree char *id = message_id(message), *meta = meta_print(entry_meta(archive)),
                    *sent = meta_print(entry_meta(out));
    g_assert_cmpstr(meta_string(entry_meta(archive), KEY_MESSAGE_ID, ""), ==, id);
    g_assert_null(strstr(meta, "anne@"));
    g_assert_null(strstr(sent, "anne@"));
}

/* A line that is no field ends the header: what stands below is text, and leaves as it came. On an anonymous list it
 * could tell who wrote, so a person decides. */
static void test_broken_header(Test *test, gconstpointer data)
{
    static const char stray[] = "no field\r\nFrom: eve@example.net\r\nMessage-ID: <2@example.net>\r\n" BODY;
    g_autofree char *text = g_strconcat(POST, stray, NULL);
    put(test, "anne@example.org", TO_POSTING, text);
    run(test, "in");
    g_autoptr(Entry) out = fixture_open(&test->fixture, "out");
    assert_body(out, stray);
    g_autofree char *from = field_of(out, "From"), *id = field_of(out, "List-Id");
    g_assert_cmpstr(from, ==, "Anne <anne@example.org>");
    g_assert_nonnull(id);
    g_assert_null(held_find(test->store, 1, NULL));
    set(test, "anonymous_list", "yes", NULL);
    g_autofree char *again = g_strconcat("To: test@example.com\r\nSubject: hello\r\n", stray, NULL);
    put(test, "anne@example.org", TO_POSTING, again);
    run(test, "in");
    g_autoptr(Held) held = held_find(test->store, 1, NULL);
    g_assert_nonnull(held);
    g_assert_nonnull(strstr(held->reason, "header"));
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ""), ==, 1);
}

static void test_owner(Test *test, gconstpointer data)
{
    put(test, "eve@example.net", TO_OWNER, "From: eve@example.net\r\n" BODY);
    run(test, "in");
    g_autoptr(Entry) out = fixture_open(&test->fixture, "out");
    assert_to(out, "olga@example.org");
    assert_body(out, BODY + 2);
}

static void test_list_gone(Test *test, gconstpointer data)
{
    put(test, "anne@example.org", TO_POSTING, POST BODY);
    g_assert_true(list_remove(test->store, "test.example.com", NULL));
    run(test, "in");
    g_assert_cmpuint(fixture_count(&test->fixture, "shunt", ".msg"), ==, 1);
}

/* So many members beside Anne, in so many domains. */
static void add_members(Test *test, unsigned count, unsigned domains)
{
    g_assert_true(store_begin(test->store, NULL));
    for (unsigned at = 0; at < count; at++) {
        g_autofree char *address = g_strdup_printf("m%03u@D%02u.example.net", at, at % domains);
        g_assert_true(member_add(test->store, "test.example.com", ROLE_MEMBER, mailbox_of(address), NULL, NULL, NULL));
    }
    g_assert_true(store_commit(test->store, NULL));
}

static void test_blocks(Test *test, gconstpointer data)
{
    configure(test, "[runner.out]\ninstances = 4\n[transport.relay]\nrecipients_per_transaction = 10");
    add_members(test, 50, 1);
    put(test, "anne@example.org", TO_POSTING, POST BODY);
    run(test, "in");
    g_autofree char *files = fixture_files(&test->fixture, "out", ".msg");
    g_auto(GStrv) names = g_strsplit(files, ",", -1);
    g_assert_cmpuint(g_strv_length(names), ==, 4);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    unsigned slices = 0;
    for (unsigned at = 0; at < 4; at++) {
        g_autoptr(Entry) entry = entry_open(spool_queue(test->fixture.spool, "out", NULL), names[at], NULL);
        slices |= 1u << slice_of(entry_name(entry)->hash, 4);
        Recipient recipient;
        for (size_t offset = 0; entry_next_recipient(entry, offset, &recipient); offset = recipient.next)
            g_assert_true(g_hash_table_add(seen, g_strndup(recipient.address, recipient.length)));
    }
    g_assert_cmpuint(slices, ==, 15);
    g_assert_cmpuint(g_hash_table_size(seen), ==, 51);
}

/* Each recipient's line has a sender and a token that we can read again, and nobody else could have made. */
static void test_copies(Test *test, gconstpointer data)
{
    configure(test, "[archiver.box]\ntype = mbox\npath = /nowhere\n[pipeline]\n"
                    "unsubscribe_url = https://l.example.com/u/$token");
    g_assert_true(member_add(test->store, "test.example.com", ROLE_MEMBER, mailbox_of("bart@example.org"), "B\303\251",
                             NULL, NULL));
    set(test, "personalize", "individual", "msg_footer", "for $user_name_or_address\n", NULL);
    put(test, "anne@example.org", TO_POSTING, POST BODY);
    run(test, "in");
    g_autoptr(Entry) out = fixture_open(&test->fixture, "out"), archive = fixture_open(&test->fixture, "archive");
    assert_body(archive, BODY + 2);
    const char *holes = meta_string(entry_meta(out), KEY_COPIES, NULL);
    g_autoptr(CopyPlan) plan = copy_plan_new(holes, entry_message_length(out), NULL);
    g_assert_nonnull(plan);
    g_autoptr(GPtrArray) secrets = secret_all(test->store, NULL);
    g_autoptr(VerpKeys) keys = verp_keys_new(secrets);
    Recipient recipient;
    unsigned count = 0;
    for (size_t offset = 0; entry_next_recipient(out, offset, &recipient); offset = recipient.next, count++) {
        CopyRecipient who = copy_recipient_read(recipient.address, recipient.length);
        const char *address = count == 0 ? "anne@example.org" : "bart@example.org";
        g_assert_cmpmem(who.address, who.address_length, address, strlen(address));
        const char *name = count == 0 ? "" : "B\303\251";
        g_assert_cmpmem(who.name, who.name_length, name, strlen(name));
        g_autofree char *sender = g_strndup(who.sender, who.sender_length);
        g_autofree char *token = g_strndup(who.token, who.token_length);
        g_assert_true(g_str_has_prefix(sender, "test-bounces+") && g_str_has_suffix(sender, "@example.com"));
        *strchr(sender, '@') = '\0';
        const VerpList list = {"test.example.com", "test-bounces", "example.com", '+'};
        g_auto(VerpRead) from = {0}, link = {0};
        const char *detail = strchr(sender, '+') + 1;
        g_assert_cmpint(verp_parse(keys, VERP_COPY, &list, detail, clock_now(), &from), ==, VERP_VALID);
        g_assert_cmpstr(from.recipient, ==, address);
        g_assert_cmpint(verp_token_parse(keys, VERP_UNSUBSCRIBE, list.list_id, token, clock_now(), &link), ==,
                        VERP_VALID);
        g_assert_cmpstr(link.recipient, ==, address);
    }
    g_assert_cmpuint(count, ==, 2);
}

/* The relay is left to make the senders where it offers to and they are all that differs. */
static void test_xverp(Test *test, gconstpointer data)
{
    configure(test, "[pipeline]\nverp_delivery_interval = 1\n[transport.relay]\nxverp = yes");
    put(test, "anne@example.org", TO_POSTING, POST BODY);
    run(test, "in");
    g_autoptr(Entry) out = fixture_open(&test->fixture, "out");
    assert_to(out, "anne@example.org");
    g_assert_cmpstr(meta_string(entry_meta(out), KEY_XVERP, ""), ==, "+=");
    g_assert_null(meta_string(entry_meta(out), KEY_COPIES, NULL));
}

/* Mail that goes straight to its domain: each domain in one instance, in the slice that its own hash names. */
static void test_domains(Test *test, gconstpointer data)
{
    configure(test, "[runner.out]\ninstances = 4\n[transport.relay]\ntype = mx\n[out]\nrecipients_per_entry = 30");
    add_members(test, 200, 40);
    put(test, "anne@example.org", TO_POSTING, POST BODY);
    run(test, "in");
    g_autofree char *files = fixture_files(&test->fixture, "out", ".msg");
    g_auto(GStrv) names = g_strsplit(files, ",", -1);
    g_assert_cmpuint(g_strv_length(names), ==, 8); /* 201 in four parts, each of more than 30 */
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (char **name = names; *name; name++) {
        g_autoptr(Entry) entry = entry_open(spool_queue(test->fixture.spool, "out", NULL), *name, NULL);
        Recipient recipient;
        for (size_t offset = 0; entry_next_recipient(entry, offset, &recipient); offset = recipient.next) {
            g_autofree char *address = g_strndup(recipient.address, recipient.length);
            g_autofree char *domain = g_ascii_strdown(strchr(address, '@') + 1, -1);
            g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
            g_checksum_update(sum, (const guchar *)domain, -1);
            uint8_t digest[HASH_SIZE];
            gsize length = sizeof digest;
            g_checksum_get_digest(sum, digest, &length);
            g_assert_cmpuint(slice_of(digest, 4), ==, slice_of(entry_name(entry)->hash, 4));
            g_assert_true(g_hash_table_add(seen, g_steal_pointer(&address)));
        }
    }
    g_assert_cmpuint(g_hash_table_size(seen), ==, 201);
}

static void put_failure(Test *test, const char *address)
{
    Draft *draft = fixture_draft("bounces", "test.example.com", POST BODY);
    json_t *meta = draft_meta(draft);
    meta_set_string(meta, KEY_TO, TO_BOUNCES);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, "test-bounces@example.com");
    json_object_set_new(meta, KEY_FAILURES, json_pack("[{ss ss ss}]", "address", address, "status", "5.1.1", "reply",
                                                      "550 5.1.1 unknown user"));
    fixture_put(&test->fixture, draft);
}

/* A letter that asks whether an address still works is mail of our own, and goes by its queue. */
static void test_probe(Test *test, gconstpointer data)
{
    GError *error = NULL;
    g_assert_true(list_set(test->store, "test.example.com", "bounce_score_threshold", "1", &error));
    put_failure(test, "anne@example.org");
    run(test, "bounces");
    g_assert_cmpuint(fixture_count(&test->fixture, "out", ""), ==, 0);
    g_autoptr(Entry) probe = fixture_open(&test->fixture, NOTICE_QUEUE);
    assert_to(probe, "anne@example.org");
    g_autofree char *text = fixture_text(probe);
    g_assert_null(strstr(text, "Precedence:")); /* "bulk" would not come back */
}

static bool count_day(const BounceDay *day, void *data)
{
    (void)day;
    ++*(unsigned *)data;
    return true;
}

static unsigned bounced_days(Test *test, const char *address)
{
    unsigned days = 0;
    g_assert_true(bounce_day_each(test->store, &(BounceFilter){.address = address}, count_day, &days, NULL));
    return days;
}

/* Check that a bounce's changes to its member are undone when it cannot be ended; those of others of its batch stay. */
static void test_bounce_undone(Test *test, gconstpointer data)
{
    static const char trigger[] = "CREATE TRIGGER bad BEFORE INSERT ON effect WHEN NEW.entry LIKE '%anne@example.org' "
                                  "BEGIN SELECT RAISE(ABORT, 'bad'); END";
    sqlite3 *database;
    g_assert_cmpint(sqlite3_open(test->database, &database), ==, SQLITE_OK);
    sqlite3_busy_timeout(database, PATIENCE_MS); /* the runner writes, too */
    g_assert_cmpint(sqlite3_exec(database, trigger, NULL, NULL, NULL), ==, SQLITE_OK);
    put_failure(test, "anne@example.org");
    put_failure(test, "olga@example.org");
    g_assert_true(
        member_add(test->store, "test.example.com", ROLE_MEMBER, mailbox_of("olga@example.org"), NULL, NULL, NULL));
    pid_t pid = start(test, "bounces");
    for (int waited = 0; bounced_days(test, "olga@example.org") == 0; waited += 10) {
        g_assert_cmpint(waited, <, PATIENCE_MS);
        g_usleep(10000);
    }
    g_assert_cmpuint(bounced_days(test, "anne@example.org"), ==, 0);
    g_assert_cmpint(sqlite3_exec(database, "DROP TRIGGER bad", NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
    wait_for_empty(test, "bounces");
    stop(pid);
    g_assert_cmpuint(bounced_days(test, "anne@example.org"), ==, 1);
}

#define POSTS_TEST(path, function) g_test_add(path, Test, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    POSTS_TEST("/posts/accepted", test_accepted);
    POSTS_TEST("/posts/held", test_held);
    g_test_add("/posts/held/long", Test, GSIZE_TO_POINTER(10), set_up, test_held_long, tear_down);
    g_test_add("/posts/held/long subject", Test, GSIZE_TO_POINTER(100000), set_up, test_held_long, tear_down);
    POSTS_TEST("/posts/no answer to robots", test_no_answer_to_robots);
    POSTS_TEST("/posts/rejected and discarded", test_rejected_and_discarded);
    POSTS_TEST("/posts/autoreply", test_autoreply);
    POSTS_TEST("/posts/duplicate", test_duplicate);
    POSTS_TEST("/posts/duplicates at once", test_duplicates_at_once);
    g_test_add("/posts/number at repeat/in", Test, "in", set_up, test_number_at_repeat, tear_down);
    g_test_add("/posts/number at repeat/pipeline", Test, "pipeline", set_up, test_number_at_repeat, tear_down);
    POSTS_TEST("/posts/held at repeat", test_held_at_repeat);
    POSTS_TEST("/posts/over at repeat", test_over_at_repeat);
    POSTS_TEST("/posts/same trace", test_same_trace);
    POSTS_TEST("/posts/answers limited", test_answers_limited);
    POSTS_TEST("/posts/room for held posts", test_held_room);
    POSTS_TEST("/posts/room after a burst", test_room_after_burst);
    POSTS_TEST("/posts/passwords not known from where", test_passwords_without_host);
    POSTS_TEST("/posts/hosts limited", test_hosts_limited);
    POSTS_TEST("/posts/passwords guessed", test_passwords_guessed);
    POSTS_TEST("/posts/forgotten", test_forgotten);
    POSTS_TEST("/posts/anonymous", test_anonymous);
    POSTS_TEST("/posts/broken header", test_broken_header);
    POSTS_TEST("/posts/owner", test_owner);
    POSTS_TEST("/posts/list gone", test_list_gone);
    POSTS_TEST("/posts/blocks", test_blocks);
    POSTS_TEST("/posts/copies", test_copies);
    POSTS_TEST("/posts/xverp", test_xverp);
    POSTS_TEST("/posts/domains", test_domains);
    POSTS_TEST("/posts/probe", test_probe);
    POSTS_TEST("/posts/bounce undone", test_bounce_undone);
    return g_test_run();
}
