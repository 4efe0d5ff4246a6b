/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/auth_results.h"

#include <string.h>

#include "base/bytes.h"
#include "mail/domain_name.h"
#include "mail/fold.h"

#define NAME "Authentication-Results"

/* Return what follows the comment that begins at `at`. NULL: the comment has no end. */
static const char *skip_comment(const char *at)
{
    for (unsigned depth = 0; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == '(')
            depth++;
        else if (*at == ')' && --depth == 0)
            return at + 1;
    }
    return NULL;
}

/* Return the parts of the value between semicolons, of which comments are left out, blanks become one, and none stands
 * beside an equals sign. NULL: something has no end, or is no printable ASCII. */
static char **split(const char *value)
{
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) part = g_string_new(NULL);
    bool gap = false, between, quoted = false;
    for (const char *at = value; *at; gap = between) {
        between = !quoted && (byte_is_blank(*at) || *at == '(' || *at == ';');
        if (!between && gap && part->len > 0 && *at != '=' && part->str[part->len - 1] != '=')
            g_string_append_c(part, ' ');
        if (!quoted && *at == '(') {
            at = skip_comment(at);
            if (!at)
                return NULL;
            continue;
        }
        if (!quoted && *at == ';') {
            g_ptr_array_add(parts, g_strdup(part->str));
            g_string_truncate(part, 0);
            between = false;
        } else if (!between && !(quoted && byte_is_blank(*at) && *at != ' ' && *at != '\t')) {
            g_string_append_c(part, *at);
            if (quoted && *at == '\\' && at[1])
                g_string_append_c(part, *++at);
            else
                quoted ^= *at == '"';
        }
        at++;
    }
    g_ptr_array_add(parts, g_strdup(part->str));
    if (quoted)
        return NULL;
    for (guint at = 0; at < parts->len; at++)
        for (const char *letter = parts->pdata[at]; *letter; letter++)
            if (!g_ascii_isprint(*letter) && *letter != '\t')
                return NULL;
    g_ptr_array_add(parts, NULL);
    g_ptr_array_set_free_func(parts, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&parts), FALSE);
}

static size_t keyword_length(const char *text)
{
    size_t length = 0;
    while (g_ascii_isalnum(text[length]) || text[length] == '-' || text[length] == '_')
        length++;
    return length;
}

static void result_free(void *data)
{
    AuthResult *result = data;
    g_free(result->method);
    g_free(result->result);
    g_free(result->text);
    g_free(result);
}

/* Read a result, "spf/1=pass smtp.mailfrom=example.org". NULL: the text is no result. */
static AuthResult *read_result(const char *text)
{
    size_t method = keyword_length(text), version = text[method] == '/' ? 1 + keyword_length(text + method + 1) : 0;
    const char *word = text + method + version + 1;
    if (method == 0 || word[-1] != '=' || keyword_length(word) == 0)
        return NULL;
    size_t length = keyword_length(word);
    if (word[length] && word[length] != ' ')
        return NULL;
    AuthResult *result = g_new0(AuthResult, 1);
    result->method = g_ascii_strdown(text, (gssize)method);
    result->result = g_ascii_strdown(word, (gssize)length);
    bool usual = version == 0 || strncmp(text + method, "/1=", 3) == 0; /* of the method's versions */
    result->text = g_strdup_printf("%s%.*s=%s%s", result->method, usual ? 0 : (int)version, text + method,
                                   result->result, word + length);
    return result;
}

/* Return the server's name in the first part, "mx.example.com 1" or "\"mx\"". NULL: there is none. */
static char *server_of(char *part)
{
    g_autofree char *name = g_strndup(part, strcspn(part, " "));
    size_t length = strlen(name);
    const char *version = part + length + (part[length] == ' ');
    if (strspn(version, "0123456789") != strlen(version))
        return NULL;
    if (*name == '"' && length > 2 && name[length - 1] == '"') {
        memmove(name, name + 1, length);
        name[length - 2] = '\0';
    }
    bool valid = *name && !name[strspn(name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS ".-_:/@")];
    return valid ? g_steal_pointer(&name) : NULL;
}

AuthResults *auth_results_read(const char *value)
{
    g_auto(GStrv) parts = split(value);
    g_autoptr(AuthResults) all = g_new0(AuthResults, 1);
    all->results = g_ptr_array_new_with_free_func(result_free);
    all->server = parts ? server_of(parts[0]) : NULL;
    if (!all->server || !parts[1])
        return NULL;
    bool none = g_ascii_strcasecmp(parts[1], "none") == 0 && !parts[2];
    for (char **part = parts + 1; *part && !none; part++) {
        AuthResult *result = read_result(*part);
        if (!result && (**part || part[1])) /* nothing behind the last semicolon is let pass */
            return NULL;
        if (result)
            g_ptr_array_add(all->results, result);
    }
    return none || all->results->len > 0 ? g_steal_pointer(&all) : NULL;
}

void auth_results_free(AuthResults *results)
{
    if (!results)
        return;
    g_free(results->server);
    g_ptr_array_unref(results->results);
    g_free(results);
}

char *auth_result_property(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text, *end; *at; at = end + (*end == ' ')) {
        /* A word ends at a blank outside of quotation marks. */
        end = at;
        for (bool quoted = false; *end && (quoted || *end != ' '); end++) {
            quoted ^= *end == '"';
            end += *end == '\\' && end[1];
        }
        if (g_ascii_strncasecmp(at, name, length) != 0 || at[length] != '=')
            continue;
        GString *value = g_string_new(NULL);
        for (at += length + 1; at < end; at++) {
            bool escaped = *at == '\\' && at + 1 < end;
            at += escaped;
            if (escaped || *at != '"')
                g_string_append_c(value, *at);
        }
        return g_string_free(value, FALSE);
    }
    return NULL;
}

/* Return what follows blanks, folds and comments at `at`, which may be NULL. NULL: a comment has no end. */
static const char *skip_blanks(const char *at)
{
    while (at && (*at == ' ' || *at == '\t' || *at == '\n' || (*at == '\r' && at[1] == '\n') || *at == '('))
        at = *at == '(' ? skip_comment(at) : at + 1;
    return at;
}

/* Return the name as it is compared; g_free(). NULL: it is none. */
static char *plain_name(const char *name)
{
    g_autofree char *ascii = domain_name_ascii(name);
    g_strstrip(ascii);
    while (g_str_has_suffix(ascii, "."))
        ascii[strlen(ascii) - 1] = '\0';
    for (const char *at = ascii; *at; at++)
        if (!g_ascii_isgraph(*at))
            return NULL;
    return *ascii ? g_steal_pointer(&ascii) : NULL;
}

bool auth_results_claims(const char *value, const char *server)
{
    static const char marks[] = "!#$%&'*+-.^_`{|}~";
    g_autoptr(GString) name = g_string_new(NULL);
    const char *at = skip_blanks(value);
    if (!at)
        return true;
    /* A token, or a quoted string. */
    bool quoted = *at == '"';
    for (at += quoted; g_ascii_isalnum(*at) || (*at && strchr(marks, *at)) || (guchar)*at >= 128 ||
                       (quoted && *at && strchr("@/:\\ \t\r\n", *at));
         at++) {
        at += quoted && *at == '\\' && at[1];
        g_string_append_c(name, *at);
    }
    if (quoted && *at != '"')
        return true;
    at = skip_blanks(at + quoted);
    at = at ? skip_blanks(at + strspn(at, "0123456789")) : NULL; /* the version */
    if (!at || (*at && *at != ';'))
        return true;
    g_autofree char *claimed = plain_name(name->str), *own = plain_name(server);
    return !claimed || g_strcmp0(claimed, own) == 0;
}

/* Does the text begin with a field of this kind that claims the server's name? */
static bool begins_with_claim(const char *text, const char *server)
{
    if (g_ascii_strncasecmp(text, NAME, strlen(NAME)) != 0)
        return false;
    text += strlen(NAME);
    text += strspn(text, " \t");
    return *text == ':' && auth_results_claims(text + 1, server);
}

bool auth_results_forged(const Field *field, const char *server)
{
    g_autofree char *text = g_strndup(field->text, field->length);
    for (size_t at = 0; at < field->length; at++)
        text[at] = field->text[at] ? field->text[at] : '\1'; /* g_strndup() ends at a NUL */
    const char *at = text + (g_str_has_prefix(text, "\xef\xbb\xbf") ? 3 : 0);
    bool forged = begins_with_claim(at, server);
    for (at = strchr(at, '\r'); at && !forged; at = strchr(at + 1, '\r'))
        forged = at[1] != '\n' && begins_with_claim(at + 1, server);
    return forged;
}

char *auth_results_write(const char *server, char *const *texts)
{
    GString *value = g_string_new(server);
    for (char *const *text = texts; *text; text++) {
        /* Each on a line of its own, which is folded before blanks that no backslash quotes: an unfolded field has the
         * same text again. */
        size_t column = 1;
        g_string_append(value, ";\r\n\t");
        for (const char *at = *text; *at;) {
            size_t blanks = strspn(at, " \t"), length = blanks + strcspn(at + blanks, " \t");
            while (at[length] && at[length - 1] == '\\')
                length += 1 + strcspn(at + length + 1, " \t");
            if (blanks > 0 && length > blanks && column + length >= FOLD_COLUMNS) {
                g_string_append(value, "\r\n");
                column = 0;
            }
            g_string_append_len(value, at, (gssize)length);
            column += length;
            at += length;
        }
    }
    if (!*texts)
        g_string_append(value, "; none");
    return g_string_free(value, FALSE);
}
