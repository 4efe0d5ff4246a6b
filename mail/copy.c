/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/copy.h"

#include <string.h>

#include "base/fail.h"
#include "base/secret.h"
#include "mail/header.h"
#include "mail/transfer.h"

#define SECRET_LENGTH RANDOM_WORD_LENGTH
G_STATIC_ASSERT(COPY_MARK_LENGTH == SECRET_LENGTH + 4);

static const char *const field_names[COPY_FIELDS] = {
    [COPY_ADDRESS] = "user_address",
    [COPY_NAME] = "user_name",
    [COPY_NAME_OR_ADDRESS] = "user_name_or_address",
    [COPY_MAILBOX] = "user_mailbox",
    [COPY_UNSUBSCRIBE] = "unsubscribe_token",
    [COPY_NAMED] = "user_named",
    [COPY_CHARSET] = "text_charset",
    [COPY_TRANSFER] = "text_transfer",
};
static const char *const encoding_names[COPY_ENCODINGS] = {
    [COPY_ASCII] = "ascii",
    [COPY_UTF8] = "utf8",
    [COPY_QP] = "qp",
    [COPY_HEADER] = "header",
};

const char *copy_field_name(CopyField field)
{
    return field_names[field];
}

/* --- making --------------------------------------------------------------- */

/* secret, X, field, encoding, X: digits both, so that no encoder sees anything to change. */
char *copy_mark(const char *secret, CopyField field, CopyEncoding encoding)
{
    return g_strdup_printf("%sX%u%uX", secret, (unsigned)field, (unsigned)encoding);
}

static bool read_mark(const char *secret, const char *text, size_t length, CopyField *field, CopyEncoding *encoding)
{
    if (length < COPY_MARK_LENGTH || memcmp(text, secret, SECRET_LENGTH) != 0)
        return false;
    const char *tail = text + SECRET_LENGTH;
    int which = g_ascii_digit_value(tail[1]), how = g_ascii_digit_value(tail[2]);
    if (tail[0] != 'X' || tail[3] != 'X' || which < 0 || which >= COPY_FIELDS || how < 0 || how >= COPY_ENCODINGS)
        return false;
    *field = (CopyField)which;
    *encoding = (CopyEncoding)how;
    return true;
}

bool copy_is_mark(const char *secret, const char *text, size_t length)
{
    CopyField field;
    CopyEncoding encoding;
    return read_mark(secret, text, length, &field, &encoding);
}

void copy_set_encoding(const char *secret, char *text, CopyEncoding encoding)
{
    for (char *at = text; (at = strstr(at, secret)) != NULL; at += SECRET_LENGTH)
        if (copy_is_mark(secret, at, strlen(at)))
            at[SECRET_LENGTH + 2] = (char)('0' + encoding);
}

GBytes *copy_cut(const char *secret, GBytes *octets, size_t base, GArray *holes)
{
    size_t length;
    const char *at = g_bytes_get_data(octets, &length), *end = at + length;
    GByteArray *kept = NULL;
    const char *mark;
    while (at < end && (mark = memmem(at, (size_t)(end - at), secret, SECRET_LENGTH)) != NULL) {
        CopyHole hole;
        bool is_mark = read_mark(secret, mark, (size_t)(end - mark), &hole.field, &hole.encoding);
        if (!kept)
            kept = g_byte_array_sized_new((guint)length);
        const char *upto = is_mark ? mark : mark + SECRET_LENGTH;
        g_byte_array_append(kept, (const guint8 *)at, (guint)(upto - at));
        at = is_mark ? mark + COPY_MARK_LENGTH : upto;
        hole.offset = base + kept->len;
        if (is_mark)
            g_array_append_val(holes, hole);
    }
    if (!kept)
        return g_bytes_ref(octets);
    g_byte_array_append(kept, (const guint8 *)at, (guint)(end - at));
    return g_byte_array_free_to_bytes(kept);
}

char *copy_holes_write(const GArray *holes)
{
    GString *text = g_string_new(NULL);
    for (guint at = 0; at < holes->len; at++) {
        const CopyHole *hole = &g_array_index(holes, CopyHole, at);
        g_string_append_printf(text, "%s%zu:%s:%s", at > 0 ? " " : "", hole->offset, field_names[hole->field],
                               encoding_names[hole->encoding]);
    }
    return g_string_free(text, FALSE);
}

/* --- delivering ----------------------------------------------------------- */

struct CopyPlan {
    GArray *holes; /* of CopyHole */
};

static int find_name(const char *const *names, int count, const char *name)
{
    for (int at = 0; at < count; at++)
        if (strcmp(names[at], name) == 0)
            return at;
    return -1;
}

CopyPlan *copy_plan_new(const char *holes, size_t length, GError **error)
{
    g_autoptr(CopyPlan) plan = g_new0(CopyPlan, 1);
    plan->holes = g_array_new(FALSE, FALSE, sizeof(CopyHole));
    size_t least = 0;
    g_auto(GStrv) words = g_strsplit(holes && *holes ? holes : "", " ", -1);
    for (char **word = words; *word; word++) {
        g_auto(GStrv) parts = g_strsplit(*word, ":", -1);
        bool whole = g_strv_length(parts) == 3;
        int field = whole ? find_name(field_names, COPY_FIELDS, parts[1]) : -1;
        int encoding = whole ? find_name(encoding_names, COPY_ENCODINGS, parts[2]) : -1;
        guint64 offset = 0;
        bool valid = field >= 0 && encoding >= 0 &&
                     g_ascii_string_to_unsigned(parts[0], 10, least, length, &offset, NULL);
        CopyHole hole = {(size_t)offset, (CopyField)field, (CopyEncoding)encoding};
        if (!valid) {
            fail(error, FAIL_NEVER, "\"%s\" is no hole of a message of %zu octets: OFFSET:FIELD:ENCODING, in order",
                 *word, length);
            return NULL;
        }
        least = hole.offset;
        g_array_append_val(plan->holes, hole);
    }
    return g_steal_pointer(&plan);
}

void copy_plan_free(CopyPlan *plan)
{
    if (!plan)
        return;
    g_array_unref(plan->holes);
    g_free(plan);
}

size_t copy_plan_holes(const CopyPlan *plan)
{
    return plan->holes->len;
}

size_t copy_plan_offset(const CopyPlan *plan, size_t hole)
{
    return g_array_index(plan->holes, CopyHole, hole).offset;
}

void copy_recipient_write(GString *line, const char *address, const char *sender, const char *token, const char *name,
                          bool named)
{
    const char *const parts[] = {address, sender, token, name, named ? "named" : NULL};
    for (size_t at = 0; at < G_N_ELEMENTS(parts); at++) {
        if (at > 0)
            g_string_append_c(line, '\t');
        for (const char *letter = parts[at]; letter && *letter; letter++)
            g_string_append_c(line, (unsigned char)*letter < ' ' ? ' ' : *letter);
    }
    while (line->len > 0 && line->str[line->len - 1] == '\t')
        g_string_truncate(line, line->len - 1);
}

/* The next part; what is missing is empty. */
static const char *next_part(const char **at, const char *end, size_t *length)
{
    const char *part = *at;
    const char *tab = part < end ? memchr(part, '\t', (size_t)(end - part)) : NULL;
    *length = (size_t)((tab ? tab : end) - part);
    *at = tab ? tab + 1 : end;
    return part;
}

CopyRecipient copy_recipient_read(const char *line, size_t length)
{
    const char *at = line, *end = line + length;
    CopyRecipient recipient;
    recipient.address = next_part(&at, end, &recipient.address_length);
    recipient.sender = next_part(&at, end, &recipient.sender_length);
    recipient.token = next_part(&at, end, &recipient.token_length);
    recipient.name = next_part(&at, end, &recipient.name_length);
    recipient.named = at < end;
    return recipient;
}

/* A value never brings a line end or another control character. */
static char *clean(const char *text, size_t length)
{
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)length);
    for (char *at = valid; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = ' ';
    return g_steal_pointer(&valid);
}

static char *value_of(CopyField field, const CopyRecipient *recipient)
{
    g_autofree char *address = clean(recipient->address, recipient->address_length);
    g_autofree char *name = clean(recipient->name ? recipient->name : "", recipient->name_length);
    switch (field) {
    case COPY_ADDRESS:
        return g_steal_pointer(&address);
    case COPY_NAME:
        return g_steal_pointer(&name);
    case COPY_NAME_OR_ADDRESS:
        return *name ? g_steal_pointer(&name) : g_steal_pointer(&address);
    case COPY_MAILBOX: {
        g_autofree char *phrase = *name ? header_phrase(name, strlen("To: ")) : NULL;
        return phrase ? g_strdup_printf("%s\r\n <%s>", phrase, address) : g_steal_pointer(&address);
    }
    case COPY_UNSUBSCRIBE:
        return clean(recipient->token ? recipient->token : "", recipient->token_length);
    case COPY_NAMED:
        return g_strdup(recipient->named ? "yes" : "no");
    case COPY_CHARSET: /* known when the texts are */
    case COPY_TRANSFER:
    case COPY_FIELDS:
        break;
    }
    return g_strdup("");
}

static char *encode(const char *value, const CopyHole *hole)
{
    GString *out = g_string_new(NULL);
    switch (hole->encoding) {
    case COPY_ASCII:
        for (const char *at = value; *at; at = g_utf8_next_char(at))
            g_string_append_c(out, (unsigned char)*at < 128 ? *at : '?');
        break;
    case COPY_QP:
        /* The line is begun already: soft breaks around the value keep it short. */
        transfer_encode_quoted(out, &(size_t){TRANSFER_LINE}, value, strlen(value), "\r\n");
        g_string_append(out, out->len > 0 ? "=\r\n" : "");
        break;
    case COPY_HEADER:
        if (hole->field == COPY_NAME || hole->field == COPY_NAME_OR_ADDRESS) {
            g_autofree char *encoded = header_encode(value, 0);
            g_string_append(out, encoded);
            break;
        } /* fallthrough */
    case COPY_UTF8:
    case COPY_ENCODINGS:
        g_string_append(out, value);
    }
    return g_string_free(out, FALSE);
}

static void fill_clear(void *data)
{
    g_free(((CopyFill *)data)->text);
}

GArray *copy_fill(const CopyPlan *plan, const CopyRecipient *recipient)
{
    GArray *fills = g_array_sized_new(FALSE, FALSE, sizeof(CopyFill), plan->holes->len);
    g_array_set_clear_func(fills, fill_clear);
    for (guint at = 0; at < plan->holes->len; at++) {
        const CopyHole *hole = &g_array_index(plan->holes, CopyHole, at);
        g_autofree char *value = value_of(hole->field, recipient);
        CopyFill fill = {.offset = hole->offset, .text = encode(value, hole)};
        fill.length = strlen(fill.text);
        g_array_append_val(fills, fill);
    }
    /* The holes of the header that say what the text of this copy is. */
    bool ascii = true;
    for (guint at = 0; at < fills->len; at++)
        ascii &= g_array_index(plan->holes, CopyHole, at).encoding != COPY_UTF8 ||
                 g_str_is_ascii(g_array_index(fills, CopyFill, at).text);
    for (guint at = 0; at < fills->len; at++) {
        CopyField field = g_array_index(plan->holes, CopyHole, at).field;
        CopyFill *fill = &g_array_index(fills, CopyFill, at);
        if (field != COPY_CHARSET && field != COPY_TRANSFER)
            continue;
        g_free(fill->text);
        fill->text = g_strdup(field == COPY_CHARSET ? (ascii ? "us-ascii" : "utf-8") : ascii ? "7bit" : "8bit");
        fill->length = strlen(fill->text);
    }
    return fills;
}
