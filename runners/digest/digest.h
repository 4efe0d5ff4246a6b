/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare what the files of the runner digest share. README.md says how a digest is made; G1 and the like in comments
 * are rows of its tables. */
#include <glib.h>
#include <stdbool.h>

#include "runners/posts/list_runner.h"
#include "store/posts/digest.h"

#define DIGEST_QUEUE "digest"

/* The making of one issue of a digest; all is borrowed. */
typedef struct IssueTask {
    Runner *runner;
    Entry *entry; /* the entry that asks for the issue */
    const List *list;
    const DigestIssue *issue;
} IssueTask;

/* issue_build.c: write the issue as one message for each group of readers (groups: of DigestGroup), and add a draft for
 * the queue pipeline with each to outcome. FAIL_LATER: the disk or the database failed. */
bool issue_build(const IssueTask *task, const GPtrArray *groups, Outcome *outcome, GError **error);

/* settle.c: at a start, settle each issue of this host and slice whose entry is in no queue any more. An issue whose
 * entry was damaged is withdrawn: its posts wait for the next issue. False: the store or a queue could not be read. */
bool settle_start(Runner *runner, GError **error);
