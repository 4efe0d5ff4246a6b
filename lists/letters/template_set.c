/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/template_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "lists/change.h"
#include "lists/letters/template_host.h"
#include "lists/letters/template_name.h"
#include "lists/timer.h"
#include "store/lists/domain.h"

#define FILE_URI "file://"

static const TemplateName *find_name(const char *name, GError **error)
{
    const TemplateName *row = template_name_find(name);
    if (!row)
        fail(error, FAIL_MISSING, "there is no template \"%s\"; listrunner template ls shows all", name);
    return row;
}

static const char *place_word(const char *place)
{
    return *place == '@' ? place + 1 : *place ? place : "the site";
}

/* The texts of a place go with it; one that is set after that would wait there for a new list or domain of the same
 * name. */
static bool place_known(Store *store, const char *place, GError **error)
{
    if (!*place)
        return true;
    if (*place == '@') {
        g_autoptr(Domain) domain = domain_find(store, place + 1, error);
        return domain != NULL;
    }
    g_autoptr(List) list = list_by_id(store, place, error);
    return list != NULL;
}

const char *template_installed(const char *uri, char **language)
{
    *language = NULL;
    if (!g_str_has_prefix(uri, TEMPLATE_INSTALLED))
        return NULL;
    g_auto(GStrv) steps = g_strsplit(uri + strlen(TEMPLATE_INSTALLED), "/", -1);
    guint count = g_strv_length(steps);
    if (count == 0)
        return NULL;
    char *name = steps[count - 1];
    if (g_str_has_suffix(name, ".txt"))
        name[strlen(name) - strlen(".txt")] = '\0';
    const TemplateName *row = template_name_find(name);
    if (count > 1 && *steps[count - 2] && !strpbrk(steps[count - 2], "$@."))
        *language = g_strdup(steps[count - 2]);
    return row ? row->file : NULL;
}

bool template_file_allowed(const WorkSite *site, const char *uri, GError **error)
{
    g_autofree char *path = g_filename_from_uri(uri, NULL, NULL);
    char *real = path ? realpath(path, NULL) : NULL, *folder = site->templates ? realpath(site->templates, NULL) : NULL;
    size_t length = folder ? strlen(folder) : 0;
    bool inside = real && folder && strncmp(real, folder, length) == 0 && real[length] == '/';
    free(real);
    free(folder);
    return inside || fail(error, FAIL_NEVER, "%s: files are read only below template_directory (%s)", uri,
                          site->templates ? site->templates : "which is not set");
}

/* *fault: what is wrong with it, though it may be kept. */
static bool uri_allowed(const Work *work, const char *place, const char *uri, const char **fault, GError **error)
{
    bool public_only;
    g_autofree char *language = NULL;
    *fault = "";
    /* Control characters stand in no URI, and each parser reads them in its way. */
    g_autofree char *decoded = g_uri_unescape_string(uri, NULL); /* NULL: a zero byte, or half an escape */
    bool allowed = decoded != NULL;
    for (const char *at = decoded; allowed && *at; at++)
        allowed = !g_ascii_iscntrl(*at);
    if (!allowed)
        return fail(error, FAIL_NEVER, "the URI has a control character in it, or a \"%%\" that begins no escape");

    /* Below "mailman:///" a path goes down alone. */
    if (g_str_has_prefix(uri, TEMPLATE_INSTALLED)) {
        g_autofree char *path = g_uri_unescape_string(uri + strlen(TEMPLATE_INSTALLED), NULL);
        g_auto(GStrv) steps = g_strsplit(path ? path : "", "/", -1);
        bool down = *steps != NULL;
        for (char **step = steps; *step; step++)
            down = down && **step && strcmp(*step, ".") != 0 && strcmp(*step, "..") != 0;
        if (!down)
            return fail(error, FAIL_NEVER,
                        "\"%s\" names no template; wanted: " TEMPLATE_INSTALLED "[LANGUAGE/]NAME, "
                        "without empty steps, \".\" and \"..\"",
                        uri);
        if (!template_installed(uri, &language))
            *fault = "it names no template of the installation";
        return true;
    }
    if (g_str_has_prefix(uri, FILE_URI))
        return template_file_allowed(work_site(work), uri, error);
    g_autoptr(GUri) parsed = g_uri_parse(uri, G_URI_FLAGS_NONE, NULL);
    const char *scheme = parsed ? g_uri_get_scheme(parsed) : NULL, *host = parsed ? g_uri_get_host(parsed) : NULL;
    if (!host || !*host || (g_strcmp0(scheme, "http") != 0 && g_strcmp0(scheme, "https") != 0))
        return fail(error, FAIL_NEVER, "\"%s\" cannot be fetched; allowed: http://HOST/..., https://HOST/..., "
                    "file:///PATH, " TEMPLATE_INSTALLED "NAME", uri);
    return template_host_allows(work_site(work)->template_hosts, place, uri, &public_only, error);
}

/* Put a row into the log of a list; domains and the site have none. */
static bool log_text(Work *work, const TemplateText *kept, const char *before, const char *after, GError **error)
{
    g_autofree char *name = g_strdup_printf("%s%s%s", kept->name, *kept->language ? " " : "", kept->language);
    return !*kept->place || *kept->place == '@' ||
           change_log(work, kept->place, &(Change){LOG_TEMPLATE, name, before, after}, error);
}

bool template_set(Work *work, const TemplateText *text, GError **error)
{
    Store *store = work_store(work);
    const TemplateName *row = find_name(text->name, error);
    const char *fault = "", *said = text->language ? text->language : "", *before = NULL;
    bool from_uri = text->uri && *text->uri;
    if (!row)
        return false;
    if (*said && (!g_ascii_isalpha(*said) || said[strspn(said, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-")]))
        return fail(error, FAIL_NEVER, "\"%s\" is no language; allowed: a code such as en, de or zh_CN", said);
    if (!place_known(store, text->place, error) || !template_place_allowed(row, text->place, error))
        return false;
    if (from_uri ? !uri_allowed(work, text->place, text->uri, &fault, error) : !template_check(row, text->text, error))
        return false;
    g_autofree char *language = g_strdelimit(g_strdup(said), "-", '_');
    TemplateText kept = *text;
    kept.name = (char *)row->mailman;
    kept.language = language;
    kept.text = from_uri ? NULL : text->text;
    kept.fault = (char *)fault;
    kept.fetched_at = 0;
    work_log(work, *text->place && *text->place != '@' ? text->place : "-", "template=%s language=%s place=%s by=<%s> "
             "result=set", row->mailman, *language ? language : "any", place_word(text->place), work_by(work));
    if (from_uri && !g_str_has_prefix(text->uri, TEMPLATE_INSTALLED))
        timer_ask(work, "templates");

    g_autoptr(GPtrArray) all = template_text_all(store, kept.place, error);
    for (guint i = 0; all && i < all->len && !before; i++) {
        const TemplateText *one = all->pdata[i];
        if (strcmp(one->name, kept.name) == 0 && strcmp(one->language, language) == 0)
            before = *one->uri ? one->uri : one->text;
    }
    return all && template_text_put(store, &kept, error) &&
           log_text(work, &kept, before, from_uri ? kept.uri : kept.text, error);
}

bool template_unset(Work *work, const char *place, const char *name, const char *language, GError **error)
{
    Store *store = work_store(work);
    const TemplateName *row = find_name(name, error);
    g_autofree char *usual = language ? g_strdelimit(g_strdup(language), "-", '_') : NULL;
    g_autoptr(GPtrArray) all = row ? template_text_all(store, place, error) : NULL;
    if (!all)
        return false;
    for (guint i = 0; i < all->len; i++) { /* the log has a row for each text that goes */
        const TemplateText *one = all->pdata[i];
        if (strcmp(one->name, row->mailman) == 0 && (!usual || strcmp(one->language, usual) == 0) &&
            !log_text(work, one, *one->uri ? one->uri : one->text, NULL, error))
            return false;
    }
    if (!template_text_remove(store, place, row->mailman, usual, error))
        return false;
    work_log(work, *place && *place != '@' ? place : "-", "template=%s language=%s place=%s by=<%s> result=unset",
             row->mailman, usual ? usual : "all", place_word(place), work_by(work));
    return true;
}
