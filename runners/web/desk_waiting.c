/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * All that waits for somebody: held posts and requests of all lists that he runs, oldest first. Fields of the form are
 * "post-12" and "request-4" for what is ticked, "seen-post-12" for what the page showed, and "do" for the button.
 */
#include <string.h>

#include "base/fail.h"
#include "lists/posts/moderate.h"
#include "runners/web/desk.h"
#include "runners/web/waiting.h"
#include "store/lists/list_log.h"
#include "store/lists/list_setting.h"

#define POST_FIELD "post-"
#define REQUEST_FIELD "request-"
#define SEEN_FIELD "seen-"
#define EARLIER 50 /* posts of a sender that are counted */
#define EARLIER_SHOWN 5

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

static void pile_init(Pile *pile)
{
    pile->lists = g_ptr_array_new_with_free_func((GDestroyNotify)list_free);
    pile->posts = g_ptr_array_new_with_free_func(item_free);
    pile->requests = g_ptr_array_new_with_free_func(item_free);
}

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

/* Add what waits on a list, if it is one that the person runs. list is taken. */
static bool add_list(Pile *pile, const Desk *desk, Work *work, List *list, ModerateAfter after, GError **error)
{
    g_auto(ModerateWaiting) waiting = {0};
    g_ptr_array_add(pile->lists, list);
    if (!authority_covers(MAY_MODERATOR, standing_of(desk->standing, list)))
        return true;
    const Ticket all = moderate_anything(list->list_id, desk->person->address);
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
    return true;
}

/* Fill the pile with what waits behind `after`, of each list at most MODERATE_SHOWN. */
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
        if (!list || !add_list(pile, desk, work, list, after, error))
            return false;
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
    json_t *view = item->post ? waiting_post(desk->call, work, item->list, item->post) : waiting_request(item->request);
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
    ModerateAfter next = waiting_after(desk->call);
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
        g_autofree char *query = g_strdup_printf("?after=%" G_GINT64_FORMAT "&after_request=%" G_GINT64_FORMAT,
                                                 next.post, next.request);
        json_object_set_new(view, "next", json_string(query));
    }
    return true;
}

/* view is taken. */
static void show(Desk *desk, int status, json_t *view)
{
    GError *error = NULL;
    g_auto(Pile) pile = {0};
    const ModerateAfter after = waiting_after(desk->call);
    g_autoptr(Work) work = web_look(desk->call);
    pile_init(&pile);
    if (work && fill(&pile, desk, work, after, &error) && set_items(desk, work, &pile, view, &error)) {
        json_object_set_new(view, "first_page", json_boolean(after.post == 0 && after.request == 0));
        json_object_set_new(view, "reason_chars", json_integer(MODERATE_REASON_MAX / 4));
        desk_page(desk, status, "desk", view);
        return;
    }
    json_decref(view);
    if (work)
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
        const Ticket all = moderate_anything(desk->list->list_id, desk->person->address);
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
    waiting_set_mail(call, view, held->message, files);
    desk_page(&desk, 200, "post", view);
}

static void get_file(WebCall *call)
{
    g_auto(Desk) desk = {0};
    g_autoptr(Work) work = desk_open(&desk, call, 0) ? web_look(call) : NULL;
    g_autoptr(Held) held = work ? find_post(&desk, work) : NULL;
    if (held)
        waiting_file(call, held->message, call->args[1]);
}

/* ---- deciding ---- */

typedef struct DeskCounts {
    int of[MODERATE_UNDONE + 1]; /* how many had this ModerateOutcome */
} DeskCounts;

/* The List-Id of the post or the request; NULL: there is none of that number. false: the store failed. g_free() */
static bool find_list_id(const Desk *desk, Work *work, const ModerateOne *one, char **list_id, GError **error)
{
    g_autoptr(GError) missing = NULL;
    g_autoptr(Held) held = one->is_request ? NULL : held_find(desk_store(desk), one->number, &missing);
    g_autoptr(Pending) request = one->is_request ? pending_find(desk_store(desk), one->number, work_now(work), &missing)
                                                 : NULL;
    *list_id = held ? g_strdup(held->list_id) : request ? g_strdup(request->list_id) : NULL;
    return *list_id || fail_unless(error, FAIL_MISSING, &missing);
}

/* Decide about one thing, if it is on a list that the person runs; else it is as if it did not wait. */
static bool decide_one(const Desk *desk, Work *work, const ModerateOne *one, DeskCounts *counts, GError **error)
{
    ModerateOutcome outcome = MODERATE_GONE;
    g_autofree char *list_id = NULL;
    if (!find_list_id(desk, work, one, &list_id, error))
        return false;
    g_autoptr(List) list = list_id ? list_by_id(desk_store(desk), list_id, error) : NULL;
    if (list_id && !list)
        return false;
    if (list && authority_covers(MAY_MODERATOR, standing_of(desk->standing, list))) {
        const Ticket all = moderate_anything(list_id, desk->person->address);
        if (!moderate_one(work, &all, one, &outcome, error))
            return false;
    }
    counts->of[outcome]++;
    return true;
}

/* "post-12", or with all "seen-post-12": what it names. */
static bool read_field(const char *name, bool all, ModerateOne *one)
{
    if (all && g_str_has_prefix(name, SEEN_FIELD))
        name += strlen(SEEN_FIELD);
    else if (all)
        return false;
    one->is_request = g_str_has_prefix(name, REQUEST_FIELD);
    return (one->is_request || g_str_has_prefix(name, POST_FIELD)) &&
           g_ascii_string_to_signed(strchr(name, '-') + 1, 10, 1, G_MAXINT64, &one->number, NULL);
}

static int by_kind_and_number(const void *one, const void *other)
{
    const ModerateOne *first = one, *second = other;
    if (first->is_request != second->is_request)
        return first->is_request - second->is_request;
    return (first->number > second->number) - (first->number < second->number);
}

/* Decide about all that is ticked, in the order in which it came: so the list gets posts in that order, too. */
static bool decide_all(const Desk *desk, Work *work, DeskCounts *counts, GError **error)
{
    const char *word = web_field(desk->call, "do"), *reason = web_field(desk->call, "reason");
    const bool all = *web_field(desk->call, "all");
    g_autoptr(GArray) ticked = g_array_new(FALSE, FALSE, sizeof(ModerateOne));
    GHashTableIter at;
    void *name;
    g_hash_table_iter_init(&at, desk->call->form);
    while (g_hash_table_iter_next(&at, &name, NULL)) {
        ModerateOne one = {.word = word, .reason = reason};
        if (!read_field(name, all, &one))
            continue;
        if (one.is_request && strcmp(word, "allow") == 0)
            one.word = "accept"; /* of a request there is no more than that */
        g_array_append_val(ticked, one);
    }
    g_array_sort(ticked, by_kind_and_number);
    for (guint i = 0; i < ticked->len; i++)
        if (!decide_one(desk, work, &g_array_index(ticked, ModerateOne, i), counts, error))
            return false;
    return true;
}

static void post_desk(WebCall *call)
{
    GError *error = NULL;
    DeskCounts counts = {0};
    g_auto(Desk) desk = {0};
    g_autoptr(Work) work = desk_open(&desk, call, 0) ? web_begin(call) : NULL;
    if (!work)
        return;
    if (!decide_all(&desk, work, &counts, &error)) {
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

const WebRoute web_desk_waiting[] = {
    {"GET", "/desk", get_desk},
    {"POST", "/desk", post_desk},
    {"GET", "/desk/post/{}", get_post},
    {"GET", "/desk/post/{}/file/{}/{}", get_file},
    {.verb = NULL},
};
