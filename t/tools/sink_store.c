/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/tools/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(json_t, json_decref)

bool sink_store_wanted(const Sink *sink)
{
    return sink->store != NULL || sink->maildir != NULL;
}

G_NORETURN static void die(const char *what, const char *path)
{
    fprintf(stderr, "smtp-sink: %s %s: %s\n", what, path, strerror(errno));
    exit(70);
}

static void write_all(int fd, const char *data, size_t length, const char *path)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno != EINTR)
            die("cannot write", path);
        if (n > 0) {
            data += n;
            length -= (size_t)n;
        }
    }
}

/* Written aside, then renamed: who reads the directory sees whole files only. */
static void write_file(const char *path, const char *head, const GString *message)
{
    g_autofree char *aside = g_strconcat(path, ".tmp", NULL);
    auto_fd fd = open(aside, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        die("cannot create", aside);
    write_all(fd, head, strlen(head), aside);
    write_all(fd, message->str, message->len, aside);
    if (rename(aside, path) != 0)
        die("cannot rename", aside);
}

/* An address may hold any byte; JSON may not. */
static json_t *text(const char *octets, size_t length)
{
    g_autofree char *valid = g_utf8_make_valid(octets, (gssize)length);
    return json_string(valid);
}

static char *envelope(const Sink *sink, const SinkMail *mail, int64_t now)
{
    g_autoptr(json_t) line = json_object();
    json_object_set_new(line, "n", json_integer((json_int_t)sink->serial));
    json_object_set_new(line, "time", json_integer(now));
    json_object_set_new(line, "session", json_integer((json_int_t)mail->session));
    json_object_set_new(line, "helo", text(mail->helo, strlen(mail->helo)));
    json_object_set_new(line, "from", text(mail->from, strlen(mail->from)));
    json_t *to = json_array();
    const char *at = mail->recipients->str;
    for (const char *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
        json_array_append_new(to, text(at, (size_t)(end - at)));
    json_object_set_new(line, "to", to);
    json_object_set_new(line, "verb", json_string(mail->verb));
    json_object_set_new(line, "tls", mail->tls ? json_string(mail->tls) : json_null());
    json_object_set_new(line, "user", mail->user ? json_string(mail->user) : json_null());
    json_object_set_new(line, "size", json_integer((json_int_t)mail->octets));
    json_object_set_new(line, "result", json_string(mail->result));
    char *printed = json_dumps(line, JSON_COMPACT);
    char *ended = g_strconcat(printed, "\n", NULL);
    free(printed);
    return ended;
}

static void deliver(const Sink *sink, const SinkMail *mail, int64_t now)
{
    g_auto(GStrv) addresses = g_strsplit(mail->recipients->str, "\n", -1);
    g_autoptr(GString) unix_lines = g_string_sized_new(mail->message->len);
    for (const char *at = mail->message->str, *end = at + mail->message->len; at < end; at++) {
        if (at[0] != '\r' || at + 1 == end || at[1] != '\n')
            g_string_append_c(unix_lines, *at);
    }
    for (char **address = addresses; *address != NULL && **address != '\0'; address++) {
        g_strdelimit(*address, "/", '_');
        static const char *const parts[] = {"tmp", "cur", "new"};
        g_autofree char *top = g_build_filename(sink->maildir, *address, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
            g_autofree char *part = g_build_filename(top, parts[i], NULL);
            if (g_mkdir_with_parents(part, 0755) != 0)
                die("cannot make", part);
        }
        g_autofree char *path =
            g_strdup_printf("%s/new/%" G_GINT64_FORMAT ".%" G_GUINT64_FORMAT ".sink", top, now, sink->serial);
        g_autofree char *head = g_strdup_printf("Return-Path: <%s>\n", mail->from);
        write_file(path, head, unix_lines);
    }
}

void sink_store_keep(Sink *sink, const SinkMail *mail)
{
    int64_t now = g_get_real_time();
    sink->serial++;
    if (sink->store == NULL && sink->maildir == NULL && sink->log_fd < 0)
        return;
    g_autofree char *head = envelope(sink, mail, now);
    if (sink->log_fd >= 0)
        write_all(sink->log_fd, head, strlen(head), "the log");
    if (sink->store != NULL) {
        g_autofree char *path = g_strdup_printf("%s/%010" G_GUINT64_FORMAT ".mail", sink->store, sink->serial);
        write_file(path, head, mail->message);
    }
    if (sink->maildir != NULL && strcmp(mail->result, "refused") != 0)
        deliver(sink, mail, now);
}

void sink_store_stats(const Sink *sink, const char *path)
{
    const SinkStats *s = &sink->stats;
    double seconds = s->transactions > 0 ? (double)(s->last - s->first) / 1e6 : 0;
    g_autofree char *line = g_strdup_printf(
        "{\"connections\":%" G_GUINT64_FORMAT ",\"open\":%" G_GUINT64_FORMAT ",\"transactions\":%" G_GUINT64_FORMAT
        ",\"recipients\":%" G_GUINT64_FORMAT ",\"refused\":%" G_GUINT64_FORMAT ",\"octets\":%" G_GUINT64_FORMAT
        ",\"first\":%" G_GINT64_FORMAT ",\"last\":%" G_GINT64_FORMAT ",\"seconds\":%.6f}\n",
        s->connections, sink->open, s->transactions, s->recipients, s->refused, s->octets, s->first, s->last, seconds);
    if (path == NULL) {
        fputs(line, stdout);
        fflush(stdout);
        return;
    }
    g_autoptr(GString) whole = g_string_new(line);
    write_file(path, "", whole);
}
