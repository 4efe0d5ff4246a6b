/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Texts of letters of Mailman 3. It takes a text from the URI that its table `template` has for a list, its domain or
 * the site; else from a file below VAR/templates, where a list's own come first:
 *
 *   lists/LIST-ID/LANGUAGE/NAME.txt   lists/ADDRESS/LANGUAGE/NAME.txt
 *   domains/DOMAIN/LANGUAGE/NAME.txt  site/LANGUAGE/NAME.txt
 *
 * and else its own. Mailman's own texts are not copied: Listrunner has its own of the same meaning, in the language of
 * who reads them. The footer alone is, since it is part of what a list's posts look like.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/fail.h"
#include "lists/letters/template_name.h"
#include "lists/moving/file.h"
#include "lists/moving/mailman3_internal.h"
#include "store/lists/domain.h"
#include "store/lists/list_setting.h"

#define INSTALLED "mailman:///"
#define NONE ((char *)"")
#define FOOTER "list:member:regular:footer"
#define FOOTER_OF_ALL "list:member:generic:footer"

/* ---- files ---- */

/* directory: as moving_read_file() has it. */
static bool put_file(Mailman3 *from, const char *directory, const char *path, const TemplateText *like, GError **error)
{
    GError *why = NULL;
    TemplateText text = *like;
    g_autoptr(GBytes) bytes = moving_read_file(directory, path, &why);
    if (!bytes && g_error_matches(why, FAIL, FAIL_LATER)) {
        g_propagate_error(error, why);
        return false;
    }
    if (!bytes) {
        moving_tell(from->moving, MOVING_LEFT_OUT, like->place, like->name, "%s", why->message);
        g_error_free(why);
        return true;
    }
    g_autofree char *content = g_utf8_make_valid(g_bytes_get_data(bytes, NULL), (gssize)g_bytes_get_size(bytes));
    text.text = content;
    return moving_template(from->moving, &text, error);
}

/* Take the templates in the directories LANGUAGE of one below VAR/templates. */
static bool take_directory(Mailman3 *from, const char *kind, const char *name, const char *place, GError **error)
{
    g_autofree char *path = g_build_filename(from->var, "templates", kind, name, NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    const char *language;
    while (directory && (language = g_dir_read_name(directory)))
        for (const TemplateName *row = template_table; row->mailman; row++) {
            g_autofree char *base = g_strconcat(row->mailman, ".txt", NULL);
            g_autofree char *file = g_build_filename(path, language, base, NULL);
            const TemplateText text = {.name = (char *)row->mailman,
                                       .place = (char *)place,
                                       .language = (char *)language,
                                       .uri = NONE,
                                       .username = NONE,
                                       .password = NONE,
                                       .fault = NONE};
            struct stat status;
            g_autoptr(GError) missing = NULL;
            auto_fd there = moving_open(from->var, file, 0, &status, &missing);
            if (!g_error_matches(missing, FAIL, FAIL_MISSING) && !put_file(from, from->var, file, &text, error))
                return false;
        }
    return true;
}

/* ---- the table ---- */

/* The file that "mailman:///.../NAME" means, below VAR/templates; NULL: there is none, so it is one of Mailman's. */
static char *installed_file(Mailman3 *from, const List *list, const char *host, const char *uri)
{
    g_autofree char *name = g_path_get_basename(uri);
    const char *language = list ? list->settings->preferred_language : "en";
    const struct {
        const char *kind, *of;
    } places[] = {{"lists", list ? list->list_id : NULL},
                  {"lists", list ? list->posting_address : NULL},
                  {"domains", host},
                  {"site", ""}};
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(places); i++) {
        const char *of = places[i % G_N_ELEMENTS(places)].of;
        if (!of)
            continue;
        g_autofree char *path = g_build_filename(from->var, "templates", places[i % G_N_ELEMENTS(places)].kind, of,
                                                 i < G_N_ELEMENTS(places) ? language : "en", name, NULL);
        struct stat status;
        if (moving_stat(from->var, path, &status))
            return g_steal_pointer(&path);
    }
    return NULL;
}

typedef struct TemplatesOf {
    const List *list;
    char *place, *host;
} TemplatesOf;

static bool take_template(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const TemplatesOf *of = data;
    const char *name = foreign_text(rows, 0), *uri = foreign_text(rows, 1);
    const char *user = foreign_text(rows, 2), *password = foreign_text(rows, 3);
    if (!name || !uri)
        return true;
    if (!template_name_find(name)) {
        moving_tell(from->moving, MOVING_LOST, of->place, name, "there is no such text; Mailman has it from %s", uri);
        return true;
    }
    const TemplateText text = {.name = (char *)name,
                               .place = of->place,
                               .language = NONE,
                               .uri = (char *)uri,
                               .username = (char *)(user ? user : ""),
                               .password = (char *)(password ? password : ""),
                               .fault = NONE};
    TemplateText own = text;
    own.uri = own.username = own.password = NONE;
    if (g_str_has_prefix(uri, "file://")) {
        struct stat status;
        g_autofree char *path = g_filename_from_uri(uri, NULL, NULL);
        if (!path || !g_path_is_absolute(path) || !moving_stat("/", path, &status) || status.st_mode & S_IROTH)
            return put_file(from, path ? "/" : "", path ? path : uri, &own, error);
        /* Root reads here what Mailman's own user could not, so a file that is not for everybody to read is none of
         * Mailman's texts. */
        moving_tell(from->moving, MOVING_LEFT_OUT, own.place, own.name, "%s: not everybody may read it", path);
        return true;
    }
    if (!g_str_has_prefix(uri, INSTALLED))
        return moving_template(from->moving, &text, error);
    g_autofree char *path = installed_file(from, of->list, of->host, uri);
    if (path)
        return put_file(from, from->var, path, &own, error);
    moving_tell(from->moving, MOVING_CHANGED, *of->place ? of->place : "site", name,
                "Mailman's text %s is not below VAR/templates; Listrunner's own takes its place", uri);
    return true;
}

static bool take_place(Mailman3 *from, const char *context, TemplatesOf *of, GError **error)
{
    if (context)
        return mm_each(from,
                       "SELECT `name`, `uri`, `username`, `password` FROM template WHERE context = $1 ORDER BY id",
                       context, take_template, of, error);
    return mm_each(from,
                   "SELECT `name`, `uri`, `username`, `password` FROM template WHERE context IS NULL OR context = '' "
                   "ORDER BY id",
                   NULL, take_template, of, error);
}

static bool take_domain(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const char *host = foreign_text(rows, 0);
    (void)data;
    if (!host)
        return true;
    g_autofree char *place = template_text_place(host), *kept = g_strdup(host);
    TemplatesOf of = {NULL, place, kept};
    return take_place(from, kept, &of, error) && take_directory(from, "domains", kept, place, error);
}

bool mm_templates(Mailman3 *from, const List *list, GError **error)
{
    if (list) {
        TemplatesOf of = {list, list->list_id, list->mail_host};
        return take_place(from, list->list_id, &of, error) &&
               take_directory(from, "lists", list->list_id, list->list_id, error) &&
               take_directory(from, "lists", list->posting_address, list->list_id, error);
    }
    TemplatesOf of = {NULL, NONE, NULL};
    return take_place(from, NULL, &of, error) && take_directory(from, "site", "", "", error) &&
           mm_each(from, "SELECT `mail_host` FROM domain ORDER BY id", NULL, take_domain, NULL, error);
}

/* ---- the footer ---- */

/* Mailman writes these lines below posts where nobody set anything, in the languages of its own texts, else in
 * English. */
static const struct {
    const char *language, *line, *leave;
} footers[] = {
    {"en", "$display_name mailing list -- $listname", "To unsubscribe send an email to "},
    {"de", "$display_name Mailingliste -- $listname",
     "Zur Abmeldung von dieser Mailingliste senden Sie eine Nachricht an "},
    {"es", "Lista de correo $display_name -- $listname", "Para desuscribirse envíe un email a "},
    {"fr", "Liste de diffusion $display_name -- $listname", "Pour vous désinscrire, envoyez un courriel à "},
    {"it", "$display_name mailing list -- $listname", "Per annullare l'iscrizione invia un'email a "},
    {"pt", "Lista discussão $display_name -- $listname", "Para se desinscrever, envie um e-mail para "},
    {"pt_BR", "Lista discussão $display_name -- $listname", "Para se desinscrever, envie um e-mail para "},
};

bool mm_footer(Mailman3 *from, const List *list, GError **error)
{
    static const char *const names[] = {FOOTER, FOOTER_OF_ALL};
    size_t language = 0;
    g_autofree char *domain = template_text_place(list->mail_host);
    const char *places[] = {list->list_id, domain, ""};
    for (size_t i = 0; i < G_N_ELEMENTS(places) * G_N_ELEMENTS(names); i++) {
        bool set;
        if (!moving_template_is_set(from->moving, places[i / 2], names[i % 2], &set, error))
            return false;
        if (set)
            return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(footers); i++)
        if (strcmp(footers[i].language, list->settings->preferred_language) == 0)
            language = i;
    g_autofree char *footer = g_strdup_printf(
        "_______________________________________________\n%s\n%s${short_listname}-leave@${domain}\n",
        footers[language].line, footers[language].leave);
    return moving_setting(from->moving, list, &(MovingSetting){"msg_footer", FOOTER, footer}, error);
}
