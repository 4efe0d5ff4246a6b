/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/list_reader.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"

#include <unistd.h>

#include "base/fail.h"
#include "store/people/member.h"
#include "store/store.h"
#include "t/mailbox.h"
#include "t/suite.h"

#define LIST "test.example.com"

typedef struct Test {
    char *path, *conf;
    Config *config;
} Test;

static void set_up(Test *test, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    test->path = g_strdup_printf("%s/listrunner-reader-%d.db", g_get_tmp_dir(), (int)getpid());
    test->conf = g_strconcat(test->path, ".conf", NULL);
    g_autofree char *text = g_strdup_printf("[store]\npath = %s\n", test->path);
    g_assert_true(g_file_set_contents(test->conf, text, -1, NULL));
    test->config = config_load(test->conf, true, &error);
    g_assert_no_error(error);
}

static void fill(const Test *test)
{
    static const Preferences digest = {-1, -1, -1, -1, MODE_MIME_DIGESTS, -1, ""};
    g_autoptr(GError) error = NULL;
    g_autoptr(Store) store = store_open("sqlite", test->path, true, &error);
    g_assert_no_error(error);
    g_assert_true(domain_create(store, "example.com", NULL, NULL));
    g_autoptr(List) list = list_create(store, "test@example.com", &error);
    g_assert_no_error(error);
    g_assert_true(list_set(store, LIST, "subject_prefix", "[T] ", NULL));
    g_assert_true(
        member_add(store, LIST, ROLE_MEMBER, mailbox_of("bart@example.org"), "Bart", &preferences_unset, NULL));
    g_assert_true(member_add(store, LIST, ROLE_MEMBER, mailbox_of("Anne@example.org"), NULL, &digest, NULL));
    g_assert_true(member_add(store, LIST, ROLE_OWNER, mailbox_of("owner@example.org"), NULL, &preferences_unset, NULL));
}

static void tear_down(Test *test, gconstpointer data)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".conf"};
    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *path = g_strconcat(test->path, suffixes[i], NULL);
        unlink(path);
    }
    config_free(test->config);
    g_free(test->path);
    g_free(test->conf);
}

static bool note(const ListReaderMember *member, void *data)
{
    g_string_append_printf(data, "%s %s %d,", member->address, member->display_name, member->gets_posts);
    return true;
}

static void test_reads(Test *test, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    fill(test);
    g_autoptr(ListReader) reader = list_reader_open(test->config, &error);
    g_assert_no_error(error);
    g_autofree char *address = list_reader_address(reader, LIST, &error);
    g_autofree char *prefix = list_reader_setting(reader, LIST, "subject_prefix", &error);
    g_autofree char *emergency = list_reader_setting(reader, LIST, "emergency", &error);
    g_assert_cmpstr(address, ==, "test@example.com");
    g_assert_cmpstr(prefix, ==, "[T] ");
    g_assert_cmpstr(emergency, ==, "no");
    g_autoptr(GString) members = g_string_new(NULL);
    g_assert_true(list_reader_members(reader, LIST, "member", note, members, &error));
    g_assert_cmpstr(members->str, ==, "Anne@example.org  0,bart@example.org Bart 1,");
    static const struct { const char *role, *address; bool is; } cases[] = {
        {"member", "ANNE@example.org", true}, {"owner", "anne@example.org", false},
        {"owner", "owner@example.org", true}, {"member", "nobody@example.org", false}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bool is = !cases[i].is;
        g_assert_true(list_reader_is_member(reader, LIST, cases[i].role, cases[i].address, &is, &error));
        g_assert_cmpint(is, ==, cases[i].is);
    }
}

static void test_faults(Test *test, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(list_reader_open(test->config, &error)); /* it is not made */
    g_assert_nonnull(error);
    g_assert_cmpint(access(test->path, F_OK), !=, 0);
    g_clear_error(&error);
    fill(test);
    g_autoptr(ListReader) reader = list_reader_open(test->config, &error);
    bool is;
    g_assert_null(list_reader_address(reader, "no.example.com", &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_clear_error(&error);
    g_assert_null(list_reader_setting(reader, LIST, "colour", &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_clear_error(&error);
    g_assert_false(list_reader_members(reader, "no.example.com", "member", note, NULL, &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_clear_error(&error);
    g_assert_false(list_reader_is_member(reader, LIST, "king", "a@example.org", &is, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

#define ADD(name, function) g_test_add("/list reader/" name, Test, NULL, set_up, function, tear_down)

SUITE("list_reader")
{
    g_test_init(&argc, &argv, NULL);
    ADD("reads", test_reads);
    ADD("faults", test_faults);
    return g_test_run();
}
