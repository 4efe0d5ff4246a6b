/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Makes the messages of an issue. Each is written into a file without a name on the spool's file system, post by post,
 * and the draft is written from that file: so a process holds one post in memory, however many there are.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/secret.h"
#include "lists/keys.h"
#include "lists/letters/letter.h"
#include "mail/loop_mark.h"
#include "mail/text/issue.h"
#include "mail/text/notice.h"
#include "mail/text/subject.h"
#include "runners/digest/digest.h"
#include "store/lists/list_setting.h"

/* The template of the list in its language; NULL with error: there is none. */
static char *fill(const Work *work, const List *list, const char *name, const TemplateValue *values, GError **error)
{
    g_autofree char *text = letter_text(work, list, list->settings->preferred_language, name, error);
    return text ? letter_fill(work, list, text, values) : NULL;
}

/* The masthead and, below it, the text that somebody set to stand above digests. */
static char *make_head(const Work *work, const List *list, const TemplateValue *values, GError **error)
{
    g_autoptr(GError) none = NULL;
    g_autofree char *masthead = fill(work, list, "digest_masthead", values, error);
    g_autofree char *header = masthead ? fill(work, list, "list:member:digest:header", values, &none) : NULL;
    if (none && !g_error_matches(none, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&none));
        return NULL;
    }
    return header && *g_strstrip(header) ? g_strdup_printf("%s\n\n%s\n", g_strchomp(masthead), header)
                                         : g_steal_pointer(&masthead);
}

/* Cuts the first line, "Subject: ...", off; g_free(). */
static char *take_subject(char *text)
{
    static const char label[] = "Subject: ";
    if (!g_str_has_prefix(text, label))
        return g_strdup("");
    char *end = strchrnul(text, '\n');
    char *subject = g_strstrip(g_strndup(text + strlen(label), (size_t)(end - text) - strlen(label)));
    end += strspn(end, "\r\n");
    memmove(text, end, strlen(end) + 1);
    return subject;
}

/* The text becomes the caller's as long as the array `texts` lives. */
static const char *keep(GPtrArray *texts, char *text)
{
    g_ptr_array_add(texts, text);
    return text;
}

/* Set the texts of the issue, in the language of the list. */
static bool load_texts(const IssueTask *task, const List *list, Issue *issue, GPtrArray *texts, GError **error)
{
    g_autoptr(Work) work = list_runner_work(runner_data(task->runner), task->entry);
    g_autofree char *volume = g_strdup_printf("%" PRId64, task->issue->volume);
    g_autofree char *number = g_strdup_printf("%" PRId64, task->issue->number);
    /* Before "Digest" in the subject stands the prefix of posts without their number, or the list's name. */
    const char *of_posts = list->settings->subject_prefix;
    g_autofree char *bare = subject_prefix_bare(of_posts ? of_posts : "");
    const char *prefix = *bare ? bare : list->settings->display_name;
    g_autofree char *request = list_address(list, "request"), *owner = list_address(list, "owner");
    const TemplateValue values[] = {{"got_list_email", list->posting_address}, {"got_owner_email", owner},
                                    {"got_request_email", request}, {"prefix", prefix}, {"volume", volume},
                                    {"issue", number}, {0}};
    char *masthead = make_head(work, list, values, error);
    if (!masthead)
        return false;
    issue->masthead = keep(texts, masthead);
    issue->subject = keep(texts, take_subject(masthead));
    issue->footer = keep(texts, fill(work, list, "digest_footer", values, error));
    issue->title = keep(texts, letter_sentence(work, list, NULL, "digest_title", values));
    issue->contents = keep(texts, letter_sentence(work, list, NULL, "digest_contents", values));
    issue->footer_title = keep(texts, letter_sentence(work, list, NULL, "digest_footer", values));
    issue->end = keep(texts, letter_sentence(work, list, NULL, "digest_end", values));
    issue->left_out = keep(texts, letter_sentence(work, list, NULL, "digest_left_out", NULL));
    return issue->footer != NULL;
}

/* Reads the posts once and hands each over. */
typedef void TakePost(void *data, GBytes *post);
static bool each_post(const IssueTask *task, TakePost *take, void *data, GError **error)
{
    ListRunner *own = runner_data(task->runner);
    GError *fault = NULL;
    g_autoptr(DigestCursor) cursor = digest_cursor_open(own->store, task->issue, &fault);
    GBytes *post;
    while (cursor && (post = digest_cursor_next(cursor, &fault))) {
        take(data, post);
        g_bytes_unref(post);
        runner_progress(task->runner);
    }
    if (fault)
        g_propagate_error(error, fault);
    return fault == NULL;
}

static void announce(void *data, GBytes *post)
{
    issue_announce(data, post);
}

static void add(void *data, GBytes *post)
{
    issue_add(data, post);
}

/* Where the posts of an issue have been, together. */
typedef struct IssueMarks {
    const LoopKeys *keys;
    LoopMark mark;
} IssueMarks;

static void read_mark(void *data, GBytes *post)
{
    IssueMarks *marks = data;
    g_autoptr(Message) message = message_new(post);
    loop_mark_read(marks->keys, message, &marks->mark);
}

/* A file with the whole message, which has no name and lies beside the queues; -1 with error. */
static int make_message(const IssueTask *task, const Issue *issue, IssueForm form, bool *is_8bit, GError **error)
{
    const char *directory = spool_path(runner_spool(task->runner));
    auto_fd fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) { /* a file system without O_TMPFILE */
        g_autofree char *path = g_build_filename(directory, ".issue-XXXXXX", NULL);
        fd = g_mkstemp_full(path, O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0)
            unlink(path);
    }
    int other = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    FILE *stream = other >= 0 ? fdopen(other, "w+") : NULL;
    if (!stream) {
        fail_errno(error, FAIL_LATER, "make a file for an issue of a digest in %s", directory);
        if (other >= 0)
            close(other);
        return -1;
    }
    g_autoptr(IssueWriter) writer = issue_writer_new(issue, form, stream);
    bool written = each_post(task, announce, writer, error);
    if (written) {
        *is_8bit = issue_is_8bit(writer);
        written = each_post(task, add, writer, error);
    }
    if (written) {
        issue_end(writer);
        written = (fflush(stream) == 0 && !ferror(stream)) ||
                  fail_errno(error, FAIL_LATER, "write an issue of the digest of %s", task->list->list_id);
    }
    g_clear_pointer(&writer, issue_writer_free);
    fclose(stream);
    return written ? auto_fd_steal(&fd) : -1;
}

static bool build_group(const IssueTask *task, const DigestGroup *group, const IssueMarks *marks, Outcome *outcome,
                        GError **error)
{
    const ListRunner *own = runner_data(task->runner);
    const List *list = task->list;
    /* The list in the language of these readers: its own stays, since the runner has the list in memory. */
    ListSettings settings = *list->settings;
    List spoken = *list;
    spoken.settings = &settings;
    if (*group->language)
        settings.preferred_language = group->language;
    g_autofree char *from = list_address(list, own->no_requests ? "owner" : "request"), *secret = random_word();
    g_autofree char *id = notice_id("digest", list->mail_host);
    g_autofree char *mark = loop_mark_make(marks->keys, &marks->mark, LOOP_POSTING, list->id, id, marks->mark.origin);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    Issue issue = {.from = from,
                   .to = list->posting_address,
                   .id = id,
                   .date = task->issue->made_at,
                   .mark = mark,
                   .prefix = settings.subject_prefix,
                   .secret = secret};
    if (!load_texts(task, &spoken, &issue, texts, error))
        return false;
    bool is_8bit = false;
    int message = make_message(task, &issue, group->plain ? ISSUE_PLAIN : ISSUE_MIME, &is_8bit, error);
    if (message < 0)
        return false;
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list->list_id);
    meta_set_integer(meta, META_ARRIVAL, task->issue->made_at);
    meta_set_string(meta, KEY_SENDER, "");
    meta_set_string(meta, KEY_TO, TO_DIGEST);
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    meta_set_bool(meta, KEY_DIGEST_PLAIN, group->plain);
    meta_set_string(meta, KEY_DIGEST_LANGUAGE, group->language);
    meta_set_integer(meta, KEY_DIGEST_MEMBERS, group->members + (group->last ? g_strv_length(group->last) : 0));
    if (is_8bit)
        meta_set_bool(meta, KEY_BODY_8BIT, true);
    json_t *last = group->last ? json_array() : NULL;
    for (char **address = group->last; address && *address; address++)
        json_array_append_new(last, json_string(*address));
    if (last)
        json_object_set_new(meta, KEY_DIGEST_LAST, last);
    g_autoptr(Draft) made = draft_new("pipeline", meta);
    if (!draft_set_file(made, message, error))
        return false;
    Draft *draft = g_steal_pointer(&made);
    outcome_add(outcome, draft);
    list_runner_log(task->entry, "volume=%" PRId64 " issue=%" PRId64 " form=%s language=%s members=%" PRId64
                    " size=%zu result=made", task->issue->volume, task->issue->number, group->plain ? "plain" : "mime",
                    settings.preferred_language, group->members, draft_message_length(draft));
    return true;
}

bool issue_build(const IssueTask *task, const GPtrArray *groups, Outcome *outcome, GError **error)
{
    IssueMarks marks = {.keys = list_runner_loop_keys(runner_data(task->runner), error)};
    bool done = marks.keys && each_post(task, read_mark, &marks, error);
    loop_mark_derive(&marks.mark);
    for (guint at = 0; at < groups->len && done; at++)
        done = build_group(task, groups->pdata[at], &marks, outcome, error);
    loop_mark_clear(&marks.mark);
    return done;
}
