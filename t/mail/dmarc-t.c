/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/dmarc.h"

#include <string.h>

/* ---- a DNS of our own ---- */

typedef struct Zone {
    const char *name, *text; /* text NULL: no name server answers; "?": not known now */
} Zone;

static const Zone *zone;
static const char *only[3];

static NamesAnswer text(void *data, const char *name, const char *const **texts)
{
    unsigned count = 0;
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
    g_assert_cmpint(one->strict_dkim, ==, other->strict_dkim);
    g_assert_cmpint(one->strict_spf, ==, other->strict_spf);
}

static void test_record(void)
{
    static const struct {
        const char *text;
        bool is_one;
        DmarcRecord record;
    } cases[] = {
        {"v=DMARC1; p=reject", true, {DMARC_REJECT, DMARC_REJECT, DMARC_REJECT, false, false}},
        {"v=DMARC1;p=none;sp=quarantine", true, {DMARC_NONE, DMARC_QUARANTINE, DMARC_QUARANTINE, false, false}},
        {" v = DMARC1 ; p = Reject ; sp = none ; np=reject ;", true,
         {DMARC_REJECT, DMARC_NONE, DMARC_REJECT, false, false}},
        {"v=DMARC1; p=reject; pct=0", true, {DMARC_QUARANTINE, DMARC_QUARANTINE, DMARC_QUARANTINE, false, false}},
        {"v=DMARC1; p=quarantine; pct=0", true, {DMARC_NONE, DMARC_NONE, DMARC_NONE, false, false}},
        {"v=DMARC1; p=reject; pct=5", true, {DMARC_REJECT, DMARC_REJECT, DMARC_REJECT, false, false}},
        {"v=DMARC1; rua=mailto:x@example.com", true, {DMARC_NONE, DMARC_NONE, DMARC_NONE, false, false}},
        {"v=DMARC1; p=; junk; =; p", true, {DMARC_NONE, DMARC_NONE, DMARC_NONE, false, false}},
        {"v=DMARC1; p=reject; adkim=s; aspf=r", true, {DMARC_REJECT, DMARC_REJECT, DMARC_REJECT, true, false}},
        {"v=DMARC1; p=reject; aspf=S; adkim=x; pct=0", true,
         {DMARC_QUARANTINE, DMARC_QUARANTINE, DMARC_QUARANTINE, false, true}},
        {"p=reject; v=DMARC1", false, {0}},
        {"v=DMARC2; p=reject", false, {0}},
        {"v=spf1 -all", false, {0}},
        {"", false, {0}},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        DmarcRecord record = {0};
        g_assert_true(dmarc_record_read(cases[at].text, &record) == cases[at].is_one);
        if (cases[at].is_one)
            assert_same(&record, &cases[at].record);
    }
}

static void test_organization(void)
{
    static const char *const cases[][2] = {
        {"example.com", "example.com"},       {"A.b.Example.COM.", "example.com"},
        {"mail.example.co.uk", "example.co.uk"}, {"co.uk", "co.uk"},
        {"m\303\274ller.b\303\274cher.example", "xn--bcher-kva.example"},
        {"[192.0.2.1]", "[192.0.2.1]"},       {"localhost", "localhost"},
        {"", ""},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *found = dmarc_organization(cases[at][0]);
        g_assert_cmpstr(found, ==, cases[at][1]);
    }
    g_assert_true(dmarc_aligned("a.example.com", "Example.com", false));
    g_assert_false(dmarc_aligned("a.example.com", "example.com", true));
    g_assert_false(dmarc_aligned("a.co.uk", "b.co.uk", false));
}

static void test_find(void)
{
    static const Zone all[] = {
        {"_dmarc.reject.example", "v=DMARC1; p=reject; sp=none; np=quarantine"},
        {"_dmarc.reject.example", "v=spf1 -all"},
        {"_dmarc.own.reject.example", "v=DMARC1; p=quarantine"},
        {"_dmarc.two.example", "v=DMARC1; p=reject"},
        {"_dmarc.two.example", "v=DMARC1; p=none"},
        {"_dmarc.down.example", NULL},
        {"_dmarc.later.example", "?"},
        {"_dmarc.gov.uk", "v=DMARC1; p=reject; sp=quarantine; np=reject"},
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
        {"none.example", NAMES_NONE, DMARC_NONE, NULL},
        {"down.example", NAMES_TROUBLE, DMARC_NONE, NULL},
        {"x.down.example", NAMES_TROUBLE, DMARC_NONE, NULL},
        {"later.example", NAMES_PENDING, DMARC_NONE, NULL},
        {"here.gov.uk", NAMES_FOUND, DMARC_QUARANTINE, "gov.uk"},
        {"gone.gov.uk", NAMES_FOUND, DMARC_REJECT, "gov.uk"},
        {"[192.0.2.1]", NAMES_NONE, DMARC_NONE, NULL},
        {"", NAMES_NONE, DMARC_NONE, NULL},
    };
    zone = all;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        DmarcRecord record = {0};
        g_autofree char *where = NULL;
        g_test_message("%s", cases[at].domain);
        g_assert_cmpint(dmarc_find(&names, cases[at].domain, &record, &where), ==, cases[at].answer);
        if (cases[at].answer == NAMES_FOUND)
            g_assert_cmpint(record.policy, ==, cases[at].policy);
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
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        DmarcRecord record = {.policy = DMARC_REJECT, .strict_dkim = cases[at].strict, .strict_spf = cases[at].strict};
        g_auto(GStrv) texts = g_strsplit(cases[at].checks, "|", -1);
        g_autoptr(GPtrArray) checks = g_ptr_array_new();
        for (char **check = texts; *check; check++)
            g_ptr_array_add(checks, *check);
        g_autofree char *result = dmarc_result("mail.example.org", cases[at].answer, &record, checks);
        g_autofree char *expected = g_strconcat("dmarc=", cases[at].result, NULL);
        g_test_message("%s", cases[at].checks);
        if (cases[at].result)
            g_assert_true(result && g_str_has_prefix(result, expected));
        else
            g_assert_null(result);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dmarc/record", test_record);
    g_test_add_func("/dmarc/organization", test_organization);
    g_test_add_func("/dmarc/find", test_find);
    g_test_add_func("/dmarc/result", test_result);
    return g_test_run();
}
