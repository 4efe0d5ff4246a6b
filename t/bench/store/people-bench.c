/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * How fast people join, and how listings of many do, by hand: people-bench DIRECTORY [JOINS [LISTED]]. JOINS people
 * (100000) join a list through the workflow without confirmation, in units of work of their own, and many units in one
 * transaction as a runner has them. Then LISTED members and requests (1000000) are walked through, each by a process of
 * its own, so that the memory shown is that of the walk alone. The database is removed afterwards.
 *
 * Each has a floor in the same run: the rows of a member written without a workflow, in the same kind of transactions,
 * and the same rows stepped through by the database, with nothing made of them.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lists/people/join.h"
#include "lists/work.h"
#include "store/lists/domain.h"
#include "store/store.h"
#include "store/store_internal.h"
#include "t/bench/store/figures.h"

#define LIST "big.example.com"
#define FLOOR_LIST "floor.example.com"
#define BATCH 100 /* units of work in a transaction */
#define PART 2000 /* rows a transaction, when the database is filled */

static char *address_of(const char *name, int64_t number)
{
    return g_strdup_printf("%s.%08" G_GINT64_FORMAT "@host%" G_GINT64_FORMAT ".example.org", name, number,
                           number * 7919 % 5000);
}

static void join(Store *store, const List *list, int64_t number, bool commit)
{
    GError *error = NULL;
    const WorkSite site = {.site_owner = "postmaster@example.com", .hostname = "example.com", .delimiter = '+',
                           .pending_request_life = 86400 * CLOCK_SECOND,
                           .moderator_request_life = 86400 * CLOCK_SECOND};
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_SHELL};
    g_autoptr(Work) work = work_new(store, &site, &actor);
    g_auto(Subscription) made = {0};
    g_autofree char *address = address_of("person", number);
    const Joiner joiner = {.address = address, .facts = FACT_VERIFIED | FACT_CONFIRMED | FACT_APPROVED};
    check(!commit || work_begin(work, &error), error);
    check(join_ask(work, list, &joiner, &made, &error) && made.result == SUBSCRIPTION_DONE, error);
    check(!commit || work_commit(work, NULL, &error), error);
}

/* Joins through the workflow; with list NULL, the floor of that. */
static void join_one(Store *store, const List *list, int64_t number, bool commit)
{
    GError *error = NULL;
    g_autofree char *address = address_of("floor", number);
    if (list)
        join(store, list, number, commit);
    else /* a transaction of its own, where none is open */
        check(member_add(store, FLOOR_LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, &error), error);
}

static void join_all(Store *store, const List *list, int64_t joins)
{
    GError *error = NULL;
    int64_t alone = MAX(joins / 20, 1), since = clock_monotonic();
    for (int64_t number = 0; number < alone; number++)
        join_one(store, list, number, true);
    report(list ? "joined, a transaction each" : "floor: rows written, a transaction each", alone, since);
    since = clock_monotonic();
    for (int64_t number = alone; number < joins; number++) {
        check((number - alone) % BATCH != 0 || store_begin(store, &error), error);
        join_one(store, list, number, false);
        bool last = (number - alone) % BATCH == BATCH - 1 || number == joins - 1;
        check(!last || store_commit(store, &error), error);
    }
    report(list ? "joined, a hundred in a transaction" : "floor: rows written, a hundred in a transaction",
           joins - alone, since);
}

static void fill(Store *store, int64_t from, int64_t listed)
{
    GError *error = NULL;
    for (int64_t number = 0; number < listed; number++) {
        check(number % PART != 0 || store_begin(store, &error), error);
        g_autofree char *address = g_strdup_printf("asks.%08" G_GINT64_FORMAT "@provider.example", number);
        Pending request = {.kind = PENDING_JOIN, .list_id = (char *)LIST, .address = address,
                           .waits_for = PENDING_MODERATOR, .made_at = clock_now(), .asked_at = clock_now(),
                           .expires_at = INT64_MAX, .delivery_mode = -1, .delivery_status = -1};
        check(pending_put(store, &request, NULL, &error), error);
        check(number < from || member_add(store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, &error), error);
        bool last = number % PART == PART - 1 || number == listed - 1;
        check(!last || store_commit(store, &error), error);
    }
}

static bool count_member(const Member *member, void *data)
{
    (void)member;
    return ++*(int64_t *)data > 0;
}

static bool count_request(const Pending *request, void *data)
{
    (void)request;
    return ++*(int64_t *)data > 0;
}

static bool step_through(Store *store, bool requests, int64_t *count, GError **error)
{
    g_autoptr(Query) query =
        requests ? query_stream(store, error, "SELECT p.number, p.address FROM pending p JOIN list l ON l.key = p.list "
                                "WHERE l.list_id = $1 ORDER BY p.number", TEXT(LIST))
                 : query_stream(store, error, "SELECT m.email, m.folded FROM member m JOIN list l ON l.key = m.list "
                                "WHERE l.list_id = $1 AND m.role = 0 ORDER BY m.folded", TEXT(LIST));
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW)
        *count += query_text(query, 1) != NULL;
    return step == STEP_DONE;
}

static void walk(const char *path, bool requests, bool floor)
{
    fflush(stdout);
    pid_t child = fork();
    if (child != 0) {
        int status = 0;
        check(child > 0 && waitpid(child, &status, 0) == child && status == 0, NULL);
        return;
    }
    GError *error = NULL;
    g_autoptr(Store) store = store_open("sqlite", path, false, &error);
    check(store != NULL, error);
    int64_t count = 0, since = clock_monotonic();
    check(floor      ? step_through(store, requests, &count, &error)
          : requests ? pending_each(store, LIST, clock_now(), count_request, &count, &error)
                     : member_each(store, LIST, ROLE_MEMBER, count_member, &count, &error), error);
    report(floor      ? "floor: rows stepped through"
           : requests ? "requests of a list"
                      : "members of a list", count, since);
    report_memory();
    _exit(0);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    int64_t joins = argc > 2 ? g_ascii_strtoll(argv[2], NULL, 10) : 100000;
    int64_t listed = argc > 3 ? g_ascii_strtoll(argv[3], NULL, 10) : 1000000;
    if (argc < 2 || joins < 1 || listed < 1) {
        fprintf(stderr, "usage: people-bench DIRECTORY [JOINS [LISTED]]\n");
        return 64;
    }
    g_autofree char *place = g_build_filename(argv[1], "people-bench-XXXXXX", NULL);
    check(g_mkdtemp(place) != NULL, NULL);
    g_autofree char *path = g_build_filename(place, "db", NULL);
    {
        g_autoptr(Store) store = store_open("sqlite", path, true, &error);
        check(store != NULL, error);
        check(domain_create(store, "example.com", NULL, &error), error);
        g_autoptr(List) made = list_create(store, "big@example.com", &error);
        check(made && list_set(store, LIST, "subscription_policy", "open", &error) &&
              list_set(store, LIST, "send_welcome_message", "no", &error), error);
        g_autoptr(List) list = list_by_id(store, LIST, &error);
        check(list != NULL, error);
        list_free(list_create(store, "floor@example.com", &error));
        check(!error, error);
        join_all(store, NULL, joins);
        join_all(store, list, joins);
        fill(store, MIN(joins, listed), listed);
    }
    for (int what = 0; what < 4; what++)
        walk(path, what / 2 == 1, what % 2 == 0);
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t at = 0; at < G_N_ELEMENTS(ends); at++) {
        g_autofree char *file = g_strconcat(path, ends[at], NULL);
        g_unlink(file);
    }
    g_rmdir(place);
    return 0;
}
