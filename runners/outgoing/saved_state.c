/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/saved_state.h"

#include <glib/gstdio.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

#define FORMAT 1
#define SUFFIX ".json"
/* More is no file of ours. */
#define SIZE_MAX_READ (256 * 1024 * 1024)

void saved_state_init(SavedState *state, const char *spool, Slice slice)
{
    state->directory = g_build_filename(spool, SAVED_STATE_DIRECTORY, NULL);
    g_mkdir_with_parents(state->directory, 0750); /* a failure shows when it is written */
    g_autofree char *name = g_strdup_printf("%u-of-%u" SUFFIX, slice.index, slice.count);
    state->file = g_build_filename(state->directory, name, NULL);
}

void saved_state_clear(SavedState *state)
{
    g_free(state->directory);
    g_free(state->file);
    g_free(state->kept);
}

/* --- reading ------------------------------------------------------------ */

static int64_t saved_at(const json_t *file)
{
    return json_integer_value(json_object_get(file, "saved"));
}

static int compare_files(gconstpointer a, gconstpointer b)
{
    int64_t one = saved_at(*(json_t *const *)a);
    int64_t other = saved_at(*(json_t *const *)b);
    return one < other ? -1 : one > other;
}

/* NULL, with a line in the log, when it is of no use. */
static json_t *read_file(const char *path)
{
    json_error_t where;
    GStatBuf status;
    if (g_stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > SIZE_MAX_READ) {
        log_warn("%s is passed over: it is no file of a sensible size", path);
        return NULL;
    }
    json_t *file = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    int64_t now = clock_now();
    int64_t saved = saved_at(file);
    const char *fault = NULL;
    if (!file)
        fault = where.text;
    else if (json_integer_value(json_object_get(file, "version")) != FORMAT ||
             !json_is_object(json_object_get(file, "transports")))
        fault = "it is not of this version";
    else if (saved > now + CLOCK_SECOND || now - saved > SAVED_STATE_LIFETIME)
        fault = "it is too old, or of a time to come";
    if (!fault)
        return file;
    log_warn("%s is passed over: %s; destinations are learnt anew", path, fault);
    json_decref(file);
    return NULL;
}

/* Load what a file has of a transport: what its relay refused, its destinations, and its rate. */
static void load_transport(Transport *transport, const json_t *file, json_t *destinations)
{
    const char *name;
    json_t *saved;
    transport_load_refusals(transport, json_object_get(json_object_get(file, "refusals"), transport->name));
    json_object_foreach(destinations, name, saved) {
        Destination *destination = transport_find(transport, name, !transport->relay);
        if (destination && !destination_load(destination, saved, clock_steady()))
            log_warn("what is remembered of destination %s makes no sense and is passed over", name);
        if (destination)
            transport_look(transport, destination);
    }
    const json_t *rate = json_object_get(json_object_get(file, "rates"), transport->name);
    Bucket bucket = {json_number_value(json_object_get(rate, "tokens")),
                     json_integer_value(json_object_get(rate, "filled"))};
    if (bucket.filled > 0 && bucket.filled <= clock_steady() && isfinite(bucket.tokens))
        transport->bucket = (Bucket){MIN(bucket.tokens, transport->burst), bucket.filled};
}

void saved_state_load(const SavedState *state, const GPtrArray *transports)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
    g_autoptr(GDir) directory = g_dir_open(state->directory, 0, NULL);
    for (const char *name; directory && (name = g_dir_read_name(directory)) != NULL;) {
        g_autofree char *path = g_build_filename(state->directory, name, NULL);
        json_t *file = g_str_has_suffix(name, SUFFIX) ? read_file(path) : NULL;
        if (file)
            g_ptr_array_add(files, file);
    }
    g_ptr_array_sort(files, compare_files);
    for (guint i = 0; i < files->len; i++) {
        const char *name;
        json_t *destinations;
        json_object_foreach(json_object_get(files->pdata[i], "transports"), name, destinations) {
            Transport *transport = transport_named(transports, name);
            if (transport)
                load_transport(transport, files->pdata[i], destinations);
        }
    }
}

/* --- writing ------------------------------------------------------------ */

bool saved_state_write(SavedState *state, const GPtrArray *transports, bool anyway)
{
    int64_t now = clock_steady();
    json_t *refusals = json_object(), *each = json_object(), *rates = json_object();
    for (guint i = 0; i < transports->len; i++) {
        Transport *transport = transports->pdata[i];
        const char *name = transport->name;
        const Bucket *bucket = &transport->bucket;
        json_t *refused = refusals_save(&transport->refusals), *saved = json_object();
        if (refused)
            json_object_set_new(refusals, name, refused);
        g_autoptr(GPtrArray) all = transport_destinations(transport);
        for (guint j = 0; j < all->len; j++) {
            Destination *destination = all->pdata[j];
            if (destination_memorable(destination, now))
                json_object_set_new(saved, destination->name, destination_save(destination, now));
        }
        json_object_set_new(each, name, saved);
        if (transport->rate.per_second > 0 && bucket->tokens < transport->burst)
            json_object_set_new(rates, name, json_pack("{s:f,s:I}", "tokens", bucket->tokens, "filled",
                                                       (json_int_t)bucket->filled));
    }
    g_autoptr(json_t) all = json_pack("{s:o,s:o,s:o}", "transports", each, "rates", rates, "refusals", refusals);
    char *compact = json_dumps(all, JSON_COMPACT);
    g_autofree char *sum = compact ? g_compute_checksum_for_string(G_CHECKSUM_SHA1, compact, -1) : NULL;
    free(compact);
    if (!anyway && state->kept && g_strcmp0(sum, state->kept) == 0 && clock_monotonic() < state->renew_at)
        return true;

    json_t *file = json_pack("{s:i,s:I}", "version", FORMAT, "saved", (json_int_t)clock_now());
    json_object_update(file, all);
    char *text = json_dumps(file, JSON_INDENT(1));
    json_decref(file);
    g_autoptr(GError) error = NULL;
    bool good = text && g_file_set_contents_full(state->file, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0640, &error);
    free(text);
    if (!good)
        log_warn("what is known of destinations cannot be kept: %s", error ? error->message : "a text is no UTF-8");
    g_free(state->kept);
    state->kept = good ? g_steal_pointer(&sum) : NULL;
    state->renew_at = clock_monotonic() + SAVED_STATE_RENEWAL;
    return good;
}
