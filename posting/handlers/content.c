/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Handlers that change the text of a post. */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/program.h"
#include "base/secret.h"
#include "mail/address.h"
#include "mail/mime/content_filter.h"
#include "mail/mime/decorate.h"
#include "mail/text/template.h"
#include "posting/external.h"
#include "posting/list_cache.h"
#include "posting/pipeline.h"
#include "store/lists/list_setting.h"

/* --- external -------------------------------------------------------------- */

/* Lets the programs of [handlers] external change the post, in their order, or end it. */
static bool process_external(Post *post, GError **error)
{
    const GPtrArray *all = post->site ? post->site->handler_programs : NULL;
    for (guint at = 0; all && at < all->len && post->end == POST_GOES; at++)
        if (!external_change(all->pdata[at], post, error))
            return false;
    return true;
}

const Handler handler_external = {.name = "external", .process = process_external};

/* --- mime-delete ----------------------------------------------------------- */

#define CONVERT_TIMEOUT (10 * CLOCK_SECOND)
#define CONVERT_OUTPUT (8 * 1024 * 1024)
#define CONVERT_MEMORY ((size_t)1 << 30)

/* By the program of the site. */
static GString *convert(const GString *html, void *data, GError **error)
{
    char *const *words = data;
    const Program program = {.words = words, .timeout = CONVERT_TIMEOUT, .output_max = CONVERT_OUTPUT,
                             .memory_max = CONVERT_MEMORY};
    g_autoptr(GBytes) input = g_bytes_new(html->str, html->len), output = NULL;
    int code;
    if (!program_run(&program, input, &code, &output, error))
        return NULL;
    if (code != 0) {
        fail(error, FAIL_LATER, "%s: exit code %d", words[0], code);
        return NULL;
    }
    size_t length;
    const char *text = g_bytes_get_data(output, &length);
    g_autofree char *valid = g_utf8_make_valid(text ? text : "", (gssize)length);
    return g_string_new(valid);
}

static bool filter(Post *post, ContentResult *result, GPtrArray *removed, GError **error)
{
    const List *list = post->list;
    ContentRules rules = {
        .filter_types = list->settings->filter_types,
        .pass_types = list->settings->pass_types,
        .filter_extensions = list->settings->filter_extensions,
        .pass_extensions = list->settings->pass_extensions,
        .collapse_alternatives = list->settings->collapse_alternatives,
        .html_to_text = list->settings->convert_html_to_plaintext,
        .convert = post->site && post->site->html_to_text ? convert : NULL,
        .data = post->site ? post->site->html_to_text : NULL,
    };
    g_autoptr(GError) fault = NULL;
    if (content_filter(post->message, &rules, result, removed, &fault))
        return true;
    /* A post is not lost because the site's converter failed: ours does it. */
    log_warn("%s list=%s html_to_plain_text_command: %s", post->trace, list->list_id, fault->message);
    g_ptr_array_set_size(removed, 0);
    rules.convert = NULL;
    return content_filter(post->message, &rules, result, removed, error);
}

/* The list of what was taken out, behind the text. */
static void report_removed(Post *post, const GPtrArray *removed)
{
    g_autoptr(GString) text = g_string_new("\nThe list took these parts out of this message:\n");
    for (unsigned at = 0; at < removed->len; at++)
        g_string_append_printf(text, "  %s\n", (const char *)removed->pdata[at]);
    g_auto(Decorated) decorated = {0};
    decorate(post->message, &(Decoration){.footer = text->str}, &decorated);
    g_autoptr(GByteArray) octets = g_byte_array_new();
    for (unsigned at = 0; at < decorated.pieces->len; at++) {
        size_t length;
        const guint8 *piece = g_bytes_get_data(decorated.pieces->pdata[at], &length);
        g_byte_array_append(octets, piece, (guint)length);
    }
    g_autoptr(GBytes) whole = g_byte_array_free_to_bytes(g_steal_pointer(&octets));
    message_replace(post->message, whole);
}

static bool process_mime_delete(Post *post, GError **error)
{
    if (!post->list->settings->filter_content)
        return true;
    ContentResult result;
    g_autoptr(GPtrArray) removed = g_ptr_array_new_with_free_func(g_free);
    if (!filter(post, &result, removed, error))
        return false;
    if (result == CONTENT_REFUSED) {
        static const PostEnd ends[] = {POST_DISCARDED, POST_REJECTED, POST_FORWARDED, POST_PRESERVED};
        post->end = ends[CLAMP(post->list->settings->filter_action, 0, 3)];
        post_add_reason(post, "%s", (const char *)removed->pdata[0]);
    }
    if (result != CONTENT_CHANGED)
        return true;
    for (unsigned at = 0; at < removed->len; at++)
        g_ptr_array_add(post->removed, g_strdup(removed->pdata[at]));
    message_set(post->message, "X-Content-Filtered-By", "Listrunner");
    if (post->list->settings->filter_report && removed->len > 0)
        report_removed(post, removed);
    return true;
}

const Handler handler_mime_delete = {.name = "mime-delete", .process = process_mime_delete};

/* --- decorate -------------------------------------------------------------- */

/*
 * The last of the handlers: the message as it leaves, with the list's own text
 * around it and with holes where each recipient's copy differs. Works on what to-outgoing sends; the archive keeps
 * post->message.
 */

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
static char *fill_frame(const Post *post, const PostSend *send, const char *template, const HoleMarks *marks)
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
static void cut_marks(PostSend *send, const Decorated *decorated, const HoleMarks *marks)
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

static bool process_decorate(Post *post, GError **error)
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
    if (!list_cache_frame(post, &above, &below, error))
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
    g_autofree char *header = fill_frame(post, send, above, &marks), *footer = fill_frame(post, send, below, &marks);
    g_auto(Decorated) decorated = {0};
    decorate(message, &(Decoration){header, footer, marks.secret}, &decorated);
    cut_marks(send, &decorated, &marks);
    return true;
}

const Handler handler_decorate = {.name = "decorate", .process = process_decorate};
