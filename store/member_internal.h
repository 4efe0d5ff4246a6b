/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What the queries about members share. Preferences are inherited here and
 * nowhere else: member, address, person, then the default, by COALESCE.
 * For this folder only.
 */
#include "store/email.h"
#include "store/member.h"
#include "store/store_internal.h"

#define PREFERENCE_COLUMNS \
    "acknowledge_posts, hide_address, receive_list_copy, receive_own_postings, delivery_mode, delivery_status"
#define PREFERENCE_COUNT 6
#define PREFERENCE_VALUES(own) \
    INTEGER_OR_NULL((own)->acknowledge_posts), INTEGER_OR_NULL((own)->hide_address), \
        INTEGER_OR_NULL((own)->receive_list_copy), INTEGER_OR_NULL((own)->receive_own_postings), \
        INTEGER_OR_NULL((own)->delivery_mode), INTEGER_OR_NULL((own)->delivery_status)

#define EFFECTIVE(column, fallback) "COALESCE(m." column ", a." column ", p." column ", " fallback ")"
#define EFFECTIVE_ACKNOWLEDGE_POSTS EFFECTIVE("acknowledge_posts", "0")
#define EFFECTIVE_HIDE_ADDRESS EFFECTIVE("hide_address", "1")
#define EFFECTIVE_RECEIVE_LIST_COPY EFFECTIVE("receive_list_copy", "1")
#define EFFECTIVE_RECEIVE_OWN_POSTINGS EFFECTIVE("receive_own_postings", "1")
#define EFFECTIVE_DELIVERY_MODE EFFECTIVE("delivery_mode", "0")
#define EFFECTIVE_DELIVERY_STATUS EFFECTIVE("delivery_status", "0")

#define MEMBER_JOINS \
    " FROM member m LEFT JOIN address_preference a ON a.address = m.address" \
    " LEFT JOIN person_preference p ON p.person = m.person "

/* user.c: goes from the address given to the one its person prefers; where
 * none is preferred yet, the one given becomes so. */
bool user_preferred(Store *store, Email *address, GError **error);

/* member.c: six columns from this one on. */
Preferences query_preferences(Query *query, int column);
