/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A list that another system keeps in a directory, a file for each setting: what the readers of such systems (mlmmj.h,
 * ezmlm.h) share. Nothing is written there.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"

typedef struct ListFolder {
    Moving *moving;
    const char *directory;
    char *list_id, *address;
    int64_t posts, created_at, last_post_at;
    GHashTable *texts; /* of files, by their names: list_folder_load() */
} ListFolder;

/* The steps of list_folder_move(). */
typedef struct ListFolderReader {
    bool (*settings)(ListFolder *from, GPtrArray *settings, GError **error); /* of setting_list.h */
    bool (*behind)(ListFolder *from, GError **error);                        /* tell what has no equal */
    bool (*members)(ListFolder *from, GError **error);
    bool (*waiting)(ListFolder *from, const List *list, GError **error);
} ListFolderReader;
/* Describe the list. */
bool list_folder_move(ListFolder *from, const ListFolderReader *reader, GError **error);

/* Call take for each file of a folder below the list's, in the order of their names. One that is not there has none. */
typedef bool ListFolderTake(ListFolder *from, const char *name, const char *path, void *data, GError **error);
bool list_folder_each(ListFolder *from, const char *folder, ListFolderTake *take, void *data, GError **error);
bool list_folder_count(ListFolder *from, const char *folder, unsigned *count, GError **error);

/* Tell what is wrong with a file and go on, unless the system failed. why is taken. */
bool list_folder_pass_over(ListFolder *from, const char *file, GError *why, GError **error);
/* *text is NULL where what is wrong with it was told; g_free(). */
bool list_folder_text(ListFolder *from, const char *key, const char *path, char **text, GError **error);
/* Keep the text of a file under name. One that is not there, or cannot be taken, is not kept. */
bool list_folder_load(ListFolder *from, const char *name, const char *path, GError **error);
bool list_folder_has(const ListFolder *from, const char *name);
/* The lines of a text that are not empty, without blanks at their ends; g_strfreev(). */
char **list_folder_lines(const ListFolder *from, const char *name);
/* Set a number to the first line, in units and rounded up; otherwise: there is no such text. */
void list_folder_number(const ListFolder *from, GPtrArray *settings, const MovingSetting *setting, int64_t unit,
                        int64_t otherwise);
/* The time of a file; 0: there is none. */
int64_t list_folder_time(const ListFolder *from, const char *file);

/* Fields that are added to posts, and names of fields that are taken out: Reply-To becomes settings, others are told
 * unless they begin with a word of `usual` (ended by NULL). */
void list_folder_fields(ListFolder *from, GPtrArray *settings, const char *added, const char *removed,
                        const char *const *usual);
/* A footer, whose dollar signs mean nothing there. */
void list_folder_footer(const ListFolder *from, GPtrArray *settings, const char *name);
/* preferences and action are those of a member; NULL and ACTION_UNSET: none. */
bool list_folder_member(ListFolder *from, const char *address, Role role, const Preferences *preferences, Action action,
                        GError **error);
/* The part of what waits, a file each; data of take is the list. */
bool list_folder_waiting(ListFolder *from, const char *folder, ListFolderTake *take, const List *list, GError **error);
/* A file with a post that waits for a moderator. */
bool list_folder_held(ListFolder *from, const List *list, const char *file, const char *path, GError **error);
