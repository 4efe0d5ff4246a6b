/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner doctor: what the DNS says of the domains and of the host that sends. */
#include <arpa/inet.h>
#include <string.h>

#include "base/ip.h"
#include "base/secret.h"
#include "cli/admin/doctor.h"
#include "cli/admin/setup_dkim.h"
#include "mail/auth/dkim.h"
#include "mail/domain_name.h"
#include "net/dns.h"
#include "store/lists/domain.h"

#define TIMEOUT INT64_C(3000000) /* us, of the first try */
#define TRIES 2

#define GOOD_BITS 2048 /* of an RSA key (RFC 8301) */

typedef struct Examination {
    Doctor *doctor;
    DnsWait *dns;
    GPtrArray *seen; /* borrowed names of the sections [dkim.NAME] that were looked at */
} Examination;

static void answer_clear(DnsAnswer *answer)
{
    if (answer->records)
        dns_answer_clear(answer);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DnsAnswer, answer_clear)

/* Ask; where no server answers, that is the finding, and the result is false. */
static bool ask(const Examination *it, const char *name, DnsType type, DnsAnswer *answer)
{
    dns_wait_ask(it->dns, name, type, answer);
    if (answer->status != DNS_TROUBLE)
        return true;
    doctor_find(it->doctor, "dns", DOCTOR_WARNING, NULL, "nothing is known of %s: %s", name, answer->problem);
    return false;
}

static bool has_record(const Examination *it, const char *name, DnsType type)
{
    g_auto(DnsAnswer) answer = {0};
    dns_wait_ask(it->dns, name, type, &answer);
    return answer.status == DNS_FOUND;
}

/* How many TXT records of the name begin with this. -1: not known. */
static int count_texts(const Examination *it, const char *name, const char *start)
{
    int count = 0;
    g_auto(DnsAnswer) answer = {0};
    if (!ask(it, name, DNS_TXT, &answer))
        return -1;
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++)
        count += g_ascii_strncasecmp(g_array_index(answer.records, DnsRecord, at).text, start, strlen(start)) == 0;
    return count;
}

/* ---- a domain ---- */

/* A key of the configuration whose public half the DNS must have. Of its records the best counts, and more than one is
 * a warning. */
static void look_at_key(const Examination *it, const char *section)
{
    static const struct {
        DoctorState state;
        const char *text; /* of the name in the DNS and the section */
    } words[] = {
        [DKIM_RECORD_TESTING] = {DOCTOR_WARNING, "the key at %s says by t=y that it is only tried: signatures of [%s] "
                                                 "count for nothing"},
        [DKIM_RECORD_UNFIT] = {DOCTOR_FAULT, "the record at %s has the right key, and other tags that forbid "
                                             "signatures of [%s]"},
        [DKIM_RECORD_OTHER] = {DOCTOR_FAULT, "the DNS has another key at %s than that of [%s], whose signatures fail "
                                             "everywhere"},
        [DKIM_RECORD_REVOKED] = {DOCTOR_FAULT, "the key at %s was revoked (p= is empty), so signatures of [%s] fail "
                                               "everywhere"},
        [DKIM_RECORD_NONE] = {DOCTOR_FAULT, "the DNS has no key at %s, so signatures of [%s] fail everywhere"},
    };
    g_autoptr(GError) fault = NULL;
    g_auto(DnsAnswer) answer = {0};
    Doctor *doctor = it->doctor;
    const Config *config = doctor->config;
    const char *domain = config_string(config, section, "domain"), *file = config_string(config, section, "key_file");
    const char *selector = config_string(config, section, "selector"), *path = file ? file : "FILE";
    g_autofree char *name = g_strdup_printf("%s._domainkey.%s", selector, domain);
    g_autofree char *pem = file ? secret_file_read(file, SECRET_FILE_MAX, &fault) : NULL;
    g_autoptr(DkimKey) key = pem ? dkim_key_new(&(DkimKeyPlace){domain, selector, DKIM_USE_SIGN}, pem, &fault) : NULL;
    if (!key) {
        doctor_find(doctor, "dns", DOCTOR_FAULT,
                    g_strdup_printf("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:%d -out %s && chown %s "
                                    "%s && chmod 600 %s && listrunner reload",
                                    GOOD_BITS, path, config_string(config, "site", "user"), path, path),
                    "[%s] signs nothing: %s", section, fault ? fault->message : "it has no key_file");
        return;
    }
    if (strcmp(dkim_key_algorithm(key), "rsa-sha256") == 0 && dkim_key_bits(key) < GOOD_BITS)
        doctor_find(doctor, "dns", DOCTOR_WARNING,
                    g_strdup_printf("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:%d -out FILE    # for a "
                                    "[dkim.NAME] of its own, beside [%s] until the DNS has it",
                                    GOOD_BITS, section),
                    "the key of [%s] has %d bits; %d are advised (RFC 8301)", section, dkim_key_bits(key), GOOD_BITS);
    if (!ask(it, name, DNS_TXT, &answer))
        return;
    unsigned count = 0;
    DkimRecord best = DKIM_RECORD_NONE;
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++) {
        DkimRecord one = dkim_key_judge(key, g_array_index(answer.records, DnsRecord, at).text);
        count += one != DKIM_RECORD_NONE;
        best = MIN(best, one);
    }
    if (words[best].text) {
        g_autofree char *text = g_strdup_printf(words[best].text, name, section);
        doctor_find(doctor, "dns", words[best].state, setup_dkim_line(key), "%s", text);
    } else if (count > 1) {
        doctor_find(doctor, "dns", DOCTOR_WARNING, setup_dkim_line(key),
                    "the DNS has %u keys at %s, and receivers may take any of them; leave that of [%s] alone", count,
                    name, section);
    }
}

static void look_at_dkim(const Examination *it, const char *domain)
{
    bool signs = false;
    const Config *config = it->doctor->config;
    g_autofree const char **sections = config_family_sections(config, "dkim");
    for (const char **section = sections; *section; section++) {
        const char *own = config_string(config, *section, "domain");
        if (!own || !config_bool(config, *section, "enabled") || !domain_name_within(domain, own))
            continue;
        signs = true;
        if (!g_ptr_array_find_with_equal_func(it->seen, *section, g_str_equal, NULL)) /* by a domain before */
            look_at_key(it, *section);
        g_ptr_array_add(it->seen, (char *)*section);
    }
    if (!signs)
        doctor_find(it->doctor, "dns", DOCTOR_WARNING,
                    g_strdup_printf("listrunner setup --dkim --domain %s --owner %s    # makes key and section, "
                                    "reloads, and shows the record",
                                    domain, config_string(config, "site", "site_owner")),
                    "no [dkim.NAME] signs mail of %s; unless the mail server does, large sites distrust it", domain);
}

/* MX, SPF, DKIM and DMARC. */
static void look_at_domain(const Examination *it, const char *domain)
{
    g_auto(DnsAnswer) answer = {0};
    const char *host = config_string(it->doctor->config, "site", "hostname");
    bool known = ask(it, domain, DNS_MX, &answer);
    if (known && answer.status != DNS_FOUND) {
        bool address = has_record(it, domain, DNS_A) || has_record(it, domain, DNS_AAAA);
        doctor_find(it->doctor, "dns", address ? DOCTOR_WARNING : DOCTOR_FAULT,
                    g_strdup_printf("%s. MX 10 %s.", domain, host),
                    address ? "%s has no MX record; mail goes to its address"
                            : "%s has neither MX record nor address: nobody can write to its lists",
                    domain);
    }
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++) {
        const DnsRecord *record = &g_array_index(answer.records, DnsRecord, at);
        if (!*record->host)
            doctor_find(it->doctor, "dns", DOCTOR_FAULT, g_strdup_printf("%s. MX 10 %s.", domain, host),
                        "%s says by its MX record that it takes no mail", domain);
        else if (!has_record(it, record->host, DNS_A) && !has_record(it, record->host, DNS_AAAA))
            doctor_find(it->doctor, "dns", DOCTOR_FAULT, g_strdup_printf("%s. A ADDRESS", record->host),
                        "%s, the MX of %s, has no address", record->host, domain);
    }
    int count = count_texts(it, domain, "v=spf1");
    if (count == 0)
        doctor_find(it->doctor, "dns", DOCTOR_WARNING, g_strdup_printf("%s. TXT \"v=spf1 mx -all\"", domain),
                    "%s has no SPF record, which says who may send its mail: large sites distrust it", domain);
    else if (count > 1)
        doctor_find(it->doctor, "dns", DOCTOR_FAULT, g_strdup_printf("dig %s TXT", domain),
                    "%s has %d SPF records; with more than one, none counts (RFC 7208)", domain, count);
    look_at_dkim(it, domain);
    count = 0;
    /* A record of the domain above counts for those below it. */
    for (const char *above = domain; count == 0 && above && strchr(above, '.'); above = strchr(above, '.') + 1) {
        g_autofree char *name = g_strconcat("_dmarc.", above, NULL);
        count = count_texts(it, name, "v=DMARC1");
    }
    if (count == 0)
        doctor_find(it->doctor, "dns", DOCTOR_WARNING,
                    g_strdup_printf("_dmarc.%s. TXT \"v=DMARC1; p=none; rua=mailto:%s\"", domain,
                                    config_string(it->doctor->config, "site", "site_owner")),
                    "%s has no DMARC record: large sites distrust it", domain);
}

/* ---- the host that sends ---- */

/* Does the name lead back to the address? */
static bool leads_back(const Examination *it, const char *name, const char *address)
{
    bool back = false;
    const DnsType type = strchr(address, ':') ? DNS_AAAA : DNS_A;
    g_auto(DnsAnswer) answer = {0};
    dns_wait_ask(it->dns, name, type, &answer);
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++) {
        char text[INET6_ADDRSTRLEN];
        const DnsRecord *record = &g_array_index(answer.records, DnsRecord, at);
        inet_ntop(type == DNS_AAAA ? AF_INET6 : AF_INET, &record->address, text, sizeof text);
        back |= strcmp(text, address) == 0;
    }
    return back;
}

static void look_at_address(const Examination *it, const char *host, const char *address)
{
    g_auto(DnsAnswer) answer = {0};
    if (!ip_public_text(address) || !dns_wait_ask_names(it->dns, address, &answer))
        return;
    if (answer.status == DNS_TROUBLE) {
        doctor_find(it->doctor, "dns", DOCTOR_WARNING, NULL, "the name of %s is not known: %s", address,
                    answer.problem);
        return;
    }
    bool back = false;
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++)
        back |= leads_back(it, g_array_index(answer.records, DnsRecord, at).host, address);
    if (!back)
        doctor_find(it->doctor, "dns", DOCTOR_FAULT,
                    g_strdup_printf("%s PTR %s.    # whoever gave you the address sets it", address, host),
                    answer.status == DNS_FOUND
                        ? "the name that the DNS gives to %s, an address of %s, does not lead back to it: large sites "
                          "refuse its mail"
                        : "%s, an address of %s, has no PTR record: large sites refuse its mail",
                    address, host);
}

static guint look_at_addresses(const Examination *it, const char *host, DnsType type)
{
    g_auto(DnsAnswer) answer = {0};
    if (!ask(it, host, type, &answer))
        return 1;
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++) {
        char text[INET6_ADDRSTRLEN];
        const DnsRecord *record = &g_array_index(answer.records, DnsRecord, at);
        inet_ntop(type == DNS_AAAA ? AF_INET6 : AF_INET, &record->address, text, sizeof text);
        look_at_address(it, host, text);
    }
    return answer.status == DNS_FOUND ? answer.records->len : 0;
}

/* The relay, or this host where the relay is on it. */
static void look_at_sender(const Examination *it)
{
    const char *relay = config_string(it->doctor->config, "transport.relay", "host");
    const char *own = config_string(it->doctor->config, "site", "hostname");
    struct in6_addr address;
    bool literal = relay && (inet_pton(AF_INET, relay, &address) == 1 || inet_pton(AF_INET6, relay, &address) == 1);
    bool here = !relay || strcmp(relay, "localhost") == 0 || (literal && !ip_public_text(relay));
    if (literal && !here) {
        look_at_address(it, relay, relay);
        return;
    }
    const char *host = here ? own : relay;
    if (look_at_addresses(it, host, DNS_A) + look_at_addresses(it, host, DNS_AAAA) == 0)
        doctor_find(it->doctor, "dns", DOCTOR_FAULT, g_strdup_printf("%s. A ADDRESS", host),
                    "%s, the host that sends, has no address in the DNS: large sites refuse its mail", host);
}

void doctor_dns(Doctor *doctor, const GPtrArray *domains)
{
    g_autoptr(GError) fault = NULL;
    guint before = doctor->findings->len;
    g_autofree char *servers = config_list_joined(doctor->config, "dns", "servers");
    g_autoptr(DnsWait) dns = dns_wait_new(servers, TIMEOUT, TRIES, &fault);
    if (!dns) {
        doctor_find(doctor, "dns", DOCTOR_WARNING, NULL, "%s", fault->message);
        return;
    }
    g_autoptr(GPtrArray) seen = g_ptr_array_new();
    const Examination it = {doctor, dns, seen};
    for (guint at = 0; at < domains->len; at++) {
        g_autofree char *domain = domain_name_ascii(((const Domain *)domains->pdata[at])->mail_host);
        look_at_domain(&it, domain);
    }
    look_at_sender(&it);
    doctor_find_well(doctor, "dns", before, "The DNS knows the domains, and the host that sends.");
}
