/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Say from which web servers texts of letters may come. A person who may set a text for one list must not read in a
 * letter what only this host can fetch. So the site names the servers ([site] template_hosts). Texts of the site itself
 * come from anywhere.
 */
#include <glib.h>
#include <stdbool.h>

/* Has the word a form that template_hosts may have: HOST, HOST:PORT, [IPv6], [IPv6]:PORT or "*"? */
bool template_host_valid(const char *word);

/* Check that a text of the place (store/lists/template_text.h) may be fetched from the URI, which begins with http.
 * hosts has the words of the setting; NULL: none. Set *public_only when only "*" allows the host: the caller then
 * fetches only from a public address. FAIL_NEVER: the text may not come from there; the message says why. */
bool template_host_allows(const char *const *hosts, const char *place, const char *uri, bool *public_only,
                          GError **error);
