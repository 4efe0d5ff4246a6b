/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "t/tools/sink_session.h"

void sink_reset(Session *session)
{
    g_clear_pointer(&session->from, g_free);
    g_string_truncate(session->recipients, 0);
    g_string_truncate(session->message, 0);
    session->count = 0;
    session->octets = 0;
    session->inside_line = false;
}

static void misbehave_silently(Session *session, SinkAction action)
{
    static const char garbage[] = "\0\1\2\xff\xfe 250 \0\r\n\x80garbage\0\r\n";
    struct linger now = {.l_onoff = 1};
    session->state = action == ACTION_CLOSE || action == ACTION_RESET || action == ACTION_GARBAGE ? STATE_CLOSING :
                                                                                                    STATE_STALLED;
    session->half_closed = action == ACTION_HALF_CLOSE;
    session->endless = action == ACTION_ENDLESS;
    if (action == ACTION_GARBAGE)
        SAY(session, garbage);
    if (action == ACTION_RESET)
        setsockopt(session->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

bool sink_misbehave(Session *session, SinkStage stage, const char *subject)
{
    if (session->sink->faults->len == 0)
        return false;
    const SinkFault *fault = sink_fault_find(session->sink, stage, subject);
    if (fault == NULL)
        return false;
    if (fault->action != ACTION_REPLY) {
        misbehave_silently(session, fault->action);
        return true;
    }
    g_string_append(session->output, fault->reply);
    if (strncmp(fault->reply, "421", 3) == 0)
        session->state = STATE_CLOSING;
    return true;
}

/* --- EHLO --------------------------------------------------------------- */

static void offer(Session *session, const char *line)
{
    size_t length = strcspn(line, " ");
    for (char **word = session->sink->without; word != NULL && *word != NULL; word++)
        if (strlen(*word) == length && strncasecmp(*word, line, length) == 0)
            return;
    g_string_append_printf(session->output, "250-%s\r\n", line);
}

static void offer_all(Session *session)
{
    static const char *const always[] = {"PIPELINING", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES", "CHUNKING",
                                         "SIZE 0"};
    const Sink *sink = session->sink;
    SAY(session, "250-sink\r\n");
    for (size_t i = 0; i < G_N_ELEMENTS(always); i++)
        offer(session, always[i]);
    if (sink->tls != NULL && session->ssl == NULL)
        offer(session, "STARTTLS");
    if (sink->password != NULL)
        offer(session, "AUTH PLAIN LOGIN");
    for (char **line = sink->offers; line != NULL && *line != NULL; line++)
        offer(session, *line);
    SAY(session, "250 HELP\r\n");
}

static void on_helo(Session *session, const char *line, size_t length)
{
    if (sink_misbehave(session, STAGE_HELO, NULL))
        return;
    bool lhlo = g_ascii_tolower(line[0]) == 'l';
    if (lhlo != session->sink->lmtp) {
        SAY(session, "500 5.5.1 wrong protocol\r\n");
        return;
    }
    sink_reset(session);
    g_free(session->helo);
    session->helo = length > 5 ? g_strndup(line + 5, length - 5) : g_strdup("");
    if (lhlo || g_ascii_tolower(line[0]) == 'e')
        offer_all(session);
    else
        SAY(session, "250 sink\r\n");
}

static void on_starttls(Session *session, const char *line, size_t length)
{
    if (sink_misbehave(session, STAGE_STARTTLS, NULL))
        return;
    if (session->sink->tls == NULL || session->ssl != NULL) {
        SAY(session, "503 5.5.1 no TLS here\r\n");
        return;
    }
    SAY(session, "220 2.0.0 go on\r\n");
    if (!sink_misbehave(session, STAGE_HANDSHAKE, NULL))
        session->upgrade = true;
}

/* --- AUTH --------------------------------------------------------------- */

static void judge_auth(Session *session, const char *user, const char *password)
{
    g_autofree char *given = g_strconcat(user, " ", password, NULL);
    session->state = STATE_COMMAND;
    if (strcmp(given, session->sink->password) != 0) {
        SAY(session, "535 5.7.8 wrong\r\n");
        return;
    }
    session->user = g_strdup(user);
    SAY(session, "235 2.7.0 ok\r\n");
}

static void on_plain(Session *session, const char *text)
{
    gsize length;
    g_autofree char *octets = (char *)g_base64_decode(text, &length);
    g_autofree char *ended = g_strndup(octets, length);
    const char *user = length > 0 ? memchr(octets, '\0', length - 1) : NULL;
    const char *password = user != NULL ? memchr(user + 1, '\0', length - (gsize)(user + 1 - octets)) : NULL;
    g_autofree char *word =
        password != NULL ? g_strndup(password + 1, length - (gsize)(password + 1 - octets)) : g_strdup("");
    judge_auth(session, user != NULL ? user + 1 : "", word);
}

static void on_auth(Session *session, const char *line, size_t length)
{
    if (sink_misbehave(session, STAGE_AUTH, NULL))
        return;
    g_autofree char *text = g_strndup(line, length);
    if (session->sink->password == NULL) {
        SAY(session, "503 5.5.1 nobody needs that\r\n");
    } else if (g_ascii_strncasecmp(text, "AUTH PLAIN ", 11) == 0) {
        on_plain(session, text + 11);
    } else if (g_ascii_strcasecmp(text, "AUTH LOGIN") == 0) {
        session->state = STATE_AUTH;
        SAY(session, "334 VXNlcm5hbWU6\r\n");
    } else {
        SAY(session, "504 5.5.4 PLAIN or LOGIN\r\n");
    }
}

void sink_auth_line(Session *session, const char *line, size_t length)
{
    g_autofree char *text = g_strndup(line, length);
    g_strchomp(text);
    gsize size;
    g_autofree guchar *octets = g_base64_decode(text, &size);
    g_autofree char *word = g_strndup((const char *)octets, size);
    if (session->auth_user == NULL) {
        session->auth_user = g_steal_pointer(&word);
        SAY(session, "334 UGFzc3dvcmQ6\r\n");
        return;
    }
    judge_auth(session, session->auth_user, word);
    g_clear_pointer(&session->auth_user, g_free);
}

/* --- the envelope ------------------------------------------------------- */

/* The address between angle brackets (or the word) after the colon; g_free(). */
static char *path_of(const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    const char *end = line + length;
    if (colon == NULL)
        return NULL;
    const char *open = memchr(colon, '<', (size_t)(end - colon));
    const char *shut = open != NULL ? memrchr(open, '>', (size_t)(end - open)) : NULL;
    return shut != NULL ? g_strndup(open + 1, (gsize)(shut - open - 1)) : NULL;
}

static void on_mail(Session *session, const char *line, size_t length)
{
    g_autofree char *from = path_of(line, length);
    if (from == NULL) {
        SAY(session, "501 5.5.4 no address\r\n");
    } else if (session->from != NULL) {
        SAY(session, "503 5.5.1 nested MAIL\r\n");
    } else if (session->sink->password != NULL && session->user == NULL) {
        SAY(session, "530 5.7.0 who are you?\r\n");
    } else if (!sink_misbehave(session, STAGE_MAIL, from)) {
        session->from = g_steal_pointer(&from);
        SAY(session, "250 2.1.0 ok\r\n");
    }
}

static void on_rcpt(Session *session, const char *line, size_t length)
{
    if (session->from == NULL) {
        SAY(session, "503 5.5.1 MAIL first\r\n");
        return;
    }
    g_autofree char *to = path_of(line, length);
    if (to == NULL || *to == '\0') {
        SAY(session, "501 5.5.4 no address\r\n");
        return;
    }
    if (sink_misbehave(session, STAGE_RCPT, to)) {
        session->sink->stats.refused++;
        return;
    }
    g_string_append(session->recipients, to);
    g_string_append_c(session->recipients, '\n');
    session->count++;
    SAY(session, "250 2.1.5 ok\r\n");
}

/* --- the message -------------------------------------------------------- */

static void keep(Session *session, const GString *recipients, unsigned count, const char *result)
{
    Sink *sink = session->sink;
    SinkMail mail = {
        .from = session->from, .helo = session->helo != NULL ? session->helo : "", .recipients = recipients,
        .count = count, .message = session->message, .octets = session->octets, .result = result,
        .tls = session->ssl != NULL ? SSL_get_version(session->ssl) : NULL, .user = session->user,
        .session = session->number, .verb = session->verb,
    };
    sink_store_keep(sink, &mail);
    if (strcmp(result, "refused") == 0) {
        sink->stats.refused += count;
        return;
    }
    int64_t now = g_get_real_time();
    sink->stats.transactions++;
    sink->stats.recipients += count;
    sink->stats.octets += session->octets;
    sink->stats.first = sink->stats.first != 0 ? sink->stats.first : now;
    sink->stats.last = now;
}

/* Decide by what was said; a server that said nothing has received it. */
static bool is_refusal(const Session *session, size_t said)
{
    return session->output->len > said && session->output->str[said] != '2';
}

/* Whether nothing was said of what was received, and nothing will be. */
static bool is_mute(const Session *session, size_t said)
{
    return session->state != STATE_COMMAND &&
           (session->output->len == said || session->output->str[said] == '\0');
}

/* A reply for each; who hears none has received it all the same. */
static void finish_lmtp(Session *session)
{
    g_autoptr(GString) taken = g_string_new(NULL);
    g_autoptr(GString) unheard = g_string_new(NULL);
    g_auto(GStrv) addresses = g_strsplit(session->recipients->str, "\n", -1);
    unsigned counts[2] = {0, 0};
    for (char **address = addresses; **address != '\0'; address++) {
        size_t said = session->output->len;
        if (session->state == STATE_COMMAND && !sink_misbehave(session, STAGE_DOT, *address))
            SAY(session, "250 2.1.5 ok\r\n");
        bool mute = is_mute(session, said);
        if (!mute && is_refusal(session, said))
            continue;
        g_string_append_printf(mute ? unheard : taken, "%s\n", *address);
        counts[mute]++;
    }
    session->sink->stats.refused += session->count - counts[0] - counts[1];
    if (counts[0] > 0)
        keep(session, taken, counts[0], "accepted");
    if (counts[1] > 0)
        keep(session, unheard, counts[1], "silent");
}

static void finish_message(Session *session)
{
    session->state = STATE_COMMAND;
    if (session->sink->lmtp) {
        finish_lmtp(session);
    } else {
        size_t said = session->output->len;
        bool wrong = sink_misbehave(session, STAGE_DOT, session->recipients->str);
        keep(session, session->recipients, session->count,
             is_mute(session, said) ? "silent" : wrong && is_refusal(session, said) ? "refused" : "accepted");
        if (!wrong)
            g_string_append_printf(session->output, "250 2.0.0 ok %" G_GUINT64_FORMAT "\r\n", session->sink->serial);
    }
    sink_reset(session);
}

static void take(Session *session, const char *data, size_t length)
{
    session->octets += length;
    if (sink_store_wanted(session->sink))
        g_string_append_len(session->message, data, (gssize)length);
}

static void on_data(Session *session, const char *line, size_t length)
{
    session->verb = "DATA";
    if (session->count == 0) {
        g_string_append(session->output, session->sink->lmtp ? "503 5.5.1 no valid recipients\r\n" :
                                                               "554 5.5.1 no valid recipients\r\n");
    } else if (!sink_misbehave(session, STAGE_DATA, session->recipients->str)) {
        session->state = STATE_DATA;
        SAY(session, "354 go on\r\n");
    }
}

/* One line of DATA with its line feed, or a piece of one that is longer than the buffer. */
void sink_data_line(Session *session, const char *line, size_t length)
{
    bool ended = line[length - 1] == '\n';
    if (!session->inside_line && line[0] == '.') {
        if (ended && (length == 2 || (length == 3 && line[1] == '\r'))) {
            finish_message(session);
            return;
        }
        line++;
        length--;
    }
    take(session, line, length);
    session->inside_line = !ended;
}

static void end_chunk(Session *session)
{
    session->state = STATE_COMMAND;
    if (session->skipped)
        return;
    if (session->last)
        finish_message(session);
    else
        SAY(session, "250 2.0.0 ok\r\n");
}

/* A chunk that is refused is read all the same: its bytes are on their way. */
static void on_bdat(Session *session, const char *line, size_t length)
{
    g_autofree char *text = g_strndup(line, length);
    char *end = NULL;
    session->chunk = g_ascii_strtoull(text + 4, &end, 10);
    session->last = g_ascii_strcasecmp(g_strstrip(end), "LAST") == 0;
    session->verb = "BDAT";
    session->state = STATE_CHUNK;
    session->skipped = session->count == 0 || sink_misbehave(session, STAGE_DATA, session->recipients->str);
    if (session->count == 0)
        SAY(session, "503 5.5.1 no valid recipients\r\n");
    if (session->chunk == 0 && session->state == STATE_CHUNK)
        end_chunk(session);
}

void sink_chunk(Session *session, const char *octets, size_t length)
{
    session->chunk -= length;
    if (!session->skipped)
        take(session, octets, length);
    if (session->chunk == 0)
        end_chunk(session);
}

/* --- the others --------------------------------------------------------- */

static void on_rset(Session *session, const char *line, size_t length)
{
    if (sink_misbehave(session, STAGE_RSET, NULL))
        return;
    sink_reset(session);
    SAY(session, "250 2.0.0 ok\r\n");
}

static void on_noop(Session *session, const char *line, size_t length)
{
    SAY(session, "250 2.0.0 ok\r\n");
}

static void on_quit(Session *session, const char *line, size_t length)
{
    if (sink_misbehave(session, STAGE_QUIT, NULL))
        return;
    SAY(session, "221 2.0.0 bye\r\n");
    session->state = STATE_CLOSING;
}

static const struct {
    const char *verb;
    void (*run)(Session *session, const char *line, size_t length);
} commands[] = {
    {"RCPT", on_rcpt}, {"MAIL", on_mail}, {"DATA", on_data}, {"BDAT", on_bdat}, {"EHLO", on_helo},
    {"HELO", on_helo}, {"LHLO", on_helo}, {"RSET", on_rset}, {"NOOP", on_noop}, {"QUIT", on_quit},
    {"AUTH", on_auth}, {"STARTTLS", on_starttls},
};

void sink_command(Session *session, const char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    for (size_t i = 0; length >= 4 && i < G_N_ELEMENTS(commands); i++) {
        if (strncasecmp(line, commands[i].verb, 4) == 0) {
            commands[i].run(session, line, length);
            return;
        }
    }
    SAY(session, "500 5.5.2 what?\r\n");
}
