/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Rules about the header of a post. */
#include <inttypes.h>
#include <string.h>

#include "base/pattern.h"
#include "mail/address.h"
#include "mail/answer.h"
#include "mail/header.h"
#include "posting/authenticity.h"
#include "posting/chain.h"
#include "posting/list_cache.h"
#include "store/lists/header_match.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"

/* --- loop ------------------------------------------------------------------ */

/* Does the field name this list's posting address, bare or as <mailto:...>? */
static bool names_address(const Field *field, const char *address)
{
    g_autofree char *value = field_value(field);
    g_autofree char *wanted = address_key(address), *text = address_key(value);
    size_t length = strlen(wanted);
    for (const char *at = text; (at = strstr(at, wanted)); at++) {
        char before = at == text ? ' ' : at[-1], after = at[length];
        if (strchr(" <:,\t", before) && (!after || strchr(" >?,;\t", after)))
            return true;
    }
    return false;
}

/* List-Id: the last <...> is the identifier. */
static bool names_list(const Field *field, const char *list_id)
{
    g_autofree char *value = field_value(field);
    char *open = strrchr(value, '<');
    char *id = open ? open + 1 : value;
    id[strcspn(id, ">")] = '\0';
    return g_ascii_strcasecmp(g_strstrip(id), list_id) == 0;
}

/* The list has seen it: one of the fields that we (or an older manager in
 * our place) put there, naming this very list. */
static bool check_loop(Post *post, bool *hit, GError **error)
{
    *hit = false;
    for (size_t at = 0; at < message_field_count(post->message) && !*hit; at++) {
        const Field *field = message_field(post->message, at);
        if (field_is(field, "List-Post") || field_is(field, "X-BeenThere"))
            *hit = names_address(field, post->list->posting_address);
        else if (field_is(field, "List-Id"))
            *hit = names_list(field, post->list->list_id);
    }
    if (*hit)
        post_add_reason(post, "The message has passed this list before.");
    return true;
}

const Rule rule_loop = {.name = "loop", .check = check_loop};

/* --- autoreply ------------------------------------------------------------- */

/* Somebody's program answers a post, to all who read the list: "I am on holiday". Distributed, it may be answered in
 * its turn. */
static bool check_autoreply(Post *post, bool *hit, GError **error)
{
    *hit = answer_is_automatic(post->message);
    if (*hit)
        post_add_reason(post, "The message is an automatic reply.");
    return true;
}

const Rule rule_autoreply = {.name = "autoreply", .check = check_autoreply};

/* --- automatic ------------------------------------------------------------- */

/* A member's mail system or holiday program writes to the list, without the mark that the rule autoreply knows. */
static bool check_automatic(Post *post, bool *hit, GError **error)
{
    *hit = answer_is_report(post->sender, post->message);
    if (*hit)
        post_add_reason(post, "A program wrote the message, such as a notice of absence or a report about delivery.");
    return true;
}

const Rule rule_automatic = {.name = "automatic", .check = check_automatic};

/* --- broken-header --------------------------------------------------------- */

/* A line that is no field ends the header (mail/message.h), and the fields below it are text. Handler cleanse, which
 * takes out of the header what tells who wrote a post, does not see them there. So on an anonymous list such a post
 * waits for a person. An MTA on the way here may have put an empty line before the line that is no field: then a header
 * without From, or a text that begins with fields that programs write, shows what happened. */

/* From and Organization are not among them: people quote them in the first lines of their text. */
static const char *const written_by_programs[] = {
    "Received", "Message-ID", "Return-Path", "DKIM-Signature", "Reply-To", "Sender", "X-Originating-IP", "User-Agent",
};

static bool is_telling(const char *line, size_t length)
{
    for (size_t i = 0; i < G_N_ELEMENTS(written_by_programs); i++) {
        size_t name = strlen(written_by_programs[i]);
        if (length > name && line[name] == ':' && g_ascii_strncasecmp(line, written_by_programs[i], name) == 0)
            return true;
    }
    return false;
}

/* Looks at the text up to its first empty line. */
static bool text_begins_with_fields(const Message *message)
{
    g_autoptr(GBytes) body = message_body(message);
    size_t left;
    const char *at = g_bytes_get_data(body, &left);
    while (left > 0) {
        const char *feed = memchr(at, '\n', left);
        size_t length = feed ? (size_t)(feed - at) + 1 : left;
        if (*at == '\n' || *at == '\r')
            return false;
        if (is_telling(at, length))
            return true;
        at += length;
        left -= length;
    }
    return false;
}

/* A From that not every reader reads in the same way may show somebody who is banned. */
static bool hides_author(Post *post, bool *hit, GError **error)
{
    bool readable;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    int64_t own = 0, everywhere = 0;
    if (!readable && (!ban_count(post->store, post->list->list_id, &own, error) ||
                      !ban_count(post->store, NULL, &everywhere, error)))
        return false;
    *hit = own + everywhere > 0;
    if (*hit)
        post_add_reason(post, "The address in From cannot be read with certainty, and somebody is banned from the "
                              "list.");
    return true;
}

static bool check_broken_header(Post *post, bool *hit, GError **error)
{
    const Message *message = post->message;
    if (!hides_author(post, hit, error))
        return false;
    if (*hit)
        return true;
    *hit = post->list->settings->anonymous_list &&
           (message_ends_header_early(message) || !message_has(message, "From") || text_begins_with_fields(message));
    if (*hit)
        post_add_reason(post, "The header of the message is broken: fields that tell who wrote it may stand in the "
                              "text, which goes out as it is.");
    return true;
}

const Rule rule_broken_header = {.name = "broken-header", .check = check_broken_header};

/* --- header-match ---------------------------------------------------------- */

/* Of the fields of one name so much text is looked at: a table of patterns would take long over more. */
#define MATCHED_MAX (16 * 1024)

/* The text of all fields of that name, a line each as it was written, and one decoded where that differs. */
static char **collect(const Message *message, const char *name)
{
    GPtrArray *texts = g_ptr_array_new();
    size_t index = 0, sum = 0;
    for (const Field *field; sum < MATCHED_MAX && (field = message_find(message, name, &index)); index++) {
        g_autofree char *value = field_value(field);
        g_autofree char *valid = g_utf8_make_valid(value, (gssize)strnlen(value, MATCHED_MAX - sum));
        g_autofree char *decoded = header_decode(valid);
        sum += strlen(valid) + 1;
        g_ptr_array_add(texts, g_strdup(decoded));
        if (strcmp(decoded, valid) != 0)
            g_ptr_array_add(texts, g_steal_pointer(&valid));
    }
    g_ptr_array_add(texts, NULL);
    return (char **)g_ptr_array_free(texts, false);
}

static const HeaderMatch *find_first(const GPtrArray *rows, Post *post, GHashTable *known)
{
    for (unsigned at = 0; at < rows->len; at++) {
        const HeaderMatch *match = rows->pdata[at];
        char **texts = g_hash_table_lookup(known, match->header);
        if (!texts) {
            texts = collect(post->message, match->header);
            g_hash_table_insert(known, match->header, texts);
        }
        for (; *texts; texts++)
            if (pattern_matches_text(match->pattern, *texts, post->patterns))
                return match;
    }
    return NULL;
}

/* The first row that fits, of the site, then of the list, says where the post goes. */
static bool check_header_match(Post *post, bool *hit, GError **error)
{
    *hit = false;
    g_autoptr(GPtrArray) site = list_cache_header_matches(post->lists, post->store, NULL, error);
    g_autoptr(GPtrArray) own = site ? list_cache_header_matches(post->lists, post->store, post->list->list_id, error)
                                    : NULL;
    if (!own)
        return false;
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_strfreev);
    const HeaderMatch *match = find_first(site, post, known);
    if (!match)
        match = find_first(own, post, known);
    if (g_hash_table_size(post->patterns) > 0) {
        /* A moderator decides about a post on which a pattern gave up, one of these rows or of the bans that came
         * before. */
        *hit = true;
        g_free(post->target);
        post->target = g_strdup("hold");
        post_add_reason(post, "A pattern of this list, or of the site, took too long on the message.");
        return true;
    }
    if (!match || g_strcmp0(match->target, "defer") == 0)
        return true;
    *hit = true;
    g_free(post->target);
    const char *fallback = post->site ? post->site->header_match_target : "hold";
    post->target = g_strdup(match->target ? match->target : fallback);
    post_add_reason(post, "The field %s of the message is one that this list does not take.", match->header);
    return true;
}

const Rule rule_header_match = {.name = "header-match", .decides = true, .check = check_header_match};

/* --- suspicious-header ----------------------------------------------------- */

static bool field_fits(Post *post, const char *name, const char *pattern)
{
    size_t index = 0;
    for (const Field *field; (field = message_find(post->message, name, &index)); index++) {
        g_autofree char *value = field_value(field), *shown = header_decode(value);
        if (pattern_matches_text(pattern, shown, post->patterns))
            return true;
    }
    return false;
}

/* The list's own lines "Field: pattern" (bounce_matching_headers), as Mailman 2 had them. */
static bool check_suspicious_header(Post *post, bool *hit, GError **error)
{
    const char *text = post->list->settings->bounce_matching_headers;
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    *hit = false;
    for (char **line = lines; *line && !*hit; line++) {
        char *colon = strchr(g_strstrip(*line), ':');
        if (**line == '#' || !colon)
            continue;
        *colon = '\0';
        const char *pattern = g_strstrip(colon + 1);
        *hit = *pattern && (field_fits(post, g_strchomp(*line), pattern) || pattern_gave_up(pattern, post->patterns));
        if (*hit)
            post_add_reason(post, "The field %s of the message looks suspicious.", *line);
    }
    return true;
}

const Rule rule_suspicious_header = {.name = "suspicious-header", .check = check_suspicious_header};

/* --- implicit-dest --------------------------------------------------------- */

/* Patterns are tried on so many destinations only: a post that names more is not from a person, and a list's owner may
 * have written patterns that take long. */
#define PATTERN_DESTINATIONS_MAX 200

/* An alias is an address, or a local part alone. */
static bool is_alias(const List *list, const char *mailbox)
{
    g_autofree char *local = g_strndup(mailbox, strcspn(mailbox, "@"));
    for (char **alias = list->settings->acceptable_aliases; alias && *alias; alias++)
        if ((*alias)[0] != '^' && (address_same(*alias, mailbox) || g_ascii_strcasecmp(*alias, local) == 0))
            return true;
    return false;
}

/* Is the list (or the address under which it was reached) named where a reader
 * can see it? */
static bool check_implicit_dest(Post *post, bool *hit, GError **error)
{
    *hit = false;
    if (!post->list->settings->require_explicit_destination || post->from_news)
        return true;
    const GPtrArray *all = post_destinations(post);
    for (unsigned at = 0; at < all->len; at++) {
        const char *mailbox = ((Address *)all->pdata[at])->mailbox;
        if (address_same(mailbox, post->list->posting_address) ||
            (post->recipient && address_same(mailbox, post->recipient)) || is_alias(post->list, mailbox))
            return true;
    }
    for (unsigned at = 0; at < MIN(all->len, PATTERN_DESTINATIONS_MAX); at++)
        if (pattern_match_any(post->list->settings->acceptable_aliases, ((Address *)all->pdata[at])->mailbox,
                              post->patterns))
            return true;
    *hit = true;
    post_add_reason(post, "The list is not named in To or Cc.");
    return true;
}

const Rule rule_implicit_dest = {.name = "implicit-dest", .check = check_implicit_dest};

/* --- max-recipients -------------------------------------------------------- */

static bool check_max_recipients(Post *post, bool *hit, GError **error)
{
    static const char *const names[] = {"To", "Cc", NULL};
    *hit = false;
    int64_t limit = post->list->settings->max_num_recipients;
    if (limit <= 0)
        return true;
    g_autoptr(GPtrArray) all = post_addresses(post, names);
    *hit = all->len >= limit;
    if (*hit)
        post_add_reason(post, "The message names %u recipients; the list allows fewer than %" PRId64 ".", all->len,
                        limit);
    return true;
}

const Rule rule_max_recipients = {.name = "max-recipients", .check = check_max_recipients};

/* --- no-subject ------------------------------------------------------------ */

static bool check_no_subject(Post *post, bool *hit, GError **error)
{
    g_autofree char *value = message_value(post->message, "Subject");
    g_autofree char *subject = value ? g_strstrip(header_decode(value)) : NULL;
    *hit = !subject || !*subject;
    if (*hit)
        post_add_reason(post, "The message has no subject.");
    return true;
}

const Rule rule_no_subject = {.name = "no-subject", .check = check_no_subject};
