/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /system: what this is, and how it is set up. */
#include <string.h>

#include "runners/rest/resources.h"
#include "runners/rest/rest.h"
#include "store/language.h"

/* Clients tell by the first two words that they can talk to us, and show the rest to people. */
static void get_versions(Call *call)
{
    answer_json(call, 200,
                json_pack("{ss ss ss so}", "api_version", call->old ? "3.0" : "3.1", "mailman_version",
                          "GNU Mailman 3.3.8 REST interface of (Listrunner " PACKAGE_VERSION ")", "python_version",
                          "none (Listrunner is written in C)", "self_link", json_link(call, "system/versions")));
}

static void get_preferences(Call *call)
{
    answer_json(call, 200,
                json_pack("{sb ss ss sb ss sb sb so}", "acknowledge_posts", 0, "delivery_mode", "regular",
                          "delivery_status", "enabled", "hide_address", 1, "preferred_language", "en",
                          "receive_list_copy", 1, "receive_own_postings", 1, "self_link",
                          json_link(call, "system/preferences")));
}

static void answer_names(Call *call, const char *key, const char *const *names)
{
    json_t *array = json_array();
    for (; *names; names++)
        json_array_append_new(array, json_string(*names));
    answer_json(call, 200, json_pack("{so}", key, array));
}

static void get_pipelines(Call *call)
{
    static const char *const names[] = {"default-owner-pipeline", "default-posting-pipeline", "virgin", NULL};
    answer_names(call, "pipelines", names);
}

static void get_chains(Call *call)
{
    static const char *const names[] = {"accept", "default-owner-chain", "default-posting-chain", "discard", "dmarc",
                                        "header-match", "hold", "moderation", "reject", NULL};
    answer_names(call, "chains", names);
}

/* ---- configuration: Mailman's sections, with what of them is set here ---- */

typedef struct Family {
    const char *prefix, *members; /* separated by blanks */
} Family;

static const char *const sections[] = {"ARC",     "antispam", "bounces",       "database", "devmode", "digests",
                                       "dmarc",   "mailman",  "mta",           "nntp",     "passwords",
                                       "plugin.master", "shell", "styles", "webservice", NULL};

static const Family families[] = {
    {"archiver", "mail_archive master mhonarc prototype"},
    {"language", LANGUAGES},
    {"logging", "archiver bounce config database debug error fromusenet http locks mischief plugins root runner smtp "
                "subscribe task vette"},
    {"paths", "dev fhs here local"},
    {"runner", "archive bad bounces command digest in lmtp nntp out pipeline rest retry shunt task virgin"},
    {NULL, NULL},
};

static GPtrArray *section_names(void)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (const char *const *name = sections; *name; name++)
        g_ptr_array_add(names, g_strdup(*name));
    for (const Family *family = families; family->prefix; family++) {
        g_auto(GStrv) members = g_strsplit(family->members, " ", -1);
        for (char **member = members; *member; member++)
            g_ptr_array_add(names, g_strconcat(family->prefix, ".", *member, NULL));
    }
    return names;
}

static void get_configuration(Call *call)
{
    g_autoptr(GPtrArray) names = section_names();
    json_t *array = json_array();
    for (guint i = 0; i < names->len; i++)
        json_array_append_new(array, json_string(names->pdata[i]));
    answer_json(call, 200, json_pack("{so so}", "sections", array, "self_link",
                                     json_link(call, "system/configuration")));
}

/* Values are texts. What a site can set here is read from its configuration; the rest is how Listrunner behaves, in
 * the words of Mailman's configuration. */
static void set(json_t *object, const char *key, const char *value)
{
    json_object_set_new(object, key, json_words(value ? value : ""));
}

static void set_duration(json_t *object, const char *key, int64_t us)
{
    const int64_t day = G_GINT64_CONSTANT(86400000000);
    g_autofree char *text = us % day == 0 ? g_strdup_printf("%" G_GINT64_FORMAT "d", us / day)
                                          : config_duration_text(us);
    set(object, key, text);
}

static void fill_mailman(const Call *call, json_t *object)
{
    const Config *config = call->rest->config;
    set(object, "anonymous_list_keep_headers",
        "^(?!x-|arc-|from$|reply-to$|sender$|organization$|received$|message-id$|user-agent$)");
    set(object, "cache_life", "7d");
    set(object, "check_max_size_on_filtered_message", "no");
    set(object, "default_language", "en");
    set(object, "email_commands_max_lines", "10");
    set(object, "filter_report", "no");
    set(object, "filtered_messages_are_preservable", "no");
    set(object, "hold_digest", "no");
    set(object, "html_to_plain_text_command", "/usr/bin/lynx -dump $filename");
    set(object, "layout", "here");
    set(object, "listname_chars", "[-_.0-9a-z]");
    set(object, "masthead_threshold", "4");
    set_duration(object, "moderator_request_life", config_duration(config, "site", "moderator_request_life"));
    set(object, "noreply_address", "noreply");
    set_duration(object, "pending_request_life", config_duration(config, "site", "pending_request_life"));
    set(object, "post_hook", "");
    set(object, "pre_hook", "");
    set(object, "run_tasks_every", "1h");
    set(object, "sender_headers", "from from_ reply-to sender");
    set(object, "site_owner", config_string(config, "site", "site_owner"));
}

static void fill_runner(const Call *call, const char *name, json_t *object)
{
    g_autofree char *ours = g_strconcat("runner.", name, NULL);
    bool known = config_has_section(call->rest->config, ours);
    set(object, "start", known && config_bool(call->rest->config, ours, "start") ? "yes" : "no");
    g_autofree char *instances = g_strdup_printf(
        "%" G_GINT64_FORMAT, known ? config_integer(call->rest->config, ours, "instances") : 0);
    set(object, "instances", instances);
}

static void get_section(Call *call)
{
    const char *name = call->args[0];
    g_autoptr(GPtrArray) names = section_names();
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL)) {
        answer_refusal(call, 404, "There is no section %s", name);
        return;
    }
    json_t *object = json_object();
    json_object_set_new(object, "self_link", json_link(call, "system/configuration/%s", name));
    if (strcmp(name, "mailman") == 0)
        fill_mailman(call, object);
    else if (g_str_has_prefix(name, "runner."))
        fill_runner(call, name + strlen("runner."), object);
    else if (g_str_has_prefix(name, "language."))
        set(object, "charset", "utf-8");
    else if (strcmp(name, "webservice") == 0)
        set(object, "admin_pass", ""); /* nobody needs it who got here */
    else if (strcmp(name, "database") == 0)
        set(object, "url", "");
    else if (strcmp(name, "mta") == 0)
        json_object_set_new(object, "verp_delimiter", json_sprintf("%c", call->rest->site.delimiter));
    else if (strcmp(name, "styles") == 0)
        set(object, "default", "legacy-default");
    answer_json(call, 200, object);
}

const RestRoute rest_system[] = {
    {"GET", "system", get_versions, NULL},
    {"GET", "system/versions", get_versions, NULL},
    {"GET", "system/preferences", get_preferences, NULL},
    {"GET", "system/pipelines", get_pipelines, NULL},
    {"GET", "system/chains", get_chains, NULL},
    {"GET", "system/configuration", get_configuration, NULL},
    {"GET", "system/configuration/{section}", get_section, NULL},
    {NULL, NULL, NULL, NULL},
};
