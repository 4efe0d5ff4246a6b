/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner web: lets a call in, finds the function for it, and gives it what it works with. */
#include "runners/web/web.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/ip.h"
#include "base/log.h"
#include "lists/people/sign_in.h"
#include "mail/text/text_link.h"
#include "runners/server/http_path.h"
#include "runners/web/archive.h"
#include "runners/web/desk_try.h"
#include "runners/web/form_mark.h"
#include "runners/web/mail_html.h"
#include "store/lists/list.h"
#include "store/secret.h"

#define SECTION "web"
#define FIELDS 500 /* of a form or a query */

static const WebRoute *const tables[] = {
    web_files,                                           /* these work without the database */
    web_lists,     web_waiting,      web_archive_search, /* before web_archive: one path of that fits many */
    web_archive,   web_my,           web_desk,           web_desk_settings,  web_desk_log,
    web_desk_site, web_desk_members, web_desk_rules,     web_desk_templates, NULL};

/* ---- answers ---- */

#define POLICY                                                                                                    \
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors " \
    "'none'"

/* Nothing from elsewhere, no frame; the address of a page, which may hold a token, goes to nobody. */
void web_set_headers(WebCall *call)
{
    const char *const headers[][2] = {
        {"Content-Security-Policy", call->script ? POLICY "; script-src 'self'; connect-src 'self'" : POLICY},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Robots-Tag", "noindex"},
        {"Cache-Control", call->shared ? "public, max-age=60" : "no-store"},
        {"Vary", "Accept-Language, Cookie"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(headers); i++)
        http_set_header(call->http, headers[i][0], headers[i][1]);
    g_autofree char *language = g_strdelimit(g_strdup(call->language), "_", '-');
    http_set_header(call->http, "Content-Language", language);
}

static void answer_text(WebCall *call, int status, const char *text)
{
    call->answered = true;
    http_answer(call->http, status, "text/plain; charset=utf-8", text, strlen(text));
}

void web_shared(WebCall *call, const char *type, const char *tag, GBytes *content)
{
    const char *known = http_header(call->http, "If-None-Match");
    http_set_header(call->http, "ETag", tag);
    call->answered = true;
    if (known && strstr(known, tag))
        http_answer(call->http, 304, NULL, "", 0);
    else
        http_answer_bytes(call->http, 200, type, content);
}

bool web_has_room(WebCall *call, GBytes *content)
{
    if (http_has_room(call->http, content))
        return true;
    log_warn("%s result=503: other large answers are under way that take all memory for such", http_verb(call->http));
    http_set_header(call->http, "Retry-After", "60");
    web_notice(call, 503, "busy", NULL);
    return false;
}

void web_page(WebCall *call, int status, const char *name, json_t *view)
{
    web_page_as(call, status, "text/html; charset=utf-8", name, view);
}

bool web_fill(const WebCall *call, const char *name, json_t *view, GString *page, GError **error)
{
    g_autofree char *language = g_strdelimit(g_strdup(call->language), "_", '-');
    json_object_set_new(view, "language", json_string(language));
    json_object_set_new(view, "base", json_string(call->web->base));
    json_object_set_new(view, "archives", json_boolean(call->web->archive));
    json_object_set_new(view, "site_owner", json_string(call->web->site.site_owner));
    return theme_fill(call->web->theme, call->language, name, view, page, error);
}

void web_page_as(WebCall *call, int status, const char *type, const char *name, json_t *view)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) page = g_string_new(NULL);
    bool filled = web_fill(call, name, view, page, &error);
    json_decref(view);
    call->shared = call->shared && filled && status == 200;
    g_autoptr(GBytes) content = g_string_free_to_bytes(g_steal_pointer(&page));
    if (filled && !call->changed && !web_has_room(call, content))
        return;
    web_set_headers(call);
    if (!filled) {
        log_error("%s %s: the page cannot be made: %s", http_verb(call->http), name, error->message);
        answer_text(call, 500,
                    call->changed ? "What you asked for was done. This page cannot be made; the log of the server says "
                                    "why.\n"
                                  : "This page cannot be made; the log of the server says why.\n");
        return;
    }
    if (call->shared) { /* status 200 */
        g_autofree char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA1, content);
        g_autofree char *tag = g_strdup_printf("\"%s\"", sum);
        web_shared(call, type, tag, content);
        return;
    }
    call->answered = true;
    http_answer_bytes(call->http, status, type, content);
}

static void send_on(WebCall *call, int status, const char *place)
{
    web_set_headers(call);
    http_set_header(call->http, "Location", place);
    answer_text(call, status, "");
}

void web_see_other(WebCall *call, const char *path)
{
    g_autofree char *place = g_strconcat(call->web->base, path, NULL);
    send_on(call, 303, place);
}

void web_moved(WebCall *call, const char *path)
{
    const char *query = http_query(call->http);
    g_autofree char *place = g_strconcat(call->web->base, path, *query ? "?" : "", query, NULL);
    send_on(call, 301, place);
}

void web_moved_host(WebCall *call, const char *path)
{
    g_autofree char *place = g_strconcat(call->web->url, path, NULL);
    send_on(call, 301, place);
}

void web_notice(WebCall *call, int status, const char *what, json_t *view)
{
    view = view ? view : json_object();
    json_object_set_new(view, what, json_true());
    web_page(call, status, "notice", view);
}

void web_notice_of(WebCall *call, int status, const char *what, json_t *view, const char *list_id)
{
    g_autoptr(List) list = list_id && call->store ? list_by_id(call->store, list_id, NULL) : NULL;
    if (list_id)
        json_object_set_new(view, "list", json_string(list ? list->posting_address : list_id));
    web_notice(call, status, what, view);
}

void web_fail(WebCall *call, GError *error)
{
    log_error("%s result=%s: %s", http_verb(call->http), call->changed ? "done, without its page" : "503",
              error ? error->message : "no reason known");
    g_clear_error(&error);
    if (call->answered)
        return;
    if (call->changed) {
        web_notice(call, 200, "done", NULL);
        return;
    }
    if (!call->unknown) /* else it should not be tried again unseen */
        http_set_header(call->http, "Retry-After", "10");
    web_notice(call, 503, call->unknown ? "unknown_change" : "later", NULL);
}

void web_missing(WebCall *call, GError *error)
{
    if (error && !g_error_matches(error, FAIL, FAIL_MISSING) && !g_error_matches(error, FAIL, FAIL_NEVER)) {
        web_fail(call, error);
        return;
    }
    g_clear_error(&error);
    web_notice(call, 404, "missing", NULL);
}

void web_set_time(json_t *view, const char *name, int64_t time)
{
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    g_autofree char *text = at ? g_date_time_format(at, "%Y-%m-%d %H:%M") : g_strdup("");
    g_autofree char *iso = at ? g_date_time_format(at, "%Y-%m-%dT%H:%M:%SZ") : g_strdup("");
    g_autofree char *iso_name = g_strconcat(name, "_iso", NULL);
    json_object_set_new(view, name, json_string(text));
    json_object_set_new(view, iso_name, json_string(iso));
}

const char *web_say(const WebCall *call, const char *text)
{
    return theme_text(call->web->theme, call->language, text);
}

char *web_day(int64_t time)
{
    g_autoptr(GDateTime) day = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    return g_date_time_format(day, "%Y-%m-%d");
}

void web_attachment(WebCall *call, const ReadableFile *file, bool masked)
{
    if (!file) {
        web_missing(call, NULL);
        return;
    }
    g_autoptr(GBytes) content = masked ? mail_html_masked_file(file) : readable_file_bytes(file);
    if (!web_has_room(call, content))
        return;
    g_autofree char *plain = masked ? text_link_mask(file->name, strlen(file->name)) : g_strdup(file->name);
    g_autofree char *name = g_uri_escape_string(plain, NULL, false);
    g_autofree char *how = g_strdup_printf("attachment; filename*=UTF-8''%s", name); /* RFC 6266 */
    web_set_headers(call);
    http_set_header(call->http, "Content-Disposition", how);
    call->answered = true;
    http_answer_bytes(call->http, 200, file->serve_as, content);
}

/* ---- what pages work with ---- */

/* Keep the seat, with the keys that are in the database now. False: there is no store. */
static bool keep_seat(Web *web, GError **error)
{
    int64_t replaced_at;
    Seat *seat = &web->seat;
    bool kept = seat_keep(seat, error) && seat_keys_now(seat, error);
    if (kept && web->form_edition != seat->edition && (kept = secret_replaced_at(seat->store, &replaced_at, error))) {
        g_clear_pointer(&web->form_keys, form_keys_free);
        web->form_keys = form_keys_new(seat->secrets, replaced_at);
        web->form_edition = seat->edition;
    }
    if (!kept)
        seat_leave(seat);
    web->site.keys = seat->keys;
    return kept;
}

bool web_take_seat(WebCall *call)
{
    GError *error = NULL;
    if (!keep_seat(call->web, &error))
        web_fail(call, error);
    call->store = call->web->seat.store;
    return call->store != NULL;
}

Work *web_look(WebCall *call)
{
    const Actor actor = {.role = ACTOR_ADDRESS,
                         .door = DOOR_PAGE,
                         .host = call->client,
                         .from = call->client ? call->client : http_peer(call->http)};
    return work_new(call->store, &call->web->site, &actor);
}

Work *web_begin(WebCall *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = web_look(call);
    if (work_begin(work, &error))
        return g_steal_pointer(&work);
    web_fail(call, error);
    return NULL;
}

Work *web_begin_people(WebCall *call, const char *list_id)
{
    GError *error = NULL;
    g_autoptr(Work) work = web_look(call);
    if (work_begin_people(work, list_id, &error))
        return g_steal_pointer(&work);
    web_fail(call, error);
    return NULL;
}

bool web_commit(WebCall *call, Work *work)
{
    GError *error = NULL;
    call->changed = work_commit(work, call->web->spool, &error);
    call->unknown = !call->changed && work_is_unknown(work);
    if (call->changed)
        return true;
    web_fail(call, error);
    return false;
}

/* Read "a=1&b=two+words", of which no more than FIELDS count; what is no pair, or no UTF-8, is left out. */
static GHashTable *read_pairs(const char *text, size_t length)
{
    GHashTable *pairs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autofree char *all = g_strndup(text, length);
    g_auto(GStrv) fields = g_strsplit(all, "&", FIELDS + 1);
    for (unsigned i = 0; i < FIELDS && fields[i]; i++) {
        char *equals = strchr(g_strdelimit(fields[i], "+", ' '), '=');
        if (!equals)
            continue;
        *equals = '\0';
        g_autofree char *name = g_uri_unescape_string(fields[i], NULL),
                        *value = g_uri_unescape_string(equals + 1, NULL);
        if (name && value && g_utf8_validate(name, -1, NULL) && g_utf8_validate(value, -1, NULL))
            g_hash_table_insert(pairs, g_steal_pointer(&name), g_steal_pointer(&value));
    }
    return pairs;
}

/* NULL: there is no such field. */
static const char *find_field(WebCall *call, const char *name)
{
    size_t length;
    if (!call->form) {
        const char *body = http_body(call->http, &length);
        call->form = read_pairs(body, length);
    }
    return g_hash_table_lookup(call->form, name);
}

const char *web_field(WebCall *call, const char *name)
{
    const char *value = find_field(call, name);
    return value ? value : "";
}

bool web_has_field(WebCall *call, const char *name)
{
    return find_field(call, name) != NULL;
}

char *web_query(const WebCall *call, const char *name)
{
    const char *query = http_query(call->http);
    g_autoptr(GHashTable) fields = read_pairs(query, strlen(query));
    return g_strdup(g_hash_table_lookup(fields, name));
}

/* ---- who is signed in ---- */

static bool is_proxy(const Web *web, const char *peer)
{
    const char *const *proxies = config_list(web->config, SECTION, "proxies");
    return proxies && g_strv_contains(proxies, peer);
}

/* With https the cookie is for this host and its pages alone (RFC 6265bis, 4.1.3.2). */
static const char *cookie_name(const Web *web)
{
    return g_str_has_prefix(web->url, "https:") ? "__Host-listrunner" : "listrunner";
}

/* The token of the session that the browser brings; NULL: none. g_free() */
static char *find_token(const WebCall *call)
{
    const char *field = http_header(call->http, "Cookie"), *name = cookie_name(call->web);
    g_auto(GStrv) cookies = g_strsplit(field ? field : "", ";", -1);
    for (char **cookie = cookies; *cookie; cookie++) {
        const char *text = g_strstrip(*cookie);
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && text[length] == '=' && text[length + 1])
            return g_strdup(text + length + 1);
    }
    return NULL;
}

bool web_person(WebCall *call, const SignedIn **person)
{
    GError *error = NULL;
    /* The address that a proxy vouches for. Of two fields one may have come from the client, by a proxy that does not
     * take it away, and nobody knows which: then it vouches for nobody. */
    const char *field = config_string(call->web->config, "web", "user_header");
    const char *vouched = field && is_proxy(call->web, http_peer(call->http)) ? http_header(call->http, field) : NULL;
    if (vouched && (!*vouched || http_header_last(call->http, field) != vouched))
        vouched = NULL;
    if (!call->person_known && (vouched || http_header(call->http, "Cookie"))) {
        g_autofree char *token = vouched ? NULL : find_token(call);
        if (vouched)
            call->person = sign_in_vouched(call->store, vouched, &error);
        else if (token)
            call->person = sign_in_person(call->store, token, clock_now(), &error);
        if (error && !g_error_matches(error, FAIL, FAIL_MISSING) && !g_error_matches(error, FAIL, FAIL_NEVER)) {
            web_fail(call, error);
            return false;
        }
        g_clear_error(&error);
    }
    call->person_known = true;
    *person = call->person;
    return true;
}

void web_set_session(WebCall *call, const char *token)
{
    bool secure = g_str_has_prefix(call->web->url, "https:");
    g_autofree char *cookie = g_strdup_printf("%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s",
                                              cookie_name(call->web), token ? token : "",
                                              token ? (int)(SESSION_LIFE / CLOCK_SECOND) : 0, secure ? "; Secure" : "");
    http_set_header(call->http, "Set-Cookie", cookie);
}

/* A form belongs to the session in which it was read. */
static char *mark_about(const SignedIn *person)
{
    return g_strdup_printf("signed in %" G_GINT64_FORMAT " %s", person->session, person->address->text);
}

char *web_my_mark(WebCall *call, const SignedIn *person)
{
    g_autofree char *about = mark_about(person);
    return form_mark_make(call->web->form_keys, about, clock_now());
}

bool web_my_mark_good(WebCall *call, const SignedIn *person)
{
    g_autofree char *about = mark_about(person);
    return form_mark_good(call->web->form_keys, about, web_field(call, "mark"), clock_now());
}

/* ---- a call ---- */

/* The address that a proxy of ours names last: a client may have written those before it, or a field before it. */
static char *find_client(const Web *web, HttpCall *call)
{
    static bool told;
    const char *peer = http_peer(call), *named = http_header_last(call, "X-Forwarded-For");
    const bool by_proxy = is_proxy(web, peer);
    /* A proxy that [web] proxies does not name: then nobody knows who the client is, and counted by the proxy's address
     * all visitors would be one. A client with a public address may write the field himself. */
    const bool unknown = named && !by_proxy && strcmp(peer, "unix") != 0 && !ip_public_text(peer);
    if (unknown && !told)
        log_warn("requests with X-Forwarded-For come from %s, which [web] proxies does not name: visitors are not told "
                 "apart, and limits for each network do not work",
                 peer);
    told |= unknown;
    if (!by_proxy || !named)
        return unknown || strcmp(peer, "unix") == 0 ? NULL : g_strdup(peer);
    const char *last = strrchr(named, ',');
    g_autofree char *client = g_strstrip(g_strdup(last ? last + 1 : named));
    return g_strdup(g_hostname_is_ip_address(client) ? client : peer);
}

/* The path below that of web_url; NULL: it is not below it, or web_url has none. */
static const char *path_below(const Web *web, const char *path)
{
    size_t length = strlen(web->base);
    if (length == 0 || strncmp(path, web->base, length) != 0 || (path[length] && path[length] != '/'))
        return NULL;
    return path[length] ? path + length : "/";
}

bool web_other_host(WebCall *call, const char *url)
{
    size_t length = strlen(url) - g_str_has_suffix(url, "/");
    if (strlen(call->web->url) == length && g_ascii_strncasecmp(call->web->url, url, length) == 0)
        return false;
    const char *path = http_path(call->http), *below = path_below(call->web, path), *query = http_query(call->http);
    g_autofree char *bare = g_strndup(url, length);
    g_autofree char *place = g_strconcat(bare, below ? below : path, *query ? "?" : "", query, NULL);
    send_on(call, 302, place);
    return true;
}

/* Is the form sent by a page elsewhere, in the name of the visitor? Browsers say so in Sec-Fetch-Site, older ones in
 * Origin; that is "null" for our own pages, since they send no Referer. A program says nothing. */
static bool comes_from_elsewhere(const WebCall *call)
{
    const char *site = http_header(call->http, "Sec-Fetch-Site"), *origin = http_header(call->http, "Origin");
    if (site)
        return strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
    if (!origin || strcmp(origin, "null") == 0)
        return false;
    const char *url = call->web->url;
    size_t length = strlen(url) - strlen(call->web->base);
    return strlen(origin) != length || g_ascii_strncasecmp(origin, url, length) != 0;
}

/* Set *needs_store where the route works with the database. */
static const WebRoute *find_route(WebCall *call, const char *path, GString *allowed, bool *needs_store)
{
    const char *verb = http_verb(call->http);
    const char *wanted = strcmp(verb, "HEAD") == 0 ? "GET" : verb;
    for (unsigned i = 0; tables[i]; i++)
        for (const WebRoute *route = tables[i]; route->verb; route++) {
            if (!http_path_fits(route->path, path, call->args))
                continue;
            *needs_store = tables[i] != web_files;
            if (strcmp(route->verb, wanted) == 0)
                return route;
            g_string_append_printf(allowed, "%s%s", allowed->len ? ", " : "", route->verb);
            http_path_clear(call->args, WEB_ARGS);
        }
    return NULL;
}

/* People write a slash behind what looks like a folder: send them to the page without it. The path of a page of ours
 * begins with one slash and a letter, so no other host can stand in it. false: there is no such page. */
static bool answer_without_slash(WebCall *call, const char *path)
{
    const char *verb = http_verb(call->http);
    size_t length = path ? strlen(path) : 0;
    if (length < 2 || path[length - 1] != '/' || (strcmp(verb, "GET") != 0 && strcmp(verb, "HEAD") != 0))
        return false;
    while (length > 1 && path[length - 1] == '/')
        length--;
    g_autofree char *bare = g_strndup(path, length);
    bool needs_store;
    g_autoptr(GString) allowed = g_string_new(NULL);
    if (!find_route(call, bare, allowed, &needs_store))
        return false;
    web_moved(call, bare);
    return true;
}

static void run(WebCall *call)
{
    bool needs_store = false;
    g_autoptr(GString) allowed = g_string_new(NULL);
    const char *path = http_path(call->http), *below = path_below(call->web, path);
    const WebRoute *route = below ? find_route(call, below, allowed, &needs_store) : NULL;
    if (!route) /* a proxy may have taken the path of web_url away, and what is left may begin like it */
        route = find_route(call, path, allowed, &needs_store);
    if (route && strcmp(route->verb, "POST") == 0 && strcmp(route->path, WEB_ONE_CLICK) != 0 &&
        comes_from_elsewhere(call)) {
        web_notice(call, 403, "elsewhere", NULL);
    } else if (route) {
        if (!needs_store || web_take_seat(call))
            route->function(call);
    } else if (answer_without_slash(call, below) || answer_without_slash(call, path)) {
        return;
    } else if (allowed->len > 0) {
        http_set_header(call->http, "Allow", allowed->str);
        web_notice(call, 405, "missing", NULL);
    } else if (!old_pages_answer(call, path) && !(below && old_pages_answer(call, below))) {
        web_missing(call, NULL);
    }
    if (!call->answered) {
        log_error("%s: no answer was made", http_verb(call->http));
        answer_text(call, 500, "The server made no answer.\n");
    }
}

static void handle(Http *http, HttpCall *message)
{
    Web *web = http_data(http);
    WebCall call = {.web = web, .http = message, .client = find_client(web, message)};
    call.language = theme_language(web->theme, http_header(message, "Accept-Language"));
    run(&call);
    http_path_clear(call.args, WEB_ARGS);
    g_clear_pointer(&call.form, g_hash_table_unref);
    signed_in_free(call.person);
    g_free(call.client);
}

/* Refuse bytes that are no request, or a request that is too large. */
static void refuse(Http *http, HttpCall *message, int status, const char *why)
{
    Web *web = http_data(http);
    WebCall call = {.web = web, .http = message};
    (void)why;
    call.language = theme_language(web->theme, http_header(message, "Accept-Language"));
    web_notice(&call, status, status == 413 || status == 431 ? "too_large" : "not_understood", NULL);
}

/* ---- start and end ---- */

static void web_free(Web *web)
{
    seat_leave(&web->seat);
    g_clear_pointer(&web->spool, spool_free);
    theme_free(web->theme);
    web_archive_free(web->archive);
    g_clear_pointer(&web->form_keys, form_keys_free);
    g_free(web->url);
    g_free(web);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Web, web_free)

static bool web_start(Http *http, GError **error)
{
    const Config *config = http_config(http);
    g_autoptr(Web) web = g_new0(Web, 1);
    web->http = http;
    web->config = config;
    work_site_init(&web->site, config);
    web->url = work_site_page(&web->site, "");
    if (!web->url) /* config check says so, too */
        return fail(error, FAIL_CONFIG, "[site] web_url is not set");
    const char *path = strchr(strstr(web->url, "://") + strlen("://"), '/');
    web->base = path ? path : ""; /* "/lists" of "https://example.org/lists" */
    web->theme = theme_new(DATADIR "/web", config_string(config, SECTION, "directory"), error);
    web->spool = web->theme ? spool_open(config_string(config, "spool", "directory"), error) : NULL;
    if (!web->spool)
        return false;
    /* A database that is away for a while keeps nobody from an answer: it is 503 until then. */
    g_autoptr(GError) away = NULL;
    web->seat = (Seat){
        .config = config, .spool = web->spool, .deadline = STORE_DEADLINE_PERSON, .settles = true};
    if (!keep_seat(web, &away) && !g_error_matches(away, FAIL, FAIL_LATER))
        return fail_with(error, &away);
    if (away)
        log_warn("all calls are answered with 503: %s", away->message);
    web->archive = web_archive_new(config);
    http_set_data(http, g_steal_pointer(&web));
    return true;
}

static void web_stop(Http *http)
{
    desk_try_stop(http_data(http));
    web_free(http_data(http));
}

const HttpSpec web_spec = {
    .name = "web", .section = SECTION, .start = web_start, .handle = handle, .refuse = refuse, .stop = web_stop};
