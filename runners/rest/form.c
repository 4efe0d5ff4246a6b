/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The parameters of a call: a query, a form or a JSON object, all read into names with values. */
#include <string.h>

#include "base/log.h"
#include "runners/rest/rest.h"
#include "store/people/user.h"

#define VALUES_MAX 200000 /* in the query, and in the body */
#define COUNT_MAX G_MAXINT

/* ---- reading ---- */

static GPtrArray *values_of(Form *form, const char *name)
{
    GPtrArray *values = g_hash_table_lookup(form->values, name);
    if (!values) {
        values = g_ptr_array_new_with_free_func(g_free);
        char *own = g_strdup(name);
        g_hash_table_insert(form->values, own, values);
        g_ptr_array_add(form->names, own);
    }
    return values;
}

/* Takes value. False: 400 was answered. */
static bool add_value(Call *call, Form *form, const char *name, char *value)
{
    size_t length = strlen(value);
    g_ptr_array_add(values_of(form, name), value);
    if (strcmp(name, "display_name") == 0 && length > EMAIL_NAME_MAX)
        return form_refuse(call, name, "its value has %zu bytes; allowed: up to %d", length, EMAIL_NAME_MAX);
    if (++form->count <= VALUES_MAX)
        return true;
    answer_refusal(call, 400, "There are more than %d values", VALUES_MAX);
    return false;
}

/* As g_uri_unescape_string(), and UTF-8; g_free(). NULL: it is none. */
static char *unescape(const char *text)
{
    g_autofree char *plain = g_uri_unescape_string(text, NULL);
    return plain && g_utf8_validate(plain, -1, NULL) ? g_steal_pointer(&plain) : NULL;
}

/* "a=1&b=two+words&b=%C3%A9" */
static bool read_encoded(Call *call, Form *form, const char *text)
{
    static const char why[] = "is not UTF-8, holds a zero byte, or has a percent sign without two hex digits";
    g_autofree char *copy = g_strdup(text);
    char *rest = copy;
    for (char *pair; (pair = strsep(&rest, "&"));) {
        if (!*pair)
            continue;
        char *equals = strchr(g_strdelimit(pair, "+", ' '), '=');
        if (equals)
            *equals = 0;
        g_autofree char *name = unescape(pair), *value = unescape(equals ? equals + 1 : "");
        if (!name) {
            answer_refusal(call, 400, "The name of a parameter %s", why);
            return false;
        }
        if (!value)
            return form_refuse(call, name, "its value %s", why);
        if (!add_value(call, form, name, g_steal_pointer(&value)))
            return false;
    }
    return true;
}

/* A scalar as the form would have it; NULL: it is none. */
static char *scalar_text(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return g_strdup(json_string_value(value));
    case JSON_INTEGER:
        return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    case JSON_REAL:
        return json_dumps(value, JSON_ENCODE_ANY);
    case JSON_TRUE:
        return g_strdup("True");
    case JSON_FALSE:
        return g_strdup("False");
    case JSON_NULL:
        return g_strdup("");
    default:
        return NULL;
    }
}

static bool read_value(Call *call, Form *form, const char *name, const json_t *value)
{
    size_t index;
    json_t *element;
    char *text = scalar_text(value);
    if (text)
        return add_value(call, form, name, text);
    if (!json_is_array(value))
        return form_refuse(call, name, "an object is no value");
    if (json_array_size(value) == 0)
        return add_value(call, form, name, g_strdup("")); /* as a form says it: "name=" */
    json_array_foreach(value, index, element) {
        text = scalar_text(element);
        if (!text)
            return form_refuse(call, name, "a list may hold texts and numbers only");
        if (!add_value(call, form, name, text))
            return false;
    }
    return true;
}

static bool read_json(Call *call, Form *form, const char *body, size_t length)
{
    json_error_t where;
    g_autoptr(json_t) object = json_loadb(body, length, JSON_REJECT_DUPLICATES, &where);
    const char *name;
    json_t *value;
    if (!object) {
        answer_titled(call, "Invalid JSON", "The body is no JSON object: %s (line %d, column %d)", where.text,
                      where.line, where.column);
        return false;
    }
    if (!json_is_object(object)) {
        answer_titled(call, "Invalid JSON", "The body is no JSON object: it is of another type");
        return false;
    }
    json_object_foreach(object, name, value)
        if (!read_value(call, form, name, value))
            return false;
    return true;
}

/* Is the field Content-Type, whose parameters do not count, of this media type? */
static bool is_type(const char *field, const char *type)
{
    size_t length = strlen(type);
    return strcspn(field, "; \t") == length && g_ascii_strncasecmp(field, type, length) == 0;
}

static bool read_body(Call *call, Form *form)
{
    size_t length;
    const char *body = http_body(call->http, &length), *type = http_header(call->http, "Content-Type");
    if (length == 0)
        return true;
    if (type && is_type(type, "application/json"))
        return read_json(call, form, body, length);
    if (type && !is_type(type, "application/x-www-form-urlencoded")) {
        answer_refusal(call, 415, "The body is %s; it must be application/x-www-form-urlencoded or application/json",
                       type);
        return false;
    }
    if (memchr(body, 0, length)) {
        answer_refusal(call, 400, "The body holds a zero byte");
        return false;
    }
    g_autofree char *text = g_strndup(body, length);
    return read_encoded(call, form, text);
}

static void form_init(Form *form)
{
    form->names = g_ptr_array_new();
    form->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    form->count = 0;
}

bool form_read(Call *call)
{
    Form body;
    form_init(&call->form);
    form_init(&body);
    bool fine = read_encoded(call, &call->form, http_query(call->http)) && read_body(call, &body);
    for (guint i = 0; fine && i < body.names->len; i++) {
        const char *name = body.names->pdata[i];
        GPtrArray *values = values_of(&call->form, name), *own = g_hash_table_lookup(body.values, name);
        g_ptr_array_set_size(values, 0);
        for (guint at = 0; at < own->len; at++)
            g_ptr_array_add(values, g_strdup(own->pdata[at]));
    }
    form_clear(&body);
    return fine;
}

void form_clear(Form *form)
{
    g_clear_pointer(&form->names, g_ptr_array_unref);
    g_clear_pointer(&form->values, g_hash_table_unref);
}

/* ---- asking ---- */

bool form_has(const Call *call, const char *name)
{
    return g_hash_table_contains(call->form.values, name);
}

const char *form_text(const Call *call, const char *name)
{
    const GPtrArray *values = g_hash_table_lookup(call->form.values, name);
    return values && values->len > 0 ? values->pdata[values->len - 1] : NULL;
}

char **form_words(const Call *call, const char *name)
{
    const GPtrArray *values = g_hash_table_lookup(call->form.values, name);
    GPtrArray *words = g_ptr_array_new();
    for (guint i = 0; values && i < values->len; i++)
        if (*(const char *)values->pdata[i])
            g_ptr_array_add(words, g_strdup(values->pdata[i]));
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

bool form_refuse(Call *call, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *why = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    answer_refusal(call, 400, "Invalid Parameter \"%s\": %s.", name, why);
    return false;
}

bool form_expect(Call *call, const char *required, const char *optional)
{
    g_auto(GStrv) must = g_strsplit(required, " ", -1), may = g_strsplit(optional, " ", -1);
    g_autoptr(GString) missing = g_string_new(NULL), strange = g_string_new(NULL);
    char *const *const both[] = {must, may};
    bool known = true; /* all of them; the name of one that is not may be empty */
    for (size_t i = 0; i < G_N_ELEMENTS(both); i++)
        for (char *const *name = both[i]; *name; name++)
            if (**name && !scope_field(call, *name)) {
                log_error("%s %s: the parameter %s is in no table", http_verb(call->http), call->path, *name);
                answer_refusal(call, 500, "Nothing says who may set %s", *name);
                return false;
            }
    for (size_t i = 0; i < G_N_ELEMENTS(both); i++)
        for (char *const *name = both[i]; *name; name++)
            if (form_has(call, *name) && !scope_takes(call, *name))
                return false;
    for (char **name = must; *name; name++)
        if (**name && !form_has(call, *name))
            g_string_append_printf(missing, "%s%s", missing->len ? ", " : "", *name);
    for (guint i = 0; i < call->form.names->len; i++) {
        const char *name = call->form.names->pdata[i];
        const size_t length = strlen(name);
        if (g_strv_contains((const char *const *)must, name) || g_strv_contains((const char *const *)may, name))
            continue;
        /* A body that was read as parameters by mistake must not come back in the refusal. */
        bool meant = length <= 40 && strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-.") == length;
        g_string_append_printf(strange, "%s%s", known ? "" : ", ", meant ? name : "(one that is no name)");
        known = false;
    }
    if (!known)
        answer_refusal(call, 400, "Unexpected parameters: %s", strange->str);
    else if (missing->len > 0)
        answer_refusal(call, 400, "Missing Parameter: %s", missing->str);
    return known && missing->len == 0;
}

bool call_puts(const Call *call)
{
    return strcmp(http_verb(call->http), "PUT") == 0;
}

bool form_expect_change(Call *call, const char *names)
{
    return form_expect(call, call_puts(call) ? names : "", call_puts(call) ? "" : names);
}

bool form_truth(const char *text, bool *value)
{
    static const char *const yes[] = {"true", "yes", "on", "enable", "enabled", "1", NULL};
    static const char *const no[] = {"false", "no", "off", "disable", "disabled", "0", NULL};
    g_autofree char *lower = g_ascii_strdown(text, -1);
    *value = g_strv_contains(yes, lower);
    return *value || g_strv_contains(no, lower);
}

bool form_bool(Call *call, const char *name, bool *value)
{
    const char *text = form_text(call, name);
    if (!text || form_truth(text, value))
        return true;
    bool get = strcmp(http_verb(call->http), "GET") == 0;
    if (get && !*text) { /* "?advertised=" */
        *value = true;
        return true;
    }
    if (!get)
        return form_refuse(call, name, "Invalid boolean value: %s", text);
    answer_titled(call, "Invalid parameter", "The \"%s\" parameter is invalid: %s is no truth value", name, text);
    return false;
}

bool form_integer(Call *call, const char *name, int64_t *value)
{
    const char *text = form_text(call, name);
    return !text || g_ascii_string_to_signed(text, 10, 0, G_MAXINT64, value, NULL) ||
           form_refuse(call, name, "\"%s\" is no whole number from 0 on", text);
}

bool form_is_empty(const Call *call, const char *name)
{
    const char *text = form_text(call, name);
    return !text || !*text;
}

bool form_choice(Call *call, const char *name, const char *choices, int *value)
{
    const char *text = form_text(call, name);
    if (!text)
        return true;
    g_auto(GStrv) words = g_strsplit(choices, ", ", -1);
    for (int at = 0; words[at]; at++)
        if (g_ascii_strcasecmp(words[at], text) == 0) {
            *value = at;
            return true;
        }
    return form_refuse(call, name, "Accepted Values are: %s", choices);
}

static bool read_place(Call *call, const char *name, int64_t least, int64_t *value)
{
    if (g_ascii_string_to_signed(form_text(call, name), 10, least, G_MAXINT64, value, NULL))
        return true;
    answer_titled(call, "Invalid parameter", "The \"%s\" parameter is invalid: it is a whole number from %d on", name,
                  (int)least);
    return false;
}

bool form_paging(Call *call, Paging *paging)
{
    int64_t count = 0, page = 1;
    *paging = (Paging){.count = COUNT_MAX};
    if (!form_has(call, "count") && !form_has(call, "page"))
        return true;
    if (!form_has(call, "count") || !form_has(call, "page")) {
        answer_refusal(call, 400, "count and page belong together: one of them is missing");
        return false;
    }
    if (!read_place(call, "count", 0, &count) || !read_place(call, "page", 1, &page))
        return false;
    paging->count = (unsigned)MIN(count, (int64_t)COUNT_MAX);
    if (__builtin_mul_overflow(count, page - 1, &paging->start))
        paging->start = G_MAXINT64;
    return true;
}
