/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The list of all tables of settings, in the order of the documentation. Each name is that of the FOLDER_settings in
 * the settings.c of a folder (base/config_table.h). A new runner adds one line here.
 */
#include "base/config_table.h"

#define FOLDERS(_) \
    _(site)        \
    _(lists)       \
    _(style)       \
    _(spool)       \
    _(store)       \
    _(master)      \
    _(lmtp)        \
    _(in)          \
    _(pipeline)    \
    _(posting)     \
    _(virgin)      \
    _(out)         \
    _(bounces)     \
    _(archive)     \
    _(digest)      \
    _(nntp)        \
    _(defragment)  \
    _(command)     \
    _(hooks)       \
    _(rest)        \
    _(web)         \
    _(task)        \
    _(mta)         \
    _(host)        \
    _(handover)    \
    _(watch)

#define DECLARE(folder) extern const ConfigSettings folder##_settings;
FOLDERS(DECLARE)

#define ADDRESS(folder) &folder##_settings,
const ConfigSettings *const config_settings[] = {FOLDERS(ADDRESS) NULL};
