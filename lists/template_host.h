/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Say which web servers texts of letters may come from. A person who may set a text for one list must not make this
 * host fetch what only this host can reach: the answer would stand in a letter. So the site names the servers ([site]
 * template_hosts); texts of the site itself come from anywhere.
 */
#include <glib.h>
#include <stdbool.h>

/* Is the word one of template_hosts: HOST, HOST:PORT, [IPv6], [IPv6]:PORT or *? */
bool template_host_valid(const char *word);

/* May a text of the place (store/template_text.h) be fetched from the URI, which begins with http? hosts: those of the
 * setting, NULL: none. *public_only: only if the host has a public address, for it was not named. FAIL_NEVER: no; the
 * message says why. */
bool template_host_allows(const char *const *hosts, const char *place, const char *uri, bool *public_only,
                          GError **error);
