/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Archivers keep the files of some lists open, never more than their part of what the system allows, and what a batch
 * touches.
 */
#include <sys/resource.h>

#include "runners/archive/archiver.h"
#include "t/runners/archive/archiver_place.h"
#include "t/suite.h"

#define FILES_ALLOWED 160
#define BATCH 10 /* lists; as many as an archiver may keep open */
#define BATCHES 6
#define FILES_OF_A_LIST 3 /* a mbox, its index and its intent; a maildir and two of its folders */

static unsigned open_files(void)
{
    unsigned count = 0;
    g_autoptr(GDir) table = g_dir_open("/proc/self/fd", 0, NULL);
    while (g_dir_read_name(table) != NULL)
        count++;
    return count;
}

static void store(const ArchiverType *type, void *archiver, unsigned n)
{
    g_autofree char *list = g_strdup_printf("list%u.example.org", n);
    ArchiveMail mail = {.list = list, .place = list, .arrival = (int64_t)(1700000000 + n) * 1000000, .sender = "",
                        .octets = "Subject: x\n\ny\n", .length = 14};
    g_snprintf(mail.key, sizeof mail.key, "%040x", n);
    g_autoptr(GError) error = NULL;
    type->store(archiver, &mail, &error);
    g_assert_no_error(error);
}

static void test_batches(const void *data)
{
    const ArchiverType *type = data;
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = FILES_ALLOWED, .rlim_max = before.rlim_max});
    archiver_place = g_dir_make_tmp("archive-XXXXXX", NULL);
    void *archiver = type->open(NULL, "", NULL);
    unsigned idle = open_files(), most = 0;
    for (unsigned batch = 0; batch < BATCHES; batch++) {
        g_autoptr(GError) error = NULL;
        for (unsigned i = 0; i < BATCH; i++) {
            store(type, archiver, batch * BATCH + i);
            most = MAX(most, open_files());
        }
        type->flush(archiver, &error);
        g_assert_no_error(error);
    }
    g_assert_cmpuint(most, <=, idle + BATCH * (FILES_OF_A_LIST + 1)); /* and a mail that waits for its sync */
    type->close(archiver);
    setrlimit(RLIMIT_NOFILE, &before);
    const char *const words[] = {"rm", "-rf", archiver_place, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
    g_clear_pointer(&archiver_place, g_free);
}

SUITE("archive/few_files")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/few files/maildir", &archiver_maildir, test_batches);
    g_test_add_data_func("/few files/mbox", &archiver_mbox, test_batches);
    return g_test_run();
}
