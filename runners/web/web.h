/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the pages share: the call, its form, the answer. A page, or a few that belong together, is one file,
 * with a table of {verb, path, function} at its end; web.c knows all tables.
 *
 * A function answers its call exactly once, with web_page() or one of those that call it. A GET changes nothing, since
 * programs that look through mail follow the links in it; a button is a form with POST.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "lists/hosts/seat.h"
#include "lists/people/subscription.h"
#include "lists/people/sign_in.h"
#include "lists/work.h"
#include "mail/text/readable.h"
#include "runners/server/http.h"
#include "runners/web/theme.h"
#include "store/people/departure.h"
#include "store/store.h"
#include "switchboard/spool.h"

struct WebArchive;

#define WEB_ARGS 4 /* braces in a path */

typedef struct Web {
    const Config *config;
    char *url;        /* [site] web_url without a slash at its end */
    const char *base; /* the path in it: "" or "/lists" */
    WorkSite site;
    Seat seat; /* it comes back; its keys are those of site and form_keys */
    Spool *spool;
    Theme *theme;
    struct FormKeys *form_keys; /* runners/web/form_mark.h */
    struct WebArchive *archive; /* runners/web/archive.h; NULL: the site has none */
    unsigned streams;           /* mboxes on their way */
    GPtrArray *trials;          /* runners/web/desk_try.h; NULL: none yet */
    unsigned viewers;           /* open streams of events to operators' pages */
    Http *http;
    unsigned form_edition; /* of the seat's keys, from which form_keys were made */
} Web;

typedef struct WebCall {
    Web *web;
    Store *store; /* of the seat, until the end of the call; NULL for routes that work without it */
    HttpCall *http;
    const char *language; /* of the page */
    char *args[WEB_ARGS]; /* parts of the path that stand in the place of braces, decoded; UTF-8 */
    GHashTable *form;     /* name -> value; NULL: not read yet */
    char *client;         /* IP address of the client, by a proxy of the site if it came through one; NULL: not known */
    bool shared; /* the page is the same for all strangers: it has an ETag, and proxies may keep it for a minute */
    bool script; /* scripts of the site itself may run on the page */
    SignedIn *person;  /* who is signed in; NULL: nobody, or not looked at yet */
    bool person_known; /* web_person() has looked who is signed in */
    bool answered;
    bool changed; /* web_commit() has written something */
    bool unknown; /* a commit failed, and nobody knows whether the change was made */
} WebCall;

/* A path with the function that answers it. In the path, such as "/confirm/{}", each {} is one segment. */
typedef struct WebRoute {
    const char *verb, *path; /* verb NULL: the end of a table; GET is also asked for HEAD */
    void (*function)(WebCall *call);
} WebRoute;

/* On this path a POST is taken from anywhere (RFC 8058); on others only from pages of the site itself. */
#define WEB_ONE_CLICK "/u/{}"

extern const HttpSpec web_spec;

/* ---- what a page works with; where one of these fails, it has answered the call (web_fail()) ---- */

/* Set call->store, with the keys that are in the database now. web.c calls it before the function of a route, and
 * old_pages_answer() where there is no route. false: the database is away. */
bool web_take_seat(WebCall *call);
/* Make a unit of work for reading, in the name of a visitor who has proved nothing so far. It has no transaction, and
 * is never NULL. */
Work *web_look(WebCall *call);
/* Make a unit of work as web_look() does, for changing something, and begin its transaction. End it with web_commit(),
 * or free it to undo it. NULL: it cannot be begun. */
Work *web_begin(WebCall *call);
/* Do the same with work_begin_people(). */
Work *web_begin_people(WebCall *call, const char *list_id);
/* Commit a unit of work. The caller still frees it. false: nothing was written. */
bool web_commit(WebCall *call, Work *work);
/* Return the value of a field of the form that was sent as the body; "" where there is none; borrowed from the call. */
const char *web_field(WebCall *call, const char *name);
bool web_has_field(WebCall *call, const char *name);
/* Return the value of a field of the query; NULL where there is none; g_free(). */
char *web_query(const WebCall *call, const char *name);

/* ---- who is signed in ---- */

/* Find who is signed in: *person is borrowed from the call, and NULL for a stranger. false: the call was answered. */
bool web_person(WebCall *call, const SignedIn **person);
/* Have the answer give the browser the token of a session as a cookie; NULL: have it take the cookie away. */
void web_set_session(WebCall *call, const char *token);
/* Return the mark that each form of this session carries in its field "mark" (form_mark.h); g_free(). */
char *web_my_mark(WebCall *call, const SignedIn *person);
/* Does the form that was sent carry the mark of this session? */
bool web_my_mark_good(WebCall *call, const SignedIn *person);

/* ---- answers ---- */

/* Answer with the template NAME filled with view (taken), to which "language", "base" (before each path) and
 * "site_owner" are added. */
void web_page(WebCall *call, int status, const char *name, json_t *view);
/* Answer as web_page() does, with this media type in place of that of HTML. */
void web_page_as(WebCall *call, int status, const char *type, const char *name, json_t *view);
/* Set in the view (not taken) what each page has, and append the template NAME filled with it to page. For a function
 * that sends its answer in parts. */
bool web_fill(const WebCall *call, const char *name, json_t *view, GString *page, GError **error);
/* Set the header fields that each answer has. For a function that answers without a template. */
void web_set_headers(WebCall *call);
/* Answer with content that is the same for all strangers, or 304 where the client has it already. tag is the ETag, in
 * quotation marks. Call web_set_headers() before. */
void web_shared(WebCall *call, const char *type, const char *tag, GBytes *content);
/* Look whether there is memory for content that may be large (http_answer_bytes()). Ask before any header field of the
 * answer is set. false: the call was answered with 503. */
bool web_has_room(WebCall *call, GBytes *content);
/* Send the browser to another page of ours, by 303. */
void web_see_other(WebCall *call, const char *path);
/* Say that what is asked for is always at this path of ours, by 301; the query goes with it. */
void web_moved(WebCall *call, const char *path);
/* Answer as web_moved() does, with the whole web_url before the path and without the query: for a page whose old
 * address may have been on another host. */
void web_moved_host(WebCall *call, const char *path);
/* Send the browser to the same path and query below the web_url of another host, by 302. false: it is that of this
 * host, too, and nothing was answered. */
bool web_other_host(WebCall *call, const char *url);
/* Answer with the template "notice", whose section of the name `what` says what happened. view (taken) may be NULL. */
void web_notice(WebCall *call, int status, const char *what, json_t *view);
/* Answer as web_notice() does, about a list, whose posting address becomes "list" of the view. list_id NULL: about no
 * list. */
void web_notice_of(WebCall *call, int status, const char *what, json_t *view, const char *list_id);
/* Write the error (taken) into the log, and answer 503. If web_commit() has written something, answer 200 instead,
 * with a notice that it was done. A call that was answered already gets no further answer. */
void web_fail(WebCall *call, GError *error);
/* Answer 404: there is no such page. An error (taken; NULL: none) other than FAIL_MISSING and FAIL_NEVER goes to
 * web_fail() instead. */
void web_missing(WebCall *call, GError *error);

/* Set a time (us since 1970) as NAME, "2026-11-28 06:40", and as NAME_iso, "2026-11-28T06:40:00Z", for the element
 * time. The page says that they are UTC. */
void web_set_time(json_t *view, const char *name, int64_t time);

/* Return the text in the language of the page, borrowed. */
const char *web_say(const WebCall *call, const char *text);
/* Return the day of a time (us), as "2026-12-20"; g_free(). */
char *web_day(int64_t time);

#define WEB_UNDO_DAYS ((int)(DEPARTURE_KEPT / (86400 * CLOCK_SECOND)))

/* Answer with a file of a mail (mail/text/readable.h), to be saved and not to be shown; NULL: 404. masked: as strangers
 * may have it (mail_html.h). */
void web_attachment(WebCall *call, const ReadableFile *file, bool masked);

/* Answer a call whose path is that of a page of an older archive, or of a list in another system, which was moved here
 * (old_archives, old_hyperkitty and old_pages of [web]). path is that of the call, with or without the path of web_url.
 * false: the path is no such page, and nothing was answered. */
bool old_pages_answer(WebCall *call, const char *path);

/* ---- tables of routes, each of one file, that web.c knows ---- */

extern const WebRoute web_files[]; /* they work without the database */
extern const WebRoute web_lists[], web_waiting[], web_archive[], web_archive_search[], web_my[];
extern const WebRoute web_desk[], web_desk_settings[], web_desk_log[], web_desk_site[], web_desk_members[],
    web_desk_rules[], web_desk_templates[];
