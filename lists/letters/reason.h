/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Translate the reasons why a post was held or refused, for letters. Rules and handlers state reasons in English; so
 * they are kept with a held post, and shown by the log, the shell and REST. The sentences in another language are those
 * of the template "answers" whose keys begin with "reason_".
 */
#include "lists/work.h"
#include "store/lists/list.h"

/* Return the text with each English sentence of ours put into the language; other text stays. g_free(). */
char *reason_translate(const Work *work, const List *list, const char *language, const char *text);
