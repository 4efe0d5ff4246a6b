/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/supervisor.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/fail.h"
#include "base/log.h"
#include "master/history.h"
#include "master/worker.h"

#define LOOK_INTERVAL (CLOCK_SECOND / 1000)

/* ---- what the service manager is told ---- */

static int notify_fd = -1; /* -1: nobody is told */
static struct sockaddr_un notify_address;
static socklen_t notify_length;

/* Read the variables of sd_notify(3), and remove them, so that no child has them. Returns how many microseconds may be
 * between two signs of life, half of WATCHDOG_USEC; 0: none are wanted. */
static int64_t notify_init(void)
{
    guint64 interval = 0, number;
    const char *path = g_getenv("NOTIFY_SOCKET");
    if (path && (*path == '/' || *path == '@') && strlen(path) < sizeof notify_address.sun_path) {
        notify_address = (struct sockaddr_un){.sun_family = AF_UNIX};
        memcpy(notify_address.sun_path, path, strlen(path));
        notify_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
        if (*path == '@') /* an abstract one */
            notify_address.sun_path[0] = '\0';
        else
            notify_length++;
        notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const char *usec = g_getenv("WATCHDOG_USEC"), *pid = g_getenv("WATCHDOG_PID");
        if (!usec || !g_ascii_string_to_unsigned(usec, 10, 2, G_MAXINT64, &interval, NULL))
            interval = 0;
        /* WATCHDOG_PID names the process that is meant, ours unless it says otherwise. */
        if (pid && (!g_ascii_string_to_unsigned(pid, 10, 1, G_MAXINT, &number, NULL) || (pid_t)number != getpid()))
            interval = 0;
    } else if (path && *path) {
        log_warn("NOTIFY_SOCKET=%s is no socket that can be used; nobody is notified", path);
    }
    g_unsetenv("NOTIFY_SOCKET");
    g_unsetenv("WATCHDOG_USEC");
    g_unsetenv("WATCHDOG_PID");
    return (int64_t)interval / 2;
}

static void notify(const char *message)
{
    if (notify_fd >= 0 && sendto(notify_fd, message, strlen(message), MSG_NOSIGNAL,
                                 (const struct sockaddr *)&notify_address, notify_length) < 0)
        log_debug("could not notify the service manager");
}

/* After the start or a reload; status is a text for people. */
static void notify_ready(const char *status)
{
    g_autofree char *message = g_strdup_printf("READY=1\nSTATUS=%s\nMAINPID=%ld\n", status, (long)getpid());
    notify(message);
}

/* ---- groups ---- */

static void make_workers(Group *group)
{
    g_ptr_array_set_size(group->workers, 0);
    for (unsigned i = 0; i < group->plan->instances; i++)
        g_ptr_array_add(group->workers, worker_new(group, i));
}

/* A group with a copy of the plan; nothing is started. */
static Group *group_new(Master *master, const PlanRunner *plan)
{
    Group *group = g_new0(Group, 1);
    group->master = master;
    group->plan = plan_runner_copy(plan);
    group->workers = g_ptr_array_new_with_free_func((GDestroyNotify)worker_free);
    make_workers(group);
    return group;
}

static void group_free(Group *group)
{
    g_ptr_array_unref(group->workers);
    plan_runner_free(group->plan);
    g_clear_pointer(&group->next, plan_runner_free);
    g_free(group->scaled_why);
    g_free(group);
}

static void group_start(Group *group)
{
    for (guint i = 0; i < group->workers->len; i++)
        worker_step(g_ptr_array_index(group->workers, i), EVENT_START);
}

void supervisor_change(Group *group, const PlanRunner *next)
{
    PlanRunner *copy = next ? plan_runner_copy(next) : NULL;
    g_clear_pointer(&group->next, plan_runner_free);
    group->next = copy;
    if (group->changing)
        return;
    group->changing = true;
    log_info("%s: %s, instances=%u", group->plan->name, next ? "changes" : "stops", next ? next->instances : 0);
    for (guint i = 0; i < group->workers->len; i++)
        worker_step(g_ptr_array_index(group->workers, i), EVENT_STOP);
    supervisor_sweep_soon(group->master);
}

const PlanRunner *supervisor_goal(const Group *group)
{
    return group->changing ? group->next : group->plan;
}

Group *supervisor_find(const Master *master, const char *runner)
{
    for (guint i = 0; i < master->groups->len; i++) {
        Group *group = g_ptr_array_index(master->groups, i);
        if (strcmp(group->plan->name, runner) == 0)
            return group;
    }
    return NULL;
}

/* Have the process read its files anew, if there is one that can take the signal. */
static void reopen(const Worker *worker)
{
    if (worker->pid > 0 && worker->state == WORKER_READY)
        kill(worker->pid, SIGHUP);
}

/* Close the listening sockets that no group's plan, present or next, names. */
static void close_unwanted(Master *master)
{
    g_autoptr(GHashTable) wanted = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        for (char **address = group->plan->listen; *address; address++)
            g_hash_table_add(wanted, *address);
        for (char **address = group->next ? group->next->listen : NULL; address && *address; address++)
            g_hash_table_add(wanted, *address);
    }
    listen_keep(master->listen, wanted);
}

/* ---- the sweep ---- */

/* Go on with a change, once all old children are gone. False: the group has ended; free it. */
static bool sweep_group(Group *group)
{
    if (!group->changing)
        return true;
    for (guint i = 0; i < group->workers->len; i++)
        if (((Worker *)g_ptr_array_index(group->workers, i))->state != WORKER_GONE)
            return true;
    if (!group->next)
        return false;
    plan_runner_free(group->plan);
    group->plan = g_steal_pointer(&group->next);
    group->changing = false;
    close_unwanted(group->master); /* what only the old plan listened on */
    make_workers(group);
    group_start(group);
    return true;
}

/* Tell that the master runs, when every child has been ready, or has failed, at least once. */
static void announce(Master *master)
{
    unsigned children = 0, healthy = 0;
    g_autoptr(GString) status = g_string_new(NULL);
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        children += group->workers->len;
        for (guint j = 0; j < group->workers->len; j++) {
            const Worker *worker = g_ptr_array_index(group->workers, j);
            if (!worker->settled)
                return;
            healthy += worker_healthy(worker);
            if (!worker_healthy(worker))
                g_string_append_printf(status, "; %s[%u] is not ready: %s", group->plan->name, worker->instance,
                                       worker->last_exit ? worker->last_exit : worker_state_text(worker));
        }
    }
    g_autofree char *count = g_strdup_printf("%u of %u children are well", healthy, children);
    g_string_prepend(status, count);
    notify_ready(status->str);
    log_info("running, pid=%ld: %s", (long)getpid(), status->str);
    master->announced = true;
}

static void on_sweep(evutil_socket_t fd, short what, void *data)
{
    Master *master = data;
    bool gone = false;
    for (guint i = master->groups->len; i-- > 0;)
        if (!sweep_group(g_ptr_array_index(master->groups, i))) {
            g_ptr_array_remove_index(master->groups, i);
            gone = true;
        }
    if (master->stopping && master->groups->len == 0)
        event_base_loopbreak(master->base);
    else if (gone)
        close_unwanted(master);
    if (!master->announced && !master->stopping)
        announce(master);
}

void supervisor_sweep_soon(Master *master)
{
    event_active(master->sweep, EV_TIMEOUT, 0);
}

/* ---- all stand still ---- */

typedef struct Pause {
    Master *master;
    struct event *timer; /* to look again, then the limit */
    int64_t begun;
    PauseDone *done; /* NULL: it was called */
    void *data;
} Pause;

/* Call it for each child. False: it was false for one. */
typedef bool EachWorker(Worker *worker);
static bool each_worker(const Master *master, EachWorker *each)
{
    bool all = true;
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        for (guint j = 0; j < group->workers->len; j++)
            all &= each(g_ptr_array_index(group->workers, j));
    }
    return all;
}

static bool stop(Worker *worker)
{
    return worker->pid <= 0 || kill(worker->pid, SIGSTOP) == 0;
}

/* The kernel reports a process as stopped when the last of its threads is. */
static bool stands_still(Worker *worker)
{
    siginfo_t found = {0};
    return worker->pid <= 0 ||
           (waitid(P_PID, (id_t)worker->pid, &found, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_pid != 0);
}

/* The time of the pause does not count as silence. */
static bool go_on(Worker *worker)
{
    if (worker->pid > 0 && kill(worker->pid, SIGCONT) != 0)
        log_error("%s[%u]: signal %d to pid %ld: %s", worker->group->plan->name, worker->instance, SIGCONT,
                  (long)worker->pid, g_strerror(errno));
    worker->watch.spoke = worker->watch.moved = clock_monotonic();
    return true;
}

static void look_in(const Pause *pause, int64_t delay)
{
    struct timeval interval = {delay / CLOCK_SECOND, delay % CLOCK_SECOND};
    evtimer_add(pause->timer, &interval);
}

/* End whatever pause there is. */
static void break_pause(Master *master)
{
    Pause *pause = g_steal_pointer(&master->pause);
    if (!pause)
        return;
    each_worker(master, go_on);
    log_info("all go on after %" PRId64 " ms", (clock_monotonic() - pause->begun) * 1000 / CLOCK_SECOND);
    event_free(pause->timer);
    g_free(pause);
}

static void on_pause_timer(evutil_socket_t fd, short what, void *data)
{
    Pause *pause = data;
    int64_t left = pause->begun + PAUSE_LIMIT - clock_monotonic();
    PauseDone *done = pause->done;
    if (left > 0 && done && each_worker(pause->master, stands_still)) {
        pause->done = NULL;
        look_in(pause, left);
        done(pause->data, NULL);
    } else if (left > 0) {
        look_in(pause, done ? LOOK_INTERVAL : left);
    } else {
        g_autoptr(GError) late = NULL;
        fail(&late, FAIL_LATER, "not every process stood still within %d s", (int)(PAUSE_LIMIT / CLOCK_SECOND));
        log_warn("a pause took too long");
        void *whose = pause->data;
        break_pause(pause->master);
        if (done)
            done(whose, late);
    }
}

bool supervisor_pause(Master *master, PauseDone *done, void *data, GError **error)
{
    if (master->pause)
        return fail(error, FAIL_LATER, "there is a pause already");
    Pause *pause = master->pause = g_new0(Pause, 1);
    *pause = (Pause){.master = master, .begun = clock_monotonic(), .done = done, .data = data};
    pause->timer = evtimer_new(master->base, on_pause_timer, pause);
    each_worker(master, stop);
    look_in(pause, 0);
    return true;
}

bool supervisor_go_on(Master *master, const void *data)
{
    bool ours = master->pause && master->pause->data == data;
    if (ours)
        break_pause(master);
    return ours;
}

/* ---- another configuration ---- */

bool supervisor_keep(Master *master, const char *text, GError **error)
{
    g_autoptr(GError) cause = NULL;
    if (!g_file_set_contents_full(master->config_copy, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &cause))
        return fail(error, FAIL_LATER, "%s", cause->message);
    if (text != master->config_text) {
        g_free(master->config_text);
        master->config_text = g_strdup(text);
    }
    return true;
}

bool supervisor_bind(Master *master, const Plan *plan, GError **error)
{
    g_autoptr(GString) faults = g_string_new(NULL);
    g_autoptr(GHashTable) owners = g_hash_table_new(g_direct_hash, g_direct_equal); /* descriptor -> name of runner */
    for (guint i = 0; i < plan->runners->len; i++) {
        const PlanRunner *runner = g_ptr_array_index(plan->runners, i);
        for (char **address = runner->listen; *address; address++) {
            g_autoptr(GError) fault = NULL;
            g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(int));
            if (listen_add(master->listen, *address, runner->socket_mode, &fault))
                listen_fds(master->listen, *address, fds);
            for (guint at = 0; at < fds->len && !fault; at++) {
                gpointer fd = GINT_TO_POINTER(g_array_index(fds, int, at));
                const char *other = g_hash_table_lookup(owners, fd);
                if (other && strcmp(other, runner->name) != 0) /* they would take one another's connections */
                    fail(&fault, FAIL_CONFIG, "%s is an address of [runner.%s], too", *address, other);
                else
                    g_hash_table_insert(owners, fd, runner->name);
            }
            if (fault)
                g_string_append_printf(faults, "%s[runner.%s] listen: %s", faults->len ? "\n" : "", runner->name,
                                       fault->message);
        }
    }
    return faults->len == 0 || fail(error, FAIL_CONFIG, "%s", faults->str);
}

/* Log which runners are not kept to their files, unless old (NULL: none) had them so, and whether the kernel can keep
 * any. */
static void tell_unconfined(const Plan *plan, const Plan *old)
{
    const char *why;
    if (!old && !confine_possible(&why))
        log_warn("no runner can be kept to its files: %s", why);
    for (guint i = 0; i < plan->runners->len; i++) {
        const PlanRunner *runner = g_ptr_array_index(plan->runners, i);
        const PlanRunner *before = old ? plan_find(old, runner->name) : NULL;
        if (runner->unconfined && (!before || g_strcmp0(before->unconfined, runner->unconfined) != 0))
            log_info("%s: is not kept to its files, because of %s", runner->name, runner->unconfined);
    }
}

/* The plan is in force. Groups whose runner is the same go on, with files that they read anew. */
static void apply_plan(Master *master, Plan **next)
{
    tell_unconfined(*next, master->plan);
    bool other_interval = (*next)->limits.scale_interval != master->plan->limits.scale_interval;
    plan_free(master->plan);
    master->plan = g_steal_pointer(next);
    if (other_interval)
        scale_wait(master->scaler);
    for (guint i = 0; i < master->groups->len; i++) {
        Group *group = g_ptr_array_index(master->groups, i);
        PlanRunner *wanted = plan_find(master->plan, group->plan->name);
        PlanRunner *goal = group->changing ? group->next : group->plan;
        if (wanted && goal) {
            /* A number that goes by load, before and in the new plan, stays as it is within the new limits. */
            if (goal->most > goal->least && wanted->most > wanted->least)
                wanted->instances = CLAMP(goal->instances, wanted->least, wanted->most);
            goal->least = wanted->least;
            goal->most = wanted->most;
        }
        if (!wanted ? goal != NULL : !goal || !plan_runner_equal(goal, wanted)) {
            supervisor_change(group, wanted);
            continue;
        }
        for (guint at = 0; at < group->workers->len && !group->changing; at++) {
            Worker *worker = g_ptr_array_index(group->workers, at);
            if (worker->state == WORKER_FAILED || worker->state == WORKER_WAITING)
                worker_step(worker, EVENT_START); /* perhaps that mended it */
            else
                reopen(worker);
        }
    }
    for (guint i = 0; i < master->plan->runners->len; i++) {
        const PlanRunner *wanted = g_ptr_array_index(master->plan->runners, i);
        if (supervisor_find(master, wanted->name))
            continue;
        Group *group = group_new(master, wanted);
        g_ptr_array_add(master->groups, group);
        log_info("%s: new, instances=%u", wanted->name, wanted->instances);
        group_start(group);
    }
    supervisor_sweep_soon(master);
}

bool supervisor_reload(Master *master, GError **error)
{
    log_reopen();
    if (master->stopping)
        return fail(error, FAIL_LATER, "the master is stopping");
    g_autoptr(GError) fault = NULL;
    g_autofree char *text = NULL;
    /* The time is what tells one reload from another. */
    g_autofree char *reloading =
        g_strdup_printf("RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT "\n", clock_monotonic());
    notify(reloading);
    g_autoptr(Plan) next = plan_read(master->config_path, &text, &fault);
    bool good = next && plan_can_follow(master->plan, next, &fault);
    if (good && (!supervisor_bind(master, next, &fault) || !supervisor_keep(master, text, &fault))) {
        close_unwanted(master);
        good = false;
    }
    if (good)
        apply_plan(master, &next);
    g_clear_pointer(&master->reload_fault, g_free);
    if (good) {
        log_info("configuration read again: %s", master->config_path);
        notify_ready("configuration read again");
        return true;
    }
    /* The log may have been rotated, whatever the new configuration is like. */
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        for (guint j = 0; j < group->workers->len; j++)
            reopen(g_ptr_array_index(group->workers, j));
    }
    master->reload_fault = g_strdup(fault->message);
    g_auto(GStrv) lines = g_strsplit(fault->message, "\n", -1);
    for (char **line = lines; *line; line++)
        log_error("%s", *line);
    log_error("the configuration was refused; the old one stays in force");
    notify_ready("the new configuration was refused; the old one stays in force");
    return fail_with(error, &fault);
}

/* ---- from the start to the end ---- */

Master *supervisor_new(struct event_base *base, const char *config_path, Plan **plan, int state_dir,
                       gid_t socket_group)
{
    Master *master = g_new0(Master, 1);
    master->base = base;
    master->config_path = g_strdup(config_path);
    master->plan = g_steal_pointer(plan);
    master->config_copy = g_build_filename(master->plan->runtime, "config-in-force", NULL);
    master->groups = g_ptr_array_new_with_free_func((GDestroyNotify)group_free);
    master->listen = listen_new(socket_group);
    master->state_dir = state_dir;
    master->since = clock_now();
    master->sweep = event_new(base, -1, 0, on_sweep, master);
    return master;
}

void supervisor_free(Master *master)
{
    break_pause(master);
    history_free(master->history);
    scale_free(master->scaler);
    event_free(master->sweep);
    g_ptr_array_unref(master->groups);
    listen_free(master->listen);
    plan_free(master->plan);
    g_free(master->config_path);
    g_free(master->config_copy);
    g_free(master->config_text);
    g_free(master->reload_fault);
    g_free(master);
}

void supervisor_stop(Master *master)
{
    if (master->stopping)
        return;
    master->stopping = true;
    log_info("stopping");
    break_pause(master);
    notify("STOPPING=1\nSTATUS=waiting for the runners to finish\n");
    for (guint i = 0; i < master->groups->len; i++)
        supervisor_change(g_ptr_array_index(master->groups, i), NULL);
    supervisor_sweep_soon(master);
}

/* The process of one of our workers ended; others are not ours to know. */
static void note_death(const Master *master, pid_t pid, int status)
{
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        for (guint j = 0; j < group->workers->len; j++) {
            Worker *worker = g_ptr_array_index(group->workers, j);
            if (worker->pid == pid) {
                worker_died(worker, status);
                return;
            }
        }
    }
}

static void on_signal(evutil_socket_t number, short what, void *data)
{
    Master *master = data;
    int status;
    pid_t pid;
    if (number == SIGCHLD)
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            note_death(master, pid, status);
    else if (number == SIGHUP)
        supervisor_reload(master, NULL);
    else
        supervisor_stop(master);
}

static void on_watchdog(evutil_socket_t fd, short what, void *data)
{
    notify("WATCHDOG=1\n");
}

void supervisor_run(Master *master, const sigset_t *held)
{
    static const int numbers[] = {SIGCHLD, SIGHUP, SIGTERM, SIGINT};
    struct event *events[G_N_ELEMENTS(numbers) + 1];
    size_t count = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        events[count] = evsignal_new(master->base, numbers[i], on_signal, master);
        event_add(events[count++], NULL);
    }
    int64_t interval = notify_init();
    if (interval > 0) {
        struct timeval every = {interval / CLOCK_SECOND, interval % CLOCK_SECOND};
        events[count] = event_new(master->base, -1, EV_PERSIST, on_watchdog, NULL);
        event_add(events[count++], &every);
    }
    tell_unconfined(master->plan, NULL);
    master->history = history_open(master->state_dir);
    history_follow(master->history, master);
    for (guint i = 0; i < master->plan->runners->len; i++)
        g_ptr_array_add(master->groups, group_new(master, g_ptr_array_index(master->plan->runners, i)));
    for (guint i = 0; i < master->groups->len; i++)
        group_start(g_ptr_array_index(master->groups, i));
    master->scaler = scale_new(master);
    supervisor_sweep_soon(master);
    sigprocmask(SIG_UNBLOCK, held, NULL);
    event_base_dispatch(master->base);
    sigprocmask(SIG_BLOCK, held, NULL); /* one that comes now asks for what is done already */
    for (size_t i = 0; i < count; i++)
        event_free(events[i]);
    if (notify_fd >= 0)
        close(notify_fd);
    notify_fd = -1;
}
