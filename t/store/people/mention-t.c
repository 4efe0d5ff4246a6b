/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Each place in the database where an address stands is found, of one person and not of the next. */
#include "store/people/mention.h"

#include <string.h>

#include "store/lists/list_log.h"
#include "store/people/account.h"
#include "store/people/ban.h"
#include "store/people/member.h"
#include "store/people/session.h"
#include "store/posts/autoresponse.h"
#include "store/posts/held.h"
#include "store/posts/pace.h"
#include "store/posts/ticket.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define ANNE "Anne_B@example.org"
#define JOANNE "JoAnne_B@example.org" /* has the other as its end */
#define NOW (20000 * INT64_C(86400) * CLOCK_SECOND)
#define ALL (~0u)
#define OF_PERSON (1u << MENTION_KNOWN | 1u << MENTION_TRACE | 1u << MENTION_KEPT)

static void make(Fixture *fixture, const char *address)
{
    GError *error = NULL;
    bool due;
    int64_t total;
    Store *store = fixture->store;
    const Autoresponse answer = {LIST, "owner", address, address, NOW, 1};
    g_autofree char *moderator = g_strdup(address), *sender = g_strdup(address), *lower = g_ascii_strdown(address, -1);
    const Ticket ticket = {
        .list_id = (char[]){LIST}, .moderator = moderator, .first = 1, .last = 1, .expires_at = NOW + 1};
    g_autofree char *text = g_strdup_printf("To: <%s>\r\n\r\nHello\r\n", address);
    g_autoptr(GBytes) message = g_bytes_new(text, strlen(text));
    Held own = {.list_id = (char[]){LIST}, .sender = sender, .subject = (char[]){"Mine"}, .message = message};
    assert_ok(member_add(store, LIST, ROLE_MEMBER, mailbox_of(address), "Anne", NULL, &error), error);
    assert_ok(member_add(store, LIST, ROLE_OWNER, mailbox_of(address), NULL, NULL, &error), error);
    assert_ok(ban_add(store, LIST, address, &error), error);
    assert_ok(pace_count(store, LIST, address, NOW, &error), error);
    assert_ok(autoresponse_record(store, &answer, &due, &error), error);
    assert_ok(ticket_put(store, &ticket, address, &error), error);
    assert_ok(account_add(store, ACCOUNT_ANSWERS, lower, NOW, &total, &error), error);
    assert_ok(session_add_link(store, mailbox_of(address), address, NOW, &error), error);
    assert_ok(held_add(store, &own, &error), error);
    ListLogRow row = {.door = (char[]){"mail"},
                      .by = lower,
                      .kind = (char[]){LOG_OPTIONS},
                      .name = lower,
                      .after = (char[]){"ack on"}};
    assert_ok(list_log_add(store, LIST, &row, &error), error);
}

static bool add_place(const Mention *mention, void *data)
{
    g_string_append_printf(data, "%s %s %s%s\n", mention->place, mention->list_id ? mention->list_id : "-",
                           mention->detail, mention->text ? " text" : "");
    return true;
}

/* A line for each place; g_free() */
static char *places_of(Fixture *fixture, const char *address, unsigned kinds)
{
    GError *error = NULL;
    GString *all = g_string_new(NULL);
    assert_ok(mention_each(fixture->store, mailbox_of(address), kinds, add_place, all, &error), error);
    return g_string_free(all, FALSE);
}

static void expect(Fixture *fixture, const char *address, unsigned kinds, const char *wanted)
{
    g_autofree char *found = places_of(fixture, address, kinds);
    g_assert_cmpstr(found, ==, wanted);
}

static void test_places(Fixture *fixture, const void *data)
{
    (void)data;
    static const char known[] = "address - Anne\nmember " LIST " member\nmember " LIST " owner\n"
                                "held post of the author " LIST " Mine\nsession - \n";
    static const char traces[] = "ticket of a moderator " LIST " \nautomatic answer " LIST " owner\npace of posts " LIST
                                 " \ncount of letters - answers\nlog of a list " LIST " options\n";
    GError *error = NULL;
    make(fixture, ANNE);
    make(fixture, JOANNE);
    g_autofree char *all = g_strconcat(known, traces, "ban " LIST " \n", NULL);
    expect(fixture, "ANNE_B@EXAMPLE.org", OF_PERSON, all);
    expect(fixture, JOANNE, OF_PERSON, all);
    expect(fixture, "annexb@example.org", ALL & ~(1u << MENTION_MESSAGE), ""); /* _ is no pattern */
    assert_ok(mention_forget(fixture->store, mailbox_of(ANNE), &error), error);
    g_autofree char *rest = g_strconcat(known, "ban " LIST " \n", NULL);
    expect(fixture, ANNE, OF_PERSON, rest);
    expect(fixture, JOANNE, OF_PERSON, all);
    g_assert_false(mention_forget(fixture->store, mailbox_of("no address"), &error));
    assert_failed(FAIL_NEVER, error);
}

static bool keep_number(const Mention *mention, void *data)
{
    *(int64_t *)data = mention->number;
    return false;
}

/* Held posts of others are candidates, and can be replaced. */
static void test_messages(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    int64_t number = 0;
    make(fixture, JOANNE);
    expect(fixture, JOANNE, 1u << MENTION_MESSAGE, "");
    expect(fixture, ANNE, 1u << MENTION_MESSAGE, "held post " LIST " Mine text\n");
    assert_ok(mention_each(fixture->store, mailbox_of(ANNE), 1u << MENTION_MESSAGE, keep_number, &number, &error),
              error);
    g_autoptr(GBytes) other = g_bytes_new_static("a\0b", 3);
    assert_ok(mention_put(fixture->store, "held post", number, other, &error), error);
    g_autoptr(Held) held = held_find(fixture->store, number, &error);
    g_assert_true(g_bytes_equal(held->message, other));
}

/* Rows of a list's log that are about others have an address as text, which can be replaced. */
static void test_log(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    int64_t number = 0;
    make(fixture, ANNE);
    make(fixture, JOANNE);
    ListLogRow row = {.door = (char[]){"page"},
                      .by = (char[]){ANNE},
                      .kind = (char[]){LOG_SETTING},
                      .name = (char[]){"info"},
                      .before = (char[]){"Ask " JOANNE},
                      .after = (char[]){"Ask <" ANNE ">"}};
    assert_ok(list_log_add(fixture->store, LIST, &row, &error), error);
    expect(fixture, JOANNE, 1u << MENTION_WORDS, "value before, in the log of a list " LIST " setting info text\n");
    expect(fixture, "anne_b@example.org", 1u << MENTION_WORDS,
           "change in the log of a list " LIST " setting info text\n"
           "value before, in the log of a list " LIST " setting info text\n" /* a candidate */
           "value after, in the log of a list " LIST " setting info text\n");
    assert_ok(mention_each(fixture->store, mailbox_of(ANNE), 1u << MENTION_WORDS, keep_number, &number, &error), error);
    g_assert_cmpint(number, ==, row.key);
    g_autoptr(GBytes) other = g_bytes_new_static("person-1@pseudonym.invalid", 26);
    assert_ok(mention_put(fixture->store, "change in the log of a list", number, other, &error), error);
    g_autoptr(ListLogRow) now = list_log_find(fixture->store, LIST, number, &error);
    g_assert_cmpstr(now->by, ==, "person-1@pseudonym.invalid");
    g_assert_cmpstr(now->after, ==, row.after);
    /* The traces of one go, those of the next and the change to the list stay. */
    assert_ok(mention_forget(fixture->store, mailbox_of(ANNE), &error), error);
    g_autoptr(GPtrArray) rows = list_log_page(fixture->store, LIST, NULL, 0, 9, &error);
    g_assert_cmpuint(rows->len, ==, 2);
}

SUITE("mention")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/mention/places", Fixture, NULL, fixture_open_list, test_places, fixture_close);
    g_test_add("/mention/messages", Fixture, NULL, fixture_open_list, test_messages, fixture_close);
    g_test_add("/mention/log", Fixture, NULL, fixture_open_list, test_log, fixture_close);
    return g_test_run();
}
