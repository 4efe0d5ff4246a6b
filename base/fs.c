/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/bytes.h"
#include "base/fail.h"

/* Threads that wait in fsync for one process at most. The journal takes them into one commit; a member that comes
 * only after it, for want of a thread, costs the disk one more flush (doc/performance.md). */
#define SYNC_THREADS 64
#define CALLS 2 /* of helpers, by each */
#define FREE_INODES_MIN 100
/* Files without a name that wait to be closed: at most so many, and this part of the descriptors. */
#define GONE_MAX 64
#define GONE_PART 16

static FsHook *fs_hook;
static void *fs_hook_data;
static bool syncfs_allowed;

void fs_set_hook(FsHook *hook, void *data)
{
    fs_hook = hook;
    fs_hook_data = data;
}

void fs_use_syncfs(bool use)
{
    syncfs_allowed = use;
}

/* Tells the hook; returns false with errno set when the call must fail. */
static bool permitted(const FsEvent *event)
{
    int refusal = fs_hook ? fs_hook(event, fs_hook_data) : 0;
    if (refusal)
        errno = refusal;
    return refusal == 0;
}

static FailCode code_of(int number)
{
    switch (number) {
    case ENOENT:
        return FAIL_MISSING;
    case EEXIST:
        return FAIL_EXISTS;
    default:
        return FAIL_LATER;
    }
}

/* Of a rename or an unlink. What the file itself stands in the way of (a
 * directory, one that is immutable) will not pass by waiting. */
static FailCode code_of_change(int number)
{
    return number == EPERM || number == EISDIR ? FAIL_NEVER : code_of(number);
}

/* Fail with errno, and the path of an open file as the kernel knows it. */
static bool fail_on(GError **error, const char *what, int fd)
{
    int saved = errno;
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);
    char path[PATH_MAX];
    ssize_t length = readlink(link, path, sizeof path);
    errno = saved;
    if (length < 0)
        return fail_errno(error, FAIL_LATER, "%s descriptor %d", what, fd);
    return fail_errno(error, FAIL_LATER, "%s %.*s", what, (int)length, path);
}

/* With sync it is durable, also one that was there: whoever made it may
 * have died before. */
static bool make_dir(int parent_fd, const char *path, bool sync, GError **error)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    g_autofree char *plain = g_strndup(path, length);
    g_autofree char *above = g_path_get_dirname(plain), *name = g_path_get_basename(plain);
    auto_fd holder = TEMP_FAILURE_RETRY(openat(parent_fd, above, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (holder < 0 || !permitted(&(FsEvent){.call = FS_MAKE_DIR, .fd = holder, .name = name}) ||
        (mkdirat(holder, name, 0750) != 0 && errno != EEXIST))
        return fail_errno(error, code_of(errno), "make directory %s", path);
    return !sync || fs_sync_dir(holder, error);
}

int fs_open_dir(int parent_fd, const char *path, bool create, GError **error)
{
    if (create && !make_dir(parent_fd, path, true, error))
        return -1;
    int fd = TEMP_FAILURE_RETRY(openat(parent_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd < 0)
        fail_errno(error, code_of(errno), "open directory %s", path);
    return fd;
}

int fs_open_dir_unsynced(int parent_fd, const char *path, GError **error)
{
    return make_dir(parent_fd, path, false, error) ? fs_open_dir(parent_fd, path, false, error) : -1;
}

int fs_create(int dir_fd, const char *name, GError **error)
{
    int fd = -1;
    if (permitted(&(FsEvent){.call = FS_CREATE, .fd = dir_fd, .name = name}))
        fd = TEMP_FAILURE_RETRY(openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (fd < 0)
        fail_errno(error, code_of(errno), "create %s", name);
    return fd;
}

int fs_open(int dir_fd, const char *name, bool writable, GError **error)
{
    /* O_NONBLOCK: a FIFO planted in a queue must not stop us. */
    int flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    auto_fd fd = TEMP_FAILURE_RETRY(openat(dir_fd, name, flags));
    if (fd < 0) {
        FailCode code = errno == ELOOP || errno == EISDIR || errno == ENXIO ? FAIL_NEVER : code_of(errno);
        fail_errno(error, code, "open %s", name);
        return -1;
    }
    struct stat status;
    if (fstat(fd, &status) != 0) {
        fail_errno(error, FAIL_LATER, "stat %s", name);
        return -1;
    }
    if (!S_ISREG(status.st_mode)) {
        fail(error, FAIL_NEVER, "%s is not a regular file", name);
        return -1;
    }
    return auto_fd_steal(&fd);
}

bool fs_write(int fd, const void *data, size_t length, GError **error)
{
    if (!permitted(&(FsEvent){.call = FS_WRITE, .fd = fd, .data = data, .length = length}))
        return fail_on(error, "write", fd);
    const char *at = data;
    while (length > 0) {
        ssize_t written = write(fd, at, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail_on(error, "write", fd);
        at += written;
        length -= (size_t)written;
    }
    return true;
}

bool fs_writev(int fd, struct iovec *pieces, int count, GError **error)
{
    if (fs_hook) { /* the recorder sees plain writes */
        for (int i = 0; i < count; i++)
            if (!fs_write(fd, pieces[i].iov_base, pieces[i].iov_len, error))
                return false;
        return true;
    }
    while (count > 0) {
        ssize_t written = writev(fd, pieces, MIN(count, 1024));
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail_on(error, "write", fd);
        while (count > 0 && (size_t)written >= pieces->iov_len) {
            written -= (ssize_t)pieces->iov_len;
            pieces++;
            count--;
        }
        if (count > 0) {
            pieces->iov_base = (char *)pieces->iov_base + written;
            pieces->iov_len -= (size_t)written;
        }
    }
    return true;
}

bool fs_pwrite(int fd, const void *data, size_t length, off_t offset, GError **error)
{
    if (!permitted(&(FsEvent){.call = FS_PWRITE, .fd = fd, .data = data, .length = length, .offset = offset}))
        return fail_on(error, "write in place to", fd);
    const char *at = data;
    while (length > 0) {
        ssize_t written = pwrite(fd, at, length, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail_on(error, "write in place to", fd);
        at += written;
        offset += written;
        length -= (size_t)written;
    }
    return true;
}

bool fs_truncate(int fd, off_t length, GError **error)
{
    if (!permitted(&(FsEvent){.call = FS_TRUNCATE, .fd = fd, .offset = length}) ||
        TEMP_FAILURE_RETRY(ftruncate(fd, length)) != 0)
        return fail_on(error, "truncate", fd);
    return true;
}

bool fs_rename(int dir_fd, const char *from, const char *to, GError **error)
{
    if (!permitted(&(FsEvent){.call = FS_RENAME, .fd = dir_fd, .name = from, .to = to, .replaces = true}) ||
        renameat(dir_fd, from, dir_fd, to) != 0)
        return fail_errno(error, code_of_change(errno), "rename %s to %s", from, to);
    return true;
}

bool fs_rename_new(int dir_fd, const char *from, const char *to, GError **error)
{
    if (!permitted(&(FsEvent){.call = FS_RENAME, .fd = dir_fd, .name = from, .to = to}))
        return fail_errno(error, code_of_change(errno), "rename %s to %s", from, to);
    if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno == EINVAL || errno == ENOSYS) { /* NFS: look, then rename; names are unique anyway */
        if (faccessat(dir_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            errno = EEXIST;
        else if (renameat(dir_fd, from, dir_fd, to) == 0)
            return true;
    }
    return fail_errno(error, code_of_change(errno), "rename %s to %s", from, to);
}

bool fs_keep_once(int dir_fd, const char *name, mode_t mode, const void *data, size_t length, GError **error)
{
    g_autofree char *temporary = g_strdup_printf("%s.%d", name, (int)getpid());
    fs_unlink(dir_fd, temporary, NULL); /* of a process that died, and had our number */
    auto_fd fd = fs_create(dir_fd, temporary, error);
    if (fd < 0)
        return false;
    g_autoptr(GError) taken = NULL;
    bool done = (fchmod(fd, mode) == 0 || fail_errno(error, FAIL_LATER, "chmod %s", temporary)) &&
                fs_write(fd, data, length, error) && fs_sync_file(fd, error);
    if (done && fs_rename_new(dir_fd, temporary, name, &taken))
        return fs_sync_dir(dir_fd, error);
    fs_unlink(dir_fd, temporary, NULL);
    if (!taken || g_error_matches(taken, FAIL, FAIL_EXISTS))
        return done;
    return fail_with(error, &taken);
}

bool fs_unlink(int dir_fd, const char *name, GError **error)
{
    if (!permitted(&(FsEvent){.call = FS_UNLINK, .fd = dir_fd, .name = name}) || unlinkat(dir_fd, name, 0) != 0)
        return fail_errno(error, code_of_change(errno), "unlink %s", name);
    return true;
}

/* Returns 0 or an errno. EINTR is the one result after which the same call
 * may be made again: nothing was reported lost. On xfs (Linux 6.18) fsync() of a directory succeeds after the file
 * system has shut down, and has synced nothing then; fstat() of it fails with EIO. */
static int sync_one(int fd, bool directory)
{
    struct stat status;
    if (!permitted(&(FsEvent){.call = directory ? FS_SYNC_DIR : FS_SYNC_FILE, .fd = fd}))
        return errno;
    int result;
    do
        result = directory ? fsync(fd) : fdatasync(fd);
    while (result != 0 && errno == EINTR);
    if (result == 0 && directory)
        result = fstat(fd, &status);
    return result == 0 ? 0 : errno;
}

bool fs_sync_file(int fd, GError **error)
{
    int result = sync_one(fd, false);
    errno = result;
    return result == 0 || fail_on(error, "sync file", fd);
}

bool fs_sync_dir(int fd, GError **error)
{
    int result = sync_one(fd, true);
    errno = result;
    return result == 0 || fail_on(error, "sync directory", fd);
}

/* Whether this process is the fork of one that had a pool of threads. Such a child has none of those threads, but
 * GLib's pools still count on them, and on the one thread that makes all others: g_thread_pool_push() may wait for ever
 * (GLib 2.84), or leave the work to a thread that does not exist. No pool can be used there, not even a new one, so
 * the child does without helpers. */
static bool forked;

static void note_fork(void)
{
    forked = true;
}

static GThreadPool *pool_new(GFunc function, int threads)
{
    if (pthread_atfork(NULL, NULL, note_fork) != 0)
        g_error("no memory to watch for forks");
    return g_thread_pool_new(function, NULL, threads, FALSE, NULL);
}

/* A group in flight. The caller and its helpers take members until none is
 * left. Counted: a helper that comes late finds the round, not the group. */
struct FsSyncing {
    FsSync *group;
    GMutex lock;
    GCond done;
    size_t next, left, count; /* to be taken; not yet synced; in all */
    size_t uncalled;          /* helpers that it may still have */
    int64_t begun, ended;
};

static void sync_members(FsSyncing *round)
{
    g_mutex_lock(&round->lock);
    while (round->next < round->count) {
        FsSync *member = &round->group[round->next++];
        g_mutex_unlock(&round->lock);
        int result = sync_one(member->fd, member->directory);
        member->result = result != 0 ? result : member->result;
        g_mutex_lock(&round->lock);
        if (--round->left == 0) {
            round->ended = g_get_monotonic_time();
            g_cond_signal(&round->done);
        }
    }
    g_mutex_unlock(&round->lock);
}

static void round_clear(gpointer data)
{
    FsSyncing *round = data;
    g_mutex_clear(&round->lock);
    g_cond_clear(&round->done);
}

static void call_helpers(FsSyncing *round);

static void help(gpointer data, gpointer unused)
{
    (void)unused;
    call_helpers(data);
    sync_members(data);
    g_atomic_rc_box_release_full(data, round_clear);
}

/* Each who comes calls two more, while there is something to be taken: waking threads is not left to the one who has
 * the work, and where syncs cost nothing most are not woken at all. */
static void call_helpers(FsSyncing *round)
{
    static gsize pool;
    if (g_once_init_enter(&pool))
        g_once_init_leave(&pool, (gsize)pool_new(help, SYNC_THREADS));
    g_mutex_lock(&round->lock);
    size_t called = MIN(MIN(round->uncalled, round->count - round->next), CALLS);
    round->uncalled -= called;
    g_mutex_unlock(&round->lock);
    while (called-- > 0)
        g_thread_pool_push((GThreadPool *)pool, g_atomic_rc_box_acquire(round), NULL);
}

/* Archives may lie on file systems of their own. */
static bool on_one_device(const FsSync *group, size_t count)
{
    struct stat first, other;
    if (fstat(group[0].fd, &first) != 0)
        return false;
    for (size_t i = 1; i < count; i++)
        if (fstat(group[i].fd, &other) != 0 || other.st_dev != first.st_dev)
            return false;
    return true;
}

static FsSyncing *round_new(FsSync *group, size_t count)
{
    FsSyncing *round = g_atomic_rc_box_new0(FsSyncing);
    int64_t now = g_get_monotonic_time();
    *round = (FsSyncing){.group = group, .left = count, .count = count, .begun = now, .ended = now};
    g_mutex_init(&round->lock);
    g_cond_init(&round->done);
    for (size_t i = 0; i < count; i++)
        group[i].result = 0;
    if (fs_hook) /* one by one */
        sync_members(round);
    if (fs_hook || count < 2)
        return round;
    if (syncfs_allowed && on_one_device(group, count)) { /* all at once, by the calling thread */
        int result = syncfs(group[0].fd) == 0 ? 0 : errno;
        for (size_t i = 0; i < count; i++)
            group[i].result = result;
        round->next = count;
        round->left = 0;
        round->ended = g_get_monotonic_time();
        return round;
    }
    /* Send the data of all files on its way first, so that the journal's commit that the first sync waits for takes
     * all of them along: a third more files a second (doc/performance.md). Only a hint; what fails here, the sync
     * reports. */
    for (size_t i = 0; i < count; i++)
        if (!group[i].directory)
            sync_file_range(group[i].fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    return round;
}

/* The thread that ends the group does the work that no helper took. So a group of one needs no thread switch, and a
 * system that has no threads to give costs only time. */
static void get_help(FsSyncing *round, size_t helpers)
{
    round->uncalled = forked ? 0 : MIN(helpers, SYNC_THREADS);
    call_helpers(round);
}

FsSyncing *fs_sync_begin(FsSync *group, size_t count)
{
    FsSyncing *round = round_new(group, count);
    if (round->left > 0)
        get_help(round, count);
    return round;
}

bool fs_sync_end(FsSyncing *round, int64_t *took, GError **error)
{
    sync_members(round);
    g_mutex_lock(&round->lock);
    while (round->left > 0)
        g_cond_wait(&round->done, &round->lock);
    g_mutex_unlock(&round->lock);
    const FsSync *bad = NULL;
    for (size_t i = 0; i < round->count && !bad; i++)
        bad = round->group[i].result != 0 ? &round->group[i] : NULL;
    if (took)
        *took = round->ended - round->begun;
    g_atomic_rc_box_release_full(round, round_clear);
    if (!bad)
        return true;
    errno = bad->result;
    return fail_on(error, bad->directory ? "sync directory" : "sync file", bad->fd);
}

bool fs_sync_group(FsSync *group, size_t count, GError **error)
{
    if (count == 0)
        return true;
    FsSyncing *round = round_new(group, count);
    if (round->left > 1) {
        /* Wait for the data: ext4 notes where a file's data lies when it has arrived, and a commit that begins before
         * that leaves the note to the next one. A byte that could not be written is told once, here and not by the
         * sync. */
        for (size_t i = 0; i < count; i++) {
            bool lost = !group[i].directory && sync_file_range(group[i].fd, 0, 0, SYNC_FILE_RANGE_WAIT_AFTER) != 0 &&
                        errno != ENOSYS && errno != EPERM && errno != ESPIPE; /* not offered here; no file with data */
            group[i].result = lost ? errno : 0;
        }
        get_help(round, count - 1);
    }
    return fs_sync_end(round, NULL, error);
}

static void close_one(gpointer data, gpointer unused)
{
    (void)unused;
    close(GPOINTER_TO_INT(data) - 1); /* a pool takes no 0 */
}

void fs_close_gone(int fd)
{
    static gsize pool;
    static size_t most; /* files; known once there is a pool */
    if (!fs_hook && !forked && g_once_init_enter(&pool)) {
        most = fs_files_allowed(GONE_MAX, GONE_PART);
        g_once_init_leave(&pool, (gsize)pool_new(close_one, 1));
    }
    if (fs_hook || forked || g_thread_pool_unprocessed((GThreadPool *)pool) >= most)
        close(fd);
    else
        g_thread_pool_push((GThreadPool *)pool, GINT_TO_POINTER(fd + 1), NULL);
}

bool fs_unlink_gone(int dir_fd, const char *name, GError **error)
{
    int fd = fs_hook ? -1 : openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC); /* without it, it is freed here */
    bool unlinked = fs_unlink(dir_fd, name, error);
    if (fd >= 0)
        fs_close_gone(fd);
    return unlinked;
}

size_t fs_files_allowed(size_t wanted, unsigned part)
{
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) != 0 ? wanted : MIN(wanted, MAX((size_t)files.rlim_cur / part, 1));
}

void fs_expect_files(size_t count)
{
    size_t most = fs_files_allowed(count, 1);
    int some = open("/", O_PATH | O_CLOEXEC);
    int last = fcntl(some, F_DUPFD_CLOEXEC, (int)MIN(most, INT_MAX) - 1);
    if (last >= 0)
        close(last);
    if (some >= 0)
        close(some);
}

GPtrArray *fs_names(const char *path, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(GDir) directory = g_dir_open(path, 0, &fault);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    if (!directory && !g_error_matches(fault, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
        fail(error, FAIL_LATER, "%s", fault->message);
        return NULL;
    }
    for (const char *name; directory && (name = g_dir_read_name(directory));)
        if (*name != '.')
            g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, bytes_compare_texts);
    return g_steal_pointer(&names);
}

bool fs_free_space(int fd, uint64_t *octets, GError **error)
{
    struct statvfs status;
    if (fstatvfs(fd, &status) != 0)
        return fail_on(error, "ask for the free space of", fd);
    *octets = (uint64_t)status.f_bavail * status.f_frsize;
    if (status.f_files > 0 && status.f_favail < FREE_INODES_MIN)
        *octets = 0;
    return true;
}

#define TREE_FILES 16 /* that are open at a time when one is removed */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

bool fs_remove_tree(const char *path, GError **error)
{
    return nftw(path, remove_one, TREE_FILES, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT ||
           fail_errno(error, FAIL_LATER, "remove %s", path);
}

/* --- known faults of file systems ---------------------------------------- */

/* A line: identity, parent, device, root, mount point, options, optional fields, "-", type, source, options of
 * the file system. Fields hold no spaces (those of paths are \040). */
#define FIXED_FIELDS 6

char *mount_fault_in(const char *mountinfo, uint64_t mount, const char *path, bool network_only)
{
    static const char *const network[] = {"nfs",        "nfs4",           "cifs",      "smb3", "9p",    "afs", "ceph",
                                          "fuse.sshfs", "fuse.glusterfs", "glusterfs", "gfs2", "ocfs2", NULL};
    g_auto(GStrv) lines = g_strsplit(mountinfo, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) fields = g_strsplit(*line, " ", -1);
        if (g_strv_length(fields) <= FIXED_FIELDS || strtoull(fields[0], NULL, 10) != mount)
            continue;
        char **dash = fields + FIXED_FIELDS;
        while (*dash && !g_str_equal(*dash, "-"))
            dash++;
        if (!*dash || g_strv_length(dash) < 4)
            return NULL;
        const char *type = dash[1];
        if (g_strv_contains(network, type))
            return g_strdup_printf("%s is on %s, which hosts share: what is said to be on the disk there may be "
                                   "lost, and one host does not see what another does; use ext4 or xfs on a disk of "
                                   "this host",
                                   path, type);
        g_auto(GStrv) options = g_strsplit(dash[3], ",", -1);
        if (network_only || !g_str_equal(type, "btrfs") || g_strv_contains((const char *const *)options, "notreelog"))
            return NULL;
        return g_strdup_printf("%s is on btrfs that is mounted without notreelog: after a power cut, mail may be "
                               "delivered twice; mount it with notreelog, or use ext4 or xfs",
                               path);
    }
    return NULL;
}

static char *look(const char *path, bool network_only)
{
    struct statx status;
    g_autofree char *mountinfo = NULL;
    if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &status) != 0 || !(status.stx_mask & STATX_MNT_ID) ||
        !g_file_get_contents("/proc/self/mountinfo", &mountinfo, NULL, NULL))
        return NULL;
    return mount_fault_in(mountinfo, status.stx_mnt_id, path, network_only);
}

char *mount_fault(const char *path)
{
    return look(path, false);
}

char *mount_network_fault(const char *path)
{
    return look(path, true);
}
