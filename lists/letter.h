/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Writes letters: fills a template in the language of the person, else of the list, adds the fields of RFC 3834 and RFC
 * 5322, and leaves an entry for the queue virgin (which adds List-Id) in the unit of work. The text is the one that
 * somebody set for the list, for its domain or for the site (store/template_text.h); else the file of the site's
 * template_directory, else the built-in one. A letter that cannot be made because its template is missing is told in
 * the log and nothing else: what it is about must not wait for it.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "mail/notice.h"
#include "mail/template.h"
#include "store/store.h"

/* Who writes, to whom, about what; all borrowed but recipients. */
typedef struct ListLetter {
    const char *template;
    const TemplateValue *values; /* besides those of template_common (lists/template_name.h); the last has no name;
                                    NULL: none */
    const char *language;         /* NULL: that of `to`, else the list's */
    const char *from_name, *from; /* from NULL: the list's owner address */
    const char *to;               /* of the header, and the recipient */
    const char *reply_to;         /* NULL: none */
    char **recipients;            /* in place of to; consumed */
    const char *envelope_sender;  /* NULL: none, so that nobody answers it */
    const char *queue;            /* NULL: virgin; "notice" is for what must not be changed any more */
    const char *id;               /* left side of the Message-ID; NULL: a new one */
    const char *in_reply_to;      /* Message-ID, of what it answers; NULL: it answers nothing */
    bool personal;                /* without Precedence */
    NoticeAttach attach;
    GBytes *about;
    const GPtrArray *further;     /* more that are attached like about, of GBytes; NULL: none */
    size_t most;                  /* octets of each that are attached; 0: all */
    int64_t date;                 /* 0: now */
    const char *trace;            /* of the mail it is about, for the log; NULL: one of its own */
} ListLetter;

/* False only when the store failed. */
bool work_letter(Work *work, const List *list, const ListLetter *letter, GError **error);

/* The text of a template for a list: language NULL is the list's own. A text that somebody set without a first line
 * "Subject: ..." gets that of the file. g_free(); NULL: there is none, or the store failed. */
char *letter_text(const Work *work, const List *list, const char *language, const char *template, GError **error);

/* Fills a text with values (as ListLetter has them; NULL: none) and with what every letter about a list has;
 * g_free(). */
char *letter_fill(const Work *work, const List *list, const char *text, const TemplateValue *values);

/* The language in which an address is written to about a list; g_free(). */
char *letter_language(const Work *work, const List *list, const char *address);

/* May an address that did not prove itself get one more letter today? It is counted. When not, the log says so,
 * and the first time the address is told that it gets no more today. */
bool letter_allowed(Work *work, const List *list, const char *address, bool *allowed, GError **error);

/* The list's owners and moderators; where there are none the site's owner: an array, g_strfreev(). NULL: the store
 * failed. */
char **letter_owners(Store *store, const List *list, const char *site_owner, GError **error);

/* A sentence of the template "answers", whose lines are "key: sentence" (\n in one is the end of a line), in a language
 * (NULL: the list's), filled with values as above; g_free(). The key itself when there is none. */
char *letter_sentence(const Work *work, const List *list, const char *language, const char *key,
                      const TemplateValue *values);
