/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The archive runner: hands each mail to the archivers that its metadata
 * names (all enabled ones when it names none). What an archiver could not do
 * becomes an entry of its own: in archive again, due later, or in shunt.
 * What another host is to store becomes one in handover.
 */
#include "runners/archive/archiver.h"

#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "lists/archive/archive_place.h"
#include "lists/hosts/own_spool.h"
#include "lists/keys.h"
#include "switchboard/fault.h"

#define BACKOFF_MIN (5 * CLOCK_SECOND)
#define BACKOFF_MAX (3600 * CLOCK_SECOND)

/* The mail's key when its entry was born again for one archiver. */
#define KEY_ARCHIVE_KEY "archive_key"

static const ArchiverType *const archiver_types[] = {
    &archiver_maildir, &archiver_mbox, &archiver_command, &archiver_mhonarc, &archiver_hyperkitty,
    &archiver_mail_archive,
};

typedef struct Archiver {
    const ArchiverType *type;
    void *state;
    char *name;
    char *down;         /* why it took nothing at the last try; NULL: it did */
    int64_t down_since; /* clock_now() */
} Archiver;

/* Done counts the mails of the current batch that an archiver stored. */
typedef struct Done {
    Archiver *archiver;
    char key[HASH_DIGITS + 1];
    const Outcome *outcome; /* borrowed; with which its entry comes again, should it fail */
} Done;

typedef struct Archive {
    GPtrArray *archivers; /* of Archiver */
    GHashTable *elsewhere; /* names of archivers that other hosts keep, and the names of these hosts; both borrowed */
    GHashTable *done; /* "NAME KEY" of what immediate archivers did for entries that are not committed */
    GArray *done_now; /* of Done */
    GArray *ended; /* of Done: their entries ended, and may come back in a power cut until the queue is synced */
    Queue *queue; /* theirs */
    GPtrArray *outcomes; /* of the batch at hand, borrowed */
    GError *fault; /* a flush failed: the batch at hand must come again */
    /* Mail that arrived before the process began may have been in hand when the last one died; mail that arrived before
     * a batch or a hop failed may have been in it. */
    int64_t started_at, failed_at;
    char *told;     /* to `listrunner status`; NULL: nothing yet */
    int64_t latest; /* arrival of what was in hand: the clock may have been set back since */
} Archive;

const char *archiver_setting(Runner *runner, const char *section, const char *key, GError **error)
{
    const char *value = config_string(runner_config(runner), section, key);
    if (value == NULL || *value == '\0') {
        fail(error, FAIL_CONFIG, "[%s] %s: is missing; an archiver of this type needs it", section, key);
        return NULL;
    }
    return value;
}

bool archiver_wants_index(Runner *runner, const char *section, bool *looks)
{
    *looks = runner_slice(runner).index == 0;
    return config_bool(runner_config(runner), section, "index");
}

static void archiver_free(void *data)
{
    Archiver *archiver = data;
    if (archiver->state != NULL)
        archiver->type->close(archiver->state);
    g_free(archiver->name);
    g_free(archiver->down);
    g_free(archiver);
}

static bool archive_start(Runner *runner, GError **error)
{
    bool asked;
    if (!own_spool_check(runner_spool(runner), runner_config(runner), &asked, error))
        return false;
    Archive *archive = g_new0(Archive, 1);
    archive->archivers = g_ptr_array_new_with_free_func(archiver_free);
    archive->elsewhere = g_hash_table_new(g_str_hash, g_str_equal);
    archive->done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    archive->done_now = g_array_new(FALSE, FALSE, sizeof(Done));
    archive->ended = g_array_new(FALSE, FALSE, sizeof(Done));
    archive->outcomes = g_ptr_array_new();
    archive->started_at = clock_now();
    runner_set_data(runner, archive);
    const Config *config = runner_config(runner);
    for (const char *const *name = config_family(config, "archiver"); *name != NULL; name++) {
        g_autofree char *section = g_strconcat("archiver.", *name, NULL);
        if (!config_bool(config, section, "enabled"))
            continue;
        const char *type = config_string(config, section, "type"), *host = archive_place_host(config, *name);
        if (host) {
            g_hash_table_insert(archive->elsewhere, (gpointer)*name, (gpointer)host);
            continue;
        }
        Archiver *archiver = g_new0(Archiver, 1);
        archiver->name = g_strdup(*name);
        g_ptr_array_add(archive->archivers, archiver);
        for (size_t i = 0; type != NULL && i < G_N_ELEMENTS(archiver_types); i++)
            if (strcmp(archiver_types[i]->name, type) == 0)
                archiver->type = archiver_types[i];
        if (archiver->type == NULL)
            return fail(error, FAIL_CONFIG, "[%s] type: there is no archiver \"%s\"", section,
                        type != NULL ? type : "");
        archiver->state = archiver->type->open(runner, section, error);
        if (archiver->state == NULL)
            return false;
    }
    return true;
}

static Archiver *find(const Archive *archive, const char *name)
{
    for (guint i = 0; i < archive->archivers->len; i++) {
        Archiver *archiver = archive->archivers->pdata[i];
        if (strcmp(archiver->name, name) == 0)
            return archiver;
    }
    return NULL;
}

/* Names of the archivers to serve, borrowed. */
static GPtrArray *wanted(const Archive *archive, json_t *meta)
{
    GPtrArray *names = g_ptr_array_new();
    const json_t *given = json_object_get(meta, KEY_ARCHIVERS);
    for (size_t i = 0; i < json_array_size(given); i++) {
        const char *name = json_string_value(json_array_get(given, i));
        if (name != NULL)
            g_ptr_array_add(names, (char *)name);
    }
    for (guint i = 0; given == NULL && i < archive->archivers->len; i++)
        g_ptr_array_add(names, ((Archiver *)archive->archivers->pdata[i])->name);
    GHashTableIter other;
    gpointer name;
    g_hash_table_iter_init(&other, archive->elsewhere);
    while (!given && g_hash_table_iter_next(&other, &name, NULL))
        g_ptr_array_add(names, name);
    return names;
}

/* Write to the disk what the archiver holds of the batch so far. store() succeeded for it before, so when this fails,
 * the whole batch must come again. */
static bool flush(Archive *archive, Archiver *archiver, GError **error)
{
    g_autoptr(GError) failure = NULL;
    if (archiver->type->flush == NULL || archiver->type->flush(archiver->state, &failure))
        return true;
    log_error("archiver=%s result=batch-failed reason=\"%s\"", archiver->name, failure->message);
    if (archive->fault == NULL)
        fail(&archive->fault, FAIL_LATER, "archiver %s: %s", archiver->name, failure->message);
    return fail_with(error, &failure);
}

/* Store one mail; when the archiver asks for a flush, flush it and try once more. */
static bool store(Archive *archive, Archiver *archiver, const ArchiveMail *mail, GError **error)
{
    g_autoptr(GError) failure = NULL;
    if (archiver->type->store(archiver->state, mail, &failure))
        return true;
    if (g_error_matches(failure, FAIL, FAIL_RACE))
        return flush(archive, archiver, error) && archiver->type->store(archiver->state, mail, error);
    return fail_with(error, &failure);
}

/* Says in the copy of an entry which archivers are still to be served. */
static void set_names(Draft *draft, json_t *names, const char *key, int64_t attempts)
{
    json_t *meta = draft_meta(draft);
    json_object_set(meta, KEY_ARCHIVERS, names);
    meta_set_string(meta, KEY_ARCHIVE_KEY, key);
    meta_set_integer(meta, KEY_ATTEMPTS, attempts);
}

/* Add a copy of the entry for each host that keeps archives of names (of strings) that are not kept here. */
static void hand_over(const Archive *archive, const GPtrArray *names, const ArchiveMail *mail, Outcome *outcome)
{
    json_t *hosts = json_object(), *chosen;
    const char *host;
    for (guint i = 0; i < names->len; i++) {
        host = g_hash_table_lookup(archive->elsewhere, names->pdata[i]);
        if (host && !json_object_get(hosts, host))
            json_object_set_new(hosts, host, json_array());
        if (host)
            json_array_append_new(json_object_get(hosts, host), json_string(names->pdata[i]));
    }
    json_object_foreach(hosts, host, chosen) {
        Draft *draft = draft_from_entry(HANDOVER_QUEUE, outcome->parent);
        set_names(draft, chosen, mail->key, 0);
        meta_set_string(draft_meta(draft), KEY_HAND_TO, host);
        meta_set_string(draft_meta(draft), KEY_HAND_QUEUE, ARCHIVE_QUEUE);
        meta_set_integer(draft_meta(draft), KEY_HANDED_AT, clock_now());
        outcome_add(outcome, draft);
        log_info("%s list=%s queue=" ARCHIVE_QUEUE " to=" HANDOVER_QUEUE " host=%s", entry_trace(outcome->parent),
                 mail->list, host);
    }
    json_decref(hosts);
}

static bool serve(Archive *archive, const char *name, const ArchiveMail *mail, Outcome *outcome, GError **error)
{
    Archiver *archiver = find(archive, name);
    if (archiver == NULL)
        return fail(error, FAIL_NEVER, "there is no archiver %s, or it is not enabled", name);
    const ArchiverType *type = archiver->type;
    if (type->recipient) { /* a service that archives what it gets by mail: a bounce goes where those of posts go */
        Draft *draft = draft_from_entry("out", outcome->parent);
        json_object_del(draft_meta(draft), KEY_ARCHIVERS);
        json_object_del(draft_meta(draft), KEY_ATTEMPTS);
        draft_set_addresses(draft, g_strdupv((char *[]){(char *)type->recipient(archiver->state), NULL}));
        outcome_add(outcome, draft);
        return true;
    }
    if (type->immediate) { /* unless it was done at an earlier try that came to nothing else */
        g_autofree char *mark = g_strdup_printf("%s %s", name, mail->key);
        if (!g_hash_table_contains(archive->done, mark) && !type->store(archiver->state, mail, error))
            return false;
        g_hash_table_add(archive->done, g_steal_pointer(&mark));
    } else if (mail->arrival <= archive->failed_at) {
        /* Mail of a batch that failed is stored between two flushes, so that a failure is known to be of this mail. */
        if (!flush(archive, archiver, error) || !store(archive, archiver, mail, error) ||
            (type->flush != NULL && !type->flush(archiver->state, error)))
            return false;
    } else if (!store(archive, archiver, mail, error)) {
        return false;
    }
    Done done = {.archiver = archiver, .outcome = outcome};
    g_strlcpy(done.key, mail->key, sizeof done.key);
    g_array_append_val(archive->done_now, done);
    return true;
}

/* CRLF to LF; what an archive's readers expect on this kind of system. */
static GString *unix_lines(const char *octets, size_t length)
{
    GString *text = g_string_sized_new(length + 1);
    const char *end = octets + length;
    while (octets < end) {
        const char *feed = memchr(octets, '\n', (size_t)(end - octets));
        size_t line = feed != NULL ? (size_t)(feed - octets) : (size_t)(end - octets);
        bool crlf = feed != NULL && line > 0 && feed[-1] == '\r';
        g_string_append_len(text, octets, (gssize)(line - crlf));
        if (feed != NULL)
            g_string_append_c(text, '\n');
        octets += line + (feed != NULL);
    }
    return text;
}

/* The queue was synced since: they do not come again. */
static void settle_ended(Archive *archive)
{
    for (guint i = 0; i < archive->ended->len; i++) {
        const Done *done = &g_array_index(archive->ended, Done, i);
        done->archiver->type->settled(done->archiver->state, done->key);
    }
    g_array_set_size(archive->ended, 0);
}

/* Tells `listrunner status` which archivers took nothing at the last try, since when, and why, and what else is wrong
 * with one. */
static void tell(Archive *archive)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < archive->archivers->len; i++) {
        const Archiver *archiver = archive->archivers->pdata[i];
        const char *trouble = archiver->type->trouble ? archiver->type->trouble(archiver->state) : NULL;
        if (trouble)
            g_string_append_printf(text, "%s%s", text->len > 0 ? "; " : "", trouble);
        if (!archiver->down)
            continue;
        g_autofree char *since = clock_text(archiver->down_since);
        g_string_append_printf(text, "%ssince %s the archiver %s cannot be used, and its posts wait in archive: %s",
                               text->len > 0 ? "; " : "", since, archiver->name, archiver->down);
    }
    if (g_strcmp0(archive->told, text->str) == 0)
        return;
    g_free(archive->told);
    archive->told = g_strdup(text->str);
    child_notice(CHILD_NOTICE_WORK, text->len > 0 ? text->str : NULL);
}

/* failure NULL: it took the post. One that will never do says nothing about the archiver. */
static void note_outcome(Archive *archive, const char *name, const GError *failure)
{
    Archiver *archiver = find(archive, name);
    if (!archiver || (!failure && !archiver->down))
        return;
    if (failure && !archiver->down)
        archiver->down_since = clock_now();
    g_free(archiver->down);
    archiver->down = failure ? g_strdup(failure->message) : NULL;
    tell(archive);
}

static bool archive_handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    Archive *archive = runner_data(runner);
    if (archive->outcomes->len == 0) /* this batch was claimed durably, so the end of the last one is durable, too */
        settle_ended(archive);
    archive->queue = entry_queue(entry);
    json_t *meta = entry_meta(entry);
    g_autoptr(GPtrArray) names = wanted(archive, meta);
    g_autoptr(GBytes) message = entry_message(entry);
    int64_t attempts = meta_integer(meta, KEY_ATTEMPTS, 0) + 1, arrival = entry_arrival(entry);
    GString *text = unix_lines(g_bytes_get_data(message, NULL), g_bytes_get_size(message));
    bool again = arrival <= archive->failed_at || attempts > 1;
    ArchiveMail mail = {.list = entry_list(entry),
                        .posting_address = meta_string(meta, KEY_LIST_ADDRESS, ""),
                        .message_id = meta_string(meta, KEY_MESSAGE_ID, ""),
                        .sender = meta_string(meta, KEY_SENDER, ""),
                        .arrival = arrival,
                        .closed = meta_bool(meta, KEY_ARCHIVE_CLOSED),
                        .again = again,
                        .repeat = again || arrival < archive->started_at,
                        .octets = text->str,
                        .length = text->len};
    char hash[HASH_DIGITS + 1];
    name_hash_format(entry_name(entry)->hash, hash);
    g_strlcpy(mail.key, meta_string(meta, KEY_ARCHIVE_KEY, hash), sizeof mail.key);
    mail.place = meta_string(meta, KEY_ARCHIVE_NAME, mail.list);
    g_ptr_array_add(archive->outcomes, outcome);
    archive->latest = MAX(archive->latest, mail.arrival);
    g_autoptr(json_t) later = json_array();
    for (guint i = 0; i < names->len; i++) {
        g_autoptr(GError) failure = NULL;
        const char *name = names->pdata[i];
        if (g_hash_table_contains(archive->elsewhere, name))
            continue;
        bool good = serve(archive, name, &mail, outcome, &failure);
        bool never = !good && g_error_matches(failure, FAIL, FAIL_NEVER);
        if (good)
            log_info("%s list=%s archiver=%s result=stored", entry_trace(entry), mail.list, name);
        else
            log_error("%s list=%s archiver=%s result=%s reason=\"%s\"", entry_trace(entry), mail.list, name,
                      never ? "shunted" : "later", failure->message);
        if (!never)
            note_outcome(archive, name, failure);
        if (never) {
            g_autoptr(json_t) one = json_pack("[s]", name);
            set_names(outcome_shunt(outcome, "archive", failure->message), one, mail.key, attempts);
        } else if (!good)
            json_array_append_new(later, json_string(name));
        runner_progress(runner);
    }
    hand_over(archive, names, &mail, outcome);
    if (json_array_size(later) > 0) {
        Draft *draft = draft_from_entry(queue_name(entry_queue(entry)), entry);
        set_names(draft, later, mail.key, attempts);
        draft_set_due(draft, clock_now() + MIN(BACKOFF_MIN << MIN(attempts - 1, 16), BACKOFF_MAX));
        outcome_add(outcome, draft);
    }
    g_string_free(text, TRUE);
    return true;
}

static bool archive_end_batch(Runner *runner, GError **error)
{
    Archive *archive = runner_data(runner);
    for (guint i = 0; i < archive->archivers->len; i++)
        flush(archive, archive->archivers->pdata[i], NULL);
    tell(archive);
    if (archive->fault != NULL)
        g_propagate_error(error, g_error_copy(archive->fault));
    return archive->fault == NULL;
}

/* Called after a batch that failed, too. */
static void archive_committed(Runner *runner)
{
    Archive *archive = runner_data(runner);
    for (guint i = 0; i < archive->outcomes->len; i++)
        if (archive->fault != NULL || ((Outcome *)archive->outcomes->pdata[i])->error != NULL)
            archive->failed_at = MAX(clock_now(), archive->latest);
    g_ptr_array_set_size(archive->outcomes, 0);
    for (guint i = 0; archive->fault == NULL && i < archive->done_now->len; i++) {
        const Done *done = &g_array_index(archive->done_now, Done, i);
        if (done->outcome->error != NULL) /* it comes again */
            continue;
        g_autofree char *mark = g_strdup_printf("%s %s", done->archiver->name, done->key);
        g_hash_table_remove(archive->done, mark);
        if (done->archiver->type->settled != NULL)
            g_array_append_vals(archive->ended, done, 1);
    }
    g_array_set_size(archive->done_now, 0);
    g_clear_error(&archive->fault);
}

static int64_t archive_idle(Runner *runner)
{
    Archive *archive = runner_data(runner);
    int64_t soonest = -1;
    for (guint i = 0; i < archive->archivers->len; i++) {
        const Archiver *archiver = archive->archivers->pdata[i];
        int64_t wanted = archiver->type->idle ? archiver->type->idle(archiver->state) : -1;
        if (wanted >= 0 && (soonest < 0 || wanted < soonest))
            soonest = wanted;
    }
    tell(archive);
    runner_progress(runner);
    return soonest;
}

static void archive_stop(Runner *runner)
{
    Archive *archive = runner_data(runner);
    if (archive == NULL)
        return;
    if (archive->ended->len > 0 && fs_sync_dir(queue_fd(archive->queue), NULL))
        settle_ended(archive);
    g_array_unref(archive->ended);
    g_ptr_array_unref(archive->archivers);
    g_array_unref(archive->done_now);
    g_ptr_array_unref(archive->outcomes);
    g_hash_table_unref(archive->done);
    g_hash_table_unref(archive->elsewhere);
    g_clear_error(&archive->fault);
    g_free(archive->told);
    g_free(archive);
    runner_set_data(runner, NULL);
}

static const RunnerSpec archive_runner = {
    .name = "archive",
    .longest_wait = RUNNER_WAIT_MAX,
    .durable_claim = true,
    .start = archive_start,
    .handle = archive_handle,
    .end_batch = archive_end_batch,
    .committed = archive_committed,
    .idle = archive_idle,
    .stop = archive_stop,
};

int main(int argc, char **argv)
{
    return runner_main(&archive_runner, argc, argv);
}
