/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/help.h"

#include <string.h>

#include "base/near_word.h"

/* A word further from what was typed than this is no suggestion. */
#define DISTANCE_MAX 2

const Command *help_find(const Command *const *verbs, const char *name)
{
    for (size_t i = 0; verbs && verbs[i]; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

static const char *nearest(const Command *const *verbs, const char *word)
{
    NearWord near = {word, NULL, DISTANCE_MAX + 1};
    for (size_t i = 0; verbs[i]; i++)
        if (strlen(word) >= 2 && g_str_has_prefix(verbs[i]->name, word))
            return verbs[i]->name;
        else
            near_word_offer(&near, verbs[i]->name);
    return near.best;
}

void help_unknown(const Command *const *verbs, const char *path, const char *word)
{
    const char *meant = nearest(verbs, word);
    const char *words = strchr(path, ' ');
    g_autofree char *shown = g_utf8_make_valid(word, -1);
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

static void show_overview(FILE *to)
{
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

int help_show(const Command *command, const char *path, FILE *to)
{
    if (!command) {
        show_overview(to);
        return TOOL_OK;
    }
    if (command->verbs) {
        fprintf(to, "Usage: %s VERB [ARGUMENTS]\n\n%s.\n\nVerbs:\n", path, command->summary);
        show_verbs(command->verbs, to);
        fprintf(to, "\nSee %s VERB --help.\n", path);
        return TOOL_OK;
    }
    fprintf(to, "Usage: %s%s%s%s\n\n%s.\n", path, command->options ? " [OPTIONS]" : "", *command->arguments ? " " : "",
            command->arguments, command->summary);
    show_options(command->options, to);
    if (command->details)
        fprintf(to, "\n%s\n", command->details);
    return TOOL_OK;
}

/* For programs (shell completion): verbs as "NAME", options as
 * "--NAME<tab>ARGUMENT", arguments as "=LIST [FILE]". */
static int show_words(const Command *command)
{
    const Command *const *verbs = command ? command->verbs : commands;
    for (size_t i = 0; verbs && verbs[i]; i++)
        puts(verbs[i]->name);
    if (!command)
        puts("help");
    if (command && !command->verbs) {
        printf("=%s\n", command->arguments);
        for (const GOptionEntry *option = command->options; option && option->long_name; option++)
            printf("--%s\t%s\n", option->long_name, option->arg_description ? option->arg_description : "");
    }
    puts("--config\tFILE\n--help\t");
    return TOOL_OK;
}

int help_run(int argc, char **argv)
{
    bool words = argc > 1 && strcmp(argv[1], "--words") == 0;
    const Command *command = NULL;
    g_autoptr(GString) path = g_string_new("listrunner");
    for (int i = words ? 2 : 1; i < argc; i++) {
        const Command *const *verbs = command ? command->verbs : commands;
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
        g_string_append_printf(path, " %s", next->name);
    }
    return words ? show_words(command) : help_show(command, path->str, stdout);
}
