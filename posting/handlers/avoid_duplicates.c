/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/address.h"
#include "mail/header.h"
#include "mail/message.h"
#include "posting/handler.h"

/* Enough for any real mail; more would only cost memory. */
#define COPIED_MAX 1000

/* Is the address that of a member who would get a copy, but wants none that comes besides? */
static bool is_left_out(const Post *post, const char *address, bool *left_out, GError **error)
{
    g_autoptr(Member) member = NULL;
    if (!post_find_member(post, ROLE_MEMBER, address, &member, error))
        return false;
    const Preferences *chosen = member ? &member->effective : NULL;
    *left_out = chosen && chosen->receive_list_copy == 0 && chosen->delivery_mode == MODE_REGULAR &&
                chosen->delivery_status == DELIVERY_ENABLED;
    return true;
}

/* All of the fields Cc as one, for there may be no more than that (RFC 5322, 3.6); g_free(). "": they name nobody. */
static char *merged(const Message *message)
{
    size_t index = 0;
    GString *value = g_string_new(NULL);
    for (const Field *field; (field = message_find(message, "Cc", &index)); index++) {
        g_autofree char *one = field_value_folded(field);
        if (*one)
            g_string_append_printf(value, "%s%s", value->len > 0 ? ",\r\n " : "", one);
    }
    return g_string_free(value, FALSE);
}

/* The value of a field Cc with these; g_free(). */
static char *composed(const GPtrArray *addresses)
{
    GString *value = g_string_new(NULL);
    for (guint at = 0; at < addresses->len; at++) {
        const Address *address = addresses->pdata[at];
        g_autofree char *name = header_decode(address->display);
        g_autofree char *phrase = *name ? header_phrase(name, strlen("Cc: ")) : NULL;
        g_string_append_printf(value, "%s%s%s%s%s", at > 0 ? ",\r\n " : "", phrase ? phrase : "", phrase ? " <" : "",
                               address->mailbox, phrase ? ">" : "");
    }
    return g_string_free(value, FALSE);
}

/* Who reads the list and gets no copy besides is taken out of Cc, so that those who answer to all do not name them
 * again and again. A mail in which nothing changes keeps its field as it is. */
static bool rewrite_cc(Post *post, GError **error)
{
    static const char *const cc[] = {"Cc", NULL};
    size_t second = 0;
    g_autoptr(GPtrArray) addresses = post_addresses(post, cc);
    guint before = addresses->len;
    if (!message_find(post->message, "Cc", &second) || before > COPIED_MAX)
        return true;
    for (guint at = 0; at < addresses->len;) {
        bool left_out = false;
        if (!is_left_out(post, ((Address *)addresses->pdata[at])->mailbox, &left_out, error))
            return false;
        if (left_out)
            g_ptr_array_remove_index(addresses, at);
        else
            at++;
    }
    second++;
    bool several = message_find(post->message, "Cc", &second) != NULL;
    if (addresses->len == before && !several)
        return true;
    g_autofree char *value = addresses->len == before ? merged(post->message) : composed(addresses);
    g_autoptr(GPtrArray) again = address_list_new();
    address_parse(value, strlen(value), again);
    if (again->len != addresses->len) /* a quote that one field leaves open would take in the next */
        return true;
    if (*value)
        message_set(post->message, "Cc", value);
    else
        message_remove(post->message, "Cc");
    return true;
}

/* Who is named in To and Cc has the mail already; the store leaves those out
 * who want no second copy. */
static bool process(Post *post, GError **error)
{
    const GPtrArray *all = post_destinations(post);
    GPtrArray *copied = g_ptr_array_new();
    for (unsigned at = 0; at < all->len && at < COPIED_MAX; at++)
        g_ptr_array_add(copied, g_strdup(((Address *)all->pdata[at])->mailbox));
    g_ptr_array_add(copied, NULL);
    g_strfreev(post->copied);
    post->copied = (char **)g_ptr_array_free(copied, false);
    message_remove(post->message, "X-Mailman-Copy"); /* the list's own to say (handler decorate) */
    return rewrite_cc(post, error);
}

const Handler handler_avoid_duplicates = {.name = "avoid-duplicates", .process = process};
