/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read the settings of rules and handlers from the configuration, once for all posts of a process. */
#include "base/config.h"
#include "posting/post.h"

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
