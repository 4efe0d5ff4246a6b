/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The REST runner: lets a call in, finds the function for it, and gives it what it works with. */
#include "runners/rest/rest.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/people/token.h"
#include "lists/work.h"
#include "runners/rest/resources.h"
#include "runners/server/http_guard.h"

#define SECTION "rest"

typedef struct Door {
    Rest rest;
    HttpGuard *guard;
} Door;

/* ---- what functions work with ---- */

static void refuse_for_now(Call *call, GError *error, const char *text)
{
    log_error("%s %s peer=%s result=503: %s", http_verb(call->http), call->path, http_peer(call->http),
              error ? error->message : "no reason known");
    g_clear_error(&error);
    if (!call->answered)
        answer_refusal(call, 503, "%s", text);
}

static void cannot(Call *call, GError *error)
{
    if (!call->answered)
        http_set_header(call->http, "Retry-After", "10");
    refuse_for_now(call, error, "The server cannot do this now; its log says why. Nothing was changed; try again");
}

static Work *make_work(Call *call)
{
    g_autofree char *name = call->token ? g_strdup_printf("token %s", call->token->id) : g_strdup(call->user);
    Actor actor = {.role = call->by == BY_SITE ? ACTOR_OPERATOR : ACTOR_OWNER,
                   .door = DOOR_REST,
                   .name = name,
                   .from = http_peer(call->http)};
    return work_new(call->store, &call->rest->site, &actor);
}

Work *rest_begin(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = make_work(call);
    if (work_begin(work, &error))
        return g_steal_pointer(&work);
    cannot(call, error);
    return NULL;
}

Work *rest_begin_people(Call *call, const char *list_id)
{
    GError *error = NULL;
    g_autoptr(Work) work = make_work(call);
    if (work_begin_people(work, list_id, &error))
        return g_steal_pointer(&work);
    cannot(call, error);
    return NULL;
}

bool rest_commit(Call *call, Work *work)
{
    GError *error = NULL;
    if (work_commit(work, call->rest->spool, &error))
        return true;
    if (work_is_unknown(work)) /* a program that tries again unseen would take "exists already" for a fault */
        refuse_for_now(call, error,
                       "The connection to the database was lost just when the change was written, so it "
                       "may have been made or not; look before you try again");
    else
        cannot(call, error);
    return false;
}

void rest_finish(Call *call, Work *work, bool done, GError **error)
{
    if (!done)
        rest_fail(call, g_steal_pointer(error));
    else if (rest_commit(call, work))
        answer_empty(call, 204);
}

void rest_fail(Call *call, GError *error)
{
    if (!error && call->answered)
        return;
    int status = g_error_matches(error, FAIL, FAIL_MISSING)                                             ? 404
                 : g_error_matches(error, FAIL, FAIL_EXISTS) || g_error_matches(error, FAIL, FAIL_RACE) ? 409
                 : g_error_matches(error, FAIL, FAIL_NEVER)                                             ? 400
                                                                                                        : 503;
    if (status == 503) {
        cannot(call, error);
        return;
    }
    answer_refusal(call, status, "%s", error->message);
    g_error_free(error);
}

void rest_refuse(Call *call, GError **error, int code, int status, const char *format, ...)
{
    va_list arguments;
    if (!g_error_matches(*error, FAIL, code))
        return;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_clear_error(error); /* its message may be in the text */
    answer_refusal(call, status, "%s", text);
}

void rest_unknown(Call *call, GError *error)
{
    if (g_error_matches(error, FAIL, FAIL_NEVER))
        error->code = FAIL_MISSING;
    rest_fail(call, error);
}

bool rest_missing(Call *call, GError *error)
{
    if (!g_error_matches(error, FAIL, FAIL_MISSING) && !g_error_matches(error, FAIL, FAIL_NEVER)) {
        cannot(call, error);
        return false;
    }
    g_error_free(error);
    return true;
}

List *rest_list(Call *call)
{
    GError *error = NULL;
    List *list = list_find(call->store, call->args[0], &error);
    if (!list)
        rest_fail(call, error);
    return list;
}

/* ---- a call ---- */

static char *root_for(const Call *call)
{
    const char *host = http_header(call->http, "Host"), *version = call->old ? "3.0" : "3.1";
    if (call->rest->base_url)
        return g_strdup_printf("%s/%s/", call->rest->base_url, version);
    /* Host comes from the client, and goes into every link of the answer. */
    size_t length = host ? strlen(host) : 0;
    bool allowed = length > 0 && length < 256 &&
                   strspn(host, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-._:[]") == length;
    return g_strdup_printf("http://%s/%s/", allowed ? host : "localhost", version);
}

/* Takes "/3.1/" off the path; false: it has no version of ours, and stays. */
static bool take_version(Call *call, const char **path)
{
    bool old = g_str_has_prefix(*path, "/3.0");
    if (!old && !g_str_has_prefix(*path, "/3.1"))
        return false;
    const char *below = *path + strlen("/3.1");
    if (*below && *below != '/')
        return false;
    call->old = old;
    *path = *below ? below + 1 : below;
    return true;
}

/* Run the function of the route. Without a route, answer with the verbs that there are, or (allow NULL) that there is
 * no such path. */
static void run_route(Call *call, const RestRoute *route, const char *allow)
{
    const char *verb = http_verb(call->http);
    if (route) {
        GError *error = NULL;
        Seat *seat = &call->rest->seat;
        if (!form_read(call))
            return;
        /* Give the call the store, if the route works with it: before anything of the call is judged or done, so that
         * all of it has one store, which is there. */
        if (route->of != OF_HOST) {
            if (!seat_keep(seat, &error))
                cannot(call, error);
            call->store = seat->store;
            if (!call->store)
                return;
        }
        if (scope_allows(call, route))
            route->function(call);
        return;
    }
    if (!allow) {
        answer_refusal(call, 404, "There is nothing at this path");
        return;
    }
    http_set_header(call->http, "Allow", allow);
    if (strcmp(verb, "OPTIONS") == 0)
        answer_empty(call, 200);
    else
        answer_refusal(call, 405, "%s is not allowed here; allowed are %s", verb, allow);
}

static void dispatch(Call *call, const char *path)
{
    const char *verb = http_verb(call->http);
    g_autofree char *allow = NULL, *known = NULL;
    g_autofree char *trimmed = g_str_has_suffix(path, "/") ? g_strndup(path, strlen(path) - 1) : g_strdup(path);
    known = g_uri_unescape_string(trimmed, NULL);
    if (*trimmed == 0) { /* /3.1 itself */
        http_set_header(call->http, "Allow", "OPTIONS");
        if (strcmp(verb, "OPTIONS") == 0)
            answer_empty(call, 200);
        else
            answer_refusal(call, 405, "There is nothing here but what lies below it");
        return;
    }
    call->path = known && g_utf8_validate(known, -1, NULL) ? g_steal_pointer(&known) : g_strdup(trimmed);
    const RestRoute *route = rest_route(call, strcmp(verb, "HEAD") == 0 ? "GET" : verb, trimmed, &allow);
    run_route(call, route, allow);
}

/* The sender of a request, as its credentials say. */
typedef struct RestSender {
    GuardVerdict verdict;
    char *user; /* of the password file; NULL: a token, or nobody */
    Token *token;
    GError *trouble; /* with GUARD_TROUBLE: why a token cannot be judged; NULL: it is the file of passwords */
} RestSender;

static void *judge(Http *http, const char *authorization, const char *peer)
{
    Door *door = http_data(http);
    RestSender *sender = g_new0(RestSender, 1);
    const char *user = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *token = http_guard_token(authorization, TOKEN_PREFIX);
    if (!token) {
        sender->verdict = http_guard_judge(door->guard, authorization, peer, &user);
        sender->user = g_strdup(user);
        return sender;
    }
    /* Nobody guesses 256 random bits, so a token is looked at however many wrong ones came from its peer: behind a
     * proxy all clients have one address, and a stranger's guesses would shut out all tokens. */
    bool open = seat_keep(&door->rest.seat, &error);
    sender->token = open ? token_check(door->rest.seat.store, token, g_get_real_time(), &error) : NULL;
    if (sender->token) {
        sender->verdict = GUARD_IN;
    } else if (!open || !g_error_matches(error, FAIL, FAIL_MISSING)) {
        sender->verdict = GUARD_TROUBLE;
        sender->trouble = g_steal_pointer(&error);
    } else {
        sender->verdict = http_guard_full(door->guard, peer) ? GUARD_TOO_MANY : GUARD_UNKNOWN;
        http_guard_failed(door->guard, peer, error->message);
    }
    return sender;
}

/* A request that its token may not send is refused whatever the body says, so the body is not waited for. */
static bool may_send(const void *data, const char *verb)
{
    const RestSender *sender = data;
    const Token *token = sender->token;
    return sender->verdict == GUARD_IN && (!token || (!token->metrics && token_has_verb(token, verb)));
}

static void sender_free(void *data)
{
    RestSender *sender = data;
    g_free(sender->user);
    token_free(sender->token);
    g_clear_error(&sender->trouble);
    g_free(sender);
}

static bool let_in(Call *call, RestSender *sender)
{
    switch (sender->verdict) {
    case GUARD_IN:
        call->user = sender->user;
        call->token = g_steal_pointer(&sender->token);
        return true;
    case GUARD_TOO_MANY:
        http_set_header(call->http, "Retry-After", "60");
        answer_refusal(call, 429, "Too many wrong passwords came from this address; try again in a minute");
        return false;
    case GUARD_TROUBLE:
        call->path = g_strdup(http_path(call->http)); /* of the line in the log */
        if (sender->trouble) /* nobody knows yet who asks, nor whether what is asked for is there */
            cannot(call, g_steal_pointer(&sender->trouble));
        else
            answer_refusal(call, 503, "The passwords cannot be read; the log of the runner rest says why");
        return false;
    default:
        http_set_header(call->http, "WWW-Authenticate", "Basic realm=\"mailman3-rest\",charset=\"utf-8\"");
        answer_refusal(call, 401, "User is not authorized for the REST API");
        return false;
    }
}

static void handle(Http *http, HttpCall *message)
{
    Door *door = http_data(http);
    const char *path = http_path(message);
    Call call = {.rest = &door->rest, .http = message};
    bool versioned = take_version(&call, &path);
    call.root = root_for(&call);
    if (let_in(&call, http_sender(message))) {
        const char *verb = http_verb(message);
        if (versioned) {
            dispatch(&call, path);
        } else if (strcmp(path, "/metrics") == 0) { /* outside of the versions */
            bool reads = strcmp(verb, "GET") == 0 || strcmp(verb, "HEAD") == 0;
            call.path = g_strdup("metrics");
            run_route(&call, reads ? &rest_metrics : NULL, "GET, HEAD, OPTIONS");
        } else {
            answer_refusal(&call, 404, "There is nothing at this path; paths begin with /3.1/ or /3.0/");
        }
        if (!call.answered) {
            log_error("%s %s: no answer was made", http_verb(message), http_path(message));
            answer_refusal(&call, 500, "The server made no answer");
        }
    }
    token_free(call.token);
    form_clear(&call.form);
    for (unsigned i = 0; i < REST_ARGS; i++)
        g_free(call.args[i]);
    g_free(call.path);
    g_free(call.root);
}

/* ---- start and end ---- */

static bool rest_start(Http *http, GError **error)
{
    const Config *config = http_config(http);
    g_autofree Door *door = g_new0(Door, 1);
    Rest *rest = &door->rest;
    rest->config = config;
    rest->http = http;
    rest->base_url = config_string(config, SECTION, "base_url");
    work_site_init(&rest->site, config);
    door->guard = http_guard_new(config_string(config, SECTION, "password_file"),
                                 config_integer(config, SECTION, "attempts_per_minute"), error);
    rest->spool = door->guard ? spool_open(config_string(config, "spool", "directory"), error) : NULL;
    if (!rest->spool)
        return false;
    /* A database that is away for a while keeps nobody from an answer: it is 503 until then. */
    g_autoptr(GError) away = NULL;
    rest->seat = (Seat){.config = config, .spool = rest->spool, .deadline = STORE_DEADLINE_PERSON, .settles = true};
    if (!seat_keep(&rest->seat, &away) && !g_error_matches(away, FAIL, FAIL_LATER))
        return fail_with(error, &away);
    if (away)
        log_warn("all calls are answered with 503: %s", away->message);
    http_set_data(http, g_steal_pointer(&door));
    return true;
}

static void rest_stop(Http *http)
{
    Door *door = http_data(http);
    g_clear_pointer(&door->rest.readers, event_readers_free);
    seat_leave(&door->rest.seat);
    spool_free(door->rest.spool);
    http_guard_free(door->guard);
    g_free(door);
}

const HttpSpec rest_spec = {.name = "rest",
                            .section = SECTION,
                            .start = rest_start,
                            .judge = judge,
                            .may_send = may_send,
                            .sender_free = sender_free,
                            .handle = handle,
                            .stop = rest_stop};
