/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Events: what programs outside are told, by web hooks and by the event stream of the REST interface. An event is an
 * entry for the queue hooks, so it comes to be together with the change that it tells of (runners/hooks/README.md). Its
 * message is a JSON object, which receivers get as it is:
 *
 *   {"id": "9b1c6f0e-...", "type": "member.joined", "timestamp": "2026-11-22T18:20:00.123456Z",
 *    "data": {"list_id": "ant.example.com", "email": "anne@example.com", "role": "member"}}
 */
#include <jansson.h>

#include "base/contract.h"
#include "lists/event_type.h"
#include "lists/work.h"

#define EVENT_QUEUE "hooks"
#define EVENT_SIGN CHILD_EVENTS /* a file in the runtime directory, touched when there are more of them in the store */
#define KEY_EVENT "event"       /* metadata, string: the type */
#define KEY_EVENT_ID "event_id" /* metadata, string */
#define KEY_EVENT_HOST "event_host"     /* metadata: where the list was then (EventPlace of store/event_row.h) */
#define KEY_EVENT_LIST "event_list"
#define KEY_EVENT_DOMAIN "event_domain"
#define KEY_HOOK "hook"         /* metadata, string: the hook that it goes to; absent: not divided yet */
#define KEY_TRIED_SINCE "tried_since" /* metadata, integer: since when that hook is tried, us; absent: not tried yet */

/* Tells of something that happened on the list. Takes data, an object that gets list_id. Does nothing on a site whose
 * queue hooks nobody works. Who removes a list tells of it first, while it is known where the list is. Where the store
 * fails to say that, the site alone gets to read the event. */
void event_tell(Work *work, const char *type, const char *list_id, json_t *data);
