/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/mitigation.h"

#include "base/clock.h"
#include "base/pattern.h"
#include "mail/address.h"
#include "mail/auth/dkim.h"
#include "mail/auth/dmarc.h"
#include "posting/authors.h"
#include "posting/frame.h"
#include "store/lists/list_setting.h"

/* A list that waits for the DNS does so for a day; then the post goes as if there were a policy. */
#define PATIENCE (24 * 3600 * CLOCK_SECOND)

/* To refuse a post because a name server was down would lose it. */
static Mitigation gentle(Mitigation action)
{
    return action == MITIGATION_WRAP_MESSAGE ? action : MITIGATION_MUNGE_FROM;
}

static bool is_gentle(Mitigation action)
{
    return action == MITIGATION_MUNGE_FROM || action == MITIGATION_WRAP_MESSAGE;
}

/* Must the author's name not stay in From? NAMES_FOUND: it must not. NAMES_NONE: it may. */
static NamesAnswer find_for(const Post *post, const char *author)
{
    const List *list = post->list;
    Mitigation action = (Mitigation)list->settings->dmarc_mitigate_action;
    g_autofree char *domain = NULL;
    DmarcRecord record;
    if (address_same(author, list->posting_address) || !address_split(author, NULL, &domain))
        return NAMES_NONE;
    if ((is_gentle(action) && list->settings->dmarc_mitigate_unconditionally) ||
        pattern_match_any(list->settings->dmarc_addresses, author, post->patterns))
        return NAMES_FOUND;
    NamesAnswer answer = post->names ? dmarc_find(post->names, domain, &record, NULL) : NAMES_TROUBLE;
    if (answer != NAMES_FOUND)
        return answer;
    /* A domain that tests its policy (t=y) wants its names changed as if it did not. */
    DmarcPolicy policy = is_gentle(action) ? record.policy : dmarc_applied(&record);
    return policy == DMARC_NONE ? NAMES_NONE : NAMES_FOUND;
}

/* The strictest policy of all authors counts. A From that not every reader reads in the same way may show anybody's
 * name, so it is as one whose policy is reject. */
static NamesAnswer find(const Post *post, Mitigation *mitigation)
{
    Mitigation action = (Mitigation)post->list->settings->dmarc_mitigate_action;
    bool readable, demanded = false;
    NamesAnswer worst = NAMES_NONE;
    *mitigation = MITIGATION_NONE;
    if (action == MITIGATION_NONE || post->list->settings->anonymous_list || post->ours)
        return NAMES_NONE;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    for (guint at = 0; readable && at < authors->len; at++) {
        NamesAnswer answer = find_for(post, ((const Address *)authors->pdata[at])->mailbox);
        demanded |= answer == NAMES_FOUND;
        worst = MAX(worst, answer);
    }
    if (demanded || !readable) {
        *mitigation = action;
        return NAMES_FOUND;
    }
    if (worst == NAMES_TROUBLE)
        *mitigation = post->list->settings->dmarc_without_answer == DMARC_WITHOUT_PASS ? MITIGATION_NONE
                                                                                       : gentle(action);
    return worst;
}

/* Does a signature of this author hold for the message? It must be by his very domain where that asks for it
 * (adkim=s). */
static NamesAnswer signed_by(const Post *post, const Message *message, const char *author)
{
    g_autofree char *domain = NULL;
    DmarcRecord record;
    if (!address_split(author, NULL, &domain))
        return NAMES_NONE;
    NamesAnswer known = dmarc_find(post->names, domain, &record, NULL);
    bool strict = known == NAMES_TROUBLE || (known == NAMES_FOUND && record.strict_dkim);
    if (known == NAMES_PENDING)
        return known;
    return dkim_holds(message, domain, strict, post->names, post->now);
}

/* Does a signature of each author hold for the message that receivers will believe? */
static NamesAnswer author_signed(const Post *post, const Message *message)
{
    bool readable;
    NamesAnswer worst = NAMES_FOUND;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    for (guint at = 0; readable && at < authors->len; at++)
        worst = MAX(worst, signed_by(post, message, ((const Address *)authors->pdata[at])->mailbox));
    return readable ? worst : NAMES_NONE;
}

/* The same less posts whose author's signature may hold to the end: its key is known then to mitigation_unneeded(). */
static NamesAnswer find_with_key(const Post *post, Mitigation *mitigation)
{
    NamesAnswer answer = find(post, mitigation);
    if (answer == NAMES_PENDING || *mitigation == MITIGATION_NONE || *mitigation != gentle(*mitigation) ||
        !post->list->settings->dmarc_keep_signed || !post->names)
        return answer;
    return author_signed(post, post->message) == NAMES_PENDING ? NAMES_PENDING : answer;
}

bool mitigation_unneeded(const Post *post, const Message *copy, bool *unneeded, GError **error)
{
    const List *list = post->list;
    *unneeded = false;
    if (!list->settings->dmarc_keep_signed || !post->names || list->settings->personalize == PERSONALIZE_FULL)
        return true;
    g_autofree char *above = NULL, *below = NULL;
    if (!frame_find(post, &above, &below, error))
        return false;
    *unneeded = !above && !below && author_signed(post, copy) == NAMES_FOUND;
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
    return post->list->settings->dmarc_without_answer == DMARC_WITHOUT_WAIT && post->now - post->arrival < PATIENCE;
}
