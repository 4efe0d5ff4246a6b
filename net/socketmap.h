/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Speak the server's side of the protocol by which Postfix looks addresses up (socketmap_table(5)), in memory. A client
 * sends a netstring with the name of a map and a key, and gets one back; it may send the next one at any time.
 *
 *   33:recipients talk@lists.example.com,    ->  25:OK talk.lists.example.com,
 *   35:recipients nobody@lists.example.com,  ->  9:NOTFOUND ,
 */
#include <glib.h>
#include <stddef.h>

#define SOCKETMAP_REQUEST_MAX 4096 /* bytes of a netstring's content; no address is longer */

typedef enum SocketmapStep {
    SOCKETMAP_MORE, /* it is not complete yet */
    SOCKETMAP_ONE,  /* a request was read */
    SOCKETMAP_BAD,  /* this client does not speak the protocol, or asks for something too long */
} SocketmapStep;

typedef struct SocketmapRequest {
    char *map, *key;
} SocketmapRequest;
void socketmap_request_clear(SocketmapRequest *request);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SocketmapRequest, socketmap_request_clear)

/* Read a request at the start of octets. With SOCKETMAP_ONE, *used bytes are consumed and *request is filled, which
 * the caller clears; otherwise both are left alone. */
SocketmapStep socketmap_read(const char *octets, size_t length, size_t *used, SocketmapRequest *request);

/* Append a reply to output: the value of the key; that it has none; or that it cannot be told now, so that Postfix
 * defers the mail. Control characters in a text become blanks. */
void socketmap_found(GString *output, const char *value);
void socketmap_not_found(GString *output);
void socketmap_later(GString *output, const char *why);
/* Append the reply to a request that is refused for good. */
void socketmap_refused(GString *output, const char *why);
