/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/nntp/article.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "mail/loop_mark.h"
#include "mail/mime/parameter.h"
#include "mail/transfer.h"

#define ID_MAX 248                            /* octets of a Message-ID without brackets; RFC 5536, 3.1.3 */
#define LINE_MOST 998                         /* bytes without CRLF; RFC 5536, 2.2 */
#define NAME_MOST 200                         /* bytes of a field's name */
#define FUTURE_MAX (12 * 3600 * CLOCK_SECOND) /* servers refuse an article of tomorrow */

/* Written by news servers, or an order to them that a mail must not give, or for nobody's eyes. */
static const char *const theirs[] = {
    "Also-Control", "Approved",   "Article-Names", "Article-Updates", "Bcc",         "Bytes",          "Cancel-Key",
    "Cancel-Lock",  "Control",    "Distribution",  "Expires",         "Followup-To", "Injection-Date", "Injection-Info",
    "Lines",        "Newsgroups", "Path",          "Return-Path",     "Supersedes",  "Xref",           ARTICLE_MARK,
};

/* May stand once. */
static const char *const once[] = {
    "Archive",
    "Archived-At",
    "Cc",
    "Complaints-To",
    "Content-Description",
    "Content-Disposition",
    "Content-ID",
    "Content-Language",
    "Content-Location",
    "Content-Transfer-Encoding",
    "Content-Type",
    "Date",
    "Date-Received",
    "From",
    "In-Reply-To",
    "Keywords",
    "Mail-Copies-To",
    "MIME-Version",
    "Message-ID",
    "NNTP-Posting-Date",
    "NNTP-Posting-Host",
    "Organization",
    "Original-Sender",
    "Posting-Version",
    "References",
    "Relay-Version",
    "Reply-To",
    "See-Also",
    "Sender",
    "Subject",
    "Summary",
    "To",
    "User-Agent",
    "X-Complaints-To",
    "X-Trace",
};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t at = 0; at < count; at++)
        if (g_ascii_strcasecmp(name, names[at]) == 0)
            return true;
    return false;
}

/* The mark by which it is known when it comes back stays, whatever the configuration says. */
static bool is_left_out(const char *name, const ArticleRules *rules)
{
    if (g_ascii_strcasecmp(name, LOOP_MARK_FIELD) == 0)
        return false;
    for (const char *const *other = rules->remove; other && *other; other++)
        if (g_ascii_strcasecmp(name, *other) == 0)
            return true;
    return is_one_of(name, theirs, G_N_ELEMENTS(theirs));
}

/* Return the length of "a.b.c" at the start of the text, 0: there is none. */
static size_t dot_atom(const char *text)
{
    size_t length = 0, word;
    while ((word = strspn(text + length, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "!#$%&'*+-/=?^_`{|}~")) > 0) {
        length += word;
        if (text[length] != '.')
            return length;
        length++;
    }
    return 0;
}

/* RFC 5536, 3.1.3: less than mail allows. */
static bool is_news_id(const char *id)
{
    size_t left = id ? dot_atom(id) : 0;
    if (left == 0 || id[left] != '@' || strlen(id) > ID_MAX)
        return false;
    const char *right = id + left + 1;
    if (*right != '[')
        return *right && dot_atom(right) == strlen(right);
    const char *at = right + 1;
    while (g_ascii_isgraph(*at) && !strchr("[]\\>", *at))
        at++;
    return at > right + 1 && *at == ']' && !at[1];
}

/* Does the charset leave ASCII as it is? In another one the sender could hide the ends of lines. */
static bool keeps_ascii(const char *charset)
{
    static const char ascii[] = "\r\n\t !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklm"
                                "nopqrstuvwxyz{|}";
    g_autofree char *same = g_convert(ascii, -1, "UTF-8", charset, NULL, NULL, NULL);
    return g_strcmp0(ascii, same) == 0;
}

/* Return the value in UTF-8, which news servers insist on; g_free(). Its bytes are in the charset that the text of the
 * mail has, or else in the one that most such mail has. */
static char *in_utf8(const char *value, const char *charset)
{
    if (g_utf8_validate(value, -1, NULL))
        return g_strdup(value);
    const char *const charsets[] = {charset && keeps_ascii(charset) ? charset : "windows-1252", "windows-1252",
                                    "iso-8859-1"};
    for (size_t at = 0; at < G_N_ELEMENTS(charsets); at++) {
        g_autofree char *text = g_convert(value, -1, "UTF-8", charsets[at], NULL, NULL, NULL);
        if (text && *text && g_utf8_validate(text, -1, NULL))
            return g_steal_pointer(&text);
    }
    return g_utf8_make_valid(value, -1);
}

/* Control characters become blanks, but for folds; and folds go where a line has no text. */
static void mend_value(char *value)
{
    for (char *at = value; *at; at++) {
        bool fold = *at == '\n' || (*at == '\r' && at[1] == '\n');
        if (!fold && g_ascii_iscntrl(*at) && *at != '\t')
            *at = ' ';
    }
    bool blank = false;
    for (const char *line = value; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        blank = blank || strchr("\r\n", line[strspn(line, " \t")]); /* or the value ends there */
    }
    char *to = value;
    for (const char *at = value; blank && *at; at++)
        if (*at != '\r' && *at != '\n')
            *to++ = *at;
    if (blank)
        *to = '\0';
}

/* Return how much of the text, which does not end with a blank, goes on a line with that much room: up to a blank, or
 * behind a comma or bracket or, where it has none, as many whole characters as fit. */
static size_t piece_of(const char *text, size_t room)
{
    size_t length = strnlen(text, room + 1), cut = 0;
    if (length <= room)
        return length;
    for (size_t at = 1; at <= room; at++)
        if ((text[at] == ' ' || text[at] == '\t') && text[at - 1] != ' ' && text[at - 1] != '\t')
            cut = at;
    for (size_t at = room; at > 1 && cut == 0; at--)
        if (strchr(",>", text[at - 1]))
            cut = at;
    for (cut = cut ? cut : room; cut > 1 && ((guchar)text[cut] & 0xc0) == 0x80;)
        cut--;
    return cut;
}

/* Append the field with no line longer than news servers take. */
static void append_lines(GString *head, const char *name, const char *value)
{
    g_auto(GStrv) lines = g_strsplit(value, "\n", -1);
    g_string_append_printf(head, "%s: ", name);
    size_t column = strlen(name) + 2;
    for (char **line = lines; *line; line++, column = 0) {
        g_strchomp(*line);
        if (line > lines && **line != ' ' && **line != '\t') { /* never a field of its own */
            g_string_append_c(head, ' ');
            column = 1;
        }
        for (const char *at = *line; *at;) {
            size_t length = piece_of(at, LINE_MOST - column);
            g_string_append_len(head, at, (gssize)length);
            g_string_append(head, "\r\n");
            at += length;
            column = *at && *at != ' ' && *at != '\t';
            if (column > 0)
                g_string_append_c(head, ' ');
        }
    }
}

/* Return whether the value is a date (RFC 5322, 3.3 and 4.3) that is not of tomorrow. */
static bool is_news_date(const char *value, int64_t now)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static GRegex *form;
    if (!form)
        form = g_regex_new(
            "^(?:[A-Za-z]{3},)?\\s*(\\d{1,2})\\s+([A-Za-z]{3})\\s+(\\d{4})\\s+"
            "(\\d\\d):(\\d\\d)(?::(\\d\\d))?\\s+(?:GMT|UT|([+-])(\\d\\d)([0-5]\\d))\\s*(?:\\([^()]*\\))?\\s*$",
            0, 0, NULL);
    g_autoptr(GMatchInfo) found = NULL;
    int parts[10] = {0};
    if (!g_regex_match(form, value, 0, &found))
        return false;
    for (int at = 1; at < 10; at++) {
        g_autofree char *part = g_match_info_fetch(found, at);
        parts[at] = at == 2 || at == 7 ? 0 : atoi(part);
    }
    g_autofree char *month = g_match_info_fetch(found, 2), *sign = g_match_info_fetch(found, 7);
    const char *place = strstr(months, month);
    if (!place || (place - months) % 3 != 0 || parts[8] > 14 || parts[3] < 1970)
        return false;
    int number = (int)(place - months) / 3 + 1, second = MIN(parts[6], 59); /* there may be a leap second */
    g_autoptr(GDateTime) local = g_date_time_new_utc(parts[3], number, parts[1], parts[4], parts[5], second);
    if (!local)
        return false;
    int64_t zone = (parts[8] * 60 + parts[9]) * 60 * (*sign == '-' ? -1 : 1);
    return (g_date_time_to_unix(local) - zone) * CLOCK_SECOND <= now + FUTURE_MAX;
}

/* ArticleHead holds the values that the fields of one article have in common. */
typedef struct ArticleHead {
    const ArticleRules *rules;
    GString *text;
    GHashTable *seen; /* names in lower case */
    char *charset;    /* of the mail's text; NULL: not known */
} ArticleHead;

static void append_field(ArticleHead *head, const Field *field)
{
    g_autofree char *name = g_strndup(field->text, field->name_length);
    if (!*name || strlen(name) > NAME_MOST || is_left_out(name, head->rules))
        return;
    g_autofree char *raw = field_value_folded(field), *value = in_utf8(raw, head->charset);
    mend_value(value);
    if (!*g_strstrip(value))
        return;
    g_autofree char *key = g_ascii_strdown(name, -1);
    bool wrong = strcmp(key, "date") == 0 && !is_news_date(value, head->rules->date);
    bool repeated = !wrong && !g_hash_table_add(head->seen, g_steal_pointer(&key));
    bool renamed = wrong || (repeated && is_one_of(name, once, G_N_ELEMENTS(once)));
    g_autofree char *other = g_strconcat(renamed ? "X-Original-" : "", name, NULL);
    append_lines(head->text, other, value);
}

GBytes *article_make(GBytes *post, const ArticleRules *rules, bool own_id, char **message_id_out)
{
    g_autoptr(Message) message = message_new(post);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *id = message_id(message), *content_type = message_value(message, "Content-Type");
    g_autoptr(ContentType) type = content_type ? content_type_parse(content_type) : NULL;
    g_autofree char *charset = type ? content_type_first(type, "charset") : NULL;
    ArticleHead head = {rules, text, seen, charset};
    if (!own_id && is_news_id(id)) {
        *message_id_out = g_steal_pointer(&id);
        message_remove(message, "Message-ID");
    } else { /* one of our own, the same at every try */
        g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
        g_checksum_update(sum, (const guchar *)rules->list_id, -1);
        g_checksum_update(sum, g_bytes_get_data(post, NULL), (gssize)g_bytes_get_size(post));
        *message_id_out = g_strdup_printf("%.32s.news@%s", g_checksum_get_string(sum), rules->mail_host);
    }
    g_string_append_printf(text, "Newsgroups: %s\r\n" ARTICLE_MARK ": %s\r\nMessage-ID: <%s>\r\n", rules->newsgroup,
                           rules->list_id, *message_id_out);
    g_hash_table_add(seen, g_strdup("message-id")); /* another one is called X-Original-Message-ID */
    if (rules->approved)
        g_string_append_printf(text, "Approved: %s\r\n", rules->approved);
    for (size_t at = 0; at < message_field_count(message); at++)
        append_field(&head, message_field(message, at));
    if (!g_hash_table_contains(seen, "subject"))
        g_string_append(text, "Subject: (no subject)\r\n");
    g_autofree char *date = clock_rfc5322(rules->date);
    if (!g_hash_table_contains(seen, "date"))
        g_string_append_printf(text, "Date: %s\r\n", date);
    g_string_append(text, "\r\n");

    GByteArray *article = g_byte_array_new();
    wire_append(article, text->str, text->len);
    guint before = article->len;
    g_autoptr(GBytes) body = message_body(message);
    size_t length;
    const char *at = g_bytes_get_data(body, &length), *end = length > 0 ? at + length : at;
    while (at < end) { /* without the NULs, at which news servers end an article */
        const char *nul = memchr(at, '\0', (size_t)(end - at)), *stop = nul ? nul : end;
        wire_append(article, at, (size_t)(stop - at));
        at = nul ? nul + 1 : end;
    }
    if (article->len == before)
        wire_append(article, "\r\n", 2);
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
