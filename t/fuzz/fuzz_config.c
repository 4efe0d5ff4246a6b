/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A configuration file of any bytes: refused with a message a line that names
 * the file, or read; then what it prints is a configuration that prints the same.
 */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/config_table.h"
#include "base/fail.h"
#include "t/fuzz/fuzz.h"

static char *path;

static void remove_file(void)
{
    g_unlink(path);
}

static void write_file(const char *octets, size_t length)
{
    if (!path) {
        int fd = g_file_open_tmp("fuzz-config-XXXXXX", &path, NULL);
        require(fd >= 0);
        close(fd);
        atexit(remove_file);
    }
    FILE *file = fopen(path, "w");
    require(file && fwrite(octets, 1, length, file) == length && fclose(file) == 0);
}

/* Every line of the message is about the file. */
static void check_message(const char *message)
{
    g_auto(GStrv) lines = g_strsplit(message, "\n", -1);
    for (char **line = lines; *line; line++)
        require(**line == '\0' || strstr(*line, path));
}

static void use(const Config *config)
{
    static const char *const families[] = {"runner", "transport", "archiver", NULL};
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++)
        for (const ConfigKey *key = table->keys; key->name; key++)
            if (!strchr(table->section, '*') && key->type == CONFIG_STRING)
                config_string(config, table->section, key->name);
    for (const char *const *family = families; *family; family++)
        for (const char *const *name = config_family(config, *family); *name; name++)
            require(**name != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    write_file((const char *)data, size);
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = config_load(path, true, &error);
    if (!config) {
        require(g_error_matches(error, FAIL, FAIL_CONFIG));
        check_message(error->message);
        return 0;
    }
    use(config);
    g_autofree char *text = config_print(config, true), *few = config_print(config, false);
    write_file(few, strlen(few));
    g_autoptr(Config) again = config_load(path, true, &error);
    require(again != NULL);
    g_autofree char *printed = config_print(again, true);
    require(strcmp(text, printed) == 0);
    return 0;
}
