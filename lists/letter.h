/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Writes letters: fills a template in the language of the person, else of the list, adds the fields of RFC 3834 and RFC
 * 5322, and leaves an entry for the queue virgin in the unit of work. That queue adds List-Id, but for templates of the
 * site (TEMPLATE_OF_SITE). The text is the one that somebody set for the list, for its domain or for the site
 * (store/template_text.h); else the file of the site's template_directory, else the built-in one. A letter that cannot
 * be made because its template is missing is told in the log and nothing else: what it is about must not wait for it.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "mail/loop_mark.h"
#include "mail/notice.h"
#include "mail/template.h"
#include "store/list.h"
#include "store/store.h"

/* The sender, the recipients and the subject of a letter. All is borrowed except recipients. */
typedef struct ListLetter {
    const char *template;
    const TemplateValue *values; /* besides those of template_common (lists/template_name.h); the last has no name;
                                    NULL: none */
    const char *must_say;        /* one of values, which stands at the end where the text does not use it; NULL: none */
    const char *language;         /* NULL: that of `to`, else the list's */
    const char *from_name, *from; /* from NULL: the list's owner address */
    const char *to;               /* of the header, and the recipient */
    const char *reply_to;         /* NULL: none */
    char **recipients;            /* in place of to; consumed */
    const char *envelope_sender;  /* NULL: none, so that nobody answers it */
    const char *queue;            /* NULL: virgin; "notice" is for what must not be changed any more */
    const char *in_reply_to;      /* Message-ID, of what it answers; NULL: it answers nothing */
    bool personal;                /* without Precedence, as are those of the site */
    NoticeAttach attach;
    GBytes *about;
    const GPtrArray *further;     /* more that are attached like about, of GBytes; NULL: none */
    size_t most;                  /* bytes of each that are attached; 0: all */
    const LoopMark *mark;         /* of letter_mark(), where many letters are about the same; NULL: it is read anew */
    int64_t date;                 /* 0: now */
    const char *trace;            /* of the mail it is about, for the log; NULL: one of its own */
} ListLetter;

/* False only when the store failed. */
bool work_letter(Work *work, const List *list, const ListLetter *letter, GError **error);

/* Read the mark (mail/loop_mark.h) that a letter has of the mails that it is about and of the unit's cause, into an
 * empty one. False: the store failed. */
bool letter_mark(Work *work, const ListLetter *letter, LoopMark *mark, GError **error);

/* The text of a template for a list: language NULL is the list's own. A text that somebody set without a first line
 * "Subject: ..." gets that of the file. g_free(); NULL: there is none, or the store failed. */
char *letter_text(const Work *work, const List *list, const char *language, const char *template, GError **error);

/* Fills a text with values (as ListLetter has them; NULL: none) and with what every letter about a list has;
 * g_free(). */
char *letter_fill(const Work *work, const List *list, const char *text, const TemplateValue *values);

/* The name that came with a membership or role of the address on this list, and no name that was given to another list;
 * g_free(). "" where there is none, or the store fails, for no letter is kept back for a name. */
char *letter_member_name(const Work *work, const List *list, const char *address);

/* Have those who run a list or its domain set the text in which an address is written to with this template? False for
 * the site's text and for that of a file of the installation. */
bool letter_is_worded_below(Work *work, const List *list, const char *address, const char *template, bool *worded,
                            GError **error);

/* Are there letters in this language, of the site or of the installation? */
bool letter_speaks(const WorkSite *site, const char *language);

/* The language in which an address is written to about a list; about the site where list is NULL, and then what those
 * who run lists have set for a member does not count; g_free(). */
char *letter_language(const Work *work, const List *list, const char *address);

/* May an address that did not prove itself get one more answer today? It is counted, for the mailbox and for the
 * network that the mail came from. When not, the log says so, and the first time the mailbox is told that it gets no
 * more. */
bool letter_allowed(Work *work, const List *list, const char *address, bool *allowed, GError **error);

/* A letter that asks an address to confirm. */
typedef struct LetterAsking {
    const char *address;
    const char *kind; /* what is asked for: "join", "leave", ... */
    bool of_site;     /* the answer concerns all lists, so the letters of all lists are one count, and few */
    bool of_member;   /* only a member gets such a letter, so that strangers cannot cause many */
    bool sign_in;     /* it brings a link to sign in on the pages: a few an hour for a mailbox */
    bool vouched;     /* somebody who has proved an address, or may decide, has agreed already */
} LetterAsking;

/* The same for such a letter. Its count is one for each list and kind, so answers never use up what somebody needs to
 * join or to leave. Letters that others asked for by mail are counted apart from those that the address itself asked
 * for, and the latter for each network, so nobody uses up another's count by writing in that name. A letter that a form
 * of a page asks for (DOOR_PAGE, ACTOR_ADDRESS) has counts of its own: one a day for the mailbox over all lists, and
 * what the site allows for all. */
bool letter_asking_allowed(Work *work, const List *list, const LetterAsking *asking, bool *allowed, GError **error);

/* The list's owners and moderators; where there are none the site's owner: an array, g_strfreev(). NULL: the store
 * failed. */
char **letter_owners(Store *store, const List *list, const char *site_owner, GError **error);

/* The text for $page in a letter that brings a token: a sentence and the link to the page of that kind ("confirm",
 * "decide") which does the same as an answer; "" where the site has no pages; g_free(). */
char *letter_page(const Work *work, const List *list, const char *language, const char *kind, const char *token);

/* A sentence of the template "answers", whose lines are "key: sentence" (\n in one is the end of a line), in a language
 * (NULL: the list's), filled with values as above; g_free(). The key itself when there is none. */
char *letter_sentence(const Work *work, const List *list, const char *language, const char *key,
                      const TemplateValue *values);
