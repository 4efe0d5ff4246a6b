/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Damage, to every kind of entry as it is really made: cut at every byte,
 * every bit flipped. A runner that meets it goes on, tells the damage once, keeps the
 * file byte for byte in corrupt, and never hands out a wrong byte (T11).
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "switchboard/format_internal.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

#define BATCH 400   /* damaged files at once */
#define STEP 13     /* of all changes, unless -m thorough is said */
#define FIRST_DUE INT64_C(1600000000000000)

/* An entry as it is on the disk. */
typedef struct Sample {
    const char *what, *queue;
    uint8_t hash[HASH_SIZE];
    char *octets;
    gsize length;
} Sample;

#define SAMPLES 8
static Sample samples[SAMPLES];
static unsigned sample_count;

static const char *const people[] = {"anne@example.com", "bart@example.com", "cris@example.org", "dora@example.net",
                                     NULL};

/* Takes the only entry of the queue as a sample. */
static void take(Fixture *fixture, const char *what, const char *queue)
{
    g_autofree char *file = fixture_files(fixture, queue, ".msg");
    g_autofree char *path = fixture_file_path(fixture, queue, file);
    Sample *sample = &samples[sample_count++];
    EntryName name;
    g_assert_true(name_parse(file, &name, NULL));
    *sample = (Sample){.what = what, .queue = queue};
    memcpy(sample->hash, name.hash, HASH_SIZE);
    g_assert_true(g_file_get_contents(path, &sample->octets, &sample->length, NULL));
}

/* One hop of the only entry of a queue into others; the first may have recipients. */
static void hop(Fixture *fixture, const char *queue, const char *const *into, const char *const *addresses)
{
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, queue);
    g_autoptr(Outcome) outcome = outcome_new(fixture_claim_one(inbox));
    for (int i = 0; into[i]; i++) {
        Draft *draft = draft_from_entry(into[i], outcome->parent);
        if (i == 0 && addresses)
            fixture_add_recipients(draft, addresses);
        outcome_add(outcome, draft);
    }
    g_autoptr(Hop) one = hop_new(fixture->spool);
    Outcome *batch = outcome;
    g_assert_true(hop_commit(one, &batch, 1, NULL) && hop_settle(one, NULL));
}

static void mark(Fixture *fixture)
{
    g_autofree char *file = fixture_files(fixture, "out", ".msg");
    g_autoptr(Entry) entry = entry_open(spool_queue(fixture->spool, "out", NULL), file, NULL);
    size_t second = strlen(people[0]) + 2, third = second + strlen(people[1]) + 2;
    g_assert_true(entry_mark(entry, &second, 1, RECIPIENT_DONE, NULL) &&
                  entry_mark(entry, &third, 1, RECIPIENT_BOUNCED, NULL) && entry_sync_marks(entry, NULL));
}

static void store_bounce(Fixture *fixture)
{
    Intake intake = {.draft = fixture_draft("bounces", "test.example.com", "Bounce\r\n\r\nno such user\r\n")};
    draft_set_due(intake.draft, FIRST_DUE);
    g_assert_true(intake_store(fixture->spool, &intake, 1, true));
    draft_free(intake.draft);
}

static void make_samples(Fixture *fixture)
{
    static const char *const to_pipeline[] = {"pipeline", NULL}, *const fan_out[] = {"out", "archive", NULL};
    static const char *const to_retry[] = {"retry", NULL}, *const to_shunt[] = {"shunt", NULL};
    g_autofree char *body = g_strdup_printf("Subject: damage\r\n\r\n%0200d\r\n", 7);
    Intake bare = {.draft = draft_new("virgin", json_object())}; /* no list, no message */
    g_assert_true(intake_store(fixture->spool, &bare, 1, false));
    draft_free(bare.draft);
    take(fixture, "bare", "virgin");
    g_free(fixture_store(fixture, "in", body));
    take(fixture, "from intake", "in");
    hop(fixture, "in", to_pipeline, NULL);
    take(fixture, "a hop's child", "pipeline");
    hop(fixture, "pipeline", fan_out, people);
    take(fixture, "archive", "archive");
    mark(fixture);
    take(fixture, "out, marked", "out");
    hop(fixture, "out", to_retry, NULL);
    take(fixture, "retry", "retry");
    store_bounce(fixture);
    take(fixture, "bounces", "bounces");
    hop(fixture, "archive", to_shunt, NULL);
    take(fixture, "shunt", "shunt");
}

/* A way to damage a sample: number n of all its cuts and flips. */
static unsigned changes(const Sample *sample)
{
    return (unsigned)sample->length * 9;
}

/* The damaged octets; *length may be less than the sample's. */
static char *damage(const Sample *sample, unsigned number, gsize *length)
{
    char *octets = g_memdup2(sample->octets, sample->length);
    *length = sample->length;
    if (number < sample->length)
        *length = number;
    else
        octets[(number - sample->length) / 8] ^= (char)(1 << (number - sample->length) % 8);
    return octets;
}

static void put(int dir, const Sample *sample, unsigned number)
{
    EntryName name = {.due = FIRST_DUE + number};
    memcpy(name.hash, sample->hash, HASH_SIZE);
    char file[NAME_SIZE + 8];
    name_format(&name, file);
    g_strlcat(file, ".msg", sizeof file);
    gsize length;
    g_autofree char *octets = damage(sample, number, &length);
    auto_fd fd = openat(dir, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(write(fd, octets, length), ==, (ssize_t)length);
}

/* Check what passed for an entry: only its crash count may be damaged, which is no part of any sum. */
static void check_accepted(const Sample *sample, Entry *entry)
{
    unsigned number = (unsigned)(entry_name(entry)->due - FIRST_DUE);
    g_assert_cmpuint(number, >=, sample->length);
    g_assert_cmpuint((number - sample->length) / 8, ==, FORMAT_CRASHES_OFFSET);
    g_autoptr(GBytes) message = entry_message(entry);
    gsize length;
    const char *octets = g_bytes_get_data(message, &length);
    g_assert_cmpmem(octets, length, sample->octets + sample->length - FORMAT_TAIL_SIZE - length, length);
}

static void check_kept(const Sample *sample, Queue *corrupt, const char *file)
{
    EntryName name;
    g_assert_true(name_parse(file, &name, NULL));
    gsize length;
    g_autofree char *wanted = damage(sample, (unsigned)(name.due - FIRST_DUE), &length);
    auto_fd fd = openat(queue_fd(corrupt), file, O_RDONLY | O_CLOEXEC);
    struct stat status;
    g_assert_cmpint(fstat(fd, &status), ==, 0);
    g_autofree char *kept = g_malloc0((gsize)status.st_size + 1);
    g_assert_cmpint(read(fd, kept, (size_t)status.st_size), ==, status.st_size);
    g_assert_cmpmem(kept, (gsize)status.st_size, wanted, length);
    g_assert_cmpint(unlinkat(queue_fd(corrupt), file, 0), ==, 0);
}

typedef struct Kept {
    const Sample *sample;
    unsigned count;
} Kept;

static void visit(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)name;
    Kept *kept = data;
    g_assert_cmpstr(rest, ==, ".msg");
    check_kept(kept->sample, queue, file);
    kept->count++;
}

static unsigned lines_of(int log)
{
    off_t length = lseek(log, 0, SEEK_END);
    g_autofree char *text = g_malloc0((gsize)length + 1);
    g_assert_cmpint(pread(log, text, (size_t)length, 0), ==, length);
    unsigned lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    return lines;
}

/* Claim what is ready, as a runner does; return the number of those that were accepted. */
static unsigned claim(Fixture *fixture, const Sample *sample, int log)
{
    int loud = dup(STDERR_FILENO);
    dup2(log, STDERR_FILENO);
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, sample->queue);
    GPtrArray *entries = fixture_claim(inbox);
    dup2(loud, STDERR_FILENO);
    close(loud);
    for (guint i = 0; i < entries->len; i++) {
        check_accepted(sample, entries->pdata[i]);
        Outcome *end = outcome_new(entries->pdata[i]);
        g_autoptr(Hop) one = hop_new(fixture->spool);
        g_assert_true(hop_commit(one, &end, 1, NULL));
        outcome_free(end);
    }
    unsigned count = entries->len;
    g_ptr_array_unref(entries);
    return count;
}

static void test_sample(Fixture *fixture, gconstpointer data)
{
    const Sample *sample = data;
    unsigned step = g_test_thorough() ? 1 : STEP, made = 0, accepted = 0, wanted = 0;
    Kept kept = {.sample = sample};
    Queue *queue = spool_queue(fixture->spool, sample->queue, NULL);
    auto_fd log = memfd_create("log", MFD_CLOEXEC);
    for (unsigned number = 0; number < changes(sample);) {
        for (unsigned i = 0; i < BATCH && number < changes(sample); i++, number += step, made++) {
            put(queue_fd(queue), sample, number);
            unsigned at = number < sample->length ? 0 : (unsigned)(number - sample->length);
            /* '0' with one bit flipped is a digit in four cases: 1, 2, 4 and 8. */
            wanted += at / 8 == FORMAT_CRASHES_OFFSET && at % 8 < 4;
        }
        accepted += claim(fixture, sample, log);
        g_assert_true(queue_visit(spool_queue(fixture->spool, "corrupt", NULL), visit, &kept, NULL));
        g_assert_cmpuint(fixture_count(fixture, sample->queue, ""), ==, 0);
    }
    g_assert_cmpuint(accepted, ==, wanted);
    g_assert_cmpuint(accepted + kept.count, ==, made);
    g_assert_cmpuint(lines_of(log), ==, kept.count);
    g_test_message("%s: %zu octets, %u damaged ones, %u in corrupt", sample->what, sample->length, made, kept.count);
}

/* The state of a recipient is in no sum, for it changes in place. No single bit makes one
 * state of another; what does more to that very byte cannot be known. */
static void test_states(void)
{
    static const char states[] = {RECIPIENT_TODO, RECIPIENT_DONE, RECIPIENT_BOUNCED};
    for (size_t i = 0; i < sizeof states; i++)
        for (size_t k = 0; k < sizeof states; k++)
            if (i != k)
                g_assert_cmpint(__builtin_popcount((unsigned)(states[i] ^ states[k])), >=, 2);
}

SUITE("damage")
{
    if (access("/dev/shm", W_OK) == 0)
        g_setenv("TMPDIR", "/dev/shm", TRUE); /* the disk would only be in the way */
    g_test_init(&argc, &argv, NULL);
    Fixture fixture;
    fixture_set_up(&fixture, NULL);
    make_samples(&fixture);
    fixture_tear_down(&fixture, NULL);
    for (unsigned i = 0; i < sample_count; i++) {
        g_autofree char *path = g_strdup_printf("/damage/%s", samples[i].what);
        g_test_add(path, Fixture, &samples[i], fixture_set_up, test_sample, fixture_tear_down);
    }
    g_test_add_func("/damage/states", test_states);
    int failed = g_test_run();
    for (unsigned i = 0; i < sample_count; i++)
        g_free(samples[i].octets);
    return failed;
}
