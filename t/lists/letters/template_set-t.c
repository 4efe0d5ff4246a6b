/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/template_set.h"

#include "lists/letters/letter.h"
#include "lists/letters/template_host.h"
#include "lists/letters/template_name.h"
#include "lists/people/join.h"
#include "t/lists/fixture.h"
#include "t/suite.h"

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

/* URIs that could name a text are taken, also where there is none yet; those that climb, are empty, or have control
 * characters are not. */
static void test_uris(World *world, const void *data)
{
    static const char *const good[] = {"mailman:///welcome.txt", "mailman:///de/welcome.txt", "mailman:///new.txt",
                                       "mailman:///$list/$language/welcome.txt"};
    static const char *const bad[] = {
        "mailman:///", "mailman:////", "mailman:///../", "mailman:///..", "mailman:///../welcome.txt",
        "mailman:///de/../welcome.txt", "mailman:///./welcome.txt", "mailman:///de//welcome.txt", "mailman:///de/",
        "mailman:///%2e%2e/welcome.txt", "mailman:///%2E./x", "mailman:///x%00", "mailman:///x%0a", "mailman:///x\n",
        "mailman:///x\x7f", "mailman:///x%", "mailman:", "mailman://welcome.txt", "http://a.example/x%00",
        "http://a.example/x\r\nHost: b", "file:///etc/passwd%00", "file:///../etc/passwd"};
    static const char *const places[] = {LIST, "@example.com", ""};
    g_autoptr(Work) work = world_work(world);
    for (size_t place = 0; place < G_N_ELEMENTS(places); place++) {
        TemplateText text = {.name = (char *)"list:user:notice:welcome", .place = (char *)places[place]};
        GError *error = NULL;
        for (size_t at = 0; at < G_N_ELEMENTS(good); at++) {
            text.uri = (char *)good[at];
            assert_ok(template_set(work, &text, &error), error);
        }
        for (size_t at = 0; at < G_N_ELEMENTS(bad); at++) {
            g_test_message("%s", bad[at]);
            text.uri = (char *)bad[at];
            g_assert_false(template_set(work, &text, &error));
            assert_failed(FAIL_NEVER, error);
        }
    }
}

/* Letters whose answer concerns more than a list are the site's alone. A row of a list or domain that is there all the
 * same does not count. */
static void test_owners(World *world, const void *data)
{
    static const char *const names[] = {"list:user:action:change", "list:user:action:change-new",
                                        "list:user:notice:change", "domain:admin:notice:new-list",
                                        "list:user:notice:welcome"};
    static const char *const places[] = {LIST, "@example.com", ""};
    static const bool allowed[][3] = {{false, false, true}, {false, false, true}, {false, false, true},
                                      {false, true, true}, {true, true, true}};
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++)
        for (size_t place = 0; place < G_N_ELEMENTS(places); place++) {
            g_autofree char *said = g_strdup_printf("said by \"%s\"\n", places[place]);
            TemplateText text = {.name = (char *)names[at], .place = (char *)places[place], .text = said};
            g_assert_cmpint(template_set(work, &text, &error), ==, allowed[at][place]);
            if (error)
                g_assert_nonnull(strstr(error->message, allowed[at][1] ? "not a list's to set" : "the site's alone"));
            if (error)
                assert_failed(FAIL_NEVER, error);
            text.language = (char *)"", text.uri = (char *)"";
            assert_ok(template_text_put(world->store, &text, &error), error);
        }
    g_autofree char *change = letter_text(work, world->list, NULL, "confirm_change_old", &error);
    g_autofree char *welcome = letter_text(work, world->list, NULL, "welcome", &error);
    g_assert_nonnull(strstr(change, "said by \"\""));
    g_assert_nonnull(strstr(welcome, "said by \"" LIST "\""));
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
    const Joiner joiner = {.address = mailbox_of("anne@example.org"), .name = "Anne"};
    assert_ok(join_ask(work, world->list, &joiner, &made, &error), error);
    g_autofree char *asked = world_letters(world, work), *token = world_token(asked), *welcome = NULL;
    g_autofree char *wanted = g_strdup_printf("confirm=test-confirm+%s@example.com;", token);
    g_assert_nonnull(strstr(asked, wanted));
    g_assert_cmpint(world_confirm(world, token, &welcome), ==, SUBSCRIPTION_DONE);
    g_assert_nonnull(strstr(welcome, "name=Anne; anne@example.org; test-request@example.com;"));
}

/* Which URIs a site with these hosts takes for a list and a domain: 'p' only with a public address, '+' with any. */
static void test_hosts(void)
{
    static const struct {
        const char *hosts, *uri;
        char allowed;
    } cases[] = {
        {"", "http://localhost/x", '-'},
        {"localhost", "http://localhost/x", '+'},
        {"localhost", "https://LOCALHOST/x", '+'},
        {"localhost", "http://localhost:443/x", '-'},
        {"localhost", "http://localhost:8000/x", '-'},
        {"localhost:8000", "http://localhost:8000/x", '+'},
        {"localhost:8000", "http://localhost/x", '-'},
        {"localhost:8000", "http://127.0.0.1:8000/x", '-'},
        {"a.example 127.0.0.1:1", "http://127.0.0.1:1/", '+'},
        {"a.example 127.0.0.1:1", "http://a.example.evil.example/", '-'},
        {"a.example", "http://a.example@evil.example/", '-'},
        {"a.example", "http://evil.example#@a.example/", '-'},
        {"a.example", "http://evil.example\\@a.example/", '-'},
        {"a.example", "http://a.example /", '-'},
        {"[::1]:8000", "http://[::1]:8000/x", '+'},
        {"[::1]", "http://[::1]:8000/x", '-'},
        {"*", "http://127.0.0.1:1/", 'p'},
        {"* localhost", "http://localhost/", '+'},
        {"* localhost", "http://localhost:1/", 'p'},
        {"*", "http://user@a.example/", '-'},
        {"*", "http://a.exa\xc3\xa4mple/", '-'},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_auto(GStrv) hosts = g_strsplit(cases[at].hosts, " ", -1);
        const char *const *words = (const char *const *)hosts;
        for (int domain = 0; domain < 2; domain++) {
            bool public_only;
            GError *error = NULL;
            bool allowed = template_host_allows(words, domain ? "@example.com" : LIST, cases[at].uri, &public_only,
                                                &error);
            if ((!allowed ? '-' : public_only ? 'p' : '+') != cases[at].allowed)
                g_error("%s with the hosts %s", cases[at].uri, cases[at].hosts);
            if (!allowed)
                assert_failed(FAIL_NEVER, error);
            assert_ok(template_host_allows(words, "", "http://127.0.0.1:1/", &public_only, &error), error);
            g_assert_false(public_only);
        }
    }
    g_assert_true(template_host_valid("*") && template_host_valid("a.example") && template_host_valid("[::1]:80"));
    g_assert_false(template_host_valid("http://a.example/") || template_host_valid("a.example:0") ||
                   template_host_valid("[a.example]") || template_host_valid("*.example") ||
                   template_host_valid("a.example:") || template_host_valid("user@a.example"));
}

SUITE("template_set")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/template_set/places", World, NULL, world_open, test_places, world_close);
    g_test_add_func("/template_set/hosts", test_hosts);
    g_test_add("/template_set/uris", World, NULL, world_open, test_uris, world_close);
    g_test_add("/template_set/owners", World, NULL, world_open, test_owners, world_close);
    g_test_add("/template_set/names of Mailman", World, NULL, world_open, test_mailman_names, world_close);
    return g_test_run();
}
