/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner-master: settings, root given up, one loop, then all down in reverse. */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/config.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/fs.h"
#include "master/control.h"
#include "master/slices.h"
#include "master/supervisor.h"

/* The user that a master becomes which root has started; [site] user. */
typedef struct Account {
    char *name, *home;
    unsigned uid, gid;
} Account;

static void account_free(Account *account)
{
    g_free(account->name);
    g_free(account->home);
    g_free(account);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Account, account_free)

/* The spool's lock, then the end of what a killed master left. The user can write all that is read here, so root acts
 * as the user meanwhile: nothing that is planted there makes root touch more than the user itself could. */
static bool claim_spool(const Plan *plan, const Account *account, int *state_dir, int *lock, GError **error)
{
    /* The real ids too: by those alone root's processes could be signalled. */
    if (account && (initgroups(account->name, account->gid) != 0 || setresgid(account->gid, account->gid, 0) != 0 ||
                    setresuid(account->uid, account->uid, 0) != 0))
        return fail_errno(error, FAIL_CONFIG, "act as user %s", account->name);
    *state_dir = slices_open_dir(plan->spool, error);
    if (*state_dir < 0)
        g_prefix_error(error, "[spool] directory, which must belong to the user: ");
    *lock = *state_dir >= 0 ? slices_lock_spool(*state_dir, plan->spool, error) : -1;
    if (*lock >= 0)
        slices_end_orphans(*state_dir, plan->limits.stop_timeout);
    else if (account)
        g_prefix_error(error, "as user %s: ", account->name);
    if (account && (setresuid(0, 0, 0) != 0 || setresgid(0, 0, 0) != 0))
        return fail_errno(*lock >= 0 ? error : NULL, FAIL_LATER, "become root again");
    return *lock >= 0;
}

/* Become the account: groups, group, user, in this order; checked by trying to come back. HOME becomes its directory:
 * libraries look for files there, and fail where root's may not be entered. Then, with or without an account, nothing
 * that this process starts has privileges or can gain any. */
static bool drop_privileges(const Account *account, GError **error)
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
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 || fail_errno(error, FAIL_LATER, "set no_new_privs");
}

/* Take sockets only when the spool is ours; root is given up before a child starts. */
static bool take_over(Master *master, const Account *account, GError **error)
{
    const Plan *plan = master->plan;
    const char *log_file = g_getenv(CHILD_ENV_LOG_FILE);
    bool made = false;
    if (!control_make_directory(plan->runtime, &made, error)) {
        g_prefix_error(error, "[master] runtime_directory: ");
        return false;
    }
    if (made && account && chown(plan->runtime, account->uid, account->gid) != 0)
        return fail_errno(error, FAIL_CONFIG, "[master] runtime_directory: give %s to %s", plan->runtime,
                          account->name);
    if (!supervisor_bind(master, plan, error) || !drop_privileges(account, error))
        return false;
    /* The configuration in force and the control socket go there, now and at each reload. */
    if (faccessat(AT_FDCWD, plan->runtime, W_OK | X_OK, AT_EACCESS) != 0)
        return fail_errno(error, FAIL_CONFIG, "[master] runtime_directory: found %s, where %s%s cannot write; "
                          "allowed is a directory of this user, or one that is not there yet", plan->runtime,
                          account ? "the user " : "who started this", account ? account->name : "");
    /* The log is opened as the user, as it is again at each reload. */
    return !log_file || log_to_file(log_file, error);
}

/* Whether to end before anything is started: what an earlier master's child still has, perhaps a socket, is not even
 * asked for then. */
static bool ends_here(void)
{
    sigset_t pending;
    if (sigpending(&pending) != 0 || (!sigismember(&pending, SIGTERM) && !sigismember(&pending, SIGINT)))
        return false;
    log_info("told to stop before any child was started");
    return true;
}

static bool run(const char *path, Plan **plan, const char *text, const sigset_t *held, GError **error)
{
    g_autoptr(Account) account = NULL;
    if (geteuid() == 0) {
        const char *user = (*plan)->user;
        const struct passwd *entry = getpwnam(user);
        if (!entry)
            return fail(error, FAIL_CONFIG, "[site] user: there is no user %s on this system", user);
        account = g_new0(Account, 1);
        *account = (Account){
            .name = g_strdup(user), .home = g_strdup(entry->pw_dir), .uid = entry->pw_uid, .gid = entry->pw_gid};
    }
    auto_fd lock = -1, state_dir = -1;
    if (!claim_spool(*plan, account, &state_dir, &lock, error))
        return false;
    if (ends_here())
        return true;
    struct event_base *base = event_base_new();
    bool good;
    { /* all that lives on the loop ends before it */
        g_autoptr(Master) master = supervisor_new(base, path, plan, state_dir, account ? account->gid : getegid());
        g_autoptr(Control) control = NULL;
        good = take_over(master, account, error) && supervisor_keep(master, text, error) &&
               (control = control_new(master, error)) != NULL;
        if (good && !ends_here())
            supervisor_run(master, held);
    }
    event_base_free(base);
    return good;
}

static int usage(FILE *to, int code)
{
    fputs("usage: listrunner-master [-t] [-c CONFIG]\n"
          "  -c CONFIG  the configuration (default $LISTRUNNER_CONFIG or " CONFIG_FILE ")\n"
          "  -t         only check the configuration\n"
          "  -V         print the version\n",
          to);
    return code;
}

/* Returns -1 to go on, or an exit code. */
static int read_options(int argc, char **argv, const char **config, bool *check)
{
    int option;
    while ((option = getopt(argc, argv, "c:thV")) != -1)
        switch (option) {
        case 'c':
            *config = optarg;
            break;
        case 't':
            *check = true;
            break;
        case 'h':
            return usage(stdout, 0);
        case 'V':
            puts("listrunner-master " PACKAGE_VERSION);
            return 0;
        default:
            return usage(stderr, CHILD_EXIT_USAGE);
        }
    return optind < argc ? usage(stderr, CHILD_EXIT_USAGE) : -1;
}

static int complain(const GError *error)
{
    g_auto(GStrv) lines = g_strsplit(error->message, "\n", -1);
    for (char **line = lines; *line; line++)
        log_error("%s", *line);
    return child_exit_code(error);
}

int main(int argc, char **argv)
{
    const char *config = NULL;
    bool check = false;
    int code = read_options(argc, argv, &config, &check);
    if (code >= 0)
        return code;
    log_open("master", LOG_TARGET_STDERR);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* the write fails instead */
    /* Before there are handlers, signals wait: the new master may have to wait for an old one's children, and a SIGHUP
     * in that time is no reason to end. */
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGINT);
    if (!check)
        sigprocmask(SIG_BLOCK, &held, NULL);
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_canonicalize_filename(config_default_path(config), NULL);
    g_autofree char *text = NULL;
    g_autoptr(Plan) plan = plan_read(path, &text, &error);
    if (!plan)
        return complain(error);
    g_autofree char *fault = mount_fault(plan->spool);
    if (fault)
        log_warn("[spool] directory: %s", fault);
    if (check) {
        printf("%s is good\n", path);
        return 0;
    }
    /* As many files as may be, for us and the children. */
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            log_warn("the limit of open files stays as it is: %s", g_strerror(errno));
    }
    /* Core files would hold keys, passwords and mail. */
    if (setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) != 0)
        log_warn("core files may be written: %s", g_strerror(errno));
    if (geteuid() == 0 && g_strcmp0(g_getenv(CONFIG_ENV_ALLOW_ROOT), "yes") == 0)
        log_warn(CONFIG_ENV_ALLOW_ROOT "=yes: [site] user may be root, which is for tests only");
    log_info("listrunner-master %s starts, pid=%ld config=%s", PACKAGE_VERSION, (long)getpid(), path);
    if (!run(path, &plan, text, &held, &error))
        code = complain(error);
    else
        log_info("ended");
    return code < 0 ? 0 : code;
}
