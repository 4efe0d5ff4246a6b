/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Remember which address got an automatic answer of a list, of which kind and when. So no address gets the same kind
 * again before a grace period has passed. Times are microseconds since 1970. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct Autoresponse {
    const char *list_id;
    const char *kind;    /* "owner", "postings", "requests" */
    const char *address; /* UTF-8, any case */
    const char *entry;   /* the mail that is answered, as its effect is recorded ("in:4cd1...") */
    int64_t now, grace;  /* us; grace 0: each mail is answered */
} Autoresponse;

/* Set *due: is the address to get the answer now, since it got none within grace? If *due, the store records that it
 * gets the answer at now, so the caller must send it. The same entry is due each time, because it is worked again only
 * after a crash that lost its answer. FAIL_MISSING: there is no such list. */
bool autoresponse_record(Store *store, const Autoresponse *response, bool *due, GError **error);

/* Remove the record, so that the next answer is due. */
bool autoresponse_forget(Store *store, const char *list_id, const char *kind, const char *address, GError **error);

/* Remove the records of answers before the time `before`; *removed (may be NULL) is how many. */
bool autoresponse_expire(Store *store, int64_t before, int64_t *removed, GError **error);
