/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declarations that the resources of the REST interface share: the call, its parameters, the answer. One resource is
 * one file; at its end stands a table of {verb, path, function}, and routes.c knows all tables. README.md tells how a
 * call runs.
 *
 * A function answers its call exactly once, with one of the answer_ functions. All of it lives as long as the call.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/work.h"
#include "runners/http.h"
#include "runners/rest/scope.h"
#include "store/list.h"
#include "store/store.h"
#include "store/token.h"
#include "switchboard/meta.h"
#include "switchboard/spool.h"

#define REST_ARGS 4 /* braces in a path */

typedef struct Rest {
    const Config *config;
    const char *base_url; /* NULL: as the client's Host field says */
    WorkSite site;
    Store *store;         /* NULL while the database cannot be opened; rest_store() */
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
    HttpCall *http;
    const char *user;      /* who it is by, of the password file; NULL: of a token */
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

/* Return the store, opened anew where it was lost. Not for use in a call, which may hold the one that is freed. NULL:
 * error is set. */
Store *rest_open(Rest *rest, GError **error);
/* Return the store of the call, which stays the same until its end. NULL: 503 was answered. */
Store *rest_store(Call *call);
/* A unit of work, begun. NULL: 503 was answered. */
Work *rest_begin(Call *call);
/* Commit it. False: 503 was answered, and nothing was done. A unit that is not committed is undone when it is freed. */
bool rest_commit(Call *call, Work *work);
/* End a change: done, commit it and answer 204; else rest_fail() with *error. work may be NULL where the call was
 * answered. */
void rest_finish(Call *call, Work *work, bool done, GError **error);
/* The list that argument `index` names by List-Id or posting address. NULL: 404 was answered. */
List *rest_list(Call *call, unsigned index);
/* Answer a failure (taken): 404 for what is not there, 400 for what is wrong, 409 for what is there already, else 503,
 * and why goes to the log. Does nothing where error is NULL and the call was answered. */
void rest_fail(Call *call, GError *error);
/* Answer a failure with this status and text instead, where *error has that code, and clear it. What follows is
 * rest_fail(), which then does nothing. */
void rest_refuse(Call *call, GError **error, int code, int status, const char *format, ...) G_GNUC_PRINTF(5, 6);
/* As rest_fail(), but 404 also for a name that nothing can have. */
void rest_unknown(Call *call, GError *error);
/* Does the failure only say that something is not there, or cannot be? Takes error. False: it is another, and 503 was
 * answered. For what a parameter names, whose absence has an answer of its own. */
bool rest_missing(Call *call, GError *error);

/* ---- form.c ---- */

/* Reads query and body. False: 400 or 415 was answered. */
bool form_read(Call *call);
void form_clear(Form *form);
/* Is the verb PUT, which must send the whole? And form_expect() for a change: PUT all these names, PATCH some. */
bool call_puts(const Call *call);
bool form_expect_change(Call *call, const char *names);
/* Refuse what is neither in required nor in optional (names separated by blanks), or is missing of required, or is not
 * for the caller to set. False: 400 or 403 was answered. */
bool form_expect(Call *call, const char *required, const char *optional);
bool form_has(const Call *call, const char *name);
/* The last value; NULL exactly where form_has() is false. Borrowed. */
const char *form_text(const Call *call, const char *name);
/* All values, NULL at the end; g_strfreev(). One empty value is none. */
char **form_words(const Call *call, const char *name);
/* Yes or no as Python, JSON and people write it; empty in a GET: yes. Absent: *value stays. False: 400 was answered. */
bool form_bool(Call *call, const char *name, bool *value);
/* The same of one text; false: it is neither. */
bool form_truth(const char *text, bool *value);
bool form_integer(Call *call, const char *name, int64_t *value);
/* Absent, or without a value. */
bool form_is_empty(const Call *call, const char *name);
/* One of the choices, "hold, reject, discard"; *value is its place among them. Absent: *value stays. False: 400 was
 * answered. */
bool form_choice(Call *call, const char *name, const char *choices, int *value);
/* In the order of the values of Role, Action, DeliveryMode and DeliveryStatus. */
#define FORM_ROLES "member, owner, moderator, nonmember"
#define FORM_ACTIONS "hold, reject, discard, accept, defer"
#define FORM_MODES "regular, plaintext_digests, mime_digests, summary_digests"
#define FORM_STATUSES "enabled, by_user, by_bounces, by_moderator, unknown"
/* Answer 400: the value of this parameter is wrong, and why. Returns false. */
bool form_refuse(Call *call, const char *name, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Which part of a collection is wanted. */
typedef struct Paging {
    int64_t start;
    unsigned count;
} Paging;
/* From count and page. False: 400 was answered. */
bool form_paging(Call *call, Paging *paging);

/* One page of a collection, whose rows a function walks from the first to the last. */
typedef struct Page {
    Paging paging;
    int64_t total;    /* rows so far */
    json_t *entries;  /* objects of the page */
} Page;
/* Begin it: count and page may be sent, and those of required and optional. False: 400 or 403 was answered. */
bool page_begin(Call *call, const char *required, const char *optional, Page *page);
/* Count one more row. True: it is on the page, and its object is to be added. */
bool page_takes(Page *page);
/* Add the object of a row (taken; NULL: there was an error). */
void page_add(Page *page, json_t *object);
void page_clear(Page *page);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Page, page_clear)

/* ---- answer.c ---- */

/* Answer with the object (taken), which gets its http_etag; 304 where the client has it. */
void answer_json(Call *call, int status, json_t *object);
/* 200 with the object (taken) as answer_json(); NULL: rest_fail() with *error. */
void answer_found(Call *call, json_t *object, GError **error);
/* 201 with the Location of a path below root, or with a whole one. */
void answer_created(Call *call, const char *format, ...) G_GNUC_PRINTF(2, 3);
void answer_empty(Call *call, int status);
/* 200 with a text of this media type. */
void answer_text(Call *call, const char *type, const char *text);
/* The error of this status: title, and a description that says what is wrong. */
void answer_refusal(Call *call, int status, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* 400 with a title of its own. */
void answer_titled(Call *call, const char *title, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* A collection: entries (taken; an array of objects, which get their http_etag), their number without paging, and where
 * they begin. */
void answer_collection(Call *call, json_t *entries, int64_t total, int64_t start);
/* The page that was walked, with a self_link of this path (NULL: none). Where *error is set, or the call was answered:
 * rest_fail(). */
void answer_page(Call *call, const char *path, Page *page, GError **error);
/* The same, of a collection that may be too long to hold in memory: what does not fit into one part is sent part by
 * part as the client reads it, without a length and an ETag, and the connection is closed behind it. What comes and
 * goes meanwhile may be in a later part or not. Takes place. */
typedef struct LongCollection {
    unsigned part; /* entries */
    /* Append the next entries, at most `most`, and move place behind them; fewer: there are no more. call is the
     * request's for the first part; later it has rest, old, root, route and by alone. */
    bool (*read)(const Call *call, Store *store, void *place, unsigned most, json_t *entries, GError **error);
    GDestroyNotify free; /* of place */
} LongCollection;
void answer_long(Call *call, const LongCollection *kind, void *place, int64_t total, const Paging *paging);

/* Text that is a value; not NULL. What is no UTF-8 becomes so. */
json_t *json_words(const char *text);
/* An array of texts. */
json_t *json_texts(const GPtrArray *texts);
/* An address in lower case, which clients compare with others. */
json_t *json_email(const char *address);
/* "2026-11-22T18:20:00.123456" */
json_t *json_time(int64_t time);
/* A link to a path below root; each {} of it is an encoded segment. */
json_t *json_link(const Call *call, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The text with all that a segment of a path cannot hold encoded; g_free(). */
char *segment(const char *text);
/* An id as this version writes it; g_free(). And back: false when it is none. */
char *id_text(const Call *call, const char *id);
bool id_parse(const Call *call, const char *text, char id[STORE_ID_SIZE]);

/* ---- routes.c ---- */

extern const RestRoute *const rest_tables[]; /* NULL at the end; each table ends with a route without verb */
/* Find the function for verb and path (segments encoded, below the version) and fill call->args. NULL: there is none;
 * *allow is then NULL for an unknown path, else the verbs it has ("GET, PATCH"; g_free()). */
const RestRoute *rest_route(Call *call, const char *verb, const char *path, char **allow);
