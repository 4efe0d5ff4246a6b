/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Parse a message into the tree of objects that GMime makes of it, for code that changes the structure. */
#include <glib.h>

typedef struct _GMimeMessage GMimeMessage; /* of gmime/gmime.h, which the caller includes */

/* The most parts that are made into a tree: GMime needs some 20 microseconds for each, and a mail may have a million.
 * */
#define MIME_TREE_PARTS 1000

/* Estimate the number of parts without parsing. The number is never too small, and as a rule exact. */
size_t mime_tree_parts(GBytes *octets);

/* Parse octets, which may be any, or none. GMime bounds the depth of the parts; no field is parsed but those of
 * Content-, so the tree knows no addresses, subject, date or ids. A message of more than MIME_TREE_PARTS parts is
 * one part, a text, with none of its fields of Content-. g_object_unref(); NULL: GMime finds no message. */
GMimeMessage *mime_tree(GBytes *octets);
