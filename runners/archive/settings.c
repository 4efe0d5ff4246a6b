/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner archive, section [archive], and its archivers, sections [archiver.NAME]. */
#include "base/config_table.h"

#include <string.h>

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey archive_keys[] = {
    {"command_timeout", DURATION("5m", SECOND, DAY),
     .about = "How long the program of an archiver may take for one message, from its start to its end, whatever it "
      "writes. Then it is killed, and tried again later."},
    {"http_timeout", DURATION("1m", SECOND, HOUR),
     .about = "How long handing one message to HyperKitty may take. Then it is tried again later."},
    {.name = NULL},
};

static const ConfigKey archiver_keys[] = {
    {"enabled", BOOL("yes"),
     .about = "Whether it gets messages."},
    {"type", CHOICE("maildir", "maildir|mbox|command|mhonarc|hyperkitty|mail-archive"),
     .about = "maildir: one maildir a list below path. mbox: one file LIST.mbox a list below path. command: a "
      "program is run for each message. mhonarc: the program MHonArc makes pages in one directory a list below path. "
      "hyperkitty: the web archive of GNU Mailman at url. mail-archive: each message of a public list is mailed to "
      "address."},
    {"path", PATH(NULL),
     .about = "The directory of a maildir, mbox or mhonarc archiver; no two of one type share it.",
     .example = "/var/lib/listrunner/archives", .opens = "command web", .writes = "archive"},
    {"command", STRING(NULL),
     .about = "The program and its arguments; the message is its standard input. No shell is involved. With type = "
      "mhonarc: MHonArc, if it is not /usr/bin/mhonarc; -add, -dbfile, -outdir and the like are added.",
     .example = "/usr/local/bin/archive --list-mail"},
    {"index", BOOL("{site.web_url?}"),
     .about = "Whether a maildir archiver keeps an index of its posts beside them, in path/.index, for pages and "
      "searches. Posts that are there already are added when there is time. Unset: where [site] web_url is set. The "
      "runner web shows the first archive that has one.",
     .example = "yes"},
    {"url", STRING(NULL),
     .about = "The address of HyperKitty, below which are api/ and list/.",
     .example = "https://lists.example.org/hyperkitty/"},
    {"api_key_file", PATH(NULL),
     .about = "The file whose first line is the key that HyperKitty knows as MAILMAN_ARCHIVER_KEY. Nobody but the user "
      "should be able to read it.",
     .example = "/etc/listrunner/hyperkitty.key", .opens = "archive"},
    {"host", STRING(NULL),
     .about = "With several hosts: the one that keeps this archive, by its hostname. The others hand it the posts that "
      "came to them, by their doors (certificate_file in [host]). Unset: each host stores the posts that came to it.",
     .more = "The pages of the archive are served by that host alone, and the others send readers there.",
     .example = "a.example.org"},
    {"address", STRING("archive@mail-archive.com"),
     .about = "Where an archiver of type mail-archive sends messages to."},
    {"list_url", STRING(NULL),
     .about = "The address of the list's archive on the web, for List-Archive. $list_id, $list_name, $mail_host "
      "and $archive, the name of its archive, are replaced. Unset: with hyperkitty and mail-archive the one that it "
      "has there, and the page of the runner web for the archive that it shows.",
     .example = "https://lists.example.org/archives/$list_id/"},
    {"permalink", STRING(NULL),
     .about = "The address of one message on the web, for Archived-At; as list_url, and $hash is replaced with the "
      "Message-ID-Hash. Unset: as list_url.",
     .example = "https://lists.example.org/archives/$list_id/$hash"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"archive", .about = "What the runner archive grants its archivers.", .keys = archive_keys},
    {"archiver.*", .about = "One section an archive; none is built in.", .keys = archiver_keys,
     .readers = "archive command handover in pipeline rest web"},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {.section = "runner.archive"},
    {.section = NULL},
};
/* clang-format on */

/* Two archivers of one type in one directory would write to the same files at once. */
static void check_path(const ConfigCheck *check, const char *section, const char *type, GHashTable *owners)
{
    const ConfigValue *path = config_usable(check, section, "path");
    if (!path || strstr("command hyperkitty mail-archive", type))
        return;
    g_autofree char *canonical = g_canonicalize_filename(path->text, "/");
    g_autofree char *place = g_strdup_printf("%s %s", type, canonical);
    const char *owner = g_hash_table_lookup(owners, place);
    if (owner)
        config_complain(check, section, "path", "found \"%s\", the path of [%s]; allowed is a directory of its own",
                        path->text, owner);
    else
        g_hash_table_insert(owners, g_steal_pointer(&place), (gpointer)section);
}

static void check_command(const ConfigCheck *check, const char *section, bool enabled)
{
    const ConfigValue *command = config_usable(check, section, "command");
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    if (!command)
        return;
    if (!g_shell_parse_argv(command->text, NULL, &words, &error) || *words[0] != '/')
        config_complain(check, section, "command", "found \"%s\"%s%s; allowed is the absolute path of a program "
                        "and its arguments", command->text, error ? ": " : "", error ? error->message : "");
    else if (enabled && !check->offline)
        config_check_program(check, section, "command", words[0]);
}

/* A host hands posts to another by the runner handover. */
static void check_host(const ConfigCheck *check, const char *section)
{
    const ConfigValue *host = config_usable(check, section, "host"), *own = config_usable(check, "site", "hostname");
    const ConfigValue *handover = config_usable(check, "runner.handover", "start");
    if (!host)
        return;
    if (!config_host_valid(host->text))
        config_complain(check, section, "host", "found \"%s\"; allowed is the hostname of one of the hosts",
                        host->text);
    else if (own && g_ascii_strcasecmp(own->text, host->text) != 0 && handover && !handover->number)
        config_complain(check, section, "host",
                        "found \"%s\", which is another host; allowed is that only where "
                        "[host] certificate_file is set, because posts go there by the doors of hosts",
                        host->text);
}

static void check_archiver(const ConfigCheck *check, const char *section, GHashTable *owners)
{
    const ConfigValue *type = config_usable(check, section, "type");
    const ConfigValue *on = config_usable(check, section, "enabled");
    bool enabled = on && on->number;
    if (!type)
        return;
    const char *needed = g_str_equal(type->text, "command")        ? "command"
                         : g_str_equal(type->text, "hyperkitty")   ? "url"
                         : g_str_equal(type->text, "mail-archive") ? "address"
                                                                   : "path";
    if (g_str_equal(needed, "url") && config_unset(check, section, "api_key_file"))
        config_complain(check, section, "api_key_file", "found no value; allowed is an absolute path, because "
                        "type = %s", type->text);
    if (g_str_equal(needed, "url") && enabled)
        config_check_secret(check, section, "api_key_file");
    if (g_str_equal(needed, "url") && config_unset(check, section, "url"))
        config_complain(check, section, "url", "found no value; allowed is an address that begins with http, because "
                        "type = %s", type->text);
    else if (config_unset(check, section, needed))
        config_complain(check, section, needed, "found no value; allowed is %s, because type = %s",
                        g_str_equal(needed, "path") ? "an absolute path" : "a program and its arguments", type->text);
    check_command(check, section, enabled);
    if (enabled) {
        check_path(check, section, type->text, owners);
        check_host(check, section);
    }
    if (enabled && !check->offline)
        config_check_no_file(check, section, "path");
}

static void check(const ConfigCheck *check)
{
    g_autoptr(GHashTable) owners = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree const char **sections = config_family_sections(check->config, "archiver");
    for (const char **section = sections; *section; section++)
        check_archiver(check, *section, owners);
}

static void doubt(const Config *config, GString *lines)
{
    g_autofree const char **sections = config_family_sections(config, "archiver");
    for (const char **section = sections; *section; section++)
        if (config_bool(config, *section, "enabled") &&
            strcmp(config_string(config, *section, "type"), "hyperkitty") == 0)
            config_doubt_file(config, *section, "api_key_file", lines);
}

static char *program(const Config *config, const char *runner)
{
    g_autofree const char **sections = config_family_sections(config, "archiver");
    for (const char **section = sections; *section && g_str_equal(runner, "archive"); section++) {
        const char *type = config_string(config, *section, "type");
        if (config_bool(config, *section, "enabled") && (g_str_equal(type, "command") || g_str_equal(type, "mhonarc")))
            return g_strdup_printf("[%s] type = %s", *section, type);
    }
    return NULL;
}

const ConfigSettings archive_settings = {
    .tables = tables, .members = members, .check = check, .doubt = doubt, .program = program};
