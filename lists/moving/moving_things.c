/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The things that are imported: domains, people and members; lists with their settings and what is small about them;
 * and all that waits for somebody. */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "base/text.h"
#include "lists/authority.h"
#include "lists/keys.h"
#include "lists/letters/template_name.h"
#include "lists/letters/template_set.h"
#include "lists/making/list_make.h"
#include "lists/making/setting_check.h"
#include "lists/moving/moving_internal.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "mail/header.h"
#include "mail/message.h"
#include "store/lists/domain.h"
#include "store/lists/list_setting.h"
#include "store/lists/news.h"
#include "store/people/ban.h"
#include "store/people/stranger.h"
#include "store/people/user.h"
#include "store/posts/autoresponse.h"
#include "store/posts/digest.h"
#include "store/posts/ticket.h"
#include "switchboard/meta.h"

/* ---- domains ---- */

bool moving_domain(Moving *moving, const MovingDomain *domain, GError **error)
{
    Work *work;
    bool in, known = false;
    GError *refusal = NULL;
    Store *store = moving->site.store, *trial_of = moving_trial_of(moving);
    g_clear_pointer(&moving->domains, g_hash_table_unref);
    if ((trial_of && !domain_answers(trial_of, domain->mail_host, &known, error)) || !moving_try(moving, &work, error))
        return false;
    bool done = domain_create(store, domain->mail_host, domain->description, &refusal);
    if (done && known) { /* it had to be made where this is tried */
        store_savepoint_end(store, true);
        moving_there(moving, MOVING_DOMAINS);
        return moving_step(moving, error);
    }
    if (!moving_settle(moving, done, refusal, &(MovingThing){MOVING_DOMAINS, domain->mail_host, ""}, &in, error))
        return false;
    if (in) /* with a list that comes, too */
        moving_tell(moving, MOVING_OF_SITE, "", "domain", "%s is made", domain->mail_host);
    g_autofree char *alias = domain->alias ? g_strdup_printf("%s of %s", domain->alias, domain->mail_host) : NULL;
    if (!in || !alias || !moving_may_site(moving, "alias_domain", alias))
        return true;
    if (!moving_try(moving, &work, error))
        return false;
    g_autoptr(GError) fault = NULL;
    done = domain_set_alias(store, domain->mail_host, domain->alias, &fault);
    store_savepoint_end(store, done);
    if (done)
        return true;
    moving_tell(moving, MOVING_LEFT_OUT, domain->mail_host, "alias_domain", "%s", fault->message);
    return !g_error_matches(fault, FAIL, FAIL_LATER) || fail_with(error, &fault);
}

bool moving_domain_owner(Moving *moving, const char *mail_host, const char *address, GError **error)
{
    g_autofree char *owner = g_strdup_printf("%s owns %s", address, mail_host);
    if (!moving_may_site(moving, "domain_owner", owner))
        return true;
    if (!moving_work(moving, error))
        return false;
    g_autoptr(GError) refusal = NULL;
    g_autoptr(User) user = user_find(moving->site.store, address, &refusal);
    if (user && domain_add_owner(moving->site.store, mail_host, user->id, &refusal))
        return true;
    if (g_error_matches(refusal, FAIL, FAIL_LATER))
        return fail_with(error, &refusal);
    moving_tell(moving, MOVING_LEFT_OUT, mail_host, "owner", "%s", refusal->message);
    return true;
}

/* ---- addresses ---- */

/* May a person have this address? Most are of other domains, and cost no question to the store. */
static bool may_have(Moving *moving, Work *work, const char *list_id, Role role, const char *address, GError **error)
{
    Store *trial_of = moving_trial_of(moving);
    if (!moving->domains) { /* of the site, and for a trial those of the store that it is made with */
        g_autoptr(GHashTable) domains = own_address_domains(moving->site.store, error);
        g_autoptr(GHashTable) more = domains && trial_of ? own_address_domains(trial_of, error) : NULL;
        if (!domains || (trial_of && !more))
            return false;
        GHashTableIter at;
        void *domain;
        if (more)
            g_hash_table_iter_init(&at, more);
        while (more && g_hash_table_iter_next(&at, &domain, NULL))
            g_hash_table_add(domains, g_strdup(domain));
        moving->domains = g_steal_pointer(&domains);
    }
    if (!own_address_may_be(moving->domains, address))
        return true;
    g_autoptr(Work) other = trial_of ? work_new(trial_of, moving->site.site, &moving->actor) : NULL;
    return own_address_check(work, list_id, role, address, error) &&
           (!other || own_address_check(other, list_id, role, address, error));
}

/* Make the address in the store of a trial as the site has it, so that it is known there, too. */
static bool recall_address(Moving *moving, const char *email, GError **error)
{
    bool known;
    KnownAddress *found = NULL;
    Store *trial_of = moving_trial_of(moving);
    g_autoptr(Mailbox) address = mailbox_new(trial_of ? email : NULL);
    if (trial_of && !address_look_up(trial_of, address, &found, error))
        return false;
    g_autoptr(KnownAddress) there = found;
    const CarryUser user = {.display_name = "", .preferences = preferences_unset};
    const CarryAddress same = {.email = email,
                                 .display_name = "",
                                 .preferred = there && there->preferred,
                                 .preferences = preferences_unset,
                                 .user = there && *there->user_id ? &user : NULL};
    return !there || carry_address(moving->site.store, &same, &known, error);
}

bool moving_address(Moving *moving, const CarryAddress *address, GError **error)
{
    bool known = false;
    GError *refusal = NULL;
    if (address->user && address->user->server_owner && !moving_may_site(moving, "server_owner", address->email))
        return true;
    if (!moving_may_site(moving, "address", NULL))
        return true;
    Work *work = moving_work(moving, error);
    if (!work)
        return false;
    bool done = recall_address(moving, address->email, &refusal) &&
                carry_address(moving->site.store, address, &known, &refusal);
    if (done && known)
        done = fail(&refusal, FAIL_EXISTS, "known");
    return moving_judge(moving, done, refusal, &(MovingThing){MOVING_ADDRESSES, address->email, "address"}, NULL,
                        error) &&
           moving_step(moving, error);
}

/* ---- members ---- */

bool moving_member_address(Moving *moving, const char *list_id, Role role, const char *address, GError **error)
{
    char id[STORE_ID_SIZE];
    KnownAddress *found;
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    Work *work = moving_work(moving, error);
    if (!work || !may_have(moving, work, list_id, role, address, error) ||
        !address_look_up(moving->site.store, mailbox, &found, error))
        return false;
    g_autoptr(KnownAddress) known = found;
    return known || user_create(moving->site.store, mailbox, NULL, id, error);
}

bool moving_member(Moving *moving, const CarryMember *from, GError **error)
{
    bool known = false, in;
    GError *refusal = NULL;
    Store *store = moving->site.store;
    CarryMember own = *from, *member = &own;
    Work *work = moving_work(moving, error);
    if (!work)
        return false;
    own.as_user = from->as_user && moving->site.of_site; /* of a user that this import may not make */
    /* Somebody may be known only because a post came from there; nobody asked for that row. */
    bool stranger = own.role == ROLE_NONMEMBER && own.moderation_action == ACTION_UNSET && !own.as_user &&
                    preferences_are_unset(&own.preferences);
    bool done = may_have(moving, work, member->list_id, member->role, member->address, &refusal) &&
                (!member->as_user || recall_address(moving, member->address, &refusal));
    if (done && stranger) {
        g_autoptr(Member) there = NULL;
        g_autoptr(Mailbox) address = mailbox_new(member->address);
        done = member_look_up(store, member->list_id, ROLE_NONMEMBER, address, &there, &refusal);
        known = there != NULL;
        done = done && (known || stranger_note(store, member->list_id, address, work_now(work), &refusal));
    } else if (done) {
        done = carry_member(store, member, &known, &refusal);
    }
    if (done && known)
        done = fail(&refusal, FAIL_EXISTS, "known");
    g_autofree char *key = g_strdup_printf("%s %s", role_text(member->role), member->address);
    if (!moving_judge(moving, done, refusal, &(MovingThing){MOVING_MEMBERS, member->list_id, key}, &in, error))
        return false;
    moving->came[member->role] += in;
    return moving_step(moving, error);
}

bool moving_kept_out(Moving *moving, const char *list_id, const char *address, int64_t left_at, GError **error)
{
    bool known = false;
    GError *refusal = NULL;
    if (!moving_work(moving, error))
        return false;
    g_autofree char *bare = mailbox_bare(address);
    bool done = carry_row(moving->site.store, "source_left", list_id, &known, &refusal, TEXT(bare ? bare : address),
                          TEXT("import"), INTEGER(left_at > 0 ? left_at : clock_now()));
    if (done && known)
        done = fail(&refusal, FAIL_EXISTS, "known");
    g_autofree char *key = g_strdup_printf("who left, %s", address);
    return moving_judge(moving, done, refusal, &(MovingThing){MOVING_KEPT_OUT, list_id, key}, NULL, error) &&
           moving_step(moving, error);
}

bool moving_log_came(Moving *moving, GError **error)
{
    for (int role = ROLE_MEMBER; role <= ROLE_NONMEMBER; role++) {
        const uint64_t came = moving->came[role];
        moving->came[role] = 0;
        if (came > 0 && !roster_log_many(moving->work, moving->list_id, (Role)role, came, error))
            return false;
    }
    return true;
}

/* ---- settings ---- */

/* Words one by one, so that one that is wrong does not keep the others out. */
static char *good_words(Moving *moving, const ListSetting *row, const char *place, const MovingSetting *setting)
{
    g_autoptr(GString) good = g_string_new(NULL);
    g_auto(GStrv) words = list_setting_words(setting->value);
    for (char **from = words; *from; from++) {
        g_autoptr(GError) refusal = NULL;
        g_autoptr(GString) escaped = g_string_new(*from);
        g_string_replace(escaped, ",", "\\,", 0);
        /* "@LIST" may name another list: who has this list sees whose posts pass, and so would learn who is a member of
         * that one. */
        bool other = **from == '@' && g_ascii_strcasecmp(*from + 1, place) != 0;
        if (other && !moving->site.of_site && !moving_may_site(moving, "setting", NULL))
            continue;
        g_autofree char *word = list_setting_canonical(row, escaped->str, &refusal);
        if (!word)
            moving_tell(moving, MOVING_LEFT_OUT, place, setting->key, "%s", refusal->message);
        else if (*word)
            g_string_append_printf(good, "%s%s", good->len ? "," : "", word);
    }
    return g_string_free(g_steal_pointer(&good), FALSE);
}

/* A placeholder that only the other system fills in stays as it is written, and the text is not left out for it. */
static void tell_unknown(Moving *moving, const char *place, const char *key, const char *unknown)
{
    if (unknown)
        moving_tell(moving, MOVING_CHANGED, place, key,
                    "%s: nothing here has this meaning, so it stays as it is written", unknown);
}

/* The value as it may be written here; g_free() */
static char *value_of(Moving *moving, const ListSetting *row, const char *place, const MovingSetting *setting)
{
    if (row->type == SETTING_WORDS)
        return good_words(moving, row, place, setting);
    if (row->type == SETTING_LINE) { /* blanks at its ends are part of it: of a prefix, say */
        if (!strpbrk(setting->value, "\r\n"))
            return g_strdup(setting->value);
        g_auto(GStrv) lines = g_strsplit_set(g_strstrip(setting->value), "\r\n", -1);
        moving_tell(moving, MOVING_CHANGED, place, setting->key, "its lines were joined to one");
        return g_strjoinv(" ", lines);
    }
    if (!row->placeholders)
        return g_strdup(setting->value);
    g_autofree char *unknown = NULL;
    char *usable = placeholder_keep_unknown(setting->value, row->placeholders, &unknown);
    tell_unknown(moving, place, setting->key, unknown);
    return usable;
}

bool moving_setting(Moving *moving, const List *list, const MovingSetting *setting, GError **error)
{
    GError *refusal = NULL;
    const Config *config = moving->site.site->config;
    const ListSetting *row = list_setting_find(setting->name, error);
    if (!row)
        return false;
    g_autofree char *written = value_of(moving, row, list->list_id, setting);
    g_autofree char *value = list_setting_canonical(row, written, &refusal);
    if (value && config && !setting_check(config, row->name, value, &refusal))
        g_clear_pointer(&value, g_free);
    g_autofree char *there = list_get(list, setting->name, NULL);
    if (value && g_strcmp0(value, there) != 0 && !authority_covers(authority_of_setting(row), BY_LIST)) {
        g_autofree char *what = g_strdup_printf("%s=%s of %s", row->name, value, list->list_id);
        if (!moving_may_site(moving, "setting", what))
            return true;
    }
    bool done = value && (g_strcmp0(value, there) == 0 ||
                          list_set(moving->site.store, list->list_id, setting->name, value, &refusal));
    return moving_judge(moving, done, refusal, &(MovingThing){MOVING_SETTINGS, list->list_id, setting->key}, NULL,
                        error);
}

/* ---- lists ---- */

/* Is there a list at this address, or with this List-Id, that is not from this import? */
static bool is_free(Store *store, const MovingList *from, GError **error)
{
    for (unsigned by_id = 0; by_id < 2; by_id++) {
        g_autoptr(GError) missing = NULL;
        g_autoptr(List) found = by_id ? list_by_id(store, from->list.list_id, &missing)
                                      : list_by_address(store, from->list.address, &missing);
        if (found)
            return fail(error, FAIL_NEVER,
                        "a list %s with the List-Id %s is there already, and not from this import; "
                        "nothing of it is changed",
                        found->posting_address, found->list_id);
        if (!g_error_matches(missing, FAIL, FAIL_MISSING) && !g_error_matches(missing, FAIL, FAIL_NEVER))
            return fail_with(error, &missing);
    }
    return true;
}

static List *make_list(Moving *moving, Work *work, const MovingList *from, GError **error)
{
    Store *store = moving->site.store;
    Store *trial_of = moving_trial_of(moving);
    char delimiter = moving->site.site->delimiter;
    if ((trial_of &&
         (!is_free(trial_of, from, error) || !list_name_is_free(trial_of, from->list.address, delimiter, error))) ||
        !is_free(store, from, error) || !list_name_is_free(store, from->list.address, delimiter, error))
        return NULL;
    g_autoptr(List) made = carry_list(store, &from->list, error);
    if (!made || !own_address_check_new(work, made->list_id, error))
        return NULL;
    bool as_new = from->volume <= 1 && from->next_digest <= 1 && from->digest_sent_at == 0;
    bool known; /* no post waits for the digest yet */
    if (!as_new && !carry_row(store, "digest", made->list_id, &known, error, INTEGER(MAX(from->volume, 1)),
                              INTEGER(MAX(from->next_digest, 1)), INTEGER(from->digest_sent_at), INTEGER(0),
                              INTEGER(0), INTEGER(0)))
        return NULL;
    return g_steal_pointer(&made);
}

bool moving_list(Moving *moving, const MovingList *from, List **made, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    Store *store = moving->site.store;
    *made = NULL;
    if (!moving_try(moving, &work, error))
        return false;
    g_autoptr(List) list = make_list(moving, work, from, &refusal);
    if (!moving_settle(moving, list != NULL, refusal, &(MovingThing){MOVING_LISTS, from->list.list_id, ""}, NULL,
                       error))
        return false;
    if (!list)
        return true;
    if (!moving_work(moving, error))
        return false;
    for (guint i = 0; i < from->settings->len; i++)
        if (!moving_setting(moving, list, from->settings->pdata[i], error))
            return false;
    *made = list_by_id(store, list->list_id, error);
    if (!*made || from->watermark < 0 || !*(*made)->settings->linked_newsgroup ||
        news_set_watermark(store, list->list_id, (*made)->settings->linked_newsgroup, from->watermark, error))
        return *made != NULL;
    g_clear_pointer(made, list_free);
    return false;
}

/* ---- what is small ---- */

static const char *place_word(const char *list_id)
{
    return list_id && *list_id ? list_id : "site";
}

bool moving_ban(Moving *moving, const char *list_id, const char *email, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    if (!list_id && !moving_may_site(moving, "site_ban", email))
        return true;
    g_autofree char *key = g_strdup_printf("ban %s", email);
    if (!moving_try(moving, &work, error))
        return false;
    bool done = ban_add(moving->site.store, list_id, email, &refusal);
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_BANS, place_word(list_id), key}, NULL, error);
}

bool moving_header_match(Moving *moving, const HeaderMatch *match, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    if ((!match->list_id || !*match->list_id) && !moving_may_site(moving, "site_header_match", match->header))
        return true;
    HeaderMatch copy = *match; /* these two are replaced */
    copy.header = g_strdup(match->header);
    copy.target = g_strdup(match->target);
    g_autofree char *key = g_strdup_printf("header match %s: %s", match->header, match->pattern);
    bool tried = moving_try(moving, &work, error);
    bool done = tried && header_match_add(moving->site.store, &copy, &refusal);
    g_free(copy.header);
    g_free(copy.target);
    return tried && moving_settle(moving, done, refusal,
                                  &(MovingThing){MOVING_HEADER_MATCHES, place_word(match->list_id), key}, NULL, error);
}

/* language NULL: any. */
static bool is_set(Moving *moving, const char *place, const char *name, const char *language, bool *set, GError **error)
{
    g_autoptr(GPtrArray) all = template_text_all(moving->site.store, place, error);
    *set = false;
    for (guint i = 0; all && i < all->len; i++) {
        const TemplateText *one = all->pdata[i];
        *set |= strcmp(one->name, name) == 0 && (!language || strcmp(one->language, language) == 0);
    }
    return all != NULL;
}

bool moving_template_is_set(Moving *moving, const char *place, const char *name, bool *set, GError **error)
{
    return is_set(moving, place, name, NULL, set, error);
}

bool moving_template(Moving *moving, const TemplateText *written, GError **error)
{
    Work *work;
    bool set;
    GError *refusal = NULL;
    TemplateText text = *written;
    g_autofree char *what = g_strdup_printf("%s of %s", written->name, *written->place ? written->place : "the site");
    if ((!*written->place || *written->place == '@') && !moving_may_site(moving, "site_template", what))
        return true;
    g_autofree char *unknown = NULL, *usable = NULL;
    const TemplateName *name = written->text ? template_name_find(written->name) : NULL;
    if (name && g_utf8_validate(written->text, -1, NULL)) {
        text.text = usable = template_keep_unknown(name, written->text, &unknown);
        tell_unknown(moving, place_word(written->place), written->name, unknown);
    }
    if (!moving_try(moving, &work, error))
        return false;
    bool done = is_set(moving, text.place, text.name, text.language, &set, &refusal) &&
                (set ? fail(&refusal, FAIL_EXISTS, "set") : template_set(work, &text, &refusal));
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_TEMPLATES, place_word(text.place), text.name},
                         NULL, error);
}

/* ---- what waits for somebody ---- */

typedef struct Same {
    const Held *held;
    int64_t number;
} Same;

static bool see_same(const Held *held, void *data)
{
    Same *same = data;
    if (g_strcmp0(held->message_id, same->held->message_id) == 0)
        same->number = held->number;
    return same->number == 0;
}

bool moving_held(Moving *moving, Held *held, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    Store *store = moving->site.store;
    Same same = {held, 0};
    /* A post of the same time with the same Message-ID is the same: an import that was cut short brought it. */
    const HeldFilter filter = {.list_id = held->list_id, .after = held->held_at, .before = held->held_at + 1};
    g_autoptr(Member) member = NULL;
    g_autoptr(Mailbox) sender = mailbox_new(held->sender);
    if (!moving_try(moving, &work, error))
        return false;
    bool done = held_select(store, &filter, see_same, &same, &refusal) &&
                (!sender || !*sender->text ||
                 member_look_up(store, held->list_id, ROLE_MEMBER, sender, &member, &refusal));
    held->stranger = !member;
    done = done && (same.number ? fail(&refusal, FAIL_EXISTS, "held") : held_add(store, held, &refusal)) &&
           held_set_told(store, held->number, HELD_TOLD_ALONE, &refusal);
    held->number = done ? held->number : same.number;
    g_autofree char *key = g_strdup_printf("held post <%s>", held->message_id ? held->message_id : "");
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_HELD, held->list_id, key}, NULL, error);
}

char *moving_post_meta(const List *list, const char *message_id, const char *sender)
{
    g_autoptr(json_t) meta = json_object();
    meta_set_string(meta, META_LIST, list->list_id);
    meta_set_string(meta, KEY_TO, TO_POSTING);
    meta_set_string(meta, KEY_RECIPIENT, list->posting_address);
    meta_set_string(meta, KEY_SENDER, sender ? sender : "");
    meta_set_string(meta, KEY_MESSAGE_ID, message_id);
    return meta_print(meta);
}

bool moving_post(Moving *moving, const List *list, Held *held, const char *sender, GError **error)
{
    g_autoptr(Message) parsed = message_new(held->message);
    g_autofree char *id = message_id_brief(parsed), *raw = message_value(parsed, "Subject");
    g_autofree char *subject = header_decode(raw ? raw : "");
    held->message_id = id;
    held->subject = subject;
    g_autofree char *meta = moving_post_meta(list, held->message_id, sender);
    held->meta = meta;
    bool done = moving_held(moving, held, error);
    held->message_id = held->subject = held->meta = NULL;
    return done;
}

bool moving_request(Moving *moving, const Pending *request, const char *token, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    Pending copy = *request, *there = NULL;
    copy.facts = moving_facts(moving, request->facts);
    copy.as_user = request->as_user && moving->site.of_site;
    if (!moving_try(moving, &work, error))
        return false;
    bool done = pending_find_like(moving->site.store, request, work_now(work), &there, &refusal) &&
                (there ? fail(&refusal, FAIL_EXISTS, "asked")
                       : pending_put(moving->site.store, &copy, token, &refusal));
    pending_free(there);
    g_autofree char *key = g_strdup_printf("request to %s of %s", pending_kind_text(request->kind),
                                           request->address->text);
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_REQUESTS, request->list_id, key}, NULL, error);
}

bool moving_ticket(Moving *moving, const char *list_id, int64_t held, const char *token, int64_t expires_at,
                   GError **error)
{
    Work *work;
    GError *refusal = NULL;
    Store *store = moving->site.store;
    Ticket ticket = {.list_id = (char *)list_id, .first = held, .last = held, .expires_at = expires_at};
    if (!moving_try(moving, &work, error))
        return false;
    g_autoptr(GError) missing = NULL;
    g_autoptr(Ticket) there = ticket_find(store, token, work_now(work), &missing);
    g_auto(GStrv) moderators = there ? NULL : list_administrators(store, list_id, &refusal);
    bool done = false;
    if (there)
        fail(&refusal, FAIL_EXISTS, "there");
    else if (moderators && !*moderators)
        fail(&refusal, FAIL_NEVER, "the list has neither owner nor moderator who could answer");
    else if (moderators) {
        ticket.moderator = *moderators;
        done = ticket_put(store, &ticket, token, &refusal);
    }
    g_autofree char *key = g_strdup_printf("letter about held post %" G_GINT64_FORMAT, held);
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_TICKETS, list_id, key}, NULL, error);
}

bool moving_digest_post(Moving *moving, const char *list_id, GBytes *post, int64_t time, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    if (!moving_try(moving, &work, error))
        return false;
    bool done = digest_collect(moving->site.store, list_id, post, time, &refusal);
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_DIGEST_POSTS, list_id, "digest"}, NULL, error);
}

bool moving_last_digest(Moving *moving, const char *list_id, const char *address, DeliveryMode mode, GError **error)
{
    Work *work;
    bool known;
    g_autoptr(GError) refusal = NULL;
    KnownAddress *found = NULL;
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    if (!moving_try(moving, &work, error))
        return false;
    bool done = address_look_up(moving->site.store, mailbox, &found, &refusal) &&
                (found ? carry_row(moving->site.store, "digest_last", list_id, &known, &refusal, TEXT(address),
                                   INTEGER(mode))
                       : fail(&refusal, FAIL_MISSING, "the address %s is not known", address));
    known_address_free(found);
    store_savepoint_end(moving->site.store, done);
    if (!done && g_error_matches(refusal, FAIL, FAIL_LATER))
        return fail_with(error, &refusal);
    if (!done)
        moving_tell(moving, MOVING_LEFT_OUT, list_id, "last digest", "%s", refusal->message);
    return moving_step(moving, error);
}

bool moving_answered(Moving *moving, const char *list_id, const char *kind, const char *address, int64_t time,
                     GError **error)
{
    Work *work;
    bool due = false;
    GError *refusal = NULL;
    const Autoresponse response = {.list_id = list_id,
                                   .kind = kind,
                                   .address = address,
                                   .entry = moving->source,
                                   .now = time,
                                   .grace = INT64_MAX / 2};
    if (!moving_try(moving, &work, error))
        return false;
    bool done = autoresponse_record(moving->site.store, &response, &due, &refusal);
    if (done && !due)
        done = fail(&refusal, FAIL_EXISTS, "answered");
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_ANSWERS, list_id, address}, NULL, error);
}

/* ---- settings are gathered ---- */

static void setting_free(gpointer data)
{
    MovingSetting *setting = data;
    g_free(setting->value);
    g_free(setting);
}

GPtrArray *moving_settings_new(void)
{
    return g_ptr_array_new_with_free_func(setting_free);
}

void moving_settings_add(GPtrArray *settings, const char *name, const char *key, char *value)
{
    MovingSetting *setting = g_new(MovingSetting, 1);
    *setting = (MovingSetting){name, key, value};
    g_ptr_array_add(settings, setting);
}

void moving_settings_add_word(GString *value, const char *word)
{
    g_autoptr(GString) usual = g_string_new(word);
    char *at = *word == '@' ? strchr(usual->str + 1, '@') : NULL;
    if (at)
        *at = '.';
    g_string_replace(usual, ",", "\\,", 0); /* a comma is part of the word */
    g_string_append_printf(value, "%s%s", value->len ? "\n" : "", usual->str);
}
