/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The index of an archive: archive-bench DIRECTORY [MAILS]. Makes one of a list of so many made mails (1 million), one
 * of a thousand, and 10,000 of one, and then reads pages and searches, in the large list and in the small one.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "store/archive/archive_search.h"
#include "t/bench/store/figures.h"

#define WORDS 120000
#define BATCH 2000
#define SMALL 1000
#define LISTS 10000
#define RUNS 200
#define MINUTE (60 * CLOCK_SECOND)
#define BEGIN (INT64_C(1000000000) * CLOCK_SECOND)
#define HEAD 2000 /* bytes of a mail's head and what else is not its text */

static char *words[WORDS];
static double reach[WORDS]; /* the share of all words up to this one: as in texts that people write */
static GRand *dice;
static int64_t octets;

static void make_words(void)
{
    static const char *const parts[] = {"ba", "ke", "li", "mo",  "nu",  "ra", "se",
                                        "ti", "vo", "zu", "dan", "fer", "gol"};
    double sum = 0;
    for (int i = 0; i < WORDS; i++) {
        GString *word = g_string_new(NULL);
        for (int rest = i + 13; rest > 0; rest /= (int)G_N_ELEMENTS(parts))
            g_string_append(word, parts[rest % (int)G_N_ELEMENTS(parts)]);
        words[i] = g_string_free(word, FALSE);
        sum += 1 / (i + 2.7);
        reach[i] = sum;
    }
    for (int i = 0; i < WORDS; i++)
        reach[i] /= sum;
}

static const char *any_word(void)
{
    double wanted = g_rand_double(dice);
    int low = 0, high = WORDS - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (reach[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return words[low];
}

static void any_text(GString *text, int count)
{
    g_string_truncate(text, 0);
    for (int i = 0; i < count; i++)
        g_string_append_printf(text, "%s ", any_word());
}

/* The mail with that number of a list: one in four begins a thread, the others answer one of the last forty. */
static void add(ArchiveIndex *index, const char *list, int64_t number, int64_t arrival)
{
    static const int lengths[] = {30, 60, 90, 150, 220, 400};
    GError *error = NULL;
    bool added;
    g_autoptr(GString) text = g_string_new(NULL), subject = g_string_new(NULL);
    char file[80], hash[40], parent[40];
    int64_t above = number - g_rand_int_range(dice, 1, 40);
    const char *references[] = {parent, NULL};
    any_text(subject, 6);
    any_text(text, lengths[g_rand_int_range(dice, 0, G_N_ELEMENTS(lengths))]);
    g_string_append(text, number % 2 ? "oddword" : "evenword");
    g_snprintf(hash, sizeof hash, "%s%031" G_GINT64_FORMAT, *list == 'b' ? "B" : "L", number);
    g_snprintf(parent, sizeof parent, "%s%031" G_GINT64_FORMAT, *list == 'b' ? "B" : "L", above);
    g_snprintf(file, sizeof file, "%" G_GINT64_FORMAT ".%040" G_GINT64_FORMAT ".listrunner", arrival / CLOCK_SECOND,
               number);
    const ArchivePost post = {.list = list,
                              .file = file,
                              .hash = hash,
                              .spare_hash = file,
                              .references = number % 4 && above >= 0 ? references : NULL,
                              .name = any_word(),
                              .address = "anne@example.org",
                              .subject = subject->str,
                              .topic = subject->str,
                              .arrival = arrival,
                              .date = arrival - MINUTE,
                              .size = HEAD + (int64_t)text->len,
                              .text = text->str,
                              .text_length = text->len};
    octets += HEAD + (int64_t)text->len;
    check(archive_index_add(index, &post, &added, &error) && added, error);
}

static void fill(ArchiveIndex *index, const char *list, int64_t count, int64_t step)
{
    GError *error = NULL;
    for (int64_t i = 0; i < count; i++) {
        if (i % BATCH == 0)
            check(archive_index_begin(index, &error), error);
        add(index, list, i, BEGIN + i * step);
        if (i % BATCH == BATCH - 1 || i == count - 1)
            check(archive_index_commit(index, &error), error);
    }
}

static int compare(gconstpointer one, gconstpointer other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

typedef struct Question {
    ArchiveIndex *index;
    const int64_t *lists;
    size_t list_count;
    const char *text;
    ArchivePage page;
    bool ranked;
} Question;

static guint ask_messages(const Question *question)
{
    g_autoptr(GPtrArray) rows = archive_index_messages(question->index, *question->lists, &question->page, NULL);
    return rows->len;
}

static guint ask_threads(const Question *question)
{
    g_autoptr(GPtrArray) rows = archive_index_threads(question->index, *question->lists, &question->page, NULL);
    return rows->len;
}

static guint ask_newest_thread(const Question *question)
{
    const ArchivePage one = {.limit = 1};
    g_autoptr(GPtrArray) rows = archive_index_threads(question->index, *question->lists, &one, NULL);
    g_autoptr(GPtrArray) tree = archive_index_thread_tree(question->index, ((ArchiveThread *)rows->pdata[0])->id, NULL);
    return tree->len;
}

static guint ask_search(const Question *question)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveQuery) query = archive_query_new(question->text ? question->text : any_word());
    const ArchiveSearch search = {
        .lists = question->lists, .list_count = question->list_count, .limit = 20, .ranked = question->ranked};
    g_auto(ArchiveFound) found = {0};
    check(archive_index_search(question->index, query, &search, &found, &error), error);
    return found.messages->len;
}

static void ask(const char *what, guint (*function)(const Question *question), const Question *question, int runs)
{
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(int64_t));
    guint rows = 0;
    for (int i = 0; i < runs; i++) {
        int64_t since = clock_monotonic();
        rows = function(question);
        int64_t took = clock_monotonic() - since;
        g_array_append_val(times, took);
    }
    g_array_sort(times, compare);
    printf("%-44s %6u rows, median %8.3f ms, p99 %8.3f ms\n", what, rows,
           (double)g_array_index(times, int64_t, times->len / 2) / 1e3,
           (double)g_array_index(times, int64_t, times->len * 99 / 100) / 1e3);
    fflush(stdout);
}

static void ask_all(const char *name, Question question)
{
    static const char *const texts[] = {"bake",
                                        "oddword",
                                        "bake keke",
                                        "\"bake keke\"",
                                        "from:bake subject:keke",
                                        "oddword evenword",
                                        "\"evenword oddword\"",
                                        "absentword"};
    printf("-- %s\n", name);
    question.page = (ArchivePage){.limit = 100};
    ask("newest messages", ask_messages, &question, RUNS);
    ask("newest threads", ask_threads, &question, RUNS);
    ask("newest thread, its tree", ask_newest_thread, &question, RUNS);
    question.page.behind = (ArchivePlace){BEGIN + 50 * MINUTE, 1};
    ask("messages, far behind", ask_messages, &question, RUNS);
    ask("threads, far behind", ask_threads, &question, RUNS);
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        for (int ranked = 0; ranked < 2; ranked++) {
            g_autofree char *what = g_strdup_printf("search %s%s", texts[i], ranked ? ", ranked" : "");
            question.text = texts[i];
            question.ranked = ranked == 1;
            ask(what, ask_search, &question, 20);
        }
    question.text = NULL;
    ask("search words as they occur, ranked", ask_search, &question, RUNS);
}

static void report_size(const char *directory)
{
    g_autofree char *path = archive_index_path(directory);
    GStatBuf status;
    g_assert_cmpint(g_stat(path, &status), ==, 0);
    printf("%-44s %10.1f MB, %.3f of the mails' %.1f MB\n", "the file", (double)status.st_size / 1e6,
           (double)status.st_size / (double)octets, (double)octets / 1e6);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    int64_t mails = argc > 2 ? g_ascii_strtoll(argv[2], NULL, 10) : 1000000, since = clock_monotonic();
    if (argc < 2)
        return 64;
    make_words();
    dice = g_rand_new_with_seed(1);
    g_autoptr(ArchiveIndex) index = archive_index_open(argv[1], true, &error);
    check(index != NULL, error);
    fill(index, "big", mails, 10 * MINUTE);
    report("mails added to one list", mails, since);
    fill(index, "small", SMALL, mails * 10 * MINUTE / SMALL);
    report_memory();
    report_size(argv[1]);
    since = clock_monotonic();
    for (int i = 0; i < RUNS; i++)
        add(index, "big", mails + i, BEGIN + (mails + i) * 10 * MINUTE);
    report("mails, each in a transaction of its own", RUNS, since);
    since = clock_monotonic();
    check(archive_index_begin(index, &error), error);
    for (int i = 0; i < LISTS; i++) {
        g_autofree char *name = g_strdup_printf("one%d", i);
        add(index, name, 4 * i, BEGIN + i * MINUTE);
    }
    check(archive_index_commit(index, &error), error);
    report("lists of one mail", LISTS, since);
    g_autoptr(ArchiveList) big = archive_index_list(index, "big", &error);
    g_autoptr(ArchiveList) small = archive_index_list(index, "small", &error);
    ask_all("a thousand", (Question){.index = index, .lists = &small->number, .list_count = 1});
    ask_all("the large list", (Question){.index = index, .lists = &big->number, .list_count = 1});
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_array_append_val(numbers, big->number);
    g_array_append_val(numbers, small->number);
    for (int i = 0; i < LISTS; i++) {
        g_autofree char *name = g_strdup_printf("one%d", i);
        g_autoptr(ArchiveList) one = archive_index_list(index, name, &error);
        g_array_append_val(numbers, one->number);
    }
    ask_all("all lists",
            (Question){.index = index, .lists = (int64_t *)(void *)numbers->data, .list_count = numbers->len});
    return 0;
}
