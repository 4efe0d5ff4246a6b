/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The master, section [master], and the runners that it starts, sections [runner.NAME]. */
#include "base/config_table.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "base/config_check.h"

/* clang-format off */
static const ConfigKey master_keys[] = {
    {"runtime_directory", PATH(CONFIG_RUN "/listrunner"),
     .about = "Where the control sockets and the configuration in force are; made for the user at the start if it "
      "is missing. One that is there must be the user's to write in.",
     .readers = "*"},
    {"monitor_socket_mode", CHOICE("660", "600|660|666"),
     .about = "Who may connect to monitor.sock in runtime_directory, which tells status and metrics and takes no "
      "orders: 660 is the user of [site] and its group, 666 is everybody on this machine. A change counts at the next "
      "start."},
    {"log_file", PATH(CONFIG_STATE "/log/listrunner/listrunner.log"),
     .about = "Where the log of a master goes that listrunner start has started, unless it goes to syslog. The "
      "directory is made for the user if it is missing. The file is opened anew at each reload, after it was "
      "rotated."},
    {"confine", BOOL("yes"),
     .about = "Whether each runner is kept, by the kernel's Landlock, to the files that its work needs: whoever breaks "
      "into one that reads mail or HTTP cannot read keys of others or write into the archives.",
     .more = "Runners that start programs of the site are left free, since nobody knows what these need, and so is "
      "everything on a kernel without Landlock (before Linux 5.19); listrunner status says so.",
     .readers = "*"},
    {"heartbeat_interval", DURATION("10s", SECOND / 10, HOUR),
     .about = "How often a runner reports to the master at least.",
     .readers = "*"},
    {"stall_timeout", DURATION("5m", SECOND, DAY),
     .about = "A runner that has work and shows no progress for so long is killed and started again."},
    {"stop_timeout", DURATION("30s", 0, HOUR),
     .about = "How long runners may take to finish their entry before they are killed.",
     .readers = "host out"},
    {"scale_interval", DURATION("10s", SECOND / 10, HOUR),
     .about = "How often runners with instances = auto are looked at."},
    {"restart_delay_min", DURATION("1s", SECOND / 100, HOUR),
     .about = "The pause before a runner that keeps dying young is started again; it doubles each time."},
    {"restart_delay_max", DURATION("1m", SECOND / 100, DAY),
     .about = "The longest such pause."},
    {"restart_quiet", DURATION("1h", SECOND, 30 * DAY),
     .about = "A runner that lived for so long starts again without a pause."},
    {.name = NULL},
};

static const ConfigKey runner_keys[] = {
    {"start", BOOL("yes"),
     .about = "Whether the master starts this runner.",
     .readers = "digest in lmtp pipeline"},
    {"instances", COUNT_OR_AUTO("1"),
     .about = "How many processes share the queue, each with its own part. With auto they are doubled when entries "
      "wait, and halved when nothing waits, between min_instances and max_instances. Listeners have no queue: they "
      "need a number."},
    {"min_instances", COUNT("1"),
     .about = "With instances = auto, how many there are at least, and at the start."},
    {"max_instances", COUNT("8"),
     .about = "With instances = auto, how many there are at most. It counts where connections to a database are "
      "planned."},
    {"command", PATH(CONFIG_LIBEXEC "/" CONFIG_NAME),
     .about = "The program. A runner that does not come with Listrunner must have it.",
     .example = "/usr/local/libexec/count"},
    {"confine", BOOL("yes"),
     .about = "Whether this runner is kept to its files, too, where [master] confine is yes. One that does not come "
      "with Listrunner may use the spool, the database, and the paths in its x_ keys; say no for one that needs more."},
    {"queue", STRING(CONFIG_NAME),
     .about = "The queue that it works: 1 to 32 small letters, digits and -, with a letter first and no - at the end. "
              "A listener has none.",
     .example = "count",
     .readers = "digest in lmtp pipeline"},
    {"listen", LIST(NULL),
     .about = "Addresses that the master binds for a listener: HOST:PORT, [IPv6]:PORT or unix:PATH. A host name "
      "stands for all its addresses, * for all of the machine, IPv4 and IPv6.",
     .example = "127.0.0.1:8025, [::1]:8025, unix:/run/listrunner/lmtp.sock"},
    {"socket_mode", CHOICE("660", "600|660|666"),
     .about = "Who may connect to UNIX sockets in listen: 660 is the user of [site] and its group, which the account "
      "of an MTA or web server can be added to; 666 is everybody who reaches the directory. A change counts for "
      "sockets that are bound after it, so at the next start."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"master", .about = "How the runners are kept alive.", .keys = master_keys},
    {"runner.*", .about = "One section a runner; built in are {members}. A runner of the site's own has a section too, "
       "with a command, and may have free keys that begin with x_.", .keys = runner_keys, .free_keys = true},
    {.section = NULL},
};

/* clang-format on */

/* Queues that no runner of the site's own may work: retry and notice belong to out, the others wait for a person. */
static const char *const reserved_queues[] = {"retry", "notice", "hold", "corrupt", "shunt", NULL};

/* The rule of switchboard/spool.h, which this folder may not include. */
#define QUEUE_RULE "allowed are 1 to 32 small letters, digits and -, with a letter first and no - at the end"

/* `owners` has the section of each queue so far. */
static void check_queue(const ConfigCheck *check, const char *section, GHashTable *owners)
{
    const ConfigValue *queue = config_usable(check, section, "queue");
    const char *owner = queue ? g_hash_table_lookup(owners, queue->text) : NULL;
    if (!queue)
        return;
    const char *name = queue->text;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    if (length == 0 || length > 32 || name[length] || !g_ascii_isalpha(*name) || name[length - 1] == '-')
        config_complain(check, section, "queue", "found \"%s\"; " QUEUE_RULE, queue->text);
    else if (g_strv_contains(reserved_queues, queue->text))
        config_complain(check, section, "queue", "found \"%s\", which no runner may have; allowed is any other",
                        queue->text);
    else if (owner)
        config_complain(check, section, "queue", "found \"%s\", the queue of [%s]; allowed is a queue of its own "
                        "(more processes: instances)", queue->text, owner);
    else
        g_hash_table_insert(owners, queue->text, (gpointer)section);
}

/* May this host listen at an address of that name? The system alone knows: it may have been told to let programs listen
 * at addresses that come later. */
static bool is_of_this_host(const char *host)
{
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    bool here = getaddrinfo(host, "0", &hints, &all) != 0;
    for (struct addrinfo *one = all; one && !here; one = one->ai_next) {
        auto_fd probe = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        here = probe < 0 || bind(probe, one->ai_addr, one->ai_addrlen) == 0 || errno != EADDRNOTAVAIL;
    }
    if (all)
        freeaddrinfo(all);
    return here;
}

/* Check that the address which a word of `listen` names is there on this host. */
static void check_listen_here(const ConfigCheck *check, const char *section, const char *word)
{
    const char *colon = strrchr(word, ':');
    if (g_str_has_prefix(word, "unix:/")) {
        /* The directory of a socket must be there, unless it is the one that the master makes. */
        const ConfigValue *runtime = config_usable(check, "master", "runtime_directory");
        g_autofree char *above = g_path_get_dirname(word + 5);
        struct stat status;
        if ((!runtime || strcmp(above, runtime->text) != 0) && stat(above, &status) != 0 && errno != EACCES)
            config_complain(check, section, "listen", "found \"%s\", but there is no directory %s; allowed is a path "
                            "in one that exists", word, above);
    }
    if (!colon || colon == word || *word == '*' || g_str_has_prefix(word, "unix:"))
        return;
    bool brackets = *word == '[' && colon[-1] == ']';
    g_autofree char *host = g_strndup(word + brackets, (size_t)(colon - word) - 2 * brackets);
    const char *why = config_unresolved(host, AI_PASSIVE);
    if (why)
        config_complain(check, section, "listen", "found \"%s\", but %s has no address (%s); allowed is a name or an "
                        "address of this host, or * for all of them", word, host, why);
    else if (!is_of_this_host(host))
        config_complain(check, section, "listen", "found \"%s\", but %s is no address of this host; allowed is one, or "
                        "* for all of them", word, host);
}

/* `listeners` has the section of each place so far where somebody listens. */
static void check_listen(const ConfigCheck *check, const char *section, GHashTable *listeners)
{
    const ConfigValue *listen = config_usable(check, section, "listen");
    const ConfigValue *start = config_usable(check, section, "start");
    for (char **word = listen ? listen->words : NULL; word && *word; word++) {
        bool any = g_str_has_prefix(*word, "*:") && config_port_valid(*word + 2);
        if (!config_endpoint_valid(*word) && !any)
            config_complain(check, section, "listen", "found \"%s\"; allowed is " CONFIG_ENDPOINT_ALLOWED, *word);
        if (!start || !start->number)
            continue;
        const char *other = g_hash_table_lookup(listeners, *word);
        if (other)
            config_complain(check, section, "listen", "found \"%s\", where [%s] listens; allowed is a place of its own",
                            *word, other);
        g_hash_table_insert(listeners, *word, (gpointer)section);
        if (!check->offline)
            check_listen_here(check, section, *word);
    }
}

static void check_instances(const ConfigCheck *check, const char *section)
{
    static const char *const limits[] = {"min_instances", "max_instances"};
    const ConfigValue *instances = config_usable(check, section, "instances");
    for (size_t at = 0; instances && instances->number > 0 && at < G_N_ELEMENTS(limits); at++) {
        const ConfigValue *limit = config_usable(check, section, limits[at]);
        /* The default may stand there, as in a configuration that was printed whole. */
        if (limit && !g_str_equal(limit->text, limit->key->fallback))
            config_complain(check, section, limits[at], "found %s beside instances = %s; allowed is instances = auto",
                            limit->text, instances->text);
    }
    const ConfigValue *listen = config_usable(check, section, "listen");
    if (instances && instances->number == 0 && listen && listen->words && listen->words[0])
        config_complain(check, section, "instances",
                        "found auto, which goes by the entries that wait in a queue, and a listener has none; allowed "
                        "is a power of two from 1 to 256");
    else if (instances && instances->number == 0)
        config_check_order(check, section, "min_instances", "max_instances");
}

static void check(const ConfigCheck *check)
{
    config_check_order(check, "master", "restart_delay_min", "restart_delay_max");
    if (!check->offline)
        config_check_no_file(check, "master", "runtime_directory");
    g_autoptr(GHashTable) owners = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) listeners = g_hash_table_new(g_str_hash, g_str_equal);
    g_autofree const char **sections = config_family_sections(check->config, "runner");
    for (const char **section = sections; *section; section++) {
        const ConfigValue *command = config_usable(check, *section, "command");
        bool given = config_given(check, *section, "command");
        if (!given && !config_is_built_in(*section))
            config_complain(check, *section, "command", "found no value; allowed is the absolute path of the program, "
                            "because this runner does not come with Listrunner");
        else if (given && command && !check->offline)
            config_check_program(check, *section, "command", command->text);
        check_instances(check, *section);
        check_listen(check, *section, listeners);
        check_queue(check, *section, owners);
    }
}

const ConfigSettings master_settings = {.tables = tables, .check = check};
