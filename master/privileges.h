/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Give up root: a master that was started as root becomes [site] user. A master that is not root stays who it is.
 */
#include <glib.h>
#include <stdbool.h>

typedef struct Account {
    char *name, *home;
    unsigned uid, gid;
} Account;

void account_free(Account *account);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Account, account_free)

/* Look up the account that the master is to become; account_free(). NULL without error: we are not root, or user is
 * NULL, and nothing changes. NULL with FAIL_CONFIG: the user does not exist. */
Account *privileges_account(const char *user, GError **error);

/* Make a directory, and those above it, and as root give it, but not those, to the account; a directory that is there
 * stays as it is. account may be NULL. */
bool privileges_make_directory(const char *path, const Account *account, GError **error);

/* Act as the account until privileges_resume(): for what lies where the account may write, so that nothing planted
 * there makes root touch more than the account itself could. account may be NULL. */
bool privileges_assume(const Account *account, GError **error);
/* Be root again, after privileges_assume() with the same account. */
bool privileges_resume(const Account *account, GError **error);

/* Become the account: groups, group, user, in this order; checked by trying to come back. HOME becomes its directory:
 * libraries look for files there, and fail where root's may not be entered. Then, with or without an
 * account, nothing that this process starts has privileges or can gain any. */
bool privileges_drop(const Account *account, GError **error);

/* Keep us and the children from writing core files, which would hold keys, passwords and mail. */
void privileges_forbid_core(void);

/* Raise the soft limit of open files to the hard one, for us and the children. */
void privileges_raise_files(void);
