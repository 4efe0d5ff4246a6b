/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/authenticity.h"

#include <string.h>

#include "base/clock.h"
#include "base/pattern.h"
#include "mail/address.h"
#include "mail/auth/auth_results.h"
#include "mail/auth/dkim.h"
#include "mail/auth/dmarc.h"
#include "mail/domain_name.h"
#include "posting/list_cache.h"
#include "store/lists/list_setting.h"

/* --- authors --------------------------------------------------------------- */

GPtrArray *authors_read(const Post *post, bool *readable)
{
    GPtrArray *authors = address_list_new();
    size_t index = 0;
    unsigned fields = 0;
    bool sure = true;
    for (const Field *field; (field = message_find(post->message, "From", &index)); index++, fields++)
        sure = address_parse(field->text + field->value_offset, field->length - field->value_offset, authors) && sure;
    sure = sure && fields == 1 && authors->len > 0 && authors->len <= AUTHORS_MAX;
    for (guint at = 0; sure && at < authors->len; at++) {
        /* The DNS has the domain when it is ASCII, or can be written so. */
        g_autofree char *domain = NULL;
        sure = address_split(((const Address *)authors->pdata[at])->mailbox, NULL, &domain);
        g_autofree char *ascii = sure ? domain_name_ascii(domain) : NULL;
        sure = sure && g_str_is_ascii(ascii);
    }
    if (readable)
        *readable = sure;
    return authors;
}

/* --- signatures ------------------------------------------------------------ */

/* More would only be somebody's trick to make the field long. */
#define RESULTS_MAX 30
#define WORD_MAX 900 /* bytes: a line may have 998 */

static NamesAnswer no_text(void *data, const char *name, const char *const **texts)
{
    return NAMES_TROUBLE;
}

static NamesAnswer no_name(void *data, const char *name)
{
    return NAMES_TROUBLE;
}

/* Where nobody can be asked. */
static const Names no_names = {no_text, no_name, NULL};

static bool is_trusted(const Post *post, const char *server)
{
    for (const char *const *name = post->site->trusted; name && *name; name++)
        if (g_ascii_strcasecmp(*name, server) == 0)
            return true;
    return false;
}

/* Does no word make a line longer than mail may have (RFC 5322, 2.1.1)? Only nonsense has such words. */
static bool can_be_folded(const char *text)
{
    for (; *text; text += strcspn(text, " "), text += strspn(text, " "))
        if (strcspn(text, " ") > WORD_MAX)
            return false;
    return true;
}

/* Add the results that others found and that are not checked here. */
static void add_trusted(const Post *post, GPtrArray *texts)
{
    size_t index = 0;
    for (const Field *field; (field = message_find(post->message, "Authentication-Results", &index)); index++) {
        g_autofree char *value = field_value(field);
        g_autoptr(AuthResults) found = auth_results_read(value);
        for (guint at = 0; found && is_trusted(post, found->server) && at < found->results->len; at++) {
            const AuthResult *result = found->results->pdata[at];
            bool own = strcmp(result->method, "dkim") == 0 || strcmp(result->method, "arc") == 0;
            if (!own && texts->len < RESULTS_MAX && can_be_folded(result->text))
                g_ptr_array_add(texts, g_strdup(result->text));
        }
    }
}

/* The domain of the author in ASCII (RFC 9989, 5.3.1), as it can stand in a result; g_free(). NULL: From has none that
 * is sure, or several. */
static char *author_domain(const Post *post)
{
    bool readable;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    g_autofree char *domain = NULL;
    for (guint at = 0; readable && at < authors->len; at++) {
        g_autofree char *written = NULL;
        if (!address_split(((const Address *)authors->pdata[at])->mailbox, NULL, &written))
            return NULL;
        g_autofree char *name = domain_name_ascii(written);
        if (domain && strcmp(name, domain) != 0)
            return NULL;
        g_free(domain);
        domain = g_steal_pointer(&name);
    }
    bool plain = domain && strlen(domain) <= 253 && strspn(domain, G_CSET_a_2_z G_CSET_DIGITS "-.") == strlen(domain);
    return plain ? g_steal_pointer(&domain) : NULL;
}

bool authenticity_find(Post *post)
{
    if (post->authenticity || !post->site || !post->site->authserv_id)
        return true;
    const Names *names = post->names ? post->names : &no_names;
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *domain = author_domain(post);
    DmarcRecord record;
    ArcChain chain;
    /* All begin to ask before one waits. */
    if (domain)
        dmarc_find(names, domain, &record, NULL);
    int64_t arrival = post->arrival ? post->arrival : post->now;
    bool signatures = dkim_results(post->message, names, arrival, texts);
    bool seals = arc_check(post->message, names, arrival, &chain);
    if (!signatures || !seals)
        return false;
    g_ptr_array_add(texts, g_strdup_printf("arc=%s", arc_status_text(chain.status)));
    add_trusted(post, texts);
    /* A trusted server that spoke of DMARC knew more of the author than is known here: its SPF. */
    bool spoken = !domain;
    for (guint at = 0; at < texts->len; at++)
        spoken |= g_str_has_prefix(texts->pdata[at], "dmarc=");
    if (!spoken) {
        char *result;
        NamesAnswer answer = dmarc_find(names, domain, &record, NULL);
        if (answer == NAMES_PENDING || !dmarc_result(names, domain, answer, &record, texts, &result))
            return false;
        if (result)
            g_ptr_array_add(texts, result);
    }
    g_ptr_array_add(texts, NULL);
    post->authenticity = g_new0(Authenticity, 1);
    post->authenticity->results = auth_results_write(post->site->authserv_id, (char **)texts->pdata);
    post->authenticity->chain = chain;
    return true;
}

bool authenticity_seal(const Post *post, ArcSeal *seal)
{
    const Authenticity *found = post->authenticity;
    if (!found || post->list->settings->anonymous_list || !arc_may_seal(&found->chain))
        return false;
    *seal = (ArcSeal){found->chain, found->results, post->now};
    return true;
}

void authenticity_free(Authenticity *authenticity)
{
    if (authenticity)
        g_free(authenticity->results);
    g_free(authenticity);
}

/* --- what a list does about a policy --------------------------------------- */

/* A list that waits for the DNS does so for a day; then the post goes as if there were a policy. */
#define PATIENCE (24 * 3600 * CLOCK_SECOND)

/* To refuse a post because a name server was down would lose it. */
static Mitigation gentle(Mitigation action)
{
    return action == MITIGATION_WRAP_MESSAGE ? action : MITIGATION_MUNGE_FROM;
}

/* Must the author's name not stay in From? NAMES_FOUND: it must not. NAMES_NONE: it may. */
static NamesAnswer find_for(const Post *post, const char *author)
{
    const List *list = post->list;
    Mitigation action = (Mitigation)list->settings->dmarc_mitigate_action;
    g_autofree char *domain = NULL;
    DmarcRecord record;
    if (address_same(author, list->posting_address) || !address_split(author, NULL, &domain))
        return NAMES_NONE;
    if ((action == gentle(action) && list->settings->dmarc_mitigate_unconditionally) ||
        pattern_match_any(list->settings->dmarc_addresses, author, post->patterns))
        return NAMES_FOUND;
    NamesAnswer answer = post->names ? dmarc_find(post->names, domain, &record, NULL) : NAMES_TROUBLE;
    if (answer != NAMES_FOUND)
        return answer;
    /* A domain that tests its policy (t=y) wants its names changed as if it did not. */
    DmarcPolicy policy = action == gentle(action) ? record.policy : dmarc_applied(&record);
    return policy == DMARC_NONE ? NAMES_NONE : NAMES_FOUND;
}

/* The strictest policy of all authors counts. A From that not every reader reads in the same way may show anybody's
 * name, so it is as one whose policy is reject. */
static NamesAnswer find(const Post *post, Mitigation *mitigation)
{
    Mitigation action = (Mitigation)post->list->settings->dmarc_mitigate_action;
    bool readable, demanded = false;
    NamesAnswer worst = NAMES_NONE;
    *mitigation = MITIGATION_NONE;
    if (action == MITIGATION_NONE || post->list->settings->anonymous_list || post->ours)
        return NAMES_NONE;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    for (guint at = 0; readable && at < authors->len; at++) {
        NamesAnswer answer = find_for(post, ((const Address *)authors->pdata[at])->mailbox);
        demanded |= answer == NAMES_FOUND;
        worst = MAX(worst, answer);
    }
    if (demanded || !readable) {
        *mitigation = action;
        return NAMES_FOUND;
    }
    if (worst == NAMES_TROUBLE)
        *mitigation = post->list->settings->dmarc_without_answer == DMARC_WITHOUT_PASS ? MITIGATION_NONE
                                                                                       : gentle(action);
    return worst;
}

/* Does a signature of this author hold for the message? It must be by his very domain where that asks for it
 * (adkim=s). */
static NamesAnswer signed_by(const Post *post, const Message *message, const char *author)
{
    g_autofree char *domain = NULL;
    DmarcRecord record;
    if (!address_split(author, NULL, &domain))
        return NAMES_NONE;
    NamesAnswer known = dmarc_find(post->names, domain, &record, NULL);
    bool strict = known == NAMES_TROUBLE || (known == NAMES_FOUND && record.strict_dkim);
    if (known == NAMES_PENDING)
        return known;
    return dkim_holds(message, domain, strict, post->names, post->now);
}

/* Does a signature of each author hold for the message that receivers will believe? */
static NamesAnswer author_signed(const Post *post, const Message *message)
{
    bool readable;
    NamesAnswer worst = NAMES_FOUND;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    for (guint at = 0; readable && at < authors->len; at++)
        worst = MAX(worst, signed_by(post, message, ((const Address *)authors->pdata[at])->mailbox));
    return readable ? worst : NAMES_NONE;
}

bool mitigation_unneeded(const Post *post, const Message *copy, bool *unneeded, GError **error)
{
    const List *list = post->list;
    *unneeded = false;
    if (!list->settings->dmarc_keep_signed || !post->names || list->settings->personalize == PERSONALIZE_FULL)
        return true;
    g_autofree char *above = NULL, *below = NULL;
    if (!list_cache_frame(post, &above, &below, error))
        return false;
    *unneeded = !above && !below && author_signed(post, copy) == NAMES_FOUND;
    return true;
}

NamesAnswer mitigation_find(Post *post, Mitigation *mitigation)
{
    if (!post->mitigation_known) {
        Mitigation found;
        NamesAnswer answer = find(post, &found);
        /* A post whose author's signature may hold to the end waits for its key, which mitigation_unneeded() needs. */
        if (answer != NAMES_PENDING && found != MITIGATION_NONE && found == gentle(found) &&
            post->list->settings->dmarc_keep_signed && post->names &&
            author_signed(post, post->message) == NAMES_PENDING)
            answer = NAMES_PENDING;
        post->mitigation_answer = answer;
        post->mitigation = (int)found;
        post->mitigation_known = post->mitigation_answer != NAMES_PENDING;
    }
    *mitigation = (Mitigation)post->mitigation;
    return post->mitigation_answer;
}

bool mitigation_waits(const Post *post)
{
    return post->list->settings->dmarc_without_answer == DMARC_WITHOUT_WAIT && post->now - post->arrival < PATIENCE;
}
