/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/template_set.h"

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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/template_set/places", World, NULL, world_open, test_places, world_close);
    return g_test_run();
}
