/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The last of the handlers: the message as it leaves, with the list's own text
 * around it and with holes where each recipient's copy differs. Works on what to-outgoing sends; the archive keeps
 * post->message.
 */
#include <string.h>

#include "base/random.h"
#include "mail/address.h"
#include "mail/mime/decorate.h"
#include "mail/text/template.h"
#include "posting/frame.h"
#include "posting/handler.h"
#include "store/lists/list_setting.h"

/* The marks of what is filled in for each recipient, or "" where nothing is. */
typedef struct HoleMarks {
    char *secret;
    char *fields[COPY_FIELDS];
} HoleMarks;

static void marks_clear(HoleMarks *marks)
{
    g_free(marks->secret);
    for (int field = 0; field < COPY_FIELDS; field++)
        g_free(marks->fields[field]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HoleMarks, marks_clear)

/* A template of the list with its own words, and marks where those of the recipient go. */
static char *fill(const Post *post, const PostSend *send, const char *template, const HoleMarks *marks)
{
    const List *list = post->list;
    if (!template || !*template)
        return NULL;
    g_autofree char *owner = post_list_address(list, "owner"), *request = post_list_address(list, "request");
    g_autofree char *join = post_list_address(list, "join"), *leave = post_list_address(list, "leave");
    const TemplateList about = {.name = list->list_name,
                                .local_name = list->list_name,
                                .display_name = list->settings->display_name,
                                .description = list->settings->description,
                                .info = list->settings->info,
                                .list_id = list->list_id,
                                .mail_host = list->mail_host,
                                .posting_address = list->posting_address,
                                .language = list->settings->preferred_language,
                                .owner = owner,
                                .request = request,
                                .join = join,
                                .leave = leave};
    const TemplateValue person[] = {
        {"user_address", marks->fields[COPY_ADDRESS]},
        {"user_email", marks->fields[COPY_ADDRESS]},
        {"user_delivered_to", marks->fields[COPY_ADDRESS]},
        {"user_name", marks->fields[COPY_NAME]},
        {"user_name_or_address", marks->fields[COPY_NAME_OR_ADDRESS]},
        {"user_name_or_email", marks->fields[COPY_NAME_OR_ADDRESS]}, /* as Mailman 3.3.9 has it */
    };
    TemplateValue values[TEMPLATE_LIST_VALUES + G_N_ELEMENTS(person) + 1] = {0};
    size_t count = template_list_values(&about, values);
    if (send->personal)
        memcpy(values + count, person, sizeof person);
    return template_fill(template, values);
}

/* RFC 8058: one POST to that URL ends this membership. Mail programs that know no URL still
 * have the address. */
static void set_unsubscribe(const Post *post, Message *message, const HoleMarks *marks)
{
    const char *template = post->copies->unsubscribe_url;
    if (!template || !*template || !post->list->settings->include_rfc2369_headers)
        return;
    const TemplateValue values[] = {{"token", marks->fields[COPY_UNSUBSCRIBE]},
                                    {"list_id", post->list->list_id},
                                    {"list_name", post->list->list_name},
                                    {"mail_host", post->list->mail_host},
                                    {0}};
    g_autofree char *url = template_fill(template, values);
    g_autofree char *escaped = g_uri_escape_string(url, ":/?#[]@!$&'()*+,;=%", false);
    g_autofree char *leave = post_list_address(post->list, "leave");
    g_autofree char *address = g_uri_escape_string(leave, "@!$'*+-=_.~", true);
    g_autofree char *value = post->no_requests ? g_strdup_printf("<%s>", escaped)
                                               : g_strdup_printf("<%s>,\r\n <mailto:%s>", escaped, address);
    message_set(message, "List-Unsubscribe", value);
    if (g_ascii_strncasecmp(url, "https://", strlen("https://")) == 0) /* RFC 8058, 3.1 */
        message_set(message, "List-Unsubscribe-Post", "List-Unsubscribe=One-Click");
}

/* Gives each copy its reader in To. "Reply to all" must still reach the list, so the list is added to Cc, unless Cc or
 * Reply-To names it already, or the owners want replies at their own address only. */
static void set_to(const Post *post, Message *message, const HoleMarks *marks)
{
    static const char *const named[] = {"Cc", "Reply-To", NULL};
    message_set(message, "To", marks->fields[COPY_MAILBOX]);
    if (post->list->settings->reply_goes_to_list == REPLY_EXPLICIT_HEADER_ONLY)
        return;
    g_autoptr(GPtrArray) present = post_addresses(post, named);
    for (guint at = 0; at < present->len; at++)
        if (address_same(((Address *)present->pdata[at])->mailbox, post->list->posting_address))
            return;
    post_add_person(message, "Cc", post->list->posting_address);
}

/* Takes the marks out of all that is not the sender's own. */
static void cut(PostSend *send, const Decorated *decorated, const HoleMarks *marks)
{
    size_t offset = 0;
    send->pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    send->holes = g_array_new(FALSE, FALSE, sizeof(CopyHole));
    for (guint at = 0; at < decorated->pieces->len; at++) {
        GBytes *piece = decorated->pieces->pdata[at];
        bool own = decorated_is_own(decorated, piece);
        GBytes *left = own ? g_bytes_ref(piece) : copy_cut(marks->secret, piece, offset, send->holes);
        offset += g_bytes_get_size(left);
        g_ptr_array_add(send->pieces, left);
    }
}

static bool wants_verp(const Post *post, const PostSend *send)
{
    int64_t interval = post->copies->verp_interval;
    if (send->personal && post->copies->verp_personalized)
        return true;
    if (post->digest) /* it stands for many posts */
        return interval > 0;
    return interval == 1 || (interval > 1 && post->post_id > 0 && post->post_id % interval == 0);
}

/* Does the post name somebody besides the list, who may be a member? */
static bool names_others(const Post *post)
{
    for (char *const *address = post->copied; address && *address; address++)
        if (!address_same(*address, post->list->posting_address))
            return true;
    return false;
}

static bool process(Post *post, GError **error)
{
    static const PostCopies all_alike = {0};
    const List *list = post->list;
    PostSend *send = post_send_find(post, POST_OUT);
    if (!send)
        return true;
    if (!post->copies)
        post->copies = &all_alike;
    send->personal = list->settings->personalize != PERSONALIZE_NONE;
    send->verp = wants_verp(post, send);
    const char *url = post->copies->unsubscribe_url;
    bool unsubscribe = (send->personal || send->verp) && url && *url;
    /* With verp alone copies may be the same, and the relay may make the senders (XVERP): too dear for this. */
    bool named = send->personal && post->recipients == POST_TO_MEMBERS && names_others(post);
    g_autofree char *above = NULL, *below = NULL;
    if (!frame_find(post, &above, &below, error))
        return false;
    if (!above && !below && !unsubscribe && !named && list->settings->personalize != PERSONALIZE_FULL)
        return true;
    g_auto(HoleMarks) marks = {0};
    marks.secret = random_word();
    for (int field = 0; field < COPY_FIELDS; field++)
        marks.fields[field] = copy_mark(marks.secret, (CopyField)field, COPY_HEADER);
    Message *message = post_send_message(post, send);
    if (unsubscribe)
        set_unsubscribe(post, message, &marks);
    if (list->settings->personalize == PERSONALIZE_FULL)
        set_to(post, message, &marks);
    if (named) /* as Mailman calls it: filters of members know it */
        message_set(message, "X-Mailman-Copy", marks.fields[COPY_NAMED]);
    g_autofree char *header = fill(post, send, above, &marks), *footer = fill(post, send, below, &marks);
    g_auto(Decorated) decorated = {0};
    decorate(message, &(Decoration){header, footer, marks.secret}, &decorated);
    cut(send, &decorated, &marks);
    return true;
}

const Handler handler_decorate = {.name = "decorate", .process = process};
