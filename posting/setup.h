/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read what the configuration says of posts: the settings of rules and handlers, once for all posts of a process; the
 * transport that a list's mail takes; and the chains and pipelines that the site makes itself, by sections
 * [chain.NAME] and [pipeline.NAME]. These say which rules and handlers run, and in which order. Lists choose them by
 * the settings posting_chain, owner_chain, posting_pipeline and owner_pipeline.
 *
 *   [chain.strict]
 *   rules = loop:discard external.scanner member-moderation no-subject max-size any:hold
 *   otherwise = accept
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "posting/chain.h"
#include "posting/pipeline.h"
#include "posting/post.h"
#include "store/lists/list.h"

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

/* Return the section "transport.NAME" of the transport with this name; g_free(). transport NULL or "": the default
 * one. NULL: there is no such section. */
char *transport_section(const Config *config, const char *transport);

/* Are parts of messages (message/partial) for the list to be joined? The list's setting decides, or, if it is not set,
 * the list's transport. */
bool transport_defragments(const Config *config, const List *list);

typedef struct PostSetup {
    PostSite site;                                           /* borrows from the others and from the configuration */
    GPtrArray *dkim_keys, *rule_programs, *handler_programs; /* of DkimKey, External */
    struct Orders *orders;
} PostSetup;

/* Read the settings from config, which must live as long as the PostSetup. The caller then sets site.news, site.alive
 * and site.ask. Keys for signatures are read only with `signs`: the files are readable only to processes that sign. */
void post_setup_init(PostSetup *setup, const Config *config, bool signs);
void post_setup_clear(PostSetup *setup);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PostSetup, post_setup_clear)
