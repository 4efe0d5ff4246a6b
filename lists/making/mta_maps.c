/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/making/mta_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/program.h"
#include "lists/timer.h"
#include "mail/list_address.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/moving/carry.h"
#include "switchboard/spool.h"

#define COMMAND_TIMEOUT (5 * 60 * CLOCK_SECOND)
#define COMMAND_OUTPUT 65536 /* bytes that it may write */
#define HEAD "# Written by Listrunner (listrunner mta maps). Changes made here are lost.\n"

typedef struct AddressMaps {
    MtaFormat format;
    const char *site_owner, *transport;
    const char *const *roles; /* local parts that are the site owner's */
    Store *store;
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

/* suffix is NULL for the list itself. */
static void add_address(const AddressMaps *maps, const List *list, const char *suffix)
{
    g_autofree char *local = list_local(list, suffix, LIST_LOCAL_MAX);
    g_autofree char *made_of = g_strconcat(list->list_name, ".", list->mail_host, NULL);
    add_recipient(maps, local, list->mail_host, list->list_id);
    if (strcmp(made_of, list->list_id) == 0)
        return;
    /* A list that was renamed is reached by the address that its List-Id was made of, too. */
    const char *dot = strchr(list->list_id, '.');
    while (dot && !g_hash_table_contains(maps->aliases, dot + 1))
        dot = strchr(dot + 1, '.');
    if (!dot)
        return;
    g_autofree char *first = g_strdup_printf("%.*s%s%s", (int)(dot - list->list_id), list->list_id, suffix ? "-" : "",
                                             suffix ? suffix : "");
    if (strlen(first) <= LIST_LOCAL_MAX)
        add_recipient(maps, first, dot + 1, list->list_id);
}

static bool is_suffix(const char *text)
{
    const char *suffix;
    for (size_t at = 0; (suffix = list_address_suffix(at)); at++)
        if (strcmp(suffix, text) == 0)
            return true;
    return false;
}

static bool add_list(const List *list, void *data)
{
    const AddressMaps *maps = data;
    const char *suffix;
    add_address(maps, list, NULL);
    for (size_t at = 0; (suffix = list_address_suffix(at)); at++)
        if (maps->takes_requests || strcmp(suffix, "-owner") == 0 || strcmp(suffix, "-bounces") == 0)
            add_address(maps, list, suffix + 1);
    return true;
}

/* The addresses that a list had in the system from which it came, as far as they have an end. */
static bool add_old(const AddressMaps *maps, const char *system, const char *list_id, GError **error)
{
    ListAddressTo to;
    const char *word;
    g_autoptr(List) list = list_by_id(maps->store, list_id, error);
    for (size_t at = 0; list && (word = list_address_old_word(system, at, &to)); at++) {
        g_autofree char *suffix = g_strconcat("-", word, NULL);
        if (!is_suffix(suffix) && (maps->takes_requests || to == LIST_ADDRESS_OWNER || to == LIST_ADDRESS_BOUNCES))
            add_address(maps, list, word);
    }
    return list != NULL;
}

static bool add_domain(AddressMaps *maps, const char *domain, bool roles, GError **error)
{
    add_line(maps, maps->domains, domain, "OK");
    add_line(maps, maps->transports, domain, maps->transport);
    /* Mail for the people who run the site, unless lists have these names. */
    for (const char *const *role = maps->roles; roles && role && *role; role++) {
        bool list;
        g_autofree char *local = g_ascii_strdown(*role, -1), *address = g_strconcat(local, "@", domain, NULL);
        if (!list_exists(maps->store, local, domain, &list, NULL, error))
            return false;
        if (list)
            continue;
        add_line(maps, maps->recipients, address, maps->site_owner);
        add_line(maps, maps->aliased, address, maps->site_owner);
    }
    return true;
}

/* Would mail to the site's owner come back here? Then nobody gets what is sent to the role addresses
 * (runners/server/lists.h says the same). */
static bool owner_is_role(const AddressMaps *maps, const GPtrArray *domains)
{
    const char *at = strrchr(maps->site_owner, '@');
    g_autofree char *local = g_strndup(maps->site_owner, at ? (size_t)(at - maps->site_owner) : 0);
    bool named = false, here = false;
    for (const char *const *role = maps->roles; role && *role; role++)
        named |= g_ascii_strcasecmp(*role, local) == 0;
    for (guint i = 0; at && i < domains->len; i++) {
        const Domain *domain = domains->pdata[i];
        here |= g_ascii_strcasecmp(domain->mail_host, at + 1) == 0 ||
                (domain->alias_domain && g_ascii_strcasecmp(domain->alias_domain, at + 1) == 0);
    }
    return named && here;
}

static bool add_all(AddressMaps *maps, GError **error)
{
    static const char *const systems[] = {"ezmlm", "sympa"};
    g_autoptr(GPtrArray) domains = domain_all(maps->store, error);
    bool roles = domains && !owner_is_role(maps, domains);
    for (guint at = 0; domains && at < domains->len; at++) {
        const Domain *domain = domains->pdata[at];
        if (!add_domain(maps, domain->mail_host, roles, error) ||
            (domain->alias_domain && !add_domain(maps, domain->alias_domain, roles, error)))
            return false;
        g_hash_table_insert(maps->aliases, g_strdup(domain->mail_host),
                            g_strdup(domain->alias_domain ? domain->alias_domain : ""));
    }
    if (!domains || !list_each(maps->store, NULL, add_list, maps, error))
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(systems); i++) {
        g_auto(GStrv) lists = carry_lists_of(maps->store, systems[i], error);
        if (!lists)
            return false;
        for (char **list_id = lists; *list_id; list_id++)
            if (!add_old(maps, systems[i], *list_id, error))
                return false;
    }
    return true;
}

/* Write one map. Whoever runs the MTA may read it: the MTA tells all of it to everybody who asks. */
static bool write_file(int directory, const char *name, const GString *text, GError **error)
{
    g_autofree char *temporary = g_strconcat(".", name, ".tmp", NULL);
    g_autoptr(GError) gone = NULL;
    if (!fs_unlink(directory, temporary, &gone) && !g_error_matches(gone, FAIL, FAIL_MISSING))
        return fail_with(error, &gone);
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

bool mta_maps_write(Store *store, const Config *config, MtaFormat format, const char *directory, GError **error)
{
    g_autoptr(GHashTable) aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GString) recipients = g_string_new(HEAD), domains = g_string_new(HEAD);
    g_autoptr(GString) aliased = g_string_new(HEAD), transports = g_string_new(HEAD);
    AddressMaps maps = {.format = format,
                        .site_owner = config_string(config, "site", "site_owner"),
                        .transport = config_string(config, "mta", "transport"),
                        .roles = config_list(config, "site", "role_addresses"),
                        .store = store,
                        .takes_requests = queue_is_worked(config, "command"),
                        .aliases = aliases,
                        .recipients = recipients,
                        .domains = domains,
                        .aliased = aliased,
                        .transports = transports};
    if (!add_all(&maps, error))
        return false;

    static const char *const names[] = {"recipients", "domains", "aliases", "transport", NULL};
    const GString *texts[] = {recipients, domains, aliased, transports};
    const char *written[G_N_ELEMENTS(names)] = {NULL};
    const char *command = config_string(config, "mta", "maps_command");
    bool made = access(directory, F_OK) != 0;
    auto_fd fd = fs_open_dir(AT_FDCWD, directory, true, error);
    if (fd < 0)
        return false;
    if (made && fchmod(fd, 0755) != 0)
        return fail_errno(error, FAIL_LATER, "cannot let others into %s", directory);
    for (size_t at = 0; names[at] && !(format == MTA_EXIM && strcmp(names[at], "transport") == 0); at++) {
        if (!write_file(fd, names[at], texts[at], error)) {
            g_prefix_error(error, "%s: ", directory);
            return false;
        }
        written[at] = names[at];
    }
    return fs_sync_dir(fd, error) && (!command || run_command(command, directory, written, error));
}

void mta_maps_ask(Work *work)
{
    if (work_site(work)->keeps_maps)
        timer_ask(work, MTA_MAPS_JOB);
}
