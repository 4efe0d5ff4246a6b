/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Reasons for people in their language. Rules and handlers state them in English, which the log, the shell and REST
 * show, and which is kept with a held post. A letter has the sentences of that language in their place: those of the
 * template "answers" whose keys begin with "reason_".
 */
#include "lists/work.h"
#include "store/list.h"

/* The text with each English sentence of ours in the language; what is none of them stays. g_free(). */
char *reason_translate(const Work *work, const List *list, const char *language, const char *text);
