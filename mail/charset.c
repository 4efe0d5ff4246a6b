/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/charset.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

#define LABEL_MAX 60
#define REPLACEMENT "\xef\xbf\xbd"
#define BIG_ENDIAN_MARK "\xfe\xff"
#define LITTLE_ENDIAN_MARK "\xff\xfe"
#define UTF_16 "UTF-16" /* the beginning of two decoders' names */
#define JAPANESE_8BIT "EUC-JP-MS"

typedef struct Charset {
    const char *decoder; /* iconv's name */
    const char *second;  /* for text with something that the first does not know; NULL: none */
    const char *labels;
    bool escapes; /* bytes below 128 may mean something else than in ASCII */
} Charset;

/* https://encoding.spec.whatwg.org/#names-and-labels; Microsoft's and other later forms of a charset are read in place
 * of older ones because they hold all of those. iconv's CP950 lacks what Hong Kong added to Big5, and its BIG5-HKSCS
 * seven characters of Big5. */
static const Charset charsets[] = {
    {"UTF-8", NULL, "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8", false},
    {"IBM866", NULL, "866 cp866 csibm866 ibm866", false},
    {"ISO-8859-2", NULL, "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
     false},
    {"ISO-8859-3", NULL, "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
     false},
    {"ISO-8859-4", NULL, "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
     false},
    {"ISO-8859-5", NULL,
     "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 "
     "iso_8859-5:1988",
     false},
    {"ISO-8859-6", NULL,
     "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
     "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
     false},
    {"ISO-8859-7", NULL,
     "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 "
     "iso_8859-7 iso_8859-7:1987 sun_eu_greek",
     false},
    {"ISO-8859-8", NULL,
     "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
     "iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
     false},
    {"ISO-8859-10", NULL, "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6", false},
    {"ISO-8859-13", NULL, "iso-8859-13 iso8859-13 iso885913", false},
    {"ISO-8859-14", NULL, "iso-8859-14 iso8859-14 iso885914", false},
    {"ISO-8859-15", NULL, "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9", false},
    {"ISO-8859-16", NULL, "iso-8859-16", false},
    {"KOI8-R", NULL, "cskoi8r koi koi8 koi8-r koi8_r", false},
    {"KOI8-U", NULL, "koi8-u", false},
    {"KOI8-RU", NULL, "koi8-ru", false},
    {"MACINTOSH", NULL, "csmacintosh mac macintosh x-mac-roman", false},
    {"WINDOWS-874", NULL, "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874", false},
    {"CP1250", NULL, "cp1250 windows-1250 x-cp1250", false},
    {"CP1251", NULL, "cp1251 windows-1251 x-cp1251", false},
    {"CP1252", NULL,
     "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
     "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
     false},
    {"CP1253", NULL, "cp1253 windows-1253 x-cp1253", false},
    {"CP1254", NULL,
     "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
     "windows-1254 x-cp1254",
     false},
    {"CP1255", NULL, "cp1255 windows-1255 x-cp1255", false},
    {"CP1256", NULL, "cp1256 windows-1256 x-cp1256", false},
    {"CP1257", NULL, "cp1257 windows-1257 x-cp1257", false},
    {"CP1258", NULL, "cp1258 windows-1258 x-cp1258", false},
    {"MAC-UK", NULL, "x-mac-cyrillic x-mac-ukrainian", false},
    {"GB18030", NULL, "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030", false},
    {"CP950", "BIG5-HKSCS", "big5 big5-hkscs cn-big5 cp950 csbig5 x-windows-950 x-x-big5", false},
    {JAPANESE_8BIT, NULL, "cseucpkdfmtjapanese euc-jp x-euc-jp", false},
    {JAPANESE_8BIT, "ISO-2022-JP-2", "csiso2022jp iso-2022-jp", true},
    {"CP932", NULL,
     "cp932 csshiftjis cswindows31j ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-ms-cp932 x-sjis", false},
    {"UHC", NULL,
     "cp949 cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 ms949 "
     "windows-949 x-windows-949",
     false},
    {"UTF-16BE", NULL, "unicodefffe utf-16be", true},
    {"UTF-16LE", NULL, "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le", true},
    /* The standard refuses these to web pages, or does not know them; in mail they are what they say. */
    {"UTF-7", NULL, "csunicode11utf7 unicode-1-1-utf-7 utf-7 x-unicode-2-0-utf-7", true},
    {"ISO-2022-KR", NULL, "csiso2022kr iso-2022-kr", true},
    {"ISO-2022-CN-EXT", NULL, "csiso2022cn iso-2022-cn iso-2022-cn-ext", true},
    {"ISO-2022-JP-2", NULL, "csiso2022jp2 iso-2022-jp-2", true},
};

static void *labels_make(void *data)
{
    GHashTable *made = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t at = 0; at < G_N_ELEMENTS(charsets); at++) {
        g_auto(GStrv) labels = g_strsplit(charsets[at].labels, " ", -1);
        for (char **label = labels; *label; label++)
            g_hash_table_insert(made, g_steal_pointer(label), (void *)&charsets[at]);
    }
    return made;
}

/* NULL: the table does not have it. */
static const Charset *find(const char *label)
{
    static GOnce once = G_ONCE_INIT;
    char lower[LABEL_MAX];
    if (strlen(label) >= sizeof lower)
        return NULL;
    for (size_t at = 0; at <= strlen(label); at++)
        lower[at] = g_ascii_tolower(label[at]);
    return g_hash_table_lookup(g_once(&once, labels_make, NULL), lower);
}

bool charset_same(const char *a, const char *b)
{
    const Charset *first = find(a);
    return first ? first == find(b) : g_ascii_strcasecmp(a, b) == 0;
}

/* Append the text that converter makes of the bytes. Return false where it did not know some. */
static bool convert(GIConv converter, GString *bytes, gsize unit, bool cut, GString *text)
{
    bool exact = true;
    char *from = bytes->str, buffer[1024];
    gsize left = bytes->len;
    for (bool more = true; more;) {
        char *to = buffer;
        gsize room = sizeof buffer;
        more = left > 0;
        errno = 0;
        /* Without bytes the converter gives out what it held back to see whether an accent follows. */
        gsize result = g_iconv(converter, more ? &from : NULL, more ? &left : NULL, &to, &room);
        int problem = result == (gsize)-1 ? errno : 0;
        g_string_append_len(text, buffer, to - buffer);
        if (problem == EINVAL && cut) {
            left = 0;
        } else if (problem != 0 && problem != E2BIG && more) {
            g_string_append(text, REPLACEMENT);
            gsize skipped = problem == EINVAL ? left : MIN(unit, left);
            from += skipped;
            left -= skipped;
            exact = false;
        }
    }
    return exact;
}

/* Put U+FFFD in the place of C1 controls: what a charset of ISO 8859 has there nobody wrote, but terminals obey. */
static bool replace_controls(GString *text)
{
    g_autoptr(GString) clean = g_string_new(NULL);
    const char *at = text->str, *end = at + text->len;
    for (const char *mark = at; (mark = memchr(mark, '\xc2', (size_t)(end - mark)));) {
        if ((unsigned char)*++mark >= 0xa0)
            continue;
        g_string_append_len(clean, at, mark - 1 - at);
        g_string_append(clean, REPLACEMENT);
        at = ++mark;
    }
    if (at == text->str)
        return true;
    g_string_append_len(clean, at, end - at);
    g_string_truncate(text, 0);
    g_string_append_len(text, clean->str, (gssize)clean->len);
    return false;
}

/* Has the text characters that everybody may define? */
static bool has_private(const GString *text)
{
    for (const char *at = text->str, *end = at + text->len; at < end; at = g_utf8_next_char(at))
        if (g_unichar_type(g_utf8_get_char(at)) == G_UNICODE_PRIVATE_USE)
            return true;
    return false;
}

typedef struct Escape {
    const char *sequence;
    const char *lead; /* what stands before each character in 8 bits */
    unsigned width;   /* bytes of a character; 0: those of ASCII, which stay as they are */
} Escape;

/* ISO-2022-JP as EUC-JP: iconv knows in that form alone what Japanese programs added to JIS X 0208. NULL: the bytes
 * have something else. */
static GString *japanese_8bit(const char *bytes, size_t length, bool cut)
{
    static const Escape escapes[] = {{"\033(B", "", 0}, {"\033(J", "", 0}, {"\033(I", "\x8e", 1},
                                     {"\033$@", "", 2}, {"\033$B", "", 2}, {"\033$(D", "\x8f", 2}};
    const Escape *state = escapes;
    g_autoptr(GString) out = g_string_sized_new(length);
    for (const char *at = bytes, *end = bytes + length; at < end;) {
        if (*at == '\033') {
            size_t next = 0;
            while (next < G_N_ELEMENTS(escapes) &&
                   strncmp(at, escapes[next].sequence, MIN(strlen(escapes[next].sequence), (size_t)(end - at))) != 0)
                next++;
            bool whole = next < G_N_ELEMENTS(escapes) && (size_t)(end - at) >= strlen(escapes[next].sequence);
            if (!whole && !(next < G_N_ELEMENTS(escapes) && cut))
                return NULL;
            state = whole ? &escapes[next] : state;
            at += whole ? strlen(state->sequence) : (size_t)(end - at);
            continue;
        }
        bool plain = state->width == 0 || (unsigned char)*at <= ' ' || *at == '\x7f';
        bool roman = state == &escapes[1] && (*at == '\\' || *at == '~'); /* a yen sign and an overline */
        if ((unsigned char)*at >= 0x80 || roman || *at == '\016' || *at == '\017')
            return NULL;
        size_t letters = 0; /* of the character that begins here */
        while (!plain && letters < state->width && at + letters < end && at[letters] > ' ' && at[letters] <= '~')
            letters++;
        if (!plain && letters < state->width) {
            if (!cut || (size_t)(end - at) >= state->width)
                g_string_append_c(out, '\xff'); /* no character: iconv gets nothing to pair the next byte with */
            at++;
            continue;
        }
        if (!plain)
            g_string_append(out, state->lead);
        for (unsigned left = plain ? 1 : state->width; left > 0; left--)
            g_string_append_c(out, (char)(*at++ | (plain ? 0 : 0x80)));
    }
    return g_steal_pointer(&out);
}

/* Append valid UTF-8; U+FFFD for what is none. */
static bool append_utf8(const char *bytes, size_t length, bool cut, GString *text)
{
    const char *end;
    if (g_utf8_validate_len(bytes, length, &end)) {
        g_string_append_len(text, bytes, (gssize)length);
        return true;
    }
    size_t valid = (size_t)(end - bytes);
    if (cut && g_utf8_get_char_validated(end, (gssize)(length - valid)) == (gunichar)-2) {
        g_string_append_len(text, bytes, (gssize)valid);
        return true;
    }
    g_autofree char *made = g_utf8_make_valid(bytes, (gssize)length);
    g_string_append(text, made);
    return false;
}

/* The text by that decoder of iconv; NULL: there is no such one, or it reads nothing like this. */
static GString *decode_with(const Charset *charset, const char *decoder, const char *bytes, size_t length, bool cut,
                            bool *exact)
{
    bool japanese = charset->escapes && g_str_equal(decoder, JAPANESE_8BIT);
    size_t mark = 0;
    if (g_str_has_prefix(decoder, UTF_16) && length >= 2) {
        bool big = memcmp(bytes, BIG_ENDIAN_MARK, 2) == 0, little = memcmp(bytes, LITTLE_ENDIAN_MARK, 2) == 0;
        mark = big || little ? 2 : 0;
        decoder = big ? UTF_16 "BE" : little ? UTF_16 "LE" : decoder;
    }
    g_autoptr(GString) form = japanese ? japanese_8bit(bytes, length, cut)
                                       : g_string_new_len(bytes + mark, (gssize)(length - mark));
    GIConv converter = form ? g_iconv_open("UTF-8", decoder) : (GIConv)-1;
    if (converter == (GIConv)-1)
        return NULL;
    /* Of a decoder of the table another one stays open, which keeps the charset's module in memory: it would be loaded
     * anew for each text. */
    static GHashTable *kept;
    static GMutex lock;
    g_mutex_lock(&lock);
    if (!kept)
        kept = g_hash_table_new(g_str_hash, g_str_equal);
    if (*charset->labels && !g_hash_table_contains(kept, decoder))
        g_hash_table_insert(kept, (void *)decoder, g_iconv_open("UTF-8", decoder));
    g_mutex_unlock(&lock);
    GString *text = g_string_sized_new(form->len);
    *exact = convert(converter, form, g_str_has_prefix(decoder, UTF_16) ? 2 : 1, cut, text);
    *exact = replace_controls(text) && *exact;
    g_iconv_close(converter);
    return text;
}

/* Of what the decoders make the best; NULL: none of them can be had. */
static GString *decode(const Charset *charset, const char *bytes, size_t length, bool cut, bool *exact)
{
    GString *text = decode_with(charset, charset->decoder, bytes, length, cut, exact);
    if (!charset->second || (text && *exact && !has_private(text)))
        return text;
    bool other_exact = false;
    GString *other = decode_with(charset, charset->second, bytes, length, cut, &other_exact);
    bool better = other && (!text || (other_exact && !(*exact && has_private(other))));
    GString *worse = better ? text : other;
    if (worse)
        g_string_free(worse, TRUE);
    *exact = better ? other_exact : *exact;
    return better ? other : text;
}

bool charset_decode(const char *label, const char *bytes, size_t length, bool cut, GString *text)
{
    const Charset *known = find(label), own = {.decoder = label, .labels = "", .escapes = true};
    if (length == 0 || ((known ? !known->escapes : !*label) && !bytes_8bit(bytes, length))) {
        g_string_append_len(text, bytes, (gssize)length);
        return known || !*label || length == 0;
    }
    if (known && g_str_equal(known->decoder, "UTF-8"))
        return append_utf8(bytes, length, cut, text);
    bool exact = false;
    /* A name, without what tells iconv how to convert, as "//IGNORE" does. */
    bool is_name = *label && strlen(label) < LABEL_MAX &&
                   !label[strspn(label, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_.:+()")];
    GString *decoded = known || is_name ? decode(known ? known : &own, bytes, length, cut, &exact) : NULL;
    const char *end;
    if (!exact && bytes_8bit(bytes, length) &&
        (g_utf8_validate_len(bytes, length, &end) ||
         (cut && g_utf8_get_char_validated(end, bytes + length - end) == (gunichar)-2))) {
        if (decoded)
            g_string_free(decoded, TRUE);
        append_utf8(bytes, length, cut, text); /* somebody else's label */
        return false;
    }
    bool guess = !decoded;
    if (guess)
        decoded = decode(find("windows-1252"), bytes, length, cut, &exact);
    g_string_append_len(text, decoded->str, (gssize)decoded->len);
    g_string_free(decoded, TRUE);
    return exact && !guess;
}
