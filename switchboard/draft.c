/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/draft.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/format_internal.h"

/* Recipients up to this many bytes are gathered first, so that the common
 * entry is one write. */
#define GATHER_MAX (256 * 1024)
#define TRACE_DIGITS 12
#define BLOCK (256 * 1024) /* bytes of a file that are in memory at a time */

/* A message, perhaps of several drafts. */
typedef struct Octets {
    GPtrArray *pieces; /* of GBytes */
    int file;          /* in place of pieces; -1: none */
    size_t length;
    EVP_MD_CTX *hashed; /* has seen the message; NULL: nobody asked */
} Octets;

struct Draft {
    char *queue;
    json_t *meta;
    Octets *message;
    int64_t due; /* 0: the arrival time */
    bool named;
    EntryName name;
    DraftRecipients *next;
    void *next_data;
    GDestroyNotify next_destroy;
};

static void octets_clear(void *data)
{
    Octets *message = data;
    g_ptr_array_unref(message->pieces);
    if (message->file >= 0)
        close(message->file);
    EVP_MD_CTX_free(message->hashed);
}

static void octets_unref(Octets *message)
{
    g_atomic_rc_box_release_full(message, octets_clear);
}

Draft *draft_new(const char *queue, json_t *meta)
{
    Draft *draft = g_new0(Draft, 1);
    draft->queue = g_strdup(queue);
    draft->meta = meta;
    draft->message = g_atomic_rc_box_new0(Octets);
    draft->message->pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    draft->message->file = -1;
    return draft;
}

void draft_free(Draft *draft)
{
    if (!draft)
        return;
    if (draft->next_destroy)
        draft->next_destroy(draft->next_data);
    octets_unref(draft->message);
    json_decref(draft->meta);
    g_free(draft->queue);
    g_free(draft);
}

void draft_add_message(Draft *draft, GBytes *octets)
{
    g_assert(draft->message->hashed == NULL && draft->message->file < 0);
    g_ptr_array_add(draft->message->pieces, g_bytes_ref(octets));
    draft->message->length += g_bytes_get_size(octets);
}

/* Reads a file from its start to its end. */
static bool read_blocks(int fd, bool (*take)(void *data, const void *octets, size_t length, GError **error), void *data,
                        size_t *length, GError **error)
{
    g_autofree char *block = g_malloc(BLOCK);
    ssize_t got;
    *length = 0;
    while ((got = pread(fd, block, BLOCK, (off_t)*length)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(error, FAIL_LATER, "read a message from its file");
        if (!take(data, block, (size_t)got, error))
            return false;
        *length += (size_t)got;
    }
    return true;
}

static bool hash_block(void *data, const void *octets, size_t length, GError **error)
{
    (void)error;
    format_hash_message(data, octets, length);
    return true;
}

bool draft_set_file(Draft *draft, int fd, GError **error)
{
    Octets *message = draft->message;
    g_assert(message->hashed == NULL && message->pieces->len == 0 && message->file < 0);
    message->file = fd;
    message->hashed = format_checksum_new();
    return read_blocks(fd, hash_block, message->hashed, &message->length, error);
}

void draft_share_message(Draft *draft, const Draft *other)
{
    octets_unref(draft->message);
    draft->message = g_atomic_rc_box_acquire(other->message);
}

void draft_set_due(Draft *draft, int64_t due)
{
    draft->due = due;
}

void draft_set_recipients(Draft *draft, DraftRecipients *next, void *data, GDestroyNotify destroy)
{
    if (draft->next_destroy)
        draft->next_destroy(draft->next_data);
    draft->next = next;
    draft->next_data = data;
    draft->next_destroy = destroy;
}

/* Walks the recipients of an entry that are still to do. */
typedef struct Remaining {
    const Entry *entry;
    size_t offset;
    GString *address;
} Remaining;

static const char *remaining_next(void *data, GError **error)
{
    (void)error;
    Remaining *remaining = data;
    Recipient recipient;
    while (entry_next_recipient(remaining->entry, remaining->offset, &recipient)) {
        remaining->offset = recipient.next;
        if (recipient.state == RECIPIENT_TODO) {
            g_string_truncate(remaining->address, 0);
            g_string_append_len(remaining->address, recipient.address, (gssize)recipient.length);
            return remaining->address->str;
        }
    }
    return NULL;
}

static void remaining_free(gpointer data)
{
    Remaining *remaining = data;
    g_string_free(remaining->address, TRUE);
    g_free(remaining);
}

void draft_copy_recipients(Draft *draft, const Entry *entry)
{
    Remaining *remaining = g_new0(Remaining, 1);
    remaining->entry = entry;
    remaining->address = g_string_new(NULL);
    draft_set_recipients(draft, remaining_next, remaining, remaining_free);
}

/* Walks an array of addresses. */
typedef struct Given {
    char **all, **next;
} Given;

static const char *given_next(void *data, GError **error)
{
    (void)error;
    Given *given = data;
    return *given->next ? *given->next++ : NULL;
}

static void given_free(gpointer data)
{
    Given *given = data;
    g_strfreev(given->all);
    g_free(given);
}

void draft_set_addresses(Draft *draft, char **addresses)
{
    Given *given = g_new(Given, 1);
    *given = (Given){addresses, addresses};
    draft_set_recipients(draft, given_next, given, given_free);
}

Draft *draft_from_entry(const char *queue, Entry *entry)
{
    Draft *draft = draft_new(queue, json_deep_copy(entry_meta(entry)));
    json_object_del(draft->meta, META_ORDINAL);
    g_autoptr(GBytes) message = entry_message(entry);
    draft_add_message(draft, message);
    if (entry_recipients_length(entry) > 0)
        draft_copy_recipients(draft, entry);
    return draft;
}

const char *draft_queue(const Draft *draft)
{
    return draft->queue;
}

json_t *draft_meta(Draft *draft)
{
    return draft->meta;
}

size_t draft_message_length(const Draft *draft)
{
    return draft->message->length;
}

GBytes *draft_message(const Draft *draft)
{
    const GPtrArray *pieces = draft->message->pieces;
    g_assert(draft->message->file < 0);
    if (pieces->len == 1)
        return g_bytes_ref(pieces->pdata[0]);
    GByteArray *all = g_byte_array_sized_new((guint)draft->message->length);
    for (guint at = 0; at < pieces->len; at++) {
        gsize length;
        const void *octets = g_bytes_get_data(pieces->pdata[at], &length);
        g_byte_array_append(all, octets, (guint)length);
    }
    return g_byte_array_free_to_bytes(all);
}

const char *const *draft_addresses(const Draft *draft)
{
    return draft->next == given_next ? (const char *const *)((const Given *)draft->next_data)->all : NULL;
}

static bool check_address(const char *address, GError **error)
{
    return (*address != '\0' && !strpbrk(address, "\r\n")) ||
           fail(error, FAIL_NEVER, "\"%s\" cannot be a recipient", address);
}

/* NULL: it cannot be stored. */
static char *print_meta(const Draft *draft, GError **error)
{
    char *meta = meta_print(draft->meta);
    if (meta && strlen(meta) < META_MAX) /* its line feed counts, too */
        return meta;
    g_free(meta);
    fail(error, FAIL_NEVER, "the metadata cannot be written: it is over %d octets or no valid text", META_MAX);
    return NULL;
}

bool draft_check(Draft *draft, GError **error)
{
    draft_name(draft);
    g_autofree char *meta = print_meta(draft, error);
    bool fine = meta != NULL;
    for (const char *const *address = draft_addresses(draft); fine && address && *address; address++)
        fine = check_address(*address, error);
    if (!fine)
        g_prefix_error(error, "queue %s: ", draft->queue);
    return fine;
}

const EntryName *draft_name(Draft *draft)
{
    if (draft->named)
        return &draft->name;
    json_t *meta = draft->meta;
    Octets *message = draft->message;
    if (meta_integer(meta, META_ARRIVAL, 0) <= 0)
        meta_set_integer(meta, META_ARRIVAL, clock_unique());
    if (!json_object_get(meta, META_ORDINAL)) { /* process and counter tell apart what comes from outside */
        static int counter;
        unsigned own = (unsigned)g_atomic_int_add(&counter, 1) & 0xffffff;
        meta_set_integer(meta, META_ORDINAL, (int64_t)getpid() << 24 | own);
    }
    if (message->hashed == NULL) { /* once, however many drafts share the message */
        message->hashed = format_checksum_new();
        for (guint i = 0; i < message->pieces->len; i++) {
            gsize length;
            const void *octets = g_bytes_get_data(message->pieces->pdata[i], &length);
            format_hash_message(message->hashed, octets, length);
        }
    }
    g_autoptr(EVP_MD_CTX) sum = format_checksum_new();
    if (EVP_MD_CTX_copy_ex(sum, message->hashed) != 1)
        g_error("SHA-1 is not available in OpenSSL");
    int64_t arrival = meta_integer(meta, META_ARRIVAL, 0);
    format_hash_end(sum, meta_string(meta, META_LIST, ""), arrival, meta_integer(meta, META_ORDINAL, 0),
                    meta_string(meta, META_SHARD, NULL), draft->name.hash);
    draft->name.due = draft->due ? draft->due : arrival;
    if (!meta_string(meta, META_TRACE, NULL)) {
        char digits[HASH_DIGITS + 1];
        name_hash_format(draft->name.hash, digits);
        digits[TRACE_DIGITS] = '\0';
        meta_set_string(meta, META_TRACE, digits);
    }
    draft->named = true;
    return &draft->name;
}

void draft_bump(Draft *draft)
{
    draft->name.due++;
}

/* Writing holds what a write needs at hand. */
typedef struct Writing {
    Draft *draft;
    int fd;
    FormatHead head;
    EVP_MD_CTX *sum;
    GString *buffer; /* head, metadata and recipient lines not yet written */
    size_t counted;  /* bytes of buffer that the checksum has seen */
} Writing;

static void count_recipients(Writing *writing)
{
    format_checksum_recipients(writing->sum, writing->buffer->str + writing->counted,
                               writing->buffer->len - writing->counted);
    writing->head.recipients_length += writing->buffer->len - writing->counted;
    writing->counted = writing->buffer->len;
}

/* Appends the recipient lines; *flushed tells whether the head is already in
 * the file. */
static bool add_recipients(Writing *writing, bool *flushed, GError **error)
{
    if (!writing->draft->next)
        return true;
    GError *fault = NULL;
    const char *address;
    while ((address = writing->draft->next(writing->draft->next_data, &fault)) != NULL) {
        if (!check_address(address, error))
            return false;
        g_string_append_c(writing->buffer, RECIPIENT_TODO);
        g_string_append(writing->buffer, address);
        g_string_append_c(writing->buffer, '\n');
        if (writing->buffer->len > GATHER_MAX) {
            count_recipients(writing);
            if (!fs_write(writing->fd, writing->buffer->str, writing->buffer->len, error))
                return false;
            g_string_truncate(writing->buffer, 0);
            writing->counted = 0;
            *flushed = true;
        }
    }
    if (fault) {
        g_propagate_prefixed_error(error, fault, "recipients: ");
        return false;
    }
    count_recipients(writing);
    return true;
}

static bool write_block(void *data, const void *octets, size_t length, GError **error)
{
    return fs_write(*(int *)data, octets, length, error);
}

static bool write_rest(Writing *writing, GError **error)
{
    const Octets *message = writing->draft->message;
    const GPtrArray *pieces = message->pieces;
    char tail[FORMAT_TAIL_SIZE + 1];
    format_tail_print(writing->draft->name.hash, tail);
    if (message->file >= 0) {
        size_t written;
        return fs_write(writing->fd, writing->buffer->str, writing->buffer->len, error) &&
               read_blocks(message->file, write_block, &writing->fd, &written, error) &&
               (written == message->length || fail(error, FAIL_LATER, "the file of a message changed")) &&
               fs_write(writing->fd, tail, FORMAT_TAIL_SIZE, error);
    }
    g_autofree struct iovec *vector = g_new0(struct iovec, pieces->len + 2);
    int count = 0;
    vector[count++] = (struct iovec){writing->buffer->str, writing->buffer->len};
    for (guint i = 0; i < pieces->len; i++) {
        gsize length;
        const void *octets = g_bytes_get_data(pieces->pdata[i], &length);
        if (length > 0)
            vector[count++] = (struct iovec){(void *)octets, length};
    }
    vector[count++] = (struct iovec){tail, FORMAT_TAIL_SIZE};
    return fs_writev(writing->fd, vector, count, error);
}

static bool write_all(Writing *writing, GError **error)
{
    Draft *draft = writing->draft;
    g_autofree char *meta = print_meta(draft, error);
    if (!meta)
        return false;
    g_string_set_size(writing->buffer, FORMAT_HEAD_SIZE);
    memset(writing->buffer->str, ' ', FORMAT_HEAD_SIZE); /* may be written before it is known */
    g_string_append(writing->buffer, meta);
    g_string_append_c(writing->buffer, '\n');
    writing->head.meta_length = writing->buffer->len - FORMAT_HEAD_SIZE;
    writing->head.message_length = draft->message->length;
    format_checksum_meta(writing->sum, writing->buffer->str + FORMAT_HEAD_SIZE, writing->head.meta_length);
    writing->counted = writing->buffer->len;
    bool flushed = false;
    if (!add_recipients(writing, &flushed, error))
        return false;
    char head[FORMAT_HEAD_SIZE + 1];
    format_checksum_end(writing->sum, &writing->head);
    format_head_print(&writing->head, head);
    if (!flushed)
        memcpy(writing->buffer->str, head, FORMAT_HEAD_SIZE);
    return write_rest(writing, error) && (!flushed || fs_pwrite(writing->fd, head, FORMAT_HEAD_SIZE, 0, error));
}

int draft_write(Draft *draft, Queue *queue, const char *file, GError **error)
{
    draft_name(draft);
    auto_fd fd = fs_create(queue_fd(queue), file, error);
    if (fd < 0) {
        if (error && g_error_matches(*error, FAIL, FAIL_MISSING)) /* the directory, at this moment */
            (*error)->code = FAIL_LATER;
        g_prefix_error(error, "queue %s: ", queue_name(queue));
        return -1;
    }
    g_autoptr(GString) buffer = g_string_sized_new(4096);
    g_autoptr(EVP_MD_CTX) sum = format_checksum_new();
    Writing writing = {.draft = draft, .fd = fd, .sum = sum, .buffer = buffer};
    if (!write_all(&writing, error)) {
        g_prefix_error(error, "queue %s: ", queue_name(queue));
        fs_unlink(queue_fd(queue), file, NULL);
        return -1;
    }
    return auto_fd_steal(&fd);
}
