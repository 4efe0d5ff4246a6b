/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare the tables that say which settings there are.
 *
 * A setting stands once: as a row of the table in the file settings.c of the folder whose code reads it. From that row
 * come the default and the check of its value, etc/listrunner.conf and the page listrunner.conf(5). So do "listrunner
 * config show", the completion of the shell, and what the master knows of whom a change concerns. A folder's settings.c
 * holds one ConfigSettings, called FOLDER_settings; the program gathers them in the array config_settings[]
 * (runners/settings.c). These files are plain data and checks: they include base/ alone.
 *
 * How to add a setting: add a row to the table of its section, read it with a getter of base/config.h, and build. When
 * a runner other than the section's own reads it too, name that runner in .readers: t/style/readers.t tells whom you
 * forgot. What no value can show alone (two settings that must agree, a file that must exist) goes into the check
 * function of the same file (base/config_check.h).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

struct ConfigCheck;

typedef enum ConfigCertificates {
    CERTIFICATES_NONE,
    CERTIFICATES_OWN,            /* all that are in the file are needed */
    CERTIFICATES_OF_AUTHORITIES, /* one that is good is enough */
} ConfigCertificates;

/* One setting. The macros below fill the fields from type to unit. */
typedef struct ConfigKey {
    const char *name;
    ConfigType type;
    const char *fallback; /* the default as text, with tokens (below); NULL: unset */
    int64_t min, max;     /* of numbers, durations (us), sizes; 0, 0: any that is not negative */
    const char *choices;  /* CONFIG_CHOICE: "a|b|c" */
    const char *unit;     /* for people */
    const char *about;    /* what it does, in sentences, for etc/listrunner.conf and listrunner.conf(5) */
    const char *more;     /* further sentences, for listrunner.conf(5) alone; NULL: none */
    const char *example;  /* a value, for etc/listrunner.conf; needed where the default is unset or has tokens */
    const char *readers;  /* names of runners that read it besides those of the section; "*": all; NULL: none */
    const char *opens;    /* of a path, or a list of paths: names of all runners that read the file or what is below the
                             directory; no other may (base/confine.h) */
    ConfigCertificates certificates; /* of a path: the file has certificates, and people are told when they expire */
    const char *writes; /* of a path, or a list of paths: names of all runners that make, change and remove what is
                             below the directory; no other may */
} ConfigKey;

/* A word that stands alone on a line, as the Sun Messaging Server has them, and the line that it stands for. */
typedef struct ConfigKeyword {
    const char *word, *line;
} ConfigKeyword;

/* Keys of a section of the file, [lmtp], or of a family of sections, [transport.NAME], which is called "transport.*".
 * The runner that has the section's name reads all of them. Several folders may have keys in one section. */
typedef struct ConfigTable {
    const char *section;
    const char *about;             /* sentences about the section, for the same two texts; "{members}" stands for the
                                      names of its ConfigMembers. NULL where another folder's table says it */
    const ConfigKey *keys;         /* ended by an element without name */
    const ConfigKeyword *keywords; /* ended by one without word; NULL: none */
    const char *readers;           /* names of further runners that read all its keys; "*": all; NULL: none */
    bool free_keys;                /* it may have keys of the site's own, which begin with x_ */
    bool any_keys;                 /* it may have any further key; its check looks at them (config_extra()) */
} ConfigTable;

/* A default that a member of a family has in place of its family's. */
typedef struct ConfigDefault {
    const char *name, *fallback; /* fallback NULL: unset */
} ConfigDefault;

/* A member of a family that is there without being in the file: "runner.in". */
typedef struct ConfigMember {
    const char *section;
    const char *about;             /* for etc/listrunner.conf; NULL: nothing */
    const ConfigDefault *defaults; /* ended by an element without name; NULL: those of the family */
    const char *readers;           /* names of further runners that read all its keys */
} ConfigMember;

/* ConfigSettings holds the tables that one folder adds to the configuration. */
typedef struct ConfigSettings {
    const ConfigTable *tables;   /* ended by an element without section; NULL: none */
    const ConfigMember *members; /* ended by an element without section; NULL: none */
    void (*check)(const struct ConfigCheck *check); /* base/config_check.h; NULL: nothing to check */
    /* Adds to `lines`, one line each, what is no fault but will hinder mail as things are now; NULL: nothing. */
    void (*doubt)(const Config *config, GString *lines);
    /* Returns the setting for which this runner starts programs of the site, "[watch] command"; g_free(). NULL: it
     * starts none; nor does any other runner when the function is NULL. */
    char *(*program)(const Config *config, const char *runner);
} ConfigSettings;

/* All of them, in the order of the documentation, ended by NULL. The program defines it, not base/. */
extern const ConfigSettings *const config_settings[];

/* Walk through the tables of all folders in order: `at` counts from 0, and NULL is the end. */
const ConfigTable *config_table(unsigned at);
const ConfigMember *config_member(unsigned at);
/* Return true when a section of this name ("runner.in") has the keys of the table. */
bool config_table_covers(const ConfigTable *table, const char *section);
/* Return the range of a number as text, "1 to 65536" or "1s to 1h"; g_free(). NULL: the key has no range. */
char *config_range_text(const ConfigKey *key);
/* Is `runner` among these names of runners, which are written as in the field readers? */
bool config_read_by(const char *readers, const char *runner);
/* Return the setting, such as "[watch] command", for which this runner may use all files; g_free(). NULL: the runner is
 * restricted to the files that the tables name (base/confine.h). A runner is not restricted when the site says so, and
 * when it starts programs of the site, whose needs are unknown. */
char *config_unconfined(const Config *config, const char *runner);

/* The tokens of a default, each replaced when the file is read. */
#define CONFIG_NAME "{name}"              /* the NAME of the section's own [FAMILY.NAME] */
#define CONFIG_SYSTEM "{system}"          /* the system's host name */
#define CONFIG_HOSTNAME \
    "{site.hostname}"                     /* {SECTION.KEY}: the value of another section's setting;
                                           * {SECTION.KEY=VALUE}: yes where it is this one, else no */
#define CONFIG_LIBEXEC "{libexec}"        /* where make install put the runners, ... */
#define CONFIG_DATA "{data}"              /* ... texts, /usr/share/listrunner, ... */
#define CONFIG_STATE "{state}"            /* ... what is kept, /var, ... */
#define CONFIG_RUN "{run}"                /* ... and what a start of the system removes, /run */

/* Units of `min` and `max`. */
#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* A type with its default, and its range or words. */
#define STRING(fallback) CONFIG_STRING, fallback, 0, 0, NULL, NULL
#define SECRET(fallback) CONFIG_SECRET, fallback, 0, 0, NULL, NULL
#define PATH(fallback) CONFIG_PATH, fallback, 0, 0, NULL, NULL
#define LIST(fallback) CONFIG_LIST, fallback, 0, 0, NULL, NULL
#define BOOL(fallback) CONFIG_BOOL, fallback, 0, 0, NULL, NULL
#define COUNT(fallback) CONFIG_COUNT, fallback, 1, 256, NULL, "a power of two"
#define COUNT_OR_AUTO(fallback) CONFIG_COUNT, fallback, 0, 256, NULL, "auto, or a power of two"
#define RATE(fallback) CONFIG_RATE, fallback, 0, 0, NULL, NULL
#define FEEDBACK(fallback) CONFIG_FEEDBACK, fallback, 0, 0, NULL, NULL
#define REGEX(fallback) CONFIG_REGEX, fallback, 0, 0, NULL, NULL
#define CHOICE(fallback, words) CONFIG_CHOICE, fallback, 0, 0, words, NULL
#define INTEGER(fallback, min, max, unit) CONFIG_INTEGER, fallback, min, max, NULL, unit
#define DURATION(fallback, min, max) CONFIG_DURATION, fallback, min, max, NULL, NULL
#define SIZE(fallback, min, max) CONFIG_SIZE, fallback, min, max, NULL, NULL
