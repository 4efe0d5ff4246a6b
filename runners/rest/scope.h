/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Judge whether a caller may call a route, and see or set a field. The rights stand in the rows of the tables at the
 * end of each resource (RestRoute, RestField); only the functions here read them. lists/authority.h explains the
 * rights.
 */
#include <jansson.h>
#include <stdbool.h>

#include "lists/authority.h"
#include "store/event_row.h"
#include "store/people/token.h"
#include "store/store.h"

typedef struct Call Call; /* rest.h */
typedef void RestFunction(Call *call);

/* The object that a route is about, and where the call names it. */
typedef enum RestObject {
    OF_SITE = 1,   /* the site, and whatever belongs to no list or domain, such as people */
    OF_HOST,       /* the program, its configuration, and the spool; it works without the database */
    OF_DOMAIN,     /* the domain of the first argument */
    OF_LIST,       /* the list of the first argument */
    OF_MEMBER,     /* the list of the member whose id is the first argument */
    OF_NAMED_LIST, /* the list of the parameter list_id */
    OF_NEW_LIST,   /* the domain of the parameter fqdn_listname: the list is not there yet */
} RestObject;

/* A field of an answer, or a parameter. "*": all that have no row of their own. */
typedef struct RestField {
    const char *name;
    unsigned read, write; /* rights (lists/authority.h). A parameter of GET that selects by the field needs `read` */
} RestField;

/* A path is segments separated by "/"; "{name}" stands for any segment, "{name*}" at the end for all that is left. */
typedef struct RestRoute {
    const char *verb, *path;
    RestObject of;
    unsigned who;            /* the right to call it */
    const RestField *fields; /* of the objects that it shows or changes; ended by one without name; NULL: none */
    RestFunction *function;
    const char *about; /* a sentence for the description of the interface; NULL: as Mailman's */
} RestRoute;

/* May the token send requests with this verb (also HEAD where it may GET)? */
bool token_has_verb(const Token *token, const char *verb);

/* Judge whether the caller may call the route; set route and by of the call. False: 403 or 503 was answered. */
bool scope_allows(Call *call, const RestRoute *route);
/* Return the row of a field among those of the route. NULL: there is none. */
const RestField *scope_field(const Call *call, const char *name);
/* Remove from the object the fields that the caller may not see, and log fields without a row. */
void scope_show(const Call *call, json_t *object);
/* May the caller set (with GET: choose by) the parameter? False: 403 was answered. */
bool scope_takes(Call *call, const char *name);
/* Set *covers: is the list in the scope of the token? A list that was removed is, if the token names it. False: the
 * store failed, as for token_sees(). */
bool token_covers(const Token *token, Store *store, const char *list_id, bool *covers, GError **error);
/* Set *sees: may the token read the event? It may when the event's list is in the token's scope, or was in a domain of
 * that scope. A list or domain of the same name that was made since does not count. A token for the site reads all. */
bool token_sees(const Token *token, Store *store, const EventRow *event, bool *sees, GError **error);
