/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Gather the state of the site in one object, for the shell, the pages and REST. It is the master's reply to status
 * (base/control.h), which knows the processes and queues of this host, and beside it what the database knows.
 * lists/site/attention.h says what of it waits for a person.
 *
 *   state = site_state_ask(config, seconds, &error), site_state_add(store, config, state)
 */
#include <glib.h>
#include <jansson.h>

#include "base/config.h"
#include "store/store.h"

/* Send a request (taken) to the process behind a control socket, CONTROL_SOCKET for the master, and return the reply, a
 * new reference. It waits for at most `seconds`. FAIL_MISSING: no process listens there. */
json_t *site_state_exchange(const Config *config, const char *socket, json_t *request, int seconds, GError **error);

/* Ask the master for its status, as by site_state_exchange(); the reply is a new reference. */
json_t *site_state_ask(const Config *config, int seconds, GError **error);

/* Add what the database knows to the master's reply:
 *
 *   held {count, since, bytes}, requests {count, since}, outbox {count, since, late}, template_faults,
 *   source_faults, scheduled_late {count, since}, families_gone [{name, lists, list (one of them)}],
 *   fragments {open_sets, parts, octets, early, oldest}, leave_brakes {domains, waiting},
 *   bounce_brakes [{list, domain (null: the whole list), reply, members, since}] (the newest 20),
 *   form_letters {count, most, reached, links, links_reached}, hosts [{name, living, draining, seen_at, lease_until}],
 *   canary {sent_at, back_at, age, missing_since, missing} (of this host; store/hosts/canary.h),
 *   jobs [{name, last_run, due_at, done, runs, failures, fault, late}]
 *
 * Each is null when it could not be read, and then store_fault says why. */
void site_state_add(Store *store, const Config *config, json_t *state);

/* Set store_fault in the state, in place of site_state_add(), where no database can be opened. */
void site_state_without_store(json_t *state, const GError *fault);
