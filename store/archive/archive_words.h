/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Split texts into words to be found, the same way for a text that is kept, one that is asked for, and one that is
 * shown. A word is a row of letters and digits, in lower case and without accents; letters that Unicode does not take
 * apart are written as people do who lack the key: "Straße" is "strasse", "Łódź" is "lodz". Scripts that are written
 * without blanks give pairs: "庭の手" is "庭の", "の手". For this folder only.
 *
 *   word_reader_init(&reader, text, length);
 *   while (word_reader_next(&reader)) ... reader.word, reader.length, and where it stands: reader.from to reader.to
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define WORD_MAX 64 /* bytes; a longer one, a key or an attachment in the text, is left out */

typedef struct WordReader {
    const char *at, *end; /* what is left to be read */
    const char *from, *to;
    char word[WORD_MAX + 128];
    size_t length;
    char spelled[WORD_MAX + 128]; /* the word as it is spelled in ASCII where that differs: "mueller" for "müller" */
    size_t spelled_length;        /* 0: it does not differ */
    bool single; /* one letter of a script without blanks, which stands alone */
    bool in_row; /* for the reader: the letter before was such a one, and made a pair */
} WordReader;

/* Begin to read a text, which is borrowed: UTF-8, composed (NFC). A byte that is no UTF-8 is taken for a blank. */
void word_reader_init(WordReader *reader, const char *text, size_t length);
/* Read the next word. False: there is none any more. */
bool word_reader_next(WordReader *reader);

/* Return all words of a text (any bytes) with blanks between them, and behind them other spellings of such words, and
 * each letter of a script without blanks; g_free(). */
char *archive_words(const char *text, size_t length);
