/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the web hooks of the site, each a section [hook.NAME], and send events to them by POST (README.md).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

typedef struct Hook {
    const char *name, *url;            /* borrowed from the configuration */
    const char *const *events, *const *lists;
    GBytes *key;         /* with which deliveries are signed */
    int64_t timeout;     /* us, for one delivery */
    int64_t rests_until; /* clock_steady(): nothing is sent before that time, because the hook failed or had its turn */
    int failures;        /* HOOK_FAILED in a row; an event that it took or refused ends the row */
    int64_t spent;       /* us, on slow deliveries in its turn */
} Hook;

void hook_free(Hook *hook);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Hook, hook_free)

/* Return the hooks that are enabled, of Hook, freed with the array. NULL, with FAIL_CONFIG: a secret cannot be read, or
 * others may read it. */
GPtrArray *hooks_read(const Config *config, GError **error);

/* Return true when the hook wants events of this type about this list; list_id "": the event is about no list. */
bool hook_wants(const Hook *hook, const char *type, const char *list_id);

typedef enum HookResult {
    HOOK_TAKEN,
    HOOK_REFUSED, /* the hook refused this event, and may take others: 4xx, but for 408 and 429 */
    HOOK_FAILED,  /* the hook cannot be reached or is in trouble: any event would have failed */
} HookResult;

typedef struct HookDelivery {
    const char *id;
    GBytes *body;
    bool (*alive)(void *data); /* called now and then; false gives up */
    void *data;
} HookDelivery;

/* POST the event, and wait for the answer. *error is set unless the result is HOOK_TAKEN. */
HookResult hook_send(const Hook *hook, const HookDelivery *delivery, GError **error);
