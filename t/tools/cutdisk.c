/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * cutdisk: a disk whose power can be cut. `cutdisk IMAGE DIR [LOG]` shows, by FUSE, three files in
 * DIR:
 *
 *   disk      the image, for losetup(8). It has a volatile cache, as disks have: what was
 *             written since the last flush may or may not survive a cut.
 *   control   "cut SEED": of the writes since the last flush, a part chosen by the seed
 *             survives, by whole writes and by sectors; from then on the disk fails every
 *             request, until "on".
 *   mark      each write to it becomes a record of the log, between the
 *             writes and flushes of the disk.
 *
 * With LOG every write, flush and mark is recorded in order, so that the disk can be
 * rebuilt as any cut would have left it (t/bench/blockreplay). A record is a type (1 write, 2 flush,
 * 3 mark), an offset and a length as 64-bit words of this machine, and the bytes.
 *
 * The loop device over `disk` turns each barrier of the file system into an fsync here,
 * and waits for each write before the file system learns that it is done: one request
 * at a time (run with one thread), so the order of the log is an order that a disk could have seen.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 4096

enum { RECORD_WRITE = 1, RECORD_FLUSH, RECORD_MARK };

typedef struct Pending {
    off_t offset;
    size_t length;
    char *before, *after;
} Pending;

static int image, record = -1;
static off_t image_size;
static bool off;        /* the power */
static GArray *pending; /* of Pending: since the last flush */

G_NORETURN static void die(const char *what)
{
    fprintf(stderr, "cutdisk: %s: %s\n", what, strerror(errno));
    exit(70);
}

static void log_record(uint64_t type, off_t offset, const char *octets, size_t length)
{
    uint64_t head[3] = {type, (uint64_t)offset, length};
    if (record >= 0 && (write(record, head, sizeof head) != sizeof head ||
                        (length > 0 && write(record, octets, length) != (ssize_t)length)))
        die("cannot write the log");
}

static void put(off_t offset, const char *octets, size_t length)
{
    if (pwrite(image, octets, length, offset) != (ssize_t)length)
        die("cannot write the image");
}

static void clear_pending(void *data)
{
    Pending *entry = data;
    g_free(entry->before);
    g_free(entry->after);
}

/* A write of which only some blocks reached the disk: a beginning, or any. */
static void put_torn(const Pending *entry, GRand *dice)
{
    size_t blocks = (entry->length + BLOCK - 1) / BLOCK;
    size_t first = (size_t)g_rand_int_range(dice, 0, (int)blocks + 1);
    bool any = g_rand_boolean(dice);
    for (size_t at = 0; at < blocks; at++)
        if (any ? g_rand_boolean(dice) : at < first)
            put(entry->offset + (off_t)(at * BLOCK), entry->after + at * BLOCK,
                MIN(BLOCK, entry->length - at * BLOCK));
}

static void cut(unsigned seed)
{
    g_autoptr(GRand) dice = g_rand_new_with_seed(seed);
    double keep = g_rand_int_range(dice, 0, 5) / 4.0;
    for (guint at = pending->len; at > 0; at--) {
        const Pending *entry = &g_array_index(pending, Pending, at - 1);
        put(entry->offset, entry->before, entry->length);
    }
    guint lost = 0;
    for (guint at = 0; at < pending->len; at++) {
        const Pending *entry = &g_array_index(pending, Pending, at);
        double chance = g_rand_double(dice);
        if (chance < keep * 0.9)
            put(entry->offset, entry->after, entry->length);
        else if (chance < keep)
            put_torn(entry, dice);
        else
            lost++;
    }
    fprintf(stderr, "cutdisk: cut, %u writes were not flushed, %u of them are lost\n", pending->len, lost);
    g_array_set_size(pending, 0);
    off = true;
}

static int command(const char *text, size_t length)
{
    g_autofree char *word = g_strndup(text, length);
    unsigned seed;
    if (sscanf(word, "cut %u", &seed) == 1)
        cut(seed);
    else if (g_str_has_prefix(word, "on"))
        off = false;
    else
        return -EINVAL;
    return (int)length;
}

static bool is(const char *path, const char *name)
{
    return strcmp(path + 1, name) == 0;
}

static int get_attributes(const char *path, struct stat *status, struct fuse_file_info *info)
{
    memset(status, 0, sizeof *status);
    status->st_nlink = 1;
    status->st_mode = S_IFREG | 0600;
    if (strcmp(path, "/") == 0)
        status->st_mode = S_IFDIR | 0755;
    else if (is(path, "disk"))
        status->st_size = image_size;
    else if (!is(path, "control") && !is(path, "mark"))
        return -ENOENT;
    return 0;
}

static int read_directory(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                          struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
    static const char *const names[] = {"disk", "control", "mark"};
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++)
        fill(buffer, names[at], NULL, 0, 0);
    return 0;
}

static int open_file(const char *path, struct fuse_file_info *info)
{
    info->direct_io = 1; /* nothing is to be kept in the page cache on the way */
    return 0;
}

static int truncate_file(const char *path, off_t length, struct fuse_file_info *info)
{
    return is(path, "disk") ? -EPERM : 0;
}

static int read_file(const char *path, char *buffer, size_t length, off_t offset, struct fuse_file_info *info)
{
    if (!is(path, "disk"))
        return 0;
    ssize_t got = off ? -1 : pread(image, buffer, length, offset);
    return got < 0 ? -EIO : (int)got;
}

static int write_file(const char *path, const char *octets, size_t length, off_t offset, struct fuse_file_info *info)
{
    if (is(path, "control"))
        return command(octets, length);
    if (is(path, "mark")) {
        log_record(RECORD_MARK, 0, octets, length);
        return (int)length;
    }
    if (off)
        return -EIO;
    log_record(RECORD_WRITE, offset, octets, length);
    Pending entry = {offset, length, g_malloc0(length), g_memdup2(octets, length)};
    if (pread(image, entry.before, length, offset) < 0)
        die("cannot read the image");
    g_array_append_val(pending, entry);
    put(offset, octets, length);
    return (int)length;
}

static int flush_disk(const char *path, int data_only, struct fuse_file_info *info)
{
    if (!is(path, "disk"))
        return 0;
    if (off)
        return -EIO;
    log_record(RECORD_FLUSH, 0, NULL, 0);
    g_array_set_size(pending, 0);
    return 0;
}

static const struct fuse_operations operations = {
    .getattr = get_attributes,
    .readdir = read_directory,
    .open = open_file,
    .truncate = truncate_file,
    .read = read_file,
    .write = write_file,
    .fsync = flush_disk,
};

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: cutdisk IMAGE DIR [LOG]\n");
        return 64;
    }
    image = open(argv[1], O_RDWR | O_CLOEXEC);
    if (image < 0 || (image_size = lseek(image, 0, SEEK_END)) <= 0)
        die(argv[1]);
    if (argc == 4 && (record = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) < 0)
        die(argv[3]);
    pending = g_array_new(FALSE, FALSE, sizeof(Pending));
    g_array_set_clear_func(pending, clear_pending);
    char foreground[] = "-f", single[] = "-s";
    char *options[] = {argv[0], argv[2], foreground, single, NULL};
    return fuse_main(4, options, &operations, NULL);
}
