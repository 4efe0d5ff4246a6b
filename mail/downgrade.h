/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A message with bytes over 127 in its body, made fit for a server without
 * 8BITMIME (RFC 6152, section 3): its parts in quoted-printable, or base64
 * where that is shorter, and what they hold unchanged. Signatures
 * over the body are lost with that, so it is done only for servers that leave no choice.
 */
#include <glib.h>

/* New bytes, or a new reference to the same when there is nothing to do. Bytes over 127 stay where no encoding is
 * defined for them: in header fields, in signed parts, in fragments (message/partial), in what is no MIME. Such mail is
 * broken as it comes, and servers take it more often than not. */
GBytes *downgrade_to_7bit(GBytes *message);
