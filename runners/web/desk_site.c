/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The operator's page of the desk: what waits for a person, processes, destinations, queues, and what was set aside. */
#include <event2/event.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/site/attention.h"
#include "lists/site/site_state.h"
#include "runners/server/orders.h"
#include "runners/web/desk.h"

#define DESTINATIONS 50 /* that are shown, those with most waiting first */
#define SHUNTED 50      /* likewise, the oldest first */
#define ENTRY_FIELD "entry-"

#define VIEWERS 20                    /* streams at a time; more keep the page as it was */
#define VIEW_PAUSE 3                  /* seconds between two pictures */
#define VIEW_LIFE (60 * CLOCK_SECOND) /* of one stream */

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void set_span(json_t *view, const char *name, double seconds)
{
    char span[ATTENTION_SPAN_SIZE];
    json_object_set_new(view, name, json_string(attention_span(span, seconds)));
}

/* ---- what is shown ---- */

/* For whom the site is described. */
typedef struct SiteReader {
    Web *web;
    const char *language, *range;
} SiteReader;

static const char *translate(void *data, const char *text)
{
    const SiteReader *reader = data;
    return theme_text(reader->web->theme, reader->language, text);
}

/* All that waits for a person: each text in parts, with the time that follows each. */
static json_t *waits_view(SiteReader *reader, const json_t *state)
{
    g_autoptr(GPtrArray) all = attention_of(state);
    json_t *view = json_array();
    for (guint at = 0; at < all->len; at++) {
        const Attention *one = all->pdata[at];
        json_t *parts = json_array();
        g_autofree char *text = attention_say(one, translate, reader);
        g_auto(GStrv) words = g_regex_split_simple("(\\d{4}-\\d\\d-\\d\\dT[\\d:]{8}Z)", text, 0, 0);
        for (guint i = 0; words[i]; i += words[i + 1] ? 2 : 1)
            json_array_append_new(parts, json_pack("{ss ss*}", "text", words[i], "time", words[i + 1]));
        json_array_append_new(view, json_pack("{so ss* sb}", "parts", parts, "mend", one->mend, "is_fault",
                                              one->kind == ATTENTION_PROCESS));
    }
    return view;
}

#define CHART_HEIGHT 20
#define TIMES_FROM 0.0625 /* seconds: a bar is one step high up to this, and one more for each doubling */

/* Bars of equal width as the path of an SVG, the greatest as high as the chart, which goes with the row as "bars",
 * "width" and "most". */
static void set_chart(json_t *row, const json_t *figures)
{
    size_t at;
    const json_t *figure;
    json_int_t most = 0;
    g_autoptr(GString) path = g_string_new(NULL);
    json_array_foreach(figures, at, figure)
        most = MAX(most, json_integer_value(figure));
    json_array_foreach(figures, at, figure) {
        json_int_t value = json_integer_value(figure);
        int height = most > 0 ? (int)((value * CHART_HEIGHT + most - 1) / most) : 0; /* what is not 0 shows */
        if (height > 0)
            g_string_append_printf(path, "M%zu %dv-%dh1v%dz", at, CHART_HEIGHT, height, height);
    }
    json_object_set_new(row, "bars", json_string(path->str));
    json_object_set_new(row, "width", json_integer((json_int_t)json_array_size(figures)));
    json_object_set_new(row, "most", json_integer(most));
}

/* A time that may be short: "250 ms", else as set_span(). */
static void set_time(json_t *view, const char *name, const json_t *seconds)
{
    double value = json_number_value(seconds);
    if (json_is_number(seconds) && value < 1)
        json_object_set_new(view, name, json_sprintf("%d ms", (int)(value * 1000 + 0.5)));
    else if (json_is_number(seconds))
        set_span(view, name, value);
}

static int steps_of(double seconds)
{
    int steps = 1;
    for (double bound = TIMES_FROM; seconds > bound; bound *= 2)
        steps++;
    return steps;
}

/* Bars as those of set_chart(), in a scale of powers, since times are of milliseconds and of hours. */
static char *bars_of_times(const json_t *times, double longest)
{
    size_t at;
    const json_t *seconds;
    GString *path = g_string_new(NULL);
    json_array_foreach(times, at, seconds) {
        int height = steps_of(json_number_value(seconds)) * CHART_HEIGHT / steps_of(longest);
        if (json_is_number(seconds) && height > 0)
            g_string_append_printf(path, "M%zu %dv-%dh1v%dz", at, CHART_HEIGHT, height, height);
    }
    return g_string_free(path, FALSE);
}

/* How long mail took until it was "tried" or "settled", as one row. */
static json_t *delay_view(const json_t *history, const char *until)
{
    size_t at;
    const json_t *seconds, *delays = json_object_get(json_object_get(history, "delays"), until);
    const json_t *half = json_object_get(delays, "half"), *most = json_object_get(delays, "most");
    double longest = 0;
    json_array_foreach(most, at, seconds)
        longest = MAX(longest, json_number_value(seconds));
    g_autofree char *half_bars = bars_of_times(half, longest), *most_bars = bars_of_times(most, longest);
    json_t *view = json_pack("{sb sI sI ss ss}", until, true, "recipients", number_of(delays, "recipients"), "width",
                             (json_int_t)json_array_size(most), "half_bars", half_bars, "most_bars", most_bars);
    json_object_set_new(view, "any", json_boolean(number_of(delays, "recipients") > 0));
    set_time(view, "half", json_object_get(delays, "all_half"));
    set_time(view, "most", json_object_get(delays, "all_most"));
    g_autoptr(json_t) worst = json_real(longest);
    set_time(view, "longest", worst);
    return view;
}

/* The processes of one runner as one row. history is of all runners, or NULL. */
static json_t *runner_view(const json_t *group, const json_t *history)
{
    size_t at;
    const json_t *child;
    json_int_t backlog = 0, done = 0, restarts = 0, unwell = 0;
    double oldest = 0, now = (double)clock_now() / CLOCK_SECOND;
    json_array_foreach(json_object_get(group, "children"), at, child) {
        const char *due = json_string_value(json_object_get(child, "oldest"));
        backlog += number_of(child, "backlog");
        done += number_of(child, "done");
        restarts += number_of(child, "restarts");
        unwell += !json_is_true(json_object_get(child, "healthy"));
        oldest = due ? MAX(oldest, now - g_ascii_strtod(due, NULL)) : oldest;
    }
    json_t *view = json_pack("{ss sI sI sI sI sI sb}", "name", text_of(group, "runner"), "instances",
                             number_of(group, "instances"), "backlog", backlog, "done", done, "restarts", restarts,
                             "unwell", unwell, "is_unwell", unwell > 0);
    if (backlog > 0)
        set_span(view, "oldest", oldest);
    const json_t *figures = json_object_get(json_object_get(history, "runners"), text_of(group, "runner"));
    if (figures)
        set_chart(view, json_object_get(figures, "done"));
    return view;
}

/* The row of a destination that another instance of out has told of already; NULL: none. */
static json_t *find_row(json_t *rows, const json_t *destination)
{
    size_t at;
    json_t *row;
    json_array_foreach(rows, at, row)
        if (strcmp(text_of(row, "name"), text_of(destination, "name")) == 0 &&
            strcmp(text_of(row, "transport"), text_of(destination, "transport")) == 0)
            return row;
    return NULL;
}

/* The destinations with most waiting. Each instance of out has its own idea of one; what is wrong for one is shown. */
static json_t *destinations_view(SiteReader *reader, GError **error)
{
    static const char *const sums[] = {"window", "busy", "waiting_recipients", "sent", "deferred", "bounced"};
    static const char *const states[] = {N_("alive"),     N_("dead"),      N_("probing"),
                                         N_("suspended"), N_("throttled"), N_("resolving")};
    size_t at;
    const json_t *destination;
    json_t *request = json_pack("{ss si}", "verb", "destinations", "limit", DESTINATIONS);
    g_autoptr(json_t) all = orders_out(reader->web->config, request, error), rows = json_array();
    json_array_foreach(all, at, destination) {
        const char *state = text_of(destination, "state"), *said = state;
        json_t *row = find_row(rows, destination);
        if (!row) {
            row = json_object();
            json_array_append_new(rows, row);
            desk_set_line(row, "name", text_of(destination, "name"));
            desk_set_line(row, "transport", text_of(destination, "transport"));
        }
        for (size_t i = 0; i < G_N_ELEMENTS(sums); i++)
            json_object_set_new(row, sums[i], json_integer(number_of(row, sums[i]) + number_of(destination, sums[i])));
        for (size_t i = 0; i < G_N_ELEMENTS(states); i++)
            said = strcmp(states[i], state) == 0 ? translate(reader, states[i]) : said;
        bool wrong = strcmp(state, "suspended") == 0 || strcmp(state, "dead") == 0 || strcmp(state, "throttled") == 0;
        if (wrong || !*text_of(row, "state"))
            desk_set_line(row, "state", said);
        json_object_set_new(row, "is_wrong", json_boolean(wrong || json_is_true(json_object_get(row, "is_wrong"))));
        if (*text_of(destination, "last_reply") && !*text_of(row, "last_reply"))
            desk_set_line(row, "last_reply", text_of(destination, "last_reply"));
    }
    return all ? g_steal_pointer(&rows) : NULL;
}

static bool add_shunt(Spool *spool, json_t *view, GError **error)
{
    Queue *queue;
    g_autoptr(GPtrArray) files = orders_shunt(spool, &queue, error);
    json_t *rows = json_array();
    for (guint at = 0; files && at < MIN(files->len, SHUNTED); at++) {
        g_autoptr(Shunted) shunted = orders_shunted(queue, files->pdata[at]);
        json_t *row = json_pack("{ss sI}", "entry", shunted->entry, "size", (json_int_t)shunted->size);
        if (shunted->set_aside)
            web_set_time(row, "since", shunted->set_aside);
        desk_set_line(row, "reason", shunted->reason);
        desk_set_line(row, "from", shunted->from);
        desk_set_line(row, "of_list", shunted->list_id);
        json_array_append_new(rows, row);
    }
    json_object_set_new(view, "any_shunted", json_boolean(json_array_size(rows) > 0));
    json_object_set_new(view, "shunted", rows);
    json_object_set_new(view, "further", json_integer(files && files->len > SHUNTED ? files->len - SHUNTED : 0));
    return files != NULL;
}

/* Numbers, of which none is shown for 0. */
static json_t *cells_of(const json_t *row)
{
    size_t at;
    const json_t *number;
    json_t *cells = json_array();
    json_array_foreach(json_object_get(row, "counts"), at, number)
        json_array_append_new(cells, json_integer_value(number) == 0
                                         ? json_pack("{ss}", "n", "")
                                         : json_pack("{sI}", "n", json_integer_value(number)));
    return cells;
}

/* A row without a name of its own. */
static json_t *sum_view(const json_t *row)
{
    return json_pack("{sO so sO*}", "total", json_object_get(row, "total"), "cells", cells_of(row), "names",
                     json_object_get(row, "names"));
}

/* One of the tables that count what waits in the queues by its age. */
static json_t *table_view(const json_t *shape, bool out)
{
    size_t at;
    const json_t *row, *minutes, *others = json_object_get(shape, "others");
    const json_int_t entries = json_integer_value(json_object_get(shape, "entries"));
    const json_int_t read = json_integer_value(json_object_get(shape, "read"));
    json_t *rows = json_array(), *heads = json_array();
    json_int_t last = 0;
    json_array_foreach(json_object_get(shape, "minutes"), at, minutes) {
        last = json_integer_value(minutes);
        json_array_append_new(heads, json_pack("{so}", "head", json_sprintf("%" JSON_INTEGER_FORMAT, last)));
    }
    json_array_append_new(heads, json_pack("{so}", "head", json_sprintf("%" JSON_INTEGER_FORMAT "+", last)));
    json_array_foreach(json_object_get(shape, "rows"), at, row) {
        const char *queue = json_string_value(json_object_get(row, "queue"));
        json_t *shown = json_pack("{sO so}", "total", json_object_get(row, "total"), "cells", cells_of(row));
        desk_set_line(shown, "name", json_string_value(json_object_get(row, "name")));
        if (queue)
            desk_set_line(shown, "queue", queue);
        json_array_append_new(rows, shown);
    }
    json_t *view = json_pack("{sb sb so so so sb}", "is_out", out, "empty", json_array_size(rows) == 0, "heads", heads,
                             "rows", rows, "sum", sum_view(json_object_get(shape, "total")), "damaged",
                             json_array_size(json_object_get(shape, "faults")) > 0);
    if (json_is_object(others))
        json_object_set_new(view, "others", sum_view(others));
    if (read < entries)
        json_object_set_new(view, "sample", json_pack("{sI sI}", "read", read, "entries", entries));
    return view;
}

/* Describe the site. A part that cannot be found out is told on the page, which is most needed then. */
static json_t *site_view(SiteReader *reader)
{
    const Web *web = reader->web;
    g_autoptr(GError) silent = NULL, unknown = NULL, hidden = NULL, unread = NULL;
    g_autoptr(json_t) state = orders_look(web->config, &silent);
    json_t *view = json_object(), *destinations = NULL;
    if (state) {
        size_t at;
        const json_t *group;
        json_t *runners = json_array();
        site_state_add(web->seat.store, web->config, state);
        json_object_set_new(view, "waits", waits_view(reader, state));
        g_autoptr(json_t) history = orders_history(web->config, reader->range, NULL);
        json_array_foreach(json_object_get(state, "runners"), at, group)
            json_array_append_new(runners, runner_view(group, history));
        json_object_set_new(view, "runners", runners);
        if (history)
            json_object_set_new(view, "delays",
                                json_pack("[oo]", delay_view(history, "tried"), delay_view(history, "settled")));
        destinations = destinations_view(reader, &unknown);
    } else {
        desk_set_line(view, "silent", silent->message);
    }
    json_object_set_new(view, "range", json_string(reader->range));
    json_object_set_new(view, reader->range, json_true());
    json_object_set_new(view, "all_well", json_boolean(state && json_array_size(json_object_get(view, "waits")) == 0));
    if (destinations)
        json_object_set_new(view, "destinations", destinations);
    else if (unknown)
        desk_set_line(view, "unknown", unknown->message);
    if (!add_shunt(web->spool, view, &hidden))
        desk_set_line(view, "hidden", hidden->message);
    const json_t *queues = orders_queues(web->spool, &unread);
    if (queues)
        json_object_set_new(view, "queues",
                            json_pack("[oo]", table_view(json_object_get(queues, "out"), true),
                                      table_view(json_object_get(queues, "others"), false)));
    else
        desk_set_line(view, "unread", unread->message);
    return view;
}

static const char *range_of(const WebCall *call)
{
    static const char *const ranges[] = {"hour", "day", "month"};
    g_autofree char *asked = web_query(call, "range");
    for (size_t i = 0; asked && i < G_N_ELEMENTS(ranges); i++)
        if (strcmp(ranges[i], asked) == 0)
            return ranges[i];
    return ranges[0];
}

static void get_site(WebCall *call)
{
    g_auto(Desk) desk = {0};
    if (!desk_open_site(&desk, call))
        return;
    static const char *const said[] = {"ordered", "done", "left"};
    json_t *view = site_view(&(SiteReader){call->web, call->language, range_of(call)});
    for (size_t i = 0; i < G_N_ELEMENTS(said); i++) {
        g_autofree char *number = web_query(call, said[i]);
        int64_t count;
        if (number && g_ascii_string_to_signed(number, 10, 1, G_MAXINT, &count, NULL))
            json_object_set_new(view, said[i], json_integer(count));
    }
    json_object_set_new(view, "live", json_true());
    call->script = true;
    desk_page(&desk, 200, "desk_site", view);
}

/* ---- the page as it is now, by server-sent events (WHATWG HTML, 9.2) ---- */

/* Somebody who looks at the page. The browser comes again when the stream ends, and is then asked anew who it is. */
typedef struct Viewer {
    SiteReader reader;
    HttpStream *stream;
    struct event *timer;
    int64_t until; /* clock_monotonic() */
} Viewer;

static void on_viewer_closed(HttpStream *stream)
{
    Viewer *viewer = http_stream_data(stream);
    viewer->reader.web->viewers--;
    event_free(viewer->timer);
    g_free(viewer);
}

/* The changing part as the viewer sees it, one for all who look at the same within a second; borrowed. NULL: it cannot
 * be made. */
static const GString *live_part(SiteReader *reader)
{
    static GString *part;
    static const char *made_in, *made_of;
    static int64_t made_at;
    const Web *web = reader->web;
    if (part && made_in == reader->language && made_of == reader->range && clock_monotonic() - made_at < CLOCK_SECOND)
        return part;
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) view = site_view(reader);
    json_object_set_new(view, "base", json_string(web->base));
    part = part ? g_string_truncate(part, 0) : g_string_new(NULL);
    if (!theme_fill(web->theme, reader->language, "desk_site_live", view, part, &error)) {
        log_error("desk_site_live: the page cannot be made: %s", error->message);
        g_string_truncate(part, 0);
        return NULL;
    }
    made_in = reader->language;
    made_of = reader->range;
    made_at = clock_monotonic();
    return part;
}

static void on_turn(evutil_socket_t fd, short what, void *data)
{
    Viewer *viewer = data;
    (void)fd, (void)what;
    if (clock_monotonic() >= viewer->until) {
        http_stream_end(viewer->stream);
        return;
    }
    const GString *part = http_stream_busy(viewer->stream) ? NULL : live_part(&viewer->reader);
    g_autoptr(GString) event = g_string_new("data: ");
    if (!part)
        return;
    g_string_append_len(event, part->str, (gssize)part->len);
    g_string_replace(event, "\n", "\ndata: ", 0);
    g_string_append(event, "\n\n");
    http_stream_send(viewer->stream, event->str, event->len);
}

static void on_viewer_room(G_GNUC_UNUSED HttpStream *stream)
{
}

static void get_live(WebCall *call)
{
    static const HttpStreamSpec spec = {.room = on_viewer_room, .closed = on_viewer_closed};
    g_auto(Desk) desk = {0};
    if (!desk_open_site(&desk, call))
        return;
    if (call->web->viewers >= VIEWERS) {
        web_notice(call, 503, "busy", NULL);
        return;
    }
    Viewer *viewer = g_new(Viewer, 1);
    web_set_headers(call);
    call->answered = true;
    call->web->viewers++;
    *viewer = (Viewer){.reader = {call->web, call->language, range_of(call)}, .until = clock_monotonic() + VIEW_LIFE};
    viewer->timer = event_new(http_loop(call->web->http), -1, EV_PERSIST, on_turn, viewer);
    viewer->stream = http_stream(call->http, "text/event-stream", &spec, viewer);
    event_add(viewer->timer, &(struct timeval){VIEW_PAUSE, 0});
    http_stream_send(viewer->stream, "retry: 2000\n\n", strlen("retry: 2000\n\n"));
}

/* ---- orders ---- */

/* "TRANSPORT NAME" of the button that was pressed. */
static void order_destination(Desk *desk, const char *verb, const char *which)
{
    GError *error = NULL;
    g_auto(GStrv) words = g_strsplit(which, " ", 2);
    if (!words[0] || !words[1]) {
        web_missing(desk->call, NULL);
        return;
    }
    g_autoptr(json_t)
        done = orders_out(desk->call->web->config,
                          json_pack("{ss ss ss}", "verb", verb, "transport", words[0], "name", words[1]), &error);
    if (!done) {
        web_fail(desk->call, error);
        return;
    }
    log_info("- destination=%s transport=%s order=%s by=%s", words[1], words[0], verb, desk->person->address->text);
    desk_see(desk, "/site?ordered=1");
}

/* Do it with the entries that were ticked, or to try them again with all: a page shows not all that would go. */
static void order_shunt(Desk *desk, ShuntOrder order)
{
    GError *error = NULL;
    int64_t done, left;
    GHashTableIter at;
    void *name, *value;
    bool all = web_has_field(desk->call, "all") && order == SHUNT_RETRY;
    g_autoptr(GPtrArray) ticked = g_ptr_array_new();
    g_hash_table_iter_init(&at, desk->call->form);
    while (g_hash_table_iter_next(&at, &name, &value))
        if (g_str_has_prefix(name, ENTRY_FIELD) && *(char *)value)
            g_ptr_array_add(ticked, (char *)name + strlen(ENTRY_FIELD));
    g_ptr_array_add(ticked, NULL);
    if (!orders_shunt_do(desk->call->web->spool, order, all ? NULL : (char **)ticked->pdata, &done, &left, &error)) {
        web_fail(desk->call, error);
        return;
    }
    log_info("- queue=shunt order=%s done=%" G_GINT64_FORMAT " left=%" G_GINT64_FORMAT " by=%s",
             order == SHUNT_RETRY ? "retry" : "delete", done, left, desk->person->address->text);
    g_autofree char *path = g_strdup_printf("/site?done=%" G_GINT64_FORMAT "&left=%" G_GINT64_FORMAT, done, left);
    desk_see(desk, path);
}

static void post_site(WebCall *call)
{
    g_auto(Desk) desk = {0};
    if (!desk_open_site(&desk, call))
        return;
    const char *what = web_field(call, "do");
    if (web_has_field(call, "suspend"))
        order_destination(&desk, "suspend", web_field(call, "suspend"));
    else if (web_has_field(call, "resume"))
        order_destination(&desk, "resume", web_field(call, "resume"));
    else if (strcmp(what, "retry") == 0)
        order_shunt(&desk, SHUNT_RETRY);
    else if (strcmp(what, "delete") == 0)
        order_shunt(&desk, SHUNT_DELETE);
    else
        web_missing(call, NULL);
}

const WebRoute web_desk_site[] = {
    {"GET", "/desk/site", get_site},
    {"GET", "/desk/site/live", get_live},
    {"POST", "/desk/site", post_site},
    {.verb = NULL},
};
