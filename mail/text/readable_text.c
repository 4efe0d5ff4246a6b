/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A text as blocks: paragraphs, quotations, the signature, patches. */
#include <string.h>

#include "mail/text/readable_internal.h"

/* ---- the lines that mail programs write above the mail that somebody answers ---- */

/* They are recognised in many languages: by their shape, and by their verb. */

#define LINES 4             /* of an attribution */
#define ATTRIBUTION_MAX 500 /* bytes */
#define WEAK_MAX 200
#define BLOCK_LINES 12 /* of From, Sent, To, Cc, Subject */
#define LINE_MAX_BYTES 1000
#define LABEL_MAX 40

static const char *const verbs[] = {
    "wrote",   "writes",    "said",     "Quoting",     "schrieb", "schreibt", "écrit",      "escribió", "escribio",
    "scritto", "scrive",    "escreveu", "schreef",     "skrev",   "napisał",  "пишет",      "писал",    "написал",
    "пише",    "kirjoitti", "yazdı",    "yazmış",      "írta",    "napsal",   "napísal",    "a scris",  "je napis",
    "έγραψε",  "כתב",       "كتب",      "写道",        "写到",    "寫道",     "書きました", "のメール", "님이",
    "작성",    "đã viết",   "menulis",  "va escriure", "idatzi",  NULL,
};

/* An attribution that fills more than a line begins with one of these words. */
static const char *const openers[] = {
    "On ",     "Am ",   "Le ",      "El ", "Il ",  "Em ",  "Op ",   "Den ",  "På ",
    "W dniu ", "Dnia ", "At ",      "In ", "Dne ", "Dňa ", "Dana ", "Pe ",   "A ",
    "Στις ",   "В ",    "Quoting ", "* ",  "--- ", "Von ", "Vào ",  "Pada ", NULL,
};

/* "From" in the block that a program copies. */
static const char *const from_words[] = {
    "From", "Von",       "De",     "Da",     "Van",        "Från",      "Fra",      "Od",       "От",
    "Від",  "Lähettäjä", "Feladó", "Kimden", "Expéditeur", "Mittente",  "Afsender", "Avsender", "Remitente",
    "Από",  "מאת",       "发件人", "寄件者", "差出人",     "보낸 사람", "보낸사람", NULL,
};

static const char *const forward_words[] = {
    "orward",    "eitergeleitet", "ransféré", "eenviado", "noltrato", "ncaminhad", "oorgestuurd", "idarebefordr",
    "rzekazana", "Fwd",           "ересыл",   "转发",     "轉寄",     "転送",      NULL,
};

static bool has_any(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strstr(text, *words))
            return true;
    return false;
}

static bool begins_with_any(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (g_str_has_prefix(text, *words))
            return true;
    return false;
}

/* Is there a year from 1970 to 2099, or a time of day? */
static bool has_date(const char *text)
{
    for (const char *at = text; (at = strpbrk(at, "0123456789"));) {
        size_t digits = strspn(at, "0123456789");
        bool year = digits == 4 && (strncmp(at, "19", 2) == 0 || strncmp(at, "20", 2) == 0);
        bool time = digits <= 2 && strchr(":.h", at[digits]) && at[digits] && g_ascii_isdigit(at[digits + 1]) &&
                    g_ascii_isdigit(at[digits + 2]) && !g_ascii_isdigit(at[digits + 3]);
        if (year || time)
            return true;
        at += digits;
    }
    return false;
}

/* Does it end with a colon, if stars, underscores and blanks behind it are not counted? */
static bool ends_with_colon(const char *text)
{
    size_t length = strlen(text);
    while (length > 0 && strchr(" *_\n", text[length - 1]))
        length--;
    return (length > 0 && text[length - 1] == ':') ||
           (length >= 3 && memcmp(text + length - strlen("："), "：", strlen("：")) == 0);
}

/* Where the attribution begins at the end of a text that stands above a quotation; length: there is none. */
static size_t attribution_start(const char *text, size_t length)
{
    size_t starts[LINES], count = 0;
    const char *from = text + (length > ATTRIBUTION_MAX ? length - ATTRIBUTION_MAX : 0);
    for (size_t end = length; count < LINES && end > 0;) {
        const char *feed = text + end > from ? memrchr(from, '\n', (size_t)(text + end - from)) : NULL;
        size_t start = feed ? (size_t)(feed + 1 - text) : 0;
        if ((!feed && from > text) || start == end)
            break; /* a line that is too long, or an empty one */
        starts[count++] = start;
        end = start > 0 ? start - 1 : 0;
    }
    size_t lines = 0; /* of the attribution */
    for (size_t line = 0; lines == 0 && line < count; line++) {
        g_autofree char *tail = g_strndup(text + starts[line], length - starts[line]);
        bool certain = has_any(tail, verbs) && (strchr(tail, '@') || has_date(tail)) &&
                       (ends_with_colon(tail) || strlen(tail) <= WEAK_MAX);
        lines = certain ? line + 1 : 0;
    }
    if (lines == 0 && count > 0) { /* with less to go by: the one line above the quotation */
        g_autofree char *last = g_strndup(text + starts[0], length - starts[0]);
        lines = ends_with_colon(last) && strlen(last) <= WEAK_MAX &&
                (has_any(last, verbs) || strchr(last, '@') || has_date(last));
    }
    for (size_t line = lines; lines > 0 && line < count; line++) {
        g_autofree char *tail = g_strndup(text + starts[line], length - starts[line]);
        const char *next = strchr(tail, '\n');
        if (begins_with_any(tail, openers) && has_date(tail) && next && !g_str_has_prefix(next - 1, ".")) {
            lines = line + 1;
            break;
        }
    }
    return lines > 0 ? starts[lines - 1] : length;
}

/* ---- mails that are copied without marks ---- */

/* A line as a string; NULL: it is too long. Moves *at behind it. */
static char *copy_line(const char **at, const char *end)
{
    const char *feed = memchr(*at, '\n', MIN((size_t)(end - *at), LINE_MAX_BYTES));
    if (!feed && end - *at > LINE_MAX_BYTES)
        return NULL;
    char *line = g_strndup(*at, (gsize)((feed ? feed : end) - *at));
    *at = feed ? feed + 1 : end;
    return g_strstrip(line);
}

/* "*From:* Anne", "发件人：Anne". from: it says who wrote the mail. */
static bool is_labelled(const char *line, bool *from)
{
    line += strspn(line, "*");
    const char *colon = strpbrk(line, ":"), *wide = strstr(line, "：");
    const char *end = !colon || (wide && wide < colon) ? wide : colon;
    if (!end || end == line || end - line > LABEL_MAX)
        return false;
    g_autofree char *label = g_strndup(line, (gsize)(end - line));
    g_strdelimit(label, "*", ' ');
    g_strstrip(label);
    for (const char *const *word = from_words; !*from && *word; word++)
        *from = strcmp(label, *word) == 0;
    return *label && end[1] != '/';
}

/* The length of the lines that some programs put above a mail that they copy without marks, if they begin at `at`; 0:
 * they do not. They are "-----Original Message-----", but not of one that is passed on, which is what the mail is
 * about, and a block of From, Sent and Subject. */
static size_t original_length(const char *at, const char *end)
{
    if (at >= end || (!strchr("-_*", *at) && !begins_with_any(at, from_words)))
        return 0;
    const char *next = at, *behind = at;
    g_autofree char *line = copy_line(&next, end);
    size_t length = line ? strlen(line) : 0, dashes = line ? strspn(line, "-") : 0;
    bool underscores = length >= 10 && strspn(line, "_") == length;
    bool rule = underscores ||
                (dashes >= 3 && length > dashes + 5 && g_str_has_suffix(line, "---") && !has_any(line, forward_words));
    for (int blank = 0; rule && blank <= 2; blank++) {
        behind = next;
        g_free(line);
        line = copy_line(&next, end);
        if (!line || *line)
            break;
    }
    bool from = false, date = false;
    int count = 0;
    while (line && count < BLOCK_LINES && is_labelled(line, &from)) {
        if (count == 0 && !from && (!rule || underscores))
            return 0;
        date = date || has_date(line);
        behind = next;
        count++;
        g_free(line);
        line = next < end ? copy_line(&next, end) : NULL;
    }
    bool found = from && (rule ? count >= 2 : count >= 3 && date);
    return found ? (size_t)(behind - at) : 0;
}

/* ---- text for a fixed pitch: patches and tables ---- */

/* The byte behind the line that begins at at, with its line end. */
static const char *next_line(const char *at, const char *end)
{
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    return feed ? feed + 1 : end;
}

static bool begins_with(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* Does a patch begin here? It takes two lines to tell. */
static bool begins_patch(const char *at, const char *end)
{
    static const char *const pairs[][2] = {
        {"diff -", ""}, {"--- ", "+++ "}, {"Index: ", "====="}, {"Index: ", "-----"}, {"Index: ", "diff "}};
    for (size_t pair = 0; pair < G_N_ELEMENTS(pairs); pair++) {
        if (!begins_with(at, end, pairs[pair][0]))
            continue;
        const char *next = next_line(at, end);
        if (next < end && begins_with(next, end, pairs[pair][1]))
            return true;
    }
    return false;
}

/* May a line stand between two hunks? */
static bool is_between(const char *at, const char *end)
{
    static const char *const words[] = {"diff ",
                                        "index ",
                                        "--- ",
                                        "+++ ",
                                        "@@ ",
                                        "new file mode",
                                        "deleted file mode",
                                        "old mode",
                                        "new mode",
                                        "similarity index",
                                        "dissimilarity index",
                                        "rename ",
                                        "copy ",
                                        "Binary files ",
                                        "GIT binary patch",
                                        "literal ",
                                        "delta ",
                                        "Index: ",
                                        "=====",
                                        "-----",
                                        "\\ No newline",
                                        "Only in ",
                                        "RCS file: ",
                                        "retrieving revision "};
    for (size_t word = 0; word < G_N_ELEMENTS(words); word++)
        if (begins_with(at, end, words[word]))
            return true;
    return false;
}

/* "3,7" or "3": how many lines. */
static long count_of(const char *range)
{
    const char *comma = range + strspn(range, "0123456789");
    return *comma == ',' ? strtol(comma + 1, NULL, 10) : 1;
}

/* The length of the patch that begins at at, where a line begins; 0: there is none. */
static size_t patch_length(const char *at, const char *end)
{
    if (at >= end || !strchr("d-I", *at) || !begins_patch(at, end))
        return 0;
    const char *next = at;
    long removed = 0, added = 0; /* lines of a hunk that are still to come, those that stay counted in both */
    for (; next < end; next = next_line(next, end)) {
        if (removed > 0 || added > 0) {
            bool stays = strchr(" \n\t", *next) != NULL;
            if (!stays && !strchr("+-\\", *next))
                break;
            removed -= stays || *next == '-';
            added -= stays || *next == '+';
            continue;
        }
        if (!is_between(next, end) || begins_with(next, end, "-- \n"))
            break;
        g_autofree char *line = begins_with(next, end, "@@ -") ? g_strndup(next, MIN(80, (size_t)(end - next))) : NULL;
        const char *plus = line ? strstr(line, " +") : NULL;
        removed = plus ? count_of(line + strlen("@@ -")) : 0;
        added = plus ? count_of(plus + 2) : 0;
    }
    return (size_t)(next - at);
}

/* Has a paragraph columns, so that it wants a fixed pitch? */
static bool is_table(const char *text, size_t length)
{
    size_t lines = 0, indented = 0, columns = 0;
    for (const char *at = text, *end = text + length, *next; at < end; at = next) {
        next = next_line(at, end);
        size_t bare = (size_t)(next - at) - (next[-1] == '\n'), indent = MIN(strspn(at, " "), bare),
               left = bare - indent;
        const char *rest = at + indent;
        indented += bare > 4 && (*at == '\t' || memcmp(at, "    ", 4) == 0);
        /* A sign that draws a column, or blanks in a row between two words. */
        columns += (left > 1 && (*rest == '|' || (*rest == '+' && rest[1] == '-'))) || memmem(rest, left, "   ", 3) ||
                   memchr(rest, '\t', left) || memmem(rest, left, " | ", 3);
        lines++;
    }
    return lines >= 2 && (indented == lines || columns * 2 > lines);
}

#define FOOTER_RULE 20  /* underscores or hyphens above the footer of a list */
#define FOOTER_LINES 10 /* of it */
#define FOOTER_MAX 2000 /* bytes */
#define ARMOR_LINE 80
#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
#define SIGNED_HEAD 6 /* lines of an armor's head */

/* The text that is read, and what was gathered of a block that is not whole. */
typedef struct TextReader {
    Readable *to;
    ReadableBudget *budget;
    const ReadableForm *form;
    const char *at, *end; /* behind the lines that were taken */
    const char *line;     /* of those the first, with its marks */
    GString *own;         /* what they say without marks, joined where they are flowed */
    unsigned level;       /* of them */
    bool above_quoted;    /* the line before was quoted */
    bool original;        /* below a block that a program copied: all is quoted */
    bool dashed;          /* signed by OpenPGP: "- " before a line is not part of it */
    GString *gathered;
    ReadableKind kind; /* of what is gathered */
    unsigned gathered_level;
    unsigned fold;      /* of the quotation that goes on; 0: none does */
    guint first;        /* of this text, in the blocks */
} TextReader;

/* ---- blocks ---- */

ReadableBlock *readable_block_add(Readable *to, ReadableBudget *budget, ReadableKind kind)
{
    ReadableBlock *block = g_new0(ReadableBlock, 1);
    block->kind = kind;
    block->text = g_strdup("");
    g_ptr_array_add(to->blocks, block);
    budget->blocks -= budget->blocks > 0;
    return block;
}

ReadableBlock *readable_note_add(Readable *to, ReadableBudget *budget, ReadableNote note)
{
    ReadableBlock *block = readable_block_add(to, budget, READABLE_NOTE);
    block->note = note;
    return block;
}

static void set_text(ReadableBlock *block, const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == '\n')
        length--;
    char *copy = g_strndup(text, length); /* text may be a piece of what the block has */
    g_free(block->text);
    block->text = copy;
    block->length = length;
}

static ReadableBlock *last_block(const TextReader *reader)
{
    const GPtrArray *blocks = reader->to->blocks;
    return blocks->len > reader->first ? blocks->pdata[blocks->len - 1] : NULL;
}

static ReadableBlock *add_block(TextReader *reader, ReadableKind kind, const char *text, size_t length)
{
    ReadableBlock *block = readable_block_add(reader->to, reader->budget, kind);
    set_text(block, text, length);
    return block;
}

/* Make a block of the text that was gathered, if there is any. */
static void flush(TextReader *reader)
{
    GString *text = reader->gathered;
    bool quotation = reader->kind == READABLE_QUOTATION;
    size_t from = 0;
    while (from < text->len && text->str[from] == '\n')
        from++;
    if (from == text->len) {
        g_string_truncate(text, 0);
        return;
    }
    /* Where a quotation begins, the attribution at the end of what stands above becomes a block of its own. */
    bool begins = quotation && reader->fold == 0;
    ReadableBlock *above = begins ? last_block(reader) : NULL;
    reader->fold = begins ? ++reader->budget->folds : quotation ? reader->fold : 0;
    if (above && (above->kind == READABLE_PARAGRAPH || above->kind == READABLE_SIGNATURE)) {
        size_t start = attribution_start(above->text, above->length), length = above->length;
        if (start > 0 && start < length) {
            ReadableBlock *block = add_block(reader, READABLE_ATTRIBUTION, above->text + start, length - start);
            set_text(above, above->text, start);
            above = block;
        }
        if (start < length) {
            above->kind = READABLE_ATTRIBUTION;
            above->fold = reader->fold;
        }
    }
    bool table = reader->kind == READABLE_PARAGRAPH && is_table(text->str, text->len);
    ReadableBlock *block = add_block(reader, table ? READABLE_FIXED : reader->kind, text->str + from, text->len - from);
    block->level = quotation ? reader->gathered_level : 0;
    block->fold = quotation ? reader->fold : 0;
    g_string_truncate(text, 0);
}

static void gather(TextReader *reader, ReadableKind kind, unsigned level)
{
    if (kind != reader->kind || level != reader->gathered_level)
        flush(reader);
    reader->kind = kind;
    reader->gathered_level = level;
    g_string_append_len(reader->gathered, reader->own->str, (gssize)reader->own->len);
    g_string_append_c(reader->gathered, '\n');
}

/* ---- lines ---- */

static size_t line_length(const char *at, const char *end)
{
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    return feed ? (size_t)(feed - at) : (size_t)(end - at);
}

/* The level of a quoted line, and how many bytes its marks are: ">", "> >", ">>", and a blank. */
static unsigned read_marks(const char *at, size_t length, bool strict, size_t *marks)
{
    unsigned level = 0;
    size_t next = !strict && length > 1 && at[0] == ' ' && at[1] == '>' ? 1 : 0;
    for (; next < length; next++) {
        if (at[next] == '>')
            level++;
        else if (level == 0 || at[next] != ' ' || next + 1 == length || at[next + 1] != '>')
            break;
    }
    *marks = level > 0 ? next + (next < length && at[next] == ' ') : 0;
    return MIN(level, READABLE_LEVEL);
}

static bool is_signature_rule(const char *line, size_t length)
{
    return length == 3 && memcmp(line, "-- ", 3) == 0;
}

/* Take a line, and those that a flowed one goes on in. */
static void take_line(TextReader *reader)
{
    const ReadableForm *form = reader->form;
    reader->above_quoted = reader->level > 0;
    reader->line = reader->at;
    g_string_truncate(reader->own, 0);
    for (bool first = true, soft = true; soft && reader->at < reader->end; first = false) {
        size_t length = line_length(reader->at, reader->end), marks;
        unsigned level = read_marks(reader->at, length, form->flowed, &marks);
        if (first && level == 1 && !reader->above_quoted && g_str_has_prefix(reader->at, ">From "))
            level = 0, marks = 1; /* an mbox was read */
        const char *own = reader->at + marks;
        size_t left = length - marks;
        if (form->flowed && level == 0 && left > 0 && *own == ' ')
            own++, left--;
        if (!first && (level != reader->level || left == 0 || is_signature_rule(own, left)))
            return;
        soft = form->flowed && left > 0 && own[left - 1] == ' ' && !is_signature_rule(own, left);
        reader->level = level;
        g_string_append_len(reader->own, own, (gssize)(left - (soft && form->drop_blank)));
        reader->at += length + (reader->at + length < reader->end);
    }
}

/* ---- what begins at a line ---- */

/* The length of lines that a program of OpenPGP made, with the last one, "-----END ..."; 0: people wrote some of them,
 * which must be seen. */
static size_t armor_length(const char *at, const char *end, const char *last)
{
    size_t length = line_length(at, end);
    for (const char *next = at + length; next < end; next += length) {
        length = line_length(++next, end);
        if (length > ARMOR_LINE)
            return 0;
        if (length >= strlen(last) && memcmp(next, last, strlen(last)) == 0)
            return (size_t)(next + length - at);
        bool label = memmem(next, length, ": ", 2) && next - at < ARMOR_LINE * SIGNED_HEAD;
        if (!label && strspn(next, BASE64) < length)
            return 0;
    }
    return 0;
}

/* The marks that OpenPGP puts into a text. True: the line began one, which was taken. */
static bool take_armor(TextReader *reader)
{
    static const char *const names[] = {"SIGNATURE-----", "MESSAGE-----", "PUBLIC KEY BLOCK-----"};
    if (!g_str_has_prefix(reader->own->str, "-----BEGIN PGP "))
        return false;
    const char *name = reader->own->str + strlen("-----BEGIN PGP ");
    if (g_str_has_prefix(name, "SIGNED MESSAGE-----")) {
        for (int line = 0; line < SIGNED_HEAD && g_str_has_prefix(reader->at, "Hash: "); line++)
            take_line(reader);
        return reader->dashed = true;
    }
    size_t kind = 0;
    while (kind < G_N_ELEMENTS(names) && !g_str_has_prefix(name, names[kind]))
        kind++;
    g_autofree char *last = kind < G_N_ELEMENTS(names) ? g_strconcat("-----END PGP ", names[kind], NULL) : NULL;
    size_t length = last ? armor_length(reader->line, reader->end, last) : 0;
    if (length == 0)
        return false;
    flush(reader);
    if (kind < 2)
        readable_note_add(reader->to, reader->budget, kind == 0 ? READABLE_NOTE_SIGNED : READABLE_NOTE_ENCRYPTED);
    if (kind > 0)
        add_block(reader, READABLE_FIXED, reader->line, length);
    reader->at = reader->line + length;
    reader->dashed = reader->dashed && kind > 0;
    reader->kind = READABLE_PARAGRAPH;
    reader->fold = 0;
    return true;
}

/* The rule above the footer of a list, or "--" whose blank got lost: only near the end of the text. A rule of hyphens
 * may stand above anything else, too. */
static bool begins_footer(const TextReader *reader)
{
    const char *own = reader->own->str;
    size_t length = reader->own->len, lines = 0;
    bool hyphens = length >= FOOTER_RULE && strspn(own, "-") == length;
    bool rule = hyphens || (length >= FOOTER_RULE && strspn(own, "_") == length) || strcmp(own, "--") == 0;
    if (!rule || reader->end - reader->at > FOOTER_MAX || (hyphens && !strcasestr(reader->at, "unsubscribe")))
        return false;
    for (const char *at = reader->at; at < reader->end; at++)
        lines += *at == '\n';
    return lines <= FOOTER_LINES;
}

/* Take lines of the writer's own that are something else than text, if they begin at this one. */
static bool take_special(TextReader *reader)
{
    if (take_armor(reader))
        return true;
    size_t patch = patch_length(reader->line, reader->end);
    if (patch > 0) {
        flush(reader);
        reader->fold = 0;
        g_autoptr(GString) text = g_string_sized_new(patch);
        for (const char *at = reader->line, *end = at + patch, *next; at < end; at = next) {
            next = next_line(at, end);
            at += reader->form->flowed && *at == ' ';
            g_string_append_len(text, at, next - at);
        }
        add_block(reader, READABLE_FIXED, text->str, text->len)->patch = true;
        reader->at = reader->line + patch;
        return true;
    }
    /* A block of From, Sent and Subject that a program copied below somebody's words: from there on all is quoted.
     * Where it is the first thing in the mail, the mail passes another on, and that is what it has to say. */
    bool words = last_block(reader) || reader->gathered->len > 0;
    size_t original = words ? original_length(reader->line, reader->end) : 0;
    if (original > 0) {
        flush(reader);
        reader->fold = ++reader->budget->folds;
        add_block(reader, READABLE_ATTRIBUTION, reader->line, original)->fold = reader->fold;
        reader->at = reader->line + original;
        return reader->original = true;
    }
    if (!is_signature_rule(reader->own->str, reader->own->len) && !begins_footer(reader))
        return false;
    flush(reader);
    reader->kind = READABLE_SIGNATURE;
    reader->gathered_level = 0;
    return true;
}

/* ---- a text ---- */

void readable_text_add(Readable *to, ReadableBudget *budget, const GString *text, const ReadableForm *form)
{
    g_autoptr(GString) line = g_string_new(NULL), gathered = g_string_new(NULL);
    TextReader reader = {.to = to,
                         .budget = budget,
                         .form = form,
                         .at = text->str,
                         .end = text->str + text->len,
                         .first = to->blocks->len,
                         .own = line,
                         .gathered = gathered,
                         .kind = READABLE_PARAGRAPH};
    while (reader.at < reader.end && !form->fixed && budget->blocks > 0) {
        take_line(&reader);
        if (reader.dashed && reader.level == 0 && g_str_has_prefix(line->str, "- "))
            g_string_erase(line, 0, 2);
        bool own = reader.level == 0 && !reader.original;
        if (own && take_special(&reader))
            continue;
        size_t length = line->len;
        while (length > 0 && strchr(" \t", line->str[length - 1]))
            length--;
        if (!is_signature_rule(line->str, line->len)) /* which ends in a blank */
            g_string_truncate(line, length);
        if (own && reader.kind == READABLE_SIGNATURE)
            gather(&reader, READABLE_SIGNATURE, 0);
        else if (line->len == 0)
            flush(&reader);
        else if (own)
            gather(&reader, READABLE_PARAGRAPH, 0);
        else
            gather(&reader, READABLE_QUOTATION, MIN(reader.level + reader.original, READABLE_LEVEL));
    }
    flush(&reader);
    if (reader.at < reader.end && strspn(reader.at, " \t\n") < (size_t)(reader.end - reader.at))
        add_block(&reader, READABLE_FIXED, reader.at, (size_t)(reader.end - reader.at))->patch = form->patch;
    for (guint at = reader.first; at < to->blocks->len; at++) {
        ReadableBlock *block = to->blocks->pdata[at];
        g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(TextLink));
        text_link_find(block->text, block->length, links);
        if (links->len > 0)
            block->links = g_steal_pointer(&links);
        block->begins_part |= at == reader.first;
    }
}
