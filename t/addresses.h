/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * List addresses for tests of every part of Listrunner that reads them: all parts must agree with base/mailbox.h. Each
 * is in its bare form, so a part that accepts one gives it back as it stands here.
 */
#include <stddef.h>

static const char *const addresses_good[] = {
    "jo@example.com",
    "a@b",
    "A.b+c=d@example.com",
    "o'neil@example.com",
    "=?x!#$%&*/^_`{|}~-@x-y.org",
    "0@1.example",
    /* Given out by Japanese carriers. */
    "foo..bar@docomo.example",
    "foo.@ezweb.example",
    ".foo@docomo.example",
    "a..b.@example.jp",
    "-..x-.@docomo.example",
    /* Parts that need quotes have them. */
    "\"a b\"@example.com",
    "\"a@b\"@example.com",
    "\"\"@example.com",
    "\"a\\\"> b\"@example.com",
    "\"a,b\"@example.com",
    /* Domains of other kinds. */
    "a@under_score.example.com",
    "a@[192.0.2.1]",
    "a@[IPv6:2001:db8::1]",
    "a@xn--mller-kva.example",
    "j\303\274rgen@m\303\274ller.example",
    "\347\224\250\346\210\267@\344\276\213\345\255\220.example",
    "\340\244\225\340\245\215\340\244\267@example.com", /* with a mark that stands on a letter */
    NULL,
};

/* Texts that no part accepts as an address. */
static const char *const addresses_bad[] = {
    "", "a", "@", "a@", "@b", "a@b@c", "a b@c", "a@b c", "a\tb@c", "a\nb@c", "a@b\r", "a\r\n@b", "a@b..c", "a@.b",
    "a@b.", "a@-b", "a@b-", "a@b-.c", "<a@b>", "a@b>", "a,b@c", "a@b,c@d", "a;b@c", "a:b@c", "a(b)@c", "a\\b@c",
    "a@b/c", "\"a@b", "\"@b", "\"a\\\"@b", "\"a\"b@c", "a\"b\"@c", "\"a\"> NOTIFY=NEVER \"b\"@c", "\"a\"b\"c\"@d",
    "\"a\nb\"@c", "a@[1", "a@[]", "a@[1[", "a@[1>2]", "a@[1,2]", "a@[1]b", "\377@b", "a@\377", "a\302\205b@c",
    "a\302\240b@c", "\"a\302\240b\"@c", "a@b\343\200\200c", NULL,
};

/* Addresses that a mail may come from, and that are not added. */
static const char *const addresses_unseen[] = {
    /* Letters that nobody sees: ZERO WIDTH SPACE, BYTE ORDER MARK, SOFT HYPHEN, marks of direction, WORD JOINER. */
    "a\342\200\213b@c", "\342\200\213a@b", "a\342\200\213@b", "\357\273\277a@b", "a\302\255b@c",
    "a@b\342\200\216.c",
    "\342\200\256a@b", "a@b.c\342\200\216", "a\342\201\240@b", "\"a\342\200\213 b\"@c",
    /* Private and unassigned ones; a mark with no letter; one that is not composed; KELVIN SIGN, which is K. */
    "a\356\200\200@b", "a\315\270@b", "\314\201a@b", "a@\314\201b", "a@b.\314\201c", "e\314\201@b",
    "\342\204\252im@b", NULL,
};
