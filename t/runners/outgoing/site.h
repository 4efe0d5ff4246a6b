/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make a small site for tests of the runner out. It has a spool, a configuration, the server of t/tools/sink.h as
 * relay, and the real program as a child. Every failure ends the test.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "switchboard/spool.h"

typedef struct Site {
    char *directory, *config, *log, *top;
    unsigned port;
    int port_fd;
    Spool *spool;
    pid_t sink, out;
} Site;

/* Make a site, in which nothing runs yet. settings is added to the configuration; it may be NULL. */
Site *site_new(const char *settings);
/* End the programs that still run, and remove all files. */
void site_free(Site *site);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Site, site_free)

/* Start the sink with these arguments, ended by NULL; arguments may be NULL. */
void site_start_sink(Site *site, const char *const *arguments);
/* Start the runner out. */
void site_start_out(Site *site);
/* Start another program of the build in place of the runner out. */
void site_start_program(Site *site, const char *name);
/* Send the runner SIGKILL, and wait for its end. */
void site_kill_out(Site *site);
/* Send the runner SIGTERM, wait for its end, and return its exit code. */
int site_stop_out(Site *site);

/* An entry for `count` recipients "rNNNNNN@example.com", from the number `first` on. */
typedef struct SitePost {
    const char *queue;
    size_t first, count;
    const char *message;   /* NULL: a small one */
    const char *transport; /* NULL: none is named */
    gint64 age;            /* seconds since its arrival */
    bool no_sender;
} SitePost;
/* Store an entry. */
void site_post(Site *site, const SitePost *post);

/* Return the number of files in the queue with this suffix. */
size_t site_count(const Site *site, const char *queue, const char *suffix);
/* Wait until site_count() is this number. */
void site_wait(const Site *site, const char *queue, const char *suffix, size_t count);
/* Wait until no file is left in out, whatever its state. */
void site_wait_empty(const Site *site);

/* Return the numbers of all recipients in the order in which the sink got them (of size_t); g_array_unref(). */
GArray *site_order(const Site *site);

/* Return for each of the recipients 0 to count - 1 how often the sink had it with this result; g_free(). result is a
 * word such as "accepted"; NULL: any. *total (total may be NULL) is the sum. */
unsigned *site_received(const Site *site, size_t count, const char *result, size_t *total);
