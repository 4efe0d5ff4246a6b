/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Share types and functions among the files that read lists of Sympa (sympa.h). Problems are reported to moving. */
#include "lists/moving/sympa.h"
#include "lists/moving/sympa_config.h"
#include "store/people/member.h"

struct Sympa {
    char *directory;
    int fd;                /* of it */
    Foreign *database;     /* or NULL */
    GPtrArray *lists;      /* of SympaList, sorted by address */
    GHashTable *addresses; /* of all these lists, as mailbox_key() makes them: a set */
    Moving *moving;
};

typedef struct SympaList {
    Sympa *sympa;
    char *domain, *name, *address, *list_id;
    char *place;       /* its folder below the directory */
    GPtrArray *config; /* of sympa_config_read(), while the list is looked at */
    bool quiet;        /* what is wrong with the config was reported, so do not report it again */
} SympaList;

#define SYMPA_DUMP_MAX ((size_t)256 << 20) /* bytes of member.dump */

/* Read a file of at most `most` bytes from the list's folder into *bytes; g_bytes_unref(). Where there is no such file,
 * set *bytes to NULL and return true. Where it cannot be opened, is too large or no plain file, do the same and report
 * it. False: the reading failed (FAIL_LATER). */
bool sympa_read(const SympaList *list, const char *name, size_t most, GBytes **bytes, GError **error);
/* Read such a file as paragraphs of sympa_config.h. A line that is wrong is reported and left out. *config is NULL,
 * with true, where sympa_read() gives no bytes. */
bool sympa_read_config(const SympaList *list, const char *name, size_t most, GPtrArray **config, GError **error);

/* Make settings (moving.h) of the list's config, and report parameters that have no equal. */
bool sympa_settings(const SympaList *list, GPtrArray *settings, GError **error);

/* Return the addresses of the list's owners (ROLE_OWNER) or editors (ROLE_MODERATOR), in order; g_ptr_array_unref().
 * NULL: they cannot be read. */
GPtrArray *sympa_staff(const SympaList *list, Role role, GError **error);

/* Return Listrunner's code of a language: "pt-BR" is pt_BR, "en-US" is en. g_free() */
char *sympa_language(const char *lang);

/* A scenario of Sympa (its parameter send): who may post to a list. All texts are constants. */
typedef struct SympaSend {
    const char *name;
    const char *member, *nonmember; /* values of default_member_action and default_nonmember_action */
    bool editors, owners;           /* may post where the others may not */
    const char *differs; /* what is not here as in Sympa, in words for the report; NULL: it means the same here */
} SympaSend;
/* Return the scenario of a list's config. Of one that is not known the name is NULL, and every post is held. */
SympaSend sympa_send(const GPtrArray *config);
