/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Recovery on a disk that fails: what cannot be listed, read, unlinked or synced. Nothing is decided from what
 * nobody knows, and no sync that failed counts because it was asked for again.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "switchboard/hop.h"
#include "switchboard/operate.h"
#include "switchboard/recover.h"
#include "t/switchboard/fixture.h"
#include "t/switchboard/unreadable.h"

#define WHOLE ((Slice){0, 1})
#define CHILDREN 3

static const char *const queues[CHILDREN + 1] = {"out", "archive", "out", NULL};

/* ---- what fails ---- */

typedef struct Disk {
    FsCall fails;
    int in;             /* calls of that kind until one fails; -1: none does */
    GHashTable *dirty;  /* descriptors of directories that were changed and not synced since */
    unsigned preserved; /* renames to .psv, none of them while another directory was dirty */
} Disk;

static bool is_name_call(FsCall call)
{
    return call == FS_CREATE || call == FS_RENAME || call == FS_UNLINK;
}

static int on_disk(const FsEvent *event, void *data)
{
    Disk *disk = data;
    if (event->call == disk->fails && disk->in >= 0 && disk->in-- == 0)
        return EIO;
    if (event->call == FS_RENAME && g_str_has_suffix(event->to, ".psv")) {
        g_hash_table_remove(disk->dirty, GINT_TO_POINTER(event->fd));
        g_assert_cmpuint(g_hash_table_size(disk->dirty), ==, 0);
        disk->preserved++;
    }
    if (is_name_call(event->call))
        g_hash_table_add(disk->dirty, GINT_TO_POINTER(event->fd));
    else if (event->call == FS_SYNC_DIR)
        g_hash_table_remove(disk->dirty, GINT_TO_POINTER(event->fd));
    return 0;
}

static void disk_begin(Disk *disk, FsCall fails, int in)
{
    *disk = (Disk){.fails = fails, .in = in, .dirty = g_hash_table_new(NULL, NULL)};
    fs_set_hook(on_disk, disk);
}

static void disk_end(Disk *disk)
{
    fs_set_hook(NULL, NULL);
    g_clear_pointer(&disk->dirty, g_hash_table_unref);
}

/* Bytes of files of in, as the kernel has them: a sync that fails tells so once, and leaves them clean. A later one
 * succeeds, and writes none of them. */
typedef enum Octet { OCTET_ON_DISK, OCTET_WRITTEN, OCTET_LOST } Octet;

typedef struct Lossy {
    GHashTable *files; /* inode -> GByteArray of Byte */
    int syncs;         /* until one fails, of a file of in; -1: none does */
    bool keeps;        /* what is to be unlinked, as if the process had been killed before that */
    unsigned failed, sound;
} Lossy;

static GByteArray *octets_of(Lossy *lossy, int fd)
{
    struct stat status;
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);
    g_autofree char *path = g_file_read_link(link, NULL);
    if (!path || !strstr(path, "/in/"))
        return NULL;
    g_assert_cmpint(fstat(fd, &status), ==, 0);
    gpointer inode = GSIZE_TO_POINTER(status.st_ino);
    GByteArray *octets = g_hash_table_lookup(lossy->files, inode);
    if (!octets) {
        octets = g_byte_array_new();
        g_hash_table_insert(lossy->files, inode, octets);
    }
    for (off_t i = octets->len; i < status.st_size; i++)
        g_byte_array_append(octets, (const uint8_t[]){OCTET_ON_DISK}, 1);
    return octets;
}

static void write_octets(GByteArray *octets, const FsEvent *event)
{
    guint from = event->call == FS_WRITE ? octets->len : (guint)event->offset, to = from + (guint)event->length;
    if (to > octets->len)
        g_byte_array_set_size(octets, to);
    memset(octets->data + from, OCTET_WRITTEN, to - from);
}

static int on_lossy_disk(const FsEvent *event, void *data)
{
    Lossy *lossy = data;
    bool writes = event->call == FS_WRITE || event->call == FS_PWRITE;
    if (lossy->keeps && event->call == FS_UNLINK)
        return EIO;
    GByteArray *octets = writes || event->call == FS_SYNC_FILE ? octets_of(lossy, event->fd) : NULL;
    if (octets && writes)
        write_octets(octets, event);
    if (!octets || writes)
        return 0;
    bool fails = lossy->syncs >= 0 && lossy->syncs-- == 0;
    for (guint i = 0; i < octets->len; i++) {
        g_assert_true(fails || octets->data[i] != OCTET_LOST);
        if (octets->data[i] == OCTET_WRITTEN)
            octets->data[i] = fails ? OCTET_LOST : OCTET_ON_DISK;
    }
    lossy->failed += fails;
    lossy->sound += !fails;
    return fails ? EIO : 0;
}

static void lossy_begin(Lossy *lossy, int syncs)
{
    *lossy = (Lossy){.files = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_byte_array_unref),
                     .syncs = syncs};
    fs_set_hook(on_lossy_disk, lossy);
}

static void lossy_end(Lossy *lossy)
{
    fs_set_hook(NULL, NULL);
    g_clear_pointer(&lossy->files, g_hash_table_unref);
}

static int listings_until_fault = -1; /* then one fails */

/* In place of the library's. */
DIR *fdopendir(int fd)
{
    static DIR *(*original)(int);
    if (!original) {
        void *symbol = dlsym(RTLD_NEXT, "fdopendir");
        memcpy(&original, &symbol, sizeof original);
    }
    if (listings_until_fault >= 0 && listings_until_fault-- == 0) {
        errno = EMFILE;
        return NULL;
    }
    return original(fd);
}

/* ---- what is there ---- */

/* Renames that the hop of one entry makes before it dies: the first decides it. */
typedef enum Death { UNDECIDED, DECIDED } Death;

/* All calls fail from the rename on that comes after so many others. */
static int die_in_rename(const FsEvent *event, void *data)
{
    int *left = data;
    *left -= event->call == FS_RENAME;
    return *left < 0 ? EIO : 0;
}

/* An entry of in and its three children, of a run that died so. */
static void die_in(Fixture *fixture, Death death)
{
    g_free(fixture_store(fixture, "in", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Outcome) outcome = outcome_new(fixture_claim_one(inbox));
    for (int k = 0; queues[k]; k++)
        outcome_add(outcome, draft_from_entry(queues[k], outcome->parent));
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    int renames = (int)death;
    fs_set_hook(die_in_rename, &renames);
    g_assert_false(hop_commit(hop, &outcome, 1, NULL));
    fs_set_hook(NULL, NULL);
    fixture_reopen(fixture);
    for (int k = 0; queues[k]; k++)
        g_assert_nonnull(spool_queue(fixture->spool, queues[k], NULL));
    g_assert_true(spool_queue(fixture->spool, "in", NULL) && spool_queue(fixture->spool, "shunt", NULL));
}

static unsigned children(Fixture *fixture, const char *suffix)
{
    return fixture_count(fixture, "out", suffix) + fixture_count(fixture, "archive", suffix);
}

static Queue *in_of(Fixture *fixture)
{
    return spool_queue(fixture->spool, "in", NULL);
}

static void begin_anew(Fixture *fixture)
{
    fixture_tear_down(fixture, NULL);
    fixture_set_up(fixture, NULL);
}

/* ---- tests ---- */

/* A runner that lives may go on where nothing was changed, and only there. */
static void test_not_listed(Fixture *fixture, gconstpointer data)
{
    unsigned harmless = 0, unsettled = 0;
    bool met = true;
    for (int at = 0; met; at++) {
        die_in(fixture, UNDECIDED);
        fixture_set_state(fixture, ".bak", ".msg");
        RecoverReport report = {0};
        listings_until_fault = at;
        bool sound = recover_slice(in_of(fixture), WHOLE, true, &report, NULL);
        met = listings_until_fault < 0;
        listings_until_fault = -1;
        g_assert_true(sound == !met);
        g_assert_true(report.unsettled == (met && children(fixture, "") < CHILDREN));
        harmless += met && !report.unsettled;
        unsettled += report.unsettled;
        begin_anew(fixture);
    }
    g_assert_cmpuint(harmless, >, 3);
    g_assert_cmpuint(unsettled, >, 0);
}

/* R5 that fails. */
static void test_not_taken_back(Fixture *fixture, gconstpointer data)
{
    static const FsCall calls[] = {FS_UNLINK, FS_SYNC_DIR};
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        unsigned unsettled = 0;
        bool met = true;
        for (int at = 0; met; at++) {
            die_in(fixture, UNDECIDED);
            fixture_set_state(fixture, ".bak", ".msg");
            RecoverReport report = {0};
            Disk disk;
            disk_begin(&disk, calls[i], at);
            bool sound = recover_slice(in_of(fixture), WHOLE, true, &report, NULL);
            met = disk.in < 0;
            disk_end(&disk);
            g_assert_true(sound == !met && report.unsettled == met);
            unsettled += met;
            begin_anew(fixture);
        }
        g_assert_cmpuint(unsettled, >=, CHILDREN);
    }
}

/* A stray that came back when a person has sent its copy would be sent again. */
static void test_stray_goes(Fixture *fixture, gconstpointer data)
{
    die_in(fixture, DECIDED);
    fixture_lose(fixture, "in", ".done");
    RecoverReport report = {0};
    Disk disk;
    disk_begin(&disk, FS_CREATE, -1);
    g_assert_true(recover_slice(in_of(fixture), WHOLE, true, &report, NULL));
    g_assert_cmpuint(g_hash_table_size(disk.dirty), ==, 0);
    disk_end(&disk);
    g_assert_cmpuint(report.strays, ==, CHILDREN);
}

/* The parent's bytes cannot be read: it is set aside. */
static void set_unread_aside(Fixture *fixture)
{
    for (int thorough = 0; thorough < 2; thorough++) {
        RecoverReport report = {0};
        unreadable_files = thorough == 0;
        g_assert_true(recover_slice(in_of(fixture), WHOLE, thorough == 1, &report, NULL));
        unreadable_files = false;
        g_assert_cmpuint(report.preserved, ==, 1 - thorough);
        g_assert_cmpuint(report.strays + report.rolled_back + report.rolled_forward, ==, 0);
        g_assert_cmpuint(fixture_count(fixture, "in", ".psv"), ==, 1);
        g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
        g_assert_cmpuint(children(fixture, ".tmp"), ==, CHILDREN);
    }
}

static void done(void *data, void *token, const GError *error)
{
    (void)data;
    (void)token;
    g_assert_no_error(error);
}

typedef bool Command(Operate *operate, Queue *queue, EntryName *name, GError **error);

static void command(Fixture *fixture, Command *run)
{
    EntryName name;
    g_autofree char *file = fixture_files(fixture, "in", ".psv");
    g_assert_true(name_parse(file, &name, NULL));
    g_autoptr(Operate) operate = operate_open(fixture->spool, false, done, NULL, NULL);
    g_assert_true(run(operate, in_of(fixture), &name, NULL) && operate_end(operate, NULL));
}

/* S5 with children: they are the operator's, as the parent is. */
static void test_unread(Fixture *fixture, gconstpointer data)
{
    die_in(fixture, UNDECIDED);
    set_unread_aside(fixture);
    command(fixture, operate_retry_preserved);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
    g_assert_cmpuint(children(fixture, ""), ==, 0);
    begin_anew(fixture);
    die_in(fixture, UNDECIDED);
    set_unread_aside(fixture);
    command(fixture, operate_delete_preserved);
    g_assert_cmpuint(fixture_count(fixture, "in", "") + children(fixture, ""), ==, 0);
}

/* Children that a start took back before it died, perhaps not for good: of what is set aside no other start sees that
 * there may have been any. */
static void test_unread_after_undoing(Fixture *fixture, gconstpointer data)
{
    RecoverReport report = {0};
    Disk disk;
    die_in(fixture, UNDECIDED);
    disk_begin(&disk, FS_SYNC_DIR, 0);
    g_assert_false(recover_slice(in_of(fixture), WHOLE, false, &report, NULL));
    g_assert_cmpuint(children(fixture, ""), ==, 0);
    unreadable_files = true;
    g_assert_true(recover_slice(in_of(fixture), WHOLE, false, &report, NULL));
    unreadable_files = false;
    disk_end(&disk);
    g_assert_cmpuint(disk.preserved, ==, 1);
}

/* T11 that cannot copy: the entry is set aside, and should it be sound then, and decided with others, the copy that was
 * begun must not come back. */
static void test_not_copied(Fixture *fixture, gconstpointer data)
{
    for (int at = 0; at < 2; at++) { /* of the copy, of its directory */
        g_free(fixture_store(fixture, "in", "damaged"));
        g_autofree char *file = fixture_files(fixture, "in", ".msg");
        g_autofree char *path = fixture_file_path(fixture, "in", file);
        g_assert_cmpint(truncate(path, 200), ==, 0);
        g_assert_nonnull(spool_queue(fixture->spool, "corrupt", NULL));
        g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
        Disk disk;
        disk_begin(&disk, at == 0 ? FS_SYNC_FILE : FS_SYNC_DIR, 0);
        g_autoptr(GPtrArray) entries = fixture_claim(inbox);
        disk_end(&disk);
        g_assert_cmpuint(entries->len, ==, 0);
        g_assert_cmpuint(disk.preserved, ==, 1);
        g_assert_cmpuint(fixture_count(fixture, "corrupt", ""), ==, 0);
        begin_anew(fixture);
    }
}

static int refuse_file(const FsEvent *event, void *data)
{
    return event->call == FS_RENAME && g_str_has_prefix(event->name, data) ? EPERM : 0;
}

/* R4 of a file that stands in the way itself: those beside it are put back, and its runner starts. */
static void test_immovable(Fixture *fixture, gconstpointer data)
{
    g_autofree char *name = fixture_store(fixture, "in", "sticks");
    g_free(fixture_store(fixture, "in", "moves"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_assert_cmpuint(entries->len, ==, 2);
    for (guint i = 0; i < entries->len; i++)
        entry_free(entries->pdata[i]);
    RecoverReport report = {0};
    fs_set_hook(refuse_file, name);
    g_assert_true(recover_slice(in_of(fixture), WHOLE, false, &report, NULL));
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(report.rolled_back, ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
    g_autofree char *left = fixture_files(fixture, "in", ".bak");
    g_assert_true(g_str_has_prefix(left, name));
}

#define LONG_AGO (-INT64_C(3600000000)) /* an age: what is an hour young, too */

/* R8 of what intake could not sync before it was killed: by a start, by a runner that lives, by its sweep; and their
 * own sync may fail, too. It stays until it is on the disk, and is not swept. */
static void test_intake_not_synced(Fixture *fixture, gconstpointer data)
{
    for (int way = 0; way < 3; way++)
        for (int fails = -1; fails < 2; fails++) { /* how often R8's own sync does, less one */
            Lossy lossy;
            unsigned swept, completed;
            Queue *in = in_of(fixture);
            Intake intake = {.draft = fixture_draft("in", "t", "message")};
            lossy_begin(&lossy, 0);
            lossy.keeps = true;
            g_assert_false(intake_store(fixture->spool, &intake, 1, true));
            lossy.keeps = false;
            for (int try = -1; try <= fails; try++) {
                RecoverReport report = {0};
                lossy.syncs = try < fails ? 0 : -1;
                g_assert_cmpuint(fixture_count(fixture, "in", ".tmp"), ==, 1);
                g_assert_true(way == 0   ? recover_slice(in, WHOLE, false, &report, NULL)
                              : way == 1 ? recover_intake(in, WHOLE, LONG_AGO, &completed, NULL)
                                         : recover_sweep(in, WHOLE, LONG_AGO, &swept, NULL));
            }
            g_assert_cmpuint(lossy.failed, ==, 2 + fails);
            g_assert_cmpuint(lossy.sound, ==, 1);
            lossy_end(&lossy);
            g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
            g_clear_error(&intake.error);
            draft_free(intake.draft);
            begin_anew(fixture);
        }
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("/recover faults/not listed", test_not_listed);
    ADD("/recover faults/not taken back", test_not_taken_back);
    ADD("/recover faults/stray goes", test_stray_goes);
    ADD("/recover faults/unread", test_unread);
    ADD("/recover faults/unread after undoing", test_unread_after_undoing);
    ADD("/recover faults/not copied", test_not_copied);
    ADD("/recover faults/immovable", test_immovable);
    ADD("/recover faults/intake not synced", test_intake_not_synced);
    return g_test_run();
}
