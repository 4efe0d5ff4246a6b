/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Set up a store with one list, test@example.com, and posts to it, for tests of rules and handlers. bench_post() makes
 * the post that a test hands to a rule or a handler.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "posting/post.h"
#include "store/lists/domain.h"
#include "t/mailbox.h"

typedef struct Bench {
    char *folder, *path;
    Store *store;
    List *list; /* a copy of its own: tests change it as they like */
    Message *message;
    Post post;
} Bench;

static inline void bench_set_up(Bench *bench, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    bench->folder = g_dir_make_tmp("posting-XXXXXX", &error);
    g_assert_no_error(error);
    bench->path = g_build_filename(bench->folder, "test.db", NULL);
    bench->store = store_open("sqlite", bench->path, true, &error);
    g_assert_no_error(error);
    g_assert_true(domain_create(bench->store, "example.com", NULL, &error));
    bench->list = list_create(bench->store, "test@example.com", &error);
    g_assert_no_error(error);
    g_assert_true(member_add(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of("Anne@example.org"), "Anne",
                             NULL, &error));
    g_assert_true(
        member_add(bench->store, "test.example.com", ROLE_MEMBER, mailbox_of("bart@example.org"), NULL, NULL, &error));
    g_assert_true(
        member_add(bench->store, "test.example.com", ROLE_OWNER, mailbox_of("olga@example.org"), NULL, NULL, &error));
    post_init(&bench->post);
    bench->message = NULL;
}

static inline void bench_clear_post(Bench *bench)
{
    post_clear(&bench->post);
    g_clear_pointer(&bench->message, message_free);
}

static inline void bench_tear_down(Bench *bench, gconstpointer data)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    bench_clear_post(bench);
    list_free(bench->list);
    store_free(bench->store);
    for (unsigned at = 0; at < G_N_ELEMENTS(suffixes); at++) {
        g_autofree char *file = g_strconcat(bench->path, suffixes[at], NULL);
        g_remove(file);
    }
    g_rmdir(bench->folder);
    g_free(bench->folder);
    g_free(bench->path);
}

/* Return a new post of these bytes from anne@example.org, in place of the one before. It belongs to the bench. */
static inline Post *bench_post_bytes(Bench *bench, GBytes *octets)
{
    bench_clear_post(bench);
    bench->message = message_new(octets);
    post_init(&bench->post);
    Post *post = &bench->post;
    post->store = bench->store;
    post->list = bench->list;
    post->message = bench->message;
    post->sender = "anne@example.org";
    post->recipient = "test@example.com";
    post->trace = "0123456789abcdef0123456789abcdef01234567";
    post->site_owner = "postmaster@example.com";
    post->now = 1000000;
    post->size = g_bytes_get_size(octets);
    return post;
}

/* Return a new post of this text, as bench_post_bytes() does. */
static inline Post *bench_post(Bench *bench, const char *text)
{
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    return bench_post_bytes(bench, octets);
}

#define BENCH_TEST(path, function) g_test_add(path, Bench, NULL, bench_set_up, function, bench_tear_down)
