/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The text of a mail that a search of its archive finds. */
#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* Return the text parts of a mail as UTF-8, HTML as text where there is nothing else, without quoted lines and without
 * long ones that have no blank (keys, encoded files); at most ARCHIVE_TEXT_MAX bytes. Any bytes may be given.
 * *attachments counts the other parts. g_free()
 *
 * When this changes, archive_index.c gets a new number of its schema: a message's words are removed from the index by
 * giving the same text once more. */
char *archived_text(const char *octets, size_t length, int64_t *attachments);
