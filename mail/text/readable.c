/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/readable.h"

#include <string.h>

#include "mail/mime/parameter.h"
#include "mail/text/readable_internal.h"
#include "mail/visible.h"

#define EMPTY_MAX (64 * 1024) /* bytes that are read to see whether a text is empty */
#define CALENDAR "text/calendar"
#define HTML_SHARE 8          /* bytes of HTML that are read for a byte of text */

/* How a part is read by its type. */
typedef enum PartUse { USE_FILE, USE_TEXT, USE_HTML, USE_FIXED, USE_SIGNATURE, USE_ENCRYPTED } PartUse;

/* Whether a text is empty is asked of one part by each multipart/alternative around it. */
typedef enum PartState { STATE_UNKNOWN, STATE_EMPTY, STATE_FULL } PartState;

/* A message that is taken apart. */
typedef struct Taking {
    Readable *to;
    ReadableBudget *budget;
    GBytes *octets;
    GPtrArray *parts;
    PartState *states; /* of parts */
    bool *hidden;      /* of parts: another form of the same text is shown */
    unsigned depth;
} Taking;

/* ---- a Readable ---- */

static void block_free(void *data)
{
    ReadableBlock *block = data;
    g_free(block->text);
    if (block->links)
        g_array_unref(block->links);
    readable_free(block->message);
    g_free(block);
}

void readable_free(Readable *readable)
{
    if (!readable)
        return;
    readable_head_clear(&readable->head);
    g_ptr_array_unref(readable->blocks);
    g_ptr_array_unref(readable->files);
    g_free(readable);
}

const ReadableFile *readable_file(const Readable *readable, size_t number)
{
    for (guint at = 0; at < readable->files->len; at++) {
        const ReadableFile *file = readable->files->pdata[at];
        if (file->number == number)
            return file;
    }
    const ReadableFile *found = NULL;
    for (guint at = 0; !found && at < readable->blocks->len; at++) {
        const ReadableBlock *block = readable->blocks->pdata[at];
        found = block->message ? readable_file(block->message, number) : NULL;
    }
    return found;
}

/* ---- parts ---- */

static bool is_one_of(const char *type, const char *const *types)
{
    for (; *types; types++)
        if (strcmp(type, *types) == 0)
            return true;
    return false;
}

static bool is_message(const MimePart *part)
{
    static const char *const types[] = {"message/rfc822", "message/global", NULL};
    return is_one_of(part->type, types);
}

static PartUse use_of(const MimePart *part)
{
    static const char *const texts[] = {"text/plain",    "text",         "text/enriched", "text/richtext",
                                        "text/markdown", "text/x-patch", "text/x-diff",   NULL};
    static const char *const reports[] = {"text/rfc822-headers",
                                          "message/delivery-status",
                                          "message/disposition-notification",
                                          "message/feedback-report",
                                          "message/global-delivery-status",
                                          "message/global-headers",
                                          NULL};
    static const char *const signatures[] = {"application/pgp-signature", "application/pkcs7-signature",
                                             "application/x-pkcs7-signature", NULL};
    return is_one_of(part->type, texts)                           ? USE_TEXT
           : strcmp(part->type, "text/html") == 0                 ? USE_HTML
           : is_one_of(part->type, reports)                       ? USE_FIXED
           : is_one_of(part->type, signatures)                    ? USE_SIGNATURE
           : strcmp(part->type, "application/pgp-encrypted") == 0 ? USE_ENCRYPTED
                                                                  : USE_FILE;
}

static ReadableForm form_of(const MimePart *part)
{
    g_autofree char *value = mime_field(part->head, part->head_length, "Content-Type");
    g_autoptr(ContentType) type = content_type_parse(value ? value : "");
    g_autofree char *format = content_type_first(type, "format"), *delsp = content_type_first(type, "delsp");
    bool flowed = strcmp(part->type, "text/plain") == 0 && format && g_ascii_strcasecmp(format, "flowed") == 0;
    return (ReadableForm){.flowed = flowed,
                          .drop_blank = flowed && delsp && g_ascii_strcasecmp(delsp, "yes") == 0,
                          .fixed = use_of(part) == USE_FIXED};
}

/* ---- of several forms of one text, one ---- */

static bool is_empty(const Taking *taking, guint at)
{
    if (taking->states[at] == STATE_UNKNOWN) {
        g_autoptr(GString) text = mime_text(taking->parts->pdata[at], EMPTY_MAX);
        bool blank = strspn(text->str, " \t\n") == text->len;
        taking->states[at] = blank ? STATE_EMPTY : STATE_FULL;
    }
    return taking->states[at] == STATE_EMPTY;
}

/* Show the plain text of the alternative at at, or where that is empty the HTML, and hide the other forms. */
static void choose(const Taking *taking, guint at)
{
    guint end = ((const MimePart *)taking->parts->pdata[at])->next;
    bool plain = false, html = false;
    for (guint part = at + 1; part < end; part++) {
        const MimePart *form = taking->parts->pdata[part];
        if (form->inside || taking->hidden[part] || readable_is_attachment(form))
            continue;
        html = html || strcmp(form->type, "text/html") == 0;
        plain = plain || (strcmp(form->type, "text/plain") == 0 && !is_empty(taking, part));
    }
    for (guint part = at + 1; part < end && (plain || html); part++) {
        const MimePart *form = taking->parts->pdata[part];
        bool chosen = strcmp(form->type, plain ? "text/plain" : "text/html") == 0;
        bool text = g_str_has_prefix(form->type, "text/") && strcmp(form->type, CALENDAR) != 0;
        if (text && !chosen && !form->inside && !readable_is_attachment(form))
            taking->hidden[part] = true;
    }
}

/* ---- what is shown ---- */

static ReadableFile *add_file(const Taking *taking, const MimePart *part)
{
    ReadableFile *file = readable_file_new(part, taking->octets, taking->budget->files++);
    g_ptr_array_add(taking->to->files, file);
    readable_block_add(taking->to, taking->budget, READABLE_FILE)->file = file;
    return file;
}

/* Here text was left out: so many bytes as they were sent. */
static void note_cut(const Taking *taking, size_t left_out)
{
    const GPtrArray *blocks = taking->to->blocks;
    ReadableBlock *last = blocks->len > 0 ? blocks->pdata[blocks->len - 1] : NULL;
    if (!last || last->kind != READABLE_NOTE || last->note != READABLE_NOTE_CUT)
        last = readable_note_add(taking->to, taking->budget, READABLE_NOTE_CUT);
    last->left_out += left_out;
}

/* The text of a part, of so many bytes of it; visible, and no longer than the budget has room. */
static GString *visible_text(const Taking *taking, const MimePart *part, size_t limit, bool *cut)
{
    GString *raw = mime_text(part, limit), *text = g_string_new(NULL);
    if (strcmp(part->type, "text/html") == 0) {
        GString *stripped = mime_html_quoted(raw);
        g_string_free(raw, TRUE);
        raw = stripped;
    } else if (strcmp(part->type, CALENDAR) == 0) {
        GString *said = readable_calendar_text(raw->str);
        g_string_free(raw, TRUE);
        raw = said;
    }
    visible_append(text, raw->str, raw->len);
    g_string_free(raw, TRUE);
    *cut = text->len > taking->budget->text;
    if (*cut) {
        const char *end = g_utf8_find_prev_char(text->str, text->str + taking->budget->text + 1);
        g_string_truncate(text, end ? (gsize)(end - text->str) : 0);
    }
    return text;
}

static void show_text(const Taking *taking, const MimePart *part, bool patch)
{
    size_t room = taking->budget->text, share = strcmp(part->type, "text/html") == 0 ? HTML_SHARE : 1;
    size_t limit = part->body_length / share < room ? part->body_length : room * share;
    bool cut = false;
    ReadableForm form = form_of(part);
    form.fixed = form.fixed || patch;
    form.patch = patch;
    if (room > 0) {
        g_autoptr(GString) text = visible_text(taking, part, limit, &cut);
        readable_text_add(taking->to, taking->budget, text, &form);
        taking->budget->text -= MIN(text->len, room);
    }
    if (limit < part->body_length)
        note_cut(taking, part->body_length - limit);
    else if (cut)
        note_cut(taking, 0);
}

/* S/MIME in one piece: with a signature, or encrypted. */
static void note_smime(const Taking *taking, const MimePart *part)
{
    g_autofree char *value = mime_field(part->head, part->head_length, "Content-Type");
    g_autoptr(ContentType) type = content_type_parse(value ? value : "");
    g_autofree char *kind = content_type_first(type, "smime-type");
    bool is_signed = kind && g_ascii_strcasecmp(kind, "signed-data") == 0;
    readable_note_add(taking->to, taking->budget, is_signed ? READABLE_NOTE_SIGNED : READABLE_NOTE_ENCRYPTED);
}

static void show_message(const Taking *taking, const MimePart *part);

/* Is this a calendar in a mail that has no other text to be read? */
static bool is_lone_calendar(const Taking *taking, guint at)
{
    const MimePart *part = taking->parts->pdata[at];
    if (strcmp(part->type, CALENDAR) != 0)
        return false;
    for (guint other = 0; other < taking->parts->len; other++) {
        const MimePart *form = taking->parts->pdata[other];
        PartUse use = use_of(form);
        bool earlier = other < at && strcmp(form->type, CALENDAR) == 0;
        bool text = (use == USE_TEXT || use == USE_HTML) && !readable_is_attachment(form);
        if (earlier || (text && !is_empty(taking, other)))
            return false;
    }
    return true;
}

/* A part that is no multipart. */
static void show_part(const Taking *taking, guint at)
{
    const MimePart *part = taking->parts->pdata[at];
    PartUse use = use_of(part);
    g_autofree char *name = readable_part_name(part);
    bool attached = readable_is_attachment(part), is_text = use == USE_TEXT || use == USE_HTML;
    bool patch = is_text && (readable_is_patch_name(name) || strcmp(part->type, "text/x-patch") == 0 ||
                             strcmp(part->type, "text/x-diff") == 0);
    if (use == USE_SIGNATURE) {
        readable_note_add(taking->to, taking->budget, READABLE_NOTE_SIGNED);
    } else if (use == USE_ENCRYPTED) {
        readable_note_add(taking->to, taking->budget, READABLE_NOTE_ENCRYPTED);
    } else if (is_message(part)) {
        show_message(taking, part);
    } else {
        if (g_str_has_suffix(part->type, "/pkcs7-mime") || g_str_has_suffix(part->type, "/x-pkcs7-mime"))
            note_smime(taking, part);
        if (use == USE_FILE || attached || (name && at > 0))
            add_file(taking, part);
        if (is_lone_calendar(taking, at))
            show_text(taking, part, false);
        if (use == USE_FIXED || (is_text && (!attached || patch || at == 0)))
            show_text(taking, part, patch);
    }
}

static bool is_split(const GPtrArray *parts, guint at)
{
    const MimePart *part = parts->pdata[at];
    return g_str_has_prefix(part->type, "multipart/") && part->next > at + 1;
}

static void show_parts(const Taking *taking)
{
    const GPtrArray *parts = taking->parts;
    for (guint at = 0, next; at < parts->len; at = next) {
        const MimePart *part = parts->pdata[at];
        bool split = is_split(parts, at);
        next = is_message(part) ? part->next : at + 1;
        if (split && strcmp(part->type, "multipart/alternative") == 0)
            choose(taking, at);
        if (split || taking->hidden[at])
            continue;
        if (!g_str_has_prefix(part->type, "multipart/")) {
            show_part(taking, at);
        } else if (at == 0) { /* it says that it has parts, and has none: it is read as it is */
            show_text(taking, part, false);
        } else {
            readable_note_add(taking->to, taking->budget, READABLE_NOTE_DEEP);
            add_file(taking, part);
        }
    }
}

static Readable *take_apart(GBytes *octets, ReadableBudget *budget, unsigned depth)
{
    Readable *to = g_new0(Readable, 1);
    to->blocks = g_ptr_array_new_with_free_func(block_free);
    to->files = g_ptr_array_new_with_free_func(readable_file_free);
    g_autoptr(Message) message = message_new(octets);
    readable_head_read(&to->head, message);
    size_t length;
    const char *data = g_bytes_get_data(octets, &length);
    unsigned *room = &budget->parts[depth];
    g_autoptr(GPtrArray) parts = mime_parts_most(data, length, *room + 1);
    bool full = parts->len > *room;
    if (full)
        g_ptr_array_set_size(parts, (int)*room);
    *room -= parts->len;
    g_autofree PartState *states = g_new0(PartState, parts->len);
    g_autofree bool *hidden = g_new0(bool, parts->len);
    const Taking taking = {to, budget, octets, parts, states, hidden, depth};
    show_parts(&taking);
    if (full)
        readable_note_add(to, budget, READABLE_NOTE_PARTS);
    return to;
}

/* A message within, or where it is too deep in others the file of it. */
static void show_message(const Taking *taking, const MimePart *part)
{
    bool deep = taking->depth >= READABLE_DEPTH;
    if (deep || taking->budget->parts[taking->depth + 1] == 0) {
        readable_note_add(taking->to, taking->budget, deep ? READABLE_NOTE_DEEP : READABLE_NOTE_PARTS);
        add_file(taking, part);
        return;
    }
    g_autoptr(GBytes) inner = NULL;
    if (strcmp(part->encoding, "base64") == 0 || strcmp(part->encoding, "quoted-printable") == 0) {
        inner = g_string_free_to_bytes(mime_body(part, part->body_length));
    } else if (part->body_length > 0) {
        const char *start = g_bytes_get_data(taking->octets, NULL);
        inner = g_bytes_new_from_bytes(taking->octets, (gsize)(part->body - start), part->body_length);
    } else {
        inner = g_bytes_new_static("", 0);
    }
    Readable *message = take_apart(inner, taking->budget, taking->depth + 1);
    readable_block_add(taking->to, taking->budget, READABLE_MESSAGE)->message = message;
}

Readable *readable_new(GBytes *octets, size_t limit)
{
    ReadableBudget budget = {.text = limit, .blocks = READABLE_BLOCKS};
    for (size_t depth = 0; depth <= READABLE_DEPTH; depth++)
        budget.parts[depth] = READABLE_PARTS;
    return take_apart(octets, &budget, 0);
}

/* ---- for an index ---- */

/* Append as much of piece and of what follows it as there is room for. */
static void append_piece(GString *text, size_t limit, const char *piece, const char *behind)
{
    size_t length = strlen(piece), room = limit - text->len;
    if (length == 0)
        return;
    const char *end = length <= room ? piece + length : g_utf8_find_prev_char(piece, piece + room + 1);
    g_string_append_len(text, piece, end - piece);
    if (length + strlen(behind) <= room)
        g_string_append(text, behind);
}

static void append_search_text(GString *text, const Readable *readable, bool quotations, size_t limit)
{
    for (guint at = 0; at < readable->blocks->len && text->len < limit; at++) {
        const ReadableBlock *block = readable->blocks->pdata[at];
        if (block->message) {
            const ReadableHead *head = &block->message->head;
            const ReadablePerson *from = head->from.list->len > 0 ? head->from.list->pdata[0] : NULL;
            append_piece(text, limit, head->subject, "\n");
            append_piece(text, limit, from ? from->name : "", "\n");
            append_search_text(text, block->message, quotations, limit);
        } else if (block->file) {
            append_piece(text, limit, block->file->name, "\n");
        } else if (quotations || block->kind == READABLE_PARAGRAPH || block->kind == READABLE_FIXED) {
            append_piece(text, limit, block->text, "\n\n");
        }
    }
}

GString *readable_search_text(const Readable *readable, bool quotations, size_t limit)
{
    GString *text = g_string_new(NULL);
    append_search_text(text, readable, quotations, limit);
    return text;
}
