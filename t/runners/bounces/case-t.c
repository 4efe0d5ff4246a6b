/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The bounces runner without its frame: whose report costs whom points, and what happens by time, once. */
#include <string.h>

#include "base/clock.h"
#include "lists/keys.h"
#include "mail/bounce/verp.h"
#include "mail/message.h"
#include "runners/bounces/score.h"
#include "store/lists/list_log.h"
#include "store/people/bounce.h"
#include "store/secret.h"
#include "t/mailbox.h"
#include "t/runners/listframe.h"

#define WEEK (7 * 86400 * CLOCK_SECOND)
#define LONG_AGO (60 * WEEK)

int bounces_main(int argc, char **argv);

static const char *const names[] = {"a@example.org", "b@example.org", "c@example.org", "d@example.org"};

/* Four members of both lists. */
static void set_up(ListFrame *frame, gconstpointer data)
{
    const char *limits = "max_unsigned_recipients = 2\nmax_unsigned_per_day = 2\n";
    g_autofree char *config = g_strconcat("[bounces]\nprobes = no\n", data ? (const char *)data : limits, NULL);
    list_frame_open(frame, bounces_main, config);
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        g_assert_true(member_add(frame->store, LIST, ROLE_MEMBER, mailbox_of(names[at]), NULL, NULL, NULL));
        g_assert_true(member_add(frame->store, OTHER, ROLE_MEMBER, mailbox_of(names[at]), NULL, NULL, NULL));
    }
}

static void tear_down(ListFrame *frame, gconstpointer data)
{
    list_frame_close(frame);
}

/* A report that delivery failed to each of these; as lmtp stores it. */
static Entry *report(ListFrame *frame, const char *list_id, const char *detail, const char *const *failed, size_t count)
{
    g_autoptr(GString) text = g_string_new("From: MAILER-DAEMON@mx.example.org\r\nMIME-Version: 1.0\r\n"
                                           "Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n"
                                           "\r\n--b\r\n\r\nIt failed.\r\n--b\r\n"
                                           "Content-Type: message/delivery-status\r\n\r\n"
                                           "Reporting-MTA: dns; mx.example.org\r\n\r\n");
    for (size_t at = 0; at < count; at++)
        g_string_append_printf(text, "Final-Recipient: rfc822; %s\r\nAction: failed\r\nStatus: 5.1.1\r\n"
                               "Diagnostic-Code: smtp; 550 5.1.1 user unknown\r\n\r\n",
                               failed[at]);
    g_string_append(text, "--b--\r\n");
    Draft *draft = fixture_draft("bounces", list_id, text->str);
    meta_set_string(draft_meta(draft), KEY_SENDER, "");
    meta_set_string(draft_meta(draft), KEY_TO, TO_BOUNCES);
    if (detail)
        meta_set_string(draft_meta(draft), KEY_DETAIL, detail);
    return list_frame_entry(frame, draft);
}

static void read_score(ListFrame *frame, const char *list_id, const char *address, BounceScore *score)
{
    g_autoptr(Member) member = member_find(frame->store, list_id, ROLE_MEMBER, mailbox_of(address), &frame->error);
    g_assert_no_error(frame->error);
    g_assert_true(bounce_score_read(frame->store, member->id, score, &frame->error));
}

/* Of the members whose names are letters: "ab" when these two have points. */
static void assert_scored(ListFrame *frame, const char *list_id, const char *expected)
{
    g_autoptr(GString) scored = g_string_new(NULL);
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        g_auto(BounceScore) score = {0};
        read_score(frame, list_id, names[at], &score);
        if (score.score > 0)
            g_string_append_c(scored, names[at][0]);
    }
    g_assert_cmpstr(scored->str, ==, expected);
}

/* One forged report must not cost a whole list points, nor a thousand of them. */
static void test_unsigned(ListFrame *frame, gconstpointer data)
{
    list_frame_run(frame, report(frame, LIST, NULL, names, 3));
    assert_scored(frame, LIST, "ab");
    list_frame_run(frame, report(frame, LIST, NULL, names + 2, 1));
    assert_scored(frame, LIST, "abc");
    list_frame_run(frame, report(frame, LIST, NULL, names + 3, 1));
    assert_scored(frame, LIST, "abc");
    assert_scored(frame, OTHER, "");
    list_frame_run(frame, report(frame, OTHER, NULL, names + 3, 1));
    assert_scored(frame, OTHER, "d");
}

/* The refusal of a member as out stores it. */
static void refuse(ListFrame *frame, const char *address)
{
    Draft *draft = fixture_draft("bounces", LIST, "Subject: x\r\n\r\n");
    json_t *meta = draft_meta(draft);
    json_object_set_new(meta, KEY_FAILURES, json_pack("[{ss ss ss ss}]", "address", address, "status", "5.1.1", "reply",
                                                      "550 5.1.1 user unknown", "phase", "rcpt"));
    meta_set_string(meta, KEY_TO, TO_BOUNCES);
    list_frame_run(frame, list_frame_entry(frame, draft));
}

/* Members at a domain fail until more than half of them have: then all of them have their points back. */
static void fail_at(ListFrame *frame, const char *domain, int members)
{
    for (int at = 0; at < members; at++) {
        g_autofree char *address = g_strdup_printf("m%d@%s", at, domain);
        g_assert_true(member_add(frame->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, NULL));
    }
    g_autofree char *first = g_strdup_printf("m0@%s", domain);
    for (int at = 0; at <= members / 2; at++) {
        g_autofree char *address = g_strdup_printf("m%d@%s", at, domain);
        refuse(frame, address);
        g_auto(BounceScore) score = {0};
        read_score(frame, LIST, first, &score);
        g_assert_cmpint(score.score, ==, at < members / 2 ? SCORE_POINT : 0);
    }
}

/* Too many fail at one domain: those at other domains keep the points that the same words have cost them. A domain
 * beyond ASCII has as many members, however it is written. */
static void test_brake_of_one_domain(ListFrame *frame, gconstpointer data)
{
    for (int at = 0; at < 160; at++) { /* so many that the list's own brake stays open */
        g_autofree char *address = g_strdup_printf("m%d@well.example", at);
        g_assert_true(member_add(frame->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, NULL));
    }
    refuse(frame, names[3]);
    fail_at(frame, "gone.example", 8);
    fail_at(frame, "B\303\234CHER.example", 14);
    assert_scored(frame, LIST, "d");
}

static int64_t points(ListFrame *frame, const char *address)
{
    g_auto(BounceScore) score = {0};
    read_score(frame, LIST, address, &score);
    return score.score;
}

/* Reports that anybody can write close no brake, and do not keep others from closing it. */
static void test_forged_reports(ListFrame *frame, gconstpointer data)
{
    for (int at = 0; at < 8; at++) {
        g_autofree char *address = g_strdup_printf("m%d@gone.example", at);
        g_assert_true(member_add(frame->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, NULL));
        const char *const failed[] = {address};
        list_frame_run(frame, report(frame, LIST, NULL, failed, 1));
        g_assert_cmpint(points(frame, address), ==, SCORE_POINT);
    }
    for (int at = 0; at < 5; at++) {
        g_autofree char *address = g_strdup_printf("m%d@gone.example", at);
        refuse(frame, address);
        refuse(frame, address);
        g_assert_cmpint(points(frame, "m0@gone.example"), ==, at < 4 ? SCORE_POINT : 0);
    }
    g_assert_cmpint(points(frame, "m7@gone.example"), ==, 0);
    const char *const failed[] = {"m7@gone.example"};
    list_frame_run(frame, report(frame, LIST, NULL, failed, 1));
    g_assert_cmpint(points(frame, "m7@gone.example"), ==, 0);
}

#define MANY 2500

/* The refusals of some of many members as out stores them. */
static Entry *refusals(ListFrame *frame, int first, int count)
{
    Draft *draft = fixture_draft("bounces", LIST, "Subject: x\r\n\r\n");
    json_t *failures = json_array();
    for (int at = first; at < first + count; at++) {
        g_autofree char *address = g_strdup_printf("m%d@gone.example", at);
        json_array_append_new(failures, json_pack("{ss ss ss ss}", "address", address, "status", "5.1.1", "reply",
                                                  "550 5.1.1 user unknown", "phase", "rcpt"));
    }
    json_object_set_new(draft_meta(draft), KEY_FAILURES, failures);
    meta_set_string(draft_meta(draft), KEY_TO, TO_BOUNCES);
    return list_frame_entry(frame, draft);
}

static unsigned charged(ListFrame *frame)
{
    return list_frame_rows(frame, "bounce WHERE weight > 0");
}

/* Points of many are taken back a portion at a time, also when a crash comes before the entry that goes on is there,
 * or before its own commit. */
static void test_taken_back_in_portions(ListFrame *frame, gconstpointer data)
{
    g_assert_true(store_begin(frame->store, &frame->error));
    for (int at = 0; at < MANY; at++) {
        g_autofree char *address = g_strdup_printf("m%d@gone.example", at);
        g_assert_true(member_add(frame->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, NULL));
    }
    g_assert_true(store_commit(frame->store, &frame->error));
    for (int at = 0; at < 1250; at += 250)
        list_frame_run(frame, refusals(frame, at, 250));
    g_assert_cmpuint(charged(frame), ==, 1250);
    Outcome *outcome = list_frame_handle(frame, refusals(frame, 1250, 1));
    g_assert_no_error(outcome->error);
    g_assert_cmpuint(outcome->drafts->len, ==, 1);
    g_assert_cmpuint(charged(frame), ==, 251); /* a thousand were looked at, one of them the member in hand */
    outcome->error = g_error_new(G_FILE_ERROR, G_FILE_ERROR_NOSPC, "no space");
    list_frame_commit(frame, outcome);
    list_frame_restart(frame);
    list_frame_run(frame, list_frame_claim(frame, "bounces"));
    outcome = list_frame_handle(frame, list_frame_claim(frame, "bounces"));
    g_assert_no_error(outcome->error);
    g_assert_cmpuint(charged(frame), ==, 0);
    outcome->error = g_error_new(G_FILE_ERROR, G_FILE_ERROR_NOSPC, "no space");
    list_frame_commit(frame, outcome);
    list_frame_restart(frame);
    list_frame_run(frame, list_frame_claim(frame, "bounces"));
    g_assert_cmpuint(fixture_count(&frame->fixture, "bounces", ".msg"), ==, 0);
    g_assert_cmpuint(list_frame_rows(frame, "bounce_score"), ==, 0);
}

static unsigned letters(ListFrame *frame)
{
    return fixture_count(&frame->fixture, "virgin", ".msg");
}

/* Some recipients of a block of a post, to whom it was given up. size 0: the block was left empty. */
typedef struct GivenUp {
    const char *trace, *block;
    int number, most, size;
    const char *addresses[4];
} GivenUp;

static void give_up(ListFrame *frame, const GivenUp *lost, const char *sender)
{
    Draft *draft = fixture_draft("bounces", LIST, "From: eve@example.net\r\nSubject: x\r\n\r\n");
    json_t *meta = draft_meta(draft);
    meta_set_string(meta, META_TRACE, lost->trace);
    meta_set_string(meta, KEY_SENDER, sender);
    meta_set_string(meta, KEY_TO, TO_BOUNCES);
    meta_set_string(meta, KEY_BLOCK_OF, lost->block);
    meta_set_integer(meta, KEY_BLOCK_SIZE, lost->size);
    meta_set_integer(meta, KEY_BLOCK, lost->number);
    if (lost->most > 0)
        meta_set_integer(meta, KEY_BLOCK_MOST, lost->most);
    json_t *all = json_array();
    for (int at = 0; at < 4 && lost->addresses[at]; at++)
        json_array_append_new(all, json_string(lost->addresses[at]));
    if (lost->size > 0) {
        json_object_set(meta, KEY_LOST, all);
        meta_set_string(meta, KEY_LOST_REPLY, "450 4.1.8 no");
    }
    json_decref(all);
    list_frame_run(frame, list_frame_entry(frame, draft));
}

/* Two full blocks and a third one that nobody was left for; of the first one out tells of a recipient twice. */
static void test_unreached_blocks(ListFrame *frame, gconstpointer data)
{
    static const GivenUp parts[] = {
        {"t1", "b0", 0, 3, 3, {"a@example.org", "b@example.org"}}, {"t1", "b0", 0, 3, 3, {"B@example.org"}},
        {"t1", "b1", 1, 2, 2, {"x@example.org", "y@example.org"}}, {"t1", "b2", 2, 0, 0, {NULL}},
        {"t1", "b0", 0, 3, 3, {"c@example.org"}},                  {"t1", "b0", 0, 3, 3, {"c@example.org"}}};
    for (size_t at = 0; at < G_N_ELEMENTS(parts); at++) {
        give_up(frame, &parts[at], "eve@example.net");
        g_assert_cmpuint(letters(frame), ==, at < 4 ? 0 : 1);
    }
    give_up(frame, &(GivenUp){"t2", "b3", 0, 0, 1, {"a@example.org"}}, "eve@example.net");
    g_assert_cmpuint(letters(frame), ==, 2);
}

/* The author has had all letters of today, one of which says so: the owners are told of the next posts. */
static void test_unreached_author_at_limit(ListFrame *frame, gconstpointer data)
{
    for (int at = 0; at < 13; at++) {
        g_autofree char *trace = g_strdup_printf("t%d", at);
        give_up(frame, &(GivenUp){trace, trace, 0, 0, 1, {"a@example.org"}}, "eve@example.net");
    }
    unsigned to_author = 0, to_owners = 0;
    Inbox *virgin = fixture_inbox(&frame->fixture, "virgin");
    g_autoptr(GPtrArray) entries = fixture_claim(virgin);
    for (guint at = 0; at < entries->len; at++) {
        g_autoptr(GBytes) octets = entry_message(entries->pdata[at]);
        g_autoptr(Message) message = message_new(octets);
        g_autofree char *to = message_value(message, "To");
        to_author += strstr(to, "eve@example.net") != NULL;
        to_owners += strstr(to, "test-owner@") != NULL;
        entry_free(entries->pdata[at]);
    }
    inbox_free(virgin);
    g_assert_cmpuint(to_author, ==, 11); /* the last one says that there are no more today */
    g_assert_cmpuint(to_owners, ==, 3);
}

static char *signed_detail(ListFrame *frame, const char *member, int64_t time)
{
    g_autoptr(GPtrArray) secrets = secret_all(frame->store, &frame->error);
    VerpKeys *keys = verp_keys_new(secrets);
    const VerpList list = {LIST, "test-bounces", "example.com", '+'};
    g_autoptr(GString) address = g_string_new(NULL);
    g_assert_true(verp_make(keys, VERP_COPY, &list, member, time, address));
    verp_keys_free(keys);
    const char *detail = strchr(address->str, '+') + 1;
    return g_strndup(detail, strcspn(detail, "@"));
}

/* The address that came back says who it is about, whatever the mail says; on its own list, and not for ever. */
static void test_signed(ListFrame *frame, gconstpointer data)
{
    g_autofree char *now = signed_detail(frame, names[0], clock_now());
    g_autofree char *old = signed_detail(frame, names[1], clock_now() - LONG_AGO);
    g_autofree char *forged = g_strdup(now);
    char *last = forged + strlen(forged) - 1;
    *last = *last == 'a' ? 'b' : 'a';
    list_frame_run(frame, report(frame, OTHER, now, names, 1));
    list_frame_run(frame, report(frame, LIST, old, names + 1, 1));
    list_frame_run(frame, report(frame, LIST, forged, names, 1));
    assert_scored(frame, LIST, "");
    assert_scored(frame, OTHER, "");
    list_frame_run(frame, report(frame, LIST, now, names + 1, 1));
    assert_scored(frame, LIST, "a");
    for (int at = 0; at < 3; at++) /* they do not count as unsigned ones, and a day costs once */
        list_frame_run(frame, report(frame, LIST, now, names, 1));
    list_frame_run(frame, report(frame, LIST, NULL, names + 3, 1));
    assert_scored(frame, LIST, "ad");
    g_auto(BounceScore) score = {0};
    read_score(frame, LIST, names[0], &score);
    g_assert_cmpint(score.score, ==, SCORE_POINT);
}

static void set(ListFrame *frame, const char *name, const char *value)
{
    g_assert_true(list_set(frame->store, LIST, name, value, &frame->error));
}

static void set_status(ListFrame *frame, const char *address, DeliveryStatus status)
{
    Preferences own = preferences_unset;
    own.delivery_status = status;
    g_assert_true(member_set_preferences(frame->store, LIST, ROLE_MEMBER, mailbox_of(address), &own, &frame->error));
}

/* The member gets no mail any more, and something is due now. */
static void disable(ListFrame *frame, const char *address)
{
    g_auto(BounceScore) score = {0};
    set_status(frame, address, DELIVERY_BY_BOUNCES);
    read_score(frame, LIST, address, &score);
    score.disabled_at = score.next_at = clock_now() - CLOCK_SECOND;
    g_assert_true(bounce_score_write(frame->store, &score, &frame->error));
}

/* Return the entry that the clock made of what it found due. */
static Entry *look(ListFrame *frame)
{
    list_frame_restart(frame);
    runner_frame.spec->idle(&runner_frame);
    return list_frame_claim(frame, "bounces");
}

/* A member who was disabled while the clock was ahead by years is warned when it is right again. */
static void test_due_of_a_clock_ahead(ListFrame *frame, gconstpointer data)
{
    g_auto(BounceScore) score = {0};
    set_status(frame, names[0], DELIVERY_BY_BOUNCES);
    read_score(frame, LIST, names[0], &score);
    score.disabled_at = score.next_at = clock_now() + 400 * BOUNCE_DAY;
    g_assert_true(bounce_score_write(frame->store, &score, &frame->error));
    list_frame_restart(frame);
    runner_frame.spec->idle(&runner_frame);
    list_frame_run(frame, look(frame));
    g_assert_cmpuint(letters(frame), ==, 1);
}

static bool is_member(ListFrame *frame, const char *list_id, const char *address)
{
    g_autoptr(Member) member = member_find(frame->store, list_id, ROLE_MEMBER, mailbox_of(address), NULL);
    return member != NULL;
}

/* The clock looked twice before the runner came to it: one warning, and one removal. */
static void test_due_once(ListFrame *frame, gconstpointer data)
{
    set(frame, "bounce_you_are_disabled_warnings", "1");
    set(frame, "bounce_notify_owner_on_removal", "no");
    disable(frame, names[0]);
    Entry *first = look(frame), *second = look(frame);
    list_frame_run(frame, first);
    g_assert_cmpuint(letters(frame), ==, 1);
    list_frame_run(frame, second);
    g_assert_cmpuint(letters(frame), ==, 1);
    g_auto(BounceScore) score = {0};
    read_score(frame, LIST, names[0], &score);
    g_assert_cmpint(score.warnings, ==, 1);
    score.next_at = clock_now() - CLOCK_SECOND;
    g_assert_true(bounce_score_write(frame->store, &score, &frame->error));
    Entry *third = look(frame), *fourth = look(frame);
    list_frame_run(frame, third);
    list_frame_run(frame, fourth);
    g_assert_false(is_member(frame, LIST, names[0]));
    g_assert_true(is_member(frame, OTHER, names[0]) && is_member(frame, LIST, names[1]));
    g_autoptr(GPtrArray) rows = list_log_page(frame->store, LIST, "member", 0, 9, NULL);
    g_assert_cmpuint(rows->len, ==, 1);
    const ListLogRow *row = rows->pdata[0];
    g_assert_cmpstr(row->name, ==, names[0]);
    g_assert_cmpstr(row->by, ==, "bounces");
    g_assert_cmpstr(row->before, ==, "member");
    g_assert_cmpstr(row->after, ==, "bounces");
}

/* Check that a member who gets no more mail has a row, too. */
static void test_disabled_in_log(ListFrame *frame, gconstpointer data)
{
    set(frame, "bounce_score_threshold", "1");
    set(frame, "bounce_notify_owner_on_disable", "no");
    list_frame_run(frame, report(frame, LIST, NULL, names, 1));
    g_autoptr(GPtrArray) rows = list_log_page(frame->store, LIST, LOG_OPTIONS, 0, 9, NULL);
    g_assert_cmpuint(rows->len, ==, 1);
    const ListLogRow *row = rows->pdata[0];
    g_assert_cmpstr(row->name, ==, names[0]);
    g_assert_cmpstr(row->by, ==, "bounces");
    g_assert_cmpstr(row->before, ==, "delivery default");
    g_assert_cmpstr(row->after, ==, "delivery off (by_bounces)");
}

/* Nobody is removed while the list does not look at bounces, nor who gets mail again by a person's hand. */
static void test_due_and_kept(ListFrame *frame, gconstpointer data)
{
    set(frame, "bounce_you_are_disabled_warnings", "0");
    set(frame, "process_bounces", "no");
    disable(frame, names[0]);
    list_frame_run(frame, look(frame));
    g_assert_true(is_member(frame, LIST, names[0]));
    set(frame, "process_bounces", "yes");
    disable(frame, names[1]);
    Entry *entry = look(frame);
    g_auto(BounceScore) score = {0};
    read_score(frame, LIST, names[1], &score);
    set_status(frame, names[1], DELIVERY_ENABLED);
    g_assert_true(bounce_score_write(frame->store, &score, &frame->error));
    list_frame_run(frame, entry);
    g_assert_true(is_member(frame, LIST, names[1]));
    g_assert_cmpuint(letters(frame), ==, 0);
    disable(frame, names[2]);
    list_frame_run(frame, look(frame));
    g_assert_false(is_member(frame, LIST, names[2]));
}

/* The owner of the site is told once a day of an owner who cannot be reached, and of each of them. */
static void test_unreachable(ListFrame *frame, gconstpointer data)
{
    static const char *const olga = "olga@example.net", *const capital = "Olga@example.NET";
    static const char *const paul = "paul@example.net";
    g_assert_true(member_add(frame->store, OTHER, ROLE_MODERATOR, mailbox_of(olga), NULL, NULL, NULL));
    list_frame_run(frame, report(frame, LIST, NULL, &olga, 1));
    g_assert_cmpuint(letters(frame), ==, 1);
    list_frame_run(frame, report(frame, LIST, NULL, &capital, 1));
    list_frame_run(frame, report(frame, OTHER, NULL, &olga, 1));
    g_assert_cmpuint(letters(frame), ==, 1);
    list_frame_run(frame, report(frame, OTHER, NULL, &paul, 1));
    g_assert_cmpuint(letters(frame), ==, 2);
    list_frame_sql(frame, "DELETE FROM bounce_count"); /* of mail that nobody signed */
    list_frame_run(frame, report(frame, LIST, NULL, &paul, 1)); /* no owner there */
    g_assert_cmpuint(letters(frame), ==, 2);
    list_frame_sql(frame, "UPDATE effect SET entry = replace(entry, 'unreachable:', 'yesterday:')");
    list_frame_run(frame, report(frame, LIST, NULL, &olga, 1));
    g_assert_cmpuint(letters(frame), ==, 3);
}

/* A report that the store fails costs nobody anything, and counts when it comes again. */
static void test_store_fails(ListFrame *frame, gconstpointer data)
{
    static const char *const tables[] = {"bounce_count", "bounce", "bounce_score", "effect"};
    Entry *entry = report(frame, LIST, NULL, names, 2);
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++) {
        entry = list_frame_fail_without(frame, entry, tables[at]);
        assert_scored(frame, LIST, "");
    }
    list_frame_run(frame, entry);
    assert_scored(frame, LIST, "ab");
}

/* A provider tells that the member called a copy from LIST spam. */
static Entry *complaint(ListFrame *frame, const char *member)
{
    g_autofree char *detail = signed_detail(frame, member, clock_now());
    Draft *draft = fixture_draft("bounces", LIST,
                                 "From: staff@example.net\r\nMIME-Version: 1.0\r\n"
                                 "Content-Type: multipart/report; report-type=feedback-report; boundary=b\r\n\r\n"
                                 "--b\r\n\r\nIt is spam.\r\n--b\r\nContent-Type: message/feedback-report\r\n\r\n"
                                 "Feedback-Type: abuse\r\nUser-Agent: x/1\r\nVersion: 1\r\n\r\n--b\r\n"
                                 "Content-Type: message/rfc822\r\n\r\nFrom: x@example.net\r\n\r\nhi\r\n--b--\r\n");
    meta_set_string(draft_meta(draft), KEY_SENDER, "");
    meta_set_string(draft_meta(draft), KEY_TO, TO_BOUNCES);
    meta_set_string(draft_meta(draft), KEY_DETAIL, detail);
    return list_frame_entry(frame, draft);
}

/* The process is killed with two complaints in hand, of which one's hop is committed: the next process drops the rows
 * of that one when it starts, and those of the other when it is done. */
static void test_killed(ListFrame *frame, gconstpointer data)
{
    set(frame, "bounce_notify_owner_on_removal", "no"); /* so that each letter has a row */
    Entry *first = complaint(frame, names[0]), *second = complaint(frame, names[1]);
    Outcome *outcome = list_frame_handle(frame, first);
    g_assert_no_error(outcome->error);
    g_assert_true(hop_commit(frame->hop, &outcome, 1, &frame->error));
    g_assert_true(hop_settle_all(frame->hop, &frame->error));
    outcome_free(outcome);
    unsigned rows = list_frame_rows(frame, "outbox");
    g_assert_cmpuint(rows, >, 0);
    outcome = list_frame_handle(frame, second);
    g_assert_no_error(outcome->error);
    g_assert_cmpuint(list_frame_rows(frame, "outbox"), ==, 2 * rows);
    outcome->error = g_error_new(G_FILE_ERROR, G_FILE_ERROR_NOSPC, "no space");
    list_frame_commit(frame, outcome);
    list_frame_restart(frame);
    g_assert_cmpuint(list_frame_rows(frame, "outbox"), ==, rows);
    list_frame_run(frame, list_frame_claim(frame, "bounces"));
    runner_frame.spec->idle(&runner_frame);
    g_assert_cmpuint(list_frame_rows(frame, "outbox"), ==, 0);
    g_assert_false(is_member(frame, LIST, names[0]) || is_member(frame, LIST, names[1]));
    g_assert_true(is_member(frame, OTHER, names[0]) && is_member(frame, LIST, names[2]));
    g_assert_cmpuint(letters(frame), ==, 2 * rows);
}

#define FRAME_TEST(path, function) g_test_add(path, ListFrame, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
    list_frame_set_noon();
    g_test_init(&argc, &argv, NULL);
    FRAME_TEST("/bounces/case/brake of one domain", test_brake_of_one_domain);
    FRAME_TEST("/bounces/case/taken back in portions", test_taken_back_in_portions);
    FRAME_TEST("/bounces/case/blocks that reached nobody", test_unreached_blocks);
    FRAME_TEST("/bounces/case/the author has had all letters", test_unreached_author_at_limit);
    g_test_add("/bounces/case/forged reports", ListFrame, "max_unsigned_per_day = 0\n", set_up, test_forged_reports,
               tear_down);
    FRAME_TEST("/bounces/case/reports that nobody signed", test_unsigned);
    FRAME_TEST("/bounces/case/signed addresses", test_signed);
    FRAME_TEST("/bounces/case/due once", test_due_once);
    FRAME_TEST("/bounces/case/disabled, in the log", test_disabled_in_log);
    FRAME_TEST("/bounces/case/due of a clock ahead", test_due_of_a_clock_ahead);
    FRAME_TEST("/bounces/case/due and kept", test_due_and_kept);
    FRAME_TEST("/bounces/case/unreachable", test_unreachable);
    FRAME_TEST("/bounces/case/the store fails", test_store_fails);
    FRAME_TEST("/bounces/case/killed", test_killed);
    return g_test_run();
}
