/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/destination.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* A learnt or saved value that is older says nothing any more. */
#define WINDOW_MEMORY (3600 * CLOCK_SECOND)
#define DEATHS_MAX 30
/* How soon, and how late, an entry that waits for it is looked at again. */
#define RETURN_MIN CLOCK_SECOND
#define RETURN_MAX (900 * CLOCK_SECOND)
/* A further connection is tried after 1 s, 2 s, up to 64 s. */
#define FULL_DOUBLINGS 6u
/* So many refused connections mean that there are too many. */
#define REFUSED_SEVERAL 3
/* How long a number of connections that was borne is believed to be so. */
#define BORNE_MEMORY (60 * CLOCK_SECOND)
/* Seconds for which there may be mail in memory; some batches may in any case. */
#define IN_MEMORY 120
#define IN_MEMORY_LEAST 5
/* Every server takes a hundred recipients (RFC 5321, section 4.5.3.1.8). Fewer than SIZE_LIKELY may be about these
 * recipients, which it takes one by one: such a number is believed when it comes twice within a minute, and for an
 * hour. */
#define SIZE_LIKELY 10
#define SIZE_UNLIKELY_TWICE (INT64_C(60) * 1000000)
#define SIZE_UNLIKELY_MEMORY (INT64_C(3600) * 1000000)
/* Seconds of a learnt pace that may go at once: the loop does not come round for each recipient. */
#define PACED_BURST 0.1

const double destination_bounds[DESTINATION_HISTOGRAM] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                          0.5,   1,    2.5,   10,   60,  300};

Destination *destination_new(const char *name, const DestinationLimits *limits, GQueue *changes, int64_t now)
{
    Destination *destination = g_new0(Destination, 1);
    destination->name = g_strdup(name);
    destination->limits = limits;
    destination->ordered.per_second = -1;
    destination->last_used = now;
    destination->changes = changes;
    destination->change.data = destination;
    window_init(&destination->window, &limits->window);
    bucket_init(&destination->bucket, limits->burst, now);
    g_queue_init(&destination->idle);
    return destination;
}

void destination_free(Destination *destination)
{
    if (!destination)
        return;
    if (destination->changed)
        g_queue_unlink(destination->changes, &destination->change);
    if (destination->ready)
        g_sequence_remove(destination->ready);
    if (destination->asleep)
        g_sequence_remove(destination->asleep);
    g_clear_pointer(&destination->peers, g_sequence_free);
    parked_clear(&destination->parked);
    g_free(destination->name);
    g_free(destination->reason);
    g_free(destination->status);
    g_free(destination->last_reply);
    g_free(destination);
}

void destination_changed(Destination *destination)
{
    if (!destination->changes || destination->changed)
        return;
    destination->changed = true;
    g_queue_push_tail_link(destination->changes, &destination->change);
}

bool destination_dead(const Destination *destination)
{
    return destination->dead_until > 0;
}

bool destination_probing(const Destination *destination)
{
    return destination->deaths > 0 && !destination_dead(destination);
}

Rate destination_rate(Destination *destination, int64_t now)
{
    Rate rate = destination->ordered.per_second >= 0 ? destination->ordered : destination->limits->rate;
    rate.per_second /= MAX(destination->limits->share, 1);
    Rate learnt = pace_rate(&destination->pace, now);
    if (learnt.per_second > 0 && (rate.per_second <= 0 || learnt.per_second < rate.per_second))
        return learnt;
    return rate;
}

void destination_order_rate(Destination *destination, double per_second, int64_t now)
{
    destination->ordered.per_second = per_second;
    bucket_init(&destination->bucket, destination->limits->burst, now);
    destination_changed(destination);
}

void destination_inherit(Destination *destination, Destination *from, int64_t now)
{
    destination->suspended |= from->suspended;
    if (from->ordered.per_second >= 0)
        destination_order_rate(destination, from->ordered.per_second, now);
    from->suspended = false;
    from->ordered.per_second = -1;
    for (guint i = 0; from->parked.all && i < from->parked.all->len; i++)
        parked_add(&destination->parked, &g_array_index(from->parked.all, Parked, i), now);
    parked_clear(&from->parked);
    destination_changed(from);
    destination_changed(destination);
}

/* The learnt pace, and not the operator's word, is what limits. */
static bool paced(Destination *destination, int64_t now)
{
    double learnt = pace_rate(&destination->pace, now).per_second;
    return learnt > 0 && destination_rate(destination, now).per_second >= learnt;
}

/* Whether its rates allow one more batch. */
static bool rate_allows(Destination *destination, int64_t now, int64_t *wake_at)
{
    Rate rate = destination_rate(destination, now);
    double burst = paced(destination, now) ? MAX(rate.per_second * PACED_BURST, 1) : destination->limits->burst;
    int64_t until = now + bucket_wait(&destination->bucket, rate, burst, now);
    if (pace_rests(&destination->pace)) {
        if (destination->busy > 0)
            return false; /* its answer comes */
        until = MAX(until, destination->pace.rests_until);
    }
    if (until > now)
        *wake_at = until;
    return until <= now;
}

void destination_settle(Destination *destination, int64_t now)
{
    int64_t wake_at;
    rate_allows(destination, now, &wake_at);
}

void destination_relimit(Destination *destination)
{
    unsigned limit = destination->limits->window.limit;
    if (limit > 0)
        destination->window.size = MIN(destination->window.size, limit);
    destination_changed(destination);
}

bool destination_room(Destination *destination, int64_t now, int64_t *wake_at)
{
    *wake_at = 0;
    if (destination->suspended || destination->unresolved)
        return false;
    if (destination_dead(destination)) {
        *wake_at = destination->dead_until;
        return false;
    }
    unsigned most = destination_probing(destination) ? 1 : destination->window.size;
    if (destination->busy + destination->between >= most || !rate_allows(destination, now, wake_at))
        return false;
    bool known = destination->connections > 0;
    if (!known || destination->sessions < destination->connections || !g_queue_is_empty(&destination->idle))
        return true;
    /* Another one is tried from time to time, alone. */
    if (destination->full_until > now)
        *wake_at = destination->full_until;
    return destination->full_until <= now && destination->sessions == destination->connections;
}

bool destination_crowded(Destination *destination, int64_t now)
{
    size_t room = destination->window.size - MIN(destination->busy, destination->window.size);
    return destination->waiting > room && destination_rate(destination, now).per_second <= 0 &&
           destination->deaths == 0 && !destination->suspended;
}

size_t destination_most(Destination *destination, size_t allowed, int64_t now)
{
    const SizeLimits *sizes = &destination->sizes;
    double pace = pace_rate(&destination->pace, now).per_second;
    if (pace_rests(&destination->pace))
        return 1;
    if (sizes->recipients > 0 && now < sizes->recipients_until)
        allowed = MIN(allowed, sizes->recipients);
    if (pace > 0 && pace < (double)allowed)
        allowed = MAX((size_t)pace, 1);
    return allowed;
}

unsigned destination_most_transactions(const Destination *destination, unsigned allowed, int64_t now)
{
    const SizeLimits *sizes = &destination->sizes;
    bool known = sizes->transactions > 0 && now < sizes->transactions_until;
    return known && (allowed == 0 || sizes->transactions < allowed) ? sizes->transactions : allowed;
}

bool destination_learn_recipients(Destination *destination, unsigned taken, int64_t now)
{
    SizeLimits *sizes = &destination->sizes;
    if (taken == 0 || (sizes->recipients > 0 && now < sizes->recipients_until && taken >= sizes->recipients))
        return false;
    if (taken < SIZE_LIKELY && (sizes->unlikely != taken || now >= sizes->unlikely_until)) {
        sizes->unlikely = taken;
        sizes->unlikely_until = now + SIZE_UNLIKELY_TWICE;
        return false;
    }
    sizes->recipients = taken;
    sizes->recipients_until = now + (taken < SIZE_LIKELY ? SIZE_UNLIKELY_MEMORY : SIZE_MEMORY);
    return true;
}

static int64_t full_time(const Destination *destination)
{
    return CLOCK_SECOND << MIN(MAX(destination->refusals, 1) - 1, FULL_DOUBLINGS);
}

void destination_learn_connections(Destination *destination, unsigned others, int64_t now)
{
    if (destination->full_until <= now) { /* else it was told of together with another */
        destination->refusals++;
        destination->full_until = now + full_time(destination);
    }
    if (destination->connections == 0 || others < destination->connections)
        destination->connections = MAX(others, 1);
    destination->grew = false;
    destination->beyond = 0;
    destination_changed(destination);
}

void destination_turned_away(Destination *destination, unsigned others, int64_t now)
{
    bool borne = now < destination->borne_until && destination->established < destination->borne;
    bool one_more = destination->connections > 0 && others >= destination->connections;
    destination->turned_away++;
    destination->beyond += !borne;
    if (one_more || destination->beyond >= REFUSED_SEVERAL || destination->turned_away >= MAX(others, REFUSED_SEVERAL))
        destination_learn_connections(destination, others, now);
}

void destination_connecting(Destination *destination)
{
    destination->sessions++;
    destination_changed(destination);
}

void destination_connected(Destination *destination, int64_t now)
{
    unsigned limit = destination->limits->window.limit;
    destination->established++;
    destination->counts.connections++;
    destination->turned_away = 0;
    if (now >= destination->borne_until || destination->established >= destination->borne) {
        if (destination->established > destination->borne) /* so many stand beside each other */
            destination->beyond = 0;
        destination->borne = destination->established;
        destination->borne_until = now + BORNE_MEMORY;
    }
    destination_changed(destination);
    if (destination->connections == 0 || destination->sessions <= destination->connections)
        return;
    destination->connections = destination->sessions;
    if (destination->grew) /* the one before was borne, too: its limit is another now, and the next comes at once */
        destination->refusals = 0;
    destination->full_until = destination->grew ? now : now + full_time(destination);
    destination->grew = true;
    if (limit > 0 && destination->connections >= limit)
        destination->connections = destination->refusals = 0;
}

void destination_disconnected(Destination *destination, bool was_accepted)
{
    destination->sessions--;
    destination->established -= was_accepted;
    destination_changed(destination);
}

void destination_add_idle(Destination *destination, GList *session)
{
    g_queue_push_head_link(&destination->idle, session);
    destination_changed(destination);
}

void destination_remove_idle(Destination *destination, GList *session)
{
    g_queue_unlink(&destination->idle, session);
    destination_changed(destination);
}

void destination_between(Destination *destination, bool begins)
{
    destination->between += begins ? 1 : -1;
    destination_changed(destination);
}

void destination_learn_transactions(Destination *destination, unsigned taken, int64_t now)
{
    destination->sizes.transactions = MAX(taken, 1);
    destination->sizes.transactions_until = now + SIZE_MEMORY;
}

void destination_begin(Destination *destination, size_t recipients)
{
    destination->busy++;
    bucket_take(&destination->bucket, (double)recipients);
    destination_changed(destination);
}

void destination_end(Destination *destination)
{
    destination->busy--;
    destination_changed(destination);
}

void destination_set_reason(Destination *destination, const char *status, const char *reason)
{
    g_free(destination->reason);
    g_free(destination->status);
    destination->reason = g_strdup(reason);
    destination->status = g_strdup(status);
}

void destination_kill(Destination *destination, int64_t now, bool replied, double chance)
{
    destination_changed(destination);
    destination->window.size = 0;
    /* it was going away, rather than full */
    destination->connections = destination->refusals = 0;
    destination->turned_away = destination->beyond = destination->borne = 0;
    destination->deaths = MIN(destination->deaths + 1, DEATHS_MAX);
    destination->counts.deaths++;
    /* min, twice that, four times ...; up to a tenth more by chance, so that many do not come back at once. */
    const DestinationLimits *limits = destination->limits;
    int64_t time = limits->dead_min;
    for (unsigned death = 1; death < destination->deaths && time < limits->dead_max; death++)
        time *= 2;
    time = CLAMP(time, limits->dead_min, MAX(limits->dead_min, limits->dead_max));
    time += (int64_t)((double)time * 0.1 * chance);
    if (replied && destination->limits->asks_often)
        time = MIN(time, MIN(CLOCK_SECOND << (destination->deaths - 1), PACE_REST_MAX));
    destination->dead_until = now + time;
    if (destination->away_since == 0)
        destination->away_since = now;
}

/* Nothing keeps mail from it any more. */
static void well(Destination *destination, int64_t now)
{
    if (destination->suspended || destination->deaths > 0 || pace_rate(&destination->pace, now).per_second > 0)
        return;
    destination->away_since = 0;
    g_clear_pointer(&destination->reason, g_free);
    g_clear_pointer(&destination->status, g_free);
}

static void throttled(Destination *destination, const SiteReport *report, int64_t now)
{
    bool known = pace_rests(&destination->pace);
    destination->counts.throttled++;
    pace_refused(&destination->pace, report->refused, now);
    if (paced(destination, now)) /* what is refused costs nothing, and no debt outlasts it */
        bucket_init(&destination->bucket, 1, now);
    else
        bucket_take(&destination->bucket, -(double)report->refused);
    if (!known)
        window_shrink(&destination->window, &destination->limits->window);
    if (destination->away_since == 0)
        destination->away_since = now;
}

bool destination_tell(Destination *destination, const SiteReport *report, int64_t now, double chance)
{
    const WindowLimits *limits = &destination->limits->window;
    destination_changed(destination);
    destination->last_used = now;
    if (report->taken > 0)
        pace_taken(&destination->pace, report->taken, now);
    switch (report->news) {
    case SITE_GOOD:
        window_success(&destination->window, limits, destination->busy);
        destination->dead_until = 0;
        destination->deaths = 0;
        well(destination, now);
        return false;
    case SITE_THROTTLED:
        throttled(destination, report, now);
        return false;
    case SITE_FAILED:
        if (destination_dead(destination))
            return false;
        if (!window_failure(&destination->window, limits) &&
            (limits->cohorts == 0 || !destination_probing(destination)))
            return false;
        destination_kill(destination, now, report->replied, chance);
        return true;
    default:
        return false;
    }
}

void destination_set_unresolved(Destination *destination, bool unresolved)
{
    destination->unresolved = unresolved;
    destination_changed(destination);
}

void destination_suspend(Destination *destination, int64_t now)
{
    destination->suspended = true;
    if (destination->away_since == 0)
        destination->away_since = now;
    destination_changed(destination);
}

void destination_resume(Destination *destination, int64_t now)
{
    destination->suspended = false;
    destination_changed(destination);
    pace_clear(&destination->pace);
    bucket_init(&destination->bucket, destination->limits->burst, now);
    if (destination_dead(destination))
        destination_revive(destination);
    well(destination, now);
}

void destination_revive(Destination *destination)
{
    destination->dead_until = 0;
    destination->full_until = 0;
    destination_changed(destination);
    window_revive(&destination->window, &destination->limits->window, destination->busy);
}

/* A fifth of what it has lasted, within reason. */
int64_t destination_fifth(int64_t lasted)
{
    return CLAMP(lasted / 5, RETURN_MIN, RETURN_MAX);
}

int64_t destination_return_time(Destination *destination, int64_t now, double chance)
{
    int64_t trial = destination->dead_until;
    if (trial > now && destination->tried_at <= now && !destination->suspended) {
        destination->tried_at = trial;
        return trial;
    }
    int64_t lasted = destination->away_since > 0 ? now - destination->away_since : 0;
    int64_t wait = destination_fifth(lasted);
    return MAX(trial, now) + wait + (int64_t)((double)wait * 0.2 * chance);
}

int64_t destination_full_until(Destination *destination, int64_t now)
{
    double rate = destination_rate(destination, now).per_second;
    if (destination->waiting == 0)
        return 0;
    double seconds = 0;
    if (rate > 0)
        seconds = (double)destination->waiting_recipients / rate;
    if (destination->took > 0 && destination->window.size > 0)
        seconds = MAX(seconds, (double)destination->waiting * destination->took / destination->window.size);
    bool stands = destination->waited_since > 0 && now - destination->waited_since > IN_MEMORY * CLOCK_SECOND;
    if (stands || (seconds > IN_MEMORY && destination->waiting >= IN_MEMORY_LEAST))
        return now + CLAMP((int64_t)(seconds * CLOCK_SECOND), RETURN_MIN, RETURN_MAX);
    return 0;
}

void destination_observe(Destination *destination, double seconds, int64_t now)
{
    unsigned slot = 0;
    while (slot < DESTINATION_HISTOGRAM && seconds > destination_bounds[slot])
        slot++;
    destination->counts.seconds[slot]++;
    destination->counts.seconds_sum += seconds;
    destination->took += (seconds - destination->took) * (destination->took > 0 ? 0.1 : 1);
    destination->waited_since = now;
    destination->counts.transactions++;
}

const char *destination_state(Destination *destination, int64_t now)
{
    if (destination->suspended)
        return "suspended";
    if (destination_dead(destination))
        return "dead";
    if (destination_probing(destination))
        return "probing";
    if (destination->unresolved)
        return "resolving";
    return pace_rate(&destination->pace, now).per_second > 0 ? "throttled" : "alive";
}

/* --- memory ------------------------------------------------------------- */

bool destination_memorable(Destination *destination, int64_t now)
{
    return destination->suspended || destination->ordered.per_second >= 0 || destination->deaths > 0 ||
           pace_rate(&destination->pace, now).per_second > 0 || destination->sizes.recipients_until > now ||
           destination->sizes.transactions_until > now ||
           (now - destination->last_used < WINDOW_MEMORY && destination->counts.transactions > 0);
}

/* A pace, like a window, is saved for all processes that divide it: another number of them has the same together. */
json_t *destination_save(Destination *destination, int64_t now)
{
    const SizeLimits *sizes = &destination->sizes;
    double pace = pace_rate(&destination->pace, now).per_second;
    unsigned share = MAX(destination->limits->share, 1);
    json_t *saved = json_pack("{s:I,s:I,s:b,s:I,s:I,s:f,s:I,s:I,s:I}", "used", (json_int_t)destination->last_used,
                              "window", (json_int_t)destination->window.size * share, "suspended",
                              destination->suspended, "deaths", (json_int_t)destination->deaths, "dead_until",
                              (json_int_t)destination->dead_until, "tokens", destination->bucket.tokens, "filled",
                              (json_int_t)destination->bucket.filled, "away_since",
                              (json_int_t)destination->away_since, "refused", (json_int_t)destination->pace.refused);
    if (pace > 0) {
        json_object_set_new(saved, "pace", json_real(pace * share));
        json_object_set_new(saved, "refused_at", json_real(destination->pace.refused_at * share));
        json_object_set_new(saved, "pace_since", json_integer(destination->pace.since));
    }
    if (sizes->recipients > 0)
        json_object_set_new(saved, "transaction_recipients", json_integer(sizes->recipients));
    if (sizes->transactions > 0)
        json_object_set_new(saved, "connection_transactions", json_integer(sizes->transactions));
    json_object_set_new(saved, "recipients_until", json_integer(sizes->recipients_until));
    json_object_set_new(saved, "transactions_until", json_integer(sizes->transactions_until));
    if (destination->pipelining.pause_until > now)
        json_object_set_new(saved, "flights_pause", json_integer(destination->pipelining.pause_until));
    if (destination->ordered.per_second >= 0)
        json_object_set_new(saved, "rate", json_real(destination->ordered.per_second));
    if (destination->reason)
        json_object_set_new(saved, "reason", json_string(destination->reason));
    if (destination->status)
        json_object_set_new(saved, "status", json_string(destination->status));
    if (destination->last_reply)
        json_object_set_new(saved, "last_reply", json_string(destination->last_reply));
    return saved;
}

static char *text_of(const json_t *saved, const char *key)
{
    return g_strdup(json_string_value(json_object_get(saved, key)));
}

static double real_of(const json_t *saved, const char *key)
{
    return json_number_value(json_object_get(saved, key));
}

static int64_t time_of(const json_t *saved, const char *key)
{
    return json_integer_value(json_object_get(saved, key));
}

static unsigned size_of(const json_t *saved, const char *key)
{
    return (unsigned)CLAMP(json_integer_value(json_object_get(saved, key)), 0, 1000000);
}

bool destination_load(Destination *destination, const json_t *saved, int64_t now)
{
    int64_t used = time_of(saved, "used");
    double tokens = real_of(saved, "tokens");
    if (!json_is_object(saved) || used <= 0 || used > now + CLOCK_SECOND || !isfinite(tokens))
        return false;
    destination_changed(destination);
    const DestinationLimits *limits = destination->limits;
    unsigned share = MAX(limits->share, 1);
    int64_t window = (MIN(time_of(saved, "window"), 65536) + share - 1) / share;
    if (window > 0 && now - used < WINDOW_MEMORY)
        destination->window.size = (unsigned)(limits->window.limit > 0 ? MIN(window, limits->window.limit) : window);
    destination->suspended = json_is_true(json_object_get(saved, "suspended"));
    if (json_is_number(json_object_get(saved, "rate")))
        destination->ordered.per_second = MAX(real_of(saved, "rate"), 0);
    destination->last_used = used;
    g_free(destination->last_reply);
    destination->last_reply = text_of(saved, "last_reply");

    Pace *pace = &destination->pace;
    double rate = real_of(saved, "pace") / share, refused_at = real_of(saved, "refused_at") / share;
    int64_t refused = time_of(saved, "refused");
    pace_clear(pace);
    if (isfinite(rate) && isfinite(refused_at) && rate > 0 && refused_at > 0 && refused <= now) {
        pace->rate.per_second = MAX(rate, PACE_LEAST);
        pace->refused_at = refused_at;
        pace->refused = refused;
        pace->since = MIN(time_of(saved, "pace_since"), now);
    }
    SizeLimits *sizes = &destination->sizes;
    sizes->recipients = size_of(saved, "transaction_recipients");
    sizes->transactions = size_of(saved, "connection_transactions");
    sizes->recipients_until = MIN(time_of(saved, "recipients_until"), now + SIZE_MEMORY);
    sizes->transactions_until = MIN(time_of(saved, "transactions_until"), now + SIZE_MEMORY);

    int64_t filled = time_of(saved, "filled");
    if (filled > 0 && filled <= now)
        destination->bucket = (Bucket){MIN(tokens, limits->burst), filled};
    int64_t away = time_of(saved, "away_since");
    destination->away_since = away <= now ? away : 0;
    int64_t pause = time_of(saved, "flights_pause");
    destination->pipelining.pause_until = pause - now <= PIPELINING_PAUSE ? pause : 0;

    int64_t until = time_of(saved, "dead_until");
    destination->deaths = (unsigned)CLAMP(time_of(saved, "deaths"), 0, DEATHS_MAX);
    /* Not longer than it could have been set for: a clock that was wrong then must not kill it for years. */
    if (until > now && until - now <= 2 * MAX(limits->dead_max, limits->dead_min)) {
        destination->dead_until = until;
        destination->window.size = 0;
    }
    /* The reason is of a death or of a pace; when neither lasts, what it said is of no use. */
    if (destination_dead(destination) || pace_rate(pace, now).per_second > 0) {
        g_free(destination->reason);
        g_free(destination->status);
        destination->reason = text_of(saved, "reason");
        destination->status = text_of(saved, "status");
    }
    return true;
}
