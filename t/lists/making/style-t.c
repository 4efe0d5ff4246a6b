/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Styles: those that are built in, by both names, and a site's own; what config check says of wrong ones. */
#include <string.h>
#include <unistd.h>

#include "lists/making/list_make.h"
#include "lists/making/style.h"
#include "store/lists/list_setting.h"
#include "t/lists/fixture.h"
#include "t/suite.h"

static Config *config_of(const char *text, GError **error)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("style-XXXXXX.conf", &path, NULL);
    g_assert_true(fd >= 0 && g_file_set_contents(path, text, -1, NULL));
    close(fd);
    Config *config = config_load(path, true, error);
    unlink(path);
    return config;
}

static List *make(World *world, const Config *config, const char *address, const char *style, GError **error)
{
    world->site.config = config;
    g_autoptr(Work) work = world_work(world);
    const NewList new = {.address = address, .style = style};
    g_assert_true(work_begin(work, NULL));
    g_autoptr(List) list = list_make(work, &new, error);
    if (!list) {
        work_cancel(work);
        return NULL;
    }
    g_assert_true(work_commit(work, NULL, error));
    return g_steal_pointer(&list);
}

static void test_built_in(World *world, const void *data)
{
    GError *error = NULL;
    g_autoptr(Config) config = config_of("[site]\nuser = nobody\n", &error);
    g_assert_no_error(error);
    g_autoptr(List) talk = make(world, config, "talk@example.com", "legacy-default", &error);
    g_assert_no_error(error);
    g_assert_cmpint(talk->settings->default_member_action, ==, ACTION_DEFER);
    g_assert_cmpint(talk->settings->default_nonmember_action, ==, ACTION_HOLD);
    g_assert_true(talk->settings->advertised && talk->settings->allow_list_posts);
    g_autoptr(List) news = make(world, config, "news@example.com", "announce", &error);
    g_assert_no_error(error);
    g_assert_cmpint(news->settings->default_member_action, ==, ACTION_HOLD);
    g_assert_false(news->settings->allow_list_posts);
    g_autoptr(List) closed = make(world, config, "closed@example.com", "private-default", &error);
    g_assert_no_error(error);
    g_assert_false(closed->settings->advertised);
    g_assert_cmpint(closed->settings->archive_policy, ==, ARCHIVE_PRIVATE);
    g_assert_cmpint(closed->settings->subscription_policy, ==, POLICY_CONFIRM_THEN_MODERATE);
    g_assert_null(make(world, config, "none@example.com", "newsletter", &error));
    g_assert_nonnull(strstr(error->message, "discussion, announce, private"));
    assert_failed(FAIL_NEVER, error);
    g_assert_null(list_by_address(world->store, "none@example.com", &error)); /* nothing half done */
    assert_failed(FAIL_MISSING, error);
}

static void test_of_the_site(World *world, const void *data)
{
    GError *error = NULL;
    g_autoptr(Config) config = config_of("[style.news]\nabout = News\nbase = announce\nsubject_prefix = \"[news] \"\n"
                                         "digest_period = monthly\nmsg_footer = one\\ntwo\nmoderator_password = open\n"
                                         "[style.announce]\nmax_message_size = 77\n", &error);
    g_assert_no_error(error);
    g_autoptr(List) list = make(world, config, "news@example.com", "news", &error);
    g_assert_no_error(error);
    g_assert_cmpint(list->settings->default_member_action, ==, ACTION_HOLD);
    g_assert_cmpstr(list->settings->subject_prefix, ==, "[news] ");
    g_assert_cmpint(list->settings->digest_period, ==, PERIOD_MONTHLY);
    g_assert_cmpstr(list->settings->msg_footer, ==, "one\ntwo");
    g_assert_true(g_str_has_prefix(list->settings->moderator_password, "$")); /* only its hash is kept */
    g_autoptr(List) changed = make(world, config, "changed@example.com", "legacy-announce", &error);
    g_assert_no_error(error);
    g_assert_cmpint(changed->settings->max_message_size, ==, 77);
    g_assert_cmpint(changed->settings->default_member_action, ==, ACTION_HOLD);
    g_autofree Style *all = style_all(config);
    g_assert_cmpstr(all[0].mailman_name, ==, "legacy-default");
    g_assert_cmpstr(all[3].name, ==, "news");
    g_assert_cmpstr(all[3].about, ==, "News");
    g_assert_null(all[4].name);
}

static void test_wrong(World *world, const void *data)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"[style.x]\nnothing = 1\n", "[style.x] nothing: found an unknown key"},
        {"[style.x]\n\ndigest_period = hourly\n", ":3: [style.x] digest_period"},
        {"[style.x]\nbase = news\n", "discussion"},
        {"[style.x]\ntransport = nowhere\n", "[transport.NAME]"},
        {"[style.x]\naccept_these_nonmembers = ^(\n", "no regular expression"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(wrong); at++) {
        GError *error = NULL;
        g_assert_null(config_of(wrong[at].text, &error));
        if (!strstr(error->message, wrong[at].says))
            g_error("%s", error->message);
        assert_failed(FAIL_CONFIG, error);
    }
}

SUITE("style")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/style/built-in", test_built_in);
    WORLD_TEST("/style/of-the-site", test_of_the_site);
    WORLD_TEST("/style/wrong", test_wrong);
    return g_test_run();
}
