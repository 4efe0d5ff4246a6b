/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* How many entries are claimed, and of which kind. */
#include <string.h>

#include "base/clock.h"
#include "runners/outgoing/out.h"

/* Entries claimed in one turn: sessions wait while they are read. */
#define CLAIM_MAX 64
/* With so many at hand, and so many for each that is under way, there is enough to choose from: then as many are
 * claimed as end, so that a backlog leaves at the same rate from its beginning to its end, and what was claimed is
 * still in the processor's caches when its turn comes; and more only when few have ended for a while, because what is
 * at hand is large or waits for slow servers. Of what waits for one relay that takes more than four thousand a second
 * no more than twice as many are kept: the rest, claimed while the disk stood still, would only fill memory. */
#define AT_HAND 96
#define AT_HAND_EACH 4
#define CLAIM_PAUSE (CLOCK_SECOND / 500)
/* Of those claimed in one turn, mail of our own leaves one in so many to other mail, which leaves it as large a part of
 * the places. */
#define SHARE 5
size_t out_busy(const Out *out)
{
    size_t count = 0;
    for (guint i = 0; i < out->transports->len; i++)
        count += transport_busy(out->transports->pdata[i]);
    return count;
}

static size_t at_hand_wanted(const Out *out)
{
    size_t wanted = 0;
    for (guint i = 0; i < out->transports->len; i++)
        wanted += AT_HAND_EACH * transport_in_flight(out->transports->pdata[i]);
    return MAX(wanted, AT_HAND);
}

/* More than need wait for the one relay. */
static bool spare_at_hand(const Out *out)
{
    return out->shared.alone && out->held.length > 2 * at_hand_wanted(out);
}

static bool enough_at_hand(const Out *out)
{
    return out->held.length >= at_hand_wanted(out);
}

/* How many entries may be claimed now. */
size_t out_claim_quota(const Out *out)
{
    if (out->stopping || out->held.length >= out->entries_max)
        return 0;
    size_t room = MAX(spare_at_hand(out) ? out->ended / 2 : out->ended, OUT_ASIDE_MIN);
    if (!enough_at_hand(out))
        room = out->held.length + OUT_ASIDE_MIN;
    return MIN(room, MIN(out->entries_max - out->held.length, CLAIM_MAX));
}

/* Microseconds until it is time for that. */
int64_t out_claim_pause(const Out *out)
{
    if (!enough_at_hand(out) || out->ended >= (spare_at_hand(out) ? 2 * OUT_ASIDE_MIN : OUT_ASIDE_MIN))
        return 0;
    int64_t left = out->claimed_at + CLAIM_PAUSE - clock_monotonic(); /* MAX would look at the clock twice */
    return MAX(left, 0);
}

/* The same for one source: however much there is of one kind of mail, places are kept for the other. */
size_t out_source_quota(const Out *out, unsigned source)
{
    bool notice = source == SOURCE_NOTICE;
    size_t held = notice ? out->notices : out->held.length - out->notices;
    size_t most = out->entries_max - out->entries_max / (notice ? 2 : SHARE);
    return held < most ? MIN(out_claim_quota(out), most - held) : 0;
}

/* There is something else to do than to claim: something is under way, or can be sent. */
bool out_engaged(const Out *out)
{
    size_t waiting = 0;
    for (guint i = 0; i < out->transports->len; i++)
        waiting += transport_scheduler(out->transports->pdata[i])->waiting;
    return waiting > 0 || out->marks.syncing || out_busy(out) > 0;
}

static size_t pick(Out *out, unsigned source, size_t limit)
{
    return claims_pick(&out->claims, out->inboxes[source], source, limit);
}

static bool is_asked(const Out *out, const EntryName *name, int64_t now)
{
    char hash[HASH_DIGITS + 1];
    name_hash_format(name->hash, hash);
    const int64_t *until = g_hash_table_lookup(out->asked, hash);
    return until && now < *until;
}

void out_pick_all(Out *out)
{
    /* Entries for which there is room again come first, though they are due later. */
    guint taken = 0;
    for (size_t most = out_claim_quota(out) / 2; taken < out->recalled->len && taken < most; taken++) {
        const Parked *parked = &g_array_index(out->recalled, Parked, taken);
        EntryName name = {.due = parked->due};
        memcpy(name.hash, parked->hash, sizeof name.hash);
        claims_recall(&out->claims, out->inboxes[parked->source], parked->source, &name);
    }
    g_array_remove_range(out->recalled, 0, taken);

    /* Our own mail has most of what may be claimed then. Of the rest out and retry each get half, and what the other
     * does not need. They take turns. */
    size_t quota = out_source_quota(out, SOURCE_NOTICE);
    size_t own = pick(out, SOURCE_NOTICE, quota - quota / SHARE);
    quota = out_source_quota(out, SOURCE_OUT);
    quota -= MIN(own, quota);
    unsigned one = out->first;
    unsigned other = 1 - one;
    quota -= pick(out, one, (quota + 1) / 2);
    quota -= pick(out, other, quota);
    pick(out, one, quota);
    out->first = other;
    if (g_hash_table_size(out->asked) == 0)
        return;

    /* The operator's commands get the entries that they asked for; those that none has taken in time are picked. */
    int64_t now = clock_monotonic();
    for (unsigned source = 0; source < SOURCES; source++) {
        GArray *picked = out->claims.picked[source], *kept = out->kept_back[source];
        g_array_append_vals(picked, kept->data, kept->len);
        g_array_set_size(kept, 0);
        for (guint i = picked->len; i-- > 0;) {
            Claim claim = g_array_index(picked, Claim, i);
            if (!is_asked(out, &claim.name, now))
                continue;
            g_array_append_val(kept, claim);
            g_array_remove_index(picked, i);
        }
    }
    if (now >= out->asked_until)
        g_hash_table_remove_all(out->asked);
}
