/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/guessing.h"

#include "base/ip.h"
#include "base/mailbox.h"
#include "store/account.h"

/* The sources of a token, as they are counted; NULL: not known. */
typedef struct Sources {
    char *mailbox, *network;
} Sources;

static void sources_clear(Sources *sources)
{
    g_free(sources->mailbox);
    g_free(sources->network);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sources, sources_clear)

/* Doors by which strangers bring tokens. */
static bool is_public(const Actor *actor)
{
    return actor->door == DOOR_MAIL || actor->door == DOOR_PAGE;
}

static void sources_of(const Actor *actor, Sources *sources)
{
    bool mail = actor->door == DOOR_MAIL;
    sources->mailbox = mail && actor->address ? mailbox_base(actor->address) : NULL;
    sources->network = actor->host ? ip_network(actor->host) : NULL;
}

static bool note_source(Work *work, const char *list_id, const char *source, int64_t most, GError **error)
{
    int64_t guesses;
    if (!account_add(work_store(work), ACCOUNT_GUESSES, source, work_now(work), &guesses, error))
        return false;
    if (guesses == most)
        work_log(work, list_id, "source=<%s> result=ignored (it brought %" G_GINT64_FORMAT " unknown tokens within an "
                 "hour; until the next, tokens count only from the address that they were sent to)", source, most);
    return true;
}

bool guessing_note(Work *work, const char *list_id, GError **error)
{
    g_auto(Sources) sources = {0};
    if (!is_public(work_actor(work)))
        return true;
    sources_of(work_actor(work), &sources);
    return (!sources.mailbox || note_source(work, list_id, sources.mailbox, GUESSES_OF_ADDRESS, error)) &&
           (!sources.network || note_source(work, list_id, sources.network, GUESSES_OF_HOST, error));
}

static bool count(Work *work, const char *source, int64_t *guesses, GError **error)
{
    return !source || account_count(work_store(work), ACCOUNT_GUESSES, source, work_now(work), guesses, error);
}

bool guessing_allows(Work *work, const char *address, bool *allowed, GError **error)
{
    const Actor *actor = work_actor(work);
    int64_t by_address = 0, by_host = 0;
    g_auto(Sources) sources = {0};
    bool same = actor->door == DOOR_MAIL && address && actor->address && mailbox_same(address, actor->address);
    *allowed = same || !is_public(actor);
    if (*allowed)
        return true;
    sources_of(actor, &sources);
    if (!count(work, sources.mailbox, &by_address, error) || !count(work, sources.network, &by_host, error))
        return false;
    *allowed = by_address < GUESSES_OF_ADDRESS && by_host < GUESSES_OF_HOST;
    return true;
}
