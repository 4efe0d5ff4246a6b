/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * trail DIR DAYS BATCH [SIZE]: what the trail takes and how long it is searched after so many days of a list like
 * linux-kernel: 1,000 posts a day, each to 3,100 members, so many of them in a transaction. One in 50 is put off at
 * first, and has its second attempt among the deliveries of a later post. DIR is removed before. See t/bench/README.md.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/trail/trail.h"
#include "lists/posts/trace.h"
#include "switchboard/meta.h"

#define POSTS 1000 /* a day */
#define MEMBERS 3100
#define DOMAINS 400
#define LOOKED_UP 40
#define LATE 50 /* one in so many is put off */
#define LATER 7 /* posts until its second attempt */
#define LIST "linux-kernel.vger.kernel.org"

static double processor_time(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* ---- writing ---- */

static char *trace_of(unsigned post)
{
    return g_strdup_printf("%04x%08x", (post * 40503u) & 0xffff, post * 2654435761u);
}

static void add_member(GString *line, unsigned member)
{
    /* A third is at one large site, the others at many. */
    unsigned domain = member % 3 == 0 ? 0 : 1 + (member * 7919u) % DOMAINS;
    g_string_append_printf(line, "member%u.%x@mail%u.example.%s", member, member * 2654435761u, domain,
                           domain % 2 ? "org" : "com");
}

static void note_delivery(GString *line, const char *trace, unsigned first, unsigned count, bool sent, GRand *chance)
{
    g_string_printf(line, "%s list=" LIST " queue=%s to=<", trace, sent ? "out" : "retry");
    for (unsigned i = 0; i < count; i++) {
        g_string_append(line, i > 0 ? ">,<" : "");
        add_member(line, (first + i) % MEMBERS);
    }
    g_string_append_printf(line,
                           "> relay=mx%u.example.org[192.0.2.%u]:25 conn_use=%d delay=%.1f delays=%.2f/%.2f/0/%.2f",
                           first % 9, first % 250, g_rand_int_range(chance, 2, 60), g_rand_double(chance) * 20,
                           g_rand_double(chance), g_rand_double(chance) * 9, g_rand_double(chance));
    g_string_append_printf(line,
                           sent ? " dsn=2.0.0 status=sent (250 2.0.0 OK %u %08x%08x-%08xsi%u - smtp)"
                                : " dsn=4.7.28 status=deferred (421 4.7.28 Our system has detected an unusual rate of "
                                  "mail %u %08x%08x-%08xsi%u - smtp)",
                           g_rand_int(chance) % 100000, g_rand_int(chance), g_rand_int(chance), g_rand_int(chance),
                           g_rand_int(chance) % 10000000);
    trail_note(line->str);
}

static void note_post(GString *line, unsigned post, unsigned batch, GRand *chance)
{
    g_autofree char *trace = trace_of(post), *old = post >= LATER ? trace_of(post - LATER) : NULL;
    g_string_printf(line, "%s list=" LIST " queue=in message-id=<%u.patch@example.net> from=<p%u@example.net> size=%u",
                    trace, post, post % 700, g_rand_int(chance) % 50000);
    trail_note(line->str);
    g_string_printf(line, "%s list=" LIST " queue=pipeline post=%u nrcpt=%u result=sent", trace, post, MEMBERS);
    trail_note(line->str);
    for (unsigned at = 0; at < MEMBERS; at += batch) {
        bool late = (at / batch) % LATE == post % LATE;
        note_delivery(line, trace, at, MIN(batch, MEMBERS - at), !late, chance);
        if (old && (at / batch) % LATE == (post - LATER) % LATE)
            note_delivery(line, old, at, MIN(batch, MEMBERS - at), true, chance);
    }
}

static uint64_t octets_in(const char *directory, bool forget)
{
    uint64_t octets = 0;
    g_autoptr(GDir) folder = g_dir_open(directory, 0, NULL);
    for (const char *name; folder && (name = g_dir_read_name(folder));) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        struct stat status;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (fstat(fd, &status) == 0)
            octets += (uint64_t)status.st_size;
        if (forget)
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
    return octets;
}

/* Nothing is written to these files any more, and that is known by their times. */
static void age(const char *directory)
{
    g_autoptr(GDir) folder = g_dir_open(directory, 0, NULL);
    const struct timespec times[] = {{.tv_sec = time(NULL) - 86400}, {.tv_sec = time(NULL) - 86400}};
    for (const char *name; folder && (name = g_dir_read_name(folder));) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        utimensat(AT_FDCWD, path, times, 0);
    }
}

/* ---- looking up ---- */

static int by_size(const void *one, const void *other)
{
    const double *a = one, *b = other;
    return (*a > *b) - (*a < *b);
}

/* One member's fate of so many posts. Cold: none of the files is in memory before each. */
static void look_up(const char *directory, unsigned posts, bool cold)
{
    double used[LOOKED_UP], took[LOOKED_UP];
    for (unsigned i = 0; i < LOOKED_UP; i++) {
        unsigned post = (unsigned)((uint64_t)posts * (2 * i + 1) / (2 * LOOKED_UP));
        g_autofree char *key = g_strdup_printf("%u.patch@example.net", post);
        g_autoptr(GString) address = g_string_new(NULL);
        g_autoptr(json_t) rows = json_array();
        g_autoptr(GError) error = NULL;
        add_member(address, (i * 77) % MEMBERS);
        if (cold)
            octets_in(directory, true);
        g_auto(PostTrace) trace = {.directory = directory, .key = key, .address = address->str, .most = 100};
        double before = processor_time();
        int64_t begun = clock_monotonic();
        do
            if (!trace_read(&trace, rows, &error))
                g_error("%s", error->message);
        while (trace.next);
        used[i] = (processor_time() - before) * 1000;
        took[i] = (double)(clock_monotonic() - begun) / 1000;
        if (json_array_size(rows) < 3) /* two of the post, one of the member */
            g_error("post %u, %s: %zu rows", post, address->str, json_array_size(rows));
    }
    qsort(used, LOOKED_UP, sizeof *used, by_size);
    qsort(took, LOOKED_UP, sizeof *took, by_size);
    printf("%s look-up of one member of a post, processor time: median %.1f ms, most %.1f ms; by the clock: median "
           "%.1f ms, most %.1f ms\n",
           cold ? "cold" : "warm", used[LOOKED_UP / 2], used[LOOKED_UP - 1], took[LOOKED_UP / 2], took[LOOKED_UP - 1]);
}

int main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    int64_t removed = 0;
    if (argc < 4) {
        fprintf(stderr, "usage: trail DIR DAYS BATCH [SIZE]\n");
        return 64;
    }
    const char *directory = argv[1];
    unsigned posts = (unsigned)(g_ascii_strtod(argv[2], NULL) * POSTS), batch = (unsigned)MAX(atoi(argv[3]), 1);
    uint64_t size = argc > 4 ? g_ascii_strtoull(argv[4], NULL, 10) : (uint64_t)64 << 30;
    g_autofree char *command = g_strdup_printf("rm -rf -- '%s'", directory);
    if (system(command) != 0 || !trail_open(directory, size, "out[0]", &error)) {
        fprintf(stderr, "trail: %s\n", error ? error->message : command);
        return 75;
    }
    g_autoptr(GString) line = g_string_sized_new(4096);
    GRand *chance = g_rand_new_with_seed(31);
    double before = processor_time();
    for (unsigned post = 0; post < posts; post++)
        note_post(line, post, batch, chance);
    trail_close();
    g_rand_free(chance);
    double deliveries = (double)posts * MEMBERS;
    printf("%.0f deliveries, %u in a transaction: %.1f bytes and %.2f us of processor time each\n", deliveries, batch,
           (double)octets_in(directory, false) / deliveries, (processor_time() - before) / deliveries * 1e6);
    age(directory);
    before = processor_time();
    if (!trail_tidy(directory, size, 0, &removed, &error)) {
        fprintf(stderr, "trail: %s\n", error->message);
        return 75;
    }
    printf("with the keys that the task trail makes in %.1f s: %.1f bytes, %.2f GB\n", processor_time() - before,
           (double)octets_in(directory, false) / deliveries, (double)octets_in(directory, false) / 1e9);
    look_up(directory, posts, false);
    look_up(directory, posts, true);
    return 0;
}
