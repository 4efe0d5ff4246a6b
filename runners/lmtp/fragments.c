/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/lmtp/fragments.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "posting/transport.h"

#define COUNT_TRUST_US (CLOCK_SECOND / 5)  /* how old a count of what waits may be */
#define COUNT_SHARE 10                     /* counting takes at most one part in so many of our time */
#define LET_IN_US (600 * CLOCK_SECOND)     /* after which a set that is not in the index will not come there */
#define FULL "452 4.3.1 Too many incomplete messages wait for their parts here; try again later"

/* A set whose first part was let in, and that the index did not know then. */
typedef struct LetIn {
    char *list_id, *sender;
    int64_t time; /* monotonic */
} LetIn;

struct Fragments {
    const Config *config;
    Lists *lists;
    GHashTable *let_in; /* key -> LetIn */
    FragmentCount waiting; /* of this host */
    int64_t since;         /* octets let in since that count */
    int64_t counted_at, count_cost; /* monotonic; microseconds that it took */
};

static void let_in_free(gpointer data)
{
    LetIn *set = data;
    g_free(set->list_id);
    g_free(set->sender);
    g_free(set);
}

Fragments *fragments_new(const Config *config, Lists *lists)
{
    Fragments *fragments = g_new0(Fragments, 1);
    fragments->config = config;
    fragments->lists = lists;
    fragments->let_in = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, let_in_free);
    return fragments;
}

void fragments_free(Fragments *fragments)
{
    if (!fragments)
        return;
    g_hash_table_unref(fragments->let_in);
    g_free(fragments);
}

static bool is_known(Store *store, const char *key, bool *known, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(FragmentSet) set = fragment_find(store, key, &fault);
    *known = set != NULL;
    if (set || g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    g_propagate_error(error, g_steal_pointer(&fault));
    return false;
}

/* Sets that were begun may still be completed when no new one may be opened: a quarter of the room is theirs. */
static bool is_overfull(const Fragments *fragments)
{
    int64_t most = (int64_t)config_size(fragments->config, "defragment", "max_waiting");
    return fragments->waiting.octets + fragments->since >= most + most / 4;
}

/* Forgets the sets let in (of this sender, or of all where it is NULL) that have come into the index. */
static bool forget_indexed(Fragments *fragments, Store *store, const char *sender, GError **error)
{
    int64_t now = clock_monotonic();
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, fragments->let_in);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const LetIn *set = value;
        if (sender && strcmp(set->sender, sender) != 0)
            continue;
        bool known = now - set->time > LET_IN_US;
        if (!known && !is_known(store, key, &known, error))
            return false;
        if (known)
            g_hash_table_iter_remove(&iter);
    }
    return true;
}

/* Counts anew what was counted longer ago than age, and forgets what has come into the index. */
static bool refresh(Fragments *fragments, Store *store, int64_t age, GError **error)
{
    int64_t now = clock_monotonic();
    age = MAX(age, COUNT_SHARE * fragments->count_cost);
    if (fragments->counted_at != 0 && now - fragments->counted_at < age)
        return true;
    const char *host = config_string(fragments->config, "site", "hostname");
    if (!forget_indexed(fragments, store, NULL, error))
        return false;
    /* After that: what comes into the index meanwhile is counted twice, and not left out. */
    if (!fragment_count(store, host, &fragments->waiting, error))
        return false;
    fragments->since = 0;
    fragments->counted_at = clock_monotonic();
    fragments->count_cost = fragments->counted_at - now;
    return true;
}

typedef struct Room {
    int64_t sender, list, host, octets;
} Room;

static void count_let_in(const Fragments *fragments, const FragmentOffer *offer, Room *used)
{
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, fragments->let_in);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const LetIn *set = value;
        used->sender += strcmp(set->sender, offer->sender) == 0;
        used->list += strcmp(set->list_id, offer->list_id) == 0;
        used->host++;
    }
}

static bool has_room(Fragments *fragments, Store *store, const FragmentOffer *offer, bool *room, GError **error)
{
    const Config *config = fragments->config;
    Room most = {config_integer(config, "defragment", "sets_per_sender"),
                 config_integer(config, "defragment", "sets_per_list"),
                 config_integer(config, "defragment", "sets_per_host"),
                 (int64_t)config_size(config, "defragment", "max_waiting")};
    Room used = {.host = fragments->waiting.sets, .octets = fragments->waiting.octets + fragments->since};
    *room = false;
    if (used.host >= most.host || used.octets >= most.octets)
        return true;
    if (!fragment_count_sender(store, offer->sender, most.sender, &used.sender, error) ||
        !fragment_count_list(store, offer->list_id, most.list, &used.list, error))
        return false;
    if (used.sender >= most.sender || used.list >= most.list)
        return true;
    count_let_in(fragments, offer, &used);
    *room = used.sender < most.sender && used.list < most.list && used.host < most.host && used.octets < most.octets;
    return true;
}

static bool admit(Fragments *fragments, Store *store, const FragmentOffer *offer, FragmentAnswer *answer,
                  GError **error)
{
    const char *key = answer->key;
    bool known = g_hash_table_contains(fragments->let_in, key), room = false;
    if (!refresh(fragments, store, COUNT_TRUST_US, error) || (!known && !is_known(store, key, &known, error)))
        return false;
    fragments->since += (int64_t)offer->size;
    if (is_overfull(fragments))
        answer->refusal = g_strdup(FULL);
    if (known || answer->refusal)
        return true;
    if (!has_room(fragments, store, offer, &room, error))
        return false;
    /* What has come into the index since is counted twice. A slow machine recounts rarely; of this sender there are
     * few, so those are looked up in any case. */
    if (!room && (!refresh(fragments, store, 0, error) ||
                  !forget_indexed(fragments, store, offer->sender, error) ||
                  !has_room(fragments, store, offer, &room, error)))
        return false;
    if (!room) {
        answer->refusal = g_strdup(FULL);
        return true;
    }
    LetIn *set = g_new0(LetIn, 1);
    *set = (LetIn){g_strdup(offer->list_id), g_strdup(offer->sender), clock_monotonic()};
    g_hash_table_insert(fragments->let_in, g_strdup(key), set);
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
        if (list->partial_action == PARTIAL_REFUSE)
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
    g_propagate_error(error, g_steal_pointer(&why));
    return false;
}
