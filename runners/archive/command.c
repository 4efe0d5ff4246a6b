/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Runs a program for each mail: no shell, the words of `command` as they are
 * quoted there, the mail on standard input. The program learns
 * LISTRUNNER_LIST, LISTRUNNER_ENTRY (the same whenever this mail comes
 * again), LISTRUNNER_MESSAGE_ID, LISTRUNNER_SENDER, and LISTRUNNER_REPEAT=yes when it may have seen it before.
 * Exit code 0: stored. 75: try again later. Any other, a signal or the
 * time-out: later for the time-out, shunt for the rest.
 */
#include "runners/archive/archiver.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"

/* Once the master asks us to leave, the program gets this long to end. */
#define STOP_GRACE (10 * CLOCK_SECOND)

typedef struct CommandArchiver {
    Runner *runner;
    char **words;
    char *path; /* of mhonarc: the directory of all lists; NULL: a plain command */
    int64_t timeout;
} CommandArchiver;

static void command_close(void *data)
{
    CommandArchiver *self = data;
    g_strfreev(self->words);
    g_free(self->path);
    g_free(self);
}

static void *command_open(Runner *runner, const char *section, GError **error)
{
    const char *line = archiver_setting(runner, section, "command", error);
    if (line == NULL)
        return NULL;
    g_autoptr(GError) problem = NULL;
    char **words = NULL;
    if (!g_shell_parse_argv(line, NULL, &words, &problem)) {
        fail(error, FAIL_CONFIG, "[%s] command: %s", section, problem->message);
        return NULL;
    }
    CommandArchiver *self = g_new0(CommandArchiver, 1);
    self->runner = runner;
    self->words = words;
    self->timeout = config_duration(runner_config(runner), "archive", "command_timeout");
    return self;
}

/* A file in memory as standard input: the program may read it as it likes, and nobody has to feed it. */
static int input_of(const ArchiveMail *mail, GError **error)
{
    auto_fd fd = memfd_create("mail", MFD_CLOEXEC);
    if (fd < 0) {
        fail_errno(error, FAIL_LATER, "memory for the mail");
        return -1;
    }
    if (!fs_write(fd, mail->octets, mail->length, error))
        return -1;
    lseek(fd, 0, SEEK_SET);
    return auto_fd_steal(&fd);
}

static char **environment_of(const ArchiveMail *mail)
{
    char **env = g_get_environ();
    env = g_environ_setenv(env, "LISTRUNNER_LIST", mail->list, TRUE);
    env = g_environ_setenv(env, "LISTRUNNER_ENTRY", mail->key, TRUE);
    env = g_environ_setenv(env, "LISTRUNNER_MESSAGE_ID", mail->message_id, TRUE);
    env = g_environ_setenv(env, "LISTRUNNER_SENDER", mail->sender, TRUE);
    return g_environ_setenv(env, "LISTRUNNER_REPEAT", mail->repeat ? "yes" : "no", TRUE);
}

static bool start(CommandArchiver *self, char **words, const ArchiveMail *mail, pid_t *pid, GError **error)
{
    auto_fd input = input_of(mail, error);
    if (input < 0)
        return false;
    g_auto(GStrv) env = environment_of(mail);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, CHILD_STATUS_FD);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawnp(pid, words[0], &actions, &attributes, words, env);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    errno = code;
    return code == 0 || fail_errno(error, FAIL_LATER, "run %s", words[0]);
}

/* Waits, telling the master every second that we live. False when it took too long and was killed. */
static bool await(CommandArchiver *self, pid_t pid, int *status)
{
    int64_t deadline = clock_monotonic() + self->timeout;
    auto_fd watch = (int)syscall(SYS_pidfd_open, pid, 0);
    bool hurried = false;
    for (;;) {
        pid_t done = waitpid(pid, status, WNOHANG);
        if (done == pid)
            return true;
        int64_t now = clock_monotonic();
        if (runner_stopping(self->runner) && !hurried) {
            hurried = true;
            deadline = MIN(deadline, now + STOP_GRACE);
        }
        if (now >= deadline) {
            kill(-pid, SIGKILL);
            waitpid(pid, status, 0);
            return false;
        }
        int64_t pause = MIN(deadline - now, watch >= 0 ? CLOCK_SECOND : CLOCK_SECOND / 50);
        struct pollfd item = {.fd = watch, .events = POLLIN};
        poll(&item, watch >= 0 ? 1 : 0, (int)(pause / 1000) + 1);
        runner_progress(self->runner);
    }
}

/* The words of MHonArc for a list: it adds the mail on its standard input to the pages of one directory, and passes
 * over one that it has by its Message-ID. */
static char **mhonarc_words(const CommandArchiver *self, const char *list, GError **error)
{
    g_autofree char *name = archiver_file_name(list), *directory = g_build_filename(self->path, name, NULL);
    g_autofree char *database = g_build_filename(directory, "mhonarc.db", NULL);
    if (g_mkdir_with_parents(directory, 0755) != 0) {
        fail_errno(error, FAIL_LATER, "make %s", directory);
        return NULL;
    }
    const char *const own[] = {"-add", "-dbfile", database, "-outdir", directory, "-quiet", "-spammode",
                               "-umask", "022", "-title", list, NULL};
    g_autoptr(GStrvBuilder) words = g_strv_builder_new();
    g_strv_builder_addv(words, (const char **)self->words);
    g_strv_builder_addv(words, (const char **)own);
    return g_strv_builder_end(words);
}

static bool command_store(void *data, const ArchiveMail *mail, GError **error)
{
    CommandArchiver *self = data;
    pid_t pid;
    int status = 0;
    g_auto(GStrv) words = self->path ? mhonarc_words(self, mail->list, error) : g_strdupv(self->words);
    if (!words || !start(self, words, mail, &pid, error))
        return false;
    if (!await(self, pid, &status))
        return fail(error, FAIL_LATER, "%s took too long and was killed", self->words[0]);
    if (WIFSIGNALED(status))
        return fail(error, FAIL_NEVER, "%s was ended by signal %d", self->words[0], WTERMSIG(status));
    int code = WEXITSTATUS(status);
    if (code == 0)
        return true;
    return fail(error, code == CHILD_EXIT_LATER ? FAIL_LATER : FAIL_NEVER, "%s: exit code %d", self->words[0], code);
}

const ArchiverType archiver_command = {
    .name = "command",
    .immediate = true,
    .open = command_open,
    .store = command_store,
    .close = command_close,
};

static void *mhonarc_open(Runner *runner, const char *section, GError **error)
{
    const char *path = archiver_setting(runner, section, "path", error);
    const char *line = config_string(runner_config(runner), section, "command");
    if (path == NULL)
        return NULL;
    CommandArchiver *self = NULL;
    if (line && *line) {
        self = command_open(runner, section, error);
    } else {
        static const char *const usual[] = {"/usr/bin/mhonarc", NULL};
        self = g_new0(CommandArchiver, 1);
        self->runner = runner;
        self->words = g_strdupv((char **)usual);
        self->timeout = config_duration(runner_config(runner), "archive", "command_timeout");
    }
    if (self)
        self->path = g_strdup(path);
    return self;
}

const ArchiverType archiver_mhonarc = {
    .name = "mhonarc",
    .immediate = true,
    .open = mhonarc_open,
    .store = command_store,
    .close = command_close,
};
