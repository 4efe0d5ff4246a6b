/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Measure the cost of listing a large queue: usage: listing DIRECTORY ENTRIES.
 * Makes ENTRIES empty files with names of entries in DIRECTORY/in and opens
 * the inboxes of all slices for N = 1, 2, 8; prints seconds and processor time for each, beside a plain
 * readdir. Then N = 8 again with one file added, for the cost of a new entry once the watch is there. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "switchboard/claim.h"

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void make_entries(Queue *queue, long count)
{
    for (long i = 0; i < count; i++) {
        g_autofree char *seed = g_strdup_printf("%ld", i);
        g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA1, seed, -1);
        g_autofree char *file = g_strdup_printf("%010ld.%06ld+%s.msg", 1700000000 + i / 1000, i % 1000, hash);
        int fd = openat(queue_fd(queue), file, O_CREAT | O_WRONLY, 0600);
        if (fd >= 0)
            close(fd);
    }
}

static void plain_readdir(const char *path)
{
    int64_t from = clock_monotonic();
    DIR *dir = opendir(path);
    long seen = 0;
    while (dir && readdir(dir))
        seen++;
    if (dir)
        closedir(dir);
    printf("plain readdir of %ld names: %.3f s\n", seen, (double)(clock_monotonic() - from) / 1e6);
}

static void open_slices(Spool *spool, unsigned count)
{
    int64_t from = clock_monotonic();
    double cpu = cpu_seconds(), longest = 0;
    Inbox *inboxes[SLICE_COUNT_MAX];
    for (unsigned i = 0; i < count; i++) {
        int64_t start = clock_monotonic();
        inboxes[i] = inbox_open(spool, "in", (Slice){i, count}, (Wakeup){0}, NULL);
        longest = MAX(longest, (double)(clock_monotonic() - start) / 1e6);
    }
    printf("N = %u: recover and list all slices: %.3f s (%.3f s processor), one slice at most %.3f s\n", count,
           (double)(clock_monotonic() - from) / 1e6, cpu_seconds() - cpu, longest);
    Queue *queue = inbox_queue(inboxes[0]);
    static const char added[] = "1600000000.000000+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33";
    g_autofree char *temporary = g_strdup_printf("%s.tmp", added), *ready = g_strdup_printf("%s.msg", added);
    int fd = openat(queue_fd(queue), temporary, O_CREAT | O_WRONLY, 0600);
    close(fd);
    renameat(queue_fd(queue), temporary, queue_fd(queue), ready);
    from = clock_monotonic();
    for (unsigned i = 0; i < count; i++)
        inbox_refresh(inboxes[i], NULL);
    printf("N = %u: a new entry, all slices told: %.0f us\n", count, (double)(clock_monotonic() - from));
    unlinkat(queue_fd(queue), ready, 0);
    for (unsigned i = 0; i < count; i++)
        inbox_free(inboxes[i]);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s DIRECTORY ENTRIES\n", argv[0]);
        return 64;
    }
    g_autoptr(Spool) spool = spool_open(argv[1], NULL);
    Queue *queue = spool ? spool_queue(spool, "in", NULL) : NULL;
    if (!queue) {
        fprintf(stderr, "%s: cannot be used as a spool\n", argv[1]);
        return 66;
    }
    make_entries(queue, atol(argv[2]));
    g_autofree char *path = g_build_filename(argv[1], "in", NULL);
    plain_readdir(path);
    plain_readdir(path);
    for (unsigned count = 1; count <= 8; count = count == 1 ? 2 : count * 4)
        open_slices(spool, count);
    return 0;
}
