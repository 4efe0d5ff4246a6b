/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/lmtp/fragments.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/fail.h"
#include "posting/setup.h"
#include "store/lists/list_setting.h"
#include "store/posts/fragment.h"

#define COUNT_TRUST_US (CLOCK_SECOND / 5)  /* how old a count of what waits may be */
#define COUNT_SHARE 10                     /* counting takes at most one part in so many of our time */
#define FULL "452 4.3.1 Too many parts of incomplete messages wait here; try again later"

struct Fragments {
    const Config *config;
    Lists *lists;
    FragmentCount waiting; /* of this host */
    int64_t since;         /* bytes let in since that count */
    int64_t counted_at, count_cost; /* monotonic; microseconds that it took */
};

Fragments *fragments_new(const Config *config, Lists *lists)
{
    Fragments *fragments = g_new0(Fragments, 1);
    fragments->config = config;
    fragments->lists = lists;
    return fragments;
}

void fragments_free(Fragments *fragments)
{
    g_free(fragments);
}

static bool is_known(Store *store, const char *key, bool *known, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(FragmentSet) set = fragment_find(store, key, &fault);
    *known = set != NULL;
    return set || fail_unless(error, FAIL_MISSING, &fault);
}

/* Bytes alone are counted here: where too many sets wait, the runner gives up old ones. Sets that were begun may still
 * be completed when no new one may be opened: a quarter of the room is theirs. */
static bool admit(Fragments *fragments, Store *store, const FragmentOffer *offer, FragmentAnswer *answer,
                  GError **error)
{
    int64_t most = (int64_t)config_size(fragments->config, "defragment", "max_waiting");
    int64_t now = clock_monotonic(), age = MAX(COUNT_TRUST_US, COUNT_SHARE * fragments->count_cost);
    if (fragments->counted_at == 0 || now - fragments->counted_at >= age) {
        const char *host = config_string(fragments->config, "site", "hostname");
        if (!fragment_count(store, host, &fragments->waiting, error))
            return false;
        fragments->since = 0;
        fragments->counted_at = clock_monotonic();
        fragments->count_cost = fragments->counted_at - now;
    }
    int64_t used = fragments->waiting.octets + fragments->since;
    bool room = used < most;
    if (!room && used + (int64_t)offer->size < most + most / 4 && !is_known(store, answer->key, &room, error))
        return false;
    if (room)
        fragments->since += (int64_t)offer->size;
    else
        answer->refusal = g_strdup(FULL);
    return true;
}

static bool decide(Fragments *fragments, Store *store, const FragmentOffer *offer, FragmentAnswer *answer,
                   GError **error)
{
    const Partial *partial = offer->partial;
    *answer = (FragmentAnswer){0};
    g_autoptr(List) list = list_by_id(store, offer->list_id, error);
    if (!list)
        return false;
    if (!transport_defragments(fragments->config, list)) {
        if (list->settings->partial_action == PARTIAL_REFUSE)
            answer->refusal = g_strdup("550 5.6.1 Parts of messages (message/partial) are not accepted here");
        return true;
    }
    int64_t most = config_integer(fragments->config, "defragment", "max_parts");
    if (partial->fault)
        answer->refusal = g_strdup_printf("554 5.6.0 This part of a message cannot be accepted: %s", partial->fault);
    else if (MAX(partial->number, partial->total) > most)
        answer->refusal = g_strdup_printf("554 5.6.0 A message may have at most %" PRId64 " parts here", most);
    if (answer->refusal)
        return true;
    answer->key = partial_set_key(offer->list_id, offer->sender, partial->id);
    bool told = admit(fragments, store, offer, answer, error);
    if (!told || answer->refusal)
        g_clear_pointer(&answer->key, g_free);
    return told;
}

bool fragments_decide(Fragments *fragments, const FragmentOffer *offer, FragmentAnswer *answer, GError **error)
{
    g_autoptr(GError) why = NULL;
    Store *store = lists_store(fragments->lists, error);
    if (!store)
        return false;
    if (decide(fragments, store, offer, answer, &why))
        return true;
    lists_give_up(fragments->lists, why);
    return fail_with(error, &why);
}
