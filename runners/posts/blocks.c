/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/blocks.h"

#include <string.h>

#include "base/log.h"
#include "posting/transport.h"
#include "store/lists/topic.h"
#include "switchboard/slice.h"

#define PER_TRANSACTION 500 /* as out has it for a relay */

static BlockPlan divide(int64_t count, unsigned instances, int64_t per_transaction, int64_t per_entry)
{
    if (count <= 0)
        return (BlockPlan){0};
    int64_t blocks = CLAMP(count / MAX(per_transaction, 1), 1, (int64_t)instances);
    if ((count + blocks - 1) / blocks > per_entry)
        blocks = (count + per_entry - 1) / per_entry;
    return (BlockPlan){.blocks = (unsigned)blocks, .size = (count + blocks - 1) / blocks, .instances = instances};
}

static BlockPlan divide_domains(int64_t count, unsigned instances, int64_t per_entry)
{
    if (count <= 0)
        return (BlockPlan){0};
    int64_t share = (count + instances - 1) / instances;
    int64_t blocks = (share + per_entry - 1) / per_entry;
    return (BlockPlan){.blocks = (unsigned)blocks, .size = per_entry, .instances = instances, .by_domain = true};
}

BlockPlan blocks_plan(const Config *config, const char *transport, int64_t count, bool single)
{
    g_autofree char *section = transport_section(config, transport);
    int64_t per_transaction = PER_TRANSACTION;
    unsigned instances;
    config_instances(config, "out", &instances);
    int64_t per_entry = config_integer(config, "out", "recipients_per_entry");
    if (section && strcmp(config_string(config, section, "type"), "mx") == 0 && instances > 1)
        return divide_domains(count, instances, per_entry);
    if (single)
        per_transaction = 1;
    else if (section && config_integer(config, section, "recipients_per_transaction") > 0)
        per_transaction = config_integer(config, section, "recipients_per_transaction");
    return divide(count, instances, per_transaction, per_entry);
}

/* The slice that text hashes to. */
static unsigned slice_of_text(const char *text, unsigned instances)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(sum, (const guchar *)text, -1);
    uint8_t digest[HASH_SIZE];
    gsize length = sizeof digest;
    g_checksum_get_digest(sum, digest, &length);
    return slice_of(digest, instances);
}

static char *find_shard(const char *kind, unsigned number, unsigned wanted, unsigned instances)
{
    for (unsigned attempt = 0;; attempt++) {
        char *key = g_strdup_printf("%s %u %u", kind, number, attempt);
        if (slice_of_text(key, instances) == wanted)
            return key;
        g_free(key);
    }
}

char *blocks_shard(const uint8_t *hash, unsigned block, unsigned instances)
{
    return find_shard("block", block, (slice_of(hash, instances) + block) % instances, instances);
}

char *blocks_shard_of(unsigned instance, unsigned instances)
{
    return find_shard("instance", instance, instance, instances);
}

unsigned blocks_instance(const char *address, unsigned instances)
{
    const char *at = strrchr(address, '@');
    g_autofree char *domain = g_ascii_strdown(at ? at + 1 : "", -1);
    return slice_of_text(domain, instances);
}

struct BlockStream {
    unsigned references;
    Store *store;
    char *list_id, *sender, **copied;
    char **topics_known, **topics_of; /* the list's and the post's; NULL: they do not matter */
    bool digest, plain;     /* the recipients are those of a digest */
    char *language, **last; /* as in PostDigest */
    Copies *copies; /* or NULL */
    RecipientCursor *cursor;
    bool opened;
    unsigned instance, instances; /* whose domains; of 0: all */
};

typedef struct RecipientBlock {
    BlockStream *stream;
    int64_t left;
} RecipientBlock;

BlockStream *blocks_open(const Post *post, Copies *copies)
{
    BlockStream *stream = g_new0(BlockStream, 1);
    stream->references = 1;
    stream->store = post->store;
    stream->list_id = g_strdup(post->list->list_id);
    stream->sender = g_strdup(post->skip_sender);
    stream->copied = g_strdupv(post->copied);
    stream->topics_known = post->topics ? topic_names(post->list) : NULL;
    stream->topics_of = g_strdupv(post->topics);
    stream->copies = copies_ref(copies);
    stream->digest = post->recipients == POST_TO_DIGEST;
    if (stream->digest) {
        stream->plain = post->digest->plain;
        stream->language = g_strdup(post->digest->language);
        stream->last = g_strdupv((char **)post->digest->last);
    }
    return stream;
}

void blocks_choose(BlockStream *stream, unsigned instance, unsigned instances)
{
    stream->instance = instance;
    stream->instances = instances;
}

void blocks_close(BlockStream *stream)
{
    if (--stream->references > 0)
        return;
    recipient_cursor_free(stream->cursor);
    copies_unref(stream->copies);
    g_free(stream->list_id);
    g_free(stream->sender);
    g_strfreev(stream->copied);
    g_strfreev(stream->topics_known);
    g_strfreev(stream->topics_of);
    g_free(stream->language);
    g_strfreev(stream->last);
    g_free(stream);
}

/* Opened with the first question and closed with the last answer, because an
 * open cursor keeps the database from forgetting old pages. */
static void open_cursor(BlockStream *stream, GError **error)
{
    const char *const *copied = (const char *const *)stream->copied;
    const RecipientDigest digest = {stream->plain, stream->language, (const char *const *)stream->last};
    bool names = stream->copies && copies_want_names(stream->copies);
    if (stream->digest)
        stream->cursor = recipient_cursor_open_digest(stream->store, stream->list_id, &digest, names, error);
    else
        stream->cursor = (names ? recipient_cursor_open_named
                                : recipient_cursor_open)(stream->store, stream->list_id, stream->sender, copied, error);
    if (stream->cursor && stream->topics_known)
        recipient_cursor_choose_topics(stream->cursor, (const char *const *)stream->topics_known,
                                       (const char *const *)stream->topics_of);
    stream->opened = stream->cursor != NULL;
}

static const char *stream_next(BlockStream *stream, GError **error)
{
    if (!stream->opened)
        open_cursor(stream, error);
    const char *address;
    do
        address = stream->cursor ? recipient_cursor_next(stream->cursor, error) : NULL;
    while (address && stream->instances > 0 && blocks_instance(address, stream->instances) != stream->instance);
    if (address && stream->copies)
        return copies_line(stream->copies, address, recipient_cursor_name(stream->cursor));
    if (!address)
        g_clear_pointer(&stream->cursor, recipient_cursor_free);
    return address;
}

bool blocks_count(const Post *post, unsigned instances, int64_t *counts, GError **error)
{
    g_autoptr(GError) fault = NULL;
    BlockStream *stream = blocks_open(post, NULL);
    memset(counts, 0, instances * sizeof *counts);
    for (const char *address; (address = stream_next(stream, &fault));)
        counts[instances > 1 ? blocks_instance(address, instances) : 0]++;
    blocks_close(stream);
    if (fault)
        g_propagate_error(error, g_steal_pointer(&fault));
    return !fault;
}

static const char *block_next(void *data, GError **error)
{
    RecipientBlock *block = data;
    if (block->left == 0)
        return NULL;
    block->left--;
    return stream_next(block->stream, error);
}

static void block_free(void *data)
{
    RecipientBlock *block = data;
    blocks_close(block->stream);
    g_free(block);
}

void blocks_attach(BlockStream *stream, Draft *draft, int64_t size)
{
    RecipientBlock *block = g_new(RecipientBlock, 1);
    *block = (RecipientBlock){stream, size};
    stream->references++;
    draft_set_recipients(draft, block_next, block, block_free);
}
