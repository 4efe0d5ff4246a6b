/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Take forms of pages whose sender has proved nothing (join.h, sign_in.h). Neither the answer of the page nor how
 * long it takes may tell what is known of the address. So the page does the same for each address: it leaves an entry
 * for the queue command. The runner of that queue does the rest at a random time. If it did so at once, its
 * transaction would last longer where a letter goes, and a second form would wait for it, and so tell.
 */
#include <jansson.h>

#include "lists/work.h"

typedef struct PageForm {
    const char *to;      /* TO_JOIN, TO_SIGN_IN (lists/keys.h) */
    const char *list_id; /* NULL: it is about no list */
    const char *address;
    const char *name; /* NULL: none was given */
} PageForm;

/* On the page: gather the entry for the queue command. It is due at a random time within three seconds. */
void page_form_leave(Work *work, const PageForm *form);

/* In the runner: is the entry with this metadata a form of this kind (TO_JOIN or TO_SIGN_IN)? */
bool page_form_is(const json_t *meta, const char *to);
/* Read the form back from the entry's metadata, from which all strings are borrowed. address is "" where there is none.
 * */
PageForm page_form_read(const json_t *meta);
/* In the runner: return a new unit of work whose actor is the unknown sender of the form; work_free(). Its strings are
 * borrowed from meta. NULL with FAIL_NEVER: the form has no address. */
Work *page_form_unit(Store *store, const WorkSite *site, const json_t *meta, GError **error);
