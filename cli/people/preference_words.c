/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/people/preference_words.h"

#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "store/language.h"

bool preference_split(const char *text, char **name, const char **value, GError **error)
{
    const char *equals = strchr(text, '=');
    if (!equals)
        return fail(error, FAIL_NEVER, "\"%s\" is not NAME=VALUE", text);
    *name = g_strndup(text, (gsize)(equals - text));
    *value = equals + 1;
    return true;
}

static const struct {
    const char *name;
    size_t offset;
} flags[] = {
    {"acknowledge_posts", offsetof(Preferences, acknowledge_posts)},
    {"hide_address", offsetof(Preferences, hide_address)},
    {"receive_list_copy", offsetof(Preferences, receive_list_copy)},
    {"receive_own_postings", offsetof(Preferences, receive_own_postings)},
};

bool preference_set(Preferences *preferences, const char *name, const char *value, bool *known, GError **error)
{
    DeliveryMode mode = 0;
    DeliveryStatus status = 0;
    bool back = !*value || strcmp(value, "default") == 0;
    *known = true;
    for (size_t at = 0; at < G_N_ELEMENTS(flags); at++) {
        if (strcmp(flags[at].name, name) != 0)
            continue;
        if (!back && strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
            return fail(error, FAIL_NEVER, "%s: found \"%s\"; allowed: yes, no, default", name, value);
        *(int *)((char *)preferences + flags[at].offset) = back ? -1 : *value == 'y';
        return true;
    }
    if (strcmp(name, "delivery_mode") == 0) {
        if (!back && !delivery_mode_parse(value, &mode))
            return fail(error, FAIL_NEVER,
                        "delivery_mode: found \"%s\"; allowed: regular, plaintext_digests, "
                        "mime_digests, summary_digests, default",
                        value);
        preferences->delivery_mode = back ? -1 : (int)mode;
    } else if (strcmp(name, "delivery_status") == 0) {
        if (!back && !delivery_status_parse(value, &status))
            return fail(error, FAIL_NEVER,
                        "delivery_status: found \"%s\"; allowed: enabled, by_user, by_moderator, "
                        "by_bounces, default",
                        value);
        preferences->delivery_status = back ? -1 : (int)status;
    } else if (strcmp(name, "preferred_language") == 0) {
        if (!back && !language_check("preferred_language", value, error))
            return false;
        g_strlcpy(preferences->preferred_language, back ? "" : value, PREFERENCE_LANGUAGE_SIZE);
    } else {
        *known = false;
    }
    return true;
}
