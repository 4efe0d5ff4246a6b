/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/config_check.h"
#include "t/suite.h"

#include <glib.h>

static void expect(const char *where, const char *value)
{
    g_autofree char *found = conninfo_value(where, "sslcert");
    g_assert_cmpstr(found, ==, value);
}

static void test_url(void)
{
    expect("postgresql://listrunner@db/lists?sslmode=verify-full&sslcert=/etc/a.crt", "/etc/a.crt");
    expect("postgres:///lists?sslcert=%2Fetc%2Fwith%20blank.crt&host=db", "/etc/with blank.crt");
    expect("postgresql:///lists?sslcert=/a.crt&sslcert=/b.crt", "/b.crt");
    expect("postgresql:///lists?sslcert=", "");
    expect("postgresql:///lists?xsslcert=/a.crt&sslcertx=/b.crt&sslcert", NULL);
    expect("postgresql://sslcert=a/lists", NULL);
    expect("postgresql:///lists", NULL);
}

static void test_pairs(void)
{
    expect("host=db dbname=lists sslcert=/etc/a.crt user=listrunner", "/etc/a.crt");
    expect(" host = db  sslcert = '/etc/it\\'s a.crt' user=x", "/etc/it's a.crt");
    expect("sslcert=/etc/with\\ blank.crt", "/etc/with blank.crt");
    expect("sslcert=/a.crt sslcert=/b.crt", "/b.crt");
    expect("options='-c x=1 sslcert=/a.crt' host=db", NULL);
    expect("sslcert='' host=db", "");
    expect("sslcert='/a.crt", "/a.crt");
    expect("host=db sslcert", NULL);
    expect("sslcertx=/a.crt", NULL);
    expect("", NULL);
}

SUITE("conninfo")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/conninfo/url", test_url);
    g_test_add_func("/conninfo/pairs", test_pairs);
    return g_test_run();
}
