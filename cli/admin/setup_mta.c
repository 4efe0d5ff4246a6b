/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/setup_mta.h"

#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/admin/setup_run.h"

static const char *const names[] = {[SETUP_POSTFIX] = "postfix", [SETUP_EXIM] = "exim", [SETUP_NO_MTA] = "none"};

bool setup_mta_parse(const char *text, SetupMta *mta)
{
    for (unsigned at = 0; at < G_N_ELEMENTS(names); at++)
        if (strcmp(text, names[at]) == 0) {
            *mta = at;
            return true;
        }
    return false;
}

unsigned setup_mta_find(void)
{
    return (setup_has_program("postconf") ? 1u << SETUP_POSTFIX : 0) |
           (setup_has_program("exim4") || setup_has_program("exim") ? 1u << SETUP_EXIM : 0);
}

/* The first address that a runner listens on, as the MTA writes it; host is g_free()d, port is in it. */
static bool door_of(const Config *config, const char *section, SetupDoor *door, GError **error)
{
    const char *const *listen = config_list(config, section, "listen");
    char *host = g_strdup(*listen ? *listen : ""), *colon = strrchr(host, ':');
    door->host = host;
    if (!colon || g_str_has_prefix(host, "unix:") || *host == '/')
        return fail(error, FAIL_CONFIG,
                    "[%s] listen: found '%s'; setup wants an address with a port, such as "
                    "127.0.0.1:8024",
                    section, host);
    *colon = '\0';
    door->port = colon + 1;
    if (*host == '[' && colon[-1] == ']') { /* of IPv6 */
        colon[-1] = '\0';
        memmove(host, host + 1, strlen(host));
    }
    return true;
}

void setup_doors_clear(SetupDoors *doors)
{
    g_free((char *)doors->lmtp.host);
    g_free((char *)doors->ask.host);
}

bool setup_doors_read(const Config *config, SetupDoors *doors, GError **error)
{
    return door_of(config, "runner.lmtp", &doors->lmtp, error) && door_of(config, "runner.mta", &doors->ask, error);
}

/* ---- Postfix ---- */

static void line_free(void *data)
{
    SetupLine *line = data;
    g_free(line->name);
    g_free(line->value);
    g_free(line);
}

/* The value of a parameter, with other parameters that it names expanded or not; g_free(). */
static char *parameter(const char *name, bool expanded, GError **error)
{
    char *value = setup_output((const char *[]){"postconf", expanded ? "-hx" : "-h", name, NULL}, error);
    return value ? g_strstrip(value) : NULL;
}

/* Is the word one of those in a list of Postfix? */
static bool has_word(const char *list, const char *word)
{
    g_auto(GStrv) words = g_strsplit_set(list, ", \t\n", -1);
    bool has = false;
    for (char **one = words; *one; one++)
        has |= g_ascii_strcasecmp(*one, word) == 0;
    return has;
}

static void add_line(GPtrArray *lines, const char *name, char *value)
{
    SetupLine *line = g_new0(SetupLine, 1);
    line->name = g_strdup(name);
    line->value = value;
    g_ptr_array_add(lines, line);
}

static char *joined(const char *first, const char *second)
{
    return g_strconcat(first, *first && *second ? ", " : "", second, NULL);
}

/* An entry of an inline map, "{ lists.example.com = lmtp:[127.0.0.1]:8024 }". g_free() */
static char *way_to(const SetupWiring *wiring, const char *domain)
{
    return g_strdup_printf("{ %s = lmtp:[%s]:%s }", domain, wiring->lmtp.host, wiring->lmtp.port);
}

/* Does transport_maps send the domain's mail to us, by our map or by a line of its own? */
static bool comes_here(const SetupWiring *wiring, const char *domain, const char *there)
{
    g_autofree char *own = g_strdup_printf("socketmap:inet:%s:%s:transport", wiring->ask.host, wiring->ask.port);
    g_autofree char *wanted = way_to(wiring, domain);
    return strstr(there, own) || strstr(there, wanted);
}

bool setup_postfix_is_free(const SetupWiring *wiring, const char *domain, GError **error)
{
    static const char *const own[] = {"mydestination", "virtual_alias_domains", "virtual_mailbox_domains"};
    for (unsigned at = 0; at < G_N_ELEMENTS(own); at++) {
        g_autofree char *value = parameter(own[at], true, error);
        if (!value)
            return false;
        if (has_word(value, domain))
            return fail(error, FAIL_NEVER,
                        "Postfix delivers mail for %s itself: it is in %s. Take it out there, or use "
                        "another domain for lists, such as lists.%s.",
                        domain, own[at], domain);
    }
    g_autofree char *maps = parameter("transport_maps", false, error);
    g_autofree char *other = g_strdup_printf("{ %s =", domain);
    if (!maps || comes_here(wiring, domain, maps) || !strstr(maps, other))
        return maps != NULL;
    return fail(error, FAIL_NEVER, "Postfix sends mail for %s elsewhere, by transport_maps = %s: take that out first",
                domain, maps);
}

/* A map of recipients is for all domains that Postfix relays for, so those that neither are ours nor local must have
 * one before. */
static bool plan_recipients(GPtrArray *lines, const SetupWiring *wiring, GError **error)
{
    g_autofree char *there = parameter("relay_recipient_maps", false, error);
    g_autofree char *map = g_strdup_printf("socketmap:inet:%s:%s:recipients", wiring->ask.host, wiring->ask.port);
    if (!there || strstr(there, map))
        return there != NULL;
    g_autofree char *relayed = parameter("relay_domains", true, error);
    g_autofree char *local = relayed ? parameter("mydestination", true, error) : NULL;
    if (!local)
        return false;
    g_autofree char *wired = g_strjoinv(" ", (char **)wiring->domains);
    g_autofree char *own = g_strdup_printf("socketmap:inet:%s:%s:domains", wiring->ask.host, wiring->ask.port);
    g_autoptr(GString) others = g_string_new(NULL);
    g_auto(GStrv) words = g_strsplit_set(relayed, ", \t\n", -1);
    for (char **one = words; *one; one++)
        if (**one && !has_word(wired, *one) && strcmp(*one, own) != 0 && !has_word(local, *one))
            g_string_append_printf(others, "%s%s", others->len > 0 ? ", " : "", *one);
    if (!*there && others->len > 0)
        return fail(
            error, FAIL_NEVER,
            "Postfix relays for other domains, too (relay_domains has %s), and takes any address in them, because "
            "relay_recipient_maps is empty. With a map for %s it would refuse them. Set relay_recipient_maps for "
            "these domains first, such as inline:{ @other.example = OK }, then run this again.",
            others->str, *wiring->domains);
    add_line(lines, "relay_recipient_maps", joined(there, map));
    return true;
}

GPtrArray *setup_postfix_plan(const SetupWiring *wiring, GError **error)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(line_free);
    /* relay_domains as it would be written: the default of old versions is $mydestination, that of today's is empty. */
    g_autofree char *relayed = setup_output((const char *[]){"postconf", "-nh", "relay_domains", NULL}, error);
    if (relayed && !*g_strstrip(relayed)) {
        g_autofree char *fallback = parameter("relay_domains", true, error);
        g_free(relayed);
        relayed = fallback ? g_strdup(*fallback ? "$mydestination" : "") : NULL;
    }
    if (!relayed)
        return NULL;
    for (const char *const *domain = wiring->domains; *domain; domain++)
        if (!setup_postfix_is_free(wiring, *domain, error))
            return NULL;
    g_autofree char *own = g_strdup_printf("socketmap:inet:%s:%s:domains", wiring->ask.host, wiring->ask.port);
    g_autoptr(GString) relays = g_string_new(relayed), ways = g_string_new(NULL);
    for (const char *const *domain = wiring->domains; !strstr(relayed, own) && *domain; domain++)
        if (!has_word(relayed, *domain))
            g_string_append_printf(relays, "%s%s", relays->len > 0 ? ", " : "", *domain);
    if (strcmp(relays->str, relayed) != 0)
        add_line(lines, "relay_domains", g_strdup(relays->str));
    g_autofree char *maps = parameter("transport_maps", false, error);
    if (!maps)
        return NULL;
    for (const char *const *domain = wiring->domains; *domain; domain++)
        if (!comes_here(wiring, *domain, maps)) {
            g_autofree char *way = way_to(wiring, *domain);
            g_string_append_printf(ways, "%s%s", ways->len > 0 ? ", " : "", way);
        }
    g_autofree char *map = g_strdup_printf("inline:{ %s }", ways->str);
    if (ways->len > 0)
        add_line(lines, "transport_maps", joined(map, maps));
    return plan_recipients(lines, wiring, error) ? g_steal_pointer(&lines) : NULL;
}

char *setup_postfix_command(const GPtrArray *lines)
{
    GString *command = g_string_new("postconf -e");
    for (guint at = 0; at < lines->len; at++) {
        const SetupLine *line = lines->pdata[at];
        g_string_append_printf(command, " '%s = %s'", line->name, line->value);
    }
    return g_string_free(g_string_append(command, " && postfix reload"), FALSE);
}

bool setup_postfix_may_change(GError **error)
{
    g_autofree char *directory = parameter("config_directory", false, error);
    return directory && (access(directory, W_OK) == 0 ||
                         fail_errno(error, FAIL_LATER, "change Postfix's configuration in %s", directory));
}

bool setup_postfix_apply(const GPtrArray *lines, bool *running, GError **error)
{
    int code = 0;
    /* All in one call: postconf replaces main.cf once. */
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(words, g_strdup("postconf"));
    g_ptr_array_add(words, g_strdup("-e"));
    for (guint at = 0; at < lines->len; at++) {
        const SetupLine *line = lines->pdata[at];
        g_ptr_array_add(words, g_strdup_printf("%s=%s", line->name, line->value));
    }
    g_ptr_array_add(words, NULL);
    if (lines->len > 0 && !setup_run((const char *const *)words->pdata, &code, error))
        return false;
    if (code != 0)
        return fail(error, FAIL_LATER, "postconf -e ended with code %d", code);
    if (!setup_run((const char *[]){"postfix", "status", NULL}, &code, error))
        return false;
    *running = code == 0;
    if (*running && lines->len > 0 && !setup_run((const char *[]){"postfix", "reload", NULL}, &code, error))
        return false;
    return code == 0 || !*running || fail(error, FAIL_LATER, "postfix reload ended with code %d", code);
}

/* A service of master.cf: "127.0.0.1:25 inet n - y - - smtpd". Is it one that takes mail on this machine? */
static bool read_service(const char *line, char **host, char **port)
{
    g_auto(GStrv) raw = g_strsplit_set(line, " \t", -1);
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    for (char **word = raw; *word; word++)
        if (**word)
            g_ptr_array_add(words, *word);
    if (words->len < 8 || strcmp(words->pdata[1], "inet") != 0 || strcmp(words->pdata[7], "smtpd") != 0)
        return false;
    const char *name = words->pdata[0], *colon = strrchr(name, ':');
    const char *service = colon ? colon + 1 : name;
    if (strcmp(service, "submission") == 0 || strcmp(service, "submissions") == 0 || strcmp(service, "smtps") == 0 ||
        strcmp(service, "465") == 0 || strcmp(service, "587") == 0)
        return false;
    g_autofree char *bound = colon ? g_strndup(name, (gsize)(colon - name)) : g_strdup("");
    bool loopback = !*bound || strcmp(bound, "localhost") == 0;
    *host = g_strdup(loopback ? "127.0.0.1" : bound);
    *port = g_strdup(strcmp(service, "smtp") == 0 ? "25" : service);
    return true;
}

bool setup_postfix_relay(char **host, char **port, GError **error)
{
    g_autofree char *services = setup_output((const char *[]){"postconf", "-M", NULL}, error);
    if (!services)
        return false;
    g_auto(GStrv) lines = g_strsplit(services, "\n", -1);
    for (char **line = lines; *line; line++)
        if (read_service(*line, host, port))
            return true;
    return fail(error, FAIL_NEVER, "Postfix takes no mail by SMTP: its master.cf has no service smtp of smtpd");
}

/* ---- Exim ---- */

char *setup_exim_text(const SetupWiring *wiring)
{
    return g_strdup_printf(
        "# 1. Exim takes the domain's mail: in /etc/exim4/update-exim4.conf.conf add the domain to\n"
        "#    dc_relay_domains (separated by \";\"):\n"
        "dc_relay_domains='%s'\n"
        "\n"
        "# 2. /etc/exim4/conf.d/router/150_listrunner, or the same lines at the start of the routers in\n"
        "#    exim4.conf.template where that is used:\n"
        "listrunner:\n"
        "  driver = manualroute\n"
        "  domains = %s\n"
        "  local_part_suffix = +*\n"
        "  local_part_suffix_optional\n"
        "  route_data = ${lookup{$local_part@$domain}lsearch{%s/recipients}{%s}}\n"
        "  transport = listrunner\n"
        "  self = send\n"
        "  no_more\n"
        "\n"
        "# 3. /etc/exim4/conf.d/transport/30_listrunner, or the same lines among the transports:\n"
        "listrunner:\n"
        "  driver = smtp\n"
        "  protocol = lmtp\n"
        "  port = %s\n"
        "  rcpt_include_affixes\n"
        "  hosts_override\n"
        "  allow_localhost\n"
        "\n"
        "# 4. Then:\n"
        "update-exim4.conf && systemctl reload exim4\n",
        *wiring->domains, *wiring->domains, wiring->maps, wiring->lmtp.host, wiring->lmtp.port);
}
