/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * listrunner(1): global options, the way from words to a verb, and help, which is made from the table of commands
 * (cli/command.h). What a verb does is in its own file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/plain.h"

/* A word further from what was typed than this is no suggestion. */
#define DISTANCE_MAX 2

static char *config_path_given;
static gboolean version_asked, help_asked;

static const GOptionEntry global_options[] = {
    {"config", 'c', 0, G_OPTION_ARG_FILENAME, &config_path_given, "read FILE instead of " CONFIG_FILE, "FILE"},
    {"help", 'h', 0, G_OPTION_ARG_NONE, &help_asked, "show help", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry first_options[] = {
    {"version", 0, 0, G_OPTION_ARG_NONE, &version_asked, "show the version", NULL},
    G_OPTION_ENTRY_NULL,
};

/* ---- help ---- */

/* In the functions below, path is the words before the verb, "listrunner list"; verbs is the table of one group, or
 * `commands`. */

/* Find the verb of that name; NULL: there is none. */
static const Command *help_find(const Command *const *verbs, const char *name)
{
    for (size_t i = 0; verbs && verbs[i]; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

/* Say on standard error that there is no such verb, and which one may be meant. */
static void help_unknown(const Command *const *verbs, const char *path, const char *word)
{
    NearWord near = {word, NULL, DISTANCE_MAX + 1};
    const char *words = strchr(path, ' '), *begun = NULL; /* by the word */
    g_autofree char *shown = g_utf8_make_valid(word, -1);
    for (size_t i = 0; verbs[i] && !begun; i++)
        if (strlen(word) >= 2 && g_str_has_prefix(verbs[i]->name, word))
            begun = verbs[i]->name;
        else
            near_word_offer(&near, verbs[i]->name);
    const char *meant = begun ? begun : near.best;
    if (meant)
        fprintf(stderr, "%s: there is no verb '%s'; did you mean '%s'?\n", path, shown, meant);
    else
        fprintf(stderr, "%s: there is no verb '%s'\n", path, shown);
    fprintf(stderr, "See listrunner help%s.\n", words ? words : "");
}

static void show_verbs(const Command *const *verbs, FILE *to)
{
    size_t width = 0;
    for (size_t i = 0; verbs[i]; i++)
        width = MAX(width, strlen(verbs[i]->name));
    for (size_t i = 0; verbs[i]; i++)
        fprintf(to, "  %-*s  %s\n", (int)width, verbs[i]->name, verbs[i]->summary);
}

static void show_options(const GOptionEntry *options, FILE *to)
{
    if (!options || !options->long_name)
        return;
    fputs("\nOptions:\n", to);
    for (; options->long_name; options++) {
        g_autoptr(GString) left = g_string_new("  ");
        if (options->short_name)
            g_string_append_printf(left, "-%c, ", options->short_name);
        g_string_append_printf(left, "--%s", options->long_name);
        if (options->arg_description)
            g_string_append_printf(left, "=%s", options->arg_description);
        if (left->len < 26)
            fprintf(to, "%-26s  %s\n", left->str, options->description);
        else
            fprintf(to, "%s\n%-26s  %s\n", left->str, "", options->description);
    }
}

/* Write a verb's or a group's help; command NULL: the overview. path is then that of the command itself. Return
 * TOOL_OK. */
static int help_show(const Command *command, const char *path, FILE *to)
{
    if (!command) {
        fputs("Usage: listrunner [-c FILE] VERB [ARGUMENTS]\n"
              "       listrunner help [VERB ...]\n"
              "       listrunner --version\n"
              "\n"
              "Verbs:\n",
              to);
        show_verbs(commands, to);
        fputs("\nOptions of every verb:\n"
              "  -c, --config=FILE  read FILE instead of " CONFIG_FILE "\n"
              "  -h, --help         show help\n"
              "\nThe whole is in listrunner(1), the configuration in listrunner.conf(5).\n",
              to);
    } else if (command->verbs) {
        fprintf(to, "Usage: %s VERB [ARGUMENTS]\n\n%s.\n\nVerbs:\n", path, command->summary);
        show_verbs(command->verbs, to);
        fprintf(to, "\nSee %s VERB --help.\n", path);
    } else {
        fprintf(to, "Usage: %s%s%s%s\n\n%s.\n", path, command->options ? " [OPTIONS]" : "",
                *command->arguments ? " " : "", command->arguments, command->summary);
        show_options(command->options, to);
        if (command->details)
            fprintf(to, "\n%s\n", command->details);
    }
    return TOOL_OK;
}

/* Run `listrunner help [--words] [VERB ...]`, and return an exit code. argv[0] is "help". --words is for shell
 * completion: it prints verbs, options and arguments one a line. */
static int help_run(int argc, char **argv)
{
    bool words = argc > 1 && strcmp(argv[1], "--words") == 0;
    const Command *command = NULL;
    const Command *const *verbs = commands;
    g_autoptr(GString) path = g_string_new("listrunner");
    for (int i = words ? 2 : 1; i < argc; i++) {
        const Command *next = help_find(verbs, argv[i]);
        if (!next && verbs) {
            help_unknown(verbs, path->str, argv[i]);
            return TOOL_USAGE;
        }
        if (!next) {
            fprintf(stderr, "listrunner help: %s has no verbs of its own\n", path->str);
            return TOOL_USAGE;
        }
        command = next;
        verbs = command->verbs;
        g_string_append_printf(path, " %s", next->name);
    }
    if (!words)
        return help_show(command, path->str, stdout);
    /* For programs (shell completion): verbs as "NAME", options as "--NAME<tab>ARGUMENT", arguments as "=LIST [FILE]".
     * */
    for (size_t i = 0; verbs && verbs[i]; i++)
        puts(verbs[i]->name);
    if (!command)
        puts("help");
    if (command && !verbs) {
        printf("=%s\n", command->arguments);
        for (const GOptionEntry *option = command->options; option && option->long_name; option++)
            printf("--%s\t%s\n", option->long_name, option->arg_description ? option->arg_description : "");
    }
    puts("--config\tFILE\n--help\t");
    return TOOL_OK;
}

/* ---- options ---- */

static bool is_switch(const GOptionEntry *options, const char *name, size_t length)
{
    for (; options && options->long_name; options++)
        if (options->arg == G_OPTION_ARG_NONE && strncmp(options->long_name, name, length) == 0 &&
            options->long_name[length] == '\0')
            return true;
    return false;
}

/* GOption takes --switch=no for --switch, which is the opposite of what was meant. */
static bool refuse_values(const Command *command, char **words, GError **error)
{
    bool first_only = !command || command->verbs;
    for (; *words && strcmp(*words, "--") != 0; words++) {
        if (first_only && **words != '-')
            break;
        const char *name = *words + 2, *equals = g_str_has_prefix(*words, "--") ? strchr(*words, '=') : NULL;
        size_t length = equals ? (size_t)(equals - name) : 0;
        if (equals && (is_switch(global_options, name, length) ||
                       is_switch(command ? command->options : first_options, name, length))) {
            g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%.*s takes no value", (int)length, name);
            return false;
        }
    }
    return true;
}

/* Copy the options so that GOption leaves texts as they are: it would take those of G_OPTION_ARG_STRING for text in the
 * character set of the locale, which cron and ssh often leave at ASCII. g_free() */
static GOptionEntry *without_locale(const GOptionEntry *options)
{
    size_t count = 0;
    while (options[count].long_name)
        count++;
    GOptionEntry *copy = g_memdup2(options, sizeof(*options) * (count + 1));
    for (size_t at = 0; at < count; at++)
        if (copy[at].arg == G_OPTION_ARG_STRING)
            copy[at].arg = G_OPTION_ARG_FILENAME;
        else if (copy[at].arg == G_OPTION_ARG_STRING_ARRAY)
            copy[at].arg = G_OPTION_ARG_FILENAME_ARRAY;
    return copy;
}

static bool is_text(const GOptionEntry *option, const char *text, GError **error)
{
    if (!text || g_utf8_validate(text, -1, NULL))
        return true;
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s is not UTF-8", option->long_name);
    return false;
}

/* Fail when the value of an option that is a text, and not the name of a file, is not UTF-8. */
static bool check_texts(const GOptionEntry *option, GError **error)
{
    for (; option && option->long_name; option++) {
        if (option->arg == G_OPTION_ARG_STRING && !is_text(option, *(char **)option->arg_data, error))
            return false;
        char **texts = option->arg == G_OPTION_ARG_STRING_ARRAY ? *(char ***)option->arg_data : NULL;
        for (; texts && *texts; texts++)
            if (!is_text(option, *texts, error))
                return false;
    }
    return true;
}

/* Takes the options out of argv, up to the first other word when there is no
 * command yet. */
static bool parse_options(const Command *command, int *argc, char ***argv, GError **error)
{
    if (!refuse_values(command, *argv + 1, error))
        return false;
    g_autofree GOptionEntry *own = command && command->options ? without_locale(command->options) : NULL;
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_strict_posix(context, !command || command->verbs);
    g_option_context_add_main_entries(context, global_options, NULL);
    if (!command)
        g_option_context_add_main_entries(context, first_options, NULL);
    else if (own)
        g_option_context_add_main_entries(context, own, NULL);
    if (!g_option_context_parse(context, argc, argv, error) || !check_texts(command ? command->options : NULL, error))
        return false;
    for (int i = 1; command && !command->verbs && i < *argc; i++)
        if (strcmp((*argv)[i], "--") == 0) {
            memmove(*argv + i, *argv + i + 1, sizeof(**argv) * (size_t)(*argc - i));
            (*argc)--;
            break;
        }
    return true;
}

static int report(const char *path, GError *error)
{
    bool several = g_error_matches(error, FAIL, FAIL_CONFIG); /* one line for each fault */
    (several ? plain_complain_lines : plain_complain)("%s: %s", path, error->message);
    if (error->domain == G_OPTION_ERROR) {
        const char *words = strchr(path, ' ');
        fprintf(stderr, "See listrunner help%s.\n", words ? words : "");
    }
    return command_exit_code(error);
}

/* argv[0] is the word that named the command (or the program); path grows
 * with each word. */
static int dispatch(const Command *command, GString *path, int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    const Command *const *verbs = command ? command->verbs : commands;
    if (!parse_options(command, &argc, &argv, &error))
        return report(path->str, error);
    if (version_asked) {
        puts("listrunner " PACKAGE_VERSION);
        return TOOL_OK;
    }
    if (help_asked)
        return help_show(command, path->str, stdout);
    if (!verbs) {
        int code, count = argc - 1;
        g_autoptr(Site) site = site_new(config_path_given);
        if (count < command->least)
            code = command_usage(&error, "arguments are missing: %s", command->arguments);
        else if (command->most == 0 && count > 0)
            code = command_usage(&error, "takes no arguments");
        else if (command->most > 0 && count > command->most)
            code = command_usage(&error, "too many arguments: %s is what it takes", command->arguments);
        else if (command->run_kind)
            code = command->run_kind(site, command->kind, argv + 1, &error);
        else
            code = command->run(site, count, argv + 1, &error);
        return error ? report(path->str, error) : code;
    }
    if (argc < 2) {
        help_show(command, path->str, stderr);
        return TOOL_USAGE;
    }
    const Command *next = help_find(verbs, argv[1]);
    if (!next && !command && strcmp(argv[1], "help") == 0)
        return help_run(argc - 1, argv + 1);
    if (!next) {
        help_unknown(verbs, path->str, argv[1]);
        return TOOL_USAGE;
    }
    g_string_append_printf(path, " %s", next->name);
    return dispatch(next, path, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    log_open("listrunner", LOG_TARGET_STDERR);
    g_set_prgname("listrunner");
    /* GOption drops elements of the vector it is given. */
    g_autofree char **words = g_memdup2(argv, sizeof(*argv) * (size_t)(argc + 1));
    g_autoptr(GString) path = g_string_new("listrunner");
    int code = dispatch(NULL, path, argc, words);
    g_free(config_path_given);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "listrunner: cannot write the output: %s\n", g_strerror(errno));
        return TOOL_LATER;
    }
    return code;
}
