/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/dmarc.h"
#include "t/suite.h"

#include <string.h>

/* ---- a DNS of our own ---- */

#define UNSET ((DmarcPolicy)9)
#define THREE(P, SP, NP) .policy = DMARC_##P, .subdomains = DMARC_##SP, .missing = DMARC_##NP

typedef struct Zone {
    const char *name, *text; /* text NULL: no name server answers; "?": not known now */
} Zone;

static const Zone *zone;
static const char *only[3];
static GHashTable *asked; /* names of questions for texts; NULL: nobody counts */

static NamesAnswer text(void *data, const char *name, const char *const **texts)
{
    unsigned count = 0;
    if (asked)
        g_hash_table_add(asked, g_strdup(name));
    for (const Zone *at = zone; at->name; at++) {
        if (strcmp(at->name, name) != 0)
            continue;
        if (!at->text || strcmp(at->text, "?") == 0)
            return at->text ? NAMES_PENDING : NAMES_TROUBLE;
        g_assert_cmpuint(count, <, 2);
        only[count++] = at->text;
    }
    only[count] = NULL;
    *texts = only;
    return count ? NAMES_FOUND : NAMES_NONE;
}

static NamesAnswer exists(void *data, const char *name)
{
    return g_str_has_prefix(name, "here") ? NAMES_FOUND : NAMES_NONE;
}

static const Names names = {text, exists, NULL};

/* ---- */

static void assert_same(const DmarcRecord *one, const DmarcRecord *other)
{
    g_assert_cmpint(one->policy, ==, other->policy);
    g_assert_cmpint(one->subdomains, ==, other->subdomains);
    g_assert_cmpint(one->missing, ==, other->missing);
    g_assert_cmpint(one->suffix, ==, other->suffix);
    g_assert_cmpint(one->testing, ==, other->testing);
    g_assert_cmpint(one->strict_dkim, ==, other->strict_dkim);
    g_assert_cmpint(one->strict_spf, ==, other->strict_spf);
}

static void test_record(void)
{
    static const struct {
        const char *text;
        DmarcReading reading;
        DmarcRecord record;
    } cases[] = {
        {"v=DMARC1; p=reject", DMARC_VALID, {THREE(REJECT, REJECT, REJECT)}},
        {"v=DMARC1;p=none;sp=quarantine", DMARC_VALID, {THREE(NONE, QUARANTINE, QUARANTINE)}},
        {" v = DMARC1 ; p = Reject ; sp = none ; np=reject ;", DMARC_VALID, {THREE(REJECT, NONE, REJECT)}},
        {"V=DMARC1;P=REJECT", DMARC_VALID, {THREE(REJECT, REJECT, REJECT)}},
        {"v=DMARC1; np=none; p=reject", DMARC_VALID, {THREE(REJECT, REJECT, NONE)}},
        {"v=DMARC1; p=reject; junk; adkim=s; aspf=r", DMARC_VALID,
         {THREE(REJECT, REJECT, REJECT), .strict_dkim = true}},
        {"v=DMARC1; p=reject; aspf=S; adkim=x", DMARC_VALID,
         {THREE(REJECT, REJECT, REJECT), .strict_spf = true}},
        {"v=DMARC1; p=none; psd=y", DMARC_VALID, {.suffix = DMARC_SUFFIX_YES}},
        {"v=DMARC1; p=none; psd = N", DMARC_VALID, {.suffix = DMARC_SUFFIX_NO}},
        {"v=DMARC1; p=none; psd=u", DMARC_VALID, {.suffix = DMARC_SUFFIX_UNKNOWN}},
        {"v=DMARC1; p=none; psd=yes", DMARC_VALID, {.suffix = DMARC_SUFFIX_UNKNOWN}},
        {"v=DMARC1; p=reject; t=y", DMARC_VALID, {THREE(REJECT, REJECT, REJECT), .testing = true}},
        {"v=DMARC1; p=none; t=n", DMARC_VALID, {0}},
        {"v=DMARC1; p=none; t=yes", DMARC_VALID, {0}},
        /* Tags of the older RFC. */
        {"v=DMARC1; p=reject; pct=0", DMARC_VALID, {THREE(REJECT, REJECT, REJECT)}},
        {"v=DMARC1; pct=many; rf=x; ri=; p=quarantine", DMARC_VALID,
         {THREE(QUARANTINE, QUARANTINE, QUARANTINE)}},
        /* No policy that can be followed, but somebody who wants to know. */
        {"v=DMARC1; rua=mailto:x@example.com", DMARC_VALID, {0}},
        {"v=DMARC1; p=reject; sp=foo; adkim=s; rua=nobody, mailto:x@example.com!10m", DMARC_VALID,
         {THREE(NONE, NONE, NONE), .strict_dkim = true}},
        {"v=DMARC1", DMARC_INVALID, {0}},
        {"v=DMARC1; psd=n", DMARC_INVALID, {.suffix = DMARC_SUFFIX_NO}},
        {"v=DMARC1; p=; junk; =; p", DMARC_INVALID, {0}},
        {"v=DMARC1; p=reject; sp=foo", DMARC_INVALID, {0}},
        {"v=DMARC1; p=reject; np=", DMARC_INVALID, {0}},
        {"v=DMARC1; p=rejected; rua=nobody", DMARC_INVALID, {0}},
        {"v=DMARC1; p=reject; p=none", DMARC_INVALID, {0}},
        {"v=DMARC1; p=reject; P = reject", DMARC_INVALID, {0}},
        {"v=DMARC1; p=reject; v=DMARC1", DMARC_INVALID, {0}},
        {"p=reject; v=DMARC1", DMARC_OTHER, {0}},
        {"v=dmarc1; p=reject", DMARC_OTHER, {0}},
        {"v=DMARC2; p=reject", DMARC_OTHER, {0}},
        {"v=DMARC10; p=reject", DMARC_OTHER, {0}},
        {"v=DMARC1 p=reject", DMARC_OTHER, {0}},
        {"v", DMARC_OTHER, {0}},
        {"v=spf1 -all", DMARC_OTHER, {0}},
        {"", DMARC_OTHER, {0}},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        DmarcRecord record = {0};
        g_test_message("%s", cases[at].text);
        g_assert_cmpint(dmarc_record_read(cases[at].text, &record), ==, cases[at].reading);
        if (cases[at].reading != DMARC_OTHER)
            assert_same(&record, &cases[at].record);
    }
}

static void test_applied(void)
{
    static const struct {
        const char *text;
        DmarcPolicy applied;
    } cases[] = {{"v=DMARC1; p=reject; t=y", DMARC_QUARANTINE}, {"v=DMARC1; p=quarantine; t=Y", DMARC_NONE},
                 {"v=DMARC1; p=none; t=y", DMARC_NONE}, {"v=DMARC1; p=reject; t=n", DMARC_REJECT},
                 {"v=DMARC1; p=reject", DMARC_REJECT}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        DmarcRecord record;
        g_assert_cmpint(dmarc_record_read(cases[at].text, &record), ==, DMARC_VALID);
        g_assert_cmpint(dmarc_applied(&record), ==, cases[at].applied);
    }
}

/* However many tags nobody knows stand before it. */
static void test_long_record(void)
{
    g_autoptr(GString) text = g_string_new("v=DMARC1");
    DmarcRecord record;
    for (int at = 0; at < 1000; at++)
        g_string_append_printf(text, "; x%d=y", at);
    g_string_append(text, "; p=reject");
    g_assert_cmpint(dmarc_record_read(text->str, &record), ==, DMARC_VALID);
    g_assert_cmpint(record.policy, ==, DMARC_REJECT);
}

/* The examples of RFC 9989, 4.10.2 and B.4, and what they leave out. */
static const Zone tree[] = {
    {"_dmarc.example.com", "v=DMARC1; p=reject"},
    {"_dmarc.signing.example.com", "v=DMARC1; p=reject"},
    {"_dmarc.own.example.com", "v=DMARC1; p=none; psd=n"},
    {"_dmarc.mail.mid.example.com", "v=DMARC1; p=none"},
    {"_dmarc.bank.example", "v=DMARC1; p=reject; psd=y"},
    {"_dmarc.giant.bank.example", "v=DMARC1; p=quarantine"},
    {"_dmarc.deep.small.bank.example", "v=DMARC1; p=none"},
    {"_dmarc.gov.example.net", "v=DMARC1; p=none; psd=y"},
    {"_dmarc.example.net", "v=DMARC1; p=none"},
    {"_dmarc.two.example.org", "v=DMARC1; p=none; psd=n"},
    {"_dmarc.two.example.org", "v=DMARC1; p=none; psd=n"},
    {"_dmarc.example.org", "v=DMARC1; p=none"},
    {"_dmarc.odd.example.org", "v=DMARC1; p=bad; psd=n"},
    {"_dmarc.b.c.d.e.f.g.example.com", "v=DMARC1; p=none; psd=n"}, /* eight labels: asked for from nowhere below */
    {"_dmarc.c.d.e.f.h.example.com", "v=DMARC1; p=none; psd=n"},
    {"_dmarc.xn--bcher-kva.example", "v=DMARC1; p=reject"},
    {"_dmarc.down.example.net", NULL},
    {"_dmarc.later.example.net", "?"},
    {NULL, NULL},
};

static void test_organization(void)
{
    static const struct {
        const char *domain, *organization;
    } cases[] = {
        {"example.com", "example.com"},
        {"A.b.Example.COM.", "example.com"},
        {"signing.example.com", "example.com"},
        {"a.own.example.com", "own.example.com"},
        {"own.example.com", "own.example.com"},
        {"a.mail.mid.example.com", "example.com"},
        {"giant.bank.example", "giant.bank.example"},
        {"mail.giant.bank.example", "giant.bank.example"},
        {"mail.mega.bank.example", "mega.bank.example"},
        {"x.deep.small.bank.example", "small.bank.example"},
        {"a.b.gov.example.net", "b.gov.example.net"}, /* psd=y ends the walk */
        {"bank.example", "bank.example"}, /* psd=y where the walk starts is no suffix for it */
        {"a.two.example.org", "example.org"}, /* of two records none counts, and the walk goes on */
        {"a.odd.example.org", "odd.example.org"},
        {"mail.example.co.uk", "mail.example.co.uk"}, /* no record: itself */
        {"a.b.c.d.e.f.g.h.i.j.k.example.com", "example.com"},
        {"b.c.d.e.f.g.example.com", "b.c.d.e.f.g.example.com"},
        {"mail.a.b.c.d.e.f.g.example.com", "example.com"},
        {"a.b.c.d.e.f.h.example.com", "c.d.e.f.h.example.com"},
        {"m\303\274ller.b\303\274cher.example", "xn--bcher-kva.example"},
        {"[192.0.2.1]", "[192.0.2.1]"},
        {"localhost", "localhost"},
        {"", ""},
    };
    zone = tree;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *found = NULL;
        g_assert_cmpint(dmarc_organization(&names, cases[at].domain, &found), ==, NAMES_FOUND);
        g_assert_cmpstr(found, ==, cases[at].organization);
    }
    g_autofree char *none = NULL;
    g_assert_cmpint(dmarc_organization(&names, "a.down.example.net", &none), ==, NAMES_TROUBLE);
    g_assert_cmpint(dmarc_organization(&names, "a.later.example.net", &none), ==, NAMES_PENDING);
    g_assert_null(none);
}

static void test_aligned(void)
{
    static const struct {
        const char *passed, *author;
        bool strict;
        NamesAnswer aligned;
        unsigned questions; /* at most */
    } cases[] = {
        {"a.example.com", "Example.com", false, NAMES_FOUND, 3},
        {"a.example.com", "b.example.com", false, NAMES_FOUND, 4},
        {"a.example.com", "example.com", true, NAMES_NONE, 0},
        {"EXAMPLE.com", "example.com", true, NAMES_FOUND, 0},
        {"a.own.example.com", "own.example.com", false, NAMES_FOUND, 4},
        {"a.own.example.com", "example.com", false, NAMES_NONE, 4},
        {"example.com", "own.example.com", false, NAMES_NONE, 3},
        {"mail.giant.bank.example", "giant.bank.example", false, NAMES_FOUND, 4},
        {"mail.mega.bank.example", "giant.bank.example", false, NAMES_NONE, 3},
        {"a.example.co.uk", "b.example.co.uk", false, NAMES_NONE, 4},
        {"example.net", "a.example.com", false, NAMES_NONE, 0}, /* nothing in common: nobody is asked */
        {"other.com", "a.example.com", false, NAMES_NONE, 3},
        {"xample.com", "example.com", false, NAMES_NONE, 2},
        {"a.down.example.net", "down.example.net", false, NAMES_TROUBLE, 3},
        {"a.later.example.net", "later.example.net", false, NAMES_PENDING, 3},
    };
    zone = tree;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        asked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_test_message("%s %s", cases[at].passed, cases[at].author);
        g_assert_cmpint(dmarc_aligned(&names, cases[at].passed, cases[at].author, cases[at].strict), ==,
                        cases[at].aligned);
        g_assert_cmpuint(g_hash_table_size(asked), <=, cases[at].questions);
        g_clear_pointer(&asked, g_hash_table_unref);
    }
}

/* However long the name is, eight questions find all that is to be found, and they are asked at once. */
static void test_eight_questions(void)
{
    static const char *const expected[] = {
        "_dmarc.a.b.c.d.e.f.g.h.i.j.mail.example.com", "_dmarc.g.h.i.j.mail.example.com",
        "_dmarc.h.i.j.mail.example.com", "_dmarc.i.j.mail.example.com", "_dmarc.j.mail.example.com",
        "_dmarc.mail.example.com", "_dmarc.example.com", "_dmarc.com"};
    static const Zone later[] = {{"_dmarc.a.b.c.d.e.f.g.h.i.j.mail.example.com", "?"}, {NULL, NULL}};
    DmarcRecord record;
    g_autoptr(GString) labels = g_string_new(NULL);
    for (int at = 0; at < 120; at++)
        g_string_append(labels, "x.");
    g_string_append(labels, "example.com");
    zone = later;
    asked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_assert_cmpint(dmarc_find(&names, "a.b.c.d.e.f.g.h.i.j.mail.example.com", &record, NULL), ==, NAMES_PENDING);
    g_assert_cmpuint(g_hash_table_size(asked), ==, G_N_ELEMENTS(expected));
    for (size_t at = 0; at < G_N_ELEMENTS(expected); at++)
        g_assert_true(g_hash_table_contains(asked, expected[at]));
    g_hash_table_remove_all(asked);
    dmarc_find(&names, labels->str, &record, NULL);
    g_assert_cmpuint(g_hash_table_size(asked), ==, 8);
    g_clear_pointer(&asked, g_hash_table_unref);
}

static void test_find(void)
{
    static const Zone all[] = {
        {"_dmarc.reject.example", "v=DMARC1; p=reject; sp=none; np=quarantine"},
        {"_dmarc.reject.example", "v=spf1 -all"},
        {"_dmarc.own.reject.example", "v=DMARC1; p=quarantine"},
        {"_dmarc.two.example", "v=DMARC1; p=none"},
        {"_dmarc.two.example", "v=DMARC1; p=reject"},
        {"_dmarc.two.reject.example", "v=DMARC1; p=none"},
        {"_dmarc.two.reject.example", "v=DMARC1; p=none"},
        {"_dmarc.odd.reject.example", "v=DMARC1; p=reject; p=reject"},
        {"_dmarc.half.example", "v=DMARC1; p=bad"},
        {"_dmarc.half.example", "v=DMARC1; p=reject"},
        {"_dmarc.other.reject.example", "v=spf1 -all"},
        {"_dmarc.down.example", NULL},
        {"_dmarc.later.example", "?"},
        {"_dmarc.gov.uk", "v=DMARC1; p=reject; sp=quarantine; np=reject; psd=y"},
        {"_dmarc.with.gov.uk", "v=DMARC1; p=none"},
        {"_dmarc.a.without.gov.uk", "v=DMARC1; p=none"},
        {"_dmarc.mid.top.example", "v=DMARC1; p=none; sp=reject"},
        {"_dmarc.cut.mid.top.example", "v=DMARC1; p=none; sp=quarantine; psd=n"},
        {"_dmarc.top.example", "v=DMARC1; p=none; sp=none; np=reject"},
        {"_dmarc.mute.cut.mid.top.example", "v=DMARC1; psd=n"},
        {"_dmarc.own.down.example", "v=DMARC1; p=reject"},
        {NULL, NULL},
    };
    static const struct {
        const char *domain;
        NamesAnswer answer;
        DmarcPolicy policy;
        const char *where;
    } cases[] = {
        {"reject.example", NAMES_FOUND, DMARC_REJECT, "reject.example"},
        {"REJECT.example.", NAMES_FOUND, DMARC_REJECT, "reject.example"},
        {"own.reject.example", NAMES_FOUND, DMARC_QUARANTINE, "own.reject.example"},
        {"here.reject.example", NAMES_FOUND, DMARC_NONE, "reject.example"},
        {"gone.reject.example", NAMES_FOUND, DMARC_QUARANTINE, "reject.example"},
        {"two.example", NAMES_NONE, DMARC_NONE, NULL},
        {"here.two.example", NAMES_NONE, DMARC_NONE, NULL},
        {"two.reject.example", NAMES_FOUND, DMARC_QUARANTINE, "reject.example"}, /* neither counts */
        {"odd.reject.example", NAMES_NONE, DMARC_NONE, NULL},
        {"half.example", NAMES_NONE, DMARC_NONE, NULL},
        {"other.reject.example", NAMES_FOUND, DMARC_QUARANTINE, "reject.example"},
        {"none.example", NAMES_NONE, DMARC_NONE, NULL},
        {"down.example", NAMES_TROUBLE, DMARC_NONE, NULL},
        {"x.down.example", NAMES_TROUBLE, DMARC_NONE, NULL},
        {"later.example", NAMES_PENDING, DMARC_NONE, NULL},
        {"here.gov.uk", NAMES_FOUND, DMARC_QUARANTINE, "gov.uk"},
        {"gone.gov.uk", NAMES_FOUND, DMARC_REJECT, "gov.uk"},
        {"here.a.with.gov.uk", NAMES_FOUND, DMARC_NONE, "with.gov.uk"}, /* a suffix is asked last */
        {"here.a.without.gov.uk", NAMES_FOUND, DMARC_QUARANTINE, "gov.uk"}, /* what is between is not asked */
        {"a.without.gov.uk", NAMES_FOUND, DMARC_NONE, "a.without.gov.uk"},
        {"mid.top.example", NAMES_FOUND, DMARC_NONE, "mid.top.example"},
        {"here.mid.top.example", NAMES_FOUND, DMARC_NONE, "top.example"}, /* the shortest name, not the nearest */
        {"here.cut.mid.top.example", NAMES_FOUND, DMARC_QUARANTINE, "cut.mid.top.example"}, /* but psd=n ends it */
        {"gone.cut.mid.top.example", NAMES_FOUND, DMARC_QUARANTINE, "cut.mid.top.example"},
        {"here.mute.cut.mid.top.example", NAMES_NONE, DMARC_NONE, NULL},
        {"own.down.example", NAMES_FOUND, DMARC_REJECT, "own.down.example"}, /* nobody above is needed */
        {"[192.0.2.1]", NAMES_NONE, DMARC_NONE, NULL},
        {"", NAMES_NONE, DMARC_NONE, NULL},
    };
    zone = all;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        DmarcRecord record = {.policy = UNSET};
        g_autofree char *where = NULL;
        g_test_message("%s", cases[at].domain);
        g_assert_cmpint(dmarc_find(&names, cases[at].domain, &record, &where), ==, cases[at].answer);
        g_assert_cmpint(record.policy, ==, cases[at].answer == NAMES_FOUND ? cases[at].policy : UNSET);
        g_assert_cmpstr(where, ==, cases[at].where);
    }
}

static void test_result(void)
{
    static const struct {
        NamesAnswer answer;
        bool strict;
        const char *checks, *result;
    } cases[] = {
        {NAMES_FOUND, false, "dkim=pass header.d=example.org", "pass header.from=mail.example.org policy.dmarc=reject"},
        {NAMES_FOUND, true, "dkim=pass header.d=mail.example.org", "pass"},
        {NAMES_FOUND, false, "dkim=pass header.d=cut.example.org|spf=none smtp.mailfrom=a@example.org", "fail"},
        {NAMES_FOUND, false, "dkim=pass header.d=down.example.org|spf=none smtp.mailfrom=a@example.org", "temperror"},
        {NAMES_FOUND, false, "dkim=fail header.d=down.example.org|spf=none smtp.mailfrom=a@example.org", "fail"},
        {NAMES_FOUND, false, "dkim=pass header.d=down.example.org|spf=pass smtp.mailfrom=a@example.org", "pass"},
        {NAMES_FOUND, false, "dkim=pass header.d=later.example.org|spf=pass smtp.mailfrom=a@example.org", "pass"},
        {NAMES_FOUND, false, "dkim=pass header.d=later.example.org|spf=none smtp.mailfrom=a@example.org", "?"},
        {NAMES_FOUND, true, "dkim=pass header.d=example.org|spf=none smtp.mailfrom=example.net", "fail"},
        {NAMES_FOUND, false, "dkim=fail header.d=example.org", NULL},
        {NAMES_FOUND, false, "dkim=pass header.d=example.net", NULL},
        {NAMES_FOUND, false, "dkim=none|arc=pass", NULL},
        {NAMES_FOUND, false, "dkim=none|spf=fail smtp.mailfrom=x@example.org",
         "fail header.from=mail.example.org policy.dmarc=reject"},
        {NAMES_FOUND, false, "dkim=none|spf=pass smtp.mailfrom=x@example.net", "fail"},
        {NAMES_FOUND, false, "dkim=fail header.d=mail.example.org|spf=pass smtp.mailfrom=x@example.org", "pass"},
        {NAMES_FOUND, false, "dkim=none|spf=pass smtp.mailfrom=example.org", "pass"},
        {NAMES_FOUND, false, "dkim=none|spf=pass smtp.helo=mx.example.org", "pass"},
        {NAMES_FOUND, false, "dkim=none|spf=pass smtp.mailfrom=a@example.net smtp.helo=mx.example.org", "fail"},
        {NAMES_FOUND, false, "dkim=temperror header.d=example.org|spf=fail smtp.mailfrom=example.net", "temperror"},
        {NAMES_FOUND, false, "dkim=fail reason=\"a header.d=example.org\" header.d=example.net|spf=fail", "fail"},
        {NAMES_NONE, false, "dkim=pass header.d=example.org", "none header.from=mail.example.org"},
        {NAMES_TROUBLE, false, "dkim=pass header.d=example.org", "temperror header.from=mail.example.org"},
    };
    static const Zone results[] = {{"_dmarc.example.org", "v=DMARC1; p=reject"},
                                   {"_dmarc.cut.example.org", "v=DMARC1; p=reject; psd=n"},
                                   {"_dmarc.down.example.org", NULL}, {"_dmarc.later.example.org", "?"}, {NULL, NULL}};
    zone = results;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        DmarcRecord record = {.policy = DMARC_REJECT, .strict_dkim = cases[at].strict, .strict_spf = cases[at].strict};
        g_auto(GStrv) texts = g_strsplit(cases[at].checks, "|", -1);
        g_autoptr(GPtrArray) checks = g_ptr_array_new();
        for (char **check = texts; *check; check++)
            g_ptr_array_add(checks, *check);
        g_autofree char *result = NULL, *expected = g_strconcat("dmarc=", cases[at].result, NULL);
        bool known = dmarc_result(&names, "mail.example.org", cases[at].answer, &record, checks, &result);
        g_test_message("%s", cases[at].checks);
        g_assert_cmpint(known, ==, g_strcmp0(cases[at].result, "?") != 0);
        if (!known)
            continue;
        if (cases[at].result)
            g_assert_true(result && g_str_has_prefix(result, expected));
        else
            g_assert_null(result);
    }
}

SUITE("dmarc")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dmarc/record", test_record);
    g_test_add_func("/dmarc/long record", test_long_record);
    g_test_add_func("/dmarc/applied", test_applied);
    g_test_add_func("/dmarc/organization", test_organization);
    g_test_add_func("/dmarc/aligned", test_aligned);
    g_test_add_func("/dmarc/eight questions", test_eight_questions);
    g_test_add_func("/dmarc/find", test_find);
    g_test_add_func("/dmarc/result", test_result);
    return g_test_run();
}
