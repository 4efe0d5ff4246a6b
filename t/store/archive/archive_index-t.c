/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The index of an archive: pages, threads in whatever order messages come, hiding, damage. */
#include <sqlite3.h>

#include "store/archive/archive_index_internal.h"
#include "t/store/archive/archive_fixture.h"
#include "t/suite.h"

static int compare_text(gconstpointer one, gconstpointer other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* A tree as "a(b(c)d)". */
static char *tree_text(ArchiveIndex *index, int64_t thread)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) tree = archive_index_thread_tree(index, thread, &error);
    g_assert_no_error(error);
    GString *text = g_string_new(NULL);
    int depth = 0;
    for (guint i = 0; i < tree->len; i++) {
        const ArchiveMessage *message = tree->pdata[i];
        for (; depth < message->depth; depth++)
            g_string_append_c(text, '(');
        for (; depth > message->depth; depth--)
            g_string_append_c(text, ')');
        g_string_append_printf(text, "%s%s", text->len > 0 && g_ascii_isalnum(text->str[text->len - 1]) ? " " : "",
                               message->hash);
    }
    for (; depth > 0; depth--)
        g_string_append_c(text, ')');
    return g_string_free(text, FALSE);
}

/* All threads of the list, sorted: "a(b) | c". Also looks whether each says the right number, dates and top. */
static char *threads_text(ArchiveIndex *index)
{
    g_autoptr(GError) error = NULL;
    const ArchivePage page = {.limit = ARCHIVE_PAGE_MAX};
    g_autoptr(GPtrArray) threads = archive_index_threads(index, list_of(index), &page, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < threads->len; i++) {
        const ArchiveThread *thread = threads->pdata[i];
        const ArchivePage oldest = {.limit = ARCHIVE_PAGE_MAX, .oldest_first = true};
        g_autoptr(GPtrArray) messages = archive_index_thread_messages(index, thread->id, &oldest, &error);
        g_assert_no_error(error);
        g_assert_cmpint(messages->len, ==, thread->posts);
        g_assert_cmpint(((ArchiveMessage *)messages->pdata[0])->date, ==, thread->first);
        g_assert_cmpint(((ArchiveMessage *)messages->pdata[messages->len - 1])->date, ==, thread->last);
        g_ptr_array_add(texts, tree_text(index, thread->id));
    }
    g_ptr_array_sort(texts, compare_text);
    g_ptr_array_add(texts, NULL);
    return g_strjoinv(" | ", (char **)texts->pdata);
}

#define assert_threads(index, text)                    \
    do {                                               \
        g_autofree char *found_ = threads_text(index); \
        g_assert_cmpstr(found_, ==, text);             \
    } while (0)

/* Adds the mails in many orders, each to a new index, and looks whether the threads are always these. */
static void in_any_order(const Mail *mails, guint count, const char *wanted)
{
    for (guint round = 0; round < (g_test_thorough() ? 200 : 12); round++) {
        Fixture fixture;
        g_autoptr(GRand) dice = g_rand_new_with_seed(round);
        g_autofree guint *order = g_new(guint, count);
        for (guint i = 0; i < count; i++)
            order[i] = round == 1 ? count - 1 - i : i;
        for (guint i = count; round > 1 && i > 1; i--) {
            guint other = (guint)g_rand_int_range(dice, 0, (gint32)i), kept = order[i - 1];
            order[i - 1] = order[other];
            order[other] = kept;
        }
        fixture_open(&fixture, NULL);
        archive_index_begin(fixture.index, NULL);
        for (guint i = 0; i < count; i++)
            g_assert_true(add(fixture.index, &mails[order[i]]));
        archive_index_commit(fixture.index, NULL);
        assert_threads(fixture.index, wanted);
        fixture_close(&fixture, NULL);
    }
}
#define IN_ANY_ORDER(wanted, ...) \
    in_any_order((const Mail[]){__VA_ARGS__}, G_N_ELEMENTS(((const Mail[]){__VA_ARGS__})), wanted)

static void threads_do_not_depend_on_order(void)
{
    IN_ANY_ORDER("a(b(c)d) | e", {"a", "", .minute = 1}, {"b", "a", .minute = 2}, {"c", "a b", .minute = 3},
                 {"d", "a", .minute = 4}, {"e", "", "other", .minute = 5});
    /* The link between two threads comes last, or never: x is not here. */
    IN_ANY_ORDER("a(b(c(d)e))", {"a", .minute = 1}, {"b", "a", .minute = 2}, {"c", "b", .minute = 3},
                 {"d", "c", .minute = 4}, {"e", "b", .minute = 5});
    IN_ANY_ORDER("b c(d)", {"b", "x", .minute = 2}, {"c", "x", .minute = 3}, {"d", "x c", .minute = 4});
    /* Others say of y what it is below; it says otherwise when it comes. */
    IN_ANY_ORDER("a | b(y(c d))", {"a", .minute = 1}, {"b", "", "other", .minute = 2}, {"c", "a y", .minute = 3},
                 {"d", "a y", .minute = 4}, {"y", "b", .minute = 5});
    /* They disagree about a ghost: the least hash is believed. */
    IN_ANY_ORDER("a(c d) | b", {"a", .minute = 1}, {"b", "", "other", .minute = 2}, {"c", "a g", .minute = 3},
                 {"d", "b g", .minute = 4});
}

static void circles_are_cut_at_the_least(void)
{
    IN_ANY_ORDER("a(b)", {"a", "b", .minute = 2}, {"b", "a", .minute = 1});
    IN_ANY_ORDER("a", {"a", "a a", .minute = 1});
    IN_ANY_ORDER("a(b(c(e)d))", {"a", "c", .minute = 3}, {"b", "a", .minute = 1}, {"c", "b", .minute = 2},
                 {"d", "b", .minute = 4}, {"e", "c", .minute = 5});
    /* The ghost g closes a circle until it says itself that it is a root. */
    IN_ANY_ORDER("a(b(c))", {"a", "g", .minute = 1}, {"b", "a", .minute = 2}, {"c", "b g", .minute = 3});
    IN_ANY_ORDER("g(a(b)c)", {"a", "g", .minute = 1}, {"b", "a", .minute = 2}, {"c", "b g", .minute = 3},
                 {"g", .minute = 0});
}

static void replies_without_references_go_by_subject(void)
{
    IN_ANY_ORDER("a(b c)", {"a", "", "frost", .minute = 1}, {"b", "", "Re: frost", .minute = 2},
                 {"c", "", "Re: frost", .minute = 3});
    /* To the nearest before it; and what is no reply is nobody's. */
    IN_ANY_ORDER("a(b) | c(d)", {"a", "", "frost", .minute = 1}, {"b", "", "Re: frost", .minute = 2},
                 {"c", "", "frost", .minute = 3}, {"d", "", "Re: frost", .minute = 4});
    IN_ANY_ORDER("b(c(d))", {"b", "", "Re: frost", .minute = 2}, {"c", "", "Re: frost", .minute = 3},
                 {"d", "", "Re: frost", .minute = 4});
    /* With references the subject counts nothing, and after a month neither. */
    IN_ANY_ORDER("a | b | c", {"a", "", "frost", .minute = 1}, {"b", "x", "Re: frost", .minute = 2},
                 {"c", "", "Re: frost", .minute = 60 * 24 * 31});
}

/* Random forests with lost messages and lies: the same threads in each of five orders. */
static void random_threads_do_not_depend_on_order(void)
{
    for (guint seed = 0; seed < (g_test_thorough() ? 400 : 20); seed++) {
        g_autoptr(GRand) dice = g_rand_new_with_seed(seed);
        static const char *const ghosts[] = {"g1", "k2", "p3", "u4"};
        enum { MAILS = 14 };
        Mail mails[MAILS];
        char names[MAILS][4];
        g_autofree char *first = NULL;
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
        for (int i = 0; i < MAILS; i++) {
            GString *references = g_string_new(NULL);
            g_snprintf(names[i], sizeof names[i], "%c%d", 'a' + g_rand_int_range(dice, 0, 26), i);
            for (int n = g_rand_int_range(dice, 0, 4); n > 0 && i > 0; n--)
                g_string_append_printf(references, "%s%s", references->len > 0 ? " " : "",
                                       g_rand_int_range(dice, 0, 4) == 0 ? ghosts[g_rand_int_range(dice, 0, 4)]
                                                                         : names[g_rand_int_range(dice, 0, i)]);
            if (i == 3 || i == 7) /* it answers what comes later */
                g_string_append(references, references->len > 0 ? " z" : "z");
            g_ptr_array_add(texts, references->str);
            mails[i] = (Mail){
                .name = names[i],
                .references = g_string_free(references, FALSE),
                .minute = i,
                .subject = (const char *[]){"frost", "Re: frost", "Re: snow"}[g_rand_int_range(dice, 0, 3)]};
        }
        mails[MAILS - 1].name = "z";
        for (int round = 0; round < 5; round++) {
            Fixture fixture;
            fixture_open(&fixture, NULL);
            for (int i = MAILS; i > 1; i--) {
                int other = g_rand_int_range(dice, 0, i);
                Mail kept = mails[i - 1];
                mails[i - 1] = mails[other];
                mails[other] = kept;
            }
            archive_index_begin(fixture.index, NULL);
            for (int i = 0; i < MAILS; i++)
                add(fixture.index, &mails[i]);
            archive_index_commit(fixture.index, NULL);
            g_autofree char *found = threads_text(fixture.index);
            if (!first)
                first = g_steal_pointer(&found);
            else
                g_assert_cmpstr(found, ==, first);
            fixture_close(&fixture, NULL);
        }
    }
}

static void thousand_references(Fixture *fixture, const void *unused)
{
    g_autoptr(GString) references = g_string_new("first");
    for (int i = 0; i < 5000; i++)
        g_string_append_printf(references, " r%d", i);
    add(fixture->index, &(Mail){"first", .minute = 1});
    add(fixture->index, &(Mail){"m", references->str, .minute = 2});
    add(fixture->index, &(Mail){"r4500", "x", .minute = 3});
    add(fixture->index, &(Mail){"r4001", "", "other", .minute = 4}); /* what no node was made for */
    assert_threads(fixture->index, "first | r4001 | r4500(m)");
}

static void file_is_added_once(Fixture *fixture, const void *unused)
{
    const Mail one = {"a", .minute = 1}, two = {"b", .minute = 1}, same_id = {"a", .minute = 2};
    g_autoptr(GError) error = NULL;
    bool known;
    g_assert_true(add(fixture->index, &one));
    g_assert_false(add(fixture->index, &one));
    g_assert_true(add(fixture->index, &two));
    g_assert_true(add(fixture->index, &same_id));
    g_assert_false(add(fixture->index, &same_id));
    assert_threads(fixture->index, "a | b | spare 2.a");
    assert_ok(archive_index_knows(fixture->index, "l.example.org", "1.b", BEGIN + 60 * CLOCK_SECOND, &known, &error),
              error);
    g_assert_true(known);
    assert_ok(archive_index_knows(fixture->index, "other", "1.b", BEGIN + 60 * CLOCK_SECOND, &known, &error), error);
    g_assert_false(known);
}

static void lists_do_not_mix(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    add(fixture->index, &(Mail){"a", .minute = 1});
    add(fixture->index, &(Mail){"b", "a", "Re: about", .minute = 2, .list = "m.example.org"});
    add(fixture->index, &(Mail){"a", "", "about", .minute = 3, .list = "m.example.org"});
    assert_threads(fixture->index, "a");
    g_autoptr(ArchiveList) second = archive_index_list(fixture->index, "m.example.org", &error);
    g_assert_cmpstr(second->name, ==, "m.example.org");
    g_assert_cmpint(second->posts, ==, 2);
    g_assert_cmpint(second->first, ==, BEGIN + 120 * CLOCK_SECOND);
    g_assert_null(archive_index_list(fixture->index, "none", &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
}

static void pages_go_on_where_they_ended(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    char name[8];
    for (int i = 0; i < 100; i++) {
        g_snprintf(name, sizeof name, "m%02d", i);
        add(fixture->index, &(Mail){name, "", name, .minute = i / 7}); /* seven of one second */
    }
    for (int oldest = 0; oldest < 2; oldest++) {
        ArchivePage page = {.limit = 9,
                            .oldest_first = oldest == 1,
                            .from = BEGIN + 60 * CLOCK_SECOND,
                            .to = BEGIN + 13 * 60 * CLOCK_SECOND};
        ArchivePage of_threads = page;
        int next = oldest ? 7 : 90;
        for (;;) {
            g_autoptr(GPtrArray) rows = archive_index_messages(fixture->index, list_of(fixture->index), &page, &error);
            g_autoptr(GPtrArray)
                threads = archive_index_threads(fixture->index, list_of(fixture->index), &of_threads, &error);
            g_assert_no_error(error);
            g_assert_cmpint(threads->len, ==, rows->len);
            if (rows->len == 0)
                break;
            for (guint i = 0; i < rows->len; i++, next += oldest ? 1 : -1) {
                g_snprintf(name, sizeof name, "m%02d", next);
                g_assert_cmpstr(((ArchiveMessage *)rows->pdata[i])->hash, ==, name);
            }
            const ArchiveMessage *last = rows->pdata[rows->len - 1];
            const ArchiveThread *thread = threads->pdata[threads->len - 1];
            g_assert_cmpstr(thread->hash, ==, last->hash);
            page.behind = (ArchivePlace){last->date, last->id};
            of_threads.behind = (ArchivePlace){thread->last, thread->id};
        }
        g_assert_cmpint(next, ==, oldest ? 91 : 6);
    }
}

static void months_are_counted(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    add(fixture->index, &(Mail){"a", .minute = 0}); /* 2023-11-14 */
    add(fixture->index, &(Mail){"b", .minute = 60});
    add(fixture->index, &(Mail){"c", .minute = 60 * 24 * 60}); /* 2024-01-13 */
    g_autoptr(GArray) months = archive_index_months(fixture->index, list_of(fixture->index), &error);
    g_assert_cmpint(months->len, ==, 2);
    ArchiveMonth first = g_array_index(months, ArchiveMonth, 0), second = g_array_index(months, ArchiveMonth, 1);
    g_assert_true(first.year == 2023 && first.month == 11 && first.posts == 2);
    g_assert_true(second.year == 2024 && second.month == 1 && second.posts == 1);
}

static void date_must_be_sane(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    const struct {
        const char *name;
        int64_t date, wanted;
    } rows[] = {{"none", 0, BEGIN},
                {"past", BEGIN - 61 * DAY, BEGIN},
                {"future", BEGIN + 2 * DAY, BEGIN},
                {"soon", BEGIN + DAY / 2, BEGIN + DAY / 2},
                {"late", BEGIN - 9 * DAY, BEGIN - 9 * DAY},
                {"least", G_MININT64, BEGIN},
                {"greatest", G_MAXINT64, BEGIN}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        add_with(fixture->index, &(Mail){rows[i].name, .minute = 0}, rows[i].date);
        g_autoptr(ArchiveMessage)
            message = archive_index_message(fixture->index, list_of(fixture->index), rows[i].name, &error);
        g_assert_no_error(error);
        g_assert_cmpint(message->date, ==, rows[i].wanted);
        g_assert_cmpint(message->arrival, ==, BEGIN);
    }
}

static void second_may_be_full(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    assert_ok(archive_index_begin(fixture->index, &error), error);
    for (int i = 0; i < 20000; i++) {
        g_autofree char *name = g_strdup_printf("m%d", i);
        g_assert_true(add(fixture->index, &(Mail){name, "x", .minute = 0}));
    }
    assert_ok(archive_index_commit(fixture->index, &error), error);
    g_autoptr(ArchiveList) list = archive_index_list(fixture->index, "l.example.org", &error);
    g_assert_cmpint(list->posts, ==, 20000);
}

static void long_thread_is_read_in_parts(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    char name[8], above[8] = "";
    assert_ok(archive_index_begin(fixture->index, &error), error);
    for (int i = 0; i < 3000; i++) { /* each answers the one before: as deep as it is long */
        g_snprintf(name, sizeof name, "%05d", i);
        add(fixture->index, &(Mail){name, above, .minute = i});
        memcpy(above, name, sizeof above);
    }
    assert_ok(archive_index_commit(fixture->index, &error), error);
    g_autoptr(ArchiveMessage) last = archive_index_message(fixture->index, list_of(fixture->index), "02999", &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) tree = archive_index_thread_tree(fixture->index, last->thread, &error);
    g_assert_cmpint(tree->len, ==, ARCHIVE_PAGE_MAX);
    g_assert_cmpint(((ArchiveMessage *)tree->pdata[999])->depth, ==, 999);
    g_autoptr(ArchiveMessage) before = archive_index_message(fixture->index, list_of(fixture->index), "02998", &error);
    g_assert_cmpint(before->id, ==, last->parent);
}

/* ---- hiding ---- */

/* How many messages the index itself has under a word, whether they are shown or not. */
static int words_kept(const Fixture *fixture, const char *word)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    g_autofree char *path = g_build_filename(fixture->directory, ".index", "index.db", NULL);
    g_assert_cmpint(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_prepare_v2(database, "SELECT count(*) FROM word WHERE word MATCH ?", -1, &statement, NULL),
                    ==, SQLITE_OK);
    sqlite3_bind_text(statement, 1, word, -1, SQLITE_STATIC);
    g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_ROW);
    int count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return count;
}

static void hidden_and_removed(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    ArchiveIndex *index = fixture->index;
    const char *const parent[] = {"a", NULL};
    add(index, &(Mail){"a", "", "frost", .minute = 1});
    const ArchivePost post = {.list = "l.example.org",
                              .file = "f",
                              .hash = "b",
                              .spare_hash = "s",
                              .references = parent,
                              .name = "Bart",
                              .address = "b@x",
                              .subject = "secret",
                              .topic = "",
                              .text = "frost word",
                              .text_length = 10,
                              .arrival = BEGIN + 120 * CLOCK_SECOND};
    bool added;
    assert_ok(archive_index_add(index, &post, &added, &error), error);
    add(index, &(Mail){"c", "b", "frost", .minute = 3});
    g_autoptr(ArchiveMessage) message = archive_index_message(index, list_of(index), "b", &error);
    assert_ok(archive_index_hide(index, message->id, true, "by its author", &error), error);
    assert_found(index, "frost", "c a");
    assert_ok(archive_index_hide(index, message->id, false, NULL, &error), error);
    assert_found(index, "frost", "c b a");
    g_assert_true(words_kept(fixture, "secret") == 1 && words_kept(fixture, "frost") == 3);
    assert_ok(archive_index_remove(index, message->id, &post, "by a court", &error), error);
    assert_found(index, "secret", "");
    g_assert_true(words_kept(fixture, "secret") == 0 && words_kept(fixture, "frost") == 2);
    assert_threads(index, "a(b(c))");
    g_autoptr(ArchiveMessage) removed = archive_index_message(index, list_of(index), "b", &error);
    g_assert_cmpint(removed->state, ==, ARCHIVE_REMOVED);
    g_assert_cmpstr(removed->note, ==, "by a court");
    g_assert_cmpstr(removed->subject, ==, "");
    g_assert_false(archive_index_hide(index, message->id, false, NULL, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_clear_error(&error);
    g_assert_false(archive_index_hide(index, 5, true, NULL, &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
}

/* ---- files ---- */

static void rolled_back_is_not_there(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    add(fixture->index, &(Mail){"a", .minute = 1});
    assert_ok(archive_index_begin(fixture->index, &error), error);
    add(fixture->index, &(Mail){"b", "a", .minute = 2});
    archive_index_rollback(fixture->index);
    assert_threads(fixture->index, "a");
    assert_found(fixture->index, "about", "a");
    g_assert_true(add(fixture->index, &(Mail){"b", "a", .minute = 2}));
    assert_threads(fixture->index, "a(b)");
}

static void damage_is_told(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = file_of(fixture);
    archive_index_free(g_steal_pointer(&fixture->index));
    assert_ok(g_file_set_contents(path, "this is no database, but it is long enough to be looked at as one", -1, NULL),
              error);
    g_assert_null(archive_index_open(fixture->directory, true, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_clear_error(&error);
    assert_ok(archive_index_set_aside(fixture->directory, &error), error);
    g_assert_null(archive_index_open(fixture->directory, false, &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_clear_error(&error);
    fixture->index = archive_index_open(fixture->directory, true, &error);
    assert_ok(fixture->index != NULL, error);
    add(fixture->index, &(Mail){"a", .minute = 1});
    assert_threads(fixture->index, "a");
}

/* Pages in the midst of the file are overwritten while it is open. */
static void damage_is_told_while_open(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = file_of(fixture), *bytes = NULL;
    gsize length;
    bool added = true;
    for (int i = 0; i < 200; i++) {
        g_autofree char *name = g_strdup_printf("m%d", i);
        add(fixture->index, &(Mail){name, .minute = i});
    }
    archive_index_free(fixture->index);
    assert_ok(g_file_get_contents(path, &bytes, &length, NULL), error);
    memset(bytes + 4096, 'x', length - 4096);
    assert_ok(g_file_set_contents(path, bytes, (gssize)length, NULL), error);
    fixture->index = archive_index_open(fixture->directory, true, &error);
    if (fixture->index) {
        const ArchivePost post = {.list = "l.example.org",
                                  .file = "f",
                                  .hash = "h",
                                  .spare_hash = "s",
                                  .name = "",
                                  .address = "",
                                  .subject = "",
                                  .topic = ""};
        added = archive_index_add(fixture->index, &post, &added, &error);
    }
    g_assert_true(!fixture->index || !added);
    g_assert_error(error, FAIL, FAIL_CONFIG);
}

static void file_that_was_replaced_is_noticed(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = file_of(fixture);
    assert_ok(archive_index_present(fixture->index, &error), error);
    g_unlink(path);
    g_assert_false(archive_index_present(fixture->index, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
}

static void new_one_takes_the_place(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *old = file_of(fixture);
    add(fixture->index, &(Mail){"old", .minute = 1});
    ArchiveIndex *again = archive_index_open_new(fixture->directory, &error);
    assert_ok(again != NULL, error);
    add(again, &(Mail){"new", .minute = 1});
    assert_ok(archive_index_present(fixture->index, &error), error);
    assert_ok(archive_index_publish(again, &error), error);
    g_assert_false(g_file_test(old, G_FILE_TEST_EXISTS));
    g_assert_false(archive_index_present(fixture->index, &error));
    g_clear_error(&error);
    assert_threads(fixture->index, "old"); /* who has it open reads on */
    archive_index_free(fixture->index);
    add(again, &(Mail){"more", .minute = 2}); /* after the old one's last connection was closed */
    archive_index_free(again);
    fixture->index = archive_index_open(fixture->directory, false, &error);
    assert_ok(fixture->index != NULL, error);
    assert_threads(fixture->index, "more | new");
}

/* Check that long text from strangers is cut. */
static void long_things_are_cut(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *subject = g_strnfill(1 << 20, 'x'), *text = g_malloc((4 << 20) + 1);
    for (int i = 0; i < 4 << 20; i++)
        text[i] = i % 9 ? (char)('a' + (i * 7 + i / 9) % 26) : ' ';
    text[4 << 20] = '\0';
    memcpy(text, "begin", 5);
    memcpy(text + (4 << 20) - 5, " last", 5);
    memcpy(subject + 990, "\u5ead\u5ead\u5ead\u5ead", 12);
    add(fixture->index, &(Mail){"a", "", subject, text, .minute = 1});
    g_autoptr(ArchiveMessage) message = archive_index_message(fixture->index, list_of(fixture->index), "a", &error);
    g_assert_cmpint(strlen(message->subject), ==, 996);
    g_assert_true(g_utf8_validate(message->subject, -1, NULL));
    assert_found(fixture->index, "last", "");
    g_autoptr(GPtrArray) faults = g_ptr_array_new();
    Store *store = fixture->index->store;
    assert_ok(store_driver(store)->verify(store_connection(store), faults, &error), error);
    g_assert_cmpuint(faults->len, ==, 0);
}

SUITE("archive_index")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/archive_index/threads/any order", threads_do_not_depend_on_order);
    g_test_add_func("/archive_index/threads/circles are cut", circles_are_cut_at_the_least);
    g_test_add_func("/archive_index/threads/replies by subject", replies_without_references_go_by_subject);
    g_test_add_func("/archive_index/threads/random ones in any order", random_threads_do_not_depend_on_order);
    TEST("/archive_index/threads/a thousand references", thousand_references);
    TEST("/archive_index/threads/a long one is read in parts", long_thread_is_read_in_parts);
    TEST("/archive_index/a file is added once", file_is_added_once);
    TEST("/archive_index/lists do not mix", lists_do_not_mix);
    TEST("/archive_index/pages go on where they ended", pages_go_on_where_they_ended);
    TEST("/archive_index/months are counted", months_are_counted);
    TEST("/archive_index/a date must be sane", date_must_be_sane);
    TEST("/archive_index/a second may be full", second_may_be_full);
    TEST("/archive_index/hidden and removed", hidden_and_removed);
    TEST("/archive_index/what is rolled back is not there", rolled_back_is_not_there);
    TEST("/archive_index/damage is told", damage_is_told);
    TEST("/archive_index/damage is told while open", damage_is_told_while_open);
    TEST("/archive_index/a replaced file is noticed", file_that_was_replaced_is_noticed);
    TEST("/archive_index/a new one takes the place", new_one_takes_the_place);
    TEST("/archive_index/long things are cut", long_things_are_cut);
    return g_test_run();
}
