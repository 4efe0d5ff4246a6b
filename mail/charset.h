/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Turn text in the charsets that mail is written in into UTF-8. Labels mean what the WHATWG Encoding Standard says, as
 * they do to mail programs: gb2312 is read as GB18030, ks_c_5601-1987 as Microsoft's code page 949, iso-8859-1 as
 * windows-1252. A label that the standard does not have is one of iconv's, if that knows it.
 *
 * Any bytes may be given, and nothing fails: U+FFFD stands for each byte that cannot be read. A caller that writes the
 * text in the place of the bytes looks at the result first, and keeps the bytes where something was lost.
 *
 * May be called from any thread.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Append length bytes, of the charset with that label, to text as UTF-8. "" is no label, and then the bytes are UTF-8
 * where they are valid UTF-8, and windows-1252 otherwise; an unknown label is treated like that too. cut: the bytes end
 * where a limit cut them off, and a character that is not whole at the end is left out. Return true when the text says
 * exactly what the bytes say: the label is known, and no byte was lost, guessed at, or a C1 control. */
bool charset_decode(const char *label, const char *bytes, size_t length, bool cut, GString *text);

/* Do both labels mean the same charset? */
bool charset_same(const char *a, const char *b);
