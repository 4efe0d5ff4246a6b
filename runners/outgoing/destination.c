/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/destination.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/fail.h"

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

/* --- the window ---------------------------------------------------------- */

/*
 * The window is how many deliveries may be under way to the destination at once, and whether it is dead, from the
 * results of earlier deliveries. A success adds the positive feedback to a sum, and the window grows when the sum has
 * reached 1; so it changes at the end of its cycle. A failure takes the negative feedback away, and the window shrinks
 * at once, then again after each full 1; a change to one side forgets the sum of the other. Each failure also adds
 * 1/window to the cohorts: a measure of how many full windows failed in a row. At the limit of cohorts the destination
 * is dead. Sums are compared with a tolerance, so that ten tenths make one.
 */

#define EPSILON 1e-9

static double feedback_at(const Feedback *feedback, unsigned window)
{
    switch (feedback->index) {
    case FEEDBACK_CONCURRENCY:
        return feedback->value / window;
    case FEEDBACK_SQRT_CONCURRENCY:
        return feedback->value / sqrt(window);
    default:
        return feedback->value;
    }
}

static void init_window(Window *window, const WindowLimits *limits)
{
    unsigned initial = MAX(limits->initial, 1);
    *window = (Window){.size = limits->limit > 0 ? MIN(initial, limits->limit) : initial};
}

static void revive_window(Window *window, const WindowLimits *limits, unsigned busy)
{
    init_window(window, limits);
    if (busy > 0) /* these are under way already: a smaller window would only forbid to replace them */
        window->size = limits->limit > 0 ? MIN(busy, limits->limit) : busy;
}

/* Rounding leaves crumbs; they are nothing. */
static double swept(double sum)
{
    return fabs(sum) < EPSILON ? 0 : sum;
}

static void grow_window(Window *window, const WindowLimits *limits, unsigned busy)
{
    window->cohorts = 0;
    if (window->size == 0) {
        revive_window(window, limits, busy);
        return;
    }
    /* A window that is not filled proves nothing about a larger one, so it does not grow ahead of the demand. Else a
     * quiet hour of single mails would open it to the limit, and the next large list would meet the server all at
     * once. */
    bool room = limits->limit == 0 || window->size < limits->limit;
    if (!room || window->size >= busy + limits->initial)
        return;
    window->success += feedback_at(&limits->positive, window->size);
    while (window->success >= 1 - EPSILON) {
        window->size++;
        window->success = swept(window->success - 1);
        window->failure = 0; /* the failures of a smaller window say nothing of this one */
    }
    if (limits->limit > 0)
        window->size = MIN(window->size, limits->limit);
}

static void shrink_window(Window *window, const WindowLimits *limits)
{
    if (window->size == 0)
        return;
    /* The first failure shrinks the window at once, and growth waits for the end of its cycle: too much concurrency
     * costs the other side, too little only us. */
    window->failure = swept(window->failure - feedback_at(&limits->negative, window->size));
    while (window->failure < -EPSILON) {
        if (window->size > 1)
            window->size--;
        window->success = 0;
        window->failure = swept(window->failure + 1);
    }
}

/* --- rates --------------------------------------------------------------- */

static const struct {
    const char *name;
    double seconds;
} units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

bool rate_parse(const char *text, Rate *rate, GError **error)
{
    if (config_rate_parse(text, &rate->per_second))
        return true;
    rate->per_second = 0;
    return fail(error, FAIL_CONFIG, "found \"%s\"; allowed is " CONFIG_RATE_ALLOWED, text);
}

/* In the unit that makes a number of at least 1, if there is one. */
char *rate_print(Rate rate)
{
    if (rate.per_second <= 0)
        return g_strdup("none");
    size_t unit = 0;
    while (unit + 1 < G_N_ELEMENTS(units) && rate.per_second * units[unit].seconds < 1 - 1e-9)
        unit++;
    return g_strdup_printf("%.4g/%s", rate.per_second * units[unit].seconds, units[unit].name);
}

int64_t bucket_wait(Bucket *bucket, Rate rate, double burst, int64_t now)
{
    double most = MAX(burst, 1);
    if (rate.per_second <= 0) { /* full when there is a limit again */
        *bucket = (Bucket){most, now};
        return 0;
    }
    double passed = (double)MAX(now - bucket->filled, 0) / CLOCK_SECOND;
    bucket->tokens = MIN(bucket->tokens + passed * rate.per_second, most);
    bucket->filled = now;
    double missing = 1 - bucket->tokens;
    if (missing <= 1e-9)
        return 0;
    return (int64_t)ceil(missing / rate.per_second * CLOCK_SECOND);
}

/* --- a pace that is learnt ----------------------------------------------- */

/*
 * The pace is how many recipients a second the destination bears. It is learnt from refusals that speak of rate or
 * volume; without such a refusal there is no limit.
 *
 * A refusal makes the destination rest: for 1 s, then 2 s, 4 s, at most PACE_REST_MAX, while nothing but refusals
 * comes. What was under way together and is refused during the rest counts as one refusal. After the rest one recipient
 * is tried. When it is taken, mail goes on at nine tenths of what the destination was found to bear. That is what it
 * took in the minute before the refusal, but no less than half of the refused rate. Where enough was taken to know, it
 * may be as low as a quarter. So it falls by steps, and one bad minute ruins nothing. A destination that refused
 * several times in a row begins with a 64th of that, or one a second, and doubles it each second up to there.
 *
 * Near the refused rate the pace grows by 0.2 % with each recipient, 1 % a second at most. When it was a tenth
 * above for a minute, there is no such limit any more: it doubles every two seconds, and is forgotten when it
 * limits nothing. It is never below PACE_LEAST, and forgotten when nothing was refused for PACE_MEMORY.
 */

#define FALL 0.9              /* of what it bears */
#define FALL_MOST 4           /* it is taken to bear one in so many of what was refused, at least */
#define FEW 10                /* recipients taken in a minute; of fewer nothing is concluded */
#define FIRST_LEAST 10        /* a second: what is thought of a destination of which nothing is known */
#define GROWTH 0.002          /* of the rate, with each recipient that is taken; more where they are rare */
#define GROWTH_MAX 0.05
#define GROWTH_A_SECOND 0.01
#define RARE 0.2              /* recipients a second */
/* So far above the refused rate for GONE_TIME, so many taken in that time: there is no such limit any more. */
#define ABOVE 1.1
#define GONE 1.05
#define GONE_TIME ((PACE_SPAN + 1) * CLOCK_SECOND)
#define SEARCH (2 * CLOCK_SECOND) /* then it doubles each so often */
#define FORGOTTEN 256         /* times what was taken in the last minute: such a pace limits nothing */
#define CLOSED 3              /* refusals in a row after which the destination is taken for closed, not for slow */
#define SLOW_START 64
#define BELIEVED 4            /* what a closed one bears becomes no less than one in so many at a time */

static void advance(Pace *pace, int64_t now)
{
    int64_t second = now / CLOCK_SECOND;
    if (second - pace->second >= PACE_SPAN) {
        memset(pace->taken, 0, sizeof pace->taken);
        memset(pace->tried, 0, sizeof pace->tried);
        pace->begun = now;
    }
    for (int64_t at = MAX(pace->second + 1, second - PACE_SPAN + 1); at <= second; at++)
        pace->taken[at % PACE_SPAN] = pace->tried[at % PACE_SPAN] = 0;
    pace->second = MAX(second, pace->second);
}

static unsigned in_span(const unsigned *ring)
{
    unsigned sum = 0;
    for (int i = 0; i < PACE_SPAN; i++)
        sum += ring[i];
    return sum;
}

/* Recipients a second over the time that the rings tell of. */
static double a_second(const Pace *pace, const unsigned *ring, int64_t now)
{
    double seconds = (double)(now - pace->begun) / CLOCK_SECOND;
    return in_span(ring) / CLAMP(seconds, 1, PACE_SPAN);
}

Rate pace_rate(Pace *pace, int64_t now)
{
    if (pace->rate.per_second > 0 && now - pace->refused > PACE_MEMORY)
        *pace = (Pace){0};
    return pace->rate;
}

static void grow(Pace *pace, unsigned recipients, int64_t now)
{
    double rate = pace->rate.per_second;
    double seconds = (double)MAX(now - pace->grown, 0) / CLOCK_SECOND;
    if (rate < ABOVE * pace->refused_at)
        pace->above_since = now;
    /* Being allowed a higher rate proves nothing; recipients must have been taken at it, for longer than the minute by
     * which servers count. */
    bool gone = now - pace->above_since > GONE_TIME && in_span(pace->taken) > GONE * pace->refused_at * PACE_SPAN;
    if (rate < FALL * pace->refused_at || gone) { /* what is known to be borne is reached fast, what is not slowly */
        if (now - pace->grown < (gone ? SEARCH : CLOCK_SECOND))
            return;
        pace->rate.per_second = gone ? 2 * rate : MIN(2 * rate, FALL * pace->refused_at);
        if (gone && pace->rate.per_second * PACE_SPAN > FORGOTTEN * in_span(pace->taken)) {
            *pace = (Pace){0};
            return;
        }
    } else {
        /* By recipients, so that a pace that nobody uses stays; and by time at most, so that a burst that is taken all
         * at once does not double it. Of a few recipients an hour each must count for more, or it would take a day. */
        double each = MIN(GROWTH * MAX(RARE / rate, 1), GROWTH_MAX);
        double growth = MIN(each * recipients, rate > RARE ? GROWTH_A_SECOND * seconds : GROWTH_MAX);
        pace->rate.per_second = rate * (1 + growth);
    }
    pace->grown = now;
}

static void pace_taken(Pace *pace, unsigned recipients, int64_t now)
{
    advance(pace, now);
    if (pace->since == 0 && now - pace->opened > PACE_SPAN * CLOCK_SECOND) {
        pace->opened = now;
        pace->taken_open = 0;
    }
    pace->taken[pace->second % PACE_SPAN] += recipients;
    pace->taken_open += recipients;
    pace->tried[pace->second % PACE_SPAN] += recipients;
    if (pace->rate.per_second <= 0)
        return;
    if (!pace_rests(pace)) {
        grow(pace, recipients, now);
        return;
    }
    /* It takes mail again. One that had closed bears what it took since it opened the time before, spread over the time
     * until now: that is the limit of a server that counts by the minute. It may have been closed for another reason,
     * and so no more than a part of that is believed. */
    if (pace->refusals >= CLOSED) {
        double bears = (double)pace->taken_open * CLOCK_SECOND / (double)MAX(now - pace->opened, CLOCK_SECOND);
        pace->refused_at = MAX(CLAMP(bears, pace->refused_at / BELIEVED, pace->refused_at), PACE_LEAST);
        pace->rate.per_second = MAX(MIN(FALL * pace->refused_at, MAX(pace->refused_at / SLOW_START, 1)), PACE_LEAST);
        pace->taken_open = 0;
        pace->opened = now;
    }
    pace->refusals = 0;
    pace->rests_until = 0;
    pace->grown = pace->above_since = now;
}

static void pace_refused(Pace *pace, unsigned recipients, int64_t now)
{
    pace_rate(pace, now); /* what is old is forgotten first */
    advance(pace, now);
    pace->tried[pace->second % PACE_SPAN] += recipients;
    pace->refused = now;
    if (pace->since == 0)
        pace->since = now;
    if (now < pace->rests_until) /* it was under way when the first one was refused, and tells nothing new */
        return;
    /* The first refusal after something was taken says that the rate is too high; those of a rest tell that it is not
     * over, not that the rate is still too high. */
    double rate = pace->rate.per_second;
    if (!pace_rests(pace) && rate > 0 && rate < FALL * pace->refused_at - 1e-9) {
        /* It is on its way up from a careful beginning, so what was taken until now was limited by us, and is no
         * measure of what the server bears. Only the rate that was just refused is known to be too high. */
        pace->refused_at = MAX(pace->refused_at / 2, rate);
        pace->rate.per_second = MAX(rate / 2, PACE_LEAST);
    } else if (!pace_rests(pace)) {
        double tried = a_second(pace, pace->tried, now);
        bool enough = in_span(pace->taken) >= FEW;
        double reached = rate > 0 ? MIN(rate, tried) : tried;
        double least = MAX(reached / (enough ? FALL_MOST : 2), PACE_LEAST);
        if (rate <= 0 && !enough)
            pace->refused_at = MAX(tried, FIRST_LEAST);
        else
            pace->refused_at = CLAMP(a_second(pace, pace->taken, now), least, MAX(reached, least));
        pace->rate.per_second = MAX(FALL * pace->refused_at, PACE_LEAST);
    }
    pace->refusals++;
    int64_t rest = CLOCK_SECOND << MIN(pace->refusals - 1, 10u);
    pace->rests_until = now + MIN(rest, PACE_REST_MAX);
}

/* --- flights ------------------------------------------------------------- */

/*
 * How many transactions may go to a destination in one flight is learnt from how long it takes to answer, and from how
 * earlier flights ended. Without a wish of the site, flights have more than one transaction only to a slow server: no
 * answer of the last one or two spans came within PIPELINING_SLOW. The shortest answer of a span counts, so that a
 * moment in which this host is busy does not make a server slow.
 *
 * Until a flight of several transactions has come back whole, only one such flight is under way. After a flight that
 * was broken off, or whose commands the server did not understand, there is none for PIPELINING_PAUSE.
 */

void pipelining_observe(Pipelining *pipelining, int64_t took, int64_t now)
{
    took = MAX(took, 1);
    if (now - pipelining->span >= PIPELINING_SPAN || now < pipelining->span) {
        pipelining->before = pipelining->least;
        pipelining->least = took;
        pipelining->span = now;
    } else {
        pipelining->least = MIN(pipelining->least, took);
    }
}

unsigned pipelining_most(const Pipelining *pipelining, unsigned wanted, int64_t now)
{
    if (now < pipelining->pause_until || (!pipelining->proven && pipelining->out > 0))
        return 1;
    if (wanted > 0)
        return wanted;
    return MIN(pipelining->before, pipelining->least) > PIPELINING_SLOW ? PIPELINING_DEFAULT : 1;
}

void pipelining_end(Pipelining *pipelining, bool whole, int64_t now)
{
    g_assert(pipelining->out > 0);
    pipelining->out--;
    pipelining->proven = whole && now >= pipelining->pause_until;
    if (!whole)
        pipelining->pause_until = now + PIPELINING_PAUSE;
}

/* --- entries that wait for it -------------------------------------------- */

#define PARKED_LEAST 64

void parked_add(ParkedEntries *entries, const Parked *parked, int64_t now)
{
    if (!entries->all) {
        entries->all = g_array_new(FALSE, FALSE, sizeof(Parked));
        entries->most = PARKED_LEAST;
    }
    if (entries->all->len >= entries->most && now >= entries->look) {
        /* Entries whose time has come were taken by their names, and stand here again if they still wait. */
        guint kept = 0;
        for (guint i = 0; i < entries->all->len; i++) {
            Parked one = g_array_index(entries->all, Parked, i);
            if (one.due > now)
                g_array_index(entries->all, Parked, kept++) = one;
        }
        g_array_set_size(entries->all, kept);
        entries->most = CLAMP(2 * entries->all->len, PARKED_LEAST, PARKED_MAX);
        entries->look = now + CLOCK_SECOND;
    }
    if (entries->all->len < PARKED_MAX)
        g_array_append_val(entries->all, *parked);
}

size_t parked_count(const ParkedEntries *entries, int64_t now)
{
    size_t count = 0;
    for (guint i = 0; entries->all && i < entries->all->len; i++)
        count += g_array_index(entries->all, Parked, i).due > now;
    return count;
}

static gint by_arrival(gconstpointer one, gconstpointer other)
{
    int64_t a = ((const Parked *)one)->arrival;
    int64_t b = ((const Parked *)other)->arrival;
    return (a > b) - (a < b);
}

void parked_move(ParkedEntries *entries, GArray *to)
{
    if (entries->all)
        g_array_append_vals(to, entries->all->data, entries->all->len);
    g_array_sort(to, by_arrival);
    g_clear_pointer(&entries->all, g_array_unref);
}

/* --- the destination ----------------------------------------------------- */

Destination *destination_new(const char *name, const DestinationLimits *limits, GQueue *changes, int64_t now)
{
    Destination *destination = g_new0(Destination, 1);
    destination->name = g_strdup(name);
    destination->limits = limits;
    destination->ordered.per_second = -1;
    destination->last_used = now;
    destination->queue.changes = changes;
    destination->queue.change.data = destination;
    init_window(&destination->window, &limits->window);
    bucket_init(&destination->bucket, limits->burst, now);
    g_queue_init(&destination->load.idle);
    return destination;
}

void destination_free(Destination *destination)
{
    if (!destination)
        return;
    if (destination->queue.changed)
        g_queue_unlink(destination->queue.changes, &destination->queue.change);
    if (destination->queue.ready)
        g_sequence_remove(destination->queue.ready);
    if (destination->queue.asleep)
        g_sequence_remove(destination->queue.asleep);
    g_clear_pointer(&destination->queue.peers, g_sequence_free);
    g_clear_pointer(&destination->load.parked.all, g_array_unref);
    g_free(destination->name);
    g_free(destination->reason);
    g_free(destination->status);
    g_free(destination->last_reply);
    g_free(destination);
}

void destination_changed(Destination *destination)
{
    if (!destination->queue.changes || destination->queue.changed)
        return;
    destination->queue.changed = true;
    g_queue_push_tail_link(destination->queue.changes, &destination->queue.change);
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
    for (guint i = 0; from->load.parked.all && i < from->load.parked.all->len; i++)
        parked_add(&destination->load.parked, &g_array_index(from->load.parked.all, Parked, i), now);
    g_clear_pointer(&from->load.parked.all, g_array_unref);
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
    if (destination->busy + destination->load.between >= most || !rate_allows(destination, now, wake_at))
        return false;
    bool known = destination->connections > 0;
    if (!known || destination->load.sessions < destination->connections || !g_queue_is_empty(&destination->load.idle))
        return true;
    /* Another one is tried from time to time, alone. */
    if (destination->full_until > now)
        *wake_at = destination->full_until;
    return destination->full_until <= now && destination->load.sessions == destination->connections;
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
    bool borne = now < destination->borne_until && destination->load.established < destination->borne;
    bool one_more = destination->connections > 0 && others >= destination->connections;
    destination->turned_away++;
    destination->beyond += !borne;
    if (one_more || destination->beyond >= REFUSED_SEVERAL || destination->turned_away >= MAX(others, REFUSED_SEVERAL))
        destination_learn_connections(destination, others, now);
}

void destination_connected(Destination *destination, int64_t now)
{
    unsigned limit = destination->limits->window.limit;
    destination->load.established++;
    destination->counts.connections++;
    destination->turned_away = 0;
    if (now >= destination->borne_until || destination->load.established >= destination->borne) {
        if (destination->load.established > destination->borne) /* so many stand beside each other */
            destination->beyond = 0;
        destination->borne = destination->load.established;
        destination->borne_until = now + BORNE_MEMORY;
    }
    destination_changed(destination);
    if (destination->connections == 0 || destination->load.sessions <= destination->connections)
        return;
    destination->connections = destination->load.sessions;
    if (destination->grew) /* the one before was borne, too: its limit is another now, and the next comes at once */
        destination->refusals = 0;
    destination->full_until = destination->grew ? now : now + full_time(destination);
    destination->grew = true;
    if (limit > 0 && destination->connections >= limit)
        destination->connections = destination->refusals = 0;
}

void destination_learn_transactions(Destination *destination, unsigned taken, int64_t now)
{
    destination->sizes.transactions = MAX(taken, 1);
    destination->sizes.transactions_until = now + SIZE_MEMORY;
}

void destination_begin(Destination *destination, size_t recipients)
{
    destination->busy++;
    destination->bucket.tokens -= (double)recipients;
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

bool destination_tell(Destination *destination, const SiteReport *report, int64_t now, double chance)
{
    const WindowLimits *limits = &destination->limits->window;
    Window *window = &destination->window;
    destination_changed(destination);
    destination->last_used = now;
    if (report->taken > 0)
        pace_taken(&destination->pace, report->taken, now);
    bool rested = pace_rests(&destination->pace);
    switch (report->news) {
    case SITE_GOOD:
        grow_window(window, limits, destination->busy);
        destination->dead_until = 0;
        destination->deaths = 0;
        well(destination, now);
        return false;
    case SITE_THROTTLED:
        destination->counts.throttled++;
        pace_refused(&destination->pace, report->refused, now);
        if (paced(destination, now)) /* what is refused costs nothing, and no debt outlasts it */
            bucket_init(&destination->bucket, 1, now);
        else
            destination->bucket.tokens += (double)report->refused;
        if (!rested)
            shrink_window(window, limits);
        if (destination->away_since == 0)
            destination->away_since = now;
        return false;
    case SITE_FAILED:
        if (destination_dead(destination))
            return false; /* that late news changes nothing */
        /* By cohorts, and not by failures: a full window that fails at the same moment is one event, whatever its
         * size. */
        window->cohorts += 1.0 / window->size;
        if (limits->cohorts == 0 || window->cohorts < limits->cohorts - EPSILON) {
            shrink_window(window, limits);
            if (limits->cohorts == 0 || !destination_probing(destination))
                return false;
        }
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
    destination->pace = (Pace){0};
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
    revive_window(&destination->window, &destination->limits->window, destination->busy);
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
    *pace = (Pace){0};
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
