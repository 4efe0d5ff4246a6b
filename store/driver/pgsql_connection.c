/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/driver/pgsql_connection.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "store/driver/driver.h"

#define SERVER_OLDEST 130000
#define LATER_MOST 256           /* statements sent whose outcome is not known yet */
#define RETRY_LEAST CLOCK_SECOND /* in which a server that cannot be reached is not tried again, */
#define RETRY_MOST (5 * CLOCK_SECOND) /* or as long as finding that out took */
#define AWAY_WAIT (CLOCK_SECOND / 5)  /* for one that was away */
#define WRITE_WAIT (60 * CLOCK_SECOND) /* for a statement of a transaction that writes, and for its locks */
#define STALL_LEAST (5 * CLOCK_SECOND) /* in which a server that gives no answer is not asked again, */
#define STALL_MOST (60 * CLOCK_SECOND)
#define STALL_FORGOTTEN (300 * CLOCK_SECOND) /* after which the next is the first */

/* ---- errors ---- */

static bool has_state(const PGresult *result, const char *code)
{
    const char *state = result ? libpq.PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    return state && strcmp(state, code) == 0;
}

/* The connection is of no more use. */
static void drop(PgsqlConnection *self)
{
    g_clear_pointer(&self->server, libpq.PQfinish);
}

/* Tell what is wrong with result, which is freed. */
bool pgsql_failed(PgsqlConnection *self, PGresult *result, GError **error)
{
    if (!result && !self->server && self->refusal) /* it was dropped */
        return fail(error, FAIL_LATER, "%s", self->refusal);
    const char *state = result ? libpq.PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *primary = result ? libpq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    g_autofree char *message = primary ? g_strdup(primary) : pgsql_one_line(libpq.PQerrorMessage(self->server));
    const bool locked_out = has_state(result, "55P03");
    /* Of the constraints, only that of a key says that the row is there. */
    const FailCode code = has_state(result, "23505") ? FAIL_EXISTS : FAIL_LATER;
    const bool undone = state ? strcmp(state, "25P03") == 0 : self->undone;
    fail(error, code, "%s: %s%s%s", self->shown, message,
         locked_out ? " (another process has been writing for " PGSQL_LOCK_WAIT ")" : "",
         undone ? " (this process stood still in a transaction, which was undone so that others need not wait)" : "");
    self->ended = state && (g_str_has_prefix(state, "57P") || g_str_has_prefix(state, "08"));
    self->undone = undone;
    self->locked_out = self->locked_out || locked_out;
    /* A server that became a standby answers "read-only": another one is the primary now, so look for it anew. */
    if (has_state(result, "25006")) {
        pgsql_reach_next(self->reach);
        drop(self);
    }
    libpq.PQclear(result);
    return false;
}

bool pgsql_succeeded(const PGresult *result)
{
    ExecStatusType status = libpq.PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

bool pgsql_is_conflict(const PGresult *result)
{
    return has_state(result, "40001") || has_state(result, "40P01");
}

bool pgsql_run(PgsqlConnection *self, const char *sql, GError **error)
{
    PGresult *result = pgsql_exec(self, sql);
    if (!pgsql_succeeded(result))
        return pgsql_failed(self, result, error);
    libpq.PQclear(result);
    return true;
}

PGresult *pgsql_answer(PgsqlConnection *self, int sent)
{
    return sent == 1 ? pgsql_next_answer(self) : NULL;
}

PGresult *pgsql_exec(PgsqlConnection *self, const char *sql)
{
    return pgsql_answer(self, libpq.PQsendQuery(self->server, sql));
}

void pgsql_count_changes(PgsqlConnection *self, PGresult *result)
{
    const char *command = libpq.PQcmdStatus(result);
    if (!g_str_has_prefix(command, "INSERT") && !g_str_has_prefix(command, "UPDATE") &&
        !g_str_has_prefix(command, "DELETE"))
        return;
    self->changed = g_ascii_strtoll(libpq.PQcmdTuples(result), NULL, 10);
    self->changed_ever += self->changed;
}

bool pgsql_sent(PgsqlConnection *self, bool sent, GError **error)
{
    self->waiting += sent;
    return sent || pgsql_failed(self, NULL, error);
}

bool pgsql_may_send(PgsqlConnection *self, GError **error)
{
    return self->waiting > 0 || libpq.PQenterPipelineMode(self->server) == 1 || pgsql_failed(self, NULL, error);
}

bool pgsql_send_text(PgsqlConnection *self, const char *sql, GError **error)
{
    if (!pgsql_sent(self, libpq.PQsendQueryParams(self->server, sql, 0, NULL, NULL, NULL, NULL, 0) == 1, error))
        return false;
    if (g_str_has_prefix(sql, "SAVEPOINT ") || g_str_has_prefix(sql, "RELEASE "))
        self->parted = self->waiting;
    return true;
}

/* All connections of the process have one notice. It is over when none of them has anything to tell. */
static void tell(PgsqlConnection *self, const char *notice)
{
    static int telling;
    const bool tells = notice != NULL;
    if (tells != self->tells)
        g_atomic_int_add(&telling, tells ? 1 : -1);
    self->tells = tells;
    if (tells || g_atomic_int_get(&telling) == 0)
        child_notice(CHILD_NOTICE_DATABASE, notice);
}

/* Tell once that the server is away, and once that it is back; whoever opens a store first is told by the error. */
static void note_refusal(PgsqlConnection *self, const char *fault, int64_t pause)
{
    g_free(self->refusal);
    self->refusal = g_strdup_printf("%s: %s", self->shown, fault);
    self->retry_at = clock_monotonic() + pause;
    if (self->away_since != 0 || !self->was_there)
        return;
    self->away_since = clock_now();
    g_autofree char *since = clock_text(self->away_since);
    g_autofree char *notice = g_strdup_printf("the database is away since %s (%s)", since, self->refusal);
    log_warn("%s", notice);
    tell(self, notice);
}

/* Is there a result to be got without waiting, or a lost connection to be told? False: the connection was dropped. */
static bool await(PgsqlConnection *self)
{
    int64_t us = self->bulk ? 0 : self->deadline;
    if (us != 0 && self->writes)
        us = MAX(us, WRITE_WAIT);
    if (libpq.PQstatus(self->server) != CONNECTION_OK)
        return false;
    if (pgsql_reach_answer(self->server, us))
        return true;

    /* A server that lives, and whose storage does not, keeps its connections and answers nothing. What was asked of it
     * may still be done. It is asked again after a pause, and after ever longer ones while that repeats itself. */
    int64_t now = clock_monotonic();
    bool again = self->stall_pause != 0 && now - self->stalled_at < STALL_FORGOTTEN;
    self->stall_pause = again ? MIN(2 * self->stall_pause, STALL_MOST) : STALL_LEAST;
    self->stalled_at = now;
    drop(self);
    g_autofree char *fault = g_strdup_printf("the server keeps the connection and does not answer within %d s",
                                             (int)(us / CLOCK_SECOND));
    note_refusal(self, fault, self->stall_pause);
    return false;
}

/* The last of the results up to the NULL behind them is that of the statement, or its error. */
PGresult *pgsql_next_answer(PgsqlConnection *self)
{
    PGresult *answer = NULL, *result = NULL;
    while (await(self) && (result = libpq.PQgetResult(self->server))) {
        libpq.PQclear(answer);
        answer = result;
    }
    return answer;
}

bool pgsql_sync(PgsqlConnection *self)
{
    return libpq.PQpipelineSync(self->server) == 1;
}

/* End the pipeline, or drop a connection whose pipeline cannot be brought to its end. */
void pgsql_end_pipeline(PgsqlConnection *self)
{
    self->waiting = 0;
    if (await(self))
        libpq.PQclear(libpq.PQgetResult(self->server)); /* of the sync */
    if (libpq.PQexitPipelineMode(self->server) == 1 && libpq.PQstatus(self->server) == CONNECTION_OK)
        return;
    drop(self);
}

/* After a failure, the server passes over the rest up to the end of the pipeline. One that nobody waited for is not the
 * fault of the caller that is told of it, so it is FAIL_LATER. Where a savepoint begins or ends among the rest, the
 * part that failed is over, and to go back to a savepoint would undo another part than is meant. */
PGresult *pgsql_collect(PgsqlConnection *self, GError **error)
{
    PGresult *last = NULL, *fault = NULL;
    unsigned count = self->waiting, faulty = 0;
    bool synced = pgsql_sync(self);
    for (unsigned at = 1; synced && at <= count; at++) {
        PGresult *answer = pgsql_next_answer(self);
        if (libpq.PQresultStatus(answer) == PGRES_FATAL_ERROR && !fault) {
            fault = g_steal_pointer(&answer);
            faulty = at;
        } else if (pgsql_succeeded(answer)) {
            pgsql_count_changes(self, answer);
            libpq.PQclear(last);
            last = g_steal_pointer(&answer);
        }
        libpq.PQclear(answer);
    }
    self->spoiled = self->spoiled || (faulty > 0 && faulty <= self->parted);
    self->waiting = self->parted = 0;
    self->conflict = pgsql_is_conflict(fault);
    if (synced && await(self))
        libpq.PQclear(libpq.PQgetResult(self->server)); /* of the sync */
    bool left = libpq.PQexitPipelineMode(self->server) == 1 && libpq.PQstatus(self->server) == CONNECTION_OK;
    if (left && !fault)
        return last;
    libpq.PQclear(last);
    pgsql_failed(self, fault, error);
    if (!left)
        drop(self);
    if (faulty < count && error && *error)
        (*error)->code = FAIL_LATER;
    return NULL;
}

/* Outside of transactions: who has kept others waiting longest, for how long, and whether the server waits for it.
 * The locks of a schema and of its lists are a range of numbers, and that of the site is a pair (pgsql_lock_site()).
 *
 * A client that was stopped in the midst of what it sent is at work for the server, which so does not end it for being
 * idle: it is ended here. */
#define HOLDER                                                                                                         \
    "SELECT format('%%s (process %%s of the server%%s, %%s) has held for %%s s', "                                     \
    "coalesce(nullif(application_name, ''), 'a client without a name'), pid, ', from ' || host(client_addr), "         \
    "CASE WHEN wait_event = 'ClientRead' THEN 'which waits for it' "                                                   \
    "ELSE 'which is at work' || coalesce(' or waits: ' || wait_event, '') END, "                                       \
    "extract(epoch FROM clock_timestamp() - xact_start)::int) || "                                                     \
    "CASE WHEN state = 'active' AND wait_event = 'ClientRead' AND "                                                    \
    "clock_timestamp() - greatest(query_start, state_change) > '" PGSQL_LOCK_WAIT "' AND pg_terminate_backend(pid) "   \
    "THEN '; it was ended' ELSE '' END "                                                                               \
    "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND clock_timestamp() - xact_start > '2s' AND pid IN "        \
    "(SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND "                                           \
    "database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND "                                 \
    "CASE objsubid WHEN 1 THEN (classid::bigint << 32 | objid::bigint) BETWEEN %" G_GINT64_FORMAT                      \
    " AND %" G_GINT64_FORMAT " ELSE classid::bigint = %" G_GINT64_FORMAT " END) ORDER BY xact_start LIMIT 1"

void pgsql_tell_holder(PgsqlConnection *self)
{
    g_autofree char *sql = g_strdup_printf(HOLDER, self->lock, self->lock + 0x7fffffff, self->lock >> 31);
    g_autofree char *holder = NULL, *since = clock_text(self->waits_since != 0 ? self->waits_since : clock_now());
    self->locked_out = false;
    if (!pgsql_text(self, sql, &holder, NULL) || !holder)
        return;
    g_autofree char *notice = g_strdup_printf("waits since %s for a lock of the database that %s", since, holder);
    log_warn("%s", notice);
    tell(self, notice);
    self->told_holder = true;
}

/* The first wait for a lock is short, so that the log and the status tell soon who has it. */
PGresult *pgsql_open_transaction(PgsqlConnection *self, PgsqlSend *send, void *data, GError **error)
{
    PGresult *last = NULL;
    bool again = true, patient = false;
    for (unsigned tries = 1; !last && again; tries++) {
        g_autoptr(GError) fault = NULL;
        int64_t began = clock_now();
        self->conflict = self->spoiled = self->locked_out = false;
        bool sent = pgsql_may_send(self, &fault);
        for (guint at = 0; sent && at < self->opening->len; at++)
            sent = pgsql_send_text(self, self->opening->pdata[at], &fault);
        if (sent && (!send || send(data, &fault)))
            last = pgsql_collect(self, &fault);
        bool waits = self->locked_out && !patient;
        again = waits || (self->conflict && tries < PGSQL_CONFLICT_TRIES);
        if (self->locked_out && self->waits_since == 0)
            self->waits_since = began;
        if (again)
            libpq.PQclear(pgsql_exec(self, "ROLLBACK"));
        else if (!last)
            g_propagate_error(error, g_steal_pointer(&fault));
        if (waits) {
            pgsql_tell_holder(self);
            g_free(self->opening->pdata[PGSQL_OPENING_WAIT]);
            self->opening->pdata[PGSQL_OPENING_WAIT] = g_strdup("SET LOCAL lock_timeout = '" PGSQL_LOCK_WAIT "'");
            patient = true;
        }
    }
    if (last) { /* the locks were had */
        self->waits_since = 0;
        if (self->told_holder)
            tell(self, NULL);
        self->told_holder = false;
    }
    g_ptr_array_set_size(self->opening, 0);
    return last;
}

bool pgsql_settle(PgsqlConnection *self, GError **error)
{
    if (self->waiting == 0 && self->opening->len == 0)
        return true;
    PGresult *last = self->opening->len > 0 ? pgsql_open_transaction(self, NULL, NULL, error)
                                            : pgsql_collect(self, error);
    libpq.PQclear(last);
    return last != NULL;
}

/* The text of the first column of the first row; NULL for NULL or no row. */
bool pgsql_text(PgsqlConnection *self, const char *sql, char **text, GError **error)
{
    PGresult *result = pgsql_exec(self, sql);
    *text = NULL;
    if (!pgsql_succeeded(result))
        return pgsql_failed(self, result, error);
    if (libpq.PQntuples(result) > 0 && !libpq.PQgetisnull(result, 0, 0))
        *text = g_strdup(libpq.PQgetvalue(result, 0, 0));
    libpq.PQclear(result);
    return true;
}

/* ---- the connection ---- */

static void add_option(GString *shown, const char *before, const char *value)
{
    if (value && *value)
        g_string_append_printf(shown, "%s%s", before, value);
}

char *pgsql_shown(const char *where, GError **error)
{
    char *message = NULL;
    if (!libpq_load(error))
        return NULL;
    PQconninfoOption *options = libpq.PQconninfoParse(where, &message);
    if (!options) {
        g_autofree char *line = pgsql_one_line(message);
        libpq.PQfreemem(message);
        fail(error, FAIL_CONFIG, "this is no connection string of PostgreSQL: %s", line);
        return NULL;
    }
    const char *user = NULL, *host = NULL, *port = NULL, *database = NULL;
    for (const PQconninfoOption *option = options; option->keyword; option++) {
        if (strcmp(option->keyword, "user") == 0)
            user = option->val;
        else if (strcmp(option->keyword, "host") == 0)
            host = option->val;
        else if (strcmp(option->keyword, "port") == 0)
            port = option->val;
        else if (strcmp(option->keyword, "dbname") == 0)
            database = option->val;
    }
    g_autoptr(GString) shown = g_string_new("PostgreSQL");
    add_option(shown, " database ", database);
    add_option(shown, " at ", host);
    if (port && port[strspn(port, ",")] != '\0') /* only commas: each of several hosts has the usual one */
        add_option(shown, " port ", port);
    add_option(shown, " as ", user);
    libpq.PQconninfoFree(options);
    return g_string_free(g_steal_pointer(&shown), FALSE);
}

bool pgsql_look_around(PgsqlConnection *self, GError **error)
{
    const char *encoding = libpq.PQparameterStatus(self->server, "server_encoding");
    if (libpq.PQserverVersion(self->server) < SERVER_OLDEST)
        return fail(error, FAIL_CONFIG, "%s: the server is too old; PostgreSQL %d or newer is needed", self->shown,
                    SERVER_OLDEST / 10000);
    if (g_strcmp0(encoding, "UTF8") != 0)
        return fail(error, FAIL_CONFIG,
                    "%s: the database is in %s; make it with \"createdb --encoding=UTF8 "
                    "--template=template0\"",
                    self->shown, encoding ? encoding : "an unknown encoding");
    PGresult *result = pgsql_exec(self, "SELECT pg_backend_pid(), coalesce(to_regnamespace(quote_ident("
                                    "current_schema()))::oid::bigint, 0), current_setting('synchronous_commit')");
    if (!pgsql_succeeded(result))
        return pgsql_failed(self, result, error);
    self->pooled = atoi(libpq.PQgetvalue(result, 0, 0)) != libpq.PQbackendPID(self->server);
    int64_t schema = g_ascii_strtoll(libpq.PQgetvalue(result, 0, 1), NULL, 10);
    bool durable = strcmp(libpq.PQgetvalue(result, 0, 2), "off") != 0;
    libpq.PQclear(result);
    self->lock = schema << 31;
    /* Statements find rows by an index, whatever their values: one plan is right, and planning takes longer than it.
     * And the server is to notice within half a minute that this host was cut off, since an open transaction keeps the
     * locks for which all others wait. */
    if (!self->pooled && !pgsql_run(self,
                                    "SET plan_cache_mode = force_generic_plan; SET tcp_keepalives_idle = 10; "
                                    "SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; "
                                    "SET tcp_user_timeout = 25000",
                                    error))
        return false;
    return durable || fail(error, FAIL_CONFIG,
                           "%s: synchronous_commit is off, so mail that was accepted could be "
                           "lost; set it to \"on\" for this database or role",
                           self->shown);
}

/* *answer (g_free()) is NULL where the server does not say: it does not tell its users of its log (Aurora), or has no
 * table yet. False: the connection was lost, or the server has a trouble that will pass, and so nothing is known. */
static bool ask(PgsqlConnection *self, const char *question, char **answer, GError **error)
{
    PGresult *result = pgsql_exec(self, question);
    bool row = pgsql_succeeded(result) && libpq.PQntuples(result) > 0;
    const char *state = result ? libpq.PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    bool passes = state && (g_str_has_prefix(state, "53") || g_str_has_prefix(state, "57"));
    *answer = row ? g_strdup(libpq.PQgetvalue(result, 0, 0)) : NULL;
    if (passes || libpq.PQstatus(self->server) != CONNECTION_OK)
        return pgsql_failed(self, result, error);
    libpq.PQclear(result);
    return true;
}

bool pgsql_read_generation(PgsqlConnection *self, const char *row, Generation *found, GError **error)
{
    g_autofree char *count = row ? g_strdup_printf("SELECT value FROM counter WHERE name = '%s'", row) : NULL;
    g_autofree char *timeline = NULL, *value = NULL;
    *found = (Generation){.system = NULL};
    if (!ask(self, "SELECT system_identifier FROM pg_control_system()", &found->system, error) ||
        !ask(self, "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint", &timeline,
             error) ||
        (count && !ask(self, count, &value, error)))
        return false;
    found->timeline = timeline ? g_ascii_strtoll(timeline, NULL, 10) : 0;
    found->count = value ? g_ascii_strtoll(value, NULL, 10) : 0;
    return true;
}

/* *fault (g_free()) says why this host may not go on with the database; NULL: it may. False: that is not known. */
static bool compare(PgsqlConnection *self, char **fault, GError **error)
{
    g_auto(Generation) known = {0}, found = {0};
    *fault = NULL;
    if (!generation_expected(self->where, &known))
        return true;
    if (!pgsql_read_generation(self, known.row, &found, error))
        return false;
    *fault = generation_fault(&known, &found);
    return true;
}

/* The server says why it ends a connection when it does, and the next statement hears only that it is gone. */
static void note_end(void *data, const PGresult *result)
{
    PgsqlConnection *self = data;
    self->undone = self->undone || has_state(result, "25P03");
}

/* All that was known of the connection before goes with it. */
static void begin_attempt(PgsqlConnection *self)
{
    drop(self);
    self->generation++;
    self->streams = self->waiting = self->parted = 0;
    self->spoiled = self->locked_out = self->writes = self->undone = false;
    g_hash_table_remove_all(self->prepared);
    self->began = clock_monotonic();
    pgsql_reach_begin(self->reach);
}

/* A process that knows that the server is away does not wait for the end of an attempt: a later call finds it. */
static int64_t patience(const PgsqlConnection *self)
{
    return self->away_since != 0 ? AWAY_WAIT : self->deadline != 0 ? self->deadline : -1;
}

/* Where the server was refused, as old says, another one may take writes, too. */
static bool find_newer(PgsqlConnection *self, const char *old)
{
    bool found = false, over = true;
    for (unsigned tries = 1; tries < pgsql_reach_count(self->reach) && !found && over; tries++) {
        g_autofree char *fault = NULL, *other = NULL;
        pgsql_reach_next(self->reach);
        begin_attempt(self);
        over = pgsql_reach_end(self->reach, patience(self), &self->server, &fault);
        if (self->server)
            libpq.PQsetNoticeReceiver(self->server, note_end, self);
        found = self->server && compare(self, &other, NULL) && !other && pgsql_look_around(self, NULL);
    }
    if (!found)
        return false;
    g_autofree char *notice = g_strdup_printf("a server of the database is not used: %s: %s", self->shown, old);
    log_warn("%s", notice);
    tell(self, notice);
    self->passed_over = true;
    return true;
}

/* Whether the server is to be used, or another one is found. A refused one is not asked again for a while. */
static bool judge(PgsqlConnection *self, GError **error)
{
    g_autofree char *fault = NULL, *before = g_strdup(self->refusal);
    bool was_away = self->away_since != 0;
    if (!compare(self, &fault, error))
        return false;
    if (!fault) {
        if (self->passed_over)
            tell(self, NULL);
        self->passed_over = false;
        return pgsql_look_around(self, error);
    }
    if (find_newer(self, fault))
        return true;
    note_refusal(self, fault, RETRY_LEAST);
    if (was_away && g_strcmp0(self->refusal, before) != 0) /* for another reason */
        tell(self, self->refusal);
    return fail(error, FAIL_LATER, "%s", self->refusal);
}

static bool connect_anew(PgsqlConnection *self, GError **error)
{
    g_autofree char *fault = NULL;
    bool under_way = pgsql_reach_under_way(self->reach);
    if (!under_way && clock_monotonic() < self->retry_at)
        return fail(error, FAIL_LATER, "%s", self->refusal);
    if (!under_way)
        begin_attempt(self);
    if (!pgsql_reach_end(self->reach, patience(self), &self->server, &fault))
        note_refusal(self, "the server cannot be reached", 0);
    else if (!self->server)
        note_refusal(self, fault, CLAMP(clock_monotonic() - self->began, RETRY_LEAST, RETRY_MOST));
    if (!self->server)
        return fail(error, FAIL_LATER, "%s", self->refusal);
    libpq.PQsetNoticeReceiver(self->server, note_end, self);
    int64_t deadline = self->deadline;
    if (deadline != 0 && self->away_since != 0)
        self->deadline = MIN(deadline, CLOCK_SECOND);
    bool known = judge(self, error);
    self->deadline = deadline;
    if (!known) {
        drop(self);
        return false;
    }
    self->was_there = true;
    self->retry_at = 0;
    g_clear_pointer(&self->refusal, g_free);
    if (self->away_since == 0)
        return true;
    log_info("the database is back after %" G_GINT64_FORMAT " s", (clock_now() - self->away_since) / CLOCK_SECOND);
    if (!self->passed_over) /* else the notice tells of that by now */
        tell(self, NULL);
    self->away_since = 0;
    return true;
}

/* A server that went away while nothing was asked has left its last words and an end of file behind. */
static bool is_alive(PgsqlConnection *self)
{
    while (libpq.PQstatus(self->server) == CONNECTION_OK) {
        struct pollfd socket = {.fd = libpq.PQsocket(self->server), .events = POLLIN};
        if (poll(&socket, 1, 0) <= 0)
            return true;
        if (!libpq.PQconsumeInput(self->server))
            return false;
        libpq.PQclear(libpq.PQisBusy(self->server)
                          ? NULL
                          : libpq.PQgetResult(self->server)); /* takes notices out of the buffer */
    }
    return false;
}

/* Outside a transaction: see that there is a server. */
bool pgsql_connected(PgsqlConnection *self, GError **error)
{
    return is_alive(self) || connect_anew(self, error);
}

PgsqlConnection *pgsql_connect(const char *where, GError **error)
{
    g_autofree char *shown = pgsql_shown(where, error);
    if (!shown)
        return NULL;
    PgsqlConnection *self = g_new0(PgsqlConnection, 1);
    self->where = g_strdup(where);
    self->shown = g_steal_pointer(&shown);
    self->reach = pgsql_reach_new(where);
    self->deadline = store_opening_deadline();
    self->opening = g_ptr_array_new_with_free_func(g_free);
    self->prepared = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    if (connect_anew(self, error))
        return self;
    pgsql_disconnect(self);
    return NULL;
}

void pgsql_disconnect(PgsqlConnection *self)
{
    if (self->tells) /* nobody is left who could see that it is over */
        tell(self, NULL);
    drop(self);
    pgsql_reach_free(self->reach);
    g_ptr_array_unref(self->opening);
    g_hash_table_unref(self->prepared);
    g_free(self->where);
    g_free(self->shown);
    g_free(self->refusal);
    g_free(self);
}

/* ---- transactions, with their locks and keys ---- */

/* One of some lists is begun by the statement that comes first in it, in the same round trip: a post then waits for the
 * server once less. Until then it holds no lock, and who begins it must not take it for one outside of the database. */
bool pgsql_is_sound(void *connection)
{
    const PgsqlConnection *self = connection;
    return self->waiting > 0 || self->opening->len > 0 ? libpq.PQstatus(self->server) == CONNECTION_OK
                                                       : libpq.PQtransactionStatus(self->server) == PQTRANS_INTRANS;
}

bool pgsql_in_transaction(void *connection)
{
    return pgsql_is_sound(connection) ||
           libpq.PQtransactionStatus(((PgsqlConnection *)connection)->server) == PQTRANS_INERROR;
}

bool pgsql_room(PgsqlConnection *self, GError **error)
{
    return (self->waiting < LATER_MOST && self->opening->len == 0) || pgsql_settle(self, error);
}

void pgsql_rollback(void *connection)
{
    PgsqlConnection *self = connection;
    bool begun = self->opening->len == 0;
    g_ptr_array_set_size(self->opening, 0);
    if (!begun)
        return;
    pgsql_settle(self, NULL);
    libpq.PQclear(pgsql_exec(self, "ROLLBACK"));
    self->writes = false;
    if (self->locked_out)
        pgsql_tell_holder(self);
}

/* It writes very much, or stands still while another database is written. */
void pgsql_expect_bulk(void *connection)
{
    PgsqlConnection *self = connection;
    self->bulk = true;
}

/* locks: the lock of the schema, and those behind it. The server ends a transaction whose client asks nothing for a
 * while: a process that was stopped, or waits for a disk, would keep its locks for as long as its kernel lives. */
static void begin(PgsqlConnection *self, const char *locks)
{
    self->keys_used = self->keys_had = 0;
    self->writes = true;
    g_ptr_array_set_size(self->opening, 0);
    g_ptr_array_add(self->opening, g_strdup(PGSQL_LEVEL));
    g_ptr_array_add(self->opening, g_strdup("SET LOCAL lock_timeout = '" PGSQL_LOCK_LOOK "'"));
    g_assert(self->opening->len - 1 == PGSQL_OPENING_WAIT);
    g_ptr_array_add(self->opening, g_strdup_printf("SET LOCAL idle_in_transaction_session_timeout = '%s'",
                                                   self->bulk ? PGSQL_BULK_IDLE : PGSQL_IDLE));
    g_ptr_array_add(self->opening, g_strdup(locks));
    g_ptr_array_add(self->opening, g_strdup("SET LOCAL lock_timeout = '" PGSQL_LOCK_WAIT "'"));
}

/* One lock for all of the schema, as only one writes to a database of SQLite at a time, so that a check before an
 * insert holds until the commit. */
bool pgsql_begin(void *connection, GError **error)
{
    PgsqlConnection *self = connection;
    if (!pgsql_connected(self, error))
        return false;
    g_autofree char *lock = g_strdup_printf("SELECT pg_advisory_xact_lock(%" G_GINT64_FORMAT ")", self->lock);
    begin(self, lock);
    if (pgsql_settle(self, error))
        return true;
    if (pgsql_in_transaction(self))
        pgsql_rollback(self);
    return false;
}

static int compare_locks(gconstpointer one, gconstpointer other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/* It comes behind those of the lists, and is one for all: so who waits for it holds nothing that its holder could want.
 * Its number is the first of a pair, so that it is that of no list. */
static int32_t site_lock(const PgsqlConnection *self)
{
    return (int32_t)(self->lock >> 31);
}

/* The lock of the schema is shared, and held alone by begin(). That of a list is a mix of its key: two lists that have
 * the same wait for each other, which does no harm as long as locks are taken in their own order. */
bool pgsql_begin_lists(void *connection, const int64_t *lists, size_t count, bool people, GError **error)
{
    PgsqlConnection *self = connection;
    if (!pgsql_connected(self, error))
        return false;
    g_autoptr(GArray) locks = g_array_sized_new(FALSE, FALSE, sizeof(int64_t), (guint)count);
    g_autoptr(GString) sql = g_string_new(NULL);
    g_string_append_printf(sql, "SELECT pg_advisory_xact_lock_shared(%" G_GINT64_FORMAT ")", self->lock);
    for (size_t i = 0; i < count; i++) {
        int64_t lock = self->lock + 1 + (lists[i] >> 11) % 0x7fffffff;
        g_array_append_val(locks, lock);
    }
    g_array_sort(locks, compare_locks);
    for (guint i = 0; i < locks->len; i++)
        g_string_append_printf(sql, ", pg_advisory_xact_lock(%" G_GINT64_FORMAT ")", g_array_index(locks, int64_t, i));
    if (people)
        g_string_append_printf(sql, ", pg_advisory_xact_lock(%d, 1)", site_lock(self));
    begin(self, sql->str);
    return true;
}

bool pgsql_later_text(PgsqlConnection *self, const char *sql, GError **error)
{
    if (self->opening->len == 0)
        return pgsql_room(self, error) && pgsql_may_send(self, error) && pgsql_send_text(self, sql, error);
    g_ptr_array_add(self->opening, g_strdup(sql));
    return true;
}

bool pgsql_lock_site(void *connection, GError **error)
{
    PgsqlConnection *self = connection;
    g_autofree char *sql = g_strdup_printf("SELECT pg_advisory_xact_lock(%d, 1)", site_lock(self));
    return pgsql_later_text(self, sql, error);
}

static bool commit(PgsqlConnection *self, GError **error)
{
    bool begun = self->opening->len == 0;
    g_ptr_array_set_size(self->opening, 0);
    if (!begun) /* nothing was done in it */
        return true;
    if (self->waiting > 0 && !pgsql_send_text(self, "COMMIT", error))
        return false;
    PGresult *result = self->waiting > 0 ? pgsql_collect(self, error) : pgsql_exec(self, "COMMIT");
    if (!result || !pgsql_succeeded(result))
        return result && pgsql_failed(self, result, error);
    bool committed = strcmp(libpq.PQcmdStatus(result), "COMMIT") == 0;
    libpq.PQclear(result);
    return committed || fail(error, FAIL_LATER, "%s: a part of the transaction failed", self->shown);
}

/* The server answers ROLLBACK to the COMMIT of a transaction in which something failed. */
bool pgsql_commit(void *connection, GError **error)
{
    PgsqlConnection *self = connection;
    self->ended = self->undone = false;
    bool done = commit(self, error);
    self->writes = false;
    return done;
}

/* A server that refuses it goes on with the connection. One that ends the connection may have written the commit, and
 * waited for a standby. */
bool pgsql_commit_unknown(void *connection)
{
    const PgsqlConnection *self = connection;
    bool lost = !self->server || libpq.PQtransactionStatus(self->server) == PQTRANS_UNKNOWN;
    return (lost || self->ended) && !self->undone;
}

/* The sequence counts microseconds: it begins with the time at which the schema was made, and so keys sort by creation
 * however the clocks of hosts stand. A transaction that makes many gets ever more at once. */
bool pgsql_key(void *connection, int64_t *key, GError **error)
{
    PgsqlConnection *self = connection;
    if (self->keys_used == self->keys_had) {
        unsigned count = CLAMP(self->keys_had * 2, 1, PGSQL_KEYS);
        if (!pgsql_settle(self, error))
            return false;
        g_autofree char *sql = g_strdup_printf("SELECT nextval('listrunner_key') FROM generate_series(1, %u)", count);
        PGresult *result = pgsql_exec(self, sql);
        if (!pgsql_succeeded(result))
            return pgsql_failed(self, result, error);
        self->keys_had = (unsigned)libpq.PQntuples(result);
        self->keys_used = 0;
        for (unsigned i = 0; i < self->keys_had; i++)
            self->keys[i] = g_ascii_strtoll(libpq.PQgetvalue(result, (int)i, 0), NULL, 10);
        libpq.PQclear(result);
    }
    *key = (int64_t)((uint64_t)self->keys[self->keys_used++] << 11 | (g_random_int() & 0x7ff));
    return true;
}

bool pgsql_keys_above(void *connection, int64_t key, GError **error)
{
    PgsqlConnection *self = connection;
    g_autofree char *sql = g_strdup_printf(
        "SELECT setval('listrunner_key', greatest(last_value, %" G_GINT64_FORMAT ")) FROM listrunner_key", key >> 11);
    self->keys_used = self->keys_had = 0;
    return pgsql_settle(self, error) && pgsql_run(self, sql, error);
}
