/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/bounce.h"

#include <string.h>

#include "store/people/bounce_internal.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define NOW (INT64_C(20000) * BOUNCE_DAY + 5)

static const char *const members[] = {"anne@example.org", "bart@example.org", "cris@sub.example.org",
                                      "dora@example.net"};

static void open_with_members(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fixture_open_list(fixture, data);
    for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
        assert_ok(
            member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(members[i]), NULL, &preferences_unset, &error),
            error);
}

static BounceEvent event_of(const char *address, int64_t at, int64_t weight)
{
    return (BounceEvent){.list_id = LIST,
                         .address = mailbox_of(address),
                         .at = at,
                         .weight = weight,
                         .class = weight < 100 ? "temporary" : "permanent",
                         .status = weight < 100 ? "4.2.2" : "5.1.1",
                         .reason = weight < 100 ? "mailbox-full" : "user-unknown",
                         .source = "report",
                         .text = "no"};
}

static int64_t note(Store *store, const char *address, int64_t at, int64_t weight, int64_t expected_number)
{
    GError *error = NULL;
    BounceNoted noted = {-1, -1, false};
    BounceEvent event = event_of(address, at, weight);
    assert_ok(bounce_note(store, &event, &noted, &error), error);
    g_assert_cmpint(noted.number, ==, expected_number);
    return noted.added;
}

static BounceScore score_of(Store *store, const char *address)
{
    GError *error = NULL;
    g_autoptr(Member) member = member_find(store, LIST, ROLE_MEMBER, mailbox_of(address), &error);
    g_assert_no_error(error);
    BounceScore score = {0};
    assert_ok(bounce_score_read(store, member->id, &score, &error), error);
    return score;
}

/* A failure of a member at a domain with the reply "x", when and of which kind. */
static BounceBrake failed(Store *store, const char *domain, int64_t at, bool mailbox)
{
    GError *error = NULL;
    BounceBrake brake;
    BounceBrakeEvent event = {.list_id = LIST, .domain = domain, .reply = "x", .text = "550 x", .mailbox = mailbox,
                              .first = true, .at = at};
    assert_ok(bounce_brake_count(store, &event, &brake, &error), error);
    return brake;
}

static void count_row(const BounceBrakeRow *row, void *data)
{
    *(unsigned *)data += 1;
    g_assert_cmpstr(row->text, ==, "550 x");
}

static unsigned holding(Store *store, int64_t now)
{
    GError *error = NULL;
    unsigned count = 0;
    assert_ok(bounce_brake_each(store, now, 10, count_row, &count, &error), error);
    return count;
}

static void add_at(Store *store, const char *domain, unsigned count)
{
    GError *error = NULL;
    for (unsigned at = 0; at < count; at++) {
        g_autofree char *address = g_strdup_printf("m%u@%s", at, domain);
        assert_ok(member_add(store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, &preferences_unset, &error), error);
    }
}

/* More than half of a domain's members, and at least five; it holds as long as the reply comes, and two days more. */
static void test_brake_of_domain(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    add_at(store, "big.example", 20);
    add_at(store, "many.example", 200);
    for (int at = 0; at < 10; at++)
        g_assert_false(failed(store, "big.example", NOW + at, false).held);
    g_assert_cmpuint(holding(store, NOW), ==, 0);
    BounceBrake closes = failed(store, "big.example", NOW + 10, false);
    g_assert_true(closes.held && closes.closed);
    g_assert_cmpuint(holding(store, NOW + 11), ==, 1);
    for (int day = 1; day < 4; day++) {
        BounceBrake next = failed(store, "big.example", NOW + day * BOUNCE_DAY, false);
        g_assert_true(next.held && !next.closed);
    }
    g_assert_cmpuint(holding(store, NOW + 4 * BOUNCE_DAY), ==, 1);
    g_assert_cmpuint(holding(store, NOW + 5 * BOUNCE_DAY + 1), ==, 0);
    g_assert_false(failed(store, "big.example", NOW + 6 * BOUNCE_DAY, false).held);
}

/* A domain with fewer than five members never has one, and the list needs two domains. */
static void test_brake_of_list(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    add_at(store, "big.example", 36); /* 40 members with those of the fixture */
    for (int at = 0; at < 6; at++)
        g_assert_false(failed(store, "big.example", NOW + at, false).held);
    BounceBrake closes = failed(store, "example.net", NOW + 7, false);
    g_assert_true(closes.held && closes.closed);
    g_assert_true(failed(store, "example.org", NOW + 8, false).held);
}

/* Words about the mailbox itself: one day, and then no more for a month. */
static void test_brake_of_mailboxes(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    add_at(store, "gone.example", 8);
    for (int at = 0; at < 4; at++)
        g_assert_false(failed(store, "gone.example", NOW + at, true).held);
    g_assert_true(failed(store, "gone.example", NOW + 4, true).closed);
    g_assert_true(failed(store, "gone.example", NOW + 5, true).held);
    for (int week = 1; week <= 4; week++)
        for (int at = 0; at < 8; at++)
            g_assert_false(failed(store, "gone.example", NOW + 7 * week * BOUNCE_DAY + at, true).held);
}

/* A brake that closed while the clock was ahead holds nothing back when it is right again. */
static void test_brake_ahead(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    int64_t ahead = NOW + 400 * BOUNCE_DAY;
    add_at(store, "gone.example", 8);
    for (int at = 0; at < 5; at++)
        failed(store, "gone.example", ahead + at, true);
    g_assert_cmpuint(holding(store, ahead + 5), ==, 1);
    g_assert_cmpuint(holding(store, NOW), ==, 0);
    for (int at = 0; at < 5; at++)
        g_assert_cmpint(failed(store, "gone.example", NOW + at, true).held, ==, at == 4);
}

/* Replies that differ take no more rows than a list may have. */
static void test_brake_rows(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    GError *error = NULL;
    for (int at = 0; at < 3 * BOUNCE_BRAKE_ROWS; at++) {
        g_autofree char *reply = g_strdup_printf("reply %d", at);
        BounceBrakeEvent event = {.list_id = LIST, .domain = "example.org", .reply = reply, .text = reply,
                                  .first = true, .at = NOW + at};
        BounceBrake brake;
        assert_ok(bounce_brake_count(store, &event, &brake, &error), error);
    }
    g_autoptr(Query) query = query_open(store, &error, "SELECT count(*) FROM bounce_brake");
    g_assert_true(query_step(query, &error) == STEP_ROW);
    g_assert_cmpint(query_integer(query, 0), <=, BOUNCE_BRAKE_ROWS);
}

/* Many other replies do not make a brake forget that it has closed: dead mailboxes get their points the next day. */
static void test_closed_brake_stays(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    add_at(store, "gone.example", 8);
    for (int at = 0; at < 5; at++)
        failed(store, "gone.example", NOW + at, true);
    test_brake_rows(fixture, data);
    for (int at = 0; at < 8; at++)
        g_assert_false(failed(store, "gone.example", NOW + BOUNCE_DAY + at, true).held);
}

/* The weight of a day is taken back from the day and the score. */
static void test_take_back(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    GError *error = NULL;
    note(store, "anne@example.org", NOW, 100, 1);
    g_auto(BounceScore) score = score_of(store, "anne@example.org");
    score.score = 250;
    score.last_bounce_at = NOW;
    assert_ok(bounce_score_write(store, &score, &error), error);
    assert_ok(bounce_take_back(store, &(BounceTakenBack){LIST, "Anne@example.org", NOW / BOUNCE_DAY, 100, true},
                               &error),
              error);
    g_auto(BounceScore) after = score_of(store, "anne@example.org");
    g_assert_cmpint(after.score, ==, 150);
    g_assert_cmpint(note(store, "anne@example.org", NOW + 1, 100, 2), ==, 100);
}

/* A day counts as much as its gravest bounce, in whatever order they come. */
static void test_day(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    g_assert_cmpint(note(store, "anne@example.org", NOW, 25, 1), ==, 25);
    g_assert_cmpint(note(store, "Anne@Example.org", NOW + 1, 25, 2), ==, 0);
    g_assert_cmpint(note(store, "anne@example.org", NOW + 2, 100, 3), ==, 75);
    g_assert_cmpint(note(store, "anne@example.org", NOW + 3, 25, 4), ==, 0);
    g_assert_cmpint(note(store, "anne@example.org", NOW + BOUNCE_DAY, 25, 1), ==, 25);
    g_assert_cmpint(note(store, "bart@example.org", NOW, 0, 1), ==, 0);
}

static bool gather(const BounceDay *day, void *data)
{
    g_string_append_printf(data, "%s %s %d %d %s %s;", day->address, day->domain, (int)(day->day - NOW / BOUNCE_DAY),
                           (int)day->bounces, day->status, day->reason);
    return true;
}

static void assert_days(Store *store, const BounceFilter *filter, const char *expected)
{
    GError *error = NULL;
    g_autoptr(GString) found = g_string_new(NULL);
    assert_ok(bounce_day_each(store, filter, gather, found, &error), error);
    g_assert_cmpstr(found->str, ==, expected);
}

#define ANNE "anne@example.org example.org 0 2 5.1.1 user-unknown;"
#define BART "bart@example.org example.org 1 1 4.2.2 mailbox-full;"
#define CRIS "cris@sub.example.org sub.example.org 0 1 5.1.1 user-unknown;"

static void test_filter(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    GError *error = NULL;
    note(store, "anne@example.org", NOW, 25, 1);
    note(store, "anne@example.org", NOW, 100, 2);
    note(store, "cris@sub.example.org", NOW, 100, 1);
    note(store, "bart@example.org", NOW + BOUNCE_DAY, 25, 1);
    assert_days(store, &(BounceFilter){0}, ANNE CRIS BART);
    assert_days(store, &(BounceFilter){.list_id = LIST}, ANNE CRIS BART);
    assert_days(store, &(BounceFilter){.list_id = "x.example.com"}, "");
    assert_days(store, &(BounceFilter){.address = "ANNE@example.org"}, ANNE);
    assert_days(store, &(BounceFilter){.list_id = LIST, .address = "anne@example.org"}, ANNE);
    assert_days(store, &(BounceFilter){.list_id = "x.example.com", .address = "anne@example.org"}, "");
    assert_days(store, &(BounceFilter){.domain = "Example.org"}, ANNE BART);
    assert_days(store, &(BounceFilter){.domain = "sub.example.org"}, CRIS);
    assert_days(store, &(BounceFilter){.domain = "ample.org"}, "");
    assert_days(store, &(BounceFilter){.reason = "mailbox-full"}, BART);
    assert_days(store, &(BounceFilter){.since = NOW + BOUNCE_DAY}, BART);
    assert_ok(bounce_expire(store, NOW + BOUNCE_DAY, &error), error);
    assert_days(store, &(BounceFilter){0}, BART);
    assert_ok(list_remove(store, LIST, &error), error);
    assert_days(store, &(BounceFilter){0}, "");
}

static void set_score(Store *store, const char *address, int64_t points, int64_t disabled_at, int64_t next_at)
{
    GError *error = NULL;
    g_auto(BounceScore) score = score_of(store, address);
    score.score = points;
    score.disabled_at = disabled_at;
    score.last_bounce_at = NOW;
    score.next_at = next_at;
    assert_ok(bounce_score_write(store, &score, &error), error);
    if (disabled_at) {
        Preferences own = preferences_unset;
        own.delivery_status = DELIVERY_BY_BOUNCES;
        own.delivery_mode = MODE_REGULAR;
        assert_ok(member_set_preferences(store, LIST, ROLE_MEMBER, mailbox_of(address), &own, &error), error);
    }
}

static bool forget(const BounceScore *score, void *data)
{
    GString *text = data;
    g_string_append_printf(text, "%s;", score->address);
    return true;
}

static void assert_due(Store *store, int64_t now, int limit, const char *expected)
{
    GError *error = NULL;
    g_autoptr(GString) found = g_string_new(NULL);
    assert_ok(bounce_score_due(store, now, limit, forget, found, &error), error);
    g_assert_cmpstr(found->str, ==, expected);
}

static void test_due(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    GError *error = NULL;
    assert_due(store, NOW, 10, "");
    set_score(store, "anne@example.org", 100, 0, NOW + 20);
    set_score(store, "bart@example.org", 0, NOW, NOW + 10);
    set_score(store, "dora@example.net", 25, 0, NOW + 30);
    assert_due(store, NOW, 10, "");
    assert_due(store, NOW + 20, 10, "bart@example.org;anne@example.org;");
    assert_due(store, NOW + 30, 1, "bart@example.org;");
    set_score(store, "bart@example.org", 0, 0, 0); /* no row is left */
    assert_due(store, NOW + 30, 10, "anne@example.org;dora@example.net;");
    g_auto(BounceScore) anne = score_of(store, "anne@example.org"), cris = score_of(store, "cris@sub.example.org");
    g_assert_cmpint(anne.score, ==, 100);
    g_assert_cmpstr(anne.list_id, ==, LIST);
    g_assert_cmpint(cris.score, ==, 0);
    g_assert_cmpint(cris.next_at, ==, 0);
    assert_ok(member_remove(store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), &error), error);
    assert_due(store, NOW + 30, 10, "dora@example.net;");
    g_assert_false(bounce_score_write(store, &anne, &error));
    assert_failed(FAIL_MISSING, error);
    g_auto(BounceScore) gone = {0};
    g_assert_false(bounce_score_read(store, anne.member_id, &gone, &error));
    assert_failed(FAIL_MISSING, error);
}

static bool stand(const BounceScore *score, const BounceDay *last, void *data)
{
    g_string_append_printf(data, "%s %d %s %s;", score->address, (int)score->score,
                           delivery_status_text(score->status), last ? last->reason : "-");
    return true;
}

static void test_standing(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    GError *error = NULL;
    int64_t changed;
    set_score(store, "anne@example.org", 100, 0, NOW);
    set_score(store, "bart@example.org", 0, NOW, NOW);
    set_score(store, "dora@example.net", 25, 0, NOW);
    note(store, "anne@example.org", NOW, 25, 1);
    note(store, "anne@example.org", NOW + BOUNCE_DAY, 100, 1);
    note(store, "bart@example.org", NOW, 25, 1);
    g_autoptr(GString) found = g_string_new(NULL);
    assert_ok(bounce_standing_each(store, &(BounceFilter){.list_id = LIST}, stand, found, &error), error);
    g_assert_cmpstr(found->str, ==, "dora@example.net 25 enabled -;anne@example.org 100 enabled user-unknown;"
                                    "bart@example.org 0 by_bounces mailbox-full;");
    g_string_truncate(found, 0);
    assert_ok(bounce_standing_each(store, &(BounceFilter){.reason = "mailbox-full"}, stand, found, &error), error);
    g_assert_cmpstr(found->str, ==, "bart@example.org 0 by_bounces mailbox-full;");
    g_string_truncate(found, 0);
    BounceFilter anne = {.address = "Anne@Example.org", .domain = "example.org", .since = NOW};
    assert_ok(bounce_standing_each(store, &anne, stand, found, &error), error);
    g_assert_cmpstr(found->str, ==, "anne@example.org 100 enabled user-unknown;");
    assert_ok(bounce_standing_each(store, &(BounceFilter){.address = "eve@example.org"}, stand, found, &error), error);
    anne.list_id = "other.example.com";
    assert_ok(bounce_standing_each(store, &anne, stand, found, &error), error);
    g_assert_cmpstr(found->str, ==, "anne@example.org 100 enabled user-unknown;"); /* no more than before */
    assert_ok(bounce_reset(store, &(BounceFilter){.domain = "example.org"}, &changed, &error), error);
    g_assert_cmpint(changed, ==, 2);
    g_autoptr(Member) bart = member_find(store, LIST, ROLE_MEMBER, mailbox_of("bart@example.org"), &error);
    g_assert_cmpint(bart->effective.delivery_status, ==, DELIVERY_ENABLED);
    g_assert_cmpint(bart->own.delivery_mode, ==, MODE_REGULAR); /* what else was set stays */
    assert_due(store, NOW, 10, "dora@example.net;");
}

/* Goes through no table from end to end but the one named, of which all rows are asked for, and the site's preferences,
 * which are one row. */
static void assert_looked_up(Fixture *fixture, const char *statement, const char *scanned)
{
    GError *error = NULL;
    g_autoptr(Query) query = query_open(fixture->store, &error, statement, TEXT(""), TEXT(""), TEXT(""), TEXT(""),
                                        INTEGER(0));
    g_assert_no_error(error);
    unsigned steps = 0;
    for (; query_step(query, &error) == STEP_ROW; steps++) {
        const char *step = query_text(query, 3);
        g_test_message("%s", step);
        g_assert_true(!g_str_has_prefix(step, "SCAN") || g_str_equal(step, "SCAN site_preference") ||
                      (scanned && g_str_has_prefix(step, scanned)));
    }
    g_assert_no_error(error);
    g_assert_cmpuint(steps, >, 1);
}

#define EXPLAIN "EXPLAIN QUERY PLAN "

static void test_looks_at_few(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    assert_looked_up(fixture, EXPLAIN BOUNCE_DAYS_OF_BOTH, NULL);
    assert_looked_up(fixture, EXPLAIN BOUNCE_DAYS_OF_LIST, NULL);
    assert_looked_up(fixture, EXPLAIN BOUNCE_DAYS_OF_ADDRESS, "SCAN l"); /* for each list, the address */
    assert_looked_up(fixture, EXPLAIN BOUNCE_DAYS_OF_ALL, NULL);         /* by day */
    assert_looked_up(fixture, EXPLAIN BOUNCE_STANDINGS_OF_ADDRESS, NULL);
    assert_looked_up(fixture, EXPLAIN BOUNCE_STANDINGS_OF_ALL, "SCAN s"); /* few of the members have a score */
}

/* Check that no statement goes through all members, whether it resets all that have a score, or one address. */
static void test_reset_looks_at_few(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    static const char *const statements[] = {
        "EXPLAIN QUERY PLAN " BOUNCE_ENABLE(BOUNCE_OF_ALL), "EXPLAIN QUERY PLAN " BOUNCE_FORGET(BOUNCE_OF_ALL),
        "EXPLAIN QUERY PLAN " BOUNCE_ENABLE(BOUNCE_OF_ADDRESS), "EXPLAIN QUERY PLAN " BOUNCE_FORGET(BOUNCE_OF_ADDRESS)};
    for (size_t at = 0; at < G_N_ELEMENTS(statements); at++) {
        GError *error = NULL;
        g_autoptr(Query) query =
            query_open(fixture->store, &error, statements[at], TEXT(""), TEXT(""), TEXT(""), TEXT(""));
        unsigned steps = 0;
        for (; query_step(query, &error) == STEP_ROW; steps++) {
            const char *step = query_text(query, 3);
            bool scores = g_str_has_prefix(step, "SCAN s ") && at < 2;
            g_test_message("%s", step);
            g_assert_true(scores || !g_str_has_prefix(step, "SCAN"));
        }
        g_assert_no_error(error);
        g_assert_cmpuint(steps, >, 3);
    }
}

static void test_reset(Fixture *fixture, const void *data)
{
    static const struct {
        BounceFilter filter;
        int64_t changed;
    } cases[] = {
        {{.address = "Anne@Example.org"}, 2}, /* on both lists */
        {{.address = "anne@example.org", .list_id = LIST}, 1},
        {{.address = "anne@example.org", .list_id = "gone.example.com"}, 0},
        {{.address = "anne@example.org", .domain = "example.net"}, 0},
        {{.address = "dora@example.net"}, 0},
        {{.list_id = LIST}, 3},
        {{.domain = "Example.ORG"}, 3},
        {{.domain = "example.org", .list_id = LIST}, 2},
        {{.reason = "mailbox-full"}, 1},
        {{.reason = "mailbox-full", .address = "bart@example.org"}, 1},
        {{.reason = "user-unknown", .list_id = LIST}, 1},
        {{0}, 4},
    };
    Store *store = fixture->store;
    GError *error = NULL;
    g_autoptr(List) other = list_create(store, "other@example.com", &error);
    assert_ok(member_add(store, other->list_id, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error),
              error);
    g_autoptr(Member) anne = member_find(store, other->list_id, ROLE_MEMBER, mailbox_of("anne@example.org"), &error);
    note(store, "anne@example.org", NOW, 25, 1);
    note(store, "anne@example.org", NOW + BOUNCE_DAY, 100, 1); /* the last one counts */
    note(store, "bart@example.org", NOW, 25, 1);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        int64_t changed;
        set_score(store, "anne@example.org", 100, 0, NOW);
        set_score(store, "bart@example.org", 0, NOW, NOW);
        set_score(store, "cris@sub.example.org", 25, 0, NOW);
        BounceScore score = {.score = 100, .next_at = NOW};
        g_strlcpy(score.member_id, anne->id, sizeof score.member_id);
        assert_ok(bounce_score_write(store, &score, &error), error);
        assert_ok(bounce_reset(store, &cases[at].filter, &changed, &error), error);
        g_test_message("case %zu", at);
        g_assert_cmpint(changed, ==, cases[at].changed);
    }
}

static void test_count(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t today;
    for (int i = 1; i <= 3; i++) {
        assert_ok(bounce_count(fixture->store, LIST, "notice", NOW, &today, &error), error);
        g_assert_cmpint(today, ==, i);
    }
    assert_ok(bounce_count(fixture->store, LIST, "unsigned", NOW, &today, &error), error);
    g_assert_cmpint(today, ==, 1);
    assert_ok(bounce_count(fixture->store, LIST, "notice", NOW + BOUNCE_DAY, &today, &error), error);
    g_assert_cmpint(today, ==, 1);
    g_assert_false(bounce_count(fixture->store, "gone.example.com", "notice", NOW, &today, &error));
    assert_failed(FAIL_MISSING, error);
}

SUITE("bounce")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/bounce/day", Fixture, NULL, open_with_members, test_day, fixture_close);
    g_test_add("/bounce/filter", Fixture, NULL, open_with_members, test_filter, fixture_close);
    g_test_add("/bounce/due", Fixture, NULL, open_with_members, test_due, fixture_close);
    g_test_add("/bounce/standing", Fixture, NULL, open_with_members, test_standing, fixture_close);
    g_test_add("/bounce/looks-at-few", Fixture, NULL, open_with_members, test_looks_at_few, fixture_close);
    g_test_add("/bounce/reset-looks-at-few", Fixture, NULL, open_with_members, test_reset_looks_at_few, fixture_close);
    g_test_add("/bounce/reset", Fixture, NULL, open_with_members, test_reset, fixture_close);
    g_test_add("/bounce/count", Fixture, NULL, open_with_members, test_count, fixture_close);
    g_test_add("/bounce/brake-of-domain", Fixture, NULL, open_with_members, test_brake_of_domain, fixture_close);
    g_test_add("/bounce/brake-of-list", Fixture, NULL, open_with_members, test_brake_of_list, fixture_close);
    g_test_add("/bounce/brake-of-mailboxes", Fixture, NULL, open_with_members, test_brake_of_mailboxes, fixture_close);
    g_test_add("/bounce/brake-rows", Fixture, NULL, open_with_members, test_brake_rows, fixture_close);
    g_test_add("/bounce/closed-brake-stays", Fixture, NULL, open_with_members, test_closed_brake_stays, fixture_close);
    g_test_add("/bounce/brake-ahead", Fixture, NULL, open_with_members, test_brake_ahead, fixture_close);
    g_test_add("/bounce/take-back", Fixture, NULL, open_with_members, test_take_back, fixture_close);
    return g_test_run();
}
