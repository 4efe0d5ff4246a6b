/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * /listrunner/lists/{list}/sources: members from outside (lists/sources/source.h). This process reads no source: files
 * of sources are closed to it, and a directory may take minutes. A refresh is left to the timer.
 */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/sources/source.h"
#include "runners/rest/resources.h"

#define SETS "place query user password_file interval welcome"

/* The caller is told of parameters by the names of options in the shell. */
static const char *const options[][2] = {
    {"--password-file", "password_file"}, {"--query", "query"}, {"--user", "user"}};

static json_t *words_or_null(const char *text)
{
    return text ? json_words(text) : json_null();
}

static json_t *source_json(const Call *call, const MemberSource *source)
{
    g_autofree char *list = segment(source->list_id), *name = segment(source->name), *place = source_shown(source);
    g_autofree char *interval = source->interval > 0 ? config_duration_text(source->interval) : NULL;
    json_t *bad_lines = json_array();
    g_auto(GStrv) lines = g_strsplit(source->bad_lines ? source->bad_lines : "", "\n", -1);
    for (char **line = lines; *line; line++)
        json_array_append_new(bad_lines, json_words(*line));
    return json_pack(
        "{so so ss so so so so so sb so so so so sI sI sI so so so}", "list_id", json_words(source->list_id), "name",
        json_words(source->name), "kind", source_kind_text((SourceKind)source->kind), "place", json_words(place),
        "query", words_or_null(source->query), "user", words_or_null(source->bind_dn), "password_file",
        words_or_null(source->password_file), "interval", words_or_null(interval), "welcome", source->welcome,
        "made_at", json_time(source->made_at), "tried_at", json_time_or_null(source->tried_at), "read_at",
        json_time_or_null(source->read_at), "due_at", json_time_or_null(source->due_at), "given",
        (json_int_t)source->given, "kept_out", (json_int_t)source->kept_out, "bad", (json_int_t)source->bad, "fault",
        words_or_null(*source->fault ? source->fault : NULL), "bad_lines", bad_lines, "self_link",
        json_link(call, "listrunner/lists/%s/sources/%s", list, name));
}

/* The source of the path; NULL: 404 or 503 was answered. */
static MemberSource *find(Call *call, List **list)
{
    GError *error = NULL;
    *list = rest_list(call);
    MemberSource *source = *list ? source_find(call->store, (*list)->list_id, call->args[1], &error) : NULL;
    if (error)
        rest_fail(call, error);
    return source;
}

static void get_all(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    g_autoptr(List) list = page_of_list(call, &page);
    if (!list)
        return;
    g_autoptr(GPtrArray) all = source_all(call->store, list->list_id, &error);
    for (guint at = 0; all && at < all->len; at++)
        if (page_takes(&page))
            page_add(&page, source_json(call, all->pdata[at]));
    answer_page(call, NULL, &page, &error);
}

static void get_one(Call *call)
{
    g_autoptr(List) list = NULL;
    g_autoptr(MemberSource) source = form_expect(call, "", "") ? find(call, &list) : NULL;
    if (source)
        answer_json(call, 200, source_json(call, source));
}

/* ---- setting ---- */

/* A parameter that was sent takes the place of the value; an empty one takes it away. */
static void put(const Call *call, const char *name, char **field)
{
    const char *text = form_text(call, name);
    if (!text)
        return;
    g_free(*field);
    *field = *text ? g_strdup(text) : NULL;
}

static bool put_all(Call *call, MemberSource *source)
{
    g_autoptr(GError) wrong = NULL;
    const char *interval = form_text(call, "interval"), *place = form_text(call, "place");
    if (place && !*place)
        return form_refuse(call, "place", "it is empty");
    put(call, "place", &source->place);
    put(call, "query", &source->query);
    put(call, "user", &source->bind_dn);
    put(call, "password_file", &source->password_file);
    if (interval && !source_interval_read(interval, &source->interval, &wrong))
        return form_refuse(call, "interval", "%s", wrong->message);
    return form_bool(call, "welcome", &source->welcome);
}

static void fail_in_words(Call *call, GError *error)
{
    g_autoptr(GString) message = g_string_new(error ? error->message : "");
    for (size_t at = 0; at < G_N_ELEMENTS(options); at++)
        g_string_replace(message, options[at][0], options[at][1], 0);
    if (error) {
        g_free(error->message);
        error->message = g_strdup(message->str);
    }
    rest_fail(call, error);
}

static void post_new(Call *call)
{
    SourceKind kind;
    GError *error = NULL;
    if (!form_expect(call, "name kind place", "query user password_file interval welcome"))
        return;
    if (!source_kind_parse(form_text(call, "kind"), &kind)) {
        form_refuse(call, "kind", "there are file, url, list, sql and ldap");
        return;
    }
    g_autoptr(Work) work = rest_begin(call);
    g_autoptr(List) list = work ? rest_list(call) : NULL;
    if (!list)
        return;
    g_autoptr(MemberSource) source = g_new0(MemberSource, 1);
    *source = (MemberSource){
        .list_id = g_strdup(list->list_id), .name = g_strdup(form_text(call, "name")), .kind = (int)kind};
    if (!put_all(call, source))
        return;
    if (!source_make(work, list, source, &error)) {
        fail_in_words(call, error);
    } else if (rest_commit(call, work)) {
        g_autofree char *of = segment(list->list_id), *name = segment(source->name);
        answer_created(call, "listrunner/lists/%s/sources/%s", of, name);
    }
}

static void change(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list = NULL;
    g_autoptr(Work) work = form_expect(call, "", SETS) ? rest_begin(call) : NULL;
    g_autoptr(MemberSource) source = work ? find(call, &list) : NULL;
    if (!source || !put_all(call, source))
        return;
    if (!source_set(work, list, source, &error))
        fail_in_words(call, error);
    else if (rest_commit(call, work))
        answer_empty(call, 204);
}

/* ---- removing ---- */

/* Read whether members who came by the source alone are to leave: *drop. False: the call was answered. */
static bool may_remove(Call *call, const MemberSource *source, bool *drop)
{
    int64_t alone;
    int choice = -1;
    GError *error = NULL;
    if (!form_choice(call, "members", "keep, drop", &choice))
        return false;
    *drop = choice == 1;
    if (!source_count_alone(call->store, source, &alone, &error)) {
        rest_fail(call, error);
        return false;
    }
    if (alone > 0 && choice < 0)
        answer_refusal(call, 409,
                       "%" G_GINT64_FORMAT " members came by the source alone: send members=drop to remove them with "
                       "it, or members=keep to let them stay as if they had joined",
                       alone);
    else if (alone > SOURCE_PAGE && *drop)
        answer_refusal(call, 409,
                       "%" G_GINT64_FORMAT " members are too many to remove while other calls wait: listrunner list "
                       "source remove --drop-members %s %s",
                       alone, source->list_id, source->name);
    else
        return true;
    return false;
}

static bool commit_page(Work *work, void *data, GError **error)
{
    const Call *call = data;
    return work_commit(work, call->rest->spool, error);
}

static void drop(Call *call)
{
    bool members;
    GError *error = NULL;
    g_auto(SourceResult) result = {0};
    g_autoptr(List) list = NULL;
    g_autoptr(MemberSource) source = form_expect(call, "", "members") ? find(call, &list) : NULL;
    if (!source || !may_remove(call, source, &members))
        return;
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_REST, .from = http_peer(call->http)};
    const SourceRun run = {.store = call->store,
                           .site = &call->rest->site,
                           .actor = &actor,
                           .interval = config_duration(call->rest->site.config, "site", "source_interval"),
                           .commit = commit_page,
                           .data = call};
    if (members && !source_empty(&run, source, &result, &error)) {
        rest_fail(call, error);
        return;
    }
    g_autoptr(Work) work = rest_begin(call);
    rest_finish(call, work, work && source_unmake(work, list, source, &error), &error);
}

/* ---- reading and why ---- */

static void refresh(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list = NULL;
    g_autoptr(MemberSource) source = form_expect(call, "", "") ? find(call, &list) : NULL;
    if (!source)
        return;
    if (source_set_due(call->store, source, clock_now(), &error))
        answer_empty(call, 202);
    else
        rest_fail(call, error);
}

static void get_why(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(List) list = work ? rest_list(call) : NULL;
    if (!list)
        return;
    json_t *why = source_why(work, list, call->args[1], &error);
    if (why)
        json_object_set_new(why, "list", json_words(list->list_id));
    answer_found(call, why, &error);
}

static const RestField fields[] = {
    {"list_id", MAY_LIST, MAY_NOBODY},     {"name", MAY_LIST, MAY_SITE},        {"kind", MAY_LIST, MAY_SITE},
    {"place", MAY_LIST, MAY_SITE},         {"query", MAY_SITE, MAY_SITE},       {"user", MAY_SITE, MAY_SITE},
    {"password_file", MAY_SITE, MAY_SITE}, {"interval", MAY_LIST, MAY_SITE},    {"welcome", MAY_LIST, MAY_SITE},
    {"made_at", MAY_LIST, MAY_NOBODY},     {"tried_at", MAY_LIST, MAY_NOBODY},  {"read_at", MAY_LIST, MAY_NOBODY},
    {"due_at", MAY_LIST, MAY_NOBODY},      {"given", MAY_LIST, MAY_NOBODY},     {"kept_out", MAY_LIST, MAY_NOBODY},
    {"bad", MAY_LIST, MAY_NOBODY},         {"bad_lines", MAY_LIST, MAY_NOBODY}, {"fault", MAY_LIST, MAY_NOBODY},
    {"members", MAY_NOBODY, MAY_SITE},     {"self_link", MAY_LIST, MAY_NOBODY}, {0},
};

static const RestField why_fields[] = {
    {"list", MAY_LIST, MAY_NOBODY},    {"address", MAY_LIST, MAY_NOBODY}, {"member", MAY_LIST, MAY_NOBODY},
    {"sources", MAY_LIST, MAY_NOBODY}, {"because", MAY_LIST, MAY_NOBODY}, {0},
};

const RestRoute rest_sources[] = {
    {"GET", "listrunner/lists/{list}/sources", OF_LIST, MAY_LIST, fields, get_all,
     "Places outside of the list that members come from"},
    {"POST", "listrunner/lists/{list}/sources", OF_LIST, MAY_SITE, fields, post_new, "Add a source"},
    {"GET", "listrunner/lists/{list}/sources/{name}", OF_LIST, MAY_LIST, fields, get_one, "One source"},
    {"PATCH", "listrunner/lists/{list}/sources/{name}", OF_LIST, MAY_SITE, fields, change, "Change a source"},
    {"DELETE", "listrunner/lists/{list}/sources/{name}", OF_LIST, MAY_SITE, fields, drop,
     "Remove a source, and its members or not"},
    {"POST", "listrunner/lists/{list}/sources/{name}/refresh", OF_LIST, MAY_LIST, fields, refresh,
     "Let the timer read a source now"},
    {"GET", "listrunner/lists/{list}/why/{address}", OF_LIST, MAY_LIST, why_fields, get_why,
     "Say why somebody is or is not a member"},
    {0},
};
