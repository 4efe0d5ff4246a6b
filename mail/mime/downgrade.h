/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make a message fit for servers: one with bytes over 127 in its body for a server without 8BITMIME (RFC 6152,
 * section 3), one with lines of more than 998 bytes for all, many of which refuse those. Its parts are encoded in
 * quoted-printable, or in base64 where that is shorter; their contents do not change. Signatures over the body become
 * invalid, so use it only for servers that leave no choice.
 */
#include <glib.h>

/* Return the message so changed, or a new reference to the same bytes when there is nothing to do. Bytes over 127 stay
 * where no encoding is defined for them: in header fields, in signed parts, in fragments (message/partial), and in mail
 * that is no MIME. Such mail is broken as it comes, and servers take it more often than not. */
GBytes *downgrade_to_7bit(GBytes *message);

/* Return the message with the parts encoded that have long lines, and with long header fields folded at blanks, or a
 * new reference to the same bytes when no line is long. Lines stay long where no encoding is defined for them, as
 * above, and where a field has no blank. */
GBytes *downgrade_lines(GBytes *message);
