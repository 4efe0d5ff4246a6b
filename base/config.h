/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the configuration, one INI file (inih), and get its values. The file is read whole and checked whole against the
 * tables of settings (base/config_table.h). After that a Config does not change, and threads may share it. A setting
 * that is not in the file has the default of its table, so a getter succeeds for every key of the tables. For any other
 * it panics: a misspelt key is our bug, not the site's.
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

/* Read and check the file at path. On failure (FAIL_CONFIG) the message has one line for each fault, "FILE:LINE:
 * [section] key: what was found; what is allowed". With offline, leave out the checks that need this host: that
 * directories and users exist, that nobody else can read a password, that names to listen on have addresses. */
Config *config_load(const char *path, bool offline, GError **error);
/* Find settings that are no fault, but will hinder the programs as things are now: relays whose names have no address,
 * a file of passwords that REST refuses. Returns a line for each, to be g_free()'d, or NULL for none. Looks names up,
 * and waits for the answers. */
char *config_doubts(const Config *config);
void config_free(Config *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Config, config_free)

/* Return the path of the file to read: given if not NULL, else $LISTRUNNER_CONFIG, else CONFIG_FILE. */
#define CONFIG_FILE SYSCONFDIR "/listrunner/listrunner.conf"
const char *config_default_path(const char *given);
/* Return the path from which the configuration was read, borrowed. */
const char *config_path(const Config *config);

/* Return the default of a setting, for a caller that cannot read the file. g_free(); NULL when the default is unset. */
char *config_default(const char *section, const char *key);

/* Return the value of a setting. section is the full name ("runner.in"). Strings are borrowed, and NULL when unset.
 * config_string() also reads paths, choices, secrets, rates, feedbacks and regular expressions, as text;
 * config_integer() also reads counts. A getter panics when the setting has another type. */
const char *config_string(const Config *config, const char *section, const char *key);
int64_t config_integer(const Config *config, const char *section, const char *key);
bool config_bool(const Config *config, const char *section, const char *key);
int64_t config_duration(const Config *config, const char *section, const char *key); /* us */
uint64_t config_size(const Config *config, const char *section, const char *key);
const char *const *config_list(const Config *config, const char *section, const char *key);
/* Return the words of a list with commas between them; g_free(). NULL: there are none. */
char *config_list_joined(const Config *config, const char *section, const char *key);

/* Return the least number of processes that a runner has, and set *most (may be NULL) to the greatest. Both are the
 * same unless [runner.NAME] instances is auto. */
unsigned config_instances(const Config *config, const char *runner, unsigned *most);

/* Return the names of a family's members, built-in ones first, then in the order of the file: "runner" gives in,
 * pipeline, out, ...; NULL-terminated, borrowed. */
const char *const *config_family(const Config *config, const char *family);
/* Does the configuration have this section, by its full name? */
bool config_has_section(const Config *config, const char *section);

/* Return the full names ("site", "transport.relay") of all sections, also of those that are not in the file. The array
 * ends with NULL; g_free() the array, not the names. */
const char **config_sections(const Config *config);
/* Return the full names of the sections of one family, as config_sections() returns those of all. */
const char **config_family_sections(const Config *config, const char *family);

/* Return the value of a free key, which no table names, borrowed; NULL when the section does not have it. Sections of
 * outside runners may have free keys "x_anything", and sections of styles any. config_extra_names() lists them. */
const char *config_extra(const Config *config, const char *section, const char *key);
char **config_extra_names(const Config *config, const char *section); /* in the order of the file; g_strfreev() */

/* Return the configuration in force as an INI text, with secrets masked; g_free(). With defaults_too it has every key,
 * and defaults are marked; else it has the keys of the file alone. */
char *config_print(const Config *config, bool defaults_too);

/* Read a duration as CONFIG_DURATION has it ("36h", "5d"; a number alone is seconds), and write one: for such texts
 * outside the configuration. config_duration_parse() returns false when text is no duration. */
bool config_duration_parse(const char *text, int64_t *us);
char *config_duration_text(int64_t us); /* the shortest; g_free() */

/* Read a rate, "COUNT/UNIT" (s, m, h, d; the count may be a fraction). "0" and "none" mean no limit, and give 0. Return
 * false when text is no rate. */
bool config_rate_parse(const char *text, double *per_second);
#define CONFIG_RATE_ALLOWED \
    "a count and a unit such as 0.5/s, 30/m, 1000/h or 20000/d, or none (0 is the same) for no limit"

/* Read a feedback: "x", "x/y", "x/concurrency" or "x/sqrt_concurrency". Set *value to x, or to x divided by y, which is
 * 0 to 1, and *divisor to the word (static; NULL: none). Return false when text is none of these. */
bool config_feedback_parse(const char *text, double *value, const char **divisor);
#define CONFIG_FEEDBACK_ALLOWED "a number from 0 to 1, alone or as x/y, x/concurrency or x/sqrt_concurrency"
