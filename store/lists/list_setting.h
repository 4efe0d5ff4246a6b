/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The settings of lists: their values, and one table that describes them. store/lists/list.h reads and writes values by
 * it; forms of the pages, REST and manual pages are made from it. */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum SettingType {
    SETTING_BOOL, SETTING_INTEGER, SETTING_INTERVAL, SETTING_TEXT, SETTING_LINE, SETTING_WORDS, SETTING_CHOICE,
    SETTING_PASSWORD, /* only its hash is kept, and nobody gets to see it */
} SettingType;

#define LIST_INTEGER_MAX INT64_C(1000000000)
#define LIST_WORDS_MAX 10000  /* words of a setting */
#define LIST_WORD_MAX 1000    /* bytes of each of them */
#define LIST_TEXT_MAX 65536   /* bytes of a text, and of a template */
#define LIST_LINE_MAX 998     /* bytes of a line (RFC 5322, 2.1.1), and of a password */
#define LIST_PATTERNS_MAX 500 /* patterns and words @LIST of a setting, bans that are patterns, header matches */

/* How far the harm of a wrong value reaches, which says who may set it. */
typedef enum SettingReach {
    REACHES_LIST = 1, /* the list's members, posts and letters */
    REACHES_SITE,     /* others, too: accounts and routes that all lists share */
} SettingReach;

/* The values of a list, List.settings. Files that look into them include this header; others need not be compiled again
 * when a setting comes. */
typedef struct ListSettings {
    char *display_name, *description, *info, *subject_prefix, *preferred_language, *reply_to_address;
    char *msg_header, *msg_footer; /* templates */
    char **acceptable_aliases;
    char **accept_these_nonmembers, **hold_these_nonmembers, **reject_these_nonmembers, **discard_these_nonmembers;
    char **archivers; /* names of [archiver.NAME]; empty: all */
    char *moderator_password; /* hash (store/people/password.h); "": none */
    char *family;             /* name of the [style.NAME] whose settings hold for the list; empty: none */
    char *transport;  /* name of [transport.NAME]; empty: the default one */
    char *posting_chain, *owner_chain, *posting_pipeline, *owner_pipeline; /* of [chain.NAME], [pipeline.NAME] */
    int default_member_action, default_nonmember_action; /* Action */
    int archive_policy, archive_rendering_mode;          /* ArchivePolicy; text or markdown, for HyperKitty */
    int member_roster_visibility;                        /* RosterVisibility */
    int reply_goes_to_list;                              /* ReplyGoesTo */
    int personalize;                                     /* Personalize */
    int subscription_policy, unsubscription_policy;      /* SubscriptionPolicy */
    bool advertised, allow_list_posts, anonymous_list, emergency, administrivia;
    bool include_rfc2369_headers, first_strip_reply_to, require_explicit_destination;
    bool sender_confirmation, respond_to_post_requests, admin_immed_notify, admin_notify_mchanges;
    bool admin_notify_held_with_attachment, probe_add_dsn;
    bool send_welcome_message, send_goodbye_message, process_bounces;
    int64_t max_days_to_hold; /* 0: for ever */
    bool digests_enabled, digest_send_periodic, digest_is_default;
    int digest_volume_frequency, digest_period, digest_hour; /* DigestVolume; DigestPeriod; local time */
    int64_t digest_size_threshold, digest_post_threshold;    /* KiB; posts; 0: no limit */
    int autorespond_owner, autorespond_postings, autorespond_requests; /* Autorespond */
    char *autoresponse_owner_text, *autoresponse_postings_text, *autoresponse_request_text;
    int64_t autoresponse_grace_period; /* us */
    int defragment;      /* DefragmentWish */
    int partial_action;  /* PartialAction */
    int fragment_expiry; /* FragmentExpiry */
    int64_t notices;     /* days; 0: as the site says */
    int64_t max_message_size, refuse_message_size, max_held_size, max_num_recipients; /* KiB, KiB, MiB; 0: no limit */
    int64_t burst_factor, burst_least; /* times as many posts in an hour as before, 0: any; posts in an hour */
    int64_t bounce_score_threshold; /* points; 0: nobody is disabled */
    int64_t bounce_temporary_weight; /* hundredths of a point */
    int64_t bounce_info_stale_after; /* us */
    int64_t bounce_you_are_disabled_warnings;
    int64_t bounce_you_are_disabled_warnings_interval; /* us */
    char **filter_types, **pass_types, **filter_extensions, **pass_extensions;
    int filter_action; /* FilterAction */
    bool filter_content, collapse_alternatives, convert_html_to_plaintext, filter_report;
    char **topics; /* "NAME: PATTERN" */
    int64_t topics_bodylines_limit;
    bool topics_enabled;
    char *bounce_matching_headers; /* lines "FIELD: PATTERN" */
    int newsgroup_moderation;      /* NewsgroupModeration */
    bool gateway_to_news, gateway_to_mail, nntp_prefix_subject_too;
    char *dmarc_moderation_notice, *dmarc_wrapped_message_text, *linked_newsgroup;
    char **dmarc_addresses;
    int dmarc_mitigate_action; /* in the order of posting's Mitigation */
    int dmarc_without_answer;  /* DmarcWithoutAnswer */
    bool dmarc_mitigate_unconditionally, dmarc_keep_signed;
    bool bounce_notify_owner_on_bounce_increment, bounce_notify_owner_on_disable, bounce_notify_owner_on_removal;
    int bounce_complaint_action;         /* ComplaintAction */
    int forward_unrecognized_bounces_to; /* BounceForward */
} ListSettings;

typedef struct ListSetting {
    SettingReach reach;
    const char *name;
    SettingType type;
    size_t offset;        /* in ListSettings */
    const char *fallback; /* the default as text; $Name stands for list_name with its first letter in upper case */
    const char *choices;  /* CHOICE: "never|private|public", in the order of the enum; WORDS: "patterns" or NULL
                             (any); LINE: "address", "language" or NULL */
    const char *about;    /* what it does, in sentences, for people */
    int64_t min, max;     /* INTEGER: the range; max 0: from 0 to LIST_INTEGER_MAX. WORDS, TEXT: how many words or lines
                             at most; 0: LIST_WORDS_MAX, or any */
    const char *unit;     /* of a number: "days" */
    const char *placeholders; /* TEXT: what is filled in, "list_name list_id"; NULL: nothing */
    const char *example;  /* a value; NULL: the type and the default say enough */
    bool own;             /* GNU Mailman has no setting of this name */
} ListSetting;

extern const ListSetting list_settings[]; /* ended by an element without name */

/* Return where the value of a setting is. Its type in C goes with that of the setting: bool, int64_t, char *, int for a
 * CHOICE, char ** for WORDS. */
static inline const void *list_value(const ListSettings *values, const ListSetting *setting)
{
    return (const char *)values + setting->offset;
}

/* Return the row of a setting, static; NULL with FAIL_MISSING: there is no setting of that name. */
const ListSetting *list_setting_find(const char *name, GError **error);
/* Return the setting's default for a list of this list_name, as text; g_free(). */
char *list_setting_fallback(const ListSetting *setting, const char *list_name);
/* Return the words of a value of SETTING_WORDS, which commas or line ends separate; a comma inside a word is written
 * "\,". g_strfreev() */
char **list_setting_words(const char *text);
/* Is value, a text or words, what the setting has: before, as list_get() returns it? Such a value is no change, and may
 * be sent with others, even if it would be refused today: another version may allow longer ones. */
bool list_setting_stays(const ListSetting *setting, const char *before, const char *value);
/* Return how many bytes a value of the setting, or each word of it, may have; 0: its type says enough. A longer one
 * that is there already still counts. */
size_t list_setting_longest(const ListSetting *setting);
/* Check a value and return it as list_get() would, g_free(); NULL with FAIL_NEVER, which names what is allowed. A
 * password comes back as it is; list_set() keeps its hash. */
char *list_setting_canonical(const ListSetting *setting, const char *value, GError **error);
