/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/shadow_mail.h"

#include <string.h>

#include "base/fail.h"
#include "mail/address.h"
#include "mail/list_address.h"
#include "mail/message.h"
#include "mail/mime/mime.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

#define POSTS_READ 100    /* addresses in fields of a post */
#define ADDRESSES_READ 10 /* of a field of a letter; each may cost several look-ups */

void shadow_piece_free(ShadowPiece *piece)
{
    g_free(piece->list_id);
    g_free(piece->message_id);
    g_free(piece->token);
    g_free(piece->recipient);
    g_strfreev(piece->recipients);
    g_free(piece);
}

/* ShadowMailReading holds the facts known of the mail while it is read. */
typedef struct ShadowMailReading {
    Store *store;
    const ShadowMail *mail;
    Message *message;
    GPtrArray *recipients; /* of char *: whom the mail was for */
    bool unknown;          /* and somebody of whom nothing is said */
    GPtrArray *pieces;
} ShadowMailReading;

/* The names of a post in its own header. */
typedef struct PostNames {
    char *message_id, *date;
} PostNames;

static void names_clear(PostNames *names)
{
    g_free(names->message_id);
    g_free(names->date);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PostNames, names_clear)

static void reading_clear(ShadowMailReading *reading)
{
    message_free(reading->message);
    g_ptr_array_unref(reading->recipients);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ShadowMailReading, reading_clear)

/* The field Date without its blanks, which programs may fold; NULL: there is none. g_free() */
static char *date_of(const Message *message)
{
    g_autofree char *value = message_value(message, "Date");
    g_autoptr(GString) date = g_string_new(NULL);
    for (const char *at = value ? value : ""; *at; at++)
        if (!g_ascii_isspace(*at))
            g_string_append_c(date, *at);
    return date->len > 0 ? g_string_free(g_steal_pointer(&date), FALSE) : NULL;
}

/* Append a piece about the post of this message_id and date (either may be NULL). Where the copies have another id, and
 * the post no date, it finds none. */
static bool add_piece(const ShadowMailReading *reading, ShadowSense sense, const char *list_id, const PostNames *names,
                      ShadowPiece **added, GError **error)
{
    g_autoptr(List) list = list_by_id(reading->store, list_id, error);
    *added = NULL;
    if (!list)
        return false;
    const char *token = list->settings->anonymous_list && names->date ? names->date : names->message_id;
    if (!token)
        return true;
    ShadowPiece *piece = *added = g_new0(ShadowPiece, 1);
    piece->sense = sense;
    piece->list_id = g_strdup(list_id);
    piece->message_id = g_strdup(names->message_id ? names->message_id : "");
    piece->token = g_strdup(token);
    g_ptr_array_add(reading->pieces, piece);
    return true;
}

/* ---- addresses ---- */

static bool exists(const char *local, const char *domain, bool *there, char **list_id, void *data, GError **error)
{
    return list_exists(((const ShadowMailReading *)data)->store, local, domain, there, list_id, error);
}

/* The list that an address belongs to; *found stays NULL where it is none's. */
static bool find_list(ShadowMailReading *reading, const char *mailbox, ListAddress **found, GError **error)
{
    g_autoptr(GError) why = NULL;
    *found = *mailbox ? list_address_find(mailbox, reading->mail->delimiter, exists, reading, &why) : NULL;
    return *found || !why || fail_unless(error, FAIL_MISSING, &why);
}

/* "anne=example.org" is anne@example.org; NULL: it is no address. g_free() */
static char *unpack(const char *packed, size_t length)
{
    g_autofree char *address = g_strndup(packed, length);
    char *sign = strrchr(address, '=');
    if (!sign || sign == address || !sign[1])
        return NULL;
    *sign = '@';
    return g_steal_pointer(&address);
}

/* Whom the mail was for, as far as the envelope tells. */
static void read_recipient(ShadowMailReading *reading, const char *recipient)
{
    g_autofree char *local = NULL, *domain = NULL, *to_local = NULL, *to_domain = NULL;
    const char *bcc = reading->mail->bcc;
    bool ours = bcc && address_split(bcc, &local, &domain) && address_split(recipient, &to_local, &to_domain) &&
                g_ascii_strcasecmp(domain, to_domain) == 0 && g_ascii_strncasecmp(local, to_local, strlen(local)) == 0;
    const char *rest = ours ? to_local + strlen(local) : "";
    char *packed = *rest == '+' ? unpack(rest + 1, strlen(rest + 1)) : NULL;
    if (packed)
        g_ptr_array_add(reading->recipients, packed);
    else if (ours && (*rest == '\0' || *rest == '+'))
        reading->unknown = true;
    else
        g_ptr_array_add(reading->recipients, g_strdup(recipient));
}

static bool find_posting(ShadowMailReading *reading, const char *mailbox, const char *but, GError **error)
{
    ListAddress *found;
    if (!find_list(reading, mailbox, &found, error))
        return false;
    g_autoptr(ListAddress) address = found;
    if (!address || address->to != LIST_ADDRESS_POSTING || g_strcmp0(address->list_id, but) == 0)
        return true;
    for (guint at = 0; at < reading->pieces->len; at++) {
        const ShadowPiece *piece = reading->pieces->pdata[at];
        if (piece->sense == SHADOW_POST && g_str_equal(piece->list_id, address->list_id))
            return true;
    }
    ShadowPiece *piece;
    g_auto(PostNames) names = {message_id(reading->message), date_of(reading->message)};
    if (!names.message_id)
        names.message_id = g_compute_checksum_for_bytes(G_CHECKSUM_SHA1, reading->mail->octets);
    if (!add_piece(reading, SHADOW_POST, address->list_id, &names, &piece, error))
        return false;
    piece->recipient = g_strdup(mailbox);
    return true;
}

/* Addresses of fields, where the envelope does not tell. */
static GPtrArray *addresses_of(const Message *message, const char *const *names)
{
    GPtrArray *found = address_list_new();
    for (; *names; names++)
        for (size_t at = 0; message_find(message, *names, &at); at++) {
            g_autofree char *value = field_value(message_field(message, at));
            address_parse(value, strlen(value), found);
        }
    return found;
}

static bool find_posts(ShadowMailReading *reading, const char *but, GError **error)
{
    static const char *const names[] = {"X-Original-To", "Delivered-To", "To", "Cc", "Resent-To", "Resent-Cc", NULL};
    for (guint at = 0; at < reading->recipients->len; at++)
        if (!find_posting(reading, reading->recipients->pdata[at], but, error))
            return false;
    if (!reading->unknown || but)
        return true;
    g_autoptr(GPtrArray) named = addresses_of(reading->message, names);
    for (guint at = 0; at < named->len && at < POSTS_READ; at++)
        if (!find_posting(reading, ((const Address *)named->pdata[at])->mailbox, but, error))
            return false;
    return true;
}

/* ---- what the live server sends ---- */

static bool add_copy(const ShadowMailReading *reading, const ListAddress *from, GError **error)
{
    ShadowPiece *piece;
    g_auto(PostNames) names = {message_id(reading->message), date_of(reading->message)};
    if (!names.message_id)
        return true;
    if (!add_piece(reading, SHADOW_COPY, from->list_id, &names, &piece, error))
        return false;
    g_autoptr(GStrvBuilder) recipients = g_strv_builder_new();
    for (guint at = 0; at < reading->recipients->len; at++)
        g_strv_builder_add(recipients, reading->recipients->pdata[at]);
    g_autofree char *verp = reading->unknown && from->detail ? unpack(from->detail, strlen(from->detail)) : NULL;
    if (verp)
        g_strv_builder_add(recipients, verp);
    piece->unknown = reading->unknown && !verp;
    piece->recipients = g_strv_builder_end(recipients);
    return true;
}

/* Inside holds the facts that the mails within a letter tell. */
typedef struct Inside {
    PostNames post;
    bool confirm;     /* one is the answer by which a moderator decides */
    GPtrArray *from;  /* of Address */
} Inside;

static void inside_clear(Inside *inside)
{
    names_clear(&inside->post);
    g_ptr_array_unref(inside->from);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Inside, inside_clear)

static void read_inside(const Message *message, Inside *inside)
{
    static const char *const from[] = {"From", "Sender", "Reply-To", NULL};
    g_autofree char *subject = message_value(message, "Subject");
    if (subject && g_ascii_strncasecmp(subject, "confirm ", 8) == 0) {
        inside->confirm = true;
        return;
    }
    if (inside->post.message_id)
        return;
    names_clear(&inside->post);
    inside->post = (PostNames){message_id(message), date_of(message)};
    g_ptr_array_unref(inside->from);
    inside->from = addresses_of(message, from);
}

static bool is_from(const Inside *inside, const Message *letter)
{
    static const char *const to[] = {"To", NULL};
    g_autoptr(GPtrArray) named = addresses_of(letter, to);
    for (guint at = 0; at < named->len; at++)
        for (guint other = 0; other < inside->from->len; other++)
            if (address_same(((const Address *)named->pdata[at])->mailbox,
                             ((const Address *)inside->from->pdata[other])->mailbox))
                return true;
    return false;
}

/* A letter about a post has that within it. A digest has many, and is about none. */
static bool add_letter(const ShadowMailReading *reading, const char *list_id, GError **error)
{
    gsize length;
    const char *octets = g_bytes_get_data(reading->mail->octets, &length);
    g_autoptr(GPtrArray) parts = mime_parts(octets, length);
    g_auto(Inside) inside = {.from = address_list_new()};
    for (guint at = 0; at < parts->len; at++) {
        const MimePart *part = parts->pdata[at];
        if (g_str_equal(part->type, "multipart/digest") && !part->inside)
            return true;
        if (!g_str_equal(part->type, "message/rfc822") || part->inside)
            continue;
        g_autoptr(GBytes) body = g_bytes_new(part->body, part->body_length);
        g_autoptr(Message) within = message_new(body);
        read_inside(within, &inside);
    }
    ShadowPiece *piece;
    const ShadowSense sense = inside.confirm                       ? SHADOW_HELD
                              : is_from(&inside, reading->message) ? SHADOW_REJECTED
                                                                   : SHADOW_FORWARDED;
    return !inside.post.message_id || add_piece(reading, sense, list_id, &inside.post, &piece, error);
}

/* Letters to the owners have another sender; the field To names the list. */
static bool find_letter(ShadowMailReading *reading, GError **error)
{
    static const char *const names[] = {"To", "From", NULL};
    g_autoptr(GPtrArray) named = addresses_of(reading->message, names);
    for (guint at = 0; at < named->len && at < ADDRESSES_READ; at++) {
        ListAddress *found;
        if (!find_list(reading, ((const Address *)named->pdata[at])->mailbox, &found, error))
            return false;
        g_autoptr(ListAddress) address = found;
        if (!address || (address->to != LIST_ADDRESS_OWNER && address->to != LIST_ADDRESS_BOUNCES))
            continue;
        return add_letter(reading, address->list_id, error);
    }
    return true;
}

/* A mail with the list's sender: a letter, be it a notice or a digest, by who wrote it; else a copy of a post. */
static bool read_sent(ShadowMailReading *reading, const ListAddress *from, GError **error)
{
    static const char *const names[] = {"From", NULL};
    g_autoptr(GPtrArray) named = addresses_of(reading->message, names);
    for (guint at = 0; at < named->len && at < ADDRESSES_READ; at++) {
        ListAddress *found;
        if (!find_list(reading, ((const Address *)named->pdata[at])->mailbox, &found, error))
            return false;
        g_autoptr(ListAddress) address = found;
        if (address && address->to != LIST_ADDRESS_POSTING)
            return add_letter(reading, from->list_id, error);
    }
    return add_copy(reading, from, error);
}

bool shadow_mail_read(Store *store, const ShadowMail *mail, GPtrArray *pieces, GError **error)
{
    g_auto(ShadowMailReading) reading = {.store = store,
                                         .mail = mail,
                                         .message = message_new(mail->octets),
                                         .recipients = g_ptr_array_new_with_free_func(g_free),
                                         .pieces = pieces};
    ListAddress *found;
    for (char **recipient = mail->recipients; *recipient; recipient++)
        read_recipient(&reading, *recipient);
    if (!find_list(&reading, mail->sender, &found, error))
        return false;
    g_autoptr(ListAddress) from = found;
    bool sent = from && from->to == LIST_ADDRESS_BOUNCES;
    if (sent && !read_sent(&reading, from, error))
        return false;
    if (!find_posts(&reading, sent ? from->list_id : NULL, error))
        return false;
    return sent || pieces->len > 0 || find_letter(&reading, error);
}
