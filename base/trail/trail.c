/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/trail/trail.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/trail/trail_internal.h"

#define LEVEL 1 /* of zlib: a sixth less time than level 3, for 5 per cent more room (doc/performance.md) */

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

/* FNV-1a. */
uint64_t trail_key(const char *key, size_t length)
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

unsigned trail_keys_of(const char *text, uint64_t keys[TRAIL_KEYS])
{
    size_t length, list_length;
    unsigned count = 0;
    if (!begins_with_trace(text))
        return 0;
    keys[count++] = trail_key(text, TRAIL_TRACE);
    const char *id = value_of(text, " message-id=", &length);
    if (id && length > 0)
        keys[count++] = trail_key(id, length);
    const char *post = value_of(text, " post=", &length), *list = value_of(text, " list=", &list_length);
    if (post && list) {
        g_autofree char *key = g_strdup_printf("%.*s#%.*s", (int)list_length, list, (int)length, post);
        keys[count++] = trail_key(key, strlen(key));
    }
    return count;
}

/* ---- files ---- */

char *trail_path(const char *directory, unsigned number, const char *suffix)
{
    return g_strdup_printf("%s/%08u%s", directory, number, suffix);
}

static int by_number(const void *one, const void *other)
{
    const unsigned *a = one, *b = other;
    return (*a > *b) - (*a < *b);
}

GArray *trail_files(const char *directory, GError **error)
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

unsigned trail_file_count(uint64_t size)
{
    return (unsigned)(MAX(size, TRAIL_LEAST) / file_size(size));
}

static bool open_number(Trail *self, unsigned number, int flags, GError **error)
{
    g_autofree char *path = trail_path(self->directory, number, TRAIL_SUFFIX);
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
    g_autoptr(GArray) numbers = trail_files(self->directory, error);
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
        trail_remove(self->directory, trail_file_count(self->size), 0, NULL, NULL);
    return true;
}

/* ---- blocks ---- */

uint32_t trail_head_sum(const TrailHead *head)
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

static GArray *sorted_keys(GHashTable *keys)
{
    GArray *sorted = g_array_sized_new(false, false, sizeof(uint64_t), g_hash_table_size(keys));
    GHashTableIter at;
    void *key;
    g_hash_table_iter_init(&at, keys);
    while (g_hash_table_iter_next(&at, &key, NULL))
        g_array_append_vals(sorted, key, 1);
    g_array_sort(sorted, by_key);
    return sorted;
}

/* The block of the lines that wait; NULL: there is no memory for it. */
static GByteArray *make_block(const Trail *self)
{
    g_autoptr(GArray) keys = sorted_keys(self->keys);
    uLongf packed = compressBound(self->lines->len);
    size_t keys_size = keys->len * sizeof(uint64_t);
    GByteArray *block = g_byte_array_sized_new((guint)(sizeof(TrailHead) + keys_size + packed));
    g_byte_array_set_size(block, (guint)(sizeof(TrailHead) + keys_size + packed));
    memcpy(block->data + sizeof(TrailHead), keys->data, keys_size);
    Bytef *data = block->data + sizeof(TrailHead) + keys_size;
    if (compress2(data, &packed, (const Bytef *)self->lines->str, self->lines->len, LEVEL) != Z_OK) {
        g_byte_array_unref(block);
        return NULL;
    }
    g_byte_array_set_size(block, (guint)(sizeof(TrailHead) + keys_size + packed));
    TrailHead head = {.magic = TRAIL_MAGIC,
                      .keys = keys->len,
                      .packed = (uint32_t)packed,
                      .raw = (uint32_t)self->lines->len,
                      .first = self->first,
                      .last = self->last};
    head.sum = (uint32_t)crc32(0, block->data + sizeof(TrailHead), (uInt)(keys_size + packed));
    head.head_sum = trail_head_sum(&head);
    memcpy(block->data, &head, sizeof(head));
    return block;
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
    uint64_t keys[TRAIL_KEYS];
    const char *behind_stamp = strchr(text, ' ') + 1, *noted = strstr(behind_stamp, ": ") + strlen(": ");
    add_keys(self, keys, trail_keys_of(noted, keys));
}

/* Readers pass over a block that was written in part. */
static bool write_block(const Trail *self, GError **error)
{
    g_autoptr(GByteArray) block = make_block(self);
    if (!block)
        return fail(error, FAIL_LATER, "there is no memory for a block of the trail");
    ssize_t written = write(self->fd, block->data, block->len);
    g_autofree char *path = trail_path(self->directory, self->number, TRAIL_SUFFIX);
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

/* A line must stay a line, whatever a peer sent us. Returns its text, as it was appended. */
static const char *append_line(GString *lines, const char *program, const char *text)
{
    g_string_append(lines, program);
    g_string_append_len(lines, ": ", 2);
    size_t begin = lines->len;
    g_string_append(lines, text);
    for (size_t i = begin; i < lines->len; i++)
        if ((unsigned char)lines->str[i] < ' ')
            lines->str[i] = '?';
    return lines->str + begin;
}

static void note(Trail *self, const char *text)
{
    uint64_t keys[TRAIL_KEYS];
    int64_t now = clock_now();
    if (self->lines->len == 0) {
        self->first = now;
        self->waits_since = clock_monotonic();
        g_cond_signal(&changed);
    }
    self->last = now;
    append_stamp(self->lines, now);
    add_keys(self, keys, trail_keys_of(append_line(self->lines, self->program, text), keys));
    g_string_append_c(self->lines, '\n');
    if (self->lines->len >= TRAIL_BLOCK)
        flush(self);
}

void trail_note(const char *text)
{
    if (!begins_with_trace(text))
        return;
    g_mutex_lock(&lock);
    if (trail)
        note(trail, text);
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

/* Signals are the main thread's. NULL: the system gives no thread now, and lines wait for a beat. */
static GThread *start_writer(Trail *self)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    GThread *writer = g_thread_try_new("trail", write_in_time, self, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return writer;
}

static void trail_free(Trail *self)
{
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
    self->writer = start_writer(self);
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
    if (self)
        trail_free(self);
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
