/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/archive/archive_words.h"

#include <string.h>

#define JOINERS_FIRST 0x300 /* accents: "é" as "e" and one of them */
#define JOINERS_LAST 0x36f

typedef struct Range {
    gunichar first, last;
} Range;

/* These characters are written without blanks between words. */
static const Range unspaced[] = {
    {0x0e00, 0x0eff}, /* Thai, Lao */
    {0x1000, 0x109f}, /* Burmese */
    {0x1100, 0x11ff}, /* Hangul in parts */
    {0x1780, 0x17ff}, /* Khmer */
    {0x3005, 0x3007}, /* 々〆〇 */
    {0x3040, 0x30ff}, /* Hiragana, Katakana */
    {0x3130, 0x318f}, {0x31f0, 0x31ff}, {0x3400, 0x4dbf},
    {0x4e00, 0x9fff}, {0xa960, 0xa97f}, {0xac00, 0xd7ff}, /* Hangul */
    {0xf900, 0xfaff}, {0xff66, 0xff9f}, {0x20000, 0x3ffff},
};

static bool is_unspaced(gunichar letter)
{
    if (letter < unspaced[0].first || letter == 0x30fb) /* the middle dot parts words */
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(unspaced); i++)
        if (letter <= unspaced[i].last)
            return letter >= unspaced[i].first;
    return false;
}

/* Letters that have no decomposition, as they are compared. */
static const struct {
    gunichar letter;
    const char *text;
} whole_letters[] = {
    {0xdf, "ss"},  {0xe6, "ae"},  {0xf0, "d"},   {0xf8, "o"},    {0xfe, "th"},   {0x111, "d"}, {0x127, "h"},
    {0x131, "i"},  {0x142, "l"},  {0x153, "oe"}, {0x167, "t"},
};

/* The second spelling of letters with an accent, which people use who lack the key. */
static const struct {
    gunichar letter;
    const char *text;
} spellings[] = {
    {0xe4, "ae"}, {0xe5, "aa"}, {0xf6, "oe"}, {0xf8, "oe"}, {0xfc, "ue"},
};

static const char *whole_letter(gunichar letter)
{
    for (size_t i = 0; i < G_N_ELEMENTS(whole_letters); i++)
        if (whole_letters[i].letter == letter)
            return whole_letters[i].text;
    return NULL;
}

static const char *spelling(gunichar letter)
{
    for (size_t i = 0; i < G_N_ELEMENTS(spellings); i++)
        if (spellings[i].letter == g_unichar_tolower(letter))
            return spellings[i].text;
    return NULL;
}

/* A letter as it is compared: without accent, in lower case, in its usual form. Returns how many bytes; 0: it parts
 * words. *joins: it is an accent and nothing. */
static size_t folded(gunichar letter, char bytes[6 * G_UNICHAR_MAX_DECOMPOSITION_LENGTH], bool *joins)
{
    gunichar parts[G_UNICHAR_MAX_DECOMPOSITION_LENGTH];
    *joins = letter >= JOINERS_FIRST && letter <= JOINERS_LAST;
    if (*joins || !(g_unichar_isalnum(letter) || g_unichar_ismark(letter)))
        return 0;
    gsize count = g_unichar_fully_decompose(letter, TRUE, parts, G_N_ELEMENTS(parts)), length = 0;
    for (gsize i = 0; i < MIN(count, G_N_ELEMENTS(parts)); i++) {
        gunichar part = g_unichar_tolower(parts[i]);
        const char *whole = part < 0x80 ? NULL : whole_letter(part);
        if (whole) {
            memcpy(bytes + length, whole, strlen(whole));
            length += strlen(whole);
        } else if (part < 0x80
                ? g_ascii_isalnum((char)part)
                : (part < JOINERS_FIRST || part > JOINERS_LAST) && (g_unichar_isalnum(part) || g_unichar_ismark(part)))
            length += (size_t)g_unichar_to_utf8(part, bytes + length);
    }
    return length;
}

void word_reader_init(WordReader *reader, const char *text, size_t length)
{
    *reader = (WordReader){.at = text, .end = text + length};
}

/* The next letter at `at`; a byte that is no UTF-8 parts words. */
static gunichar letter_at(const char *at, const char *end, const char **next)
{
    gunichar letter = g_utf8_get_char_validated(at, end - at);
    if (letter == (gunichar)-1 || letter == (gunichar)-2) {
        *next = at + 1;
        return ' ';
    }
    *next = g_utf8_next_char(at);
    return letter;
}

/* A pair of letters, or the only one of its row. */
static bool read_unspaced(WordReader *reader, gunichar letter, const char *next)
{
    reader->from = reader->at;
    reader->length = (size_t)g_unichar_to_utf8(letter, reader->word);
    reader->spelled_length = 0;
    const char *behind;
    gunichar second = next < reader->end ? letter_at(next, reader->end, &behind) : ' ';
    reader->single = !is_unspaced(second);
    bool last = reader->single && reader->in_row; /* it was the second of the pair before */
    reader->in_row = !reader->single;
    reader->at = next;
    reader->to = reader->single ? next : behind;
    if (!reader->single)
        reader->length += (size_t)g_unichar_to_utf8(second, reader->word + reader->length);
    return !last;
}

/* The rest of a word of letters that stand between blanks. */
static void read_spaced(WordReader *reader)
{
    bool joins;
    char bytes[6 * G_UNICHAR_MAX_DECOMPOSITION_LENGTH];
    reader->single = false;
    reader->from = reader->at;
    reader->length = reader->spelled_length = 0;
    size_t spelled = 0;
    bool differs = false;
    while (reader->at < reader->end) {
        const char *next = reader->at + 1;
        unsigned char byte = (unsigned char)*reader->at;
        const char *other = NULL;
        size_t count = 0;
        joins = false;
        if (byte < 0x80) {
            bytes[0] = g_ascii_tolower((char)byte);
            count = g_ascii_isalnum((char)byte);
        } else {
            gunichar letter = letter_at(reader->at, reader->end, &next);
            count = is_unspaced(letter) ? 0 : folded(letter, bytes, &joins);
            other = spelling(letter);
        }
        if (count == 0 && !joins)
            break;
        if (reader->length + count <= WORD_MAX)
            memcpy(reader->word + reader->length, bytes, count);
        reader->length += count;
        size_t more = other ? strlen(other) : count;
        if (spelled + more <= WORD_MAX)
            memcpy(reader->spelled + spelled, other ? other : bytes, more);
        spelled += more;
        differs |= other != NULL;
        reader->at = next;
    }
    if (differs && spelled <= WORD_MAX)
        reader->spelled_length = spelled;
    reader->to = reader->at;
}

bool word_reader_next(WordReader *reader)
{
    while (reader->at < reader->end) {
        const char *next = reader->at + 1;
        unsigned char byte = (unsigned char)*reader->at;
        gunichar letter = byte < 0x80 ? byte : letter_at(reader->at, reader->end, &next);
        if (is_unspaced(letter)) {
            if (read_unspaced(reader, letter, next))
                return true;
            continue;
        }
        reader->in_row = false;
        const char *before = reader->at;
        read_spaced(reader);
        if (reader->length > 0 && reader->length <= WORD_MAX)
            return true;
        if (reader->at == before)
            reader->at = next;
    }
    return false;
}

/* Letters of scripts without blanks, each once, so that a search for a single one finds it. */
static void add_letters(const char *text, size_t length, GString *words)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (const char *at = text, *end = text + length, *next; at < end; at = next) {
        gunichar letter = (unsigned char)*at < 0x80 ? ' ' : 0;
        next = at + 1;
        if (letter == 0)
            letter = letter_at(at, end, &next);
        if (letter != ' ' && is_unspaced(letter) && g_hash_table_add(seen, GUINT_TO_POINTER(letter))) {
            g_string_append_c(words, ' ');
            g_string_append_unichar(words, letter);
        }
    }
}

static bool is_ascii(const char *text, size_t length)
{
    unsigned char all = 0;
    for (size_t i = 0; i < length; i++)
        all |= (unsigned char)text[i];
    return all < 0x80;
}

char *archive_words(const char *text, size_t length)
{
    GString *words = g_string_sized_new(length + 1);
    g_autoptr(GString) spelled = g_string_new(NULL);
    bool ascii = is_ascii(text, length);
    g_autofree char *whole = ascii ? NULL : g_utf8_make_valid(text, (gssize)length);
    g_autofree char *composed = whole ? g_utf8_normalize(whole, -1, G_NORMALIZE_NFC) : NULL;
    if (composed) {
        text = composed;
        length = strlen(composed);
    }
    WordReader reader;
    word_reader_init(&reader, text, length);
    while (word_reader_next(&reader)) {
        if (reader.single)
            continue;
        if (words->len > 0)
            g_string_append_c(words, ' ');
        g_string_append_len(words, reader.word, (gssize)reader.length);
        if (reader.spelled_length > 0)
            g_string_append_printf(spelled, " %.*s", (int)reader.spelled_length, reader.spelled);
    }
    g_string_append(words, spelled->str); /* behind all others, so that those keep their neighbours */
    if (!ascii)
        add_letters(text, length, words);
    return g_string_free(words, FALSE);
}
