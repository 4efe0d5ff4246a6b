/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The configuration: one INI file (inih), read whole, checked whole against the tables of settings
 * (base/config_table.h), then immutable. A Config may be shared by threads. A setting that is not in the file has the
 * default of its table, so a getter succeeds for every key of the tables. For any other it panics: a misspelt key is
 * our bug, not the site's.
 *
 * Sections are [spool], [master], ... or families [runner.NAME], [transport.NAME], [archiver.NAME]. A member of a
 * family exists when the file has its section, or when it is built in (the runners in, out, ...).
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ConfigType {
    CONFIG_STRING,
    CONFIG_PATH, /* absolute */
    CONFIG_INTEGER,
    CONFIG_COUNT,    /* a power of two, 1 .. 256; where min is 0 also "auto", which is read as 0 */
    CONFIG_BOOL,     /* yes, no, true, false, on, off, 1, 0 */
    CONFIG_DURATION, /* 1us 1ms 1s 1m 1h 1d 1w; a number alone is seconds; stored as microseconds */
    CONFIG_SIZE,     /* bytes, with optional K, M, G (powers of 1024) */
    CONFIG_CHOICE,   /* one of the words of the table */
    CONFIG_LIST,     /* words separated by commas or blanks */
    CONFIG_SECRET,   /* a string that config_print() masks */
    CONFIG_RATE,     /* config_rate_parse() */
    CONFIG_FEEDBACK, /* config_feedback_parse() */
    CONFIG_REGEX,    /* as GRegex has them, without regard to case */
} ConfigType;

/* With the value "yes" this environment variable lets [site] user be root: for tests in a place that no other user can
 * enter. */
#define CONFIG_ENV_ALLOW_ROOT "LISTRUNNER_ALLOW_ROOT"

typedef struct Config Config;

/* Reads and checks path. On failure (FAIL_CONFIG) the message holds one line
 * a fault, each as "FILE:LINE: [section] key: what was found; what is
 * allowed". Checks that need the system (directories exist, one file system,
 * the user exists, a password is nobody else's to read, the names to listen on have addresses) are made too unless
 * offline. */
Config *config_load(const char *path, bool offline, GError **error);
/* Find settings that are no fault, but will hinder the programs as things are now: relays whose names have no address,
 * a file of passwords that REST refuses. Returns a line for each, to be g_free()'d, or NULL for none. Looks names up,
 * and waits for the answers. */
char *config_doubts(const Config *config);
void config_free(Config *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Config, config_free)

/* The file to read: the argument if not NULL, else $LISTRUNNER_CONFIG, else
 * CONFIG_FILE. */
#define CONFIG_FILE SYSCONFDIR "/listrunner/listrunner.conf"
const char *config_default_path(const char *given);
const char *config_path(const Config *config);

/* The default of a setting, for who cannot read the file; NULL: unset; g_free(). */
char *config_default(const char *section, const char *key);

/* Getters. section is the full name ("runner.in"). Strings are borrowed;
 * an unset string is NULL. */
const char *config_string(const Config *config, const char *section, const char *key);
int64_t config_integer(const Config *config, const char *section, const char *key);
bool config_bool(const Config *config, const char *section, const char *key);
int64_t config_duration(const Config *config, const char *section, const char *key); /* us */
uint64_t config_size(const Config *config, const char *section, const char *key);
const char *const *config_list(const Config *config, const char *section, const char *key);

/* How many processes a runner has at least, and, in *most (NULL: not asked for), at most, which is the same number
 * unless [runner.NAME] instances is auto. */
unsigned config_instances(const Config *config, const char *runner, unsigned *most);

/* Names of a family's members, in the order of the file, built-in ones first: "runner" gives
 * in, pipeline, out, ...; NULL-terminated, borrowed. */
const char *const *config_family(const Config *config, const char *family);
bool config_has_section(const Config *config, const char *section);

/* The full names of all sections, those of a family ("transport.relay") among them, whether in the file or not; and of
 * one family alone. Ended by NULL; g_free() the array, not the names. */
const char **config_sections(const Config *config);
const char **config_family_sections(const Config *config, const char *family);

/* Free keys of an outside runner's section, "x_anything", and the keys of a style; NULL when absent. */
const char *config_extra(const Config *config, const char *section, const char *key);
char **config_extra_names(const Config *config, const char *section); /* in the order of the file; g_strfreev() */

/* The configuration in force as an INI text with every key, those that are
 * defaults marked, secrets masked; g_free(). */
char *config_print(const Config *config, bool defaults_too);

/* The text of a duration ("36h", "5d", a number alone is seconds) and back, for who has such texts elsewhere. */
bool config_duration_parse(const char *text, int64_t *us);
char *config_duration_text(int64_t us); /* the shortest; g_free() */

/* "COUNT/UNIT" (s, m, h, d; the count may be a fraction), or "0" and "none" for no limit (0). */
bool config_rate_parse(const char *text, double *per_second);
#define CONFIG_RATE_ALLOWED \
    "a count and a unit such as 0.5/s, 30/m, 1000/h or 20000/d, or none (0 is the same) for no limit"

/* "x", "x/y", "x/concurrency" or "x/sqrt_concurrency", 0 <= x <= 1: the number, and the word behind it (static; NULL:
 * none). */
bool config_feedback_parse(const char *text, double *value, const char **divisor);
#define CONFIG_FEEDBACK_ALLOWED "a number from 0 to 1, alone or as x/y, x/concurrency or x/sqrt_concurrency"
