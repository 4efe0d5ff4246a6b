/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Numbers such as S3, T5 and R4 are those of INTERNALS.md, which has each state and each transition. */
#include "switchboard/hop.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/suffix_internal.h"

/* Files held open between writing and syncing, and the part of the descriptors that they may have: more are synced in
 * rounds. */
#define OPEN_FILES_MAX 400
#define OPEN_FILES_PART 4
/* 48 bits keep an ordinal exact in every JSON reader. */
#define ORDINAL_OCTETS 6

typedef struct Owed {
    Queue *queue;
    EntryName parent;
    const char *suffix; /* decided, or claimed of one that was taken */
} Owed;

struct Hop {
    Spool *spool;
    const Hand *hand;
    GArray *owed;         /* of Owed: parents in S4, to be unlinked */
    GArray *spent;        /* of Owed: entries that were taken, and after them the parent that took them */
    GPtrArray *owed_dirs; /* of Queue: publications to be synced first */
    int along;            /* hop_sync_along() */
    size_t open_files_max;
};

/* The batch in hand. */
typedef struct HopBatch {
    Outcome **outcomes;
    size_t count;
    GArray *births; /* of Birth */
} HopBatch;

/* One child on its way. */
typedef struct Birth {
    Outcome *outcome;
    Queue *queue;
    EntryName name;
    int fd;
    char file[FILE_NAME_SIZE]; /* tagged */
} Birth;

static Hop *new_by(Spool *spool, const Hand *hand)
{
    Hop *hop = g_new0(Hop, 1);
    hop->spool = spool;
    hop->hand = hand;
    hop->owed = g_array_new(FALSE, FALSE, sizeof(Owed));
    hop->spent = g_array_new(FALSE, FALSE, sizeof(Owed));
    hop->owed_dirs = g_ptr_array_new();
    hop->along = -1;
    hop->open_files_max = fs_files_allowed(OPEN_FILES_MAX, OPEN_FILES_PART);
    return hop;
}

Hop *hop_new(Spool *spool)
{
    return new_by(spool, &hand_runner);
}

Hop *hop_new_operator(Spool *spool)
{
    return new_by(spool, &hand_operator);
}

void hop_sync_along(Hop *hop, int fd)
{
    hop->along = fd;
}

void hop_free(Hop *hop)
{
    if (!hop)
        return;
    g_array_unref(hop->owed);
    g_array_unref(hop->spent);
    g_ptr_array_unref(hop->owed_dirs);
    g_free(hop);
}

Outcome *outcome_new(Entry *parent)
{
    Outcome *outcome = g_new0(Outcome, 1);
    outcome->parent = parent;
    outcome->drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    return outcome;
}

void outcome_free(Outcome *outcome)
{
    if (!outcome)
        return;
    g_ptr_array_unref(outcome->drafts); /* drafts may borrow from the parent */
    g_clear_pointer(&outcome->taken, g_array_unref);
    entry_free(outcome->parent);
    g_clear_error(&outcome->error);
    g_free(outcome);
}

void outcome_add(Outcome *outcome, Draft *draft)
{
    json_t *meta = draft_meta(draft);
    if (!json_object_get(meta, META_TRACE))
        meta_set_string(meta, META_TRACE, entry_trace(outcome->parent));
    if (!json_object_get(meta, META_ARRIVAL))
        meta_set_integer(meta, META_ARRIVAL, entry_arrival(outcome->parent));
    if (!json_object_get(meta, META_ORDINAL)) {
        /* It follows from the parent's hash and the child's place: unique, and the same when the same hop is made
         * again. */
        uint8_t digest[EVP_MAX_MD_SIZE];
        uint8_t seed[HASH_SIZE + sizeof(guint)];
        memcpy(seed, entry_name(outcome->parent)->hash, HASH_SIZE);
        memcpy(seed + HASH_SIZE, &outcome->drafts->len, sizeof(guint));
        if (EVP_Digest(seed, sizeof seed, digest, NULL, EVP_sha1(), NULL) != 1)
            g_error("SHA-1 is not available in OpenSSL");
        int64_t ordinal = 0;
        for (int i = 0; i < ORDINAL_OCTETS; i++)
            ordinal = ordinal << 8 | digest[i];
        meta_set_integer(meta, META_ORDINAL, ordinal);
    }
    g_ptr_array_add(outcome->drafts, draft);
}

void outcome_take(Outcome *outcome, const EntryName *name)
{
    if (!outcome->taken)
        outcome->taken = g_array_new(FALSE, FALSE, sizeof(EntryName));
    g_array_append_val(outcome->taken, *name);
}

static void add_unique(GPtrArray *set, gpointer member)
{
    if (!g_ptr_array_find(set, member, NULL))
        g_ptr_array_add(set, member);
}

static void close_file(Birth *birth)
{
    if (birth->fd >= 0)
        close(birth->fd);
    birth->fd = -1;
}

/* The outcome failed: its parent stays claimed, and retract() will take back
 * its children, as recovery would for a parent in S3. */
static void give_up(GArray *births, Outcome *outcome, const GError *why)
{
    if (!outcome->error)
        outcome->error = g_error_copy(why);
    for (guint i = 0; i < births->len; i++) {
        Birth *birth = &g_array_index(births, Birth, i);
        if (birth->outcome != outcome)
            continue;
        close_file(birth);
        birth->outcome = NULL;
    }
}

/* Removes the children given up, durably: a child that stayed would be
 * published with those of the parent's next try, should that be rolled forward. */
static bool retract(GArray *births, GError **error)
{
    g_autoptr(GPtrArray) dirs = g_ptr_array_new();
    for (guint i = 0; i < births->len; i++) {
        const Birth *birth = &g_array_index(births, Birth, i);
        if (birth->outcome)
            continue;
        if (!suffix_unlink(birth->queue, birth->file, error))
            return false;
        add_unique(dirs, birth->queue);
    }
    for (guint i = 0; i < dirs->len; i++)
        if (!fs_sync_dir(queue_fd(dirs->pdata[i]), error))
            return false;
    return true;
}

/* Syncs the open files of births; those whose sync failed fail their outcome. */
static void sync_files(GArray *births)
{
    g_autofree FsSync *syncs = g_new0(FsSync, births->len);
    size_t used = 0;
    for (guint i = 0; i < births->len; i++) {
        Birth *birth = &g_array_index(births, Birth, i);
        if (birth->fd >= 0)
            syncs[used++] = (FsSync){.fd = birth->fd, .owner = birth};
    }
    g_autoptr(GError) error = NULL;
    fs_sync_group(syncs, used, &error);
    for (size_t i = 0; i < used; i++)
        close_file(syncs[i].owner);
    for (size_t i = 0; i < used; i++) {
        const Birth *birth = syncs[i].owner;
        if (syncs[i].result != 0 && birth->outcome)
            give_up(births, birth->outcome, error);
    }
}

/* T5, first half. Files beyond open_files_max are synced on the way. */
static void write_children(Hop *hop, HopBatch *batch)
{
    size_t open_files = 0;
    for (size_t i = 0; i < batch->count; i++) {
        Outcome *outcome = batch->outcomes[i];
        bool written = true;
        for (guint k = 0; k < outcome->drafts->len && written; k++, open_files++) {
            if (open_files >= hop->open_files_max) {
                sync_files(batch->births);
                open_files = 0;
            }
            Draft *draft = outcome->drafts->pdata[k];
            Queue *queue = outcome->error ? NULL : spool_target(hop->spool, draft_queue(draft), &outcome->error);
            written = queue != NULL;
            if (!written)
                continue;
            Birth birth = {.outcome = outcome, .queue = queue, .name = *draft_name(draft)};
            suffix_tagged(hop->hand, &birth.name, entry_queue(outcome->parent), entry_name(outcome->parent)->hash,
                          birth.file);
            /* A file that an undone run of the same hop left behind is ours to remove (R5). */
            if (faccessat(queue_fd(queue), birth.file, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
                fs_unlink(queue_fd(queue), birth.file, NULL);
            birth.fd = draft_write(draft, queue, birth.file, &outcome->error);
            written = birth.fd >= 0;
            g_array_append_val(batch->births, birth); /* one that failed too: its directory was touched */
        }
        if (!written)
            give_up(batch->births, outcome, outcome->error);
    }
}

/* T5, second half: files, directories, what is owed and what goes along, in one
 * group. False when what is owed, or goes along, could not be made durable. */
static bool sync_children(Hop *hop, const HopBatch *batch, GError **error)
{
    GArray *births = batch->births;
    g_autoptr(GPtrArray) dirs = g_ptr_array_new();
    for (guint i = 0; i < hop->owed_dirs->len; i++)
        add_unique(dirs, hop->owed_dirs->pdata[i]);
    for (guint i = 0; i < births->len; i++)
        if (g_array_index(births, Birth, i).outcome)
            add_unique(dirs, g_array_index(births, Birth, i).queue);
    g_autofree FsSync *syncs = g_new0(FsSync, dirs->len + births->len + 2);
    size_t used = 0;
    for (guint i = 0; i < dirs->len; i++)
        syncs[used++] = (FsSync){.fd = queue_fd(dirs->pdata[i]), .directory = true, .owner = dirs->pdata[i]};
    for (guint i = 0; i < births->len; i++) {
        Birth *birth = &g_array_index(births, Birth, i);
        if (birth->fd >= 0)
            syncs[used++] = (FsSync){.fd = birth->fd, .owner = birth};
    }
    if (hop->along >= 0)
        syncs[used].fd = hop->along;
    g_autoptr(GError) fault = NULL;
    bool clean = fs_sync_group(syncs, used + (hop->along >= 0), &fault);
    for (guint i = 0; i < births->len; i++)
        close_file(&g_array_index(births, Birth, i));
    if (clean)
        return true;
    bool lost = hop->along >= 0 && syncs[used].result != 0;
    for (guint i = 0; i < dirs->len; i++)
        lost |= syncs[i].result != 0 && g_ptr_array_find(hop->owed_dirs, dirs->pdata[i], NULL);
    if (lost)
        return fail_with(error, &fault);
    for (size_t i = 0; i < used; i++)
        for (guint k = 0; syncs[i].result != 0 && k < births->len; k++) {
            const Birth *birth = &g_array_index(births, Birth, k);
            if (birth->outcome && (birth == syncs[i].owner || birth->queue == syncs[i].owner))
                give_up(births, birth->outcome, fault);
        }
    return true;
}

typedef bool Unlink(int dir_fd, const char *name, GError **error);

static bool unlink_first(GArray *owed, guint count, Unlink *how, GError **error)
{
    for (guint i = 0; i < count; i++) {
        const Owed *one = &g_array_index(owed, Owed, i);
        char file[FILE_NAME_SIZE];
        suffix_file(&one->parent, one->suffix, file);
        if (!how(queue_fd(one->queue), file, error)) {
            g_prefix_error(error, "queue %s: ", queue_name(one->queue));
            return false;
        }
    }
    if (count > 0)
        g_array_remove_range(owed, 0, count);
    return true;
}

/* The publications of the batches before are durable: their parents go (T8), and of those taken some (T8a). A file
 * system may need milliseconds to free each file: for those taken, which may be thousands, a thread waits. */
static bool unlink_owed(Hop *hop, GError **error)
{
    guint portion = MIN(hop->spent->len, MAX(HOP_PORTION, hop->spent->len / HOP_PORTION));
    g_ptr_array_set_size(hop->owed_dirs, 0);
    return unlink_first(hop->owed, hop->owed->len, fs_unlink, error) &&
           unlink_first(hop->spent, portion, fs_unlink_gone, error);
}

/* T6. */
static bool commit_parents(const Hop *hop, const HopBatch *batch, GError **error)
{
    Queue *queue = NULL;
    for (size_t i = 0; i < batch->count; i++) {
        Outcome *outcome = batch->outcomes[i];
        if (outcome->error || outcome->drafts->len == 0)
            continue;
        char from[FILE_NAME_SIZE], to[FILE_NAME_SIZE];
        suffix_file(entry_name(outcome->parent), hop->hand->claimed, from);
        suffix_file(entry_name(outcome->parent), hop->hand->decided, to);
        g_autoptr(GError) fault = NULL;
        if (fs_rename(queue_fd(entry_queue(outcome->parent)), from, to, &fault))
            queue = entry_queue(outcome->parent);
        else
            give_up(batch->births, outcome, fault);
    }
    if (!queue || fs_sync_dir(queue_fd(queue), error))
        return true;
    g_prefix_error(error, "queue %s: ", queue_name(queue));
    return false;
}

/* Note what the next hop makes durable and then unlinks: the directories of the children, and the entries that are
 * spent. Taken entries go first: while their taker is there, nobody needs to know that they are spent. */
static void owe(Hop *hop, const HopBatch *batch)
{
    for (guint i = 0; i < batch->births->len; i++)
        if (g_array_index(batch->births, Birth, i).outcome)
            add_unique(hop->owed_dirs, g_array_index(batch->births, Birth, i).queue);
    for (size_t i = 0; i < batch->count; i++) {
        const Outcome *outcome = batch->outcomes[i];
        if (outcome->error || outcome->drafts->len == 0)
            continue;
        GArray *list = outcome->taken ? hop->spent : hop->owed;
        Owed owed = {.queue = entry_queue(outcome->parent), .suffix = hop->hand->claimed};
        for (guint k = 0; outcome->taken && k < outcome->taken->len; k++) {
            owed.parent = g_array_index(outcome->taken, EntryName, k);
            g_array_append_val(list, owed);
        }
        owed.parent = *entry_name(outcome->parent);
        owed.suffix = hop->hand->decided;
        g_array_append_val(list, owed);
    }
}

bool hop_commit(Hop *hop, Outcome **outcomes, size_t count, GError **error)
{
    g_autoptr(GArray) births = g_array_new(FALSE, FALSE, sizeof(Birth));
    HopBatch batch = {.outcomes = outcomes, .count = count, .births = births};
    write_children(hop, &batch);
    if (!sync_children(hop, &batch, error))
        return false;
    /* A parent without children just ends: nothing hangs on it any more. */
    for (size_t i = 0; i < count; i++) {
        Outcome *outcome = outcomes[i];
        if (outcome->error || outcome->drafts->len > 0)
            continue;
        char file[FILE_NAME_SIZE];
        suffix_file(entry_name(outcome->parent), hop->hand->claimed, file);
        if (fs_unlink(queue_fd(entry_queue(outcome->parent)), file, &outcome->error))
            entry_set_gone(outcome->parent);
    }
    if (!commit_parents(hop, &batch, error))
        return false;
    for (guint i = 0; i < births->len; i++) { /* T7 */
        Birth *birth = &g_array_index(births, Birth, i);
        if (birth->outcome && !suffix_publish(birth->queue, &birth->name, birth->file, error))
            return false;
    }
    if (!unlink_owed(hop, error))
        return false;
    owe(hop, &batch);
    return retract(births, error);
}

bool hop_settle(Hop *hop, GError **error)
{
    g_autofree FsSync *syncs = g_new0(FsSync, hop->owed_dirs->len + 1);
    for (guint i = 0; i < hop->owed_dirs->len; i++)
        syncs[i] = (FsSync){.fd = queue_fd(hop->owed_dirs->pdata[i]), .directory = true};
    return fs_sync_group(syncs, hop->owed_dirs->len, error) && unlink_owed(hop, error);
}

bool hop_settle_all(Hop *hop, GError **error)
{
    do {
        if (!hop_settle(hop, error))
            return false;
    } while (hop_owes(hop));
    return true;
}

bool hop_owes(const Hop *hop)
{
    return hop->owed->len > 0 || hop->spent->len > 0;
}
