/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell programs outside what happened on a list: an event goes to web hooks and into the event stream of the REST
 * interface. It is an entry for the queue hooks, left in the unit of work, so it is committed together with the change
 * that it tells of (runners/hooks/README.md). Its message is a JSON object, which receivers get as it is:
 *
 *   {"id": "9b1c6f0e-...", "type": "member.joined", "timestamp": "2026-11-22T18:20:00.123456Z",
 *    "data": {"list_id": "ant.example.com", "email": "anne@example.com", "role": "member"}}
 */
#include <jansson.h>

#include "base/contract.h"
#include "lists/event_type.h"
#include "lists/work.h"

#define EVENT_QUEUE "hooks"
#define EVENT_SIGN CHILD_EVENTS /* a file in the runtime directory, touched when the store has new events */
#define KEY_EVENT "event"       /* metadata, string: the type */
#define KEY_EVENT_ID "event_id" /* metadata, string */
#define KEY_EVENT_HOST "event_host"     /* metadata: where the list was then (EventPlace of store/event_row.h) */
#define KEY_EVENT_LIST "event_list"
#define KEY_EVENT_DOMAIN "event_domain"
#define KEY_HOOK "hook"         /* metadata, string: hook that it goes to; absent: no entry for each hook yet */
#define KEY_TRIED_SINCE "tried_since" /* metadata, integer: since when that hook is tried, us; absent: not tried yet */

/* Leave an event in the unit of work. type is one of lists/event_type.h; data is a JSON object, which gets list_id
 * besides, and is consumed. Where no runner works the queue hooks, data is freed and nothing else happens.
 *
 * To tell that a list is removed, call it before removing, while the store knows the list's domain. If the store cannot
 * say the domain, the event goes out without one, and only readers for the whole site get to read it. */
void event_tell(Work *work, const char *type, const char *list_id, json_t *data);
