/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Runs a fuzz target without a fuzzer, as a test: over a set of awkward
 * seeds, each also cut and with bytes changed (always the same way), and
 * over files named on the command line.
 */
#include <glib.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEED(text) {text, sizeof text - 1}

static const struct {
    const char *text;
    size_t length;
} seeds[] = {
    SEED(""),
    SEED("\r\n"),
    SEED(" \r\n"),
    SEED("A: 1\r\nB: =?utf-8?b?SsO2cmc=?=\r\n =?iso-8859-1?q?J=F6rg?=\r\n\r\nbody\0\xff"),
    SEED("From x Thu Jan  1 00:00:00 1970\nFrom : a@b\n\nbody"),
    SEED("A: 1\r\nno field\r\nB: 2\r\n\r\n"),
    SEED("Message-ID: <a@b\r\nSubject: =?x?q?\r\n"),
    SEED("Subject: =?gb2312?b?xOO6w6Oh?= =?koi8-r?q?=F0=D2?= =?utf-7?q?+AGE-?=\r\n\r\n"),
    SEED("Anne <anne@example.com>, \"B \\\" c\" <\"b c\"@[192.0.2.1]> (x (y)), G: a@b;, <@r,@s:t@u>"),
    SEED("c++-bounces+a=b.c+d@example.com"),
    SEED("250-mx.example.com\r\n250-SIZE 10\r\n250 2.1.5 ok\r\n550-5.1.1 a\n"
         "550 5.1.1 b\xff\r\n354\r\n421 4.3.2 \xc3\xa4\r\n"),
    SEED("From: MAILER-DAEMON@mx\nSubject: failure notice\nContent-Type: multipart/report; boundary=x\n\n--x\n\n"
         "<a@b.example>:\n550 5.1.1 no\n--x\nContent-Type: message/delivery-status\n\nFinal-Recipient: "
         "utf-8;j\\x{F6}@b.example\nAction: failed\nStatus: 5.1.1\n\n--x--"),
    SEED("[spool]\ndirectory = /var/spool/x\nmin_free = 1M\n[runner.in]\ninstances=4\nx_y = z\n[transport.relay]\n"
         "port = 25 ; the relay\n[archiver.a]\ntype=mbox\npath=/a\n[nothing]\nkey = \xff\n"),
    SEED("\001\0\x19\0\012{\"list\":\"x\",\"arrival\":7}\n a@b\nDc@d\nSubject: x\r\n\r\nbody\r\n"),
    SEED("{\"list\":\"x\",\"arrival\":12345678901234567890,\"a\":[1.5e300,null,true,\"\\ud834\\udd1e\"],\"list\":2}"),
    SEED("{\"a\":\"\\u000\xd0\x9e\"}"),
    SEED("\"\"@[#>["),
    SEED("a.b.c.d.e.f.g.h.i.example.com\nm.example.com\n\nv=DMARC1; p=none; psd=n\n"
         "v=DMARC1; p=bad; rua=mailto:a@b!1m\tv=DMARC1;p=reject;psd=y;t=y\n!"),
    SEED("\007\017LHLO x\r\nMAIL FROM:<a@b> SIZE=5 BODY=8BITMIME\r\nRCPT TO:<c@d>\r\nDATA\r\n..a\r\n.\r\n"
         "MAIL FROM:<>\r\nRCPT TO:<e@f>\r\nBDAT 3\r\nabcBDAT 0 LAST\r\nRSET\r\nQUIT\r\n"),
    SEED("\0\x42\xff"
         "220 hi\r\n250-peer\r\n250-PIPELINING\r\n250 CHUNKING\r\n250\r\n250\r\n250 1\r\n502 what\r\n"
         "250\r\n550\r\n250\r\n250 2\r\n250\r\n503\r\n503\r\n503\r\n250\r\n250\r\n250\r\n421 3\r\n250\r\n"),
    SEED("\x01\x0a\x05"
         "220 hi\r\n250-peer\r\n250-PIPELINING\r\n250 CHUNKING\r\n250\r\n250\r\n250\r\n552 large\r\n"
         "250\r\n250\r\n250\r\n250\r\n250 1\r\n450 2\r\n"),
    SEED("\x0a\x48\xff"
         "220 hi\r\n250-peer\r\n250 PIPELINING\r\n250\r\n250\r\n354\r\n250 1\r\n250\r\n250\r\n550\r\n"
         "354\r\n250 2\r\n"),
    SEED("\x12\x34\x81\x80\0\1\0\1\0\0\0\0\1a\4test\0\0\x0f\0\1\xc0\x0c\0\x0f\0\1\0\0\2\x58\0\6\0\x0a\1m\xc0\x0c"),
    SEED("POST /3.1/domains\napplication/json\n{\"mail_host\": \"x.example\", \"owner\": [\"a@x.example\", 1, null]}"),
    SEED("POST /3.1/lists\n\nfqdn_listname=a%40x.example&style_name=legacy-default"),
    SEED("PATCH /3.1/lists/a.x.example/config?description=%C3%A9\napplication/x-www-form-urlencoded\nadvertised=0"),
    SEED("GET /3.0/members/find?subscriber=*&role=member&count=9223372036854775807&page=9&fields=email\n\n"),
    SEED("Subject: Re: join digest=mime\r\n\r\nset digest plain ack=on language de\r\n> leave\r\nset vacation "
         "2026-12-20..2027-01-06\r\nchange a@b.example\r\naccept 12, r4\r\nreject: why\r\nbecause\r\nend\r\n"),
    SEED("Approve: one\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\nApproved: se=20cret\r\n\r\n"
         "Hi\r\n--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
         "<p>Approved:=20<b>one</b></p>\r\n--b--\r\n"),
    SEED("mx.example.com 1 (a (b)); spf=pass (ok) smtp.mailfrom=a@b; dkim = fail reason = \"x;\\\"y\" header.d=c;"),
    SEED("ARC-Seal: i=1; a=ed25519-sha256; cv=none; d=a.example; s=s; b=AA==\r\nARC-Message-Signature: i=1;\r\n "
         "a=ed25519-sha256; c=simple/relaxed; d=a.example; s=s; h=from:from; l=3; bh=AA; b=AA\r\n"
         "ARC-Authentication-Results: i=1; a.example; none\r\nDKIM-Signature: v=1; a=rsa-sha256; d=b; s=c; h=from; "
         "bh=AA==; b=AA==\r\nFrom: x\r\n\r\n b \r\n\r\n"),
    SEED("DKIM-Signature:v=1;a=rsa-sha256;d=e;s=c;h=from;bh=o;b=bie\r\nFrom:@F\0 and what is behind a NUL\r\n\r\nx"),
    SEED("cMailman.Message\nMessage\n)\x81(dS'_headers'\n(l(S'Content-Type'\nS'multipart/x; boundary=b'\nta"
         "sS'_payload'\n(lg0\nasS'preamble'\nNsb."),
    SEED("\x80\4\x8c\1b\x8c\1c\x93)\x81\x94}\x8c\x08_headers]\x8c\7Subject\x8c\5a\xed\xb3\xbfz\x86\x61s\x62."),
    SEED("\1\1\1\1\na@b\n>From x\n\1\1\1\1\n"),
    SEED("{\"row\":\"held\",\"list\":\"a.x.example\",\"number\":1,\"list_number\":1,\"held_at\":1,"
         "\"message\":\"AAAA\",\"told\":\"alone\",\"asked_until\":0,\"room\":9,\"stranger\":true}\n"
         "{\"row\":\"end\",\"lines\":5}\n"),
    SEED("{\"row\":\"listrunner-export\",\"version\":1,\"site\":\"b\",\"made_at\":1}\n{\"row\":\"end\",\"lines\":2}\n"),
    SEED("\"a\"@b, \"\"@c, a.\"b\".c@d, j\xc3\xb6@\xc3\xa4.de, a@[b]c, <<a@b>>, (\\"),
};

static void run(const char *text, size_t length)
{
    /* An allocation of the exact size lets the sanitizer see each read beyond. */
    uint8_t *copy = g_malloc(length + 1);
    memcpy(copy, text, length);
    uint8_t *exact = g_realloc(copy, MAX(length, 1));
    LLVMFuzzerTestOneInput(exact, length);
    g_free(exact);
}

static void test_seeds(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(seeds); at++)
        for (size_t length = 0; length <= seeds[at].length; length++)
            run(seeds[at].text, length);
}

static void test_changed(void)
{
    static const char octets[] = "\r\n\t :;,<>()[]\"\\@.=?+-a\0\xff";
    g_autoptr(GRand) dice = g_rand_new_with_seed(42);
    const unsigned rounds = g_getenv("LISTRUNNER_VALGRIND") ? 1000 : 20000; /* each is many times slower there */
    for (unsigned round = 0; round < rounds; round++) {
        size_t at = (size_t)g_rand_int_range(dice, 0, G_N_ELEMENTS(seeds));
        g_autofree char *text = g_malloc(seeds[at].length + 1);
        memcpy(text, seeds[at].text, seeds[at].length);
        for (int changes = g_rand_int_range(dice, 1, 6); changes > 0 && seeds[at].length > 0; changes--)
            text[g_rand_int_range(dice, 0, (int)seeds[at].length)] =
                octets[g_rand_int_range(dice, 0, sizeof octets - 1)];
        run(text, seeds[at].length);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (int at = 1; at < argc; at++) {
        g_autofree char *text = NULL;
        gsize length;
        if (g_file_get_contents(argv[at], &text, &length, NULL))
            run(text, length);
    }
    g_test_add_func("/replay/seeds", test_seeds);
    g_test_add_func("/replay/changed", test_changed);
    return g_test_run();
}
