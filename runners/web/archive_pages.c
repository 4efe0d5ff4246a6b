/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The page of a message, which Archived-At names, and that of a thread; feeds; mails and their files to be saved: one
 * mail, a thread as an mbox, a month as a compressed one. The first page of a list's archive, with its months and
 * latest threads, and the page of a month. */
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

/* ---- messages, and places between them ---- */

/* Find the message that the second part of the path names by its hash; NULL: the call was answered. With shown, the
 * call is answered (404 or 410) for a message that is hidden or removed; without, that message is returned. */
static ArchiveMessage *find_message(const ArchiveReading *reading, bool shown)
{
    GError *error = NULL;
    WebCall *call = reading->call;
    if (!reading->found) {
        web_missing(call, NULL);
        return NULL;
    }
    g_autoptr(ArchiveMessage)
        message = archive_index_message(reading->index, reading->found->number, call->args[1], &error);
    if (!message) {
        archive_fail(call, error);
        return NULL;
    }
    if (!shown || message->state == ARCHIVE_SHOWN)
        return g_steal_pointer(&message);
    web_notice(call, message->state == ARCHIVE_REMOVED ? 410 : 404, "not_shown",
               json_pack("{ss}", "note", message->note ? message->note : ""));
    return NULL;
}

/* The bytes of the message; NULL: the call was answered. */
static GBytes *load_message(const ArchiveReading *reading, const ArchiveMessage *message)
{
    GError *error = NULL;
    GBytes *octets = archive_maildir_load(reading->call->web->archive->directory, reading->directory, message->file,
                                          &error);
    if (!octets)
        archive_fail(reading->call, error);
    return octets;
}

/* Write the place behind a row, where the next page begins, as in a link: "1764312000.HASH" (seconds); g_free(). */
static char *place_text(int64_t date, const char *hash)
{
    return g_strdup_printf("%" G_GINT64_FORMAT ".%s", date / CLOCK_SECOND, hash);
}

/* Read a place that place_text() wrote. place->id becomes the id of the message, or with thread that of its thread.
 * False: the text (may be NULL) is no place in this archive. */
static bool read_place(const ArchiveReading *reading, const char *text, bool thread, ArchivePlace *place)
{
    const char *dot = text ? strchr(text, '.') : NULL;
    int64_t seconds;
    g_autofree char *number = dot ? g_strndup(text, (size_t)(dot - text)) : NULL;
    if (!number || !reading->found ||
        !g_ascii_string_to_signed(number, 10, 0, G_MAXINT64 / CLOCK_SECOND, &seconds, NULL))
        return false;
    g_autoptr(ArchiveMessage) message = archive_index_message(reading->index, reading->found->number, dot + 1, NULL);
    if (!message)
        return false;
    *place = (ArchivePlace){.date = seconds * CLOCK_SECOND, .id = thread ? message->thread : message->id};
    return true;
}

/* The view, as archive_line() makes it, of the message that began a thread. */
static json_t *top_view(const ArchiveReading *reading, const ArchiveThread *thread)
{
    const ArchiveMessage top = {.hash = thread->hash,
                                .subject = thread->subject,
                                .name = thread->name,
                                .address = thread->address,
                                .date = thread->first,
                                .state = thread->state};
    return archive_line(reading, &top);
}

/* The month in the language of the page, "November 2026"; g_free(). */
static char *month_title(const WebCall *call, int year, int month)
{
    static const char *const names[] = {N_("January"),   N_("February"), N_("March"),    N_("April"),
                                        N_("May"),       N_("June"),     N_("July"),     N_("August"),
                                        N_("September"), N_("October"),  N_("November"), N_("December")};
    return g_strdup_printf("%s %d", web_say(call, names[(month - 1) % 12]), year);
}

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

/* Answer with the page of the message that the second part of the path names. */
static void get_message(ArchiveReading *reading)
{
    GError *error = NULL;
    guint at = 0;
    g_autoptr(ArchiveMessage) message = find_message(reading, true);
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
    read_place(reading, after, false, &page.behind);
    GPtrArray *messages = archive_index_thread_messages(reading->index, thread, &page, error);
    if (messages && messages->len > PAGE) {
        const ArchiveMessage *last = messages->pdata[PAGE - 1];
        *next = place_text(last->date, last->hash);
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
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? find_message(&reading, false) : NULL;
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
    json_object_set_new(view, "top", top_view(&reading, thread));
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
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? find_message(&reading, true) : NULL;
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
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? find_message(&reading, true) : NULL;
    g_autoptr(GBytes) octets = message ? load_message(&reading, message) : NULL;
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
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? find_message(&reading, true) : NULL;
    g_autoptr(GBytes) octets = message ? load_message(&reading, message) : NULL;
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
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? find_message(&reading, false) : NULL;
    if (!message)
        return;
    g_autofree char *name = g_strconcat(message->hash, ".mbox", NULL);
    stream_mails(&reading, message->thread, &page, name);
}

/* Answer with the messages dated from `from` to before `to`, as a compressed mbox. */
static void get_month_mails(ArchiveReading *reading, int64_t from, int64_t to)
{
    const ArchivePage page = {.from = from, .to = to};
    if (!reading->found) {
        web_missing(reading->call, NULL);
        return;
    }
    g_autofree char *name = g_strdup_printf("%s-%s", reading->list->list_name, reading->call->args[1]);
    stream_mails(reading, 0, &page, name);
}

#define THREADS 40       /* on a page */
#define MESSAGES 200     /* of a month on a page */
#define CHART_MONTHS 120 /* the last ten years */
#define CHART_LEAST 36   /* so that a few months do not look like many */
#define CHART_HEIGHT 48
#define CHART_STEP 4 /* between two bars */

/* ---- the first page of an archive: months ---- */

/* Set "months": by year, the newest first. */
static void set_months(const ArchiveReading *reading, json_t *view, const GArray *months)
{
    json_t *years = json_array(), *own = NULL;
    int year = 0;
    for (guint i = months->len; i-- > 0;) {
        const ArchiveMonth *month = &g_array_index(months, ArchiveMonth, i);
        if (month->year != year) {
            own = json_array();
            json_array_append_new(years, json_pack("{si so}", "year", month->year, "months", own));
            year = month->year;
        }
        char place[32];
        g_snprintf(place, sizeof(place), "%04d-%02d", month->year, month->month);
        g_autofree char *name = month_title(reading->call, month->year, month->month);
        *strrchr(name, ' ') = '\0';
        json_array_append_new(
            own, json_pack("{ss ss sI}", "place", place, "month", name, "posts", (json_int_t)month->posts));
    }
    json_object_set_new(view, "years", years);
}

static int month_number(const ArchiveMonth *month)
{
    return month->year * 12 + month->month - 1;
}

/* Set "chart": a bar for each month in which something was posted, of the last CHART_MONTHS. */
static void set_chart(json_t *view, const GArray *months)
{
    int64_t most = 0;
    if (months->len < 2)
        return;
    json_t *bars = json_array();
    int last = month_number(&g_array_index(months, ArchiveMonth, months->len - 1));
    int first = MAX(month_number(&g_array_index(months, ArchiveMonth, 0)), last - CHART_MONTHS + 1);
    first = MIN(first, last - CHART_LEAST + 1);
    for (guint i = 0; i < months->len; i++)
        if (month_number(&g_array_index(months, ArchiveMonth, i)) >= first)
            most = MAX(most, g_array_index(months, ArchiveMonth, i).posts);
    for (guint i = 0; i < months->len; i++) {
        const ArchiveMonth *month = &g_array_index(months, ArchiveMonth, i);
        int height = (int)MAX(month->posts * CHART_HEIGHT / MAX(most, 1), 1);
        if (month_number(month) >= first)
            json_array_append_new(bars, json_pack("{si si si}", "x", (month_number(month) - first) * CHART_STEP, "y",
                                                  CHART_HEIGHT - height, "height", height));
    }
    json_object_set_new(
        view, "chart",
        json_pack("{si si so}", "width", (last - first + 1) * CHART_STEP, "height", CHART_HEIGHT, "bars", bars));
}

/* ---- its threads ---- */

/* Set "threads", the latest behind `before` (may be NULL), and "older". */
static bool set_threads(const ArchiveReading *reading, json_t *view, const char *before, GError **error)
{
    ArchivePage page = {.limit = THREADS + 1};
    json_t *lines = json_array();
    read_place(reading, before, true, &page.behind);
    g_autoptr(GPtrArray) threads = archive_index_threads(reading->index, reading->found->number, &page, error);
    json_object_set_new(view, "threads", lines);
    if (!threads)
        return false;
    for (guint i = 0; i < MIN(threads->len, THREADS); i++) {
        const ArchiveThread *thread = threads->pdata[i];
        json_t *line = top_view(reading, thread);
        web_set_time(line, "last", thread->last);
        json_object_set_new(line, "posts", json_integer(thread->posts));
        json_object_set_new(line, "answered", json_boolean(thread->posts > 1));
        json_array_append_new(lines, line);
    }
    if (threads->len > THREADS) {
        const ArchiveThread *last = threads->pdata[THREADS - 1];
        g_autofree char *place = place_text(last->last, last->hash);
        json_object_set_new(view, "older", json_string(place));
    }
    return true;
}

/* The page of a list; ?before=PLACE for the next threads. */
static void get_archive(WebCall *call)
{
    GError *error = NULL;
    g_auto(ArchiveReading) reading = {0};
    if (!archive_read(call, &reading))
        return;
    g_autofree char *before = web_query(call, "before");
    json_t *view = archive_view(&reading, NULL);
    json_object_set_new(view, "first_page", json_boolean(!before));
    if (reading.found) {
        g_autoptr(GArray) months = archive_index_months(reading.index, reading.found->number, &error);
        if (!months || !set_threads(&reading, view, before, &error)) {
            json_decref(view);
            archive_fail(call, error);
            return;
        }
        json_object_set_new(view, "posts", json_integer(reading.found->posts));
        set_months(&reading, view, months);
        set_chart(view, months);
    }
    archive_page(&reading, "archive", view);
}

/* ---- a month ---- */

static int64_t month_begin(int year, int month)
{
    g_autoptr(GDateTime) begin = g_date_time_new_utc(year + (month - 1) / 12, (month - 1) % 12 + 1, 1, 0, 0, 0);
    return begin ? g_date_time_to_unix(begin) * CLOCK_SECOND : 0;
}

static void set_month(json_t *view, const char *name, const WebCall *call, int number)
{
    char place[32];
    g_snprintf(place, sizeof(place), "%04d-%02d", number / 12, number % 12 + 1);
    g_autofree char *title = month_title(call, number / 12, number % 12 + 1);
    json_object_set_new(view, name, json_pack("{ss ss}", "place", place, "title", title));
}

/* Set "days" of {day, messages} from messages by date, and "later" when the page does not hold all. */
static void set_days(const ArchiveReading *reading, json_t *view, const GPtrArray *messages)
{
    json_t *days = json_array(), *own = NULL;
    g_autofree char *day = g_strdup("");
    for (guint i = 0; i < MIN(messages->len, MESSAGES); i++) {
        json_t *line = archive_line(reading, messages->pdata[i]);
        const char *date = json_string_value(json_object_get(line, "date"));
        g_autofree char *its_day = g_strndup(date, strcspn(date, " "));
        if (!g_str_equal(its_day, day)) {
            own = json_array();
            json_array_append_new(days, json_pack("{ss so}", "day", its_day, "messages", own));
            g_free(day);
            day = g_steal_pointer(&its_day);
        }
        json_object_set_new(line, "time", json_string(date + strcspn(date, " ")));
        json_array_append_new(own, line);
    }
    json_object_set_new(view, "days", days);
    if (messages->len > MESSAGES) {
        const ArchiveMessage *last = messages->pdata[MESSAGES - 1];
        g_autofree char *place = place_text(last->date, last->hash);
        json_object_set_new(view, "later", json_string(place));
    }
}

/* ?after=PLACE for the next messages. */
static void get_month(ArchiveReading *reading, const ArchiveMonth *own)
{
    GError *error = NULL;
    WebCall *call = reading->call;
    if (!reading->found) {
        web_missing(call, NULL);
        return;
    }
    ArchivePage page = {.from = month_begin(own->year, own->month),
                        .to = month_begin(own->year, own->month + 1),
                        .oldest_first = true,
                        .limit = MESSAGES + 1};
    g_autofree char *after = web_query(call, "after"), *title = month_title(call, own->year, own->month);
    read_place(reading, after, false, &page.behind);
    g_autoptr(GPtrArray) messages = archive_index_messages(reading->index, reading->found->number, &page, &error);
    g_autoptr(GArray) months = messages ? archive_index_months(reading->index, reading->found->number, &error) : NULL;
    if (!months) {
        archive_fail(call, error);
        return;
    }
    json_t *view = archive_view(reading, title);
    json_object_set_new(view, "month", json_string(title));
    json_object_set_new(view, "place", json_string(call->args[1]));
    int previous = 0, next = 0; /* months in which something was posted */
    for (guint i = 0; i < months->len; i++) {
        const ArchiveMonth *month = &g_array_index(months, ArchiveMonth, i);
        int number = month_number(month);
        if (number < month_number(own))
            previous = number;
        else if (number == month_number(own))
            json_object_set_new(view, "posts", json_integer(month->posts));
        else if (next == 0)
            next = number;
    }
    if (previous > 0)
        set_month(view, "previous", call, previous);
    if (next > 0)
        set_month(view, "next", call, next);
    set_days(reading, view, messages);
    archive_page(reading, "month", view);
}

/* Read "2026-11", with what must stand behind it. */
static bool read_month(const char *text, const char *end, ArchiveMonth *month)
{
    for (int i = 0; i < 7; i++)
        if (i == 4 ? text[i] != '-' : !g_ascii_isdigit(text[i]))
            return false;
    month->year = atoi(text);
    month->month = atoi(text + 5);
    return month->year >= 1970 && month->month >= 1 && month->month <= 12 && g_str_equal(text + 7, end);
}

/* "2026-11", "2026-11.mbox.gz", or a hash. */
static void get_part(WebCall *call)
{
    ArchiveMonth month;
    g_auto(ArchiveReading) reading = {0};
    if (!archive_read(call, &reading))
        return;
    if (read_month(call->args[1], "", &month))
        get_month(&reading, &month);
    else if (read_month(call->args[1], ".mbox.gz", &month))
        get_month_mails(&reading, month_begin(month.year, month.month), month_begin(month.year, month.month + 1));
    else
        get_message(&reading);
}

const WebRoute web_archive[] = {
    {"GET", "/archive/{}/atom", get_feed},
    {"GET", "/archive/{}/{}/thread", get_thread},
    {"GET", "/archive/{}/{}/atom", get_thread_feed},
    {"GET", "/archive/{}/{}/mbox", get_thread_mails},
    {"GET", "/archive/{}/{}/raw", get_raw},
    {"GET", "/archive/{}/{}/file/{}/{}", get_file},
    {"GET", "/archive/{}", get_archive},
    {"GET", "/archive/{}/{}", get_part},
    {.verb = NULL},
};
