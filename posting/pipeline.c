/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/pipeline.h"

#include <string.h>

#include "posting/post.h"

/* --- handlers -------------------------------------------------------------- */

#define ADDRESS(symbol, word) &handler_##symbol,
const Handler *const handlers[] = {POSTING_HANDLERS(ADDRESS) NULL};

const Handler *handler_find(const char *name)
{
    for (const Handler *const *handler = handlers; *handler; handler++)
        if (strcmp((*handler)->name, name) == 0)
            return *handler;
    return NULL;
}

/* --- pipelines ------------------------------------------------------------- */

static const Handler *const posting[] = {
    &handler_validate_authenticity, /* of what came, before any change */
    &handler_external,
    &handler_mime_delete, /* before all that keeps or counts parts */
    &handler_member_recipients,
    &handler_avoid_duplicates,
    &handler_tagger,
    &handler_cleanse,
    &handler_cleanse_dkim,
    &handler_cook_headers,
    &handler_subject_prefix,
    &handler_to_archive, /* before rfc-2369: only what is archived gets Archived-At */
    &handler_rfc_2369,
    &handler_to_digest,
    &handler_to_usenet,
    &handler_to_outgoing,
    &handler_acknowledge,
    &handler_dmarc, /* behind to-archive and the others, which keep the true From */
    &handler_decorate, /* what the archive and the site's queues get has none of it */
    &handler_dkim_sign, /* behind all changes: it signs what leaves */
    &handler_arc_sign, /* last: it seals the signatures too */
    NULL,
};
const Pipeline pipeline_posting = {.name = "default-posting-pipeline", .handlers = posting};

static const Handler *const owner[] = {&handler_owner_recipients, &handler_to_outgoing, NULL};
const Pipeline pipeline_owner = {.name = "default-owner-pipeline", .handlers = owner};

static const Handler *const digest[] = {
    &handler_digest_recipients, &handler_cook_headers, &handler_rfc_2369, &handler_to_outgoing,
    &handler_decorate,          &handler_dkim_sign,    NULL,
};
const Pipeline pipeline_digest = {.name = "digest", .handlers = digest};

static const Handler *const virgin[] = {
    &handler_cook_headers, &handler_rfc_2369, &handler_to_outgoing, &handler_dkim_sign, NULL,
};
const Pipeline pipeline_virgin = {.name = "virgin", .handlers = virgin};

/* A handler stopped the post: it leaves only as that one says, whatever those before it have added. */
static bool end(Post *post, GError **error)
{
    g_ptr_array_set_size(post->sends, 0);
    if (post->end == POST_FORWARDED) { /* to the owners as it is, in place of the list */
        post->end = POST_GOES;
        bool done = pipeline_run(&pipeline_owner, post, error);
        post->end = POST_FORWARDED;
        return done;
    }
    if (post->end == POST_PRESERVED)
        post_send(post, POST_SHUNT);
    if (post->end == POST_REJECTED && post_may_answer(post))
        post_send_letter(post, "rejected", post->sender, true);
    return true;
}

bool pipeline_run(const Pipeline *pipeline, Post *post, GError **error)
{
    post_may_answer(post); /* before any change */
    loop_begin(post);
    for (unsigned at = 0; pipeline->handlers[at] && post->end == POST_GOES; at++) {
        const Handler *handler = pipeline->handlers[at];
        const External *program = pipeline->programs ? pipeline->programs[at] : NULL;
        if (!(program ? external_change(program, post, error) : handler->process(post, error))) {
            g_prefix_error(error, "handler %s: ", program ? program->name : handler->name);
            return false;
        }
        loop_mark_all(post);
    }
    return post->end == POST_GOES || end(post, error);
}

const Pipeline *pipeline_find(const char *name)
{
    static const Pipeline *const all[] = {&pipeline_posting, &pipeline_owner, &pipeline_digest, &pipeline_virgin};
    for (size_t at = 0; at < G_N_ELEMENTS(all); at++)
        if (g_str_equal(all[at]->name, name))
            return all[at];
    return NULL;
}
