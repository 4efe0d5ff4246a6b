/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Destinations: rates, a learnt pace, death and its time, what outlives a restart, the window, and flights. */
#include "runners/outgoing/destination.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "t/suite.h"

#define START (1000000 * CLOCK_SECOND)
#define MS (CLOCK_SECOND / 1000)

static const DestinationLimits standard = {
    .window = {.initial = 5, .limit = 20, .positive = {1, 0}, .negative = {1, 0}, .cohorts = 1},
    .burst = 1, .dead_min = 300 * CLOCK_SECOND, .dead_max = 4000 * CLOCK_SECOND, .share = 1};

static Destination *new_destination(void)
{
    return destination_new("example.com", &standard, NULL, START);
}

static bool fail_once(Destination *destination, int64_t now)
{
    destination_begin(destination, 1);
    bool died = destination_tell(destination, &(SiteReport){.news = SITE_FAILED}, now, 0);
    destination_end(destination);
    return died;
}

static void succeed(Destination *destination, int64_t now)
{
    destination_begin(destination, 1);
    destination_tell(destination, &(SiteReport){.news = SITE_GOOD, .taken = 1}, now, 0);
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
    tokens.tokens -= 1;
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START), ==, 2 * CLOCK_SECOND);
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START + CLOCK_SECOND), ==, CLOCK_SECOND);
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START + 2 * CLOCK_SECOND), ==, 0);
    tokens.tokens -= 10;
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START + 2 * CLOCK_SECOND), ==, 20 * CLOCK_SECOND);
    g_assert_cmpint(bucket_wait(&tokens, rate, 1, START + 3600 * CLOCK_SECOND), ==, 0);
    g_assert_cmpfloat(tokens.tokens, ==, 1); /* a pause saves no more than the burst */
    g_assert_cmpint(bucket_wait(&tokens, (Rate){0}, 1, START), ==, 0);
}

/* --- a server that limits, and mail without end for it --- */

typedef struct Server {
    const char *name;
    double rate, burst;       /* a token bucket of recipients; 0: none */
    unsigned window;          /* recipients a minute by the clock; 0: no such limit */
    int64_t closed, opened;   /* seconds between which it refuses all */
    double sporadic;          /* but this part of them */
    int64_t back;             /* when it gets as much as before, seconds after it opened; 0: 120 */
    /* These tell what became of it. */
    double tokens;
    int64_t minute;
    unsigned left;
    unsigned taken[4 * 3600], tried[4 * 3600]; /* by second */
} Server;

static unsigned serve(Server *server, unsigned wanted, int64_t now)
{
    int64_t second = (now - START) / CLOCK_SECOND;
    unsigned taken = wanted;
    if (server->window > 0) {
        if (second / 60 != server->minute || second == 0)
            server->left = second == 0 && server->minute == 0 && server->taken[0] ? server->left : server->window;
        server->minute = second / 60;
        taken = MIN(taken, server->left);
        server->left -= taken;
    }
    if (server->rate > 0) {
        taken = MIN(taken, (unsigned)MAX(server->tokens, 0));
        server->tokens -= taken;
    }
    if (second >= server->closed && second < server->opened && g_random_double() >= server->sporadic)
        taken = 0;
    server->taken[second] += taken;
    server->tried[second] += wanted;
    return taken;
}

/* Transactions of up to 500 recipients, each of which takes a tenth of a second, for so many seconds. */
static Destination *run_server(Server *server, int64_t seconds)
{
    enum { STEP = 10000, TOOK = 10 };
    Destination *destination = new_destination();
    unsigned under_way[TOOK][20] = {{0}}, count[TOOK] = {0};
    server->tokens = server->burst;
    for (int64_t step = 0; step < seconds * CLOCK_SECOND / STEP; step++) {
        int64_t now = START + step * STEP, wake;
        unsigned at = (unsigned)(step % TOOK);
        server->tokens = MIN(server->tokens + server->rate * STEP / CLOCK_SECOND, server->burst);
        for (; count[at] > 0; count[at]--) {
            unsigned wanted = under_way[at][count[at] - 1];
            unsigned taken = serve(server, wanted, now);
            SiteReport report = {taken < wanted ? SITE_THROTTLED : SITE_GOOD, taken, wanted - taken, true};
            destination_tell(destination, &report, now, 0);
            destination_end(destination);
        }
        while (destination_room(destination, now, &wake)) {
            under_way[at][count[at]] = (unsigned)destination_most(destination, 500, now);
            destination_begin(destination, under_way[at][count[at]++]);
        }
    }
    g_assert_false(destination_dead(destination));
    return destination;
}

static unsigned sum(const unsigned *seconds, int64_t from, int64_t to)
{
    unsigned all = 0;
    for (int64_t at = from; at < to; at++)
        all += seconds[at];
    return all;
}

/* Five minutes after it began, four fifths of a constant limit are used and one in twenty is refused at most. */
static void constant_limits(void)
{
    static const Server servers[] = {
        {.name = "1/s", .rate = 1, .burst = 1},         {.name = "1/s, 60 saved", .rate = 1, .burst = 60},
        {.name = "60 a minute", .window = 60},          {.name = "10 a minute", .rate = 10 / 60.0, .burst = 10},
        {.name = "10/s", .rate = 10, .burst = 20},      {.name = "600 a minute", .window = 600},
        {.name = "100/s", .rate = 100, .burst = 100},   {.name = "1000/s", .rate = 1000, .burst = 1000},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(servers); i++) {
        g_autofree Server *server = g_memdup2(&servers[i], sizeof(Server));
        Destination *destination = run_server(server, 1500);
        double allowed = server->window > 0 ? server->window / 60.0 : server->rate;
        unsigned taken = sum(server->taken, 300, 1500);
        unsigned refused = sum(server->tried, 300, 1500) - taken;
        g_test_message("%s: %.0f %% used, %.1f %% refused; pace %g", server->name, taken / allowed / 12,
                       100.0 * refused / (taken + refused), destination->pace.rate.per_second);
        g_assert_cmpfloat(taken, >=, 0.8 * allowed * 1200);
        g_assert_cmpfloat(refused, <=, 3 + 0.05 * (taken + refused)); /* one at a time, where ten a minute are taken */
        destination_free(destination);
    }
}

/* Two minutes after a server takes everything again, so does it get it: nine tenths of what was sent before anybody
 * refused. */
static void recovery(void)
{
    static const Server servers[] = {
        {.name = "a minute, from the start", .closed = 0, .opened = 60},
        {.name = "a minute", .closed = 60, .opened = 120},
        {.name = "ten minutes, from the start", .closed = 0, .opened = 600},
        {.name = "ten minutes", .closed = 60, .opened = 660},
        {.name = "an hour", .closed = 60, .opened = 3660},
        {.name = "an hour, now and then one is taken", .closed = 60, .opened = 3660, .sporadic = 0.05, .back = 240},
        {.name = "one refusal", .closed = 0, .opened = 1},
    };
    g_random_set_seed(16);
    for (size_t i = 0; i < G_N_ELEMENTS(servers); i++) {
        g_autofree Server *server = g_memdup2(&servers[i], sizeof(Server));
        int64_t back = server->opened + (server->back > 0 ? server->back : 120);
        Destination *destination = run_server(server, back + 30);
        enum { FREE = 20 * 500 * 10 }; /* connections, recipients, transactions a second */
        double reached = sum(server->taken, back, back + 30) / 30.0;
        int64_t first = server->opened;
        while (sum(server->taken, first, first + 1) < 0.9 * FREE && first < back + 29)
            first++;
        g_test_message("%s: %.0f a second then, back after %d s; pace %g", server->name, reached,
                       (int)(first - server->opened), destination->pace.rate.per_second);
        g_assert_cmpfloat(reached, >=, 0.9 * FREE);
        for (int64_t second = server->closed; second + 63 < server->opened; second++)
            g_assert_cmpuint(sum(server->tried, second, second + 63), >, 0); /* it is probed each minute */
        destination_free(destination);
    }
}

/* Check that a refused transaction is not charged: one of 300 that is refused once delays nothing by more than the
 * rest. */
static void refused_costs_nothing(void)
{
    Destination *destination = new_destination();
    int64_t wake;
    destination_begin(destination, 300);
    destination_tell(destination, &(SiteReport){SITE_THROTTLED, 0, 300, true}, START, 0);
    destination_end(destination);
    g_assert_false(destination_room(destination, START, &wake));
    g_assert_cmpint(wake, ==, START + CLOCK_SECOND);
    g_assert_true(destination_room(destination, wake, &wake));
    g_assert_cmpuint(destination_most(destination, 500, START + CLOCK_SECOND), ==, 1);
    destination_resume(destination, START);
    g_assert_cmpstr(destination_state(destination, START), ==, "alive");
    g_assert_true(destination_room(destination, START, &wake));
    destination_order_rate(destination, 1, START); /* nor does it cost anything of what the operator allows */
    destination_begin(destination, 300);
    destination_tell(destination, &(SiteReport){SITE_THROTTLED, 0, 300, true}, START, 0);
    destination_end(destination);
    g_assert_false(destination_room(destination, START, &wake));
    g_assert_cmpint(wake, ==, START + CLOCK_SECOND);
    destination_free(destination);
}

static void sizes(void)
{
    Destination *destination = new_destination();
    g_assert_cmpuint(destination_most(destination, 500, START), ==, 500);
    g_assert_false(destination_learn_recipients(destination, 0, START));
    g_assert_true(destination_learn_recipients(destination, 100, START));
    g_assert_false(destination_learn_recipients(destination, 100, START)); /* what was under way says nothing new */
    g_assert_cmpuint(destination_most(destination, 500, START + SIZE_MEMORY - 1), ==, 100);
    g_assert_cmpuint(destination_most(destination, 50, START), ==, 50);
    g_assert_cmpuint(destination_most(destination, 500, START + SIZE_MEMORY), ==, 500);
    destination->sizes.recipients = 0;
    g_assert_false(destination_learn_recipients(destination, 1, START)); /* may be about those recipients */
    g_assert_cmpuint(destination_most(destination, 500, START), ==, 500);
    g_assert_false(destination_learn_recipients(destination, 2, START));
    g_assert_false(destination_learn_recipients(destination, 1, START));
    g_assert_false(destination_learn_recipients(destination, 1, START + 61 * CLOCK_SECOND));
    g_assert_true(destination_learn_recipients(destination, 1, START + 62 * CLOCK_SECOND)); /* twice */
    g_assert_cmpuint(destination_most(destination, 500, START + 3600 * CLOCK_SECOND), ==, 1);
    g_assert_cmpuint(destination_most(destination, 500, START + 3700 * CLOCK_SECOND), ==, 500); /* it may grow again */
    g_assert_true(destination_learn_recipients(destination, 100, START + 3700 * CLOCK_SECOND));
    g_assert_cmpuint(destination_most_transactions(destination, 0, START), ==, 0);
    destination_learn_transactions(destination, 7, START);
    g_assert_cmpuint(destination_most_transactions(destination, 0, START), ==, 7);
    g_assert_cmpuint(destination_most_transactions(destination, 5, START), ==, 5);
    json_t *saved = destination_save(destination, START);
    Destination *again = new_destination();
    g_assert_true(destination_load(again, saved, START + CLOCK_SECOND));
    g_assert_cmpuint(destination_most(again, 500, START + CLOCK_SECOND), ==, 100);
    g_assert_cmpuint(destination_most_transactions(again, 0, START), ==, 7);
    json_decref(saved);
    destination_free(destination);
    destination_free(again);
}

/* A pace that nobody has refused for hours is forgotten. */
static void forgets(void)
{
    Destination *destination = new_destination();
    destination_begin(destination, 1);
    destination_tell(destination, &(SiteReport){.news = SITE_THROTTLED, .refused = 1}, START, 0);
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
    destination->pace.rate.per_second = destination->pace.refused_at = 2;
    destination->pace.refused = destination->pace.since = START;
    destination->bucket.tokens = -3;
    destination_set_reason(destination, "4.7.28", "too fast");
    json_t *saved = destination_save(destination, START);
    Destination *again = new_destination();
    g_assert_true(destination_load(again, saved, START + CLOCK_SECOND));
    g_assert_cmpstr(again->reason, ==, "too fast");
    g_assert_cmpuint(again->window.size, ==, 17);
    g_assert_cmpfloat(destination_rate(again, START + CLOCK_SECOND).per_second, ==, 2);
    int64_t wake;
    g_assert_false(destination_room(again, START, &wake)); /* the debt is to be paid, too */
    Destination *old = new_destination();
    g_assert_true(destination_load(old, saved, START + 2 * 3600 * CLOCK_SECOND));
    g_assert_cmpuint(old->window.size, ==, 5);
    g_assert_null(old->reason);
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
    for (int ahead = 0; ahead < 2;
         ahead++) { /* since when it is away is kept; what lies ahead is no debt, and no past */
        int64_t time = ahead ? START + 7200 * CLOCK_SECOND : START - 60 * CLOCK_SECOND;
        json_t *value = json_pack("{s:I,s:f,s:I,s:f,s:f,s:I,s:I}", "used", (json_int_t)START, "tokens", -100000.0,
                                  "filled", (json_int_t)time, "pace", 1.0, "refused_at", 1.0, "refused",
                                  (json_int_t)START, "away_since", (json_int_t)time);
        Destination *other = new_destination();
        g_assert_true(destination_load(other, value, START));
        g_assert_true(destination_room(other, START, &wake) == (ahead == 1));
        g_assert_cmpint(other->away_since, ==, ahead ? 0 : time);
        destination_free(other);
        json_decref(value);
    }
    destination_free(destination);
    destination_free(again);
    destination_free(old);
}

/* Two processes that divide a relay have windows of half the size; one alone, before and after them, has the whole. */
static void window_of_all(void)
{
    DestinationLimits half = standard;
    half.window.limit /= 2;
    half.share = 2;
    Destination *alone = new_destination(), *one_of_two = destination_new("example.com", &half, NULL, START);
    alone->window.size = 19;
    json_t *saved = destination_save(alone, START);
    g_assert_true(destination_load(one_of_two, saved, START));
    g_assert_cmpuint(one_of_two->window.size, ==, 10);
    json_decref(saved);
    saved = destination_save(one_of_two, START);
    alone->window.size = 5;
    g_assert_true(destination_load(alone, saved, START));
    g_assert_cmpuint(alone->window.size, ==, 20);
    json_decref(saved);
    destination_free(alone);
    destination_free(one_of_two);
}

/* A further connection that is refused: the next is tried alone, later; idle ones go on. */
static void full(void)
{
    Destination *destination = new_destination();
    int64_t wake;
    destination->load.sessions = destination->load.established = 3;
    destination_learn_connections(destination, 3, START);
    destination_learn_connections(destination, 4, START); /* at the same time */
    g_assert_cmpint(destination->full_until, ==, START + CLOCK_SECOND);
    g_assert_false(destination_room(destination, START, &wake));
    g_assert_cmpint(wake, ==, destination->full_until);
    GList link = {0};
    g_queue_push_head_link(&destination->load.idle, &link);
    g_assert_true(destination_room(destination, START, &wake));
    g_queue_unlink(&destination->load.idle, &link);
    g_assert_true(destination_room(destination, destination->full_until, &wake));
    destination->load.sessions++;
    g_assert_false(destination_room(destination, destination->full_until, &wake));
    destination_connected(destination, START + CLOCK_SECOND);
    g_assert_false(destination_room(destination, START + CLOCK_SECOND, &wake));
    g_assert_cmpint(wake, ==, START + 2 * CLOCK_SECOND); /* the next */
    destination->load.sessions--;
    destination->load.established--;
    g_assert_true(destination_room(destination, START + CLOCK_SECOND, &wake));
    destination->load.sessions = 20;
    destination->load.established = 19;
    destination_connected(destination, START + CLOCK_SECOND);
    g_assert_cmpuint(destination->connections, ==, 0); /* as many as there are ever to be */
    destination_free(destination);
}

/* Every tenth connection is refused, at any number of them: all that may be are tried. Several in a row are a limit. */
static void refused_now_and_then(void)
{
    Destination *destination = new_destination();
    int64_t wake;
    for (int i = 0; i < 100; i++) {
        destination->load.sessions = destination->load.established = (unsigned)i % 20;
        if (i % 10 == 9)
            destination_turned_away(destination, destination->load.sessions, START);
        destination->load.sessions++;
        destination_connected(destination, START);
    }
    g_assert_cmpuint(destination->connections, ==, 0);
    destination->load.sessions = destination->load.established = 3;
    destination_turned_away(destination, 5, START); /* of six at the same time three are taken */
    destination_turned_away(destination, 4, START);
    g_assert_true(destination_room(destination, START, &wake));
    destination_turned_away(destination, 3, START);
    g_assert_false(destination_room(destination, START, &wake));
    g_assert_cmpuint(destination->connections, ==, 3);
    destination->load.sessions = destination->load.established = 1;
    destination->load.sessions++;
    destination_connected(destination, START);
    destination_turned_away(destination, 2, START); /* fewer than it takes */
    g_assert_cmpuint(destination->connections, ==, 3);
    destination_free(destination);
}

/* A server that bore three for a time and then bears all again: after a few cautious ones the others come at once. */
static void full_no_more(void)
{
    Destination *destination = new_destination();
    int64_t now = START, wake;
    destination->load.sessions = destination->load.established = 3;
    for (int i = 0; i < 10; i++) {
        destination_learn_connections(destination, 3, now);
        now = destination->full_until;
    }
    int64_t opened = now;
    while (destination->connections > 0) {
        if (!destination_room(destination, now, &wake)) {
            now = wake;
            continue;
        }
        destination->load.sessions++;
        destination_connected(destination, now);
    }
    g_assert_cmpuint(destination->load.established, ==, 20);
    g_assert_cmpint(now - opened, <=, 120 * CLOCK_SECOND);
    destination_free(destination);
}

/* Check that destinations that are called back come in the order of their arrival, whenever they were due. */
static void called_back_in_order(void)
{
    Destination *destination = new_destination();
    g_autoptr(GArray) back = g_array_new(FALSE, FALSE, sizeof(Parked));
    for (int64_t i = 0; i < 100; i++)
        parked_add(&destination->load.parked,
                   &(Parked){.due = START + (i + 1) * CLOCK_SECOND, .arrival = (i * 37) % 100}, START);
    parked_move(&destination->load.parked, back);
    g_assert_cmpuint(back->len, ==, 100);
    for (guint i = 0; i < back->len; i++)
        g_assert_cmpint(g_array_index(back, Parked, i).arrival, ==, i);
    destination_free(destination);
}

/* Of entries that come again and again to wait for a destination each is remembered once. */
static void parked(void)
{
    Destination *destination = new_destination();
    for (int64_t round = 0; round < 1000; round++)
        for (uint8_t i = 0; i < 10; i++) {
            int64_t now = START + round * 60 * CLOCK_SECOND;
            parked_add(&destination->load.parked, &(Parked){.hash = {i}, .due = now + 60 * CLOCK_SECOND}, now);
        }
    g_assert_cmpuint(destination->load.parked.all->len, <=, 64);
    for (unsigned i = 0; i < 250000; i++) /* of very many the first, as many as an inbox knows */
        parked_add(&destination->load.parked, &(Parked){.source = i, .due = 2 * START}, START);
    g_assert_cmpuint(destination->load.parked.all->len, ==, 200000);
    g_assert_cmpuint(g_array_index(destination->load.parked.all, Parked, 199999).source, >, 199000);
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
    destination_tell(destination, &(SiteReport){.news = SITE_THROTTLED, .refused = 1}, START, 0);
    g_assert_false(destination_crowded(destination, START)); /* one that was learnt, too */
    destination_end(destination);
    destination_free(destination);
    destination = new_destination();
    destination->waiting = 100;
    destination_kill(destination, START, false, 0);
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
    destination->pipelining.out++;
    pipelining_end(&destination->pipelining, false, START);
    json_t *saved = destination_save(destination, START);
    destination_free(destination);
    destination = new_destination();
    g_assert_true(destination_load(destination, saved, START + CLOCK_SECOND));
    g_assert_cmpuint(pipelining_most(&destination->pipelining, 3, START + PIPELINING_PAUSE - 1), ==, 1);
    g_assert_cmpuint(pipelining_most(&destination->pipelining, 3, START + PIPELINING_PAUSE), ==, 3);
    destination_free(destination);
    json_object_set_new(saved, "flights_pause", json_integer(START + 1000 * PIPELINING_PAUSE));
    destination = new_destination();
    g_assert_true(destination_load(destination, saved, START + CLOCK_SECOND));
    g_assert_cmpuint(pipelining_most(&destination->pipelining, 3, START + CLOCK_SECOND), ==, 3);
    json_decref(saved);
    destination_free(destination);
}

/* An order of the operator for a destination holds for the one that takes its place. */
static void inherits(void)
{
    Destination *from = new_destination(), *heir = new_destination();
    destination_suspend(from, START);
    destination_inherit(heir, from, START);
    g_assert_true(heir->suspended && !from->suspended);
    destination_inherit(heir, from, START); /* from has no orders any more */
    g_assert_true(heir->suspended);
    destination_free(from);
    destination_free(heir);
}

/* --- the window: its accounting, trace by trace, with sums that are compared with a tolerance --- */

static const Feedback one = {1, FEEDBACK_CONSTANT}, half = {.5, FEEDBACK_CONSTANT}, quarter = {.25, FEEDBACK_CONSTANT},
                      per_window = {1, FEEDBACK_CONCURRENCY}, per_root = {1, FEEDBACK_SQRT_CONCURRENCY};

typedef struct Trace {
    DestinationLimits limits;
    Destination *destination;
    unsigned events;
} Trace;

/* Begin anew, with the limits as they are. */
static void restart(Trace *trace)
{
    destination_free(trace->destination);
    trace->destination = destination_new("example.com", &trace->limits, NULL, START);
}

static Trace *trace_new(Feedback positive, Feedback negative, unsigned cohorts)
{
    Trace *trace = g_new0(Trace, 1);
    trace->limits = standard;
    trace->limits.window = (WindowLimits){.initial = 5, .limit = 20, .positive = positive, .negative = negative,
                                          .cohorts = cohorts};
    restart(trace);
    return trace;
}

static void trace_free(Trace *trace)
{
    destination_free(trace->destination);
    g_free(trace);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Trace, trace_free)

/* One delivery of those that are under way ends so. True: the destination died of it. */
static bool tell(Trace *trace, SiteNews news, unsigned busy)
{
    trace->destination->busy = busy;
    return destination_tell(trace->destination, &(SiteReport){.news = news}, START, 0);
}

/* One event of a saturated destination: busy is the window. */
static void event(Trace *trace, char what)
{
    trace->events++;
    tell(trace, what == '+' ? SITE_GOOD : SITE_FAILED, trace->destination->window.size);
}

static void expect_window(const Trace *trace, unsigned window, double success, double failure, double cohorts)
{
    g_test_message("event %u: %u(%g,%g,%g)", trace->events, trace->destination->window.size,
                   trace->destination->window.success, trace->destination->window.failure,
                   trace->destination->window.cohorts);
    g_assert_cmpuint(trace->destination->window.size, ==, window);
    g_assert_cmpfloat_with_epsilon(trace->destination->window.success, success, 1e-4);
    g_assert_cmpfloat_with_epsilon(trace->destination->window.failure, failure, 1e-4);
    g_assert_cmpfloat_with_epsilon(trace->destination->window.cohorts, cohorts, 1e-4);
}

/* Successes only: the event at which each window from 6 on is reached. */
static void expect_growth(Feedback positive, const unsigned *at, size_t count)
{
    g_autoptr(Trace) trace = trace_new(positive, one, 1);
    for (size_t i = 0; i < count; i++) {
        while (trace->events < at[i] - 1)
            event(trace, '+');
        g_assert_cmpuint(trace->destination->window.size, ==, 5 + i);
        event(trace, '+');
        g_assert_cmpuint(trace->destination->window.size, ==, 6 + i);
    }
    for (int i = 0; i < 100; i++)
        event(trace, '+');
    g_assert_cmpuint(trace->destination->window.size, ==, 20);
}

static void t1(void)
{
    unsigned at[15];
    for (unsigned i = 0; i < 15; i++)
        at[i] = i + 1;
    expect_growth(one, at, 15);
}

static void t2(void)
{
    static const unsigned at[] = {5, 11, 18, 26, 35, 45, 56, 68, 81, 95, 110, 126, 143, 161, 180};
    expect_growth(per_window, at, 15);
    g_autoptr(Trace) trace = trace_new(per_window, one, 1);
    for (unsigned i = 1; i <= 4; i++) {
        event(trace, '+');
        expect_window(trace, 5, 0.2 * i, 0, 0);
    }
    event(trace, '+');
    expect_window(trace, 6, 0, 0, 0);
    for (unsigned i = 1; i <= 5; i++) {
        event(trace, '+');
        expect_window(trace, 6, i / 6.0, 0, 0);
    }
    event(trace, '+');
    expect_window(trace, 7, 0, 0, 0);
}

static void t3(void)
{
    static const unsigned at[] = {3, 5, 8, 11, 13, 17, 20, 23, 27, 31, 34, 38, 43, 47, 51};
    expect_growth(per_root, at, 15);
}

static void t4(void)
{
    unsigned at[15];
    for (unsigned i = 0; i < 15; i++)
        at[i] = 4 * (i + 1);
    expect_growth(quarter, at, 15);
}

static void t5(void)
{
    g_autoptr(Trace) trace = trace_new(one, one, 1);
    event(trace, '-');
    expect_window(trace, 4, 0, 0, 0.2);
    event(trace, '-');
    expect_window(trace, 3, 0, 0, 0.45);
    event(trace, '-');
    expect_window(trace, 2, 0, 0, 0.7833);
    event(trace, '-');
    g_assert_true(destination_dead(trace->destination));
    g_assert_cmpfloat_with_epsilon(trace->destination->window.cohorts, 1.2833, 1e-4);
}

static void expect_death(Trace *trace, unsigned at, double cohorts)
{
    while (!destination_dead(trace->destination))
        event(trace, '-');
    g_assert_cmpuint(trace->events, ==, at);
    g_assert_cmpfloat_with_epsilon(trace->destination->window.cohorts, cohorts, 2e-4);
}

static void t6(void)
{
    g_autoptr(Trace) trace = trace_new(one, per_window, 1);
    static const double failure[] = {.8, .55, .3, .05};
    static const double cohorts[] = {.2, .45, .7, .95};
    for (int i = 0; i < 4; i++) {
        event(trace, '-');
        expect_window(trace, 4, 0, failure[i], cohorts[i]);
    }
    expect_death(trace, 5, 1.2);
}

static void t7(void)
{
    g_autoptr(Trace) trace = trace_new(one, per_root, 1);
    event(trace, '-');
    expect_window(trace, 4, 0, .5528, .2);
    event(trace, '-');
    expect_window(trace, 4, 0, .0528, .45);
    event(trace, '-');
    expect_window(trace, 3, 0, .5528, .7);
    expect_death(trace, 4, 1.0333);
}

static void t8(void)
{
    static const struct {
        unsigned window;
        double failure, cohorts;
    } steps[] = {{4, .8, .2},       {4, .55, .45},     {4, .3, .7},  {4, .05, .95}, {3, .8, 1.2},
                 {3, .4667, 1.5333}, {3, .1333, 1.8667}, {2, .8, 2.2}, {2, .3, 2.7},  {1, .8, 3.2}};
    g_autoptr(Trace) trace = trace_new(one, per_window, 10);
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
        event(trace, '-');
        expect_window(trace, steps[i].window, 0, steps[i].failure, steps[i].cohorts);
    }
    for (double cohorts = 4.2; cohorts < 10; cohorts++) {
        event(trace, '-');
        g_assert_cmpuint(trace->destination->window.size, ==, 1);
        g_assert_cmpfloat_with_epsilon(trace->destination->window.cohorts, cohorts, 1e-4);
    }
    expect_death(trace, 17, 10.2);
}

static void t9(void)
{
    static const unsigned windows[] = {4, 3, 2, 1, 1};
    static const double cohorts[] = {.2, .45, .7833, 1.2833, 2.2833};
    g_autoptr(Trace) trace = trace_new(one, one, 3);
    for (int i = 0; i < 5; i++) {
        event(trace, '-');
        g_assert_cmpuint(trace->destination->window.size, ==, windows[i]);
        g_assert_cmpfloat_with_epsilon(trace->destination->window.cohorts, cohorts[i], 1e-4);
    }
    expect_death(trace, 6, 3.2833);
    g_autoptr(Trace) ten = trace_new(one, one, 10);
    expect_death(ten, 13, 10.2833);
}

static void t10(void)
{
    for (unsigned cohorts = 1; cohorts <= 10; cohorts += 9) {
        g_autoptr(Trace) trace = trace_new(one, one, cohorts);
        trace->limits.window.limit = 1;
        restart(trace);
        expect_death(trace, cohorts, cohorts);
    }
}

static void t11(void)
{
    g_autoptr(Trace) trace = trace_new(one, one, 1);
    trace->destination->window.size = 20;
    for (unsigned window = 19; window >= 8; window--) {
        event(trace, '-');
        g_assert_cmpuint(trace->destination->window.size, ==, window);
    }
    expect_death(trace, 13, 1.005);
}

static void t12(void)
{
    g_autoptr(Trace) trace = trace_new(one, per_window, 1);
    trace->destination->window.size = 20;
    event(trace, '-');
    expect_window(trace, 19, 0, .95, .05);
    while (trace->events < 19)
        event(trace, '-');
    expect_window(trace, 19, 0, .0026, .9974);
    expect_death(trace, 20, 1.05);
}

typedef struct Step {
    char event;
    unsigned window;
    double success, failure, cohorts;
} Step;

static void follow(Trace *trace, const Step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        event(trace, steps[i].event);
        expect_window(trace, steps[i].window, steps[i].success, steps[i].failure, steps[i].cohorts);
    }
}

static void t13(void)
{
    static const Step steps[] = {{'-', 4, 0, .5, .2},  {'-', 4, 0, 0, .45}, {'-', 3, 0, .5, .7},
                                 {'+', 3, .5, .5, 0},  {'+', 4, 0, 0, 0},   {'-', 3, 0, .5, .25},
                                 {'-', 3, 0, 0, .5833}, {'+', 3, .5, 0, 0}};
    g_autoptr(Trace) trace = trace_new(half, half, 100);
    follow(trace, steps, G_N_ELEMENTS(steps));
}

static void t14(void)
{
    static const Step steps[] = {{'+', 5, .2, 0, 0}, {'+', 5, .4, 0, 0},       {'+', 5, .6, 0, 0},
                                 {'+', 5, .8, 0, 0}, {'+', 6, 0, 0, 0},        {'-', 5, 0, .8333, .1667},
                                 {'+', 5, .2, .8333, 0}, {'+', 5, .4, .8333, 0}, {'+', 5, .6, .8333, 0},
                                 {'+', 5, .8, .8333, 0}, {'+', 6, 0, 0, 0},      {'+', 6, .1667, 0, 0},
                                 {'-', 5, 0, .8333, .1667}};
    g_autoptr(Trace) trace = trace_new(per_window, per_window, 1);
    follow(trace, steps, G_N_ELEMENTS(steps));
}

static void t15(void)
{
    static const unsigned windows[] = {5, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4};
    g_autoptr(Trace) trace = trace_new(per_window, per_window, 1);
    for (size_t i = 0; i < 16; i++) {
        event(trace, i % 2 == 0 ? '+' : '-');
        g_assert_cmpuint(trace->destination->window.size, ==, windows[i]);
    }
}

static void t16(void)
{
    static const unsigned windows[] = {6, 7, 8, 8, 8, 8};
    g_autoptr(Trace) trace = trace_new(one, one, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(windows); i++) {
        tell(trace, SITE_GOOD, 3);
        g_assert_cmpuint(trace->destination->window.size, ==, windows[i]);
    }
}

static void t17(void)
{
    g_autoptr(Trace) trace = trace_new(one, one, 1);
    expect_death(trace, 4, 1.2833);
    tell(trace, SITE_GOOD, 2);
    g_assert_false(destination_dead(trace->destination));
    expect_window(trace, 2, 0, 0, 0);
    destination_kill(trace->destination, START, false, 0);
    trace->destination->busy = 0;
    destination_revive(trace->destination);
    expect_window(trace, 5, 0, 0, 0);
}

static void t18(void)
{
    static const Step steps[] = {{'+', 6, 0, 0, 0}, {'+', 7, 0, 0, 0}, {'+', 8, 0, 0, 0}, {'-', 7, 0, 0, .125}};
    g_autoptr(Trace) trace = trace_new(one, one, 1);
    follow(trace, steps, G_N_ELEMENTS(steps));
}

static void t19(void)
{
    g_autoptr(Trace) trace = trace_new(one, one, 1);
    trace->limits.window.limit = 0;
    restart(trace);
    for (unsigned i = 0; i < 1000; i++)
        event(trace, '+');
    g_assert_cmpuint(trace->destination->window.size, ==, 1005);
    trace->limits.window.limit = 3;
    restart(trace);
    for (unsigned i = 0; i < 10; i++) {
        g_assert_cmpuint(trace->destination->window.size, ==, 3);
        event(trace, '+');
    }
}

static void t20(void)
{
    for (int good = 0; good < 2; good++) {
        g_autoptr(Trace) trace = trace_new(one, one, 1);
        expect_death(trace, 4, 1.2833);
        if (good) {
            tell(trace, SITE_GOOD, 1);
            g_assert_false(destination_dead(trace->destination));
            g_assert_cmpuint(trace->destination->window.size, ==, 1);
            continue;
        }
        Window before = trace->destination->window;
        g_assert_false(tell(trace, SITE_FAILED, 1));
        g_assert_cmpmem(&before, sizeof before, &trace->destination->window, sizeof before);
    }
}

/* Nobody dies of being asked for less, and the window never closes. */
static void shrinks(void)
{
    g_autoptr(Trace) trace = trace_new(one, one, 1);
    for (int i = 0; i < 50; i++) {
        tell(trace, SITE_THROTTLED, 1);
        destination_resume(trace->destination, START); /* its rest is over, so the next refusal counts again */
    }
    expect_window(trace, 1, 0, 0, 0);
    g_autoptr(Trace) immortal = trace_new(one, one, 0);
    for (int i = 0; i < 50; i++)
        event(immortal, '-');
    g_assert_cmpuint(immortal->destination->window.size, ==, 1);
}

/* --- flights --- */

/* As many answers as a connection gets in so long, each after `took`. */
static int64_t answers(Pipelining *pipelining, int64_t took, int64_t from, int64_t span)
{
    int64_t now = from;
    for (; now < from + span; now += took)
        pipelining_observe(pipelining, took, now);
    return now;
}

static void expect_flight(const Pipelining *pipelining, int64_t now, unsigned most)
{
    g_assert_cmpuint(pipelining_most(pipelining, 0, now), ==, most);
}

static void slow_pays(void)
{
    Pipelining pipelining = {0};
    expect_flight(&pipelining, START, 1);
    int64_t now = answers(&pipelining, 20 * MS, START, PIPELINING_SPAN - 20 * MS);
    expect_flight(&pipelining, now, 1); /* a whole span says so, or nothing does */
    now = answers(&pipelining, 20 * MS, now, PIPELINING_SPAN);
    expect_flight(&pipelining, now, PIPELINING_DEFAULT);
    now = answers(&pipelining, 20 * MS, now, 100 * PIPELINING_SPAN);
    expect_flight(&pipelining, now, PIPELINING_DEFAULT);
}

/* One short answer in a span or the one before it is enough: the others waited for this host. */
static void fast_does_not(void)
{
    Pipelining pipelining = {0};
    int64_t now = answers(&pipelining, PIPELINING_SLOW, START, 10 * PIPELINING_SPAN);
    expect_flight(&pipelining, now, 1);
    now = answers(&pipelining, 40 * MS, now, 3 * PIPELINING_SPAN);
    expect_flight(&pipelining, now, PIPELINING_DEFAULT);
    pipelining_observe(&pipelining, 1 * MS, now);
    expect_flight(&pipelining, now, 1);
    now = answers(&pipelining, 40 * MS, now, PIPELINING_SPAN);
    expect_flight(&pipelining, now, 1);
    now = answers(&pipelining, 40 * MS, now, 2 * PIPELINING_SPAN);
    expect_flight(&pipelining, now, PIPELINING_DEFAULT);
    pipelining_observe(&pipelining, 0, now); /* not to be told from nothing otherwise */
    expect_flight(&pipelining, now, 1);
    for (int i = 0; i < 1000; i++) { /* a busy host, nearly always */
        now = answers(&pipelining, 30 * MS, now, PIPELINING_SPAN / 2);
        pipelining_observe(&pipelining, 2 * MS, now);
        expect_flight(&pipelining, now, 1);
    }
}

/* Check that known answers stay known while nothing is sent, and that a clock that was set back does no harm. */
static void flights_waits(void)
{
    Pipelining pipelining = {0};
    int64_t now = answers(&pipelining, 20 * MS, START, 3 * PIPELINING_SPAN);
    expect_flight(&pipelining, now + 3600 * CLOCK_SECOND, PIPELINING_DEFAULT);
    now = answers(&pipelining, 20 * MS, START - 3600 * CLOCK_SECOND, 3 * PIPELINING_SPAN);
    expect_flight(&pipelining, now, PIPELINING_DEFAULT);
}

static void flights_wanted(void)
{
    Pipelining pipelining = {0};
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START), ==, 7);
    g_assert_cmpuint(pipelining_most(&pipelining, 1, START), ==, 1);
    answers(&pipelining, 20 * MS, START, 3 * PIPELINING_SPAN);
    g_assert_cmpuint(pipelining_most(&pipelining, 1, START), ==, 1);
}

/* One flight, until it is back; then as many as there are connections. */
static void proves_itself(void)
{
    Pipelining pipelining = {0};
    pipelining.out++;
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START), ==, 1);
    pipelining_end(&pipelining, true, START);
    for (int i = 0; i < 20; i++) {
        g_assert_cmpuint(pipelining_most(&pipelining, 7, START), ==, 7);
        pipelining.out++;
    }
    for (int i = 0; i < 20; i++)
        pipelining_end(&pipelining, true, START);
}

static void flights_pauses(void)
{
    Pipelining pipelining = {.proven = true};
    pipelining.out++;
    pipelining.out++;
    pipelining_end(&pipelining, false, START);
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START), ==, 1);
    pipelining_end(&pipelining, true, START + CLOCK_SECOND); /* was out already: one was broken all the same */
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START + PIPELINING_PAUSE - 1), ==, 1);
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START + PIPELINING_PAUSE), ==, 7);
    pipelining.out++;
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START + PIPELINING_PAUSE), ==, 1); /* alone, as the first */
    pipelining_end(&pipelining, true, START + PIPELINING_PAUSE);
    pipelining.out++;
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START + PIPELINING_PAUSE), ==, 7);
}

SUITE("outgoing/destination")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/destination/escalates", escalates);
    g_test_add_func("/destination/rates", rates);
    g_test_add_func("/destination/bucket", bucket);
    g_test_add_func("/destination/constant limits", constant_limits);
    g_test_add_func("/destination/recovery", recovery);
    g_test_add_func("/destination/refused costs nothing", refused_costs_nothing);
    g_test_add_func("/destination/sizes", sizes);
    g_test_add_func("/destination/forgets", forgets);
    g_test_add_func("/destination/remembers", remembers);
    g_test_add_func("/destination/remembers window", remembers_window);
    g_test_add_func("/destination/window of all processes", window_of_all);
    g_test_add_func("/destination/called back in order", called_back_in_order);
    g_test_add_func("/destination/full", full);
    g_test_add_func("/destination/full no more", full_no_more);
    g_test_add_func("/destination/refused now and then", refused_now_and_then);
    g_test_add_func("/destination/parked", parked);
    g_test_add_func("/destination/crowded", crowded);
    g_test_add_func("/destination/remembers pause", remembers_pause);
    g_test_add_func("/destination/inherits", inherits);
    static void (*const traces[])(void) = {t1,  t2,  t3,  t4,  t5,  t6,  t7,  t8,  t9,  t10,
                                           t11, t12, t13, t14, t15, t16, t17, t18, t19, t20};
    for (size_t i = 0; i < G_N_ELEMENTS(traces); i++) {
        g_autofree char *name = g_strdup_printf("/window/T%zu", i + 1);
        g_test_add_func(name, traces[i]);
    }
    g_test_add_func("/window/shrinks", shrinks);
    g_test_add_func("/flights/slow pays", slow_pays);
    g_test_add_func("/flights/fast does not", fast_does_not);
    g_test_add_func("/flights/waits", flights_waits);
    g_test_add_func("/flights/wanted", flights_wanted);
    g_test_add_func("/flights/proves itself", proves_itself);
    g_test_add_func("/flights/pauses", flights_pauses);
    return g_test_run();
}
