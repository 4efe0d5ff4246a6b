/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The tables of all resources, and what one resource shows of another. */
#include "runners/rest/rest.h"
#include "store/list.h"
#include "store/member.h"
#include "store/user.h"

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

/* operations.c: /metrics, which stands outside of the versions */
extern const RestRoute rest_metrics;

/* The fields of objects that several resources show. */
extern const RestField rest_address_fields[];
extern const RestField rest_list_fields[];
extern const RestField rest_member_fields[];
extern const RestField rest_user_fields[];

/* hosts.c: all of them, an array; NULL with the error */
json_t *hosts_json(const Call *call, Store *store, GError **error);

/* events.c; NULL is allowed */
void event_readers_free(struct EventReaders *readers);

/* lists.c */
#define STYLE_DEFAULT "legacy-default" /* of lists that are made without one */
json_t *list_json(const Call *call, Store *store, const List *list, GError **error);
/* The lists of a domain (NULL: of all), as the call's parameters ask for them. */
void answer_lists(Call *call, const char *domain);

/* members.c */
json_t *rest_member_json(const Call *call, const Member *member);
/* From the parameter subscriber, where it is given: a user's id (written into id), an address, or a pattern with *. */
void criteria_subscriber(Call *call, MemberCriteria *criteria, char id[STORE_ID_SIZE]);
/* From the parameter role, where it is given. False: 400 was answered. */
bool criteria_role(Call *call, MemberCriteria *criteria);
/* The members that fit, as count and page ask for them. */
void answer_members(Call *call, const MemberCriteria *criteria);

/* users.c, addresses.c, members.c: the one that the first argument names; NULL: 404 or 503 was answered. */
User *find_user(Call *call); /* by id or by address */
KnownAddress *find_address(Call *call);
Member *find_member(Call *call);

/* users.c, addresses.c */
json_t *user_json(const Call *call, const User *user);
json_t *address_json(const Call *call, const KnownAddress *address);
void answer_users(Call *call, const UserCriteria *criteria);

/* preferences.c: reads delivery_mode and delivery_status, if they were sent. False: 400 was answered. */
bool form_delivery(Call *call, int *mode, int *status);
