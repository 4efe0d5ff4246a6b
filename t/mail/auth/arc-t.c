/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Chains of ARC that this program seals itself, broken in each way; t/e2e/test_arc.py has another judge for both. */
#include "mail/auth/arc.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "mail/auth/dkim_keys.h"
#include "mail/auth/dkim_internal.h"
#include "t/doubling.h"
#include "t/suite.h"

#define MAIL \
    "From: anne@example.org\r\nTo: test@example.com\r\nSubject: hello\r\n there\r\n\r\nbody  of it \r\n\r\n\r\n"

#define NOW (1000 * CLOCK_SECOND)

/* ---- a DNS of our own: one key for all names ---- */

static char *record;
static NamesAnswer answer = NAMES_FOUND;
static unsigned asked;

static NamesAnswer text(void *data, const char *name, const char *const **texts)
{
    static const char *both[3];
    both[0] = "v=spf1 -all";
    both[1] = record;
    *texts = both;
    asked++;
    return g_str_has_prefix(name, "s._domainkey.") ? answer : NAMES_NONE;
}

static NamesAnswer exists(void *data, const char *name)
{
    return NAMES_FOUND;
}

static const Names names = {text, exists, NULL};

static DkimKey *make_key(bool edwards)
{
    g_autoptr(GError) error = NULL;
    EVP_PKEY *pair = edwards ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")
                             : EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)1024);
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, pair, NULL, NULL, 0, NULL, NULL);
    char *pem;
    long length = BIO_get_mem_data(bio, &pem);
    g_autofree char *private = g_strndup(pem, (size_t)length);
    guint8 *public = NULL;
    int size = i2d_PUBKEY(pair, &public);
    g_autofree char *encoded = edwards ? g_base64_encode(public + size - 32, 32)
                                       : g_base64_encode(public, (gsize)size);
    g_free(record);
    record = g_strdup_printf("v=DKIM1; k=%s; p=%s", edwards ? "ed25519" : "rsa", encoded);
    OPENSSL_free(public);
    BIO_free(bio);
    EVP_PKEY_free(pair);
    DkimKey *key = dkim_key_new(&(DkimKeyPlace){"example.com", "s", DKIM_USE_SEAL}, private, &error);
    g_assert_no_error(error);
    return key;
}

static ArcChain check(const char *mail)
{
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    g_autoptr(Message) message = message_new(octets);
    ArcChain chain;
    g_assert_true(arc_check(message, &names, NOW, &chain));
    return chain;
}

/* The mail with one set more. */
static char *seal(const DkimKey *key, const char *mail)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    g_autoptr(Message) message = message_new(octets);
    const ArcSeal next = {check(mail), "example.com; dkim=pass\r\n\theader.d=example.org", NOW};
    g_autofree char *fields = arc_seal(key, message, &next, &error);
    g_assert_no_error(error);
    return g_strconcat(fields, mail, NULL);
}

static char *replaced(const char *mail, const char *old, const char *new)
{
    g_auto(GStrv) parts = g_strsplit(mail, old, 2);
    g_assert_nonnull(parts[1]);
    return g_strjoinv(new, parts);
}

static void test_chain(gconstpointer edwards)
{
    g_autoptr(DkimKey) key = make_key(edwards != NULL);
    g_autofree char *mail = g_strdup(MAIL);
    for (unsigned instance = 0; instance <= 3; instance++) {
        ArcChain chain = check(mail);
        g_assert_cmpint(chain.status, ==, instance == 0 ? ARC_NONE : ARC_PASS);
        g_assert_cmpuint(chain.instance, ==, instance);
        g_assert_true(arc_may_seal(&chain));
        char *next = seal(key, mail);
        g_free(mail);
        mail = next;
    }
    /* The changes that relaxed forms let pass on the way do no harm. */
    g_autofree char *folded = replaced(mail, "Subject: hello\r\n there", "SUBJECT:hello there ");
    g_autofree char *body = replaced(folded, "body  of it ", "body \t of it");
    g_autofree char *added = g_strconcat("Received: from x\r\n", body, "\r\n", NULL);
    g_assert_cmpint(check(added).status, ==, ARC_PASS);
}

static void test_broken(void)
{
    static const struct {
        const char *old, *new;
    } cases[] = {
        {"hello", "Hello"},
        {"body", "bodi"},
        {"From: anne", "From: eve"},
        {"i=1; example.com; dkim=pass", "i=1; example.com; dkim=fail"},
        {"i=2; example.com; dkim=pass", "i=2; example.com; dkim=fail"},
        {"cv=none", "cv=pass"},
        {"cv=pass", "cv=none"},
        {"cv=pass", "cv=maybe"},
        {"ARC-Seal: i=1", "ARC-Seal: i=3"},
        {"ARC-Seal: i=1", "ARC-Seal: i=2"},
        {"ARC-Seal: i=1", "ARC-Seal: i=0"},
        {"ARC-Seal: i=1", "ARC-Seal: i=51"},
        {"ARC-Seal: i=1", "ARC-Seal: i=x"},
        {"ARC-Seal: i=1", "X-Seal: i=1"},
        {"ARC-Seal: i=2;", "ARC-Seal: i=2; h=from;"},
        {"ARC-Seal: i=2;", "ARC-Seal: i=2; i=2;"},
        {"ARC-Authentication-Results: i=1;", "ARC-Authentication-Results: j=1;"},
        {"ARC-Authentication-Results: i=2;", "ARC-Authentication-Results:"},
        {"ARC-Message-Signature: i=2; a=", "ARC-Message-Signature: i=2; x="},
        {"ARC-Message-Signature: i=2; a=ed25519-sha256", "ARC-Message-Signature: i=2; a=rsa-sha1"},
        {"ARC-Message-Signature: i=2; a=ed25519-sha256", "ARC-Message-Signature: i=2; a=rsa-sha256"},
        {"c=relaxed/relaxed", "c=simple/simple"},
        {"h=from:", "h="},
        {"s=s;", "s=other;"},
        {"d=example.com;", ""},
    };
    g_autoptr(DkimKey) key = make_key(true);
    g_autofree char *once = seal(key, MAIL), *mail = seal(key, once);
    g_assert_cmpint(check(mail).status, ==, ARC_PASS);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *broken = replaced(mail, cases[at].old, cases[at].new);
        g_test_message("%s -> %s", cases[at].old, cases[at].new);
        ArcChain chain = check(broken);
        g_assert_cmpint(chain.status, ==, ARC_FAIL);
        g_assert_nonnull(chain.reason);
    }
}

/* A broken chain is said to be so once, and then nobody goes on with it. */
static void test_failed_chain_ends(void)
{
    g_autoptr(DkimKey) key = make_key(true);
    g_autofree char *once = seal(key, MAIL), *broken = replaced(once, "body", "bodi"), *failed = seal(key, broken);
    g_assert_nonnull(strstr(failed, "ARC-Seal: i=2; cv=fail;"));
    ArcChain chain = check(failed);
    g_assert_cmpint(chain.status, ==, ARC_FAIL);
    g_assert_true(chain.ended);
    g_assert_false(arc_may_seal(&chain));
}

static void test_at_most_fifty(void)
{
    g_autoptr(DkimKey) key = make_key(true);
    g_autofree char *mail = g_strdup(MAIL);
    for (unsigned instance = 1; instance <= ARC_INSTANCE_MAX; instance++) {
        char *next = seal(key, mail);
        g_free(mail);
        mail = next;
    }
    ArcChain chain = check(mail);
    g_assert_cmpint(chain.status, ==, ARC_PASS);
    g_assert_cmpuint(chain.instance, ==, 50);
    g_assert_false(arc_may_seal(&chain));
}

static void test_dns(void)
{
    g_autoptr(DkimKey) key = make_key(true);
    g_autofree char *once = seal(key, MAIL), *mail = seal(key, once);
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    g_autoptr(Message) message = message_new(octets);
    ArcChain chain;
    answer = NAMES_PENDING;
    asked = 0;
    g_assert_false(arc_check(message, &names, NOW, &chain));
    g_assert_cmpuint(asked, ==, 3); /* for all of them at once */
    answer = NAMES_TROUBLE;
    chain = check(mail);
    g_assert_cmpint(chain.status, ==, ARC_TROUBLE);
    g_assert_false(arc_may_seal(&chain));
    answer = NAMES_NONE;
    g_assert_cmpint(check(mail).status, ==, ARC_FAIL);
    answer = NAMES_TROUBLE; /* nobody needs a key to see this */
    g_autofree char *broken = replaced(mail, "cv=none", "cv=pass");
    g_assert_cmpint(check(broken).status, ==, ARC_FAIL);
    answer = NAMES_FOUND;
}

/* Seal the mail for the first time, with results of about so many bytes. */
static char *seal_with(const DkimKey *key, const char *mail, size_t length)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GString) results = g_string_new("example.com; none");
    while (results->len < length)
        g_string_append(results, ";\r\n\tdkim=pass header.d=example.org");
    const ArcSeal next = {.results = results->str, .now = NOW};
    g_autofree char *fields = arc_seal(key, message, &next, &error);
    g_assert_no_error(error);
    return g_strconcat(fields, mail, NULL);
}

static void test_long_sets(void)
{
    g_autoptr(DkimKey) key = make_key(true);
    g_autofree char *fits = seal_with(key, MAIL, ARC_OCTETS_MAX - 2000);
    g_autofree char *long_one = seal_with(key, MAIL, ARC_OCTETS_MAX);
    g_assert_cmpint(check(fits).status, ==, ARC_PASS);
    asked = 0;
    ArcChain chain = check(long_one);
    g_assert_cmpint(chain.status, ==, ARC_FAIL);
    g_assert_cmpuint(chain.instance, ==, 1);
    g_assert_cmpuint(asked, ==, 0);
}

/* Seal the mail as a server does that puts these tags into its signature. */
static char *seal_with_tags(const DkimKey *key, const char *mail, const char *tags)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) octets = g_bytes_new(mail, strlen(mail));
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GString) results = g_string_new("ARC-Authentication-Results: i=1; example.com; none\r\n");
    g_autoptr(GString) signature = g_string_new("ARC-Message-Signature: i=1; a=ed25519-sha256; d=example.com; s=s; ");
    g_autoptr(GString) last = g_string_new("ARC-Seal: i=1; cv=none; a=ed25519-sha256; d=example.com; s=s; b=");
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append(signature, tags);
    g_assert_true(dkim_key_sign_message(key, message, true, signature, &error));
    GString *const fields[] = {results, signature, last};
    for (size_t at = 0; at < G_N_ELEMENTS(fields); at++) {
        const Field field = dkim_field_of(fields[at]);
        dkim_append_field(text, &field, true, fields[at] == last);
    }
    g_string_truncate(text, text->len - 2); /* the last field has no line end */
    g_assert_true(dkim_key_sign_text(key, text, last, &error));
    return g_strconcat(last->str, signature->str, results->str, mail, NULL);
}

/* A signature that has expired holds no more; one of a part of the body alone does not hold for the rest. */
static void test_tags_of_signature(void)
{
    static const struct {
        const char *tags, *behind;
        ArcStatus status;
    } cases[] = {
        {"", "", ARC_PASS},
        {"t=900; x=1000; ", "", ARC_PASS},
        {"t=900; x=999; ", "", ARC_FAIL},
        {"t=900; x=99999999999999999999; ", "", ARC_PASS},
        {"x=never; ", "", ARC_FAIL},
        {"x=; ", "", ARC_FAIL},
        {"l=12; ", "", ARC_PASS},
        {"l=12; ", "\r\n\r\n", ARC_PASS}, /* empty lines at the end do not count */
        {"l=12; ", "more\r\n", ARC_FAIL},
        {"l=13; ", "", ARC_FAIL},
        {"l=x; ", "", ARC_FAIL},
    };
    g_autoptr(DkimKey) key = make_key(true);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *mail = seal_with_tags(key, MAIL, cases[at].tags);
        g_autofree char *whole = g_strconcat(mail, cases[at].behind, NULL);
        g_test_message("%s", cases[at].tags);
        g_assert_cmpint(check(whole).status, ==, cases[at].status);
    }
}

/* The sets that came must still be there when the post leaves. */
static void test_lost_sets(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(DkimKey) key = make_key(true);
    g_autofree char *once = seal(key, MAIL);
    g_autoptr(GBytes) octets = g_bytes_new(MAIL, strlen(MAIL));
    g_autoptr(Message) bare = message_new(octets);
    const ArcSeal next = {check(once), "example.com; none", 0};
    g_assert_null(arc_seal(key, bare, &next, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

/* The line of an mbox before the header stays the first, or the header would end at it. */
static void test_first_line(void)
{
    g_autoptr(DkimKey) key = make_key(false);
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    g_ptr_array_add(keys, key);
    const ArcSeal next = {.results = "example.com; none"};
    g_autoptr(GBytes) octets = g_bytes_new_static("From x Mon Nov 23\r\n" MAIL, strlen("From x Mon Nov 23\r\n" MAIL));
    g_autoptr(GBytes) sealed = dkim_keys_sign(keys, &(Signing){"example.com", true, &next}, octets, "");
    g_autoptr(Message) message = message_new(sealed);
    ArcChain chain;
    g_assert_cmpuint(message_field(message, 0)->name_length, ==, 0);
    g_assert_true(message_has(message, "ARC-Seal") && message_has(message, "Subject"));
    g_assert_true(arc_check(message, &names, NOW, &chain));
    g_assert_cmpint(chain.status, ==, ARC_PASS);
}

/* The fields alone, put in their place by somebody else, are as good. */
static void test_fields_alone(void)
{
    static const char *const texts[] = {MAIL, "From x Mon Nov 23\r\n" MAIL};
    g_autoptr(DkimKey) key = make_key(false);
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    g_ptr_array_add(keys, key);
    const ArcSeal next = {.results = "example.com; none"};
    for (size_t at = 0; at < G_N_ELEMENTS(texts); at++) {
        g_autoptr(GBytes) octets = g_bytes_new_static(texts[at], strlen(texts[at]));
        g_autoptr(Message) bare = message_new(octets);
        g_autofree char *fields = dkim_keys_fields(keys, &(Signing){"example.com", true, &next}, octets, "");
        g_autoptr(GString) whole = g_string_new(texts[at]);
        g_string_insert(whole, (gssize)dkim_keys_place(bare), fields);
        g_assert_cmpint(check(whole->str).status, ==, ARC_PASS);
        g_autofree char *none = dkim_keys_fields(keys, &(Signing){"example.net", true, &next}, octets, "");
        g_assert_cmpstr(none, ==, "");
    }
}

/* An RSA key seals, wherever it stands; receivers do not read seals by Ed25519. */
static void test_which_key_seals(void)
{
    g_autoptr(DkimKey) edwards = make_key(true), rsa = make_key(false);
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    g_autoptr(GBytes) octets = g_bytes_new_static(MAIL, strlen(MAIL));
    const ArcSeal next = {.results = "example.com; none"};
    const Signing signing = {"example.com", false, &next};
    g_ptr_array_add(keys, edwards);
    g_assert_false(dkim_keys_fit(keys, &signing));
    g_autofree char *none = dkim_keys_fields(keys, &signing, octets, "");
    g_assert_cmpstr(none, ==, "");
    g_ptr_array_add(keys, rsa);
    g_assert_true(dkim_keys_fit(keys, &signing));
    g_autofree char *fields = dkim_keys_fields(keys, &signing, octets, "");
    g_assert_true(strstr(fields, "a=rsa-sha256") && !strstr(fields, "ed25519"));
}

/* ---- what ARC has of DKIM ---- */

static void test_fields(void)
{
    static const struct {
        const char *text, *relaxed, *simple;
        bool without;
    } cases[] = {
        {"A: X\r\n", "a:X\r\n", "A: X\r\n", false},
        {"Bb:Y\t\r\n\tZ  \r\n", "bb:Y Z\r\n", "Bb:Y\t\r\n\tZ  \r\n", false},
        {"C:\n  a\n b\n", "c:a b\r\n", "C:\r\n  a\r\n b\r\n", false},
        {"S: b=AB\r\n CD; bh=xy; b =1", "s:b=; bh=xy; b =\r\n", "S: b=; bh=xy; b =\r\n", true},
        {"S: a=b; d=b=c; b=x\r\n", "s:a=b; d=b=c; b=\r\n", "S: a=b; d=b=c; b=\r\n", true},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        size_t name = strcspn(cases[at].text, ":");
        Field field = {cases[at].text, strlen(cases[at].text), name, name + 1};
        g_autoptr(GString) relaxed = g_string_new(NULL), simple = g_string_new(NULL);
        dkim_append_field(relaxed, &field, true, cases[at].without);
        dkim_append_field(simple, &field, false, cases[at].without);
        g_assert_cmpstr(relaxed->str, ==, cases[at].relaxed);
        g_assert_cmpstr(simple->str, ==, cases[at].simple);
    }
}

static char *hash(const char *body, bool relaxed, int64_t limit)
{
    g_autoptr(GBytes) octets = g_bytes_new(body, strlen(body));
    return dkim_body_hash(octets, relaxed, limit, NULL);
}

static void test_bodies(void)
{
    static const struct {
        const char *relaxed, *same; /* the second is canonical */
    } cases[] = {
        {" C \r\nD \t E\r\n\r\n\r\n", " C\r\nD E\r\n"}, {"a\nb", "a\r\nb\r\n"}, {"\r\n\r\na\r\n", "\r\n\r\na\r\n"},
        {"a \r\n \t\r\n b\r\n \r\n", "a\r\n\r\n b\r\n"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *relaxed = hash(cases[at].relaxed, true, -1), *same = hash(cases[at].same, false, -1);
        g_assert_cmpstr(relaxed, ==, same);
    }
    g_autofree char *nothing = hash("", true, -1), *line = hash("", false, -1), *lines = hash("\r\n\r\n", false, -1);
    g_assert_cmpstr(nothing, ==, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    g_assert_cmpstr(line, ==, "frcCV1k9oG9oKj3dpUqdJg1PxRT2RSN/XKdLCPjaYaY=");
    g_assert_cmpstr(lines, ==, line);
    g_autofree char *first = hash("abcdef\r\n", false, 3), *all = hash("abc", false, 3);
    g_assert_cmpstr(first, ==, all);
}

/* As many names in h= and as many other fields as a mail of that length has room for. */
static void check_many(const char *text, size_t length, void *data)
{
    g_autofree char *sum = hash("x\r\n", false, -1);
    g_autoptr(GString) mail = g_string_new("ARC-Seal: i=1; cv=none; a=ed25519-sha256; d=e.example; s=s; b=AA==\r\n"
                                           "ARC-Authentication-Results: i=1; e.example; none\r\nFrom: x\r\n");
    for (size_t at = 0; at < length / 20; at++)
        g_string_append_printf(mail, "y%zu:\r\n", at);
    g_string_append_printf(mail, "ARC-Message-Signature: i=1; a=ed25519-sha256; d=e.example; s=s; b=AA==; bh=%s; "
                           "h=from", sum);
    for (size_t at = 0; at < length / 20; at++)
        g_string_append_printf(mail, ":\r\n x%zu", at);
    g_string_append(mail, "\r\n\r\nx\r\n");
    ArcChain chain = check(mail->str);
    g_assert_cmpstr(chain.reason, ==, "the last signature does not fit the message");
}

static void test_many_names(void)
{
    static const Doubling input = {.unit = "x"};
    g_autoptr(DkimKey) key = make_key(true);
    doubling_check(&input, check_many, NULL);
}

SUITE("arc")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/arc/chain, rsa", NULL, test_chain);
    g_test_add_data_func("/arc/chain, ed25519", "", test_chain);
    g_test_add_func("/arc/broken", test_broken);
    g_test_add_func("/arc/failed chain ends", test_failed_chain_ends);
    g_test_add_func("/arc/at most fifty", test_at_most_fifty);
    g_test_add_func("/arc/dns", test_dns);
    g_test_add_func("/arc/long sets", test_long_sets);
    g_test_add_func("/arc/tags of the signature", test_tags_of_signature);
    g_test_add_func("/arc/lost sets", test_lost_sets);
    g_test_add_func("/arc/first line", test_first_line);
    g_test_add_func("/arc/fields alone", test_fields_alone);
    g_test_add_func("/arc/which key seals", test_which_key_seals);
    g_test_add_func("/dkim syntax/fields", test_fields);
    g_test_add_func("/dkim syntax/bodies", test_bodies);
    g_test_add_func("/dkim syntax/many names", test_many_names);
    int code = g_test_run();
    g_free(record);
    return code;
}
