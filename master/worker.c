/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/newest_schema.h"
#include "master/slices.h"
#include "master/supervisor.h"

#define LOOK_AGAIN CLOCK_SECOND
/* An entry that is in hand at as many kills from outside in a row is charged with the later ones: it may be what takes
 * the memory. */
#define KILLS_FORGIVEN 4
/* So many deaths in a row are a loop, until a process has lived for so many of the longest delays. */
#define LOOP_DEATHS 3
#define LOOP_DELAYS 10

/* ---- from the order to the program ---- */

/* All that the child needs, made before the fork. */
typedef struct PreparedChild {
    const SpawnOrder *order;
    char **environment;
    int *sources; /* status pipe, sockets, lock: for CHILD_STATUS_FD and up */
    unsigned count;
} PreparedChild;

/* The variables that base/contract.h asks for, and a few of our own environment. */
static char **environment_of(const SpawnOrder *order)
{
    static const char *const kept[] = {"PATH=", "LANG=", "LC_", "TZ=", "LISTRUNNER_"};
    char **result = g_new0(char *, 1);
    for (char **variable = environ; *variable; variable++) {
        const char *equals = strchr(*variable, '=');
        bool keep = false;
        for (size_t i = 0; equals && !keep && i < G_N_ELEMENTS(kept); i++)
            keep = g_str_has_prefix(*variable, kept[i]);
        if (!keep)
            continue;
        g_autofree char *name = g_strndup(*variable, (size_t)(equals - *variable));
        result = g_environ_setenv(result, name, equals + 1, TRUE);
    }
    const struct {
        const char *name;
        unsigned value;
    } numbers[] = {
        {CHILD_ENV_INSTANCE, order->instance},
        {CHILD_ENV_INSTANCES, order->instances},
        {CHILD_ENV_LISTEN_FDS, order->listens},
        {CHILD_ENV_LOCK_FD, CHILD_LISTEN_FD + order->listens},
        {CHILD_ENV_OUTSIDE, order->outside},
    };
    result = g_environ_setenv(result, CHILD_ENV_CONFIG, order->config, TRUE);
    result = g_environ_setenv(result, CHILD_ENV_RUNNER, order->runner, TRUE);
    result = g_environ_setenv(result, CHILD_ENV_VERSION, PACKAGE_VERSION, TRUE);
    result = g_environ_setenv(result, CHILD_ENV_SCHEMA, G_STRINGIFY(NEWEST_SCHEMA), TRUE);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_autofree char *text = g_strdup_printf("%u", numbers[i].value);
        result = g_environ_setenv(result, numbers[i].name, text, TRUE);
    }
    return result;
}

/* Sources may lie where targets go, so all move up before any comes down. */
static bool place_descriptors(const PreparedChild *prepared)
{
    int above = CHILD_STATUS_FD + (int)prepared->count;
    for (unsigned i = 0; i < prepared->count; i++) {
        int moved = fcntl(prepared->sources[i], F_DUPFD_CLOEXEC, above);
        if (moved < 0)
            return false;
        prepared->sources[i] = moved;
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return false;
    for (unsigned i = 0; i < prepared->count; i++)
        if (dup2(prepared->sources[i], CHILD_STATUS_FD + (int)i) < 0)
            return false;
    return close_range((unsigned)above, ~0U, 0) == 0;
}

/* For the master's log. No allocation: this is between fork and exec. */
static void say(int status, const char *doing, const char *command, int number)
{
    const char *const words[] = {"fault ", doing, " ", command, ": ", strerror(number), "\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        ssize_t ignored = write(status, words[i], strlen(words[i]));
        (void)ignored;
    }
}

G_NORETURN static void become(const PreparedChild *prepared)
{
    const SpawnOrder *order = prepared->order;
    /* Handlers, ignored signals and the mask are as a fresh process has them. */
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!place_descriptors(prepared)) {
        say(prepared->sources[0], "place the descriptors of", order->command, errno);
        _exit(CHILD_EXIT_LATER);
    }
    slices_sign(CHILD_LISTEN_FD + (int)order->listens, order->instance, order->instances);
    char *arguments[] = {(char *)order->command, NULL};
    execve(order->command, arguments, prepared->environment);
    int number = errno;
    say(CHILD_STATUS_FD, "run", order->command, number);
    bool lasting = number == ENOENT || number == EACCES || number == ENOEXEC || number == ENOTDIR || number == ELOOP;
    _exit(lasting ? CHILD_EXIT_CONFIG : CHILD_EXIT_LATER);
}

bool worker_spawn(const SpawnOrder *order, pid_t *pid, int *status, GError **error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail_errno(error, FAIL_LATER, "make a status pipe");
    auto_fd reading = ends[0], writing = ends[1];
    fcntl(reading, F_SETFL, O_NONBLOCK);
    PreparedChild prepared = {.order = order, .count = order->listens + 2};
    g_autofree int *sources = prepared.sources = g_new(int, prepared.count);
    sources[0] = writing;
    for (unsigned i = 0; i < order->listens; i++)
        sources[i + 1] = order->listen[i];
    sources[order->listens + 1] = order->lock;
    g_auto(GStrv) environment = prepared.environment = environment_of(order);

    /* No handler of ours may run in the child. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    int number = errno;
    if (child == 0)
        become(&prepared);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = number;
    if (child < 0)
        return fail_errno(error, FAIL_LATER, "fork");
    *pid = child;
    *status = auto_fd_steal(&reading);
    return true;
}

/* ---- its timer and its status pipe ---- */

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

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    Worker *worker = data;
    const Beat *beat = &worker->watch.beat;
    const char *holding = beat->holding[0] ? beat->holding : "-";
    switch (worker->state) {
    case WORKER_WAITING:
    case WORKER_ORPHAN:
    case WORKER_FAILED:
        worker_step(worker, EVENT_START);
        return;
    case WORKER_STOPPING:
        log_warn("%s[%u]: pid %ld has not ended within stop_timeout, holding=%s; killed", name_of(worker),
                 worker->instance, (long)worker->pid, holding);
        worker_step(worker, EVENT_OVERDUE);
        return;
    case WORKER_STARTING:
    case WORKER_READY:
        break;
    default:
        return;
    }
    if (worker->group->master->pause) { /* nobody can move in it */
        set_timer(worker, LOOK_AGAIN);
        return;
    }
    /* A child that stands still is killed; one that moves too slowly is reported once. */
    int64_t now = clock_monotonic(), timeout = limits_of(worker)->stall_timeout;
    int64_t deadline = watch_deadline(&worker->watch, timeout);
    int64_t stuck = (now - worker->watch.moved) / CLOCK_SECOND;
    if (deadline <= now) {
        log_error("%s[%u]: pid %ld has stalled: silent for %" PRId64 " s, no progress for %" PRId64
                  " s, backlog=%" PRIu64 " holding=%s; killed",
                  name_of(worker), worker->instance, (long)worker->pid, (now - worker->watch.spoke) / CLOCK_SECOND,
                  stuck, beat->backlog, holding);
        worker_step(worker, EVENT_STALLED);
        return;
    }
    if (watch_stalled(&worker->watch, timeout, now) && !worker->complained) {
        log_warn("%s[%u]: no progress for %" PRId64 " s, backlog=%" PRIu64 " holding=%s", name_of(worker),
                 worker->instance, stuck, beat->backlog, holding);
        worker->complained = true;
    }
    set_timer(worker, deadline - now);
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

/* ---- the actions ---- */

/* Run the program on its slice, whose lock is handed down. FAIL_RACE: the slice has another owner, by its lock or its
 * record. */
static bool start_process(Worker *worker, GError **error)
{
    const PlanRunner *plan = worker->group->plan;
    const Master *master = worker->group->master;
    auto_fd lock = slices_take(master->state_dir, plan->queue, worker->instance, plan->instances, error);
    if (lock < 0)
        return false;
    g_autoptr(GPtrArray) owners = slices_owners(master->state_dir, plan->queue, worker->instance, plan->instances);
    if (owners->len > 0)
        return fail(error, FAIL_RACE, "process %ld owns it", (long)((SliceOwner *)owners->pdata[0])->pid);
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
    return worker_spawn(&order, &worker->pid, &worker->status_fd, error);
}

static void action_try(Worker *worker)
{
    if (worker->group->master->pause) {
        worker_step(worker, EVENT_BUSY);
        return;
    }
    g_autoptr(GError) error = NULL;
    if (start_process(worker, &error)) {
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

void worker_step(Worker *worker, WorkerEvent event)
{
    const PlanLimits *limits = limits_of(worker);
    StateStep step = states_step(worker->state, event);
    worker->state = step.next; /* first, since an action may be a step of its own */
    switch (step.action) {
    case ACTION_IMPOSSIBLE:
        log_error("%s[%u]: event \"%s\" in state \"%s\" cannot be; nothing changes", name_of(worker),
                  worker->instance, states_event_name(event), states_name(worker->state));
        break;
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
        if (step.action == ACTION_DELAY_MOST)
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
        int number = step.action == ACTION_TERM ? SIGTERM : SIGKILL;
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
