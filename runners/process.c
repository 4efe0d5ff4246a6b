/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/config_table.h"
#include "base/confine.h"
#include "base/config_check.h"
#include "base/contract.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/trail/trail.h"

#define RESOLV_CONF "/etc/resolv.conf"

typedef struct Policy {
    const Config *config;
    const char *runner;
    Confine *confine;
    GPtrArray *own; /* paths of the site that are not everybody's: what contains them is not allowed as a whole */
} Policy;

/* ---- paths ---- */

/* Is path the directory itself, or below it? */
static bool is_within(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool holds_own(const Policy *policy, const char *directory)
{
    for (guint at = 0; at < policy->own->len; at++)
        if (is_within(policy->own->pdata[at], directory))
            return true;
    return false;
}

/* Allow all of a directory of the system but the site's own files in it, and what lies beside a key. */
static void allow_but_own(const Policy *policy, ConfineRight right, const char *path)
{
    struct statfs system;
    bool ours = g_ptr_array_find_with_equal_func(policy->own, path, g_str_equal, NULL);
    /* A link may lead into /proc, whose files are never the same for long. */
    bool of_process = statfs(path, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
    if (ours || of_process || access(path, R_OK) != 0)
        return;
    if (!holds_own(policy, path)) {
        confine_allow(policy->confine, right, path);
        return;
    }
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    for (const char *name; directory && (name = g_dir_read_name(directory));) {
        g_autofree char *below = g_build_filename(path, name, NULL);
        allow_but_own(policy, right, below);
    }
    confine_allow(policy->confine, CONFINE_LIST, path);
}

/* ---- what belongs to the site ---- */

typedef void PathVisit(const Policy *policy, const char *section, const ConfigKey *key, const char *path);

/* Visit each file or directory that a setting names. */
static void each_path(const Policy *policy, PathVisit *visit)
{
    g_autofree const char **sections = config_sections(policy->config);
    const ConfigTable *table;
    for (unsigned at = 0; (table = config_table(at)); at++)
        for (const char **section = sections; *section; section++) {
            bool covers = config_table_covers(table, *section);
            for (const ConfigKey *key = covers ? table->keys : NULL; key && key->name; key++) {
                bool list = key->type == CONFIG_LIST && key->opens;
                const char *path = key->type == CONFIG_PATH ? config_string(policy->config, *section, key->name) : NULL;
                if (path)
                    visit(policy, *section, key, path);
                for (const char *const *word = list ? config_list(policy->config, *section, key->name) : NULL;
                     word && *word; word++)
                    visit(policy, *section, key, *word);
            }
        }
}

/* A key is rarely alone in its directory, unless that is one of the system's. */
static char *place_of(const char *path)
{
    static const char *const shared[] = {"/", "/etc", "/etc/ssl", "/etc/pki", "/usr"};
    g_autofree char *above = g_path_get_dirname(path);
    for (size_t i = 0; i < G_N_ELEMENTS(shared); i++)
        if (strcmp(above, shared[i]) == 0)
            return g_strdup(path);
    bool certificates = is_within(above, "/etc/ssl/certs") || is_within(above, "/usr/share/ca-certificates");
    return certificates ? g_strdup(path) : g_steal_pointer(&above);
}

static void add_own(const Policy *policy, const char *path)
{
    g_autofree char *plain = g_canonicalize_filename(path, "/");
    g_ptr_array_add(policy->own, g_file_test(plain, G_FILE_TEST_IS_DIR) ? g_steal_pointer(&plain) : place_of(plain));
}

static void note_own(const Policy *policy, const char *section, const ConfigKey *key, const char *path)
{
    bool is_program = strcmp(key->name, "command") == 0;
    bool is_log = strcmp(section, "trail") == 0 || strcmp(key->name, "log_file") == 0;
    bool is_public = strcmp(key->name, "template_directory") == 0 || strcmp(key->name, "tls_ca_file") == 0;
    if (!is_program && !is_log && !is_public)
        add_own(policy, path);
}

/* ---- what the runner may use ---- */

static void allow_and_watch(const Policy *policy, ConfineRight right, const char *path)
{
    confine_allow(policy->confine, right, path);
    confine_watch(policy->confine, path);
}

/* Make a directory that the runner would make itself, but may not when it is confined. A failure shows when the
 * directory is used. The spool is made by nobody, and no directory of archives where a file system is not mounted. */
static void make_directory(const Policy *policy, const char *section, const ConfigKey *key, const char *path)
{
    bool unused = strcmp(section, "refused") == 0 && config_duration(policy->config, "refused", "keep") == 0;
    if (unused || strcmp(section, "spool") == 0 || access(path, F_OK) == 0)
        return;
    bool made = strcmp(section, "trail") == 0 ? g_mkdir_with_parents(path, 0750) == 0 : mkdir(path, 0750) == 0;
    if (made && strcmp(key->name, "maps_directory") == 0 && chmod(path, 0755) != 0)
        log_warn("%s cannot be opened for the MTA", path);
}

static void allow_setting(const Policy *policy, const char *section, const ConfigKey *key, const char *path)
{
    bool writes = config_read_by(key->writes, policy->runner), opens = config_read_by(key->opens, policy->runner);
    if (key->writes && (writes || opens))
        make_directory(policy, section, key, path);
    if (writes) {
        g_autofree char *above = g_path_get_dirname(path);
        confine_allow(policy->confine, CONFINE_LIST, above); /* to sync it */
        allow_and_watch(policy, CONFINE_WRITE, path);
    } else if (opens) {
        allow_and_watch(policy, CONFINE_READ, path);
    }
}

/* SQLite: the file and its two companions, which therefore must be there, with its mode. Keys and archives may lie in
 * their directory, so that no more of it is allowed; SQLite bears with companions that it cannot remove. */
static void allow_sqlite(const Policy *policy)
{
    static const char *const companions[] = {"-wal", "-shm"};
    const char *path = config_string(policy->config, "store", "path");
    g_autofree char *above = g_path_get_dirname(path), *journal = g_strconcat(path, "-journal", NULL);
    confine_allow(policy->confine, CONFINE_LIST, above);
    allow_and_watch(policy, CONFINE_WRITE, path);
    confine_allow(policy->confine, CONFINE_WRITE, journal);
    for (size_t i = 0; i < G_N_ELEMENTS(companions); i++) {
        g_autofree char *companion = g_strconcat(path, companions[i], NULL);
        struct stat status;
        bool there = stat(path, &status) == 0 && S_ISREG(status.st_mode);
        auto_fd fd = there ? open(companion, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, status.st_mode & 0777) : -1;
        if (fd >= 0 && fchmod(fd, status.st_mode & 0777) != 0)
            log_warn("%s cannot be given the mode of %s", companion, path);
        allow_and_watch(policy, CONFINE_WRITE, companion);
    }
}

/* PostgreSQL: the files of its library in the home directory, and those that the URL names. */
static void allow_postgresql(const Policy *policy)
{
    static const char *const names[] = {".pgpass", ".pg_service.conf", ".postgresql"};
    static const char *const parameters[] = {"sslrootcert", "sslcert", "sslkey", "sslcrl", "sslcrldir", "passfile"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(g_get_home_dir(), names[i], NULL);
        confine_allow(policy->confine, CONFINE_READ, path);
    }
    const char *url = config_string(policy->config, "store", "url");
    for (size_t i = 0; url && i < G_N_ELEMENTS(parameters); i++) {
        g_autofree char *path = conninfo_value(url, parameters[i]);
        if (path)
            allow_and_watch(policy, CONFINE_READ, path);
    }
}

static void allow_runtime(const Policy *policy)
{
    const char *directory = config_string(policy->config, "master", "runtime_directory");
    g_autofree char *in_force = g_path_get_dirname(config_path(policy->config));
    confine_allow(policy->confine, CONFINE_LIST, directory);
    if (strcmp(policy->runner, "out") == 0)
        allow_and_watch(policy, CONFINE_SOCKETS, directory);
    if (strcmp(policy->runner, "web") == 0 && strcmp(in_force, directory) == 0)
        allow_and_watch(policy, CONFINE_READ, directory); /* a trial reads the configuration */
    if (strcmp(policy->runner, "hooks") == 0) {
        g_autofree char *events = g_build_filename(directory, CHILD_EVENTS, NULL);
        auto_fd fd = open(events, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        confine_allow(policy->confine, CONFINE_WRITE, events);
        confine_watch(policy->confine, events);
    }
}

/* The pages show an archive by its index, a database, and start a trial of our own. */
static void allow_pages(const Policy *policy)
{
    if (strcmp(policy->runner, "web") != 0)
        return;
    confine_allow(policy->confine, CONFINE_READ, config_path(policy->config));
    g_autofree const char **sections = config_family_sections(policy->config, "archiver");
    for (const char **section = sections; *section; section++) {
        const char *path = config_string(policy->config, *section, "path");
        g_autofree char *index = path ? g_build_filename(path, ".index", NULL) : NULL;
        if (!index || !config_bool(policy->config, *section, "index") ||
            strcmp(config_string(policy->config, *section, "type"), "maildir") != 0)
            continue;
        mkdir(index, 0750); /* or it is there; else a failure shows when it is used */
        allow_and_watch(policy, CONFINE_WRITE, index);
    }
    allow_but_own(policy, CONFINE_RUN, "/usr");
    allow_but_own(policy, CONFINE_RUN, "/lib");
    allow_but_own(policy, CONFINE_RUN, "/lib64");
    confine_allow(policy->confine, CONFINE_RUN, BINDIR "/listrunner");
}

/* The file with the name servers may be a link to a place where the system writes it anew: /run/netconfig on SUSE. */
static void allow_name_servers(const Policy *policy)
{
    g_autofree char *real = realpath(RESOLV_CONF, NULL);
    g_autofree char *next = real ? NULL : g_file_read_link(RESOLV_CONF, NULL); /* it may not be there yet */
    g_autofree char *file = real ? g_steal_pointer(&real) : next ? g_canonicalize_filename(next, "/etc") : NULL;
    if (!file || strcmp(file, RESOLV_CONF) == 0)
        return;
    g_autofree char *above = g_path_get_dirname(file), *higher = g_path_get_dirname(above);
    bool has_own_place = strcmp(higher, "/") != 0; /* it does not lie in /run or /etc itself */
    allow_but_own(policy, CONFINE_READ, has_own_place ? above : file);
    if (!has_own_place)
        confine_watch(policy->confine, RESOLV_CONF);
}

static void allow_system(const Policy *policy)
{
    static const char *const read[] = {"/usr",
                                       "/lib",
                                       "/lib64",
                                       "/etc",
                                       "/sys",
                                       "/run/systemd/resolve",
                                       "/run/resolvconf",
                                       "/run/NetworkManager",
                                       "/run/nscd",
                                       "/var/lib/sss"};
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
    static const char *const replaced[] = {RESOLV_CONF, "/etc/hosts", "/etc/nsswitch.conf", "/etc/localtime"};
    for (size_t i = 0; i < G_N_ELEMENTS(read); i++)
        allow_but_own(policy, CONFINE_READ, read[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(devices); i++)
        confine_allow(policy->confine, CONFINE_WRITE, devices[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(replaced); i++)
        if (holds_own(policy, "/etc")) /* it is not allowed as a whole */
            confine_watch_link(policy->confine, replaced[i]);
    allow_name_servers(policy);
    const char *clock = g_getenv(CLOCK_ENV_FILE);
    g_autofree char *place = clock ? g_path_get_dirname(clock) : NULL;
    if (place) /* of a test */
        confine_allow(policy->confine, CONFINE_READ, place);
    confine_allow(policy->confine, CONFINE_READ, "/proc");
    confine_allow(policy->confine, CONFINE_READ, DATADIR);
}

/* Restrict this process to what the runner needs, unless the site, or a program that the runner starts, or the kernel
 * keeps it from that (config_unconfined(), confine_possible()). Call it before there are threads. Directories that the
 * runner writes are made when they are missing. */
static bool confine_to_files(const Config *config, const char *runner, GError **error)
{
    const char *why;
    g_autofree char *setting = config_unconfined(config, runner);
    if (setting || !confine_possible(&why)) /* the master says so once, for all */
        return true;
    g_autoptr(Confine) confine = confine_new();
    g_autoptr(GPtrArray) own = g_ptr_array_new_with_free_func(g_free);
    const Policy policy = {config, runner, confine, own};
    each_path(&policy, note_own);
    add_own(&policy, SYSCONFDIR "/listrunner");
    add_own(&policy, "/etc/ssl/private");
    each_path(&policy, allow_setting);
    if (strcmp(config_string(config, "store", "driver"), "sqlite") == 0)
        allow_sqlite(&policy);
    else
        allow_postgresql(&policy);
    /* SQLite writes files there while it sorts: for the database, and for the index of an archive beside PostgreSQL. */
    confine_allow(confine, CONFINE_WRITE, "/var/tmp");
    allow_runtime(&policy);
    /* The log is opened anew when it was rotated: by its directory, unless that holds other things of the site. */
    const char *log_file = g_getenv(CHILD_ENV_LOG_FILE);
    g_autofree char *above = log_file ? g_path_get_dirname(log_file) : NULL;
    if (log_file)
        confine_allow(confine, CONFINE_WRITE, log_file);
    if (log_file && !holds_own(&policy, above))
        confine_allow(confine, CONFINE_WRITE, above);
    else if (log_file)
        confine_watch(confine, log_file);
    /* Paths in the settings of a runner of the site's own. */
    g_autofree char *section = g_strconcat("runner.", runner, NULL);
    g_auto(GStrv) names = config_has_section(config, section) ? config_extra_names(config, section) : NULL;
    for (char **name = names; name && *name; name++) {
        const char *value = config_extra(config, section, *name);
        if (*value == '/')
            allow_and_watch(&policy, CONFINE_WRITE, value);
    }
    allow_pages(&policy);
    allow_system(&policy);
    if (confine_apply(confine, error))
        return true;
    g_prefix_error(error, "[master] confine: ");
    return false;
}

/* ---- the program ---- */

/* Returns the configuration, in force for the log and for files; NULL with the error. */
static Config *configure(const Child *child, GError **error)
{
    Config *config = config_load(config_default_path(child->config), true, error);
    if (!config)
        return NULL;
    g_autofree char *label = g_strdup_printf("%s[%u]", child->runner, child->instance);
    bool to_syslog = g_strcmp0(config_string(config, "site", "log"), "syslog") == 0;
    g_set_prgname(label);
    log_open(label, to_syslog ? LOG_TARGET_SYSLOG : LOG_TARGET_STDERR);
    log_set_verbose(config_bool(config, "site", "verbose"));
    if (!confine_to_files(config, child->runner, error)) { /* before there are threads */
        config_free(config);
        return NULL;
    }
    if (config_bool(config, "trail", "enabled")) /* the beats tell when it cannot be kept; nobody stops work for that */
        trail_open(config_string(config, "trail", "directory"), config_size(config, "trail", "size"), label, NULL);
    fs_use_syncfs(g_strcmp0(config_string(config, "spool", "sync"), "syncfs") == 0);
    return config;
}

int process_main(const ProcessSpec *spec, void *data, int argc, char **argv)
{
    log_open(spec->name, LOG_TARGET_STDERR);
    if (argc > 1) {
        g_printerr("usage: %s\nThis program is started by listrunner-master(8); see listrunner.conf(5).\n", argv[0]);
        return CHILD_EXIT_USAGE;
    }
    g_autoptr(GError) error = NULL;
    const Child *child = child_init(spec->name, &error);
    g_autoptr(Config) config = child ? configure(child, &error) : NULL;
    if (!config)
        return child_cannot_start(error);
    const Process process = {child, config};
    bool started = spec->start(data, &process, &error);
    if (started) {
        child_ready();
        spec->work(data);
    }
    int code = started ? CHILD_EXIT_OK : child_cannot_start(error);
    spec->stop(data);
    return code;
}
