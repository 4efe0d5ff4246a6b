/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that the index has what the maildirs of two lists have: after batches that succeed, batches that fail and come
 * again, and batches for which the index could not be written. */
#include "runners/archive/index_writer.h"

#include <fcntl.h>
#include <sqlite3.h>

#include "lists/archive/archive_maildir.h"
#include "t/store/archive/archive_fixture.h"

#define CATS "cats.example.org"
#define DOGS "dogs.example.org"

/* The clock that says when the writer tries again. */
static int64_t ahead;
int64_t __real_clock_monotonic(void);
int64_t __wrap_clock_monotonic(void);
int64_t __wrap_clock_monotonic(void)
{
    return __real_clock_monotonic() + ahead;
}

/* Put a mail into the maildir of a list. Where there is a writer, it takes the mail, too. */
static void archive(const Fixture *fixture, IndexWriter *writer, const char *list, int number)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveWriter) maildir = archive_writer_open(fixture->directory, list, &error);
    g_autofree char *text = g_strdup_printf("From: anne@example.org\nSubject: frost\nMessage-ID: <%s-%d@x>\n\nword\n",
                                            list, number);
    int64_t arrival = BEGIN + number * CLOCK_SECOND;
    g_autofree char *file = archive_writer_add(maildir, arrival, text, strlen(text), &error);
    g_assert_no_error(error);
    assert_ok(archive_writer_flush(maildir, &error), error);
    if (writer)
        index_writer_add(writer, &(IndexedMail){list, file, arrival, text, strlen(text)});
}

static int64_t posts_of(const Fixture *fixture, const char *list)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveList) found = archive_index_list(fixture->index, list, &error);
    g_assert_true(found || error);
    return found ? found->posts : 0;
}

/* As often as the runner has nothing else to do. */
static void idle(IndexWriter *writer)
{
    for (int times = 0; times < 100 && index_writer_idle(writer) < 10 * CLOCK_SECOND; times++)
        ahead += CLOCK_SECOND;
}

static void change_index(const Fixture *fixture, const char *sql)
{
    sqlite3 *database;
    g_autofree char *path = g_build_filename(fixture->directory, ".index", "index.db", NULL);
    g_assert_cmpint(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(database, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
}

/* The caller syncs the log with the hop, so that a power cut takes no post out of the index. */
static void test_log(Fixture *fixture, const void *unused)
{
    (void)unused;
    g_autoptr(GError) error = NULL;
    IndexWriter *writer = index_writer_new(fixture->directory, false);
    g_assert_cmpint(index_writer_commit(writer), ==, -1);
    archive(fixture, writer, CATS, 1);
    archive(fixture, writer, DOGS, 1);
    int log = index_writer_commit(writer);
    g_assert_cmpint(fcntl(log, F_GETFD), !=, -1);
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", log), *file = g_file_read_link(link, &error);
    g_assert_no_error(error);
    g_autofree char *real = realpath(fixture->directory, NULL);
    g_assert_true(g_str_has_prefix(file, real) && strstr(file, "/index."));
    g_assert_cmpint(index_writer_commit(writer), ==, -1); /* nothing more */
    g_assert_true(posts_of(fixture, CATS) == 1 && posts_of(fixture, DOGS) == 1);
    index_writer_free(writer);
}

/* The posts of a batch that failed are not in their maildirs, so the next batch brings none of them into the index. */
static void test_abandoned(Fixture *fixture, const void *unused)
{
    (void)unused;
    IndexWriter *writer = index_writer_new(fixture->directory, false);
    archive(fixture, writer, CATS, 1);
    archive(fixture, writer, DOGS, 1);
    index_writer_abandon(writer);
    archive(fixture, writer, CATS, 2);
    index_writer_commit(writer);
    g_assert_true(posts_of(fixture, CATS) == 1 && posts_of(fixture, DOGS) == 0);
    index_writer_free(writer);
}

/* One process looks through the archive at its start. */
static void test_looks(Fixture *fixture, const void *unused)
{
    (void)unused;
    archive(fixture, NULL, CATS, 1);
    archive(fixture, NULL, CATS, 2);
    archive(fixture, NULL, DOGS, 1);
    IndexWriter *other = index_writer_new(fixture->directory, false), *one = index_writer_new(fixture->directory, true);
    idle(other);
    g_assert_true(posts_of(fixture, CATS) == 0 && posts_of(fixture, DOGS) == 0);
    idle(one);
    g_assert_true(posts_of(fixture, CATS) == 2 && posts_of(fixture, DOGS) == 1);
    index_writer_free(one);
    index_writer_free(other);
}

/* Posts that could not be written into the index are told of, and added when it can be written again. */
static void test_caught_up(Fixture *fixture, const void *unused)
{
    (void)unused;
    IndexWriter *writer = index_writer_new(fixture->directory, false);
    archive(fixture, writer, CATS, 1);
    index_writer_commit(writer);
    change_index(fixture, "CREATE TRIGGER refuse BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'refused'); END");
    archive(fixture, writer, CATS, 2);
    g_assert_cmpint(index_writer_commit(writer), ==, -1);
    g_assert_nonnull(index_writer_trouble(writer));
    archive(fixture, writer, DOGS, 1); /* it is not tried again at once */
    g_assert_cmpint(index_writer_commit(writer), ==, -1);
    change_index(fixture, "DROP TRIGGER refuse");
    g_assert_cmpint(posts_of(fixture, CATS), ==, 1);
    ahead += 10 * CLOCK_SECOND;
    idle(writer);
    g_assert_null(index_writer_trouble(writer));
    g_assert_true(posts_of(fixture, CATS) == 2 && posts_of(fixture, DOGS) == 1);
    index_writer_free(writer);
}

/* The same when the fault was that of the last post before the runner has nothing to do. */
static void test_caught_up_alone(Fixture *fixture, const void *unused)
{
    (void)unused;
    IndexWriter *writer = index_writer_new(fixture->directory, false);
    change_index(fixture, "CREATE TRIGGER refuse BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'refused'); END");
    archive(fixture, writer, CATS, 1);
    g_assert_cmpint(index_writer_commit(writer), ==, -1);
    change_index(fixture, "DROP TRIGGER refuse");
    ahead += 10 * CLOCK_SECOND;
    idle(writer);
    g_assert_null(index_writer_trouble(writer));
    g_assert_cmpint(posts_of(fixture, CATS), ==, 1);
    index_writer_free(writer);
}

#define TEST(path, function) g_test_add(path, Fixture, NULL, fixture_open, function, fixture_close)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    TEST("/index_writer/the log is synced by the caller", test_log);
    TEST("/index_writer/a batch that comes again", test_abandoned);
    TEST("/index_writer/one looks at its start", test_looks);
    TEST("/index_writer/caught up with later", test_caught_up);
    TEST("/index_writer/caught up with one fault", test_caught_up_alone);
    return g_test_run();
}
