/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Mails of a maildir and the index of its archive: read, caught up with, made again, hidden and removed. */
#include "lists/archive/archive_catch_up.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#include "lists/archive/archive_maildir.h"
#include "lists/archive/archive_mark.h"
#include "lists/archive/archived_post.h"
#include "mail/message.h"
#include "t/store/archive/archive_fixture.h"
#include "t/suite.h"

#define LIST "l.example.org"

static char *mail_text(int number)
{
    return g_strdup_printf("From: =?utf-8?q?J=C3=B6rg?= <joerg@example.org>\nSubject: frost %d\nMessage-ID: <m%d@x>\n"
                           "%s\nword%d in the text\n> quoted%d\n",
                           number, number, number > 0 ? "References: <m0@x>\n" : "", number, number);
}

/* Writes the mails from first to before last into the maildir of a list. */
static void write_mails(const Fixture *fixture, const char *list, int first, int last)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveWriter) writer = archive_writer_open(fixture->directory, list, &error);
    for (int i = first; i < last; i++) {
        g_autofree char *text = mail_text(i);
        g_autofree char *name = archive_writer_add(writer, BEGIN + i * CLOCK_SECOND, text, strlen(text), &error);
        g_assert_no_error(error);
    }
    assert_ok(archive_writer_flush(writer, &error), error);
}

static uint64_t catch_up(Fixture *fixture, const char *list, int64_t budget)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveCatchUp) work = archive_catch_up_new(fixture->directory, list, &error);
    bool more = true;
    while (more)
        assert_ok(archive_catch_up_some(work, fixture->index, budget, &more, &error), error);
    return archive_catch_up_figures(work).added;
}

static int64_t posts_of(Fixture *fixture, const char *list)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveList) found = archive_index_list(fixture->index, list, &error);
    g_assert_no_error(error);
    return found->posts;
}

static ArchiveMessage *message_of(Fixture *fixture, const char *id)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *hash = message_id_hash(id);
    g_autoptr(ArchiveList) list = archive_index_list(fixture->index, LIST, &error);
    ArchiveMessage *message = archive_index_message(fixture->index, list->number, hash, &error);
    g_assert_no_error(error);
    return message;
}

static guint found(Fixture *fixture, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveQuery) query = archive_query_new(text);
    g_autoptr(ArchiveList) list = archive_index_list(fixture->index, LIST, &error);
    const ArchiveSearch search = {.lists = &list->number, .list_count = 1, .limit = 100};
    g_auto(ArchiveFound) result = {0};
    assert_ok(archive_index_search(fixture->index, query, &search, &result, &error), error);
    return result.messages->len;
}

static void index_gets_what_it_lacks(Fixture *fixture, const void *unused)
{
    write_mails(fixture, LIST, 0, 20);
    write_mails(fixture, "m.example.org", 0, 3);
    g_assert_cmpint(catch_up(fixture, NULL, CLOCK_SECOND), ==, 23);
    g_assert_cmpint(catch_up(fixture, NULL, CLOCK_SECOND), ==, 0);
    write_mails(fixture, LIST, 20, 30);
    write_mails(fixture, LIST, 5, 8);                    /* they are there */
    g_assert_cmpint(catch_up(fixture, NULL, 1), ==, 10); /* in many portions */
    g_assert_cmpint(posts_of(fixture, LIST), ==, 30);
    g_assert_cmpint(posts_of(fixture, "m.example.org"), ==, 3);
    g_autoptr(ArchiveMessage) message = message_of(fixture, "m7@x");
    g_assert_cmpstr(message->name, ==, "J\u00f6rg");
    g_assert_cmpstr(message->subject, ==, "frost 7");
    g_assert_cmpint(message->arrival, ==, BEGIN + 7 * CLOCK_SECOND);
    g_assert_cmpint(found(fixture, "word7"), ==, 1);
    g_assert_cmpint(found(fixture, "quoted7"), ==, 0);
}

static void sql(const Fixture *fixture, const char *statement)
{
    sqlite3 *database = NULL;
    g_autofree char *path = archive_index_path(fixture->directory);
    g_assert_cmpint(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(database, statement, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
}

/* A list is looked through when its maildir has one file more than the index knows of. */
static void one_file_is_found(Fixture *fixture, const void *unused)
{
    write_mails(fixture, LIST, 0, 3);
    g_assert_cmpint(catch_up(fixture, NULL, CLOCK_SECOND), ==, 3);
    write_mails(fixture, LIST, 3, 4);
    g_assert_cmpint(catch_up(fixture, NULL, CLOCK_SECOND), ==, 1);
    g_assert_cmpint(posts_of(fixture, LIST), ==, 4);
}

/* Let a portion fail once the index has so many mails, and then do the rest. */
static void fail_and_go_on(const Fixture *fixture, ArchiveCatchUp *work, unsigned mails)
{
    g_autoptr(GError) error = NULL;
    bool more = true;
    g_autofree char *full = g_strdup_printf("CREATE TRIGGER full BEFORE INSERT ON message WHEN (SELECT count(*) FROM "
                                            "message) >= %u BEGIN SELECT RAISE(ABORT, 'full'); END", mails);
    sql(fixture, full);
    g_assert_false(archive_catch_up_some(work, fixture->index, CLOCK_SECOND * 60, &more, &error));
    g_clear_error(&error);
    sql(fixture, "DROP TRIGGER full");
    while (more)
        assert_ok(archive_catch_up_some(work, fixture->index, CLOCK_SECOND, &more, &error), error);
}

/* A portion that fails in the midst of a list is done again from where it began. */
static void portion_of_one_list_comes_again(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    write_mails(fixture, LIST, 0, 10);
    g_autoptr(ArchiveCatchUp) work = archive_catch_up_new(fixture->directory, NULL, &error);
    fail_and_go_on(fixture, work, 5);
    g_assert_cmpint(posts_of(fixture, LIST), ==, 10);
}

/* A portion that ends the first list and fails in the second is done again from where it began. */
static void portion_that_failed_comes_again(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    bool more = true;
    write_mails(fixture, LIST, 0, 20);
    write_mails(fixture, "m.example.org", 0, 3);
    g_autoptr(ArchiveCatchUp) work = archive_catch_up_new(fixture->directory, NULL, &error);
    while (archive_catch_up_figures(work).list_done < 5)
        assert_ok(archive_catch_up_some(work, fixture->index, 1, &more, &error), error);
    fail_and_go_on(fixture, work, 21);
    g_assert_cmpint(posts_of(fixture, LIST), ==, 20);
    g_assert_cmpint(posts_of(fixture, "m.example.org"), ==, 3);
    g_assert_cmpint(archive_catch_up_figures(work).added, ==, 23);
}

/* A reader moved it to cur and gave it flags: it is the same mail. */
static void file_that_was_read_is_the_same(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    write_mails(fixture, LIST, 0, 2);
    catch_up(fixture, LIST, CLOCK_SECOND);
    g_autoptr(ArchiveMessage) message = message_of(fixture, "m1@x");
    g_autofree char *from = g_build_filename(fixture->directory, LIST, "new", message->file, NULL);
    g_autofree char *flagged = g_strconcat(message->file, ":2,FRS", NULL);
    g_autofree char *to = g_build_filename(fixture->directory, LIST, "cur", flagged, NULL);
    g_assert_cmpint(g_rename(from, to), ==, 0);
    g_assert_cmpint(catch_up(fixture, LIST, CLOCK_SECOND), ==, 0);
    g_autoptr(GBytes) bytes = archive_maildir_load(fixture->directory, LIST, message->file, &error);
    g_assert_no_error(error);
    g_autofree char *text = mail_text(1);
    g_assert_cmpmem(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), text, strlen(text));
    g_assert_null(archive_maildir_load(fixture->directory, LIST, "../new/x", &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
}

static void reopen(Fixture *fixture)
{
    g_autoptr(GError) error = NULL;
    archive_index_free(fixture->index);
    fixture->index = archive_index_open(fixture->directory, false, &error);
    g_assert_no_error(error);
}

static void hidden_ones_stay_so_when_made_again(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    write_mails(fixture, LIST, 0, 5);
    catch_up(fixture, LIST, CLOCK_SECOND);
    g_autoptr(ArchiveMessage) one = message_of(fixture, "m1@x");
    g_autoptr(ArchiveMessage) two = message_of(fixture, "m2@x");
    g_autoptr(ArchiveMessage) three = message_of(fixture, "m3@x");
    assert_ok(archive_mark_set(fixture->index, fixture->directory, one, ARCHIVE_HIDDEN, "for now", &error), error);
    assert_ok(archive_mark_set(fixture->index, fixture->directory, two, ARCHIVE_REMOVED, "by a court", &error), error);
    assert_ok(archive_mark_set(fixture->index, fixture->directory, three, ARCHIVE_HIDDEN, "x", &error), error);
    assert_ok(archive_mark_set(fixture->index, fixture->directory, three, ARCHIVE_SHOWN, NULL, &error), error);
    for (int again = 0; again < 2; again++) {
        g_autoptr(ArchiveMessage) hidden = message_of(fixture, "m1@x");
        g_autoptr(ArchiveMessage) removed = message_of(fixture, "m2@x");
        g_assert_cmpint(hidden->state, ==, ARCHIVE_HIDDEN);
        g_assert_cmpstr(hidden->note, ==, "for now");
        g_assert_cmpint(removed->state, ==, ARCHIVE_REMOVED);
        g_assert_cmpstr(removed->note, ==, "by a court");
        g_assert_cmpstr(removed->subject, ==, "");
        g_assert_cmpint(removed->thread, ==, hidden->thread);
        g_assert_cmpint(found(fixture, "word1"), ==, 0);
        g_assert_cmpint(found(fixture, "word2"), ==, 0);
        g_assert_cmpint(found(fixture, "word3"), ==, 1);
        if (again == 0)
            assert_ok(archive_index_make_again(fixture->directory, NULL, NULL, &error), error);
        reopen(fixture);
    }
    g_autoptr(GBytes) husk = archive_maildir_load(fixture->directory, LIST, two->file, &error);
    g_autofree char *text = g_strndup(g_bytes_get_data(husk, NULL), g_bytes_get_size(husk));
    g_assert_cmpstr(text, ==,
                    "Message-ID: <m2@x>\nReferences: <m0@x>\nContent-Type: text/plain; charset=utf-8\n\n"
                    "by a court\n");
    g_autoptr(ArchiveMessage) gone = message_of(fixture, "m2@x");
    g_assert_false(archive_mark_set(fixture->index, fixture->directory, gone, ARCHIVE_SHOWN, NULL, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

/* Strangers' mails: a subject of a megabyte, 100,000 references, 10,000 parts. */
static void hostile_mails_are_read(Fixture *fixture, const void *unused)
{
    g_autoptr(GString) mail = g_string_new("From: x\nSubject: ");
    for (int i = 0; i < 1 << 17; i++)
        g_string_append(mail, "subject ");
    g_string_append(mail, "\nReferences:");
    for (int i = 0; i < 100000; i++)
        g_string_append_printf(mail, " <%d@x>", i);
    g_string_append(mail, "\nContent-Type: multipart/mixed; boundary=b\n\n");
    for (int i = 0; i < 10000; i++)
        g_string_append_printf(mail, "--b\nContent-Type: text/html\n\n<p>part%d\n", i);
    g_autoptr(ArchivedPost) post = archived_post_new(LIST, "5.x", 0, mail->str, mail->len);
    g_autoptr(GError) error = NULL;
    bool added;
    guint count = 0;
    while (post->post.references[count])
        count++;
    g_assert_cmpint(count, ==, ARCHIVE_REFERENCES_MAX);
    g_autofree char *first = message_id_hash("0@x"), *last = message_id_hash("99999@x");
    g_assert_cmpstr(post->post.references[0], ==, first);
    g_assert_cmpstr(post->post.references[count - 1], ==, last);
    g_assert_cmpint(post->post.arrival, ==, 5 * CLOCK_SECOND);
    assert_ok(archive_index_add(fixture->index, &post->post, &added, &error), error);
    g_autoptr(ArchivedPost) empty = archived_post_new(LIST, "x", 0, "", 0);
    assert_ok(archive_index_add(fixture->index, &empty->post, &added, &error), error);
    g_assert_cmpint(posts_of(fixture, LIST), ==, 2);
}

/* Add a mail to the index; return its Message-ID-Hash, g_free(). */
static char *add_mail(Fixture *fixture, int number, const char *id, const char *fields)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_strdup_printf("%d.x", number),
                    *mail = g_strdup_printf("From: a@x\nSubject: %d\nMessage-ID: <%s>\n%s\nx\n", number, id, fields);
    g_autoptr(ArchivedPost) post = archived_post_new(LIST, file, 0, mail, strlen(mail));
    bool added;
    assert_ok(archive_index_add(fixture->index, &post->post, &added, &error), error);
    return message_id_hash(id);
}

/* Assert under which message one stands; parent NULL: under none. */
static void assert_parent(const Fixture *fixture, const char *hash, const char *parent)
{
    g_autoptr(GError) error = NULL;
    int64_t list = list_of(fixture->index);
    g_autoptr(ArchiveMessage) message = archive_index_message(fixture->index, list, hash, &error),
                              above = parent ? archive_index_message(fixture->index, list, parent, &error) : NULL;
    g_assert_no_error(error);
    g_assert_cmpint(message->parent, ==, above ? above->id : 0);
}

/* In-Reply-To of old programs has words and addresses beside the id: the id that is there counts. */
static void in_reply_to_names_who_is_there(Fixture *fixture, const void *unused)
{
    static const struct {
        const char *fields;
        const char *parent; /* NULL: it begins a thread */
    } cases[] = {
        {"In-Reply-To: Message from Tom <tom9@x> of \"Mon, 2 Mar 1998\" <first@y>\n", "first@y"},
        {"In-Reply-To: <bob@x> <2.b@y>\n", "2.b@y"},
        {"In-Reply-To: <2.b@y> from \"Bob <bob7@x>\" at Mar 2, 98 10:00:00 am\n", "2.b@y"},
        {"In-Reply-To: 2.b@y\n", "2.b@y"},
        {"In-Reply-To: Your message of Monday (2.b@y).\n", "2.b@y"},
        {"In-Reply-To: <first@y>\nReferences: tom@x\n", "first@y"},
        {"In-Reply-To: <2.b@y>\nReferences: <first@y>\n", "first@y"},
        {"In-Reply-To: Message from Tom <tom@x> of Monday\n", NULL},
        {"In-Reply-To: tom5@x wrote\n", NULL},
    };
    g_autofree char *first = add_mail(fixture, 1, "first@y", ""), *second = add_mail(fixture, 2, "2.b@y", "");
    for (int i = 0; i < (int)G_N_ELEMENTS(cases); i++) {
        g_autofree char *id = g_strdup_printf("reply-%d@z", i);
        g_autofree char *hash = add_mail(fixture, 10 + i, id, cases[i].fields);
        g_autofree char *parent = cases[i].parent ? message_id_hash(cases[i].parent) : NULL;
        g_test_message("%s", cases[i].fields);
        assert_parent(fixture, hash, parent);
    }
}

/* Nobody has what it answers to yet: the one that looks like an id is its parent when it comes. */
static void in_reply_to_names_who_comes_later(Fixture *fixture, const void *unused)
{
    g_autofree char *reply = add_mail(fixture, 2, "reply@z", "In-Reply-To: <2.b@y> from <bob@x> of Monday\n"),
                    *other = add_mail(fixture, 3, "other@z", "In-Reply-To: <bob@x> <3.b@y>\n");
    assert_parent(fixture, reply, NULL);
    g_autofree char *first = add_mail(fixture, 4, "2.b@y", ""), *second = add_mail(fixture, 5, "3.b@y", "");
    assert_parent(fixture, reply, first);
    assert_parent(fixture, other, second);
}

static void write_in(const char *maildir, const char *folder, const char *name, const char *text)
{
    g_autofree char *directory = g_build_filename(maildir, folder, NULL);
    g_autofree char *path = g_build_filename(directory, name, NULL);
    g_mkdir_with_parents(directory, 0700);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

/* Its owner puts a link in the place of a folder after it was looked at: what was there is read, and nothing else. */
static void foreign_maildir(void)
{
    GError *error = NULL;
    g_autofree char *top = g_dir_make_tmp("listrunner-XXXXXX", NULL);
    g_autofree char *own = g_build_filename(top, "own", NULL), *secret = g_build_filename(top, "secret", NULL);
    g_autofree char *cur = g_build_filename(own, "cur", NULL), *aside = g_build_filename(own, "aside", NULL);
    g_autofree char *secret_cur = g_build_filename(secret, "cur", NULL);
    write_in(own, "cur", "1.a:2,S", "mine");
    write_in(own, "new", "2.b", "new one");
    write_in(secret, "cur", "1.a:2,S", "secret");
    g_autoptr(ArchiveFiles) files = archive_files_read_foreign(own, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(archive_files_count(files), ==, 2);
    g_assert_cmpint(rename(cur, aside), ==, 0);
    g_assert_cmpint(symlink(secret_cur, cur), ==, 0);
    g_autoptr(GString) all = g_string_new(NULL);
    for (size_t at = 0; at < 2; at++) {
        g_autoptr(GBytes) bytes = archive_files_load(files, at, &error);
        g_assert_no_error(error);
        g_string_append_len(all, g_bytes_get_data(bytes, NULL), (gssize)g_bytes_get_size(bytes));
    }
    g_assert_true(strstr(all->str, "mine") && strstr(all->str, "new one") && !strstr(all->str, "secret"));
    g_assert_null(archive_files_read_foreign(own, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_assert_nonnull(strstr(error->message, "its cur is a symbolic link"));
    g_clear_error(&error);
    const char *words[] = {"rm", "-rf", top, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
}

SUITE("archive_catch_up")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/archive_catch_up/index gets what it lacks", index_gets_what_it_lacks);
    TEST("/archive_catch_up/one file is found", one_file_is_found);
    TEST("/archive_catch_up/a portion that failed comes again", portion_that_failed_comes_again);
    TEST("/archive_catch_up/a portion of one list comes again", portion_of_one_list_comes_again);
    TEST("/archive_catch_up/a file that was read is the same", file_that_was_read_is_the_same);
    TEST("/archive_catch_up/hidden ones stay so when made again", hidden_ones_stay_so_when_made_again);
    TEST("/archive_catch_up/hostile mails are read", hostile_mails_are_read);
    TEST("/archive_catch_up/in-reply-to names who is there", in_reply_to_names_who_is_there);
    TEST("/archive_catch_up/in-reply-to names who comes later", in_reply_to_names_who_comes_later);
    g_test_add_func("/archive_catch_up/foreign maildir", foreign_maildir);
    return g_test_run();
}
