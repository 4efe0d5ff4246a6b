/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Give each test an empty index of an archive (store/archive/archive_index.h), and add messages to it that are written
 * in a few words. Every failure ends the test. */
#include "store/archive/archive_search.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"

#define DAY (86400 * CLOCK_SECOND)
#define BEGIN (INT64_C(1700000000) * CLOCK_SECOND)

typedef struct Fixture {
    char *directory;
    ArchiveIndex *index;
} Fixture;

#define assert_ok(call, error)    \
    do {                          \
        bool done_ = (call);      \
        g_assert_no_error(error); \
        g_assert_true(done_);     \
    } while (0)

static inline void fixture_open(Fixture *fixture, const void *unused)
{
    g_autoptr(GError) error = NULL;
    fixture->directory = g_dir_make_tmp("archive-XXXXXX", NULL);
    fixture->index = archive_index_open(fixture->directory, true, &error);
    assert_ok(fixture->index != NULL, error);
}

static inline void fixture_close(Fixture *fixture, const void *unused)
{
    const char *const words[] = {"rm", "-rf", fixture->directory, NULL};
    archive_index_free(fixture->index);
    g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
    g_free(fixture->directory);
}

/* A message in a few words. */
typedef struct Mail {
    const char *name;       /* its hash */
    const char *references; /* names of the messages that it refers to, with blanks between; NULL: none */
    const char *subject;    /* "Re: ..." for a reply; NULL: "about" */
    const char *text;       /* NULL: none */
    int minute;             /* of its arrival, after BEGIN */
    const char *list;       /* NULL: l.example.org */
} Mail;

static inline bool is_reply(const char *subject)
{
    return g_str_has_prefix(subject, "Re: ");
}

/* Add a message with this date. Return false if the index has it already. */
static inline bool add_with(ArchiveIndex *index, const Mail *mail, int64_t date)
{
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) references = g_strsplit(mail->references ? mail->references : "", " ", -1);
    g_autofree char *file = g_strdup_printf("%d.%s", mail->minute, mail->name);
    g_autofree char *spare = g_strconcat("spare ", file, NULL);
    const char *subject = mail->subject ? mail->subject : "about";
    const ArchivePost post = {.list = mail->list ? mail->list : "l.example.org",
                              .file = file,
                              .hash = mail->name,
                              .spare_hash = spare,
                              .references = mail->references && *mail->references ? (const char *const *)references
                                                                                  : NULL,
                              .name = "Anne Vogel",
                              .address = "anne@example.org",
                              .subject = subject,
                              .topic = is_reply(subject) ? subject + 4 : subject,
                              .reply = is_reply(subject),
                              .arrival = BEGIN + mail->minute * 60 * CLOCK_SECOND,
                              .date = date,
                              .size = 1000,
                              .text = mail->text,
                              .text_length = mail->text ? strlen(mail->text) : 0};
    bool added;
    assert_ok(archive_index_add(index, &post, &added, &error), error);
    return added;
}

/* Add a message whose date is its arrival, as add_with() does. */
static inline bool add(ArchiveIndex *index, const Mail *mail)
{
    return add_with(index, mail, BEGIN + mail->minute * 60 * CLOCK_SECOND);
}

/* Return the path of the database's file, to which the link archive_index_path() leads; g_free(). */
static inline char *file_of(const Fixture *fixture)
{
    g_autofree char *link = archive_index_path(fixture->directory), *own = g_path_get_dirname(link);
    g_autofree char *target = g_file_read_link(link, NULL);
    return g_build_filename(own, target, NULL);
}

/* Return the number that the index has for a list. */
static inline int64_t number_of(ArchiveIndex *index, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveList) list = archive_index_list(index, name, &error);
    g_assert_no_error(error);
    return list->number;
}

static inline int64_t list_of(ArchiveIndex *index)
{
    return number_of(index, "l.example.org");
}

/* Search, and return the hashes of the messages that were found, with blanks between; g_free(). */
static inline char *found_text(ArchiveIndex *index, const char *text, const ArchiveSearch *search)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveQuery) query = archive_query_new(text);
    g_auto(ArchiveFound) found = {0};
    assert_ok(archive_index_search(index, query, search, &found, &error), error);
    GString *hashes = g_string_new(NULL);
    for (guint i = 0; i < found.messages->len; i++)
        g_string_append_printf(hashes, "%s%s", i > 0 ? " " : "", ((ArchiveMessage *)found.messages->pdata[i])->hash);
    return g_string_free(hashes, FALSE);
}

/* Assert that a search in the list l.example.org finds messages with these hashes, in this order. */
static inline void assert_found(ArchiveIndex *index, const char *text, const char *wanted)
{
    int64_t list = list_of(index);
    const ArchiveSearch search = {.lists = &list, .list_count = 1, .addresses = true, .limit = 100};
    g_autofree char *found = found_text(index, text, &search);
    if (strcmp(found, wanted) != 0)
        g_test_message("search for: %s", text);
    g_assert_cmpstr(found, ==, wanted);
}

#define TEST(path, function) g_test_add(path, Fixture, NULL, fixture_open, function, fixture_close)
