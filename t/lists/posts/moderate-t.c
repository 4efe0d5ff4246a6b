/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/moderate.h"

#include "lists/letters/held_notice.h"
#include "lists/people/join.h"
#include "t/lists/fixture.h"
#include "t/suite.h"
#include "t/text.h"

#define OLGA "olga@example.net"

/* ---- reading ---- */

static void append_ranges(GString *text, const char *mark, const GArray *ranges)
{
    for (unsigned at = 0; at < ranges->len; at++) {
        const NumberRange *range = &g_array_index(ranges, NumberRange, at);
        g_string_append_printf(text, " %s%d", mark, (int)range->first);
        if (range->last != range->first)
            g_string_append_printf(text, "-%d", (int)range->last);
    }
}

/* Return what an answer decides: "accept 1 2;reject=off topic;". */
static char *read_all(const char *subject, const char *text)
{
    static const char *const verdicts[] = {"accept", "allow", "reject", "discard", "ban", "defer"};
    g_autofree char *mail = g_strdup_printf("Subject: %s\r\n\r\n%s", subject, text);
    g_autoptr(GBytes) octets = octets_of(mail);
    g_autoptr(GPtrArray) decisions = moderate_read(octets);
    GString *all = g_string_new(NULL);
    for (unsigned at = 0; at < decisions->len; at++) {
        const Decision *decision = decisions->pdata[at];
        g_string_append(all, verdicts[decision->verdict]);
        append_ranges(all, "", decision->numbers);
        append_ranges(all, "r", decision->requests);
        g_string_append(all, decision->all ? " all" : "");
        g_string_append_printf(all, "%s%s", decision->mistake ? " !" : "", decision->mistake ? decision->mistake : "");
        g_string_append_printf(all, "%s%s;", decision->reason ? "=" : "", decision->reason ? decision->reason : "");
    }
    return g_string_free(all, FALSE);
}

static void test_read(void)
{
    assert_text(read_all("Re: held", "Accept.\r\n\r\n> reject\r\n"), "accept;");
    assert_text(read_all("AW: held", "approve 12, 13\r\n"), "accept 12 13;");
    assert_text(read_all("Re: discard", ""), "discard;");
    assert_text(read_all("x", "reject: off topic\r\nread the rules\r\n-- \r\nOlga\r\n"),
                "reject=off topic\nread the rules;");
    assert_text(read_all("x", "reject 12 too long\r\n\r\nallow 13\r\nban all\r\n"),
                "reject 12=too long\n;allow 13;ban all;");
    assert_text(read_all("x", "accept r4, 5 R6\r\nreject r7 why\r\naccept r\r\n"),
                "accept 5 r4 r6;reject r7=why\naccept r;");
    assert_text(read_all("x", "reject 12-13\r\naccept r4-r6, 9..11\r\n"), "reject 12-13;accept 9-11 r4-6;");
    assert_text(read_all("x", "reject 13-12\r\n"), "reject !13-12;"); /* neither numbers nor a reason */
    assert_text(read_all("x", "reject 12, 15-12 too long\r\nsorry\r\n"), "reject 12 !15-12;");
    assert_text(read_all("x", "reject 11\r\ndiscard 12, r5-r4\r\n"), "reject 11;discard 12 !r5-r4;");
    assert_text(read_all("x", "reject 12: 2024-05 is over\r\n"), "reject 12=2024-05 is over;");
    assert_text(read_all("x", "reject 12 2nd time\r\n"), "reject 12=2nd time;");
    assert_text(read_all("x", "REJECT\r\n"), "reject;");
    assert_text(read_all("x", "Accept my apologies\r\nallowance\r\n  - accept   it goes to the list\r\n"), "");
    /* Marks that programs and people put around it. */
    static const char *const marked[] = {
        "accept\302\240",
        "\302\240accept",
        "accept\342\200\213",
        "\357\273\277accept",
        "\342\200\216accept\342\200\217",
        "*accept*",
        "**Accept**",
        "_accept_",
        "<accept>",
        "\"accept\"",
        "\342\200\234accept\342\200\235.",
        "`accept`",
        "- accept",
        "* accept",
        "\342\200\242 *accept*",
        "accept please",
        "Accept, please.",
        "*accept*, thank you!",
        "(accept)",
        "accept .",
    };
    for (size_t at = 0; at < G_N_ELEMENTS(marked); at++) {
        g_test_message("%s", marked[at]);
        assert_text(read_all("x", marked[at]), "accept;");
    }
    assert_text(read_all("Re: *accept*", ""), "accept;");
    assert_text(read_all("x", "*accept* 12, *13*\r\n<discard 14>\r\n- ban r5 please\r\n"),
                "accept 12 13;discard 14;ban r5;");
    assert_text(read_all("x", "reject\302\240"
                              "12\302\240too long\r\n"),
                "reject 12=too long;");
    assert_text(read_all("x", "reject please\r\n"), "reject;");
    assert_text(read_all("x", "reject 12: *much* <too> long, please\r\n"), "reject 12=*much* <too> long, please;");
    static const char *const prose[] = {
        "*accept* it goes to the list",
        "- reject   sends it back",
        "accept?",
        "please",
        "- accept\342\200\213ance",
        "<accept> or <reject>",
        "do not *accept*",
        "\"accept",
        "accept please not",
        "*",
        "- ",
        "**",
        "thanks",
        "- please",
    };
    for (size_t at = 0; at < G_N_ELEMENTS(prose); at++) {
        g_test_message("%s", prose[at]);
        assert_text(read_all("x", prose[at]), "");
    }
    assert_text(read_all("x", "accept 99999999999999999999\r\n"), "accept !99999999999999999999;");
}

/* ---- deciding ---- */

static int64_t hold(World *world, const char *sender)
{
    GError *error = NULL;
    g_autofree char *text = g_strdup_printf("From: %s\r\nSubject: hello\r\n\r\nHi\r\n", sender);
    g_autoptr(GBytes) message = octets_of(text);
    Held held = {.list_id = (char *)LIST, .sender = (char *)sender, .subject = (char *)"hello",
                 .reason = (char *)"because", .meta = (char *)"{}", .held_at = clock_now(), .message = message};
    assert_ok(held_add(world->store, &held, &error), error);
    return held.number;
}

/* The token in the address that letters are answered to. */
static char *token_in(const char *letters)
{
    const char *at = strstr(letters, "Reply-To: test-confirm+");
    g_assert_nonnull(at);
    return g_strndup(at + strlen("Reply-To: test-confirm+"), PENDING_TOKEN_CHARS);
}

static char *tell(World *world, int64_t number)
{
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    g_autoptr(Held) held = held_find(world->store, number, &error);
    assert_ok(held_tell_moderators(work, world->list, held, &error), error);
    return world_letters(world, work);
}

static char *answer(World *world, const char *token, const char *text, bool *known)
{
    GError *error = NULL;
    g_autofree char *mail = g_strdup_printf("From: x@example.org\r\nMessage-ID: <1@x>\r\n\r\n%s", text);
    g_autoptr(GBytes) octets = octets_of(mail);
    g_autoptr(Work) work = world_work(world);
    assert_ok(moderate_reply(work, world->list, token, octets, known, &error), error);
    g_assert_cmpstr(work_by(work), ==, *known ? OLGA : "-"); /* the runner writes it into its log afterwards */
    return world_letters(world, work);
}

static bool is_held(World *world, int64_t number)
{
    g_autoptr(Held) held = held_find(world->store, number, NULL);
    return held != NULL;
}

/* The Message-ID of each letter, which must be a new one, in seen. */
static void add_ids(GHashTable *seen, const char *letters)
{
    for (const char *at = letters; (at = strstr(at, "\nMessage-ID: <")); at++)
        g_assert_true(g_hash_table_add(seen, g_strndup(at, strcspn(at + 1, "\r\n") + 1)));
}

/* The number of a post tells nobody the Message-ID of a letter about it: the same letter once more has another. */
static void test_ids(World *world, const void *data)
{
    GError *error = NULL;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    int64_t number = hold(world, "sue@example.org");
    assert_ok(member_add(world->store, LIST, ROLE_MODERATOR, mailbox_of("mark@example.net"), NULL, NULL, &error),
              error);
    for (int times = 0; times < 2; times++) {
        g_autoptr(Work) work = world_work(world);
        g_autoptr(Held) held = held_find(world->store, number, &error);
        assert_ok(held_tell_poster(work, world->list, held, "sue@example.org", &error), error);
        held->told = HELD_TOLD_ALONE;
        assert_ok(held_tell_moderators(work, world->list, held, &error), error);
        g_autofree char *letters = world_letters(world, work);
        add_ids(seen, letters);
    }
    g_assert_cmpuint(g_hash_table_size(seen), ==, 6);
}

static void test_accept_once(World *world, const void *data)
{
    bool known;
    int64_t number = hold(world, "sue@example.org");
    g_autofree char *letters = tell(world, number), *token = token_in(letters);
    g_assert_nonnull(strstr(letters, "To: " OLGA));
    g_assert_nonnull(strstr(letters, "Subject: hello"));
    g_autofree char *nothing = answer(world, token, "I do not know\r\n", &known);
    g_assert_true(known && is_held(world, number));
    g_assert_nonnull(strstr(nothing, "no decision"));
    g_autofree char *done = answer(world, token, "accept\r\n", &known);
    g_assert_true(known && !is_held(world, number));
    g_assert_true(g_str_has_prefix(done, "pipeline "));
    g_assert_nonnull(strstr(done, "virgin <" OLGA ">"));
    g_autofree char *again = answer(world, token, "discard\r\n", &known);
    g_assert_null(strstr(again, "pipeline "));
    g_assert_nonnull(strstr(again, "decided"));
    g_autofree char *unknown = answer(world, "aaaaaaaaaaaaaaaaaaaaaaaaaa", "accept\r\n", &known);
    g_assert_false(known);
    g_assert_cmpstr(unknown, ==, "");
}

static void test_allow_and_reject(World *world, const void *data)
{
    bool known;
    int64_t number = hold(world, "sue@example.org");
    g_autofree char *letters = tell(world, number), *token = token_in(letters);
    g_autofree char *done = answer(world, token, "allow\r\n", &known);
    g_autoptr(Member) sue = member_find(world->store, LIST, ROLE_NONMEMBER, mailbox_of("sue@example.org"), NULL);
    g_assert_nonnull(sue);
    g_assert_cmpint(sue->moderation_action, ==, ACTION_DEFER);
    world->site.held_notice_interval = 0;
    number = hold(world, "sue@example.org");
    g_autofree char *more = tell(world, number), *other = token_in(more);
    g_autofree char *rejected = answer(world, other, "reject Not here\r\nplease\r\n", &known);
    g_assert_nonnull(strstr(rejected, "virgin <sue@example.org>"));
    g_assert_nonnull(strstr(rejected, "    Not here\r\n    please\r\n"));
    g_assert_false(is_held(world, number));
}

/* Check that a person who moderates no more decides no more. */
static void test_former_moderator(World *world, const void *data)
{
    bool known;
    GError *error = NULL;
    int64_t number = hold(world, "sue@example.org");
    g_autofree char *letters = tell(world, number), *token = token_in(letters);
    assert_ok(member_remove(world->store, LIST, ROLE_OWNER, mailbox_of(OLGA), &error), error);
    g_autofree char *done = answer(world, token, "accept\r\n", &known);
    g_assert_true(known && is_held(world, number));
}

static void test_gathered(World *world, const void *data)
{
    bool known;
    GError *error = NULL;
    int64_t posts;
    world->site.held_notice_interval = 300 * CLOCK_SECOND;
    world->site.gathers = true;
    int64_t first = hold(world, "sue@example.org");
    g_autofree char *letters = tell(world, first);
    g_assert_nonnull(strstr(letters, "requires approval"));
    int64_t second = hold(world, "bob@example.org"), third = hold(world, "eve@example.org");
    g_autofree char *none = tell(world, second), *neither = tell(world, third);
    g_assert_cmpstr(none, ==, "");
    g_assert_cmpstr(neither, ==, "");
    g_autoptr(Work) early = world_work(world);
    assert_ok(held_tell_gathered(early, world->list, &posts, &error), error);
    g_assert_cmpint(posts, ==, 0);
    world->site.held_notice_interval = 0;
    g_autoptr(Work) work = world_work(world);
    assert_ok(held_tell_gathered(work, world->list, &posts, &error), error);
    g_assert_cmpint(posts, ==, 2);
    g_autofree char *both = world_letters(world, work), *token = token_in(both);
    g_assert_nonnull(strstr(both, "2 posts require approval"));
    g_assert_nonnull(strstr(both, "\"hello\"")); /* a subject such as "accept all" is no line by itself */
    g_assert_null(strstr(both, "\n        hello"));
    g_autofree char *which = answer(world, token, "accept\r\n", &known);
    g_assert_nonnull(strstr(which, "numbers"));
    /* The first post is of another letter. */
    g_autofree char *text = g_strdup_printf("discard %d %d\r\n", (int)first, (int)second);
    g_autofree char *some = answer(world, token, text, &known);
    g_assert_true(is_held(world, first) && !is_held(world, second) && is_held(world, third));
    g_autofree char *all = answer(world, token, "discard all\r\n", &known);
    g_assert_true(is_held(world, first) && !is_held(world, third));
}

static void test_reminder(World *world, const void *data)
{
    GError *error = NULL;
    int64_t waiting;
    g_autoptr(Work) idle = world_work(world);
    assert_ok(held_remind(idle, world->list, &waiting, &error), error);
    g_assert_cmpint(waiting, ==, 0);
    g_assert_cmpint(work_entries(idle), ==, 0);
    hold(world, "sue@example.org");
    g_autoptr(Work) work = world_work(world);
    assert_ok(held_remind(work, world->list, &waiting, &error), error);
    g_assert_cmpint(waiting, ==, 1);
    g_autofree char *letters = world_letters(world, work);
    g_assert_nonnull(strstr(letters, "1 posts, 0 requests"));
    g_assert_nonnull(strstr(letters, "sue@example.org"));
    g_autofree char *token = token_in(letters);
}

/* ---- requests ---- */

/* A request of an address that waits for a moderator; its number, and the letters about it. */
static int64_t ask(World *world, const char *address, char **letters)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    Pending like = {.kind = PENDING_JOIN, .list_id = (char *)LIST, .address = mailbox_of(address)}, *found;
    g_autoptr(Work) work = world_work(world);
    world_set(world, "subscription_policy", "moderate");
    assert_ok(
        join_ask(work, world->list, &(Joiner){.address = mailbox_of(address), .facts = FACT_VERIFIED}, &made, &error),
        error);
    g_assert_cmpint(made.result, ==, SUBSCRIPTION_ASKED_MODERATOR);
    *letters = world_letters(world, work);
    assert_ok(pending_find_like(world->store, &like, clock_now(), &found, &error), error);
    g_autoptr(Pending) request = found;
    return request->number;
}

static void test_requests(World *world, const void *data)
{
    static const struct {
        const char *answer, *told, *written_to;
        bool waits, joins;
    } cases[] = {
        {"accept\r\n", "was accepted", NULL, false, true},
        {"Accept #", "was accepted", NULL, false, true}, /* the r may be left out */
        {"reject not you\r\nnor today", "was rejected", "    not you\r\n", false, false},
        {"discard r#\r\n", "was dropped", NULL, false, false},
        {"ban\r\n", "was banned", NULL, false, false},
        {"defer\r\n", "waits on", NULL, true, false},
        {"allow\r\n", "is for posts", NULL, true, false},
        {"accept 999\r\n", "does not wait for you", NULL, true, false},
        {"whatever\r\n", "no decision", NULL, true, false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        bool known;
        g_autofree char *letters = NULL, *address = g_strdup_printf("p%zu@example.org", at);
        int64_t number = ask(world, address, &letters);
        g_autofree char *token = token_in(letters), *own = g_strdup_printf("%d", (int)number);
        g_autoptr(GString) text = g_string_new(cases[at].answer);
        g_assert_nonnull(strstr(letters, "To: " OLGA));
        g_string_replace(text, "#", own, 1);
        g_autofree char *done = answer(world, token, text->str, &known);
        g_assert_true(known);
        g_assert_nonnull(strstr(done, cases[at].told));
        g_assert_cmpint(world_waits(world, number), ==, cases[at].waits);
        g_assert_cmpint(world_is_member(world, address), ==, cases[at].joins);
        g_autofree char *to = g_strdup_printf("virgin <%s>", address);
        if (cases[at].written_to)
            g_assert_nonnull(strstr(strstr(done, to), cases[at].written_to));
        else
            g_assert_true(cases[at].joins || !strstr(done, to));
        if (cases[at].waits)
            continue;
        g_autofree char *again = answer(world, token, "accept\r\n", &known);
        g_assert_nonnull(strstr(again, "does not wait for you"));
        g_assert_cmpint(world_is_member(world, address), ==, cases[at].joins);
    }
}

/* Of a range, only what waits is decided about; one in which nothing waits is named in the answer. */
static void test_range(World *world, const void *data)
{
    bool known;
    GError *error = NULL;
    int64_t first = hold(world, "a@example.org"), waiting;
    hold(world, "b@example.org");
    int64_t third = hold(world, "c@example.org"), last = hold(world, "d@example.org");
    g_autoptr(Work) work = world_work(world);
    assert_ok(held_remind(work, world->list, &waiting, &error), error);
    g_autofree char *letters = world_letters(world, work), *token = token_in(letters);
    assert_ok(held_remove(world->store, first + 1, &error), error);
    g_autofree char *text = g_strdup_printf("discard %d-%d\r\n", (int)first, (int)third);
    g_autofree char *done = answer(world, token, text, &known);
    g_assert_false(is_held(world, first) || is_held(world, third));
    g_assert_true(is_held(world, last));
    g_assert_null(strstr(done, "does not wait for you"));
    g_autofree char *none = answer(world, token, text, &known);
    g_autofree char *gone = g_strdup_printf("\n    %d-%d does not wait for you", (int)first, (int)third);
    g_assert_nonnull(strstr(none, gone));
    g_autofree char *mixed_text = g_strdup_printf("defer %d, %d-%d, r1-r3\r\n", (int)last, (int)first, (int)third);
    g_autofree char *mixed = answer(world, token, mixed_text, &known);
    g_assert_nonnull(strstr(mixed, gone));
    g_assert_nonnull(strstr(mixed, "\n    r1-r3 does not wait for you"));
    /* A range that goes back is named, and stops the line: it may be another post that was meant. */
    g_autofree char *back_text = g_strdup_printf("reject %d, 9-1\r\nplease\r\n", (int)last);
    g_autofree char *back = answer(world, token, back_text, &known);
    g_assert_nonnull(strstr(back, "\n    9-1 is neither a number nor a range"));
    g_assert_true(is_held(world, last));
    g_autofree char *rest = answer(world, token, "discard 1-99999999999\r\n", &known);
    g_assert_false(is_held(world, last));
    g_autofree char *nothing = answer(world, token, "discard all\r\n", &known);
    g_assert_nonnull(strstr(nothing, "\n    all does not wait for you"));
}

/* Programs outside that heard of the held post hear that its sender sent it to the list. */
static void test_confirmed_by_sender(World *world, const void *data)
{
    GError *error = NULL;
    char token[PENDING_TOKEN_CHARS + 1];
    g_autofree char *list_id = NULL;
    int64_t number = hold(world, "sue@example.org");
    world->site.tells = true;
    g_autoptr(Work) work = world_work(world);
    assert_ok(pending_token_new(token, &error), error);
    assert_ok(held_ask(world->store, number, token, work_now(work) + CLOCK_SECOND, &error), error);
    assert_ok(held_post_confirm(work, world->list, token, &list_id, &error), error);
    g_assert_cmpstr(list_id, ==, LIST);
    g_autofree char *all = world_letters(world, work);
    g_assert_nonnull(strstr(all, "post.decided"));
    g_assert_nonnull(strstr(all, "\"verdict\":\"accept\""));
    g_assert_false(is_held(world, number));
}

/* In the reminder posts and requests have numbers of their own. */
static void test_posts_and_requests(World *world, const void *data)
{
    bool known;
    GError *error = NULL;
    int64_t waiting, post = hold(world, "sue@example.org");
    g_autofree char *first = NULL, *second = NULL;
    int64_t one = ask(world, "one@example.org", &first), two = ask(world, "two@example.org", &second);
    g_autoptr(Work) work = world_work(world);
    assert_ok(held_remind(work, world->list, &waiting, &error), error);
    g_assert_cmpint(waiting, ==, 3);
    g_autofree char *letters = world_letters(world, work), *token = token_in(letters);
    g_autofree char *named = g_strdup_printf("    r%d  join  two@example.org", (int)two);
    g_assert_nonnull(strstr(letters, named));
    g_autofree char *which = answer(world, token, "accept\r\n", &known);
    g_assert_nonnull(strstr(which, "numbers"));
    g_autofree char *text = g_strdup_printf("accept R%d\r\ndiscard %d\r\n", (int)two, (int)post);
    g_autofree char *done = answer(world, token, text, &known);
    g_assert_true(world_is_member(world, "two@example.org") && !is_held(world, post) && world_waits(world, one));
    g_autofree char *all = answer(world, token, "discard all\r\n", &known);
    g_assert_false(world_waits(world, one));
    g_autofree char *none = answer(world, token, "discard all\r\n", &known);
    g_assert_nonnull(strstr(none, "does not wait for you"));
}

static void test_expiry(World *world, const void *data)
{
    GError *error = NULL;
    int64_t discarded, number = hold(world, "sue@example.org");
    world_set(world, "max_days_to_hold", "0");
    g_autoptr(Work) never = world_work(world);
    assert_ok(held_post_expire(never, world->list, &discarded, &error), error);
    g_assert_cmpint(discarded, ==, 0);
    world_set(world, "max_days_to_hold", "3");
    g_autoptr(Work) early = world_work(world);
    assert_ok(held_post_expire(early, world->list, &discarded, &error), error);
    g_assert_true(is_held(world, number));
    g_autoptr(GBytes) message = g_bytes_new_static("x", 1);
    Held old = {.list_id = (char *)LIST, .meta = (char *)"{}", .held_at = clock_now() - 4 * 86400 * CLOCK_SECOND,
                .message = message};
    assert_ok(held_add(world->store, &old, &error), error);
    char token[PENDING_TOKEN_CHARS + 1];
    int64_t asked = hold(world, "ulf@example.org");
    assert_ok(pending_token_new(token, &error), error);
    assert_ok(held_ask(world->store, asked, token, clock_now() - CLOCK_SECOND, &error), error);
    world->site.tells = true;
    g_autoptr(Work) work = world_work(world);
    assert_ok(held_post_expire(work, world->list, &discarded, &error), error);
    g_assert_cmpint(discarded, ==, 2);
    g_assert_true(is_held(world, number) && !is_held(world, old.number) && !is_held(world, asked));
    /* Programs outside that heard of the posts hear of their end. */
    g_autofree char *events = world_letters(world, work);
    g_assert_cmpuint(world_count(events, "\"type\":\"post.decided\""), ==, 2);
    g_assert_cmpuint(world_count(events, "\"verdict\":\"discard\",\"by\":\"task\""), ==, 2);
    g_assert_cmpuint(world_count(events, "\"sender\":\"ulf@example.org\",\"subject\":\"hello\""), ==, 1);
}

SUITE("moderate")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/moderate/read", test_read);
    WORLD_TEST("/moderate/ids", test_ids);
    WORLD_TEST("/moderate/accept-once", test_accept_once);
    WORLD_TEST("/moderate/allow-and-reject", test_allow_and_reject);
    WORLD_TEST("/moderate/former-moderator", test_former_moderator);
    WORLD_TEST("/moderate/gathered", test_gathered);
    WORLD_TEST("/moderate/reminder", test_reminder);
    WORLD_TEST("/moderate/requests", test_requests);
    WORLD_TEST("/moderate/range", test_range);
    WORLD_TEST("/moderate/confirmed by sender", test_confirmed_by_sender);
    WORLD_TEST("/moderate/posts and requests", test_posts_and_requests);
    WORLD_TEST("/moderate/expiry", test_expiry);
    return g_test_run();
}
