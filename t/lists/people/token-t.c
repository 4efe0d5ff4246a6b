/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Tokens: made, shown once, checked, noted as used, revoked. */
#include "lists/people/token.h"

#include "t/lists/fixture.h"
#include "t/suite.h"

#define TEXT_LENGTH (4 + 8 + 1 + 64) /* "lrt_", id, "_", secret */

static char *create(World *world, const Token *like, char id[TOKEN_ID_SIZE])
{
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    char *text = token_create(work, like, id, &error);
    g_assert_no_error(error);
    return text;
}

static const Token plain = {.name = (char *)"x", .verbs = (char *)"", .lists = (char *)"", .domains = (char *)""};

/* FAIL_MISSING, with these words. */
static void assert_wrong(World *world, const char *text, int64_t now, const char *words)
{
    GError *error = NULL;
    g_assert_null(token_check(world->store, text, now, &error));
    g_assert_nonnull(strstr(error->message, words));
    assert_failed(FAIL_MISSING, error);
}

static void assert_right(World *world, const char *text, int64_t now, const char *id)
{
    GError *error = NULL;
    g_autoptr(Token) token = token_check(world->store, text, now, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(token->id, ==, id);
}

static int64_t used_at(World *world, const char *id)
{
    GError *error = NULL;
    g_autoptr(Token) token = token_find(world->store, id, &error);
    g_assert_no_error(error);
    return token->used_at;
}

/* The text is as it must be, and no part of its secret is kept. */
static void test_made(World *world, const void *data)
{
    GError *error = NULL;
    char id[TOKEN_ID_SIZE], other_id[TOKEN_ID_SIZE];
    const int64_t before = clock_now(), expires_at = before + 3600 * CLOCK_SECOND;
    const Token like = {.id = "ffffffff", .digest = (char *)"0", .name = (char *)"n \"m\"", .verbs = (char *)"GET POST",
                        .lists = (char *)LIST, .domains = (char *)"example.com other.example", .metrics = true,
                        .made_at = 1, .expires_at = expires_at, .used_at = 5};
    g_autofree char *text = create(world, &like, id), *other = create(world, &like, other_id);
    g_assert_true(g_regex_match_simple("^lrt_[0-9a-f]{8}_[0-9a-f]{64}$", text, 0, 0));
    g_assert_true(strncmp(text + 4, id, 8) == 0);
    g_assert_cmpstr(id, !=, other_id);
    g_assert_cmpstr(text + 13, !=, other + 13);
    g_autoptr(Token) kept = token_find(world->store, id, &error);
    g_assert_no_error(error);
    g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text + 13, -1);
    g_assert_cmpstr(kept->digest, ==, digest);
    g_assert_cmpstr(kept->name, ==, like.name);
    g_assert_cmpstr(kept->verbs, ==, like.verbs);
    g_assert_cmpstr(kept->lists, ==, like.lists);
    g_assert_cmpstr(kept->domains, ==, like.domains);
    g_assert_true(kept->metrics);
    g_assert_cmpint(kept->made_at, >=, before);
    g_assert_cmpint(kept->expires_at, ==, expires_at);
    g_assert_cmpint(kept->used_at, ==, 0);
}

/* Whichever character is another one, it is no token. */
static void test_each_character(World *world, const void *data)
{
    char id[TOKEN_ID_SIZE];
    const int64_t now = clock_now();
    g_autofree char *text = create(world, &plain, id);
    g_assert_cmpuint(strlen(text), ==, TEXT_LENGTH);
    for (size_t at = 0; at < TEXT_LENGTH; at++) {
        static const char others[] = "0fF-\xff";
        for (const char *other = others; *other; other++) {
            g_autofree char *changed = g_strdup(text);
            changed[at] = *other;
            if (strcmp(changed, text) != 0)
                assert_wrong(world, changed, now, "");
        }
    }
    assert_right(world, text, now, id);
}

static void test_no_tokens(World *world, const void *data)
{
    char id[TOKEN_ID_SIZE], other_id[TOKEN_ID_SIZE];
    const int64_t now = clock_now();
    g_autofree char *text = create(world, &plain, id), *other = create(world, &plain, other_id);
    g_autofree char *longer = g_strconcat(text, "0", NULL), *shorter = g_strndup(text, TEXT_LENGTH - 1);
    g_autofree char *before = g_strconcat(" ", text, NULL), *behind = g_strconcat(text, "\n", NULL);
    g_autofree char *mixed = g_strdup_printf("lrt_%s_%s", id, other + 13);
    g_autofree char *stored = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text + 13, -1);
    g_autofree char *by_digest = g_strdup_printf("lrt_%s_%s", id, stored);
    const char *const wrong[] = {"",     "lrt_",  "x",    id,     text + 4, text + 13,
                                 longer, shorter, before, behind, mixed,    by_digest};
    for (size_t at = 0; at < G_N_ELEMENTS(wrong); at++)
        assert_wrong(world, wrong[at], now, "");
    assert_right(world, other, now, other_id);
}

static void test_expires(World *world, const void *data)
{
    GError *error = NULL;
    char id[TOKEN_ID_SIZE], never_id[TOKEN_ID_SIZE];
    const int64_t end = clock_now() + 3600 * CLOCK_SECOND;
    Token like = plain;
    like.expires_at = end;
    g_autofree char *text = create(world, &like, id), *never = create(world, &plain, never_id);
    assert_right(world, text, end - 1, id);
    assert_wrong(world, text, end, "expired");
    assert_wrong(world, text, end + 1, "expired");
    assert_right(world, never, INT64_MAX, never_id);
    text[TEXT_LENGTH - 1] = text[TEXT_LENGTH - 1] == '0' ? '1' : '0';
    assert_wrong(world, text, end + 1, "secret"); /* that it has expired is not told to who does not know it */
    like.expires_at = clock_now() - CLOCK_SECOND;
    g_autoptr(Work) work = world_work(world);
    g_assert_null(token_create(work, &like, id, &error));
    assert_failed(FAIL_NEVER, error);
}

/* At most once a minute, and only when it was right. */
static void test_last_use(World *world, const void *data)
{
    char id[TOKEN_ID_SIZE];
    const int64_t first = clock_now(), minute = 60 * CLOCK_SECOND;
    g_autofree char *text = create(world, &plain, id), *wrong = g_strdup(text);
    wrong[TEXT_LENGTH - 1] = wrong[TEXT_LENGTH - 1] == '0' ? '1' : '0';
    assert_wrong(world, wrong, first, "secret");
    g_assert_cmpint(used_at(world, id), ==, 0);
    const struct {
        int64_t now, used;
    } uses[] = {{first, first},
                {first + minute, first},
                {first + minute + 1, first + minute + 1},
                {first + 2 * minute, first + minute + 1},
                {first, first + minute + 1}}; /* the clock was set back */
    for (size_t at = 0; at < G_N_ELEMENTS(uses); at++) {
        assert_right(world, text, uses[at].now, id);
        g_assert_cmpint(used_at(world, id), ==, uses[at].used);
    }
}

static void test_revoked(World *world, const void *data)
{
    GError *error = NULL;
    char id[TOKEN_ID_SIZE], other_id[TOKEN_ID_SIZE];
    g_autofree char *text = create(world, &plain, id), *other = create(world, &plain, other_id);
    g_autoptr(Work) work = world_work(world);
    assert_ok(token_revoke(work, id, &error), error);
    assert_wrong(world, text, clock_now(), id);
    assert_right(world, other, clock_now(), other_id);
    g_assert_false(token_revoke(work, id, &error));
    assert_failed(FAIL_MISSING, error);
}

SUITE("token")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/token/made", test_made);
    WORLD_TEST("/token/each character counts", test_each_character);
    WORLD_TEST("/token/no tokens", test_no_tokens);
    WORLD_TEST("/token/expires", test_expires);
    WORLD_TEST("/token/last use", test_last_use);
    WORLD_TEST("/token/revoked", test_revoked);
    return g_test_run();
}
