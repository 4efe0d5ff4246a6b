/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/list_address.h"

#include <string.h>

#include "base/fail.h"
#include "mail/address.h"

static const struct {
    const char *suffix;
    ListAddressTo to;
} suffixes[] = {
    {"-owner", LIST_ADDRESS_OWNER},    {"-bounces", LIST_ADDRESS_BOUNCES},   {"-join", LIST_ADDRESS_JOIN},
    {"-subscribe", LIST_ADDRESS_JOIN}, {"-leave", LIST_ADDRESS_LEAVE},       {"-unsubscribe", LIST_ADDRESS_LEAVE},
    {"-confirm", LIST_ADDRESS_CONFIRM}, {"-request", LIST_ADDRESS_REQUEST},
};

static const char *const texts[] = {
    [LIST_ADDRESS_POSTING] = "posting", [LIST_ADDRESS_OWNER] = "owner",     [LIST_ADDRESS_BOUNCES] = "bounces",
    [LIST_ADDRESS_JOIN] = "join",       [LIST_ADDRESS_LEAVE] = "leave",     [LIST_ADDRESS_CONFIRM] = "confirm",
    [LIST_ADDRESS_REQUEST] = "request", [LIST_ADDRESS_SITE] = "site",
};

const char *list_address_text(ListAddressTo to)
{
    return texts[to];
}

const char *list_address_suffix(size_t number)
{
    return number < G_N_ELEMENTS(suffixes) ? suffixes[number].suffix : NULL;
}

static const struct {
    const char *system, *word;
    ListAddressTo to;
} old_words[] = {
    {"mlmmj", "owner", LIST_ADDRESS_OWNER},
    {"mlmmj", "bounces", LIST_ADDRESS_BOUNCES},
    {"mlmmj", "subscribe", LIST_ADDRESS_JOIN},
    {"mlmmj", "unsubscribe", LIST_ADDRESS_LEAVE},
    {"mlmmj", "help", LIST_ADDRESS_REQUEST},
    {"mlmmj", "faq", LIST_ADDRESS_REQUEST},
    {"mlmmj", "list", LIST_ADDRESS_REQUEST},
    {"mlmmj", "get", LIST_ADDRESS_REQUEST},
    {"mlmmj", "confsub", LIST_ADDRESS_CONFIRM},
    {"mlmmj", "confunsub", LIST_ADDRESS_CONFIRM},
    {"mlmmj", "moderate", LIST_ADDRESS_CONFIRM},
    {"mlmmj", "release", LIST_ADDRESS_CONFIRM},
    {"mlmmj", "reject", LIST_ADDRESS_CONFIRM},
    {"mlmmj", "permit", LIST_ADDRESS_CONFIRM},
    {"mlmmj", "obstruct", LIST_ADDRESS_CONFIRM},
    {"ezmlm", "owner", LIST_ADDRESS_OWNER},
    {"ezmlm", "return", LIST_ADDRESS_BOUNCES},
    {"ezmlm", "digest-return", LIST_ADDRESS_BOUNCES},
    {"ezmlm", "subscribe", LIST_ADDRESS_JOIN},
    {"ezmlm", "digest-subscribe", LIST_ADDRESS_JOIN},
    {"ezmlm", "unsubscribe", LIST_ADDRESS_LEAVE},
    {"ezmlm", "digest-unsubscribe", LIST_ADDRESS_LEAVE},
    {"ezmlm", "help", LIST_ADDRESS_REQUEST},
    {"ezmlm", "info", LIST_ADDRESS_REQUEST},
    {"ezmlm", "faq", LIST_ADDRESS_REQUEST},
    {"ezmlm", "query", LIST_ADDRESS_REQUEST},
    {"ezmlm", "list", LIST_ADDRESS_REQUEST},
    {"ezmlm", "get", LIST_ADDRESS_REQUEST},
    {"ezmlm", "index", LIST_ADDRESS_REQUEST},
    {"ezmlm", "thread", LIST_ADDRESS_REQUEST},
    {"ezmlm", "sc", LIST_ADDRESS_CONFIRM},
    {"ezmlm", "tc", LIST_ADDRESS_CONFIRM},
    {"ezmlm", "uc", LIST_ADDRESS_CONFIRM},
    {"ezmlm", "vc", LIST_ADDRESS_CONFIRM},
    {"ezmlm", "accept", LIST_ADDRESS_CONFIRM},
    {"ezmlm", "reject", LIST_ADDRESS_CONFIRM},
    {"sympa", "editor", LIST_ADDRESS_OWNER},
};

bool list_address_read_old(ListAddress *address, const char *system, const char *rest)
{
    for (size_t at = 0; system && at < G_N_ELEMENTS(old_words); at++) {
        size_t length = strlen(old_words[at].word);
        if (strcmp(old_words[at].system, system) != 0 || g_ascii_strncasecmp(rest, old_words[at].word, length) != 0 ||
            (rest[length] && !strchr("-.+", rest[length])))
            continue;
        /* The rest is no proof here, so only a token that is asked for is kept. */
        bool asked = old_words[at].to == LIST_ADDRESS_CONFIRM && rest[length];
        char *detail = asked ? g_strdup(rest + length + 1) : NULL;
        g_free(address->detail);
        address->detail = detail;
        address->to = old_words[at].to;
        return true;
    }
    return false;
}

const char *list_address_old_word(const char *system, size_t number, ListAddressTo *to)
{
    for (size_t at = 0; strcmp(system, "mlmmj") != 0 && at < G_N_ELEMENTS(old_words); at++)
        if (strcmp(old_words[at].system, system) == 0 && old_words[at].to != LIST_ADDRESS_CONFIRM && number-- == 0) {
            *to = old_words[at].to;
            return old_words[at].word;
        }
    return NULL;
}

void list_address_free(ListAddress *address)
{
    if (!address)
        return;
    g_free(address->local);
    g_free(address->domain);
    g_free(address->list_id);
    g_free(address->detail);
    g_free(address);
}

/* A search for one mailbox. */
typedef struct MailboxSearch {
    const char *domain;
    ListAddressExists *exists;
    void *data;
    unsigned asked;
} MailboxSearch;

/* Asks for local as a list; on success *found is set when there is one. */
static bool ask(MailboxSearch *search, const char *local, ListAddressTo to, ListAddress **found, GError **error)
{
    if (!*local || search->asked >= LIST_ADDRESS_LOOKUPS)
        return true;
    search->asked++;
    bool exists = false;
    g_autofree char *list_id = NULL;
    if (!search->exists(local, search->domain, &exists, &list_id, search->data, error))
        return false;
    if (exists) {
        *found = g_new0(ListAddress, 1);
        (*found)->local = g_strdup(local);
        (*found)->domain = g_strdup(search->domain);
        (*found)->list_id = g_steal_pointer(&list_id);
        (*found)->to = to;
    }
    return true;
}

/* A list of that very name, or one with a suffix behind. */
static bool ask_both(MailboxSearch *search, const char *local, ListAddress **found, GError **error)
{
    if (!ask(search, local, LIST_ADDRESS_POSTING, found, error))
        return false;
    for (size_t at = 0; at < G_N_ELEMENTS(suffixes) && !*found; at++) {
        if (!g_str_has_suffix(local, suffixes[at].suffix))
            continue;
        g_autofree char *name = g_strndup(local, strlen(local) - strlen(suffixes[at].suffix));
        if (!ask(search, name, suffixes[at].to, found, error))
            return false;
    }
    return true;
}

static bool search_all(MailboxSearch *search, const char *local, const char *given, char delimiter, ListAddress **found,
                       GError **error)
{
    if (!ask_both(search, local, found, error))
        return false;
    /* Where the delimiter is the dash of the suffixes: "my-list-bounces-anne=x.org" is not what "my" is asked for. */
    for (const char *cut = delimiter == '-' ? strchr(local, '-') : NULL;
         cut && !*found && search->asked < LIST_ADDRESS_LOOKUPS; cut = strchr(cut + 1, '-'))
        for (size_t at = 0; at < G_N_ELEMENTS(suffixes) && !*found; at++) {
            size_t length = strlen(suffixes[at].suffix);
            if (strncmp(cut, suffixes[at].suffix, length) != 0 || cut[length] != '-')
                continue;
            g_autofree char *name = g_strndup(local, (size_t)(cut - local));
            if (!ask(search, name, suffixes[at].to, found, error))
                return false;
            if (*found)
                (*found)->detail = g_strdup(given + (cut - local) + length + 1);
        }
    for (const char *cut = delimiter ? strchr(local, delimiter) : NULL;
         cut && !*found && search->asked < LIST_ADDRESS_LOOKUPS; cut = strchr(cut + 1, delimiter)) {
        g_autofree char *name = g_strndup(local, (size_t)(cut - local));
        if (!ask_both(search, name, found, error))
            return false;
        if (*found)
            (*found)->detail = g_strdup(given + (cut - local) + 1);
    }
    return true;
}

ListAddress *list_address_find(const char *mailbox, char delimiter, ListAddressExists *exists, void *data,
                               GError **error)
{
    g_autofree char *local = NULL, *domain = NULL;
    if (!address_split(mailbox, &local, &domain)) {
        fail(error, FAIL_MISSING, "%s is no address", mailbox);
        return NULL;
    }
    size_t length = strlen(local);
    if (length >= 2 && local[0] == '"' && local[length - 1] == '"') { /* the same mailbox (RFC 5321, 4.1.2) */
        char *to = local;
        for (const char *from = local + 1, *end = local + length - 1; from < end; from++) {
            from += *from == '\\' && from + 1 < end;
            *to++ = *from;
        }
        *to = '\0';
    }
    length = strlen(domain);
    if (length > 1 && domain[length - 1] == '.')
        domain[length - 1] = '\0';
    g_autofree char *domain_key = address_key(domain);
    /* The detail keeps its case; ASCII only, so that both have the same offsets. */
    g_autofree char *key = g_ascii_strdown(local, -1);
    MailboxSearch search = {.domain = domain_key, .exists = exists, .data = data};
    ListAddress *found = NULL;
    if (!search_all(&search, key, local, delimiter, &found, error))
        return NULL;
    if (!found)
        fail(error, FAIL_MISSING, "there is no list %s", mailbox);
    return found;
}
