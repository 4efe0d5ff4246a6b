/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/content_filter.h"

#include <string.h>

#include "base/fail.h"
#include "mail/charset.h"
#include "mail/mime/file_name.h"
#include "mail/mime/mime.h"
#include "mail/transfer.h"

#define TEXT_MAX (4 * 1024 * 1024) /* of HTML that is made text */
#define DECODED_MAX 8              /* encoded messages within each other */

/* Verdict says what becomes of a part. */
typedef struct Verdict {
    bool removed;
    bool changed;  /* it, or something in it, is not as it came */
    guint instead; /* index of the part within that takes its place; 0: none */
    GString *made; /* head and body that take its place; NULL: none */
} Verdict;

typedef struct Filter {
    const ContentRules *rules;
    GPtrArray *removed;
    unsigned depth; /* of messages that were decoded */
    size_t parts;   /* of the message and of all that were decoded */
    GError **error;
} Filter;

/* Tree holds the parts of a message, and of each the verdict at the same index. The root is part 0. */
typedef struct Tree {
    GPtrArray *parts;
    Verdict *verdicts;
    const char *line_end;
} Tree;

static void tree_clear(Tree *tree)
{
    for (guint at = 0; tree->parts && at < tree->parts->len; at++)
        if (tree->verdicts[at].made)
            g_string_free(tree->verdicts[at].made, TRUE);
    g_free(tree->verdicts);
    g_clear_pointer(&tree->parts, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Tree, tree_clear)

/* Reads the parts; false: there are more than anybody looks at. */
static bool tree_read(Tree *tree, GBytes *octets)
{
    size_t length;
    const char *start = g_bytes_get_data(octets, &length);
    const char *feed = length > 0 ? memchr(start, '\n', length) : NULL;
    tree->parts = mime_parts_all(start, length);
    tree->verdicts = g_new0(Verdict, tree->parts ? tree->parts->len : 0);
    tree->line_end = feed && (feed == start || feed[-1] != '\r') ? "\n" : "\r\n";
    return tree->parts;
}

static const MimePart *part_at(const Tree *tree, guint at)
{
    return tree->parts->pdata[at];
}

/* ---- what may stay ---- */

static bool is_named(char *const *names, const char *type, const char *whole)
{
    for (; names && *names; names++)
        if (g_ascii_strcasecmp(*names, type) == 0 || g_ascii_strcasecmp(*names, whole) == 0)
            return true;
    return false;
}

static bool has_ending(char *const *endings, const char *ending)
{
    for (; endings && *endings; endings++)
        if (g_ascii_strcasecmp(**endings == '.' ? *endings + 1 : *endings, ending) == 0)
            return true;
    return false;
}

/* The fields of a part. */
static Message *head_of(const MimePart *part)
{
    g_autoptr(GBytes) fields = mime_part_fields(part);
    return message_new(fields);
}

/* All names that a program may know the part's file by. */
static GPtrArray *names_of(const Message *head)
{
    GPtrArray *names = file_names_new();
    for (size_t at = 0; at < message_field_count(head); at++) {
        const Field *field = message_field(head, at);
        g_autofree char *name = g_strndup(field->text, field->name_length), *value = field_value_folded(field);
        file_names_add(names, name, value);
    }
    return names;
}

/* Does the list take no file of some kind? Else a message may stay whose parts nobody has seen. */
static bool takes_out(const ContentRules *rules)
{
    char *const *const names[] = {rules->filter_types, rules->pass_types, rules->filter_extensions,
                                  rules->pass_extensions};
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++)
        if (names[at] && *names[at])
            return true;
    return false;
}

/* A type that cannot be read is none: nobody knows what a program makes of such a part. */
static const char *type_of(const MimePart *part, const Message *head)
{
    return part->typed || !message_has(head, "Content-Type") ? part->type : "application/octet-stream";
}

/* NULL, or why the part may not stay. */
static const char *refusal(const ContentRules *rules, const MimePart *part)
{
    g_autoptr(Message) head = head_of(part);
    const char *type = type_of(part, head);
    g_autofree char *main = g_strndup(type, strcspn(type, "/"));
    size_t index = 0;
    const Field *first = message_find(head, "Content-Type", &index);
    index++;
    if (first && message_find(head, "Content-Type", &index))
        return "its header names several types, and readers may believe another one";
    if (is_named(rules->filter_types, main, type))
        return "its type is one that the list does not take";
    if (rules->pass_types && *rules->pass_types && !is_named(rules->pass_types, main, type))
        return "its type is none that the list takes";
    if (part->closed && takes_out(rules))
        return "readers may find other parts in it than those that are looked at";
    g_autoptr(GPtrArray) names = names_of(head);
    for (guint at = 0; at < names->len; at++) {
        const FileName *name = names->pdata[at];
        g_autofree char *ending = file_name_ending(name->text);
        if (*ending && has_ending(rules->filter_extensions, ending))
            return "the ending of its file name is one that the list does not take";
        if (name->certain && rules->pass_extensions && *rules->pass_extensions &&
            !has_ending(rules->pass_extensions, ending))
            return "the ending of its file name is none that the list takes";
    }
    return NULL;
}

/* For a caller that says whether the part stays. */
static bool note_removed(Filter *filter, const MimePart *part)
{
    g_autoptr(Message) head = head_of(part);
    g_autoptr(GPtrArray) names = names_of(head);
    const char *name = names->len > 0 ? ((FileName *)names->pdata[0])->text : NULL;
    g_ptr_array_add(filter->removed, g_strconcat(type_of(part, head), name ? ", " : "", name, NULL));
    return false;
}

/* ---- HTML to text ---- */

/* Head and body of a text part in the place of an HTML part; NULL: the conversion failed. */
static GString *make_text(Filter *filter, const MimePart *html, const char *line_end)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(GString) octets = mime_body(html, (size_t)(html->end - html->body)), text = g_string_new(NULL);
    size_t most = MIN(octets->len, TEXT_MAX);
    charset_decode(html->charset, octets->str, most, most < octets->len, text);
    g_autofree char *valid = g_utf8_make_valid(text->str, (gssize)text->len); /* U+FFFD for each NUL */
    g_string_assign(text, valid);
    g_autoptr(GString) lines = filter->rules->convert ? filter->rules->convert(text, filter->rules->data, &fault)
                                                      : mime_html_text(text);
    if (!lines) {
        if (filter->error && !*filter->error)
            g_propagate_error(filter->error, g_steal_pointer(&fault));
        return NULL;
    }
    g_string_truncate(text, 0);
    for (const char *at = lines->str; at < lines->str + lines->len; at++) {
        at += at[0] == '\r' && at[1] == '\n'; /* as some commands end their lines */
        if (*at == '\n')
            g_string_append(text, line_end);
        else
            g_string_append_c(text, *at);
    }
    size_t latin_length;
    g_autofree char *latin = g_convert(text->str, (gssize)text->len, "ISO-8859-1", "UTF-8", NULL, &latin_length, NULL);
    const char *bytes = latin ? latin : text->str, *wide = latin ? "iso-8859-1" : "utf-8";
    size_t length = latin ? latin_length : text->len;
    const char *encoding = transfer_needed(bytes, length);
    GString *made = g_string_new("Content-Type: text/plain; charset=");
    g_string_append_printf(made, "%s%s", g_str_is_ascii(text->str) ? "us-ascii" : wide, line_end);
    if (encoding)
        g_string_append_printf(made, "Content-Transfer-Encoding: %s%s", encoding, line_end);
    g_string_append(made, line_end);
    if (encoding)
        transfer_encode(made, encoding, bytes, length, line_end);
    else
        g_string_append_len(made, bytes, (gssize)length);
    return made;
}

/* ---- what is left is written ---- */

static void write_part(const Tree *tree, guint at, GString *to);

static void append_range(GString *to, const char *from, const char *end)
{
    if (end > from)
        g_string_append_len(to, from, end - from);
}

static void end_line(GString *to, const char *line_end)
{
    if (to->len > 0 && to->str[to->len - 1] != '\n')
        g_string_append(to, line_end);
}

/* Put the content of a part, as it was written, in the place of the message's own: the body, and the fields that tell
 * of it. */
static void put(Message *message, const GString *written)
{
    g_autoptr(GBytes) octets = g_bytes_new_static(written->str, written->len);
    g_autoptr(Message) content = message_new(octets);
    message_remove_if(message, field_is_content, NULL);
    for (size_t at = 0; at < message_field_count(content); at++) {
        const Field *field = message_field(content, at);
        if (!field_is_content(field, NULL))
            continue;
        g_autofree char *name = g_strndup(field->text, field->name_length), *value = field_value_folded(field);
        message_append(message, name, value);
    }
    if (!message_has(message, "MIME-Version"))
        message_append(message, "MIME-Version", "1.0");
    g_autoptr(GBytes) body = message_body(content);
    message_set_body(message, body);
}

/* Append the message whose content is at root, or has become that of another part. */
static void write_message(const Tree *tree, guint root, GString *to)
{
    if (tree->verdicts[root].instead == 0 && !tree->verdicts[root].made) {
        write_part(tree, root, to);
        return;
    }
    g_autoptr(GString) written = g_string_new(NULL);
    g_autoptr(Message) message = head_of(part_at(tree, root));
    write_part(tree, root, written);
    put(message, written);
    g_autoptr(GBytes) octets = message_octets(message);
    g_string_append_len(to, g_bytes_get_data(octets, NULL), (gssize)g_bytes_get_size(octets));
}

/* Append a part as it is now, without the line end that belongs to the delimiter behind it. */
static void write_part(const Tree *tree, guint at, GString *to)
{
    const MimePart *part = part_at(tree, at);
    const Verdict *verdict = &tree->verdicts[at];
    if (verdict->instead > 0) {
        write_part(tree, verdict->instead, to);
    } else if (verdict->made) {
        g_string_append_len(to, verdict->made->str, (gssize)verdict->made->len);
    } else if (!verdict->changed) {
        append_range(to, part->head, part->end);
    } else if (mime_is_message(part)) {
        append_range(to, part->head, part_at(tree, at + 1)->head);
        write_message(tree, at + 1, to);
    } else {
        /* Of a multipart the delimiters go with their parts; what stands before and behind them stays. */
        const char *done = part->head;
        for (guint child = at + 1; child < part->next; child = part_at(tree, child)->next) {
            const MimePart *inside = part_at(tree, child);
            append_range(to, done, inside->start);
            done = inside->body + inside->body_length;
            if (tree->verdicts[child].removed)
                continue;
            append_range(to, inside->start, inside->head);
            write_part(tree, child, to);
            append_range(to, inside->end, done);
            end_line(to, tree->line_end);
        }
        append_range(to, done, part->end);
    }
}

/* ---- the verdicts ---- */

static bool strain(Filter *filter, Tree *tree, guint at);

/* An encoding that programs may know, and that nothing here undoes. */
static bool is_uuencoded(const MimePart *part)
{
    return mime_is_encoded(part) && strstr(part->encoding, "uu");
}

/* Does anything of the multipart stay? */
static bool strain_multipart(Filter *filter, Tree *tree, guint at)
{
    const MimePart *part = part_at(tree, at);
    Verdict *verdict = &tree->verdicts[at];
    guint before = 0, left = 0, first = 0;
    for (guint child = at + 1; child < part->next; child = part_at(tree, child)->next) {
        Verdict *its = &tree->verdicts[child];
        bool empty = part_at(tree, child)->end == part_at(tree, child)->head; /* no part that would be left */
        its->removed = empty || !strain(filter, tree, child);
        verdict->changed |= (its->removed && !empty) || its->changed;
        before += !empty;
        if (!its->removed && left++ == 0)
            first = child;
    }
    bool collapse = filter->rules->collapse_alternatives && strcmp(part->type, "multipart/alternative") == 0;
    if (left == 0)
        return before == 0;
    if (!collapse && !(left == 1 && left < before))
        return true;
    verdict->changed = true;
    verdict->instead = first;
    for (guint child = part_at(tree, first)->next; child < part->next; child = part_at(tree, child)->next)
        if (!tree->verdicts[child].removed)
            note_removed(filter, part_at(tree, child));
    return true;
}

/* A message is not to be encoded (RFC 2046, 5.2.1), but programs read one that is. So look into it; where something is
 * taken out the rest stands there without the encoding. */
static bool strain_encoded(Filter *filter, Tree *tree, guint at)
{
    const MimePart *part = part_at(tree, at);
    GString *octets = mime_body(part, (size_t)(part->end - part->body));
    g_autoptr(GBytes) decoded = g_string_free_to_bytes(octets);
    g_auto(Tree) inside = {0};
    bool opens = filter->depth < DECODED_MAX && !is_uuencoded(part) && tree_read(&inside, decoded);
    filter->parts += opens ? inside.parts->len : 0;
    if (!opens || filter->parts > MIME_ALL_PARTS) /* nobody sends so many, or so deep, but to hide something */
        return note_removed(filter, part);
    filter->depth++;
    bool stays = strain(filter, &inside, 0);
    filter->depth--;
    if (!stays)
        return note_removed(filter, part);
    if (!inside.verdicts[0].changed)
        return true;
    Verdict *verdict = &tree->verdicts[at];
    verdict->changed = true;
    verdict->made = g_string_new(NULL);
    g_string_printf(verdict->made, "Content-Type: %s%s%s", part->type, tree->line_end, tree->line_end);
    write_message(&inside, 0, verdict->made);
    return true;
}

/* Does the part stay, or something of it? */
static bool strain(Filter *filter, Tree *tree, guint at)
{
    const ContentRules *rules = filter->rules;
    const MimePart *part = part_at(tree, at);
    Verdict *verdict = &tree->verdicts[at];
    if (refusal(rules, part))
        return note_removed(filter, part);
    if (g_str_has_prefix(part->type, "multipart/")) {
        /* Forbidden parts are removed here, too; but nothing is made prettier at the cost of a signature. */
        ContentRules strict = *rules;
        if (strcmp(part->type, "multipart/signed") == 0 || strcmp(part->type, "multipart/encrypted") == 0) {
            strict.collapse_alternatives = strict.html_to_text = false;
            filter->rules = &strict;
        }
        bool stays = strain_multipart(filter, tree, at);
        filter->rules = rules;
        return stays;
    }
    if (part->next > at + 1) {
        bool stays = strain(filter, tree, at + 1);
        verdict->changed = tree->verdicts[at + 1].changed;
        return stays;
    }
    if (mime_is_message(part) && mime_is_encoded(part))
        return strain_encoded(filter, tree, at);
    if (rules->html_to_text && strcmp(part->type, "text/html") == 0 && !is_uuencoded(part)) {
        verdict->made = make_text(filter, part, tree->line_end);
        verdict->changed = verdict->made;
    }
    return true;
}

/* ---- the message ---- */

bool content_filter(Message *message, const ContentRules *rules, ContentResult *result, GPtrArray *removed,
                    GError **error)
{
    *result = CONTENT_KEPT;
    /* Of several fields that say what the content is readers take one or another: the first alone is left, so that they
     * see the same. */
    g_autoptr(GBytes) whole = message_octets(message);
    g_autoptr(Message) copy = message_new(whole);
    size_t further = message_remove_further(copy, "Content-Type");
    further += message_remove_further(copy, "Content-Transfer-Encoding");
    g_autoptr(GBytes) octets = message_octets(copy);
    g_auto(Tree) tree = {0};
    if (!tree_read(&tree, octets)) {
        if (!takes_out(rules))
            return true;
        g_ptr_array_add(removed, g_strdup_printf("The message has more than %d parts, and they are not looked at.",
                                                 MIME_ALL_PARTS));
        *result = CONTENT_REFUSED;
        return true;
    }
    const char *why = refusal(rules, part_at(&tree, 0));
    if (why) {
        g_autoptr(Message) head = head_of(part_at(&tree, 0));
        g_ptr_array_add(removed, g_strdup_printf("The message is %s: %s.", type_of(part_at(&tree, 0), head), why));
        *result = CONTENT_REFUSED;
        return true;
    }
    g_autoptr(GError) fault = NULL;
    Filter filter = {.rules = rules, .removed = removed, .parts = tree.parts->len, .error = &fault};
    bool stays = strain(&filter, &tree, 0);
    if (fault) {
        g_propagate_error(error, g_steal_pointer(&fault));
        return false;
    }
    g_autoptr(GString) written = g_string_new(NULL);
    bool changed = stays && (further > 0 || tree.verdicts[0].changed);
    if (changed) {
        /* Where a text that was made, or decoded, holds a delimiter of the parts around it, there is a part now at
         * which nobody has looked. */
        write_part(&tree, 0, written);
        g_autoptr(GBytes) left = g_bytes_new_static(written->str, written->len);
        g_auto(Tree) again = {0};
        stays = tree_read(&again, left);
        for (guint at = 0; stays && at < again.parts->len; at++)
            stays = !refusal(rules, part_at(&again, at));
    }
    if (!stays) {
        g_ptr_array_set_size(removed, 0);
        g_ptr_array_add(removed, g_strdup("The message holds nothing that the list takes."));
        *result = CONTENT_REFUSED;
    } else if (changed) {
        end_line(written, tree.line_end);
        put(message, written);
        *result = CONTENT_CHANGED;
    }
    return true;
}
