/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The index of an archive: pages, threads in whatever order messages come, searches, hiding, damage. */
#include "store/archive_search.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"

#define DAY (86400 * CLOCK_SECOND)
#define BEGIN (INT64_C(1700000000) * CLOCK_SECOND)

typedef struct Fixture {
    char *directory;
    ArchiveIndex *index;
} Fixture;

static void assert_ok(bool done, GError *error)
{
    g_assert_no_error(error);
    g_assert_true(done);
}

static void fixture_open(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    fixture->directory = g_dir_make_tmp("archive-XXXXXX", NULL);
    fixture->index = archive_index_open(fixture->directory, true, &error);
    assert_ok(fixture->index != NULL, error);
}

static void fixture_close(Fixture *fixture, const void *unused)
{
    const char *const words[] = {"rm", "-rf", fixture->directory, NULL};
    archive_index_free(fixture->index);
    g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
    g_free(fixture->directory);
}

/* A message in short: its name, what it refers to, with blanks between, and its subject. */
typedef struct Mail {
    const char *name, *references, *subject, *text;
    int minute; /* of its arrival */
    const char *list;
} Mail;

static bool is_reply(const char *subject)
{
    return g_str_has_prefix(subject, "Re: ");
}

static bool add_with(ArchiveIndex *index, const Mail *mail, int64_t date)
{
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) references = g_strsplit(mail->references ? mail->references : "", " ", -1);
    g_autofree char *file = g_strdup_printf("%d.%s", mail->minute, mail->name);
    g_autofree char *spare = g_strconcat("spare ", file, NULL);
    const char *subject = mail->subject ? mail->subject : "about";
    const ArchivePost post = {.list = mail->list ? mail->list : "l.example.org",
                              .file = file,
                              .hash = mail->name,
                              .spare_hash = spare,
                              .references = mail->references && *mail->references ? (const char *const *)references
                                                                                  : NULL,
                              .name = "Anne Vogel",
                              .address = "anne@example.org",
                              .subject = subject,
                              .topic = is_reply(subject) ? subject + 4 : subject,
                              .reply = is_reply(subject),
                              .arrival = BEGIN + mail->minute * 60 * CLOCK_SECOND,
                              .date = date,
                              .size = 1000,
                              .text = mail->text,
                              .text_length = mail->text ? strlen(mail->text) : 0};
    bool added;
    assert_ok(archive_index_add(index, &post, &added, &error), error);
    return added;
}

static bool add(ArchiveIndex *index, const Mail *mail)
{
    return add_with(index, mail, BEGIN + mail->minute * 60 * CLOCK_SECOND);
}

static int64_t number_of(ArchiveIndex *index, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveList) list = archive_index_list(index, name, &error);
    g_assert_no_error(error);
    return list->number;
}

static int64_t list_of(ArchiveIndex *index)
{
    return number_of(index, "l.example.org");
}

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
    g_autoptr(GPtrArray) lists = archive_index_lists(fixture->index, &error);
    g_assert_cmpint(lists->len, ==, 2);
    const ArchiveList *second = lists->pdata[1];
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
    g_autoptr(ArchiveMessage) before = archive_index_message_by_id(fixture->index, last->parent, &error);
    g_assert_cmpstr(before->hash, ==, "02998");
}

/* ---- searches ---- */

/* The hashes of what is found, with blanks between. */
static char *found_text(ArchiveIndex *index, const char *text, const ArchiveSearch *search)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveQuery) query = archive_query_new(text);
    g_auto(ArchiveFound) found = {0};
    assert_ok(archive_index_search(index, query, search, &found, &error), error);
    GString *hashes = g_string_new(NULL);
    for (guint i = 0; i < found.messages->len; i++)
        g_string_append_printf(hashes, "%s%s", i > 0 ? " " : "", ((ArchiveMessage *)found.messages->pdata[i])->hash);
    return g_string_free(hashes, FALSE);
}

static void assert_found(ArchiveIndex *index, const char *text, const char *wanted)
{
    int64_t list = list_of(index);
    const ArchiveSearch search = {.lists = &list, .list_count = 1, .addresses = true, .limit = 100};
    g_autofree char *found = found_text(index, text, &search);
    if (strcmp(found, wanted) != 0)
        g_test_message("search for: %s", text);
    g_assert_cmpstr(found, ==, wanted);
}

static void searches_find(Fixture *fixture, const void *unused)
{
    ArchiveIndex *index = fixture->index;
    add(index,
        &(Mail){"a", "", "Late frost", "The tomatoes did not survive; caf\u00e9 na\u00efve \u00dcBER.", .minute = 1});
    add(index, &(Mail){"b", "", "Harvest", "Frost came late, and the harvest was late_too.", .minute = 2});
    add(index,
        &(Mail){"c", "", "\u5ead\u306e\u624b\u5165\u308c",
                "\u660e\u65e5\u306f\u96e8\u304c\u964d\u308b\u3067\u3057\u3087\u3046\u3002", .minute = 60 * 24 * 40});
    add(index, &(Mail){"d", "", "none", "frost", .minute = 4, .list = "m.example.org"});
    assert_found(index, "frost", "b a");
    assert_found(index, "FROST late", "b a");
    assert_found(index, "\"late frost\"", "a");
    assert_found(index, "subject:frost", "a");
    assert_found(index, "subject:\"late frost\" -harvest", "a");
    assert_found(index, "frost -harvest", "a");
    assert_found(index, "-frost", "c");
    assert_found(index, "-\"late frost\" -subject:none", "c b");
    assert_found(index, "cafe NAIVE \u00fcber", "a");
    assert_found(index, "cafe\u0301", "a");
    assert_found(index, "from:vogel", "c b a");
    assert_found(index, "from:anne@example.org", "c b a");
    assert_found(index, "from:example.com", "");
    assert_found(index, "late_too", "b");
    assert_found(index, "fros", "");
    assert_found(index, "\u624b\u5165", "c");
    assert_found(index, "\u5ead\u306e\u624b\u5165\u308c", "c");
    assert_found(index, "\u96e8", "c");
    assert_found(index, "\u660e\u65e5 -\u96e8", "");
    assert_found(index, "\u96e8\u624b", "");
    assert_found(index, "after:2023-12", "c");
    assert_found(index, "before:2023-12-01 late", "b a");
    assert_found(index, "after:2023-11-14 before:2024", "c b a");
    assert_found(index, "after:2024", "");
    assert_found(index, "list l1 all", "");
}

static void search_respects_lists_and_addresses(Fixture *fixture, const void *unused)
{
    g_autoptr(GArray) many = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int i = 0; i < 100; i++) {
        g_autofree char *list = g_strdup_printf("l%d", i), *name = g_strdup_printf("m%d", i);
        add(fixture->index, &(Mail){name, "", "frost", .minute = i, .list = list});
        int64_t number = number_of(fixture->index, list);
        if (i % 50 == 7 || (i >= 10 && i < 90))
            g_array_append_val(many, number);
    }
    ArchiveSearch search = {.lists = (int64_t *)(void *)many->data, .list_count = 1, .limit = 100};
    g_autofree char *one = found_text(fixture->index, "frost", &search);
    g_assert_cmpstr(one, ==, "m7");
    search.list_count = 2;
    g_autofree char *two = found_text(fixture->index, "frost", &search);
    g_assert_cmpstr(two, ==, "m10 m7");
    search.list_count = many->len;
    search.limit = 4;
    g_autofree char *all = found_text(fixture->index, "frost", &search);
    g_assert_cmpstr(all, ==, "m89 m88 m87 m86");
    search.list_count = 0;
    g_autofree char *none = found_text(fixture->index, "frost", &search);
    g_assert_cmpstr(none, ==, "");
    search.list_count = 1;
    g_autofree char *name = found_text(fixture->index, "from:anne", &search);
    g_assert_cmpstr(name, ==, "m7");
    g_autofree char *address = found_text(fixture->index, "from:anne@example.org", &search);
    g_assert_cmpstr(address, ==, "");
}

static void search_ranks_and_goes_on(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    for (int i = 0; i < 50; i++) {
        g_autofree char *name = g_strdup_printf("m%02d", i);
        add(fixture->index,
            &(Mail){name, "", i == 3 ? "frost" : "other", i == 5 ? "frost frost frost" : "frost x", .minute = i});
    }
    int64_t list = list_of(fixture->index), seen = 0;
    ArchiveSearch search = {.lists = &list, .list_count = 1, .limit = 3, .ranked = true};
    g_autofree char *best = found_text(fixture->index, "frost", &search);
    g_assert_cmpstr(best, ==, "m03 m05 m49");
    search.ranked = false;
    search.limit = 7;
    g_autoptr(ArchiveQuery) query = archive_query_new("frost");
    do {
        g_auto(ArchiveFound) found = {0};
        assert_ok(archive_index_search(fixture->index, query, &search, &found, &error), error);
        seen += found.messages->len;
        search.behind = found.next;
    } while (search.behind != 0);
    g_assert_cmpint(seen, ==, 50);
    g_autoptr(ArchiveQuery) empty = archive_query_new(" -\"\" from: \"!\" ");
    g_auto(ArchiveFound) nothing = {0};
    g_autofree char *text = archive_query_text(empty);
    g_assert_cmpstr(text, ==, "from");
    g_autoptr(ArchiveQuery) blank = archive_query_new(" -\"\" \"!\" ");
    g_assert_false(archive_index_search(fixture->index, blank, &search, &nothing, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

/* Whatever is typed, nothing of it becomes a word of FTS5's own language. */
static void any_text_is_a_search(Fixture *fixture, const void *unused)
{
    static const char *const texts[] = {
        "\"",
        "\"\"\"",
        "a OR b",
        "a AND (",
        "NEAR(a b, 3)",
        "a*",
        "^a",
        "list:l1",
        "{subject}:a",
        "text : a",
        "'; --",
        "a NOT",
        "-",
        "--a",
        "-\"a",
        "subject:",
        "from:\"",
        "subject:from:a",
        "after:",
        "after:2026-99-99",
        "a+b",
        "\\",
        "\xff\xfe",
        "a\xc3",
        "\xf0\x9f\x8c\xb1",
        "after:99999",
        "before:1971",
        "before:9999-12-31",
        "subject:-a",
        "%s%n",
    };
    int64_t list;
    add(fixture->index, &(Mail){"a", .minute = 1});
    list = list_of(fixture->index);
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        for (int ranked = 0; ranked < 2; ranked++) {
            g_autoptr(GError) error = NULL;
            g_autoptr(ArchiveQuery) query = archive_query_new(texts[i]);
            g_auto(ArchiveFound) found = {0};
            const ArchiveSearch search = {.lists = &list, .list_count = 1, .limit = 5, .ranked = ranked == 1};
            if (!archive_index_search(fixture->index, query, &search, &found, &error))
                g_assert_error(error, FAIL, FAIL_NEVER);
            g_autofree char *text = archive_query_text(query);
            g_autoptr(ArchiveQuery) again = archive_query_new(text);
            g_autofree char *same = archive_query_text(again);
            g_assert_cmpstr(same, ==, text);
        }
}

static void snippet_shows_the_place(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 0; i < 500; i++)
        g_string_append_printf(text, "word%d\n\n   ", i);
    g_string_append(text, "then came the Fr\u00f3st and took the \u5ead\u306e\u624b\u5165\u308c away");
    g_autoptr(ArchiveQuery) query = archive_query_new("frost \u306e\u624b -came");
    g_autoptr(GPtrArray) pieces = archive_query_snippet(query, text->str, text->len, 80);
    g_autoptr(GString) shown = g_string_new(NULL);
    for (guint i = 0; i < pieces->len; i++) {
        const ArchivePiece *piece = pieces->pdata[i];
        g_string_append_printf(shown, piece->hit ? "[%s]" : "%s", piece->text);
    }
    g_assert_nonnull(strstr(shown->str, "came the [Fr\u00f3st] and took the \u5ead[\u306e\u624b]\u5165\u308c away"));
    g_autoptr(ArchiveQuery) none = archive_query_new("absent");
    g_autoptr(GPtrArray) begin = archive_query_snippet(none, text->str, text->len, 20);
    g_assert_cmpstr(((ArchivePiece *)begin->pdata[0])->text, ==, "word0 word1 word2 wo");
}

/* ---- hiding ---- */

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
    assert_ok(archive_index_remove(index, message->id, &post, "by a court", &error), error);
    assert_found(index, "secret", "");
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
    g_autofree char *path = archive_index_path(fixture->directory);
    archive_index_free(g_steal_pointer(&fixture->index));
    assert_ok(g_file_set_contents(path, "this is no database, but it is long enough to be looked at as one", -1, NULL),
              NULL);
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
    g_autofree char *path = archive_index_path(fixture->directory), *bytes = NULL;
    gsize length;
    bool added = true;
    for (int i = 0; i < 200; i++) {
        g_autofree char *name = g_strdup_printf("m%d", i);
        add(fixture->index, &(Mail){name, .minute = i});
    }
    archive_index_free(fixture->index);
    assert_ok(g_file_get_contents(path, &bytes, &length, NULL), NULL);
    memset(bytes + 4096, 'x', length - 4096);
    assert_ok(g_file_set_contents(path, bytes, (gssize)length, NULL), NULL);
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
    g_autofree char *path = archive_index_path(fixture->directory);
    assert_ok(archive_index_present(fixture->index, &error), error);
    g_unlink(path);
    g_assert_false(archive_index_present(fixture->index, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
}

/* What strangers send is long. */
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
    assert_ok(archive_index_verify(fixture->index, g_ptr_array_new(), &error), error);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define TEST(path, function) g_test_add(path, Fixture, NULL, fixture_open, function, fixture_close)
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
    TEST("/archive_index/search/finds", searches_find);
    TEST("/archive_index/search/lists and addresses", search_respects_lists_and_addresses);
    TEST("/archive_index/search/ranks and goes on", search_ranks_and_goes_on);
    TEST("/archive_index/search/any text is one", any_text_is_a_search);
    g_test_add_func("/archive_index/search/snippet", snippet_shows_the_place);
    TEST("/archive_index/hidden and removed", hidden_and_removed);
    TEST("/archive_index/what is rolled back is not there", rolled_back_is_not_there);
    TEST("/archive_index/damage is told", damage_is_told);
    TEST("/archive_index/damage is told while open", damage_is_told_while_open);
    TEST("/archive_index/a replaced file is noticed", file_that_was_replaced_is_noticed);
    TEST("/archive_index/long things are cut", long_things_are_cut);
    return g_test_run();
}
