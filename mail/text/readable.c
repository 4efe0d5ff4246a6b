/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/readable.h"

#include <string.h>

#include "base/mailbox.h"
#include "mail/address.h"
#include "mail/charset.h"
#include "mail/date.h"
#include "mail/header.h"
#include "mail/message.h"
#include "mail/mime/file_name.h"
#include "mail/mime/mime.h"
#include "mail/mime/parameter.h"
#include "mail/text/readable_internal.h"
#include "mail/transfer.h"
#include "mail/visible.h"

/* ---- the head ---- */

#define VALUE_MAX (16 * 1024)   /* bytes of a value that are decoded */
#define PEOPLE_MAX (256 * 1024) /* bytes of fields that are read for addresses */

/* The value as people read it, in one line. One that is no UTF-8 is taken for windows-1252. */
static char *shown(const char *value)
{
    size_t length = strlen(value), brief = MIN(length, VALUE_MAX);
    g_autoptr(GString) text = g_string_sized_new(brief + 1);
    charset_decode("", value, brief, brief < length, text);
    g_autofree char *decoded = header_decode(text->str);
    return visible_line(decoded, READABLE_LINE);
}

/* ---- people ---- */

static void person_free(void *data)
{
    ReadablePerson *person = data;
    g_free(person->name);
    g_free(person->address);
    g_free(person);
}

static void add_person(ReadablePeople *people, const char *name, const char *address)
{
    ReadablePerson *person = g_new(ReadablePerson, 1);
    g_autofree char *text = shown(name);
    size_t length = strlen(text);
    bool quoted = length >= 2 && strchr("'\"", *text) && text[length - 1] == *text;
    person->address = visible_line(address, READABLE_LINE);
    person->name = quoted ? g_strndup(text + 1, length - 2) : g_strdup(text);
    if (g_ascii_strcasecmp(person->name, person->address) == 0)
        *person->name = '\0';
    g_ptr_array_add(people->list, person);
}

/* The author as text archives of Mailman write it: "anne at example.org (Anne Example)". False: it is none. */
static bool add_spelled(ReadablePeople *people, const char *text)
{
    const char *at = strstr(text, " at "), *host = at ? at + strlen(" at ") : NULL;
    if (!host || strcspn(text, " ") != (size_t)(at - text))
        return false;
    size_t length = strcspn(host, " ");
    const char *open = host + length + strspn(host + length, " "), *end = open + strlen(open);
    if (*open && (*open != '(' || end[-1] != ')' || end - open < 2))
        return false;
    g_autofree char *address = g_strdup_printf("%.*s@%.*s", (int)(at - text), text, (int)length, host);
    g_autofree char *name = *open ? g_strndup(open + 1, (size_t)(end - open - 2)) : g_strdup("");
    if (!mailbox_valid(address))
        return false;
    add_person(people, name, address);
    return true;
}

/* Read all fields of the name; where there is one that holds no address, its text stands for a person. */
static void read_people(ReadablePeople *people, const Message *message, const char *name)
{
    size_t index = 0, room = PEOPLE_MAX;
    g_autofree char *text = NULL;
    g_autoptr(GPtrArray) found = address_list_new();
    people->list = g_ptr_array_new_with_free_func(person_free);
    for (const Field *field; (field = message_find(message, name, &index)); index++) {
        size_t length = MIN(field->length - field->value_offset, room);
        people->more = people->more || length < field->length - field->value_offset;
        if (found->len <= READABLE_PEOPLE)
            address_parse(field->text + field->value_offset, length, found);
        room -= length;
        if (!text)
            text = field_value(field);
    }
    people->more = people->more || found->len > READABLE_PEOPLE;
    for (guint at = 0; at < MIN(found->len, READABLE_PEOPLE); at++) {
        const Address *address = found->pdata[at];
        add_person(people, address->display, address->mailbox);
    }
    if (found->len == 0 && text && *text && !add_spelled(people, g_strstrip(text)))
        add_person(people, text, "");
}

/* ---- ids ---- */

static char *visible_id(const char *id)
{
    char *text = id ? visible_line(id, READABLE_LINE) : NULL;
    if (text && !*text)
        g_clear_pointer(&text, g_free);
    return text;
}

/* The first id, which began the thread, and the last ones, which lead to this message. */
static GPtrArray *read_references(const Message *message)
{
    GPtrArray *ids = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *value = message_value(message, "References");
    for (const char *at = value ? value : "", *open; (open = strchr(at, '<'));) {
        size_t length = strcspn(open + 1, "<> \t");
        at = open + 1 + length;
        if (length == 0 || *at != '>')
            continue;
        if (length >= VALUE_MAX)
            break;
        g_autofree char *id = g_strndup(open + 1, length);
        char *text = visible_id(id);
        if (text)
            g_ptr_array_add(ids, text);
    }
    if (ids->len > READABLE_REFERENCES)
        g_ptr_array_remove_range(ids, 1, ids->len - READABLE_REFERENCES);
    return ids;
}

static void read_head(ReadableHead *head, const Message *message)
{
    read_people(&head->from, message, "From");
    read_people(&head->to, message, "To");
    read_people(&head->cc, message, "Cc");
    read_people(&head->reply_to, message, "Reply-To");
    g_autofree char *date = message_value(message, "Date"), *subject = message_value(message, "Subject");
    g_autofree char *id = message_id_brief(message);
    head->dated = date && date_parse(date, &head->date, &head->zone);
    head->subject = shown(subject ? subject : "");
    head->id = visible_id(id);
    const char *likely;
    g_autoptr(GPtrArray) replied = message_replied_ids(message, &likely);
    head->in_reply_to = likely && strlen(likely) < VALUE_MAX ? visible_id(likely) : NULL;
    head->references = read_references(message);
    /* "<mailto:list@example.com?subject=x> (comment)"; there may be no address, as in "NO". */
    g_autofree char *post = message_value(message, "List-Post");
    const char *mailto = post ? strcasestr(post, "<mailto:") : NULL;
    if (!mailto)
        return;
    mailto += strlen("<mailto:");
    g_autofree char *raw = g_strndup(mailto, strcspn(mailto, "?>"));
    g_autofree char *address = g_uri_unescape_string(g_strstrip(raw), NULL);
    if (address && mailbox_valid(address))
        head->list_post = visible_line(address, READABLE_LINE);
}

/* ---- what an invitation says (iCalendar, RFC 5545), for a mail that has no other text ---- */

#define EVENTS_MAX 50 /* of a calendar that are shown */

/* A property of an event: "DTSTART;TZID=Europe/Berlin:20261201T100000". */
typedef struct Property {
    char *name, *zone, *value; /* zone: "": none */
} Property;

static void property_clear(Property *property)
{
    g_free(property->name);
    g_free(property->zone);
    g_free(property->value);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Property, property_clear)

/* False: it is no property. Some parameters stand in quotes, with a colon perhaps. */
static bool read_property(const char *line, Property *property)
{
    const char *colon = line;
    for (bool quoted = false; *colon && (quoted || *colon != ':'); colon++)
        quoted ^= *colon == '"';
    if (!*colon)
        return false;
    g_autofree char *before = g_strndup(line, (gsize)(colon - line));
    g_auto(GStrv) words = g_strsplit(before, ";", -1);
    const char *zone = "";
    for (char **word = words + (*words != NULL); *word; word++)
        if (g_ascii_strncasecmp(*word, "TZID=", 5) == 0)
            zone = *word + 5;
    size_t quote = *zone == '"';
    *property = (Property){.name = g_ascii_strup(*words ? *words : "", -1),
                           .zone = g_strndup(zone + quote, strcspn(zone + quote, "\"")),
                           .value = g_strdup(colon + 1)};
    return true;
}

/* The text of a value: "\n" is a line end, and a backslash before another letter goes. */
static char *plain_value(const char *value)
{
    GString *text = g_string_new(NULL);
    for (const char *at = value; *at; at++) {
        if (*at == '\\' && at[1])
            g_string_append_c(text, g_ascii_tolower(*++at) == 'n' ? '\n' : *at);
        else
            g_string_append_c(text, *at);
    }
    return g_strstrip(g_string_free(text, FALSE));
}

/* "20261201T100000Z" as "2026-12-01 10:00 UTC"; another form stays as it is. */
static char *time_text(const Property *property)
{
    const char *at = property->value;
    size_t digits = strspn(at, "0123456789");
    if (digits != 8)
        return plain_value(at);
    g_autofree char *day = g_strdup_printf("%.4s-%.2s-%.2s", at, at + 4, at + 6);
    if (at[8] != 'T' || strspn(at + 9, "0123456789") < 4)
        return g_steal_pointer(&day);
    const char *zone = at[strlen(at) - 1] == 'Z' ? "UTC" : property->zone;
    return g_strdup_printf("%s %.2s:%.2s%s%s", day, at + 9, at + 11, *zone ? " " : "", zone);
}

/* Texts of one event, in the order in which it is shown. */
typedef struct Event {
    char *summary, *start, *end, *location, *description;
} Event;

static void event_clear(Event *event)
{
    g_free(event->summary);
    g_free(event->start);
    g_free(event->end);
    g_free(event->location);
    g_free(event->description);
    *event = (Event){0};
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Event, event_clear)

/* The first of each name counts. */
static void note(Event *event, const Property *property)
{
    const struct {
        const char *name;
        char **place;
        bool time;
    } known[] = {
        {"SUMMARY", &event->summary, false},   {"DTSTART", &event->start, true},
        {"DTEND", &event->end, true},          {"DUE", &event->end, true},
        {"LOCATION", &event->location, false}, {"DESCRIPTION", &event->description, false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(known); at++)
        if (strcmp(property->name, known[at].name) == 0 && !*known[at].place)
            *known[at].place = known[at].time ? time_text(property) : plain_value(property->value);
}

/* The events of a calendar in UTF-8: of each its title, time, place and description. */
static GString *calendar_text(const char *calendar)
{
    static const char *const whole[] = {"VEVENT", "VTODO", NULL};
    GString *text = g_string_new(NULL);
    /* Lines that were folded (RFC 5545, 3.1) are joined in one pass, since all of a long text may be folds. */
    g_autoptr(GString) unfolded = g_string_new(NULL);
    for (const char *at = calendar; *at; at++) {
        if (*at == '\r' && at[1] == '\n')
            continue;
        if (*at == '\n' && (at[1] == ' ' || at[1] == '\t'))
            at++;
        else
            g_string_append_c(unfolded, *at);
    }
    g_auto(Event) event = {0};
    unsigned depth = 0, events = 0; /* depth within an event: reminders have texts of their own */
    for (char *line = unfolded->str, *next; line && events < EVENTS_MAX; line = next) {
        g_auto(Property) property = {0};
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (!read_property(line, &property))
            continue;
        bool begins = strcmp(property.name, "BEGIN") == 0, ends = strcmp(property.name, "END") == 0;
        if (begins && (depth > 0 || g_strv_contains(whole, property.value))) {
            depth++;
        } else if (ends && depth > 0 && --depth == 0) {
            if (event.summary && *event.summary)
                g_string_append_printf(text, "%s\n", event.summary);
            if (event.start)
                g_string_append_printf(text, "%s%s%s\n", event.start, event.end ? " \342\200\223 " : "",
                                       event.end ? event.end : "");
            if (event.location && *event.location)
                g_string_append_printf(text, "%s\n", event.location);
            if (event.description && *event.description)
                g_string_append_printf(text, "\n%s\n", event.description);
            g_string_append_c(text, '\n');
            event_clear(&event);
            events++;
        } else if (depth == 1) {
            note(&event, &property);
        }
    }
    return text;
}

/* ---- files for download ---- */

#define PIECE 4096
#define TYPE_MAX 100

typedef enum Encoding { ENCODING_NONE, ENCODING_QUOTED, ENCODING_BASE64 } Encoding;

struct ReadableSource {
    GBytes *encoded;
    Encoding encoding;
};

/* Types that a browser shows or keeps, and never runs; with the ending that a file without a name gets. */
static const struct {
    const char *type, *serve_as, *ending;
} types[] = {
    {"text/plain", "text/plain", "txt"},
    {"text/x-patch", "text/plain", "patch"},
    {"text/x-diff", "text/plain", "diff"},
    {"text/csv", "text/plain", "csv"},
    {"text/markdown", "text/plain", "md"},
    {"text/x-log", "text/plain", "log"},
    {"text/html", NULL, "html"},
    {"text/calendar", NULL, "ics"},
    {"image/png", "image/png", "png"},
    {"image/jpeg", "image/jpeg", "jpg"},
    {"image/pjpeg", "image/jpeg", "jpg"},
    {"image/jpg", "image/jpeg", "jpg"},
    {"image/gif", "image/gif", "gif"},
    {"image/webp", "image/webp", "webp"},
    {"application/pdf", "application/pdf", "pdf"},
    {"application/zip", "application/zip", "zip"},
    {"application/gzip", "application/gzip", "gz"},
    {"application/x-gzip", "application/gzip", "gz"},
    {"message/rfc822", NULL, "eml"},
    {"application/pgp-keys", NULL, "asc"},
};

/* Does the part's Content-Disposition say that it is for download? */
static bool is_attachment(const MimePart *part)
{
    g_autofree char *value = mime_field(part->head, part->head_length, "Content-Disposition");
    if (value)
        value[strcspn(value, ";")] = '\0';
    g_autofree char *kind = content_token(value ? value : "");
    return g_ascii_strcasecmp(kind, "attachment") == 0;
}

/* The name that the mail gives to the file in a part; g_free(). NULL: it gives none. */
static char *part_name(const MimePart *part)
{
    MimeField fields[] = {MIME_FIELD("Content-Disposition"), MIME_FIELD("Content-Type"), MIME_FIELD("Content-Name"),
                          MIME_FIELD("X-Sun-Data-Name")};
    char *found = NULL;
    mime_fields(part->head, part->head_length, fields, G_N_ELEMENTS(fields));
    for (size_t at = 0; at < G_N_ELEMENTS(fields); at++) {
        g_autofree char *value = fields[at].value;
        g_autoptr(GPtrArray) names = file_names_new();
        if (value && !found)
            file_names_add(names, fields[at].name, value);
        const FileName *first = names->len > 0 ? names->pdata[0] : NULL;
        if (first && *first->text)
            found = g_strdup(first->text);
    }
    return found;
}

/* The bytes that the content has when it is decoded, which are counted without making them. */
static size_t decoded_size(const struct ReadableSource *source)
{
    size_t length, count = 0;
    const char *text = g_bytes_get_data(source->encoded, &length);
    if (source->encoding == ENCODING_NONE)
        return length;
    if (source->encoding == ENCODING_QUOTED) {
        for (const char *at = text, *end = text + length; at < end;)
            count += transfer_take_quoted(&at, end) >= 0;
        return count;
    }
    guchar piece[PIECE];
    int state = 0;
    guint save = 0;
    for (size_t at = 0, taken; at < length; at += taken) {
        taken = MIN(length - at, PIECE);
        count += g_base64_decode_step(text + at, taken, piece, &state, &save);
    }
    return count;
}

GBytes *readable_file_bytes(const ReadableFile *file)
{
    const struct ReadableSource *source = file->source;
    if (source->encoding == ENCODING_NONE)
        return g_bytes_ref(source->encoded);
    size_t length;
    const char *text = g_bytes_get_data(source->encoded, &length);
    GString *decoded = g_string_sized_new(file->size + 1);
    if (source->encoding == ENCODING_BASE64)
        transfer_decode_base64(text, length, decoded);
    else
        transfer_decode_quoted(text, length, decoded);
    return g_string_free_to_bytes(decoded);
}

static void file_free(void *data)
{
    ReadableFile *file = data;
    g_free(file->name);
    g_free(file->type);
    g_bytes_unref(file->source->encoded);
    g_free(file->source);
    g_free(file);
}

/* ---- a message that is taken apart ---- */

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
    ReadableHead *head = &readable->head;
    ReadablePeople *const people[] = {&head->from, &head->to, &head->cc, &head->reply_to};
    for (size_t at = 0; at < G_N_ELEMENTS(people); at++)
        g_ptr_array_unref(people[at]->list);
    g_free(head->subject);
    g_free(head->id);
    g_free(head->in_reply_to);
    g_free(head->list_post);
    g_ptr_array_unref(head->references);
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

static bool is_message(const MimePart *part)
{
    static const char *const kinds[] = {"message/rfc822", "message/global", NULL};
    return g_strv_contains(kinds, part->type);
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
    return g_strv_contains(texts, part->type)                     ? USE_TEXT
           : strcmp(part->type, "text/html") == 0                 ? USE_HTML
           : g_strv_contains(reports, part->type)                 ? USE_FIXED
           : g_strv_contains(signatures, part->type)              ? USE_SIGNATURE
           : strcmp(part->type, "application/pgp-encrypted") == 0 ? USE_ENCRYPTED
                                                                  : USE_FILE;
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
    guint next = ((const MimePart *)taking->parts->pdata[at])->next, end = MIN(next, taking->parts->len);
    bool plain = false, html = false;
    for (guint part = at + 1; part < end; part++) {
        const MimePart *form = taking->parts->pdata[part];
        if (form->inside || taking->hidden[part] || is_attachment(form))
            continue;
        html = html || strcmp(form->type, "text/html") == 0;
        plain = plain || (strcmp(form->type, "text/plain") == 0 && !is_empty(taking, part));
    }
    for (guint part = at + 1; part < end && (plain || html); part++) {
        const MimePart *form = taking->parts->pdata[part];
        bool chosen = strcmp(form->type, plain ? "text/plain" : "text/html") == 0;
        bool text = g_str_has_prefix(form->type, "text/") && strcmp(form->type, CALENDAR) != 0;
        if (text && !chosen && !form->inside && !is_attachment(form))
            taking->hidden[part] = true;
    }
}

/* ---- what is shown ---- */

static void add_file(const Taking *taking, const MimePart *part)
{
    ReadableFile *file = g_new0(ReadableFile, 1);
    GBytes *octets = taking->octets;
    const char *start = g_bytes_get_data(octets, NULL);
    size_t row = 0;
    while (row < G_N_ELEMENTS(types) && strcmp(types[row].type, part->type) != 0)
        row++;
    g_autofree char *name = part_name(part);
    file->number = taking->budget->files++;
    file->type = visible_line(part->type, TYPE_MAX);
    file->serve_as = row < G_N_ELEMENTS(types) ? types[row].serve_as : NULL;
    file->serve_as = file->serve_as ? file->serve_as : "application/octet-stream";
    file->name = file_name_safe(name ? name : "", READABLE_FILE_NAME);
    if (!*file->name) {
        const char *ending = row < G_N_ELEMENTS(types) ? types[row].ending : "bin";
        g_free(file->name);
        file->name = g_strdup_printf("part-%zu.%s", file->number + 1, ending);
    }
    file->source = g_new0(struct ReadableSource, 1);
    file->source->encoded = part->body_length > 0
                                ? g_bytes_new_from_bytes(octets, (gsize)(part->body - start), part->body_length)
                                : g_bytes_new_static("", 0);
    file->source->encoding = strcmp(part->encoding, "base64") == 0             ? ENCODING_BASE64
                             : strcmp(part->encoding, "quoted-printable") == 0 ? ENCODING_QUOTED
                                                                               : ENCODING_NONE;
    file->size = decoded_size(file->source);
    g_ptr_array_add(taking->to->files, file);
    readable_block_add(taking->to, taking->budget, READABLE_FILE)->file = file;
}

static void show_text(const Taking *taking, const MimePart *part, bool patch)
{
    bool html = strcmp(part->type, "text/html") == 0, cut = false;
    size_t room = taking->budget->text, share = html ? HTML_SHARE : 1;
    size_t limit = part->body_length / share < room ? part->body_length : room * share;
    if (room > 0) {
        g_autofree char *value = mime_field(part->head, part->head_length, "Content-Type");
        g_autoptr(ContentType) type = content_type_parse(value ? value : "");
        g_autofree char *format = content_type_first(type, "format"), *delsp = content_type_first(type, "delsp");
        bool flowed = strcmp(part->type, "text/plain") == 0 && format && g_ascii_strcasecmp(format, "flowed") == 0;
        const ReadableForm form = {.flowed = flowed,
                                   .drop_blank = flowed && delsp && g_ascii_strcasecmp(delsp, "yes") == 0,
                                   .fixed = patch || use_of(part) == USE_FIXED,
                                   .patch = patch};
        g_autoptr(GString) raw = mime_text(part, limit), visible = g_string_new(NULL);
        g_autoptr(GString) made = html                                ? mime_html_quoted(raw)
                                  : strcmp(part->type, CALENDAR) == 0 ? calendar_text(raw->str)
                                                                      : NULL;
        const GString *text = made ? made : raw;
        visible_append(visible, text->str, text->len);
        cut = visible->len > room;
        if (cut) {
            const char *end = g_utf8_find_prev_char(visible->str, visible->str + room + 1);
            g_string_truncate(visible, end ? (gsize)(end - visible->str) : 0);
        }
        readable_text_add(taking->to, taking->budget, visible, &form);
        taking->budget->text -= MIN(visible->len, room);
    }
    if (!cut && limit == part->body_length)
        return;
    /* One note for all that is left out here, with the bytes as they were sent. */
    const GPtrArray *blocks = taking->to->blocks;
    ReadableBlock *last = blocks->len > 0 ? blocks->pdata[blocks->len - 1] : NULL;
    if (!last || last->kind != READABLE_NOTE || last->note != READABLE_NOTE_CUT)
        last = readable_note_add(taking->to, taking->budget, READABLE_NOTE_CUT);
    last->left_out += part->body_length - limit;
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
        bool text = (use == USE_TEXT || use == USE_HTML) && !is_attachment(form);
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
    if (use == USE_SIGNATURE || use == USE_ENCRYPTED) {
        readable_note_add(taking->to, taking->budget,
                          use == USE_SIGNATURE ? READABLE_NOTE_SIGNED : READABLE_NOTE_ENCRYPTED);
        return;
    }
    if (is_message(part)) {
        show_message(taking, part);
        return;
    }
    if (g_str_has_suffix(part->type, "/pkcs7-mime") || g_str_has_suffix(part->type, "/x-pkcs7-mime")) {
        /* S/MIME in one piece: with a signature, or encrypted. */
        g_autofree char *value = mime_field(part->head, part->head_length, "Content-Type");
        g_autoptr(ContentType) type = content_type_parse(value ? value : "");
        g_autofree char *kind = content_type_first(type, "smime-type");
        bool is_signed = kind && g_ascii_strcasecmp(kind, "signed-data") == 0;
        readable_note_add(taking->to, taking->budget, is_signed ? READABLE_NOTE_SIGNED : READABLE_NOTE_ENCRYPTED);
    }
    g_autofree char *name = part_name(part), *ending = file_name_ending(name ? name : "");
    bool attached = is_attachment(part), is_text = use == USE_TEXT || use == USE_HTML;
    bool patch = is_text && (g_ascii_strcasecmp(ending, "patch") == 0 || g_ascii_strcasecmp(ending, "diff") == 0 ||
                             strcmp(part->type, "text/x-patch") == 0 || strcmp(part->type, "text/x-diff") == 0);
    if (use == USE_FILE || attached || (name && at > 0))
        add_file(taking, part);
    if (is_lone_calendar(taking, at))
        show_text(taking, part, false);
    if (use == USE_FIXED || (is_text && (!attached || patch || at == 0)))
        show_text(taking, part, patch);
}

static Readable *take_apart(GBytes *octets, ReadableBudget *budget, unsigned depth)
{
    Readable *to = g_new0(Readable, 1);
    to->blocks = g_ptr_array_new_with_free_func(block_free);
    to->files = g_ptr_array_new_with_free_func(file_free);
    g_autoptr(Message) message = message_new(octets);
    read_head(&to->head, message);
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
    for (guint at = 0, next; at < parts->len; at = next) {
        const MimePart *part = parts->pdata[at];
        bool multipart = g_str_has_prefix(part->type, "multipart/"), split = multipart && part->next > at + 1;
        next = is_message(part) ? part->next : at + 1;
        if (split && strcmp(part->type, "multipart/alternative") == 0)
            choose(&taking, at);
        if (split || hidden[at])
            continue;
        if (!multipart) {
            show_part(&taking, at);
        } else if (at == 0) { /* it says that it has parts, and has none: it is read as it is */
            show_text(&taking, part, false);
        } else {
            readable_note_add(to, budget, READABLE_NOTE_DEEP);
            add_file(&taking, part);
        }
    }
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
