/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "master/group.h"
#include "master/slices.h"
#include "master/spawn.h"
#include "master/supervisor.h"

#define LOOK_AGAIN CLOCK_SECOND
/* An entry that is in hand at as many kills from outside in a row is charged with the later ones: it may be what takes
 * the memory. */
#define KILLS_FORGIVEN 4
/* So many deaths in a row are a loop, until a process has lived for so many of the longest delays. */
#define LOOP_DEATHS 3
#define LOOP_DELAYS 10

static const PlanLimits *limits_of(const Worker *worker)
{
    return &worker->group->master->plan->limits;
}

static const char *name_of(const Worker *worker)
{
    return worker->group->plan->name;
}

static void set_timer(Worker *worker, int64_t delay)
{
    delay = MAX(delay, 0);
    struct timeval interval = {delay / CLOCK_SECOND, delay % CLOCK_SECOND};
    evtimer_add(worker->timer, &interval);
}

/* A child that stands still is killed; one that moves too slowly is reported once. */
static void check_stall(Worker *worker)
{
    if (worker->group->master->pause) {
        set_timer(worker, LOOK_AGAIN);
        return;
    }
    int64_t now = clock_monotonic(), timeout = limits_of(worker)->stall_timeout;
    int64_t deadline = watch_deadline(&worker->watch, timeout);
    const Beat *beat = &worker->watch.beat;
    if (deadline > now) {
        if (watch_stalled(&worker->watch, timeout, now) && !worker->complained) {
            log_warn("%s[%u]: no progress for %" PRId64 " s, backlog=%" PRIu64 " holding=%s", name_of(worker),
                     worker->instance, (now - worker->watch.moved) / CLOCK_SECOND, beat->backlog,
                     beat->holding[0] ? beat->holding : "-");
            worker->complained = true;
        }
        set_timer(worker, deadline - now);
        return;
    }
    log_error("%s[%u]: pid %ld has stalled: silent for %" PRId64 " s, no progress for %" PRId64
              " s, backlog=%" PRIu64 " holding=%s; killed",
              name_of(worker), worker->instance, (long)worker->pid, (now - worker->watch.spoke) / CLOCK_SECOND,
              (now - worker->watch.moved) / CLOCK_SECOND, beat->backlog, beat->holding[0] ? beat->holding : "-");
    worker_step(worker, EVENT_STALLED);
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    Worker *worker = data;
    switch (worker->state) {
    case WORKER_WAITING:
    case WORKER_ORPHAN:
    case WORKER_FAILED:
        worker_step(worker, EVENT_START);
        break;
    case WORKER_STARTING:
    case WORKER_READY:
        check_stall(worker);
        break;
    case WORKER_STOPPING:
        log_warn("%s[%u]: pid %ld has not ended within stop_timeout, holding=%s; killed", name_of(worker),
                 worker->instance, (long)worker->pid,
                 worker->watch.beat.holding[0] ? worker->watch.beat.holding : "-");
        worker_step(worker, EVENT_OVERDUE);
        break;
    default:
        break;
    }
}

typedef enum Heard { HEARD_SOMETHING, HEARD_NOTHING, HEARD_END } Heard;

static Heard read_status(Worker *worker)
{
    char data[4096];
    ssize_t got = read(worker->status_fd, data, sizeof data);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR) ? HEARD_NOTHING : HEARD_END;
    unsigned garbage = worker->watch.garbage;
    watch_clock(&worker->group->master->clock, clock_now(), clock_monotonic());
    bool ready = watch_feed(&worker->watch, data, (size_t)got, clock_monotonic());
    if (worker->watch.garbage > garbage && garbage == 0)
        log_warn("%s[%u]: pid %ld writes garbage on its status pipe; it is passed over", name_of(worker),
                 worker->instance, (long)worker->pid);
    if (ready)
        worker_step(worker, EVENT_READY);
    return HEARD_SOMETHING;
}

static void on_status(evutil_socket_t fd, short what, void *data)
{
    Worker *worker = data;
    if (read_status(worker) == HEARD_END)
        event_del(worker->status_event); /* it closed its pipe: SIGCHLD or the stall watch comes next */
}

Worker *worker_new(struct Group *group, unsigned instance)
{
    Worker *worker = g_new0(Worker, 1);
    worker->group = group;
    worker->instance = instance;
    worker->status_fd = -1;
    worker->outside = true; /* what ended a process before this master may have been a power cut */
    worker->down = clock_monotonic();
    worker->timer = evtimer_new(group->master->base, on_timer, worker);
    return worker;
}

static void drop_pipe(Worker *worker)
{
    if (worker->status_event)
        event_free(worker->status_event);
    worker->status_event = NULL;
    auto_fd_close(&worker->status_fd);
    worker->status_fd = -1;
}

void worker_free(Worker *worker)
{
    drop_pipe(worker);
    event_free(worker->timer);
    watch_clear(&worker->watch);
    g_free(worker->last_exit);
    g_free(worker->killed_with);
    g_free(worker);
}

/* -1 with FAIL_RACE when the slice has another owner, by its lock or its record. */
static int take_slice(const Worker *worker, GError **error)
{
    const PlanRunner *plan = worker->group->plan;
    int dir_fd = worker->group->master->state_dir;
    auto_fd lock = slices_take(dir_fd, plan->queue, worker->instance, plan->instances, error);
    if (lock < 0)
        return -1;
    g_autoptr(GPtrArray) owners = slices_owners(dir_fd, plan->queue, worker->instance, plan->instances);
    if (owners->len > 0) {
        const SliceOwner *owner = g_ptr_array_index(owners, 0);
        fail(error, FAIL_RACE, "process %ld owns it", (long)owner->pid);
        return -1;
    }
    return auto_fd_steal(&lock);
}

static bool start_process(Worker *worker, int lock, GError **error)
{
    const PlanRunner *plan = worker->group->plan;
    const Master *master = worker->group->master;
    g_autoptr(GArray) listen = g_array_new(FALSE, FALSE, sizeof(int));
    for (char **address = plan->listen; *address; address++)
        if (!listen_fds(master->listen, *address, listen))
            return fail(error, FAIL_LATER, "%s is not bound", *address);
    /* A child reads the configuration in force. While its file is gone with the runtime directory, a copy beside the
     * locks does. */
    const char *config = master->config_copy;
    g_autofree char *spare = g_build_filename(master->plan->spool, ".master", "config-in-force", NULL);
    if (access(config, R_OK) != 0 && master->config_text) {
        g_autoptr(GError) unwritten = NULL;
        config = spare;
        if (!g_file_set_contents_full(spare, master->config_text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
                                      &unwritten))
            log_error("%s", unwritten->message);
    }
    SpawnOrder order = {.command = plan->command, .runner = plan->name, .config = config,
                        .instance = worker->instance, .instances = plan->instances,
                        .listen = (const int *)(void *)listen->data, .listens = listen->len, .lock = lock,
                        .outside = worker->outside};
    return spawn_child(&order, &worker->pid, &worker->status_fd, error);
}

static void action_try(Worker *worker)
{
    if (worker->group->master->pause) {
        worker_step(worker, EVENT_BUSY);
        return;
    }
    g_autoptr(GError) error = NULL;
    auto_fd lock = take_slice(worker, &error);
    if (lock >= 0 && start_process(worker, lock, &error)) {
        worker_step(worker, EVENT_SPAWNED);
        return;
    }
    bool busy = g_error_matches(error, FAIL, FAIL_RACE);
    if (!busy || !worker->complained)
        log_error("%s[%u]: cannot start%s: %s", name_of(worker), worker->instance,
                  busy ? " while somebody else has its slice" : "", error->message);
    if (!busy) {
        g_free(worker->last_exit);
        worker->last_exit = g_strdup_printf("not started: %s", error->message);
    }
    worker_step(worker, busy ? EVENT_BUSY : EVENT_NO_FORK);
}

static void wait_for(Worker *worker, int64_t delay)
{
    worker->retry_at = clock_monotonic() + delay;
    worker->settled = true;
    set_timer(worker, delay);
    supervisor_sweep_soon(worker->group->master);
}

static void act(Worker *worker, WorkerAction action)
{
    const PlanLimits *limits = limits_of(worker);
    switch (action) {
    case ACTION_IMPOSSIBLE:
    case ACTION_NONE:
        break;
    case ACTION_TRY:
        action_try(worker);
        break;
    case ACTION_WATCH:
        worker->started = clock_monotonic();
        worker->retry_at = 0;
        worker->complained = false;
        worker->starts++;
        watch_clear(&worker->watch);
        watch_init(&worker->watch, worker->started);
        worker->status_event = event_new(worker->group->master->base, worker->status_fd, EV_READ | EV_PERSIST,
                                         on_status, worker);
        event_add(worker->status_event, NULL);
        set_timer(worker, limits->stall_timeout);
        break;
    case ACTION_LOOK_AGAIN:
        worker->complained = true;
        wait_for(worker, LOOK_AGAIN);
        break;
    case ACTION_DELAY:
    case ACTION_DELAY_MOST: {
        int64_t lived = worker->started ? clock_monotonic() - worker->started : 0;
        int64_t delay = watch_delay(&worker->throttle, &limits->throttle, lived, worker->death);
        worker->relapses = MIN(worker->relapses, worker->throttle.streak);
        worker->started = 0;
        worker->death = DEATH_OTHER; /* it counts once: no process may come of this start */
        if (action == ACTION_DELAY_MOST)
            delay = limits->throttle.max;
        if (delay > 0)
            log_warn("%s[%u]: starts again in %.3g s", name_of(worker), worker->instance,
                     (double)delay / (double)CLOCK_SECOND);
        wait_for(worker, delay);
        break;
    }
    case ACTION_WELCOME:
        worker->settled = true;
        worker->down = 0;
        log_info("%s[%u]: ready, pid=%ld", name_of(worker), worker->instance, (long)worker->pid);
        supervisor_sweep_soon(worker->group->master);
        break;
    case ACTION_TERM:
    case ACTION_KILL: {
        int number = action == ACTION_TERM ? SIGTERM : SIGKILL;
        if (worker->pid > 0 && kill(worker->pid, number) != 0)
            log_error("%s[%u]: signal %d to pid %ld: %s", name_of(worker), worker->instance, number,
                      (long)worker->pid, g_strerror(errno));
        if (number == SIGTERM)
            set_timer(worker, limits->stop_timeout);
        else
            evtimer_del(worker->timer);
        break;
    }
    case ACTION_LEAVE:
        evtimer_del(worker->timer);
        supervisor_sweep_soon(worker->group->master);
        break;
    }
}

void worker_step(Worker *worker, WorkerEvent event)
{
    StateStep step = states_step(worker->state, event);
    if (step.action == ACTION_IMPOSSIBLE) {
        log_error("%s[%u]: event \"%s\" in state \"%s\" cannot be; nothing changes", name_of(worker),
                  worker->instance, states_event_name(event), states_name(worker->state));
        return;
    }
    worker->state = step.next;
    act(worker, step.action);
}

void worker_died(Worker *worker, int status)
{
    while (worker->status_fd >= 0 && read_status(worker) == HEARD_SOMETHING)
        continue; /* its last words */
    bool expected = worker->state == WORKER_STOPPING || worker->state == WORKER_ENDING;
    bool renewal = !expected && worker->watch.anew && WIFEXITED(status) && WEXITSTATUS(status) == CHILD_EXIT_OK;
    g_free(worker->last_exit);
    worker->last_exit = renewal ? g_strdup_printf("started anew: %s", worker->watch.anew)
                                : watch_exit_text(status, worker->watch.fault);

    /* Was it killed, and not by us? Out of memory, for instance: the kernel does not say. */
    const char *holding = worker->watch.beat.holding;
    bool ours = worker->state == WORKER_KILLED || worker->state == WORKER_ENDING;
    bool outside = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !ours;
    bool again = outside && holding[0] && g_strcmp0(holding, worker->killed_with) == 0;
    worker->kills = again ? worker->kills + 1 : outside;
    worker->outside = outside && worker->kills <= KILLS_FORGIVEN;
    g_free(worker->killed_with);
    worker->killed_with = outside && holding[0] ? g_strdup(holding) : NULL;
    if (outside) {
        g_autofree char *text = g_steal_pointer(&worker->last_exit);
        worker->last_exit = g_strconcat(text, ", from outside, as when memory runs out", NULL);
    }

    worker->renewals += renewal;
    worker->relapses += !renewal && (worker->state == WORKER_READY || worker->state == WORKER_KILLED);
    if (renewal)
        log_info("%s[%u]: left to be started anew, pid=%ld: %s", name_of(worker), worker->instance, (long)worker->pid,
                 worker->watch.anew);
    else if (expected)
        log_info("%s[%u]: ended, pid=%ld: %s", name_of(worker), worker->instance, (long)worker->pid,
                 worker->last_exit);
    else
        log_error("%s[%u]: died, pid=%ld holding=%s: %s", name_of(worker), worker->instance, (long)worker->pid,
                  holding[0] ? holding : "-", worker->last_exit);
    drop_pipe(worker);
    worker->pid = 0;
    const Beat *beat = &worker->watch.beat;
    if (renewal)
        worker->death = DEATH_RENEWAL;
    else if (WIFSIGNALED(status) && beat->charged && !worker->outside)
        worker->death = beat->done > 0 ? DEATH_AT_WORK : DEATH_CHARGED;
    if (worker->down == 0)
        worker->down = clock_monotonic();
    /* A person must mend the configuration before it can work. */
    bool config = WIFEXITED(status) && WEXITSTATUS(status) == CHILD_EXIT_CONFIG;
    worker_step(worker, config ? EVENT_DIED_CONFIG : EVENT_DIED);
}

void worker_reopen(const Worker *worker)
{
    if (worker->pid > 0 && worker->state == WORKER_READY)
        kill(worker->pid, SIGHUP);
}

void worker_go_on(Worker *worker)
{
    if (worker->pid > 0 && kill(worker->pid, SIGCONT) != 0)
        log_error("%s[%u]: signal %d to pid %ld: %s", name_of(worker), worker->instance, SIGCONT, (long)worker->pid,
                  g_strerror(errno));
    worker->watch.spoke = worker->watch.moved = clock_monotonic();
}

unsigned worker_restarts(const Worker *worker)
{
    unsigned later = MAX(worker->starts, 1) - 1;
    return later - MIN(worker->renewals, later);
}

unsigned worker_loops(const Worker *worker)
{
    int64_t lived = clock_monotonic() - worker->started;
    bool loops = worker->state == WORKER_READY && worker->relapses >= LOOP_DEATHS &&
                 lived < LOOP_DELAYS * limits_of(worker)->throttle.max;
    return loops ? worker->relapses : 0;
}

bool worker_healthy(const Worker *worker)
{
    switch (worker->state) {
    case WORKER_READY:
        return worker_loops(worker) == 0 &&
               !watch_stalled(&worker->watch, limits_of(worker)->stall_timeout, clock_monotonic());
    case WORKER_STARTING:
        return worker->throttle.streak == 0;
    case WORKER_STOPPING:
    case WORKER_GONE:
        return true;
    default:
        return false;
    }
}

const char *worker_state_text(const Worker *worker)
{
    return worker->state == WORKER_WAITING && worker->throttle.streak > 1 ? "throttled" : states_name(worker->state);
}
