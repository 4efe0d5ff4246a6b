/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A small site for tests of the runner out: a spool, a configuration, the sink
 * of t/tools as relay, and the real program as a child.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "switchboard/spool.h"

typedef struct Site {
    char *directory, *config, *log, *top;
    unsigned port;
    Spool *spool;
    pid_t sink, out;
} Site;

/* settings is added to the configuration; it may be NULL. */
Site *site_new(const char *settings);
/* Ends what still runs, removes everything. */
void site_free(Site *site);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Site, site_free)

void site_start_sink(Site *site, const char *const *arguments); /* NULL-terminated, or NULL */
void site_start_out(Site *site);
void site_start_program(Site *site, const char *name); /* another one in its place, of the build */
void site_kill_out(Site *site); /* -9 */
int site_stop_out(Site *site);  /* SIGTERM; the exit code */

/* Stores an entry in queue for count recipients "rNNNNNN@example.com" from number
 * first on. transport may be NULL. Its arrival is age seconds ago. */
typedef struct SitePost {
    const char *queue;
    size_t first, count;
    const char *message; /* NULL: a small one */
    const char *transport;
    gint64 age;
    bool no_sender;
} SitePost;
void site_post(Site *site, const SitePost *post);

/* Files in queue with this suffix. */
size_t site_count(const Site *site, const char *queue, const char *suffix);
/* Waits until so many files are there. */
void site_wait(const Site *site, const char *queue, const char *suffix, size_t count);
/* Waits until none are left in out, whatever their state. */
void site_wait_empty(const Site *site);

/* The numbers of all recipients in the order in which the sink got them (of size_t; g_array_unref). */
GArray *site_order(const Site *site);

/* How often each recipient was accepted (result NULL: any result) by the sink,
 * from number 0 to count - 1; free with g_free(). total may be NULL. */
unsigned *site_received(const Site *site, size_t count, const char *result, size_t *total);
