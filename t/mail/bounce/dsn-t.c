/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce/dsn.h"

#include <string.h>

#include "mail/bounce/bounce.h"
#include "mail/text/notice.h"
#include "t/suite.h"

#define SECOND INT64_C(1000000)

static void test_text(void)
{
    const DsnRecipient recipients[] = {
        {"anne@example.org", false, "5.1.1", "550 5.1.1 no\r\nsuch user \xff", "mx.example.org[192.0.2.1]:25"},
        {"b\xc3\xa9@example.org", true, "4.2.2", NULL, "[192.0.2.1]:25"},
    };
    const Dsn dsn = {"lists.example.com", 1000 * SECOND, 2000 * SECOND, 3000 * SECOND, recipients, 2};
    g_autofree char *text = dsn_delivery_status(&dsn);
    g_auto(GStrv) lines = g_strsplit(text, "\r\n", -1);
    const char *const expected[] = {
        "Reporting-MTA: dns; lists.example.com",
        "Arrival-Date: ",
        "",
        "Final-Recipient: rfc822; anne@example.org",
        "Action: failed",
        "Status: 5.1.1",
        "Remote-MTA: dns; mx.example.org",
        "Diagnostic-Code: smtp; 550 5.1.1 no  such user ?",
        "Last-Attempt-Date: ",
        "",
        "Final-Recipient: utf-8; b\\x{E9}@example.org",
        "Action: delayed",
        "Status: 4.2.2",
        "Last-Attempt-Date: ",
        "Will-Retry-Until: ",
        "",
    };
    g_assert_cmpuint(g_strv_length(lines), ==, G_N_ELEMENTS(expected));
    for (size_t at = 0; at < G_N_ELEMENTS(expected); at++)
        g_assert_true(g_str_has_suffix(expected[at], ": ") ? g_str_has_prefix(lines[at], expected[at])
                                                           : strcmp(lines[at], expected[at]) == 0);
}

/* Our own reports are read by the same eyes as everybody's. */
static void test_recognised(void)
{
    const DsnRecipient recipients[] = {
        {"anne@example.org", false, "5.1.1", "550 5.1.1 no such user", "mx.example.org[192.0.2.1]:25"},
        {"bart@example.org", true, "4.2.2", "452 4.2.2 full", NULL},
    };
    const Dsn dsn = {"lists.example.com", 1000 * SECOND, 2000 * SECOND, 3000 * SECOND, recipients, 2};
    g_autofree char *status = dsn_delivery_status(&dsn);
    g_autoptr(GBytes) about = g_bytes_new_static("Subject: x\r\n\r\n", 14);
    const Notice notice = {.from = "test-owner@example.com",
                           .to = "test-bounces@example.com",
                           .text = "Subject: Undelivered\n\nText.\n",
                           .id = "1@example.com",
                           .date = 2000 * SECOND,
                           .replied = true,
                           .attach = NOTICE_HEADER,
                           .about = about,
                           .delivery_status = status};
    g_autoptr(GPtrArray) pieces = notice_compose(&notice);
    g_autoptr(GString) mail = g_string_new(NULL);
    for (guint at = 0; at < pieces->len; at++)
        g_string_append_len(mail, g_bytes_get_data(pieces->pdata[at], NULL),
                            (gssize)g_bytes_get_size(pieces->pdata[at]));
    g_assert_nonnull(strstr(mail->str, "Content-Type: multipart/report; report-type=delivery-status; boundary="));
    g_autoptr(Bounce) bounce = bounce_parse(mail->str, mail->len);
    g_assert_cmpuint(bounce->recipients->len, ==, 2);
    const BounceRecipient *first = bounce->recipients->pdata[0], *second = bounce->recipients->pdata[1];
    g_assert_cmpstr(first->address, ==, "anne@example.org");
    g_assert_cmpint(first->class, ==, BOUNCE_PERMANENT);
    g_assert_cmpstr(second->address, ==, "bart@example.org");
    g_assert_cmpint(second->class, ==, BOUNCE_DELAYED);
}

SUITE("dsn")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mail/dsn/text", test_text);
    g_test_add_func("/mail/dsn/recognised", test_recognised);
    return g_test_run();
}
