/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Searches of an archive: what is found, in which lists, in which order, and from whatever somebody types. */
#include "t/store/archive/archive_fixture.h"
#include "t/suite.h"

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

/* People type what their keyboard has. */
static void searches_fold_letters(Fixture *fixture, const void *unused)
{
    ArchiveIndex *index = fixture->index;
    add(index, &(Mail){"a", "", "Stra\u00dfe", "M\u00fcller aus \u0141\u00f3d\u017a", .minute = 1});
    add(index, &(Mail){"b", "", "Sm\u00f8rrebr\u00f8d", "\u00c5rhus, \u00d8rsted, \u00e6ble", .minute = 2});
    add(index, &(Mail){"c", "", "muller", "Mueller and the mueller", .minute = 3});
    static const struct {
        const char *words, *found;
    } cases[] = {
        {"strasse", "a"},
        {"STRASSE", "a"},
        {"stra\u00dfe", "a"},
        {"lodz", "a"},
        {"\u0141\u00f3d\u017a", "a"},
        {"\"muller aus lodz\"", "a"},
        {"smorrebrod", "b"},
        {"arhus", "b"},
        {"aarhus", "b"},
        {"oersted", "b"},
        {"orsted", "b"},
        {"aeble", "b"},
        {"mueller", "c a"},
        {"m\u00fcller", "c a"},
        {"muller", "c a"},
        {"smoerrebroed", "b"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++)
        assert_found(index, cases[at].words, cases[at].found);
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

SUITE("archive_search")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/archive_search/finds", searches_find);
    TEST("/archive_search/fold letters", searches_fold_letters);
    TEST("/archive_search/lists and addresses", search_respects_lists_and_addresses);
    TEST("/archive_search/ranks and goes on", search_ranks_and_goes_on);
    TEST("/archive_search/any text is one", any_text_is_a_search);
    g_test_add_func("/archive_search/snippet", snippet_shows_the_place);
    return g_test_run();
}
