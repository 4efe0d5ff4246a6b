/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Deciding about a held post. It must neither be lost nor go out twice, though the row is in the
 * database and the entry in the spool, and a crash may come between:
 *
 *   count the attempt, commit
 *   begin a writing transaction          (nobody else decides, and no runner can commit effects)
 *   store the entry, under a name that follows from the held row alone
 *   remove the row, commit
 *
 * A crash before the commit leaves the row, and the decision is made again: the row then tells of more than one
 * attempt, and only then the queue is looked through. The entry is not stored a second time when it still is in its
 * queue, or when its runner has recorded its effects; under the lock it cannot pass from the one to the other unseen.
 *
 * A notice of rejection bears the date and the reason of the attempt, so its name differs each time: it is known by its
 * Message-ID while it is in its queue. Its runner records no effects, so it may come twice. A post may not.
 */
#include "cli/held_decide.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cli/held_notice.h"
#include "cli/plain.h"
#include "cli/queue_files.h"
#include "runners/keys.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"

static char *reason;

typedef struct Decision {
    Store *store;
    Spool *spool; /* NULL for discard */
    const char *templates;
    const char *past; /* "accepted" */
    bool told;        /* out, of reject: the sender gets a notice */
    bool notice;      /* what is made is known by its Message-ID, not by its hash */
    Draft *(*make)(struct Decision *decision, const Held *held, GError **error); /* NULL without error: no entry */
} Decision;

bool held_number(const char *text, int64_t *number, GError **error)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && *number > 0)
        return true;
    g_autofree char *shown = g_utf8_make_valid(text, -1);
    command_usage(error, "'%s' is no number of a held post; listrunner held ls shows them", shown);
    return false;
}

typedef struct Seek {
    Queue *queue;
    const uint8_t *hash;
    const char *message_id; /* NULL: the hash tells */
    bool found;
} Seek;

static bool seek_entry(const QueueFile *file, const char *name, void *data)
{
    Seek *seek = data;
    if (file->state == QUEUE_FOREIGN || file->state == QUEUE_WRITING)
        return true;
    if (seek->message_id) {
        QueueState state;
        g_autoptr(Entry) entry = queue_files_open(seek->queue, file, &state, NULL);
        seek->found = entry && strcmp(meta_string(entry_meta(entry), KEY_MESSAGE_ID, ""), seek->message_id) == 0;
    } else {
        seek->found = memcmp(file->name.hash, seek->hash, HASH_SIZE) == 0;
    }
    return !seek->found;
}

/* Did an earlier attempt store this draft? A post by its hash, for the due time in the
 * name changes when the runner must wait. */
static bool stored_before(const Decision *decision, Draft *draft, bool *before, GError **error)
{
    const uint8_t *hash = draft_name(draft)->hash;
    char digits[HASH_DIGITS + 1];
    name_hash_format(hash, digits);
    g_autofree char *effect = g_strdup_printf("%s:%s", draft_queue(draft), digits);
    int64_t number;
    if (!store_find_effect(decision->store, effect, before, &number, error))
        return false;
    if (*before)
        return true;
    Queue *queue = spool_queue(decision->spool, draft_queue(draft), error);
    const char *id = decision->notice ? meta_string(draft_meta(draft), KEY_MESSAGE_ID, NULL) : NULL;
    Seek seek = {.queue = queue, .hash = hash, .message_id = id};
    if (!queue || !queue_files_each(queue, seek_entry, &seek, error))
        return false;
    *before = seek.found;
    return true;
}

static bool store_draft(const Decision *decision, const Held *held, Draft *draft, GError **error)
{
    bool again = held->attempts > 1, before = false;
    if (again && !stored_before(decision, draft, &before, error))
        return false;
    Intake intake = {.draft = draft};
    if (before || intake_store(decision->spool, &intake, 1, again))
        return true;
    g_propagate_error(error, intake.error);
    return false;
}

/* Inside the transaction. */
static bool decide_held(Decision *decision, int64_t number, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    g_autoptr(Held) held = held_find(decision->store, number, error);
    if (!held)
        return false;
    g_autoptr(Draft) draft = decision->make ? decision->make(decision, held, &refusal) : NULL;
    if (refusal) {
        g_propagate_error(error, g_steal_pointer(&refusal));
        return false;
    }
    return (!draft || store_draft(decision, held, draft, error)) && held_remove(decision->store, number, error);
}

/* One commit for all numbers. */
static bool count_attempts(const Decision *decision, char **argv, GError **error)
{
    if (!store_begin(decision->store, error))
        return false;
    for (size_t i = 0; argv[i]; i++) {
        int64_t number;
        if (!held_number(argv[i], &number, error) || !held_attempt(decision->store, number, error)) {
            store_rollback(decision->store);
            return false;
        }
    }
    return store_commit(decision->store, error);
}

static bool decide_one(Decision *decision, int64_t number, GError **error)
{
    if (!store_begin(decision->store, error))
        return false;
    if (!decide_held(decision, number, error)) {
        store_rollback(decision->store);
        return false;
    }
    return store_commit(decision->store, error);
}

static Draft *make_accepted(Decision *decision, const Held *held, GError **error)
{
    json_t *meta = meta_parse(held->meta, strlen(held->meta), error);
    if (!meta)
        return NULL;
    meta_set_string(meta, META_LIST, held->list_id);
    meta_set_integer(meta, META_ORDINAL, held->number);
    json_object_del(meta, META_SHARD);
    meta_set_bool(meta, KEY_MODERATED, true);
    if (meta_integer(meta, META_ARRIVAL, 0) <= 0)
        meta_set_integer(meta, META_ARRIVAL, held->held_at);
    Draft *draft = draft_new("pipeline", meta);
    draft_add_message(draft, held->message);
    draft_set_due(draft, held->held_at);
    return draft;
}

static Draft *make_notice(Decision *decision, const Held *held, GError **error)
{
    g_autoptr(List) list = list_by_id(decision->store, held->list_id, error);
    Draft *notice = NULL;
    if (!list || !held_notice(held, list, reason, decision->templates, &notice, error))
        return NULL;
    decision->told = notice != NULL;
    return notice;
}

static int decide_all(Site *site, Decision *decision, char **argv, GError **error)
{
    int64_t number;
    for (size_t i = 0; argv[i]; i++)
        if (!held_number(argv[i], &number, error))
            return TOOL_USAGE;
    decision->store = site_store(site, false, error);
    decision->spool = decision->store ? site_spool(site, error) : NULL;
    if (!decision->spool || (decision->make && !count_attempts(decision, argv, error)))
        return TOOL_LATER;
    decision->templates = config_string(site_config(site, error), "site", "template_directory");
    int worst = TOOL_OK;
    for (size_t i = 0; argv[i]; i++) {
        g_autoptr(GError) refusal = NULL;
        held_number(argv[i], &number, NULL);
        decision->told = true;
        if (decide_one(decision, number, &refusal)) {
            printf("%" G_GINT64_FORMAT " %s%s\n", number, decision->past,
                   decision->told ? "" : "; its sender is not told: it came from a program, or from no address");
            continue;
        }
        plain_complain("listrunner held: %" G_GINT64_FORMAT " is not %s: %s", number, decision->past, refusal->message);
        worst = MAX(worst, command_exit_code(refusal));
    }
    return worst;
}

static int run_accept(Site *site, int argc, char **argv, GError **error)
{
    Decision decision = {.past = "accepted", .make = make_accepted};
    return decide_all(site, &decision, argv, error);
}

static int run_reject(Site *site, int argc, char **argv, GError **error)
{
    Decision decision = {.past = "rejected", .make = make_notice, .notice = true};
    if (reason && !g_utf8_validate(reason, -1, NULL))
        return command_usage(error, "--reason is not UTF-8");
    return decide_all(site, &decision, argv, error);
}

static int run_discard(Site *site, int argc, char **argv, GError **error)
{
    Decision decision = {.past = "discarded"};
    return decide_all(site, &decision, argv, error);
}

static const GOptionEntry reject_options[] = {
    {"reason", 0, 0, G_OPTION_ARG_FILENAME, &reason, "what the sender is told", "TEXT"},
    G_OPTION_ENTRY_NULL,
};

const Command held_accept = {
    .name = "accept", .arguments = "NUMBER...", .summary = "Let held posts through to the list", .least = 1, .most = -1,
    .run = run_accept,
};

const Command held_reject = {
    .name = "reject", .arguments = "NUMBER...", .summary = "Send held posts away with a notice to the sender",
    .least = 1, .most = -1, .options = reject_options, .run = run_reject,
};

const Command held_discard = {
    .name = "discard", .arguments = "NUMBER...", .summary = "Throw held posts away, telling nobody", .least = 1,
    .most = -1, .run = run_discard,
};
