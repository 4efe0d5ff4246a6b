/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This finds who is signed in: by the cookie of a session, or by a field that a proxy of the site sets. */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "runners/web/form_mark.h"
#include "runners/web/web.h"

/* With https the cookie is for this host and its pages alone (RFC 6265bis, 4.1.3.2). */
static const char *cookie_name(const Web *web)
{
    return g_str_has_prefix(web->url, "https:") ? "__Host-listrunner" : "listrunner";
}

/* The token of the session that the browser brings; NULL: none. g_free() */
static char *find_token(const WebCall *call)
{
    const char *field = http_header(call->http, "Cookie"), *name = cookie_name(call->web);
    g_auto(GStrv) cookies = g_strsplit(field ? field : "", ";", -1);
    for (char **cookie = cookies; *cookie; cookie++) {
        const char *text = g_strstrip(*cookie);
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && text[length] == '=' && text[length + 1])
            return g_strdup(text + length + 1);
    }
    return NULL;
}

/* The address that the proxy vouches for; NULL: none. Of two fields one may have come from the client, by a proxy that
 * does not take it away, and nobody knows which: then it vouches for nobody. */
static const char *vouched_address(const WebCall *call)
{
    const char *field = config_string(call->web->config, "web", "user_header");
    const char *address = field && web_through_proxy(call) ? http_header(call->http, field) : NULL;
    return address && *address && http_header_last(call->http, field) == address ? address : NULL;
}

static SignedIn *find_person(WebCall *call, GError **error)
{
    const char *vouched = vouched_address(call);
    g_autofree char *token = vouched ? NULL : find_token(call);
    if (vouched)
        return sign_in_vouched(call->web->store, vouched, error);
    if (token)
        return sign_in_person(call->web->store, token, clock_now(), error);
    fail(error, FAIL_MISSING, "nobody is signed in");
    return NULL;
}

bool web_person(WebCall *call, const SignedIn **person)
{
    GError *error = NULL;
    if (!call->person_known) {
        if (!vouched_address(call) && !http_header(call->http, "Cookie")) {
            call->person_known = true;
        } else {
            if (!web_store(call))
                return false;
            call->person = find_person(call, &error);
            if (!call->person && !g_error_matches(error, FAIL, FAIL_MISSING) &&
                !g_error_matches(error, FAIL, FAIL_NEVER)) {
                web_fail(call, error);
                return false;
            }
            g_clear_error(&error);
            call->person_known = true;
        }
    }
    *person = call->person;
    return true;
}

void web_set_session(WebCall *call, const char *token)
{
    bool secure = g_str_has_prefix(call->web->url, "https:");
    g_autofree char *cookie = g_strdup_printf("%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s",
                                              cookie_name(call->web), token ? token : "",
                                              token ? (int)(SESSION_LIFE / CLOCK_SECOND) : 0, secure ? "; Secure" : "");
    http_set_header(call->http, "Set-Cookie", cookie);
}

/* A form belongs to the session in which it was read. */
static char *mark_about(const SignedIn *person)
{
    return g_strdup_printf("signed in %" G_GINT64_FORMAT " %s", person->session, person->address);
}

char *web_my_mark(WebCall *call, const SignedIn *person)
{
    g_autofree char *about = mark_about(person);
    return form_mark_make(call->web->form_keys, about, clock_now());
}

bool web_my_mark_good(WebCall *call, const SignedIn *person)
{
    g_autofree char *about = mark_about(person);
    return form_mark_good(call->web->form_keys, about, web_field(call, "mark"), clock_now());
}
