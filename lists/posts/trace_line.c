/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/trace_line.h"

#include <string.h>

bool trace_is(const char *text)
{
    return strlen(text) == TRACE_DIGITS && strspn(text, "0123456789abcdef") == TRACE_DIGITS;
}

char *trace_line_value(const char *line, const char *name)
{
    g_autofree char *before = g_strdup_printf(" %s=", name);
    const char *at = strstr(line, before);
    return at ? g_strndup(at + strlen(before), strcspn(at + strlen(before), " ")) : NULL;
}

/* The part behind the program and the trace. */
static const char *body_of(const char *line)
{
    return strstr(line, ": ") + strlen(": ") + TRACE_DIGITS + 1;
}

bool trace_line_is_of(const char *line, const char *list_id)
{
    const char *body = body_of(line);
    if (!g_str_has_prefix(body, "list="))
        return false;
    body += strlen("list=");
    return strcspn(body, " ") == strlen(list_id) && strncmp(body, list_id, strlen(list_id)) == 0;
}

char **trace_line_recipients(const char *line)
{
    /* bounces say it so */
    g_autofree char *to = trace_line_value(line, strstr(line, " address=<") ? "address" : "to");
    size_t length = to ? strlen(to) : 0;
    if (length < 2 || to[0] != '<' || to[length - 1] != '>')
        return NULL;
    to[length - 1] = '\0';
    return g_strsplit(to + 1, ">,<", -1);
}

bool trace_line_is_about(const char *line, const char *address)
{
    g_auto(GStrv) recipients = address ? trace_line_recipients(line) : NULL;
    if (!recipients)
        return true;
    for (char **recipient = recipients; *recipient; recipient++)
        if (g_ascii_strcasecmp(*recipient, address) == 0)
            return true;
    return false;
}

static char *text_of(const char *line, const char *address)
{
    const char *text = body_of(line);
    if (g_str_has_prefix(text, "list="))
        text += strcspn(text, " ") + (text[strcspn(text, " ")] == ' ');
    const char *to = address ? strstr(text, "to=<") : NULL;
    if (!to || (to > text && to[-1] != ' '))
        return g_strdup(text);
    return g_strdup_printf("%.*sto=<%s>%s", (int)(to - text), text, address, to + strcspn(to, " "));
}

/* Text of a peer may be no UTF-8. NULL becomes null; text is taken. */
static json_t *text_json(char *text)
{
    g_autofree char *owned = text, *valid = text ? g_utf8_make_valid(text, -1) : NULL;
    return valid ? json_string(valid) : json_null();
}

json_t *trace_line_json(const char *line, const char *address)
{
    const char *program = line + TRACE_LINE_STAMP + 1;
    return json_pack("{so so so so so}", "time", text_json(g_strndup(line, TRACE_LINE_STAMP)), "program",
                     text_json(g_strndup(program, strcspn(program, ":"))), "trace",
                     text_json(g_strndup(strstr(line, ": ") + 2, TRACE_DIGITS)), "list",
                     text_json(trace_line_value(line, "list")), "text", text_json(text_of(line, address)));
}

/* The reply, which stands in the brackets behind the status. */
static char *reply_of(const char *fate)
{
    const char *status = strstr(fate, " status="), *open = status ? strstr(status, " (") : NULL;
    if (!open)
        return NULL;
    char *reply = g_strdup(open + 2);
    if (g_str_has_suffix(reply, ")"))
        reply[strlen(reply) - 1] = '\0';
    return reply;
}

json_t *trace_line_of_recipient(const char *line, const char *address)
{
    static const char *const words[][2] = {{"host", "relay"}, {"dsn", "dsn"}, {"status", "status"}};
    const char *fate = strstr(line, "> relay="); /* behind the recipients */
    json_t *row = trace_line_json(line, address);
    json_object_set_new(row, "email", text_json(g_strdup(address)));
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        json_object_set_new(row, words[i][0], text_json(fate ? trace_line_value(fate, words[i][1]) : NULL));
    json_object_set_new(row, "reply", text_json(fate ? reply_of(fate) : NULL));
    return row;
}
