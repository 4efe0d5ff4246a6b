/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Connect the mail server (MTA) of this machine with Listrunner, for a domain of lists. For Postfix, find the lines
 * that are missing from its configuration, and add them. For Exim, only say which lines a person must add. Postfix is
 * read and changed by postconf(1), which honours MAIL_CONFIG.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

typedef enum SetupMta { SETUP_POSTFIX, SETUP_EXIM, SETUP_NO_MTA } SetupMta;

/* Read "postfix", "exim" or "none". False: the text is another one. */
bool setup_mta_parse(const char *text, SetupMta *mta);

/* Return which of the two are installed, a bit each: 1u << SETUP_POSTFIX, 1u << SETUP_EXIM. */
unsigned setup_mta_find(void);

/* Addresses as the MTA writes them: "127.0.0.1" and "8024". */
typedef struct SetupDoor {
    const char *host, *port;
} SetupDoor;

/* The addresses at which Listrunner takes mail (lmtp), and at which it answers questions of Postfix (ask). */
typedef struct SetupDoors {
    SetupDoor lmtp, ask;
} SetupDoors;

void setup_doors_clear(SetupDoors *doors);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SetupDoors, setup_doors_clear)

/* Set *doors, which is zero before, to the first address of [runner.lmtp] and of [runner.mta] listen. Clear it in any
 * case. FAIL_CONFIG: one has no port. */
bool setup_doors_read(const Config *config, SetupDoors *doors, GError **error);

/* The domains and addresses with which the MTA is to be connected. */
typedef struct SetupWiring {
    SetupMta mta;
    const char *const *domains; /* ended by NULL; for Exim only the first counts */
    const char *maps;           /* the directory of files, for Exim */
    SetupDoor lmtp, ask;
} SetupWiring;

/* A parameter of Postfix that has to get another value. */
typedef struct SetupLine {
    char *name, *value;
} SetupLine;

/* Check that Postfix does nothing else with mail for the domain. FAIL_LATER: it cannot be asked. FAIL_NEVER: it
 * delivers that mail itself, or sends it elsewhere; the message names the setting. */
bool setup_postfix_is_free(const SetupWiring *wiring, const char *domain, GError **error);

/* Return the lines (of SetupLine) that Postfix lacks for these domains, one for each parameter, freed with the array;
 * it is empty when all is there. Nothing is changed. FAIL_LATER: Postfix cannot be asked. FAIL_NEVER: it has settings
 * that contradict; the message names them. */
GPtrArray *setup_postfix_plan(const SetupWiring *wiring, GError **error);

/* Return the command that adds the lines, "postconf -e 'NAME = VALUE' ... && postfix reload"; g_free(). */
char *setup_postfix_command(const GPtrArray *lines);

/* Check that this process may change the configuration of Postfix. FAIL_LATER: it may not; the message names the
 * directory. */
bool setup_postfix_may_change(GError **error);

/* Put the lines into main.cf and have Postfix read it, if it runs. *running tells whether it does. */
bool setup_postfix_apply(const GPtrArray *lines, bool *running, GError **error);

/* Find the address at which Postfix takes mail from this machine, such as "127.0.0.1" and "25"; g_free() each.
 * FAIL_NEVER: it takes none by SMTP. */
bool setup_postfix_relay(char **host, char **port, GError **error);

/* Return text for a person, g_free(): the lines for Exim's configuration, and where each must stand. */
char *setup_exim_text(const SetupWiring *wiring);
