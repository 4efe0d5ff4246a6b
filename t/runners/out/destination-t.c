/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Destinations: rates, a learnt pace, death and its time, and what outlives a restart. */
#include "runners/out/destination.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define START (1000000 * CLOCK_SECOND)

static const DestinationLimits standard = {
    .window = {.initial = 5, .limit = 20, .positive = {1, 0}, .negative = {1, 0}, .cohorts = 1},
    .burst = 1, .dead_min = 300 * CLOCK_SECOND, .dead_max = 4000 * CLOCK_SECOND, .share = 1};

static Destination *new_destination(void)
{
    return destination_new("example.com", &standard, START);
}

static bool fail_once(Destination *destination, int64_t now)
{
    destination_begin(destination, 1);
    bool died = destination_tell(destination, SITE_FAILED, 1, now, 0);
    destination_end(destination);
    return died;
}

static void succeed(Destination *destination, int64_t now)
{
    destination_begin(destination, 1);
    destination_tell(destination, SITE_GOOD, 1, now, 0);
    destination_end(destination);
}

/* Four failures kill; after that one does, and each time for twice as long, up to the most. */
static void escalates(void)
{
    static const int64_t seconds[] = {300, 600, 1200, 2400, 4000, 4000};
    Destination *destination = new_destination();
    int64_t now = START;
    for (int i = 0; i < 3; i++)
        g_assert_false(fail_once(destination, now));
    for (size_t i = 0; i < G_N_ELEMENTS(seconds); i++) {
        g_assert_true(fail_once(destination, now));
        g_assert_true(destination_dead(destination));
        g_assert_cmpint(destination->dead_until - now, ==, seconds[i] * CLOCK_SECOND);
        g_assert_false(fail_once(destination, now)); /* late news */
        int64_t wake;
        g_assert_false(destination_room(destination, now, &wake));
        g_assert_cmpint(wake, ==, destination->dead_until);
        now = destination->dead_until;
        destination_revive(destination);
        g_assert_true(destination_probing(destination));
        g_assert_true(destination_room(destination, now, &wake));
        g_assert_cmpuint(destination->window.size, ==, 5);
    }
    succeed(destination, now);
    g_assert_false(destination_probing(destination));
    for (int i = 0; i < 3; i++)
        g_assert_false(fail_once(destination, now)); /* it has its credit again */
    destination_free(destination);
}

static void rates(void)
{
    static const struct {
        const char *text;
        double per_second;
        const char *printed;
    } good[] = {{"0.5/s", 0.5, "30/m"},   {"30/m", 0.5, "30/m"},       {"1/min", 1 / 60.0, "1/m"},
                {"1000/h", 1000 / 3600.0, "16.67/m"}, {"20/day", 20 / 86400.0, "20/d"}, {"7/s", 7, "7/s"},
                {"none", 0, "none"},      {"0", 0, "none"},            {"0.25/h", 0.25 / 3600, "6/d"}};
    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        Rate rate;
        g_assert_true(rate_parse(good[i].text, &rate, NULL));
        g_assert_cmpfloat_with_epsilon(rate.per_second, good[i].per_second, 1e-12);
        g_autofree char *printed = rate_print(rate);
        g_assert_cmpstr(printed, ==, good[i].printed);
    }
    static const char *const bad[] = {"", "1", "1/", "1/x", "-1/s", "x/s", "1e9/s", "0/s", "nan/s", " 1/s"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        Rate rate;
        g_autoptr(GError) error = NULL;
        g_assert_false(rate_parse(bad[i], &rate, &error));
        g_assert_nonnull(strstr(error->message, "30/m"));
    }
}

/* Half a recipient a second: one at once, then every two seconds; ten in a transaction are paid for. */
static void bucket(void)
{
    Bucket tokens;
    Rate rate = {0.5};
    bucket_init(&tokens, 1, START);
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START), ==, 0);
    bucket_take(&tokens, 1);
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START), ==, 2 * CLOCK_SECOND);
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START + CLOCK_SECOND), ==, CLOCK_SECOND);
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START + 2 * CLOCK_SECOND), ==, 0);
    bucket_take(&tokens, 10);
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START + 2 * CLOCK_SECOND), ==, 20 * CLOCK_SECOND);
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START + 3600 * CLOCK_SECOND), ==, 0);
    g_assert_cmpfloat(tokens.tokens, ==, 1); /* a pause saves no more than the burst */
    g_assert_cmpint(bucket_wait(&tokens, (Rate){0}, 1, START), ==, 0);
}

/* A server that takes `capacity` a minute, each token a recipient, with room for `burst`; two hours of it. */
typedef struct Throttle {
    double capacity, burst, tokens;
    unsigned taken, refused, late_taken, late_refused;
} Throttle;

static void run_throttle(Throttle *throttle)
{
    enum { STEP = 10000, HALF = 3600 };
    Destination *destination = new_destination();
    throttle->tokens = throttle->burst;
    for (int64_t now = START; now < START + 2 * HALF * CLOCK_SECOND; now += STEP) {
        int64_t wake;
        throttle->tokens = MIN(throttle->tokens + throttle->capacity / 60 * STEP / CLOCK_SECOND, throttle->burst);
        if (!destination_room(destination, now, &wake))
            continue;
        bool late = now >= START + HALF * CLOCK_SECOND;
        bool takes = throttle->tokens >= 1;
        throttle->tokens -= takes;
        destination_begin(destination, 1);
        destination_tell(destination, takes ? SITE_GOOD : SITE_THROTTLED, 1, now, 0);
        destination_end(destination);
        *(takes ? &throttle->taken : &throttle->refused) += 1;
        if (late)
            *(takes ? &throttle->late_taken : &throttle->late_refused) += 1;
    }
    g_assert_false(destination_dead(destination));
    destination_free(destination);
    double rate = throttle->late_taken / (HALF / 60.0);
    g_test_message("capacity %g a minute, burst %g: taken %u, refused %u; in the second hour %.1f a minute, %u refused",
                   throttle->capacity, throttle->burst, throttle->taken, throttle->refused, rate,
                   throttle->late_refused);
    g_assert_cmpfloat(rate, >=, throttle->capacity * 0.8);
    g_assert_cmpfloat(rate, <=, throttle->capacity * 1.2);
    g_assert_cmpuint(throttle->late_refused * 20, <=, throttle->late_taken);
}

/* What is borne is found within a fifth, and few are refused on the way. */
static void throttled(void)
{
    static const Throttle throttles[] = {{60, 60, 0, 0, 0, 0, 0}, {60, 1, 0, 0, 0, 0, 0},   {10, 10, 0, 0, 0, 0, 0},
                                         {600, 20, 0, 0, 0, 0, 0}, {1500, 50, 0, 0, 0, 0, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(throttles); i++) {
        Throttle throttle = throttles[i];
        run_throttle(&throttle);
        g_assert_cmpuint(throttle.refused, <=, 30 + throttle.taken / 20);
    }
}

/* A pace that nobody has refused for hours is forgotten. */
static void forgets(void)
{
    Destination *destination = new_destination();
    destination_begin(destination, 1);
    destination_tell(destination, SITE_THROTTLED, 1, START, 0);
    destination_end(destination);
    g_assert_cmpfloat(destination_rate(destination, START).per_second, >, 0);
    g_assert_cmpstr(destination_state(destination, START), ==, "throttled");
    g_assert_cmpfloat(destination_rate(destination, START + PACE_MEMORY + 1).per_second, ==, 0);
    destination_free(destination);
}

static void remembers(void)
{
    Destination *destination = new_destination();
    for (int i = 0; i < 4; i++)
        fail_once(destination, START);
    destination_set_reason(destination, "4.4.1", "connect: refused");
    destination_order_rate(destination, 0.25, START);
    destination->suspended = true;
    g_assert_true(destination_memorable(destination, START));
    json_t *saved = destination_save(destination, START);
    char *text = json_dumps(saved, 0);
    json_decref(saved);
    json_t *read = json_loads(text, 0, NULL);
    free(text);
    Destination *again = new_destination();
    g_assert_true(destination_load(again, read, START + CLOCK_SECOND));
    g_assert_true(again->suspended);
    g_assert_cmpfloat(again->ordered.per_second, ==, 0.25);
    g_assert_cmpint(again->dead_until, ==, destination->dead_until);
    g_assert_cmpuint(again->deaths, ==, 1);
    g_assert_cmpstr(again->reason, ==, "connect: refused");
    Destination *later = new_destination(); /* its time passed while nobody ran */
    g_assert_true(destination_load(later, read, START + 400 * CLOCK_SECOND));
    g_assert_false(destination_dead(later));
    g_assert_true(destination_probing(later));
    destination_free(destination);
    destination_free(again);
    destination_free(later);
    json_decref(read);
}

/* A window and a pace come back; what makes no sense changes nothing. */
static void remembers_window(void)
{
    Destination *destination = new_destination();
    destination->window.size = 17;
    destination->pace.rate.per_second = 2;
    destination->pace.refused = START;
    destination->bucket.tokens = -3;
    json_t *saved = destination_save(destination, START);
    Destination *again = new_destination();
    g_assert_true(destination_load(again, saved, START + CLOCK_SECOND));
    g_assert_cmpuint(again->window.size, ==, 17);
    g_assert_cmpfloat(destination_rate(again, START + CLOCK_SECOND).per_second, ==, 2);
    int64_t wake;
    g_assert_false(destination_room(again, START, &wake)); /* the debt is to be paid, too */
    Destination *old = new_destination();
    g_assert_true(destination_load(old, saved, START + 2 * 3600 * CLOCK_SECOND));
    g_assert_cmpuint(old->window.size, ==, 5);
    json_decref(saved);
    static const char *const senseless[] = {"[]", "7", "{}", "{\"used\":-1}", "{\"used\":99999999999999999}", "null"};
    for (size_t i = 0; i < G_N_ELEMENTS(senseless); i++) {
        json_t *value = json_loads(senseless[i], JSON_DECODE_ANY, NULL);
        g_assert_false(destination_load(old, value, START));
        g_assert_cmpuint(old->window.size, ==, 5);
        json_decref(value);
    }
    json_t *far = json_pack("{s:I,s:i,s:I,s:i}", "used", (json_int_t)START, "window", 100000, "dead_until",
                            (json_int_t)(START + 365 * INT64_C(86400) * CLOCK_SECOND), "deaths", 1000);
    g_assert_true(destination_load(old, far, START));
    g_assert_false(destination_dead(old)); /* a wrong clock must not kill it for a year */
    g_assert_cmpuint(old->window.size, ==, 20);
    json_decref(far);
    destination_free(destination);
    destination_free(again);
    destination_free(old);
}

/* A further connection that is refused: the next is tried alone, later; idle ones go on. */
static void full(void)
{
    Destination *destination = new_destination();
    int64_t wake;
    destination->sessions = destination->established = 3;
    destination->refusals = 1;
    destination->full_until = START + CLOCK_SECOND;
    g_assert_false(destination_room(destination, START, &wake));
    g_assert_cmpint(wake, ==, destination->full_until);
    GList link = {0};
    g_queue_push_head_link(&destination->idle, &link);
    g_assert_true(destination_room(destination, START, &wake));
    g_queue_unlink(&destination->idle, &link);
    g_assert_true(destination_room(destination, destination->full_until, &wake));
    destination->sessions = 4; /* that one is on its way */
    g_assert_false(destination_room(destination, destination->full_until, &wake));
    destination_free(destination);
}

static void crowded(void)
{
    Destination *destination = new_destination();
    destination->waiting = 5;
    g_assert_false(destination_crowded(destination, START)); /* there is room for all */
    destination->waiting = 6;
    g_assert_true(destination_crowded(destination, START));
    destination_begin(destination, 1);
    destination->waiting = 4;
    g_assert_false(destination_crowded(destination, START));
    destination->waiting = 5;
    g_assert_true(destination_crowded(destination, START));
    destination->suspended = true;
    g_assert_false(destination_crowded(destination, START));
    destination->suspended = false;
    destination_order_rate(destination, 100, START);
    g_assert_false(destination_crowded(destination, START)); /* a rate is kept one by one */
    destination_order_rate(destination, -1, START);
    destination_tell(destination, SITE_THROTTLED, 1, START, 0);
    g_assert_false(destination_crowded(destination, START)); /* one that was learnt, too */
    destination_end(destination);
    destination_free(destination);
    destination = new_destination();
    destination->waiting = 100;
    destination_kill(destination, START, 0);
    destination_revive(destination);
    g_assert_false(destination_crowded(destination, START)); /* what was dead is tried with little */
    succeed(destination, START);
    g_assert_true(destination_crowded(destination, START));
    destination_free(destination);
}

/* A server that lost a flight is spared others, over a restart, too; not for longer than it could have been. */
static void remembers_pause(void)
{
    Destination *destination = new_destination();
    flights_begin(&destination->flights);
    flights_end(&destination->flights, false, START);
    json_t *saved = destination_save(destination, START);
    destination_free(destination);
    destination = new_destination();
    g_assert_true(destination_load(destination, saved, START + CLOCK_SECOND));
    g_assert_cmpuint(flights_most(&destination->flights, 3, START + FLIGHTS_PAUSE - 1), ==, 1);
    g_assert_cmpuint(flights_most(&destination->flights, 3, START + FLIGHTS_PAUSE), ==, 3);
    destination_free(destination);
    json_object_set_new(saved, "flights_pause", json_integer(START + 1000 * FLIGHTS_PAUSE));
    destination = new_destination();
    g_assert_true(destination_load(destination, saved, START + CLOCK_SECOND));
    g_assert_cmpuint(flights_most(&destination->flights, 3, START + CLOCK_SECOND), ==, 3);
    json_decref(saved);
    destination_free(destination);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/destination/escalates", escalates);
    g_test_add_func("/destination/rates", rates);
    g_test_add_func("/destination/bucket", bucket);
    g_test_add_func("/destination/throttled", throttled);
    g_test_add_func("/destination/forgets", forgets);
    g_test_add_func("/destination/remembers", remembers);
    g_test_add_func("/destination/remembers window", remembers_window);
    g_test_add_func("/destination/full", full);
    g_test_add_func("/destination/crowded", crowded);
    g_test_add_func("/destination/remembers pause", remembers_pause);
    return g_test_run();
}
