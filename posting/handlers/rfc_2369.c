/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/header.h"
#include "mail/text/template.h"
#include "posting/handler.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"

/* Only a list may say these; copies from the sender's side go. */
static const char *const ours[] = {
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

static bool process(Post *post, GError **error)
{
    if (!post->list->settings->include_rfc2369_headers)
        return true;
    for (size_t at = 0; at < G_N_ELEMENTS(ours); at++)
        message_remove(post->message, ours[at]);
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

const Handler handler_rfc_2369 = {.name = "rfc-2369", .process = process};
