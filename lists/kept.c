/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/kept.h"

#include <errno.h>
#include <openssl/rand.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/secret.h"
#include "store/outbox.h"
#include "switchboard/meta.h"
#include "switchboard/name.h"

#define LOOKS 3        /* an entry that is renamed while a directory is listed may be missed, once */

/* ---- the key ---- */

static bool read_key(Spool *spool, KeptKey *key, GError **error)
{
    auto_fd fd = fs_open(spool_fd(spool), KEPT_KEY_FILE, false, error);
    if (fd < 0)
        return false;
    unsigned char octets[sizeof key->octets + 1];
    ssize_t got = TEMP_FAILURE_RETRY(pread(fd, octets, sizeof octets, 0));
    if (got < 0)
        return fail_errno(error, FAIL_LATER, "read %s/" KEPT_KEY_FILE, spool_path(spool));
    if (got != sizeof key->octets)
        return fail(error, FAIL_CONFIG, "%s/" KEPT_KEY_FILE " is no key of %zu bytes; put it back from a copy of the "
                    "spool: with another key, mail that waits in the database cannot be read",
                    spool_path(spool), sizeof key->octets);
    memcpy(key->octets, octets, sizeof key->octets);
    return true;
}

static bool make_key(Spool *spool, GError **error)
{
    KeptKey key;
    if (RAND_bytes(key.octets, sizeof key.octets) != 1)
        return fail(error, FAIL_LATER, "OpenSSL gives no random bytes");
    return fs_keep_once(spool_fd(spool), KEPT_KEY_FILE, 0600, key.octets, sizeof key.octets, error);
}

bool kept_key_read(Spool *spool, KeptKey *key, GError **error)
{
    g_autoptr(GError) missing = NULL;
    const char *id = spool_id(spool, error);
    if (!id)
        return false;
    g_strlcpy(key->spool, id, sizeof key->spool);
    if (read_key(spool, key, &missing))
        return true;
    if (g_error_matches(missing, FAIL, FAIL_MISSING))
        return make_key(spool, error) && read_key(spool, key, error);
    return fail_with(error, &missing);
}

/* ---- rows ---- */

static void append_text(GByteArray *all, const char *text)
{
    g_byte_array_append(all, (const guint8 *)text, (guint)strlen(text) + 1);
}

bool kept_add(Store *store, const KeptKey *key, const char *entry, const KeptRow *row, GError **error)
{
    g_autoptr(GByteArray) plain = g_byte_array_new();
    size_t length;
    const void *message = g_bytes_get_data(row->message, &length);
    append_text(plain, row->queue);
    append_text(plain, row->meta);
    append_text(plain, row->recipients);
    g_byte_array_append(plain, message, (guint)length);
    g_autoptr(GBytes) sealed = seal_make(key->octets, entry, plain, error);
    return sealed &&
           outbox_add(store, key->spool, entry, &(OutboxRow){.sealed = sealed, .made_at = row->made_at}, error);
}

static void row_free(KeptRow *row)
{
    g_free(row->queue);
    g_free(row->meta);
    g_free(row->recipients);
    g_clear_pointer(&row->message, g_bytes_unref);
    g_free(row);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KeptRow, row_free)

/* Takes a text off the beginning. False: it does not end. */
static bool take_text(GByteArray *plain, char **text)
{
    const guint8 *end = memchr(plain->data, 0, plain->len);
    if (!end)
        return false;
    guint length = (guint)(end - plain->data);
    g_free(*text);
    *text = g_strndup((const char *)plain->data, length);
    g_byte_array_remove_range(plain, 0, length + 1);
    return true;
}

static KeptRow *open_row(const KeptKey *key, const char *entry, const OutboxRow *kept, GError **error)
{
    g_autoptr(KeptRow) row = g_new0(KeptRow, 1);
    g_autoptr(GByteArray) plain = seal_open(key->octets, entry, kept->sealed);
    if (!plain)
        fail(error, FAIL_NEVER, "what is kept for %s was not sealed with the key of this spool (" KEPT_KEY_FILE ")",
             entry);
    else if (!take_text(plain, &row->queue) || !take_text(plain, &row->meta) || !take_text(plain, &row->recipients))
        fail(error, FAIL_NEVER, "what is kept for %s is cut short", entry);
    else
        row->message = g_bytes_new(plain->data, plain->len);
    row->made_at = kept->made_at;
    return row->message ? g_steal_pointer(&row) : NULL;
}

GPtrArray *kept_of(Store *store, const KeptKey *key, const char *entry, GError **error)
{
    g_autoptr(GPtrArray) sealed = outbox_of(store, entry, error);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)row_free);
    for (guint at = 0; sealed && at < sealed->len; at++) {
        KeptRow *row = open_row(key, entry, sealed->pdata[at], error);
        if (!row)
            return NULL;
        g_ptr_array_add(rows, row);
    }
    return sealed ? g_steal_pointer(&rows) : NULL;
}

/* ---- rows of units ---- */

/* The due time stands behind the name of the queue, as a name of an entry may have another one than its arrival. */
bool kept_add_drafts(Store *store, const KeptKey *key, const char *entry, GPtrArray *drafts, GError **error)
{
    for (guint at = 0; at < drafts->len; at++) {
        Draft *draft = drafts->pdata[at];
        if (!draft_check(draft, error))
            return false;
        const char *const *addresses = draft_addresses(draft);
        g_autoptr(GBytes) message = draft_message(draft);
        g_autofree char *meta = meta_print(draft_meta(draft));
        g_autofree char *recipients = addresses ? g_strjoinv("\n", (char **)addresses) : g_strdup("");
        g_autofree char *queue = g_strdup_printf("%s %" G_GINT64_FORMAT, draft_queue(draft), draft_name(draft)->due);
        const KeptRow row = {
            .queue = queue, .meta = meta, .recipients = recipients, .message = message, .made_at = clock_now()};
        if (!kept_add(store, key, entry, &row, error))
            return false;
    }
    return true;
}

static Draft *row_draft(const KeptRow *row, GError **error)
{
    g_auto(GStrv) target = g_strsplit(row->queue, " ", 2);
    json_t *meta = meta_parse(row->meta, strlen(row->meta), error);
    if (!meta)
        return NULL;
    Draft *draft = draft_new(target[0], meta);
    draft_add_message(draft, row->message);
    if (*row->recipients)
        draft_set_addresses(draft, g_strsplit(row->recipients, "\n", -1));
    if (target[0] && target[1])
        draft_set_due(draft, g_ascii_strtoll(target[1], NULL, 10));
    return draft;
}

GPtrArray *kept_drafts(Store *store, const KeptKey *key, const char *entry, GError **error)
{
    g_autoptr(GPtrArray) rows = kept_of(store, key, entry, error);
    g_autoptr(GPtrArray) drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    for (guint at = 0; rows && at < rows->len; at++) {
        Draft *draft = row_draft(rows->pdata[at], error);
        if (!draft)
            return NULL;
        g_ptr_array_add(drafts, draft);
    }
    return rows ? g_steal_pointer(&drafts) : NULL;
}

/* ---- rows whose entry is gone ---- */

static void note_seen(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    (void)rest; /* a file that is still being written counts, too: a power cut may have undone its publication */
    char digits[HASH_DIGITS + 1];
    name_hash_format(name->hash, digits);
    g_hash_table_remove(data, digits);
}

static bool look(Spool *spool, GHashTable *gone, GError **error)
{
    g_auto(GStrv) names = spool_every_queue(spool, NULL, error);
    for (char **name = names; name && *name && g_hash_table_size(gone) > 0; name++) {
        Queue *queue = spool_queue(spool, *name, error);
        if (!queue || !queue_visit(queue, note_seen, gone, error))
            return false;
    }
    return names != NULL;
}

bool kept_forget_gone(Store *store, Spool *spool, int64_t before, GError **error)
{
    const char *id = spool_id(spool, error);
    g_auto(GStrv) entries = id ? outbox_entries(store, id, before, error) : NULL;
    g_autoptr(GHashTable) gone = g_hash_table_new(g_str_hash, g_str_equal); /* hash -> the entry's name */
    if (!entries)
        return false;
    for (char **entry = entries; *entry; entry++)
        if (strchr(*entry, ':'))
            g_hash_table_insert(gone, strchr(*entry, ':') + 1, *entry);
    for (int looks = 0; looks < LOOKS && g_hash_table_size(gone) > 0; looks++)
        if (!look(spool, gone, error))
            return false;
    GHashTableIter iter;
    gpointer entry;
    g_hash_table_iter_init(&iter, gone);
    while (g_hash_table_iter_next(&iter, NULL, &entry))
        if (!outbox_remove_of(store, entry, error))
            return false;
    return true;
}
