/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/reply_table.h"

#include <string.h>

struct ReplyTable {
    GArray *rules; /* of Rule */
};

typedef struct ReplyRule {
    GRegex *regex;
    ReplyScope scope;
} ReplyRule;

static const char *const scopes[] = {
    [REPLY_MESSAGE] = "message", [REPLY_RECIPIENT] = "recipient", [REPLY_SITE] = "site",
    [REPLY_GROUP] = "group",     [REPLY_SESSION] = "session", [REPLY_TRANSACTION] = "transaction",
    [REPLY_CONNECTIONS] = "connections",
};

static const struct {
    const char *regex;
    ReplyScope scope;
} built_in[] = {
    /* The connection's share, to be had again. */
    {"too many (messages|mails|recipients|transactions|errors|invalid|bad|unknown|failed|failures)[^.]* "
     "(this|one|per|a|the|in|on) (session|connection)",
     REPLY_SESSION},
    {"too many (smtp |protocol |command |invalid |unknown |bad |syntax |consecutive )*(errors|commands|failures)",
     REPLY_SESSION},
    {"max(imum)?[a-z ]* (messages|mails|transactions) (per|in|for) (this |one |a |the )?(session|connection)",
     REPLY_SESSION},
    /* One mailbox gets too much, or has no room. */
    {"^4\\d\\d[ -]4\\.2\\.1\\b", REPLY_RECIPIENT},
    {"^4\\d\\d[ -]4\\.2\\.2\\b", REPLY_RECIPIENT},
    {"gr[ae]y-?list", REPLY_RECIPIENT},
    /* As many as it takes. */
    {"too many (simultaneous |concurrent )?(smtp |tcp )?(connections|sessions)", REPLY_CONNECTIONS},
    {"(connection|session)s? (limit|count|rate) (exceeded|reached)|concurrent connections?", REPLY_CONNECTIONS},
    {"^[45]52[ -][45]\\.5\\.3\\b", REPLY_TRANSACTION},
    {"too many recipients|(maximum|limit)[a-z ]* recipients|recipients? (limit|count) (exceeded|reached)",
     REPLY_TRANSACTION},
    /* Throttling. */
    {"^4\\d\\d[ -]4\\.7\\.(28|650|651|652|500)\\b", REPLY_GROUP},
    {"(unusual|unexpected|excessive) (rate|volume|amount)", REPLY_GROUP},
    {"rate[ -]?limit|throttl|too (fast|quickly)|slow(er)? down|more slowly|send(er|ing) rate", REPLY_GROUP},
    {"too many (messages|mails|e-?mails|requests)", REPLY_GROUP},
    {"temporarily (deferred|rate)|server busy", REPLY_GROUP},
    /* The server's own trouble. */
    {"^421\\b", REPLY_SITE},
    {"resources temporarily unavailable", REPLY_SITE},
    {"^4\\d\\d[ -]4\\.3\\.[025]\\b", REPLY_SITE},
    {"^4\\d\\d[ -]4\\.4\\.\\d+\\b", REPLY_SITE},
};

static void add_rule(ReplyTable *table, GRegex *regex, ReplyScope scope)
{
    ReplyRule rule = {regex, scope};
    g_array_append_val(table->rules, rule);
}

static ReplyScope scope_named(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(scopes); i++)
        if (strcmp(scopes[i], name) == 0)
            return (ReplyScope)i;
    return REPLY_MESSAGE;
}

static GRegex *compile(const char *pattern)
{
    return g_regex_new(pattern, G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, NULL);
}

ReplyTable *reply_table_new(const Config *config)
{
    g_autoptr(ReplyTable) table = g_new0(ReplyTable, 1);
    table->rules = g_array_new(FALSE, FALSE, sizeof(ReplyRule));
    /* The site's rules come first. The check of the configuration has seen that they compile. */
    for (const char *const *name = config ? config_family(config, "reply") : NULL; name && *name; name++) {
        g_autofree char *section = g_strconcat("reply.", *name, NULL);
        const char *pattern = config_string(config, section, "match");
        add_rule(table, compile(pattern), scope_named(config_string(config, section, "scope")));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(built_in); i++)
        add_rule(table, compile(built_in[i].regex), built_in[i].scope);
    return g_steal_pointer(&table);
}

void reply_table_free(ReplyTable *table)
{
    for (guint i = 0; i < table->rules->len; i++)
        g_regex_unref(g_array_index(table->rules, ReplyRule, i).regex);
    g_array_unref(table->rules);
    g_free(table);
}

ReplyScope reply_table_look(const ReplyTable *table, const char *reply)
{
    for (guint i = 0; i < table->rules->len; i++) {
        const ReplyRule *rule = &g_array_index(table->rules, ReplyRule, i);
        if (g_regex_match(rule->regex, reply, 0, NULL))
            return rule->scope;
    }
    return REPLY_MESSAGE;
}
