/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner-master: settings, then one loop, then all down in reverse. */
#include <event2/event.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mount.h"
#include "master/control.h"
#include "master/notify.h"
#include "master/privileges.h"
#include "master/reload.h"
#include "master/slices.h"
#include "master/supervisor.h"

typedef struct Options {
    const char *config;
    bool check;
} Options;

static void on_signal(evutil_socket_t number, short what, void *data)
{
    Master *master = data;
    int status;
    pid_t pid;
    if (number == SIGCHLD)
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            supervisor_died(master, pid, status);
    else if (number == SIGHUP)
        reload_apply(master, NULL);
    else
        supervisor_stop(master);
}

static void on_watchdog(evutil_socket_t fd, short what, void *data)
{
    notify_watchdog();
}

/* Before there are handlers, signals wait: the new master may have to wait for an old one's children, and a SIGHUP
 * in that time is no reason to end. */
static void hold_signals(int how)
{
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGINT);
    sigprocmask(how, &held, NULL);
}

/* Runs until the last child has ended. */
static void loop(Master *master)
{
    static const int numbers[] = {SIGCHLD, SIGHUP, SIGTERM, SIGINT};
    struct event *events[G_N_ELEMENTS(numbers) + 1];
    size_t count = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        events[count] = evsignal_new(master->base, numbers[i], on_signal, master);
        event_add(events[count++], NULL);
    }
    int64_t interval = notify_watchdog_interval();
    if (interval > 0) {
        struct timeval every = {interval / CLOCK_SECOND, interval % CLOCK_SECOND};
        events[count] = event_new(master->base, -1, EV_PERSIST, on_watchdog, NULL);
        event_add(events[count++], &every);
    }
    supervisor_start(master);
    hold_signals(SIG_UNBLOCK);
    event_base_dispatch(master->base);
    hold_signals(SIG_BLOCK); /* one that comes now asks for what is done already */
    for (size_t i = 0; i < count; i++)
        event_free(events[i]);
}

/* The spool's lock, then the end of what a killed master left. The user can
 * write all that is read here, so root's powers are not used on it. */
static bool claim_spool(const Plan *plan, const Account *account, int *state_dir, int *lock, GError **error)
{
    if (!privileges_assume(account, error))
        return false;
    *state_dir = slices_open_dir(plan->spool, error);
    if (*state_dir < 0)
        g_prefix_error(error, "[spool] directory, which must belong to the user: ");
    *lock = *state_dir >= 0 ? slices_lock_spool(*state_dir, plan->spool, error) : -1;
    if (*lock >= 0)
        slices_end_orphans(*state_dir, plan->limits.stop_timeout);
    else if (account)
        g_prefix_error(error, "as user %s: ", account->name);
    return privileges_resume(account, *lock >= 0 ? error : NULL) && *lock >= 0;
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

/* Take sockets only when the spool is ours; root is given up before a child starts. */
static bool take_over(Master *master, const Account *account, GError **error)
{
    const Plan *plan = master->plan;
    const char *log_file = g_getenv(CHILD_ENV_LOG_FILE);
    if (account)
        listen_set_group(master->listen, account->gid);
    if (!privileges_make_directory(plan->runtime, account, error)) {
        g_prefix_error(error, "[master] runtime_directory: ");
        return false;
    }
    if (!reload_bind(master, plan, error) || !privileges_drop(account, error))
        return false;
    /* The configuration in force and the control socket go there, now and at each reload. */
    if (faccessat(AT_FDCWD, plan->runtime, W_OK | X_OK, AT_EACCESS) != 0)
        return fail_errno(error, FAIL_CONFIG, "[master] runtime_directory: found %s, where %s%s cannot write; "
                          "allowed is a directory of this user, or one that is not there yet", plan->runtime,
                          account ? "the user " : "who started this", account ? account->name : "");
    /* The log is opened as the user, as it is again at each reload. */
    return !log_file || log_to_file(log_file, error);
}

static bool run(const char *path, Plan **plan, const char *text, GError **error)
{
    g_autoptr(Account) account = NULL;
    if (geteuid() == 0 && !(account = privileges_account((*plan)->user, error)))
        return false;
    auto_fd lock = -1, state_dir = -1;
    if (!claim_spool(*plan, account, &state_dir, &lock, error))
        return false;
    if (ends_here())
        return true;
    struct event_base *base = event_base_new();
    bool good;
    { /* all that lives on the loop ends before it */
        g_autoptr(Master) master = supervisor_new(base, path, plan, state_dir);
        g_autoptr(Control) control = NULL;
        good = take_over(master, account, error) && reload_keep(master, text, error) &&
               (control = control_new(master, error)) != NULL;
        if (good && !ends_here()) {
            plan_tell_unconfined(master->plan, NULL);
            loop(master);
        }
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
static int read_options(int argc, char **argv, Options *options)
{
    int option;
    while ((option = getopt(argc, argv, "c:thV")) != -1)
        switch (option) {
        case 'c':
            options->config = optarg;
            break;
        case 't':
            options->check = true;
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
    Options options = {0};
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    log_open("master", LOG_TARGET_STDERR);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* the write fails instead */
    if (!options.check)
        hold_signals(SIG_BLOCK);
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_canonicalize_filename(config_default_path(options.config), NULL);
    g_autofree char *text = NULL;
    g_autoptr(Plan) plan = reload_read(path, &text, &error);
    if (!plan)
        return complain(error);
    g_autofree char *fault = mount_fault(plan->spool);
    if (fault)
        log_warn("[spool] directory: %s", fault);
    if (options.check) {
        printf("%s is good\n", path);
        return 0;
    }
    notify_init();
    privileges_raise_files();
    privileges_forbid_core();
    if (geteuid() == 0 && g_strcmp0(g_getenv(CONFIG_ENV_ALLOW_ROOT), "yes") == 0)
        log_warn(CONFIG_ENV_ALLOW_ROOT "=yes: [site] user may be root, which is for tests only");
    log_info("listrunner-master %s starts, pid=%ld config=%s", PACKAGE_VERSION, (long)getpid(), path);
    if (!run(path, &plan, text, &error))
        code = complain(error);
    else
        log_info("ended");
    notify_close();
    return code < 0 ? 0 : code;
}
