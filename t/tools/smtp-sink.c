/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/tools/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char *listen_at = NULL;
static char *stats_path = NULL;
static char *log_path = NULL;
static char **fault_texts = NULL;
static char *certificate = NULL;
static gboolean lmtp = FALSE;
static gboolean count_only = FALSE, dribble = FALSE;
static Sink sink = {.log_fd = -1};

static const GOptionEntry options[] = {
    {"listen", 'l', 0, G_OPTION_ARG_STRING, &listen_at,
     "Where to listen; port 0: any, it is printed (127.0.0.1:0)", "HOST:PORT"},
    {"store", 's', 0, G_OPTION_ARG_FILENAME, &sink.store,
     "Keep each transaction: a line of JSON, then the octets", "DIR"},
    {"maildir", 'm', 0, G_OPTION_ARG_FILENAME, &sink.maildir, "Deliver into one maildir a recipient", "DIR"},
    {"log", 0, 0, G_OPTION_ARG_FILENAME, &log_path, "Append a line of JSON a transaction, without octets", "FILE"},
    {"count-only", 0, 0, G_OPTION_ARG_NONE, &count_only, "Keep nothing, count (the default)", NULL},
    {"stats", 0, 0, G_OPTION_ARG_FILENAME, &stats_path,
     "Where SIGUSR1 and the end write figures (standard output)", "FILE"},
    {"latency", 0, 0, G_OPTION_ARG_INT, &sink.latency_ms, "Wait before each group of replies", "MS"},
    {"slow-read", 0, 0, G_OPTION_ARG_INT, &sink.slow_read, "Read no more than this a second", "OCTETS"},
    {"one-byte", 0, 0, G_OPTION_ARG_NONE, &dribble, "Send replies octet by octet", NULL},
    {"lmtp", 0, 0, G_OPTION_ARG_NONE, &lmtp, "Speak LMTP", NULL},
    {"offer", 0, 0, G_OPTION_ARG_STRING_ARRAY, &sink.offers, "A further line of the answer to EHLO", "LINE"},
    {"without", 0, 0, G_OPTION_ARG_STRING_ARRAY, &sink.without, "A keyword to leave out of it", "KEYWORD"},
    {"tls", 0, 0, G_OPTION_ARG_FILENAME, &certificate, "Offer STARTTLS, with this certificate and its key", "FILE"},
    {"auth", 0, 0, G_OPTION_ARG_STRING, &sink.password, "Offer AUTH PLAIN and LOGIN, and want it", "USER PASSWORD"},
    {"fault", 'f', 0, G_OPTION_ARG_STRING_ARRAY, &fault_texts,
     "What goes wrong: STAGE [p=P] [match=REGEX] [skip=N] [times=N] do REPLY|close|stall|reset|half-close|"
     "garbage|endless", "FAULT"},
    G_OPTION_ENTRY_NULL,
};

G_NORETURN static void usage(const char *problem)
{
    fprintf(stderr, "smtp-sink: %s\n", problem);
    exit(64);
}

static int open_listener(const char *where)
{
    const char *colon = strrchr(where, ':');
    if (colon == NULL)
        usage("--listen wants HOST:PORT");
    g_autofree char *host = g_strndup(where, (gsize)(colon - where));
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found = NULL;
    int code = getaddrinfo(host, colon + 1, &hints, &found);
    if (code != 0)
        usage(gai_strerror(code));
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 4096) != 0)
        usage(strerror(errno));
    freeaddrinfo(found);
    return fd;
}

static void print_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char port[16] = "";
    if (getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        getnameinfo((struct sockaddr *)&address, length, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    printf("%s\n", port);
    fflush(stdout);
}

static void on_connection(evutil_socket_t listener, short what, void *data)
{
    for (int i = 0; i < 256; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        sink_session_start(&sink, fd);
    }
}

static void on_report(evutil_socket_t number, short what, void *data)
{
    sink_store_stats(&sink, stats_path);
}

static void on_end(evutil_socket_t number, short what, void *data)
{
    event_base_loopbreak(sink.base);
}

static void watch_signal(int number, event_callback_fn callback)
{
    event_add(evsignal_new(sink.base, number, callback, NULL), NULL);
}

static void read_options(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new("- takes all mail, by SMTP or LMTP, for tests");
    g_option_context_add_main_entries(context, options, NULL);
    g_autoptr(GError) error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        usage(error->message);
    if (count_only && (sink.store != NULL || sink.maildir != NULL))
        usage("--count-only keeps nothing: leave out --store and --maildir");
    sink.dribble = dribble;
    sink.lmtp = lmtp;
    const char *problem_tls = certificate != NULL ? sink_tls_load(&sink, certificate) : NULL;
    if (problem_tls != NULL)
        usage(problem_tls);
    sink.faults = g_ptr_array_new_with_free_func((GDestroyNotify)sink_fault_free);
    for (char **text = fault_texts; text != NULL && *text != NULL; text++) {
        g_autofree char *problem = NULL;
        SinkFault *fault = sink_fault_parse(*text, &problem);
        if (fault == NULL)
            usage(problem);
        g_ptr_array_add(sink.faults, fault);
    }
    if (sink.store != NULL && g_mkdir_with_parents(sink.store, 0755) != 0)
        usage(strerror(errno));
    if (log_path != NULL && (sink.log_fd = open(log_path, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0644)) < 0)
        usage(strerror(errno));
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGPIPE, SIG_IGN);
    sink.base = event_base_new();
    int listener = open_listener(listen_at != NULL ? listen_at : "127.0.0.1:0");
    event_add(event_new(sink.base, listener, EV_READ | EV_PERSIST, on_connection, NULL), NULL);
    watch_signal(SIGUSR1, on_report);
    watch_signal(SIGTERM, on_end);
    watch_signal(SIGINT, on_end);
    print_port(listener);
    event_base_dispatch(sink.base);
    sink_store_stats(&sink, stats_path);
    return 0;
}
