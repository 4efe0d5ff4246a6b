/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The bounces runner: what came back, and what out was refused, costs
 * members points; who has too many is probed, disabled, warned, removed. No
 * entry is ever answered.
 */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/people/leave.h"
#include "lists/people/roster.h"
#include "mail/address.h"
#include "mail/bounce/dsn.h"
#include "mail/text/notice.h"
#include "runners/bounces/case.h"
#include "runners/bounces/letters.h"
#include "runners/posts/list_runner.h"
#include "store/lists/list_setting.h"
#include "switchboard/intake.h"

/* ---- a mail to -bounces, and refusals ---- */

/*
 * An address that we signed says whom a mail to -bounces is about, whatever the mail says; the mail says whether it was
 * a failure. Without a signature the mail is believed as far as it goes: it costs a member points, never the
 * membership.
 *
 * Recipients that out was refused while it delivered come by the same signatures. It may report one a second time
 * (after a crash), in another entry or in one of the same name: effects are kept under the entry of out that they
 * belong to, and whose they are under KEY_WRITING.
 */
#define READ_MAX (1024 * 1024) /* bytes of a mail that are looked at; a report stands before what it returns */
#define PROOFS_MAX 50          /* addresses of ours that are tried in a complaint */

/* ---- signatures ---- */

/* The signature in an address of the list: VERP_VALID with the recipient (g_free()), or why it is not valid. purpose
 * tells whether the address is that of a probe or of a copy of a post. */
typedef struct Signature {
    VerpResult result;
    VerpPurpose purpose;
    char *recipient;
} Signature;

/* Read the signature from detail, the part of an address behind the delimiter. */
static bool read_signature(Case *given, const char *detail, Signature *signature, GError **error)
{
    static const VerpPurpose purposes[] = {VERP_COPY, VERP_PROBE};
    g_autofree char *local = NULL;
    VerpList list = case_verp_list(given, &local);
    *signature = (Signature){.result = VERP_ABSENT};
    for (size_t i = 0; i < G_N_ELEMENTS(purposes); i++) {
        g_auto(VerpRead) read = {0};
        const HashedProof proof = {given->bounces->shared->seat.keys, purposes[i], &list, given->now};
        VerpResult result;
        if (!hashed_parse(given->bounces->hashed, &proof, detail, &read, &result, error))
            return false;
        signature->result = result;
        if (result == VERP_VALID) {
            signature->purpose = purposes[i];
            signature->recipient = g_steal_pointer(&read.recipient);
        }
        if (result != VERP_FORGED)
            break;
    }
    return true;
}

/* ---- complaints ---- */

/* A detail we signed, wherever the mail has one behind mark ("test-bounces+"). */
static bool search_proof(Case *given, const GString *text, const char *mark, bool leave, char **recipient,
                         GError **error)
{
    g_autofree char *local = NULL;
    VerpList list = case_verp_list(given, &local);
    unsigned tried = 0;
    const char *at = text->str;
    while (!*recipient && tried++ < PROOFS_MAX && (at = strstr(at, mark))) {
        at += strlen(mark);
        g_autofree char *detail = g_strndup(at, strcspn(at, "@<> \t\r\n\"';,"));
        if (leave) {
            g_auto(VerpRead) read = {0};
            const HashedProof proof = {given->bounces->shared->seat.keys, VERP_UNSUBSCRIBE, &list, given->now};
            VerpResult result;
            if (!hashed_parse(given->bounces->hashed, &proof, detail, &read, &result, error))
                return false;
            *recipient = result == VERP_VALID ? g_steal_pointer(&read.recipient) : NULL;
            continue;
        }
        Signature signature;
        if (!read_signature(given, detail, &signature, error))
            return false;
        *recipient = signature.recipient;
    }
    return true;
}

/* Anybody can write a complaint; one that has a copy of ours in it is believed. */
static bool find_proof(Case *given, const char *octets, size_t length, char **recipient, GError **error)
{
    g_autoptr(GString) text = g_string_new_len(octets, (gssize)length);
    for (size_t i = 0; i < text->len; i++)
        text->str[i] = text->str[i] ? g_ascii_tolower(text->str[i]) : ' ';
    const char delimiter[] = {given->bounces->delimiter, '\0'};
    g_autofree char *own = list_local(given->list, "bounces", VERP_LIST_MAX);
    g_autofree char *other = list_local(given->list, "leave", VERP_LIST_MAX);
    g_autofree char *bounces = g_strconcat(own, delimiter, NULL), *leave = g_strconcat(other, delimiter, NULL);
    return search_proof(given, text, bounces, false, recipient, error) &&
           search_proof(given, text, leave, true, recipient, error);
}

static bool complained(Case *given, const char *address, GError **error)
{
    return case_complained(given,
                           &(Failed){.address = address,
                                     .class = BOUNCE_COMPLAINT,
                                     .status = "",
                                     .reason = "spam",
                                     .text = "",
                                     .source = "verp"},
                           error);
}

/* ---- the mail ---- */

/* Of several recipients the one counts that is this address, or that the report calls another address made from it;
 * and else the gravest. */
static bool signed_failure(Case *given, const Signature *signature, const Bounce *bounce, GError **error)
{
    const BounceRecipient *one = NULL;
    for (unsigned i = 0; i < bounce->recipients->len; i++) {
        const BounceRecipient *other = bounce->recipients->pdata[i];
        bool same = g_ascii_strcasecmp(other->address, signature->recipient) == 0 ||
                    (other->known_as && g_ascii_strcasecmp(other->known_as, signature->recipient) == 0);
        if (!one || other->class < one->class || (same && other->class != BOUNCE_DELAYED))
            one = other;
        if (same && other->class != BOUNCE_DELAYED)
            break;
    }
    if (one && one->class == BOUNCE_DELAYED) {
        list_runner_log(given->entry, "address=<%s> result=not-counted (delayed)", signature->recipient);
        return true;
    }
    Failed failed = {.address = signature->recipient,
                     .source = "verp",
                     .probe = signature->purpose == VERP_PROBE,
                     .class = one ? one->class : BOUNCE_TEMPORARY,
                     .soft = !one || one->soft,
                     .about = one ? one->about : BOUNCE_ABOUT_RECIPIENT,
                     .status = one ? one->status : "",
                     .reason = one ? one->reason : "undefined",
                     .text = one ? one->text : ""};
    return case_failed(given, &failed, error);
}

/* One forged report must not cost a whole list points. */
static bool unsigned_failures(Case *given, const Bounce *bounce, GError **error)
{
    int64_t most = given->bounces->unsigned_recipients, failed = 0;
    for (unsigned i = 0; i < bounce->recipients->len; i++) {
        const BounceRecipient *one = bounce->recipients->pdata[i];
        if (one->class == BOUNCE_DELAYED) {
            list_runner_log(given->entry, "address=<%s> result=not-counted (delayed)", one->address);
            continue;
        }
        if (most > 0 && ++failed > most)
            continue;
        Failed failure = {.address = one->address,
                          .known_as = one->known_as,
                          .source = "report",
                          .class = one->class,
                          .about = one->about,
                          .soft = one->soft,
                          .status = one->status,
                          .reason = one->reason,
                          .text = one->text};
        if (!case_failed(given, &failure, error))
            return false;
    }
    if (most > 0 && failed > most)
        list_runner_log(given->entry,
                        "recipients=%" G_GINT64_FORMAT " result=not-counted (more than "
                        "max_unsigned_recipients in one mail)",
                        failed - most);
    return true;
}

/* Do what this kind of mail asks for. by: our signature in the address that it came to; NULL: there is none, and the
 * mail itself must say whom it is about. */
static bool read_mail(Case *given, const Signature *by, GError **error)
{
    g_autoptr(GBytes) whole = entry_message(given->entry);
    size_t length;
    const char *octets = g_bytes_get_data(whole, &length);
    length = MIN(length, READ_MAX);
    g_autoptr(Bounce) bounce = bounce_parse(octets, length);
    g_autofree char *proven = NULL;
    switch (bounce->kind) {
    case BOUNCE_FAILURE:
        return by ? signed_failure(given, by, bounce, error) : unsigned_failures(given, bounce, error);
    case BOUNCE_UNRECOGNISED: /* who failed is known from the address, only not how */
        return by ? signed_failure(given, by, bounce, error) : case_forward(given, "it names no recipient", error);
    case BOUNCE_FEEDBACK:
        if (!bounce->complaint)
            return case_forward(given, "it is feedback that complains of nothing", error);
        if (by)
            return complained(given, by->recipient, error);
        if (!find_proof(given, octets, length, &proven, error))
            return false;
        return proven ? complained(given, proven, error)
                      : case_forward(given, "it is a complaint that names no copy of ours", error);
    case BOUNCE_NONE:
        return case_forward(given, "it is no report of failed delivery", error);
    default:
        if (by)
            list_runner_log(given->entry, "address=<%s> result=not-counted (%s)", by->recipient,
                            bounce_kind_name(bounce->kind));
        else
            list_runner_log(given->entry, "result=not-counted (%s)", bounce_kind_name(bounce->kind));
        return true;
    }
}

/* Read the mail of the entry, and call the function above that fits it. */
static bool work_mail(Case *given, GError **error)
{
    const char *detail = meta_string(entry_meta(given->entry), KEY_DETAIL, NULL);
    Signature signature;
    if (!read_signature(given, detail, &signature, error))
        return false;
    g_autofree char *recipient = signature.recipient;
    switch (signature.result) {
    case VERP_VALID:
        return read_mail(given, &signature, error);
    case VERP_STALE:
    case VERP_FORGED:
        list_runner_log(given->entry, "detail=%s result=discarded (%s)", detail,
                        signature.result == VERP_STALE ? "we wrote that address too long ago"
                                                       : "we did not write that address");
        return true;
    default: { /* mail that nobody signed is bounded, for anybody can send it */
        int64_t today = 0, most = given->bounces->unsigned_a_day;
        Store *store = given->bounces->shared->store;
        if (most > 0 && !bounce_count(store, given->list->list_id, "unsigned", given->now, &today, error))
            return false;
        if (today <= most)
            return read_mail(given, NULL, error);
        list_runner_log(given->entry, "result=discarded (the list got max_unsigned_per_day today)");
        return true;
    }
    }
}

/* ---- what out was refused ---- */

/* The detail of "test-bounces+DETAIL@host", g_free(); NULL: there is none. */
static char *detail_of(const Case *given, const char *sender)
{
    g_autofree char *local = NULL;
    VerpList list = case_verp_list(given, &local);
    size_t length = strlen(local);
    const char *at = sender ? strrchr(sender, '@') : NULL;
    if (!at || g_ascii_strncasecmp(sender, local, length) != 0 || sender[length] != list.delimiter)
        return NULL;
    return g_strndup(sender + length + 1, (size_t)(at - sender) - length - 1);
}

static bool refused(Case *given, const json_t *failure, const char *probed, GError **error)
{
    const char *address = meta_string(failure, "address", "");
    Failed failed = {.address = address,
                     .status = meta_string(failure, "status", ""),
                     .text = meta_string(failure, "reply", ""),
                     .source = "smtp",
                     .probe = probed && g_ascii_strcasecmp(probed, address) == 0};
    const char *phase = meta_string(failure, "phase", "");
    BounceVerdict verdict = bounce_judge(
        &(BounceReply){.phase = bounce_phase_named(phase), .status = failed.status, .text = failed.text});
    failed.class = verdict.class;
    failed.about = verdict.about;
    failed.soft = verdict.soft;
    failed.reason = verdict.reason;
    return !*address || case_failed(given, &failed, error);
}

/* Count the refusals that out met. */
static bool work_refusals(Case *given, GError **error)
{
    json_t *meta = entry_meta(given->entry);
    g_autofree char *detail = detail_of(given, meta_string(meta, KEY_ENVELOPE_SENDER, NULL));
    Signature signature;
    if (!read_signature(given, detail, &signature, error))
        return false;
    g_autofree char *recipient = signature.recipient;
    bool probe = signature.result == VERP_VALID && signature.purpose == VERP_PROBE;
    const char *of = meta_string(meta, KEY_OF, NULL);
    if (of) {
        g_free(given->key);
        given->key = g_strconcat("bounces:of:", of, NULL);
    }
    size_t at;
    json_t *failure;
    json_array_foreach(json_object_get(meta, KEY_FAILURES), at, failure)
        if (!refused(given, failure, probe ? recipient : NULL, error))
            return false;
    return true;
}

/* ---- what happens by time ---- */

/*
 * Warnings, removals, scores that turn stale. Members for whom something is due are found by an index and written into
 * entries of our own queue, so that what follows is one hop like any other. One that is written twice does nothing: the
 * member's next time is another by then.
 */
#define DUE_MAX 1000 /* members that are looked for at once */

/* ---- gathering ---- */

static bool gather(const BounceScore *score, void *data)
{
    GHashTable *lists = data;
    json_t *members = g_hash_table_lookup(lists, score->list_id);
    if (!members) {
        members = json_array();
        g_hash_table_insert(lists, g_strdup(score->list_id), members);
    }
    json_array_append_new(members, json_pack("{ss ss sI}", "member", score->member_id, "address", score->address, "at",
                                             (json_int_t)score->next_at));
    return true;
}

/* Look for members whose time has come, and write entries about them into the runner's own queue. */
static bool gather_due(Bounces *bounces, Spool *spool, GError **error)
{
    g_autoptr(GHashTable) lists = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)json_decref);
    if (!bounce_score_due(bounces->shared->store, clock_now(), DUE_MAX, gather, lists, error))
        return false;
    GHashTableIter iter;
    void *list_id, *members;
    g_hash_table_iter_init(&iter, lists);
    while (g_hash_table_iter_next(&iter, &list_id, &members)) {
        json_t *meta = json_object();
        meta_set_string(meta, META_LIST, list_id);
        meta_set_string(meta, KEY_TO, TO_BOUNCES);
        meta_set_integer(meta, META_ORDINAL, clock_unique() % INT64_C(1000000000000));
        json_object_set(meta, KEY_DUE, members);
        g_autoptr(Draft) draft = draft_new(bounces->queue, meta);
        Intake one = {.draft = draft};
        if (!intake_store(spool, &one, 1, false)) {
            g_propagate_prefixed_error(error, one.error, "members that are due: ");
            return false;
        }
    }
    return true;
}

/* ---- times that lie ahead ---- */

#define AHEAD (60 * CLOCK_SECOND) /* by which the clocks of hosts may differ */

typedef struct Believe {
    Store *store;
    int64_t now;
    GError *error;
    int number;
} Believe;

static bool believe_one(const BounceScore *found, void *data)
{
    Believe *believe = data;
    BounceScore score = *found; /* its strings stay the caller's */
    score_believe(&score, believe->now);
    believe->number++;
    if (bounce_score_write(believe->store, &score, &believe->error))
        return true;
    if (!g_error_matches(believe->error, FAIL, FAIL_MISSING))
        return false;
    g_clear_error(&believe->error); /* the member has left meanwhile */
    return true;
}

/* Bring back into the present the scores that were written while the clock was ahead. */
static bool believe_scores(Bounces *bounces, GError **error)
{
    Store *store = bounces->shared->store;
    int64_t now = clock_now();
    int number;
    do {
        Believe believe = {.store = store, .now = now};
        if (!bounce_score_ahead(store, now + AHEAD, DUE_MAX, believe_one, &believe, error))
            return false;
        if (believe.error)
            return fail_with(error, &believe.error);
        number = believe.number;
    } while (number == DUE_MAX);
    return true;
}

/* ---- doing ---- */

/* Do what is due for a member whose time was not moved meanwhile. False with FAIL_MISSING: the member is gone. */
static bool act(Case *given, const json_t *due, const char *effect, BounceScore *score, unsigned *acts, GError **error)
{
    Store *store = given->bounces->shared->store;
    ScoreRules rules = score_rules(given->list, given->bounces->probes);
    if (!bounce_score_read(store, meta_string(due, "member", ""), score, error))
        return false;
    if (score->next_at != meta_integer(due, "at", 0))
        return true;
    if (score->disabled_at && score->status != DELIVERY_BY_BOUNCES)
        score_forgive(score);
    if (!given->list->settings->process_bounces) {
        score->next_at = given->now + BOUNCE_DAY; /* nobody is removed while the list does not look at bounces */
        return bounce_score_write(store, score, error) && (*acts == 0 || case_record(given, effect, acts, error));
    }
    *acts = score_due(&rules, score, given->now);
    if (*acts & SCORE_REMOVE) {
        g_autoptr(Work) work = case_work(given, DOOR_TIMER);
        const char *way = leave_way_text(LEAVE_BY_BOUNCES);
        g_autoptr(Mailbox) address = mailbox_new(score->address);
        if (!member_remove(store, score->list_id, ROLE_MEMBER, address, error) ||
            !roster_log_left(work, score->list_id, ROLE_MEMBER, score->address, way, error))
            return false;
    } else if (!bounce_score_write(store, score, error)) {
        return false;
    }
    return *acts == 0 || case_record(given, effect, acts, error);
}

/* Warn or remove a member whom the entry names because the time has come. */
static bool work_due(Case *given, const json_t *due, GError **error)
{
    Store *store = given->bounces->shared->store;
    g_autoptr(GError) fault = NULL;
    const char *member_id = meta_string(due, "member", ""), *address = meta_string(due, "address", "");
    g_autofree char *effect = g_strconcat(given->key, ":", member_id, NULL);
    bool before;
    unsigned acts;
    if (!case_find(given, effect, &before, &acts, error))
        return false;
    g_auto(BounceScore) score = {0};
    bool there = before ? bounce_score_read(store, member_id, &score, &fault)
                        : act(given, due, effect, &score, &acts, &fault);
    if (!there && !g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    if (acts)
        list_runner_log(given->entry, "address=<%s> warnings=%d result=%s", address, (int)score.warnings,
                        acts & SCORE_REMOVE ? "removed way=bounces" : "warned");
    Letter letter = {.address = address, .warnings = score.warnings, .next_at = score.next_at, .acts = acts};
    return letters_send(given, &letter, error);
}

#define EXPIRE_INTERVAL (3600 * CLOCK_SECOND)

/* ---- the runner ---- */

static bool start(Runner *runner, GError **error)
{
    if (!list_runner_start(runner, error))
        return false;
    const Config *config = runner_config(runner);
    Bounces *bounces = g_new0(Bounces, 1);
    bounces->shared = runner_data(runner);
    bounces->shared->more = bounces;
    bounces->queue = config_string(config, "runner.bounces", "queue");
    if (!bounces->queue)
        bounces->queue = runner_name(runner);
    bounces->hashed = hashed_new(bounces->shared->store);
    bounces->delimiter = config_string(config, "lmtp", "verp_delimiter")[0];
    bounces->probes = config_bool(config, "bounces", "probes");
    bounces->check_us = config_duration(config, "bounces", "check_interval");
    bounces->heartbeat_us = config_duration(config, "master", "heartbeat_interval");
    bounces->keep_us = config_duration(config, "bounces", "remember");
    bounces->notices_a_day = config_integer(config, "bounces", "max_owner_notices_per_day");
    bounces->unsigned_a_day = config_integer(config, "bounces", "max_unsigned_per_day");
    bounces->unsigned_recipients = config_integer(config, "bounces", "max_unsigned_recipients");
    return kept_rows_start(runner, error) && seat_keys_now(&bounces->shared->seat, error);
}

static void stop(Runner *runner)
{
    ListRunner *shared = runner_data(runner);
    Bounces *bounces = shared ? shared->more : NULL;
    if (bounces) {
        hashed_free(bounces->hashed);
        g_free(bounces);
    }
    list_runner_stop(runner);
}

static bool begin(Runner *runner, GError **error)
{
    ListRunner *shared = runner_data(runner);
    return seat_keys_now(&shared->seat, error) && kept_rows_begin(runner, error);
}

/* Mail to the people who run the site (TO_SITE) that out could not deliver: a report of RFC 3464 goes to the envelope's
 * sender, as an MTA sends it. Without one, or where the entry has no failures, only the log tells. */
static void return_to_sender(Entry *entry, const WorkSite *site, Outcome *outcome)
{
    json_t *from = entry_meta(entry), *failure, *failures = json_object_get(from, KEY_FAILURES);
    const char *sender = meta_string(from, KEY_ENVELOPE_SENDER, "");
    size_t at, count = json_array_size(failures);
    if (count == 0 || !*sender) {
        list_runner_log(entry, "from=<%s> result=discarded (it is no list's, and has no sender to be told)", sender);
        return;
    }
    g_autofree DsnRecipient *recipients = g_new0(DsnRecipient, count + 1);
    g_autoptr(GString) text = g_string_new("Subject: Undelivered: your mail\n\nYour mail, whose header is attached, "
                                           "could not be delivered.\n\n");
    json_array_foreach(failures, at, failure) {
        recipients[at] = (DsnRecipient){.address = meta_string(failure, "address", ""),
                                        .status = meta_string(failure, "status", "5.0.0"),
                                        .reply = meta_string(failure, "reply", ""),
                                        .relay = meta_string(failure, "relay", NULL)};
        g_string_append_printf(text, "  %s\n  %s\n\n", recipients[at].address, recipients[at].reply);
    }
    g_autofree char *status = dsn_delivery_status(&(Dsn){.reporting_host = site->hostname,
                                                         .arrival = entry_arrival(entry),
                                                         .recipients = recipients,
                                                         .count = count});
    g_autofree char *id = notice_id("returned", site->hostname);
    g_autofree char *daemon = g_strconcat("mailer-daemon@", site->hostname, NULL);
    g_autoptr(GBytes) header = entry_message(entry);
    g_autoptr(GPtrArray) pieces = notice_compose(&(Notice){.from_name = "Mail delivery",
                                                           .from = daemon,
                                                           .to = sender,
                                                           .text = text->str,
                                                           .id = id,
                                                           .in_reply_to = meta_string(from, KEY_MESSAGE_ID, NULL),
                                                           .date = clock_now(),
                                                           .replied = true,
                                                           .attach = NOTICE_HEADER,
                                                           .about = header,
                                                           .delivery_status = status});
    json_t *meta = json_object();
    meta_set_string(meta, META_TRACE, entry_trace(entry));
    meta_set_integer(meta, META_ARRIVAL, clock_unique());
    meta_set_string(meta, KEY_SENDER, "");
    meta_set_string(meta, KEY_ENVELOPE_SENDER, "");
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    meta_set_string(meta, KEY_PRIORITY, "notice");
    meta_set_bool(meta, KEY_BODY_8BIT, true);
    Draft *draft = draft_new(NOTICE_QUEUE, meta);
    for (guint i = 0; i < pieces->len; i++)
        draft_add_message(draft, pieces->pdata[i]);
    const char *const to[] = {sender, NULL};
    draft_set_addresses(draft, g_strdupv((char **)to));
    outcome_add(outcome, draft);
    list_runner_log(entry, "to=<%s> result=returned", sender);
}

static bool dispatch(Case *given, GError **error)
{
    const json_t *meta = entry_meta(given->entry);
    const json_t *all_due = json_object_get(meta, KEY_DUE);
    if (all_due) {
        size_t at;
        const json_t *due;
        json_array_foreach(all_due, at, due)
            if (!work_due(given, due, error))
                return false;
        return true;
    }
    if (json_object_get(meta, KEY_TAKE_BACK))
        return case_take_back(given, error);
    if (!case_unreached(given, error))
        return false;
    if (json_object_get(meta, KEY_BLOCK_OF) && !json_object_get(meta, KEY_FAILURES))
        return true;
    if (!given->list->settings->process_bounces) {
        list_runner_log(given->entry, "result=discarded (the list does not process bounces)");
        return true;
    }
    if (json_object_get(meta, KEY_FAILURES))
        return work_refusals(given, error);
    given->has_mail = true;
    return work_mail(given, error);
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GError) fault = NULL;
    const List *list = *entry_list(entry) ? list_cache_get(shared->lists, entry_list(entry), &fault) : NULL;
    if (!list && fault && !g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    if (!list && !*entry_list(entry))
        return_to_sender(entry, &shared->site, outcome);
    else if (!list)
        list_runner_log(entry, "result=discarded (the list is gone)");
    if (!list)
        return true;
    Case given = {.bounces = shared->more, .entry = entry, .outcome = outcome, .list = list, .now = clock_now(),
                  .key = name_effect("bounces", entry_name(entry)->hash)};
    bool done = store_begin_people(shared->store, list->list_id, error) &&
                list_runner_end(shared, dispatch(&given, error), error);
    g_free(given.key);
    return done;
}

/* One of the instances looks after time: up to a heartbeat too early, when it is awake for that anyway. */
static int64_t idle(Runner *runner)
{
    ListRunner *shared = runner_data(runner);
    Bounces *bounces = shared->more;
    kept_rows_idle(runner);
    if (runner_slice(runner).index != 0)
        return -1;
    int64_t early = bounces->heartbeat_us <= bounces->check_us / 2 ? bounces->heartbeat_us : 0;
    if (clock_monotonic() >= bounces->check_at - early) {
        g_autoptr(GError) error = NULL;
        if (!gather_due(bounces, runner_spool(runner), &error))
            log_warn("what is due waits: %s", error->message);
        bounces->check_at = clock_monotonic() + bounces->check_us;
        if (clock_monotonic() >= bounces->expire_at) {
            g_autoptr(GError) fault = NULL;
            if (!bounce_expire(shared->store, clock_now() - bounces->keep_us, &fault) ||
                !bounce_brake_expire(shared->store, clock_now(), &fault) || !believe_scores(bounces, &fault))
                log_warn("old bounces stay in the store, or times that lie ahead: %s", fault->message);
            bounces->expire_at = clock_monotonic() + EXPIRE_INTERVAL;
        }
    }
    int64_t left = bounces->check_at - clock_monotonic(); /* MAX would look at the clock twice */
    return MAX(left, 0);
}

static const RunnerSpec spec = {
    .name = "bounces",
    .longest_wait = RUNNER_WAIT_MAX,
    .start = start,
    .begin_batch = begin,
    .handle = handle,
    .committed = kept_rows_committed,
    .idle = idle,
    .stop = stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
