/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/mail_html.h"

#include <string.h>

#include "runners/web/mustache.h"

#define OPEN_LINES 4 /* a quotation of more lines is folded */

static const char *say(const MailHtml *how, const char *text)
{
    return theme_text(how->theme, how->language, text);
}

static void append_escaped(GString *out, const char *text, size_t length)
{
    g_autofree char *part = g_strndup(text, length);
    mustache_escape(out, part);
}

/* ---- text with links ---- */

static void append_link(const MailHtml *how, const char *text, const TextLink *link, GString *out)
{
    g_autofree char *target = g_strndup(text + link->start, link->length);
    g_autofree char *masked = how->masked && (link->holds_address || link->kind != TEXT_LINK_WEB)
                                  ? text_link_mask(target, link->length)
                                  : NULL;
    if (masked) {
        mustache_escape(out, masked);
        return;
    }
    g_string_append(out, "<a rel=\"nofollow noopener\" href=\"");
    if (link->kind == TEXT_LINK_ADDRESS)
        g_string_append(out, "mailto:");
    mustache_escape(out, target);
    g_string_append(out, "\">");
    mustache_escape(out, target);
    g_string_append(out, "</a>");
}

static void append_linked(const MailHtml *how, const char *text, size_t length, const GArray *links, GString *out)
{
    size_t at = 0;
    for (guint i = 0; links && i < links->len; i++) {
        const TextLink *link = &g_array_index(links, TextLink, i);
        append_escaped(out, text + at, link->start - at);
        append_link(how, text, link, out);
        at = link->start + link->length;
    }
    append_escaped(out, text + at, length - at);
}

void mail_html_line(const MailHtml *how, const char *text, GString *out)
{
    g_autofree char *masked = how->masked ? text_link_mask(text, strlen(text)) : NULL;
    mustache_escape(out, masked ? masked : text);
}

char *mail_html_person(const MailHtml *how, const char *name, const char *address)
{
    g_autofree char *shown = how->masked ? text_link_mask(address, strlen(address)) : g_strdup(address);
    g_autofree char *called = how->masked ? text_link_mask(name, strlen(name)) : g_strdup(name);
    if (!*called || !*shown)
        return g_strdup(*called ? called : shown);
    return how->masked ? g_steal_pointer(&called) : g_strdup_printf("%s <%s>", called, shown);
}

json_t *mail_html_people(const MailHtml *how, const ReadablePeople *people)
{
    json_t *all = json_array();
    for (guint i = 0; i < people->list->len; i++) {
        const ReadablePerson *person = people->list->pdata[i];
        g_autofree char *text = mail_html_person(how, person->name, person->address);
        json_array_append_new(all, json_string(text));
    }
    if (people->more)
        json_array_append_new(all, json_string("…"));
    return all;
}

bool mail_html_is_addressed(const ReadableHead *head)
{
    return head->to.list->len > 0 || head->cc.list->len > 0;
}

/* ---- blocks ---- */

static void append_text(const MailHtml *how, const ReadableBlock *block, const char *tag, const char *class,
                        GString *out)
{
    g_string_append_printf(out, "<%s%s%s%s dir=\"auto\">", tag, class ? " class=\"" : "", class ? class : "",
                           class ? "\"" : "");
    append_linked(how, block->text, block->length, block->links, out);
    g_string_append_printf(out, "</%s>\n", tag);
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

/* Do the two lines here name the files of a change, "--- a/x" and "+++ b/x" with its first place behind them? A line
 * that was removed may look like the first of them. */
static bool names_files(const char *line)
{
    const char *second = next_line(line);
    return g_str_has_prefix(line, "--- ") && g_str_has_prefix(second, "+++ ") &&
           g_str_has_prefix(next_line(second), "@@ ");
}

/* Lines that a patch adds and removes, each in a span of its own; links are left out there. */
static void append_patch(const MailHtml *how, const ReadableBlock *block, GString *out)
{
    g_string_append(out, "<pre class=\"patch\">");
    unsigned names = 0; /* lines from here on that name files */
    for (const char *line = block->text; *line; names -= names > 0) {
        size_t length = strcspn(line, "\n");
        names = names > 0 ? names : names_files(line) ? 2 : 0;
        const char *class = names > 0 ? NULL : *line == '+' ? "plus" : *line == '-' ? "minus" : NULL;
        if (*line == '@')
            class = "place";
        g_autofree char *own = g_strndup(line, length);
        if (class)
            g_string_append_printf(out, "<span class=\"%s\">", class);
        mail_html_line(how, own, out);
        g_string_append(out, class ? "</span>\n" : "\n");
        line += length + (line[length] != '\0');
    }
    g_string_append(out, "</pre>\n");
}

static void append_note(const MailHtml *how, const ReadableBlock *block, GString *out)
{
    static const char *const texts[] = {
        [READABLE_NOTE_CUT] = N_("The rest of this text is not shown here."),
        [READABLE_NOTE_PARTS] = N_("This message has more parts than are shown here."),
        [READABLE_NOTE_DEEP] = N_("What is deeper within this message is not shown here."),
        [READABLE_NOTE_SIGNED] = N_("This message has a signature, which was not checked."),
        [READABLE_NOTE_ENCRYPTED] = N_("This text is encrypted.")};
    g_string_append(out, "<p class=\"note\">");
    mustache_escape(out, say(how, texts[block->note]));
    g_string_append(out, "</p>\n");
}

static void append_file(const MailHtml *how, const ReadableFile *file, GString *out)
{
    g_autofree char *shown = how->masked ? text_link_mask(file->name, strlen(file->name)) : g_strdup(file->name);
    g_autofree char *name = g_uri_escape_string(shown, NULL, false), *size = g_format_size(file->size);
    g_string_append_printf(out, "<p class=\"file\"><a rel=\"nofollow\" href=\"%s%zu/", how->files, file->number);
    mustache_escape(out, name);
    g_string_append(out, "\">");
    mustache_escape(out, shown);
    g_string_append(out, "</a> <span>");
    mail_html_line(how, file->type, out);
    g_string_append_printf(out, ", %s</span></p>\n", size);
}

static void append_message(const MailHtml *how, const Readable *mail, GString *out)
{
    const ReadablePerson *from = mail->head.from.list->len > 0 ? mail->head.from.list->pdata[0] : NULL;
    g_autofree char *person = from ? mail_html_person(how, from->name, from->address) : g_strdup("");
    g_string_append(out, "<section class=\"inner\">\n<p class=\"facts\" dir=\"auto\"><b>");
    mail_html_line(how, mail->head.subject, out);
    g_string_append(out, "</b> ");
    mustache_escape(out, person);
    g_string_append(out, "</p>\n");
    mail_html(how, mail, out);
    g_string_append(out, "</section>\n");
}

static void append_block(const MailHtml *how, const ReadableBlock *block, GString *out)
{
    switch (block->kind) {
    case READABLE_PARAGRAPH:
    case READABLE_ATTRIBUTION:
    case READABLE_QUOTATION:
        append_text(how, block, "p", NULL, out);
        break;
    case READABLE_SIGNATURE:
        append_text(how, block, "p", "signature", out);
        break;
    case READABLE_FIXED:
        if (block->patch)
            append_patch(how, block, out);
        else
            append_text(how, block, "pre", NULL, out);
        break;
    case READABLE_NOTE:
        append_note(how, block, out);
        break;
    case READABLE_FILE:
        append_file(how, block->file, out);
        break;
    case READABLE_MESSAGE:
        append_message(how, block->message, out);
        break;
    }
}

/* ---- quotations ---- */

static unsigned lines_of(const ReadableBlock *block)
{
    unsigned lines = 1;
    for (const char *at = block->text; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

/* How many lines the blocks from begin with this number have, and where they end. */
static unsigned fold_lines(const GPtrArray *blocks, guint begin, guint *end)
{
    unsigned lines = 0;
    const ReadableBlock *first = blocks->pdata[begin];
    for (*end = begin; *end < blocks->len && ((ReadableBlock *)blocks->pdata[*end])->fold == first->fold; (*end)++)
        lines += lines_of(blocks->pdata[*end]);
    return lines;
}

static void set_level(unsigned *level, unsigned wanted, GString *out)
{
    for (; *level < wanted; ++*level)
        g_string_append(out, "<blockquote>\n");
    for (; *level > wanted; --*level)
        g_string_append(out, "</blockquote>\n");
}

/* A quotation with the line that introduces it, which is what a reader opens it by. Returns the block behind it. */
static guint append_fold(const MailHtml *how, const GPtrArray *blocks, guint begin, GString *out)
{
    guint end, at = begin;
    unsigned level = 0;
    const ReadableBlock *first = blocks->pdata[begin];
    bool open = fold_lines(blocks, begin, &end) <= OPEN_LINES;
    g_string_append_printf(out, "<details%s><summary dir=\"auto\">", open ? " open" : "");
    if (first->kind == READABLE_ATTRIBUTION) {
        append_linked(how, first->text, first->length, first->links, out);
        at++;
    } else {
        mustache_escape(out, say(how, N_("Quotation")));
    }
    g_string_append(out, "</summary>\n");
    for (; at < end; at++) {
        const ReadableBlock *block = blocks->pdata[at];
        set_level(&level, block->level, out);
        append_block(how, block, out);
    }
    set_level(&level, 0, out);
    g_string_append(out, "</details>\n");
    return end;
}

void mail_html(const MailHtml *how, const Readable *mail, GString *out)
{
    const GPtrArray *blocks = mail->blocks;
    for (guint at = 0; at < blocks->len;) {
        const ReadableBlock *block = blocks->pdata[at];
        if (block->begins_part && at > 0)
            g_string_append(out, "<hr>\n");
        if (block->fold > 0) {
            at = append_fold(how, blocks, at, out);
        } else {
            append_block(how, block, out);
            at++;
        }
    }
}
