/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/shadow.h"

#include <string.h>

#include <jansson.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/trial/shadow_compare.h"
#include "lists/trial/shadow_state.h"
#include "lists/trial/trial_judge.h"
#include "lists/work.h"
#include "mail/address.h"
#include "mail/copy.h"
#include "mail/header.h"
#include "mail/message.h"
#include "mail/visible.h"
#include "store/lists/topic.h"
#include "store/moving/scratch.h"
#include "store/place.h"
#include "store/store.h"
#include "switchboard/meta.h"

#define LINE 300            /* bytes of a text in the report */
#define ADDRESSES_SHOWN 100 /* of recipients that only one side has */
#define LISTS_MAX 16        /* that are copied at a time */
#define FRESH (600 * CLOCK_SECOND)

static const ShadowLimits limits = {.bytes = UINT64_C(1) << 30, .posts = 100000, .done = 100000};

/* A list as rules see it: a copy in a store of its own (doc/try.md), so that nothing is written into that of the site.
 * It is made when a post of the list comes, and again when it is ten minutes old. */
typedef struct Side {
    TrialSide side;
    int64_t made, used;
} Side;

struct Shadow {
    ShadowSite site;
    ShadowState *state;
    char delimiter;
    bool full; /* the log was told */
    TrialRules rules;
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

Shadow *shadow_open(const ShadowSite *site, GError **error)
{
    WorkSite work;
    g_autoptr(Shadow) shadow = g_new0(Shadow, 1);
    const char *url = config_string(site->config, "pipeline", "unsubscribe_url");
    shadow->site = *site;
    shadow->delimiter = config_string(site->config, "lmtp", "verp_delimiter")[0];
    trial_rules_init(&shadow->rules, site->config, site->names);
    work_site_init(&work, site->config);
    shadow->unsubscribe_url = url ? g_strdup(url) : work_site_page(&work, "/u/$token");
    shadow->copies.unsubscribe_url = shadow->unsubscribe_url; /* senders do not matter here */
    shadow->sides = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, side_free);
    shadow->state = shadow_state_open(site->state, site->report, &limits, error);
    return shadow->state ? g_steal_pointer(&shadow) : NULL;
}

void shadow_free(Shadow *shadow)
{
    if (!shadow)
        return;
    shadow_state_free(shadow->state);
    g_hash_table_unref(shadow->sides);
    trial_rules_clear(&shadow->rules);
    store_free(shadow->store);
    g_free(shadow->unsubscribe_url);
    g_free(shadow);
}

/* The store of the site, borrowed until the next call. If another database has taken its place, it is opened anew, and
 * lists are copied anew. */
static Store *store_of(Shadow *shadow, GError **error)
{
    if (shadow->store && !store_present(shadow->store, NULL))
        g_clear_pointer(&shadow->store, store_free);
    if (!shadow->store) {
        g_hash_table_remove_all(shadow->sides);
        shadow->store = store_open_configured(shadow->site.config, false, error);
    }
    return shadow->store;
}

static json_t *text(const char *value)
{
    g_autofree char *line = visible_line(value ? value : "", LINE);
    return json_string(line);
}

/* ---- taking ---- */

bool shadow_take(Shadow *shadow, ShadowMail *mail, GError **error)
{
    static const char letters[] = {
        [SHADOW_COPY] = 0, [SHADOW_HELD] = 'h', [SHADOW_REJECTED] = 'x', [SHADOW_FORWARDED] = 'f'};
    Store *store = store_of(shadow, error);
    g_autoptr(GPtrArray) pieces = g_ptr_array_new_with_free_func((GDestroyNotify)shadow_piece_free);
    mail->delimiter = shadow->delimiter;
    if (!store || !shadow_mail_read(store, mail, pieces, error))
        return false;
    for (guint at = 0; at < pieces->len; at++) {
        const ShadowPiece *piece = pieces->pdata[at];
        g_autofree char *key = shadow_state_key(piece->list_id, piece->token);
        ShadowTaken taken;
        if (piece->sense == SHADOW_POST) {
            g_autofree char *id = g_utf8_make_valid(piece->message_id, -1);
            g_autofree char *sender = g_utf8_make_valid(mail->sender, -1);
            g_autofree char *recipient = g_utf8_make_valid(piece->recipient, -1);
            g_autoptr(json_t)
                head = json_pack("{ss ss ss ss sI}", "list_id", piece->list_id, "message_id", id, "sender", sender,
                                 "recipient", recipient, "arrival", (json_int_t)clock_now());
            if (!shadow_state_post(shadow->state, key, head, mail->octets, &taken, error))
                return false;
        } else {
            const ShadowSeen seen = {.list_id = piece->list_id,
                                     .message_id = piece->message_id,
                                     .recipients = piece->recipients,
                                     .unknown = piece->unknown,
                                     .letter = letters[piece->sense],
                                     .octets = mail->octets,
                                     .now = clock_now()};
            if (!shadow_state_seen(shadow->state, key, &seen, &taken, error))
                return false;
        }
        if (taken == SHADOW_NO_ROOM && !shadow->full)
            log_warn("the state of the shadow has no room: posts are left out of the report until others are reported");
        shadow->full |= taken == SHADOW_NO_ROOM;
    }
    return true;
}

/* ---- what we would do ---- */

/* The fate that a post would have here. */
typedef struct ShadowOutcome {
    TrialFate fate;
    char *reasons;          /* why it was not accepted; "": it was */
    GHashTable *recipients; /* address_key() -> address: who gets a copy */
    GBytes *octets;         /* the copy of the recipient that was asked for; NULL: there is none */
} ShadowOutcome;

static const TrialSide *side_of(Shadow *shadow, const char *list_id, GError **error)
{
    int64_t now = clock_now(), used = INT64_MAX;
    Store *store = store_of(shadow, error);
    Side *side = store ? g_hash_table_lookup(shadow->sides, list_id) : NULL;
    if (!store)
        return NULL;
    if (side && now - side->made <= FRESH) {
        side->used = now;
        return &side->side;
    }
    if (g_hash_table_size(shadow->sides) >= LISTS_MAX) { /* the one goes that was not used for longest */
        GHashTableIter each;
        void *key, *value;
        const char *oldest = NULL;
        g_hash_table_iter_init(&each, shadow->sides);
        while (g_hash_table_iter_next(&each, &key, &value))
            if (((const Side *)value)->used < used) {
                used = ((const Side *)value)->used;
                oldest = key;
            }
        g_hash_table_remove(shadow->sides, oldest);
    }
    side = g_new0(Side, 1);
    side->made = side->used = now;
    g_hash_table_replace(shadow->sides, g_strdup(list_id), side);
    side->side.store = scratch_new(store, list_id, error);
    if (side->side.store && trial_side_open(&side->side, list_id, error))
        return &side->side;
    g_hash_table_remove(shadow->sides, list_id);
    return NULL;
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

/* Make the copy that a recipient of this name would get: the pieces that leave, with their holes filled. */
static bool make_copy(const Post *post, const PostSend *send, const char *recipient, const char *name,
                      ShadowOutcome *outcome, GError **error)
{
    g_autoptr(GBytes) whole = trial_leaves(post, send);
    if (!send->holes || send->holes->len == 0) {
        outcome->octets = g_steal_pointer(&whole);
        return true;
    }
    g_autofree char *holes = copy_holes_write(send->holes);
    g_autoptr(CopyPlan) plan = copy_plan_new(holes, g_bytes_get_size(whole), error);
    if (!plan)
        return false;
    bool named = false;
    for (char **copied = post->copied; copied && *copied && !named; copied++)
        named = address_same(*copied, recipient);
    g_autoptr(GString) line = g_string_new(NULL);
    copy_recipient_write(line, recipient, "", "TOKEN", name, named);

    gsize length, done = 0;
    const guint8 *data = g_bytes_get_data(whole, &length);
    const CopyRecipient read = copy_recipient_read(line->str, line->len);
    g_autoptr(GArray) filled = copy_fill(plan, &read);
    GByteArray *all = g_byte_array_sized_new((guint)length);
    for (guint at = 0; at < filled->len; at++) {
        const CopyFill *hole = &g_array_index(filled, CopyFill, at);
        g_byte_array_append(all, data + done, (guint)(hole->offset - done));
        g_byte_array_append(all, (const guint8 *)hole->text, (guint)hole->length);
        done = hole->offset;
    }
    g_byte_array_append(all, data + done, (guint)(length - done));
    outcome->octets = g_byte_array_free_to_bytes(all);
    return true;
}

/* Judge a post by the rules of its list. *outcome is zero before; clear it also after false. FAIL_MISSING: there is no
 * such list. */
static bool judge(Shadow *shadow, const char *key, const ShadowCase *live, ShadowOutcome *outcome, GError **error)
{
    const json_t *head = live->head;
    g_autoptr(json_t) meta = json_object();
    meta_set_string(meta, KEY_SENDER, meta_string(head, "sender", ""));
    meta_set_string(meta, KEY_RECIPIENT, meta_string(head, "recipient", ""));
    meta_set_string(meta, KEY_MESSAGE_ID, meta_string(head, "message_id", ""));
    const TrialMail mail = {.arrival = meta_integer(head, "arrival", clock_now()), .octets = live->post, .meta = meta};
    const TrialSide *side = side_of(shadow, meta_string(head, "list_id", ""), error);
    if (!side)
        return false;
    g_autoptr(Message) message = message_new(mail.octets);
    g_auto(Post) post = {0};
    trial_begin(&shadow->rules, side, &mail, message, &post);
    post.trace = key;
    post.copies = &shadow->copies;
    post.post_id = side->list->post_id;
    GHashTable *recipients = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    *outcome = (ShadowOutcome){.recipients = recipients};
    if (!trial_judge(&post, &outcome->fate, &outcome->reasons, error))
        return false;

    const PostSend *send = outcome->fate == TRIAL_ACCEPTED ? post_send_find(&post, POST_OUT) : NULL;
    const char *wanted = live->copy_recipient ? live->copy_recipient : "";
    g_autofree char *name = NULL;
    if (!send)
        return true;
    if (post.recipients == POST_TO_MEMBERS && !add_members(&post, wanted, recipients, &name, error))
        return false;
    for (char **given = post.recipients == POST_TO_GIVEN ? post.given : NULL; given && *given; given++)
        g_hash_table_replace(recipients, address_key(*given), g_strdup(*given));
    GHashTableIter each;
    void *any = NULL;
    g_hash_table_iter_init(&each, recipients);
    g_hash_table_iter_next(&each, NULL, &any);
    return make_copy(&post, send, *wanted || !any ? wanted : any, name ? name : "", outcome, error);
}

/* ---- comparing ---- */

/* One post, and both sides of it. */
typedef struct Pair {
    const ShadowCase *live;
    ShadowOutcome ours;
    json_t *line;    /* of the report */
    json_t *differs; /* borrowed from line */
} Pair;

static void pair_clear(Pair *pair)
{
    g_free(pair->ours.reasons);
    g_clear_pointer(&pair->ours.recipients, g_hash_table_unref);
    g_clear_pointer(&pair->ours.octets, g_bytes_unref);
    json_decref(pair->line);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pair, pair_clear)

static bool has_copies(const ShadowCase *live)
{
    return live->copy || live->unknown || g_hash_table_size(live->recipients) > 0;
}

/* The addresses of one that the other lacks, in order. */
static json_t *lacking(GHashTable *one, GHashTable *other, guint *count)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    GHashTableIter each;
    void *key, *address;
    g_hash_table_iter_init(&each, one);
    while (g_hash_table_iter_next(&each, &key, &address))
        if (!g_hash_table_contains(other, key))
            g_ptr_array_add(found, address);
    g_ptr_array_sort(found, bytes_compare_texts);
    json_t *array = json_array();
    for (guint at = 0; at < found->len && at < ADDRESSES_SHOWN; at++)
        json_array_append_new(array, text(found->pdata[at]));
    *count = found->len;
    return array;
}

/* Of copies whose recipients are not known only those can be told that are known and should not be. */
static void compare_recipients(const Pair *pair)
{
    guint more, less;
    GHashTable *there = pair->live->recipients, *here = pair->ours.recipients;
    json_t *only_live = lacking(there, here, &more), *only_ours = lacking(here, there, &less);
    json_object_set_new(pair->line, "recipients",
                        json_pack("{sI sI sb sI so sI so}", "live", (json_int_t)g_hash_table_size(there), "ours",
                                  (json_int_t)g_hash_table_size(here), "known", !pair->live->unknown, "live_only",
                                  (json_int_t)more, "live_only_addresses", only_live, "ours_only",
                                  (json_int_t)(pair->live->unknown ? 0 : less), "ours_only_addresses",
                                  pair->live->unknown ? json_array() : json_incref(only_ours)));
    json_decref(only_ours);
    if (more > 0 || (less > 0 && !pair->live->unknown))
        json_array_append_new(pair->differs, json_string("recipients"));
}

/* ---- reporting ---- */

static void compare_decision(const Pair *pair)
{
    const ShadowCase *live = pair->live;
    const ShadowOutcome *ours = &pair->ours;
    /* "stopped": the live server sent no copies, and nothing says why. */
    const char *decision = live->held         ? trial_fate_text(TRIAL_HELD)
                           : has_copies(live) ? trial_fate_text(TRIAL_ACCEPTED)
                           : live->rejected   ? trial_fate_text(TRIAL_REJECTED)
                           : live->forwarded  ? trial_fate_text(TRIAL_FORWARDED)
                                              : "stopped";
    bool nobody = ours->fate == TRIAL_ACCEPTED && g_hash_table_size(ours->recipients) == 0;
    bool same = g_str_equal(decision, "stopped") ? ours->fate != TRIAL_ACCEPTED || nobody
                                                 : g_str_equal(decision, trial_fate_text(ours->fate));
    json_object_set_new(
        pair->line, "decision",
        json_pack("{ss ss so}", "live", decision, "ours", trial_fate_text(ours->fate), "reasons", text(ours->reasons)));
    if (!same)
        json_array_append_new(pair->differs, json_string("decision"));
}

static void compare_copies(const Shadow *shadow, const Pair *pair)
{
    const ShadowCase *live = pair->live;
    g_autoptr(GStrvBuilder) ignore = g_strv_builder_new();
    g_autoptr(Message) copy = message_new(live->copy);
    g_autofree char *id = message_id(copy);
    if (shadow->site.ignore)
        g_strv_builder_addv(ignore, (const char **)shadow->site.ignore);
    /* Copies of an anonymous list have ids of their own; here also a date. Neither is a difference. */
    if (g_strcmp0(id, meta_string(live->head, "message_id", "")) != 0)
        g_strv_builder_add_many(ignore, "Message-ID", "Date", NULL);
    g_auto(GStrv) names = g_strv_builder_end(ignore);
    json_t *header = shadow_compare_header(live->copy, pair->ours.octets, names);
    if (json_array_size(header) > 0)
        json_array_append_new(pair->differs, json_string("header"));
    json_object_set_new(pair->line, "header", header);
    json_t *body = shadow_compare_body(live->copy, pair->ours.octets);
    if (body)
        json_array_append_new(pair->differs, json_string("body"));
    json_object_set_new(pair->line, "body", body ? body : json_null());
}

static json_t *begin_line(const char *kind, const ShadowCase *live)
{
    GBytes *octets = live->post ? live->post : live->copy;
    g_autoptr(GBytes) none = g_bytes_new(NULL, 0);
    g_autoptr(Message) message = message_new(octets ? octets : none);
    g_autofree char *raw = message_value(message, "Subject"), *subject = header_decode(raw ? raw : "");
    const json_t *arrival = json_object_get(live->head, "arrival");
    g_autoptr(GDateTime) date = arrival ? g_date_time_new_from_unix_utc(json_integer_value(arrival) / CLOCK_SECOND)
                                        : NULL;
    g_autofree char *shown = date ? g_date_time_format(date, "%Y-%m-%dT%H:%M:%SZ") : NULL;
    json_t *line = json_pack("{ss so so so so so}", "kind", kind, "time", shown ? json_string(shown) : json_null(),
                             "list", text(live->head ? meta_string(live->head, "list_id", "") : live->list_id),
                             "message_id",
                             text(live->head ? meta_string(live->head, "message_id", "") : live->message_id), "sender",
                             text(live->head ? meta_string(live->head, "sender", "") : ""), "subject", text(subject));
    return line;
}

static bool write_line(Shadow *shadow, const char *key, const json_t *line, GError **error)
{
    g_autofree char *dumped = json_dumps(line, JSON_COMPACT);
    if (!shadow_state_report(shadow->state, key, dumped, error))
        return false;
    shadow->full = false;
    return true;
}

/* A post that is not compared, and why. */
static bool report_other(Shadow *shadow, const char *key, const ShadowCase *live, const char *why, GError **error)
{
    g_autoptr(json_t) line = begin_line(live->head ? "skipped" : "copies", live);
    json_object_set_new(line, "why", text(why));
    return write_line(shadow, key, line, error);
}

static bool report_post(Shadow *shadow, const char *key, const ShadowCase *live, GError **error)
{
    g_auto(Pair) pair = {.live = live, .line = begin_line("post", live)};
    g_autoptr(GError) why = NULL;
    if (!judge(shadow, key, live, &pair.ours, &why)) {
        if (g_error_matches(why, FAIL, FAIL_MISSING))
            return report_other(shadow, key, live, why->message, error);
        return fail_with(error, &why);
    }
    pair.differs = json_array();
    json_object_set_new(pair.line, "differs", pair.differs);
    compare_decision(&pair);
    if (pair.ours.fate == TRIAL_ACCEPTED && has_copies(live) && !live->held) {
        compare_recipients(&pair);
        if (live->copy && pair.ours.octets)
            compare_copies(shadow, &pair);
    }
    return write_line(shadow, key, pair.line, error);
}

bool shadow_report_due(Shadow *shadow, bool *more, GError **error)
{
    g_auto(ShadowCase) live = {0};
    bool poison, done;
    g_autofree char *key = g_strdup(shadow_state_due(shadow->state, clock_now() - shadow->site.patience));
    *more = key != NULL;
    if (!key)
        return true;
    if (!store_of(shadow, error) || !shadow_state_read(shadow->state, key, &live, error))
        return false;
    if (!live.head)
        return report_other(shadow, key, &live, "The post itself was not seen.", error);
    if (!shadow_state_attempt(shadow->state, key, &poison, error))
        return false;
    done = poison ? report_other(shadow, key, &live, "The shadow died twice while it judged this post.", error)
                  : report_post(shadow, key, &live, error);
    if (done)
        return true;
    shadow_state_withdraw(shadow->state, key);
    g_hash_table_remove_all(shadow->sides); /* its accounts know the post, which comes again */
    return false;
}
