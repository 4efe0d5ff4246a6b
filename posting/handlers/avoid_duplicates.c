/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/address.h"
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

static size_t blanks(const char *text)
{
    return strspn(text, " \t\r\n");
}

/* Leaves out the address between what was kept so far and the text behind it, with one of the commas around it. Where
 * the address began a line, the next one begins that line. Returns where the text goes on. */
static const char *leave_out(GString *kept, const char *behind)
{
    size_t bare = kept->len;
    while (bare > 0 && g_ascii_isspace(kept->str[bare - 1]))
        bare--;
    bool folded = strchr(kept->str + bare, '\n') != NULL;
    const char *comma = behind + blanks(behind);
    g_string_truncate(kept, bare);
    if (*comma == ',' && folded) {
        g_string_append(kept, "\r\n ");
        return comma + 1 + blanks(comma + 1);
    }
    if (*comma == ',')
        return comma + 1;
    if (bare > 0 && kept->str[bare - 1] == ',')
        g_string_truncate(kept, bare - 1);
    return behind;
}

/* Appends the addresses of a field's text but those left out: names, groups and comments stay as they were written. */
static bool append_others(const Post *post, const char *text, GString *value, guint *others, GError **error)
{
    g_autoptr(GPtrArray) addresses = address_list_new();
    g_autoptr(GString) kept = g_string_new(NULL);
    const char *rest = text;
    address_parse(text, strlen(text), addresses);
    for (guint at = 0; at < addresses->len; at++) {
        const Address *address = addresses->pdata[at];
        bool left_out = false;
        if (!is_left_out(post, address->mailbox, &left_out, error))
            return false;
        *others += !left_out;
        if (!left_out)
            continue;
        const char *start = text + address->start;
        start += blanks(start);
        g_string_append_len(kept, rest, start - rest);
        rest = leave_out(kept, text + address->end);
    }
    g_string_append(kept, rest);
    g_strstrip(kept->str);
    if (*kept->str)
        g_string_append_printf(value, "%s%s", value->len > 0 ? ",\r\n " : "", kept->str);
    return true;
}

/* Take people who read the list and get no copy besides out of Cc, so that answers to all do not name them again and
 * again. All fields become one then, for there may be no more than that (RFC 5322, 3.6). A mail in which nothing
 * changes keeps its fields as they are, which its author's server may have signed. */
static bool rewrite_cc(Post *post, GError **error)
{
    static const char *const cc[] = {"Cc", NULL};
    g_autoptr(GPtrArray) before = post_addresses(post, cc);
    g_autoptr(GString) value = g_string_new(NULL);
    guint others = 0;
    size_t index = 0;
    if (before->len > COPIED_MAX)
        return true;
    for (const Field *field; (field = message_find(post->message, "Cc", &index)); index++) {
        g_autofree char *text = field_value_folded(field);
        if (!append_others(post, text, value, &others, error))
            return false;
    }
    if (others == before->len)
        return true;
    g_autoptr(GPtrArray) again = address_list_new();
    address_parse(value->str, value->len, again);
    if (again->len != others) /* a quote that one field leaves open would take in the next */
        return true;
    if (value->len > 0)
        message_set(post->message, "Cc", value->str);
    else
        message_remove(post->message, "Cc");
    return true;
}

/* Note the addresses in To and Cc, which have the mail already. The store leaves out the members among them who want no
 * second copy. */
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
