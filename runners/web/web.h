/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declarations that the pages share: the call, its form, the answer. A page, or a few that belong together, is one
 * file, with a table of {verb, path, function} at its end; web.c knows all tables.
 *
 * A function answers its call exactly once, with web_page() or one of those that call it. A GET changes nothing, since
 * programs that look through mail follow the links in it; a button is a form with POST.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "lists/subscription.h"
#include "lists/sign_in.h"
#include "lists/work.h"
#include "mail/readable.h"
#include "runners/http.h"
#include "runners/web/theme.h"
#include "store/departure.h"
#include "store/store.h"
#include "switchboard/spool.h"

struct WebArchive;

#define WEB_ARGS 4 /* braces in a path */

typedef struct Web {
    const Config *config;
    char *url;        /* [site] web_url without a slash at its end */
    const char *base; /* the path in it: "" or "/lists" */
    WorkSite site;
    Store *store; /* NULL while the database cannot be opened; web_store() */
    Spool *spool;
    Theme *theme;
    struct FormKeys *form_keys; /* runners/web/form_mark.h */
    struct WebArchive *archive; /* runners/web/archive.h; NULL: the site has none */
    unsigned streams;           /* mboxes on their way */
    GPtrArray *trials;          /* runners/web/desk_try.h; NULL: none yet */
    unsigned viewers;           /* who look at the operator's page */
    Http *http;
    int64_t keys_version; /* store_version() at which this and site.keys were read */
} Web;

typedef struct WebCall {
    Web *web;
    HttpCall *http;
    const char *language; /* of the page */
    char *args[WEB_ARGS]; /* what stands in the place of braces, decoded; UTF-8 */
    GHashTable *form;     /* name -> value; NULL: not read yet */
    char *client;         /* address of who asks; NULL: not known */
    bool shared; /* the page is the same for all strangers: it has an ETag, and proxies may keep it for a minute */
    bool script; /* scripts of the site itself may run on it */
    SignedIn *person;  /* who is signed in; NULL: nobody, or not looked at yet */
    bool person_known; /* it was looked at */
    bool answered;
    bool changed; /* web_commit() has written something */
} WebCall;

/* "/confirm/{}": each {} is one segment of the path. */
typedef struct WebRoute {
    const char *verb, *path; /* verb NULL: the end of a table; GET is also asked for HEAD */
    void (*function)(WebCall *call);
} WebRoute;

#define WEB_ONE_CLICK "/u/{}" /* POST is taken from anywhere (RFC 8058); all else from our own pages alone */

extern const HttpSpec web_spec;

/* ---- what a page works with; where one of these fails, the call was answered ---- */

/* NULL: the database is away. */
Store *web_store(WebCall *call);
/* Make a unit of work, by somebody who has proved nothing so far, for looking only: it takes no lock, and what it
 * counts (a guess) is written at once. NULL: the database is away. */
Work *web_look(WebCall *call);
/* The same for changing something: it is begun, and wants web_commit(). NULL: it cannot be begun. */
Work *web_begin(WebCall *call);
bool web_commit(WebCall *call, Work *work);
/* The value of a field of the form; "" where there is none; borrowed. */
const char *web_field(WebCall *call, const char *name);
bool web_has_field(WebCall *call, const char *name);
/* The value of a field of the query; NULL where there is none; g_free(). */
char *web_query(const WebCall *call, const char *name);

/* ---- who is signed in ---- */

/* *person (borrowed) is who is signed in; NULL: a stranger. false: the call was answered. */
bool web_person(WebCall *call, const SignedIn **person);
/* Give the browser the token of a session; NULL: take it away. */
void web_set_session(WebCall *call, const char *token);
/* The mark of forms of this session, g_free(); and whether the form that was sent has it (in its field "mark"). */
char *web_my_mark(WebCall *call, const SignedIn *person);
bool web_my_mark_good(WebCall *call, const SignedIn *person);
/* Did the request come through a proxy of the site? */
bool web_through_proxy(const WebCall *call);

/* ---- answers ---- */

/* Answer with the template NAME filled with view (taken), to which "language", "base" (before each path) and
 * "site_owner" are added. */
void web_page(WebCall *call, int status, const char *name, json_t *view);
/* The same with another type than that of HTML. */
void web_page_as(WebCall *call, int status, const char *type, const char *name, json_t *view);
/* Give the view what each page has, and append the template filled with it; for who answers in parts. */
bool web_fill(const WebCall *call, const char *name, json_t *view, GString *page, GError **error);
/* Set the fields that each answer has; for who answers without a template. */
void web_set_headers(WebCall *call);
/* Answer with content that strangers share: 304 where the client has it already. tag is in quotation marks. */
void web_shared(WebCall *call, const char *type, const char *tag, GBytes *content);
/* Look whether there is memory for content that may be large (http_answer_bytes()); ask before a field of the answer is
 * set. false: the call was answered. */
bool web_has_room(WebCall *call, GBytes *content);
/* Send the browser to another page of ours, by 303. */
void web_see_other(WebCall *call, const char *path);
/* Say that what is asked for is always at this path of ours, by 301; the query goes with it. */
void web_moved(WebCall *call, const char *path);
/* The same for a page that may have been another host's, whose query means nothing here. */
void web_moved_host(WebCall *call, const char *path);
/* Answer with the template "notice": its section of that name says what happened. view (taken) may be NULL. */
void web_notice(WebCall *call, int status, const char *what, json_t *view);
/* The same about a list, whose posting address is "list" of the view. */
void web_notice_of(WebCall *call, int status, const char *what, json_t *view, const char *list_id);
/* Tell the log why, and answer 503; where something was written already, that it was, with 200. error is taken. Where
 * the call was answered already, only tell the log. */
void web_fail(WebCall *call, GError *error);
/* The same for an error of FAIL_MISSING or FAIL_NEVER: there is no such page. */
void web_missing(WebCall *call, GError *error);

/* Set a time (us since 1970) as NAME, "2026-11-28 06:40", and as NAME_iso, "2026-11-28T06:40:00Z", for the element
 * time. The page says that they are UTC. */
void web_set_time(json_t *view, const char *name, int64_t time);

/* Return the view of a change that was made: "address", "told", and the days for which it can be undone. */
json_t *web_made_view(const Subscription *made);
#define WEB_UNDO_DAYS ((int)(DEPARTURE_KEPT / (86400 * CLOCK_SECOND)))

/* Answer with a file of a mail (mail/readable.h), to be saved and not to be shown; NULL: 404. */
void web_attachment(WebCall *call, const ReadableFile *file);

/* Answer the address of a page of an archive that was moved here (old_archives of [web]); path is that of the call,
 * with or without the path of web_url. false: it is none, and nothing was answered. */
bool old_pages_answer(WebCall *call, const char *path);

/* ---- tables, of web.c ---- */

extern const WebRoute web_lists[], web_confirm[], web_leave[], web_decide[], web_files[], web_archive[], web_my[],
    web_my_list[], web_my_all[], web_my_person[], web_my_forget[];
extern const WebRoute web_desk[], web_desk_waiting[], web_desk_settings[], web_desk_log[], web_desk_site[],
    web_desk_members[], web_desk_add[], web_desk_rules[], web_desk_scheduled[], web_desk_templates[],
    web_desk_bounces[], web_desk_sources[], web_desk_trace[];
