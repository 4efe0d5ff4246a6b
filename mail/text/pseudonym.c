/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/pseudonym.h"

#include <stdbool.h>
#include <string.h>

#include "mail/header.h"
#include "mail/mime/mime.h"
#include "mail/transfer.h"

#define DEPTH_MAX 8    /* mails inside of mails */
#define PARTS_MAX 1000 /* what is beyond is one text */

/* ---- text ---- */

static void append(GString *out, const char *text, size_t length)
{
    if (out)
        g_string_append_len(out, text, (gssize)length);
}

static bool is_local(char byte)
{
    return g_ascii_isalnum(byte) || (byte && strchr("!#$&'*+-/=?^_`{|}~.", byte)) || (byte & 0x80);
}

/* How the two halves of an address are joined; "=40" is "@" in quoted-printable that nobody decoded. */
static const char *const joints[] = {"@", "%40", "&#64;", "&#x40;", "=40", "="};

/* Does a local part begin at `at`? Before "%40" may stand another character that is written so, and before "=" the
 * address of a list with its "+" or "-". */
static bool begins(const char *text, const char *at, const char *joint)
{
    if (at == text)
        return true;
    bool escaped = at - text >= 3 && at[-3] == '%' && g_ascii_isxdigit(at[-2]) && g_ascii_isxdigit(at[-1]);
    if (*joint == '%' && escaped)
        return true;
    if (joint[0] == '=' && joint[1] == '\0')
        return at[-1] == '+' || at[-1] == '-' || !is_local(at[-1]);
    return !is_local(at[-1]) || (*joint == '=' && at[-1] == '=');
}

static bool has(const char *at, const char *end, const char *wanted, size_t length)
{
    return (size_t)(end - at) >= length && g_ascii_strncasecmp(at, wanted, length) == 0;
}

/* The joint of the address that begins at `at`, and its end; NULL: there is none. */
static const char *match(const Pseudonym *names, const char *text, const char *at, const char *end, const char **behind)
{
    const char *sign = strrchr(names->address, '@');
    size_t local = (size_t)(sign - names->address), domain = strlen(sign + 1);
    if (!has(at, end, names->address, local))
        return NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(joints); i++) {
        const char *host = at + local + strlen(joints[i]), *next = host + domain;
        if (!has(at + local, end, joints[i], strlen(joints[i])) || !has(host, end, sign + 1, domain))
            continue;
        bool longer = next < end &&
                      (g_ascii_isalnum(*next) || *next == '-' || *next == '_' || (*next & 0x80) ||
                       (*next == '.' && next + 1 < end && g_ascii_isalnum(next[1]))); /* else a full stop */
        if (longer || !begins(text, at, joints[i]))
            continue;
        *behind = next;
        return joints[i];
    }
    return NULL;
}

size_t pseudonym_text(const Pseudonym *names, const char *text, size_t length, GString *out)
{
    const char first[] = {g_ascii_tolower(*names->address), g_ascii_toupper(*names->address)};
    const char *end = text + length, *done = text;
    size_t count = 0;
    for (const char *at = text; at < end;) {
        const char *behind, *joint = *at == first[0] || *at == first[1] ? match(names, text, at, end, &behind) : NULL;
        if (!joint) {
            at++;
            continue;
        }
        append(out, done, (size_t)(at - done));
        if (out) {
            const char *sign = strrchr(names->pseudonym, '@');
            g_string_append_len(out, names->pseudonym, sign - names->pseudonym);
            g_string_append(out, joint);
            g_string_append(out, sign + 1);
        }
        at = done = behind;
        count++;
    }
    append(out, done, (size_t)(end - done));
    return count;
}

/* ---- header ---- */

static bool is_one_of(const char *const *names, const char *name, size_t length)
{
    for (; *names; names++)
        if (strlen(*names) == length && g_ascii_strncasecmp(*names, name, length) == 0)
            return true;
    return false;
}

/* A value with one mailbox in it: no comma outside of quotes. */
static bool is_single(const char *value)
{
    bool quoted = false;
    for (; *value; value++) {
        quoted = quoted != (*value == '"');
        if (*value == '\\' && value[1])
            value++;
        else if (*value == ',' && !quoted)
            return false;
    }
    return true;
}

/* An encoded word "=?utf-8?q?...?=" at `at`: how long it is; 0: there is none. */
static size_t word_length(const char *at, const char *end)
{
    const char *mark = end - at > 2 && at[0] == '=' && at[1] == '?' ? at + 2 : NULL;
    for (int marks = 0; mark && marks < 2; marks++) {
        mark = memchr(mark, '?', (size_t)(end - mark));
        mark = mark ? mark + 1 : NULL;
    }
    const char *last = mark ? g_strstr_len(mark, end - mark, "?=") : NULL;
    return last ? (size_t)(last + 2 - at) : 0;
}

/* A value as it is, but for encoded words that have the address in them. */
static size_t append_words(const Pseudonym *names, const char *value, size_t length, GString *out)
{
    size_t count = 0;
    const char *end = value + length, *done = value;
    for (const char *at = value; at < end;) {
        size_t word = word_length(at, end);
        g_autofree char *raw = word > 0 ? g_strndup(at, word) : NULL, *text = raw ? header_decode(raw) : NULL;
        g_autoptr(GString) other = text ? g_string_new(NULL) : NULL;
        size_t found = text ? pseudonym_text(names, text, strlen(text), other) : 0;
        if (found > 0) {
            g_autofree char *phrase = header_phrase(other->str, TRANSFER_LINE / 2);
            count += pseudonym_text(names, done, (size_t)(at - done), out);
            append(out, phrase, strlen(phrase));
            done = at + word;
            count += found;
        }
        at += word > 0 ? word : 1;
    }
    return count + pseudonym_text(names, done, (size_t)(end - done), out);
}

static size_t append_field(const Pseudonym *names, const char *field, size_t length, GString *out)
{
    static const char *const ids[] = {"Message-ID", "In-Reply-To", "References", "Resent-Message-ID", NULL};
    static const char *const texts[] = {"Subject", "Thread-Topic", "Comments", NULL};
    static const char *const people[] = {"From", "Sender", "Reply-To", "To", "X-Sender", "Cc", "Resent-From", NULL};
    const char *colon = memchr(field, ':', length);
    size_t name = colon ? (size_t)(colon - field) : 0;
    if (name == 0 || is_one_of(ids, field, name)) {
        append(out, field, length);
        return 0;
    }
    size_t value_length = length - name - 1;
    g_autofree char *value = g_strndup(colon + 1, value_length), *text = header_decode(value);
    size_t count = pseudonym_text(names, text, strlen(text), NULL);
    bool feed = length > 0 && field[length - 1] == '\n', crlf = feed && length > 1 && field[length - 2] == '\r';
    const char *end = crlf ? "\r\n" : feed ? "\n" : "";
    if (count > 0 && out && is_one_of(people, field, name) && is_single(value)) {
        g_string_append_len(out, field, (gssize)name);
        g_string_append_printf(out, ": <%s>%s", names->pseudonym, end);
        return count;
    }
    if (count > 0 && is_one_of(texts, field, name) && strstr(value, "=?")) {
        g_autoptr(GString) other = g_string_new(NULL);
        pseudonym_text(names, text, strlen(text), other);
        g_autofree char *encoded = header_encode(g_strstrip(other->str), name + 2);
        append(out, field, name);
        append(out, ": ", 2);
        for (const char *at = encoded; out && *at; at++)
            if (*at != '\r' || crlf) /* header_encode() folds with CRLF */
                g_string_append_c(out, *at);
        append(out, end, strlen(end));
        return count;
    }
    append(out, field, name + 1);
    return append_words(names, colon + 1, value_length, out);
}

/* ---- body ---- */

/* Parts come in order, a multipart before its own: what lies between them is text. */
static size_t append_mail(const Pseudonym *names, const char *octets, size_t length, int depth, GString *out)
{
    g_autoptr(GPtrArray) parts = mime_parts_most(octets, length, PARTS_MAX);
    const char *done = octets;
    size_t count = 0;
    for (guint i = 0; i < parts->len; i++) {
        const MimePart *part = parts->pdata[i], *next = i + 1 < parts->len ? parts->pdata[i + 1] : NULL;
        if (part->inside || part->head < done) /* it was written as a part of another */
            continue;
        const char *end = part->body + part->body_length;
        bool holds = next && !next->inside && next->head >= part->body && next->head < end;
        count += pseudonym_text(names, done, (size_t)(part->head - done), out);
        for (const char *field = part->head; field < part->body;) { /* the empty line behind them is one, too */
            const char *behind = field;
            do {
                const char *feed = memchr(behind, '\n', (size_t)(part->body - behind));
                behind = feed ? feed + 1 : part->body;
            } while (behind < part->body && (*behind == ' ' || *behind == '\t'));
            count += append_field(names, field, (size_t)(behind - field), out);
            field = behind;
        }
        done = part->body;
        if (holds)
            continue;
        bool base64 = strcmp(part->encoding, "base64") == 0, quoted = strcmp(part->encoding, "quoted-printable") == 0;
        done = end;
        if (quoted || (base64 && g_str_has_prefix(part->type, "text/"))) {
            g_autoptr(GString) decoded = mime_body(part, part->body_length), other = g_string_new(NULL);
            size_t found = pseudonym_text(names, decoded->str, decoded->len, other);
            if (!out || found == 0) /* it is written again only where the address is in it */
                append(out, part->body, part->body_length);
            else
                transfer_encode(out, part->encoding, other->str, other->len, "\n");
            count += found;
        } else if (g_str_has_prefix(part->type, "message/") && !base64 && depth < DEPTH_MAX) {
            count += append_mail(names, part->body, part->body_length, depth + 1, out);
        } else {
            count += pseudonym_text(names, part->body, part->body_length, out);
        }
    }
    return count + pseudonym_text(names, done, (size_t)(octets + length - done), out);
}

size_t pseudonym_mail(const Pseudonym *names, const char *octets, size_t length, GString *out)
{
    return append_mail(names, octets, length, 0, out);
}
