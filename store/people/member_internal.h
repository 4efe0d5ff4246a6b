/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare the pieces of SQL and the functions that the queries about members share. EFFECTIVE() is the only place where
 * preferences are inherited. It takes the first that is set of the member m, the address a, the person p and the site,
 * else the default. For this folder only.
 */
#include "store/people/member.h"
#include "store/people/user_internal.h"
#include "store/store_internal.h"

#define PREFERENCE_COLUMNS \
    "acknowledge_posts, hide_address, receive_list_copy, receive_own_postings, delivery_mode, delivery_status, " \
    "preferred_language"
#define PREFERENCE_COUNT 7
#define PREFERENCE_VALUES(own) \
    INTEGER_OR_NULL((own)->acknowledge_posts), INTEGER_OR_NULL((own)->hide_address), \
        INTEGER_OR_NULL((own)->receive_list_copy), INTEGER_OR_NULL((own)->receive_own_postings), \
        INTEGER_OR_NULL((own)->delivery_mode), INTEGER_OR_NULL((own)->delivery_status), \
        TEXT(*(own)->preferred_language ? (own)->preferred_language : NULL)

#define EFFECTIVE(column, fallback) \
    "COALESCE(m." column ", a." column ", p." column ", (SELECT " column " FROM site_preference), " fallback ")"
#define EFFECTIVE_ACKNOWLEDGE_POSTS EFFECTIVE("acknowledge_posts", "0")
#define EFFECTIVE_HIDE_ADDRESS EFFECTIVE("hide_address", "1")
#define EFFECTIVE_RECEIVE_LIST_COPY EFFECTIVE("receive_list_copy", "1")
#define EFFECTIVE_RECEIVE_OWN_POSTINGS EFFECTIVE("receive_own_postings", "1")
#define EFFECTIVE_DELIVERY_MODE EFFECTIVE("delivery_mode", "0")
#define EFFECTIVE_DELIVERY_STATUS EFFECTIVE("delivery_status", "0")

#define EFFECTIVE_PREFERRED_LANGUAGE EFFECTIVE("preferred_language", "''")

#define MEMBER_JOINS \
    " FROM member m LEFT JOIN address_preference a ON a.address = m.address" \
    " LEFT JOIN person_preference p ON p.person = m.person "

/* The name that was given to what is subscribed, the address d or the person u; else the other's; else the one that
 * came with the membership. A name that nobody gave is empty, not NULL. */
#define MEMBER_NAME \
    "CASE WHEN m.by_person = 1 THEN COALESCE(u.display_name, d.display_name, m.given_name, '') " \
    "ELSE COALESCE(d.display_name, u.display_name, m.given_name, '') END"

/* The columns that member_read_row() reads. */
#define MEMBER_COLUMNS \
    "SELECT m.key, l.list_id, m.email, " MEMBER_NAME ", m.role, m.moderation_action, " \
    "m.joined_at, m.by_person, m.person, u.stands_in, COALESCE(s.score, 0), m.acknowledge_posts, m.hide_address, " \
    "m.receive_list_copy, m.receive_own_postings, m.delivery_mode, m.delivery_status, m.preferred_language, " \
    EFFECTIVE_ACKNOWLEDGE_POSTS ", " EFFECTIVE_HIDE_ADDRESS ", " EFFECTIVE_RECEIVE_LIST_COPY \
    ", " EFFECTIVE_RECEIVE_OWN_POSTINGS ", " EFFECTIVE_DELIVERY_MODE ", " EFFECTIVE_DELIVERY_STATUS \
    ", " EFFECTIVE_PREFERRED_LANGUAGE \
    ", COALESCE(s.last_bounce_at, 0), COALESCE(s.warned_at, 0), COALESCE(s.warnings, 0), " \
    "COALESCE(m.given_name, '')" MEMBER_JOINS \
    "JOIN address d ON d.key = m.address JOIN person u ON u.key = m.person JOIN list l ON l.key = m.list " \
    "LEFT JOIN bounce_score s ON s.member = m.key "
Member *member_read_row(Query *query);

/* Somebody who is to be a member, and is none. All is borrowed but key, which is set. */
typedef struct NewMembership {
    const char *folded, *email; /* of the address; valid */
    const char *name;           /* of email_clean_name(); NULL: none */
    int64_t address, person;    /* keys; 0: it is not known yet, and is made */
    const Preferences *own;     /* NULL: none */
    int64_t key;                /* set; of the membership */
} NewMembership;
/* Add all new memberships (of NewMembership, each once), sorted by folded, in few statements; the rows are those of
 * member_add(). */
bool member_add_all(Store *store, const char *list_id, Role role, GPtrArray *new, GError **error);
/* A membership that is to go. folded is of the address, and borrowed. */
typedef struct OldMembership {
    int64_t key;
    const char *folded;
} OldMembership;
/* Remove these members (of OldMembership, each once; they are sorted by folded here), who have the role on the list, in
 * few statements, and count them out. */
bool member_remove_all(Store *store, int64_t list, Role role, GArray *members, GError **error);
/* Remove the members whose keys the query gives, which it frees (NULL: error is set), and count them out. *removed
 * (may be NULL): how many. */
bool member_remove_each(Store *store, Query *members, int64_t *removed, GError **error);
/* Give the members whose keys the query gives, which it frees (NULL: error is set), to this address, and count them
 * under it. by_person: they are memberships of the address's user from now on. */
bool member_move_each(Store *store, Query *members, const Email *to, bool by_person, GError **error);

/* Read preferences from PREFERENCE_COUNT columns of the row, from this one on. */
Preferences query_preferences(Query *query, int column);
