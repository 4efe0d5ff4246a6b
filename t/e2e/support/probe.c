/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A runner that tries, when it starts, what the file x_list of [runner.probe] says, one "read PATH", "write PATH",
 * "run PATH" or "sort DATABASE" a line, and logs how that went. It can take the place of any other runner. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "runners/runner.h"

static int try_run(const char *path)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl(path, path, NULL);
        _exit(errno == EACCES ? 111 : 112);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status) == 111 ? EACCES : WEXITSTATUS(status);
}

static int try_open(const char *word, const char *path)
{
    int fd = open(path, strcmp(word, "read") == 0 ? O_RDONLY : O_WRONLY | O_CREAT, 0600);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* Sort more than SQLite does without a file. */
static int try_sort(const char *path)
{
    static const char script[] =
        "PRAGMA temp_store = FILE; PRAGMA cache_size = 10;"
        "CREATE TEMP TABLE row (text);"
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        "INSERT INTO row SELECT hex(randomblob(200)) FROM n; CREATE INDEX temp.by_text ON row (text);";
    sqlite3 *database = NULL;
    int code = sqlite3_open(path, &database);
    if (code == SQLITE_OK)
        code = sqlite3_exec(database, script, NULL, NULL, NULL);
    sqlite3_close(database);
    return code == SQLITE_OK ? 0 : EACCES;
}

static bool start(Runner *runner, GError **error)
{
    char word[8], path[4096];
    FILE *list = fopen(config_extra(runner_config(runner), "runner.probe", "x_list"), "re");
    if (!list)
        return true;
    while (fscanf(list, "%7s %4095s", word, path) == 2) {
        int code = strcmp(word, "run") == 0    ? try_run(path)
                   : strcmp(word, "sort") == 0 ? try_sort(path)
                                               : try_open(word, path);
        log_info("probe as=%s does=%s path=%s result=%s", runner_name(runner), word, path,
                 code == 0        ? "done"
                 : code == EACCES ? "refused"
                                  : strerror(code));
    }
    fclose(list);
    return true;
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    return true;
}

static const RunnerSpec spec = {.name = "probe", .start = start, .handle = handle};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
