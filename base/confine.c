/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"

/* Define the constants that an older system header does not know. */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_SCOPE_SIGNAL
#define LANDLOCK_SCOPE_SIGNAL (1ULL << 1)
#endif

/* Versions of the kernel's interface. The first one lets nobody rename between directories, which archives need. */
#define VERSION_LEAST 2
#define VERSION_TRUNCATE 3
#define VERSION_NETWORK 4
#define VERSION_SCOPES 6

/* As newer headers have it; an older kernel wants a shorter one. */
typedef struct Ruleset {
    uint64_t files, network, scopes;
} Ruleset;

#define LIST_RIGHTS LANDLOCK_ACCESS_FS_READ_DIR
#define READ_RIGHTS (LIST_RIGHTS | LANDLOCK_ACCESS_FS_READ_FILE)
#define RUN_RIGHTS (READ_RIGHTS | LANDLOCK_ACCESS_FS_EXECUTE)
#define SOCKET_RIGHTS (LIST_RIGHTS | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define WRITE_RIGHTS                                                                                             \
    (READ_RIGHTS | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |                \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |                 \
     LANDLOCK_ACCESS_FS_REFER)
#define FILE_RIGHTS                                                                              \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
     LANDLOCK_ACCESS_FS_TRUNCATE)
#define ALL_RIGHTS \
    (WRITE_RIGHTS | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)

typedef struct Watched {
    char *path;
    bool link; /* itself, not what is behind it */
    dev_t device;
    ino_t number; /* 0: there was no file */
} Watched;

struct Confine {
    int version;  /* 0: the kernel cannot do it */
    int ruleset;  /* -1: it could not be made, with this number: */
    int fault;    /* errno of the first call that failed; 0: none */
    char *failed; /* its path; NULL: it was about none */
    GArray *watched;
};

static GArray *watched_now; /* of Watched; NULL: nothing was applied */

static int kernel_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U /* LANDLOCK_CREATE_RULESET_VERSION */);
    return (int)version;
}

bool confine_possible(const char **why)
{
    int version = kernel_version();
    *why = version >= VERSION_LEAST ? NULL
           : version > 0            ? "its Landlock is older than Linux 5.19"
           : errno == EOPNOTSUPP    ? "Landlock was switched off when it was started"
           : errno == ENOSYS        ? "it was built without Landlock"
                                    : "the service manager or container keeps Landlock from this process";
    return *why == NULL;
}

static void watched_clear(void *data)
{
    g_free(((Watched *)data)->path);
}

static uint64_t known_rights(int version)
{
    return version >= VERSION_TRUNCATE ? ALL_RIGHTS : ALL_RIGHTS & ~LANDLOCK_ACCESS_FS_TRUNCATE;
}

Confine *confine_new(void)
{
    Confine *confine = g_new0(Confine, 1);
    confine->watched = g_array_new(FALSE, FALSE, sizeof(Watched));
    g_array_set_clear_func(confine->watched, watched_clear);
    confine->version = kernel_version();
    const Ruleset rules = {.files = known_rights(confine->version),
                           .scopes = confine->version >= VERSION_SCOPES ? LANDLOCK_SCOPE_SIGNAL : 0};
    size_t size = confine->version >= VERSION_SCOPES    ? sizeof rules
                  : confine->version >= VERSION_NETWORK ? offsetof(Ruleset, scopes)
                                                        : offsetof(Ruleset, network);
    confine->ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0U);
    if (confine->ruleset < 0)
        confine->fault = errno;
    return confine;
}

void confine_free(Confine *confine)
{
    if (!confine)
        return;
    if (confine->ruleset >= 0)
        close(confine->ruleset);
    g_clear_pointer(&confine->watched, g_array_unref);
    g_free(confine->failed);
    g_free(confine);
}

void confine_allow(Confine *confine, ConfineRight right, const char *path)
{
    struct stat status;
    auto_fd fd = open(path, O_PATH | O_CLOEXEC);
    if (confine->fault != 0 || fd < 0 || fstat(fd, &status) != 0)
        return;
    static const uint64_t rights[] = {
        [CONFINE_LIST] = LIST_RIGHTS,      [CONFINE_READ] = READ_RIGHTS,   [CONFINE_RUN] = RUN_RIGHTS,
        [CONFINE_SOCKETS] = SOCKET_RIGHTS, [CONFINE_WRITE] = WRITE_RIGHTS,
    };
    struct landlock_path_beneath_attr rule = {
        .allowed_access = rights[right] & known_rights(confine->version),
        .parent_fd = fd,
    };
    if (!S_ISDIR(status.st_mode))
        rule.allowed_access &= FILE_RIGHTS;
    if (rule.allowed_access == 0 ||
        syscall(SYS_landlock_add_rule, confine->ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U) == 0 ||
        errno == EBADFD) /* a pipe, for instance: it lies on no file system and is not restricted */
        return;
    confine->fault = errno;
    confine->failed = g_strdup(path);
}

static void look(const char *path, Watched *watched)
{
    struct stat status;
    bool there = (watched->link ? lstat(path, &status) : stat(path, &status)) == 0;
    watched->device = there ? status.st_dev : 0;
    watched->number = there ? status.st_ino : 0;
}

static void watch(Confine *confine, const char *path, bool link)
{
    Watched watched = {.path = g_strdup(path), .link = link};
    look(path, &watched);
    g_array_append_val(confine->watched, watched);
}

void confine_watch(Confine *confine, const char *path)
{
    watch(confine, path, false);
}

void confine_watch_link(Confine *confine, const char *path)
{
    watch(confine, path, true);
}

bool confine_apply(Confine *confine, GError **error)
{
    errno = confine->fault;
    if (confine->fault != 0)
        return fail_errno(error, FAIL_LATER, "restrict access to files by Landlock%s%s",
                          confine->failed ? ", for " : "", confine->failed ? confine->failed : "");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_landlock_restrict_self, confine->ruleset, 0U) != 0)
        return fail_errno(error, FAIL_LATER, "restrict access to files by Landlock");
    g_clear_pointer(&watched_now, g_array_unref);
    watched_now = g_steal_pointer(&confine->watched);
    return true;
}

const char *confine_changed(void)
{
    for (guint at = 0; watched_now && at < watched_now->len; at++) {
        const Watched *before = &g_array_index(watched_now, Watched, at);
        Watched now = {.link = before->link};
        look(before->path, &now);
        if (now.number != 0 && (now.device != before->device || now.number != before->number))
            return before->path;
    }
    return NULL;
}

/* ioprio_set(2), for which there is no header. */
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_CLASS_IDLE (3 << 13)

void idle_become(void)
{
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    setpriority(PRIO_PROCESS, 0, 19); /* where there is no such class */
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_IDLE);
}
