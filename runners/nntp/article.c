/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/nntp/article.h"

#include <string.h>

#include "base/clock.h"
#include "mail/wire.h"

#define ID_MAX 248 /* octets of a Message-ID without brackets; RFC 5536, 3.1.3 */

/* Written by news servers, or an order to them that a mail must not give. */
static const char *const theirs[] = {
    "Also-Control", "Approved",      "Bytes",      "Control",     "Distribution",
    "Followup-To",  "Injection-Date", "Injection-Info", "Lines",  "Newsgroups",
    "Path",         "Return-Path",   "Supersedes", "Xref",        ARTICLE_MARK,
};

/* May stand once. */
static const char *const once[] = {
    "Cc",       "Content-Disposition", "Content-Transfer-Encoding", "Content-Type", "Date",       "Expires",
    "From",     "In-Reply-To",         "Keywords",                  "MIME-Version", "Message-ID", "Organization",
    "References", "Reply-To",          "Sender",                    "Subject",      "Summary",    "To",
    "User-Agent",
};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t at = 0; at < count; at++)
        if (g_ascii_strcasecmp(name, names[at]) == 0)
            return true;
    return false;
}

static bool is_left_out(const char *name, const ArticleRules *rules)
{
    for (const char *const *other = rules->remove; other && *other; other++)
        if (g_ascii_strcasecmp(name, *other) == 0)
            return true;
    return is_one_of(name, theirs, G_N_ELEMENTS(theirs));
}

static bool is_news_id(const char *id)
{
    if (!id || !strchr(id, '@') || *id == '@' || strlen(id) > ID_MAX)
        return false;
    for (const char *at = id; *at; at++)
        if (*at <= ' ' || *at >= 127 || *at == '<' || *at == '>')
            return false;
    return true;
}

/* The same at every try. */
static char *make_id(GBytes *post, const ArticleRules *rules)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, (const guchar *)rules->list_id, -1);
    g_checksum_update(sum, g_bytes_get_data(post, NULL), (gssize)g_bytes_get_size(post));
    return g_strdup_printf("%.32s.news@%s", g_checksum_get_string(sum), rules->mail_host);
}

/* The value with its folds; joined to one line where one of its lines has no text. */
static char *article_value(const Field *field)
{
    char *folded = field_value_folded(field);
    g_auto(GStrv) lines = g_strsplit(folded, "\n", -1);
    for (char **line = lines; *line; line++)
        if (!(*line)[strspn(*line, " \t\r")]) {
            g_free(folded);
            return field_value(field);
        }
    return folded;
}

static void append_field(GString *head, const Field *field, GHashTable *seen, const ArticleRules *rules)
{
    g_autofree char *name = g_strndup(field->text, field->name_length), *value = NULL;
    if (!*name || is_left_out(name, rules))
        return;
    value = article_value(field);
    if (!*value)
        return;
    g_autofree char *key = g_ascii_strdown(name, -1);
    bool repeated = !g_hash_table_add(seen, g_steal_pointer(&key));
    bool renamed = repeated && is_one_of(name, once, G_N_ELEMENTS(once));
    g_string_append_printf(head, "%s%s: %s\r\n", renamed ? "X-Original-" : "", name, value);
}

GBytes *article_make(GBytes *post, const ArticleRules *rules, bool own_id, char **message_id_out)
{
    g_autoptr(Message) message = message_new(post);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GString) head = g_string_new(NULL);
    g_autofree char *id = message_id(message);
    bool keeps_id = !own_id && is_news_id(id);
    *message_id_out = keeps_id ? g_steal_pointer(&id) : make_id(post, rules);
    g_string_append_printf(head, "Newsgroups: %s\r\n" ARTICLE_MARK ": %s\r\nMessage-ID: <%s>\r\n", rules->newsgroup,
                           rules->list_id, *message_id_out);
    if (keeps_id)
        message_remove(message, "Message-ID");
    g_hash_table_add(seen, g_strdup("message-id")); /* another one is called X-Original-Message-ID */
    if (rules->approved)
        g_string_append_printf(head, "Approved: %s\r\n", rules->approved);
    for (size_t at = 0; at < message_field_count(message); at++)
        append_field(head, message_field(message, at), seen, rules);
    if (!g_hash_table_contains(seen, "subject"))
        g_string_append(head, "Subject: (no subject)\r\n");
    g_autofree char *date = clock_rfc5322(rules->date);
    if (!g_hash_table_contains(seen, "date"))
        g_string_append_printf(head, "Date: %s\r\n", date);
    g_string_append(head, "\r\n");
    g_autoptr(GBytes) body = message_body(message);
    size_t length;
    const char *octets = g_bytes_get_data(body, &length);
    GByteArray *article = g_byte_array_new();
    wire_append(article, head->str, head->len);
    wire_append(article, length > 0 ? octets : "\r\n", length > 0 ? length : 2);
    return wire_end(article);
}

bool article_is_own(GBytes *article, const char *list_id)
{
    g_autoptr(Message) message = message_new(article);
    g_autofree char *mark = message_value(message, ARTICLE_MARK), *list = message_value(message, "List-Id");
    char *open = list ? strrchr(list, '<') : NULL;
    if (open)
        open[strcspn(open, ">")] = '\0';
    return (mark && g_ascii_strcasecmp(mark, list_id) == 0) ||
           (list && g_ascii_strcasecmp(open ? open + 1 : list, list_id) == 0);
}

bool article_is_in(GBytes *head, const char *newsgroup)
{
    g_autoptr(Message) message = message_new(head);
    g_autofree char *value = message_value(message, "Newsgroups");
    g_auto(GStrv) groups = g_strsplit_set(value ? value : "", ", \t", -1);
    return g_strv_contains((const char *const *)groups, newsgroup);
}
