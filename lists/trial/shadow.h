/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Compare Listrunner with the list server that is live, on copies of its mail (doc/shadow.md). The MTA copies to the
 * shadow all mail that goes to the live server and comes from it. When the live server has had its time to send a post
 * to members, the post is reported. A line of JSON then says where Listrunner would have done something else. Nothing
 * is delivered, and the store of the site is only read.
 *
 *   shadow = shadow_open(&site, &error);
 *   shadow_take(shadow, &mail, &error);          for each mail of the MTA
 *   shadow_report_due(shadow, &more, &error);    every second, and at once while there is more
 *
 * Times are microseconds. One thread.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "lists/trial/shadow_mail.h"
#include "mail/auth/names.h"

typedef struct Shadow Shadow;

/* The things that a shadow works with. All is borrowed until shadow_free(). */
typedef struct ShadowSite {
    const Config *config;
    const Names *names;  /* the DNS, as Trial.names */
    const char *state;   /* directory, shadow_state.h */
    int report;          /* open file, for reading and writing */
    int64_t patience;    /* time from the first mail about a post until it is reported */
    char *const *ignore; /* fields that are not compared; may be NULL */
} ShadowSite;

/* Open a shadow with the posts that the directory keeps from earlier runs. FAIL_EXISTS: another process uses it. */
Shadow *shadow_open(const ShadowSite *site, GError **error);
void shadow_free(Shadow *shadow);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Shadow, shadow_free)

/* Take a mail that the MTA copied. True: the directory has all that is needed of it, so the MTA may be told that it was
 * taken. A mail that concerns no post is dropped, and so is one for which there is no room; the log says that once.
 * False: it was not taken; the MTA is to try again. mail->delimiter is filled in. */
bool shadow_take(Shadow *shadow, ShadowMail *mail, GError **error);

/* Report the post that waits longest, if its time is over. *more: there may be another. */
bool shadow_report_due(Shadow *shadow, bool *more, GError **error);
