/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/shadow_judge.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/trial/trial_judge.h"
#include "lists/work.h"
#include "mail/address.h"
#include "mail/copy.h"
#include "store/moving/scratch.h"
#include "store/place.h"
#include "store/store.h"
#include "store/lists/topic.h"

#define LISTS_MAX 16 /* that are copied at a time */
#define FRESH (600 * CLOCK_SECOND)

typedef struct Side {
    TrialSide side;
    int64_t made, used;
} Side;

struct ShadowJudge {
    const Config *config;
    TrialRules shared;
    PostCopies copies;
    char *unsubscribe_url;
    Store *store;
    GHashTable *sides; /* List-Id -> Side */
};

static void side_free(void *data)
{
    Side *side = data;
    trial_side_clear(&side->side);
    g_free(side);
}

ShadowJudge *shadow_judge_new(const Config *config, const Names *names)
{
    WorkSite site;
    ShadowJudge *judge = g_new0(ShadowJudge, 1);
    judge->config = config;
    trial_rules_init(&judge->shared, config, names);
    work_site_init(&site, config);
    const char *url = config_string(config, "pipeline", "unsubscribe_url");
    judge->unsubscribe_url = url ? g_strdup(url) : work_site_page(&site, "/u/$token");
    judge->copies.unsubscribe_url = judge->unsubscribe_url; /* senders do not matter here */
    judge->sides = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, side_free);
    return judge;
}

void shadow_judge_free(ShadowJudge *judge)
{
    if (!judge)
        return;
    g_hash_table_unref(judge->sides);
    trial_rules_clear(&judge->shared);
    store_free(judge->store);
    g_free(judge->unsubscribe_url);
    g_free(judge);
}

Store *shadow_judge_store(ShadowJudge *judge, GError **error)
{
    if (judge->store && !store_present(judge->store, NULL))
        g_clear_pointer(&judge->store, store_free);
    if (!judge->store) {
        shadow_judge_forget(judge);
        judge->store = store_open_configured(judge->config, false, error);
    }
    return judge->store;
}

void shadow_judge_forget(ShadowJudge *judge)
{
    g_hash_table_remove_all(judge->sides);
}

static void make_room(ShadowJudge *judge)
{
    GHashTableIter each;
    void *key, *value;
    const char *oldest = NULL;
    int64_t used = INT64_MAX;
    g_hash_table_iter_init(&each, judge->sides);
    while (g_hash_table_iter_next(&each, &key, &value))
        if (((const Side *)value)->used < used) {
            used = ((const Side *)value)->used;
            oldest = key;
        }
    if (oldest && g_hash_table_size(judge->sides) >= LISTS_MAX)
        g_hash_table_remove(judge->sides, oldest);
}

static const TrialSide *side_of(ShadowJudge *judge, const char *list_id, GError **error)
{
    int64_t now = clock_now();
    Store *store = shadow_judge_store(judge, error);
    Side *side = store ? g_hash_table_lookup(judge->sides, list_id) : NULL;
    if (!store)
        return NULL;
    if (!side || now - side->made > FRESH) {
        make_room(judge);
        side = g_new0(Side, 1);
        side->made = now;
        g_hash_table_replace(judge->sides, g_strdup(list_id), side);
        side->side.store = scratch_new(store, list_id, error);
        if (!side->side.store || !trial_side_open(&side->side, list_id, error)) {
            g_hash_table_remove(judge->sides, list_id);
            return NULL;
        }
    }
    side->used = now;
    return &side->side;
}

/* ---- who gets it ---- */

void shadow_outcome_clear(ShadowOutcome *outcome)
{
    g_clear_pointer(&outcome->reasons, g_free);
    g_clear_pointer(&outcome->recipients, g_hash_table_unref);
    g_clear_pointer(&outcome->octets, g_bytes_unref);
}

/* The recipients; *name is that of the one whose copy is wanted. */
static bool add_members(const Post *post, const char *wanted, GHashTable *recipients, char **name, GError **error)
{
    g_autoptr(GError) why = NULL;
    g_autofree char *key = address_key(wanted);
    g_auto(GStrv) topics = post->topics ? topic_names(post->list) : NULL;
    g_autoptr(RecipientCursor) cursor = recipient_cursor_open_named(post->store, post->list->list_id, post->skip_sender,
                                                                    (const char *const *)post->copied, error);
    if (!cursor)
        return false;
    if (post->topics)
        recipient_cursor_choose_topics(cursor, (const char *const *)topics, (const char *const *)post->topics);
    for (const char *address; (address = recipient_cursor_next(cursor, &why));) {
        char *own = address_key(address);
        if (g_str_equal(own, key) && !*name)
            *name = g_strdup(recipient_cursor_name(cursor));
        g_hash_table_replace(recipients, own, g_strdup(address));
    }
    if (!why)
        return true;
    return fail_with(error, &why);
}

static bool is_named(const Post *post, const char *address)
{
    for (char **copied = post->copied; copied && *copied; copied++)
        if (address_same(*copied, address))
            return true;
    return false;
}

/* Join the message that leaves, before holes are filled. */
static GBytes *joined(const Post *post, const PostSend *send)
{
    if (!send->pieces)
        return message_octets(send->message ? send->message : post->message);
    g_autoptr(GByteArray) all = g_byte_array_new();
    for (guint at = 0; at < send->pieces->len; at++) {
        gsize length;
        const guint8 *data = g_bytes_get_data(send->pieces->pdata[at], &length);
        if (length > 0)
            g_byte_array_append(all, data, (guint)length);
    }
    return g_byte_array_free_to_bytes(g_steal_pointer(&all));
}

static GBytes *fill(GBytes *whole, const CopyPlan *plan, const char *line)
{
    gsize length, done = 0;
    const guint8 *data = g_bytes_get_data(whole, &length);
    const CopyRecipient recipient = copy_recipient_read(line, strlen(line));
    g_autoptr(GArray) filled = copy_fill(plan, &recipient);
    GByteArray *all = g_byte_array_sized_new((guint)length);
    for (guint at = 0; at < filled->len; at++) {
        const CopyFill *hole = &g_array_index(filled, CopyFill, at);
        g_byte_array_append(all, data + done, (guint)(hole->offset - done));
        g_byte_array_append(all, (const guint8 *)hole->text, (guint)hole->length);
        done = hole->offset;
    }
    g_byte_array_append(all, data + done, (guint)(length - done));
    return g_byte_array_free_to_bytes(all);
}

static bool make_copy(const Post *post, const PostSend *send, const char *recipient, const char *name,
                      ShadowOutcome *outcome, GError **error)
{
    g_autoptr(GBytes) whole = joined(post, send);
    if (!send->holes || send->holes->len == 0) {
        outcome->octets = g_steal_pointer(&whole);
        return true;
    }
    g_autofree char *holes = copy_holes_write(send->holes);
    g_autoptr(CopyPlan) plan = copy_plan_new(holes, g_bytes_get_size(whole), error);
    g_autoptr(GString) line = g_string_new(NULL);
    if (!plan)
        return false;
    copy_recipient_write(line, recipient, "", "TOKEN", name, is_named(post, recipient));
    outcome->octets = fill(whole, plan, line->str);
    return true;
}

static bool find_recipients(const Post *post, const char *wanted, ShadowOutcome *outcome, GError **error)
{
    const PostSend *send = post_send_find(post, POST_OUT);
    g_autofree char *name = NULL;
    if (!send)
        return true;
    if (post->recipients == POST_TO_MEMBERS && !add_members(post, wanted, outcome->recipients, &name, error))
        return false;
    for (char **given = post->recipients == POST_TO_GIVEN ? post->given : NULL; given && *given; given++)
        g_hash_table_replace(outcome->recipients, address_key(*given), g_strdup(*given));
    GHashTableIter each;
    void *any = NULL;
    g_hash_table_iter_init(&each, outcome->recipients);
    g_hash_table_iter_next(&each, NULL, &any);
    const char *recipient = *wanted || !any ? wanted : any;
    return make_copy(post, send, recipient, name ? name : "", outcome, error);
}

bool shadow_judge_post(ShadowJudge *judge, const ShadowQuestion *question, ShadowOutcome *outcome, GError **error)
{
    const TrialSide *side = side_of(judge, question->list_id, error);
    if (!side)
        return false;
    g_autoptr(Message) message = message_new(question->mail->octets);
    g_auto(Post) post = {0};
    Verdict verdict;
    trial_begin(&judge->shared, side, question->mail, message, &post);
    post.trace = question->trace;
    post.copies = &judge->copies;
    post.post_id = side->list->post_id;
    *outcome = (ShadowOutcome){.recipients = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
    if (!trial_judge(&post, &verdict, error))
        return false;
    outcome->fate = trial_fate_of(&post, verdict);
    outcome->reasons = outcome->fate == TRIAL_ACCEPTED ? g_strdup("") : post_reasons(&post, " ");
    return outcome->fate != TRIAL_ACCEPTED || find_recipients(&post, question->recipient, outcome, error);
}
