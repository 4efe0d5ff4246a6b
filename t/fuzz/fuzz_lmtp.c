/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * One LMTP session in memory. The first byte says how the input is cut, the
 * second what the owner answers; the rest is what the client sends. Besides what
 * the sanitizers see: no reply holds a stray line end, no memory is left
 * accounted, and content that was accepted holds no lone dot between
 * line ends of which one is bare.
 */
#include <string.h>

#include "net/lmtp_server.h"
#include "t/fuzz/fuzz.h"

typedef struct World {
    LmtpTransaction *held;
    uint8_t mood;
} World;

static const char *on_mail(LmtpSession *session, const char *sender, uint64_t size, void *data)
{
    return ((World *)data)->mood & 1 && *sender == 'x' ? "452 4.3.1 No" : NULL;
}

static const char *on_recipient(LmtpSession *session, LmtpRecipient *recipient, void *data)
{
    require(*recipient->address != '\0');
    return *recipient->address == 'x' ? "550 5.1.1 No" : NULL;
}

static const char *on_content(LmtpSession *session, void *data)
{
    return ((World *)data)->mood & 2 ? "452 4.3.1 No" : NULL;
}

static bool is_end(char octet)
{
    return octet == '\r' || octet == '\n';
}

/* The owner behind us stuffs a dot after CR LF and at the start. */
static void check_content(const char *octets, size_t length)
{
    for (size_t i = 1; i + 1 < length; i++)
        if (octets[i] == '.' && is_end(octets[i - 1]) && is_end(octets[i + 1]))
            require(octets[i - 1] == '\n' && i >= 2 && octets[i - 2] == '\r');
}

static void on_message(LmtpSession *session, LmtpTransaction *transaction, void *data)
{
    World *world = data;
    size_t length;
    const char *octets = g_bytes_get_data(transaction->message, &length);
    require(transaction->recipients->len > 0);
    check_content(octets, length);
    require(!world->held);
    if (world->mood & 4)
        world->held = transaction;
    else
        lmtp_session_answer(session, transaction);
}

static const LmtpHandler handler = {on_mail, on_recipient, on_content, on_message, NULL};

static void check_output(GString *output)
{
    for (size_t i = 0; i < output->len; i++) {
        if (output->str[i] == '\n')
            require(i > 0 && output->str[i - 1] == '\r');
        if (output->str[i] == '\r')
            require(output->str[i + 1] == '\n');
    }
    g_string_truncate(output, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    World world = {.mood = data[1]};
    size_t step = data[0] ? data[0] : size;
    LmtpLimits limits = {.recipients = 4, .message_size = 2000, .line_length = 256, .memory = 9000, .errors = 50};
    LmtpServer *server = lmtp_server_new("fuzz.example", &limits, &handler, &world);
    LmtpSession *session = lmtp_session_new(server, NULL);
    GString *rest = g_string_new(NULL);
    for (size_t at = 2; at < size; at += step) {
        g_string_append_len(rest, (const char *)data + at, (gssize)MIN(step, size - at));
        char *exact = g_memdup2(rest->str, rest->len);
        size_t used = lmtp_session_receive(session, exact, rest->len);
        g_free(exact);
        require(used <= rest->len);
        g_string_erase(rest, 0, (gssize)used);
        check_output(lmtp_session_output(session));
        if (world.held && at % 3 == 0)
            lmtp_session_answer(session, g_steal_pointer(&world.held));
        if (world.mood & 8 && at % 64 == 0)
            lmtp_session_stop(session);
    }
    lmtp_session_close(session);
    if (world.held)
        lmtp_session_answer(session, world.held);
    require(lmtp_server_memory(server) == 0);
    lmtp_session_free(session);
    lmtp_server_free(server);
    g_string_free(rest, TRUE);
    return 0;
}
