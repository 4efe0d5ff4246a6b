/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Examine a site for "listrunner doctor". Each examination adds findings: what was seen, how bad that is, and what
 * mends it. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

typedef enum DoctorState {
    DOCTOR_OK,
    DOCTOR_WARNING, /* mail flows, and somebody should see to it */
    DOCTOR_FAULT,   /* mail is refused here, or lost on its way, or will be */
} DoctorState;

typedef struct DoctorFinding {
    const char *subject; /* a word: "dns"; static */
    DoctorState state;
    char *text; /* a sentence */
    char *mend; /* a command, or a line for a zone; NULL: none is needed, or the text says it */
} DoctorFinding;

typedef struct Doctor {
    const Config *config;
    const char *config_path;
    GPtrArray *findings; /* of DoctorFinding */
    void (*tell)(const DoctorFinding *finding);
} Doctor;

/* Begin without findings. tell is called for each finding as soon as it is known, since the next may take a minute. The
 * caller sets doctor->config before examinations that need it. */
void doctor_init(Doctor *doctor, const char *config_path, void (*tell)(const DoctorFinding *finding));
void doctor_clear(Doctor *doctor);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Doctor, doctor_clear)

/* Add a finding. mend is taken; NULL: none. */
void doctor_find(Doctor *doctor, const char *subject, DoctorState state, char *mend, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
/* Add a finding that all is well, but only if none was added since there were `before` findings. */
void doctor_find_well(Doctor *doctor, const char *subject, guint before, const char *text);

/* Examine who may read and write the configuration, the spool and the database. Call it as root, before the process
 * becomes another user. */
void doctor_permissions(Doctor *doctor);
/* Examine the file systems of the spool and the database: their kind, and how much room they have. */
void doctor_disks(Doctor *doctor);
/* Examine whether the certificates in files of the configuration expire soon. */
void doctor_certificates(Doctor *doctor);
/* Examine whether the pages know the proxy with TLS that stands before them. */
void doctor_proxies(Doctor *doctor);
/* Examine whether the system keeps its clock right. */
void doctor_time(Doctor *doctor);

/* Examine the DNS records MX, SPF, DKIM, DMARC and PTR of the domains (of Domain) and of the host that sends. The name
 * servers of the system are asked, or those of [dns] servers. */
void doctor_dns(Doctor *doctor, const GPtrArray *domains);
