/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* These are the settings of section [site], which hold for every part. */
#include "base/config_table.h"

#include <pwd.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/config_check.h"
#include "base/mailbox.h"

/* clang-format off */
static const ConfigKey site_keys[] = {
    {"user", STRING("listrunner"),
     .about = "The system user that every part runs as, not root. A master started as root changes to it; started "
      "as anybody else it stays who it is.",
     .more = "The unit for systemd starts it as the user listrunner: another one has to be named there, too."},
    {"hostname", STRING(CONFIG_SYSTEM),
     .about = "The name of this host in greetings, message ids and trace fields. Of several hosts that share a "
      "database each has its own, by which the database knows the host and its spool: it stays as it is as long as "
      "the spool does.",
     .example = "lists.example.org"},
    {"site_owner", STRING("postmaster@" CONFIG_HOSTNAME),
     .about = "The mail address of the people who run the site. Where several hosts share a database, set the same on "
      "each of them.",
     .example = "postmaster@example.org"},
    {"role_addresses", LIST("postmaster abuse"),
     .about = "Names that belong to these people in each domain of lists (RFC 2142): mail to them goes to site_owner, "
      "unless a list has the name. Empty: no such mail is taken."},
    {"web_url", STRING(NULL),
     .about = "Where people reach the pages of the lists, through a proxy with TLS. It starts the runner web, and "
      "letters and copies of posts have links to its pages. Unset: there are no pages.",
     .example = "https://lists.example.org"},
    {"log", CHOICE("stderr", "stderr|syslog"),
     .about = "Where the log goes: standard error (a service manager keeps it) or syslog, facility mail."},
    {"verbose", BOOL("no"),
     .about = "Whether debug lines are logged."},
    {.name = NULL},
};

static const ConfigKey trail_keys[] = {
    {"enabled", BOOL("yes"),
     .about = "Whether what becomes of each mail is kept for listrunner trace."},
    {"directory", PATH(CONFIG_STATE "/log/listrunner/trail"),
     .about = "Where that is. It may not be on a network file system that other hosts write to as well.",
     .writes = "*"},
    {"size", SIZE("1G", 16 * MIB, INT64_C(1024) * GIB),
     .about = "How much it may grow; then the oldest goes. A million copies of posts take 8 to 14 MB, and 25 to "
      "70 MB where each goes out by itself."},
    {"keep", DURATION("365d", HOUR, 3660 * DAY),
     .about = "How long it is kept where size has room for it."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"site", .about = "What holds for every part.", .keys = site_keys, .readers = "*"},
    {"trail", .about = "The trail: what the log says about each mail, kept for long and found quickly.",
     .keys = trail_keys, .readers = "*"},
    {.section = NULL},
};

/* clang-format on */

static void check_user(const ConfigCheck *check, const ConfigValue *user)
{
    /* A process that is not root keeps its user: only a name that was written in the file can be wrong. */
    if (user->line == 0 && geteuid() != 0)
        return;
    const struct passwd *account = getpwnam(user->text);
    if (!account)
        config_complain(check, "site", "user", "found \"%s\", which does not exist; allowed is a user of this system "
                        "(adduser --system --group %s)", user->text, user->text);
    else if (account->pw_uid == 0 && g_strcmp0(g_getenv(CONFIG_ENV_ALLOW_ROOT), "yes") != 0)
        config_complain(check, "site", "user", "found \"%s\", who may do everything on this system, and so might "
                        "whoever breaks into a runner; allowed is a user of its own (adduser --system --group "
                        "listrunner)", user->text);
}

/* Letters and programs add paths to it. */
static void check_web_url(const ConfigCheck *check)
{
    const ConfigValue *url = config_usable(check, "site", "web_url");
    if (!url)
        return;
    g_autoptr(GUri) uri = g_uri_parse(url->text, G_URI_FLAGS_NONE, NULL);
    const char *scheme = uri ? g_uri_get_scheme(uri) : "", *host = uri ? g_uri_get_host(uri) : NULL;
    bool web = strcmp(scheme, "https") == 0 || strcmp(scheme, "http") == 0;
    if (!web || !host || !*host || g_uri_get_query(uri) || g_uri_get_fragment(uri) || g_uri_get_userinfo(uri) ||
        strpbrk(url->text, "<>\"$ "))
        config_complain(check, "site", "web_url",
                        "found \"%s\"; allowed is https://HOST, perhaps with a port and a "
                        "path, as https://lists.example.org",
                        url->text);
}

static void check(const ConfigCheck *check)
{
    check_web_url(check);
    const ConfigValue *hostname = config_usable(check, "site", "hostname");
    if (hostname && !config_host_valid(hostname->text))
        config_complain(check, "site", "hostname", "found \"%s\"; allowed is a host name", hostname->text);
    const ConfigValue *owner = config_usable(check, "site", "site_owner");
    if (owner && owner->line > 0 && !mailbox_legible(owner->text))
        config_complain(check, "site", "site_owner", "found \"%s\"; allowed is a mail address without a name",
                        owner->text);
    const ConfigValue *roles = config_usable(check, "site", "role_addresses");
    for (char **role = roles ? roles->words : NULL; role && *role; role++) {
        g_autofree char *address = g_strconcat(*role, "@example.org", NULL);
        if (strchr(*role, '@') || !mailbox_valid(address))
            config_complain(check, "site", "role_addresses", "found \"%s\"; allowed is the part of an address before "
                            "the @", *role);
    }
    if (check->offline)
        return;
    const ConfigValue *user = config_usable(check, "site", "user");
    if (user)
        check_user(check, user);
}

const ConfigSettings site_settings = {.tables = tables, .check = check};
