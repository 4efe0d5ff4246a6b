/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Refused mail is kept for its time and within its size, and nothing fails where it cannot be. */
#include "lists/posts/refused.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/meta.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define ANT "ant.example.com"
#define BEE "bee.example.com"
#define DAY (86400 * CLOCK_SECOND)

typedef struct Place {
    char *directory, *refused;
    Config *config;
    int64_t now;
} Place;

static Config *config_of(const Place *place, const char *more)
{
    GError *error = NULL;
    g_autofree char *path = g_build_filename(place->directory, "listrunner.conf", NULL);
    g_autofree char *text = g_strdup_printf("[spool]\nmin_free = 0\n[refused]\ndirectory = %s\n%s", place->refused,
                                            more);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    Config *config = config_load(path, true, &error);
    g_assert_no_error(error);
    return config;
}

static void place_open(Place *place, const void *more)
{
    place->directory = g_dir_make_tmp("refused-XXXXXX", NULL);
    place->refused = g_build_filename(place->directory, "kept", NULL);
    place->config = config_of(place, more);
    place->now = clock_now();
}

static void place_close(Place *place, const void *more)
{
    const char *const words[] = {"rm", "-rf", place->directory, NULL};
    (void)more;
    g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
    config_free(place->config);
    g_free(place->refused);
    g_free(place->directory);
}

static void keep(const Place *place, const char *list_id, int64_t arrival, const char *trace, size_t size)
{
    g_autofree char *body = g_strnfill(size, 'x'), *text = g_strconcat("Subject: ", trace, "\r\n\r\n", body, NULL);
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    g_autoptr(json_t) meta = json_pack("{ss}", "sender", "anne@example.org");
    const Refused mail = {.list_id = (char *)list_id,
                          .arrival = arrival,
                          .trace = (char *)trace,
                          .fate = (char *)REFUSED_DISCARDED,
                          .reasons = (char *)"It has \"spam\"\nin it.",
                          .meta = meta,
                          .octets = octets};
    refused_keep(place->config, &mail);
}

/* The traces of a list's mails, in order. */
static void assert_kept(const Place *place, const char *list_id, int64_t since, const char *expected)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) names = refused_names(place->config, list_id, since, &error);
    g_assert_no_error(error);
    g_autoptr(GString) all = g_string_new(NULL);
    for (guint at = 0; at < names->len; at++)
        g_string_append_printf(all, "%s ", strchr(names->pdata[at], '.') + 1);
    g_assert_cmpstr(all->str, ==, expected);
}

static void assert_mode(const char *path, unsigned mode)
{
    struct stat status;
    g_assert_cmpint(stat(path, &status), ==, 0);
    g_assert_cmpuint(status.st_mode & 07777, ==, mode);
}

static void test_as_it_came(Place *place, const void *more)
{
    (void)more;
    GError *error = NULL;
    keep(place, ANT, place->now - 20, "b", 3);
    keep(place, ANT, place->now - 30, "a", 3);
    keep(place, BEE, place->now - 10, "c", 3);
    keep(place, ANT, place->now - 30, "a", 5000); /* the same once more */
    assert_kept(place, ANT, 0, "a b ");
    assert_kept(place, ANT, place->now - 20, "b ");
    assert_kept(place, BEE, 0, "c ");
    assert_kept(place, "none.example.com", 0, "");
    g_autoptr(GPtrArray) names = refused_names(place->config, ANT, 0, &error);
    g_auto(Refused) mail = {0};
    assert_ok(refused_read(place->config, ANT, names->pdata[0], &mail, &error), error);
    g_assert_cmpstr(mail.reasons, ==, "It has \"spam\"\nin it.");
    g_assert_cmpstr(mail.fate, ==, REFUSED_DISCARDED);
    g_assert_cmpstr(meta_string(mail.meta, "sender", NULL), ==, "anne@example.org");
    g_assert_cmpint(mail.arrival, ==, place->now - 30);
    g_autoptr(GBytes) octets = g_bytes_new_static("Subject: a\r\n\r\nxxx", 17);
    g_assert_true(g_bytes_equal(mail.octets, octets));
    g_autofree char *own = g_build_filename(place->refused, ANT, NULL);
    g_autofree char *file = g_build_filename(own, names->pdata[0], NULL);
    assert_mode(place->refused, 0700);
    assert_mode(own, 0700);
    assert_mode(file, 0600);
    /* One that is damaged, and one that has gone. */
    g_assert_true(g_file_set_contents(file, "{\"fate\":", -1, NULL));
    refused_clear(&mail);
    g_assert_false(refused_read(place->config, ANT, names->pdata[0], &mail, &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_cmpint(g_unlink(file), ==, 0);
    g_assert_false(refused_read(place->config, ANT, names->pdata[0], &mail, &error));
    assert_failed(FAIL_MISSING, error);
}

static void tidy(const Place *place, int64_t expected)
{
    GError *error = NULL;
    int64_t removed = 0;
    assert_ok(refused_tidy(place->config, place->now, &removed, &error), error);
    g_assert_cmpint(removed, ==, expected);
}

static void test_expired(Place *place, const void *more)
{
    (void)more;
    tidy(place, 0); /* there is no directory */
    keep(place, ANT, place->now - 31 * DAY, "old", 3);
    keep(place, BEE, place->now - 40 * DAY, "older", 3);
    keep(place, ANT, place->now - 29 * DAY, "new", 3);
    assert_kept(place, ANT, 0, "new "); /* before anybody tidied */
    tidy(place, 2);
    assert_kept(place, ANT, 0, "new ");
    /* A post that is kept no more goes when the site says so, and is not seen from then on. */
    config_free(place->config);
    place->config = config_of(place, "keep = 0\n");
    assert_kept(place, ANT, 0, "");
    keep(place, ANT, place->now, "never", 3);
    tidy(place, 1);
    tidy(place, 0);
}

static void test_size(Place *place, const void *more)
{
    (void)more;
    static const char *const traces[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"};
    for (int at = 0; at < 12; at++) /* of 104 KiB as blocks count, 9 fit */
        keep(place, at % 2 ? BEE : ANT, place->now - (20 - at), traces[at], 100 * 1024);
    assert_kept(place, ANT, 0, "0 2 4 6 8 ");
    assert_kept(place, BEE, 0, "1 3 5 7 ");
    tidy(place, 2); /* the oldest, of whichever list */
    assert_kept(place, ANT, 0, "2 4 6 8 ");
    assert_kept(place, BEE, 0, "3 5 7 ");
    keep(place, ANT, place->now, "new", 100 * 1024);
    assert_kept(place, ANT, 0, "2 4 6 8 new ");
    /* Small ones count as blocks, so that there are not too many of them either. */
    tidy(place, 1);
    for (int at = 0; at < 300; at++) {
        g_autofree char *trace = g_strdup_printf("s%d", at);
        keep(place, "small.example.com", place->now, trace, 1);
    }
    g_autoptr(GPtrArray) names = refused_names(place->config, "small.example.com", 0, NULL);
    g_assert_cmpuint(names->len, ==, (1024 - 7 * 104) / 4);
}

static int no_space(const FsEvent *event, void *data)
{
    const FsCall *call = data;
    return event->call == *call && (event->call != FS_WRITE || event->length > 1000) ? ENOSPC : 0;
}

/* The names of all files below the place. */
static void assert_files(const Place *place, const char *list_id, guint expected)
{
    g_autofree char *path = g_build_filename(place->refused, list_id, NULL);
    g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
    guint count = 0;
    while (folder && g_dir_read_name(folder))
        count++;
    g_assert_cmpuint(count, ==, expected);
}

static void test_full(Place *place, const void *more)
{
    (void)more;
    static const FsCall calls[] = {FS_CREATE, FS_WRITE, FS_RENAME};
    keep(place, ANT, place->now - 9, "before", 5000);
    for (size_t at = 0; at < G_N_ELEMENTS(calls); at++) {
        FsCall call = calls[at];
        fs_set_hook(no_space, &call);
        for (int times = 0; times < 20; times++) /* each would take a tenth of the size */
            keep(place, ANT, place->now, "full", 100 * 1024);
        fs_set_hook(NULL, NULL);
        assert_files(place, ANT, 1);
    }
    keep(place, ANT, place->now, "after", 100 * 1024);
    assert_kept(place, ANT, 0, "before after ");
    /* A place that is none. */
    g_autofree char *old = g_steal_pointer(&place->refused);
    place->refused = g_build_filename(place->directory, "listrunner.conf", "below", NULL);
    config_free(place->config);
    place->config = config_of(place, "keep = 30d\n");
    keep(place, ANT, place->now, "nowhere", 3);
    tidy(place, 0);
    g_free(place->refused);
    place->refused = g_steal_pointer(&old);
}

/* A process that was killed has left a file without its name. */
static void test_abandoned(Place *place, const void *more)
{
    (void)more;
    keep(place, ANT, place->now, "whole", 3);
    g_autofree char *path = g_build_filename(place->refused, ANT, "tmp.1.0000000000000001.x", NULL);
    g_assert_true(g_file_set_contents(path, "{", -1, NULL));
    tidy(place, 0);
    assert_files(place, ANT, 2);
    place->now += 2 * 3600 * CLOCK_SECOND;
    tidy(place, 0);
    assert_files(place, ANT, 1);
    assert_kept(place, ANT, 0, "whole ");
}

/* The directory of something else is named by mistake. */
static void test_foreign(Place *place, const void *more)
{
    (void)more;
    static const char *const names[] = {"letter.txt", "template", ".hidden", "12.short"};
    keep(place, ANT, place->now, "whole", 3);
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        g_autofree char *path = g_build_filename(place->refused, ANT, names[at], NULL);
        g_assert_true(g_file_set_contents(path, "precious", -1, NULL));
    }
    place->now += 2 * 3600 * CLOCK_SECOND;
    tidy(place, 0);
    assert_files(place, ANT, 1 + G_N_ELEMENTS(names));
}

static void choose(const Refused *mail, bool *gone, void *data)
{
    g_string_append_printf(data, "%s %s ", mail->list_id, mail->trace);
    *gone = g_str_equal(mail->trace, "b");
}

static void test_each(Place *place, const void *more)
{
    (void)more;
    GError *error = NULL;
    g_autoptr(GString) all = g_string_new(NULL);
    keep(place, ANT, place->now - 3, "a", 3);
    keep(place, ANT, place->now - 2, "b", 3);
    keep(place, BEE, place->now - 1, "c", 3);
    assert_ok(refused_each(place->config, choose, all, &error), error);
    g_assert_cmpstr(all->str, ==, ANT " a " ANT " b " BEE " c ");
    assert_kept(place, ANT, 0, "a ");
    assert_kept(place, BEE, 0, "c ");
}

#define ADD(path, more, function) g_test_add(path, Place, more, place_open, function, place_close)

SUITE("refused")
{
    g_test_init(&argc, &argv, NULL);
    ADD("/refused/as it came, for its owner alone", "keep = 30d\n", test_as_it_came);
    ADD("/refused/expired", "keep = 30d\n", test_expired);
    ADD("/refused/size of all", "keep = 30d\nsize = 1M\n", test_size);
    ADD("/refused/disk full", "keep = 30d\nsize = 1M\n", test_full);
    ADD("/refused/abandoned", "keep = 30d\n", test_abandoned);
    ADD("/refused/files of others stay", "keep = 30d\n", test_foreign);
    ADD("/refused/each, and removed", "keep = 30d\n", test_each);
    return g_test_run();
}
