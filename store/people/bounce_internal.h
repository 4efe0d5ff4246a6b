/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare the statements of bounce.c whose query plans a test examines. For this folder only.
 */
#include "store/people/bounce.h"
#include "store/people/member_internal.h"
#include "store/store_internal.h"

#define BOUNCE_SCORE_COLUMNS \
    "m.key, l.list_id, m.email, " EFFECTIVE_DELIVERY_STATUS \
    ", s.score, s.last_bounce_at, s.probe_at, s.disabled_at, s.warnings, s.next_at, s.warned_at"
#define BOUNCE_SCORE_COLUMN_COUNT 11
/* CROSS JOIN keeps the order: those who have a score are few among the members, and looked at first. */
#define BOUNCE_PREFERENCES \
    "LEFT JOIN address_preference a ON a.address = m.address LEFT JOIN person_preference p ON p.person = m.person "
#define BOUNCE_SCORE_JOINS " FROM bounce_score s CROSS JOIN member m CROSS JOIN list l " BOUNCE_PREFERENCES
#define BOUNCE_SCORE_JOINED "m.key = s.member AND l.key = m.list "

/* Members with a score: of the address $2, or all; of the list $1, the domain $3 ("example.org "), the last reason $4,
 * where these are not ''. One address is found by the index of addresses and that of persons. */
#define BOUNCE_OF_REST \
    "s.member = m.key AND l.key = m.list AND ($1 = '' OR l.list_id = $1) " \
    "AND ($3 = '' OR substr(m.folded, 1, length($3)) = $3) " \
    "AND ($4 = '' OR $4 = (SELECT b.reason FROM bounce b WHERE b.list = m.list AND b.folded = m.folded " \
    "ORDER BY b.day DESC LIMIT 1))"
#define BOUNCE_OF_ALL \
    "SELECT m.key FROM bounce_score s CROSS JOIN member m CROSS JOIN list l WHERE $2 = '' AND " BOUNCE_OF_REST
#define BOUNCE_OF_ADDRESS \
    "SELECT m.key FROM address a CROSS JOIN member m CROSS JOIN bounce_score s CROSS JOIN list l " \
    "WHERE a.folded = $2 AND m.person = a.person AND m.folded = $2 AND " BOUNCE_OF_REST

/* The statement by which bounce_reset() gives members their mail again; 2 is DELIVERY_BY_BOUNCES. */
#define BOUNCE_ENABLE(whom) "UPDATE member SET delivery_status = NULL WHERE delivery_status = 2 AND key IN (" whom ")"
#define BOUNCE_FORGET(whom) "DELETE FROM bounce_score WHERE member IN (" whom ")"

/* Select days: of the list $1 and the address $2, of one of these, or of all; of the domain $3 and with the reason $4
 * where these are not ''; from day $5 on. */
#define BOUNCE_DAY_COLUMNS "b.day, b.bounces, b.weight, b.last_at, b.class, b.status, b.reason, b.source, b.text"
#define BOUNCE_DAYS(from, which) \
    "SELECT l.list_id, b.email, b.folded, " BOUNCE_DAY_COLUMNS " FROM " from " WHERE l.key = b.list AND " which \
    "AND ($3 = '' OR substr(b.folded, 1, length($3)) = $3) AND ($4 = '' OR b.reason = $4) AND b.day >= $5 " \
    "ORDER BY b.day, l.list_id, b.folded"
#define BOUNCE_DAYS_OF_BOTH BOUNCE_DAYS("list l CROSS JOIN bounce b", "l.list_id = $1 AND b.folded = $2 ")
#define BOUNCE_DAYS_OF_LIST BOUNCE_DAYS("list l CROSS JOIN bounce b", "l.list_id = $1 AND $2 = '' ")
#define BOUNCE_DAYS_OF_ADDRESS BOUNCE_DAYS("list l CROSS JOIN bounce b", "$1 = '' AND b.folded = $2 ")
#define BOUNCE_DAYS_OF_ALL BOUNCE_DAYS("bounce b CROSS JOIN list l", "$1 = '' AND $2 = '' ")

/* Select the members with a score, each with its last day: all, or those with the address $2; of the list $1, of the
 * domain $3 and with the reason $4 where these are not ''; with a last day from $5 on, unless that is 0. */
#define BOUNCE_STANDINGS(from, which) \
    "SELECT " BOUNCE_SCORE_COLUMNS ", " BOUNCE_DAY_COLUMNS from \
    "LEFT JOIN bounce b ON b.list = m.list AND b.folded = m.folded AND b.day = " \
    "(SELECT MAX(e.day) FROM bounce e WHERE e.list = m.list AND e.folded = m.folded) " \
    "WHERE " BOUNCE_SCORE_JOINED "AND " which "AND ($1 = '' OR l.list_id = $1) " \
    "AND ($3 = '' OR substr(m.folded, 1, length($3)) = $3) " \
    "AND ($4 = '' OR b.reason = $4) AND ($5 = 0 OR b.day >= $5) ORDER BY l.list_id, m.folded"
#define BOUNCE_STANDINGS_OF_ADDRESS \
    BOUNCE_STANDINGS(" FROM address x CROSS JOIN member m CROSS JOIN bounce_score s CROSS JOIN list l " \
                     BOUNCE_PREFERENCES, "x.folded = $2 AND m.person = x.person AND m.folded = $2 ")
#define BOUNCE_STANDINGS_OF_ALL BOUNCE_STANDINGS(BOUNCE_SCORE_JOINS, "$2 = '' ")
