/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Shared by the files of this runner. README.md says what happens; G1 and the like in comments are of its tables. */
#include <glib.h>
#include <stdbool.h>

#include "runners/list_runner.h"
#include "store/digest.h"

#define DIGEST_QUEUE "digest"

/* The messages made of an issue: one for each group of its readers. */
typedef struct IssueTask {
    Runner *runner;
    Entry *entry; /* that makes it */
    const List *list;
    const DigestIssue *issue;
} IssueTask;

/* issue_build.c: adds an entry for the queue pipeline to outcome for each group. FAIL_LATER: disk or database. */
bool issue_build(const IssueTask *task, const GPtrArray *groups, Outcome *outcome, GError **error);

/* settle.c: issues whose entries are not known to be decided, at a start. */
bool settle_start(Runner *runner, GError **error);
