/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/log.h"
#include "posting/external.h"
#include "store/lists/list_setting.h"

/* --- chains and pipelines of the site -------------------------------------- */

struct Orders {
    GPtrArray *programs;            /* of External */
    GHashTable *chains, *pipelines; /* name -> Chain, Pipeline */
};

static void chain_free(void *data)
{
    Chain *chain = data;
    g_free((Link *)chain->links);
    g_free(chain);
}

static void pipeline_free(void *data)
{
    Pipeline *pipeline = data;
    g_free((void *)pipeline->handlers);
    g_free((void *)pipeline->programs);
    g_free(pipeline);
}

/* "RULE", "RULE:CHAIN" or the same with a program. False: there is no such rule, program or chain. */
static bool read_link(const Orders *orders, const char *word, Link *link)
{
    const char *colon = strchr(word, ':');
    g_autofree char *name = g_strndup(word, colon ? (size_t)(colon - word) : strlen(word));
    *link = (Link){.rule = rule_find(name), .program = external_find(orders->programs, name)};
    if (colon)
        link->target = order_chain(orders, colon + 1);
    else if (link->program || (link->rule && link->rule->decides))
        link->target = &chain_moderation;
    return (link->rule || link->program) && (link->target || !colon);
}

static Pipeline *read_pipeline(const Orders *orders, const Config *config, const char *section, const char *name)
{
    GPtrArray *found = g_ptr_array_new(), *programs = g_ptr_array_new();
    for (const char *const *word = config_list(config, section, "handlers"); word && *word; word++) {
        const External *program = external_find(orders->programs, *word);
        const Handler *handler = program ? &handler_external : handler_find(*word);
        if (handler) {
            g_ptr_array_add(found, (gpointer)handler);
            g_ptr_array_add(programs, (gpointer)program);
        } else {
            log_error("[%s] handlers: \"%s\" is left out: there is no such handler", section, *word);
        }
    }
    g_ptr_array_add(found, NULL);
    Pipeline *pipeline = g_new0(Pipeline, 1);
    *pipeline = (Pipeline){name, (const Handler *const *)g_ptr_array_free(found, FALSE),
                           (const External *const *)g_ptr_array_free(programs, FALSE)};
    return pipeline;
}

Orders *orders_new(const Config *config)
{
    Orders *orders = g_new0(Orders, 1);
    orders->programs = external_read(config, NULL);
    orders->chains = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, chain_free);
    orders->pipelines = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, pipeline_free);
    const char *const *names = config_family(config, "chain");
    /* All of them first: they may lead to each other. */
    for (const char *const *name = names; *name; name++) {
        Chain *chain = g_new0(Chain, 1);
        chain->name = *name;
        g_hash_table_insert(orders->chains, (gpointer)*name, chain);
    }
    for (const char *const *name = names; *name; name++) {
        g_autofree char *section = g_strconcat("chain.", *name, NULL);
        Chain *chain = g_hash_table_lookup(orders->chains, *name);
        const char *otherwise = config_string(config, section, "otherwise");
        for (Verdict verdict = VERDICT_ACCEPT; verdict <= VERDICT_DISCARD; verdict++)
            if (strcmp(verdict_text(verdict), otherwise) == 0)
                chain->verdict = verdict; /* else it goes back */
        GArray *links = g_array_new(TRUE, TRUE, sizeof(Link));
        for (const char *const *word = config_list(config, section, "rules"); word && *word; word++) {
            Link link;
            if (read_link(orders, *word, &link))
                g_array_append_val(links, link);
            else
                log_error("[%s] rules: \"%s\" is left out: there is no such rule or chain", section, *word);
        }
        chain->links = (Link *)(void *)g_array_free(links, FALSE);
    }
    for (const char *const *name = config_family(config, "pipeline"); *name; name++) {
        g_autofree char *section = g_strconcat("pipeline.", *name, NULL);
        g_hash_table_insert(orders->pipelines, (gpointer)*name, read_pipeline(orders, config, section, *name));
    }
    return orders;
}

void orders_free(Orders *orders)
{
    if (!orders)
        return;
    g_hash_table_unref(orders->chains);
    g_hash_table_unref(orders->pipelines);
    g_ptr_array_unref(orders->programs);
    g_free(orders);
}

const Chain *order_chain(const Orders *orders, const char *name)
{
    const Chain *own = orders ? g_hash_table_lookup(orders->chains, name) : NULL;
    return own ? own : chain_find(name);
}

const Pipeline *order_pipeline(const Orders *orders, const char *name)
{
    const Pipeline *own = orders ? g_hash_table_lookup(orders->pipelines, name) : NULL;
    return own ? own : pipeline_find(name);
}

static char **names_of(const Config *config, const char *family, const char *const *built_in)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    g_strv_builder_addv(names, (const char **)built_in);
    g_strv_builder_addv(names, (const char **)config_family(config, family));
    char **all = g_strv_builder_end(names);
    qsort(all, g_strv_length(all), sizeof *all, bytes_compare_texts);
    return all;
}

char **order_chain_names(const Config *config)
{
    static const char *const built_in[] = {POSTING_CHAINS, NULL};
    return names_of(config, "chain", built_in);
}

char **order_pipeline_names(const Config *config)
{
    static const char *const built_in[] = {POSTING_PIPELINES, NULL};
    return names_of(config, "pipeline", built_in);
}

/* --- the transport of a list ----------------------------------------------- */

char *transport_section(const Config *config, const char *transport)
{
    if (!transport || !*transport)
        transport = config_string(config, "out", "default_transport");
    g_autofree char *section = g_strconcat("transport.", transport, NULL);
    return config_has_section(config, section) ? g_steal_pointer(&section) : NULL;
}

bool transport_defragments(const Config *config, const List *list)
{
    if (list->settings->defragment != DEFRAGMENT_DEFAULT)
        return list->settings->defragment == DEFRAGMENT_ON;
    g_autofree char *section = transport_section(config, list->settings->transport);
    return section && config_bool(config, section, "defragment");
}

/* --- for all posts --------------------------------------------------------- */

void post_setup_init(PostSetup *setup, const Config *config, bool signs)
{
    const char *converter = config_string(config, "handlers", "html_to_plain_text_command");
    *setup = (PostSetup){
        .dkim_keys = signs ? dkim_keys_read(config) : NULL,
        .rule_programs = external_read(config, "rules"),
        .handler_programs = external_read(config, "handlers"),
        .orders = orders_new(config),
    };
    setup->site = (PostSite){
        .orders = setup->orders,
        .keys = setup->dkim_keys,
        .rule_programs = setup->rule_programs,
        .handler_programs = setup->handler_programs,
        .header_match_target = config_string(config, "rules", "header_match_action"),
        .hold_digest = config_bool(config, "rules", "hold_digest"),
        .authserv_id = config_string(config, "authentication", "authserv_id"),
        .trusted = config_list(config, "authentication", "trusted"),
        .remove_dkim = config_bool(config, "handlers", "remove_dkim_headers"),
    };
    if (converter)
        g_shell_parse_argv(converter, NULL, &setup->site.html_to_text, NULL); /* config check told of a fault */
}

void post_setup_clear(PostSetup *setup)
{
    g_clear_pointer(&setup->site.html_to_text, g_strfreev);
    g_clear_pointer(&setup->dkim_keys, g_ptr_array_unref);
    g_clear_pointer(&setup->rule_programs, g_ptr_array_unref);
    g_clear_pointer(&setup->handler_programs, g_ptr_array_unref);
    g_clear_pointer(&setup->orders, orders_free);
}
