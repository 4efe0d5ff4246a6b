/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Shared by the files that read Sympa. */
#include "lists/moving/sympa.h"
#include "lists/moving/sympa_config.h"
#include "store/member.h"

struct Sympa {
    char *directory;
    int fd;                /* of it */
    Foreign *database;     /* or NULL */
    GPtrArray *lists;      /* of SympaList, sorted by address */
    GHashTable *addresses; /* of all these lists */
    Moving *moving;
};

typedef struct SympaList {
    Sympa *sympa;
    char *domain, *name, *address, *list_id;
    char *place;       /* its folder below the directory */
    GPtrArray *config; /* of sympa_config_read(), while the list is looked at */
    bool quiet;        /* what is wrong with the config was told */
} SympaList;

#define SYMPA_DUMP_MAX ((size_t)256 << 20) /* bytes of member.dump */

/* Read a file of the list's folder. *bytes is NULL where there is none, or what is wrong with it was told. */
bool sympa_read(const SympaList *list, const char *name, size_t most, GBytes **bytes, GError **error);
/* The same, as paragraphs, of which what is wrong with a line was told. */
bool sympa_read_config(const SympaList *list, const char *name, size_t most, GPtrArray **config, GError **error);

/* Make the settings (setting_list.h) of the config, and tell what has no equal. */
bool sympa_settings(const SympaList *list, GPtrArray *settings, GError **error);

/* Addresses of the list's owners (ROLE_OWNER) or editors (ROLE_MODERATOR), in order; g_ptr_array_unref(). NULL with
 * error. */
GPtrArray *sympa_staff(const SympaList *list, Role role, GError **error);

/* The list's users, owners, editors and members. */
bool sympa_people(const SympaList *list, GError **error);

/* The code of a language here: "pt-BR" is pt_BR, "en-US" is en. g_free() */
char *sympa_language(const char *lang);

/* Is it a database of Sympa's? */
bool sympa_check_database(Foreign *database, GError **error);

/* A scenario of who may post. */
typedef struct SympaSend {
    const char *name, *member, *nonmember;
    bool editors, owners; /* may post where the others may not */
    const char *differs;  /* NULL: it means the same here */
} SympaSend;
/* Of the list's config; its name is NULL where the scenario is not known. */
SympaSend sympa_send(const GPtrArray *config);
