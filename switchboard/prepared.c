/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/prepared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "switchboard/suffix_internal.h"

#define GROUP 100 /* files that are open, and synced, at a time */

typedef struct PreparedFile {
    Queue *queue;
    EntryName name;
    char file[FILE_NAME_SIZE];
} PreparedFile;

struct Prepared {
    Spool *spool;
    int lock;
    char tag[PREPARED_TAG_DIGITS + 1];
    GArray *files; /* of PreparedFile: not published yet */
    GPtrArray *queues;
};

/* ---- locks ---- */

/* Lock a tag. FAIL_RACE: another has it. One byte stands for each tag, so that no file is made or removed for a lock:
 * there is no moment at which a temporary is there and its lock is not. Sixty bits of the tag fit into an offset. */
static bool set_lock(int fd, const char *tag, GError **error)
{
    char digits[16];
    g_strlcpy(digits, tag, sizeof digits);
    off_t place = (off_t)g_ascii_strtoull(digits, NULL, 16);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
    if (TEMP_FAILURE_RETRY(fcntl(fd, F_OFD_SETLK, &lock)) == 0)
        return true;
    FailCode code = errno == EAGAIN || errno == EACCES ? FAIL_RACE : FAIL_LATER;
    return fail_errno(error, code, "lock " PREPARED_LOCK_FILE);
}

/* Without tag, it gets one. */
static Prepared *make(Spool *spool, const char *tag, GError **error)
{
    g_autoptr(Prepared) prepared = g_new0(Prepared, 1);
    g_strlcpy(prepared->tag, tag ? tag : "", sizeof prepared->tag);
    prepared->spool = spool;
    prepared->files = g_array_new(FALSE, FALSE, sizeof(PreparedFile));
    prepared->queues = g_ptr_array_new();
    prepared->lock = spool_open_lock(spool, PREPARED_LOCK_FILE, error);
    if (prepared->lock < 0)
        return NULL;
    unsigned char octets[PREPARED_TAG_DIGITS / 2];
    if (!tag && getrandom(octets, sizeof octets, 0) != sizeof octets) { /* of this size it is never cut short */
        fail_errno(error, FAIL_LATER, "getrandom");
        return NULL;
    }
    for (size_t at = 0; !tag && at < sizeof octets; at++)
        g_snprintf(prepared->tag + 2 * at, 3, "%02x", octets[at]);
    if (!set_lock(prepared->lock, prepared->tag, error))
        return NULL;
    return g_steal_pointer(&prepared);
}

Prepared *prepared_new(Spool *spool, GError **error)
{
    return make(spool, NULL, error);
}

Prepared *prepared_adopt(Spool *spool, const char *tag, GError **error)
{
    return make(spool, tag, error);
}

void prepared_free(Prepared *prepared)
{
    if (!prepared)
        return;
    if (prepared->lock >= 0)
        close(prepared->lock);
    g_array_unref(prepared->files);
    g_ptr_array_unref(prepared->queues);
    g_free(prepared);
}

const char *prepared_tag(const Prepared *prepared)
{
    return prepared->tag;
}

char *prepared_queues(const Prepared *prepared)
{
    GString *names = g_string_new(NULL);
    for (guint i = 0; i < prepared->queues->len; i++)
        g_string_append_printf(names, "%s%s", i > 0 ? " " : "", queue_name(prepared->queues->pdata[i]));
    return g_string_free(names, FALSE);
}

/* ---- write ---- */

static bool write_group(Prepared *prepared, GPtrArray *drafts, guint from, GError **error)
{
    FsSync syncs[2 * GROUP];
    guint count = MIN(drafts->len - from, GROUP), files = 0;
    g_autoptr(GPtrArray) queues = g_ptr_array_new();
    bool done = true;
    while (done && files < count) {
        Draft *draft = drafts->pdata[from + files];
        PreparedFile file = {.queue = spool_target(prepared->spool, draft_queue(draft), error)};
        int fd = -1;
        if (file.queue) {
            file.name = *draft_name(draft);
            suffix_prepared(&file.name, prepared->tag, file.file);
            fd = draft_write(draft, file.queue, file.file, error);
        }
        done = fd >= 0;
        if (!done)
            continue;
        g_array_append_val(prepared->files, file);
        if (!g_ptr_array_find(prepared->queues, file.queue, NULL))
            g_ptr_array_add(prepared->queues, file.queue);
        syncs[files++] = (FsSync){.fd = fd};
        if (!g_ptr_array_find(queues, file.queue, NULL))
            g_ptr_array_add(queues, file.queue);
    }
    for (guint i = 0; i < queues->len; i++)
        syncs[files + i] = (FsSync){.fd = queue_fd(queues->pdata[i]), .directory = true};
    done = done && fs_sync_group(syncs, files + queues->len, error);
    for (guint i = 0; i < files; i++)
        close(syncs[i].fd);
    return done;
}

bool prepared_write(Prepared *prepared, GPtrArray *drafts, GError **error)
{
    for (guint from = 0; from < drafts->len; from += GROUP)
        if (!write_group(prepared, drafts, from, error)) {
            prepared_withdraw(prepared);
            return false;
        }
    return true;
}

/* ---- publish or withdraw ---- */

/* Another, who was told the same, may have published the file. */
static bool publish(PreparedFile *file, GError **error)
{
    g_autoptr(GError) fault = NULL;
    return suffix_publish(file->queue, &file->name, file->file, &fault) || fail_unless(error, FAIL_MISSING, &fault);
}

void prepared_publish(Prepared *prepared)
{
    for (guint i = 0; i < prepared->files->len; i++) {
        g_autoptr(GError) error = NULL;
        if (!publish(&g_array_index(prepared->files, PreparedFile, i), &error))
            log_error("%s; it is stored, and put into its queue later", error->message);
    }
    g_array_set_size(prepared->files, 0);
}

void prepared_withdraw(Prepared *prepared)
{
    for (guint i = 0; i < prepared->files->len; i++) {
        g_autoptr(GError) error = NULL;
        const PreparedFile *file = &g_array_index(prepared->files, PreparedFile, i);
        if (!suffix_unlink(file->queue, file->file, &error))
            log_warn("%s; it belongs to nothing, and is removed later", error->message);
    }
    g_array_set_size(prepared->files, 0);
}

/* ---- settle ---- */

bool prepared_is_tag(const char *rest)
{
    char tag[PREPARED_TAG_DIGITS + 1];
    return suffix_parse_prepared(rest, tag);
}

static void note_file(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    GHashTable *units = data; /* tag -> GArray of PreparedFile */
    char tag[PREPARED_TAG_DIGITS + 1];
    if (!suffix_parse_prepared(rest, tag))
        return;
    GArray *files = g_hash_table_lookup(units, tag);
    if (!files) {
        files = g_array_new(FALSE, FALSE, sizeof(PreparedFile));
        g_hash_table_insert(units, g_strdup(tag), files);
    }
    PreparedFile found = {.queue = queue, .name = *name};
    g_strlcpy(found.file, file, sizeof found.file);
    g_array_append_val(files, found);
}

/* Judge is the function that is asked, with its data. */
typedef struct Judge {
    PreparedDecide *decide;
    void *data;
} Judge;

/* With the lock held, so the writer is dead. */
static bool settle_files(GArray *files, const char *tag, const Judge *judge, GError **error)
{
    bool committed, done = true;
    for (guint i = files->len; i > 0; i--) { /* its writer may have published or withdrawn one since it was listed */
        const PreparedFile *file = &g_array_index(files, PreparedFile, i - 1);
        if (faccessat(queue_fd(file->queue), file->file, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
            g_array_remove_index_fast(files, i - 1);
    }
    if (files->len == 0)
        return true;
    if (!judge->decide(judge->data, tag, &committed, error))
        return false;
    log_info("queue %s: %u prepared entries of a change that was cut short are %s",
             queue_name(g_array_index(files, PreparedFile, 0).queue), files->len,
             committed ? "published" : "removed, for it was not made");
    for (guint i = 0; i < files->len; i++) {
        PreparedFile *file = &g_array_index(files, PreparedFile, i);
        GError **first = done ? error : NULL;
        done = (committed ? publish(file, first) : suffix_unlink(file->queue, file->file, first)) && done;
    }
    return done;
}

/* *living: its writer, or another who settles it, has the lock. */
static bool settle_unit(GArray *files, const char *tag, const Judge *judge, bool *living, GError **error)
{
    g_autoptr(GError) fault = NULL;
    Spool *spool = queue_spool(g_array_index(files, PreparedFile, 0).queue);
    auto_fd lock = spool_open_lock(spool, PREPARED_LOCK_FILE, error);
    *living = false;
    if (lock < 0)
        return false;
    if (set_lock(lock, tag, &fault))
        return settle_files(files, tag, judge, error);
    *living = g_error_matches(fault, FAIL, FAIL_RACE);
    if (!*living)
        g_propagate_error(error, g_steal_pointer(&fault));
    return *living;
}

bool prepared_settle(Queue *queue, PreparedDecide *decide, void *data, GHashTable *left, GError **error)
{
    g_autoptr(GHashTable) units = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    const Judge judge = {decide, data};
    GHashTableIter iter;
    gpointer tag, files;
    bool done = true;
    if (!queue_visit(queue, note_file, units, error))
        return false;
    g_hash_table_iter_init(&iter, units);
    while (g_hash_table_iter_next(&iter, &tag, &files)) {
        bool living, settled = settle_unit(files, tag, &judge, &living, done ? error : NULL);
        if (left && (living || !settled))
            g_hash_table_add(left, g_strdup(tag));
        done = done && settled;
    }
    return done;
}
