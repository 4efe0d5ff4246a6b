/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce/dsn.h"

#include <string.h>

#include "base/clock.h"

#define LINE_LIMIT 900

/* One line of printable ASCII. */
static char *plain(const char *text)
{
    char *line = g_strndup(text, MIN(strlen(text), LINE_LIMIT));
    for (char *at = line; *at; at++)
        if (*at < ' ' || *at == 127 || (unsigned char)*at > 127)
            *at = *at == '\r' || *at == '\n' || *at == '\t' ? ' ' : '?';
    return g_strstrip(line);
}

static void append_date(GString *out, const char *name, int64_t time)
{
    if (time <= 0)
        return;
    g_autofree char *date = clock_rfc5322(time);
    g_string_append_printf(out, "%s: %s\r\n", name, date);
}

char *dsn_delivery_status(const Dsn *dsn)
{
    GString *out = g_string_new(NULL);
    g_autofree char *host = plain(dsn->reporting_host);
    g_string_append_printf(out, "Reporting-MTA: dns; %s\r\n", host);
    append_date(out, "Arrival-Date", dsn->arrival);
    for (size_t at = 0; at < dsn->count; at++) {
        const DsnRecipient *recipient = &dsn->recipients[at];
        g_autofree char *status = plain(recipient->status);
        g_string_append(out, "\r\n");
        /* RFC 6533, 3: utf-8-addr-xtext has \x{HEX} for what is not ASCII. */
        g_autofree char *valid = g_utf8_make_valid(recipient->address, -1), *address = plain(valid);
        bool ascii = g_str_is_ascii(valid);
        g_string_append_printf(out, "Final-Recipient: %s; %s", ascii ? "rfc822" : "utf-8", ascii ? address : "");
        for (const char *letter = valid; *letter && !ascii; letter = g_utf8_next_char(letter)) {
            gunichar character = g_utf8_get_char(letter);
            if (character > ' ' && character < 127 && !strchr("+=\\", (int)character))
                g_string_append_c(out, (char)character);
            else
                g_string_append_printf(out, "\\x{%02X}", character);
        }
        g_string_append(out, "\r\n");
        g_string_append_printf(out, "Action: %s\r\nStatus: %s\r\n", recipient->delayed ? "delayed" : "failed", status);
        /* Of "mx.example.com[192.0.2.1]:25" the name. */
        g_autofree char *host_name = recipient->relay ? g_strndup(recipient->relay, strcspn(recipient->relay, "["))
                                                      : g_strdup("");
        g_autofree char *relay = plain(host_name);
        if (*relay)
            g_string_append_printf(out, "Remote-MTA: dns; %s\r\n", relay);
        if (recipient->reply && *recipient->reply) {
            g_autofree char *reply = plain(recipient->reply);
            g_string_append_printf(out, "Diagnostic-Code: smtp; %s\r\n", reply);
        }
        append_date(out, "Last-Attempt-Date", dsn->last_attempt);
        if (recipient->delayed)
            append_date(out, "Will-Retry-Until", dsn->retry_until);
    }
    return g_string_free(out, FALSE);
}
