/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/sympa.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/moving/setting_list.h"
#include "lists/moving/sympa_internal.h"

/* ---- files ---- */

static int open_below(int fd, const char *name, int flags)
{
    return openat(fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flags);
}

/* The folder of a list, of which each part is a directory and no link; -1 with errno. */
static int open_folder(const Sympa *sympa, const char *place)
{
    g_auto(GStrv) parts = g_strsplit(place, "/", 2);
    int fd = open_below(sympa->fd, parts[0], O_DIRECTORY);
    if (fd < 0 || !parts[1])
        return fd;
    auto_fd outer = fd;
    return open_below(outer, parts[1], O_DIRECTORY);
}

bool sympa_read(const SympaList *list, const char *name, size_t most, GBytes **bytes, GError **error)
{
    struct stat status;
    *bytes = NULL;
    auto_fd folder = open_folder(list->sympa, list->place);
    auto_fd file = folder < 0 ? -1 : open_below(folder, name, 0);
    const char *wrong = NULL;
    if (file < 0 && errno == ENOENT)
        return true;
    if (file < 0)
        wrong = errno == ELOOP ? "it is a symbolic link, which is not followed" : g_strerror(errno);
    else if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        wrong = "it is no file";
    else if ((uint64_t)status.st_size > most)
        wrong = "it is too large";
    if (wrong) {
        moving_tell(list->sympa->moving, MOVING_LEFT_OUT, list->list_id, name, "%s", wrong);
        return true;
    }
    size_t have = 0, length = (size_t)status.st_size;
    ssize_t got = 1;
    g_autofree char *octets = g_malloc(length + 1);
    while (have < length && (got = read(file, octets + have, length - have)) > 0)
        have += (size_t)got;
    if (got < 0)
        return fail_errno(error, FAIL_LATER, "%s/%s/%s", list->sympa->directory, list->place, name);
    *bytes = g_bytes_new_take(g_steal_pointer(&octets), have);
    return true;
}

typedef struct FaultPlace {
    const SympaList *list;
    const char *name;
} FaultPlace;

static void tell_fault(unsigned line, const char *text, void *data)
{
    const FaultPlace *fault = data;
    if (fault->list->quiet)
        return;
    g_autofree char *key = g_strdup_printf("%s line %u", fault->name, line);
    moving_tell(fault->list->sympa->moving, MOVING_LEFT_OUT, fault->list->list_id, key, "%s", text);
}

bool sympa_read_config(const SympaList *list, const char *name, size_t most, GPtrArray **config, GError **error)
{
    gsize length;
    GBytes *read = NULL;
    FaultPlace fault = {list, name};
    *config = NULL;
    if (!sympa_read(list, name, most, &read, error))
        return false;
    g_autoptr(GBytes) bytes = read;
    const char *octets = bytes ? g_bytes_get_data(bytes, &length) : NULL;
    if (bytes)
        *config = sympa_config_read(octets ? octets : "", length, tell_fault, &fault);
    return true;
}

/* ---- which lists there are ---- */

static void list_free_one(gpointer data)
{
    SympaList *list = data;
    g_free(list->domain);
    g_free(list->name);
    g_free(list->address);
    g_free(list->list_id);
    g_free(list->place);
    g_clear_pointer(&list->config, g_ptr_array_unref);
    g_free(list);
}

/* The names in a directory, sorted, without those that begin with a dot. fd is taken. NULL with errno. */
static GPtrArray *names_in(int fd)
{
    DIR *open = fd < 0 ? NULL : fdopendir(fd);
    if (!open) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (struct dirent *entry; (entry = readdir(open));)
        if (*entry->d_name != '.')
            g_ptr_array_add(names, g_strdup(entry->d_name));
    closedir(open);
    g_ptr_array_sort(names, bytes_compare_texts);
    return names;
}

/* Is there something of the name config, whatever it be? */
static bool has_config(int folder)
{
    struct stat status;
    return folder >= 0 && fstatat(folder, "config", &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static void add_list(Sympa *sympa, const char *domain, const char *name, char *place)
{
    SympaList *list = g_new0(SympaList, 1);
    list->sympa = sympa;
    list->domain = g_ascii_strdown(domain, -1);
    list->name = g_ascii_strdown(name, -1);
    list->address = g_strdup_printf("%s@%s", list->name, list->domain);
    list->list_id = g_strdup_printf("%s.%s", list->name, list->domain);
    list->place = place;
    g_ptr_array_add(sympa->lists, list);
    char *key = mailbox_key(list->address);
    if (key)
        g_hash_table_add(sympa->addresses, key);
}

static bool look_into(Sympa *sympa, const char *name, const char *domain, GError **error)
{
    auto_fd folder = open_below(sympa->fd, name, O_DIRECTORY);
    if (folder < 0)
        return errno == ENOTDIR || errno == ELOOP || fail_errno(error, FAIL_LATER, "%s/%s", sympa->directory, name);
    if (has_config(folder)) {
        if (!domain)
            return fail(error, FAIL_CONFIG,
                        "%s has lists of one domain, whose folders do not say which: name it with --domain, or the "
                        "directory above in place of this one where that has a folder for each domain",
                        sympa->directory);
        add_list(sympa, domain, name, g_strdup(name));
        return true;
    }
    if (domain && g_ascii_strcasecmp(domain, name) != 0)
        return true;
    g_autoptr(GPtrArray) names = names_in(open_below(folder, ".", O_DIRECTORY));
    if (!names)
        return fail_errno(error, FAIL_LATER, "%s/%s", sympa->directory, name);
    for (guint i = 0; i < names->len; i++) {
        auto_fd inner = open_below(folder, names->pdata[i], O_DIRECTORY);
        if (has_config(inner))
            add_list(sympa, name, names->pdata[i], g_build_filename(name, names->pdata[i], NULL));
    }
    return true;
}

/* Is there a list so many folders below? */
static bool has_list(int folder, unsigned depth)
{
    if (depth == 0 || folder < 0)
        return has_config(folder);
    g_autoptr(GPtrArray) names = names_in(open_below(folder, ".", O_DIRECTORY));
    bool found = false;
    for (guint i = 0; names && i < names->len && !found; i++) {
        auto_fd inner = open_below(folder, names->pdata[i], O_DIRECTORY);
        found = has_list(inner, depth - 1);
    }
    return found;
}

static bool find_lists(Sympa *sympa, const char *domain, GError **error)
{
    const char *directory = sympa->directory;
    g_autoptr(GPtrArray) names = names_in(open_below(sympa->fd, ".", O_DIRECTORY));
    if (!names)
        return fail_errno(error, FAIL_LATER, "%s", directory);
    for (guint i = 0; i < names->len; i++)
        if (!look_into(sympa, names->pdata[i], domain, error))
            return false;
    if (sympa->lists->len > 0)
        return true;
    /* Which directory would have been right? */
    if (has_config(sympa->fd))
        return fail(error, FAIL_MISSING,
                    "%s is one list of Sympa; name the directory that has all lists, as DOMAIN/LIST/config", directory);
    for (guint i = 0; i < names->len; i++) {
        auto_fd inner = open_below(sympa->fd, names->pdata[i], O_DIRECTORY);
        if (has_list(inner, 2))
            return fail(error, FAIL_MISSING,
                        "%s: there is no list of Sympa (DOMAIN/LIST/config), but there are in %s/%s", directory,
                        directory, (const char *)names->pdata[i]);
    }
    return fail(error, FAIL_MISSING, "%s: there is no list of Sympa (DOMAIN/LIST/config)", directory);
}

Sympa *sympa_open(const char *directory, Foreign *database, const char *domain, GError **error)
{
    g_autoptr(Sympa) sympa = g_new0(Sympa, 1);
    sympa->directory = g_strdup(directory);
    sympa->database = database;
    sympa->lists = g_ptr_array_new_with_free_func(list_free_one);
    sympa->addresses = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    sympa->fd = open(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (sympa->fd < 0) {
        fail_errno(error, errno == ENOENT || errno == ENOTDIR ? FAIL_MISSING : FAIL_LATER, "%s", directory);
        return NULL;
    }
    if (!find_lists(sympa, domain, error) || (database && !sympa_check_database(database, error)))
        return NULL;
    return g_steal_pointer(&sympa);
}

void sympa_free(Sympa *sympa)
{
    if (!sympa)
        return;
    if (sympa->fd >= 0)
        close(sympa->fd);
    g_ptr_array_unref(sympa->lists);
    g_hash_table_unref(sympa->addresses);
    g_free(sympa->directory);
    g_free(sympa);
}

/* ---- a list ---- */

static bool describe(void *data, List **made, GError **error)
{
    const SympaList *list = data;
    GBytes *read = NULL;
    Moving *moving = list->sympa->moving;
    g_autoptr(GPtrArray) settings = setting_list_new();
    const char *created = sympa_config_value(sympa_config_find(list->config, "creation"), "date_epoch");
    const MovingDomain domain = {list->domain, NULL, NULL};
    if (!sympa_read(list, "stats", SYMPA_LINE_MAX, &read, error))
        return false;
    g_autoptr(GBytes) stats = read;
    if (!sympa_settings(list, settings, error))
        return false;
    /* The first number of stats tells how many posts the list had. */
    g_autofree char *text = stats ? g_strndup(g_bytes_get_data(stats, NULL) ?: "", g_bytes_get_size(stats)) : NULL;
    const int64_t posts = text ? g_ascii_strtoll(text, NULL, 10) : 0;
    const int64_t seconds = created ? g_ascii_strtoll(created, NULL, 10) : 0;
    const MovingList from = {.list = {.address = list->address,
                                      .list_id = list->list_id,
                                      .created_at = CLAMP(seconds, 0, INT32_MAX) * CLOCK_SECOND,
                                      .post_id = CLAMP(posts, 0, INT32_MAX - 1) + 1,
                                      .archive = -1},
                             .settings = settings,
                             .volume = 1,
                             .next_digest = 1,
                             .watermark = -1};
    return moving_domain(moving, &domain, error) && moving_list(moving, &from, made, error);
}

/* Files and folders of a list that are read, or that Sympa makes for itself. */
static const char *const of_list[] = {
    "archives",     "arctxt", "config",     "config.bin",   "config.dump",    "config_changes",
    "editor.dump",  "info",   "member.dump", "message_footer", "message_header", "msg_count",
    "owner.dump",   "stats",  "stats.bin",  "subscribers",  "topics",         NULL,
};

/* Make the list, whose config was read. */
static bool make_list(SympaList *list, GError **error)
{
    bool in;
    Moving *moving = list->sympa->moving;
    if (!mailbox_valid(list->address)) {
        moving_tell(moving, MOVING_LEFT_OUT, list->place, "", "%s is no address", list->address);
        return true;
    }
    const SympaParagraph *status = sympa_config_find(list->config, "status");
    if (status && strcmp(status->value, "open") != 0) { /* it takes no mail there, and stays away */
        moving_tell(moving, MOVING_LOST, list->list_id, "status",
                    "the list is %s, so it does not come: open it in Sympa first if it shall", status->value);
        return true;
    }
    /* Texts, scenarios, documents and such that the list has of its own. */
    g_autoptr(GPtrArray) names = names_in(open_folder(list->sympa, list->place));
    for (guint i = 0; names && i < names->len; i++) {
        const char *name = names->pdata[i];
        if (!g_strv_contains(of_list, name) && !strstr(name, ".old") && !g_str_has_prefix(name, "config."))
            moving_tell(moving, MOVING_LOST, list->list_id, name, "it stays behind");
    }
    return moving_make(moving, list->list_id, describe, list, &in, error);
}

bool sympa_move(Sympa *sympa, Moving *moving, GError **error)
{
    sympa->moving = moving;
    for (guint i = 0; i < sympa->lists->len; i++) {
        SympaList *list = sympa->lists->pdata[i];
        if (!sympa_read_config(list, "config", SYMPA_CONFIG_MAX, &list->config, error) ||
            (list->config && !make_list(list, error)))
            return false;
        g_clear_pointer(&list->config, g_ptr_array_unref);
    }
    for (guint i = 0; i < sympa->lists->len; i++) {
        SympaList *list = sympa->lists->pdata[i];
        List *found = NULL;
        if (!moving_find_list(moving, list->list_id, &found, error))
            return false;
        g_autoptr(List) there = found;
        if (!there)
            continue;
        list->quiet = true; /* what is wrong with the config was told in the first pass */
        if (!sympa_read_config(list, "config", SYMPA_CONFIG_MAX, &list->config, error))
            return false;
        list->quiet = false;
        if (list->config && !sympa_people(list, error))
            return false;
        g_clear_pointer(&list->config, g_ptr_array_unref);
    }
    return moving_finish(moving, error);
}
