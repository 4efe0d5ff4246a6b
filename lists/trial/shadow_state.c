/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/shadow_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "mail/address.h"

#define SEEN_MAX (64 * 1024 * 1024) /* bytes of KEY.seen; further recipients are not known */
#define MODE 0640
#define LINE_END " .\n"

/* One post, or what came of one. */
typedef struct Waiting {
    char key[SHADOW_KEY_LENGTH + 1];
    int64_t since; /* when its first mail came */
    uint64_t bytes;
    bool post, copy, seen;
} Waiting;

struct ShadowState {
    int directory, report; /* report is borrowed */
    ShadowLimits limits;
    GHashTable *waiting; /* key -> Waiting */
    GHashTable *done;    /* keys */
    GQueue order;        /* of keys of done, the oldest first; they belong to done */
    uint64_t bytes;
};

static char *name_of(const char *key, const char *suffix)
{
    return g_strconcat(key, ".", suffix, NULL);
}

char *shadow_state_key(const char *list_id, const char *token)
{
    g_autofree char *text = g_strconcat(list_id, "\n", token, NULL);
    return g_compute_checksum_for_string(G_CHECKSUM_SHA1, text, -1);
}

void shadow_state_free(ShadowState *state)
{
    if (!state)
        return;
    close(state->directory);
    g_hash_table_unref(state->waiting);
    g_queue_clear(&state->order);
    g_hash_table_unref(state->done);
    g_free(state);
}

/* ---- the table ---- */

static Waiting *waiting_of(ShadowState *state, const char *key, int64_t since)
{
    Waiting *waiting = g_hash_table_lookup(state->waiting, key);
    if (!waiting) {
        waiting = g_new0(Waiting, 1);
        g_strlcpy(waiting->key, key, sizeof waiting->key);
        waiting->since = since;
        g_hash_table_insert(state->waiting, waiting->key, waiting);
    }
    return waiting;
}

static void add_bytes(ShadowState *state, Waiting *waiting, uint64_t bytes)
{
    waiting->bytes += bytes;
    state->bytes += bytes;
}

static bool has_room(const ShadowState *state, const char *key, uint64_t bytes)
{
    return state->bytes + bytes <= state->limits.bytes &&
           (g_hash_table_contains(state->waiting, key) || g_hash_table_size(state->waiting) < state->limits.posts);
}

static void remember_done(ShadowState *state, const char *key)
{
    char *own = g_strdup(key);
    if (!g_hash_table_add(state->done, own))
        return;
    g_queue_push_tail(&state->order, own);
    while (state->order.length > state->limits.done) {
        const char *oldest = g_queue_pop_head(&state->order);
        g_autofree char *name = name_of(oldest, "done");
        fs_unlink(state->directory, name, NULL); /* found again at the next start where this fails */
        g_hash_table_remove(state->done, oldest);
    }
}

const char *shadow_state_due(const ShadowState *state, int64_t before)
{
    GHashTableIter each;
    void *value;
    const Waiting *first = NULL;
    g_hash_table_iter_init(&each, state->waiting);
    while (g_hash_table_iter_next(&each, NULL, &value)) {
        const Waiting *waiting = value;
        if (waiting->since < before && (!first || waiting->since < first->since))
            first = waiting;
    }
    return first ? first->key : NULL;
}

/* ---- reading files ---- */

/* The bytes of a file; *bytes stays NULL where there is none. */
static bool read_file(const ShadowState *state, const char *name, GBytes **bytes, GError **error)
{
    struct stat status;
    g_autoptr(GError) why = NULL;
    auto_fd fd = fs_open(state->directory, name, false, &why);
    *bytes = NULL;
    if (fd < 0 && g_error_matches(why, FAIL, FAIL_MISSING))
        return true;
    if (fd < 0)
        return fail_with(error, &why);
    if (fstat(fd, &status) != 0)
        return fail_errno(error, FAIL_LATER, "%s", name);
    g_autofree char *data = g_malloc((gsize)status.st_size + 1);
    gsize length = 0;
    while (length < (gsize)status.st_size) {
        ssize_t got = pread(fd, data + length, (gsize)status.st_size - length, (off_t)length);
        if (got < 0)
            return fail_errno(error, FAIL_LATER, "read %s", name);
        if (got == 0)
            break;
        length += (gsize)got;
    }
    *bytes = g_bytes_new_take(g_steal_pointer(&data), length);
    return true;
}

/* A file of one line and bytes: *line is g_free()d. Nothing is set where there is no such file. */
static bool read_pair(const ShadowState *state, const char *name, char **line, GBytes **bytes, GError **error)
{
    GBytes *read;
    *line = NULL;
    *bytes = NULL;
    if (!read_file(state, name, &read, error))
        return false;
    g_autoptr(GBytes) all = read;
    gsize length = 0;
    const char *data = all ? g_bytes_get_data(all, &length) : NULL;
    const char *end = data ? memchr(data, '\n', length) : NULL;
    if (!end)
        return true;
    *line = g_strndup(data, (gsize)(end - data));
    *bytes = g_bytes_new_from_bytes(all, (gsize)(end + 1 - data), length - (gsize)(end + 1 - data));
    return true;
}

void shadow_case_clear(ShadowCase *found)
{
    g_clear_pointer(&found->head, json_decref);
    g_clear_pointer(&found->post, g_bytes_unref);
    g_clear_pointer(&found->copy, g_bytes_unref);
    g_clear_pointer(&found->list_id, g_free);
    g_clear_pointer(&found->message_id, g_free);
    g_clear_pointer(&found->copy_recipient, g_free);
    g_clear_pointer(&found->recipients, g_hash_table_unref);
}

static void read_seen_line(ShadowCase *found, char *line, int64_t *since)
{
    size_t length = strlen(line);
    if (!g_str_has_suffix(line, " .") || length < 3)
        return;
    line[length - 2] = '\0';
    const char *value = length > 4 ? line + 2 : "";
    switch (*line) {
    case 't':
        *since = g_ascii_strtoll(value, NULL, 10);
        break;
    case 'r':
        g_hash_table_replace(found->recipients, address_key(value), g_strdup(value));
        break;
    case 'l':
        g_free(found->list_id);
        found->list_id = g_strdup(value);
        break;
    case 'm':
        g_free(found->message_id);
        found->message_id = g_strdup(value);
        break;
    default:
        found->unknown |= *line == 'u';
        found->held |= *line == 'h';
        found->rejected |= *line == 'x';
        found->forwarded |= *line == 'f';
    }
}

static bool read_seen(const ShadowState *state, const char *key, ShadowCase *found, int64_t *since, GError **error)
{
    GBytes *read;
    g_autofree char *name = name_of(key, "seen");
    if (!read_file(state, name, &read, error))
        return false;
    g_autoptr(GBytes) all = read;
    gsize length = 0;
    const char *data = all ? g_bytes_get_data(all, &length) : NULL;
    const char *end = data + length;
    for (const char *at = data, *next; at && at < end; at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        if (!next)
            break;
        g_autofree char *line = g_strndup(at, (gsize)(next - at));
        read_seen_line(found, line, since);
    }
    return true;
}

static json_t *parse_head(const char *line)
{
    json_t *head = line ? json_loads(line, 0, NULL) : NULL;
    if (json_is_object(head))
        return head;
    json_decref(head);
    return NULL;
}

bool shadow_state_read(ShadowState *state, const char *key, ShadowCase *found, GError **error)
{
    int64_t since;
    char *line;
    g_autofree char *post = name_of(key, "post"), *copy = name_of(key, "copy");
    *found = (ShadowCase){.recipients = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
    if (!read_pair(state, post, &line, &found->post, error))
        return false;
    found->head = parse_head(line);
    g_free(line);
    return read_pair(state, copy, &found->copy_recipient, &found->copy, error) &&
           read_seen(state, key, found, &since, error);
}

/* ---- taking ---- */

static bool keep_pair(ShadowState *state, const char *name, const char *line, GBytes *octets, GError **error)
{
    gsize length;
    const char *data = g_bytes_get_data(octets, &length);
    g_autoptr(GByteArray) all = g_byte_array_sized_new((guint)(strlen(line) + 1 + length));
    g_byte_array_append(all, (const guint8 *)line, (guint)strlen(line));
    g_byte_array_append(all, (const guint8 *)"\n", 1);
    if (length > 0)
        g_byte_array_append(all, (const guint8 *)data, (guint)length);
    return fs_keep_once(state->directory, name, MODE, all->data, all->len, error);
}

bool shadow_state_post(ShadowState *state, const char *key, const json_t *head, GBytes *octets, ShadowTaken *taken,
                       GError **error)
{
    const Waiting *known = g_hash_table_lookup(state->waiting, key);
    g_autofree char *name = name_of(key, "post"), *line = json_dumps(head, JSON_COMPACT | JSON_SORT_KEYS);
    uint64_t size = g_bytes_get_size(octets) + strlen(line) + 1;
    *taken = g_hash_table_contains(state->done, key) ? SHADOW_LATE
             : known && known->post                  ? SHADOW_KNOWN
             : !has_room(state, key, size)           ? SHADOW_NO_ROOM
                                                     : SHADOW_TAKEN;
    if (*taken != SHADOW_TAKEN)
        return true;
    if (!keep_pair(state, name, line, octets, error))
        return false;
    Waiting *waiting = waiting_of(state, key, json_integer_value(json_object_get(head, "arrival")));
    waiting->post = true;
    add_bytes(state, waiting, size);
    return true;
}

/* One line of KEY.seen. Nothing in it can be taken for an end. */
static void add_line(GString *lines, char kind, const char *value)
{
    g_autofree char *plain = g_strdelimit(g_strdup(value ? value : ""), "\r\n", '?');
    g_string_append_c(lines, kind);
    if (*plain)
        g_string_append_printf(lines, " %s", plain);
    g_string_append(lines, LINE_END);
}

bool shadow_state_seen(ShadowState *state, const char *key, const ShadowSeen *seen, ShadowTaken *taken, GError **error)
{
    const Waiting *known = g_hash_table_lookup(state->waiting, key);
    bool keeps = !seen->letter && !(known && known->copy), first = !known || !known->seen;
    uint64_t size = keeps ? g_bytes_get_size(seen->octets) : 0;
    for (char **address = seen->recipients; address && *address; address++)
        size += strlen(*address) + strlen("r " LINE_END);
    *taken = g_hash_table_contains(state->done, key) ? SHADOW_LATE
             : !has_room(state, key, size)           ? SHADOW_NO_ROOM
                                                     : SHADOW_TAKEN;
    if (*taken != SHADOW_TAKEN)
        return true;

    struct stat status = {0};
    g_autofree char *name = name_of(key, "seen"), *time = g_strdup_printf("%" G_GINT64_FORMAT, seen->now);
    auto_fd fd = first ? fs_create(state->directory, name, error) : fs_open(state->directory, name, true, error);
    if (fd < 0)
        return false;
    if (fstat(fd, &status) != 0)
        return fail_errno(error, FAIL_LATER, "%s", name);
    bool full = status.st_size > SEEN_MAX;
    g_autoptr(GString) lines = g_string_new("\n"); /* ends what a crash had cut off */
    if (first) {
        add_line(lines, 't', time);
        add_line(lines, 'l', seen->list_id);
        add_line(lines, 'm', seen->message_id);
    }
    for (char **address = full ? NULL : seen->recipients; address && *address; address++)
        add_line(lines, 'r', *address);
    if (seen->unknown || full)
        add_line(lines, 'u', NULL);
    if (seen->letter)
        add_line(lines, seen->letter, NULL);
    if (!fs_pwrite(fd, lines->str, lines->len, status.st_size, error))
        return false;
    Waiting *waiting = waiting_of(state, key, seen->now);
    waiting->seen = true;
    add_bytes(state, waiting, lines->len);
    if (!keeps)
        return true;

    const char *recipient = seen->recipients && *seen->recipients ? *seen->recipients : "";
    g_autofree char *copy = name_of(key, "copy"), *line = g_strdelimit(g_strdup(recipient), "\r\n", '?');
    if (!keep_pair(state, copy, line, seen->octets, error))
        return false;
    waiting->copy = true;
    add_bytes(state, waiting, g_bytes_get_size(seen->octets) + strlen(line) + 1);
    return true;
}

/* ---- ending ---- */

bool shadow_state_attempt(ShadowState *state, const char *key, bool *poison, GError **error)
{
    static const char *const marks[] = {"try1", "try2"};
    *poison = false;
    for (size_t at = 0; at < G_N_ELEMENTS(marks); at++) {
        g_autofree char *name = name_of(key, marks[at]);
        g_autoptr(GError) why = NULL;
        auto_fd fd = fs_create(state->directory, name, &why);
        if (fd >= 0)
            return true;
        if (!g_error_matches(why, FAIL, FAIL_EXISTS))
            return fail_with(error, &why);
    }
    *poison = true;
    return true;
}

void shadow_state_withdraw(ShadowState *state, const char *key)
{
    g_autofree char *last = name_of(key, "try2"), *first = name_of(key, "try1");
    if (!fs_unlink(state->directory, last, NULL))
        fs_unlink(state->directory, first, NULL);
}

/* Append the line to the report, unless a crash had left it there, or a part of it. */
static bool append_report(const ShadowState *state, const char *line, GError **error)
{
    struct stat status;
    if (fstat(state->report, &status) != 0)
        return fail_errno(error, FAIL_LATER, "the report");
    g_autofree char *whole = g_strconcat(line, "\n", NULL);
    off_t length = (off_t)strlen(whole), end = status.st_size;
    g_autofree char *last = g_malloc((gsize)length);
    if (end >= length && pread(state->report, last, (size_t)length, end - length) == length &&
        memcmp(last, whole, (size_t)length) == 0)
        return true;
    /* Take off what a crash left of a line. */
    for (char byte = '\0'; end > 0; end--) {
        if (pread(state->report, &byte, 1, end - 1) != 1)
            return fail_errno(error, FAIL_LATER, "read the report");
        if (byte == '\n')
            break;
    }
    return (end == status.st_size || fs_truncate(state->report, end, error)) &&
           fs_pwrite(state->report, whole, (size_t)length, end, error) && fs_sync_file(state->report, error);
}

static bool forget(ShadowState *state, const char *key, GError **error)
{
    static const char *const suffixes[] = {"post", "copy", "seen", "try1", "try2", "line"};
    g_autofree char *done = name_of(key, "done");
    if (!fs_keep_once(state->directory, done, MODE, "", 0, error))
        return false;
    for (size_t at = 0; at < G_N_ELEMENTS(suffixes); at++) { /* the line goes last: it says that the others are to go */
        g_autofree char *name = name_of(key, suffixes[at]);
        g_autoptr(GError) why = NULL;
        if (!fs_unlink(state->directory, name, &why) && !g_error_matches(why, FAIL, FAIL_MISSING))
            return fail_with(error, &why);
    }
    const Waiting *waiting = g_hash_table_lookup(state->waiting, key);
    state->bytes -= waiting ? waiting->bytes : 0;
    remember_done(state, key);
    g_hash_table_remove(state->waiting, key); /* key may be its own */
    return true;
}

bool shadow_state_report(ShadowState *state, const char *key, const char *line, GError **error)
{
    g_autofree char *name = name_of(key, "line");
    return fs_keep_once(state->directory, name, MODE, line, strlen(line), error) && append_report(state, line, error) &&
           forget(state, key, error);
}

/* ---- the start ---- */

typedef struct DoneFile {
    char key[SHADOW_KEY_LENGTH + 1];
    int64_t at;
} DoneFile;

static int by_age(const void *one, const void *other)
{
    int64_t first = ((const DoneFile *)one)->at, second = ((const DoneFile *)other)->at;
    return first < second ? -1 : first > second;
}

static void note_file(ShadowState *state, const char *name, GArray *done, GPtrArray *lines)
{
    struct stat status;
    DoneFile file = {0};
    g_strlcpy(file.key, name, sizeof file.key);
    const char *suffix = name + SHADOW_KEY_LENGTH + 1;
    if (fstatat(state->directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return;
    file.at = status.st_mtim.tv_sec * CLOCK_SECOND + status.st_mtim.tv_nsec / 1000;
    if (g_str_equal(suffix, "done"))
        g_array_append_val(done, file);
    else if (g_str_equal(suffix, "line"))
        g_ptr_array_add(lines, g_strdup(file.key));
    bool post = g_str_equal(suffix, "post"), copy = g_str_equal(suffix, "copy"), seen = g_str_equal(suffix, "seen");
    if (!post && !copy && !seen)
        return;
    Waiting *waiting = waiting_of(state, file.key, 0);
    waiting->post |= post;
    waiting->copy |= copy;
    waiting->seen |= seen;
    add_bytes(state, waiting, (uint64_t)status.st_size);
}

/* Read the directory: what is done, and what waits. */
static bool load(ShadowState *state, GError **error)
{
    g_autoptr(GArray) done = g_array_new(FALSE, FALSE, sizeof(DoneFile));
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    int fd = fcntl(state->directory, F_DUPFD_CLOEXEC, 0);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream)
        return fail_errno(error, FAIL_LATER, "the state of the shadow");
    for (const struct dirent *entry; (entry = readdir(stream));) {
        bool ours = strspn(entry->d_name, "0123456789abcdef") == SHADOW_KEY_LENGTH &&
                    entry->d_name[SHADOW_KEY_LENGTH] == '.';
        bool half = ours && strchr(entry->d_name + SHADOW_KEY_LENGTH + 1, '.'); /* of fs_keep_once() */
        if (half)
            fs_unlink(state->directory, entry->d_name, NULL);
        else if (ours)
            note_file(state, entry->d_name, done, lines);
    }
    closedir(stream);
    g_array_sort(done, by_age);
    for (guint at = 0; at < done->len; at++)
        remember_done(state, g_array_index(done, DoneFile, at).key);

    for (guint at = 0; at < lines->len; at++) { /* reports that were under way */
        GBytes *read;
        gsize length = 0;
        g_autofree char *name = name_of(lines->pdata[at], "line");
        if (!read_file(state, name, &read, error))
            return false;
        g_autoptr(GBytes) bytes = read;
        const char *data = bytes ? g_bytes_get_data(bytes, &length) : NULL;
        g_autofree char *line = g_strndup(data ? data : "", length);
        if (!append_report(state, line, error) || !forget(state, lines->pdata[at], error))
            return false;
    }

    GHashTableIter each;
    void *value;
    g_hash_table_iter_init(&each, state->waiting);
    while (g_hash_table_iter_next(&each, NULL, &value)) { /* when the first mail about it came */
        Waiting *waiting = value;
        g_auto(ShadowCase) found = {.recipients = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
        char *read;
        g_autofree char *post = name_of(waiting->key, "post");
        int64_t seen = INT64_MAX;
        if (!read_pair(state, post, &read, &found.post, error))
            return false;
        g_autofree char *line = read;
        if (!read_seen(state, waiting->key, &found, &seen, error))
            return false;
        found.head = parse_head(line);
        const json_t *arrival = json_object_get(found.head, "arrival");
        waiting->since = MIN(seen, arrival ? json_integer_value(arrival) : INT64_MAX);
        if (waiting->since == INT64_MAX)
            waiting->since = clock_now(); /* a crash left no more of it */
    }
    return true;
}

ShadowState *shadow_state_open(const char *directory, int report, const ShadowLimits *limits, GError **error)
{
    int fd = fs_open_dir(AT_FDCWD, directory, true, error);
    if (fd < 0)
        return NULL;
    g_autoptr(ShadowState) state = g_new0(ShadowState, 1);
    state->directory = fd;
    state->report = report;
    state->limits = *limits;
    state->waiting = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    state->done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        fail(error, FAIL_EXISTS, "%s is used by another process", directory);
        return NULL;
    }
    return load(state, error) ? g_steal_pointer(&state) : NULL;
}
