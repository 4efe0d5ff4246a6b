/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Held posts and requests, where somebody decides about them. The page that a letter to a moderator links to
 * (lists/posts/moderate.h) has a choice for each of them, one reason for all that are rejected, and one button.
 *
 * The desk shows those of all lists that somebody runs, oldest first. Fields of its form are "post-12" and "request-4"
 * for what is ticked, "seen-post-12" for what the page showed, and "do" for the button.
 *
 * Posts of a list that wait for the time at which they are to be sent: shown, moved, sent, cancelled. Neither lists nor
 * people have a time zone, so that page has one, UTC unless the person chooses another, in which all times on it are
 * shown and typed.
 */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/letters/reason.h"
#include "lists/posts/moderate.h"
#include "lists/posts/scheduled_post.h"
#include "mail/date.h"
#include "mail/visible.h"
#include "runners/web/desk.h"
#include "runners/web/mail_html.h"
#include "runners/web/web.h"
#include "store/lists/list.h"
#include "store/lists/list_log.h"
#include "store/lists/list_setting.h"
#include "store/people/pending.h"
#include "store/posts/held.h"

#define BRIEF 300 /* bytes of a subject, a name, an address that a page shows */
#define POST_FIELD "post-"
#define REQUEST_FIELD "request-"
#define SEEN_FIELD "seen-"
#define EARLIER 50 /* posts of a sender that are counted */
#define EARLIER_SHOWN 5

typedef struct Counts {
    int of[MODERATE_UNDONE + 1]; /* how many had this ModerateOutcome */
} Counts;

/* The view of a held post: number, subject, sender, reasons (in the language of the page), size, since. */
static json_t *post_view(const WebCall *call, Work *work, const List *list, const Held *held)
{
    g_autofree char *reasons = reason_translate(work, list, call->language, held->reason ? held->reason : "");
    g_autofree char *size = g_format_size((guint64)held->size);
    g_autofree char *subject = visible_line(held->subject ? held->subject : "", BRIEF);
    g_autofree char *sender = visible_line(held->sender ? held->sender : "", BRIEF);
    g_autoptr(GString) why = g_string_new(NULL);
    visible_append(why, reasons, strlen(reasons));
    json_t *view = json_pack("{sI ss ss ss ss}", "number", (json_int_t)held->number, "subject", subject, "sender",
                             sender, "reasons", why->str, "size", size);
    web_set_time(view, "since", held->held_at);
    return view;
}

/* The view of a request to join or leave: number, address, name, since, joins. */
static json_t *request_view(const Pending *request)
{
    g_autofree char *address = visible_line(request->address->text, BRIEF);
    g_autofree char *name = visible_line(request->display_name ? request->display_name : "", BRIEF);
    json_t *view = json_pack("{sI ss ss sb}", "number", (json_int_t)request->number, "address", address, "name", name,
                             "joins", request->kind == PENDING_JOIN);
    web_set_time(view, "since", request->made_at);
    return view;
}

/* Set what the template "post" shows of a held post: subject, text, from, to, cc. Its attachments are linked below the
 * path files, "/decide/TOKEN/post/12/file/". */
static void set_mail(const WebCall *call, json_t *view, GBytes *message, const char *files)
{
    g_autoptr(Readable) mail = readable_new(message, READABLE_TEXT);
    const MailHtml how = {.theme = call->web->theme, .language = call->language, .files = files};
    g_autoptr(GString) text = g_string_new(NULL);
    mail_html(&how, mail, text);
    json_object_set_new(view, "title", json_string(mail->head.subject));
    json_object_set_new(view, "subject", json_string(mail->head.subject));
    json_object_set_new(view, "text", json_string(text->str));
    json_object_set_new(view, "from", mail_html_people(&how, &mail->head.from));
    json_object_set_new(view, "to", mail_html_people(&how, &mail->head.to));
    json_object_set_new(view, "cc", mail_html_people(&how, &mail->head.cc));
    json_object_set_new(view, "addressed", json_boolean(mail_html_is_addressed(&mail->head)));
}

static void answer_file(WebCall *call, GBytes *message, const char *number)
{
    size_t at;
    g_autoptr(Readable) mail = readable_new(message, 0);
    bool is_number = g_ascii_string_to_unsigned(number, 10, 0, G_MAXUINT32, &at, NULL);
    web_attachment(call, is_number ? readable_file(mail, at) : NULL, false);
}

/* The numbers behind which the page begins, as its query has them; 0: it begins at the first. */
static ModerateAfter page_after(const WebCall *call)
{
    ModerateAfter after = {0};
    g_autofree char *post = web_query(call, "after"), *request = web_query(call, "after_request");
    if (post)
        g_ascii_string_to_signed(post, 10, 0, G_MAXINT64 - 1, &after.post, NULL);
    if (request)
        g_ascii_string_to_signed(request, 10, 0, G_MAXINT64 - 1, &after.request, NULL);
    return after;
}

/* ---- deciding by a letter ---- */

/* "?after=12&after_request=4", or nothing for the first page. */
static char *page_query(ModerateAfter after)
{
    if (after.post == 0 && after.request == 0)
        return g_strdup("");
    return g_strdup_printf("?after=%" G_GINT64_FORMAT "&after_request=%" G_GINT64_FORMAT, after.post, after.request);
}

/* Read what the name of a field names: "post-12", or with seen "seen-post-12". */
static bool read_field(const char *name, bool seen, ModerateOne *one)
{
    if (seen && g_str_has_prefix(name, SEEN_FIELD))
        name += strlen(SEEN_FIELD);
    else if (seen)
        return false;
    one->is_request = g_str_has_prefix(name, REQUEST_FIELD);
    return (one->is_request || g_str_has_prefix(name, POST_FIELD)) &&
           g_ascii_string_to_signed(strchr(name, '-') + 1, 10, 1, G_MAXINT64, &one->number, NULL);
}

/* The page with what waits. view is taken. */
static void show_ticket(WebCall *call, Work *work, const Ticket *ticket, json_t *view)
{
    GError *error = NULL;
    g_auto(ModerateWaiting) waiting = {0};
    const ModerateAfter after = page_after(call);
    ModerateAfter behind = after;
    g_autoptr(List) list = list_by_id(work_store(work), ticket->list_id, &error);
    if (!list || !moderate_waiting(work, ticket, after, &waiting, &error)) {
        json_decref(view);
        web_fail(call, error);
        return;
    }
    json_t *posts = json_array(), *requests = json_array();
    for (unsigned i = 0; i < waiting.posts->len; i++) {
        const Held *post = waiting.posts->pdata[i];
        json_array_append_new(posts, post_view(call, work, list, post));
        behind.post = post->number;
    }
    for (unsigned i = 0; i < waiting.requests->len; i++) {
        const Pending *request = waiting.requests->pdata[i];
        json_array_append_new(requests, request_view(request));
        behind.request = request->number;
    }
    json_object_set_new(view, "list", json_string(list->posting_address));
    json_object_set_new(view, "title", json_string(list->posting_address));
    json_object_set_new(view, "moderator", json_string(ticket->moderator));
    json_object_set_new(view, "token", json_string(call->args[0]));
    g_autofree char *page = page_query(after), *next = page_query(behind);
    json_object_set_new(view, "page", json_string(page));
    json_object_set_new(view, "next", waiting.more ? json_string(next) : json_null());
    json_object_set_new(view, "reason_chars", json_integer(MODERATE_REASON_MAX / 4)); /* of up to 4 bytes each */
    json_object_set_new(view, "waits", json_boolean(waiting.posts->len + waiting.requests->len > 0));
    json_object_set_new(view, "posts", posts);
    json_object_set_new(view, "requests", requests);
    web_page(call, 200, "decide", view);
}

/* NULL: the call was answered. */
static Ticket *find_ticket(WebCall *call, Work *work)
{
    static const struct {
        int status;
        const char *notice;
    } refusals[] = {[MODERATE_UNKNOWN] = {404, "no_ticket"}, [MODERATE_NO_MODERATOR] = {403, "no_moderator"}};
    GError *error = NULL;
    ModerateAccess access;
    Ticket *ticket = NULL;
    if (!moderate_ticket(work, call->args[0], &ticket, &access, &error))
        web_fail(call, error);
    else if (access != MODERATE_MAY)
        web_notice(call, refusals[access].status, refusals[access].notice, NULL);
    return ticket;
}

static void get_decide(WebCall *call)
{
    g_autoptr(Work) work = web_look(call);
    g_autoptr(Ticket) ticket = find_ticket(call, work);
    if (ticket)
        show_ticket(call, work, ticket, json_object());
}

/* The post that the path names; NULL: the call was answered. */
static Held *find_ticket_post(WebCall *call)
{
    GError *error = NULL;
    int64_t number;
    Held *held = NULL;
    g_autoptr(Work) work = web_look(call);
    g_autoptr(Ticket) ticket = find_ticket(call, work);
    if (!ticket)
        return NULL;
    bool good = !g_ascii_string_to_signed(call->args[1], 10, 1, G_MAXINT64, &number, NULL) ||
                moderate_post(work, ticket, number, &held, &error);
    if (!held)
        good ? web_missing(call, NULL) : web_fail(call, error);
    return held;
}

/* A post as it is read, with what it brings along. */
static void get_ticket_post(WebCall *call)
{
    g_autoptr(Held) held = find_ticket_post(call);
    if (!held)
        return;
    g_autofree char *back = g_strdup_printf("%s/decide/%s", call->web->base, call->args[0]);
    g_autofree char *files = g_strdup_printf("%s/post/%s/file/", back, call->args[1]);
    json_t *view = json_pack("{ss}", "back", back);
    set_mail(call, view, held->message, files);
    web_page(call, 200, "post", view);
}

static void get_ticket_file(WebCall *call)
{
    g_autoptr(Held) held = find_ticket_post(call);
    if (held)
        answer_file(call, held->message, call->args[2]);
}

/* A field of the form says what is to be done with one thing: "post-12=accept". */
static void post_decide(WebCall *call)
{
    GError *error = NULL;
    g_autoptr(Work) look = web_look(call); /* an unknown token takes no lock */
    g_autoptr(Ticket) ticket = find_ticket(call, look);
    g_autoptr(Work) work = ticket ? web_begin(call) : NULL;
    if (!work)
        return;
    const char *reason = web_field(call, "reason");
    Counts counts = {0};
    GHashTableIter at;
    void *name, *value;
    g_hash_table_iter_init(&at, call->form);
    while (g_hash_table_iter_next(&at, &name, &value)) {
        ModerateOutcome outcome;
        ModerateOne one = {.word = value, .reason = reason};
        if (!read_field(name, false, &one) || !*one.word || strcmp(one.word, "defer") == 0)
            continue;
        if (!moderate_one(work, ticket, &one, &outcome, &error)) {
            web_fail(call, error);
            return;
        }
        counts.of[outcome]++;
    }
    if (!web_commit(call, work))
        return;
    g_autoptr(Work) after = web_look(call);
    show_ticket(call, after, ticket,
                json_pack("{sb sb sb si}", "decided", counts.of[MODERATE_DONE] > 0, "gone",
                          counts.of[MODERATE_GONE] > 0, "undone", counts.of[MODERATE_UNDONE] > 0, "count",
                          counts.of[MODERATE_DONE]));
}

/* ---- at the desk ---- */

/* One thing that waits. */
typedef struct Item {
    List *list; /* borrowed */
    Held *post; /* NULL: a request */
    Pending *request;
} Item;

static void item_free(void *data)
{
    Item *item = data;
    held_free(item->post);
    pending_free(item->request);
    g_free(item);
}

/* All that waits on some lists. */
typedef struct Pile {
    GPtrArray *lists;            /* of List */
    GPtrArray *posts, *requests; /* of Item, by number */
    bool more;
} Pile;

static void pile_clear(Pile *pile)
{
    g_clear_pointer(&pile->posts, g_ptr_array_unref);
    g_clear_pointer(&pile->requests, g_ptr_array_unref);
    g_clear_pointer(&pile->lists, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pile, pile_clear)

static int64_t number_of(const Item *item)
{
    return item->post ? item->post->number : item->request->number;
}

static int64_t time_of(const Item *item)
{
    return item->post ? item->post->held_at : item->request->made_at;
}

static int by_number(const void *one, const void *other)
{
    int64_t first = number_of(*(const Item *const *)one), second = number_of(*(const Item *const *)other);
    return (first > second) - (first < second);
}

/* Fill the pile with what waits behind `after` on the lists that the person runs, of each at most MODERATE_SHOWN. */
static bool fill(Pile *pile, const Desk *desk, Work *work, ModerateAfter after, GError **error)
{
    g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
    g_auto(GStrv) held = held_lists(desk_store(desk), false, error);
    g_auto(GStrv) asked = held ? pending_lists(desk_store(desk), work_now(work), error) : NULL;
    if (!asked)
        return false;
    for (char **id = held; *id; id++)
        g_hash_table_add(ids, *id);
    for (char **id = asked; *id; id++)
        g_hash_table_add(ids, *id);
    GHashTableIter at;
    void *id;
    g_hash_table_iter_init(&at, ids);
    while (g_hash_table_iter_next(&at, &id, NULL)) {
        const Standing *standing = desk->standing;
        if (!standing->site && g_hash_table_size(standing->domains) == 0 &&
            !g_hash_table_contains(standing->owned, id) && !g_hash_table_contains(standing->moderated, id))
            continue;
        List *list = list_by_id(desk_store(desk), id, error);
        if (!list)
            return false;
        g_ptr_array_add(pile->lists, list);
        if (!authority_covers(MAY_MODERATOR, standing_of(standing, list)))
            continue;
        g_auto(ModerateWaiting) waiting = {0};
        const Ticket all = moderate_anything(list->list_id, desk->person->address->text);
        if (!moderate_waiting(work, &all, after, &waiting, error))
            return false;
        for (guint i = 0; i < waiting.posts->len; i++) {
            Item *item = g_new0(Item, 1);
            *item = (Item){.list = list, .post = g_steal_pointer(&waiting.posts->pdata[i])};
            g_ptr_array_add(pile->posts, item);
        }
        for (guint i = 0; i < waiting.requests->len; i++) {
            Item *item = g_new0(Item, 1);
            *item = (Item){.list = list, .request = g_steal_pointer(&waiting.requests->pdata[i])};
            g_ptr_array_add(pile->requests, item);
        }
        pile->more |= waiting.more;
    }
    g_ptr_array_sort(pile->posts, by_number);
    g_ptr_array_sort(pile->requests, by_number);
    return true;
}

/* ---- views ---- */

/* Set what became of the sender's earlier posts on the list, as far as they were held. */
static bool set_earlier(const Desk *desk, json_t *view, const char *list_id, const char *sender, GError **error)
{
    static const char *const words[] = {"accept", "reject", "discard"};
    int counts[G_N_ELEMENTS(words)] = {0};
    g_autofree char *lower = g_utf8_strdown(sender ? sender : "", -1);
    g_autoptr(GPtrArray) rows = *lower ? list_log_named(desk_store(desk), list_id, LOG_POST, lower, EARLIER, error)
                                       : g_ptr_array_new();
    json_t *shown = json_array();
    json_object_set_new(view, "earlier", shown);
    for (guint i = 0; rows && i < rows->len; i++) {
        const ListLogRow *row = rows->pdata[i];
        for (size_t word = 0; word < G_N_ELEMENTS(words); word++)
            counts[word] += g_strcmp0(row->after, words[word]) == 0;
        if (i >= EARLIER_SHOWN)
            continue;
        json_t *line = json_pack("{sb sb sb}", "accepted", g_strcmp0(row->after, words[0]) == 0, "rejected",
                                 g_strcmp0(row->after, words[1]) == 0, "discarded",
                                 g_strcmp0(row->after, words[2]) == 0);
        web_set_time(line, "when", row->made_at);
        desk_set_line(line, "subject", row->before);
        json_array_append_new(shown, line);
    }
    if (rows && rows->len > 0)
        json_object_set_new(
            view, "counts",
            json_pack("{si si si}", "accepted", counts[0], "rejected", counts[1], "discarded", counts[2]));
    return rows != NULL;
}

/* NULL: the store failed. */
static json_t *item_view(const Desk *desk, Work *work, const Item *item, GError **error)
{
    g_autofree char *path = g_uri_escape_string(item->list->list_id, NULL, false);
    json_t *view = item->post ? post_view(desk->call, work, item->list, item->post) : request_view(item->request);
    json_object_set_new(view, "is_post", json_boolean(item->post));
    json_object_set_new(view, "list_path", json_string(path));
    desk_set_line(view, "list_name",
                  *item->list->settings->display_name ? item->list->settings->display_name : item->list->list_name);
    if (!item->post || set_earlier(desk, view, item->list->list_id, item->post->sender, error))
        return view;
    json_decref(view);
    return NULL;
}

/* Set the first MODERATE_SHOWN of both heaps, oldest first, and where the next page begins. */
static bool set_items(const Desk *desk, Work *work, const Pile *pile, json_t *view, GError **error)
{
    ModerateAfter next = page_after(desk->call);
    guint post = 0, request = 0;
    json_t *items = json_array();
    json_object_set_new(view, "items", items);
    while (post + request < MODERATE_SHOWN && (post < pile->posts->len || request < pile->requests->len)) {
        const Item *one = post < pile->posts->len ? pile->posts->pdata[post] : NULL;
        const Item *other = request < pile->requests->len ? pile->requests->pdata[request] : NULL;
        const Item *item = !other || (one && time_of(one) <= time_of(other)) ? one : other;
        json_t *shown = item_view(desk, work, item, error);
        if (!shown)
            return false;
        json_array_append_new(items, shown);
        *(item->post ? &next.post : &next.request) = number_of(item);
        *(item->post ? &post : &request) += 1;
    }
    json_object_set_new(view, "number", json_integer(post + request));
    json_object_set_new(view, "waits", json_boolean(post + request > 0));
    json_object_set_new(view, "several", json_boolean(post + request > 1));
    if (pile->more || post < pile->posts->len || request < pile->requests->len) {
        g_autofree char *query = page_query(next);
        json_object_set_new(view, "next", json_string(query));
    }
    return true;
}

/* view is taken. */
static void show(Desk *desk, int status, json_t *view)
{
    GError *error = NULL;
    g_auto(Pile) pile = {.lists = g_ptr_array_new_with_free_func((GDestroyNotify)list_free),
                         .posts = g_ptr_array_new_with_free_func(item_free),
                         .requests = g_ptr_array_new_with_free_func(item_free)};
    const ModerateAfter after = page_after(desk->call);
    g_autoptr(Work) work = web_look(desk->call);
    if (fill(&pile, desk, work, after, &error) && set_items(desk, work, &pile, view, &error)) {
        json_object_set_new(view, "first_page", json_boolean(after.post == 0 && after.request == 0));
        json_object_set_new(view, "reason_chars", json_integer(MODERATE_REASON_MAX / 4));
        desk_page(desk, status, "desk", view);
        return;
    }
    json_decref(view);
    web_fail(desk->call, error);
}

static void get_desk(WebCall *call)
{
    g_auto(Desk) desk = {0};
    if (desk_open(&desk, call, 0))
        show(&desk, 200, json_object());
}

/* ---- one post ---- */

/* Find the post that the path names, if it waits for the person, and its list; NULL: the call was answered. */
static Held *find_post(Desk *desk, Work *work)
{
    GError *error = NULL;
    int64_t number;
    Held *held = NULL;
    bool is_number = g_ascii_string_to_signed(desk->call->args[0], 10, 1, G_MAXINT64, &number, NULL);
    g_autoptr(Held) found = is_number ? held_find(desk_store(desk), number, &error) : NULL;
    desk->list = found ? list_by_id(desk_store(desk), found->list_id, &error) : NULL;
    desk->by = desk->list ? standing_of(desk->standing, desk->list) : BY_STRANGER;
    if (authority_covers(MAY_MODERATOR, desk->by)) {
        const Ticket all = moderate_anything(desk->list->list_id, desk->person->address->text);
        if (moderate_post(work, &all, number, &held, &error) && held)
            return held;
    }
    web_missing(desk->call, error);
    return NULL;
}

static void get_post(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    g_autoptr(Work) work = desk_open(&desk, call, 0) ? web_look(call) : NULL;
    g_autoptr(Held) held = work ? find_post(&desk, work) : NULL;
    if (!held)
        return;
    g_autofree char *back = g_strdup_printf("%s/desk", call->web->base);
    g_autofree char *files = g_strdup_printf("%s/post/%s/file/", back, call->args[0]);
    const Item item = {.list = desk.list, .post = held};
    json_t *shown = item_view(&desk, work, &item, &error);
    if (!shown) {
        web_fail(call, error);
        return;
    }
    json_t *view = json_pack("{ss so si}", "back", back, "desk", shown, "reason_chars", MODERATE_REASON_MAX / 4);
    set_mail(call, view, held->message, files);
    desk_page(&desk, 200, "post", view);
}

static void get_file(WebCall *call)
{
    g_auto(Desk) desk = {0};
    g_autoptr(Work) work = desk_open(&desk, call, 0) ? web_look(call) : NULL;
    g_autoptr(Held) held = work ? find_post(&desk, work) : NULL;
    if (held)
        answer_file(call, held->message, call->args[1]);
}

/* ---- deciding at the desk ---- */

/* Decide about one thing, if it is on a list that the person runs; else it is as if it did not wait. */
static bool decide_one(const Desk *desk, Work *work, const ModerateOne *one, Counts *counts, GError **error)
{
    ModerateOutcome outcome = MODERATE_GONE;
    g_autoptr(GError) missing = NULL;
    g_autoptr(Held) held = one->is_request ? NULL : held_find(desk_store(desk), one->number, &missing);
    g_autoptr(Pending) request = one->is_request ? pending_find(desk_store(desk), one->number, work_now(work), &missing)
                                                 : NULL;
    const char *list_id = held ? held->list_id : request ? request->list_id : NULL;
    if (!list_id && !fail_unless(error, FAIL_MISSING, &missing))
        return false;
    g_autoptr(List) list = list_id ? list_by_id(desk_store(desk), list_id, error) : NULL;
    if (list_id && !list)
        return false;
    if (list && authority_covers(MAY_MODERATOR, standing_of(desk->standing, list))) {
        const Ticket all = moderate_anything(list_id, desk->person->address->text);
        if (!moderate_one(work, &all, one, &outcome, error))
            return false;
    }
    counts->of[outcome]++;
    return true;
}

static int by_kind_and_number(const void *one, const void *other)
{
    const ModerateOne *first = one, *second = other;
    if (first->is_request != second->is_request)
        return first->is_request - second->is_request;
    return (first->number > second->number) - (first->number < second->number);
}

static void post_desk(WebCall *call)
{
    GError *error = NULL;
    Counts counts = {0};
    g_auto(Desk) desk = {0};
    g_autoptr(Work) work = desk_open(&desk, call, 0) ? web_begin(call) : NULL;
    if (!work)
        return;
    const char *word = web_field(call, "do"), *reason = web_field(call, "reason");
    const bool all = *web_field(call, "all");
    g_autoptr(GArray) ticked = g_array_new(FALSE, FALSE, sizeof(ModerateOne));
    GHashTableIter at;
    void *name;
    g_hash_table_iter_init(&at, call->form);
    while (g_hash_table_iter_next(&at, &name, NULL)) {
        ModerateOne one = {.word = word, .reason = reason};
        if (!read_field(name, all, &one))
            continue;
        if (one.is_request && strcmp(word, "allow") == 0)
            one.word = "accept"; /* of a request there is no more than that */
        g_array_append_val(ticked, one);
    }
    /* In the order in which it came, so that the list gets posts in that order, too. */
    g_array_sort(ticked, by_kind_and_number);
    for (guint i = 0; i < ticked->len; i++)
        if (!decide_one(&desk, work, &g_array_index(ticked, ModerateOne, i), &counts, &error)) {
            web_fail(call, error);
            return;
        }
    if (!web_commit(call, work))
        return;
    const int done = counts.of[MODERATE_DONE], gone = counts.of[MODERATE_GONE], undone = counts.of[MODERATE_UNDONE];
    show(&desk, 200,
         json_pack("{sb sb sb sb si}", "decided", done > 0, "gone", gone > 0, "undone", undone > 0, "nothing",
                   done + gone + undone == 0, "count", done));
}

/* ---- posts that wait for their time ---- */

/* The offsets from UTC that are in use. */
static const char *const zones[] = {"-12:00", "-11:00", "-10:00", "-09:30", "-09:00", "-08:00", "-07:00", "-06:00",
                                    "-05:00", "-04:00", "-03:30", "-03:00", "-02:30", "-02:00", "-01:00", "+00:00",
                                    "+01:00", "+02:00", "+03:00", "+03:30", "+04:00", "+04:30", "+05:00", "+05:30",
                                    "+05:45", "+06:00", "+06:30", "+07:00", "+08:00", "+08:45", "+09:00", "+09:30",
                                    "+10:00", "+10:30", "+11:00", "+12:00", "+12:45", "+13:00", "+13:45", "+14:00"};
#define UTC "+00:00"

/* The same text of the table; UTC where it is none of it. */
static const char *zone_of(const char *text)
{
    for (size_t at = 0; at < G_N_ELEMENTS(zones); at++)
        if (g_strcmp0(zones[at], text) == 0)
            return zones[at];
    return UTC;
}

/* "UTC", "UTC+01:00"; g_free() */
static char *zone_name(const char *zone)
{
    return g_strconcat("UTC", strcmp(zone, UTC) == 0 ? "" : zone, NULL);
}

typedef struct ScheduledRows {
    json_t *rows;
    GTimeZone *zone;
    int64_t now, asked; /* about the post of this number the page asks; 0: about none */
    bool more;
} ScheduledRows;

static bool add_scheduled(const Scheduled *post, void *data)
{
    ScheduledRows *self = data;
    if (self->asked != 0 && post->number != self->asked)
        return true;
    self->more = json_array_size(self->rows) >= DESK_PAGE;
    if (self->more)
        return false;
    g_autoptr(GDateTime) due = g_date_time_new_from_unix_utc(post->due_at / CLOCK_SECOND);
    g_autoptr(GDateTime) here = g_date_time_to_timezone(due, self->zone);
    g_autofree char *day = g_date_time_format(here, "%Y-%m-%d"), *minute = g_date_time_format(here, "%H:%M");
    g_autofree char *fault = scheduled_post_fault(post, self->now);
    json_t *view = json_pack("{sI ss ss}", "number", (json_int_t)post->number, "day", day, "minute", minute);
    web_set_time(view, "due", post->due_at);
    if (post->subject && *post->subject)
        desk_set_line(view, "subject", post->subject);
    desk_set_line(view, "author", post->author ? post->author : post->sender);
    if (fault)
        desk_set_line(view, "trouble", fault);
    json_array_append_new(self->rows, view);
    return true;
}

/* view is taken. */
static void show_scheduled(Desk *desk, json_t *view, int status, const char *zone, int64_t asked)
{
    GError *error = NULL;
    g_autoptr(GTimeZone) offset = g_time_zone_new_identifier(zone);
    ScheduledRows rows = {.rows = json_array(), .zone = offset, .now = clock_now(), .asked = asked};
    json_object_set_new(view, "posts", rows.rows);
    if (!scheduled_each(desk_store(desk), desk->list->list_id, add_scheduled, &rows, &error)) {
        json_decref(view);
        web_fail(desk->call, error);
        return;
    }
    json_object_set_new(view, "some", json_boolean(json_array_size(rows.rows) > 0));
    json_object_set_new(view, "more", json_boolean(rows.more));
    json_t *choices = json_array();
    for (size_t at = 0; at < G_N_ELEMENTS(zones); at++) {
        g_autofree char *text = zone_name(zones[at]);
        json_array_append_new(choices, json_pack("{ss ss sb}", "value", zones[at], "text", text, "selected",
                                                 strcmp(zones[at], zone) == 0));
    }
    g_autofree char *name = zone_name(zone);
    json_object_set_new(view, "zones", choices);
    json_object_set_new(view, "zone", json_string(zone));
    json_object_set_new(view, "zone_name", json_string(name));
    desk_page(desk, status, "desk_scheduled", view);
}

static void get_scheduled(WebCall *call)
{
    g_auto(Desk) desk = {0};
    g_autofree char *zone = web_query(call, "zone"), *done = web_query(call, "done");
    if (desk_open(&desk, call, MAY_MODERATOR))
        show_scheduled(&desk,
                       json_pack("{sb sb sb sb}", "moved", g_strcmp0(done, "move") == 0, "sent",
                                 g_strcmp0(done, "send") == 0, "cancelled", g_strcmp0(done, "cancel") == 0, "gone",
                                 g_strcmp0(done, "gone") == 0),
                       200, zone_of(zone), 0);
}

/* A time that is over sends nothing: somebody may have mistyped it. False, with the view of the page that says so. */
static bool read_time(WebCall *call, const char *zone, int64_t *due, json_t **refusal)
{
    g_autoptr(GError) wrong = NULL;
    g_autofree char *text = g_strdup_printf("%s %s %s", web_field(call, "day"), web_field(call, "minute"), zone);
    *refusal = NULL;
    if (!send_at_read(text, clock_now(), due, &wrong)) {
        *refusal = json_object();
        desk_set_line(*refusal, "fault", wrong->message);
    } else if (*due <= clock_now()) {
        *refusal = json_pack("{sb}", "past", true);
    }
    return !*refusal;
}

/* FAIL_MISSING also for a post of another list. */
static bool change_scheduled(const Desk *desk, Work *work, const char *word, int64_t due, GError **error)
{
    int64_t number = g_ascii_strtoll(web_field(desk->call, "post"), NULL, 10);
    g_autoptr(Scheduled) post = scheduled_find(desk_store(desk), number, error);
    if (!post)
        return false;
    if (strcmp(post->list_id, desk->list->list_id) != 0)
        return fail(error, FAIL_MISSING, "the post is of another list");
    return strcmp(word, "move") == 0   ? scheduled_post_move(work, number, due, error)
           : strcmp(word, "send") == 0 ? scheduled_post_send(work, number, error)
                                       : scheduled_post_drop(work, number, error);
}

/* A post that is sent or cancelled cannot be called back, so both are asked about. */
static void post_scheduled(WebCall *call)
{
    int64_t due = 0;
    json_t *refusal = NULL;
    g_autoptr(GError) error = NULL;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_MODERATOR))
        return;
    const char *word = web_field(call, "do"), *zone = zone_of(web_field(call, "zone"));
    bool sends = strcmp(word, "send") == 0, cancels = strcmp(word, "cancel") == 0, moves = strcmp(word, "move") == 0;
    int64_t asked = g_ascii_strtoll(web_field(call, "post"), NULL, 10);
    if (!sends && !cancels && !moves) {
        show_scheduled(&desk, json_object(), 400, zone, 0);
        return;
    }
    if (!moves && !*web_field(call, "confirm") && asked > 0) {
        show_scheduled(&desk, json_pack("{sb sb sb}", "asks", true, "asks_send", sends, "asks_cancel", cancels), 200,
                       zone, asked);
        return;
    }
    if (moves && !read_time(call, zone, &due, &refusal)) {
        show_scheduled(&desk, refusal, 400, zone, 0);
        return;
    }
    g_autoptr(Work) work = desk_begin(&desk);
    if (!work)
        return;
    if (change_scheduled(&desk, work, word, due, &error)) {
        if (!web_commit(call, work))
            return;
    } else {
        work_cancel(work);
        if (g_error_matches(error, FAIL, FAIL_NEVER)) {
            json_t *view = json_object();
            desk_set_line(view, "fault", error->message);
            show_scheduled(&desk, view, 400, zone, 0);
            return;
        }
        if (!g_error_matches(error, FAIL, FAIL_MISSING)) {
            web_fail(call, g_steal_pointer(&error));
            return;
        }
        word = "gone";
    }
    g_autofree char *escaped = g_uri_escape_string(zone, NULL, false);
    g_autofree char *path = g_strdup_printf("/scheduled?done=%s&zone=%s", word, escaped);
    desk_see(&desk, path);
}

const WebRoute web_waiting[] = {
    {"GET", "/decide/{}", get_decide},
    {"POST", "/decide/{}", post_decide},
    {"GET", "/decide/{}/post/{}", get_ticket_post},
    {"GET", "/decide/{}/post/{}/file/{}/{}", get_ticket_file},
    {"GET", "/desk", get_desk},
    {"POST", "/desk", post_desk},
    {"GET", "/desk/post/{}", get_post},
    {"GET", "/desk/post/{}/file/{}/{}", get_file},
    {"GET", "/desk/list/{}/scheduled", get_scheduled},
    {"POST", "/desk/list/{}/scheduled", post_scheduled},
    {.verb = NULL},
};
