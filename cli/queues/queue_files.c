/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queues/queue_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"

/* An entry may change its state between a look and the next. */
#define OPEN_TRIES 3

static const struct {
    const char *text, *suffix;
} states[QUEUE_STATES] = {
    [QUEUE_READY] = {"ready", ".msg"},         [QUEUE_WAITING] = {"waiting", ".msg"},
    [QUEUE_CLAIMED] = {"claimed", ".bak"},     [QUEUE_DECIDED] = {"decided", ".done"},
    [QUEUE_PRESERVED] = {"preserved", ".psv"}, [QUEUE_WRITING] = {"writing", ".tmp"},
    [QUEUE_TAKEN] = {"taken", ".opc"},         [QUEUE_FOREIGN] = {"foreign", ""},
};

const char *queue_state_text(QueueState state)
{
    return states[state].text;
}

bool queue_state_parse(const char *text, QueueState *state)
{
    for (QueueState each = 0; each < QUEUE_FOREIGN; each++)
        if (strcmp(states[each].text, text) == 0) {
            *state = each;
            return true;
        }
    return false;
}

static QueueFile classify(const char *file, int64_t now)
{
    QueueFile found = {.state = QUEUE_FOREIGN};
    const char *rest;
    if (!name_parse(file, &found.name, &rest)) {
        memset(&found.name, 0, sizeof found.name);
        return found;
    }
    if (strcmp(rest, ".msg") == 0)
        found.state = found.name.due > now ? QUEUE_WAITING : QUEUE_READY;
    else if (strcmp(rest, ".opd") == 0)
        found.state = QUEUE_TAKEN;
    else if (g_str_has_suffix(rest, ".tmp"))
        found.state = QUEUE_WRITING;
    else
        for (QueueState each = QUEUE_CLAIMED; each < QUEUE_FOREIGN; each++)
            if (strcmp(rest, states[each].suffix) == 0)
                found.state = each;
    return found;
}

bool queue_files_each(Queue *queue, QueueFileEach *each, void *data, GError **error)
{
    int fd = openat(queue_fd(queue), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (!directory) {
        fail_errno(error, FAIL_LATER, "cannot list the queue %s", queue_name(queue));
        if (fd >= 0)
            close(fd);
        return false;
    }
    int64_t now = clock_now();
    bool more = true;
    errno = 0;
    for (struct dirent *entry; more && (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        QueueFile found = classify(entry->d_name, now);
        more = each(&found, entry->d_name, data);
        errno = 0;
    }
    bool whole = errno == 0 || fail_errno(error, FAIL_LATER, "cannot list the queue %s", queue_name(queue));
    closedir(directory);
    return whole;
}

char **queue_files_choose(Spool *spool, int count, char **names, GError **error)
{
    g_auto(GStrv) present = spool_queue_names(spool, error);
    for (int i = 0; present && i < count; i++) {
        if (g_strv_contains((const char *const *)present, names[i])) {
            if (!spool_queue(spool, names[i], error))
                return NULL;
            continue;
        }
        g_autofree char *all = g_strjoinv(", ", present);
        g_autofree char *shown = g_utf8_make_valid(names[i], -1);
        fail(error, FAIL_MISSING, "there is no queue '%s' in %s%s%s", shown, spool_path(spool),
             *all ? "; there are " : "", all);
        return NULL;
    }
    return !present ? NULL : count > 0 ? g_strdupv(names) : g_steal_pointer(&present);
}

Entry *queue_files_open(Queue *queue, const QueueFile *found, QueueState *state, GError **error)
{
    char name[NAME_SIZE];
    name_format(&found->name, name);
    for (int try = 0; try < OPEN_TRIES; try++)
        for (QueueState each = QUEUE_READY; each < QUEUE_FOREIGN; each++) {
            if (each == QUEUE_WAITING || each == QUEUE_WRITING)
                continue;
            g_autoptr(GError) refusal = NULL;
            g_autofree char *file = g_strconcat(name, states[each].suffix, NULL);
            Entry *entry = entry_open_read(queue, file, &refusal);
            if (!entry && g_error_matches(refusal, FAIL, FAIL_MISSING))
                continue;
            *state = each == QUEUE_READY && found->name.due > clock_now() ? QUEUE_WAITING : each;
            if (!entry)
                g_propagate_error(error, g_steal_pointer(&refusal));
            return entry;
        }
    fail(error, FAIL_MISSING, "%s is no longer in the queue %s", name, queue_name(queue));
    return NULL;
}
