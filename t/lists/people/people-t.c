/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Invitations, wishes of who joins, options. */
#include "lists/making/domain_make.h"
#include "lists/making/list_make.h"
#include "lists/people/join.h"
#include "lists/people/leave.h"
#include "lists/people/options.h"
#include "lists/people/own_address.h"
#include "lists/people/people.h"
#include "lists/people/request.h"
#include "lists/people/roster.h"
#include "lists/people/sign_in.h"
#include "store/lists/domain.h"
#include "store/lists/topic.h"
#include "store/people/user.h"
#include "store/store_internal.h"
#include "t/lists/fixture.h"
#include "t/suite.h"

#define ANNE "anne@example.org"
#define NEW "anne@new.example"
#define BOB "bob@example.org"

static Member *member_of(World *world, const char *address)
{
    return member_find(world->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL);
}

static bool is_member(World *world, const char *address)
{
    g_autoptr(Member) member = member_of(world, address);
    return member != NULL;
}

static SubscriptionResult join_as(World *world, const Joiner *joiner, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(join_ask(work, world->list, joiner, &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

static void add(World *world, const char *address)
{
    GError *error = NULL;
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(address), "Anne", NULL, &error), error);
}

/* ---- joining ---- */

/* An invitation is answered in any case, and needs no moderator afterwards. */
static void test_invitation(World *world, const void *data)
{
    static const char *const policies[] = {"open", "confirm", "moderate", "confirm_then_moderate"};
    for (size_t at = 0; at < G_N_ELEMENTS(policies); at++) {
        g_autofree char *address = g_strdup_printf("p%zu@example.org", at);
        g_autofree char *letters = NULL, *again = NULL, *welcome = NULL;
        world_set(world, "subscription_policy", policies[at]);
        Joiner joiner = {.address = mailbox_of(address), .facts = FACT_VERIFIED | FACT_APPROVED | FACT_INVITED};
        g_assert_cmpint(join_as(world, &joiner, &letters), ==, SUBSCRIPTION_ASKED_PERSON);
        g_assert_nonnull(strstr(letters, "You are invited to join"));
        g_assert_false(is_member(world, address));
        g_assert_cmpint(join_as(world, &joiner, &again), ==, SUBSCRIPTION_PERSON_WAITS);
        g_assert_cmpstr(again, ==, "");
        g_autofree char *token = world_token(letters);
        g_assert_cmpint(world_confirm(world, token, &welcome), ==, SUBSCRIPTION_DONE);
        g_assert_true(is_member(world, address));
    }
}

/* Check that a person who asked, waits and is invited then needs no moderator any more. */
static void test_invited_while_asking(World *world, const void *data)
{
    g_autofree char *letters = NULL, *none = NULL, *welcome = NULL;
    world_set(world, "subscription_policy", "confirm_then_moderate");
    g_assert_cmpint(join_as(world, &(Joiner){.address = mailbox_of(ANNE)}, &letters), ==, SUBSCRIPTION_ASKED_PERSON);
    Joiner invited = {.address = mailbox_of(ANNE), .facts = FACT_APPROVED | FACT_INVITED};
    g_assert_cmpint(join_as(world, &invited, &none), ==, SUBSCRIPTION_PERSON_WAITS);
    g_autofree char *token = world_token(letters);
    g_assert_cmpint(world_confirm(world, token, &welcome), ==, SUBSCRIPTION_DONE);
    g_assert_true(is_member(world, ANNE));
}

/* Check that the wishes in a request survive the wait. */
static void test_wishes(World *world, const void *data)
{
    g_autofree char *letters = NULL, *done = NULL;
    Preferences wants = preferences_unset;
    wants.delivery_mode = MODE_MIME_DIGESTS;
    wants.delivery_status = DELIVERY_BY_USER;
    Joiner joiner = {.address = mailbox_of(ANNE), .wants = &wants, .welcome = WELCOME_NO};
    g_assert_cmpint(join_as(world, &joiner, &letters), ==, SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *token = world_token(letters);
    g_assert_cmpint(world_confirm(world, token, &done), ==, SUBSCRIPTION_DONE);
    g_assert_cmpstr(done, ==, "");
    g_autoptr(Member) member = member_of(world, ANNE);
    g_assert_cmpint(member->own.delivery_mode, ==, MODE_MIME_DIGESTS);
    g_assert_cmpint(member->own.delivery_status, ==, DELIVERY_BY_USER);
}

static void test_as_user(World *world, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    g_autofree char *letters = NULL, *again = NULL;
    assert_ok(user_create(world->store, mailbox_of(ANNE), "Anne", id, &error), error);
    Joiner joiner = {
        .address = mailbox_of(ANNE), .as_user = true, .facts = FACT_VERIFIED | FACT_CONFIRMED | FACT_APPROVED};
    g_assert_cmpint(join_as(world, &joiner, &letters), ==, SUBSCRIPTION_DONE);
    g_autoptr(Member) member = member_of(world, ANNE);
    g_assert_true(member->as_user);
    joiner.as_user = false;
    g_assert_cmpint(join_as(world, &joiner, &again), ==, SUBSCRIPTION_NO_CHANGE); /* no second copy of each post */
}

/* An operator may answer for the person; the moderator still decides. */
static void test_operator_confirms(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autofree char *letters = NULL, *asked = NULL;
    world_set(world, "subscription_policy", "confirm_then_moderate");
    g_assert_cmpint(join_as(world, &(Joiner){.address = mailbox_of(ANNE)}, &letters), ==, SUBSCRIPTION_ASKED_PERSON);
    Pending like = {.kind = PENDING_JOIN, .list_id = (char *)LIST, .address = mailbox_of(ANNE)}, *found;
    assert_ok(pending_find_like(world->store, &like, clock_now(), &found, &error), error);
    g_autoptr(Pending) request = found;
    g_autoptr(Work) stranger = world_work(world);
    g_assert_false(request_decide(stranger, request->number, REQUEST_CONFIRM, NULL, &made, &error));
    assert_failed(FAIL_NEVER, error);
    world->actor.role = ACTOR_OPERATOR;
    g_autoptr(Work) work = world_work(world);
    assert_ok(request_decide(work, request->number, REQUEST_CONFIRM, NULL, &made, &error), error);
    asked = world_letters(world, work);
    g_assert_cmpint(made.result, ==, SUBSCRIPTION_ASKED_MODERATOR);
}

/* ---- options ---- */

static void test_option_words(void)
{
    MemberOptions options;
    GError *error = NULL;
    static const char all[] = "delivery off digest mime ack on myposts off duplicates off hide on language de "
                              "vacation 2026-12-20..2027-01-06";
    assert_ok(options_read(&options, all, &error), error);
    g_autofree char *text = options_text(&options);
    g_assert_cmpstr(text, ==, all);
    g_assert_cmpint(options.wanted.delivery_mode, ==, MODE_MIME_DIGESTS);
    g_assert_cmpint(options.wanted.delivery_status, ==, DELIVERY_BY_USER);
    g_assert_cmpint(options.vacation_ends - options.vacation_begins, ==, 18 * 86400 * CLOCK_SECOND);
    assert_ok(options_read(&options, "Digest=OFF  vacation=off", &error), error);
    g_autofree char *other = options_text(&options);
    g_assert_cmpstr(other, ==, "digest off vacation off");
    static const char *const bad[][2] = {
        {"", "no option"}, {"digest", "digest"}, {"digest sometimes", "sometimes"}, {"colour red", "colour"},
        {"vacation tomorrow", "tomorrow"}, {"vacation 2026-02-30..2026-03-01", "2026-02-30"},
        {"vacation 2026-03-02..2026-03-01", "2026-03-02"}, {"language !", "!"}, {"language xx", "xx"},
        {"topics ,", "separated by commas"}, {"topics \"new cars", "quotation mark"}, {"topics new cars", "quotes"},
        {"nonmatching maybe", "maybe"}};
    for (size_t at = 0; at < G_N_ELEMENTS(bad); at++) {
        member_options_clear(&options);
        g_assert_false(options_read(&options, bad[at][0], &error));
        g_assert_nonnull(strstr(error->message, bad[at][1]));
        assert_failed(FAIL_NEVER, error);
    }
}

static void test_topic_words(void)
{
    static const char *const words[][2] = {
        {"topics boats", "topics boats"}, {"topics ALL ack on", "ack on topics all"},
        {"topics=boats,cars nonmatching=on", "topics boats,cars nonmatching on"},
        {"topics \"new cars\" , boats digest mime", "digest mime topics \"new cars\",boats"},
        {"topics \342\200\234new cars\342\200\235,\342\200\236old ones\342\200\234",
         "topics \"new cars\",\"old ones\""},
        {"topics \"a,b\", \"say \\\"x=y\\\"\", \"all\"", "topics \"a,b\",\"say \\\"x=y\\\"\",\"all\""}};
    for (size_t at = 0; at < G_N_ELEMENTS(words); at++) {
        GError *error = NULL;
        g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE, again = MEMBER_OPTIONS_NONE;
        assert_ok(options_read(&options, words[at][0], &error), error);
        g_autofree char *text = options_text(&options);
        g_assert_cmpstr(text, ==, words[at][1]);
        assert_ok(options_read(&again, text, &error), error);
        g_autofree char *same = options_text(&again);
        g_assert_cmpstr(same, ==, text);
    }
}

static SubscriptionResult set(World *world, const char *address, const char *words, unsigned facts, char **letters)
{
    GError *error = NULL;
    g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(options_read(&options, words, &error), error);
    options.facts = facts;
    assert_ok(options_ask(work, world->list, mailbox_of(address), &options, &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

/* Topics are compared in any case of letters, and kept as the list spells them. */
static void test_set_topics(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *done = NULL, *first = NULL, *second = NULL, *third = NULL, *all = NULL;
    add(world, ANNE);
    g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE;
    assert_ok(options_read(&options, "topics boats", &error), error);
    g_assert_false(options_fit(&options, world->list, &error));
    g_assert_nonnull(strstr(error->message, "has no topics"));
    assert_failed(FAIL_NEVER, error);
    world_set(world, "topics", "New cars: car,boats: boat");
    world_set(world, "topics_enabled", "yes");
    assert_ok(options_fit(&options, world->list, &error), error);
    g_autoptr(Member) member = member_of(world, ANNE);
    g_autofree char *none = options_of(world->store, member, "", &error);
    g_assert_nonnull(strstr(none, "topics all (\"New cars\",boats)\nnonmatching off\n"));
    g_assert_cmpint(set(world, ANNE, "topics \"NEW CARS\",Boats,boats", FACT_CONFIRMED, &done), ==, SUBSCRIPTION_DONE);
    g_assert_cmpint(set(world, ANNE, "nonmatching on", FACT_CONFIRMED, &first), ==, SUBSCRIPTION_DONE);
    g_autofree char *shown = options_of(world->store, member, "", &error);
    g_assert_nonnull(strstr(shown, "topics \"New cars\",boats (\"New cars\",boats)\nnonmatching on\n"));
    g_assert_cmpint(set(world, ANNE, "topics cats", FACT_CONFIRMED, &second), ==, SUBSCRIPTION_NO_CHANGE);
    g_assert_cmpint(set(world, ANNE, "topics all", FACT_CONFIRMED, &all), ==, SUBSCRIPTION_DONE);
    g_auto(TopicChoice) choice = {0};
    assert_ok(topic_read(world->store, member->id, &choice, &error), error);
    g_assert_null(choice.names[0]);
    member_options_clear(&options);
    assert_ok(options_read(&options, "topics cats", &error), error);
    g_assert_false(options_fit(&options, world->list, &error));
    g_assert_nonnull(strstr(error->message, "\"cats\"; there are: \"New cars\",boats"));
    assert_failed(FAIL_NEVER, error);
}

/* No wish of the member lifts a moderator's stop, also not by way of a stop of its own. Others may lift it. */
static void test_set_stopped(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE;
    add(world, ANNE);
    g_autoptr(Member) member = member_of(world, ANNE);
    Preferences own = member->own;
    own.delivery_status = DELIVERY_BY_MODERATOR;
    assert_ok(member_set_preferences(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &own, &error), error);
    static const struct {
        const char *wish;
        SubscriptionResult result;
    } wishes[] = {{"delivery on", SUBSCRIPTION_NO_CHANGE},
                  {"delivery off ack on", SUBSCRIPTION_DONE},
                  {"digest mime delivery on", SUBSCRIPTION_NO_CHANGE},
                  {"vacation off", SUBSCRIPTION_DONE}};
    for (size_t at = 0; at < G_N_ELEMENTS(wishes); at++) {
        g_autofree char *letters = NULL;
        g_assert_cmpint(set(world, ANNE, wishes[at].wish, FACT_CONFIRMED, &letters), ==, wishes[at].result);
        g_autoptr(Member) now = member_of(world, ANNE);
        g_assert_cmpint(now->own.delivery_status, ==, DELIVERY_BY_MODERATOR);
        g_assert_cmpint(now->own.delivery_mode, ==, -1);
    }
    world->actor.role = ACTOR_OWNER;
    g_autoptr(Work) work = world_work(world);
    assert_ok(options_read(&options, "delivery on", &error), error);
    assert_ok(options_set(work, world->list, ROLE_MEMBER, mailbox_of(ANNE), &options, &error), error);
    g_autoptr(Member) lifted = member_of(world, ANNE);
    g_assert_cmpint(lifted->own.delivery_status, ==, DELIVERY_ENABLED);
    g_assert_cmpint(lifted->own.acknowledge_posts, ==, 1);
}

/* A wish that cannot be granted as a whole, when it is confirmed at last, changes nothing. */
static void test_set_all_or_none(World *world, const void *data)
{
    static const char *const wishes[] = {"digest mime topics cats",
                                         "digest mime topics boats vacation 2020-01-01..2020-01-02"};
    add(world, ANNE);
    world_set(world, "topics", "boats: boat");
    world_set(world, "topics_enabled", "yes");
    for (size_t at = 0; at < G_N_ELEMENTS(wishes); at++) {
        GError *error = NULL;
        g_autofree char *done = NULL;
        g_auto(TopicChoice) choice = {0};
        g_assert_cmpint(set(world, ANNE, wishes[at], FACT_CONFIRMED, &done), ==, SUBSCRIPTION_NO_CHANGE);
        g_autoptr(Member) member = member_of(world, ANNE);
        g_assert_cmpint(member->own.delivery_mode, ==, -1);
        assert_ok(topic_read(world->store, member->id, &choice, &error), error);
        g_assert_null(choice.names[0]);
    }
}

/* Check that settings asked for before, and not confirmed, are asked for with the new one. */
static void test_set_by_letter(World *world, const void *data)
{
    g_autofree char *asked = NULL, *waits = NULL, *other = NULL, *done = NULL, *stranger = NULL, *void_letter = NULL;
    add(world, ANNE);
    g_assert_cmpint(set(world, "bart@example.org", "ack on", 0, &stranger), ==, SUBSCRIPTION_NO_CHANGE);
    g_assert_cmpint(set(world, ANNE, "ack on", 0, &asked), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_cmpint(set(world, ANNE, "ack on", 0, &waits), ==, SUBSCRIPTION_PERSON_WAITS);
    g_assert_cmpint(set(world, ANNE, "digest plain language fr", 0, &other), ==, SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *old_token = world_token(asked), *token = world_token(other);
    g_assert_cmpint(world_confirm(world, old_token, &void_letter), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_cmpint(world_confirm(world, token, &done), ==, SUBSCRIPTION_DONE);
    g_autoptr(Member) member = member_of(world, ANNE);
    g_assert_cmpint(member->own.acknowledge_posts, ==, 1);
    g_assert_cmpint(member->own.delivery_mode, ==, MODE_PLAINTEXT_DIGESTS);
    g_assert_cmpstr(member->own.preferred_language, ==, "fr");
    g_assert_cmpint(member->own.receive_own_postings, ==, -1);
}

static void test_set_at_once(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *letters = NULL, *back = NULL;
    add(world, ANNE);
    g_assert_cmpint(set(world, ANNE, "vacation 2020-01-01..2999-12-31", FACT_CONFIRMED, &letters), ==,
                    SUBSCRIPTION_DONE);
    g_assert_cmpstr(letters, ==, "");
    g_autoptr(Member) away = member_of(world, ANNE);
    g_assert_cmpint(away->effective.delivery_status, ==, DELIVERY_BY_USER);
    g_autofree char *shown = options_of(world->store, away, "  ", &error);
    g_assert_nonnull(strstr(shown, "  delivery off\n"));
    g_assert_nonnull(strstr(shown, "  vacation 2020-01-01..2999-12-31\n"));
    g_assert_cmpint(set(world, ANNE, "vacation off language default", FACT_CONFIRMED, &back), ==, SUBSCRIPTION_DONE);
    g_autoptr(Member) member = member_of(world, ANNE);
    g_assert_cmpint(member->effective.delivery_status, ==, DELIVERY_ENABLED);
}

/* ---- addresses of ours ---- */

static void make_other_lists(World *world)
{
    GError *error = NULL;
    assert_ok(domain_set_alias(world->store, "example.com", "alias.example", &error), error);
    assert_ok(domain_create(world->store, "xn--bcher-kva.example", NULL, &error), error);
    g_autoptr(List) other = list_create(world->store, "other@example.com", &error);
    g_assert_no_error(error);
    g_autoptr(List) books = list_create(world->store, "books@xn--bcher-kva.example", &error);
    g_assert_no_error(error);
}

static bool add_in_role(World *world, Role role, const char *address)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Work) work = world_work(world);
    assert_ok(store_begin(world->store, &error), error);
    bool added = roster_add(work, LIST, &(RosterEntry){.role = role, .address = mailbox_of(address)}, &error);
    if (!added) {
        g_assert_error(error, FAIL, FAIL_NEVER);
        g_assert_nonnull(strstr(error->message, "is an address of the list"));
    }
    store_rollback(world->store);
    return added;
}

/* Which spellings are ours, and which of them may be a member: the posting address of another list alone. */
static void test_own_addresses(World *world, const void *data)
{
    static const struct {
        const char *address;
        bool ours, member;
    } cases[] = {
        {"test@example.com", true, false},
        {"TEST@Example.COM", true, false},
        {"\"test\"@example.com", true, false},
        {"test+1@example.com", true, false},
        {"test-owner@example.com", true, false},
        {"test-owner+1@example.com", true, false},
        {"test-bounces+anne=x.org@example.com", true, false},
        {"test-request@alias.example", true, false},
        {"test-join@ALIAS.example", true, false},
        {"test-confirm+0123@example.com", true, false},
        {"test@alias.example", true, false},
        {"other@example.com", true, true},
        {"OTHER@example.com", true, true},
        {"other+1@example.com", true, false},
        {"other-owner@example.com", true, false},
        {"other-unsubscribe@example.com", true, false},
        {"other@alias.example", true, false},
        {"books@xn--bcher-kva.example", true, true},
        {"books-owner@xn--bcher-kva.example", true, false},
        {"books-owner@b\303\274cher.example", true, false},
        {"books+x@B\303\234CHER.example", true, false},
        {"tests@example.com", false, true},
        {"owner@example.com", false, true},
        {"test-ownership@example.com", false, true},
        {"test@example.org", false, true},
    };
    make_other_lists(world);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        const char *address = cases[at].address;
        g_test_message("%s", address);
        GError *error = NULL;
        ListAddress *which;
        g_autoptr(Work) work = world_work(world);
        assert_ok(own_address_find(work, address, &which, &error), error);
        g_autoptr(ListAddress) found = which;
        g_assert_cmpint(found != NULL, ==, cases[at].ours);
        g_assert_cmpint(add_in_role(world, ROLE_MEMBER, address), ==, cases[at].member);
        g_assert_cmpint(add_in_role(world, ROLE_OWNER, address), ==, !cases[at].ours);
        g_assert_cmpint(add_in_role(world, ROLE_MODERATOR, address), ==, !cases[at].ours);
        g_assert_true(add_in_role(world, ROLE_NONMEMBER, address));
    }
    ListAddress *dot;
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    assert_ok(own_address_find(work, "test-owner@example.com.", &dot, &error), error); /* the store takes none such */
    g_assert_nonnull(dot);
    list_address_free(dot);
}

static SubscriptionResult join_by(World *world, ActorDoor door, const char *address)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    world->actor.door = door;
    g_autoptr(Work) work = world_work(world);
    assert_ok(store_begin(world->store, &error), error);
    assert_ok(join_ask(work, world->list,
                       &(Joiner){.address = mailbox_of(address), .facts = FACT_CONFIRMED | FACT_APPROVED}, &made,
                       &error),
              error);
    store_rollback(world->store);
    return made.result;
}

/* Somebody who may makes another list a member; by mail nobody does. A person has none of our addresses. */
static void test_who_may_have_one(World *world, const void *data)
{
    g_autoptr(GError) error = NULL;
    char id[STORE_ID_SIZE];
    make_other_lists(world);
    g_assert_cmpint(join_by(world, DOOR_REST, "other@example.com"), ==, SUBSCRIPTION_DONE);
    g_assert_cmpint(join_by(world, DOOR_REST, "other+1@example.com"), ==, SUBSCRIPTION_OWN_ADDRESS);
    g_assert_cmpint(join_by(world, DOOR_REST, "test-owner@alias.example"), ==, SUBSCRIPTION_OWN_ADDRESS);
    g_assert_cmpint(join_by(world, DOOR_MAIL, "other@example.com"), ==, SUBSCRIPTION_OWN_ADDRESS);
    g_assert_cmpint(join_by(world, DOOR_MAIL, "anne@example.com"), ==, SUBSCRIPTION_DONE);
    world->actor.door = DOOR_MAIL;
    g_autoptr(Work) work = world_work(world);
    g_assert_false(
        people_create(work, mailbox_of("other@example.com"), &(PersonChange){.server_owner = -1}, id, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_clear_error(&error);
    assert_ok(people_create(work, mailbox_of(ANNE), &(PersonChange){.server_owner = -1}, id, &error), error);
    g_assert_false(people_link(work, id, mailbox_of("books-owner@b\303\274cher.example"), NULL, false, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_clear_error(&error);
    assert_ok(address_add(world->store, mailbox_of("other@alias.example"), NULL, &error), error);
    g_assert_false(people_assign(work, mailbox_of("other@alias.example"), id, NULL, id, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_clear_error(&error);
    g_assert_false(people_prefer(work, id, mailbox_of("other@alias.example"), &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

/* Mail for the people who run the site would come to the list that is made. */
/* A list, its new name or an alias domain that would take the mail of somebody who runs another list. */
static void test_runners_before_lists(World *world, const void *data)
{
    static const struct {
        const char *address;
        Role role;
        bool list, alias; /* is in the way of talk@example.com, of the alias */
    } cases[] = {
        {"talk@example.com", ROLE_OWNER, true, false},
        {"Talk-Owner@Example.com", ROLE_MODERATOR, true, false},
        {"talk+anne@example.com", ROLE_OWNER, true, false},
        {"\"talk+a b\"@example.com", ROLE_OWNER, true, false},
        {"talk-request@old.example", ROLE_OWNER, true, false},
        {"test-owner@new.example", ROLE_MODERATOR, false, true},
        {"TEST@NEW.example", ROLE_OWNER, false, true},
        {"talk@example.com", ROLE_NONMEMBER, false, false},
        {"talker@example.com", ROLE_OWNER, false, false},
        {"talk-friends@example.com", ROLE_OWNER, false, false},
        {"talk@example.org", ROLE_OWNER, false, false},
        {"anne@new.example", ROLE_OWNER, false, false},
        {"tests@new.example", ROLE_OWNER, false, false},
    };
    GError *error = NULL;
    assert_ok(domain_create(world->store, "other.example", NULL, &error), error);
    assert_ok(domain_set_alias(world->store, "example.com", "old.example", &error), error);
    g_autoptr(List) other = list_create(world->store, "other@other.example", &error);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        assert_ok(
            member_add(world->store, other->list_id, cases[at].role, mailbox_of(cases[at].address), NULL, NULL, &error),
            error);
        for (unsigned act = 0; act < 3; act++) {
            bool refused = act < 2 ? cases[at].list : cases[at].alias;
            g_autoptr(Work) work = world_work(world);
            assert_ok(work_begin(work, &error), error);
            g_autoptr(List) made = act == 0 ? list_create(world->store, "talk@example.com", &error) : NULL;
            bool done = act == 0   ? made && own_address_check_new(work, made->list_id, &error)
                        : act == 1 ? list_move(work, LIST, "talk@example.com", &error)
                                   : domain_change(work, "example.com", &(DomainData){.alias = "new.example"}, &error);
            g_test_message("%s, %u: %s", cases[at].address, act, error ? error->message : "done");
            g_assert_cmpint(done, ==, !refused);
            if (refused) {
                g_assert_nonnull(strstr(error->message, cases[at].address));
                g_assert_nonnull(strstr(error->message, role_text(cases[at].role)));
                assert_failed(FAIL_NEVER, error);
            }
            work_cancel(work);
        }
        assert_ok(member_remove(world->store, other->list_id, cases[at].role, mailbox_of(cases[at].address), &error),
                  error);
    }
}

static void test_site_owner(World *world, const void *data)
{
    GError *error = NULL;
    world->site.site_owner = "admins-owner+x@example.com";
    g_autoptr(Work) work = world_work(world);
    assert_ok(store_begin(world->store, &error), error);
    g_assert_null(list_make(work, &(NewList){.address = "admins@example.com"}, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_assert_nonnull(strstr(error->message, "site_owner"));
    g_clear_error(&error);
    store_rollback(world->store);
    assert_ok(store_begin(world->store, &error), error);
    g_assert_false(list_move(work, LIST, "admins@example.com", &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_clear_error(&error);
    store_rollback(world->store);
    assert_ok(list_move(work, LIST, "others@example.com", &error), error);
}

/* Check that members who are there with letters that nobody sees, by the tables of this version of GLib, can leave, by
 * a link too, get a link to sign in, and may get other roles; and that nobody else comes in so. */
static void test_addresses_kept_from_before(World *world, const void *data)
{
    GError *error = NULL;
    static const char *const kept[] = {"a\342\200\213b@example.org", "e\314\201@example.org"};
    for (size_t at = 0; at < G_N_ELEMENTS(kept); at++) {
        bool valid = false;
        g_auto(Subscription) left = {0}, joined = {0};
        g_autofree char *folded = mailbox_folded(kept[at]);
        assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
        assert_ok(query_run(world->store, &error, NULL, "UPDATE address SET email = $1, folded = $2 WHERE email = $3",
                            TEXT(kept[at]), TEXT(folded), TEXT(ANNE)), error);
        assert_ok(query_run(world->store, &error, NULL, "UPDATE member SET email = $1, folded = $2 WHERE email = $3",
                            TEXT(kept[at]), TEXT(folded), TEXT(ANNE)), error);
        g_autoptr(Work) work = world_work(world);
        assert_ok(sign_in_take(work, kept[at], &valid, &error), error);
        g_assert_true(valid);
        assert_ok(member_add(world->store, LIST, ROLE_MODERATOR, mailbox_of(kept[at]), NULL, NULL, &error), error);
        if (at == 0) {
            assert_ok(leave_ask(work, world->list, mailbox_of(kept[at]), FACT_CONFIRMED, &left, &error), error);
        } else {
            g_autofree char *token = verp_token(world->keys, VERP_UNSUBSCRIBE, LIST, kept[at], work_now(work));
            assert_ok(leave_token(work, token, LEAVE_BY_PAGE, &left, &error), error);
        }
        g_assert_cmpint(left.result, ==, SUBSCRIPTION_DONE);
        g_assert_cmpstr(left.address, ==, kept[at]);
        const Joiner other = {.address = mailbox_of(at == 0 ? "c\342\200\213@example.org" : "o\314\201@example.org")};
        assert_ok(join_ask(work, world->list, &other, &joined, &error), error);
        g_assert_cmpint(joined.result, ==, SUBSCRIPTION_BAD_ADDRESS);
    }
}

SUITE("people")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/people/invitation", test_invitation);
    WORLD_TEST("/people/invited while asking", test_invited_while_asking);
    WORLD_TEST("/people/wishes survive the wait", test_wishes);
    WORLD_TEST("/people/joins as user", test_as_user);
    WORLD_TEST("/people/operator confirms", test_operator_confirms);
    g_test_add_func("/people/option words", test_option_words);
    g_test_add_func("/people/words for topics", test_topic_words);
    WORLD_TEST("/people/set topics", test_set_topics);
    WORLD_TEST("/people/set stopped", test_set_stopped);
    WORLD_TEST("/people/set all or none", test_set_all_or_none);
    WORLD_TEST("/people/set by letter", test_set_by_letter);
    WORLD_TEST("/people/set at once", test_set_at_once);
    WORLD_TEST("/people/addresses of ours", test_own_addresses);
    WORLD_TEST("/people/addresses kept from before", test_addresses_kept_from_before);
    WORLD_TEST("/people/site owner", test_site_owner);
    WORLD_TEST("/people/who runs lists before others come", test_runners_before_lists);
    WORLD_TEST("/people/who may have an address of ours", test_who_may_have_one);
    return g_test_run();
}
