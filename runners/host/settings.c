/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner host: section [host]. */
#include "base/config_table.h"

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"lease", DURATION("15s", 10 * SECOND, 10 * MINUTE),
     .about = "How long the other hosts take this one for living when they hear nothing of it. It says that it lives "
      "three times as often.",
     .more = "What only one host does at a time (jobs of the timer) is taken over by another after that time."},
    {"certificate_file", PATH(NULL),
     .about = "The certificate of this host, in its name (hostname of [site]), signed by the site's own authority. "
      "Hosts that have one hand work to each other: parts of messages, and blocks of large posts.",
     .more = "doc/hosts.md shows how to make it. All three files are in PEM and are read when door and handover start.",
     .example = "/etc/listrunner/host.crt", .readers = "door handover", .opens = "door handover",
     .certificates = CERTIFICATES_OWN},
    {"key_file", PATH(NULL), .about = "Its key, which [site] user alone may read.",
     .example = "/etc/listrunner/host.key", .readers = "door handover", .opens = "door handover"},
    {"authority_file", PATH(NULL),
     .about = "The certificate of the site's own authority. Who has one that it signed, in the name of a host that "
      "listrunner host ls shows, may hand work to this host.",
     .example = "/etc/listrunner/hosts-ca.crt", .readers = "door handover", .opens = "door handover",
     .certificates = CERTIFICATES_OF_AUTHORITIES},
    {"address", STRING("{site.hostname}:8027"),
     .about = "HOST:PORT or [IPv6]:PORT under which the other hosts reach the door of this one (listen of "
      "[runner.door]).",
     .example = "10.0.0.1:8027"},
    {"fan_out_over", INTEGER("0", 0, 100000000, "recipients"),
     .about = "A post with more recipients than this is shared out: each host that lives delivers a part of them, as "
      "large as what it got done lately. 0: the host to which a post came delivers it alone.",
     .more = "Hosts that are drained, or have no certificate_file, get no part. The transports that lists use must be "
      "in the configuration of each host.",
     .readers = "in pipeline"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"host", .about = "This host among several that share a database of PostgreSQL. Its name is hostname in [site].",
     .keys = keys},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.host",
     .about = "Tells the other hosts that this one lives. It is started where [store] driver is postgresql.",
     .defaults = (const ConfigDefault[]){{"start", "{store.driver=postgresql}"}, {"queue", NULL}, {NULL, NULL}},
     .readers = "door handover"},
    {.section = NULL},
};
/* clang-format on */

/* All three, or none. */
static void check_certificates(const ConfigCheck *check)
{
    const ConfigValue *certificate = config_usable(check, "host", "certificate_file");
    const char *const others[] = {"key_file", "authority_file"};
    for (size_t at = 0; certificate && certificate->text && at < G_N_ELEMENTS(others); at++) {
        const ConfigValue *other = config_usable(check, "host", others[at]);
        if (!other || !other->text)
            config_complain(check, "host", "certificate_file", "%s is missing beside it", others[at]);
    }
    const ConfigValue *address = config_usable(check, "host", "address");
    if (address && config_given(check, "host", "address") &&
        (g_str_has_prefix(address->text, "unix:") || !config_endpoint_valid(address->text)))
        config_complain(check, "host", "address",
                        "found \"%s\"; allowed is HOST:PORT or [IPv6]:PORT, with a port from 1 to 65535",
                        address->text);
    config_check_secret(check, "host", "key_file");
}

static void check(const ConfigCheck *check)
{
    const ConfigValue *instances = config_usable(check, "runner.host", "instances");
    if (instances && !g_str_equal(instances->text, "1"))
        config_complain(check, "runner.host", "instances", "found %s; allowed is 1", instances->text);
    check_certificates(check);
}

const ConfigSettings host_settings = {.tables = tables, .members = members, .check = check};
