/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/dmarc.h"

#include <idn2.h>
#include <libpsl.h>
#include <string.h>

#include "mail/auth_results.h"

/* ---- records ---- */

static DmarcPolicy read_policy(const char *text)
{
    if (g_ascii_strcasecmp(text, "reject") == 0)
        return DMARC_REJECT;
    return g_ascii_strcasecmp(text, "quarantine") == 0 ? DMARC_QUARANTINE : DMARC_NONE;
}

/* pct=0: receivers do the next weaker thing (RFC 7489, 6.6.4). */
static DmarcPolicy weaker(DmarcPolicy policy)
{
    return policy == DMARC_REJECT ? DMARC_QUARANTINE : DMARC_NONE;
}

bool dmarc_record_read(const char *text, DmarcRecord *record)
{
    g_auto(GStrv) tags = g_strsplit(text, ";", 64);
    enum { POLICY, SUBDOMAINS, MISSING, DKIM, SPF, NAMES };
    char *values[NAMES] = {NULL};
    static const char *const names[NAMES] = {"p", "sp", "np", "adkim", "aspf"};
    bool none_applied = false;
    for (unsigned at = 0; tags[at]; at++) {
        char *value = strchr(tags[at], '=');
        if (value)
            *value++ = '\0';
        g_strstrip(tags[at]);
        if (at == 0 && (!value || strcmp(tags[at], "v") != 0 || strcmp(g_strstrip(value), "DMARC1") != 0))
            return false;
        if (!value)
            continue;
        g_strstrip(value);
        for (unsigned name = 0; name < NAMES; name++)
            if (g_ascii_strcasecmp(tags[at], names[name]) == 0)
                values[name] = value;
        if (g_ascii_strcasecmp(tags[at], "pct") == 0)
            none_applied = strcmp(value, "0") == 0;
    }
    if (!tags[0])
        return false;
    DmarcPolicy policy = values[POLICY] ? read_policy(values[POLICY]) : DMARC_NONE;
    DmarcPolicy subdomains = values[SUBDOMAINS] ? read_policy(values[SUBDOMAINS]) : policy;
    DmarcPolicy missing = values[MISSING] ? read_policy(values[MISSING]) : subdomains;
    *record = (DmarcRecord){none_applied ? weaker(policy) : policy, none_applied ? weaker(subdomains) : subdomains,
                            none_applied ? weaker(missing) : missing,
                            values[DKIM] && g_ascii_strcasecmp(values[DKIM], "s") == 0,
                            values[SPF] && g_ascii_strcasecmp(values[SPF], "s") == 0};
    return true;
}

/* ---- organizations ---- */

/* In lower case and ASCII; what cannot be so is left as it is. */
static char *normal(const char *domain)
{
    g_autofree char *plain = g_ascii_strdown(domain, -1);
    if (g_str_has_suffix(plain, "."))
        plain[strlen(plain) - 1] = '\0';
    uint8_t *ascii = NULL;
    if (g_str_is_ascii(plain) ||
        idn2_lookup_u8((const uint8_t *)plain, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK)
        return g_steal_pointer(&plain);
    char *copy = g_strdup((const char *)ascii);
    idn2_free(ascii);
    return copy;
}

char *dmarc_organization(const char *domain)
{
    static const psl_ctx_t *list;
    if (!list)
        list = psl_latest(NULL);
    char *name = normal(domain);
    const char *organization = *name != '[' && list ? psl_registrable_domain(list, name) : NULL;
    if (organization && organization != name) {
        char *found = g_strdup(organization);
        g_free(name);
        return found;
    }
    return name;
}

bool dmarc_aligned(const char *a, const char *b, bool strict)
{
    g_autofree char *first = strict ? normal(a) : dmarc_organization(a);
    g_autofree char *second = strict ? normal(b) : dmarc_organization(b);
    return strcmp(first, second) == 0;
}

/* ---- finding ---- */

static NamesAnswer look_up(const Names *names, const char *domain, DmarcRecord *record)
{
    const char *const *texts;
    g_autofree char *name = g_strconcat("_dmarc.", domain, NULL);
    NamesAnswer answer = names->text(names->data, name, &texts);
    if (answer != NAMES_FOUND)
        return answer;
    unsigned found = 0;
    for (; *texts; texts++) {
        DmarcRecord read;
        if (dmarc_record_read(*texts, &read)) {
            *record = read;
            found++;
        }
    }
    return found == 1 ? NAMES_FOUND : NAMES_NONE; /* RFC 7489, 6.6.3: of two, none counts */
}

/* The policy of a record that stands above domain becomes that for the domain. */
static NamesAnswer inherit(const Names *names, const char *domain, DmarcRecord *record)
{
    record->policy = record->subdomains;
    if (record->missing == record->subdomains)
        return NAMES_FOUND;
    NamesAnswer there = names->exists(names->data, domain);
    if (there == NAMES_NONE)
        record->policy = record->missing;
    return there == NAMES_PENDING ? NAMES_PENDING : NAMES_FOUND;
}

static NamesAnswer done(char **where, const char *domain)
{
    if (where)
        *where = g_strdup(domain);
    return NAMES_FOUND;
}

NamesAnswer dmarc_find(const Names *names, const char *domain, DmarcRecord *record, char **where)
{
    g_autofree char *own = normal(domain), *organization = dmarc_organization(domain);
    if (*own == '[' || !*own)
        return NAMES_NONE;
    NamesAnswer answer = look_up(names, own, record);
    if (answer == NAMES_FOUND)
        return done(where, own);
    if (answer != NAMES_NONE)
        return answer;
    if (strcmp(own, organization) != 0) {
        answer = look_up(names, organization, record);
        if (answer == NAMES_FOUND)
            answer = inherit(names, own, record);
        if (answer == NAMES_FOUND)
            return done(where, organization);
        if (answer != NAMES_NONE)
            return answer;
    }
    /* RFC 9091: the public suffix itself may speak for what is registered below it. */
    const char *suffix = strchr(organization, '.');
    if (!suffix || !suffix[1])
        return NAMES_NONE;
    answer = look_up(names, suffix + 1, record);
    if (answer == NAMES_FOUND)
        answer = inherit(names, own, record);
    return answer == NAMES_FOUND ? done(where, suffix + 1) : answer;
}

/* ---- results ---- */

/* Is the check's domain in line with the author's? */
static bool is_aligned(const char *checked, const char *domain, bool strict)
{
    const char *at = checked ? strrchr(checked, '@') : NULL;
    return checked && *checked && dmarc_aligned(at ? at + 1 : checked, domain, strict);
}

static bool dkim_aligned(const char *check, const char *domain, bool strict)
{
    g_autofree char *signer = auth_result_property(check, "header.d");
    return is_aligned(signer, domain, strict);
}

/* Mail without a sender of the envelope has the name in HELO instead (RFC 7489, 3.1.2). */
static bool spf_aligned(const char *check, const char *domain, bool strict)
{
    g_autofree char *sender = auth_result_property(check, "smtp.mailfrom");
    g_autofree char *helo = auth_result_property(check, "smtp.helo");
    return is_aligned(sender && *sender ? sender : helo, domain, strict);
}

char *dmarc_result(const char *domain, NamesAnswer answer, const DmarcRecord *record, const GPtrArray *checks)
{
    static const char *const policies[] = {"none", "quarantine", "reject"};
    if (answer != NAMES_FOUND)
        return g_strdup_printf("dmarc=%s header.from=%s", answer == NAMES_NONE ? "none" : "temperror", domain);
    bool passed = false, unknown = false, spf_known = false;
    for (guint at = 0; at < checks->len; at++) {
        const char *check = checks->pdata[at];
        bool dkim = g_str_has_prefix(check, "dkim="), spf = g_str_has_prefix(check, "spf=");
        spf_known |= spf;
        if ((dkim && dkim_aligned(check, domain, record->strict_dkim)) ||
            (spf && spf_aligned(check, domain, record->strict_spf))) {
            const char *verdict = strchr(check, '=') + 1;
            passed |= g_str_has_prefix(verdict, "pass");
            unknown |= g_str_has_prefix(verdict, "temperror");
        }
    }
    if (!passed && !unknown && !spf_known)
        return NULL;
    return g_strdup_printf("dmarc=%s header.from=%s policy.dmarc=%s",
                           passed ? "pass" : unknown ? "temperror" : "fail", domain, policies[record->policy]);
}
