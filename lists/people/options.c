/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/change.h"
#include "lists/people/subscription_internal.h"
#include "store/language.h"
#include "store/lists/topic.h"
#include "store/people/vacation.h"

#define DAY (24 * 3600 * CLOCK_SECOND)
#define ALL_TOPICS "all"

/* An option that sets one number: the values' names, in the order of the numbers, and where it lies. */
typedef struct OptionChoice {
    const char *name;
    const char *values[5];
    size_t offset;
} OptionChoice;

static const OptionChoice choices[] = {
    {"delivery", {"on", "off"}, offsetof(Preferences, delivery_status)},
    {"digest", {"off", "plain", "mime", "summary"}, offsetof(Preferences, delivery_mode)},
    {"ack", {"off", "on"}, offsetof(Preferences, acknowledge_posts)},
    {"myposts", {"off", "on"}, offsetof(Preferences, receive_own_postings)},
    {"duplicates", {"off", "on"}, offsetof(Preferences, receive_list_copy)},
    {"hide", {"off", "on"}, offsetof(Preferences, hide_address)},
};

static int *number_of(Preferences *preferences, const OptionChoice *choice)
{
    return (int *)((char *)preferences + choice->offset);
}

/* ---- names of topics ---- */

/* Read names as people write them: boats,"new cars"; g_strfreev(). For "all" there are none. NULL with FAIL_NEVER: the
 * text has no name, or a quotation mark is missing. */
static char **read_names(const char *text, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    bool quoted = false, open = false;
    for (const char *at = text; *at && !open;) {
        g_autoptr(GString) name = g_string_new(NULL);
        for (; *at && (open || *at != ','); at++) {
            if (*at == '"') {
                open = !open;
                quoted = true;
                continue;
            }
            at += open && *at == '\\' && at[1];
            g_string_append_c(name, *at);
        }
        at += *at == ',';
        if (*g_strstrip(name->str))
            g_ptr_array_add(names, g_strdup(name->str));
    }
    if (open || names->len == 0) {
        fail(error, FAIL_NEVER,
             open ? "topics: a quotation mark is missing in %s"
                  : "topics: found \"%s\"; allowed: names of topics separated by commas, or all",
             text);
        return NULL;
    }
    if (names->len == 1 && !quoted && g_ascii_strcasecmp(names->pdata[0], ALL_TOPICS) == 0)
        g_ptr_array_set_size(names, 0);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

/* Return the text that read_names() reads as these names; g_free(). */
static char *names_text(char **names)
{
    GString *text = g_string_new(NULL);
    for (; *names; names++) {
        bool plain = !strpbrk(*names, " \t,=\"\\") && g_ascii_strcasecmp(*names, ALL_TOPICS) != 0;
        g_string_append(text, text->len > 0 ? "," : "");
        g_string_append(text, plain ? "" : "\"");
        for (const char *at = *names; *at; at++)
            g_string_append_printf(text, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
        g_string_append(text, plain ? "" : "\"");
    }
    return g_string_free(text->len > 0 ? text : g_string_append(text, ALL_TOPICS), FALSE);
}

/* Replace each name by the list's own spelling of it, and leave out names that come twice. FAIL_NEVER: the list has no
 * such topic; the message names those that it has. */
static bool match_names(char ***names, const List *list, GError **error)
{
    g_auto(GStrv) known = topic_names(list);
    g_autoptr(GPtrArray) matched = g_ptr_array_new_with_free_func(g_free);
    for (char **name = *names; *name; name++) {
        char **own = known;
        while (*own && g_ascii_strcasecmp(*own, *name) != 0)
            own++;
        if (!*known)
            return fail(error, FAIL_NEVER, "topics: this list has no topics");
        if (!*own) {
            g_autofree char *there = names_text(known);
            return fail(error, FAIL_NEVER, "topics: there is no topic \"%s\"; there are: %s", *name, there);
        }
        if (!g_ptr_array_find_with_equal_func(matched, *own, g_str_equal, NULL))
            g_ptr_array_add(matched, g_strdup(*own));
    }
    g_ptr_array_add(matched, NULL);
    g_strfreev(*names);
    *names = (char **)g_ptr_array_free(g_steal_pointer(&matched), FALSE);
    return true;
}

/* ---- reading and writing words ---- */

/* "2026-12-20": the day's beginning in UTC. */
static bool read_day(const char *text, size_t length, int64_t *day)
{
    g_autofree char *iso = g_strdup_printf("%.*sT00:00:00Z", (int)length, text);
    g_autoptr(GDateTime) time = length == 10 ? g_date_time_new_from_iso8601(iso, NULL) : NULL;
    *day = time ? g_date_time_to_unix(time) * CLOCK_SECOND : 0;
    return time != NULL;
}

static char *day_text(int64_t time)
{
    g_autoptr(GDateTime) day = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    return g_date_time_format(day, "%Y-%m-%d");
}

/* The last day is one of it. */
static bool read_vacation(MemberOptions *options, const char *value, GError **error)
{
    const char *dots = strstr(value, "..");
    int64_t last;
    if (g_ascii_strcasecmp(value, "off") == 0) {
        options->vacation_ends = -1;
        return true;
    }
    bool read = dots && read_day(value, (size_t)(dots - value), &options->vacation_begins) &&
                read_day(dots + 2, strlen(dots + 2), &last);
    if (read && last < options->vacation_begins)
        return fail(error, FAIL_NEVER, "vacation: found \"%s\", whose last day is before its first", value);
    if (!read)
        return fail(error, FAIL_NEVER, "vacation: found \"%s\"; allowed: off, or FROM..UNTIL as 2026-12-20..2027-01-06",
                    value);
    options->vacation_ends = last + DAY;
    return true;
}

static bool read_language(MemberOptions *options, const char *value, GError **error)
{
    if (strcmp(value, "default") != 0 && !language_check("language", value, error))
        return false;
    g_strlcpy(options->wanted.preferred_language, value, PREFERENCE_LANGUAGE_SIZE);
    return true;
}

static bool read_topics(MemberOptions *options, const char *value, GError **error)
{
    char **names = read_names(value, error);
    if (!names)
        return false;
    g_strfreev(options->topics);
    options->topics = names;
    return true;
}

static bool read_nonmatching(MemberOptions *options, const char *value, GError **error)
{
    bool on = g_ascii_strcasecmp(value, "on") == 0;
    if (!on && g_ascii_strcasecmp(value, "off") != 0)
        return fail(error, FAIL_NEVER, "nonmatching: found \"%s\"; allowed: off, on", value);
    options->nonmatching = on;
    return true;
}

/* The options of other values. */
static const struct {
    const char *name;
    bool (*read)(MemberOptions *options, const char *value, GError **error);
} others[] = {{"language", read_language},
              {"vacation", read_vacation},
              {"topics", read_topics},
              {"nonmatching", read_nonmatching}};

bool option_is_one(const char *name)
{
    bool found = false;
    for (size_t at = 0; at < G_N_ELEMENTS(choices); at++)
        found = found || g_ascii_strcasecmp(choices[at].name, name) == 0;
    for (size_t at = 0; at < G_N_ELEMENTS(others); at++)
        found = found || g_ascii_strcasecmp(others[at].name, name) == 0;
    return found;
}

bool option_read(MemberOptions *options, const char *name, const char *value, GError **error)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (size_t at = 0; at < G_N_ELEMENTS(choices); at++) {
        const OptionChoice *choice = &choices[at];
        g_string_append_printf(names, "%s, ", choice->name);
        if (g_ascii_strcasecmp(choice->name, name) != 0)
            continue;
        for (int number = 0; choice->values[number]; number++)
            if (g_ascii_strcasecmp(choice->values[number], value) == 0) {
                *number_of(&options->wanted, choice) = number;
                return true;
            }
        g_autofree char *allowed = g_strjoinv(", ", (char **)choice->values);
        return fail(error, FAIL_NEVER, "%s: found \"%s\"; allowed: %s", choice->name, value, allowed);
    }
    for (size_t at = 0; at < G_N_ELEMENTS(others); at++) {
        if (g_ascii_strcasecmp(others[at].name, name) == 0)
            return others[at].read(options, value, error);
        g_string_append_printf(names, "%s%s", at > 0 ? ", " : "", others[at].name);
    }
    return fail(error, FAIL_NEVER, "there is no option \"%s\"; there are: %s", name, names->str);
}

/* How much of text its first word is. Quotes stay in it; a comma in a value holds together what stands at its sides. */
static size_t word_length(const char *text, bool value)
{
    size_t at = 0;
    for (bool quoted = false; text[at]; at++) {
        size_t blanks = strspn(text + at, " \t");
        if (text[at] == '"')
            quoted = !quoted;
        else if (quoted && text[at] == '\\' && text[at + 1])
            at++;
        else if (!quoted && value && blanks > 0 && text[at + blanks] &&
                 (text[at + blanks] == ',' || (at > 0 && text[at - 1] == ',')))
            at += blanks - 1;
        else if (!quoted && (blanks > 0 || text[at] == '='))
            break;
    }
    return at;
}

bool options_read(MemberOptions *options, const char *text, GError **error)
{
    static const char *const marks[] = {"\342\200\234", "\342\200\235", "\342\200\236", "\302\253", "\302\273"};
    g_autoptr(GString) plain = g_string_new(text);
    g_autofree char *name = NULL;
    bool any = false;
    *options = MEMBER_OPTIONS_NONE;
    for (size_t at = 0; at < G_N_ELEMENTS(marks); at++) /* clients write such quotation marks of their own accord */
        g_string_replace(plain, marks[at], "\"", 0);
    for (const char *at = plain->str + strspn(plain->str, " \t="); *at; at += strspn(at, " \t=")) {
        size_t length = word_length(at, name != NULL);
        g_autofree char *word = g_strndup(at, length);
        at += length;
        if (!name) {
            name = g_steal_pointer(&word);
            continue;
        }
        if (!option_read(options, name, word, error))
            return false;
        any = true;
        g_clear_pointer(&name, g_free);
    }
    if (name)
        return fail(error, FAIL_NEVER, "%s: its value is missing%s", name,
                    options->topics ? " (the name of a topic that has blanks is written in double quotes)" : "");
    return any || fail(error, FAIL_NEVER, "there is no option to set, as in \"digest mime\"");
}

void member_options_clear(MemberOptions *options)
{
    g_clear_pointer(&options->topics, g_strfreev);
}

char *options_text(const MemberOptions *options)
{
    GString *text = g_string_new(NULL);
    Preferences wanted = options->wanted;
    for (size_t at = 0; at < G_N_ELEMENTS(choices); at++) {
        int number = *number_of(&wanted, &choices[at]);
        if (number >= 0)
            g_string_append_printf(text, "%s %s ", choices[at].name, choices[at].values[number]);
    }
    if (*wanted.preferred_language)
        g_string_append_printf(text, "language %s ", wanted.preferred_language);
    if (options->vacation_ends > 0) {
        g_autofree char *from = day_text(options->vacation_begins), *until = day_text(options->vacation_ends - DAY);
        g_string_append_printf(text, "vacation %s..%s ", from, until);
    }
    if (options->vacation_ends < 0)
        g_string_append(text, "vacation off ");
    g_autofree char *topics = options->topics ? names_text(options->topics) : NULL;
    if (topics)
        g_string_append_printf(text, "topics %s ", topics);
    if (options->nonmatching >= 0)
        g_string_append_printf(text, "nonmatching %s ", options->nonmatching ? "on" : "off");
    return g_strchomp(g_string_free(text, FALSE));
}

char *options_of(Store *store, const Member *member, const char *prefix, GError **error)
{
    Vacation vacation;
    Preferences now = member->effective;
    g_auto(TopicChoice) choice = {0};
    g_autoptr(List) list = list_by_id(store, member->list_id, error);
    if (!list || !vacation_find(store, member->id, &vacation, error))
        return NULL;
    g_auto(GStrv) known = topic_names(list);
    if (*known && !topic_read(store, member->id, &choice, error))
        return NULL;
    GString *text = g_string_new(NULL);
    for (size_t at = 0; at < G_N_ELEMENTS(choices); at++) {
        int number = *number_of(&now, &choices[at]);
        if (number_of(&now, &choices[at]) == &now.delivery_status && number > DELIVERY_BY_USER)
            g_string_append_printf(text, "%sdelivery off (%s)\n", prefix,
                                   delivery_status_text((DeliveryStatus)number));
        else
            g_string_append_printf(text, "%s%s %s\n", prefix, choices[at].name, choices[at].values[number]);
    }
    g_string_append_printf(text, "%slanguage %s\n", prefix,
                           *now.preferred_language ? now.preferred_language : "default");
    MemberOptions away = {.wanted = preferences_unset, .vacation_begins = vacation.begins_at,
                          .vacation_ends = vacation.ends_at > 0 ? vacation.ends_at : -1, .nonmatching = -1};
    g_autofree char *shown = options_text(&away);
    g_string_append_printf(text, "%s%s\n", prefix, shown);
    if (*known) { /* which were chosen, and which there are */
        g_autofree char *chosen = names_text(choice.names), *all = names_text(known);
        g_string_append_printf(text, "%stopics %s (%s)\n%snonmatching %s\n", prefix, chosen, all, prefix,
                               choice.unmatched ? "on" : "off");
    }
    return g_string_free(text, FALSE);
}

/* ---- the list's log ---- */

char *options_own(Store *store, const char *member_id, GError **error)
{
    Vacation vacation;
    g_auto(TopicChoice) topics = {0};
    g_autoptr(Member) member = member_by_id(store, member_id, error);
    if (!member || !vacation_find(store, member_id, &vacation, error) || !topic_read(store, member_id, &topics, error))
        return NULL;
    Preferences own = member->own;
    GString *text = g_string_new(NULL);
    for (size_t at = 0; at < G_N_ELEMENTS(choices); at++) {
        int *place = number_of(&own, &choices[at]), number = *place;
        if (place == &own.delivery_status && number > DELIVERY_BY_USER)
            g_string_append_printf(text, "delivery off (%s)\n", delivery_status_text((DeliveryStatus)number));
        else
            g_string_append_printf(text, "%s %s\n", choices[at].name,
                                   number < 0 ? "default" : choices[at].values[number]);
    }
    g_autofree char *from = day_text(vacation.begins_at), *until = day_text(vacation.ends_at - DAY);
    g_autofree char *names = names_text(topics.names);
    g_string_append_printf(text, "language %s\n", *own.preferred_language ? own.preferred_language : "default");
    g_string_append_printf(text, "vacation %s%s%s\n", vacation.ends_at > 0 ? from : "off",
                           vacation.ends_at > 0 ? ".." : "", vacation.ends_at > 0 ? until : "");
    g_string_append_printf(text, "topics %s\nnonmatching %s\n", names, topics.unmatched ? "on" : "off");
    g_string_append_printf(text, "moderation %s",
                           member->moderation_action == ACTION_UNSET ? "default"
                                                                     : action_text(member->moderation_action));
    return g_string_free(text, FALSE);
}

bool options_log(Work *work, const Member *member, const char *before, GError **error)
{
    g_autofree char *after = options_own(work_store(work), member->id, error);
    g_autofree char *lower = g_utf8_strdown(member->address, -1);
    g_autoptr(GString) old = g_string_new(NULL), new = g_string_new(NULL);
    if (!after)
        return false;
    g_auto(GStrv) was = g_strsplit(before, "\n", -1), is = g_strsplit(after, "\n", -1);
    for (size_t at = 0; was[at] && is[at]; at++) /* both have the same options in the same order */
        if (strcmp(was[at], is[at]) != 0) {
            g_string_append_printf(old, "%s%s", old->len > 0 ? "\n" : "", was[at]);
            g_string_append_printf(new, "%s%s", new->len > 0 ? "\n" : "", is[at]);
        }
    return new->len == 0 || change_log(work, member->list_id, &(Change){LOG_OPTIONS, lower, old->str, new->str}, error);
}

/* ---- setting ---- */

bool options_fit(const MemberOptions *options, const List *list, GError **error)
{
    g_auto(GStrv) names = g_strdupv(options->topics);
    return !names || match_names(&names, list, error);
}

bool options_allowed(const MemberOptions *options, const Member *member, GError **error)
{
    return options->wanted.delivery_status != DELIVERY_ENABLED ||
           member->own.delivery_status != DELIVERY_BY_MODERATOR ||
           fail(error, FAIL_NEVER, "delivery: the people who run this list have stopped its mail for you");
}

bool options_set(Work *work, const List *list, Role role, const Mailbox *address, const MemberOptions *options,
                 GError **error)
{
    Store *store = work_store(work);
    g_autoptr(Member) member = member_find(store, list->list_id, role, address, error);
    g_autofree char *before = member ? options_own(store, member->id, error) : NULL;
    if (!before)
        return false;
    Preferences own = member->own, wanted = options->wanted;
    bool himself = work_actor(work)->role >= ACTOR_MEMBER;
    if (himself && !options_allowed(options, member, error))
        return false;
    if (himself && own.delivery_status == DELIVERY_BY_MODERATOR)
        wanted.delivery_status = -1;
    for (size_t at = 0; at < G_N_ELEMENTS(choices); at++)
        if (*number_of(&wanted, &choices[at]) >= 0)
            *number_of(&own, &choices[at]) = *number_of(&wanted, &choices[at]);
    if (*wanted.preferred_language)
        g_strlcpy(own.preferred_language,
                  g_ascii_strcasecmp(wanted.preferred_language, "default") == 0 ? "" : wanted.preferred_language,
                  PREFERENCE_LANGUAGE_SIZE);
    if (options->vacation_ends > 0 && options->vacation_ends <= work_now(work))
        return fail(error, FAIL_NEVER, "vacation: it is over already");
    if (!options_fit(options, list, error) || !member_set_preferences(store, list->list_id, role, address, &own, error))
        return false;

    if (options->topics || options->nonmatching >= 0) {
        g_auto(TopicChoice) choice = {0};
        if (!topic_read(store, member->id, &choice, error))
            return false;
        if (options->topics) {
            g_strfreev(choice.names);
            choice.names = g_strdupv(options->topics);
        }
        if ((options->topics && !match_names(&choice.names, list, error)) ||
            !topic_set(store, member->id, (const char *const *)choice.names,
                       options->nonmatching < 0 ? choice.unmatched : options->nonmatching != 0, error))
            return false;
    }
    return (options->vacation_ends <= 0 ||
            vacation_set(store, member->id, options->vacation_begins, options->vacation_ends, work_now(work), error)) &&
           (options->vacation_ends >= 0 || vacation_end(store, member->id, error)) &&
           options_log(work, member, before, error);
}

bool options_set_everywhere(Work *work, const Mailbox *address, MailEverywhere mail, const MemberOptions *vacation,
                            GError **error)
{
    if (mail != MAIL_PAUSES)
        return vacation_switch_everywhere(work_store(work), address, mail == MAIL_COMES, error);
    const Vacation away = {vacation->vacation_begins, vacation->vacation_ends, false};
    return vacation_set_everywhere(work_store(work), address, &away, work_now(work), error);
}

bool options_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error)
{
    const TemplateValue values[] = {{"options", request->detail}, {0}};
    TokenLetter letter = {.template = "confirm_set", .to = request->address, .values = values};
    g_auto(MemberOptions) options = MEMBER_OPTIONS_NONE;
    g_autoptr(GError) refusal = NULL;
    if (!(request->facts & FACT_CONFIRMED)) {
        if (!subscription_send_token(work, list, request, &letter, &subscription->result, error))
            return false;
        subscription_note(work, list, request, subscription);
        return true;
    }
    subscription->result = SUBSCRIPTION_DONE;
    if (!options_read(&options, request->detail, &refusal) ||
        !options_set(work, list, ROLE_MEMBER, request->address, &options, &refusal)) {
        if (!g_error_matches(refusal, FAIL, FAIL_MISSING) && !g_error_matches(refusal, FAIL, FAIL_NEVER))
            return fail_with(error, &refusal);
        subscription->result = SUBSCRIPTION_NO_CHANGE; /* left meanwhile, or the vacation is over */
    }
    subscription_note(work, list, request, subscription);
    return subscription_end(work, request, error);
}

bool options_ask(Work *work, const List *list, const Mailbox *address, const MemberOptions *options,
                 Subscription *subscription, GError **error)
{
    Member *found;
    g_autoptr(Pending) there = NULL;
    g_autofree char *text = options_text(options);
    *subscription = (Subscription){.result = SUBSCRIPTION_NO_CHANGE, .kind = PENDING_SET};
    if (!member_look_up(work_store(work), list->list_id, ROLE_MEMBER, address, &found, error))
        return false;
    g_autoptr(Member) member = found;
    g_autoptr(Mailbox) stored = mailbox_new(member ? member->address : NULL);
    Pending request = {.kind = PENDING_SET,
                       .list_id = list->list_id,
                       .address = stored ? stored : address,
                       .facts = options->facts,
                       .detail = text,
                       .delivery_mode = -1,
                       .delivery_status = -1,
                       .made_at = work_now(work)};
    if (member && !pending_find_like(work_store(work), &request, work_now(work), &there, error))
        return false;
    request.number = there ? there->number : 0;
    if (there && !(options->facts & FACT_CONFIRMED)) {
        /* One letter asks for all that was wished for lately, else the last of two wishes would void the first. */
        g_autofree char *both = g_strjoin(" ", there->detail, text, NULL);
        g_auto(MemberOptions) all = MEMBER_OPTIONS_NONE;
        if (options_read(&all, both, NULL)) { /* else another version wrote it: then this wish stands alone */
            g_free(text);
            request.detail = text = options_text(&all);
        }
    }
    bool asked = there && g_strcmp0(there->detail, text) == 0 &&
                 work_now(work) - there->asked_at < SUBSCRIPTION_ASK_AGAIN;
    if (member && !(asked && !(options->facts & FACT_CONFIRMED)))
        return options_advance(work, list, &request, subscription, error);
    if (member)
        subscription->result = SUBSCRIPTION_PERSON_WAITS;
    subscription_note(work, list, &request, subscription);
    return true;
}
