/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A text as blocks: paragraphs, quotations, the signature, patches. */
#include <string.h>

#include "mail/text/readable_internal.h"

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
    guint first, links; /* in the blocks: the first of this text, the first that was not searched for links */
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

static void find_links(ReadableBlock *block)
{
    GArray *links = g_array_new(FALSE, FALSE, sizeof(TextLink));
    text_link_find(block->text, block->length, links);
    if (links->len > 0)
        block->links = g_array_ref(links);
    g_array_unref(links);
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

/* A quotation begins: the attribution at the end of what stands above becomes a block of its own. */
static void begin_fold(TextReader *reader)
{
    ReadableBlock *above = last_block(reader);
    reader->fold = ++reader->budget->folds;
    if (!above || (above->kind != READABLE_PARAGRAPH && above->kind != READABLE_SIGNATURE))
        return;
    size_t start = readable_attribution_start(above->text, above->length);
    if (start == above->length)
        return;
    if (start > 0) {
        ReadableBlock *block = add_block(reader, READABLE_ATTRIBUTION, above->text + start, above->length - start);
        set_text(above, above->text, start);
        above = block;
    }
    above->kind = READABLE_ATTRIBUTION;
    above->fold = reader->fold;
}

/* Make a block of the text that was gathered, if there is any. */
static void flush(TextReader *reader)
{
    GString *text = reader->gathered;
    size_t from = 0;
    while (from < text->len && text->str[from] == '\n')
        from++;
    if (from < text->len) {
        if (reader->kind == READABLE_QUOTATION && reader->fold == 0)
            begin_fold(reader);
        else if (reader->kind != READABLE_QUOTATION)
            reader->fold = 0;
        bool table = reader->kind == READABLE_PARAGRAPH && readable_is_table(text->str, text->len);
        ReadableBlock *block = add_block(reader, table ? READABLE_FIXED : reader->kind, text->str + from,
                                         text->len - from);
        block->level = reader->kind == READABLE_QUOTATION ? reader->gathered_level : 0;
        block->fold = reader->kind == READABLE_QUOTATION ? reader->fold : 0;
    }
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

static bool is_blank(const GString *line)
{
    return strspn(line->str, " \t") == line->len;
}

/* Take blanks away from the end of the line, but those of "-- ". */
static void trim(GString *line)
{
    size_t length = line->len;
    while (length > 0 && strchr(" \t", line->str[length - 1]))
        length--;
    if (!is_signature_rule(line->str, line->len))
        g_string_truncate(line, length);
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

static bool take_patch(TextReader *reader)
{
    size_t length = readable_patch_length(reader->line, reader->end);
    if (length == 0)
        return false;
    flush(reader);
    reader->fold = 0;
    g_autoptr(GString) text = g_string_sized_new(length);
    for (const char *at = reader->line, *end = at + length; at < end;) {
        size_t line = MIN(line_length(at, end) + 1, (size_t)(end - at));
        bool stuffed = reader->form->flowed && *at == ' ';
        g_string_append_len(text, at + stuffed, (gssize)(line - stuffed));
        at += line;
    }
    add_block(reader, READABLE_FIXED, text->str, text->len)->patch = true;
    reader->at = reader->line + length;
    return true;
}

/* A block of From, Sent and Subject that a program copied below somebody's words: from there on all is quoted. Where it
 * is the first thing in the mail, the mail passes another on, and that is what it has to say. */
static bool take_original(TextReader *reader)
{
    bool words = last_block(reader) || reader->gathered->len > 0;
    size_t length = words ? readable_original_length(reader->line, reader->end) : 0;
    if (length == 0)
        return false;
    flush(reader);
    reader->fold = ++reader->budget->folds;
    add_block(reader, READABLE_ATTRIBUTION, reader->line, length)->fold = reader->fold;
    reader->at = reader->line + length;
    reader->original = true;
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

/* ---- a text ---- */

/* Is this a line of the writer's own that is something else than text? */
static bool take_special(TextReader *reader)
{
    if (take_armor(reader) || take_patch(reader) || take_original(reader))
        return true;
    if (!is_signature_rule(reader->own->str, reader->own->len) && !begins_footer(reader))
        return false;
    flush(reader);
    reader->kind = READABLE_SIGNATURE;
    reader->gathered_level = 0;
    return true;
}

static void put_line(TextReader *reader)
{
    if (reader->dashed && reader->level == 0 && g_str_has_prefix(reader->own->str, "- "))
        g_string_erase(reader->own, 0, 2);
    bool own = reader->level == 0 && !reader->original;
    if (own && take_special(reader))
        return;
    trim(reader->own);
    if (own && reader->kind == READABLE_SIGNATURE)
        gather(reader, READABLE_SIGNATURE, 0);
    else if (is_blank(reader->own))
        flush(reader);
    else if (own)
        gather(reader, READABLE_PARAGRAPH, 0);
    else
        gather(reader, READABLE_QUOTATION, MIN(reader->level + reader->original, READABLE_LEVEL));
}

void readable_text_add(Readable *to, ReadableBudget *budget, const GString *text, const ReadableForm *form)
{
    TextReader reader = {.to = to, .budget = budget, .form = form, .at = text->str, .end = text->str + text->len};
    reader.first = to->blocks->len;
    reader.own = g_string_new(NULL);
    reader.gathered = g_string_new(NULL);
    reader.kind = READABLE_PARAGRAPH;
    while (reader.at < reader.end && !form->fixed && budget->blocks > 0) {
        take_line(&reader);
        put_line(&reader);
    }
    flush(&reader);
    if (reader.at < reader.end && strspn(reader.at, " \t\n") < (size_t)(reader.end - reader.at))
        add_block(&reader, READABLE_FIXED, reader.at, (size_t)(reader.end - reader.at))->patch = form->patch;
    for (guint at = reader.first; at < to->blocks->len; at++)
        find_links(to->blocks->pdata[at]);
    if (to->blocks->len > reader.first)
        ((ReadableBlock *)to->blocks->pdata[reader.first])->begins_part = true;
    g_string_free(reader.own, TRUE);
    g_string_free(reader.gathered, TRUE);
}
