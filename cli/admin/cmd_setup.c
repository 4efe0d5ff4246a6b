/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * listrunner setup: from an installed Listrunner to one that works behind the MTA of this machine. All that can be
 * known beforehand is checked before anything is changed; each step finds out whether it was done already, so that the
 * whole can be run again. Verbs that use the database become [site] user for good, so they run as processes of their
 * own.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "cli/admin/setup_check.h"
#include "cli/admin/setup_config.h"
#include "cli/admin/setup_dkim.h"
#include "cli/admin/setup_mta.h"
#include "cli/admin/setup_run.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "mail/domain_name.h"
#include "store/place.h"

static char *domain_given, *owner_given, *mta_given, *hostname_given, *lmtp_given, *ask_given;
static char **set_given;
static gboolean yes, apply, no_start, dkim;

typedef struct Setup {
    Site *site;
    char *domain, *owner, *hostname;
    SetupMta mta;
    GPtrArray *settings; /* that are to be in force, of SetupSetting */
    SetupConfig config;
    GPtrArray *lines; /* that Postfix lacks; NULL for another MTA */
    SetupDoors doors;
    SetupWiring wiring;
    const char *domains[2]; /* of the wiring */
    char *record;   /* of DKIM, for the zone; NULL: no key was asked for */
    bool key_made;  /* and its section was put into the configuration */
    bool running; /* a master works already */
} Setup;

static void setup_clear(Setup *setup)
{
    g_free(setup->domain);
    g_free(setup->owner);
    g_free(setup->hostname);
    g_free(setup->record);
    g_clear_pointer(&setup->settings, g_ptr_array_unref);
    g_clear_pointer(&setup->lines, g_ptr_array_unref);
    setup_config_clear(&setup->config);
    setup_doors_clear(&setup->doors);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Setup, setup_clear)

/* ---- questions ---- */

static bool may_ask(void)
{
    return !yes && isatty(STDIN_FILENO);
}

/* Ask a person, and return the answer, or the fallback (may be NULL) for an empty line; NULL: nothing. g_free() */
static char *answer_to(const char *question, const char *fallback)
{
    char line[1024];
    printf(fallback ? "%s [%s]: " : "%s: ", question, fallback);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        return NULL;
    g_strstrip(line);
    return *line ? g_strdup(line) : g_strdup(fallback);
}

/* The option's value, or what a person answers. FAIL_NEVER: neither. g_free() */
static char *option_or_answer(const char *given, const char *option, const char *question, const char *fallback,
                              GError **error)
{
    char *value = given ? g_strdup(given) : may_ask() ? answer_to(question, fallback) : NULL;
    if (!value && may_ask() && !feof(stdin))
        fail(error, FAIL_NEVER, "%s: found nothing; an answer is needed", option);
    else if (!value)
        command_usage(error, "%s is missing, and nobody can be asked", option);
    return value;
}

/* The name in the configuration that is there and stays, else that of the system if it is one of DNS, else the domain
 * of the lists. g_free() */
static char *own_name(const char *path, const char *domain)
{
    g_autofree char *kept = setup_config_hostname(path);
    if (kept)
        return g_steal_pointer(&kept);
    g_autofree char *system = config_default("site", "hostname");
    return g_strdup(system && strchr(system, '.') ? system : domain);
}

/* After a wrong answer a person is asked again; a wrong option ends the setup. False: *refusal stands. */
static bool ask_again(const char *given, GError **refusal)
{
    if (given || feof(stdin) || !*refusal || (*refusal)->code != FAIL_NEVER)
        return false;
    printf("%s\n", (*refusal)->message);
    g_clear_error(refusal);
    return true;
}

static bool read_domain(Setup *setup, GError **error)
{
    g_autofree char *text = option_or_answer(domain_given, "--domain", "Domain of the lists, such as lists.example.com",
                                             NULL, error);
    if (!text)
        return false;
    g_free(setup->domain);
    setup->domain = domain_name_ascii(text);
    if (!mailbox_domain_valid(setup->domain) || !strchr(setup->domain, '.'))
        return fail(error, FAIL_NEVER,
                    "--domain: found '%s'; allowed is the name of a domain such as lists.example.com", text);
    return true;
}

static bool read_owner(Setup *setup, GError **error)
{
    g_free(setup->owner);
    setup->owner = option_or_answer(owner_given, "--owner", "Address of whoever runs this site", NULL, error);
    if (!setup->owner)
        return false;
    const char *at = strrchr(setup->owner, '@');
    if (!mailbox_legible(setup->owner) || !at)
        return fail(error, FAIL_NEVER, "--owner: found '%s'; allowed is an address such as you@example.com",
                    setup->owner);
    if (g_ascii_strcasecmp(at + 1, setup->domain) == 0)
        return fail(error, FAIL_NEVER,
                    "--owner: found '%s', which is in the domain of the lists; allowed is an address "
                    "elsewhere, which is read also when the lists are in trouble",
                    setup->owner);
    return true;
}

typedef bool Reader(Setup *setup, GError **error);

static bool find(Setup *setup, Reader *reader, const char *given, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    while (!reader(setup, &refusal))
        if (!may_ask() || !ask_again(given, &refusal))
            return fail_with(error, &refusal);
    return true;
}

static bool read_mta(Setup *setup, GError **error)
{
    unsigned found = setup_mta_find();
    const char *only = found == 1u << SETUP_POSTFIX ? "postfix" : found == 1u << SETUP_EXIM ? "exim" : NULL;
    if (!mta_given && !found)
        return fail(error, FAIL_MISSING,
                    "there is neither Postfix nor Exim on this machine: install one (apt install "
                    "postfix), or say --mta=none when the mail server is elsewhere");
    g_autofree char *name = mta_given ? g_strdup(mta_given)
                            : only    ? g_strdup(only)
                                   : option_or_answer(NULL, "--mta", "Mail server, postfix or exim", "postfix", error);
    if (!name)
        return false;
    if (!setup_mta_parse(name, &setup->mta))
        return command_usage(error, "--mta: '%s' is none of postfix, exim, none", name) == TOOL_OK;
    if (setup->mta != SETUP_NO_MTA && !(found & 1u << setup->mta))
        return fail(error, FAIL_MISSING, "--mta=%s: that is not installed on this machine", name);
    return true;
}

/* ---- what is to be in force ---- */

static bool want_relay(Setup *setup, GError **error)
{
    char *found_host, *found_port;
    if (!setup_postfix_relay(&found_host, &found_port, error))
        return false;
    g_autofree char *host = found_host, *port = found_port;
    if (strcmp(host, "127.0.0.1") != 0)
        setup_settings_put(setup->settings, "transport.relay", "host", host);
    if (strcmp(port, "25") != 0)
        setup_settings_put(setup->settings, "transport.relay", "port", port);
    return true;
}

static bool want_settings(Setup *setup, GError **error)
{
    bool sound = true;
    setup->settings = setup_settings_new();
    setup_settings_put(setup->settings, "site", "hostname", setup->hostname);
    setup_settings_put(setup->settings, "site", "site_owner", setup->owner);
    if (lmtp_given)
        setup_settings_put(setup->settings, "runner.lmtp", "listen", lmtp_given);
    if (setup->mta == SETUP_POSTFIX) {
        setup_settings_put(setup->settings, "runner.mta", "start", "yes");
        sound = want_relay(setup, error);
    } else if (setup->mta == SETUP_EXIM) {
        setup_settings_put(setup->settings, "mta", "maps_directory", LOCALSTATEDIR "/lib/listrunner/mta");
        setup_settings_put(setup->settings, "mta", "maps_format", "exim");
    }
    if (ask_given)
        setup_settings_put(setup->settings, "runner.mta", "listen", ask_given);
    for (char **text = set_given; sound && text && *text; text++)
        sound = setup_settings_read(setup->settings, *text, error);
    return sound;
}

/* Refuse a new configuration that raises doubts, though they would be no fault in one that is there already. */
static bool is_without_doubt(const Config *config, GError **error)
{
    g_autofree char *doubts = config_doubts(config);
    return !doubts || fail(error, FAIL_CONFIG, "%s", doubts);
}

/* Find out all that is to be done, and refuse what cannot be. Changes nothing. */
static bool plan(Setup *setup, GError **error)
{
    const char *path = site_config_path(setup->site);
    if (!find(setup, read_domain, domain_given, error) || !find(setup, read_owner, owner_given, error) ||
        !find(setup, read_mta, mta_given, error))
        return false;
    setup->hostname = hostname_given ? g_strdup(hostname_given) : own_name(path, setup->domain);
    if (!want_settings(setup, error) || !setup_config_plan(path, setup->settings, &setup->config, error))
        return false;
    const Config *config = setup->config.config;
    g_autoptr(ControlClient) master = control_client_open(setup->site, NULL);
    setup->running = master != NULL;
    setup->domains[0] = setup->domain;
    setup->wiring = (SetupWiring){
        .mta = setup->mta, .domains = setup->domains, .maps = config_string(config, "mta", "maps_directory")};
    if (!is_without_doubt(config, error) || !setup_doors_read(config, &setup->doors, error) ||
        !setup_check_disks(path, config, error) ||
        (!setup->running && !setup_check_ports(config, setup->mta == SETUP_POSTFIX, error)))
        return false;
    setup->wiring.lmtp = setup->doors.lmtp;
    setup->wiring.ask = setup->doors.ask;
    if (setup->mta != SETUP_POSTFIX)
        return true;
    setup->lines = setup_postfix_plan(&setup->wiring, error);
    return setup->lines && (!apply || setup->lines->len == 0 || setup_postfix_may_change(error));
}

/* ---- doing it ---- */

static bool verb(const Setup *setup, const char *what, const char *const *words, GError **error)
{
    int code;
    return setup_verb(site_config_path(setup->site), words, &code, error) &&
           (code == 0 || fail(error, FAIL_LATER, "%s failed with code %d", what, code));
}
#define VERB(setup, what, error, ...) verb(setup, what, (const char *[]){__VA_ARGS__, NULL}, error)

static bool has_store(const Setup *setup)
{
    g_auto(StorePlace) place = {0};
    return store_place_read(setup->config.config, &place, NULL) && store_find(place.driver, place.where, NULL);
}

static bool has_domain(const Setup *setup)
{
    g_autofree char *wanted = g_strdup_printf("\"%s\"", setup->domain);
    g_autofree char *rows = setup_output(
        (const char *[]){"/proc/self/exe", "-c", site_config_path(setup->site), "domain", "ls", "--json", NULL}, NULL);
    return rows && strstr(rows, wanted);
}

/* Make configuration, database and domain. A configuration that was written goes again when the database cannot be
 * made. */
static bool make_site(const Setup *setup, GError **error)
{
    const char *path = site_config_path(setup->site);
    if (setup->config.text && !setup_config_write(path, setup->config.text, error))
        return false;
    printf(setup->config.text ? "The configuration %s was written.\n" : "The configuration %s stays as it is.\n", path);
    if (!has_store(setup) && !VERB(setup, "listrunner store create", error, "store", "create")) {
        if (setup->config.text && unlink(path) == 0)
            printf("%s was removed again.\n", path);
        return false;
    }
    if (has_domain(setup))
        return true;
    /* Its own words about the mail server are not shown: the plan has the same, and more. */
    g_autofree char *said = setup_output(
        (const char *[]){"/proc/self/exe", "-c", path, "domain", "create", setup->domain, NULL}, error);
    if (said)
        printf("domain %s created\n", setup->domain);
    return said != NULL;
}

static bool make_key(Setup *setup, GError **error)
{
    const char *path = site_config_path(setup->site);
    if (!dkim)
        return true;
    if (!setup_dkim_make(path, setup->domain, &setup->record, &setup->key_made, error))
        return false;
    if (setup->key_made)
        printf("A key that signs mail of %s was made, and its section [dkim.NAME] put at the end of %s.\n",
               setup->domain, path);
    else
        printf("Mail of %s is signed by a section [dkim.NAME] that is there.\n", setup->domain);
    return true;
}

/* Does systemd run here, and know our unit? It reads the default configuration alone. */
static bool has_unit(const Setup *setup)
{
    if (access("/run/systemd/system", F_OK) != 0 || strcmp(site_config_path(setup->site), CONFIG_FILE) != 0)
        return false;
    g_autofree char *unit = setup_output((const char *[]){"systemctl", "cat", "listrunner.service", NULL}, NULL);
    return unit != NULL;
}

static bool start(const Setup *setup, GError **error)
{
    int code;
    if (no_start)
        return true;
    if (setup->running)
        return (!setup->config.text && !setup->key_made) || VERB(setup, "listrunner reload", error, "reload");
    if (!has_unit(setup))
        return VERB(setup, "listrunner start", error, "start");
    if (!setup_run((const char *[]){"systemctl", "enable", "--now", "listrunner.service", NULL}, &code, error))
        return false;
    if (code != 0)
        return fail(error, FAIL_LATER, "the service did not start: see journalctl -u listrunner");
    puts("The service listrunner was started, and will be whenever the system is.");
    return true;
}

static bool apply_now(const Setup *setup)
{
    if (apply || setup->lines->len == 0 || !may_ask())
        return apply;
    for (;;) {
        g_autofree char *answer = answer_to("Put these lines into Postfix's configuration now? (yes, no)", "yes");
        bool agreed = answer && (g_ascii_strcasecmp(answer, "yes") == 0 || g_ascii_strcasecmp(answer, "y") == 0);
        if (agreed || !answer || feof(stdin) || g_ascii_strcasecmp(answer, "no") == 0 ||
            g_ascii_strcasecmp(answer, "n") == 0)
            return agreed;
        printf("found '%s'; allowed is yes or no\n", answer);
    }
}

/* Connect the MTA. *wired: a mail can be sent through it now. */
static bool connect_mta(const Setup *setup, bool *wired, GError **error)
{
    *wired = false;
    if (setup->mta == SETUP_EXIM) {
        g_autofree char *text = setup_exim_text(&setup->wiring);
        printf("\nExim needs this:\n\n%s\nThen: listrunner probe %s\n", text, setup->domain);
    }
    if (setup->mta != SETUP_POSTFIX)
        return true;
    puts(setup->lines->len > 0 ? "\nPostfix lacks this:\n" : "Postfix has all its lines.");
    for (guint at = 0; at < setup->lines->len; at++) {
        const SetupLine *line = setup->lines->pdata[at];
        printf("  postconf -e '%s = %s'\n", line->name, line->value);
    }
    if (setup->lines->len > 0 && !apply_now(setup)) {
        printf("  postfix reload\n\n--apply does so. Then: listrunner probe %s\n", setup->domain);
        return true;
    }
    if (!setup_postfix_apply(setup->lines, wired, error))
        return false;
    if (setup->lines->len > 0)
        puts("\nPostfix has them now.");
    if (!*wired)
        puts("Postfix does not run: start it.");
    return true;
}

static void print_left(const Setup *setup)
{
    bool is_signed = setup_dkim_section(setup->config.config, setup->domain);
    g_autofree char *key = g_strdup(setup->record ? setup->record
                                                  : "the key of DKIM, whose line \"listrunner doctor\" shows");
    if (!setup->record && !is_signed) {
        g_free(key);
        key = g_strdup_printf("a key of DKIM, which signs the mail: listrunner setup --dkim --domain %s --owner %s",
                              setup->domain, setup->owner);
    }
    printf("\nLeft to do, where it has not been done:\n\n"
           "  In DNS, so that mail comes here and is believed elsewhere:\n"
           "    %s.  MX   10 %s.\n"
           "    %s.  TXT  \"v=spf1 mx -all\"\n"
           "    _dmarc.%s.  TXT  \"v=DMARC1; p=none; rua=mailto:%s\"\n"
           "    %s\n"
           "    and, of the address with which this machine sends, a PTR that is its name\n"
           "  A first list:\n"
           "    listrunner list create NAME@%s --owner %s\n"
           "\n\"listrunner doctor\" shows what of this is still missing.\n",
           setup->domain, setup->hostname, setup->domain, setup->domain, setup->owner, key, setup->domain,
           setup->owner);
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    bool wired;
    int code = TOOL_OK;
    g_auto(Setup) setup = {.site = site};
    if (!plan(&setup, error)) {
        if (error && *error)
            g_prefix_error(error, "nothing was changed: ");
        return TOOL_LATER;
    }
    if (!make_site(&setup, error) || !make_key(&setup, error) || !start(&setup, error) ||
        !connect_mta(&setup, &wired, error))
        return TOOL_LATER;
    if (wired && !no_start &&
        !setup_verb(site_config_path(site), (const char *[]){"probe", setup.domain, NULL}, &code, error))
        return TOOL_LATER;
    print_left(&setup);
    return code == 0 ? TOOL_OK : TOOL_NOT_SO;
}

static const GOptionEntry options[] = {
    {"domain", 0, 0, G_OPTION_ARG_STRING, &domain_given, "the domain of the lists", "DOMAIN"},
    {"owner", 0, 0, G_OPTION_ARG_STRING, &owner_given, "the address of whoever runs the site", "ADDRESS"},
    {"mta", 0, 0, G_OPTION_ARG_STRING, &mta_given, "the mail server; default: the one that is on this machine",
     "postfix|exim|none"},
    {"hostname", 0, 0, G_OPTION_ARG_STRING, &hostname_given, "the name of this machine; default: what it says itself",
     "NAME"},
    {"lmtp", 0, 0, G_OPTION_ARG_STRING, &lmtp_given, "where Listrunner takes mail (default 127.0.0.1:8024)",
     "ADDRESS:PORT"},
    {"ask", 0, 0, G_OPTION_ARG_STRING, &ask_given, "where it answers Postfix (default 127.0.0.1:8026)", "ADDRESS:PORT"},
    {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set_given, "a further setting; may be given more than once",
     "SECTION.KEY=VALUE"},
    {"apply", 0, 0, G_OPTION_ARG_NONE, &apply, "change Postfix's configuration, too", NULL},
    {"dkim", 0, 0, G_OPTION_ARG_NONE, &dkim,
     "make a key that signs the domain's mail, with its section in the configuration, and show its record", NULL},
    {"no-start", 0, 0, G_OPTION_ARG_NONE, &no_start, "do not start the service", NULL},
    {"yes", 'y', 0, G_OPTION_ARG_NONE, &yes, "ask nothing", NULL},
    G_OPTION_ENTRY_NULL,
};

const Command cmd_setup = {
    .name = "setup",
    .arguments = "",
    .summary = "Make a site: configuration, database, mail server, and a mail through all of it",
    .details = "Asks for what the options do not say. All is checked before anything is changed, and a configuration\n"
               "that has settings is never written over; --dkim puts one section behind them. It may be run again,\n"
               "for a further domain, too. Exit codes: 1 the probe did not come back, or the configuration says\n"
               "otherwise; 64, 66, 75, 78: nothing was changed, or, as it says, something failed on the way.",
    .options = options,
    .run = run,
};
