/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Search the messages in the index of an archive (archive_index.h). A search is text that somebody typed:
 *
 *   frost harvest            both words, in subject, sender's name or text
 *   "late frost"             these words one behind the other
 *   subject:frost            in the subject; subject:"late frost"
 *   from:anne                in the sender's name, and where the caller allows it in the address
 *   after:2026-03-01         not before that day (UTC); also 2026-03 and 2026
 *   before:2026-04           before that day, month or year began
 *   -word, -"a phrase", -from:anne    without it
 *
 * Any text is a search, and none is an error: what is no such word is taken for words. Case and accents make no
 * difference, and words are whole ones. Chinese, Japanese, Korean, Thai, Khmer and Burmese, which are written without
 * blanks, are kept by pairs of characters, so any part of a sentence is found. Quoted lines ("> ") and signatures are
 * not searched; the message that is quoted is found itself.
 *
 * The newest come first. With `ranked` the best of the newest ARCHIVE_RANKED do: a word counts most in the subject,
 * then in the sender's name, then in the text. So a search costs no more in a large list than in a small one. When it
 * finds many that the caller may not read, it has a limit (`patience`), and says where it would go on.
 */
#include "store/archive/archive_index.h"

#define ARCHIVE_RANKED 1000    /* messages */
#define ARCHIVE_QUERY_MAX 1000 /* bytes; the rest of a longer one is left out */
#define ARCHIVE_TERMS_MAX 32   /* words and phrases of a query; further ones are left out */

typedef struct ArchiveQuery ArchiveQuery;

/* Read what somebody typed; any bytes. */
ArchiveQuery *archive_query_new(const char *text);
void archive_query_free(ArchiveQuery *query);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveQuery, archive_query_free)

/* Has the query nothing that could be looked for? */
bool archive_query_is_empty(const ArchiveQuery *query);

/* Return what was understood, in the same language; g_free(). */
char *archive_query_text(const ArchiveQuery *query);

typedef struct ArchiveSearch {
    const int64_t *lists; /* numbers of those that may be read */
    size_t list_count;
    bool addresses; /* from: also finds addresses; not for strangers, who could ask whether one is here */
    bool ranked;
    int64_t behind;   /* go on behind the message with this id; 0: begin. Not with ranked */
    unsigned limit;   /* 1 to ARCHIVE_PAGE_MAX */
    int64_t patience; /* microseconds, 0: any time */
} ArchiveSearch;

typedef struct ArchiveFound {
    GPtrArray *messages; /* of ArchiveMessage */
    int64_t next;        /* `behind` for the next page; 0: there is no more */
    bool impatient;      /* the search has not come to its end, and may go on at `next` */
} ArchiveFound;
void archive_found_clear(ArchiveFound *found);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ArchiveFound, archive_found_clear)

/* Carry out a search, and fill *found, which the caller clears, with one page. FAIL_NEVER: the query is empty. */
bool archive_index_search(ArchiveIndex *index, const ArchiveQuery *query, const ArchiveSearch *search,
                          ArchiveFound *found, GError **error);

/* A piece of a text, and whether it is something that was looked for. */
typedef struct ArchivePiece {
    char *text; /* UTF-8 */
    bool hit;
} ArchivePiece;

/* Cut the best part of a text of about so many characters around what was looked for, as pieces in order; of
 * ArchivePiece. Blanks and line ends in a row are one blank. */
GPtrArray *archive_query_snippet(const ArchiveQuery *query, const char *text, size_t length, unsigned characters);
