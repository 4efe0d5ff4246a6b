/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Set up a store with the list test@example.com and its owner olga@example.net, for tests of use cases (lists/). A test
 * begins a unit with world_work(), calls a use case, and looks at the letters with world_letters().
 */
#include <glib.h>
#include <string.h>

#include "base/clock.h"
#include "lists/people/confirm.h"
#include "mail/text/template.h"
#include "store/outbox.h"
#include "store/people/member.h"
#include "t/store/fixture.h"

#define LIST "test.example.com"

typedef struct World {
    Fixture fixture;
    Store *store;
    List *list;
    WorkSite site;
    Actor actor;
    VerpKeys *keys;
} World;

static inline void world_open(World *world, const void *data)
{
    GError *error = NULL;
    static char *templates;
    if (!templates) {
        const char *top = g_getenv("top_srcdir");
        templates = g_build_filename(top ? top : ".", "etc/templates", NULL);
        template_set_built_in(templates);
    }
    fixture_open_list(&world->fixture, data);
    world->store = world->fixture.store;
    world->list = list_by_id(world->store, LIST, &error);
    g_assert_no_error(error);
    assert_ok(member_add(world->store, LIST, ROLE_OWNER, mailbox_of("olga@example.net"), NULL, NULL, &error), error);
    static const KeptKey kept_key = {.octets = "fedcba9876543210fedcba987654321"};
    static const unsigned char secret[32] = "0123456789abcdef0123456789abcde";
    g_autoptr(GPtrArray) secrets = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(secrets, g_bytes_new(secret, sizeof secret));
    world->keys = verp_keys_new(secrets);
    world->site = (WorkSite){.site_owner = "postmaster@example.com", .hostname = "example.com", .delimiter = '+',
                             .answers_a_day = 10, .pending_request_life = 3 * 86400 * CLOCK_SECOND,
                             .moderator_request_life = 180 * 86400 * CLOCK_SECOND, .keys = world->keys,
                             .kept_key = &kept_key};
    world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_MAIL, .from = "test"};
}

static inline void world_close(World *world, const void *data)
{
    verp_keys_free(world->keys);
    list_free(world->list);
    fixture_close(&world->fixture, data);
}

/* Change a setting of the list, and read world->list anew. */
static inline void world_set(World *world, const char *name, const char *value)
{
    GError *error = NULL;
    assert_ok(list_set(world->store, LIST, name, value, &error), error);
    list_free(world->list);
    world->list = list_by_id(world->store, LIST, &error);
}

/* Return a new unit of work for world->actor, in which no transaction is begun; work_free(). */
static inline Work *world_work(World *world)
{
    return work_new(world->store, &world->site, &world->actor);
}

/* Return all entries that the unit has gathered, as text; g_free(). Each is a line "QUEUE <RECIPIENTS> METADATA", and
 * then the message. They stay in the unit. */
static inline char *world_letters(World *world, Work *work)
{
    GError *error = NULL;
    GString *all = g_string_new(NULL);
    assert_ok(work_keep(work, "test", &error), error);
    g_autoptr(GPtrArray) rows = kept_of(world->store, world->site.kept_key, "test", &error);
    g_assert_no_error(error);
    for (unsigned at = 0; at < rows->len; at++) {
        const KeptRow *row = rows->pdata[at];
        size_t length;
        const char *octets = g_bytes_get_data(row->message, &length);
        g_string_append_printf(all, "%s <%s> %s\n%.*s\n", row->queue, row->recipients, row->meta, (int)length, octets);
    }
    assert_ok(outbox_remove_of(world->store, "test", &error), error);
    return g_string_free(all, FALSE);
}

/* Return the token of the first letter in the text that has one; g_free(). The test fails if there is none. */
static inline char *world_token(const char *letters)
{
    const char *at = strstr(letters, "    confirm ");
    g_assert_nonnull(at);
    return g_strndup(at + strlen("    confirm "), PENDING_TOKEN_CHARS);
}

/* Answer the letter with this token as the world's actor, with this consent. *letters is set to the text of
 * world_letters(). */
static inline SubscriptionResult world_answer(World *world, const char *token, Consent consent, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(confirm_token(work, world->list, token, consent, &made, &error), error);
    *letters = world_letters(world, work);
    return made.result;
}

/* Confirm by the letter with this token, as world_answer() does. */
static inline SubscriptionResult world_confirm(World *world, const char *token, char **letters)
{
    return world_answer(world, token, CONSENT_SAID, letters);
}

#define WORLD_TEST(path, function) g_test_add(path, World, NULL, world_open, function, world_close)

/* How often the text has the other one. */
static inline unsigned world_count(const char *text, const char *what)
{
    unsigned found = 0;
    for (; (text = strstr(text, what)); text++)
        found++;
    return found;
}

static inline bool world_note_number(const Pending *pending, void *data)
{
    *(int64_t *)data = pending->number;
    return true;
}

/* The number of the last request of the list that waits; 0: none does. */
static inline int64_t world_waiting(World *world)
{
    int64_t number = 0;
    g_assert_true(pending_each(world->store, LIST, clock_now(), world_note_number, &number, NULL));
    return number;
}

static inline bool world_waits(World *world, int64_t number)
{
    g_autoptr(Pending) request = pending_find(world->store, number, clock_now(), NULL);
    return request != NULL;
}

static inline bool world_is_member(World *world, const char *address)
{
    g_autoptr(Member) member = member_find(world->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL);
    return member != NULL;
}
