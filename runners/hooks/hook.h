/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * One web hook, [hook.NAME]: which events it wants, and a delivery to it (README.md).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

typedef struct Hook {
    const char *name, *url;            /* borrowed from the configuration */
    const char *const *events, *const *lists;
    GBytes *key;
    int64_t timeout;     /* us, for one delivery */
    int64_t rests_until; /* it failed, or had its turn: nothing is sent before that time */
    int failures;        /* HOOK_FAILED in a row; an event that it took or refused ends the row */
    int64_t spent;       /* us, on slow deliveries in its turn */
} Hook;

void hook_free(Hook *hook);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Hook, hook_free)

/* Reads those that are enabled. NULL: FAIL_CONFIG, a secret cannot be read, or others may read it. */
GPtrArray *hooks_read(const Config *config, GError **error);

/* list_id "": the event is about no list. */
bool hook_wants(const Hook *hook, const char *type, const char *list_id);

/* Return the value of the field webhook-signature; g_free(). time is in seconds. */
char *hook_signature(const Hook *hook, const char *id, int64_t time, GBytes *body);

typedef enum HookResult {
    HOOK_TAKEN,
    HOOK_REFUSED, /* this event, and maybe no other: 4xx */
    HOOK_FAILED,  /* it would have failed with any event */
} HookResult;

typedef struct HookDelivery {
    const char *id;
    GBytes *body;
    bool (*alive)(void *data); /* called now and then; false gives up */
    void *data;
} HookDelivery;

/* POST the event, and wait for the answer. *error is set unless it was taken. */
HookResult hook_send(const Hook *hook, const HookDelivery *delivery, GError **error);
