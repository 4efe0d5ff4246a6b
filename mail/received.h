/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the Received field that an MTA writes (RFC 5321 section 4.4). The name that the client gave itself stands in the
 * field, too, and must not be mistaken for what the MTA saw:
 *
 *     from liar.example (client.example.org [192.0.2.1]) by mx.example.com ...    Postfix, Sendmail
 *     from client.example.org ([192.0.2.1]:4711 helo=liar.example) by ...         Exim
 *     from [192.0.2.1] (helo=liar.example) by ...                                 Exim, a client without a name
 */

/* Return the IP address of the client, as the MTA saw it, from the value of a Received field; g_free(). NULL: the field
 * does not say it, or it is a loopback address. */
char *received_client(const char *value);
