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
#include "cli/admin/status_text.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "lists/sources/source.h"
#include "store/lists/domain.h"

/* The most domains of which each gets a probe: one may take a minute. */
#define PROBES_MAX 10

static gboolean no_probe, no_dns;
static int patience = 30; /* seconds, of a probe */

static void look_at_configuration(Doctor *doctor, const Config *config)
{
    guint before = doctor->findings->len;
    g_autofree char *doubts = config_doubts(config);
    g_auto(GStrv) lines = g_strsplit(doubts ? doubts : "", "\n", -1);
    for (char **line = lines; *line; line++)
        doctor_find(doctor, "configuration", DOCTOR_WARNING, NULL, "%s", *line);
    doctor_find_well(doctor, "configuration", before, "The configuration is in order.");
}

static Config *read_configuration(Doctor *doctor)
{
    g_autoptr(GError) faults = NULL;
    Config *config = config_load(doctor->config_path, false, &faults);
    g_auto(GStrv) lines = g_strsplit(faults ? faults->message : "", "\n", -1);
    for (char **line = lines; *line; line++)
        doctor_find(doctor, "configuration", DOCTOR_FAULT, g_strdup("listrunner config check"), "%s", *line);
    if (config)
        look_at_configuration(doctor, config);
    return config;
}

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

/* Find the lines that Postfix lacks for all these domains together: each command names the whole value of a parameter,
 * so that one for each domain would undo those before. */
static void look_for_lines(Doctor *doctor, const SetupWiring *wiring)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(GPtrArray) lines = *wiring->domains ? setup_postfix_plan(wiring, &fault) : NULL;
    if (fault)
        doctor_find(doctor, "mta", DOCTOR_FAULT, NULL, "%s", fault->message);
    if (!lines || lines->len == 0)
        return;
    g_autofree char *domains = g_strjoinv(", ", (char **)wiring->domains);
    doctor_find(doctor, "mta", DOCTOR_WARNING, setup_postfix_command(lines),
                "Postfix lacks lines for %s that \"listrunner setup\" would add: it may have others that do the same, "
                "as a probe shows",
                domains);
}

static void look_at_postfix(Doctor *doctor, const GPtrArray *domains)
{
    g_autoptr(GError) unfit = NULL;
    g_auto(SetupDoors) doors = {0};
    g_autoptr(GPtrArray) names = g_ptr_array_new();
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
    look_for_lines(doctor, &wiring);
}

static void look_at_mta(Doctor *doctor, const GPtrArray *domains)
{
    guint before = doctor->findings->len;
    if (!(setup_mta_find() & 1u << SETUP_POSTFIX))
        return;
    look_at_postfix(doctor, domains);
    doctor_find_well(doctor, "mta", before, "Postfix has the lines that Listrunner needs.");
}

/* Say how to mend the way of a probe that did not come back. g_free() */
static char *mend_probe(const Doctor *doctor, const ProbeResult *result, const char *domain)
{
    return result->end == PROBE_NOT_SENT
               ? g_strdup("listrunner dest show relay    # and start the mail server, if it does not run")
               : g_strdup_printf("listrunner setup --domain %s --owner %s --apply", domain,
                                 config_string(doctor->config, "site", "site_owner"));
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
    bool back = result.end == PROBE_BACK;
    doctor_find(doctor, "probe", back ? DOCTOR_OK : DOCTOR_FAULT, back ? NULL : mend_probe(doctor, &result, domain),
                "%s", text);
}

static void look_at_sources(Doctor *doctor, Store *store)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(GPtrArray) all = source_all(store, NULL, &fault);
    if (!all)
        doctor_find(doctor, "sources", DOCTOR_FAULT, NULL, "%s", fault->message);
    for (guint at = 0; all && at < all->len; at++) {
        const MemberSource *source = all->pdata[at];
        if (source_is_plain(source))
            doctor_find(doctor, "sources", DOCTOR_WARNING,
                        g_strdup_printf("listrunner list source set %s %s --place=%s", source->list_id, source->name,
                                        source->kind == SOURCE_LDAP ? "ldaps://..." : "https://..."),
                        "The password of the source %s of %s goes to the server in plain text.", source->name,
                        source->list_id);
    }
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
    look_at_sources(doctor, store);
    look_at_mta(doctor, domains);
    if (!no_dns)
        doctor_dns(doctor, domains);
    for (guint at = 0; runs && !no_probe && at < MIN(domains->len, PROBES_MAX); at++)
        send_probe(doctor, site, ((const Domain *)domains->pdata[at])->mail_host);
}

static const char *word_of(DoctorState state)
{
    return state == DOCTOR_OK ? "ok" : state == DOCTOR_WARNING ? "warning" : "fault";
}

static void print_row(const DoctorFinding *finding)
{
    json_t *row = json_pack("{ss ss so so}", "subject", finding->subject, "state", word_of(finding->state), "text",
                            listing_text(finding->text), "mend", listing_text(finding->mend));
    listing_json(row);
    json_decref(row);
}

static void print_lines(const DoctorFinding *finding)
{
    g_autofree char *text = plain_text(finding->text);
    printf("%-8s %-14s %s\n", word_of(finding->state), finding->subject, text);
    if (finding->mend) {
        g_autofree char *mend = plain_text(finding->mend);
        printf("%24s%s\n", "", mend);
    }
}

static void print_finding(const DoctorFinding *finding)
{
    (json_option ? print_row : print_lines)(finding);
    fflush(stdout); /* also into a pipe, whose reader is to see it before the next one is known */
}

static void print_plan(const Doctor *doctor)
{
    printf("Examining the site of %s: files, clock, database, processes and mail server%s", doctor->config_path,
           no_dns ? "" : "; then the DNS, where a question without an answer takes some seconds");
    if (!no_probe)
        printf("; then a probe for each domain, which may take %d s", patience);
    puts(".");
    fflush(stdout);
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_auto(Doctor) doctor;
    DoctorState worst = DOCTOR_OK;
    doctor_init(&doctor, site_config_path(site), print_finding);
    if (!json_option)
        print_plan(&doctor);
    g_autoptr(Config) config = read_configuration(&doctor);
    doctor.config = config;
    if (config)
        examine(&doctor, site);
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
