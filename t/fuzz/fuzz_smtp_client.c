/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The SMTP client with flights of several transactions, against any stream of replies. Byte 0 of the input says what
 * kind of client, byte 1 how many transactions and recipients, byte 2 how long the pieces are in which the rest
 * arrives; a NUL ends a piece too.
 *
 * What the client wrote is then read again beside the replies, the next reply to the next command: each recipient has
 * exactly one result, in the order of transactions; none was called delivered whose message was not answered with 2xx;
 * and of what was taken nothing was called untried.
 */
#include <event2/event.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/smtp_client.h"
#include "t/fuzz/fuzz.h"

enum {
    MOOD_LMTP = 1 << 0,
    MOOD_DATA = 1 << 1,    /* no chunks */
    MOOD_STEPS = 1 << 2,   /* no pipelining */
    MOOD_BODIES = 1 << 3,  /* not all small and plain */
    MOOD_REFUSED = 1 << 4, /* recipients that the client refuses */
    MOOD_QUIT = 1 << 5,    /* after the first transaction */
    MOOD_FREE = 1 << 6,    /* at the end, instead of hanging up */
};

#define RECIPIENTS_MAX 4
#define TRANSACTIONS_MAX 24
#define BODIES 4

typedef struct Copy {
    bool told, taken; /* taken: as the replies say */
    SmtpVerdict verdict;
    bool in_doubt;
    char address[32];
} Copy;

typedef struct Turn {
    char sender[16];
    size_t count;
    bool done, eight;
    Copy copies[RECIPIENTS_MAX];
} Turn;

typedef struct World {
    uint8_t mood;
    unsigned flight, recipients, rounds;
    SmtpClient *client;
    bool closed;
    unsigned sent, over; /* transactions */
    Turn turns[TRANSACTIONS_MAX];
    GString *output;
} World;

static struct event_base *base;
static SmtpBody *bodies[BODIES]; /* plain, to be rewritten, large, with bytes above 127 */

/* --- the owner ---------------------------------------------------------- */

static SmtpBody *make_body(const char *unit, size_t times)
{
    g_autoptr(GString) text = g_string_new("Subject: x\r\n\r\n");
    while (times-- > 0)
        g_string_append(text, unit);
    g_autoptr(GBytes) octets = g_bytes_new(text->str, text->len);
    return smtp_body_new(octets);
}

static void prepare(void)
{
    if (base)
        return;
    signal(SIGPIPE, SIG_IGN);
    base = event_base_new();
    bodies[0] = make_body("x\r\n.y\r\nRSET\r\n", 1);
    bodies[1] = make_body(".y\n", 300);
    bodies[2] = make_body("0123456789abcdef\r\n", 5000);
    bodies[3] = make_body("\xc3\xa4\r\n", 1);
}

static const char *recipient_of(void *data, size_t index, size_t *length)
{
    const Turn *turn = data;
    *length = strlen(turn->copies[index].address);
    return turn->copies[index].address;
}

static SmtpBody *seven(void *data)
{
    const Turn *turn = data;
    return turn->eight ? smtp_body_ref(bodies[0]) : NULL;
}

/* The next transaction; not counted yet. */
static void describe(World *world, SmtpTransaction *transaction)
{
    unsigned number = world->sent;
    Turn *turn = &world->turns[number];
    *turn = (Turn){.count = 1 + number % world->recipients, .eight = number % 2};
    g_snprintf(turn->sender, sizeof(turn->sender), "t%u@x", number);
    for (size_t i = 0; i < turn->count; i++) {
        bool bad = (world->mood & MOOD_REFUSED) && (number + i) % 3 == 1;
        g_snprintf(turn->copies[i].address, sizeof(turn->copies[i].address), bad ? "r %zu@x" : "r%zu@x", i);
    }
    *transaction = (SmtpTransaction){.sender = turn->sender, .count = turn->count, .recipient = recipient_of,
                                     .data = turn, .body_7bit = seven,
                                     .body = bodies[world->mood & MOOD_BODIES ? number % BODIES : 0]};
}

static void on_ready(SmtpClient *client, void *data)
{
    World *world = data;
    require(world->over == world->sent);
    if (world->rounds == 0 || world->sent + world->flight > TRANSACTIONS_MAX) {
        smtp_client_quit(client);
        return;
    }
    world->rounds--;
    SmtpTransaction transaction;
    describe(world, &transaction);
    smtp_client_send(client, &transaction);
    world->sent++;
    for (unsigned i = 1; i < world->flight; i++) {
        describe(world, &transaction);
        bool takes = smtp_client_takes_behind(client);
        bool follows = smtp_client_send_behind(client, &transaction);
        require(takes || !follows);
        world->sent += follows;
    }
}

static void on_result(SmtpClient *client, size_t index, const SmtpResult *result, void *data)
{
    (void)client;
    World *world = data;
    require(world->over < world->sent);
    Turn *turn = &world->turns[world->over];
    require(index < turn->count && !turn->copies[index].told);
    require(result->status[0] == (result->verdict == SMTP_SENT ? '2' : result->verdict == SMTP_LATER ? '4' : '5'));
    require(result->verdict != SMTP_SENT || result->code / 100 == 2);
    require(result->verdict == SMTP_LATER || !(result->in_doubt || result->unstarted || result->behind));
    require(!(result->in_doubt && result->unstarted));
    turn->copies[index].told = true;
    turn->copies[index].verdict = result->verdict;
    turn->copies[index].in_doubt = result->in_doubt;
}

static void on_done(SmtpClient *client, void *data)
{
    World *world = data;
    Turn *turn = &world->turns[world->over++];
    for (size_t i = 0; i < turn->count; i++)
        require(turn->copies[i].told);
    if (world->mood & MOOD_QUIT)
        smtp_client_quit(client);
}

static void on_closed(SmtpClient *client, const SmtpResult *why, void *data)
{
    (void)client;
    (void)why;
    World *world = data;
    require(world->over == world->sent);
    world->closed = true;
    world->client = NULL;
}

static const SmtpHandler handler = {on_ready, on_result, on_done, on_closed};

/* --- the line ----------------------------------------------------------- */

/* Takes what there is to take; true when there was something. */
static bool take_output(World *world, int fd)
{
    char octets[65536];
    ssize_t length = recv(fd, octets, sizeof(octets), MSG_DONTWAIT);
    if (length > 0)
        g_string_append_len(world->output, octets, length);
    return length > 0;
}

static void settle(World *world, int fd)
{
    do
        event_base_loop(base, EVLOOP_NONBLOCK);
    while (take_output(world, fd));
}

/* A piece ends with its length, or at a NUL, which is left out. */
static void say(World *world, int fd, const uint8_t *data, size_t size, size_t step, GString *said)
{
    for (size_t at = 0; at < size && !world->closed;) {
        size_t length = MIN(step, size - at);
        const uint8_t *nul = memchr(data + at, '\0', length);
        length = nul ? (size_t)(nul - data) - at : length;
        for (size_t done = 0; done < length && !world->closed;) {
            ssize_t sent = send(fd, data + at + done, length - done, MSG_DONTWAIT | MSG_NOSIGNAL);
            done += sent > 0 ? (size_t)sent : 0;
            settle(world, fd);
        }
        g_string_append_len(said, (const char *)data + at, (gssize)length);
        at += length + (nul ? 1 : 0);
    }
}

static void hang_up(World *world, int fd)
{
    if (world->mood & MOOD_FREE) {
        smtp_client_free(g_steal_pointer(&world->client));
    } else {
        shutdown(fd, SHUT_WR);
        for (int i = 0; i < 20 && !world->closed; i++)
            settle(world, fd);
        require(world->closed);
    }
    while (take_output(world, fd))
        ;
}

/* --- what was said, read again ------------------------------------------ */

typedef struct Reading {
    World *world;
    const char *at, *end;
    const char *said, *said_end;
    Turn *turn;
    bool mail;
    bool accepted[RECIPIENTS_MAX];
    unsigned count; /* accepted */
} Reading;

/* The code of the next reply; 0: there is none that counts. A farewell is the last, and so is a line that is no reply,
 * unless it may answer a RCPT: then it concerns that recipient alone. */
static unsigned next_code_or_odd(Reading *reading, bool odd)
{
    SmtpReply reply;
    smtp_reply_init(&reply);
    size_t used = 0;
    SmtpReplyState state = SMTP_REPLY_MORE;
    if (reading->said < reading->said_end)
        state = smtp_reply_feed(&reply, reading->said, (size_t)(reading->said_end - reading->said), &used);
    if (state == SMTP_REPLY_MORE || (state == SMTP_REPLY_BROKEN && !odd) ||
        (state == SMTP_REPLY_DONE && reply.code == 421)) {
        reading->said = reading->said_end;
        return 0;
    }
    reading->said += used;
    return state == SMTP_REPLY_DONE ? reply.code : 0;
}

static unsigned next_code(Reading *reading)
{
    return next_code_or_odd(reading, false);
}

static bool next_good(Reading *reading)
{
    return next_code(reading) / 100 == 2;
}

/* The message was written to its end. */
static void read_final(Reading *reading)
{
    bool each = (reading->world->mood & MOOD_LMTP) && reading->count > 0;
    bool good = each ? false : next_good(reading);
    for (size_t i = 0; reading->turn && i < reading->turn->count; i++)
        if (reading->accepted[i])
            reading->turn->copies[i].taken = (each ? next_good(reading) : good) && reading->mail;
}

static void read_mail(Reading *reading, const char *line)
{
    unsigned number = (unsigned)g_ascii_strtoull(line + strlen("MAIL FROM:<t"), NULL, 10);
    require(number < reading->world->sent);
    reading->turn = &reading->world->turns[number];
    reading->mail = next_good(reading);
    reading->count = 0;
    memset(reading->accepted, 0, sizeof(reading->accepted));
}

static void read_recipient(Reading *reading, const char *line)
{
    size_t index = g_ascii_strtoull(line + strlen("RCPT TO:<r"), NULL, 10);
    require(reading->turn && index < reading->turn->count);
    reading->accepted[index] = next_code_or_odd(reading, true) / 100 == 2;
    reading->count += reading->accepted[index];
}

/* Past the lone dot; NULL: it has not come. */
static const char *end_of_data(const Reading *reading)
{
    size_t left = (size_t)(reading->end - reading->at);
    if (left >= 3 && memcmp(reading->at, ".\r\n", 3) == 0)
        return reading->at + 3;
    const char *dot = memmem(reading->at, left, "\r\n.\r\n", 5);
    return dot ? dot + 5 : NULL;
}

static bool read_message(Reading *reading, const char *line)
{
    const char *behind;
    if (g_str_has_prefix(line, "BDAT ")) {
        size_t length = g_ascii_strtoull(line + 5, NULL, 10);
        behind = length <= (size_t)(reading->end - reading->at) ? reading->at + length : NULL;
    } else {
        behind = next_code(reading) == 354 ? end_of_data(reading) : reading->at;
    }
    bool data = g_str_has_prefix(line, "DATA");
    bool empty = data && behind == reading->at; /* it was refused */
    if (!behind)
        return false;
    reading->at = behind;
    if (!empty)
        read_final(reading);
    return true;
}

static bool read_command(Reading *reading)
{
    const char *end = memmem(reading->at, (size_t)(reading->end - reading->at), "\r\n", 2);
    if (!end)
        return false;
    g_autofree char *line = g_strndup(reading->at, (size_t)(end - reading->at));
    reading->at = end + 2;
    if (g_str_has_prefix(line, "MAIL FROM:<t"))
        read_mail(reading, line);
    else if (g_str_has_prefix(line, "RCPT TO:<r"))
        read_recipient(reading, line);
    else if (g_str_has_prefix(line, "BDAT ") || strcmp(line, "DATA") == 0)
        return read_message(reading, line);
    else
        next_code(reading);
    return true;
}

static void check(World *world, const GString *said)
{
    Reading reading = {.world = world, .at = world->output->str, .end = world->output->str + world->output->len,
                       .said = said->str, .said_end = said->str + said->len};
    next_code(&reading); /* the greeting */
    while (read_command(&reading))
        ;
    for (unsigned number = 0; number < world->sent; number++) {
        const Turn *turn = &world->turns[number];
        for (size_t i = 0; i < turn->count; i++) {
            const Copy *copy = &turn->copies[i];
            require(copy->told || (world->mood & MOOD_FREE));
            if (copy->told && copy->verdict == SMTP_SENT)
                require(copy->taken);
            else if (copy->told)
                require(copy->in_doubt || !copy->taken);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    prepare();
    World world = {.mood = data[0], .flight = 1 + data[1] % 8, .recipients = 1 + data[1] / 8 % RECIPIENTS_MAX,
                   .rounds = 1 + data[1] / 32, .output = g_string_new(NULL)};
    SmtpSettings settings = {.server = "peer", .helo_name = "me.example", .chunking = !(world.mood & MOOD_DATA),
                             .no_pipelining = world.mood & MOOD_STEPS,
                             .protocol = world.mood & MOOD_LMTP ? SMTP_PROTOCOL_LMTP : SMTP_PROTOCOL_SMTP};
    int pair[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    world.client = smtp_client_adopt(base, pair[0], &settings, &handler, &world);
    g_autoptr(GString) said = g_string_new(NULL);
    say(&world, pair[1], data + 3, size - 3, data[2] ? data[2] : size, said);
    hang_up(&world, pair[1]);
    close(pair[1]);
    check(&world, said);
    g_string_free(world.output, TRUE);
    return 0;
}
