/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/archive/archived_post.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "mail/message.h"
#include "mail/text/readable.h"
#include "mail/text/subject.h"

#define SECONDS_MAX INT64_C(9999999999)

void archived_post_free(ArchivedPost *post)
{
    if (!post)
        return;
    g_free((void *)post->post.references);
    g_free((void *)post->post.replied);
    g_ptr_array_unref(post->texts);
    g_free(post);
}

static const char *keep(ArchivedPost *self, char *text)
{
    g_ptr_array_add(self->texts, text);
    return text;
}

/* Hashes of the References, or else of In-Reply-To. Of more than the index takes, the first and the last ones. */
static void read_references(ArchivedPost *self, const Message *message)
{
    g_autofree char *value = message_value(message, "References");
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
    for (const char *open = value ? strchr(value, '<') : NULL; open; open = strchr(open + 1, '<')) {
        size_t length = strcspn(open + 1, "<> \t") + 1;
        if (open[length] == '>' && length >= 2) /* an id, in its brackets */
            g_ptr_array_add(found, g_strndup(open, length + 1));
    }
    if (found->len > 0) {
        guint left_out = found->len > ARCHIVE_REFERENCES_MAX ? found->len - ARCHIVE_REFERENCES_MAX : 0, count = 0;
        const char **hashes = g_new0(const char *, found->len - left_out + 1);
        for (guint i = 0; i < found->len; i += i == 0 ? left_out + 1 : 1)
            hashes[count++] = keep(self, message_id_hash(found->pdata[i]));
        self->post.references = hashes;
        return;
    }

    /* In-Reply-To may name several ids; the only reference is that which looks most like one. */
    const char *likely;
    g_autoptr(GPtrArray) ids = message_replied_ids(message, &likely);
    const char **references = g_new0(const char *, 2), **replied = g_new0(const char *, ids->len + 1);
    for (guint i = 0; i < ids->len; i++) {
        replied[i] = keep(self, message_id_hash(ids->pdata[i]));
        if (ids->pdata[i] == likely)
            references[0] = replied[i];
    }
    self->post.references = references;
    self->post.replied = replied;
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
    g_autoptr(Readable) mail = readable_new(bytes, ARCHIVE_TEXT_MAX);
    g_autofree char *id = message_id(message);
    ArchivePost *post = &self->post;
    post->list = keep(self, g_strdup(list));
    post->file = keep(self, g_strdup(file));
    post->hash = id ? keep(self, message_id_hash(id)) : NULL;
    post->spare_hash = keep(self, message_id_hash(file));
    post->arrival = arrival > 0 ? arrival : archived_post_arrival(file);
    post->size = (int64_t)length;
    const ReadableHead *head = &mail->head;
    const ReadablePerson *from = head->from.list->len > 0 ? head->from.list->pdata[0] : NULL;
    post->name = keep(self, g_strdup(from ? from->name : ""));
    post->address = keep(self, g_strdup(from ? from->address : ""));
    post->subject = keep(self, g_strdup(head->subject));
    post->topic = keep(self, base_subject(post->subject, &post->reply));
    post->date = head->dated ? head->date * CLOCK_SECOND : 0;
    read_references(self, message);
    GString *text = readable_search_text(mail, false, ARCHIVE_TEXT_MAX);
    post->text_length = text->len;
    post->text = keep(self, g_string_free(text, FALSE));
    post->attachments = mail->files->len;
    return self;
}
