/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/driver/pgsql_reach.h"

#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"

#define TICK 100 /* ms, after which input is asked for in any case: TLS may have more of it than the socket shows */
#define ASK (3 * CLOCK_SECOND) /* for the answer of a server that was reached */

struct PgsqlReach {
    gatomicrefcount references; /* the owner's, and that of the thread */
    char *where;
    GStrv hosts, addresses, ports; /* as `where` names them, or NULL */
    unsigned count;                /* of servers, at least 1 */
    GMutex lock;                   /* for what follows */
    GCond over;
    bool under_way;
    unsigned first; /* the server that the next attempt begins with */
    PGconn *server;
    char *fault;
};

/* ---- the servers ---- */

static GStrv split(const char *list)
{
    return list && *list ? g_strsplit(list, ",", -1) : NULL;
}

static unsigned length(GStrv list)
{
    return list ? g_strv_length(list) : 0;
}

PgsqlReach *pgsql_reach_new(const char *where)
{
    PgsqlReach *reach = g_new0(PgsqlReach, 1);
    g_atomic_ref_count_init(&reach->references);
    g_mutex_init(&reach->lock);
    g_cond_init(&reach->over);
    reach->where = g_strdup(where);
    PQconninfoOption *options = libpq.PQconninfoParse(where, NULL);
    for (const PQconninfoOption *option = options; option && option->keyword; option++) {
        if (strcmp(option->keyword, "host") == 0)
            reach->hosts = split(option->val);
        else if (strcmp(option->keyword, "hostaddr") == 0)
            reach->addresses = split(option->val);
        else if (strcmp(option->keyword, "port") == 0)
            reach->ports = split(option->val);
    }
    libpq.PQconninfoFree(options);
    reach->count = MAX(1, MAX(length(reach->hosts), length(reach->addresses)));
    return reach;
}

unsigned pgsql_reach_count(const PgsqlReach *reach)
{
    return reach->count;
}

static void unref(PgsqlReach *reach)
{
    if (!g_atomic_ref_count_dec(&reach->references))
        return;
    libpq.PQfinish(reach->server);
    g_strfreev(reach->hosts);
    g_strfreev(reach->addresses);
    g_strfreev(reach->ports);
    g_mutex_clear(&reach->lock);
    g_cond_clear(&reach->over);
    g_free(reach->where);
    g_free(reach->fault);
    g_free(reach);
}

void pgsql_reach_free(PgsqlReach *reach)
{
    if (reach)
        unref(reach);
}

/* One port stands for all servers. */
static const char *item(GStrv list, unsigned at)
{
    unsigned count = length(list);
    return count == 0 ? NULL : list[count == 1 ? 0 : MIN(at, count - 1)];
}

/* ---- an attempt ---- */

char *pgsql_one_line(const char *message)
{
    g_autofree char *text = g_strstrip(g_strdup(message && *message ? message : "the connection was lost"));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        g_strstrip(*line);
    return g_strjoinv("; ", lines);
}

bool pgsql_reach_answer(PGconn *server, int64_t us)
{
    int64_t until = clock_monotonic() + us;
    while (libpq.PQstatus(server) == CONNECTION_OK) {
        int unsent = libpq.PQflush(server);
        if (unsent < 0 || !libpq.PQisBusy(server))
            return true;
        int64_t left = us == 0 ? TICK : (until - clock_monotonic()) / 1000 + 1;
        if (us != 0 && clock_monotonic() >= until)
            return false;
        struct pollfd socket = {.fd = libpq.PQsocket(server), .events = (short)(POLLIN | (unsent ? POLLOUT : 0))};
        poll(&socket, 1, (int)MIN(left, TICK));
        if (!libpq.PQconsumeInput(server))
            return true;
    }
    return true;
}

/* The settings before dbname give way to those of `where`, and those behind it do not. Where no server is named, the
 * library finds them itself (a service file, PGHOST), and the one that takes writes among them. */
static PGconn *connect_to(const PgsqlReach *reach, unsigned at)
{
    const char *host = item(reach->hosts, at), *address = item(reach->addresses, at), *port = item(reach->ports, at);
    const char *names[20], *values[20];
    unsigned count = 0;
    const char *const before[][2] = {{"connect_timeout", "3"},          {"keepalives_idle", "5"},
                                     {"keepalives_interval", "2"},      {"keepalives_count", "3"},
                                     {"tcp_user_timeout", "10000"},     {"fallback_application_name", "listrunner"},
                                     {"target_session_attrs", "read-write"}};
    const char *const behind[][2] = {{"host", host}, {"hostaddr", address}, {"port", port},
                                     {"target_session_attrs", host || address ? "any" : NULL},
                                     {"client_encoding", "UTF8"}};
    for (size_t i = 0; i < G_N_ELEMENTS(before); i++, count++) {
        names[count] = before[i][0];
        values[count] = before[i][1];
    }
    names[count] = "dbname";
    values[count++] = reach->where;
    for (size_t i = 0; i < G_N_ELEMENTS(behind); i++) {
        if (!behind[i][1])
            continue;
        names[count] = behind[i][0];
        values[count++] = behind[i][1];
    }
    names[count] = values[count] = NULL;
    return libpq.PQconnectdbParams(names, values, 1);
}

/* NULL: it takes writes. */
static char *ask(PGconn *server)
{
    if (libpq.PQstatus(server) != CONNECTION_OK)
        return pgsql_one_line(libpq.PQerrorMessage(server));
    PGresult *last = NULL, *result = NULL;
    bool answered = libpq.PQsetnonblocking(server, 1) == 0 &&
                    libpq.PQsendQuery(server, "SELECT current_setting('transaction_read_only')") == 1;
    while (answered && (answered = pgsql_reach_answer(server, ASK)) && (result = libpq.PQgetResult(server))) {
        libpq.PQclear(last);
        last = result;
    }
    bool rows = libpq.PQresultStatus(last) == PGRES_TUPLES_OK && libpq.PQntuples(last) == 1;
    char *fault = !answered ? g_strdup_printf("the server does not answer within %d s", (int)(ASK / CLOCK_SECOND))
                  : !rows   ? pgsql_one_line(libpq.PQerrorMessage(server))
                  : strcmp(libpq.PQgetvalue(last, 0, 0), "on") == 0 ? g_strdup("it is read-only: a standby")
                                                                    : NULL;
    libpq.PQclear(last);
    return fault;
}

static void *attempt(void *data)
{
    PgsqlReach *reach = data;
    g_autoptr(GString) faults = g_string_new(NULL);
    PGconn *server = NULL;
    unsigned at = reach->first;
    for (unsigned tries = 0; tries < reach->count; tries++) {
        at = (reach->first + tries) % reach->count;
        server = connect_to(reach, at);
        g_autofree char *fault = ask(server);
        if (!fault)
            break;
        /* The servers of a connection string are told apart by host and port. */
        const char *host = item(reach->hosts, at), *port = item(reach->ports, at);
        if (faults->len > 0)
            g_string_append(faults, "; ");
        if (reach->count > 1)
            g_string_append_printf(faults, "%s%s%s: ", host ? host : item(reach->addresses, at),
                                   port && *port ? ":" : "", port ? port : "");
        g_string_append(faults, fault);
        g_clear_pointer(&server, libpq.PQfinish);
    }
    g_mutex_lock(&reach->lock);
    reach->server = server;
    reach->fault = server ? NULL : g_strdup(faults->str);
    reach->first = server ? at : reach->first;
    reach->under_way = false;
    g_cond_signal(&reach->over);
    g_mutex_unlock(&reach->lock);
    unref(reach);
    return NULL;
}

/* The thread takes no signal: the process has its own place for them. */
void pgsql_reach_begin(PgsqlReach *reach)
{
    sigset_t all, before;
    sigfillset(&all);
    reach->under_way = true;
    g_atomic_ref_count_inc(&reach->references);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    GThread *thread = g_thread_try_new("database", attempt, reach, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (thread)
        g_thread_unref(thread);
    else
        attempt(reach);
}

bool pgsql_reach_under_way(PgsqlReach *reach)
{
    g_mutex_lock(&reach->lock);
    bool under_way = reach->under_way || reach->server || reach->fault;
    g_mutex_unlock(&reach->lock);
    return under_way;
}

bool pgsql_reach_end(PgsqlReach *reach, int64_t us, PGconn **server, char **fault)
{
    int64_t until = g_get_monotonic_time() + us;
    g_mutex_lock(&reach->lock);
    while (reach->under_way && (us < 0 || g_get_monotonic_time() < until)) {
        if (us < 0)
            g_cond_wait(&reach->over, &reach->lock);
        else
            g_cond_wait_until(&reach->over, &reach->lock, until);
    }
    bool over = !reach->under_way;
    *server = over ? g_steal_pointer(&reach->server) : NULL;
    *fault = over ? g_steal_pointer(&reach->fault) : NULL;
    g_mutex_unlock(&reach->lock);
    return over;
}

void pgsql_reach_next(PgsqlReach *reach)
{
    g_mutex_lock(&reach->lock);
    reach->first = (reach->first + 1) % reach->count;
    g_mutex_unlock(&reach->lock);
}
