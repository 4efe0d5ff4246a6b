/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Start and end every program that the master starts (base/contract.h). It refuses arguments, learns from the
 * environment which runner and instance it is, reads the configuration and opens the log. It keeps itself to what it
 * may reach in the file system (base/confine.h): the tables of settings say that for every path that a site can set
 * (opens and writes in base/config_table.h), and process.c adds what all programs need of a system, its libraries and
 * settings, certificates, the names of hosts; doc/security.md has it for people. Then it says that it is ready, and at
 * the end it exits with the code that its fault has. The caller does what is in between: runners/runner.h works a
 * queue, runners/server/listener.h takes connections.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/child.h"
#include "base/config.h"

/* Both belong to process_main(), and are there until it returns. */
typedef struct Process {
    const Child *child;
    const Config *config;
} Process;

typedef struct ProcessSpec {
    const char *name; /* of [runner.NAME] when the environment names none, as when started by hand */
    /* Get everything ready. False: the error is told to the log and to the master, and the process ends. */
    bool (*start)(void *data, const Process *process, GError **error);
    /* Work until child_stopping(). The master has been told that the process is ready. */
    void (*work)(void *data);
    /* Free what start() made, all of it or a part: it is called after a start() that failed, too. */
    void (*stop)(void *data);
} ProcessSpec;

/* Run the program and return its exit code (base/contract.h). All three functions get data. */
int process_main(const ProcessSpec *spec, void *data, int argc, char **argv);
