/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/config_table.h"
#include "t/suite.h"

/* Two of everything: what is allowed, and the same beside it. */
static char *place;

static char *in_place(const char *name)
{
    return g_build_filename(place, name, NULL);
}

static void put(const char *name)
{
    g_autofree char *path = in_place(name);
    g_autoptr(GError) error = NULL;
    g_file_set_contents(path, name, -1, &error);
    g_assert_no_error(error);
}

static void make_place(void)
{
    static const char *const folders[] = {"mine", "other", "read", "mine/below"};
    static const char *const files[] = {"mine/file",    "mine/gone", "other/file",     "read/file",
                                        "other/single", "other/key", "mine/below/file"};
    place = g_dir_make_tmp("confine-XXXXXX", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *path = in_place(folders[i]);
        g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
        put(files[i]);
}

static void remove_place(void)
{
    g_autofree char *command = g_strdup_printf("rm -r '%s'", place);
    g_assert_cmpint(system(command), ==, 0);
    g_clear_pointer(&place, g_free);
}

static void allow(Confine *confine, ConfineRight right, const char *name)
{
    g_autofree char *path = in_place(name);
    confine_allow(confine, right, path);
}

static void confine(void)
{
    g_autoptr(Confine) rules = confine_new();
    g_autoptr(GError) error = NULL;
    allow(rules, CONFINE_WRITE, "mine");
    allow(rules, CONFINE_WRITE, "other/single");
    allow(rules, CONFINE_READ, "read");
    allow(rules, CONFINE_READ, "is/not/there");
    confine_allow(rules, CONFINE_READ, "/usr");
    g_assert_true(confine_apply(rules, &error));
    g_assert_no_error(error);
}

/* errno of opening a file of the place, 0: it was opened. */
static int opening(const char *name, int flags)
{
    g_autofree char *path = in_place(name);
    auto_fd fd = open(path, flags | O_CLOEXEC, 0600);
    return fd < 0 ? errno : 0;
}

static int renaming(const char *from, const char *to)
{
    g_autofree char *old = in_place(from), *new = in_place(to);
    return rename(old, new) == 0 ? 0 : errno;
}

static int removing(const char *name)
{
    g_autofree char *path = in_place(name);
    return unlink(path) == 0 ? 0 : errno;
}

/* Run it in a process of its own, which may end restricted. */
static void in_child(void (*function)(void))
{
    const char *why;
    if (!confine_possible(&why)) {
        g_test_skip(why);
        return;
    }
    make_place();
    pid_t pid = fork();
    if (pid == 0) {
        function();
        _exit(0);
    }
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    remove_place();
}

static void declared(void)
{
    confine();
    g_assert_cmpint(opening("mine/file", O_RDWR), ==, 0);
    g_assert_cmpint(opening("mine/new", O_RDWR | O_CREAT | O_EXCL), ==, 0);
    g_assert_cmpint(opening("mine/file", O_WRONLY | O_TRUNC), ==, 0);
    g_assert_cmpint(renaming("mine/new", "mine/below/renamed"), ==, 0);
    g_assert_cmpint(removing("mine/gone"), ==, 0);
    g_assert_cmpint(opening("read/file", O_RDONLY), ==, 0);
    g_assert_cmpint(opening("other/single", O_RDWR), ==, 0);
    g_assert_cmpint(opening("read", O_RDONLY | O_DIRECTORY), ==, 0);
    g_autofree char *folder = in_place("mine/folder"), *link = in_place("mine/link");
    g_assert_cmpint(g_mkdir(folder, 0700), ==, 0);
    g_assert_cmpint(opening("mine/folder/new", O_RDWR | O_CREAT), ==, 0);
    g_assert_cmpint(symlink("file", link), ==, 0);
}

static void beside(void)
{
    confine();
    g_assert_cmpint(opening("other/key", O_RDONLY), ==, EACCES);
    g_assert_cmpint(opening("other/file", O_WRONLY), ==, EACCES);
    g_assert_cmpint(opening("other/new", O_WRONLY | O_CREAT), ==, EACCES);
    g_assert_cmpint(opening("other", O_RDONLY | O_DIRECTORY), ==, EACCES);
    g_assert_cmpint(opening("read/file", O_WRONLY), ==, EACCES);
    g_assert_cmpint(opening("read/new", O_WRONLY | O_CREAT), ==, EACCES);
    g_assert_cmpint(removing("other/key"), ==, EACCES);
    g_assert_cmpint(removing("read/file"), ==, EACCES);
    g_assert_cmpint(removing("other/single"), ==, EACCES);
    g_assert_cmpint(renaming("other/key", "mine/key"), ==, EACCES);
    g_assert_cmpint(renaming("mine/file", "other/file"), ==, EACCES);
    g_autofree char *folder = in_place("other/folder");
    g_assert_cmpint(g_mkdir(folder, 0700), ==, -1);
    g_assert_cmpint(errno, ==, EACCES);
}

static void way_round(void)
{
    g_autofree char *other = in_place("other"), *link = in_place("mine/way");
    auto_fd directory = open(other, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* opened before */
    g_assert_cmpint(symlink(other, link), ==, 0);
    confine();
    g_assert_cmpint(opening("mine/way/key", O_RDONLY), ==, EACCES);
    g_assert_cmpint(opening("mine/../other/key", O_RDONLY), ==, EACCES);
    g_assert_cmpint(openat(directory, "key", O_RDONLY | O_CLOEXEC), ==, -1);
    g_assert_cmpint(errno, ==, EACCES);
    g_assert_cmpint(execl("/usr/bin/true", "true", NULL), ==, -1);
    g_assert_cmpint(errno, ==, EACCES);
}

static void lasting(void)
{
    confine();
    g_autoptr(Confine) more = confine_new();
    g_autoptr(GError) error = NULL;
    confine_allow(more, CONFINE_WRITE, "/");
    g_assert_true(confine_apply(more, &error));
    g_assert_cmpint(opening("other/key", O_RDONLY), ==, EACCES);
    pid_t pid = fork();
    if (pid == 0)
        _exit(opening("other/key", O_RDONLY) == EACCES && opening("mine/file", O_RDWR) == 0 ? 0 : 1);
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
}

static void sockets(void)
{
    g_autofree char *mine = in_place("mine"), *path = in_place("other/s");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    g_strlcpy(address.sun_path, path, sizeof address.sun_path);
    auto_fd listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(listening, (struct sockaddr *)&address, sizeof address), ==, 0);
    g_assert_cmpint(listen(listening, 1), ==, 0);
    g_autoptr(Confine) rules = confine_new();
    g_autoptr(GError) error = NULL;
    confine_allow(rules, CONFINE_SOCKETS, mine);
    g_assert_true(confine_apply(rules, &error));
    auto_fd calling = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(calling, (struct sockaddr *)&address, sizeof address), ==, 0);
    g_autofree char *own = in_place("mine/s");
    g_strlcpy(address.sun_path, own, sizeof address.sun_path);
    auto_fd second = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(second, (struct sockaddr *)&address, sizeof address), ==, 0);
    g_assert_cmpint(removing("mine/s"), ==, 0);
    g_assert_cmpint(opening("mine/file", O_RDONLY), ==, EACCES);
    g_assert_cmpint(opening("mine/new", O_WRONLY | O_CREAT), ==, EACCES);
}

/* Return a process that waits until it is ended, or this one ends. */
static pid_t sleeper(void)
{
    int ends[2];
    char octet;
    g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
    pid_t pid = fork();
    close(ends[pid == 0 ? 1 : 0]);
    if (pid == 0) {
        while (read(ends[0], &octet, 1) > 0)
            ;
        _exit(0);
    }
    return pid;
}

/* Only processes that were begun after it can be sent signals: others are not of this runner. */
static void signals(void)
{
    pid_t before = sleeper();
    confine();
    pid_t after = sleeper();
    g_assert_cmpint(kill(after, SIGKILL), ==, 0);
    g_assert_cmpint(waitpid(after, NULL, 0), ==, after);
    int refused[] = {kill(before, 0), kill(before, SIGKILL), kill(getppid(), 0)};
    int reason = errno;
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
        g_assert_cmpint(refused[i], ==, -1);
    g_assert_cmpint(reason, ==, EPERM);
}

static void changes(void)
{
    g_autofree char *file = in_place("read/file"), *none = in_place("read/none");
    g_autoptr(Confine) rules = confine_new();
    g_autoptr(GError) error = NULL;
    g_assert_null(confine_changed());
    confine_watch(rules, file);
    confine_watch(rules, none);
    g_autofree char *link = in_place("read/link"), *target = in_place("mine/file"), *other = in_place("mine/gone");
    g_assert_cmpint(symlink(target, link), ==, 0);
    confine_watch_link(rules, link);
    confine_allow(rules, CONFINE_WRITE, place);
    g_assert_true(confine_apply(rules, &error));
    g_assert_null(confine_changed());
    g_autofree char *new = in_place("read/new"), *kept = in_place("read/kept");
    g_assert_true(g_file_set_contents(new, "new", -1, NULL));
    g_assert_null(confine_changed());
    g_assert_cmpint(rename(file, kept), ==, 0);
    g_assert_cmpint(rename(new, file), ==, 0);
    g_assert_cmpstr(confine_changed(), ==, file);
    g_assert_cmpint(rename(kept, file), ==, 0);
    g_assert_null(confine_changed());
    g_assert_cmpint(rename(other, target), ==, 0); /* behind the link */
    g_assert_null(confine_changed());
    g_autofree char *aside = in_place("read/aside");
    g_assert_cmpint(rename(link, aside), ==, 0);
    g_assert_null(confine_changed());
    g_assert_cmpint(symlink(target, link), ==, 0);
    g_assert_cmpstr(confine_changed(), ==, link);
    g_assert_cmpint(rename(aside, link), ==, 0);
    g_assert_null(confine_changed());
    g_assert_true(g_file_set_contents(none, "there", -1, NULL));
    g_assert_cmpstr(confine_changed(), ==, none);
}

static void test_declared(void)
{
    in_child(declared);
}

static void test_beside(void)
{
    in_child(beside);
}

static void test_way_round(void)
{
    in_child(way_round);
}

static void test_lasting(void)
{
    in_child(lasting);
}

static void test_sockets(void)
{
    in_child(sockets);
}

static void test_signals(void)
{
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1U) < 6) { /* its version */
        g_test_skip("the kernel confines no signals");
        return;
    }
    in_child(signals);
}

static void test_changes(void)
{
    in_child(changes);
}

/* A path that no runner is named for could be used by none. */
static void test_settings(void)
{
    static const char *const others[] = {"runtime_directory", "log_file", "command", NULL}; /* by other ways */
    unsigned found = 0;
    const ConfigTable *table;
    for (unsigned at = 0; (table = config_table(at)); at++)
        for (const ConfigKey *key = table->keys; key->name; key++) {
            bool other = g_strv_contains(others, key->name) ||
                         (strcmp(table->section, "store") == 0 && strcmp(key->name, "path") == 0);
            if (key->type != CONFIG_PATH || other) {
                g_assert_true(other || key->type == CONFIG_LIST || (!key->opens && !key->writes));
                continue;
            }
            found++;
            if (!key->opens && !key->writes) {
                g_test_message("[%s] %s names no runner in opens or writes", table->section, key->name);
                g_test_fail();
            }
        }
    g_assert_cmpuint(found, >, 10);
}

SUITE("confine")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/confine/what is declared works", test_declared);
    g_test_add_func("/confine/what lies beside is refused", test_beside);
    g_test_add_func("/confine/no way round it by links, directories opened before or programs", test_way_round);
    g_test_add_func("/confine/it cannot be had back, and children have it", test_lasting);
    g_test_add_func("/confine/sockets are made where declared, and called anywhere", test_sockets);
    g_test_add_func("/confine/signals reach only processes begun after it", test_signals);
    g_test_add_func("/confine/a file that is replaced or comes is seen", test_changes);
    g_test_add_func("/confine/each path of the settings has its runners", test_settings);
    return g_test_run();
}
