/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/answer.h"

#include <glib.h>
#include <string.h>

#include "base/mailbox.h"
#include "mail/address.h"

/* Is sender one of the names that never wants an answer? */
static bool is_robot(const char *sender)
{
    static const char *const beginnings[] = {"mailer-daemon@", "owner-",    "noreply",
                                             "no-reply",       "listserv@", "majordomo@"};
    static const char *const endings[] = {"-request", "-bounces", "-owner", "-bounce"};
    g_autofree char *key = address_key(sender);
    for (size_t at = 0; at < G_N_ELEMENTS(beginnings); at++)
        if (g_str_has_prefix(key, beginnings[at]))
            return true;
    g_autofree char *local = g_strndup(key, strcspn(key, "+@"));
    for (size_t at = 0; at < G_N_ELEMENTS(endings); at++)
        if (g_str_has_suffix(local, endings[at]))
            return true;
    return false;
}

static bool value_begins(const Message *message, const char *name, const char *const *words)
{
    g_autofree char *value = message_value(message, name);
    for (; value && *words; words++)
        if (g_ascii_strncasecmp(value, *words, strlen(*words)) == 0)
            return true;
    return false;
}

bool answer_allowed(const char *sender, const Message *message)
{
    static const char *const bulk[] = {"bulk", "junk", "list", NULL}, *const report[] = {"multipart/report", NULL};
    static const char *const listed[] = {"List-Id", "List-Post", "List-Unsubscribe", "X-Auto-Response-Suppress"};
    if (!mailbox_valid(sender) || is_robot(sender))
        return false;
    g_autofree char *automatic = message_value(message, "Auto-Submitted");
    if (automatic && g_ascii_strcasecmp(automatic, "no") != 0)
        return false;
    for (size_t at = 0; at < G_N_ELEMENTS(listed); at++)
        if (message_has(message, listed[at]))
            return false;
    return !value_begins(message, "Precedence", bulk) && !value_begins(message, "Content-Type", report);
}

bool answer_is_automatic(const Message *message)
{
    static const char replied[] = "auto-replied";
    g_autofree char *value = message_value(message, "Auto-Submitted");
    /* Parameters or a comment may follow the word. */
    return value && g_ascii_strncasecmp(value, replied, strlen(replied)) == 0 &&
           (value[strlen(replied)] == '\0' || strchr(" \t;(", value[strlen(replied)]));
}
