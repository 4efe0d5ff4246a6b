/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Test who may decide. Olga moderates test@example.com, and Paul other@example.com. Tokens are brought to the right
 * list and to the other one, in time and too late, by the person they were sent to and after many unknown ones.
 */
#include <sqlite3.h>

#include "lists/letters/held_notice.h"
#include "lists/people/join.h"
#include "lists/people/options.h"
#include "lists/people/request.h"
#include "lists/people/standing.h"
#include "lists/posts/held_post.h"
#include "lists/posts/moderate.h"
#include "store/lists/domain.h"
#include "store/people/account.h"
#include "store/people/user.h"
#include "t/lists/fixture.h"
#include "t/suite.h"
#include "t/text.h"

#define OLGA "olga@example.net"
#define PAUL "paul@example.net"
#define ANNE "anne@example.org"
#define MALLORY "mallory@example.net"
#define OTHER "other.example.com"
#define GONE "does not wait for you"

/* ---- two lists ---- */

static List *other_list(World *world)
{
    GError *error = NULL;
    List *other = list_create(world->store, "other@example.com", &error);
    g_assert_no_error(error);
    assert_ok(member_add(world->store, OTHER, ROLE_OWNER, mailbox_of(PAUL), NULL, NULL, &error), error);
    return other;
}

/* A post that says more in its header; its number. */
static int64_t hold_mail(World *world, const char *list_id, const char *sender, const char *header)
{
    GError *error = NULL;
    g_autofree char *text = g_strdup_printf("From: %s\r\nSubject: hello\r\n%s\r\nHi\r\n", sender, header);
    g_autoptr(GBytes) message = octets_of(text);
    Held held = {.list_id = (char *)list_id,
                 .sender = (char *)sender,
                 .subject = (char *)"hello",
                 .reason = (char *)"because",
                 .meta = (char *)"{}",
                 .held_at = clock_now(),
                 .message = message};
    assert_ok(held_add(world->store, &held, &error), error);
    return held.number;
}

static int64_t hold(World *world, const char *list_id)
{
    return hold_mail(world, list_id, "sue@example.org", "");
}

static bool is_held(World *world, int64_t number)
{
    GError *error = NULL;
    g_autoptr(Held) held = held_find(world->store, number, &error);
    if (!held)
        assert_failed(FAIL_MISSING, error);
    return held != NULL;
}

/* A request to join; its number. */
static int64_t ask(World *world, const List *list, const char *address, unsigned facts)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    Pending like = {.kind = PENDING_JOIN, .list_id = list->list_id, .address = mailbox_of(address)}, *found;
    g_autoptr(Work) work = world_work(world);
    assert_ok(join_ask(work, list, &(Joiner){.address = mailbox_of(address), .facts = facts}, &made, &error), error);
    g_assert_cmpint(made.result, ==, facts ? SUBSCRIPTION_ASKED_MODERATOR : SUBSCRIPTION_ASKED_PERSON);
    assert_ok(pending_find_like(world->store, &like, clock_now(), &found, &error), error);
    g_autoptr(Pending) request = found;
    return request->number;
}

static bool is_member(World *world, const char *list_id, const char *address)
{
    g_autoptr(Member) member = member_find(world->store, list_id, ROLE_MEMBER, mailbox_of(address), NULL);
    return member != NULL;
}

/* The token of a letter to the list's moderator about all that waits now. */
static char *remind(World *world, const List *list)
{
    GError *error = NULL;
    int64_t waiting;
    g_autoptr(Work) work = world_work(world);
    assert_ok(held_remind(work, list, &waiting, &error), error);
    g_autofree char *letters = world_letters(world, work);
    const char *at = strstr(letters, "-confirm+");
    g_assert_nonnull(at);
    return g_strndup(at + strlen("-confirm+"), PENDING_TOKEN_CHARS);
}

/* A ticket of Olga's until a moment, for the posts from first to last; its token. */
static char *ticket(World *world, int64_t first, int64_t last, int64_t expires_at)
{
    GError *error = NULL;
    char token[PENDING_TOKEN_CHARS + 1];
    const Ticket made = {
        .list_id = (char *)LIST, .moderator = (char *)OLGA, .first = first, .last = last, .expires_at = expires_at};
    assert_ok(pending_token_new(token, &error) && ticket_put(world->store, &made, token, &error), error);
    return g_strdup(token);
}

/* NULL: the list knows no such token, and nothing happened. g_free() */
static char *answer(World *world, const List *list, const char *token, const char *text)
{
    GError *error = NULL;
    bool known;
    g_autofree char *mail = g_strdup_printf("From: x@example.org\r\nMessage-ID: <1@x>\r\n\r\n%s", text);
    g_autoptr(GBytes) octets = octets_of(mail);
    g_autoptr(Work) work = world_work(world);
    assert_ok(moderate_reply(work, list, token, octets, &known, &error), error);
    g_autofree char *letters = world_letters(world, work);
    if (!known)
        g_assert_cmpstr(letters, ==, "");
    return known ? g_steal_pointer(&letters) : NULL;
}

/* With numbers in its text. */
#define answer_about(world, list, token, ...)                  \
    ({                                                         \
        g_autofree char *text_ = g_strdup_printf(__VA_ARGS__); \
        answer(world, list, token, text_);                     \
    })

static void assert_says(char *letters, const char *sentence)
{
    g_assert_nonnull(letters);
    if (!strstr(letters, sentence))
        g_error("\"%s\" is not in\n%s", sentence, letters);
    g_free(letters);
}

static void assert_says_nothing(char *letters)
{
    g_assert_cmpstr(letters, ==, NULL);
}

/* ---- moderators ---- */

/* A letter names a range of numbers, and numbers are the site's: other lists' posts lie between those of the list. */
static void test_posts(World *world, const void *data)
{
    GError *error = NULL;
    g_autoptr(List) other = other_list(world);
    int64_t removed, first = hold(world, LIST), theirs = hold(world, OTHER), last = hold(world, LIST);
    g_autofree char *olga = remind(world, world->list), *paul = remind(world, other);
    int64_t later = hold(world, LIST);
    assert_says(answer_about(world, world->list, olga, "accept %d\r\n", (int)theirs), GONE);
    assert_says(answer_about(world, world->list, olga, "discard %d\r\n", (int)theirs), GONE);
    assert_says(answer_about(world, world->list, olga, "discard %d\r\n", (int)later), GONE);
    assert_says(answer_about(world, other, paul, "discard %d\r\n", (int)first), GONE);
    g_assert_true(is_held(world, first) && is_held(world, theirs) && is_held(world, last) && is_held(world, later));
    /* Her token is good for her list's addresses alone. */
    assert_says_nothing(answer_about(world, other, olga, "discard %d\r\n", (int)theirs));
    assert_says_nothing(answer(world, other, olga, "discard all\r\n"));
    g_assert_true(is_held(world, first) && is_held(world, theirs));
    assert_says(answer(world, world->list, olga, "discard all\r\n"), "was discarded");
    g_assert_true(!is_held(world, first) && is_held(world, theirs) && !is_held(world, last) && is_held(world, later));
    /* Her ticket has nothing left, though a post of the other list waits within its range. */
    assert_ok(ticket_expire(world->store, clock_now(), &removed, &error), error);
    g_assert_cmpint(removed, ==, 1);
    assert_says(answer(world, other, paul, "discard\r\n"), "was discarded");
    g_assert_false(is_held(world, theirs));
}

static void test_requests(World *world, const void *data)
{
    g_autoptr(List) other = other_list(world);
    GError *error = NULL;
    world_set(world, "subscription_policy", "confirm_then_moderate");
    assert_ok(list_set(world->store, OTHER, "subscription_policy", "moderate", &error), error);
    g_autoptr(List) theirs = list_by_id(world->store, OTHER, &error);
    const unsigned sure = FACT_VERIFIED | FACT_CONFIRMED;
    int64_t first = ask(world, world->list, "first@example.org", sure);
    int64_t person = ask(world, world->list, ANNE, 0);
    int64_t foreign = ask(world, theirs, "bob@example.org", sure);
    int64_t last = ask(world, world->list, "last@example.org", sure);
    g_autofree char *olga = remind(world, world->list), *paul = remind(world, theirs);
    int64_t later = ask(world, world->list, "later@example.org", sure);
    const int64_t not_hers[] = {person, foreign, later};
    static const char *const verdicts[] = {"accept", "discard", "reject", "ban"};
    for (size_t at = 0; at < G_N_ELEMENTS(not_hers); at++)
        for (size_t verdict = 0; verdict < G_N_ELEMENTS(verdicts); verdict++)
            assert_says(answer_about(world, world->list, olga, "%s r%d\r\n", verdicts[verdict], (int)not_hers[at]),
                        GONE);
    assert_says(answer_about(world, theirs, paul, "accept r%d\r\n", (int)first), GONE);
    assert_says_nothing(answer_about(world, theirs, olga, "accept r%d\r\n", (int)foreign));
    assert_says(answer(world, world->list, olga, "accept all\r\n"), "was accepted");
    g_assert_true(world_waits(world, person) && world_waits(world, foreign) && world_waits(world, later));
    g_assert_false(world_waits(world, first) || world_waits(world, last));
    g_assert_true(is_member(world, LIST, "first@example.org") && is_member(world, LIST, "last@example.org"));
    g_assert_false(is_member(world, LIST, ANNE) || is_member(world, LIST, "later@example.org") ||
                   is_member(world, OTHER, "bob@example.org"));
    assert_says(answer(world, theirs, paul, "accept\r\n"), "was accepted");
    g_assert_true(is_member(world, OTHER, "bob@example.org"));
}

/* To the microsecond. Of tickets, those go that have expired, and those of which all is decided about. */
static void test_expired_ticket(World *world, const void *data)
{
    GError *error = NULL;
    int64_t removed, number = hold(world, LIST), done = hold(world, LIST), now = clock_now();
    const int64_t year = 365 * 86400 * CLOCK_SECOND;
    g_autofree char *old = ticket(world, number, number, now), *alive = ticket(world, number, number, now + year);
    g_autofree char *decided = ticket(world, done, done, now + year);
    assert_says_nothing(answer(world, world->list, old, "discard\r\n"));
    g_assert_true(is_held(world, number));
    assert_ok(held_remove(world->store, done, &error), error);
    assert_ok(ticket_expire(world->store, now - 1, &removed, &error), error);
    g_assert_cmpint(removed, ==, 1);
    assert_says_nothing(answer(world, world->list, decided, "discard\r\n"));
    assert_ok(ticket_expire(world->store, now, &removed, &error), error);
    g_assert_cmpint(removed, ==, 1);
    assert_ok(ticket_expire(world->store, now, &removed, &error), error);
    g_assert_cmpint(removed, ==, 0);
    assert_says(answer(world, world->list, alive, "discard\r\n"), "was discarded");
    g_assert_false(is_held(world, number));
}

/* A ticket for requests lives as long as one of them waits, of its own list. */
static void test_ticket_of_requests(World *world, const void *data)
{
    GError *error = NULL;
    int64_t removed;
    g_autoptr(List) other = other_list(world);
    world_set(world, "subscription_policy", "moderate");
    int64_t own = ask(world, world->list, ANNE, FACT_VERIFIED | FACT_CONFIRMED);
    g_autofree char *olga = remind(world, world->list);
    hold(world, OTHER);
    assert_ok(ticket_expire(world->store, clock_now(), &removed, &error), error);
    g_assert_cmpint(removed, ==, 0);
    assert_says(answer(world, world->list, olga, "accept\r\n"), "was accepted");
    g_assert_false(world_waits(world, own));
    assert_ok(ticket_expire(world->store, clock_now(), &removed, &error), error);
    g_assert_cmpint(removed, ==, 2); /* of the notice, and of the reminder */
}

/* A post that waits for its sender is not the moderators' yet: no letter names it, and "all" does not take it. */
static void test_post_that_waits_for_its_sender(World *world, const void *data)
{
    GError *error = NULL;
    int64_t waiting, first = hold(world, LIST), asked = hold_mail(world, LIST, ANNE, ""), last = hold(world, LIST);
    char token[PENDING_TOKEN_CHARS + 1];
    assert_ok(pending_token_new(token, &error), error);
    assert_ok(held_ask(world->store, asked, token, clock_now() + 3600 * CLOCK_SECOND, &error), error);
    g_autoptr(Work) work = world_work(world);
    assert_ok(held_remind(work, world->list, &waiting, &error), error);
    g_assert_cmpint(waiting, ==, 2);
    g_autofree char *letters = world_letters(world, work);
    g_assert_null(strstr(letters, ANNE));
    g_autofree char *olga = remind(world, world->list);
    assert_says(answer(world, world->list, olga, "discard all\r\n"), "was discarded");
    g_assert_true(!is_held(world, first) && is_held(world, asked) && !is_held(world, last));
}

/* Each post is told of once: at once, or with others, but not again. */
static void test_told_once(World *world, const void *data)
{
    GError *error = NULL;
    int64_t posts, first = hold(world, LIST);
    hold(world, LIST);
    g_autoptr(Work) gathered = world_work(world), again = world_work(world), alone = world_work(world);
    assert_ok(held_tell_gathered(gathered, world->list, &posts, &error), error);
    g_assert_cmpint(posts, ==, 2);
    g_autofree char *letters = world_letters(world, gathered);
    g_assert_nonnull(strstr(letters, "<" OLGA ">"));
    assert_ok(held_tell_gathered(again, world->list, &posts, &error), error);
    g_assert_cmpint(posts, ==, 0);
    g_autoptr(Held) held = held_find(world->store, first, &error);
    assert_ok(held_tell_moderators(alone, world->list, held, &error), error);
    g_assert_cmpuint(work_entries(again) + work_entries(alone), ==, 0);
}

/* Check that an accepted post goes on as one that just came, and needs no moderator again. */
static void test_accepted_entry(World *world, const void *data)
{
    GError *error = NULL;
    bool told;
    g_autoptr(GBytes) message = octets_of("Subject: hello\r\n\r\nHi\r\n");
    Held held = {.list_id = (char *)LIST,
                 .sender = (char *)ANNE,
                 .held_at = clock_now(),
                 .message = message,
                 .meta = (char *)"{\"shard\":\"x\",\"ordinal\":3,\"arrival\":5,\"sender\":\"" ANNE "\"}"};
    assert_ok(held_add(world->store, &held, &error), error);
    g_autoptr(Work) work = world_work(world);
    assert_ok(held_post_decide(work, held.number, HELD_ACCEPT, NULL, &told, &error), error);
    g_autofree char *letters = world_letters(world, work);
    g_autofree char *meta = g_strndup(letters, strcspn(letters, "\n"));
    g_assert_nonnull(strstr(meta, "\"approved\":true"));
    g_assert_nonnull(strstr(meta, "\"sender\":\"" ANNE "\""));
    g_assert_null(strstr(meta, "\"shard\""));
    g_assert_null(strstr(meta, "\"arrival\":5"));
}

/* A ban keeps the address off the list, and no other list; who is deferred waits for as long again. */
static void test_ban_and_defer(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Subscription) banned = {0}, deferred = {0}, here = {0}, there = {0};
    g_autoptr(List) other = other_list(world);
    world_set(world, "subscription_policy", "moderate");
    const unsigned sure = FACT_VERIFIED | FACT_CONFIRMED;
    int64_t bad = ask(world, world->list, MALLORY, sure), good = ask(world, world->list, ANNE, sure);
    g_autoptr(Pending) before = pending_find(world->store, good, clock_now(), &error);
    world->site.moderator_request_life *= 2;
    g_autoptr(Work) work = world_work(world);
    assert_ok(request_decide(work, bad, REQUEST_BAN, NULL, &banned, &error), error);
    assert_ok(request_decide(work, good, REQUEST_DEFER, NULL, &deferred, &error), error);
    g_autoptr(Pending) after = pending_find(world->store, good, clock_now(), &error);
    g_assert_cmpint(after->expires_at, >, before->expires_at);
    const Joiner joiner = {.address = mailbox_of(MALLORY), .facts = sure};
    assert_ok(join_ask(work, world->list, &joiner, &here, &error), error);
    assert_ok(join_ask(work, other, &joiner, &there, &error), error);
    g_assert_cmpint(here.result, ==, SUBSCRIPTION_BANNED);
    g_assert_cmpint(there.result, !=, SUBSCRIPTION_BANNED);
}

/* ---- persons ---- */

/* A person's token counts where it is brought to: at an address of its list, or on a page of the site. */
static void test_token_of_another_list(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(List) other = other_list(world);
    g_autoptr(Work) work = world_work(world), wrong = world_work(world);
    assert_ok(join_ask(work, other, &(Joiner){.address = mailbox_of(ANNE)}, &made, &error), error);
    g_autofree char *letters = world_letters(world, work), *token = world_token(letters), *none = NULL;
    g_assert_cmpint(world_confirm(world, token, &none), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_cmpstr(none, ==, "");
    g_assert_false(is_member(world, LIST, ANNE) || is_member(world, OTHER, ANNE));
    subscription_clear(&made);
    assert_ok(confirm_token(wrong, NULL, token, CONSENT_ANSWER, &made, &error), error);
    g_assert_cmpint(made.result, ==, SUBSCRIPTION_DONE);
    g_assert_true(is_member(world, OTHER, ANNE) && !is_member(world, LIST, ANNE));
}

/* The sender of a held post confirms it. */
static void test_token_of_a_post(World *world, const void *data)
{
    GError *error = NULL;
    g_autoptr(List) other = other_list(world);
    int64_t number = hold(world, LIST), late = hold(world, LIST), now = clock_now();
    char token[PENDING_TOKEN_CHARS + 1], old[PENDING_TOKEN_CHARS + 1];
    g_autofree char *done = NULL, *none = NULL, *again = NULL;
    assert_ok(pending_token_new(token, &error) && pending_token_new(old, &error), error);
    assert_ok(held_ask(world->store, number, token, now + 3600 * CLOCK_SECOND, &error), error);
    assert_ok(held_ask(world->store, late, old, now, &error), error);
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(confirm_token(work, other, token, CONSENT_ANSWER, &made, &error), error);
    g_assert_cmpint(made.result, ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_cmpuint(work_entries(work), ==, 0);
    g_assert_cmpint(world_confirm(world, old, &none), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_cmpstr(none, ==, "");
    g_assert_true(is_held(world, number) && is_held(world, late));
    g_assert_cmpint(world_confirm(world, token, &done), ==, SUBSCRIPTION_POSTED);
    g_assert_true(g_str_has_prefix(done, "pipeline ") && !is_held(world, number) && is_held(world, late));
    g_assert_cmpint(world_confirm(world, token, &again), ==, SUBSCRIPTION_BAD_TOKEN);
    g_assert_cmpstr(again, ==, "");
    TokenFate fate;
    assert_ok(held_remove(world->store, late, &error), error);
    assert_ok(pending_token_fate(world->store, token, clock_now(), &fate, &error), error);
    g_assert_cmpint(fate, ==, TOKEN_USED);
    assert_ok(pending_token_fate(world->store, old, clock_now(), &fate, &error), error);
    g_assert_cmpint(fate, ==, TOKEN_EXPIRED);
}

/* Each list numbers its held posts for REST: a number names a post of that list and no other's. */
static void test_number_of_another_list(World *world, const void *data)
{
    GError *error = NULL;
    g_autoptr(List) other = other_list(world);
    int64_t own = hold(world, LIST), theirs = hold(world, OTHER), second = hold(world, OTHER);
    g_autoptr(Held) first = held_find_in_list(world->store, LIST, 1, &error);
    g_autoptr(Held) other_first = held_find_in_list(world->store, OTHER, 1, &error);
    g_autoptr(Held) other_second = held_find_in_list(world->store, OTHER, 2, &error);
    g_assert_no_error(error);
    g_assert_cmpint(first->number, ==, own);
    g_assert_cmpint(other_first->number, ==, theirs);
    g_assert_cmpint(other_second->number, ==, second);
    g_assert_null(held_find_in_list(world->store, LIST, 2, &error));
    assert_failed(FAIL_MISSING, error);
    assert_ok(held_remove(world->store, own, &error), error);
    g_assert_null(held_find_in_list(world->store, LIST, 1, &error));
    assert_failed(FAIL_MISSING, error);
}

/* A rejection goes to a person, and to nothing that would answer it. */
static void test_robots_are_not_told(World *world, const void *data)
{
    static const struct {
        const char *sender, *header;
        bool told;
    } cases[] = {
        {ANNE, "", true},
        {ANNE, "Auto-Submitted: no\r\n", true},
        {ANNE, "Auto-Submitted: auto-generated\r\n", false},
        {ANNE, "Precedence: bulk\r\n", false},
        {ANNE, "List-Id: <their.example.net>\r\n", false},
        {"mailer-daemon@example.org", "", false},
        {"their-bounces@example.net", "", false},
        {"", "", false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        GError *error = NULL;
        bool told = !cases[at].told;
        int64_t number = hold_mail(world, LIST, cases[at].sender, cases[at].header);
        g_autoptr(Work) work = world_work(world);
        assert_ok(held_post_decide(work, number, HELD_REJECT, "Not here", &told, &error), error);
        g_autofree char *letters = world_letters(world, work);
        g_assert_cmpint(told, ==, cases[at].told);
        if (told)
            g_assert_nonnull(strstr(letters, "virgin <" ANNE ">"));
        else
            g_assert_cmpstr(letters, ==, "");
        g_assert_false(is_held(world, number));
    }
}

/* ---- a store that fails ---- */

static void sql(World *world, const char *format, const char *table)
{
    sqlite3 *database;
    g_autofree char *text = g_strdup_printf(format, table, table);
    g_assert_cmpint(sqlite3_open(world->fixture.path, &database), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(database, text, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
}

/* Calls the use case with a table that cannot be read: it fails and changes nothing that lasts. */
static void assert_fails(World *world, const char *table, bool (*use)(World *, Work *, const char *, GError **),
                         const char *token)
{
    GError *error = NULL;
    sql(world, "ALTER TABLE %s RENAME TO %s_away", table);
    g_autoptr(Work) work = world_work(world);
    assert_ok(work_begin(work, &error), error);
    g_test_message("without the table %s", table);
    g_assert_false(use(world, work, token, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_clear_error(&error);
    work_cancel(work);
    sql(world, "ALTER TABLE %s_away RENAME TO %s", table);
}

static bool use_moderate(World *world, Work *work, const char *token, GError **error)
{
    bool known;
    g_autoptr(GBytes) octets = octets_of("From: x@example.org\r\n\r\nreject\r\n");
    return moderate_reply(work, world->list, token, octets, &known, error);
}

static bool use_confirm(World *world, Work *work, const char *token, GError **error)
{
    g_auto(Subscription) made = {0};
    return confirm_token(work, world->list, token, CONSENT_SAID, &made, error);
}

/* Nobody is told that a token is not known, nor that a post was decided about, while the store cannot say so. */
static void test_store_fails(World *world, const void *data)
{
    static const char *const for_a_post[] = {"ticket", "held", "spent_token"};
    static const char *const for_a_request[] = {"ticket", "pending"};
    static const char *const for_a_person[] = {"pending"};
    static const char *const for_a_stranger[] = {"held", "pending", "spent_token"};
    if (!fixture_is_sqlite())
        return;
    g_autofree char *letters = NULL, *welcome = NULL;
    int64_t number = hold_mail(world, LIST, ANNE, "");
    g_autofree char *olga = remind(world, world->list);
    world->actor.address = "olga@work.example";
    for (size_t at = 0; at < G_N_ELEMENTS(for_a_post); at++)
        assert_fails(world, for_a_post[at], use_moderate, olga);
    g_assert_true(is_held(world, number));
    assert_says(answer(world, world->list, olga, "reject\r\n"), "virgin <" ANNE ">");
    g_assert_false(is_held(world, number));

    world_set(world, "subscription_policy", "moderate");
    int64_t asked = ask(world, world->list, ANNE, FACT_VERIFIED | FACT_CONFIRMED);
    g_autofree char *again = remind(world, world->list);
    for (size_t at = 0; at < G_N_ELEMENTS(for_a_request); at++)
        assert_fails(world, for_a_request[at], use_moderate, again);
    g_assert_true(world_waits(world, asked));
    assert_says(answer(world, world->list, again, "reject\r\n"), "virgin <" ANNE ">");
    g_assert_false(world_waits(world, asked) || is_member(world, LIST, ANNE));

    world_set(world, "subscription_policy", "confirm");
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(join_ask(work, world->list, &(Joiner){.address = mailbox_of("bob@example.org")}, &made, &error), error);
    letters = world_letters(world, work);
    g_autofree char *bob = world_token(letters);
    for (size_t at = 0; at < G_N_ELEMENTS(for_a_person); at++)
        assert_fails(world, for_a_person[at], use_confirm, bob);
    for (size_t at = 0; at < G_N_ELEMENTS(for_a_stranger); at++)
        assert_fails(world, for_a_stranger[at], use_confirm, "aaaaaaaaaaaaaaaaaaaaaaaaaa");
    g_assert_false(is_member(world, LIST, "bob@example.org"));
    g_assert_cmpint(world_confirm(world, bob, &welcome), ==, SUBSCRIPTION_DONE);

    /* The request of a member is not dropped because it cannot be written now. */
    g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE;
    g_auto(Subscription) set = {0};
    g_autoptr(Work) wish = world_work(world);
    assert_ok(options_read(&options, "digest mime vacation off", &error), error);
    assert_ok(options_ask(wish, world->list, mailbox_of("bob@example.org"), &options, &set, &error), error);
    g_autofree char *asks = world_letters(world, wish), *answered = NULL, *wished = world_token(asks);
    assert_fails(world, "vacation", use_confirm, wished);
    assert_fails(world, "member", use_confirm, wished);
    g_assert_cmpint(world_confirm(world, wished, &answered), ==, SUBSCRIPTION_DONE);
    g_autoptr(Member) member = member_find(world->store, LIST, ROLE_MEMBER, mailbox_of("bob@example.org"), &error);
    g_assert_cmpint(member->own.delivery_mode, ==, MODE_MIME_DIGESTS);
}

/* ---- who signed in ---- */

static Authority stands(World *world, const char *address, const char *user_id, const char *list_id)
{
    GError *error = NULL;
    SignedIn person = {.address = (Mailbox *)mailbox_of(address), .user_id = (char *)user_id};
    g_autoptr(List) list = list_by_id(world->store, list_id, &error);
    g_autoptr(Standing) standing = standing_new(world->store, &person, &error);
    g_assert_no_error(error);
    return standing_of(standing, list);
}

/* Olga owns the first list and moderates the second, Anne is a member of both, Paul owns the second; Mallory's roles
 * are those of two addresses, and one user owns a domain, another one the site. */
static void test_standing(World *world, const void *data)
{
    (void)data;
    GError *error = NULL;
    char mallory[STORE_ID_SIZE], keeper[STORE_ID_SIZE], root[STORE_ID_SIZE];
    assert_ok(domain_create(world->store, "example.net", "", &error), error);
    g_autoptr(List) other = other_list(world);
    g_autoptr(List) foreign = list_create(world->store, "far@example.net", &error);
    assert_ok(member_add(world->store, OTHER, ROLE_MODERATOR, mailbox_of(OLGA), NULL, NULL, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
    assert_ok(member_add(world->store, OTHER, ROLE_NONMEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
    assert_ok(user_create(world->store, mailbox_of(MALLORY), "", mallory, &error), error);
    assert_ok(user_link_address(world->store, mallory, mailbox_of("m2@example.net"), &error), error);
    assert_ok(member_add(world->store, OTHER, ROLE_OWNER, mailbox_of("m2@example.net"), NULL, NULL, &error), error);
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(MALLORY), NULL, NULL, &error), error);
    assert_ok(user_create(world->store, mailbox_of("keeper@example.net"), "", keeper, &error), error);
    assert_ok(domain_add_owner(world->store, "example.com", keeper, &error), error);
    assert_ok(user_create(world->store, mailbox_of("root@example.net"), "", root, &error), error);
    assert_ok(user_set_server_owner(world->store, root, true, &error), error);

    g_assert_cmpint(stands(world, OLGA, "", LIST), ==, BY_LIST);
    g_assert_cmpint(stands(world, OLGA, "", OTHER), ==, BY_MODERATOR);
    g_assert_cmpint(stands(world, OLGA, "", foreign->list_id), ==, BY_STRANGER);
    g_assert_cmpint(stands(world, PAUL, "", LIST), ==, BY_STRANGER);
    g_assert_cmpint(stands(world, PAUL, "", OTHER), ==, BY_LIST);
    g_assert_cmpint(stands(world, ANNE, "", LIST), ==, BY_STRANGER);
    g_assert_cmpint(stands(world, ANNE, "", OTHER), ==, BY_STRANGER);
    g_assert_cmpint(stands(world, MALLORY, mallory, OTHER), ==, BY_LIST);
    g_assert_cmpint(stands(world, MALLORY, mallory, LIST), ==, BY_STRANGER);
    g_assert_cmpint(stands(world, "keeper@example.net", keeper, OTHER), ==, BY_DOMAIN);
    g_assert_cmpint(stands(world, "keeper@example.net", keeper, foreign->list_id), ==, BY_STRANGER);
    g_assert_cmpint(stands(world, "root@example.net", root, foreign->list_id), ==, BY_SITE);
}

/* An owner of a list changes what concerns the list alone. */
static void test_settings(World *world, const void *data)
{
    (void)world, (void)data;
    unsigned of_list = 0, of_site = 0;
    for (const ListSetting *setting = list_settings; setting->name; setting++) {
        unsigned right = authority_of_setting(setting);
        of_list += setting->reach == REACHES_LIST;
        of_site += setting->reach == REACHES_SITE;
        g_assert_true(authority_covers(right, BY_LIST) == (setting->reach == REACHES_LIST));
        g_assert_true(authority_covers(right, BY_DOMAIN) == (setting->reach == REACHES_LIST));
        g_assert_true(authority_covers(right, BY_SITE) == (setting->reach != 0));
        g_assert_false(authority_covers(right, BY_MODERATOR) || authority_covers(right, BY_STRANGER));
    }
    g_assert_cmpuint(of_list, >, 50);
    g_assert_cmpuint(of_site, >, 0);
}

SUITE("authority")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/authority/posts of the letter and the list alone", test_posts);
    WORLD_TEST("/authority/requests of the letter and the list that wait for a moderator", test_requests);
    WORLD_TEST("/authority/an expired ticket", test_expired_ticket);
    WORLD_TEST("/authority/a ticket for requests", test_ticket_of_requests);
    WORLD_TEST("/authority/a post that waits for its sender", test_post_that_waits_for_its_sender);
    WORLD_TEST("/authority/told of once", test_told_once);
    WORLD_TEST("/authority/an accepted post", test_accepted_entry);
    WORLD_TEST("/authority/banned and deferred", test_ban_and_defer);
    WORLD_TEST("/authority/a token of another list", test_token_of_another_list);
    WORLD_TEST("/authority/a token of a held post", test_token_of_a_post);
    WORLD_TEST("/authority/a number of another list", test_number_of_another_list);
    WORLD_TEST("/authority/robots are not told of rejections", test_robots_are_not_told);
    WORLD_TEST("/authority/roles of who signed in", test_standing);
    WORLD_TEST("/authority/settings", test_settings);
    WORLD_TEST("/authority/the store fails", test_store_fails);
    return g_test_run();
}
