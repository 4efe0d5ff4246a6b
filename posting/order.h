/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Chains and pipelines of the site's own, [chain.NAME] and [pipeline.NAME]: in which order which rules and handlers
 * run. Lists choose them by the settings posting_chain, owner_chain, posting_pipeline and owner_pipeline.
 *
 *   [chain.strict]
 *   rules = loop:discard external.scanner member-moderation no-subject max-size any:hold
 *   otherwise = accept
 */
#include <glib.h>

#include "base/config.h"
#include "posting/chain.h"
#include "posting/pipeline.h"

typedef struct Orders Orders;

/* Reads them. A word that is no rule or handler is left out and told in the log; "listrunner config check" has told of
 * it before. */
Orders *orders_new(const Config *config);
void orders_free(Orders *orders);

/* By name, of the site's or built in; NULL: there is none. orders may be NULL. */
const Chain *order_chain(const Orders *orders, const char *name);
const Pipeline *order_pipeline(const Orders *orders, const char *name);

/* The names of all that a list may choose, in order; g_strfreev(). */
char **order_chain_names(const Config *config);
char **order_pipeline_names(const Config *config);
