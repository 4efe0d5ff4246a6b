/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that a person who left, by whichever way, can undo it; and that the rest waits when too many of one domain leave
 * at once. */
#include <unistd.h>

#include "base/log.h"
#include "lists/event.h"
#include "lists/people/ban.h"
#include "lists/people/join.h"
#include "lists/people/leave.h"
#include "lists/people/options.h"
#include "lists/people/request.h"
#include "lists/people/roster.h"
#include "lists/people/subscription_internal.h"
#include "store/lists/template_text.h"
#include "store/people/account.h"
#include "store/people/ban.h"
#include "store/people/departure.h"
#include "store/store_internal.h"
#include "t/lists/fixture.h"
#include "t/lists/places.h"
#include "t/suite.h"

#define ANNE "anne@example.org"
#define BOB "bob@example.net"
#define OTHER "other.example.com"
#define MINUTE 60
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* ---- what a test does and sees ---- */

static int64_t offset; /* seconds that the clock is put forward */

static void wait_for(int64_t seconds)
{
    offset += seconds;
    clock_put(offset);
}

/* It is half past ten, so that no hour or day ends by itself. */
static void open_world(World *world, const void *data)
{
    GError *error = NULL;
    offset = 0;
    clock_put(0);
    offset = DAY + 10 * HOUR + 30 * MINUTE - clock_now() / CLOCK_SECOND % DAY;
    clock_put(offset);
    world_open(world, data);
    world_set(world, "admin_notify_mchanges", "no");
    list_free(list_create(world->store, "other@example.com", &error));
    g_assert_no_error(error);
}

static void add(World *world, const char *list_id, const char *address)
{
    GError *error = NULL;
    assert_ok(member_add(world->store, list_id, ROLE_MEMBER, mailbox_of(address), "Given", NULL, &error), error);
}

static Member *find(World *world, const char *list_id, const char *address)
{
    return member_find(world->store, list_id, ROLE_MEMBER, mailbox_of(address), NULL);
}

static bool is_member(World *world, const char *list_id, const char *address)
{
    g_autoptr(Member) member = find(world, list_id, address);
    return member != NULL;
}

static char *click_token(World *world, const char *list_id, const char *address)
{
    return verp_token(world->keys, VERP_UNSUBSCRIBE, list_id, address, clock_now());
}

static SubscriptionResult click_on(World *world, const char *list_id, const char *address, LeaveWay way, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autofree char *token = click_token(world, list_id, address);
    g_autoptr(Work) work = world_work(world);
    assert_ok(leave_token(work, token, way, &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

static SubscriptionResult click(World *world, const char *address)
{
    g_autofree char *letters = NULL;
    return click_on(world, LIST, address, LEAVE_BY_ONE_CLICK, &letters);
}

static SubscriptionResult ask(World *world, const char *address, unsigned facts, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(leave_ask(work, world->list, mailbox_of(address), facts, &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

static SubscriptionResult complain(World *world, const char *address, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(leave_complained(work, world->list, mailbox_of(address), &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

static SubscriptionResult write_signed(World *world, const char *address, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(GString) signed_address = g_string_new(NULL);
    VerpList list = {LIST, "test-leave", "example.com", '+'};
    g_assert_true(verp_make(world->keys, VERP_UNSUBSCRIBE, &list, address, clock_now(), signed_address));
    const char *detail = strchr(signed_address->str, '+') + 1;
    g_autofree char *only = g_strndup(detail, strcspn(detail, "@"));
    g_autoptr(Hashed) hashed = hashed_new(world->store);
    g_autoptr(Work) work = world_work(world);
    assert_ok(leave_signed(work, world->list, hashed, only, &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

/* The person answers with the word, and what comes of it. The text may be in base64, so the token is read in From. */
static SubscriptionResult undo(World *world, const char *letters)
{
    const char *from = strstr(letters, "-confirm+");
    g_assert_nonnull(from);
    g_autofree char *token = g_strndup(from + strlen("-confirm+"), PENDING_TOKEN_CHARS), *answer = NULL;
    return world_confirm(world, token, &answer);
}

static SubscriptionResult decide(World *world, int64_t number, RequestVerdict verdict, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(request_decide(work, number, verdict, NULL, &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

/* ---- ways ---- */

typedef SubscriptionResult LeaveBy(World *world, const char *address, char **letters);

static SubscriptionResult by_one_click(World *world, const char *address, char **letters)
{
    return click_on(world, LIST, address, LEAVE_BY_ONE_CLICK, letters);
}

static SubscriptionResult by_page(World *world, const char *address, char **letters)
{
    world->actor.door = DOOR_PAGE;
    SubscriptionResult result = click_on(world, LIST, address, LEAVE_BY_PAGE, letters);
    world->actor.door = DOOR_MAIL;
    return result;
}

/* A mail that a letter asks to confirm. */
static SubscriptionResult by_mail(World *world, const char *address, char **letters)
{
    g_autofree char *asked = NULL;
    g_assert_cmpint(ask(world, address, 0, &asked), ==, SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *token = world_token(asked);
    return world_confirm(world, token, letters);
}

static const struct {
    LeaveBy *leave;
    const char *way, *how;
} undone_ways[] = {
    {by_mail, " way=mail ", "A mail from your address asked for it."},
    {write_signed, " way=mail ", "A mail from your address asked for it."},
    {by_page, " way=page ", "A button on a web page"},
    {by_one_click, " way=one-click ", "Your mail program or provider"},
    {complain, " way=complaint ", "Your provider told us"},
};

/* Leave, and return what the log says meanwhile; it takes the place of both outputs. g_free() */
static char *leave_with_log(World *world, LeaveBy *leave, char **letters)
{
    GError *error = NULL;
    char *log = NULL;
    g_autofree char *path = g_build_filename(world->fixture.directory, "log", NULL);
    int output = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
    g_unlink(path);
    bool opened = log_to_file(path, &error);
    SubscriptionResult result = leave(world, ANNE, letters);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    close(output);
    close(errors);
    assert_ok(opened, error);
    g_assert_cmpint(result, ==, SUBSCRIPTION_DONE);
    g_assert_true(g_file_get_contents(path, &log, NULL, NULL));
    return log;
}

/* The log says by which way; one letter goes, with or without goodbyes, and its answer restores. */
static void test_ways(World *world, const void *data)
{
    GError *error = NULL;
    add(world, LIST, BOB);
    for (size_t at = 0; at < 2 * G_N_ELEMENTS(undone_ways); at++) {
        g_autofree char *letters = NULL;
        bool goodbye = at % 2;
        size_t which = at / 2;
        wait_for(2 * DAY); /* a letter that asks goes once a day */
        world_set(world, "send_goodbye_message", goodbye ? "yes" : "no");
        add(world, LIST, ANNE);
        assert_ok(member_set_moderation(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), ACTION_HOLD, &error), error);
        g_autofree char *log = leave_with_log(world, undone_ways[which].leave, &letters);
        g_assert_false(is_member(world, LIST, ANNE));
        g_assert_nonnull(strstr(log, undone_ways[which].way));
        g_assert_cmpuint(world_count(letters, "virgin <"), ==, 1);
        g_assert_cmpuint(world_count(letters, "virgin <" ANNE ">"), ==, 1);
        g_assert_true(goodbye != (strstr(letters, undone_ways[which].how) != NULL));
        g_assert_cmpint(undo(world, letters), ==, SUBSCRIPTION_RESTORED);
        g_autoptr(Member) anne = find(world, LIST, ANNE);
        g_assert_cmpint(anne->moderation_action, ==, ACTION_HOLD);
        assert_ok(member_remove(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &error), error);
    }
    g_assert_true(is_member(world, LIST, BOB));
}

/* Whom the operators or owners took off the list, nobody's letter brings back, be it one of before. */
static void test_no_undo(World *world, const void *data)
{
    static const ActorDoor doors[] = {DOOR_REST, DOOR_SHELL};
    GError *error = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(doors); at++) {
        g_autofree char *before = NULL, *letters = NULL;
        wait_for(2 * DAY);
        world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_MAIL};
        add(world, LIST, ANNE);
        g_assert_cmpint(by_one_click(world, ANNE, &before), ==, SUBSCRIPTION_DONE);
        add(world, LIST, ANNE);
        world->actor = (Actor){.role = ACTOR_OPERATOR, .door = doors[at]};
        if (at == 0) {
            g_assert_cmpint(ask(world, ANNE, FACT_CONFIRMED | FACT_APPROVED, &letters), ==, SUBSCRIPTION_DONE);
            g_assert_nonnull(strstr(letters, "Subject: You have left Test\r\n"));
            g_assert_null(strstr(letters, "    confirm "));
            g_assert_nonnull(strstr(letters, "test-join@example.com"));
        } else {
            g_autoptr(Work) work = world_work(world);
            assert_ok(roster_remove(work, LIST, ROLE_MEMBER, mailbox_of(ANNE), &error), error);
        }
        world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_MAIL};
        g_assert_cmpint(undo(world, before), ==, SUBSCRIPTION_BAD_TOKEN);
        g_assert_false(is_member(world, LIST, ANNE));
    }
}

/* ---- undoing ---- */

static void test_undo_said(World *world, const void *data)
{
    g_autofree char *letters = NULL, *thanks = NULL, *done = NULL, *again = NULL;
    world->site.tells = true;
    world_set(world, "admin_notify_mchanges", "yes");
    add(world, LIST, ANNE);
    add(world, OTHER, ANNE);
    g_assert_cmpint(by_one_click(world, ANNE, &letters), ==, SUBSCRIPTION_DONE);
    g_autofree char *token = world_token(letters);
    /* "Thanks, bye", or a program that answers */
    g_assert_cmpint(world_answer(world, token, CONSENT_ANSWER, &thanks), ==, SUBSCRIPTION_NOT_SAID);
    g_assert_false(is_member(world, LIST, ANNE));
    g_assert_cmpint(world_confirm(world, token, &done), ==, SUBSCRIPTION_RESTORED);
    g_assert_nonnull(strstr(done, EVENT_MEMBER_JOINED));
    g_assert_true(is_member(world, LIST, ANNE));
    g_assert_nonnull(strstr(done, "<olga@example.net>"));
    g_assert_nonnull(strstr(done, "Subject: Test: " ANNE " joined\r\n"));
    g_assert_cmpuint(world_count(done, "virgin <"), ==, 1);
    g_assert_cmpint(world_confirm(world, token, &again), ==, SUBSCRIPTION_BAD_TOKEN);
}

static void test_undo_expires(World *world, const void *data)
{
    GError *error = NULL;
    for (int late = 0; late < 2; late++) {
        g_autofree char *letters = NULL;
        add(world, LIST, ANNE);
        g_assert_cmpint(by_one_click(world, ANNE, &letters), ==, SUBSCRIPTION_DONE);
        wait_for(30 * DAY + (late ? 0 : -HOUR));
        g_assert_cmpint(undo(world, letters), ==, late ? SUBSCRIPTION_BAD_TOKEN : SUBSCRIPTION_RESTORED);
        g_assert_true(is_member(world, LIST, ANNE) == !late);
        if (!late)
            assert_ok(member_remove(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &error), error);
    }
}

static void test_undo_hindered(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *letters = NULL, *others = NULL;
    add(world, LIST, ANNE);
    add(world, OTHER, ANNE);
    g_assert_cmpint(by_one_click(world, ANNE, &letters), ==, SUBSCRIPTION_DONE);
    add(world, LIST, ANNE);
    g_assert_cmpint(undo(world, letters), ==, SUBSCRIPTION_NO_CHANGE);
    assert_ok(member_remove(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &error), error);
    {
        g_autoptr(Work) work = world_work(world);
        assert_ok(ban_address(work, world->list, ANNE, &error), error);
    }
    g_assert_cmpint(undo(world, letters), ==, SUBSCRIPTION_BANNED);
    assert_ok(ban_remove(world->store, LIST, ANNE, &error), error);
    /* the token of another list */
    g_assert_cmpint(click_on(world, OTHER, ANNE, LEAVE_BY_ONE_CLICK, &others), ==, SUBSCRIPTION_DONE);
    g_assert_cmpint(undo(world, others), ==, SUBSCRIPTION_BAD_TOKEN);
    /* another list of the same name */
    assert_ok(list_remove(world->store, LIST, &error), error);
    list_free(list_create(world->store, "test@example.com", &error));
    g_assert_no_error(error);
    g_assert_cmpint(undo(world, letters), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_false(is_member(world, LIST, ANNE));
}

/* The language is that of the member who is gone; an own text of the list does not take the undo away. */
static void test_undo_in_words(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *german = NULL, *own = NULL;
    Preferences wants = preferences_unset;
    g_strlcpy(wants.preferred_language, "de", sizeof wants.preferred_language);
    add(world, LIST, ANNE);
    assert_ok(member_set_preferences(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &wants, &error), error);
    g_assert_cmpint(by_one_click(world, ANNE, &german), ==, SUBSCRIPTION_DONE);
    g_assert_nonnull(strstr(german, "Subject: Sie haben Test verlassen\r\n"));
    g_assert_cmpint(undo(world, german), ==, SUBSCRIPTION_RESTORED);
    const TemplateText text = {.name = (char *)"list:user:notice:goodbye",
                               .place = (char *)LIST,
                               .language = (char *)"",
                               .uri = (char *)"",
                               .username = (char *)"",
                               .password = (char *)"",
                               .text = (char *)"Subject: x\n\nGone for good.\n"};
    assert_ok(template_text_put(world->store, &text, &error), error);
    g_assert_cmpint(by_one_click(world, ANNE, &own), ==, SUBSCRIPTION_DONE);
    g_assert_nonnull(strstr(own, "Gone for good."));
    g_assert_cmpint(undo(world, own), ==, SUBSCRIPTION_RESTORED);
}

/* ---- looking before the button ---- */

static ConfirmKind peek(World *world, const List *list, const char *token, ConfirmView *view)
{
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    assert_ok(confirm_peek(work, list, token, view, &error), error);
    return view->kind;
}

static void test_confirm_peek(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *left = NULL, *asked = NULL;
    world->actor.host = "192.0.2.1";
    add(world, LIST, ANNE);
    g_assert_cmpint(by_one_click(world, ANNE, &left), ==, SUBSCRIPTION_DONE);
    world->actor.door = DOOR_PAGE;
    g_autofree char *undoes = world_token(left);
    for (int at = 0; at < 2; at++) {
        g_auto(ConfirmView) view = {0};
        g_assert_cmpint(peek(world, NULL, undoes, &view), ==, CONFIRM_UNDO);
        g_assert_cmpstr(view.list_id, ==, LIST);
        g_assert_cmpstr(view.address, ==, ANNE);
        g_assert_cmpint(view.expires_at, >, clock_now() + (30 * DAY - HOUR) * CLOCK_SECOND);
        g_assert_false(is_member(world, LIST, ANNE));
    }
    {
        g_auto(Subscription) made = {0};
        g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE;
        g_auto(ConfirmView) view = {0};
        add(world, LIST, BOB);
        g_autoptr(Work) work = world_work(world);
        assert_ok(options_read(&options, "digest mime", &error), error);
        assert_ok(options_ask(work, world->list, mailbox_of(BOB), &options, &made, &error), error);
        asked = world_letters(world, work);
        g_autofree char *sets = world_token(asked);
        g_assert_cmpint(peek(world, world->list, sets, &view), ==, CONFIRM_REQUEST);
        g_assert_cmpint(view.request, ==, PENDING_SET);
        g_assert_cmpstr(view.address, ==, BOB);
        g_assert_cmpstr(view.detail, ==, "digest mime");
    }
    {
        g_auto(ConfirmView) view = {0}, used = {0}, other = {0};
        g_assert_cmpint(undo(world, left), ==, SUBSCRIPTION_RESTORED);
        g_assert_cmpint(peek(world, NULL, undoes, &used), ==, CONFIRM_NOTHING);
        g_assert_cmpint(used.fate, ==, TOKEN_USED);
        g_assert_cmpint(peek(world, NULL, "aaaaaaaaaaaaaaaaaaaaaaaaaa", &view), ==, CONFIRM_NOTHING);
        g_assert_cmpint(view.fate, ==, TOKEN_UNKNOWN);
        g_assert_null(view.list_id);
    }
    /* However many unknown tokens come from a network, a good one counts from there. */
    for (int at = 0; at < 300; at++) {
        g_auto(ConfirmView) view = {0};
        peek(world, NULL, "aaaaaaaaaaaaaaaaaaaaaaaaaa", &view);
    }
    g_auto(ConfirmView) good = {0};
    g_autofree char *token = world_token(asked);
    g_assert_cmpint(peek(world, NULL, token, &good), ==, CONFIRM_REQUEST);
}

static void test_leave_peek(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *token = click_token(world, LIST, ANNE);
    add(world, LIST, ANNE);
    for (int at = 0; at < 3; at++) {
        g_auto(LeaveView) view = {0}, forged = {0};
        g_autoptr(Work) work = world_work(world);
        assert_ok(leave_peek(work, token, &view, &error), error);
        g_assert_cmpstr(view.list_id, ==, LIST);
        g_assert_cmpstr(view.address, ==, ANNE);
        g_assert_true(view.is_member == (at < 2));
        assert_ok(leave_peek(work, "nonsense", &forged, &error), error);
        g_assert_true(!forged.list_id && !forged.address);
        if (at == 1)
            assert_ok(member_remove(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &error), error);
    }
}

/* ---- the brake ---- */

static char *one_of(const char *domain, int number)
{
    return g_strdup_printf("m%03d@%s", number, domain);
}

static void add_many(World *world, const char *list_id, const char *domain, int members)
{
    for (int at = 0; at < members; at++) {
        g_autofree char *address = one_of(domain, at);
        add(world, list_id, address);
    }
}

/* Clicks for members from first on until one waits; how many left. */
static int click_until_braked(World *world, const char *domain, int first)
{
    for (int at = first;; at++) {
        g_autofree char *address = one_of(domain, at);
        SubscriptionResult result = click(world, address);
        g_assert_true(result == SUBSCRIPTION_DONE || result == SUBSCRIPTION_ASKED_MODERATOR);
        g_assert_true(is_member(world, LIST, address) == (result != SUBSCRIPTION_DONE));
        if (result == SUBSCRIPTION_ASKED_MODERATOR)
            return at - first;
    }
}

static void test_brake_share(World *world, const void *data)
{
    add_many(world, LIST, "small.example", 12);
    add_many(world, LIST, "large.example", 400);
    add_many(world, LIST, "slow.example", 30);
    g_assert_cmpint(click_until_braked(world, "small.example", 0), ==, LEAVE_BRAKE_LEAST);
    g_assert_cmpint(click_until_braked(world, "large.example", 0), ==, 400 / LEAVE_BRAKE_SHARE + 1);
    add_many(world, LIST, "B\303\234CHER.example", 12); /* folded as the addresses are */
    g_assert_cmpint(click_until_braked(world, "B\303\234CHER.example", 0), ==, LEAVE_BRAKE_LEAST);
    for (int at = 0; at < 30; at++) { /* fewer than that in ten minutes */
        g_autofree char *address = one_of("slow.example", at);
        wait_for(70);
        g_assert_cmpint(click(world, address), ==, SUBSCRIPTION_DONE);
    }
}

/* While the brake is closed: who waits, who does not, and who is told. */
static void test_brake(World *world, const void *data)
{
    g_autofree char *tenth = one_of("small.example", 10), *next = one_of("small.example", 11),
                    *third = one_of("small.example", 12), *fourth = one_of("small.example", 13),
                    *fifth = one_of("small.example", 14);
    g_autofree char *told = NULL, *silent = NULL, *again = NULL, *answered = NULL, *rest = NULL, *other = NULL;
    g_autofree char *signed_mail = NULL, *spam = NULL;
    GError *error = NULL;
    add_many(world, LIST, "small.example", 40);
    add_many(world, OTHER, "small.example", 20);
    add(world, LIST, ANNE);
    for (int at = 0; at < LEAVE_BRAKE_LEAST; at++) {
        g_autofree char *address = one_of("small.example", at);
        g_assert_cmpint(click(world, address), ==, SUBSCRIPTION_DONE);
    }
    g_assert_cmpint(by_one_click(world, tenth, &told), ==, SUBSCRIPTION_ASKED_MODERATOR);
    g_assert_cmpuint(world_count(told, "virgin <"), ==, 1);
    g_assert_nonnull(strstr(told, "<olga@example.net>"));
    g_assert_nonnull(strstr(told, "Subject: Test: too many members at small.example left at once\r\n"));
    g_assert_nonnull(strstr(told, "10 members of the list"));
    g_assert_cmpint(by_one_click(world, tenth, &again), ==, SUBSCRIPTION_MODERATOR_WAITS);
    g_assert_cmpint(by_one_click(world, next, &silent), ==, SUBSCRIPTION_ASKED_MODERATOR);
    g_assert_cmpstr(silent, ==, "");
    g_assert_cmpint(write_signed(world, third, &signed_mail), ==, SUBSCRIPTION_ASKED_MODERATOR);
    g_assert_cmpint(complain(world, fourth, &spam), ==, SUBSCRIPTION_ASKED_MODERATOR);
    g_assert_true(is_member(world, LIST, third) && is_member(world, LIST, fourth));
    g_assert_cmpstr(signed_mail, ==, "");
    /* Another domain, another list, who answers, the operator. */
    g_assert_cmpint(click(world, ANNE), ==, SUBSCRIPTION_DONE);
    g_assert_cmpint(click_on(world, OTHER, next, LEAVE_BY_ONE_CLICK, &other), ==, SUBSCRIPTION_DONE);
    g_assert_cmpint(by_mail(world, fifth, &answered), ==, SUBSCRIPTION_DONE);
    world->actor = (Actor){.role = ACTOR_OPERATOR, .door = DOOR_REST};
    g_autofree char *sixth = one_of("small.example", 15);
    g_assert_cmpint(ask(world, sixth, FACT_CONFIRMED | FACT_APPROVED, &rest), ==, SUBSCRIPTION_DONE);
    /* The moderator lets the last one go, who can undo that. */
    g_autofree char *accepted = NULL;
    world->actor = (Actor){.role = ACTOR_MODERATOR, .door = DOOR_MAIL};
    g_assert_cmpint(decide(world, world_waiting(world), REQUEST_ACCEPT, &accepted), ==, SUBSCRIPTION_DONE);
    g_assert_false(is_member(world, LIST, fourth));
    world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_MAIL};
    g_assert_cmpint(undo(world, accepted), ==, SUBSCRIPTION_RESTORED);
    int64_t closed, waiting;
    assert_ok(leave_brake_sum(world->store, clock_now(), &closed, &waiting, &error), error);
    g_assert_true(closed == 1 && waiting == 4);
}

static void test_brake_opens(World *world, const void *data)
{
    add_many(world, LIST, "small.example", 100);
    g_assert_cmpint(click_until_braked(world, "small.example", 0), ==, LEAVE_BRAKE_LEAST);
    for (int at = 20; at < 30; at++) { /* the scanner goes on, and the brake stays closed */
        g_autofree char *address = one_of("small.example", at), *letters = NULL;
        wait_for(9 * MINUTE);
        g_assert_cmpint(by_one_click(world, address, &letters), ==, SUBSCRIPTION_ASKED_MODERATOR);
        g_assert_cmpuint(world_count(letters, "too many members"), ==, at == 26); /* an hour later */
    }
    wait_for(10 * MINUTE + 1);
    g_autofree char *last = one_of("small.example", 40), *waits = one_of("small.example", 20);
    g_assert_cmpint(click(world, last), ==, SUBSCRIPTION_DONE);
    g_assert_cmpint(click(world, waits), ==, SUBSCRIPTION_MODERATOR_WAITS);
}

/* A brake that was closed while the clock was ahead is open when the clock is right again. */
static void test_brake_of_another_time(World *world, const void *data)
{
    GError *error = NULL;
    const int64_t now = clock_now();
    add_many(world, LIST, "small.example", 100);
    g_autofree char *first = one_of("small.example", 1), *second = one_of("small.example", 2);
    const LeaveBrake ahead = {.closed_until = now + 24 * HOUR * CLOCK_SECOND, .gone = 20};
    assert_ok(leave_brake_close(world->store, LIST, "small.example", &ahead, now, &error), error);
    g_assert_cmpint(click(world, first), ==, SUBSCRIPTION_DONE);
    const LeaveBrake closed = {.closed_until = now + 9 * MINUTE * CLOCK_SECOND, .gone = 20};
    assert_ok(leave_brake_close(world->store, LIST, "small.example", &closed, now, &error), error);
    g_assert_cmpint(click(world, second), ==, SUBSCRIPTION_ASKED_MODERATOR);
}

/* ---- the store fails ---- */

static void run_sql(World *world, const char *format, const char *table)
{
    GError *error = NULL;
    g_autofree char *sql = g_strdup_printf(format, table, table);
    g_autoptr(Query) query = query_start(world->store, &error, g_intern_string(sql), NULL, 0);
    g_assert_no_error(error);
    g_assert_cmpint(query_step(query, &error), ==, STEP_DONE);
}

static void test_store_fails(World *world, const void *data)
{
    static const char *const tables[] = {"departure", "leave_brake", "vacation", "spent_token", "template"};
    GError *error = NULL;
    if (!fixture_is_sqlite())
        return;
    g_autofree char *token = click_token(world, LIST, ANNE), *letters = NULL;
    add(world, LIST, ANNE);
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++) {
        g_auto(Subscription) made = {0};
        g_autoptr(Work) work = world_work(world);
        if (g_str_equal(tables[at], "spent_token"))
            continue;
        run_sql(world, "ALTER TABLE %s RENAME TO %s_away", tables[at]);
        assert_ok(work_begin(work, &error), error);
        g_assert_false(leave_token(work, token, LEAVE_BY_ONE_CLICK, &made, &error));
        assert_failed(FAIL_LATER, error);
        work_cancel(work);
        run_sql(world, "ALTER TABLE %s_away RENAME TO %s", tables[at]);
        g_assert_true(is_member(world, LIST, ANNE));
    }
    g_assert_cmpint(by_one_click(world, ANNE, &letters), ==, SUBSCRIPTION_DONE);
    g_autofree char *undoes = world_token(letters);
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++) {
        g_auto(Subscription) made = {0};
        g_autoptr(Work) work = world_work(world);
        if (g_str_equal(tables[at], "leave_brake") || g_str_equal(tables[at], "template"))
            continue;
        run_sql(world, "ALTER TABLE %s RENAME TO %s_away", tables[at]);
        assert_ok(work_begin(work, &error), error);
        g_assert_false(confirm_token(work, NULL, undoes, CONSENT_SAID, &made, &error));
        assert_failed(FAIL_LATER, error);
        work_cancel(work);
        run_sql(world, "ALTER TABLE %s_away RENAME TO %s", tables[at]);
        g_assert_false(is_member(world, LIST, ANNE));
    }
    g_assert_cmpint(undo(world, letters), ==, SUBSCRIPTION_RESTORED);
}

#define DEPARTURE_TEST(path, function) g_test_add(path, World, NULL, open_world, function, world_close)

SUITE("departure")
{
    g_test_init(&argc, &argv, NULL);
    DEPARTURE_TEST("/departure/each way is told and undone", test_ways);
    DEPARTURE_TEST("/departure/no undo for who was removed", test_no_undo);
    DEPARTURE_TEST("/departure/an undo is said", test_undo_said);
    DEPARTURE_TEST("/departure/an undo expires", test_undo_expires);
    DEPARTURE_TEST("/departure/an undo is hindered", test_undo_hindered);
    DEPARTURE_TEST("/departure/the words of a letter", test_undo_in_words);
    DEPARTURE_TEST("/departure/a token is looked at", test_confirm_peek);
    DEPARTURE_TEST("/departure/a link is looked at", test_leave_peek);
    DEPARTURE_TEST("/departure/more than a twentieth", test_brake_share);
    DEPARTURE_TEST("/departure/the rest waits", test_brake);
    DEPARTURE_TEST("/departure/the brake opens", test_brake_opens);
    DEPARTURE_TEST("/departure/a brake of another time", test_brake_of_another_time);
    DEPARTURE_TEST("/departure/the store fails", test_store_fails);
    return clock_run_tests();
}
