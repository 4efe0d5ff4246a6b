/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner status: what the master and its children do, and what waits for a person. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/admin/status.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/queues/destinations.h"

#define WATCH_PAUSE 2 /* seconds */

static gboolean watching;

/* Repeated on a terminal, each picture takes the place of the one before, so it must not be larger than the screen. */
static void print_text(const char *text)
{
    struct winsize size = {0};
    if (!watching || !isatty(STDOUT_FILENO)) {
        fputs(text, stdout);
        return;
    }
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        size = (struct winsize){.ws_col = 80, .ws_row = 24};
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_auto(GStrv) lines = g_strsplit(g_strchomp(valid), "\n", -1);
    guint count = g_strv_length(lines);
    guint shown = MIN(count, (guint)size.ws_row - 1);
    fputs("\033[H\033[J", stdout);
    for (guint i = 0; i < shown; i++) {
        const char *at = i + 1 == shown ? lines[count - 1] : lines[i]; /* the last line is the sum of it all */
        for (int columns = size.ws_col; *at && columns > 0; at = g_utf8_next_char(at)) {
            gunichar letter = g_utf8_get_char(at);
            columns -= g_unichar_iszerowidth(letter) ? 0 : g_unichar_iswide(letter) ? 2 : 1;
            if (columns >= 0)
                fwrite(at, 1, (size_t)(g_utf8_next_char(at) - at), stdout);
        }
        putchar('\n');
    }
}

static int show(Site *site, json_t *status)
{
    if (json_option) {
        /* Absent while no instance of out can be asked. */
        json_t *destinations = destinations_ask(site, json_pack("{s:s}", "verb", "destinations"), NULL);
        if (destinations)
            json_object_set_new(status, "destinations", destinations);
        json_dumpf(status, stdout, watching ? JSON_COMPACT : JSON_INDENT(2));
        putchar('\n');
    } else {
        char *text = NULL;
        size_t size;
        FILE *page = open_memstream(&text, &size);
        status_text(page, status);
        fclose(page);
        g_autofree char *plain = plain_message(text, size); /* names of queues and destinations are others' */
        print_text(plain);
        free(text);
    }
    int code = !json_is_true(json_object_get(status, "healthy")) ? TOOL_NOT_SO
               : status_waits(status)                            ? TOOL_WAITING
                                                                 : TOOL_OK;
    fflush(stdout);
    json_decref(status);
    return code;
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(GError) cause = NULL;
    json_t *status = status_ask(site, &cause);
    if (!status)
        return control_client_refused(&cause, error);
    int code = show(site, status);
    /* Until nobody reads it any more. A master that has stopped may come back. */
    while (watching && !ferror(stdout)) {
        sleep(WATCH_PAUSE);
        g_autoptr(GError) away = NULL;
        status = status_ask(site, &away);
        if (status) {
            code = show(site, status);
            continue;
        }
        code = TOOL_NOT_RUNNING;
        if (json_option) {
            json_t *reply = json_pack("{s:b,s:o}", "ok", 0, "error", listing_text(away->message));
            listing_json(reply);
            json_decref(reply);
        } else {
            g_autofree char *text = g_strdup_printf("The master has stopped, or does not answer: %s.\n"
                                                    "Waiting until it is back.\n",
                                                    away->message);
            print_text(text);
        }
        fflush(stdout);
    }
    return code;
}

static const GOptionEntry options[] = {
    {"json", 0, 0, G_OPTION_ARG_NONE, &json_option, "print all as JSON, destinations too", NULL},
    {"watch", 'w', 0, G_OPTION_ARG_NONE, &watching, "print it again every two seconds", NULL},
    G_OPTION_ENTRY_NULL,
};

const Command cmd_status = {
    .name = "status",
    .arguments = "",
    .summary = "Show the master, every process, and what waits for a person",
    .details = "Exit codes: 0 all is well; 1 a process is dead, throttled or stalled; 2 the processes are well, but\n"
               "something waits for a person or could not be found out; 3 not running.",
    .options = options,
    .run = run,
};
