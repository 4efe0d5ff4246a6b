/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/dmarc.h"

#include <string.h>

#include "mail/auth/auth_results.h"
#include "mail/domain_name.h"

static const char *const policies[] = {"none", "quarantine", "reject"};

/* ---- records ---- */

/* Read the tags behind the version: name in lower case -> value. A piece that is no tag is passed over. NULL: a tag
 * stands there twice. */
static GHashTable *read_tags(char **parts)
{
    g_autoptr(GHashTable) tags = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (; *parts; parts++) {
        char *value = strchr(*parts, '=');
        if (!value)
            continue;
        *value++ = '\0';
        g_autofree char *name = g_ascii_strdown(g_strstrip(*parts), -1);
        if (!g_hash_table_insert(tags, g_steal_pointer(&name), g_strstrip(value)))
            return NULL;
    }
    return g_steal_pointer(&tags);
}

/* Read one of the policies, in any case; without the tag it stays as it is. Returns false when nobody knows it. */
static bool take_policy(GHashTable *tags, const char *name, DmarcPolicy *policy)
{
    const char *text = g_hash_table_lookup(tags, name);
    for (size_t at = 0; text && at < G_N_ELEMENTS(policies); at++)
        if (g_ascii_strcasecmp(text, policies[at]) == 0) {
            *policy = (DmarcPolicy)at;
            return true;
        }
    return !text;
}

/* Has the tag this value, in any case? */
static bool tag_is(GHashTable *tags, const char *name, const char *wanted)
{
    const char *text = g_hash_table_lookup(tags, name);
    return text && g_ascii_strcasecmp(text, wanted) == 0;
}

DmarcReading dmarc_record_read(const char *text, DmarcRecord *record)
{
    g_auto(GStrv) parts = g_strsplit(text, ";", -1);
    char *version = parts[0] ? strchr(parts[0], '=') : NULL;
    if (!version)
        return DMARC_OTHER;
    *version++ = '\0';
    if (g_ascii_strcasecmp(g_strstrip(parts[0]), "v") != 0 || strcmp(g_strstrip(version), "DMARC1") != 0)
        return DMARC_OTHER;
    *record = (DmarcRecord){0};
    g_autoptr(GHashTable) tags = read_tags(parts + 1);
    if (!tags || g_hash_table_contains(tags, "v"))
        return DMARC_INVALID;
    record->suffix = tag_is(tags, "psd", "y")   ? DMARC_SUFFIX_YES
                     : tag_is(tags, "psd", "n") ? DMARC_SUFFIX_NO
                                                : DMARC_SUFFIX_UNKNOWN;
    record->testing = tag_is(tags, "t", "y");
    record->strict_dkim = tag_is(tags, "adkim", "s");
    record->strict_spf = tag_is(tags, "aspf", "s");
    bool known = g_hash_table_contains(tags, "p") && take_policy(tags, "p", &record->policy);
    record->subdomains = record->policy;
    known = take_policy(tags, "sp", &record->subdomains) && known;
    record->missing = record->subdomains;
    if (take_policy(tags, "np", &record->missing) && known)
        return DMARC_VALID;
    /* Without a policy that anybody knows it counts where rua= names somebody who wants reports. */
    record->policy = record->subdomains = record->missing = DMARC_NONE;
    const char *value = g_hash_table_lookup(tags, "rua");
    g_auto(GStrv) uris = g_strsplit(value ? value : "", ",", -1);
    for (char **uri = uris; *uri; uri++) {
        (*uri)[strcspn(*uri, "!")] = '\0'; /* the greatest size of a report */
        if (g_uri_is_valid(g_strstrip(*uri), G_URI_FLAGS_NONE, NULL))
            return DMARC_VALID;
    }
    return DMARC_INVALID;
}

DmarcPolicy dmarc_applied(const DmarcRecord *record)
{
    return record->testing && record->policy != DMARC_NONE ? record->policy - 1 : record->policy;
}

/* ---- the tree walk ---- */

#define WALK_MAX 8

/* A place with one record. */
typedef struct DmarcFound {
    const char *domain; /* in the walk's name */
    DmarcReading reading;
    DmarcRecord record;
} DmarcFound;

typedef struct DmarcWalk {
    char *name;            /* where it starts: in lower case, ASCII */
    DmarcFound found[WALK_MAX]; /* from the longest name to the shortest */
    unsigned count;
} DmarcWalk;

static void walk_clear(DmarcWalk *walk)
{
    g_free(walk->name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DmarcWalk, walk_clear)

/* Return the domain that is asked for after this one, NULL behind the last: one label less, but of a long name at most
 * the last seven labels. */
static const char *place_above(const char *domain)
{
    unsigned labels = 1;
    for (const char *dot = domain; (dot = strchr(dot, '.')) != NULL; dot++)
        labels++;
    do {
        const char *dot = strchr(domain, '.');
        domain = dot && dot[1] ? dot + 1 : NULL;
    } while (domain && --labels >= WALK_MAX);
    return domain;
}

/* Ask for the record of one domain. Of several none counts (RFC 9989, 4.10). */
static NamesAnswer look_up(const Names *names, const char *domain, DmarcFound *found)
{
    const char *const *texts;
    g_autofree char *name = g_strconcat("_dmarc.", domain, NULL);
    NamesAnswer answer = names->text(names->data, name, &texts);
    if (answer != NAMES_FOUND)
        return answer;
    unsigned count = 0;
    for (; *texts; texts++) {
        DmarcRecord record;
        DmarcReading reading = dmarc_record_read(*texts, &record);
        if (reading != DMARC_OTHER && count++ == 0)
            *found = (DmarcFound){domain, reading, record};
    }
    return count == 1 ? NAMES_FOUND : NAMES_NONE;
}

/* Walk from the domain up to a record with psd=, or to the top; own_suffices: or not at all when the domain has one
 * itself. Begin to ask for all names before one answer is waited for. NAMES_FOUND: the walk is complete, whatever it
 * found. NAMES_NONE: the domain is none of the DNS. Others: NAMES_TROUBLE, NAMES_PENDING. */
static NamesAnswer walk_up(const Names *names, const char *domain, bool own_suffices, DmarcWalk *walk)
{
    walk->name = domain_name_ascii(domain);
    if (*walk->name == '[' || !*walk->name)
        return NAMES_NONE;
    DmarcFound ignored;
    for (const char *place = walk->name; place; place = place_above(place))
        look_up(names, place, &ignored);
    for (const char *place = walk->name; place; place = place_above(place)) {
        DmarcFound *found = &walk->found[walk->count];
        NamesAnswer answer = look_up(names, place, found);
        if (answer == NAMES_PENDING || answer == NAMES_TROUBLE)
            return answer;
        if (answer == NAMES_FOUND) {
            walk->count++;
            if (found->record.suffix != DMARC_SUFFIX_UNKNOWN || (own_suffices && place == walk->name))
                break;
        }
    }
    return NAMES_FOUND;
}

/* Choose the organizational domain (RFC 9989, 4.10.2): the last place that was found, but below a public suffix the
 * domain one label below that, on the way to the whole name. */
static const char *organization_of(const DmarcWalk *walk)
{
    if (walk->count == 0)
        return walk->name;
    const DmarcFound *last = &walk->found[walk->count - 1];
    if (last->record.suffix != DMARC_SUFFIX_YES || last->domain == walk->name)
        return last->domain;
    const char *at = last->domain - 1; /* its dot */
    while (at > walk->name && at[-1] != '.')
        at--;
    return at;
}

NamesAnswer dmarc_organization(const Names *names, const char *domain, char **organization)
{
    g_auto(DmarcWalk) walk = {0};
    NamesAnswer answer = walk_up(names, domain, false, &walk);
    if (answer == NAMES_PENDING || answer == NAMES_TROUBLE)
        return answer;
    *organization = g_strdup(organization_of(&walk));
    return NAMES_FOUND;
}

/* An organizational domain is the domain or above it. So most foreign domains cost no question. */
NamesAnswer dmarc_aligned(const Names *names, const char *passed, const char *author, bool strict)
{
    g_autofree char *first = domain_name_ascii(passed), *second = domain_name_ascii(author);
    g_autofree char *own = NULL, *other = NULL;
    if (strcmp(first, second) == 0)
        return NAMES_FOUND;
    if (strict || !domain_name_within(first, strrchr(second, '.') ? strrchr(second, '.') + 1 : second))
        return NAMES_NONE;
    NamesAnswer answer = dmarc_organization(names, author, &own);
    if (answer == NAMES_FOUND && !domain_name_within(first, own))
        return NAMES_NONE;
    if (answer == NAMES_FOUND)
        answer = dmarc_organization(names, passed, &other);
    return answer == NAMES_FOUND && strcmp(own, other) != 0 ? NAMES_NONE : answer;
}

NamesAnswer dmarc_find(const Names *names, const char *domain, DmarcRecord *record, char **where)
{
    g_auto(DmarcWalk) walk = {0};
    NamesAnswer answer = walk_up(names, domain, true, &walk);
    if (answer != NAMES_FOUND)
        return answer;
    /* The record that counts (RFC 9989, 4.10.1): the domain's own, its organization's, the public suffix's. */
    const char *organization = organization_of(&walk);
    const DmarcFound *found = walk.count > 0 ? &walk.found[walk.count - 1] : NULL;
    for (unsigned at = walk.count; at-- > 0;)
        if (walk.found[at].domain == walk.name || walk.found[at].domain == organization)
            found = &walk.found[at];
    if (!found || found->reading != DMARC_VALID)
        return NAMES_NONE;
    DmarcRecord counts = found->record;
    if (found->domain != walk.name) { /* the policy of a record that stands above the domain becomes that for it */
        bool same = counts.missing == counts.subdomains;
        NamesAnswer there = same ? NAMES_FOUND : names->exists(names->data, walk.name);
        if (there != NAMES_FOUND && there != NAMES_NONE)
            return there;
        counts.policy = there == NAMES_NONE ? counts.missing : counts.subdomains;
    }
    *record = counts;
    if (where)
        *where = g_strdup(found->domain);
    return NAMES_FOUND;
}

/* ---- results ---- */

/* Return the domain that a check of DKIM or SPF looked at; g_free(). NULL: it does not say. Mail without a sender of
 * the envelope has the name in HELO instead (RFC 7208, 2.4). */
static char *checked_domain(const char *check)
{
    if (g_str_has_prefix(check, "dkim="))
        return auth_result_property(check, "header.d");
    g_autofree char *sender = auth_result_property(check, "smtp.mailfrom");
    g_autofree char *helo = auth_result_property(check, "smtp.helo");
    const char *found = sender && *sender ? sender : helo, *at = found ? strrchr(found, '@') : NULL;
    return g_strdup(at ? at + 1 : found);
}

static bool verdict_is(const char *check, const char *verdict)
{
    const char *found = strchr(check, '=') + 1;
    return strcspn(found, " ") == strlen(verdict) && g_str_has_prefix(found, verdict);
}

bool dmarc_result(const Names *names, const char *domain, NamesAnswer answer, const DmarcRecord *record,
                  const GPtrArray *checks, char **result)
{
    bool passed = false, waits = false, unknown = false, spf_known = false; /* unknown: the DNS does not say it now */
    *result = NULL;
    if (answer != NAMES_FOUND) {
        *result = g_strdup_printf("dmarc=%s header.from=%s", answer == NAMES_NONE ? "none" : "temperror", domain);
        return true;
    }
    for (guint at = 0; at < checks->len; at++) {
        const char *check = checks->pdata[at];
        bool dkim = g_str_has_prefix(check, "dkim="), spf = g_str_has_prefix(check, "spf=");
        spf_known |= spf;
        if (!dkim && !spf)
            continue;
        bool pass = verdict_is(check, "pass");
        g_autofree char *checked = pass || verdict_is(check, "temperror") ? checked_domain(check) : NULL;
        if (!checked || !*checked)
            continue;
        NamesAnswer aligned = dmarc_aligned(names, checked, domain, dkim ? record->strict_dkim : record->strict_spf);
        passed |= aligned == NAMES_FOUND && pass;
        waits |= aligned == NAMES_PENDING;
        unknown |= aligned == NAMES_TROUBLE || (aligned == NAMES_FOUND && !pass);
    }
    if (waits && !passed)
        return false;
    if (passed || unknown || spf_known)
        *result = g_strdup_printf("dmarc=%s header.from=%s policy.dmarc=%s",
                                  passed    ? "pass"
                                  : unknown ? "temperror"
                                            : "fail",
                                  domain, policies[dmarc_applied(record)]);
    return true;
}
