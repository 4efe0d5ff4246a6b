/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what is said of DKIM signatures; t/e2e/test_arc.py and test_dmarc.py have mail that another program signed. */
#include "mail/auth/dkim.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include "base/clock.h"
#include "mail/auth/auth_results.h"
#include "mail/auth/dkim_internal.h"
#include "t/doubling.h"
#include "t/suite.h"

#define NOW (1000 * CLOCK_SECOND)
#define MAIL "From: anne@example.org\r\nSubject: hello\r\n\r\nbody\r\n"

/* ---- a DNS of our own: the same records for each selector "s", and example.org is an organization ---- */

static const char *records[4];
static NamesAnswer answer;
static unsigned asked;
static bool silent_top; /* nobody answers for _dmarc.org */

static NamesAnswer text(void *data, const char *name, const char *const **texts)
{
    static const char *const policy[] = {"v=DMARC1; p=reject", NULL};
    bool organization = strcmp(name, "_dmarc.example.org") == 0;
    *texts = organization ? policy : records;
    asked++;
    if (organization || (silent_top && strcmp(name, "_dmarc.org") == 0))
        return organization ? NAMES_FOUND : NAMES_TROUBLE;
    return !g_str_has_prefix(name, "s._domainkey.") ? NAMES_NONE : answer;
}

static NamesAnswer exists(void *data, const char *name)
{
    return NAMES_FOUND;
}

static const Names names = {text, exists, NULL};

/* ---- signatures ---- */

static EVP_PKEY *make_key(unsigned bits)
{
    return bits > 0 ? EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits) : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
}

/* p= of the key: as most write it, or an RSA key as RFC 6376 says. */
static char *public_of(EVP_PKEY *key, bool bare)
{
    bool edwards = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519;
    guint8 *bytes = NULL;
    int size = bare ? i2d_PublicKey(key, &bytes) : i2d_PUBKEY(key, &bytes);
    char *encoded = edwards ? g_base64_encode(bytes + size - 32, 32) : g_base64_encode(bytes, (gsize)size);
    OPENSSL_free(bytes);
    return encoded;
}

/* Sign MAIL with these tags before h=, in the form relaxed/relaxed, whatever they say; "simple" is the same here. */
static char *sign(EVP_PKEY *key, const char *tags, const char *names_signed)
{
    bool old = strstr(tags, "rsa-sha1") != NULL, edwards = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519;
    g_autoptr(GBytes) octets = g_bytes_new_static(MAIL, strlen(MAIL));
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GChecksum) sum = g_checksum_new(old ? G_CHECKSUM_SHA1 : G_CHECKSUM_SHA256);
    guint8 digest[64], signature[1024];
    gsize length = sizeof digest, size = sizeof signature;
    g_checksum_update(sum, (const guchar *)"body\r\n", 6);
    g_checksum_get_digest(sum, digest, &length);
    g_autofree char *body = g_base64_encode(digest, length);
    g_autoptr(GString) field = g_string_new(NULL), input = g_string_new(NULL);
    g_string_printf(field, "DKIM-Signature: %s; h=%s; bh=%s; b=", tags, names_signed, body);
    g_auto(GStrv) words = g_strsplit(names_signed, ":", -1);
    Field own = dkim_field_of(field);
    dkim_append_named(input, message, words, true);
    dkim_append_field(input, &own, true, true);
    g_string_truncate(input, input->len - 2);
    if (edwards) {
        length = sizeof digest;
        g_checksum_reset(sum);
        g_checksum_update(sum, (const guchar *)input->str, (gssize)input->len);
        g_checksum_get_digest(sum, digest, &length);
        g_string_truncate(input, 0);
        g_string_append_len(input, (const char *)digest, (gssize)length);
    }
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const EVP_MD *hash = edwards ? NULL : old ? EVP_sha1() : EVP_sha256();
    g_assert_cmpint(EVP_DigestSignInit(context, NULL, hash, NULL, key), ==, 1);
    g_assert_cmpint(EVP_DigestSign(context, signature, &size, (const guchar *)input->str, input->len), ==, 1);
    EVP_MD_CTX_free(context);
    g_autofree char *encoded = g_base64_encode(signature, size);
    return g_strconcat(field->str, encoded, "\r\n", MAIL, NULL);
}

static Message *message_of(const char *mail)
{
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    return message_new(octets);
}

/* All results with bars between them. */
static char *results(const char *mail)
{
    g_autoptr(Message) message = message_of(mail);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    g_assert_true(dkim_results(message, &names, NOW, texts));
    g_ptr_array_add(texts, NULL);
    return g_strjoinv("|", (char **)texts->pdata);
}

static void assert_verdict(const char *mail, const char *verdict)
{
    g_autofree char *found = results(mail), *start = g_strconcat("dkim=", verdict, NULL);
    g_autoptr(Message) message = message_of(mail);
    g_test_message("%s\n%s", mail, found);
    g_assert_true(g_str_has_prefix(found, start) && strchr(" ", found[strlen(start)]));
    g_assert_cmpint(dkim_holds(message, "example.org", false, &names, NOW), ==,
                    strcmp(verdict, "pass") == 0 ? NAMES_FOUND : NAMES_NONE);
    /* It stands in a field that others can read. */
    g_autofree char *value = g_strconcat("mx.example; ", found, NULL);
    g_autoptr(AuthResults) read = auth_results_read(value);
    g_assert_nonnull(read);
}

#define GOOD "v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.org; s=s"
#define EDWARDS "v=1; a=ed25519-sha256; c=relaxed/relaxed; d=example.org; s=s"

static void test_tags(void)
{
    static const struct {
        const char *tags, *verdict;
    } cases[] = {
        {GOOD, "pass"},
        {"v=1; a=rsa-sha256; c=relaxed; d=example.org; s=s", "pass"},
        {GOOD "; i=@example.org", "pass"},
        {GOOD "; i=anne@mail.Example.org; q=dns/txt; z=x|y; x-own=1; l=6", "pass"},
        {GOOD "; t=900; x=1001", "pass"},
        {GOOD "; t=1100", "pass"},
        {GOOD "; q=other:dns/txt", "pass"},
        {"d=EXAMPLE.org; s=s; a=rsa-sha256; v=1; c=relaxed/relaxed", "pass"},
        {"v=1; a=rsa-sha256; c=relaxed/relaxed; d=mail.example.org; s=s", "pass"},
        {"v=1; a=rsa-sha1; c=relaxed/relaxed; d=example.org; s=s", "policy"},
        {"v=1; a=ed25519-sha256; c=relaxed/relaxed; d=example.org; s=s", "permerror"},
        {"v=1; a=rsa-sha512; c=relaxed/relaxed; d=example.org; s=s", "permerror"},
        {"a=rsa-sha256; c=relaxed/relaxed; d=example.org; s=s", "permerror"},
        {"v=2; a=rsa-sha256; c=relaxed/relaxed; d=example.org; s=s", "permerror"},
        {"v=; a=rsa-sha256; c=relaxed/relaxed; d=example.org; s=s", "permerror"},
        {"v=1; c=relaxed/relaxed; d=example.org; s=s", "permerror"},
        {"v=1; a=rsa-sha256; c=relaxed/relaxed; s=s", "permerror"},
        {"v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.org", "permerror"},
        {"v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.net; d=example.org; s=s", "permerror"},
        {"v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.org; s=other", "permerror"},
        {"v=1; a=rsa-sha256; c=relaxed/relaxed; d=example..org; s=s", "permerror"},
        {"v=1; a=rsa-sha256; c=relaxed/relaxed; d=exam ple.org; s=s", "permerror"},
        {"v=1; a=rsa-sha256; c=loose/relaxed; d=example.org; s=s", "permerror"},
        {GOOD "; i=@example.net", "permerror"},
        {GOOD "; i=@anexample.org", "permerror"},
        {GOOD "; i=anne", "permerror"},
        {GOOD "; q=http", "permerror"},
        {GOOD "; x=999", "permerror"},
        {GOOD "; t=900; x=900", "permerror"},
        {GOOD "; t=9000", "permerror"},
        {GOOD "; t=-1", "permerror"},
        {GOOD "; l=x", "permerror"},
        {GOOD "; l=7", "fail"},
        {GOOD "; l=3", "fail"}, /* the hash is of all six bytes */
        {GOOD "; ; z=x", "permerror"},
        {GOOD "; z", "permerror"},
    };
    EVP_PKEY *key = make_key(1024);
    g_autofree char *public = public_of(key, false), *record = g_strdup_printf("v=DKIM1; p=%s", public);
    records[0] = record, records[1] = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *mail = sign(key, cases[at].tags, "from:subject:x-none");
        assert_verdict(mail, cases[at].verdict);
    }
    g_autofree char *without_from = sign(key, GOOD, "subject"), *mail = sign(key, GOOD, "from:subject");
    g_autofree char *two = g_strconcat("From: eve@example.net\r\n", mail, NULL);
    assert_verdict(without_from, "permerror");
    assert_verdict(two, "pass"); /* the lowest From is the one that was signed */
    char *body = strstr(mail, "\r\n\r\nbody");
    body[4] = 'B';
    assert_verdict(mail, "fail");
    body[4] = 'b';
    strstr(mail, "hello")[0] = 'H';
    assert_verdict(mail, "fail");
    EVP_PKEY_free(key);
}

/* Check what else must be in the mail for the property of the result. */
static void test_algorithm_is_told(void)
{
    static const struct {
        const char *tags, *property;
    } cases[] = {
        {GOOD, "rsa-sha256"},
        {"v=2; a=rsa-sha256; d=example.org; s=s", "rsa-sha256"},
        {"v=1; a=rsa-sha1; d=example.org; s=s", "rsa-sha1"},
        {"v=1; a=ed25519-sha256; d=example.org; s=s", "ed25519-sha256"},
        {"v=1; a=ed25519-sha256; d=example.org; s=none", "ed25519-sha256"},
        {"v=1; a=rsa-md5; d=example.org; s=s", "rsa-md5"},
        {"v=1; a=\"x; d=example.org; s=s", NULL},
        {"v=1; d=example.org; s=s", NULL},
        {"v=1; a=; d=example.org; s=s", NULL},
        {"v=1; a=rsa-sha1; a=rsa-sha256; d=example.org; s=s", NULL},
    };
    EVP_PKEY *key = make_key(1024);
    g_autofree char *public = public_of(key, false), *record = g_strdup_printf("p=%s", public);
    records[0] = record, records[1] = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *mail = sign(key, cases[at].tags, "from"), *found = results(mail);
        g_autofree char *property = auth_result_property(found, "header.a");
        g_test_message("%s", cases[at].tags);
        g_assert_cmpstr(property, ==, cases[at].property);
    }
    EVP_PKEY_free(key);
}

static void test_properties(void)
{
    static const char *const cases[][2] = {
        {"b=AbCdEfGhIj==", "header.b=AbCdEfGh"},
        {"b=Ab/d Ef\r\n =hIj==", "header.b=\"Ab/dEf=h\""},
        {"b=Ab", "header.b=Ab"},
        {"b=;", NULL},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *mail = g_strconcat("DKIM-Signature: v=1; d=example.org; ", cases[at][0], "\r\n" MAIL, NULL);
        g_autofree char *found = results(mail);
        g_test_message("%s", found);
        g_assert_true(cases[at][1] ? strstr(found, cases[at][1]) != NULL : strstr(found, "header.b") == NULL);
        assert_verdict(mail, "permerror");
    }
}

static void test_keys(void)
{
    static const struct {
        unsigned bits; /* 0: Ed25519 */
        const char *before, *after, *verdict;
    } cases[] = {
        {1024, "v=DKIM1; p=", "", "pass"},
        {1024, "p=", "", "pass"},
        {1024, "p=", "; v=DKIM1 ;", "pass"},
        {1024, "k=rsa; h=sha1 : sha256; s=*; t=y; n=a note; g=*; x=y; p=", "", "pass"},
        {0, "v=DKIM1; k=ed25519; p= ", " ; x=y", "pass"},
        {0, "k=ed25519; p=", ";", "pass"},
        {0, "v=DKIM1; h=sha1:sha256; s=email:other; k=ed25519; p=", "", "pass"},
        {768, "v=DKIM1; p=", "", "policy"},
        {1016, "p=", "", "policy"},
        {768, "v=DKIM2; p=", "", "permerror"},
        {1024, "v=DKIM2; p=", "", "permerror"},
        {1024, "v=dkim1; p=", "", "permerror"},
        {1024, "v=DKIM1; h=sha1; p=", "", "permerror"},
        {1024, "v=DKIM1; s=tls; p=", "", "permerror"},
        {1024, "v=DKIM1; k=dsa; p=", "", "permerror"},
        {1024, "v=DKIM1; k=ed25519; p=", "", "permerror"},
        {0, "v=DKIM1; k=rsa; p=", "", "permerror"},
        {0, "v=DKIM1; p=", "", "permerror"},
        {1024, "v=DKIM1; p=; n=", "", "permerror"}, /* revoked */
        {1024, "v=DKIM1; n=", "", "permerror"},
        {1024, "v=DKIM1; p=!", "", "permerror"},
        {1024, "v=DKIM1; p=", "; p=", "permerror"},
        {0, "v=DKIM1; k=ed25519; p=AAAA", "", "permerror"},
        {1024, "nonsense", "", "permerror"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        EVP_PKEY *key = make_key(cases[at].bits);
        g_autofree char *public = public_of(key, false);
        g_autofree char *record = g_strconcat(cases[at].before, public, cases[at].after, NULL);
        g_autofree char *mail = sign(key, cases[at].bits ? GOOD : EDWARDS, "from");
        records[0] = record, records[1] = NULL;
        g_test_message("%s", record);
        assert_verdict(mail, cases[at].verdict);
        EVP_PKEY_free(key);
    }
}

/* A record may be as long as the DNS allows, and p= may be what RFC 6376 says of RSA keys. */
static void test_long_keys(void)
{
    EVP_PKEY *key = make_key(2048);
    g_autofree char *public = public_of(key, false), *bare = public_of(key, true), *note = g_strnfill(8000, 'n');
    g_autofree char *noted = g_strdup_printf("v=DKIM1; n=%s; p=%s", note, public);
    g_autofree char *short_form = g_strdup_printf("p=%s", bare);
    g_autofree char *mail = sign(key, GOOD, "from");
    records[1] = NULL;
    records[0] = noted;
    assert_verdict(mail, "pass");
    records[0] = short_form;
    assert_verdict(mail, "pass");
    /* Others stand at the same place. */
    records[0] = "v=spf1 -all", records[1] = "v=DKIM1; p=AAAA", records[2] = noted, records[3] = NULL;
    assert_verdict(mail, "pass");
    EVP_PKEY_free(key);
}

/* A domain may want signatures of its own name alone (adkim=s of DMARC). */
static void test_strict_domain(void)
{
    EVP_PKEY *key = make_key(1024);
    g_autofree char *public = public_of(key, false), *record = g_strdup_printf("p=%s", public);
    g_autofree char *mail = sign(key, GOOD, "from");
    g_autoptr(Message) message = message_of(mail);
    records[0] = record, records[1] = NULL;
    g_assert_cmpint(dkim_holds(message, "mail.example.org", false, &names, NOW), ==, NAMES_FOUND);
    g_assert_cmpint(dkim_holds(message, "mail.example.org", true, &names, NOW), ==, NAMES_NONE);
    g_assert_cmpint(dkim_holds(message, "Example.org", true, &names, NOW), ==, NAMES_FOUND);
    EVP_PKEY_free(key);
}

/* t=s: the key is not for identities in domains below. */
static void test_strict_key(void)
{
    static const char *const identities[][2] = {{"", "pass"}, {"; i=a@Example.org", "pass"},
                                                {"; i=a@b.example.org", "permerror"}};
    EVP_PKEY *key = make_key(1024);
    g_autofree char *public = public_of(key, false), *record = g_strdup_printf("t=y:s; p=%s", public);
    records[0] = record, records[1] = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(identities); at++) {
        g_autofree char *tags = g_strconcat(GOOD, identities[at][0], NULL), *mail = sign(key, tags, "from");
        assert_verdict(mail, identities[at][1]);
    }
    EVP_PKEY_free(key);
}

/* Where the organization cannot be found out, the very domain still counts. */
static void test_unknown_organization(void)
{
    EVP_PKEY *key = make_key(1024);
    g_autofree char *public = public_of(key, false), *record = g_strdup_printf("p=%s", public);
    g_autofree char *mail = sign(key, GOOD, "from");
    g_autoptr(Message) message = message_of(mail);
    records[0] = record, records[1] = NULL;
    silent_top = true;
    g_assert_cmpint(dkim_holds(message, "example.org", false, &names, NOW), ==, NAMES_FOUND);
    g_assert_cmpint(dkim_holds(message, "mail.example.org", false, &names, NOW), ==, NAMES_TROUBLE);
    g_assert_cmpint(dkim_holds(message, "mail.example.org", true, &names, NOW), ==, NAMES_NONE);
    silent_top = false;
    EVP_PKEY_free(key);
}

static void test_answers(void)
{
    EVP_PKEY *key = make_key(1024);
    g_autofree char *public = public_of(key, false), *record = g_strdup_printf("p=%s", public);
    g_autofree char *mail = sign(key, GOOD, "from");
    g_autoptr(Message) message = message_of(mail), bare = message_of(MAIL);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    records[0] = record, records[1] = NULL;
    answer = NAMES_PENDING;
    g_assert_false(dkim_results(message, &names, NOW, texts));
    g_assert_cmpuint(texts->len, ==, 0);
    g_assert_cmpint(dkim_holds(message, "example.org", false, &names, NOW), ==, NAMES_PENDING);
    g_assert_cmpint(dkim_holds(message, "example.net", false, &names, NOW), ==, NAMES_NONE);
    answer = NAMES_TROUBLE;
    g_assert_true(dkim_results(message, &names, NOW, texts));
    g_assert_true(g_str_has_prefix(texts->pdata[0], "dkim=temperror header.d=example.org"));
    g_assert_cmpint(dkim_holds(message, "mail.example.org", false, &names, NOW), ==, NAMES_TROUBLE);
    g_assert_cmpint(dkim_holds(message, "mail.example.org", true, &names, NOW), ==, NAMES_NONE);
    answer = NAMES_NONE;
    assert_verdict(mail, "permerror");
    answer = NAMES_FOUND;
    g_autofree char *none = results(MAIL);
    g_assert_cmpstr(none, ==, "dkim=none");
    g_assert_cmpint(dkim_holds(bare, "example.org", false, &names, NOW), ==, NAMES_NONE);
    EVP_PKEY_free(key);
}

/* The signatures of a mailing list before us do not hide that of the author. */
static void test_many_signatures(void)
{
    EVP_PKEY *key = make_key(1024);
    g_autofree char *public = public_of(key, false), *record = g_strdup_printf("p=%s", public);
    g_autofree char *mail = sign(key, GOOD, "from");
    g_autoptr(GString) many = g_string_new(NULL);
    for (int at = 0; at < 1000; at++)
        g_string_append(many, "DKIM-Signature: v=1; a=rsa-sha256; d=list.example; s=s; h=from; bh=AAAA; b=AAAA\r\n");
    g_string_append(many, mail);
    g_autoptr(Message) message = message_of(many->str);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    records[0] = record, records[1] = NULL;
    g_assert_true(dkim_results(message, &names, NOW, texts));
    g_assert_cmpuint(texts->len, ==, DKIM_CHECKED_MAX);
    g_assert_cmpint(dkim_holds(message, "example.org", false, &names, NOW), ==, NAMES_FOUND);
    asked = 0;
    g_assert_cmpint(dkim_holds(message, "list.example", false, &names, NOW), ==, NAMES_NONE);
    g_assert_cmpuint(asked, <=, 3 * DKIM_CHECKED_MAX);
    EVP_PKEY_free(key);
}

#define BODY_SUM "s14J+iztnrytnRYzb7lhFG/jS/vrxWJnnahfijFMnco=" /* of "x" and its line end */

/* Work grows with the length of the mail: as many names in h= and as many other fields as there is room for. */
static void check_long(const char *unit, size_t length, void *data)
{
    g_autoptr(GString) mail = g_string_new("DKIM-Signature: v=1; a=rsa-sha256; c=relaxed; d=example.org; s=s; "
                                           "bh=" BODY_SUM "; b=AAAA; h=from");
    for (size_t at = 0; at < length / 20; at++)
        g_string_append_printf(mail, ":\r\n x%zu", at);
    g_string_append(mail, "\r\nFrom: a@example.org\r\n");
    for (size_t at = 0; at < length / 20; at++)
        g_string_append_printf(mail, "y%zu:\r\n", at);
    g_string_append(mail, "\r\nx\r\n");
    g_autofree char *found = results(mail->str);
    g_assert_true(g_str_has_prefix(found, "dkim=permerror reason=\"there is no key for it\""));
}

/* The same for as many signatures as there is room for, each of which names all of them, and has many tags. */
static void check_many(const char *unit, size_t length, void *data)
{
    g_autoptr(GString) one = g_string_new("DKIM-Signature: v=1; a=rsa-sha256; c=relaxed; d=example.org; s=s; "
                                          "bh=" BODY_SUM "; b=AAAA; h=from");
    for (unsigned at = 0; at < 100; at++)
        g_string_append(one, ":dkim-signature");
    for (unsigned at = 0; at < 100; at++)
        g_string_append_printf(one, "; x%u=", at);
    g_autoptr(GString) mail = g_string_new("From: a@example.org\r\n");
    while (mail->len < length)
        g_string_append_printf(mail, "%s\r\n", one->str);
    g_string_append(mail, "\r\nx\r\n");
    g_autoptr(Message) message = message_of(mail->str);
    g_autofree char *found = results(mail->str);
    g_assert_true(g_str_has_prefix(found, "dkim=permerror reason=\"there is no key for it\""));
    g_assert_cmpint(dkim_holds(message, "example.org", false, &names, NOW), ==, NAMES_NONE);
    g_assert_cmpint(dkim_holds(message, "example.net", false, &names, NOW), ==, NAMES_NONE);
}

static void test_long(void)
{
    static const Doubling input = {.unit = "x"};
    records[0] = "p=", records[1] = NULL;
    doubling_check(&input, check_long, NULL);
    doubling_check(&input, check_many, NULL);
}

/* ---- what the DNS has for a key of ours ---- */

static DkimKey *key_of(EVP_PKEY *private)
{
    GError *error = NULL;
    char *pem;
    BIO *bio = BIO_new(BIO_s_mem());
    g_assert_cmpint(PEM_write_bio_PrivateKey(bio, private, NULL, NULL, 0, NULL, NULL), ==, 1);
    long length = BIO_get_mem_data(bio, &pem);
    g_autofree char *text = g_strndup(pem, (gsize)length);
    BIO_free(bio);
    DkimKey *key = dkim_key_new(&(DkimKeyPlace){"example.org", "s", DKIM_USE_SIGN}, text, &error);
    g_assert_no_error(error);
    return key;
}

static void assert_judged(const DkimKey *key, DkimRecord wanted, const char *format, const char *half)
{
    g_autoptr(GString) record = g_string_new(format);
    g_string_replace(record, "HALF", half, 0);
    g_test_message("%s", record->str);
    g_assert_cmpint(dkim_key_judge(key, record->str), ==, wanted);
}

static void test_record(void)
{
    static const unsigned lengths[] = {1024, 2048, 0};
    for (size_t at = 0; at < G_N_ELEMENTS(lengths); at++) {
        EVP_PKEY *private = make_key(lengths[at]), *foreign = make_key(lengths[at]);
        g_autoptr(DkimKey) key = key_of(private);
        g_autofree char *half = public_of(private, false), *theirs = public_of(foreign, false);
        const char *kind = lengths[at] ? "rsa" : "ed25519", *other_kind = lengths[at] ? "ed25519" : "rsa";
        g_autofree char *fits = g_strdup_printf("v=DKIM1; k=%s; p=HALF", kind);
        g_autofree char *tried = g_strdup_printf("v=DKIM1; t=s:y; k=%s; p=HALF", kind);
        g_autofree char *unfit = g_strdup_printf("v=DKIM1; k=%s; p=HALF", other_kind);
        g_autofree char *old = g_strdup_printf("v=DKIM1; h=sha1; k=%s; p=HALF", kind);
        g_autofree char *made = dkim_key_record(key);
        g_assert_cmpint(dkim_key_bits(key), ==, lengths[at] ? (int)lengths[at] : 256);
        assert_judged(key, DKIM_RECORD_FITS, made, "");
        assert_judged(key, DKIM_RECORD_FITS, fits, half);
        assert_judged(key, DKIM_RECORD_TESTING, tried, half);
        assert_judged(key, DKIM_RECORD_UNFIT, unfit, half);
        assert_judged(key, DKIM_RECORD_UNFIT, old, half);
        assert_judged(key, DKIM_RECORD_OTHER, fits, theirs);
        assert_judged(key, DKIM_RECORD_OTHER, "v=DKIM1; p=MIIB", half);
        assert_judged(key, DKIM_RECORD_REVOKED, "v=DKIM1; p=", half);
        assert_judged(key, DKIM_RECORD_NONE, "v=spf1 -all", half);
        assert_judged(key, DKIM_RECORD_NONE, "", half);
        if (lengths[at]) {
            g_autofree char *bare = public_of(private, true); /* the other form of an RSA key */
            assert_judged(key, DKIM_RECORD_FITS, "p=HALF", bare);
        }
        EVP_PKEY_free(private);
        EVP_PKEY_free(foreign);
    }
}

SUITE("dkim")
{
    answer = NAMES_FOUND;
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dkim/tags", test_tags);
    g_test_add_func("/dkim/algorithm is told", test_algorithm_is_told);
    g_test_add_func("/dkim/properties", test_properties);
    g_test_add_func("/dkim/keys", test_keys);
    g_test_add_func("/dkim/long keys", test_long_keys);
    g_test_add_func("/dkim/strict domain", test_strict_domain);
    g_test_add_func("/dkim/strict key", test_strict_key);
    g_test_add_func("/dkim/unknown organization", test_unknown_organization);
    g_test_add_func("/dkim/answers of the DNS", test_answers);
    g_test_add_func("/dkim/records of the DNS for a key", test_record);
    g_test_add_func("/dkim/many signatures", test_many_signatures);
    g_test_add_func("/dkim/long header", test_long);
    return g_test_run();
}
