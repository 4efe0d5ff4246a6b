/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Check values of the configuration, in the check functions of the files settings.c (ConfigSettings.check of
 * base/config_table.h). A check function runs after the file was read and every value was given its type. It looks at
 * values beside each other, and, unless check->offline, at what they name on this system. It tells each fault with
 * config_complain(), and goes on.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/config.h"

typedef struct ConfigFaults ConfigFaults;

typedef struct ConfigCheck {
    const Config *config;
    bool offline; /* leave out what needs this host: files, directories, users, names of hosts */
    ConfigFaults *faults;
} ConfigCheck;

typedef struct ConfigValue {
    char *name;
    const struct ConfigKey *key; /* NULL: a free key */
    char *text;                  /* NULL: unset */
    int line;                    /* 0: the default */
    bool bad;                    /* refused, and told so; other checks pass over it */
    int64_t number;              /* numbers, durations, sizes, booleans */
    char **words;                /* lists */
} ConfigValue;

/* Tell a fault: "FILE:LINE: [section] key: " and the text, which says what was found and what is allowed. The line is
 * that of the value, or of the section where the value is a default. */
void config_complain(const ConfigCheck *check, const char *section, const char *key, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* Return the value, borrowed; NULL when it is unset, was refused already, or there is no such section. */
const ConfigValue *config_usable(const ConfigCheck *check, const char *section, const char *key);
/* Does the file itself set this key, whether its value is allowed or not? */
bool config_given(const ConfigCheck *check, const char *section, const char *key);
/* Return true when the key has no value, neither in the file nor by default. */
bool config_unset(const ConfigCheck *check, const char *section, const char *key);
/* Is this section there even when the file does not have it? */
bool config_is_built_in(const char *section);

/* Complain when the value of the key low is greater than that of the key high. */
void config_check_order(const ConfigCheck *check, const char *section, const char *low, const char *high);
/* Return whether path is a directory, and complain about the setting when it is none. */
bool config_check_directory(const ConfigCheck *check, const char *section, const char *key, const char *path);
/* Complain when the path that a setting names is there and is no directory. For directories that are made when they
 * are missing. */
void config_check_no_file(const ConfigCheck *check, const char *section, const char *key);
/* Look at the file that a setting names, and set *status. Return false with a complaint when it is not there, and false
 * without one when this user may not look, because the file may be right. */
bool config_check_file(const ConfigCheck *check, const char *section, const char *key, struct stat *status);
/* Return how a file breaks the rule for files that hold a secret (base/secret.h), with the user of [site] as its
 * reader; g_free(). NULL: it keeps the rule, or it is not there, or this process may not look at it. */
char *config_secret_fault(const Config *config, const char *path);
/* Complain when config_secret_fault() finds a fault with the file that a setting names. */
void config_check_secret(const ConfigCheck *check, const char *section, const char *key);
/* Append a line when the file that a setting names is not there, and nothing when this process may not look. For a file
 * without which the programs go on; it is a doubt (config_doubts()) and no fault. */
void config_doubt_file(const Config *config, const char *section, const char *key, GString *lines);
/* Complain unless path is a file that can be executed. */
void config_check_program(const ConfigCheck *check, const char *section, const char *key, const char *path);

/* ---- forms of values that several settings have ---- */

/* Is this text a port, from 1 to 65535? */
bool config_port_valid(const char *text);
/* Can this text be a name of the DNS or of /etc/hosts, or an IPv4 address? */
bool config_host_valid(const char *host);
/* Is this text an IPv4 address, or an IPv6 address without brackets? */
bool config_address_valid(const char *text);
/* Is this text an absolute path, short enough for a socket? */
bool config_socket_path_valid(const char *path);
/* Has this text the form HOST:PORT, [IPv6]:PORT or unix:/PATH? */
bool config_endpoint_valid(const char *word);
#define CONFIG_ENDPOINT_ALLOWED "HOST:PORT or [IPv6]:PORT, with a port from 1 to 65535, or unix:/PATH"
/* Return why a name has no address now (static text); NULL: it has one. Wait for the answer of the resolver; flags are
 * those of getaddrinfo(). */
const char *config_unresolved(const char *host, int flags);
/* Return the value of a parameter in a connection string of PostgreSQL, read without its library: a URL,
 * "postgresql://db/lists?sslcert=%2Fx.crt", or pairs, "host=db sslcert='/x.crt'"; g_free(). Of several the last counts,
 * as for libpq. NULL: it is not there. */
char *conninfo_value(const char *where, const char *name);
