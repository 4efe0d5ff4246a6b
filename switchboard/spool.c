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
#include "base/bytes.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/secret.h"
#include "switchboard/suffix_internal.h"

struct Queue {
    Spool *spool;
    char *name;
    int fd;
    ino_t inode;
    GArray *held; /* hashes, sorted; NULL until queue_held() */
    bool look_again;
};

struct Spool {
    char *path;
    char id[SPOOL_ID_SIZE]; /* empty until spool_id() */
    int fd;
    dev_t device;
    bool ours;          /* its owner is who we are: what we make in it others of its processes can change */
    GHashTable *queues; /* name -> Queue */
    GPtrArray *former;  /* of Queue: their directories were replaced by others, and may still be in use here */
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

Spool *spool_open(const char *path, GError **error)
{
    auto_fd fd = fs_open_dir(AT_FDCWD, path, false, error);
    if (fd < 0) {
        /* It is the matter of the person who gave the path, or else of the system, and may pass. */
        bool of_path = errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP ||
                       errno == ENAMETOOLONG;
        if (of_path && error)
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
    spool->ours = status.st_uid == geteuid();
    spool->former = g_ptr_array_new_with_free_func(queue_free);
    spool->queues = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, NULL);
    return spool;
}

void spool_free(Spool *spool)
{
    if (!spool)
        return;
    GHashTableIter iter;
    gpointer queue;
    g_hash_table_iter_init(&iter, spool->queues);
    while (g_hash_table_iter_next(&iter, NULL, &queue))
        queue_free(queue);
    g_hash_table_destroy(spool->queues);
    g_ptr_array_unref(spool->former);
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

static bool read_id(Spool *spool, GError **error)
{
    char text[SPOOL_ID_SIZE + 1] = "";
    auto_fd fd = fs_open(spool->fd, SPOOL_ID_FILE, false, error);
    if (fd < 0)
        return false;
    ssize_t got = TEMP_FAILURE_RETRY(pread(fd, text, sizeof text, 0));
    if (got < 0)
        return fail_errno(error, FAIL_LATER, "read %s/" SPOOL_ID_FILE, spool->path);
    if (got != SPOOL_ID_SIZE || text[SPOOL_ID_SIZE - 1] != '\n' ||
        strspn(text, "0123456789abcdef") != SPOOL_ID_SIZE - 1)
        return fail(error, FAIL_CONFIG,
                    "%s/" SPOOL_ID_FILE " holds no name of a spool, which is a line of %d hex digits; "
                    "restore it",
                    spool->path, SPOOL_ID_SIZE - 1);
    memcpy(spool->id, text, SPOOL_ID_SIZE - 1);
    return true;
}

const char *spool_id(Spool *spool, GError **error)
{
    g_autoptr(GError) missing = NULL;
    if (*spool->id || read_id(spool, &missing))
        return spool->id;
    if (!g_error_matches(missing, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&missing));
        return NULL;
    }
    g_autofree char *word = random_word(), *line = g_strconcat(word, "\n", NULL);
    bool made = fs_keep_once(spool->fd, SPOOL_ID_FILE, 0640, line, strlen(line), error);
    return made && read_id(spool, error) ? spool->id : NULL;
}

int spool_open_lock(const Spool *spool, const char *file, GError **error)
{
    int fd = TEMP_FAILURE_RETRY(openat(spool->fd, file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (fd < 0)
        fail_errno(error, FAIL_LATER, "open %s/%s", spool->path, file);
    return fd;
}

static bool fail_gone(const Spool *spool, const char *name, GError **error)
{
    struct stat status;
    if (fstatat(spool->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(status.st_mode))
        return fail(error, FAIL_LATER, "queue directory %s/%s was there, and something else is in its place; move that "
                    "away, and put the directory back", spool->path, name);
    return fail(error, FAIL_LATER, "queue directory %s/%s was there and is gone; put it back, or, when no mail of it "
                "is missed, make an empty one: listrunner spool check --repair", spool->path, name);
}

/* A link would lead out of the spool, and recovery would not see what is there. */
static bool fail_no_directory(const Spool *spool, const char *name, mode_t mode, GError **error)
{
    return fail(error, FAIL_CONFIG, "queue directory %s/%s is no directory%s", spool->path, name,
                S_ISLNK(mode) ? " but a symbolic link" : "");
}

/* Opens the directory; makes it where there never was one, or with make in any case. */
static Queue *open_queue(Spool *spool, const char *name, bool make, GError **error)
{
    struct stat status;
    bool there = fstatat(spool->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there && errno != ENOENT) {
        fail_errno(error, FAIL_LATER, "queue %s: stat", name);
        return NULL;
    }
    /* Was the directory there once? Where nobody can say, it must not be made anew. */
    g_autofree char *record = g_build_filename(SPOOL_RECORDS, name, NULL);
    bool recorded = faccessat(spool->fd, record, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (!recorded && errno != ENOENT) {
        fail_errno(error, FAIL_LATER, "queue %s: look for %s", name, record);
        return NULL;
    }
    if (!there && !make && recorded) {
        fail_gone(spool, name, error);
        return NULL;
    }
    if (there && !S_ISDIR(status.st_mode)) {
        fail_no_directory(spool, name, status.st_mode, error);
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
    if (!recorded && spool->ours) { /* where it cannot be recorded, the queue works nevertheless */
        int flags = O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, made = -1;
        if (mkdirat(spool->fd, SPOOL_RECORDS, 0755) == 0 || errno == EEXIST)
            made = TEMP_FAILURE_RETRY(openat(spool->fd, record, flags, 0640));
        if (made >= 0)
            close(made);
        else
            log_warn("queue %s: no record %s: %s; should its directory vanish, nobody will know", name, record,
                     g_strerror(errno));
    }
    Queue *queue = g_new0(Queue, 1), *before = g_hash_table_lookup(spool->queues, name);
    queue->spool = spool;
    queue->name = g_strdup(name);
    queue->fd = auto_fd_steal(&fd);
    queue->inode = status.st_ino;
    if (before)
        g_ptr_array_add(spool->former, before);
    g_hash_table_replace(spool->queues, queue->name, queue);
    return queue;
}

QueuePlace queue_place(const Queue *queue, GError **error)
{
    const Spool *spool = queue->spool;
    struct stat status;
    if (fstatat(spool->fd, queue->name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            fail_gone(spool, queue->name, error);
        else
            fail_errno(error, FAIL_LATER, "queue %s: stat", queue->name);
        return QUEUE_GONE;
    }
    if (!S_ISDIR(status.st_mode)) {
        fail_no_directory(spool, queue->name, status.st_mode, error);
        return QUEUE_GONE;
    }
    return status.st_ino == queue->inode && status.st_dev == spool->device ? QUEUE_HERE : QUEUE_REPLACED;
}

/* One stat() a call, so that what is written goes where the name leads. */
static Queue *find_queue(Spool *spool, const char *name, bool make, GError **error)
{
    Queue *queue = g_hash_table_lookup(spool->queues, name);
    g_autoptr(GError) gone = NULL;
    QueuePlace place = queue ? queue_place(queue, &gone) : QUEUE_REPLACED;
    if (place == QUEUE_HERE)
        return queue;
    if (place == QUEUE_GONE && !make) {
        g_propagate_error(error, g_steal_pointer(&gone));
        return NULL;
    }
    if (queue_name_valid(name))
        return open_queue(spool, name, make, error);
    fail(error, FAIL_CONFIG, "\"%s\" is no queue name; lower-case letters, digits and '-' are allowed", name);
    return NULL;
}

Queue *spool_queue(Spool *spool, const char *name, GError **error)
{
    return find_queue(spool, name, false, error);
}

Queue *spool_queue_again(Spool *spool, const char *name, GError **error)
{
    return find_queue(spool, name, true, error);
}

Queue *spool_target(Spool *spool, const char *name, GError **error)
{
    GError *fault = NULL;
    Queue *queue = spool_queue(spool, name, &fault);
    if (queue)
        return queue;
    if (queue_name_valid(name)) /* the queue is right, and its directory our own matter */
        fault->code = FAIL_LATER;
    g_propagate_error(error, fault);
    return NULL;
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
static bool is_queue(const Spool *spool, const char *name)
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

/* Whether the name is of a queue that was there, and leads to no directory now; false with errno set when nobody can
 * say. */
static bool is_missing(const Spool *spool, const char *name)
{
    struct stat status;
    errno = 0;
    if (!queue_name_valid(name))
        return false;
    bool there = fstatat(spool->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0, gone = !there && errno == ENOENT;
    if (gone)
        errno = 0;
    return gone || (there && !S_ISDIR(status.st_mode));
}

/* Return the wanted names of a listing, sorted; the listing is closed. NULL with errno set: at least one name cannot be
 * looked at. There is no shorter list then: recovery would take it for the whole, and miss the children of an entry
 * that are in the queue it was not told of. */
static char **list_names(const Spool *spool, DIR *directory, bool (*is_wanted)(const Spool *spool, const char *name))
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    int fault = 0;
    for (const char *name; fault == 0 && (name = next_name(directory)) != NULL;)
        if (is_wanted(spool, name))
            g_ptr_array_add(names, g_strdup(name));
        else
            fault = errno;
    if (fault == 0)
        fault = errno;
    closedir(directory);
    if (fault != 0) {
        g_ptr_array_unref(names);
        errno = fault;
        return NULL;
    }
    g_ptr_array_sort(names, bytes_compare_texts);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

char **spool_queue_names(Spool *spool, GError **error)
{
    DIR *directory = open_listing(spool->fd);
    char **names = directory ? list_names(spool, directory, is_queue) : NULL;
    if (!names)
        fail_errno(error, FAIL_LATER, "list %s", spool->path);
    return names;
}

char **spool_missing_queues(Spool *spool, GError **error)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    auto_fd fd = TEMP_FAILURE_RETRY(openat(spool->fd, SPOOL_RECORDS, flags));
    DIR *directory = fd >= 0 ? open_listing(fd) : NULL;
    if (!directory && errno == ENOENT) /* before the first queue there is none */
        return g_new0(char *, 1);
    char **names = directory ? list_names(spool, directory, is_missing) : NULL;
    if (!names)
        fail_errno(error, FAIL_LATER, "list %s/" SPOOL_RECORDS, spool->path);
    return names;
}

char **spool_every_queue(Spool *spool, bool *missing, GError **error)
{
    g_auto(GStrv) gone = spool_missing_queues(spool, error);
    if (gone && *gone)
        fail_gone(spool, *gone, error);
    if (missing)
        *missing = gone && *gone;
    return gone && !*gone ? spool_queue_names(spool, error) : NULL;
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

bool queue_is_empty(Queue *queue, bool *empty, GError **error)
{
    *empty = true;
    DIR *directory = open_listing(queue->fd);
    if (!directory)
        return fail_errno(error, FAIL_LATER, "list queue %s", queue->name);
    for (const char *file; *empty && (file = next_name(directory)) != NULL;) {
        EntryName name;
        const char *rest;
        *empty = !name_parse(file, &name, &rest);
    }
    int fault = *empty ? errno : 0;
    closedir(directory);
    errno = fault;
    return fault == 0 || fail_errno(error, FAIL_LATER, "list queue %s", queue->name);
}

bool spool_visit(Spool *spool, char **names, QueueVisit *visit, void *data, GError **error)
{
    for (char **name = names; *name; name++) {
        Queue *queue = spool_queue(spool, *name, error);
        if (!queue || !queue_visit(queue, visit, data, error))
            return false;
    }
    return true;
}

static void note_held(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    if (g_strv_contains(suffix_stored, rest))
        g_array_append_vals(data, name->hash, 1);
}

bool queue_held(Queue *queue, const uint8_t hash[HASH_SIZE], bool *held, GError **error)
{
    if (!queue->held || queue->look_again) {
        g_autoptr(GArray) found = g_array_new(FALSE, FALSE, HASH_SIZE);
        if (!queue_visit(queue, note_held, found, error))
            return false;
        /* A hash that was known before stays known, though it may have left the queue since. */
        g_array_sort(found, name_hash_compare);
        guint listed = found->len;
        for (guint i = 0; queue->held && i < queue->held->len; i++) {
            const uint8_t *known = (const uint8_t *)queue->held->data + (size_t)i * HASH_SIZE;
            if (listed == 0 || !bsearch(known, found->data, listed, HASH_SIZE, name_hash_compare))
                g_array_append_vals(found, known, 1);
        }
        g_array_sort(found, name_hash_compare);
        g_clear_pointer(&queue->held, g_array_unref);
        queue->held = g_steal_pointer(&found);
        queue->look_again = false;
    }
    *held = g_array_binary_search(queue->held, hash, name_hash_compare, NULL);
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
