/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/list_letter.h"

#include "base/log.h"
#include "base/octets.h"
#include "runners/keys.h"

char *list_letter_text(Entry *entry, const List *list, const char *folder, const char *template,
                       const TemplateValue *values)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = template_load(folder, list->preferred_language, template, &error);
    if (!text) {
        log_warn("%s list=%s no notice: %s", entry_trace(entry), list->list_id, error->message);
        return NULL;
    }
    g_autofree char *filled = template_fill(text, values);
    return g_utf8_make_valid(filled, -1);
}

void list_letter_add(Outcome *outcome, const List *list, const Notice *notice, ListLetterWay way)
{
    if (!*way.recipients) {
        g_strfreev(way.recipients);
        return;
    }
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list->list_id);
    meta_set_string(meta, KEY_SENDER, way.envelope_sender);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, way.envelope_sender);
    meta_set_string(meta, KEY_MESSAGE_ID, notice->id);
    meta_set_string(meta, KEY_PRIORITY, "notice");
    Draft *draft = draft_new(way.queue, meta);
    g_autoptr(GPtrArray) pieces = notice_compose(notice);
    for (unsigned at = 0; at < pieces->len; at++) {
        draft_add_message(draft, pieces->pdata[at]);
        if (octets_8bit_bytes(pieces->pdata[at]))
            meta_set_bool(meta, KEY_BODY_8BIT, true);
    }
    list_runner_set_recipients(draft, way.recipients);
    outcome_add(outcome, draft);
}

char **list_letter_to(const char *address)
{
    char **all = g_new0(char *, 2);
    all[0] = address && *address ? g_strdup(address) : NULL;
    return all;
}

char **list_letter_to_owners(Store *store, const List *list, const char *site_owner, GError **error)
{
    char **all = list_administrators(store, list->list_id, error);
    if (!all || *all)
        return all;
    g_strfreev(all);
    return list_letter_to(site_owner);
}
