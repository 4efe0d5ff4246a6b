/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/fs.h"
#include "runners/archive/archiver.h"
#include "t/runners/archive/archiver_place.h"
#include "t/suite.h"

#define LIST "l.example.org"

static unsigned listed;   /* names that were read from directories */

struct dirent *readdir(DIR *directory)
{
    static struct dirent *(*real)(DIR *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "readdir");
    listed++;
    return real(directory);
}

static void place_make(void)
{
    archiver_place = g_dir_make_tmp("maildir-XXXXXX", NULL);
    g_assert_nonnull(archiver_place);
}

static void place_remove(void)
{
    const char *const words[] = {"rm", "-rf", archiver_place, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
    g_clear_pointer(&archiver_place, g_free);
}

/* The n-th mail as it comes after a restart. */
static ArchiveMail mail_of(unsigned n)
{
    ArchiveMail mail = {.list = LIST, .place = LIST, .arrival = (int64_t)(1700000000 + n) * 1000000, .repeat = true,
                        .octets = "Subject: x\n\ny\n", .length = 14};
    g_snprintf(mail.key, sizeof mail.key, "%040x", n);
    return mail;
}

static char *name_of(unsigned n, const char *folder, const char *flags)
{
    return g_strdup_printf("%s/" LIST "/%s/%u.%040x.listrunner%s", archiver_place, folder, 1700000000 + n, n, flags);
}

/* Do what another program does that reads the maildir. */
static bool read_mail(unsigned n)
{
    g_autofree char *from = name_of(n, "new", ""), *to = name_of(n, "cur", ":2,S");
    return rename(from, to) == 0;
}

static bool is_there(unsigned n, const char *folder, const char *flags)
{
    g_autofree char *name = name_of(n, folder, flags);
    return access(name, F_OK) == 0;
}

static unsigned count_in(const char *folder)
{
    g_autofree char *path = g_build_filename(archiver_place, folder, NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    unsigned count = 0;
    while (directory != NULL && g_dir_read_name(directory) != NULL)
        count++;
    return count;
}

static bool store(void *archiver, unsigned n)
{
    ArchiveMail mail = mail_of(n);
    return archiver_maildir.store(archiver, &mail, NULL) && archiver_maildir.flush(archiver, NULL);
}

static void settle(void *archiver, unsigned n)
{
    ArchiveMail mail = mail_of(n);
    archiver_maildir.settled(archiver, mail.key);
}

/* However much was read already, to know what was stored before a restart costs no look at it. */
static void test_long(void)
{
    place_make();
    void *archiver = archiver_maildir.open(NULL, "", NULL);
    for (unsigned i = 0; i < 300; i++) {
        g_assert_true(store(archiver, i));
        settle(archiver, i);
        g_assert_true(read_mail(i));
    }
    archiver_maildir.close(archiver);
    archiver = archiver_maildir.open(NULL, "", NULL);
    listed = 0;
    for (unsigned i = 300; i < 350; i++) {
        g_assert_true(store(archiver, i));
        settle(archiver, i);
        g_assert_true(is_there(i, "new", ""));
    }
    g_assert_cmpuint(listed, ==, 0);
    g_assert_cmpuint(count_in(".in-hand"), ==, 0);
    archiver_maildir.close(archiver);
    place_remove();
}

/* The process dies in its n-th call; and no rename to new comes before the sync of what will tell of it. */
typedef struct Death {
    unsigned at, seen;
    bool dead, unsynced;
} Death;

static bool is_mark(const FsEvent *event)
{
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", event->fd), *path = g_file_read_link(link, NULL);
    return path != NULL && g_str_has_suffix(path, "/.in-hand");
}

static int die_at(const FsEvent *event, void *data)
{
    Death *death = data;
    if (death->seen++ == death->at)
        death->dead = true;
    if (death->dead)
        return EIO;
    if (event->call == FS_CREATE && is_mark(event))
        death->unsynced = true;
    if (event->call == FS_SYNC_DIR && is_mark(event))
        death->unsynced = false;
    g_assert_false(event->call == FS_RENAME && death->unsynced);
    return 0;
}

/* The directories of the maildir that were synced. */
static int note_sync(const FsEvent *event, void *data)
{
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", event->fd), *path = g_file_read_link(link, NULL);
    if (event->call == FS_SYNC_DIR)
        g_string_append_printf(data, "%s\n", path + strlen(archiver_place));
    return 0;
}

/* Whenever it dies, and whether or not a reader takes the mail to cur at once: it is there once, and on the disk before
 * the hop is committed, though the one who put it there may not have come to that. */
static void test_killed(const void *data)
{
    const bool reader = data != NULL;
    unsigned deaths = 0, taken = 0;
    place_make();
    void *archiver = archiver_maildir.open(NULL, "", NULL);
    g_assert_true(store(archiver, 0)); /* makes what is made once */
    settle(archiver, 0);
    archiver_maildir.close(archiver);
    for (Death death = {.at = 0};; death = (Death){.at = death.at + 1}) {
        unsigned n = death.at + 1;
        archiver = archiver_maildir.open(NULL, "", NULL);
        fs_set_hook(die_at, &death);
        store(archiver, n);
        fs_set_hook(NULL, NULL);
        archiver_maildir.close(archiver);
        bool read = reader && read_mail(n);
        archiver = archiver_maildir.open(NULL, "", NULL);
        g_autoptr(GString) synced = g_string_new(NULL);
        fs_set_hook(note_sync, synced);
        g_assert_true(store(archiver, n));
        fs_set_hook(NULL, NULL);
        g_assert_nonnull(strstr(synced->str, read ? "/" LIST "/cur\n" : "/" LIST "/new\n"));
        settle(archiver, n);
        archiver_maildir.close(archiver);
        g_assert_cmpint(is_there(n, "cur", ":2,S"), ==, read);
        g_assert_cmpint(is_there(n, "new", ""), ==, !read);
        taken += read;
        if (!death.dead)
            break;
        deaths++;
    }
    g_assert_cmpuint(deaths, >=, 6);
    g_assert_cmpint(taken >= 2, ==, reader);
    g_assert_cmpuint(count_in(".in-hand"), ==, 0);
    place_remove();
}

SUITE("maildir")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/maildir/long", test_long);
    g_test_add_data_func("/maildir/killed", NULL, test_killed);
    g_test_add_data_func("/maildir/killed, and read", "reader", test_killed);
    return g_test_run();
}
