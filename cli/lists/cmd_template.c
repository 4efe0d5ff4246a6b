/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner template: the texts of letters, and who set them. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/work_site.h"
#include "lists/letters/letter.h"
#include "lists/letters/template_name.h"
#include "lists/letters/template_set.h"
#include "store/language.h"
#include "store/lists/domain.h"
#include "store/lists/list_setting.h"
#include "store/lists/template_text.h"

#define ENDING ".txt" /* of a file with the text of a letter */

static char *list_option, *domain_option;
static char *language, *uri, *user, *password_file;
static gboolean names;

/* ---- the list, the domain or the site that the options name ---- */

typedef struct TemplatePlace {
    char *key;   /* as TemplateText.place has it */
    List *found; /* the list; NULL: it is none */
    List list;   /* the list, or what any list of the domain or of the site has in common; borrowed strings */
} TemplatePlace;

static void template_place_clear(TemplatePlace *place)
{
    g_clear_pointer(&place->key, g_free);
    if (!place->found) /* otherwise this is the list's */
        g_free(place->list.mail_host);
    g_clear_pointer(&place->found, list_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TemplatePlace, template_place_clear)

static bool read_place(TemplatePlace *place, Store *store, GError **error)
{
    static ListSettings none = {.preferred_language = (char *)"en"};
    place->list = (List){.list_id = (char *)"",
                         .list_name = (char *)"",
                         .posting_address = (char *)"",
                         .settings = &none};
    if (list_option && domain_option) {
        command_usage(error, "give --list or --domain, not both");
        return false;
    }
    if (list_option) {
        place->found = site_list_find(store, list_option, error);
        if (!place->found)
            return false;
        place->list = *place->found;
        place->key = g_strdup(place->found->list_id);
        return true;
    }
    g_autoptr(Domain) domain = domain_option ? domain_find(store, domain_option, error) : NULL;
    if (domain_option && !domain)
        return false;
    place->list.mail_host = g_strdup(domain ? domain->mail_host : "");
    place->key = domain ? template_text_place(domain->mail_host) : g_strdup("");
    return true;
}

static bool add_texts(GPtrArray *rows, Store *store, const char *place, GError **error)
{
    g_autoptr(GPtrArray) some = template_text_all(store, place, error);
    while (some && some->len > 0)
        g_ptr_array_add(rows, g_ptr_array_steal_index(some, 0));
    return some != NULL;
}

/* ---- ls ---- */

/* One text that somebody set, or where none counts, the file of the installation. */
static void show_row(Listing *listing, const TemplateName *name, const TemplateText *row)
{
    const char *from = !row                  ? (name->file ? "file" : "-")
                       : !*row->place        ? "site"
                       : *row->place == '@' ? "domain"
                                             : "list";
    listing_row(listing, json_pack("{ss so ss so so so so so ss}", "name", name->mailman, "file",
                                   listing_text(name->file), "from", from, "place",
                                   row && *row->place ? listing_text(row->place + (*row->place == '@')) : json_null(),
                                   "language", row && *row->language ? listing_text(row->language) : json_null(), "uri",
                                   row && *row->uri ? listing_text(row->uri) : json_null(), "fetched_at",
                                   listing_time(row ? row->fetched_at : 0), "fault",
                                   row && *row->fault ? listing_text(row->fault) : json_null(), "about", name->about));
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"name", "TEMPLATE", COLUMN_TEXT},  {"from", "FROM", COLUMN_TEXT},   {"language", "LANGUAGE", COLUMN_TEXT},
        {"uri", "URI", COLUMN_TEXT},        {"fault", "FAULT", COLUMN_TEXT}, {"about", "WHAT IT DOES", COLUMN_TEXT},
        {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_auto(TemplatePlace) place = {0};
    if (!store || !read_place(&place, store, error))
        return TOOL_LATER;
    /* The texts that were set for the place and for those above it: the list's, the domain's, the site's. */
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)template_text_free);
    g_autofree char *domain = template_text_place(place.list.mail_host);
    if ((place.found && !add_texts(rows, store, place.key, error)) ||
        (*place.list.mail_host && !add_texts(rows, store, domain, error)) || !add_texts(rows, store, "", error))
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (const TemplateName *name = template_table; name->mailman; name++) {
        bool any = false;
        for (guint at = 0; at < rows->len && !names; at++) {
            const TemplateText *row = rows->pdata[at];
            if (strcmp(row->name, name->mailman) != 0 || !template_place_allowed(name, row->place, NULL))
                continue;
            show_row(listing, name, row);
            any = true;
        }
        if (names)
            puts(name->mailman);
        else if (!any)
            show_row(listing, name, NULL);
    }
    return TOOL_OK;
}

/* ---- show ---- */

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace about;
    g_auto(TemplatePlace) place = {0};
    const TemplateName *name = template_name_find(argv[0]);
    if ((language && !language_check("--language", language, error)) || !work_place_open(&about, site, error) ||
        !read_place(&place, about.store, error))
        return TOOL_LATER;
    if (!name) {
        fail(error, FAIL_MISSING, "there is no template \"%s\"; listrunner template ls shows all", argv[0]);
        return TOOL_MISSING;
    }
    g_autoptr(Work) work = work_new(about.store, &about.site, &about.actor);
    g_autofree char *text = letter_text(work, &place.list, language, name->mailman, error);
    if (!text)
        return TOOL_LATER;
    g_autofree char *plain = plain_message(text, strlen(text));
    fputs(plain, stdout);
    if (*plain && !g_str_has_suffix(plain, "\n"))
        putchar('\n');
    return TOOL_OK;
}

/* ---- set, unset ---- */

/* The text of the file, which is read before rights are given up; NULL with error. */
static char *read_text(const char *path, GError **error)
{
    g_autoptr(InputFile) file = input_open(path, error);
    g_autoptr(GBytes) octets = file ? input_read(file, path, error) : NULL;
    if (!octets)
        return NULL;
    size_t length;
    const char *start = g_bytes_get_data(octets, &length);
    if (memchr(start ? start : "", '\0', length) || !g_utf8_validate_len(start ? start : "", length, NULL)) {
        fail(error, FAIL_NEVER, "%s is no text in UTF-8", input_name(path));
        return NULL;
    }
    return g_strndup(start, length);
}

static int run_set(Site *site, int argc, char **argv, GError **error)
{
    if (uri && argc > 1)
        return command_usage(error, "give a FILE or --uri, not both");
    if ((user || password_file) && !uri)
        return command_usage(error, "--user and --password-file are for --uri");
    g_autofree char *password = password_file ? input_secret(password_file, error) : NULL;
    if (password_file && !password)
        return TOOL_LATER;
    g_autofree char *text = uri ? NULL : read_text(argc > 1 ? argv[1] : "-", error);
    WorkPlace about;
    g_auto(TemplatePlace) place = {0};
    g_autoptr(Work) work = uri || text ? work_place_begin_spooled(&about, site, error) : NULL;
    if (!work || !read_place(&place, about.store, error))
        return TOOL_LATER;
    const TemplateText set = {.name = argv[0], .place = place.key, .language = language, .uri = uri, .username = user,
                              .password = password, .text = text};
    return template_set(work, &set, error) && work_commit(work, about.spool, error) ? TOOL_OK : TOOL_LATER;
}

static int run_unset(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace about;
    g_auto(TemplatePlace) place = {0};
    g_autoptr(Work) work = work_place_begin_spooled(&about, site, error);
    return work && read_place(&place, about.store, error) &&
                   template_unset(work, place.key, argv[0], language, error) && work_commit(work, about.spool, error)
               ? TOOL_OK
               : TOOL_LATER;
}

/* ---- check ---- */

static void complain(unsigned *faults, const char *where, const char *fault)
{
    g_autofree char *place = plain_text(where), *text = plain_text(fault);
    printf("%s: %s\n", place, text);
    ++*faults;
}

/* Files that the site put beside the others, in one language. */
static void check_folder(const char *folder, unsigned *faults)
{
    g_autoptr(GDir) files = g_dir_open(folder, 0, NULL);
    for (const char *file; files && (file = g_dir_read_name(files));) {
        g_autofree char *path = g_build_filename(folder, file, NULL), *text = NULL;
        g_autofree char *word = g_str_has_suffix(file, ENDING) ? g_strndup(file, strlen(file) - strlen(ENDING)) : NULL;
        const TemplateName *name = word ? template_name_find(word) : NULL;
        g_autoptr(GError) fault = NULL;
        if (name && g_file_get_contents(path, &text, NULL, &fault))
            template_check(name, text, &fault);
        if (fault)
            complain(faults, path, fault->message);
    }
}

static bool check_list(const List *list, void *data)
{
    for (const ListSetting *setting = list_settings; setting->name; setting++) {
        const char *text = setting->placeholders ? *(char *const *)list_value(list->settings, setting) : NULL;
        g_autoptr(GError) fault = NULL;
        if (text && !placeholder_check(setting->name, text, setting->placeholders, &fault))
            complain(data, list->posting_address, fault->message);
    }
    return true;
}

/* Print a line for each text that somebody set, in the database, in the site's folder or in the settings of lists, that
 * has a placeholder that is not filled in, or could not be fetched. */
static int run_check(Site *site, int argc, char **argv, GError **error)
{
    unsigned faults = 0;
    const Config *config = site_config(site, error);
    Store *store = config ? site_store(site, false, error) : NULL;
    if (!store)
        return TOOL_LATER;
    const char *folder = config_string(config, "site", "template_directory");
    g_autoptr(GDir) languages = folder ? g_dir_open(folder, 0, NULL) : NULL;
    for (const char *below; languages && (below = g_dir_read_name(languages));) {
        g_autofree char *path = g_build_filename(folder, below, NULL);
        check_folder(path, &faults);
    }
    g_autoptr(GPtrArray) rows = template_text_all(store, NULL, error);
    for (guint at = 0; rows && at < rows->len; at++) {
        const TemplateText *row = rows->pdata[at];
        const TemplateName *name = template_name_find(row->name);
        g_autoptr(GError) fault = NULL;
        const char *place = !*row->place ? "the site" : row->place + (*row->place == '@');
        if (*row->fault)
            complain(&faults, place, row->fault);
        else if (name && (!template_place_allowed(name, row->place, &fault) ||
                          (row->text && !template_check(name, row->text, &fault))))
            complain(&faults, place, fault->message);
    }
    if (!rows || !list_each(store, NULL, check_list, &faults, error))
        return TOOL_LATER;
    if (faults == 0)
        puts("all texts are well");
    return faults == 0 ? TOOL_OK : TOOL_NOT_SO;
}

#define PLACE_OPTIONS                                                                                           \
    {"list", 0, 0, G_OPTION_ARG_STRING, &list_option, "for this list", "LIST"},                                 \
    {                                                                                                           \
        "domain", 0, 0, G_OPTION_ARG_STRING, &domain_option, "for this domain; default: for the site", "DOMAIN" \
    }
#define LANGUAGE_OPTION(about) {"language", 0, 0, G_OPTION_ARG_STRING, &language, about, "LANGUAGE"}

static const GOptionEntry ls_options[] = {
    PLACE_OPTIONS,
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the names", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry show_options[] = {
    PLACE_OPTIONS,
    LANGUAGE_OPTION("for somebody who reads this; default: the list's language"),
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry set_options[] = {
    PLACE_OPTIONS,
    LANGUAGE_OPTION("only for people who read this; default: for all who have none of their own"),
    {"uri", 0, 0, G_OPTION_ARG_STRING, &uri, "fetch the text from there, at once and now and again", "URI"},
    {"user", 0, 0, G_OPTION_ARG_STRING, &user, "who fetches it (HTTP Basic authentication)", "NAME"},
    {"password-file", 0, 0, G_OPTION_ARG_FILENAME, &password_file,
     "and the file whose first line is the password; - is standard input or the terminal", "FILE"},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry unset_options[] = {
    PLACE_OPTIONS,
    LANGUAGE_OPTION("only the one for this language; default: those of all languages"),
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls", .arguments = "", .summary = "Show all templates, and where the text of each comes from",
    .options = ls_options, .run = run_ls,
};

static const Command show = {
    .name = "show", .arguments = "TEMPLATE", .summary = "Show the text that counts", .least = 1, .most = 1,
    .options = show_options, .run = run_show,
};

static const Command set = {
    .name = "set", .arguments = "TEMPLATE [FILE]", .summary = "Set the text of a letter, from a file or a URI",
    .details = "Without FILE, or with -, the text is read from standard input. A first line \"Subject: ...\" is the\n"
               "subject; without it the letter has the usual one. $name is filled in, $$ is a dollar sign.",
    .least = 1, .most = 2, .options = set_options, .run = run_set,
};

static const Command unset = {
    .name = "unset", .arguments = "TEMPLATE", .summary = "Take a text away that was set", .least = 1, .most = 1,
    .options = unset_options, .run = run_unset,
};

static const Command check = {
    .name = "check", .arguments = "", .summary = "Look for placeholders that are not filled in, and texts not fetched",
    .details = "Exit code 1: something was found.", .run = run_check,
};

static const Command *const verbs[] = {&ls, &show, &set, &unset, &check, NULL};

const Command cmd_template = {
    .name = "template", .arguments = "", .summary = "Show, set or check the texts of letters", .verbs = verbs,
};
