/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /queues: what lies in the queues under Mailman's names, and handing a message in.
 *
 * /listrunner and /metrics, which are not Mailman's: what the processes do, what waits, and the operator's orders about
 * it; the hosts that share the database, as the verbs of `listrunner host` show and change them; what became of a
 * post. */
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/trail/trail.h"
#include "lists/hosts/host_state.h"
#include "lists/keys.h"
#include "lists/posts/held_post.h"
#include "lists/posts/injection.h"
#include "lists/posts/trace.h"
#include "lists/site/figures.h"
#include "mail/transfer.h"
#include "runners/rest/resources.h"
#include "runners/server/orders.h"
#include "store/hosts/lost_spool.h"
#include "store/people/bounce.h"
#include "store/people/pending.h"
#include "store/posts/held.h"
#include "switchboard/intake.h"
#include "switchboard/name.h"
#include "switchboard/operate.h"

/* ---- /queues ---- */

/* Mailman's queues, and ours of that purpose. */
typedef struct QueueName {
    const char *theirs, *ours;
} QueueName;

static const QueueName queues[] = {
    {"archive", "archive"}, {"bad", "corrupt"},   {"bounces", "bounces"},
    {"command", "command"}, {"digest", "digest"}, {"in", "in"},
    {"nntp", "nntp"},       {"out", "out"},       {"pipeline", "pipeline"},
    {"retry", "retry"},     {"shunt", "shunt"},   {"virgin", "virgin"},
    {NULL, NULL},
};

static const QueueName *queue_of(const char *name)
{
    const QueueName *queue = queues;
    while (queue->theirs && strcmp(queue->theirs, name) != 0)
        queue++;
    return queue->theirs ? queue : NULL;
}

/* An entry is known by its name without the state that it is in. What is not written whole yet is none. */
static void note_file(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    if (!g_str_has_suffix(file, ".tmp"))
        g_ptr_array_add(data, g_strndup(file, strlen(file) - strlen(rest)));
}

/* NULL: error is set. */
static json_t *queue_json(const Call *call, const QueueName *name, GError **error)
{
    Queue *queue = spool_queue(call->rest->spool, name->ours, error);
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    if (!queue || !queue_visit(queue, note_file, files, error))
        return NULL;
    g_ptr_array_sort(files, bytes_compare_texts);
    g_autofree char *directory = g_build_filename(spool_path(call->rest->spool), name->ours, NULL);
    return json_pack("{sI so so ss so}", "count", (json_int_t)files->len, "directory", json_words(directory), "files",
                     json_texts(files), "name", name->theirs, "self_link", json_link(call, "queues/%s", name->theirs));
}

static void get_queues_of_mailman(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    if (!page_begin(call, "", "", &page))
        return;
    for (const QueueName *name = queues; name->theirs && !error; name++)
        if (page_takes(&page))
            page_add(&page, queue_json(call, name, &error));
    answer_page(call, "queues", &page, &error);
}

/* The queue of the path; NULL: 404 was answered. */
static const QueueName *find_queue(Call *call)
{
    const QueueName *queue = queue_of(call->args[0]);
    if (!queue)
        answer_refusal(call, 404, "There is no queue %s", call->args[0]);
    return queue;
}

static void get_queue(Call *call)
{
    GError *error = NULL;
    const QueueName *name = find_queue(call);
    answer_found(call, name ? queue_json(call, name, &error) : NULL, &error);
}

static void post_queue(Call *call)
{
    const QueueName *name = queue_of(call->args[0]);
    if (!form_expect(call, "list_id text", ""))
        return;
    const char *text = form_text(call, "text");
    GError *error = NULL;
    g_autoptr(List) list = list_find(call->store, form_text(call, "list_id"), &error);
    if (!list) {
        if (rest_missing(call, error))
            answer_refusal(call, 400, "No such list: %s", form_text(call, "list_id"));
        return;
    }
    if (!name) {
        answer_refusal(call, 400, "No such queue: %s", call->args[0]);
        return;
    }
    g_autoptr(GBytes) message = wire_text(text, strlen(text));
    const Injection injection = {
        .queue = name->ours, .list = list, .to = TO_POSTING, .host = call->rest->site.hostname, .door = "rest"};
    g_autoptr(Draft) draft = injection_draft(&injection, message);
    Intake intake = {.draft = draft};
    if (!intake_store(call->rest->spool, &intake, 1, false)) {
        rest_fail(call, intake.error);
        return;
    }
    char file[NAME_SIZE];
    name_format(draft_name(draft), file);
    answer_created(call, "queues/%s/%s", name->theirs, file);
}

/* ---- one entry of a queue ---- */

/* Remove an entry as the operator's command does, when it is ready or set aside. FAIL_MISSING: a runner has it, or it
 * is not there. */
static bool drop_entry(Spool *spool, Queue *queue, EntryName *entry, GError **error)
{
    g_autoptr(GError) missing = NULL, unknown = NULL;
    g_autoptr(Operate) operate = operate_open(spool, false, NULL, NULL, error);
    if (!operate)
        return false;
    bool dropped = operate_delete(operate, queue, entry, &missing) ||
                   (g_error_matches(missing, FAIL, FAIL_MISSING) &&
                    operate_delete_preserved(operate, queue, entry, error));
    if (!operate_end(operate, &unknown))
        log_fatal(CHILD_EXIT_LATER, "an entry was to be removed by REST: %s", unknown->message);
    if (!dropped && error && !*error)
        g_propagate_error(error, g_steal_pointer(&missing));
    return dropped;
}

static void delete_entry(Call *call)
{
    GError *error = NULL;
    EntryName entry;
    const char *rest = "";
    const QueueName *name = form_expect(call, "", "") ? find_queue(call) : NULL;
    if (!name)
        return;
    if (!name_parse(call->args[1], &entry, &rest) || *rest) {
        answer_refusal(call, 404, "No such queue file: %s", call->args[1]);
        return;
    }
    Queue *queue = spool_queue(call->rest->spool, name->ours, &error);
    if (queue && drop_entry(call->rest->spool, queue, &entry, &error)) {
        answer_empty(call, 204);
        return;
    }
    rest_refuse(call, &error, FAIL_MISSING, 404, "No such queue file, or a runner is at work on it: %s", call->args[1]);
    rest_fail(call, error);
}

static const RestField queue_fields[] = {
    {"*", MAY_SITE, MAY_SITE},
    {0},
};

const RestRoute rest_queues[] = {
    {"GET", "queues", OF_HOST, MAY_SITE, queue_fields, get_queues_of_mailman, NULL},
    {"GET", "queues/{queue}", OF_HOST, MAY_SITE, queue_fields, get_queue, NULL},
    {"POST", "queues/{queue}", OF_SITE, MAY_SITE, queue_fields, post_queue, NULL},
    {"DELETE", "queues/{queue}/{entry}", OF_HOST, MAY_SITE, queue_fields, delete_entry, NULL},
    {0},
};

#define BULK_MAX 1000 /* decisions in one call */

/* ---- /listrunner and /metrics ---- */

static json_t *host_json(const Call *call, const Host *host)
{
    g_autofree char *name = segment(host->name);
    json_t *object = host_state(host, json_time_or_null);
    json_object_set_new(object, "self_link", json_link(call, "listrunner/hosts/%s", name));
    return object;
}

static void get_metrics(Call *call)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(json_t) reply = orders_master(call->rest->config, "metrics", &error);
    const char *figures = json_string_value(json_object_get(reply, "metrics"));
    if (!figures || !figures_of_store(call->store, call->rest->site.hostname, g_string_append(text, figures), &error)) {
        rest_fail(call, error ? g_steal_pointer(&error) : NULL);
        return;
    }
    answer_text(call, "text/plain; version=0.0.4; charset=utf-8", text->str);
}

static void get_status(Call *call)
{
    GError *error = NULL;
    int64_t held, held_since, asked, asked_since;
    if (!form_expect(call, "", ""))
        return;
    g_autoptr(json_t) status = orders_master(call->rest->config, "status", &error);
    bool counted = status && held_count(call->store, &held, &held_since, &error) &&
                   pending_count(call->store, clock_now(), &asked, &asked_since, &error);
    g_autoptr(GPtrArray) hosts = counted ? host_all(call->store, &error) : NULL;
    if (!hosts) {
        rest_fail(call, error);
        return;
    }
    json_t *shown = json_array();
    for (guint at = 0; at < hosts->len; at++)
        json_array_append_new(shown, host_json(call, hosts->pdata[at]));
    json_object_set_new(status, "hosts", shown);
    json_object_del(status, "ok");
    json_object_del(status, "config"); /* a path */
    json_object_set_new(
        status, "held",
        json_pack("{sI so}", "count", (json_int_t)held, "since", held ? json_time(held_since) : json_null()));
    json_object_set_new(
        status, "requests",
        json_pack("{sI so}", "count", (json_int_t)asked, "since", asked ? json_time(asked_since) : json_null()));
    answer_json(call, 200, g_steal_pointer(&status));
}

/* ---- our queues ---- */

typedef struct Depth {
    int64_t entries, oldest; /* oldest: due time of the first */
} Depth;

static void count_file(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    Depth *depth = data;
    if (g_str_has_suffix(rest, ".tmp"))
        return;
    depth->entries++;
    if (depth->oldest == 0 || name->due < depth->oldest)
        depth->oldest = name->due;
}

static void get_queues(Call *call)
{
    GError *error = NULL;
    Spool *spool = call->rest->spool;
    if (!form_expect(call, "", ""))
        return;
    g_auto(GStrv) names = spool_queue_names(spool, &error);
    g_autoptr(json_t) entries = json_array();
    int64_t now = clock_now();
    for (char **name = names; name && *name && !error; name++) {
        Depth depth = {0};
        Queue *queue = spool_queue(spool, *name, &error);
        if (queue && queue_visit(queue, count_file, &depth, &error))
            json_array_append_new(entries, json_pack("{ss sI so sf}", "name", *name, "entries",
                                                     (json_int_t)depth.entries, "oldest",
                                                     depth.entries ? json_time(depth.oldest) : json_null(), "age",
                                                     depth.entries ? (double)MAX(now - depth.oldest, 0) / CLOCK_SECOND
                                                                   : 0.0));
    }
    answer_whole(call, error ? NULL : g_steal_pointer(&entries), &error);
}

static void get_shape(Call *call)
{
    GError *error = NULL;
    if (!form_expect(call, "", ""))
        return;
    const json_t *shape = orders_queues(call->rest->spool, &error);
    answer_found(call, shape ? json_deep_copy(shape) : NULL, &error);
}

/* ---- destinations ---- */

static void get_destinations(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    size_t index;
    json_t *destination;
    if (!page_begin(call, "", "", &page))
        return;
    g_autoptr(json_t) all = orders_out(call->rest->config, json_pack("{ss}", "verb", "destinations"), &error);
    json_array_foreach(all, index, destination)
        if (page_takes(&page))
            page_add(&page, json_incref(destination));
    answer_page(call, NULL, &page, &error);
}

static void post_destination(Call *call)
{
    int action = 0;
    GError *error = NULL;
    const char *rate = form_text(call, "rate");
    static const char *const verbs[] = {"suspend", "resume", "rate"};
    if (!form_expect(call, "action", "rate") || !form_choice(call, "action", "suspend, resume, rate", &action))
        return;
    if ((action == 2) != (rate != NULL)) {
        form_refuse(call, "rate", "it goes with the action rate, and with no other");
        return;
    }
    json_t *request = json_pack("{ss ss}", "verb", verbs[action], "name", call->args[0]);
    if (rate)
        json_object_set_new(request, "rate", json_words(rate));
    answer_whole(call, orders_out(call->rest->config, request, &error), &error);
}

/* ---- what was set aside ---- */

static void get_shunt(Call *call)
{
    g_auto(Page) page = {0};
    Queue *queue;
    GError *error = NULL;
    if (!page_begin(call, "", "", &page))
        return;
    g_autoptr(GPtrArray) files = orders_shunt(call->rest->spool, &queue, &error);
    for (guint at = 0; files && at < files->len; at++) {
        if (!page_takes(&page))
            continue;
        g_autoptr(Shunted) shunted = orders_shunted(queue, files->pdata[at]);
        json_t *object = json_pack("{ss so}", "entry", shunted->entry, "reason", json_words(shunted->reason));
        page_add(&page, object);
        if (shunted->damaged)
            continue;
        json_object_set_new(object, "from", json_words(shunted->from));
        json_object_set_new(object, "set_aside", json_time(shunted->set_aside));
        json_object_set_new(object, "times", json_integer(shunted->times));
        json_object_set_new(object, "list_id", json_words(shunted->list_id));
        json_object_set_new(object, "trace", json_words(shunted->trace));
        json_object_set_new(object, "size", json_integer(shunted->size));
    }
    answer_page(call, NULL, &page, &error);
}

static void post_shunt(Call *call)
{
    GError *error = NULL;
    int action = 0;
    bool all = false;
    int64_t done, left;
    if (!form_expect(call, "action", "entry all") || !form_choice(call, "action", "retry, delete", &action) ||
        !form_bool(call, "all", &all))
        return;
    g_auto(GStrv) wanted = form_words(call, "entry");
    if (all == (*wanted != NULL)) {
        answer_refusal(call, 400, "Name entries, or say all=yes");
        return;
    }
    bool did = orders_shunt_do(call->rest->spool, action == 0 ? SHUNT_RETRY : SHUNT_DELETE, all ? NULL : wanted, &done,
                               &left, &error);
    answer_found(call, did ? json_pack("{sI sI}", "done", (json_int_t)done, "left", (json_int_t)left) : NULL, &error);
}

/* ---- held posts of all lists ---- */

static bool add_held(const Held *held, void *data)
{
    json_array_append_new(data, json_pack("{sI so sI so so so so sI}", "number", (json_int_t)held->number, "list_id",
                                          json_words(held->list_id), "request_id", (json_int_t)held->list_number,
                                          "sender", json_words(held->sender ? held->sender : ""), "subject",
                                          json_words(held->subject ? held->subject : ""), "reason",
                                          json_words(held->reason ? held->reason : ""), "hold_date",
                                          json_time(held->held_at), "size", (json_int_t)held->size));
    return json_array_size(data) < BULK_MAX;
}

static void get_held(Call *call)
{
    GError *error = NULL;
    HeldFilter filter = {.list_id = form_text(call, "list_id"), .sender = form_text(call, "sender")};
    if (!form_expect(call, "", "list_id sender"))
        return;
    g_autoptr(json_t) entries = json_array();
    bool read = held_select(call->store, &filter, add_held, entries, &error);
    answer_whole(call, read ? g_steal_pointer(&entries) : NULL, &error);
}

/* All of them, or none. */
static void post_held(Call *call)
{
    static const HeldVerdict verdicts[] = {HELD_ACCEPT, HELD_ALLOW, HELD_REJECT, HELD_DISCARD, HELD_BAN};
    GError *error = NULL;
    int action = 0;
    if (!form_expect(call, "action number", "comment") ||
        !form_choice(call, "action", "accept, allow, reject, discard, ban", &action))
        return;
    g_auto(GStrv) numbers = form_words(call, "number");
    if (g_strv_length(numbers) > BULK_MAX) {
        form_refuse(call, "number", "at most %d in one call", BULK_MAX);
        return;
    }
    g_autoptr(Work) work = rest_begin(call);
    bool done = work != NULL;
    for (char **text = numbers; done && *text; text++) {
        int64_t number;
        bool told;
        if (!g_ascii_string_to_signed(*text, 10, 1, G_MAXINT64, &number, NULL))
            done = form_refuse(call, "number", "\"%s\" is no number of a held post", *text);
        else
            done = held_post_decide(work, number, verdicts[action],
                                    form_is_empty(call, "comment") ? NULL : form_text(call, "comment"), &told, &error);
    }
    rest_finish(call, work, done, &error);
}

/* ---- bounces ---- */

static bool add_day(const BounceDay *day, void *data)
{
    json_array_append_new(data, json_pack("{so so so sI sf ss ss ss ss}", "list_id", json_words(day->list_id), "email",
                                          json_words(day->address), "last_bounce", json_time(day->last_at), "bounces",
                                          (json_int_t)day->bounces, "weight", (double)day->weight / 100, "class",
                                          day->class, "status", day->status, "reason", day->reason, "source",
                                          day->source));
    return json_array_size(data) < BULK_MAX;
}

static void get_bounces(Call *call)
{
    GError *error = NULL;
    BounceFilter filter = {.list_id = form_text(call, "list_id"), .address = form_text(call, "email"),
                           .domain = form_text(call, "domain")};
    if (!form_expect(call, "", "list_id email domain"))
        return;
    g_autoptr(json_t) entries = json_array();
    bool read = bounce_day_each(call->store, &filter, add_day, entries, &error);
    answer_whole(call, read ? g_steal_pointer(&entries) : NULL, &error);
}

static const RestField fields[] = {
    {"*", MAY_SITE, MAY_SITE},
    {0},
};

const RestRoute rest_metrics = {"GET", "metrics", OF_SITE, MAY_FIGURES, NULL, get_metrics, NULL};

const RestRoute rest_operations[] = {
    {"GET", "listrunner/status", OF_SITE, MAY_SITE, fields, get_status,
     "The master, its runners, and what waits for a person"},
    {"GET", "listrunner/queues", OF_HOST, MAY_SITE, fields, get_queues,
     "Queues, with how many entries they hold and how old the oldest is"},
    {"GET", "listrunner/queues/shape", OF_HOST, MAY_SITE, fields, get_shape,
     "How old what waits is, by destination, and by queue and list"},
    {"GET", "listrunner/destinations", OF_HOST, MAY_SITE, fields, get_destinations,
     "Destinations of outgoing mail, most waiting first"},
    {"POST", "listrunner/destinations/{name}", OF_HOST, MAY_SITE, fields, post_destination,
     "Suspend or resume a destination, or set its rate"},
    {"GET", "listrunner/shunt", OF_HOST, MAY_SITE, fields, get_shunt, "Entries that were set aside, and why"},
    {"POST", "listrunner/shunt", OF_HOST, MAY_SITE, fields, post_shunt,
     "Put entries back to where they were, or delete them"},
    {"GET", "listrunner/held", OF_SITE, MAY_SITE, fields, get_held, "Held posts of all lists, the first thousand"},
    {"POST", "listrunner/held", OF_SITE, MAY_SITE, fields, post_held, "Decide about held posts, all or none"},
    {"GET", "listrunner/bounces", OF_SITE, MAY_SITE, fields, get_bounces,
     "Days on which mail to members bounced, the first thousand"},
    {0},
};

/* ---- hosts ---- */

static void get_hosts(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    if (!page_begin(call, "", "", &page))
        return;
    g_autoptr(GPtrArray) hosts = host_all(call->store, &error);
    for (guint at = 0; hosts && at < hosts->len; at++)
        if (page_takes(&page))
            page_add(&page, host_json(call, hosts->pdata[at]));
    answer_page(call, NULL, &page, &error);
}

/* The host that the path names, in any case; NULL: 404 or 503 was answered. */
static Host *find_host(Call *call)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) hosts = host_all(call->store, &error);
    for (guint at = 0; hosts && at < hosts->len; at++)
        if (g_ascii_strcasecmp(((const Host *)hosts->pdata[at])->name, call->args[0]) == 0)
            return g_ptr_array_steal_index(hosts, at);
    if (hosts)
        answer_refusal(call, 404, "there is no host %s", call->args[0]);
    else
        rest_fail(call, error);
    return NULL;
}

static void get_host(Call *call)
{
    g_autoptr(Host) host = form_expect(call, "", "") ? find_host(call) : NULL;
    if (host)
        answer_json(call, 200, host_json(call, host));
}

static void change_host(Call *call)
{
    GError *error = NULL;
    bool draining = false;
    bool asked = form_expect(call, "draining", "") && form_bool(call, "draining", &draining);
    g_autoptr(Host) host = asked ? find_host(call) : NULL;
    if (host && host_set_draining(call->store, host->name, draining, &error))
        answer_empty(call, 204);
    else
        rest_fail(call, error);
}

static void get_lost(Call *call)
{
    GError *error = NULL;
    g_auto(LostSpool) lost = {0};
    g_autoptr(Host) host = form_expect(call, "", "") ? find_host(call) : NULL;
    if (!host)
        return;
    if (!lost_spool_remove(call->store, host->name, true, &lost, &error)) {
        rest_fail(call, error);
        return;
    }
    json_t *things = json_array();
    g_autofree char *name = segment(call->args[0]);
    for (guint at = 0; at < lost.things->len; at++) {
        const LostThing *thing = lost.things->pdata[at];
        json_array_append_new(things,
                              json_pack("{ss so so so}", "kind", thing->kind, "list_id", json_words(thing->list_id),
                                        "name", json_words(thing->name), "time", json_time(thing->time)));
    }
    answer_json(call, 200,
                json_pack("{so so so so}", "things", things, "seen_at", json_time_or_null(lost.seen_at), "since",
                          json_time_or_null(lost.since), "self_link",
                          json_link(call, "listrunner/hosts/%s/lost", name)));
}

static void remove_host(Call *call)
{
    GError *error = NULL;
    bool lost_too = false;
    g_auto(LostSpool) lost = {0};
    bool asked = form_expect(call, "", "lost") && form_bool(call, "lost", &lost_too);
    g_autoptr(Host) host = asked ? find_host(call) : NULL;
    bool done = host && (lost_too ? lost_spool_remove(call->store, host->name, false, &lost, &error)
                                  : host_remove(call->store, host->name, &error));
    if (done)
        answer_empty(call, 204);
    else
        rest_fail(call, error);
}

static const RestField host_fields[] = {
    {"*", MAY_SITE, MAY_SITE},
    {0},
};

const RestRoute rest_hosts[] = {
    {"GET", "listrunner/hosts", OF_SITE, MAY_SITE, host_fields, get_hosts, "The hosts that share the database"},
    {"GET", "listrunner/hosts/{name}", OF_SITE, MAY_SITE, host_fields, get_host,
     "One of them, with what it said of itself"},
    {"PATCH", "listrunner/hosts/{name}", OF_SITE, MAY_SITE, host_fields, change_host,
     "Let it take no new mail (draining), or take it again"},
    {"DELETE", "listrunner/hosts/{name}", OF_SITE, MAY_SITE, host_fields, remove_host,
     "Forget a host that was stopped; with lost, one whose spool is lost"},
    {"GET", "listrunner/hosts/{name}/lost", OF_SITE, MAY_SITE, host_fields, get_lost,
     "What is lost with the spool of a dead host"},
    {0},
};

/* ---- what became of a post ---- */

#define TRACE_ROWS 100

static void get_trace(Call *call)
{
    GError *error = NULL;
    int64_t since = 0;
    const char *list_id = form_text(call, "list_id"), *email = form_text(call, "email");
    if (!form_expect(call, "message_id", "list_id email after"))
        return;
    g_autoptr(List) list = list_id ? list_find(call->store, list_id, &error) : NULL;
    if (list_id && !list) {
        rest_unknown(call, error);
        return;
    }
    g_autofree char *key = trace_find_key(call->store, form_text(call, "message_id"), &error);
    if (!key) {
        rest_unknown(call, error);
        return;
    }
    g_auto(PostTrace) trace = {.directory = config_string(call->rest->config, "trail", "directory"),
                               .key = key,
                               .list = list,
                               .address = email && *email ? email : NULL,
                               .most = TRACE_ROWS};
    if (!trace_begin(&trace, form_text(call, "after"))) {
        form_refuse(call, "after", "it is not what an answer had as next");
        return;
    }
    g_autoptr(json_t) rows = json_array(), not_asked = trace_not_asked(call->store, call->rest->config, &error);
    if (!not_asked || !trace_read(&trace, rows, &error) || !trail_since(trace.directory, &since, &error)) {
        rest_fail(call, error);
        return;
    }
    answer_json(call, 200,
                json_pack("{sO so so sI sb sO}", "entries", rows, "next",
                          trace.next ? json_words(trace.next) : json_null(), "since",
                          since ? json_time(since) : json_null(), "damaged", (json_int_t)trace.damaged, "more_mails",
                          trace.more_mails, "not_asked", not_asked));
}

static const RestField trace_fields[] = {
    {"message_id", MAY_LIST, MAY_NOBODY},
    {"list_id", MAY_LIST, MAY_NOBODY},
    {"email", MAY_LIST, MAY_NOBODY},
    {"after", MAY_LIST, MAY_NOBODY},
    {"entries", MAY_LIST, MAY_NOBODY},
    {"next", MAY_LIST, MAY_NOBODY},
    {"since", MAY_LIST, MAY_NOBODY},
    {"damaged", MAY_LIST, MAY_NOBODY},
    {"more_mails", MAY_LIST, MAY_NOBODY},
    {"not_asked", MAY_LIST, MAY_NOBODY},
    {0},
};

const RestRoute rest_trace[] = {
    {"GET", "listrunner/trace", OF_NAMED_LIST, MAY_LIST, trace_fields, get_trace,
     "What became of a post, for each recipient or one email"},
    {0},
};
