/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/outgoing/site.h"

#include <dirent.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/contract.h"
#include "lists/keys.h"
#include "switchboard/intake.h"

#define PATIENCE (60 * CLOCK_SECOND)
#define PAUSE 5000

static const char small[] = "From: Anne <anne@example.com>\r\nSubject: hello\r\n\r\n.dots\r\nand text\r\n";

/* A free port, and a socket that is bound to it, so that nobody else gets it until the sink listens there. */
static int hold_port(unsigned *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    g_assert_cmpint(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), ==, 0);
    g_assert_cmpint(bind(fd, (struct sockaddr *)&address, length), ==, 0);
    g_assert_cmpint(getsockname(fd, (struct sockaddr *)&address, &length), ==, 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* The build tree, found from where this program lies: t/runners/outgoing in it. */
static char *build_top(void)
{
    char *path = g_file_read_link("/proc/self/exe", NULL);
    for (int i = 0; i < 4; i++) {
        char *up = g_path_get_dirname(path);
        g_free(path);
        path = up;
    }
    return path;
}

Site *site_new(const char *settings)
{
    Site *site = g_new0(Site, 1);
    g_autoptr(GError) error = NULL;
    site->directory = g_dir_make_tmp("listrunner-out-XXXXXX", &error);
    g_assert_no_error(error);
    site->top = build_top();
    site->port_fd = hold_port(&site->port);
    site->config = g_build_filename(site->directory, "listrunner.conf", NULL);
    site->log = g_build_filename(site->directory, "sink.log", NULL);
    g_autofree char *spool = g_build_filename(site->directory, "spool", NULL);
    g_assert_cmpint(g_mkdir_with_parents(spool, 0755), ==, 0);
    /* Programs that make calls fail write a mark beside the spool. */
    g_autofree char *text = g_strdup_printf("[master]\nconfine = no\n"
                                            "[site]\nhostname = lists.example.com\n[spool]\ndirectory = %s\n"
                                            "[transport.relay]\nport = %u\n%s\n",
                                            spool, site->port, settings ? settings : "");
    g_file_set_contents(site->config, text, -1, &error);
    g_assert_no_error(error);
    site->spool = spool_open(spool, &error);
    g_assert_no_error(error);
    return site;
}

static int reap(pid_t *pid)
{
    int status;
    g_assert_cmpint(waitpid(*pid, &status, 0), ==, *pid);
    *pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void site_free(Site *site)
{
    if (site->out)
        site_kill_out(site);
    if (site->sink) {
        kill(site->sink, SIGKILL);
        reap(&site->sink);
    }
    spool_free(site->spool);
    close(site->port_fd);
    const char *remove[] = {"rm", "-rf", "--", site->directory, NULL};
    g_spawn_sync(NULL, (char **)remove, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    g_free(site->directory);
    g_free(site->config);
    g_free(site->log);
    g_free(site->top);
    g_free(site);
}

/* A test that fails leaves nobody behind. */
static void die_with_parent(gpointer unused)
{
    (void)unused;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static pid_t start(char **arguments, char **environment, int *output)
{
    g_autoptr(GError) error = NULL;
    GPid pid;
    g_spawn_async_with_pipes(NULL, arguments, environment, G_SPAWN_DO_NOT_REAP_CHILD, die_with_parent, NULL, &pid,
                             NULL, output, NULL, &error);
    g_assert_no_error(error);
    return pid;
}

void site_start_sink(Site *site, const char *const *arguments)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(all, g_build_filename(site->top, "t/tools/smtp-sink", NULL));
    g_ptr_array_add(all, g_strdup_printf("--listen=127.0.0.1:%u", site->port));
    g_ptr_array_add(all, g_strdup_printf("--log=%s", site->log));
    g_ptr_array_add(all, g_strdup("--stats=/dev/null"));
    for (; arguments && *arguments; arguments++)
        g_ptr_array_add(all, g_strdup(*arguments));
    g_ptr_array_add(all, NULL);
    int output;
    site->sink = start((char **)all->pdata, NULL, &output);
    char line[16];
    g_assert_cmpint(read(output, line, sizeof(line)), >, 0); /* it listens */
    close(output);
}

void site_start_out(Site *site)
{
    site_start_program(site, "runners/outgoing/out");
}

void site_start_program(Site *site, const char *name)
{
    g_autofree char *program = g_build_filename(site->top, name, NULL);
    g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), CHILD_ENV_CONFIG, site->config, TRUE);
    char *arguments[] = {program, NULL};
    site->out = start(arguments, environment, NULL);
}

void site_kill_out(Site *site)
{
    kill(site->out, SIGKILL);
    reap(&site->out);
}

int site_stop_out(Site *site)
{
    kill(site->out, SIGTERM);
    return reap(&site->out);
}

typedef struct Names {
    size_t next, end;
    char address[64];
} Names;

static const char *next_name(void *data, GError **error)
{
    (void)error;
    Names *names = data;
    if (names->next == names->end)
        return NULL;
    g_snprintf(names->address, sizeof(names->address), "r%06zu@example.com", names->next++);
    return names->address;
}

void site_post(Site *site, const SitePost *post)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, "test.example.com");
    if (!post->no_sender)
        meta_set_string(meta, KEY_ENVELOPE_SENDER, "test-bounces@example.com");
    meta_set_string(meta, KEY_TRANSPORT, post->transport);
    if (g_strcmp0(post->queue, NOTICE_QUEUE) == 0)
        meta_set_string(meta, KEY_PRIORITY, "notice");
    meta_set_integer(meta, META_ARRIVAL, clock_unique() - post->age * CLOCK_SECOND);
    g_autoptr(Draft) draft = draft_new(post->queue ? post->queue : "out", meta);
    const char *message = post->message ? post->message : small;
    g_autoptr(GBytes) octets = g_bytes_new(message, strlen(message));
    draft_add_message(draft, octets);
    Names names = {post->first, post->first + post->count, ""};
    draft_set_recipients(draft, next_name, &names, NULL);
    Intake member = {.draft = draft};
    intake_store(site->spool, &member, 1, false);
    g_assert_no_error(member.error);
}

size_t site_count(const Site *site, const char *queue, const char *suffix)
{
    g_autofree char *path = g_build_filename(spool_path(site->spool), queue, NULL);
    DIR *directory = opendir(path);
    size_t count = 0;
    struct dirent *file;
    while (directory && (file = readdir(directory)) != NULL)
        count += file->d_name[0] != '.' && g_str_has_suffix(file->d_name, suffix);
    if (directory)
        closedir(directory);
    return count;
}

void site_wait(const Site *site, const char *queue, const char *suffix, size_t count)
{
    int64_t until = clock_monotonic() + PATIENCE;
    while (site_count(site, queue, suffix) != count) {
        if (clock_monotonic() > until)
            g_error("waited in vain for %zu files *%s in %s, there are %zu", count, suffix, queue,
                    site_count(site, queue, suffix));
        g_usleep(PAUSE);
    }
}

void site_wait_empty(const Site *site)
{
    site_wait(site, "out", "", 0);
}

/* Takes the numbers of the recipients of a line of the sink's log. */
static void take_recipients(const json_t *line, GArray *order)
{
    size_t index;
    json_t *address;
    json_array_foreach(json_object_get(line, "to"), index, address) {
        size_t number = strtoul(json_string_value(address) + 1, NULL, 10);
        g_array_append_val(order, number);
    }
}

GArray *site_order(const Site *site)
{
    GArray *order = g_array_new(FALSE, FALSE, sizeof(size_t));
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(site->log, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; line[0] && line[1]; line++) { /* the last is not written yet, or empty */
        g_autoptr(json_t) object = json_loads(*line, 0, NULL);
        g_assert_nonnull(object);
        take_recipients(object, order);
    }
    return order;
}

unsigned *site_received(const Site *site, size_t count, const char *result, size_t *total)
{
    unsigned *received = g_new0(unsigned, count);
    FILE *log = fopen(site->log, "r");
    g_autofree char *line = NULL;
    size_t size = 0;
    size_t all = 0;
    for (ssize_t length; log && (length = getline(&line, &size, log)) > 0;) {
        if (line[length - 1] != '\n')
            break; /* still being written */
        g_autoptr(json_t) object = json_loads(line, 0, NULL);
        g_assert_nonnull(object);
        if (result && strcmp(json_string_value(json_object_get(object, "result")), result) != 0)
            continue;
        size_t index;
        json_t *address;
        json_array_foreach(json_object_get(object, "to"), index, address) {
            size_t number = strtoul(json_string_value(address) + 1, NULL, 10);
            g_assert_cmpuint(number, <, count);
            received[number]++;
            all++;
        }
    }
    if (log)
        fclose(log);
    if (total)
        *total = all;
    return received;
}
