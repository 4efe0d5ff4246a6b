/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/site/canary_state.h"

#include <arpa/inet.h>
#include <string.h>

#include "lists/site/canary_shard.h"
#include "store/hosts/canary.h"

#define DIMENSIONS 3 /* of a way: the family, out and in */
/* In so long, some 20 mails come in: an MTA that chooses by chance uses both kinds of address. */
#define LIFETIMES 4

static CanaryState *nth(const GArray *all, guint at)
{
    return &g_array_index(all, CanaryState, at);
}

static CanaryState part_of(const Canary *row, int dimension)
{
    CanaryState part = {.slice = -1};
    if (dimension == 0) {
        part.part = CANARY_FAMILY;
        g_strlcpy(part.name, row->family, sizeof part.name);
    } else {
        part.part = dimension == 1 ? CANARY_OUT : CANARY_IN;
        part.slice = dimension == 1 ? row->out : row->in;
        g_strlcpy(part.name, dimension == 1 ? "out" : "in", sizeof part.name);
    }
    return part;
}

/* NULL: not there. */
static CanaryState *find(const GArray *all, const CanaryState *part)
{
    for (guint at = 0; at < all->len; at++)
        if (nth(all, at)->part == part->part && nth(all, at)->slice == part->slice &&
            strcmp(nth(all, at)->name, part->name) == 0)
            return nth(all, at);
    return NULL;
}

static void note(CanaryState *part, const Canary *row)
{
    part->sent_at = MAX(part->sent_at, row->sent_at);
    part->back_at = MAX(part->back_at, row->back_at);
}

/* Of one family or slice there is nothing to tell but what is told of the whole way. */
static bool is_one_of_several(const GPtrArray *rows, int dimension)
{
    const CanaryState first = part_of(rows->pdata[0], dimension);
    for (guint at = 1; at < rows->len; at++) {
        const CanaryState other = part_of(rows->pdata[at], dimension);
        if (other.slice != first.slice || strcmp(other.name, first.name) != 0)
            return true;
    }
    return false;
}

static int compare(const void *a, const void *b)
{
    const CanaryState *one = a, *other = b;
    if (one->part != other->part)
        return one->part < other->part ? -1 : 1;
    if (one->slice != other->slice)
        return one->slice < other->slice ? -1 : 1;
    return strcmp(one->name, other->name);
}

static GArray *parts_of(const GPtrArray *rows)
{
    GArray *all = g_array_new(FALSE, TRUE, sizeof(CanaryState));
    CanaryState whole = {.part = CANARY_WHOLE, .name = "way", .slice = -1};
    for (guint at = 0; at < rows->len; at++)
        note(&whole, rows->pdata[at]);
    if (rows->len > 0)
        g_array_append_val(all, whole);
    for (int dimension = 0; rows->len > 0 && dimension < DIMENSIONS; dimension++) {
        if (!is_one_of_several(rows, dimension))
            continue;
        for (guint at = 0; at < rows->len; at++) {
            const CanaryState part = part_of(rows->pdata[at], dimension);
            if (!find(all, &part))
                g_array_append_val(all, part);
            note(find(all, &part), rows->pdata[at]);
        }
    }
    g_array_sort(all, compare);
    return all;
}

/* The only part of the way of a mail through which none came back since; NULL: there are several, or none. */
static CanaryState *left_to_blame(const GArray *all, const Canary *row)
{
    CanaryState *left = NULL;
    for (int dimension = 0; dimension < DIMENSIONS; dimension++) {
        const CanaryState wanted = part_of(row, dimension);
        CanaryState *part = find(all, &wanted);
        if (!part || part->back_at > row->missing_since)
            continue;
        if (left)
            return NULL;
        left = part;
    }
    return left;
}

GArray *canary_state_of(const GPtrArray *rows)
{
    g_autoptr(GPtrArray) mails = g_ptr_array_new(), doors = g_ptr_array_new();
    for (guint at = 0; at < rows->len; at++)
        if (!canary_queue(rows->pdata[at]))
            g_ptr_array_add(canary_is_mail(rows->pdata[at]) ? mails : doors, rows->pdata[at]);
    GArray *all = parts_of(mails);

    for (guint at = 0; at < mails->len; at++) { /* who is to blame */
        const Canary *row = mails->pdata[at];
        if (!row->missing_since)
            continue;
        CanaryState *whole = nth(all, 0);
        CanaryState *blamed = whole->back_at > row->missing_since ? left_to_blame(all, row) : whole;
        if (blamed && (blamed->missing_since == 0 || row->missing_since < blamed->missing_since))
            blamed->missing_since = row->missing_since;
    }
    /* One kind of address alone is not told from the whole way. */
    for (guint at = 0; doors->len > 1 && at < doors->len; at++) {
        const Canary *row = doors->pdata[at];
        CanaryState part = {.part = CANARY_BY_LMTP, .slice = -1, .sent_at = row->back_at, .back_at = row->back_at};
        part.missing_since = row->missing_since;
        g_strlcpy(part.name, row->family, sizeof part.name);
        g_array_append_val(all, part);
    }
    for (guint at = 0; at < rows->len; at++) {
        const Canary *row = rows->pdata[at];
        const char *queue = canary_queue(row);
        CanaryState part = {.part = CANARY_OTHER, .slice = row->out, .missing_since = row->missing_since};
        if (!queue)
            continue;
        g_strlcpy(part.name, queue, sizeof part.name);
        note(&part, row);
        g_array_append_val(all, part);
    }
    return all;
}

GArray *canary_state(Store *store, const char *host, GError **error)
{
    g_autoptr(GPtrArray) rows = canary_all(store, host, error);
    return rows ? canary_state_of(rows) : NULL;
}

/* ---- by LMTP ---- */

/* Return the kind of the address with which peer begins; NULL: it begins with none. */
static const char *family_of(const char *peer)
{
    struct in6_addr address;
    g_autofree char *host = g_strndup(peer, strcspn(peer, " "));
    if (inet_pton(AF_INET, host, &address) == 1)
        return "ipv4";
    if (inet_pton(AF_INET6, host, &address) == 1)
        return IN6_IS_ADDR_V4MAPPED(&address) ? "ipv4" : "ipv6";
    return NULL;
}

bool canary_door_note(Store *store, const Config *config, const char *list_id, const char *peer, int64_t now,
                      GError **error)
{
    const char *family = canary_is_list(list_id) ? family_of(peer) : NULL;
    return !family || !config_bool(config, "watch", "both_families") ||
           canary_came(store, config_string(config, "site", "hostname"), family, now,
                       LIFETIMES * canary_lifetime(config), error);
}
