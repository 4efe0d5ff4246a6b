/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The verbs of `listrunner held`, run as programs on a site made here. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/clock.h"
#include "lists/keys.h"
#include "lists/unit.h"
#include "mail/message.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/posts/held.h"
#include "store/store.h"
#include "switchboard/entry.h"
#include "switchboard/spool.h"

#define LIST_ADDRESS "test@example.com"
#define MESSAGE "From: anne@example.com\r\nSubject: hello\r\nMessage-ID: <one@example.com>\r\n\r\nbody\r\n"

typedef struct Site {
    char *directory, *config, *database, *spool_path;
    Store *store;
    Spool *spool;
} Site;

static void site_set_up(Site *site, gconstpointer data)
{
    site->directory = g_dir_make_tmp("listrunner-held-XXXXXX", NULL);
    site->config = g_build_filename(site->directory, "listrunner.conf", NULL);
    site->database = g_build_filename(site->directory, "listrunner.db", NULL);
    site->spool_path = g_build_filename(site->directory, "spool", NULL);
    g_assert_cmpint(g_mkdir(site->spool_path, 0700), ==, 0);
    g_autofree char *text =
        g_strdup_printf("[site]\nhostname = host.example.com\nuser = %s\ntemplate_directory = %s\n"
                        "[spool]\ndirectory = %s\n[store]\npath = %s\n",
                        g_get_user_name(), site->directory, site->spool_path, site->database);
    g_autofree char *folder = g_build_filename(site->directory, "en", NULL);
    g_autofree char *template = g_build_filename(folder, "rejected.txt", NULL);
    g_assert_cmpint(g_mkdir(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(template, "Subject: no to $subject\n\n$posting_address: $reasons\n", -1, NULL));
    g_assert_true(g_file_set_contents(site->config, text, -1, NULL));
    g_autoptr(GError) error = NULL;
    site->store = store_open("sqlite", site->database, true, &error);
    g_assert_no_error(error);
    site->spool = spool_open(site->spool_path, &error);
    g_assert_no_error(error);
    g_assert_true(domain_create(site->store, "example.com", NULL, &error));
    g_autoptr(List) list = list_create(site->store, LIST_ADDRESS, &error);
    g_assert_no_error(error);
}

static void remove_tree(const char *path)
{
    GDir *directory = g_dir_open(path, 0, NULL);
    for (const char *name; directory && (name = g_dir_read_name(directory)) != NULL;) {
        g_autofree char *below = g_build_filename(path, name, NULL);
        remove_tree(below);
    }
    if (directory)
        g_dir_close(directory);
    g_remove(path);
}

static void site_tear_down(Site *site, gconstpointer data)
{
    store_free(site->store);
    spool_free(site->spool);
    remove_tree(site->directory);
    g_free(site->directory);
    g_free(site->config);
    g_free(site->database);
    g_free(site->spool_path);
}

static int64_t hold(Site *site, const char *sender, const char *octets)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Held) held = g_new0(Held, 1);
    held->list_id = g_strdup("test.example.com");
    held->message_id = g_strdup("one@example.com");
    held->subject = g_strdup("hello");
    held->sender = g_strdup(sender);
    held->reason = g_strdup("not a member");
    held->meta = g_strdup("{\"arrival\":1763644800000042,\"list\":\"test.example.com\",\"trace\":\"abcdefabcdef\","
                          "\"to\":\"posting\",\"ordinal\":99,\"shard\":\"x\"}");
    held->held_at = 1763644801000000;
    held->message = g_bytes_new(octets, strlen(octets));
    held_add(site->store, held, &error);
    g_assert_no_error(error);
    return held->number;
}

/* Runs `listrunner -c CONFIG held ...`; words end with NULL. */
static int run(Site *site, char **out, char **err, ...)
{
    const char *top = g_getenv("top_builddir");
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(words, g_build_filename(top ? top : ".", "listrunner", NULL));
    g_ptr_array_add(words, g_strdup("-c"));
    g_ptr_array_add(words, g_strdup(site->config));
    g_ptr_array_add(words, g_strdup("held"));
    va_list list;
    va_start(list, err);
    for (const char *word; (word = va_arg(list, const char *)) != NULL;)
        g_ptr_array_add(words, g_strdup(word));
    va_end(list);
    g_ptr_array_add(words, NULL);
    int status;
    g_autoptr(GError) error = NULL;
    g_spawn_sync(NULL, (char **)words->pdata, NULL, 0, NULL, NULL, out, err, &status, &error);
    g_assert_no_error(error);
    g_assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The one entry of a queue, or NULL when there is none. */
static Entry *only_entry(Site *site, const char *queue)
{
    g_autofree char *path = g_build_filename(site->spool_path, queue, NULL), *file = NULL;
    GDir *directory = g_dir_open(path, 0, NULL);
    for (const char *name; directory && (name = g_dir_read_name(directory)) != NULL;) {
        g_assert_null(file);
        file = g_strdup(name);
    }
    if (directory)
        g_dir_close(directory);
    if (!file)
        return NULL;
    g_autoptr(GError) error = NULL;
    Entry *entry = entry_open(spool_queue(site->spool, queue, NULL), file, &error);
    g_assert_no_error(error);
    return entry;
}

static void test_show(Site *site, gconstpointer data)
{
    int64_t number = hold(site, "anne@example.com", MESSAGE);
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, number);
    g_autofree char *out = NULL, *json = NULL, *whole = NULL, *body = NULL, *err = NULL, *names = NULL;
    g_assert_cmpint(run(site, &out, NULL, "ls", NULL), ==, 0);
    g_assert_nonnull(strstr(out, "not a member"));
    g_assert_cmpint(run(site, &json, NULL, "ls", LIST_ADDRESS, "--json", NULL), ==, 0);
    g_assert_nonnull(strstr(json, "\"sender\":\"anne@example.com\""));
    g_assert_cmpint(run(site, &names, NULL, "ls", "--names", NULL), ==, 0);
    g_assert_cmpint(g_ascii_strtoll(names, NULL, 10), ==, number);
    g_assert_cmpint(run(site, &whole, NULL, "show", text, NULL), ==, 0);
    g_assert_nonnull(strstr(whole, "reason:"));
    g_assert_true(g_str_has_suffix(whole, MESSAGE));
    g_assert_cmpint(run(site, &body, NULL, "show", "--body", text, NULL), ==, 0);
    g_assert_cmpstr(body, ==, "body\r\n");
    g_assert_cmpint(run(site, NULL, &err, "ls", "none@example.com", NULL), ==, 66);
    g_assert_nonnull(strstr(err, "none@example.com"));
}

static void test_errors(Site *site, gconstpointer data)
{
    g_autofree char *missing = NULL, *wrong = NULL, *both = NULL;
    g_assert_cmpint(run(site, NULL, &missing, "accept", "4711", NULL), ==, 66);
    g_assert_nonnull(strstr(missing, "4711"));
    g_assert_cmpint(run(site, NULL, &wrong, "discard", "12x", NULL), ==, 64);
    g_assert_nonnull(strstr(wrong, "'12x'"));
    g_assert_cmpint(run(site, NULL, &both, "show", "1", "--headers", "--body", NULL), ==, 64);
    g_assert_nonnull(strstr(both, "--headers"));
}

static void test_accept(Site *site, gconstpointer data)
{
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, hold(site, "anne@example.com", MESSAGE));
    g_autofree char *out = NULL, *again = NULL;
    g_assert_cmpint(run(site, &out, NULL, "accept", number, NULL), ==, 0);
    g_assert_nonnull(strstr(out, "accepted"));
    g_autoptr(Entry) entry = only_entry(site, "pipeline");
    g_assert_nonnull(entry);
    g_assert_true(meta_bool(entry_meta(entry), KEY_MODERATED));
    g_assert_cmpstr(entry_trace(entry), ==, "abcdefabcdef");
    g_assert_cmpstr(meta_string(entry_meta(entry), KEY_TO, ""), ==, TO_POSTING);
    /* It came long ago; the time in which it may be delivered begins now. */
    g_assert_cmpint(entry_arrival(entry), >, clock_now() - 60 * CLOCK_SECOND);
    g_autoptr(GBytes) message = entry_message(entry);
    g_assert_cmpmem(g_bytes_get_data(message, NULL), g_bytes_get_size(message), MESSAGE, strlen(MESSAGE));
    g_assert_cmpint(run(site, NULL, &again, "accept", number, NULL), ==, 66);
}

/* A post whose queue cannot take it is accepted all the same, once, and goes into the queue when that can take it. What
 * has no mail is not held up. */
static void test_queue_in_the_way(Site *site, gconstpointer data)
{
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, hold(site, "anne@example.com", MESSAGE));
    g_autofree char *other = g_strdup_printf("%" G_GINT64_FORMAT, hold(site, "", MESSAGE));
    g_autofree char *in_the_way = g_build_filename(site->spool_path, "pipeline", NULL), *out = NULL;
    GError *error = NULL;
    g_assert_true(g_file_set_contents(in_the_way, "", 0, NULL));
    g_assert_cmpint(run(site, NULL, NULL, "accept", number, NULL), ==, 0);
    g_assert_cmpint(run(site, NULL, NULL, "accept", number, NULL), ==, 66);
    g_assert_cmpint(run(site, NULL, NULL, "discard", other, NULL), ==, 0);
    g_assert_cmpint(run(site, &out, NULL, "ls", "--names", NULL), ==, 0);
    g_assert_cmpstr(g_strstrip(out), ==, "");
    g_assert_false(unit_settle(site->store, site->spool, true, &error));
    g_clear_error(&error);
    g_assert_cmpint(g_remove(in_the_way), ==, 0);
    g_assert_true(unit_settle(site->store, site->spool, true, &error));
    g_assert_no_error(error);
    g_autoptr(Entry) entry = only_entry(site, "pipeline");
    g_assert_nonnull(entry);
}

static void test_reject(Site *site, gconstpointer data)
{
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, hold(site, "anne@example.com", MESSAGE));
    g_autofree char *before = clock_rfc5322(clock_now());
    g_assert_cmpint(run(site, NULL, NULL, "reject", number, "--reason", "far too long", NULL), ==, 0);
    g_autoptr(Entry) entry = only_entry(site, "virgin");
    g_assert_nonnull(entry);
    g_assert_cmpstr(entry_trace(entry), ==, "abcdefabcdef");
    Recipient recipient;
    g_assert_true(entry_next_recipient(entry, 0, &recipient));
    g_assert_cmpmem(recipient.address, recipient.length, "anne@example.com", strlen("anne@example.com"));
    g_autoptr(GBytes) message = entry_message(entry);
    g_autofree char *text = g_strndup(g_bytes_get_data(message, NULL), g_bytes_get_size(message));
    g_assert_nonnull(strstr(text, "test@example.com: far too long\r\n"));
    g_assert_nonnull(strstr(text, "In-Reply-To: <one@example.com>\r\n"));
    g_assert_nonnull(strstr(text, "Auto-Submitted: auto-replied\r\n"));
    g_assert_nonnull(strstr(text, "Subject: no to hello\r\n"));
    g_assert_null(only_entry(site, "pipeline"));

    /* It is of today, though the post was held long ago: for its reader, and for how long delivery is tried. */
    g_autoptr(Message) notice = message_new(message);
    g_autofree char *date = message_value(notice, "Date"), *after = clock_rfc5322(clock_now());
    const size_t hour = strlen("Fri, 20 Nov 2026 13:");
    g_assert_true(strncmp(date, before, hour) == 0 || strncmp(date, after, hour) == 0);
    g_assert_cmpint(entry_arrival(entry), >, clock_now() - 60 * CLOCK_SECOND);
    g_assert_cmpint(entry_name(entry)->due, >, clock_now() - 60 * CLOCK_SECOND);
}

static void test_reject_tells_no_program(Site *site, gconstpointer data)
{
    static const char *const heads[] = {"Auto-Submitted: auto-replied\r\n", "Precedence: bulk\r\n",
                                        "List-Id: <x.example.org>\r\n",
                                        "Content-Type: multipart/report\r\n"};
    for (size_t i = 0; i <= G_N_ELEMENTS(heads) + 1; i++) {
        g_autofree char *octets = g_strconcat(i < G_N_ELEMENTS(heads) ? heads[i] : "", MESSAGE, NULL);
        const char *sender = i < G_N_ELEMENTS(heads)    ? "anne@example.com"
                             : i == G_N_ELEMENTS(heads) ? ""
                                                        : "x-bounces@y.org";
        g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, hold(site, sender, octets));
        g_autofree char *out = NULL;
        g_assert_cmpint(run(site, &out, NULL, "reject", number, NULL), ==, 0);
        g_assert_nonnull(strstr(out, "not told"));
        g_assert_null(only_entry(site, "virgin"));
    }
}

static void test_discard(Site *site, gconstpointer data)
{
    g_autofree char *one = g_strdup_printf("%" G_GINT64_FORMAT, hold(site, "anne@example.com", MESSAGE));
    g_autofree char *two = g_strdup_printf("%" G_GINT64_FORMAT, hold(site, "", MESSAGE));
    g_autofree char *out = NULL;
    g_assert_cmpint(run(site, NULL, NULL, "discard", one, two, NULL), ==, 0);
    g_assert_cmpint(run(site, &out, NULL, "ls", NULL), ==, 0);
    g_assert_cmpstr(out, ==, "");
    g_assert_null(only_entry(site, "pipeline"));
    g_assert_null(only_entry(site, "virgin"));
}

/* Of a range, what is held is meant. */
static void test_range(Site *site, gconstpointer data)
{
    int64_t first = hold(site, "anne@example.com", MESSAGE), gap = hold(site, "", MESSAGE);
    int64_t last = hold(site, "", MESSAGE), other = hold(site, "", MESSAGE);
    g_autofree char *range = g_strdup_printf("%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT, first, last);
    g_autofree char *back = g_strdup_printf("%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT, last, first);
    g_autofree char *names = NULL, *left = g_strdup_printf("%" G_GINT64_FORMAT "\n", other), *err = NULL, *none = NULL;
    g_assert_true(held_remove(site->store, gap, NULL));
    g_assert_cmpint(run(site, NULL, &err, "discard", back, NULL), ==, 64);
    g_assert_nonnull(strstr(err, "12-15"));
    g_assert_cmpint(run(site, NULL, NULL, "discard", range, NULL), ==, 0);
    g_assert_cmpint(run(site, &names, NULL, "ls", "--names", NULL), ==, 0);
    g_assert_cmpstr(names, ==, left);
    g_assert_cmpint(run(site, NULL, &none, "discard", range, NULL), ==, 66);
    g_assert_nonnull(strstr(none, "there is no held post"));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(Site *, gconstpointer);
    } tests[] = {
        {"/held/show", test_show},
        {"/held/errors", test_errors},
        {"/held/accept", test_accept},
        {"/held/queue-in-the-way", test_queue_in_the_way},
        {"/held/reject", test_reject},
        {"/held/reject-tells-no-program", test_reject_tells_no_program},
        {"/held/discard", test_discard},
        {"/held/range", test_range},
    };
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].name, Site, NULL, site_set_up, tests[i].run, site_tear_down);
    return g_test_run();
}
