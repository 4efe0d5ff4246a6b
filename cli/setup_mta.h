/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find the lines that the MTA in front needs for a domain of lists: those that are there, those that are missing, and
 * settings that would contradict them. Postfix is asked and told by postconf(1), which honours MAIL_CONFIG.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

typedef enum SetupMta { SETUP_POSTFIX, SETUP_EXIM, SETUP_NO_MTA } SetupMta;

/* Read "postfix", "exim" or "none". */
bool setup_mta_parse(const char *text, SetupMta *mta);

/* Which of them are on this machine, a bit each: 1u << SETUP_POSTFIX, 1u << SETUP_EXIM. */
unsigned setup_mta_find(void);

/* Addresses as the MTA writes them: "127.0.0.1" and "8024". */
typedef struct SetupDoor {
    const char *host, *port;
} SetupDoor;

/* Where Listrunner takes mail and answers Postfix. */
typedef struct SetupDoors {
    SetupDoor lmtp, ask;
} SetupDoors;

void setup_doors_clear(SetupDoors *doors);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SetupDoors, setup_doors_clear)

/* Read the first address of [runner.lmtp] and of [runner.mta] listen. FAIL_CONFIG: it has no port. */
bool setup_doors_read(const Config *config, SetupDoors *doors, GError **error);

typedef struct SetupWiring {
    SetupMta mta;
    const char *domain, *maps; /* maps: the directory of files, for Exim */
    SetupDoor lmtp, ask;
} SetupWiring;

/* A parameter of Postfix that has to get another value. */
typedef struct SetupLine {
    char *name, *value;
} SetupLine;

/* Return the lines that Postfix lacks for this, of SetupLine; empty when all is there. NULL: it cannot be asked
 * (FAIL_LATER), or has settings that contradict (FAIL_NEVER, which names them). */
GPtrArray *setup_postfix_plan(const SetupWiring *wiring, GError **error);

/* May we change its configuration? FAIL_LATER: no; the message names the directory. */
bool setup_postfix_may_change(GError **error);

/* Put the lines into main.cf and have Postfix read it, if it runs. *running tells whether it does. */
bool setup_postfix_apply(const GPtrArray *lines, bool *running, GError **error);

/* Where Postfix takes mail for delivery on this machine: "127.0.0.1" and "25", g_free() each. FAIL_NEVER: it takes
 * none by SMTP. */
bool setup_postfix_relay(char **host, char **port, GError **error);

/* Return the text that a person must put into Exim's configuration, and where; g_free(). */
char *setup_exim_text(const SetupWiring *wiring);
