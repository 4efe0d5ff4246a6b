/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The page of a message, which Archived-At names, and that of a thread. */
#include <string.h>

#include "base/fail.h"
#include "lists/archive/archive_maildir.h"
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

static void set_mail(const ArchiveReading *reading, json_t *view, const ArchiveMessage *message, const Readable *mail)
{
    g_autofree char *files = NULL;
    MailHtml how;
    archive_how(reading, message, &files, &how);
    g_autoptr(GString) text = g_string_new(NULL);
    mail_html(&how, mail, text);
    json_object_set_new(view, "text", json_stringn(text->str, text->len));
    json_object_set_new(view, "to", mail_html_people(&how, &mail->head.to));
    json_object_set_new(view, "cc", mail_html_people(&how, &mail->head.cc));
    json_object_set_new(view, "addressed", json_boolean(mail_html_is_addressed(&mail->head)));
    if (reading->list->settings->allow_list_posts) {
        g_autofree char *reply = reply_uri(reading, &mail->head);
        json_object_set_new(view, "reply_uri", json_string(reply));
    }
}

/* The view of a message that is shown, without its place in a thread. */
static json_t *make_view(const ArchiveReading *reading, const ArchiveMessage *message, GBytes *octets)
{
    json_t *view = archive_line(reading, message);
    g_autoptr(Readable) mail = readable_new(octets, READABLE_TEXT);
    set_mail(reading, view, message, mail);
    return view;
}

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
    view = make_view(reading, message, octets);
    view_cache_add(cache, key, view, json_string_length(json_object_get(view, "text")) + VIEW_SIZE);
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

/* Set the messages before and behind this one in the thread, "previous" and "next", and what it answers, "parent". */
static bool set_neighbours(const ArchiveReading *reading, json_t *view, const ArchiveMessage *message, GError **error)
{
    g_autoptr(GPtrArray) tree = archive_index_thread_tree(reading->index, message->thread, error);
    guint at = 0;
    if (!tree)
        return false;
    json_object_set_new(view, "posts", json_integer(tree->len));
    json_object_set_new(view, "alone", json_boolean(tree->len == 1));
    while (at < tree->len && ((ArchiveMessage *)tree->pdata[at])->id != message->id)
        at++;
    if (at == tree->len) /* of a thread that is longer than its tree */
        return true;
    if (at > 0)
        json_object_set_new(view, "previous", archive_line(reading, tree->pdata[at - 1]));
    if (at + 1 < tree->len)
        json_object_set_new(view, "next", archive_line(reading, tree->pdata[at + 1]));
    for (guint i = 0; i < at; i++)
        if (((ArchiveMessage *)tree->pdata[i])->id == message->parent)
            json_object_set_new(view, "parent", archive_line(reading, tree->pdata[i]));
    return true;
}

void archive_get_message(ArchiveReading *reading)
{
    GError *error = NULL;
    g_autoptr(ArchiveMessage) message = archive_find(reading, true);
    if (!message)
        return;
    json_t *mail = mail_view(reading, message, &error);
    if (!mail) {
        archive_fail(reading->call, error);
        return;
    }
    json_t *view = archive_view(reading, message->subject);
    json_object_set_new(view, "mail", mail);
    if (set_neighbours(reading, view, message, &error)) {
        archive_page(reading, "message", view);
        return;
    }
    json_decref(view);
    archive_fail(reading->call, error);
}

/* ---- a thread ---- */

/* Where the page of a tree begins: ?from=NUMBER. */
static guint first_of_tree(const WebCall *call, guint length)
{
    guint64 from;
    g_autofree char *text = web_query(call, "from");
    return text && g_ascii_string_to_unsigned(text, 10, 0, length, &from, NULL) ? (guint)from : 0;
}

/* Messages of a page as a tree, and the number with which the next one begins, 0: there is none. */
static GPtrArray *tree_page(const ArchiveReading *reading, int64_t thread, guint *next, GError **error)
{
    g_autoptr(GPtrArray) tree = archive_index_thread_tree(reading->index, thread, error);
    if (!tree)
        return NULL;
    guint from = first_of_tree(reading->call, tree->len), end = MIN(from + PAGE, tree->len);
    *next = end < tree->len ? end : 0;
    if (end < tree->len)
        g_ptr_array_remove_range(tree, end, tree->len - end);
    if (from > 0)
        g_ptr_array_remove_range(tree, 0, from);
    return g_steal_pointer(&tree);
}

/* The same by date, behind ?after=PLACE; *next is a place, NULL: there is no more. */
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

/* The same, and one whose file is gone is not shown. */
static json_t *mail_of_many(const ArchiveReading *reading, const ArchiveMessage *message, GError **error)
{
    g_autoptr(GError) fault = NULL;
    ArchiveMessage gone = *message;
    gone.state = ARCHIVE_REMOVED;
    json_t *view = mail_view(reading, message, &fault);
    if (view)
        return view;
    if (g_error_matches(fault, FAIL, FAIL_MISSING))
        return mail_view(reading, &gone, error);
    g_propagate_error(error, g_steal_pointer(&fault));
    return NULL;
}

/* false: the call was answered. */
static bool set_mails(const ArchiveReading *reading, json_t *view, const GPtrArray *messages)
{
    GError *error = NULL;
    json_t *mails = json_array();
    json_object_set_new(view, "mails", mails);
    for (guint i = 0; i < messages->len; i++) {
        json_t *mail = mail_of_many(reading, messages->pdata[i], &error);
        if (!mail) {
            archive_fail(reading->call, error);
            return false;
        }
        json_array_append_new(mails, mail);
    }
    return true;
}

/* The thread with its messages; ?view=flat by date, else as a tree of the first ARCHIVE_PAGE_MAX. */
static void show_thread(const ArchiveReading *reading, const ArchiveThread *thread)
{
    GError *error = NULL;
    guint next = 0;
    g_autofree char *how = web_query(reading->call, "view"), *after = NULL;
    bool flat = g_strcmp0(how, "flat") == 0;
    g_autoptr(GPtrArray) messages = flat ? flat_page(reading, thread->id, &after, &error)
                                         : tree_page(reading, thread->id, &next, &error);
    if (!messages) {
        archive_fail(reading->call, error);
        return;
    }
    json_t *view = archive_view(reading, thread->state == ARCHIVE_SHOWN ? thread->subject : NULL);
    json_object_set_new(view, "top", archive_top(reading, thread));
    json_object_set_new(view, "posts", json_integer(thread->posts));
    json_object_set_new(view, "flat", json_boolean(flat));
    json_object_set_new(view, "longer", json_boolean(!flat && thread->posts > ARCHIVE_PAGE_MAX));
    if (next > 0)
        json_object_set_new(view, "from", json_integer(next));
    if (after)
        json_object_set_new(view, "after", json_string(after));
    if (set_mails(reading, view, messages))
        archive_page(reading, "thread", view);
    else
        json_decref(view);
}

void archive_get_thread(WebCall *call)
{
    GError *error = NULL;
    g_auto(ArchiveReading) reading = {0};
    g_autoptr(ArchiveMessage) message = archive_read(call, &reading) ? archive_find(&reading, false) : NULL;
    if (!message)
        return;
    g_autoptr(ArchiveThread) thread = archive_index_thread(reading.index, message->thread, &error);
    if (thread)
        show_thread(&reading, thread);
    else
        archive_fail(call, error);
}

/* ---- feeds ---- */

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

#define FEED 25 /* messages */

void archive_get_feed(WebCall *call)
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

void archive_get_thread_feed(WebCall *call)
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
