/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Mails and their files to be saved: one mail, a thread as an mbox, a month as a compressed one. */
#include <gio/gio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/archive/archive_maildir.h"
#include "mail/mbox.h"
#include "runners/web/archive.h"
#include "runners/web/masked_mail.h"

#define PORTION ((size_t)256 << 10) /* bytes of mail between two looks for other calls */
#define ROWS 100                    /* of the index, read at once */
#define GZIP "application/gzip"
#define MBOX "application/mbox"
#define STREAMS 50 /* clients that read one at a time */

/* A mail as its reader may have it. Takes no reference. */
static void append_mail(GBytes *octets, bool member, GString *out)
{
    if (member) {
        size_t length;
        const char *data = g_bytes_get_data(octets, &length);
        g_string_append_len(out, data, (gssize)length);
        return;
    }
    g_autoptr(Readable) mail = readable_new(octets, READABLE_TEXT);
    masked_mail(mail, out);
}

/* The name under which a browser saves it. */
static void set_name(WebCall *call, const char *name)
{
    g_autofree char *escaped = g_uri_escape_string(name, NULL, false);
    g_autofree char *how = g_strdup_printf("attachment; filename*=UTF-8''%s", escaped);
    http_set_header(call->http, "Content-Disposition", how);
}

void archive_get_raw(WebCall *call)
{
    g_auto(ArchiveReading) reading = {0};
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? archive_find(&reading, true) : NULL;
    g_autoptr(GBytes) octets = message ? archive_load(&reading, message) : NULL;
    if (!octets)
        return;
    GString *text = g_string_new(NULL);
    append_mail(octets, reading.member, text);
    g_autoptr(GBytes) content = g_string_free_to_bytes(text);
    if (!web_has_room(call, content))
        return;
    call->shared = !reading.member;
    web_set_headers(call);
    g_autofree char *name = g_strconcat(message->hash, ".eml", NULL);
    set_name(call, name);
    call->answered = true;
    http_answer_bytes(call->http, 200, "message/rfc822", content);
}

void archive_get_file(WebCall *call)
{
    size_t number;
    g_auto(ArchiveReading) reading = {0};
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? archive_find(&reading, true) : NULL;
    g_autoptr(GBytes) octets = message ? archive_load(&reading, message) : NULL;
    if (!octets)
        return;
    g_autoptr(Readable) mail = readable_new(octets, 0);
    bool is_number = g_ascii_string_to_unsigned(call->args[2], 10, 0, G_MAXUINT32, &number, NULL);
    call->shared = !reading.member;
    web_attachment(call, is_number ? readable_file(mail, number) : NULL, !reading.member);
}

/* ---- many mails ---- */

/* An mbox on its way to a client. It has an index of its own, since that of the pages may be opened anew. */
typedef struct MailStream {
    Web *web;
    ArchiveIndex *index;
    char *directory;
    bool member, at_end;
    int64_t list, thread; /* of a thread, or 0: of the list */
    ArchivePage page;
    GPtrArray *rows; /* read, and not yet sent from `next` on */
    guint next;
    GConverter *gzip; /* NULL: as it is */
} MailStream;

static void closed(HttpStream *stream)
{
    MailStream *self = http_stream_data(stream);
    archive_index_free(self->index);
    g_free(self->directory);
    g_clear_pointer(&self->rows, g_ptr_array_unref);
    g_clear_object(&self->gzip);
    self->web->streams--;
    g_free(self);
}

/* Read the next rows when all of the last ones were sent. */
static bool read_rows(MailStream *self, GError **error)
{
    if (self->rows && self->next < self->rows->len)
        return true;
    g_clear_pointer(&self->rows, g_ptr_array_unref);
    self->next = 0;
    self->rows = self->thread ? archive_index_thread_messages(self->index, self->thread, &self->page, error)
                              : archive_index_messages(self->index, self->list, &self->page, error);
    if (!self->rows)
        return false;
    self->at_end = self->rows->len < ROWS;
    if (self->rows->len > 0) {
        const ArchiveMessage *last = self->rows->pdata[self->rows->len - 1];
        self->page.behind = (ArchivePlace){.date = last->date, .id = last->id};
    }
    return true;
}

/* One that is hidden, or gone meanwhile, is left out. */
static bool append_row(const MailStream *self, const ArchiveMessage *message, GString *out, GError **error)
{
    g_autoptr(GError) fault = NULL;
    if (message->state != ARCHIVE_SHOWN)
        return true;
    g_autoptr(GBytes)
        octets = archive_maildir_load(self->web->archive->directory, self->directory, message->file, &fault);
    if (!octets && !g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    if (!octets)
        return true;
    g_autoptr(GString) mail = g_string_new(NULL);
    append_mail(octets, self->member, mail);
    mbox_append(out, self->member ? message->address : "", message->arrival, mail->str, mail->len);
    return true;
}

/* Append about PORTION bytes of mails; *end when there is no more. */
static bool append_some(MailStream *self, GString *out, bool *end, GError **error)
{
    *end = false;
    while (out->len < PORTION && !*end) {
        if (!read_rows(self, error))
            return false;
        if (self->next < self->rows->len) {
            if (!append_row(self, self->rows->pdata[self->next++], out, error))
                return false;
        } else {
            *end = self->at_end;
        }
    }
    return true;
}

static bool send_compressed(HttpStream *stream, const GString *text, bool end, GError **error)
{
    const MailStream *self = http_stream_data(stream);
    char packed[16384];
    for (size_t at = 0;;) {
        gsize taken, made;
        GConverterResult result = g_converter_convert(self->gzip, text->str + at, text->len - at, packed,
                                                      sizeof(packed), end ? G_CONVERTER_INPUT_AT_END : 0, &taken, &made,
                                                      error);
        if (result == G_CONVERTER_ERROR)
            return false;
        at += taken;
        if (made > 0)
            http_stream_send(stream, packed, made);
        if (result == G_CONVERTER_FINISHED || (!end && at == text->len))
            return true;
    }
}

static bool send_some(HttpStream *stream, bool *end, GError **error)
{
    MailStream *self = http_stream_data(stream);
    g_autoptr(GString) text = g_string_new(NULL);
    if (!append_some(self, text, end, error))
        return false;
    if (self->gzip)
        return (text->len == 0 && !*end) || send_compressed(stream, text, *end, error);
    if (text->len > 0)
        http_stream_send(stream, text->str, text->len);
    return true;
}

/* Called whenever what was sent has left. What is compressed may give nothing to be sent: then it goes on at once. */
static void room(HttpStream *stream)
{
    g_autoptr(GError) error = NULL;
    bool end = false;
    do {
        if (!send_some(stream, &end, &error)) {
            log_error("an mbox was cut short: %s", error->message);
            http_stream_end(stream);
            return;
        }
    } while (!end && !http_stream_busy(stream));
    if (end)
        http_stream_finish(stream);
}

static void answer_head(WebCall *call, const char *type, const char *name, bool shared)
{
    call->shared = shared;
    web_set_headers(call);
    set_name(call, name);
    call->answered = true;
    http_answer(call->http, 200, type, "", 0);
}

/* Answer with the mails of a thread, or those of the list in *page. */
static void stream_mails(const ArchiveReading *reading, int64_t thread, const ArchivePage *page, const char *name)
{
    static const HttpStreamSpec spec = {.room = room, .closed = closed, .finite = true};
    WebCall *call = reading->call;
    GError *error = NULL;
    bool gzip = g_str_has_suffix(name, ".gz");
    if (strcmp(http_verb(call->http), "HEAD") == 0) {
        answer_head(call, gzip ? GZIP : MBOX, name, !reading->member);
        return;
    }
    if (call->web->streams >= STREAMS) {
        http_set_header(call->http, "Retry-After", "30");
        web_notice(call, 503, "later", NULL);
        return;
    }
    ArchiveIndex *index = archive_index_open(call->web->archive->directory, false, &error);
    if (!index) {
        archive_fail(call, error);
        return;
    }
    MailStream *self = g_new0(MailStream, 1);
    self->web = call->web;
    self->web->streams++;
    self->index = index;
    self->directory = g_strdup(reading->directory);
    self->member = reading->member;
    self->list = reading->found->number;
    self->thread = thread;
    self->page = *page;
    self->page.oldest_first = true;
    self->page.limit = ROWS;
    if (gzip)
        self->gzip = G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
    call->shared = !reading->member;
    web_set_headers(call);
    set_name(call, name);
    call->answered = true;
    room(http_stream(call->http, gzip ? GZIP : MBOX, &spec, self));
}

void archive_get_thread_mails(WebCall *call)
{
    const ArchivePage page = {0};
    g_auto(ArchiveReading) reading = {0};
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? archive_find(&reading, false) : NULL;
    if (!message)
        return;
    g_autofree char *name = g_strconcat(message->hash, ".mbox", NULL);
    stream_mails(&reading, message->thread, &page, name);
}

void archive_get_month_mails(ArchiveReading *reading, int64_t from, int64_t to)
{
    const ArchivePage page = {.from = from, .to = to};
    if (!reading->found) {
        web_missing(reading->call, NULL);
        return;
    }
    g_autofree char *name = g_strdup_printf("%s-%s", reading->list->list_name, reading->call->args[1]);
    stream_mails(reading, 0, &page, name);
}
