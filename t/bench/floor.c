/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The floor under intake: how many durable file creations a second the file
 * system gives a number of writers that do nothing else. usage: floor
 * DIRECTORY WRITERS FILES OCTETS. Each writer is a process that makes a
 * temporary file, writes it, fdatasync()s it, and then renames it and fsync()s the
 * directory, or (as our intake) the other way about. Both ways are measured, each with
 * FILES files; prints the faster one's files a second, and on standard error both. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int create_files(int dir, int writer, long count, const char *octets, size_t length, int rename_first)
{
    for (long i = 0; i < count; i++) {
        char temporary[64], final[64];
        snprintf(temporary, sizeof temporary, "%d-%ld-%d.tmp", writer, i, rename_first);
        snprintf(final, sizeof final, "%d-%ld-%d", writer, i, rename_first);
        int fd = openat(dir, temporary, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (fd < 0 || write(fd, octets, length) != (ssize_t)length || fdatasync(fd) != 0 || close(fd) != 0)
            return 1;
        if (!rename_first && fsync(dir) != 0)
            return 1;
        if (renameat(dir, temporary, dir, final) != 0 || (rename_first && fsync(dir) != 0))
            return 1;
    }
    return 0;
}

/* Files a second; 0: a writer failed. */
static double measure(char **argv, int rename_first)
{
    int writers = atoi(argv[2]);
    long files = atol(argv[3]) / writers;
    size_t length = (size_t)atol(argv[4]);
    char *octets = calloc(1, length);
    double from = now();
    for (int i = 0; i < writers; i++)
        if (fork() == 0) {
            int dir = open(argv[1], O_RDONLY | O_DIRECTORY); /* each its own, as processes have */
            _exit(dir < 0 ? 1 : create_files(dir, i, files, octets, length, rename_first));
        }
    int failed = 0;
    for (int i = 0; i < writers; i++) {
        int status;
        wait(&status);
        failed |= status;
    }
    free(octets);
    return failed ? 0 : (double)(files * writers) / (now() - from);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s DIRECTORY WRITERS FILES OCTETS\n", argv[0]);
        return 64;
    }
    double renamed = measure(argv, 1), synced = measure(argv, 0);
    if (renamed == 0 || synced == 0) {
        fprintf(stderr, "%s: a writer failed\n", argv[1]);
        return 1;
    }
    fprintf(stderr, "renamed, then synced: %.0f; synced, then renamed: %.0f\n", renamed, synced);
    printf("%.0f\n", renamed > synced ? renamed : synced);
    return 0;
}
