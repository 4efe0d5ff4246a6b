/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/watch/alarm.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/program.h"
#include "lists/site/attention.h"
#include "net/http_client.h"
#include "switchboard/meta.h"

#define TOLD_FILE ".watch"
#define TEMPORARY TOLD_FILE ".new"
#define FILE_MAX (1 << 20)           /* bytes */
#define PATIENCE (30 * CLOCK_SECOND) /* for a program or a server */

/* A fault that is there, or was told. */
typedef struct Fault {
    char *text, *mend;
    int64_t since;
    bool told_by_command, told_by_url; /* that it is there; in the end, that it is gone */
    bool gone;
    int64_t gone_at;
    bool seen; /* at the look that is under way */
} Fault;

struct Alarm {
    const Config *config;
    Spool *spool;
    bool (*alive)(void *data);
    void *data;
    GHashTable *faults; /* by key */
};

static void fault_free(void *data)
{
    Fault *fault = data;
    g_free(fault->text);
    g_free(fault->mend);
    g_free(fault);
}

/* ---- the file ---- */

static void read_file(Alarm *alarm)
{
    g_autoptr(GError) error = NULL;
    auto_fd fd = fs_open(spool_fd(alarm->spool), TOLD_FILE, false, &error);
    if (fd < 0) {
        if (!g_error_matches(error, FAIL, FAIL_MISSING))
            log_warn("what was told of faults is not known: %s", error->message);
        return;
    }
    g_autofree char *text = g_malloc(FILE_MAX);
    ssize_t length = TEMP_FAILURE_RETRY(pread(fd, text, FILE_MAX, 0));
    g_autoptr(json_t) file = length > 0 ? json_loadb(text, (size_t)length, 0, NULL) : NULL;
    if (!file)
        log_warn("what was told of faults is not known: " TOLD_FILE " of the spool is damaged");
    size_t at;
    const json_t *one;
    json_array_foreach(file, at, one) {
        const char *key = meta_string(one, "key", NULL);
        if (!key)
            continue;
        Fault *fault = g_new0(Fault, 1);
        fault->text = g_strdup(meta_string(one, "text", ""));
        fault->mend = g_strdup(meta_string(one, "mend", NULL));
        fault->since = meta_integer(one, "since", 0);
        fault->told_by_command = json_is_true(json_object_get(one, "told_by_command"));
        fault->told_by_url = json_is_true(json_object_get(one, "told_by_url"));
        fault->gone = json_is_true(json_object_get(one, "gone"));
        fault->gone_at = meta_integer(one, "gone_at", clock_now());
        g_hash_table_replace(alarm->faults, g_strdup(key), fault);
    }
}

static bool write_file(const Alarm *alarm, GError **error)
{
    g_autoptr(json_t) file = json_array();
    GHashTableIter iterator;
    void *key, *value;
    g_hash_table_iter_init(&iterator, alarm->faults);
    while (g_hash_table_iter_next(&iterator, &key, &value)) {
        const Fault *fault = value;
        json_array_append_new(file, json_pack("{ss ss ss* sI sb sb sb sI}", "key", key, "text", fault->text, "mend",
                                              fault->mend, "since", (json_int_t)fault->since, "told_by_command",
                                              fault->told_by_command, "told_by_url", fault->told_by_url, "gone",
                                              fault->gone, "gone_at", (json_int_t)fault->gone_at));
    }
    char *text = json_dumps(file, JSON_COMPACT);
    int spool = spool_fd(alarm->spool);
    fs_unlink(spool, TEMPORARY, NULL);
    auto_fd fd = fs_create(spool, TEMPORARY, error);
    bool done = fd >= 0 && fs_write(fd, text, strlen(text), error) && fs_sync_file(fd, error) &&
                fs_rename(spool, TEMPORARY, TOLD_FILE, error) && fs_sync_dir(spool, error);
    free(text);
    return done;
}

Alarm *alarm_new(const Config *config, Spool *spool, bool (*alive)(void *data), void *data)
{
    Alarm *alarm = g_new(Alarm, 1);
    *alarm = (Alarm){config, spool, alive, data, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, fault_free)};
    read_file(alarm);
    return alarm;
}

void alarm_free(Alarm *alarm)
{
    if (!alarm)
        return;
    g_hash_table_unref(alarm->faults);
    g_free(alarm);
}

/* ---- telling ---- */

static const char *state_word(const Fault *fault)
{
    return fault->gone ? "gone" : "fault";
}

/* A fault that is gone is told with the words in which it was; g_free(). */
static char *text_of(const Fault *fault)
{
    g_autofree char *since = clock_text(fault->since), *until = clock_text(fault->gone_at);
    return fault->gone ? g_strdup_printf("This was so from %s to %s, and is over: %s", since, until, fault->text)
                       : g_strdup(fault->text);
}

static bool run_command(const Alarm *alarm, const char *command, const char *key, const Fault *fault, GError **error)
{
    g_auto(GStrv) words = NULL;
    int count, code;
    if (!g_shell_parse_argv(command, &count, &words, NULL))
        return fail(error, FAIL_CONFIG, "[watch] command cannot be split into words: %s", command);
    words = g_renew(char *, words, (gsize)count + 3);
    words[count] = g_strdup(state_word(fault));
    words[count + 1] = g_strdup(key);
    words[count + 2] = NULL;
    g_autofree char *since = clock_text(fault->since);
    const char *host = config_string(alarm->config, "site", "hostname");
    const char *mend = fault->gone || !fault->mend ? "" : fault->mend;
    g_autofree char *text = text_of(fault), *seen = g_strdup_printf(" (seen since %s)", since);
    g_autofree char *said = g_strdup_printf("%s: %s%s\n%s%s", host, text, fault->gone ? "" : seen, mend,
                                            *mend ? "\n" : "");
    g_autoptr(GBytes) input = g_bytes_new(said, strlen(said));
    const Program program = {.words = words, .timeout = PATIENCE, .alive = alarm->alive, .data = alarm->data};
    if (!program_run(&program, input, &code, NULL, error))
        return false;
    return code == 0 || fail(error, FAIL_LATER, "%s ended with code %d", words[0], code);
}

static bool post(const Alarm *alarm, const char *url, const char *key, const Fault *fault, GError **error)
{
    g_autofree char *since = clock_text(fault->since), *text = text_of(fault);
    g_autoptr(json_t) said = json_pack("{ss ss ss ss ss* ss}", "state", state_word(fault), "host",
                                       config_string(alarm->config, "site", "hostname"), "key", key, "text", text,
                                       "mend", fault->gone ? NULL : fault->mend, "since", since);
    char *body = json_dumps(said, JSON_COMPACT);
    const char *const headers[] = {"Content-Type: application/json", "User-Agent: Listrunner/" PACKAGE_VERSION, NULL};
    const HttpRequest request = {
        .url = url, .headers = headers, .timeout = PATIENCE, .alive = alarm->alive, .data = alarm->data};
    g_auto(HttpAnswer) answer = {0};
    bool done = http_post(&request, body, strlen(body), &answer, error);
    free(body);
    if (done && (answer.status < 200 || answer.status > 299))
        return fail(error, FAIL_LATER, "[watch] url answered %ld", answer.status);
    return done;
}

/* Go on with a fault: note that it is gone, and tell of it when its time has come. Return whether it stays in the
 * table. *changed: the file is to be written. */
static bool advance(Alarm *alarm, const char *key, Fault *fault, bool *changed, GError **error)
{
    int64_t after = config_duration(alarm->config, "watch", "after");
    const char *command = config_string(alarm->config, "watch", "command");
    const char *url = config_string(alarm->config, "watch", "url");
    if (!fault->seen && !fault->gone) {
        /* By a way that is not configured the fault counts as told, and nobody heard of it so. */
        bool heard = (fault->told_by_command && (command || !url)) || (fault->told_by_url && url);
        *changed = true;
        if (!heard)
            return false;
        fault->gone = true;
        fault->gone_at = clock_now();
        fault->told_by_command = fault->told_by_url = false;
    }
    bool told = fault->told_by_command && fault->told_by_url;
    if (told || (!fault->gone && clock_now() - fault->since < after))
        return true;
    *changed = true;
    /* It is told by each way that is configured, unless that was done. */
    g_autoptr(GError) first = NULL;
    g_autofree char *text = text_of(fault);
    log_warn("%s: %s", state_word(fault), text);
    fault->told_by_command = fault->told_by_command || !command || run_command(alarm, command, key, fault, &first);
    fault->told_by_url = fault->told_by_url || !url || post(alarm, url, key, fault, first ? NULL : &first);
    if (first)
        g_propagate_error(error, g_steal_pointer(&first));
    return !fault->told_by_command || !fault->told_by_url || !fault->gone;
}

bool alarm_look(Alarm *alarm, const GPtrArray *faults, bool whole, GError **error)
{
    GHashTableIter iterator;
    void *key, *value;
    int64_t now = clock_now();
    g_autoptr(GError) last = NULL;
    bool changed = false;
    for (guint at = 0; at < faults->len; at++) {
        const Attention *one = faults->pdata[at];
        Fault *fault = g_hash_table_lookup(alarm->faults, one->key);
        if (!fault) {
            fault = g_new0(Fault, 1);
            fault->since = now;
            g_hash_table_insert(alarm->faults, g_strdup(one->key), fault);
        }
        if (fault->gone) { /* it is back before anybody was told that it went */
            fault->gone = false;
            fault->told_by_command = fault->told_by_url = true;
        }
        g_free(fault->text);
        g_free(fault->mend);
        fault->text = g_strdup(one->text);
        fault->mend = g_strdup(one->mend);
        fault->seen = true;
    }
    g_hash_table_iter_init(&iterator, alarm->faults);
    while (g_hash_table_iter_next(&iterator, &key, &value)) {
        Fault *fault = value;
        g_autoptr(GError) untold = NULL;
        fault->seen |= !whole && !fault->gone;
        bool stays = advance(alarm, key, fault, &changed, &untold);
        fault->seen = false;
        if (untold) {
            g_clear_error(&last);
            last = g_steal_pointer(&untold);
        }
        if (!stays)
            g_hash_table_iter_remove(&iterator);
    }
    if (changed)
        write_file(alarm, last ? NULL : &last);
    bool done = !last;
    if (last)
        g_propagate_error(error, g_steal_pointer(&last));
    return done;
}
