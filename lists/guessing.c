/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/guessing.h"

#include "mail/address.h"
#include "store/guess.h"

static bool note_source(Work *work, const char *list_id, const char *source, int64_t most, GError **error)
{
    int64_t guesses;
    if (!guess_add(work_store(work), source, work_now(work), &guesses, error))
        return false;
    if (guesses == most)
        work_log(work, list_id, "source=<%s> result=ignored (it brought %" G_GINT64_FORMAT " unknown tokens within an "
                 "hour; until the next, tokens count only from the address that they were sent to)", source, most);
    return true;
}

bool guessing_note(Work *work, const char *list_id, GError **error)
{
    const Actor *actor = work_actor(work);
    if (actor->door != DOOR_MAIL)
        return true;
    return (!actor->address || note_source(work, list_id, actor->address, GUESSES_OF_ADDRESS, error)) &&
           (!actor->host || note_source(work, list_id, actor->host, GUESSES_OF_HOST, error));
}

bool guessing_allows(Work *work, const char *address, bool *allowed, GError **error)
{
    const Actor *actor = work_actor(work);
    int64_t by_address = 0, by_host = 0;
    *allowed = actor->door != DOOR_MAIL || (address && actor->address && address_same(address, actor->address));
    if (*allowed)
        return true;
    if ((actor->address && !guess_count(work_store(work), actor->address, work_now(work), &by_address, error)) ||
        (actor->host && !guess_count(work_store(work), actor->host, work_now(work), &by_host, error)))
        return false;
    *allowed = by_address < GUESSES_OF_ADDRESS && by_host < GUESSES_OF_HOST;
    return true;
}
