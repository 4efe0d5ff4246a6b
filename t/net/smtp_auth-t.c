/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_auth.h"

#include <string.h>

#include "t/net/peer.h"
#include "t/suite.h"

static char *encoded(const char *text)
{
    return g_base64_encode((const guchar *)text, strlen(text));
}

static char *decoded(const char *text)
{
    gsize size;
    g_autofree guchar *octets = g_base64_decode(text, &size);
    return g_strndup((const char *)octets, size);
}

/* The examples of RFC 5802 section 5 and RFC 7677 section 3. */
static const struct {
    SmtpAuthMechanism mechanism;
    const char *command, *nonce, *first, *server_first, *final, *server_final;
} examples[] = {
    {SMTP_AUTH_SCRAM_SHA_1, "AUTH SCRAM-SHA-1 ", "fyko+d2lbbFgONRv9qkxdawL", "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
     "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
     "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
     "v=rmF9pqV8S7suAoZWja4dJRkFsKQ="},
    {SMTP_AUTH_SCRAM_SHA_256, "AUTH SCRAM-SHA-256 ", "rOprNGfwEbeRWgbNEkqO", "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
     "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
     "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
     "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="},
};

static void rfc_examples(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
        const char *problem = NULL;
        g_autoptr(SmtpAuth) auth = smtp_auth_new(examples[i].mechanism | SMTP_AUTH_PLAIN, "user", "pencil",
                                                 examples[i].nonce);
        g_autofree char *command = smtp_auth_begin(auth);
        g_assert_true(g_str_has_prefix(command, examples[i].command));
        g_autofree char *first = decoded(command + strlen(examples[i].command));
        g_assert_cmpstr(first, ==, examples[i].first);
        g_autofree char *challenge = encoded(examples[i].server_first);
        g_autofree char *answer = smtp_auth_answer(auth, challenge, &problem);
        g_autofree char *final = decoded(answer);
        g_assert_cmpstr(final, ==, examples[i].final);
        g_assert_nonnull(smtp_auth_doubt(auth));
        g_autofree char *proof = encoded(examples[i].server_final);
        g_autofree char *empty = smtp_auth_answer(auth, proof, &problem);
        g_assert_cmpstr(empty, ==, "");
        g_assert_null(smtp_auth_doubt(auth));
    }
}

#define FEW "the server asks for fewer rounds of SCRAM than 4096, which makes the password easy to guess"
#define MANY "the server asks for more rounds of SCRAM than 100000, for which all other deliveries would wait"

/* Give a message of the server to auth, and return the client's answer; g_free(). */
static char *answer_to(SmtpAuth *auth, const char *message, const char **problem)
{
    g_autofree char *challenge = encoded(message);
    g_autofree char *answer = smtp_auth_answer(auth, challenge, problem);
    return answer ? decoded(answer) : NULL;
}

static void scram_refuses(void)
{
    static const struct {
        const char *first, *problem;
    } cases[] = {
        {"", "the server's first message is not of SCRAM"},
        {"r=abcX,s=AAAA", "the server's first message is not of SCRAM"},
        {"m=x,r=abcX,s=AAAA,i=4096", "the server's first message is not of SCRAM"},
        {"r=abdX,s=AAAA,i=4096", "the server's nonce is not made from ours"},
        {"r=abc,s=AAAA,i=4096", "the server's nonce is not made from ours"},
        {"r=abcX,s=,i=4096", "the server gave no salt"},
        {"r=abcX,s=AAAA,i=4095", FEW}, {"r=abcX,s=AAAA,i=0", FEW},
        {"r=abcX,s=AAAA,i=100001", MANY}, {"r=abcX,s=AAAA,i=1000000", MANY},
        {"r=abcX,s=AAAA,i=99999999999999999999", MANY},
        {"r=abcX,s=AAAA,i=-1", "the server's first message is not of SCRAM"},
        {"r=abcX,s=AAAA,i=", "the server's first message is not of SCRAM"},
        {"r=abcX,s=AAAA,i=5000x", "the server's first message is not of SCRAM"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *problem = NULL;
        g_autoptr(SmtpAuth) auth = smtp_auth_new(SMTP_AUTH_SCRAM_SHA_256, "u", "p", "abc");
        g_assert_null(answer_to(auth, cases[i].first, &problem));
        g_assert_cmpstr(problem, ==, cases[i].problem);
    }
    static const char *const finals[] = {"", "v=", "v=AAAA", "e=other-error", "v=,", "v=====", NULL};
    for (size_t i = 0; finals[i]; i++) {
        const char *problem = NULL;
        g_autoptr(SmtpAuth) auth = smtp_auth_new(SMTP_AUTH_SCRAM_SHA_1, "u", "p", "abc");
        g_autofree char *final = answer_to(auth, "r=abcX,s=AAAA,i=4096", &problem);
        g_assert_nonnull(final);
        g_assert_null(answer_to(auth, finals[i], &problem));
        g_assert_cmpstr(problem, ==, "the server does not know the password");
        g_assert_nonnull(smtp_auth_doubt(auth));
    }
}

/* As many as are allowed, either end. */
static void scram_accepts_rounds(void)
{
    static const int rounds[] = {SMTP_AUTH_ROUNDS_MIN, SMTP_AUTH_ROUNDS_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(rounds); i++) {
        const char *problem = NULL;
        g_autoptr(SmtpAuth) auth = smtp_auth_new(SMTP_AUTH_SCRAM_SHA_256, "u", "p", "abc");
        g_autofree char *first = g_strdup_printf("r=abcX,s=AAAA,i=%d", rounds[i]);
        g_autofree char *final = answer_to(auth, first, &problem);
        g_assert_nonnull(final);
        g_assert_null(problem);
    }
}

static void names_are_escaped(void)
{
    g_autoptr(SmtpAuth) auth = smtp_auth_new(SMTP_AUTH_SCRAM_SHA_1, "a,b=c", "p", "abc");
    g_autofree char *command = smtp_auth_begin(auth);
    g_autofree char *first = decoded(command + strlen("AUTH SCRAM-SHA-1 "));
    g_assert_cmpstr(first, ==, "n,,n=a=2Cb=3Dc,r=abc");
}

static void choice(void)
{
    g_assert_null(smtp_auth_new(0, "u", "p", NULL));
    g_assert_cmpuint(smtp_auth_mechanism("scram-sha-256"), ==, SMTP_AUTH_SCRAM_SHA_256);
    g_assert_cmpuint(smtp_auth_mechanism("CRAM-MD5"), ==, 0);
    g_autoptr(SmtpAuth) weak = smtp_auth_new(SMTP_AUTH_LOGIN | SMTP_AUTH_PLAIN, "u", "p", NULL);
    g_autofree char *first = smtp_auth_begin(weak), *second = NULL;
    g_assert_true(g_str_has_prefix(first, "AUTH PLAIN "));
    g_autoptr(SmtpAuth) strong = smtp_auth_new(15, "u", "p", NULL);
    second = smtp_auth_begin(strong);
    g_assert_true(g_str_has_prefix(second, "AUTH SCRAM-SHA-256 "));
}

/* --- over a connection -------------------------------------------------- */

static void converse(unsigned mechanisms, const char *const *script, const char *report)
{
    g_autoptr(Owner) owner = owner_new("x\r\n");
    owner->transactions = 0;
    owner->settings.auth_user = "user";
    owner->settings.auth_password = "pencil";
    owner->settings.auth_mechanisms = mechanisms;
    owner->settings.auth_in_clear = true;
    owner_run(owner, script);
    g_assert_cmpstr(owner->report->str, ==, report);
}

#define OFFERS(list) HELLO, "> 250-peer", "> 250-AUTH " list, "> 250 AUTH=LOGIN"
#define PLAIN "< AUTH PLAIN AHVzZXIAcGVuY2ls"

static void connection(void)
{
    converse(0, SCRIPT(OFFERS("PLAIN"), PLAIN, "> 235 2.7.0 ok", BYE), "closed sent \n");
    converse(0, SCRIPT(OFFERS("CRAM-MD5"), "< AUTH LOGIN", "> 334 VXNlcm5hbWU6", "< dXNlcg==", "> 334 UGFzc3dvcmQ6",
                       "< cGVuY2ls", "> 235 ok", BYE), "closed sent \n");
    converse(0, SCRIPT(OFFERS("PLAIN"), PLAIN, "> 535 5.7.8 no", "wait"),
             "closed later peer said: 535 5.7.8 no (in reply to AUTH)\n");
    converse(SMTP_AUTH_SCRAM_SHA_1, SCRIPT(OFFERS("PLAIN"), "wait"),
             "closed later authentication with peer: it offers none of the mechanisms allowed\n");
    converse(0, SCRIPT(HELLO, "> 250 peer", "wait"),
             "closed later authentication with peer: it offers none of PLAIN, LOGIN and SCRAM\n");
    converse(0, SCRIPT(OFFERS("LOGIN"), "< AUTH LOGIN", "> 334 VXNlcm5hbWU6", "< dXNlcg==", "> 334 UGFzc3dvcmQ6",
                       "< cGVuY2ls", "> 334 more", "wait"),
             "closed later authentication with peer: the server asks for more than the mechanism has\n");
}

/* A server that says yes without knowing the password is not believed. */
static void impostor(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n");
    owner->settings.auth_user = "user";
    owner->settings.auth_password = "pencil";
    owner->settings.auth_in_clear = true;
    owner_run(owner, SCRIPT(OFFERS("SCRAM-SHA-256 PLAIN"), "= AUTH SCRAM-SHA-256 biwsbj11c2VyLHI9", "> 235 fine",
                            "close"));
    g_assert_cmpstr(owner->report->str, ==,
                    "closed later authentication with peer: the server has not proved that it knows the password\n");
    g_autoptr(Owner) junk = owner_new("x\r\n");
    junk->settings = owner->settings;
    owner_run(junk, SCRIPT(OFFERS("SCRAM-SHA-1"), "= AUTH SCRAM-SHA-1 biwsbj11c2VyLHI9", "> 334 !!!!", "close"));
    g_assert_cmpstr(junk->report->str, ==,
                    "closed later authentication with peer: the challenge is no base64 of a text\n");
}

/* Not a word of the password without TLS. */
static void not_in_clear(void)
{
    g_autoptr(Owner) owner = owner_new("x\r\n");
    owner->settings.auth_user = "user";
    owner->settings.auth_password = "pencil";
    owner_run(owner, SCRIPT(OFFERS("PLAIN"), "wait"));
    g_assert_cmpstr(owner->report->str, ==,
                    "closed later authentication with peer: it offers no TLS, without which no password is sent\n");
}

SUITE("smtp_auth")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/auth/examples of the RFCs", rfc_examples);
    g_test_add_func("/auth/scram refuses", scram_refuses);
    g_test_add_func("/auth/scram accepts rounds", scram_accepts_rounds);
    g_test_add_func("/auth/names", names_are_escaped);
    g_test_add_func("/auth/choice", choice);
    g_test_add_func("/auth/connection", connection);
    g_test_add_func("/auth/impostor", impostor);
    g_test_add_func("/auth/not in clear", not_in_clear);
    return g_test_run();
}
