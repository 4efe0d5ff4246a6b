/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/shadow.h"

#include <jansson.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/trial/shadow_compare.h"
#include "lists/trial/shadow_judge.h"
#include "lists/trial/shadow_state.h"
#include "mail/header.h"
#include "mail/message.h"
#include "mail/visible.h"
#include "switchboard/meta.h"

#define LINE 300            /* bytes of a text in the report */
#define ADDRESSES_SHOWN 100 /* of recipients that only one side has */

static const ShadowLimits limits = {.bytes = UINT64_C(1) << 30, .posts = 100000, .done = 100000};

struct Shadow {
    ShadowSite site;
    ShadowState *state;
    ShadowJudge *judge;
    char delimiter;
    bool full; /* the log was told */
};

Shadow *shadow_open(const ShadowSite *site, GError **error)
{
    g_autoptr(Shadow) shadow = g_new0(Shadow, 1);
    shadow->site = *site;
    shadow->delimiter = config_string(site->config, "lmtp", "verp_delimiter")[0];
    shadow->judge = shadow_judge_new(site->config, site->names);
    shadow->state = shadow_state_open(site->state, site->report, &limits, error);
    return shadow->state ? g_steal_pointer(&shadow) : NULL;
}

void shadow_free(Shadow *shadow)
{
    if (!shadow)
        return;
    shadow_state_free(shadow->state);
    shadow_judge_free(shadow->judge);
    g_free(shadow);
}

static json_t *text(const char *value)
{
    g_autofree char *line = visible_line(value ? value : "", LINE);
    return json_string(line);
}

static json_t *time_text(int64_t time)
{
    g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    g_autofree char *shown = g_date_time_format(date, "%Y-%m-%dT%H:%M:%SZ");
    return json_string(shown);
}

/* ---- taking ---- */

static bool take_post(Shadow *shadow, const ShadowMail *mail, const ShadowPiece *piece, ShadowTaken *taken,
                      GError **error)
{
    g_autofree char *key = shadow_state_key(piece->list_id, piece->token);
    g_autofree char *id = g_utf8_make_valid(piece->message_id, -1), *sender = g_utf8_make_valid(mail->sender, -1);
    g_autofree char *recipient = g_utf8_make_valid(piece->recipient, -1);
    g_autoptr(json_t) head = json_pack("{ss ss ss ss sI}", "list_id", piece->list_id, "message_id", id, "sender",
                                       sender, "recipient", recipient, "arrival", (json_int_t)clock_now());
    return shadow_state_post(shadow->state, key, head, mail->octets, taken, error);
}

static bool take_sent(Shadow *shadow, const ShadowMail *mail, const ShadowPiece *piece, ShadowTaken *taken,
                      GError **error)
{
    static const char letters[] = {
        [SHADOW_COPY] = 0, [SHADOW_HELD] = 'h', [SHADOW_REJECTED] = 'x', [SHADOW_FORWARDED] = 'f'};
    g_autofree char *key = shadow_state_key(piece->list_id, piece->token);
    const ShadowSeen seen = {.list_id = piece->list_id,
                             .message_id = piece->message_id,
                             .recipients = piece->recipients,
                             .unknown = piece->unknown,
                             .letter = letters[piece->sense],
                             .octets = mail->octets,
                             .now = clock_now()};
    return shadow_state_seen(shadow->state, key, &seen, taken, error);
}

bool shadow_take(Shadow *shadow, ShadowMail *mail, GError **error)
{
    Store *store = shadow_judge_store(shadow->judge, error);
    g_autoptr(GPtrArray) pieces = g_ptr_array_new_with_free_func((GDestroyNotify)shadow_piece_free);
    mail->delimiter = shadow->delimiter;
    if (!store || !shadow_mail_read(store, mail, pieces, error))
        return false;
    for (guint at = 0; at < pieces->len; at++) {
        const ShadowPiece *piece = pieces->pdata[at];
        ShadowTaken taken;
        if (!(piece->sense == SHADOW_POST ? take_post(shadow, mail, piece, &taken, error)
                                          : take_sent(shadow, mail, piece, &taken, error)))
            return false;
        if (taken == SHADOW_NO_ROOM && !shadow->full)
            log_warn("the state of the shadow has no room: posts are left out of the report until others are reported");
        shadow->full |= taken == SHADOW_NO_ROOM;
    }
    return true;
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
    shadow_outcome_clear(&pair->ours);
    json_decref(pair->line);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pair, pair_clear)

static bool has_copies(const ShadowCase *live)
{
    return live->copy || live->unknown || g_hash_table_size(live->recipients) > 0;
}

/* Return the decision of the live server; "stopped": it sent no copies, and nothing says why. */
static const char *live_decision(const ShadowCase *live)
{
    if (live->held)
        return trial_fate_text(TRIAL_HELD);
    if (has_copies(live))
        return trial_fate_text(TRIAL_ACCEPTED);
    return live->rejected    ? trial_fate_text(TRIAL_REJECTED)
           : live->forwarded ? trial_fate_text(TRIAL_FORWARDED)
                             : "stopped";
}

static bool is_same_decision(const Pair *pair, const char *live)
{
    bool nobody = pair->ours.fate == TRIAL_ACCEPTED && g_hash_table_size(pair->ours.recipients) == 0;
    return g_str_equal(live, "stopped") ? pair->ours.fate != TRIAL_ACCEPTED || nobody
                                        : g_str_equal(live, trial_fate_text(pair->ours.fate));
}

static void compare_decision(const Pair *pair)
{
    const char *live = live_decision(pair->live);
    json_object_set_new(pair->line, "decision",
                        json_pack("{ss ss so}", "live", live, "ours", trial_fate_text(pair->ours.fate), "reasons",
                                  text(pair->ours.reasons)));
    if (!is_same_decision(pair, live))
        json_array_append_new(pair->differs, json_string("decision"));
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

/* Copies of an anonymous list have ids of their own; here also a date. Neither is a difference. */
static bool has_own_id(const ShadowCase *live)
{
    g_autoptr(Message) copy = message_new(live->copy);
    g_autofree char *id = message_id(copy);
    return g_strcmp0(id, meta_string(live->head, "message_id", "")) != 0;
}

static void compare_copies(const Shadow *shadow, const Pair *pair)
{
    g_autoptr(GStrvBuilder) ignore = g_strv_builder_new();
    if (shadow->site.ignore)
        g_strv_builder_addv(ignore, (const char **)shadow->site.ignore);
    if (has_own_id(pair->live))
        g_strv_builder_add_many(ignore, "Message-ID", "Date", NULL);
    g_auto(GStrv) names = g_strv_builder_end(ignore);
    json_t *header = shadow_compare_header(pair->live->copy, pair->ours.octets, names);
    if (json_array_size(header) > 0)
        json_array_append_new(pair->differs, json_string("header"));
    json_object_set_new(pair->line, "header", header);
    json_t *body = shadow_compare_body(pair->live->copy, pair->ours.octets);
    if (body)
        json_array_append_new(pair->differs, json_string("body"));
    json_object_set_new(pair->line, "body", body ? body : json_null());
}

/* ---- reporting ---- */

static json_t *begin_line(const char *kind, const ShadowCase *live)
{
    GBytes *octets = live->post ? live->post : live->copy;
    g_autoptr(GBytes) none = g_bytes_new(NULL, 0);
    g_autoptr(Message) message = message_new(octets ? octets : none);
    g_autofree char *raw = message_value(message, "Subject"), *subject = header_decode(raw ? raw : "");
    const json_t *arrival = json_object_get(live->head, "arrival");
    json_t *line = json_pack("{ss so so so so so}", "kind", kind, "time",
                             arrival ? time_text(json_integer_value(arrival)) : json_null(), "list",
                             text(live->head ? meta_string(live->head, "list_id", "") : live->list_id), "message_id",
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

static bool judge(Shadow *shadow, const char *key, Pair *pair, GError **error)
{
    const json_t *head = pair->live->head;
    g_autoptr(json_t) meta = json_object();
    meta_set_string(meta, KEY_SENDER, meta_string(head, "sender", ""));
    meta_set_string(meta, KEY_RECIPIENT, meta_string(head, "recipient", ""));
    meta_set_string(meta, KEY_MESSAGE_ID, meta_string(head, "message_id", ""));
    const TrialMail mail = {
        .arrival = meta_integer(head, "arrival", clock_now()), .octets = pair->live->post, .meta = meta};
    const ShadowQuestion question = {.list_id = meta_string(head, "list_id", ""),
                                     .trace = key,
                                     .recipient = pair->live->copy_recipient ? pair->live->copy_recipient : "",
                                     .mail = &mail};
    return shadow_judge_post(shadow->judge, &question, &pair->ours, error);
}

static bool report_post(Shadow *shadow, const char *key, const ShadowCase *live, GError **error)
{
    g_auto(Pair) pair = {.live = live, .line = begin_line("post", live)};
    g_autoptr(GError) why = NULL;
    if (!judge(shadow, key, &pair, &why)) {
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
    if (!shadow_judge_store(shadow->judge, error) || !shadow_state_read(shadow->state, key, &live, error))
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
    shadow_judge_forget(shadow->judge); /* its accounts know the post, which comes again */
    return false;
}
