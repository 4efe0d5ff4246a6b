/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/join.h"
#include "lists/people/leave.h"
#include "lists/people/request.h"
#include "lists/people/subscription_internal.h"
#include "store/people/account.h"
#include "store/lists/template_text.h"
#include "t/lists/fixture.h"
#include "t/suite.h"
#include "store/store_internal.h"

#define ANNE "anne@example.org"

/* ---- what a test does and sees ---- */

static SubscriptionResult join(World *world, const char *address, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(join_ask(work, world->list, &(Joiner){.address = mailbox_of(address), .name = "Anne"}, &made, &error),
              error);
    *letters = world_letters(world, work);
    return made.result;
}

static SubscriptionResult leave(World *world, const char *address, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(leave_ask(work, world->list, mailbox_of(address), 0, &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

static SubscriptionResult decide(World *world, int64_t number, RequestVerdict verdict, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(request_decide(work, number, verdict, "too many of you", &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

/* ---- tests ---- */

/* For each policy and each thing that is known: what comes next. */
static void test_workflow(void)
{
    for (int policy = POLICY_OPEN; policy <= POLICY_CONFIRM_THEN_MODERATE; policy++)
        for (unsigned facts = 0; facts < WORKFLOW_FACTS; facts++) {
            bool confirm_wanted = policy == POLICY_CONFIRM || policy == POLICY_CONFIRM_THEN_MODERATE;
            bool consent_wanted = policy == POLICY_MODERATE || policy == POLICY_CONFIRM_THEN_MODERATE;
            bool confirmed = (facts & FACT_CONFIRMED) != 0;
            bool verified = confirmed || (facts & FACT_VERIFIED) != 0;
            WorkflowStep wanted = !verified || (confirm_wanted && !confirmed)        ? WORKFLOW_ASK_PERSON
                                  : consent_wanted && (facts & FACT_APPROVED) == 0 ? WORKFLOW_ASK_MODERATOR
                                                                                    : WORKFLOW_DO;
            g_assert_cmpint(workflow_next(policy, facts), ==, wanted);
        }
}

static void test_join_and_confirm(World *world, const void *data)
{
    g_autofree char *asked = NULL, *wrong = NULL, *done = NULL, *again = NULL;
    g_assert_cmpint(join(world, ANNE, &asked), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_false(world_is_member(world, ANNE));
    g_autofree char *token = world_token(asked), *from = g_strdup_printf("<test-confirm+%s@example.com>", token);
    g_assert_nonnull(strstr(asked, from));
    g_assert_true(g_str_has_prefix(asked, "virgin <" ANNE "> "));
    g_assert_nonnull(strstr(asked, "Auto-Submitted: auto-generated\r\n"));
    g_assert_cmpint(world_confirm(world, "aaaaaaaaaaaaaaaaaaaaaaaaaa", &wrong), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_cmpstr(wrong, ==, "");
    g_autofree char *upper = g_ascii_strup(token, -1); /* some systems change the case of an address */
    g_assert_cmpint(world_confirm(world, upper, &done), ==, SUBSCRIPTION_DONE);
    g_assert_true(world_is_member(world, ANNE));
    g_assert_nonnull(strstr(done, "Subject: Welcome to Test\r\n"));
    g_assert_cmpint(fixture_verified_at(world->store, ANNE), >, 0);
    g_assert_cmpint(world_confirm(world, token, &again), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_cmpstr(again, ==, "");
}

/* An address is verified from the first confirmation on, even if a moderator refuses what was confirmed. */
static void test_verified_since(World *world, const void *data)
{
    char id[STORE_ID_SIZE];
    g_autofree char *asked = NULL, *waits = NULL, *done = NULL;
    g_assert_true(user_create(world->store, mailbox_of(ANNE), NULL, id, NULL));
    world_set(world, "subscription_policy", "confirm_then_moderate");
    g_assert_cmpint(join(world, ANNE, &asked), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_cmpint(fixture_verified_at(world->store, ANNE), ==, 0);
    g_autofree char *token = world_token(asked);
    g_assert_cmpint(world_confirm(world, token, &waits), ==, SUBSCRIPTION_ASKED_MODERATOR);
    g_assert_cmpint(fixture_verified_at(world->store, ANNE), >, 0);
    g_assert_true(address_set_verified(world->store, mailbox_of(ANNE), 12345, NULL));
    g_assert_cmpint(decide(world, world_waiting(world), REQUEST_ACCEPT, &done), ==, SUBSCRIPTION_DONE);
    g_assert_cmpint(fixture_verified_at(world->store, ANNE), ==, 12345);
}

static void test_asking_a_thousand_times(World *world, const void *data)
{
    unsigned sent = 0;
    for (unsigned at = 0; at < 1000; at++) {
        g_autofree char *letters = NULL;
        SubscriptionResult result = join(world, at % 2 ? ANNE : "Anne@EXAMPLE.org", &letters);
        g_assert_cmpint(result, ==, at == 0 ? SUBSCRIPTION_ASKED_PERSON : SUBSCRIPTION_PERSON_WAITS);
        sent += *letters != '\0';
    }
    g_assert_cmpuint(sent, ==, 1);
}

/* The day is over: one more, and only the new token counts. */
static void test_asking_on_the_next_day(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *first = NULL, *second = NULL, *old_answer = NULL, *new_answer = NULL;
    join(world, ANNE, &first);
    g_autofree char *old = world_token(first);
    g_autoptr(Pending) request = pending_find(world->store, world_waiting(world), clock_now(), &error);
    request->asked_at -= 25 * 3600 * CLOCK_SECOND;
    assert_ok(pending_put(world->store, request, old, &error), error);
    g_assert_cmpint(join(world, ANNE, &second), ==, SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *new = world_token(second);
    g_assert_cmpint(world_confirm(world, old, &old_answer), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_cmpint(world_confirm(world, new, &new_answer), ==, SUBSCRIPTION_DONE);
}

static void test_expired_token(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *asked = NULL, *late = NULL;
    int64_t removed = 0;
    join(world, ANNE, &asked);
    g_autofree char *token = world_token(asked);
    g_autoptr(Pending) request = pending_find(world->store, world_waiting(world), clock_now(), &error);
    request->expires_at = clock_now() - 1;
    assert_ok(pending_put(world->store, request, token, &error), error);
    g_assert_cmpint(world_confirm(world, token, &late), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_false(world_is_member(world, ANNE));
    g_assert_cmpint(world_waiting(world), ==, 0);
    assert_ok(pending_expire(world->store, clock_now(), &removed, &error), error);
    g_assert_cmpint(removed, ==, 1);
}

static void test_open(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *first = NULL, *done = NULL, *left = NULL, *again = NULL;
    world_set(world, "subscription_policy", "open");
    world_set(world, "unsubscription_policy", "open");
    g_assert_cmpint(join(world, ANNE, &first), ==, SUBSCRIPTION_ASKED_PERSON); /* an address that nobody knows */
    g_autofree char *token = world_token(first);
    g_assert_cmpint(world_confirm(world, token, &done), ==, SUBSCRIPTION_DONE);
    g_assert_cmpint(leave(world, ANNE, &left), ==, SUBSCRIPTION_DONE);
    g_assert_nonnull(strstr(left, "Subject: You have left Test"));
    g_assert_false(world_is_member(world, ANNE));
    g_assert_cmpint(join(world, ANNE, &again), ==, SUBSCRIPTION_DONE);
    g_assert_no_error(error);
}

static void test_moderated(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *asked = NULL, *confirmed = NULL, *again = NULL, *deferred = NULL, *accepted = NULL;
    world_set(world, "subscription_policy", "confirm_then_moderate");
    g_assert_cmpint(join(world, ANNE, &asked), ==, SUBSCRIPTION_ASKED_PERSON);
    {
        g_auto(Subscription) made = {0};
        g_autoptr(Work) work = world_work(world);
        g_assert_false(request_decide(work, world_waiting(world), REQUEST_ACCEPT, NULL, &made, &error));
        assert_failed(FAIL_NEVER, error); /* nobody confirms for another */
    }
    g_autofree char *token = world_token(asked);
    g_assert_cmpint(world_confirm(world, token, &confirmed), ==, SUBSCRIPTION_ASKED_MODERATOR);
    g_assert_nonnull(strstr(confirmed, "<olga@example.net>"));
    g_assert_false(world_is_member(world, ANNE));
    g_assert_cmpint(join(world, ANNE, &again), ==, SUBSCRIPTION_MODERATOR_WAITS);
    g_assert_cmpstr(again, ==, "");
    int64_t number = world_waiting(world);
    g_assert_cmpint(decide(world, number, REQUEST_DEFER, &deferred), ==, SUBSCRIPTION_KEPT);
    g_assert_cmpint(decide(world, number, REQUEST_ACCEPT, &accepted), ==, SUBSCRIPTION_DONE);
    g_assert_true(world_is_member(world, ANNE));
    g_assert_cmpint(world_waiting(world), ==, 0);
}

static void test_rejected(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *asked = NULL, *confirmed = NULL, *rejected = NULL;
    world_set(world, "subscription_policy", "confirm_then_moderate");
    world_set(world, "admin_immed_notify", "no");
    join(world, ANNE, &asked);
    g_autofree char *token = world_token(asked);
    g_assert_cmpint(world_confirm(world, token, &confirmed), ==, SUBSCRIPTION_ASKED_MODERATOR);
    g_assert_cmpstr(confirmed, ==, "");
    int64_t number = world_waiting(world);
    g_assert_cmpint(decide(world, number, REQUEST_REJECT, &rejected), ==, SUBSCRIPTION_REFUSED);
    g_assert_nonnull(strstr(rejected, "too many of you"));
    g_assert_false(world_is_member(world, ANNE));
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    g_assert_false(request_decide(work, number, REQUEST_ACCEPT, NULL, &made, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_leave(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *asked = NULL, *again = NULL, *stranger = NULL, *done = NULL;
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
    world_set(world, "admin_notify_mchanges", "yes");
    g_assert_cmpint(leave(world, "bob@example.org", &stranger), ==, SUBSCRIPTION_NO_CHANGE);
    g_assert_cmpint(leave(world, ANNE, &asked), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_cmpint(leave(world, ANNE, &again), ==, SUBSCRIPTION_PERSON_WAITS);
    g_assert_true(world_is_member(world, ANNE));
    g_autofree char *token = world_token(asked);
    g_assert_cmpint(world_confirm(world, token, &done), ==, SUBSCRIPTION_DONE);
    g_assert_false(world_is_member(world, ANNE));
    g_assert_cmpuint(world_count(done, "virgin <"), ==, 2);
    g_assert_nonnull(strstr(done, "Subject: Test: " ANNE " left"));
}

static void set_text(World *world, const char *name, const char *words)
{
    GError *error = NULL;
    const TemplateText text = {.name = (char *)name, .place = (char *)LIST, .language = (char *)"", .uri = (char *)"",
                               .username = (char *)"", .password = (char *)"", .text = (char *)words};
    assert_ok(template_text_put(world->store, &text, &error), error);
}

/* Owners read the name that came with the membership or the request, never one that another list was given; the person
 * is called what the address is called. */
static void test_names_in_letters(World *world, const void *data)
{
    static const char *const names[] = {"Anne Own", NULL}; /* given to this list */
    static const char *const to_owners[] = {"list:admin:action:subscribe", "list:admin:notice:subscribe",
                                            "list:admin:notice:unsubscribe"};
    static const char *const addresses[] = {ANNE, "bob@example.org"};
    static const char *const own_names[] = {"Anne Other", "Bob Other"}; /* given to the other list, which made them */
    GError *error = NULL;
    list_free(list_create(world->store, "other@example.com", &error));
    for (size_t at = 0; at < G_N_ELEMENTS(to_owners); at++)
        set_text(world, to_owners[at], "Subject: x\n\nto owners: ($user_name)\n");
    set_text(world, "list:user:notice:welcome", "Subject: x\n\nto the person: ($user_name)\n");
    world_set(world, "admin_notify_mchanges", "yes");
    world_set(world, "subscription_policy", "confirm_then_moderate");
    world_set(world, "unsubscription_policy", "open");
    for (size_t at = 0; at < G_N_ELEMENTS(addresses); at++) {
        g_autofree char *asked = NULL, *waits = NULL, *joined = NULL, *left = NULL;
        g_autofree char *wanted = g_strdup_printf("to owners: (%s)", names[at] ? names[at] : "");
        g_autofree char *own = g_strdup_printf("to the person: (%s)", own_names[at]);
        g_auto(Subscription) made = {0};
        const char *address = addresses[at], *there = own_names[at];
        assert_ok(member_add(world->store, "other.example.com", ROLE_MEMBER, mailbox_of(address), there, NULL, &error),
                  error);
        g_autoptr(Work) work = world_work(world);
        const Joiner joiner = {.address = mailbox_of(addresses[at]), .name = names[at]};
        assert_ok(join_ask(work, world->list, &joiner, &made, &error), error);
        asked = world_letters(world, work);
        g_autofree char *token = world_token(asked);
        g_assert_cmpint(world_confirm(world, token, &waits), ==, SUBSCRIPTION_ASKED_MODERATOR);
        g_assert_nonnull(strstr(waits, wanted));
        g_assert_cmpint(decide(world, world_waiting(world), REQUEST_ACCEPT, &joined), ==, SUBSCRIPTION_DONE);
        g_assert_nonnull(strstr(joined, wanted));
        g_assert_nonnull(strstr(joined, own));
        leave(world, address, &left);
        g_assert_nonnull(strstr(left, wanted));
        g_assert_null(strstr(left, "Other"));
    }
}

static void test_switches(World *world, const void *data)
{
    g_autofree char *asked = NULL, *done = NULL;
    world_set(world, "send_welcome_message", "no");
    world_set(world, "admin_notify_mchanges", "yes");
    join(world, ANNE, &asked);
    g_autofree char *token = world_token(asked);
    g_assert_cmpint(world_confirm(world, token, &done), ==, SUBSCRIPTION_DONE);
    g_assert_cmpuint(world_count(done, "virgin <"), ==, 1);
    g_assert_nonnull(strstr(done, "Subject: Test: " ANNE " joined"));
}

static void test_signed_leave(World *world, const void *data)
{
    GError *error = NULL;
    static const char *const members[] = {ANNE, "a-name-that-is-too-long-to-stand-in-an-address@some.long.example.org"};
    VerpList list = {LIST, "test-leave", "example.com", '+'};
    for (size_t at = 0; at < G_N_ELEMENTS(members); at++) {
        g_auto(Subscription) forged = {0}, made = {0}, link = {0};
        g_autoptr(GString) address = g_string_new(NULL);
        g_autoptr(Work) work = world_work(world);
        g_autoptr(Hashed) hashed = hashed_new(world->store);
        assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(members[at]), NULL, NULL, &error), error);
        g_assert_true(verp_make(world->keys, VERP_UNSUBSCRIBE, &list, members[at], clock_now(), address));
        g_autofree char *detail = g_strndup(strchr(address->str, '+') + 1, strcspn(strchr(address->str, '+') + 1, "@"));
        g_autofree char *wrong = g_strdup(detail);
        wrong[strlen(wrong) - 1] = wrong[strlen(wrong) - 1] == 'a' ? 'b' : 'a';
        assert_ok(leave_signed(work, world->list, hashed, wrong, &forged, &error), error);
        g_assert_cmpint(forged.result, ==, SUBSCRIPTION_BAD_TOKEN);
        g_assert_true(world_is_member(world, members[at]));
        assert_ok(leave_signed(work, world->list, hashed, detail, &made, &error), error);
        g_assert_cmpint(made.result, ==, SUBSCRIPTION_DONE);
        g_assert_false(world_is_member(world, members[at]));
        assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(members[at]), NULL, NULL, &error), error);
        g_autofree char *token = verp_token(world->keys, VERP_UNSUBSCRIBE, LIST, members[at], clock_now());
        assert_ok(leave_token(work, token, LEAVE_BY_ONE_CLICK, &link, &error), error);
        g_assert_cmpint(link.result, ==, SUBSCRIPTION_DONE);
        g_assert_cmpstr(link.address, ==, members[at]);
        g_assert_false(world_is_member(world, members[at]));
    }
}

static void test_bad_addresses(World *world, const void *data)
{
    static const char *const bad[] = {"", "anne", "anne@", "@example.org", "a b@example.org", "test@example.com",
                                      "TEST-request@example.com", "test-join@example.com"};
    for (size_t at = 0; at < G_N_ELEMENTS(bad); at++) {
        g_autofree char *letters = NULL;
        g_assert_cmpint(join(world, bad[at], &letters), ==,
                        at < 5 ? SUBSCRIPTION_BAD_ADDRESS : SUBSCRIPTION_OWN_ADDRESS);
        g_assert_cmpstr(letters, ==, "");
    }
}

static void spend(World *world, AccountKind kind, const char *who, int64_t times)
{
    GError *error = NULL;
    int64_t total;
    for (; times > 0; times--)
        assert_ok(account_add(world->store, kind, who, clock_now(), &total, &error), error);
}

/* Answers use up nothing that somebody needs to join, and each network has a count of its own. */
static void test_daily_limit(World *world, const void *data)
{
    world->site.answers_a_day = 1;
    world->actor.address = ANNE;
    world->actor.host = "192.0.2.1";
    spend(world, ACCOUNT_ANSWERS, ANNE, 5);
    spend(world, ACCOUNT_CONFIRMATIONS, LIST " join " ANNE " 192.0.2.2", 5);
    spend(world, ACCOUNT_CONFIRMATIONS, LIST " join " ANNE " *", 5);
    spend(world, ACCOUNT_FOR_OTHERS, ANNE, 5);
    g_autofree char *letters = NULL;
    g_assert_cmpint(join(world, ANNE, &letters), ==, SUBSCRIPTION_ASKED_PERSON);
    g_clear_pointer(&letters, g_free);
    g_assert_cmpint(join(world, "an.ne+2@example.org", &letters), ==, SUBSCRIPTION_LIMITED); /* asked for by another */
    g_assert_cmpstr(letters, ==, "");
    g_clear_pointer(&letters, g_free);
    world->actor.address = "anne+2@example.org"; /* with a detail, it counts as another's */
    g_assert_cmpint(join(world, "anne+2@example.org", &letters), ==, SUBSCRIPTION_LIMITED);
    g_assert_cmpstr(letters, ==, "");
    g_clear_pointer(&letters, g_free);
    world->actor.address = "an.ne@example.org";
    g_assert_cmpint(join(world, "an.ne@example.org", &letters), ==, SUBSCRIPTION_LIMITED);
    g_assert_nonnull(strstr(letters, "Subject: No more answers from Test today\r\n"));
    g_assert_null(strstr(letters, "confirm"));
    g_clear_pointer(&letters, g_free);
    g_assert_cmpint(join(world, "an.ne@example.org", &letters), ==, SUBSCRIPTION_LIMITED);
    g_assert_cmpstr(letters, ==, "");
}

/* The host's count is for strangers: members leave whatever others did from there. */
static void test_host_limit(World *world, const void *data)
{
    GError *error = NULL;
    world->site.letters_per_host = 2;
    world->actor.host = "2001:db8::1";
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
    for (int at = 0; at < 4; at++) {
        g_autofree char *stranger = g_strdup_printf("stranger%d@example.net", at), *letters = NULL;
        g_autofree char *host = g_strdup_printf("2001:db8::%d", at);
        world->actor.address = stranger;
        world->actor.host = host;
        g_assert_cmpint(join(world, stranger, &letters), ==, at < 2 ? SUBSCRIPTION_ASKED_PERSON : SUBSCRIPTION_LIMITED);
    }
    g_autofree char *letters = NULL, *theirs = NULL;
    world->actor.address = ANNE;
    world->actor.host = "2001:db8::9";
    g_assert_cmpint(leave(world, ANNE, &letters), ==, SUBSCRIPTION_ASKED_PERSON);
    world->actor.address = "bob@example.org";
    world->actor.host = "2001:db8:0:1::1";
    g_assert_cmpint(join(world, "bob@example.org", &theirs), ==, SUBSCRIPTION_ASKED_PERSON);
}

/* No room for a token in the address: it is in the subject. */
static void test_long_name(World *world, const void *data)
{
    GError *error = NULL;
    g_autoptr(List) list = list_create(world->store, "announcements-of-all-the-departments@example.com", &error);
    g_assert_no_error(error);
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(join_ask(work, list, &(Joiner){.address = mailbox_of(ANNE)}, &made, &error), error);
    g_autofree char *letters = world_letters(world, work), *token = world_token(letters);
    g_autofree char *mark = g_strdup_printf("(confirm %s)", token);
    g_auto(GStrv) unfolded = g_strsplit(letters, "\r\n ", -1);
    g_autofree char *flat = g_strjoinv("", unfolded);
    g_assert_true(strstr(letters, mark) || strstr(flat, mark) || strstr(letters, token));
    g_assert_nonnull(strstr(letters, "announcements-of-all-the-departments-request@example.com"));
}

/* On an open list anybody can take a known address on and off it; its owner is not flooded by that. */
static void test_on_and_off(World *world, const void *data)
{
    world_set(world, "subscription_policy", "open");
    world_set(world, "unsubscription_policy", "open");
    world_set(world, "send_welcome_message", "yes");
    world_set(world, "admin_notify_mchanges", "no");
    g_autofree char *letters = NULL;
    g_assert_cmpint(join(world, ANNE, &letters), ==, SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *token = world_token(letters), *welcome = NULL;
    g_assert_cmpint(world_confirm(world, token, &welcome), ==, SUBSCRIPTION_DONE);
    g_autoptr(GString) all = g_string_new(NULL);
    for (unsigned at = 0; at < 50; at++) {
        g_autofree char *off = NULL, *on = NULL;
        g_assert_cmpint(leave(world, ANNE, &off), ==, SUBSCRIPTION_DONE);
        g_assert_cmpint(join(world, ANNE, &on), ==, SUBSCRIPTION_DONE);
        g_string_append_printf(all, "%s%s", off, on);
    }
    g_assert_cmpuint(world_count(all->str, "virgin <" ANNE ">"), ==, 2); /* one of each */
}

/* Nor by a program that vouches for people over REST. */
static void test_on_and_off_by_rest(World *world, const void *data)
{
    world->actor = (Actor){.role = ACTOR_OPERATOR, .door = DOOR_REST};
    world_set(world, "admin_notify_mchanges", "no");
    g_autoptr(GString) all = g_string_new(NULL);
    const unsigned sure = FACT_VERIFIED | FACT_CONFIRMED | FACT_APPROVED;
    for (unsigned at = 0; at < 20; at++) {
        GError *error = NULL;
        g_auto(Subscription) on = {0}, off = {0};
        g_autoptr(Work) work = world_work(world);
        assert_ok(join_ask(work, world->list, &(Joiner){.address = mailbox_of(ANNE), .facts = sure}, &on, &error),
                  error);
        assert_ok(leave_ask(work, world->list, mailbox_of(ANNE), sure, &off, &error), error);
        g_assert_true(on.result == SUBSCRIPTION_DONE && off.result == SUBSCRIPTION_DONE);
        g_autofree char *letters = world_letters(world, work);
        g_string_append(all, letters);
    }
    g_assert_cmpuint(world_count(all->str, "virgin <" ANNE ">"), ==, 2); /* a welcome and a goodbye */
}

/* Check that the word of an owner about a person proves nothing, and that the person's own answer does. */
static void test_vouched(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    world->actor = (Actor){.role = ACTOR_OWNER, .door = DOOR_REST};
    g_autoptr(Work) work = world_work(world);
    const Joiner joiner = {.address = mailbox_of(ANNE), .facts = FACT_VERIFIED | FACT_APPROVED | FACT_VOUCHED};
    assert_ok(join_ask(work, world->list, &joiner, &made, &error), error);
    g_assert_cmpint(made.result, ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_cmpint(fixture_verified_at(world->store, ANNE), ==, 0);
    g_autofree char *letters = world_letters(world, work), *token = world_token(letters), *welcome = NULL;
    world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_MAIL, .address = ANNE};
    g_assert_cmpint(world_confirm(world, token, &welcome), ==, SUBSCRIPTION_DONE);
    g_assert_cmpint(fixture_verified_at(world->store, ANNE), !=, 0);
}

/* Check that a program's word that a person wants to join counts only where the address is verified. */
static void test_wishes(World *world, const void *data)
{
    GError *error = NULL;
    for (unsigned facts = 0; facts <= FACT_VERIFIED; facts += FACT_VERIFIED) {
        g_auto(Subscription) made = {0};
        g_autoptr(Work) work = world_work(world);
        const Joiner joiner = {.address = mailbox_of(ANNE), .wishes = true, .facts = facts};
        assert_ok(join_ask(work, world->list, &joiner, &made, &error), error);
        g_assert_cmpint(made.result, ==, facts ? SUBSCRIPTION_DONE : SUBSCRIPTION_ASKED_PERSON);
        g_assert_true(world_is_member(world, ANNE) == (facts != 0));
    }
}

/* The answer to a letter that a list or a domain has worded joins that list, and proves nothing to others: the words
 * may have said something else. An answer to the site's words does. */
static void test_words_of_a_list(World *world, const void *data)
{
    static const struct {
        const char *place;
        bool proves;
    } cases[] = {
        {LIST, false}, {"@example.com", false}, {"", true}, {"@example.org", true}, {"other.example.com", true}};
    GError *error = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *person = g_strdup_printf("person%zu@example.org", at), *asked = NULL, *welcome = NULL;
        TemplateText text = {.name = (char *)"list:user:action:subscribe", .place = (char *)cases[at].place,
                             .text = (char *)"Win a car.\n\n    confirm $token\n"};
        assert_ok(template_text_put(world->store, &text, &error), error);
        world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_MAIL, .address = person};
        g_assert_cmpint(join(world, person, &asked), ==, SUBSCRIPTION_ASKED_PERSON);
        assert_ok(template_text_remove(world->store, cases[at].place, text.name, NULL, &error), error);
        g_autofree char *token = world_token(asked);
        g_assert_cmpint(world_confirm(world, token, &welcome), ==, SUBSCRIPTION_DONE);
        g_test_message("words of \"%s\"", cases[at].place);
        g_assert_cmpint(fixture_verified_at(world->store, person) != 0, ==, cases[at].proves);
    }
}

/* Nor is a request that is discarded and made again. */
static void asked_and_discarded(World *world, ActorRole role)
{
    world->actor = (Actor){.role = role, .door = DOOR_REST};
    g_autoptr(GString) all = g_string_new(NULL);
    for (unsigned at = 0; at < 5; at++) {
        g_autofree char *asked = NULL, *none = NULL;
        g_assert_cmpint(join(world, ANNE, &asked), ==, at == 0 ? SUBSCRIPTION_ASKED_PERSON : SUBSCRIPTION_LIMITED);
        g_string_append(all, asked);
        if (at == 0)
            decide(world, world_waiting(world), REQUEST_DISCARD, &none);
    }
    g_assert_cmpuint(world_count(all->str, "virgin <"), ==, 1);
    world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_MAIL, .address = ANNE};
    g_autofree char *own = NULL;
    g_assert_cmpint(join(world, ANNE, &own), ==, SUBSCRIPTION_ASKED_PERSON); /* she herself can ask */
    g_autofree char *token = world_token(own), *welcome = NULL, *left = NULL, *again = NULL;
    g_assert_cmpint(world_confirm(world, token, &welcome), ==, SUBSCRIPTION_DONE);
    world_set(world, "unsubscription_policy", "open");
    g_assert_cmpint(leave(world, ANNE, &left), ==, SUBSCRIPTION_DONE);
    world->actor = (Actor){.role = ACTOR_OPERATOR, .door = DOOR_REST};
    g_assert_cmpint(join(world, ANNE, &again), ==, SUBSCRIPTION_ASKED_PERSON); /* she answered the last letter */
}

/* The letter says who asked, from where and when: the person herself, somebody else, or a program of the site. */
static void test_who_asked(World *world, const void *data)
{
    static const struct {
        Actor actor;
        const char *address, *says;
    } cases[] = {
        {{ACTOR_ADDRESS, ANNE, DOOR_MAIL, "192.0.2.7", "-", NULL},
         ANNE,
         "The request came in a mail of anne@example.org,\r\nfrom the host 192.0.2.7, at 2"},
        {{ACTOR_ADDRESS, "mallory@example.net", DOOR_MAIL, NULL, "-", NULL},
         "bart@example.org",
         "The request came in a mail of mallory@example.net, at 2"},
        {{ACTOR_OPERATOR, NULL, DOOR_REST, NULL, "127.0.0.1", NULL},
         "cris@example.org",
         "The request came from a web page or program of this site, at 2"},
        {{ACTOR_OPERATOR, NULL, DOOR_SHELL, NULL, "-", NULL},
         "dora@example.org",
         "The operators of this site asked for it, at 2"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *letter = NULL;
        world->actor = cases[at].actor;
        world_set(world, "subscription_policy", at % 2 == 0 ? "open" : "confirm");
        g_assert_cmpint(join(world, cases[at].address, &letter), ==, SUBSCRIPTION_ASKED_PERSON);
        if (!strstr(letter, cases[at].says))
            g_error("\"%s\" is not in:\n%s", cases[at].says, letter);
    }
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    const Joiner approved = {.address = mailbox_of("fred@example.org"), .facts = FACT_APPROVED};
    assert_ok(join_ask(work, world->list, &approved, &made, &error), error);
    g_autofree char *accepted = world_letters(world, work);
    g_assert_nonnull(strstr(accepted, "The moderators of the list have agreed to it, at 2"));
}

/* Forged addresses of two lists: members are read for the first of each, and for no further one, which is answered also
 * while they cannot be read; a signed address is known all the time. */
static void test_forged_leaves(World *world, const void *data)
{
    GError *error = NULL;
    static const char member[] = "a-name-that-is-too-long-to-stand-in-an-address@some.long.example.org";
    g_autoptr(Hashed) hashed = hashed_new(world->store);
    g_autoptr(List) second = list_create(world->store, "second@example.com", &error);
    const List *const lists[] = {world->list, second};
    if (!fixture_is_sqlite())
        return;
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(member), NULL, NULL, &error), error);
    for (int at = 0; at < 100; at++) {
        g_auto(Subscription) made = {0};
        g_autofree char *forged = g_strdup_printf("=%c%caaaaaacxk7u2m4qzpa", 'a' + at / 26, 'a' + at % 26);
        g_autoptr(Work) work = world_work(world);
        assert_ok(leave_signed(work, lists[at % 2], hashed, forged, &made, &error), error);
        g_assert_cmpint(made.result, ==, SUBSCRIPTION_BAD_TOKEN);
        if (at == 1)
            assert_ok(query_all(world->store, &error, NULL, "ALTER TABLE member RENAME TO away", NULL, 0), error);
    }
    assert_ok(query_all(world->store, &error, NULL, "ALTER TABLE away RENAME TO member", NULL, 0), error);
    VerpList list = {LIST, "test-leave", "example.com", '+'};
    g_autoptr(GString) address = g_string_new(NULL);
    g_assert_true(verp_make(world->keys, VERP_UNSUBSCRIBE, &list, member, clock_now(), address));
    const char *detail = strchr(address->str, '+') + 1;
    g_autofree char *only = g_strndup(detail, strcspn(detail, "@"));
    g_auto(Subscription) left = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(leave_signed(work, world->list, hashed, only, &left, &error), error);
    g_assert_cmpint(left.result, ==, SUBSCRIPTION_DONE);
}

/* Unknown tokens lock nobody out: who shares the network or the name of a stranger confirms as before. */
static void test_unknown_tokens(World *world, const void *data)
{
    g_autofree char *asked = NULL, *done = NULL;
    world->actor.host = "192.0.2.7";
    g_assert_cmpint(join(world, ANNE, &asked), ==, SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *token = world_token(asked);
    for (unsigned at = 0; at < 300; at++) {
        g_autofree char *none = NULL;
        world->actor.address = "mallory@example.net";
        g_assert_cmpint(world_confirm(world, "aaaaaaaaaaaaaaaaaaaaaaaaaa", &none), ==, SUBSCRIPTION_BAD_TOKEN);
    }
    g_assert_cmpint(world_confirm(world, token, &done), ==, SUBSCRIPTION_DONE);
    g_assert_true(world_is_member(world, ANNE));
}

/* With From forged, a mailbox does not get a letter from each list of the site. The person has room from another
 * network, and so has another person. */
static void test_every_list(World *world, const void *data)
{
    GError *error = NULL;
    unsigned letters = 0;
    world->site.answers_a_day = 4;
    world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_MAIL, .address = ANNE, .host = "192.0.2.7"};
    for (unsigned at = 0; at < 20; at++) {
        g_autofree char *name = g_strdup_printf("list%u@example.com", at);
        g_autoptr(List) list = list_create(world->store, name, &error);
        g_auto(Subscription) made = {0};
        world->actor.host = at == 19 ? "198.51.100.1" : "192.0.2.7";
        world->actor.address = at == 18 ? "bob@example.org" : ANNE;
        g_autoptr(Work) work = world_work(world);
        assert_ok(join_ask(work, list, &(Joiner){.address = mailbox_of(world->actor.address)}, &made, &error), error);
        if (at < 18)
            letters += made.result == SUBSCRIPTION_ASKED_PERSON;
        else
            g_assert_cmpint(made.result, ==, SUBSCRIPTION_ASKED_PERSON);
    }
    g_assert_cmpuint(letters, ==, 4);
}

static void test_asked_and_discarded(World *world, const void *data)
{
    asked_and_discarded(world, ACTOR_OPERATOR);
}

static void test_asked_and_discarded_by_owner(World *world, const void *data)
{
    asked_and_discarded(world, ACTOR_OWNER);
}

SUITE("subscription")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/subscription/workflow", test_workflow);
    WORLD_TEST("/subscription/join and confirm", test_join_and_confirm);
    WORLD_TEST("/subscription/verified since", test_verified_since);
    WORLD_TEST("/subscription/on and off", test_on_and_off);
    WORLD_TEST("/subscription/on and off by REST", test_on_and_off_by_rest);
    WORLD_TEST("/subscription/asked and discarded", test_asked_and_discarded);
    WORLD_TEST("/subscription/asked and discarded by who has the list", test_asked_and_discarded_by_owner);
    WORLD_TEST("/subscription/vouched", test_vouched);
    WORLD_TEST("/subscription/wishes", test_wishes);
    WORLD_TEST("/subscription/words of a list", test_words_of_a_list);
    WORLD_TEST("/subscription/forged leaves", test_forged_leaves);
    WORLD_TEST("/subscription/unknown tokens", test_unknown_tokens);
    WORLD_TEST("/subscription/every list of a site", test_every_list);
    WORLD_TEST("/subscription/who-asked", test_who_asked);
    WORLD_TEST("/subscription/asking a thousand times", test_asking_a_thousand_times);
    WORLD_TEST("/subscription/asking on the next day", test_asking_on_the_next_day);
    WORLD_TEST("/subscription/expired token", test_expired_token);
    WORLD_TEST("/subscription/open", test_open);
    WORLD_TEST("/subscription/moderated", test_moderated);
    WORLD_TEST("/subscription/rejected", test_rejected);
    WORLD_TEST("/subscription/leave", test_leave);
    WORLD_TEST("/subscription/switches", test_switches);
    WORLD_TEST("/subscription/names in letters", test_names_in_letters);
    WORLD_TEST("/subscription/signed leave", test_signed_leave);
    WORLD_TEST("/subscription/bad addresses", test_bad_addresses);
    WORLD_TEST("/subscription/daily limit", test_daily_limit);
    WORLD_TEST("/subscription/so many letters for one host", test_host_limit);
    WORLD_TEST("/subscription/long name", test_long_name);
    return g_test_run();
}
