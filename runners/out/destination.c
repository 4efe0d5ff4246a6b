/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/destination.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* A learnt or saved value that is older says nothing any more. */
#define WINDOW_MEMORY (3600 * CLOCK_SECOND)
#define DEATHS_MAX 30

const double destination_bounds[DESTINATION_HISTOGRAM] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                          0.5,   1,    2.5,   10,   60,  300};

Destination *destination_new(const char *name, const DestinationLimits *limits, int64_t now)
{
    Destination *destination = g_new0(Destination, 1);
    destination->name = g_strdup(name);
    destination->limits = limits;
    destination->ordered.per_second = -1;
    destination->last_used = now;
    window_init(&destination->window, &limits->window);
    bucket_init(&destination->bucket, limits->burst, now);
    g_queue_init(&destination->idle);
    return destination;
}

void destination_free(Destination *destination)
{
    if (!destination)
        return;
    g_clear_pointer(&destination->peers, g_sequence_free);
    g_free(destination->name);
    g_free(destination->reason);
    g_free(destination->status);
    g_free(destination->last_reply);
    g_free(destination);
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
}

void destination_inherit(Destination *destination, Destination *from, int64_t now)
{
    destination->suspended |= from->suspended;
    if (from->ordered.per_second >= 0)
        destination_order_rate(destination, from->ordered.per_second, now);
    from->suspended = false;
    from->ordered.per_second = -1;
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
    if (destination->busy >= destination->window.size)
        return false;
    int64_t wait = bucket_wait(&destination->bucket, destination_rate(destination, now), destination->limits->burst,
                               now);
    if (wait > 0) {
        *wake_at = now + wait;
        return false;
    }
    if (destination->refusals == 0 || !g_queue_is_empty(&destination->idle))
        return true;
    /* It takes no further connection: another one is tried from time to time, alone. */
    if (destination->full_until > now)
        *wake_at = destination->full_until;
    return destination->full_until <= now && destination->sessions == destination->established;
}

bool destination_crowded(Destination *destination, int64_t now)
{
    size_t room = destination->window.size - MIN(destination->busy, destination->window.size);
    return destination->waiting > room && destination_rate(destination, now).per_second <= 0 &&
           destination->deaths == 0 && !destination->suspended;
}

void destination_begin(Destination *destination, size_t recipients)
{
    destination->busy++;
    bucket_take(&destination->bucket, (double)recipients);
}

void destination_end(Destination *destination)
{
    destination->busy--;
}

void destination_set_reason(Destination *destination, const char *status, const char *reason)
{
    g_free(destination->reason);
    g_free(destination->status);
    destination->reason = g_strdup(reason);
    destination->status = g_strdup(status);
}

/* min, twice that, four times ...; up to a tenth more by chance, so that many do not come back at once. */
static int64_t dead_time(const Destination *destination, double chance)
{
    const DestinationLimits *limits = destination->limits;
    int64_t time = limits->dead_min;
    for (unsigned death = 1; death < destination->deaths && time < limits->dead_max; death++)
        time *= 2;
    time = CLAMP(time, limits->dead_min, MAX(limits->dead_min, limits->dead_max));
    return time + (int64_t)((double)time * 0.1 * chance);
}

void destination_kill(Destination *destination, int64_t now, double chance)
{
    destination->window.size = 0;
    destination->deaths = MIN(destination->deaths + 1, DEATHS_MAX);
    destination->counts.deaths++;
    destination->dead_until = now + dead_time(destination, chance);
}

static void live(Destination *destination)
{
    destination->dead_until = 0;
    destination->deaths = 0;
    g_clear_pointer(&destination->reason, g_free);
    g_clear_pointer(&destination->status, g_free);
}

bool destination_tell(Destination *destination, SiteNews news, size_t recipients, int64_t now, double chance)
{
    const WindowLimits *limits = &destination->limits->window;
    destination->last_used = now;
    switch (news) {
    case SITE_GOOD:
        window_success(&destination->window, limits, destination->busy);
        pace_success(&destination->pace, (unsigned)recipients, now);
        live(destination);
        return false;
    case SITE_THROTTLED:
        destination->counts.throttled++;
        pace_refused(&destination->pace, now);
        window_shrink(&destination->window, limits);
        return false;
    case SITE_FAILED:
        if (destination_dead(destination))
            return false;
        if (!window_failure(&destination->window, limits) &&
            (limits->cohorts == 0 || !destination_probing(destination)))
            return false;
        destination_kill(destination, now, chance);
        return true;
    default:
        return false;
    }
}

void destination_revive(Destination *destination)
{
    destination->dead_until = 0;
    destination->full_until = 0;
    window_revive(&destination->window, &destination->limits->window, destination->busy);
}

void destination_observe(Destination *destination, double seconds)
{
    unsigned slot = 0;
    while (slot < DESTINATION_HISTOGRAM && seconds > destination_bounds[slot])
        slot++;
    destination->counts.seconds[slot]++;
    destination->counts.seconds_sum += seconds;
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
           pace_rate(&destination->pace, now).per_second > 0 ||
           (now - destination->last_used < WINDOW_MEMORY && destination->counts.transactions > 0);
}

json_t *destination_save(Destination *destination, int64_t now)
{
    json_t *saved = json_pack("{s:I,s:I,s:b,s:I,s:I,s:f,s:I,s:f,s:I}", "used", (json_int_t)destination->last_used,
                              "window", (json_int_t)destination->window.size, "suspended", destination->suspended,
                              "deaths", (json_int_t)destination->deaths, "dead_until",
                              (json_int_t)destination->dead_until, "tokens", destination->bucket.tokens, "filled",
                              (json_int_t)destination->bucket.filled, "pace",
                              pace_rate(&destination->pace, now).per_second, "refused",
                              (json_int_t)destination->pace.refused);
    if (destination->flights.pause_until > now)
        json_object_set_new(saved, "flights_pause", json_integer(destination->flights.pause_until));
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

static void load_death(Destination *destination, const json_t *saved, int64_t now)
{
    int64_t until = time_of(saved, "dead_until");
    destination->deaths = (unsigned)CLAMP(time_of(saved, "deaths"), 0, DEATHS_MAX);
    /* Not longer than it could have been set for: a clock that was wrong then must not kill it for years. */
    if (until > now && until - now <= 2 * MAX(destination->limits->dead_max, destination->limits->dead_min)) {
        destination->dead_until = until;
        destination->window.size = 0;
        g_free(destination->reason);
        g_free(destination->status);
        destination->reason = text_of(saved, "reason");
        destination->status = text_of(saved, "status");
    }
}

bool destination_load(Destination *destination, const json_t *saved, int64_t now)
{
    int64_t used = time_of(saved, "used");
    double tokens = real_of(saved, "tokens");
    double pace = real_of(saved, "pace");
    if (!json_is_object(saved) || used <= 0 || used > now + CLOCK_SECOND || !isfinite(tokens) || !isfinite(pace))
        return false;
    const WindowLimits *limits = &destination->limits->window;
    int64_t window = time_of(saved, "window");
    if (window > 0 && now - used < WINDOW_MEMORY)
        destination->window.size = (unsigned)(limits->limit > 0 ? MIN(window, limits->limit) : MIN(window, 65536));
    destination->suspended = json_is_true(json_object_get(saved, "suspended"));
    if (json_is_number(json_object_get(saved, "rate")))
        destination->ordered.per_second = MAX(real_of(saved, "rate"), 0);
    destination->last_used = used;
    g_free(destination->last_reply);
    destination->last_reply = text_of(saved, "last_reply");
    destination->pace.rate.per_second = MAX(pace, 0);
    destination->pace.refused = time_of(saved, "refused");
    int64_t filled = time_of(saved, "filled");
    if (filled > 0 && filled <= now)
        destination->bucket = (Bucket){MIN(tokens, destination->limits->burst), filled};
    int64_t pause = time_of(saved, "flights_pause");
    destination->flights.pause_until = pause - now <= FLIGHTS_PAUSE ? pause : 0;
    load_death(destination, saved, now);
    return true;
}
