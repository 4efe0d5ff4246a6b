/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/letter.h"

#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/ip.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "lists/keys.h"
#include "lists/letters/reason.h"
#include "lists/letters/template_name.h"
#include "lists/letters/template_set.h"
#include "mail/fold.h"
#include "store/language.h"
#include "store/lists/list_setting.h"
#include "store/people/account.h"
#include "store/people/session.h"
#include "store/people/user.h"
#include "switchboard/meta.h"

#define VALUES_MAX 64
#define ROLES_MAX 8       /* of one address on one list: each role, by the address and by its user */
#define SITE_ASKS_A_DAY 3 /* letters to a mailbox whose answer concerns all lists, for each network that asks */
#define FORMS_A_DAY 3     /* forms to join with a mailbox, for each network that sends them */
#define JOIN_NETWORKS 3   /* all networks together may ask for a mailbox so many times as often as one */

/* Mailman's names for values of ours, so that its templates can be used. */
static const struct {
    const char *ours, *mailman;
} same_values[] = {
    {"address", "user_address"}, {"address", "user_email"}, {"address", "member"},
    {"sender", "sender_email"},  {"reason", "reasons"},      {"address", "sender_email"},
};

char *letter_member_name(const Work *work, const List *list, const char *address)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = list->list_id;
    criteria.address = address;
    g_autoptr(GPtrArray) found = member_page(work_store(work), &criteria, NULL, ROLES_MAX, NULL, NULL);
    for (unsigned at = 0; found && at < found->len; at++) {
        const Member *member = found->pdata[at];
        if (*member->given_name)
            return g_strdup(member->given_name);
    }
    return g_strdup("");
}

/* The name of the person whose "address" is among values: in a letter to that address what the person is called there,
 * in one to others what letter_member_name() finds. NULL: there is no such address. */
static char *person_name(const Work *work, const List *list, const char *to, const TemplateValue *values)
{
    while (values && values->name && strcmp(values->name, "address") != 0)
        values++;
    const char *address = values && values->name ? values->value : NULL;
    if (!address)
        return NULL;
    if (!to || g_ascii_strcasecmp(to, address) != 0)
        return letter_member_name(work, list, address);
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    g_autoptr(KnownAddress) known = address_find(work_store(work), mailbox, NULL);
    return g_strdup(known ? known->display_name : "");
}

static void add_value(TemplateValue *values, size_t *count, const char *name, const char *value)
{
    if (*count < VALUES_MAX - 1)
        values[(*count)++] = (TemplateValue){name, value};
}

/* to: whom the letter is to; NULL: several, or nobody knows. */
static char *fill(const Work *work, const List *list, const char *to, const char *text, const TemplateValue *own)
{
    g_autofree char *owner = list_address(list, "owner"), *request = list_address(list, "request");
    g_autofree char *join = list_address(list, "join"), *leave = list_address(list, "leave");
    const char *name = list->settings->display_name && *list->settings->display_name ? list->settings->display_name
                                                                                     : list->list_name;
    const TemplateList about = {
        .name = name, .local_name = list->list_name, .display_name = name, .description = list->settings->description,
        .info = list->settings->info, .list_id = list->list_id, .mail_host = list->mail_host,
        .posting_address = list->posting_address, .language = list->settings->preferred_language, .owner = owner,
        .request = request, .join = join, .leave = leave};
    const char *site_owner = work_site(work)->site_owner;
    TemplateValue values[VALUES_MAX] = {0}, common[TEMPLATE_LIST_VALUES];
    size_t count = 0, commons = template_list_values(&about, common);
    g_autofree char *person = strstr(text, "user_name") ? person_name(work, list, to, own) : NULL;
    for (; own && own->name; own++) {
        add_value(values, &count, own->name, own->value);
        for (size_t at = 0; at < G_N_ELEMENTS(same_values); at++)
            if (strcmp(same_values[at].ours, own->name) == 0)
                add_value(values, &count, same_values[at].mailman, own->value);
    }
    if (person) /* behind a name that the caller knows */
        add_value(values, &count, "user_name", person);
    for (size_t at = 0; at < commons; at++)
        add_value(values, &count, common[at].name, common[at].value);
    add_value(values, &count, "list_requests", request);
    add_value(values, &count, "site_address", site_owner);
    add_value(values, &count, "site_email", site_owner);
    g_autofree char *filled = template_fill(text, values);
    return g_utf8_make_valid(filled, -1);
}

char *letter_fill(const Work *work, const List *list, const char *text, const TemplateValue *values)
{
    return fill(work, list, NULL, text, values);
}

/* ---- texts ---- */

/* The list in whose words a letter is written; NULL: in the site's. */
static const List *words_of(const List *list, const char *template)
{
    const TemplateName *name = template_name_find(template);
    return name && name->owner == TEMPLATE_OF_SITE ? NULL : list;
}

/* The file, in the first language and folder that have it. list NULL: the site's. */
static char *load_file(const Work *work, const List *list, const char *language, const char *template)
{
    const char *const languages[] = {language, list ? list->settings->preferred_language : LANGUAGE_DEFAULT, "en"};
    const char *site = work_site(work)->templates;
    for (size_t at = 0; at < G_N_ELEMENTS(languages); at++) {
        char *text = site ? template_load_from(site, languages[at], template) : NULL;
        if (!text)
            text = template_load_from(NULL, languages[at], template);
        if (text)
            return text;
    }
    return NULL;
}

bool letter_speaks(const WorkSite *site, const char *language)
{
    g_autofree char *own = site->templates ? template_load_from(site->templates, language, "welcome") : NULL;
    g_autofree char *built_in = own ? NULL : template_load_from(NULL, language, "welcome");
    return own || built_in;
}

static bool has_subject(const char *text)
{
    return g_ascii_strncasecmp(text, "Subject:", strlen("Subject:")) == 0;
}

char *letter_text(const Work *work, const List *list, const char *language, const char *template, GError **error)
{
    const TemplateName *name = template_name_find(template);
    const char *wanted = language ? language : list->settings->preferred_language;
    TemplateText *found = NULL;
    const List *whose = words_of(list, template);
    if (name && !template_text_find(work_store(work), name->mailman, whose, wanted, &found, error))
        return NULL;
    g_autoptr(TemplateText) row = found;
    g_autofree char *set = row ? g_steal_pointer(&row->text) : NULL, *own = NULL;
    if (row && !set) { /* a URI of the installation may name a file, and a language of its own */
        const char *installed = template_installed(row->uri, &own);
        set = installed ? load_file(work, whose, own ? own : wanted, installed) : NULL;
    }
    if (set && has_subject(set))
        return g_steal_pointer(&set);
    g_autofree char *file = load_file(work, whose, wanted, name && name->file ? name->file : template);
    if (!set && !file)
        fail(error, FAIL_MISSING, "there is no template %s", template);
    if (!set || !file || !has_subject(file))
        return set ? g_steal_pointer(&set) : g_steal_pointer(&file);
    file[strcspn(file, "\n")] = '\0';
    return g_strconcat(file, "\n\n", set, NULL);
}

bool letter_is_worded_below(Work *work, const List *list, const Mailbox *address, const char *template, bool *worded,
                            GError **error)
{
    g_autofree char *language = letter_language(work, list, address);
    const TemplateName *name = template_name_find(template);
    TemplateText *found = NULL;
    if (name && !template_text_find(work_store(work), name->mailman, words_of(list, template), language, &found, error))
        return false;
    g_autoptr(TemplateText) row = found;
    *worded = row && row->text && *row->place;
    return true;
}

char *letter_language(const Work *work, const List *list, const Mailbox *address)
{
    char *language = NULL;
    g_autoptr(GError) error = NULL;
    if (!address_language(work_store(work), list ? list->list_id : NULL, address, &language, &error))
        log_warn("the language of <%s> is not known: %s", address->text, error->message);
    return language ? language : g_strdup(list ? list->settings->preferred_language : LANGUAGE_DEFAULT);
}

static void read_mark(const LoopKeys *keys, GBytes *octets, LoopMark *mark)
{
    g_autoptr(Message) message = octets ? message_new(octets) : NULL;
    if (message)
        loop_mark_read(keys, message, mark);
}

bool letter_mark(Work *work, const ListLetter *letter, LoopMark *mark, GError **error)
{
    const LoopKeys *keys = work_loop_keys(work, error);
    if (!keys)
        return false;
    read_mark(keys, work_cause(work), mark);
    read_mark(keys, letter->about, mark);
    for (unsigned at = 0; letter->further && at < letter->further->len; at++)
        read_mark(keys, letter->further->pdata[at], mark);
    loop_mark_derive(mark);
    return true;
}

/* Make the letter's Subject and text from its template, in the language of who reads it; g_free(). *text is NULL where
 * there is no such template, which the log is told. False: the store failed. */
static bool make_text(const Work *work, const List *list, const ListLetter *letter, char **text, GError **error)
{
    static const char *const reasons[] = {"reasons", "reason", "items", "data", "why", "outcome", NULL};
    g_autoptr(GError) why = NULL;
    const char *to = letter->recipients ? NULL : letter->to;
    g_autoptr(Mailbox) reader = mailbox_new(letter->language ? NULL : to);
    *text = NULL;
    g_autofree char *language = letter->language ? g_strdup(letter->language)
                                : to             ? letter_language(work, words_of(list, letter->template), reader)
                                                 : g_strdup(list->settings->preferred_language);
    g_autofree char *template = letter_text(work, list, language, letter->template, &why);
    if (!template && !g_error_matches(why, FAIL, FAIL_MISSING))
        return fail_with(error, &why);
    if (!template) {
        log_warn("%s list=%s no letter: %s", work_actor(work)->from ? work_actor(work)->from : "-", list->list_id,
                 why->message);
        return true;
    }
    if (letter->must_say) {
        g_autofree char *placeholder = g_strdup_printf("$%s", letter->must_say);
        g_autofree char *long_form = g_strdup_printf("${%s}", letter->must_say), *before = NULL;
        if (!strstr(template, placeholder) && !strstr(template, long_form)) {
            before = template;
            template = g_strconcat(g_strchomp(before), "\n\n", placeholder, "\n", NULL);
        }
    }

    TemplateValue values[VALUES_MAX] = {0};
    g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func(g_free);
    for (size_t at = 0; letter->values && letter->values[at].name && at < VALUES_MAX - 1; at++) {
        values[at] = letter->values[at];
        if (!values[at].value || !g_strv_contains(reasons, values[at].name))
            continue;
        char *translated = reason_translate(work, list, language, values[at].value);
        g_ptr_array_add(kept, translated);
        values[at].value = translated;
    }

    /* Values make lines longer than their template has them. The Subject stays one line. */
    g_autofree char *filled = fill(work, list, to, template, values);
    const char *body = has_subject(filled) ? strchrnul(filled, '\n') : filled;
    g_autofree char *subject = g_strndup(filled, (size_t)(body - filled)), *folded = fold_paragraphs(body);
    *text = g_strconcat(subject, folded, NULL);
    return true;
}

bool work_letter(Work *work, const List *list, const ListLetter *letter, GError **error)
{
    const char *const one[] = {letter->to && *letter->to ? letter->to : NULL, NULL};
    g_auto(GStrv) recipients = letter->recipients ? letter->recipients : g_strdupv((char **)one);
    char *made;
    if (!*recipients)
        return true;
    if (!make_text(work, list, letter, &made, error))
        return false;
    g_autofree char *text = made, *owner = list_address(list, "owner");
    if (!text)
        return true;
    g_autofree char *id = notice_id(letter->template, list->mail_host);
    const char *sender = letter->envelope_sender ? letter->envelope_sender : "";
    bool of_site = !words_of(list, letter->template);
    Notice notice = {.from_name = letter->from_name,
                     .from = letter->from ? letter->from : owner,
                     .to = letter->to,
                     .reply_to = letter->reply_to,
                     .text = text,
                     .id = id,
                     .in_reply_to = letter->in_reply_to,
                     .date = letter->date ? letter->date : work_now(work),
                     .personal = letter->personal || of_site,
                     .replied = letter->in_reply_to != NULL,
                     .attach = letter->attach,
                     .about = letter->about,
                     .further = letter->further,
                     .most = letter->most};
    g_autoptr(GPtrArray) pieces = notice_compose(&notice);

    /* The mark stands before the other fields: the letter has been where the mails have been that it is about. */
    g_auto(LoopMark) own = {0};
    if (!letter->mark && !letter_mark(work, letter, &own, error))
        return false;
    const LoopMark *mark = letter->mark ? letter->mark : &own;
    const LoopKeys *keys = work_loop_keys(work, error);
    if (!keys)
        return false;
    g_autofree char *value = loop_mark_make(keys, mark, LOOP_LETTER, list->id, id, mark->origin);
    char *field = g_strdup_printf(LOOP_MARK_FIELD ": %s\r\n", value);
    g_ptr_array_insert(pieces, 0, g_bytes_new_take(field, strlen(field)));

    json_t *meta = json_object();
    meta_set_string(meta, META_TRACE, letter->trace);
    meta_set_string(meta, META_LIST, list->list_id);
    meta_set_string(meta, KEY_SENDER, sender);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, sender);
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    meta_set_string(meta, KEY_PRIORITY, "notice");
    if (of_site)
        meta_set_bool(meta, KEY_OF_SITE, true);
    for (unsigned at = 0; at < pieces->len; at++)
        if (bytes_8bit_of(pieces->pdata[at]))
            meta_set_bool(meta, KEY_BODY_8BIT, true);
    work_entry(work, letter->queue ? letter->queue : "virgin", meta, g_steal_pointer(&pieces),
               g_steal_pointer(&recipients));
    return true;
}

/* ---- how many letters may go ---- */

/* A count that a letter needs room in. */
typedef struct LetterLimit {
    AccountKind kind;
    char *who;    /* consumed */
    int64_t most; /* 0: no limit */
    bool told;    /* the address hears once that it gets no more */
    bool quiet;   /* a refusal is not told in the log, where forms could write very many */
} LetterLimit;

#define LIMITS_MAX 5
#define SIGN_INS_AN_HOUR 3

/* Is there room under this limit? The first time that there is none is recorded, so that it can be told once. */
static bool ask_limit(Work *work, const List *list, const char *address, const LetterLimit *limit, bool *allowed,
                      GError **error)
{
    Store *store = work_store(work);
    int64_t total, refused, now = work_now(work);
    if (!account_count(store, limit->kind, limit->who, now, &total, error))
        return false;
    *allowed = total < limit->most;
    if (*allowed)
        return true;

    /* The site has taken as many forms, or sent as many links, as it may on a day: the log has one line an hour. */
    if (strcmp(limit->who, ACCOUNT_OF_SITE) == 0) {
        bool joins = limit->kind == ACCOUNT_FORM_SITE;
        if (!account_add(store, ACCOUNT_FORM_REFUSED, joins ? ACCOUNT_OF_SITE : "links", now, &refused, error))
            return false;
        if (refused == 1)
            log_warn("%s max_form_letters_per_day %s today (%" G_GINT64_FORMAT "); %s",
                     work_actor(work)->from ? work_actor(work)->from : "-",
                     joins ? "forms to join were taken" : "links to sign in were sent", limit->most,
                     joins ? "whoever fills in one is told to ask by mail or to come again tomorrow"
                           : "only those who run lists get one until tomorrow");
    }
    if (!limit->quiet)
        work_log(work, list->list_id, "to=<%s> result=no-letter (%s: %" G_GINT64_FORMAT " today)", address,
                 account_kind_text(limit->kind), limit->most);
    if (total > limit->most)
        return true;
    if (!account_add(store, limit->kind, limit->who, now, &total, error))
        return false;
    if (!limit->told)
        return true;
    /* Once a day, so that nobody wonders why there is no answer. */
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, limit->most);
    const TemplateValue values[] = {{"address", address}, {"number", number}, {"count", number}, {0}};
    ListLetter letter = {.template = "no_more_today", .values = values, .to = address, .in_reply_to = ""};
    return work_letter(work, list, &letter, error);
}

/* Count a letter to address under all limits, if each has room. */
static bool count_letter(Work *work, const List *list, const char *address, const LetterLimit limits[LIMITS_MAX],
                         bool *allowed, GError **error)
{
    int64_t total;
    *allowed = true;
    for (size_t at = 0; at < LIMITS_MAX && *allowed; at++)
        if (limits[at].most > 0 && !ask_limit(work, list, address, &limits[at], allowed, error))
            return false;
    for (size_t at = 0; at < LIMITS_MAX && *allowed; at++)
        if (limits[at].most > 0 &&
            !account_add(work_store(work), limits[at].kind, limits[at].who, work_now(work), &total, error))
            return false;
    return true;
}

/* The limit for the network from which the mail came that causes the letter. */
static LetterLimit host_limit(const Work *work)
{
    const char *host = work_actor(work)->host;
    return host ? (LetterLimit){.kind = ACCOUNT_HOST_LETTERS,
                                .who = ip_network(host),
                                .most = work_site(work)->letters_per_host}
                : (LetterLimit){0};
}

static void limits_clear(LetterLimit limits[LIMITS_MAX])
{
    for (size_t at = 0; at < LIMITS_MAX; at++)
        g_free(limits[at].who);
}

bool letter_allowed(Work *work, const List *list, const char *address, bool *allowed, GError **error)
{
    LetterLimit limits[LIMITS_MAX] = {
        host_limit(work),
        {.kind = ACCOUNT_ANSWERS, .who = mailbox_base(address), .most = work_site(work)->answers_a_day, .told = true}};
    bool done = count_letter(work, list, address, limits, allowed, error);
    limits_clear(limits);
    return done;
}

/* A person who fills in a form has proved nothing, and may write the address of anybody, for every list and from very
 * many networks. What a stranger sends from his network leaves room for what the person sends from his own. */
bool letter_form_allowed(Work *work, const List *list, const char *address, bool *allowed, GError **error)
{
    const char *host = work_actor(work)->host;
    g_autofree char *base = mailbox_base(address), *network = ip_network(host ? host : "-");
    LetterLimit limits[LIMITS_MAX] = {
        {.kind = ACCOUNT_FORMS,
         .who = g_strdup_printf("%s %s", base, network),
         .most = FORMS_A_DAY,
         .quiet = true},
        {.kind = ACCOUNT_FORMS, .who = g_strdup(base), .most = work_site(work)->answers_a_day, .quiet = true},
        {.kind = ACCOUNT_FORMS,
         .who = g_strdup(network),
         .most = host ? work_site(work)->letters_per_host : 0,
         .quiet = true},
        {.kind = ACCOUNT_FORM_SITE,
         .who = g_strdup(ACCOUNT_OF_SITE),
         .most = work_site(work)->form_letters,
         .quiet = true}};
    bool done = count_letter(work, list, address, limits, allowed, error);
    limits_clear(limits);
    return done;
}

/* A stranger who asks in another's name must not keep him out: when the mailbox has got its links of the hour, there is
 * one that is good still, or a further one goes. Few run lists, so no count of all keeps a link from them. */
static bool sign_in_allowed(Work *work, const List *list, const LetterAsking *asking, bool *allowed, GError **error)
{
    bool lives;
    const char *host = work_actor(work)->host;
    if (!session_link_lives(work_store(work), asking->address, work_now(work), &lives, error))
        return false;
    LetterLimit limits[LIMITS_MAX] = {{.kind = ACCOUNT_SIGN_IN,
                                       .who = mailbox_base(asking->address->text),
                                       .most = lives ? SIGN_INS_AN_HOUR : INT64_MAX,
                                       .quiet = true},
                                      {.kind = ACCOUNT_SIGN_IN_ALL,
                                       .who = ip_network(host ? host : "-"),
                                       .most = host && !asking->runs_lists ? work_site(work)->letters_per_host : 0,
                                       .quiet = true},
                                      {.kind = ACCOUNT_SIGN_IN_ALL,
                                       .who = g_strdup(ACCOUNT_OF_SITE),
                                       .most = asking->runs_lists ? 0 : work_site(work)->form_letters,
                                       .quiet = true}};
    bool done = count_letter(work, list, asking->address->text, limits, allowed, error);
    limits_clear(limits);
    return done;
}

bool letter_asking_allowed(Work *work, const List *list, const LetterAsking *asking, bool *allowed, GError **error)
{
    const Actor *actor = work_actor(work);
    bool form = actor->door == DOOR_PAGE && actor->role == ACTOR_ADDRESS && !asking->vouched;
    *allowed = true;
    if (asking->sign_in)
        return sign_in_allowed(work, list, asking, allowed, error);
    if (form && !asking->of_member) /* letter_form_allowed() has counted it */
        return true;
    int64_t most = work_site(work)->answers_a_day, most_of_kind = asking->of_site ? MIN(most, SITE_ASKS_A_DAY) : most;
    g_autofree char *base = mailbox_base(asking->address->text);
    /* A person who is signed in on the pages may come from any network. */
    g_autofree char *network = actor->host && actor->door != DOOR_PAGE ? ip_network(actor->host) : NULL;
    /* There is no end of addresses with a detail that lead to one mailbox: what is asked from one proves least. */
    bool own = actor->address && mailbox_same(actor->address, asking->address->text) &&
               (asking->of_member || !mailbox_has_detail(asking->address->text));
    bool other = actor->door == DOOR_MAIL && !asking->vouched && !own;
    /* Requests for an own address are counted apart from requests that come from elsewhere and only say that the
     * address is theirs. */
    char *who = g_strdup_printf("%s %s %s %s", asking->of_site || form ? "-" : list->list_id, asking->kind, base,
                                form      ? "form"
                                : other   ? "*"
                                : network ? network
                                          : "-");
    /* With From forged every list could be had to write to a mailbox. */
    bool joins = own && !asking->of_member && !asking->of_site;
    LetterLimit limits[LIMITS_MAX] = {
        asking->of_member ? (LetterLimit){0} : host_limit(work),
        {.kind = ACCOUNT_CONFIRMATIONS, .who = who, .most = most_of_kind, .told = !other && !form},
        {.kind = ACCOUNT_FOR_OTHERS, .who = g_strdup(base), .most = other ? most : 0},
        {.kind = ACCOUNT_CONFIRMATIONS,
         .who = g_strdup_printf("all %s %s %s", asking->kind, base, network ? network : "-"),
         .most = joins ? most : 0,
         .told = true},
        {.kind = ACCOUNT_CONFIRMATIONS,
         .who = g_strdup_printf("all %s %s", asking->kind, base),
         .most = joins ? JOIN_NETWORKS * most : 0,
         .told = true}};
    bool done = count_letter(work, list, asking->address->text, limits, allowed, error);
    limits_clear(limits);
    return done;
}

char **letter_owners(Store *store, const List *list, const char *site_owner, GError **error)
{
    char **all = list_administrators(store, list->list_id, error);
    if (!all || *all)
        return all;
    g_strfreev(all);
    const char *const one[] = {site_owner && *site_owner ? site_owner : NULL, NULL};
    return g_strdupv((char **)one);
}

/* Return the text that follows "key: " on a line; NULL: there is no such line. */
static char *find_sentence(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            return g_strstrip(g_strndup(line + length + 1, strcspn(line + length + 1, "\n")));
    return NULL;
}

char *letter_sentence(const Work *work, const List *list, const char *language, const char *key,
                      const TemplateValue *values)
{
    /* A site's own file need not have every sentence: then the built-in one, then the English one. */
    const char *const folders[] = {work_site(work)->templates, NULL, NULL, NULL};
    const char *own = list->settings->preferred_language;
    const char *const languages[] = {language ? language : own, language ? language : own, own, "en"};
    for (size_t at = 0; at < G_N_ELEMENTS(folders); at++) {
        g_autofree char *text = template_load_from(folders[at], languages[at], "answers");
        g_autofree char *sentence = text ? find_sentence(text, key) : NULL;
        g_auto(GStrv) lines = sentence ? g_strsplit(sentence, "\\n", -1) : NULL;
        g_autofree char *broken = lines ? g_strjoinv("\n", lines) : NULL;
        if (broken)
            return letter_fill(work, list, broken, values);
    }
    return g_strdup(key);
}

char *letter_page(const Work *work, const List *list, const char *language, const char *kind, const char *token)
{
    g_autofree char *path = g_strdup_printf("/%s/%s", kind, token);
    g_autofree char *url = work_site_page(work_site(work), path);
    if (!url)
        return g_strdup("");
    g_autofree char *key = g_strconcat("page_", kind, NULL);
    g_autofree char *sentence = letter_sentence(work, list, language, key, NULL);
    return g_strdup_printf("\n%s\n\n    %s\n", sentence, url);
}
