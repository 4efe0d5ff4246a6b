/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * An entry file of any bytes, read by the code that claims. With an even first byte
 * the rest is the file as it is. With an odd one the next four are the lengths of
 * metadata and recipient lines, and the file is built around them with right sums, so that
 * what lies behind the sums is reached: it must be taken if and only if its parts are sound.
 * What is taken is walked, marked, charged with a crash, and copied into an entry that must
 * be read back with the same octets.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "switchboard/draft.h"
#include "switchboard/entry.h"
#include "switchboard/format_internal.h"
#include "t/fuzz/fuzz.h"

typedef struct Part {
    const char *octets;
    size_t length;
} Part;

static char *spool_directory;

static void remove_spool(void)
{
    g_autofree char *queue = g_build_filename(spool_directory, "in", NULL);
    g_rmdir(queue);
    g_rmdir(spool_directory);
}

static Queue *queue(void)
{
    static Spool *spool;
    if (!spool) {
        spool_directory = g_dir_make_tmp("fuzz-entry-XXXXXX", NULL);
        spool = spool_open(spool_directory, NULL);
        atexit(remove_spool);
    }
    return spool_queue(spool, "in", NULL);
}

static void write_file(const char *file, const GString *octets)
{
    int fd = openat(queue_fd(queue()), file, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, octets->str, octets->len) == (ssize_t)octets->len && close(fd) == 0);
}

static void name_text(const uint8_t hash[HASH_SIZE], char text[NAME_SIZE + 4])
{
    EntryName name = {.due = 1763644800000042};
    memcpy(name.hash, hash, HASH_SIZE);
    name_format(&name, text);
    strcpy(text + NAME_LENGTH, ".msg");
}

/* The lines are sound and fill their place. */
static void check_recipients(const Entry *entry)
{
    size_t octets = 0;
    Recipient recipient = {.next = 0};
    while (entry_next_recipient(entry, recipient.next, &recipient)) {
        require(recipient.length > 0 && memchr(" DB", recipient.state, 3));
        octets += recipient.length + 2;
    }
    require(octets == entry_recipients_length(entry));
}

/* Marks every second recipient, and finds just those marked when the file is read anew. */
static void check_marks(Entry *entry, const char *file)
{
    g_autoptr(GArray) offsets = g_array_new(FALSE, FALSE, sizeof(size_t));
    Recipient recipient = {.next = 0};
    for (unsigned at = 0; entry_next_recipient(entry, recipient.next, &recipient); at++)
        if (at % 2)
            g_array_append_val(offsets, recipient.offset);
    unsigned crashes = entry_crashes(entry);
    require(entry_mark(entry, (const size_t *)(void *)offsets->data, offsets->len, RECIPIENT_BOUNCED, NULL));
    require(entry_begin_work(entry, NULL));
    g_autoptr(Entry) again = entry_open(queue(), file, NULL);
    require(again && entry_crashes(again) == MIN(crashes + 1, ENTRY_CRASHES_MAX));
    recipient.next = 0;
    for (unsigned at = 0; entry_next_recipient(again, recipient.next, &recipient); at++)
        require(at % 2 == 0 || recipient.state == RECIPIENT_BOUNCED);
    require(entry_end_work(entry, NULL));
}

/* A copy for another entry has the message's bytes and those recipients that were to do. */
static void check_copy(Entry *entry)
{
    g_autoptr(Draft) draft = draft_from_entry("in", entry);
    draft_set_due(draft, 1763644800000043);
    char file[NAME_SIZE + 4];
    name_format(draft_name(draft), file);
    strcpy(file + NAME_LENGTH, ".msg");
    g_autoptr(GError) error = NULL;
    int fd = draft_write(draft, queue(), file, &error);
    if (fd < 0) { /* metadata that grew by what a draft adds */
        require(g_error_matches(error, FAIL, FAIL_NEVER));
        return;
    }
    close(fd);
    g_autoptr(Entry) copy = entry_open(queue(), file, &error);
    require(copy != NULL);
    g_autoptr(GBytes) octets = entry_message(entry), copied = entry_message(copy);
    require(g_bytes_equal(octets, copied));
    require(strcmp(entry_list(copy), entry_list(entry)) == 0);
    require(entry_recipients_length(copy) <= entry_recipients_length(entry));
    check_recipients(copy);
    unlinkat(queue_fd(queue()), file, 0);
}

static bool check(const char *file)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Entry) entry = entry_open(queue(), file, &error);
    if (!entry) {
        require(g_error_matches(error, FAIL, FAIL_NEVER));
        return false;
    }
    require(json_is_object(entry_meta(entry)) && entry_list(entry) && entry_trace(entry));
    g_autoptr(GBytes) message = entry_message(entry);
    require(g_bytes_get_size(message) == entry_message_length(entry));
    check_recipients(entry);
    check_copy(entry);
    check_marks(entry, file);
    return true;
}

/* Builds a file with right sums; true when its parts are sound. file gets its name. */
static bool build(const Part *meta, const Part *recipients, const Part *message, char *file)
{
    FormatHead head = {.meta_length = meta->length, .recipients_length = recipients->length,
                       .message_length = message->length};
    char text[MAX(FORMAT_HEAD_SIZE, FORMAT_TAIL_SIZE) + 1];
    uint8_t hash[HASH_SIZE];
    g_autoptr(EVP_MD_CTX) sum = format_checksum_new();
    format_checksum_meta(sum, meta->octets, meta->length);
    bool sound = format_checksum_recipients(sum, recipients->octets, recipients->length);
    format_checksum_end(sum, &head);
    g_autoptr(json_t) object = meta_parse(meta->octets, meta->length, NULL);
    g_autoptr(EVP_MD_CTX) name = format_checksum_new();
    format_hash_message(name, message->octets, message->length);
    format_hash_end(name, meta_string(object, META_LIST, ""), meta_integer(object, META_ARRIVAL, 0),
                    meta_integer(object, META_ORDINAL, 0), meta_string(object, META_SHARD, NULL), hash);
    g_autoptr(GString) whole = g_string_new(NULL);
    format_head_print(&head, text);
    g_string_append_len(whole, text, FORMAT_HEAD_SIZE);
    g_string_append_len(whole, meta->octets, (gssize)meta->length);
    g_string_append_len(whole, recipients->octets, (gssize)recipients->length);
    g_string_append_len(whole, message->octets, (gssize)message->length);
    format_tail_print(hash, text);
    g_string_append_len(whole, text, FORMAT_TAIL_SIZE);
    name_text(hash, file);
    write_file(file, whole);
    return sound && object;
}

static Part cut(Part *rest, size_t length)
{
    Part part = {rest->octets, MIN(length, rest->length)};
    rest->octets += part.length;
    rest->length -= part.length;
    return part;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char file[NAME_SIZE + 4];
    if (size < 5)
        return 0;
    if (data[0] % 2 == 0) {
        g_autoptr(GString) octets = g_string_new_len((const char *)data + 1, (gssize)size - 1);
        name_text((const uint8_t[HASH_SIZE]){0}, file);
        write_file(file, octets);
        check(file);
    } else {
        Part rest = {(const char *)data + 5, size - 5};
        Part meta = cut(&rest, (size_t)data[1] << 8 | data[2]);
        Part recipients = cut(&rest, (size_t)data[3] << 8 | data[4]);
        bool sound = build(&meta, &recipients, &rest, file);
        require(check(file) == sound);
    }
    unlinkat(queue_fd(queue()), file, 0);
    return 0;
}
