/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read and change the options that members set for themselves on a list, in words that are the same by mail and in the
 * shell:
 *
 *   delivery on | off           mail comes, or not
 *   digest off | plain | mime | summary
 *   ack on | off                a note for each own post
 *   myposts on | off            copies of own posts
 *   duplicates on | off         the list's copy also when in To or Cc
 *   hide on | off               the address is left out of "who"
 *   language CODE               of letters and digests; "default": the list's
 *   vacation FROM..UNTIL | off  no mail from the first day to the last, e.g. 2026-12-20..2027-01-06 (UTC)
 *   topics NAME,... | all       posts of these topics alone: boats,"new cars"
 *   nonmatching on | off        besides, posts of no topic
 *
 * The case of a topic's name does not matter. A name with a blank, a comma or an equals sign stands in double quotes,
 * in which a byte behind a backslash stands for itself.
 */
#include "lists/people/subscription.h"
#include "lists/work.h"
#include "store/lists/list.h"
#include "store/people/member.h"

typedef struct MemberOptions {
    Preferences wanted; /* -1, and an empty language: stays as it is; "default": the list's language */
    int64_t vacation_begins, vacation_ends; /* ends 0: stays as it is, -1: off */
    char **topics;   /* owned; empty: all; NULL: stays as it is */
    int nonmatching; /* -1: stays as it is */
    unsigned facts;  /* for options_ask(): the facts of lists/people/subscription.h that the caller knows for sure */
} MemberOptions;
#define MEMBER_OPTIONS_NONE ((MemberOptions){.wanted = {-1, -1, -1, -1, -1, -1, ""}, .nonmatching = -1})

void member_options_clear(MemberOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MemberOptions, member_options_clear)

/* Is there an option of this name, in any case of letters? */
bool option_is_one(const char *name);
/* Read one option, and add it to *options, which begins as MEMBER_OPTIONS_NONE. FAIL_NEVER: there is no such option or
 * value; the message says what there is. */
bool option_read(MemberOptions *options, const char *name, const char *value, GError **error);
/* Return all options that are set, as the text that options_read() reads: "digest mime ack on"; g_free(). */
char *options_text(const MemberOptions *options);
/* Read "name value name value", or "name=value", into *options, which the caller clears in any case. A blank, comma or
 * equals sign in double quotes belongs to the value. FAIL_NEVER as option_read(), and when text has no option. */
bool options_read(MemberOptions *options, const char *text, GError **error);

/* Return all options of the member as they are now, one a line, each behind prefix; g_free(). Return NULL when the
 * store failed. */
char *options_of(Store *store, const Member *member, const char *prefix, GError **error);

/* Return all options that are set now on the member itself, whoever set them, one a line; g_free(). Values that the
 * member has from the list, the user or the site are "default". Call it before a change, and options_log() after it.
 * FAIL_MISSING: there is no such member. */
char *options_own(Store *store, const char *member_id, GError **error);
/* Write into the list's log (LOG_OPTIONS) which options differ now from `before`, a text of options_own(). Without a
 * difference nothing is written. Whoever changes options of a member on one list calls it after the change, in the same
 * transaction. */
bool options_log(Work *work, const Member *member, const char *before, GError **error);

/* Check whether the list has all topics that the options name. FAIL_NEVER: it lacks one; the message names those that
 * it has. */
bool options_fit(const MemberOptions *options, const List *list, GError **error);

/* Check whether the member himself may set these options. FAIL_NEVER: they would let mail come again that the people
 * who run the list have stopped. */
bool options_allowed(const MemberOptions *options, const Member *member, GError **error);

/* Set the options of one member of a list, at once, and log that (options_log()). Call it in the unit's transaction,
 * which the caller rolls back after false. Where the actor is the member, mail that a moderator stopped stays stopped.
 * FAIL_MISSING: address is no member (of that role); FAIL_NEVER: the vacation is over already, or as options_fit() and
 * options_allowed(). */
bool options_set(Work *work, const List *list, Role role, const Mailbox *address, const MemberOptions *options,
                 GError **error);

/* Stop the mail of all lists on which the person who has the address is a member (MAIL_STOPS). Or let it come again
 * (MAIL_COMES), or set the vacation (MAIL_PAUSES). MAIL_COMES works where the person or bounces stopped the mail; what
 * a moderator stopped stays so. MAIL_STOPS and MAIL_COMES end vacations. The cost is a few statements, be it one list
 * or 10,000, and so no list's log gets a row. vacation is for MAIL_PAUSES alone. FAIL_NEVER: the vacation is over
 * already. */
typedef enum MailEverywhere { MAIL_STOPS, MAIL_COMES, MAIL_PAUSES } MailEverywhere;
bool options_set_everywhere(Work *work, const Mailbox *address, MailEverywhere mail, const MemberOptions *vacation,
                            GError **error);

/* Ask for options on behalf of a member. With FACT_CONFIRMED in options->facts they are set at once. Without it, the
 * address has to answer a letter first; that letter asks also for options of an earlier request that is not confirmed
 * yet. *subscription is filled in; SUBSCRIPTION_NO_CHANGE: the address is no member. */
bool options_ask(Work *work, const List *list, const Mailbox *address, const MemberOptions *options,
                 Subscription *subscription, GError **error);
