/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/moderator_letter.h"

#include <string.h>

#include "base/clock.h"
#include "lists/letters/token_return.h"
#include "store/people/pending.h"

#define VALUES_MAX 16 /* of one letter */
#define DAY (24 * 3600 * CLOCK_SECOND)

/* Keeps a ticket for the moderator under a new token. */
static bool make_ticket(Work *work, const List *list, const Ticket *about, const char *moderator,
                        char token[PENDING_TOKEN_CHARS + 1], GError **error)
{
    Ticket ticket = *about;
    ticket.list_id = list->list_id;
    ticket.moderator = (char *)moderator;
    ticket.expires_at = work_now(work) + work_site(work)->moderator_request_life;
    return pending_token_new(token, error) && ticket_put(work_store(work), &ticket, token, error);
}

/* The items, and how many more there are. g_free() */
static char *items_text(const Work *work, const List *list, const ModeratorLetter *letter, const char *language)
{
    if (letter->more == 0)
        return g_strdup(letter->items ? letter->items : "");
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, letter->more);
    const TemplateValue values[] = {{"number", number}, {0}};
    g_autofree char *sentence = letter_sentence(work, list, language, "and_more", values);
    return g_strdup_printf("%s\n\n    %s", letter->items, sentence);
}

/* Posts and requests in one text, as Mailman's reminder has them. */
static char *all_items(const ModeratorLetter *letter, const char *items)
{
    const TemplateValue *value = letter->values;
    while (value->name && strcmp(value->name, "request_items") != 0)
        value++;
    return value->name ? g_strdup_printf("%s\n\n%s", items, value->value) : g_strdup(items);
}

/* letter->letter.mark is set. */
static bool write_to(Work *work, const List *list, const ModeratorLetter *letter, const char *moderator, GError **error)
{
    g_auto(TokenReturn) back = {0};
    char token[PENDING_TOKEN_CHARS + 1];
    bool decides = letter->about.last > 0 || letter->about.last_request > 0;
    if (decides && !make_ticket(work, list, &letter->about, moderator, token, error))
        return false;
    if (decides)
        token_return_make(work, list, token, &back);
    g_autofree char *language = letter_language(work, list, moderator), *bounces = list_address(list, "bounces");
    g_autofree char *days = g_strdup_printf("%" G_GINT64_FORMAT, work_site(work)->moderator_request_life / DAY);
    g_autofree char *attached =
        letter->attached ? letter_sentence(work, list, language, letter->attached, NULL) : g_strdup("");
    g_autofree char *items = items_text(work, list, letter, language);
    g_autofree char *data = all_items(letter, items);
    g_autofree char *page = decides ? letter_page(work, list, language, "decide", token) : g_strdup("");
    TemplateValue values[VALUES_MAX + 1] = {
        {"mark", back.mark ? back.mark : ""}, {"days", days}, {"attached", attached},
        {"items", items},                     {"page", page}, {"data", data}};
    for (size_t at = 0, own = 6; letter->values[at].name && own < VALUES_MAX; at++, own++)
        values[own] = letter->values[at];
    ListLetter one = letter->letter;
    one.values = values;
    one.language = language;
    one.to = moderator;
    one.reply_to = back.address;
    one.envelope_sender = bounces;
    return work_letter(work, list, &one, error);
}

bool moderator_letter(Work *work, const List *list, const ModeratorLetter *letter, GError **error)
{
    g_auto(GStrv) moderators = letter_owners(work_store(work), list, work_site(work)->site_owner, error);
    g_auto(LoopMark) mark = {0};
    ModeratorLetter marked = *letter;
    marked.letter.mark = &mark;
    if (moderators && *moderators && !letter_mark(work, &letter->letter, &mark, error))
        return false;
    for (char **moderator = moderators; moderator && *moderator; moderator++)
        if (!write_to(work, list, &marked, *moderator, error))
            return false;
    return moderators != NULL;
}
