/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/moderate.h"

#include <string.h>

#include "base/fail.h"
#include "lists/letters/letter.h"
#include "lists/people/request.h"
#include "mail/address.h"
#include "mail/fold.h"
#include "mail/text/reply.h"

#define LINE_CHARS 200  /* of a line that is repeated in the answer */

static const struct {
    const char *word;
    HeldVerdict verdict;
    RequestVerdict request;
    const char *done, *request_done; /* keys of the sentences that tell it */
} words[] = {
    {"accept", HELD_ACCEPT, REQUEST_ACCEPT, "moderated_accept", "request_accept"},
    {"approve", HELD_ACCEPT, REQUEST_ACCEPT, "moderated_accept", "request_accept"},
    {"allow", HELD_ALLOW, REQUEST_ACCEPT, "moderated_allow", "request_allow"},
    {"reject", HELD_REJECT, REQUEST_REJECT, "moderated_reject", "request_reject"},
    {"discard", HELD_DISCARD, REQUEST_DISCARD, "moderated_discard", "request_discard"},
    {"ban", HELD_BAN, REQUEST_BAN, "moderated_ban", "request_ban"},
    {"defer", HELD_DEFER, REQUEST_DEFER, "moderated_defer", "request_defer"},
};

/* The first word of a verdict. */
static size_t word_of(HeldVerdict verdict)
{
    size_t at = 0;
    while (words[at].verdict != verdict)
        at++;
    return at;
}

/* ---- reading ---- */

static void decision_free(void *data)
{
    Decision *decision = data;
    g_array_unref(decision->numbers);
    g_array_unref(decision->requests);
    g_free(decision->reason);
    g_free(decision->mistake);
    g_free(decision->line);
    g_free(decision);
}

/* Takes "12-15, r4" or "all" from the start of rest, and notes as a mistake what begins as a number there and can be
 * none: "15-12". */
static const char *take_numbers(Decision *decision, const char *rest)
{
    for (;;) {
        NumberRange range;
        rest += strspn(rest, " \t,#");
        bool request = (*rest == 'r' || *rest == 'R') && g_ascii_isdigit(rest[1]);
        size_t length = number_range_read(rest, request ? 'r' : '\0', &range);
        if (length > 0 && (!rest[length] || strchr(" \t,;:.!-", rest[length]))) {
            g_array_append_val(request ? decision->requests : decision->numbers, range);
            rest += length;
        } else if (g_ascii_strncasecmp(rest, "all", 3) == 0 && (!rest[3] || strchr(" \t,;:.!", rest[3]))) {
            decision->all = true;
            rest += 3;
        } else if (length == 0 && (request || g_ascii_isdigit(*rest))) {
            size_t wrong = strspn(rest, "0123456789-.rR");
            decision->mistake = g_strndup(rest, MIN(wrong, LINE_CHARS));
            return rest + wrong;
        } else {
            return rest;
        }
    }
}

/* NULL: the line is no decision. */
static Decision *read_exactly(const char *line)
{
    size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    for (size_t at = 0; at < G_N_ELEMENTS(words); at++) {
        if (strlen(words[at].word) != length || g_ascii_strncasecmp(line, words[at].word, length) != 0)
            continue;
        Decision *decision = g_new0(Decision, 1);
        decision->verdict = words[at].verdict;
        decision->numbers = g_array_new(FALSE, FALSE, sizeof(NumberRange));
        decision->requests = g_array_new(FALSE, FALSE, sizeof(NumberRange));
        const char *rest = take_numbers(decision, line + length);
        rest += strspn(rest, " \t.,;:!-");
        bool numbered = decision->numbers->len + decision->requests->len > 0 || decision->all;
        bool wrong = !numbered && g_ascii_isdigit(*rest); /* "15x": numbers are no reason */
        bool may_go_on = decision->verdict == HELD_REJECT && !wrong;
        if (may_go_on && *rest && !decision->mistake)
            decision->reason = g_strdup(rest);
        if (*rest && !may_go_on) {
            decision_free(decision);
            return NULL;
        }
        decision->line = g_utf8_substring(line, 0, MIN(g_utf8_strlen(line, -1), LINE_CHARS));
        return decision;
    }
    return NULL;
}

/* Read a line, with marks around it or without. A reason stays as it was written, and counts only behind a verdict
 * without marks: "- reject  sends it back" is a line of somebody's list. */
static Decision *read_line(const char *line)
{
    Decision *exact = read_exactly(line);
    if (exact && !exact->reason)
        return exact;
    g_autofree char *bare_line = reply_command(line);
    Decision *bare = read_exactly(bare_line);
    if (bare && bare->reason)
        g_clear_pointer(&bare, decision_free);
    if (bare && exact) /* "reject please" */
        decision_free(exact);
    return bare ? bare : exact;
}

GPtrArray *moderate_read(GBytes *message)
{
    GPtrArray *decisions = g_ptr_array_new_with_free_func(decision_free);
    g_autoptr(Message) parsed = message_new(message);
    g_autofree char *subject = reply_subject(parsed);
    Decision *first = read_line(subject), *rejecting = NULL;
    if (first)
        g_ptr_array_add(decisions, first);
    GString *text = reply_text(message);
    g_autoptr(GPtrArray) lines = reply_own_lines(text ? text->str : "");
    for (unsigned at = 0; at < lines->len && decisions->len < DECISIONS_MAX; at++) {
        const char *line = lines->pdata[at];
        Decision *decision = read_line(line);
        if (decision) {
            g_ptr_array_add(decisions, decision);
            rejecting = decision->verdict == HELD_REJECT && !decision->mistake ? decision : NULL;
        } else if (rejecting) { /* what follows is its reason, as far as there is room */
            const char *before = rejecting->reason ? rejecting->reason : "";
            if (strlen(before) + strlen(line) >= MODERATE_REASON_MAX || (!*before && !*line))
                continue;
            char *longer = g_strconcat(before, *before ? "\n" : "", line, NULL);
            g_free(rejecting->reason);
            rejecting->reason = longer;
        }
    }
    if (text)
        g_string_free(text, TRUE);
    return decisions;
}

/* ---- deciding ---- */

typedef struct ModeratorSession {
    Work *work;
    const List *list;
    const Ticket *ticket;
    char *language;
    GString *answers;
} ModeratorSession;

static void say(ModeratorSession *session, const char *key, const TemplateValue *values)
{
    g_autofree char *sentence = letter_sentence(session->work, session->list, session->language, key, values);
    fold_append(session->answers, "    ", sentence);
}

/* Tells that nothing waits under these numbers; mark stands before each of them. */
static void say_gone(ModeratorSession *session, const char *mark, NumberRange range)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%s%" G_GINT64_FORMAT, mark, range.first);
    if (range.last != range.first)
        g_string_append_printf(text, "-%s%" G_GINT64_FORMAT, mark, range.last);
    say(session, "moderated_gone", (const TemplateValue[]){{"number", text->str}, {0}});
}

bool moderate_post(Work *work, const Ticket *ticket, int64_t number, Held **held, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    bool own = number >= ticket->first && number <= ticket->last;
    *held = own ? held_find(work_store(work), number, &refusal) : NULL;
    if (refusal && !g_error_matches(refusal, FAIL, FAIL_MISSING))
        return fail_with(error, &refusal);
    if (*held && (strcmp((*held)->list_id, ticket->list_id) != 0 || (*held)->asked_until != 0))
        g_clear_pointer(held, held_free);
    return true;
}

static bool find_request(Work *work, const Ticket *ticket, int64_t number, Pending **request, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    bool own = number >= ticket->first_request && number <= ticket->last_request;
    *request = own ? pending_find(work_store(work), number, work_now(work), &refusal) : NULL;
    if (refusal && !g_error_matches(refusal, FAIL, FAIL_MISSING))
        return fail_with(error, &refusal);
    if (*request && ((*request)->waits_for != PENDING_MODERATOR || strcmp((*request)->list_id, ticket->list_id) != 0))
        g_clear_pointer(request, pending_free);
    return true;
}

static bool decide_post(ModeratorSession *session, const Decision *decision, int64_t number, GError **error)
{
    bool told;
    g_autoptr(Held) held = NULL;
    if (!moderate_post(session->work, session->ticket, number, &held, error))
        return false;
    if (!held) {
        say_gone(session, "", (NumberRange){number, number});
        return true;
    }
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, number);
    g_autofree char *subject = template_brief(held->subject ? held->subject : ""),
                    *sender = template_brief(held->sender ? held->sender : "");
    const TemplateValue values[] = {{"number", text}, {"subject", subject}, {"sender", sender}, {0}};
    if (!held_post_decide(session->work, number, decision->verdict, decision->reason, &told, error))
        return false;
    say(session, words[word_of(decision->verdict)].done, values);
    return true;
}

static bool decide_request(ModeratorSession *session, const Decision *decision, int64_t number, GError **error)
{
    g_auto(Subscription) made = {0};
    g_autoptr(Pending) request = NULL;
    size_t word = word_of(decision->verdict);
    if (!find_request(session->work, session->ticket, number, &request, error))
        return false;
    if (!request) {
        say_gone(session, "r", (NumberRange){number, number});
        return true;
    }
    const TemplateValue values[] = {{"address", request->address->text}, {0}};
    if (decision->verdict != HELD_ALLOW &&
        !request_decide(session->work, number, words[word].request, decision->reason, &made, error))
        return false;
    say(session, words[word].request_done, values);
    return true;
}

static bool note_number(const Held *held, void *data)
{
    if (held->asked_until == 0) /* else it waits for its sender, and the letter did not name it */
        g_array_append_val((GArray *)data, held->number);
    return true;
}

typedef struct RequestRange {
    NumberRange range;
    GArray *numbers;
} RequestRange;

static bool note_request(const Pending *request, void *data)
{
    const RequestRange *wanted = data;
    if (request->waits_for == PENDING_MODERATOR && request->number >= wanted->range.first &&
        request->number <= wanted->range.last)
        g_array_append_val(wanted->numbers, request->number);
    return true;
}

/* Adds to numbers the posts, or the requests, of the letter that wait and that the range has. A single number is added
 * as it is, so that the moderator is told if nothing waits under it. */
static bool find_range(ModeratorSession *session, bool requests, const NumberRange *range, GArray *numbers,
                       GError **error)
{
    Store *store = work_store(session->work);
    const Ticket *ticket = session->ticket;
    NumberRange own = {MAX(range->first, requests ? ticket->first_request : ticket->first),
                       MIN(range->last, requests ? ticket->last_request : ticket->last)};
    const HeldFilter filter = {.list_id = ticket->list_id, .first = own.first, .last = own.last};
    RequestRange wanted = {own, numbers};
    if (range->first == range->last)
        g_array_append_val(numbers, range->first);
    else if (own.first > own.last || own.last == 0)
        return true;
    else
        return requests ? pending_each(store, ticket->list_id, work_now(session->work), note_request, &wanted, error)
                        : held_select(store, &filter, note_number, numbers, error);
    return true;
}

/* The same for several; the answer names those in which nothing waits. */
static bool find_ranges(ModeratorSession *session, bool requests, const GArray *ranges, GArray *numbers, GError **error)
{
    for (unsigned at = 0; at < ranges->len; at++) {
        const NumberRange *range = &g_array_index(ranges, NumberRange, at);
        unsigned before = numbers->len;
        if (!find_range(session, requests, range, numbers, error))
            return false;
        if (numbers->len == before)
            say_gone(session, requests ? "r" : "", *range);
    }
    return true;
}

static bool decide(ModeratorSession *session, const Decision *decision, GError **error)
{
    const Ticket *ticket = session->ticket;
    g_autoptr(GArray) posts = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_autoptr(GArray) requests = g_array_new(FALSE, FALSE, sizeof(int64_t));
    bool named = decision->numbers->len > 0 || decision->requests->len > 0;
    bool one_post = ticket->last > 0 && ticket->first == ticket->last && ticket->last_request == 0;
    bool one_request = ticket->last == 0 && ticket->first_request == ticket->last_request;
    g_string_append_printf(session->answers, "> %s\n", decision->line);
    if (decision->mistake) {
        say(session, "moderated_wrong", (const TemplateValue[]){{"number", decision->mistake}, {0}});
        return true;
    }
    if (!named && !decision->all && !one_post && !one_request) {
        say(session, "moderated_which", NULL);
        return true;
    }
    static const NumberRange all = {1, G_MAXINT64};
    if (decision->all) {
        if (!find_range(session, false, &all, posts, error) || !find_range(session, true, &all, requests, error))
            return false;
    } else if (!named) {
        g_array_append_val(one_post ? posts : requests, *(one_post ? &ticket->first : &ticket->first_request));
    } else if (!find_ranges(session, ticket->last == 0, decision->numbers, ticket->last > 0 ? posts : requests,
                            error) ||
               !find_ranges(session, true, decision->requests, requests, error)) {
        return false;
    }
    for (unsigned at = 0; at < posts->len; at++)
        if (!decide_post(session, decision, g_array_index(posts, int64_t, at), error))
            return false;
    for (unsigned at = 0; at < requests->len; at++)
        if (!decide_request(session, decision, g_array_index(requests, int64_t, at), error))
            return false;
    if (decision->all && posts->len + requests->len == 0)
        say(session, "moderated_gone", (const TemplateValue[]){{"number", "all"}, {0}});
    return true;
}

/* Find whether the address still moderates: a person who was a moderator when the letter was sent may be none any more.
 * */
static bool is_moderator(Work *work, const List *list, const char *address, bool *moderates, GError **error)
{
    g_auto(GStrv) all = letter_owners(work_store(work), list, work_site(work)->site_owner, error);
    *moderates = false;
    for (char **one = all; one && *one; one++)
        *moderates = *moderates || address_same(*one, address);
    return all != NULL;
}

/* Finds the ticket of a token, whoever it names. */
static bool find_ticket(Work *work, const char *token, Ticket **ticket, ModerateAccess *access, GError **error)
{
    g_autoptr(GError) missing = NULL;
    *ticket = ticket_find(work_store(work), token, work_now(work), &missing);
    if (!*ticket && !g_error_matches(missing, FAIL, FAIL_MISSING))
        return fail_with(error, &missing);
    *access = *ticket ? MODERATE_MAY : MODERATE_UNKNOWN;
    return true;
}

bool moderate_reply(Work *work, const List *list, const char *token, GBytes *message, bool *known, GError **error)
{
    ModerateAccess access;
    bool moderates;
    g_autoptr(Ticket) ticket = NULL;
    if (!find_ticket(work, token, &ticket, &access, error))
        return false;
    *known = ticket && strcmp(ticket->list_id, list->list_id) == 0;
    if (!*known)
        return true;
    work_become(work, ACTOR_MODERATOR, ticket->moderator);
    g_autoptr(Mailbox) reader = mailbox_new(ticket->moderator);
    g_autofree char *language = letter_language(work, list, reader);
    g_autoptr(GString) answers = g_string_new(NULL);
    ModeratorSession session = {work, list, ticket, language, answers};
    if (!is_moderator(work, list, ticket->moderator, &moderates, error))
        return false;
    g_autoptr(GPtrArray) decisions = moderates ? moderate_read(message) : NULL;
    for (unsigned at = 0; moderates && at < decisions->len; at++)
        if (!decide(&session, decisions->pdata[at], error))
            return false;
    if (!moderates)
        say(&session, "moderated_not_moderator", NULL);
    else if (decisions->len == 0)
        say(&session, "moderated_help", NULL);

    g_autoptr(Message) parsed = message_new(message);
    g_autofree char *id = message_id_brief(parsed);
    const TemplateValue values[] = {{"answers", g_strchomp(answers->str)}, {0}};
    ListLetter letter = {.template = "commands", .values = values, .language = language, .to = ticket->moderator,
                         .in_reply_to = id ? id : ""};
    return work_letter(work, list, &letter, error);
}

/* ---- on a page ---- */

bool moderate_ticket(Work *work, const char *token, Ticket **ticket, ModerateAccess *access, GError **error)
{
    bool moderates = false;
    if (!find_ticket(work, token, ticket, access, error))
        return false;
    if (!*ticket)
        return true;
    g_autoptr(GError) missing = NULL;
    g_autoptr(List) list = list_by_id(work_store(work), (*ticket)->list_id, &missing);
    if (!list && !g_error_matches(missing, FAIL, FAIL_MISSING))
        return fail_with(error, &missing);
    if (list && !is_moderator(work, list, (*ticket)->moderator, &moderates, error))
        return false;
    *access = !list ? MODERATE_UNKNOWN : moderates ? MODERATE_MAY : MODERATE_NO_MODERATOR;
    if (!moderates)
        g_clear_pointer(ticket, ticket_free);
    return true;
}

Ticket moderate_anything(const char *list_id, const char *address)
{
    return (Ticket){.list_id = (char *)(uintptr_t)list_id,
                    .moderator = (char *)(uintptr_t)address,
                    .first = 1,
                    .last = G_MAXINT64,
                    .first_request = 1,
                    .last_request = G_MAXINT64};
}

void moderate_waiting_clear(ModerateWaiting *waiting)
{
    g_clear_pointer(&waiting->posts, g_ptr_array_unref);
    g_clear_pointer(&waiting->requests, g_ptr_array_unref);
}

static bool add_post(const Held *held, void *data)
{
    ModerateWaiting *waiting = data;
    if (held->asked_until != 0)
        return true;
    waiting->more = waiting->posts->len == MODERATE_SHOWN;
    if (waiting->more)
        return false;
    Held *copy = g_new0(Held, 1);
    *copy = (Held){.number = held->number,
                   .list_id = g_strdup(held->list_id),
                   .subject = g_strdup(held->subject),
                   .sender = g_strdup(held->sender),
                   .reason = g_strdup(held->reason),
                   .held_at = held->held_at,
                   .size = held->size};
    g_ptr_array_add(waiting->posts, copy);
    return true;
}

bool moderate_waiting(Work *work, const Ticket *ticket, ModerateAfter after, ModerateWaiting *waiting, GError **error)
{
    g_autoptr(GArray) requests = g_array_new(FALSE, FALSE, sizeof(int64_t));
    RequestRange wanted = {{MAX(ticket->first_request, after.request + 1), ticket->last_request}, requests};
    const int64_t first = MAX(ticket->first, after.post + 1);
    const HeldFilter filter = {.list_id = ticket->list_id, .first = first, .last = ticket->last};
    waiting->posts = g_ptr_array_new_with_free_func((GDestroyNotify)held_free);
    waiting->requests = g_ptr_array_new_with_free_func((GDestroyNotify)pending_free);
    if ((first <= ticket->last && !held_select(work_store(work), &filter, add_post, waiting, error)) ||
        (ticket->last_request > 0 &&
         !pending_each(work_store(work), ticket->list_id, work_now(work), note_request, &wanted, error)))
        return false;
    waiting->more = waiting->more || requests->len > MODERATE_SHOWN;
    for (unsigned i = 0; i < MIN(requests->len, MODERATE_SHOWN); i++) {
        Pending *request;
        if (!find_request(work, ticket, g_array_index(requests, int64_t, i), &request, error))
            return false;
        if (request)
            g_ptr_array_add(waiting->requests, request);
    }
    return true;
}

/* moderate_one() without a savepoint. */
static bool decide_one(Work *work, const Ticket *ticket, const ModerateOne *one, ModerateOutcome *outcome,
                       GError **error)
{
    g_auto(Subscription) made = {0};
    g_autoptr(Held) held = NULL;
    g_autoptr(Pending) request = NULL;
    bool told;
    size_t word = 0;
    while (word < G_N_ELEMENTS(words) && strcmp(words[word].word, one->word) != 0)
        word++;
    if (one->is_request ? !find_request(work, ticket, one->number, &request, error)
                        : !moderate_post(work, ticket, one->number, &held, error))
        return false;
    *outcome = !held && !request ? MODERATE_GONE : MODERATE_UNDONE;
    if (*outcome == MODERATE_GONE || word == G_N_ELEMENTS(words) || (request && words[word].verdict == HELD_ALLOW))
        return true;
    /* A long reason is cut between characters; an empty one is none. */
    const char *said = one->reason ? one->reason : "";
    size_t length = strlen(said);
    if (length > MODERATE_REASON_MAX)
        length = (size_t)(g_utf8_find_prev_char(said, said + MODERATE_REASON_MAX + 1) - said);
    g_autofree char *reason = length > 0 ? g_strndup(said, length) : NULL;
    work_become(work, ACTOR_MODERATOR, ticket->moderator);
    *outcome = MODERATE_DONE;
    return held ? held_post_decide(work, one->number, words[word].verdict, reason, &told, error)
                : request_decide(work, one->number, words[word].request, reason, &made, error);
}

bool moderate_one(Work *work, const Ticket *ticket, const ModerateOne *one, ModerateOutcome *outcome, GError **error)
{
    g_autoptr(GError) why = NULL;
    if (!work_savepoint(work, error))
        return false;
    bool done = decide_one(work, ticket, one, outcome, &why);
    work_savepoint_end(work, done);
    if (done)
        return true;
    if (g_error_matches(why, FAIL, FAIL_LATER))
        return fail_with(error, &why);
    *outcome = MODERATE_UNDONE;
    work_log(work, ticket->list_id, "%s=%" G_GINT64_FORMAT " by=<%s> result=not-decided: %s",
             one->is_request ? "request" : "held", one->number, work_by(work), why->message);
    return true;
}
