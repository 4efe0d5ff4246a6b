/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The fields of a message that people read. */
#include <string.h>

#include "base/mailbox.h"
#include "mail/address.h"
#include "mail/charset.h"
#include "mail/date.h"
#include "mail/header.h"
#include "mail/text/readable_internal.h"
#include "mail/visible.h"

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

static void clear_people(ReadablePeople *people)
{
    g_ptr_array_unref(people->list);
}

/* ---- ids ---- */

/* The next id between angle brackets at or behind *at, which moves behind it; NULL: there is none. g_free() */
static char *take_id(const char **at)
{
    for (const char *open; (open = strchr(*at, '<'));) {
        size_t length = strcspn(open + 1, "<> \t");
        *at = open + 1 + length;
        if (length > 0 && open[1 + length] == '>')
            return length < VALUE_MAX ? g_strndup(open + 1, length) : NULL;
    }
    return NULL;
}

static char *visible_id(const char *id)
{
    char *text = id ? visible_line(id, READABLE_LINE) : NULL;
    if (text && !*text)
        g_clear_pointer(&text, g_free);
    return text;
}

static char *read_reply(const Message *message)
{
    const char *likely;
    g_autoptr(GPtrArray) ids = message_replied_ids(message, &likely);
    return likely && strlen(likely) < VALUE_MAX ? visible_id(likely) : NULL;
}

/* The first id, which began the thread, and the last ones, which lead to this message. */
static GPtrArray *read_references(const Message *message)
{
    GPtrArray *ids = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *value = message_value(message, "References");
    const char *at = value ? value : "";
    for (char *id; (id = take_id(&at)); g_free(id)) {
        char *text = visible_id(id);
        if (text)
            g_ptr_array_add(ids, text);
    }
    if (ids->len > READABLE_REFERENCES)
        g_ptr_array_remove_range(ids, 1, ids->len - READABLE_REFERENCES);
    return ids;
}

/* ---- the rest ---- */

/* The address of "<mailto:list@example.com?subject=x> (comment)"; NULL: there is none, as in "NO". */
static char *read_list_post(const Message *message)
{
    g_autofree char *value = message_value(message, "List-Post");
    const char *at = value ? strcasestr(value, "<mailto:") : NULL;
    if (!at)
        return NULL;
    at += strlen("<mailto:");
    g_autofree char *raw = g_strndup(at, strcspn(at, "?>"));
    g_autofree char *address = g_uri_unescape_string(g_strstrip(raw), NULL);
    return address && mailbox_valid(address) ? visible_line(address, READABLE_LINE) : NULL;
}

void readable_head_read(ReadableHead *head, const Message *message)
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
    head->in_reply_to = read_reply(message);
    head->references = read_references(message);
    head->list_post = read_list_post(message);
}

void readable_head_clear(ReadableHead *head)
{
    clear_people(&head->from);
    clear_people(&head->to);
    clear_people(&head->cc);
    clear_people(&head->reply_to);
    g_free(head->subject);
    g_free(head->id);
    g_free(head->in_reply_to);
    g_free(head->list_post);
    g_ptr_array_unref(head->references);
}
