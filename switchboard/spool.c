/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/suffix_internal.h"

struct Queue {
    Spool *spool;
    char *name;
    int fd;
    GArray *held; /* hashes, sorted; NULL until queue_held() */
    bool look_again;
};

struct Spool {
    char *path;
    int fd;
    dev_t device;
    GHashTable *queues; /* name -> Queue */
};

static void queue_free(gpointer data)
{
    Queue *queue = data;
    close(queue->fd);
    g_clear_pointer(&queue->held, g_array_unref);
    g_free(queue->name);
    g_free(queue);
}

bool queue_name_valid(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return length > 0 && length <= QUEUE_NAME_MAX && name[length] == '\0' && name[0] >= 'a' && name[length - 1] != '-';
}

/* Whether a directory that cannot be opened is the person's matter who gave
 * its path; else it is the system's, and may pass. */
static bool is_wrong_path(int number)
{
    return number == ENOENT || number == ENOTDIR || number == EACCES || number == ELOOP || number == ENAMETOOLONG;
}

Spool *spool_open(const char *path, GError **error)
{
    auto_fd fd = fs_open_dir(AT_FDCWD, path, false, error);
    if (fd < 0) {
        if (is_wrong_path(errno) && error)
            (*error)->code = FAIL_CONFIG;
        g_prefix_error(error, "spool: ");
        return NULL;
    }
    struct stat status;
    if (fstat(fd, &status) != 0) {
        fail_errno(error, FAIL_LATER, "spool: stat %s", path);
        return NULL;
    }
    Spool *spool = g_new0(Spool, 1);
    spool->path = g_strdup(path);
    spool->fd = auto_fd_steal(&fd);
    spool->device = status.st_dev;
    spool->queues = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, queue_free);
    return spool;
}

void spool_free(Spool *spool)
{
    if (!spool)
        return;
    g_hash_table_destroy(spool->queues);
    close(spool->fd);
    g_free(spool->path);
    g_free(spool);
}

const char *spool_path(const Spool *spool)
{
    return spool->path;
}

int spool_fd(const Spool *spool)
{
    return spool->fd;
}

Queue *spool_queue(Spool *spool, const char *name, GError **error)
{
    Queue *queue = g_hash_table_lookup(spool->queues, name);
    if (queue)
        return queue;
    if (!queue_name_valid(name)) {
        fail(error, FAIL_CONFIG, "\"%s\" is no queue name; lower-case letters, digits and '-' are allowed", name);
        return NULL;
    }
    struct stat status;
    bool there = fstatat(spool->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there && errno != ENOENT) {
        fail_errno(error, FAIL_LATER, "queue %s: stat", name);
        return NULL;
    }
    if (there && !S_ISDIR(status.st_mode)) { /* a link would lead out of the spool, and recovery would not see it */
        fail(error, FAIL_CONFIG, "queue directory %s/%s is no directory%s", spool->path, name,
             S_ISLNK(status.st_mode) ? " but a symbolic link" : "");
        return NULL;
    }
    auto_fd fd = fs_open_dir(spool->fd, name, true, error);
    if (fd < 0) {
        g_prefix_error(error, "queue %s: ", name);
        return NULL;
    }
    if (fstat(fd, &status) != 0) {
        fail_errno(error, FAIL_LATER, "queue %s: stat", name);
        return NULL;
    }
    if (status.st_dev != spool->device) {
        fail(error, FAIL_CONFIG, "queue directory %s/%s is on another file system than the spool", spool->path, name);
        return NULL;
    }
    queue = g_new0(Queue, 1);
    queue->spool = spool;
    queue->name = g_strdup(name);
    queue->fd = auto_fd_steal(&fd);
    g_hash_table_insert(spool->queues, queue->name, queue);
    return queue;
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A listing of an open directory; NULL with errno set. */
static DIR *open_listing(int dir_fd)
{
    int fd = TEMP_FAILURE_RETRY(openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (!directory && fd >= 0) {
        int saved = errno;
        close(fd);
        errno = saved;
    }
    return directory;
}

/* NULL at the end with errno 0, or with errno set. */
static const char *next_name(DIR *directory)
{
    errno = 0;
    const struct dirent *found = readdir(directory);
    return found ? found->d_name : NULL;
}

/* Whether a name in the spool is that of a queue; false with errno set when
 * nobody can say. What has gone meanwhile is none. */
static bool is_queue(Spool *spool, const char *name)
{
    struct stat status;
    errno = 0;
    if (!queue_name_valid(name))
        return false;
    if (fstatat(spool->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        return S_ISDIR(status.st_mode);
    if (errno == ENOENT)
        errno = 0;
    return false;
}

/* Recovery must not take a part for the whole: one name that cannot be looked
 * at, and there is no list. */
char **spool_queue_names(Spool *spool, GError **error)
{
    DIR *directory = open_listing(spool->fd);
    if (!directory) {
        fail_errno(error, FAIL_LATER, "list %s", spool->path);
        return NULL;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    int fault = 0;
    for (const char *name; fault == 0 && (name = next_name(directory)) != NULL;)
        if (is_queue(spool, name))
            g_ptr_array_add(names, g_strdup(name));
        else
            fault = errno;
    if (fault == 0)
        fault = errno;
    closedir(directory);
    if (fault != 0) {
        errno = fault;
        fail_errno(error, FAIL_LATER, "list %s", spool->path);
        return NULL;
    }
    g_ptr_array_sort(names, compare_names);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

bool spool_sync_queues(Spool *spool, GError **error)
{
    g_auto(GStrv) names = spool_queue_names(spool, error);
    guint count = names ? g_strv_length(names) : 0;
    g_autofree FsSync *syncs = g_new0(FsSync, count + 1);
    for (guint i = 0; i < count; i++) {
        Queue *queue = spool_queue(spool, names[i], error);
        if (!queue)
            return false;
        syncs[i] = (FsSync){.fd = queue_fd(queue), .directory = true};
    }
    return names && fs_sync_group(syncs, count, error);
}

bool queue_visit(Queue *queue, QueueVisit *visit, void *data, GError **error)
{
    DIR *directory = open_listing(queue->fd);
    if (!directory)
        return fail_errno(error, FAIL_LATER, "list queue %s", queue->name);
    for (const char *file; (file = next_name(directory)) != NULL;) {
        EntryName name;
        const char *rest;
        if (name_parse(file, &name, &rest))
            visit(data, queue, file, &name, rest);
    }
    int fault = errno;
    closedir(directory);
    errno = fault;
    return fault == 0 || fail_errno(error, FAIL_LATER, "list queue %s", queue->name);
}

static void note_held(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    if (suffix_is_stored(rest))
        g_array_append_vals(data, name->hash, 1);
}

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(a, b, HASH_SIZE);
}

/* Sorts what was found, and adds what it does not have. */
static void add_known(GArray *found, GArray *known)
{
    g_array_sort(found, compare_hashes);
    guint listed = found->len;
    for (guint i = 0; known && i < known->len; i++) {
        const uint8_t *hash = (const uint8_t *)known->data + (size_t)i * HASH_SIZE;
        if (listed == 0 || !bsearch(hash, found->data, listed, HASH_SIZE, compare_hashes))
            g_array_append_vals(found, hash, 1);
    }
    g_array_sort(found, compare_hashes);
}

bool queue_held(Queue *queue, const uint8_t hash[HASH_SIZE], bool *held, GError **error)
{
    if (!queue->held || queue->look_again) {
        g_autoptr(GArray) found = g_array_new(FALSE, FALSE, HASH_SIZE);
        if (!queue_visit(queue, note_held, found, error))
            return false;
        add_known(found, queue->held);
        g_clear_pointer(&queue->held, g_array_unref);
        queue->held = g_steal_pointer(&found);
        queue->look_again = false;
    }
    *held = g_array_binary_search(queue->held, hash, compare_hashes, NULL);
    return true;
}

void queue_look_again(Queue *queue)
{
    queue->look_again = true;
}

const char *queue_name(const Queue *queue)
{
    return queue->name;
}

int queue_fd(const Queue *queue)
{
    return queue->fd;
}

Spool *queue_spool(const Queue *queue)
{
    return queue->spool;
}

bool queue_is_worked(const Config *config, const char *queue)
{
    for (const char *const *name = config_family(config, "runner"); *name; name++) {
        g_autofree char *section = g_strconcat("runner.", *name, NULL);
        const char *works = config_string(config, section, "queue");
        if (config_bool(config, section, "start") && g_str_equal(works ? works : *name, queue))
            return true;
    }
    return false;
}
