/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/desk_try.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/program.h"

#define SHOWN "50"                  /* posts of a page */
#define OUTPUT (4 * 1024 * 1024)    /* bytes that a trial may say */
#define MEMORY ((rlim_t)1024 << 20) /* bytes of data that it may have */

/* A trial whose process has not ended. */
typedef struct DeskTrial {
    Web *web;
    HttpStream *stream; /* NULL: the client has gone */
    const char *language;
    json_t *view;
    pid_t pid;
    int output, ended; /* a pipe, and a descriptor of the process */
    struct event *on_output, *on_end, *on_late;
    GString *text;   /* what it said */
    const char *why; /* a section of the page: why there is no result; NULL: nothing is wrong so far */
} DeskTrial;

/* ---- the result as a view ---- */

static json_int_t add_counts(json_t *result, const json_t *from, const char *key)
{
    const json_int_t count = json_integer_value(json_object_get(from, key));
    if (count > 0)
        json_object_set_new(result, key, json_pack("{sI}", "count", count));
    return count;
}

/* "is_held", with reasons, and the parts that were taken out. */
static json_t *outcome_view(const json_t *row, const char *key)
{
    const json_t *outcome = json_object_get(row, key), *removed = json_object_get(outcome, "removed"), *part;
    const char *fate = json_string_value(json_object_get(outcome, "fate"));
    g_autofree char *name = g_strconcat("is_", fate ? fate : "", NULL);
    g_autoptr(GString) parts = g_string_new(NULL);
    size_t at;
    json_array_foreach(removed, at, part)
        g_string_append_printf(parts, "%s%s", at > 0 ? "; " : "", json_string_value(part));
    json_t *view = json_pack("{sb}", name, true);
    desk_set_line(view, "reasons", json_string_value(json_object_get(outcome, "reasons")));
    desk_set_line(view, "removed", parts->str);
    return view;
}

static json_t *row_view(const json_t *row)
{
    const json_int_t held = json_integer_value(json_object_get(row, "held"));
    const char *id = json_string_value(json_object_get(row, "id")),
               *date = json_string_value(json_object_get(row, "date"));
    const char *file = json_string_value(json_object_get(row, "file"));
    json_t *view = json_pack("{so so}", "before", outcome_view(row, "before"), "after", outcome_view(row, "after"));
    const json_t *refused = json_object_get(row, "refused");
    if (json_is_object(refused))
        json_object_set_new(view, "refused", outcome_view(row, "refused"));
    else if (held > 0)
        json_object_set_new(view, "number", json_integer(held));
    else if (id && g_strcmp0(id, file) != 0) /* without a Message-ID it has no page */
        json_object_set_new(view, "hash", json_string(id));
    const char *const words[][2] = {{"text", "other_text"}, {"ways", "other_way"}}; /* word of the row, of the view */
    const json_t *differs = json_object_get(row, "differs"), *word;
    size_t at;
    json_array_foreach(differs, at, word)
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
            if (strcmp(json_string_value(word), words[i][0]) == 0)
                json_object_set_new(view, words[i][1], json_true());
    g_autofree char *day = g_strndup(date ? date : "", strlen("2026-11-20"));
    desk_set_line(view, "date", day);
    desk_set_line(view, "sender", json_string_value(json_object_get(row, "sender")));
    desk_set_line(view, "subject", json_string_value(json_object_get(row, "subject")));
    return view;
}

/* The posts that would differ, and what the last line sums up. NULL: it said something that is no result. */
static json_t *read_result(const GString *text)
{
    static const char *const sums[] = {"reasons", "loses_attachment", "loses_part", "keeps_part", "text", "ways"};
    g_autoptr(json_t) rows = json_array(), all = NULL;
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_autoptr(json_t) object = **line ? json_loads(*line, 0, NULL) : NULL;
        if (**line && !json_is_object(object))
            return NULL;
        if (object && json_object_get(object, "would_be"))
            all = json_incref(object);
        else if (object)
            json_array_append_new(rows, row_view(object));
    }
    if (!all)
        return NULL;
    json_t *posts = json_object_get(all, "posts"), *fates = json_object_get(all, "would_be");
    json_t *result = json_pack("{sO sO}", "posts", posts, "rows", rows);
    json_int_t sum = 0;
    const char *fate;
    json_t *number;
    json_object_foreach(fates, fate, number)
        sum += json_is_integer(number) ? add_counts(result, fates, fate) : 0;
    for (size_t at = 0; at < G_N_ELEMENTS(sums); at++)
        sum += add_counts(result, all, sums[at]);
    add_counts(result, all, "removed");
    add_counts(result, all, "refused_accepted");
    add_counts(result, all, "unreadable");
    json_object_set_new(result, "none", json_boolean(json_integer_value(posts) == 0));
    json_object_set_new(result, "same", json_boolean(sum == 0 && json_integer_value(posts) > 0));
    if (json_string_value(json_object_get(all, "gap")))
        desk_set_line(result, "gap", json_string_value(json_object_get(all, "gap")));
    return result;
}

/* ---- the end of the page ---- */

static void append_end(const Web *web, const char *language, json_t *view, const char *why, GString *page)
{
    g_autoptr(GError) error = NULL;
    if (why)
        json_object_set_new(view, why, json_true());
    if (!theme_fill(web->theme, language, "desk_tried", view, page, &error))
        log_error("the end of a page cannot be made: %s", error->message);
}

/* ---- the process ---- */

static void trial_free(DeskTrial *trial)
{
    struct event *const events[] = {trial->on_output, trial->on_end, trial->on_late};
    for (size_t at = 0; at < G_N_ELEMENTS(events); at++)
        if (events[at])
            event_free(events[at]);
    close(trial->output);
    close(trial->ended);
    json_decref(trial->view);
    g_string_free(trial->text, TRUE);
    g_free(trial);
}

/* End the process; on_end() hears of it. The first reason is shown. */
static void cut_short(DeskTrial *trial, const char *why)
{
    kill(-trial->pid, SIGKILL);
    if (!trial->why)
        trial->why = why;
}

static void take_output(DeskTrial *trial)
{
    char bytes[16 * 1024];
    ssize_t got;
    while ((got = read(trial->output, bytes, sizeof bytes)) > 0 && trial->text->len <= OUTPUT)
        g_string_append_len(trial->text, bytes, got);
    if (trial->text->len > OUTPUT)
        cut_short(trial, "failed");
    if (got == 0)
        event_del(trial->on_output);
}

static void on_output(evutil_socket_t fd, short what, void *data)
{
    (void)fd, (void)what;
    take_output(data);
}

static void on_late(evutil_socket_t fd, short what, void *data)
{
    (void)fd, (void)what;
    cut_short(data, "late");
}

static void on_end(evutil_socket_t fd, short what, void *data)
{
    DeskTrial *trial = data;
    int status = 0;
    (void)fd, (void)what;
    take_output(trial);
    if (waitpid(trial->pid, &status, WNOHANG) == 0)
        return;
    if (status != 0 && !trial->why) {
        trial->why = "failed";
        log_warn("a trial of the desk failed: status %d", status);
    }
    g_ptr_array_remove_fast(trial->web->trials, trial);
    if (trial->stream) {
        json_t *result = trial->why ? NULL : read_result(trial->text);
        g_autoptr(GString) page = g_string_new(NULL);
        if (result)
            json_object_set_new(trial->view, "tried", result);
        append_end(trial->web, trial->language, trial->view, result ? NULL : trial->why ? trial->why : "failed", page);
        http_stream_send(trial->stream, page->str, page->len);
        http_stream_finish(trial->stream);
    }
    trial_free(trial);
}

static void on_room(G_GNUC_UNUSED HttpStream *stream)
{
}

/* The client has gone, or has all of the page. */
static void on_closed(HttpStream *stream)
{
    DeskTrial *trial = http_stream_data(stream);
    trial->stream = NULL;
    if (g_ptr_array_find(trial->web->trials, trial, NULL))
        cut_short(trial, "failed");
}

void desk_try_stop(Web *web)
{
    for (guint at = 0; web->trials && at < web->trials->len; at++) {
        DeskTrial *trial = web->trials->pdata[at];
        kill(-trial->pid, SIGKILL);
        waitpid(trial->pid, NULL, 0);
        trial_free(trial);
    }
    g_clear_pointer(&web->trials, g_ptr_array_unref);
}

/* The change as a file in memory: no list of processes shows it. -1: failed. */
static int change_file(const json_t *change, GError **error)
{
    g_autofree char *text = json_dumps(change, JSON_COMPACT);
    auto_fd fd = memfd_create("change", MFD_CLOEXEC);
    if (fd < 0)
        fail_errno(error, FAIL_LATER, "memory for a trial");
    else if (fs_write(fd, text, strlen(text), error) && lseek(fd, 0, SEEK_SET) == 0)
        return auto_fd_steal(&fd);
    return -1;
}

/* NULL: it cannot be started. */
static DeskTrial *start(const Desk *desk, const json_t *change, GError **error)
{
    Web *web = desk->call->web;
    char *words[] = {(char *)BINDIR "/listrunner",
                     (char *)"--config",
                     (char *)config_path(web->config),
                     (char *)"list",
                     (char *)"try",
                     (char *)"--json",
                     (char *)"--limit=" SHOWN,
                     (char *)"--from-json=-",
                     (char *)"--",
                     desk->list->list_id,
                     NULL};
    const int64_t timeout = config_duration(web->config, "web", "trial_timeout");
    const Program program = {.words = words};
    int ends[2];
    auto_fd input = change_file(change, error);
    if (input < 0)
        return NULL;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        fail_errno(error, FAIL_LATER, "make a pipe for a trial");
        return NULL;
    }
    auto_fd reading = ends[0], writing = ends[1];
    fcntl(writing, F_SETFL, 0);
    pid_t pid;
    if (!program_start(&program, input, writing, &pid, error))
        return NULL;
    auto_fd ended = (int)syscall(SYS_pidfd_open, pid, 0);
    if (ended < 0) {
        fail_errno(error, FAIL_LATER, "watch a trial");
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return NULL;
    }
    /* Should this process be killed, the trial ends all the same. */
    const rlim_t seconds = (rlim_t)(timeout / CLOCK_SECOND) + 1;
    prlimit(pid, RLIMIT_CPU, &(struct rlimit){seconds, seconds}, NULL);
#ifndef __SANITIZE_ADDRESS__
    prlimit(pid, RLIMIT_DATA, &(struct rlimit){MEMORY, MEMORY}, NULL);
#endif
    DeskTrial *trial = g_new0(DeskTrial, 1);
    *trial = (DeskTrial){.web = web, .language = desk->call->language, .pid = pid, .text = g_string_new(NULL)};
    trial->output = auto_fd_steal(&reading);
    trial->ended = auto_fd_steal(&ended);
    struct event_base *loop = http_loop(web->http);
    trial->on_output = event_new(loop, trial->output, EV_READ | EV_PERSIST, on_output, trial);
    trial->on_end = event_new(loop, trial->ended, EV_READ | EV_PERSIST, on_end, trial);
    trial->on_late = event_new(loop, -1, 0, on_late, trial);
    event_add(trial->on_output, NULL);
    event_add(trial->on_end, NULL);
    event_add(trial->on_late, &(struct timeval){timeout / CLOCK_SECOND, timeout % CLOCK_SECOND});
    return trial;
}

/* ---- the page ---- */

void desk_try(const Desk *desk, int status, const char *name, json_t *view, json_t *change)
{
    static const HttpStreamSpec good = {.room = on_room, .closed = on_closed},
                                conflict = {.room = on_room, .closed = on_closed, .status = 409};
    static const char type[] = "text/html; charset=utf-8";
    WebCall *call = desk->call;
    Web *web = call->web;
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) page = g_string_new(NULL);
    g_autoptr(json_t) own = view, asked = change;
    desk_complete(desk, own);
    if (!web_fill(call, name, own, page, &error)) {
        web_fail(call, g_steal_pointer(&error));
        return;
    }
    const int64_t most = config_integer(web->config, "web", "max_trials");
    web->trials = web->trials ? web->trials : g_ptr_array_new();
    const bool room = web->trials->len < most;
    DeskTrial *trial = room ? start(desk, asked, &error) : NULL;
    if (!trial) { /* then the page is whole, and says so */
        if (error)
            log_error("a trial of the desk cannot be made: %s", error->message);
        append_end(web, call->language, own, room ? "failed" : most == 0 ? "untried" : "full", page);
        web_set_headers(call);
        call->answered = true;
        http_answer(call->http, status, type, page->str, page->len);
        return;
    }
    trial->view = json_incref(own);
    g_ptr_array_add(web->trials, trial);
    web_set_headers(call);
    http_set_header(call->http, "X-Accel-Buffering", "no"); /* nginx passes the first part on */
    http_set_header(call->http, "Connection", "close");
    call->answered = true;
    trial->stream = http_stream(call->http, type, status == 409 ? &conflict : &good, trial);
    http_stream_send(trial->stream, page->str, page->len);
}
