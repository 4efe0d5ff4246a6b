/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /system: what this is, which chains and pipelines there are, and our settings under the names that Mailman's
 * configuration has for them. Besides, the paths of Mailman that have nothing behind them here. */
#include <string.h>

#include "base/bytes.h"
#include "posting/setup.h"
#include "runners/rest/resources.h"
#include "runners/rest/rest.h"
#include "store/language.h"
#include "store/lists/list.h"

/* Clients tell by the first two words that they can talk to us, and show the rest to people. */
static void get_versions(Call *call)
{
    answer_json(call, 200,
                json_pack("{ss ss ss so}", "api_version", call->old ? "3.0" : "3.1", "mailman_version",
                          "GNU Mailman 3.3.8 REST interface of (Listrunner " PACKAGE_VERSION ")", "python_version",
                          "none (Listrunner is written in C)", "self_link", json_link(call, "system/versions")));
}

/* Answer with the pipelines, or the chains, that a list may choose, and with those of Mailman that work here without a
 * name of ours. */
static void get_names(Call *call)
{
    static const char *const runners[] = {"virgin", NULL};
    static const char *const steps_and_verdicts[] = {"accept", "discard",    "dmarc",  "header-match",
                                                     "hold",   "moderation", "reject", NULL};
    bool chains = g_str_has_suffix(call->route->path, "/chains");
    g_auto(GStrv) ours = chains ? order_chain_names(call->rest->config) : order_pipeline_names(call->rest->config);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (char **name = ours; *name; name++)
        if (strcmp(*name, "digest") != 0) /* no list can choose it, and Mailman's clients do not know it */
            g_ptr_array_add(names, *name);
    for (const char *const *name = chains ? steps_and_verdicts : runners; *name; name++)
        if (!g_ptr_array_find_with_equal_func(names, *name, g_str_equal, NULL))
            g_ptr_array_add(names, (char *)*name);
    g_ptr_array_sort(names, bytes_compare_texts);
    answer_json(call, 200, json_pack("{so}", chains ? "chains" : "pipelines", json_texts(names)));
}

static const RestField fields[] = {
    {"api_version", MAY_KNOWN, MAY_NOBODY},
    {"mailman_version", MAY_KNOWN, MAY_NOBODY},
    {"python_version", MAY_KNOWN, MAY_NOBODY},
    {"self_link", MAY_KNOWN, MAY_NOBODY},
    {"pipelines", MAY_SITE, MAY_NOBODY},
    {"chains", MAY_SITE, MAY_NOBODY},
    {0},
};

const RestRoute rest_system[] = {
    {"GET", "system", OF_HOST, MAY_KNOWN, fields, get_versions, NULL},
    {"GET", "system/versions", OF_HOST, MAY_KNOWN, fields, get_versions, NULL},
    {"GET", "system/pipelines", OF_HOST, MAY_SITE, fields, get_names, NULL},
    {"GET", "system/chains", OF_HOST, MAY_SITE, fields, get_names, NULL},
    {0},
};

/* ---- sections ---- */

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
    g_ptr_array_sort(names, bytes_compare_texts);
    return names;
}

static void get_configuration(Call *call)
{
    g_autoptr(GPtrArray) names = section_names();
    answer_json(call, 200, json_pack("{so so}", "sections", json_texts(names), "self_link",
                                     json_link(call, "system/configuration")));
}

/* ---- values; all are texts ---- */

/* A setting of Mailman's, and ours that means the same. */
typedef struct Mapped {
    const char *section, *key;
    enum { MAPPED_TEXT, MAPPED_NUMBER, MAPPED_FLAG, MAPPED_TIME, MAPPED_WORDS } type;
    const char *our_section, *our_key;
} Mapped;

static const Mapped mapped[] = {
    {"antispam", "jump_chain", MAPPED_TEXT, "rules", "header_match_action"},
    {"bounces", "register_bounces_every", MAPPED_TIME, "bounces", "check_interval"},
    {"dmarc", "resolver_timeout", MAPPED_TIME, "dns", "timeout"},
    {"mailman", "cache_life", MAPPED_TIME, "site", "template_refresh"},
    {"mailman", "hold_digest", MAPPED_FLAG, "rules", "hold_digest"},
    {"mailman", "html_to_plain_text_command", MAPPED_TEXT, "handlers", "html_to_plain_text_command"},
    {"mailman", "moderator_request_life", MAPPED_TIME, "site", "moderator_request_life"},
    {"mailman", "pending_request_life", MAPPED_TIME, "site", "pending_request_life"},
    {"mailman", "site_owner", MAPPED_TEXT, "site", "site_owner"},
    {"mta", "delivery_retry_period", MAPPED_TIME, "out", "maximal_queue_lifetime"},
    {"mta", "max_autoresponses_per_day", MAPPED_NUMBER, "site", "max_autoresponses_per_day"},
    {"mta", "remove_dkim_headers", MAPPED_FLAG, "handlers", "remove_dkim_headers"},
    {"mta", "verp_delimiter", MAPPED_TEXT, "lmtp", "verp_delimiter"},
    {"mta", "verp_delivery_interval", MAPPED_NUMBER, "pipeline", "verp_delivery_interval"},
    {"mta", "verp_personalized_deliveries", MAPPED_FLAG, "pipeline", "verp_personalized_deliveries"},
    {"nntp", "host", MAPPED_TEXT, "nntp", "host"},
    {"nntp", "port", MAPPED_NUMBER, "nntp", "port"},
    {"nntp", "remove_headers", MAPPED_WORDS, "nntp", "remove_headers"},
    {"nntp", "user", MAPPED_TEXT, "nntp", "user"},
    {NULL},
};

/* Mailman's settings whose value no site can change here: how Listrunner behaves, in Mailman's words. Passwords and
 * paths are empty, whatever they are. */
static const struct {
    const char *section, *key, *value;
} fixed[] = {
    {"database", "debug", "no"},
    {"database", "url", ""},
    {"devmode", "enabled", "no"},
    {"devmode", "testing", "no"},
    {"mailman", "anonymous_list_keep_headers",
     "^(?!x-|arc-|from$|reply-to$|sender$|organization$|received$|message-id$|user-agent$)"},
    {"mailman", "check_max_size_on_filtered_message", "no"},
    {"mailman", "default_language", LANGUAGE_DEFAULT},
    {"mailman", "email_commands_max_lines", "10"},
    {"mailman", "filtered_messages_are_preservable", "no"},
    {"mailman", "layout", "here"},
    {"mailman", "listname_chars", "[-_.0-9a-z]"},
    {"mailman", "masthead_threshold", "4"},
    {"mailman", "noreply_address", "noreply"},
    {"mailman", "post_hook", ""},
    {"mailman", "pre_hook", ""},
    {"mailman", "run_tasks_every", "1h"},
    {"mailman", "sender_headers", "from from_ reply-to sender"},
    {"nntp", "password", ""},
    {"styles", "default", STYLE_DEFAULT},
    {"webservice", "admin_pass", ""},
    {"webservice", "api_version", "3.1"},
    {"webservice", "show_tracebacks", "no"},
    {"webservice", "use_https", "no"},
};

static void set(json_t *object, const char *key, const char *value)
{
    json_object_set_new(object, key, json_words(value ? value : ""));
}

/* g_free() */
static char *mapped_text(const Config *config, const Mapped *row)
{
    static const int64_t day = G_GINT64_CONSTANT(86400000000);
    switch (row->type) {
    case MAPPED_NUMBER:
        return g_strdup_printf("%" G_GINT64_FORMAT, config_integer(config, row->our_section, row->our_key));
    case MAPPED_FLAG:
        return g_strdup(config_bool(config, row->our_section, row->our_key) ? "yes" : "no");
    case MAPPED_TIME: {
        const int64_t us = config_duration(config, row->our_section, row->our_key);
        return us % day == 0 && us > 0 ? g_strdup_printf("%" G_GINT64_FORMAT "d", us / day) : config_duration_text(us);
    }
    case MAPPED_WORDS: {
        const char *const *words = config_list(config, row->our_section, row->our_key);
        return words ? g_strjoinv(" ", (char **)(uintptr_t)words) : NULL;
    }
    default:
        return g_strdup(config_string(config, row->our_section, row->our_key));
    }
}

/* Set the place at which a runner listens: the first of its places that is no UNIX socket. */
static void set_place(const Config *config, const char *runner, const char *host, const char *port, json_t *object)
{
    g_autofree char *section = g_strconcat("runner.", runner, NULL);
    const char *const *place = config_list(config, section, "listen");
    while (place && *place && g_str_has_prefix(*place, "unix:"))
        place++;
    const char *colon = place && *place ? strrchr(*place, ':') : NULL;
    g_autofree char *name = colon ? g_strndup(*place, (gsize)(colon - *place)) : g_strdup("");
    set(object, host, name);
    set(object, port, colon ? colon + 1 : "");
}

static void set_integer(json_t *object, const char *key, int64_t value)
{
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, value);
    set(object, key, text);
}

/* Set the values of a section, whose name is also that of a section here where it is one of a family. */
static void fill(Call *call, const char *section, json_t *object)
{
    const Config *config = call->rest->config;
    const char *member = strchr(section, '.');
    for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++)
        if (strcmp(fixed[i].section, section) == 0)
            set(object, fixed[i].key, fixed[i].value);
    for (const Mapped *row = mapped; row->section; row++)
        if (strcmp(row->section, section) == 0) {
            g_autofree char *value = mapped_text(config, row);
            set(object, row->key, value);
        }
    if (strcmp(section, "mailman") == 0) {
        set(object, "filter_report", list_setting_find("filter_report", NULL)->fallback);
    } else if (strcmp(section, "mta") == 0) {
        g_autofree char *out = transport_section(config, NULL);
        set_place(config, "lmtp", "lmtp_host", "lmtp_port", object);
        if (!out)
            return;
        set(object, "smtp_host", config_string(config, out, "host"));
        set_integer(object, "smtp_port", config_integer(config, out, "port"));
        set(object, "smtp_user", config_string(config, out, "auth_user"));
        set(object, "smtp_pass", "");
        set_integer(object, "max_recipients", config_integer(config, out, "recipients_per_transaction"));
        set_integer(object, "max_sessions_per_connection", config_integer(config, out, "transactions_per_connection"));
    } else if (strcmp(section, "database") == 0) {
        set(object, "class", config_string(config, "store", "driver"));
    } else if (strcmp(section, "webservice") == 0) {
        set_place(config, "rest", "hostname", "port", object);
        if (call->user)
            set(object, "admin_user", call->user);
    } else if (g_str_has_prefix(section, "runner.")) {
        bool known = config_has_section(config, section);
        set_integer(object, "instances", known ? config_instances(config, member + 1, NULL) : 0);
        set(object, "start", known && config_bool(config, section, "start") ? "yes" : "no");
    } else if (g_str_has_prefix(section, "archiver.")) { /* ours has a hyphen where Mailman has an underscore */
        g_autofree char *ours = g_strdelimit(g_strdup(section), "_", '-');
        set(object, "enable", config_has_section(config, ours) && config_bool(config, ours, "enabled") ? "yes" : "no");
    } else if (g_str_has_prefix(section, "language.")) {
        set(object, "charset", "utf-8");
    } else if (g_str_has_prefix(section, "logging.")) {
        set(object, "level", config_bool(config, "site", "verbose") ? "debug" : "info");
    }
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
    fill(call, name, object);
    answer_json(call, 200, object);
}

static const RestField configuration_fields[] = {
    {"*", MAY_SITE, MAY_NOBODY},
    {0},
};

const RestRoute rest_configuration[] = {
    {"GET", "system/configuration", OF_HOST, MAY_SITE, configuration_fields, get_configuration, NULL},
    {"GET", "system/configuration/{section}", OF_HOST, MAY_SITE, configuration_fields, get_section, NULL},
    {0},
};

static void get_plugins(Call *call)
{
    answer_collection(call, json_array(), 0, 0);
}

/* Ids that belong to nothing: here there are none. */
static void get_orphans(Call *call)
{
    answer_refusal(call, 404, "There is nothing to read here");
}

static void delete_orphans(Call *call)
{
    if (form_expect(call, "", ""))
        answer_empty(call, 204);
}

static const RestField other_fields[] = {
    {"*", MAY_SITE, MAY_SITE},
    {0},
};

const RestRoute rest_others[] = {
    {"GET", "plugins", OF_HOST, MAY_SITE, other_fields, get_plugins, NULL},
    {"GET", "reserved/uids/orphans", OF_HOST, MAY_SITE, other_fields, get_orphans, NULL},
    {"DELETE", "reserved/uids/orphans", OF_HOST, MAY_SITE, other_fields, delete_orphans, NULL},
    {0},
};
