/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * How fast the store is, by hand: store-bench DIRECTORY [MEMBERS [LISTS]].
 * Fills a database in DIRECTORY (removed afterwards) and prints a table. The
 * recipients are read by a process of their own, so that the memory shown is
 * what a runner would need.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/people/member.h"
#include "store/store.h"
#include "t/bench/store/figures.h"

#define LIST "big.example.com"
#define COPRIME UINT64_C(2654435761)
#define LOOKUPS 200000
#define PART 2000 /* members a transaction, as the command line has it */

static int64_t members_wanted = 1000000;

/* Names in no order, domains as lists have them: a few big ones, many small. */
static char *address_of(int64_t i, int64_t total, bool sorted)
{
    uint64_t n = sorted ? (uint64_t)i : (uint64_t)i * COPRIME % (uint64_t)total;
    if (sorted)
        return g_strdup_printf("subscriber.%08u@provider.example", (unsigned)n);
    if (n % 2)
        return g_strdup_printf("subscriber.%08u@provider%u.example", (unsigned)n, (unsigned)(n / 2 % 5));
    return g_strdup_printf("subscriber.%08u@host%u.example.org", (unsigned)n, (unsigned)(n / 2 % 50000));
}

static void fill(const char *path, const char *name, int64_t members, bool sorted)
{
    GError *error = NULL;
    g_autoptr(Store) store = store_open("sqlite", path, true, &error);
    check(store, error);
    domain_create(store, "example.com", NULL, NULL);
    g_autofree char *posting = g_strconcat(name, "@example.com", NULL);
    g_autoptr(List) list = list_create(store, posting, &error);
    check(list, error);
    int64_t since = clock_monotonic();
    check(store_begin(store, &error), error);
    for (int64_t i = 0; i < members; i++) {
        g_autofree char *address = address_of(i, members, sorted);
        check(member_add(store, list->list_id, ROLE_MEMBER, mailbox_of(address), "A Subscriber", NULL, &error), error);
        if ((i + 1) % PART == 0)
            check(store_commit(store, &error) && store_begin(store, &error), error);
    }
    check(store_commit(store, &error), error);
    report(sorted ? "member_add, addresses in order" : "member_add, addresses in no order", members, since);
    report_memory();
}

static void count_line(G_GNUC_UNUSED int64_t number, G_GNUC_UNUSED const char *address, const GError *refusal,
                       void *data)
{
    *(int64_t *)data += !refusal;
}

/* As a runner starts that leaves the syncs to its hop, and its first one. */
static void start(const char *path, const char *when)
{
    GError *error = NULL;
    int log = -1;
    int64_t since = clock_monotonic();
    g_autoptr(Store) store = store_open("sqlite", path, false, &error);
    check(store && store_leave_sync(store, &log, &error), error);
    int64_t synced = clock_monotonic();
    check(fdatasync(log) == 0, NULL);
    printf("%-44s %10.3f ms, first sync %.3f ms\n", when, (double)(synced - since) / 1e3,
           (double)(clock_monotonic() - synced) / 1e3);
    fflush(stdout);
}

static void import(const char *path)
{
    GError *error = NULL;
    g_autoptr(Store) store = store_open("sqlite", path, true, &error);
    check(store, error);
    domain_create(store, "example.com", NULL, NULL);
    g_autoptr(List) list = list_create(store, "big@example.com", &error);
    check(list, error);
    int64_t since = clock_monotonic(), added = 0;
    g_autoptr(MemberImport) lines = member_import_open(store, list->list_id, ROLE_MEMBER, &error);
    check(lines, error);
    for (int64_t i = 0; i < members_wanted; i++) {
        g_autofree char *address = address_of(i, members_wanted, false);
        check(member_import_add(lines, i + 1, address, "A Subscriber", NULL, &error), error);
    }
    check(member_import_sort(lines, &error), error);
    for (bool more = true; more;)
        check(member_import_some(lines, count_line, &added, &more, &error), error);
    report("member_import, addresses in no order", added, since);
    report_memory();
    start(path, "store_leave_sync after that");
    check(domain_create(store, "example.org", NULL, &error), error);
    start(path, "store_leave_sync, little in the log");
}

static void stream(const char *path)
{
    GError *error = NULL;
    int64_t since = clock_monotonic(), count = 0;
    g_autoptr(Store) store = store_open("sqlite", path, false, &error);
    check(store, error);
    g_autoptr(RecipientCursor) cursor =
        recipient_cursor_open(store, LIST, "subscriber.00000001@provider0.example", NULL, &error);
    check(cursor, error);
    int64_t first = 0;
    while (recipient_cursor_next(cursor, &error))
        if (count++ == 0)
            first = clock_monotonic() - since;
    check(true, error);
    report("recipients of one post", count, since);
    printf("%-44s %10.3f ms\n", "  the first one after", (double)first / 1e3);
    report_memory();
    since = clock_monotonic();
    int64_t members;
    check(recipient_count(store, LIST, &members, &error), error);
    report("recipient_count", members, since);
}

static bool count_member(G_GNUC_UNUSED const Member *member, void *data)
{
    ++*(int64_t *)data;
    return true;
}

static void walk(const char *path)
{
    GError *error = NULL;
    g_autoptr(Store) store = store_open("sqlite", path, false, &error);
    check(store, error);
    int64_t since = clock_monotonic(), count = 0;
    check(member_each(store, LIST, ROLE_MEMBER, count_member, &count, &error), error);
    report("member_each", count, since);
    report_memory();
}

static void look_up(const char *path, int64_t lists)
{
    GError *error = NULL;
    g_autoptr(Store) store = store_open("sqlite", path, true, &error);
    check(store, error);
    int64_t since = clock_monotonic();
    check(store_begin(store, &error), error);
    for (int64_t i = 0; i < lists; i++) {
        g_autofree char *posting = g_strdup_printf("list%d@example.com", (int)i);
        g_autoptr(List) list = list_create(store, posting, &error);
        check(list, error);
    }
    check(store_commit(store, &error), error);
    report("list_create", lists, since);
    since = clock_monotonic();
    for (int64_t i = 0; i < LOOKUPS; i++) {
        char local[32];
        bool exists;
        g_snprintf(local, sizeof local, "List%d", (int)((uint64_t)i * COPRIME % (uint64_t)(lists * 2)));
        check(list_exists(store, local, "Example.COM", &exists, NULL, &error), error);
    }
    report("list_exists, half of them not there", LOOKUPS, since);
    since = clock_monotonic();
    for (int64_t i = 0; i < LOOKUPS / 10; i++) {
        g_autofree char *posting =
            g_strdup_printf("list%d@example.com", (int)((uint64_t)i * COPRIME % (uint64_t)lists));
        g_autoptr(List) list = list_by_address(store, posting, &error);
        check(list, error);
    }
    report("list_by_address, with settings", LOOKUPS / 10, since);
    report_memory();
}

static void effects(const char *path)
{
    GError *error = NULL;
    g_autoptr(Store) store = store_open("sqlite", path, true, &error);
    check(store, error);
    int64_t since = clock_monotonic();
    for (int batch = 0; batch < 200; batch++) {
        check(store_begin(store, &error), error);
        for (int i = 0; i < 100; i++) {
            g_autofree char *name = g_strdup_printf("%d.%d", batch, i);
            g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA1, name, -1);
            bool before;
            int64_t number;
            check(store_find_effect(store, hash, &before, &number, &error), error);
            check(store_record_effect(store, hash, i, &error), error);
        }
        check(store_commit(store, &error), error);
    }
    report("store_find_effect and store_record_effect, 100 a commit", 20000, since);
}

/* In a process of its own. */
static void apart(void (*work)(const char *), const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        work(path);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0)
        exit(1);
}

static void fill_unsorted(const char *path)
{
    fill(path, "unsorted", MIN(members_wanted, 100000), false);
}

static void fill_sorted(const char *path)
{
    fill(path, "sorted", MIN(members_wanted, 100000), true);
}

static void look_up_lists(const char *path)
{
    look_up(path, 10000);
}

int main(int argc, char **argv)
{
    if (argc < 2 || (argc > 2 && (members_wanted = atoll(argv[2])) < 1)) {
        fprintf(stderr, "usage: store-bench DIRECTORY [MEMBERS]\n");
        return 64;
    }
    g_autofree char *path = g_build_filename(argv[1], "store-bench.db", NULL);
    g_autofree char *wal = g_strconcat(path, "-wal", NULL), *shm = g_strconcat(path, "-shm", NULL);
    apart(import, path);
    apart(stream, path);
    apart(stream, path);
    apart(walk, path);
    apart(look_up_lists, path);
    apart(effects, path);
    apart(fill_sorted, path);
    apart(fill_unsorted, path);
    struct stat status;
    if (stat(path, &status) == 0)
        printf("%-44s %10.1f MB\n", "the database", (double)status.st_size / 1e6);
    g_unlink(path);
    g_unlink(wal);
    g_unlink(shm);
    return 0;
}
