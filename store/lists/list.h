/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read, make, change and remove mailing lists and their settings. A List is a snapshot: only reading it again shows
 * later changes. Functions that take a list_id want a List-Id as the field list_id has it (lower case); list_find()
 * takes what people write. FAIL_MISSING: there is no such list.
 *
 * Settings are a table (list_settings[] of store/lists/list_setting.h) with Mailman's names. Each has a type, a default
 * and a place in the struct. So the command line and REST need no code for each setting.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/lists/list_choice.h"
#include "store/store_type.h"

typedef struct List {
    char id[STORE_ID_SIZE];
    char *list_id;    /* RFC 2919: "test.example.com", for ever */
    char *list_name;  /* "test" */
    char *mail_host;  /* "example.com" */
    char *posting_address; /* "test@example.com" */
    int64_t created_at, last_post_at;
    int64_t post_id, archive; /* number of the next post, from 1; which archive it has (list_archive.h) */

    struct ListSettings *settings; /* store/lists/list_setting.h */
} List;

uint64_t list_refused_size(const List *list); /* bytes above which a post is refused, not held; 0: none is refused */
void list_free(List *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(List, list_free)

/* Names of the placeholders in templates around posts. The first are those of the list; LIST_POST_PLACEHOLDERS has
 * those of the recipient too, which are filled in where each recipient gets a copy of their own. */
#define LIST_PLACEHOLDERS \
    "list_name display_name description info list_id mail_host domain list_address listname fqdn_listname " \
    "short_listname posting_address owner_address owner_email request_address request_email join_address join_email " \
    "leave_address leave_email language"
#define LIST_POST_PLACEHOLDERS \
    LIST_PLACEHOLDERS " user_address user_email user_delivered_to user_name user_name_or_address user_name_or_email"

/* Return the value of a setting as text, g_free(); NULL with FAIL_MISSING: there is no such setting. By its
 * SettingType: BOOL is yes or no; PASSWORD is always ""; INTERVAL is "7d", "36h"; WORDS are separated by commas, a
 * comma inside a word is "\,". list_set() takes the same forms, and WORDS also one a line. */
char *list_get(const List *list, const char *name, GError **error);

/* Check and store one setting; list_reset() gives it its default. FAIL_NEVER: the value is not allowed, and the message
 * names what is. FAIL_MISSING: there is no such list or setting. */
bool list_set(Store *store, const char *list_id, const char *name, const char *value, GError **error);
bool list_reset(Store *store, const char *list_id, const char *name, GError **error);

/* Make a list with the default of each setting. FAIL_EXISTS: there is one with that address or List-Id; FAIL_MISSING:
 * the domain is not known; FAIL_NEVER: the name has characters that file names and headers should not have, or over
 * LIST_LOCAL_MAX bytes. list_free() */
List *list_create(Store *store, const char *posting_address, GError **error);
/* Give the list another posting address; the List-Id stays. FAIL_EXISTS: another list has it; FAIL_MISSING: there is
 * no such list, or the domain is not known; FAIL_NEVER: as list_create(). */
bool list_rename(Store *store, const char *list_id, const char *posting_address, GError **error);
/* Replace all settings of the list `to` by those of the list `from`. */
bool list_copy_settings(Store *store, const char *from, const char *to, GError **error);
/* Remove the list with all that belongs to it. Outside a transaction, members of a large list are removed first, some
 * thousand in each transaction; when that is interrupted, the list stays with the members that are left. */
bool list_remove(Store *store, const char *list_id, GError **error);
/* Remove some thousand members of a large list in one transaction, for a caller that shows progress: call it until
 * *removed is 0, which means that so few are left that list_remove() can take them along. */
bool list_remove_members(Store *store, const char *list_id, int64_t *removed, GError **error);

/* Find a list by its posting address (any case), by its List-Id, or, for text that people write, by either;
 * list_free(). An address may be in the alias of a domain. A list that was renamed is found also by the address of
 * which its List-Id was made. */
List *list_by_address(Store *store, const char *posting_address, GError **error);
List *list_by_id(Store *store, const char *list_id, GError **error);
List *list_find(Store *store, const char *text, GError **error);
/* Find a list by its name alone, or by the one that it had when it was made; list_free(). Of lists of that name in
 * several domains it is the one of this domain; FAIL_MISSING: none is. */
List *list_by_name(Store *store, const char *name, const char *domain, GError **error);

/* Return the local part of a list's address, "NAME-SUFFIX", or "NAME" for suffix NULL; g_free(). Where that is longer
 * than room (bytes), the list's short name (up to 30 bytes, never changing) takes the place of NAME. */
#define LIST_LOCAL_MAX 64 /* bytes, RFC 5321 4.5.3.1.1 */
char *list_local(const List *list, const char *suffix, size_t room);

/* Return the whole address: list_local() with room LIST_LOCAL_MAX, "@" and the domain; g_free(). */
char *list_address(const List *list, const char *suffix);

/* Set *exists: is there a list at local@domain? local is a list's name, its short name (list_local()), or that of the
 * address of which a renamed list's List-Id was made. It loads no list, so it suits each RCPT. *list_id (list_id may be
 * NULL; g_free()) is set when there is one. */
bool list_exists(Store *store, const char *local, const char *domain, bool *exists, char **list_id, GError **error);

/* Return the names (list_name) of the domain's lists that begin with `beginning`, in order; g_strfreev(). */
char **list_names(Store *store, const char *domain, const char *beginning, GError **error);

/* Call each for every list of the domain (NULL: of all domains), by domain, then name. each must not write to the
 * store; it returns false to stop, and list_each() then returns true. */
typedef bool ListEach(const List *list, void *data);
bool list_each(Store *store, const char *domain, ListEach *each, void *data, GError **error);

typedef struct ListCriteria {
    const char *domain; /* NULL: lists of all domains */
    bool advertised;    /* only lists with the setting advertised */
} ListCriteria;
/* Return at most limit lists that meet criteria (of List, freed with the array) in order of List-Id: those behind the
 * List-Id `after`, or with after NULL those behind the first `skip`. list_total() counts all that meet criteria. */
GPtrArray *list_page(Store *store, const ListCriteria *criteria, const char *after, int64_t skip, unsigned limit,
                     GError **error);
bool list_total(Store *store, const ListCriteria *criteria, int64_t *total, GError **error);

/* A value that lists have set for a setting. */
typedef struct ListNamed {
    char *value;
    int64_t lists;         /* how many lists have this value */
    char *posting_address; /* of one of these lists */
} ListNamed;

/* Return each value that any list has set for this text setting, except the empty one, in order of the values: of
 * ListNamed, g_ptr_array_unref(). */
GPtrArray *list_named(Store *store, const char *setting, GError **error);
