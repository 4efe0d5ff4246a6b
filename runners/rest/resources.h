/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the files of runners/rest need of each other: the table of routes of each resource, and the functions
 * with which one resource reads or shows objects of another. A json_t that is returned is the caller's (json_decref()).
 */
#include "runners/rest/rest.h"
#include "store/lists/list.h"
#include "store/people/member.h"
#include "store/people/user.h"

extern const RestRoute rest_system[];
extern const RestRoute rest_configuration[];
extern const RestRoute rest_domains[];
extern const RestRoute rest_lists[];
extern const RestRoute rest_config[];
extern const RestRoute rest_members[];
extern const RestRoute rest_users[];
extern const RestRoute rest_addresses[];
extern const RestRoute rest_preferences[];
extern const RestRoute rest_held[];
extern const RestRoute rest_requests[];
extern const RestRoute rest_bans[];
extern const RestRoute rest_header_matches[];
extern const RestRoute rest_templates[];
extern const RestRoute rest_archivers[];
extern const RestRoute rest_digests[];
extern const RestRoute rest_queues[];
extern const RestRoute rest_others[];
extern const RestRoute rest_operations[];
extern const RestRoute rest_hosts[];
extern const RestRoute rest_scheduled[];
extern const RestRoute rest_sources[];
extern const RestRoute rest_events[];
extern const RestRoute rest_trace[];
extern const RestRoute rest_openapi[];

/* operations.c: the route /metrics, whose path has no version of the interface before it. */
extern const RestRoute rest_metrics;

/* The fields of objects that several resources show. */
extern const RestField rest_address_fields[];
extern const RestField rest_list_fields[];
extern const RestField rest_member_fields[];
extern const RestField rest_user_fields[];

/* events.c: free what serves the readers of events; NULL is allowed. */
void event_readers_free(struct EventReaders *readers);

/* lists.c */
#define STYLE_DEFAULT "legacy-default" /* the style of a list when the call that makes it names none */

/* members.c: narrow criteria to the call's parameter subscriber, if it was sent: a user's id, an address, or a pattern
 * with *. The criteria borrow the call's text and id, into which a user's id is written: keep both until the search is
 * over. */
void criteria_subscriber(Call *call, MemberCriteria *criteria, char id[STORE_ID_SIZE]);
/* Narrow criteria to the call's parameter role, if it was sent. False: it is no role, and 400 was answered. */
bool criteria_role(Call *call, MemberCriteria *criteria);
/* Answer the call with the members that fit criteria, as its parameters count, page and fields ask for them. A list
 * that does not exist has no members. */
void answer_members(Call *call, const MemberCriteria *criteria);

/* members.c: return the member whose id is the first argument of the path; it is the caller's. NULL: 404 or 503 was
 * answered. */
Member *find_member(Call *call);

/* waiting.c: return the name by which clients know a request; g_free(). It is no secret, and no token that confirms by
 * mail. */
char *request_token(int64_t number);

/* users.c */
json_t *user_json(const Call *call, const User *user);
/* Read the parameters delivery_mode and delivery_status. A value whose parameter was not sent stays as
 * it is. False: 400 was answered. */
bool form_delivery(Call *call, int *mode, int *status);
