/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Sends each mail of public lists to a service that archives what it gets by mail, such as www.mail-archive.com. */
#include "runners/archive/archiver.h"

static void *mail_archive_open(Runner *runner, const char *section, GError **error)
{
    const char *address = archiver_setting(runner, section, "address", error);
    return address ? g_strdup(address) : NULL;
}

static const char *mail_archive_recipient(void *archiver)
{
    return archiver;
}

const ArchiverType archiver_mail_archive = {
    .name = "mail-archive",
    .open = mail_archive_open,
    .recipient = mail_archive_recipient,
    .close = g_free,
};
