/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/entry.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/format_internal.h"

/* Below this a read() is cheaper than a map. */
#define MAP_FROM (128 * 1024)
#define PROBE_BLOCK ((size_t)64 * 1024)

struct Entry {
    Queue *queue;
    EntryName name;
    char text[NAME_SIZE];
    int fd;
    FormatHead head;
    json_t *meta;
    GBytes *whole;
    char *octets; /* of whole; written to only by mark(), and only when it is ours */
    bool mapped;
    bool gone;    /* its file has no name any more */
    size_t recipients_at, message_at;
};

typedef struct Map {
    void *at;
    size_t size;
} Map;

static void map_free(gpointer data)
{
    Map *map = data;
    munmap(map->at, map->size);
    g_free(map);
}

/* Read size bytes at that offset; file is its name in messages. FAIL_LATER: the system cannot read them. FAIL_NEVER:
 * the file ends before. */
static bool read_all(int fd, off_t at, char *buffer, size_t size, const char *file, GError **error)
{
    for (size_t have = 0; have < size;) {
        ssize_t got = TEMP_FAILURE_RETRY(pread(fd, buffer + have, size - have, at + (off_t)have));
        if (got < 0)
            return fail_errno(error, FAIL_LATER, "read %s", file);
        if (got == 0)
            return fail(error, FAIL_NEVER, "%s shrank while it was read", file);
        have += (size_t)got;
    }
    return true;
}

/* The whole file as bytes: read when small, else mapped. A sector that cannot be read must be an error here, not a
 * signal when the map is touched. */
static bool load(Entry *entry, size_t size, GError **error)
{
    g_autofree char *buffer = g_malloc(size >= MAP_FROM ? PROBE_BLOCK : size);
    if (size < MAP_FROM) {
        if (!read_all(entry->fd, 0, buffer, size, entry->text, error))
            return false;
        entry->octets = buffer;
        entry->whole = g_bytes_new_take(g_steal_pointer(&buffer), size);
        return true;
    }
    for (size_t have = 0; have < size; have += PROBE_BLOCK)
        if (!read_all(entry->fd, (off_t)have, buffer, MIN(size - have, PROBE_BLOCK), entry->text, error))
            return false;
    void *at = mmap(NULL, size, PROT_READ, MAP_SHARED, entry->fd, 0);
    if (at == MAP_FAILED)
        return fail_errno(error, FAIL_LATER, "map %s", entry->text);
    Map *map = g_new(Map, 1);
    *map = (Map){at, size};
    entry->octets = at;
    entry->mapped = true;
    entry->whole = g_bytes_new_with_free_func(at, size, map_free, map);
    return true;
}

/* Read the first line, and see whether it fits the size of the file. */
static bool read_first_line(Entry *entry, const char *text, size_t size, GError **error)
{
    const FormatHead *head = &entry->head;
    if (!format_head_parse(text, &entry->head))
        return fail(error, FAIL_NEVER, "%s does not begin like an entry", entry->text);
    if (head->meta_length + head->recipients_length + head->message_length + FORMAT_HEAD_SIZE + FORMAT_TAIL_SIZE !=
        size)
        return fail(error, FAIL_NEVER, "%s is %zu octets long, its first line says otherwise", entry->text, size);
    entry->recipients_at = FORMAT_HEAD_SIZE + head->meta_length;
    entry->message_at = entry->recipients_at + head->recipients_length;
    return true;
}

static bool check_head(Entry *entry, GError **error)
{
    FormatHead seen = entry->head;
    const char *meta = entry->octets + FORMAT_HEAD_SIZE;
    g_autoptr(EVP_MD_CTX) sum = format_checksum_new();
    format_checksum_meta(sum, meta, seen.meta_length);
    if (!format_checksum_recipients(sum, entry->octets + entry->recipients_at, seen.recipients_length))
        return fail(error, FAIL_NEVER, "%s: a recipient line is damaged", entry->text);
    format_checksum_end(sum, &seen);
    if (memcmp(seen.checksum, entry->head.checksum, HASH_SIZE) != 0)
        return fail(error, FAIL_NEVER, "%s: metadata or recipients are damaged (SHA-1 differs)", entry->text);
    entry->meta = meta_parse(meta, seen.meta_length, error);
    if (!entry->meta)
        g_prefix_error(error, "%s: ", entry->text);
    return entry->meta != NULL;
}

Entry *entry_open_begin(Queue *queue, const char *file, bool writable, GError **error)
{
    g_autoptr(Entry) entry = g_new0(Entry, 1);
    entry->queue = queue;
    entry->fd = -1;
    if (!name_parse(file, &entry->name, NULL)) {
        fail(error, FAIL_NEVER, "\"%s\" is no name of an entry", file);
        return NULL;
    }
    name_format(&entry->name, entry->text);
    entry->fd = fs_open(queue_fd(queue), file, writable, error);
    if (entry->fd < 0)
        return NULL;
    posix_fadvise(entry->fd, 0, MAP_FROM, POSIX_FADV_WILLNEED); /* only a hint */
    return g_steal_pointer(&entry);
}

/* The bytes of the file, which are enough for one. */
static bool find_size(const Entry *entry, size_t *size, GError **error)
{
    struct stat status;
    if (fstat(entry->fd, &status) != 0)
        return fail_errno(error, FAIL_LATER, "stat %s", entry->text);
    *size = (size_t)status.st_size;
    return *size >= FORMAT_HEAD_SIZE + FORMAT_TAIL_SIZE ||
           fail(error, FAIL_NEVER, "%s is only %zu octets long", entry->text, *size);
}

bool entry_open_end(Entry *entry, GError **error)
{
    const FormatHead *head = &entry->head;
    size_t size;
    if (!find_size(entry, &size, error) || !load(entry, size, error) ||
        !read_first_line(entry, entry->octets, size, error))
        return false;
    char tail[FORMAT_TAIL_SIZE + 1];
    format_tail_print(entry->name.hash, tail);
    if (memcmp(entry->octets + entry->message_at + head->message_length, tail, FORMAT_TAIL_SIZE) != 0)
        return fail(error, FAIL_NEVER, "%s does not end like an entry of that name", entry->text);
    if (!check_head(entry, error))
        return false;
    uint8_t hash[HASH_SIZE];
    g_autoptr(EVP_MD_CTX) sum = format_checksum_new();
    format_hash_message(sum, entry->octets + entry->message_at, head->message_length);
    format_hash_end(sum, entry_list(entry), entry_arrival(entry), meta_integer(entry->meta, META_ORDINAL, 0),
                    meta_string(entry->meta, META_SHARD, NULL), hash);
    return memcmp(hash, entry->name.hash, HASH_SIZE) == 0 ||
           fail(error, FAIL_NEVER, "%s: the message is damaged (its SHA-1 is not that of the name)", entry->text);
}

Entry *entry_open(Queue *queue, const char *file, GError **error)
{
    g_autoptr(Entry) entry = entry_open_begin(queue, file, true, error);
    return entry && entry_open_end(entry, error) ? g_steal_pointer(&entry) : NULL;
}

Entry *entry_open_read(Queue *queue, const char *file, GError **error)
{
    g_autoptr(Entry) entry = entry_open_begin(queue, file, false, error);
    return entry && entry_open_end(entry, error) ? g_steal_pointer(&entry) : NULL;
}

Entry *entry_open_head(Queue *queue, const char *file, GError **error)
{
    g_autoptr(Entry) entry = entry_open_begin(queue, file, false, error);
    char text[FORMAT_HEAD_SIZE + 1] = "";
    size_t size;
    if (!entry || !find_size(entry, &size, error) ||
        !read_all(entry->fd, 0, text, FORMAT_HEAD_SIZE, entry->text, error) ||
        !read_first_line(entry, text, size, error))
        return NULL;
    entry->octets = g_malloc(entry->message_at);
    entry->whole = g_bytes_new_take(entry->octets, entry->message_at);
    if (!read_all(entry->fd, 0, entry->octets, entry->message_at, entry->text, error) || !check_head(entry, error))
        return NULL;
    return g_steal_pointer(&entry);
}

bool entry_read_arrival(Queue *queue, const char *file, int64_t *arrival, GError **error)
{
    char text[FORMAT_HEAD_SIZE + 1] = "";
    FormatHead head;
    auto_fd fd = fs_open(queue_fd(queue), file, false, error);
    if (fd < 0)
        return false;
    if (!read_all(fd, 0, text, FORMAT_HEAD_SIZE, file, error))
        return false;
    if (!format_head_parse(text, &head) || head.meta_length > META_MAX)
        return fail(error, FAIL_NEVER, "%s does not begin like an entry", file);
    g_autofree char *octets = g_malloc(head.meta_length);
    if (!read_all(fd, FORMAT_HEAD_SIZE, octets, head.meta_length, file, error))
        return false;
    g_autoptr(json_t) meta = meta_parse(octets, head.meta_length, error);
    *arrival = meta_integer(meta, META_ARRIVAL, 0);
    return meta != NULL;
}

void entry_free(Entry *entry)
{
    if (!entry)
        return;
    if (entry->fd >= 0 && entry->gone)
        fs_close_gone(entry->fd);
    else if (entry->fd >= 0)
        close(entry->fd);
    g_clear_pointer(&entry->meta, json_decref);
    g_clear_pointer(&entry->whole, g_bytes_unref);
    g_free(entry);
}

void entry_set_gone(Entry *entry)
{
    entry->gone = true;
}

Queue *entry_queue(const Entry *entry)
{
    return entry->queue;
}

const EntryName *entry_name(const Entry *entry)
{
    return &entry->name;
}

const char *entry_text(const Entry *entry)
{
    return entry->text;
}

const char *entry_trace(const Entry *entry)
{
    return meta_string(entry->meta, META_TRACE, entry->text + NAME_LENGTH - HASH_DIGITS);
}

json_t *entry_meta(Entry *entry)
{
    return entry->meta;
}

const char *entry_list(const Entry *entry)
{
    return meta_string(entry->meta, META_LIST, "");
}

int64_t entry_arrival(const Entry *entry)
{
    return meta_integer(entry->meta, META_ARRIVAL, 0);
}

unsigned entry_crashes(const Entry *entry)
{
    return entry->head.crashes;
}

int entry_fd(const Entry *entry)
{
    return entry->fd;
}

GBytes *entry_message(Entry *entry)
{
    return g_bytes_new_from_bytes(entry->whole, entry->message_at, entry->head.message_length);
}

size_t entry_message_length(const Entry *entry)
{
    return entry->head.message_length;
}

size_t entry_recipients_length(const Entry *entry)
{
    return entry->head.recipients_length;
}

bool entry_next_recipient(const Entry *entry, size_t offset, Recipient *recipient)
{
    if (offset >= entry->head.recipients_length)
        return false;
    const char *line = entry->octets + entry->recipients_at + offset;
    const char *feed = memchr(line, '\n', entry->head.recipients_length - offset);
    if (!feed) /* verified at opening; the file was changed under us */
        return false;
    *recipient = (Recipient){.offset = offset,
                             .state = *line,
                             .address = line + 1,
                             .length = (size_t)(feed - line) - 1,
                             .next = offset + (size_t)(feed - line) + 1};
    return true;
}

/* A range of marks is written as one piece: the bytes between are written
 * with the values they have. */
#define RANGE_MAX (64 * 1024)

bool entry_mark(Entry *entry, const size_t *offsets, size_t count, char state, GError **error)
{
    g_autofree char *range = NULL;
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && offsets[last + 1] > offsets[last] && offsets[last + 1] - offsets[i] < RANGE_MAX)
            last++;
        size_t length = offsets[last] - offsets[i] + 1;
        const char *octets = entry->octets + entry->recipients_at;
        if (!range)
            range = g_malloc(RANGE_MAX);
        memcpy(range, octets + offsets[i], length);
        for (size_t k = i; k <= last; k++)
            range[offsets[k] - offsets[i]] = state;
        if (!fs_pwrite(entry->fd, range, length, (off_t)(entry->recipients_at + offsets[i]), error)) {
            g_prefix_error(error, "mark recipients of %s: ", entry->text);
            return false;
        }
        if (!entry->mapped)
            memcpy(entry->octets + entry->recipients_at + offsets[i], range, length);
        i = last + 1;
    }
    return true;
}

bool entry_sync_marks(Entry *entry, GError **error)
{
    if (fs_sync_file(entry->fd, error))
        return true;
    g_prefix_error(error, "sync marks of %s: ", entry->text);
    return false;
}

static bool write_crashes(Entry *entry, unsigned crashes, GError **error)
{
    char digit = (char)('0' + MIN(crashes, ENTRY_CRASHES_MAX));
    if (!fs_pwrite(entry->fd, &digit, 1, FORMAT_CRASHES_OFFSET, error)) {
        g_prefix_error(error, "crash count of %s: ", entry->text);
        return false;
    }
    return true;
}

bool entry_begin_work(Entry *entry, GError **error)
{
    return write_crashes(entry, entry->head.crashes + 1, error);
}

bool entry_end_work(Entry *entry, GError **error)
{
    return write_crashes(entry, entry->head.crashes, error);
}
