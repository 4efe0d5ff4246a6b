/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The command runner: does what mail to -join, -leave, -confirm and -request asks for, through the use cases of
 * lists/, and answers it. Whatever a mail claims about its sender is not believed: what it asks for somebody is
 * confirmed by a letter to that address first.
 *
 * An entry's rows, letters and the record that it was worked on are committed together. When it comes again, because
 * the process died before the hop was committed, the same letters are handed out again.
 */
#include <string.h>

#include "base/fail.h"
#include "lists/keys.h"
#include "lists/letters/autorespond.h"
#include "lists/letters/letter.h"
#include "lists/letters/reason.h"
#include "lists/letters/token_return.h"
#include "lists/people/change_address.h"
#include "lists/people/confirm.h"
#include "lists/people/join.h"
#include "lists/people/leave.h"
#include "lists/people/options.h"
#include "lists/people/sign_in.h"
#include "lists/posts/moderate.h"
#include "mail/address.h"
#include "mail/answer.h"
#include "mail/fold.h"
#include "mail/header.h"
#include "mail/text/reply.h"
#include "runners/command/inform.h"
#include "runners/command/parse.h"
#include "runners/command/rights.h"
#include "runners/posts/list_runner.h"
#include "store/lists/list_setting.h"
#include "store/moving/carry.h"

/* One mail in hand. */
typedef struct Order {
    Work *work;
    const List *list;
    const Entry *entry;
    const Message *message;
    const Config *config;
    Hashed *hashed;
    Mailbox *who;       /* of From, else the sender of the envelope; what it asks for is asked for this address */
    char *name;         /* that From has; NULL: none */
    char *language;     /* of the answer */
    GString *answers;   /* what the answer says */
    GString *settings;  /* what all the lines "set" wish for together */
    GString *set_lines; /* these lines, as the answer quotes them */
    bool alone;         /* the mail has one command, and nothing that was not understood */
    bool quotes;        /* the answer goes to the sender of the envelope, so it may repeat the mail's words */
    bool asked_other;   /* the mail has asked for an address other than that of From */
    bool worth_telling; /* there is something to say that no letter says already */
} Order;

/* ---- the answer ---- */

/* Repeat a line of the mail (NULL: none), so that the reader sees what is answered. An answer to somebody who may not
 * have written the mail repeats nothing: else strangers could send their words to anybody through the list. */
static void quote(Order *order, const char *line)
{
    if (line && order->quotes)
        g_string_append_printf(order->answers, "> %s\n", line);
}

/* Add a sentence about an address; one that stands in the mail's text is left out where nothing is repeated. */
static void say(Order *order, const char *line, const char *key, const char *address)
{
    bool shown = order->quotes || !address || address_same(address, order->who->text);
    const TemplateValue values[] = {{"address", shown ? address : "..."}, {0}};
    g_autofree char *sentence = letter_sentence(order->work, order->list, order->language, key, values);
    quote(order, line);
    fold_append(order->answers, "    ", sentence);
    g_string_append_c(order->answers, '\n');
}

/* CommandTelling is the sentence by which the answer tells a result. */
typedef struct CommandTelling {
    const char *key; /* of a sentence */
    bool alone;      /* worth an answer of its own, when the mail asked for nothing else */
    bool among;      /* worth one as one command of several */
} CommandTelling;

/* Return the sentence about a result. A result that a letter tells already, or told within the day, is worth no answer:
 * so nobody is flooded by requests in his name. */
static CommandTelling telling_for(const Order *order, const Subscription *made)
{
    static const char *const fates[] = {[TOKEN_UNKNOWN] = "bad_token", [TOKEN_USED] = "token_used",
                                        [TOKEN_EXPIRED] = "token_expired", [TOKEN_REPLACED] = "token_replaced"};
    static const CommandTelling of_set[SUBSCRIPTION_TAKEN + 1] = {
        [SUBSCRIPTION_DONE] = {"set_done", true, true},
        [SUBSCRIPTION_ASKED_PERSON] = {"set_asked", false, true},
        [SUBSCRIPTION_NO_CHANGE] = {"set_no_member", true, true},
    };
    static const CommandTelling of_change[SUBSCRIPTION_TAKEN + 1] = {
        [SUBSCRIPTION_DONE] = {"change_done", false, true},
        [SUBSCRIPTION_ASKED_PERSON] = {"change_asked", false, true},
        [SUBSCRIPTION_NO_CHANGE] = {"change_none", true, true},
        [SUBSCRIPTION_NOT_SAID] = {"change_not_said", true, true},
        [SUBSCRIPTION_REFUSED] = {"change_refused", true, true},
        [SUBSCRIPTION_BAD_ADDRESS] = {"bad_address", true, true},
        [SUBSCRIPTION_OWN_ADDRESS] = {"own_address", true, true},
    };
    bool join = made->kind == PENDING_JOIN;
    bool letter = join ? order->list->settings->send_welcome_message : made->told;
    if (made->kind == PENDING_SET)
        return of_set[made->result].key ? of_set[made->result] : (CommandTelling){"set_asked", false, false};
    if (made->kind == PENDING_CHANGE_ADDRESS)
        return of_change[made->result].key ? of_change[made->result] : (CommandTelling){"change_asked", false, false};
    switch (made->result) {
    case SUBSCRIPTION_DONE:
        return (CommandTelling){join ? "join_done" : "leave_done", !letter, true};
    case SUBSCRIPTION_ASKED_PERSON:
        return (CommandTelling){join ? "join_asked" : "leave_asked", false, true};
    case SUBSCRIPTION_ASKED_MODERATOR:
        return (CommandTelling){join ? "join_moderator" : "leave_moderator", true, true};
    case SUBSCRIPTION_MODERATOR_WAITS:
        return (CommandTelling){join ? "join_moderator" : "leave_moderator", false, false};
    case SUBSCRIPTION_NO_CHANGE:
        return (CommandTelling){join ? "join_member" : "leave_no_member", true, true};
    case SUBSCRIPTION_BAD_ADDRESS:
        return (CommandTelling){"bad_address", true, true};
    case SUBSCRIPTION_OWN_ADDRESS:
        return (CommandTelling){"own_address", true, true};
    case SUBSCRIPTION_BANNED:
        return (CommandTelling){"join_banned", true, true};
    case SUBSCRIPTION_RESTORED:
        return (CommandTelling){"undone", true, true};
    case SUBSCRIPTION_NOT_SAID:
        return (CommandTelling){"undo_not_said", true, true};
    case SUBSCRIPTION_POSTED:
        return (CommandTelling){"post_confirmed", true, true};
    case SUBSCRIPTION_BAD_TOKEN:
        return (CommandTelling){fates[made->fate], true, true};
    default:
        return (CommandTelling){join ? "join_asked" : "leave_asked", false, false};
    }
}

/* line: the command as it was written; NULL: what the mail came to was the command. */
static void tell(Order *order, const char *line, const Subscription *made)
{
    bool join = made->kind == PENDING_JOIN, leave = made->kind == PENDING_LEAVE;
    CommandTelling telling = telling_for(order, made);
    if ((join || leave) && made->address && !address_same(made->address, order->who->text) &&
        made->result != SUBSCRIPTION_BAD_ADDRESS &&
        made->result != SUBSCRIPTION_OWN_ADDRESS) /* who is a member is not told to others */
        telling = (CommandTelling){join ? "join_other" : "leave_other", true, true};
    order->worth_telling = order->worth_telling || (order->alone ? telling.alone : telling.among);
    say(order, line, telling.key, made->address ? made->address : order->who->text);
}

/* ---- commands ---- */

/* May the mail ask for this address (NULL: that of From)? One other address a mail, so that one mail to us does not
 * become many letters to others. */
static bool may_ask_for(Order *order, const char *line, const char *address)
{
    if (!address || address_same(address, order->who->text))
        return true;
    if (!order->asked_other)
        return order->asked_other = true;
    order->worth_telling = true;
    say(order, line, "one_other", order->who->text);
    return false;
}

/* digest: a word for the kind of digest; NULL: none was said. */
static bool join(Order *order, const char *line, const char *address, const char *digest, GError **error)
{
    g_auto(Subscription) made = {0};
    DeliveryMode mode;
    Preferences wants = preferences_unset;
    bool own = !address || address_same(address, order->who->text);
    if (!may_ask_for(order, line, address))
        return true;
    if (digest && delivery_mode_of_word(digest, &mode))
        wants.delivery_mode = (int)mode;
    g_autoptr(Mailbox) other = own ? NULL : mailbox_new(address);
    Joiner joiner = {.address = other ? other : order->who, .name = own ? order->name : NULL, .wants = &wants};
    if (!join_ask(order->work, order->list, &joiner, &made, error))
        return false;
    tell(order, line, &made);
    return true;
}

static bool leave(Order *order, const char *line, const char *address, GError **error)
{
    g_auto(Subscription) made = {0};
    if (!may_ask_for(order, line, address))
        return true;
    g_autoptr(Mailbox) other = mailbox_new(address);
    if (!leave_ask(order->work, order->list, other ? other : order->who, 0, &made, error))
        return false;
    tell(order, line, &made);
    return true;
}

static bool confirm(Order *order, const char *line, const MailCommand *command, GError **error)
{
    g_auto(Subscription) made = {0};
    Consent consent = command->answers ? CONSENT_ANSWER : CONSENT_SAID;
    if (!confirm_token(order->work, order->list, command->argument, consent, &made, error))
        return false;
    if (made.kind == PENDING_CHANGE_ADDRESS && made.result == SUBSCRIPTION_ASKED_PERSON) {
        order->worth_telling = true;
        say(order, line, "change_asked_new", order->who->text);
    } else if (made.kind != PENDING_CHANGE_ADDRESS && made.address && !address_same(made.address, order->who->text)) {
        order->worth_telling = true;
        say(order, line, "confirmed", order->who->text); /* whose token it was is not told to others */
    } else {
        tell(order, line, &made);
    }
    return true;
}

/* All commands, one a line: a text of its own, that a site may lay its own over. */
static bool help(Order *order, const char *line, GError **error)
{
    g_autofree char *text = letter_text(order->work, order->list, order->language, "help", error);
    if (!text)
        return false;
    g_autofree char *filled = letter_fill(order->work, order->list, text, NULL);
    order->worth_telling = true;
    quote(order, line);
    fold_append(order->answers, "    ", filled);
    g_string_append_c(order->answers, '\n');
    return true;
}

/* Show to the member itself what is set. What is to be set is only collected here: one letter asks for all of it. */
static bool set(Order *order, const MailCommand *command, GError **error)
{
    Member *found;
    g_autoptr(GError) refusal = NULL;
    g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE;
    if (!member_look_up(work_store(order->work), order->list->list_id, ROLE_MEMBER, order->who, &found, error))
        return false;
    g_autoptr(Member) member = found;
    if (!command->argument) {
        order->worth_telling = true;
        say(order, command->line, member ? "set_now" : "set_no_member", order->who->text);
        g_autofree char *shown = member ? options_of(work_store(order->work), member, "    ", error) : NULL;
        if (shown)
            g_string_append_printf(order->answers, "%s\n", shown);
        return !member || shown;
    }
    if (!options_read(&options, command->argument, &refusal) || !options_fit(&options, order->list, &refusal) ||
        (member && !options_allowed(&options, member, &refusal))) {
        g_autofree char *why = reason_translate(order->work, order->list, order->language, refusal->message);
        const TemplateValue values[] = {{"error", order->quotes ? why : "..."}, {0}};
        g_autofree char *sentence = letter_sentence(order->work, order->list, order->language, "set_bad", values);
        order->worth_telling = true;
        quote(order, command->line);
        fold_append(order->answers, "    ", sentence);
        g_string_append_c(order->answers, '\n');
        return true;
    }
    g_string_append_printf(order->settings, "%s ", command->argument);
    g_string_append_printf(order->set_lines, "%s%s", order->set_lines->len > 0 ? "\n> " : "", command->line);
    return true;
}

/* Answers with something about the list; posts of the archive go into a letter of their own. */
static bool inform(Order *order, const MailCommand *command, GError **error)
{
    const InformAsked asked = {order->work, order->list, order->who->text, order->language, command->filter};
    GString *answers = order->answers;
    order->worth_telling = true;
    quote(order, command->line);
    if (!(command->word == COMMAND_WHO     ? inform_who(&asked, answers, error)
          : command->word == COMMAND_INFO  ? inform_list(&asked, answers, error)
          : command->word == COMMAND_LISTS ? inform_lists(&asked, answers, error)
                                           : inform_archive(&asked, order->config, command->argument, answers, error)))
        return false;
    g_string_append_c(answers, '\n');
    return true;
}

static bool run_command(Order *order, const MailCommand *command, GError **error)
{
    if (!authority_covers(mail_rights[command->word].asks, BY_STRANGER)) /* as whoever wrote a mail is */
        return true;
    switch (command->word) {
    case COMMAND_JOIN:
        return join(order, command->line, command->argument, command->digest, error);
    case COMMAND_LEAVE:
        return leave(order, command->line, command->argument, error);
    case COMMAND_CONFIRM:
        return confirm(order, "confirm", command, error);
    case COMMAND_SET:
        return set(order, command, error);
    case COMMAND_CHANGE: {
        g_auto(Subscription) made = {0};
        g_autoptr(Mailbox) to = mailbox_new(command->argument);
        AddressChange what = {.old_address = order->who, .new_address = to};
        if (!change_address_ask(order->work, order->list, &what, &made, error))
            return false;
        tell(order, command->line, &made);
        return true;
    }
    case COMMAND_WHO:
    case COMMAND_INFO:
    case COMMAND_LISTS:
    case COMMAND_GET:
        return inform(order, command, error);
    case COMMAND_HELP:
        return help(order, command->line, error);
    default: /* echo is for the sender of the envelope alone */
        order->worth_telling = order->worth_telling || order->quotes;
        if (order->quotes)
            g_string_append_printf(order->answers, "> %s\n    %s\n\n", command->line, command->argument);
        return true;
    }
}

/* Sympa has the owners at this address: for a list that came from there, mail without a command is theirs. */
static bool pass_to_owners(Order *order, GBytes *octets, bool *passed, GError **error)
{
    char *came_from = NULL;
    if (!carry_system(work_store(order->work), order->list->list_id, &came_from, error))
        return false;
    g_autofree char *system = came_from;
    *passed = g_strcmp0(system, "sympa") == 0;
    if (!*passed)
        return true;
    json_t *meta = json_deep_copy(entry_meta((Entry *)order->entry));
    meta_set_string(meta, KEY_TO, TO_OWNER);
    json_object_del(meta, KEY_DETAIL);
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_ref(octets));
    work_entry(order->work, "in", meta, pieces, NULL);
    work_log(order->work, order->list->list_id, "from=<%s> result=passed-to-owners", order->who->text);
    return true;
}

/* -request: all that the mail says. */
static bool run_request(Order *order, GBytes *octets, GError **error)
{
    bool passed = false;
    g_auto(MailCommands) read = {0};
    mail_commands_read(&read, octets, NULL);
    if (read.commands->len == 0 && !pass_to_owners(order, octets, &passed, error))
        return false;
    if (passed)
        return true;
    order->alone = read.commands->len == 1 && read.ignored->len == 0;
    for (unsigned at = 0; at < read.commands->len; at++)
        if (!run_command(order, read.commands->pdata[at], error))
            return false;
    if (order->settings->len > 0) { /* one letter asks for all that the mail sets */
        g_auto(Subscription) made = {0};
        g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE;
        if (!options_read(&options, order->settings->str, error) ||
            !options_ask(order->work, order->list, order->who, &options, &made, error))
            return false;
        tell(order, order->set_lines->str, &made);
    }
    if (read.commands->len == 0) {
        order->worth_telling = true;
        say(order, NULL, "no_command", order->who->text);
        if (!help(order, NULL, error))
            return false;
    }
    if (read.ignored->len > 0)
        say(order, NULL, order->quotes ? "ignored" : "ignored_some", order->who->text);
    for (unsigned at = 0; at < read.ignored->len; at++)
        quote(order, read.ignored->pdata[at]);
    return true;
}

/* -confirm+TOKEN; without a token the mail itself may have one. */
static bool run_confirm(Order *order, const char *detail, GBytes *octets, GError **error)
{
    g_auto(MailCommands) read = {0};
    mail_commands_read(&read, octets, detail);
    for (unsigned at = 0; at < read.commands->len; at++) {
        const MailCommand *command = read.commands->pdata[at];
        if (command->word == COMMAND_CONFIRM)
            return confirm(order, NULL, command, error);
    }
    order->worth_telling = true;
    say(order, NULL, "no_token", order->who->text);
    return true;
}

/* ---- an entry ---- */

/* Did a program write this because it got a mail? Such a thing must not unsubscribe anybody. */
static bool is_automatic_reply(const Message *message)
{
    g_autofree char *type = message_value(message, "Content-Type");
    return answer_is_automatic(message) ||
           (type && g_ascii_strncasecmp(type, "multipart/report", strlen("multipart/report")) == 0);
}

/* The token that a mail brings back, in the address or in the Subject; NULL: none. g_free() */
static char *answered_token(const Order *order, const char *to, const char *detail)
{
    if (g_str_equal(to, TO_CONFIRM) && detail)
        return pending_token_is_one(detail) ? g_strdup(detail) : NULL;
    g_autofree char *subject = g_str_equal(to, TO_REQUEST) ? reply_subject(order->message) : NULL;
    return subject ? token_return_in(subject) : NULL;
}

/* Mail to -request: a program of the list may answer it first; *done: and want no more done with it. */
static bool respond(Order *order, const char *sender, bool *done, GError **error)
{
    const json_t *meta = entry_meta((Entry *)order->entry);
    g_autofree char *raw = message_value(order->message, "Subject"), *subject = raw ? header_decode(raw) : NULL;
    g_autofree char *key = list_runner_effect(order->entry);
    const AutorespondMail mail = {.to = AUTORESPOND_TO_REQUESTS, .may_answer = true, .sender = sender,
                                  .message_id = meta_string(meta, KEY_MESSAGE_ID, NULL), .subject = subject,
                                  .entry = key};
    *done = autorespond_action(order->list, AUTORESPOND_TO_REQUESTS) == AUTORESPOND_AND_DISCARD;
    return autorespond(order->work, order->list, &mail, error);
}

/* Do what a mail asks for, which is looked for in this order: a signed address list-leave+..., a moderator's answer, a
 * program of the list, and then the commands. */
static bool work_order(Order *order, GBytes *octets, GError **error)
{
    const json_t *meta = entry_meta((Entry *)order->entry);
    const char *sender = meta_string(meta, KEY_SENDER, ""), *detail = meta_string(meta, KEY_DETAIL, NULL);
    const char *to = meta_string(meta, KEY_TO, "");

    /* The author in From is asked and answered, whoever the envelope names. */
    g_autofree char *from = message_value(order->message, "From");
    g_autoptr(GPtrArray) authors = address_list_new();
    if (from)
        address_parse(from, strlen(from), authors);
    const Address *first = authors->len > 0 ? authors->pdata[0] : NULL;
    order->who = mailbox_new(first ? first->mailbox : sender);
    order->name = first && *first->display ? header_decode(first->display) : NULL;
    order->language = letter_language(order->work, order->list, order->who);
    order->quotes = address_same(order->who->text, sender);

    /* The signature says for whom it is, so this works even for a sender who cannot be answered. */
    if (detail && g_str_equal(to, TO_LEAVE) && !is_automatic_reply(order->message)) {
        g_auto(Subscription) made = {0};
        if (!leave_signed(order->work, order->list, order->hashed, detail, &made, error))
            return false;
        if (made.result != SUBSCRIPTION_BAD_TOKEN)
            return true;
    }
    if (!answer_allowed(sender, order->message) || !answer_allowed(order->who->text, order->message)) {
        work_log(order->work, order->list->list_id, "from=<%s> result=ignored (a program sent it, or nobody can be "
                 "answered)", sender);
        return true;
    }

    bool done = false, request = !*to || g_str_equal(to, TO_REQUEST);
    g_autofree char *token = answered_token(order, to, detail);
    if (token && !moderate_reply(order->work, order->list, token, octets, &done, error))
        return false;
    if (!done && request && !respond(order, sender, &done, error))
        return false;
    if (done)
        return true;

    bool worked = g_str_equal(to, TO_JOIN)      ? join(order, NULL, NULL, detail, error)
                  : g_str_equal(to, TO_LEAVE)   ? leave(order, NULL, NULL, error)
                  : g_str_equal(to, TO_CONFIRM) ? run_confirm(order, detail, octets, error)
                                                : run_request(order, octets, error);
    if (!worked || !order->worth_telling)
        return worked;
    bool allowed;
    if (!letter_allowed(order->work, order->list, order->who->text, &allowed, error))
        return false;
    const TemplateValue values[] = {{"answers", g_strchomp(order->answers->str)}, {0}};
    ListLetter letter = {.template = "commands",
                         .values = values,
                         .language = order->language,
                         .to = order->who->text,
                         .in_reply_to = meta_string(meta, KEY_MESSAGE_ID, NULL)};
    return !allowed || work_letter(order->work, order->list, &letter, error);
}

static bool handle_mail(Runner *runner, Entry *entry, const List *list, Work *work, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_auto(LoopMark) mark = {0};
    g_autoptr(GBytes) octets = entry_message(entry);
    g_autoptr(Message) message = message_new(octets);
    list_runner_set_host(work, message);
    if (!list_runner_loop_mark(shared, entry, message, &mark, error))
        return false;
    if (mark.depth > 0) { /* mail of ours asks for nothing, whoever sent it on */
        list_runner_log(entry, "from=<%s> message-id=%s result=ignored (it is mail of this site)",
                        meta_string(entry_meta(entry), KEY_SENDER, ""),
                        meta_string(entry_meta(entry), KEY_MESSAGE_ID, "-"));
        return true;
    }
    Order order = {.work = work, .list = list, .entry = entry, .message = message,
                   .config = runner_config(runner), .hashed = shared->more, .answers = g_string_new(NULL),
                   .alone = true, .settings = g_string_new(NULL), .set_lines = g_string_new(NULL)};
    bool done = work_order(&order, octets, error);
    mailbox_free(order.who);
    g_free(order.name);
    g_free(order.language);
    g_string_free(order.answers, TRUE);
    g_string_free(order.settings, TRUE);
    g_string_free(order.set_lines, TRUE);
    return done;
}

/* list NULL: it is a form to sign in, which belongs to none. */
static bool handle_with(Runner *runner, Entry *entry, const List *list, Outcome *outcome, GError **error)
{
    ListRunner *shared = runner_data(runner);
    const json_t *meta = entry_meta(entry);
    bool before, is_form = !list || page_form_is(meta, TO_JOIN);
    int64_t number;
    shared->site.keys = list_runner_keys(runner, error);
    if (!shared->site.keys || !list_runner_find_effect(runner, entry, &before, &number, error))
        return false;
    g_autoptr(Work) work = is_form ? page_form_unit(shared->store, &shared->site, meta, error)
                                   : list_runner_work(shared, entry);
    g_autofree char *key = list_runner_effect(entry);
    if (!work)
        return false;
    bool done = before    ? work_recall(work, key, error) /* an earlier try did it; its letters go out again */
                : !list   ? sign_in_work(work, meta, error)
                : is_form ? join_form_work(work, list, meta, error)
                          : handle_mail(runner, entry, list, work, error);
    if (!done || (!before && (!list_runner_record_effect(runner, entry, 0, error) || !work_keep(work, key, error))))
        return false;
    if (list) /* sign_in_work() has its own line */
        list_runner_log(entry, "to=%s from=<%s> message-id=%s letters=%u result=%s", meta_string(meta, KEY_TO, "-"),
                        is_form ? "" : work_actor(work)->address, meta_string(meta, KEY_MESSAGE_ID, "-"),
                        work_entries(work), before ? "done (at an earlier try)" : "done");
    if (work_entries(work) > 0)
        kept_rows_note(shared, key, outcome);
    list_runner_work_into(work, outcome);
    return true;
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GError) fault = NULL;
    bool signs_in = page_form_is(entry_meta(entry), TO_SIGN_IN);
    const List *list = *entry_list(entry) ? list_cache_get(shared->lists, entry_list(entry), &fault) : NULL;
    if (!list && !signs_in && (!fault || g_error_matches(fault, FAIL, FAIL_MISSING))) {
        list_runner_log(entry, "result=discarded (the list is gone)");
        return true;
    }
    if (!list && !signs_in)
        return fail_with(error, &fault);
    if (!store_begin_people(shared->store, list ? list->list_id : NULL, error))
        return false;
    return list_runner_end(shared, handle_with(runner, entry, list, outcome, error), error);
}

/* ---- the runner ---- */

static bool start(Runner *runner, GError **error)
{
    if (!list_runner_start(runner, error) || !kept_rows_start(runner, error))
        return false;
    ListRunner *shared = runner_data(runner);
    shared->more = hashed_new(shared->store);
    return true;
}

static void stop(Runner *runner)
{
    ListRunner *shared = runner_data(runner);
    if (shared)
        hashed_free(shared->more);
    list_runner_stop(runner);
}

static int64_t idle(Runner *runner)
{
    kept_rows_idle(runner);
    return -1;
}

static const RunnerSpec spec = {
    .name = "command",
    .longest_wait = RUNNER_WAIT_MAX,
    .start = start,
    .begin_batch = kept_rows_begin,
    .handle = handle,
    .committed = kept_rows_committed,
    .idle = idle,
    .stop = stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
