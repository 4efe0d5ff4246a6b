/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner nntp: section [nntp]. */
#include "base/config_check.h"
#include "base/config_table.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"host", STRING(NULL),
     .about = "The news server; unset: there is none, and posts go to no news group.",
     .example = "news.example.com", .readers = "*"},
    {"port", INTEGER("119", 1, 65535, "TCP port"),
     .about = "Its port; 563 with tls = tls."},
    {"user", STRING(NULL),
     .about = "The name that the server knows us by (AUTHINFO); unset: it asks for none.",
     .example = "listrunner"},
    {"password_file", PATH(NULL),
     .about = "The file whose first line is the password for user. Nobody but the user of the programs should be able "
      "to read it.",
     .example = "/etc/listrunner/news.password", .opens = "nntp"},
    {"tls", CHOICE("none", "none|starttls|tls"),
     .about = "none: in clear text. starttls: TLS by STARTTLS. tls: TLS from the beginning. With both the server must "
      "have a valid certificate in the name of host."},
    {"tls_ca_file", PATH(NULL),
     .about = "The certificates in PEM that may sign the server's; unset: those that the system trusts.",
     .example = "/etc/ssl/certs/ca-certificates.crt", .opens = "nntp",
     .certificates = CERTIFICATES_OF_AUTHORITIES},
    {"timeout", DURATION("1m", SECOND, HOUR),
     .about = "How long the server may say nothing."},
    {"poll_interval", DURATION("5m", SECOND, DAY),
     .about = "How often the groups of lists with gateway_to_mail are looked at."},
    {"max_article_size", SIZE("4M", 1 * KIB, 256 * MIB),
     .about = "Larger articles are left out, which the log tells."},
    {"remove_headers", LIST("nntp-posting-host nntp-posting-date x-trace x-complaints-to date-received posted "
                            "posting-version relay-version received"),
     .about = "Fields that are taken out of posts to a group, besides those that news servers write themselves or take "
      "orders from."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"nntp", .about = "The news server that lists are linked with (linked_newsgroup).", .keys = keys},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.nntp",
     .about = "Posts to news groups, and takes posts from there. It is not started unless start = yes.",
     .defaults = (const ConfigDefault[]){{"start", "no"}, {NULL, NULL}}},
    {.section = NULL},
};
/* clang-format on */

static void check(const ConfigCheck *check)
{
    const ConfigValue *user = config_usable(check, "nntp", "user");
    const ConfigValue *file = config_usable(check, "nntp", "password_file");
    if (user && !file)
        config_complain(check, "nntp", user->name, "found \"%s\" without password_file; allowed are both or none",
                        user->text);
    if (file && !user)
        config_complain(check, "nntp", file->name, "found %s without user; allowed are both or none", file->text);
    config_check_secret(check, "nntp", "password_file");
}

static void doubt(const Config *config, GString *lines)
{
    config_doubt_file(config, "nntp", "password_file", lines);
}

const ConfigSettings nntp_settings = {.tables = tables, .members = members, .check = check, .doubt = doubt};
