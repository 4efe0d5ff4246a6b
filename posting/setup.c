/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/setup.h"

#include "posting/external.h"
#include "posting/order.h"

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
