/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/answer.h"

#include <glib.h>
#include <string.h>

static bool allowed(const char *sender, const char *head)
{
    g_autofree char *text = g_strconcat(head, "Subject: x\r\n\r\nbody\r\n", NULL);
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    g_autoptr(Message) message = message_new(octets);
    return answer_allowed(sender, message);
}

static void test_people(void)
{
    static const char *const heads[] = {"", "Auto-Submitted: no\r\n", "Precedence: first-class\r\n",
                                        "Content-Type: multipart/mixed; boundary=x\r\n"};
    for (size_t at = 0; at < G_N_ELEMENTS(heads); at++)
        g_assert_true(allowed("anne@example.com", heads[at]));
    g_assert_true(allowed("requester@example.com", ""));
}

static void test_programs(void)
{
    static const char *const heads[] = {"X-Autoreply: yes\r\n", "X-AutoRespond: x\r\n", "Precedence: auto_reply\r\n",
                                        "Auto-Submitted: auto-replied\r\n",
                                        "auto-submitted: auto-generated; x=y\r\n",
                                        "Precedence: Bulk\r\n",
                                        "Precedence: list\r\n",
                                        "Precedence: junk\r\n",
                                        "List-Id: <x.example.org>\r\n",
                                        "List-Unsubscribe: <mailto:x@example.org>\r\n",
                                        "List-Post: NO\r\n",
                                        "X-Auto-Response-Suppress: All\r\n",
                                        "Content-Type: multipart/report; report-type=delivery-status\r\n"};
    for (size_t at = 0; at < G_N_ELEMENTS(heads); at++)
        g_assert_false(allowed("anne@example.com", heads[at]));
}

static void test_senders(void)
{
    static const char *const senders[] = {"",
                                          "nonsense",
                                          "MAILER-DAEMON@example.com",
                                          "owner-test@example.com",
                                          "test-owner@example.com",
                                          "test-bounces@example.com",
                                          "test-bounces+anne=example.org@example.com",
                                          "test-request@example.com",
                                          "noreply@example.com"};
    for (size_t at = 0; at < G_N_ELEMENTS(senders); at++)
        g_assert_false(allowed(senders[at], ""));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/answer/people", test_people);
    g_test_add_func("/answer/programs", test_programs);
    g_test_add_func("/answer/senders", test_senders);
    return g_test_run();
}
