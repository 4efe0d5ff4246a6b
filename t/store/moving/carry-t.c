/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Nothing is forgotten: each table and each column of the schema leaves or stays by a decision, and doc/export.md names
 * each row and each field. Whether rows come back as they went is told by t/e2e/test_export.py. */
#include "store/moving/carry.h"

#include <string.h>

#include "store/store_internal.h"
#include "t/store/fixture.h"
#include "t/suite.h"

/* Columns that no field has: the field `list` of each line, the folded form of an address, which an import makes anew,
 * and: */
static const char *const other_columns[] = {
    "domain.key", /* new in each site, for events alone */
    "list.key",
    "list.mail_host",
    "list.list_name",
    "site_preference.one",
    "digest.waiting", /* counted anew */
    "list_source.turn",
    "list_source.bad_lines", /* of the last try; the next one tells them anew */
    "list_setting.name",
    "list_setting.value", /* the object `settings` of the row `list` */
    "member.address",
    "member.person",
    "domain_owner.person",
    "digest_last.address", /* found by an address */
    "digest_post.issue",
    "held.spool",        /* of the site that is left */
    "digest_last.issue", /* of an issue that is being sent; those that wait have none */
    NULL,
};

static char *names_of(Store *store, const char *sql)
{
    GError *error = NULL;
    g_autoptr(Query) query = query_start(store, &error, sql, NULL, 0);
    g_auto(GStrv) names = query_texts(query, &error);
    g_assert_no_error(error);
    return g_strjoinv(" ", names);
}

static bool has_word(const char *text, const char *word)
{
    g_autofree char *pattern = g_strdup_printf("\\b%s\\b", word);
    return g_regex_match_simple(pattern, text, 0, 0);
}

/* Columns that are read for a row of this table, as SQL. */
static char *selected(const char *table)
{
    GString *all = g_string_new(NULL);
    g_autofree char *from = g_strdup_printf("FROM %s", table);
    for (const CarryKind *kind = carry_kinds; kind->name; kind++)
        if (has_word(kind->select, from)) {
            const char *end = g_strrstr(kind->select, from);
            g_string_append_len(all, kind->select, end - kind->select);
        }
    if (strcmp(table, "list") == 0)
        g_string_append(all, "created_at last_post_at post_id held_last archive");
    return g_string_free(all, FALSE);
}

static void check_columns(Store *store, const char *table)
{
    g_autofree char *sql = g_strdup_printf("SELECT name FROM pragma_table_info('%s')", table);
    g_autofree char *names = names_of(store, g_intern_string(sql)), *read = selected(table);
    g_auto(GStrv) columns = g_strsplit(names, " ", -1);
    for (char **column = columns; *column; column++) {
        g_autofree char *full = g_strdup_printf("%s.%s", table, *column);
        if (strcmp(*column, "list") != 0 && strcmp(*column, "folded") != 0 && !has_word(read, *column) &&
            !g_strv_contains(other_columns, full))
            g_error("the column %s is not exported", full);
    }
}

static void test_tables(Fixture *fixture, const void *data)
{
    (void)data;
    if (!fixture_is_sqlite())
        return;
    const char *why;
    g_autofree char *names = names_of(fixture->store, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name "
                                                      "NOT LIKE 'sqlite_%'");
    g_auto(GStrv) tables = g_strsplit(names, " ", -1);
    g_assert_cmpuint(g_strv_length(tables), >, 50);
    for (char **table = tables; *table; table++) {
        bool leaves = carry_table(*table, &why);
        if (leaves == (why != NULL))
            g_error("the table %s %s", *table, leaves ? "leaves and stays" : "is not known to carry_kinds.c");
        if (leaves)
            check_columns(fixture->store, *table);
    }
    g_assert_false(carry_table("nobody_knows", &why));
    g_assert_null(why);
}

/* The text between a heading and the next one; NULL: there is none. */
static char *section(const char *text, const char *heading)
{
    const char *begin = strstr(text, heading);
    const char *end = begin ? strstr(begin + strlen(heading), "\n##") : NULL;
    return !begin ? NULL : end ? g_strndup(begin, (gsize)(end - begin)) : g_strdup(begin);
}

static void test_documentation(void)
{
    GError *error = NULL;
    g_autofree char *text = NULL;
    const char *top = g_getenv("top_srcdir");
    g_autofree char *path = g_build_filename(top ? top : ".", "doc/export.md", NULL);
    g_assert_true(g_file_get_contents(path, &text, NULL, &error));
    g_autofree char *preferences = section(text, "\n## Preferences\n");
    g_assert_nonnull(preferences);
    for (const CarryKind *kind = carry_kinds; kind->name; kind++) {
        g_autofree char *heading = g_strdup_printf("\n### `%s`\n", kind->name);
        g_autofree char *about = section(text, heading);
        if (!about)
            g_error("doc/export.md has no section on the row %s", kind->name);
        for (const CarryField *field = kind->fields; field->name; field++) {
            g_autofree char *name = g_strdup_printf("`%s`", field->name);
            bool of_all = strstr(preferences, name) && strstr(about, "references");
            if (!strstr(about, name) && !of_all)
                g_error("doc/export.md lacks the field %s of the row %s", field->name, kind->name);
            g_auto(GStrv) words = g_strsplit(field->words ? field->words : "", "|", -1);
            for (char **word = words; *word; word++)
                if (!strstr(text, *word))
                    g_error("doc/export.md lacks the word %s of %s.%s", *word, kind->name, field->name);
        }
    }
}

/* A file without --site may write this, as a list's token may. A new kind or field is decided about, and written here;
 * lists/moving/leaving.c brings single fields down to it. */
static const char *const of_list[] = {
    "digest volume next_number sent_at waiting octets first_at",
    "digest_post id message",
    "member id role email as_user moderation_action joined_at given_name topics topics_unmatched "
    "acknowledge_posts hide_address receive_list_copy receive_own_postings delivery_mode delivery_status "
    "preferred_language",
    "bounce_score member score last_bounce_at probe_at disabled_at warnings next_at warned_at",
    "vacation member begins_at ends_at begun",
    "stranger member seen_at",
    "digest_last email mode",
    "bounce email day bounces weight class status reason source text last_at",
    "bounce_count day what number",
    "ban id email folded made_at",
    "header_match id position header pattern target tag",
    "template place name language uri username password text fetched_at fault",
    "held number list_number message_id subject sender reason meta held_at message told token asked_until "
    "room stranger",
    "scheduled number message_id subject sender author meta made_at due_at message",
    "held_notice told_at",
    "request number kind email display_name facts waits_for token made_at asked_at expires_at "
    "delivery_mode delivery_status as_user welcome detail way",
    "moderator_letter token moderator first last first_request last_request expires_at",
    "answer kind address entry answered_at",
    "departure id email domain way counts left_at expires_at token as_user given_name moderation_action "
    "acknowledge_posts hide_address receive_list_copy receive_own_postings delivery_mode delivery_status "
    "preferred_language topics topics_unmatched vacation_begins_at vacation_ends_at vacation_begun",
    "leave_brake domain closed_at closed_until gone waiting told_at",
    "pace address first_at began_at posts past",
    "source_left email way left_at",
    NULL,
};

static char *fields_of(const CarryKind *kind)
{
    GString *fields = g_string_new(kind->name);
    for (const CarryField *field = kind->fields; field->name; field++)
        g_string_append_printf(fields, " %s", field->name);
    return g_string_free(fields, FALSE);
}

static void test_reach(void)
{
    size_t count = 0;
    for (const CarryKind *kind = carry_kinds; kind->name; kind++) {
        g_autofree char *fields = fields_of(kind);
        if (kind->reach == CARRY_UNDECIDED)
            g_error("nobody decided whether a list's file may write the row %s", kind->name);
        if (kind->reach == CARRY_OF_LIST && !g_strv_contains(of_list, fields))
            g_error("may a list's file write each of these? %s", fields);
        count += kind->reach == CARRY_OF_LIST;
        g_assert_true(kind->of_list || kind->reach != CARRY_OF_LIST);
    }
    g_assert_cmpuint(count, ==, G_N_ELEMENTS(of_list) - 1);
}

SUITE("carry")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/carry/tables", test_tables);
    g_test_add_func("/carry/what a file of a list may write", test_reach);
    g_test_add_func("/carry/documentation", test_documentation);
    return g_test_run();
}
