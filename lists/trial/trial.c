/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "lists/trial/trial_judge.h"
#include "lists/trial/trial_mail.h"
#include "mail/header.h"
#include "store/moving/scratch.h"
#include "switchboard/meta.h"

/* Court holds the values that both sides share. `before` works on a copy of the list's rows, and `after` on a copy of
 * that copy, in which the change is made. So both sides read the same rows even when the site changes meanwhile, and
 * nothing that rules, handlers or the change write can reach the site. */
typedef struct Court {
    const Trial *trial;
    TrialRules rules;
    TrialSide before, after;
} Court;

const char *trial_fate_text(TrialFate fate)
{
    static const char *const texts[TRIAL_FATES] = {"accepted",  "held",      "rejected",
                                                   "discarded", "forwarded", "preserved"};
    return texts[fate];
}

void trial_tally_clear(TrialTally *tally)
{
    g_clear_pointer(&tally->problem, g_free);
    g_clear_pointer(&tally->gap, g_free);
}

/* ---- two lists ---- */

static void court_clear(Court *court)
{
    trial_side_clear(&court->before);
    trial_side_clear(&court->after);
    trial_rules_clear(&court->rules);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Court, court_clear)

static bool court_open(Court *court, const Trial *trial, GError **error)
{
    court->trial = trial;
    trial_rules_init(&court->rules, trial->config, trial->names);
    return (court->before.store = scratch_new(trial->store, trial->list_id, error)) &&
           (court->after.store = scratch_new(court->before.store, trial->list_id, error)) &&
           trial->change(court->after.store, trial->list_id, trial->data, error) &&
           trial_side_open(&court->before, trial->list_id, error) &&
           trial_side_open(&court->after, trial->list_id, error);
}

/* ---- one post ---- */

static void outcome_clear(TrialOutcome *outcome)
{
    g_clear_pointer(&outcome->reasons, g_free);
    g_clear_pointer(&outcome->removed, g_strfreev);
    g_clear_pointer(&outcome->ways, g_strfreev);
    g_clear_pointer(&outcome->sum, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TrialOutcome, outcome_clear)

static char **ways_of(const Post *post)
{
    g_autoptr(GStrvBuilder) ways = g_strv_builder_new();
    for (guint at = 0; at < post->sends->len; at++) {
        const PostSend *send = post->sends->pdata[at];
        g_autofree char *letter = send->letter ? g_strconcat("letter ", send->letter, NULL) : NULL;
        for (char **name = send->archivers; name && *name; name++) {
            g_autofree char *way = g_strconcat(send->queue, " ", *name, NULL);
            g_strv_builder_add(ways, way);
        }
        if (!send->archivers)
            g_strv_builder_add(ways, letter ? letter : send->queue);
    }
    char **all = g_strv_builder_end(ways);
    qsort(all, g_strv_length(all), sizeof *all, bytes_compare_texts);
    return all;
}

/* Of the copies, with the places at which they differ for each member. A hash does for the comparison, which only asks
 * whether members would have got something else; the copies of both sides need not be in memory together. */
static char *sum_of(const Post *post)
{
    const PostSend *send = post_send_find(post, POST_OUT);
    if (!send)
        return g_strdup("");
    gsize length;
    g_autoptr(GChecksum) hash = g_checksum_new(G_CHECKSUM_SHA256);
    g_autofree char *holes = send->holes ? copy_holes_write(send->holes) : NULL;
    g_autoptr(GBytes) whole = trial_leaves(post, send);
    const guchar *octets = g_bytes_get_data(whole, &length);
    g_checksum_update(hash, octets, (gssize)length);
    if (holes)
        g_checksum_update(hash, (const guchar *)holes, (gssize)strlen(holes));
    return g_strdup(g_checksum_get_string(hash));
}

static bool judge(const Court *court, const TrialSide *side, const TrialMail *mail, int64_t number,
                  TrialOutcome *outcome, GError **error)
{
    g_autofree char *trace = mail->file           ? g_strdup(mail->file)
                             : mail->refused.name ? g_strdup(mail->refused.name)
                                                  : g_strdup_printf("held.%" G_GINT64_FORMAT, mail->held);
    g_autoptr(Message) message = message_new(mail->octets);
    g_auto(Post) post = {0};
    trial_begin(&court->rules, side, mail, message, &post);
    post.trace = trace;
    post.post_id = number; /* the same on both sides, or one more held post would change each Subject behind it */
    if (!trial_judge(&post, &outcome->fate, &outcome->reasons, error)) {
        g_prefix_error(error, "%s: ", trace);
        return false;
    }
    bool goes = outcome->fate == TRIAL_ACCEPTED;
    g_autoptr(GStrvBuilder) removed = g_strv_builder_new();
    for (guint at = 0; goes && at < post.removed->len; at++)
        g_strv_builder_add(removed, post.removed->pdata[at]);
    outcome->removed = g_strv_builder_end(removed);
    outcome->ways = ways_of(&post);
    outcome->sum = goes ? sum_of(&post) : g_strdup("");
    return true;
}

/* ---- comparing ---- */

/* Count the parts that are in the first list and not in the second: attachments only, or all but attachments. */
static unsigned count_more(char **parts, char **others, bool attachments)
{
    unsigned count = 0;
    for (; *parts; parts++) {
        /* The parts of the content filter's are "image/png, cat.png". */
        bool attachment = strchr(*parts, ',') || !g_str_has_prefix(*parts, "text/");
        count += attachment == attachments && !g_strv_contains((const char *const *)others, *parts);
    }
    return count;
}

/* Name each difference once, by its cause: a post with another fate has no copies to compare, and a part that is lost
 * or kept explains that the text differs. */
static unsigned compare(const TrialOutcome *before, const TrialOutcome *after)
{
    const unsigned parts = TRIAL_LOSES_ATTACHMENT | TRIAL_LOSES_PART | TRIAL_KEEPS_PART;
    unsigned differences = 0;
    if (before->fate != after->fate)
        differences |= TRIAL_OTHER_FATE;
    else if (!g_str_equal(before->reasons, after->reasons))
        differences |= TRIAL_OTHER_REASON;
    if (count_more(after->removed, before->removed, true) > 0)
        differences |= TRIAL_LOSES_ATTACHMENT;
    if (count_more(after->removed, before->removed, false) > 0)
        differences |= TRIAL_LOSES_PART;
    if (after->fate == TRIAL_ACCEPTED &&
        count_more(before->removed, after->removed, true) + count_more(before->removed, after->removed, false) > 0)
        differences |= TRIAL_KEEPS_PART;
    if (before->fate != after->fate || after->fate != TRIAL_ACCEPTED)
        return differences;
    if (!g_str_equal(before->sum, after->sum) && !(differences & parts))
        differences |= TRIAL_OTHER_TEXT;
    if (!g_strv_equal((const char *const *)before->ways, (const char *const *)after->ways))
        differences |= TRIAL_OTHER_WAY;
    return differences;
}

static void count(TrialTally *tally, const TrialOutcome *before, const TrialOutcome *after, unsigned differences)
{
    tally->posts++;
    tally->fates[before->fate][after->fate]++;
    tally->other_reason += (differences & TRIAL_OTHER_REASON) != 0;
    tally->loses_attachment += (differences & TRIAL_LOSES_ATTACHMENT) != 0;
    tally->loses_part += (differences & TRIAL_LOSES_PART) != 0;
    tally->keeps_part += (differences & TRIAL_KEEPS_PART) != 0;
    tally->other_text += (differences & TRIAL_OTHER_TEXT) != 0;
    tally->other_way += (differences & TRIAL_OTHER_WAY) != 0;
}

static bool tell(const Trial *trial, const TrialMail *mail, const TrialOutcome *before, const TrialOutcome *after,
                 unsigned differences)
{
    g_autoptr(Message) message = message_new(mail->octets);
    g_autofree char *raw = message_value(message, "Subject"), *subject = header_decode(raw ? raw : "");
    g_autofree char *id = message_id(message), *hash = id ? message_id_hash(id) : g_strdup("");
    g_autofree char *valid_id = g_utf8_make_valid(id ? id : "", -1);
    g_auto(Post) post = {0};
    post_init(&post);
    post.message = message;
    post.sender = meta_string(mail->meta, KEY_SENDER, "");
    const char *sender = post_first_sender(&post);
    g_autofree char *from = g_utf8_make_valid(sender ? sender : "", -1);
    const TrialPost told = {.file = mail->file,
                            .hash = hash,
                            .held = mail->held,
                            .refused = mail->refused.name ? &mail->refused : NULL,
                            .arrival = mail->arrival,
                            .message_id = valid_id,
                            .subject = subject,
                            .sender = from,
                            .before = before,
                            .after = after,
                            .differences = differences};
    return trial->each(&told, trial->data);
}

bool trial_run(const Trial *trial, TrialTally *tally, GError **error)
{
    g_auto(Court) court = {0};
    g_auto(TrialMail) mail = {0};
    bool more = true, go_on = true;
    *tally = (TrialTally){0};
    if (!court_open(&court, trial, error))
        return false;
    g_autoptr(TrialMails) mails = trial_mails_open(trial, court.before.list, tally, error);
    uint64_t all = mails ? trial_mails_count(mails) : 0;
    if (!mails)
        return false;
    while (go_on) {
        if (!trial_mails_next(mails, &mail, &more, error))
            return false;
        if (!more)
            return true;
        g_auto(TrialOutcome) before = {0}, after = {0};
        int64_t number = (int64_t)tally->posts + 1;
        if (!judge(&court, &court.before, &mail, number, &before, error) ||
            !judge(&court, &court.after, &mail, number, &after, error))
            return false;
        unsigned differences = compare(&before, &after);
        count(tally, &before, &after, differences);
        tally->refused_accepted += mail.refused.name && before.fate != TRIAL_ACCEPTED && after.fate == TRIAL_ACCEPTED;
        go_on = differences == 0 || tell(trial, &mail, &before, &after, differences);
        go_on = go_on && (!trial->progress || trial->progress(tally->posts, all, trial->data));
    }
    return true;
}
