/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/archived_post.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "lists/archived_text.h"
#include "mail/address.h"
#include "mail/base_subject.h"
#include "mail/date.h"
#include "mail/header.h"
#include "mail/message.h"

#define FIELD_MAX 65536 /* bytes of a Subject or From that are read */
#define SECONDS_MAX INT64_C(9999999999)

void archived_post_free(ArchivedPost *post)
{
    if (!post)
        return;
    g_free((void *)post->post.references);
    g_ptr_array_unref(post->texts);
    g_free(post);
}

static const char *keep(ArchivedPost *self, char *text)
{
    g_ptr_array_add(self->texts, text);
    return text;
}

/* The value of a field, cut; "" when there is none. */
static char *brief_value(const Message *message, const char *name)
{
    char *value = message_value(message, name);
    if (value && strlen(value) > FIELD_MAX)
        value[FIELD_MAX] = '\0';
    return value ? value : g_strdup("");
}

static void read_sender(ArchivedPost *self, const Message *message)
{
    g_autoptr(GPtrArray) addresses = address_list_new();
    g_autofree char *value = brief_value(message, "From");
    address_parse(value, strlen(value), addresses);
    const Address *first = addresses->len > 0 ? addresses->pdata[0] : NULL;
    self->post.name = keep(self, first ? header_decode(first->display) : g_strdup(""));
    self->post.address = keep(self, g_strdup(first ? first->mailbox : ""));
}

static void read_subject(ArchivedPost *self, const Message *message)
{
    g_autofree char *value = brief_value(message, "Subject");
    self->post.subject = keep(self, header_decode(value));
    self->post.topic = keep(self, base_subject(self->post.subject, &self->post.reply));
}

typedef struct Reference {
    const char *text;
    size_t length;
} Reference;

/* The Message-IDs in a field, in their brackets. */
static void find_ids(const char *value, GArray *found)
{
    for (const char *open = strchr(value, '<'); open; open = strchr(open + 1, '<')) {
        size_t length = strcspn(open + 1, "<> \t") + 1;
        if (open[length] != '>' || length < 2)
            continue;
        Reference reference = {open, length + 1};
        g_array_append_val(found, reference);
    }
}

/* Hashes of the References, or else of the first that In-Reply-To names. Of more than the index takes, the first and
 * the last ones. */
static void read_references(ArchivedPost *self, const Message *message)
{
    g_autofree char *references = message_value(message, "References");
    g_autofree char *reply = message_value(message, "In-Reply-To");
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Reference));
    if (references)
        find_ids(references, found);
    if (found->len == 0 && reply) {
        find_ids(reply, found);
        g_array_set_size(found, MIN(found->len, 1));
    }
    guint left_out = found->len > ARCHIVE_REFERENCES_MAX ? found->len - ARCHIVE_REFERENCES_MAX : 0, count = 0;
    const char **hashes = g_new0(const char *, found->len - left_out + 1);
    for (guint i = 0; i < found->len; i += i == 0 ? left_out + 1 : 1) {
        const Reference *reference = &g_array_index(found, Reference, i);
        g_autofree char *id = g_strndup(reference->text, reference->length);
        hashes[count++] = keep(self, message_id_hash(id));
    }
    self->post.references = hashes;
}

int64_t archived_post_arrival(const char *file)
{
    char *end;
    int64_t seconds = g_ascii_strtoll(file, &end, 10);
    return end > file && *end == '.' && seconds > 0 && seconds <= SECONDS_MAX ? seconds * CLOCK_SECOND : 0;
}

ArchivedPost *archived_post_new(const char *list, const char *file, int64_t arrival, const char *octets, size_t length)
{
    ArchivedPost *self = g_new0(ArchivedPost, 1);
    self->texts = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GBytes) bytes = g_bytes_new_static(octets, length);
    g_autoptr(Message) message = message_new(bytes);
    g_autofree char *id = message_id(message), *date = message_value(message, "Date");
    int64_t seconds;
    int zone;
    ArchivePost *post = &self->post;
    post->list = keep(self, g_strdup(list));
    post->file = keep(self, g_strdup(file));
    post->hash = id ? keep(self, message_id_hash(id)) : NULL;
    post->spare_hash = keep(self, message_id_hash(file));
    post->arrival = arrival > 0 ? arrival : archived_post_arrival(file);
    post->date = date && date_parse(date, &seconds, &zone) ? seconds * CLOCK_SECOND : 0;
    post->size = (int64_t)length;
    read_sender(self, message);
    read_subject(self, message);
    read_references(self, message);
    post->text = keep(self, archived_text(octets, length, &post->attachments));
    post->text_length = strlen(post->text);
    return self;
}
