/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/mta_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/mailbox.h"
#include "base/program.h"
#include "lists/timer.h"
#include "mail/list_address.h"
#include "switchboard/spool.h"

#define COMMAND_TIMEOUT (5 * 60 * CLOCK_SECOND)
#define COMMAND_OUTPUT 65536 /* octets that it may write */
#define HEAD "# Written by Listrunner (listrunner mta maps). Changes made here are lost.\n"

typedef struct AddressMaps {
    MtaFormat format;
    const char *site_owner, *transport;
    bool takes_requests; /* somebody works the queue command */
    GHashTable *aliases; /* each domain -> its alias domain, "" where it has none */
    GString *recipients, *domains, *aliased, *transports;
} AddressMaps;

static void add_line(const AddressMaps *maps, GString *to, const char *key, const char *value)
{
    g_string_append_printf(to, maps->format == MTA_EXIM ? "%s: %s\n" : "%s %s\n", key, value);
}

static void add_recipient(const AddressMaps *maps, const char *local, const char *host, const char *list_id)
{
    const char *alias = g_hash_table_lookup(maps->aliases, host);
    g_autofree char *address = g_strconcat(local, "@", host, NULL);
    add_line(maps, maps->recipients, address, list_id);
    if (alias && *alias) {
        g_autofree char *other = g_strconcat(local, "@", alias, NULL);
        add_line(maps, maps->recipients, other, list_id);
    }
}

/* A list that was renamed is reached by the address that its List-Id was made of, too. */
static void add_first_address(const AddressMaps *maps, const List *list, const char *suffix)
{
    for (const char *dot = strchr(list->list_id, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (!g_hash_table_contains(maps->aliases, dot + 1))
            continue;
        g_autofree char *name = g_strndup(list->list_id, (size_t)(dot - list->list_id));
        g_autofree char *local = g_strconcat(name, suffix ? "-" : "", suffix ? suffix : "", NULL);
        if (strlen(local) <= LIST_LOCAL_MAX)
            add_recipient(maps, local, dot + 1, list->list_id);
        return;
    }
}

/* suffix is NULL for the list itself. */
static void add_address(const AddressMaps *maps, const List *list, const char *suffix)
{
    g_autofree char *local = list_local(list, suffix, LIST_LOCAL_MAX);
    g_autofree char *made_of = g_strconcat(list->list_name, ".", list->mail_host, NULL);
    add_recipient(maps, local, list->mail_host, list->list_id);
    if (strcmp(made_of, list->list_id) != 0)
        add_first_address(maps, list, suffix);
}

static bool is_request(const char *suffix)
{
    return strcmp(suffix, "-owner") != 0 && strcmp(suffix, "-bounces") != 0;
}

static bool add_list(const List *list, void *data)
{
    const AddressMaps *maps = data;
    const char *suffix;
    add_address(maps, list, NULL);
    for (size_t at = 0; (suffix = list_address_suffix(at)); at++)
        if (maps->takes_requests || !is_request(suffix))
            add_address(maps, list, suffix + 1);
    return true;
}

static void add_role(const AddressMaps *maps, const char *role, const char *domain)
{
    g_autofree char *address = g_strconcat(role, "@", domain, NULL);
    if (!mailbox_same(address, maps->site_owner))
        add_line(maps, maps->aliased, address, maps->site_owner);
}

static void add_domain(const AddressMaps *maps, const char *domain)
{
    add_line(maps, maps->domains, domain, "OK");
    add_line(maps, maps->transports, domain, maps->transport);
    add_role(maps, "postmaster", domain);
    add_role(maps, "abuse", domain);
}

static bool add_all(AddressMaps *maps, Store *store, GError **error)
{
    g_autoptr(GPtrArray) domains = domain_all(store, error);
    if (!domains)
        return false;
    for (guint at = 0; at < domains->len; at++) {
        const Domain *domain = domains->pdata[at];
        add_domain(maps, domain->mail_host);
        if (domain->alias_domain)
            add_domain(maps, domain->alias_domain);
        g_hash_table_insert(maps->aliases, g_strdup(domain->mail_host),
                            g_strdup(domain->alias_domain ? domain->alias_domain : ""));
    }
    return list_each(store, NULL, add_list, maps, error);
}

/* Whoever runs the MTA may read it: all of it is what the MTA tells to everybody who asks. */
static bool write_file(int directory, const char *name, const GString *text, GError **error)
{
    g_autofree char *temporary = g_strconcat(".", name, ".tmp", NULL);
    g_autoptr(GError) gone = NULL;
    if (!fs_unlink(directory, temporary, &gone) && !g_error_matches(gone, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&gone));
        return false;
    }
    auto_fd fd = fs_create(directory, temporary, error);
    if (fd < 0 || !fs_write(fd, text->str, text->len, error))
        return false;
    if (fchmod(fd, 0644) != 0)
        return fail_errno(error, FAIL_LATER, "cannot let others read %s", name);
    return fs_sync_file(fd, error) && fs_rename(directory, temporary, name, error);
}

static bool run_command(const char *command, const char *directory, const char *const *names, GError **error)
{
    int code;
    g_autoptr(GError) broken = NULL;
    g_autoptr(GBytes) nothing = g_bytes_new_static("", 0), output = NULL;
    g_auto(GStrv) words = NULL;
    if (!g_shell_parse_argv(command, NULL, &words, &broken))
        return fail(error, FAIL_CONFIG, "[mta] maps_command: %s", broken->message);
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    for (char **word = words; *word; word++)
        g_ptr_array_add(all, g_strdup(*word));
    for (; *names; names++)
        g_ptr_array_add(all, g_build_filename(directory, *names, NULL));
    g_ptr_array_add(all, NULL);
    const Program program = {.words = (char *const *)all->pdata, .timeout = COMMAND_TIMEOUT,
                             .output_max = COMMAND_OUTPUT};
    if (!program_run(&program, nothing, &code, &output, error)) {
        g_prefix_error(error, "[mta] maps_command: ");
        return false;
    }
    return code == 0 || fail(error, FAIL_LATER, "[mta] maps_command: %s ended with the code %d", words[0], code);
}

static bool write_all(const AddressMaps *maps, const char *directory, const char *command, GError **error)
{
    static const char *const names[] = {"recipients", "domains", "aliases", "transport", NULL};
    const GString *texts[] = {maps->recipients, maps->domains, maps->aliased, maps->transports};
    const char *written[G_N_ELEMENTS(names)] = {NULL};
    auto_fd fd = fs_open_dir(AT_FDCWD, directory, true, error);
    if (fd < 0)
        return false;
    for (size_t at = 0; names[at] && !(maps->format == MTA_EXIM && strcmp(names[at], "transport") == 0); at++) {
        if (!write_file(fd, names[at], texts[at], error)) {
            g_prefix_error(error, "%s: ", directory);
            return false;
        }
        written[at] = names[at];
    }
    return fs_sync_dir(fd, error) && (!command || run_command(command, directory, written, error));
}

bool mta_maps_write(Store *store, const Config *config, MtaFormat format, const char *directory, GError **error)
{
    g_autoptr(GHashTable) aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GString) recipients = g_string_new(HEAD), domains = g_string_new(HEAD);
    g_autoptr(GString) aliased = g_string_new(HEAD), transports = g_string_new(HEAD);
    AddressMaps maps = {.format = format,
                 .site_owner = config_string(config, "site", "site_owner"),
                 .transport = config_string(config, "mta", "transport"),
                 .takes_requests = queue_is_worked(config, "command"),
                 .aliases = aliases,
                 .recipients = recipients,
                 .domains = domains,
                 .aliased = aliased,
                 .transports = transports};
    return add_all(&maps, store, error) &&
           write_all(&maps, directory, config_string(config, "mta", "maps_command"), error);
}

void mta_maps_ask(Work *work)
{
    if (work_site(work)->keeps_maps)
        timer_ask(work, MTA_MAPS_JOB);
}
