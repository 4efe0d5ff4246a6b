/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/answer.h"
#include "t/suite.h"

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

/* The fields of the list that has sent a post out say nothing of its author. */
static void test_posts(void)
{
    static const char *const lists[] = {"List-Id: <x.example.org>\r\nPrecedence: list\r\n", "List-Post: NO\r\n", ""};
    static const char *const programs[] = {"Auto-Submitted: auto-generated\r\nList-Id: <x.example.org>\r\n",
                                           "X-Auto-Response-Suppress: All\r\n",
                                           "Content-Type: multipart/report; report-type=delivery-status\r\n"};
    for (size_t at = 0; at < G_N_ELEMENTS(lists) + G_N_ELEMENTS(programs); at++) {
        bool person = at < G_N_ELEMENTS(lists);
        g_autofree char *text = g_strconcat(person ? lists[at] : programs[at - G_N_ELEMENTS(lists)],
                                            "Subject: x\r\n\r\nbody\r\n", NULL);
        g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
        g_autoptr(Message) message = message_new(octets);
        g_assert_cmpint(answer_allowed_for_post("anne@example.com", message), ==, person);
        g_assert_false(answer_allowed_for_post("test-bounces@example.com", message));
    }
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

static bool subject_allowed(const char *subject)
{
    g_autofree char *text = g_strdup_printf("Subject: %s\r\n\r\nbody\r\n", subject);
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    g_autoptr(Message) message = message_new(octets);
    return answer_allowed("anne@example.com", message);
}

/* Some programs say only there that they answer while a person is away. */
static void test_subjects(void)
{
    static const char *const programs[] = {
        "Automatic reply: Please confirm: join Test", "AUTOMATIC REPLY: x", "Out of Office: x",
        "Out of Office AutoReply: x", "Auto: Please confirm", "Abwesenheitsnotiz: x", "Automatische Antwort: x",
        "=?utf-8?Q?R=C3=A9ponse_automatique?= : x", "Réponse automatique : x", "RESPUESTA AUTOMÁTICA: x",
        "=?iso-2022-jp?B?GyRCPCtGMDF+RXobKEI=?=: x", "=?utf-8?B?6Ieq5Yqo562U5aSN?=: x",
        "Otomatik yanıt: x", "Автоматический ответ: x", "Αυτόματη απάντηση: x",
        "Anne Person/ACME is out of the office.", "  Autosvar: x"};
    static const char *const people[] = {"join", "Re: Please confirm: join Test", "", "Automatic transmissions",
                                         "Autos: which one?", "Re: Out of office hours", "Office: out of paper",
                                         "Abwesende Mitglieder", "=?utf-8?B?!!!?="};
    for (size_t at = 0; at < G_N_ELEMENTS(programs); at++) {
        g_test_message("%s", programs[at]);
        g_assert_false(subject_allowed(programs[at]));
    }
    for (size_t at = 0; at < G_N_ELEMENTS(people); at++) {
        g_test_message("%s", people[at]);
        g_assert_true(subject_allowed(people[at]));
    }
}

SUITE("answer")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/answer/people", test_people);
    g_test_add_func("/answer/programs", test_programs);
    g_test_add_func("/answer/posts", test_posts);
    g_test_add_func("/answer/senders", test_senders);
    g_test_add_func("/answer/subjects", test_subjects);
    return g_test_run();
}
