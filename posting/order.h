/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the chains and pipelines that the site makes itself, by sections [chain.NAME] and [pipeline.NAME]. They say
 * which rules and handlers run, and in which order. Lists choose them by the settings posting_chain, owner_chain,
 * posting_pipeline and owner_pipeline.
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

/* Read the chains and pipelines of the configuration, which must live as long as the Orders. A word that is no rule,
 * chain or handler is left out, and the log says so; "listrunner config check" reports it too. */
Orders *orders_new(const Config *config);
void orders_free(Orders *orders);

/* Return the chain of this name, the site's own before a built-in one; NULL: there is none. It is borrowed from orders.
 * orders NULL: only those that are built in. */
const Chain *order_chain(const Orders *orders, const char *name);
/* Return the pipeline of this name, as order_chain() does. */
const Pipeline *order_pipeline(const Orders *orders, const char *name);

/* Return the names of all chains that a list may choose, in order; g_strfreev(). */
char **order_chain_names(const Config *config);
/* Return the names of all pipelines that a list may choose, in order; g_strfreev(). */
char **order_pipeline_names(const Config *config);
