/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Import a list that another system keeps in a directory, with a file for each setting. The readers of such systems
 * (mlmmj.h, ezmlm.h) share these functions. Nothing is written into the directory.
 *
 * Files that are wanted are loaded first, by list_folder_load() under a name; functions with `name` use the loaded
 * text. A file that cannot be imported is reported (moving_tell()), and the function returns true. False: the import
 * must end.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"

typedef struct ListFolder {
    Moving *moving;
    const char *directory;
    char *list_id, *address;
    int64_t posts, created_at, last_post_at;
    GHashTable *texts; /* the loaded texts, by name: list_folder_load() */
} ListFolder;

/* The functions of one system's reader, called by list_folder_move() in this order. */
typedef struct ListFolderReader {
    bool (*settings)(ListFolder *from, GPtrArray *settings, GError **error); /* of moving.h */
    bool (*behind)(ListFolder *from, GError **error);                        /* report what has no equal */
    bool (*members)(ListFolder *from, GError **error);
    bool (*waiting)(ListFolder *from, const List *list, GError **error);
} ListFolderReader;
/* Import the list: its settings, its members, and posts and requests that wait. */
bool list_folder_move(ListFolder *from, const ListFolderReader *reader, GError **error);

/* Call take() for each file of a folder in the list's directory, in the order of their names. A folder that does not
 * exist counts as empty. If take() returns false, so does list_folder_each(). */
typedef bool ListFolderTake(ListFolder *from, const char *name, const char *path, void *data, GError **error);
bool list_folder_each(ListFolder *from, const char *folder, ListFolderTake *take, void *data, GError **error);
/* Count the files of a folder in the list's directory. */
bool list_folder_count(ListFolder *from, const char *folder, unsigned *count, GError **error);

/* Report that so many posts, or what else (`what`), are in the folder "archive", with the command that imports them. */
void list_folder_tell_archive(const ListFolder *from, unsigned count, const char *what);

/* Report how many texts of letters the list has in its folder "text", which stay behind; `read` is a file of them that
 * is imported, or NULL. False: the import must end. */
bool list_folder_tell_texts(ListFolder *from, const char *read, GError **error);

/* Report the error `why` of a file, and return true, so that the import goes on. If it is FAIL_LATER, return false with
 * it as error. why is taken. */
bool list_folder_pass_over(ListFolder *from, const char *file, GError *why, GError **error);
/* Read a file as UTF-8 into *text; g_free(). It is NULL, with true, if the file was reported under key as not usable.
 */
bool list_folder_text(ListFolder *from, const char *key, const char *path, char **text, GError **error);
/* Load the text of a file under name. A file that does not exist, or that was reported, is not loaded; true also then.
 */
bool list_folder_load(ListFolder *from, const char *name, const char *path, GError **error);
/* Was a text loaded under this name? */
bool list_folder_has(const ListFolder *from, const char *name);
/* Return the lines of a loaded text that are not empty, without blanks at their ends; g_strfreev(). */
char **list_folder_lines(const ListFolder *from, const char *name);
/* Add a setting whose value is the number in the first line of the text setting->key, divided by unit and rounded up;
 * `otherwise`, not divided, where there is no such text. */
void list_folder_number(const ListFolder *from, GPtrArray *settings, const MovingSetting *setting, int64_t unit,
                        int64_t otherwise);
/* Return the time at which a file of the list's directory was last changed, us; 0: there is no such file. */
int64_t list_folder_time(const ListFolder *from, const char *file);

/* Import two loaded texts: `added` has header fields that are added to posts, `removed` names of fields that are taken
 * out. Reply-To becomes settings. Other fields are reported as lost, unless they begin with a word of `usual` (ended by
 * NULL). */
void list_folder_fields(ListFolder *from, GPtrArray *settings, const char *added, const char *removed,
                        const char *const *usual);
/* Import a loaded text as the list's footer. Dollar signs in it are no placeholders. */
void list_folder_footer(const ListFolder *from, GPtrArray *settings, const char *name);
/* Import one member of this role. preferences NULL and action ACTION_UNSET: the member has none of its own. */
bool list_folder_member(ListFolder *from, const char *address, Role role, const Preferences *preferences, Action action,
                        GError **error);
/* Import the part "waiting": call take for each file of the folder, with list as its data. */
bool list_folder_waiting(ListFolder *from, const char *folder, ListFolderTake *take, const List *list, GError **error);
/* Import the post in a file, which waits for a moderator. */
bool list_folder_held(ListFolder *from, const List *list, const char *file, const char *path, GError **error);
