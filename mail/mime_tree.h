/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A message as the tree of objects that GMime makes of it, for code that changes the structure. */
#include <glib.h>

typedef struct _GMimeMessage GMimeMessage; /* of gmime/gmime.h, which the caller includes */

/* Parse octets, which may be any, or none. GMime bounds the depth of the parts; no field is parsed but those of
 * Content-, so the tree knows no addresses, subject, date or ids. g_object_unref(); NULL: GMime finds no message. */
GMimeMessage *mime_tree(GBytes *octets);
