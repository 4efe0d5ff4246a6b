/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/mx_internal.h"

#include <arpa/inet.h>
#include <idn2.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ip.h"

#define DOMAIN_MAX 253

MxRoute *mx_route_new(const char *domain)
{
    MxRoute *route = g_new0(MxRoute, 1);
    route->references = 1;
    route->domain = g_strdup(domain);
    route->key = g_strdup(domain);
    return route;
}

MxRoute *mx_route_ref(MxRoute *route)
{
    route->references++;
    return route;
}

void mx_route_unref(MxRoute *route)
{
    if (!route || --route->references > 0)
        return;
    g_free(route->domain);
    g_free(route->text);
    g_free(route->key);
    g_clear_pointer(&route->targets, g_ptr_array_unref);
    g_free(route);
}

static void target_free(void *data)
{
    MxTarget *target = data;
    g_free(target->name);
    g_array_unref(target->four);
    g_array_unref(target->six);
    g_free(target);
}

MxTarget *mx_target_new(const char *name, uint16_t preference)
{
    MxTarget *target = g_new0(MxTarget, 1);
    target->name = g_strdup(name);
    target->preference = preference;
    target->four = g_array_new(FALSE, FALSE, sizeof(struct in_addr));
    target->six = g_array_new(FALSE, FALSE, sizeof(struct in6_addr));
    return target;
}

void mx_route_refuse(MxRoute *route, MxOutcome outcome, unsigned code, const char *status, char *text)
{
    route->outcome = outcome;
    route->code = code;
    route->status = status;
    g_free(route->text);
    route->text = text;
    g_clear_pointer(&route->targets, g_ptr_array_unref);
}

/* --- the order ---------------------------------------------------------- */

static void shuffle(void **items, guint count)
{
    for (guint left = count; left > 1; left--) {
        guint drawn = (guint)g_random_int_range(0, (gint32)left);
        void *item = items[left - 1];
        items[left - 1] = items[drawn];
        items[drawn] = item;
    }
}

static gint by_preference(gconstpointer one, gconstpointer other)
{
    const MxTarget *a = *(const MxTarget *const *)one;
    const MxTarget *b = *(const MxTarget *const *)other;
    return (a->preference > b->preference) - (a->preference < b->preference);
}

/* GLib's sort is stable: equals stay in the order drawn. */
static void draw_order(GPtrArray *targets)
{
    shuffle(targets->pdata, targets->len);
    g_ptr_array_sort(targets, by_preference);
}

void mx_route_sort(MxRoute *route)
{
    g_ptr_array_set_free_func(route->targets, target_free);
    draw_order(route->targets);
    if (route->targets->len > MX_HOSTS_MAX)
        g_ptr_array_set_size(route->targets, MX_HOSTS_MAX);
}

void mx_route_set_key(MxRoute *route)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < route->targets->len; i++)
        g_ptr_array_add(names, ((const MxTarget *)route->targets->pdata[i])->name);
    g_ptr_array_sort(names, bytes_compare_texts);
    g_autoptr(GString) key = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        if (i == 0 || strcmp(names->pdata[i], names->pdata[i - 1]) != 0)
            g_string_append_printf(key, "%s%s", i > 0 ? "," : "", (const char *)names->pdata[i]);
    g_free(route->key);
    route->key = g_string_free(g_steal_pointer(&key), FALSE);
}

static MxHost make_host(const MxTarget *target, bool six, guint index, uint16_t port)
{
    MxHost host = {.name = target->name, .preference = target->preference};
    if (six) {
        struct sockaddr_in6 *to = (struct sockaddr_in6 *)&host.address;
        to->sin6_family = AF_INET6;
        to->sin6_port = htons(port);
        to->sin6_addr = g_array_index(target->six, struct in6_addr, index);
        host.length = sizeof(*to);
    } else {
        struct sockaddr_in *to = (struct sockaddr_in *)&host.address;
        to->sin_family = AF_INET;
        to->sin_port = htons(port);
        to->sin_addr = g_array_index(target->four, struct in_addr, index);
        host.length = sizeof(*to);
    }
    return host;
}

/* IPv6 and IPv4 by turns, so that a family that does not work here costs one try. */
static void add_hosts(GArray *hosts, const MxTarget *target, uint16_t port)
{
    guint longest = MAX(target->four->len, target->six->len);
    for (guint i = 0; i < longest; i++) {
        for (int six = 1; six >= 0; six--) {
            if (i >= (six ? target->six : target->four)->len)
                continue;
            MxHost host = make_host(target, six, i, port);
            g_array_append_val(hosts, host);
        }
    }
}

/* Cut at the limit, but not so that one family is gone. */
static void limit_hosts(GArray *hosts, size_t limit)
{
    if (hosts->len <= limit)
        return;
    MxHost *all = (MxHost *)(void *)hosts->data;
    sa_family_t first = all[0].address.ss_family;
    bool mixed = false;
    for (size_t i = 1; i < limit; i++)
        mixed |= all[i].address.ss_family != first;
    for (size_t i = limit; !mixed && limit > 1 && i < hosts->len; i++) {
        if (all[i].address.ss_family != first) {
            all[limit - 1] = all[i];
            mixed = true;
        }
    }
    g_array_set_size(hosts, (guint)limit);
}

MxHost *mx_route_hosts(const MxRoute *route, uint16_t port, size_t limit, size_t *count)
{
    g_autoptr(GArray) hosts = g_array_new(FALSE, TRUE, sizeof(MxHost));
    if (route->targets) {
        g_autoptr(GPtrArray) order = g_ptr_array_copy(route->targets, NULL, NULL);
        g_ptr_array_set_free_func(order, NULL);
        draw_order(order);
        for (guint i = 0; i < order->len; i++)
            add_hosts(hosts, order->pdata[i], port);
        limit_hosts(hosts, limit);
    }
    *count = hosts->len;
    return (MxHost *)(void *)g_array_free(g_steal_pointer(&hosts), FALSE);
}

/* --- ourselves ---------------------------------------------------------- */

static bool is_own(const MxTarget *target, const char *const *own)
{
    for (; own && *own; own++) {
        struct in6_addr six;
        struct in_addr four;
        if (g_ascii_strcasecmp(*own, target->name) == 0)
            return true;
        if (inet_pton(AF_INET, *own, &four) == 1) {
            for (guint i = 0; i < target->four->len; i++)
                if (g_array_index(target->four, struct in_addr, i).s_addr == four.s_addr)
                    return true;
        } else if (inet_pton(AF_INET6, *own, &six) == 1) {
            for (guint i = 0; i < target->six->len; i++)
                if (IN6_ARE_ADDR_EQUAL(&g_array_index(target->six, struct in6_addr, i), &six))
                    return true;
        }
    }
    return false;
}

void mx_route_leave_own(MxRoute *route, const char *const *own)
{
    for (guint i = 0; i < route->targets->len; i++) {
        const MxTarget *target = route->targets->pdata[i];
        if (!is_own(target, own))
            continue;
        g_autofree char *name = g_strdup(target->name);
        uint16_t preference = target->preference;
        while (i > 0 && ((const MxTarget *)route->targets->pdata[i - 1])->preference == preference)
            i--;
        g_ptr_array_set_size(route->targets, (gint)i);
        if (i == 0)
            mx_route_refuse(route, MX_NEVER, 554, "5.4.6",
                            g_strdup_printf("mail for %s loops back to myself (%s)", route->domain, name));
        return;
    }
}

static bool leaves_private(MxTarget *target, bool six)
{
    GArray *all = six ? target->six : target->four;
    bool left = false;
    for (guint i = all->len; i > 0; i--) {
        MxHost host = make_host(target, six, i - 1, 0);
        if (ip_public((const struct sockaddr *)&host.address))
            continue;
        g_array_remove_index(all, i - 1);
        left = true;
    }
    return left;
}

bool mx_route_leave_private(MxRoute *route)
{
    bool left = false;
    for (guint i = 0; i < route->targets->len; i++) {
        left |= leaves_private(route->targets->pdata[i], false);
        left |= leaves_private(route->targets->pdata[i], true);
    }
    return left;
}

void mx_route_refuse_private(MxRoute *route)
{
    mx_route_refuse(route, MX_LATER, 450, "4.4.4",
                    g_strdup_printf("all addresses of the mail hosts of %s are loopback or private addresses "
                                    "([out] mx_private_addresses)", route->domain));
}

/* --- domains ------------------------------------------------------------ */

/* Labels of 1 to 63 bytes, of letters, digits, '-' and '_'. */
static bool is_domain(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > DOMAIN_MAX)
        return false;
    for (const char *label = text; label; label = strchr(label, '.') ? strchr(label, '.') + 1 : NULL) {
        size_t size = strcspn(label, ".");
        if (size == 0 || size > 63)
            return false;
        for (size_t i = 0; i < size; i++)
            if (!g_ascii_isalnum(label[i]) && label[i] != '-' && label[i] != '_')
                return false;
    }
    return true;
}

char *mx_domain_normal(const char *domain)
{
    size_t length = strlen(domain);
    if (length > 4 * DOMAIN_MAX)
        return NULL;
    g_autofree char *lower = g_ascii_strdown(domain, -1);
    if (length > 1 && lower[length - 1] == '.')
        lower[length - 1] = '\0';
    if (!g_str_is_ascii(lower)) {
        uint8_t *ascii = NULL;
        if (idn2_lookup_u8((const uint8_t *)lower, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK)
            return NULL;
        g_free(lower);
        lower = g_strdup((const char *)ascii);
        idn2_free(ascii);
    }
    return is_domain(lower) ? g_steal_pointer(&lower) : NULL;
}

MxRoute *mx_route_literal(const char *domain)
{
    size_t length = strlen(domain);
    if (length < 3 || domain[0] != '[' || domain[length - 1] != ']')
        return NULL;
    bool six = g_ascii_strncasecmp(domain, "[IPv6:", 6) == 0;
    size_t from = six ? 6 : 1;
    g_autofree char *text = g_strndup(domain + from, length - 1 - from);
    struct in6_addr address;
    if (inet_pton(six ? AF_INET6 : AF_INET, text, &address) != 1)
        return NULL;
    MxRoute *route = mx_route_new(domain);
    MxTarget *target = mx_target_new(text, 0);
    g_array_append_vals(six ? target->six : target->four, &address, 1);
    route->targets = g_ptr_array_new();
    g_ptr_array_add(route->targets, target);
    mx_route_sort(route);
    return route;
}
