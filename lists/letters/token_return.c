/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/token_return.h"

#include <string.h>

#include "store/people/pending.h"

#define MARK "(confirm "
#define WORD "confirm "

void token_return_make(const Work *work, const List *list, const char *token, TokenReturn *back)
{
    g_autofree char *local = list_local(list, "confirm", LIST_LOCAL_MAX - 1 - PENDING_TOKEN_CHARS);
    bool fits = strlen(local) + 1 + PENDING_TOKEN_CHARS <= LIST_LOCAL_MAX;
    back->mark = fits ? g_strdup("") : g_strdup_printf(" " MARK "%s)", token);
    back->address = fits ? g_strdup_printf("%s%c%s@%s", local, work_site(work)->delimiter, token, list->mail_host)
                         : list_address(list, "request");
}

void token_return_clear(TokenReturn *back)
{
    g_clear_pointer(&back->address, g_free);
    g_clear_pointer(&back->mark, g_free);
}

char *token_return_in(const char *subject)
{
    const char *mark = strstr(subject, MARK);
    /* The whole Subject of GNU Mailman's letters to moderators, which a site that moved in may have sent. */
    bool word = !mark && g_ascii_strncasecmp(subject, WORD, strlen(WORD)) == 0;
    const char *token = mark ? mark + strlen(MARK) : word ? subject + strlen(WORD) : "";
    g_autofree char *found = g_strndup(token, strcspn(token, ")"));
    return pending_token_is_one(found) ? g_steal_pointer(&found) : NULL;
}
