/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/nntp_client.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <inttypes.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "net/nntp_reader.h"
#include "net/resolve.h"

#define REPLY_MOST 65536 /* bytes of a block that is no article */
#define DIGITS_MOST 16   /* of a number; RFC 3977, 6 */
#define PATIENCE 10      /* times the time-out, for one answer */

/* How the numbers of articles are asked for, the best first. */
typedef enum NntpWay { WAY_LISTGROUP, WAY_OVER, WAY_XOVER, WAY_NEXT, WAY_NONE } NntpWay;

struct NntpClient {
    const NntpSettings *settings;
    char *peer; /* "news.example.com:119" */
    struct event_base *base;
    struct event *tick;
    struct bufferevent *connection; /* NULL before the host's address is known */
    struct addrinfo *addresses;
    SSL *ssl;         /* the connection's; NULL: in clear text */
    bool done;        /* what wait_for() waits for has come */
    char *lost;       /* why the connection is of no use; NULL: it stands */
    int64_t progress; /* monotonic */
    NntpReader reply;
    NntpState state;
    NntpWay way; /* the first that the server has not refused */
};

/* ---- the loop ---- */

static void on_tick(evutil_socket_t fd, short what, void *data)
{
}

static void on_write(struct bufferevent *connection, void *data)
{
    ((NntpClient *)data)->progress = clock_monotonic();
}

/* Takes as much of the input as belongs to the reply that is awaited. */
static void on_read(struct bufferevent *connection, void *data)
{
    NntpClient *client = data;
    struct evbuffer *in = bufferevent_get_input(connection);
    size_t length, used;
    client->progress = clock_monotonic();
    while (client->state == NNTP_MORE && (length = evbuffer_get_contiguous_space(in)) > 0) {
        const char *octets = (const char *)evbuffer_pullup(in, (ev_ssize_t)length);
        client->state = nntp_reader_feed(&client->reply, octets, length, &used);
        evbuffer_drain(in, used);
    }
    client->done = client->state != NNTP_MORE;
}

static void on_event(struct bufferevent *connection, short what, void *data)
{
    NntpClient *client = data;
    int number = errno;
    if (what & BEV_EVENT_CONNECTED) {
        client->done = true;
        return;
    }
    long verdict = client->ssl ? SSL_get_verify_result(client->ssl) : X509_V_OK;
    unsigned long problem = client->ssl ? bufferevent_get_openssl_error(connection) : 0;
    g_free(client->lost);
    const char *doubt = X509_verify_cert_error_string(verdict);
    client->lost = verdict != X509_V_OK   ? g_strdup_printf("its certificate: %s", doubt)
                   : problem              ? smtp_tls_problem(problem)
                   : what & BEV_EVENT_EOF ? g_strdup("it closed the connection")
                                          : g_strdup(g_strerror(number));
}

static void on_resolved(struct addrinfo *addresses, const GError *error, void *data)
{
    NntpClient *client = data;
    client->addresses = addresses;
    client->done = true;
    if (error)
        client->lost = g_strdup(error->message);
}

/* Runs the loop until what is awaited has come. */
static bool wait_for(NntpClient *client, GError **error)
{
    const NntpSettings *settings = client->settings;
    const struct timeval second = {.tv_sec = 1};
    int64_t begun = client->progress = clock_monotonic();
    while (!client->done && !client->lost) {
        event_add(client->tick, &second);
        event_base_loop(client->base, EVLOOP_ONCE);
        if (!client->done && !client->lost && clock_monotonic() - client->progress > settings->timeout)
            client->lost = g_strdup("it says nothing");
        if (!client->done && !client->lost && clock_monotonic() - begun > PATIENCE * settings->timeout)
            client->lost = g_strdup("its answer has no end");
        if (settings->alive && !settings->alive(settings->data))
            return fail(error, FAIL_LATER, "news server %s: given up, because the process ends", client->peer);
    }
    return !client->lost || fail(error, FAIL_LATER, "news server %s: %s", client->peer, client->lost);
}

/* ---- commands ---- */

static bool read_reply(NntpClient *client, bool wants_block, size_t most, GError **error)
{
    nntp_reader_expect(&client->reply, wants_block, most);
    client->state = NNTP_MORE;
    on_read(client->connection, client); /* it may be there already */
    if (!wait_for(client, error))
        return false;
    if (client->state == NNTP_BROKEN)
        return fail(error, FAIL_LATER, "%s is no news server", client->peer);
    return true;
}

static bool say(NntpClient *client, const char *command, bool wants_block, size_t most, GError **error)
{
    bufferevent_write(client->connection, command, strlen(command));
    bufferevent_write(client->connection, "\r\n", 2);
    return read_reply(client, wants_block, most, error);
}

/* The server answered something else than it should have. */
static bool refused(const NntpClient *client, const char *what, GError **error)
{
    return fail(error, FAIL_LATER, "news server %s: %s: %u %s", client->peer, what, client->reply.code,
                client->reply.text->str);
}

/* ---- the beginning ---- */

static void use(NntpClient *client, struct bufferevent *connection)
{
    client->connection = connection;
    bufferevent_setcb(connection, on_read, on_write, on_event, client);
    bufferevent_enable(connection, EV_READ | EV_WRITE);
}

/* Try each address of the host. */
static bool connect_any(NntpClient *client, GError **error)
{
    client->done = false;
    Resolve *resolve = resolve_start(client->base, client->settings->host, client->settings->port, on_resolved, client);
    if (!wait_for(client, error)) {
        if (!client->done)
            resolve_cancel(resolve);
        return false;
    }
    for (const struct addrinfo *at = client->addresses; at; at = at->ai_next) {
        g_clear_error(error);
        g_clear_pointer(&client->lost, g_free);
        g_clear_pointer(&client->connection, bufferevent_free);
        client->done = false;
        use(client, bufferevent_socket_new(client->base, -1, BEV_OPT_CLOSE_ON_FREE));
        if (bufferevent_socket_connect(client->connection, at->ai_addr, (int)at->ai_addrlen) != 0 && !client->lost)
            client->lost = g_strdup(g_strerror(errno));
        if (wait_for(client, error))
            return true;
    }
    return false;
}

/* TLS over the socket of the connection, which has nothing unread. */
static bool start_tls(NntpClient *client, GError **error)
{
    evutil_socket_t fd = bufferevent_getfd(client->connection);
    if (evbuffer_get_length(bufferevent_get_input(client->connection)) > 0)
        return fail(error, FAIL_LATER, "news server %s: somebody speaks before TLS stands", client->peer);
    bufferevent_setfd(client->connection, -1);
    bufferevent_free(client->connection);
    client->ssl = smtp_tls_session(client->settings->tls_context, client->settings->host, true);
    client->done = false;
    use(client, bufferevent_openssl_socket_new(client->base, fd, client->ssl, BUFFEREVENT_SSL_CONNECTING,
                                               BEV_OPT_CLOSE_ON_FREE));
    bufferevent_openssl_set_allow_dirty_shutdown(client->connection, 1);
    return wait_for(client, error);
}

static bool greet(NntpClient *client, GError **error)
{
    const NntpSettings *settings = client->settings;
    if (settings->tls == NNTP_TLS_ONCE && !start_tls(client, error))
        return false;
    if (!read_reply(client, false, 0, error))
        return false;
    if (client->reply.code != 200 && client->reply.code != 201)
        return refused(client, "greeting", error);
    /* A server for other servers hands over to the one for readers; where there is but one this changes nothing, and
     * whether it is allowed is seen at the first real command. */
    if (!say(client, "MODE READER", false, 0, error))
        return false;
    if (settings->tls == NNTP_TLS_START) {
        if (!say(client, "STARTTLS", false, 0, error))
            return false;
        if (client->reply.code != 382)
            return refused(client, "STARTTLS", error);
        if (!start_tls(client, error))
            return false;
    }
    if (!settings->user)
        return true;
    g_autofree char *user = g_strdup_printf("AUTHINFO USER %s", settings->user);
    g_autofree char *password = g_strdup_printf("AUTHINFO PASS %s", settings->password ? settings->password : "");
    bool said = say(client, user, false, 0, error) &&
                (client->reply.code != 381 || say(client, password, false, 0, error));
    explicit_bzero(password, strlen(password));
    return said && (client->reply.code == 281 || refused(client, "the user name or password", error));
}

NntpClient *nntp_client_open(const NntpSettings *settings, GError **error)
{
    g_autoptr(NntpClient) client = g_new0(NntpClient, 1);
    client->settings = settings;
    client->peer = g_strdup_printf("%s:%s", settings->host, settings->port);
    client->base = event_base_new();
    client->tick = evtimer_new(client->base, on_tick, NULL);
    client->state = NNTP_DONE;
    nntp_reader_init(&client->reply);
    g_autoptr(GError) fault = NULL;
    if (connect_any(client, &fault) && greet(client, &fault))
        return g_steal_pointer(&client);
    g_propagate_error(error, g_steal_pointer(&fault));
    return NULL;
}

void nntp_client_free(NntpClient *client)
{
    if (!client)
        return;
    /* The last words wait for no answer. Behind TLS, and where much is still to be sent, they are left out. */
    static const char words[] = "QUIT\r\n";
    evutil_socket_t fd = client->connection ? bufferevent_getfd(client->connection) : -1;
    if (fd >= 0 && !client->lost && !client->ssl &&
        evbuffer_get_length(bufferevent_get_output(client->connection)) == 0)
        send(fd, words, sizeof words - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    g_clear_pointer(&client->connection, bufferevent_free);
    g_clear_pointer(&client->addresses, freeaddrinfo);
    nntp_reader_clear(&client->reply);
    event_free(client->tick);
    event_base_free(client->base);
    g_free(client->lost);
    g_free(client->peer);
    g_free(client);
}

/* ---- what it is for ---- */

/* Read a number at *at, and go behind it. Returns -1 when there is none, or it is too long. */
static int64_t take_number(const char **at)
{
    *at += strspn(*at, " ");
    size_t digits = strspn(*at, "0123456789");
    int64_t number = digits > 0 && digits <= DIGITS_MOST ? g_ascii_strtoll(*at, NULL, 10) : -1;
    *at += digits;
    return number;
}

bool nntp_client_group(NntpClient *client, const char *name, NntpGroup *group, GError **error)
{
    g_autofree char *command = g_strdup_printf("GROUP %s", name);
    if (!say(client, command, false, 0, error))
        return false;
    if (client->reply.code == 411)
        return fail(error, FAIL_MISSING, "news server %s has no group %s", client->peer, name);
    const char *at = client->reply.text->str;
    *group = (NntpGroup){.count = take_number(&at)};
    group->first = take_number(&at);
    group->last = take_number(&at);
    if (client->reply.code != 211 || group->count < 0 || group->first < 0 || group->last < 0)
        return refused(client, command, error);
    return true;
}

/* Take the numbers at the start of the lines of the reply that are in the range, and say whether all were. What is
 * behind a cut is left for the next time. */
static bool take_numbers(const NntpClient *client, const NntpGroup *range, GArray *numbers, int64_t *known)
{
    const char *at = (const char *)client->reply.block->data, *end = at + client->reply.block->len;
    int64_t before = range->first - 1;
    bool honoured = true, left = client->reply.cut;
    for (const char *feed; at < end && (feed = memchr(at, '\n', (size_t)(end - at))); at = feed + 1) {
        g_autofree char *line = g_strndup(at, (size_t)(feed - at));
        const char *rest = line;
        int64_t number = take_number(&rest);
        bool wanted = number > before && number <= range->last;
        honoured = honoured && wanted;
        if (wanted && numbers->len < NNTP_NUMBERS_MOST)
            g_array_append_val(numbers, number);
        else
            left = left || wanted;
        before = wanted ? number : before;
    }
    int64_t highest = numbers->len > 0 ? g_array_index(numbers, int64_t, numbers->len - 1) : range->first - 1;
    *known = left ? highest : range->last;
    return honoured || numbers->len > 0;
}

/* Ask for one range by LISTGROUP, OVER or XOVER. Where the server knows no such command, or not with a range, the next
 * way is tried from now on, and *known is less than the first number. */
static bool list_range(NntpClient *client, const char *name, const NntpGroup *range, GArray *numbers, int64_t *known,
                       GError **error)
{
    static const char *const words[] = {[WAY_LISTGROUP] = "LISTGROUP ", [WAY_OVER] = "OVER", [WAY_XOVER] = "XOVER"};
    bool listing = client->way == WAY_LISTGROUP;
    g_autofree char *command = g_strdup_printf("%s%s %" PRId64 "-%" PRId64, words[client->way], listing ? name : "",
                                               range->first, range->last);
    *known = range->last;
    if (!say(client, command, true, REPLY_MOST, error))
        return false;
    unsigned code = client->reply.code;
    if (code == 400)
        return refused(client, command, error);
    if (code == 420 || code == 423) /* none in that range */
        return true;
    if (code != (listing ? 211 : 224) || !take_numbers(client, range, numbers, known)) {
        client->way++;
        *known = range->first - 1;
    }
    return true;
}

/* Ask for the article behind the one before the range, if that is there. */
static bool go_on(NntpClient *client, const NntpGroup *range, GArray *numbers, int64_t *known, GError **error)
{
    g_autofree char *command = g_strdup_printf("STAT %" PRId64, range->first - 1);
    *known = range->first - 1;
    if (!say(client, command, false, 0, error))
        return false;
    if (client->reply.code != 223)
        return client->reply.code != 400 || refused(client, command, error);
    if (!say(client, "NEXT", false, 0, error))
        return false;
    const char *at = client->reply.text->str;
    int64_t number = client->reply.code == 223 ? take_number(&at) : 0;
    if (client->reply.code == 400)
        return refused(client, "NEXT", error);
    if (client->reply.code == 421 || number > range->last) {
        *known = range->last;
    } else if (number >= range->first) {
        *known = number;
        g_array_append_val(numbers, number);
    } else {
        client->way = WAY_NONE;
    }
    return true;
}

/* A reply to OVER has some hundred bytes for each article. */
bool nntp_client_numbers(NntpClient *client, const char *name, const NntpGroup *wanted, GArray *numbers, int64_t *known,
                         GError **error)
{
    NntpGroup range = *wanted;
    int64_t width = 0;
    *known = wanted->first - 1;
    g_array_set_size(numbers, 0);
    while (*known < wanted->last && numbers->len == 0 && client->way < WAY_NEXT) {
        NntpWay way = client->way;
        width = width > 0 ? width * 16 : way == WAY_LISTGROUP ? NNTP_NUMBERS_MOST : NNTP_NUMBERS_MOST / 10;
        range.first = *known + 1;
        range.last = MIN(wanted->last, width < wanted->last - *known ? *known + width : wanted->last);
        if (!list_range(client, name, &range, numbers, known, error))
            return false;
        width = client->way == way ? MIN(width, INT64_MAX / 32) : 0;
    }
    return *known >= wanted->first || client->way != WAY_NEXT || go_on(client, wanted, numbers, known, error);
}

static GBytes *take_block(const NntpClient *client)
{
    return g_bytes_new(client->reply.block->data, client->reply.block->len);
}

bool nntp_client_article(NntpClient *client, int64_t number, GBytes **article, bool *large, GError **error)
{
    g_autofree char *command = g_strdup_printf("ARTICLE %" PRId64, number);
    *article = NULL;
    *large = false;
    if (!say(client, command, true, client->settings->article_most, error))
        return false;
    if (client->reply.code == 423 || client->reply.code == 430)
        return true;
    if (client->reply.code != 220)
        return refused(client, command, error);
    *large = client->reply.cut;
    *article = *large ? NULL : take_block(client);
    return true;
}

bool nntp_client_head(NntpClient *client, const char *message_id, GBytes **head, GError **error)
{
    g_autofree char *command = g_strdup_printf("HEAD <%s>", message_id);
    *head = NULL;
    if (!say(client, command, true, REPLY_MOST, error))
        return false;
    if (client->reply.code == 430)
        return true;
    if (client->reply.code != 221)
        return refused(client, "HEAD", error);
    *head = take_block(client);
    return true;
}

bool nntp_client_post(NntpClient *client, GBytes *article, NntpVerdict *verdict, char **reply, GError **error)
{
    if (!say(client, "POST", false, 0, error))
        return false;
    if (client->reply.code != 340)
        return refused(client, "POST", error);
    /* Each line that begins with a dot gets one more; "." ends the article. */
    struct evbuffer *out = bufferevent_get_output(client->connection);
    size_t length;
    const char *at = g_bytes_get_data(article, &length), *end = at + length;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *next = feed ? feed + 1 : end;
        if (*at == '.')
            evbuffer_add(out, ".", 1);
        evbuffer_add(out, at, (size_t)(next - at));
        at = next;
    }
    evbuffer_add(out, ".\r\n", 3);
    if (!read_reply(client, false, 0, error))
        return false;
    /* 441 is all that a server has to say; what it means stands behind, in the words of whoever judged: those of
     * another server, 435 and 437, or its own. */
    const char *text = client->reply.text->str;
    unsigned inner = (unsigned)g_ascii_strtoull(text, NULL, 10);
    if (client->reply.code == 240)
        *verdict = NNTP_POSTED;
    else if (client->reply.code == 441 && (inner == 435 || strcasestr(text, "duplicate")))
        *verdict = NNTP_KNOWN;
    else if (client->reply.code == 441 && inner != 400 && inner != 403 && inner != 436)
        *verdict = NNTP_REFUSED;
    else
        return refused(client, "POST", error);
    *reply = g_strdup_printf("%u %s", client->reply.code, text);
    return true;
}
