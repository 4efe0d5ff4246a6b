/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare the values of those list settings (store/lists/list.h) that are a choice, each in the order of its words. */
#include <stdbool.h>

/* The treatment of posts. ACTION_DEFER: the other rules decide. ACTION_UNSET, for a member: the list's default. */
typedef enum Action { ACTION_HOLD, ACTION_REJECT, ACTION_DISCARD, ACTION_ACCEPT, ACTION_DEFER, ACTION_UNSET } Action;
/* The words of all but ACTION_UNSET, in this order, with a text between them: ACTION_WORDS("|"). */
#define ACTION_WORDS(between) "hold" between "reject" between "discard" between "accept" between "defer"
const char *action_text(Action action);              /* "hold", static */
bool action_parse(const char *text, Action *action); /* false: text is no such word */

typedef enum ArchivePolicy { ARCHIVE_NEVER, ARCHIVE_PRIVATE, ARCHIVE_PUBLIC } ArchivePolicy;
typedef enum RosterVisibility { ROSTER_MODERATORS, ROSTER_MEMBERS, ROSTER_PUBLIC } RosterVisibility;
typedef enum ReplyGoesTo {
    REPLY_NO_MUNGING,
    REPLY_POINT_TO_LIST,
    REPLY_EXPLICIT_HEADER,
    REPLY_EXPLICIT_HEADER_ONLY,
} ReplyGoesTo;

/* Mailman's setting personalize. NONE: all recipients get the same copy. INDIVIDUAL: each recipient's copy has a text
 * of its own. FULL: it also has the recipient in To. */
typedef enum Personalize { PERSONALIZE_NONE, PERSONALIZE_INDIVIDUAL, PERSONALIZE_FULL } Personalize;
typedef enum ComplaintAction { COMPLAINT_UNSUBSCRIBE, COMPLAINT_DISABLE, COMPLAINT_IGNORE } ComplaintAction;
typedef enum BounceForward { FORWARD_DISCARD, FORWARD_ADMINISTRATORS, FORWARD_SITE_OWNER } BounceForward;
/* The effect of an automatic answer on the mail that it answers. */
typedef enum Autorespond { AUTORESPOND_NONE, AUTORESPOND_AND_DISCARD, AUTORESPOND_AND_CONTINUE } Autorespond;
/* Whether parts of messages are joined; DEFRAGMENT_DEFAULT: as the list's transport says. */
typedef enum DefragmentWish { DEFRAGMENT_DEFAULT, DEFRAGMENT_OFF, DEFRAGMENT_ON } DefragmentWish;
/* The steps that joining and leaving need besides an address that is known to be the person's own
 * (lists/people/subscription.h). */
typedef enum SubscriptionPolicy {
    POLICY_OPEN,
    POLICY_CONFIRM,
    POLICY_MODERATE,
    POLICY_CONFIRM_THEN_MODERATE,
} SubscriptionPolicy;
/* The treatment of a post when no name server tells the policy of its domain. */
typedef enum DmarcWithoutAnswer { DMARC_WITHOUT_MITIGATE, DMARC_WITHOUT_PASS, DMARC_WITHOUT_WAIT } DmarcWithoutAnswer;
typedef enum FilterAction { FILTER_DISCARD, FILTER_REJECT, FILTER_FORWARD, FILTER_PRESERVE } FilterAction;
typedef enum NewsgroupModeration { NEWSGROUP_NONE, NEWSGROUP_OPEN, NEWSGROUP_MODERATED } NewsgroupModeration;
typedef enum DigestVolume { VOLUME_YEARLY, VOLUME_MONTHLY, VOLUME_QUARTERLY, VOLUME_WEEKLY, VOLUME_DAILY } DigestVolume;
typedef enum DigestPeriod { PERIOD_DAILY, PERIOD_WEEKLY, PERIOD_MONTHLY } DigestPeriod;
typedef enum PartialAction { PARTIAL_HOLD, PARTIAL_REFUSE, PARTIAL_PASS } PartialAction;
typedef enum FragmentExpiry { FRAGMENT_EXPIRY_HOLD, FRAGMENT_EXPIRY_PASS } FragmentExpiry;
