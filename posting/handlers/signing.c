/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Handlers that deal with signatures, and with the policy of the domain in From. */
#include <string.h>

#include "base/bytes.h"
#include "mail/address.h"
#include "mail/auth/auth_results.h"
#include "mail/header.h"
#include "mail/mime/decorate.h"
#include "posting/authenticity.h"
#include "posting/pipeline.h"
#include "store/lists/list_setting.h"

/* --- validate-authenticity ------------------------------------------------- */

#define RESULTS "Authentication-Results"

/* Does the field claim to be ours, or may it? Then somebody forged it. */
static bool is_forged(const Field *field, void *data)
{
    return auth_results_forged(field, data);
}

/* Before all that changes the post: says in Authentication-Results what is known about its signatures. */
static bool process_validate_authenticity(Post *post, GError **error)
{
    if (!post->site || !post->site->authserv_id)
        return true;
    bool known = authenticity_find(post);
    message_remove_if(post->message, is_forged, (char *)post->site->authserv_id);
    if (known)
        message_prepend(post->message, RESULTS, post->authenticity->results);
    return true;
}

const Handler handler_validate_authenticity = {.name = "validate-authenticity",
                                               .process = process_validate_authenticity};

/* --- dmarc ----------------------------------------------------------------- */

/*
 * Behind to-outgoing: the copies of a post whose From must not stay. The archive, the digest and news keep the true
 * one.
 */

/* The fields that stay in the header of the message around a wrapped post; besides, all List- fields stay. */
static const char *const kept_around[] = {"From", "Reply-To", "Archived-At", "Date", "In-Reply-To", "Precedence",
                                   "References", "Subject", "To",
                                   "Cc", "Auto-Submitted", "X-Mailman-Version", "X-Topics"};

/* Is the name an address? Some filters take that for a fraud. */
static char *find_sign(char *name)
{
    char *sign = strrchr(name, '@');
    return sign && strchr(sign, '.') && !strchr(sign, ' ') ? sign : NULL;
}

/* Take an address out of a name: "Bob Smith <bob@home.example>" becomes "Bob Smith". A name that is nothing else keeps
 * what stands before the "@". */
static void drop_address(char *name)
{
    char *sign = find_sign(name), *word = sign;
    if (!sign)
        return;
    while (word > name && !g_ascii_isspace(word[-1]))
        word--;
    *(word > name ? word : sign) = '\0';
    if (*name && strchr("<([", *name))
        memmove(name, name + 1, strlen(name));
    g_strstrip(name);
}

/* How the author is called: by the field, else by the list's members, else by the address without its domain. */
static bool author_name(const Post *post, const Address *author, char **name, GError **error)
{
    g_autofree char *shown = header_decode(author->display);
    if (!*g_strstrip(shown)) {
        Member *found;
        g_autoptr(Mailbox) address = mailbox_new(author->mailbox);
        if (!post_find_member(post, ROLE_MEMBER, address, &found, error))
            return false;
        g_autoptr(Member) member = found;
        g_free(shown);
        shown = g_strdup(member && *member->given_name ? member->given_name : author->mailbox);
    }
    drop_address(shown);
    *name = g_steal_pointer(&shown);
    return true;
}

/* A phrase for the field's name of the author with more text behind it. It stays as it is where decoding would destroy
 * some of it. NULL: it can be decoded, or has bytes that are not ASCII, which a field of ours must not have. */
static char *raw_phrase(const Address *author, const char *more, size_t column)
{
    g_autofree char *shown = NULL;
    if (bytes_8bit(author->display, strlen(author->display)) || header_decode_exactly(author->display, &shown) ||
        !*g_strstrip(shown) || (*more && find_sign(shown)))
        return NULL;
    g_autofree char *raw = header_phrase_raw(author->display, column);
    g_autofree char *spaced = g_strconcat(" ", more, NULL), *phrase = header_phrase(more, 1);
    if (g_str_has_prefix(phrase, "=?")) { /* the blank between two encoded words vanishes */
        g_free(phrase);
        phrase = header_phrase(spaced, 1);
    }
    return *more ? g_strconcat(raw, "\r\n ", phrase, NULL) : g_steal_pointer(&raw);
}

static char *mailbox_text(const char *phrase, const char *mailbox)
{
    return *phrase ? g_strdup_printf("%s\r\n <%s>", phrase, mailbox) : g_strdup(mailbox);
}

/* The author stays reachable: in Reply-To where the list leaves that alone, else in Cc. */
static void keep_author(const Post *post, Message *message, const Address *author)
{
    const char *name = post->list->settings->reply_goes_to_list == REPLY_NO_MUNGING ? "Reply-To" : "Cc";
    g_autoptr(GPtrArray) present = address_list_new();
    size_t index = 0;
    for (const Field *field; (field = message_find(message, name, &index)); index++)
        address_parse(field->text + field->value_offset, field->length - field->value_offset, present);
    for (guint at = 0; at < present->len; at++)
        if (address_same(((Address *)present->pdata[at])->mailbox, author->mailbox))
            return;
    g_autofree char *shown = header_decode(author->display);
    g_autofree char *raw = raw_phrase(author, "", strlen("Reply-To: "));
    g_autofree char *phrase = raw ? NULL : header_phrase(g_strstrip(shown), strlen("Reply-To: "));
    g_autofree char *own = mailbox_text(raw ? raw : phrase, author->mailbox);
    post_add_person(message, name, own);
}

/* The names of all authors, and what is behind them in From. Where nobody can be read, the list stands there alone. */
static bool make_phrase(const Post *post, const GPtrArray *authors, const char *list_name, char **phrase,
                        GError **error)
{
    size_t column = strlen("From: ");
    g_autoptr(GString) whole = g_string_new(NULL);
    g_autofree char *via = g_strdup_printf("via %s", list_name);
    *phrase = authors->len == 1 ? raw_phrase(authors->pdata[0], via, column) : NULL;
    if (*phrase)
        return true;
    for (guint at = 0; at < MIN(authors->len, AUTHORS_MAX); at++) {
        g_autofree char *name = NULL;
        if (!author_name(post, authors->pdata[at], &name, error))
            return false;
        g_string_append_printf(whole, "%s%s", at > 0 ? ", " : "", name);
    }
    if (authors->len > 0)
        g_string_append_printf(whole, " %s", via);
    *phrase = header_phrase(authors->len > 0 ? whole->str : list_name, column);
    return true;
}

static bool munge(const Post *post, Message *message, GError **error)
{
    const List *list = post->list;
    const char *shown = list->settings->display_name && *list->settings->display_name ? list->settings->display_name
                                                                                      : list->list_name;
    g_autoptr(GPtrArray) authors = authors_read(post, NULL);
    g_autofree char *phrase = NULL;
    if (!make_phrase(post, authors, shown, &phrase, error))
        return false;
    g_autofree char *value = mailbox_text(phrase, list->posting_address);
    message_set(message, "From", value);
    for (guint at = 0; at < MIN(authors->len, AUTHORS_MAX); at++)
        keep_author(post, message, authors->pdata[at]);
    return true;
}

static bool is_dropped(const Field *field, void *data)
{
    if (field->name_length > 5 && g_ascii_strncasecmp(field->text, "List-", 5) == 0)
        return false;
    for (size_t at = 0; at < G_N_ELEMENTS(kept_around); at++)
        if (field_is(field, kept_around[at]))
            return false;
    return true;
}

static void append_part(GString *body, const char *boundary, const char *fields)
{
    g_string_append_printf(body, "--%s\r\n%s\r\n", boundary, fields);
}

/* The post as it is becomes a message inside one of the list's. */
static bool wrap(const Post *post, Message *message, GError **error)
{
    g_autoptr(GBytes) whole = message_octets(message);
    size_t length;
    const char *octets = g_bytes_get_data(whole, &length);
    bool has_8bit = bytes_8bit(octets, length);
    g_autofree char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, whole);
    g_autofree char *id = g_strdup_printf("<%.32s.wrapped@%s>", sum, post->list->mail_host);
    if (!munge(post, message, error))
        return false;
    message_remove_if(message, is_dropped, NULL);
    message_append(message, "Message-ID", id);
    message_append(message, "MIME-Version", "1.0");
    const char *encoding = has_8bit ? "Content-Transfer-Encoding: 8bit\r\n" : "";
    g_autofree char *inside = g_strconcat("Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n", encoding,
                                          NULL);
    const char *text = post->list->settings->dmarc_wrapped_message_text;
    g_autoptr(GString) body = g_string_new(NULL);
    if (has_8bit)
        message_append(message, "Content-Transfer-Encoding", "8bit");
    if (text && *text) {
        g_autofree char *boundary = g_strdup_printf("=_wrap.%.24s", sum);
        g_autofree char *type = g_strdup_printf("multipart/mixed; boundary=\"%s\"", boundary);
        g_autofree char *part = decorate_text_part(text);
        message_append(message, "Content-Type", type);
        append_part(body, boundary, part);
        append_part(body, boundary, inside);
        g_string_append_len(body, octets, (gssize)length);
        g_string_append_printf(body, "\r\n--%s--\r\n", boundary);
    } else {
        message_append(message, "Content-Type", "message/rfc822");
        message_append(message, "Content-Disposition", "inline");
        g_string_append_len(body, octets, (gssize)length);
    }
    g_autoptr(GBytes) made = g_string_free_to_bytes(g_steal_pointer(&body));
    message_set_body(message, made);
    return true;
}

static bool process_dmarc(Post *post, GError **error)
{
    Mitigation mitigation;
    PostSend *send = post_send_find(post, POST_OUT);
    mitigation_find(post, &mitigation);
    if (!send || mitigation == MITIGATION_NONE)
        return true;
    Message *message = post_send_message(post, send);
    bool unneeded;
    if (!mitigation_unneeded(post, message, &unneeded, error))
        return false;
    if (unneeded)
        return true;
    /* A moderator let a post pass that the list would refuse: it goes as any other that must not keep its From. */
    return mitigation == MITIGATION_WRAP_MESSAGE ? wrap(post, message, error) : munge(post, message, error);
}

const Handler handler_dmarc = {.name = "dmarc", .process = process_dmarc};

/* --- dkim-sign ------------------------------------------------------------- */

/* Behind all that changes the post: signs what leaves (RFC 6376). */
static bool process_dkim_sign(Post *post, GError **error)
{
    PostSend *send = post_send_find(post, POST_OUT);
    if (send)
        post_send_sign(post, send, &(Signing){.domain = post->list->mail_host, .dkim = true});
    return true;
}

const Handler handler_dkim_sign = {.name = "dkim-sign", .process = process_dkim_sign};

/* --- arc-sign -------------------------------------------------------------- */

/* The last of all: seals what leaves (RFC 8617), with what validate-authenticity found out. */
static bool process_arc_sign(Post *post, GError **error)
{
    PostSend *send = post_send_find(post, POST_OUT);
    ArcSeal seal;
    if (send && authenticity_seal(post, &seal))
        post_send_sign(post, send, &(Signing){.domain = post->list->mail_host, .seal = &seal});
    return true;
}

const Handler handler_arc_sign = {.name = "arc-sign", .process = process_arc_sign};
