/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The command runner without its frame: who is believed, and what a fault or a crash in the middle leaves. */
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#include "base/clock.h"
#include "lists/keys.h"
#include "mail/bounce/verp.h"
#include "runners/posts/list_runner.h"
#include "store/people/pending.h"
#include "store/posts/held.h"
#include "store/posts/ticket.h"
#include "store/secret.h"
#include "store/store_internal.h"
#include "t/mailbox.h"
#include "t/runners/listframe.h"

#define ANNE "anne@example.org"
#define BOB "bob@example.org"
#define MALLORY "mallory@example.net"
#define OLGA "olga@example.net"
#define ANSWERS_A_DAY 4

int command_main(int argc, char **argv);

/* Anne and Bob are members of both lists. */
static void set_up(ListFrame *frame, gconstpointer data)
{
    list_frame_open(frame, command_main, "[site]\nmax_autoresponses_per_day = " G_STRINGIFY(ANSWERS_A_DAY) "\n");
    for (int at = 0; at < 2; at++) {
        const char *list_id = at == 0 ? LIST : OTHER;
        g_assert_true(member_add(frame->store, list_id, ROLE_MEMBER, mailbox_of(ANNE), NULL, NULL, NULL));
        g_assert_true(member_add(frame->store, list_id, ROLE_MEMBER, mailbox_of(BOB), NULL, NULL, NULL));
    }
}

static void tear_down(ListFrame *frame, gconstpointer data)
{
    list_frame_close(frame);
}

typedef struct Mail {
    const char *list_id, *from, *to, *detail; /* to: one of TO_* */
    const char *header, *text;                /* header: further lines */
} Mail;

static const char *envelope; /* the sender of the envelope; NULL: the address of From */

/* As lmtp stores it. */
static Draft *drafted(const Mail *mail)
{
    static int made;
    const char *header = mail->header ? mail->header : "", *text = mail->text ? mail->text : "";
    g_autofree char *id = g_strdup_printf("%d@example.org", made++);
    g_autofree char *octets = g_strdup_printf("From: <%s>\r\nMessage-ID: <%s>\r\n%s\r\n%s\r\n", mail->from, id, header,
                                              text);
    Draft *draft = fixture_draft("command", mail->list_id, octets);
    meta_set_string(draft_meta(draft), KEY_SENDER, envelope ? envelope : mail->from);
    meta_set_string(draft_meta(draft), KEY_TO, mail->to);
    meta_set_string(draft_meta(draft), KEY_MESSAGE_ID, id);
    if (mail->detail)
        meta_set_string(draft_meta(draft), KEY_DETAIL, mail->detail);
    return draft;
}

/* The letters that wait to be sent, which are taken away: recipients and text. */
static char *letters(ListFrame *frame)
{
    GString *all = g_string_new(NULL);
    while (fixture_count(&frame->fixture, "virgin", ".msg") > 0) {
        g_autofree char *files = fixture_files(&frame->fixture, "virgin", ".msg");
        files[strcspn(files, ",")] = '\0';
        g_autoptr(Entry) entry = entry_open(spool_queue(frame->fixture.spool, "virgin", NULL), files, &frame->error);
        g_assert_no_error(frame->error);
        Recipient recipient;
        for (size_t offset = 0; entry_next_recipient(entry, offset, &recipient); offset = recipient.next)
            g_string_append_printf(all, "<%.*s> ", (int)recipient.length, recipient.address);
        g_autoptr(GBytes) octets = entry_message(entry);
        g_string_append_len(all, g_bytes_get_data(octets, NULL), (gssize)g_bytes_get_size(octets));
        g_autofree char *path = fixture_file_path(&frame->fixture, "virgin", files);
        g_assert_cmpint(g_unlink(path), ==, 0);
    }
    return g_string_free(all, FALSE);
}

/* The letter to that address, from its From on, without its footer. */
static char *letter_to(const char *all, const char *address)
{
    g_autofree char *mark = g_strdup_printf("<%s> Listrunner-Loop: ", address);
    const char *head = strstr(all, mark), *begin = head ? strstr(head, "\r\nFrom: ") : NULL;
    const char *end = begin ? strstr(begin, "\r\n-- ") : NULL;
    g_assert_nonnull(end);
    return g_strndup(begin, (size_t)(end - begin));
}

/* Return the letters that a mail leads to. */
static char *write_mail(ListFrame *frame, const Mail *mail)
{
    list_frame_run(frame, list_frame_entry(frame, drafted(mail)));
    return letters(frame);
}

static void assert_no_letter(char *text)
{
    g_assert_cmpstr(text, ==, "");
    g_free(text);
}

static unsigned count_of(const char *text, const char *sought)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, sought)) != NULL; at++)
        count++;
    return count;
}

static bool is_member(ListFrame *frame, const char *list_id, const char *address)
{
    g_autoptr(Member) member = member_find(frame->store, list_id, ROLE_MEMBER, mailbox_of(address), NULL);
    return member != NULL;
}

/* Letters that the outbox keeps for entries that may come again. */
static unsigned kept_rows(ListFrame *frame)
{
    return list_frame_rows(frame, "outbox");
}

/* The detail of the member's own address to leave this list. */
static char *signed_detail(ListFrame *frame, const char *list_id, const char *local, const char *member)
{
    g_autoptr(GPtrArray) secrets = secret_all(frame->store, &frame->error);
    VerpKeys *keys = verp_keys_new(secrets);
    const VerpList list = {list_id, local, "example.com", '+'};
    g_autoptr(GString) address = g_string_new(NULL);
    g_assert_true(verp_make(keys, VERP_UNSUBSCRIBE, &list, member, clock_now(), address));
    verp_keys_free(keys);
    const char *detail = strchr(address->str, '+') + 1;
    return g_strndup(detail, strcspn(detail, "@"));
}

/* The token of a letter. */
static char *token_in(const char *text)
{
    const char *at = strstr(text, "    confirm ");
    g_assert_nonnull(at);
    return g_strndup(at + strlen("    confirm "), PENDING_TOKEN_CHARS);
}

/* ---- signed addresses ---- */

/* A post is answered by people's programs, also to its address for leaving: that unsubscribes nobody. */
static void test_automatic_replies(ListFrame *frame, gconstpointer data)
{
    static const char *const automatic[] = {
        "Auto-Submitted: auto-replied\r\n", "Auto-Submitted: auto-replied (vacation)\r\n",
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n"};
    g_autofree char *own = signed_detail(frame, LIST, "test-leave", ANNE);
    for (size_t at = 0; at < G_N_ELEMENTS(automatic); at++) {
        const Mail mail = {LIST, ANNE, TO_LEAVE, own, automatic[at], NULL};
        assert_no_letter(write_mail(frame, &mail));
        g_assert_true(is_member(frame, LIST, ANNE));
    }
    /* Nor does a signature for one list take anybody off another. */
    const Mail foreign = {OTHER, MALLORY, TO_LEAVE, own, NULL, NULL};
    g_autofree char *other = write_mail(frame, &foreign);
    g_assert_true(strstr(other, "<" MALLORY "> ") && !strstr(other, ANNE)); /* as to any mail to that address */
    g_assert_true(is_member(frame, LIST, ANNE) && is_member(frame, OTHER, ANNE));
    /* A person's program that leaves for them is no reply. */
    const Mail mail = {LIST, ANNE, TO_LEAVE, own, "Auto-Submitted: auto-generated\r\n", NULL};
    g_autofree char *left = write_mail(frame, &mail);
    g_assert_true(!is_member(frame, LIST, ANNE) && is_member(frame, OTHER, ANNE) && is_member(frame, LIST, BOB));
}

/* A letter of this site that somebody sends back asks for nothing, or two programs could write to each other for
 * ever. */
static void test_mail_of_ours(ListFrame *frame, gconstpointer data)
{
    const Mail first = {LIST, ANNE, TO_REQUEST, NULL, NULL, "help"};
    g_autofree char *answer = write_mail(frame, &first);
    const char *begin = strstr(answer, "Listrunner-Loop: "), *end = begin ? strstr(begin, "\r\nFrom: ") : NULL;
    g_assert_nonnull(end);
    g_autofree char *mark = g_strndup(begin, (size_t)(end - begin) + strlen("\r\n"));
    const Mail back = {LIST, BOB, TO_REQUEST, NULL, mark, "help"};
    assert_no_letter(write_mail(frame, &back));
    const Mail own = {LIST, BOB, TO_REQUEST, NULL, NULL, "help"};
    g_autofree char *answered = write_mail(frame, &own);
    g_assert_nonnull(strstr(answered, "<" BOB "> "));
}

/* ---- faults ---- */

/* An entry whose last step fails has changed nothing, also where its batch is committed for the sake of others. */
static void test_store_fails(ListFrame *frame, gconstpointer data)
{
    static const char *const tables[] = {"effect", "outbox", "member", "template"};
    g_autofree char *own = signed_detail(frame, LIST, "test-leave", ANNE);
    const Mail mail = {LIST, ANNE, TO_LEAVE, own, NULL, NULL};
    Entry *entry = list_frame_entry(frame, drafted(&mail));
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++) {
        entry = list_frame_fail_without(frame, entry, tables[at]);
        g_assert_true(is_member(frame, LIST, ANNE));
        g_assert_cmpuint(kept_rows(frame), ==, 0);
        assert_no_letter(letters(frame));
    }
    list_frame_run(frame, entry);
    g_autofree char *text = letters(frame);
    g_assert_cmpuint(count_of(text, "<" ANNE "> "), ==, 1);
    g_assert_true(!is_member(frame, LIST, ANNE) && is_member(frame, OTHER, ANNE));
}

static int refuse_commit(void *data)
{
    return 1;
}

/* A batch whose commit fails has changed nothing, and sends no letter about it. */
static void test_commit_fails(ListFrame *frame, gconstpointer data)
{
    g_autofree char *own = signed_detail(frame, LIST, "test-leave", ANNE);
    const Mail mail = {LIST, ANNE, TO_LEAVE, own, NULL, NULL};
    ListRunner *runner = runner_data(&runner_frame);
    sqlite3_commit_hook(*(sqlite3 **)store_connection(runner->store), refuse_commit, NULL);
    Outcome *outcome = list_frame_handle(frame, list_frame_entry(frame, drafted(&mail)));
    g_assert_nonnull(outcome->error);
    list_frame_commit(frame, outcome);
    assert_no_letter(letters(frame));
    g_assert_true(is_member(frame, LIST, ANNE));
    sqlite3_commit_hook(*(sqlite3 **)store_connection(runner->store), NULL, NULL);
    list_frame_run(frame, list_frame_claim(frame, "command"));
    g_autofree char *text = letters(frame);
    g_assert_cmpuint(count_of(text, "<" ANNE "> "), ==, 1);
    g_assert_true(!is_member(frame, LIST, ANNE) && is_member(frame, OTHER, ANNE));
}

/* Its rows are committed, its letters are not in their queue: they come when the entry does again, the same ones, both
 * to the process that saw it and to the next one. */
static void test_killed_before_the_hop(ListFrame *frame, gconstpointer data)
{
    const Mail mail = {LIST, MALLORY, TO_REQUEST, NULL, NULL, "join\r\nleave address=" BOB "\r\n"};
    const Mail next = {OTHER, ANNE, TO_REQUEST, NULL, NULL, "help\r\n"};
    Entry *entry = list_frame_entry(frame, drafted(&mail)), *other;
    for (int tries = 0; tries < 2; tries++) {
        Outcome *outcome = list_frame_handle(frame, entry);
        g_assert_no_error(outcome->error);
        g_assert_cmpuint(outcome->drafts->len, ==, 3); /* one to each, and the answer */
        outcome->error = g_error_new(G_FILE_ERROR, G_FILE_ERROR_NOSPC, "no space");
        other = list_frame_entry(frame, drafted(&next));
        list_frame_commit(frame, outcome);
        list_frame_run(frame, other);
        runner_frame.spec->idle(&runner_frame);
        g_autofree char *help = letters(frame);
        g_assert_cmpuint(count_of(help, "<" ANNE "> "), ==, 1);
        g_assert_null(strstr(help, "<" BOB "> "));
        g_assert_cmpuint(kept_rows(frame), ==, 3);
        entry = list_frame_claim(frame, "command");
    }
    list_frame_restart(frame);
    list_frame_run(frame, entry);
    g_autofree char *text = letters(frame), *token = token_in(text);
    g_assert_cmpuint(count_of(text, "<" MALLORY "> "), ==, 2);
    g_assert_cmpuint(count_of(text, "<" BOB "> "), ==, 1);
    runner_frame.spec->idle(&runner_frame);
    g_assert_cmpuint(kept_rows(frame), ==, 0);
    const Mail answer = {LIST, BOB, TO_CONFIRM, token, NULL, NULL};
    g_autofree char *done = write_mail(frame, &answer);
    /* Whosever token it was, he joined or Bob left. */
    g_assert_cmpint(is_member(frame, LIST, MALLORY), ==, is_member(frame, LIST, BOB));
}

/* ---- who is told ---- */

/* Return what Mallory is told, without the address that it is about. */
static char *told(ListFrame *frame, const char *command, const char *address)
{
    g_autofree char *text = g_strdup_printf("%s address=%s\r\n", command, address);
    const Mail mail = {LIST, MALLORY, TO_REQUEST, NULL, NULL, text};
    g_autofree char *all = write_mail(frame, &mail);
    g_autofree char *answer = letter_to(all, MALLORY);
    g_autoptr(GString) body = g_string_new(strstr(answer, "\r\n> "));
    g_assert_cmpuint(body->len, >, 0);
    g_string_replace(body, address, "ADDRESS", 0);
    return g_string_free(g_steal_pointer(&body), FALSE);
}

/* Check that a person who asks for somebody else does not learn whether that is a member, and does nothing to them. */
static void test_for_somebody_else(ListFrame *frame, gconstpointer data)
{
    g_autofree char *join = told(frame, "join", "zoe@example.org"), *again = told(frame, "join", BOB);
    g_autofree char *leave = told(frame, "leave", "zoe@example.org"), *left = told(frame, "leave", BOB);
    g_assert_cmpstr(join, ==, again);
    g_assert_cmpstr(leave, ==, left);
    g_assert_true(is_member(frame, LIST, BOB) && !is_member(frame, LIST, "zoe@example.org"));
}

/* A token that came to Bob, brought by Mallory to the list that it is not of, and then by Bob. */
static void test_foreign_token(ListFrame *frame, gconstpointer data)
{
    const Mail leave = {LIST, BOB, TO_LEAVE, NULL, NULL, NULL};
    g_autofree char *asked = write_mail(frame, &leave), *token = token_in(asked);
    const Mail wrong = {OTHER, MALLORY, TO_CONFIRM, token, NULL, NULL};
    g_autofree char *told = write_mail(frame, &wrong);
    g_assert_nonnull(strstr(told, "<" MALLORY "> "));
    g_assert_null(strstr(told, BOB));
    g_assert_true(is_member(frame, LIST, BOB) && is_member(frame, OTHER, BOB));
    /* Nor does a program that answers the letter confirm it. */
    const Mail robot = {LIST, BOB, TO_CONFIRM, token, "Auto-Submitted: auto-replied\r\n", NULL};
    assert_no_letter(write_mail(frame, &robot));
    g_assert_true(is_member(frame, LIST, BOB));
    const Mail right = {LIST, MALLORY, TO_CONFIRM, token, NULL, NULL};
    g_autofree char *done = write_mail(frame, &right);
    g_assert_true(!is_member(frame, LIST, BOB) && is_member(frame, OTHER, BOB));
    g_autofree char *answer = letter_to(done, MALLORY);
    g_assert_null(strstr(answer, BOB)); /* whose token it was is not told */
}

/* A moderator's answer is nothing besides: no second answer to it. */
static void test_moderator(ListFrame *frame, gconstpointer data)
{
    char token[PENDING_TOKEN_CHARS + 1];
    g_autoptr(GBytes) message = g_bytes_new_static("Subject: hello\r\n\r\nHi\r\n", 22);
    Held own = {.list_id = (char *)LIST,
                .sender = (char *)ANNE,
                .subject = (char *)"hello",
                .reason = (char *)"because",
                .meta = (char *)"{}",
                .held_at = clock_now(),
                .message = message};
    Held theirs = own;
    theirs.list_id = (char *)OTHER;
    g_assert_true(held_add(frame->store, &own, &frame->error) && held_add(frame->store, &theirs, &frame->error));
    const Ticket ticket = {.list_id = (char *)LIST,
                           .moderator = (char *)OLGA,
                           .first = own.number,
                           .last = theirs.number,
                           .expires_at = clock_now() + 3600 * CLOCK_SECOND};
    g_assert_true(pending_token_new(token, NULL) && ticket_put(frame->store, &ticket, token, &frame->error));
    const Mail wrong = {OTHER, OLGA, TO_CONFIRM, token, NULL, "discard all\r\n"};
    g_autofree char *unknown = write_mail(frame, &wrong);
    g_assert_cmpuint(list_frame_rows(frame, "held"), ==, 2);
    const Mail right = {LIST, OLGA, TO_CONFIRM, token, NULL, "discard all\r\n"};
    g_autofree char *done = write_mail(frame, &right);
    g_assert_cmpuint(count_of(done, "<" OLGA "> "), ==, 1);
    g_assert_cmpuint(list_frame_rows(frame, "held"), ==, 1);
    g_autoptr(Held) left = held_find(frame->store, theirs.number, &frame->error);
    g_assert_nonnull(left);
}

/* Nobody is flooded by who writes in their name: so many answers a day, and one that says so. */
static void test_answers_a_day(ListFrame *frame, gconstpointer data)
{
    g_autoptr(GString) all = g_string_new(NULL);
    const Mail help = {LIST, ANNE, TO_REQUEST, NULL, NULL, "help\r\n"};
    const Mail other = {OTHER, BOB, TO_REQUEST, NULL, NULL, "help\r\n"};
    for (int at = 0; at < ANSWERS_A_DAY + 5; at++) {
        g_autofree char *letter = write_mail(frame, &help);
        g_string_append(all, letter);
    }
    g_assert_cmpuint(count_of(all->str, "<" ANNE "> "), ==, ANSWERS_A_DAY + 1);
    g_autofree char *letter = write_mail(frame, &other);
    g_assert_cmpuint(count_of(letter, "<" BOB "> "), ==, 1);
}

#define HEADER_OF_HOST(host) "Received: from x (x [" host "]) by mx.example.com; Thu, 1 Jan 2026 00:00:00 +0000\r\n"

/* Forged mail in somebody's name, from wherever, keeps nobody from leaving or joining by mail. */
static void test_forged_mail_locks_nobody_out(ListFrame *frame, gconstpointer data)
{
    for (int at = 0; at < 3 * ANSWERS_A_DAY; at++) {
        g_autofree char *variant = g_strdup_printf("an.ne+%d@example.org", at);
        g_autofree char *carl = g_strdup_printf("carl+%d@example.org", at);
        g_autofree char *others = g_strdup_printf("join address=%s\r\n", carl);
        const char *header = at % 2 ? HEADER_OF_HOST("198.51.100.1") : HEADER_OF_HOST("2001:db8:bad::1");
        const Mail forged[] = {{LIST, ANNE, TO_REQUEST, NULL, header, "help\r\n"},
                               {LIST, variant, TO_JOIN, NULL, header, NULL},
                               {LIST, carl, TO_JOIN, NULL, header, NULL},
                               {LIST, "carl@example.org", TO_REQUEST, NULL, header, "help\r\n"},
                               {LIST, MALLORY, TO_REQUEST, NULL, header, others}};
        for (size_t which = 0; which < G_N_ELEMENTS(forged); which++)
            g_free(write_mail(frame, &forged[which]));
    }
    const char *header = HEADER_OF_HOST("192.0.2.1");
    const Mail leaves = {LIST, ANNE, TO_LEAVE, NULL, header, NULL};
    const Mail joins = {LIST, "carl@example.org", TO_JOIN, NULL, header, NULL};
    g_autofree char *left = write_mail(frame, &leaves), *joined = write_mail(frame, &joins);
    const char *const letters_of_them[] = {left, joined};
    for (int at = 0; at < 2; at++) {
        const char *token = strstr(letters_of_them[at], "    confirm ");
        g_assert_nonnull(token);
        g_autofree char *detail = g_strndup(token + strlen("    confirm "), PENDING_TOKEN_CHARS);
        const Mail answer = {LIST, at == 0 ? ANNE : "carl@example.org", TO_CONFIRM, detail, header, NULL};
        g_free(write_mail(frame, &answer));
    }
    g_assert_false(is_member(frame, LIST, ANNE));
    g_assert_true(is_member(frame, OTHER, ANNE));
    g_assert_true(is_member(frame, LIST, "carl@example.org"));
}

/* One mail asks for one other address, and the variants of a mailbox share one count. */
static void test_one_other_address(ListFrame *frame, gconstpointer data)
{
    g_autoptr(GString) all = g_string_new(NULL);
    const Mail many = {LIST, MALLORY, TO_REQUEST, NULL, NULL,
                       "join address=vic.tim+1@example.org\r\njoin address=victim+2@example.org\r\n"
                       "join address=victim+3@example.org\r\njoin\r\n"};
    g_autofree char *first = write_mail(frame, &many);
    g_assert_cmpuint(count_of(first, "<vic.tim+1@example.org> "), ==, 1);
    g_assert_cmpuint(count_of(first, "<victim+"), ==, 0);
    g_assert_cmpuint(count_of(first, "<" MALLORY "> "), ==, 2); /* the own request, and the answer */
    g_assert_cmpuint(count_of(first, "besides your own"), ==, 2);
    for (int at = 0; at < 3 * ANSWERS_A_DAY; at++) {
        g_autofree char *text = g_strdup_printf("join address=victim+x%d@example.org\r\n", at);
        const Mail mail = {at % 2 ? LIST : OTHER, MALLORY, TO_REQUEST, NULL, NULL, text};
        g_autofree char *letter = write_mail(frame, &mail);
        g_string_append(all, letter);
    }
    g_assert_cmpuint(count_of(all->str, "<victim+x"), ==, ANSWERS_A_DAY - 1);
    g_assert_cmpuint(list_frame_rows(frame, "pending"), ==, ANSWERS_A_DAY + 1);
}

/* The words of a mail go back only to the sender of its envelope. */
static void test_no_words_to_others(ListFrame *frame, gconstpointer data)
{
    const char *text = "echo buy-this\r\nbuy this\r\nset topics=buy-this\r\njoin address=buy-this\r\n";
    const Mail forged = {LIST, BOB, TO_REQUEST, NULL, NULL, text}, own = {LIST, ANNE, TO_REQUEST, NULL, NULL, text};
    const Mail alone = {LIST, BOB, TO_REQUEST, NULL, NULL, "echo buy-this\r\n"};
    envelope = MALLORY;
    g_autofree char *to_bob = write_mail(frame, &forged), *nothing = write_mail(frame, &alone);
    envelope = NULL;
    g_autofree char *to_anne = write_mail(frame, &own);
    g_assert_cmpstr(nothing, ==, "");
    g_assert_cmpuint(count_of(to_bob, "<" BOB "> "), ==, 1);
    g_assert_null(strstr(to_bob, "buy"));
    g_assert_nonnull(strstr(to_bob, "no commands were ignored"));
    g_assert_cmpuint(count_of(to_anne, "<" ANNE "> "), ==, 1);
    g_assert_cmpuint(count_of(to_anne, "buy-this"), >=, 4);
    g_assert_nonnull(strstr(to_anne, "> buy this"));
}

/* Each list shows the names that came with its own memberships, whatever the other one calls these people. */
static void test_names_of_members(ListFrame *frame, gconstpointer data)
{
    static const char carl[] = "carl@example.org", dora[] = "dora@example.org";
    const Mail own = {LIST, OLGA, TO_REQUEST, NULL, NULL, "who\r\n"};
    const Mail other = {OTHER, "paul@example.net", TO_REQUEST, NULL, NULL, "who\r\n"};
    g_assert_true(member_add(frame->store, OTHER, ROLE_MEMBER, mailbox_of(carl), "Carl Other", NULL, NULL));
    g_assert_true(member_add(frame->store, OTHER, ROLE_MEMBER, mailbox_of(dora), "Dora Other", NULL, NULL));
    g_assert_true(member_add(frame->store, LIST, ROLE_MEMBER, mailbox_of(carl), "Carl Own", NULL, NULL));
    g_assert_true(member_add(frame->store, LIST, ROLE_MEMBER, mailbox_of(dora), NULL, NULL, NULL));
    g_autofree char *shown = write_mail(frame, &own), *shown_there = write_mail(frame, &other);
    g_assert_nonnull(strstr(shown, "carl@example.org  Carl Own\r\n"));
    g_assert_nonnull(strstr(shown, "dora@example.org\r\n"));
    g_assert_null(strstr(shown, "Other"));
    g_assert_nonnull(strstr(shown_there, "carl@example.org  Carl Other\r\n"));
    g_assert_nonnull(strstr(shown_there, "dora@example.org  Dora Other\r\n"));
    g_assert_null(strstr(shown_there, "Own"));
}

#define FRAME_TEST(path, function) g_test_add(path, ListFrame, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
    list_frame_set_noon();
    g_test_init(&argc, &argv, NULL);
    FRAME_TEST("/command/mail/automatic replies unsubscribe nobody", test_automatic_replies);
    FRAME_TEST("/command/mail/mail of ours", test_mail_of_ours);
    FRAME_TEST("/command/mail/the store fails", test_store_fails);
    FRAME_TEST("/command/mail/the commit fails", test_commit_fails);
    FRAME_TEST("/command/mail/killed before the hop is committed", test_killed_before_the_hop);
    FRAME_TEST("/command/mail/asking for somebody else", test_for_somebody_else);
    FRAME_TEST("/command/mail/a foreign token", test_foreign_token);
    FRAME_TEST("/command/mail/a moderator's answer", test_moderator);
    FRAME_TEST("/command/mail/so many answers a day", test_answers_a_day);
    FRAME_TEST("/command/mail/forged mail locks nobody out", test_forged_mail_locks_nobody_out);
    FRAME_TEST("/command/mail/one other address a mail", test_one_other_address);
    FRAME_TEST("/command/mail/no words to others", test_no_words_to_others);
    FRAME_TEST("/command/mail/names of members", test_names_of_members);
    return g_test_run();
}
