/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/lmtp_server.h"

#include <string.h>

#include "base/bytes.h"
#include "base/mailbox.h"

#define OUTPUT_LIMIT (64 * 1024) /* a client that does not read its replies is read no further */
#define DIGITS_MAX 18
#define CAPACITY_FIRST 8192
#define NO_MEMORY "452 4.3.1 Too much mail is coming in at once; try again later"
#define REFUSED_SIZE "552 5.3.4 The message is larger than this server takes"
#define REFUSED_ENDS "554 5.6.0 A lone dot stands between line ends that are not CR LF"

/* The last bytes of content that were read, as far as the end of the message may follow them. */
typedef enum LmtpDot {
    DOT_NONE,  /* no dot at the beginning of a line */
    DOT_FIRST, /* CR LF . : the dot is not stored */
    DOT_CR,    /* CR LF . CR : neither the dot nor the CR is stored */
    DOT_STRAY, /* a dot after a bare CR or LF, stored */
} LmtpDot;

typedef struct LmtpContent {
    char *octets;
    size_t length, capacity;
    char before[2]; /* the last two bytes on the wire */
    LmtpDot dot;
    const char *refusal; /* NULL, or why nothing is stored any more */
    bool high;           /* a byte is above 127 */
} LmtpContent;

typedef enum LmtpState {
    LMTP_COMMAND,
    LMTP_SKIP,    /* the rest of a command line that was too long */
    LMTP_DATA,    /* content up to the dot */
    LMTP_CHUNK,   /* chunk_left bytes of a BDAT */
    LMTP_WAITING, /* the owner has the message */
    LMTP_CLOSED,  /* send the output, then close */
} LmtpState;

struct LmtpServer {
    char *hostname;
    LmtpLimits limits;
    const LmtpHandler *handler;
    void *data;
    uint64_t memory, envelopes; /* bytes held: all; those of envelopes alone */
};

struct LmtpSession {
    LmtpServer *server;
    void *data;
    GString *output;
    char *client; /* NULL before LHLO */
    LmtpState state;
    unsigned errors;
    bool stopping;
    LmtpTransaction *transaction; /* from MAIL on */
    LmtpContent content;
    uint64_t announced; /* SIZE= of MAIL, 0: not said */
    uint64_t chunk_left;
    bool chunked; /* BDAT was used in this transaction */
    bool chunk_last;
    char *chunk_refusal; /* why the chunk in hand is only read past, or NULL */
    char *chunk_failure; /* why the first one was refused, and with it all that follow until RSET; or NULL */
};

LmtpServer *lmtp_server_new(const char *hostname, const LmtpLimits *limits, const LmtpHandler *handler, void *data)
{
    LmtpServer *server = g_new0(LmtpServer, 1);
    server->hostname = g_strdup(hostname);
    server->limits = *limits;
    server->handler = handler;
    server->data = data;
    return server;
}

void lmtp_server_free(LmtpServer *server)
{
    if (!server)
        return;
    g_free(server->hostname);
    g_free(server);
}

uint64_t lmtp_server_memory(const LmtpServer *server)
{
    return server->memory;
}

static void reply(LmtpSession *session, const char *line)
{
    g_string_append(session->output, line);
    g_string_append(session->output, "\r\n");
}

/* 421 and the end of the session. */
static void hang_up(LmtpSession *session, const char *line)
{
    reply(session, line);
    session->state = LMTP_CLOSED;
}

/* A reply to a command that should not have been sent like that. */
static void complain(LmtpSession *session, const char *line)
{
    if (++session->errors >= session->server->limits.errors)
        hang_up(session, "421 4.7.0 Too many errors");
    else
        reply(session, line);
}

/* --- the content -------------------------------------------------------- */

/* Free the content and the memory that it holds, and get ready for a new message. */
static void content_clear(LmtpSession *session)
{
    LmtpContent *content = &session->content;
    session->server->memory -= content->capacity;
    g_free(content->octets);
    *content = (LmtpContent){.before = {'\r', '\n'}};
}

/* From now on the bytes are only drained; the first reason stands. */
static void refuse(LmtpSession *session, const char *refusal)
{
    LmtpContent *content = &session->content;
    if (!content->refusal)
        content->refusal = refusal;
    session->server->memory -= content->capacity;
    g_clear_pointer(&content->octets, g_free);
    content->length = content->capacity = 0;
}

static void store(LmtpSession *session, const char *octets, size_t length)
{
    LmtpServer *server = session->server;
    LmtpContent *content = &session->content;
    size_t needed = content->length + length, capacity = content->capacity;
    if (length == 0 || content->refusal)
        return;
    if (needed > server->limits.message_size) {
        refuse(session, REFUSED_SIZE);
        return;
    }
    if (capacity == 0) {
        uint64_t hint = MIN(session->announced, server->limits.message_size);
        capacity = MAX(CAPACITY_FIRST, (size_t)MIN(hint, 1024 * 1024) + 512);
    }
    while (capacity < needed)
        capacity *= 2;
    if (capacity > content->capacity) {
        if (server->memory + (capacity - content->capacity) > server->limits.memory) {
            refuse(session, NO_MEMORY);
            return;
        }
        server->memory += capacity - content->capacity;
        content->octets = g_realloc(content->octets, capacity);
        content->capacity = capacity;
    }
    memcpy(content->octets + content->length, octets, length);
    content->length = needed;
    content->high = content->high || bytes_8bit(octets, length);
}

/* Remembers the two bytes before `end` of a piece that began at start. */
static void remember(LmtpContent *content, const char *start, const char *end)
{
    if (end - start >= 2) {
        content->before[0] = end[-2];
        content->before[1] = end[-1];
    } else if (end > start) {
        content->before[0] = content->before[1];
        content->before[1] = end[-1];
    }
}

/* One byte after a dot that began a line. True: the message ends here. */
static bool after_dot(LmtpSession *session, char octet)
{
    LmtpContent *content = &session->content;
    LmtpDot dot = content->dot;
    content->dot = DOT_NONE;
    switch (dot) {
    case DOT_STRAY:
        if (octet == '\r' || octet == '\n')
            refuse(session, REFUSED_ENDS);
        return false;
    case DOT_FIRST:
        if (octet == '\n')
            refuse(session, REFUSED_ENDS);
        if (octet == '\r')
            content->dot = DOT_CR;
        return false;
    case DOT_CR:
        if (octet == '\n')
            return true;
        refuse(session, REFUSED_ENDS);
        return false;
    case DOT_NONE:
        break;
    }
    return false;
}

/* A dot only matters at the beginning of a line, under the strictest and
 * the laxest reading of what ends one. */
static const char *next_dot(const LmtpContent *content, const char *start, const char *at, const char *end)
{
    while ((at = memchr(at, '.', (size_t)(end - at)))) {
        char last = at > start ? at[-1] : content->before[1];
        if (last == '\n' || last == '\r')
            return at;
        at++;
    }
    return NULL;
}

static bool after_crlf(const LmtpContent *content, const char *start, const char *dot)
{
    char last = dot > start ? dot[-1] : content->before[1];
    char earlier = dot - start >= 2 ? dot[-2] : dot > start ? content->before[1] : content->before[0];
    return earlier == '\r' && last == '\n';
}

/* Store bytes that follow DATA, and return how many were used. *ended is true when the final dot came. */
static size_t receive_data(LmtpSession *session, const char *octets, size_t length, bool *ended)
{
    LmtpContent *content = &session->content;
    const char *start = octets, *end = octets + length, *from = octets, *at = octets;
    *ended = false;
    while (at < end) {
        if (content->dot != DOT_NONE) {
            if (after_dot(session, *at)) {
                *ended = true;
                return (size_t)(at + 1 - octets);
            }
            if (content->dot == DOT_CR) {
                store(session, from, (size_t)(at - from));
                from = ++at; /* the CR is stored by nobody: it is the end's, or the message is refused */
            }
            continue;
        }
        const char *dot = next_dot(content, start, at, end);
        if (!dot)
            break;
        if (after_crlf(content, start, dot)) {
            store(session, from, (size_t)(dot - from));
            from = dot + 1;
            content->dot = DOT_FIRST;
        } else {
            content->dot = DOT_STRAY;
        }
        at = dot + 1;
    }
    store(session, from, (size_t)(end - from));
    remember(content, start, end);
    return length;
}

/* Store bytes of a chunk of BDAT. In a chunk a dot ends nothing, but one between bare line ends would be as dangerous
 * to a server behind us. */
static void store_chunk(LmtpSession *session, const char *octets, size_t length)
{
    LmtpContent *content = &session->content;
    const char *end = octets + length;
    for (const char *at = octets; at < end;) {
        if (content->dot != DOT_NONE) {
            after_dot(session, *at);
            continue;
        }
        const char *dot = next_dot(content, octets, at, end);
        if (!dot)
            break;
        if (!after_crlf(content, octets, dot))
            content->dot = DOT_STRAY;
        at = dot + 1;
    }
    store(session, octets, length);
    remember(content, octets, end);
}

/* --- the session -------------------------------------------------------- */

static void free_data(const LmtpServer *server, LmtpRecipient *recipient)
{
    if (server->handler->free_recipient && recipient->data)
        server->handler->free_recipient(recipient->data);
}

static void transaction_free(LmtpTransaction *transaction)
{
    if (!transaction)
        return;
    LmtpServer *server = transaction->server;
    server->memory -= transaction->envelope + transaction->content;
    server->envelopes -= transaction->envelope;
    for (unsigned i = 0; i < transaction->recipients->len; i++) {
        LmtpRecipient *recipient = lmtp_recipient(transaction, i);
        free_data(server, recipient);
        g_free(recipient->address);
        g_free(recipient->reply);
    }
    g_array_unref(transaction->recipients);
    g_clear_pointer(&transaction->message, g_bytes_unref);
    g_free(transaction->sender);
    g_free(transaction);
}

static void reset(LmtpSession *session)
{
    transaction_free(session->transaction);
    session->transaction = NULL;
    content_clear(session);
    session->announced = 0;
    session->chunked = false;
    g_clear_pointer(&session->chunk_refusal, g_free);
    g_clear_pointer(&session->chunk_failure, g_free);
}

LmtpSession *lmtp_session_new(LmtpServer *server, void *data)
{
    LmtpSession *session = g_new0(LmtpSession, 1);
    session->server = server;
    session->data = data;
    session->output = g_string_sized_new(256);
    content_clear(session);
    g_string_append_printf(session->output, "220 %s LMTP Listrunner\r\n", server->hostname);
    return session;
}

void lmtp_session_free(LmtpSession *session)
{
    if (!session)
        return;
    reset(session);
    g_string_free(session->output, TRUE);
    g_free(session->client);
    g_free(session);
}

void *lmtp_session_data(const LmtpSession *session)
{
    return session->data;
}

const char *lmtp_session_client(const LmtpSession *session)
{
    return session->client ? session->client : "";
}

uint64_t lmtp_session_announced(const LmtpSession *session)
{
    return session->announced;
}

const LmtpTransaction *lmtp_session_transaction(const LmtpSession *session)
{
    return session->transaction;
}

GString *lmtp_session_output(LmtpSession *session)
{
    return session->output;
}

bool lmtp_session_finished(const LmtpSession *session)
{
    return session->state == LMTP_CLOSED;
}

bool lmtp_session_waiting(const LmtpSession *session)
{
    return session->state == LMTP_WAITING;
}

static void stop_if_idle(LmtpSession *session)
{
    if (session->stopping && !session->transaction && (session->state == LMTP_COMMAND || session->state == LMTP_SKIP))
        hang_up(session, "421 4.3.2 The server is stopping");
}

void lmtp_session_stop(LmtpSession *session)
{
    session->stopping = true;
    stop_if_idle(session);
}

void lmtp_session_expire(LmtpSession *session, const char *why)
{
    session->stopping = true; /* a message that is being stored is answered first */
    if (session->state == LMTP_CLOSED || session->state == LMTP_WAITING)
        return;
    g_string_append_printf(session->output, "421 4.4.2 %s\r\n", why);
    session->state = LMTP_CLOSED;
}

void lmtp_session_close(LmtpSession *session)
{
    session->state = LMTP_CLOSED;
    reset(session);
}

/* --- arguments ---------------------------------------------------------- */

/* Read a number. False: text is anything else than 1 to 18 digits. */
static bool read_number(const char *text, uint64_t *number)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || text[digits])
        return false;
    *number = g_ascii_strtoull(text, NULL, 10);
    return true;
}

/* The '@' between local part and domain, or NULL. */
static const char *find_at(const char *at, const char *end)
{
    bool quoted = false;
    for (; at < end; at++)
        if (quoted && *at == '\\')
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && *at == '@')
            return at;
    return NULL;
}

/* Read "FROM:<address>" or "TO:<>", without a source route, into *address (g_free()), and move *text behind it. False:
 * it is malformed, and *address is not set. */
static bool read_path(const char **text, const char *word, char **address)
{
    size_t length = strlen(word);
    if (g_ascii_strncasecmp(*text, word, length) != 0)
        return false;
    const char *at = *text + length;
    at += strspn(at, " ");
    if (*at++ != '<')
        return false;
    const char *end = at + mailbox_path_length(at, strlen(at));
    if (*end != '>')
        return false;
    if (*at == '@') { /* RFC 5321 4.1.2: a source route is accepted and ignored */
        const char *colon = memchr(at, ':', (size_t)(end - at));
        if (!colon || colon + 1 == end)
            return false;
        at = colon + 1;
    }
    if (at < end) {
        const char *sign = find_at(at, end);
        if (sign == at || (sign && sign + 1 == end))
            return false;
        for (const char *in = sign ? sign + 1 : end; in < end; in++) /* the domain */
            if (!g_ascii_isalnum(*in) && (unsigned char)*in < 128 && !strchr("-._[]:", *in))
                return false;
    }
    *address = g_strndup(at, (size_t)(end - at));
    *text = end + 1;
    return true;
}

/* Read the next " KEYWORD[=value]" and move *text behind it. *keyword (g_free()) is NULL at the end of the text, *value
 * (g_free()) where there is no '='. False: it is malformed, and both are NULL. */
static bool read_parameter(const char **text, char **keyword, char **value)
{
    *keyword = *value = NULL;
    const char *at = *text;
    if (*at && *at != ' ')
        return false;
    at += strspn(at, " ");
    const char *end = at;
    while (g_ascii_isalnum(*end) || *end == '-')
        end++;
    *text = at;
    if (end == at)
        return *at == '\0';
    const char *from = end;
    if (*end == '=') {
        from = ++end;
        while (*end && *end != ' ' && *end != '=')
            end++;
        if (from == end)
            return false;
        *value = g_strndup(from, (size_t)(end - from));
        from--;
    }
    if (*end && *end != ' ') {
        g_clear_pointer(value, g_free);
        return false;
    }
    *keyword = g_strndup(at, (size_t)(from - at));
    *text = end;
    return true;
}

/* Read the parameters that follow the path of MAIL into the transaction. Return NULL, or the refusal. */
static const char *read_mail_parameters(LmtpSession *session, const char *text)
{
    LmtpTransaction *transaction = session->transaction;
    for (;;) {
        g_autofree char *keyword = NULL, *value = NULL;
        if (!read_parameter(&text, &keyword, &value))
            return "501 5.5.4 Malformed parameter";
        if (!keyword)
            return NULL;
        if (g_ascii_strcasecmp(keyword, "SIZE") == 0) {
            if (!value || !read_number(value, &session->announced))
                return "501 5.5.4 SIZE wants a number of octets";
        } else if (g_ascii_strcasecmp(keyword, "BODY") == 0) {
            if (value && g_ascii_strcasecmp(value, "8BITMIME") == 0)
                transaction->eight_bit = true;
            else if (!value || g_ascii_strcasecmp(value, "7BIT") != 0)
                return "501 5.5.4 BODY wants 7BIT or 8BITMIME";
        } else if (g_ascii_strcasecmp(keyword, "SMTPUTF8") == 0) {
            if (value)
                return "501 5.5.4 SMTPUTF8 takes no value";
            transaction->smtputf8 = true;
        } else {
            return "555 5.5.4 This MAIL parameter is not supported";
        }
    }
}

/* Return the refusal of an address that cannot be used in a transaction with or without SMTPUTF8; NULL: it can. */
static const char *address_refusal(const char *address, bool smtputf8)
{
    if (g_str_is_ascii(address))
        return NULL;
    if (!smtputf8)
        return "553 5.6.7 An address beyond ASCII needs SMTPUTF8 at MAIL";
    return g_utf8_validate(address, -1, NULL) ? NULL : "553 5.6.7 The address is not UTF-8";
}

/* --- commands ----------------------------------------------------------- */

/* Each gets what stands behind the verb, without the blanks before it. */

static void lhlo(LmtpSession *session, const char *text)
{
    if (!*text || strchr(text, ' ')) {
        complain(session, "501 5.5.4 Say: LHLO your-name");
        return;
    }
    reset(session);
    g_free(session->client);
    session->client = g_strdup(text);
    g_string_append_printf(session->output,
                           "250-%s\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-CHUNKING\r\n"
                           "250-ENHANCEDSTATUSCODES\r\n250 SIZE %" G_GUINT64_FORMAT "\r\n",
                           session->server->hostname, session->server->limits.message_size);
}

static void mail(LmtpSession *session, const char *text)
{
    LmtpServer *server = session->server;
    if (!session->client || session->transaction) {
        complain(session, session->client ? "503 5.5.1 A transaction is in progress" : "503 5.5.1 Say LHLO first");
        return;
    }
    g_autofree char *sender = NULL;
    if (!read_path(&text, "FROM:", &sender)) {
        complain(session, "501 5.5.4 Say: MAIL FROM:<address>");
        return;
    }
    LmtpTransaction *transaction = session->transaction = g_new0(LmtpTransaction, 1);
    transaction->server = server;
    transaction->sender = g_steal_pointer(&sender);
    transaction->recipients = g_array_new(FALSE, TRUE, sizeof(LmtpRecipient));
    session->announced = 0;
    session->chunked = false;
    g_clear_pointer(&session->chunk_failure, g_free);
    const char *refusal = read_mail_parameters(session, text);
    if (!refusal)
        refusal = address_refusal(transaction->sender, transaction->smtputf8);
    if (refusal) {
        complain(session, refusal);
        reset(session);
        return;
    }
    if (session->announced > server->limits.message_size)
        refusal = "552 5.3.4 The message is larger than this server takes";
    else if (server->memory + session->announced > server->limits.memory)
        refusal = NO_MEMORY;
    else if (server->handler->mail)
        refusal = server->handler->mail(session, transaction->sender, session->announced, server->data);
    if (refusal)
        reset(session);
    reply(session, refusal ? refusal : "250 2.1.0 Sender ok");
}

static bool has_memory(const LmtpServer *server, size_t recipient)
{
    const LmtpLimits *limits = &server->limits;
    return server->memory + recipient <= limits->memory && server->envelopes + recipient <= limits->memory / 2;
}

static void rcpt(LmtpSession *session, const char *text)
{
    LmtpServer *server = session->server;
    LmtpTransaction *transaction = session->transaction;
    if (!transaction || session->chunked) {
        complain(session, transaction ? "503 5.5.1 The content has begun" : "503 5.5.1 Say MAIL first");
        return;
    }
    g_autofree char *address = NULL;
    if (!read_path(&text, "TO:", &address) || !*address) {
        complain(session, "501 5.5.4 Say: RCPT TO:<address>");
        return;
    }
    g_autofree char *keyword = NULL, *value = NULL;
    const char *refusal = NULL;
    if (!read_parameter(&text, &keyword, &value))
        refusal = "501 5.5.4 Malformed parameter";
    else if (keyword)
        refusal = "555 5.5.4 This RCPT parameter is not supported";
    else
        refusal = address_refusal(address, transaction->smtputf8);
    if (refusal) {
        complain(session, refusal);
        return;
    }
    LmtpRecipient recipient = {.address = address};
    size_t size = sizeof recipient + strlen(address) + 1;
    if (transaction->recipients->len >= server->limits.recipients)
        refusal = "452 4.5.3 Too many recipients";
    else if (!has_memory(server, size))
        refusal = NO_MEMORY;
    else
        refusal = server->handler->recipient(session, &recipient, server->data);
    size += recipient.size;
    if (!refusal && !has_memory(server, size)) {
        free_data(server, &recipient);
        refusal = NO_MEMORY;
    }
    if (refusal) {
        reply(session, refusal);
        return;
    }
    recipient.address = g_steal_pointer(&address);
    g_array_append_val(transaction->recipients, recipient);
    transaction->envelope += size;
    server->envelopes += size;
    server->memory += size;
    reply(session, "250 2.1.5 Recipient ok");
}

/* Return the refusal that content would meet now; NULL: none. */
static const char *content_refusal(LmtpSession *session)
{
    if (!session->transaction)
        return "503 5.5.1 Say MAIL first";
    if (session->transaction->recipients->len == 0)
        return "503 5.5.1 No recipient was accepted";
    return NULL;
}

/* Return the reply by which the owner refuses content; NULL: it does not. */
static const char *ask_owner(LmtpSession *session)
{
    const LmtpServer *server = session->server;
    return server->handler->content ? server->handler->content(session, server->data) : NULL;
}

static void data_command(LmtpSession *session, const char *text)
{
    const char *refusal = *text ? "501 5.5.4 DATA takes no argument" : content_refusal(session);
    if (!refusal && session->chunked)
        refusal = "503 5.5.1 BDAT was used in this transaction";
    if (refusal) {
        complain(session, refusal);
        return;
    }
    refusal = ask_owner(session);
    if (refusal) {
        reply(session, refusal);
        reset(session);
        return;
    }
    reply(session, "354 End with a line that is a single dot");
    session->state = LMTP_DATA;
}

/* The bytes of a chunk follow whether we like it or not: a refused chunk
 * is read past, and answered when it is through. */
static void bdat(LmtpSession *session, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", 3);
    unsigned count = g_strv_length(words);
    bool last = count == 2 && g_ascii_strcasecmp(words[1], "LAST") == 0;
    if (count < 1 || count > 2 || (count == 2 && !last) || !read_number(words[0], &session->chunk_left)) {
        /* Where the next command begins cannot be known. */
        reply(session, "501 5.5.4 Say: BDAT octets [LAST]");
        hang_up(session, "421 4.5.0 What follows cannot be told from content");
        return;
    }
    const char *refusal = content_refusal(session);
    if (!refusal)
        refusal = session->chunk_failure;
    if (!refusal && !session->chunked)
        refusal = ask_owner(session);
    g_free(session->chunk_refusal);
    session->chunk_refusal = g_strdup(refusal);
    session->chunk_last = last;
    session->chunked = true;
    session->state = LMTP_CHUNK;
}

static void rset(LmtpSession *session, const char *text)
{
    (void)text;
    reset(session);
    reply(session, "250 2.0.0 Ok");
}

static void vrfy(LmtpSession *session, const char *text)
{
    if (*text)
        reply(session, "252 2.5.0 Not verified; send mail and see");
    else
        complain(session, "501 5.5.4 Say: VRFY address");
}

static void help(LmtpSession *session, const char *text);

#define NOT_LMTP "500 5.5.1 This is LMTP: say LHLO instead of HELO or EHLO"
#define NOT_OFFERED "502 5.5.1 This command is not supported"
#define NOT_HTTP "421 4.7.0 This is LMTP, not HTTP"

/* A verb has a function, or one answer to whatever stands behind it. */
static const struct {
    const char *verb;
    bool listed; /* by HELP */
    void (*run)(LmtpSession *session, const char *text);
    void (*answer)(LmtpSession *session, const char *line);
    const char *line;
} commands[] = {
    {"MAIL", true, mail, NULL, NULL},
    {"RCPT", true, rcpt, NULL, NULL},
    {"DATA", true, data_command, NULL, NULL},
    {"BDAT", true, bdat, NULL, NULL},
    {"LHLO", true, lhlo, NULL, NULL},
    {"RSET", true, rset, NULL, NULL},
    {"NOOP", true, NULL, reply, "250 2.0.0 Ok"},
    {"QUIT", true, NULL, hang_up, "221 2.0.0 Bye"},
    {"VRFY", true, vrfy, NULL, NULL},
    {"HELP", true, help, NULL, NULL},
    {"HELO", false, NULL, complain, NOT_LMTP},
    {"EHLO", false, NULL, complain, NOT_LMTP},
    {"EXPN", false, NULL, complain, NOT_OFFERED},
    {"STARTTLS", false, NULL, complain, NOT_OFFERED},
    {"AUTH", false, NULL, complain, NOT_OFFERED},
    {"ETRN", false, NULL, complain, NOT_OFFERED},
    {"TURN", false, NULL, complain, NOT_OFFERED},
    {"GET", false, NULL, hang_up, NOT_HTTP},
    {"POST", false, NULL, hang_up, NOT_HTTP},
    {"PUT", false, NULL, hang_up, NOT_HTTP},
    {"CONNECT", false, NULL, hang_up, NOT_HTTP},
};

static void help(LmtpSession *session, const char *text)
{
    (void)text;
    g_string_append(session->output, "214 2.0.0");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (commands[i].listed)
            g_string_append_printf(session->output, " %s", commands[i].verb);
    g_string_append(session->output, "\r\n");
}

/* A line without its CR LF. */
static void command(LmtpSession *session, const char *octets, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)octets[i] < ' ' || octets[i] == 127) {
            complain(session, "500 5.5.2 A command holds a control character");
            return;
        }
    while (length > 0 && octets[length - 1] == ' ')
        length--;
    g_autofree char *line = g_strndup(octets, length);
    size_t verb = strcspn(line, " ");
    const char *text = line + verb;
    text += strspn(text, " ");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (strlen(commands[i].verb) == verb && g_ascii_strncasecmp(line, commands[i].verb, verb) == 0) {
            if (commands[i].run)
                commands[i].run(session, text);
            else
                commands[i].answer(session, commands[i].line);
            return;
        }
    complain(session, "500 5.5.2 This is no command; say HELP");
}

/* Takes one command line; 0: it is not complete. */
static size_t receive_line(LmtpSession *session, const char *octets, size_t length)
{
    size_t limit = session->server->limits.line_length;
    const char *end = memchr(octets, '\n', length);
    if (end && (end == octets || end[-1] != '\r')) {
        /* Whatever wrote this, its next bytes are not to be trusted. */
        reply(session, "500 5.5.2 A command must end in CR LF");
        hang_up(session, "421 4.5.0 Closing after a bare line feed");
        return length;
    }
    size_t used = end ? (size_t)(end + 1 - octets) : 0;
    if (session->state == LMTP_SKIP) {
        if (!end)
            return octets[length - 1] == '\r' ? length - 1 : length;
        session->state = LMTP_COMMAND;
        return used;
    }
    if (used > limit || (!end && length >= limit)) {
        complain(session, "500 5.5.2 The line is too long");
        if (!end && session->state != LMTP_CLOSED)
            session->state = LMTP_SKIP;
        return end ? used : octets[length - 1] == '\r' ? length - 1 : length;
    }
    if (end)
        command(session, octets, used - 2);
    return used;
}

/* The content is through: to the owner, or refused once for each recipient. */
static void deliver(LmtpSession *session, const char *refusal)
{
    LmtpServer *server = session->server;
    LmtpTransaction *transaction = session->transaction;
    LmtpContent *content = &session->content;
    if (refusal) {
        for (unsigned i = 0; i < transaction->recipients->len; i++)
            reply(session, refusal);
        session->state = LMTP_COMMAND;
        reset(session);
        return;
    }
    if (content->capacity > 2 * content->length + CAPACITY_FIRST) {
        server->memory -= content->capacity - content->length;
        content->octets = g_realloc(content->octets, content->length);
        content->capacity = content->length;
    }
    /* The message takes over the memory that is counted for it. */
    transaction->eight_bit = transaction->eight_bit || content->high;
    transaction->content = content->capacity;
    transaction->message = g_bytes_new_take(content->octets, content->length);
    content->octets = NULL;
    content->capacity = content->length = 0;
    content_clear(session);
    session->transaction = NULL;
    session->state = LMTP_WAITING;
    server->handler->message(session, transaction, server->data);
}

/* The last byte of a chunk was read. The last chunk has one reply for each
 * recipient, whatever became of those before it, so that a client which sent
 * ahead can count. */
static void end_chunk(LmtpSession *session)
{
    session->state = LMTP_COMMAND;
    const LmtpTransaction *transaction = session->transaction;
    const char *refusal = session->chunk_refusal ? session->chunk_refusal : session->content.refusal;
    if (session->chunk_last && transaction && transaction->recipients->len > 0) {
        deliver(session, refusal);
        return;
    }
    if (!session->chunk_failure)
        session->chunk_failure = g_strdup(refusal);
    if (refusal && g_str_has_prefix(refusal, "503"))
        complain(session, refusal);
    else
        reply(session, refusal ? refusal : "250 2.0.0 Chunk taken");
}

size_t lmtp_session_receive(LmtpSession *session, const char *octets, size_t length)
{
    size_t used = 0;
    while (session->state != LMTP_WAITING && session->output->len < OUTPUT_LIMIT) {
        stop_if_idle(session);
        if (session->state == LMTP_CLOSED)
            return length;
        if (session->state == LMTP_CHUNK) {
            size_t piece = (size_t)MIN(session->chunk_left, (uint64_t)(length - used));
            if (!session->chunk_refusal)
                store_chunk(session, octets + used, piece);
            session->chunk_left -= piece;
            used += piece;
            if (session->chunk_left > 0)
                break;
            end_chunk(session);
            continue;
        }
        if (used == length)
            break;
        if (session->state == LMTP_DATA) {
            bool ended;
            used += receive_data(session, octets + used, length - used, &ended);
            if (ended)
                deliver(session, session->content.refusal);
            continue;
        }
        size_t line = receive_line(session, octets + used, length - used);
        if (line == 0)
            break;
        used += line;
    }
    return used;
}

void lmtp_session_answer(LmtpSession *session, LmtpTransaction *transaction)
{
    if (session->state == LMTP_WAITING) {
        for (unsigned i = 0; i < transaction->recipients->len; i++) {
            const char *text = lmtp_recipient(transaction, i)->reply;
            reply(session, text ? text : "451 4.3.0 The message could not be stored; try again later");
        }
        session->state = LMTP_COMMAND;
        reset(session);
        stop_if_idle(session);
    }
    transaction_free(transaction);
}
