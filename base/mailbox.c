/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/mailbox.h"

#include <string.h>

#include "base/fail.h"

static bool is_control(char octet)
{
    return (unsigned char)octet < ' ' || octet == 127;
}

static bool is_local(char octet)
{
    return (unsigned char)octet > ' ' && octet != 127 && !strchr("()<>[]:;,@\\\"", octet);
}

bool mailbox_local_valid(const char *local, size_t length)
{
    for (size_t at = 0; at < length; at++)
        if (!is_local(local[at]))
            return false;
    return length > 0;
}

/* The "@" behind the local part; NULL when there is no local part, or none that ends with "@". */
static const char *local_end(const char *mailbox)
{
    const char *at = mailbox;
    if (*at == '"') { /* a quoted string, which may lack its end */
        for (at++; *at && *at != '"'; at++)
            if (*at == '\\' && at[1])
                at++;
        if (!*at++)
            return NULL;
    } else {
        while (is_local(*at))
            at++;
    }
    return at > mailbox && *at == '@' ? at : NULL;
}

/* Valid UTF-8 without control characters, and without white space but plain blanks. ASCII needs no tables. */
static bool has_plain_characters(const char *text)
{
    bool ascii = true;
    for (const char *at = text; *at; at++) {
        if (is_control(*at))
            return false;
        ascii = ascii && (unsigned char)*at < 0x80;
    }
    if (ascii)
        return true;
    if (!g_utf8_validate(text, -1, NULL))
        return false;
    for (const char *at = text; *at; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        if (character >= 0x80 && (g_unichar_iscntrl(character) || g_unichar_isspace(character)))
            return false;
    }
    return true;
}

bool mailbox_domain_valid(const char *domain)
{
    char before = '.';
    for (const char *at = domain; *at; before = *at++) {
        if (*at == '.' ? before == '.' || before == '-' : *at == '-' && before == '.')
            return false;
        if (!g_ascii_isalnum(*at) && !strchr(".-_", *at) && (unsigned char)*at < 0x80)
            return false;
    }
    return before != '.' && before != '-';
}

bool mailbox_valid(const char *mailbox)
{
    if (strnlen(mailbox, MAILBOX_MAX + 1) > MAILBOX_MAX || !has_plain_characters(mailbox))
        return false;
    const char *sign = local_end(mailbox);
    if (!sign || mailbox_domain_valid(sign + 1))
        return sign != NULL;
    /* An address literal, "[192.0.2.1]". */
    size_t inside = sign[1] == '[' ? strspn(sign + 2, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS ".:-") : 0;
    return inside > 0 && strcmp(sign + 2 + inside, "]") == 0;
}

/* Does the character stand for something that people see? first: it begins a part, so it is no mark on another one. */
static bool is_seen(gunichar character, bool first)
{
    switch (g_unichar_type(character)) {
    case G_UNICODE_FORMAT:
    case G_UNICODE_PRIVATE_USE:
    case G_UNICODE_UNASSIGNED:
        return false;
    case G_UNICODE_NON_SPACING_MARK:
        return !first;
    default:
        return true;
    }
}

bool mailbox_legible(const char *mailbox)
{
    if (!mailbox_valid(mailbox))
        return false;
    if (g_str_is_ascii(mailbox)) /* which needs no tables */
        return true;
    bool first = true; /* of the local part, of the domain, or of a label of it */
    for (const char *at = mailbox; *at; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        if (character >= 0x80 && !is_seen(character, first))
            return false;
        first = character < 0x80 && strchr("@.\"", (int)character);
    }
    g_autofree char *composed = g_utf8_normalize(mailbox, -1, G_NORMALIZE_NFC);
    return g_strcmp0(composed, mailbox) == 0;
}

char *mailbox_bare(const char *mailbox)
{
    if (!mailbox_valid(mailbox))
        return NULL;
    if (*mailbox != '"')
        return g_strdup(mailbox);
    const char *sign = local_end(mailbox);
    g_autoptr(GString) local = g_string_new(NULL), quoted = g_string_new(NULL);
    for (const char *at = mailbox + 1; at < sign - 1; at++) {
        if (*at == '\\')
            at++;
        if (*at == '"' || *at == '\\')
            g_string_append_c(quoted, '\\');
        g_string_append_c(quoted, *at);
        g_string_append_c(local, *at);
    }
    return mailbox_local_valid(local->str, local->len) ? g_strconcat(local->str, sign, NULL)
                                                       : g_strconcat("\"", quoted->str, "\"", sign, NULL);
}

size_t mailbox_path_length(const char *text, size_t length)
{
    bool quoted = false;
    size_t at = 0;
    for (; at < length && !is_control(text[at]); at++) {
        if (quoted && text[at] == '\\' && at + 1 < length && !is_control(text[at + 1]))
            at++;
        else if (text[at] == '"')
            quoted = !quoted;
        else if (!quoted && strchr(" <>", text[at]))
            break;
    }
    return quoted ? 0 : at;
}

/* Lower case of UTF-8 text; of the ASCII letters in anything else. */
static char *lower(const char *text)
{
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at >= 128)
            return g_utf8_validate(text, -1, NULL) ? g_utf8_strdown(text, -1) : g_ascii_strdown(text, -1);
    return g_ascii_strdown(text, -1);
}

char *mailbox_key(const char *mailbox)
{
    g_autofree char *bare = *mailbox == '"' ? mailbox_bare(mailbox) : NULL;
    return lower(bare ? bare : mailbox);
}

char *mailbox_base(const char *mailbox)
{
    g_autofree char *key = mailbox_key(mailbox);
    const char *sign = strrchr(key, '@'), *domain = sign ? sign : key + strlen(key);
    size_t end = strcspn(key, "+");
    g_autoptr(GString) base = g_string_new(NULL);
    for (const char *at = key; at < domain && (*key == '"' || end == 0 || at < key + end); at++)
        if (*at != '.' || *key == '"')
            g_string_append_c(base, *at);
    g_string_append(base, strcmp(domain, "@googlemail.com") == 0 ? "@gmail.com" : domain);
    return g_string_free(g_steal_pointer(&base), FALSE);
}

bool mailbox_has_detail(const char *mailbox)
{
    const char *plus = strchr(mailbox, '+'), *sign = strrchr(mailbox, '@');
    return plus && sign && plus < sign;
}

bool mailbox_same(const char *a, const char *b)
{
    if (g_ascii_strcasecmp(a, b) == 0)
        return true;
    g_autofree char *key_a = mailbox_key(a), *key_b = mailbox_key(b);
    return strcmp(key_a, key_b) == 0;
}

/* ---- values ---- */

static char *fold(const char *bare)
{
    g_autofree char *key = lower(bare);
    char *sign = strrchr(key, '@');
    if (!sign)
        return g_steal_pointer(&key);
    *sign = '\0';
    return g_strconcat(sign + 1, " ", key, NULL);
}

char *mailbox_folded(const char *text)
{
    g_autofree char *bare = *text == '"' ? mailbox_bare(text) : NULL;
    return fold(bare ? bare : text);
}

Mailbox *mailbox_new(const char *text)
{
    if (!text)
        return NULL;
    Mailbox *mailbox = g_new0(Mailbox, 1);
    mailbox->text = g_strdup(text);
    mailbox->bare = *text == '"' ? mailbox_bare(text) : NULL;
    if (!mailbox->bare)
        mailbox->bare = mailbox->text;
    mailbox->folded = fold(mailbox->bare);
    mailbox->valid = mailbox_valid(text);
    mailbox->legible = mailbox->valid && mailbox_legible(text);
    return mailbox;
}

void mailbox_free(Mailbox *mailbox)
{
    if (!mailbox)
        return;
    if (mailbox->bare != mailbox->text)
        g_free(mailbox->bare);
    g_free(mailbox->text);
    g_free(mailbox->folded);
    g_free(mailbox);
}

bool mailbox_check(const Mailbox *mailbox, GError **error)
{
    if (mailbox->valid)
        return true;
    g_autofree char *shown = g_utf8_make_valid(mailbox->text, -1);
    return fail(error, FAIL_NEVER, "\"%s\" is no e-mail address (local@domain)", shown);
}
