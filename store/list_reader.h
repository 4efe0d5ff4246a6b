/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read lists and their members, in runners outside this tree. This is the part of the store that is installed
 * (listrunner-store.pc). It writes nothing, and speaks in names and texts as the command line does, so that a runner
 * need not know the tables.
 *
 * A ListReader is one connection to the database; it belongs to one thread. Each call sees what was committed before
 * it. Errors: FAIL_LATER: the database cannot be used now. FAIL_MISSING: there is no such list or setting. FAIL_NEVER:
 * there is no such role. FAIL_CONFIG: it is no database of this version.
 *
 * The library is static: a runner is compiled again when Listrunner is upgraded, as it must know the version of the
 * database. What is declared here stays as it is within LIST_READER_VERSION; more may be added.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

#define LIST_READER_VERSION 1

typedef struct ListReader ListReader;

/* Open the database that section [store] of config names. A database that is missing is not made; one of an older
 * version is brought up to date, as by every program. */
ListReader *list_reader_open(const Config *config, GError **error);
void list_reader_free(ListReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ListReader, list_reader_free)

/* list_id is what entry_list() gives: "test.example.com". Results are owned by the caller, g_free(). */

/* Return the list's posting address, "test@example.com". */
char *list_reader_address(ListReader *reader, const char *list_id, GError **error);
/* Return a setting as `listrunner list get` prints it: "yes", "7d", "hold". */
char *list_reader_setting(ListReader *reader, const char *list_id, const char *name, GError **error);

typedef struct ListReaderMember {
    const char *address;
    const char *display_name; /* "" when none is known */
    bool gets_posts;          /* one by one, as they come: delivery is enabled, and no digest is wanted */
} ListReaderMember;

/* Call each for every member in that role ("member", "owner", "moderator" or "nonmember"), in order of domain and
 * local part. The member is borrowed for the call. each returns false to stop; list_reader_members() then returns
 * true. */
typedef bool ListReaderEach(const ListReaderMember *member, void *data);
bool list_reader_members(ListReader *reader, const char *list_id, const char *role, ListReaderEach *each, void *data,
                         GError **error);
/* Set *is: has this address that role? Case does not matter. */
bool list_reader_is_member(ListReader *reader, const char *list_id, const char *role, const char *address, bool *is,
                           GError **error);
