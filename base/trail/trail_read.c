/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Reading the files of a trail, making their keys, and removing them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/trail/trail.h"
#include "base/trail/trail_internal.h"

#define RAW_MAX ((uint32_t)64 << 20)        /* bytes of a block, which are far less */
#define QUIET (INT64_C(600) * CLOCK_SECOND) /* after which nobody writes to a file that is not the newest */
#define SEARCHED ((size_t)1 << 20) /* bytes that are read at once to find the next block behind a damaged one */

/* ---- blocks ---- */

typedef struct Block {
    TrailHead head;
    uint64_t offset, next; /* of it, and of what follows */
    uint64_t *keys;
} Block;

static void block_clear(Block *block)
{
    g_clear_pointer(&block->keys, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Block, block_clear)

static bool read_at(int fd, void *data, size_t length, uint64_t offset)
{
    return pread(fd, data, length, (off_t)offset) == (ssize_t)length;
}

/* Read head and keys of the block at offset, in a file of size bytes. */
static bool read_head(int fd, uint64_t offset, uint64_t size, Block *block)
{
    TrailHead *head = &block->head;
    block_clear(block);
    if (size - offset < sizeof(*head) || !read_at(fd, head, sizeof(*head), offset) ||
        memcmp(head->magic, TRAIL_MAGIC, sizeof(head->magic)) != 0 || head->head_sum != trail_head_sum(head) ||
        head->raw > RAW_MAX)
        return false;
    uint64_t keys_size = (uint64_t)head->keys * sizeof(uint64_t);
    if (size - offset - sizeof(*head) < keys_size + head->packed)
        return false;
    block->keys = g_malloc(keys_size + 1);
    block->offset = offset;
    block->next = offset + sizeof(*head) + keys_size + head->packed;
    return read_at(fd, block->keys, keys_size, offset + sizeof(*head));
}

/* Find where the next block may begin, behind a damaged one: at its magic. */
static uint64_t find_next(int fd, uint64_t offset, uint64_t size)
{
    g_autofree char *data = g_malloc(SEARCHED);
    for (uint64_t at = offset + 1; at < size; at += SEARCHED - sizeof(TRAIL_MAGIC)) {
        ssize_t length = pread(fd, data, SEARCHED, (off_t)at);
        const char *found = length > 0 ? memmem(data, (size_t)length, TRAIL_MAGIC, strlen(TRAIL_MAGIC)) : NULL;
        if (found)
            return at + (uint64_t)(found - data);
    }
    return size;
}

/* Go to the next block of the file, from one that is zeroed to the first. What is damaged is passed over, and counted.
 * One that was cut short reaches into its successor, so that is looked for from its beginning. */
static bool next_block(int fd, uint64_t size, Block *block, uint64_t *damaged)
{
    uint64_t at = block->next, before = block->keys ? block->offset : at;
    if (at >= size || read_head(fd, at, size, block))
        return at < size;
    ++*damaged;
    while ((before = find_next(fd, before, size)) < size)
        if (read_head(fd, before, size, block))
            return true;
    return false;
}

/* The lines of a block; NULL: it is damaged. g_free() */
static char *read_lines(int fd, const Block *block)
{
    const TrailHead *head = &block->head;
    size_t keys_size = head->keys * sizeof(uint64_t);
    uLongf raw = head->raw;
    g_autofree Bytef *packed = g_malloc(head->packed + 1);
    g_autofree char *lines = g_malloc(raw + 1);
    if (!read_at(fd, packed, head->packed, block->offset + sizeof(*head) + keys_size))
        return NULL;
    uLong sum = crc32(0, (const Bytef *)block->keys, (uInt)keys_size);
    if (crc32(sum, packed, head->packed) != head->sum ||
        uncompress((Bytef *)lines, &raw, packed, head->packed) != Z_OK || raw != head->raw)
        return NULL;
    lines[raw] = '\0';
    return g_steal_pointer(&lines);
}

static bool has_key(const Block *block, uint64_t key)
{
    size_t low = 0, high = block->head.keys;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (block->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < block->head.keys && block->keys[low] == key;
}

/* ---- searching ---- */

typedef struct Search {
    TrailReading *reading;
    uint64_t key; /* unless reading has none, so that all lines are wanted */
    TrailTake *take;
    void *data;
    bool has_unpacked; /* a block */
    bool stopped;
} Search;

static bool is_wanted(const Search *search, const char *text)
{
    uint64_t keys[TRAIL_KEYS];
    for (unsigned count = text ? trail_keys_of(text, keys) : 0; count > 0; count--)
        if (!search->reading->key || keys[count - 1] == search->key)
            return true;
    return false;
}

static void search_lines(Search *search, char *lines)
{
    unsigned number = 0;
    for (char *line = lines; *line && !search->stopped;) {
        char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;
        *end = '\0';
        const char *text = strstr(line, ": ");
        text = text ? text + 2 : NULL;
        if (is_wanted(search, text) && number++ >= search->reading->line) {
            search->stopped = !search->take(&(TrailLine){line, text}, search->data);
            search->reading->line = search->stopped ? number - 1 : number;
        }
        line = next;
    }
}

/* One that was read before is passed over. */
static void search_block(Search *search, int fd, const Block *block)
{
    TrailReading *reading = search->reading;
    if (block->offset < reading->offset)
        return;
    if (block->offset > reading->offset)
        reading->line = 0;
    reading->offset = block->offset;
    search->stopped = search->has_unpacked && block->head.raw > reading->room;
    if (search->stopped)
        return;
    reading->room -= MIN(reading->room, block->head.raw);
    search->has_unpacked = true;
    g_autofree char *lines = read_lines(fd, block);
    if (lines)
        search_lines(search, lines);
    else
        reading->damaged++;
    if (search->stopped)
        return;
    reading->offset++; /* a damaged block may hold the head of the next one */
    reading->line = 0;
}

/* Go through the blocks of a file from the place of the reading. */
static void walk(Search *search, int fd, uint64_t size)
{
    g_auto(Block) block = {.next = search->reading->offset};
    while (!search->stopped && next_block(fd, size, &block, &search->reading->damaged))
        if (!search->reading->key || has_key(&block, search->key))
            search_block(search, fd, &block);
}

/* Look into the file of keys. False: there is none that can be used. */
static bool search_by_keys(Search *search, int fd, uint64_t size, const char *keys_path)
{
    struct stat file;
    auto_fd keys = open(keys_path, O_RDONLY | O_CLOEXEC);
    char magic[sizeof(uint64_t)] = {0};
    if (keys < 0 || fstat(keys, &file) != 0 || !read_at(keys, magic, sizeof(magic), 0) ||
        memcmp(magic, TRAIL_KEYS_MAGIC, 4) != 0)
        return false;
    uint64_t count = ((uint64_t)file.st_size - sizeof(magic)) / sizeof(TrailPlace), low = 0, high = count;
    TrailPlace place;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (!read_at(keys, &place, sizeof(place), sizeof(magic) + middle * sizeof(place)))
            return false;
        if (place.key < search->key)
            low = middle + 1;
        else
            high = middle;
    }
    g_auto(Block) block = {0};
    for (; !search->stopped && low < count &&
           read_at(keys, &place, sizeof(place), sizeof(magic) + low * sizeof(place)) && place.key == search->key;
         low++)
        if (place.offset >= search->reading->offset && place.offset < size && read_head(fd, place.offset, size, &block))
            search_block(search, fd, &block);
    return true;
}

/* Open a file; -1 without an error: it was removed meanwhile. */
static int open_file(const char *directory, unsigned number, uint64_t *size, GError **error)
{
    struct stat file;
    g_autofree char *path = trail_path(directory, number, TRAIL_SUFFIX);
    auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return -1;
    if (fd < 0 || fstat(fd, &file) != 0) {
        fail_errno(error, FAIL_LATER, "open %s", path);
        return -1;
    }
    *size = (uint64_t)file.st_size;
    return auto_fd_steal(&fd);
}

bool trail_read(TrailReading *reading, TrailTake *take, void *data, GError **error)
{
    Search search = {.reading = reading, .take = take, .data = data};
    search.key = reading->key ? trail_key(reading->key, strlen(reading->key)) : 0;
    reading->done = false;
    g_autoptr(GArray) numbers = trail_files(reading->directory, error);
    for (guint i = 0; numbers && i < numbers->len && !search.stopped; i++) {
        g_autoptr(GError) fault = NULL;
        uint64_t size;
        unsigned number = g_array_index(numbers, unsigned, i);
        if (number < reading->number)
            continue;
        if (number > reading->number) {
            reading->number = number;
            reading->offset = reading->line = 0;
        }
        g_autofree char *keys = trail_path(reading->directory, number, TRAIL_KEYS_SUFFIX);
        auto_fd fd = open_file(reading->directory, number, &size, &fault);
        if (fault)
            return fail_with(error, &fault);
        if (fd >= 0 && (!reading->key || !search_by_keys(&search, fd, size, keys)))
            walk(&search, fd, size);
    }
    reading->done = numbers && !search.stopped;
    return numbers != NULL;
}

typedef struct Every {
    TrailEach *each;
    void *data;
} Every;

static bool take_every(const TrailLine *line, void *data)
{
    const Every *every = data;
    every->each(line, every->data);
    return true;
}

bool trail_find(const char *directory, const char *key, TrailEach *each, void *data, uint64_t *damaged, GError **error)
{
    Every every = {each, data};
    TrailReading reading = {.directory = directory, .key = key, .room = UINT64_MAX};
    bool read = trail_read(&reading, take_every, &every, error);
    if (damaged)
        *damaged += reading.damaged;
    return read;
}

bool trail_since(const char *directory, int64_t *since, GError **error)
{
    *since = 0;
    g_autoptr(GArray) numbers = trail_files(directory, error);
    for (guint i = 0; numbers && i < numbers->len && *since == 0; i++) {
        uint64_t size = 0;
        g_auto(Block) block = {0};
        auto_fd fd = open_file(directory, g_array_index(numbers, unsigned, i), &size, NULL);
        if (fd >= 0 && read_head(fd, 0, size, &block))
            *since = block.head.first;
    }
    return numbers != NULL;
}

/* ---- tidying ---- */

bool trail_remove(const char *directory, unsigned count, int64_t before, int64_t *removed, GError **error)
{
    struct stat status;
    g_autoptr(GArray) numbers = trail_files(directory, error);
    for (guint i = 0; numbers && i < numbers->len; i++) {
        unsigned number = g_array_index(numbers, unsigned, i);
        g_autofree char *keys = trail_path(directory, number, TRAIL_KEYS_SUFFIX);
        g_autofree char *file = trail_path(directory, number, TRAIL_SUFFIX);
        bool old = stat(file, &status) == 0 && (int64_t)status.st_mtime < before / CLOCK_SECOND;
        if (i + count >= numbers->len && !old)
            continue;
        if ((unlink(keys) != 0 && errno != ENOENT) || (unlink(file) != 0 && errno != ENOENT))
            return fail_errno(error, FAIL_LATER, "remove %s", file);
        if (removed)
            ++*removed;
    }
    return numbers != NULL;
}

static int by_place(const void *one, const void *other)
{
    const TrailPlace *a = one, *b = other;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->offset > b->offset) - (a->offset < b->offset);
}

/* The keys of all blocks of a file, in order. */
static GArray *places_of(int fd, uint64_t size)
{
    uint64_t damaged = 0;
    g_auto(Block) block = {0};
    GArray *places = g_array_new(false, false, sizeof(TrailPlace));
    while (next_block(fd, size, &block, &damaged))
        for (uint32_t i = 0; i < block.head.keys; i++)
            g_array_append_val(places, ((TrailPlace){block.keys[i], block.offset}));
    g_array_sort(places, by_place);
    return places;
}

/* Written aside, and renamed: readers see all of it or nothing. */
static bool make_keys(const char *directory, unsigned number, int fd, uint64_t size, GError **error)
{
    const char magic[sizeof(uint64_t)] = TRAIL_KEYS_MAGIC;
    g_autoptr(GArray) places = places_of(fd, size);
    g_autofree char *path = trail_path(directory, number, TRAIL_KEYS_SUFFIX), *aside = g_strconcat(path, ".new", NULL);
    auto_fd out = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
    size_t length = places->len * sizeof(TrailPlace);
    if (out >= 0 && write(out, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
        (length == 0 || write(out, places->data, length) == (ssize_t)length) && rename(aside, path) == 0)
        return true;
    fail_errno(error, FAIL_LATER, "write %s", aside);
    unlink(aside);
    return false;
}

/* Make the keys of a file unless it has them, or somebody may still write to it. */
static bool tidy_file(const char *directory, unsigned number, GError **error)
{
    struct stat file;
    uint64_t size;
    g_autoptr(GError) fault = NULL;
    g_autofree char *keys = trail_path(directory, number, TRAIL_KEYS_SUFFIX);
    auto_fd fd = open_file(directory, number, &size, &fault);
    if (fault)
        return fail_with(error, &fault);
    if (fd < 0 || access(keys, F_OK) == 0 || fstat(fd, &file) != 0 ||
        file.st_mtime * CLOCK_SECOND > clock_now() - QUIET)
        return true;
    return make_keys(directory, number, fd, size, error);
}

bool trail_tidy(const char *directory, uint64_t size, int64_t before, int64_t *removed, GError **error)
{
    *removed = 0;
    if (!trail_remove(directory, trail_file_count(size), before, removed, error))
        return false;
    g_autoptr(GArray) numbers = trail_files(directory, error);
    for (guint i = 0; numbers && i + 1 < numbers->len; i++)
        if (!tidy_file(directory, g_array_index(numbers, unsigned, i), error))
            return false;
    return numbers != NULL;
}
