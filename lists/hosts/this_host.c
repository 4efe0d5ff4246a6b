/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/hosts/this_host.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/meta.h"

#define TEXT_MAX 4096 /* bytes of a file */

void this_host_clear(ThisHost *host)
{
    g_clear_pointer(&host->name, g_free);
}

bool this_host_is_one_of_many(const Config *config)
{
    return config_bool(config, "runner.host", "start");
}

static bool write_file(Spool *spool, const ThisHost *host, bool sync, GError **error)
{
    char boot[CLOCK_BOOT_ID_SIZE];
    if (!clock_boot_id(boot))
        return fail_errno(error, FAIL_LATER, "the system does not say when it was started");
    json_t *said = json_pack("{ss ss sI sI sI sb sI sI}", "name", host->name, "boot", boot, "epoch",
                             (json_int_t)host->epoch, "before", (json_int_t)host->before, "until",
                             (json_int_t)host->until, "draining", host->draining, "parts", (json_int_t)host->parts,
                             "share_until", (json_int_t)host->share_until);
    char *text = json_dumps(said, JSON_COMPACT);
    json_decref(said);
    const char *temporary = THIS_HOST_FILE ".new"; /* nobody but this runner writes it, and of that there is one */
    fs_unlink(spool_fd(spool), temporary, NULL);
    auto_fd fd = fs_create(spool_fd(spool), temporary, error);
    bool done = fd >= 0 && fs_write(fd, text, strlen(text), error) && (!sync || fs_sync_file(fd, error)) &&
                fs_rename(spool_fd(spool), temporary, THIS_HOST_FILE, error) &&
                (!sync || fs_sync_dir(spool_fd(spool), error));
    free(text);
    return done;
}

bool this_host_write(Spool *spool, const ThisHost *host, GError **error)
{
    return write_file(spool, host, false, error);
}

/* The text of a small file of the spool; g_free(); NULL with the error. */
static char *read_file(int spool_fd, const char *name, GError **error)
{
    auto_fd fd = fs_open(spool_fd, name, false, error);
    if (fd < 0)
        return NULL;
    g_autofree char *text = g_malloc0(TEXT_MAX + 1);
    if (TEMP_FAILURE_RETRY(pread(fd, text, TEXT_MAX, 0)) < 0) {
        fail_errno(error, FAIL_LATER, "read %s of the spool", name);
        return NULL;
    }
    return g_steal_pointer(&text);
}

/* Read the text of the file, whenever it was written, "" where it says nothing; *ours: since the machine was started.
 * */
static bool read_said(int spool_fd, ThisHost *host, bool *ours, GError **error)
{
    char boot[CLOCK_BOOT_ID_SIZE] = "";
    g_autofree char *text = read_file(spool_fd, THIS_HOST_FILE, error);
    if (!text)
        return false;
    json_t *said = json_loads(text, 0, NULL);
    *ours = clock_boot_id(boot) && strcmp(meta_string(said, "boot", ""), boot) == 0;
    *host = (ThisHost){.name = g_strdup(meta_string(said, "name", "")),
                       .epoch = json_integer_value(json_object_get(said, "epoch")),
                       .before = json_integer_value(json_object_get(said, "before")),
                       .until = json_integer_value(json_object_get(said, "until")),
                       .draining = json_is_true(json_object_get(said, "draining")),
                       .parts = json_integer_value(json_object_get(said, "parts")),
                       .share_until = json_integer_value(json_object_get(said, "share_until"))};
    json_decref(said);
    return true;
}

bool this_host_read(int spool_fd, ThisHost *host, GError **error)
{
    bool ours;
    if (!read_said(spool_fd, host, &ours, error))
        return false;
    if (ours)
        return true;
    this_host_clear(host);
    return fail(error, FAIL_MISSING, THIS_HOST_FILE " of the spool is from before the machine was started");
}

bool this_host_claims(Store *store, Spool *spool, const Config *config, const char *what, int64_t *until,
                      GError **error)
{
    *until = INT64_MAX;
    if (!this_host_is_one_of_many(config))
        return true;
    g_auto(ThisHost) host = {0};
    g_autoptr(GError) unknown = NULL;
    *until = 0;
    if (!this_host_read(spool_fd(spool), &host, &unknown)) {
        if (g_error_matches(unknown, FAIL, FAIL_MISSING)) /* the runner host begins just now */
            return true;
        return fail_with(error, &unknown);
    }
    bool held = false;
    if (clock_boot() < host.until && !host_claim(store, what, host.name, host.epoch, &held, error))
        return false;
    *until = held ? host.until : 0;
    return true;
}

bool this_host_check_site(Store *store, Spool *spool, GError **error)
{
    g_autofree char *site = host_site(store, error);
    g_autoptr(GError) missing = NULL;
    g_autofree char *noted = site ? read_file(spool_fd(spool), THIS_HOST_SITE_FILE, &missing) : NULL;
    if (!site)
        return false;
    if (noted)
        return strcmp(g_strchomp(noted), site) == 0 ||
               fail(error, FAIL_CONFIG,
                    "the spool %s was used with the database of another site: mend "
                    "[spool] directory or [store]; or, if that database is lost for good and its mail may be sorted "
                    "by this one, remove the file " THIS_HOST_SITE_FILE " there",
                    spool_path(spool));
    if (!g_error_matches(missing, FAIL, FAIL_MISSING))
        return fail_with(error, &missing);
    g_autofree char *line = g_strconcat(site, "\n", NULL);
    return fs_keep_once(spool_fd(spool), THIS_HOST_SITE_FILE, 0640, line, strlen(line), error);
}

/* Ask whether the host may work, and whether its last start that the database knows of, in *epoch, was one with this
 * spool and no copy of it. *said is what the spool says: nothing where its file is missing, or was lost when the power
 * went. The spool is looked at behind the database: the runner host, which may begin meanwhile, writes there first. */
static bool may_work(Store *store, Spool *spool, const Host *host, int64_t *epoch, ThisHost *said, GError **error)
{
    bool ours;
    g_autoptr(GError) fault = NULL;
    if (!this_host_check_site(store, spool, error) || !host_may_work(store, host, epoch, error))
        return false;
    if (!read_said(spool_fd(spool), said, &ours, &fault))
        return fail_unless(error, FAIL_MISSING, &fault);
    return said->epoch == 0 || *epoch <= said->before || *epoch == said->epoch ||
           fail(error, FAIL_CONFIG,
                "the spool %s is older than the last start of %s, which was with a copy of it: what is in it may have "
                "been sent already; if it is to be worked, remove the file " THIS_HOST_FILE " there",
                spool_path(spool), host->name);
}

bool this_host_begin(Store *store, Spool *spool, Host *host, int64_t lease, ThisHost *said, GError **error)
{
    int64_t before;
    g_auto(ThisHost) former = {0};
    if (!may_work(store, spool, host, &before, &former, error) || !host_next_epoch(store, &host->epoch, error))
        return false;
    this_host_clear(said);
    *said = (ThisHost){
        .name = g_strdup(host->name), .epoch = host->epoch, .before = before, .draining = former.draining};
    return write_file(spool, said, true, error) && host_begin(store, host, lease, error);
}

bool this_host_check(Store *store, Spool *spool, const Config *config, GError **error)
{
    int64_t epoch;
    char boot[CLOCK_BOOT_ID_SIZE];
    g_auto(ThisHost) said = {0};
    if (!this_host_is_one_of_many(config))
        return this_host_check_site(store, spool, error);
    if (!clock_boot_id(boot))
        return fail_errno(error, FAIL_LATER, "the system does not say when it was started");
    const Host host = {.name = (char *)config_string(config, "site", "hostname"),
                       .spool = (char *)spool_id(spool, error),
                       .boot = boot};
    return host.spool && may_work(store, spool, &host, &epoch, &said, error);
}
