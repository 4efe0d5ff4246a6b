/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/hashed.h"

#include "base/clock.h"
#include "store/people/member.h"

#define ROOM 1000000                 /* addresses of all lists together, about 100 MB */
#define REREAD_US (60 * CLOCK_SECOND) /* a list is not read again sooner, whatever is asked for, */
#define REREAD_SHARE 20               /* nor before so many times as long as it took have passed */

/* A list's members, as they were read. */
typedef struct HashedKey {
    GHashTable *addresses; /* guint64 -> GPtrArray of char */
    unsigned count;
    int64_t again_at; /* monotonic */
} HashedKey;

struct Hashed {
    Store *store;
    GHashTable *lists; /* List-Id and local part, on whose length it depends who has a hash -> HashedKey */
    unsigned count;
};

static void known_free(void *data)
{
    HashedKey *known = data;
    g_hash_table_unref(known->addresses);
    g_free(known);
}

Hashed *hashed_new(Store *store)
{
    Hashed *hashed = g_new0(Hashed, 1);
    hashed->store = store;
    hashed->lists = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, known_free);
    return hashed;
}

void hashed_free(Hashed *hashed)
{
    if (!hashed)
        return;
    g_hash_table_unref(hashed->lists);
    g_free(hashed);
}

typedef struct HashedReading {
    HashedKey *known;
    const VerpList *list;
} HashedReading;

static bool keep(const Member *member, void *data)
{
    HashedReading *reading = data;
    if (!verp_is_hashed(reading->list, member->address))
        return true;
    uint64_t hash = verp_hash(member->address);
    GPtrArray *same = g_hash_table_lookup(reading->known->addresses, &hash);
    if (!same) {
        same = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(reading->known->addresses, g_memdup2(&hash, sizeof hash), same);
    }
    g_ptr_array_add(same, g_strdup(member->address));
    reading->known->count++;
    return true;
}

/* The members of a list with this hash, borrowed until the next call; NULL: there are none. */
static bool find_members(Hashed *hashed, const VerpList *list, uint64_t hash, const GPtrArray **addresses,
                         GError **error)
{
    g_autofree char *name = g_strconcat(list->list_id, " ", list->local, NULL);
    const HashedKey *before = g_hash_table_lookup(hashed->lists, name);
    *addresses = before ? g_hash_table_lookup(before->addresses, &hash) : NULL;
    if (*addresses || (before && clock_monotonic() < before->again_at))
        return true;

    HashedKey *known = g_new0(HashedKey, 1);
    known->addresses = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    int64_t began = clock_monotonic();
    if (!member_each(hashed->store, list->list_id, ROLE_MEMBER, keep, &(HashedReading){known, list}, error)) {
        known_free(known);
        return false;
    }
    known->again_at = clock_monotonic() + MAX(REREAD_US, REREAD_SHARE * (clock_monotonic() - began));
    hashed->count -= before ? before->count : 0;
    if (hashed->count + known->count > ROOM) { /* what is there of other lists goes */
        g_hash_table_remove_all(hashed->lists);
        hashed->count = 0;
    }
    hashed->count += known->count;
    g_hash_table_replace(hashed->lists, g_steal_pointer(&name), known);
    *addresses = g_hash_table_lookup(known->addresses, &hash);
    return true;
}

bool hashed_parse(Hashed *hashed, const HashedProof *proof, const char *detail, VerpRead *read, VerpResult *result,
                  GError **error)
{
    const GPtrArray *addresses;
    const VerpList *list = proof->list;
    *result = verp_parse(proof->keys, proof->purpose, list, detail, proof->now, read);
    if (*result != VERP_HASHED)
        return true;
    *result = VERP_FORGED;
    if (!find_members(hashed, list, read->hash, &addresses, error))
        return false;
    for (unsigned at = 0; addresses && at < addresses->len && *result == VERP_FORGED; at++)
        *result = verp_confirm(proof->keys, proof->purpose, list->list_id, addresses->pdata[at], proof->now, read);
    return true;
}
