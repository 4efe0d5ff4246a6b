/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/config_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mailbox.h"

const ConfigValue *config_usable(const ConfigCheck *check, const char *section_name, const char *name)
{
    const ConfigSection *section = config_section(check->config, section_name);
    const ConfigValue *value = section ? config_section_value(section, name) : NULL;
    return value && value->text && !value->bad ? value : NULL;
}

/* ---- values beside each other ---- */

static void check_order(const ConfigCheck *check, const char *section, const char *low, const char *high)
{
    const ConfigValue *below = config_usable(check, section, low);
    const ConfigValue *above = config_usable(check, section, high);
    if (below && above && below->number > above->number) {
        const ConfigValue *culprit = below->line > above->line ? below : above;
        const ConfigValue *other = culprit == below ? above : below;
        COMPLAIN(check, section, culprit, "found %s; allowed is %s %s = %s", culprit->text,
                 culprit == below ? "at most" : "at least", other->name, other->text);
    }
}

/* A runner that refused to start for it would come too late: after the reload. */
static void check_memory(const ConfigCheck *check)
{
    const ConfigValue *memory = config_usable(check, "lmtp", "memory_limit");
    const ConfigValue *message = config_usable(check, "lmtp", "max_message_size");
    if (!memory || !message || memory->number / 2 >= message->number)
        return;
    if (memory->line > 0)
        COMPLAIN(check, "lmtp", memory, "found %s; allowed is at least twice max_message_size = %s", memory->text,
                 message->text);
    else
        COMPLAIN(check, "lmtp", message, "found %s; allowed is at most half of memory_limit = %s", message->text,
                 memory->text);
}

static bool port_valid(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    long port = digits > 0 && digits <= 5 && !text[digits] ? strtol(text, NULL, 10) : 0;
    return port >= 1 && port <= 65535;
}

static bool is_ip_address(const char *text)
{
    struct in6_addr address;
    return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1;
}

/* A name of the DNS or of /etc/hosts, or an IPv4 address. */
static bool host_valid(const char *host)
{
    static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    bool number = host[strspn(host, "0123456789.")] == '\0';
    return number ? is_ip_address(host)
                  : strspn(host, characters) == strlen(host) && *host != '.' && *host != '-' && !strstr(host, "..");
}

static bool socket_path_valid(const char *path)
{
    return *path == '/' && strlen(path) < sizeof((struct sockaddr_un *)NULL)->sun_path;
}

/* HOST:PORT, [IPv6]:PORT or unix:/PATH. */
static bool endpoint_valid(const char *word)
{
    if (g_str_has_prefix(word, "unix:"))
        return socket_path_valid(word + 5);
    const char *colon = strrchr(word, ':');
    if (!colon || colon == word || !port_valid(colon + 1))
        return false;
    g_autofree char *host = g_strndup(word, (size_t)(colon - word));
    if (*host != '[')
        return host_valid(host);
    size_t length = strlen(host);
    if (host[length - 1] != ']')
        return false;
    host[length - 1] = '\0';
    return strchr(host, ':') && is_ip_address(host + 1);
}
#define ENDPOINT_ALLOWED "HOST:PORT or [IPv6]:PORT, with a port from 1 to 65535, or unix:/PATH"

static void check_listen(const ConfigCheck *check, const char *section)
{
    const ConfigValue *listen = config_usable(check, section, "listen");
    for (char **word = listen ? listen->words : NULL; word && *word; word++)
        if (!endpoint_valid(*word) && !(g_str_has_prefix(*word, "*:") && port_valid(*word + 2)))
            COMPLAIN(check, section, listen, "found \"%s\"; allowed is " ENDPOINT_ALLOWED, *word);
}

/* The other hosts, NAME=ADDRESS. */
static void check_hosts(const ConfigCheck *check)
{
    const ConfigValue *hosts = config_usable(check, "defragment", "hosts");
    for (char **word = hosts ? hosts->words : NULL; word && *word; word++) {
        const char *equals = strchr(*word, '=');
        if (!equals || equals == *word || !endpoint_valid(equals + 1))
            COMPLAIN(check, "defragment", hosts, "found \"%s\"; allowed is NAME=ADDRESS, the address "
                     ENDPOINT_ALLOWED, *word);
    }
}

/* Queues that no runner of the site's own may work: retry and notice belong to out, the
 * others wait for a person. */
static const char *const reserved_queues[] = {"retry", "notice", "hold", "corrupt", "shunt", NULL};

static bool queue_name_valid(const char *name)
{
    return g_ascii_isalnum(*name) && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == '\0';
}

static void check_queue(const ConfigCheck *check, const char *section, GHashTable *owners)
{
    const ConfigValue *queue = config_usable(check, section, "queue");
    if (!queue)
        return;
    if (!queue_name_valid(queue->text)) {
        COMPLAIN(check, section, queue, "found \"%s\"; allowed are small letters, digits, _ and -", queue->text);
        return;
    }
    if (g_strv_contains(reserved_queues, queue->text)) {
        COMPLAIN(check, section, queue, "found \"%s\", which no runner may have; allowed is any other", queue->text);
        return;
    }
    const char *owner = g_hash_table_lookup(owners, queue->text);
    if (owner)
        COMPLAIN(check, section, queue, "found \"%s\", the queue of [%s]; allowed is a queue of its own "
                 "(more processes: instances)", queue->text, owner);
    else
        g_hash_table_insert(owners, queue->text, (gpointer)section);
}

static void check_runners(const ConfigCheck *check)
{
    g_autoptr(GHashTable) owners = g_hash_table_new(g_str_hash, g_str_equal);
    for (unsigned i = 0; i < check->config->sections->len; i++) {
        const ConfigSection *section = check->config->sections->pdata[i];
        if (!g_str_has_prefix(section->name, "runner."))
            continue;
        const ConfigValue *command = config_section_value(section, "command");
        if (!config_is_built_in(section->name) && command->line == 0)
            config_fault(check->faults, section->line, section->name, "command",
                         "found no value; allowed is the absolute path of the program, "
                         "because this runner does not come with Listrunner");
        check_listen(check, section->name);
        check_queue(check, section->name, owners);
    }
    const ConfigValue *copies = config_usable(check, "pipeline", "copy_to");
    for (char **word = copies ? copies->words : NULL; word && *word; word++)
        if (!g_hash_table_contains(owners, *word))
            COMPLAIN(check, "pipeline", copies, "found \"%s\"; allowed are the queues of [runner.NAME] sections",
                     *word);
}

/* Two archivers of one type in one directory would write to the same files at once. */
static void check_archive_path(const ConfigCheck *check, const ConfigSection *section, const char *type,
                               GHashTable *owners)
{
    const ConfigValue *path = config_usable(check, section->name, "path");
    const ConfigValue *enabled = config_usable(check, section->name, "enabled");
    if (!path || !enabled || !enabled->number || g_str_equal(type, "command"))
        return;
    g_autofree char *canonical = g_canonicalize_filename(path->text, "/");
    g_autofree char *place = g_strdup_printf("%s %s", type, canonical);
    const char *owner = g_hash_table_lookup(owners, place);
    if (owner)
        COMPLAIN(check, section->name, path, "found \"%s\", the path of [%s]; allowed is a directory of its own",
                 path->text, owner);
    else
        g_hash_table_insert(owners, g_steal_pointer(&place), section->name);
}

static void check_archivers(const ConfigCheck *check)
{
    g_autoptr(GHashTable) owners = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = 0; i < check->config->sections->len; i++) {
        const ConfigSection *section = check->config->sections->pdata[i];
        const ConfigValue *type = g_str_has_prefix(section->name, "archiver.")
                                      ? config_usable(check, section->name, "type") : NULL;
        if (!type)
            continue;
        const char *needed = g_str_equal(type->text, "command") ? "command" : "path";
        const ConfigValue *value = config_section_value(section, needed);
        if (!value->text)
            config_fault(check->faults, section->line, section->name, needed,
                         "found no value; allowed is %s, because type = %s",
                         g_str_equal(needed, "path") ? "an absolute path" : "a program and its arguments", type->text);
        check_archive_path(check, section, type->text, owners);
        g_auto(GStrv) words = NULL;
        g_autoptr(GError) error = NULL;
        const ConfigValue *command = config_usable(check, section->name, "command");
        if (command && (!g_shell_parse_argv(command->text, NULL, &words, &error) || *words[0] != '/'))
            COMPLAIN(check, section->name, command, "found \"%s\"%s%s; allowed is the absolute path of a program "
                     "and its arguments", command->text, error ? ": " : "", error ? error->message : "");
    }
}

static void check_site(const ConfigCheck *check)
{
    const ConfigValue *hostname = config_usable(check, "site", "hostname");
    if (hostname && !host_valid(hostname->text))
        COMPLAIN(check, "site", hostname, "found \"%s\"; allowed is a host name", hostname->text);
    const ConfigValue *owner = config_usable(check, "site", "site_owner");
    if (owner && owner->line > 0 && !mailbox_valid(owner->text))
        COMPLAIN(check, "site", owner, "found \"%s\"; allowed is a mail address without a name", owner->text);
    const ConfigValue *delimiter = config_usable(check, "lmtp", "verp_delimiter");
    if (delimiter && (strlen(delimiter->text) != 1 || !strchr("+-=#%*/", *delimiter->text)))
        COMPLAIN(check, "lmtp", delimiter, "found \"%s\"; allowed is one of + - = # %% * /", delimiter->text);
}

/* AUTH needs both halves, one relay to give them to, and TLS or the site's word. */
static void check_auth(const ConfigCheck *check, const ConfigSection *section, const char *type)
{
    const ConfigValue *user = config_usable(check, section->name, "auth_user");
    const ConfigValue *password = config_usable(check, section->name, "auth_password_file");
    const ConfigValue *tls = config_usable(check, section->name, "tls_level");
    const ConfigValue *clear = config_usable(check, section->name, "auth_in_clear");
    const ConfigValue *mechanisms = config_usable(check, section->name, "auth_mechanisms");
    static const char *const known[] = {"plain", "login", "scram-sha-1", "scram-sha-256", NULL};
    if (user && !password)
        COMPLAIN(check, section->name, user, "found \"%s\" without auth_password_file; allowed are both or none",
                 user->text);
    if (password && !user)
        COMPLAIN(check, section->name, password, "found %s without auth_user; allowed are both or none",
                 password->text);
    if (user && g_str_equal(type, "mx"))
        COMPLAIN(check, section->name, user, "found \"%s\"; allowed with type = mx is none: a password is for one "
                 "relay", user->text);
    if (user && tls && g_str_equal(tls->text, "none") && clear && !clear->number)
        COMPLAIN(check, section->name, user, "found \"%s\" with tls_level = none; allowed is that only with "
                 "auth_in_clear = yes", user->text);
    for (char **word = mechanisms ? mechanisms->words : NULL; word && *word; word++)
        if (!g_strv_contains(known, *word))
            COMPLAIN(check, section->name, mechanisms, "found \"%s\"; allowed are plain, login, scram-sha-1 and "
                     "scram-sha-256", *word);
}

/* "may" and "require" take any certificate, so whoever answers gets the password; unless there is nobody between. */
static void check_auth_peer(const ConfigCheck *check, const ConfigSection *section)
{
    const ConfigValue *user = config_usable(check, section->name, "auth_user");
    const ConfigValue *tls = config_usable(check, section->name, "tls_level");
    const ConfigValue *host = config_usable(check, section->name, "host");
    const ConfigValue *clear = config_usable(check, section->name, "auth_in_clear");
    const ConfigValue *mechanisms = config_usable(check, section->name, "auth_mechanisms");
    static const char *const here[] = {"localhost", "::1", NULL};
    if (!user || !tls || g_str_equal(tls->text, "verify") || g_str_equal(tls->text, "none") || !host || !clear ||
        clear->number || g_str_has_prefix(host->text, "unix:") || g_str_has_prefix(host->text, "127.") ||
        g_strv_contains(here, host->text))
        return;
    bool told = !mechanisms; /* SCRAM does not tell the password */
    for (char **word = mechanisms ? mechanisms->words : NULL; word && *word; word++)
        told = told || !g_str_has_prefix(*word, "scram-");
    const ConfigValue *culprit = tls->line > 0 ? tls : user;
    if (told)
        COMPLAIN(check, section->name, culprit, "found \"%s\"%s: whoever answers as %s would get the password of "
                 "auth_user; allowed is tls_level = verify, or auth_mechanisms of scram-sha-256 and scram-sha-1 alone, "
                 "or auth_in_clear = yes", culprit->text, tls->line > 0 ? "" : " with tls_level = may", host->text);
}

static void check_relay(const ConfigCheck *check, const ConfigSection *section, const char *type)
{
    static const char *const names[] = {"helo_name", "tls_verify_name"};
    const ConfigValue *host = config_usable(check, section->name, "host");
    const ConfigValue *port = config_usable(check, section->name, "port");
    bool path = host && g_str_has_prefix(host->text, "unix:");
    if (path && !socket_path_valid(host->text + 5))
        COMPLAIN(check, section->name, host, "found %s; allowed after unix: is an absolute path of at most %zu octets",
                 host->text, sizeof((struct sockaddr_un *)NULL)->sun_path - 1);
    if (host && !path && !host_valid(host->text) && !is_ip_address(host->text))
        COMPLAIN(check, section->name, host, "found \"%s\"; allowed is a host name, an IPv4 or IPv6 address without "
                 "brackets, or unix:/PATH; the port has a line of its own", host->text);
    if (host && port && g_str_equal(type, "lmtp") && !path && port->number == 25)
        config_fault(check->faults, port->line > 0 ? port->line : section->line, section->name, "port",
                     "found 25; allowed with type = lmtp is any other (RFC 2033), 24 for one");
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const ConfigValue *name = config_usable(check, section->name, names[i]);
        if (name && name->line > 0 && !host_valid(name->text) && !is_ip_address(name->text) && *name->text != '[')
            COMPLAIN(check, section->name, name, "found \"%s\"; allowed is a host name", name->text);
    }
}

#define WAIT_MIN 1000000
#define WAIT_MAX (INT64_C(30) * 86400 * 1000000)

static void check_schedule(const ConfigCheck *check, const char *section)
{
    const ConfigValue *schedule = config_usable(check, section, "backoff_schedule");
    for (char **word = schedule ? schedule->words : NULL; word && *word; word++) {
        int64_t wait;
        if (!config_duration_parse(*word, &wait) || wait < WAIT_MIN || wait > WAIT_MAX)
            COMPLAIN(check, section, schedule, "found \"%s\"; allowed are times such as 5m 30m 4h, from 1s to 30d",
                     *word);
    }
}

/* 0: what [out] says. */
static const ConfigValue *backoff_in_force(const ConfigCheck *check, const char *section, const char *name)
{
    const ConfigValue *own = config_usable(check, section, name);
    return own && own->number > 0 ? own : config_usable(check, "out", name);
}

static void check_backoff(const ConfigCheck *check, const char *section)
{
    const ConfigValue *low = backoff_in_force(check, section, "minimal_backoff_time");
    const ConfigValue *high = backoff_in_force(check, section, "maximal_backoff_time");
    const ConfigValue *own = low && low == config_usable(check, section, "minimal_backoff_time") ? low : high;
    check_schedule(check, section);
    if (!low || !high || low->number <= high->number || own != config_usable(check, section, own->name))
        return;
    COMPLAIN(check, section, own, "found %s; allowed is %s %s = %s", own->text, own == low ? "at most" : "at least",
             own == low ? high->name : low->name, own == low ? high->text : low->text);
}

static void check_transports(const ConfigCheck *check)
{
    for (unsigned i = 0; i < check->config->sections->len; i++) {
        const ConfigSection *section = check->config->sections->pdata[i];
        const ConfigValue *type = g_str_has_prefix(section->name, "transport.")
                                      ? config_usable(check, section->name, "type") : NULL;
        if (!type)
            continue;
        check_relay(check, section, type->text);
        check_auth(check, section, type->text);
        check_auth_peer(check, section);
        check_backoff(check, section->name);
    }
}

static bool transport_known(const ConfigCheck *check, const char *name)
{
    g_autofree char *section = g_strconcat("transport.", name, NULL);
    return config_section(check->config, section) != NULL;
}

/* "example.com" or ".example.com", in any case. */
static bool domain_valid(const char *domain, size_t length)
{
    size_t dot = *domain == '.' ? 1 : 0;
    for (size_t i = 0; i < length; i++)
        if (domain[i] == '@' || (domain[i] == '.' && i > 0 && domain[i - 1] == '.'))
            return false;
    return length > dot && domain[length - 1] != '.';
}

static void check_table(const ConfigCheck *check)
{
    const ConfigValue *table = config_usable(check, "out", "transport_table");
    for (char **word = table ? table->words : NULL; word && *word; word++) {
        const char *colon = strrchr(*word, ':');
        if (!colon || !colon[1] || !domain_valid(*word, (size_t)(colon - *word)))
            COMPLAIN(check, "out", table, "found \"%s\"; allowed is DOMAIN:NAME or .DOMAIN:NAME", *word);
        else if (!transport_known(check, colon + 1))
            COMPLAIN(check, "out", table, "found \"%s\"; allowed after the colon is the NAME of a section "
                     "[transport.NAME], such as relay", *word);
    }
}

/* ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT. */
static bool server_valid(const char *word)
{
    g_autofree char *host = g_strdup(word);
    char *colon = strrchr(host, ':');
    if (is_ip_address(host))
        return true;
    if (!colon || colon == host || !port_valid(colon + 1))
        return false;
    *colon = '\0';
    bool brackets = *host == '[' && colon[-1] == ']';
    if (brackets)
        colon[-1] = '\0';
    return is_ip_address(host + brackets) && (brackets || !strchr(host, ':'));
}

static void check_outgoing(const ConfigCheck *check)
{
    const ConfigValue *transport = config_usable(check, "out", "default_transport");
    if (transport && !transport_known(check, transport->text))
        COMPLAIN(check, "out", transport,
                 "found \"%s\"; allowed is the NAME of a section [transport.NAME], such as relay", transport->text);
    check_table(check);
    const ConfigValue *own = config_usable(check, "out", "own_names");
    for (char **word = own ? own->words : NULL; word && *word; word++)
        if (!host_valid(*word) && !is_ip_address(*word))
            COMPLAIN(check, "out", own, "found \"%s\"; allowed are host names, and addresses without brackets", *word);
    const ConfigValue *servers = config_usable(check, "out", "name_servers");
    for (char **word = servers ? servers->words : NULL; word && *word; word++)
        if (!server_valid(*word))
            COMPLAIN(check, "out", servers, "found \"%s\"; allowed is an address (names cannot be looked up there), "
                     "ADDRESS:PORT or [IPv6]:PORT", *word);
}

static void check_replies(const ConfigCheck *check)
{
    for (unsigned i = 0; i < check->config->sections->len; i++) {
        const ConfigSection *section = check->config->sections->pdata[i];
        if (g_str_has_prefix(section->name, "reply.") && !config_section_value(section, "match")->text)
            config_fault(check->faults, section->line, section->name, "match",
                         "found no value; allowed is a regular expression (PCRE)");
    }
}

/* ---- the system ---- */

static void check_user(const ConfigCheck *check)
{
    const ConfigValue *user = config_usable(check, "site", "user");
    /* Who is not root stays who he is: only a name that he wrote can be wrong. */
    if (!user || (user->line == 0 && geteuid() != 0))
        return;
    const struct passwd *account = getpwnam(user->text);
    if (!account)
        COMPLAIN(check, "site", user, "found \"%s\", which does not exist; allowed is a user of this system "
                 "(adduser --system --group %s)", user->text, user->text);
    else if (account->pw_uid == 0 && g_strcmp0(g_getenv(CONFIG_ENV_ALLOW_ROOT), "yes") != 0)
        COMPLAIN(check, "site", user, "found \"%s\", who may do everything on this system, and so might whoever "
                 "breaks into a runner; allowed is a user of its own (adduser --system --group listrunner)",
                 user->text);
}

bool config_check_directory(const ConfigCheck *check, const char *section, const ConfigValue *value, const char *path)
{
    struct stat status;
    errno = 0;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return true;
    COMPLAIN(check, section, value, "found %s: %s; allowed is a directory that exists", path,
             errno == ENOENT ? "no such directory" : errno ? g_strerror(errno) : "not a directory");
    return false;
}

static void check_spool(const ConfigCheck *check)
{
    const ConfigValue *spool = config_usable(check, "spool", "directory");
    if (!spool || !config_check_directory(check, "spool", spool, spool->text))
        return;
    struct stat top;
    g_autoptr(GDir) directory = g_dir_open(spool->text, 0, NULL);
    if (!directory || stat(spool->text, &top) != 0)
        return; /* not ours to read; the runners say so when they open it */
    for (const char *name; (name = g_dir_read_name(directory));) {
        struct stat status;
        g_autofree char *path = g_build_filename(spool->text, name, NULL);
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_dev != top.st_dev)
            COMPLAIN(check, "spool", spool, "found %s on another file system; allowed is one file system "
                     "for all queues", path);
    }
}

static void check_store(const ConfigCheck *check)
{
    const ConfigValue *path = config_usable(check, "store", "path");
    if (!path)
        return;
    g_autofree char *above = g_path_get_dirname(path->text);
    config_check_directory(check, "store", path, above);
}

/* Programs that the file names. Those of our own are where make put them. */
static void check_commands(const ConfigCheck *check)
{
    for (unsigned i = 0; i < check->config->sections->len; i++) {
        const ConfigSection *section = check->config->sections->pdata[i];
        const ConfigValue *command = g_str_has_prefix(section->name, "runner.")
                                         ? config_usable(check, section->name, "command") : NULL;
        struct stat status;
        if (command && command->line > 0 &&
            (stat(command->text, &status) != 0 || !S_ISREG(status.st_mode) || access(command->text, X_OK) != 0))
            COMPLAIN(check, section->name, command, "found %s, which is no program; allowed is an executable file",
                     command->text);
    }
}

void config_check(const Config *config, bool offline, ConfigFaults *faults)
{
    const ConfigCheck check = {config, faults};
    check_site(&check);
    check_order(&check, "master", "restart_delay_min", "restart_delay_max");
    check_order(&check, "out", "minimal_backoff_time", "maximal_backoff_time");
    check_schedule(&check, "out");
    check_memory(&check);
    check_runners(&check);
    check_hosts(&check);
    check_outgoing(&check);
    check_transports(&check);
    check_replies(&check);
    check_archivers(&check);
    if (offline)
        return;
    check_user(&check);
    check_spool(&check);
    check_store(&check);
    check_commands(&check);
    config_check_places(&check);
}
