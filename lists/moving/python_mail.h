/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write out a mail that Python's email package keeps as objects: header fields as they came, bodies, and parts with
 * their boundaries. LF line ends. Whatever Mailman added for itself when the mail came in is left out.
 */
#include <glib.h>

#include "lists/moving/pickle.h"

/* The classes that such a mail is made of, for pickle_read(). */
extern const char *const python_mail_classes[];

/* Return the mail as bytes; g_bytes_unref(). *sender (sender may be NULL; g_free()) is the envelope sender that Mailman
 * noted; NULL: none. FAIL_NEVER: the value is no mail, or its parts lie too deep or are too many. */
GBytes *python_mail_bytes(const PickleValue *mail, char **sender, GError **error);
