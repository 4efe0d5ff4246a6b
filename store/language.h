/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * List the languages that a list, a user or a member may prefer: those of GNU Mailman, separated by blanks. Where
 * neither the site nor Listrunner has texts in one of them, letters are in English.
 */
#include <glib.h>
#include <stdbool.h>

#define LANGUAGE_DEFAULT "en"
#define PREFERENCE_LANGUAGE_SIZE 16 /* bytes of a code with its end */
#define LANGUAGES \
    "ar ast bg ca cs da de el en es et eu fi fr gl he hr hu ia it ja ko lt nl no pl pt pt_BR ro ru sk sl sr sv tr uk " \
    "vi zh_CN zh_TW"

/* Accept the code of a language in LANGUAGES, also with another place or script behind it: "de", "de-AT", "zh_Hant".
 * FAIL_NEVER: it is none; the message begins with the name of the setting. */
bool language_check(const char *setting, const char *code, GError **error);
