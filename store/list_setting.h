/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Describe the settings of lists in one table. store/list.h reads and writes values by it; forms of the pages, REST and
 * manual pages are made from it. */
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

typedef struct ListSetting {
    SettingReach reach;
    const char *name;
    SettingType type;
    size_t offset;        /* in List */
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

/* Return the row of a setting, static; NULL with FAIL_MISSING: there is no setting of that name. */
const ListSetting *list_setting_find(const char *name, GError **error);
/* Return the setting's default for a list of this list_name, as text; g_free(). */
char *list_setting_fallback(const ListSetting *setting, const char *list_name);
/* Return the words of a value of SETTING_WORDS, which commas or line ends separate; a comma inside a word is written
 * "\,". g_strfreev() */
char **list_setting_words(const char *text);
/* Is value, a text or words, what the setting has: before, as list_get() returns it? Such a value is no change, and may
 * be sent with others, even if it would be refused today: an earlier version may have allowed longer ones. */
bool list_setting_stays(const ListSetting *setting, const char *before, const char *value);
/* Return how many bytes a value of the setting, or each word of it, may have; 0: its type says enough. A longer one
 * that is there already still counts. */
size_t list_setting_longest(const ListSetting *setting);
/* Check a value and return it as list_get() would, g_free(); NULL with FAIL_NEVER, which names what is allowed. A
 * password comes back as it is; list_set() keeps its hash. */
char *list_setting_canonical(const ListSetting *setting, const char *value, GError **error);
