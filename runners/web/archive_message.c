/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The page of a message, which Archived-At names, and that of a thread; feeds; and mails and their files to be saved:
 * one mail, a thread as an mbox, a month as a compressed one. */
#include <gio/gio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/archive/archive_maildir.h"
#include "mail/mbox.h"
#include "runners/web/archive.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

#define PAGE 100       /* messages of a thread on a page */
#define VIEW_SIZE 2000 /* bytes of a view without its text */
#define DEEPEST 8      /* what is deeper is not set further in */

/* ---- one message ---- */

/* Append "&NAME=<ID>" to a mailto: link. */
static void append_id(GString *uri, const char *name, const char *id)
{
    g_autofree char *escaped = g_uri_escape_string(id, NULL, false);
    g_string_append_printf(uri, "&%s=%%3C%s%%3E", name, escaped);
}

/* A link that opens the reader's mail program with an answer to the list (RFC 6068); g_free(). */
static char *reply_uri(const ArchiveReading *reading, const ReadableHead *head)
{
    g_autofree char *post = g_uri_escape_string(reading->list->posting_address, "@", false);
    bool answers = g_ascii_strncasecmp(head->subject, "Re:", 3) == 0;
    g_autofree char *masked = archive_masked(reading, head->subject);
    g_autofree char *subject = g_uri_escape_string(masked, NULL, false);
    GString *uri = g_string_new(NULL);
    g_string_printf(uri, "mailto:%s?Subject=%s%s", post, answers ? "" : "Re%3A%20", subject);
    if (head->id) {
        append_id(uri, "In-Reply-To", head->id);
        append_id(uri, "References", head->id);
    }
    return g_string_free(uri, FALSE);
}

/* The view of a message that is shown, without its place in a thread. */
static json_t *shown_view(const ArchiveReading *reading, const ArchiveMessage *message, GError **error)
{
    const char *directory = reading->call->web->archive->directory;
    ViewCache *cache = reading->call->web->archive->views;
    bool replies = reading->list->settings->allow_list_posts;
    g_autofree char *key = g_strdup_printf("%s %s %s %s %s", reading->directory, message->hash, reading->call->language,
                                           reading->member ? "member" : "", replies ? "replies" : "");
    json_t *view = view_cache_find(cache, key);
    g_autoptr(GBytes) octets = view ? NULL : archive_maildir_load(directory, reading->directory, message->file, error);
    if (view || !octets)
        return view;
    view = archive_line(reading, message);
    g_autoptr(Readable) mail = readable_new(octets, READABLE_TEXT);
    g_autofree char *files = g_strdup_printf("%s/%s/file/", reading->path, message->hash);
    const MailHtml how = {.theme = reading->call->web->theme,
                          .language = reading->call->language,
                          .files = files,
                          .masked = !reading->member};
    g_autoptr(GString) text = g_string_new(NULL);
    mail_html(&how, mail, text);
    json_object_set_new(view, "text", json_stringn(text->str, text->len));
    json_object_set_new(view, "to", mail_html_people(&how, &mail->head.to));
    json_object_set_new(view, "cc", mail_html_people(&how, &mail->head.cc));
    json_object_set_new(view, "addressed", json_boolean(mail_html_is_addressed(&mail->head)));
    if (replies) {
        g_autofree char *reply = reply_uri(reading, &mail->head);
        json_object_set_new(view, "reply_uri", json_string(reply));
    }
    view_cache_add(cache, key, view, text->len + VIEW_SIZE);
    return view;
}

/* The line of a message, with its text where that is shown; NULL: its file cannot be read, FAIL_MISSING it is gone. */
static json_t *mail_view(const ArchiveReading *reading, const ArchiveMessage *message, GError **error)
{
    bool shown = message->state == ARCHIVE_SHOWN;
    json_t *kept = shown ? shown_view(reading, message, error) : archive_line(reading, message);
    json_t *view = kept ? json_copy(kept) : NULL;
    json_decref(kept);
    int depth = MIN(message->depth, DEEPEST);
    if (view && depth > 0)
        json_object_set_new(view, "depth", json_integer(depth));
    return view;
}

void archive_get_message(ArchiveReading *reading)
{
    GError *error = NULL;
    guint at = 0;
    g_autoptr(ArchiveMessage) message = archive_find(reading, true);
    if (!message)
        return;
    json_t *mail = mail_view(reading, message, &error);
    g_autoptr(GPtrArray) tree = mail ? archive_index_thread_tree(reading->index, message->thread, &error) : NULL;
    if (!tree) {
        json_decref(mail);
        archive_fail(reading->call, error);
        return;
    }
    json_t *view = archive_view(reading, message->subject);
    json_object_set_new(view, "mail", mail);
    json_object_set_new(view, "posts", json_integer(tree->len));
    json_object_set_new(view, "alone", json_boolean(tree->len == 1));
    while (at < tree->len && ((ArchiveMessage *)tree->pdata[at])->id != message->id)
        at++;
    if (at < tree->len) { /* else the thread is longer than its tree */
        if (at > 0)
            json_object_set_new(view, "previous", archive_line(reading, tree->pdata[at - 1]));
        if (at + 1 < tree->len)
            json_object_set_new(view, "next", archive_line(reading, tree->pdata[at + 1]));
        for (guint i = 0; i < at; i++)
            if (((ArchiveMessage *)tree->pdata[i])->id == message->parent)
                json_object_set_new(view, "parent", archive_line(reading, tree->pdata[i]));
    }
    archive_page(reading, "message", view);
}

/* ---- a thread ---- */

/* Messages of a page as a tree, from ?from=NUMBER on, and the number with which the next one begins, 0: there is
 * none. */
static GPtrArray *tree_page(const ArchiveReading *reading, int64_t thread, guint *next, GError **error)
{
    g_autofree char *text = web_query(reading->call, "from");
    guint64 from = 0;
    g_autoptr(GPtrArray) tree = archive_index_thread_tree(reading->index, thread, error);
    if (!tree)
        return NULL;
    if (text && !g_ascii_string_to_unsigned(text, 10, 0, tree->len, &from, NULL))
        from = 0;
    guint end = MIN((guint)from + PAGE, tree->len);
    *next = end < tree->len ? end : 0;
    if (end < tree->len)
        g_ptr_array_remove_range(tree, end, tree->len - end);
    if (from > 0)
        g_ptr_array_remove_range(tree, 0, (guint)from);
    return g_steal_pointer(&tree);
}

/* Messages of a page by date, behind ?after=PLACE; *next is a place, NULL: there is no more. */
static GPtrArray *flat_page(const ArchiveReading *reading, int64_t thread, char **next, GError **error)
{
    ArchivePage page = {.oldest_first = true, .limit = PAGE + 1};
    g_autofree char *after = web_query(reading->call, "after");
    archive_place_read(reading, after, false, &page.behind);
    GPtrArray *messages = archive_index_thread_messages(reading->index, thread, &page, error);
    if (messages && messages->len > PAGE) {
        const ArchiveMessage *last = messages->pdata[PAGE - 1];
        *next = archive_place_text(last->date, last->hash);
        g_ptr_array_set_size(messages, PAGE);
    }
    return messages;
}

/* Set "mails"; one whose file is gone is not shown. false: the call was answered. */
static bool set_mails(const ArchiveReading *reading, json_t *view, const GPtrArray *messages)
{
    json_t *mails = json_array();
    json_object_set_new(view, "mails", mails);
    for (guint i = 0; i < messages->len; i++) {
        GError *error = NULL;
        ArchiveMessage message = *(const ArchiveMessage *)messages->pdata[i];
        json_t *mail = mail_view(reading, &message, &error);
        if (!mail && g_error_matches(error, FAIL, FAIL_MISSING)) {
            g_clear_error(&error);
            message.state = ARCHIVE_REMOVED;
            mail = mail_view(reading, &message, &error);
        }
        if (!mail) {
            archive_fail(reading->call, error);
            return false;
        }
        json_array_append_new(mails, mail);
    }
    return true;
}

/* The thread with its messages; ?view=flat by date, else as a tree of the first ARCHIVE_PAGE_MAX. */
static void get_thread(WebCall *call)
{
    GError *error = NULL;
    guint next = 0;
    g_autofree char *how = web_query(call, "view"), *after = NULL;
    bool flat = g_strcmp0(how, "flat") == 0;
    g_auto(ArchiveReading) reading = {0};
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? archive_find(&reading, false) : NULL;
    if (!message)
        return;
    g_autoptr(ArchiveThread) thread = archive_index_thread(reading.index, message->thread, &error);
    g_autoptr(GPtrArray) messages = !thread ? NULL
                                    : flat  ? flat_page(&reading, thread->id, &after, &error)
                                            : tree_page(&reading, thread->id, &next, &error);
    if (!messages) {
        archive_fail(call, error);
        return;
    }
    json_t *view = archive_view(&reading, thread->state == ARCHIVE_SHOWN ? thread->subject : NULL);
    json_object_set_new(view, "top", archive_top(&reading, thread));
    json_object_set_new(view, "posts", json_integer(thread->posts));
    json_object_set_new(view, "flat", json_boolean(flat));
    json_object_set_new(view, "longer", json_boolean(!flat && thread->posts > ARCHIVE_PAGE_MAX));
    if (next > 0)
        json_object_set_new(view, "from", json_integer(next));
    if (after)
        json_object_set_new(view, "after", json_string(after));
    if (set_mails(&reading, view, messages))
        archive_page(&reading, "thread", view);
    else
        json_decref(view);
}

/* ---- feeds ---- */

#define FEED 25 /* messages */

static void answer_feed(const ArchiveReading *reading, json_t *view, const GPtrArray *messages)
{
    const ArchiveMessage *newest = messages->len > 0 ? messages->pdata[0] : NULL;
    web_set_time(view, "updated", newest ? newest->date : reading->list->created_at);
    const char *url = reading->call->web->url;
    json_object_set_new(view, "origin", json_stringn(url, strlen(url) - strlen(reading->call->web->base)));
    if (!set_mails(reading, view, messages)) {
        json_decref(view);
        return;
    }
    reading->call->shared = !reading->member;
    web_page_as(reading->call, 200, "application/atom+xml; charset=utf-8", "atom", view);
}

static void get_feed(WebCall *call)
{
    GError *error = NULL;
    const ArchivePage page = {.limit = FEED};
    g_auto(ArchiveReading) reading = {0};
    if (!archive_read(call, &reading))
        return;
    g_autoptr(GPtrArray) messages = reading.found
                                        ? archive_index_messages(reading.index, reading.found->number, &page, &error)
                                        : g_ptr_array_new();
    if (messages)
        answer_feed(&reading, archive_view(&reading, NULL), messages);
    else
        archive_fail(call, error);
}

static void get_thread_feed(WebCall *call)
{
    GError *error = NULL;
    const ArchivePage page = {.limit = FEED};
    g_auto(ArchiveReading) reading = {0};
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? archive_find(&reading, true) : NULL;
    if (!message)
        return;
    g_autoptr(GPtrArray) messages = archive_index_thread_messages(reading.index, message->thread, &page, &error);
    json_t *view = archive_view(&reading, message->subject);
    json_object_set_new(view, "thread", json_string(message->hash));
    if (messages) {
        answer_feed(&reading, view, messages);
    } else {
        json_decref(view);
        archive_fail(call, error);
    }
}

/* ---- mails to be saved ---- */

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
    mail_html_masked_mail(mail, out);
}

/* The name under which a browser saves it. */
static void set_name(WebCall *call, const char *name)
{
    g_autofree char *escaped = g_uri_escape_string(name, NULL, false);
    g_autofree char *how = g_strdup_printf("attachment; filename*=UTF-8''%s", escaped);
    http_set_header(call->http, "Content-Disposition", how);
}

static void get_raw(WebCall *call)
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

static void get_file(WebCall *call)
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

/* Send about PORTION bytes of mails; *end when there is no more. */
static bool send_some(HttpStream *stream, bool *end, GError **error)
{
    MailStream *self = http_stream_data(stream);
    g_autoptr(GString) text = g_string_new(NULL);
    *end = false;
    while (text->len < PORTION && !*end) {
        if (!read_rows(self, error))
            return false;
        if (self->next == self->rows->len)
            *end = self->at_end;
        else if (!append_row(self, self->rows->pdata[self->next++], text, error))
            return false;
    }
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

/* Answer with the mails of a thread, or those of the list in *page. */
static void stream_mails(const ArchiveReading *reading, int64_t thread, const ArchivePage *page, const char *name)
{
    static const HttpStreamSpec spec = {.room = room, .closed = closed, .finite = true};
    WebCall *call = reading->call;
    GError *error = NULL;
    bool gzip = g_str_has_suffix(name, ".gz"), only_head = strcmp(http_verb(call->http), "HEAD") == 0;
    if (!only_head && call->web->streams >= STREAMS) {
        http_set_header(call->http, "Retry-After", "30");
        web_notice(call, 503, "later", NULL);
        return;
    }
    ArchiveIndex *index = only_head ? NULL : archive_index_open(call->web->archive->directory, false, &error);
    if (!only_head && !index) {
        archive_fail(call, error);
        return;
    }
    call->shared = !reading->member;
    web_set_headers(call);
    set_name(call, name);
    call->answered = true;
    if (only_head) {
        http_answer(call->http, 200, gzip ? GZIP : MBOX, "", 0);
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
    room(http_stream(call->http, gzip ? GZIP : MBOX, &spec, self));
}

static void get_thread_mails(WebCall *call)
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

const WebRoute web_archive_message[] = {
    {"GET", "/archive/{}/atom", get_feed},
    {"GET", "/archive/{}/{}/thread", get_thread},
    {"GET", "/archive/{}/{}/atom", get_thread_feed},
    {"GET", "/archive/{}/{}/mbox", get_thread_mails},
    {"GET", "/archive/{}/{}/raw", get_raw},
    {"GET", "/archive/{}/{}/file/{}/{}", get_file},
    {.verb = NULL},
};
