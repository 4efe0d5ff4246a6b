/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/authenticity.h"

#include <string.h>

#include "mail/address.h"
#include "mail/auth/auth_results.h"
#include "mail/auth/dmarc.h"
#include "mail/domain_name.h"
#include "posting/authors.h"
#include "store/lists/list_setting.h"

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

static bool speaks_of_dmarc(const GPtrArray *texts)
{
    for (guint at = 0; at < texts->len; at++)
        if (g_str_has_prefix(texts->pdata[at], "dmarc="))
            return true;
    return false;
}

/* Add what DMARC says of the author. A trusted server that spoke of it knew more than is known here: its SPF. Returns
 * false when an answer of the DNS is still to come. */
static bool add_dmarc(const Names *names, const char *domain, GPtrArray *texts)
{
    DmarcRecord record;
    char *result;
    if (!domain || speaks_of_dmarc(texts))
        return true;
    NamesAnswer answer = dmarc_find(names, domain, &record, NULL);
    if (answer == NAMES_PENDING || !dmarc_result(names, domain, answer, &record, texts, &result))
        return false;
    if (result)
        g_ptr_array_add(texts, result);
    return true;
}

bool authenticity_find(Post *post)
{
    if (post->authenticity || !post->site || !post->site->authserv_id)
        return true;
    const Names *names = post->names ? post->names : &no_names;
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *domain = author_domain(post);
    DmarcRecord ignored;
    ArcChain chain;
    /* All begin to ask before one waits. */
    if (domain)
        dmarc_find(names, domain, &ignored, NULL);
    int64_t arrival = post->arrival ? post->arrival : post->now;
    bool signatures = dkim_results(post->message, names, arrival, texts);
    bool seals = arc_check(post->message, names, arrival, &chain);
    if (!signatures || !seals)
        return false;
    g_ptr_array_add(texts, g_strdup_printf("arc=%s", arc_status_text(chain.status)));
    add_trusted(post, texts);
    if (!add_dmarc(names, domain, texts))
        return false;
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
