/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /queues: what lies in the queues under Mailman's names, and handing a message in. */
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/posts/injection.h"
#include "mail/wire.h"
#include "runners/rest/resources.h"
#include "switchboard/intake.h"
#include "switchboard/name.h"
#include "switchboard/operate.h"

/* Mailman's queues, and ours of that purpose. */
typedef struct QueueName {
    const char *theirs, *ours;
} QueueName;

static const QueueName queues[] = {
    {"archive", "archive"}, {"bad", "corrupt"}, {"bounces", "bounces"}, {"command", "command"}, {"digest", "digest"},
    {"in", "in"}, {"nntp", "nntp"}, {"out", "out"}, {"pipeline", "pipeline"}, {"retry", "retry"}, {"shunt", "shunt"},
    {"virgin", "virgin"}, {NULL, NULL},
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

static void get_all(Call *call)
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
static const QueueName *find(Call *call)
{
    const QueueName *queue = queue_of(call->args[0]);
    if (!queue)
        answer_refusal(call, 404, "There is no queue %s", call->args[0]);
    return queue;
}

static void get_one(Call *call)
{
    GError *error = NULL;
    const QueueName *name = find(call);
    answer_found(call, name ? queue_json(call, name, &error) : NULL, &error);
}

static void post(Call *call)
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
    const Injection injection = {.queue = name->ours, .list = list, .to = TO_POSTING, .host = call->rest->site.hostname,
                                 .door = "rest"};
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

/* ---- one entry ---- */

/* Removes it as the operator's command does, when it is ready or set aside. FAIL_MISSING: a runner has it, or it is not
 * there. */
static bool drop(Spool *spool, Queue *queue, EntryName *entry, GError **error)
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

static void delete(Call *call)
{
    GError *error = NULL;
    EntryName entry;
    const char *rest = "";
    const QueueName *name = form_expect(call, "", "") ? find(call) : NULL;
    if (!name)
        return;
    if (!name_parse(call->args[1], &entry, &rest) || *rest) {
        answer_refusal(call, 404, "No such queue file: %s", call->args[1]);
        return;
    }
    Queue *queue = spool_queue(call->rest->spool, name->ours, &error);
    if (queue && drop(call->rest->spool, queue, &entry, &error)) {
        answer_empty(call, 204);
        return;
    }
    rest_refuse(call, &error, FAIL_MISSING, 404, "No such queue file, or a runner is at work on it: %s", call->args[1]);
    rest_fail(call, error);
}

static const RestField fields[] = {
    {"*", MAY_SITE, MAY_SITE},
    {0},
};

const RestRoute rest_queues[] = {
    {"GET", "queues", OF_HOST, MAY_SITE, fields, get_all, NULL},
    {"GET", "queues/{queue}", OF_HOST, MAY_SITE, fields, get_one, NULL},
    {"POST", "queues/{queue}", OF_SITE, MAY_SITE, fields, post, NULL},
    {"DELETE", "queues/{queue}/{entry}", OF_HOST, MAY_SITE, fields, delete, NULL},
    {0},
};
