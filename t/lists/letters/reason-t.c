/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Reasons for people in their language. */
#include "lists/letters/reason.h"
#include "t/lists/fixture.h"
#include "t/suite.h"

static void expect(World *world, const char *language, const char *english, const char *translated)
{
    g_autoptr(Work) work = world_work(world);
    g_autofree char *text = reason_translate(work, world->list, language, english);
    g_assert_cmpstr(text, ==, translated);
}

static void test_values(World *world, const void *data)
{
    expect(world, "de", "The sender anne@example.org is not a member of the list.",
           "anne@example.org ist kein Mitglied der Liste.");
    expect(world, "fr", "The message has 5000 octets; the list allows 4 KiB.",
           "Le message compte 5000 octets ; la liste en admet 4 Kio.");
}

static void test_settings(World *world, const void *data)
{
    expect(world, "de", "topics: there is no topic \"cats\"; there are: \"New cars\",boats",
           "topics: Es gibt kein Thema \"cats\"; es gibt: \"New cars\",boats");
}

static void test_several(World *world, const void *data)
{
    expect(world, "es", "The message has no subject. The list is not named in To or Cc.",
           "El mensaje no tiene asunto. La lista no figura en Para ni en Cc.");
    expect(world, "de", "The message has no subject.\n    The message has no sender.",
           "Die Mail hat keinen Betreff.\n    Die Mail hat keinen Absender.");
}

static void test_others(World *world, const void *data)
{
    expect(world, "de", "We take no recipes: $5 (see \\1).", "We take no recipes: $5 (see \\1).");
    expect(world, "en", "The message has no subject.", "The message has no subject.");
    expect(world, "pl", "The message has no subject.", "The message has no subject.");
    expect(world, "de", "The sender \\1$sender is banned.", "\\1$sender ist gesperrt.");
}

SUITE("reason")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/reason/values stay", World, NULL, world_open, test_values, world_close);
    g_test_add("/reason/settings", World, NULL, world_open, test_settings, world_close);
    g_test_add("/reason/several, joined in any way", World, NULL, world_open, test_several, world_close);
    g_test_add("/reason/what is not ours stays", World, NULL, world_open, test_others, world_close);
    return g_test_run();
}
