/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/log.h"

void account_free(Account *account)
{
    g_free(account->name);
    g_free(account->home);
    g_free(account);
}

Account *privileges_account(const char *user, GError **error)
{
    if (geteuid() != 0 || !user)
        return NULL;
    errno = 0;
    const struct passwd *entry = getpwnam(user);
    if (!entry) {
        fail(error, FAIL_CONFIG, "[site] user: there is no user %s on this system", user);
        return NULL;
    }
    Account *account = g_new0(Account, 1);
    *account = (Account){
        .name = g_strdup(user), .home = g_strdup(entry->pw_dir), .uid = entry->pw_uid, .gid = entry->pw_gid};
    return account;
}

bool privileges_make_directory(const char *path, const Account *account, GError **error)
{
    g_autofree char *above = g_path_get_dirname(path);
    if (g_mkdir_with_parents(above, 0755) != 0 || mkdir(path, 0755) != 0)
        return errno == EEXIST || fail_errno(error, FAIL_CONFIG, "make directory %s", path);
    if (account && chown(path, account->uid, account->gid) != 0)
        return fail_errno(error, FAIL_CONFIG, "give %s to %s", path, account->name);
    return true;
}

bool privileges_assume(const Account *account, GError **error)
{
    /* The real ids too: by those alone root's processes could be signalled. */
    return !account ||
           (initgroups(account->name, account->gid) == 0 && setresgid(account->gid, account->gid, 0) == 0 &&
            setresuid(account->uid, account->uid, 0) == 0) ||
           fail_errno(error, FAIL_CONFIG, "act as user %s", account->name);
}

bool privileges_resume(const Account *account, GError **error)
{
    return !account || (setresuid(0, 0, 0) == 0 && setresgid(0, 0, 0) == 0) ||
           fail_errno(error, FAIL_LATER, "become root again");
}

bool privileges_drop(const Account *account, GError **error)
{
    if (account && account->uid != 0) {
        if (initgroups(account->name, account->gid) != 0 || setresgid(account->gid, account->gid, account->gid) != 0 ||
            setresuid(account->uid, account->uid, account->uid) != 0)
            return fail_errno(error, FAIL_CONFIG, "become user %s", account->name);
        if (setuid(0) == 0)
            return fail(error, FAIL_CONFIG, "became user %s but could become root again", account->name);
        g_setenv("HOME", account->home, true);
    }
    /* A service manager may have started us as the user, with the right to bind ports below 1024. */
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
        return fail_errno(error, FAIL_LATER, "give up ambient capabilities");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return fail_errno(error, FAIL_LATER, "set no_new_privs");
    return true;
}

void privileges_forbid_core(void)
{
    if (setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) != 0)
        log_warn("core files may be written: %s", g_strerror(errno));
}

void privileges_raise_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        log_warn("the limit of open files stays as it is: %s", g_strerror(errno));
}
