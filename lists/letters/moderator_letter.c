/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/moderator_letter.h"

#include <string.h>

#include "base/clock.h"
#include "lists/letters/token_return.h"
#include "store/people/pending.h"

#define VALUES_MAX 16 /* of one letter */
#define DAY (24 * 3600 * CLOCK_SECOND)

/* letter->letter.mark is set. */
static bool write_to(Work *work, const List *list, const ModeratorLetter *letter, const char *moderator, GError **error)
{
    g_auto(TokenReturn) back = {0};
    char token[PENDING_TOKEN_CHARS + 1];
    bool decides = letter->about.last > 0 || letter->about.last_request > 0;
    if (decides) {
        Ticket ticket = letter->about;
        ticket.list_id = list->list_id;
        ticket.moderator = (char *)moderator;
        ticket.expires_at = work_now(work) + work_site(work)->moderator_request_life;
        if (!pending_token_new(token, error) || !ticket_put(work_store(work), &ticket, token, error))
            return false;
        token_return_make(work, list, token, &back);
    }
    g_autoptr(Mailbox) reader = mailbox_new(moderator);
    g_autofree char *language = letter_language(work, list, reader), *bounces = list_address(list, "bounces");
    g_autofree char *days = g_strdup_printf("%" G_GINT64_FORMAT, work_site(work)->moderator_request_life / DAY);
    g_autofree char *attached = letter->attached ? letter_sentence(work, list, language, letter->attached, NULL)
                                                 : g_strdup("");
    g_autofree char *page = decides ? letter_page(work, list, language, "decide", token) : g_strdup("");

    /* "items" says at its end how many there are beyond those that it names. */
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, letter->more);
    const TemplateValue beyond[] = {{"number", number}, {0}};
    g_autofree char *more = letter->more > 0 ? letter_sentence(work, list, language, "and_more", beyond) : NULL;
    g_autofree char *items = more ? g_strdup_printf("%s\n\n    %s", letter->items, more)
                                  : g_strdup(letter->items ? letter->items : "");
    /* "data" has posts and requests in one text, as Mailman's reminder has them. */
    const TemplateValue *requests = letter->values;
    while (requests->name && strcmp(requests->name, "request_items") != 0)
        requests++;
    g_autofree char *data = requests->name ? g_strdup_printf("%s\n\n%s", items, requests->value) : g_strdup(items);

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
