/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner doctor: what is wrong with a site and around it, and what mends it. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/admin/doctor.h"
#include "cli/admin/probe.h"
#include "cli/admin/setup_mta.h"
#include "cli/admin/status.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "lists/sources/source.h"
#include "store/lists/domain.h"

/* The most domains of which each gets a probe: one may take a minute. */
#define PROBES_MAX 10

static gboolean no_probe, no_dns;
static int patience = 30; /* seconds, of a probe */

/* Does the master run, and are its processes well? False: nothing can be sent. */
static bool look_at_service(Doctor *doctor, Site *site)
{
    g_autoptr(GError) fault = NULL;
    json_t *status = status_ask(site, &fault);
    if (!status) {
        doctor_find(doctor, "service", DOCTOR_FAULT,
                    g_strdup("systemctl enable --now listrunner    # or: listrunner start"),
                    "Listrunner does not run: %s", fault->message);
        return false;
    }
    if (!json_is_true(json_object_get(status, "healthy")))
        doctor_find(doctor, "service", DOCTOR_FAULT, g_strdup("listrunner status"), "not every process is well");
    else if (status_waits(status))
        doctor_find(doctor, "service", DOCTOR_WARNING, g_strdup("listrunner status"),
                    "all processes are well, and something waits for a person");
    else
        doctor_find(doctor, "service", DOCTOR_OK, NULL, "All processes are well.");
    g_auto(GStrv) free_ones = status_unconfined(status);
    for (char **sentence = free_ones; *sentence; sentence++)
        doctor_find(doctor, "service", DOCTOR_OK, NULL, "%s", *sentence);
    json_decref(status);
    return true;
}

/* Find the lines that Postfix lacks, for all domains together: each command names the whole value of a parameter, so
 * that one for each domain would undo those before. */
static void look_at_mta(Doctor *doctor, const GPtrArray *domains)
{
    g_autoptr(GError) unfit = NULL, contrary = NULL;
    g_auto(SetupDoors) doors = {0};
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    guint before = doctor->findings->len;
    if (!(setup_mta_find() & 1u << SETUP_POSTFIX))
        return;
    if (!setup_doors_read(doctor->config, &doors, &unfit)) {
        doctor_find(doctor, "mta", DOCTOR_WARNING, NULL, "Postfix was not asked: %s", unfit->message);
        return;
    }
    SetupWiring wiring = {.mta = SETUP_POSTFIX, .lmtp = doors.lmtp, .ask = doors.ask};
    for (guint at = 0; at < domains->len; at++) {
        g_autoptr(GError) fault = NULL;
        char *name = ((const Domain *)domains->pdata[at])->mail_host;
        if (setup_postfix_is_free(&wiring, name, &fault))
            g_ptr_array_add(names, name);
        else
            doctor_find(doctor, "mta", DOCTOR_FAULT, NULL, "%s", fault->message);
    }
    g_ptr_array_add(names, NULL);
    wiring.domains = (const char *const *)names->pdata;
    g_autoptr(GPtrArray) lines = *wiring.domains ? setup_postfix_plan(&wiring, &contrary) : NULL;
    if (contrary)
        doctor_find(doctor, "mta", DOCTOR_FAULT, NULL, "%s", contrary->message);
    if (lines && lines->len > 0) {
        g_autofree char *lacking = g_strjoinv(", ", (char **)wiring.domains);
        doctor_find(doctor, "mta", DOCTOR_WARNING, setup_postfix_command(lines),
                    "Postfix lacks lines for %s that \"listrunner setup\" would add: it may have others that do the "
                    "same, as a probe shows",
                    lacking);
    }
    doctor_find_well(doctor, "mta", before, "Postfix has the lines that Listrunner needs.");
}

static void send_probe(Doctor *doctor, Site *site, const char *domain)
{
    ProbeResult result = {0};
    g_autoptr(GError) fault = NULL;
    if (!probe_run(site, domain, patience, &result, &fault)) {
        doctor_find(doctor, "probe", DOCTOR_WARNING, NULL, "no probe could be sent to %s: %s", domain, fault->message);
        return;
    }
    g_autofree char *text = probe_text(&result, doctor->config, domain);
    char *mend = result.end == PROBE_BACK ? NULL
                 : result.end == PROBE_NOT_SENT
                     ? g_strdup("listrunner dest show relay    # and start the mail server, if it does not run")
                     : g_strdup_printf("listrunner setup --domain %s --owner %s --apply", domain,
                                       config_string(doctor->config, "site", "site_owner"));
    doctor_find(doctor, "probe", result.end == PROBE_BACK ? DOCTOR_OK : DOCTOR_FAULT, mend, "%s", text);
}

static void examine(Doctor *doctor, Site *site)
{
    g_autoptr(GError) fault = NULL;
    doctor_permissions(doctor);
    doctor_disks(doctor);
    doctor_proxies(doctor);
    doctor_time(doctor);
    doctor_certificates(doctor);
    /* From here on as [site] user. */
    Store *store = site_store(site, false, &fault);
    g_autoptr(GPtrArray) domains = store ? domain_all(store, &fault) : NULL;
    if (!domains) {
        bool gone = g_error_matches(fault, FAIL, FAIL_MISSING); /* then the text says what to do */
        doctor_find(doctor, "database", DOCTOR_FAULT, gone ? NULL : g_strdup("listrunner store check"), "%s",
                    fault->message);
        return;
    }
    doctor_find(doctor, "database", DOCTOR_OK, NULL, "The database can be opened.");
    bool runs = look_at_service(doctor, site);
    if (domains->len == 0)
        doctor_find(doctor, "database", DOCTOR_FAULT, g_strdup("listrunner setup"), "there is no domain");
    g_autoptr(GError) unread = NULL;
    g_autoptr(GPtrArray) sources = source_all(store, NULL, &unread);
    if (!sources)
        doctor_find(doctor, "sources", DOCTOR_FAULT, NULL, "%s", unread->message);
    for (guint at = 0; sources && at < sources->len; at++) {
        const MemberSource *source = sources->pdata[at];
        if (source_is_plain(source))
            doctor_find(doctor, "sources", DOCTOR_WARNING,
                        g_strdup_printf("listrunner list source set %s %s --place=%s", source->list_id, source->name,
                                        source->kind == SOURCE_LDAP ? "ldaps://..." : "https://..."),
                        "The password of the source %s of %s goes to the server in plain text.", source->name,
                        source->list_id);
    }
    look_at_mta(doctor, domains);
    if (!no_dns)
        doctor_dns(doctor, domains);
    for (guint at = 0; runs && !no_probe && at < MIN(domains->len, PROBES_MAX); at++)
        send_probe(doctor, site, ((const Domain *)domains->pdata[at])->mail_host);
}

static void print_finding(const DoctorFinding *finding)
{
    static const char *const words[] = {[DOCTOR_OK] = "ok", [DOCTOR_WARNING] = "warning", [DOCTOR_FAULT] = "fault"};
    const char *state = words[finding->state];
    if (json_option) {
        json_t *row = json_pack("{ss ss so so}", "subject", finding->subject, "state", state, "text",
                                listing_text(finding->text), "mend", listing_text(finding->mend));
        listing_json(row);
        json_decref(row);
    } else {
        g_autofree char *text = plain_text(finding->text), *mend = finding->mend ? plain_text(finding->mend) : NULL;
        printf("%-8s %-14s %s\n", state, finding->subject, text);
        if (mend)
            printf("%24s%s\n", "", mend);
    }
    fflush(stdout); /* also into a pipe, whose reader is to see it before the next one is known */
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_auto(Doctor) doctor;
    DoctorState worst = DOCTOR_OK;
    g_autoptr(GError) faults = NULL;
    doctor_init(&doctor, site_config_path(site), print_finding);
    if (!json_option) {
        printf("Examining the site of %s: files, clock, database, processes and mail server%s", doctor.config_path,
               no_dns ? "" : "; then the DNS, where a question without an answer takes some seconds");
        if (!no_probe)
            printf("; then a probe for each domain, which may take %d s", patience);
        puts(".");
        fflush(stdout);
    }
    g_autoptr(Config) config = config_load(doctor.config_path, false, &faults);
    doctor.config = config;
    g_autofree char *doubts = config ? config_doubts(config) : NULL;
    g_auto(GStrv) lines = g_strsplit(faults ? faults->message : doubts ? doubts : "", "\n", -1);
    for (char **line = lines; *line; line++)
        doctor_find(&doctor, "configuration", faults ? DOCTOR_FAULT : DOCTOR_WARNING,
                    faults ? g_strdup("listrunner config check") : NULL, "%s", *line);
    if (config) {
        doctor_find_well(&doctor, "configuration", 0, "The configuration is in order.");
        examine(&doctor, site);
    }
    for (guint at = 0; at < doctor.findings->len; at++)
        worst = MAX(worst, ((const DoctorFinding *)doctor.findings->pdata[at])->state);
    return worst == DOCTOR_OK ? TOOL_OK : worst == DOCTOR_WARNING ? TOOL_WAITING : TOOL_NOT_SO;
}

static const GOptionEntry options[] = {
    {"no-dns", 0, 0, G_OPTION_ARG_NONE, &no_dns, "ask no name servers", NULL},
    {"no-probe", 0, 0, G_OPTION_ARG_NONE, &no_probe, "send no mail", NULL},
    {"timeout", 0, 0, G_OPTION_ARG_INT, &patience, "how long to wait for each probe (default 30)", "SECONDS"},
    JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

const Command cmd_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "Examine the site and what it depends on, and say what mends each fault",
    .details =
        "Configuration, permissions, file systems, the proxy before the pages, clock, certificates, database,\n"
        "processes, Postfix's lines, the DNS, and a probe for each domain. Changes nothing. Each finding is shown at\n"
        "once; below it stands the command, or the line of a zone, that mends it. Exit codes: 1 there are faults; 2\n"
        "there are only warnings.",
    .options = options,
    .run = run,
};
