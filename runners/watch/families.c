/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/watch/families.h"

#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "base/log.h"
#include "posting/setup.h"

typedef enum Found { FOUND_NONE, FOUND_SOME, FOUND_UNKNOWN } Found;

static const Families whichever = {1, {"", ""}}, both = {2, {"ipv4", "ipv6"}};

/* The transport that [out] transport_table has for the domain; NULL: none; g_free(). The longest match counts. */
static char *route_of(const Config *config, const char *domain)
{
    size_t longest = 0;
    g_autofree char *name = NULL;
    for (const char *const *word = config_list(config, "out", "transport_table"); word && *word; word++) {
        const char *colon = strrchr(*word, ':');
        g_autofree char *pattern = g_strndup(*word, (size_t)(colon - *word));
        size_t length = strlen(pattern), whole = strlen(domain);
        bool fits = pattern[0] == '.' ? whole > length : whole == length;
        if (!fits || length <= longest || g_ascii_strcasecmp(domain + whole - length, pattern) != 0)
            continue;
        longest = length;
        g_free(name);
        name = g_strdup(colon + 1);
    }
    return g_steal_pointer(&name);
}

/* Connecting a datagram socket sends nothing, and fails where there is no route. */
static bool has_route(const struct addrinfo *address)
{
    auto_fd fd = socket(address->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) == 0;
}

/* Addresses of the family that may be used: the host has them, and there is a route or one was proven. */
static Found look_for(const char *host, const char *port, int family, bool proven)
{
    const struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int code = getaddrinfo(host, port, &hints, &found);
    bool any = false;
    for (const struct addrinfo *at = found; code == 0 && at; at = at->ai_next)
        any |= proven || has_route(at);
    if (found)
        freeaddrinfo(found);
    if (code == 0)
        return any ? FOUND_SOME : FOUND_NONE;
    bool absent = code == EAI_NONAME || code == EAI_ADDRFAMILY || code == EAI_NODATA || code == EAI_FAMILY;
    return absent ? FOUND_NONE : FOUND_UNKNOWN;
}

void families_look(const Config *config, const char *domain, const char *const *proven, Families *families)
{
    const int numbers[] = {AF_INET, AF_INET6};
    if (families->count == 0)
        *families = g_strv_length((char **)proven) == 2 ? both : whichever;
    g_autofree char *route = route_of(config, domain), *section = transport_section(config, route);
    bool relay = section && strcmp(config_string(config, section, "type"), "mx") != 0;
    const char *host = relay ? config_string(config, section, "host") : "unix:";
    unsigned found = 0;
    if (g_str_has_prefix(host, "unix:") || !config_bool(config, "watch", "both_families")) {
        *families = whichever;
        return;
    }
    g_autofree char *port = g_strdup_printf("%d", (int)config_integer(config, section, "port"));
    for (unsigned at = 0; at < both.count; at++) {
        Found which = look_for(host, port, numbers[at], g_strv_contains(proven, both.names[at]));
        if (which == FOUND_UNKNOWN) {
            log_info("the addresses of the relay %s are not known now, so mails go on as before", host);
            return;
        }
        found += which == FOUND_SOME;
    }
    *families = found == both.count ? both : whichever;
}
