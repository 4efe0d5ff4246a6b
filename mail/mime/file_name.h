/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find the names that mail programs may give to the file in a part, and make a name safe. RFC 2183 has one name, the
 * parameter "filename" of Content-Disposition. Programs also take "name" of Content-Type and of some older fields, one
 * or another of several, encoded words within quotes, or pieces in any order. Some take all that stands behind a quote
 * that does not end. A filter that refuses files by their names has to look at all names.
 */
#include <glib.h>
#include <stdbool.h>

typedef struct FileName {
    char *text;   /* UTF-8 */
    bool certain; /* by the standards, or by most programs; else some program may read the field like this */
} FileName;

/* Return an empty list for file_names_add(), which frees its elements; g_ptr_array_unref(). */
GPtrArray *file_names_new(void);

/* Append the names that a header field may hold, none when the field is of another kind. field is its name, value what
 * stands behind the colon, with its folds. */
void file_names_add(GPtrArray *names, const char *field, const char *value);

/* Return the ending of a name, without its dot; g_free(). "" when there is none. Blanks and dots behind it do not
 * count, because Windows drops them when it keeps the file: of "x.EXE. " it is "EXE". Letters that nobody sees do not
 * count either, and a full-width dot or letter counts as the usual one. */
char *file_name_ending(const char *name);

/* Return a name under which the file can be kept without harm; g_free(). It is the last component of the path, valid
 * UTF-8 on one line. Signs that a file system or a shell takes amiss become "_". A dot or hyphen at the beginning, and
 * blanks and dots at the end, are left out. The name of a device of Windows gets a "_" before it ("_CON.txt"). A name
 * of more than `most` bytes is cut before its ending. "" when nothing is left. */
char *file_name_safe(const char *name, size_t most);
