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
#include <sys/stat.h>

#include "lists/archive/archive_place.h"
#include "runners/archive/archiver.h"

#include "base/contract.h"
#include "base/fail.h"
#include "base/program.h"

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

static CommandArchiver *make(Runner *runner, const char *section, const char *line, GError **error)
{
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

static void *command_open(Runner *runner, const char *section, GError **error)
{
    const char *line = archiver_setting(runner, section, "command", error);
    return line ? make(runner, section, line, error) : NULL;
}

/* The words of MHonArc for a list: it adds the mail on its standard input to the pages of one directory, and passes
 * over one that it has by its Message-ID. Strangers who can look into the directory of a public list are kept out of a
 * private one, whose older pages may be open. */
static char **mhonarc_words(const CommandArchiver *self, const ArchiveMail *mail, GError **error)
{
    g_autofree char *name = archive_file_name(mail->place), *directory = g_build_filename(self->path, name, NULL);
    g_autofree char *database = g_build_filename(directory, "mhonarc.db", NULL);
    struct stat status;
    if (g_mkdir_with_parents(directory, mail->closed ? 0750 : 0755) != 0) {
        fail_errno(error, FAIL_LATER, "make %s", directory);
        return NULL;
    }
    if (mail->closed && (stat(directory, &status) != 0 ||
                         (status.st_mode & S_IRWXO && chmod(directory, status.st_mode & 07770) != 0))) {
        fail_errno(error, FAIL_LATER, "close %s to strangers", directory);
        return NULL;
    }
    const char *const own[] = {"-add", "-dbfile", database, "-outdir", directory, "-quiet", "-spammode",
                               "-umask", mail->closed ? "027" : "022", "-title", mail->list, NULL};
    g_autoptr(GStrvBuilder) words = g_strv_builder_new();
    g_strv_builder_addv(words, (const char **)self->words);
    g_strv_builder_addv(words, (const char **)own);
    return g_strv_builder_end(words);
}

static bool command_store(void *data, const ArchiveMail *mail, GError **error)
{
    CommandArchiver *self = data;
    int code = 0;
    g_auto(GStrv) words = self->path ? mhonarc_words(self, mail, error) : g_strdupv(self->words);
    char **env = g_get_environ();
    env = g_environ_setenv(env, "LISTRUNNER_LIST", mail->list, TRUE);
    env = g_environ_setenv(env, "LISTRUNNER_ENTRY", mail->key, TRUE);
    env = g_environ_setenv(env, "LISTRUNNER_MESSAGE_ID", mail->message_id, TRUE);
    env = g_environ_setenv(env, "LISTRUNNER_SENDER", mail->sender, TRUE);
    g_auto(GStrv) environment = g_environ_setenv(env, "LISTRUNNER_REPEAT", mail->repeat ? "yes" : "no", TRUE);
    const Program program = {.words = words, .environment = environment, .timeout = self->timeout,
                             .alive = runner_alive, .data = self->runner};
    g_autoptr(GBytes) input = g_bytes_new_static(mail->octets, mail->length);
    if (!words || !program_run(&program, input, &code, NULL, error))
        return false;
    if (code == 0)
        return true;
    return fail(error, code == CHILD_EXIT_LATER ? FAIL_LATER : FAIL_NEVER, code > 128 ? "%s was ended by signal %d"
                                                                                      : "%s: exit code %d",
                self->words[0], code > 128 ? code - 128 : code);
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
    CommandArchiver *self = path ? make(runner, section, line && *line ? line : "/usr/bin/mhonarc", error) : NULL;
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
