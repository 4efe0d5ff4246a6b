/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what a token is good for: with two lists, each with posts and requests that wait, and with tokens that are of
 * the other list, have expired, or are of letters about something else. */
#include "lists/posts/held_post.h"
#include "lists/posts/moderate.h"
#include "store/posts/ticket.h"
#include "t/lists/fixture.h"
#include "t/suite.h"
#include "t/text.h"

#define OTHER "other.example.com"
#define OLGA "olga@example.net" /* of test@ */
#define OTTO "otto@example.net" /* of other@ */
#define HOUR (3600 * CLOCK_SECOND)

typedef char TokenText[PENDING_TOKEN_CHARS + 1];

static List *other_list(World *world)
{
    GError *error = NULL;
    List *other = list_by_id(world->store, OTHER, &error);
    g_assert_no_error(error);
    return other;
}

static void open_both(World *world, const void *data)
{
    GError *error = NULL;
    world_open(world, data);
    list_free(list_create(world->store, "other@example.com", &error));
    g_assert_no_error(error);
    assert_ok(member_add(world->store, OTHER, ROLE_OWNER, mailbox_of(OTTO), NULL, NULL, &error), error);
}

static void make_token(TokenText token)
{
    GError *error = NULL;
    assert_ok(pending_token_new(token, &error), error);
}

/* Hold a post of a list. With a token its sender was asked to confirm the address, until then. */
static int64_t hold(World *world, const char *list, const char *token, int64_t until)
{
    GError *error = NULL;
    static const char text[] = "From: anne@example.org\r\nSubject: hello\r\n\r\nHi\r\n";
    g_autoptr(GBytes) message = octets_of(text);
    Held held = {.list_id = (char *)list,
                 .sender = (char *)"anne@example.org",
                 .subject = (char *)"hello",
                 .reason = (char *)"because",
                 .meta = (char *)"{}",
                 .held_at = clock_now(),
                 .message = message};
    assert_ok(held_add(world->store, &held, &error), error);
    if (token)
        assert_ok(held_ask(world->store, held.number, token, until, &error), error);
    return held.number;
}

static bool is_held(World *world, int64_t number)
{
    g_autoptr(Held) held = held_find(world->store, number, NULL);
    return held != NULL;
}

/* A request to join. */
static int64_t ask(World *world, const char *list, const char *address, PendingWaitsFor waits_for, const char *token)
{
    GError *error = NULL;
    Pending request = {.kind = PENDING_JOIN,
                       .list_id = (char *)list,
                       .address = mailbox_of(address),
                       .waits_for = waits_for,
                       .made_at = clock_now(),
                       .asked_at = clock_now(),
                       .expires_at = clock_now() + HOUR,
                       .delivery_mode = -1,
                       .delivery_status = -1};
    assert_ok(pending_put(world->store, &request, token, &error), error);
    return request.number;
}

/* A letter to Olga about posts and requests with these numbers. */
static void tell_olga(World *world, TokenText token, const Ticket *about)
{
    GError *error = NULL;
    Ticket ticket = *about;
    ticket.list_id = (char *)LIST;
    ticket.moderator = (char *)OLGA;
    make_token(token);
    assert_ok(ticket_put(world->store, &ticket, token, &error), error);
}

/* Answer a letter to a moderator at the address of a list. Return whether the token was good there. */
static bool answer(World *world, const List *list, const char *token, const char *line)
{
    bool known;
    GError *error = NULL;
    g_autofree char *mail = g_strdup_printf("From: x@example.org\r\nMessage-ID: <1@x>\r\n\r\n%s\r\n", line);
    g_autoptr(GBytes) octets = octets_of(mail);
    g_autoptr(Work) work = world_work(world);
    assert_ok(moderate_reply(work, list, token, octets, &known, &error), error);
    return known;
}

static void test_posts(World *world, const void *data)
{
    (void)data;
    TokenText of_letter, of_sender;
    make_token(of_sender);
    g_autoptr(List) other = other_list(world);
    int64_t first = hold(world, LIST, NULL, 0), foreign = hold(world, OTHER, NULL, 0);
    int64_t asked = hold(world, LIST, of_sender, clock_now() + HOUR), last = hold(world, LIST, NULL, 0);
    int64_t later = hold(world, LIST, NULL, 0);
    tell_olga(world, of_letter, &(Ticket){.first = first, .last = last, .expires_at = clock_now() + HOUR});
    g_autofree char *one = g_strdup_printf("discard %d", (int)first);
    g_assert_false(answer(world, other, of_letter, one));
    g_assert_true(is_held(world, first));
    g_autofree char *four = g_strdup_printf("discard %d %d %d %d", (int)first, (int)foreign, (int)asked, (int)later);
    g_assert_true(answer(world, world->list, of_letter, four));
    g_assert_false(is_held(world, first));
    g_assert_true(is_held(world, foreign) && is_held(world, asked) && is_held(world, last) && is_held(world, later));
    g_assert_true(answer(world, world->list, of_letter, "discard all"));
    g_assert_false(is_held(world, last));
    g_assert_true(is_held(world, foreign) && is_held(world, asked) && is_held(world, later));
}

static void test_requests(World *world, const void *data)
{
    (void)data;
    TokenText of_letter;
    int64_t first = ask(world, LIST, "a@example.org", PENDING_MODERATOR, NULL);
    int64_t foreign = ask(world, OTHER, "b@example.org", PENDING_MODERATOR, NULL);
    int64_t person = ask(world, LIST, "c@example.org", PENDING_PERSON, NULL);
    int64_t last = ask(world, LIST, "d@example.org", PENDING_MODERATOR, NULL);
    int64_t later = ask(world, LIST, "e@example.org", PENDING_MODERATOR, NULL);
    tell_olga(world, of_letter,
              &(Ticket){.first_request = first, .last_request = last, .expires_at = clock_now() + HOUR});
    g_autofree char *four = g_strdup_printf("accept r%d r%d r%d r%d", (int)first, (int)foreign, (int)person,
                                            (int)later);
    g_assert_true(answer(world, world->list, of_letter, four));
    g_assert_false(world_waits(world, first));
    g_assert_true(world_is_member(world, "a@example.org"));
    g_assert_true(world_waits(world, foreign) && world_waits(world, person) && world_waits(world, last) &&
                  world_waits(world, later));
    static const char *const others[] = {"b@example.org", "c@example.org", "d@example.org", "e@example.org"};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        g_assert_false(world_is_member(world, others[i]));
}

/* A letter that has expired decides nothing. Its row goes with the next run of the timer, and so do those about nothing
 * that waits; a letter about something that waits stays good. */
static void test_expired_letter(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    TokenText late, decided, living, of_request;
    int64_t removed, now = clock_now(), one = hold(world, LIST, NULL, 0), two = hold(world, LIST, NULL, 0);
    int64_t request = ask(world, LIST, "a@example.org", PENDING_MODERATOR, NULL);
    tell_olga(world, late, &(Ticket){.first = one, .last = one, .expires_at = now - 1});
    tell_olga(world, decided, &(Ticket){.first = two, .last = two, .expires_at = now + HOUR});
    tell_olga(world, living, &(Ticket){.first = one, .last = one, .expires_at = now + HOUR});
    tell_olga(world, of_request,
              &(Ticket){.first_request = request, .last_request = request, .expires_at = now + HOUR});
    g_assert_false(answer(world, world->list, late, "discard"));
    g_assert_true(is_held(world, one));
    g_assert_true(answer(world, world->list, decided, "discard"));
    assert_ok(ticket_expire(world->store, clock_now(), &removed, &error), error);
    g_assert_cmpint(removed, ==, 2);
    g_assert_false(answer(world, world->list, decided, "discard"));
    g_assert_true(answer(world, world->list, living, "discard"));
    g_assert_true(answer(world, world->list, of_request, "accept"));
    g_assert_true(!is_held(world, one) && world_is_member(world, "a@example.org"));
}

/* Redeem a token at the address of a list; list NULL: on a page, which is of no list. */
static SubscriptionResult redeem(World *world, const List *list, const char *token)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(confirm_token(work, list, token, CONSENT_SAID, &made, &error), error);
    return made.result;
}

static void test_confirmation(World *world, const void *data)
{
    (void)data;
    TokenText token;
    make_token(token);
    g_autoptr(List) other = other_list(world);
    int64_t number = ask(world, LIST, "a@example.org", PENDING_PERSON, token);
    int64_t beside = ask(world, OTHER, "a@example.org", PENDING_PERSON, NULL);
    g_assert_cmpint(redeem(world, other, token), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_true(world_waits(world, number) && !world_is_member(world, "a@example.org"));
    g_assert_cmpint(redeem(world, world->list, token), ==, SUBSCRIPTION_DONE);
    g_assert_true(world_is_member(world, "a@example.org"));
    g_assert_true(world_waits(world, beside));
}

static void test_sender_confirms(World *world, const void *data)
{
    (void)data;
    TokenText good, late, on_page;
    make_token(good);
    make_token(late);
    make_token(on_page);
    g_autoptr(List) other = other_list(world);
    int64_t now = clock_now(), post = hold(world, LIST, good, now + HOUR), old = hold(world, LIST, late, now - 1);
    int64_t third = hold(world, OTHER, on_page, now + HOUR);
    g_assert_cmpint(redeem(world, other, good), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_cmpint(redeem(world, world->list, late), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_cmpint(redeem(world, NULL, late), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_true(is_held(world, post) && is_held(world, old) && is_held(world, third));
    g_assert_cmpint(redeem(world, world->list, good), ==, SUBSCRIPTION_POSTED);
    g_assert_cmpint(redeem(world, NULL, on_page), ==, SUBSCRIPTION_POSTED);
    g_assert_true(!is_held(world, post) && is_held(world, old) && !is_held(world, third));
    g_assert_cmpint(redeem(world, world->list, good), ==, SUBSCRIPTION_BAD_TOKEN);
}

#define BOTH_TEST(path, function) g_test_add(path, World, NULL, open_both, function, world_close)

SUITE("foreign_token")
{
    g_test_init(&argc, &argv, NULL);
    BOTH_TEST("/foreign_token/a letter decides about its posts", test_posts);
    BOTH_TEST("/foreign_token/a letter decides about its requests", test_requests);
    BOTH_TEST("/foreign_token/a letter that has expired", test_expired_letter);
    BOTH_TEST("/foreign_token/a person confirms", test_confirmation);
    BOTH_TEST("/foreign_token/a sender confirms", test_sender_confirms);
    return g_test_run();
}
