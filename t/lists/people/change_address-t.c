/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Changes of address, asked for by mail, on pages and by an operator. */
#include "lists/keys.h"
#include "lists/people/change_address.h"
#include "lists/people/join.h"
#include "lists/people/request.h"
#include "lists/people/sign_in.h"
#include "lists/people/standing.h"
#include "store/lists/domain.h"
#include "store/people/user.h"
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

static void add(World *world, const char *address)
{
    GError *error = NULL;
    assert_ok(member_add(world->store, LIST, ROLE_MEMBER, mailbox_of(address), "Anne", NULL, &error), error);
}

static SubscriptionResult change(World *world, const AddressChange *what, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(change_address_ask(work, world->list, what, &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

static void test_change_by_both(World *world, const void *data)
{
    AddressChange what = {.old_address = mailbox_of(ANNE), .new_address = mailbox_of(NEW)};
    world->actor.address = ANNE;
    world->actor.host = "192.0.2.7";
    g_autofree char *first = NULL, *twice = NULL, *second = NULL, *told = NULL;
    add(world, ANNE);
    g_assert_cmpint(change(world, &what, &first), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_nonnull(strstr(first, "virgin <" ANNE ">"));
    g_assert_cmpint(change(world, &what, &twice), ==, SUBSCRIPTION_PERSON_WAITS);
    g_assert_cmpstr(twice, ==, "");
    g_autofree char *old_token = world_token(first);
    g_assert_cmpint(world_confirm(world, old_token, &second), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_nonnull(strstr(second, "virgin <" NEW ">"));
    /* Both are told who asked, from where and when. */
    static const char asked[] = "The request came in a mail of " ANNE ",\r\nfrom the host 192\\.0\\.2\\.7, at "
                                "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC";
    g_assert_true(g_regex_match_simple(asked, first, 0, 0));
    g_assert_true(g_regex_match_simple(asked, second, 0, 0));
    g_assert_true(is_member(world, ANNE));
    g_autofree char *new_token = world_token(second);
    g_assert_cmpint(world_confirm(world, new_token, &told), ==, SUBSCRIPTION_DONE);
    g_assert_nonnull(strstr(told, "virgin <" NEW ">"));
    g_assert_false(is_member(world, ANNE));
    g_assert_true(is_member(world, NEW));
    g_assert_cmpint(fixture_verified_at(world->store, NEW), >, 0);
    g_autofree char *used = NULL;
    g_assert_cmpint(world_confirm(world, new_token, &used), ==, SUBSCRIPTION_BAD_TOKEN);
}

/* A program answers both letters. What is left can still be confirmed in words. */
static void test_change_by_empty_answers(World *world, const void *data)
{
    AddressChange what = {.old_address = mailbox_of(ANNE), .new_address = mailbox_of(NEW)};
    g_autofree char *first = NULL, *second = NULL, *none = NULL, *nothing = NULL, *told = NULL;
    add(world, ANNE);
    g_assert_cmpint(change(world, &what, &first), ==, SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *old_token = world_token(first);
    g_assert_cmpint(world_answer(world, old_token, CONSENT_ANSWER, &none), ==, SUBSCRIPTION_NOT_SAID);
    g_assert_cmpstr(none, ==, "");
    g_assert_cmpint(world_confirm(world, old_token, &second), ==, SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *new_token = world_token(second);
    g_assert_cmpint(world_answer(world, new_token, CONSENT_ANSWER, &nothing), ==, SUBSCRIPTION_NOT_SAID);
    g_assert_true(is_member(world, ANNE) && !is_member(world, NEW));
    g_assert_cmpint(world_confirm(world, new_token, &told), ==, SUBSCRIPTION_DONE);
    g_assert_true(!is_member(world, ANNE) && is_member(world, NEW));
}

/* One who writes in somebody's name, of one list after another, causes few letters; a mail from elsewhere is counted
 * apart. */
static void test_change_asked_often(World *world, const void *data)
{
    GError *error = NULL;
    unsigned letters = 0;
    add(world, ANNE);
    g_autoptr(List) other = list_create(world->store, "other@example.com", &error);
    world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_MAIL, .address = ANNE, .host = "192.0.2.7"};
    for (unsigned at = 0; at < 20; at++) {
        g_auto(Subscription) made = {0};
        g_autofree char *to = g_strdup_printf("eve%u@example.net", at);
        AddressChange what = {.old_address = mailbox_of(ANNE), .new_address = mailbox_of(to)};
        g_autoptr(Work) work = world_work(world);
        assert_ok(change_address_ask(work, at % 2 ? other : world->list, &what, &made, &error), error);
        g_autofree char *made_letters = world_letters(world, work);
        letters += strstr(made_letters, to) != NULL;
        g_assert_cmpint(made.result, ==, at < 3 ? SUBSCRIPTION_ASKED_PERSON : SUBSCRIPTION_LIMITED);
    }
    g_assert_cmpuint(letters, ==, 3);
    world->actor.host = "198.51.100.7";
    g_autofree char *own = NULL;
    g_assert_cmpint(
        change(world, &(AddressChange){.old_address = mailbox_of(ANNE), .new_address = mailbox_of(NEW)}, &own), ==,
        SUBSCRIPTION_ASKED_PERSON);
}

/* The letters are in a language that the person or the site has chosen, and not in one that the list has. */
static void test_change_language(World *world, const void *data)
{
    GError *error = NULL;
    Preferences german = preferences_unset, french = preferences_unset;
    g_strlcpy(german.preferred_language, "de", sizeof german.preferred_language);
    g_strlcpy(french.preferred_language, "fr", sizeof french.preferred_language);
    add(world, ANNE);
    add(world, BOB);
    world_set(world, "preferred_language", "de");
    assert_ok(member_set_preferences(world->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &german, &error), error);
    assert_ok(address_set_preferences(world->store, mailbox_of(BOB), &french, &error), error);
    g_autofree char *english = NULL, *own = NULL;
    g_assert_cmpint(
        change(world, &(AddressChange){.old_address = mailbox_of(ANNE), .new_address = mailbox_of(NEW)}, &english), ==,
        SUBSCRIPTION_ASKED_PERSON);
    g_assert_nonnull(strstr(english, "Please confirm: another address"));
    g_assert_cmpint(change(world,
                           &(AddressChange){.old_address = mailbox_of(BOB), .new_address = mailbox_of("b@new.example")},
                           &own),
                    ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_nonnull(strstr(own, "w4AgY29uZmlybWVyIDo")); /* "À confirmer :", in BASE64 */
}

static bool has_role(World *world, const char *list, Role role, const char *address)
{
    g_autoptr(Member) member = member_find(world->store, list, role, mailbox_of(address), NULL);
    return member != NULL;
}

/* Both answer what the letters ask; letters are those of the last answer. */
static SubscriptionResult change_by_letters(World *world, const AddressChange *what, char **letters)
{
    g_autofree char *first = NULL, *second = NULL;
    g_assert_cmpint(change(world, what, &first), ==, SUBSCRIPTION_ASKED_PERSON);
    world->actor.role = ACTOR_ADDRESS;
    g_autofree char *token = world_token(first);
    if (what->old_agreed)
        return world_confirm(world, token, letters);
    g_assert_cmpint(world_confirm(world, token, &second), ==, SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *last = world_token(second);
    return world_confirm(world, last, letters);
}

/* Check that a person who obtained the answers by a trick, or reads the mail of both, becomes no owner. */
static void test_roles_stay(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *told = NULL;
    g_autoptr(List) other = list_create(world->store, "other@example.com", &error);
    assert_ok(other != NULL, error);
    add(world, ANNE);
    assert_ok(user_set_preferred(world->store, mailbox_of(ANNE), &error), error);
    assert_ok(member_add(world->store, other->list_id, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, &error), error);
    assert_ok(member_add(world->store, other->list_id, ROLE_MODERATOR, mailbox_of(ANNE), NULL, NULL, &error), error);
    assert_ok(member_add_user(world->store, other->list_id, ROLE_OWNER, mailbox_of(ANNE), &error), error);
    g_assert_cmpint(change_by_letters(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(NEW), false, false}, &told),
                    ==, SUBSCRIPTION_DONE);
    g_assert_true(is_member(world, NEW) && has_role(world, other->list_id, ROLE_MEMBER, NEW));
    g_assert_true(has_role(world, other->list_id, ROLE_OWNER, ANNE) &&
                  has_role(world, other->list_id, ROLE_MODERATOR, ANNE));
    g_assert_false(has_role(world, other->list_id, ROLE_OWNER, NEW) ||
                   has_role(world, other->list_id, ROLE_MODERATOR, NEW));
    g_auto(GStrv) owners = list_administrators(world->store, other->list_id, &error);
    g_assert_false(g_strv_contains((const char *const *)owners, NEW));
    g_assert_nonnull(strstr(told, "To: other-owner@example.com"));
    g_assert_nonnull(strstr(told, "No mail moves such a role"));
    g_assert_null(strstr(told, "To: test-owner@example.com")); /* where the address has no such role */
}

/* May the person at this address decide about the list, signed in on the pages? */
static Authority signed_in_as(World *world, const char *address, const char *list_id)
{
    GError *error = NULL;
    g_autoptr(List) list = list_by_id(world->store, list_id, &error);
    g_autoptr(SignedIn) person = sign_in_vouched(world->store, address, &error);
    g_autoptr(Standing) standing = list && person ? standing_new(world->store, person, &error) : NULL;
    assert_ok(standing != NULL, error);
    return standing_of(standing, list);
}

static unsigned memberships_of(World *world, const char *address)
{
    GError *error = NULL;
    g_autoptr(SignedIn) person = sign_in_vouched(world->store, address, &error);
    g_autoptr(GPtrArray) all = sign_in_members(world->store, person, NULL, 100, &error);
    assert_ok(all != NULL, error);
    return all->len;
}

/* Make ANNE a member here, who has a further address, and VERA owner of another list and member of both. */
#define VERA "vera@example.net"
#define FURTHER "anne@home.example"
static void make_both(World *world)
{
    GError *error = NULL;
    g_autoptr(List) other = list_create(world->store, "other@example.com", &error);
    assert_ok(other != NULL, error);
    add(world, ANNE);
    assert_ok(user_link_address(world->store, ANNE, mailbox_of(FURTHER), &error), error);
    assert_ok(member_add(world->store, other->list_id, ROLE_OWNER, mailbox_of(VERA), NULL, NULL, &error), error);
    assert_ok(member_add(world->store, other->list_id, ROLE_MEMBER, mailbox_of(VERA), NULL, NULL, &error), error);
}

static void assert_apart(World *world)
{
    g_assert_cmpint(signed_in_as(world, VERA, "other.example.com"), ==, BY_LIST);
    g_assert_cmpint(signed_in_as(world, ANNE, "other.example.com"), ==, BY_STRANGER);
    g_assert_cmpint(signed_in_as(world, FURTHER, "other.example.com"), ==, BY_STRANGER);
    g_assert_true(is_member(world, ANNE) && !is_member(world, VERA));
}

/* Check that a change of address joins no accounts: the letter to the other person explains it and brings no token, and
 * who asks is answered as for an address that nobody knows. */
static void test_change_to_an_account(World *world, const void *data)
{
    g_autofree char *unknown = NULL, *first = NULL, *second = NULL, *by_page = NULL;
    make_both(world);
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(NEW), true, false}, &unknown), ==,
                    SUBSCRIPTION_ASKED_PERSON);
    g_assert_nonnull(strstr(unknown, "confirm+"));
    /* By mail the old address is asked first, in the same words. */
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(VERA), false, false}, &first), ==,
                    SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *token = world_token(first);
    g_assert_cmpint(world_confirm(world, token, &second), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_nonnull(strstr(second, "no accounts were joined"));
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(VERA), true, false}, &by_page), ==,
                    SUBSCRIPTION_ASKED_PERSON);
    g_assert_nonnull(strstr(by_page, "virgin <" VERA ">"));
    g_assert_nonnull(strstr(by_page, "no accounts were joined"));
    g_assert_null(strstr(by_page, "confirm+"));
    g_assert_null(strstr(by_page, "confirm "));
    assert_apart(world);
}

/* Check that the same holds where the new address comes to have something only after it was asked. */
static void test_change_confirmed_late(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *asked = NULL, *late = NULL, *again = NULL;
    add(world, ANNE);
    assert_ok(user_link_address(world->store, ANNE, mailbox_of(FURTHER), &error), error);
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(VERA), true, false}, &asked), ==,
                    SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *token = world_token(asked);
    g_autoptr(List) other = list_create(world->store, "other@example.com", &error);
    assert_ok(other != NULL, error);
    assert_ok(member_add(world->store, other->list_id, ROLE_OWNER, mailbox_of(VERA), NULL, NULL, &error), error);
    g_assert_cmpint(world_confirm(world, token, &late), ==, SUBSCRIPTION_TAKEN);
    g_assert_nonnull(strstr(late, "no accounts were joined"));
    assert_apart(world);
    g_assert_cmpint(world_confirm(world, token, &again), ==, SUBSCRIPTION_BAD_TOKEN);
}

/* An account is a membership, a role, a domain, the site, a password or a further address; a nonmember has none. */
static void test_what_an_account_is(World *world, const void *data)
{
    bool is;
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    add(world, ANNE);
    g_autoptr(User) anne = user_find(world->store, ANNE, &error);
    static const char *const others[] = {"a@x.example", "b@x.example", "c@x.example", "d@x.example"};
    for (size_t at = 0; at < G_N_ELEMENTS(others); at++)
        assert_ok(user_create(world->store, mailbox_of(others[at]), NULL, id, &error), error);
    assert_ok(user_set_password(world->store, others[0], "$y$", &error), error);
    assert_ok(user_set_server_owner(world->store, others[1], true, &error), error);
    assert_ok(user_link_address(world->store, others[2], mailbox_of("e@x.example"), &error), error);
    g_autoptr(User) owner = user_find(world->store, others[3], &error);
    assert_ok(domain_add_owner(world->store, "example.com", owner->id, &error), error);
    for (size_t at = 0; at < G_N_ELEMENTS(others); at++) {
        assert_ok(user_is_another(world->store, mailbox_of(others[at]), anne->id, &is, &error), error);
        g_assert_true(is);
    }
    assert_ok(user_is_another(world->store, mailbox_of(ANNE), "", &is, &error) && is, error);
    assert_ok(user_is_another(world->store, mailbox_of(ANNE), anne->id, &is, &error) && !is, error);
    assert_ok(user_is_another(world->store, mailbox_of("nobody@x.example"), anne->id, &is, &error) && !is, error);
    assert_ok(member_add(world->store, LIST, ROLE_NONMEMBER, mailbox_of("n@x.example"), NULL, NULL, &error), error);
    assert_ok(user_is_another(world->store, mailbox_of("n@x.example"), anne->id, &is, &error) && !is, error);
}

/* Check that the old address signs in to nothing afterwards, while a further one of the person still does; and that
 * both stay where the new one was the person's own already. */
static void test_old_address_is_dropped(World *world, const void *data)
{
    GError *error = NULL;
    int64_t now = clock_now();
    g_autofree char *told = NULL, *own = NULL;
    add(world, ANNE);
    assert_ok(user_link_address(world->store, ANNE, mailbox_of(FURTHER), &error), error);
    assert_ok(session_add_link(world->store, mailbox_of(ANNE), "link", now, &error), error);
    assert_ok(session_begin(world->store, "link", "session", "Mosaic", now, &error), error);
    g_assert_cmpint(change_by_letters(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(NEW), true, false}, &told),
                    ==, SUBSCRIPTION_DONE);
    g_assert_cmpuint(memberships_of(world, ANNE), ==, 0);
    g_assert_cmpuint(memberships_of(world, NEW), ==, 1);
    g_assert_cmpuint(memberships_of(world, FURTHER), ==, 1);
    g_assert_null(session_find(world->store, "session", now, NULL));
    g_assert_cmpint(fixture_verified_at(world->store, ANNE), ==, 0);
    assert_ok(address_set_verified(world->store, mailbox_of(FURTHER), now, &error), error);
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(NEW), mailbox_of(FURTHER), true, true}, &own), ==,
                    SUBSCRIPTION_DONE);
    g_assert_true(is_member(world, FURTHER) && !is_member(world, NEW));
    g_assert_cmpuint(memberships_of(world, NEW), ==, 1);
}

/* Check that the new address of somebody who runs a list signs in to the memberships alone, and the old one to the list
 * alone. */
static void test_change_of_an_owner(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *told = NULL;
    add(world, VERA);
    g_autoptr(List) other = list_create(world->store, "other@example.com", &error);
    assert_ok(other && member_add(world->store, other->list_id, ROLE_OWNER, mailbox_of(VERA), NULL, NULL, &error),
              error);
    assert_ok(user_set_name(world->store, VERA, "Vera", &error), error);
    g_autoptr(User) before = user_find(world->store, VERA, &error);
    g_assert_cmpint(change_by_letters(world, &(AddressChange){mailbox_of(VERA), mailbox_of(NEW), false, false}, &told),
                    ==, SUBSCRIPTION_DONE);
    g_autoptr(User) after = user_find(world->store, VERA, &error), other_user = user_find(world->store, NEW, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(after->id, ==, before->id);
    g_assert_cmpstr(other_user->id, !=, before->id);
    g_assert_cmpint(signed_in_as(world, VERA, "other.example.com"), ==, BY_LIST);
    g_assert_cmpint(signed_in_as(world, NEW, "other.example.com"), ==, BY_STRANGER);
    g_assert_true(is_member(world, NEW) && !is_member(world, VERA));
    g_assert_cmpuint(memberships_of(world, VERA), ==, 1);
    g_autoptr(Member) member = member_of(world, NEW);
    g_assert_cmpstr(member->display_name, ==, "Vera");
}

/* The owner of a list may confirm in the person's place, but only what concerns that list alone. */
static void test_owner_does_not_confirm(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autofree char *first = NULL;
    add(world, ANNE);
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(NEW), false, false}, &first), ==,
                    SUBSCRIPTION_ASKED_PERSON);
    world->actor.role = ACTOR_OWNER;
    g_autoptr(Work) work = world_work(world);
    g_assert_false(request_decide(work, world_waiting(world), REQUEST_CONFIRM, NULL, &made, &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_true(is_member(world, ANNE) && !is_member(world, NEW));
}

/* The address of a moderator is changed by an operator, who wants only the new address to agree. */
static void test_operator_moves_roles(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *told = NULL;
    add(world, ANNE);
    assert_ok(member_add(world->store, LIST, ROLE_MODERATOR, mailbox_of(ANNE), NULL, NULL, &error), error);
    world->actor.role = ACTOR_OPERATOR;
    g_assert_cmpint(change_by_letters(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(NEW), true, false}, &told),
                    ==, SUBSCRIPTION_DONE);
    g_assert_true(has_role(world, LIST, ROLE_MODERATOR, NEW));
    g_assert_false(has_role(world, LIST, ROLE_MODERATOR, ANNE));
}

/* Rights over a domain and the site belong to all addresses of a person. */
static void test_change_of_domain_owner(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *first = NULL, *none = NULL, *still = NULL;
    add(world, ANNE);
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(NEW), false, false}, &first), ==,
                    SUBSCRIPTION_ASKED_PERSON);
    g_autoptr(User) anne = user_find(world->store, ANNE, &error);
    assert_ok(anne && domain_add_owner(world->store, "example.com", anne->id, &error), error);
    g_autofree char *token = world_token(first);
    g_assert_cmpint(world_confirm(world, token, &none), ==, SUBSCRIPTION_REFUSED);
    assert_ok(domain_clear_owners(world->store, "example.com", &error), error);
    assert_ok(user_set_server_owner(world->store, ANNE, true, &error), error);
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(NEW), false, false}, &still), ==,
                    SUBSCRIPTION_REFUSED);
    g_assert_cmpstr(none, ==, "");
    g_assert_cmpstr(still, ==, "");
    g_assert_true(is_member(world, ANNE));
    g_assert_null(address_find(world->store, mailbox_of(NEW), NULL));
}

/* Check that all that follows the user follows it to the new address; a membership that is there already is not
 * doubled. */
static void test_change_by_operator(World *world, const void *data)
{
    GError *error = NULL;
    g_autofree char *letters = NULL;
    add(world, ANNE);
    add(world, NEW);
    assert_ok(user_set_preferred(world->store, mailbox_of(ANNE), &error), error);
    assert_ok(member_add_user(world->store, LIST, ROLE_OWNER, mailbox_of(ANNE), &error), error);
    AddressChange what = {mailbox_of(ANNE), mailbox_of(NEW), true, true};
    world->actor.role = ACTOR_OPERATOR;
    g_assert_cmpint(change(world, &what, &letters), ==, SUBSCRIPTION_DONE);
    g_assert_false(is_member(world, ANNE));
    g_assert_true(is_member(world, NEW));
    g_autoptr(Member) owner = member_find(world->store, LIST, ROLE_OWNER, mailbox_of(NEW), &error);
    g_assert_true(owner && owner->as_user);
    int64_t count;
    assert_ok(member_count(world->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 1);
}

static void test_change_refused(World *world, const void *data)
{
    g_autofree char *none = NULL, *bad = NULL, *own = NULL, *same = NULL, *star = NULL;
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of(NEW), false, false}, &none), ==,
                    SUBSCRIPTION_NO_CHANGE);
    add(world, ANNE);
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of("nonsense"), false, false}, &bad), ==,
                    SUBSCRIPTION_BAD_ADDRESS);
    g_assert_cmpint(
        change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of("test-owner@example.com"), false, false}, &own), ==,
        SUBSCRIPTION_OWN_ADDRESS);
    g_assert_cmpint(
        change(world, &(AddressChange){mailbox_of(ANNE), mailbox_of("ANNE@example.org"), false, false}, &same), ==,
        SUBSCRIPTION_NO_CHANGE);
    /* An asterisk is a character like others: this is nobody's address. */
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of("*@example.org"), mailbox_of(NEW), false, false}, &star),
                    ==, SUBSCRIPTION_NO_CHANGE);
    g_autofree char *all = g_strconcat(none, bad, own, same, star, NULL);
    g_assert_cmpstr(all, ==, "");
}

/* Check that a letter which asks goes to the address that is stored, and not to one that only counts for the same. */
static void test_letters_go_to_the_stored_address(World *world, const void *data)
{
    static const char stored[] = "j\303\266rg@example.org", typed[] = "J\303\226RG@Example.org";
    g_autofree char *asked = NULL;
    add(world, stored);
    g_assert_cmpint(change(world, &(AddressChange){mailbox_of(typed), mailbox_of(NEW), false, false}, &asked), ==,
                    SUBSCRIPTION_ASKED_PERSON);
    g_assert_nonnull(strstr(asked, "virgin <j\303\266rg@example.org>"));
    g_assert_null(strstr(asked, "virgin <J\303\226RG@"));
    GError *error = NULL;
    world->site.web_url = "https://lists.example.com";
    g_autoptr(json_t) form = json_pack("{s{ss}}", KEY_FORM, "address", typed);
    g_autoptr(Work) work = world_work(world);
    assert_ok(sign_in_work(work, form, &error), error);
    g_autofree char *link = world_letters(world, work);
    g_assert_nonnull(strstr(link, "virgin <j\303\266rg@example.org>"));
    g_assert_null(strstr(link, "J\303\226RG"));
}

/* Check that one mailbox does not join twice, by the letters of its domain and by their form in ASCII. */
static void test_domains_of_letters(World *world, const void *data)
{
    GError *error = NULL;
    static const char *const pairs[][2] = {{"jo@b\303\274cher.example", "jo@xn--bcher-kva.example"},
                                           {"al@xn--mller-kva.example", "al@m\303\274ller.example"}};
    for (size_t at = 0; at < G_N_ELEMENTS(pairs); at++)
        for (size_t form = 0; form < 2; form++) {
            g_auto(Subscription) made = {0};
            g_autoptr(Work) work = world_work(world);
            const Joiner joiner = {.address = mailbox_of(pairs[at][form]),
                                   .facts = FACT_VERIFIED | FACT_CONFIRMED | FACT_APPROVED};
            assert_ok(store_begin(world->store, &error), error);
            assert_ok(join_ask(work, world->list, &joiner, &made, &error), error);
            assert_ok(store_commit(world->store, &error), error);
            g_assert_cmpint(made.result, ==, form == 0 ? SUBSCRIPTION_DONE : SUBSCRIPTION_NO_CHANGE);
            g_assert_cmpstr(made.address, ==, pairs[at][0]);
        }
}

/* Check that a form takes no address that only a program on this host could have typed. */
static void test_addresses_of_forms(World *world, const void *data)
{
    GError *error = NULL;
    static const char *const bad[] = {"a@[127.0.0.1]", "a@[IPv6:::1]", "a@localhost", "a@127.0.0.1",
                                      "a@b.c\342\200\256", "\342\200\256a@b.c"};
    for (size_t at = 0; at <= G_N_ELEMENTS(bad); at++) {
        SubscriptionResult result;
        g_autoptr(Work) work = world_work(world);
        const Joiner joiner = {.address = mailbox_of(at < G_N_ELEMENTS(bad) ? bad[at] : "a@b\303\274cher.example")};
        assert_ok(join_form_take(work, world->list, &joiner, &result, &error), error);
        g_assert_cmpint(result, ==, at < G_N_ELEMENTS(bad) ? SUBSCRIPTION_BAD_ADDRESS : SUBSCRIPTION_ASKED_PERSON);
    }
}

SUITE("change_address")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/change_address/address changes when both agree", test_change_by_both);
    WORLD_TEST("/change_address/address does not change by empty answers", test_change_by_empty_answers);
    WORLD_TEST("/change_address/address change asked often", test_change_asked_often);
    WORLD_TEST("/change_address/language of an address change", test_change_language);
    WORLD_TEST("/change_address/address changed by the operator", test_change_by_operator);
    WORLD_TEST("/change_address/owner and moderator stay", test_roles_stay);
    WORLD_TEST("/change_address/an operator moves every role", test_operator_moves_roles);
    WORLD_TEST("/change_address/owners of a domain or the site are refused", test_change_of_domain_owner);
    WORLD_TEST("/change_address/address change refused", test_change_refused);
    WORLD_TEST("/change_address/no accounts are joined", test_change_to_an_account);
    WORLD_TEST("/change_address/nor when it is confirmed late", test_change_confirmed_late);
    WORLD_TEST("/change_address/what an account is", test_what_an_account_is);
    WORLD_TEST("/change_address/the old address is dropped", test_old_address_is_dropped);
    WORLD_TEST("/change_address/letters go to the stored address", test_letters_go_to_the_stored_address);
    WORLD_TEST("/change_address/domains of letters", test_domains_of_letters);
    WORLD_TEST("/change_address/addresses of forms", test_addresses_of_forms);
    WORLD_TEST("/change_address/of somebody who runs a list", test_change_of_an_owner);
    WORLD_TEST("/change_address/an owner does not confirm it", test_owner_does_not_confirm);
    return g_test_run();
}
