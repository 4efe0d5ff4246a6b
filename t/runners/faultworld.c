/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/faultworld_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"

#define LARGE (150 * 1024) /* is mapped */

FaultWorld faultworld;

#define LATER_RECIPIENTS "c" /* deferred once */

const Plan fault_plans[FAULT_MESSAGES] = {
    [0] = {WORKED, 0, {NULL}, 0},
    [1] = {WORKED, 0, {"a"}, 0},
    [2] = {WORKED, 0, {"bc", "", "d"}, 0},
    [3] = {NEVER, 0, {NULL}, 0},
    [4] = {LATER, 0, {"e"}, 0},
    [5] = {WORKED, 0, {""}, LARGE},
    [6] = {DAMAGED, 0, {NULL}, 0},
    [7] = {POISON, 0, {NULL}, 0},
    [8] = {UNDONE, 0, {"f", ""}, 0},
    [9] = {DECIDED, 0, {"g", ""}, 0},
    [10] = {WORKED, 1, {"h", "", "i"}, 0},
    [11] = {WORKED, 0, {"j", "k"}, 0},
};

static GBytes *message_octets(int number, unsigned nonce)
{
    GString *text = g_string_new(NULL);
    g_string_printf(text, "Message: %c.%u\r\n\r\n", 'A' + number, nonce);
    while (text->len < 700 + fault_plans[number].length)
        g_string_append_printf(text, "%-70zu\r\n", text->len);
    return g_string_free_to_bytes(text);
}

static Draft *draft_of(const char *queue, GBytes *octets, int64_t ordinal)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, "test.example.com");
    meta_set_integer(meta, META_ARRIVAL, ARRIVAL + ordinal);
    meta_set_integer(meta, META_ORDINAL, ordinal);
    Draft *draft = draft_new(queue, meta);
    draft_add_message(draft, octets);
    return draft;
}

/* The message whose hash is in the slice that the plan wants. */
Draft *fault_message_draft(int number)
{
    for (unsigned nonce = 0;; nonce++) {
        g_autoptr(GBytes) octets = message_octets(number, nonce);
        Draft *draft = draft_of("in", octets, number + 1);
        if (slice_of(draft_name(draft)->hash, 2) == fault_plans[number].slice)
            return draft;
        draft_free(draft);
    }
}

int fault_number_of(GBytes *octets)
{
    gsize length;
    const char *text = g_bytes_get_data(octets, &length);
    int number = length > 11 && g_str_has_prefix(text, "Message: ") ? text[9] - 'A' : -1;
    if (number < 0 || number >= FAULT_MESSAGES)
        return -1;
    g_autoptr(GBytes) right = message_octets(number, (unsigned)strtoul(text + 11, NULL, 10));
    return g_bytes_equal(octets, right) ? number : -1;
}

int fault_entry_number(Entry *entry)
{
    g_autoptr(GBytes) octets = entry_message(entry);
    return fault_number_of(octets);
}

bool fault_is_poison(Entry *entry)
{
    int number = fault_entry_number(entry);
    return number >= 0 && fault_plans[number].fate == POISON;
}

/* ---- the runners ---- */

static const char *next_address(void *data, GError **error)
{
    (void)error;
    const char **at = data;
    static char address[] = "?@example.com";
    address[0] = **at;
    return address[0] ? ((*at)++, address) : NULL;
}

void fault_add_kids(const Plan *plan, Outcome *outcome)
{
    for (int i = 0; i < 3 && plan->kids[i]; i++) {
        bool archive = plan->kids[i][0] == '\0';
        Draft *draft = draft_from_entry(archive ? "archive" : "out", outcome->parent);
        if (!archive) {
            const char **at = g_new(const char *, 1);
            *at = plan->kids[i];
            draft_set_recipients(draft, next_address, at, g_free);
        }
        outcome_add(outcome, draft);
    }
}

static bool decide(Entry *entry, Outcome *outcome, GError **error)
{
    int number = fault_entry_number(entry);
    g_assert_cmpint(number, >=, 0);
    const Plan *plan = &fault_plans[number];
    if (plan->fate == NEVER)
        return fail(error, FAIL_NEVER, "this can never be done");
    if (plan->fate == POISON) /* its count could not be read; faultworld_work() ends it */
        return fail(error, FAIL_LATER, "it would crash");
    if (plan->fate == LATER && clock_now() < g_get_real_time() + 86400 * CLOCK_SECOND)
        return fail(error, FAIL_LATER, "not yet");
    fault_add_kids(plan, outcome);
    return true;
}

static bool bounce(char recipient, GError **error)
{
    g_autofree char *text = g_strdup_printf("Bounce: %c\r\n", recipient);
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    Spool *spool = spool_open(faultworld.spool_path, error);
    if (!spool)
        return false;
    Intake intake = {.draft = draft_of("bounces", octets, recipient)};
    draft_set_due(intake.draft, ARRIVAL);
    bool stored = intake_store(spool, &intake, 1, true);
    draft_free(intake.draft);
    spool_free(spool);
    if (intake.error)
        g_propagate_error(error, intake.error);
    return stored;
}

/* As in runners/outgoing: what cannot be marked or synced ends the process. */
static void mark(Entry *entry, const Recipient *recipient, char state)
{
    g_autoptr(GError) error = NULL;
    if (!entry_mark(entry, &recipient->offset, 1, state, &error) || !entry_sync_marks(entry, &error))
        log_fatal(CHILD_EXIT_LATER, "%s", error->message);
}

static bool deliver(Entry *entry, Outcome *outcome, GError **error)
{
    bool first_try = strcmp(queue_name(entry_queue(entry)), "out") == 0, later = false;
    Recipient recipient;
    for (size_t at = 0; entry_next_recipient(entry, at, &recipient); at = recipient.next) {
        char letter = *recipient.address;
        bool refused = strchr(REFUSED, letter) != NULL, wait = first_try && strchr(LATER_RECIPIENTS, letter);
        later = later || wait;
        if (recipient.state != RECIPIENT_TODO || wait)
            continue;
        if (refused && !bounce(letter, error))
            return false;
        if (!refused)
            faultworld.outside->delivered[letter - 'a']++;
        mark(entry, &recipient, refused ? RECIPIENT_BOUNCED : RECIPIENT_DONE);
    }
    if (later)
        outcome_add(outcome, draft_from_entry("retry", entry));
    return true;
}

/* Into a file of the entry's hash, so that a second time changes nothing. */
static bool archive(Entry *entry, GError **error)
{
    auto_fd dir = fs_open_dir(AT_FDCWD, faultworld.path, false, error);
    auto_fd folder = dir < 0 ? -1 : fs_open_dir(dir, "archived", false, error);
    if (folder < 0)
        return false;
    const char *hash = entry_text(entry) + NAME_LENGTH - HASH_DIGITS;
    g_autofree char *part = g_strconcat(hash, ".part", NULL);
    fs_unlink(folder, part, NULL);
    auto_fd fd = fs_create(folder, part, error);
    g_autoptr(GBytes) octets = entry_message(entry);
    return fd >= 0 && fs_write(fd, g_bytes_get_data(octets, NULL), g_bytes_get_size(octets), error) &&
           fs_sync_file(fd, error) && fs_rename(folder, part, hash, error) && fs_sync_dir(folder, error);
}

bool faultworld_handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    (void)runner;
    const char *queue = queue_name(entry_queue(entry));
    if (strcmp(queue, "in") == 0)
        return decide(entry, outcome, error);
    return strcmp(queue, "archive") == 0 ? archive(entry, error) : deliver(entry, outcome, error);
}

static const int taken[] = {1, 2, 4, 5, 11}; /* by the phase intake */

void faultworld_intake(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Spool) spool = spool_open(faultworld.spool_path, &error);
    if (!spool)
        log_fatal(CHILD_EXIT_LATER, "cannot start: %s", error->message);
    Intake group[G_N_ELEMENTS(taken)] = {0};
    for (size_t i = 0; i < G_N_ELEMENTS(taken); i++)
        group[i].draft = fault_message_draft(taken[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(taken); i++)
        faultworld.outside->refused |= 1U << taken[i]; /* until it is said otherwise */
    intake_store(spool, group, G_N_ELEMENTS(taken), false);
    for (size_t i = 0; i < G_N_ELEMENTS(taken); i++) {
        char name[NAME_SIZE];
        name_format(draft_name(group[i].draft), name);
        if (group[i].error)
            log_error("%s %s", name, group[i].error->message);
        else
            faultworld.outside->acknowledged |= 1U << taken[i];
        g_clear_error(&group[i].error);
        draft_free(group[i].draft);
    }
}
