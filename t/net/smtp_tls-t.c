/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_tls.h"

#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "t/net/peer.h"
#include "t/suite.h"

#define OFFER HELLO, "> 250-peer", "> 250-PIPELINING", "> 250 STARTTLS"
#define START OFFER, "< STARTTLS", "> 220 go"
#define RECIPIENTS \
    "< MAIL FROM:<list@example.com>", "> 250", "< RCPT TO:<a@example.com>", "> 250", \
    "< RCPT TO:<b@example.com>", "> 250"
#define SEND RECIPIENTS, "< DATA", "> 354", BODY, "> 250"
#define AGAIN "< EHLO me.example", "> 250 peer" /* and nothing of what was said before is true any more */
#define SENT "0 sent 2.0.0 250\n1 sent 2.0.0 250\ndone\nclosed sent \n"

typedef struct Case {
    SmtpTlsLevel level;
    const char *certified; /* the server's name in its certificate */
    int first_day, last_day;
    bool trusted;
    bool at_once;
    const char *tls_name;
} Case;

static const Case good = {.level = SMTP_TLS_VERIFY, .certified = "peer", .first_day = -1, .last_day = 1,
                          .trusted = true};

/* The peer gets its certificate, the client its settings; the context is the client's, to be freed after the run. */
static SmtpTls *set_up(Owner *owner, const Case *wanted)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = owner_certify(owner, wanted->certified, wanted->first_day, wanted->last_day);
    SmtpTls *tls = smtp_tls_new(wanted->trusted ? path : NULL, &error);
    g_assert_no_error(error);
    unlink(path);
    owner->settings.tls = wanted->level;
    owner->settings.tls_context = tls;
    owner->settings.tls_at_once = wanted->at_once;
    owner->settings.tls_name = wanted->tls_name;
    return tls;
}

/* Returns what the connection's TLS was called (g_free()), or NULL. The report ends with report. */
static char *run(const Case *wanted, bool tcp, const char *const *script, const char *report)
{
    g_autoptr(Owner) owner = owner_new("x\r\n.y\r\n");
    g_autoptr(SmtpTls) tls = set_up(owner, wanted);
    if (tcp)
        owner_run_tcp(owner, script);
    else
        owner_run(owner, script);
    if (!g_str_has_suffix(owner->report->str, report))
        g_assert_cmpstr(owner->report->str, ==, report);
    return g_steal_pointer(&owner->tls);
}

static void run_without(const Case *wanted, bool tcp, const char *const *script, const char *report)
{
    g_autofree char *tls = run(wanted, tcp, script, report);
    g_assert_null(tls);
}

static void verified(void)
{
    g_autofree char *tls = run(&good, false, SCRIPT(START, "tls", AGAIN, SEND, BYE), SENT);
    g_assert_true(g_str_has_prefix(tls, "TLSv1.3 with cipher TLS_"));
    g_assert_true(g_str_has_suffix(tls, " bits), verified"));
    Case policy = good;
    policy.certified = "mx.example.org";
    policy.tls_name = "mx.example.org";
    g_autofree char *named = run(&policy, false, SCRIPT(START, "tls", AGAIN, SEND, BYE), SENT);
    g_assert_true(g_str_has_suffix(named, ", verified"));
    Case at_once = good;
    at_once.at_once = true;
    g_autofree char *first = run(&at_once, false, SCRIPT("tls", HELLO, "> 250 peer", SEND, BYE), SENT);
    g_assert_true(g_str_has_suffix(first, ", verified"));
}

/* A message of more than one TLS record arrives in its order, whatever is behind it in the output. */
static void large(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (int line = 0; text->len < 60000; line++)
        g_string_append_printf(text, "line %d\r\n", line);
    for (int chunking = 0; chunking < 2; chunking++) {
        g_autoptr(Owner) owner = owner_new(text->str);
        g_autoptr(SmtpTls) tls = set_up(owner, &good);
        owner->settings.chunking = chunking;
        g_autofree char *chunk = g_strdup_printf("< BDAT %zu LAST", text->len);
        g_autofree char *octets = g_strdup_printf("= %s%s", text->str, chunking ? "" : ".\r\n");
        const char *const by_chunk[] = {START, "tls", "< EHLO me.example", "> 250-peer", "> 250 CHUNKING", RECIPIENTS,
                                        chunk, octets, "> 250", BYE, NULL};
        const char *const by_data[] = {START, "tls", AGAIN, RECIPIENTS, "< DATA", "> 354", octets, "> 250", BYE, NULL};
        owner_run(owner, chunking ? by_chunk : by_data);
        g_assert_cmpstr(owner->report->str, ==, SENT);
    }
}

#define CHUNK "< BDAT 7 LAST", "= x\r\n.y\r\n"
#define ENVELOPE "< MAIL FROM:<list@example.com>", "< RCPT TO:<a@example.com>", "< RCPT TO:<b@example.com>"

/* Several transactions in one flight, their replies in several lines and torn. */
static void flight(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n.y");
    g_autoptr(SmtpTls) tls = set_up(owner, &good);
    owner->settings.chunking = true;
    owner->behind = 2;
    owner_run(owner, SCRIPT(START, "tls", "< EHLO me.example", "> 250-peer", "> 250-CHUNKING", "> 250 PIPELINING",
                            ENVELOPE, CHUNK, "< RSET", ENVELOPE, CHUNK, "< RSET", ENVELOPE, CHUNK, "+ 250-2.1.0 o",
                            "+ ne\r\n250 2.1.0 ok\r\n250 ok\r\n55", "+ 0-5.1.1 no\r\n550", "+  5.1.1 body\r",
                            "+ \n250 2.0.0 1\r\n250 reset\r\n450 4.7.1 later\r\n503", "> ", "> 503", "+ 503-\r\n503",
                            "> ", "> 250 reset", "> 250", "> 250", "> 250", "+ 2", "+ 50", "> -a", "> 250 b", BYE));
    g_assert_cmpstr(owner->report->str, ==,
                    "1 never 5.1.1 550 5.1.1 no body\n0 sent 2.0.0 250 2.0.0 1\ndone\n"
                    "0 later 4.7.1 450 4.7.1 later\n1 later 4.7.1 450 4.7.1 later\ndone\n"
                    "0 sent 2.0.0 250 a b\n1 sent 2.0.0 250 a b\ndone\nclosed sent \n");
}

static void not_verified(void)
{
    static const struct {
        Case wanted;
        const char *report;
    } cases[] = {
        {{SMTP_TLS_VERIFY, "other", -1, 1, true, false, NULL}, "the server's certificate: hostname mismatch\n"},
        {{SMTP_TLS_VERIFY, "peer", -2, -1, true, false, NULL}, "the server's certificate: certificate has expired\n"},
        {{SMTP_TLS_VERIFY, "peer", 1, 2, true, false, NULL},
         "the server's certificate: certificate is not yet valid\n"},
        {{SMTP_TLS_VERIFY, "peer", -1, 1, false, false, NULL}, "the server's certificate: self-signed certificate\n"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *report = g_strconcat("closed later TLS with peer failed: ", cases[i].report, NULL);
        run_without(&cases[i].wanted, false, SCRIPT(START, "tls fails"), report);
        Case lax = cases[i].wanted; /* whoever it is */
        lax.level = SMTP_TLS_REQUIRE;
        g_autofree char *tls = run(&lax, false, SCRIPT(START, "tls", AGAIN, SEND, BYE), SENT);
        g_assert_true(g_str_has_suffix(tls, ", untrusted"));
    }
}

static void required(void)
{
    Case wanted = good;
    for (wanted.level = SMTP_TLS_REQUIRE; wanted.level <= SMTP_TLS_VERIFY; wanted.level++) {
        run_without(&wanted, false, SCRIPT(HELLO, "> 250 peer", "wait"),
                    "closed later peer offers no TLS, without which nothing is sent to it\n");
        run_without(&wanted, false, SCRIPT(OFFER, "< STARTTLS", "> 454 4.7.0 not now", "wait"),
                    "closed later peer said: 454 4.7.0 not now (in reply to STARTTLS)\n");
        run_without(&wanted, false, SCRIPT(START, "close"),
                    "closed later TLS with peer failed: the server closed the connection\n");
        run_without(&wanted, false, SCRIPT(OFFER, "< STARTTLS", "> what is this", "wait"),
                    "closed later peer broke the protocol while starting TLS\n");
    }
}

/* Check that TLS is tried, and done without, where it is optional. */
static void opportunistic(void)
{
    Case wanted = good;
    wanted.level = SMTP_TLS_MAY;
    wanted.trusted = false;
    g_autofree char *tls = run(&wanted, false, SCRIPT(START, "tls", AGAIN, SEND, BYE), SENT);
    g_assert_true(g_str_has_suffix(tls, ", untrusted"));
    run_without(&wanted, false, SCRIPT(HELLO, "> 250 peer", SEND, BYE), SENT);
    run_without(&wanted, false, SCRIPT(HELLO, "> 250-peer", "> 250 STARTTLS", "< STARTTLS", "> 454 not now", SEND, BYE),
                SENT);
    run_without(&wanted, true,
                SCRIPT("accept", START, "close", "accept", HELLO, "> 250-peer", "> 250 STARTTLS", SEND, BYE), SENT);
    /* The answer comes behind the first byte of the handshake: with the permission it would be an injection. */
    run_without(&wanted, true,
                SCRIPT("accept", START, "= \x16", "+ 220 this is no TLS", "drain", "accept", HELLO, "> 250-peer",
                       "> 250 STARTTLS", SEND, BYE),
                SENT);
}

/* Check that nobody vouches for data that comes with the permission: RFC 3207, and more than one CVE. */
static void injection(void)
{
    Case wanted = good;
    for (wanted.level = SMTP_TLS_MAY; wanted.level <= SMTP_TLS_VERIFY; wanted.level++)
        run_without(&wanted, false, SCRIPT(OFFER, "< STARTTLS", "+ 220 go\r\n250 PIPELINING\r\n", "wait"),
                    "closed later peer broke the protocol while starting TLS\n");
}

static void silent(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Owner) owner = owner_new("x\r\n");
    g_autoptr(SmtpTls) tls = smtp_tls_new(NULL, &error);
    owner->settings.tls = SMTP_TLS_REQUIRE;
    owner->settings.tls_context = tls;
    owner->settings.timeouts[SMTP_TLS] = CLOCK_SECOND / 20;
    owner_run(owner, SCRIPT(START, "= \x16", "close"));
    g_assert_true(g_str_has_prefix(owner->report->str, "closed later TLS with peer failed: "));
}

static void contexts(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(smtp_tls_new("/nonexistent/ca.pem", &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_cmpstr(error->message, ==, "/nonexistent/ca.pem: no certificates can be read: No such file or directory");
    g_clear_error(&error);
    g_assert_null(smtp_tls_new("/dev/null", &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
}

SUITE("smtp_tls")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tls/verified", verified);
    g_test_add_func("/tls/large", large);
    g_test_add_func("/tls/flight", flight);
    g_test_add_func("/tls/not verified", not_verified);
    g_test_add_func("/tls/required", required);
    g_test_add_func("/tls/opportunistic", opportunistic);
    g_test_add_func("/tls/injection", injection);
    g_test_add_func("/tls/silent", silent);
    g_test_add_func("/tls/contexts", contexts);
    return g_test_run();
}
