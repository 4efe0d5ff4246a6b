/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Check that a mail as people read it (mail/text/readable.h) is sound, whatever the mail is. The unit test, a test over
 * real mail and the fuzzer call check_readable(). A check that fails ends the process. */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "mail/text/readable.h"

#define CHECK(condition)                             \
    do {                                             \
        if (!(condition))                            \
            g_error("%s does not hold", #condition); \
    } while (0)

/* Is the text valid UTF-8, without the characters that mail/visible.h leaves out? */
static inline bool check_is_visible(const char *text, bool one_line)
{
    if (!g_utf8_validate(text, -1, NULL))
        return false;
    for (const char *at = text; *at; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        bool blank = c == '\n' || c == '\t';
        if ((blank && one_line) || (c < ' ' && !blank) || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
            (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
            return false;
    }
    return true;
}

static inline void check_line(const char *text)
{
    CHECK(!text || (check_is_visible(text, true) && strlen(text) <= READABLE_LINE));
}

static inline void check_people(const ReadablePeople *people)
{
    CHECK(people->list->len <= READABLE_PEOPLE);
    for (guint at = 0; at < people->list->len; at++) {
        const ReadablePerson *person = people->list->pdata[at];
        check_line(person->name);
        check_line(person->address);
    }
}

static inline void check_head(const ReadableHead *head)
{
    check_people(&head->from);
    check_people(&head->to);
    check_people(&head->cc);
    check_people(&head->reply_to);
    CHECK(head->subject != NULL);
    check_line(head->subject);
    check_line(head->id);
    check_line(head->in_reply_to);
    check_line(head->list_post);
    CHECK(head->references->len <= READABLE_REFERENCES);
    for (guint at = 0; at < head->references->len; at++)
        check_line(head->references->pdata[at]);
    CHECK(!head->dated || (head->date >= 0 && head->zone >= -1440 && head->zone <= 1440));
}

static inline void check_links(const ReadableBlock *block)
{
    size_t behind = 0;
    for (guint at = 0; block->links && at < block->links->len; at++) {
        const TextLink *link = &g_array_index(block->links, TextLink, at);
        CHECK(link->length > 0 && link->start >= behind && link->start + link->length <= block->length);
        behind = link->start + link->length;
        g_autofree char *target = g_strndup(block->text + link->start, link->length);
        CHECK(g_utf8_validate(target, -1, NULL) && !strpbrk(target, "<>\" \n\t`"));
        if (link->kind == TEXT_LINK_WEB)
            CHECK(g_ascii_strncasecmp(target, "http://", 7) == 0 || g_ascii_strncasecmp(target, "https://", 8) == 0 ||
                  g_ascii_strncasecmp(target, "ftp://", 6) == 0);
        else
            CHECK(strchr(target, '@') && link->holds_address);
    }
}

/* Check the blocks of a mail and of the messages within. Return the number of bytes of their text, and add the number
 * of files to *files. */
static inline size_t check_blocks(const Readable *mail, size_t *files)
{
    size_t length = 0, own = 0;
    check_head(&mail->head);
    for (guint at = 0; at < mail->blocks->len; at++) {
        const ReadableBlock *block = mail->blocks->pdata[at];
        CHECK(strlen(block->text) == block->length && check_is_visible(block->text, false));
        CHECK((block->kind == READABLE_QUOTATION) == (block->level > 0) && block->level <= READABLE_LEVEL);
        CHECK(block->level == 0 || block->fold > 0);
        CHECK((block->kind == READABLE_FILE) == (block->file != NULL));
        CHECK((block->kind == READABLE_MESSAGE) == (block->message != NULL));
        CHECK((block->length == 0) == (block->kind >= READABLE_NOTE));
        CHECK(block->length == 0 || block->text[block->length - 1] != '\n');
        check_links(block);
        length += block->length;
        if (block->file) {
            const ReadableFile *file = block->file;
            CHECK(file == mail->files->pdata[own++] && file->number == *files);
            ++*files;
            CHECK(*file->name && strlen(file->name) <= READABLE_FILE_NAME && check_is_visible(file->name, true));
            CHECK(!strpbrk(file->name, "/\\<>:\"|?*") && *file->name != '.' && *file->name != '-');
            CHECK(check_is_visible(file->type, true) && file->serve_as);
            g_autoptr(GBytes) bytes = readable_file_bytes(file);
            CHECK(g_bytes_get_size(bytes) == file->size);
        }
        if (block->message)
            length += check_blocks(block->message, files);
    }
    CHECK(own == mail->files->len);
    return length;
}

/* Check all that can be read of a mail, with `limit` bytes of text. */
static inline void check_readable(GBytes *octets, size_t limit)
{
    g_autoptr(Readable) mail = readable_new(octets, limit), bare = readable_new(octets, 0);
    size_t files = 0, again = 0;
    CHECK(check_blocks(mail, &files) <= limit);
    CHECK(check_blocks(bare, &again) == 0 && files == again);
    CHECK(files == 0 || readable_file(mail, files - 1)->size == readable_file(bare, files - 1)->size);
    CHECK(!readable_file(mail, files));
    GString *whole = readable_search_text(mail, true, limit), *own = readable_search_text(mail, false, limit / 2);
    CHECK(whole->len <= limit && check_is_visible(whole->str, false) && strlen(whole->str) == whole->len);
    CHECK(own->len <= limit / 2 && check_is_visible(own->str, false));
    g_autofree char *masked = text_link_mask(whole->str, whole->len);
    CHECK(g_utf8_validate(masked, -1, NULL));
    g_string_free(whole, TRUE);
    g_string_free(own, TRUE);
}
