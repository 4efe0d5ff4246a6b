/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/mitigation.h"

#include <string.h>

#include "base/clock.h"
#include "base/pattern.h"
#include "mail/address.h"
#include "mail/dkim.h"
#include "mail/dmarc.h"
#include "posting/frame.h"

/* A list that waits for the DNS does so for a day; then the post goes as if there were a policy. */
#define PATIENCE (24 * 3600 * CLOCK_SECOND)

/* The mailbox in From; g_free(). NULL: there is none. Of several the first counts. */
static char *author_of(const Post *post)
{
    static const char *const from[] = {"From", NULL};
    g_autoptr(GPtrArray) all = post_addresses(post, from);
    return all->len > 0 ? g_strdup(((Address *)all->pdata[0])->mailbox) : NULL;
}

/* To refuse a post because a name server was down would lose it. */
static Mitigation gentle(Mitigation action)
{
    return action == MITIGATION_WRAP_MESSAGE ? action : MITIGATION_MUNGE_FROM;
}

static Mitigation without_answer(const Post *post, Mitigation action)
{
    return post->list->dmarc_without_answer == DMARC_WITHOUT_PASS ? MITIGATION_NONE : gentle(action);
}

static NamesAnswer find(const Post *post, Mitigation *mitigation)
{
    const List *list = post->list;
    Mitigation action = (Mitigation)list->dmarc_mitigate_action;
    bool gentle_action = action == MITIGATION_MUNGE_FROM || action == MITIGATION_WRAP_MESSAGE;
    *mitigation = MITIGATION_NONE;
    g_autofree char *author = author_of(post), *domain = NULL;
    if (action == MITIGATION_NONE || list->anonymous_list || post->ours || !author ||
        address_same(author, list->posting_address) || !address_split(author, NULL, &domain))
        return NAMES_NONE;
    *mitigation = action;
    if ((gentle_action && list->dmarc_mitigate_unconditionally) ||
        pattern_match_any(list->dmarc_addresses, author, post->patterns))
        return NAMES_FOUND;
    DmarcRecord record = {.policy = DMARC_NONE};
    NamesAnswer answer = post->names ? dmarc_find(post->names, domain, &record, NULL) : NAMES_TROUBLE;
    if (answer == NAMES_TROUBLE)
        *mitigation = without_answer(post, action);
    else if (record.policy == DMARC_NONE)
        *mitigation = MITIGATION_NONE;
    return answer;
}

/* The same less posts whose author's signature may hold to the end: its key is known then to mitigation_unneeded(). */
static NamesAnswer find_with_key(const Post *post, Mitigation *mitigation)
{
    NamesAnswer answer = find(post, mitigation);
    if (answer == NAMES_PENDING || *mitigation == MITIGATION_NONE || *mitigation != gentle(*mitigation) ||
        !post->list->dmarc_keep_signed || !post->names)
        return answer;
    g_autofree char *author = author_of(post), *domain = NULL;
    bool waits = author && address_split(author, NULL, &domain) &&
                 dkim_holds(post->message, domain, post->names) == NAMES_PENDING;
    return waits ? NAMES_PENDING : answer;
}

bool mitigation_unneeded(const Post *post, const Message *copy, bool *unneeded, GError **error)
{
    const List *list = post->list;
    *unneeded = false;
    if (!list->dmarc_keep_signed || !post->names || list->personalize == PERSONALIZE_FULL)
        return true;
    g_autofree char *above = NULL, *below = NULL, *author = author_of(post), *domain = NULL;
    if (!frame_find(post, &above, &below, error))
        return false;
    *unneeded = !above && !below && author && address_split(author, NULL, &domain) &&
                dkim_holds(copy, domain, post->names) == NAMES_FOUND;
    return true;
}

NamesAnswer mitigation_find(Post *post, Mitigation *mitigation)
{
    if (!post->mitigation_known) {
        Mitigation found;
        post->mitigation_answer = find_with_key(post, &found);
        post->mitigation = (int)found;
        post->mitigation_known = post->mitigation_answer != NAMES_PENDING;
    }
    *mitigation = (Mitigation)post->mitigation;
    return post->mitigation_answer;
}

bool mitigation_waits(const Post *post)
{
    return post->list->dmarc_without_answer == DMARC_WITHOUT_WAIT && post->now - post->arrival < PATIENCE;
}
