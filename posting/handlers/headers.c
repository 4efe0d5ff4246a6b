/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Handlers that change the header of a post. */
#include <string.h>

#include "base/clock.h"
#include "base/pattern.h"
#include "mail/address.h"
#include "mail/header.h"
#include "mail/text/reply.h"
#include "mail/text/subject.h"
#include "mail/text/template.h"
#include "posting/pipeline.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"
#include "store/lists/topic.h"

/* --- cleanse --------------------------------------------------------------- */

/* Fields that carry a password, name readers whom the others must not know, ask readers for receipts, or are the
 * archive's to set. */
static const char *const always_removed[] = {
    "Approved", "Approve", "X-Approved", "X-Approve", "Urgent", "Return-Receipt-To", "Disposition-Notification-To",
    "X-Confirm-Reading-To", "X-PMRQC", "Archived-At", "Bcc", "Resent-Bcc",
};

/* On an kept_anonymous list nothing else stays: mail programs and the hosts on the way write many fields that tell who
 * wrote a post, with what, and where, and there will be more of them. Content-Location and Content-ID are such ones,
 * too. The two X- fields are our own. */
static const char *const kept_anonymous[] = {
    "Subject", "To", "Cc", "In-Reply-To", "References", "Keywords", "Auto-Submitted", "Precedence", "X-Topics",
    "X-Content-Filtered-By", "Content-Type", "Content-Transfer-Encoding", "Content-Disposition", "Content-Language",
    "Content-Description",
};

static bool is_telling(const Field *field, void *data)
{
    (void)data;
    for (size_t at = 0; at < G_N_ELEMENTS(kept_anonymous); at++)
        if (field_is(field, kept_anonymous[at]))
            return false;
    return true;
}

/* Keep of a field of message ids those that the list gave to its posts: others name the host of whoever wrote the mail
 * that is answered, as a rule the author's own. */
static void keep_own_ids(Post *post, const char *name)
{
    g_autofree char *value = message_value(post->message, name), *end = NULL;
    g_autoptr(GString) kept = g_string_new(NULL);
    end = g_strdup_printf("@%s>", post->list->mail_host);
    size_t length = 0; /* of the id here; each byte is looked at once, for all of a long field may be brackets */
    for (const char *at = value ? strchr(value, '<') : NULL; at; at = strchr(at + length, '<')) {
        length = 1 + strcspn(at + 1, "<> \t\r\n");
        g_autofree char *id = at[length] == '>' ? g_strndup(at, length + 1) : NULL;
        if (id && g_str_has_suffix(id, end))
            g_string_append_printf(kept, "%s%s", kept->len > 0 ? "\r\n " : "", id);
    }
    if (kept->len > 0)
        message_set(post->message, name, kept->str);
    else
        message_remove(post->message, name);
}

/* The list itself becomes the author. Date is that of arrival, since the author's tells a time zone; MIME-Version may
 * name the mail program in a comment. */
static void make_anonymous(Post *post)
{
    bool mime = message_has(post->message, "MIME-Version");
    message_remove_if(post->message, is_telling, NULL);
    keep_own_ids(post, "In-Reply-To");
    keep_own_ids(post, "References");
    const List *list = post->list;
    const char *shown = list->settings->display_name ? list->settings->display_name : "";
    g_autofree char *name = header_phrase(shown, 6);
    g_autofree char *from = *name ? g_strdup_printf("%s\r\n <%s>", name, list->posting_address)
                                  : g_strdup(list->posting_address);
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, post->trace, -1);
    g_autofree char *id = g_strdup_printf("<%.32s@%s>", sum, list->mail_host);
    message_append(post->message, "From", from);
    message_append(post->message, "Reply-To", list->posting_address);
    message_append(post->message, "Message-ID", id);
    g_autofree char *date = clock_rfc5322(post->arrival > 0 ? post->arrival : post->now);
    message_append(post->message, "Date", date);
    if (mime)
        message_append(post->message, "MIME-Version", "1.0");
}

static bool process_cleanse(Post *post, GError **error)
{
    for (size_t at = 0; at < G_N_ELEMENTS(always_removed); at++)
        message_remove(post->message, always_removed[at]);
    if (post->list->settings->anonymous_list)
        make_anonymous(post);
    return true;
}

const Handler handler_cleanse = {.name = "cleanse", .process = process_cleanse};

/* --- cleanse-dkim ---------------------------------------------------------- */

/* Signatures that our changes break look like forgeries to some servers. */
static bool process_cleanse_dkim(Post *post, GError **error)
{
    static const char *const names[] = {"DomainKey-Signature", "DKIM-Signature", "Authentication-Results"};
    for (size_t at = 0; post->site && post->site->remove_dkim && at < G_N_ELEMENTS(names); at++)
        message_remove(post->message, names[at]);
    return true;
}

const Handler handler_cleanse_dkim = {.name = "cleanse-dkim", .process = process_cleanse_dkim};

/* --- cook-headers ---------------------------------------------------------- */

/* Mail that came without a Message-ID gets the one that was made for it. */
static void supply_message_id(Post *post)
{
    g_autofree char *present = message_id(post->message);
    if (present || !post->message_id || !*post->message_id)
        return;
    g_autofree char *value = g_strdup_printf("<%s>", post->message_id);
    message_set(post->message, "Message-ID", value);
}

static void append_address(GString *value, const char *text)
{
    g_string_append_printf(value, "%s%s", value->len > 0 ? ",\r\n " : "", text);
}

/* The poster's own Reply-To as it was written, without fields that hold only one of ours. */
static bool append_own(const Post *post, const char *ours, GString *value)
{
    bool named = false;
    size_t index = 0;
    for (const Field *field; (field = message_find(post->message, "Reply-To", &index)); index++) {
        g_autoptr(GPtrArray) list = address_list_new();
        g_autofree char *text = field_value_folded(field);
        address_parse(text, strlen(text), list);
        unsigned others = 0;
        for (unsigned at = 0; at < list->len; at++) {
            bool same = address_same(((Address *)list->pdata[at])->mailbox, ours);
            others += !same;
            named = named || same;
        }
        if (others > 0)
            append_address(value, text);
    }
    return named;
}

/* Several fields become one: many mail programs read one alone, and some servers take no more (RFC 5322, 3.6). */
static void merge_own(Post *post)
{
    size_t index = 0;
    bool any = message_find(post->message, "Reply-To", &index) != NULL;
    index++;
    if (!any || !message_find(post->message, "Reply-To", &index))
        return;
    g_autoptr(GString) own = g_string_new(NULL);
    append_own(post, "", own);
    if (own->len > 0)
        message_set(post->message, "Reply-To", own->str);
}

/* first_strip_reply_to and reply_goes_to_list. The field stays untouched where
 * it says already what it must. */
static void set_reply_to(Post *post)
{
    const List *list = post->list;
    const char *ours = list->settings->reply_goes_to_list == REPLY_POINT_TO_LIST ? list->posting_address
                                                                                 : list->settings->reply_to_address;
    bool munge = list->settings->reply_goes_to_list != REPLY_NO_MUNGING && ours && *ours;
    if (!munge) {
        if (list->settings->first_strip_reply_to)
            message_remove(post->message, "Reply-To");
        else
            merge_own(post);
        return;
    }
    g_autoptr(GString) own = g_string_new(NULL);
    if (!list->settings->first_strip_reply_to && append_own(post, ours, own) && own->len > 0)
        return;
    /* Some mail programs take the first address alone: what the owners wrote goes before the author's. */
    bool last = list->settings->reply_goes_to_list == REPLY_POINT_TO_LIST && own->len > 0;
    g_autoptr(GString) value = g_string_new(last ? own->str : ours);
    if (last)
        append_address(value, ours);
    else if (own->len > 0)
        append_address(value, own->str);
    message_set(post->message, "Reply-To", value->str);
}

static bool process_cook_headers(Post *post, GError **error)
{
    supply_message_id(post);
    if (post->ours) /* a letter has the Precedence that it was written with, or none */
        return true;
    if (post->scheduled) { /* mail programs sort by it */
        g_autofree char *date = clock_rfc5322(post->now);
        message_set(post->message, "Date", date);
    }
    if (!message_has(post->message, "Precedence"))
        message_append(post->message, "Precedence", "list");
    if (!post->digest) /* which says itself that replies go to the list */
        set_reply_to(post);
    return true;
}

const Handler handler_cook_headers = {.name = "cook-headers", .process = process_cook_headers};

/* --- rfc-2369 -------------------------------------------------------------- */

/* Only a list may say these; copies from the sender's side go. */
static const char *const list_fields[] = {
    "List-Id", "List-Help", "List-Owner", "List-Subscribe", "List-Unsubscribe", "List-Unsubscribe-Post", "List-Post",
    "List-Archive",
};

/* <mailto:list-SUFFIX@host QUERY> */
static void append_mailto(Post *post, const char *name, const char *suffix, const char *query)
{
    g_autofree char *address = post_list_address(post->list, suffix);
    g_autofree char *escaped = g_uri_escape_string(address, "@!$'*+-=_.~", true);
    g_autofree char *value = g_strdup_printf("<mailto:%s%s>", escaped, query);
    message_append(post->message, name, value);
}

static void append_list_id(Post *post)
{
    const char *description = post->list->settings->description ? post->list->settings->description : "";
    g_autofree char *line = g_strstrip(g_strndup(description, strcspn(description, "\r\n")));
    g_autofree char *phrase = header_phrase(line, strlen("List-Id: "));
    bool folded = strlen(phrase) + strlen(post->list->list_id) > 60;
    const char *gap = !*phrase ? "" : folded ? "\r\n " : " ";
    g_autofree char *value = g_strdup_printf("%s%s<%s>", phrase, gap, post->list->list_id);
    message_append(post->message, "List-Id", value);
}

/* A template that was filled is a URL: it must stay one word. NULL: there is no template. */
static char *make_url(const char *template, const TemplateValue *values)
{
    if (!template || !*template)
        return NULL;
    g_autofree char *url = template_fill(template, values);
    g_autofree char *escaped = g_uri_escape_string(url, ":/?#[]@!$&'()*+,;=%", false);
    return g_strdup_printf("<%s>", escaped);
}

/* List-Archive may stand there only once (RFC 2369, 3), with all its URLs; Archived-At has one
 * and may be repeated (RFC 5064, 2.2). */
static void append_archives(Post *post)
{
    g_autofree char *id = message_id(post->message);
    g_autofree char *hash = message_id_hash(id ? id : "");
    g_autofree char *archive = list_archive_name(post->list->list_id, post->list->archive);
    const TemplateValue values[] = {{"archive", archive},
                                    {"list_id", post->list->list_id},
                                    {"list_name", post->list->list_name},
                                    {"mail_host", post->list->mail_host},
                                    {"hash", hash},
                                    {0}};
    g_autoptr(GString) archives = g_string_new(NULL);
    for (const PostArchiver *archiver = post->archivers; archiver && archiver->name; archiver++) {
        if (!post_archiver_chosen(post->list, archiver))
            continue;
        g_autofree char *all = make_url(archiver->list_url, values), *one = make_url(archiver->permalink, values);
        if (all)
            g_string_append_printf(archives, "%s%s", archives->len > 0 ? ",\r\n " : "", all);
        if (one && post_send_find(post, POST_ARCHIVE))
            message_append(post->message, "Archived-At", one);
    }
    if (archives->len > 0)
        message_append(post->message, "List-Archive", archives->str);
}

static bool process_rfc_2369(Post *post, GError **error)
{
    if (!post->list->settings->include_rfc2369_headers)
        return true;
    for (size_t at = 0; at < G_N_ELEMENTS(list_fields); at++)
        message_remove(post->message, list_fields[at]);
    append_list_id(post);
    if (post->ours)
        return true;
    if (!post->no_requests)
        append_mailto(post, "List-Help", "request", "?subject=help");
    append_mailto(post, "List-Owner", "owner", "");
    if (!post->no_requests) {
        append_mailto(post, "List-Subscribe", "join", "");
        append_mailto(post, "List-Unsubscribe", "leave", "");
    }
    if (post->list->settings->allow_list_posts)
        append_mailto(post, "List-Post", NULL, "");
    else
        message_append(post->message, "List-Post", "NO");
    if (post->list->settings->archive_policy != ARCHIVE_NEVER)
        append_archives(post);
    return true;
}

const Handler handler_rfc_2369 = {.name = "rfc-2369", .process = process_rfc_2369};

/* --- subject-prefix -------------------------------------------------------- */

#define SUBJECT "Subject: "
#define LINE_OCTETS 998 /* RFC 5322, 2.1.1 */

static size_t blanks(const char *text)
{
    return strspn(text, " \t\r\n");
}

/* A subject, taken apart. */
typedef struct SubjectParts {
    bool reply;       /* reply marks stood at the beginning */
    bool had_prefix;  /* the prefix stood before rest */
    GString *kept;    /* marks of forwarding and tags that stood before the prefix, each with a blank behind it */
    const char *rest; /* what stays as it is; borrowed */
} SubjectParts;

static void subject_parts_clear(SubjectParts *parts)
{
    g_string_free(parts->kept, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SubjectParts, subject_parts_clear)

/* The length of "[EXT]", "(EXT)", "{Spam?}" and the like at the beginning; 0: there is none. */
static size_t tag_length(const char *text)
{
    static const char opening[] = "[({", closing[] = "])}";
    const char *kind = *text ? strchr(opening, *text) : NULL;
    if (!kind)
        return 0;
    const char stops[] = {*kind, closing[kind - opening], '\0'};
    size_t length = strcspn(text + 1, stops) + 1;
    return text[length] == stops[1] ? length + 1 : 0;
}

/* Append a mark or a tag, unless it is there as the last one. */
static void keep_once(GString *kept, const char *piece, size_t length)
{
    g_autofree char *whole = g_strdup_printf("%.*s ", (int)length, piece);
    if (!g_str_has_suffix(kept->str, whole))
        g_string_append(kept, whole);
}

/* Skip what rest repeats of the marks kept before it: each round of a thread would add them anew. */
static const char *skip_repeated(const char *rest, const GString *kept)
{
    size_t length;
    do {
        length = kept->len > 0 && g_str_has_prefix(rest, kept->str) ? kept->len : 0;
        if (length == 0 && g_str_has_suffix(kept->str, "Re: "))
            length = reply_mark_length(rest);
        rest += length;
        rest += blanks(rest);
    } while (length > 0);
    return rest;
}

/* Find the prefix wherever it stands among the marks and tags at the beginning. Reply marks become "Re: "; those before
 * everything else are only noted. */
static void take_apart(const char *text, const char *pattern, SubjectParts *parts)
{
    const char *at = text + blanks(text);
    *parts = (SubjectParts){.kept = g_string_new(NULL), .rest = at};
    g_autoptr(GString) passed = g_string_new(NULL); /* to be kept if the prefix follows */
    for (;;) {
        bool behind = false; /* rest begins behind this one */
        size_t length = subject_prefix_length(at, pattern);
        if (length > 0) {
            parts->had_prefix = behind = true;
            g_string_assign(parts->kept, passed->str);
        } else if ((length = reply_mark_length(at)) > 0) {
            behind = passed->len == 0;
            parts->reply = parts->reply || behind;
            if (!behind)
                keep_once(passed, "Re:", strlen("Re:"));
        } else if ((length = reply_forward_length(at)) > 0 || (length = tag_length(at)) > 0) {
            keep_once(passed, at, length);
        } else {
            break;
        }
        at += length;
        at += blanks(at);
        if (behind)
            parts->rest = at;
    }
    parts->rest = skip_repeated(parts->rest, parts->kept);
}

/* Is every byte on the way to rest plain, so that the rest can stay as raw text? */
static bool is_raw(const char *from, const char *rest)
{
    for (; from < rest; from++)
        if ((unsigned char)*from >= 128)
            return false;
    return true;
}

/* The blank between two encoded words vanishes for readers: there the prefix
 * has one inside. */
static char *join(const char *prefix, const char *mark, const char *raw_rest)
{
    g_autofree char *bare = g_strchomp(g_strdup(prefix)), *front = header_encode(bare, strlen(SUBJECT));
    bool encoded = strstr(front, "=?") != NULL;
    if (encoded && !*mark && g_str_has_prefix(raw_rest, "=?")) {
        g_free(front);
        front = header_encode(prefix, strlen(SUBJECT));
    }
    /* Where the sender's first line has no room behind the prefix, it becomes a line of its own. */
    const char *feed = strrchr(front, '\n');
    size_t column = feed ? strlen(feed + 1) : strlen(SUBJECT) + strlen(front);
    bool fits = column + 1 + strlen(mark) + strcspn(raw_rest, "\r\n") <= LINE_OCTETS;
    return g_strconcat(front, fits ? " " : "\r\n ", mark, raw_rest, NULL);
}

/* The value with the prefix. The sender's own words stay raw wherever they
 * can: only what stands before them is written anew. */
static char *build(const char *raw, const char *pattern, const char *prefix)
{
    g_auto(SubjectParts) seen = {0}, sent = {0};
    g_autofree char *text = NULL;
    bool exact = header_decode_exactly(raw, &text);
    take_apart(text, pattern, &seen);
    take_apart(raw, pattern, &sent);
    bool same = sent.reply == seen.reply && sent.had_prefix == seen.had_prefix && g_string_equal(sent.kept, seen.kept);
    bool plain = same && is_raw(raw, sent.rest);
    g_autofree char *mark = g_strconcat(seen.reply ? "Re: " : "", seen.kept->str, NULL),
                    *raw_mark = g_strconcat(sent.reply ? "Re: " : "", sent.kept->str, NULL);
    /* Decoding would destroy some of it: what is encoded stays, with the marks that are in there. */
    if (!exact && !plain)
        return seen.had_prefix && !sent.had_prefix ? g_strdup(raw) : join(prefix, raw_mark, sent.rest);
    if (!*seen.rest)
        seen.rest = "(no subject)";
    else if (plain)
        return join(prefix, mark, sent.rest);
    g_autofree char *whole = g_strconcat(prefix, mark, seen.rest, NULL);
    return header_encode(whole, strlen(SUBJECT));
}

static bool process_subject_prefix(Post *post, GError **error)
{
    g_autofree char *pattern = g_strstrip(
        g_strdup(post->list->settings->subject_prefix ? post->list->settings->subject_prefix : ""));
    if (!*pattern || post->ours)
        return true;
    g_autofree char *prefix = subject_prefix_make(pattern, post->post_id);
    const Field *field = message_find(post->message, "Subject", NULL);
    g_autofree char *raw = field ? field_value_folded(field) : g_strdup("");
    /* "[test] Re: x" is as it must be already, unless the number differs. */
    g_autofree char *value = build(raw, pattern, prefix);
    if (strcmp(value, raw) == 0)
        return true;
    if (field && !post->author_subject) /* a pipeline may name this handler twice */
        post->author_subject = g_strdup(raw);
    message_set(post->message, "Subject", value);
    return true;
}

const Handler handler_subject_prefix = {.name = "subject-prefix", .process = process_subject_prefix};

/* --- tagger ---------------------------------------------------------------- */

/*
 * Topics: which of the list's topics a post is about, in X-Topics. A topic is "NAME: PATTERN" in the list's setting
 * topics, looked for in Subject and Keywords, and in so many lines of the text as topics_bodylines_limit says, where
 * they begin with "Subject:" or "Keywords:". Members who chose topics get those posts alone (store/lists/topic.h).
 */

#define TOPICS_TEXT_MAX (16 * 1024)

static void add_topic_field(GString *text, const Message *message, const char *name)
{
    size_t index = 0;
    for (const Field *field; text->len < TOPICS_TEXT_MAX && (field = message_find(message, name, &index)); index++) {
        g_autofree char *value = field_value(field), *shown = header_decode(value);
        g_string_append_printf(text, "%s\n", shown);
    }
}

/* The first lines of the body, until one that is neither empty nor such a field. */
static void add_topic_body(GString *text, const Post *post)
{
    g_autoptr(GBytes) body = message_body(post->message);
    size_t left;
    const char *at = g_bytes_get_data(body, &left);
    for (int64_t line = 0;
         line < post->list->settings->topics_bodylines_limit && left > 0 && text->len < TOPICS_TEXT_MAX; line++) {
        const char *feed = memchr(at, '\n', left);
        size_t length = feed ? (size_t)(feed - at) + 1 : left;
        g_autofree char *valid = g_utf8_make_valid(at, (gssize)MIN(length, 1000));
        const char *trimmed = g_strstrip(valid);
        const char *colon = strchr(trimmed, ':');
        bool named = g_ascii_strncasecmp(trimmed, "Subject:", 8) == 0 ||
                     g_ascii_strncasecmp(trimmed, "Keywords:", 9) == 0;
        if (*trimmed && !named)
            return;
        if (named)
            g_string_append_printf(text, "%s\n", colon + 1);
        at += length;
        left -= length;
    }
}

static bool process_tagger(Post *post, GError **error)
{
    char **topics = post->list->settings->topics;
    if (!post->list->settings->topics_enabled || !topics || !*topics)
        return true;
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GStrvBuilder) found = g_strv_builder_new();
    add_topic_field(text, post->message, "Subject");
    add_topic_field(text, post->message, "Keywords");
    add_topic_body(text, post);
    message_remove(post->message, "X-Topics");
    for (; *topics; topics++) {
        g_autofree char *name = NULL, *pattern = NULL;
        if (topic_split(*topics, &name, &pattern) && (pattern_matches_text(pattern, text->str, post->patterns) ||
                                                        pattern_gave_up(pattern, post->patterns)))
            g_strv_builder_add(found, name);
    }
    g_strfreev(post->topics);
    post->topics = g_strv_builder_end(found);
    if (!*post->topics)
        return true;
    g_autofree char *names = g_strjoinv(", ", post->topics), *value = header_encode(names, strlen("X-Topics: "));
    message_append(post->message, "X-Topics", value);
    return true;
}

const Handler handler_tagger = {.name = "tagger", .process = process_tagger};
