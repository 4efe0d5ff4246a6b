/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the resources of the REST interface share: the call (README.md), its parameters, the answer. One
 * resource is one file; at its end stands a table of {verb, path, function}, and routes.c knows all tables.
 *
 * A function answers its call exactly once, with one of the answer_ functions. All of it lives as long as the call.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/hosts/seat.h"
#include "lists/work.h"
#include "runners/rest/scope.h"
#include "runners/server/http.h"
#include "store/lists/list.h"
#include "store/people/token.h"
#include "store/store.h"
#include "switchboard/meta.h"
#include "switchboard/spool.h"

#define REST_ARGS 4 /* braces in a path */

typedef struct Rest {
    const Config *config;
    const char *base_url; /* NULL: as the client's Host field says */
    WorkSite site;
    Seat seat;            /* it comes back */
    Spool *spool;
    Http *http;
    struct EventReaders *readers; /* events.c; NULL: nobody reads events */
} Rest;

/* The parameters of a call: those of the query and those of the body, which win. A name may have several values. */
typedef struct Form {
    GPtrArray *names; /* in the order in which they came */
    GHashTable *values; /* name -> GPtrArray of strings */
    unsigned count;     /* of all values */
} Form;

struct Call {
    Rest *rest;
    Store *store; /* of the seat, until the end of the call; NULL for routes that are OF_HOST */
    HttpCall *http;
    const char *user;      /* the caller's name in the password file; NULL: the caller has a token */
    Token *token;          /* NULL: a user of the password file */
    bool old;              /* version 3.0, in which ids are decimal numbers */
    char *root;            /* "http://localhost:8001/3.1/" */
    char *path;            /* below root, decoded as a whole for messages */
    char *args[REST_ARGS]; /* what stands in place of the braces, decoded */
    Form form;
    const RestRoute *route;
    Authority by; /* in which relation the caller stands to what the route is about; 0: not known yet */
    bool answered;
};

/* ---- rest.c: who does the work ---- */

extern const HttpSpec rest_spec;

/* Make a unit of work in the caller's name, and begin it, or work_begin_people(). NULL: 503 was answered. */
Work *rest_begin(Call *call);
Work *rest_begin_people(Call *call, const char *list_id);
/* Commit a unit of work; if it is freed without, it is undone. False: 503 was answered. */
bool rest_commit(Call *call, Work *work);
/* End a change: when done is true, commit it and answer 204; else rest_fail() with *error (taken). work may be NULL
 * where done is false. */
void rest_finish(Call *call, Work *work, bool done, GError **error);
/* Find the list that the first argument names, by List-Id or posting address. NULL: 404 or 503 was answered. */
List *rest_list(Call *call);
/* Answer a failure (taken): 404 for what is not there, 400 for what is wrong, 409 for what is there already, else 503,
 * and why goes to the log. Does nothing where error is NULL and the call was answered. */
void rest_fail(Call *call, GError *error);
/* If *error has this code, clear it, and answer with this status and text. Call rest_fail() with *error after it in any
 * case: where *error was cleared, rest_fail() does nothing. */
void rest_refuse(Call *call, GError **error, int code, int status, const char *format, ...) G_GNUC_PRINTF(5, 6);
/* Do as rest_fail(), but answer 404 also for FAIL_NEVER: a name that nothing can have. */
void rest_unknown(Call *call, GError *error);
/* Return true when error (taken) only says that something is not there, or cannot be: for what a parameter names, whose
 * absence has an answer of its own. False: it is another failure, and 503 was answered. */
bool rest_missing(Call *call, GError *error);

/* ---- form.c ---- */

/* Read the query and the body into call->form. False: 400 or 415 was answered. */
bool form_read(Call *call);
void form_clear(Form *form);
/* Return whether the verb is PUT; and call form_expect() so that a PUT must have all these names, a PATCH any. */
bool call_puts(const Call *call);
bool form_expect_change(Call *call, const char *names);
/* Refuse what is neither in required nor in optional (names separated by blanks), or is missing of required, or is not
 * for the caller to set. False: 400 or 403 was answered. */
bool form_expect(Call *call, const char *required, const char *optional);
bool form_has(const Call *call, const char *name);
/* Return the last value of a name, borrowed; NULL exactly where form_has() is false. */
const char *form_text(const Call *call, const char *name);
/* Return all values of a name that are not empty, NULL at the end; g_strfreev(). */
char **form_words(const Call *call, const char *name);
/* Read yes or no (form_truth()); empty in a GET: yes. Absent: *value stays. False: 400 was answered. */
bool form_bool(Call *call, const char *name, bool *value);
/* Read "true", "yes", "on", "1" or their opposites, of any case. False: the text is none of them. */
bool form_truth(const char *text, bool *value);
bool form_integer(Call *call, const char *name, int64_t *value);
/* Is the parameter absent, or empty? */
bool form_is_empty(const Call *call, const char *name);
/* Read one of the choices, "hold, reject, discard"; *value is its place among them, from 0. Absent: *value stays.
 * False: 400 was answered. */
bool form_choice(Call *call, const char *name, const char *choices, int *value);
/* Choices for form_choice(), in the order of the values of Role, Action, DeliveryMode and DeliveryStatus. */
#define FORM_ROLES "member, owner, moderator, nonmember"
#define FORM_ACTIONS ACTION_WORDS(", ")
#define FORM_MODES "regular, plaintext_digests, mime_digests, summary_digests"
#define FORM_STATUSES "enabled, by_user, by_bounces, by_moderator, unknown"
/* Answer 400: the value of this parameter is wrong, and why. Returns false. */
bool form_refuse(Call *call, const char *name, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The part of a collection that is wanted. */
typedef struct Paging {
    int64_t start;
    unsigned count;
} Paging;
/* Read the parameters count and page. False: 400 was answered. */
bool form_paging(Call *call, Paging *paging);

/* One page of a collection, whose rows a function walks from the first to the last. */
typedef struct Page {
    Paging paging;
    int64_t total;    /* rows so far */
    json_t *entries;  /* objects of the page */
} Page;
/* Begin a page: call form_expect() with count and page as further optional ones. False: 400 or 403 was answered. */
bool page_begin(Call *call, const char *required, const char *optional, Page *page);
/* Find the list of the path's first argument, and begin a page of what belongs to it. NULL: the call was answered. */
List *page_of_list(Call *call, Page *page);
/* Count one more row of the collection. True: the row is on the page, and its object is to be added. */
bool page_takes(Page *page);
/* Add the object of a row (taken). NULL is ignored, after an error that goes to answer_page(). */
void page_add(Page *page, json_t *object);
void page_clear(Page *page);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Page, page_clear)

/* ---- answer.c ---- */

/* Answer with the object (taken), which gets its http_etag; 304 where the client has it. */
void answer_json(Call *call, int status, json_t *object);
/* Answer 200 with the object (taken), as answer_json() does. object NULL: call rest_fail() with *error. */
void answer_found(Call *call, json_t *object, GError **error);
/* Answer 201 with a Location: this path below root. */
void answer_created(Call *call, const char *format, ...) G_GNUC_PRINTF(2, 3);
void answer_empty(Call *call, int status);
/* Answer 200 with a text of this media type. */
void answer_text(Call *call, const char *type, const char *text);
/* Answer with this error status, its usual title, and a description of what is wrong. */
void answer_refusal(Call *call, int status, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Answer 400 with this title, and a description of what is wrong. */
void answer_titled(Call *call, const char *title, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Answer with a collection: entries (taken; an array of objects, which get their http_etag), the number of all entries
 * without paging, and the place of the first one. */
void answer_collection(Call *call, json_t *entries, int64_t total, int64_t start);
/* Answer with all entries (taken) of a collection without pages. entries NULL: call rest_fail() with *error. */
void answer_whole(Call *call, json_t *entries, GError **error);
/* Answer with the page that was walked, with a self_link of this path (NULL: none). Where *error is set (taken), or the
 * call was answered, call rest_fail() instead. */
void answer_page(Call *call, const char *path, Page *page, GError **error);
/* Answer with a collection that may be too long to hold in memory: what does not fit into one part is sent part by part
 * as the client reads it, without a length and an ETag, and the connection is closed behind it. Entries that come and
 * go meanwhile may be in a later part or not. place is taken. */
typedef struct LongCollection {
    unsigned part; /* entries */
    /* Append the next entries, at most `most`, and move place behind them; fewer: there are no more. call is the
     * request's for the first part; later it has rest, store, old, root, route and by alone. */
    bool (*read)(const Call *call, void *place, unsigned most, json_t *entries, GError **error);
    GDestroyNotify free; /* of place */
} LongCollection;
void answer_long(Call *call, const LongCollection *kind, void *place, int64_t total, const Paging *paging);

/* Return text, which is not NULL, as a JSON value. Bytes that are no UTF-8 are replaced. */
json_t *json_words(const char *text);
json_t *json_texts(const GPtrArray *texts); /* an array */
/* Return an address in lower case, which clients compare with others. */
json_t *json_email(const char *address);
json_t *json_time(int64_t time); /* "2026-11-22T18:20:00.123456" */
json_t *json_time_or_null(int64_t time); /* null: 0 or less, which is no time */
/* Return a link to a path below root; each {} of it is an encoded segment. */
json_t *json_link(const Call *call, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Return the text with all that a segment of a path cannot hold encoded; g_free(). */
char *segment(const char *text);
/* Write an id as the call's version of the interface does, g_free(); and read it. False: the text is no id. */
char *id_text(const Call *call, const char *id);
bool id_parse(const Call *call, const char *text, char id[STORE_ID_SIZE]);

/* ---- routes.c ---- */

extern const RestRoute *const rest_tables[]; /* NULL at the end; each table ends with a route without verb */
/* Find the function for verb and path (segments encoded, below the version) and fill call->args. NULL: there is none;
 * *allow is then NULL for an unknown path, else the verbs it has ("GET, PATCH"; g_free()). */
const RestRoute *rest_route(Call *call, const char *verb, const char *path, char **allow);
