/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/trail/trail.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"

#define LEVEL 1 /* of zlib: a sixth less time than level 3, for 5 per cent more room (doc/performance.md) */
#define RAW_MAX ((uint32_t)64 << 20)        /* bytes of a block, which are far less */
#define QUIET (INT64_C(600) * CLOCK_SECOND) /* after which nobody writes to a file that is not the newest */
#define SEARCHED ((size_t)1 << 20) /* bytes that are read at once to find the next block behind a damaged one */

/* ---- the format of the files; numbers are as the machine has them ---- */

#define TRAIL_SUFFIX ".trail"
#define TRAIL_KEYS_SUFFIX ".keys"
#define TRAIL_MAGIC "LRT1"
#define TRAIL_KEYS_MAGIC "LRK1"
#define TRAIL_TRACE 12

/* A block is this head, then `keys` numbers of 64 bits in order, each once, then `packed` bytes of zlib's format. They
 * unpack to `raw` bytes of lines. sum is the CRC-32 of all behind the head, head_sum that of the head with a head_sum
 * of 0. */
typedef struct TrailHead {
    char magic[4];
    uint32_t sum, keys, packed, raw, head_sum;
    int64_t first, last; /* microseconds since 1970, of its lines */
} TrailHead;

/* An entry of a file of keys, in order of key and offset. */
typedef struct TrailPlace {
    uint64_t key, offset; /* of a block */
} TrailPlace;

/* ---- the trail of this process ---- */

#define KEYS 3 /* of a line, at most */

typedef struct Trail {
    char *directory, *program;
    uint64_t size;       /* of all files */
    unsigned number;     /* of the file that is open */
    int fd;              /* -1: none is open */
    GString *lines;      /* that wait */
    GHashTable *keys;    /* of them: a set of uint64_t */
    int64_t first, last; /* times of them, microseconds since 1970 */
    int64_t waits_since; /* monotonic; of the lines, or since the last attempt that failed */
    char *fault;         /* why the last attempt to write failed; NULL: it did not */
    int64_t fault_since; /* microseconds since 1970 */
    uint64_t lost;       /* lines that were given up */
    GThread *writer;
    bool ends; /* the writer is to */
} Trail;

static GMutex lock;
static GCond changed; /* lines wait, or the trail ends */
static Trail *trail; /* of this process; NULL: none */

/* ---- keys of a line ---- */

/* The number by which files know a key: FNV-1a. */
static uint64_t hash_of(const char *key, size_t length)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)key[i]) * UINT64_C(1099511628211);
    return sum;
}

static bool begins_with_trace(const char *text)
{
    for (int i = 0; i < TRAIL_TRACE; i++)
        if (!g_ascii_isxdigit(text[i]))
            return false;
    return text[TRAIL_TRACE] == ' ';
}

/* The value behind " NAME=" of a line, without brackets; NULL: there is none. */
static const char *value_of(const char *text, const char *name, size_t *length)
{
    const char *at = strstr(text, name);
    if (!at)
        return NULL;
    at += strlen(name);
    at += *at == '<';
    *length = strcspn(at, " >");
    return at;
}

/* Set keys to the numbers of a line's keys, and return how many there are; 0: the line is about no mail. */
static unsigned keys_of(const char *text, uint64_t keys[KEYS])
{
    size_t length, list_length;
    unsigned count = 0;
    if (!begins_with_trace(text))
        return 0;
    keys[count++] = hash_of(text, TRAIL_TRACE);
    const char *id = value_of(text, " message-id=", &length);
    if (id && length > 0)
        keys[count++] = hash_of(id, length);
    const char *post = value_of(text, " post=", &length), *list = value_of(text, " list=", &list_length);
    if (post && list) {
        g_autofree char *key = g_strdup_printf("%.*s#%.*s", (int)list_length, list, (int)length, post);
        keys[count++] = hash_of(key, strlen(key));
    }
    return count;
}

/* ---- files ---- */

/* Return the path of the file with that number and one of the suffixes; g_free(). */
static char *path_of(const char *directory, unsigned number, const char *suffix)
{
    return g_strdup_printf("%s/%08u%s", directory, number, suffix);
}

static int by_number(const void *one, const void *other)
{
    const unsigned *a = one, *b = other;
    return (*a > *b) - (*a < *b);
}

/* Return the numbers (unsigned) of the files in the directory, in order; an empty array where it is missing.
 * g_array_unref(). NULL with error: the directory cannot be read. */
static GArray *files_of(const char *directory, GError **error)
{
    g_autoptr(GPtrArray) names = fs_names(directory, error);
    if (!names)
        return NULL;
    g_autoptr(GArray) numbers = g_array_new(false, false, sizeof(unsigned));
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        guint64 number;
        g_autofree char *stem = g_str_has_suffix(name, TRAIL_SUFFIX)
                                    ? g_strndup(name, strlen(name) - strlen(TRAIL_SUFFIX))
                                    : NULL;
        if (stem && g_ascii_string_to_unsigned(stem, 10, 1, G_MAXUINT32, &number, NULL)) {
            unsigned small = (unsigned)number;
            g_array_append_val(numbers, small);
        }
    }
    g_array_sort(numbers, by_number);
    return g_steal_pointer(&numbers);
}

/* At how many bytes a file ends and the next begins, when all may have size bytes. */
static uint64_t file_size(uint64_t size)
{
    return MIN(MAX(size, TRAIL_LEAST) / 16, TRAIL_FILE_MOST);
}

/* How many files are kept, when all may have size bytes together. */
static unsigned file_count(uint64_t size)
{
    return (unsigned)(MAX(size, TRAIL_LEAST) / file_size(size));
}

/* Remove the oldest files until there are at most count, and those to which nothing was written since `before` (us
 * since 1970). Add their number to *removed (may be NULL). */
static bool remove_files(const char *directory, unsigned count, int64_t before, int64_t *removed, GError **error)
{
    struct stat status;
    g_autoptr(GArray) numbers = files_of(directory, error);
    for (guint i = 0; numbers && i < numbers->len; i++) {
        unsigned number = g_array_index(numbers, unsigned, i);
        g_autofree char *keys = path_of(directory, number, TRAIL_KEYS_SUFFIX);
        g_autofree char *file = path_of(directory, number, TRAIL_SUFFIX);
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

static bool open_number(Trail *self, unsigned number, int flags, GError **error)
{
    g_autofree char *path = path_of(self->directory, number, TRAIL_SUFFIX);
    auto_fd fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0640);
    if (fd < 0)
        return fail_errno(error, errno == ENOENT ? FAIL_MISSING : FAIL_LATER, "open %s", path);
    if (self->fd >= 0)
        close(self->fd);
    self->fd = auto_fd_steal(&fd);
    self->number = number;
    return true;
}

static bool open_newest(Trail *self, GError **error)
{
    if (g_mkdir_with_parents(self->directory, 0750) != 0)
        return fail_errno(error, FAIL_LATER, "make the directory %s", self->directory);
    g_autoptr(GArray) numbers = files_of(self->directory, error);
    unsigned newest = numbers && numbers->len > 0 ? g_array_index(numbers, unsigned, numbers->len - 1)
                                                  : self->number + 1;
    return numbers && open_number(self, newest, O_CREAT, error);
}

/* Go on to a file that another process has begun meanwhile, or to the newest one when ours is gone, and begin a new one
 * when that is full. Where no new one can be made, the full one grows. */
static bool choose_file(Trail *self, GError **error)
{
    struct stat file;
    while (self->fd >= 0 && open_number(self, self->number + 1, 0, NULL))
        ;
    bool gone = self->fd < 0 || (fstat(self->fd, &file) == 0 && file.st_nlink == 0);
    if (gone && !open_newest(self, error))
        return false;
    if (fstat(self->fd, &file) == 0 && (uint64_t)file.st_size >= file_size(self->size) &&
        open_number(self, self->number + 1, O_CREAT, NULL))
        remove_files(self->directory, file_count(self->size), 0, NULL, NULL);
    return true;
}

/* ---- blocks ---- */

/* Return what head_sum must be. */
static uint32_t head_sum_of(const TrailHead *head)
{
    TrailHead copy = *head;
    copy.head_sum = 0;
    return (uint32_t)crc32(0, (const Bytef *)&copy, sizeof(copy));
}

static int by_key(const void *one, const void *other)
{
    const uint64_t *a = one, *b = other;
    return (*a > *b) - (*a < *b);
}

static void add_keys(Trail *self, const uint64_t *keys, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!g_hash_table_contains(self->keys, &keys[i]))
            g_hash_table_add(self->keys, g_memdup2(&keys[i], sizeof(keys[0])));
}

/* Give up the lines that wait but for the newest one: writing that shows whether there is room again. */
static void keep_newest(Trail *self)
{
    char *text = self->lines->str, *end = g_strrstr_len(text, (gssize)self->lines->len - 1, "\n");
    for (const char *at = text; end && (at = strchr(at, '\n')) && at <= end; at++)
        self->lost++;
    g_string_erase(self->lines, 0, end ? end + 1 - text : 0);
    self->first = self->last;
    g_hash_table_remove_all(self->keys);
    uint64_t keys[KEYS];
    const char *behind_stamp = strchr(text, ' ') + 1, *noted = strstr(behind_stamp, ": ") + strlen(": ");
    add_keys(self, keys, keys_of(noted, keys));
}

/* Append the lines that wait as one block. Readers pass over a block that was written in part. */
static bool write_block(const Trail *self, GError **error)
{
    guint count = g_hash_table_size(self->keys);
    uLongf packed = compressBound(self->lines->len);
    size_t keys_size = count * sizeof(uint64_t), before = sizeof(TrailHead) + keys_size;
    g_autoptr(GByteArray) block = g_byte_array_sized_new((guint)(before + packed));
    g_byte_array_set_size(block, (guint)(before + packed));
    uint64_t *keys = (uint64_t *)(void *)(block->data + sizeof(TrailHead));
    GHashTableIter at;
    void *key;
    g_hash_table_iter_init(&at, self->keys);
    while (g_hash_table_iter_next(&at, &key, NULL))
        *keys++ = *(const uint64_t *)key;
    qsort(block->data + sizeof(TrailHead), count, sizeof(uint64_t), by_key);
    if (compress2(block->data + before, &packed, (const Bytef *)self->lines->str, self->lines->len, LEVEL) != Z_OK)
        return fail(error, FAIL_LATER, "there is no memory for a block of the trail");
    g_byte_array_set_size(block, (guint)(before + packed));
    TrailHead head = {.magic = TRAIL_MAGIC,
                      .keys = count,
                      .packed = (uint32_t)packed,
                      .raw = (uint32_t)self->lines->len,
                      .first = self->first,
                      .last = self->last};
    head.sum = (uint32_t)crc32(0, block->data + sizeof(TrailHead), (uInt)(keys_size + packed));
    head.head_sum = head_sum_of(&head);
    memcpy(block->data, &head, sizeof(head));

    ssize_t written = write(self->fd, block->data, block->len);
    g_autofree char *path = path_of(self->directory, self->number, TRAIL_SUFFIX);
    if (written < 0)
        return fail_errno(error, FAIL_LATER, "write %s", path);
    return (size_t)written == block->len ||
           fail(error, FAIL_LATER, "write %s: there is no room for a block of %u bytes", path, block->len);
}

static void note_fault(Trail *self, const GError *error)
{
    if (!self->fault)
        self->fault_since = clock_now();
    g_free(self->fault);
    self->fault = g_strdup(error->message);
    self->waits_since = clock_monotonic();
}

/* Write the lines to the file. Lines that cannot be written wait for the next attempt, up to a block of them. Without
 * lines, see whether an earlier fault is over. */
static void flush(Trail *self)
{
    g_autoptr(GError) error = NULL;
    if (self->lines->len == 0 && !self->fault)
        return;
    if (choose_file(self, &error) && (self->lines->len == 0 || write_block(self, &error))) {
        g_clear_pointer(&self->fault, g_free);
        g_string_truncate(self->lines, 0);
        g_hash_table_remove_all(self->keys);
        return;
    }
    note_fault(self, error);
    if (self->lines->len >= TRAIL_BLOCK)
        keep_newest(self);
}

/* Called with the lock. */
static void append_stamp(GString *lines, int64_t now)
{
    static time_t stamped = -1; /* the second that stamp is of */
    static char stamp[32];
    static size_t length;
    const int thousandths = (int)(now % CLOCK_SECOND / 1000);
    if (stamped != (time_t)(now / CLOCK_SECOND)) {
        struct tm parts;
        stamped = (time_t)(now / CLOCK_SECOND);
        gmtime_r(&stamped, &parts);
        length = strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &parts);
    }
    const char rest[] = {
        '.', (char)('0' + thousandths / 100), (char)('0' + thousandths / 10 % 10), (char)('0' + thousandths % 10), 'Z',
        ' '};
    g_string_append_len(lines, stamp, (gssize)length);
    g_string_append_len(lines, rest, sizeof rest);
}

void trail_note(const char *text)
{
    if (!begins_with_trace(text))
        return;
    g_mutex_lock(&lock);
    if (trail) {
        GString *lines = trail->lines;
        uint64_t keys[KEYS];
        int64_t now = clock_now();
        if (lines->len == 0) {
            trail->first = now;
            trail->waits_since = clock_monotonic();
            g_cond_signal(&changed);
        }
        trail->last = now;
        append_stamp(lines, now);
        g_string_append(lines, trail->program);
        g_string_append_len(lines, ": ", 2);
        size_t begin = lines->len;
        g_string_append(lines, text);
        for (size_t i = begin; i < lines->len; i++) /* a line must stay a line, whatever a peer sent us */
            if ((unsigned char)lines->str[i] < ' ')
                lines->str[i] = '?';
        add_keys(trail, keys, keys_of(lines->str + begin, keys));
        g_string_append_c(lines, '\n');
        if (lines->len >= TRAIL_BLOCK)
            flush(trail);
    }
    g_mutex_unlock(&lock);
}

/* ---- beginning and end ---- */

/* Lines wait no longer than TRAIL_WAIT, however seldom the process beats. */
static gpointer write_in_time(gpointer data)
{
    Trail *self = data;
    g_mutex_lock(&lock);
    while (!self->ends)
        if (self->lines->len == 0 && !self->fault)
            g_cond_wait(&changed, &lock);
        else if (clock_monotonic() - self->waits_since < TRAIL_WAIT)
            g_cond_wait_until(&changed, &lock, self->waits_since + TRAIL_WAIT);
        else
            flush(self);
    g_mutex_unlock(&lock);
    return NULL;
}

bool trail_open(const char *directory, uint64_t size, const char *program, GError **error)
{
    Trail *self = g_new0(Trail, 1);
    self->directory = g_strdup(directory);
    self->program = g_strdup(program);
    self->size = size;
    self->fd = -1;
    self->lines = g_string_sized_new(TRAIL_BLOCK + 4096);
    self->keys = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    static bool registered;
    g_autoptr(GError) fault = NULL;
    if (!open_newest(self, &fault))
        note_fault(self, fault);
    trail_close();
    if (!registered)
        atexit(trail_close);
    registered = true;
    /* Signals are the main thread's. NULL: the system gives no thread now, and lines wait for a beat. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    self->writer = g_thread_try_new("trail", write_in_time, self, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    g_mutex_lock(&lock);
    trail = self;
    g_mutex_unlock(&lock);
    return !fault || fail_with(error, &fault);
}

void trail_close(void)
{
    g_mutex_lock(&lock);
    Trail *self = g_steal_pointer(&trail);
    if (self) {
        flush(self);
        self->ends = true;
        g_cond_signal(&changed);
    }
    g_mutex_unlock(&lock);
    if (!self)
        return;
    if (self->writer)
        g_thread_join(self->writer);
    if (self->fd >= 0)
        close(self->fd);
    g_string_free(self->lines, true);
    g_hash_table_unref(self->keys);
    g_free(self->directory);
    g_free(self->program);
    g_free(self->fault);
    g_free(self);
}

char *trail_beat(int64_t *since, uint64_t *lost)
{
    g_mutex_lock(&lock);
    if (trail && (trail->lines->len > 0 || trail->fault) && clock_monotonic() - trail->waits_since >= TRAIL_WAIT)
        flush(trail);
    char *fault = trail ? g_strdup(trail->fault) : NULL;
    *since = fault ? trail->fault_since : 0;
    *lost = trail ? trail->lost : 0;
    g_mutex_unlock(&lock);
    return fault;
}

/* ---- reading blocks ---- */

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
        memcmp(head->magic, TRAIL_MAGIC, sizeof(head->magic)) != 0 || head->head_sum != head_sum_of(head) ||
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

/* Go to the next block of the file, from one that is zeroed to the first. What is damaged is passed over, and counted.
 * One that was cut short reaches into its successor, so that is looked for from its beginning, at its magic. */
static bool next_block(int fd, uint64_t size, Block *block, uint64_t *damaged)
{
    uint64_t at = block->next, from = block->keys ? block->offset : at;
    if (at >= size || read_head(fd, at, size, block))
        return at < size;
    ++*damaged;
    g_autofree char *data = g_malloc(SEARCHED);
    for (from++; from < size;) {
        ssize_t length = pread(fd, data, SEARCHED, (off_t)from);
        const char *found = length > 0 ? memmem(data, (size_t)length, TRAIL_MAGIC, strlen(TRAIL_MAGIC)) : NULL;
        if (!found) {
            from += SEARCHED - sizeof(TRAIL_MAGIC);
            continue;
        }
        from += (uint64_t)(found - data);
        if (from < size && read_head(fd, from, size, block))
            return true;
        from++;
    }
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
    if (!lines)
        reading->damaged++;
    unsigned number = 0;
    for (char *line = lines; line && *line && !search->stopped;) {
        char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;
        *end = '\0';
        const char *text = strstr(line, ": ");
        text = text ? text + 2 : NULL;
        bool wanted = false;
        uint64_t keys[KEYS];
        for (unsigned count = text ? keys_of(text, keys) : 0; count > 0 && !wanted; count--)
            wanted = !reading->key || keys[count - 1] == search->key;
        if (wanted && number++ >= reading->line) {
            search->stopped = !search->take(&(TrailLine){line, text}, search->data);
            reading->line = search->stopped ? number - 1 : number;
        }
        line = next;
    }
    if (search->stopped)
        return;
    reading->offset++; /* a damaged block may hold the head of the next one */
    reading->line = 0;
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
    g_autofree char *path = path_of(directory, number, TRAIL_SUFFIX);
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
    search.key = reading->key ? hash_of(reading->key, strlen(reading->key)) : 0;
    reading->done = false;
    g_autoptr(GArray) numbers = files_of(reading->directory, error);
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
        g_autofree char *keys = path_of(reading->directory, number, TRAIL_KEYS_SUFFIX);
        auto_fd fd = open_file(reading->directory, number, &size, &fault);
        if (fault)
            return fail_with(error, &fault);
        if (fd < 0 || (reading->key && search_by_keys(&search, fd, size, keys)))
            continue;
        g_auto(Block) block = {.next = reading->offset};
        while (!search.stopped && next_block(fd, size, &block, &reading->damaged))
            if (!reading->key || has_key(&block, search.key))
                search_block(&search, fd, &block);
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
    g_autoptr(GArray) numbers = files_of(directory, error);
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

static int by_place(const void *one, const void *other)
{
    const TrailPlace *a = one, *b = other;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->offset > b->offset) - (a->offset < b->offset);
}

/* Make the file of the keys of all blocks, in order. It is written aside, and renamed: readers see all or nothing. */
static bool make_keys(const char *directory, unsigned number, int fd, uint64_t size, GError **error)
{
    const char magic[sizeof(uint64_t)] = TRAIL_KEYS_MAGIC;
    uint64_t damaged = 0;
    g_auto(Block) block = {0};
    g_autoptr(GArray) places = g_array_new(false, false, sizeof(TrailPlace));
    while (next_block(fd, size, &block, &damaged))
        for (uint32_t i = 0; i < block.head.keys; i++)
            g_array_append_val(places, ((TrailPlace){block.keys[i], block.offset}));
    g_array_sort(places, by_place);
    g_autofree char *path = path_of(directory, number, TRAIL_KEYS_SUFFIX), *aside = g_strconcat(path, ".new", NULL);
    auto_fd out = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
    size_t length = places->len * sizeof(TrailPlace);
    if (out >= 0 && write(out, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
        (length == 0 || write(out, places->data, length) == (ssize_t)length) && rename(aside, path) == 0)
        return true;
    fail_errno(error, FAIL_LATER, "write %s", aside);
    unlink(aside);
    return false;
}

bool trail_tidy(const char *directory, uint64_t size, int64_t before, int64_t *removed, GError **error)
{
    *removed = 0;
    if (!remove_files(directory, file_count(size), before, removed, error))
        return false;
    g_autoptr(GArray) numbers = files_of(directory, error);
    for (guint i = 0; numbers && i + 1 < numbers->len; i++) {
        struct stat file;
        uint64_t length;
        g_autoptr(GError) fault = NULL;
        unsigned number = g_array_index(numbers, unsigned, i);
        g_autofree char *keys = path_of(directory, number, TRAIL_KEYS_SUFFIX);
        auto_fd fd = open_file(directory, number, &length, &fault);
        if (fault)
            return fail_with(error, &fault);
        /* Unless it has its keys, or somebody may still write to it. */
        if (fd >= 0 && access(keys, F_OK) != 0 && fstat(fd, &file) == 0 &&
            file.st_mtime * CLOCK_SECOND <= clock_now() - QUIET && !make_keys(directory, number, fd, length, error))
            return false;
    }
    return numbers != NULL;
}
