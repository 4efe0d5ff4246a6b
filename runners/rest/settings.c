/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner rest: section [rest]. */
#include "base/config_check.h"
#include "base/config_table.h"
#include "runners/server/http_settings.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"password_file", PATH(CONFIG_STATE "/lib/listrunner/rest.passwd"),
     .about = "Who may use the REST interface: a file that nobody but the user of the programs may read, with lines "
      "USER:PASSWORD or USER:HASH, a hash of crypt(5).",
     .example = "/etc/listrunner/rest.passwd", .opens = "rest"},
    {"base_url", STRING(NULL),
     .about = "What clients write before /3.1, for the links in answers. Unset: http:// and what the client calls this "
      "host.",
     .example = "https://lists.example.com/mailman"},
    HTTP_SETTINGS("200", "32K"),
    {"max_body_size", SIZE("32M", 1 * KIB, 2047 * MIB),
     .about = "The largest body of a request; a larger one is answered 413."},
    {"attempts_per_minute", INTEGER("10", 1, 1000000, "attempts"),
     .about = "Wrong passwords from one address; further ones within a minute are answered 429. Who gave the right "
      "one lately is not affected."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"rest", .about = "What the runner rest grants its clients.", .keys = keys},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.rest",
     .about = "The REST interface of GNU Mailman, for Postorius, HyperKitty and scripts. It is not started unless "
      "start = yes.",
     .defaults = (const ConfigDefault[]){
         {"start", "no"}, {"queue", NULL}, {"listen", "127.0.0.1:8001"}, {NULL, NULL}}},
    {.section = NULL},
};
/* clang-format on */

/* The runner does not start with a file that it refuses (runners/server/http_guard.c). */
static void doubt(const Config *config, GString *lines)
{
    const char *path = config_string(config, "rest", "password_file");
    if (!config_bool(config, "runner.rest", "start"))
        return;
    g_autofree char *what = g_file_test(path, G_FILE_TEST_EXISTS)
                                ? config_secret_fault(config, path)
                                : g_strdup_printf("there is no %s; a file with lines USER:PASSWORD is wanted", path);
    if (what)
        g_string_append_printf(lines, "%s[rest] password_file: %s", lines->len ? "\n" : "", what);
}

const ConfigSettings rest_settings = {.tables = tables, .members = members, .doubt = doubt};
