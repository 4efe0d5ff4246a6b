/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moderate.h"

#include <string.h>

#include "base/fail.h"
#include "lists/letter.h"
#include "mail/address.h"
#include "mail/reply.h"

#define REASON_MAX 4000 /* octets */
#define LINE_CHARS 200  /* of a line that is repeated in the answer */

static const struct {
    const char *word;
    HeldVerdict verdict;
    const char *done; /* key of the sentence that tells it */
} words[] = {
    {"accept", HELD_ACCEPT, "moderated_accept"},    {"approve", HELD_ACCEPT, "moderated_accept"},
    {"allow", HELD_ALLOW, "moderated_allow"},       {"reject", HELD_REJECT, "moderated_reject"},
    {"discard", HELD_DISCARD, "moderated_discard"}, {"ban", HELD_BAN, "moderated_ban"},
    {"defer", HELD_DEFER, "moderated_defer"},
};

/* ---- reading ---- */

static void decision_free(void *data)
{
    Decision *decision = data;
    g_array_unref(decision->numbers);
    g_free(decision->reason);
    g_free(decision->line);
    g_free(decision);
}

/* Takes "12, 13" or "all" from the start of rest. */
static const char *take_numbers(Decision *decision, const char *rest)
{
    for (;;) {
        rest += strspn(rest, " \t,#");
        size_t digits = strspn(rest, "0123456789");
        const char *end = rest + digits;
        bool ends = !*end || strchr(" \t,;:.!-", *end);
        if (digits > 0 && digits < 18 && ends) {
            int64_t number = g_ascii_strtoll(rest, NULL, 10);
            g_array_append_val(decision->numbers, number);
            rest = end;
        } else if (g_ascii_strncasecmp(rest, "all", 3) == 0 && (!rest[3] || strchr(" \t,;:.!", rest[3]))) {
            decision->all = true;
            rest += 3;
        } else {
            return rest;
        }
    }
}

/* NULL: the line is no decision. */
static Decision *read_line(const char *line)
{
    size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    for (size_t at = 0; at < G_N_ELEMENTS(words); at++) {
        if (strlen(words[at].word) != length || g_ascii_strncasecmp(line, words[at].word, length) != 0)
            continue;
        Decision *decision = g_new0(Decision, 1);
        decision->verdict = words[at].verdict;
        decision->numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
        const char *rest = take_numbers(decision, line + length);
        rest += strspn(rest, " \t.,;:!-");
        if (decision->verdict == HELD_REJECT && *rest)
            decision->reason = g_strdup(rest);
        if (*rest && !decision->reason) {
            decision_free(decision);
            return NULL;
        }
        decision->line = g_utf8_substring(line, 0, MIN(g_utf8_strlen(line, -1), LINE_CHARS));
        return decision;
    }
    return NULL;
}

static void add_reason(Decision *decision, const char *line)
{
    const char *before = decision->reason ? decision->reason : "";
    if (strlen(before) + strlen(line) >= REASON_MAX || (!*before && !*line))
        return;
    g_autofree char *longer = g_strconcat(before, *before ? "\n" : "", line, NULL);
    g_free(decision->reason);
    decision->reason = g_steal_pointer(&longer);
}

static void read_text(GPtrArray *decisions, GBytes *message)
{
    GString *text = reply_text(message);
    g_autoptr(GPtrArray) lines = reply_own_lines(text ? text->str : "");
    Decision *rejecting = NULL;
    for (unsigned at = 0; at < lines->len && decisions->len < DECISIONS_MAX; at++) {
        Decision *decision = read_line(lines->pdata[at]);
        if (decision)
            g_ptr_array_add(decisions, decision);
        else if (rejecting)
            add_reason(rejecting, lines->pdata[at]);
        if (decision)
            rejecting = decision->verdict == HELD_REJECT ? decision : NULL;
    }
    if (text)
        g_string_free(text, TRUE);
}

GPtrArray *moderate_read(GBytes *message)
{
    GPtrArray *decisions = g_ptr_array_new_with_free_func(decision_free);
    g_autoptr(Message) parsed = message_new(message);
    g_autofree char *subject = reply_subject(parsed);
    Decision *first = read_line(subject);
    if (first)
        g_ptr_array_add(decisions, first);
    read_text(decisions, message);
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
    g_string_append_printf(session->answers, "    %s\n", sentence);
}

static bool decide_one(ModeratorSession *session, const Decision *decision, int64_t number, GError **error)
{
    bool told;
    g_autoptr(GError) refusal = NULL;
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, number);
    bool own = number >= session->ticket->first && number <= session->ticket->last;
    g_autoptr(Held) held = own ? held_find(work_store(session->work), number, &refusal) : NULL;
    if (refusal && !g_error_matches(refusal, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&refusal));
        return false;
    }
    if (!held || strcmp(held->list_id, session->list->list_id) != 0) {
        say(session, "moderated_gone", (const TemplateValue[]){{"number", text}, {0}});
        return true;
    }
    g_autofree char *subject = template_brief(held->subject ? held->subject : ""),
                    *sender = template_brief(held->sender ? held->sender : "");
    const TemplateValue values[] = {{"number", text}, {"subject", subject}, {"sender", sender}, {0}};
    if (!held_post_decide(session->work, number, decision->verdict, decision->reason, &told, error))
        return false;
    for (size_t at = 0; at < G_N_ELEMENTS(words); at++)
        if (words[at].verdict == decision->verdict) {
            say(session, words[at].done, values);
            break;
        }
    return true;
}

static bool note_number(const Held *held, void *data)
{
    g_array_append_val((GArray *)data, held->number);
    return true;
}

static bool decide(ModeratorSession *session, const Decision *decision, GError **error)
{
    const Ticket *ticket = session->ticket;
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(int64_t));
    const HeldFilter filter = {.list_id = ticket->list_id, .first = ticket->first, .last = ticket->last};
    bool one = ticket->first == ticket->last;
    g_string_append_printf(session->answers, "> %s\n", decision->line);
    if (decision->numbers->len == 0 && !decision->all && !one) {
        say(session, "moderated_which", NULL);
        return true;
    }
    if (decision->all && !held_select(work_store(session->work), &filter, note_number, all, error))
        return false;
    const GArray *numbers = decision->all ? all : decision->numbers;
    if (numbers->len == 0 && !decision->all)
        return decide_one(session, decision, ticket->first, error);
    for (unsigned at = 0; at < numbers->len; at++)
        if (!decide_one(session, decision, g_array_index(numbers, int64_t, at), error))
            return false;
    if (numbers->len == 0)
        say(session, "moderated_gone", (const TemplateValue[]){{"number", "-"}, {0}});
    return true;
}

/* Whoever was a moderator when the letter was sent may be none any more. */
static bool is_moderator(ModeratorSession *session, bool *moderates, GError **error)
{
    g_auto(GStrv) all = letter_owners(work_store(session->work), session->list, work_site(session->work)->site_owner,
                                      error);
    *moderates = false;
    for (char **one = all; one && *one; one++)
        *moderates = *moderates || address_same(*one, session->ticket->moderator);
    return all != NULL;
}

static bool decide_all(ModeratorSession *session, GBytes *message, GError **error)
{
    bool moderates;
    if (!is_moderator(session, &moderates, error))
        return false;
    if (!moderates) {
        say(session, "moderated_not_moderator", NULL);
        return true;
    }
    g_autoptr(GPtrArray) decisions = moderate_read(message);
    for (unsigned at = 0; at < decisions->len; at++)
        if (!decide(session, decisions->pdata[at], error))
            return false;
    if (decisions->len == 0)
        say(session, "moderated_help", NULL);
    return true;
}

bool moderate_reply(Work *work, const List *list, const char *token, GBytes *message, bool *known, GError **error)
{
    g_autoptr(GError) missing = NULL;
    g_autoptr(Ticket) ticket = ticket_find(work_store(work), token, work_now(work), &missing);
    *known = ticket && strcmp(ticket->list_id, list->list_id) == 0;
    if (!ticket && !g_error_matches(missing, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&missing));
        return false;
    }
    if (!*known)
        return true;
    work_become(work, ACTOR_MODERATOR, ticket->moderator);
    g_autofree char *language = letter_language(work, list, ticket->moderator);
    g_autoptr(GString) answers = g_string_new(NULL);
    ModeratorSession session = {work, list, ticket, language, answers};
    if (!decide_all(&session, message, error))
        return false;
    g_autoptr(Message) parsed = message_new(message);
    g_autofree char *id = message_id_brief(parsed);
    const TemplateValue values[] = {{"answers", g_strchomp(answers->str)}, {0}};
    ListLetter letter = {.template = "commands", .values = values, .language = language, .to = ticket->moderator,
                         .in_reply_to = id ? id : ""};
    return work_letter(work, list, &letter, error);
}
