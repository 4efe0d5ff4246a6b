/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/template_set.h"

#include "lists/join.h"
#include "lists/template_name.h"
#include "t/lists/fixture.h"

static bool set(World *world, const char *place, GError **error)
{
    const TemplateText text = {.name = (char *)"list:user:notice:welcome", .place = (char *)place,
                               .text = (char *)"Welcome.\n"};
    g_autoptr(Work) work = world_work(world);
    return template_set(work, &text, error);
}

/* Nobody sets a text for a place that is not there: a list or domain that is made later would begin with it. */
static void test_places(World *world, const void *data)
{
    static const char *const gone[] = {"gone.example.com", "@gone.example"};
    static const char *const there[] = {LIST, "@example.com", ""};
    GError *error = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(gone); at++) {
        g_assert_false(set(world, gone[at], &error));
        assert_failed(FAIL_MISSING, error);
    }
    for (size_t at = 0; at < G_N_ELEMENTS(there); at++)
        assert_ok(set(world, there[at], &error), error);
    g_autoptr(GPtrArray) all = template_text_all(world->store, NULL, &error);
    assert_ok(all != NULL, error);
    g_assert_cmpuint(all->len, ==, G_N_ELEMENTS(there));
}

/* A site that changes over brings texts with the names that Mailman has for these. */
static void test_mailman_names(World *world, const void *data)
{
    static const char *const names[] = {"list:user:action:subscribe", "list:user:notice:welcome"};
    const char *const texts[] = {"confirm=$confirm_email;\n    confirm $token\n",
                                  "name=$user_name; $user_email; $list_requests;\n"};
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        const TemplateText text = {.name = (char *)names[at], .place = (char *)"", .text = (char *)texts[at]};
        g_autoptr(Work) work = world_work(world);
        assert_ok(template_check(template_name_find(names[at]), texts[at], &error), error);
        assert_ok(template_set(work, &text, &error), error);
    }
    g_autoptr(Work) work = world_work(world);
    const Joiner joiner = {.address = "anne@example.org", .name = "Anne"};
    assert_ok(join_ask(work, world->list, &joiner, &made, &error), error);
    g_autofree char *asked = world_letters(world, work), *token = world_token(asked), *welcome = NULL;
    g_autofree char *wanted = g_strdup_printf("confirm=test-confirm+%s@example.com;", token);
    g_assert_nonnull(strstr(asked, wanted));
    g_assert_cmpint(world_confirm(world, token, &welcome), ==, SUBSCRIPTION_DONE);
    g_assert_nonnull(strstr(welcome, "name=Anne; anne@example.org; test-request@example.com;"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/template_set/places", World, NULL, world_open, test_places, world_close);
    g_test_add("/template_set/names of Mailman", World, NULL, world_open, test_mailman_names, world_close);
    return g_test_run();
}
