/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* These are the settings in section [site] about the things that people may do with lists, and the letters about them.
 * */
#include "base/config_table.h"

#include "base/config_check.h"
#include "lists/letters/template_host.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"template_directory", PATH(CONFIG_DATA "/templates"),
     .about = "Where the texts of notices are found, one directory a language.",
     .opens = "*"},
    {"template_refresh", DURATION("1d", MINUTE, 365 * DAY),
     .about = "How often texts of notices that come from a URL are fetched again. One that was just set is fetched at "
      "once; where it cannot be fetched, the text that was there before stays, and it is tried again within minutes."},
    {"template_hosts", LIST(NULL),
     .about = "The web servers that texts set for a list or domain may be fetched from, as HOST or HOST:PORT; without "
      "a port it is that of http or https. * stands for every host, on any port, as long as it has a public address; "
      "one on this host or a private network has to be named. Unset: texts of lists and domains are fetched from "
      "nowhere. What is set for the site may come from anywhere.",
     .example = "localhost:8000, lists.example.com"},
    {"max_autoresponses_per_day", INTEGER("10", 0, 1000000, "mails"),
     .about = "The most answers (your post is held, was rejected, help) that one mailbox gets on a day, because "
      "senders can be forged; 0 is no limit. Letters that ask to confirm are counted apart, for each list and each "
      "kind of request. Addresses that differ in the detail behind \"+\" or in dots before the \"@\" are one."},
    {"max_letters_per_host_per_day", INTEGER("500", 0, 1000000, "mails"),
     .about = "The most letters on a day that mail from one host causes (an IPv6 network of 64 bits counts as one): "
      "answers, and letters that ask strangers to confirm; 0 is no limit. Letters by which members leave or change "
      "their settings are not counted. The host is the one that the MTA before Listrunner names in its Received "
      "field. Mail that a host with a private address brings (a relay or filter of the site's own) is counted for "
      "no host; a site whose mail all comes through one relay with a public address needs 0."},
    {"max_form_letters_per_day", INTEGER("1000", 0, 10000000, "mails"),
     .about = "The most forms to join that the web pages take on a day, for all mailboxes together, because whoever "
      "fills in a form has proved nothing; 0 is no limit. As many links to sign in are sent on a day, which are "
      "counted apart; people who run a list, a domain or the site get theirs also beyond. When it is reached, the "
      "pages say so, the log has a line an hour, and status shows it. Mail is not concerned."},
    {"pending_request_life", DURATION("3d", DAY, 365 * DAY),
     .about = "How long somebody who asked to join or leave a list may take to confirm it."},
    {"moderator_request_life", DURATION("180d", DAY, 3650 * DAY),
     .about = "How long a request to join or leave waits for a moderator before it is dropped."},
    {"source_interval", DURATION("1h", MINUTE, 365 * DAY),
     .about = "How often sources of members (listrunner list source) are read again that have no interval of their "
      "own. One that failed is tried again after this time or 15 minutes, whichever is less."},
    {"held_notice_interval", DURATION("5m", 0, DAY),
     .about = "The moderators of a list get at most one notice of held posts in this time; what is held meanwhile is "
      "told in one mail, when it has passed."},
    {.name = NULL},
};

static const ConfigKey refused_keys[] = {
    {"keep", DURATION("0", 0, 3660 * DAY),
     .about = "How long mail is kept that a list rejected or discarded, be it by its rules or by a moderator, so that "
      "listrunner list try and the desk can tell which of it a change would have let pass; 0: not at all. It is mail "
      "that its senders were told is not wanted, or that nobody saw: say so to the people concerned.",
     .example = "30d"},
    {"size", SIZE("256M", MIB, INT64_C(1024) * GIB),
     .about = "How many bytes of it are kept in all. When they are used up, no more is kept until the timer has "
      "removed the oldest, which it does once an hour. Nothing is kept either while the file system has no more than "
      "min_free of [spool] left."},
    {"directory", PATH(CONFIG_STATE "/lib/listrunner/refused"),
     .about = "Where it is kept, for the user of the site alone.",
     .writes = "command in pipeline rest task web"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"site", .keys = keys, .readers = "*"},
    {"refused", .about = "Mail that lists refused, kept for trials of changes (listrunner list try).",
     .keys = refused_keys, .readers = "*"},
    {.section = NULL},
};
/* clang-format on */

static void check(const ConfigCheck *check)
{
    const ConfigValue *texts = check->offline ? NULL : config_usable(check, "site", "template_directory");
    if (texts && texts->line > 0)
        config_check_directory(check, "site", "template_directory", texts->text);
    const ConfigValue *hosts = config_usable(check, "site", "template_hosts");
    for (char **word = hosts ? hosts->words : NULL; word && *word; word++)
        if (!template_host_valid(*word))
            config_complain(check, "site", "template_hosts", "found \"%s\"; allowed are HOST, HOST:PORT, [IPv6], "
                            "[IPv6]:PORT and *", *word);
}

const ConfigSettings lists_settings = {.tables = tables, .check = check};
