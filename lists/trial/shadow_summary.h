/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Sum up the report of a shadow (shadow.h): in how many posts Listrunner and the live server differ, and in what. */
#include <glib.h>
#include <jansson.h>
#include <stdint.h>

/* The counts of posts of one list, or of all lists together (list NULL). */
typedef struct ShadowCount {
    char *list;
    uint64_t posts, equal, decision, recipients, header, body; /* a post may differ in several of these */
    uint64_t skipped, copies;                                  /* not compared; sent by the live server alone */
} ShadowCount;

typedef struct ShadowSummary {
    GHashTable *lists;  /* List-Id -> ShadowCount */
    GHashTable *fields; /* name of a field -> uint64_t *: posts in which it differs */
    ShadowCount all;
    uint64_t unreadable; /* lines */
} ShadowSummary;

void shadow_summary_init(ShadowSummary *summary);
void shadow_summary_clear(ShadowSummary *summary);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ShadowSummary, shadow_summary_clear)

/* Count one line of the report, with or without its line end. A line that cannot be read counts as unreadable. */
void shadow_summary_add(ShadowSummary *summary, const char *line, size_t length);
