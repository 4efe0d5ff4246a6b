/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write letters, which are the mails that Listrunner itself sends to people. A letter is a template, filled in the
 * language of the person, else of the list, with the fields of RFC 3834 and RFC 5322. It is left as an entry for the
 * queue virgin in the unit of work (lists/work.h), so it is sent only when that unit is committed. The queue adds
 * List-Id, except to templates of the site (TEMPLATE_OF_SITE).
 *
 * The text is the one that somebody set for the list, for its domain or for the site (store/lists/template_text.h);
 * else the file of the site's template_directory, else the built-in one. If the template is missing, the log says so
 * and no letter is sent. That is no error, since the change that the letter tells of must not wait for it.
 *
 * A function that returns bool returns false, with error set, only when the store failed.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/mailbox.h"
#include "lists/work.h"
#include "mail/loop_mark.h"
#include "mail/text/notice.h"
#include "mail/text/template.h"
#include "store/lists/list.h"
#include "store/store.h"

/* The sender, the recipients and the subject of a letter. All is borrowed except recipients. */
typedef struct ListLetter {
    const char *template;
    const TemplateValue *values; /* besides template_common (lists/letters/template_name.h); the last has no name;
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

/* Leave the letter in the unit of work; true also when its template is missing or it has no recipient. letter and all
 * in it may be freed afterwards; the array recipients of it is freed here. */
bool work_letter(Work *work, const List *list, const ListLetter *letter, GError **error);

/* Compute the loop mark of a letter (mail/loop_mark.h) from the mails that it is about and from the mail that caused
 * the unit of work. *mark must be empty before, and is the caller's to clear. */
bool letter_mark(Work *work, const ListLetter *letter, LoopMark *mark, GError **error);

/* Return the text of a template for a list, not filled yet; g_free(). language NULL: the list's own. A text that
 * somebody set without a first line "Subject: ..." gets the subject of the template's file. NULL with FAIL_MISSING:
 * there is no such template; with another code: the store failed. */
char *letter_text(const Work *work, const List *list, const char *language, const char *template, GError **error);

/* Fill the placeholders of a text with values (as in ListLetter; NULL: none) and with the values that every letter
 * about a list has, and return the result; g_free(). */
char *letter_fill(const Work *work, const List *list, const char *text, const TemplateValue *values);

/* Return the name that came with a membership or role of the address on this list, and no name that was given to
 * another list; g_free(). "" where there is none, or the store fails, for no letter is kept back for a name. */
char *letter_member_name(const Work *work, const List *list, const char *address);

/* Set *worded to whether a letter of this template to this address has a text that was set for the list or for its
 * domain. It is false for a text that was set for the site, and for a file. */
bool letter_is_worded_below(Work *work, const List *list, const Mailbox *address, const char *template, bool *worded,
                            GError **error);

/* Are there letters in this language, of the site or of the installation? */
bool letter_speaks(const WorkSite *site, const char *language);

/* Return the language in which an address is written to about a list; g_free(). With list NULL the letter is about the
 * site, and what those who run lists have set for a member does not count. */
char *letter_language(const Work *work, const List *list, const Mailbox *address);

/* Set *allowed to whether one more answer may go today to an address that has not proved to be the sender's. Call it
 * once before each such answer, since it counts the answer, for the mailbox and for the network that the mail came
 * from. When it is not allowed, the log says so, and the first time the mailbox gets a letter that no more will come.
 */
bool letter_allowed(Work *work, const List *list, const char *address, bool *allowed, GError **error);

/* A letter that asks an address to confirm. */
typedef struct LetterAsking {
    const Mailbox *address;
    const char *kind; /* what is asked for: "join", "leave", ... */
    bool of_site;     /* the answer concerns all lists, so the letters of all lists are one count, and few */
    bool of_member;   /* only a member gets such a letter, so that strangers cannot cause many */
    bool sign_in;     /* it brings a link to sign in on the pages */
    bool runs_lists;  /* with sign_in: the person runs a list, a domain or the site */
    bool vouched;     /* somebody who has proved an address, or may decide, has agreed already */
} LetterAsking;

/* Set *allowed, and count, as letter_allowed() does, for a letter that asks to confirm. Each list and kind has a count
 * of its own, so other answers never use up the letters that somebody needs to join or to leave.
 *
 * A letter that another address asked for by mail is counted apart from one that the address itself asked for. The
 * latter is counted for each network, so nobody uses up another's count by writing in that name.
 *
 * Requests to join are counted over all lists, too, for each network and for all networks together, so that nobody has
 * every list of the site write to a mailbox.
 *
 * What a form of a page asks for (DOOR_PAGE, ACTOR_ADDRESS) has counts of its own. A form to join was counted when the
 * page took it. Links to sign in are counted apart: always allowed is one to an address that has no unused link, and
 * whoever runs something is bound by no count of a network or of the site. */
bool letter_asking_allowed(Work *work, const List *list, const LetterAsking *asking, bool *allowed, GError **error);

/* For a page that takes a form to join: set *allowed, and count, whatever is known of the address, so that the page may
 * say that a limit was met. The counts are of the mailbox over all lists from the network of the visitor, of the
 * mailbox from all networks, of the network and of the site. */
bool letter_form_allowed(Work *work, const List *list, const char *address, bool *allowed, GError **error);

/* Return the addresses of the list's owners and moderators; where there are none, that of the site's owner, and an
 * empty array where there is no site_owner either. g_strfreev(). NULL: the store failed. */
char **letter_owners(Store *store, const List *list, const char *site_owner, GError **error);

/* Return the text for $page in a letter that brings a token: a sentence and the link to the page of that kind
 * ("confirm", "decide") which does the same as an answer; "" where the site has no pages; g_free(). */
char *letter_page(const Work *work, const List *list, const char *language, const char *kind, const char *token);

/* Return a sentence of the template "answers", whose lines are "key: sentence" (\n in one is the end of a line), in a
 * language (NULL: the list's), filled as by letter_fill(); g_free(). The key itself when there is no such sentence. */
char *letter_sentence(const Work *work, const List *list, const char *language, const char *key,
                      const TemplateValue *values);
