/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * listrunner setup: from an installed Listrunner to one that works behind the MTA of this machine. All that can be
 * known beforehand is checked before anything is changed; each step finds out whether it was done already, so that the
 * whole can be run again. Verbs that use the database become [site] user for good, so they run as processes of their
 * own.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/mailbox.h"
#include "cli/admin/setup_config.h"
#include "cli/admin/setup_dkim.h"
#include "cli/admin/setup_mta.h"
#include "cli/admin/setup_run.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "mail/domain_name.h"
#include "store/place.h"

#define LEAST_STATE (16 * 1024 * 1024) /* bytes, for a database without lists and its journal */
#define LEAST_CONFIG (64 * 1024)

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

/* After a wrong answer a person is asked again; a wrong option ends the setup. */
static bool find(Setup *setup, Reader *reader, const char *given, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    while (!reader(setup, &refusal)) {
        if (!may_ask() || given || feof(stdin) || !refusal || refusal->code != FAIL_NEVER)
            return fail_with(error, &refusal);
        printf("%s\n", refusal->message);
        g_clear_error(&refusal);
    }
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

/* ---- the machine ---- */

/* Can so much be written to the directory, or to the first one above it that is there? */
static bool has_room(const char *path, uint64_t least, const char *what, GError **error)
{
    uint64_t free_bytes;
    struct statvfs status;
    g_autofree char *directory = g_strdup(path);
    while (!g_file_test(directory, G_FILE_TEST_IS_DIR) && strcmp(directory, "/") != 0) {
        char *above = g_path_get_dirname(directory);
        g_free(directory);
        directory = above;
    }
    auto_fd fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstatvfs(fd, &status) != 0)
        return fail_errno(error, FAIL_LATER, "look at %s, for %s", directory, what);
    if (status.f_flag & ST_RDONLY)
        return fail(error, FAIL_LATER, "%s is on a file system that is read-only; %s must be written there", directory,
                    what);
    if (!fs_free_space(fd, &free_bytes, error))
        return false;
    return free_bytes >= least ||
           fail(error, FAIL_LATER,
                "the file system of %s is full: it has %" G_GUINT64_FORMAT " KiB left, and %s needs "
                "%" G_GUINT64_FORMAT " KiB",
                directory, free_bytes / 1024, what, least / 1024);
}

/* Are the ports free on which a runner is to listen? */
static bool are_free(const Config *config, const char *section, const char *option, GError **error)
{
    bool all = true;
    for (const char *const *listen = config_list(config, section, "listen"); all && *listen; listen++) {
        struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
        g_autofree char *host = g_strdup(*listen);
        char *colon = strrchr(host, ':'), *bare = host;
        if (!colon || *host == '/' || g_str_has_prefix(host, "unix:"))
            continue;
        *colon = '\0';
        if (*host == '[') {
            bare = host + 1;
            colon[-1] = '\0';
        }
        if (getaddrinfo(strcmp(bare, "*") == 0 || !*bare ? NULL : bare, colon + 1, &hints, &found) != 0)
            continue; /* the check of the configuration has told it */
        for (struct addrinfo *one = found; all && one; one = one->ai_next) {
            int on = 1;
            auto_fd fd = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
            if (fd >= 0) /* a closed connection that lingers is no obstacle */
                setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
            all = fd < 0 || bind(fd, one->ai_addr, one->ai_addrlen) == 0 || errno != EADDRINUSE;
        }
        freeaddrinfo(found);
        if (!all)
            fail(error, FAIL_LATER,
                 "%s, [%s] listen, is taken by another program (GNU Mailman has such ports, too; "
                 "\"ss -ltnp\" shows which it is): end that, or choose another port by %s",
                 *listen, section, option);
    }
    return all;
}

/* Can configuration, spool and database be written, and are the ports free, unless our own master has them? */
static bool is_machine_fit(const Setup *setup, const Config *config, GError **error)
{
    g_autofree char *configuration = g_path_get_dirname(site_config_path(setup->site));
    g_autofree char *state = g_path_get_dirname(config_string(config, "store", "path"));
    bool file = strcmp(config_string(config, "store", "driver"), "sqlite") == 0;
    return has_room(configuration, LEAST_CONFIG, "the configuration", error) &&
           has_room(config_string(config, "spool", "directory"), config_size(config, "spool", "min_free"),
                    "the spool ([spool] min_free)", error) &&
           (!file || has_room(state, LEAST_STATE, "the database", error)) &&
           (setup->running || are_free(config, "runner.lmtp", "--lmtp", error)) &&
           (setup->running || setup->mta != SETUP_POSTFIX || are_free(config, "runner.mta", "--ask", error));
}

/* ---- what is to be in force ---- */

static bool want_settings(Setup *setup, GError **error)
{
    setup->settings = setup_settings_new();
    setup_settings_put(setup->settings, "site", "hostname", setup->hostname);
    setup_settings_put(setup->settings, "site", "site_owner", setup->owner);
    if (lmtp_given)
        setup_settings_put(setup->settings, "runner.lmtp", "listen", lmtp_given);
    if (setup->mta == SETUP_POSTFIX) {
        char *found_host, *found_port;
        setup_settings_put(setup->settings, "runner.mta", "start", "yes");
        if (!setup_postfix_relay(&found_host, &found_port, error))
            return false;
        g_autofree char *host = found_host, *port = found_port;
        if (strcmp(host, "127.0.0.1") != 0)
            setup_settings_put(setup->settings, "transport.relay", "host", host);
        if (strcmp(port, "25") != 0)
            setup_settings_put(setup->settings, "transport.relay", "port", port);
    } else if (setup->mta == SETUP_EXIM) {
        setup_settings_put(setup->settings, "mta", "maps_directory", LOCALSTATEDIR "/lib/listrunner/mta");
        setup_settings_put(setup->settings, "mta", "maps_format", "exim");
    }
    if (ask_given)
        setup_settings_put(setup->settings, "runner.mta", "listen", ask_given);
    for (char **text = set_given; text && *text; text++)
        if (!setup_settings_read(setup->settings, *text, error))
            return false;
    return true;
}

/* Find out all that is to be done, and refuse what cannot be. Changes nothing. */
static bool plan(Setup *setup, GError **error)
{
    const char *path = site_config_path(setup->site);
    if (!find(setup, read_domain, domain_given, error) || !find(setup, read_owner, owner_given, error) ||
        !find(setup, read_mta, mta_given, error))
        return false;
    /* The name in the configuration that is there and stays, else that of the system if it is one of DNS. */
    g_autofree char *kept = hostname_given ? NULL : setup_config_hostname(path);
    g_autofree char *system = config_default("site", "hostname");
    setup->hostname = g_strdup(hostname_given                          ? hostname_given
                               : kept                                  ? kept
                               : system && strchr(system, '.') != NULL ? system
                                                                       : setup->domain);
    if (!want_settings(setup, error) || !setup_config_plan(path, setup->settings, &setup->config, error))
        return false;
    const Config *config = setup->config.config;
    g_autoptr(ControlClient) master = control_client_open(setup->site, NULL);
    setup->running = master != NULL;
    g_autofree char *doubts = config_doubts(config);
    if (doubts) /* no fault in a configuration that is in use, but nobody begins with them */
        return fail(error, FAIL_CONFIG, "%s", doubts);
    if (!setup_doors_read(config, &setup->doors, error) || !is_machine_fit(setup, config, error))
        return false;
    setup->domains[0] = setup->domain;
    setup->wiring = (SetupWiring){.mta = setup->mta,
                                  .domains = setup->domains,
                                  .maps = config_string(config, "mta", "maps_directory"),
                                  .lmtp = setup->doors.lmtp,
                                  .ask = setup->doors.ask};
    if (setup->mta != SETUP_POSTFIX)
        return true;
    setup->lines = setup_postfix_plan(&setup->wiring, error);
    return setup->lines && (!apply || setup->lines->len == 0 || setup_postfix_may_change(error));
}

/* ---- doing it ---- */

/* Run a verb of this program, such as "store create". */
static bool verb(const Setup *setup, const char *line, GError **error)
{
    int code;
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    return setup_verb(site_config_path(setup->site), (const char *const *)words, &code, error) &&
           (code == 0 || fail(error, FAIL_LATER, "listrunner %s failed with code %d", line, code));
}

/* Make configuration, database, domain and key. A configuration that was written goes again when the database cannot be
 * made. */
static bool make_site(Setup *setup, GError **error)
{
    const char *path = site_config_path(setup->site);
    if (setup->config.text && !setup_config_write(path, setup->config.text, error))
        return false;
    printf(setup->config.text ? "The configuration %s was written.\n" : "The configuration %s stays as it is.\n", path);
    g_auto(StorePlace) place = {0};
    bool has_store = store_place_read(setup->config.config, &place, NULL) &&
                     store_find(place.driver, place.where, NULL);
    if (!has_store && !verb(setup, "store create", error)) {
        if (setup->config.text && unlink(path) == 0)
            printf("%s was removed again.\n", path);
        return false;
    }
    g_autofree char *wanted = g_strdup_printf("\"%s\"", setup->domain);
    g_autofree char *rows = setup_output((const char *[]){"/proc/self/exe", "-c", path, "domain", "ls", "--json", NULL},
                                         NULL);
    if (!rows || !strstr(rows, wanted)) {
        /* Its own words about the mail server are not shown: the plan has the same, and more. */
        g_autofree char *said = setup_output(
            (const char *[]){"/proc/self/exe", "-c", path, "domain", "create", setup->domain, NULL}, error);
        if (!said)
            return false;
        printf("domain %s created\n", setup->domain);
    }
    if (dkim && !setup_dkim_make(path, setup->domain, &setup->record, &setup->key_made, error))
        return false;
    if (setup->key_made)
        printf("A key that signs mail of %s was made, and its section [dkim.NAME] put at the end of %s.\n",
               setup->domain, path);
    else if (dkim)
        printf("Mail of %s is signed by a section [dkim.NAME] that is there.\n", setup->domain);
    return true;
}

static bool start(const Setup *setup, GError **error)
{
    int code;
    if (no_start)
        return true;
    if (setup->running)
        return (!setup->config.text && !setup->key_made) || verb(setup, "reload", error);
    /* Does systemd run here, and know our unit? It reads the default configuration alone. */
    bool may_have = access("/run/systemd/system", F_OK) == 0 && strcmp(site_config_path(setup->site), CONFIG_FILE) == 0;
    g_autofree char *unit = may_have
                                ? setup_output((const char *[]){"systemctl", "cat", "listrunner.service", NULL}, NULL)
                                : NULL;
    if (!unit)
        return verb(setup, "start", error);
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
    if (!make_site(&setup, error) || !start(&setup, error) || !connect_mta(&setup, &wired, error))
        return TOOL_LATER;
    if (wired && !no_start &&
        !setup_verb(site_config_path(site), (const char *[]){"probe", setup.domain, NULL}, &code, error))
        return TOOL_LATER;
    g_autofree char *key =
        setup.record ? g_strdup(setup.record)
        : setup_dkim_section(setup.config.config, setup.domain)
            ? g_strdup("the key of DKIM, whose line \"listrunner doctor\" shows")
            : g_strdup_printf("a key of DKIM, which signs the mail: listrunner setup --dkim --domain %s --owner %s",
                              setup.domain, setup.owner);
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
           setup.domain, setup.hostname, setup.domain, setup.domain, setup.owner, key, setup.domain, setup.owner);
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
