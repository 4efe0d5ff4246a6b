/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The floor under intake: how many durable file creations a second the file
 * system gives a number of writers that do nothing else. usage: floor
 * DIRECTORY WRITERS FILES OCTETS. Each writer is a process that makes a
 * temporary file, writes it, fdatasync()s it, renames it, and fsync()s the
 * directory; prints files a second. */
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

static int create_files(int dir, int writer, long count, const char *octets, size_t length)
{
    for (long i = 0; i < count; i++) {
        char temporary[64], final[64];
        snprintf(temporary, sizeof temporary, "%d-%ld.tmp", writer, i);
        snprintf(final, sizeof final, "%d-%ld", writer, i);
        int fd = openat(dir, temporary, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (fd < 0 || write(fd, octets, length) != (ssize_t)length || fdatasync(fd) != 0 || close(fd) != 0 ||
            renameat(dir, temporary, dir, final) != 0 || fsync(dir) != 0)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s DIRECTORY WRITERS FILES OCTETS\n", argv[0]);
        return 64;
    }
    int writers = atoi(argv[2]);
    long files = atol(argv[3]) / writers;
    size_t length = (size_t)atol(argv[4]);
    char *octets = calloc(1, length);
    double from = now();
    for (int i = 0; i < writers; i++)
        if (fork() == 0) {
            int dir = open(argv[1], O_RDONLY | O_DIRECTORY); /* each its own, as processes have */
            _exit(dir < 0 ? 1 : create_files(dir, i, files, octets, length));
        }
    int failed = 0;
    for (int i = 0; i < writers; i++) {
        int status;
        wait(&status);
        failed |= status;
    }
    if (failed)
        fprintf(stderr, "%s: a writer failed\n", argv[1]);
    else
        printf("%.0f\n", (double)(files * writers) / (now() - from));
    free(octets);
    return failed != 0;
}
