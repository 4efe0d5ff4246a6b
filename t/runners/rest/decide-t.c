/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that a token for one list decides about the held posts and requests of its own list that are a moderator's. */
#include <string.h>

#include "base/clock.h"
#include "mail/text/template.h"
#include "runners/rest/resources.h"
#include "store/people/pending.h"
#include "store/posts/held.h"
#include "store/store_internal.h"
#include "t/runners/rest/restframe.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define ANT "ant.example.com"
#define BEE "bee.example.com"
#define ANNE "anne@example.org"
#define MALLORY "mallory@example.net"

static Store *store;
static char *of_ant;              /* of a token for the list ant */
static const char *authorization; /* of who asks */
#define SITE "Basic YTpi"         /* a:b */

static void make_token(void)
{
    const Token like = {.name = (char *)"ant", .verbs = (char *)"", .lists = (char *)ANT, .domains = (char *)""};
    authorization = of_ant = rest_frame_token(store, &like);
}

static int ask(const char *verb, const char *path, const char *parameters)
{
    HttpCall call = {.verb = verb, .path = path, .credentials = authorization, .query = parameters};
    g_test_message("%s %s %s", verb, path, parameters ? parameters : "");
    return rest_frame_ask(&call, NULL);
}

static int ask_request(const char *verb, const char *list_id, int64_t number, const char *parameters)
{
    g_autofree char *token = request_token(number);
    g_autofree char *path = g_strdup_printf("/3.1/lists/%s/requests/%s", list_id, token);
    return ask(verb, path, parameters);
}

static int64_t pend(PendingKind kind, const char *list_id, const char *detail, PendingWaitsFor waits_for)
{
    GError *error = NULL;
    int64_t now = clock_now();
    Pending pending = {.kind = kind,
                       .list_id = (char *)list_id,
                       .address = mailbox_of(ANNE),
                       .detail = (char *)detail,
                       .waits_for = waits_for,
                       .made_at = now,
                       .asked_at = now,
                       .delivery_mode = -1,
                       .delivery_status = -1,
                       .expires_at = now + 3600 * CLOCK_SECOND};
    assert_ok(pending_put(store, &pending, NULL, &error), error);
    return pending.number;
}

static bool waits(int64_t number)
{
    g_autoptr(Pending) pending = pending_find(store, number, clock_now(), NULL);
    return pending != NULL;
}

static bool is_member(const char *list_id, Role role, const char *address)
{
    g_autoptr(Member) member = member_find(store, list_id, role, mailbox_of(address), NULL);
    return member != NULL;
}

/* Somebody asked in Anne's name to change her address or her options; she was sent a letter, and nobody but she answers
 * it: not who has a token for the list where it was asked for, since all her lists and roles would go along. */
static void test_what_is_the_persons_own(void)
{
    GError *error = NULL;
    assert_ok(member_add(store, BEE, ROLE_OWNER, mailbox_of(ANNE), NULL, NULL, &error), error);
    assert_ok(member_add(store, ANT, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
    const int64_t numbers[] = {pend(PENDING_CHANGE_ADDRESS, ANT, MALLORY, PENDING_PERSON),
                               pend(PENDING_SET, ANT, "delivery off", PENDING_PERSON)};
    static const char *const verdicts[] = {"action=accept", "action=reject", "action=discard", "action=defer"};
    for (size_t at = 0; at < G_N_ELEMENTS(numbers); at++) {
        g_assert_cmpint(ask_request("GET", ANT, numbers[at], NULL), ==, 404);
        for (size_t verdict = 0; verdict < G_N_ELEMENTS(verdicts); verdict++)
            g_assert_cmpint(ask_request("POST", ANT, numbers[at], verdicts[verdict]), ==, 404);
        g_assert_true(waits(numbers[at]));
    }
    g_assert_true(is_member(BEE, ROLE_OWNER, ANNE) && is_member(ANT, ROLE_MEMBER, ANNE));
    g_assert_false(is_member(BEE, ROLE_OWNER, MALLORY) || is_member(ANT, ROLE_MEMBER, MALLORY));
}

static void test_requests(void)
{
    GError *error = NULL;
    int64_t own = pend(PENDING_LEAVE, ANT, NULL, PENDING_MODERATOR);
    int64_t theirs = pend(PENDING_JOIN, BEE, NULL, PENDING_MODERATOR);
    g_assert_cmpint(ask_request("GET", BEE, theirs, NULL), ==, 403);
    g_assert_cmpint(ask_request("POST", BEE, theirs, "action=accept"), ==, 403);
    g_assert_cmpint(ask_request("GET", ANT, theirs, NULL), ==, 404);
    g_assert_cmpint(ask_request("POST", ANT, theirs, "action=accept"), ==, 404);
    g_assert_cmpint(ask_request("POST", ANT, theirs, "action=discard"), ==, 404);
    g_assert_true(waits(own) && waits(theirs) && !is_member(BEE, ROLE_MEMBER, ANNE));
    g_assert_cmpint(ask_request("POST", ANT, own, "action=defer"), ==, 204);
    g_assert_cmpint(ask_request("POST", ANT, own, "action=hold"), ==, 204);
    g_assert_true(waits(own));
    g_assert_cmpint(ask_request("POST", ANT, own, "action=accept"), ==, 204);
    g_assert_true(!waits(own) && !is_member(ANT, ROLE_MEMBER, ANNE));
    g_assert_cmpint(ask_request("POST", ANT, own, "action=accept"), ==, 404);
    g_assert_no_error(error);
}

static int64_t hold(const char *list_id)
{
    GError *error = NULL;
    g_autoptr(GBytes) message = g_bytes_new_static("Subject: hello\r\n\r\nHi\r\n", 22);
    Held held = {.list_id = (char *)list_id, .meta = (char *)"{}", .held_at = clock_now(), .message = message};
    assert_ok(held_add(store, &held, &error), error);
    return held.number;
}

static bool is_held(int64_t number)
{
    g_autoptr(Held) held = held_find(store, number, NULL);
    return held != NULL;
}

/* Numbers in paths are the list's own. */
static void test_held(void)
{
    int64_t theirs = hold(BEE), own = hold(ANT), second = hold(BEE);
    g_assert_cmpint(ask("POST", "/3.1/lists/" BEE "/held/1", "action=discard"), ==, 403);
    g_assert_cmpint(ask("POST", "/3.1/lists/" ANT "/held/2", "action=discard"), ==, 404);
    g_assert_cmpint(ask("GET", "/3.1/lists/" ANT "/held/2", NULL), ==, 404);
    g_assert_cmpint(ask("POST", "/3.1/lists/" ANT "/held/1", "action=defer"), ==, 204);
    g_assert_cmpint(ask("POST", "/3.1/lists/" ANT "/held/1", "action=hold"), ==, 204);
    g_assert_true(is_held(own));
    g_assert_cmpint(ask("POST", "/3.1/lists/" ANT "/held/1", "action=discard"), ==, 204);
    g_assert_true(is_held(theirs) && !is_held(own) && is_held(second));
    g_assert_cmpint(ask("POST", "/3.1/lists/" ANT "/held/1", "action=discard"), ==, 404);
}

/* Run statements of SQL that change the database's schema. */
static void change(const char *const *statements)
{
    GError *error = NULL;
    for (; *statements; statements++)
        assert_ok(query_all(store, &error, NULL, *statements, NULL, 0), error);
}

/* A decision that could not be committed is not answered as one that was made. */
static void test_commit_fails(void)
{
    static const char *const fails[] = {
        "CREATE TABLE nowhere (id INTEGER REFERENCES list (key) DEFERRABLE INITIALLY DEFERRED)",
        "CREATE TRIGGER bad AFTER DELETE ON held BEGIN INSERT INTO nowhere VALUES (-1); END", NULL};
    static const char *const works[] = {"DROP TRIGGER bad", "DROP TABLE nowhere", NULL};
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    int64_t first = hold(ANT), second = hold(ANT), theirs = hold(BEE);
    g_autoptr(Held) held = held_find(store, first, &error);
    assert_ok(held != NULL, error);
    g_autofree char *path = g_strdup_printf("/3.1/lists/" ANT "/held/%d", (int)held->list_number);
    change(fails);
    g_assert_cmpint(ask("POST", path, "action=discard"), ==, 503);
    g_assert_true(is_held(first) && is_held(second) && is_held(theirs));
    change(works);
    g_assert_cmpint(ask("POST", path, "action=discard"), ==, 204);
    g_assert_true(!is_held(first) && is_held(second) && is_held(theirs));
}

static int join_by(const char *who, const char *list_id, const char *address, const char *sure)
{
    g_autofree char *parameters = g_strdup_printf("list_id=%s&subscriber=%s%s", list_id, address, sure);
    authorization = who;
    int status = ask("POST", "/3.1/members", parameters);
    authorization = of_ant;
    return status;
}

/* The number of the one request of the list for the address. */
static int64_t pending_of(const char *list_id, const char *address)
{
    GError *error = NULL;
    g_autoptr(Pending) found = NULL;
    const Pending like = {.kind = PENDING_JOIN, .list_id = (char *)list_id, .address = mailbox_of(address)};
    assert_ok(pending_find_like(store, &like, clock_now(), &found, &error), error);
    g_assert_nonnull(found);
    return found->number;
}

/* Check that the owner of a list says whose an address is for a request to that list; on another list, open to all, the
 * person is asked as if nothing had been said. The site says it for all. */
static void test_vouching(void)
{
    static const char sure[] = "&pre_verified=yes&pre_confirmed=yes&pre_approved=yes";
    GError *error = NULL;
    assert_ok(list_set(store, BEE, "subscription_policy", "open", &error), error);
    assert_ok(list_set(store, ANT, "subscription_policy", "moderate", &error), error);
    /* at once */
    g_assert_cmpint(join_by(of_ant, ANT, "one@example.org", sure), ==, 201);
    g_assert_true(is_member(ANT, ROLE_MEMBER, "one@example.org"));
    g_assert_false(fixture_verified_at(store, "one@example.org"));
    g_assert_cmpint(join_by(SITE, BEE, "one@example.org", ""), ==, 202);
    g_assert_false(is_member(BEE, ROLE_MEMBER, "one@example.org"));
    /* by way of a moderator */
    g_assert_cmpint(join_by(of_ant, ANT, "two@example.org", "&pre_verified=yes&pre_confirmed=yes"), ==, 202);
    g_assert_cmpint(ask_request("POST", ANT, pending_of(ANT, "two@example.org"), "action=accept"), ==, 204);
    g_assert_true(is_member(ANT, ROLE_MEMBER, "two@example.org"));
    g_assert_false(fixture_verified_at(store, "two@example.org"));
    /* in the place of a person who was asked because somebody else wished so */
    assert_ok(list_set(store, ANT, "subscription_policy", "confirm", &error), error);
    g_assert_cmpint(join_by(SITE, ANT, "three@example.org", ""), ==, 202);
    g_assert_cmpint(ask_request("POST", ANT, pending_of(ANT, "three@example.org"), "action=accept"), ==, 204);
    g_assert_true(is_member(ANT, ROLE_MEMBER, "three@example.org"));
    g_assert_false(fixture_verified_at(store, "three@example.org"));
    /* the site */
    g_assert_cmpint(join_by(SITE, ANT, "four@example.org", sure), ==, 201);
    g_assert_true(fixture_verified_at(store, "four@example.org"));
    g_assert_cmpint(join_by(SITE, BEE, "four@example.org", ""), ==, 201);
}

/* A user stands for an address of the person's choice, which a list is not told. */
static void test_user_of_others(void)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    assert_ok(user_create(store, mailbox_of("secret@example.org"), NULL, id, &error), error);
    assert_ok(user_set_preferred(store, mailbox_of("secret@example.org"), &error), error);
    g_assert_cmpint(join_by(of_ant, ANT, id, "&pre_verified=yes&pre_confirmed=yes&pre_approved=yes"), ==, 403);
    g_assert_false(is_member(ANT, ROLE_MEMBER, "secret@example.org"));
}

SUITE("rest/decide")
{
    GError *error = NULL;
    static const char *const lists[] = {"ant@example.com", "bee@example.com"};
    const char *top = g_getenv("top_srcdir");
    g_test_init(&argc, &argv, NULL);
    g_autofree char *templates = g_build_filename(top ? top : ".", "etc/templates", NULL);
    template_set_built_in(templates);
    rest_frame_open("");
    store = rest_frame_store();
    assert_ok(domain_create(store, "example.com", NULL, &error), error);
    for (size_t at = 0; at < G_N_ELEMENTS(lists); at++) {
        g_autoptr(List) list = list_create(store, lists[at], &error);
        g_assert_no_error(error);
    }
    make_token();
    g_test_add_func("/rest/decide/what is the person's own", test_what_is_the_persons_own);
    g_test_add_func("/rest/decide/requests", test_requests);
    g_test_add_func("/rest/decide/held posts", test_held);
    g_test_add_func("/rest/decide/a commit fails", test_commit_fails);
    g_test_add_func("/rest/decide/whose an address is", test_vouching);
    g_test_add_func("/rest/decide/a user stands for an address", test_user_of_others);
    int code = g_test_run();
    g_free(of_ant);
    store_free(store);
    rest_frame_close();
    return code;
}
