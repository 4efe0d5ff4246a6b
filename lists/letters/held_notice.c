/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/held_notice.h"

#include <string.h>

#include "base/clock.h"
#include "lists/keys.h"
#include "lists/letters/moderator_letter.h"
#include "lists/letters/token_return.h"
#include "mail/address.h"
#include "store/lists/list_setting.h"
#include "store/people/pending.h"
#include "switchboard/meta.h"

/* Of the posts that a letter carries: with fields and text the whole stays below 64 KiB, which each server takes. */
#define ATTACH_MAX (48 * 1024)
#define ATTACH_LEAST 2048 /* of each of several; where there is less room, none is attached */
#define ITEMS_MAX 100     /* that a letter lists */
#define DAY (24 * 3600 * CLOCK_SECOND)

static char *number_text(int64_t number)
{
    return g_strdup_printf("%" G_GINT64_FORMAT, number);
}

static char *brief(const char *text)
{
    return template_brief(text && *text ? text : "-");
}

/* ---- the author ---- */

bool held_tell_poster(Work *work, const List *list, const Held *held, const char *to, GError **error)
{
    g_autofree char *subject = brief(held->subject), *sender = brief(held->sender);
    g_autofree char *number = number_text(held->number), *size = number_text(held->size);
    const TemplateValue values[] = {{"subject", subject}, {"reasons", held->reason}, {"sender", sender},
                                    {"number", number},   {"size", size},            {0}};
    g_autoptr(json_t) post = held->meta ? meta_parse(held->meta, strlen(held->meta), NULL) : NULL;
    ListLetter letter = {.template = "held_poster", .values = values, .to = to, .date = held->held_at,
                         .in_reply_to = held->message_id ? held->message_id : "",
                         .trace = meta_string(post, META_TRACE, NULL)};
    return work_letter(work, list, &letter, error);
}

bool held_ask_sender(Work *work, const List *list, const Held *held, GError **error)
{
    char token[PENDING_TOKEN_CHARS + 1];
    g_auto(TokenReturn) back = {0};
    int64_t life = work_site(work)->pending_request_life;
    if (!pending_token_new(token, error) ||
        !held_ask(work_store(work), held->number, token, work_now(work) + life, error))
        return false;
    token_return_make(work, list, token, &back);
    g_autofree char *days = number_text(MAX(life / DAY, 1));
    g_autoptr(json_t) post = held->meta ? meta_parse(held->meta, strlen(held->meta), NULL) : NULL;
    /* If somebody else sent the post, the letter repeats none of its words. */
    bool own = address_same(held->sender, meta_string(post, KEY_SENDER, ""));
    g_autofree char *subject = brief(own ? held->subject : NULL);
    g_autoptr(Mailbox) reader = mailbox_new(held->sender);
    g_autofree char *language = letter_language(work, list, reader);
    g_autofree char *page = letter_page(work, list, language, "confirm", token);
    const TemplateValue values[] = {
        {"address", held->sender}, {"subject", subject}, {"token", token}, {"confirm_email", back.address},
        {"mark", back.mark},       {"days", days},       {"page", page},   {0}};
    ListLetter letter = {.template = "confirm_post",
                         .values = values,
                         .language = language,
                         .from_name = list->settings->display_name,
                         .from = back.address,
                         .to = held->sender,
                         .personal = true,
                         .in_reply_to = held->message_id ? held->message_id : "",
                         .trace = meta_string(post, META_TRACE, NULL)};
    work_log(work, list->list_id, "held=%" G_GINT64_FORMAT " result=asked-sender", held->number);
    return work_letter(work, list, &letter, error);
}

/* ---- one post ---- */

static bool tell_of_one(Work *work, const List *list, const Held *held, GError **error)
{
    g_autofree char *subject = brief(held->subject), *sender = brief(held->sender);
    g_autofree char *number = number_text(held->number), *size = number_text(held->size);
    const TemplateValue values[] = {{"subject", subject}, {"reasons", held->reason}, {"sender", sender},
                                    {"number", number},   {"size", size},            {0}};
    g_autoptr(json_t) post = held->meta ? meta_parse(held->meta, strlen(held->meta), NULL) : NULL;
    const ModeratorLetter letter = {
        .letter = {.template = "held_moderators",
                   .attach = list->settings->admin_notify_held_with_attachment ? NOTICE_MESSAGE : NOTICE_ALONE,
                   .about = held->message,
                   .most = ATTACH_MAX,
                   .date = held->held_at, .trace = meta_string(post, META_TRACE, NULL)},
        .values = values, .about = {.first = held->number, .last = held->number},
        .attached = !list->settings->admin_notify_held_with_attachment ? "attached_not"
                    : held->size <= ATTACH_MAX               ? "attached_whole"
                                                             : "attached_start"};
    return moderator_letter(work, list, &letter, error);
}

bool held_tell_moderators(Work *work, const List *list, const Held *held, GError **error)
{
    bool due = held->told == HELD_TOLD_ALONE; /* at an earlier try, whose letter was lost with its process */
    Store *store = work_store(work);
    if (held->told == HELD_TOLD_MANY)
        return true;
    if (!list->settings->admin_immed_notify)
        return held_set_told(store, held->number, HELD_TOLD_MANY, error);
    int64_t gap = work_site(work)->gathers ? work_site(work)->held_notice_interval : 0;
    if (!due && !held_notice_due(store, list->list_id, work_now(work), gap, &due, error))
        return false;
    return !due || (held_set_told(store, held->number, HELD_TOLD_ALONE, error) &&
                    tell_of_one(work, list, held, error));
}

/* ---- several ---- */

/* The posts that a letter names. */
typedef struct Items {
    GString *text;
    GArray *numbers; /* of int64_t, all of them */
    int64_t shown;
} Items;

static bool add_item(const Held *held, void *data)
{
    Items *items = data;
    if (held->asked_until > 0) /* it waits for its sender */
        return true;
    g_array_append_val(items->numbers, held->number);
    if (items->numbers->len > ITEMS_MAX)
        return true;
    g_autofree char *when = clock_rfc5322(held->held_at), *sender = brief(held->sender);
    /* No line is a stranger's words alone: in an answer that quotes without marks it would decide. */
    g_autofree char *subject = brief(held->subject), *reason = brief(held->reason);
    g_string_append_printf(items->text, "%s    %" G_GINT64_FORMAT "  %s\n        \"%s\"\n        %s\n        %s\n",
                           items->text->len ? "\n" : "", held->number, sender, subject, when, reason);
    items->shown++;
    return true;
}

static void items_clear(Items *items)
{
    g_string_free(items->text, TRUE);
    g_array_unref(items->numbers);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Items, items_clear)

static int64_t item(const Items *items, unsigned at)
{
    return g_array_index(items->numbers, int64_t, at);
}

/* A letter about these posts; its template, further values and requests are the caller's. */
static bool tell_of_many(Work *work, const List *list, Items *items, ModeratorLetter *letter, GError **error)
{
    unsigned count = items->numbers->len;
    /* The list may attach messages, as far as there is room for the start of each. */
    bool attaches = list->settings->admin_notify_held_with_attachment && count <= ATTACH_MAX / ATTACH_LEAST;
    g_autoptr(GPtrArray) messages = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    for (unsigned at = 0; attaches && at < count; at++) {
        g_autoptr(Held) held = held_find(work_store(work), item(items, at), error);
        if (!held)
            return false;
        g_ptr_array_add(messages, g_bytes_ref(held->message));
    }
    g_autoptr(GBytes) first = messages->len > 0 ? g_ptr_array_steal_index(messages, 0) : NULL;
    letter->letter.attach = first ? NOTICE_MESSAGE : NOTICE_ALONE;
    letter->attached = first ? "attached_starts" : "attached_none";
    letter->letter.about = first;
    letter->letter.further = messages;
    letter->letter.most = count ? ATTACH_MAX / count : 0;
    letter->items = g_strchomp(items->text->str);
    letter->more = count - items->shown;
    letter->about.first = count ? item(items, 0) : 0;
    letter->about.last = count ? item(items, count - 1) : 0;
    return moderator_letter(work, list, letter, error);
}

bool held_tell_gathered(Work *work, const List *list, int64_t *posts, GError **error)
{
    Store *store = work_store(work);
    g_auto(Items) items = {g_string_new(NULL), g_array_new(FALSE, FALSE, sizeof(int64_t)), 0};
    const HeldFilter untold = {.list_id = list->list_id, .untold = true};
    bool due;
    *posts = 0;
    if (!held_select(store, &untold, add_item, &items, error))
        return false;
    if (items.numbers->len == 0)
        return true;
    if (list->settings->admin_immed_notify &&
        !held_notice_due(store, list->list_id, work_now(work), work_site(work)->held_notice_interval, &due, error))
        return false;
    if (list->settings->admin_immed_notify && !due)
        return true;
    for (unsigned at = 0; at < items.numbers->len; at++)
        if (!held_set_told(store, item(&items, at), HELD_TOLD_MANY, error))
            return false;
    *posts = items.numbers->len;
    if (!list->settings->admin_immed_notify)
        return true;
    if (items.numbers->len > 1) {
        g_autofree char *count = number_text(items.numbers->len);
        const TemplateValue values[] = {{"count", count}, {0}};
        ModeratorLetter letter = {.letter = {.template = "held_many"}, .values = values};
        return tell_of_many(work, list, &items, &letter, error);
    }
    g_autoptr(Held) held = held_find(store, item(&items, 0), error);
    return held && tell_of_one(work, list, held, error);
}

/* ---- the reminder ---- */

typedef struct Requests {
    GString *text;
    int64_t count, first, last;
} Requests;

static bool add_request(const Pending *request, void *data)
{
    Requests *requests = data;
    if (request->waits_for != PENDING_MODERATOR)
        return true;
    requests->first = requests->first > 0 ? requests->first : request->number;
    requests->last = request->number;
    if (++requests->count > ITEMS_MAX)
        return true;
    g_autofree char *when = clock_rfc5322(request->made_at);
    g_string_append_printf(requests->text, "%s    r%" G_GINT64_FORMAT "  %s  %s\n        %s\n",
                           requests->text->len ? "\n" : "", request->number, pending_kind_text(request->kind),
                           request->address->text, when);
    return true;
}

bool held_remind(Work *work, const List *list, int64_t *waiting, GError **error)
{
    Store *store = work_store(work);
    g_auto(Items) items = {g_string_new(NULL), g_array_new(FALSE, FALSE, sizeof(int64_t)), 0};
    g_autoptr(GString) text = g_string_new(NULL);
    Requests requests = {.text = text};
    if (!held_each(store, list->list_id, add_item, &items, error) ||
        !pending_each(store, list->list_id, work_now(work), add_request, &requests, error))
        return false;
    *waiting = items.numbers->len + requests.count;
    if (*waiting == 0)
        return true;
    g_autofree char *posts = number_text(items.numbers->len), *asked = number_text(requests.count);
    if (requests.count == 0)
        g_string_append(text, "    -");
    if (items.numbers->len == 0)
        g_string_append(items.text, "    -");
    const TemplateValue values[] = {
        {"count", posts}, {"requests", asked}, {"request_items", g_strchomp(text->str)}, {0}};
    ModeratorLetter letter = {.letter = {.template = "reminder"}, .values = values,
                              .about = {.first_request = requests.first, .last_request = requests.last}};
    return tell_of_many(work, list, &items, &letter, error);
}
