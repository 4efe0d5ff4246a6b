/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that each address that can be a member is found in a report about it, however the report writes it; and that the
 * names in From and To are looked up in a time that does not grow with their number. */
#include <string.h>

#include "mail/bounce/bounce.h"
#include "mail/bounce/dsn.h"
#include "t/addresses.h"
#include "t/doubling.h"
#include "t/suite.h"

/* The one address that the mail reports; NULL: not one. */
static char *reported(const char *mail)
{
    g_autoptr(Bounce) bounce = bounce_parse(mail, strlen(mail));
    return bounce->recipients->len == 1 ? g_strdup(((BounceRecipient *)bounce->recipients->pdata[0])->address) : NULL;
}

static char *report_with(const char *status)
{
    return g_strdup_printf("From: MAILER-DAEMON@mx.example\nContent-Type: multipart/report; "
                           "report-type=delivery-status; boundary=x\n\n--x\n\nSorry.\n--x\n"
                           "Content-Type: message/delivery-status\n\n%s\n--x--\n",
                           status);
}

static void test_delivery_status(void)
{
    for (const char *const *address = addresses_good; *address; address++) {
        g_autofree char *plain = g_strdup_printf("Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; %s\n"
                                                 "Action: failed\nStatus: 5.1.1\n",
                                                 *address);
        g_autofree char *mail = report_with(plain), *found = reported(mail);
        g_assert_cmpstr(found, ==, *address);
        /* The same as we write it. */
        DsnRecipient recipient = {.address = *address, .status = "5.1.1"};
        Dsn dsn = {.reporting_host = "mx.example", .recipients = &recipient, .count = 1};
        g_autofree char *ours = dsn_delivery_status(&dsn);
        g_autofree char *our_mail = report_with(ours), *found_again = reported(our_mail);
        g_assert_cmpstr(found_again, ==, *address);
    }
}

/* Servers that keep to RFC 5321 write quotes around these local parts. */
static void test_quoted(void)
{
    g_autofree char *mail = report_with("Reporting-MTA: dns; mx.example\n\n"
                                        "Final-Recipient: rfc822; \"foo..bar\"@docomo.example\nAction: failed\n"
                                        "Status: 5.1.1\n");
    g_autofree char *found = reported(mail);
    g_assert_cmpstr(found, ==, "foo..bar@docomo.example");
}

/* In the words of Postfix, qmail and Exim. */
static void test_text(void)
{
    static const char *const carriers[] = {"foo..bar@docomo.example", "foo.@ezweb.example", ".foo@docomo.example"};
    static const char *const forms[] = {
        "From: MAILER-DAEMON@mx.example (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\n\n"
        "This is the mail system at host mx.example.\n\n"
        "<%s>: host mx.example[192.0.2.1] said: 550 5.1.1 unknown user\n",
        "From: MAILER-DAEMON@mx.example\nSubject: failure notice\n\n"
        "Hi. This is the qmail-send program at mx.example.\n"
        "I'm afraid I wasn't able to deliver your message to the following addresses.\n"
        "This is a permanent error; I've given up. Sorry it didn't work out.\n\n"
        "<%s>:\nSorry, no mailbox here by that name. (#5.1.1)\n",
        "From: Mail Delivery System <Mailer-Daemon@mx.example>\nSubject: Mail delivery failed\n\n"
        "This message was created automatically by mail delivery software.\n\n"
        "A message that you sent could not be delivered to one or more of its\n"
        "recipients. This is a permanent error. The following address(es) failed:\n\n"
        "  %s\n    unknown user\n",
    };
    for (size_t form = 0; form < G_N_ELEMENTS(forms); form++)
        for (size_t i = 0; i < G_N_ELEMENTS(carriers); i++) {
            g_autoptr(GString) mail = g_string_new(forms[form]);
            g_string_replace(mail, "%s", carriers[i], 1);
            g_autofree char *found = reported(mail->str);
            g_assert_cmpstr(found, ==, carriers[i]);
        }
}

/* From and To are who reports and the list: no recipients that failed. */
static void test_contacts(void)
{
    g_autofree char *found = reported("From: Mail <robot@mx.example>\nTo: \"The list\" <L-bounces@lists.example>\n"
                                      "Subject: Delivery failure\n\nThere was an error with these:\n\n"
                                      "l-bounces@lists.example 550 no\nrobot@mx.example 550 no\n"
                                      "jo@example.com 550 no\n");
    g_assert_cmpstr(found, ==, "jo@example.com");
}

static void parse(const char *text, size_t length, void *data)
{
    (void)data;
    g_autoptr(Bounce) bounce = bounce_parse(text, length);
}

static void test_hostile(void)
{
    static const Doubling inputs[] = {
        {.before = "Subject: failure notice\nFrom: MAILER-DAEMON@x", .unit = ", <ab@c.example>",
         .next = "\n\n<kim@example.net>\nUnknown user.\n"},
        {.before = "Subject: failure notice\nFrom: MAILER-DAEMON@x\nTo: a@b.example", .unit = ", <ab@c.example>",
         .next = "\n\n<kim@example.net>\nUnknown user.\n"},
    };
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), parse, NULL);
}

SUITE("bounce_address")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bounce-address/delivery-status", test_delivery_status);
    g_test_add_func("/bounce-address/quoted", test_quoted);
    g_test_add_func("/bounce-address/text", test_text);
    g_test_add_func("/bounce-address/contacts", test_contacts);
    g_test_add_func("/bounce-address/hostile", test_hostile);
    return g_test_run();
}
