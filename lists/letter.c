/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letter.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/octets.h"
#include "runners/keys.h"
#include "switchboard/meta.h"

#define VALUES_MAX 40

/* Fills text with the values that every letter has, and its own. */
static char *fill(const List *list, const char *text, const TemplateValue *own)
{
    g_autofree char *owner = list_address(list, "owner"), *request = list_address(list, "request");
    g_autofree char *join = list_address(list, "join"), *leave = list_address(list, "leave");
    TemplateValue values[VALUES_MAX] = {
        {"list_name", list->display_name && *list->display_name ? list->display_name : list->list_name},
        {"description", list->description},
        {"posting_address", list->posting_address},
        {"owner_address", owner},
        {"request_address", request},
        {"join_address", join},
        {"leave_address", leave},
    };
    size_t count = 7;
    for (; own && own->name && count < VALUES_MAX - 1; own++)
        values[count++] = *own;
    g_autofree char *filled = template_fill(text, values);
    return g_utf8_make_valid(filled, -1);
}

/* A letter to one address, or to those that were given. */
static char **recipients_of(const ListLetter *letter)
{
    if (letter->recipients)
        return letter->recipients;
    const char *const one[] = {letter->to && *letter->to ? letter->to : NULL, NULL};
    return g_strdupv((char **)one);
}

static char *message_id_for(const Work *work, const List *list, const ListLetter *letter)
{
    g_autofree char *made = letter->id ? NULL
                                       : g_strdup_printf("%s.%" G_GINT64_FORMAT ".%08x", letter->template,
                                                         work_now(work), g_random_int());
    return g_strconcat(letter->id ? letter->id : made, "@", list->mail_host, NULL);
}

bool work_letter(Work *work, const List *list, const ListLetter *letter, GError **error)
{
    g_autoptr(GError) why = NULL;
    g_auto(GStrv) recipients = recipients_of(letter);
    if (!*recipients)
        return true;
    g_autofree char *template =
        template_load(work_site(work)->templates, list->preferred_language, letter->template, &why);
    if (!template) {
        log_warn("%s list=%s no letter: %s", work_actor(work)->from ? work_actor(work)->from : "-", list->list_id,
                 why->message);
        return true;
    }
    g_autofree char *text = fill(list, template, letter->values), *owner = list_address(list, "owner");
    g_autofree char *id = message_id_for(work, list, letter);
    const char *sender = letter->envelope_sender ? letter->envelope_sender : "";
    Notice notice = {.from_name = letter->from_name, .from = letter->from ? letter->from : owner, .to = letter->to,
                     .text = text, .id = id, .in_reply_to = letter->in_reply_to,
                     .date = letter->date ? letter->date : work_now(work), .personal = letter->personal,
                     .replied = letter->in_reply_to != NULL, .attach = letter->attach, .about = letter->about,
                     .most = letter->most};
    GPtrArray *pieces = notice_compose(&notice);
    json_t *meta = json_object();
    meta_set_string(meta, META_TRACE, letter->trace);
    meta_set_string(meta, META_LIST, list->list_id);
    meta_set_string(meta, KEY_SENDER, sender);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, sender);
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    meta_set_string(meta, KEY_PRIORITY, "notice");
    for (unsigned at = 0; at < pieces->len; at++)
        if (octets_8bit_bytes(pieces->pdata[at]))
            meta_set_bool(meta, KEY_BODY_8BIT, true);
    work_entry(work, letter->queue ? letter->queue : "virgin", meta, pieces, g_steal_pointer(&recipients));
    return true;
}

bool letter_allowed(Work *work, const List *list, const char *address, bool *allowed, GError **error)
{
    int64_t most = work_site(work)->answers_a_day, today = 0;
    *allowed = true;
    if (most == 0)
        return true;
    if (!store_count_answer(work_store(work), address, work_now(work), &today, error))
        return false;
    *allowed = today <= most;
    if (!*allowed)
        work_log(work, list->list_id, "to=<%s> result=no-letter (it got %" G_GINT64_FORMAT " today)", address, most);
    return true;
}

char **letter_owners(Store *store, const List *list, const char *site_owner, GError **error)
{
    char **all = list_administrators(store, list->list_id, error);
    if (!all || *all)
        return all;
    g_strfreev(all);
    const char *const one[] = {site_owner && *site_owner ? site_owner : NULL, NULL};
    return g_strdupv((char **)one);
}

/* What follows "key: " on a line of text; NULL: there is no such line. */
static char *find_sentence(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            return g_strstrip(g_strndup(line + length + 1, strcspn(line + length + 1, "\n")));
    return NULL;
}

char *letter_sentence(const Work *work, const List *list, const char *key, const TemplateValue *values)
{
    /* A site's own file need not have every sentence: then the built-in one, then the English one. */
    const char *const folders[] = {work_site(work)->templates, NULL, NULL};
    const char *const languages[] = {list->preferred_language, list->preferred_language, "en"};
    for (size_t at = 0; at < G_N_ELEMENTS(folders); at++) {
        g_autofree char *text = template_load(folders[at], languages[at], "answers", NULL);
        g_autofree char *sentence = text ? find_sentence(text, key) : NULL;
        if (sentence)
            return fill(list, sentence, values);
    }
    return g_strdup(key);
}
