/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner web: section [web]. */
#include <string.h>

#include "base/config_check.h"
#include "base/config_table.h"
#include "runners/server/http_settings.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"directory", PATH(NULL),
     .about = "Files that take the place of those that come with Listrunner, below its data directory in web/: "
      "templates, style.css, icon.svg, and texts in po/LANGUAGE.po. Those that are not there stay as they are.",
     .example = "/etc/listrunner/web", .opens = "web"},
    {"proxies", LIST("127.0.0.1, ::1, unix"),
     .about = "Addresses from which requests come through a proxy of the site: the client is whom their "
      "X-Forwarded-For field names last. unix stands for a UNIX socket. Of another address that is not public the "
      "field is not believed, and the client is unknown: limits for each network do not work then."},
    {"user_header", STRING(NULL),
     .about = "A field of requests in which a proxy of the site says who has signed in there, by mail address "
      "(REMOTE_USER, or a proxy for OpenID Connect). It is believed from the addresses in proxies alone, and the proxy "
      "must take such a field away from what clients send; a request with two of them vouches for nobody. Unset: "
      "people sign in by a mailed link.",
     .example = "X-Forwarded-Email"},
    HTTP_SETTINGS("500", "16K"),
    {"max_body_size", SIZE("64K", 1 * KIB, 1 * MIB),
     .about = "The largest body of a request, which is a form that somebody filled in; a larger one is answered 413."},
    {"trial_timeout", DURATION("1m", SECOND, HOUR),
     .about = "How long the desk tries with earlier mail what a change would have done; then the page says that it "
      "took too long, and the change can be saved without."},
    {"old_archives", LIST("/pipermail, /mailman/private, /sympa/arc, /sympa/arcsearch_id, /wws/arc, /wws/arcsearch_id, "
                          "/ezmlm-cgi"),
     .about = "Paths below which the archives of another list system stood before its lists moved here. A page there "
      "is answered 301, to the page of the same message, as listrunner archive old has noted. Empty: none.",
     .example = "/pipermail, /lists/archive"},
    {"old_hyperkitty", LIST("/hyperkitty, /archives"),
     .about = "Paths below which HyperKitty stood, whose pages lead to those here without a note. Empty: none.",
     .example = "/mailman3/hyperkitty"},
    {"old_pages", LIST("mailman:/mailman, sympa:/sympa, sympa:/wws, postorius:/postorius, postorius:/mailman3, "
                       "postorius:/mailman3/postorius"),
     .about = "Where the pages of lists stood in another list system, each as KIND:PATH with a kind of mailman (2.1), "
      "sympa or postorius. The page of a list there, to which each of its old mails has a link, is answered 301, to "
      "the page of that list. Empty: none.",
     .example = "mailman:/cgi-bin/mailman"},
    {"max_trials", INTEGER("2", 0, 64, "trials"),
     .about = "How many changes are tried at one time in each instance; 0: none."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"web", .about = "What the runner web, which serves the pages, grants its clients.", .keys = keys},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.web",
     .about = "The pages for readers and members. It is started where [site] web_url is set; a web server with TLS "
      "passes requests on to it.",
     .defaults = (const ConfigDefault[]){
         {"start", "{site.web_url?}"}, {"queue", NULL}, {"listen", "127.0.0.1:8002"}, {NULL, NULL}},
     .readers = "host"},
    {.section = NULL},
};
/* clang-format on */

/* Check the paths of a key, or with kinds its words KIND:PATH. */
static void check_places(const ConfigCheck *check, const char *key, const char *const *kinds, const char *allowed)
{
    const ConfigValue *places = config_usable(check, "web", key);
    for (char **word = places ? places->words : NULL; word && *word; word++) {
        bool valid = !kinds && **word == '/';
        for (const char *const *kind = kinds; kind && *kind && !valid; kind++)
            valid = g_str_has_prefix(*word, *kind) && g_str_has_prefix(*word + strlen(*kind), ":/");
        if (!valid)
            config_complain(check, "web", key, "found \"%s\"; allowed is %s", *word, allowed);
    }
}

static void check(const ConfigCheck *check)
{
    static const char *const kinds[] = {"mailman", "sympa", "postorius", NULL};
    check_places(check, "old_archives", NULL, "a path that begins with a slash");
    check_places(check, "old_hyperkitty", NULL, "a path that begins with a slash");
    check_places(check, "old_pages", kinds,
                 "KIND:PATH, with a kind of mailman (2.1), sympa or postorius, and a path that begins with a slash");
    const ConfigValue *proxies = config_usable(check, "web", "proxies");
    for (char **word = proxies ? proxies->words : NULL; word && *word; word++)
        if (!config_address_valid(*word) && strcmp(*word, "unix") != 0)
            config_complain(check, "web", "proxies",
                            "found \"%s\"; allowed are single addresses, such as 192.0.2.1 and 2001:db8::1, and unix",
                            *word);
    const ConfigValue *folder = check->offline ? NULL : config_usable(check, "web", "directory");
    if (folder)
        config_check_directory(check, "web", "directory", folder->text);
    const ConfigValue *start = config_usable(check, "runner.web", "start");
    if (start && start->line > 0 && start->number && config_unset(check, "site", "web_url"))
        config_complain(check, "runner.web", "start",
                        "found yes; [site] web_url must be set, so that pages and "
                        "letters have links to each other");
}

const ConfigSettings web_settings = {.tables = tables, .members = members, .check = check};
