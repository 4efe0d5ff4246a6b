/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/wait_names.h"

#include <string.h>

#include "mail/domain_name.h"
#include "net/dns.h"

#define TRIES 3
#define TROUBLES_MAX 3 /* on end: then nobody answers */

struct WaitNames {
    DnsWait *dns;
    GHashTable *known; /* "text NAME" or "exists NAME" -> Known */
    unsigned troubles; /* on end */
    Names names;
};

typedef struct Known {
    NamesAnswer answer;
    char **texts;
} Known;

static void known_free(void *data)
{
    Known *known = data;
    g_strfreev(known->texts);
    g_free(known);
}

static const Known *find(WaitNames *names, const char *kind, const char *name, DnsType type)
{
    g_autofree char *key = g_strconcat(kind, name, NULL);
    Known *known = g_hash_table_lookup(names->known, key);
    if (known)
        return known;
    known = g_new0(Known, 1);
    known->answer = NAMES_TROUBLE;
    g_hash_table_insert(names->known, g_steal_pointer(&key), known);
    if (names->troubles >= TROUBLES_MAX)
        return known;
    DnsAnswer answer = {0};
    dns_wait_ask(names->dns, name, type, &answer);
    names->troubles = answer.status == DNS_TROUBLE ? names->troubles + 1 : 0;
    /* A name without a record of the type that was asked for exists. */
    bool there = answer.status == DNS_FOUND || (type == DNS_CNAME && answer.status == DNS_NONE);
    if (answer.status != DNS_TROUBLE)
        known->answer = there ? NAMES_FOUND : NAMES_NONE;
    if (type == DNS_TXT && there) {
        g_autoptr(GStrvBuilder) texts = g_strv_builder_new();
        for (guint at = 0; at < answer.records->len; at++)
            g_strv_builder_add(texts, g_array_index(answer.records, DnsRecord, at).text);
        known->texts = g_strv_builder_end(texts);
    }
    if (answer.records)
        dns_answer_clear(&answer);
    return known;
}

static NamesAnswer text(void *data, const char *name, const char *const **texts)
{
    if (!domain_name_askable(name))
        return NAMES_NONE;
    const Known *known = find(data, "text ", name, DNS_TXT);
    *texts = (const char *const *)known->texts;
    return known->answer;
}

static NamesAnswer exists(void *data, const char *name)
{
    return domain_name_askable(name) ? find(data, "exists ", name, DNS_CNAME)->answer : NAMES_NONE;
}

WaitNames *wait_names_new(const Config *config, GError **error)
{
    g_autoptr(WaitNames) names = g_new0(WaitNames, 1);
    names->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, known_free);
    names->names = (Names){text, exists, names};
    g_autofree char *servers = config_list_joined(config, "dns", "servers");
    names->dns = dns_wait_new(servers, config_duration(config, "dns", "timeout") / TRIES, TRIES, error);
    return names->dns ? g_steal_pointer(&names) : NULL;
}

void wait_names_free(WaitNames *names)
{
    if (!names)
        return;
    if (names->dns)
        dns_wait_free(names->dns);
    g_hash_table_unref(names->known);
    g_free(names);
}

const Names *wait_names_of(const WaitNames *names)
{
    return &names->names;
}
