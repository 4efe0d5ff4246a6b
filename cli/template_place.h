/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The list, the domain or the site whose texts of letters a verb is about. */
#include <glib.h>
#include <stdbool.h>

#include "store/list.h"
#include "store/store.h"

/* The values of the options --list and --domain. */
typedef struct TemplatePlaceOptions {
    char *list, *domain;
} TemplatePlaceOptions;

typedef struct TemplatePlace {
    char *key;   /* the place as TemplateText.place has it (store/template_text.h) */
    List *found; /* the list; NULL: it is none */
    List list;   /* the list, or what any list of the domain or of the site has in common; borrowed strings */
} TemplatePlace;

void template_place_clear(TemplatePlace *place);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TemplatePlace, template_place_clear)

/* Fill *place by the options: the list, the domain, or with neither the site. FAIL_MISSING: there is no such list or
 * domain. Both options together are a usage error. */
bool template_place_read(TemplatePlace *place, const TemplatePlaceOptions *options, Store *store, GError **error);

/* All texts that were set for the place and for those above it, of TemplateText: the list's, the domain's, the
 * site's. */
GPtrArray *template_place_rows(const TemplatePlace *place, Store *store, GError **error);
